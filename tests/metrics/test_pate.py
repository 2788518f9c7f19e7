"""PATE against its definition."""

import json
import math
import pathlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import swept
from naive.best import best as naive_best
from naive.pate import pate as naive_pate
from naive.pate import pate_prf as naive_prf
from strategies import examples, labels, predictions, scorings
from tsadeval.errors import UndefinedMetricWarning

pate, pate_f1, pate_prf = te.metrics.pate, te.metrics.pate_f1, te.metrics.pate_prf

BUFFERS = {
    "early": st.integers(0, 8),
    "delay": st.integers(0, 8),
    "n_splits": st.integers(1, 3),
    "include_zero": st.booleans(),
}
SCORE_OPTIONS = st.fixed_dictionaries(
    BUFFERS | {"n_thresholds": st.sampled_from([2, 3, 5, 250, None]), "drop_intermediate": st.booleans()}
)
PREDICTION_OPTIONS = st.fixed_dictionaries(BUFFERS | {"beta": st.sampled_from([0.5, 1.0, 2.0])})


@examples(1000)
@given(scorings(max_size=30), SCORE_OPTIONS)
def test_equals_the_definition(data, options):
    y, s = data
    assert pate(y, s, **options) == pytest.approx(naive_pate(y, s, **options), abs=1e-10)


@examples(300)
@given(st.data())
def test_equals_the_definition_for_any_finite_scores(data):
    y = data.draw(labels(both=True, max_size=12))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    s = data.draw(st.lists(finite, min_size=len(y), max_size=len(y)))
    options = {"early": 3, "delay": 2, "n_thresholds": data.draw(st.sampled_from([3, None]))}
    assert pate(y, s, **options) == pytest.approx(naive_pate(y, s, **options), abs=1e-10)


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
@examples(1000)
@given(predictions(), PREDICTION_OPTIONS)
def test_predictions_equal_the_definition(data, options):
    y, p = data
    precision, recall, f = naive_prf(y, p, **options)
    found = pate_prf(y, p, **options)
    assert found.precision == pytest.approx(math.nan if precision is None else precision, abs=1e-10, nan_ok=True)
    assert found.recall == pytest.approx(recall, abs=1e-10)
    assert found.f1 == pate_f1(y, p, **options) == pytest.approx(f, abs=1e-10)


@examples(300)
@given(scorings(max_size=25), PREDICTION_OPTIONS)
def test_best_threshold_equals_the_definition(data, options):
    expected_v, expected = naive_best(naive_prf, *data, **options)
    v, value = swept("pate_f1", *data, **options)
    assert v == expected_v
    assert value == pytest.approx(expected, abs=1e-12)


def test_best_threshold_of_a_long_series():
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(60) % 2, rng.integers(5, 40, 60))
    s = np.round(rng.random(len(y)) + 0.4 * y, 2)
    levels = np.unique(s)[::-1]
    values = np.array([pate_f1(y, s >= v, early=20, delay=30) for v in levels])
    assert swept("pate_f1", y, s, early=20, delay=30) == (levels[np.argmax(values)], values.max())


def test_best_threshold_by_hand():
    # Without zones PATE-F1 of a whole event is the point-wise one. At 2 the event is found, with one false alarm.
    y, s = [0, 0, 1, 1, 0, 0], [0, 3, 2, 3, 0, 0]
    options = {"early": 0, "delay": 0, "n_splits": 1, "include_zero": False}
    assert swept("pate_f1", y, s, **options) == (2, pytest.approx(4 / 5))


def one_pair(y, p, early, delay):
    return pate_prf(y, p, early=early, delay=delay, n_splits=1, include_zero=False)


