"""Detector: the base class of all detectors, which checks inputs and options; DeepDetector: of those with a network.

This file and those of the detectors import torch nowhere at the top, so that all of them can be listed, described
and parsed without it. Their networks are in `_torch/`, together with the one training loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from tsadeval._optional import require
from tsadeval.core.parameters import Flag, Number, OneOf, check_parameters
from tsadeval.detectors.records import DetectorRecord, option
from tsadeval.detectors.series import Floats, Index, Scaler, as_series
from tsadeval.errors import InvalidInputError

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer

_base: Any = require("sklearn.base", extra="all")
D = TypeVar("D", bound="Detector")

# `predict` raises an alarm above this quantile of the scores of the last training points, at most so many.
QUANTILE, TAIL = 0.99, 2000


class OutlierDetector(_base.OutlierMixin, _base.BaseEstimator, ABC):  # type: ignore[misc]  # sklearn has no types
    """An outlier detector of scikit-learn made of `fit` and `score`, with the sign of each method as documented.

    `score` is higher for more anomalous points. scikit-learn's own methods are lower for them: `score_samples` is minus
    `score`, `decision_function` is negative for them, and `predict` gives -1.
    """

    @abstractmethod
    def score(self, X: Any, y: Any = None) -> Floats:
        """One finite score for every point of X, higher for more anomalous."""

    def score_samples(self, X: Any) -> Floats:
        """Minus `score(X)`: in scikit-learn's convention low values are anomalous."""
        return -self.score(X)

    def decision_function(self, X: Any) -> Floats:
        """`score_samples(X) - offset_`: negative where `predict` says -1."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Index:
        """-1 for anomalous points and 1 for all others, as in scikit-learn.

        The threshold is a default, the 99 % quantile of the scores of the last 2,000 training points; better ones are
        chosen from `score` by the rules of `te.evaluate`.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    @property
    def offset_(self) -> float:
        """Minus the threshold of `predict`; computed when asked for, so that `fit` costs no more."""
        if not hasattr(self, "_tail"):
            raise AttributeError("offset_ is known once the detector is fitted")
        return -float(np.quantile(self.score(self._tail), QUANTILE))

    def span(self, columns: int) -> int:
        """How many points the detector looks at together: the least that it can be fitted on and can score."""
        return int(getattr(self, "window", None) or 1)

    def _remember(self, columns: int, tail: Any) -> None:
        """Keep what `score` and `offset_` need to know of the training part."""
        self.n_features_in_, self._tail, self._fitted_span = columns, tail, self.span(columns)

    def _read(self, X: Any) -> Floats:
        """Check the series to score against the training part."""
        known = getattr(self, "n_features_in_", None)
        if known is None or self._fitted_span != self.span(known):
            what = (
                "has not seen a training part" if known is None else "looks at another number of points since its fit"
            )
            raise require("sklearn.exceptions", extra="all").NotFittedError(f"{self} {what}: call fit(X_train) first")
        series = as_series(X, self.span(known))
        given = series.shape[1]
        if given != known:
            advice = "; Reshape your data to (points, columns)" if given == 1 else ""
            raise InvalidInputError(  # in the words that scikit-learn's checks ask for
                f"X has {given} features, but {type(self).__name__} is expecting {known} features as input: "
                f"{self} was fitted on {known} columns{advice}"
            )
        return series


