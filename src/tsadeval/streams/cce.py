"""StreamingCCE: CCE of a series that comes in chunks."""

from copy import copy, deepcopy
from threading import RLock
from typing import Any, Self

import numpy as np

from tsadeval.core.facts import Fact, Reason
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.moments import RunMoments
from tsadeval.core.parameters import CCE_CHECKS, CCEOptions, check_parameters
from tsadeval.errors import InvalidInputError, InvalidParameterError, warn_undefined
from tsadeval.metrics.cce_explanation import CCEBreakdown, explain
from tsadeval.metrics.cce_formula import event_moments, score_of
from tsadeval.streams.runs import PieceList


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
