"""Event F, composite F, detection delay and false alarms against their definitions."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import swept
from naive import event_level as naive
from naive.best import best as naive_best
from strategies import examples, labels, predictions, scorings
from tsadeval.errors import UndefinedMetricWarning

# What other packages give; see golden/make_event_level.py.
PEERS = json.loads((Path(__file__).parents[1] / "golden" / "event_level.json").read_text())
VARIANTS = ["runs", "segments", "discounted"]
variants = st.sampled_from(VARIANTS)
betas = st.sampled_from([1.0, 0.5, 2.0])


def same(found, expected):
    precision, recall, f = expected
    assert math.isnan(found.precision) if precision is None else found.precision == pytest.approx(float(precision))
    assert found.recall == pytest.approx(float(recall), abs=1e-12)
    assert found.f1 == pytest.approx(f, abs=1e-12)


def with_an_event(y):
    y = y.copy()
    y[0] |= not y.any()
    return y


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
@examples(1000)
@given(predictions(min_size=1, both=False), betas, variants)
def test_event_equals_the_definition(data, beta, variant):
    y, p = with_an_event(data[0]), data[1]
    found = te.metrics.event(y, p, beta=beta, variant=variant)
    same(found, naive.event(y, p, beta, variant))
    assert te.metrics.event_f1(y, p, beta=beta, variant=variant) == found.f1


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
@examples(1000)
@given(predictions(min_size=1, both=False), betas)
def test_composite_equals_the_definition(data, beta):
    y, p = with_an_event(data[0]), data[1]
    found = te.metrics.composite(y, p, beta=beta)
    same(found, naive.composite(y, p, beta))
    assert te.metrics.composite_f1(y, p, beta=beta) == found.f1


@examples(1000)
@given(predictions(min_size=1, both=False), st.sampled_from(["skip", "length"]))
def test_delay_equals_the_definition(data, missed):
    y, p = with_an_event(data[0]), data[1]
    expected = naive.detection_delay(y, p, missed)
    if expected is None:
        with pytest.warns(UndefinedMetricWarning, match="no event is detected"):
            assert math.isnan(te.metrics.detection_delay(y, p, missed=missed))
    else:
        assert te.metrics.detection_delay(y, p, missed=missed) == pytest.approx(expected, abs=1e-12)


@examples(1000)
@given(predictions(min_size=1, both=False), st.sampled_from([1000, 3600, 0.5]))
def test_false_alarms_equal_the_definition(data, per):
    assert te.metrics.false_alarms(*data, per=per) == pytest.approx(naive.false_alarms(*data, per=per), abs=1e-10)


@examples(1000)
@given(scorings(min_size=1, max_size=20, both=False), betas, variants)
def test_best_event_f1_equals_brute_force(data, beta, variant):
    y, s = with_an_event(data[0]), data[1]
    at, value = swept("event_f1", y, s, beta=beta, variant=variant)
    expected_at, expected = naive_best(naive.event, y, s, beta=beta, variant=variant)
    assert value == pytest.approx(expected, abs=1e-12)
    assert at == expected_at
    assert te.metrics.event_f1(y, s >= at, beta=beta, variant=variant) == pytest.approx(value, abs=1e-12)


@examples(1000)
@given(scorings(min_size=1, max_size=20, both=False), betas)
def test_best_composite_f1_equals_brute_force(data, beta):
    y, s = with_an_event(data[0]), data[1]
    at, value = swept("composite_f1", y, s, beta=beta)
    expected_at, expected = naive_best(naive.composite, y, s, beta=beta)
    assert value == pytest.approx(expected, abs=1e-12)
    assert at == expected_at
    assert te.metrics.composite_f1(y, s >= at, beta=beta) == pytest.approx(value, abs=1e-12)


@examples(1000)
@given(scorings(min_size=1, both=False), st.sampled_from(["skip", "length"]))
def test_best_delay_equals_brute_force(data, missed):
    y, s = with_an_event(data[0]), data[1]
    assert swept("detection_delay", y, s, missed=missed) == naive_best(
        naive.detection_delay, y, s, lower=True, missed=missed
    )


@examples(1000)
@given(scorings(min_size=1, both=False), st.sampled_from([1000, 3600, 0.5]))
def test_best_false_alarms_equal_brute_force(data, per):
    expected_at, expected = naive_best(naive.false_alarms, *data, lower=True, per=per)
    assert swept("false_alarms", *data, per=per) == (expected_at, pytest.approx(expected, abs=1e-10))


def test_best_delay_by_hand():
    # The event of the highest score is found late until 4; but there the second one is, until 2, where nothing is late.
    y = [0, 1, 1, 0, 1, 1, 0, 1, 1]
    s = [9, 4, 8, 0, 2, 5, 0, 1, 1]
    assert swept("detection_delay", y, s) == (2, 0)
    assert swept("detection_delay", y, s, missed="length") == (1, 0)


def test_best_false_alarms_by_hand():
    # Two peaks outside the event; the last one reaches it at 2, and the first one is then gone into the same run at 1.
    assert swept("false_alarms", [0, 0, 1, 1, 0, 0], [3, 1, 2, 4, 2, 5]) == (1, 0)
    # Without an event every run is false: from 2 on there is one.
    assert swept("false_alarms", [0, 0, 0, 0], [3, 2, 3, 1]) == (2, 250)


@examples(200)
@given(st.data())
def test_best_for_any_finite_scores(data):
    y = with_an_event(data.draw(labels(max_size=12)))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    s = data.draw(st.lists(finite, min_size=len(y), max_size=len(y)))
    for variant in VARIANTS:
        at, value = swept("event_f1", y, s, variant=variant)
        expected = naive_best(naive.event, y, s, variant=variant)
        assert (at, value) == (expected[0], pytest.approx(expected[1], abs=1e-12))


# Two events; the first is found by two runs, one of them reaching out of it; one false run of two points.
Y = [1, 1, 1, 1, 0, 0, 0, 0, 0, 1]
P = [1, 0, 0, 1, 1, 0, 1, 1, 0, 0]


def test_worked_example():
    assert te.metrics.event(Y, P) == pytest.approx((1 / 2, 1 / 2, 1 / 2))
    assert te.metrics.event(Y, P, variant="runs") == pytest.approx((2 / 3, 1 / 2, 4 / 7))
    assert te.metrics.event(Y, P, variant="discounted") == pytest.approx((1 / 5, 1 / 2, 2 / 7))  # 3 of 5 normal
    assert te.metrics.composite(Y, P) == pytest.approx((2 / 5, 1 / 2, 4 / 9))
    assert te.metrics.detection_delay(Y, P) == 0
    assert te.metrics.detection_delay(Y, P, missed="length") == 1 / 2
    assert te.metrics.false_alarms(Y, P) == 100


def test_an_alarm_run_over_two_events_finds_both():
    y, p = [1, 0, 1], [1, 1, 1]
    assert te.metrics.event(y, p, variant="segments") == (1, 1, 1)
    assert te.metrics.event(y, p) == (1, 1, 1)


def test_predicting_everything_pays_unless_discounted():
    y, p = [0, 1, 1, 0, 0, 0, 1, 0], [1] * 8
    values = [te.metrics.event_f1(y, p, variant=variant) for variant in VARIANTS]
    assert values == [1, 1, 0]


def test_runs_beside_an_event_do_not_touch_it():
    assert te.metrics.event_f1([0, 0, 1, 1, 0], [0, 1, 0, 0, 1]) == 0
    assert te.metrics.false_alarms([0, 0, 1, 1, 0], [0, 1, 0, 0, 1]) == 400


def test_last_point_of_the_series_belongs_to_its_event():
    # The published code of the composite F loses it, and gives 0 here.
    assert te.metrics.composite_f1([0, 0, 1], [0, 0, 1]) == 1


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
@pytest.mark.parametrize("function", [te.metrics.event, te.metrics.composite])
def test_corners_of_precision_recall_f(function):
    nothing = function([0, 1, 1], [0, 0, 0])
    assert math.isnan(nothing.precision)
    assert (nothing.recall, nothing.f1) == (0, 0)
    no_event = function([0, 0, 0], [0, 1, 0])
    assert no_event.precision == 0
    assert math.isnan(no_event.recall)
    assert math.isnan(no_event.f1)
    assert all(math.isnan(v) for v in function([0, 0], [0, 0]))
    assert function([1, 1], [1, 1]) == (1, 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_long_series_do_not_overflow(variant):
    n = 1_000_000  # the product of the numbers of events and of alarms is far beyond 32 bits
    y = np.tile([0, 1], n // 2)
    s = np.tile([0.0, 1.0, 0.0, 0.5], n // 4)
    at, value = swept("event_f1", y, s, variant=variant)
    assert (at, value) == (0.5, 1.0)


@pytest.mark.parametrize("case", PEERS, ids=lambda case: f"{case['y']}-{case['p']}")
def test_equals_other_packages(case):
    y, p = ([int(c) for c in case[name]] for name in "yp")
    assert te.metrics.event(y, p, variant="discounted") == pytest.approx(case["dtaianomaly"], abs=1e-12)
    if y[-1] == 0:  # otherwise TSB-AD loses the last point of the last event
        assert te.metrics.composite_f1(y, p) == pytest.approx(case["TSB-AD"], abs=1e-12)
