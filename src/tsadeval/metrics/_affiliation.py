"""Affiliation: how near alarms are to events, in the zone of each, compared with random times.

A point i stands for the time [i, i + 1). The zone of an event is the time nearer to it than to any other event,
so each predicted time is judged by one event only. In the zone E of the event J, with U a random time of E:

    precision  mean over predicted times x of P(distance(U, J) >= distance(x, J)),
    recall     mean over times y of J      of P(|U - y| >= distance(y, predictions in E)), 0 without any.

Precision is averaged over the zones with predictions, recall over all zones. Random alarms reach a precision of
1/2 + (J/E)^2 / 2 in a zone; `unbiased_affiliation_f1` measures precision from there, which is what sets it apart.
"""

import math
from functools import lru_cache, partial

import numpy as np

import tsadeval.metrics._kernels.affiliation as kernel
from tsadeval.core.define import prediction_metric, shared, takes_predictions
from tsadeval.core.inputs import Events, Floats, Index, Prediction, Scoring
from tsadeval.core.metric import PRF, f_beta
from tsadeval.core.parameters import F_CHECKS, Number, recall_weight
from tsadeval.errors import InvalidInputError
from tsadeval.metrics.counting import descent

_HUET = "Huet, Navarro, Rossi, Local Evaluation of Time Series Anomaly Detection Algorithms, KDD 2022"
_ZHONG = (
    "Zhong et al., SimAD: A Simple Dissimilarity-based Approach for Time Series Anomaly Detection, arXiv 2405.11238, "
    "2024"
)


# The kernel's largest number is 16 times the square of a zone's length.
_LONGEST_ZONE = math.isqrt((2**63 - 1) // 16)


def _borders(events: Events) -> Index:
    """Borders of the zones in halves of a point, as the kernel counts them."""
    return np.concatenate(([0], events.stops[:-1] + events.starts[1:], [2 * events.n]))


def _refuse_long_zones(events: Events) -> None:
    if events.n > _LONGEST_ZONE and len(events):
        longest = int(np.diff(_borders(events)).max()) // 2
        if longest > _LONGEST_ZONE:
            raise InvalidInputError(
                f"affiliation: the zone around an event has {longest:,} points, but at most {_LONGEST_ZONE:,} can be "
                "counted exactly: split the series"
            )


@shared
def _precision_recall(data: Prediction) -> tuple[float, float]:
    """Both means over zones; precision is NaN without alarms."""
    events, alarms = data.events, data.predicted
    _refuse_long_zones(events)
    precision, recall = kernel.means(events.starts, events.stops, alarms.starts, alarms.stops, data.n)
    return precision, recall


def _signed_f(precision: float, recall: float, bias: float, beta: float) -> float:
    """F of the size of precision above (or below) the bias, with its sign."""
    if math.isnan(precision):
        return 0.0
    above = (precision - bias) / (1 - bias)
    return math.copysign(f_beta(abs(above), recall, beta), above) if above else 0.0


def _best(data: Scoring, objective: str, bias: float = 0.0, beta: float = 1.0) -> float:
    """Return the best threshold for an objective."""
    _refuse_long_zones(data.events)
    return float(kernel.best(data.scores, *descent(data), objective, bias, recall_weight(beta)))


@shared
def _bias(data: Scoring | Prediction, alarm_rate: float | None) -> float:
    """Return the precision that random alarms are expected to reach."""
    borders = _borders(data.events)
    shares = 2 * data.events.lengths / np.diff(borders)
    # Of two random times of a zone the first is at least as near with chance 1/2, plus half that of a tie; only
    # times inside the event tie.
    expected = 0.5 + 0.5 * shares * shares
    if alarm_rate is None:
        return float(expected.mean())
    points = (borders[1:] + 1) // 2 - borders[:-1] // 2  # a point on a border belongs to both zones
    return _mean_of_filled(points, expected, alarm_rate)


def _mean_of_filled(points: Index, values: Floats, rate: float) -> float:
    """Compute the expected mean of the values of those zones that get an alarm, given that any does.

    A zone is filled with chance q = 1 - (1 - rate)^points, independently. Then it counts for 1 over the number of
    filled zones, of which the mean is, by 1/m = integral of t^(m-1) over [0, 1], with u = 1 - t,

        q_k * integral over [0, 1] of the product over i != k of (1 - q_i u) du.
    """
    # Zones of equal size weigh the same, and n points have room for about sqrt(2 n) different sizes only.
    sizes, group, count = np.unique(points, return_inverse=True, return_counts=True)
    total = np.bincount(group, values)
    filled = -np.expm1(sizes * (math.log1p(-rate) if rate < 1 else -math.inf))
    # The product is below exp(-u times the sum of q): past 45 over that sum nothing is left to integrate.
    nodes, weights = _gauss_legendre()
    nodes = nodes * min(1.0, 45 / float(filled @ count))
    empty = np.log1p(-np.outer(nodes, filled))
    others = np.exp((empty @ count)[:, None] - empty)
    share = filled * (weights @ others)
    return float(share @ total / (share @ count))


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1]: with 64, exp(-45 u) is integrated to the last digit."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return (nodes + 1) / 2, weights / 2


