"""WindowedDetector: the base class of detectors on windows of scaled columns as feature vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tsadeval.core.parameters import Number
from tsadeval.detectors.base import Detector
from tsadeval.detectors.records import option
from tsadeval.detectors.series import Floats, Scaler, batch_size, sample, score_points, windows


@dataclass(kw_only=True, eq=False, repr=False)
class WindowedDetector(Detector):
    """A detector whose model judges windows, each as one row of window times columns values.

    A subclass writes `learn`, which gives the model, and `judge` where it is no outlier detector of scikit-learn.
    """

    window: int | None = option(
        None, Number(1, integer=True, none=True), "points a window; None: 100 for one column, 1 for several"
    )
    max_windows: int | None = option(
        10_000, Number(2, integer=True, none=True), "windows to learn from, drawn from the training part; None: all"
    )
    random_state: int = option(0, Number(0, 2**32 - 1, integer=True), "of the draw of windows and of the model")

    # A window of one column is a shape, and 100 points of it are what most benchmarks use. Windows of many columns have
    # too many values to be near or far in any useful sense, so there a point is compared by its columns.
    of_several: ClassVar[int] = 1

    def learn(self, rows: Floats) -> Any:
        """A model of the training windows."""
        raise NotImplementedError

    def judge(self, rows: Floats) -> Floats:
        """A score for each window; scikit-learn's are low for outliers."""
        return np.asarray(-self.model_.score_samples(rows))

    def span(self, columns: int) -> int:
        """One window."""
        if self.window is not None:
            return self.window
        return 100 if columns == 1 else self.of_several

    def _fit(self, series: Floats) -> None:
        scaler = Scaler.standard(series)
        all_windows = windows(scaler(series), self.span(series.shape[1]))
        chosen = all_windows[sample(len(all_windows), self.max_windows, self.random_state)]
        self.model_ = self.learn(chosen.reshape(len(chosen), -1))
        self.scaler_ = scaler

    def _score(self, series: Floats) -> Floats:
        columns = series.shape[1]
        window = self.span(columns)
        all_windows = windows(self.scaler_(series), window)
        return score_points(
            len(series),
            window,
            lambda starts: self.judge(all_windows[starts].reshape(len(starts), -1)),
            batch=batch_size(window, columns),
        )
