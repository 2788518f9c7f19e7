"""Models of other packages (scikit-learn, PyOD, aeon, sktime, torch): their kind, and scores, higher for anomalies.

scikit-learn's outlier detectors give low scores to outliers, all others high ones. An object is recognised by what it
is, never by a guess: what is not in this file is refused.
"""

import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval._optional import require
from tsadeval.detectors.series import Floats, as_series, batch_size, windows
from tsadeval.errors import InvalidInputError, InvalidParameterError


def family_of(estimator: Any) -> str | None:
    """Find the family of an estimator: "tsadeval", "pyod", "aeon", "sktime", "sklearn", "classifier" or None."""
    final = _final(estimator)
    if isinstance(estimator, type) or _is_upside_down(final):
        return None
    outliers = getattr(final, "_estimator_type", None) == "outlier_detector" or "sklearn.base.OutlierMixin" in _classes(
        final
    )
    # The first that holds. A method may be hidden until the estimator is fitted, so classifiers are asked for theirs
    # when they score.
    families = {
        "tsadeval": _comes_from(final, "tsadeval") and _has(final, "score"),
        "pyod": _has(final, "decision_function") and (_comes_from(final, "pyod") or hasattr(final, "decision_scores_")),
        "aeon": _comes_from(final, "aeon") and _has(final, "predict"),
        "sktime": _comes_from(final, "sktime") and _has(final, "predict"),
        "sklearn": outliers and (_has(final, "decision_function") or _has(final, "score_samples")),
        "classifier": _has(final, "predict_proba"),
    }
    return next((family for family, holds in families.items() if holds), None)


def anomaly_scores(estimator: Any, X: Any) -> NDArray[Any]:
    """Return the scores of a fitted estimator, one for each row of X, higher for more anomalous."""
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
    # A search's `score` is that of its scoring, so whatever holds a detector is asked as scikit-learn's are.
    "tsadeval": lambda model, X: model.score(X) if _comes_from(model, "tsadeval") else -model.score_samples(X),
    "pyod": lambda estimator, X: estimator.decision_function(X),
    "sklearn": _of_sklearn,
    "classifier": _of_classifier,
}


def _final(estimator: Any) -> Any:
    """Find the step of a pipeline, or the estimator of a search, that gives the scores."""
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
    """Return True if its class comes from that package or derives from one that does; the package is not imported."""
    return any(name.partition(".")[0] == package for name in _classes(thing))


def _classes(thing: Any) -> list[str]:
    """Return the full names of its class and of those that it derives from."""
    return [f"{getattr(base, '__module__', '')}.{base.__name__}" for base in type(thing).__mro__]


def _has(thing: Any, name: str) -> bool:
    # LocalOutlierFactor hides its methods, with an AttributeError, unless novelty=True.
    return callable(getattr(thing, name, None))


def _shown(thing: Any) -> str:
    return " ".join(repr(thing).split())[:80]


# How models of other packages are fitted and asked for scores, so that higher is always more anomalous.
#
# - scikit-learn's outlier detectors, and pipelines that end in one: minus `score_samples` or `decision_function`;
# - PyOD: `decision_function`;
# - aeon: `fit` where the detector is fitted, then `predict`, which gives a score for each point;
# - sktime: `fit`, then `transform_scores` where the detector has it, else its labels, 1 for anomalous and 0 for others;
# - torch modules: the squared error of what they reconstruct or forecast;
# - functions: `f(X_train, X_test)` or `f(X)`, which give a score for each row.


class Kind(NamedTuple):
    """`learn(model, rows)` gives the fitted model, `ask(fitted, rows)` a score for each row."""

    learn: Callable[[Any, Floats], Any]
    ask: Callable[[Any, Floats], Any]


def kind_of(model: Any) -> str:
    """Find the kind, of `KINDS`, that a model is of."""
    family = family_of(model)
    if family is not None and family in KINDS:
        return family
    if "torch.nn.modules.module.Module" in _classes(model):
        return "torch"
    if not isinstance(model, type) and callable(model) and not hasattr(model, "fit"):
        return "function"
    refuse_known(model)
    raise InvalidParameterError(
        "model must be an outlier detector of scikit-learn (or a Pipeline that ends in one), PyOD, aeon or sktime, a "
        f"torch module, or a function (X_train, X_test) -> scores, but is {_shown(model)}"
    )


def fitted_scores(model: Any, X: Any) -> Any:
    """Return the scores of a fitted estimator of any package that is recognised, one for each row of X."""
    kind = KINDS.get(family_of(model) or "")
    return np.ravel(anomaly_scores(model, X) if kind is None else kind.ask(model, rows_for(model, X, as_series(X))))


