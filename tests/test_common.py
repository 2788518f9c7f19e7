"""What holds for every metric of the registry. A new record is tested here without another line."""

import inspect
import itertools
import math
import types
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples, labels, predictions, scorings
from tsadeval.core.metric import METRICS, PROPERTIES, parse_metric
from tsadeval.core.parameters import Number
from tsadeval.errors import InvalidInputError, ThresholdWarning, UndefinedMetricWarning

EVERY = [pytest.param(m, id=m.name) for m in METRICS.values()]
every_metric = pytest.mark.parametrize("metric", EVERY)

Y = np.array([0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0])
S = np.array([2, 1, 7, 9, 8, 3, 1, 0, 2, 1, 6, 1, 9, 4, 2, 1, 0, 1, 1, 2]) / 8  # exact in float32 too
P = (S > 0.45).astype(np.int64)


def second(metric):
    return S if metric.kind == "scores" else P


def value_of(metric, y, other):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.simplefilter("ignore", ThresholdWarning)
        return metric(y, other)


@every_metric
def test_record_is_complete(metric):
    assert metric.name.isidentifier()
    assert metric.name == metric.name.lower()
    assert metric.label
    assert metric.summary.endswith(".")
    assert "\n" not in metric.summary
    assert metric.undefined
    assert metric.references
    assert metric.range[0] < metric.range[1]
    assert metric.properties <= set(PROPERTIES)
    assert getattr(te.metrics, metric.name) is metric.function
    assert metric.function.__doc__
    assert "Examples" in metric.function.__doc__


@every_metric
def test_prints_and_parses_back(metric):
    assert str(parse_metric(str(metric))) == metric.name
    bound = metric.with_options(**metric.parameters)
    assert parse_metric(str(bound)) == bound
    assert hash(parse_metric(str(bound))) == hash(bound)


@every_metric
def test_value_on_a_plain_case(metric):
    value = metric(Y, second(metric))
    assert isinstance(value, float)
    assert metric.range[0] <= value <= metric.range[1]


@every_metric
@pytest.mark.parametrize(
    "convert",
    [
        pytest.param(lambda a: a.tolist(), id="list"),
        pytest.param(lambda a: tuple(a.tolist()), id="tuple"),
        pytest.param(lambda a: a.astype(np.float32), id="float32"),
        pytest.param(lambda a: a.astype(np.float16), id="float16"),
        pytest.param(lambda a: a.astype(">f8"), id="big endian"),
        pytest.param(lambda a: np.repeat(a, 2)[::2], id="strided"),
        pytest.param(lambda a: pd.Series(a, index=np.arange(len(a))[::-1]), id="pandas"),
        pytest.param(lambda a: pd.Series(a.astype(float)).astype("Float64"), id="pandas nullable"),
        pytest.param(lambda a: pl.Series(a), id="polars"),
        pytest.param(lambda a: np.ma.masked_array(a), id="masked, nothing masked"),
    ],
)
def test_same_number_from_any_container(metric, convert):
    expected = metric(Y, second(metric).astype(np.float64))
    assert metric(convert(Y), convert(second(metric))) == expected


@every_metric
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, float])
def test_same_number_from_any_label_type(metric, dtype):
    other = P.astype(dtype) if metric.kind == "predictions" else S
    assert metric(Y.astype(dtype), other) == metric(Y, second(metric))


@every_metric
def test_integer_scores_are_scores(metric):
    if metric.kind == "scores":
        assert metric(Y, (S * 8).astype(np.int64)) == metric(Y, S * 8)


@every_metric
def test_torch_tensors_are_fine(metric):
    torch = pytest.importorskip("torch", reason="torch is an extra")
    other = torch.tensor(second(metric), dtype=torch.float64, requires_grad=True)
    assert metric(torch.tensor(Y), other) == metric(Y, second(metric))


@every_metric
def test_inputs_are_not_modified(metric):
    y, other = Y.copy(), second(metric).copy()
    y.flags.writeable = other.flags.writeable = False
    metric(y, other)
    assert (y == Y).all()
    assert (other == second(metric)).all()


