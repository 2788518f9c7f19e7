"""Threshold rules from the scores alone, rules on top of a rule, and the parser of rules.

A rule is any object with `decide(scoring, metric)` and `literal` (see `core.metric.Rule`). The simplest way to one of
your own is to derive from `ThresholdRule` and write `threshold_of`.

`hysteresis` and `sustained` look back only, so a detector in operation can follow them.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np

from tsadeval.core.facts import Origin
from tsadeval.core.inputs import Events, Scoring
from tsadeval.core.metric import Decision, Metric, Rule
from tsadeval.core.names import Registry, import_object, split_names
from tsadeval.core.parameters import Check, Number, check_parameters
from tsadeval.core.results import all_digits
from tsadeval.errors import InvalidParameterError

RULES: Registry[Callable[..., Rule]] = Registry("threshold rule", "tsadeval.thresholds")


class ThresholdRule:
    """A rule that finds one threshold from the scores, the same for every metric; alarms are scores above it.

    A subclass is a frozen dataclass with a method `threshold_of`.
    """

    literal: ClassVar[bool] = False
    exchangeable: ClassVar[bool] = False  # is the threshold the same, whatever the order of the scores?
    fitted: ClassVar[bool] = True  # does it take its threshold from `data.reference`, hence from fit= where given?
    uses_labels: ClassVar[bool] = False  # does it look at the labels?
    checks: ClassVar[dict[str, Check]] = {}  # of its options

    def __post_init__(self) -> None:
        check_parameters(type(self).__name__, self.checks, {name: getattr(self, name) for name in self.checks})

    def threshold_of(self, data: Scoring) -> float:
        """Find the threshold for these scores."""
        raise NotImplementedError

    def decide(self, data: Scoring, metric: Metric) -> Decision:
        """Raise the same alarms for every metric; points that are not judged have no say in the threshold."""
        threshold = data.shared(("threshold of", str(self)), lambda: data.in_own_type(self.threshold_of(data.kept)))
        return Decision(data.above(threshold), str(self), threshold, uses_labels=self.uses_labels)

    def __str__(self) -> str:
        rule: Any = self  # every rule is a dataclass, but this base of them is not
        return f"{type(self).__name__}({', '.join(repr(getattr(self, one.name)) for one in fields(rule))})"


@dataclass(frozen=True)
class fixed(ThresholdRule):
    """Alarm where the score is above a given value.

    >>> str(fixed(0.5))
    'fixed(0.5)'
    """

    literal: ClassVar[bool] = True
    exchangeable: ClassVar[bool] = True
    checks: ClassVar[dict[str, Check]] = {"value": Number()}
    value: float

    def threshold_of(self, data: Scoring) -> float:
        """Return the given value."""
        return self.value


@dataclass(frozen=True)
class strict_quantile(ThresholdRule):
    """Alarm where the score is strictly above a quantile of all scores, as in the published benchmark of CCE.

    Where more than a share 1 - p of the scores are tied at the top, nothing is above that quantile, so there is no
    alarm at all: a perfect detector with scores of 0 and 1 can get an F1 of 0. Use `quantile` instead.

    >>> str(strict_quantile(0.95))
    'strict_quantile(0.95)'
    """

    literal: ClassVar[bool] = True
    exchangeable: ClassVar[bool] = True
    checks: ClassVar[dict[str, Check]] = {"p": Number(0, 1)}
    p: float

    def threshold_of(self, data: Scoring) -> float:
        """Return NumPy's linear quantile."""
        if data.setting.fit is not None or data.setting.ignored is not None:
            return float(np.quantile(data.reference, self.p))
        # A sort that is there already, or will be needed, beats a selection of its own.
        return float(np.quantile(data.__dict__.get("sorted", data.scores), self.p))


@dataclass(frozen=True)
class quantile(strict_quantile):
    """Alarm where the score is above a quantile of all scores, or equal to it where it is the largest score.

    >>> str(quantile(0.95))
    'quantile(0.95)'
    """

    literal: ClassVar[bool] = False

    def threshold_of(self, data: Scoring) -> float:
        """Return NumPy's linear quantile; where it is that of the scores themselves, just below the largest at most."""
        if data.setting.fit is not None:
            return super().threshold_of(data)
        if data.two_valued:
            return data.low  # the larger of two values is an alarm, whatever its share
        found = super().threshold_of(data)
        return found if data.in_own_type(found) < data.high else data.just_below(data.high)


