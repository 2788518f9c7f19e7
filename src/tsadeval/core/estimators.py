"""Which way up an estimator's scores are: the conventions of scikit-learn, PyOD, aeon, sktime and tsadeval.

scikit-learn's outlier detectors give low scores to outliers, all others high ones. An object is recognised by what it
is, never by a guess: what is not in this file is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.errors import InvalidParameterError

__all__ = ["anomaly_scores", "family_of"]


def family_of(estimator: Any) -> str | None:
    """The convention that an estimator follows: "tsadeval", "pyod", "aeon", "sktime", "sklearn", "classifier" or None.

    >>> family_of(3) is None
    True
    """
    if isinstance(estimator, type):
        return None
    final = _final(estimator)
    if _comes_from(final, "tsadeval") and callable(getattr(final, "score", None)):
        return "tsadeval"
    if callable(getattr(final, "decision_function", None)) and (
        _comes_from(final, "pyod") or hasattr(final, "decision_scores_")
    ):
        return "pyod"
    if _is_upside_down(final):
        return None
    for package in ("aeon", "sktime"):
        if _comes_from(final, package) and callable(getattr(final, "predict", None)):
            return package
    if _is_outlier_detector(final) and any(_has(final, name) for name in ("decision_function", "score_samples")):
        return "sklearn"
    # A method may be hidden until the estimator is fitted, so classifiers are asked for it when they score.
    return "classifier" if callable(getattr(final, "predict_proba", None)) else None


def anomaly_scores(estimator: Any, X: Any) -> NDArray[Any]:
    """The scores of a fitted estimator, one for each row of X, higher for more anomalous."""
    family = family_of(estimator)
    if family not in _ASK:
        refuse_known(estimator)
        raise InvalidParameterError(
            f"cannot tell how {_shown(estimator)} scores: it is no outlier detector of scikit-learn or PyOD, no "
            "detector of tsadeval, and has no predict_proba; give it score_samples and derive it from "
            "sklearn.base.OutlierMixin (low for outliers)"
        )
    return np.asarray(_ASK[family](estimator, X))


def refuse_known(model: Any) -> None:
    """Refuse what is known not to give scores of new points that are higher for anomalies, with what to do."""
    if isinstance(model, type):
        raise InvalidParameterError(f"{model.__name__} is a class: pass an object, {model.__name__}(...)")
    final = _final(model)
    if type(final).__name__ == "LocalOutlierFactor":
        raise InvalidParameterError(f"{_shown(final)}: LocalOutlierFactor scores new points with novelty=True only")
    if _is_upside_down(final):
        raise InvalidParameterError(
            f"{_shown(final)} of aeon gives low scores to anomalies (seen in aeon 1.6), so it would be judged upside "
            "down: use te.detectors.wrap(sklearn.svm.OneClassSVM(...), window=...)"
        )


def _is_upside_down(model: Any) -> bool:
    return type(model).__name__ == "OneClassSVM" and _comes_from(model, "aeon")


def _of_tsadeval(estimator: Any, X: Any) -> Any:
    # A search's `score` is that of its scoring, so whatever holds a detector is asked as scikit-learn's are.
    return estimator.score(X) if _comes_from(estimator, "tsadeval") else -estimator.score_samples(X)


def _of_pyod(estimator: Any, X: Any) -> Any:
    return estimator.decision_function(X)


def _of_sklearn(estimator: Any, X: Any) -> Any:
    # The two differ by a constant offset, which no metric of a ranking sees; score_samples has none that depends on
    # the `contamination` of the training part.
    ask = estimator.score_samples if _has(estimator, "score_samples") else estimator.decision_function
    return -np.asarray(ask(X))


def _of_classifier(estimator: Any, X: Any) -> Any:
    given = np.asarray(estimator.predict_proba(X))
    classes = getattr(estimator, "classes_", np.arange(given.shape[-1]))
    if given.ndim != 2 or given.shape[1] != 2 or list(classes) != [0, 1]:
        raise InvalidParameterError(
            f"predict_proba of {_shown(estimator)} must be of the two classes 0 and 1, but its classes are "
            f"{np.asarray(classes).tolist()!r}; fit it on labels that have both"
        )
    return given[:, 1]


_ASK: dict[str | None, Callable[[Any, Any], Any]] = {
    "tsadeval": _of_tsadeval,
    "pyod": _of_pyod,
    "sklearn": _of_sklearn,
    "classifier": _of_classifier,
}


def _final(estimator: Any) -> Any:
    """The step of a pipeline, or the estimator of a search, that gives the scores."""
    for _ in range(10):  # searches of pipelines of searches
        steps = getattr(estimator, "steps", None)
        if isinstance(steps, list) and steps and isinstance(steps[-1], tuple):
            estimator = steps[-1][-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            break
    return estimator


def _comes_from(thing: Any, package: str) -> bool:
    """Is it of a class of that package, or derived from one? Without an import of the package."""
    return any(name.partition(".")[0] == package for name in _modules(thing))


def _modules(thing: Any) -> Iterator[str]:
    return (str(getattr(base, "__module__", "")) for base in type(thing).__mro__)


def _is_outlier_detector(thing: Any) -> bool:
    if getattr(thing, "_estimator_type", None) == "outlier_detector":
        return True
    return any(base.__module__ == "sklearn.base" and base.__name__ == "OutlierMixin" for base in type(thing).__mro__)


def _has(thing: Any, name: str) -> bool:
    # LocalOutlierFactor hides its methods, with an AttributeError, unless novelty=True.
    return callable(getattr(thing, name, None))


def _shown(thing: Any) -> str:
    return " ".join(repr(thing).split())[:80]
