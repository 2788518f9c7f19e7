"""Baselines, best thresholds and many series."""

import math

import numpy as np
import pandas as pd
import pytest

import tsadeval as te
from tsadeval.core.results import MappingResult
from tsadeval.errors import InvalidInputError, UndefinedMetricWarning
from tsadeval.thresholds.best import GRID

RNG = np.random.default_rng(3)
Y = np.zeros(2000, int)
Y[300:340] = Y[900:1000] = Y[1500:1505] = 1
S = 0.4 * Y + RNG.random(2000)


def test_baseline_shows_what_a_point_adjusted_value_is_worth():
    result = te.evaluate(Y, S, ["auc_roc", "f1", "f1_pa", "cce"], baseline=True)
    rows = {row["metric"]: row for row in result.rows}
    assert rows["auc_roc"]["random"] == 0.5
    assert rows["f1_pa"]["random"] > 2 * rows["f1"]["random"]
    assert abs(rows["cce"]["random"]) < 5 * rows["cce"]["random_error"] + 0.02
    assert all(row["perfect"] == 1 for row in result.rows)
    assert repr(result).split()[:5] == ["metric", "value", "random", "error", "perfect"]


def test_sampled_baseline_is_seeded_and_its_error_shrinks():
    def random(draws, seed=0):
        row = te.evaluate(Y, S, "f1_pa", baseline=True, draws=draws, random_state=seed).rows[0]
        return row["random"], row["random_error"]

    assert random(20) == random(20)
    assert random(20) != random(20, seed=1)
    assert random(200)[1] < random(20)[1]
    assert abs(random(20)[0] - random(200)[0]) < 5 * random(20)[1]


def test_baseline_keeps_the_number_of_alarms():
    """Shuffled scores under a fixed threshold raise as many alarms as the detector does."""

    def alarms(y_true, y_score):
        return (y_score > 0.9).sum()

    row = te.evaluate(Y, S, alarms, baseline=True).rows[0]
    assert (row["random"], row["random_error"]) == (row["value"], 0)


def test_baseline_of_best_searches_the_shuffled_scores_too():
    row = te.evaluate(Y, S, "f1", threshold="best", baseline=True).rows[0]
    share = Y.mean()
    assert row["random"] >= 2 * share / (1 + share) - 1e-9  # all alarms, at the least
    assert row["random_error"] > 0


def test_baseline_of_what_is_undefined():
    with pytest.warns(UndefinedMetricWarning):
        rows = te.evaluate(np.zeros(50, int), RNG.random(50), ["f1", "cce"], baseline=True).rows
    assert all(math.isnan(row["random"]) for row in rows)
    with pytest.raises(InvalidInputError, match="draws must be an integer >= 2"):
        te.evaluate(Y, S, baseline=True, draws=1)


def test_best_threshold_gives_the_same_alarms_as_fixed():
    for metric in ("f1", "affiliation_f1", "pate_f1"):
        found = te.best_threshold(metric, Y, S)
        assert te.evaluate(Y, S, metric, threshold=f"fixed({found.threshold!r})")[metric] == pytest.approx(found.value)
        row = te.evaluate(Y, S, metric, threshold="best").rows[0]
        assert row["value"] == pytest.approx(found.value)
        assert row["threshold"] == found.threshold
        assert row["rule"] == ("best" if found.exact else f"best of {GRID}")
    assert te.best_threshold("f1", Y, S).value == te.metrics.best_f1(Y, S)
    assert te.best_threshold(te.metrics.f1, Y, S) == te.best_threshold("f1(beta=1.0)", Y, S)


def test_best_threshold_of_metrics_that_are_better_when_lower():
    found = te.best_threshold("false_alarms", Y, S)
    assert found.value == 0


def test_best_threshold_refuses_what_has_none():
    with pytest.raises(InvalidInputError, match="auc_roc takes scores, so it has no threshold"):
        te.best_threshold("auc_roc", Y, S)
    with pytest.raises(InvalidInputError, match="takes scores: name its second argument y_pred"):
        te.best_threshold(lambda y, s: 0.0, Y, S)
    with pytest.warns(UndefinedMetricWarning, match="every threshold"):
        assert math.isnan(te.best_threshold("f1", [0, 0], [0.1, 0.2]).threshold)
    with pytest.warns(UndefinedMetricWarning, match="no anomalous"):
        assert math.isnan(te.evaluate([0, 0], [0.1, 0.2], "f1", threshold="best")["f1"])


SERIES = {
    "a": (np.array([0, 0, 1, 1, 0, 1]), np.array([0.1, 0.6, 0.9, 0.2, 0.3, 0.7])),
    "b": (np.array([1, 1, 0, 0, 0]), np.array([0.2, 0.8, 0.1, 0.9, 0.3])),
    "c": (np.array([0, 0, 0, 0]), np.array([0.2, 0.8, 0.1, 0.0])),
}


