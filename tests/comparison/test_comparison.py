"""`te.compare`: tables of detectors by metrics, averages, LaTeX."""

import json
import math
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import tsadeval as te
from tsadeval.comparison import DetectorTable
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning, UnknownNameError

METRICS = ["cce", "auc_roc", "f1", "vus_roc(window=20)"]


def scoring(seed, strength, n=400, labels=True):
    rng = np.random.default_rng(seed)
    y = np.zeros(n, int)
    if labels:
        y[100:120] = y[300:310] = 1
    return y, rng.random(n) + strength * y


@pytest.fixture
def runs():
    strengths = {"good": 2.0, "fair": 0.5, "none": 0.0}
    names = ["smd/1-1", "smd/2-1", "smd/3-1", "msl", "own.csv"]
    return [(s, d, *scoring(i, strengths[d])) for i, s in enumerate(names) for d in strengths]


def test_one_series(runs):
    y = runs[0][2]
    found = te.compare({d: s for _, d, _, s in runs[:3]}, y, METRICS)
    table = found.table()
    for _, d, y, s in runs[:3]:
        assert table[d] == dict(te.evaluate(y, s, METRICS))
    assert list(table) == ["good", "fair", "none"]
    assert table.best("cce") == ["good"]
    assert len(found.to_frame()) == 3 * 4
    assert {(r["detector"], r["metric"]): r["value"] for r in table.rows}["fair", "f1"] == table["fair"]["f1"]
    assert json.loads(table.to_json())[-1]["detector"] == "none"
    # A row per detector, whatever their number. Best values have a star.
    lines = repr(found).splitlines()
    assert lines[0].split() == ["detector", *METRICS]
    assert lines[2].split()[:3] == ["good", f"{table['good']['cce']:.4f}*", "1.0000*"]
    assert lines[3].split()[:3] == ["fair", *(f"{table['fair'][m]:.4f}" for m in METRICS[:2])]
    assert lines[-3:-1] == ["* first in its column; ! never first", "never first: none (not above chance)"]
    assert "chosen with the labels" in lines[-1]
    across = repr(te.compare({d: s for _, d, _, s in runs[:3]}, y, ["cce", "f1"])).splitlines()
    assert across[0].split() == ["detector", "cce", "f1"]
    assert len({len(line) for line in across[1:3]}) == 1


@pytest.mark.filterwarnings("ignore:no micro average of f1, vus_roc")
def test_averages_are_over_series_or_over_data_sets(runs):
    found = te.compare(runs, metrics=METRICS)
    assert found.series == ["smd/1-1", "smd/2-1", "smd/3-1", "msl", "own.csv"]
    values = {(s, d): te.evaluate(y, x, METRICS) for s, d, y, x in runs}
    for metric in METRICS:
        smd = np.mean([values[f"smd/{k}-1", "fair"][metric] for k in (1, 2, 3)])
        whole = np.mean([smd, values["msl", "fair"][metric], values["own.csv", "fair"][metric]])
        assert found.average(groups="dataset")["fair"][metric] == pytest.approx(whole, rel=1e-14)
        assert found.group("smd")["fair"][metric] == pytest.approx(smd, rel=1e-14)
        every = np.mean([values[s, "fair"][metric] for s in found.series])
        assert found.average()["fair"][metric] == pytest.approx(every, rel=1e-14)
        assert found.average(groups=str)["fair"][metric] == pytest.approx(every, rel=1e-14)
    assert found.table("msl")["good"] == dict(values["msl", "good"])
    pooled = te.evaluate_many([(s, y, x) for s, d, y, x in runs if d == "fair"], METRICS)
    micro = found.average("micro")["fair"]
    assert micro["auc_roc"] == pooled.micro["auc_roc"]
    assert [table.title for table in found.tables()] == [*found.series, "average over 5 series"]


