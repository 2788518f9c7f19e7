"""The report as a file: what is in it, what it refuses, and how large it is. In a browser: tests/browser."""

import json
import re

import numpy as np
import pytest

import policies
import tsadeval as te
from tsadeval.core.inputs import Scoring
from tsadeval.core.selection import select_metrics
from tsadeval.errors import InvalidInputError, UnknownNameError
from tsadeval.reports import page
from tsadeval.reports.payload import dearest_false_alarms, explain_cce, worst_events

Y = np.zeros(500, int)
Y[100:130] = Y[300:303] = 1
RNG = np.random.default_rng(0)
SCORES = {"good": RNG.normal(size=500) + 2 * Y, "poor": RNG.normal(size=500) + 0.5 * Y}
METRICS = ["cce", "auc_roc", "f1", "detection_delay"]


def data_of(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S)[1])


def test_values_are_those_of_evaluate(tmp_path):
    data = data_of(te.report(SCORES, tmp_path / "page.html", y_true=Y, metrics=METRICS))
    for name, scores in SCORES.items():
        expected = te.evaluate(Y, scores, METRICS, baseline=True, draws=10)
        for row, found in zip(expected.rows, data["series"][0]["detectors"][name]["metrics"], strict=True):
            assert found["value"] == row["value"]
            assert found["random"] == row["random"]
            assert found["perfect"] == row["perfect"]
            assert found["threshold"] == row["threshold"]


def test_one_detector_needs_no_name(tmp_path):
    path = te.report(SCORES["good"], tmp_path / "sub" / "page.html", y_true=Y, metrics="f1")
    assert data_of(path)["detectors"] == ["score"]
    assert data_of(path)["comparison"] is None


def test_the_page_is_self_contained_and_everything_is_escaped(tmp_path):
    nasty = "<img src=x onerror=alert(1)>"
    path = te.report(
        {nasty: SCORES["good"], "b": SCORES["poor"]}, tmp_path / "page.html", y_true=Y, metrics="f1", title=nasty,
        command=nasty, sources={nasty: "0" * 64},
    )  # fmt: skip
    text = path.read_text(encoding="utf-8")
    assert nasty not in text
    assert not re.search(r"(?:src|href)=[\"'](?!#|data:)", text)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_provenance(tmp_path):
    import hashlib

    path = te.report(
        SCORES, tmp_path / "page.html", y_true=Y, metrics=METRICS, command="make it", sources={"a.csv": "12ab"}
    )
    text = path.read_text(encoding="utf-8")
    assert f"tsadeval {te.__version__}" in text
    assert "make it" in text
    assert "SHA-256 12ab" in text
    assert hashlib.sha256(SCORES["good"].astype("<f8").tobytes()).hexdigest() in text
    assert hashlib.sha256(Y.astype(np.uint8).tobytes()).hexdigest() in text


def test_what_cannot_be_evaluated_is_left_out_and_said(tmp_path):
    bad = np.full(500, np.nan)
    path = te.report({**SCORES, "broken": bad}, tmp_path / "page.html", y_true=Y, metrics="f1")
    assert data_of(path)["detectors"] == ["good", "poor"]
    assert "Left out: detector &#39;broken&#39;: no point has a score" in path.read_text(encoding="utf-8")
    with pytest.raises(InvalidInputError, match="no detector has a score on any series"):
        te.report({"broken": bad}, tmp_path / "page.html", y_true=Y)
    some = np.where(np.arange(500) < 3, np.nan, SCORES["good"])
    path = te.report({"some": some}, tmp_path / "page.html", y_true=Y, metrics="f1")
    assert "some: 3 points without a score were left out." in path.read_text(encoding="utf-8")


def test_results_have_a_report(tmp_path):
    found = te.compare(SCORES, Y, ["f1", "cce"])
    data = data_of(found.report(tmp_path / "page.html", title="mine"))
    assert data["detectors"] == ["good", "poor"]
    assert [metric["name"] for metric in data["metrics"]] == ["f1", "cce"]
    assert data_of(te.report(found, tmp_path / "again.html", metrics="f1"))["detectors"] == ["good", "poor"]


