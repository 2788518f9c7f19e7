"""te.Scores: every form of the same data gives the same scorings; what it says, leaves out, aligns and splits."""

import inspect
import json
import pickle
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import IsolationForest
from typer.testing import CliRunner

import tsadeval as te
from strategies import examples
from tsadeval.cli.app import app
from tsadeval.errors import InputWarning, InvalidInputError, InvalidParameterError, UnknownNameError
from tsadeval.rankeval.run import SUITES
from tsadeval.scores.options import Options

DETECTORS = ("lof", "pca")
METRICS = ["auc_roc", "f1", "event_recall", "cce"]


def a_study(lengths=(60, 80), seed=0, gaps=True):
    """Labels by series, and scores by detector and series, some of them missing."""
    rng = np.random.default_rng(seed)
    labels, scores = {}, {name: {} for name in DETECTORS}
    for k, n in enumerate(lengths):
        y = np.zeros(n, int)
        y[n // 3 : n // 3 + 5] = y[n // 2 + 5] = 1
        labels[f"s{k}"] = y
        for j, name in enumerate(DETECTORS):
            s = np.round(rng.normal(size=n) + (2 - j) * y, 3)
            if gaps and j:
                s[:4] = s[n // 2 + 2] = np.nan
            scores[name][f"s{k}"] = s
    return labels, scores


def long_frame(labels, scores):
    parts = []
    for name, by_series in scores.items():
        for series, s in by_series.items():
            when = pd.date_range("2026-01-01", periods=len(s), freq="min")
            parts.append(pd.DataFrame({"s": series, "detector": name, "t": when, "label": labels[series], "score": s}))
    return pd.concat(parts, ignore_index=True)


def wide_frame(labels, scores):
    parts = []
    for series, y in labels.items():
        own = {name: by_series[series] for name, by_series in scores.items()}
        when = pd.date_range("2026-01-01", periods=len(y), freq="min")
        parts.append(pd.DataFrame({"s": series, "t": when, "label": y, **own}))
    return pd.concat(parts, ignore_index=True)


def forms(labels, scores, folder):
    """The same data in every form."""
    tuples = [(series, name, labels[series], s) for name, own in scores.items() for series, s in own.items()]
    long, wide = long_frame(labels, scores), wide_frame(labels, scores)
    by_detector = {"by": ["s", "detector"]}
    by_column = {"by": "s", "score": list(DETECTORS)}
    yield "mappings", te.Scores(scores, labels)
    yield "tuples", te.Scores(tuples)
    yield "iterator", te.Scores(iter(tuples))
    yield "long", te.Scores(long, **by_detector)
    yield "long, shuffled", te.Scores(long.sort_values("t", kind="stable"), **by_detector)
    yield "wide", te.Scores(wide, **by_column)
    yield "pattern", te.Scores(wide, by="s", time="t", score="*")
    yield "polars", te.Scores(pl.from_pandas(long), **by_detector)
    yield "columns", te.Scores({name: wide[name].to_numpy() for name in wide}, **by_column)
    yield "labels elsewhere", te.Scores(long.drop(columns="label"), labels_of(labels), by=["s", "detector"], time="t")
    for ending, write in (("csv", "to_csv"), ("parquet", "to_parquet")):
        getattr(long, write)(folder / f"long.{ending}", index=False)
        yield ending, te.Scores(folder / f"long.{ending}", **by_detector)
    for (series, name), part in long.groupby(["s", "detector"]):
        (folder / "files" / name).mkdir(parents=True, exist_ok=True)
        part.to_csv(folder / "files" / name / f"{series}.csv", index=False)
    yield "folders", te.Scores(folder / "files")
    yield "list of folders", te.Scores([folder / "files" / name for name in DETECTORS])
    yield "pattern of files", te.Scores(f"{folder}/files/*/*.csv")
    yield "by folder and file", te.Scores(folder / "files", by=["folder", "file"], detector="folder")
    yield "comparison", te.Scores(te.compare(tuples, metrics="auc_roc"))


def labels_of(labels):
    parts = [
        pd.DataFrame({"s": series, "t": pd.date_range("2026-01-01", periods=len(y), freq="min"), "label": y})
        for series, y in labels.items()
    ]
    return pd.concat(parts, ignore_index=True)


def told(scores):
    """What the scorings hold, by series and detector."""
    return {
        (one.series, one.detector): (
            np.asarray(one.given.y_true).tolist(),
            np.asarray(one.given.y_score, float).tolist(),
            one.scoring.truth.mask.tolist(),
            one.scoring.scores.tolist(),
            one.missing,
        )
        for one in scores
    }


@pytest.mark.filterwarnings("ignore")
def test_every_form_of_the_same_data_is_the_same(tmp_path):
    labels, scores = a_study()
    found = {name: told(one) for name, one in forms(labels, scores, tmp_path)}
    expected = found.pop("mappings")
    assert len(expected) == 4
    for name, one in found.items():
        assert one.keys() == expected.keys(), name
        for key, parts in expected.items():
            for mine, theirs in zip(parts, one[key], strict=True):
                np.testing.assert_array_equal(mine, theirs, err_msg=f"{name} {key}")


@pytest.mark.filterwarnings("ignore")
def test_every_door_gives_the_same_numbers(tmp_path):
    labels, scores = a_study()
    expected = None
    for name, one in forms(labels, scores, tmp_path):
        rows = te.compare(one, metrics=METRICS, threshold="sigma(1)").rows
        values = {(row["series"], row["detector"], row["metric"]): row["value"] for row in rows}
        expected = expected or values
        assert values == pytest.approx(expected, abs=0, nan_ok=True), name
    by_file = te.score_files(tmp_path / "long.csv", METRICS, by=["s", "detector"], threshold="sigma(1)")
    assert {(r["series"], r["detector"], r["metric"]): r["value"] for r in by_file.rows} == pytest.approx(expected)
    for (series, name), y, s in [((k, d), labels[k], scores[d][k]) for k in labels for d in DETECTORS]:
        alone = te.evaluate(y, s, METRICS, threshold="sigma(1)", missing="skip")
        assert {m: expected[series, name, m] for m in METRICS} == pytest.approx(dict(alone), nan_ok=True)
    done = CliRunner().invoke(
        app,
        [
            *("compare", str(tmp_path / "long.csv"), "--by", "s,detector", "--metrics", "f1"),
            *("--threshold", "sigma(1)", "--format", "json"),
        ],
    )
    rows = {(r["series"], r["detector"]): r["value"] for r in json.loads(done.stdout)}
    assert rows == pytest.approx({key[:2]: value for key, value in expected.items() if key[2] == "f1"})


def test_it_says_what_it_understood():
    labels, scores = a_study()
    found = te.Scores(long_frame(labels, scores), by="s", detector="detector", time="t")
    assert repr(found) == (
        "2 series, 2 detectors (lof, pca), 140 points (2026-01-01T00:00:00 to 2026-01-01T01:19:00, "
        "every 60 s)\nlabels: 4 events on 2 of 2 series\nmissing: 10 scores of pca"
    )
    assert (found.series, found.detectors, len(found)) == (["s0", "s1"], ["lof", "pca"], 4)
    assert [row["points"] for row in found.facts.rows] == [60, 80]
    assert found.left_out.rows == []
    assert repr(next(iter(found["s0"]))) == "<Scored the table, s0, lof, score: 60 points, 2 events>"


def test_parts_of_it():
    labels, scores = a_study()
    found = te.Scores(scores, labels)
    assert found["s1"].series == ["s1"]
    assert found.select(detectors=["lof"]).detectors == ["lof"]
    assert found.rename(detectors={"lof": "LOF"}, series={"s0": "first"}).series == ["first", "s1"]
    first, second = found.split(share=0.5)
    for whole, early, late in zip(found, first, second, strict=True):
        joined = np.concatenate([early.given.y_score, late.given.y_score])
        np.testing.assert_array_equal(joined, whole.given.y_score)
    these, others = found.split(series=["s1"])
    assert (these.series, others.series) == (["s1"], ["s0"])
    timed = te.Scores(wide_frame(labels, scores), by="s", time="t", score=["lof", "pca"])
    before, after = timed.split(at="2026-01-01 00:30")
    assert [len(one.given.y_true) for one in before] == [30] * 4
    assert sorted({len(one.given.y_true) for one in after}) == [30, 50]
    with pytest.raises(UnknownNameError, match="no series 's9' here"):
        found["s9"]
    for wrong in ({}, {"share": 0.5, "at": 3}, {"share": 2}):
        with pytest.raises(InvalidParameterError):
            found.split(**wrong)


def test_one_bad_series_of_many_is_left_out_and_said():
    labels, scores = a_study(gaps=False)
    scores["lof"]["s1"] = np.full(80, np.inf)
    with pytest.warns(InputWarning, match="left out: series 's1', detector 'lof': y_score must be finite"):
        found = te.compare(scores, labels, ["auc_roc", "f1"])
    assert [row["status"] for row in found.rows if (row["series"], row["detector"]) == ("s1", "lof")] == ["missing"] * 2
    assert "lof: averages over 1 of 2 series" in repr(found)
    assert found.source.left_out.rows[0]["series"] == "s1"
    with pytest.raises(InvalidInputError, match="series 's1', detector 'lof': y_score must be finite"):
        te.compare(scores, labels, "f1", strict=True)


@examples(60)
@given(st.data())
def test_detectors_are_aligned_by_their_stamps(data):
    """Any parts of a series, in any order: the points are those of all of them, with NaN elsewhere."""
    n = data.draw(st.integers(4, 30))
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    stamps = np.cumsum(data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)))
    parts = [data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any)) for _ in range(3)]
    rows = [
        pd.DataFrame({"d": str(k), "t": stamps[keep], "label": y[keep], "score": np.arange(n)[keep] + 0.5})
        for k, keep in enumerate(map(np.array, parts))
    ]
    found = te.Scores(pd.concat(rows), by="d", detector="d", time="t", one_series=True)
    seen = np.any(parts, axis=0)
    for one, keep in zip(found.read(), map(np.array, parts), strict=True):
        assert one.given.times.stamps.tolist() == (stamps[seen] * 10**9).tolist()
        assert np.asarray(one.given.y_true).tolist() == y[seen].tolist()
        expected = np.where(keep, np.arange(n) + 0.5, np.nan)[seen]
        np.testing.assert_array_equal(one.given.y_score, expected)


