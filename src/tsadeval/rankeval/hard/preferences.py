"""The value-laden order tasks of the suite `hard`: each is a preference that many, but not all, users share."""

from __future__ import annotations

import numpy as np

from tsadeval.core.inputs import Bools
from tsadeval.rankeval.hard.order import Drawn
from tsadeval.rankeval.hard.parts import Models, Random, log_uniform, many_events, place, rounded, spans
from tsadeval.rankeval.hard.task import order_task


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
    [
        f"raises its false alarms {least} to {most} points from events"
        for least, most in ((200, 215), (120, 170), (70, 100), (35, 60), (15, 30), (1, 10))
    ],
    value_laden=True,
)
def fa_near(random: Random) -> Drawn:
    """60 % of 15 events are covered; a false episode of 5 points stands before and after each, at a distance."""
    models = Models(random, place(random, log_uniform(random, 20, 80, 15), gap=450))
    starts, stops = models.events.starts, models.events.stops
    scores = []
    for i, (least, most) in enumerate(((200, 215), (120, 170), (70, 100), (35, 60), (15, 30), (1, 10))):
        before, after = models.streams[i].integers(least, most + 1, (2, len(starts)))
        # The distance of the nearest point of the episode, which is 1 for a neighbour of the event.
        first = np.concatenate([starts - before - 4, stops + after - 1])
        scores.append(models.alarmed(i, models.first_part(0.6) | spans(models.n, first, first + 5)))
    return models.mask, scores


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
    scores = []
    for i, count in enumerate((240, 120, 60, 30, 12, 6)):
        alarms = models.first_part(0.6) | _apart(models.streams[i], far, count, 240 // count)
        scores.append(models.alarmed(i, alarms))
    return models.mask, scores


@order_task(
    "Flicker: half of each event is found, in fewer pieces.",
    [*(f"finds half of each event in {n} pieces" for n in (10, 7, 5, 3, 2)), "finds half of each event in one piece"],
    value_laden=True,
)
def fragments(random: Random) -> Drawn:
    """In 10, 7, 5, 3, 2 and 1 pieces at equal distances, the first at the start of the event."""
    models = Models(random, place(random, log_uniform(random, 40, 160, 20)))
    starts, lengths = models.events.starts[:, None], models.events.lengths[:, None]
    scores = []
    for i, count in enumerate((10, 7, 5, 3, 2, 1)):
        piece = np.arange(count) / count
        first, stops = starts + rounded(lengths * piece), starts + rounded(lengths * (piece + 0.5 / count))
        alarms = spans(models.n, first.ravel(), stops.ravel())
        scores.append(models.alarmed(i, alarms | models.false_alarms(i)))
    return models.mask, scores


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


TASKS = (events_found, long_event, fa_near, fa_episodes, fragments, low_fpr)
