"""Point-wise metrics against their definitions."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import swept
from naive import pointwise as naive
from naive.best import best as naive_best
from strategies import examples, predictions, scorings
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.metric import METRICS, missing
from tsadeval.errors import UndefinedMetricWarning

NAMES = ["precision", "recall", "f1", "accuracy", "balanced_accuracy", "mcc"]
BETAS = st.sampled_from([0.1, 0.5, 1.0, 2.0, 30.0])


def same(found, expected):
    return math.isnan(found) if expected is None else found == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.slow
@examples(1000)
@given(predictions(min_size=1, both=False), BETAS)
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_equals_the_definition(data, beta):
    for name in NAMES:
        assert same(METRICS[name](*data), getattr(naive, name)(*data)), name
    expected = (naive.precision(*data), naive.recall(*data), naive.f1(*data, beta))
    assert all(map(same, te.metrics.point(*data, beta=beta), expected))
    assert same(te.metrics.f1(*data, beta=beta), expected[2])


def test_by_hand():
    y_true, y_pred = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0, 0, 0]  # 3 found, 1 false, 1 missed
    assert te.metrics.point(y_true, y_pred) == (0.75, 0.75, 0.75)
    assert te.metrics.accuracy(y_true, y_pred) == 0.8
    assert te.metrics.balanced_accuracy(y_true, y_pred) == pytest.approx((3 / 4 + 5 / 6) / 2)
    assert te.metrics.mcc(y_true, y_pred) == pytest.approx((3 * 5 - 1 * 1) / 24)


@pytest.mark.parametrize(
    ("name", "y_true", "y_pred", "reason"),
    [
        ("precision", [0, 1], [0, 0], "no alarm"),
        ("recall", [0, 0], [0, 1], "no anomalous point"),
        ("f1", [0, 0], [0, 1], "no anomalous point"),
        ("balanced_accuracy", [1, 1], [0, 1], "no normal point"),
        ("mcc", [0, 1], [1, 1], "alarm everywhere"),
        ("mcc", [0, 1], [0, 0], "no alarm"),
    ],
)
def test_undefined_says_why(name, y_true, y_pred, reason):
    with pytest.warns(UndefinedMetricWarning, match=reason):
        assert math.isnan(METRICS[name](y_true, y_pred))


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_the_triple_has_nan_where_undefined():
    assert te.metrics.point([0, 1], [0, 0]) == pytest.approx((math.nan, 0.0, 0.0), nan_ok=True)
    assert te.metrics.point([0, 0], [0, 1]) == pytest.approx((0.0, math.nan, math.nan), nan_ok=True)


@pytest.mark.parametrize("beta", [5e-324, 1e-200, 1e200, 1.7e308, np.float64(1e-200), 3])
def test_any_beta_is_fine(beta):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert te.metrics.f1([0, 1, 1], [0, 0, 0], beta=beta) == 0
        assert te.metrics.f1([0, 1, 1], [1, 1, 1], beta=beta) == pytest.approx(2 / 3 if beta < 1 else 1, abs=0.05)


@pytest.mark.slow
def test_the_counts_of_ten_million_points_do_not_overflow():
    y_true = np.zeros(10_000_000, np.uint8)
    y_true[::2] = 1
    y_pred = y_true.copy()
    y_pred[-1] = 1
    assert te.metrics.mcc(y_true, y_pred) == pytest.approx(1, abs=1e-6)


@examples(1000)
@given(scorings(), BETAS)
def test_the_best_threshold_is_the_best_of_all(data, beta):
    y, s = data
    levels = np.unique(s)[::-1]
    values = [METRICS["f1"].compute(Prediction.of(y, s >= v), beta=beta) for v in levels]
    v, value = swept("f1", y, s, beta=beta)
    assert value == max(values)
    assert v == levels[np.argmax(values)]
    assert te.metrics.best_f1(y, s, beta=beta) == value


@pytest.mark.parametrize("name", NAMES)
@examples(500)
@given(data=scorings(min_size=1, both=False))
def test_best_threshold_equals_the_definition(name, data):
    y, s = data
    if missing(METRICS[name].needs - {"alarm"}, Scoring.of(y, s)) is not None:
        return
    expected = naive_best(getattr(naive, name), y, s)
    v, value = swept(name, y, s)
    if expected is None:
        assert math.isnan(v)
        assert math.isnan(value)
        return
    assert v == expected[0]
    assert value == pytest.approx(expected[1], abs=1e-12)


def test_best_mcc_of_equal_scores_is_undefined():
    assert swept("mcc", [0, 1, 1], [2.0, 2.0, 2.0]) == pytest.approx((math.nan, math.nan), nan_ok=True)


def test_best_thresholds_by_hand():
    # Going down from 6: found 0 1 1 2 2 3 of 3, false 1 1 2 2 3 3 of 4, and both everywhere at 0.
    y, s = [0, 1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1, 0]
    assert swept("precision", y, s) == (5, 1 / 2)  # and again at 3 and at 1
    assert swept("recall", y, s) == (1, 1)
    assert swept("accuracy", y, s) == (5, 4 / 7)  # (1 + 3) / 7, and again at 3 and at 1
    assert swept("balanced_accuracy", y, s) == (1, pytest.approx((1 + 1 / 4) / 2))
    assert swept("mcc", y, s) == (1, pytest.approx(3 / math.sqrt(6 * 3 * 1 * 4)))


@pytest.mark.parametrize("name", ["precision", "accuracy"])
def test_best_threshold_without_anomalies_is_the_largest_score(name):
    assert swept(name, [0, 0, 0], [1.0, 3.0, 2.0])[0] == 3
