"""What a metric's value is worth: what a detector gets that knows nothing, and one that knows everything.

The detector that knows nothing has the same scores in random order, so it raises as many alarms under the same
threshold. A point-adjusted F1 of 0.9 looks different once one sees that it gets 0.85.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tsadeval.core.inputs import Floats, Prediction, Scoring
from tsadeval.core.metric import Metric
from tsadeval.thresholds.rules import Threshold, fixed

GuestValue = Callable[[Any, Scoring], float]


def random_values(
    metrics: list[Any], scoring: Scoring, rule: Threshold, guest_value: GuestValue, draws: int, seed: int
) -> list[tuple[float, float]]:
    """For each metric its expected value on shuffled scores, and the standard error (0 where there is a formula)."""
    known = {i: value for i, m in enumerate(metrics) if (value := _by_formula(m, scoring, rule)) is not None}
    drawn = [i for i in range(len(metrics)) if i not in known]
    values = np.full((draws, len(drawn)), math.nan)
    rng = np.random.default_rng(seed)
    for row in values if drawn else ():
        # One shuffle serves all metrics, so they share its sorts and sweeps; then it is forgotten.
        shuffled = Scoring.of(scoring.truth.labels, rng.permutation(scoring.scores))
        row[:] = [_value(metrics[i], shuffled, rule, guest_value) for i in drawn]
    return [(known[i], 0.0) if i in known else _mean_and_error(values[:, drawn.index(i)]) for i in range(len(metrics))]


def _by_formula(metric: Any, scoring: Scoring, rule: Threshold) -> float | None:
    # The best threshold of shuffled scores is not the best threshold of these: no formula knows it.
    if not isinstance(metric, Metric) or metric.chance is None or str(rule) == "best":
        return None
    data: Scoring | Prediction = scoring
    if metric.kind == "predictions":
        data = rule.predict(scoring, metric)[0]
    if math.isnan(metric.outcome(data)[0]):
        return math.nan  # undefined stays undefined: chance makes no number where the metric has none
    return float(metric.chance(data, **{**metric.parameters, **dict(metric.bound)}))


def _mean_and_error(values: Floats) -> tuple[float, float]:
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return math.nan, math.nan
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def _value(metric: Any, scoring: Scoring, rule: Threshold, guest_value: GuestValue) -> float:
    if not isinstance(metric, Metric):
        return guest_value(metric, scoring)
    if metric.kind == "predictions":
        return metric.outcome(rule.predict(scoring, metric)[0])[0]
    return metric.outcome(scoring)[0]


def perfect_values(metrics: list[Any], scoring: Scoring, guest_value: GuestValue) -> list[float]:
    """For each metric its value when the labels themselves are the scores, and the alarms."""
    truth = Scoring.of(scoring.truth.labels, scoring.truth.mask)
    return [_value(metric, truth, fixed(0.5), guest_value) for metric in metrics]
