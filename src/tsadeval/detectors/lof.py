"""LOF: how much sparser the training windows lie around a window than around its neighbours.

Breunig, Kriegel, Ng, Sander: LOF: Identifying Density-Based Local Outliers, SIGMOD 2000. scikit-learn's
implementation, told what is normal by the training part alone (novelty detection), with its default of 20 neighbours.
Windows that are equal to the last bit count once: twenty copies of one window have an infinite density, and every other
window would look anomalous beside them.
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
    name="lof",
    title="LOF",
    summary="Local outlier factor: windows in sparser surroundings than their nearest training windows.",
    scoring="local outlier factor of a window, mean over covering windows",
    reference="Breunig et al., LOF: Identifying Density-Based Local Outliers, SIGMOD 2000",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class LOF(WindowedDetector):
    """Local outlier factor of windows."""

    neighbors: int = option(20, Number(1, integer=True), "training windows that a window is compared with")

    def learn(self, rows: Floats) -> Any:
        """The distinct windows and their densities."""
        distinct = np.unique(rows, axis=0)
        if len(distinct) == 1:  # a constant training part: its one window is its own neighbour
            distinct = np.repeat(distinct, 2, axis=0)
        neighbors = min(self.neighbors, len(distinct) - 1)
        return require("sklearn.neighbors", extra="all").LocalOutlierFactor(neighbors, novelty=True).fit(distinct)

    def judge(self, rows: Floats) -> Floats:
        """The local outlier factors."""
        scores: Floats = -self.model_.score_samples(rows)
        return scores
