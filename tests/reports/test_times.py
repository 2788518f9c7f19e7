"""A report in time: points that are not judged, times and durations in words, and thresholds as they were given."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples, scorings
from tsadeval.core.inputs import Scoring
from tsadeval.errors import InvalidInputError
from tsadeval.reports.payload import count_alarms, dearest_false_alarms, explain_cce, score_levels, worst_events
from tsadeval.scores.scored import observe

METRICS = ["f1", "event_f1", "false_alarms(per='week')", "detection_delay(unit='min')"]


def page_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1]), text


def server(seed, n=3000):
    """Minutes of a server: three events, a day of maintenance with alarms, and one event within it."""
    rng = np.random.default_rng(seed)
    times = pd.date_range("2026-03-28 12:00", periods=n, freq="min", tz="Europe/Berlin")
    times = times.delete(np.arange(200, 400))
    y = np.zeros(len(times), int)
    y[100:130] = y[1200:1220] = y[2700:2710] = 1
    s = rng.random(len(times)) + y
    s[1000:2440] += 5 * (rng.random(1440) < 0.05)
    return times, y, s


@pytest.fixture(scope="module")
def study():
    servers = {name: server(seed) for seed, name in enumerate(("web", "db"))}
    runs = [(name, d, y, s + k) for name, (_, y, s) in servers.items() for k, d in enumerate(("a", "b"))]
    times = {name: one[0] for name, one in servers.items()}
    spans = {name: [(when[1000], when[2440])] for name, when in times.items()}
    masks = {name: (np.arange(len(when)) >= 1000) & (np.arange(len(when)) < 2440) for name, when in times.items()}
    return runs, times, spans, masks


@pytest.mark.parametrize("threshold", ["best", 1.1])
def test_what_is_ignored_is_ignored_as_by_a_comparison(study, tmp_path, threshold):
    runs, times, spans, masks = study
    expected = te.compare(runs, metrics=METRICS, time=times, ignore=spans, threshold=threshold)
    pages = [
        te.report(runs, tmp_path / "a.html", metrics=METRICS, time=times, ignore=given, threshold=threshold)
        for given in (spans, masks, spans["web"])
    ]
    pages.append(expected.report(tmp_path / "b.html"))
    for data, text in map(page_of, pages):
        assert "2,880 points that were to be ignored are not judged, and with them 2 whole events" in text
        for one in data["series"]:
            assert one["ignored"] is not None
            for detector, shown in one["detectors"].items():
                rows = [r for r in expected.rows if (r["series"], r["detector"]) == (one["name"], detector)]
                assert [row["value"] for row in shown["metrics"]] == [row["value"] for row in rows]
                for finding in [*shown["worst"], *shown["false"]]:
                    assert finding["stop"] <= 1000 or finding["start"] >= 2440
                assert shown["events_in_all"] == 2


def test_what_cannot_be_ignored_is_named(study, tmp_path):
    runs, times, spans, _ = study
    with pytest.raises(InvalidInputError, match="ignore has an entry for 'wbe'"):
        te.report(runs, tmp_path / "a.html", time=times, ignore={"wbe": spans["web"]})
    with pytest.raises(InvalidInputError, match="ignore holds intervals of time, so times= is needed"):
        te.report(runs, tmp_path / "a.html", ignore=spans)
    elsewhere = [("2020-01-01 00:00+00:00", "2020-01-02 00:00+00:00")]
    page = te.report(runs, tmp_path / "a.html", time=times, ignore={"web": elsewhere}, metrics="f1")
    assert "No point of web lies in the spans of time to ignore." in page.read_text(encoding="utf-8")


def test_false_alarms_per_week_are_those_of_the_library(study, tmp_path):
    """From the counts of the slider, at the threshold of the rule."""
    runs, times, spans, _ = study
    metric = "false_alarms(per='week')"
    for ignore in (None, spans):
        page = te.report(runs, tmp_path / "a.html", metrics=[metric], time=times, ignore=ignore, threshold=0.9)
        for one in page_of(page)[0]["series"]:
            for name, shown in one["detectors"].items():
                y, s = next((y, s) for series, d, y, s in runs if (series, d) == (one["name"], name))
                setting = {"times": times[one["name"]], "ignore": None if ignore is None else spans[one["name"]]}
                scoring = observe(y, s, **setting)
                runs_at = count_alarms(scoring, score_levels(scoring, (0.9,))).runs[shown["start"]]
                assert runs_at * (604_800_000 / shown["quiet"]) == pytest.approx(shown["metrics"][0]["value"])


@examples(100)
@given(scorings(both=True), st.floats(-2, 2), st.booleans())
def test_a_threshold_between_scores_is_a_level_of_its_own(data, threshold, many):
    y, s = data
    if many:  # more distinct scores than there are levels
        y, s = np.tile(y, 3000), np.tile(np.asarray(s, float), 3000) + np.arange(3000 * len(y)) * 1e-7
    scoring = Scoring.of(y, s)
    levels = score_levels(scoring, (threshold,))
    k = levels.at(threshold)
    assert levels.thresholds[k] == threshold
    assert (np.diff(levels.thresholds) > 0).all()
    counts = count_alarms(scoring, levels)
    alarms = scoring.scores > threshold
    assert counts.found[k] == np.count_nonzero(alarms & scoring.truth.mask)
    assert counts.false[k] == np.count_nonzero(alarms & ~scoring.truth.mask)


def test_the_slider_starts_at_the_threshold_that_was_given(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(20_000) // 50 % 20 == 7
    s = rng.normal(size=20_000) + 3 * y
    data, _ = page_of(te.report({"d": s}, tmp_path / "a.html", y_true=y, threshold=2.1, metrics="f1"))
    shown = data["series"][0]["detectors"]["d"]
    scoring = Scoring.of(y, s)
    levels = score_levels(scoring, (2.1,))
    counts, k = count_alarms(scoring, levels), shown["start"]
    assert shown["threshold"] == levels.thresholds[k] == 2.1
    found, false = int(counts.found[k]), int(counts.false[k])
    assert 2 * found / (y.sum() + found + false) == shown["metrics"][0]["value"] == te.metrics.f1(y, s > 2.1)


@pytest.mark.parametrize(
    ("rule", "plain", "words"),
    [
        ("best", True, "It starts where F1 is best"),
        ("best(event_f1)", True, "It starts at the threshold of best(event_f1), which was found with the labels."),
        ("quantile(0.9)", True, "It starts at the threshold of quantile(0.9).</p>"),
        ("hysteresis(2, 0.5)", False, "This rule does more than compare with a threshold"),
        ("sustained(1.0, 3)", False, "This rule does more than compare with a threshold"),
    ],
)
def test_where_the_slider_starts_is_said(tmp_path, rule, plain, words):
    y = np.arange(2000) // 50 % 10 == 3
    s = np.random.default_rng(0).normal(size=2000) + 1.5 * y
    data, text = page_of(te.report({"d": s}, tmp_path / "a.html", y_true=y, threshold=rule, metrics="f1"))
    shown = data["series"][0]["detectors"]["d"]
    assert shown["plain"] == plain
    assert (te.metrics.f1(y, s > shown["threshold"]) == shown["metrics"][0]["value"]) == plain
    assert words in text


def test_findings_say_how_long():
    y = np.zeros(3000, int)
    y[100:130] = y[2000:2100] = 1
    s = np.zeros(3000)
    s[114] = s[2050] = 0.9
    s[700:735] = 0.95
    times = np.datetime64("2026-03-01") + np.arange(3000) * np.timedelta64(1, "m")
    times[1500:] += np.timedelta64(2, "D")
    scoring = observe(y, s, times=times)
    events = {e["start"]: e["why"] for e in worst_events(scoring, explain_cce(scoring), 0.5)}
    assert events[100].startswith("First alarm after 14 min, at 3.3 % of its points.")
    (false,) = dearest_false_alarms(scoring, 0.5)
    assert false["why"].startswith("35 min, peak score 0.95: it reaches the peak of 2 of 2 events")
    assert false["why"].endswith("; 9 h 30 min from the nearest event.")
    early = np.where(np.arange(3000) == 1499, 1.0, s)
    first, _ = dearest_false_alarms(observe(y, early, times=times), 0.5)
    assert first["why"].startswith("1 min, ")  # not the two days without data after it
    assert first["why"].endswith("; 22 h 49 min from the nearest event.")


def test_labels_have_their_units(study, tmp_path):
    runs, times, *_ = study
    data, _ = page_of(te.report(runs, tmp_path / "a.html", metrics=[*METRICS, "detection_delay"], time=times))
    labels = [metric["label"] for metric in data["metrics"]]
    assert labels == ["F1", "Event-F1", "False alarms per week", "Delay (min)", "Delay (points)"]


@pytest.mark.parametrize("metrics", ["f1", ["f1", "cce"]])
def test_cce_is_folded_away_unless_it_is_asked_for(tmp_path, metrics):
    y = np.arange(50) % 10 == 3
    _, text = page_of(te.report({"d": y + 0.0}, tmp_path / "a.html", y_true=y, metrics=metrics))
    assert ('<details id="cce-box" open>' in text) == (metrics != "f1")


def test_a_reason_is_given_for_metrics_without_a_value(study, tmp_path):
    runs, times, spans, _ = study
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data, _ = page_of(te.report(runs, tmp_path / "a.html", metrics=["vus_pr", "f1"], time=times, ignore=spans))
    assert "cannot leave out the points" in data["series"][0]["detectors"]["a"]["metrics"][0]["message"]
