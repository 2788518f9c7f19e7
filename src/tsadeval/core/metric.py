"""Metric: a frozen record that describes one metric and computes it.

The decorators of `core.define` make one from a function of checked data. A user's function becomes a `Metric` as well
(`Metric.from_function`), and `Metric.run` is the one way in which any of them is evaluated on a scoring.
"""

import inspect
import math
import time
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from tsadeval.core.facts import Fact, Origin, Reason, counts_of
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.names import Registry, format_call, parse_call
from tsadeval.core.parameters import Check, check_parameters, recall_weight, refuse_unknown
from tsadeval.core.results import Row
from tsadeval.errors import InvalidParameterError, UndefinedError, describe_error, hint, without_exit

Kind = Literal["scores", "predictions"]
Kept = Literal["points", "runs", "moments", "order", "zones"]
D = TypeVar("D", Scoring, Prediction)

# What a record may claim of its metric at its default options. The common tests check on random data that each claim
# holds, and that those not made do not.
PROPERTIES = {
    "affine": "shifting scores, or scaling them by a positive number, changes nothing",
    "monotone": "a strictly increasing transform of the scores changes nothing",
    "mirror": "reversing time changes nothing",
    "symmetric": "exchanging the classes and negating the scores changes nothing",
    "exchangeable": "the order of the points does not matter",
    "separable": "a normal point without alarm, put in front or behind, changes nothing",
}


