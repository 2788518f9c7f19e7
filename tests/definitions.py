"""Metrics and their best thresholds against definitions."""

import math

import pytest

import tsadeval as te
from naive.best import best
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import METRICS
from tsadeval.errors import UndefinedMetricWarning


def swept(name, y, s, **options):
    """(v, value) of the alarms `score >= v` that are best over all distinct scores v."""
    metric, data = METRICS[name].with_options(**options), Scoring.of(y, s)
    v = metric.best(data, **metric.options)
    return v, metric.value_of(data.at_least(v))[0]


def check(name, naive, y, p, **options):
    """The metric equals its definition, or both are undefined."""
    expected = naive(y, p, **options)
    function = getattr(te.metrics, name)
    if expected is None:
        with pytest.warns(UndefinedMetricWarning, match=name):
            assert math.isnan(function(y, p, **options))
    else:
        assert function(y, p, **options) == pytest.approx(float(expected), abs=1e-11, rel=1e-11)


def check_best(name, naive, y, s, **options):
    """The exact sweep finds the largest of the best thresholds; `naive` gives the value (None where undefined)."""
    expected = best(naive, y, s, lower=METRICS[name].direction == "lower", **options)
    at, value = swept(name, y, s, **options)
    assert (at, value) == (expected[0], pytest.approx(expected[1], abs=1e-11))


def nothing_missing(data):
    """Labels with an event, whatever was drawn."""
    y, other = data
    y = y.copy()
    y[0] |= not y.any()
    return y, other
