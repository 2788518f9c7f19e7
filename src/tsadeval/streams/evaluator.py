"""StreamingEvaluator: evaluation of a detector in operation, with values so far, of the last part, and drift."""

import math
from collections import deque
from copy import copy
from dataclasses import replace
from threading import RLock
from typing import Any, Self

import numpy as np

from tsadeval.core.arrays import checked_scores
from tsadeval.core.durations import UNITS, span_size
from tsadeval.core.inputs import Floats, Prediction, Scoring
from tsadeval.core.parameters import Number, Span, check_parameters
from tsadeval.core.results import Row
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.single import Evaluation
from tsadeval.metrics.counting import overlaps
from tsadeval.scores.scoring import observe
from tsadeval.streams.stream import Stream

# From these on, the scores are said to have drifted: the usual rule for stability, and a distance that matters and is
# significant at 0.1 % (of long windows any difference is).
_UNSTABLE, _BINS, _FAR, _SURE = 0.2, 10, 0.1, 1e-3
_METRICS = ("precision", "recall", "f1", "f1_pa", "event_recall", "event_precision", "false_alarms", "time_in_alarm")
_IN_POINTS = (*_METRICS, "detection_delay", "cce")
_IN_TIME = (*_METRICS, "detection_delay(unit='min')", "false_alarms(per='day')", "cce")
_OLD_NAMES = {"delay": "detection_delay", "false_alarms_per_day": "false_alarms(per='day')"}


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
    `false_alarms` are per 1,000 points; `false_alarm_runs` counts them. With time stamps `detection_delay(unit='min')`
    and `false_alarms(per='day')` are there, in place of `delay` and `false_alarms_per_day` of earlier versions.

    Examples
    --------
    >>> import tsadeval as te
    >>> stream = te.StreamingEvaluator(0.5)
    >>> for y, s in (([0, 0, 1], [0.1, 0.7, 0.2]), ([1, 0, 0], [0.9, 0.1, 0.3])):
    ...     stream = stream.update(y, s)
    >>> result = stream.compute()
    >>> result["event_recall"], result["false_alarm_runs"], result["detection_delay"]
    (1.0, 1.0, 1.0)
    """

    def __init__(self, threshold: float, *, window: int | str | None = None, reference: Any = None) -> None:
        checks = {"threshold": Number(), "window": Span(1, integer=True, none=True)}
        check_parameters("StreamingEvaluator", checks, {"threshold": threshold, "window": window})
        self.threshold, self.window = float(threshold), window
        self.reference = None if reference is None else np.sort(checked_scores(reference, "reference"))
        self._stream: Stream | None = None  # whether there are times is known with the first chunk
        self._recent: deque[Scoring] = deque()
        self._lock = RLock()

    def update(self, y_true: Any, y_score: Any, times: Any = None) -> Self:
        """Take in the next chunk."""
        data = observe(y_true, y_score, times=times)
        timed = data.setting.times is not None
        if isinstance(self.window, str) and not timed:
            raise InvalidInputError(f"window={self.window!r} is a duration, so times are needed")
        with self._lock:
            self._stream_of(timed).add(data)
            if self.window is not None or self.reference is not None:
                # A copy: callers may fill the same arrays with the next chunk.
                self._recent.append(replace(data, raw=data.raw.copy()))
                self._forget()
        return self

    def _stream_of(self, timed: bool) -> Stream:
        """Return the stream, which has time stamps from the first chunk on, or none."""
        if self._stream is None:
            metrics = _IN_TIME if timed else _IN_POINTS
            self._stream = Stream(metrics, threshold=self.threshold, timed=timed, bounded=False)
        if self._stream.settings.timed != timed:
            raise InvalidInputError("times must be given for all chunks, or for none")
        return self._stream

    def merge(self, other: Self) -> Self:
        """Take in the state of the stretch that follows this one."""
        other = copy(other)  # never both locks at once: two streams may merge each other
        if (other.threshold, other.window) != (self.threshold, self.window):
            raise InvalidInputError("only evaluators with the same threshold and window can be merged")
        if other._stream is not None:
            with self._lock:
                self._stream_of(other._stream.settings.timed).merge(other._stream)
                self._recent.extend(other._recent)
                self._forget()
        return self

    def _forget(self) -> None:
        """Leave out chunks that lie before the window."""
        while self.window is not None and len(self._recent) > 1:
            size, (_, *others) = span_size(self.window), self._recent
            if size is None:
                inside = sum(data.n for data in others) < int(self.window)
            else:
                inside = others[0].setting.clock.stamps[0] > others[-1].setting.clock.stamps[-1] - size
            if inside:
                return
            self._recent.popleft()

    def _window(self) -> Scoring | None:
        """Join the labels and scores of the window."""
        if self.window is None or not self._recent:
            return None
        labels = np.concatenate([data.truth.mask for data in self._recent])
        scores = np.concatenate([data.raw for data in self._recent])
        size, times = span_size(self.window), None
        if self._recent[0].setting.times is not None:
            times = np.concatenate([data.setting.clock.stamps for data in self._recent]).astype("datetime64[ns]")
        if times is None or size is None:
            first = max(len(scores) - int(self.window), 0)
        else:
            first = int(np.searchsorted(times, times[-1] - np.timedelta64(size, "ns"), side="right"))
        return observe(labels[first:], scores[first:], times=None if times is None else times[first:])

    def drift(self) -> Drift | None:
        """Measure how far the scores of the window are from the reference; None where there is none."""
        with self._lock:
            if self.reference is None or not self._recent:
                return None
            window = self._window()
            scores = np.concatenate([d.scores for d in self._recent]) if window is None else window.scores
        return _drift(self.reference, scores)

    def compute(self) -> Evaluation:
        """Compute the values so far, those of the window, and the drift of the scores."""
        with self._lock:
            stream = self._stream
            if stream is None:
                raise InvalidInputError("there is nothing to evaluate yet: call update first")
            timed, runs = stream.settings.timed, stream.prediction("runs")
            values = _count(runs, stream.prediction("times") if timed else runs)
            values |= {str(metric): stream.value(metric)[0] for metric in stream.metrics}
            rows: list[Row] = [{"metric": name, "value": value} for name, value in values.items()]
            window, drift = self._window(), self.drift()
        if window is not None:
            alarmed = window.above(self.threshold)
            recent = _count(alarmed, alarmed)
            for metric in stream.metrics:
                recent[str(metric)] = metric.value_of(window if metric.kind == "scores" else alarmed)[0]
            rows = [{**row, "recent": recent[row["metric"]]} for row in rows]
        unit = "min" if timed else "points"
        notes = [f"times in {unit}", *([drift.warning] if drift is not None and drift.warning else [])]
        found = Evaluation(rows, shown=list(rows[0]), notes=notes)
        found.drift, found.unit, found.renamed = drift, unit, _OLD_NAMES
        return found

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            own = {"_stream": copy(self._stream), "_recent": copy(self._recent)}  # the others never change
            return {**{name: value for name, value in vars(self).items() if name != "_lock"}, **own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"StreamingEvaluator(threshold={self.threshold}, points={self._stream.n if self._stream else 0})"


def _count(runs: Prediction, in_time: Prediction) -> dict[str, float]:
    """Count points, events and alarms by outcome; normal time is in minutes where the same runs have time stamps."""
    truth, alarms = runs.events, runs.predicted
    shared = overlaps(truth, alarms)
    found = truth.shared_points(alarms)
    times = in_time.setting.times
    normal = runs.n - truth.points if times is None else times.durations[~in_time.truth.mask].sum() / UNITS["min"]
    return {
        "points": runs.n,
        "true_positives": found,
        "false_positives": alarms.points - found,
        "false_negatives": truth.points - found,
        "true_negatives": runs.n - truth.points - alarms.points + found,
        "events": len(truth),
        "detected": len(np.unique(shared.first)),
        "false_alarm_runs": len(alarms) - len(np.unique(shared.second)),
        "normal_time": float(normal),
    }


def _drift(reference: Floats, scores: Floats) -> Drift:
    """Compute the stability index over tenths of the reference, and the Kolmogorov-Smirnov distance with its p."""
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
