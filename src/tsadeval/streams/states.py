"""Mergeable states of streamed series: counts, runs, moments, and all scores sorted on disk or counted in bins.

A record says which state its metric is computed from (`Metric.stream`). Alarms are kept as runs or as counts of points,
and the value comes from the metric's own code; so any cut into batches gives the value of the whole series.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from tsadeval.core.arrays import LARGEST
from tsadeval.core.binning import bins_of, count_by_score
from tsadeval.core.events import Index
from tsadeval.core.facts import Fact, Reason
from tsadeval.core.inputs import Floats, Prediction, Scoring, label_runs
from tsadeval.core.metric import Kept, Metric
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.external_sort import Spill, at_ranks, counts_above
from tsadeval.evaluation.score_order import Interval, between, exactly, undefined
from tsadeval.streams.cce import StreamingCCE
from tsadeval.streams.runs import BareRuns, Borders, TimedRuns, asks_for_times, bare_runs
from tsadeval.streams.zones import NearEvents, reach_of

Order = Literal["sort", "bins"]


@dataclass(frozen=True)
class Settings:
    """For states: alarms are scores above `threshold`; how the order of scores is kept; are there times."""

    threshold: float | None = None
    order: Order = "sort"
    timed: bool = False


class State(Protocol):
    """What is kept of a stretch of a series."""

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        ...

    def merge(self, later: Any) -> None:
        """Take in the state of the stretch that follows."""
        ...

    def value(self, metric: Metric) -> Found:
        """The value of a metric on all points so far."""
        ...


States = dict[str, State]


def _alarms(data: Scoring, threshold: float | None) -> Any:
    # As `Scoring.above` compares them, without a copy.
    assert threshold is not None
    return data.raw > data.raw.dtype.type(data.in_own_type(threshold))


@dataclass
class PointCounts:
    """Points by label and alarm: for metrics to which the order of points does not matter."""

    threshold: float | None
    n: int = 0
    anomalous: int = 0
    alarmed: int = 0
    found: int = 0

    @classmethod
    def of(cls, metric: Metric, settings: Settings, others: States) -> PointCounts:
        """An empty state."""
        return cls(settings.threshold)

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        alarms = _alarms(data, self.threshold)
        self.n += data.n
        self.anomalous += data.events.points
        self.alarmed += int(np.count_nonzero(alarms))
        events = zip(data.events.starts.tolist(), data.events.stops.tolist(), strict=True)
        if len(data.events) < 1000:
            self.found += sum(int(np.count_nonzero(alarms[a:b])) for a, b in events)
        else:
            self.found += int(np.count_nonzero(alarms & data.truth.mask))

    def merge(self, later: PointCounts) -> None:
        """Take in the state of the stretch that follows."""
        for name in ("n", "anomalous", "alarmed", "found"):
            setattr(self, name, getattr(self, name) + getattr(later, name))

    def prediction(self) -> Prediction:
        """A series with the same counts, in an order of its own."""
        false, missed = self.alarmed - self.found, self.anomalous - self.found
        quiet = self.n - self.anomalous - false
        return Prediction(
            bare_runs([quiet, self.anomalous, false], 0), bare_runs([quiet + missed, self.found + false], 0)
        )

    def value(self, metric: Metric) -> Found:
        """The value of a metric on all points so far."""
        return Found.of(*metric.value_of(self.prediction()))

    def alarms_and_points(self) -> tuple[int | None, int]:
        """Number of runs of alarms, where it is known, and of their points."""
        return None, self.alarmed


@dataclass
class RunBorders:
    """Runs of labels and of alarms."""

    threshold: float | None
    truth: Borders = field(default_factory=Borders)
    alarms: Borders = field(default_factory=Borders)

    @classmethod
    def of(cls, metric: Metric, settings: Settings, others: States) -> RunBorders:
        """An empty state."""
        return cls(settings.threshold)

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        self.truth.add(data.truth)
        self.alarms.add(label_runs(_alarms(data, self.threshold), "y_pred"))

    def merge(self, later: RunBorders) -> None:
        """Take in the state of the stretch that follows."""
        self.truth.merge(later.truth)
        self.alarms.merge(later.alarms)

    def prediction(self) -> Prediction:
        """The labels and alarms so far, without their points."""
        if self.truth.n > LARGEST:
            raise InvalidInputError(
                f"the series has {self.truth.n:,} points, but metrics of runs take at most {LARGEST:,}: split it "
                "(CCE, metrics of points and those of the order of scores have no such limit)"
            )
        truth: BareRuns = self.truth.runs()
        return Prediction(truth, self.alarms.runs())

    def value(self, metric: Metric) -> Found:
        """The value of a metric on all points so far."""
        return Found.of(*metric.value_of(self.prediction()))

    def alarms_and_points(self) -> tuple[int | None, int]:
        """Number of runs of alarms, and of their points."""
        predicted = self.prediction().predicted
        return len(predicted), predicted.points


class RunsInTime:
    """Runs of labels and of alarms, with the time stamps of their borders."""

    def __init__(self, runs: TimedRuns) -> None:
        self._runs = runs

    @classmethod
    def of(cls, metric: Metric, settings: Settings, others: States) -> RunsInTime:
        """An empty state."""
        return cls(TimedRuns(settings.threshold))

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        self._runs.add(data, label_runs(_alarms(data, self._runs.threshold), "y_pred"))

    def merge(self, later: RunsInTime) -> None:
        """Take in the state of the stretch that follows."""
        self._runs.merge(later._runs)

    def value(self, metric: Metric) -> Found:
        """The value of a metric on all points so far."""
        return Found.of(*metric.value_of(self._runs.prediction()))

    def alarms_and_points(self) -> tuple[int | None, int]:
        """Number of runs of alarms, and of their points."""
        return len(self._runs.prediction().predicted), self._runs.alarmed


class RunMoments:
    """Moments of the scores of every run of labels: those of `StreamingCCE`."""

    def __init__(self, stream: StreamingCCE) -> None:
        self._stream = stream

    @classmethod
    def of(cls, metric: Metric, settings: Settings, others: States) -> RunMoments:
        """An empty state."""
        return cls(StreamingCCE(**{name: value for name, value in metric.options.items() if name != "quantiles"}))

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        self._stream.add(data)

    def merge(self, later: RunMoments) -> None:
        """Take in the state of the stretch that follows."""
        self._stream.merge(later._stream)

    def value(self, metric: Metric) -> Found:
        """The value of a metric on all points so far."""
        return Found(*self._stream.value())


class NearScores:
    """Scores near events, beside the order of all scores."""

    def __init__(self, near: NearEvents, order: SortedScores | ScoreBins) -> None:
        self._near, self._order = near, order

    @classmethod
    def of(cls, metric: Metric, settings: Settings, others: States) -> NearScores:
        """An empty state; the order is one of the others, which get their points by themselves."""
        order = others.setdefault("order", _new_order(metric, settings, others))
        assert isinstance(order, SortedScores | ScoreBins)
        return cls(NearEvents(reach_of(metric, exact=order.exact), on_disk=order.exact), order)

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        self._near.update(data)

    def merge(self, later: NearScores) -> None:
        """Take in the state of the stretch that follows."""
        self._near.merge(later._near)

    def value(self, metric: Metric) -> Found:
        """The value of a metric on all points so far."""
        anomalous = self._near.anomalous
        reason = undefined(metric, anomalous, self._order.n - anomalous)
        if reason is not None:
            return Found(float("nan"), reason)
        areas = self._near.areas(metric, self._order)
        found = areas.roc if metric.name.endswith("roc") else areas.pr
        return Found(found.middle, None, *found) if isinstance(found, Interval) else Found(found)


def _new_order(metric: Metric, settings: Settings, others: States) -> SortedScores | ScoreBins:
    return SortedScores() if settings.order == "sort" else ScoreBins()


def kept_for(metric: Metric, settings: Settings) -> Kept | Literal["times"]:
    """What is kept of the series for a metric that can be streamed."""
    assert metric.stream is not None
    return "times" if asks_for_times(metric, timed=settings.timed) else metric.stream


def state_key(metric: Metric, settings: Settings) -> str:
    """Metrics with the same key share a state; each variant of CCE has its own."""
    kept = kept_for(metric, settings)
    if kept == "zones":
        return f"zones {reach_of(metric, exact=settings.order == 'sort')}"
    return str(metric if kept == "moments" else kept)


# For each kind of state how an empty one is made, beside the others that there are.
STATES: dict[Kept | Literal["times"], Callable[[Metric, Settings, States], State]] = {
    "points": PointCounts.of,
    "runs": RunBorders.of,
    "moments": RunMoments.of,
    "order": _new_order,
    "times": RunsInTime.of,
    "zones": NearScores.of,
}


# All scores of a series that is read once, as metrics of their order need them: sorted on disk, or counted in
# bins.


_BINS = 2**22  # 64 MB; 14 bits of a score besides its size (exponent) are told apart


class Found(NamedTuple):
    """A value, why it is undefined, and where it lies for sure where it is not exact."""

    value: float
    message: str | None = None
    low: float | None = None
    high: float | None = None
    reason: Reason | None = None

    @classmethod
    def of(cls, value: float, fact: Fact | None) -> Found:
        """Of what a metric says of its value."""
        return cls(value, reason=fact.reason, message=fact.text) if fact else cls(value)


class SortedScores:
    """All scores, sorted in pieces on disk: exact."""

    exact = True
    highest = np.inf

    def __init__(self) -> None:
        self._classes = Spill(), Spill()

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        for label, spill in enumerate(self._classes):
            spill.add(_of_label(data, label))

    def merge(self, later: SortedScores) -> None:
        """Take in the state of the stretch that follows."""
        for own, other in zip(self._classes, later._classes, strict=True):
            own.merge(other)

    def value(self, metric: Metric) -> Found:
        """The value of a metric on all points so far."""
        return Found(*exactly(metric, *self._classes))

    @property
    def n(self) -> int:
        """Number of points."""
        return sum(spill.n for spill in self._classes)

    def at_ranks(self, ranks: Index) -> tuple[Floats, Floats]:
        """Scores at ascending ranks, each once, and how many are at least as high."""
        return at_ranks(*self._classes, ranks)

    def counts_above(self, scores: Floats) -> tuple[Floats, Floats]:
        """How many are higher than each of some descending scores, and how many at least as high."""
        return counts_above(*self._classes, scores)

    def places(self, scores: Any) -> Floats:
        """The scores themselves."""
        return np.asarray(scores, np.float64)


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

    def merge(self, later: ScoreBins) -> None:
        """Take in the state of the stretch that follows."""
        self._bins += later._bins
        self._tell(later._highest, later._at_highest)

    def value(self, metric: Metric) -> Found:
        """The value of a metric on all points so far."""
        used = np.flatnonzero(self._bins.any(axis=0))[::-1]
        found = between(metric, self._bins[1, used], self._bins[0, used])
        return Found(found.middle, None, *found) if isinstance(found, Interval) else Found(float("nan"), found)

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
        """The bins at ascending ranks, and how many points are in them and in higher ones."""
        above = self._above()
        at = np.searchsorted(above, ranks, "right")
        return (_BINS - at).astype(np.float64), above[at]

    def counts_above(self, scores: Floats) -> tuple[Floats, Floats]:
        """How many points are in higher bins than each of some, and how many in these or in higher ones."""
        above = np.append([0, 0], self._above())
        at = _BINS + 2 - scores.astype(np.int64)
        return above[at - 1], above[at]

    def places(self, scores: Any) -> Floats:
        """The bins of scores."""
        return np.where(scores == self._highest, float(_BINS), bins_of(scores, _BINS))

    def __getstate__(self) -> dict[str, Any]:
        # Most bins are empty, so those that are not travel with their places.
        used = np.flatnonzero(self._bins.any(axis=0))
        return {"used": used, "counts": self._bins[:, used], "highest": (self._highest, self._at_highest)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        ScoreBins.__init__(self)
        self._bins[:, state["used"]] = state["counts"]
        self._tell(*state["highest"])


def _of_label(data: Scoring, label: int) -> Any:
    """The scores of one class, in their own type."""
    runs = data.truth
    stretches = runs.of(label)
    if len(runs.starts) == 1:
        return data.raw if len(stretches) else data.raw[:0]
    if len(stretches) < data.n // 64:
        pairs = zip(stretches.starts.tolist(), stretches.stops.tolist(), strict=True)
        return np.concatenate([data.raw[:0], *(data.raw[a:b] for a, b in pairs)])
    return data.raw[runs.mask == bool(label)]