class PRF(NamedTuple):
    """Precision, recall and their F of a family that has all three."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, precision: float, recall: float, beta: float) -> Self:
        """Return the two with their F."""
        return cls(precision, recall, f_beta(precision, recall, beta))


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """Compute F of precision and recall. A detector that finds nothing gets 0, even where precision is undefined."""
    if recall == 0 or (precision == 0 and not math.isnan(recall)):
        return 0.0
    weight = recall_weight(beta)
    return (1 + weight) * precision * recall / (weight * precision + recall)


BINARY = "scores are 0 or 1"  # the rule of scores that are predictions already


class Decision(NamedTuple):
    """What a rule decided: the predictions, the rule as text, and the threshold where there is a single one.

    `undefined` says why the rule has no threshold for this scoring: metrics at it have no value then.
    """

    prediction: Prediction
    rule: str
    threshold: float | None = None
    undefined: Fact | None = None
    uses_labels: bool = False
    origin: Origin = Origin.RULE


class Rule(Protocol):
    """How the scores of a series become alarms for a metric. Any object with these two members is a rule.

    `literal` rules are applied to scores of 0 and 1 as well; for all others such scores are predictions already, unless
    the rule has an attribute `fitted` that is true and takes its threshold from other scores (`fit=`). A rule that
    looks at the labels says so by an attribute `uses_labels` that is true, and in its decisions.
    """

    @property
    def literal(self) -> bool:
        """True if the rule also applies to scores that are predictions already."""

    def decide(self, data: Scoring, metric: "Metric") -> Decision:
        """Return the alarms for this metric."""


class Outcome(NamedTuple):
    """The value of a metric on one scoring, or why there is none, and the alarms it was computed on.

    `alarms` counts runs of alarms, `alarmed_points` their points; both and `origin` are None for metrics of scores.
    """

    value: float
    status: Literal["ok", "undefined", "error", "missing"]
    message: str | None = None
    rule: str | None = None
    threshold: float | None = None
    alarms: int | None = None
    alarmed_points: int | None = None
    seconds: float = math.nan
    uses_labels: bool = False
    origin: Origin | None = None
    reason: Reason | None = None


@dataclass(frozen=True, kw_only=True)
class Metric:
    """All there is to know about one metric.

    `bound` holds options fixed by `with_options`, so that a record prints as `cce(tau=0.4)` and
    `parse_metric` reads it back: the same text is a table column, a command-line argument and a cache key.
    """

    name: str
    label: str
    kind: Kind
    range: tuple[float, float] = (0.0, 1.0)
    summary: str
    undefined: str
    references: tuple[str, ...]
    function: Callable[..., Any] = field(repr=False, compare=False)
    compute: Callable[..., float] = field(repr=False, compare=False)
    checks: Mapping[str, Check] = field(repr=False, compare=False)
    parameters: Mapping[str, Any] = field(repr=False, compare=False)
    properties: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()
    direction: Literal["higher", "lower"] = "higher"
    # For metrics of predictions: (data, options) -> v, where `score >= v` gives the best value over all distinct
    # scores v; of several best the largest. None where only a grid of thresholds is searched.
    best: Callable[..., float] | None = field(default=None, repr=False, compare=False)
    # Its own best threshold says nothing (alarm everywhere, or nowhere): the rule `best` takes that of point-wise F1.
    # A function of the options where it depends on them.
    trivial_best: bool | Callable[[Mapping[str, Any]], bool] = False
    # (data, options) -> the expected value once the scores are shuffled, where there is a formula for it.
    chance: Callable[..., float] | None = field(default=None, repr=False, compare=False)
    # (scorings or predictions of several series, options) -> their value together, with the events of each apart.
    pool: Callable[..., float] | None = field(default=None, repr=False, compare=False)
    # What must be kept of a series that is read once, in batches, for the exact value: counts of points, runs of labels
    # and alarms, moments of runs, the order of all scores, or this order and the scores near events (see
    # `evaluation.states`). None: all of its points.
    stream: Kept | None = None
    # Stores reuse values of the same version only: the revision of the library's code, or a key of a user's function.
    version: str = "r1"
    library: bool = True
    bound: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def from_function(
        cls, function: Callable[[Any, Any], float], name: str = "", direction: Literal["higher", "lower"] = "higher"
    ) -> Self:
        """Make a metric of a user's function of labels and scores; of alarms if its second argument is `y_pred`."""
        inner = getattr(function, "func", function)  # of a partial
        name = name or getattr(inner, "__name__", "") or type(function).__name__
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):  # some builtins do not say
            parameters = []
        kind: Kind = "predictions" if [one.name for one in parameters[1:2]] == ["y_pred"] else "scores"
        _refuse_required(parameters, name)

        def compute(data: Scoring | Prediction) -> float:
            # Copies: the function may change its arrays, and ours are the caller's own memory.
            second = data.scores.copy() if isinstance(data, Scoring) else data.alarms.mask.astype("int64")
            with without_exit(f"metric {name}"):
                value = function(data.truth.mask.astype("int64"), second)
            try:
                return float(value)
            except (TypeError, ValueError):
                raise InvalidParameterError(f"metric {name} must return one number, but returned {value!r}") from None

        return cls(
            name=name,
            label=name.rpartition(":")[2],
            kind=kind,
            range=(-math.inf, math.inf),
            summary=(inspect.getdoc(function) or "").partition("\n")[0],
            undefined="",
            references=(),
            function=function,
            compute=compute,
            checks={},
            parameters={},
            direction=direction,
            library=False,
        )

    @property
    def options(self) -> dict[str, Any]:
        """All options: the defaults, and those that are bound."""
        return {**self.parameters, **dict(self.bound)}

    @property
    def sign(self) -> float:
        """What values are multiplied by so that higher is better: 1 or -1."""
        return 1.0 if self.direction == "higher" else -1.0

    @property
    def best_is_trivial(self) -> bool:
        """True if the metric's own best threshold is trivial with the current options."""
        return self.trivial_best(self.options) if callable(self.trivial_best) else self.trivial_best

    def with_options(self, **options: Any) -> Self:
        """Return the same metric with some options fixed."""
        options = {name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
        refuse_unknown(self.name, self.parameters, options)
        check_parameters(self.name, dict(self.checks), options)
        merged = {**dict(self.bound), **options}
        return replace(self, bound=tuple((k, merged[k]) for k in self.parameters if k in merged))

    def __str__(self) -> str:
        return format_call(self.name, self.bound)

    def __reduce__(self) -> Any:
        # A record of the library is named by its text; its functions need not travel to other processes.
        if self.library:
            return parse_metric, (str(self),)
        return _restored, (self.function, self.name, self.direction, self.version)

    def __call__(self, y_true: Any, y_other: Any) -> float:
        """Return the metric of labels and scores (or predictions), with the bound options."""
        return float(self.function(y_true, y_other, **dict(self.bound)))

    def value_of(
        self, data: Scoring | Prediction, options: Mapping[str, Any] | None = None
    ) -> tuple[float, Fact | None]:
        """Return the value on checked data of this metric's kind, and why it is NaN where it is undefined.

        `options` are checked already, and taken instead of those that are bound.
        """
        lacking = missing(self.needs, data)
        if lacking is not None:
            return math.nan, lacking
        try:
            return float(self.compute(data, **(dict(self.bound) if options is None else options))), None
        except UndefinedError as error:
            return math.nan, Fact(Reason(error.reason), str(error))

    def decide(self, scoring: Scoring, rule: Rule) -> Decision | None:
        """Return the alarms on which this metric is computed; None for a metric of scores."""
        if self.kind == "scores":
            return None
        if scoring.given is not None:
            return Decision(Prediction(scoring.truth, scoring.given, scoring.setting), "given", origin=Origin.GIVEN)
        # A threshold that is given, or found on other scores, holds: counts may well be 0 and 1 in a quiet series.
        elsewhere = scoring.setting.fit is not None and getattr(rule, "fitted", False)
        if scoring.zero_one is not None and not (rule.literal or elsewhere):
            return Decision(scoring.zero_one, BINARY, origin=Origin.SCORES)
        with without_exit(f"threshold rule {rule}"):
            return rule.decide(scoring, self)

    def judges(self, data: D) -> D:
        """Return the data as this metric sees it, with or without the points that are not judged.

        Metrics to which the order of points does not matter leave them out. For others of predictions they are normal
        points without alarm, which part the events on either side of them; time goes on.
        """
        return data.kept if "exchangeable" in self.properties else data

    @property
    def leaves_out(self) -> bool:
        """True if the metric can leave out points that are not judged."""
        return self.kind == "predictions" or "exchangeable" in self.properties or self.pool is not None

    def _run_on_pieces(self, scoring: Scoring) -> Outcome:
        """Run a metric of scores on the stretches of points that are judged, if it can put them together."""
        if self.pool is None or not self.leaves_out:
            others = ", ".join(sorted(m.name for m in METRICS.values() if "recommended" in m.sets and m.leaves_out))
            skipped = hint("NaN and missing='skip', it", "empty, with --missing skip it")
            text = (
                f"it cannot leave out the points of {hint('ignore=', '--ignore')}, as {others} can; where their scores "
                f"are {skipped} is that of the other points put together"
            )
            return _outcome(math.nan, Fact(Reason.CANNOT_IGNORE, text))
        lacking = missing(self.needs, scoring.kept)
        if lacking is not None:
            return _outcome(math.nan, lacking)
        start = time.perf_counter()
        return Outcome(float(self.pool(scoring.pieces, **self.options)), "ok", seconds=time.perf_counter() - start)

    def attempt(self, scoring: Scoring, rule: Rule, *, fresh: bool = False) -> Outcome:
        """Return the outcome on one scoring of several: what the metric or the rule raises is its status."""
        try:
            return self.run(scoring, rule, fresh=fresh)
        except Exception as error:
            return Outcome(math.nan, "error", describe_error(error))

    def run(self, scoring: Scoring, rule: Rule, *, fresh: bool = False) -> Outcome:
        """Return the outcome on one scoring; a user's function may raise whatever it raises.

        With `fresh`, inputs are checked and scanned again inside the time that is measured, so that `seconds` is that
        of a public call of the metric, whatever other metrics have computed on this scoring before.
        """
        if scoring.setting.ignored is not None and self.kind == "scores" and "exchangeable" not in self.properties:
            if self.leaves_out or not scoring.setting.joined:
                return self._run_on_pieces(scoring)
            scoring = scoring.kept
        # A rule sees the whole series, so that its alarms are the same for all metrics, whatever these leave out.
        decision = self.decide(scoring, rule)
        data: Scoring | Prediction = self.judges(scoring) if decision is None else self.judges(decision.prediction)
        if decision is not None and decision.undefined is not None:
            outcome = _outcome(math.nan, missing(self.needs, data) or decision.undefined)
        else:
            start = time.perf_counter()
            value, lacking = self.value_of(data.scanned_again() if fresh else data)
            outcome = _outcome(value, lacking, time.perf_counter() - start)
        if decision is None:
            return outcome
        outcome = outcome._replace(rule=decision.rule, uses_labels=decision.uses_labels, origin=decision.origin)
        if decision.undefined is not None:
            return outcome
        found = decision.prediction.predicted
        return outcome._replace(threshold=decision.threshold, alarms=len(found), alarmed_points=found.points)


def row_of(metric: Metric, outcome: Outcome, scoring: Scoring) -> Row:
    """Make the row of a metric's outcome on a scoring, with counts of what was left out where there is any."""
    return {"metric": str(metric), **outcome._asdict(), **counts_of(scoring)}


def missing_row(metric: Metric) -> Row:
    """Make the row of a metric where a detector has no scores."""
    outcome = Outcome(math.nan, "missing", "no scores", reason=Reason.NO_SCORES)
    return {"metric": str(metric), **outcome._asdict()}


def _outcome(value: float, lacking: Fact | None, seconds: float = math.nan) -> Outcome:
    if lacking is None:
        return Outcome(value, "ok" if math.isfinite(value) else "undefined", seconds=seconds)
    return Outcome(math.nan, "undefined", lacking.text, seconds=seconds, reason=lacking.reason)


def _refuse_required(parameters: list[inspect.Parameter], name: str) -> None:
    """Refuse a function that needs more than labels and scores."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    asked = [p.name for p in parameters[2:] if p.default is inspect.Parameter.empty and p.kind not in variable]
    if asked:
        raise InvalidParameterError(
            f"metric {name} is called with (y_true, y_score) alone, but needs {', '.join(asked)} as well: give "
            f"defaults in its definition, or pass functools.partial({name.rpartition(':')[2]}, {asked[0]}=...)"
        )


def _restored(function: Callable[..., float], name: str, direction: Any, version: str) -> Metric:
    return replace(Metric.from_function(function, name, direction), version=version)


# What a metric may need of its data, and what to say where that is missing.
_NEEDS: dict[str, tuple[Callable[[Any], bool], Fact]] = {
    "anomaly": (lambda data: data.truth.has(1), Fact(Reason.NO_ANOMALY, "y_true has no anomalous point (no 1)")),
    "normal": (lambda data: data.truth.has(0), Fact(Reason.NO_NORMAL, "y_true has no normal point (no 0)")),
    "alarm": (lambda data: data.alarms.has(1), Fact(Reason.NO_ALARM, "y_pred has no alarm (no 1)")),
}


def missing(needs: Set[str], data: Scoring | Prediction) -> Fact | None:
    """Return what the data lacks of a metric's needs; None where it lacks nothing."""
    return next((fact for need, (met, fact) in _NEEDS.items() if need in needs and not met(data)), None)


# Where a metric with just these needs is undefined.
UNDEFINED = {
    frozenset(): "never",
    frozenset({"anomaly"}): "y_true has no anomalous point",
    frozenset({"alarm"}): "y_pred has no alarm",
    frozenset({"anomaly", "alarm"}): "y_true has no anomalous point, or y_pred no alarm",
    frozenset({"anomaly", "normal"}): "y_true lacks one of the two classes",
}

METRICS: Registry[Metric] = Registry("metric", "tsadeval.metrics")


def parse_metric(text: str) -> Metric:
    """Return the record that a text like `cce` or `vus_pr(window=100)` names."""
    name, positional, options = parse_call(text)
    metric = METRICS[_name_of_label(name)]
    if positional:
        raise InvalidParameterError(f"cannot read {text!r}: options of {name} need their names, option=value")
    return metric.with_options(**options)


def _name_of_label(text: str) -> str:
    """Return the name of the metric with this label, however written ("VUS-PR", "vus pr"); else the text itself."""
    if text in METRICS:
        return text
    letters = _letters(text)
    return next((m.name for m in METRICS.values() if letters in (_letters(m.label), _letters(m.name))), text)


def _letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum() or letter == "%")