def test_models_and_single_arrays():
    labels, scores = a_study(gaps=False)
    (one,) = te.Scores(scores["lof"]["s0"], labels["s0"])
    assert (one.series, one.detector) == ("", "score")
    rng = np.random.default_rng(0)
    X = {series: rng.normal(size=(len(y), 2)) for series, y in labels.items()}
    model = IsolationForest(n_estimators=5, random_state=0).fit(X["s0"])
    found = te.Scores({"forest": model, "lof": scores["lof"]}, labels, X=X)
    assert (found.series, found.detectors) == (["s0", "s1"], ["forest", "lof"])
    expected = -model.score_samples(X["s1"])
    one = next(one for one in found if (one.series, one.detector) == ("s1", "forest"))
    np.testing.assert_allclose(one.given.y_score, expected)


def test_options_have_one_set_of_names():
    labels, scores = a_study(gaps=False)
    wide = wide_frame(labels, scores)
    with pytest.raises(InvalidParameterError, match=r"te\.compare has no option 'y_score': did you mean score"):
        te.compare(wide, metrics="f1", by="s", y_score=list(DETECTORS))
    with pytest.raises(InvalidParameterError, match=r"te\.Scores has no option 'labels': did you mean label"):
        te.Scores(wide, labels="label")
    with pytest.raises(InvalidInputError, match="missing must be one of"):
        te.Scores(wide, missing="none")


