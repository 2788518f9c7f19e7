"""Ranking quality and the tables: against scipy, and on metrics whose rank is known."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tsadeval as te
from tsadeval.comparison.statistics import Estimate, resample
from tsadeval.errors import InvalidParameterError, UnknownNameError
from tsadeval.rankeval.quality import ranking_quality
from tsadeval.rankeval.series import CASES

SMALL = {"cases": ["10k-2seg-50L", "10k-20seg-50H", "10k-10seg-100H"]}


@given(st.lists(st.integers(0, 6), min_size=3, max_size=10), st.booleans())
def test_equals_scipy(values, lower_is_better):
    values = np.array(values, float)
    worth = np.arange(len(values), dtype=float) * (-1 if lower_is_better else 1)
    found = ranking_quality(values[None], worth)
    constant = len(set(values)) == 1
    spearman = 0.0 if constant else stats.spearmanr(values, worth).statistic
    kendall = 0.0 if constant else stats.kendalltau(values, worth).statistic
    ranks, truth = stats.rankdata(-values), stats.rankdata(-worth)
    assert found.spearman[0] == pytest.approx(spearman, abs=1e-12)
    assert found.kendall[0] == pytest.approx(kendall, abs=1e-12)
    assert found.deviation[0] == pytest.approx(np.abs(ranks - truth).mean(), abs=1e-12)
    pairs = [(a, b) for i, a in enumerate(values) for b in values[i + 1 :]]
    assert found.ties[0] == pytest.approx(np.mean([a == b for a, b in pairs]))


@given(st.permutations(range(10)))
def test_without_ties_the_published_way_differs_by_rounding_only(values):
    values, worth = np.array([values], float), np.arange(10.0)
    ours, theirs = ranking_quality(values, worth), ranking_quality(values, worth, ties="published")
    assert np.allclose(ours, theirs, atol=5.1e-5)
    assert theirs.spearman[0] == round(theirs.spearman[0], 4)


def test_published_ties_depend_on_the_list_and_average_ranks_do_not():
    tied, worth = np.array([[0, 0, 0, 1.0]]), np.arange(4.0)
    assert ranking_quality(tied, worth).spearman == ranking_quality(tied[:, [1, 0, 2, 3]], worth).spearman
    assert -1 <= ranking_quality(np.zeros((1, 10)), np.arange(10.0), ties="published").spearman[0] < 0


def test_rounding_errors_are_ties_and_undefined_values_are_no_ranking():
    found = ranking_quality(np.array([[0.3, 0.1 + 0.2, 0.5], [1, np.nan, 2], [1e-20, 2e-20, 3e-20]]), np.arange(3.0))
    assert found.ties.tolist()[::2] == [pytest.approx(1 / 3), 0.0]
    assert found.spearman[2] == 1
    assert all(math.isnan(values[1]) for values in found)


def test_ties_are_checked_where_they_are_passed():
    result = te.rankeval.run("quick", "cce", cases="10k-20seg-50H", tasks="AccQ")
    with pytest.raises(InvalidParameterError, match="ties must be one of"):
        result.table(ties="random")


@given(st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=3, max_size=9))
def test_models_without_a_value_are_sorted_as_pandas_sorts_them(values):
    """As the published code does: `sort_values(ascending=False)`, and the places are the ranks."""
    pd = pytest.importorskip("pandas")
    values = np.array([np.nan if value is None else value for value in values], float)
    truth = stats.rankdata(-np.arange(float(len(values))))
    order = pd.Series(values).sort_values(ascending=False).index
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1.0, len(values) + 1)
    given_here = np.where(np.isnan(values), -np.inf, values)
    found = ranking_quality(given_here[None], np.arange(float(len(values))), ties="published")
    assert found.deviation[0] == round(float(np.abs(ranks - truth).mean()), 4)


def test_models_without_a_value_are_the_worst_or_left_out():
    values, worth = np.array([[-np.inf, 0.2, 0.1, 0.3], [0.1, 0.2, 0.3, 0.4]]), np.arange(4.0)
    assert ranking_quality(values, worth).spearman[0] == pytest.approx(stats.spearmanr([0, 2, 1, 3], worth).statistic)
    values[values == -np.inf] = np.nan
    left = ranking_quality(values, worth, drop_models=True)
    assert left.spearman.tolist() == [pytest.approx(0.5), 1.0]  # of 0.2 0.1 0.3
    assert np.isnan(ranking_quality(np.array([[np.nan, np.nan, 1.0]]), np.arange(3.0), drop_models=True).spearman)


def test_models_without_alarms_are_ranked_as_asked():
    """Three of these have no alarm at the published threshold."""
    result = te.rankeval.run("paper", ["etapr_f1", "f1"], cases=["10k-2seg-500L"], tasks=["PreQ-NegP-Q"], repeats=1)
    ways = ("worst", "drop models", "drop rankings", "published")
    tables = {way: result.table(ties="published", undefined=way) for way in ways}
    assert len({tables[way]["f1"] for way in ways}) == 1  # its published code has 0
    assert tables["worst"]["etapr_f1"] < tables["drop models"]["etapr_f1"]
    assert tables["published"]["etapr_f1"] == tables["drop rankings"]["etapr_f1"]
    rows = {way: next(row for row in tables[way].rows if row["metric"] == "etapr_f1") for way in ways}
    assert [rows[way]["rankings"] for way in ways] == [12, 12, 11, 11]
    assert "models without alarms under eTaPR and affiliation: drop models" in repr(tables["drop models"])
    assert "equal values have equal ranks here" in repr(result.table())
    assert "equal values" not in repr(tables["worst"])
    with pytest.raises(InvalidParameterError, match="undefined must be one of 'worst', 'drop models'"):
        result.table(undefined="drop")


def test_intervals():
    weights = resample(5)
    assert weights[0].tolist() == [1] * 5
    assert set(weights.sum(axis=1)) == {5}
    assert resample(1, draws=0).shape == (1, 1)
    alone = Estimate.of(np.array([0.4]))
    assert math.isnan(alone.low)
    assert not alone.overlaps(Estimate(0.9, 0.8, 1.0))
    assert alone.overlaps(Estimate(0.4, math.nan, math.nan))
    assert Estimate(0.9, 0.8, 1.0).overlaps(Estimate(0.7, 0.6, 0.8))
    assert not Estimate(0.9, 0.85, 1.0).overlaps(Estimate(0.7, 0.6, 0.8))


def separation(y_true, y_score):
    """A five-line metric of a new user: how far apart are the mean scores?"""
    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()


def constant(y_true, y_score):
    return 0.5


def hopeless(y_true, y_score):
    raise ValueError("no idea")


@pytest.fixture(scope="module")
def result():
    def oracle(y_true, y_score):
        # Found and false alarms, counted in a way that no noise of the suite can hide.
        found, false = (y_score > 0.45)[y_true == 1].mean(), (y_score > 0.45)[y_true == 0].mean()
        return found - false

    def reversed_oracle(y_true, y_score):
        return -oracle(y_true, y_score)

    metrics = [oracle, reversed_oracle, constant, separation, hopeless, "f1", "cce", "auc_roc"]
    return te.rankeval.run("quick", metrics, **SMALL)


@pytest.mark.slow
def test_oracle_constant_and_reversed(result):
    table = result.table()
    assert table["oracle"] == pytest.approx(1, abs=0.02)
    assert table["reversed_oracle"] == pytest.approx(-table["oracle"])
    assert table["constant"] == 0
    ties = {row["metric"]: row["ties"] for row in table.rows if row["task"] == "average"}
    assert ties["constant"] == 1
    assert ties["cce"] == 0
    assert ties["f1"] > 0
    rows = [row for row in table.rows if row["metric"] == "constant" and row["indicator"] != "deviation"]
    assert {row["value"] for row in rows} == {0.0}


@pytest.mark.slow
def test_an_oracle_of_the_clean_models_is_perfect():
    def oracle(y_true, y_score):
        return (y_score > 0.5)[y_true == 1].mean() - (y_score > 0.5)[y_true == 0].mean()

    def reversed_oracle(y_true, y_score):
        return -oracle(y_true, y_score)

    table = te.rankeval.run("quick", [oracle, reversed_oracle], repeats=2, **SMALL).robustness()
    values = {
        (r["metric"], r["indicator"]): r["value"] for r in table.rows if (r["task"], r["sigma"]) == ("average", 0)
    }
    assert values["oracle", "spearman"] == values["oracle", "kendall"] == 1
    assert values["reversed_oracle", "spearman"] == values["reversed_oracle", "kendall"] == -1
    assert values["oracle", "deviation"] == 0


def test_an_error_is_a_row_and_the_run_goes_on(result):
    values = result.to_frame()
    failed = values[values["metric"] == "hopeless"]
    assert set(failed["status"]) == {"error"}
    assert failed["message"].str.startswith("ValueError: no idea (").all()
    assert set(values[values["metric"] == "cce"]["status"]) == {"ok"}
    table = result.table()
    assert math.isnan(table["hopeless"])
    assert table.counts["hopeless"].pop("message").startswith("ValueError: no idea (")
    assert table.counts["hopeless"] == {
        "values": 0,
        "planned": 540,
        "undefined": 0,
        "errors": 540,
        "own": True,
        "empty": None,
    }
    row = next(row for row in table.rows if row["metric"] == "hopeless")
    assert (row["rankings"], row["of"], row["mark"]) == (0, 9, "")
    assert "hopeless" in repr(result)


def test_a_metric_that_fails_on_some_models_is_not_placed():
    def half(y_true, y_score):
        if y_score[y_true == 1].mean() < 0.3:
            raise ValueError("too low")
        return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()

    result = te.rankeval.run("quick", [half, constant], tasks=["PreQ-NegP-P"], cases=SMALL["cases"])
    table = result.table()
    assert (table.whole, table.places) == ({"half": False, "constant": True}, {"half": 1, "constant": 1})
    row = next(row for row in table.rows if row["metric"] == "half" and row["task"] == "average")
    text = repr(result)
    assert re.search(r"^half +\(1\) ", text, re.M)
    assert "half: not placed, it would be at place 1 of 2 in this run, by average Spearman" in text
    missing = f"half is averaged over {row['rankings']} of {row['of']} rankings (values are missing on PreQ-NegP-P)"
    assert missing in text
    assert "not placed, it would be at place 1 of 2" in repr(result.explain(half))
    assert result.robustness().whole["half"] is False


def test_marks_do_not_tell_apart_what_overlaps(result):
    table = result.table()
    for indicator in ("spearman", "kendall", "deviation"):
        rows = [r for r in table.rows if (r["task"], r["indicator"]) == ("AccQ", indicator)]
        best = [r for r in rows if r["mark"] == "best"]
        top = (min if indicator == "deviation" else max)(r["value"] for r in rows if not math.isnan(r["value"]))
        assert top in {r["value"] for r in best}
        for row in rows:
            overlaps = any(row["low"] <= b["high"] and b["low"] <= row["high"] for b in best if b["value"] == top)
            assert (row["mark"] == "best") == overlaps
        assert all(r["low"] <= r["value"] <= r["high"] for r in rows if not math.isnan(r["value"]))


def test_views(result):
    table = result.table()
    assert len(table) == 8
    assert next(iter(table)) == "oracle"
    assert "cce" in table
    with pytest.raises(UnknownNameError, match="no metric 'ccee' in this result: did you mean cce"):
        table["ccee"]
    frame = table.to_frame()
    assert len(frame) == 8 * 5 * 3
    assert set(frame["task"]) == {"AccQ", "LowDisAccQ", "PreQ-NegP-Q", "PreQ-NegP-P", "average"}
    assert "<table>" in table._repr_html_()
    assert "second best" in table._repr_html_()  # what the marks mean
    latex = table.to_latex()
    assert r"\textbf{1.000}" in latex
    assert " & AUC-ROC" in latex
    assert "ties broken as published" in repr(result.table(ties="published"))
    robust = result.robustness().to_frame()
    assert set(robust["sigma"]) == {0.0, 0.05, 0.1}
    whole = frame.set_index(["metric", "task", "indicator"])["value"]
    by_sigma = robust.groupby(["metric", "task", "indicator"])["value"].mean()
    for key, value in whole.items():
        assert math.isnan(value) or by_sigma[key] == pytest.approx(value)
    assert "0.05" in repr(result.robustness())
    f1 = robust[(robust["metric"] == "f1") & (robust["task"] == "AccQ") & (robust["indicator"] == "spearman")]
    assert f1["of"].tolist() == [3, 3, 3]
    empty = {name: counts["empty"] for name, counts in table.counts.items()}
    assert empty["f1"] == 0  # a quantile that is the largest score still raises alarms
    assert empty["cce"] is None


def test_values_are_the_metrics_own(result):
    values = result.to_frame()
    assert len(values) == 8 * 540
    assert {"case", "metric", "value", "seconds", "status", "message", "versions", "alarmed_points"} <= set(values)
    row = values[(values["metric"] == "f1") & (values["value"] > 0)].iloc[0]
    assert 0 < row["alarmed_points"] <= 0.5 * row["n"]
    assert row["rule"] == "quantile(0.95)"
    assert (row["n"], row["events"]) == (10_000, len(CASES[row["case"]].events()))
    assert f"tsadeval {te.__version__}" in row["versions"]


def test_latency(result):
    overall = result.latency()
    assert "cce" in overall
    assert "hopeless" not in overall
    assert overall["cce"] > 0
    by = result.latency("cce").to_frame()
    assert set(by["generator"]) == {"AccQ", "LowDisAccQ", "PreQ-NegP"}
    assert set(by["n"]) == {10_000}
    assert by["values"].sum() == 540
    with pytest.raises(UnknownNameError, match="did you mean"):
        result.latency("ccee")


def test_sensitivity(result):
    table = result.sensitivity("cce", tau=[0.1, 0.5], tasks=["AccQ"])
    assert list(table) == ["cce(tau=0.1)", "cce(tau=0.5)"]
    assert table["cce(tau=0.5)"] == pytest.approx(1, abs=0.02)
    assert {row["task"] for row in table.rows} == {"AccQ", "average"}
    clipped = result.sensitivity("cce(constrained=True)", tau=[0.1, 0.9], tasks=["AccQ"])
    assert clipped["cce(tau=0.9, constrained=True)"] < 0.9 < clipped["cce(tau=0.1, constrained=True)"]
    with pytest.raises(InvalidParameterError, match="one option with a list"):
        result.sensitivity("cce")


def test_lower_is_better_is_respected(monkeypatch):
    from dataclasses import replace

    from tsadeval.rankeval.suites.paper_rankings import Rankings

    result = te.rankeval.run("quick", "auc_roc", cases=["10k-2seg-50L"], tasks=["AccQ"])
    (metric,) = result.plan.metrics
    rankings = Rankings(result.plan, result)
    task = result.plan.tasks[0]
    up = rankings.quality(metric, task, "average")
    down = rankings.quality(replace(metric, direction="lower"), task, "average")
    assert np.allclose(up.spearman, -down.spearman)


def test_one_case_has_no_interval_and_values_are_compared():
    table = te.rankeval.run("quick", ["f1", "cce"], cases=["10k-2seg-50L"], tasks=["AccQ"]).table()
    marks = {(row["metric"], row["mark"]) for row in table.rows}
    assert marks == {("cce", "best"), ("f1", "second")}
    assert all(math.isnan(row["low"]) for row in table.rows)
    assert "1 case, 1 repeat" in repr(table)


def test_seeds_differ_and_repeat():
    def values(seed):
        result = te.rankeval.run("quick", "auc_roc", random_state=seed, cases=["10k-2seg-50L"], tasks=["AccQ"])
        return result.to_frame()["value"]

    assert values(1).equals(values(1))
    assert np.isclose(values(1), values(2)).sum() == 3  # a perfect model is perfect with every seed
