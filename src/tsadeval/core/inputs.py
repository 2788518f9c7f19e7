"""The one validator: labels, scores and predictions become clean arrays, or a clear error.

Nothing below this file checks again. Checking needs no pass of its own: `scan` finds the runs of equal labels,
their score moments and every bad value while it reads both arrays once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tsadeval.core._scan import mask_of, scan, scan_labels
from tsadeval.core.arrays import read_array
from tsadeval.core.events import Events, Index
from tsadeval.core.order import Points, descending
from tsadeval.core.setting import PLAIN, Setting
from tsadeval.errors import InvalidInputError

T = TypeVar("T")
Array = NDArray[Any]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Kernels count levels and places in 32 bits, and square lengths in 64. CCE needs the scan only, which has no limit.
LARGEST = 2**31 - 1

EXACT = 2**53  # integers up to this have a float64 of their own

# What the scan reads as it is; any other number type is converted to one of these first.
_LABEL_TYPES = {np.dtype(t) for t in (np.uint8, np.int32, np.int64, np.float64)}
_SCORE_TYPES = {np.dtype(t) for t in (np.float32, np.float64)}


def _as_array(values: Any, name: str) -> Array:
    """A one-dimensional, contiguous numeric array of what the caller gave, without copying where possible."""
    values = read_array(values, name, "a one-dimensional sequence of numbers in CPU memory")
    if values.ndim != 1:
        hint = ""
        if values.ndim == 0:
            hint = f" (a single {type(values.item()).__name__})"
        elif max(values.shape, default=0) == values.size:
            hint = f"; {name}.ravel() would make it one"
        raise InvalidInputError(
            f"{name} must be one-dimensional, one value per time point, but has shape {values.shape}{hint}"
        )
    if values.size == 0:
        raise InvalidInputError(f"{name} is empty: there is nothing to judge")
    if values.dtype.kind not in "biuf":
        found = next((v for v in values if not isinstance(v, (int, float, np.number))), values[0])
        raise InvalidInputError(
            f"{name} must hold numbers, but has dtype {values.dtype} (found {found!r}); "
            f"convert it, e.g. with np.asarray({name}, dtype=float)"
        )
    return np.ascontiguousarray(values)


def _as_labels(values: Any, name: str) -> Array:
    array = _as_array(values, name)
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype in _LABEL_TYPES:
        return array
    # 64 bits hold every smaller type; an unsigned value past the range of int64 turns negative, hence bad.
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


def _as_scores(values: Any, name: str) -> Array:
    array = _as_array(values, name)
    if array.dtype in _SCORE_TYPES:
        return array
    kind, size = array.dtype.kind, array.dtype.itemsize
    large = kind in "iu" and size == 8 and max(int(array.max()), -int(array.min())) > EXACT
    if large or (kind == "f" and size > 8):
        _refuse_ties(array, name)
    return array.astype(np.float64)


def _refuse_ties(array: Array, name: str) -> None:
    """Refuse integers beyond 2**53 and long doubles that differ but would be one 64-bit float."""
    distinct = np.unique(array)
    with np.errstate(over="ignore"):
        floats = distinct.astype(np.float64)
    tied = np.flatnonzero(floats[1:] == floats[:-1])
    if len(tied):
        one, other = distinct[tied[0] : tied[0] + 2]
        raise InvalidInputError(
            f"{name} has values that differ as {array.dtype} but not as 64-bit floats, such as {one} and {other}: "
            "subtract a common offset, or pass ranks"
        )


def _bad_label(array: Array, at: int, name: str) -> InvalidInputError:
    wrong = np.unique(array[(array != 0) & (array != 1)])
    shown = ", ".join(f"{v:.6g}" for v in wrong[:4].tolist()) + (", ..." if len(wrong) > 4 else "")
    what = "scores or labels of several classes" if len(wrong) > 1 else f"{shown} for one class"
    return InvalidInputError(
        f"{name} must be 0 (normal) or 1 (anomalous) everywhere, but is {array[at].item()!r} at position {at} "
        f"(values other than 0 and 1: {shown}); if these are {what}, turn them into 0/1 first"
    )


def _bad_score(array: Array, name: str) -> InvalidInputError | None:
    finite = np.isfinite(array)
    if finite.all():
        return None
    at = int(np.argmin(finite))
    what = "NaN" if np.isnan(array[at]) else "infinite"
    return InvalidInputError(
        f"{name} must be finite, but is {what} at position {at} ({int((~finite).sum())} such values in all); "
        "drop those points from both arrays or give them a number on purpose"
    )


def checked_scores(values: Any, name: str) -> Floats:
    """Finite scores that belong to no labels, as float64."""
    scores = _as_scores(values, name)
    error = _bad_score(scores, name)
    if error is not None:
        raise error
    return np.asarray(scores, np.float64)


def _same_length(y: Array, other: Array, name: str) -> None:
    if len(y) != len(other):
        raise InvalidInputError(
            f"y_true has {len(y)} points but {name} has {len(other)}; they must belong to the same time points"
        )


def _refuse_longer(n: int) -> None:
    if n > LARGEST:
        raise InvalidInputError(
            f"the series has {n:,} points, but this metric takes at most {LARGEST:,}: split it (cce has no such limit)"
        )


def _same_index(y_true: Any, other: Any, name: str) -> None:
    """Refuse a pandas index that differs: the points would be paired by position, whatever their labels say."""
    if type(y_true) is np.ndarray or type(other) is np.ndarray:
        return
    indexes = [getattr(values, "index", None) for values in (y_true, other)]
    comparable = all(hasattr(index, "equals") for index in indexes)
    if comparable and len(indexes[0]) == len(indexes[1]) and not indexes[0].equals(indexes[1]):  # type: ignore[arg-type, union-attr]
        raise InvalidInputError(
            f"y_true and {name} have different indexes, so their points do not belong together: align them first "
            f"({name} = {name}.reindex(y_true.index)), or pass .to_numpy() of both to pair them by position"
        )


def _two_values(scores: Array, low: float, high: float) -> bool:
    first = scores[:64]
    if not ((first == low) | (first == high)).all():  # nearly all scores are told apart here, without a pass
        return False
    return bool(((scores == low) | (scores == high)).all())


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
    def stops(self) -> Index:
        """One past the last point of every run."""
        return self.starts + self.counts

    def of(self, label: int) -> Events:
        """The runs of one label."""
        offset = 0 if self.first == label else 1
        # Whole arrays instead of every other element: kernels read them as they lie in memory.
        return Events(self.starts[offset::2].copy(), self.stops[offset::2].copy(), self.n)

    @cached_property
    def events(self) -> Events:
        """The anomaly events."""
        return self.of(1)

    @cached_property
    def mask(self) -> Bools:
        """The labels as bool, one byte a point.

        Made from the runs, so that both agree even where another thread writes to the caller's array.
        """
        return mask_of(self.starts, self.n, self.first).view(np.bool_)  # type: ignore[no-any-return]

    def has(self, label: int) -> bool:
        """Does any point have this label?"""
        return len(self.starts) > 1 or self.first == label


def label_runs(values: Any, name: str) -> LabelRuns:
    """Check labels or predictions and find their runs."""
    return _runs(_as_labels(values, name), name)


def _runs(array: Array, name: str) -> LabelRuns:
    starts, bad = scan_labels(array)
    if bad >= 0:
        raise _bad_label(array, bad, name)
    # What `np.diff(starts, append=n)` gives, at a fifth of its fixed cost, which short series feel.
    counts = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=counts[:-1])
    counts[-1] = len(array) - starts[-1]
    return LabelRuns(array, starts, counts)


class _Shared:
    """Cache of intermediates shared by the metrics of one call."""

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gave the first time this key was asked for. The key starts with the family's name."""
        found: dict[Hashable, Any] = self.__dict__.setdefault("_found", {})
        if key not in found:
            found[key] = make()
        return found[key]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Scoring(_Shared):
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
    def of(cls, y_true: Any, y_score: Any, y_pred: Any = None) -> Scoring:
        """Check and scan the arrays, in one pass. Without scores, the predictions are the scores."""
        if y_pred is not None:
            return cls._with_predictions(y_true, y_score, y_pred)
        _same_index(y_true, y_score, "y_score")
        y = _as_labels(y_true, "y_true")
        s = _as_scores(y_score, "y_score")
        _same_length(y, s, "y_score")
        starts, counts, means, m2, low, high, finite, bad = scan(y, s)
        if bad >= 0:
            raise _bad_label(y, bad, "y_true")
        if not finite:
            error = _bad_score(s, "y_score")
            if error is not None:
                raise error
        return cls(LabelRuns(y, starts, counts), s, means, m2, low, high)

    @classmethod
    def _with_predictions(cls, y_true: Any, y_score: Any, y_pred: Any) -> Scoring:
        alarms = Prediction.of(y_true, y_pred).alarms
        return replace(cls.of(y_true, alarms.mask if y_score is None else y_score), given=alarms)

    def scanned_again(self) -> Scoring:
        """The same arrays, checked and scanned anew, without what was computed of them so far."""
        return replace(Scoring.of(self.truth.labels, self.raw), setting=self.setting)

    @property
    def second(self) -> Floats:
        """The scores: what a function of `(y_true, y_score)` gets as its second argument."""
        return self.scores

    @cached_property
    def zero_one(self) -> Prediction | None:
        """The predictions that the scores are where none of them is anything but 0 or 1."""
        if not {self.low, self.high} <= {0.0, 1.0} or not _two_values(self.raw, self.low, self.high):
            return None
        return self._alarms(self.raw == 1)

    @cached_property
    def two_valued(self) -> bool:
        """Have the scores two distinct values only?"""
        return self.low < self.high and _two_values(self.raw, self.low, self.high)

    def with_truth(self, labels: Bools) -> Scoring:
        """The same scores with other labels."""
        return replace(Scoring.of(labels, self.raw), given=self.given, setting=self.setting)

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.raw)

    @property
    def events(self) -> Events:
        """The anomaly events."""
        return self.truth.events

    @cached_property
    def scores(self) -> Floats:
        """The scores as float64, in memory of our own.

        What looks at scores more than once relies on what it saw the first time, and kernels index by it; another
        thread may write to the caller's array meanwhile.
        """
        _refuse_longer(self.n)
        own: Floats = np.array(self.raw, np.float64)
        if own.min() != self.low or own.max() != self.high:  # which NaN does too
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
    def pieces(self) -> list[Scoring]:
        """The stretches of points that are judged, each as a series of its own."""
        skipped = self.setting.ignored
        if skipped is None:
            return [self]
        judged = _runs((~skipped).view(np.uint8), "ignore").events
        stretches = zip(judged.starts.tolist(), judged.stops.tolist(), strict=True)
        return [Scoring.of(self.truth.mask[a:b], self.raw[a:b]) for a, b in stretches]

    @property
    def kept(self) -> Scoring:
        """The points that are judged alone: for metrics to which the order of points, and so a gap, says nothing."""
        # Not cached: an object that refers to itself stays in memory until the next garbage collection.
        return self if self.setting.ignored is None else self._judged

    @cached_property
    def _judged(self) -> Scoring:
        skipped = self.setting.ignored
        if skipped is None:
            return self
        found = Scoring.of(self.truth.mask[~skipped], self.raw[~skipped])
        given = None if self.given is None else _runs(self.given.labels[~skipped], "y_pred")
        shares = self.setting.shares
        weights = None if shares is None else shares[~skipped]
        return replace(found, given=given, setting=replace(self.setting, times=None, ignored=None, weights=weights))

    @cached_property
    def sorted(self) -> Floats:
        """The scores in ascending order."""
        return np.sort(self.scores)

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

    def at_least(self, v: float) -> Prediction:
        """The alarms `score >= v`."""
        return self._alarms(self.scores >= v)

    def above(self, threshold: float) -> Prediction:
        """The alarms `score > threshold`; metrics of one call that have a threshold in common share them."""

        return self.shared(("alarms above", threshold), lambda: self._alarms(self.scores > threshold))

    def _alarms(self, mask: Bools) -> Prediction:
        if self.setting.ignored is not None:
            mask = mask & ~self.setting.ignored
        return Prediction(self.truth, _runs(mask.view(np.uint8), "y_pred"), self.setting)

    def threshold_below(self, value: float) -> float:
        """The largest number of the scores' own type that is at most `value`.

        It gives the same alarms `score > threshold` as `value` does, also where a caller compares it with single
        precision scores.
        """
        with np.errstate(over="ignore"):
            rounded = self.raw.dtype.type(value)
        if rounded > value:
            rounded = np.nextafter(rounded, self.raw.dtype.type(-np.inf))
        return float(rounded)

    def just_below(self, v: float) -> float:
        """The threshold t, a number of the scores' own type, with `score > t` exactly where `score >= v`."""
        return float(np.nextafter(self.raw.dtype.type(v), self.raw.dtype.type(-np.inf)))


