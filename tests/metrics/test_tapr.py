"""TaPR against its definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import swept
from naive.tapr import tapr as naive_tapr
from strategies import examples, predictions, scorings
from tsadeval.core.metric import f_beta
from tsadeval.errors import UndefinedMetricWarning

tapr, tapr_f1 = te.metrics.tapr, te.metrics.tapr_f1

OPTIONS = st.fixed_dictionaries(
    {"delta": st.one_of(st.integers(0, 6), st.sampled_from([20, 600]))},
    optional={
        "alpha": st.sampled_from([0.0, 0.3, 1.0]),
        "theta": st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 2 / 3, 5 / 6, 1.0]),
    },
)


@examples(1000)
@given(predictions(), OPTIONS, st.sampled_from([0.5, 1.0, 2.0]))
def test_equals_the_definition(data, options, beta):
    y, p = data
    precision, recall = naive_tapr(y, p, **options)
    if not p.any():
        with pytest.warns(UndefinedMetricWarning, match="no alarm"):
            found = tapr(y, p, **options)
        assert math.isnan(found.precision)
        assert found[1:] == (0.0, 0.0)
        assert tapr_f1(y, p, **options) == 0
        return
    found = tapr(y, p, **options, beta=beta)
    assert found.precision == pytest.approx(precision, abs=1e-10)
    assert found.recall == pytest.approx(recall, abs=1e-10)
    assert found.f1 == pytest.approx(f_beta(precision, recall, beta), abs=1e-10)
    assert tapr_f1(y, p, **options, beta=beta) == found.f1


@examples(1000)
@given(scorings(), OPTIONS, st.sampled_from([0.5, 1.0]))
def test_best_threshold_equals_trying_all(data, options, beta):
    y, s = data
    levels = np.unique(s)[::-1]
    values = np.array([tapr_f1(y, (s >= v).astype(int), **options, beta=beta) for v in levels])
    v, value = swept("tapr_f1", y, s, **options, beta=beta)
    assert value == pytest.approx(values.max(), abs=1e-12)
    assert v == levels[values >= values.max() - 1e-12][0]


@pytest.mark.parametrize(("n", "delta"), [(2000, 30), (20_000, 600)])
def test_best_threshold_of_longer_series(n, delta):
    rng = np.random.default_rng(n)
    y = (np.convolve(rng.random(n) < 0.01, np.ones(12), "same") > 0).astype(int)
    s = np.round(rng.random(n) + y * rng.random(n), 2)
    levels = np.unique(s)[::-1]
    values = np.array([tapr_f1(y, s >= v, delta=delta) for v in levels])
    v, value = swept("tapr_f1", y, s, delta=delta)
    assert value == pytest.approx(values.max(), abs=1e-12)
    assert v == levels[np.argmax(values)]


def test_example_by_hand():
    # Event 2..5 has 3 hits and a zone of three points weighing .9975, .5, .0025, of which the first is an alarm.
    y = [0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    p = [0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0]
    first = 1 / (1 + math.exp(-6))
    found = tapr(y, p, alpha=0.5, theta=0.9, delta=3)
    assert found.recall == pytest.approx(0.5 * 1 + 0.5 * (3 + first) / 4, abs=1e-12)
    assert found.precision == pytest.approx(0.5 * 1 / 2 + 0.5 * (3 + first) / 4 / 2, abs=1e-12)


def test_a_sum_of_decays_that_equals_theta_reaches_it():
    # The zone's eight weights add up to 4, so the event of five has a portion of exactly 0.8.
    y = [1] * 5 + [0] * 8
    assert tapr(y, [0] * 5 + [1] * 8, alpha=1.0, theta=0.8, delta=8).recall == 1
    assert tapr(y, [0] * 5 + [1] * 7 + [0], alpha=1.0, theta=0.8, delta=8).recall == 0


def test_first_point_of_the_next_event_counts_once():
    # The published zone of two points takes it in, and gives TaP = 1.0025, TaR = 0.5012.
    found = tapr([1, 0, 1], [0, 0, 1], alpha=0.0, delta=2)
    assert found == (1.0, 0.5, pytest.approx(2 / 3))


@pytest.mark.parametrize("delta", [0, 1])
def test_a_zone_of_one_point_is_worth_nothing(delta):
    assert tapr([1, 0, 0], [0, 1, 0], delta=delta) == (0.0, 0.0, 0.0)


def test_the_end_of_the_series_cuts_the_zone_without_shrinking_it():
    y, p = np.zeros(30, int), np.zeros(30, int)
    y[3:9], p[5:14] = 1, 1
    assert tapr(y[:14], p[:14], delta=15) == tapr(y, p, delta=15)
    assert tapr(y[:14], p[:14], delta=10**30).recall == pytest.approx(0.6 + 0.4, abs=1e-9)


def test_perfect_and_opposite():
    y = np.array([0, 1, 1, 0, 0, 0, 1, 0])
    assert tapr(y, y) == (1.0, 1.0, 1.0)
    assert tapr(y, 1 - y, delta=0) == (0.0, 0.0, 0.0)
    assert tapr([1, 1], [1, 1]) == (1.0, 1.0, 1.0)


def test_no_anomaly_is_undefined():
    with pytest.warns(UndefinedMetricWarning, match="no anomalous point") as caught:
        found = tapr([0, 0, 0], [0, 1, 0])
    assert caught[0].filename == __file__
    assert found.precision == 0
    assert math.isnan(found.recall)
    assert math.isnan(found.f1)
