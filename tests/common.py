"""One example that every metric takes, and the metrics of the registry as parameters of tests."""

import warnings

import numpy as np
import pytest

from tsadeval.core.metric import METRICS
from tsadeval.errors import ThresholdWarning, UndefinedMetricWarning


def _over(metrics):
    return pytest.mark.parametrize("metric", [pytest.param(metric, id=metric.name) for metric in metrics])


every_metric = _over(METRICS.values())
every_metric_of_scores = _over(m for m in METRICS.values() if m.kind == "scores")
every_metric_of_predictions = _over(m for m in METRICS.values() if m.kind == "predictions")
every_metric_with_a_chance = _over(m for m in METRICS.values() if m.chance is not None)

Y = np.array([0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0])
S = np.array([2, 1, 7, 9, 8, 3, 1, 0, 2, 1, 6, 1, 9, 4, 2, 1, 0, 1, 1, 2]) / 8  # exact in float32 too
P = (S > 0.45).astype(np.int64)


def second(metric):
    return S if metric.kind == "scores" else P


def value_of(metric, y, other):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.simplefilter("ignore", ThresholdWarning)
        return metric(y, other)
