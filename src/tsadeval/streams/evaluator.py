"""StreamingEvaluator: evaluation of a detector in operation, with values so far, of the last part, and drift."""

from collections import deque
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from threading import RLock
from typing import Any, Self

import numpy as np

from tsadeval.core.arrays import checked_scores
from tsadeval.core.durations import UNITS, rate_of, span_size
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.metric import Rule
from tsadeval.core.parameters import Span, check_parameters
from tsadeval.core.results import Row
from tsadeval.core.selection import select_metrics
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.events import EventTable, event_table
from tsadeval.evaluation.single import Evaluation
from tsadeval.metrics.counting import overlaps
from tsadeval.scores.scored import observe
from tsadeval.streams.drift import Drift, DriftTest
from tsadeval.streams.runs import Unlabelled
from tsadeval.streams.stream import Stream
from tsadeval.thresholds.pages import pages_of
from tsadeval.thresholds.rules import fixed, lowest_level, parse_rule

_METRICS = ("precision", "recall", "f1", "f1_pa", "event_recall", "event_precision", "false_alarms", "time_in_alarm")
_IN_POINTS = (*_METRICS, "detection_delay", "cce")
_IN_TIME = (*_METRICS, "detection_delay(unit='min')", "false_alarms(per='day')", "cce")
_OPTIONS = ("threshold", "window", "cooldown", "false_warnings")


