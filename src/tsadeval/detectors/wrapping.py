"""`wrap`: turn a model of another package, a function or a network into a detector."""

import copy
from typing import Any, Literal, Self

import numpy as np

from tsadeval.core.arrays import as_scores, numbers_with_gaps
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.detectors.base import TAIL, OutlierDetector
from tsadeval.detectors.estimators import KINDS, forecast_errors, is_frame, kind_of, name_of, rows_for
from tsadeval.detectors.series import Floats, as_series, windows
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.incidents.align import align

How = Literal["last", "mean", "max"]
Output = Literal["reconstruction", "forecast"]
_CHECKS: dict[str, Check] = {
    "window": Number(1, integer=True, none=True),
    "how": OneOf(("last", "mean", "max")),
    "output": OneOf(("reconstruction", "forecast")),
}


class WrappedDetector(OutlierDetector):
    """A model of another package, or a function, as a detector; made by `wrap`.

    It is an estimator of scikit-learn: `set_params(model__n_bins=20, window=10)` and `clone` work, and it goes into
    pipelines and searches.
    """

    def __init__(
        self, model: Any, window: int | None = None, how: How = "last", output: Output = "reconstruction"
    ) -> None:
        self.model = model
        self.window = window
        self.how = how
        self.output = output

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a copy of the model on the training part, or on its windows; the model itself is left as it was."""
        kind = self._check()
        series = as_series(X, self.span(1))
        # Steps of a pipeline of scikit-learn may choose columns of a frame by name.
        framed = kind == "sklearn" and self.window is None and is_frame(X)
        rows = X if framed else self._rows(series, kind)
        self.fitted_ = KINDS[kind].learn(copy.deepcopy(self.model), rows)
        tail = -max(TAIL, self.span(1))
        self._remember(series.shape[1], X[tail:] if framed else series[tail:].copy())
        return self

    def score(self, X: Any, y: Any = None) -> Floats:
        """One finite score for every point of X, higher for more anomalous."""
        series = self._read(X)
        kind = kind_of(self.model)
        if self.output == "forecast":
            given = forecast_errors(self.fitted_, series, int(self.window or 1))
        else:
            rows = rows_for(self.fitted_, X, series) if self.window is None else self._rows(series, kind)
            given = self._numbers(KINDS[kind].ask(self.fitted_, rows))
            given = given[:, 0] if given.shape == (len(rows), 1) else given
            if given.shape != (len(rows),):
                raise InvalidInputError(
                    f"{self!r} must give {len(rows)} scores, one for each row, but gave {given.shape}"
                )
        if not np.isfinite(given).all():
            raise InvalidInputError(
                f"{self!r} gave a score that is not finite for row {int(np.argmin(np.isfinite(given)))}"
            )
        if self.window is None or self.output == "forecast":
            return given
        scores = align(given, len(series), window=self.window, how=self.how)
        scores[np.isnan(scores)] = given[0]  # "last": the points before the end of the first window
        return scores

    def _numbers(self, given: Any) -> Floats:
        """As 64-bit floats, if they are numbers that these hold."""
        try:
            array = numbers_with_gaps(given, "scores", "a score for each row")
            if array.size and array.ndim:  # other shapes are refused for what they are
                array = as_scores(array.ravel(), "scores").reshape(array.shape)
        except InvalidInputError as error:
            raise InvalidInputError(f"{self!r}: {error}") from None
        return array if array.dtype.kind == "O" else np.asarray(array, np.float64)

    def _check(self) -> str:
        check_parameters("wrap", _CHECKS, {"window": self.window, "how": self.how, "output": self.output})
        kind = kind_of(self.model)
        if self.output == "forecast" and (kind != "torch" or self.window is None):
            raise InvalidParameterError('output="forecast" is for torch modules, and needs a window')
        return kind

    def span(self, columns: int) -> int:
        """One window, and the point that is forecast."""
        return (self.window or 1) + (self.output == "forecast")

    def _rows(self, series: Floats, kind: str) -> Floats:
        if self.window is None:
            return series
        cut = windows(series, self.window)
        return cut if kind == "torch" else cut.reshape(len(cut), -1)

    def __repr__(self) -> str:
        parts = [" ".join(repr(self.model).split()) if hasattr(self.model, "get_params") else name_of(self.model)]
        if self.window is not None:
            parts += [f"window={self.window}"]
            parts += [f"how={self.how!r}" if self.output == "reconstruction" else f"output={self.output!r}"]
        return f"wrap({', '.join(parts)})"


def wrap(
    model: Any, window: int | None = None, how: How = "last", output: Output = "reconstruction"
) -> WrappedDetector:
    """Make a detector of a model of another package, or of a function: `fit(X)`, then `score(X)`, one score per point.

    Parameters
    ----------
    model : object or function
        An outlier detector of scikit-learn or a Pipeline that ends in one, a model of PyOD, an anomaly detector of
        aeon or sktime, a torch module that reconstructs or forecasts (trained already), or a function
        `(X_train, X_test) -> scores` or `X -> scores`, with high scores for anomalies.
    window : int, optional
        Give the model windows of so many points: each a row of window times columns values (for torch, an array of
        windows by points by columns). By default its rows are the points.
    how : {"last", "mean", "max"}, default="last"
        A point gets the score of the window that ends there, or the mean or maximum over the windows that contain it.
        With "last", the points before the end of the first window get the score of this one.
    output : {"reconstruction", "forecast"}, default="reconstruction"
        Of a torch module: it gives back its input, and a window's score is the mean squared error; or it gives the
        next point of each window, (windows, columns), or the next points, (windows, steps, columns), and a point's
        score is the squared error of its forecasts. The first points, which no window forecasts, get the first score.

    Returns
    -------
    WrappedDetector
        An estimator of scikit-learn, whose `fit` works on a copy of the model. Its `score` is higher for more anomalous
        points; `score_samples`, `decision_function` and `predict` follow scikit-learn's convention (lower).

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
    made = WrappedDetector(model, window, how, output)
    made._check()
    return made


def wrappable(model: Any) -> bool:
    """Return True if `wrap` accepts the model."""
    try:
        kind_of(model)
    except InvalidParameterError:
        return False
    return True