def test_titles_of_averages_count_the_series_that_were_left_out_apart(runs):
    bad = [("bad", d, y, np.full(len(y), np.inf)) for _, d, y, _ in runs[:3]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = te.compare([*runs, *bad], metrics="cce")
    assert dict(found.average()) == dict(te.compare(runs, metrics="cce").average())
    assert repr(found.average()).startswith("average over 5 of 6 series")
    assert repr(found.average(groups="dataset")).startswith("average over 3 groups of 5 of 6 series")


def test_averages_do_not_depend_on_how_series_are_called(runs):
    """Once "nab/..." was averaged as one data set, and "NAB/..." series by series; LaTeX printed the other number."""
    small = [(f"nab/{k}", *rest) for k, (_, *rest) in enumerate(runs)]
    large = [(name.upper(), *rest) for name, *rest in small]
    one, other = (te.compare([*some, ("own", *runs[0][1:])], metrics="cce") for some in (small, large))
    assert dict(one.average()) == dict(other.average())
    assert one.to_latex(layout="metrics") == other.to_latex(layout="metrics")
    for name, values in one.average().items():
        assert f"{values['cce']:.3f}" in one.to_latex(layout="metrics", digits=3), name
        assert values["cce"] == pytest.approx(np.nanmean([row["value"] for row in one.rows if row["detector"] == name]))


def test_with_many_series_data_sets_are_shown(runs):
    more = [(f"smd/9-{k}", d, y, s) for k in range(12) for _, d, y, s in runs[:3]]
    found = te.compare(more + runs, metrics="cce")
    assert [table.title for table in found.tables()] == ["smd", "msl", "own.csv", "average over 17 series"]
    assert [table.title for table in te.compare(more + runs[:3], metrics="cce").tables()] == ["smd"]
    own = te.compare([(f"{series}.csv", *rest) for series, *rest in more + runs[:3]], metrics="cce")
    assert [table.title for table in own.tables()] == ["smd"]  # still of a known data set
    own = te.compare([(f"my {series}", *rest) for series, *rest in more + runs[:3]], metrics="cce")
    assert [table.title for table in own.tables()] == ["average over 13 series"]
    assert "13 series: table(name) has one of them" in repr(own)


def test_latex_has_the_best_in_bold_and_percentages_as_papers_print_them(runs):
    found = te.compare(runs[9:], metrics=["cce", "auc_roc", "detection_delay"])
    text = found.table("msl", percent=True).to_latex()
    lines = text.splitlines()
    assert lines[:2] == [r"\begin{tabular}{lrrr}", r"\toprule"]
    assert lines[2].startswith(r"msl & CCE & AUC-ROC & ")
    table = found.table("msl")
    assert rf"good & \textbf{{{100 * table['good']['cce']:.2f}}} & \textbf{{100.00}} & " in text
    # A delay is no share, so it stays as it is; and it is better the smaller it is.
    delays = {d: table[d]["detection_delay"] for d in table}
    assert table.best("detection_delay") == [d for d in delays if delays[d] == min(delays.values()) and d != "none"]
    assert f"{delays['none']:.4f}" in text
    whole = found.to_latex(percent=True, digits=1)
    assert whole.count(r"\midrule") == 3
    assert whole.count(r"\begin{tabular}") == 1
    assert r"\emph{average over 2 series}} \\" in whole
    assert r"\textbf{100.0}" in whole
    assert r"a\_b & " in te.compare({"a_b": runs[0][3], "c": runs[1][3]}, runs[0][2], "cce").to_latex()


def test_marks_only_where_there_is_a_difference(runs):
    same = te.compare({"one": runs[0][3], "two": runs[0][3], "less": runs[1][3]}, runs[0][2], ["cce", "f1"])
    assert same.table().best("cce") == ["one", "two"]
    assert repr(same.table()).count("*") == 4
    equal = te.compare({"one": runs[0][3], "two": runs[0][3]}, runs[0][2], ["cce"])
    assert "*" not in repr(equal.table())
    assert "best" not in repr(te.compare({"one": runs[0][3]}, runs[0][2], ["cce"]))


def test_undefined_values_are_left_out_of_averages_and_shown_as_dashes():
    y, s = scoring(0, 1.0)
    nothing, quiet = scoring(1, 1.0, labels=False)
    with pytest.warns(UndefinedMetricWarning, match="cce is undefined"):
        found = te.compare([("a", "one", y, s), ("b", "one", nothing, quiet)], metrics=["cce"])
    assert found.average()["one"]["cce"] == found.table("a")["one"]["cce"]
    assert math.isnan(found.table("b")["one"]["cce"])
    assert " -- " in found.table("b").to_latex()
    assert json.loads(found.table("b").to_json()) == [{"detector": "one", "metric": "cce", "value": None}]
    assert "b has no anomalous point: cce is undefined there" in repr(found)
    assert "series only" not in repr(found)  # which it is for every detector


def test_detectors_of_different_series_say_so(runs):
    found = te.compare(runs[:4], metrics="cce")
    assert "fair, none: averages over 1 of 2 series" in repr(found)
    assert "good has values" not in repr(found)


def test_own_metrics_and_thresholds(runs):
    def separation(y_true, y_score):
        return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()

    found = te.compare(runs[:3], metrics=[separation, "f1"], threshold="best")
    assert found.table().best("separation") == ["good"]
    assert found.table()["good"]["f1"] == 1.0


def test_a_store_is_judged_anew(tmp_path):
    y, s = scoring(0, 1.0)
    np.savez(tmp_path / "mine.npz", train=s[:, None], test=s[:, None], label=y)
    te.detect(tmp_path / "mine.npz", "random", "cce", store=tmp_path / "store", random_state=[0, 1])
    found = te.compare(tmp_path / "store", metrics=["auc_roc"])
    assert found.detectors == ["random", "random, seed 1"]
    with pytest.raises(InvalidInputError, match="no column 'score' for the scores"):
        te.compare(tmp_path)  # no store, so a folder of tables


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda runs: te.compare({}, runs[0][2]), "scores is empty"),
        (lambda runs: te.compare({"a": runs[0][3]}), "y_true is missing"),
        (lambda runs: te.compare(runs, runs[0][2]), "must be a mapping from detector to scores"),
        (lambda runs: te.compare([("a", "b", 3)]), r"must give \(series, detector, y_true, y_score\)"),
        (lambda runs: te.compare([runs[0], runs[0]]), "two scorings of detector 'good' on series 'smd/1-1'"),
        (lambda runs: te.compare({"a": [1.0, 2.0]}, [0, 1, 1]), "detector 'a': y_true has 3 points"),
        (lambda runs: te.compare(runs, metrics="cce").table(), "there are 5 series: name one, such as 'smd/1-1'"),
        (lambda runs: te.compare(runs, metrics="cce").table("mls"), "no series 'mls' in this comparison: did you mean"),
        (lambda runs: te.compare(runs, metrics="cce").average("mean"), "how must be one of 'macro', 'micro'"),
        (lambda runs: te.compare(runs, metrics="cce").average()["god"], "no detector 'god' in this table: did you"),
        (lambda runs: te.compare(runs, metrics="cce").average().best("f1"), "no metric 'f1' in this table"),
    ],
)
def test_bad_input(runs, call, message):
    with (
        warnings.catch_warnings(),
        pytest.raises((InvalidInputError, InvalidParameterError, UnknownNameError), match=message),
    ):
        call(runs)


