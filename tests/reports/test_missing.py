"""A report of a comparison has its numbers, whatever is missing; the page names what is."""

import json
import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples, scorings
from tsadeval.core.inputs import Scoring
from tsadeval.errors import InvalidInputError
from tsadeval.metrics.cce_formula import explain_gaps
from tsadeval.reports.page import SeriesView, offset_of
from tsadeval.reports.payload import count_alarms, score_levels
from tsadeval.scores.scored import observe

METRICS = ["vus_pr", "ears", "cce", "f1", "event_f1", "f1_pa", "false_alarms", "detection_delay"]
LIVE = ["precision", "recall", "f1", "f1_pa", "event_recall", "false_alarms"]


def data_of(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S)[1])


def a_study():
    """Five series, three detectors: NaN at the start and in an event, a series without anomalies, a detector that is
    missing on one series and one without any score on another.
    """
    rng = np.random.default_rng(0)
    runs = []
    for i in range(5):
        y = np.zeros(400, int)
        if i != 3:
            y[100:120] = y[250:253] = y[300 : 310 + i] = 1
        for name, skill in (("good", 2.0), ("gaps", 1.0), ("poor", 0.2)):
            s = rng.normal(size=400) + skill * y
            if name == "gaps" and i == 1:
                s[:30] = s[105:107] = s[250:253] = s[390:] = math.nan
            if name == "gaps" and i == 2:
                s[:] = math.nan
            if (name, i) != ("poor", 4):
                runs.append((f"s{i}", name, y, s))
    return runs


@pytest.fixture(scope="module")
def runs():
    return a_study()


def known(value):
    """A number as a page has it."""
    return None if math.isnan(value) else value


def compared(runs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return te.compare(runs, metrics=METRICS, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "threshold"),
    [("skip", "best"), ("skip", "quantile(0.95)"), ("ignore", "best"), ("no alarm", "best"), ("worst", "best")],
)
def test_a_report_of_a_comparison_has_its_numbers(runs, tmp_path, missing, threshold):
    found = compared(runs, missing=missing, threshold=threshold)
    pages = [
        data_of(found.report(tmp_path / "page.html")),
        # From the scores alone the same comes out.
        data_of(te.report(runs, tmp_path / "page.html", metrics=METRICS, missing=missing, threshold=threshold)),
    ]
    average = found.average()
    ranks = {(row["metric"], row["detector"]): row for row in found.ranks().rows}
    for page in pages:
        assert page["missing"] == missing
        assert page["comparison"]["detectors"] == ["good", "gaps", "poor"]
        for m, metric in enumerate(METRICS):
            board = page["comparison"]["boards"][metric]
            for i, detector in enumerate(found.detectors):
                assert board["mean"][i] == known(average[detector][metric])
                assert board["rank"][i] == known(ranks[metric, detector]["rank"])
                assert board["low"][i] == known(ranks[metric, detector]["low"])
                assert board["wins"][0][i] == ranks[metric, detector]["wins"]
                values = [r["value"] for r in found.rows if (r["detector"], r["metric"]) == (detector, metric)]
                assert board["defined"][i] == np.isfinite(values).sum()
            for row in found.rows:
                (series,) = (one for one in page["series"] if one["name"] == row["series"])
                if row["metric"] == metric and row["detector"] in series["detectors"]:
                    shown = series["detectors"][row["detector"]]["metrics"][m]
                    assert shown["value"] == known(row["value"])
                    assert (shown["rule"], shown["threshold"]) == (row["rule"], row["threshold"])


