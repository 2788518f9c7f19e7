"""Points that are not judged and scores that are missing: every way to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import tsadeval as te
from tsadeval.errors import InvalidInputError

RULES = ["best(mcc)", "best(event_f1)", "quantile(0.7)", 0.5, "sustained(best(f1), 2)", "hysteresis(1, 0)"]


def _drawn(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y_true = np.repeat(rng.random(n // 2) < 0.4, 2).astype(int)
    return y_true, (rng.normal(size=n) + y_true).round(1), rng.random(n) < 0.25


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_a_rule_gives_the_same_alarms_to_all_metrics(rule: str | float) -> None:
    for seed in range(10):
        y_true, y_score, ignore = _drawn(seed)
        found = te.evaluate(y_true, y_score, ["f1", "event_f1", "mcc", "event_recall"], threshold=rule, ignore=ignore)
        assert len({(row["threshold"], row["alarms"], row["alarmed_points"]) for row in found.rows}) == 1


def test_the_threshold_of_a_rule_is_that_of_its_metric() -> None:
    y_true, y_score, ignore = _drawn(3)
    for target in ("mcc", "event_f1"):
        best = te.best_threshold(target, y_true, y_score, ignore=ignore)
        found = te.evaluate(y_true, y_score, ["f1", target], threshold=f"best({target})", ignore=ignore)
        assert found[target] == best.value
        assert {row["threshold"] for row in found.rows} == {best.threshold}


@pytest.mark.filterwarnings("ignore::tsadeval.errors.ThresholdWarning")
def test_alarms_do_not_last_across_points_that_are_left_out() -> None:
    y_true, y_score = [0, 1, 1, 1, 1, 0], [0.1, 0.9, 0.9, 0.9, 0.9, 0.1]
    found = te.evaluate(y_true, y_score, ["f1", "event_f1"], threshold="sustained(0.5, 3)", ignore=[0, 0, 0, 1, 0, 0])
    assert dict(found) == {"f1": 0.0, "event_f1": 0.0}


@pytest.mark.parametrize("rule", ["quantile(0.7)", "sustained(0.3, 2)"])
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_pooling_one_series_changes_nothing(rule: str) -> None:
    rng = np.random.default_rng(0)
    for seed in range(6):
        y_true, y_score, ignore = _drawn(seed)
        times = np.cumsum(rng.integers(1, 100, len(y_true)))
        for setting in ({"ignore": ignore}, {"times": times}, {"ignore": ignore, "times": times}):
            found = te.evaluate_many([("a", y_true, y_score, setting)], "all", threshold=rule)
            pooled = {name: value for name, value in found.micro.items() if not np.isnan(value)}
            assert {"f1", "cce", "event_f1", "time_in_alarm", "nab_score", "auc_roc"} <= set(pooled)
            assert pooled == pytest.approx({name: found.macro[name] for name in pooled}, nan_ok=True)


def test_predictions_with_missing_ones_are_predictions() -> None:
    y_true, y_pred = [0, 1, 0, 1, 0], [0, 1, np.nan, 1, 1]
    for missing in ("ignore", "no alarm"):
        found = te.evaluate(y_true, y_pred, ["f1", "event_f1"], missing=missing, threshold="quantile(0.9)")
        assert {row["rule"] for row in found.rows} == {"scores are 0 or 1"}
        assert {row["alarmed_points"] for row in found.rows} == {3}
        assert found["f1"] == 0.8


def test_missing_scores_are_not_hidden_by_other_errors() -> None:
    with pytest.raises(InvalidInputError, match="one-dimensional"):
        te.evaluate([0, 1], 3, "f1", missing="ignore")
    lowest = np.finfo(float).min
    with pytest.raises(InvalidInputError, match="lowest of all float64 numbers"):
        te.evaluate([0, 1, 1], [lowest, np.nan, 1.0], "f1", missing="no alarm")
    with pytest.raises(InvalidInputError, match="lowest of all float64 numbers"):
        te.evaluate([0, 1, 1], [lowest, 0.5, 1.0], "f1", ignore=[0, 1, 0])


def test_messages_say_what_can_be_done_about_nan() -> None:
    with pytest.raises(InvalidInputError, match=r"y_score must be finite, but is NaN .* missing=.skip. of te.evaluate"):
        te.metrics.auc_roc([0, 1], [0.1, np.nan])
    with pytest.raises(InvalidInputError, match=r"y_true is NaN at position 1 \(1 such values in all\): drop"):
        te.evaluate([0, np.nan], [0.1, 0.2], "f1")


def test_names_of_series_that_read_the_same_are_refused() -> None:
    y_true, y_score = [0, 1], [0.1, 0.9]
    with pytest.raises(InvalidInputError, match="1 and '1' are the same as text"):
        te.evaluate_many([(1, y_true, y_score), ("1", y_true, y_score)], "auc_roc")


@pytest.mark.parametrize(
    "rule", ["sustained(quantile(0.7), 2)", "hysteresis(quantile(0.9), quantile(0.6))", "epsilon(1)"]
)
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore::tsadeval.errors.ThresholdWarning")
def test_chance_of_rules_that_look_at_the_order_is_drawn(rule: str) -> None:
    rng = np.random.default_rng(0)
    y_true = np.repeat(rng.random(40) < 0.3, 3).astype(int)
    y_score = 4 * np.repeat(rng.random(40), 3) ** 8 + rng.random(120)
    expected = [
        te.evaluate(y_true, rng.permutation(y_score), "time_in_alarm", threshold=rule)["time_in_alarm"]
        for _ in range(100)
    ]
    found = te.evaluate(y_true, y_score, "time_in_alarm", threshold=rule, baseline=True, draws=50).rows[0]
    assert found["random"] == pytest.approx(np.mean(expected), abs=0.01)
    assert abs(found["value"] - found["random"]) > 0.012
    fixed = te.evaluate(y_true, y_score, "time_in_alarm", threshold=1.5, baseline=True).rows[0]
    assert (fixed["random"], fixed["random_error"]) == (pytest.approx(fixed["value"]), 0.0)


def test_reasons_that_differ_in_their_places_are_one_line():
    from tsadeval.scores.scored import LeftOut, causes

    lost = [
        LeftOut(
            series,
            detector,
            "f.csv",
            f"column 'time' of {series}: line {9 + k} repeats line {8 + k}",
            f"{series}, {detector}",
        )
        for k, series in enumerate(("s-1", "s-2", "s-3", "s-40"))
        for detector in ("lof", "pca")
    ]
    lost.append(LeftOut("s-5", "lof", "f.csv", "y_score has inf", "s-5, lof"))
    assert causes(lost) == [
        "s-1, lof; s-2, lof; s-3, lof and 5 more: column 'time' of s-1: line 9 repeats line 8; the others alike",
        "s-5, lof: y_score has inf",
    ]
    assert causes(lost[:1]) == ["s-1, lof: column 'time' of s-1: line 9 repeats line 8"]


def test_the_same_fault_of_several_files_is_told_once(tmp_path):
    for name in ("a", "b", "c"):
        columns = ",".join(f"d{i}" for i in range(12))
        (tmp_path / f"{name}.csv").write_text(f"series,label,{columns}\nx,0{',0.1' * 12}\nx,1{',0.9' * 12}\n")
    files = {"scores": str(tmp_path / "*.csv"), "label": "label", "by": ["file", "series"]}
    with pytest.raises(te.errors.InvalidInputError) as caught:
        te.compare(**files)
    assert str(caught.value).count("no column 'score'") == 1
    assert str(caught.value).endswith("(of 12; '*' for all); the others alike")
    assert len(te.compare(**files, score="*", metrics="auc_roc").detectors) == 12
