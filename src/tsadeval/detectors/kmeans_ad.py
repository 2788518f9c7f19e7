"""k-means-AD: the distance from a window to the nearest of a few centres of the training windows.

Yairi, Kato, Hori: Fault Detection by Mining Association Rules from House-keeping Data, i-SAIRAS 2001. scikit-learn's
k-means; the score is the Euclidean distance of a window to its nearest centre, as in the TimeEval and aeon versions,
with 20 centres as in aeon.
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
    name="kmeans_ad",
    title="KMeansAD",
    summary="k-means: windows far from all centres of the training windows.",
    scoring="distance of a window to the nearest centre, mean over covering windows",
    reference="Yairi et al., Fault Detection by Mining Association Rules from House-keeping Data, i-SAIRAS 2001",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class KMeansAD(WindowedDetector):
    """Distance of windows to the nearest of their centres."""

    clusters: int = option(20, Number(1, integer=True), "number of centres")

    def learn(self, rows: Floats) -> Any:
        """The centres; there are no more than distinct windows."""
        clusters = min(self.clusters, len(np.unique(rows, axis=0)))
        make = require("sklearn.cluster", extra="all").KMeans
        return make(clusters, n_init=3, random_state=self.random_state).fit(rows)

    def judge(self, rows: Floats) -> Floats:
        """The distances to the nearest centre."""
        scores: Floats = self.model_.transform(rows).min(axis=1)
        return scores
