"""Points of a stream whose labels are not known yet: their stamps and alarms as runs, and labels from incidents."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from tsadeval.core.events import Events, Index
from tsadeval.core.inputs import Floats, Prediction, Scoring, label_runs
from tsadeval.core.metric import METRICS, Rule
from tsadeval.core.results import Row
from tsadeval.core.setting import Setting
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError
from tsadeval.incidents.placement import ANYHOW, lay
from tsadeval.thresholds.rules import lowest_level


class Unlabelled:
    """Stamps and alarms so far; `prediction` puts incidents on them, which may become known or change at any time."""

    def __init__(self, rule: Rule) -> None:
        self._rule, self._level = rule, lowest_level(rule)
        self.clock: Row = {}  # kind, unit and zone of the stamps
        self.steps = Steps()
        self.alarms: list[list[int]] = []  # first point of each run and one past the last
        # The last scores that are all above the lowest threshold of the rule: on no others do its alarms depend.
        self.trailing: Floats = np.empty(0)

    @property
    def n(self) -> int:
        """Number of points."""
        return self.steps.n

    def add(self, data: Scoring) -> None:
        """Take in the points that follow; an error changes nothing."""
        times, before = data.setting.times, self.n
        if times is None:
            raise InvalidInputError("points without labels need times, by which they get incidents later")
        clock = {"kind": times.kind, "unit": times.unit, "zone": times.zone}
        if before and clock["kind"] != self.clock["kind"]:
            raise InvalidInputError(f"times are {times.kind}, but those of the chunks before are {self.clock['kind']}")
        scores = np.concatenate([self.trailing.astype(data.raw.dtype), data.raw])
        whole = Scoring.of(np.zeros(len(scores), np.uint8), scores)
        alarmed = self._rule.decide(whole, METRICS["f1"]).prediction.alarms.mask[len(self.trailing) :]
        self.steps.add(times.stamps)
        self.clock = self.clock or clock
        low = np.flatnonzero(~whole.above(self._level).alarms.mask)
        self.trailing = np.array(scores[low[-1] + 1 if len(low) else 0 :], np.float64)
        runs = label_runs(alarmed.view(np.uint8), "alarms").events
        for start, stop in zip((runs.starts + before).tolist(), (runs.stops + before).tolist(), strict=True):
            if self.alarms and self.alarms[-1][1] == start:
                self.alarms[-1][1] = stop
            else:
                self.alarms.append([start, stop])

    def times(self) -> Times:
        """Return the time stamps of all points."""
        return self.times_at(self.steps.stamps())

    def times_at(self, stamps: Index) -> Times:
        """Return stamps of the kind of these points."""
        given = stamps if self.clock["kind"] == "numbers" else stamps.view("datetime64[ns]")
        return Times(stamps, given=given, **self.clock)

    def prediction(self, incidents: Any = None) -> Prediction:
        """Return the alarms of all points, and labels that are 1 inside of incidents."""
        times = self.times()
        labels = np.zeros(self.n, np.uint8) if incidents is None else lay(incidents, times, ANYHOW).labels
        starts, stops = np.array(self.alarms, np.int64).reshape(-1, 2).T
        return replace(Prediction.of(labels, Events(starts, stops, self.n).mask()), setting=Setting(times))

    def state(self) -> Row:
        """Return what there is as plain data."""
        own = {"steps": self.steps.state(), "alarms": [list(run) for run in self.alarms]}
        return {**self.clock, **own, "trailing": self.trailing.tolist()}

    @classmethod
    def of_state(cls, rule: Rule, state: Row) -> Self:
        """Build it from what `state` returned."""
        found = cls(rule)
        found.clock = {name: state[name] for name in ("kind", "unit", "zone") if name in state}
        found.steps, found.alarms = Steps.of_state(state["steps"]), [list(run) for run in state["alarms"]]
        found.trailing = np.array(state["trailing"], np.float64)
        return found


class Steps:
    """Increasing stamps as the first of them and the runs of equal steps between them."""

    def __init__(self) -> None:
        self.first, self.last, self.n = 0, 0, 0
        self._runs: list[list[int]] = []  # size of a step, and how often it occurs

    def add(self, stamps: Index) -> None:
        """Take in the stamps that follow."""
        if self.n and stamps[0] <= self.last:
            raise InvalidInputError(
                "times must increase: this chunk begins before the end of the one before it; sort the rows by time"
            )
        self.first = self.first if self.n else int(stamps[0])
        steps = np.diff(stamps, prepend=self.last) if self.n else np.diff(stamps)
        starts = np.flatnonzero(np.append(True, steps[1:] != steps[:-1])[: len(steps)])
        counts = np.diff(np.append(starts, len(steps)))
        for step, count in zip(steps[starts].tolist(), counts.tolist(), strict=True):
            if self._runs and self._runs[-1][0] == step:
                self._runs[-1][1] += count
            else:
                self._runs.append([step, count])
        self.last, self.n = int(stamps[-1]), self.n + len(stamps)

    def stamps(self) -> Index:
        """Return all stamps."""
        sizes, counts = np.array(self._runs, np.int64).reshape(-1, 2).T
        return self.first + np.append(np.int64(0), np.cumsum(np.repeat(sizes, counts)))

    def state(self) -> Row:
        """Return them as plain data."""
        return {"first": self.first, "runs": [list(run) for run in self._runs]} if self.n else {}

    @classmethod
    def of_state(cls, state: Row) -> Self:
        """Build them from what `state` returned."""
        found = cls()
        if state:
            found.first, found._runs, found.n = state["first"], [list(run) for run in state["runs"]], 1
            stamps = found.stamps()
            found.last, found.n = int(stamps[-1]), len(stamps)
        return found
