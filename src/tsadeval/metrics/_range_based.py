"""Range-based precision and recall (Tatbul et al., NeurIPS 2018).

Recall is the mean over the real ranges (events), precision the mean over the predicted ranges, of

    alpha * existence + (1 - alpha) * cardinality factor * overlap,

existence: 1 where the range overlaps any range of the other side; overlap (the paper's sum of omega): the share
of the range's points that are in ranges of the other side, each point weighed by the positional bias (delta);
cardinality factor (gamma): 1 for "one", 1/m for "reciprocal" where m ranges of the other side overlap this one.
"""

import math
from functools import partial
from typing import Any

import tsadeval.metrics._kernels.range_based as kernel
from tsadeval.core.define import prediction_metric, takes_predictions
from tsadeval.core.inputs import Events, Prediction, Scoring
from tsadeval.core.metric import PRF
from tsadeval.core.parameters import BETA, Check, Number, OneOf, recall_weight
from tsadeval.metrics.counting import descent

_BIASES = ("flat", "front", "middle", "back")
_REFERENCES = ("Tatbul et al., Precision and Recall for Time Series, NeurIPS 2018",)

# Of one side, and of both together.
SIDE_CHECKS: dict[str, Check] = {
    "alpha": Number(0, 1),
    "bias": OneOf(_BIASES),
    "cardinality": OneOf(("one", "reciprocal")),
}


def _mean_reward(ranges: Events, others: Events, alpha: float, bias: str, cardinality: str) -> float:
    if len(ranges) == 0:
        return math.nan
    runs = (ranges.starts, ranges.stops, others.starts, others.stops)
    return float(kernel.mean_reward(*runs, alpha, bias, cardinality == "reciprocal"))


def _best_f(
    data: Scoring,
    *,
    alpha: float,
    precision_alpha: float,
    bias: str,
    precision_bias: str | None,
    cardinality: str,
    beta: float,
    objective: str = "f",
) -> float:
    """Return the best threshold for an objective: F, or one of its two parts."""
    how = alpha, bias, precision_alpha, precision_bias or bias, cardinality == "reciprocal", recall_weight(beta)
    return float(kernel.best_threshold(data.scores, *descent(data), *how, objective))


def _best_side(data: Scoring, objective: str, alpha: float, bias: str, cardinality: str) -> float:
    """Return the best threshold for precision or recall; the other one's options do not matter."""
    other: dict[str, Any] = {"precision_alpha": alpha, "precision_bias": bias, "beta": 1.0}
    return _best_f(data, alpha=alpha, bias=bias, cardinality=cardinality, objective=objective, **other)


@takes_predictions(
    {**SIDE_CHECKS, "precision_alpha": Number(0, 1), "precision_bias": OneOf((*_BIASES, None)), "beta": BETA}
)
def range_based(
    data: Prediction,
    *,
    alpha: float = 0.2,
    precision_alpha: float = 0.0,
    bias: str = "flat",
    precision_bias: str | None = None,
    cardinality: str = "reciprocal",
    beta: float = 1.0,
) -> PRF:
    """Range-based precision, recall and F of Tatbul et al. (2018).

    The defaults are those of the paper's use: existence counts for recall only, no positional bias, and
    fragmented detection is punished. Equal to `prts` (`ts_precision`, `ts_recall`, `ts_fscore`) at equal
    parameters, but peers differ in their defaults: `prts` has alpha 0 and cardinality "one".

    Parameters
    ----------
    alpha : float, default=0.2
        Weight, in recall, of an event being found at all, against how much of it is found.
    precision_alpha : float, default=0.0
        The same in precision, where the paper advises 0.
    bias : {"flat", "front", "middle", "back"}, default="flat"
        Which points of a range count more: the first one of a range of length L weighs L with "front" and 1
        with "back", its middle one weighs most with "middle".
    precision_bias : same or None, default=None
        The bias within predicted ranges; None takes `bias`.
    cardinality : {"reciprocal", "one"}, default="reciprocal"
        Whether a range that m ranges of the other side overlap earns 1/m of its overlap, or all of it.

    Examples
    --------
    >>> from tsadeval.metrics import range_based
    >>> range_based([0, 1, 1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0, 1, 0])
    PRF(precision=0.5, recall=0.8, f1=0.6153846153846154)
    """
    recall = _mean_reward(data.events, data.predicted, alpha, bias, cardinality)
    precision = _mean_reward(data.predicted, data.events, precision_alpha, precision_bias or bias, cardinality)
    return PRF.of(precision, recall, beta)