@takes_predictions(F_CHECKS)
def affiliation(data: Prediction, *, beta: float = 1.0) -> PRF:
    """Affiliation precision, recall and F of Huet et al. (2022).

    Equal to the authors' package (`pr_from_events` with `Trange=(0, n)`) and to its copies in `tsadmetrics`,
    `dtaianomaly`, TSB-AD and the CCE authors' code. Where all points are anomalous, every alarm has precision 1;
    without anomalies precision is NaN as well.

    Examples
    --------
    >>> from tsadeval.metrics import affiliation
    >>> affiliation([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0])
    PRF(precision=0.8125, recall=0.9375, f1=0.8705357142857143)
    """
    if len(data.events) == 0:
        return PRF(math.nan, math.nan, math.nan)
    return PRF.of(*_precision_recall(data), beta)


@prediction_metric(
    label="Aff-F1",
    summary="F of how near alarms are to events and events to alarms, compared with random times.",
    references=(_HUET,),
    checks=F_CHECKS,
    properties={"mirror"},
    needs={"anomaly"},
    sets={"paper"},
    best=lambda data, *, beta: _best(data, "f", 0.0, beta),
    zero="there is no alarm",
)
def affiliation_f1(data: Prediction, *, beta: float = 1.0) -> float:
    """F of affiliation precision and recall of Huet et al. (2022).

    Random alarms score about 2/3, since their precision is about 1/2 and their recall near 1:
    `unbiased_affiliation_f1` gives them about 0. Equal to the peers named in `affiliation`. The best threshold
    is exact.

    Examples
    --------
    >>> from tsadeval.metrics import affiliation_f1
    >>> affiliation_f1([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0])
    1.0
    >>> round(affiliation_f1([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0]), 6)
    0.870536
    """
    return f_beta(*_precision_recall(data), beta)


@prediction_metric(
    label="Aff precision",
    summary="How near alarms are to the nearest event, compared with random times, averaged over events.",
    references=(_HUET,),
    properties={"mirror"},
    needs={"anomaly", "alarm"},
    best=partial(_best, objective="precision"),
)
def affiliation_precision(data: Prediction) -> float:
    """Affiliation precision of Huet et al. (2022).

    The chance that a random time of the event's zone is no nearer to the event than an alarm is, averaged over
    the alarms of the zone, then over the zones with alarms. Equal to the peers named in `affiliation`.

    Examples
    --------
    >>> from tsadeval.metrics import affiliation_precision
    >>> affiliation_precision([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0])
    0.8125
    """
    return _precision_recall(data)[0]


