"""Facts of a value as plain data: where its alarms come from, why it is missing, what was left out; and its row.

Code decides by these facts and never by a text. The sentences made from them are in `core.messages`.
"""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from tsadeval.core.results import Row

if TYPE_CHECKING:
    from tsadeval.core.inputs import Prediction, Scoring

K = TypeVar("K")
V = TypeVar("V")


class Reason(StrEnum):
    """Why a metric has no value: the column `reason` of rows."""

    NO_ANOMALY = "no anomalous point"
    NO_NORMAL = "no normal point"
    NO_ALARM = "no alarm"
    NEEDS_TIMES = "needs time stamps"
    CANNOT_IGNORE = "cannot ignore points"
    NOT_STREAMED = "not in a stream"
    UNDEFINED = "undefined"  # for any other reason, which the message says
    NO_SCORES = "no scores"  # of a detector on a series
    UNREADABLE = "unreadable"  # the whole file, which the message names


# What a series lacks, whatever the detector.
OF_LABELS = (Reason.NO_ANOMALY, Reason.NO_NORMAL)


class NoInterval(StrEnum):
    """Why a value has no interval: the column `no_interval` of rows."""

    FEW = "fewer than 5 events"
    SERIES = "fewer than 5 series"
    SAME = "all resamples have the same value"
    UNDEFINED = "undefined on many resamples"


class Flaw(StrEnum):
    """Why a detector is never first by a metric, whatever its value: see `comparison.standings.find_flaws`."""

    CHANCE = "not above chance"
    EVERYWHERE = "alarm at all points"
    NOWHERE = "no alarm"
    FEW = "values on less than half of the series"


class Origin(StrEnum):
    """Where the alarms of a metric come from: the column `origin` of rows."""

    GIVEN = "given"  # predictions were given
    SCORES = "scores"  # the scores are 0 or 1, so predictions already
    BEST = "best"  # at the threshold that is best for this metric
    BEST_OF_ONE = "best of one metric"  # at the threshold that is best for one metric, here or for all
    BUDGET = "budget"  # at the threshold of a budget of false alarms
    RULE = "rule"  # at the threshold of any other rule


class Fact(NamedTuple):
    """Why there is no value: a code for programs, and a text for people."""

    reason: Reason
    text: str


COUNTS = ("ignored_points", "ignored_events", "missing_scores", "dropped", "idle_spans", "fit_scores", "late_events")


def counts_of(scoring: "Scoring | Prediction") -> Row:
    """Count what was left out, what rules were fitted on and events after gaps, where there are such."""
    setting = scoring.setting
    found = {
        "ignored_points": setting.skipped - setting.unscored,
        "ignored_events": setting.unseen_events,
        "missing_scores": 0 if setting.unknown is None else int(np.count_nonzero(setting.unknown)),
        "dropped": setting.dropped,
        "idle_spans": setting.idle_spans,
        "fit_scores": 0 if setting.fit is None else len(setting.fit),
        "late_events": events_after_gaps(scoring),
    }
    return {name: count for name, count in found.items() if count}


def points_of(data: "Scoring | Prediction") -> Row:
    """Count all points, and the judged points and events that are anomalous."""
    return {"points": data.n, "anomalous_points": data.events.points, "events": len(data.events)}


def rule_facts(rule: Any) -> Row:
    """Return what rows say of a threshold rule, of which only `decide` and `literal` are certain to be there."""
    return {
        "rule": str(rule),
        "uses_labels": getattr(rule, "uses_labels", False),
        "origin": getattr(rule, "origin", Origin.RULE),
    }


def events_after_gaps(data: "Scoring | Prediction") -> int:
    """Count the events whose first point comes right after a gap in the times."""
    times = data.setting.times
    return 0 if times is None else int(np.count_nonzero(times.after_gap[data.events.starts]))


class OddAlarms(NamedTuple):
    """A rule that raised no alarm at all, or alarmed everywhere."""

    rule: str
    origin: Origin
    everywhere: bool
    threshold: float | None


def odd_alarms(rows: Sequence[Row], n: int) -> OddAlarms | None:
    """Find the first rule of the rows on one series of n points whose alarms say little.

    A metric's own best threshold is its own choice, and predictions that were given are the caller's. Without
    anomalies, no alarm is right at the best threshold of one metric.
    """
    for row in rows:
        origin, points = row["origin"], row["alarmed_points"]
        if points is None or origin in (Origin.BEST, Origin.GIVEN):
            continue
        if points == n or (points == 0 and origin != Origin.BEST_OF_ONE):
            return OddAlarms(row["rule"], origin, points == n, row["threshold"])
    return None


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Put together the values of each key, in the order in which they come."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def finite_mean(values: Iterable[float]) -> float:
    """Compute the mean of the values that are finite, NaN where there is none."""
    known = [value for value in values if math.isfinite(value)]
    return math.fsum(known) / len(known) if known else math.nan
