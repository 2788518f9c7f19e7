"""Values of every metric of the registry: what its record claims, the best thresholds, extreme options, chance."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from common import S, Y, every_metric, every_metric_of_predictions, every_metric_with_a_chance, second, value_of
from strategies import examples, labels, predictions, scorings
from tsadeval.core.metric import METRICS, PROPERTIES
from tsadeval.core.parameters import Number
from tsadeval.errors import ThresholdWarning, UndefinedMetricWarning


def transformed(claim, y, s):
    """Labels and scores changed in a way that, by the claim, does not matter."""
    order = np.random.default_rng(len(y)).permutation(len(y))
    return {
        "affine": lambda: (y, 3.0 * s - 7.0),
        "monotone": lambda: (y, np.exp(2 * s)),
        "mirror": lambda: (y[::-1], s[::-1]),
        "symmetric": lambda: (1 - y, 1 - s),
        "exchangeable": lambda: (y[order], s[order]),
        "separable": lambda: (np.concatenate([[0], y, [0]]), np.concatenate([[0], s, [0]])),
    }[claim]()


def holds(metric, claim, y, other):
    changed, expected = value_of(metric, *transformed(claim, y, other)), value_of(metric, y, other)
    return changed == pytest.approx(expected, abs=1e-9, nan_ok=True)


# Predictions have no scale to change, and for scores no point is without an alarm.
NOT_APPLICABLE = {"predictions": {"affine", "monotone"}, "scores": {"separable"}}
PAIRS = [(m, claim) for m in METRICS.values() for claim in PROPERTIES if claim not in NOT_APPLICABLE[m.kind]]

# Not claimed though it holds for a single series: between pooled series the tolerance would reach over one quiet point.
TOLERANT = {
    "adtqc",
    "detection_accuracy_in_range",
    "latency_sparsity_f1",
    "time_tolerant_f1",
    "total_detected_in_range",
}
UNCLAIMED = {(name, "separable") for name in TOLERANT}
UNCLAIMED |= {("event_precision", "separable")}  # not with variant="discounted"
UNCLAIMED |= {("expected_cost", "mirror")}  # not with delay_per_hour
UNCLAIMED |= {("ucr_accuracy", "exchangeable")}  # its margin of 100 points covers the short series here


def pairs(claimed):
    chosen = [(m, c) for m, c in PAIRS if (c in m.properties) == claimed and (m.name, c) not in UNCLAIMED]
    return pytest.mark.parametrize(("metric", "claim"), [pytest.param(*p, id=f"{p[0].name}-{p[1]}") for p in chosen])


def test_claims_are_applicable():
    assert sum(len(m.properties) for m in METRICS.values()) == sum(claim in m.properties for m, claim in PAIRS)


@pairs(claimed=True)
@examples(100)
@given(data=st.data())
def test_claims_hold(metric, claim, data):
    assert holds(metric, claim, *data.draw(scorings() if metric.kind == "scores" else predictions()))


@pairs(claimed=False)
def test_what_is_not_claimed_does_not_hold(metric, claim):
    """Else the record says less than is true: some series of the first 200 is a counterexample."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = np.repeat(np.arange(8) % 2, rng.integers(1, (15, 300)[seed % 2], 8))  # some longer than any window
        s = np.round(rng.random(len(y)) + rng.random() * y, 2)
        alarms = (s > (0.7 if seed % 10 else 2)).astype(int)  # sometimes none at all
        if not holds(metric, claim, y, s if metric.kind == "scores" else alarms):
            return
    pytest.fail(f"{metric.name} is {claim} on all series tried")


@every_metric
@examples(50)
@given(data=st.data())
def test_evaluate_gives_the_same_number(metric, data):
    y = data.draw(labels())
    s = np.random.default_rng(data.draw(st.integers(0, 999))).random(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.simplefilter("ignore", ThresholdWarning)
        found = te.evaluate(y, s, metric, threshold="fixed(0.5)")[metric.name]
        expected = metric(y, s if metric.kind == "scores" else (s > 0.5).astype(int))
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-12)


