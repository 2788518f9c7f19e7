"""Chance, perfect scores and one-liners beside detectors, and how orders hold under other thresholds."""

import numpy as np
import pytest
from scipy import stats

import tsadeval as te
from commands import run
from tsadeval.comparison.statistics import holm
from tsadeval.errors import InvalidInputError

GAINS = {"LOF": 0.6, "mine": 0.5, "noise": 0.0}
METRICS = ["vus_pr", "f1", "false_alarms"]


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(4)
    y = (np.arange(200) // 20 % 5 == 2).astype(int)
    return [(f"s{k}", name, y, rng.random(200) + gain * y) for k in range(10) for name, gain in GAINS.items()]


@pytest.fixture(scope="module")
def found(runs):
    return te.compare(runs, metrics=METRICS, baseline=True)


def test_random_is_what_evaluate_says(found, runs):
    own = [te.evaluate(y, x, METRICS, baseline=True, draws=5).rows for s, _, y, x in runs if s == "s3"]
    for i, metric in enumerate(METRICS):
        expected = np.mean([rows[i]["random"] for rows in own])
        error = np.sqrt(np.sum([rows[i]["random_error"] ** 2 for rows in own])) / 3
        row = next(
            r for r in found.baseline.rows if (r["series"], r["metric"], r["detector"]) == ("s3", metric, "random")
        )
        assert row["value"] == pytest.approx(expected)
        assert row["random_error"] == pytest.approx(error)
    assert found.baseline.detectors == ["random", "perfect"]
    assert found.baseline.average()["perfect"] == {"vus_pr": 1.0, "f1": 1.0, "false_alarms": 0.0}


def test_baselines_stand_below_and_change_nothing_else(found, runs):
    plain = te.compare(runs, metrics=METRICS)
    assert plain.baseline is None
    assert repr(found.ranks()) == repr(plain.ranks())
    assert repr(found.significance()) == repr(plain.significance())
    text, before = repr(found.average()).splitlines(), repr(plain.average()).splitlines()
    assert text[:5] == before
    assert [line.split()[0] for line in text[5:]] == ["random", "random", "perfect"]
    assert "*" not in "".join(text[5:])
    latex, before = (
        found.to_latex(layout="metrics").split("\\midrule\n"),
        plain.to_latex(layout="metrics").split("\\midrule\n"),
    )
    assert latex[1] == before[1].partition("\\bottomrule")[0]
    value = found.baseline.average()["random"]["f1"]
    assert latex[2].splitlines()[0].split(" & ")[::2] == ["random", f"{value:.3f}"]
    assert latex[2].splitlines()[1].startswith(r"random $\pm$ & ")


def test_the_random_row_has_its_spread_below(found):
    errors = {(r["series"], r["metric"]): r["random_error"] for r in found.baseline.rows if r["detector"] == "random"}
    places = {"a": [f"s{k}" for k in range(7)], "b": [f"s{k}" for k in range(7, 10)]}

    def error(metric, series):
        return np.sqrt(np.sum([errors[name, metric] ** 2 for name in series])) / len(series)

    one, average = found.table("s3"), found.average()
    grouped = found.average(groups=lambda name: "ab"[int(name[1:]) > 6])
    for metric in METRICS:
        assert one.beside["random ±"][metric] == pytest.approx(errors["s3", metric])
        assert average.beside["random ±"][metric] == pytest.approx(error(metric, found.series))
        of_groups = np.sqrt(sum(error(metric, some) ** 2 for some in places.values())) / 2
        assert grouped.beside["random ±"][metric] == pytest.approx(of_groups)
    line = "random ±  " + "  ".join(f"{average.beside['random ±'][metric]:.4f}" for metric in METRICS)
    assert " ".join(line.split()) in [" ".join(text.split()) for text in repr(average).splitlines()]
    assert average.beside["random"] == found.baseline.average()["random"]
    assert "±: standard error of the mean of draws" in repr(found)
    assert '<td style="text-align: left">random ±</td>' in found._repr_html_()
    note = found.to_latex(layout="metrics", notes=True)
    assert r"($\pm$: standard error of the mean of draws)" in note
    assert "±" not in note
    assert repr(found.average(percent=True)).count("random ±") == 1
    assert "random" not in [row["detector"] for row in average.rows]


def test_above_random_is_wilcoxons_test_with_holms_correction(found):
    random = {(r["series"], r["detector"]): r["random"] for r in found.rows if r["metric"] == "f1"}
    chance = np.array([[random[s, d] for d in found.detectors] for s in found.series])
    raw = [stats.wilcoxon(x).pvalue for x in (found.values("f1") - chance).T]
    rows = found.above_random("f1").rows
    np.testing.assert_allclose([r["raw_p_value"] for r in rows], raw)
    np.testing.assert_allclose([r["p_value"] for r in rows], holm(raw))
    assert [r["different"] for r in rows] == [True, True, False]
    lower = {r["detector"]: r["different"] for r in found.above_random("false_alarms").rows}
    assert not lower["noise"]
    assert "not significantly better than random scores: noise (vus_pr, f1, false_alarms)" in repr(found)
    assert "not significantly better than random scores: noise (f1)" in found.describe("f1")


def test_without_a_baseline_there_is_no_test_against_it(runs):
    with pytest.raises(InvalidInputError, match=r"baseline=True"):
        te.compare(runs[:4], metrics="f1").above_random()


def test_one_liners_on_the_series_itself():
    rng = np.random.default_rng(5)
    y = (np.arange(300) // 20 % 5 == 2).astype(int)
    series = {f"s{k}": rng.normal(size=(300, 2)) * (1 + 3 * y[:, None]) for k in range(2)}
    series["gaps"] = np.full(300, np.nan)
    entries = [(s, d, y, rng.random(300)) for s in series for d in "ab"]
    found = te.compare(entries, metrics="auc_roc", baseline=True, values=series)
    values = found.baseline.values("auc_roc")
    names = ["random", "perfect", "squared difference", "moving variance"]
    assert found.baseline.detectors == names
    for j, name in enumerate(("squared_difference", "moving_variance")):
        scores = te.detectors.make(name).fit(series["s0"]).score(series["s0"])
        assert values[0, 2 + j] == te.metrics.auc_roc(y, scores)
    place = found.baseline.series.index("gaps")
    assert np.isnan(values[place]).tolist() == [False, False, True, True]


@pytest.mark.filterwarnings("ignore::tsadeval.errors.ThresholdWarning")
def test_orders_under_several_rules(found, runs):
    rules = ["best", "quantile(0.9)", "sigma(2)"]
    table = found.robustness(rules)
    assert table.orders == ["vus_pr", *(f"{m} at {rule}" for rule in rules for m in ("f1", "false_alarms"))]
    means = {}
    for row in table.rows:
        own = te.compare(runs, metrics=row["metric"], threshold=row["rule"] or "best")
        expected = {r["detector"]: r["rank"] for r in own.ranks().rows}
        assert row["ranks"] == pytest.approx(expected)
        means[row["metric"], row["rule"]] = [expected[d] for d in found.detectors]
        assert row["winner"] == " = ".join(own.disagreement().overall[row["metric"]])
    for i, one in enumerate(means.values()):
        for j, other in enumerate(means.values()):
            if len(set(one)) > 1 and len(set(other)) > 1:
                assert table.agreement[i, j] == pytest.approx(stats.spearmanr(one, other).statistic)
    assert "least alike: " in repr(table)
    lines = table.to_latex().splitlines()
    assert [line.split(" & ")[:3] for line in lines[4:6]] == [["1", "VUS-PR", ""], ["2", "F1", "best"]]


def test_values_without_scores_cannot_be_judged_again(found):
    with pytest.raises(InvalidInputError, match="there are no scores here"):
        found.baseline.robustness()


def test_on_the_command_line(tmp_path, found, runs):
    import pandas as pd

    table = pd.concat(pd.DataFrame({"series": s, "detector": d, "label": y, "score": v}) for s, d, y, v in runs)
    table.to_csv(tmp_path / "all.csv", index=False)
    what = ["compare", tmp_path / "all.csv", "--by", "series,detector", "--metrics", ",".join(METRICS)]
    done = run(*what, "--baseline", "--interval", "0.9", "--rules", "best,sigma(2)")
    parts = found, found.average(interval=0.9), found.robustness(["best", "sigma(2)"])
    assert done.stdout.rstrip("\n") == "\n\n".join(map(repr, parts))
