"""Metric: a frozen record that describes one metric, and the decorators that make one from a function.

A metric's own code is a function of checked data, `f(data, *, options) -> float`. The decorator gives it the
public face `f(y_true, y_score, *, options) -> float` (or `y_pred`): options checked, inputs checked, and
`UndefinedError` turned into NaN with a warning. So no metric repeats any of that, and `evaluate` can hand the
same checked data to many of them.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.parameters import Check, check_parameters
from tsadeval.core.registry import Registry, did_you_mean
from tsadeval.core.text import parse_call as parse_call
from tsadeval.errors import InvalidParameterError, UndefinedError, warn_undefined

Kind = Literal["scores", "predictions"]
P = ParamSpec("P")
R = TypeVar("R", covariant=True)
S = TypeVar("S")

# What a record may claim of its metric. The common tests check each claim on random data.
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


def recall_weight(beta: float) -> float:
    """The square of beta, which is the weight of recall in F. Beyond 1e100 or below 1e-100 F has its limit anyway."""
    return float(min(max(beta, 1e-100), 1e100)) ** 2


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """The F of precision and recall. A detector that finds nothing gets 0, even where precision is undefined.

    >>> f_beta(0.5, 1.0)
    0.6666666666666666
    """
    if recall == 0 or (precision == 0 and not math.isnan(recall)):
        return 0.0
    weight = recall_weight(beta)
    return (1 + weight) * precision * recall / (weight * precision + recall)


class OnScores(Protocol[P, R]):
    """A public function of labels and scores."""

    __name__: str

    def __call__(self, y_true: Any, y_score: Any, *args: P.args, **kwargs: P.kwargs) -> R:
        """Check the inputs, then judge them."""
        ...


class OnPredictions(Protocol[P, R]):
    """A public function of labels and binary predictions."""

    __name__: str

    def __call__(self, y_true: Any, y_pred: Any, *args: P.args, **kwargs: P.kwargs) -> R:
        """Check the inputs, then judge them."""
        ...


@dataclass(frozen=True)
class Metric:
    """All there is to know about one metric.

    `bound` holds options fixed by `with_options`, so that a record prints as `cce(tau=0.4)` and
    `parse_metric` reads it back: the same text is a table column, a command-line argument and a cache key.
    """

    name: str
    label: str
    kind: Kind
    range: tuple[float, float]
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
    # For metrics of predictions: (data, options) -> (v, value), the best value over all alarms `score >= v`
    # with v a distinct score; of several best the largest v. None where only a grid of thresholds is searched.
    best: Callable[..., tuple[float, float]] | None = field(default=None, repr=False, compare=False)
    # data, options -> the expected value once the scores are shuffled, where there is a formula for it.
    chance: Callable[..., float] | None = field(default=None, repr=False, compare=False)
    bound: tuple[tuple[str, Any], ...] = ()
    # Raised with every change of the metric's values: a store does not reuse those of another revision.
    revision: int = 1

    def with_options(self, **options: Any) -> Metric:
        """The same metric with some options fixed."""
        for name in options:
            if name not in self.parameters:
                known = list(self.parameters)
                hint = did_you_mean(name, known) if known else "it has none"
                raise InvalidParameterError(f"{self.name} has no option {name!r}: {hint}")
        check_parameters(self.name, dict(self.checks), options)
        merged = {**dict(self.bound), **options}
        return replace(self, bound=tuple((k, merged[k]) for k in self.parameters if k in merged))

    def __str__(self) -> str:
        if not self.bound:
            return self.name
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.bound)})"

    def __call__(self, y_true: Any, y_other: Any) -> float:
        """The metric of labels and scores (or predictions), with the bound options."""
        return float(self.function(y_true, y_other, **dict(self.bound)))

    def outcome(self, data: Scoring | Prediction) -> tuple[float, str | None]:
        """The value on checked data, and why it is NaN where it is undefined."""
        return _outcome(self.compute, self.needs, data, dict(self.bound))


def _outcome(
    compute: Callable[..., float], needs: frozenset[str], data: Scoring | Prediction, options: dict[str, Any]
) -> tuple[float, str | None]:
    reason = missing(needs, data)
    if reason is not None:
        return math.nan, reason
    try:
        return float(compute(data, **options)), None
    except UndefinedError as reason:
        return math.nan, str(reason)


# What a metric may need of its data, and what to say where that is missing.
_NEEDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "anomaly": (lambda data: data.truth.has(1), "y_true has no anomalous point (no 1)"),
    "normal": (lambda data: data.truth.has(0), "y_true has no normal point (no 0)"),
    "alarm": (lambda data: data.alarms.has(1), "y_pred has no alarm (no 1)"),
}


def missing(needs: frozenset[str], data: Scoring | Prediction) -> str | None:
    """What the data lacks of a metric's needs, in words; None where it lacks nothing."""
    return next((words for need, (met, words) in _NEEDS.items() if need in needs and not met(data)), None)


