"""All scores of a series that is read once, as metrics of their order need them: sorted on disk, or counted in bins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tsadeval.core._binning import bins_of, count_by_score
from tsadeval.core.events import Index
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import Metric
from tsadeval.evaluation.ordering import Interval, between, exactly
from tsadeval.evaluation.spill import Spill, at_ranks, counts_above

__all__ = ["Found", "ScoreBins", "SortedScores"]

_BINS = 2**22  # 64 MB; 14 bits of a score besides its size (exponent) are told apart


class Found(NamedTuple):
    """A value, why it is undefined, and where it lies for sure where it is not exact."""

    value: float
    message: str | None = None
    low: float | None = None
    high: float | None = None


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
