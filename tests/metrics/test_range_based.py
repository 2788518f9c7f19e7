"""Range-based precision, recall and F against their definition, against prts, and by hand."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive.range_based as naive
from definitions import swept
from strategies import examples, predictions, scorings
from tsadeval.errors import UndefinedMetricWarning
from tsadeval.metrics import range_based, range_f1, range_precision, range_recall

BIASES = ["flat", "front", "middle", "back"]
SIDE = {
    "alpha": st.sampled_from([0.0, 0.2, 1 / 3, 1.0]),
    "bias": st.sampled_from(BIASES),
    "cardinality": st.sampled_from(["one", "reciprocal"]),
}
SIDE_OPTIONS = st.fixed_dictionaries({}, optional=SIDE)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        **SIDE,
        "precision_alpha": st.sampled_from([0.0, 0.3, 1.0]),
        "precision_bias": st.sampled_from([*BIASES, None]),
        "beta": st.sampled_from([0.5, 1.0, 2.0]),
    },
)


@examples(1000)
@given(predictions(max_size=25), OPTIONS)
def test_f_equals_the_definition(data, options):
    assert range_f1(*data, **options) == pytest.approx(naive.range_f1(*data, **options), abs=1e-12)


@examples(1000)
@given(predictions(max_size=25), SIDE_OPTIONS)
def test_both_sides_equal_the_definition(data, options):
    y, p = data
    assert range_recall(y, p, **options) == pytest.approx(naive.range_recall(y, p, **options), abs=1e-12)
    if p.any():
        assert range_precision(y, p, **options) == pytest.approx(naive.range_precision(y, p, **options), abs=1e-12)


@examples(500)
@given(predictions(max_size=25), OPTIONS)
def test_the_three_together_are_the_three(data, options):
    y, p = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = range_based(y, p, **options)
        names = ("alpha", "bias", "cardinality")
        of_recall = {k: v for k, v in options.items() if k in names}
        of_precision = {**of_recall, "alpha": options.get("precision_alpha", 0.0)}
        of_precision["bias"] = options.get("precision_bias") or options.get("bias", "flat")
        expected = range_precision(y, p, **of_precision), range_recall(y, p, **of_recall), range_f1(y, p, **options)
    assert found == pytest.approx(expected, abs=0, nan_ok=True)


def test_equals_prts():
    cases = json.loads((Path(__file__).parents[1] / "golden" / "range_based.json").read_text())
    assert len(cases) == 64
    for case in cases:
        y, p = ([int(c) for c in case[name]] for name in ("y_true", "y_pred"))
        expected = case["precision"], case["recall"], case["f1"]
        assert range_based(y, p, **case["options"]) == pytest.approx(expected, abs=1e-12)


# Events [1, 5) and [7, 8); alarms [0, 2), [3, 5) and [9, 10).
BY_HAND_TRUE = [0, 1, 1, 1, 1, 0, 0, 1, 0, 0]
BY_HAND_PRED = [1, 1, 0, 1, 1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("options", "precision", "recall"),
    [
        ({}, (1 / 2 + 1 + 0) / 3, (0.2 + 0.8 * (3 / 4) / 2) / 2),
        ({"cardinality": "one"}, (1 / 2 + 1 + 0) / 3, (0.2 + 0.8 * (3 / 4)) / 2),
        ({"alpha": 0.0}, (1 / 2 + 1 + 0) / 3, (3 / 4 / 2) / 2),
        ({"alpha": 1.0, "precision_alpha": 1.0}, 2 / 3, 1 / 2),
        # Weights 4 3 2 1 in the first event, 2 1 in the first alarm.
        ({"alpha": 0.0, "bias": "front"}, (1 / 3 + 1 + 0) / 3, (7 / 10 / 2) / 2),
        # 1 2 3 4 and 1 2.
        ({"alpha": 0.0, "bias": "back"}, (2 / 3 + 1 + 0) / 3, (8 / 10 / 2) / 2),
        # 1 2 2 1 and 1 1.
        ({"alpha": 0.0, "bias": "middle"}, (1 / 2 + 1 + 0) / 3, (4 / 6 / 2) / 2),
        ({"alpha": 0.0, "bias": "middle", "precision_bias": "back"}, (2 / 3 + 1 + 0) / 3, (4 / 6 / 2) / 2),
    ],
)
def test_by_hand(options, precision, recall):
    found = range_based(BY_HAND_TRUE, BY_HAND_PRED, **options)
    assert found.precision == pytest.approx(precision)
    assert found.recall == pytest.approx(recall)
    assert found.f1 == pytest.approx(2 * precision * recall / (precision + recall))


def test_one_alarm_over_two_events_with_a_gap_of_one():
    found = range_based([1, 1, 0, 1, 1], [1, 1, 1, 1, 1])
    assert found == pytest.approx((4 / 5 / 2, 1.0, 2 * 0.4 / 1.4))


@pytest.mark.parametrize("y", [[0, 0, 0, 0, 1, 1, 1, 0, 0, 0], [1, 0, 0, 1], [1, 1, 1], [0, 1]])
@pytest.mark.parametrize("bias", BIASES)
def test_a_perfect_prediction_gets_one(y, bias):
    assert range_based(y, y, bias=bias) == (1.0, 1.0, 1.0)


def test_without_alarms_only_precision_is_undefined():
    with pytest.warns(UndefinedMetricWarning, match="precision.* is undefined.*no alarm") as caught:
        found = range_based([0, 1], [0, 0])
    assert caught[0].filename == __file__
    assert math.isnan(found.precision)
    assert (found.recall, found.f1) == (0.0, 0.0)
    assert range_f1([0, 1], [0, 0]) == 0.0


def test_without_anomalies_recall_and_f_are_undefined():
    with pytest.warns(UndefinedMetricWarning, match="recall, f1.* is undefined.*no anomalous") as caught:
        found = range_based([0, 0], [0, 1])
    assert caught[0].filename == __file__
    assert found.precision == 0.0
    assert math.isnan(found.recall)
    assert math.isnan(found.f1)


def brute_force(metric, y, s, options):
    """Threshold and value by trying each distinct score; of values equal but for rounding that of the largest."""
    values = [(float(metric(y, (s >= v).astype(int), **options)), float(v)) for v in np.unique(s)[::-1]]
    best = max(value for value, _ in values)
    return next((v, value) for value, v in values if value >= best - 1e-13)


@examples(1000)
@given(scorings(max_size=25), OPTIONS)
def test_best_f_equals_trying_every_threshold(data, options):
    y, s = data
    found = swept("range_f1", y, s, **options)
    assert found == brute_force(range_f1, y, s, options)


@examples(300)
@given(scorings(max_size=20), OPTIONS)
def test_best_f_equals_the_definition(data, options):
    y, s = data
    _, value = swept("range_f1", y, s, **options)
    assert value == pytest.approx(naive.best_range_f1(y, s, **options)[1], abs=1e-12)


@examples(500)
@given(scorings(), SIDE_OPTIONS)
def test_best_precision_and_recall_equal_trying_every_threshold(data, options):
    y, s = data
    for metric in (range_precision, range_recall):
        found = swept(metric.__name__, y, s, **options)
        assert found == brute_force(metric, y, s, options)


@pytest.mark.parametrize("bias", BIASES)
def test_the_sweep_does_not_drift_over_many_merges(bias):
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.3).astype(int)
    s = rng.random(20_000) + 0.1 * y
    threshold, value = swept("range_f1", y, s, bias=bias)
    assert value == range_f1(y, (s >= threshold).astype(int), bias=bias)


@pytest.mark.parametrize("s", [[0.5, 0.5, 0.5], [-1e308, 1e308, 0.0], [5e-324, 0.0, -0.0], [7, 7, 8]])
def test_best_of_extreme_scores(s):
    y, s = np.array([0, 1, 1]), np.array(s, float)
    assert swept("range_f1", y, s) == brute_force(range_f1, y, s, {})


def test_best_of_one_point():
    assert swept("range_f1", [1], [3.0]) == (3.0, 1.0)


def test_best_precision_without_anomalies():
    assert swept("range_precision", [0, 0], [1.0, 2.0]) == (2.0, 0.0)
