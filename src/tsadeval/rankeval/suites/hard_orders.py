"""Order tasks of the suite `hard`, the undisputed and the value-laden ones: six models each, worst first."""

from __future__ import annotations

import numpy as np

from tsadeval.core.inputs import Bools, Floats
from tsadeval.rankeval.suites.hard_task import (
    ALARM,
    MAPS,
    MODELS,
    Models,
    Random,
    log_uniform,
    many_events,
    order_task,
    place,
    rounded,
    some_normal,
    spans,
)

Drawn = tuple[Bools, list[Floats]]
DISTANCES = ((200, 215), (120, 170), (70, 100), (35, 60), (15, 30), (1, 10))  # of false alarms near events, from and to


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
    noise = [stream.standard_t(1.5, models.n) for stream in models.streams]
    levels = np.linspace(0.3, 1.8, MODELS)
    return models.mask, [noise[i] + levels[i] * models.mask + ALARM * models.false_alarms(i) for i in range(MODELS)]


@order_task(
    "A moving baseline: the scores of all points rise and fall slowly.",
    [*(f"has a baseline that moves up and down by {by}" for by in (5, 4, 3, 2, 1)), "has a steady baseline"],
)
def drift(random: Random) -> Drawn:
    """Add a sine of 2 to 6 periods and amplitude 5, 4, ... 0 to scores of the same skill."""
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
    """Shift the alarm of each event by 60, 30, 15, 8, 3 and 0 points."""
    models = Models(random, place(random, log_uniform(random, 8, 40, 20), gap=150))
    starts, stops = models.events.starts, models.events.stops
    late = enumerate((60, 30, 15, 8, 3, 0))
    return models.raising(spans(models.n, starts + by, stops + by) | models.false_alarms(i) for i, by in late)


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
    firsts = [starts + rounded(after * lengths) for after in (0.7, 0.56, 0.42, 0.28, 0.14, 0.0)]
    stops = [np.minimum(first + rounded(0.3 * lengths), models.events.stops) for first in firsts]
    return models.raising(spans(models.n, firsts[i], stops[i]) | models.false_alarms(i) for i in range(MODELS))


@order_task(
    "Random spikes: as many alarms as anomalous points, of which a growing share is right.",
    [
        "raises alarms at random points",
        *(f"raises single alarms of which {share} % are right" for share in (15, 22, 30, 50, 80)),
    ],
)
def spikes(random: Random) -> Drawn:
    """Take the share of chance, then 0.15, 0.22, 0.3, 0.5 and 0.8. Point adjustment rewards all of them."""
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


# The value-laden order tasks of the suite `hard`: each is a preference that many, but not all, users share.


@order_task(
    "Events count, not points: the same alarmed points are spread over more events.",
    [f"finds {count} of 20 events, with as many alarmed points as the others" for count in (4, 7, 10, 13, 16, 20)],
    value_laden=True,
)
def events_found(random: Random) -> Drawn:
    """12 % of the anomalous points are alarmed, from the start of 4, 7, 10, 13, 16 and 20 of the 20 events."""
    models = Models(random, place(random, random.integers(30, 71, 20)))
    scores = []
    for i, count in enumerate((4, 7, 10, 13, 16, 20)):
        which = models.some(i, count)
        starts, stops = models.events.starts[which], models.events.stops[which]
        each = round(0.12 * models.events.points / count)
        alarms = spans(models.n, starts, np.minimum(starts + each, stops))
        scores.append(models.alarmed(i, alarms | models.false_alarms(i)))
    return models.mask, scores


@order_task(
    "One long event should not outweigh the short ones.",
    [f"finds {count} of 19 short events, and half or more of a long one" for count in (2, 5, 8, 11, 14, 17)],
    value_laden=True,
)
def long_event(random: Random) -> Drawn:
    """Of 19 short events 2, 5, ... 17 are found to 80 %; of one event of 1,000 points a random half or more."""
    models = Models(random, place(random, [*log_uniform(random, 10, 30, 19), 1000]))
    events = models.events
    longest = int(np.argmax(events.lengths))
    short = np.flatnonzero(np.arange(len(events)) != longest)
    scores = []
    for i, count in enumerate((2, 5, 8, 11, 14, 17)):
        stream = models.streams[i]
        covered = round(1000 * stream.uniform(0.5, 1))
        alarms = spans(models.n, [events.starts[longest]], [events.starts[longest] + covered])
        alarms |= models.first_part(0.8, stream.choice(short, count, replace=False))
        scores.append(models.alarmed(i, alarms | models.false_alarms(i, 90)))
    return models.mask, scores