def test_functions_and_commands_have_one_set_of_defaults():
    """Answer 8: workers, points without a score and rules are what they are by default, whatever the door."""
    doors = (te.compare, te.evaluate_many, te.evaluate_stream, te.score_files, te.detect, te.rankeval.run)
    given = [inspect.signature(door).parameters for door in (*doors, te.rankeval.audit)]
    assert {door["n_jobs"].default for door in given} == {None}
    assert {door["threshold"].default for door in given if "threshold" in door} == {"best", None}
    assert inspect.signature(te.evaluate).parameters["missing"].default == Options().missing == "skip"
    commands = typer.main.get_command(app).commands
    leaves = [leaf for one in commands.values() for leaf in getattr(one, "commands", {"": one}).values()]
    found = {(one.name, one.default) for leaf in leaves for one in leaf.params if one.name in ("jobs", "missing")}
    assert found == {("jobs", None), ("missing", "skip")}
    columns = {"label", "score", "by", "values"}  # what holds labels, scores, names and the series itself
    assert columns <= {field.name for field in fields(Options)}
    for suite in (SUITES["audit"], SUITES["selection"]):
        assert columns == {name for name in suite.options if name in {"y_true", "y_score", "value", *columns}}


def test_results_answer_to_the_name_they_were_asked_by():
    """Answer 5: labels, names without their options, options in another order and functions."""
    labels, scores = a_study(gaps=False)
    asked = ["VUS-PR", "cce(gamma=5, tau=.4)", te.metrics.f1]
    one = te.evaluate(labels["s0"], scores["lof"]["s0"], asked)
    many = te.evaluate_many([("s0", labels["s0"], scores["lof"]["s0"])], asked)
    table = te.compare({"lof": scores["lof"]["s0"]}, labels["s0"], asked).table()["lof"]
    names = [*asked, "cce", "cce(tau=0.4, gamma=5.0)", "vus_pr", "f1"]
    for found in (one, many, table):
        assert [found[name] for name in names] == [one.rows[i]["value"] for i in (0, 1, 2, 1, 1, 0, 2)]


