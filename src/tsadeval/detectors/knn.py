"""KNN: the distance from a window to its k-th nearest training window.

Ramaswamy, Rastogi, Shim: Efficient Algorithms for Mining Outliers from Large Data Sets, SIGMOD 2000. Euclidean distance
of scaled windows, with k = 5 as in common implementations. A window that is itself in the training part is its own
nearest neighbour, so of a series that is scored by a model of itself the k - 1 nearest other windows count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tsadeval._optional import require
from tsadeval.core.parameters import Number
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats
from tsadeval.detectors.windowed import WindowedDetector


@detector(
    name="knn",
    title="KNN",
    summary="Nearest neighbours: windows far from their k-th nearest training window.",
    scoring="distance of a window to its k-th nearest training window, mean over covering windows",
    reference="Ramaswamy et al., Efficient Algorithms for Mining Outliers from Large Data Sets, SIGMOD 2000",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class KNN(WindowedDetector):
    """Distance of windows to their k-th nearest training window."""

    neighbors: int = option(5, Number(1, integer=True), "the k-th nearest training window counts")

    def learn(self, rows: Floats) -> Any:
        """The training windows, indexed."""
        return require("sklearn.neighbors", extra="all").NearestNeighbors(n_neighbors=self.neighbors).fit(rows)

    def judge(self, rows: Floats) -> Floats:
        """The distances to the k-th nearest training window, or to the farthest where there are fewer."""
        nearest = min(self.neighbors, self.model_.n_samples_fit_)
        scores: Floats = self.model_.kneighbors(rows, nearest)[0][:, -1]
        return scores
