"""Isolation forest: how few random cuts it takes to set a window apart.

Liu, Ting, Zhou: Isolation Forest, ICDM 2008. scikit-learn's implementation with the paper's 100 trees, each grown on
256 windows.
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
    name="iforest",
    title="IForest",
    summary="Isolation forest: windows that few random cuts set apart.",
    scoring="2 to the minus (mean depth over expected depth) of a window, mean over covering windows",
    reference="Liu et al., Isolation Forest, ICDM 2008",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class IsolationForest(WindowedDetector):
    """Isolation forest of windows."""

    trees: int = option(100, Number(1, integer=True), "number of trees")
    tree_windows: int = option(256, Number(2, integer=True), "windows that a tree is grown on")

    def learn(self, rows: Floats) -> Any:
        """The forest."""
        forest = require("sklearn.ensemble", extra="all").IsolationForest(
            n_estimators=self.trees, max_samples=min(self.tree_windows, len(rows)), random_state=self.random_state
        )
        return forest.fit(rows)

    def judge(self, rows: Floats) -> Floats:
        """The anomaly scores of the paper."""
        scores: Floats = -self.model_.score_samples(rows)
        return scores
