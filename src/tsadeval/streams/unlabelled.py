"""Points of a stream whose labels are not known yet: their stamps and alarms, and labels from incidents."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tsadeval.core.inputs import Bools, Floats, Prediction, Scoring
from tsadeval.core.metric import METRICS, Rule
from tsadeval.core.results import Row
from tsadeval.core.setting import Setting
from tsadeval.core.times import Times
from tsadeval.core.zones import find_zone
from tsadeval.errors import InvalidInputError
from tsadeval.incidents.placement import ANYHOW, lay
from tsadeval.thresholds.rules import lowest_level


@dataclass
class Unlabelled:
    """Stamps and alarms so far, nine bytes a point; incidents may become known, or change, at any time.

    `trailing` are the last scores that are all above the lowest threshold of the rule: on no others do its next alarms
    depend.
    """

    rule: Rule
    times: Times | None = None
    alarmed: Bools | None = None
    trailing: Floats | None = None

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
        trailing = np.zeros(0) if self.trailing is None else self.trailing
        scores = np.concatenate([trailing.astype(data.raw.dtype), data.raw])
        whole = Scoring.of(np.zeros(len(scores), np.uint8), scores)
        alarmed = self.rule.decide(whole, METRICS["f1"]).prediction.alarms.mask[len(trailing) :]
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
        if self.times is None or self.alarmed is None or self.trailing is None:
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
