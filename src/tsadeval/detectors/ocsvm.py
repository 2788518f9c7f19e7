"""One-class SVM: windows outside the region that holds all but a small share of the training windows.

Schölkopf, Platt, Shawe-Taylor, Smola, Williamson: Estimating the Support of a High-Dimensional Distribution, Neural
Computation 2001. scikit-learn's implementation with a Gaussian kernel. Its training grows with the square of the
number of windows, so it learns from 3,000 at most. Far from all training windows the kernel is 0, so all far windows
have the same score.
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
    name="ocsvm",
    title="OCSVM",
    summary="One-class support vector machine: windows outside the region of the training windows.",
    scoring="minus the kernel sum over the support vectors of a window, mean over covering windows",
    reference="Schölkopf et al., Estimating the Support of a High-Dimensional Distribution, Neural Computation 2001",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class OCSVM(WindowedDetector):
    """One-class support vector machine of windows."""

    max_windows: int | None = option(
        3_000, Number(2, integer=True, none=True), "windows to learn from, drawn from the training part; None: all"
    )
    nu: float = option(0.05, Number(0, 1, open_low=True), "at most this share of the training windows lies outside")
    gamma: float | str = option(
        "scale",
        Number(0, open_low=True, words=("scale",)),
        "of the kernel exp(-gamma |x - y|^2); scale: 1 / (values of a window * their variance)",
    )

    def learn(self, rows: Floats) -> Any:
        """The support vectors."""
        return require("sklearn.svm", extra="all").OneClassSVM(nu=self.nu, gamma=self.gamma).fit(rows)

    def judge(self, rows: Floats) -> Floats:
        """Minus the kernel sums."""
        scores: Floats = -self.model_.score_samples(rows)
        return scores
