"""The explanation of CCE: its parts add up, and its rows are the definition's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from naive.cce import event_score, normalised, uncertainty_of
from naive.events import runs
from strategies import scorings
from tsadeval.errors import InvalidInputError, UndefinedMetricWarning

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "tau": st.sampled_from([0.1, 0.5, 0.9]),
        "constrained": st.booleans(),
        "event_weight": st.sampled_from([0.0, 0.3]),
        "global_weight": st.sampled_from([0.7, 1.0]),
        "uncertainty": st.sampled_from(["beta", "pointwise", "scaled"]),
        "normalize": st.sampled_from(["minmax", "robust", "rank"]),
    },
)


@given(scorings(), OPTIONS)
def test_parts_add_up(data, options):
    b = te.cce_breakdown(*data, **options)
    assert b.score == te.cce(*data, **options)
    assert b.score == pytest.approx(b.event + b.global_, abs=1e-15)
    w, g = options.get("event_weight", 0.5), options.get("global_weight", 0.5)
    assert b.event == pytest.approx(w * b.anomaly_event + (1 - w) * b.normal_event, abs=1e-15)
    assert b.global_ == pytest.approx(g * b.anomaly_global + (1 - g) * b.normal_global, abs=1e-15)
    assert b.events["share"].sum() == pytest.approx(b.score, abs=1e-12)
    best = 2 * (1 - options.get("tau", 0.5))
    assert b.events["lost"].sum() == pytest.approx(best - b.score, abs=1e-12)
    for label, mean in ((0, b.normal_event), (1, b.anomaly_event)):
        assert b.events["score"][b.events["label"] == label].mean() == pytest.approx(mean, abs=1e-12)


@given(scorings(), OPTIONS)
def test_rows_are_the_definition(data, options):
    y, s = data
    values = normalised(s, options.get("normalize", "minmax"))
    estimator = options.get("uncertainty", "beta")
    table = te.cce_breakdown(y, s, **options).events
    assert [(r["start"], r["stop"], r["label"]) for r in table] == runs(y)
    for row in table:
        points = values[row["start"] : row["stop"]]
        mean = sum(points) / len(points)
        assert row["length"] == len(points)
        assert row["mean"] == pytest.approx(float(mean), abs=1e-12)
        assert row["variance"] == pytest.approx(float(sum((v - mean) ** 2 for v in points) / len(points)), abs=1e-12)
        assert row["uncertainty"] == pytest.approx(float(uncertainty_of(points, estimator, 10.0)), abs=1e-12)
        assert row["consistency"] == pytest.approx(math.exp(-row["uncertainty"]), abs=1e-15)
        assert row["score"] == pytest.approx(row["confidence"] * row["consistency"], abs=1e-15)
        expected = event_score(
            points, row["label"], options.get("tau", 0.5), options.get("constrained", False), estimator, 10.0
        )
        assert row["score"] == pytest.approx(float(expected), abs=1e-12)


def test_alpha_and_beta_are_those_of_the_moments():
    b = te.cce_breakdown([0, 0, 1, 1, 1, 0], [0.0, 0.5, 1.0, 0.5, 0.75, 0.25])
    row = b.events[1]
    strength = row["mean"] * (1 - row["mean"]) / row["variance"] - 1
    assert (row["alpha"], row["beta"]) == pytest.approx((row["mean"] * strength, (1 - row["mean"]) * strength))
    alpha, beta = row["alpha"], row["beta"]
    assert alpha * beta / ((alpha + beta) ** 2 * (alpha + beta + 1)) == pytest.approx(row["variance"])


def test_limits_of_alpha_and_beta():
    constant, binary = te.cce_breakdown([0, 0, 1, 1], [0.0, 0.0, 0.0, 1.0]).events
    assert constant["alpha"] == constant["beta"] == math.inf
    assert constant["uncertainty"] == 0
    assert (binary["alpha"], binary["beta"], binary["uncertainty"]) == (0, 0, 0.25)


def test_worst_events_come_first_on_request():
    y = [0, 0, 1, 1, 0, 0, 1, 1, 0]
    s = [0.1, 0.0, 0.9, 1.0, 0.1, 0.2, 0.2, 0.1, 0.0]
    b = te.cce_breakdown(y, s)
    assert b.worst(1)["start"] == [6]
    assert (np.diff(b.worst()["lost"]) <= 0).all()
    assert set(b.worst(label=0)["label"]) == {0}
    frame = b.to_frame()
    assert list(frame["start"]) == [0, 2, 4, 6, 8]
    assert list(frame.columns) == list(b.events.dtype.names)
    assert [row["start"] for row in b.rows] == [0, 2, 4, 6, 8]
    assert "<table>" in b._repr_html_()
    with pytest.raises(InvalidInputError, match="label must be 0, 1 or None"):
        b.worst(label=2)
    assert "CCE 0." in repr(b)
    assert "cost most" in repr(b)


def test_one_class_is_explained_as_far_as_it_goes():
    with pytest.warns(UndefinedMetricWarning, match="needs both") as caught:
        b = te.cce_breakdown([0, 0, 0], [0.0, 0.5, 1.0])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert math.isnan(b.score)
    assert math.isnan(b.anomaly_event)
    assert b.normal_event == pytest.approx(0.0)
    assert len(b.events) == 1
    assert math.isnan(b.events["share"][0])
    assert repr(b)


def test_probabilities_are_taken_as_they_are():
    y, s = [0, 0, 1, 1], [0.2, 0.4, 0.6, 0.7]
    assert te.cce(y, s, normalize=None) == pytest.approx(
        (0.65 - 0.5) * math.exp(-0.0025) + (0.5 - 0.3) * math.exp(-0.01)
    )
    with pytest.raises(InvalidInputError, match=r"\[0, 1\] when normalize=None, but ranges from 0.2 to 1.5"):
        te.cce(y, [0.2, 0.4, 0.6, 1.5], normalize=None)
