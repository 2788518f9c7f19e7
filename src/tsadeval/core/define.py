"""Decorators that define a metric from a function of checked data, `f(data, *, options) -> float`.

They give it the public signature `f(y_true, y_score, *, options) -> float` (or `y_pred`): options checked, inputs
checked, and `UndefinedError` turned into NaN with a warning. So no metric repeats any of that, and `evaluate` can hand
the same checked data to many of them.
"""

from __future__ import annotations

import inspect
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.metric import METRICS, PRF, Kind, Metric, missing
from tsadeval.core.names import did_you_mean
from tsadeval.core.parameters import Check, check_parameters
from tsadeval.errors import warn_undefined

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
S = TypeVar("S")


class OnScores(Protocol[P, R]):
    """A public function of labels and scores; `compute` is the same of data that was checked already."""

    __name__: str
    checks: dict[str, Check]

    @property
    def compute(self) -> Callable[Concatenate[Scoring, P], R]:
        """The function of checked data."""

    def __call__(self, y_true: Any, y_score: Any, *args: P.args, **kwargs: P.kwargs) -> R:
        """Check the inputs, then judge them."""


class OnPredictions(Protocol[P, R]):
    """A public function of labels and binary predictions; `compute` is the same of data that was checked already."""

    __name__: str
    checks: dict[str, Check]

    @property
    def compute(self) -> Callable[Concatenate[Prediction, P], R]:
        """The function of checked data."""

    def __call__(self, y_true: Any, y_pred: Any, *args: P.args, **kwargs: P.kwargs) -> R:
        """Check the inputs, then judge them."""


def _public(
    inner: Callable[..., Any],
    data_type: Any,
    checks: dict[str, Check],
    run: Callable[[Any, dict[str, Any]], Any],
    undefined: str | None = None,
) -> Callable[..., Any]:
    """Make the public face of a function of checked data: same options, two arrays in front, also in the docstring.

    `run` computes it on data and options that were checked.
    """
    second = "y_score" if data_type is Scoring else "y_pred"
    known = inner.__kwdefaults__ or {}

    def call(y_true: Any, other: Any, options: dict[str, Any]) -> Any:
        if options:
            _refuse_unknown(inner.__name__, second, known, options)
            check_parameters(inner.__name__, checks, options)
        return run(data_type.of(y_true, other), options)

    @wraps(inner)
    def on_scores(y_true: Any, y_score: Any, **options: Any) -> Any:
        return call(y_true, y_score, options)

    @wraps(inner)
    def on_predictions(y_true: Any, y_pred: Any, **options: Any) -> Any:
        return call(y_true, y_pred, options)

    face: Any = on_scores if second == "y_score" else on_predictions
    signature = inspect.signature(inner)
    arrays = [inspect.Parameter(a, inspect.Parameter.POSITIONAL_OR_KEYWORD) for a in ("y_true", second)]
    face.__signature__ = signature.replace(parameters=[*arrays, *list(signature.parameters.values())[1:]])
    face.__doc__ = _documented(inspect.cleandoc(inner.__doc__ or ""), second, signature.parameters, undefined)
    face.compute, face.checks = inner, checks
    return cast(Callable[..., Any], face)


# What is the same for every metric stands here, not in each docstring.
_ARGUMENTS = {
    "y_true": "array-like of shape (n,)\n    0 for normal and 1 for anomalous points.",
    "y_score": "array-like of shape (n,)\n    Finite scores, higher for more anomalous.",
    "y_pred": "array-like of shape (n,)\n    1 where an alarm is raised, else 0.",
}
_BETA = "beta : float, default=1.0\n    Recall counts beta times as much as precision.\n"


def _documented(doc: str, second: str, options: Iterable[str], undefined: str | None) -> str:
    """Return the docstring with the arguments and the return value that are documented here, unless it has its own."""
    parameters, returns = "Parameters\n----------\n", "Returns\n-------\n"
    arrays = "".join(f"{name} : {_ARGUMENTS[name]}\n" for name in ("y_true", second))
    if returns not in doc and undefined is not None:
        words = "The value." if undefined == "never" else f"NaN, with an `UndefinedMetricWarning`, where {undefined}."
        wrapped = textwrap.fill(words, 110, initial_indent="    ", subsequent_indent="    ")
        doc = _before(doc, "Examples\n", f"{returns}float\n{wrapped}\n\n")
    if parameters not in doc:
        doc = _before(doc, returns if returns in doc else "Examples\n", f"{parameters}\n")
    if "beta" in options and "beta : float" not in doc:
        end = doc.index("\n\n", doc.index(parameters)) + 1
        doc = doc[:end] + _BETA + doc[end:]
    return doc if f"{parameters}y_true" in doc else doc.replace(parameters, parameters + arrays, 1)


