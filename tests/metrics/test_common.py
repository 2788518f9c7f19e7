"""Records, inputs and options of every metric of the registry. A new record is tested here without another line."""

import inspect
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
from common import P, S, Y, every_metric, every_metric_of_predictions, every_metric_of_scores, second, value_of
from refused import refused_values
from strategies import examples, predictions, scorings
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.metric import METRICS, PROPERTIES, parse_metric
from tsadeval.errors import InvalidInputError, UndefinedMetricWarning


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


CONTAINERS = {
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "big endian": lambda a: a.astype(">f8"),
    "strided": lambda a: np.repeat(a, 2)[::2],
    "pandas": lambda a: pd.Series(a, index=np.arange(len(a))[::-1]),
    "pandas nullable": lambda a: pd.Series(a.astype(float)).astype("Float64"),
    "polars": lambda a: pl.Series(a),
    "masked, nothing masked": lambda a: np.ma.masked_array(a),
}
LABEL_TYPES = [bool, np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, float]


@every_metric
def test_same_number_from_any_container(metric):
    expected = metric(Y, second(metric).astype(np.float64))
    found = {name: metric(convert(Y), convert(second(metric))) for name, convert in CONTAINERS.items()}
    assert found == dict.fromkeys(CONTAINERS, expected)


@every_metric
def test_same_number_from_any_label_type(metric):
    for dtype in LABEL_TYPES:
        other = P.astype(dtype) if metric.kind == "predictions" else S
        assert metric(Y.astype(dtype), other) == metric(Y, second(metric)), dtype


@every_metric_of_scores
def test_integer_scores_are_scores(metric):
    assert metric(Y, (S * 8).astype(np.int64)) == metric(Y, S * 8)


@pytest.mark.torch
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
    pytest.param(np.where(Y == 1, np.nan, 0.0), S, "y_true is NaN at position 2 .*ignore=", id="NaN labels"),
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


@pytest.mark.parametrize("name", ["cce", "vus_pr", "f1", "affiliation_f1"])
@pytest.mark.parametrize(("y", "other", "message"), BAD)
def test_bad_input_is_a_clear_error(name, y, other, message):
    metric = METRICS[name]
    other = other(second(metric)) if callable(other) else other
    with pytest.raises(InvalidInputError, match=message) as caught:
        metric(y, other)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


@every_metric
def test_every_record_goes_through_the_validator(metric, monkeypatch):
    """So what the validator refuses for the metrics above, it refuses for all."""
    door = Scoring if metric.kind == "scores" else Prediction
    given = []

    def refuse(*arrays):
        given.append(arrays)
        raise InvalidInputError("refused at the door")

    monkeypatch.setattr(door, "of", refuse)
    y, other = Y.tolist(), second(metric).tolist()
    with pytest.raises(InvalidInputError, match="refused at the door"):
        metric(y, other)
    assert [tuple(map(id, arrays)) for arrays in given] == [(id(y), id(other))]  # as they came


@every_metric_of_predictions
def test_predictions_must_be_binary(metric):
    with pytest.raises(InvalidInputError, match=r"y_pred .*0 \(normal\) or 1"):
        metric(Y, S)


@every_metric
def test_parameters_refuse_bad_values(metric):
    for name, check in metric.checks.items():
        assert check.accepts(metric.parameters[name]), f"default of {name}"
        for bad in refused_values(check):
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


@pytest.mark.slow
@every_metric
@examples(100)
@given(data=st.data())
def test_stays_in_range_on_anything(metric, data):
    y, other = data.draw(
        scorings(min_size=1, both=False) if metric.kind == "scores" else predictions(min_size=1, both=False)
    )
    value = value_of(metric, y, other)
    assert math.isnan(value) or metric.range[0] - 1e-12 <= value <= metric.range[1] + 1e-12


TRIPLES = [name for name in dir(te.metrics) if isinstance(getattr(te.metrics, name), types.FunctionType)]
TRIPLES = [n for n in TRIPLES if n not in METRICS and "y_pred" in inspect.signature(getattr(te.metrics, n)).parameters]


@pytest.mark.parametrize("name", TRIPLES)
def test_precision_recall_and_f_at_once(name):
    function = getattr(te.metrics, name)
    precision, recall, f1 = function(Y, P)
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=0.1)
    assert function(Y, Y) == pytest.approx((1, 1, 1))
    undefined = [(Y, 0 * Y, "no alarm"), (0 * Y, P, "no anomalous point")]
    if name == "channel_aware":  # as in ESA-ADB, where precision of an event without alarms is 0
        assert function(*undefined.pop(0)[:2]) == (0, 0, 0)
    for y, p, reason in undefined:
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