def test_a_comparison_can_be_read_with_other_options():
    labels, scores = a_study()
    found = te.compare(scores, labels, "f1", threshold=0.5)
    again = te.compare(found, metrics="f1", threshold=0.5, missing="no alarm")
    direct = te.compare(scores, labels, "f1", threshold=0.5, missing="no alarm")
    assert [row["value"] for row in again.rows] == [row["value"] for row in direct.rows]
    assert pickle.loads(pickle.dumps(found)).average()["lof"] == found.average()["lof"]


def test_micro_averages_are_made_when_asked_for(monkeypatch):
    from tsadeval.evaluation import many

    def never(*_):
        raise AssertionError("nobody asked")

    labels, scores = a_study(gaps=False)
    monkeypatch.setattr(many.Pool, "add", never)
    found = te.compare(scores, labels, "auc_roc")
    series = te.evaluate_many([(name, y, scores["lof"][name]) for name, y in labels.items()], "auc_roc")
    monkeypatch.undo()
    assert found.average("micro")["lof"]["auc_roc"] == series.micro["auc_roc"]


def test_the_page_of_a_comparison_computes_no_metric_again(tmp_path, monkeypatch):
    labels, scores = a_study(gaps=False)
    found = te.compare(scores, labels, METRICS, threshold=0.5)
    run, calls = te.core.metric.Metric.run, []

    def noting(self, scoring, rule, **options):
        calls.append(str(self))
        return run(self, scoring, rule, **options)

    monkeypatch.setattr(te.core.metric.Metric, "run", noting)
    monkeypatch.setattr("tsadeval.reports.page.random_values", lambda metrics, *_: [(0.0, 0.0)] * len(metrics))
    monkeypatch.setattr("tsadeval.reports.page.perfect_values", lambda metrics, *_: [1.0] * len(metrics))
    found.report(tmp_path / "page.html")
    assert calls == []