def _parameters(function: Callable[..., Any]) -> dict[str, Any]:
    kinds = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in kinds if p.kind is inspect.Parameter.KEYWORD_ONLY}


def _public(
    inner: Callable[..., Any], second: str, call: Callable[[Any, Any, dict[str, Any]], Any]
) -> Callable[..., Any]:
    """The public face of a function of checked data: same options, same docstring, two arrays in front."""

    @wraps(inner)
    def on_scores(y_true: Any, y_score: Any, **options: Any) -> Any:
        return call(y_true, y_score, options)

    @wraps(inner)
    def on_predictions(y_true: Any, y_pred: Any, **options: Any) -> Any:
        return call(y_true, y_pred, options)

    face: Any = on_scores if second == "y_score" else on_predictions
    signature = inspect.signature(inner)
    arrays = [inspect.Parameter(a, inspect.Parameter.POSITIONAL_OR_KEYWORD) for a in ("y_true", second)]
    options = list(signature.parameters.values())[1:]
    face.__signature__ = signature.replace(parameters=[*arrays, *options])
    return cast(Callable[..., Any], face)


def _refuse_unknown(name: str, known: Mapping[str, Any], options: dict[str, Any]) -> None:
    for option in options:
        if option not in known:
            hint = did_you_mean(option, list(known)) if known else "it has none"
            raise TypeError(f"{name}() has no option {option!r}: {hint}")


def takes_scores(
    checks: Mapping[str, Check] | None = None,
) -> Callable[[Callable[Concatenate[Scoring, P], S]], OnScores[P, S]]:
    """Give a function of a checked `Scoring` its public face; whatever it returns is returned."""
    return _taking(Scoring, "y_score", dict(checks or {}))


def takes_predictions(
    checks: Mapping[str, Check] | None = None,
) -> Callable[[Callable[Concatenate[Prediction, P], S]], OnPredictions[P, S]]:
    """Give a function of a checked `Prediction` its public face; whatever it returns is returned."""
    return _taking(Prediction, "y_pred", dict(checks or {}))


def _taking(data_type: Any, second: str, checks: dict[str, Check]) -> Callable[[Any], Any]:
    def decorate(inner: Callable[..., Any]) -> Callable[..., Any]:
        known = _parameters(inner)

        def call(y_true: Any, other: Any, options: dict[str, Any]) -> Any:
            if options:
                _refuse_unknown(inner.__name__, known, options)
                check_parameters(inner.__name__, checks, options)
            data = data_type.of(y_true, other)
            found = inner(data, **options)
            if isinstance(found, PRF):
                _warn_of_parts(inner.__name__, found, data)
            return found

        face = _public(inner, second, call)
        face.compute = inner  # type: ignore[attr-defined]
        return face

    return decorate


