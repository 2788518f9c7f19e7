"""Runs of labels and alarms of a stream, with steps between stamps; and points whose labels are not known yet."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.arrays import LARGEST
from tsadeval.core.durations import SECOND, find_zone
from tsadeval.core.facts import Fact, Reason
from tsadeval.core.inputs import Bools, Floats, Index, LabelRuns, Prediction, Scoring
from tsadeval.core.metric import METRICS, Metric, Rule
from tsadeval.core.parameters import Span
from tsadeval.core.results import Row
from tsadeval.core.setting import Setting
from tsadeval.core.times import Times, longest
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedError
from tsadeval.incidents.placement import ANYHOW, lay
from tsadeval.thresholds.rules import lowest_level

P = TypeVar("P")
Codes = NDArray[np.uint8]

LABEL, ALARM = 1, 2  # a code is their sum: is a point anomalous, and is it alarmed
_PENDING = 256  # joining has a fixed cost, so pieces wait until many can be joined at once
_MOST_STEPS = 2**20


class PieceList(Generic[P]):
    """A list that grows piece by piece; `join` makes one piece of neighbours, which it does not change."""

    def __init__(self, join: Callable[[list[P]], P]) -> None:
        self._join = join
        self._pieces: list[P] = []

    def add(self, piece: P) -> None:
        """Take in the piece that follows."""
        self._pieces.append(piece)
        if len(self._pieces) > _PENDING:
            self.whole()

    def merge(self, later: Self) -> None:
        """Take in another list, which follows."""
        if later:
            self.add(later.whole())

    def whole(self) -> P:
        """Join everything to one piece; there must be one."""
        if len(self._pieces) > 1:
            self._pieces = [self._join(self._pieces)]
        return self._pieces[0]

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def __getstate__(self) -> dict[str, Any]:
        return {"_join": self._join, "_pieces": [self.whole()] if self else []}


class BareRuns(LabelRuns):
    """Runs without their points: metrics that look at runs get the same value, others say that they cannot.

    Of the labels only the first is kept.
    """

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.starts[-1] + self.counts[-1])

    @property
    def mask(self) -> Bools:
        """There is none."""
        raise UndefinedError("it needs all points at once, which a stream does not keep")

    @classmethod
    def at(cls, places: Index, labels: Codes, n: int) -> Self:
        """Make runs of n points, of which the labels at some ascending places are known; between these they stay."""
        starts = places[np.append(True, labels[1:] != labels[:-1])]
        return cls(labels[:1], starts, np.diff(starts, append=n))

    @classmethod
    def of_counts(cls, counts: Any, first: int) -> Self:
        """Make runs of so many points each, whose labels alternate; runs of no points join their neighbours."""
        lengths = np.asarray(counts, np.int64)
        stops, there = np.cumsum(lengths), lengths > 0
        labels = ((np.arange(len(lengths)) + first) % 2).astype(np.uint8)
        return cls.at((stops - lengths)[there], labels[there], int(stops[-1]))


def codes_of(data: Scoring, threshold: float) -> Codes:
    """Return the code of every point, with the alarms of a fixed threshold."""

    def make() -> Codes:
        # As `Scoring.above` compares them, without a copy.
        alarms = data.raw > data.raw.dtype.type(data.in_own_type(threshold))
        return np.asarray(data.truth.mask.view(np.uint8) + np.uint8(ALARM) * alarms.view(np.uint8))

    return data.shared(("stream", "codes", threshold), make)


@dataclass(frozen=True, eq=False)
class BorderPoints:
    """The points of a stretch at which a run of labels or alarms begins: all that metrics of runs need to know.

    With time stamps also the points before and after these: options such as `early` look at the last alarm before an
    event, and at the first point after one.
    """

    n: int
    at: Index  # position in the stretch, or the time stamp
    codes: Codes
    timed: bool

    @classmethod
    def of(cls, codes: Codes, stamps: Index | None) -> Self:
        """Find the borders among all points."""
        matter = np.flatnonzero(_matter(codes, timed=stamps is not None))
        at = matter if stamps is None else stamps[matter]
        return cls(len(codes), at, codes[matter], stamps is not None)

    @classmethod
    def join(cls, pieces: Sequence[Self]) -> Self:
        """Join neighbouring stretches, in their order in time."""
        n, timed = np.cumsum([0, *(piece.n for piece in pieces)]), pieces[0].timed
        codes = np.concatenate([piece.codes for piece in pieces])
        at = np.concatenate([piece.at + (0 if timed else k) for piece, k in zip(pieces, n, strict=False)])
        matter = _matter(codes, timed=timed)
        return cls(int(n[-1]), at[matter], codes[matter], timed)


def _matter(codes: Codes, *, timed: bool) -> Bools:
    """Return which points are kept: those at borders, with times also their neighbours and the last point."""
    found = np.append(True, codes[1:] != codes[:-1])
    if timed:
        border = found.copy()
        found[:-1] |= border[1:]
        found[1:] |= border[:-1]
        found[-1] = True
    return found


class GrowingRuns:
    """Runs of labels and alarms of a series that grows; with times also how often each step between stamps occurs.

    Not `bounded`, it takes any number of points and steps, for metrics that count in 64 bits.
    """

    def __init__(self, threshold: float, *, timed: bool, bounded: bool = True) -> None:
        self.threshold = threshold
        self.alarmed = 0
        self._points = PieceList(BorderPoints.join)
        self._bounded = bounded
        self._steps = StepCounts(bounded=bounded) if timed else None

    def update(self, data: Scoring) -> None:
        """Take in the points that follow; an error changes nothing."""
        codes, stamps = codes_of(data, self.threshold), None
        if self._steps is not None:
            if data.setting.times is None:
                raise InvalidInputError("times must be given with every batch")
            self._steps.add(data.setting.times, codes)
            stamps = data.setting.times.stamps
        vars(self).pop("prediction", None)
        self._points.add(BorderPoints.of(codes, stamps))
        self.alarmed += int(np.count_nonzero(codes >= ALARM))

    def merge(self, later: Self) -> None:
        """Take in the stretch that follows."""
        if self._steps is not None and later._steps is not None:
            self._steps.merge(later._steps)
        vars(self).pop("prediction", None)
        self._points.merge(later._points)
        self.alarmed += later.alarmed

    @cached_property
    def prediction(self) -> Prediction:
        """Labels and alarms without their points; with times a short series with the same runs."""
        points = self._points.whole()
        if self._steps is not None:
            codes = points.codes
            setting = Setting(times=self._steps.times_at(points.at, codes))
            return replace(Prediction.of(codes & LABEL, codes // ALARM), setting=setting)
        if self._bounded and points.n > LARGEST:
            raise InvalidInputError(
                f"the series has {points.n:,} points, but metrics of runs take at most {LARGEST:,}: split it "
                "(CCE, metrics of points and those of the order of scores have no such limit)"
            )
        truth, alarms = (BareRuns.at(points.at, points.codes & np.uint8(bit), points.n) for bit in (LABEL, ALARM))
        return Prediction(truth, alarms)

    def value(self, metric: Metric) -> tuple[float, Fact | None]:
        """Return the value of a metric on all points so far."""
        return metric.value_of(self.prediction)

    @property
    def alarms(self) -> int:
        """Number of runs of alarms."""
        return len(self.prediction.predicted)


class StepCounts:
    """How often each step between two time stamps occurs, by the code of the point before it.

    Which time is observed is known at the end only, once the median step is: until then all steps are counted. If
    `bounded`, only as long as they are not too many for a state that must not grow with the points.
    """

    def __init__(self, *, bounded: bool) -> None:
        self._bounded = bounded
        self._counts: Counter[tuple[int, int]] = Counter()  # by code and step
        self._first: int | None = None
        self._last = (0, 0)  # the last stamp, and its code
        self._kind = ""

    def add(self, times: Times, codes: Codes) -> None:
        """Take in the points that follow; an error changes nothing."""
        stamps = times.stamps
        self._follow(times.kind, int(stamps[0]))
        steps, before = np.diff(stamps), codes[:-1]
        regular = len(steps) > 0 and bool((steps == steps[0]).all())
        for code in np.flatnonzero(np.bincount(before)).tolist() if regular or not self._too_many else ():
            own = steps[before == code]
            sizes, counts = (own[:1], np.array([len(own)])) if regular else np.unique(own, return_counts=True)
            for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
                self._counts[code, size] += count
        self._last = int(stamps[-1]), int(codes[-1])

    def merge(self, later: Self) -> None:
        """Take in the stretch that follows."""
        if later._first is not None:
            self._follow(later._kind, later._first)
            self._counts.update(later._counts)
            self._last = later._last

    def _follow(self, kind: str, stamp: int) -> None:
        """Check that stamps of a kind, from this one on, may come next, and count the step to them."""
        if self._first is None:
            self._first, self._kind = stamp, kind
            return
        if kind != self._kind:
            raise InvalidInputError(f"times are {kind}, but those of the batches before are {self._kind}")
        last, code = self._last
        if stamp <= last:
            raise InvalidInputError(
                "times must increase: this batch begins before the end of the one before it; sort the rows by time"
            )
        self._counts[code, stamp - last] += 1

    @property
    def _too_many(self) -> bool:
        return self._bounded and len(self._counts) > _MOST_STEPS

    def _median(self) -> int:
        """Return the median step, as `Times.step` has it."""
        steps = sorted((size, count) for (_, size), count in self._counts.items())
        counted = np.cumsum([count for _, count in steps])
        return steps[int(np.searchsorted(counted, counted[-1] // 2, "right"))][0] if steps else SECOND

    def times_at(self, stamps: Index, codes: Codes) -> Times:
        """Return the times of some points, which stand for those that are left out as well."""
        if self._too_many:
            raise InvalidInputError(
                f"there are more than {_MOST_STEPS:,} different steps between time stamps, of which the median is the "
                "time that the last point stands for: round the time stamps"
            )
        step = self._median()
        observed = np.zeros(len(stamps), np.int64)
        # All of it at one point of each code: sums are what metrics take.
        place = [int(np.argmax(codes == code)) for code in range(LABEL + ALARM + 1)]
        for (code, size), count in self._counts.items():
            observed[place[code]] += min(size, longest(step)) * count
        observed[place[self._last[1]]] += step
        # Where the code changes, two stamps are neighbours; elsewhere points were left out between them.
        steps, border = np.diff(stamps, append=stamps[-1] + step), np.diff(codes, append=codes[-1]) != 0
        hidden = sum(n for (code, size), n in self._counts.items() if code >= ALARM and size > longest(step))
        hidden -= int(np.count_nonzero(border & (codes >= ALARM) & (steps > longest(step))))
        found = _BorderTimes(stamps, "numbers", stamps, hidden=hidden > 0)
        # Known already, and not from these stamps; of the durations only sums over points with the same code are right.
        vars(found).update(
            step=step, durations=observed, steps=np.where(border, np.minimum(steps, longest(step)), steps)
        )
        return found


@dataclass(frozen=True, eq=False)
class _BorderTimes(Times):
    """Times of the points at borders: between two with the same code lies observed time, unless a gap is `hidden`."""

    hidden: bool = False
    steps: Index = field(init=False)

    @cached_property
    def ends(self) -> Index:
        if self.hidden:
            raise UndefinedError(
                "an alarm goes on over a gap in the times, which a stream does not keep: use te.evaluate",
                Reason.NOT_STREAMED,
            )
        return np.asarray(self.stamps + self.steps)


# Metrics of runs whose options are times look at when runs begin and end, and which comes first. So all points between
# two borders of runs can be one point that lasts as long: the metric's own code gets this short series, and gives the
# value of the long one. A stream can take time stamps of these; others with such options look at single points.
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


def asks_for_times(metric: Metric, *, timed: bool) -> bool:
    """Return True if the metric needs the time stamps of a `timed` stream; raise if a stream cannot provide them."""
    if metric.kind == "scores":
        return False
    options = metric.options
    spans = {name: options[name] for name, check in metric.checks.items() if isinstance(check, Span)}
    durations = [name for name, value in spans.items() if isinstance(value, str)]
    if not durations and options.get("unit", "points") == "points" and not options.get("delay_per_hour"):
        return timed and metric.name == "time_in_alarm"
    if not timed:
        raise InvalidParameterError("an option is a time, so it needs time stamps: pass time=")
    if metric.name not in _OFFERED:
        raise InvalidParameterError(
            "its times need the time stamps of all points at once, so not in a stream: give points, or use te.evaluate"
        )
    mixed = [name for name, value in spans.items() if not isinstance(value, str) and value != _NEUTRAL.get(name)]
    if mixed:
        raise InvalidParameterError(f"in a stream {mixed[0]} must be a duration as well, such as '30min'")
    return True


@dataclass
class Unlabelled:
    """Stamps and alarms so far, nine bytes a point; incidents may become known, or change, at any time.

    `trailing` are the last scores that are all above the lowest threshold of the rule: on no others do its next alarms
    depend.
    """

    rule: Rule
    times: Times | None = None
    alarmed: Bools | None = None
    trailing: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def n(self) -> int:
        """Number of points."""
        return 0 if self.times is None else len(self.times)

    def add(self, data: Scoring) -> None:
        """Take in the points that follow; an error changes nothing."""
        times, before = data.setting.times, self.times
        if times is None:
            raise InvalidInputError("points without labels need times, by which they get incidents later")
        if before is not None and before.kind != times.kind:
            raise InvalidInputError(f"times are {times.kind}, but those of the chunks before are {before.kind}")
        if before is not None and times.stamps[0] <= before.stamps[-1]:
            raise InvalidInputError(
                "times must increase: this chunk begins before the end of the one before it; sort the rows by time"
            )
        scores = np.concatenate([self.trailing.astype(data.raw.dtype), data.raw])
        whole = Scoring.of(np.zeros(len(scores), np.uint8), scores)
        alarmed = self.rule.decide(whole, METRICS["f1"]).prediction.alarms.mask[len(self.trailing) :]
        low = np.flatnonzero(~whole.above(lowest_level(self.rule)).alarms.mask)
        self.trailing = np.array(scores[low[-1] + 1 if len(low) else 0 :], np.float64)
        self.alarmed = alarmed if self.alarmed is None else np.append(self.alarmed, alarmed)
        stamps = times.stamps if before is None else np.append(before.stamps, times.stamps)
        self.times = _with_stamps(before or times, stamps)

    def prediction(self, incidents: Any = None) -> Prediction:
        """Return the alarms of all points, and labels that are 1 inside of incidents."""
        assert self.times is not None
        labels = np.zeros(len(self.times), np.uint8)
        labels = labels if incidents is None else lay(incidents, self.times, ANYHOW).labels
        return replace(Prediction.of(labels, self.alarmed), setting=Setting(self.times))

    def state(self) -> Row:
        """Return what there is as plain data."""
        if self.times is None or self.alarmed is None:
            return {}
        own = {name: getattr(self.times, name) for name in ("kind", "unit", "zone")}
        # By its name, which has to be one that the next run can find: incidents may be in the time of a place.
        own["tz"] = "" if self.times.tz is None else str(find_zone(str(self.times.tz)))
        steps, alarms = _runs_of(np.diff(self.times.stamps)), _runs_of(self.alarmed.astype(np.int64))
        first = int(self.times.stamps[0])
        return {**own, "first": first, "steps": steps, "alarms": alarms, "trailing": self.trailing.tolist()}

    @classmethod
    def of_state(cls, rule: Rule, state: Row) -> Self:
        """Build it from what `state` returned."""
        if not state:
            return cls(rule)
        steps, alarms = (np.repeat(*np.array(state[name], np.int64).reshape(-1, 2).T) for name in ("steps", "alarms"))
        stamps = state["first"] + np.append(np.int64(0), np.cumsum(steps))
        zone = find_zone(state["tz"]) if state.get("tz") else None
        times = Times(stamps, state["kind"], stamps, state["unit"], state["zone"], zone)
        return cls(rule, _with_stamps(times, stamps), alarms.astype(np.bool_), np.array(state["trailing"], np.float64))


def _with_stamps(times: Times, stamps: Any) -> Times:
    """Return times of the same kind at other stamps."""
    numbers = stamps / times.unit if (stamps % times.unit).any() else stamps // times.unit
    return replace(times, stamps=stamps, given=numbers if times.kind == "numbers" else stamps.view("datetime64[ns]"))


def _runs_of(values: Any) -> list[list[int]]:
    """Return values as runs of equal ones: each value, and how often it comes."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
    counts = np.diff(np.append(starts, len(values)))
    return [list(run) for run in zip(values[starts].tolist(), counts.tolist(), strict=True)]