def test_a_table_shows_titles_and_finds_names():
    table = DetectorTable({"lof": {"cce": 0.5}}, title="ucr/125", titles={"lof": "LOF"})
    assert table["lof"] == {"cce": 0.5}
    assert repr(table).splitlines()[-1].split() == ["LOF", "0.5000"]


def test_detectors_without_some_points_are_aligned_by_their_stamps_alone(tmp_path):
    y = pd.Series([0, 1, 1, 0, 0, 0, 1, 0], pd.date_range("2026-01-01", periods=8, freq="h"))
    for part in (slice(3, 8), slice(0, 5)):  # the first points have no window; the last ones no future
        entries = [("a", "x", y, np.arange(8.0)), ("a", "z", y[part], np.arange(5.0))]
        found = te.compare(entries, None, "auc_roc")
        alone = te.evaluate(y[part].to_numpy(), np.arange(5.0), "auc_roc")
        assert found.table()["z"]["auc_roc"] == alone["auc_roc"]
        assert [row["dropped"] for row in found.rows] == [0, 3]
        found.report(tmp_path / "of_a_comparison.html")
        te.report(entries, tmp_path / "of_entries.html")
        with pytest.raises(InvalidInputError, match=r"have 8 and 5 points on series 'a': give time stamps .*te\.align"):
            te.compare([(s, d, labels.to_numpy(), scores) for s, d, labels, scores in entries], None, "auc_roc")
    with pytest.raises(InvalidInputError, match="detectors 'x' and 'z' have different labels on series 'a'"):
        te.compare([("a", "x", y, np.arange(8.0)), ("a", "z", 1 - y, np.arange(8.0))], None, "auc_roc")


