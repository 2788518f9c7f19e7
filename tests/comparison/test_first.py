"""Who can be first: detectors without skill, of too few series or of alarms everywhere are marked and never win."""

import json
import math
import re
import warnings

import numpy as np
import pytest

import tsadeval as te
from tsadeval.comparison.standings import at_chance, find_flaws
from tsadeval.core.facts import Flaw
from tsadeval.core.inputs import Scoring
from tsadeval.evaluation.baseline import skill_of


@pytest.fixture(autouse=True)
def warnings_are_expected():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def entries(seed=0, count=18, length=300):
    """One detector that is honest but weak, and three that know nothing: of random, equal and no scores worth one."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        y = np.zeros(length, int)
        y[50 + 3 * i : 70 + 3 * i] = 1
        weak, noise = y + rng.normal(0, 1.5, length), rng.normal(0, 1, length)
        found += [(f"s{i}", d, y, x) for d, x in (("weak", weak), ("random", noise), ("flat", np.full(length, 0.5)))]
    return found


METRICS = ["vus_pr", "f1", "event_f1", "event_recall", "detection_delay", "false_alarms"]


@pytest.mark.filterwarnings("ignore:no micro average of")
@pytest.mark.parametrize("seed", range(5))
def test_no_detector_without_skill_is_first_anywhere(seed):
    found = te.compare(entries(seed), metrics=METRICS)
    for table in (*map(found.table, found.series), found.average(), found.average("micro"), found.average(groups=str)):
        for metric in METRICS:
            assert set(table.best(metric)) <= {"weak"}
    assert {w for row in found.disagreement().rows for w in row["winner"].split(" = ")} == {"weak"}
    assert all(some == ["weak"] for some in found.disagreement().overall.values())
    for layout in ("tables", "metrics"):
        lines = found.to_latex(layout=layout).splitlines()
        assert any(line.startswith(r"weak & \textbf") for line in lines)
        never = [line for line in lines if line.startswith(("random", "flat"))]
        assert not any("textbf" in line or "underline" in line for line in never)
    assert "never first: random (not above chance)" in found.remarks()


def test_an_alarm_at_all_points_is_marked_and_not_first():
    found = te.compare(entries(count=1), metrics=METRICS)
    assert found.table()["flat"]["event_f1"] == 1.0
    lines = repr(found).splitlines()
    assert re.search(r"^flat .*1\.0000!", next(line for line in lines if line.startswith("flat")))
    assert "never first by event_f1, event_recall, detection_delay, false_alarms: flat (alarm at all points)" in lines


def test_what_covers_too_little_is_not_first():
    some = [one for one in entries() if one[1] == "weak"]
    better = [(s, "better", y, y + 0.5 * x) for s, _, y, x in some]
    for count, first in ((8, "weak"), (9, "better")):  # of 18 series
        found = te.compare([*some, *better[:count]], metrics="auc_roc")
        assert found.average().best("auc_roc") == [first]
        assert found.table("s0").best("auc_roc") == ["better"]  # it is first where it is
    found = te.compare([*some, *better[:1]], metrics="auc_roc")
    assert "never first: better (values on less than half of the series)" in found.remarks()
    # Worst values stand for what is missing, so the average covers all.
    found = te.compare([*some, *better[:8]], metrics="auc_roc", missing="worst")
    assert found.flaws("auc_roc", range(18)) == [None, None]


def test_ties_of_honest_detectors_and_short_series_keep_their_stars():
    y = [0, 0, 1, 1, 0, 0, 0, 0]
    good = [0.1, 0.2, 0.9, 0.8, 0.1, 0.3, 0.2, 0.1]
    table = te.compare(
        {"one": good, "two": good, "less": [0.1, 0.2, 0.9, 0.25, 0.1, 0.3, 0.2, 0.1]}, y, "auc_roc"
    ).table()
    assert table.best("auc_roc") == ["one", "two"]
    assert "!" not in repr(table)
    tiny = te.compare({"good": [0.1, 0.9, 0.2], "bad": [0.9, 0.1, 0.2]}, [0, 1, 0], "f1").table()
    assert tiny.best("f1") == ["good"]


def test_one_alarm_in_each_event_is_skill():
    y, alarms = np.zeros(10_000, int), np.zeros(10_000)
    for start in range(500, 10_000, 2000):
        y[start : start + 100] = alarms[start + 30] = 1
    facts = skill_of(Scoring.of(y, alarms))
    assert facts["point_rank"] == pytest.approx(0.505)
    assert facts["event_skill"] > 3
    assert te.compare({"alarms": alarms, "rest": alarms * 0.0}, y, "event_recall").table().best("event_recall") == [
        "alarms"
    ]


def test_skill_of_scores_in_random_order():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 0, 1, 0, 0, 1, 0], [30, 4, 20, 30, 40, 10, 1, 25])
    for scores in (rng.normal(size=160), rng.integers(0, 3, 160), (rng.random(160) < 0.1).astype(float)):
        drawn = [skill_of(Scoring.of(y, rng.permutation(scores))) for _ in range(1500)]
        points, events = (np.array([one[name] for one in drawn]) for name in ("point_skill", "event_skill"))
        assert abs(points.mean()) < 0.1
        assert points.std() == pytest.approx(1, abs=0.08)
        assert abs(events.mean()) < 0.1
        assert events.std() < 1.08  # less where there are ties
    assert set(skill_of(Scoring.of(y, np.ones(160))).values()) == {0.5, 0.0}
    assert skill_of(Scoring.of(y * 0, rng.random(160))) == {}


def test_flaws_by_hand():
    nothing = np.full((2, 3), math.nan)
    assert not at_chance(nothing, nothing, nothing).any()  # of results that do not say
    values = np.array([[0.5, 0.4, math.nan], [0.2, 0.6, math.nan], [0.1, 0.3, 0.9]])
    silent = np.array([[-1.0, -1, 0], [-1, 0, 0], [math.nan, 0, 0]])  # the last series has no event
    assert find_flaws(values, np.zeros(3, bool), silent) == [Flaw.NOWHERE, None, Flaw.FEW]
    assert find_flaws(values[2:], np.zeros(3, bool), silent[2:]) == [None, None, None]


def test_a_page_names_no_winner_without_skill(tmp_path):
    found = te.compare(entries(count=8), metrics=METRICS)
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])["comparison"]
    assert data["detectors"] == ["weak", "random", "flat"]
    assert data["boards"]["event_f1"]["flaws"] == [None, "not above chance", "alarm at all points"]
    assert data["flaws"]["event_f1"]["s0"] == data["boards"]["event_f1"]["flaws"]
    assert all(set(board["best"]) <= {0} for board in data["boards"].values())