def test_metrics_are_the_recommended_ones_unless_named(tmp_path):
    names = [metric["name"] for metric in data_of(te.report(SCORES, tmp_path / "page.html", y_true=Y))["metrics"]]
    assert names == [str(metric) for metric in select_metrics("recommended")]


def test_the_best_f1_does_not_repeat_f1(tmp_path):
    def names(threshold):
        page = te.report(SCORES, tmp_path / "page.html", y_true=Y, metrics=["f1", "best_f1"], threshold=threshold)
        return [metric["name"] for metric in data_of(page)["metrics"]], page.read_text(encoding="utf-8")

    shown, text = names("best")
    assert shown == ["f1"]
    assert "best_f1 is not shown: with this rule it is F1" in text
    assert names(1.0)[0] == ["f1", "best_f1"]


def test_the_page_says_how_thresholds_were_found(tmp_path):
    page = te.report(SCORES, tmp_path / "page.html", y_true=Y, metrics=["f1", "event_f1", "recall", "cce"])
    text = page.read_text(encoding="utf-8")
    assert "the best one of each metric, chosen with the labels, so values are upper bounds; " in text
    assert "metrics whose own best is trivial (Event-F1, Recall) at the best threshold of F1." in text
    page = te.report(SCORES, tmp_path / "page.html", y_true=Y, metrics=["f1", "recall"], threshold="quantile(0.9)")
    assert "Thresholds: by the rule quantile(0.9)." in page.read_text(encoding="utf-8")


def test_the_comparison_comes_before_the_series(tmp_path):
    text = te.report(SCORES, tmp_path / "page.html", y_true=Y, metrics="f1").read_text(encoding="utf-8")
    places = [text.index(f'<section id="{name}"') for name in ("comparison", "view", "metrics", "about")]
    assert places == sorted(places)


def test_a_table_with_a_row_per_point(tmp_path):
    table = {"label": Y, "good": SCORES["good"], "poor": SCORES["poor"]}
    data = data_of(te.report(table, tmp_path / "page.html", y_true="label", score=["good", "poor"], metrics="f1"))
    assert data["detectors"] == ["good", "poor"]


def test_comparison_of_several_series(tmp_path):
    runs = [
        (f"s{i}", name, Y, scores + 0.01 * i)
        for i in range(8)
        for name, scores in SCORES.items()
        if (i, name) != (0, "poor")
    ]
    data = data_of(te.report(runs, tmp_path / "page.html", metrics=METRICS))
    board = data["comparison"]["boards"]["auc_roc"]
    assert board["series"] == 7
    assert board["defined"] == [8, 7]
    assert board["rank"] == [1.0, 2.0]
    assert board["best"] == [0]


@pytest.mark.parametrize(("budget", "row"), [(1000, "mean of 2 shuffles"), (999, "left out: too many points")])
def test_the_random_baseline_of_many_points(tmp_path, monkeypatch, budget, row):
    monkeypatch.setattr(page, "BUDGET", budget)
    text = te.report(SCORES["good"], tmp_path / "page.html", y_true=Y, metrics="f1").read_text(encoding="utf-8")
    assert row in text


def test_worst_events_and_dearest_false_alarms():
    y = np.zeros(200, int)
    y[50:60] = y[120:124] = 1
    s = np.zeros(200)
    s[50:60] = 0.9  # found
    s[122] = 0.4  # hardly seen
    s[20] = 0.5  # a false alarm above the second event
    s[180:183] = 0.2
    scoring = Scoring.of(y, s)
    worst, other = worst_events(scoring, explain_cce(scoring), 0.3)
    assert (worst["start"], worst["stop"]) == (120, 124)
    assert worst["why"].startswith("First alarm after 2 points, at 25 % of its points.")
    assert other["why"].startswith("Alarm from its first point on, at all of its points.")
    (one, _) = worst_events(scoring, explain_cce(scoring), 0.4)
    assert one["why"].startswith("No alarm at the threshold.")
    first, second = dearest_false_alarms(scoring, 0.1)
    assert (first["start"], first["cost"]) == (20, 1)
    assert "reaches the peak of 1 of 2 events" in first["why"]
    assert "29 points from the nearest event" in first["why"]
    assert (second["start"], second["stop"], second["cost"]) == (180, 183, 0)
    assert dearest_false_alarms(scoring, 1.0) == []
    assert dearest_false_alarms(Scoring.of(np.zeros(3), [0.0, 1.0, 0.0]), 0.5)[0]["why"].endswith("there is no event.")


