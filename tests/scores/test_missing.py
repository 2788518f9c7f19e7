"""Files, series and points without scores: what is left out, what is said, and one number from every function."""

import csv
import io
import json
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tsadeval as te
from commands import run
from tsadeval.core.metric import METRICS
from tsadeval.core.setting import MISSING
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning

NAMES = ["IForest", "LSTM-AE", "USAD", "MyNet"]
SKILL = {"IForest": 0.5, "LSTM-AE": 1.0, "USAD": 1.4, "MyNet": 2.0}


@pytest.fixture(scope="module")
def frames():
    """Series by name: one has no anomaly, one lacks a detector, and MyNet has gaps in one."""
    rng = np.random.default_rng(7)
    found = {}
    for k in range(8):
        y = np.zeros(200, int)
        for start in (30, 120):
            y[start : start + 8 + k] = 1
        if k == 5:
            y[:] = 0
        columns = {name: (rng.normal(size=200) + gain * y).round(3) for name, gain in SKILL.items()}
        frame = pd.DataFrame({"label": y, **columns})
        if k == 2:
            frame.loc[[0, 1, 33, 34, 100, 101, 102, 125, 198, 199], "MyNet"] = np.nan
        found[f"server_{k:02}"] = frame.drop(columns="USAD") if k == 3 else frame
    return found


@pytest.fixture(scope="module")
def folder(frames, tmp_path_factory):
    path = tmp_path_factory.mktemp("missing") / "data"
    path.mkdir()
    for name, frame in frames.items():
        frame.to_csv(path / f"{name}.csv", index=False)
    return path