BAD = [
    pytest.param(Y, lambda s: np.where(np.arange(20) == 3, np.nan, s), "(NaN|nan) at position 3", id="NaN"),
    pytest.param(Y, lambda s: np.where(np.arange(20) == 3, np.inf, s), "inf.* at position 3", id="inf"),
    pytest.param(Y, lambda s: np.where(np.arange(20) == 19, -np.inf, s), "inf.* at position 19", id="-inf, last"),
    pytest.param(Y, lambda s: s[:-1], "20 points .* 19", id="lengths"),
    pytest.param([], [], "empty", id="empty"),
    pytest.param(Y.reshape(-1, 1), S, r"y_true .*\(20, 1\).*ravel", id="2-D labels"),
    pytest.param(Y, S.reshape(4, 5), r"\(4, 5\)", id="2-D"),
    pytest.param(1, 0.5, "one-dimensional.*int", id="scalars"),
    pytest.param(2 * Y, S, "y_true .*2 at position 2", id="labels 0 2"),
    pytest.param(Y - 1, S, "y_true .*-1", id="labels -1 0"),
    pytest.param(Y * 0.5, S, "y_true .*0.5", id="labels 0 0.5"),
    pytest.param(np.where(Y == 1, np.nan, 0.0), S, "y_true .*nan", id="NaN labels"),
    pytest.param(np.array([2**63], np.uint64), [0.5], "y_true", id="huge unsigned label"),
    pytest.param([str(v) for v in Y], S, "y_true .*numbers.*'0'", id="string labels"),
    pytest.param(Y, [str(v) for v in S], "numbers", id="strings"),
    pytest.param([None, *Y[1:]], S, "y_true .*None", id="None in labels"),
    pytest.param(Y, [None, *S[1:]], "None", id="None in scores"),
    pytest.param(None, S, "y_true", id="None for labels"),
    pytest.param(Y, None, "y_score|y_pred", id="None for scores"),
    pytest.param(Y, S + 1j, "numbers", id="complex"),
    pytest.param(Y, [Decimal(1)] * 20, "numbers", id="decimals"),
    pytest.param(Y, np.array(["2020-01-01"] * 20, "datetime64[D]"), "numbers", id="dates"),
    pytest.param(Y, [[1, 2], [3]], "cannot be read", id="ragged"),
    pytest.param(Y, (v for v in S), "one-dimensional", id="generator"),
    pytest.param(Y, {"a": 1}, "one-dimensional", id="dict"),
    pytest.param(Y, np.ma.masked_array(S, mask=Y), "5|6|masked", id="masked"),
    pytest.param(Y, pd.Series([1.0] * 19 + [pd.NA], dtype="Float64"), "NaN|nan", id="pandas NA"),
    pytest.param(Y, pd.DataFrame({"a": S}), r"\(20, 1\)", id="DataFrame"),
]


@every_metric
@pytest.mark.parametrize(("y", "other", "message"), BAD)
def test_bad_input_is_a_clear_error(metric, y, other, message):
    other = other(second(metric)) if callable(other) else other
    with pytest.raises(InvalidInputError, match=message) as caught:
        metric(y, other)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


@every_metric
def test_predictions_must_be_binary(metric):
    if metric.kind == "predictions":
        with pytest.raises(InvalidInputError, match=r"y_pred .*0 \(normal\) or 1"):
            metric(Y, S)


@every_metric
def test_parameters_refuse_bad_values(metric):
    for name, check in metric.checks.items():
        assert check.accepts(metric.parameters[name]), f"default of {name}"
        for bad in check.bad():
            with pytest.raises(InvalidInputError, match=name):
                metric.function(Y, second(metric), **{name: bad})
            with pytest.raises(InvalidInputError, match=name):
                metric.with_options(**{name: bad})


