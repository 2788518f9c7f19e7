"""Areas under curves after point adjustment: an event is found whole from its highest score on.

At the threshold v the found points are those of all events whose highest score is at least v, each event counting its
length L, and the false alarms are the normal points that score at least v. Only the highest scores of the events
matter, so the sweep has one step an event.
"""

from __future__ import annotations

import numpy as np

from tsadeval.core.define import score_metric
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.parameters import OneOf
from tsadeval.metrics.counting import sorted_normal

__all__ = ["auc_pr_pa", "auc_roc_pa"]

_SORBO = "Sørbø and Ruocco, Navigating the metric maze, DMKD 2024"


def _steps(data: Scoring) -> tuple[Floats, Floats, Floats, Floats]:
    """At every distinct highest score v of an event, descending: points found before, points found from v on, normal
    points that score more than v, normal points that score at least v."""

    def make() -> tuple[Floats, Floats, Floats, Floats]:
        maxima = np.maximum.reduceat(data.scores, data.truth.starts)[1 - data.truth.first :: 2]
        order = np.argsort(-maxima, kind="stable")
        v, found = maxima[order], np.cumsum(data.events.lengths[order])
        last = np.append(np.flatnonzero(v[1:] != v[:-1]), len(v) - 1)
        v, found = v[last], found[last].astype(np.float64)
        normal = sorted_normal(data)
        above = len(normal) - np.searchsorted(normal, v, side="right").astype(np.float64)
        false = len(normal) - np.searchsorted(normal, v).astype(np.float64)
        return np.concatenate([[0.0], found[:-1]]), found, above, false

    return data.shared(("ranking_adjusted",), make)


@score_metric(
    label="AUC-ROC-PA",
    range=(0.0, 1.0),
    summary="Area under the ROC curve where an event counts as found whole from its highest score on.",
    undefined="y_true lacks one of the two classes",
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
    before, found, above, false = _steps(data)
    pairs = data.events.points * (data.n - data.events.points)
    return float(1 - np.sum((found - before) * (above + false)) / (2 * pairs))


@score_metric(
    label="AUC-PR-PA",
    range=(0.0, 1.0),
    summary="Area under the precision-recall curve where an event counts as found whole from its highest score on.",
    undefined="y_true has no anomalous point",
    references=(_SORBO,),
    checks={"interpolation": OneOf(("step", "trapezoid"))},
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
    before, found, above, false = _steps(data)
    end = found / (found + false)
    if interpolation == "step":
        return float(np.sum((found - before) * end) / data.events.points)
    # The line to a threshold starts where the curve was just before it, with all false alarms since the last event.
    alarms = before + above
    start = np.divide(before, alarms, out=np.ones(len(before)), where=alarms > 0)
    return float(np.sum((found - before) * (start + end)) / (2 * data.events.points))
