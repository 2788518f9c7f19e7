"""eTaPR against its definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import swept
from naive.best import best as naive_best
from naive.etapr import etapr as naive_etapr
from strategies import examples, predictions, scorings
from tsadeval.core.metric import f_beta
from tsadeval.errors import UndefinedMetricWarning

etapr, etapr_f1 = te.metrics.etapr, te.metrics.etapr_f1

THETAS = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 2 / 3, 5 / 6, 1.0])
OPTIONS = st.fixed_dictionaries(
    {"delta": st.sampled_from([0, 0, 0.3, 0.5, 1.0, 2, 6, 1e300])},
    optional={"theta_p": THETAS, "theta_r": THETAS},
)


@examples(1000)
@given(predictions(max_size=25), OPTIONS, st.sampled_from([0.5, 1.0, 2.0]))
def test_equals_the_definition(data, options, beta):
    y, p = data
    precision, recall = naive_etapr(y, p, **options)
    if not p.any():
        with pytest.warns(UndefinedMetricWarning, match="no alarm"):
            found = etapr(y, p, **options)
        assert math.isnan(found.precision)
        assert found[1:] == (0.0, 0.0)
        assert etapr_f1(y, p, **options) == 0
        return
    found = etapr(y, p, **options, beta=beta)
    assert found.precision == pytest.approx(precision, abs=1e-10)
    assert found.recall == pytest.approx(recall, abs=1e-10)
    assert found.f1 == pytest.approx(f_beta(precision, recall, beta), abs=1e-10)
    assert etapr_f1(y, p, **options, beta=beta) == found.f1


def naive_f(y, p, beta, **options):
    return f_beta(*naive_etapr(y, p, **options), beta)


@examples(1000)
@given(scorings(max_size=20), OPTIONS, st.sampled_from([0.5, 1.0, 2.0]))
def test_best_threshold_equals_the_definition(data, options, beta):
    expected_v, expected = naive_best(naive_f, *data, beta=beta, **options)
    v, value = swept("etapr_f1", *data, beta=beta, **options)
    assert v == expected_v
    assert value == pytest.approx(expected, abs=1e-12)


@examples(300)
@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.integers(1, 5),
    st.fixed_dictionaries({"theta_p": THETAS, "theta_r": THETAS, "delta": st.sampled_from([0, 0.5, 2])}),
)
def test_best_threshold_where_runs_tie_events_together(seed, longest, gap, options):
    """Frequent events with short gaps: runs of alarms overlap several events, which then depend on each other."""
    rng = np.random.default_rng(seed)
    lengths = np.column_stack([rng.integers(1, gap + 1, 30), rng.integers(1, longest + 1, 30)]).ravel()
    y = np.repeat(np.arange(60) % 2, lengths)
    s = np.round(rng.random(len(y)) + rng.choice([-0.3, 0, 0.3]) * y, 2)
    levels = np.unique(s)[::-1]
    values = np.array([etapr_f1(y, s >= v, **options) for v in levels])
    v, value = swept("etapr_f1", y, s, **options)
    assert value == pytest.approx(values.max(), abs=1e-13)
    assert v == levels[values >= values.max() - 1e-13][0]


def test_best_threshold_by_hand():
    # Two events of three points. At 3 a point of each is found: precision 1, recall (1 + 1/3) / 2. At 2 they meet in
    # the gap; at 1 the run has five points, four of them in the events, of which it covers two thirds.
    y = [0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0]
    s = [0, 0, 0, 0, 1, 3, 2, 3, 1, 0, 0, 0, 0]
    assert swept("etapr_f1", y, s) == (1, pytest.approx(f_beta((1 + 4 / 5) / 2, (1 + 2 / 3) / 2)))
    # With a weight on precision, 3 is the best.
    assert swept("etapr_f1", y, s, beta=0.5) == (3, pytest.approx(f_beta(1, 2 / 3, 0.5)))
    # Events that have to be covered whole are so only where all points are alarms, of which 6 in 13 are right.
    assert swept("etapr_f1", y, s, theta_r=1.0, theta_p=0.4) == (0, pytest.approx(f_beta((1 + 6 / 13) / 2, 1)))
    # If that is too little, nothing is ever found, and of equal thresholds the largest is taken.
    assert swept("etapr_f1", y, s, theta_r=1.0) == (3, 0)


def test_best_threshold_of_one_long_chain_takes_no_square_time():
    """Each gap ties its two events from the start, and then each point changes one event of a chain of 20,000."""
    y = np.tile([0, 1, 1, 1, 1, 1, 1, 1, 1, 1], 20_000)
    s = np.tile([3.0, 2, 0, 0, 0, 0, 0, 0, 0, 2], 20_000)
    s[s == 0] = np.random.default_rng(0).random(7 * 20_000)
    v, value = swept("etapr_f1", y, s)
    for lower in np.quantile(s, [0, 0.01, 0.1, 0.3, 0.5, 0.8]):
        assert etapr_f1(y, s >= lower) <= value + 1e-13
    assert value == etapr_f1(y, s >= v)


def test_example_by_hand():
    # Run [1, 2) hits half of event [1, 3); [3, 5) nothing; [7, 10) has a third in an event, too little; [11, 14)
    # lies in event [10, 15). Event [5, 8) is left with nothing, [16, 17) was never hit.
    y = [0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1]
    p = [0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0]
    found = etapr(y, p, theta_p=0.5, theta_r=0.1)
    assert found.recall == pytest.approx((1.5 / 2 + 1.6 / 2) / 4)
    assert found.precision == pytest.approx((1 + math.sqrt(3)) / (1 + math.sqrt(2) + 2 * math.sqrt(3)))


def test_a_long_chain_is_dropped_in_one_pass():
    # Events [0, 3), [4, 7), ... and runs [2, 5), [6, 9), ...: a run covers one point of each of two events. The first
    # event and the last run have one point only, and at 2/3 their fall takes down all others, link by link.
    links = 200_000
    y, p = np.zeros(4 * links + 4, bool), np.zeros(4 * links + 4, bool)
    for shift in (0, 1, 2):
        y[shift : 4 * links : 4] = True
    for shift in (2, 3, 4):
        p[shift : 4 * links + 2 : 4] = True
    assert etapr(y, p, theta_p=2 / 3, theta_r=2 / 3) == (0.0, 0.0, 0.0)
    assert etapr(y, p, theta_p=1 / 3, theta_r=1 / 3).recall == pytest.approx(5 / 6, abs=1e-5)


def test_a_threshold_met_exactly_is_met():
    y, p = np.zeros(40, int), np.zeros(40, int)
    y[5:15], p[14:16] = 1, 1  # a tenth of the event, half of the run
    assert etapr(y, p) == (0.75, 0.55, pytest.approx(f_beta(0.75, 0.55)))


def test_zone_is_a_share_of_the_event():
    # Event of four, delta 0.5: a zone of two points, worth .9975 and .0025.
    y, p = [0, 1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 0, 0]
    portion = 1 + 1 / (1 + math.exp(-6))
    found = etapr(y, p, delta=0.5)
    assert found.recall == pytest.approx((1 + portion / 4) / 2, abs=1e-12)
    assert found.precision == pytest.approx((1 + portion / 2) / 2, abs=1e-12)


@pytest.mark.parametrize("theta", [0.0, 0.5])
def test_events_without_alarms_are_never_detected(theta):
    assert etapr([1, 0, 1, 0, 0], [1, 0, 0, 0, 1], theta_r=theta, theta_p=theta) == (0.5, 0.5, 0.5)


def test_perfect_and_opposite():
    y = np.array([0, 1, 1, 0, 0, 0, 1, 0])
    assert etapr(y, y) == (1.0, 1.0, 1.0)
    assert etapr(y, 1 - y) == (0.0, 0.0, 0.0)
    assert etapr([1, 1], [1, 1]) == (1.0, 1.0, 1.0)


def test_no_anomaly_is_undefined():
    with pytest.warns(UndefinedMetricWarning, match="no anomalous point") as caught:
        found = etapr([0, 0, 0], [0, 1, 0])
    assert caught[0].filename == __file__
    assert found.precision == 0
    assert math.isnan(found.recall)
    assert math.isnan(found.f1)