def many(metrics, names="abc", **options):
    return te.evaluate_many(((n, *SERIES[n]) for n in names), metrics, **options)


def test_macro_is_the_mean_over_series():
    result = many(["cce", "f1", "auc_roc"], "ab", threshold="fixed(0.5)")
    for metric in ("cce", "f1", "auc_roc"):
        each = [te.evaluate(*SERIES[n], metric, threshold="fixed(0.5)")[metric] for n in "ab"]
        assert result[metric] == result.macro[metric] == pytest.approx(np.mean(each))
        assert [row["value"] for row in result.rows if row["metric"] == metric] == each


def test_micro_pools_all_points():
    result = many(["f1", "auc_roc", "accuracy"], "ab", threshold="fixed(0.5)")
    y, s = (np.concatenate([SERIES[n][i] for n in "ab"]) for i in (0, 1))
    assert result.micro["f1"] == te.metrics.f1(y, s > 0.5)
    assert result.micro["accuracy"] == te.metrics.accuracy(y, s > 0.5)
    assert result.micro["auc_roc"] == te.metrics.auc_roc(y, s)


def test_micro_does_not_join_events_across_series():
    """a ends and b begins inside an event; joined, one alarm would find both."""
    result = many(["f1_pa", "cce"], "ab", threshold="fixed(0.75)")
    y = np.concatenate([SERIES["a"][0], [0], SERIES["b"][0]])
    s = np.concatenate([SERIES["a"][1], [0.0], SERIES["b"][1]])
    assert result.micro["f1_pa"] == te.metrics.f1_pa(y, s > 0.75)
    joined = te.metrics.f1_pa(np.delete(y, 6), np.delete(s, 6) > 0.75)
    assert result.micro["f1_pa"] != joined


def test_metrics_without_a_micro_average_are_named():
    found = many(["event_precision", "f1", "false_alarms"], "ab", threshold=0.5)
    with pytest.warns(
        UndefinedMetricWarning, match="no micro average of event_precision, false_alarms, so NaN"
    ) as said:
        assert [math.isnan(value) for value in found.micro.values()] == [True, False, True]
    assert [warning.filename for warning in said] == [__file__]
    with pytest.warns(UndefinedMetricWarning, match=r"no micro average of f1, so NaN: .* \(rule best\)"):
        assert math.isnan(many(["f1"], "ab", threshold="best").micro["f1"])
    compared = te.compare(
        [(n, d, *SERIES[n]) for n in "ab" for d in "xy"], metrics=["f1", "false_alarms"], threshold=0.5
    )
    with pytest.warns(UndefinedMetricWarning, match="no micro average of false_alarms, so NaN") as said:
        assert math.isnan(compared.average("micro")["x"]["false_alarms"])
    assert len(said) == 1


def test_series_on_which_a_metric_is_undefined():
    with pytest.warns(UndefinedMetricWarning, match="cce is undefined on c, so NaN: y_true has no") as caught:
        result = many(["cce"])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert result.defined == {"cce": 2}
    assert result["cce"] == pytest.approx(many(["cce"], "ab")["cce"])


def test_views_of_many():
    result = many(["cce", "f1"], "ab")
    assert list(result) == ["cce", "f1"]
    assert ("cce" in result, "auc" in result, len(result)) == (True, False, 2)
    assert [line.split()[0] for line in repr(result).splitlines()[2:5]] == ["a", "b", "macro"]
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns[:3]) == ["series", "metric", "value"]
    assert len(frame) == 4
    assert "macro" in repr(result)
    assert "macro" in result.to_latex()
    with pytest.raises(te.errors.UnknownNameError, match="did you mean cce"):
        result["ccc"]


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ([], "empty"),
        ([("a", [0, 1], [0.1, math.nan])], "series 'a': y_score must be finite"),
        ([("a", [0, 1], [0.1, 0.2])] * 2, "two series named 'a'"),
        ([([0, 1], [0.1, 0.2])], r"\(series, y_true, y_score\)"),
        ([3], r"\(series, y_true, y_score\)"),
    ],
)
def test_bad_series(series, message):
    with pytest.raises(InvalidInputError, match=message):
        te.evaluate_many(series, "cce", missing="error")


def test_names_for_mlflow_are_plain():
    found = te.evaluate([0, 1, 0, 1], [0.1, 0.9, 0.2, 0.4], ["f1", "cce(tau=0.4)", "cce(normalize='robust')"])
    assert found.to_mlflow() == dict(zip(["f1", "cce_tau_0.4", "cce_normalize_robust"], found.values(), strict=True))
    same = MappingResult([{"metric": "cce(tau=0.4)", "value": 1.0}, {"metric": "cce[tau=0.4]", "value": 2.0}])
    with pytest.raises(te.errors.InvalidInputError, match=r"several values would be 'cce_tau_0.4' in MLflow"):
        same.to_mlflow()