@every_metric
def test_unknown_options_are_refused(metric):
    with pytest.raises(TypeError, match="no option 'widnow'"):
        metric.function(Y, second(metric), widnow=3)
    with pytest.raises(InvalidInputError, match="no option 'widnow'"):
        metric.with_options(widnow=3)


@every_metric
@pytest.mark.parametrize("constant", [0, 1])
def test_one_class_is_a_number_or_nan_with_one_warning(metric, constant):
    other = np.full(20, constant) if metric.kind == "predictions" else S
    for y in (np.zeros(20, int), np.ones(20, int)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = metric.function(y, other)
        assert math.isnan(value) == (len(caught) == 1)
        for warning in caught:
            assert warning.category is UndefinedMetricWarning
            assert warning.filename == __file__
            assert metric.name in str(warning.message)


@every_metric
@examples(100)
@given(data=st.data())
def test_stays_in_range_on_anything(metric, data):
    y, other = data.draw(
        scorings(min_size=1, both=False) if metric.kind == "scores" else predictions(min_size=1, both=False)
    )
    value = value_of(metric, y, other)
    assert math.isnan(value) or metric.range[0] - 1e-12 <= value <= metric.range[1] + 1e-12


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


def pairs(claimed):
    chosen = [(m, claim) for m, claim in PAIRS if (claim in m.properties) == claimed]
    return pytest.mark.parametrize(("metric", "claim"), [pytest.param(*p, id=f"{p[0].name}-{p[1]}") for p in chosen])


def test_claims_are_applicable():
    assert sum(len(m.properties) for m in METRICS.values()) == sum(claim in m.properties for m, claim in PAIRS)


@pairs(claimed=True)
@examples(100)
@given(data=st.data())
def test_claims_hold(metric, claim, data):
    assert holds(metric, claim, *data.draw(scorings() if metric.kind == "scores" else predictions()))


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


@pairs(claimed=False)
def test_what_is_not_claimed_does_not_hold(metric, claim):
    """Else the record says less than is true: some series of the first 200 is a counterexample."""
    if (metric.name, claim) in UNCLAIMED:
        return
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


TRIPLES = [name for name in dir(te.metrics) if isinstance(getattr(te.metrics, name), types.FunctionType)]
TRIPLES = [n for n in TRIPLES if n not in METRICS and "y_pred" in inspect.signature(getattr(te.metrics, n)).parameters]


@pytest.mark.parametrize("name", TRIPLES)
def test_precision_recall_and_f_at_once(name):
    function = getattr(te.metrics, name)
    precision, recall, f1 = function(Y, P)
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=0.1)
    assert function(Y, Y) == pytest.approx((1, 1, 1))
    for y, p, reason in ((Y, 0 * Y, "no alarm"), (0 * Y, P, "no anomalous point")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = function(y, p)
        assert any(map(math.isnan, found))
        assert [(w.category, w.filename) for w in caught] == [(UndefinedMetricWarning, __file__)]
        assert reason in str(caught[0].message)
    with pytest.raises(InvalidInputError, match="y_pred"):
        function(Y, S)


@every_metric
def test_defaults_are_stated_once(metric):
    """What finds the best threshold, and the value by chance, take all options of the metric and default none."""
    assert (metric.best is not None) == (metric.kind == "predictions")
    for function in filter(None, (metric.best, metric.chance)):
        parameters = inspect.signature(function).parameters
        assert set(metric.parameters) <= set(parameters)
        for option in metric.parameters:
            assert parameters[option].kind is inspect.Parameter.KEYWORD_ONLY
            assert parameters[option].default is inspect.Parameter.empty


SWEPT = [pytest.param(m, id=m.name) for m in METRICS.values() if m.kind == "predictions"]


@pytest.mark.parametrize("metric", SWEPT)
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
    assert (found.threshold, found.value) == (thresholds[at], values[at])  # to the last digit
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


@pytest.mark.parametrize("metric", SWEPT)
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


@pytest.mark.parametrize("metric", [pytest.param(m, id=m.name) for m in METRICS.values() if m.chance is not None])
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