def test_times_ignored_points_and_scores_to_fit_on_are_those_of_the_comparison(runs, tmp_path):
    runs = [run for run in runs if run[0] != "s3"]
    names = {run[0] for run in runs}
    times = pd.date_range("2026-03-01", periods=400, freq="min", tz="Europe/Berlin")
    ignore = np.arange(400) < 110
    fit = {(series, detector): s[np.isfinite(s)][:50] for series, detector, _, s in runs if np.isfinite(s).any()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = te.compare(
            runs, metrics=["f1", "cce", "false_alarms(per='h')"], threshold="quantile(0.9)", fit=fit,
            time=dict.fromkeys(names, times), ignore=dict.fromkeys(names, ignore),
        )  # fmt: skip
    page = data_of(found.report(tmp_path / "page.html"))
    for one in page["series"]:
        for detector, shown in one["detectors"].items():
            values = [r["value"] for r in found.rows if (r["series"], r["detector"]) == (one["name"], detector)]
            assert [row["value"] for row in shown["metrics"]] == values
        assert (one["clock"]["kind"], one["clock"]["zone"]) == ("dates", "Europe/Berlin")


@pytest.mark.parametrize(
    ("times", "clock"),
    [
        (pd.date_range("2026-03-28", periods=90, freq="h", tz="Europe/Berlin"), ("dates", "Europe/Berlin")),
        (pd.date_range("2026-03-28", periods=90, freq="h").to_numpy(), ("dates", "")),
        ([f"2026-03-{1 + i // 24:02} {i % 24:02}:00+02:00" for i in range(90)], ("dates", "+02:00")),
        (1_700_000_000 + np.arange(90), ("dates", "")),
        (np.arange(90) / 4, ("numbers", "")),
    ],
)
def test_stamps_are_shown_as_they_came(tmp_path, times, clock):
    y = np.arange(90) % 9 == 4
    page = data_of(te.report({"d": y + 0.1 * np.arange(90)}, tmp_path / "page.html", y_true=y, time=times))
    found = page["series"][0]["clock"]
    assert (found["kind"], found["zone"]) == clock


def test_a_parquet_file_keeps_its_time_zone(tmp_path):
    stamps = pd.date_range("2026-03-28", periods=90, freq="h", tz="Europe/Berlin")
    table = pd.DataFrame({"at": stamps, "label": np.arange(90) % 9 == 4, "score": np.arange(90.0)})
    table.to_parquet(tmp_path / "a.parquet")
    (one,) = te.Scores(tmp_path / "a.parquet", time="at")
    times = one.given.times
    assert one.series == "a"
    assert (times.kind, times.zone, times.stamps[0]) == ("dates with a time zone", "Europe/Berlin", stamps[0].value)
    assert times.at_points(np.arange(90) < 3).zone == "Europe/Berlin"


def test_other_metrics_or_another_rule_are_computed_anew(runs, tmp_path):
    found = compared(runs)
    page = data_of(found.report(tmp_path / "page.html", metrics=["auc_roc", "f1"], threshold="quantile(0.9)"))
    again = te.compare(
        [run for run in runs if run[0] != "s3"], metrics=["auc_roc", "f1"], threshold="quantile(0.9)"
    ).average()
    for metric in ("auc_roc",):
        mean = page["comparison"]["boards"][metric]["mean"]
        assert mean == [again[detector][metric] for detector in ("good", "gaps", "poor")]
    assert {row["rule"] for row in page["series"][0]["detectors"]["good"]["metrics"]} == {None, "quantile(0.9)"}


def test_functions_as_metrics_and_pickled_comparisons(runs, tmp_path):
    import pickle

    def half(y_true, y_score):
        return 0.5

    found = te.compare(runs[:2], metrics=[half])
    assert data_of(found.report(tmp_path / "page.html"))["comparison"]["boards"]["half"]["mean"] == [0.5, 0.5]
    assert pickle.loads(pickle.dumps(te.compare(runs[:2], metrics=[lambda y_true, y_score: 0.5]))).metrics
    again = pickle.loads(pickle.dumps(compared(runs)))
    assert [m["name"] for m in data_of(again.report(tmp_path / "page.html"))["metrics"]] == METRICS


def test_everything_that_is_missing_is_named_at_the_top(runs, tmp_path):
    broken = [*runs, ("s0", "broken", runs[0][2], np.full(400, np.inf))]
    text = te.report(broken, tmp_path / "page.html", metrics="f1", notes=["Left out: x.csv: no rows"]).read_text()
    box = text.partition("<aside")[2].partition("</aside>")[0]
    assert re.findall("<li>(.*?)</li>", box) == [
        "Left out: x.csv: no rows",
        "Left out: series &#39;s0&#39;, detector &#39;broken&#39;: "
        + box.partition("detector &#39;broken&#39;: ")[2].split("</li>")[0],
        "gaps has no scores on 1 of 5 series (s2): its mean is over the others.",
        "poor has no scores on 1 of 5 series (s4): its mean is over the others.",
        "gaps: 45 points without a score were left out (s1: 45).",
        "s3 has no anomalous point: most metrics have no value there.",
    ]
    text = te.report(runs, tmp_path / "page.html", metrics="f1", missing="worst").read_text()
    assert "gaps: 45 points without a score count as lower than all others (s1: 45)." in text
    assert "Missing scores</dt><dd>worst: " in text
    clean = te.report(runs[:1], tmp_path / "page.html", metrics="f1").read_text()
    assert "<aside" not in clean


def test_detectors_that_lack_the_same_are_one_remark_and_many_remarks_are_folded(runs, tmp_path):
    y, s = runs[0][2], runs[0][3]
    holed = np.where(np.arange(len(s)) < 10, np.nan, s)
    several = [(name, f"d{i}", y, s) for i in range(5) for name in ("one", "two")] + [("three", "d0", y, s)]
    text = te.report(several, tmp_path / "page.html", metrics="cce").read_text()
    box = text.partition("<aside")[2].partition("</aside>")[0]
    assert re.findall("<li>(.*?)</li>", box) == [
        "4 detectors (d1, d2, d3, d4) have no scores on 1 of 3 series (three): their means are over the others."
    ]
    assert '<details class="notes small" open>' in box
    several += [("four", "d0", y, holed), ("four", "d1", y, holed)]
    text = te.report(several, tmp_path / "page.html", metrics="cce", notes=["one more"]).read_text()
    box = text.partition("<aside")[2].partition("</aside>")[0]
    assert "What to know first: 5 remarks" in box
    assert " open" not in box.partition(">")[2].partition(">")[0]
    assert "d0: 10 points without a score were left out (four: 10)." in box


def test_missing_scores_can_be_refused(runs, tmp_path):
    with pytest.raises(InvalidInputError, match="series 's1', detector 'gaps'"):
        te.report(runs, tmp_path / "page.html", missing="error")
    whole = [run for run in runs if run[1] != "gaps"]
    with pytest.raises(InvalidInputError, match=r"'poor' has no scores on series 's4'.*missing=.skip."):
        te.report(whole, tmp_path / "page.html", missing="error")


def test_detectors_may_lack_points_as_their_stamps_say(tmp_path):
    y = pd.Series(np.repeat([0, 1, 0], [50, 10, 40]), pd.date_range("2026-01-01", periods=100, freq="min"))
    s = np.random.default_rng(0).random(100)
    for part, offset in ((slice(20, 100), 20), (slice(0, 80), 0)):
        runs = [("a", "all", y, s), ("a", "part", y[part], s[part])][:: 1 if offset else -1]
        (one,) = map(SeriesView.of, te.Scores(runs).by_series())
        assert {name: (offset_of(j), j.scoring.n) for name, j in one.detectors.items()} == {
            "all": (0, 100),
            "part": (offset, 80),
        }
        found = te.compare(runs, metrics=["f1", "cce"])
        page = data_of(found.report(tmp_path / "page.html"))
        assert page["series"][0]["n"] == 100
        for name, shown in page["series"][0]["detectors"].items():
            assert [row["value"] for row in shown["metrics"]] == list(found.table()[name].values())
    short = [("a", "all", y.to_numpy(), s), ("a", "part", y.to_numpy()[:80], s[:80])]
    for refused in (te.compare, lambda runs: te.report(runs, tmp_path / "page.html")):
        with pytest.raises(InvalidInputError, match="have 100 and 80 points on series 'a': give time stamps"):
            refused(short)


@st.composite
def with_gaps(draw):
    y, s = draw(scorings(both=True))
    lost = draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y)))
    s = np.where(lost, np.nan, s)
    assume(np.isfinite(s).any())
    return y, s