class Detector(OutlierDetector):
    """A detector that learns from a training part and gives every point of a series a score.

    A detector is a dataclass registered by `@detector(...)`. It writes `_fit` and `_score`, which get checked
    arrays of points by columns, and `span` where it looks at more than one point at once. By default `_fit` learns
    nothing but the scale of the columns, `scaler_`.
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
        check_parameters(self.record.name, self.record.checks, self.get_params(deep=False))
        series = as_series(X)
        columns = series.shape[1]
        self._fit(as_series(series, self.span(columns)))
        self._remember(columns, series[-max(TAIL, self.span(columns)) :].copy())
        return self

    def score(self, X: Any, y: Any = None) -> Floats:
        """One finite score for every point of X, higher for more anomalous.

        Parameters
        ----------
        X : array-like of shape (m,) or (m, columns)
            A series with the columns of the training part, finite, at least as long as one window.
        y : None
            Not used; there because scikit-learn's pipelines pass it.
        """
        scores = self._score(self._read(X))
        if not np.isfinite(scores).all():
            raise InvalidInputError(f"{self} has no finite score for some points: its training went wrong")
        return scores

    def _fit(self, series: Floats) -> None:
        self.scaler_ = Scaler.standard(series)

    @abstractmethod
    def _score(self, series: Floats) -> Floats:
        """Score every point of a checked series."""

    def __str__(self) -> str:
        return str(self.record.with_options(**self.get_params(deep=False)))


@dataclass(kw_only=True, eq=False, repr=False)
class DeepDetector(Detector):
    """A detector that trains a network on windows of the training part.

    A subclass writes `build`, `loss` and `window_scores`; the other methods have defaults that fit most networks. All
    of them get batches of scaled windows, (batch, window, columns), float32, on the device of the network.
    """

    window: int = option(100, Number(2, integer=True), "points that the network sees at once")
    epochs: int = option(50, Number(1, integer=True), "at most so many passes over the training windows")
    patience: int = option(3, Number(1, integer=True), "stop after so many epochs without a lower validation loss")
    batch_size: int = option(128, Number(1, integer=True), "batch size in windows")
    learning_rate: float = option(1e-3, Number(0, open_low=True), "Adam learning rate")
    max_windows: int | None = option(
        20_000, Number(1, integer=True, none=True), "windows an epoch, drawn anew for each; None: all"
    )
    device: str = option("auto", OneOf(("auto", "cpu", "cuda")), "where it runs; auto: on the GPU where there is one")
    random_state: int = option(
        0, Number(0, 2**32 - 1, integer=True), "seed of the weights, the order of windows, noise"
    )
    progress: bool = option(False, Flag(), "show a bar while training")

    # True if a training step is always the same sequence of operations, whatever their results. Then a GPU records
    # and replays it, which takes a fraction of the time of a small network's step; `loss` gets the epoch as a tensor.
    static_step: ClassVar[bool] = False
    weight_decay: ClassVar[float] = 0.0  # of Adam

    @abstractmethod
    def build(self, columns: int) -> nn.Module:
        """Build a new network for a series of so many columns. Runs with torch's generator seeded."""

    @abstractmethod
    def loss(self, module: Any, batch: Tensor, epoch: int, turn: int) -> Tensor:
        """Compute what the optimizer number `turn` makes smaller, a mean over the batch; epochs count from 1."""

    @abstractmethod
    def window_scores(self, module: Any, batch: Tensor) -> Tensor:
        """Scores of windows, without gradients: (batch,) for whole windows or (batch, k) for their last k points."""

    def scaler(self, series: Floats) -> Scaler:
        """How columns are scaled, from the training part."""
        return Scaler.standard(series)

    def optimizers(self, module: Any) -> tuple[Optimizer, ...]:
        """One optimizer for each loss."""
        from torch.optim import Adam

        return (Adam(module.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay),)

    def learning_rate_at(self, epoch: int) -> float:
        """Return the learning rate of an epoch (from 1)."""
        return self.learning_rate

    def train_step(self, module: Any, optimizers: tuple[Optimizer, ...], batch: Tensor, epoch: int) -> Tensor:
        """Learn from one batch: each optimizer takes one step down its own loss. Returns the first loss, detached."""
        from tsadeval.detectors._torch.training import descend

        losses = []
        for turn, optimizer in enumerate(optimizers):
            losses.append(self.loss(module, batch, epoch, turn))
            descend(optimizer, losses[-1])
        return losses[0].detach()

    def validation_loss(self, module: Any, batch: Tensor, epoch: int) -> Tensor:
        """Compute what early stopping watches, in evaluation mode and without gradients."""
        return self.loss(module, batch, epoch, 0)

    @property
    def scoring_stride(self) -> int:
        """Points from one scored window to the next: `coverage` windows lie over each point, else all there are."""
        return max(1, self.window // getattr(self, "coverage", self.window))

    def _fit(self, series: Floats) -> None:
        require("torch", extra="torch")
        from tsadeval.detectors._torch.training import train

        scaler = self.scaler(series)
        self.module_, self.history_ = train(self, scaler(series))
        self.scaler_ = scaler

    def _score(self, series: Floats) -> Floats:
        from tsadeval.detectors._torch.training import score

        return score(self, self.module_, self.scaler_(series))