@prediction_metric(
    label="Aff recall",
    summary="How near the times of an event are to alarms, compared with random times, averaged over events.",
    references=(_HUET,),
    properties={"mirror"},
    needs={"anomaly"},
    best=partial(_best, objective="recall"),
    trivial_best=True,
    version="r2",
    zero="there is no alarm",
)
def affiliation_recall(data: Prediction) -> float:
    """Affiliation recall of Huet et al. (2022).

    The chance that a random time of the event's zone is no nearer to a time of the event than the alarms of the
    zone are, averaged over the event, then over all events; an event without alarms in its zone counts as 0.
    Equal to the peers named in `affiliation`.

    Examples
    --------
    >>> from tsadeval.metrics import affiliation_recall
    >>> affiliation_recall([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0])
    0.9375
    """
    return _precision_recall(data)[1]


@prediction_metric(
    label="UAff-F1",
    range=(-2.0, 1.0),
    summary="Affiliation F with precision measured from that of random alarms, which gets 0.",
    references=(_ZHONG, _HUET),
    checks={**F_CHECKS, "alarm_rate": Number(0, 1, open_low=True, none=True)},
    properties={"mirror"},
    needs={"anomaly", "normal"},
    sets={"paper"},
    best=lambda data, *, beta, alarm_rate: _best(data, "f", _bias(data, alarm_rate), beta),
    zero="there is no alarm",
)
def unbiased_affiliation_f1(data: Prediction, *, beta: float = 1.0, alarm_rate: float | None = None) -> float:
    """F of affiliation recall and of affiliation precision above that of random alarms (Zhong et al., SimAD).

    With the bias b, the expected precision of random alarms, and recall R,

        U = (precision - b) / (1 - b),    F = sign(U) * (1 + beta^2) |U| R / (beta^2 |U| + R),

    and F = 0 where U = 0 or nothing is predicted. So 1 is perfect, 0 is as precise as random, and below 0 is less
    precise than random; there U is not bounded when events fill most of their zones, but F stays above
    -(1 + 1 / beta^2), that is -2.

    The published code estimates b from three unseeded random predictions with 2 % alarms, kept for each array of
    labels, so that its values differ from run to run; here b is the exact expectation. With that same b the values
    are equal. `tsadmetrics` has this as `naff_f` with `alpha` for b, but with U instead of |U| in the denominator:
    equal where U >= 0.

    Parameters
    ----------
    alarm_rate : float in (0, 1] or None, default=None
        None takes alarms in every zone, as of a long prediction: b is the mean over zones of 1/2 + (J/E)^2 / 2,
        with J the length of the event and E that of its zone. A number takes each point as an alarm with that
        chance: zones that are likely to stay empty count less. (Zones are taken as independent, and a point that
        two of them share as a whole point of each.) 0.02 comes nearest to the published code.

    Examples
    --------
    >>> from tsadeval.metrics import unbiased_affiliation_f1
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0]
    >>> unbiased_affiliation_f1(y_true, y_true)
    1.0
    >>> round(unbiased_affiliation_f1(y_true, [1, 1, 0, 0, 0, 0, 0, 0]), 6)
    -0.545455
    >>> unbiased_affiliation_f1(y_true, [1, 1, 1, 1, 1, 1, 1, 1])
    0.0
    """
    return _signed_f(*_precision_recall(data), _bias(data, alarm_rate), beta)


@prediction_metric(
    label="NAff-F1",
    range=(-1.0, 1.0),
    summary="Affiliation F with precision measured from 1/2, which random alarms reach for short events.",
    references=(_ZHONG, _HUET),
    checks=F_CHECKS,
    properties={"mirror"},
    needs={"anomaly"},
    best=lambda data, *, beta: _best(data, "f", 0.5, beta),
    zero="there is no alarm",
)
def normalized_affiliation_f1(data: Prediction, *, beta: float = 1.0) -> float:
    """F of affiliation recall and of affiliation precision rescaled from [1/2, 1] to [0, 1] (Zhong et al.).

    As `unbiased_affiliation_f1` with the bias fixed at 1/2, which is what random alarms reach where events are
    short against their zones. Equal to `NAff_F1` of the published code.

    Examples
    --------
    >>> from tsadeval.metrics import normalized_affiliation_f1
    >>> round(normalized_affiliation_f1([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0]), 6)
    0.75
    """
    return _signed_f(*_precision_recall(data), 0.5, beta)