def compared(folder, **options):
    """A comparison, and the distinct warnings that it gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = te.compare(folder, **{"by": "file", "score": NAMES, "metrics": ["ears", "f1"], **options})
    return found, caught


def test_a_file_counts_for_the_detectors_that_it_has(folder):
    named, caught = compared(folder)
    pattern, _ = compared(folder, score="*")
    values = [{(row["series"], row["detector"], row["metric"]): row["value"] for row in found.rows}
              for found in (named, pattern)]  # fmt: skip
    assert values[0].keys() == values[1].keys()
    assert ("server_03", "MyNet", "f1") in values[0]
    assert ("server_03", "USAD", "f1") not in values[0]
    np.testing.assert_array_equal(list(values[0].values()), [values[1][key] for key in values[0]])
    texts = [str(one.message) for one in caught]
    assert [text for text in texts if "USAD" in text] == [
        f"{folder}/server_03.csv: no column 'USAD' for the scores, so no value of USAD there"
    ]
    assert {one.filename for one in caught} == {__file__}


def test_a_name_that_no_file_has_is_an_error(folder):
    with pytest.raises(InvalidInputError, match="8 files: no column 'LSTM_AE' for the scores: did you mean LSTM-AE"):
        te.compare(folder, by="file", score=["IForest", "LSTM_AE"])
    for command in ("compare", "report", "score"):
        files = [folder] if command != "score" else [folder / "server_00.csv", folder / "server_01.csv"]
        by = ["--by", "file"] if command != "score" else []
        done = run(command, *files, *by, "--score", "IForest,LSTM_AE", "--metrics", "f1")
        assert done.returncode == 2, done.stderr
        assert "did you mean LSTM-AE" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_missing_detector_follows_the_rule_for_series_without_scores(folder):
    skipped, _ = compared(folder)
    worst, _ = compared(folder, missing="worst")
    row = worst.series.index("server_03")
    values = dict(zip(worst.detectors, worst.values("ears")[row].tolist(), strict=True))
    assert values["USAD"] == min(values[name] for name in ("IForest", "LSTM-AE", "MyNet"))
    assert np.isnan(skipped.values("ears")[skipped.series.index("server_03"), skipped.detectors.index("USAD")])
    with pytest.raises(InvalidInputError, match="detector 'USAD' has no scores on series 'server_03'"):
        compared(folder, score=["IForest", "USAD"], missing="error")


def test_commands_keep_the_file_and_name_what_it_lacks(folder, tmp_path):
    names = ",".join(NAMES)
    done = run("compare", folder, "--by", "file", "--score", names, "--metrics", "ears", "--format", "csv")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "USAD" in line]
    assert len(lines) == 1
    assert "server_03.csv" in lines[0]
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["detector"] for row in rows if row["series"] == "server_03"} == {"IForest", "LSTM-AE", "MyNet"}
    done = run("report", folder, "--by", "file", "--score", names, "--metrics", "f1", "-o", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("USAD") == 2  # in one line
    done = run(
        "score", folder / "server_02.csv", folder / "server_03.csv", "--score", "IForest,USAD", "--metrics", "f1"
    )
    assert done.returncode == 0, done.stderr
    assert "server_03.csv: no column 'USAD'" in done.stderr
    assert done.stdout.count("server_03") == 1


METRIC_NAMES = ["ears", "vus_pr", "auc_roc", "cce", "f1", "event_f1", "affiliation_f1", "pate"]


@pytest.mark.parametrize("word", ["skip", "ignore", "no alarm", "worst"])
def test_one_number_for_one_word(word, frames, folder):
    frame = frames["server_02"]
    y_true, scores = frame["label"], frame["MyNet"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # "ignore" leaves some metrics undefined
        expected = te.evaluate(y_true, scores, METRIC_NAMES, missing=word)
        many = te.evaluate_many([("server_02", y_true, scores)], METRIC_NAMES, missing=word)
        found = te.compare({"MyNet": scores}, y_true, METRIC_NAMES, missing=word)
    np.testing.assert_array_equal(list(many.values()), list(expected.values()))
    np.testing.assert_array_equal([row["value"] for row in found.rows], list(expected.values()))
    undefined = {name for name, value in expected.items() if math.isnan(value)}
    assert undefined == ({"ears", "vus_pr", "pate"} if word == "ignore" else set())
    file, metrics = folder / "server_02.csv", ",".join(METRIC_NAMES)
    for command in ("score", "compare"):
        done = run(command, file, "--score", "MyNet", "--metrics", metrics, "--missing", word, "--format", "json")
        assert done.returncode == 0, done.stderr
        values = {row["metric"]: row["value"] for row in json.loads(done.stdout)}
        assert values == {name: None if name in undefined else value for name, value in expected.items()}


def test_the_default_of_compare_is_skip_of_evaluate(frames):
    frame = frames["server_02"]
    expected = te.evaluate(frame["label"], frame["MyNet"], METRIC_NAMES, missing="skip")
    found = te.compare({"MyNet": frame["MyNet"]}, frame["label"], METRIC_NAMES)
    assert [row["value"] for row in found.rows] == list(expected.values())
    assert {row["dropped"] for row in [*expected.rows, *found.rows]} == {10}
    assert "10 points without a score were left out" in repr(expected)
    assert all("ignored_points" not in row for row in [*expected.rows, *found.rows])


@pytest.mark.parametrize("word", ["skip", "ignore", "no alarm", "worst"])
def test_report_has_the_numbers_of_evaluate(word, frames, tmp_path):
    frame, options = frames["server_02"], {"missing": word}
    metrics = ["ears", "vus_pr", "f1"]
    page = te.report(
        {"MyNet": frame["MyNet"]}, tmp_path / "page.html", y_true=frame["label"], metrics=metrics, **options
    )
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)[1])
    found = [row["value"] for row in data["series"][0]["detectors"]["MyNet"]["metrics"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        expected = te.evaluate(frame["label"], frame["MyNet"], metrics, missing=word)
    assert found == [None if math.isnan(value) else value for value in expected.values()]


def test_skip_by_hand(frames):
    """Ends are cut off; a gap parts events for metrics of alarms and is closed for scores that cannot leave it out."""
    frame = frames["server_02"]
    y, s = frame["label"].to_numpy(), frame["MyNet"].to_numpy()
    gaps = np.isnan(s)
    found = te.evaluate(y, s, ["ears", "auc_roc", "event_f1"], missing="skip", threshold=0.5)
    assert found["ears"] == te.metrics.ears(y[~gaps], s[~gaps])
    assert found["auc_roc"] == te.metrics.auc_roc(y[~gaps], s[~gaps])
    parted = np.where(gaps, 0, y)[2:198]
    alarms = np.where(gaps, 0, np.nan_to_num(s) > 0.5)[2:198]
    assert found["event_f1"] == te.metrics.event_f1(parted, alarms)


def test_skip_with_times_ignored_points_and_predictions():
    y = [0, 0, 1, 1, 0, 1, 0, 0]
    s = [np.nan, 0.1, 0.9, np.nan, 0.2, 0.8, 0.3, np.nan]
    times = pd.date_range("2026-01-01", periods=8, freq="h")
    early = [0, 0, 0, 0, 0, 1, 0, 0]  # the alarm at 2 is false
    found = te.evaluate(early, s, ["false_alarms(per='day')"], times=times, missing="skip", threshold=0.5)
    cut = te.evaluate(
        early[1:7], s[1:7], ["false_alarms(per='day')"], times=times[1:7], missing="ignore", threshold=0.5
    )
    assert found.rows[0]["value"] == cut.rows[0]["value"] > 0
    found = te.evaluate(y, s, "auc_roc", ignore=[0, 0, 0, 0, 1, 0, 0, 1], missing="skip")
    row = found.rows[0]
    assert (row["value"], row["dropped"], row["ignored_points"]) == (1.0, 3, 1)
    found = te.evaluate(y, s, ["f1"], y_pred=[1, 0, 1, 1, 0, 1, 0, 1], missing="skip")
    assert found["f1"] == 1.0
    events = te.events(y, s, threshold=0.5, missing="skip")
    assert [(row["start"], row["stop"]) for row in events.rows] == [(2, 3), (5, 6)]


def test_words_that_are_not_known_are_refused():
    words = "missing must be one of 'error', 'skip', 'ignore', 'no alarm', 'worst', but is 'drop'"
    with pytest.raises(InvalidParameterError, match=words):
        te.evaluate([0, 1], [0.1, np.nan], "f1", missing="drop")
    with pytest.raises(InvalidParameterError, match=words):
        te.best_threshold("f1", [0, 1], [0.1, np.nan], missing="drop")
    with pytest.raises(InvalidParameterError, match="missing must be one of"):
        te.compare({"a": [0.1, np.nan]}, [0, 1], "f1", missing="drop")
    assert MISSING == ("error", "skip", "ignore", "no alarm", "worst")


def test_errors_name_positions_of_what_was_given():
    with pytest.raises(InvalidInputError, match=r"y_true must be 0 .* at position 4"):
        te.evaluate([0, 0, 0, 1, 2], [np.nan, np.nan, 0.1, 0.2, 0.3], "f1", missing="skip")
    with pytest.raises(InvalidInputError, match="infinite at position 3"):
        te.evaluate([0, 0, 0, 1, 1], [np.nan, np.nan, 0.1, np.inf, 0.3], "f1", missing="skip")
    with pytest.raises(InvalidInputError, match="y_true has 3 points but y_score has 4"):
        te.evaluate([0, 0, 1], [np.nan, 0.1, 0.1, 0.3], "f1", missing="skip")
    assert te.evaluate([0, 0, 1], [None, 0.1, 0.4], "auc_roc", missing="skip")["auc_roc"] == 1.0


def test_every_metric_says_what_skip_does_to_it():
    """docs/compare.md lists the metrics of scores that see the other points put together."""
    joined = {name for name, metric in METRICS.items() if not metric.leaves_out}
    text = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "put together" in line and "`vus_pr`" in line)
    assert set(re.findall(r"`([a-z0-9_]+)`", line)) == joined


# Points without a score, which never alarm.

NEVER = [1, 1, 1, 0, 0, 0, 1, 1, 0, 0], np.array([np.nan, np.nan, 0.9, 0.1, np.nan, 0.4, 0.8, np.nan, 0.1, 0.3])
OF_ALARMS = [name for name, metric in METRICS.items() if metric.kind == "predictions"]
TIMES = pd.date_range("2026", periods=10, freq="h")


@pytest.mark.parametrize("word", ["no alarm", "worst"])
@pytest.mark.filterwarnings("ignore")
def test_a_point_without_a_score_never_alarms(word):
    y, s = NEVER
    known = {}
    for threshold in (-1e9, 0.05, 0.1, 0.3, 0.4, 0.8, 2.0):
        alarms = np.nan_to_num(s, nan=-np.inf) > threshold
        known[threshold] = te.evaluate(y, y_pred=alarms, metrics=OF_ALARMS, times=TIMES)
        found = te.evaluate(y, s, OF_ALARMS, times=TIMES, threshold=threshold, missing=word)
        np.testing.assert_array_equal(list(found.values()), list(known[threshold].values()))
        assert {row["alarmed_points"] for row in found.rows} == {int(alarms.sum())}
        compared = te.compare({"a": s, "b": y}, y, OF_ALARMS, time=TIMES, threshold=threshold, missing=word)
        rows = [row["value"] for row in compared.rows if row["detector"] == "a"]
        np.testing.assert_array_equal(rows, list(known[threshold].values()))
    for rule in ("top(10)", "hysteresis(0.35, -5)", "sustained(-5, 1)", "quantile(0)", "first_alarms(0)"):
        rows = te.evaluate(y, s, "recall,event_recall", threshold=rule, missing=word).rows
        assert max(row["alarmed_points"] for row in rows) <= 6, rule
    best = te.evaluate(y, s, OF_ALARMS, times=TIMES, missing=word)
    for name in OF_ALARMS:
        if METRICS[name].best_is_trivial:
            continue
        sign = METRICS[name].sign
        values = [sign * one[name] for one in known.values() if not math.isnan(one[name])]
        if values:  # some are undefined without options
            assert sign * best[name] == pytest.approx(max(values)), name


def test_no_function_alarms_without_a_score(tmp_path):
    y, s = [1, 1, 1, 0], [np.nan, np.nan, 0.9, 0.1]
    setting = {"missing": "no alarm"}
    assert te.evaluate(y, s, "f1", **setting)["f1"] == 0.5
    assert te.compare({"a": s, "b": [1, 2, 3, 4]}, y, "f1", missing="worst").table()["a"]["f1"] == 0.5
    assert te.best_threshold("f1", y, s, **setting).value == 0.5
    assert max(row["alarmed_points"] for row in te.curve("recall", y, s, **setting).rows) == 2
    several = {"a": y, "b": y}, {"a": s, "b": [5.0, 6.0, 7.0, np.nan]}  # what is below all in b is not in a
    assert max(row["alarmed_points"] for row in te.curve("recall", *several, **setting).rows) == 5
    choice = te.choose_threshold(y, s, maximize="recall", max_time_in_alarm=1, **setting)
    assert choice.value == pytest.approx(1 / 3)
    whole = te.choose_threshold([0, 1, 0, 1], [0.5, 0.2, 0.5, np.nan], max_time_in_alarm=1, **setting)
    assert whole.detected == 1
    (tmp_path / "one.csv").write_text("label,score\n1,\n1,\n1,0.9\n0,0.1\n")
    done = run("score", tmp_path / "one.csv", "--metrics", "f1", "--missing", "no alarm", "--format", "csv")
    assert next(csv.DictReader(io.StringIO(done.stdout)))["value"] == "0.5"


def test_baselines_with_points_without_a_score():
    y, s = NEVER
    found = te.evaluate(y, s, "recall,f1", threshold=-5, missing="no alarm", baseline=True)
    assert [row["perfect"] for row in found.rows] == [1.0, 1.0]
    assert found.rows[0]["random"] == pytest.approx(0.6, abs=0.15)  # 6 of 10 points alarm


# A row that is absent is a row without a score.

HOURS = pd.date_range("2026", periods=30, freq="h")
TWO_EVENTS = pd.Series(np.repeat([0, 1, 0, 1, 0], 6), HOURS)
WHOLE = pd.Series(np.random.default_rng(3).random(30) + 0.3 * TWO_EVENTS.to_numpy(), HOURS)
LACKING = [*range(12), 20, 29]  # the first event and points of the second


def long_table(rows):
    frames = [
        pd.DataFrame({"series": "s", "detector": name, "time": own.index, "label": TWO_EVENTS[own.index], "score": own})
        for name, own in rows.items()
    ]
    return pd.concat(frames, ignore_index=True)


def detector_folder(rows, path):
    for name, own in rows.items():
        (path / name).mkdir(parents=True, exist_ok=True)
        frame = pd.DataFrame({"time": own.index, "label": TWO_EVENTS[own.index].to_numpy(), "score": own.to_numpy()})
        frame.to_csv(path / name / "s.csv", index=False)
    return path


FORMS = {
    "tuples": lambda rows, path: te.Scores(
        [("s", name, TWO_EVENTS[own.index], own) for name, own in rows.items()], missing=path.name
    ),
    "index": lambda rows, path: te.Scores(
        {name: own.set_axis(HOURS.get_indexer(own.index)) for name, own in rows.items()},
        TWO_EVENTS.reset_index(drop=True),
        missing=path.name,
    ),
    "table": lambda rows, path: te.Scores(long_table(rows), by=["series", "detector"], time="time", missing=path.name),
    "files": lambda rows, path: te.Scores(str(detector_folder(rows, path)), time="time", missing=path.name),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("word", MISSING)
@pytest.mark.filterwarnings("ignore")
def test_absent_rows_are_rows_without_a_score(form, word, tmp_path):
    found = []
    without = {"absent": WHOLE.drop(HOURS[LACKING]), "nan": WHOLE.where(~np.isin(range(30), LACKING))}
    for name, b in without.items():
        (path := tmp_path / name / word).mkdir(parents=True)
        scores = FORMS[form]({"a": WHOLE, "b": b}, path)
        if word == "error":
            with pytest.raises(InvalidInputError, match="NaN at position 0"):
                te.compare(scores, metrics="f1")
            continue
        rows = te.compare(scores, metrics=["event_recall", "f1", "event_f1", "vus_pr", "auc_roc"], threshold=0.5).rows
        found.append([{**row, "seconds": 0} for row in rows])
    if found:
        assert repr(found[0]) == repr(found[1])
        recall = next(row["value"] for row in found[0] if row["detector"] == "b")
        assert recall == (1.0 if word in ("skip", "ignore") else 0.5)


def test_arrays_of_different_length_are_refused_without_stamps():
    y, s = TWO_EVENTS.to_numpy(), WHOLE.to_numpy()
    runs = [("s", "a", y, s), ("s", "b", y[10:], s[10:])]
    for word in MISSING:
        with pytest.raises(InvalidInputError, match="'a' and 'b' have 30 and 20 points on series 's': give time"):
            te.compare(runs, metrics="event_recall", threshold=0.5, missing=word)


LARGE = [2**60, 2**60 + 1, None, 2**60 + 1, 2**60, 2**60 + 1]
ROUNDED = {
    "list": lambda: LARGE,
    "objects": lambda: np.array(LARGE, object),
    "pandas": lambda: pd.Series(LARGE, dtype="Int64"),
    "objects in pandas": lambda: pd.Series(LARGE, dtype=object),
    "arrow in pandas": lambda: pd.Series(LARGE, dtype="int64[pyarrow]"),
    "arrow": lambda: pa.array(LARGE),
    "polars": lambda: pytest.importorskip("polars").Series(LARGE),
    "long doubles": lambda: (
        np.array([1, 1, np.nan, 1, 1, 1], np.longdouble) + np.array([0, 1, 0, 1, 0, 1]) * np.longdouble(1e-19)
    ),
}


@pytest.mark.parametrize("make", ROUNDED.values(), ids=ROUNDED)
def test_large_integers_beside_gaps_do_not_tie(make):
    if make is ROUNDED["long doubles"] and np.finfo(np.longdouble).nmant < 60:
        pytest.skip("long doubles are 64-bit floats here")
    y = [0, 1, 0, 1, 0, 1]
    for call in (
        lambda: te.evaluate(y, make(), "auc_roc", missing="skip"),
        lambda: te.compare({"a": make(), "b": [1, 2, 3, 4, 5, 6]}, y, "auc_roc", strict=True),
    ):
        with pytest.raises(InvalidInputError, match="64-bit floats"):
            call()


def test_a_mask_is_not_lost_beside_gaps():
    scores = np.ma.masked_array([0.1, 0.9, np.nan, 0.8, 0.2, 0.7], mask=[0, 1, 0, 0, 0, 0])
    with pytest.raises(InvalidInputError, match="1 masked values"):
        te.compare({"a": scores, "b": [1, 2, 3, 4, 5, 6]}, [0, 1, 0, 1, 0, 1], "auc_roc", strict=True)


NOTES = [
    "threshold best: chosen with the labels for each metric, an upper bound",
    "points without a score were left out in 1 scoring",
    "server_05 has no anomalous point: metrics are undefined there",
    "USAD: averages over 6 of 7 series",
]


def test_one_line_about_a_series_without_anomalies(folder):
    found, caught = compared(folder)
    assert found.remarks() == NOTES
    assert repr(found).endswith("\n".join(["* first in its column", *NOTES]))
    undefined = [str(one.message) for one in caught if one.category is UndefinedMetricWarning]
    assert undefined == [
        "ears, f1 are undefined on server_05, so NaN: y_true has no anomalous point (no 1); averages are over the "
        "other series"
    ]


def test_latex_has_the_notes_of_the_text_in_every_layout(folder):
    found, _ = compared(folder)
    texts = [found.to_latex(layout=layout) for layout in ("tables", "metrics")]
    for text in [*texts, found.average().to_latex()]:
        assert text.splitlines()[-len(NOTES) :] == [f"% {line}" for line in NOTES]
    by_series = found.to_latex(layout="series", metric="ears").splitlines()
    assert by_series[-3:] == [
        "% points without a score were left out in 1 scoring",
        "% server_05 has no anomalous point: EARS is undefined there",
        "% USAD: averages over 6 of 7 series",
    ]
    one = found.table("server_00").to_latex().splitlines()
    assert one[-2:] == ["% Bold: first in its column; underlined: second", f"% {NOTES[0]}"]
    done = run(
        "compare", folder, "--by", "file", "--score", ",".join(NAMES), "--metrics", "ears,f1", "--format", "latex"
    )
    assert done.stdout.splitlines()[-len(NOTES) :] == [f"% {line}" for line in NOTES]


def test_a_legend_explains_the_marks_that_are_there(folder):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 0, 1, 0], 40)
    runs = [
        (f"s{k}", name, y, rng.normal(size=200) + gain * y) for k in range(9) for name, gain in (("a", 4), ("b", 1))
    ]
    clear = te.compare(runs, metrics="auc_roc").to_latex(layout="metrics")
    assert clear.count(r"$^{\dagger}$") == 1  # the bold one itself
    for one in runs[1::2]:
        runs.append((one[0], "c", y, one[3] + 0.05 * rng.normal(size=200)))
    noise = [(s, d, y, v - y) for s, d, y, v in runs if d != "a"]
    never = te.compare(noise, metrics="auc_roc").to_latex(layout="metrics")
    assert "textbf" not in never  # scores in random order have no first
    assert "dagger" not in never
    alike = te.compare([one for one in runs if one[1] != "a"], metrics="auc_roc").to_latex(layout="metrics")
    assert alike.count(r"$^{\dagger}$") == 2
    assert "dagger: not significantly different from the bold one" in alike


def test_notes_of_latex_can_be_read_in_the_paper(folder):
    found, _ = compared(folder)
    plain = found.to_latex(layout="metrics")
    tabular = plain[: plain.index("\n%")]
    text = found.to_latex(layout="metrics", caption="Ours \\& theirs", label="tab:all", notes=True)
    assert text.startswith("\\begin{table}\n\\centering\n\\caption{Ours \\& theirs. Bold: first in its column; ")
    assert "\n\\label{tab:all}\n" + tabular in text
    above, below = text.split("\n\\end{table}\n")
    assert "%" not in above
    note = above.splitlines()[-1]
    assert note.startswith(r"\parbox{\linewidth}{\footnotesize Thresholds were chosen with the labels, an upper bound;")
    assert note.endswith(r"; USAD: averages over 6 of 7 series.}")
    assert below == plain[plain.index("\n%") + 1 :]
    captioned = found.to_latex(layout="metrics", caption="Short")
    assert captioned.splitlines()[-1] == f"% {NOTES[-1]}"
    assert captioned[: captioned.index("\n%")].endswith("\\end{tabular}\n\\end{table}")
    arguments = ("--by", "file", "--score", ",".join(NAMES), "--metrics", "ears,f1", "--layout", "metrics")
    done = run("compare", folder, *arguments, "--format", "latex", "--caption", "Ours", "--notes")
    assert done.stdout.rstrip("\n") == found.to_latex(layout="metrics", caption="Ours", notes=True)


def test_ranks_wins_and_losses_are_of_the_same_series(folder):
    found, _ = compared(folder)
    ranks = found.ranks("ears")
    for row in ranks.rows:
        assert row["series"] == 6
        assert row["wins"] + row["ties"] + row["losses"] == 6 * 3
    remark = "ranks, wins and losses: on 6 of 7 series, those on which every detector has a value; tests: on the series"
    assert remark in repr(ranks)
    assert f"% {remark}" in ranks.to_latex()
    whole, _ = compared(folder, missing="worst")
    assert {row["series"] for row in whole.ranks("ears").rows} == {7}
    assert "those on which every" not in repr(whole.ranks("ears"))