def test_a_hundred_thousand_points_take_less_than_a_megabyte_and_a_half(tmp_path):
    n = 100_000
    rng = np.random.default_rng(0)
    y = np.arange(n) // 50 % 200 == 7
    path = te.report(
        rng.normal(size=n) + y, tmp_path / "page.html", y_true=y, values=rng.normal(size=n), metrics=["cce", "f1"]
    )
    assert path.stat().st_size <= 1_500_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": {}}, "scores is empty"),
        ({"y_true": None}, "y_true is missing"),
        ({"values": np.zeros(3)}, r"values must be .* a number for each of 500 points, found an array of shape \(3,\)"),
        ({"values": np.zeros((500, 1, 5))}, r"values must be one column or several .* of shape \(500, 1, 5\)"),
        ({"values": 3.0}, r"values must be one column or several .* found an array of shape \(\)"),
        ({"time": np.zeros(3)}, "times has 3 time stamps, but there are 500"),
        ({"time": np.array(["x"] * 500)}, "times: row 0 is 'x'"),
        ({"metrics": "nothing"}, "unknown metric or set 'nothing'"),
        ({"missing": "drop"}, "missing"),
        ({"scores": [("a", "d", Y, SCORES["good"])] * 2, "y_true": None}, "two scorings of detector 'd' on series 'a'"),
        (
            {"scores": [("a", "d", Y, SCORES["good"]), ("a", "e", 1 - Y, SCORES["good"])], "y_true": None},
            "detectors 'd' and 'e' have different labels on series 'a'",
        ),
        (
            {"scores": [(n, "d", Y, SCORES["good"]) for n in "ab"], "y_true": None, "values": Y},
            "values must be a mapping from series",
        ),
    ],
)
def test_bad_input(tmp_path, arguments, message):
    with pytest.raises((InvalidInputError, UnknownNameError), match=message):
        te.report(**{"scores": SCORES, "path": tmp_path / "page.html", "y_true": Y, "metrics": "f1", **arguments})


@pytest.mark.parametrize("values", [["x"] * 500, {"a": ["x"] * 500}])
def test_values_that_cannot_be_drawn_are_one_line(tmp_path, values):
    with pytest.raises(InvalidInputError, match=r"values.* must be numbers, one column or several, to be drawn"):
        te.report(SCORES, tmp_path / "page.html", y_true=Y, metrics="f1", values=values)


def test_a_page_is_a_file(tmp_path):
    with pytest.raises(InvalidInputError, match=r"path must be that of a file, but .* is a folder"):
        te.report(SCORES, tmp_path, y_true=Y, metrics="f1")


NASTY = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</script><script>alert(2)//", "{{7*7}}\u2028"]


def test_no_name_can_be_markup(tmp_path):
    def own(y_true, y_score):
        return 0.5

    own.__name__, own.__doc__ = NASTY[0], NASTY[1]
    runs = [(series, name, Y, SCORES["good"]) for series in NASTY for name in NASTY]
    values = {name: dict.fromkeys(NASTY, SCORES["poor"]) for name in NASTY}
    path = te.report(runs, tmp_path / "a.html", metrics=[own, "f1"], values=values, title=NASTY[2], notes=NASTY)
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<script>alert|<img src", text)
    assert "{{7*7}}" in text
    assert len(policies.check_policy(path).inline) == 2  # its own style and script
    assert data_of(path)["detectors"] == NASTY