@order_task(
    "False alarms near an event are cheaper than those far from any.",
    [f"raises its false alarms {least} to {most} points from events" for least, most in DISTANCES],
    value_laden=True,
)
def fa_near(random: Random) -> Drawn:
    """60 % of 15 events are covered; a false episode of 5 points stands before and after each, at a distance."""
    models = Models(random, place(random, log_uniform(random, 20, 80, 15), gap=450))
    starts, stops = models.events.starts, models.events.stops
    alarms = []
    for stream, (least, most) in zip(models.streams, DISTANCES, strict=True):
        before, after = stream.integers(least, most + 1, (2, len(starts)))
        # The distance of the nearest point of the episode, which is 1 for a neighbour of the event.
        first = np.concatenate([starts - before - 4, stops + after - 1])
        alarms.append(models.first_part(0.6) | spans(models.n, first, first + 5))
    return models.raising(alarms)


def _apart(random: Random, free: Bools, count: int, length: int) -> Bools:
    """So many episodes of this length at random places where all is free, none next to another."""
    free = free.copy()
    alarms = np.zeros(len(free), np.bool_)
    while count:
        start = int(random.integers(1, len(free) - length))
        if free[start - 1 : start + length + 1].all():
            alarms[start : start + length] = True
            free[start : start + length] = False
            count -= 1
    return alarms


@order_task(
    "Alert fatigue: the same false points in fewer episodes disturb less.",
    [f"raises {count} false episodes, of 240 points in all" for count in (240, 120, 60, 30, 12, 6)],
    value_laden=True,
)
def fa_episodes(random: Random) -> Drawn:
    """240 false points in 240, 120, 60, 30, 12 and 6 episodes, at least 60 points from the 15 events."""
    models = Models(random, place(random, log_uniform(random, 20, 120, 15), gap=150))
    far = ~spans(models.n, models.events.starts - 60, models.events.stops + 60)
    episodes = zip(models.streams, (240, 120, 60, 30, 12, 6), strict=True)
    return models.raising(models.first_part(0.6) | _apart(own, far, count, 240 // count) for own, count in episodes)


@order_task(
    "Flicker: half of each event is found, in fewer pieces.",
    [*(f"finds half of each event in {n} pieces" for n in (10, 7, 5, 3, 2)), "finds half of each event in one piece"],
    value_laden=True,
)
def fragments(random: Random) -> Drawn:
    """In 10, 7, 5, 3, 2 and 1 pieces at equal distances, the first at the start of the event."""
    models = Models(random, place(random, log_uniform(random, 40, 160, 20)))
    starts, lengths = models.events.starts[:, None], models.events.lengths[:, None]
    alarms = []
    for i, count in enumerate((10, 7, 5, 3, 2, 1)):
        piece = np.arange(count) / count
        first, stops = starts + rounded(lengths * piece), starts + rounded(lengths * (piece + 0.5 / count))
        alarms.append(spans(models.n, first.ravel(), stops.ravel()) | models.false_alarms(i))
    return models.raising(alarms)


@order_task(
    "The operating region: fewer false alarms matter, the level of events that are missed does not.",
    [f"finds 60 % of the events, with {count} false points" for count in (200, 120, 70, 40, 20, 5)],
    value_laden=True,
)
def low_fpr(random: Random) -> Drawn:
    """60 % of the events are found whole, with 200, 120, 70, 40, 20 and 5 false points; the others lie at -1 to 1."""
    models = Models(random, place(random, many_events(random)))
    scores = []
    for i, count in enumerate((200, 120, 70, 40, 20, 5)):
        found = models.first_part(1.0, models.some(i, round(0.6 * len(models.events))))
        level = models.streams[i].uniform(-1, 1)
        alarmed = models.alarmed(i, found | models.false_alarms(i, count))
        scores.append(alarmed + level * (models.mask & ~found))
    return models.mask, scores


TASKS = (
    transform,
    heavy_tail,
    drift,
    rare,
    lag,
    delay,
    spikes,
    dominance,
    events_found,
    long_event,
    fa_near,
    fa_episodes,
    fragments,
    low_fpr,
)
