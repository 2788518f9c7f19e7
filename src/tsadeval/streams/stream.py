"""Stream: metrics of a series that is read once, batch by batch, in bounded memory; StreamingCCE, of CCE alone.

A record says which state its metric is computed from (`Metric.stream`): counts, runs, moments, and all scores sorted on
disk or counted in bins. Alarms are kept as runs or as counts of points, and the value comes from the metric's own code;
so any cut into batches gives the value of the whole series, and states of neighbouring stretches merge.
"""

from copy import copy, deepcopy
from dataclasses import dataclass
from threading import RLock
from typing import Any, Literal, Protocol, Self

import numpy as np

from tsadeval.core.arrays import read_array, refuse_rounded
from tsadeval.core.facts import Fact, Origin, Reason, grouped
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.messages import warn_of_undefined
from tsadeval.core.metric import METRICS, Metric
from tsadeval.core.moments import RunMoments
from tsadeval.core.parameters import CCE_CHECKS, CCEOptions, Check, Number, OneOf, check_parameters
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.errors import InvalidInputError, InvalidParameterError, hint, warn_undefined
from tsadeval.evaluation.external_sort import SortedScores
from tsadeval.evaluation.single import Evaluation
from tsadeval.metrics.cce_formula import CCEBreakdown, event_moments, explain, score_of
from tsadeval.scores.scored import observe
from tsadeval.streams.order import NearEvents, ScoreBins, reach_of
from tsadeval.streams.runs import ALARM, LABEL, BareRuns, GrowingRuns, PieceList, asks_for_times, codes_of


class MomentState:
    """Moments of the scores of every run of labels, from which CCE with some options is computed."""

    def __init__(self, options: CCEOptions) -> None:
        self.options = options
        self.n = 0
        self._runs = PieceList(RunMoments.join)

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        self._runs.add(event_moments(self.options, data))
        self.n += data.n

    def merge(self, later: Self) -> None:
        """Take in the state of the stretch that follows."""
        self._runs.merge(later._runs)
        self.n += later.n

    @property
    def runs(self) -> RunMoments | None:
        """The moments of all runs so far; None where nothing was seen."""
        return self._runs.whole() if self._runs else None

    def value(self, metric: Metric | None = None) -> tuple[float, Fact | None]:
        """Return CCE of all points so far, and why it is NaN where it is."""
        runs = self.runs
        if runs is None or len(runs) < 2:
            return float("nan"), Fact(Reason.UNDEFINED, "it has not yet seen both normal and anomalous points")
        return score_of(self.options, runs), None


class StreamingCCE:
    """CCE of a series that comes in chunks, in the order of time.

    Any chunking gives the value that `cce` gives for the whole series, up to rounding. The state grows with the
    number of events, not of points. It pickles, and states of neighbouring stretches of one series merge, so a
    long series can be read by several workers. Threads may share it: one adds chunks while others ask for the value.

    Options are those of `cce`, but for `normalize`: "robust", "rank" and "quantile" need all scores at once.

    >>> from tsadeval import StreamingCCE
    >>> stream = StreamingCCE()
    >>> stream.update([0, 0, 0, 1], [0.1, 0.2, 0.1, 0.9]).update([1, 0, 0, 1, 0], [0.7, 0.3, 0.1, 0.2, 0.1])
    StreamingCCE(n=9, events=5)
    >>> round(stream.compute(), 6)
    0.490885
    """

    def __init__(
        self,
        *,
        tau: float = 0.5,
        constrained: bool = False,
        event_weight: float = 0.5,
        global_weight: float = 0.5,
        normalize: str | None = "minmax",
        uncertainty: str = "beta",
        gamma: float = 10.0,
    ) -> None:
        options = CCEOptions(
            tau, constrained, event_weight, global_weight, normalize, uncertainty=uncertainty, gamma=gamma
        )
        check_parameters("StreamingCCE", CCE_CHECKS, vars(options))
        if normalize in ("robust", "rank", "quantile"):
            raise InvalidParameterError(
                f"StreamingCCE: normalize={normalize!r} needs all scores at once; "
                'use "minmax", or normalise the scores yourself and pass None'
            )
        self.state = MomentState(options)
        self._lock = RLock()

    @property
    def n(self) -> int:
        """Number of points so far."""
        return self.state.n

    def update(self, y_true: Any, y_score: Any) -> Self:
        """Add the next chunk. A chunk without points changes nothing. A bad chunk raises and adds nothing."""
        if not (_is_empty(y_true) and _is_empty(y_score)):
            data = Scoring.of(y_true, y_score)
            with self._lock:
                self.state.update(data)
        return self

    def merge(self, later: Self) -> Self:
        """Add all that another one has seen, which comes right after what this one has seen."""
        if not isinstance(later, StreamingCCE):
            raise InvalidInputError(f"can only merge another StreamingCCE, not {type(later).__name__}")
        own, other = self.state.options, later.state.options
        if other != own:
            raise InvalidInputError(f"cannot merge different options: {own} and {other}")
        seen = copy(later).state  # never both locks at once: two streams may merge each other
        with self._lock:
            self.state.merge(seen)
        return self

    def compute(self) -> float:
        """CCE of all points so far; NaN, with a warning, until both classes have been seen."""
        value, reason = self.value()
        if reason is not None:
            warn_undefined("StreamingCCE", reason)
        return value

    def value(self) -> tuple[float, str | None]:
        """CCE of all points so far, and why it is NaN where it is."""
        with self._lock:
            value, lacking = self.state.value()
        return value, None if lacking is None else lacking.text

    def breakdown(self) -> CCEBreakdown:
        """CCE of all points so far, explained; positions count from the first point ever seen."""
        with self._lock:
            runs = self.state.runs
        if runs is None:
            raise InvalidInputError("StreamingCCE has seen no points: call update() before breakdown()")
        return explain(self.state.options, runs)

    def reset(self) -> Self:
        """Forget all points, keep the options."""
        with self._lock:
            self.state = MomentState(self.state.options)
        return self

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"state": deepcopy(self.state)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state["state"]
        self._lock = RLock()

    def __repr__(self) -> str:
        with self._lock:
            runs = self.state.runs
            return f"StreamingCCE(n={self.n}, events={0 if runs is None else len(runs)})"


