"""Affiliation against its definition, its best thresholds against all thresholds, and the bias of random alarms."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from definitions import swept
from naive import affiliation as naive
from strategies import examples, labels, predictions, scorings
from tsadeval.core.inputs import LabelRuns, Prediction, label_runs
from tsadeval.core.metric import METRICS, parse_metric
from tsadeval.errors import InvalidInputError, UndefinedMetricWarning
from tsadeval.metrics import (
    affiliation,
    affiliation_f1,
    affiliation_precision,
    affiliation_recall,
    normalized_affiliation_f1,
    unbiased_affiliation_f1,
)

BETAS = st.sampled_from([0.5, 1.0, 2.0])
RATES = st.sampled_from([0.02, 0.3, 0.9, 1.0])


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return function(*arguments, **options)


def with_anomaly(data):
    return data[0].any()


@pytest.mark.slow
@examples(1000)
@given(predictions(min_size=1, max_size=10, both=False).filter(with_anomaly), BETAS)
def test_equals_the_definition(data, beta):
    check_against_definition(*data, beta)


@examples(60)
@given(predictions(min_size=25, max_size=40, both=False).filter(with_anomaly), BETAS)
def test_equals_the_definition_with_more_zones(data, beta):
    check_against_definition(*data, beta)


def check_against_definition(y, p, beta):
    precision, recall = naive.precision_recall(y, p)
    found = quietly(affiliation, y, p, beta=beta)
    assert found.recall == pytest.approx(float(recall), abs=1e-14)
    assert found.precision == pytest.approx(math.nan if precision is None else float(precision), abs=1e-14, nan_ok=True)
    assert found.f1 == pytest.approx(naive.signed_f(precision, recall, beta), abs=1e-14)
    assert affiliation_f1(y, p, beta=beta) == found.f1
    assert affiliation_recall(y, p) == found.recall
    assert quietly(affiliation_precision, y, p) == pytest.approx(found.precision, abs=0, nan_ok=True)
    normalized = naive.signed_f(naive.rescaled(precision, Fraction(1, 2)), recall, beta)
    assert normalized_affiliation_f1(y, p, beta=beta) == pytest.approx(normalized, abs=1e-13)
    if not y.all():
        unbiased = naive.signed_f(naive.rescaled(precision, naive.bias(y)), recall, beta)
        assert unbiased_affiliation_f1(y, p, beta=beta) == pytest.approx(unbiased, abs=1e-12)


@examples(200)
@given(predictions(max_size=16), RATES)
def test_unbiased_at_an_alarm_rate_equals_the_definition(data, rate):
    y, p = data
    precision, recall = naive.precision_recall(y, p)
    expected = naive.signed_f(naive.rescaled(precision, naive.bias_at_rate(y, rate)), recall)
    assert unbiased_affiliation_f1(y, p, alarm_rate=rate) == pytest.approx(expected, abs=1e-11)


@examples(100)
@given(labels(both=True))
def test_bias_is_the_precision_of_predicting_everything(y):
    everything = np.ones_like(y)
    assert affiliation_precision(y, everything) == pytest.approx(float(naive.bias(y)), abs=1e-14)
    assert unbiased_affiliation_f1(y, everything) == pytest.approx(0, abs=1e-13)
    assert unbiased_affiliation_f1(y, everything, alarm_rate=1.0) == pytest.approx(0, abs=1e-12)


def test_random_alarms_have_the_precision_that_is_subtracted():
    # 40 zones of very different sizes and 2 % alarms: small zones are often empty, and weigh less.
    rng = np.random.default_rng(7)
    y = np.zeros(2000, int)
    for k in range(30):
        y[10 * k : 10 * k + 4] = 1
    for k in range(10):
        y[350 + 160 * k : 350 + 160 * k + 20] = 1
    values = [quietly(affiliation_precision, y, (rng.random(2000) < 0.02).astype(int)) for _ in range(4000)]
    error = np.nanstd(values) / math.sqrt(len(values))
    bias = {rate: bias_of(y, rate) for rate in (0.02, None)}
    assert abs(np.nanmean(values) - bias[0.02]) < 4 * error + 0.001
    assert abs(np.nanmean(values) - bias[None]) > 10 * error


def bias_of(y, rate):
    """The bias that is subtracted, from a value: with precision P and recall R, F = 2 U R / (U + R)."""
    p = y
    assert unbiased_affiliation_f1(y, p, alarm_rate=rate) == 1
    p = (np.arange(len(y)) % 7 == 0).astype(int)
    precision, recall, _ = affiliation(y, p)
    f = unbiased_affiliation_f1(y, p, alarm_rate=rate)
    above = math.copysign(abs(f) * recall / (2 * recall - abs(f)), f)
    return (precision - above) / (1 - above)


def test_many_zones_at_any_rate_weigh_as_they_should():
    # Equal zones: each rate leaves the plain mean.
    y = np.tile([0, 1, 0], 50_000)
    for rate in (1e-9, 1e-4, 0.02, 0.5, 1.0):
        assert bias_of(y, rate) == pytest.approx(bias_of(y, None), abs=1e-12)
    # At a vanishing rate one zone at most is filled, in proportion to its points: 4 + 1 halves and 16 + 1 halves.
    y = np.array([0, 0, 1, 0, 0, 0, 1] + [0] * 13)
    sizes = np.array([5, 16])
    ends = np.array([4.5, 15.5])
    expected = 0.5 + 0.5 / ends**2
    assert bias_of(y, 1e-12) == pytest.approx(sizes @ expected / sizes.sum(), abs=1e-11)


RECORDS = ["affiliation_f1", "affiliation_f1(beta=2.0)", "normalized_affiliation_f1", "unbiased_affiliation_f1"]
RECORDS += ["unbiased_affiliation_f1(alarm_rate=0.1)", "affiliation_precision", "affiliation_recall"]


@pytest.mark.parametrize("text", RECORDS)
@examples(200)
@given(data=scorings(min_size=1, both=False).filter(with_anomaly))
def test_best_is_the_best_of_all_thresholds(text, data):
    y, s = data
    metric = parse_metric(text)
    if "normal" in metric.needs and y.all():
        return
    v, value = swept(metric.name, y, s, **dict(metric.bound))
    every = {t: metric(y, (s >= t).astype(int)) for t in np.unique(s)}
    assert value == every[v]
    assert value == max(every.values())
    assert v == max(t for t, found in every.items() if found == value)


def test_best_of_a_long_series_has_not_drifted():
    rng = np.random.default_rng(1)
    n = 30_000
    y = (np.convolve(rng.random(n), np.ones(9), "same") > 5.6).astype(int)
    s = 0.3 * y + rng.random(n)
    for name in ("affiliation_f1", "unbiased_affiliation_f1", "affiliation_precision"):
        v, value = swept(name, y, s)
        assert value == METRICS[name](y, (s >= v).astype(int))
        for t in rng.choice(s, 20):
            assert METRICS[name](y, (s >= t).astype(int)) <= value


def test_by_hand():
    # One zone [0, 8), event [3, 5), margin 3. Alarm [2, 3): 1 - (1/2 + 1/2 + 2) / 8; alarm [3, 4): 1.
    # Event time [4, 5) has its pivot at 4: 1 - 2 t / 8 at distance t, on the mean 1 - 1/8.
    y = [0, 0, 0, 1, 1, 0, 0, 0]
    assert affiliation(y, [0, 0, 1, 1, 0, 0, 0, 0]) == pytest.approx((13 / 16, 15 / 16, 195 / 224), abs=1e-15)
    assert affiliation(y, y) == (1, 1, 1)
    # The border of the zones is 1.5 and cuts point 1: half of the alarm belongs to each event.
    assert affiliation([1, 0, 1], [0, 1, 0]) == pytest.approx((1 / 6, 1 / 2, 1 / 4), abs=1e-15)
    # Events at both ends, one of them without alarms in its zone.
    assert affiliation([1, 0, 0, 1], [1, 0, 0, 0]) == (1, 0.5, 2 / 3)


def test_by_hand_below_random():
    # Event [0, 9) of 10, the alarm beside it: precision 0.05, bias 0.905, so U = -9; recall 1 - 60.75 / 90.
    y, p = [1] * 9 + [0], [0] * 9 + [1]
    assert affiliation(y, p)[:2] == pytest.approx((0.05, 0.325), abs=1e-15)
    assert unbiased_affiliation_f1(y, p) == pytest.approx(-2 * 9 * 0.325 / 9.325, abs=1e-13)
    assert normalized_affiliation_f1(y, p) == pytest.approx(-2 * 0.9 * 0.325 / 1.225, abs=1e-15)


def test_below_minus_one_but_above_minus_two():
    y = np.ones(10_000, int)
    y[-1] = 0
    p = np.zeros(10_000, int)
    p[50:-1:100] = p[-1] = 1
    assert -2 < unbiased_affiliation_f1(y, p) < -1.9


def test_everything_anomalous():
    assert affiliation([1, 1, 1, 1], [0, 1, 0, 0]).precision == 1
    assert affiliation([1], [1]) == (1, 1, 1)
    with pytest.warns(UndefinedMetricWarning, match="no normal point"):
        assert math.isnan(unbiased_affiliation_f1([1, 1], [1, 0]))


def test_nothing_predicted():
    y, p = [0, 1, 0], [0, 0, 0]
    with pytest.warns(UndefinedMetricWarning, match="affiliation .precision. is undefined.* no alarm"):
        precision, recall, f1 = affiliation(y, p)
    assert math.isnan(precision)
    assert recall == f1 == 0
    assert affiliation_f1(y, p) == affiliation_recall(y, p) == 0
    assert unbiased_affiliation_f1(y, p) == normalized_affiliation_f1(y, p) == 0
    with pytest.warns(UndefinedMetricWarning, match="no alarm"):
        assert math.isnan(affiliation_precision(y, p))


def test_nothing_anomalous():
    with pytest.warns(UndefinedMetricWarning, match="no anomalous point"):
        assert all(math.isnan(v) for v in affiliation([0, 0], [0, 1]))


def test_integers_do_not_overflow():
    # One zone of 10 million points. Event in the middle half, one alarm at its start: closed forms below.
    n = 10_000_000
    y = np.zeros(n, np.uint8)
    y[n // 4 : 3 * n // 4] = 1
    p = np.zeros(n, np.uint8)
    p[n // 4] = 1
    precision, recall, _ = affiliation(y, p)
    assert precision == 1
    # Lost at distance t from the alarm: 2 t up to h / 2, then h, with h the distance to the end of the zone.
    h, event = 3 * n / 4 - 1, n / 2
    assert recall == pytest.approx(1 - (h * (event - 1) - h * h / 4) / (event * n), abs=1e-14)


def stretched(y, p, factor):
    """A prediction with each point `factor` times as long, without the memory for that many points."""

    def runs(labels):
        found = label_runs(labels, "y")
        many = np.broadcast_to(np.asarray(labels, np.uint8)[:1], (len(labels) * factor,))
        return LabelRuns(many, found.starts * factor, found.counts * factor)

    return Prediction(runs(y), runs(p))


def test_long_zones_are_counted_exactly_or_refused():
    """Time is continuous, so stretching it changes nothing; 64 bits hold zones of 759,250,124 points."""
    y, p = [0, 0, 1, 1, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    expected = affiliation(y, p)
    for factor in (1000, 75_925_012):
        found = affiliation.compute(stretched(y, p, factor))
        assert found == pytest.approx(expected, abs=1e-15)
    with pytest.raises(
        InvalidInputError, match=r"zone around an event has 800,000,000 points, but at most 759,250,124"
    ):
        affiliation.compute(stretched(y, p, 80_000_000))
    many = affiliation.compute(stretched([*y, *y], [*p, *p], 60_000_000))  # a long series of shorter zones
    assert many == pytest.approx(affiliation([*y, *y], [*p, *p]), abs=1e-15)