def metric_labels(names: Iterable[str]) -> dict[str, str]:
    """Short labels for tables and figures; options are shown only where the same metric is there twice.

    The exception are units: "per" and "unit" are always shown.

    >>> list(metric_labels(["cce", "cce(tau=0.4, constrained=True)", "vus_roc(n_thresholds=100)"]).values())
    ['CCE', 'CCE(tau=0.4, constrained)', 'VUS-ROC']
    >>> list(metric_labels(["false_alarms(per='week')", "detection_delay(unit='min')"]).values())
    ['False alarms per week', 'Delay (min)']
    """
    names = list(names)
    bare = [name.partition("(")[0] for name in names]
    found = {}
    for name, head in zip(names, bare, strict=True):
        label = METRICS[head].label if head in METRICS else head.rpartition(":")[2]
        options = parse_call(name).options if name.endswith(")") else {}
        unit = f" per {options.pop('per')}" if "per" in options else ""
        unit += f" ({options.pop('unit')})" if "unit" in options else ""
        found[name] = label + unit + (_short_options(options) if bare.count(head) > 1 else "")
    return found


def _short_options(options: dict[str, Any]) -> str:
    """Return the options of a metric where words say enough: "(pointwise)" for "(uncertainty='pointwise')"."""
    words = [
        value if isinstance(value, str) else option if value is True else f"{option}={value!r}"
        for option, value in options.items()
    ]
    return f"({', '.join(words)})" if words else ""