def _is_empty(values: Any) -> bool:
    try:
        return len(values) == 0 and np.ndim(values) <= 1
    except TypeError:
        return False


Order = Literal["sort", "bins"]
_CHECKS: dict[str, Check] = {"threshold": Number(none=True), "order": OneOf(("sort", "bins"))}


@dataclass(frozen=True)
class Settings:
    """For states: alarms are scores above `threshold`; how the order of scores is kept; whether there are times."""

    threshold: float | None = None
    order: Order = "sort"
    timed: bool = False
    bounded: bool = True


class State(Protocol):
    """What is kept of a stretch of a series."""

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""

    def merge(self, later: Any) -> None:
        """Take in the state of the stretch that follows."""

    def value(self, metric: Metric) -> tuple[Any, ...]:
        """Return the value of a metric on all points so far, why it is undefined, and its bounds if not exact."""


States = dict[str, State]


class PointCounts:
    """Points by label and alarm: for metrics to which the order of points does not matter."""

    alarms = None  # the number of runs is not known

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self._counts = np.zeros(4, np.int64)  # by code

    @property
    def alarmed(self) -> int:
        """Number of points with an alarm."""
        return int(self._counts[ALARM:].sum())

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        codes = codes_of(data, self.threshold)
        false, found = (int(np.count_nonzero(codes == code)) for code in (ALARM, LABEL + ALARM))
        missed = data.events.points - found
        self._counts += [data.n - missed - false - found, missed, false, found]

    def merge(self, later: Self) -> None:
        """Take in the state of the stretch that follows."""
        self._counts = self._counts + later._counts  # arrays from other processes may be read-only

    @property
    def prediction(self) -> Prediction:
        """A series with the same counts, in an order of its own."""
        quiet, missed, false, found = self._counts.tolist()
        return Prediction(
            BareRuns.of_counts([quiet, missed + found, false], 0),
            BareRuns.of_counts([quiet + missed, found + false], 0),
        )

    def value(self, metric: Metric) -> tuple[float, Fact | None]:
        """Return the value of a metric on all points so far."""
        return metric.value_of(self.prediction)


def _key_of(metric: Metric, settings: Settings) -> str:
    """Return the key of the state that a metric needs, or raise an error that says why it cannot be streamed.

    Metrics with the same key share a state; each variant of CCE has its own.
    """
    if metric.stream is None:
        raise InvalidParameterError("it needs all points at once, so not in a stream: leave it out, or use te.evaluate")
    if metric.kind == "predictions" and settings.threshold is None:
        raise InvalidParameterError(
            f"it takes alarms: {hint('pass threshold=', 'add --threshold')}, a number above which a score is an alarm "
            "(the best threshold is known only once all points were read)"
        )
    if asks_for_times(metric, timed=settings.timed):
        return "times"
    if metric.stream == "zones":
        return f"zones {reach_of(metric, exact=settings.order == 'sort')}"
    return str(metric) if metric.stream == "moments" else metric.stream


def _new_state(metric: Metric, key: str, settings: Settings, others: States) -> State:
    """Make an empty state for a metric; that of the order, which one of zones needs, is put among the others."""
    if metric.stream == "moments":
        return StreamingCCE(**{name: value for name, value in metric.options.items() if name != "quantiles"}).state
    if metric.stream in ("points", "runs"):
        assert settings.threshold is not None
        if key == "points":
            return PointCounts(settings.threshold)
        return GrowingRuns(settings.threshold, timed=key == "times", bounded=settings.bounded)
    order = others.setdefault("order", SortedScores() if settings.order == "sort" else ScoreBins())
    if key == "order":
        return order
    assert isinstance(order, SortedScores | ScoreBins)
    return NearEvents(reach_of(metric, exact=order.exact), order)


def streamable() -> tuple[Metric, ...]:
    """Return the metrics that can be computed from a stream, in bounded memory."""
    return tuple(metric for metric in METRICS.values() if metric.stream is not None)