def test_names_cannot_act_on_the_terminal():
    y, s = scoring(0, 1.0)
    result = te.compare({"x\ny\x1b[31m\u202e": s, "z": s}, y, ["cce", "auc_roc"])
    for text in (repr(result), repr(result.ranks()), result.to_latex(), result._repr_html_()):
        assert all(line.isprintable() for line in text.split("\n"))
    assert "x\\ny\\x1b[31m\\u202e" in repr(result)
    assert result.detectors[0] == "x\ny\x1b[31m\u202e"


def test_the_notes_name_the_rule_and_scores_that_end_early():
    y, rng = np.tile([0, 0, 0, 1], 25), np.random.default_rng(0)
    ends = np.append(rng.random(60), np.full(40, np.nan))
    found = te.compare([("s", "a", y, rng.random(100)), ("s", "b", y, ends)], None, "f1", threshold=0.5)
    assert {row["detector"]: row["dropped"] for row in found.rows} == {"a": 0, "b": 40}
    for text in (repr(found), found.to_latex()):
        assert "alarms: fixed(0.5)" in text
        assert "points without a score were left out in 1 scoring" in text


def test_progress_is_told_of_what_takes_longer_than_two_seconds(monkeypatch):
    y, rng = np.arange(200) > 190, np.random.default_rng(0)
    runs = [(f"s{i}", name, y, rng.random(200)) for i in range(5) for name in "ab"]
    told = []
    te.compare(runs, metrics="f1", progress=lambda *at: told.append(at))
    assert told == []
    monkeypatch.setattr(sys.modules["tsadeval.comparison.compare"], "QUICK", -1.0)
    quiet = te.compare(runs, metrics="f1")
    found = te.compare(runs, metrics="f1", progress=lambda *at: told.append(at))
    assert told == [(i, 10) for i in range(1, 11)]
    assert [row["value"] for row in found.rows] == [row["value"] for row in quiet.rows]


def test_it_asks_whether_file_or_folder_is_the_detector(tmp_path):
    y, rng = np.arange(100) > 90, np.random.default_rng(0)
    for detector in ("lof", "pca"):
        (tmp_path / detector).mkdir()
        for name in ("a", "b"):
            pd.DataFrame({"label": y.astype(int), "score": rng.random(100)}).to_csv(tmp_path / detector / f"{name}.csv")
    with pytest.warns(UserWarning, match=r"so this is one detector; where one of the two .* detector='folder'"):
        asked = te.compare(tmp_path, metrics="f1", by=["file", "folder"])
    assert len(asked.series) == 4
    found = te.compare(tmp_path, metrics="f1", by=["file", "folder"], detector="folder")
    assert (found.series, found.detectors) == (["a", "b"], ["lof", "pca"])
