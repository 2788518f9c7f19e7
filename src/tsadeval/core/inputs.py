"""Validation of inputs: labels, scores and predictions become clean arrays, or a clear error.

Nothing below this file checks again. Checking needs no pass of its own: `scan` finds the runs of equal labels,
their score moments and every bad value while it reads both arrays once, and `Bits` does so where there are no scores.
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tsadeval.core._scan import Bits, mask_of, matched, scan
from tsadeval.core.arrays import (
    as_labels,
    as_scores,
    bad_label,
    refuse_longer,
    refuse_not_finite,
    same_index,
    same_length,
)
from tsadeval.core.events import Bools as Bools
from tsadeval.core.events import Events as Events
from tsadeval.core.events import Floats as Floats
from tsadeval.core.events import Index as Index
from tsadeval.core.events import inside_any as inside_any
from tsadeval.core.order import Points, descending, sort
from tsadeval.core.setting import PLAIN, Setting
from tsadeval.errors import InvalidInputError

T = TypeVar("T")
Array = NDArray[Any]


def _two_values(scores: Array, low: float, high: float) -> bool:
    # The first ones suffice for nearly all scores, without a pass.
    return all(bool(((some == low) | (some == high)).all()) for some in (scores[:64], scores))


@dataclass(frozen=True, eq=False)
class LabelRuns:
    """Checked labels as runs: `starts` of all maximal runs of equal labels, whatever the label."""

    labels: Array
    starts: Index
    counts: Index

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.labels)

    @cached_property
    def first(self) -> int:
        """Label of the first run; labels alternate from there. Read once: the memory is the caller's."""
        return int(self.labels[0] != 0)

    @cached_property
    def events(self) -> Events:
        """The anomaly events."""
        # Whole arrays instead of every other element: kernels read them as they lie in memory.
        starts, counts = (part[1 - self.first :: 2].copy() for part in (self.starts, self.counts))
        return Events(starts, starts + counts, self.n)

    @cached_property
    def mask(self) -> Bools:
        """The labels as bool, one byte a point.

        Made from the runs, so that both agree even where another thread writes to the caller's array.
        """
        return np.asarray(mask_of(self.starts, self.n, self.first).view(np.bool_))

    def met_by(self, alarms: "LabelRuns") -> tuple[Any, ...]:
        """Return how events and alarms meet, as `metrics.counting.Matches` has it, in one pass over the runs."""
        return tuple(matched(self.starts, self.counts, self.first, alarms.starts, alarms.counts, alarms.first))

    def has(self, label: int) -> bool:
        """Return True if any point has this label."""
        return len(self.starts) > 1 or self.first == label


class LabelBits(LabelRuns):
    """Labels that are checked and read into one bit each, of which the runs are found where they are asked for."""

    def __init__(self, labels: Array, name: str) -> None:
        self.bits = Bits(labels)
        if self.bits.wrong >= 0:
            raise bad_label(labels, self.bits.wrong, name)
        self.__dict__.update(labels=labels, first=self.bits.first)

    @cached_property
    def starts(self) -> Index:
        """Where each run of equal labels begins."""
        return np.asarray(self.bits.starts())

    @cached_property
    def counts(self) -> Index:
        """Number of points of each run."""
        return np.diff(self.starts, append=self.n)

    @cached_property
    def events(self) -> Events:
        """The anomaly events."""
        return Events(*self.bits.events())

    @cached_property
    def mask(self) -> Bools:
        """The labels as bool, one byte a point."""
        return np.asarray(self.bits.labels().view(np.bool_))

    def met_by(self, alarms: LabelRuns) -> tuple[Any, ...]:
        """Return how events and alarms meet, from their bits where there are both."""
        return tuple(self.bits.matched(alarms.bits)) if isinstance(alarms, LabelBits) else super().met_by(alarms)

    def has(self, label: int) -> bool:
        """Return True if any point has this label."""
        return bool(self.bits.ones if label else self.bits.ones < self.n)


def label_runs(values: Any, name: str) -> LabelRuns:
    """Check labels or predictions and find their runs."""
    return LabelBits(as_labels(values, name), name)