@pytest.mark.parametrize("more", ["--jobs 1", "--jobs 2", "--store store", "--store store --jobs 2"])
def test_a_flag_for_parallel_work_changes_nothing_but_the_time(tmp_path, monkeypatch, more):
    """Answer 2: the same table, thresholds, rules and notes; also with --by file."""
    monkeypatch.chdir(tmp_path)
    labels, scores = a_study()
    for name in DETECTORS:
        table = pd.DataFrame({"label": labels["s0"], "score": scores[name]["s0"]})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    for files in (["lof.csv"], ["lof.csv", "pca.csv"], [".", "--by", "file"]):
        for form in ("text", "csv"):
            asked = ["score", *files, "--metrics", "f1,event_recall,false_alarms,cce", "--format", form]
            plain, parallel = CliRunner().invoke(app, asked), CliRunner().invoke(app, [*asked, *more.split()])
            assert plain.exit_code == parallel.exit_code == 0, parallel.output
            assert plain.stdout == parallel.stdout
    assert "best(f1)" in CliRunner().invoke(app, ["score", "lof.csv", "--metrics", "f1,recall"]).stdout


def test_incidents_outside_the_data_are_no_events():
    stamps = pd.date_range("2026-01-01", periods=5, freq="h")
    table = pd.DataFrame({"time": stamps, "score": [0.1, 0.2, 0.9, 0.1, 0.3]})
    for span in (("2026-02-02", "2026-02-03"), ("2025-02-02", "2025-02-03")):
        found = te.Scores(table, time="time", incidents=[span, ("2026-01-01 02:00", "2026-01-01 03:00")])
        (one,) = found
        assert np.asarray(one.given.y_true).tolist() == [0, 0, 1, 0, 0]
        assert "1 outside the data was dropped" in repr(found)
        assert te.labels([span], stamps, outside="clip", between="near").sum() == 0


def test_points_to_ignore_are_not_put_together_where_scores_are_missing_elsewhere():
    labels, scores = a_study(gaps=False)
    y, s = labels["s0"], scores["lof"]["s0"].copy()
    ignore = np.arange(len(y)) < 5
    s[40] = np.nan
    with pytest.warns(te.errors.UndefinedMetricWarning, match="cannot leave out"):
        assert np.isnan(te.evaluate(y, s, "vus_pr", ignore=ignore)["vus_pr"])
    assert np.isfinite(te.evaluate(y, s, "vus_pr")["vus_pr"])


def test_the_index_of_scores_says_their_times():
    labels, scores = a_study(gaps=False)
    stamps = pd.date_range("2026-01-01", periods=60, freq="min")
    wide = pd.DataFrame({name: scores[name]["s0"] for name in DETECTORS}, index=stamps)
    found = te.compare(wide, labels["s0"], "false_alarms(per='day')", threshold=0.5)
    assert np.isfinite([row["value"] for row in found.rows]).all()
    with pytest.raises(InvalidInputError, match="must increase"):
        te.compare(wide[::-1], labels["s0"], "f1")


def test_standard_input_of_many_series_and_strict_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels, scores = a_study(gaps=False)
    long_frame(labels, scores).to_csv("long.csv", index=False)
    asked = ["--by", "s,detector", "--metrics", "f1", "--format", "csv"]
    piped = CliRunner().invoke(app, ["score", "-", *asked], input=(tmp_path / "long.csv").read_text())
    plain = CliRunner().invoke(app, ["score", "long.csv", *asked])
    assert piped.exit_code == 0, piped.output
    assert piped.stdout.replace("-,", "long.csv,", 4).count(",") == plain.stdout.count(",")
    (tmp_path / "bad.csv").write_text("label,score\n0,1\n7,2\n")
    (tmp_path / "good.csv").write_text("label,score\n0,1\n1,2\n")
    assert CliRunner().invoke(app, ["score", "good.csv", "bad.csv", "--metrics", "f1"]).exit_code == 1
    strict = CliRunner().invoke(app, ["score", "good.csv", "bad.csv", "--metrics", "f1", "--strict"])
    assert isinstance(strict.exception, InvalidInputError)
    assert repr(te.Scores("good.csv").left_out) == "(no rows)"
