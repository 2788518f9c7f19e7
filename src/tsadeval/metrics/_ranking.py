"""Metrics of the order of the scores: areas under curves, the best F over all thresholds, precision at k.

All but the last follow from one sweep: at every distinct score v of an anomalous point, how many anomalous and
how many normal points score at least v. Only the anomalous scores are sorted; the others are counted between them.
Scores that are more than fit into memory come in blocks, and the same code takes these one after the other.

After point adjustment an event is found whole from its highest score on: at the threshold v the found points are those
of all events whose highest score is at least v, each event counting its length L, and the false alarms are the normal
points that score at least v. So the sweep has one step an event.
"""

import math

import numpy as np

import tsadeval.metrics._kernels.ranking as kernel
from tsadeval.core.define import score_metric, shared
from tsadeval.core.inputs import Index, Scoring
from tsadeval.core.parameters import AUC_PR_CHECKS, F_CHECKS, Number, recall_weight
from tsadeval.metrics.counting import (
    curve,
    event_maxima,
    places_at_top,
    ranks_of,
    sweep_at,
    sweeps_of,
)


@score_metric(
    label="AUC-ROC",
    summary="The share of pairs of an anomalous and a normal point that the scores put in the right order.",
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
    anomalous = data.events.points
    pairs = anomalous * (data.n - anomalous)
    lost = 0  # twice the pairs in the wrong order, as a whole number of any size
    for part in sweeps_of(data):
        if len(part.found):
            lost += kernel.pairs_lost(part.found, part.above, part.false) + 2 * part.false_before * int(part.found[-1])
    return float((2 * pairs - lost) / (2 * pairs))


@score_metric(
    label="AUC-PR",
    summary="Area under the precision-recall curve over all thresholds, point by point.",
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
    sums = []
    for part in sweeps_of(data):
        found, false = part.found + part.found_before, part.false + part.false_before
        if interpolation == "step" and part.found_before == 0:
            sums.append(2 * kernel.precision_steps(found, false))
            continue
        before = np.append(part.found_before, found)[:-1]
        sums.append(_twice_area(before, found, part.above + part.false_before, false, interpolation))
    return math.fsum(sums) / (2 * data.events.points)


def _twice_area(before: Index, found: Index, above: Index, false: Index, interpolation: str) -> float:
    """Sum up precision over the points found at each threshold, at both ends of its step or line.

    The line to a threshold starts where the curve was just before it: the same recall as at the last one, but with all
    false alarms that came since.
    """
    start = end = found / (found + false)
    if interpolation == "trapezoid":
        alarms = before + above
        start = np.divide(before, alarms, out=np.ones(len(before)), where=alarms > 0)
    return float(np.sum((found - before) * (start + end)))


@score_metric(
    label="best F1",
    summary="The best point-wise F over all thresholds of the scores.",
    references=("Lipton et al., Optimal thresholding of classifiers to maximize F1 measure, ECML PKDD 2014",),
    checks=F_CHECKS,
    properties={"affine", "monotone", "mirror", "exchangeable"},
    needs={"anomaly"},
    stream="order",
)
def best_f1(data: Scoring, *, beta: float = 1.0) -> float:
    """Return the best point-wise F over all thresholds: of the alarms `score >= v`, over all distinct scores v.

    Exact, where searches over a grid of thresholds (100 values in TSB-AD) come close. The threshold is chosen
    with the labels, so this is what a detector could reach, not what it does. Equals the maximum of F over
    scikit-learn's `precision_recall_curve`.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.best_f1([0, 0, 1, 1, 0], [0.1, 0.5, 0.4, 0.9, 0.2])
    0.8
    """
    total = data.events.points
    return max(
        float(kernel.best_f(part.found, part.false, part.found_before, part.false_before, total, recall_weight(beta)))
        for part in sweeps_of(data)
        if len(part.found)
    )


@score_metric(
    label="P@k",
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
    k = places_at_top(k, data.events.points, data.n)
    above, tied = ranks_of(data, k)
    expected = (k - sum(above)) * tied[0] / sum(tied)
    return float((above[0] + expected) / k)


_SORBO = (
    "Sørbø and Ruocco, Navigating the metric maze: a taxonomy of evaluation metrics for anomaly detection in time "
    "series, DMKD 2024"
)


@shared
def _adjusted_steps(data: Scoring) -> tuple[Index, Index, Index, Index]:
    """At every distinct highest score v of an event, descending: points found before, points found from v on, normal
    points that score more than v, normal points that score at least v."""
    maxima, lengths = event_maxima(data), data.truth.counts[1 - data.truth.first :: 2]
    order = np.argsort(-maxima, kind="stable")
    # The sweep that others have too; but where many points are anomalous, few of them are the highest of an event.
    sweep = curve(data) if 8 * lengths.sum() < data.n else sweep_at(data, maxima.copy())
    before, found, above, false = kernel.adjusted(maxima[order], lengths[order], *sweep[:4])
    return before, found, above, false


@score_metric(
    label="AUC-ROC-PA",
    summary="Area under the ROC curve where an event counts as found whole from its highest score on.",
    references=(_SORBO,),
    properties={"affine", "monotone", "mirror"},
    needs={"anomaly", "normal"},
)
def auc_roc_pa(data: Scoring) -> float:
    """Area under the ROC curve after point adjustment.

    The share of pairs (anomalous point, normal point) in which the highest score of the anomalous point's event is
    above the score of the normal point, a tie counting one half. Random scores get far more than 0.5, the more the
    longer the events: look at `auc_roc` beside it. Equals `PointadjustedAucRoc` of tsadmetrics.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.auc_roc_pa([0, 1, 1, 0, 1, 0], [0.1, 0.9, 0.2, 0.3, 0.3, 0.2])
    0.9444444444444444
    """
    _, found, above, false = _adjusted_steps(data)
    anomalous = int(found[-1])
    return float(1 - kernel.pairs_lost(found, above, false) / (2 * anomalous * (data.n - anomalous)))


@score_metric(
    label="AUC-PR-PA",
    summary="Area under the precision-recall curve where an event counts as found whole from its highest score on.",
    references=(_SORBO,),
    checks=AUC_PR_CHECKS,
    properties={"affine", "monotone", "mirror"},
    needs={"anomaly"},
)
def auc_pr_pa(data: Scoring, *, interpolation: str = "step") -> float:
    """Area under the precision-recall curve after point adjustment.

    Random scores get high values, the more the longer the events: look at `auc_pr` beside it.

    Parameters
    ----------
    interpolation : {"step", "trapezoid"}, default="step"
        How the area between two thresholds is counted, as for `auc_pr`. "trapezoid" equals `PointadjustedAucPr` of
        tsadmetrics.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_score = [0, 1, 1, 0, 1, 0], [0.1, 0.9, 0.2, 0.3, 0.3, 0.2]
    >>> te.metrics.auc_pr_pa(y_true, y_score)
    0.9166666666666666
    >>> te.metrics.auc_pr_pa(y_true, y_score, interpolation="trapezoid")
    0.9583333333333334
    """
    before, found, above, false = _adjusted_steps(data)
    return _twice_area(before, found, above, false, interpolation) / (2 * int(found[-1]))