def _before(doc: str, section: str, text: str) -> str:
    at = doc.find(f"\n{section}") + 1
    return doc[:at] + text + doc[at:] if at else f"{doc}\n\n{text.rstrip()}"


def _refuse_unknown(name: str, second: str, known: Mapping[str, Any], options: dict[str, Any]) -> None:
    for option in options:
        if option not in known:
            hint = did_you_mean(option, list(known))
            if option == "threshold" and second == "y_pred":
                hint = "pass y_score > threshold as y_pred, or use te.evaluate(y_true, y_score, ..., threshold=...)"
            raise TypeError(f"{name}() has no option {option!r}: {hint}")


def takes_scores(
    checks: Mapping[str, Check] | None = None,
) -> Callable[[Callable[Concatenate[Scoring, P], S]], OnScores[P, S]]:
    """Give a function of a checked `Scoring` its public face; whatever it returns is returned."""
    return _taking(Scoring, checks)


def takes_predictions(
    checks: Mapping[str, Check] | None = None,
) -> Callable[[Callable[Concatenate[Prediction, P], S]], OnPredictions[P, S]]:
    """Give a function of a checked `Prediction` its public face; whatever it returns is returned."""
    return _taking(Prediction, checks)


def _taking(data_type: Any, checks: Mapping[str, Check] | None) -> Callable[[Any], Any]:
    def decorate(inner: Callable[..., Any]) -> Callable[..., Any]:
        def run(data: Any, options: dict[str, Any]) -> Any:
            found = inner(data, **options)
            if isinstance(found, PRF):
                _warn_of_parts(inner.__name__, found, data)
            return found

        return _public(inner, data_type, dict(checks or {}), run)

    return decorate


def _warn_of_parts(name: str, found: PRF, data: Prediction) -> None:
    """One warning, at the caller's line, about all parts that are NaN."""
    parts = [part for part, value in found._asdict().items() if math.isnan(value)]
    if parts:
        fact = missing(frozenset({"anomaly", "alarm"}), data)
        warn_undefined(f"{name} ({', '.join(parts)})", fact.text if fact else "it has no meaning on this input")


def score_metric(
    **description: Any,
) -> Callable[[Callable[Concatenate[Scoring, P], float]], OnScores[P, float]]:
    """Register a function of a checked `Scoring` as a metric; see `Metric` for the description."""
    return _registering("scores", Scoring, description)


def prediction_metric(
    **description: Any,
) -> Callable[[Callable[Concatenate[Prediction, P], float]], OnPredictions[P, float]]:
    """Register a function of a checked `Prediction` as a metric; see `Metric` for the description."""
    return _registering("predictions", Prediction, description)


def _registering(kind: Kind, data_type: Any, description: dict[str, Any]) -> Callable[[Any], Any]:
    checks: dict[str, Check] = description.setdefault("checks", {})
    for words in ("properties", "needs", "sets"):  # records are hashed
        description[words] = frozenset(description.get(words, ()))
    if kind == "predictions":  # what a metric of alarms computes, it nearly always computes from runs
        description.setdefault("stream", "points" if "exchangeable" in description["properties"] else "runs")

    def decorate(inner: Callable[..., float]) -> Callable[..., float]:
        name = inner.__name__
        known = inner.__kwdefaults__ or {}
        if set(known) != set(checks):
            raise TypeError(f"{name}: options {sorted(known)} but checks for {sorted(checks)}")

        def run(data: Any, options: dict[str, Any]) -> float:
            value, fact = record.value_of(data, options)
            if fact is not None:
                warn_undefined(name, fact.text)
            return value

        face = _public(inner, data_type, checks, run, description["undefined"])
        record = Metric(name=name, kind=kind, function=face, compute=inner, parameters=known, **description)
        METRICS.add(name, record)
        return face

    return decorate
