"""Metrics of the order of scores against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from naive import ranking as naive
from strategies import examples, labels, scorings
from tsadeval.errors import UndefinedMetricWarning


def same(found, expected):
    return math.isnan(found) if expected is None else found == pytest.approx(float(expected), abs=1e-12)


@examples(1000)
@given(scorings(min_size=1, max_size=30, both=False), st.sampled_from([0.5, 1.0, 3.0]))
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_equals_the_definition(data, beta):
    assert same(te.metrics.auc_roc(*data), naive.auc_roc(*data))
    for interpolation in ("step", "trapezoid"):
        expected = naive.auc_pr(*data, interpolation)
        assert same(te.metrics.auc_pr(*data, interpolation=interpolation), expected)
    assert same(te.metrics.best_f1(*data, beta=beta), naive.best_f1(*data, beta))


@examples(1000)
@given(scorings(min_size=1, max_size=10, both=False), st.one_of(st.none(), st.integers(1, 12)))
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_precision_at_k_equals_the_mean_over_all_ways_to_break_ties(data, k):
    assert same(te.metrics.precision_at_k(*data, k=k), naive.precision_at_k(*data, k))


@examples(300)
@given(st.data())
def test_any_finite_scores_are_fine(data):
    y = data.draw(labels(both=True, max_size=12))
    finite = st.one_of(
        st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, -0.0, 5e-324, 1.7e308, -1.7e308])
    )
    s = np.array(data.draw(st.lists(finite, min_size=len(y), max_size=len(y))))
    assert same(te.metrics.auc_roc(y, s), naive.auc_roc(y, s))
    assert same(te.metrics.auc_pr(y, s), naive.auc_pr(y, s))
    assert same(te.metrics.precision_at_k(y, s), naive.precision_at_k(y, s))


@pytest.mark.parametrize("score", [-1e308, -3.0, 0.0, 7.5])
def test_constant_scores_know_nothing(score):
    y, s = [0, 1, 1, 0, 0], [score] * 5
    assert te.metrics.auc_roc(y, s) == 0.5
    assert te.metrics.auc_pr(y, s) == pytest.approx(2 / 5)
    assert te.metrics.best_f1(y, s) == pytest.approx(4 / 7)
    assert te.metrics.precision_at_k(y, s) == pytest.approx(2 / 5)


def test_by_hand():
    y, s = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]
    assert te.metrics.auc_roc(y, s) == 3 / 4
    assert te.metrics.auc_pr(y, s) == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)
    assert te.metrics.auc_pr(y, s, interpolation="trapezoid") == pytest.approx(1 / 2 + 1 / 2 * (1 / 2 + 2 / 3) / 2)
    assert te.metrics.best_f1(y, s) == pytest.approx(4 / 5)
    assert te.metrics.precision_at_k(y, s) == 1 / 2
    assert te.metrics.precision_at_k(y, s, k=1) == 1
    assert te.metrics.precision_at_k([0, 0], [1, 2], k=1) == 0


def test_precision_at_k_says_why_it_is_undefined():
    with pytest.warns(UndefinedMetricWarning, match="only 3 points"):
        assert math.isnan(te.metrics.precision_at_k([0, 1, 0], [1, 2, 3], k=4))
    with pytest.warns(UndefinedMetricWarning, match="k is 0"):
        assert math.isnan(te.metrics.precision_at_k([0, 0, 0], [1, 2, 3]))
