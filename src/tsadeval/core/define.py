"""Decorators that define a metric from a function of checked data, `f(data, *, options) -> float`.

They give it the public signature `f(y_true, y_score, *, options) -> float` (or `y_pred`): options checked, inputs
checked, and `UndefinedError` turned into NaN with a warning. So no metric repeats any of that, and `evaluate` can hand
the same checked data to many of them.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from tsadeval.core import docstrings
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.metric import METRICS, PRF, UNDEFINED, Kind, Metric, missing
from tsadeval.core.parameters import Check, check_parameters, options_of, refuse_unknown
from tsadeval.errors import warn_undefined

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
S = TypeVar("S")
T = TypeVar("T")
C = TypeVar("C", contravariant=True)
D = TypeVar("D", bound=Scoring | Prediction)


class Public(Protocol[C, P, R]):
    """A public function of labels and scores or predictions; `compute` is the same of data that was checked already."""

    __name__: str
    checks: dict[str, Check]

    @property
    def compute(self) -> Callable[Concatenate[C, P], R]:
        """The function of checked data."""

    def __call__(self, y_true: Any, other: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Check the inputs, then judge them."""


def _public(
    inner: Callable[..., Any],
    data_type: Any,
    checks: dict[str, Check],
    run: Callable[[Any, dict[str, Any]], Any],
    like: Callable[..., Any] | None,
    returns: str | None,
) -> Callable[..., Any]:
    """Make the public face of a function of checked data: same options, two arrays in front, also in the docstring.

    `run` computes it on data and options that were checked.
    """
    second = "y_score" if data_type is Scoring else "y_pred"
    known = options_of(like or inner)
    hints = {"threshold": _THRESHOLD} if data_type is Prediction else {}

    def call(y_true: Any, other: Any, options: dict[str, Any]) -> Any:
        if options:
            refuse_unknown(f"{inner.__name__}()", known, options, hints, TypeError)
            check_parameters(inner.__name__, checks, options)
        return run(data_type.of(y_true, other), options)

    @wraps(inner)
    def on_scores(y_true: Any, y_score: Any, **options: Any) -> Any:
        return call(y_true, y_score, options)

    @wraps(inner)
    def on_predictions(y_true: Any, y_pred: Any, **options: Any) -> Any:
        return call(y_true, y_pred, options)

    face: Any = on_scores if second == "y_score" else on_predictions
    arrays = [inspect.Parameter(a, inspect.Parameter.POSITIONAL_OR_KEYWORD) for a in ("y_true", second)]
    face.__signature__ = inspect.signature(inner).replace(parameters=[*arrays, *known.values()])
    doc = inspect.cleandoc(inner.__doc__ or "")
    source = doc if like is None or "Parameters\n---" in doc else inspect.getdoc(like) or ""
    described = {
        **_ARGUMENTS,
        "beta": docstrings.BETA,
        **docstrings.entries(docstrings.sections(source).get("Parameters", "")),
    }
    names = ["y_true", second, *known]
    face.__doc__ = docstrings.filled(doc, [described[name] for name in names if name in described], returns)
    face.compute, face.checks = inner, checks
    return cast(Callable[..., Any], face)


# What is the same for every metric stands here, not in each docstring.
_ARGUMENTS = {
    "y_true": "y_true : array-like of shape (n,)\n    0 for normal and 1 for anomalous points.",
    "y_score": "y_score : array-like of shape (n,)\n    Finite scores, higher for more anomalous.",
    "y_pred": "y_pred : array-like of shape (n,)\n    1 where an alarm is raised, else 0.",
}
# What to say of an option that metrics of predictions do not have.
_THRESHOLD = "pass y_score > threshold as y_pred, or use te.evaluate(y_true, y_score, ..., threshold=...)"
_PRF = docstrings.described(
    "PRF",
    "Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms, recall "
    "and F are NaN without anomalous points.",
)


def takes_scores(
    checks: Mapping[str, Check] | None = None, *, like: Callable[..., Any] | None = None
) -> Callable[[Callable[Concatenate[Scoring, P], S]], Public[Scoring, P, S]]:
    """Give a function of a checked `Scoring` its public face; whatever it returns is returned.

    With `like`, it has the options of another function, or of a dataclass of options, and takes them as `**options`.
    """
    return _taking(Scoring, checks, like)


