"""StreamingEvaluator: evaluation of a detector in operation, with values so far, of the last part, and drift."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from tsadeval.core.arrays import checked_scores
from tsadeval.core.durations import UNITS, span_size
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import METRICS
from tsadeval.core.parameters import Number, Span, check_parameters
from tsadeval.core.results import MappingResult, Row
from tsadeval.errors import InvalidInputError
from tsadeval.scores.scoring import observe
from tsadeval.streams.cce import StreamingCCE
from tsadeval.streams.runs import ALARM, LABEL, StepCounts, Stretch, codes_of

# From these on, the scores are said to have drifted: the usual rule for stability, and a distance that matters and is
# significant at 0.1 % (of long windows any difference is).
_UNSTABLE, _BINS, _FAR, _SURE = 0.2, 10, 0.1, 1e-3
# Names of rows, and whether they are times.
_IN_TIME = ("delay", "normal_time")


class Drift(dict[str, float]):
    """How far the last scores are from the reference: `stability` (population stability index), `ks` and `p`."""

    @property
    def warning(self) -> str | None:
        """One line where the scores have drifted, else None."""
        if self["stability"] <= _UNSTABLE and (self["ks"] <= _FAR or self["p"] >= _SURE):
            return None
        return (
            f"the scores have drifted from the reference: stability index {self['stability']:.3f} (unstable above "
            f"{_UNSTABLE}), Kolmogorov-Smirnov {self['ks']:.3f} (far above {_FAR}, p = {self['p']:.2g}); "
            "check the threshold"
        )


class StreamResult(MappingResult):
    """A row per metric: its value so far, and over the window where there is one."""

    def __init__(self, rows: list[Row], drift: Drift | None, unit: str) -> None:
        super().__init__(rows)
        self.drift = drift
        self.unit = unit

    def _notes(self) -> list[str]:
        return [f"times in {self.unit}", *([self.drift.warning] if self.drift and self.drift.warning else [])]


P = ParamSpec("P")
R = TypeVar("R")


def _with_lock(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Let one thread at a time call the method."""

    @wraps(method)
    def call(self: Any, /, *arguments: P.args, **options: P.kwargs) -> R:
        with self._lock:
            return method(self, *arguments, **options)

    return call


