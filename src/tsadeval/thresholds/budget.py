"""Threshold rule with a budget of false alarms, to compare detectors at the same number of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from tsadeval.core.durations import rate_of
from tsadeval.core.facts import Origin
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import METRICS, Decision, Metric
from tsadeval.core.parameters import Number, OneOf, check_parameters
from tsadeval.thresholds.choose import budget_of, choose
from tsadeval.thresholds.rules import RULES


@dataclass(frozen=True)
class budget:
    """Alarm above the threshold that finds most events within a budget of false alarms, as `te.choose_threshold` does.

    `max_false_alarms` is a rate, "2/week", which needs `times=`, or a number of false alarm runs in the series. Chosen
    with the labels of the series itself. Without events, and where no threshold keeps the budget, there is no alarm.

    >>> str(budget("2/week")), str(budget(5, "lowest"))
    ('budget(2/week)', 'budget(5, lowest)')
    """

    literal: ClassVar[bool] = False
    uses_labels: ClassVar[bool] = True
    origin: ClassVar[Origin] = Origin.BUDGET

    max_false_alarms: str | float
    prefer: str = "highest"

    def __post_init__(self) -> None:
        check_parameters("budget", {"prefer": OneOf(("highest", "lowest"))}, {"prefer": self.prefer})
        if isinstance(self.max_false_alarms, str):
            rate_of(self.max_false_alarms, "budget: max_false_alarms")
        else:
            check_parameters("budget", {"max_false_alarms": Number(0)}, {"max_false_alarms": self.max_false_alarms})

    def decide(self, data: Scoring, metric: Metric) -> Decision:
        """Raise the same alarms for every metric."""
        threshold = data.shared(("threshold of", str(self)), lambda: self._threshold(data))
        return Decision(data.above(threshold), str(self), threshold, None, True, self.origin)

    def _threshold(self, data: Scoring) -> float:
        allowed = budget_of(self.max_false_alarms, data)
        if not data.truth.has(1):
            return data.high
        about: dict[str, Any] = {"early": 0, "max_time_in_alarm": 0.5, "prefer": self.prefer}
        found = choose(data, METRICS["event_recall"], str(self.max_false_alarms), allowed, **about).threshold
        return data.high if math.isnan(found) else found

    def __str__(self) -> str:
        return f"budget({self.max_false_alarms}{', lowest' * (self.prefer == 'lowest')})"


RULES.add("budget", budget)
