"""Latency, widened adjustment, operators' metrics, adjusted areas, UCR accuracy, channels: against definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import check, check_best, nothing_missing
from naive import latency, operations, widened
from naive.event_level import event as naive_event
from strategies import examples, predictions, scorings
from tsadeval.errors import InvalidInputError, UndefinedMetricWarning

betas = st.sampled_from([1.0, 0.5, 2.0])
widths = st.sampled_from([0, 1, 2, 3, 7, 10**12])
forms = st.sampled_from(["asymmetric", "symmetric", "false"])
shares = st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 0.58, 1.0])
batches = st.sampled_from([1, 2, 3, 5, 100, 10**12])
variants = st.sampled_from(["segments", "runs", "discounted"])
any_prediction = predictions(min_size=1, both=False).map(nothing_missing)
any_scoring = scorings(min_size=1, max_size=20, both=False).map(nothing_missing)


def precision_of(y, p, variant):
    value = naive_event(y, p, 1.0, variant)[0]
    return None if value is None else float(value)


@examples(250)
@given(any_prediction, batches, betas, st.sampled_from([0.1, 0.5, 1.0, 1e-9]), st.sampled_from([math.e, 1.0, 0.3]))
def test_latency_equals_the_definition(data, batch, beta, share, exponent):
    check("latency_sparsity_f1", latency.latency_sparsity_f1, *data, batch=batch, beta=beta)
    check("early_detection_score", latency.early_detection_score, *data, share=share)
    check("adtqc", latency.adtqc, *data, exponent=exponent)


@examples(250)
@given(any_prediction, shares, widths, forms, betas)
def test_widened_adjustment_equals_the_definition(data, k, width, form, beta):
    check("f1_pa_kl", widened.f1_pa_kl, *data, k=k, reach=width, beta=beta)
    check("balanced_f1_pa", widened.balanced_f1_pa, *data, width=width, form=form, beta=beta)


@examples(250)
@given(any_prediction, variants, st.sampled_from([0, 1, 3, 10**9]), st.sampled_from([1, 2, 4, 10**9]))
def test_operators_metrics_equal_the_definition(data, variant, merge_gap, min_duration):
    check("event_recall", operations.event_recall, *data)
    check("event_precision", precision_of, *data, variant=variant)
    check("alarming_precision", operations.alarming_precision, *data)
    check("alarm_episodes", operations.alarm_episodes, *data, merge_gap=merge_gap, min_duration=min_duration)
    check("time_in_alarm", operations.time_in_alarm, *data)
    check("time_to_recover", operations.time_to_recover, *data)


@examples(120)
@given(any_scoring, batches, shares, widths, forms, betas)
def test_best_thresholds_of_adjusted_f_are_exact(data, batch, k, width, form, beta):
    check_best("latency_sparsity_f1", latency.latency_sparsity_f1, *data, batch=batch, beta=beta)
    check_best("f1_pa_kl", widened.f1_pa_kl, *data, k=k, reach=width, beta=beta)
    check_best("balanced_f1_pa", widened.balanced_f1_pa, *data, width=width, form=form, beta=beta)


@examples(120)
@given(any_scoring, variants, st.sampled_from([0.1, 0.5, 1.0]))
def test_best_thresholds_of_operators_metrics_are_exact(data, variant, share):
    check_best("event_recall", operations.event_recall, *data)
    check_best("event_precision", precision_of, *data, variant=variant)
    check_best("alarming_precision", operations.alarming_precision, *data)
    check_best("early_detection_score", latency.early_detection_score, *data, share=share)
    check_best("time_in_alarm", operations.time_in_alarm, *data)
    check_best("time_to_recover", operations.time_to_recover, *data)


@examples(120)
@given(any_scoring, st.sampled_from([math.e, 1.0, 0.3]), st.sampled_from([0, 1, 3, 10**9]), st.sampled_from([1, 2, 4]))
def test_best_thresholds_of_timing_and_episodes_are_exact(data, exponent, merge_gap, min_duration):
    check_best("adtqc", latency.adtqc, *data, exponent=exponent)
    check_best("alarm_episodes", operations.alarm_episodes, *data, merge_gap=merge_gap, min_duration=min_duration)


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
@examples(120)
@given(any_scoring, st.sampled_from(["step", "trapezoid"]))
def test_adjusted_areas_equal_the_definition(data, interpolation):
    y, s = data
    roc, pr = operations.adjusted_areas(y.tolist(), s.tolist(), interpolation)
    assert te.metrics.auc_roc_pa(y, s) == pytest.approx(math.nan if roc is None else roc, nan_ok=True)
    assert te.metrics.auc_pr_pa(y, s, interpolation=interpolation) == pytest.approx(pr)


@examples(200)
@given(scorings(min_size=1, both=False).map(nothing_missing), st.sampled_from([0, 1, 2, 5, 100, 10**12]))
def test_ucr_accuracy_equals_the_definition(data, slack):
    y, s = data
    expected = operations.ucr_accuracy(y.tolist(), s.tolist(), slack)
    assert te.metrics.ucr_accuracy(y, s, slack=slack) == pytest.approx(expected)


def test_point_adjustment_is_the_limit():
    y, p = [0, 1, 1, 1, 1, 0, 0, 1, 1, 0], [1, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert te.metrics.f1_pa_kl(y, p, k=0, reach=100) == te.metrics.f1_pa(y, p)
    assert te.metrics.f1_pa_kl(y, p, reach=0) == te.metrics.f1(y, p)
    assert te.metrics.balanced_f1_pa(y, p, width=0) == te.metrics.f1_pa(y, p)
    assert te.metrics.balanced_f1_pa(y, p, width=0, form="symmetric") == te.metrics.f1(y, p)


def test_worked_latency():
    # Batches of 3: {0 1 2} {3 4 5} {6 7 8} {9}. Event 4..7 is found from its second batch on; {0 1 2} is a false alarm.
    y, p = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0], [0, 1, 1, 0, 0, 0, 0, 1, 0, 0]
    assert te.metrics.latency_sparsity_f1(y, p, batch=3) == pytest.approx(2 * 1 / (2 * 1 + 1 + 1))
    assert te.metrics.latency_sparsity_f1(y, p) == pytest.approx(2 * 1 / (2 * 1 + 3 + 2))
    # One point late of four; the alarm two points before the other event, with its length, 2, as the allowance.
    y, p = [0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0], [0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0]
    assert te.metrics.adtqc(y, p, exponent=2) == pytest.approx((1 / (1 + (1 / 3) ** 2) + 0) / 2)
    p[6] = 0
    assert te.metrics.adtqc(y, p, exponent=2) == pytest.approx((1 / (1 + (1 / 3) ** 2) + (1 / 2) ** 2) / 2)


def test_worked_operations():
    #    0  1  2  3  4  5  6  7  8  9
    y = [0, 1, 1, 1, 0, 0, 0, 1, 1, 0]
    p = [0, 1, 0, 1, 1, 1, 0, 0, 0, 1]
    assert te.metrics.event_recall(y, p) == 1 / 2
    assert te.metrics.event_precision(y, p) == 1 / 2
    with pytest.warns(te.errors.UndefinedMetricWarning):  # of recall
        assert te.metrics.event_precision([0, 0], [0, 1]) == te.metrics.event([0, 0], [0, 1]).precision == 0
    assert te.metrics.event_precision(y, p, variant="runs") == pytest.approx(2 / 3)
    assert te.metrics.alarming_precision(y, p) == 1 / 2
    assert te.metrics.alarm_episodes(y, p) == 3
    assert te.metrics.alarm_episodes(y, p, merge_gap=1) == 2
    assert te.metrics.alarm_episodes(y, p, merge_gap=1, min_duration=2) == 1
    assert te.metrics.time_in_alarm(y, p) == 5 / 10
    assert te.metrics.time_to_recover(y, p) == 2
    # A run that starts after the event has nothing to do with it.
    assert te.metrics.time_to_recover([1, 1, 0, 0], [1, 0, 1, 1]) == 0
    # The alarm lasts into the next event, which is where the count stops.
    assert te.metrics.time_to_recover([1, 0, 0, 1, 0], [1, 1, 1, 1, 1]) == (2 + 1) / 2


def test_ucr_rule_of_the_archive():
    """Correct where begin - max(100, L) < P < end + max(100, L), ends inclusive."""
    y = np.zeros(1000, int)
    y[400:420] = 1
    for at, right in ((300, 0), (301, 1), (400, 1), (419, 1), (518, 1), (519, 0)):
        assert te.metrics.ucr_accuracy(y, np.arange(1000) == at) == right
    y[300:500] = 1
    for at, right in ((100, 0), (101, 1), (698, 1), (699, 0)):
        assert te.metrics.ucr_accuracy(y, np.arange(1000) == at) == right
    assert te.metrics.ucr_accuracy(y, np.isin(np.arange(1000), [0, 350])) == 0.5


def test_channels_equal_the_definition():
    rng = np.random.default_rng(1)
    for _ in range(300):
        n, channels = int(rng.integers(1, 25)), int(rng.integers(1, 5))
        y, p = (rng.random((n, channels)) < rng.uniform(0.05, 0.6) for _ in range(2))
        beta = float(rng.choice([0.5, 1.0, 2.0]))
        if y.any() and p.any():
            expected = operations.channel_aware(y.tolist(), p.tolist(), beta)
            assert te.metrics.channel_aware(y, p, beta=beta) == pytest.approx(expected, abs=1e-12)


def test_channels_that_cannot_be_judged():
    y = np.array([[0, 1], [0, 0]])
    with pytest.raises(InvalidInputError, match=r"y_true has shape \(2, 2\), but y_pred \(2, 1\)"):
        te.metrics.channel_aware(y, [[0], [1]])
    with pytest.raises(InvalidInputError, match=r"y_pred .* 2 at row 1, column 0"):
        te.metrics.channel_aware(y, [[0, 1], [2, 0]])
    with pytest.raises(InvalidInputError, match="one row a time point"):
        te.metrics.channel_aware(y[None], y[None])
    with pytest.raises(InvalidInputError, match="dtype"):
        te.metrics.channel_aware([["a"]], [["b"]])
    with pytest.raises(InvalidInputError, match="'power' must list columns from 0 to 1"):
        te.metrics.channel_aware(y, y, subsystems={"power": [2]})
    with pytest.raises(InvalidInputError, match="beta"):
        te.metrics.channel_aware(y, y, beta=0)
    # A group without affected channels is no group of the event.
    assert te.metrics.channel_aware(y, y, subsystems={"a": [0], "b": [1]}) == (1, 1, 1)
    assert te.metrics.channel_aware(y, y, subsystems={"a": [0]}).recall == 0
    with pytest.warns(UndefinedMetricWarning, match="no anomalous point"):
        assert all(map(math.isnan, te.metrics.channel_aware(0 * y, y)))
