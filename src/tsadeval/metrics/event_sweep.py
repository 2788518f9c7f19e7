"""Best thresholds of the metrics that count events and alarm runs, exact over all scores; warnings and episodes.

Going down with the threshold, events are detected one by one, and alarm runs appear, grow and join. Each such step
happens at a score that is known beforehand, so the counts at any threshold are numbers of larger steps.
"""

from typing import Any, NamedTuple, TypeVar

import numpy as np

from tsadeval.core.define import shared
from tsadeval.core.inputs import Events, Floats, Index, Prediction, Scoring
from tsadeval.core.parameters import recall_weight
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import curve, event_maxima, false_from, first_best


def at_least(ascending: Floats, thresholds: Floats) -> Index:
    """How many of some sorted values are at least each threshold."""
    return np.asarray(len(ascending) - np.searchsorted(ascending, thresholds))


def _best(thresholds: Floats, gained: Any, possible: Any, weight: float) -> float:
    """Of ascending thresholds that of the best F = (1 + weight) gained / possible; of several best the largest."""
    values = (1 + weight) * gained / np.maximum(possible, 1)
    return float(thresholds[::-1][first_best(values[::-1])])


class EventSweep(NamedTuple):
    """At ascending thresholds: detected events, alarm runs that touch an event, alarm runs that do not."""

    thresholds: Floats
    detected: Index
    touching: Index
    false: Index


class EventSteps(NamedTuple):
    """Scores, ascending, at which something happens as the threshold falls."""

    maxima: Floats  # an event is detected
    false_up: Floats  # a false alarm run appears
    false_down: Floats  # one vanishes: it grows into another, or into an event
    touching_up: Floats  # an alarm run that touches an event appears
    touching_down: Floats  # one vanishes

    def at(self, thresholds: Floats) -> EventSweep:
        """Return the counts at some ascending thresholds."""
        return EventSweep(
            thresholds,
            at_least(self.maxima, thresholds),
            at_least(self.touching_up, thresholds) - at_least(self.touching_down, thresholds),
            at_least(self.false_up, thresholds) - at_least(self.false_down, thresholds),
        )


def _steps(scores: Floats, starting: Any) -> tuple[Floats, Floats]:
    """Thresholds at which runs that start at given points appear, and at which they vanish, going down.

    Going down with the threshold v, a run starts at point i from v = s[i] until v = s[i - 1], where it goes over
    into a longer one. In a rising stretch the end of one is the start of the next: only peaks and valleys remain.
    """
    peaks = starting.copy()
    peaks[:-1] &= ~starting[1:]
    valleys = starting[1:] & ~starting[:-1]
    # Positions first: picking by a mask without long runs is four times slower.
    return scores[np.flatnonzero(peaks)], scores[np.flatnonzero(valleys)]


@shared
def event_steps(data: Scoring) -> EventSteps:
    """Return the steps of events and alarm runs: where they appear and vanish.

    An alarm run that starts at a normal point is false unless it goes on into the event that ends its normal
    stretch. It does so from the lower of the two scores at that border (`joins`), and no longer counts as a run
    that starts in this stretch once the whole stretch joins two events (`bridges`).
    """
    maxima = np.sort(event_maxima(data))
    scores, truth, starts = data.scores, data.truth, data.events.starts
    rising = np.append(True, scores[1:] > scores[:-1])
    normal_up, normal_down = _steps(scores, rising & ~truth.mask)
    event_up, event_down = _steps(scores, rising & truth.mask)
    after_normal = starts[starts > 0]
    joins = np.minimum(scores[after_normal - 1], scores[after_normal])
    lowest = np.minimum.reduceat(scores, truth.starts)[truth.first :: 2]  # of the normal stretches
    between = lowest[1 - truth.first :][: len(starts) - 1]
    bridges = np.minimum(between, np.minimum(scores[data.events.stops[:-1] - 1], scores[starts[1:]]))
    false_up, false_down = np.sort(np.append(normal_up, bridges)), np.sort(np.append(normal_down, joins))
    touching_up, touching_down = np.sort(np.append(event_up, joins)), np.sort(np.append(event_down, bridges))
    return EventSteps(maxima, false_up, false_down, touching_up, touching_down)


@shared
def swept_events(data: Scoring) -> EventSweep:
    """Return the counts at every threshold at which the best event F can be."""
    steps = event_steps(data)
    # F can only rise where a false run vanishes or a run touches an event: no other threshold can be the best,
    # unless all are equally bad, and then the largest is.
    # Pieces that are sorted already merge in one pass.
    found = np.concatenate([steps.false_down, steps.touching_up, [data.high]])
    return steps.at(np.sort(found, kind="stable"))


