"""What is kept of a series that is read once, in batches: states that take batches in and merge with those that follow.

A record says which state its metric is computed from (`Metric.stream`). Alarms are kept as runs or as counts of points,
and the value comes from the metric's own code; so any cut into batches gives the value of the whole series.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from tsadeval.core._binning import count_by_score
from tsadeval.core.borders import BareRuns, Borders, bare_runs
from tsadeval.core.checking import LARGEST
from tsadeval.core.inputs import Prediction, Scoring, label_runs
from tsadeval.core.metric import Kept, Metric
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.evaluation.ordering import Interval, between, exactly
from tsadeval.evaluation.spill import Spill
from tsadeval.evaluation.streaming import StreamingCCE

__all__ = ["STATES", "Found", "Order", "Settings", "State"]

Order = Literal["sort", "bins"]
_BINS = 2**22  # 64 MB; 14 bits of a score besides its size (exponent) are told apart


@dataclass(frozen=True)
class Settings:
    """What states have to know: alarms are scores above `threshold`; how the order of scores is kept."""

    threshold: float | None = None
    order: Order = "sort"


class Found(NamedTuple):
    """A value, why it is undefined, and where it lies for sure where it is not exact."""

    value: float
    message: str | None = None
    low: float | None = None
    high: float | None = None


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


def _alarms(data: Scoring, threshold: float | None) -> Any:
    # Rounded down to the scores' own type, so that the comparison is exact and needs no copy.
    assert threshold is not None
    return data.raw > data.raw.dtype.type(data.threshold_below(threshold))


@dataclass
class PointCounts:
    """Points by label and alarm: for metrics to which the order of points does not matter."""

    threshold: float | None
    n: int = 0
    anomalous: int = 0
    alarmed: int = 0
    found: int = 0

    @classmethod
    def of(cls, metric: Metric, settings: Settings) -> PointCounts:
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
        return Found(*metric.value_of(self.prediction()))


@dataclass
class RunBorders:
    """Runs of labels and of alarms."""

    threshold: float | None
    truth: Borders = field(default_factory=Borders)
    alarms: Borders = field(default_factory=Borders)

    @classmethod
    def of(cls, metric: Metric, settings: Settings) -> RunBorders:
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
        return Found(*metric.value_of(self.prediction()))


class RunMoments:
    """Moments of the scores of every run of labels: those of `StreamingCCE`."""

    def __init__(self, stream: StreamingCCE) -> None:
        self._stream = stream

    @classmethod
    def of(cls, metric: Metric, settings: Settings) -> RunMoments:
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


class SortedScores:
    """All scores, sorted in pieces on disk: exact."""

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


class ScoreBins:
    """Points of each class in bins of neighbouring scores: an interval for the value, in constant memory."""

    def __init__(self) -> None:
        self._bins = np.zeros((2, _BINS), np.int64)

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        count_by_score(data.raw, data.truth.starts, data.truth.counts, data.truth.first, self._bins)

    def merge(self, later: ScoreBins) -> None:
        """Take in the state of the stretch that follows."""
        self._bins += later._bins

    def value(self, metric: Metric) -> Found:
        """The value of a metric on all points so far."""
        used = np.flatnonzero(self._bins.any(axis=0))[::-1]
        found = between(metric, self._bins[1, used], self._bins[0, used])
        return Found(found.middle, None, *found) if isinstance(found, Interval) else Found(float("nan"), found)

    def __getstate__(self) -> dict[str, Any]:
        # Most bins are empty, so those that are not travel with their places.
        used = np.flatnonzero(self._bins.any(axis=0))
        return {"used": used, "counts": self._bins[:, used]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self._bins[:, state["used"]] = state["counts"]


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


def _ordered(metric: Metric, settings: Settings) -> State:
    if settings.order not in ("sort", "bins"):
        raise InvalidParameterError(f"order must be 'sort' or 'bins', but is {settings.order!r}")
    return SortedScores() if settings.order == "sort" else ScoreBins()


# For each kind of state how an empty one is made; all metrics share it, but each variant of CCE has its own.
STATES: dict[Kept, Callable[[Metric, Settings], State]] = {
    "points": PointCounts.of,
    "runs": RunBorders.of,
    "moments": RunMoments.of,
    "order": _ordered,
}
