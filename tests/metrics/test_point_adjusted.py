"""Point-adjusted metrics against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import swept
from naive import point_adjusted as naive
from naive.pointwise import counts, ratio
from strategies import examples, predictions, scorings
from tsadeval.core.inputs import Prediction
from tsadeval.core.metric import METRICS

CHOICES = {
    "f1_pa": {},
    "f1_pa_k": {"k": [0.0, 0.07, 0.1, 0.2, 1 / 3, 0.5, 0.6, 0.75, 0.9, 1.0], "strict": [False, True]},
    "pa_k_auc": {"n_values": [2, 3, 11, 13], "integration": ["mean", "trapezoid"], "strict": [False, True]},
    "f1_pa_delay": {"max_delay": list(range(10))},
    "reduced_f1": {},
}


def options_of(name, rng):
    choices = {**CHOICES[name], "beta": [0.5, 1.0, 1.0, 2.0]}
    return {option: values[rng.integers(len(values))] for option, values in choices.items()}


def same(found, expected):
    return math.isnan(found) if expected is None else found == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.slow
@examples(1000)
@given(predictions(min_size=1, both=False), st.integers(0, 2**32 - 1))
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_equals_the_definition(data, seed):
    y, p = data
    rng = np.random.default_rng(seed)
    for name in CHOICES:
        options = options_of(name, rng)
        found, expected = METRICS[name].function(y, p, **options), getattr(naive, name)(y, p, **options)
        assert same(found, expected), (name, options)
    tp, fp, fn, _ = counts(y, naive.point_adjusted(y, p))
    expected = (ratio(tp, tp + fp), ratio(tp, tp + fn), naive.f1_pa(y, p))
    assert all(map(same, te.metrics.point_adjusted(y, p), expected))


@examples(1000)
@given(scorings(max_size=25), st.integers(0, 2**32 - 1))
def test_the_best_threshold_is_the_best_of_all(data, seed):
    y, s = data
    rng = np.random.default_rng(seed)
    levels = np.unique(s)[::-1]
    predicted = [Prediction.of(y, s >= v) for v in levels]
    for name in CHOICES:
        options = options_of(name, rng)
        values = np.array([METRICS[name].compute(p, **options) for p in predicted])
        v, value = swept(name, y, s, **options)
        assert value == pytest.approx(values.max(), abs=1e-12), (name, options)
        # Of several best the largest, where rounding leaves no doubt which are the best.
        assert v == levels[np.flatnonzero(values >= values.max() - 1e-12)[0]], (name, options)


@examples(200)
@given(scorings(max_size=6))
def test_the_best_threshold_where_everything_is_anomalous_or_tied(data):
    y, s = data
    for labels, scores in ((np.ones_like(y), s), (y, np.zeros_like(s))):
        for name in CHOICES:
            v, value = swept(name, labels, scores)
            assert value == pytest.approx(METRICS[name](labels, scores >= v), abs=1e-12)
            assert value == pytest.approx(max(METRICS[name](labels, scores >= u) for u in set(scores)), abs=1e-12)


@examples(300)
@given(predictions())
def test_pa_k_lies_between_point_adjustment_and_none(data):
    assert te.metrics.f1_pa_k(*data, k=0) == te.metrics.f1_pa(*data)
    assert te.metrics.f1_pa_k(*data, k=1) == te.metrics.f1(*data)
    assert te.metrics.f1(*data) - 1e-12 <= te.metrics.pa_k_auc(*data) <= te.metrics.f1_pa(*data) + 1e-12


def test_the_first_point_is_adjusted_too():
    assert te.metrics.f1_pa([1, 1, 1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]) == 1


@pytest.mark.parametrize("k", [0, 0.2, 1])
def test_an_event_without_alarm_is_never_found(k):
    assert te.metrics.f1_pa_k([0, 1, 1, 0], [0, 0, 0, 0], k=k) == 0
    assert te.metrics.f1_pa_k([0, 1, 1, 0], [0, 0, 0, 0], k=k, strict=True) == 0


@pytest.mark.parametrize(("hits", "length", "k"), [(7, 100, 0.07), (29, 100, 0.29), (1, 3, 1 / 3), (3, 30, 0.1)])
def test_a_share_just_reached_counts_unless_strict(hits, length, k):
    y, p = np.ones(length, int), np.arange(length) < hits
    assert te.metrics.f1_pa_k(y, p, k=k) == 1
    assert te.metrics.f1_pa_k(y, p, k=k, strict=True) == te.metrics.f1(y, p)


def test_a_third_reaches_33_of_99():
    y, p = np.array([1, 1, 1]), np.array([1, 0, 0])
    # 34 values of k, from 0 to 33/99, adjust the event; the others leave 1 found of 3: F = 1/2.
    assert te.metrics.pa_k_auc(y, p) == pytest.approx(0.34 + 0.66 / 2)


def test_delay_by_hand():
    y, p = [0, 1, 1, 1, 1, 0], [0, 0, 0, 1, 0, 0]
    assert [te.metrics.f1_pa_delay(y, p, max_delay=k) for k in (0, 1, 2, 10**12)] == [0, 0, 1, 1]
    # An alarm before the event that lasts into it is in time; a late alarm inside is not a false one.
    assert te.metrics.f1_pa_delay([0, 1, 1, 0, 1, 1], [1, 1, 0, 0, 0, 1], max_delay=0) == pytest.approx(4 / 7)


@pytest.mark.parametrize(
    ("length", "points"), [(1, 1), (5, 1), (6, 2), (23, 2), (24, 3), (77, 3), (78, 4), (239, 4), (240, 5), (2184, 7)]
)
def test_reduced_length_is_exact_at_powers_of_three(length, points):
    y = np.zeros(length + 2, int)
    y[1:-1] = 1
    p = np.zeros_like(y)
    p[:2] = 1  # one false alarm, and the event is found
    assert te.metrics.reduced_f1(y, p) == pytest.approx(2 * points / (2 * points + 1))
