"""PCA: what is left of a window once its projection on the main directions of the training windows is taken away.

Shyu, Chen, Sarinnapakorn, Chang: A Novel Anomaly Detection Scheme Based on Principal Component Classifier, 2003; here
by the squared reconstruction error, as is common. As many components are kept as explain 90 % of the variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.parameters import Number
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats
from tsadeval.detectors.windowed import WindowedDetector


@detector(
    name="pca",
    title="PCA",
    summary="Principal components: windows that the main directions of the training windows do not explain.",
    scoring="mean squared reconstruction error of a window, mean over covering windows",
    reference="Shyu et al., A Novel Anomaly Detection Scheme Based on Principal Component Classifier, ICDM 2003",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class PCA(WindowedDetector):
    """Reconstruction error of windows by principal components."""

    variance: float = option(0.9, Number(0, 1, open_low=True), "share of the variance that the kept components explain")

    def learn(self, rows: Floats) -> Any:
        """The centre and the main directions."""
        model = require("sklearn.decomposition", extra="all").PCA(random_state=self.random_state)
        with np.errstate(invalid="ignore"):  # shares of no variance at all: a constant training part
            model.fit(rows)
        explained = np.cumsum(model.explained_variance_)
        # Of a constant training part one direction is kept, whichever; it explains nothing.
        kept = int(np.searchsorted(explained, self.variance * explained[-1])) + 1
        # In one order in memory, also after a round through pickle: products depend on it in the last digit.
        return model.mean_, np.ascontiguousarray(model.components_[:kept])

    def judge(self, rows: Floats) -> Floats:
        """The errors of the windows."""
        centre, directions = self.model_
        away = rows - centre
        away -= (away @ directions.T) @ directions
        scores: Floats = np.square(away).mean(axis=1)
        return scores