class _Checked:
    """Checked data of a series, with a cache of intermediates that the metrics of one call share."""

    truth: LabelRuns
    setting: Setting

    @property
    def n(self) -> int:
        """Number of points."""
        return self.truth.n

    @property
    def events(self) -> Events:
        """The anomaly events."""
        return self.truth.events

    @property
    def kept(self) -> Self:
        """The points that are judged alone: for metrics to which the order of points, and so a gap, says nothing."""
        skipped = self.setting.ignored
        return self if skipped is None else self.shared(("judged",), lambda: self._at(~skipped))

    def _at(self, judged: Bools) -> Self:
        """Return the points that are judged, put together as a series of their own."""
        raise NotImplementedError

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` gave the first time this key was asked for; the key starts with the family's name."""
        found: dict[Hashable, T] = self.__dict__.setdefault("_found", {})
        if key not in found:
            found[key] = make()
        return found[key]


@dataclass(frozen=True, eq=False)
class Scoring(_Checked):
    """Checked labels and scores, and what several metrics need to know about them (computed once, on demand)."""

    truth: LabelRuns
    raw: Array
    # Of every run of equal labels: mean score (measured from the first score of all, so that no digit is lost
    # to a large common offset) and sum of squares about that mean.
    means: Floats
    m2: Floats
    low: float
    high: float
    given: LabelRuns | None = None  # predictions that the caller brought along
    setting: Setting = PLAIN

    @classmethod
    def of(cls, y_true: Any, y_score: Any, y_pred: Any = None) -> Self:
        """Check and scan the arrays, in one pass. Without scores, the predictions are the scores."""
        if y_pred is not None:
            alarms = Prediction.of(y_true, y_pred).alarms
            return replace(cls.of(y_true, alarms.mask if y_score is None else y_score), given=alarms)
        same_index(y_true=y_true, y_score=y_score)
        y = as_labels(y_true, "y_true")
        s = as_scores(y_score, "y_score")
        same_length(y, s, "y_score")
        starts, counts, means, m2, low, high, finite, bad = scan(y, s)
        if bad >= 0:
            raise bad_label(y, bad, "y_true")
        if not finite:
            refuse_not_finite(s, "y_score")
        return cls(LabelRuns(y, starts, counts), s, means, m2, low, high)

    def scanned_again(self) -> Self:
        """Return the same arrays, checked and scanned anew, without what was computed of them so far."""
        return replace(self.of(self.truth.labels, self.raw), setting=self.setting)

    @cached_property
    def zero_one(self) -> "Prediction | None":
        """The predictions that the scores are where none of them that is judged is anything but 0 or 1."""
        judged = self.kept
        if not {judged.low, judged.high} <= {0.0, 1.0} or not _two_values(judged.raw, judged.low, judged.high):
            return None
        return self.alarms(self.raw == 1)

    @cached_property
    def two_valued(self) -> bool:
        """True if the scores have exactly two distinct values."""
        return self.low < self.high and _two_values(self.raw, self.low, self.high)

    def with_truth(self, labels: Bools) -> Self:
        """Return the same scores with other labels."""
        return replace(self.of(labels, self.raw), given=self.given, setting=self.setting)

    @cached_property
    def scores(self) -> Floats:
        """The scores as float64, in memory of our own.

        What looks at scores more than once relies on what it saw the first time, and kernels index by it; another
        thread may write to the caller's array meanwhile.
        """
        refuse_longer(self.n)
        own: Floats = np.array(self.raw, np.float64)
        return self._unchanged(own, own.min(), own.max())

    def _unchanged(self, own: Floats, low: float, high: float) -> Floats:
        if low != self.low or high != self.high:  # which NaN does too
            raise InvalidInputError(
                "y_score was changed by another thread while it was evaluated: pass a copy, or wait for that thread"
            )
        return own

    @property
    def reference(self) -> Floats:
        """The scores, in time order, from which a rule without labels takes its threshold."""
        if self.setting.fit is not None:
            return self.setting.fit
        return self.scores if self.setting.ignored is None else self.scores[~self.setting.ignored]

    @property
    def pieces(self) -> list[Self]:
        """The stretches of points that are judged, each as a series of its own."""
        skipped = self.setting.ignored
        if skipped is None:
            return [self]
        judged = LabelBits((~skipped).view(np.uint8), "ignore").events
        stretches = zip(judged.starts.tolist(), judged.stops.tolist(), strict=True)
        return [self.of(self.truth.mask[a:b], self.raw[a:b]) for a, b in stretches]

    def _at(self, judged: Bools) -> Self:
        """Return the points that are judged, put together as a series of their own."""
        given = None if self.given is None else LabelBits(self.given.labels[judged], "y_pred")
        found = self.of(self.truth.mask[judged], self.raw[judged])
        return replace(found, given=given, setting=self.setting.at_points(judged))

    @cached_property
    def sorted(self) -> Floats:
        """The scores in ascending order: of those in time order no copy is needed."""
        refuse_longer(self.n)
        found: Floats = sort(np.array(self.__dict__.get("scores", self.raw), np.float64))
        return self._unchanged(found, found[0], found[-1])

    @cached_property
    def descending(self) -> Points:
        """The points by descending score: records of `score` and `position`; equal scores in any order."""
        return descending(self.scores)

    @cached_property
    def levels(self) -> tuple[Floats, Index]:
        """All distinct scores v, descending, and for each the number of points that score at least v."""
        ascending = self.sorted
        last = np.flatnonzero(ascending[1:] != ascending[:-1])[::-1]
        first_at_least = np.append(last + 1, 0)
        return ascending[first_at_least], self.n - first_at_least

    def at_least(self, v: float) -> "Prediction":
        """Return the alarms `score >= v`."""
        return self.alarms(self.scores >= v)

    def above(self, threshold: float) -> "Prediction":
        """Raise the alarms `score > threshold`, compared in the scores' own type.

        So float32 scores of 0.3 are not above 0.3. Metrics of one call that have a threshold in common share them.
        """
        limit = self.in_own_type(threshold)
        return self.shared(("alarms above", limit), lambda: self.alarms(self.scores > limit))

    def alarms(self, mask: Bools) -> "Prediction":
        """Return the alarms at these points, but for those that never alarm."""
        if self.setting.quiet is not None:
            mask = mask & ~self.setting.quiet
        return Prediction(self.truth, LabelBits(mask.view(np.uint8), "y_pred"), self.setting)

    def in_own_type(self, value: float) -> float:
        """Round a threshold to the scores' own type, as NumPy does when it compares them."""
        with np.errstate(over="ignore"):
            return float(self.raw.dtype.type(value))

    def _next_below(self, v: float) -> float:
        """Return the highest score below v of a point that may alarm; minus infinity where there is none."""
        below = self.scores < v if self.setting.quiet is None else (self.scores < v) & ~self.setting.quiet
        return float(np.where(below, self.scores, -np.inf).max())

    def just_below(self, v: float) -> float:
        """Return a threshold t with `score > t` exactly where `score >= v`: the shortest decimal between two scores.

        Between the lower score and v, so that it can be printed and typed in again; below the lowest score not far from
        it. Of neighbours among the numbers of the scores' own type it is the lower one.
        """
        with np.errstate(over="ignore"):  # below the lowest of all numbers is minus infinity
            lowest = float(np.nextafter(self.raw.dtype.type(v), self.raw.dtype.type(-np.inf)))
        if not math.isfinite(v):
            return lowest
        below, high = self._next_below(v), Decimal(v)
        if below > -math.inf:
            low = Decimal(below)
        else:
            low = high - ((Decimal(self.high) - high) or abs(high) or Decimal(1)) / 10
        # In the scores' own type the decimal must not become v, and all numbers below v are as good.
        return shortest_between(low, high, lambda t: self.in_own_type(t) <= lowest, lowest)

    def above_all(self) -> float:
        """Return a threshold without any alarm: the highest score, or a shorter decimal above it."""
        high = Decimal(self.high)
        step = ((high - Decimal(self.low)) or abs(high) or Decimal(1)) / 10
        found = shortest_between(high, high + step, lambda t: self.in_own_type(t) >= self.high, self.high)
        return min(self.high, found, key=lambda t: len(repr(t)))


def shortest_between(low: Decimal, high: Decimal, fits: Callable[[float], bool], rest: float) -> float:
    """Return the number of fewest digits between two others that fits, the nearest to their middle; else `rest`.

    >>> shortest_between(Decimal("0.4123"), Decimal("0.6"), lambda t: True, 0.0)
    0.5
    """
    if low < 0 < high:
        return 0.0
    middle = (low + high) / 2
    largest = (high - low).adjusted() + 1
    for places in range(largest, largest - 4, -1):
        found = middle.quantize(Decimal(1).scaleb(places))
        if low < found < high and float(low) <= float(found) < float(high) and fits(float(found)):
            return float(found)
    return rest


@dataclass(frozen=True, eq=False)
class Prediction(_Checked):
    """Checked labels and binary predictions."""

    truth: LabelRuns
    alarms: LabelRuns
    setting: Setting = PLAIN

    def with_truth(self, labels: Bools) -> Self:
        """Return the same alarms with other labels."""
        return replace(self, truth=LabelBits(labels.view(np.uint8), "y_true"))

    @property
    def judged(self) -> int:
        """Number of points that are judged."""
        return self.n - self.setting.skipped

    def _at(self, judged: Bools) -> Self:
        """Return the points that are judged, put together as a series of their own."""
        alarms = LabelBits(self.alarms.mask[judged].view(np.uint8), "y_pred")
        return replace(self.with_truth(self.truth.mask[judged]), alarms=alarms, setting=self.setting.at_points(judged))

    @property
    def predicted(self) -> Events:
        """The runs of alarms."""
        return self.alarms.events

    def scanned_again(self) -> Self:
        """Return the same arrays, checked and scanned anew, without what was computed of them so far."""
        return replace(self.of(self.truth.labels, self.alarms.labels), setting=self.setting)

    @classmethod
    def of(cls, y_true: Any, y_pred: Any) -> Self:
        """Check and scan both arrays."""
        same_index(y_true=y_true, y_pred=y_pred)
        y = as_labels(y_true, "y_true")
        alarms = as_labels(y_pred, "y_pred")
        same_length(y, alarms, "y_pred")
        refuse_longer(len(y))
        return cls(LabelBits(y, "y_true"), LabelBits(alarms, "y_pred"))