def is_frame(X: Any) -> bool:
    """Return True if `X` is a data frame, whose columns a model may know by name."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def rows_for(model: Any, X: Any, series: Floats) -> Any:
    """Return what a fitted model is asked about: the frame itself if it was fitted on one, else the checked numbers."""
    return X if is_frame(X) and hasattr(model, "feature_names_in_") else series


def name_of(model: Any) -> str:
    """Return the name of a function, or of a model's class."""
    return str(getattr(model, "__name__", type(model).__name__))


def _fitted(model: Any, rows: Floats) -> Any:
    model.fit(rows)
    return model


def _arguments(function: Any) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = sum(p.kind in by_place and p.default is inspect.Parameter.empty for p in parameters)
    if needed not in (1, 2):
        raise InvalidParameterError(
            f"{name_of(function)} must take X, or X_train and X_test, but needs {needed} positional arguments"
        )
    return needed


def _for_aeon(rows: Floats) -> Floats:
    return rows[:, 0] if rows.shape[1] == 1 else rows


def _fitted_sktime(model: Any, rows: Floats) -> Any:
    task = model.get_tag("task", "anomaly_detection", raise_error=False)
    if task != "anomaly_detection":
        raise InvalidParameterError(f"{name_of(model)} of sktime is for {task}: its labels are no anomaly scores")
    model.fit(require("pandas", extra="all").DataFrame(rows))
    return model


def _asked_sktime(model: Any, rows: Floats) -> Any:
    frame = require("pandas", extra="all").DataFrame(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            return np.asarray(model.transform_scores(frame))
        except NotImplementedError:  # most of its detectors give alarms only
            return (np.asarray(model.transform(frame)) != 0).astype(np.float64)


def _asked_torch(model: Any, rows: Floats) -> Any:
    found = np.empty(len(rows))
    for at, batch, given in _batches(model, rows):
        if given.shape != batch.shape:
            raise InvalidInputError(
                f"{name_of(model)} must give back {tuple(batch.shape)} values, a reconstruction of its input, but gave "
                f'{tuple(given.shape)}; a module that gives the next points needs output="forecast"'
            )
        found[at : at + len(batch)] = (given - batch).square().flatten(1).mean(1).double().cpu().numpy()
    return found


def forecast_errors(model: Any, series: Floats, window: int) -> Floats:
    """Compute the squared error of each point's forecasts, mean over columns and the windows that forecast it."""
    columns = series.shape[1]
    sums, counts = np.zeros(len(series)), np.zeros(len(series))
    for at, batch, given in _batches(model, windows(series[:-1], window)):
        ahead = given.double().cpu().numpy()
        ahead = ahead[:, None] if ahead.ndim == 2 else ahead
        if ahead.ndim != 3 or len(ahead) != len(batch) or ahead.shape[2] != columns:
            raise InvalidInputError(
                f"{name_of(model)} must give the next points of {len(batch)} windows, (windows, columns) or (windows, "
                f"steps, columns) with {columns} columns, but gave {tuple(given.shape)}"
            )
        for step in range(ahead.shape[1]):
            target = np.arange(at, at + len(batch)) + window + step
            target = target[target < len(series)]
            sums[target] += np.square(ahead[: len(target), step] - series[target]).mean(axis=1)
            counts[target] += 1
    sums[window:] /= counts[window:]
    sums[:window] = sums[window]
    return sums


def _batches(model: Any, rows: Floats) -> Any:
    """Yield start, input and output of one batch of rows after another, on the device of the module."""
    import torch

    weights = next(iter(model.parameters()), torch.zeros(0))
    step = batch_size(*(rows.shape[1:] if rows.ndim == 3 else (1, rows.shape[1])))
    for at in range(0, len(rows), step):
        batch = torch.as_tensor(np.ascontiguousarray(rows[at : at + step])).to(weights)
        with torch.no_grad():
            given = model(batch)
        if not isinstance(given, torch.Tensor):
            raise InvalidInputError(
                f"{name_of(model)} must give a tensor, but gave {type(given).__name__}: put it into a module whose "
                "forward takes the tensor out"
            )
        yield at, batch, given


KINDS: dict[str, Kind] = {
    "sklearn": Kind(_fitted, anomaly_scores),
    "pyod": Kind(_fitted, anomaly_scores),
    "aeon": Kind(
        lambda model, rows: model.fit(_for_aeon(rows), axis=0),
        lambda model, rows: model.predict(_for_aeon(rows), axis=0),
    ),
    "sktime": Kind(_fitted_sktime, _asked_sktime),
    "torch": Kind(lambda model, rows: model.eval(), _asked_torch),
    # A function of both parts keeps the training part.
    "function": Kind(
        lambda function, rows: partial(function, rows) if _arguments(function) == 2 else function,
        lambda function, rows: function(rows),
    ),
}
