"""Metrics that forgive shifts, and distances between alarms and events, against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import check, check_best, nothing_missing
from naive import distance, tolerance
from strategies import examples, predictions, scorings

ks = st.sampled_from([0, 1, 2, 3, 5, 40, 10**12])
betas = st.sampled_from([1.0, 0.5, 2.0])


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
@examples(250)
@given(predictions(min_size=1, both=False).map(nothing_missing), ks, betas)
def test_time_tolerant_equals_the_definition(data, k, beta):
    precision, recall, f = tolerance.time_tolerant(*data, k, beta)
    found = te.metrics.time_tolerant(*data, tolerance=k, beta=beta)
    assert found.precision == pytest.approx(math.nan if precision is None else float(precision), nan_ok=True)
    assert found.recall == pytest.approx(float(recall))
    assert found.f1 == te.metrics.time_tolerant_f1(*data, tolerance=k, beta=beta) == pytest.approx(f, abs=1e-12)


@examples(200)
@given(predictions(min_size=1, both=False).map(nothing_missing), ks, st.sampled_from(["far", "all"]))
def test_counts_in_range_equal_the_definition(data, k, false):
    check("total_detected_in_range", tolerance.total_detected_in_range, *data, tolerance=k)
    check("detection_accuracy_in_range", tolerance.detection_accuracy_in_range, *data, tolerance=k, false=false)


@examples(200)
@given(predictions(min_size=1, both=False).map(nothing_missing), st.sampled_from([0, 1, 5, 10**30]), st.booleans())
def test_distances_equal_the_definition(data, k, squared):
    check("temporal_distance", distance.temporal_distance, *data, squared=squared)
    check("absolute_detection_distance", distance.absolute_detection_distance, *data)
    check("weighted_detection_difference", distance.weighted_detection_difference, *data, tolerance=k)
    check("average_detection_count", distance.average_detection_count, *data)


@examples(200)
@given(scorings(min_size=1, max_size=20, both=False).map(nothing_missing), ks, betas, st.sampled_from(["far", "all"]))
def test_best_thresholds_are_exact(data, k, beta, false):
    check_best("time_tolerant_f1", lambda *a, **o: tolerance.time_tolerant(*a, **o)[2], *data, tolerance=k, beta=beta)
    check_best("total_detected_in_range", tolerance.total_detected_in_range, *data, tolerance=k)
    check_best("detection_accuracy_in_range", tolerance.detection_accuracy_in_range, *data, tolerance=k, false=false)
    check_best("absolute_detection_distance", distance.absolute_detection_distance, *data)
    check_best("temporal_distance", distance.temporal_distance, *data, squared=false == "all")
    check_best("weighted_detection_difference", distance.weighted_detection_difference, *data, tolerance=k)
    check_best("average_detection_count", distance.average_detection_count, *data)


def test_worked_example():
    #        0  1  2  3  4  5  6  7  8  9
    y = [0, 0, 0, 1, 1, 1, 1, 0, 0, 0]
    p = [0, 1, 0, 1, 0, 0, 0, 0, 1, 0]
    # Within 1 point: of the anomalous points 3 and 4 are near an alarm, of the alarms only 3. Within 2 points all are.
    assert te.metrics.time_tolerant(y, p, tolerance=1) == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    assert te.metrics.time_tolerant(y, p, tolerance=2) == (1, 1, 1)
    assert te.metrics.detection_accuracy_in_range(y, p, tolerance=1) == pytest.approx(2 / 4)
    assert te.metrics.total_detected_in_range(y, p, tolerance=1) == 1 / 2
    assert te.metrics.temporal_distance(y, p) == (0 + 1 + 2 + 2) + (2 + 0 + 2)
    assert te.metrics.temporal_distance(y, p, squared=True) == (0 + 1 + 4 + 4) + (4 + 0 + 4)
    assert te.metrics.absolute_detection_distance(y, p) == 1.5 / 4
    assert te.metrics.weighted_detection_difference(y, p, tolerance=4) == pytest.approx(
        math.exp(-(1.5**2) / 8) - 2 / 4 - 2 / 4
    )
    assert te.metrics.average_detection_count(y, p) == 1 / 4


def test_no_tolerance_is_point_wise_f():
    y, p = [0, 1, 1, 0, 1, 0], [1, 1, 0, 0, 1, 1]
    assert te.metrics.time_tolerant(y, p, tolerance=0) == pytest.approx(te.metrics.point(y, p))


def test_no_alarm_is_far_from_everything():
    assert te.metrics.temporal_distance([0, 1, 1, 0], [0, 0, 0, 0]) == 2 * 4
    assert te.metrics.temporal_distance([0, 1, 1, 0], [0, 0, 0, 0], squared=True) == 2 * 16


def test_long_gaps_lose_no_digits():
    n = 4_000_001
    y, p = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    y[n // 2] = 1
    p[[0, n - 1]] = 1
    assert te.metrics.temporal_distance(y, p) == 3 * (n // 2)
    assert te.metrics.temporal_distance(y, p, squared=True) == 3 * (n // 2) ** 2


def test_best_of_a_long_series_is_that_of_the_point_wise_f():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 2, 300), 10)
    s = rng.random(3000) + 0.3 * y
    assert te.best_threshold("time_tolerant_f1(tolerance=0)", y, s) == te.best_threshold("f1", y, s)
