"""Point-wise metrics of binary predictions: every point counts for itself, whatever event it belongs to."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tsadeval.core.define import prediction_metric, takes_predictions
from tsadeval.core.inputs import Floats, Prediction, Scoring
from tsadeval.core.metric import PRF
from tsadeval.core.parameters import F_CHECKS
from tsadeval.errors import UndefinedError
from tsadeval.metrics.counting import Counts, candidates, curve, f_of_counts, first_best, matches, prf_of_counts

_RIJSBERGEN = "van Rijsbergen, Information Retrieval, 1979"


def _confusion(data: Prediction) -> tuple[int, int, int, int]:
    """Count the points: alarms that are right and that are false; without alarm, those missed and those normal."""
    met = matches(data)
    return met.found, met.false_points, met.anomalous - met.found, data.n - met.anomalous - met.false_points


# What shuffled alarms get. Their number stays, so each of these is linear in the points found, and the expected
# number of those is (anomalous points) x (alarms) / n.
def _chance_f1(data: Prediction, *, beta: float) -> float:
    anomalous, alarmed = data.events.points, data.predicted.points
    found = anomalous * alarmed / data.n
    return float(f_of_counts(found, alarmed - found, anomalous, beta))


def _best_f1(data: Scoring, *, beta: float) -> float:
    points = curve(data)  # all other thresholds are worse than one of these
    return float(points.scores[first_best(f_of_counts(points.found, points.false, data.events.points, beta))])


def _chance_accuracy(data: Prediction) -> float:
    anomalous, alarmed = data.events.points / data.n, data.predicted.points / data.n
    return anomalous * alarmed + (1 - anomalous) * (1 - alarmed)


def _best_by(value: Callable[[Counts, int, int], Floats]) -> Callable[[Scoring], float]:
    """Make the search for the best threshold from the value by counts, anomalous points and normal points."""

    def best(data: Scoring) -> float:
        counts, anomalous = candidates(data), data.events.points
        return float(counts.scores[first_best(value(counts, anomalous, data.n - anomalous))])

    return best


def _best_mcc(data: Scoring) -> float:
    # More false alarms lower it here too: with A alarms of n points, F of P anomalous ones among them, MCC is
    # proportional to (F n - A P) / sqrt(A (n - A)), whose derivative in A has the sign of F (2 A - n) - P A < 0.
    counts, anomalous = candidates(data), data.events.points
    alarmed = counts.found + counts.false
    defined = alarmed < data.n  # alarms everywhere have no correlation with anything
    if not defined.any():
        return math.nan
    found, alarmed = counts.found[defined], alarmed[defined]
    margins = math.sqrt(anomalous * (data.n - anomalous)) * np.sqrt(alarmed) * np.sqrt(data.n - alarmed)
    return float(counts.scores[first_best((found * data.n - alarmed * anomalous) / margins)])


@takes_predictions(F_CHECKS)
def point(data: Prediction, *, beta: float = 1.0) -> PRF:
    """Point-wise precision, recall and F at once.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.point([0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 0, 0])
    PRF(precision=0.6666666666666666, recall=0.5, f1=0.5714285714285714)
    """
    met = matches(data)
    return prf_of_counts(met.found, met.false_points, met.anomalous, beta)


@prediction_metric(
    label="Precision",
    summary="The share of alarmed points that are anomalous.",
    references=(_RIJSBERGEN,),
    properties={"mirror", "exchangeable", "separable"},
    chance=lambda data: data.events.points / data.n,
    needs={"alarm"},
    best=_best_by(lambda counts, _, __: counts.found / (counts.found + counts.false)),
    trivial_best=True,
)
def precision(data: Prediction) -> float:
    """Point-wise precision; equals `precision_score` of scikit-learn where there are alarms.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.precision([0, 1, 1, 1, 0, 1], [1, 1, 0, 0, 0, 0])
    0.5
    """
    return point.compute(data).precision


@prediction_metric(
    label="Recall",
    summary="The share of anomalous points that are alarmed.",
    references=(_RIJSBERGEN,),
    properties={"mirror", "exchangeable", "separable"},
    chance=lambda data: data.predicted.points / data.n,
    needs={"anomaly"},
    best=lambda data: float(data.scores[data.truth.mask].min()),  # from here down all is found
    trivial_best=True,
)
def recall(data: Prediction) -> float:
    """Point-wise recall; equals `recall_score` of scikit-learn where there are anomalous points.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.recall([0, 1, 1, 1, 0, 1], [1, 1, 0, 0, 0, 0])
    0.25
    """
    return point.compute(data).recall


@prediction_metric(
    label="F1",
    summary="Harmonic mean of point-wise precision and recall.",
    references=(_RIJSBERGEN,),
    like=point,
    properties={"mirror", "exchangeable", "separable"},
    chance=_chance_f1,
    needs={"anomaly"},
    sets={"paper", "recommended"},
    best=_best_f1,
    zero="no anomalous point is alarmed",
)
def f1(data: Prediction, /, **options: Any) -> float:
    """Point-wise F; equals `fbeta_score` of scikit-learn where there are anomalous points.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.f1([0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 0, 0])
    0.5714285714285714
    """
    return point.compute(data, **options).f1


@prediction_metric(
    label="Accuracy",
    summary="The share of points that are alarmed and anomalous or neither.",
    references=(_RIJSBERGEN,),
    properties={"mirror", "symmetric", "exchangeable"},
    chance=_chance_accuracy,
    best=_best_by(lambda counts, pos, neg: (counts.found + (neg - counts.false)) / (pos + neg)),
    trivial_best=True,
    version="r2",
)
def accuracy(data: Prediction) -> float:
    """Point-wise accuracy; equals `accuracy_score` of scikit-learn.

    Anomalies are rare, so a detector that never raises an alarm comes close to 1.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.accuracy([0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 0, 0])
    0.5
    """
    found, _, _, quiet = _confusion(data)
    return (found + quiet) / data.n


@prediction_metric(
    label="Balanced accuracy",
    summary="The mean of the shares of anomalous points that are alarmed and of normal points that are not.",
    references=("Brodersen et al., The balanced accuracy and its posterior distribution, ICPR 2010",),
    properties={"mirror", "symmetric", "exchangeable"},
    chance=lambda data: 0.5,
    needs={"anomaly", "normal"},
    best=_best_by(lambda counts, pos, neg: (counts.found / pos + (neg - counts.false) / neg) / 2),
)
def balanced_accuracy(data: Prediction) -> float:
    """Point-wise balanced accuracy; equals `balanced_accuracy_score` of scikit-learn where both classes are present.

    Uninformative alarms get 0.5.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.balanced_accuracy([0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 0, 0])
    0.5
    """
    found, false, missed, quiet = _confusion(data)
    return (found / (found + missed) + quiet / (quiet + false)) / 2


@prediction_metric(
    label="MCC",
    range=(-1.0, 1.0),
    summary="Matthews correlation of labels and alarms.",
    undefined="y_true or y_pred has one class only",
    references=(
        "Matthews, Comparison of the predicted and observed secondary structure of T4 phage lysozyme, Biochimica et "
        "Biophysica Acta 1975",
    ),
    properties={"mirror", "symmetric", "exchangeable"},
    chance=lambda data: 0.0,
    needs={"anomaly", "normal", "alarm"},
    best=_best_mcc,
)
def mcc(data: Prediction) -> float:
    """Matthews correlation coefficient, point by point: Pearson's correlation of labels and alarms.

    Equals `matthews_corrcoef` of scikit-learn where both labels and alarms vary. Where they do not, no
    correlation exists: NaN here, 0 there.

    Examples
    --------
    >>> import tsadeval as te
    >>> round(te.metrics.mcc([0, 1, 1, 1, 0, 1], [0, 1, 0, 1, 0, 0]), 6)
    0.5
    """
    if not data.alarms.has(0):
        raise UndefinedError("y_pred is an alarm everywhere (no 0)")
    found, false, missed, quiet = _confusion(data)
    # Python's whole numbers: the product of the margins passes 64 bits from 1e5 points on.
    margins = (found + false) * (found + missed) * (quiet + false) * (quiet + missed)
    return (found * quiet - false * missed) / math.sqrt(margins)
