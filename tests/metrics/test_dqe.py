"""Detection quality against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import check_best, nothing_missing
from naive import dqe as naive
from strategies import examples, labels, predictions, scorings

nears = st.sampled_from([None, 0, 1, 2, 3, 5, 100, 10**12])


@examples(250)
@given(predictions(min_size=1, both=False).map(nothing_missing), nears)
def test_one_threshold_equals_the_definition(data, near):
    assert te.metrics.sdqe(*data, near=near) == pytest.approx(naive.sdqe(*data, near=near), abs=1e-12)


@examples(150)
@given(scorings(min_size=1, both=False).map(nothing_missing), nears, st.sampled_from([1, 2, 7, 100]))
def test_all_thresholds_equal_the_definition(data, near, thresholds):
    y, s = data
    expected = naive.dqe(y.tolist(), s.tolist(), near, thresholds)
    assert te.metrics.dqe(y, s, near=near, n_thresholds=thresholds) == pytest.approx(expected, abs=1e-10)


@examples(150)
@given(scorings(min_size=1, max_size=20, both=False).map(nothing_missing), nears)
def test_best_threshold_is_exact(data, near):
    check_best("sdqe", naive.sdqe, *data, near=near)


@examples(20)
@given(labels(min_size=200, max_size=200, both=True))
def test_perfect_scores_get_1(y):
    assert te.metrics.dqe(y, y) == pytest.approx(1)
    assert te.metrics.sdqe(y, y) == 1
    assert te.metrics.dqe(y, np.zeros(len(y))) == 0


def test_worked_example():
    # Two events, near zones of 2: [far 0 1 2 | near 3 4 | 5 6 | near 7 8 | far 9, and half of 10] [half of 10, far 11 |
    # near 12 13 | 14 | near 15 16 | far 17 18 19].
    y, p = np.zeros(20, int), np.zeros(20, int)
    y[[5, 6, 14]] = 1
    p[[0, 1, 4, 9, 10, 11]] = 1
    # First event: not captured; one near miss beside it; far alarms of 2 and 1.5 points of 4.5.
    near_miss, false_alarm = (1 - 0 / 2) * (1 - 1 / 4), (1 - 3.5 / 4.5) * (2**2 + 1.5**2) / 3.5**2
    # Second event: neither captured nor nearly; a far alarm of 1.5 of 4.5 points.
    assert te.metrics.sdqe(y, p, near=2) == pytest.approx((near_miss / 2 * false_alarm + 0) / 2)
    p[14] = 1
    assert te.metrics.sdqe(y, p, near=2) == pytest.approx((near_miss / 2 * false_alarm + 1 / 2 * (1 - 1.5 / 4.5)) / 2)


def test_default_near_range():
    y = np.zeros(1000, int)
    y[[100, 101, 102, 500]] = 1
    assert te.metrics.dqe(y, np.roll(y, 5)) == te.metrics.dqe(y, np.roll(y, 5), near=2)  # (3 + 1) / 2
    y[200:400] = 1
    p = np.roll(y, 3)
    assert te.metrics.sdqe(y, p) == te.metrics.sdqe(y, p, near=796 // 22)


def test_scores_on_a_threshold_stay_on_it_at_any_scale():
    y, s = [0, 0, 1, 1, 1, 0], np.array([0.8, 0.6, 0.4, 0.8, 0.7, 0.6])
    assert te.metrics.dqe(y, s, n_thresholds=10) == te.metrics.dqe(y, 10 * s, n_thresholds=10)


def test_scores_whose_range_is_beyond_all_floats():
    y, s = [0, 0, 1, 1, 0, 0, 0, 1, 0, 0], np.array([-1.0, 0.2, 0.9, 1.0, -0.5, 0.1, 0.7, 0.3, -0.2, 0.0])
    assert te.metrics.dqe(y, s * np.finfo(float).max) == te.metrics.dqe(y, s)