class StreamingEvaluator:
    """Operators' metrics, point counts, F1, F1-PA and CCE of a stream under a fixed threshold; pages and drift.

    Chunks of any size give what the whole series gives at once. The state grows with the number of events and alarms,
    and with the window; it pickles, and states of neighbouring stretches merge. Where labels are not known yet, pass
    None for them and the incidents to `compute`, as often as there are new ones; this state is plain data (`to_state`),
    and grows with the number of alarms, and of changes of the step between time stamps.

    Parameters
    ----------
    threshold : float or rule
        Alarm where `score > threshold`. Without labels also "hysteresis(4, 2)" and "sustained(4, 3)".
    window : int or duration, optional
        The last so many points, or so much time, that are evaluated by themselves as well.
    reference : array-like, optional
        Scores of a part in which the detector worked well, in the order of time: those of the window (of all chunks,
        where there is no window) are compared with them. `compute().drift` has the Kolmogorov-Smirnov distance, its p
        with as many points as are independent, and the population stability index over tenths of the reference; its
        `warning` is a line where the distance is above 0.05 and p below the level that `false_warnings` asks for.
    cooldown : int or duration, default=0
        Without labels: alarms with at most so much quiet time between them are one page.
    false_warnings : str, default="1/year"
        How many warnings of drift stationary scores may get, at most, however often they are looked at. Without time
        stamps a window counts as a week.

    Notes
    -----
    There is no `ignore` here: leave out the rows of maintenance hours. Rows that are called as metrics are these, so
    `false_alarms` are per 1,000 points; `false_alarm_runs` counts them. With time stamps there are
    `false_alarms(per='day')`, and `detection_delay(unit='min')` in place of `detection_delay`. Without labels there is
    no CCE, since scores are not kept.

    Examples
    --------
    >>> import tsadeval as te
    >>> stream = te.StreamingEvaluator(0.5)
    >>> for y, s in (([0, 0, 1], [0.1, 0.7, 0.2]), ([1, 0, 0], [0.9, 0.1, 0.3])):
    ...     stream = stream.update(y, s)
    >>> result = stream.compute()
    >>> result["event_recall"], result["false_alarm_runs"], result["detection_delay"]
    (1.0, 1.0, 1.0)

    Scores first, incidents later, and the state as JSON between the two:

    >>> import json
    >>> night = te.StreamingEvaluator(0.5, cooldown="1s").update(None, [0.1, 0.7, 0.2, 0.9, 0.8], times=[0, 1, 2, 3, 4])
    >>> night.compute()["pages"]
    1.0
    >>> morning = te.StreamingEvaluator.from_state(json.loads(json.dumps(night.to_state())))
    >>> result = morning.update(None, [0.1, 0.2, 0.9], times=[5, 6, 7]).compute(incidents=[(2, 4)])
    >>> result["pages"], result["false_pages"], result["event_recall"]
    (2.0, 1.0, 1.0)
    """

    def __init__(
        self,
        threshold: float | str | Rule,
        *,
        window: int | str | None = None,
        reference: Any = None,
        cooldown: int | str = 0,
        false_warnings: str = "1/year",
    ) -> None:
        checks = {"window": Span(1, integer=True, none=True), "cooldown": Span(0, integer=True)}
        check_parameters("StreamingEvaluator", checks, {"window": window, "cooldown": cooldown})
        self._rule = parse_rule(threshold)
        lowest_level(self._rule)  # which refuses those that a stream cannot follow
        self.threshold = self._rule.value if isinstance(self._rule, fixed) else str(self._rule)
        self.window, self.cooldown, self.false_warnings = window, cooldown, false_warnings
        self._rate = rate_of(false_warnings, "false_warnings")
        self._test = None if reference is None else DriftTest(checked_scores(reference, "reference").copy())
        self._stream: Stream | Unlabelled | None = None  # which of them, with times or not, is known with a first chunk
        self._recent: deque[Scoring] = deque()
        self._lock = RLock()

    @property
    def reference(self) -> Any:
        """The scores that those of the window are compared with, in the order of time; None where there are none."""
        return None if self._test is None else self._test.reference

    @property
    def times(self) -> Times | None:
        """Time stamps of all points without labels; None before there are any."""
        return self._stream.times if isinstance(self._stream, Unlabelled) else None

    def update(self, y_true: Any, y_score: Any, times: Any = None) -> Self:
        """Take in the next chunk; y_true=None where its labels are not known yet, of all chunks or of none."""
        labels = np.zeros(len(y_score), np.uint8) if y_true is None else y_true
        data = observe(labels, y_score, times=times)
        timed = data.setting.times is not None
        if isinstance(self.window, str) and not timed:
            raise InvalidInputError(f"window={self.window!r} is a duration, so times are needed")
        with self._lock:
            self._stream_of(timed, labelled=y_true is not None).add(data)
            if self.window is not None or self._test is not None:
                # A copy: callers may fill the same arrays with the next chunk.
                self._recent.append(replace(data, raw=data.raw.copy()))
                self._forget()
        return self

    def _stream_of(self, timed: bool, *, labelled: bool) -> Stream | Unlabelled:
        """Return the stream, which has labels and time stamps from the first chunk on, or none."""
        if self._stream is None and labelled:
            if not isinstance(self._rule, fixed):
                raise InvalidInputError(
                    f"threshold={self.threshold!r} is followed without labels: pass None for them, and the incidents "
                    "to compute"
                )
            metrics = _IN_TIME if timed else _IN_POINTS
            self._stream = Stream(metrics, threshold=self._rule.value, timed=timed, bounded=False)
        elif self._stream is None:
            self._stream = Unlabelled(self._rule)
        if labelled != isinstance(self._stream, Stream):
            raise InvalidInputError("labels must be given for all chunks, or for none")
        if isinstance(self._stream, Stream) and self._stream.settings.timed != timed:
            raise InvalidInputError("times must be given for all chunks, or for none")
        return self._stream

    def merge(self, other: Self) -> Self:
        """Take in the state of the stretch that follows this one."""
        other = copy(other)  # never both locks at once: two streams may merge each other
        if (other.threshold, other.window) != (self.threshold, self.window):
            raise InvalidInputError("only evaluators with the same threshold and window can be merged")
        if isinstance(other._stream, Unlabelled) or isinstance(self._stream, Unlabelled):
            raise InvalidInputError("streams without labels cannot be merged: update one of them with all chunks")
        if other._stream is not None:
            with self._lock:
                own = self._stream_of(other._stream.settings.timed, labelled=True)
                assert isinstance(own, Stream)
                own.merge(other._stream)
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
        """Join the labels and scores of the window, or of all chunks that are kept where there is none."""
        if not self._recent:
            return None
        labels = np.concatenate([data.truth.mask for data in self._recent])
        scores = np.concatenate([data.raw for data in self._recent])
        size, times = span_size(self.window), None
        if self._recent[0].setting.times is not None:
            times = np.concatenate([data.setting.clock.stamps for data in self._recent]).astype("datetime64[ns]")
        if times is None or size is None:
            first = max(len(scores) - int(self.window or len(scores)), 0)
        else:
            first = int(np.searchsorted(times, times[-1] - np.timedelta64(size, "ns"), side="right"))
        return observe(labels[first:], scores[first:], times=None if times is None else times[first:])

    def drift(self) -> Drift | None:
        """Measure how far the scores of the window are from the reference; None where there is none."""
        with self._lock:
            window = self._window()
        if self._test is None or window is None:
            return None
        times = window.setting.times
        return self._test.measure(window.scores, self._rate * (UNITS["week"] if times is None else times.total))

    def compute(self, incidents: Any = None) -> Evaluation:
        """Compute the values so far, those of the window, and the drift of the scores.

        Of points without labels those inside `incidents`, in any form that `te.labels` takes, are anomalous, and a page
        that touches none of them is false.
        """
        with self._lock:
            stream = self._stream
            if stream is None or (isinstance(stream, Unlabelled) and stream.times is None):
                raise InvalidInputError("there is nothing to evaluate yet: call update first")
            window, drift = None if self.window is None else self._window(), self.drift()
            if isinstance(stream, Unlabelled):
                whole = stream.prediction(incidents)
                values = self._values(whole)
                recent = None if window is None else self._values(_last(whole, window.n))
                timed, notes = True, ["labels are those of the incidents"]
            elif incidents is not None:
                raise InvalidInputError("incidents are the labels of points without labels, but these have some")
            else:
                timed, notes, runs = stream.settings.timed, [], stream.prediction("runs")
                values = _count(runs, stream.prediction("times") if timed else runs)
                values |= {str(metric): stream.value(metric)[0] for metric in stream.metrics}
                recent = None
                if window is not None:
                    assert stream.settings.threshold is not None
                    alarmed = window.above(stream.settings.threshold)
                    both = ((metric, window if metric.kind == "scores" else alarmed) for metric in stream.metrics)
                    recent = _count(alarmed, alarmed) | {str(metric): metric.value_of(d)[0] for metric, d in both}
        rows: list[Row] = [{"metric": name, "value": value} for name, value in values.items()]
        if recent is not None:
            rows = [{**row, "recent": recent[row["metric"]]} for row in rows]
        unit = "min" if timed else "points"
        notes = [f"times in {unit}", *notes, *([drift.warning] if drift is not None and drift.warning else [])]
        found = Evaluation(rows, shown=list(rows[0]), notes=notes)
        found.drift, found.unit = drift, unit
        return found

    def _values(self, data: Prediction) -> dict[str, float]:
        """Return all values of points whose labels are those of incidents."""
        pages, right = pages_of(data, data.events, self.cooldown)
        metrics = {str(metric): metric.value_of(data)[0] for metric in select_metrics(_IN_TIME[:-1])}
        return {**_count(data, data), "pages": len(pages), "false_pages": len(pages) - len(right), **metrics}

    def events(self, incidents: Any = None) -> EventTable:
        """List the incidents as `te.events` does, of points without labels; its `false_alarms` are false pages."""
        data = self._unlabelled().prediction(incidents)
        (pages, right), clock, found = (
            pages_of(data, data.events, self.cooldown),
            data.setting.clock,
            event_table(data, 0, "min"),
        )
        false = ~np.isin(np.arange(len(pages)), right)
        ends = clock.ends[pages.stops[false] - 1].tolist()
        begins = clock.stamps[pages.starts[false]].tolist()
        found.false_alarms = [
            {"start": clock.moment(a), "stop": clock.moment(b), "duration": (b - a) / UNITS["min"]}
            for a, b in zip(begins, ends, strict=True)
        ]
        found.summary |= {"alarms": len(pages), "false_alarms": len(begins)}
        return found

    def _unlabelled(self) -> Unlabelled:
        if not isinstance(self._stream, Unlabelled):
            raise InvalidInputError("there are no points without labels: pass None for labels to update")
        return self._stream

    def to_state(self) -> dict[str, Any]:
        """Return all that is known of points without labels as plain data, for `json.dump`; `from_state` reads it.

        `points` has the `first` time stamp in whole nanoseconds, the `steps` between stamps and the `alarms` (1) as
        runs of [value, how often], and the `trailing` scores, on which the next alarms depend. `recent` are the last
        scores, those of the window.
        """
        with self._lock:
            points, window = {} if self._stream is None else self._unlabelled().state(), self._window()
        recent = [] if window is None else window.scores.tolist()
        options = {name: getattr(self, name) for name in _OPTIONS}
        reference = None if self._test is None else self._test.reference.tolist()
        return {"version": 1, **options, "reference": reference, "points": points, "recent": recent}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Build an evaluator from what `to_state` returned."""
        if state.get("version") != 1:
            raise InvalidInputError(f"this state is of version {state.get('version')}, but version 1 can be read here")
        found, recent = cls(**{name: state[name] for name in (*_OPTIONS, "reference")}), state["recent"]
        points = Unlabelled.of_state(found._rule, state["points"])
        found._stream = points if points.times else None
        if recent and points.times:
            last = np.arange(len(points.times)) >= len(points.times) - len(recent)
            found._recent.append(observe(np.zeros(len(recent), np.uint8), recent, times=points.times.at_points(last)))
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


def _last(data: Prediction, n: int) -> Prediction:
    """Return the last points alone."""
    times = data.setting.clock.at_points(np.arange(data.n) >= data.n - n)
    return replace(
        Prediction.of(data.truth.mask[-n:], data.alarms.mask[-n:]), setting=replace(data.setting, times=times)
    )


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
