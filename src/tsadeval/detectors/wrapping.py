"""wrap: the models that people have already, as detectors with `fit(X)` and `score(X)`.

How each kind is asked, so that higher is always more anomalous:

- scikit-learn's outlier detectors, and pipelines that end in one: minus `score_samples`, or minus `decision_function`;
- PyOD: `decision_function`;
- aeon: `fit` where the detector is fitted, then `predict`, which gives a score for each point;
- sktime: `fit`, then `transform_scores` or `predict_scores`, as far as the detector has it;
- torch modules that reconstruct: the squared error of a batch of windows against what the module gives for it;
- functions: `f(X_train, X_test)` or `f(X)`, which give a score for each row.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from tsadeval.core.align import align
from tsadeval.core.estimators import anomaly_scores, family_of
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.detectors.series import Floats, as_series
from tsadeval.detectors.windows import batch_size, windows
from tsadeval.errors import InvalidInputError, InvalidParameterError

__all__ = ["WrappedDetector", "wrap", "wrappable"]

How = Literal["last", "mean", "max"]
_CHECKS: dict[str, Check] = {"window": Number(1, integer=True, none=True), "how": OneOf(("last", "mean", "max"))}


class WrappedDetector:
    """A model of another package, or a function, as a detector; made by `wrap`."""

    def __init__(self, model: Any, window: int | None = None, how: How = "last") -> None:
        check_parameters("wrap", _CHECKS, {"window": window, "how": how})
        self.model = model
        self.window = window
        self.how = how

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """The arguments that it was made with."""
        return {"model": self.model, "window": self.window, "how": self.how}

    def fit(self, X: Any, y: Any = None) -> WrappedDetector:
        """Fit a copy of the model on the training part, or on its windows; the model itself is left as it was."""
        series = as_series(X, self.window or 1)
        kind = _kind(self.model)
        learn = _LEARN.get(kind, _fitted)
        self.fitted_ = learn(copy.deepcopy(self.model), self._rows(series, kind))
        self.n_features_in_ = series.shape[1]
        return self

    def score(self, X: Any) -> Floats:
        """One finite score for every point of X, higher for more anomalous."""
        if not hasattr(self, "fitted_"):
            raise InvalidParameterError(f"{self!r} has not seen a training part: call fit(X_train) first")
        series = as_series(X, self.window or 1)
        if series.shape[1] != self.n_features_in_:
            raise InvalidInputError(
                f"X has {series.shape[1]} columns, but {self!r} was fitted on {self.n_features_in_}; "
                "they must be the same ones"
            )
        kind = _kind(self.model)
        ask: Any = _ASK.get(kind, anomaly_scores)
        rows = self._rows(series, kind)
        given = np.asarray(ask(self.fitted_, rows), dtype=np.float64)
        if given.shape == (len(rows), 1):
            given = given[:, 0]
        if given.shape != (len(rows),):
            raise InvalidInputError(f"{self!r} must give {len(rows)} scores, one for each row, but gave {given.shape}")
        if not np.isfinite(given).all():
            raise InvalidInputError(
                f"{self!r} gave a score that is not finite for row {int(np.argmin(np.isfinite(given)))}"
            )
        if self.window is None:
            return given
        scores = align(given, len(series), window=self.window, how=self.how)
        scores[np.isnan(scores)] = given[0]  # "last": the points before the end of the first window
        return scores

    def _rows(self, series: Floats, kind: str) -> Floats:
        if self.window is None:
            return series
        cut = windows(series, self.window)
        return cut if kind == "torch" else cut.reshape(len(cut), -1)

    def __repr__(self) -> str:
        shown = " ".join(repr(self.model).split()) if hasattr(self.model, "get_params") else _name(self.model)
        if self.window is None:
            return f"wrap({shown})"
        return f"wrap({shown}, window={self.window}, how={self.how!r})"


def wrap(model: Any, window: int | None = None, how: How = "last") -> WrappedDetector:
    """A model of another package, or a function, as a detector: `fit(X)`, then `score(X)`, one score per point.

    Parameters
    ----------
    model : object or function
        An outlier detector of scikit-learn or a Pipeline that ends in one, a model of PyOD, an anomaly detector of
        aeon or sktime, a torch module that reconstructs its input (trained already), or a function
        `(X_train, X_test) -> scores` or `X -> scores`, with high scores for anomalies.
    window : int, optional
        Give the model windows of so many points: each a row of window times columns values (for torch, an array of
        windows by points by columns). By default its rows are the points.
    how : {"last", "mean", "max"}, default="last"
        A point gets the score of the window that ends there, or the mean or maximum over the windows that contain it.
        With "last", the points before the end of the first window get the score of this one.

    Returns
    -------
    WrappedDetector
        Its `fit` works on a copy of the model.

    Examples
    --------
    >>> import numpy as np
    >>> import tsadeval as te
    >>> from sklearn.neighbors import LocalOutlierFactor
    >>> wave = np.sin(np.arange(200) / 3)
    >>> test = wave.copy()
    >>> test[100] += 2
    >>> detector = te.detectors.wrap(LocalOutlierFactor(novelty=True), window=10, how="mean")
    >>> bool(90 < detector.fit(wave).score(test).argmax() < 110)
    True
    """
    if isinstance(model, WrappedDetector):
        raise InvalidParameterError("model is wrapped already: wrap the model inside it")
    _kind(model)
    return WrappedDetector(model, window, how)


def wrappable(model: Any) -> bool:
    """Would `wrap` take it?"""
    try:
        _kind(model)
    except InvalidParameterError:
        return False
    return True


def _kind(model: Any) -> str:
    family = family_of(model)
    if family in ("sklearn", "pyod", "aeon", "sktime"):
        return family
    bases = {f"{base.__module__}.{base.__name__}" for base in type(model).__mro__}
    if "torch.nn.modules.module.Module" in bases:
        return "torch"
    if not isinstance(model, type) and callable(model) and not hasattr(model, "fit"):
        return "function"
    hint = (
        "; LocalOutlierFactor scores new points with novelty=True only" if _name(model) == "LocalOutlierFactor" else ""
    )
    raise InvalidParameterError(
        "model must be an outlier detector of scikit-learn (or a Pipeline that ends in one), PyOD, aeon or sktime, a "
        f"torch module, or a function (X_train, X_test) -> scores, but is {' '.join(repr(model).split())[:80]}{hint}"
    )


def _name(model: Any) -> str:
    return str(getattr(model, "__name__", type(model).__name__))


def _fitted(model: Any, rows: Floats) -> Any:
    model.fit(rows)
    return model


def _remembered(model: Any, rows: Floats) -> Any:
    """A function of both parts gets the training part when it scores."""
    return (model, rows if _arguments(model) == 2 else None)


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
            f"{_name(function)} must take X, or X_train and X_test, but needs {needed} positional arguments"
        )
    return needed


def _aeon_input(model: Any, rows: Floats) -> Any:
    return rows[:, 0] if rows.shape[1] == 1 else rows


def _fitted_aeon(model: Any, rows: Floats) -> Any:
    model.fit(_aeon_input(model, rows), axis=0)
    return model


def _asked_aeon(model: Any, rows: Floats) -> Any:
    return model.predict(_aeon_input(model, rows), axis=0)


def _frame(rows: Floats) -> Any:
    import pandas as pd

    return pd.DataFrame(rows)


def _fitted_sktime(model: Any, rows: Floats) -> Any:
    model.fit(_frame(rows))
    return model


def _asked_sktime(model: Any, rows: Floats) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return np.asarray(model.transform_scores(_frame(rows)))


def _kept(model: Any, rows: Floats) -> Any:
    return model.eval()


def _asked_torch(model: Any, rows: Floats) -> Any:
    import torch

    weights = next(iter(model.parameters()), torch.zeros(0))
    found = np.empty(len(rows))
    step = batch_size(*(rows.shape[1:] if rows.ndim == 3 else (1, rows.shape[1])))
    with torch.no_grad():
        for at in range(0, len(rows), step):
            batch = torch.as_tensor(np.ascontiguousarray(rows[at : at + step])).to(weights)
            error = (model(batch) - batch).square()
            found[at : at + step] = error.flatten(1).mean(1).cpu().numpy()
    return found


_LEARN: dict[str, Callable[[Any, Floats], Any]] = {
    "function": _remembered,
    "aeon": _fitted_aeon,
    "sktime": _fitted_sktime,
    "torch": _kept,
}
_ASK: dict[str, Callable[[Any, Floats], Any]] = {
    "function": _asked_function,
    "aeon": _asked_aeon,
    "sktime": _asked_sktime,
    "torch": _asked_torch,
}
