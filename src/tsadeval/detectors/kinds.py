"""How models of other packages are fitted and asked for scores, so that higher is always more anomalous.

- scikit-learn's outlier detectors, and pipelines that end in one: minus `score_samples`, or minus `decision_function`;
- PyOD: `decision_function`;
- aeon: `fit` where the detector is fitted, then `predict`, which gives a score for each point;
- sktime: `fit`, then `transform_scores` where the detector has it, else its labels, 1 for anomalous and 0 for others;
- torch modules: the squared error of what they reconstruct or forecast;
- functions: `f(X_train, X_test)` or `f(X)`, which give a score for each row.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tsadeval.core.estimators import anomaly_scores, family_of, refuse_known
from tsadeval.detectors.series import Floats, as_series
from tsadeval.detectors.windows import batch_size, windows
from tsadeval.errors import InvalidInputError, InvalidParameterError

__all__ = ["KINDS", "Kind", "fitted_scores", "forecast_errors", "is_frame", "kind_of", "name_of", "rows_for"]


class Kind(NamedTuple):
    """`learn(model, rows)` gives the fitted model, `ask(fitted, rows)` a score for each row."""

    learn: Callable[[Any, Floats], Any]
    ask: Callable[[Any, Floats], Any]


def kind_of(model: Any) -> str:
    """The name of the kind, of `KINDS`, that a model is of."""
    family = family_of(model)
    if family is not None and family in KINDS:
        return family
    if "torch.nn.modules.module.Module" in {f"{base.__module__}.{base.__name__}" for base in type(model).__mro__}:
        return "torch"
    if not isinstance(model, type) and callable(model) and not hasattr(model, "fit"):
        return "function"
    refuse_known(model)
    raise InvalidParameterError(
        "model must be an outlier detector of scikit-learn (or a Pipeline that ends in one), PyOD, aeon or sktime, a "
        f"torch module, or a function (X_train, X_test) -> scores, but is {' '.join(repr(model).split())[:80]}"
    )


def fitted_scores(model: Any, X: Any) -> Any:
    """The scores of a fitted estimator of any package that is recognised, one for each row of X."""
    kind = KINDS.get(family_of(model) or "")
    return np.ravel(anomaly_scores(model, X) if kind is None else kind.ask(model, rows_for(model, X, as_series(X))))


def is_frame(X: Any) -> bool:
    """Is it a data frame, whose columns a model may know by name?"""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def rows_for(model: Any, X: Any, series: Floats) -> Any:
    """What a fitted model is asked about: the frame itself if it was fitted on one, else the checked numbers."""
    return X if is_frame(X) and hasattr(model, "feature_names_in_") else series


def name_of(model: Any) -> str:
    """The name of a function, or of a model's class."""
    return str(getattr(model, "__name__", type(model).__name__))


def _fitted(model: Any, rows: Floats) -> Any:
    model.fit(rows)
    return model


def _remembered(model: Any, rows: Floats) -> Any:
    """A function of both parts gets the training part when it scores."""
    return model, rows if _arguments(model) == 2 else None


def _asked_function(fitted: Any, rows: Floats) -> Any:
    function, train = fitted
    return function(rows) if train is None else function(train, rows)


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


def _fitted_aeon(model: Any, rows: Floats) -> Any:
    model.fit(_of_aeon(rows), axis=0)
    return model


def _asked_aeon(model: Any, rows: Floats) -> Any:
    return model.predict(_of_aeon(rows), axis=0)


def _of_aeon(rows: Floats) -> Floats:
    return rows[:, 0] if rows.shape[1] == 1 else rows


def _fitted_sktime(model: Any, rows: Floats) -> Any:
    task = model.get_tag("task", "anomaly_detection", raise_error=False)
    if task != "anomaly_detection":
        raise InvalidParameterError(f"{name_of(model)} of sktime is for {task}: its labels are no anomaly scores")
    model.fit(_frame(rows))
    return model


def _asked_sktime(model: Any, rows: Floats) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            return np.asarray(model.transform_scores(_frame(rows)))
        except NotImplementedError:  # most of its detectors give alarms only
            return (np.asarray(model.transform(_frame(rows))) != 0).astype(np.float64)


def _frame(rows: Floats) -> Any:
    import pandas as pd

    return pd.DataFrame(rows)


def _kept(model: Any, rows: Floats) -> Any:
    return model.eval()


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
    """The squared error of the forecasts of each point, mean over columns and over the windows that forecast it."""
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
    """The start, the input and the output of one batch of rows after another, on the device of the module."""
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
    "aeon": Kind(_fitted_aeon, _asked_aeon),
    "sktime": Kind(_fitted_sktime, _asked_sktime),
    "torch": Kind(_kept, _asked_torch),
    "function": Kind(_remembered, _asked_function),
}
