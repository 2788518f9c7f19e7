"""Detector: what all detectors have in common. Inputs and options are checked here, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from tsadeval._optional import require
from tsadeval.core.parameters import check_parameters
from tsadeval.detectors.series import Floats, as_series
from tsadeval.errors import InvalidInputError

if TYPE_CHECKING:
    from tsadeval.detectors.records import DetectorRecord

BaseEstimator: Any = require("sklearn.base", extra="all").BaseEstimator
D = TypeVar("D", bound="Detector")


class Detector(BaseEstimator):  # type: ignore[misc]
    """A detector that learns from a training part and gives every point of a series a score.

    A detector is a dataclass registered by `@detector(...)`. It writes `_fit` and `_score`, which get checked
    arrays of points by columns, and `span` where it looks at more than one point at once.
    """

    record: ClassVar[DetectorRecord]

    def fit(self: D, X: Any, y: Any = None) -> D:
        """Learn what is normal.

        Parameters
        ----------
        X : array-like of shape (n,) or (n, columns)
            The training part; finite. It need not be free of anomalies, but most of it should be.
        y : None
            Not used; there because scikit-learn's pipelines pass it.
        """
        check_parameters(self.record.name, dict(self.record.checks), self.get_params(deep=False))
        series = as_series(X)
        columns = series.shape[1]
        self._fit(as_series(series, self.span(columns)))
        self.n_features_in_ = columns
        return self

    def score(self, X: Any) -> Floats:
        """One finite score for every point of X, higher for more anomalous.

        Parameters
        ----------
        X : array-like of shape (m,) or (m, columns)
            A series with the columns of the training part, finite, at least as long as one window.
        """
        columns = getattr(self, "n_features_in_", None)
        if columns is None:
            raise require("sklearn.exceptions", extra="all").NotFittedError(
                f"{self} has not seen a training part: call fit(X_train) first"
            )
        series = as_series(X, self.span(columns))
        if series.shape[1] != columns:
            raise InvalidInputError(
                f"X has {series.shape[1]} columns, but {self} was fitted on {columns}; they must be the same ones"
            )
        scores = self._score(series)
        if not np.isfinite(scores).all():
            raise InvalidInputError(f"{self} has no finite score for some points: its training went wrong")
        return scores

    def span(self, columns: int) -> int:
        """How many points the detector looks at together: the least that it can be fitted on and can score."""
        return 1

    def _fit(self, series: Floats) -> None:
        raise NotImplementedError

    def _score(self, series: Floats) -> Floats:
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.record.with_options(**self.get_params(deep=False)))
