"""Matrix profile: the distance from a window to the nearest training window, by their shapes.

Yeh, Zhu, Ulanova, Begum, Ding, Dau, Silva, Mueen, Keogh: Matrix Profile I: All Pairs Similarity Joins for Time Series,
ICDM 2016. Windows are compared after each has been brought to mean 0 and deviation 1, so their shape counts and their
level and height do not; a constant window is zero everywhere. Of several columns each has a profile of its own, and the
score is their mean. The profile is that of `stumpy.stump`, computed here by products of blocks of windows.

With `join="train"` a window is compared with the training windows (an AB-join): what the training part has shown is
normal. With `join="self"` it is compared with the other windows of the scored series, except those that start within a
quarter of a window, and the training part only gives the scale: the classical discord. An anomaly that comes twice has
a near neighbour then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tsadeval.core.parameters import Number, OneOf
from tsadeval.detectors.base import Detector
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats, score_points, windows

# Windows of either side of a product; a smaller deviation than this, on the scale of the training part, is rounding.
_BLOCK, _CONSTANT = 2048, 1e-10


@detector(
    name="matrix_profile",
    title="MP",
    summary="Matrix profile: windows whose shape is unlike that of every training window.",
    scoring="z-normalised distance of a window to the nearest one, mean over columns and over covering windows",
    reference="Yeh et al., Matrix Profile I: All Pairs Similarity Joins for Time Series, ICDM 2016",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class MatrixProfile(Detector):
    """Distance of windows to their nearest neighbour in the training part, or in the series itself."""

    window: int = option(100, Number(3, integer=True), "points a window")
    join: Literal["train", "self"] = option(
        "train", OneOf(("train", "self")), "compare with the training windows, or with those of the scored series"
    )

    def _fit(self, series: Floats) -> None:
        super()._fit(series)
        self.train_ = self.scaler_(series) if self.join == "train" else None

    def _score(self, series: Floats) -> Floats:
        scaled = self.scaler_(series)
        profiles = [
            profile(scaled[:, column], self.window, None if self.train_ is None else self.train_[:, column])
            for column in range(scaled.shape[1])
        ]
        mean = np.mean(profiles, axis=0)
        return score_points(len(series), self.window, lambda starts: mean[starts], batch=len(series))


def profile(values: Floats, window: int, train: Floats | None = None) -> Floats:
    """Compute the distance of each window to the nearest one of `train`, or to the nearest other one of `values`.

    Of a series with no other window outside the quarter of a window on either side, the distances are 0.

    >>> import numpy as np
    >>> profile(np.array([0.0, 1.0, 0.0, 2.0, 0.0]), 3, np.array([0.0, 5.0, 0.0])).round(3)
    array([0.   , 3.346, 0.   ])
    """
    cut = windows(values[:, None], window)[..., 0]
    other = cut if train is None else windows(train[:, None], window)[..., 0]
    apart = -(-window // 4)
    nearest = np.full(len(cut), np.inf)
    for at in range(0, len(cut), _BLOCK):
        rows = _shapes(cut[at : at + _BLOCK])
        own = np.square(rows).sum(axis=1)
        for other_at in range(0, len(other), _BLOCK):
            columns = _shapes(other[other_at : other_at + _BLOCK])
            squares = np.square(columns).sum(axis=1) - 2 * (rows @ columns.T)
            squares += own[:, None]
            if train is None:
                starts, other_starts = at + np.arange(len(rows)), other_at + np.arange(len(columns))
                squares[np.abs(starts[:, None] - other_starts) <= apart] = np.inf
            np.minimum(nearest[at : at + len(rows)], squares.min(axis=1), out=nearest[at : at + len(rows)])
    nearest[np.isinf(nearest)] = 0.0
    return np.asarray(np.sqrt(np.maximum(nearest, 0.0)))


def _shapes(cut: Floats) -> Floats:
    """Windows brought to mean 0 and deviation 1."""
    away: Floats = cut - cut.mean(axis=1, keepdims=True)
    deviation = away.std(axis=1, keepdims=True)
    away /= np.where(deviation > _CONSTANT, deviation, np.inf)
    return away