class StreamingEvaluator:
    """Operators' metrics, point counts, F1, F1-PA and CCE of a stream under a fixed threshold.

    Chunks of any size give what the whole series gives at once. The state grows with the number of events and alarms,
    and with the window; it pickles, and states of neighbouring stretches merge.

    Parameters
    ----------
    threshold : float
        Alarm where `score > threshold`.
    window : int or duration, optional
        The last so many points, or so much time, that are evaluated by themselves as well.
    reference : array-like, optional
        Scores of a part in which the detector worked well: those of the window (of all chunks, where there is no
        window) are compared with them. `compute().drift` has the population stability index over tenths of the
        reference and the Kolmogorov-Smirnov distance; its `warning` is a line where the index is above 0.2, or the
        distance above 0.1 and significant at 0.1 % (as if scores were independent).

    Notes
    -----
    There is no `ignore` here: leave out the rows of maintenance hours. Rows that are called as metrics are these, so
    `false_alarms` are per 1,000 points; `false_alarm_runs` counts them.

    Examples
    --------
    >>> import tsadeval as te
    >>> stream = te.StreamingEvaluator(0.5)
    >>> for y, s in (([0, 0, 1], [0.1, 0.7, 0.2]), ([1, 0, 0], [0.9, 0.1, 0.3])):
    ...     stream = stream.update(y, s)
    >>> result = stream.compute()
    >>> result["event_recall"], result["false_alarm_runs"], result["delay"]
    (1.0, 1.0, 1.0)
    """

    def __init__(self, threshold: float, *, window: int | str | None = None, reference: Any = None) -> None:
        check_parameters("StreamingEvaluator", {"threshold": Number()}, {"threshold": threshold})
        check_parameters("StreamingEvaluator", {"window": Span(1, integer=True, none=True)}, {"window": window})
        self.threshold, self.window = float(threshold), window
        self.reference = None if reference is None else np.sort(checked_scores(reference, "reference"))
        self._so_far = Stretch()
        self._cce = StreamingCCE()
        self._timed: bool | None = None
        self._steps = StepCounts()  # times between two stamps, whose median the last point stands for
        self._last_stamp = 0
        self._recent: deque[Scoring] = deque()
        self._lock = RLock()

    @_with_lock
    def update(self, y_true: Any, y_score: Any, times: Any = None) -> StreamingEvaluator:
        """Take in the next chunk."""
        data = observe(y_true, y_score, times=times)
        timed = data.setting.times is not None
        if self._timed is not None and timed != self._timed:
            raise InvalidInputError("times must be given for all chunks, or for none")
        alarmed = data.above(self.threshold)
        chunk = Stretch.of(alarmed)
        if timed and self._so_far.n and chunk.begin <= self._last_stamp:
            raise InvalidInputError("times must increase: this chunk begins before the end of the one before")
        if data.setting.times is not None:
            stamps = data.setting.times.stamps
            self._steps.add(stamps, codes_of(data.truth.mask, alarmed.alarms.mask))
            self._last_stamp = int(stamps[-1])
        elif isinstance(self.window, str):
            raise InvalidInputError(f"window={self.window!r} is a duration, so times are needed")
        self._timed = timed
        self._so_far = self._so_far.then(chunk, timed=timed)
        self._cce.update(data.truth.labels, data.raw)
        if self.window is not None or self.reference is not None:
            # A copy: callers may fill the same arrays with the next chunk.
            self._recent.append(replace(data, raw=data.raw.copy()))
            self._forget()
        return self

    def merge(self, other: StreamingEvaluator) -> StreamingEvaluator:
        """Take in the state of the stretch that follows this one."""
        other = copy(other)  # never both locks at once: two streams may merge each other
        with self._lock:
            return self._merge(other)

    def _merge(self, other: StreamingEvaluator) -> StreamingEvaluator:
        if (other.threshold, other.window) != (self.threshold, self.window):
            raise InvalidInputError("only evaluators with the same threshold and window can be merged")
        if other._timed is None:
            return self
        if self._timed is not None and other._timed != self._timed:
            raise InvalidInputError("times must be given for all chunks, or for none")
        timed = bool(other._timed)
        if timed and self._timed and other._so_far.begin <= self._last_stamp:
            raise InvalidInputError("times must increase: the other stretch begins before the end of this one")
        self._so_far = self._so_far.then(other._so_far, timed=timed)
        self._cce.merge(other._cce)
        if timed:
            self._steps.merge(other._steps)
            self._last_stamp = other._last_stamp
        self._timed = timed
        self._recent.extend(other._recent)
        self._forget()
        return self

    def _forget(self) -> None:
        """Leave out chunks that lie before the window."""
        if self.window is None:
            return
        while len(self._recent) > 1 and self._begins_after_first():
            self._recent.popleft()

    def _begins_after_first(self) -> bool:
        assert self.window is not None
        size = span_size(self.window)
        if size is None:
            return sum(data.n for data in list(self._recent)[1:]) >= int(self.window)
        last, first = self._recent[-1].setting.clock.stamps[-1], self._recent[1].setting.clock.stamps[0]
        return bool(first <= last - size)

    def _window(self) -> Scoring | None:
        """The labels and scores of the window."""
        if self.window is None or not self._recent:
            return None
        labels = np.concatenate([data.truth.mask for data in self._recent])
        scores = np.concatenate([data.raw for data in self._recent])
        size = span_size(self.window)
        if not self._timed:
            last = slice(-int(self.window), None)
            return observe(labels[last], scores[last])
        stamps = np.concatenate([data.setting.clock.stamps for data in self._recent])
        first = int(np.searchsorted(stamps, stamps[-1] - (size or 0), side="right"))
        if size is None:
            first = max(len(stamps) - int(self.window), 0)
        return observe(labels[first:], scores[first:], times=stamps[first:].astype("datetime64[ns]"))

    @_with_lock
    def drift(self) -> Drift | None:
        """How far the scores of the window are from the reference; None where there is none."""
        if self.reference is None or not self._recent:
            return None
        window = self._window()
        scores = np.concatenate([d.scores for d in self._recent]) if window is None else window.scores
        return _drift(self.reference, scores)

    @_with_lock
    def compute(self) -> StreamResult:
        """The values so far, those of the window, and the drift of the scores."""
        if self._timed is None:
            raise InvalidInputError("there is nothing to evaluate yet: call update first")
        unit = "min" if self._timed else "points"
        whole = self._so_far
        if self._timed:
            whole = whole.ending_at(self._last_stamp + self._steps.median)
        values = _in_unit(whole.values(), self._steps if self._timed else None)
        anomalous = whole.truth.events(whole.n).points
        values["cce"] = self._cce.compute() if 0 < anomalous < whole.n else math.nan
        window = self._window()
        recent = None
        if window is not None:
            alarmed, steps = window.above(self.threshold), StepCounts()
            if self._timed:
                steps.add(window.setting.clock.stamps, codes_of(window.truth.mask, alarmed.alarms.mask))
            recent = _in_unit(Stretch.of(alarmed).values(), steps if self._timed else None)
            recent["cce"] = METRICS["cce"].value_of(window)[0]
        rows = [
            {"metric": name, "value": value, **({} if recent is None else {"recent": recent[name]})}
            for name, value in values.items()
        ]
        return StreamResult(rows, self.drift(), unit)

    @_with_lock
    def __getstate__(self) -> dict[str, Any]:
        own = {name: copy(getattr(self, name)) for name in ("_cce", "_steps", "_recent")}  # the others never change
        return {**{name: value for name, value in vars(self).items() if name != "_lock"}, **own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"StreamingEvaluator(threshold={self.threshold}, points={self._so_far.n})"


def _in_unit(values: dict[str, float], steps: StepCounts | None) -> dict[str, float]:
    """Times in minutes, and rates over the time that was observed, where there are time stamps."""
    if steps is None:
        return values
    observed = steps.times()
    normal = sum(time for code, time in observed.items() if not code & LABEL)
    alarmed = sum(time for code, time in observed.items() if code & ALARM)
    values = {**values, "normal_time": float(normal), "time_in_alarm": alarmed / sum(observed.values())}
    found = {name: value / UNITS["min"] if name in _IN_TIME else value for name, value in values.items()}
    found["false_alarms_per_day"] = values["false_alarm_runs"] * UNITS["day"] / normal if normal else math.nan
    return found


def _drift(reference: Floats, scores: Floats) -> Drift:
    """Population stability over tenths of the reference, and the Kolmogorov-Smirnov distance with its p-value."""
    borders = np.quantile(reference, np.linspace(0, 1, _BINS + 1)[1:-1])
    expected, found = (
        np.bincount(np.searchsorted(borders, values, side="right"), minlength=_BINS) / len(values)
        for values in (reference, scores)
    )
    low = 0.5 / max(len(reference), len(scores))  # so that an empty tenth has a logarithm
    expected, found = np.maximum(expected, low), np.maximum(found, low)
    stability = float(np.sum((found - expected) * np.log(found / expected)))
    ordered = np.sort(scores)
    both = np.concatenate([reference, ordered])
    below = [np.searchsorted(values, both, side="right") / len(values) for values in (reference, ordered)]
    ks = float(np.max(np.abs(below[0] - below[1])))
    size = math.sqrt(len(reference) * len(scores) / (len(reference) + len(scores)))
    x = (size + 0.12 + 0.11 / size) * ks  # Stephens' correction of the limiting distribution
    p = 2 * sum((-1) ** (k - 1) * math.exp(-2 * k * k * x * x) for k in range(1, 101)) if x > 0.2 else 1.0
    return Drift(stability=stability, ks=ks, p=min(max(p, 0.0), 1.0))