@examples(150)
@given(with_gaps())
def test_counts_at_all_levels_are_those_of_a_comparison(data):
    y, s = data
    (one,) = map(SeriesView.of, te.Scores({"d": s}, y).by_series())
    judged = one.detectors["d"]
    levels = score_levels(judged.scoring)
    counts = count_alarms(judged.scoring, levels)
    points, events, n = judged.scoring.events.points, len(judged.scoring.events), judged.scoring.kept.n
    assert n + judged.missing == len(y)
    for k in {0, len(levels.thresholds) // 2, len(levels.thresholds) - 1}:
        threshold = float(levels.thresholds[k])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = te.compare({"d": s}, y, LIVE, threshold=threshold).table()["d"]
        found, false, adjusted, seen, runs = (int(column[k]) for column in counts)
        shown = {
            "precision": found / (found + false) if found + false else math.nan,
            "recall": found / points if points else math.nan,
            "f1": 2 * found / (points + found + false) if points else math.nan,
            "f1_pa": 2 * adjusted / (points + adjusted + false) if points else math.nan,
            "event_recall": seen / events if points else math.nan,
            "false_alarms": 1000 * (runs / n),
        }
        assert shown == pytest.approx(expected, rel=1e-15, nan_ok=True)


@examples(150)
@given(with_gaps())
def test_the_parts_of_cce_with_gaps_add_up_to_it(data):
    y, s = data
    scoring = observe(y, s, missing="ignore")
    assume(scoring.kept.truth.has(0) and scoring.kept.truth.has(1))
    found = explain_gaps(scoring)
    value = te.evaluate(y, s, "cce", missing="ignore")["cce"]
    assert found.score == pytest.approx(value, abs=1e-12)
    assert found.events["share"].sum() == pytest.approx(value, abs=1e-9)
    judged = np.concatenate([np.arange(a, b) for a, b in zip(found.events["start"], found.events["stop"], strict=True)])
    assert judged.tolist() == np.flatnonzero(np.isfinite(s)).tolist()


@examples(100)
@given(scorings(both=True))
def test_without_gaps_the_parts_of_cce_are_those_of_its_breakdown(data):
    found, expected = explain_gaps(Scoring.of(*data)), te.cce_breakdown(*data)
    for name in expected.events.dtype.names:
        assert found.events[name] == pytest.approx(expected.events[name], abs=1e-9)
    assert found.score == pytest.approx(expected.score, abs=1e-12)
