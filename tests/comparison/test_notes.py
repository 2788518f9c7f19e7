"""What comparisons, their LaTeX, figures and pages say about their numbers, and that it is true."""

import json
import math
import re
import warnings
from importlib import resources

import numpy as np
import pandas as pd
import pytest

import tsadeval as te
from commands import run
from tsadeval.comparison import paired as pairs
from tsadeval.comparison import statistics
from tsadeval.comparison.standings import standings
from tsadeval.core.inputs import Scoring
from tsadeval.core.results import latex_text
from tsadeval.errors import InvalidInputError, ThresholdWarning, UndefinedMetricWarning
from tsadeval.plot import critical_difference
from tsadeval.reports.payload import dearest_false_alarms


def runs(count=6, length=200, seed=0):
    """Three detectors on some series; the events of each begin elsewhere."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        y = np.zeros(length, int)
        y[20 + 5 * i : 40 + 5 * i] = 1
        for name, noise in {"good": 0.3, "fair": 0.8, "poor": 2.0}.items():
            found.append((f"s{i}", name, y, y + rng.normal(0, noise, length)))
    return found


def with_gaps(entries, *places):
    """The scorings of these series and detectors have a gap inside."""
    found = []
    for series, detector, y, scores in entries:
        if (series, detector) in places:
            scores = scores.copy()
            scores[100:110] = np.nan
        found.append((series, detector, y, scores))
    return found


def quiet(entries, *names):
    """The series of these names have no anomaly."""
    return [(s, d, np.zeros_like(y) if s in names else y, x) for s, d, y, x in entries]


@pytest.fixture(autouse=True)
def undefined_is_expected():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.simplefilter("ignore", ThresholdWarning)
        yield


def test_notes_name_every_detector_whose_averages_are_over_fewer_series():
    entries = with_gaps(runs(), ("s1", "fair"), ("s2", "fair"), ("s3", "poor"))
    entries = [one for one in entries if one[:2] not in {("s4", "poor"), ("s5", "good")}]
    notes = te.compare(entries, metrics=["vus_pr", "f1"], missing="ignore").remarks()
    assert "fair: averages of vus_pr over 4 of 6 series" in notes
    assert "poor: averages over 4 of 6 series (f1: 5 of 6)" in notes
    assert "good: averages over 5 of 6 series" in notes
    skipped = te.compare(entries, metrics=["vus_pr", "f1"]).remarks()
    assert [note for note in skipped if "averages" in note] == ["good, poor: averages over 5 of 6 series"]


@pytest.mark.slow
def test_a_page_says_which_averages_are_over_fewer_series(tmp_path):
    entries = with_gaps(quiet(runs(), "s0"), ("s1", "fair"), ("s2", "fair"))
    found = te.compare(entries, metrics=["vus_pr", "f1"], missing="ignore")
    text = found.report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<li>fair: averages of VUS-PR over 3 of 5 series.</li>" in text
    assert text.count("averages of") == 1
    again = te.report(entries, tmp_path / "b.html", metrics=["vus_pr", "f1"], missing="ignore")
    assert "averages of VUS-PR over 3 of 5 series" in again.read_text(encoding="utf-8")
    assert "averages of" not in te.report(entries, tmp_path / "c.html", metrics="f1").read_text(encoding="utf-8")


def test_notes_about_many_detectors_are_short():
    y = np.tile([0, 0, 1, 0], 10)
    rng = np.random.default_rng(0)
    entries = [(f"s{i}", f"d{j}", y, rng.random(40)) for j in range(12) for i in range(12 - j)]
    never, note = te.compare(entries, metrics="auc_roc").remarks()
    assert never.startswith("never first: d0 (not above chance), d1 (not above chance), ")
    assert never.endswith("... (12 in all)")
    assert note == (
        "d1, d2, d3, d4, d5, ... (11 in all): averages over 1 to 11 of 12 series; to_frame() has all values"
    )


def test_notes_of_one_series_say_what_has_no_value():
    entries = with_gaps(runs(1), ("s0", "fair"))
    notes = te.compare(entries, metrics=["vus_pr", "f1"], missing="ignore").remarks()
    assert "fair: no value of vus_pr" in notes


def test_a_series_without_anomalies_is_named_though_a_detector_has_gaps_there():
    entries = with_gaps(quiet(runs(), "s1"), ("s1", "fair"))
    notes = te.compare(entries, metrics=["vus_pr", "f1"], missing="ignore").remarks()
    assert "s1 has no anomalous point: metrics are undefined there" in notes


@pytest.mark.parametrize("metric", ["false_alarms", "accuracy", "alarm_episodes", "time_in_alarm"])
@pytest.mark.parametrize("rule", ["best", "best(f1)", "sustained(best(f1), 2)"])
def test_without_anomalies_there_is_no_best_threshold(metric, rule):
    _, _, y, scores = runs(1)[0]
    (row,) = te.evaluate(np.zeros_like(y), scores, metric, threshold=rule).rows
    assert math.isnan(row["value"])
    assert row["status"] == "undefined"
    assert row["message"] == "y_true has no anomalous point (no 1), so no threshold is best for f1"
    assert row["threshold"] is row["alarms"] is row["alarmed_points"] is None
    known = te.evaluate(np.zeros_like(y), scores, metric, threshold=0.5)
    assert math.isfinite(known[metric])  # a threshold that is given needs no anomaly


def test_a_series_without_anomalies_is_not_averaged_as_no_false_alarms():
    entries = runs(3)
    found = te.compare(quiet(entries, "s1"), metrics="false_alarms").average()
    without = te.compare([one for one in entries if one[0] != "s1"], metrics="false_alarms").average()
    assert found["poor"] == without["poor"]
    many = te.evaluate_many([(s, y, x) for s, d, y, x in quiet(entries, "s1") if d == "poor"], "false_alarms")
    assert many.defined == {"false_alarms": 2}
    assert many["false_alarms"] == without["poor"]["false_alarms"]


def test_a_page_of_a_series_without_anomalies_starts_without_alarms(tmp_path):
    _, _, y, scores = runs(1)[0]
    page = te.report({"mine": scores}, tmp_path / "page.html", y_true=np.zeros_like(y))
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)[1])
    assert data["series"][0]["detectors"]["mine"]["threshold"] == scores.max()


def constant_on(count=8):
    """Besides the detectors one with constant scores, which alarms everywhere at the best F1, and one of alarms."""
    entries = runs(count)
    flat = [(s, "flat", y, np.full(len(y), 0.5)) for s, d, y, _ in entries if d == "good"]
    binary = [(s, "binary", y, (x > 0.5).astype(float)) for s, d, y, x in entries if d == "fair"]
    return [*entries, *flat, *binary]


@pytest.mark.slow
def test_a_detector_that_alarms_everywhere_is_named(tmp_path):
    said = "an alarm at all points: flat (on 8 of 8 series); metrics of predictions say little there"
    found = te.compare(constant_on(), metrics=["vus_pr", "event_f1"])
    assert said in found.remarks()
    assert f"% {said}" in found.to_latex(layout="metrics").splitlines()
    assert "binary: scores of 0 and 1 are taken as alarms" in found.remarks()
    assert not any("all points" in note for note in found.remarks(metrics=["vus_pr"]))  # which needs no alarms
    assert "an alarm at all points: flat; metrics" in "".join(found.remarks({"s1"}))
    for page in (found.report(tmp_path / "a.html"), te.report(constant_on(), tmp_path / "b.html")):
        assert "<li>An alarm at all points: flat (on 8 of 8 series); metrics" in page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def one_without_values():
    """A comparison in which `still` never alarms, so that it has no delay, on any series."""
    entries = runs(8)
    entries += [(s, "still", y, np.where(y == 1, 0.0, 0.1)) for s, d, y, _ in entries if d == "good"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return te.compare(entries, metrics=["detection_delay", "cce"], threshold=0.7)


def test_a_detector_without_any_value_does_not_take_the_ranks_of_the_others(one_without_values):
    found = one_without_values
    without = te.compare([r for r in found.scorings() if r[1] != "still"], metrics="detection_delay", threshold=0.7)
    ranks = found.ranks("detection_delay")
    assert ranks.rows == without.ranks().rows
    assert "detection_delay: not ranked without any value: still" in repr(ranks)
    assert [row["detector"] for row in found.ranks("cce").rows][-1] == "still"
    assert found.disagreement().overall["detection_delay"] == without.disagreement().overall["detection_delay"] != []
    told = [row[-1] for row in found.significance("detection_delay")._grid() if "still" in row]
    assert told == ["-"] * 3


def test_a_page_ranks_the_others_too(one_without_values, tmp_path):
    page = one_without_values.report(tmp_path / "page.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])["comparison"]
    board, rows = data["boards"]["detection_delay"], one_without_values.ranks("detection_delay").rows
    shown = dict(zip(data["detectors"], board["rank"], strict=True))
    assert shown.pop("still") is None
    assert shown == {row["detector"]: row["rank"] for row in rows}
    assert all(data["detectors"][i] != "still" for group in [*board["groups"], board["best"]] for i in group)
    assert data["agreement"][0][1] is not None


def test_notes_say_of_which_metrics_lower_is_better():
    found = te.compare(runs(), metrics=["cce", "detection_delay", "false_alarms"])
    assert "lower is better: detection_delay, false_alarms" in repr(found).splitlines()
    assert "% lower is better: Delay, False alarms" in found.to_latex(layout="metrics").splitlines()
    assert "lower is better" not in found.to_latex(layout="series", metric="cce")


def test_notes_of_latex_call_metrics_as_its_columns_do():
    found = te.compare(quiet(runs(), "s1"), metrics=["vus_pr", "event_f1", "cce"])
    notes = [line for line in found.to_latex(layout="series", metric="vus_pr").splitlines() if line.startswith("%")]
    assert "% s1 has no anomalous point: VUS-PR is undefined there" in notes
    assert "vus_pr" in found.remarks(metrics=["vus_pr"])[-1]


def test_a_false_alarm_beside_an_event_says_so():
    y, scores = np.repeat([0, 1, 0], 10), np.repeat([0.0, 0.9, 0.0], 10)
    scores[[19, 20, 27]] = 0.0, 0.8, 0.8
    near, far = (found["why"] for found in dearest_false_alarms(Scoring.of(y, scores), 0.5))
    assert near.endswith("; right beside an event.")
    assert far.endswith("; 7 points from the nearest event.")
    y, scores = [0, 0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0.8, 0, 0.9, 0, 0, 0, 0.7]  # just before it, and the last point
    near, last = dearest_false_alarms(Scoring.of(y, scores), 0.5)
    assert (near["start"], last["start"]) == (2, 8)
    assert near["why"].endswith("; right beside an event.")
    assert last["why"].endswith("; 3 points from the nearest event.")


@pytest.mark.parametrize("layout", ["tables", "metrics", "series"])
def test_latex_has_minus_signs(layout):
    y = np.repeat([0, 1, 0], 20)
    entries = [
        (f"s{i}", d, y, s * y + 0.01 * np.arange(60) % 7) for i in range(2) for d, s in (("up", 3), ("down", -3))
    ]
    text = te.compare(entries, metrics="cce").to_latex(
        layout=layout, **({} if layout == "tables" else {"spread": True})
    )
    body = [line for line in text.splitlines() if not line.startswith("%")]
    assert any("$-$0." in line for line in body)
    assert not any(re.search(r"(?<!\$)-\d", line) for line in body)


def test_numbers_in_latex():
    assert [latex_text(one, 2) for one in (-1.234, 1.234, -3, -math.inf, math.inf)] == [
        "$-$1.23", "1.23", "$-$3", r"$-\infty$", r"$\infty$"
    ]  # fmt: skip
    assert latex_text("a-b") == "a-b"
    text = te.compare(runs(2), metrics="detection_delay").significance().to_latex()
    assert "$-$" in text
    assert not re.search(r"& -\d", text)


def test_missing_values_in_latex_are_dashes():
    entries = [one for one in runs() if one[:2] != ("s1", "poor")]
    found = te.compare(entries, metrics=["cce", "f1"])
    for text in (found.to_latex(), found.to_latex(layout="series"), found.differences("good", "poor").to_latex()):
        assert re.search(r"(^|& )--( |$)", text, re.M)
        assert "nan" not in text


def test_differences_are_said_in_words(one_without_values):
    found = te.compare(runs(), metrics="cce")
    better, worse = (repr(found.differences(*pair)).splitlines()[-1] for pair in (("good", "poor"), ("poor", "good")))
    assert better.startswith("cce: good is better by ")
    assert worse.split(" [")[0] == better.split(" [")[0].replace("good is better", "poor is worse")
    nothing = one_without_values.differences("good", "still", "detection_delay")
    assert repr(nothing).endswith("\n\ndetection_delay: no series has values of both")


def test_best_is_a_word_for_thresholds_alone():
    found = te.compare(runs(), metrics=["cce", "f1", "event_f1"])
    notes = [*found._notes(), *found.to_latex().split("% ")[1:], *found.to_latex(layout="series").split("% ")[1:]]
    assert any(note.startswith("* first in its column") for note in notes)
    assert any(note.startswith("Bold: first in its row") for note in notes)
    for note in notes:
        assert "best" not in note or note.startswith("threshold best")


def test_a_part_of_what_metrics_disagree_on_is_called_a_part():
    y = np.tile([0, 0, 1, 0], 30)
    rng = np.random.default_rng(3)
    entries = [(f"s{i}", d, y, rng.random(120)) for i in range(9) for d in "ab"]
    entries = [(s, d, y, x + (0.2 + 0.2 * (d == "b")) * y * (x > 0.5 * (d == "b"))) for s, d, y, x in entries]
    found = te.compare(entries, metrics=["cce", "f1", "auc_roc", "event_f1"]).disagreement()
    count = len(found.series)
    assert count > 5
    assert f"metrics name different winners on {count} series; 5 of {count}, most winners first:" in repr(found)
    few = te.compare(
        [one for one in entries if one[0] in found.series[:3]], metrics=["cce", "f1", "auc_roc", "event_f1"]
    )
    assert repr(few.disagreement()).split("different winners on 3 series")[1].startswith("\n  s")


def test_a_diagram_speaks_of_bars_only_where_there_are_some():
    rng = np.random.default_rng(0)
    apart = {name: level + rng.random(20) for name, level in (("a", 0), ("b", 2), ("c", 4))}
    texts = [text.get_text() for text in critical_difference(apart).texts]
    assert "all neighbours differ (Wilcoxon-Holm, 0.05)" in texts
    assert not any("bars" in text for text in texts)
    alike = {name: rng.random(20) for name in "abc"}
    assert "bars: not significantly different (Wilcoxon-Holm, 0.05)" in [
        text.get_text() for text in critical_difference(alike).texts
    ]


def test_intervals_do_not_depend_on_the_order_of_the_series():
    entries = runs(9)
    order = np.random.default_rng(1).permutation(9)
    other = [entry for i in order for entry in entries if entry[0] == f"s{i}"][::-1]

    def ends(found):
        rows = [*found.ranks().rows, *found.significance().rows, *found.significance(test="bayes").rows]
        keys = ("rank", "low", "high", "better")
        return {
            (row["metric"], row["detector"], row.get("rival"), "better" in row): [
                row[key] for key in keys if key in row
            ]
            for row in rows
        }

    one, two = (te.compare(some, metrics=["cce", "f1"]) for some in (entries, other))
    assert one.series != two.series
    first, second = ends(one), ends(two)
    assert first.keys() == second.keys()
    for key, values in first.items():
        assert second[key] == pytest.approx(values, abs=1e-12)
    values = one.values("cce")
    for change in (order, order[::-1]):
        assert standings(values[change], lower=False)["low"] == standings(values, lower=False)["low"]
        assert statistics.mean_ranks(values[change]).high.tolist() == statistics.mean_ranks(values).high.tolist()
    x, y = values[:, 0], values[:, 1]
    assert pairs.paired_difference(x[order], y[order])[1:3] == pytest.approx(pairs.paired_difference(x, y)[1:3])


def test_intervals_are_those_of_whole_rows_drawn_with_replacement():
    values = np.random.default_rng(2).random((12, 4))
    ranks = statistics.ranks(values)
    drawn = np.random.default_rng(5).integers(0, 12, (40_000, 12))
    low, high = np.quantile(ranks[drawn].mean(axis=1), [0.025, 0.975], axis=0)
    found = statistics.mean_ranks(values, draws=40_000)
    np.testing.assert_allclose(found.low, low, atol=0.09)
    np.testing.assert_allclose(found.high, high, atol=0.09)


@pytest.fixture
def table():
    frames = []
    for i, (series, detector, y, scores) in enumerate(runs(2)):
        when = pd.date_range(f"2024-0{1 + i // 3}-01", periods=len(y), freq="h")
        frames.append(pd.DataFrame({"series": series, "model": detector, "when": when, "label": y, "score": scores}))
    return pd.concat(frames)


def test_a_table_may_name_its_column_of_times(table, tmp_path):
    named = {"by": ["series", "model"], "metrics": "false_alarms(per='day')"}
    found = te.compare(table, time="when", **named)
    stamps = {series: part["when"][part["model"] == "good"] for series, part in table.groupby("series")}
    given = te.compare(table, time=stamps, **named)
    assert dict(found.average()) == dict(given.average())
    assert math.isfinite(found.average()["good"]["false_alarms(per='day')"])
    pages = [te.report(table, tmp_path / f"{i}.html", time=times, **named) for i, times in enumerate(("when", stamps))]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    one, two = (json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1]) for text in texts)
    assert one["series"] == two["series"]
    assert one["series"][0]["clock"]["kind"] == "dates"


def test_a_column_of_times_needs_a_table(table, tmp_path):
    entries = runs(1)
    for call in (
        lambda: te.compare(entries, metrics="f1", time="when"),
        lambda: te.report(entries, tmp_path / "page.html", time="when"),
        lambda: te.report(te.compare(entries, metrics="f1"), tmp_path / "page.html", time="when"),
    ):
        with pytest.raises(InvalidInputError, match="time='when' names a column, but scores is no table"):
            call()
    with pytest.raises(InvalidInputError, match="no column 'day'"):
        te.compare(table, time="day", by=["series", "model"])


def test_a_detector_called_random_is_not_the_baseline(tmp_path):
    _, _, y, scores = runs(1)[0]
    found = te.compare({"Random": scores, "Perfect": y + 0.0}, y, "f1")
    text = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'label: "Random (baseline)"' in text
    assert 'label: "Perfect (baseline)"' in text
    assert 'label: "Random"' not in text


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for series, detector, y, scores in runs(5):
        if detector == "good":
            labels = np.zeros_like(y) if series in ("s1", "s2", "s3") else y
            gaps = np.where(np.arange(len(y)) == int(series[1]) + 7, np.nan, scores)
            pd.DataFrame({"label": labels, "score": scores, "gaps": gaps}).to_csv(f"{series}.csv", index=False)


def test_one_line_for_what_is_undefined_in_many_scorings(files):
    done = run("score", "s0.csv", "s1.csv", "s2.csv", "s3.csv", "s4.csv", "--metrics", "f1,auc_roc,false_alarms")
    assert [line for line in done.stderr.splitlines() if "NaN" in line] == [
        "tsadeval: f1, auc_roc are NaN in 3 of 5 scorings (s1.csv, score; s2.csv, score; ...): y_true has no anomalous "
        "point (no 1)",
        "tsadeval: false_alarms is NaN in 3 of 5 scorings (s1.csv, score; s2.csv, score; ...): y_true has no anomalous "
        "point (no 1), so no threshold is best for f1",
    ]
    every = run("score", "s0.csv", "s1.csv", "--metrics", "all")
    (line,) = [line for line in every.stderr.splitlines() if "y_true has no anomalous point (no 1)" in line][:1]
    assert len(line) < 250
    assert "in all)" in line


def test_one_line_for_scorings_that_are_refused_for_the_same_reason(files):
    for name in ("s0", "s1", "s2", "s4"):
        table = pd.read_csv(f"{name}.csv").assign(gaps=np.inf)
        table.to_csv(f"{name}-inf.csv", index=False)
    done = run("score", *(f"{name}-inf.csv" for name in ("s0", "s1", "s2", "s4")), "--score", "gaps", "--metrics", "f1")
    (line,) = [line for line in done.stderr.splitlines() if "must be finite" in line]
    assert line.startswith(
        "tsadeval: s0-inf.csv, gaps; s1-inf.csv, gaps; s2-inf.csv, gaps and 1 more: y_score must be finite, but is inf"
    )


def test_every_diagram_of_a_leaderboard_has_a_place_for_its_note():
    folder = resources.files("tsadeval.reports") / "templates"
    pages = [file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".j2")]
    drawn = [page for page in pages if 'id="diagram"' in page]
    assert len(drawn) == 2
    assert all('id="diagram-note"' in page for page in drawn)


class Flat:
    """The same score everywhere, which is no 0 or 1."""

    def fit(self, X):
        return self

    def score(self, X):
        return np.full(len(X), 0.5)


def test_runs_of_detectors_have_the_notes_of_comparisons(tmp_path):
    for series, detector, y, scores in runs(2):
        if detector == "good":
            pd.DataFrame({"value": scores, "label": y}).to_csv(tmp_path / f"{series}.csv", index=False)
    files = [f"{tmp_path / name}.csv(split=0.1)" for name in ("s0", "s1")]
    found = te.detect(files, [Flat(), "moving_variance(window=5)"], ["f1", "event_f1", "false_alarms"])
    notes = repr(found)
    assert "an alarm at all points: Flat (on 2 of 2 series); metrics of predictions say little" in notes
    assert "threshold best(f1): the one that is best for that metric" in notes
    assert {row["metric"]: row["rule"] for row in found.rows} == {
        "f1": "best", "event_f1": "best(f1)", "false_alarms": "best(f1)"
    }  # fmt: skip