@every_metric_of_predictions
@examples(60)
@given(data=scorings(max_size=25))
def test_best_threshold_is_the_best_of_all(metric, data):
    y, s = data
    # Of equal values, rounding aside, the highest threshold that raises an alarm; so no alarm at all comes last.
    distinct = sorted(set(s), reverse=True)
    thresholds = [*np.nextafter(distinct, -np.inf), distinct[0]]
    values = np.array([value_of(metric, y, (s > t).astype(int)) for t in thresholds])
    sign = 1 if metric.direction == "higher" else -1
    if np.isnan(values).all():
        with pytest.warns(UndefinedMetricWarning, match="at every threshold"):
            assert math.isnan(te.best_threshold(metric, y, s).value)
        return
    found = te.best_threshold(metric, y, s)
    assert found.exact
    at = int(np.argmax(sign * values >= np.nanmax(sign * values) - 1e-13))
    assert found.value == values[at]  # to the last digit
    np.testing.assert_array_equal(s > found.threshold, s > thresholds[at])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.simplefilter("ignore", ThresholdWarning)
        at_best = te.evaluate(y, s, metric, threshold=f"best({metric})")[metric.name]
    # Scores of 0 and 1 are predictions, which no threshold changes.
    expected = value_of(metric, y, s.astype(int)) if set(s) <= {0, 1} else found.value
    assert at_best == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


# Options at the ends of what their checks accept, one at a time.
EXTREMES = [
    pytest.param(metric, {name: value}, id=f"{metric.name}({name}={value:.3g})")
    for metric in METRICS.values()
    for name, check in metric.checks.items()
    if isinstance(check, Number)
    for value in dict.fromkeys((check.low, check.high, 5e-324, 1e-300, 1e155, 1e300, 10**30, 10**9))
    if check.accepts(value)
]
ALL_OR_NOTHING = ({"k": 10**9}, {"k": 10**30}, {"probation": 1}, {"horizon": 1})


@pytest.mark.parametrize(("metric", "options"), EXTREMES)
def test_extreme_options_give_numbers(metric, options):
    """In range, in bounded time and memory, without a warning of NumPy's; and the best threshold is the best."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.simplefilter("ignore", ThresholdWarning)
        value = metric.function(Y, second(metric), **options)
        if math.isnan(value):  # more than all points, all events in the probation, no alarm so shortly before, no times
            assert "delay_per_hour" in options or options in ALL_OR_NOTHING
            return
        low, high = (-math.inf, 2) if {"tau", "alarm_rate"} & set(options) else metric.range
        assert low <= value <= high + 1e-12
        if metric.kind == "scores":
            return
        bound = metric.with_options(**options)
        found = te.best_threshold(bound, Y, S)
        values = [value_of(bound, Y, (t < S).astype(int)) for t in {-1.0, *S}]
        best = np.nanmax(values) if metric.direction == "higher" else np.nanmin(values)
        assert found.value == pytest.approx(best, rel=1e-10)
        assert te.evaluate(Y, S, bound, threshold=f"fixed({found.threshold!r})")[str(bound)] == found.value


@every_metric_of_predictions
def test_best_thresholds_of_many_scores_are_exact(metric):
    """Over all distinct scores, however many there are."""
    n = 3000
    y = np.zeros(n, int)
    y[1000:1400] = y[2000:2010] = 1
    s = np.random.default_rng(1).random(n)
    s[1000:1400] += 0.3
    found = te.best_threshold(metric, y, s)
    assert found.exact
    assert value_of(metric, y, (s > found.threshold).astype(int)) == found.value
    sign = 1 if metric.direction == "higher" else -1
    values = [value_of(metric, y, (s > t).astype(int)) for t in np.quantile(s, np.linspace(0, 0.999, 300))]
    assert np.nanmax(sign * np.array(values)) <= sign * found.value + 1e-10


@every_metric_with_a_chance
@pytest.mark.parametrize(
    ("y", "s"),
    [([0, 0, 1, 1, 0, 0], [3, 1, 2, 5, 0, 4]), ([1, 0, 0, 1, 1], [1, 1, 0, 2, 1]), ([0, 1, 0, 0], [0, 1, 1, 0])],
)
def test_chance_is_the_mean_over_all_orders(metric, y, s):
    values = [
        value_of(metric, y, np.array(order) if metric.kind == "scores" else (np.array(order) > 0.5).astype(int))
        for order in itertools.permutations(s)
    ]
    result = te.evaluate(y, s, metric, threshold="fixed(0.5)", baseline=True)
    assert result.rows[0]["random"] == pytest.approx(np.mean(values), abs=1e-12)
    assert result.rows[0]["random_error"] == 0
