"""ForecastDetector: what the detectors have in common that forecast the last point of a window from those before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tsadeval.core.parameters import Number
from tsadeval.detectors.records import option
from tsadeval.detectors.series import Floats
from tsadeval.detectors.windowed import WindowedDetector

# One column: as for all windowed detectors. The weights of an autoregression grow with the square of the columns, so
# windows of several columns are short.
ONE_COLUMN, SEVERAL_COLUMNS = 100, 10


@dataclass(kw_only=True, eq=False, repr=False)
class ForecastDetector(WindowedDetector):
    """A detector whose score is the squared error of a linear forecast, mean over columns.

    A subclass writes `learn` and `forecast`. Points before the end of the first window get the score of its last point.
    """

    window: int | None = option(
        None,
        Number(2, integer=True, none=True),
        "points a window, of which the last is forecast; None: 100 for one column, 10 for several",
    )

    def forecast(self, past: Floats) -> Floats:
        """The next points (windows, columns) after the past ones (windows, window - 1, columns)."""
        raise NotImplementedError

    def span(self, columns: int) -> int:
        """One window."""
        if self.window is not None:
            return self.window
        return ONE_COLUMN if columns == 1 else SEVERAL_COLUMNS

    def judge(self, rows: Floats) -> Floats:
        """The errors of the last points."""
        points = self.points(rows)
        errors: Floats = np.square(self.forecast(points[:, :-1]) - points[:, -1]).mean(axis=1, keepdims=True)
        return errors

    def points(self, rows: Floats) -> Floats:
        """Rows as windows of points by columns."""
        return rows.reshape(len(rows), -1, self.columns_)

    def _fit(self, series: Floats) -> None:
        self.columns_ = series.shape[1]
        super()._fit(series)