def _warn_of_parts(name: str, found: PRF, data: Prediction) -> None:
    """One warning, at the caller's line, about all parts that are NaN."""
    parts = [part for part, value in found._asdict().items() if math.isnan(value)]
    if parts:
        reason = missing(frozenset({"anomaly", "alarm"}), data) or "it has no meaning on this input"
        warn_undefined(f"{name} ({', '.join(parts)})", reason, stacklevel=5)


@dataclass(frozen=True, kw_only=True)
class _Description:
    """The keyword arguments that the two metric decorators share."""

    label: str
    range: tuple[float, float]
    summary: str
    undefined: str
    references: tuple[str, ...]
    checks: Mapping[str, Check] = field(default_factory=dict)
    properties: frozenset[str] | set[str] = frozenset()
    needs: frozenset[str] | set[str] = frozenset()
    sets: frozenset[str] | set[str] = frozenset()
    direction: Literal["higher", "lower"] = "higher"
    best: Callable[..., float] | None = None  # data, options -> v: see `Metric.best`, which adds the value there
    chance: Callable[..., float] | None = None
    revision: int = 1


def score_metric(
    **description: Any,
) -> Callable[[Callable[Concatenate[Scoring, P], float]], OnScores[P, float]]:
    """Register a function of a checked `Scoring` as a metric; see `Metric` for the description."""
    return _registering("scores", Scoring, "y_score", _Description(**description))


def prediction_metric(
    **description: Any,
) -> Callable[[Callable[Concatenate[Prediction, P], float]], OnPredictions[P, float]]:
    """Register a function of a checked `Prediction` as a metric; see `Metric` for the description."""
    return _registering("predictions", Prediction, "y_pred", _Description(**description))


def _registering(kind: Kind, data_type: Any, second: str, about: _Description) -> Callable[[Any], Any]:
    checks = dict(about.checks)
    needs = frozenset(about.needs)

    def decorate(inner: Callable[..., float]) -> Callable[..., float]:
        name = inner.__name__
        known = _parameters(inner)
        if set(known) != set(checks):
            raise TypeError(f"{name}: options {sorted(known)} but checks for {sorted(checks)}")

        def call(y_true: Any, other: Any, options: dict[str, Any]) -> float:
            if options:
                _refuse_unknown(name, known, options)
                check_parameters(name, checks, options)
            value, reason = _outcome(inner, needs, data_type.of(y_true, other), options)
            if reason is not None:
                warn_undefined(name, reason, stacklevel=4)
            return value

        face = _public(inner, second, call)
        METRICS.add(
            name,
            Metric(
                name=name,
                label=about.label,
                kind=kind,
                range=about.range,
                summary=about.summary,
                undefined=about.undefined,
                references=about.references,
                function=face,
                compute=inner,
                checks=checks,
                parameters=known,
                properties=frozenset(about.properties),
                needs=needs,
                sets=frozenset(about.sets),
                direction=about.direction,
                best=_with_value(about.best, inner) if about.best is not None else None,
                chance=about.chance,
                revision=about.revision,
            ),
        )
        return face

    return decorate


def _with_value(best: Callable[..., float], inner: Callable[..., float]) -> Callable[..., tuple[float, float]]:
    """The best v and the metric there: by its own code, so that the two agree to the last digit."""

    def found(data: Scoring, **options: Any) -> tuple[float, float]:
        v = best(data, **options)
        return v, float(inner(data.at_least(v), **options))

    return found


def _load_families() -> None:
    import tsadeval.metrics

    tsadeval.metrics.load_families()


METRICS: Registry[Metric] = Registry("metric", _load_families)


def parse_metric(text: str) -> Metric:
    """The record that a text like `cce` or `vus_pr(window=100)` names.

    >>> str(parse_metric("cce( tau = 0.4 )"))
    'cce(tau=0.4)'
    """
    name, positional, options = parse_call(text)
    metric = METRICS[name]
    if positional:
        raise InvalidParameterError(f"cannot read {text!r}: options of {name} need their names, option=value")
    return metric.with_options(**options)
