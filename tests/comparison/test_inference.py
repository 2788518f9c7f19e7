"""Comparisons of many series: tables as input, missing values, ranks, tests, disagreement, LaTeX."""

import csv
import math
import re
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import published
import tsadeval as te
from tsadeval.comparison import paired as pairs
from tsadeval.comparison import statistics
from tsadeval.comparison.comparison import Comparison, Made
from tsadeval.core.metric import parse_metric
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning, UnknownNameError
from tsadeval.thresholds.rules import parse_rule

DETECTORS = {"good": 2.0, "fair": 1.0, "poor": 0.3}
METRICS = ["auc_roc", "f1", "detection_delay"]


def series(seed, n=300):
    rng = np.random.default_rng(seed)
    y = np.zeros(n, int)
    y[50 : 50 + 5 * (seed + 1)] = y[200:203] = 1
    return y, {name: rng.normal(size=n) + skill * y for name, skill in DETECTORS.items()}


def runs_on(count):
    return [(f"s{i}", d, series(i)[0], s) for i in range(count) for d, s in series(i)[1].items()]


@pytest.fixture(scope="module")
def wide():
    parts = []
    for seed in range(8):
        y, scores = series(seed)
        parts.append(pd.DataFrame({"series": f"s{seed}", "label": y, **scores}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def long(wide):
    return wide.melt(["series", "label"], list(DETECTORS), "detector", "score")


@pytest.fixture(scope="module")
def found(wide):
    return te.compare(wide, metrics=METRICS, by="series", score=list(DETECTORS))


def values(comparison):
    return {(r["series"], r["detector"], r["metric"]): r["value"] for r in comparison.rows}


def test_long_and_wide_tables_files_and_tuples_are_the_same(wide, long, found, tmp_path):
    expected = values(found)
    y, scores = series(3)
    assert expected["s3", "fair", "auc_roc"] == te.metrics.auc_roc(y, scores["fair"])
    assert values(te.compare(long, metrics=METRICS, by=["series", "detector"])) == expected
    assert values(te.compare(pl.from_pandas(long), "label", METRICS, by=["series", "detector"])) == expected
    long.to_parquet(tmp_path / "long.parquet")
    assert values(te.compare(tmp_path / "long.parquet", metrics=METRICS, by=["series", "detector"])) == expected
    for name, part in long.groupby("series"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        part.drop(columns="series").to_csv(tmp_path / "folder" / f"{name}.csv", index=False)
    again = values(te.compare(tmp_path / "folder", metrics=METRICS, by=["file", "detector"]))
    assert again.keys() == expected.keys()
    assert [again[key] for key in expected] == pytest.approx(list(expected.values()))
    tuples = [
        (s, d, y, x) for seed in range(8) for s, (y, all_) in [(f"s{seed}", series(seed))] for d, x in all_.items()
    ]
    assert values(te.compare(tuples, metrics=METRICS)) == expected


def test_missing_points_and_missing_scorings(wide):
    gaps = wide.copy()
    gaps.loc[(gaps["series"] == "s0") & (gaps.index < 4), "fair"] = np.nan
    gaps.loc[gaps["series"] == "s1", "poor"] = np.nan
    about = {"metrics": ["auc_roc"], "by": "series", "score": list(DETECTORS)}
    skipped = te.compare(gaps, **about)
    y, scores = series(0)
    assert values(skipped)["s0", "fair", "auc_roc"] == te.metrics.auc_roc(y[4:], scores["fair"][4:])
    row = next(r for r in skipped.rows if (r["series"], r["detector"]) == ("s1", "poor"))
    assert (row["status"], row["message"]) == ("missing", "no scores")
    assert math.isnan(row["value"])
    assert "points without a score were left out in 1 scoring" in repr(skipped)
    assert "poor: averages over 7 of 8 series" in repr(skipped)
    assert skipped.ranks().rows[0]["series"] == 7
    worst = te.compare(gaps, missing="worst", **about)
    filled = np.where(np.arange(300) < 4, scores["fair"][4:].min(), scores["fair"])
    assert values(worst)["s0", "fair", "auc_roc"] == te.metrics.auc_roc(y, filled)
    assert worst.table("s1")["poor"]["auc_roc"] == min(worst.table("s1")[d]["auc_roc"] for d in ("good", "fair"))
    assert worst.ranks().rows[0]["series"] == 8
    with pytest.raises(InvalidInputError, match="y_score must be finite"):
        te.compare(gaps, missing="error", **about)
    runs = [run for run in te.compare(wide, **about).scorings() if (run[0], run[1]) != ("s1", "poor")]
    with pytest.raises(InvalidInputError, match="detector 'poor' has no scores on series 's1'"):
        te.compare(runs, metrics="auc_roc", missing="error")
    assert te.compare(runs, metrics="auc_roc", missing="worst").ranks().rows[0]["series"] == 8
    with pytest.raises(InvalidInputError, match="no detector has a score on any series"):
        te.compare({"a": [math.nan] * 3}, [0, 1, 0])


def test_ranks_are_those_of_the_statistics(found):
    ranks = found.ranks()
    for metric in METRICS:
        better = np.array([[values(found)[s, d, metric] for d in DETECTORS] for s in found.series])
        better = -better if metric == "detection_delay" else better
        expected = statistics.mean_ranks(better)
        mine = {r["detector"]: r for r in ranks.rows if r["metric"] == metric}
        assert [mine[d]["rank"] for d in DETECTORS] == expected.mean.tolist()
        assert [mine[d]["low"] for d in DETECTORS] == expected.low.tolist()
    only = [r for r in ranks.rows if r["metric"] == "auc_roc"]
    assert only[0]["detector"] == "good"
    assert [r["rank"] for r in only] == sorted(r["rank"] for r in only)
    assert only[0]["wins"] + only[0]["ties"] + only[0]["losses"] == 16
    assert "Friedman test (Iman-Davenport)" in repr(found.ranks("f1"))
    assert "metric" not in repr(found.ranks("f1")).splitlines()[0]


@pytest.mark.parametrize("view", [repr, Comparison.to_latex, lambda one: repr(one.ranks())])
def test_memory_is_linear_in_the_number_of_detectors(view):
    def make(count):
        made = Made((parse_metric("auc_roc"),), parse_rule("best"))
        rng = np.random.default_rng(0)
        row = {"metric": "auc_roc", "rule": None, "status": "ok", "message": None}
        names = [(f"s{i}", f"d{j}") for j in range(count) for i in range(3)]
        return Comparison([{"series": s, "detector": d, "value": rng.random(), **row} for s, d in names], made=made)

    def peak(count):
        one = make(count)
        tracemalloc.start()
        view(one)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    view(make(10))
    few, many = peak(1_000), peak(4_000)
    assert many < 9 * few  # 16 times, if every two were looked at


def test_letters_of_many_detectors_are_left_out(found, monkeypatch):
    monkeypatch.setattr(statistics, "MANY", 2)
    ranks = found.ranks("auc_roc")
    assert {row["group"] for row in ranks.rows} == {""}
    assert "no letters for more than 2 detectors: significance() tests every two" in repr(ranks)
    assert "the same letter" not in repr(ranks)


def test_significance_is_that_of_the_statistics(found):
    better = np.array([[values(found)[s, d, "auc_roc"] for d in DETECTORS] for s in found.series])
    test = statistics.wilcoxon_holm(better)
    names = list(DETECTORS)
    for row in found.significance("auc_roc").rows:
        i, j = names.index(row["detector"]), names.index(row["rival"])
        assert row["p_value"] == test.p_values[i, j]
        assert row["raw_p_value"] == test.raw[i, j]
        assert row["difference"] == pytest.approx((better[:, i] - better[:, j]).mean())
        assert row["effect"] == pairs.rank_biserial(better[:, i], better[:, j])
        signs = np.sign(better[:, i] - better[:, j]).tolist()
        assert [row["wins"], row["ties"], row["losses"]] == [signs.count(sign) for sign in (1, 0, -1)]
        assert row["different"] == (row["p_value"] < 0.05)
    nemenyi = found.significance("auc_roc", test="nemenyi").rows
    assert {round(r["p_value"], 9) for r in nemenyi} <= set(statistics.nemenyi(better).p_values.round(9).ravel())
    bayes = found.significance("auc_roc", test="bayes", rope=0.02)
    assert bayes.rows[0]["better"] > 0.9
    assert "equivalent within 0.02" in repr(bayes)
    assert "also where less is better" in repr(found.significance())
    assert len(found.significance().rows) == 9


def test_disagreement_names_winners():
    runs = []
    y = np.zeros(200, int)
    y[50:60] = 1
    for seed in range(6):
        rng = np.random.default_rng(seed)
        steady = rng.normal(size=200) + 1.2 * y
        lucky = np.where(np.arange(200) == 52, 9.0, rng.normal(size=200))  # one high point in the event
        runs += [(f"s{seed}", "steady", y, steady), (f"s{seed}", "lucky", y, lucky)]
    found = te.compare(runs, metrics=["auc_roc", "cce", "f1_pa"])
    split = found.disagreement()
    assert split.overall == {"auc_roc": ["steady"], "cce": ["steady"], "f1_pa": ["lucky"]}
    # On the others both detectors have an F1-PA of 1.
    assert split.series == ["s0", "s1", "s3"]
    assert {(r["metric"], r["winner"]) for r in split.rows if r["series"] == "s0"} == {
        ("auc_roc", "steady"),
        ("cce", "steady"),
        ("f1_pa", "lucky"),
    }
    assert split.agreement[0, 2] == -1
    text = repr(split)
    assert "metrics name different winners on 3 series" in text
    assert "s0: steady (2), lucky (1)" in text


def test_categories(found):
    table = found.by_category("auc_roc")
    kinds = {row["kind"] for row in table.rows}
    assert kinds == {"number of events", "length of events", "kind of anomaly"}
    short = [r for r in table.rows if r["category"] == "short events (at most 50 points)" and r["detector"] == "good"]
    assert short[0]["value"] == pytest.approx(np.mean([values(found)[s, "good", "auc_roc"] for s in found.series]))
    assert "few events (at most 3)" in repr(table)
    assert found.by_category("auc_roc", kinds=["data set"]).rows[0]["category"] == "s0"
    assert "lower is better" in repr(found.by_category("detection_delay"))
    with pytest.raises(UnknownNameError, match="unknown kind of category 'size'"):
        found.by_category(kinds=["size"])


def test_groups_of_ones_own(found):
    halves = {name: "first" if name < "s4" else "second" for name in found.series}
    table = found.by_category("auc_roc", groups=halves)
    first = next(r for r in table.rows if (r["kind"], r["category"], r["detector"]) == ("group", "first", "good"))
    mean = np.mean([values(found)[f"s{i}", "good", "auc_roc"] for i in range(4)])
    assert first["value"] == pytest.approx(mean)
    assert first["series"] == 4
    again = found.by_category("auc_roc", groups=halves.get, kinds=["group"])
    assert {r["category"] for r in again.rows} == {"first", "second"}
    uneven = {name: "s0" if name == "s0" else "rest" for name in found.series}
    rest = np.mean([values(found)[f"s{i}", "good", "auc_roc"] for i in range(1, 8)])
    expected = (values(found)["s0", "good", "auc_roc"] + rest) / 2
    assert found.average(groups=uneven)["good"]["auc_roc"] == pytest.approx(expected)
    for call in (found.average, found.by_category):
        with pytest.raises(InvalidParameterError, match=r"groups must be a function .*, not 'datasets'"):
            call(groups="datasets")
    with pytest.raises(InvalidInputError, match="groups has no entry for series 's1'"):
        found.average(groups={"s0": "a"})
    with pytest.raises(UnknownNameError, match="unknown kind of category 'group'"):
        found.by_category(kinds=["group"])


def test_differences_by_series(found):
    table = found.differences("fair", "good", "detection_delay")
    assert {r["series"] for r in table.rows} == set(found.series)
    for row in table.rows:
        a, b = (values(found)[row["series"], d, "detection_delay"] for d in ("fair", "good"))
        assert (row["fair"], row["good"], row["difference"]) == (a, b, b - a)  # less delay is better
    sizes = [r["difference"] for r in table.rows]
    assert sizes == sorted(sizes, reverse=True)
    assert f"fair is worse by {-np.mean(sizes):.4f}" in repr(table)
    with pytest.raises(UnknownNameError, match="no detector 'god' in this comparison: did you mean good"):
        found.differences("god", "fair")


def test_latex_marks_best_second_and_what_is_not_told_apart(found):
    text = found.to_latex(layout="metrics", percent=True)
    means = {d: np.mean([values(found)[s, d, "auc_roc"] for s in found.series]) for d in DETECTORS}
    assert rf"good & \textbf{{{100 * means['good']:.1f}}}" in text
    assert rf"fair & \underline{{{100 * means['fair']:.1f}}}" in text
    assert text.startswith("\\begin{tabular}{lrrr}\n\\toprule\nDetector & AUC-ROC & F1 & Delay")
    spread = np.std([values(found)[s, "poor", "auc_roc"] for s in found.series], ddof=1)
    assert rf"{means['poor']:.3f} $\pm$ {spread:.3f}" in found.to_latex(layout="metrics", spread=True)
    by_series = found.to_latex(layout="series", metric="f1").splitlines()
    assert by_series[2] == r"F1 & good & fair & poor \\"
    assert len(by_series) == 2 + 1 + 1 + 8 + 1 + 1 + 2 + 2
    assert by_series[-5].startswith("average & ")
    assert by_series[-2].startswith("% Bold: first in its row; underlined: second; ")
    assert found.to_latex().count(r"\begin{tabular}") == 1
    with pytest.raises(InvalidParameterError, match="layout must be"):
        found.to_latex(layout="wide")


def test_the_dagger_is_for_equals_of_the_best():
    rng = np.random.default_rng(0)
    y = np.zeros(300, int)
    y[100:130] = 1
    runs = []
    for i in range(12):
        base = rng.normal(size=300) + 2 * y
        for name, scores in {"a": base, "b": base + 0.3 * rng.normal(size=300), "c": rng.normal(size=300)}.items():
            runs.append((f"s{i}", name, y, scores))
    found = te.compare(runs, metrics="auc_roc")
    apart = {(r["detector"], r["rival"]): r["different"] for r in found.significance().rows}
    lines = found.to_latex(layout="metrics").splitlines()
    assert ("\\dagger" in lines[5]) != apart["a", "b"]
    assert "\\dagger" not in lines[6]
    # The tables that are printed have the same marks: the dagger in averages alone.
    tables, average = re.split(r"average over \d+ series", found.to_latex())
    assert "\\dagger" not in tables
    assert ["\\dagger" in line for line in average.splitlines()[1:4]] == ["\\dagger" in line for line in lines[4:7]]


def test_too_few_series_for_any_difference_are_said():
    few = te.compare(runs_on(6), metrics=["auc_roc", "f1"])
    said = "too few series for Wilcoxon-Holm: 3 detectors cannot differ significantly at 0.05 on fewer than 7 (here 6)"
    for text in (repr(few.ranks()), repr(few.significance("f1")), few.ranks("f1").to_latex(), few.to_latex(),
                 few.to_latex(layout="metrics"), few.to_latex(layout="series")):  # fmt: skip
        assert text.count(said) == 1
    assert "too few" not in repr(few.ranks(alpha=0.2))
    assert "too few" not in repr(few.significance(test="bayes"))
    enough = te.compare(runs_on(7), metrics="auc_roc")
    assert "too few" not in repr(enough.ranks()) + repr(enough.significance()) + enough.to_latex(layout="metrics")


def test_metrics_with_fewer_series_are_named():
    runs = [(s, d, np.zeros_like(y) if s == "s0" else y, x) for s, d, y, x in runs_on(7)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = te.compare(runs, metrics=["auc_roc", "false_alarms"], threshold=0.5)
    notes = repr(found.ranks()).splitlines()
    assert [line.partition(":")[0] for line in notes if "too few" in line] == ["auc_roc"]


def test_one_metric_has_nothing_to_agree_with():
    assert "agreement" not in repr(te.compare(runs_on(3), metrics="f1").disagreement())
    assert "agreement" in repr(te.compare(runs_on(3), metrics=["f1", "cce"]).disagreement())


def test_one_detector_has_no_statistics():
    found = te.compare({"a": [0.1, 0.9]}, [0, 1], "auc_roc")
    for call in (found.ranks, found.significance, found.disagreement):
        with pytest.raises(InvalidInputError, match="at least 2 detectors"):
            call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda found: found.ranks(alpha=2), "ranks: alpha must be"),
        (lambda found: found.ranks(random_state=-1), "ranks: random_state must be"),
        (lambda found: found.significance(random_state=0.5), "significance: random_state must be"),
        (lambda found: found.significance(test="bayes", rope=-1), "significance: rope must be"),
        (lambda found: found.significance(test="nemenyi"), "needs at least 3 detectors, but there are 2"),
        (lambda found: found.to_latex(alpha=0), "to_latex: alpha must be"),
        (lambda found: found.average().to_latex(alpha=2), "to_latex: alpha must be"),
    ],
)
def test_bad_options_of_statistics(call, message):
    found = te.compare({"a": [0.1, 0.9], "b": [0.9, 0.1]}, [0, 1], "auc_roc")
    with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
        call(found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: te.compare(t, [0, 1], by="series"), "y_true must be the name of a column"),
        (lambda t: te.compare(t, by="nothing"), "no column 'nothing'"),
        (lambda t: te.compare(t, "label", by="series", score="lof"), "no column 'lof'"),
        (lambda t: te.compare(t, missing="drop", by="series"), "missing must be"),
        (lambda t: te.compare("nowhere.csv"), "nowhere.csv"),
    ],
)
def test_bad_tables(wide, call, message):
    with pytest.raises((InvalidInputError, InvalidParameterError, UnknownNameError), match=message):
        call(wide)


THESEUS = published.SHARED / "scores" / "Theseus"


@pytest.mark.slow
@pytest.mark.skipif(
    not THESEUS.is_dir(), reason=f"the published scores are not part of the repository: none in {THESEUS}"
)
@pytest.mark.parametrize("dataset", ["Daphnet", "Occupancy", "NAB"])
def test_published_values_of_auc_roc(dataset):
    with open(THESEUS / "published_auc_roc.csv", encoding="utf-8") as file:
        wanted = {
            (r["series"], r["detector"]): float(r["auc_roc"]) for r in csv.DictReader(file) if r["dataset"] == dataset
        }
    assert wanted
    table = pd.read_parquet(THESEUS / f"{dataset}.parquet")
    detectors = [c for c in table.columns if c not in ("series", "value", "label")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # six series have no anomaly
        found = values(te.compare(table, metrics="auc_roc", by="series", score=detectors))
    for (series_name, detector), value in wanted.items():
        assert found[series_name, detector, "auc_roc"] == pytest.approx(value, abs=1e-9)