class Stream:
    """The states that some metrics are computed from; streams of neighbouring stretches of a series merge.

    >>> early = Stream(["f1", "event_f1"], threshold=0.5).update([0, 0, 1], [0.1, 0.2, 0.9])
    >>> late = Stream(["f1", "event_f1"], threshold=0.5).update([1, 0, 0], [0.8, 0.1, 0.7])
    >>> early.merge(late).result()["event_f1"]
    0.6666666666666666
    """

    def __init__(
        self,
        metrics: Metrics,
        *,
        threshold: float | None = None,
        order: Order = "sort",
        timed: bool = False,
        bounded: bool = True,
        lenient: bool = False,
    ) -> None:
        self.metrics = select_metrics(metrics)
        check_parameters("evaluate_stream", _CHECKS, {"threshold": threshold, "order": order})
        self.settings = Settings(None if threshold is None else float(threshold), order, timed, bounded)
        self.n = 0
        self._of: dict[str, str] = {}  # metric -> key of its state
        self._lacking: dict[str, str] = {}  # metric -> why it has none
        states: States = {}
        for metric in self.metrics:
            try:
                key = self._of[str(metric)] = _key_of(metric, self.settings)
                if key not in states:
                    states[key] = _new_state(metric, key, self.settings, states)
            except InvalidParameterError as error:
                self._lacking[str(metric)] = str(error)
        if self._lacking and not (lenient and states):
            self._refuse_unfit()
        # Times come first: what is wrong with them is found before anything has changed.
        self._states = dict(sorted(states.items(), key=lambda item: item[0] != "times"))

    @property
    def small(self) -> bool:
        """True if the state is small compared with a batch of points, which the order of all scores is not."""
        return "order" not in self._states

    def __copy__(self) -> Self:
        return deepcopy(self)  # what is kept changes with every batch, so it is never shared

    def _refuse_unfit(self) -> None:
        unfit = grouped((reason, name) for name, reason in self._lacking.items())
        reasons = [f"{', '.join(names)}: {reason}" for reason, names in unfit.items()]
        if any(metric.stream is None for metric in self.metrics):
            reasons.append(f"these can be streamed: {', '.join(metric.name for metric in streamable())}")
        raise InvalidParameterError("; ".join(reasons))

    def update(self, y_true: Any, y_score: Any, times: Any = None) -> Self:
        """Take in the points that follow. A bad batch raises and changes nothing."""
        if len(y_true) == 0 and len(y_score) == 0:
            return self
        try:
            data = observe(y_true, y_score, times=times) if self.settings.timed else Scoring.of(y_true, y_score)
            refuse_rounded(read_array(y_score, "y_score", "a sequence of numbers"), "y_score")
            self.add(data)
        except InvalidInputError as error:
            raise InvalidInputError(f"in the batch that begins at point {self.n}: {error}") from None
        return self

    def add(self, data: Scoring) -> None:
        """Take in the points that follow, which were checked already."""
        for state in self._states.values():
            state.update(data)
        self.n += data.n

    def merge(self, later: Self) -> Self:
        """Take in the points of another stream, which follow; it must not be used any more."""
        if later is self:
            raise InvalidInputError("a stream cannot be merged with itself: its points would count twice")
        if later._of != self._of or later.settings != self.settings:
            raise InvalidInputError("only streams of the same metrics, threshold and order can be merged")
        for key, state in self._states.items():
            state.merge(later._states[key])
        self.n += later.n
        return self

    def result(self) -> Evaluation:
        """Return the value of every metric on all points so far."""
        if self.n == 0:
            raise InvalidInputError("the stream is empty: there is nothing to evaluate")
        rows = [self._row(metric) for metric in self.metrics]
        warn_of_undefined(rows)
        return Evaluation(rows, notes=[f"{self.n:,} points in a stream"])

    def value(self, metric: Metric) -> tuple[Any, ...]:
        """Return the value of one of the metrics on all points so far, why it is undefined, and bounds if not exact."""
        name = str(metric)
        if name in self._lacking:
            return float("nan"), Fact(Reason.NOT_STREAMED, self._lacking[name])
        return self._states[self._of[name]].value(metric)

    def prediction(self, kept: Literal["runs", "times"]) -> Prediction:
        """Return the runs of labels and alarms so far, in points or in time."""
        state = self._states[kept]
        assert isinstance(state, GrowingRuns)
        return state.prediction

    def _row(self, metric: Metric) -> Row:
        value, lacking, low, high = (*self.value(metric), None, None)[:4]
        state = self._states.get(self._of.get(str(metric), ""))
        of_alarms = metric.kind == "predictions" and state is not None
        return {
            "metric": str(metric),
            "value": value,
            "low": low,
            "high": high,
            "rule": f"fixed({self.settings.threshold!r})" if of_alarms else None,
            "threshold": self.settings.threshold if of_alarms else None,
            "alarms": getattr(state, "alarms", None),
            "alarmed_points": getattr(state, "alarmed", None),
            "status": "ok" if lacking is None else "undefined",
            "message": None if lacking is None else lacking.text,
            "uses_labels": False,
            "origin": Origin.RULE if of_alarms else None,
            "reason": None if lacking is None else lacking.reason,
        }