def best_event_f1(data: Scoring, *, beta: float, variant: str) -> float:
    """Return the v of the best event F."""
    thresholds, detected, touching, false = swept_events(data)
    events, weight = len(data.events), recall_weight(beta)
    if variant == "runs":
        return _best(
            thresholds, touching * detected, weight * touching * events + detected * (touching + false), weight
        )
    normal = data.n - data.events.points
    if variant == "segments" or normal == 0:
        return _best(thresholds, detected, weight * events + detected + false, weight)
    quiet = normal - false_from(data, thresholds)
    return _best(thresholds, detected * quiet, weight * quiet * events + (detected + false) * normal, weight)


def best_composite_f1(data: Scoring, *, beta: float) -> float:
    """Return the v of the best composite F."""
    maxima = np.sort(event_maxima(data))
    weight, points = recall_weight(beta), curve(data)
    detected = at_least(maxima, points.scores)
    possible = weight * points.found * len(maxima) + detected * (points.found + points.false)
    return _best(points.scores[::-1], (points.found * detected)[::-1], possible[::-1], weight)


def best_false_alarms(data: Scoring, *, per: float | str, early: int | str) -> float:
    """Return the largest v with the fewest false alarm runs."""
    sweep = swept_events(with_early(data, early))
    return float(sweep.thresholds[::-1][np.argmin(sweep.false[::-1])])


T = TypeVar("T", Scoring, Prediction)


def with_early(data: T, early: int | str) -> T:
    """Return the data with events that begin earlier, so that alarms shortly before them are in time.

    One normal point stays between an event and the one before, so that they remain two.
    """
    if early == 0:
        return data

    def make() -> T:
        events = data.events
        before, edges = data.setting.positions(early, data.n)
        places = edges[:-1]
        starts = np.searchsorted(places, places[events.starts] - int(min(before, 2**62)))
        starts = np.minimum(np.maximum(starts, np.concatenate([[0], events.stops[:-1] + 1])), events.starts)
        return data.with_truth(Events(starts, events.stops, data.n).mask())

    return data.shared(("event_level", "early", early), make)


def best_delay(data: Scoring, *, missed: str, unit: str, statistic: str) -> float:
    """Return the largest v at which all delays are 0: as they are at the lowest score, nothing else can be the best."""
    firsts = data.scores[data.events.starts]
    if missed == "length":
        return float(firsts.min())  # every event has to be detected at its first point
    # An event is detected late from its largest score down to above its first score. So events are taken by
    # descending largest score, and at the lowest first score of those so far none is late, unless the next event is.
    maxima = event_maxima(data)
    order = np.argsort(maxima)[::-1]
    lowest = np.minimum.accumulate(firsts[order])
    in_time = np.append(maxima[order][1:] < lowest[:-1], True)
    return float(lowest[np.argmax(in_time)])


def in_one_unit(
    data: Prediction | Scoring, merge_gap: int | str, min_duration: int | str
) -> tuple[float, float, Index, Index]:
    """Both spans in the same unit, where points begin and end in it; the defaults are the same in any unit."""
    same = isinstance(merge_gap, str) == isinstance(min_duration, str)
    if same or min_duration == 1:
        gap, begins, ends = data.setting.stretches(merge_gap, data.n)
        return gap, data.setting.positions(min_duration, 0)[0] if same else 0.0, begins, ends
    if merge_gap == 0:
        shortest, begins, ends = data.setting.stretches(min_duration, data.n)
        return 0.0, shortest, begins, ends
    raise UndefinedError("merge_gap and min_duration must both be points, or both durations")


def episodes(data: Prediction, merge_gap: int | str, min_duration: int | str) -> Events:
    """Alarm runs that are quiet for at most `merge_gap` between them joined, and the short ones then left out."""
    runs = data.predicted
    gap, shortest, begins, ends = in_one_unit(data, merge_gap, min_duration)
    # A gap in the data, which only time stamps show, ends a run as quiet points do.
    after = runs.starts[:0] if data.setting.times is None else np.flatnonzero(begins[1:] > ends[:-1]) + 1
    inside = after[data.alarms.mask[after - 1] & data.alarms.mask[after]] if len(after) else after
    starts, stops = (np.sort(np.append(at, inside)) if len(inside) else at for at in (runs.starts, runs.stops))
    apart = begins[starts[1:]] - ends[stops[:-1] - 1] > gap
    first, last = np.append(True, apart)[: len(starts)], np.append(apart, True)[: len(starts)]
    joined = Events(starts[first], stops[last], runs.n)
    long = ends[joined.stops - 1] - begins[joined.starts] >= shortest
    return Events(joined.starts[long], joined.stops[long], runs.n)