class first_alarms:
    """Alarm strictly above the first of several quantiles that leaves any alarm: the rule of some published values.

    >>> str(first_alarms(0.95, 0.75))
    'first_alarms(0.95, 0.75)'
    """

    literal = True

    def __init__(self, *quantiles: float) -> None:
        if not quantiles:
            raise InvalidParameterError("first_alarms: give at least one quantile, as in first_alarms(0.95, 0.75)")
        for p in quantiles:
            check_parameters("first_alarms", {"p": Number(0, 1)}, {"p": p})
        self.quantiles = quantiles

    def decide(self, data: Scoring, metric: Metric) -> Decision:
        """Raise the same alarms for every metric; the decision names the quantile that was taken."""
        for p in self.quantiles:
            decision = strict_quantile(p).decide(data, metric)
            if decision.prediction.alarms.has(1):
                break
        return decision

    def __str__(self) -> str:
        return f"first_alarms({', '.join(map(repr, self.quantiles))})"


def parse_rule(rule: Any) -> Rule:
    """Find the rule that a text names ("quantile(0.95)", "best", "best(f1_pa)"); a number is a fixed threshold.

    "module:Class(options)" names a rule of the user's own.

    >>> parse_rule("fixed(0.3)"), parse_rule(2.5)
    (fixed(value=0.3), fixed(value=2.5))
    """
    if type(rule) is not bool and isinstance(rule, Real):
        return fixed(float(rule))
    if not isinstance(rule, str):
        if callable(getattr(rule, "decide", None)) and not isinstance(rule, type):
            return cast(Rule, rule)
        raise InvalidParameterError(
            f"threshold must be a number or a rule such as 'best' or 'quantile(0.95)', but is {rule!r}"
        )
    try:
        return fixed(float(rule))
    except ValueError:
        name, bracket, inside = rule.strip().partition("(")
    make: Any = import_object(name, "threshold rule", ["decide"]) if ":" in name else RULES[name]
    if bracket and not inside.endswith(")"):
        raise InvalidParameterError(f"cannot read {rule!r}: a bracket is not closed")
    positional, options = _arguments(inside[:-1], getattr(make, "of_rules", 0))
    try:
        found: Rule = make(*positional, **options)
    except TypeError:
        names = ", ".join(one.name for one in fields(make) if one.init)
        raise InvalidParameterError(f"cannot read {rule!r}: write {name}({names})") from None
    return found


def _arguments(inside: str, of_rules: int) -> tuple[list[Any], dict[str, Any]]:
    """Read what stands in the brackets of a rule: other rules first, as texts, then numbers, and texts like 2/week."""
    words = split_names(inside)
    positional: list[Any] = words[:of_rules]
    options = {}
    for word in words[of_rules:]:
        name, sign, value = word.partition("=")
        if sign and name.strip().isidentifier():
            options[name.strip()] = _value(value.strip())
        else:
            positional.append(_value(word))
    return positional, options


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


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

    def _on_top(self, found: Decision, data: Scoring, alarms: Events) -> Decision:
        """Return what the rule decided, with other alarms."""
        return found._replace(prediction=data.alarms(alarms.mask()), rule=str(self), origin=Origin.RULE)


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
                f"{self}: the release threshold {all_digits(stop)} is above the threshold {all_digits(start.threshold)}"
            )
        assert stop is not None  # `release` is a rule of one threshold
        alarms, above = start.prediction.predicted, data.above(float(stop)).predicted
        first = np.searchsorted(alarms.stops, above.starts, side="right")
        begins = np.maximum(np.append(alarms.starts, data.n)[first], above.starts)
        held = begins < above.stops
        return self._on_top(start, data, Events(begins[held], above.stops[held], data.n))

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
        return self._on_top(found, data, Events(begins[long], runs.stops[long], data.n))

    def __str__(self) -> str:
        return f"sustained({self.rule}, {self.points})"


def _set_rules(owner: Any, *names: str) -> None:
    """Set the rules that texts or numbers name, and the texts of the rules."""
    for name in names:
        given = getattr(owner, name)
        rule = parse_rule(given)
        object.__setattr__(owner, f"_{name}", rule)
        object.__setattr__(owner, name, given if isinstance(given, str) else str(rule))


def lowest_level(rule: Rule) -> float:
    """Return the lowest threshold of a rule that a stream can follow: a score below it ends all that was before.

    >>> lowest_level(parse_rule("sustained(hysteresis(4, 2), 3)"))
    2.0
    """
    if isinstance(rule, fixed):
        return float(rule.value)
    if isinstance(rule, hysteresis):
        return min(lowest_level(rule._rule), lowest_level(rule._release))
    if isinstance(rule, sustained):
        return lowest_level(rule._rule)
    raise InvalidParameterError(
        f"threshold must be a number in a stream, or hysteresis and sustained on top of numbers, but is {rule}: find "
        "the number on other scores first, with te.choose_threshold or the threshold that te.evaluate shows"
    )


for _rule in (fixed, quantile, strict_quantile, first_alarms, hysteresis, sustained):
    RULES.add(_rule.__name__, _rule)
