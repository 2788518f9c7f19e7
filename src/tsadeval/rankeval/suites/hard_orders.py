"""Order tasks of the suite `hard`, the undisputed and the value-laden ones: six models each, worst first."""

from collections.abc import Callable

import numpy as np

from tsadeval.core.inputs import Bools, Floats
from tsadeval.rankeval.suites.hard_task import (
    ALARM,
    MAPS,
    MODELS,
    POINTS,
    Model,
    Random,
    log_uniform,
    order_task,
    place,
    rounded,
    some_normal,
)

Map = Callable[[Floats], Floats]
DISTANCES = ((200, 215), (120, 170), (70, 100), (35, 60), (15, 30), (1, 10))  # of false alarms near events, from and to


def _maps(random: Random) -> list[Map]:
    """Draw another increasing map for each model."""
    return [MAPS[name] for name in random.choice(list(MAPS), MODELS, replace=False)]


def _baseline(random: Random) -> list[Floats]:
    """Draw a sine of 2 to 6 periods, the same for all models."""
    periods, phase = int(random.integers(2, 7)), random.random()
    return [np.sin(2 * np.pi * (periods * np.arange(POINTS) / POINTS + phase))] * MODELS


@order_task(
    "Calibration differs between detectors: the same kind of scores on six different scales.",
    {
        level: f"scores events {level:g} above normal points, then changes its scale"
        for level in np.linspace(0.5, 2, MODELS)
    },
    common=_maps,
)
def transform(model: Model, level: float, change: Map) -> Floats:
    """Anomalous points are higher by 0.5 to 2, each model under another increasing map; no false alarms."""
    return change(model.noise() + level * model.mask)


@order_task(
    "Outlying noise: a few normal points score far beyond all others.",
    {
        level: f"scores events {level:g} above normal points, in noise with outliers"
        for level in np.linspace(0.3, 1.8, MODELS)
    },
)
def heavy_tail(model: Model, level: float) -> Floats:
    """Student t noise with 1.5 degrees of freedom; anomalous points are higher by 0.3 to 1.8."""
    noise = model.random.standard_t(1.5, len(model.mask))
    return np.asarray(noise + level * model.mask + ALARM * model.false_alarms())


@order_task(
    "A moving baseline: the scores of all points rise and fall slowly.",
    {by: f"has a baseline that moves up and down by {by}" for by in (5, 4, 3, 2, 1)} | {0: "has a steady baseline"},
    common=_baseline,
)
def drift(model: Model, amplitude: int, wave: Floats) -> Floats:
    """Add a sine of amplitude 5, 4, ... 0 to scores of the same skill."""
    return model.shifted(2.5) + amplitude * wave


@order_task(
    "Very rare anomalies: 0.1 % of the points.",
    {level: f"scores the two events {level:g} above normal points" for level in np.linspace(1, 4, MODELS)},
    lambda random: place(random, [10, 10], n=20_000),
)
def rare(model: Model, level: float) -> Floats:
    """Two events of 10 points in 20,000, higher by 1 to 4."""
    return model.shifted(level)


@order_task(
    "A late response: the alarm is as long as the event but comes later.",
    {by: f"raises each alarm {by} points late" for by in (60, 30, 15, 8, 3)} | {0: "raises each alarm on time"},
    lambda random: place(random, log_uniform(random, 8, 40, 20), gap=150),
)
def lag(model: Model, late: int) -> Floats:
    """Shift the alarm of each event by 60, 30, 15, 8, 3 and 0 points."""
    alarms = model.spans(model.events.starts + late, model.events.stops + late)
    return model.alarmed(alarms | model.false_alarms())


@order_task(
    "A late start: the same share of each event is found, but later in it.",
    {
        **{share: f"finds 30 % of each event, but only after {share} % of it" for share in (70, 56, 42, 28, 14)},
        0: "finds the first 30 % of each event",
    },
    lambda random: place(random, log_uniform(random, 20, 160, 20)),
)
def delay(model: Model, after: int) -> Floats:
    """30 % of each event are alarmed, from 70, 56, 42, 28, 14 and 0 % of it on."""
    events = model.events
    first = events.starts + rounded(after / 100 * events.lengths)
    stops = np.minimum(first + rounded(0.3 * events.lengths), events.stops)
    return model.alarmed(model.spans(first, stops) | model.false_alarms())


@order_task(
    "Random spikes: as many alarms as anomalous points, of which a growing share is right.",
    {
        None: "raises alarms at random points",
        **{share: f"raises single alarms of which {share} % are right" for share in (15, 22, 30, 50, 80)},
    },
)
def spikes(model: Model, share: int | None) -> Floats:
    """Take the share of chance, then 15, 22, 30, 50 and 80 %. Point adjustment rewards all of them."""
    points = model.events.points
    right = round((points / len(model.mask) if share is None else share / 100) * points)
    return model.alarmed(model.scattered(model.mask, right) | model.false_alarms(points - right))


