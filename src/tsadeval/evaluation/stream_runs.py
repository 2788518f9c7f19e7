"""Runs of labels and alarms of a stream, with the time stamps of their borders: all that operators' metrics need.

The state grows with the number of runs, not of points, and states of neighbouring stretches join.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tsadeval.core.events import Events, Index
from tsadeval.core.inputs import Prediction
from tsadeval.metrics._counting import overlaps, prf_of_counts


def _none() -> Index:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of ones in a stretch of n points: positions of their borders, and the time at each."""

    starts: Index = field(default_factory=_none)
    stops: Index = field(default_factory=_none)
    start_times: Index = field(default_factory=_none)
    stop_times: Index = field(default_factory=_none)

    @classmethod
    def of(cls, runs: Events, edges: Index) -> Runs:
        """Of runs of points, with the edges of the points in time."""
        return cls(runs.starts, runs.stops, edges[runs.starts], edges[runs.stops])

    def then(self, other: Runs, n: int) -> Runs:
        """These runs, and those of the stretch that follows after n points; a run that is cut there becomes one."""
        parts = [np.concatenate([a, b + n]) for a, b in ((self.starts, other.starts), (self.stops, other.stops))]
        times = [
            np.concatenate([a, b])
            for a, b in ((self.start_times, other.start_times), (self.stop_times, other.stop_times))
        ]
        starts, stops = parts
        k = len(self.starts)
        if 0 < k < len(starts) and stops[k - 1] == starts[k]:
            drop = np.arange(len(starts)) != k
            keep = np.arange(len(starts)) != k - 1
            return Runs(starts[drop], stops[keep], times[0][drop], times[1][keep])
        return Runs(starts, stops, *times)

    def events(self, n: int) -> Events:
        """The runs without their times."""
        return Events(self.starts, self.stops, n)

    @property
    def time(self) -> int:
        """Time that all runs last."""
        return int((self.stop_times - self.start_times).sum())


@dataclass(frozen=True, eq=False)
class Stretch:
    """Labels and alarms of a stretch of a stream."""

    n: int = 0
    truth: Runs = field(default_factory=Runs)
    alarms: Runs = field(default_factory=Runs)
    begin: int = 0
    end: int = 0

    @classmethod
    def of(cls, data: Prediction) -> Stretch:
        """Of a chunk; without time stamps time is counted in points."""
        times = data.setting.times
        edges = np.arange(data.n + 1) if times is None else times.edges
        return cls(data.n, Runs.of(data.events, edges), Runs.of(data.predicted, edges), int(edges[0]), int(edges[-1]))

    def moved(self, by: int) -> Stretch:
        """The same stretch at another time."""
        if by == 0:
            return self
        truth, alarms = (
            replace(runs, start_times=runs.start_times + by, stop_times=runs.stop_times + by)
            for runs in (self.truth, self.alarms)
        )
        return Stretch(self.n, truth, alarms, self.begin + by, self.end + by)

    def then(self, other: Stretch, *, timed: bool) -> Stretch:
        """This stretch and the one that follows; what ends here with the median step goes on to the next stamp."""
        if self.n == 0:
            return other
        if not timed:
            other = other.moved(self.end - other.begin)
        here = self.ending_at(other.begin)
        return Stretch(
            here.n + other.n,
            here.truth.then(other.truth, here.n),
            here.alarms.then(other.alarms, here.n),
            here.begin,
            other.end,
        )

    def ending_at(self, time: int) -> Stretch:
        """The same points, with the time that the last one stands for up to the next stamp."""
        if time == self.end:
            return self
        truth, alarms = (
            replace(runs, stop_times=np.where(runs.stops == self.n, time, runs.stop_times))
            for runs in (self.truth, self.alarms)
        )
        return replace(self, truth=truth, alarms=alarms, end=time)

    def values(self) -> dict[str, float]:
        """Counts and operators' metrics of the stretch; times in nanoseconds, or points where there are no stamps."""
        truth, alarms = self.truth.events(self.n), self.alarms.events(self.n)
        shared = overlaps(truth, alarms)
        found = int((shared.stops - shared.starts).sum())
        false, missed = alarms.points - found, truth.points - found
        detected = np.zeros(len(truth), np.bool_)
        detected[shared.first] = True
        touching = np.zeros(len(alarms), np.bool_)
        touching[shared.second] = True
        adjusted = int(truth.lengths[detected].sum())
        false_runs = int((~touching).sum())
        events, hits = len(truth), int(detected.sum())
        # The first alarm of an event is its first point, or the first one of an alarm run.
        run = np.searchsorted(alarms.stops, truth.starts, side="right")[detected]
        late = np.maximum(self.alarms.start_times[run], self.truth.start_times[detected])
        delays = late - self.truth.start_times[detected]
        normal = self.end - self.begin - self.truth.time
        nan = float("nan")
        return {
            "points": self.n,
            "true_positives": found,
            "false_positives": false,
            "false_negatives": missed,
            "true_negatives": self.n - found - false - missed,
            "precision": found / (found + false) if found + false else nan,
            "recall": found / truth.points if truth.points else nan,
            "f1": prf_of_counts(found, false, truth.points).f1,
            "f1_pa": prf_of_counts(adjusted, false, truth.points).f1,
            "events": events,
            "detected": hits,
            "event_recall": hits / events if events else nan,
            "event_precision": hits / (hits + false_runs) if events and hits + false_runs else nan,
            "false_alarms": false_runs,
            "delay": float(delays.mean()) if hits else nan,
            "time_in_alarm": self.alarms.time / (self.end - self.begin) if self.end > self.begin else nan,
            "normal_time": float(normal),
        }
