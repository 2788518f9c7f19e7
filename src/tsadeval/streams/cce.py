"""StreamingCCE: CCE of a series that comes in chunks."""

from __future__ import annotations

from threading import RLock
from typing import Any

import numpy as np

from tsadeval.core.inputs import Scoring
from tsadeval.core.moments import RunMoments
from tsadeval.core.parameters import CCE_CHECKS, check_parameters
from tsadeval.errors import InvalidInputError, InvalidParameterError, warn_undefined
from tsadeval.metrics.cce_explanation import CCEBreakdown, explain
from tsadeval.metrics.cce_formula import CCEOptions, event_moments, score_of

# Joining has a fixed cost, so chunks wait until many can be joined at once.
_PENDING = 256


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
        given: dict[str, Any] = {
            "tau": tau,
            "constrained": constrained,
            "event_weight": event_weight,
            "global_weight": global_weight,
            "normalize": normalize,
            "uncertainty": uncertainty,
            "gamma": gamma,
        }
        check_parameters("StreamingCCE", CCE_CHECKS, given)
        if normalize in ("robust", "rank", "quantile"):
            raise InvalidParameterError(
                f"StreamingCCE: normalize={normalize!r} needs all scores at once; "
                'use "minmax", or normalise the scores yourself and pass None'
            )
        self._options = CCEOptions(**given)
        self._lock = RLock()
        self._pieces: list[RunMoments] = []
        self._waiting = 0  # the last so many pieces are single chunks
        self.n = 0

    def update(self, y_true: Any, y_score: Any) -> StreamingCCE:
        """Add the next chunk. A chunk without points changes nothing. A bad chunk raises and adds nothing."""
        if _is_empty(y_true) and _is_empty(y_score):
            return self
        self.add(Scoring.of(y_true, y_score))
        return self

    def add(self, data: Scoring) -> None:
        """Add the next chunk, which was checked already."""
        self._add(event_moments(self._options, data), data.n)

    def merge(self, later: StreamingCCE) -> StreamingCCE:
        """Add all that another one has seen, which comes right after what this one has seen."""
        if not isinstance(later, StreamingCCE):
            raise InvalidInputError(f"can only merge another StreamingCCE, not {type(later).__name__}")
        if later._options != self._options:
            raise InvalidInputError(f"cannot merge different options: {self._options} and {later._options}")
        with later._lock:  # never both locks at once: two streams may merge each other
            runs, n = later._runs(), later.n
        if runs is not None:
            self._add(runs, n)
        return self

    def compute(self) -> float:
        """CCE of all points so far; NaN, with a warning, until both classes have been seen."""
        value, reason = self.value()
        if reason is not None:
            warn_undefined("StreamingCCE", reason)
        return value

    def value(self) -> tuple[float, str | None]:
        """CCE of all points so far, and why it is NaN where it is."""
        runs = self._runs()
        if runs is None or len(runs.counts) < 2:
            return float("nan"), "it has not yet seen both normal and anomalous points"
        return score_of(self._options, runs), None

    def breakdown(self) -> CCEBreakdown:
        """CCE of all points so far, explained; positions count from the first point ever seen."""
        runs = self._runs()
        if runs is None:
            raise InvalidInputError("StreamingCCE has seen no points: call update() before breakdown()")
        return explain(self._options, runs)

    def reset(self) -> StreamingCCE:
        """Forget all points, keep the options."""
        with self._lock:
            self._pieces, self._waiting, self.n = [], 0, 0
        return self

    def _add(self, runs: RunMoments, n: int) -> None:
        with self._lock:
            self._pieces.append(runs)
            self.n += n
            self._waiting += 1
            if self._waiting == _PENDING:
                self._compact()

    def _compact(self) -> None:
        """Join the chunks that wait, and what lies before them once it is at most twice as long.

        So each run is joined a few times only, however many chunks there are.
        """
        last = RunMoments.join(self._pieces[-self._waiting :])
        del self._pieces[-self._waiting :]
        while self._pieces and len(self._pieces[-1].counts) <= 2 * len(last.counts):
            last = RunMoments.join([self._pieces.pop(), last])
        self._pieces.append(last)
        self._waiting = 0

    def _runs(self) -> RunMoments | None:
        """All pieces as one, None where nothing was seen; the pieces themselves are never changed."""
        with self._lock:
            if len(self._pieces) > 1:
                self._pieces = [RunMoments.join(self._pieces)]
            self._waiting = 0
            return self._pieces[0] if self._pieces else None

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            runs = self._runs()
            return {"_options": self._options, "_pieces": [] if runs is None else [runs], "n": self.n}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._waiting = 0
        self._lock = RLock()

    def __repr__(self) -> str:
        with self._lock:
            runs = self._runs()
            return f"StreamingCCE(n={self.n}, events={0 if runs is None else len(runs.counts)})"


def _is_empty(values: Any) -> bool:
    try:
        return len(values) == 0 and np.ndim(values) <= 1
    except TypeError:
        return False