@order_task(
    "Everything improves at once, under nuisances: scales differ and each series has one wild outlier.",
    {
        q: f"finds about {30 + 10 * q} % of the events, {30 + 12 * q} % of each, with {40 - 6 * q} false episodes"
        for q in range(MODELS)
    },
    common=_maps,
)
def dominance(model: Model, q: int, change: Map) -> Floats:
    """At step q an event is found with probability 0.3 + 0.1 q, to 0.3 + 0.12 q of it, with 40 - 6 q false episodes."""
    starts, lengths, random = model.events.starts, model.events.lengths, model.random
    found = random.random(len(starts)) < 0.3 + 0.1 * q
    covered = np.maximum(rounded((0.3 + 0.12 * q) * lengths), 1)
    first = starts + rounded((lengths - covered) * (1 - q / (MODELS - 1)))
    episodes = some_normal(random, model.mask, 40 - 6 * q)
    false = model.spans(episodes, episodes + random.integers(1, 11, len(episodes))) & ~model.mask
    mapped = change(model.alarmed(model.spans(first[found], (first + covered)[found]) | false)).copy()
    outlier = mapped.max() + np.ptp(mapped) * np.exp(random.uniform(0, np.log(100)))
    mapped[some_normal(random, model.mask, 1)] = outlier
    return mapped


# The value-laden order tasks of the suite `hard`: each is a preference that many, but not all, users share.


@order_task(
    "Events count, not points: the same alarmed points are spread over more events.",
    {
        count: f"finds {count} of 20 events, with as many alarmed points as the others"
        for count in (4, 7, 10, 13, 16, 20)
    },
    lambda random: place(random, random.integers(30, 71, 20)),
    value_laden=True,
)
def events_found(model: Model, count: int) -> Floats:
    """12 % of the anomalous points are alarmed, from the start of 4, 7, 10, 13, 16 and 20 of the 20 events."""
    which, each = model.some(count), round(0.12 * model.events.points / count)
    starts, stops = model.events.starts[which], model.events.stops[which]
    return model.alarmed(model.spans(starts, np.minimum(starts + each, stops)) | model.false_alarms())


@order_task(
    "One long event should not outweigh the short ones.",
    {count: f"finds {count} of 19 short events, and half or more of a long one" for count in (2, 5, 8, 11, 14, 17)},
    lambda random: place(random, [*log_uniform(random, 10, 30, 19), 1000]),
    value_laden=True,
)
def long_event(model: Model, count: int) -> Floats:
    """Of 19 short events 2, 5, ... 17 are found to 80 %; of one event of 1,000 points a random half or more."""
    longest = model.events.lengths.argmax()
    first, covered = model.events.starts[longest], round(1000 * model.random.uniform(0.5, 1))
    short = np.delete(np.arange(len(model.events)), longest)
    found = model.first_part(0.8, model.random.choice(short, count, replace=False))
    return model.alarmed(found | model.spans([first], [first + covered]) | model.false_alarms(90))


@order_task(
    "False alarms near an event are cheaper than those far from any.",
    {(least, most): f"raises its false alarms {least} to {most} points from events" for least, most in DISTANCES},
    lambda random: place(random, log_uniform(random, 20, 80, 15), gap=450),
    value_laden=True,
)
def fa_near(model: Model, distance: tuple[int, int]) -> Floats:
    """60 % of 15 events are covered; a false episode of 5 points stands before and after each, at a distance."""
    least, most = distance
    before, after = model.random.integers(least, most + 1, (2, len(model.events)))
    # The distance of the nearest point of the episode, which is 1 for a neighbour of the event.
    first = np.concatenate([model.events.starts - before - 4, model.events.stops + after - 1])
    return model.alarmed(model.first_part(0.6) | model.spans(first, first + 5))


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
    {count: f"raises {count} false episodes, of 240 points in all" for count in (240, 120, 60, 30, 12, 6)},
    lambda random: place(random, log_uniform(random, 20, 120, 15), gap=150),
    value_laden=True,
)
def fa_episodes(model: Model, count: int) -> Floats:
    """240 false points in 240, 120, 60, 30, 12 and 6 episodes, at least 60 points from the 15 events."""
    far = ~model.spans(model.events.starts - 60, model.events.stops + 60)
    return model.alarmed(model.first_part(0.6) | _apart(model.random, far, count, 240 // count))


@order_task(
    "Flicker: half of each event is found, in fewer pieces.",
    {
        **{count: f"finds half of each event in {count} pieces" for count in (10, 7, 5, 3, 2)},
        1: "finds half of each event in one piece",
    },
    lambda random: place(random, log_uniform(random, 40, 160, 20)),
    value_laden=True,
)
def fragments(model: Model, count: int) -> Floats:
    """In 10, 7, 5, 3, 2 and 1 pieces at equal distances, the first at the start of the event."""
    starts, lengths = model.events.starts[:, None], model.events.lengths[:, None]
    piece = np.arange(count) / count
    first, stops = starts + rounded(lengths * piece), starts + rounded(lengths * (piece + 0.5 / count))
    return model.alarmed(model.spans(first.ravel(), stops.ravel()) | model.false_alarms())


@order_task(
    "The operating region: fewer false alarms matter, the level of events that are missed does not.",
    {count: f"finds 60 % of the events, with {count} false points" for count in (200, 120, 70, 40, 20, 5)},
    value_laden=True,
)
def low_fpr(model: Model, count: int) -> Floats:
    """60 % of the events are found whole, with 200, 120, 70, 40, 20 and 5 false points; the others lie at -1 to 1."""
    found = model.first_part(1.0, model.some(round(0.6 * len(model.events))))
    level = model.random.uniform(-1, 1)
    return model.alarmed(found | model.false_alarms(count)) + level * (model.mask & ~found)


UNDISPUTED = (transform, heavy_tail, drift, rare, lag, delay, spikes, dominance)
PREFERENCES = (events_found, long_event, fa_near, fa_episodes, fragments, low_fpr)
TASKS = UNDISPUTED + PREFERENCES