def test_zones_by_hand():
    y = [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]  # the event's middle is 4.5
    # After: (z - x) / (z - 4.5) with z = 8; counted though the event is missed, of whose points none is forgiven.
    assert one_pair(y, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0], 3, 3) == pytest.approx((4 / 7, 2 / 9, 8 / 25))
    # Before: nothing while the event is missed, then (x - z) / (4.5 - z) with z = 1.
    assert one_pair(y, [0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 3, 3)[:2] == (0, 0)
    assert one_pair(y, [0, 0, 1, 0, 1, 1, 0, 0, 0, 0], 3, 3)[:2] == pytest.approx(((2 + 1 / 3.5) / 3, 1))
    # The far end of a zone weighs nothing, and nothing is beyond it.
    for far in (1, 8, 0, 9):
        p = np.array(y)
        p[far] = 1
        assert one_pair(y, p, 3, 3)[:2] == pytest.approx((2 / 3, 1))


def test_the_zone_after_an_event_wins_over_the_one_before_the_next():
    y = np.array([1, 0, 0, 0, 1])
    p = np.array([0, 0, 1, 0, 1])
    # With delay 2 the point at 2 ends the first event's zone; the zone before the second is the point at 3 alone.
    assert one_pair(y, p, 3, 2)[:2] == pytest.approx((1 / 2, 1 / 2))
    # With delay 0 the zone before the second event starts at 1: (2 - 1) / (4 - 1).
    assert one_pair(y, p, 3, 0)[:2] == pytest.approx(((1 + 1 / 3) / 2, (1 + 1 / 3) / (2 + 1 / 3)))


def test_misses_by_hand():
    y = [1] * 5 + [0]
    # First run of 1: offsets 0 and 1 weigh 1, offset o beyond lacks (2 o - 1) / 10.
    assert one_pair(y, [1, 0, 0, 0, 0, 0], 0, 0).recall == pytest.approx(1 / (1 + 1 + 0.7 + 0.5 + 0.3))
    # The first run counts, not the longest; it starts at 2 and is 1 long: 0 and 1 weigh 1, 3 weighs 0.5.
    assert one_pair(y, [0, 0, 1, 0, 1, 0], 0, 0).recall == pytest.approx(2 / (2 + 2 + 0.5))
    # A run of 3 from offset 1: the last point is forgiven whole.
    assert one_pair(y, [0, 1, 1, 1, 0, 0], 0, 0).recall == pytest.approx(3 / 4)


def test_perfect_scores_are_perfect():
    y = np.repeat([0, 1, 0, 1, 1, 0], 10)
    assert pate(y, y) == 1
    assert pate_f1(y, y) == 1


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_no_alarm_has_no_precision():
    y = [0, 1, 1, 0]
    assert pate_f1(y, [0, 0, 0, 0]) == 0
    found = pate_prf(y, [0, 0, 0, 0])
    assert math.isnan(found.precision)
    assert found[1:] == (0, 0)
    assert all(map(math.isnan, pate_prf([0, 0], [0, 1])))


def test_nothing_but_anomalies():
    with pytest.warns(UndefinedMetricWarning, match="no normal point"):
        assert math.isnan(pate([1, 1], [0.1, 0.2]))
    assert pate_f1([1, 1], [1, 1]) == 1


def test_equal_recalls_both_count():
    """Everything is found at two thresholds: the second point, of lower precision, is the end of the curve."""
    y = [0, 0, 1, 1, 0, 0]
    s = [0, 0, 2, 1, 1, 0]
    for n_thresholds in (250, None):
        assert pate(y, s, early=0, delay=0, n_thresholds=n_thresholds) == pytest.approx(1 / 2 + 1 / 2 * (1 + 2 / 3) / 2)


def test_many_thresholds_are_all_thresholds():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(20) % 2, 5)
    s = rng.integers(0, 30, 100)
    every = pate(y, s, early=4, delay=6, n_thresholds=None, drop_intermediate=False)
    assert pate(y, s, early=4, delay=6, n_thresholds=500, drop_intermediate=False) == every


@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-324, 1.0])
def test_scores_of_any_magnitude(scale):
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(40) % 2, 10)
    s = rng.integers(-100, 100, 400)
    assert pate(y, s * scale, early=5, delay=5) == pytest.approx(pate(y, s, early=5, delay=5), abs=1e-12)


def test_sizes_beyond_the_series_are_all_alike():
    y = [0, 0, 1, 1, 0, 0, 0]
    s = [1, 3, 2, 5, 4, 2, 0]
    assert pate(y, s, early=10**30, delay=10**25) == pate(y, s, early=7, delay=7)


def test_one_long_event_of_falling_scores_costs_no_more_than_sorting():
    """First runs that start ever earlier, each as long as the whole rest: a square cost would take minutes."""
    n = 400_000
    y = np.ones(n, np.int64)
    y[-1] = 0
    s = np.arange(n)  # found from the end: every level has a new first run
    assert 0.9 < pate(y, s, n_thresholds=None) <= 1
    assert 0.9 < pate(y, (s // 2) * 2 + 1 - s % 2, n_thresholds=None) <= 1  # each first run waits for its next point


def golden():
    return json.loads((pathlib.Path(__file__).parents[1] / "golden" / "pate.json").read_text())


def test_equals_the_authors_package():
    """Numbers of PATE 0.1.1, see golden/make_pate.py."""
    for case in golden():
        y, p = (np.array(list(case[name]), np.int64) for name in ("labels", "predictions"))
        found = pate(y, case["scores"], n_thresholds=case["n_thresholds"], **case["buffers"])
        assert found == pytest.approx(case["pate"], abs=1e-12)
        assert pate_f1(y, p, **case["buffers"]) == pytest.approx(case["pate_f1"], abs=1e-12)


def test_a_percentile_on_a_score_is_that_score():
    """The package gives 0.80298 here and 0.81631 for the scores plus 1000: it rounds where a percentile stands."""
    y = [1, 1, 1, 0, 1, 1, 0, 0]
    s = np.array([6, 0, 7, 1, 4, 3, 5, 2])
    found = [pate(y, s + shift, early=0, delay=0, n_thresholds=10) for shift in (0, 1000)]
    assert found[0] == found[1] == pytest.approx(0.8163095238095238)
