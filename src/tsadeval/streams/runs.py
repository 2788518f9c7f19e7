"""Runs of labels and alarms in a stream, with their time stamps; metrics with options in time; counts of steps."""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.durations import SECOND
from tsadeval.core.events import Events, Index
from tsadeval.core.inputs import Bools, LabelRuns, Prediction, Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.parameters import Span
from tsadeval.core.setting import Setting
from tsadeval.core.times import Times, longest
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedError
from tsadeval.metrics.counting import overlaps, prf_of_counts


@dataclass(frozen=True, eq=False)
class BareRuns(LabelRuns):
    """Runs without their points: metrics that look at runs get the same value, others say that they cannot."""

    label: int = 0

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.starts[-1] + self.counts[-1])

    @property
    def first(self) -> int:
        """Label of the first run."""
        return self.label

    @property
    def mask(self) -> Bools:
        """There is none."""
        raise UndefinedError("it needs all points at once, which a stream does not keep")


def bare_runs(counts: Any, first: int) -> BareRuns:
    """Runs of so many points each, whose labels alternate; runs of no points join their neighbours.

    >>> runs = bare_runs([3, 0, 2, 1], first=0)
    >>> runs.starts, runs.counts, runs.first
    (array([0, 5]), array([5, 1]), 0)
    """
    lengths = np.asarray(counts, np.int64)
    labels = (np.arange(len(lengths)) + first) % 2
    stops = np.cumsum(lengths)
    there = lengths > 0
    labels, starts = labels[there], (stops - lengths)[there]
    change = np.append(True, labels[1:] != labels[:-1])
    return _runs(starts[change], int(stops[-1]), int(labels[0]))


def _runs(starts: Index, n: int, first: int) -> BareRuns:
    return BareRuns(np.empty(0, np.uint8), starts, np.diff(starts, append=n), first)


class Borders:
    """Where the labels of a growing series change: 8 bytes a run."""

    def __init__(self) -> None:
        self.n = 0
        self._first = self._last = -1
        self._pieces: list[Index] = []

    def add(self, runs: LabelRuns) -> None:
        """Take in the points that follow."""
        last = (runs.first + len(runs.starts) - 1) % 2
        self._extend(runs.starts, runs.n, runs.first, last)

    def merge(self, later: Borders) -> None:
        """Take in what another one has seen, which follows."""
        if later.n:
            self._extend(later._starts(), later.n, later._first, later._last)

    def _extend(self, starts: Index, n: int, first: int, last: int) -> None:
        if self.n == 0:
            self._first = first
        # A run that goes on has no border here.
        self._pieces.append(starts[1 if first == self._last else 0 :] + self.n)
        self.n += n
        self._last = last
        # A piece joins the one before it once it is half as long: so each border is copied a few times only, however
        # many batches there are.
        while len(self._pieces) > 1 and len(self._pieces[-2]) <= 2 * len(self._pieces[-1]):
            self._pieces[-2:] = [np.concatenate(self._pieces[-2:])]

    def _starts(self) -> Index:
        if len(self._pieces) > 1:
            self._pieces = [np.concatenate(self._pieces)]
        return self._pieces[0]

    def runs(self) -> BareRuns:
        """All runs so far."""
        return _runs(self._starts(), self.n, self._first)


# Runs of labels and alarms of a stream, with the time stamps of their borders: all that operators' metrics need.
#
# The state grows with the number of runs, not of points, and states of neighbouring stretches join.


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
            "false_alarms": 1000 * (false_runs / self.n),
            "false_alarm_runs": false_runs,
            "delay": float(delays.mean()) if hits else nan,
            "time_in_alarm": self.alarms.time / (self.end - self.begin) if self.end > self.begin else nan,
            "normal_time": float(normal),
        }


# Metrics of runs whose options are times, of a series that is read once.
#
# What they look at is when runs begin and end, and which comes first. So all points between two borders of runs
# can be one point that lasts as long: the metric's own code gets this short series, and gives the value of the
# long one. A few more points keep a place of their own, since options such as `early` look at the last alarm
# before an event and at the first point after one.


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
    """Return True if the metric needs the time stamps of a `timed` stream; raise if a stream cannot provide them."""
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


# How often each step between two time stamps occurs in a stream, by what is known of the point before it.


LABEL, ALARM = 1, 2  # a code is their sum: is a point anomalous, and is it alarmed?


def codes_of(labels: Any, alarms: Any) -> NDArray[np.uint8]:
    """The code of every point."""
    return np.asarray(labels, np.uint8) + np.uint8(ALARM) * np.asarray(alarms, np.uint8)


class StepCounts:
    """Which time is observed is known at the end only, once the median step is: until then all steps are counted."""

    def __init__(self) -> None:
        self._counts: dict[int, Counter[int]] = {}
        self._first: int | None = None
        self._last = (0, 0)  # the last stamp, and its code

    def __len__(self) -> int:
        """The largest number of different steps of a code."""
        return max(map(len, self._counts.values()), default=0)

    def __copy__(self) -> StepCounts:
        found = StepCounts()
        found._counts = {code: copy(counts) for code, counts in self._counts.items()}
        found._first, found._last = self._first, self._last
        return found

    def add(self, stamps: Index, codes: NDArray[np.uint8]) -> None:
        """Take in the points that follow."""
        self._join(int(stamps[0]))
        steps, before = np.diff(stamps), codes[:-1]
        if len(steps) and (steps == steps[0]).all():
            for code, count in enumerate(np.bincount(before).tolist()):
                self._add(code, {int(steps[0]): count} if count else {})
        else:
            for code in np.unique(before).tolist():
                sizes, counts = np.unique(steps[before == code], return_counts=True)
                self._add(code, dict(zip(sizes.tolist(), counts.tolist(), strict=True)))
        self._last = int(stamps[-1]), int(codes[-1])

    def merge(self, later: StepCounts) -> None:
        """Take in the stretch that follows."""
        if later._first is None:
            return
        self._join(later._first)
        for code, counts in later._counts.items():
            self._add(code, counts)
        self._last = later._last

    def _join(self, stamp: int) -> None:
        """Count the step from the last stamp to the next one."""
        if self._first is None:
            self._first = stamp
        else:
            self._add(self._last[1], {stamp - self._last[0]: 1})

    def _add(self, code: int, counts: dict[int, int]) -> None:
        if counts:
            self._counts.setdefault(code, Counter()).update(counts)

    @property
    def median(self) -> int:
        """The median step, as `Times.step` has it."""
        everything: Counter[int] = Counter()
        for counts in self._counts.values():
            everything.update(counts)
        if not everything:
            return SECOND
        sizes = sorted(everything)
        counted = list(accumulate(everything[size] for size in sizes))
        return sizes[int(np.searchsorted(counted, counted[-1] // 2, "right"))]

    def times(self) -> dict[int, int]:
        """The time that was observed at the points of each code, as `Times.durations` has it."""
        step = self.median
        most = longest(step)
        found = {code: sum(min(size, most) * n for size, n in counts.items()) for code, counts in self._counts.items()}
        if self._first is not None:
            found[self._last[1]] = found.get(self._last[1], 0) + step
        return found
