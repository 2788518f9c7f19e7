"""Precision, recall and F from counts, the threshold sweep of scores, and runs: overlaps, merged, widened, maxima."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

import tsadeval.metrics._kernels.finding as finding
import tsadeval.metrics._kernels.ranking as kernel
import tsadeval.metrics._kernels.vus as vus
from tsadeval.core.arrays import refuse_longer
from tsadeval.core.binning import levels_of
from tsadeval.core.define import shared
from tsadeval.core.facts import Reason
from tsadeval.core.inputs import Bools, Events, Floats, Index, Prediction, Scoring
from tsadeval.core.metric import PRF
from tsadeval.core.order import digits_pay, sort
from tsadeval.core.parameters import VUS_VARIANTS, VUSVariant, recall_weight
from tsadeval.errors import UndefinedError

SAME = 1e-13  # values of F that differ by less are equal up to rounding

UNITS = ("points", "s", "min", "h", "day")
STATISTICS: dict[str, Callable[[Any], Any]] = {
    "mean": np.mean,
    "median": np.median,
    "p90": lambda values: np.quantile(values, 0.9),
    "max": np.max,
}


def f_of_counts(found: Any, false: Any, total: Any, beta: float = 1.0) -> Any:
    """F of `found` of `total` points and `false` ones besides, for numbers or arrays; total is not 0."""
    # For a beta like 0.5, 1 or 2 nothing but the quotient is rounded, so that equal values are equal floats.
    weight = recall_weight(beta)
    return (1 + weight) * found / (weight * total + found + false)


def prf_of_counts(found: int, false: int, total: int, beta: float = 1.0) -> PRF:
    """All three; NaN where undefined: precision without alarms, recall and F without anything to find."""
    precision = found / (found + false) if found + false else math.nan
    if total == 0:
        return PRF(precision, math.nan, math.nan)
    return PRF(precision, found / total, float(f_of_counts(found, false, total, beta)))


class Sweep(NamedTuple):
    """Counts at the alarms `score >= v`, for every distinct score v of an anomalous point, the highest first.

    Of all scores, or of a block of them: then so many points of each class score higher than the whole block.
    """

    anomalous: Floats  # the scores of the anomalous points, ascending
    found: Index  # anomalous points that score at least v
    above: Index  # normal points that score more than v
    false: Index  # normal points that score at least v
    found_before: int = 0
    false_before: int = 0

    @property
    def scores(self) -> Floats:
        """The scores v."""
        return np.asarray(self.anomalous[len(self.anomalous) - self.found])

    def places(self, scores: Floats) -> Index:
        """Where some of the scores v are among them."""
        found = len(self.anomalous) - np.searchsorted(self.anomalous, scores)
        return np.asarray(np.searchsorted(self.found, found))


# Of the anomalous and the normal points: those above a score, and those that have it.
AroundRank = tuple[tuple[int, int], tuple[int, int]]


def _around_rank(scores: Any, anomalous: Floats, rank: int) -> AroundRank:
    """Count the points of each class above the score that is this far from the top of all, and those that have it."""
    top = scores
    if 8 * rank < len(scores):
        # The rank in a sample tells what surely lies above: only the points there are looked at again.
        sample = scores[:: len(scores) // 1024 + 1]
        place = min(len(sample), int(rank / len(scores) * len(sample) * 1.1) + 30)
        highest = scores[scores >= np.partition(sample, len(sample) - place)[len(sample) - place]]
        top = highest if len(highest) >= rank else scores
    cut = np.partition(top, len(top) - rank)[len(top) - rank]
    above, tied = (int(np.count_nonzero(part)) for part in (anomalous > cut, anomalous == cut))
    return (above, int(np.count_nonzero(top > cut)) - above), (tied, int(np.count_nonzero(top == cut)) - tied)


class ScoreBlock(NamedTuple):
    """Scores of both classes between two borders, and how many of each are higher.

    Of scores that are all equal, however many, there is the number only: `tied`, first of the anomalous ones; `score`
    is theirs.
    """

    anomalous: Floats
    normal: Floats
    anomalous_above: int = 0
    normal_above: int = 0
    tied: tuple[int, int] | None = None
    score: float = math.nan

    @property
    def size(self) -> int:
        """Number of points."""
        return len(self.anomalous) + len(self.normal) if self.tied is None else sum(self.tied)

    def around_rank(self, rank: int) -> AroundRank:
        """Count the points of each class above the score that is this far from the top, and those that have it."""
        if self.tied is not None:
            return (0, 0), self.tied
        return _around_rank(np.concatenate([self.anomalous, self.normal]), self.anomalous, rank)

    def sweep(self) -> Sweep:
        """Sweep over the thresholds of the block; its scores are ascending."""
        if self.tied is None:
            found, above, false = kernel.curve(self.anomalous, self.normal)
        else:  # one level, if any anomalous point has it
            levels = int(self.tied[0] > 0)
            found, above, false = (np.full(levels, count, np.int64) for count in (self.tied[0], 0, self.tied[1]))
        return Sweep(self.anomalous, found, above, false, self.anomalous_above, self.normal_above)


class ScoreBlocks(Protocol):
    """Scores that are not in memory at once, in blocks from the highest down."""

    def blocks(self) -> Iterator[ScoreBlock]:
        """Return all blocks; equal scores are in the same one."""


def scores_of(data: Scoring, label: int) -> Floats:
    """Return the scores of the points of one label, in the order of time."""
    refuse_longer(data.n)
    runs = data.truth
    return np.asarray(kernel.of_runs(data.raw, runs.starts, runs.counts, label != runs.first, 2))


@shared
def anomalous_scores(data: Scoring) -> Floats:
    """Return the scores of the anomalous points once for all metrics, in the order of time."""
    return scores_of(data, 1)


@shared
def curve(data: Scoring) -> Sweep:
    """Return the sweep over all thresholds that can matter: between two of them only false alarms are added."""
    return sweep_at(data, scores_of(data, 1))


def sweep_at(data: Scoring, thresholds: Floats) -> Sweep:
    """Return the sweep over some thresholds, which are sorted in place; `found` counts them."""
    runs, ascending = data.truth, sort(thresholds)
    # Where a sort is cheap, it is the better way to scores that lie too unevenly for a table.
    counts = kernel.placed(ascending, data.raw, runs.starts, runs.counts, runs.first, not digits_pay())
    if counts is None:
        counts = kernel.curve(ascending, sort(scores_of(data, 0)))
    return Sweep(ascending, *counts)


def false_from(data: Scoring, thresholds: Floats) -> Index:
    """Count the normal points that score at least each threshold."""
    sweep = sweep_at(data, thresholds.copy())
    return sweep.false[sweep.places(thresholds)]


def ranks_of(data: Scoring | ScoreBlocks, rank: int) -> AroundRank:
    """Count the points of each class above the score that is this far from the top of all, and those that have it."""
    if isinstance(data, Scoring):
        return _around_rank(data.raw, anomalous_scores(data), rank)
    for part in data.blocks():
        before = part.anomalous_above, part.normal_above
        if rank - sum(before) <= part.size:
            above, tied = part.around_rank(rank - sum(before))
            return (before[0] + above[0], before[1] + above[1]), tied
    raise AssertionError("the rank is more than the number of points")


def sweeps_of(data: Scoring | ScoreBlocks) -> Iterable[Sweep]:
    """Return the sweep over all thresholds that can matter, as one or by blocks."""
    return [curve(data)] if isinstance(data, Scoring) else (block.sweep() for block in data.blocks())


def places_at_top(k: int | None, anomalous: int, n: int) -> int:
    """Return how many of the n points that score highest are looked at: k, by default as many as are anomalous."""
    if k is None and anomalous == 0:
        raise UndefinedError("y_true has no anomalous point (no 1), so k is 0; give k", Reason.NO_ANOMALY)
    if k is not None and k > n:
        raise UndefinedError(f"k is {k}, but there are only {n} points")
    return anomalous if k is None else k


class Counts(NamedTuple):
    """Anomalous and normal points that score at least v, for descending thresholds v."""

    scores: Floats
    found: Index
    false: Index


def candidates(data: Scoring) -> Counts:
    """Return the thresholds at which a point-wise metric can be best: those of the curve, and the largest score.

    At any other one the same points are found as at the next larger of these, and there are more false alarms.
    """
    points = curve(data)
    if len(points.anomalous) and points.anomalous[-1] == data.high:
        return Counts(points.scores, points.found, points.false)
    at_top = np.count_nonzero(data.raw == data.high)
    return Counts(np.append(data.high, points.scores), np.append(0, points.found), np.append(at_top, points.false))


def first_best(values: Floats) -> int:
    """Return the place of the first of the best values, where those that rounding alone sets apart are equal."""
    return int(np.argmax(values >= values.max() - SAME))


def best_of_values(found_from: Floats, false_from: Floats, beta: float) -> float:
    """Find the v of the best F where an anomalous point counts as found, and a normal one as false alarm, from v on.

    Both arrays hold, for each point of their class, the largest v at which it does. What adjusts points by their
    neighbours becomes such a value, and the sweep is one merge.
    """
    ascending, false_from = sort(found_from.copy()), np.ascontiguousarray(false_from)
    found, _, alarmed = kernel.placed(ascending, false_from, _ONE_PIECE, np.array([len(false_from)]), 0, False)
    values = np.asarray(f_of_counts(found, alarmed, len(ascending), beta))
    return float(ascending[len(ascending) - found[first_best(values)]])


_ONE_PIECE = np.zeros(1, np.int64)


def window_maxima(scores: Floats, reach: float, starts: Index = _ONE_PIECE, places: Index | None = None) -> Floats:
    """Return the highest score within `reach` of each point; windows are cut at the given starts of pieces.

    Distances are those of `places`, by default numbers of points.
    """
    if reach == 0:
        return scores
    where = np.arange(len(scores)) if places is None else places
    return np.asarray(finding.window_maxima(scores, starts, where, int(min(reach, 2**62))))


def merged(starts: Index, stops: Index, n: int) -> Events:
    """Sorted ranges that may overlap or touch, as runs."""
    if len(starts) == 0:
        return Events(starts, stops, n)
    apart = starts[1:] > stops[:-1]
    return Events(starts[np.concatenate([[True], apart])], stops[np.concatenate([apart, [True]])], n)


def widened(runs: Events, reach: float, edges: Index | None = None) -> Events:
    """Widen runs by the points within `reach`; distances are those of the edges, by default numbers of points."""
    if edges is None:
        points = int(min(reach, runs.n))
        return merged(np.maximum(runs.starts - points, 0), np.minimum(runs.stops + points, runs.n), runs.n)
    places, reach = edges[:-1], int(min(reach, 2**62))
    starts = np.searchsorted(places, places[runs.starts] - reach)
    stops = np.searchsorted(places, places[runs.stops - 1] + reach, side="right")
    return merged(starts, stops, runs.n)


def descent(data: Scoring) -> tuple[Floats, Index, Index, Index]:
    """Return what a kernel needs that lowers the threshold: scores and their positions from the top, and the events."""
    ordered, events = data.descending, data.events
    return ordered["score"], ordered["position"], events.starts, events.stops


class Pieces(NamedTuple):
    """Where two sets of runs overlap: which run of each, and the points `[starts, stops)` that they share."""

    first: Index
    second: Index
    starts: Index
    stops: Index


def overlaps(first: Events, second: Events) -> Pieces:
    """All overlaps of the runs of two sets, in time order."""
    low = np.searchsorted(second.stops, first.starts, side="right")
    counts = np.searchsorted(second.starts, first.stops) - low
    of_first = np.repeat(np.arange(len(first)), counts)
    of_second = ranges(low, counts)
    return Pieces(
        of_first,
        of_second,
        np.maximum(first.starts[of_first], second.starts[of_second]),
        np.minimum(first.stops[of_first], second.stops[of_second]),
    )


@shared
def event_maxima(data: Scoring) -> Floats:
    """Return the largest score of each event: it is detected from there down."""
    runs = data.truth
    return np.asarray(kernel.maxima_of_runs(data.raw, runs.starts, runs.counts, runs.first != 1))


def owners(events: Events) -> Index:
    """Return, for every point of the events in time order, the number of its event."""
    return np.repeat(np.arange(len(events)), events.lengths)


class Matches(NamedTuple):
    """How events and alarms meet."""

    hits: Index  # points of each event that are alarmed
    first: Index  # the first of them, or the event's stop
    anomalous: int  # points of all events
    found: int  # those of them that are alarmed
    alarmed: int  # alarmed points
    alarms: int  # runs of alarms
    false: int  # those that touch no event

    @property
    def false_points(self) -> int:
        """The alarms outside the events, which no adjustment changes."""
        return self.alarmed - self.found


@shared
def matches(data: Prediction) -> Matches:
    """Return how the events and the alarms meet, in one pass over their runs."""
    return Matches(*data.truth.met_by(data.alarms))


def borders(runs: Events) -> Index:
    """Return starts and stops in turn, without the end of the data, where `reduceat` ends the last piece anyway."""
    both = np.column_stack([runs.starts, runs.stops]).ravel()
    return both[both < runs.n]


def level_ends(ordered: Floats) -> Index:
    """Return the last place of each of the distinct values of some sorted ones."""
    return np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)


def cheapest(data: Scoring, costs: Any) -> float:
    """Return the largest v of the lowest cost, given what it costs to alarm the points down to each, highest first."""
    scores = data.descending["score"]
    last = level_ends(scores)
    return float(scores[last][np.argmin(costs[last])])


def best_mean(v: Floats, gained: Floats, counted: Floats, *, lower: bool = False) -> float:
    """Return the v of the best mean where every step, from its v down, adds to the sum and to the number of terms."""
    order = np.argsort(-v, kind="stable")
    v, sums, numbers = v[order], np.cumsum(gained[order]), np.cumsum(counted[order])
    last = level_ends(v)
    last = last[numbers[last] > 0]
    means = sums[last] / numbers[last]
    return float(v[last][first_best(-means if lower else means)])


def ranges(starts: Index, lengths: Index) -> Index:
    """Return the whole numbers from each start on, so many as its length says, one range after the other."""
    return np.asarray(np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths - starts, lengths))


def running_maxima(values: Floats, lengths: Index) -> Floats:
    """Return the highest value so far in each of some pieces, which lie one after the other; no piece is empty."""
    return np.asarray(finding.running_maxima(values, np.cumsum(lengths) - lengths))


class Records(NamedTuple):
    """Points that score more than all before them in their piece, and its number; its last is its highest."""

    points: Index
    owner: Index
    last: Bools

    def gained(self, values: Floats) -> Floats:
        """Return what each adds to a sum of values of first alarms, as the threshold falls to its score."""
        return np.asarray(values - np.where(self.last, 0.0, np.append(values[1:], 0.0)))


def records(scores: Floats, starts: Index, lengths: Index) -> Records:
    """Find where, as the threshold falls, the first alarm in each piece comes: no piece is empty."""
    points = ranges(starts, lengths)
    highest = running_maxima(scores[points], lengths)
    record = np.append(True, scores[points[1:]] > highest[:-1])
    record[np.cumsum(lengths) - lengths] = True
    owner = np.repeat(np.arange(len(starts)), lengths)[record]
    return Records(points[record], owner, np.append(owner[1:] != owner[:-1], True))


def first_inside(runs: Events, begins: Index, stops: Index) -> Index:
    """Return the first point of any run inside each `[begin, stop)`; at or past `stop` where there is none."""
    nearest = np.searchsorted(runs.stops, begins, side="right")
    return np.asarray(np.maximum(np.append(runs.starts, runs.n)[nearest], begins))


def threshold_ranks(n: int, n_thresholds: int) -> Index:
    """Evenly spaced ranks of n scores, counted from the highest; the first and the last are included."""
    # From n on they are all ranks.
    return np.linspace(0, n - 1, min(n_thresholds, n)).astype(np.int64)


def table_pays(size: int, points: int) -> bool:
    """Return True if a table of counts by distance and level fits in cache or is not much larger than the zone."""
    return size <= max(1 << 16, 2 * points)


class Widths(NamedTuple):
    """A definition of VUS, and the widths at which it is averaged, ascending, with how often each counts."""

    variant: VUSVariant
    widths: Index
    repeats: Index

    @classmethod
    def of(cls, variant: str, widest: int, *, volume: bool) -> Self:
        """Return all widths up to the widest, or without `volume` that one alone."""
        return cls(VUS_VARIANTS[variant], *VUS_VARIANTS[variant].widths(widest, volume=volume))

    def reach(self, n: int) -> int:
        """Return how far buffers reach: no point is farther than n - 1 from an event, so longer ones do not matter."""
        return min(int(self.widths[-1]) // 2, n - 1)

    def mean_areas(self, zone: Any, thresholds: Floats, before: Floats, alarms: Floats, n: int) -> tuple[float, float]:
        """Return the mean areas, given how many of n points are above each threshold, and how many at least as high."""
        levels = levels_of(zone.scores, np.ascontiguousarray(thresholds))
        np.minimum(levels, len(thresholds) - 1, out=levels)  # another thread may have written to the scores
        counting = table_pays((self.reach(n) + 1) * len(thresholds), len(levels))
        how = self.widths, self.repeats, asdict(self.variant), counting, n
        areas: tuple[float, float] = vus.volume(zone, levels, before, alarms, *how)
        return areas