@dataclass(frozen=True, eq=False)
class Prediction(_Shared):
    """Checked labels and binary predictions."""

    truth: LabelRuns
    alarms: LabelRuns
    setting: Setting = PLAIN

    def with_truth(self, labels: Bools) -> Prediction:
        """The same alarms with other labels."""
        return Prediction(_runs(labels.view(np.uint8), "y_true"), self.alarms, self.setting)

    @property
    def judged(self) -> int:
        """Number of points that are judged."""
        return self.n - self.setting.skipped

    @property
    def predicted(self) -> Events:
        """The runs of alarms."""
        return self.alarms.events

    @property
    def second(self) -> Index:
        """The predictions: what a function of `(y_true, y_pred)` gets as its second argument."""
        return self.alarms.mask.astype(np.int64)

    def scanned_again(self) -> Prediction:
        """The same arrays, checked and scanned anew, without what was computed of them so far."""
        return replace(Prediction.of(self.truth.labels, self.alarms.labels), setting=self.setting)

    @classmethod
    def of(cls, y_true: Any, y_pred: Any) -> Prediction:
        """Check and scan both arrays."""
        _same_index(y_true, y_pred, "y_pred")
        y = _as_labels(y_true, "y_true")
        alarms = _as_labels(y_pred, "y_pred")
        _same_length(y, alarms, "y_pred")
        _refuse_longer(len(y))
        return cls(_runs(y, "y_true"), _runs(alarms, "y_pred"))

    @property
    def n(self) -> int:
        """Number of points."""
        return self.truth.n

    @property
    def events(self) -> Events:
        """The anomaly events."""
        return self.truth.events
