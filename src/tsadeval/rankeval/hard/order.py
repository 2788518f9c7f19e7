"""The order tasks of the suite `hard` on which hardly anybody would disagree: six models each, worst first."""

from __future__ import annotations

import numpy as np

from tsadeval.core.inputs import Bools, Floats
from tsadeval.rankeval.hard.parts import (
    ALARM,
    MAPS,
    MODELS,
    Models,
    Random,
    log_uniform,
    many_events,
    place,
    rounded,
    some_normal,
    spans,
)
from tsadeval.rankeval.hard.task import order_task

Drawn = tuple[Bools, list[Floats]]


@order_task(
    "Calibration differs between detectors: the same kind of scores on six different scales.",
    [f"scores events {level:g} above normal points, then changes its scale" for level in (0.5, 0.8, 1.1, 1.4, 1.7, 2)],
)
def transform(random: Random) -> Drawn:
    """Anomalous points are higher by 0.5 to 2, each model under another increasing map; no false alarms."""
    models = Models(random, place(random, many_events(random)))
    maps = random.choice(list(MAPS), MODELS, replace=False)
    levels = np.linspace(0.5, 2, MODELS)
    return models.mask, [MAPS[maps[i]](models.noise(i) + levels[i] * models.mask) for i in range(MODELS)]


@order_task(
    "Outlying noise: a few normal points score far beyond all others.",
    [
        f"scores events {level:g} above normal points, in noise with outliers"
        for level in (0.3, 0.6, 0.9, 1.2, 1.5, 1.8)
    ],
)
def heavy_tail(random: Random) -> Drawn:
    """Student t noise with 1.5 degrees of freedom; anomalous points are higher by 0.3 to 1.8."""
    models = Models(random, place(random, many_events(random)))
    scores = []
    for i, level in enumerate(np.linspace(0.3, 1.8, MODELS)):
        noise = models.streams[i].standard_t(1.5, models.n)
        scores.append(noise + level * models.mask + ALARM * models.false_alarms(i))
    return models.mask, scores


@order_task(
    "A moving baseline: the scores of all points rise and fall slowly.",
    [*(f"has a baseline that moves up and down by {by}" for by in (5, 4, 3, 2, 1)), "has a steady baseline"],
)
def drift(random: Random) -> Drawn:
    """A sine of 2 to 6 periods and amplitude 5, 4, ... 0 under scores of the same skill."""
    models = Models(random, place(random, many_events(random)))
    periods, phase = int(random.integers(2, 7)), random.random()
    wave = np.sin(2 * np.pi * (periods * np.arange(models.n) / models.n + phase))
    return models.mask, [models.shifted(i, 2.5) + (MODELS - 1 - i) * wave for i in range(MODELS)]


@order_task(
    "Very rare anomalies: 0.1 % of the points.",
    [f"scores the two events {level:g} above normal points" for level in (1, 1.6, 2.2, 2.8, 3.4, 4)],
)
def rare(random: Random) -> Drawn:
    """Two events of 10 points in 20,000, higher by 1 to 4."""
    models = Models(random, place(random, [10, 10], n=20_000))
    return models.mask, [models.shifted(i, level) for i, level in enumerate(np.linspace(1, 4, MODELS))]


@order_task(
    "A late response: the alarm is as long as the event but comes later.",
    [*(f"raises each alarm {by} points late" for by in (60, 30, 15, 8, 3)), "raises each alarm on time"],
)
def lag(random: Random) -> Drawn:
    """The alarm of each event is shifted by 60, 30, 15, 8, 3 and 0 points."""
    models = Models(random, place(random, log_uniform(random, 8, 40, 20), gap=150))
    starts, stops = models.events.starts, models.events.stops
    scores = []
    for i, by in enumerate((60, 30, 15, 8, 3, 0)):
        scores.append(models.alarmed(i, spans(models.n, starts + by, stops + by) | models.false_alarms(i)))
    return models.mask, scores


@order_task(
    "A late start: the same share of each event is found, but later in it.",
    [
        *(f"finds 30 % of each event, but only after {share} % of it" for share in (70, 56, 42, 28, 14)),
        "finds the first 30 % of each event",
    ],
)
def delay(random: Random) -> Drawn:
    """30 % of each event are alarmed, from 0.7, 0.56, 0.42, 0.28, 0.14 and 0 of it on."""
    models = Models(random, place(random, log_uniform(random, 20, 160, 20)))
    starts, lengths = models.events.starts, models.events.lengths
    scores = []
    for i, after in enumerate((0.7, 0.56, 0.42, 0.28, 0.14, 0.0)):
        first = starts + rounded(after * lengths)
        stops = np.minimum(first + rounded(0.3 * lengths), models.events.stops)
        scores.append(models.alarmed(i, spans(models.n, first, stops) | models.false_alarms(i)))
    return models.mask, scores


@order_task(
    "Random spikes: as many alarms as anomalous points, of which a growing share is right.",
    [
        "raises alarms at random points",
        *(f"raises single alarms of which {share} % are right" for share in (15, 22, 30, 50, 80)),
    ],
)
def spikes(random: Random) -> Drawn:
    """The share is that of chance, then 0.15, 0.22, 0.3, 0.5 and 0.8. Point adjustment rewards all of them."""
    models = Models(random, place(random, many_events(random)))
    points = models.events.points
    scores = []
    for i, share in enumerate((points / models.n, 0.15, 0.22, 0.3, 0.5, 0.8)):
        stream, right = models.streams[i], round(share * points)
        alarms = np.zeros(models.n, np.bool_)
        alarms[stream.choice(np.flatnonzero(models.mask), right, replace=False)] = True
        alarms[some_normal(stream, models.mask, points - right)] = True
        scores.append(models.alarmed(i, alarms))
    return models.mask, scores


@order_task(
    "Everything improves at once, under nuisances: scales differ and each series has one wild outlier.",
    [
        f"finds about {30 + 10 * q} % of the events, {30 + 12 * q} % of each, with {40 - 6 * q} false episodes"
        for q in range(MODELS)
    ],
)
def dominance(random: Random) -> Drawn:
    """At step q an event is found with probability 0.3 + 0.1 q, to 0.3 + 0.12 q of it, with 40 - 6 q false episodes."""
    models = Models(random, place(random, many_events(random)))
    maps = random.choice(list(MAPS), MODELS, replace=False)
    starts, lengths = models.events.starts, models.events.lengths
    scores = []
    for q, stream in enumerate(models.streams):
        found = stream.random(len(starts)) < 0.3 + 0.1 * q
        covered = np.maximum(rounded((0.3 + 0.12 * q) * lengths), 1)
        first = starts + rounded((lengths - covered) * (1 - q / (MODELS - 1)))
        alarms = spans(models.n, first[found], (first + covered)[found])
        episodes = some_normal(stream, models.mask, 40 - 6 * q)
        alarms |= spans(models.n, episodes, episodes + stream.integers(1, 11, len(episodes))) & ~models.mask
        mapped = MAPS[maps[q]](models.alarmed(q, alarms)).copy()
        outlier = mapped.max() + np.ptp(mapped) * np.exp(stream.uniform(0, np.log(100)))
        mapped[some_normal(stream, models.mask, 1)] = outlier
        scores.append(mapped)
    return models.mask, scores


TASKS = (transform, heavy_tail, drift, rare, lag, delay, spikes, dominance)
