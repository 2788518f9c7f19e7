"""Rules on top of a rule: alarms that last until scores have fallen, and alarms that must last to count.

Both look back only, so a detector in operation can follow them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tsadeval.core.events import Events
from tsadeval.core.facts import Origin
from tsadeval.core.inputs import Prediction, Scoring, label_runs
from tsadeval.core.metric import Decision, Metric, Rule
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.errors import InvalidParameterError
from tsadeval.thresholds.rules import RULES, ThresholdRule, parse_rule


class _OnTop:
    """What a rule on top of another takes over from it."""

    _rule: Rule

    @property
    def literal(self) -> bool:
        """True if the rule is applied to scores of 0 and 1 as well."""
        return self._rule.literal

    @property
    def fitted(self) -> bool:
        """True if the threshold is found from other scores where these are given."""
        return getattr(self._rule, "fitted", False)

    @property
    def uses_labels(self) -> bool:
        """True if the rule looks at the labels."""
        return getattr(self._rule, "uses_labels", False)

    def _on_top(self, found: Decision, alarms: Prediction) -> Decision:
        """Return what the rule decided, with other alarms."""
        return found._replace(prediction=alarms, rule=str(self), origin=Origin.RULE)


@dataclass(frozen=True)
class hysteresis(_OnTop):
    """An alarm starts where the rule raises one, and lasts until the score falls to the release threshold.

    `release` is a rule of one threshold, or a number; it may not be above the threshold of the rule.

    >>> str(hysteresis("sigma(4)", "sigma(2)"))
    'hysteresis(sigma(4), sigma(2))'
    """

    of_rules: ClassVar[int] = 2  # so many of its first arguments are rules

    rule: Any
    release: Any
    _rule: Rule = field(init=False, repr=False, compare=False)
    _release: ThresholdRule = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _set_rules(self, "rule", "release")
        if not isinstance(self._release, ThresholdRule):
            raise InvalidParameterError(f"hysteresis: release must be a rule of one threshold, but is {self._release}")

    def decide(self, data: Scoring, metric: Metric) -> Decision:
        """Prolong the alarms of the rule."""
        start = self._rule.decide(data, metric)
        stop = self._release.decide(data, metric).threshold
        if start.threshold is not None and stop is not None and stop > start.threshold:
            raise InvalidParameterError(
                f"{self}: the release threshold {stop:.6g} is above the threshold {start.threshold:.6g}"
            )
        assert stop is not None  # `release` is a rule of one threshold
        alarms, above = start.prediction.predicted, data.above(float(stop)).predicted
        first = np.searchsorted(alarms.stops, above.starts, side="right")
        begins = np.maximum(np.append(alarms.starts, data.n)[first], above.starts)
        held = begins < above.stops
        return self._on_top(start, _alarms(data, begins[held], above.stops[held]))

    def __str__(self) -> str:
        return f"hysteresis({self.rule}, {self.release})"


@dataclass(frozen=True)
class sustained(_OnTop):
    """An alarm is raised once the rule has raised one at so many points in a row, at the last of them.

    >>> str(sustained("fixed(3)", 5))
    'sustained(fixed(3), 5)'
    """

    of_rules: ClassVar[int] = 1

    rule: Any
    points: int
    _rule: Rule = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_parameters("sustained", {"points": Number(1, integer=True)}, {"points": self.points})
        _set_rules(self, "rule")

    def decide(self, data: Scoring, metric: Metric) -> Decision:
        """Raise the alarms of the rule, each from its point number `points` on."""
        found = self._rule.decide(data, metric)
        runs = found.prediction.predicted
        begins = runs.starts + min(self.points, data.n + 1) - 1
        long = begins < runs.stops
        return self._on_top(found, _alarms(data, begins[long], runs.stops[long]))

    def __str__(self) -> str:
        return f"sustained({self.rule}, {self.points})"


def _set_rules(owner: Any, *names: str) -> None:
    """Set the rules that texts or numbers name, and the texts of the rules."""
    for name in names:
        given = getattr(owner, name)
        rule = parse_rule(given)
        object.__setattr__(owner, f"_{name}", rule)
        object.__setattr__(owner, name, given if isinstance(given, str) else str(rule))


def _alarms(data: Scoring, starts: Any, stops: Any) -> Prediction:
    mask = Events(starts, stops, data.n).mask()
    if data.setting.ignored is not None:
        mask = mask & ~data.setting.ignored
    return Prediction(data.truth, label_runs(mask, "y_pred"), data.setting)


RULES.add("hysteresis", hysteresis)
RULES.add("sustained", sustained)