def takes_predictions(
    checks: Mapping[str, Check] | None = None,
) -> Callable[[Callable[Concatenate[Prediction, P], S]], Public[Prediction, P, S]]:
    """Give a function of a checked `Prediction` its public face; whatever it returns is returned."""
    return _taking(Prediction, checks, None)


def _taking(
    data_type: Any, checks: Mapping[str, Check] | None, like: Callable[..., Any] | None
) -> Callable[[Any], Any]:
    def decorate(inner: Callable[..., Any]) -> Callable[..., Any]:
        def run(data: Any, options: dict[str, Any]) -> Any:
            found = inner(data, **options)
            parts = [part for part, value in found._asdict().items() if math.isnan(value)] if type(found) is PRF else []
            if parts:  # one warning about all of them
                fact = missing(frozenset({"anomaly", "alarm"}), data)
                reason = fact.text if fact else "it has no meaning on this input"
                warn_undefined(f"{inner.__name__} ({', '.join(parts)})", reason)
            return found

        returns = _PRF if inspect.signature(inner).return_annotation in ("PRF", PRF) else None
        return _public(inner, data_type, dict(checks or getattr(like, "checks", {})), run, like, returns)

    return decorate


def shared(compute: Callable[Concatenate[D, P], T]) -> Callable[Concatenate[D, P], T]:
    """Compute it once for all metrics of the same data (and the same further arguments)."""

    @wraps(compute)
    def once(data: D, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (compute.__module__, compute.__qualname__, args, *kwargs.items())
        return data.shared(key, lambda: compute(data, *args, **kwargs))

    return once


def score_metric(**description: Any) -> Callable[[Callable[Concatenate[Scoring, P], float]], Public[Scoring, P, float]]:
    """Register a function of a checked `Scoring` as a metric.

    See `Metric` for the description. Besides, `like` is as for `takes_scores`, and `zero` says which data get the value
    0, for the docstring. Where nothing is said about `undefined`, it follows from what the metric `needs`.
    """
    return _registering("scores", Scoring, description)


def prediction_metric(
    **description: Any,
) -> Callable[[Callable[Concatenate[Prediction, P], float]], Public[Prediction, P, float]]:
    """Register a function of a checked `Prediction` as a metric, as `score_metric` does."""
    return _registering("predictions", Prediction, description)


def _registering(kind: Kind, data_type: Any, description: dict[str, Any]) -> Callable[[Any], Any]:
    like, zero = description.pop("like", None), description.pop("zero", None)
    checks: dict[str, Check] = description.setdefault("checks", getattr(like, "checks", {}))
    for words in ("properties", "needs", "sets"):  # records are hashed
        description[words] = frozenset(description.get(words, ()))
    undefined = description.setdefault("undefined", UNDEFINED.get(description["needs"]))
    if kind == "predictions":  # what a metric of alarms computes, it nearly always computes from runs
        description.setdefault("stream", "points" if "exchangeable" in description["properties"] else "runs")
    facts = [f"0 where {zero}."] if zero else []
    if undefined != "never":
        facts.append(f"NaN, with an `UndefinedMetricWarning`, where {undefined}.")
    returns = docstrings.described("float", " ".join(facts) or "The value.")

    def decorate(inner: Callable[..., float]) -> Callable[..., float]:
        name = inner.__name__
        known = {option: parameter.default for option, parameter in options_of(like or inner).items()}
        if set(known) != set(checks):
            raise TypeError(f"{name}: options {sorted(known)} but checks for {sorted(checks)}")

        def run(data: Any, options: dict[str, Any]) -> float:
            value, fact = record.value_of(data, options)
            if fact is not None:
                warn_undefined(name, fact.text)
            return value

        face = _public(inner, data_type, checks, run, like, returns)
        record = Metric(name=name, kind=kind, function=face, compute=inner, parameters=known, **description)
        METRICS.add(name, record)
        return face

    return decorate