@prediction_metric(
    label="R-based F1",
    summary="F of range-based precision and recall: how much of each range overlaps, and in how many pieces.",
    references=_REFERENCES,
    like=range_based,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    sets={"paper"},
    best=_best_f,
    zero="there is no alarm",
)
def range_f1(data: Prediction, /, **options: Any) -> float:
    """F of the range-based precision and recall of Tatbul et al. (2018).

    Equal to `ts_fscore` of `prts` at equal parameters (there `r_alpha`, `p_alpha`, `r_bias`, `p_bias`). Its
    best threshold is exact for every combination of options.

    Examples
    --------
    >>> from tsadeval.metrics import range_f1
    >>> y_true = [0, 1, 1, 1, 1, 0, 0, 0]
    >>> range_f1(y_true, [0, 1, 1, 1, 1, 0, 0, 0])
    1.0
    >>> round(range_f1(y_true, [0, 1, 0, 1, 1, 0, 0, 0]), 6)  # the same event in two pieces
    0.666667
    """
    return range_based.compute(data, **options).f1


@prediction_metric(
    label="R-based precision",
    summary="How much of each predicted range lies in events, averaged over predicted ranges.",
    references=_REFERENCES,
    checks=SIDE_CHECKS,
    properties={"mirror", "separable"},
    needs={"alarm"},
    best=partial(_best_side, objective="precision"),
)
def range_precision(
    data: Prediction, *, alpha: float = 0.0, bias: str = "flat", cardinality: str = "reciprocal"
) -> float:
    """Range-based precision of Tatbul et al. (2018).

    Equal to `ts_precision` of `prts` at equal parameters.

    Parameters
    ----------
    alpha : float, default=0.0
        Weight of a predicted range overlapping any event, against how much of it does. The paper advises 0.
    bias, cardinality
        As for `range_based`.

    Examples
    --------
    >>> from tsadeval.metrics import range_precision
    >>> range_precision([0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1])
    0.5
    """
    return _mean_reward(data.predicted, data.events, alpha, bias, cardinality)


@prediction_metric(
    label="R-based recall",
    summary="How much of each event is found, and in how many pieces, averaged over events.",
    references=_REFERENCES,
    checks=SIDE_CHECKS,
    properties={"mirror", "separable"},
    needs={"anomaly"},
    best=partial(_best_side, objective="recall"),
    trivial_best=True,
    version="r2",
    zero="there is no alarm",
)
def range_recall(data: Prediction, *, alpha: float = 0.2, bias: str = "flat", cardinality: str = "reciprocal") -> float:
    """Range-based recall of Tatbul et al. (2018).

    Equal to `ts_recall` of `prts` at equal parameters.

    Parameters
    ----------
    alpha : float, default=0.2
        Weight of an event being found at all, against how much of it is found.
    bias, cardinality
        As for `range_based`.

    Examples
    --------
    >>> from tsadeval.metrics import range_recall
    >>> range_recall([0, 1, 1, 1, 1, 0], [0, 0, 1, 1, 0, 0])
    0.6000000000000001
    >>> range_recall([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 0], bias="front", alpha=0.0)
    0.7
    """
    return _mean_reward(data.events, data.predicted, alpha, bias, cardinality)
