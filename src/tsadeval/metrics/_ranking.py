"""Metrics of the order of the scores: areas under curves, the best F over all thresholds, precision at k.

All but the last follow from one sweep: at every distinct score v of an anomalous point, how many anomalous and
how many normal points score at least v. Only values are sorted, never positions.
"""

from __future__ import annotations

import numpy as np

import tsadeval.metrics._kernels.ranking as kernel
from tsadeval.core.define import score_metric
from tsadeval.core.facts import Reason
from tsadeval.core.inputs import Scoring
from tsadeval.core.parameters import AUC_PR_CHECKS, F_CHECKS, Number
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import curve, point_f

__all__ = ["auc_pr", "auc_roc", "best_f1", "precision_at_k"]


@score_metric(
    label="AUC-ROC",
    range=(0.0, 1.0),
    summary="The share of pairs of an anomalous and a normal point that the scores put in the right order.",
    undefined="y_true lacks one of the two classes",
    references=("Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 2006",),
    properties={"affine", "monotone", "mirror", "symmetric", "exchangeable"},
    chance=lambda data: 0.5,
    needs={"anomaly", "normal"},
    sets={"paper"},
    stream="order",
)
def auc_roc(data: Scoring) -> float:
    """Area under the receiver operating characteristic curve, point by point.

    The share of pairs (anomalous point, normal point) in which the anomalous one scores higher, a tie counting
    one half; so constant scores get 0.5. Equals `roc_auc_score` of scikit-learn.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.auc_roc([0, 0, 1, 1, 0], [0.1, 0.4, 0.4, 0.9, 0.2])
    0.9166666666666666
    """
    points = curve(data)
    anomalous = data.events.points
    normal = data.n - anomalous
    lost = kernel.pairs_lost(points.found, points.above, points.false)
    return float((2 * anomalous * normal - lost) / (2 * anomalous * normal))


@score_metric(
    label="AUC-PR",
    range=(0.0, 1.0),
    summary="Area under the precision-recall curve over all thresholds, point by point.",
    undefined="y_true has no anomalous point",
    references=("Davis and Goadrich, The relationship between Precision-Recall and ROC curves, ICML 2006",),
    checks=AUC_PR_CHECKS,
    properties={"affine", "monotone", "mirror", "exchangeable"},
    needs={"anomaly"},
    stream="order",
)
def auc_pr(data: Scoring, *, interpolation: str = "step") -> float:
    """Area under the precision-recall curve, point by point.

    Two definitions go by this name. "step" is average precision: the sum over thresholds of the recall gained
    times the precision there; equals `average_precision_score` of scikit-learn and AUC-PR of tsadmetrics and
    TSB-AD. "trapezoid" joins the points of the curve by lines, from recall 0 and precision 1 on, which is too
    optimistic where scores tie; equals `auc(recall, precision)` of scikit-learn's `precision_recall_curve`.

    Parameters
    ----------
    interpolation : {"step", "trapezoid"}, default="step"
        How the area between two thresholds is counted.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_score = [0, 0, 1, 1, 0], [0.1, 0.4, 0.4, 0.9, 0.2]
    >>> te.metrics.auc_pr(y_true, y_score)
    0.8333333333333333
    >>> te.metrics.auc_pr(y_true, y_score, interpolation="trapezoid")
    0.9166666666666666
    """
    points = curve(data)
    if interpolation == "step":
        return float(kernel.precision_steps(points.found, points.false) / data.events.points)
    # The line to a threshold starts where the curve was just before it: the same recall as at the last anomalous
    # score, but with all false alarms that came since.
    gained = np.diff(points.found, prepend=0)
    before = points.found - gained
    alarms = before + points.above
    start = np.divide(before, alarms, out=np.ones(len(before)), where=alarms > 0)
    end = points.found / (points.found + points.false)
    return float(np.sum(gained * (start + end)) / (2 * data.events.points))


@score_metric(
    label="best F1",
    range=(0.0, 1.0),
    summary="The best point-wise F over all thresholds of the scores.",
    undefined="y_true has no anomalous point",
    references=("Lipton et al., Optimal thresholding of classifiers to maximize F1 measure, ECML PKDD 2014",),
    checks=F_CHECKS,
    properties={"affine", "monotone", "mirror", "exchangeable"},
    needs={"anomaly"},
    stream="order",
)
def best_f1(data: Scoring, *, beta: float = 1.0) -> float:
    """The best point-wise F over all thresholds: of the alarms `score >= v`, over all distinct scores v.

    Exact, where searches over a grid of thresholds (100 values in TSB-AD) come close. The threshold is chosen
    with the labels, so this is what a detector could reach, not what it does. Equals the maximum of F over
    scikit-learn's `precision_recall_curve`.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.best_f1([0, 0, 1, 1, 0], [0.1, 0.5, 0.4, 0.9, 0.2])
    0.8
    """
    return float(point_f(data, beta).max())


@score_metric(
    label="P@k",
    range=(0.0, 1.0),
    summary="The share of anomalous points among the k points that score highest.",
    undefined="y_true has no anomalous point and k is not given, or k is more than the number of points",
    references=("Paparrizos et al., TSB-UAD: an end-to-end benchmark suite, PVLDB 2022",),
    checks={"k": Number(1, integer=True, none=True)},
    properties={"affine", "monotone", "mirror", "exchangeable"},
    chance=lambda data, *, k: data.events.points / data.n,
    stream="order",
)
def precision_at_k(data: Scoring, *, k: int | None = None) -> float:
    """Precision of the k points that score highest.

    Where points tie for the last places, the value is the expectation over random choices among them: it does
    not depend on the order of the points. Without ties at the cut it equals `PrecisionAtK` of tsadmetrics, which
    takes all tied points instead.

    Parameters
    ----------
    k : int, optional
        How many points to take; None means as many as are anomalous.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.precision_at_k([0, 0, 1, 1, 0], [0.1, 0.5, 0.4, 0.9, 0.2])
    0.5
    >>> te.metrics.precision_at_k([0, 0, 1, 1, 0], [0.1, 0.4, 0.4, 0.9, 0.2])
    0.75
    """
    if k is None:
        k = data.events.points
        if k == 0:
            raise UndefinedError("y_true has no anomalous point (no 1), so k is 0; give k", Reason.NO_ANOMALY)
    if k > data.n:
        raise UndefinedError(f"k is {k}, but there are only {data.n} points")
    at = data.n - k
    # One place costs less than the whole order, unless another metric has asked for that already.
    cut = data.sorted[at] if "sorted" in vars(data) else np.partition(data.scores, at)[at]
    above, tied = data.scores > cut, data.scores == cut
    truth = data.truth.mask
    places = k - np.count_nonzero(above)
    expected = places * np.count_nonzero(tied & truth) / np.count_nonzero(tied)
    return float((np.count_nonzero(above & truth) + expected) / k)
