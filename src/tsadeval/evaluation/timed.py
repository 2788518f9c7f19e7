"""Metrics of runs whose options are times, of a series that is read once.

What they look at is when runs begin and end, and which comes first. So all points between two borders of runs can be
one point that lasts as long: the metric's own code gets this short series, and gives the value of the long one. A few
more points keep a place of their own, since options such as `early` look at the last alarm before an event and at the
first point after one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.durations import SECOND
from tsadeval.core.events import Index
from tsadeval.core.inputs import LabelRuns, Prediction, Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.parameters import Span
from tsadeval.core.setting import Setting
from tsadeval.core.time import Times
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.evaluation.steps import StepCounts, codes_of

__all__ = ["TimedRuns", "asks_for_times"]

# Metrics of which a stream can take time stamps; others with such options look at single points.
_OFFERED = (
    "alarm_episodes",
    "detection_delay",
    "event_precision",
    "event_recall",
    "expected_cost",
    "false_alarms",
    "time_in_alarm",
    "time_to_recover",
)
_NEUTRAL = {"early": 0, "merge_gap": 0, "min_duration": 1}  # the same in points and in time
_MOST_STEPS = 2**20


def asks_for_times(metric: Metric, *, timed: bool) -> bool:
    """Is its value one of the time stamps, which a stream has if it is `timed`? An error where it cannot be."""
    if metric.stream is None or metric.kind == "scores":
        return False
    options = metric.options
    spans = {name: options[name] for name, check in metric.checks.items() if isinstance(check, Span)}
    durations = [name for name, value in spans.items() if isinstance(value, str)]
    if not durations and options.get("unit", "points") == "points" and not options.get("delay_per_hour"):
        return timed and metric.name == "time_in_alarm"
    if not timed:
        raise InvalidParameterError(f"{metric}: an option is a time, so it needs time stamps: pass time=")
    if metric.name not in _OFFERED:
        raise InvalidParameterError(
            f"{metric}: its times need the time stamps of all points at once, so not in a stream: give points, or use "
            "te.evaluate"
        )
    mixed = [name for name, value in spans.items() if not isinstance(value, str) and value != _NEUTRAL.get(name)]
    if mixed:
        raise InvalidParameterError(f"{metric}: in a stream {mixed[0]} must be a duration as well, such as '30min'")
    return True


@dataclass(frozen=True, eq=False)
class _Lasting(Times):
    """Times of points of which some are left out: how long the last one lasts, and the time observed, are known."""

    last: int = SECOND
    observed: Index = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def step(self) -> int:
        """The time that the last point stands for."""
        return self.last

    @property
    def durations(self) -> Index:
        """Times of which only the sums over points with the same label and alarm are right."""
        return self.observed


class TimedRuns:
    """Labels, alarms and time stamps at the borders of runs, and how often each step between two stamps occurs."""

    def __init__(self, threshold: float | None) -> None:
        self.threshold = threshold
        self.alarmed = 0
        self._stamps: list[Index] = []
        self._codes: list[NDArray[np.uint8]] = []  # label, and twice the alarm
        self._steps = StepCounts()
        self._kind: str | None = None
        self._last = 0

    def add(self, data: Scoring, alarms: LabelRuns) -> None:
        """Take in the points that follow; an error changes nothing."""
        times = data.setting.times
        if times is None:
            raise InvalidInputError("times must be given with every batch")
        stamps, n = times.stamps, data.n
        self._follow(times.kind, int(stamps[0]))
        truth, ends = data.truth.starts, np.array([0, 1, n - 1])
        borders = np.unique(np.concatenate([truth, truth + 1, alarms.starts, alarms.starts - 1, ends]))
        borders = borders[(borders >= 0) & (borders < n)]
        codes = codes_of(data.truth.mask, alarms.mask)
        self._stamps.append(stamps[borders])
        self._codes.append(codes[borders])
        self.alarmed += alarms.events.points
        if len(self._steps) <= _MOST_STEPS:  # else there will be no value
            self._steps.add(stamps, codes)
        self._last = int(stamps[-1])

    def _follow(self, kind: str, stamp: int) -> None:
        """Check that stamps of a kind, from this one on, may come next."""
        if self._kind is None:
            self._kind = kind
            return
        if kind != self._kind:
            raise InvalidInputError(f"times are {kind}, but those of the batches before are {self._kind}")
        if stamp <= self._last:
            raise InvalidInputError(
                "times must increase: this batch begins before the end of the one before it; sort the rows by time"
            )

    def merge(self, later: TimedRuns) -> None:
        """Take in the state of the stretch that follows."""
        if later._kind is None:
            return
        self._follow(later._kind, int(later._stamps[0][0]))
        self._stamps += later._stamps
        self._codes += later._codes
        self._steps.merge(later._steps)
        self._last = later._last
        self.alarmed += later.alarmed

    def prediction(self) -> Prediction:
        """A short series with the same runs at the same times."""
        if len(self._steps) > _MOST_STEPS:
            raise InvalidInputError(
                f"there are more than {_MOST_STEPS:,} different steps between time stamps, of which the median is the "
                "time that the last point stands for: round the time stamps"
            )
        self._stamps, self._codes = [np.concatenate(self._stamps)], [np.concatenate(self._codes)]
        stamps, codes = self._stamps[0], self._codes[0]
        observed = np.zeros(len(stamps), np.int64)
        for code, time in self._steps.times().items():
            observed[np.argmax(codes == code)] = time  # all of it at one point: sums are what metrics take
        times: Any = _Lasting(stamps, "numbers", stamps, last=self._steps.median, observed=observed)
        return replace(Prediction.of(codes & 1, codes >> 1), setting=Setting(times=times))
