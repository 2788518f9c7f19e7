"""Metrics of the order of a stream's scores: points counted in bins, and VUS by the points near events; bounds of both.

Whatever the order of the points inside a bin of neighbouring scores, the value lies between that of the best and that
of the worst such order; both have a formula.

Of VUS, a buffer reaches a fixed number of points beyond an event. So of each gap between two events only the points
near its ends are kept, and one that parts them; all others matter by the order of their scores alone. With the order of
all scores from a sort, thresholds and alarms are known and the areas are exact. With bins, of each threshold only the
bin is known. Hits, false alarms and recall grow as a threshold falls, so they lie between their values at the two ends
of the bin, and the areas between those of the least and the most favourable such curves.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, NamedTuple, Self, cast

import numpy as np

import tsadeval.metrics._kernels.vus as kernel
from tsadeval.core.binning import bins_of, count_by_score, levels_of
from tsadeval.core.facts import Fact, Reason
from tsadeval.core.inputs import Array, Floats, Index, Scoring
from tsadeval.core.metric import Metric, missing
from tsadeval.errors import InvalidParameterError, UndefinedError
from tsadeval.evaluation.external_sort import SortedScores, Spill
from tsadeval.metrics.counting import Widths, f_of_counts, places_at_top, table_pays, threshold_ranks
from tsadeval.streams.runs import BareRuns, PieceList

_BINS = 2**22  # 64 MB; 14 bits of a score besides its size (exponent) are told apart


class Bounds(NamedTuple):
    """Where a value lies for sure."""

    low: float
    high: float

    def found(self) -> tuple[float, None, float, float]:
        """Return the middle, which is at most half the width away from the value, no reason, and the bounds."""
        return (self.low + self.high) / 2, None, *self


class ScoreBins:
    """Points of each class in bins of neighbouring scores: an interval for the value, in constant memory."""

    exact = False

    def __init__(self) -> None:
        self._bins = np.zeros((2, _BINS), np.int64)
        self._highest, self._at_highest = -np.inf, 0

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        highest = float(data.raw.max())
        if highest >= self._highest:
            self._tell(highest, int(np.count_nonzero(data.raw == highest)))
        count_by_score(data.raw, data.truth.starts, data.truth.counts, data.truth.first, self._bins)

    def _tell(self, score: float, points: int) -> None:
        if score >= self._highest:
            self._at_highest = points + self._at_highest * (score == self._highest)
            self._highest = score

    def merge(self, later: Self) -> None:
        """Take in the state of the stretch that follows."""
        self._bins = self._bins + later._bins  # arrays from other processes may be read-only
        self._tell(later._highest, later._at_highest)

    def value(self, metric: Metric) -> tuple[Any, ...]:
        """Return the middle and the bounds of a metric, or why there is no value."""
        try:
            lacking = missing(metric.needs, cast(Any, self))
            if lacking is not None:
                return float("nan"), lacking
            used = np.flatnonzero(self._bins.any(axis=0))[::-1]
            normal, anomalous = self._bins[:, used]
            bins = _ByBin(anomalous, normal, np.cumsum(anomalous) - anomalous, np.cumsum(normal) - normal)
            return _BOUNDS[metric.name](bins, int(anomalous.sum()), int(normal.sum()), **metric.options).found()
        except UndefinedError as error:
            return float("nan"), Fact(Reason(error.reason), str(error))

    @property
    def truth(self) -> Self:
        """The labels, of which only the number of each is known."""
        return self

    def has(self, label: int) -> bool:
        """Return True if any point has this label."""
        return bool(self._bins[label].any())

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self._bins.sum())

    def _above(self) -> Floats:
        """Points in each bin and in higher ones, from the highest down. The highest score has one of its own."""
        counts = np.append(self._bins.sum(axis=0), self._at_highest)
        counts[bins_of(np.array([self._highest]), _BINS)] -= self._at_highest
        return np.cumsum(counts[::-1]).astype(np.float64)

    @property
    def highest(self) -> float:
        """The bin of the highest score."""
        return float(_BINS)

    def at_ranks(self, ranks: Index) -> tuple[Floats, Floats]:
        """Return the bins at ascending ranks, and how many points are in them and in higher ones."""
        above = self._above()
        at = np.searchsorted(above, ranks, "right")
        return (_BINS - at).astype(np.float64), above[at]

    def counts_above(self, scores: Floats) -> tuple[Floats, Floats]:
        """How many points are in higher bins than each of some, and how many in these or in higher ones."""
        above = np.append([0, 0], self._above())
        at = _BINS + 2 - scores.astype(np.int64)
        return above[at - 1], above[at]

    def places(self, scores: Any) -> Floats:
        """Return the bins of scores."""
        return np.where(scores == self._highest, float(_BINS), bins_of(scores, _BINS))

    def __getstate__(self) -> dict[str, Any]:
        # Most bins are empty, so those that are not travel with their places.
        used = np.flatnonzero(self._bins.any(axis=0))
        return {"used": used, "counts": self._bins[:, used], "highest": (self._highest, self._at_highest)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        ScoreBins.__init__(self)
        self._bins[:, state["used"]] = state["counts"]
        self._tell(*state["highest"])


class _ByBin(NamedTuple):
    """Points of each class in bins, the highest scores first, and how many score higher than each bin."""

    anomalous: Index
    normal: Index
    found: Index
    false: Index


def _auc_roc(bins: _ByBin, anomalous: int, normal: int) -> Bounds:
    # In floats as wide as the machine has: products of two counts of 1e12 points pass 64 bits.
    gained, pairs = bins.anomalous.astype(np.longdouble), np.longdouble(anomalous) * np.longdouble(normal)
    lost, doubtful = np.sum(gained * bins.false), np.sum(gained * bins.normal)
    return Bounds(*(float(1 - lower / pairs) for lower in (lost + doubtful, lost)))


def _auc_pr(bins: _ByBin, anomalous: int, normal: int, *, interpolation: str) -> Bounds:
    """Precision at x anomalous points found is x / (x + c): in a bin, c is at least `few` and at most `many`.

    It grows with x and is concave. So a sum over steps is at least the integral; one over trapezoids is at most the
    integral, and at least the one trapezoid from the first to the last x of the bin.
    """
    gained, found = bins.anomalous.astype(np.float64), bins.found.astype(np.float64)
    few = bins.false.astype(np.float64)
    many = few + bins.normal
    if interpolation == "step":
        low, high = _integral(found, gained, many), gained * _precision(found + gained, few)
    else:
        low = gained * (_precision(found, many) + _precision(found + gained, many)) / 2
        high = _integral(found, gained, few)
    return Bounds(*(float(min(max(np.sum(x) / anomalous, 0.0), 1.0)) for x in (low, high)))


def _precision(found: Any, false: Any) -> Any:
    alarms = found + false
    return np.divide(found, alarms, out=np.ones(len(alarms)), where=alarms > 0)  # 1 before the first alarm


def _integral(found: Any, gained: Any, false: Any) -> Any:
    """Return the integral of x / (x + false) from `found` on, `gained` wide."""
    return gained - false * np.log1p(gained / np.maximum(found + false, 1))


def _best_f1(bins: _ByBin, anomalous: int, normal: int, *, beta: float) -> Bounds:
    found = bins.found + bins.anomalous
    ends = f_of_counts(found, bins.false + bins.normal, anomalous, beta)
    return Bounds(float(ends.max()), float(f_of_counts(found, bins.false, anomalous, beta).max()))


def _precision_at_k(bins: _ByBin, anomalous: int, normal: int, *, k: int | None) -> Bounds:
    k = places_at_top(k, anomalous, anomalous + normal)
    last = int(np.searchsorted(bins.found + bins.false + bins.anomalous + bins.normal, k))
    found, points, others = (int(x[last]) for x in (bins.found, bins.anomalous, bins.normal))
    left = k - found - int(bins.false[last])
    return Bounds((found + max(left - others, 0)) / k, (found + min(left, points)) / k)


_BOUNDS: dict[str, Callable[..., Bounds]] = {
    "auc_roc": _auc_roc,
    "auc_pr": _auc_pr,
    "best_f1": _best_f1,
    "precision_at_k": _precision_at_k,
}


AllScores = SortedScores | ScoreBins
Areas = tuple[float | Bounds, float | Bounds]  # under the ROC and PR curves: numbers, or intervals for them
_CHUNK = 2**20  # points near events that are weighed at once
_CUTS = 2**11  # scores at which curves over all thresholds are bounded, near events and among all points each
_LARGEST = 2**23  # numbers in a table by width and threshold


def _widest(metric: Metric) -> int:
    window = metric.options["window"]
    if window == "period":
        raise InvalidParameterError(
            "the period is that of the values of the series, which a stream does not have; pass "
            "window=te.period(values)"
        )
    return int(window if metric.name.startswith("range") else 2 * window)


def reach_of(metric: Metric, *, exact: bool) -> int:
    """Find how far from an event a point may be to get a weight."""
    widest, levels = _widest(metric), metric.options["n_thresholds"]
    widths = 1 if metric.name.startswith("range") else widest + 1
    if levels is None:
        levels = 0 if exact else _CUTS  # exact ones need no table
    if (1 if exact else 8) * levels * widths > _LARGEST:  # bounds take several such tables, of both ends of bins
        other = "te.evaluate" if exact else "order='sort'"
        raise InvalidParameterError(
            f"{widths:,} widths at {levels:,} thresholds are too many for a stream; take a smaller window or "
            f"fewer thresholds, or use {other}"
        )
    return widest // 2


class NearEvents:
    """The scores at most `reach` away from an event, in the order of time; neighbouring stretches of a series merge.

    Gaps longer than 2 reach + 1 are shortened to that. The gap before the first event and the one after the last are
    kept apart, since what comes before or behind may make them longer.
    """

    def __init__(self, reach: int, order: AllScores) -> None:
        self._reach, self._order = reach, order  # which gets its points by itself
        self._before = self._behind = np.empty(0, np.float32)
        self._scores = Spill(ordered=False, on_disk=order.exact)  # from the first event to the last
        # Of event, gap, event, ..., event, as they are kept; a gap of no points is where an event goes on.
        self._lengths: PieceList[Index] = PieceList(np.concatenate)
        self._known: dict[Any, Areas] = {}

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        events, part = data.events, NearEvents(self._reach, self._order)
        first, last = (int(events.starts[0]), int(events.stops[-1])) if len(events) else (data.n, data.n)
        part._before, part._behind = self._shorten(data.raw[:first]), self._shorten(data.raw[last:])
        if len(events):
            lengths = np.diff(np.column_stack([events.starts, events.stops]).ravel())  # of event, gap, event, ...
            lengths[1::2] = np.minimum(lengths[1::2], 2 * self._reach + 1)
            part._lengths.add(lengths)
            for scores in self._keep_near(data.raw, events.starts, events.stops):
                part._scores.add(scores)
        self.merge(part)

    def merge(self, later: Self) -> None:
        """Take in the state of the stretch that follows."""
        self._known = {}
        gap = self._shorten(np.concatenate([self._behind if self._lengths else self._before, later._before]))
        if not self._lengths:
            self._before = gap
        elif not later._lengths:
            self._behind = gap
        else:
            self._scores.add(gap)
            self._lengths.add(np.array([len(gap)]))
        if later._lengths:
            self._scores.merge(later._scores)
            self._lengths.merge(later._lengths)
            self._behind = later._behind

    def _shorten(self, gap: Array) -> Array:
        """Return a gap without the points that no buffer reaches, but one."""
        r = self._reach
        return gap.copy() if len(gap) <= 2 * r + 1 else np.concatenate([gap[: r + 1], gap[len(gap) - r :]])

    def _keep_near(self, scores: Array, starts: Index, stops: Index) -> list[Array]:
        """Return the parts that are kept, from the first event to the last."""
        long = np.flatnonzero(starts[1:] - stops[:-1] > 2 * self._reach + 1)
        begins = np.append(starts[0], starts[long + 1] - self._reach).tolist()
        ends = np.append(stops[long] + self._reach + 1, stops[-1]).tolist()
        return [scores[a:b] for a, b in zip(begins, ends, strict=True)]

    def chunks(self, reach: int, size: float) -> Iterator[tuple[Array, Index, Index]]:
        """Read scores and events of stretches of about `size` points whose buffers do not touch those of others."""
        runs = BareRuns.of_counts(self._lengths.whole(), first=1)
        starts, stops, lengths = runs.events.starts, runs.events.stops, runs.counts
        # Events behind which a chunk may end.
        alone = np.append(np.flatnonzero(lengths[1::2] > 2 * self._reach), len(starts) - 1)
        ends = stops[alone]
        first = 0
        while first < len(starts):
            at = min(int(np.searchsorted(ends, starts[first] + size)), len(alone) - 1)
            last = int(alone[at])
            begin, end = starts[first] - reach * (first > 0), stops[last] + reach * (last + 1 < len(starts))
            before = self._before[: None if first == 0 else 0]
            behind = self._behind[: None if last + 1 == len(starts) else 0]
            scores = np.concatenate([before, self._scores.read(int(begin), int(end)), behind])
            begin -= len(before)
            yield scores, starts[first : last + 1] - begin, stops[first : last + 1] - begin
            first = last + 1

    def value(self, metric: Metric) -> tuple[Any, ...]:
        """Return the value of a metric on all points so far, with bounds where the order has no more."""
        reason = missing(metric.needs, cast(Any, self._order))
        if reason is not None:
            return float("nan"), reason
        roc, pr = self._areas(metric)
        found = roc if metric.name.endswith("roc") else pr
        return found.found() if isinstance(found, Bounds) else (found, None)

    def _areas(self, metric: Metric) -> Areas:
        """Return the areas under the curves of a metric, of which it takes one."""
        options = metric.options
        key = metric.name.rpartition("_")[0], *options.values()
        if key not in self._known:
            how = Widths.of(options["variant"], _widest(metric), volume=not metric.name.startswith("range"))
            self._known[key] = _Curves(self, self._order, how).areas(options["n_thresholds"])
        return self._known[key]


class _Curves:
    """The curves of a metric at all its widths."""

    def __init__(self, near: NearEvents, order: AllScores, how: Widths) -> None:
        self._near, self._order, self._how = near, order, how
        self._variant, self._reach = how.variant, how.reach(order.n)

    def areas(self, n_thresholds: int | None) -> Areas:
        if n_thresholds is None:
            return self._exact_at_all() if self._order.exact else self._between_cuts()
        thresholds, alarms = self._order.at_ranks(threshold_ranks(self._order.n, n_thresholds))
        return self._exact(thresholds, alarms) if self._order.exact else self._between_ranks(thresholds)

    def _zone(self, scores: Array, starts: Index, stops: Index) -> Any:
        return kernel.Zone(self._order.places(scores), starts, stops, self._reach)

    def _count_hits(self, thresholds: Floats) -> list[Any]:
        """Count hits and events found at descending thresholds, at each width."""
        count = len(thresholds)
        total: list[Any] = []
        for chunk in self._near.chunks(self._reach, _CHUNK):
            zone = self._zone(*chunk)
            levels = levels_of(zone.scores, np.ascontiguousarray(thresholds))
            pays = table_pays((self._reach + 1) * count, len(levels))
            found = kernel.gather(zone, levels, count, self._how.widths, asdict(self._variant), pays)
            total = [a + b for a, b in zip(total, found, strict=True)] if total else list(found)
        return total

    def _exact(self, thresholds: Floats, alarms: Floats) -> Areas:
        before = np.append(0.0, alarms[:-1])
        found = self._count_hits(thresholds)
        rule = asdict(self._variant)
        areas: Areas = kernel.mean_areas(*found, before, alarms, self._how.repeats, rule, self._order.n)
        return areas

    def _exact_at_all(self) -> Areas:
        """Every distinct score near an event is a threshold: all of them are in memory."""
        (chunk,) = self._near.chunks(self._reach, np.inf)
        zone = self._zone(*chunk)
        thresholds = np.unique(zone.scores)[::-1]
        return self._how.mean_areas(zone, thresholds, *self._order.counts_above(thresholds), self._order.n)

    def _curve(self, cuts: Floats) -> "_ByCut":
        inside, buffered, found, groups = self._count_hits(cuts)
        _, alarms = self._order.counts_above(cuts)
        inside, alarms = np.append(0.0, inside), np.append(0.0, alarms)
        buffered, found = (np.pad(table, ((0, 0), (1, 0))) for table in (buffered, found))
        hits = inside + buffered
        positives = inside[-1] + (buffered[:, -1:] if self._variant.once else buffered) / 2
        recall = np.minimum(hits / positives, 1) * found / groups[:, None]
        false = np.maximum(alarms - hits, 0)
        return _ByCut(hits, false, recall, false / (self._order.n - positives))

    def _between_cuts(self) -> Areas:
        """Bounds of curves that have a point for every distinct score, between neighbouring cuts.

        These are bins, descending, at evenly spaced ranks of the points near events and of all points.
        """
        near = np.sort(np.concatenate([self._zone(*chunk).scores for chunk in self._near.chunks(self._reach, _CHUNK)]))
        ranks = threshold_ranks(self._order.n, _CUTS)
        cuts = np.unique([*near[threshold_ranks(len(near), _CUTS)], *self._order.at_ranks(ranks)[0]])[::-1]
        curve = self._curve(cuts)
        low, high = curve.precision(np.arange(len(cuts)), np.arange(1, len(cuts) + 1))
        gained, right = np.diff(curve.recall), np.diff(curve.rate)
        last = (1 - curve.rate[:, -1]) * (1 + curve.recall[:, -1]) / 2
        roc = [np.sum(right * recall, 1) + last for recall in (curve.recall[:, :-1], curve.recall[:, 1:])]
        return self._mean(*roc), self._mean(np.sum(gained * low, 1), np.sum(gained * high, 1))

    def _between_ranks(self, bins: Floats) -> Areas:
        """Bounds of curves that have a point for each of these bins, somewhere in it."""
        cuts = np.unique([*bins, *(bins[:-1] + 1)])[::-1]  # before the bin and behind it, but all of the lowest
        column = {cut: at + 1 for at, cut in enumerate(cuts.tolist())}
        ends = np.array([column[one] for one in bins.tolist()])
        begins = np.array([*(column[one + 1] for one in bins[:-1].tolist()), ends[-1]])
        begins = np.where(bins == self._order.highest, ends, begins)
        curve = self._curve(cuts)
        roc = [_trapezoids(curve.rate[:, x], curve.recall[:, y]) for x, y in ((ends, begins), (begins, ends))]
        return self._mean(*roc), self._mean(*self._pr(curve, begins, ends))

    def _pr(self, curve: "_ByCut", begins: Index, ends: Index) -> Iterator[Floats]:
        """Bound the area, which is linear in each recall: each lies at the end that its factor asks for."""
        precisions = curve.precision(begins, ends)
        for precision, sign in zip(precisions, (-1, 1), strict=True):
            mean = precision
            if self._variant.trapezoid:
                start = np.ones((len(precision), 1))
                mean = (precision + np.append(start, precision[:, :-1], axis=1)) / 2
            factor = mean - np.append(mean[:, 1:], np.zeros((len(mean), 1)), axis=1)
            recall = np.where(sign * factor > 0, curve.recall[:, ends], curve.recall[:, begins])
            yield np.sum(factor * recall, axis=1)

    def _mean(self, low: Floats, high: Floats) -> Bounds:
        weight = self._how.repeats / self._how.repeats.sum()
        return Bounds(*(float(min(max(weight @ bound, 0.0), 1.0)) for bound in (low, high)))


class _ByCut(NamedTuple):
    """By width and cut, the highest first; the first column is before all points."""

    hits: Floats
    false: Floats
    recall: Floats
    rate: Floats

    def precision(self, begins: Index, ends: Index) -> tuple[Floats, Floats]:
        """Return the least and the largest precision between two cuts."""
        fewest, most = self.hits[:, begins], self.hits[:, ends]
        low = np.divide(fewest, fewest + self.false[:, ends], out=np.zeros_like(most), where=fewest > 0)
        high = np.divide(most, most + self.false[:, begins], out=np.ones_like(most), where=most > 0)
        return low, high


def _trapezoids(x: Floats, y: Floats) -> Floats:
    """Areas under curves from (0, 0) to (1, 1)."""
    x, y = (np.pad(values, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))) for values in (x, y))
    found: Floats = np.sum(np.diff(x) * (y[:, 1:] + y[:, :-1]), axis=1) / 2
    return found
