"""The suite `selection`: planted detectors, the published scores, data sets, stores and what is refused."""

import itertools
import json

import numpy as np
import pytest

import commands
import tsadeval as te
from naive import selection as naive
from published import SHARED
from tsadeval.rankeval.series import GENERATORS
from tsadeval.rankeval.suites.selection import ITSELF, RANDOM

# A detector by the share of anomalous points that it finds and of normal points that it alarms on.
PLANTED = {"finds all": (1.0, 0.1), "most": (0.8, 0.1), "half": (0.5, 0.05), "one in ten": (0.1, 0.0)}


def planted(series=12, seed=0):
    """Long events: point adjustment sees all of an event in a few hits, and so prefers few false alarms to finding."""
    rng = np.random.default_rng(seed)
    for k in range(series):
        mask = np.arange(3000) % 600 // 60 == rng.integers(1, 9)
        for name, (q, p) in PLANTED.items():
            yield f"s{k:02d}", name, mask.astype(int), GENERATORS["PreQ-NegP"].scores(mask, rng, q, p)


@pytest.fixture(scope="module")
def scores():
    return te.Scores(list(planted()))


@pytest.fixture(scope="module")
def result(scores):
    return te.rankeval.run("selection", ["auc_pr", "f1_pa", "f1", "event_recall"], scores, criteria="points")


def rows_of(result):
    return {row["metric"]: row for row in result.table().rows}


def test_planted_detectors(result):
    """The criterion itself finds the better detector, a random number does not, F1-PA picks the wrong one."""
    rows = rows_of(result)
    assert rows[ITSELF]["pair"] == rows[ITSELF]["top"] == pytest.approx(1)
    assert rows["auc_pr"]["pair"] == pytest.approx(1)
    assert abs(rows[RANDOM]["pair"]) < 0.25
    assert rows["f1_pa"]["pair"] < -0.5
    assert rows["f1_pa"]["top"] < 0
    assert rows["auc_pr"]["verdict"] == "usable"
    assert rows["f1_pa"]["verdict"] == rows["f1_pa"]["verdict_top"] == "no better than chance"
    wrong = result.explain("f1_pa").rows[0]
    assert (wrong["chosen"], wrong["better"]) == ("one in ten", "finds all")
    assert wrong["better_worth"] - wrong["chosen_worth"] == pytest.approx(wrong["lost"])
    assert wrong["chosen_value"] > wrong["better_value"]
    assert result.explain("auc_pr").rows == []


def test_the_table_says_what_it_stands_on(result):
    text = repr(result)
    assert "12 series of one data set, 4 detectors" in text
    assert "95 % intervals over series, since there is one data set" in text
    row = rows_of(result)["auc_pr"]
    assert row["pair_low"] <= row["pair"] <= row["pair_high"]
    assert [row[f"n{n}"] for n in (1, 2, 5, 10)] == pytest.approx([1, 1, 1, 1])
    assert result.table()["auc_pr"] == row["pair"]
    assert "usable" in result.to_latex()


def test_kin_are_marked_and_have_an_index_without_the_criterion(scores):
    found = te.rankeval.run("selection", ["f1", "auc_pr"], scores, criteria=["points", "rare"])
    rows = rows_of(found)
    assert rows["f1"]["kin"] == "points"
    assert rows["f1"]["without_kin"] == rows["f1"]["pair_rare"]
    assert rows["f1"]["pair"] == pytest.approx((rows["f1"]["pair_points"] + rows["f1"]["pair_rare"]) / 2)
    assert rows["auc_pr"]["kin"] == ""
    assert rows["auc_pr"]["without_kin"] == rows["auc_pr"]["pair"]


def test_metrics_at_a_budget_are_kin_of_the_events_found_at_one(scores):
    found = te.rankeval.run(
        "selection", ["recall", "auc_pr"], scores, criteria=["events", "points"], threshold="budget(2)"
    )
    rows = rows_of(found)
    assert (rows["recall"]["kin"], rows["auc_pr"]["kin"]) == ("events", "")
    assert rows["recall"]["without_kin"] == rows["recall"]["pair_points"]


def caught(scoring, alarms):
    """Share of the anomalous points with an alarm, less ten times that of the normal ones."""
    mask = scoring.truth.mask
    return float(alarms[mask].mean() - 10 * alarms[~mask].mean())


def wrong(scoring, alarms):
    raise ValueError("not today")


def test_a_criterion_of_ones_own_and_costs(scores):
    found = te.rankeval.run("selection", "auc_pr", scores, criteria=[caught, "costs(missed=100)"])
    rows = rows_of(found)
    assert {"pair_caught", "pair_costs(missed=100)"} < set(rows["auc_pr"])
    assert rows[ITSELF]["pair_caught"] == pytest.approx(1)


def test_a_criterion_that_fails_is_an_error_and_the_others_go_on(scores):
    found = te.rankeval.run("selection", "auc_pr", scores, criteria=[wrong, "points"])
    frame = found.to_frame()
    assert set(frame["metric"][frame["status"] == "error"]) == {"wrong"}
    assert "not today" in frame["message"][frame["status"] == "error"].iloc[0]
    assert rows_of(found)["auc_pr"]["pair_points"] == pytest.approx(1)
    assert "wrong failed on 12 series, first with ValueError: not today" in repr(found)


def test_where_no_criterion_has_a_value_there_is_no_verdict(scores):
    rows = rows_of(te.rankeval.run("selection", "auc_pr", scores, criteria=wrong))
    assert rows["auc_pr"]["verdict"] == "undefined"


def test_costs_of_other_names_are_refused_before_anything_runs(scores):
    with pytest.raises(te.errors.InvalidParameterError, match=r"only costs\(missed=10, false_alarm=1\)"):
        te.rankeval.run("selection", "auc_pr", scores, criteria="costs(miss=50)")


def test_a_metric_that_is_undefined_everywhere_has_no_verdict_of_its_own(scores):
    def never(y_true, y_score):
        return float("nan")

    rows = rows_of(te.rankeval.run("selection", ["auc_pr", never], scores, criteria="points"))
    assert rows["never"]["verdict"] == "undefined"
    assert np.isnan(rows["never"]["pair"])


def test_two_verdicts_of_a_metric_that_puts_only_the_best_detector_second():
    def worth(scoring, alarms):
        return float(scoring.scores[0])

    def nearly(y_true, y_score):
        return 0.45 if y_score[0] == 1 else float(y_score[0])

    y = np.arange(50) // 10 % 2
    levels = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
    scores = te.Scores([(f"s{k}", str(u), y, np.full(50, u)) for k in range(10) for u in levels])
    found = te.rankeval.run("selection", [nearly, "auc_pr"], scores, criteria=worth)
    row = rows_of(found)["nearly"]
    assert (row["pair"], row["top"]) == (pytest.approx(7 / 8), pytest.approx((0.5 - 2.5 / 7) / (1 - 2.5 / 7)))
    assert (row["verdict"], row["verdict_top"]) == ("usable", "worse than usable")
    assert "usable; of all: worse than usable" in repr(found)


def test_a_criterion_by_which_no_detector_differs_says_nothing(scores):
    def alike(scoring, alarms):
        return 0.5

    rows = rows_of(te.rankeval.run("selection", "auc_pr", scores, criteria=[alike, "points"]))
    assert np.isnan(rows["auc_pr"]["pair_alike"])
    assert rows["auc_pr"]["pair"] == rows["auc_pr"]["pair_points"]
    assert rows["auc_pr"]["pair_low"] > 0
    assert rows["auc_pr"]["n10"] == pytest.approx(1)


def test_data_sets_by_groups_and_small_ones_are_left_out(scores):
    tuples = [(f"{one}{name}", *rest) for one in ("a", "b") for name, *rest in planted(10, seed=ord(one))]
    tuples += [(f"c{name}", *rest) for name, *rest in planted(3)]
    with pytest.warns(te.errors.InputWarning, match="fewer than 10 series: c has 3 of 3"):
        found = te.rankeval.run(
            "selection", "auc_pr", te.Scores(tuples), criteria="points", groups=lambda name: name[0]
        )
    assert [(one.name, len(one.series)) for one in found.plan.sets] == [("a", 10), ("b", 10)]
    assert "20 series of 2 data sets" in repr(found)
    assert "over data sets (few: somewhat narrow)" in repr(found)


def test_files_of_a_folder_are_data_sets(tmp_path):
    import pandas as pd

    for one in ("x", "y"):
        parts = {}
        for name, detector, y, s in planted(10, seed=ord(one)):
            parts.setdefault(name, {"series": f"{one}{name}", "label": y})[detector] = s
        pd.concat(map(pd.DataFrame, parts.values())).to_parquet(tmp_path / f"{one}.parquet")
    found = te.rankeval.run("selection", "auc_pr", tmp_path, criteria="points")
    assert [one.name for one in found.plan.sets] == ["x", "y"]


def test_a_store_gives_the_same_table_and_computes_nothing_again(scores, tmp_path):
    first = te.rankeval.run("selection", ["auc_pr", "f1_pa"], scores, criteria=["points", "events"], store=tmp_path)
    again = te.rankeval.read(tmp_path)
    assert again.table().rows == first.table().rows
    assert again.explain("f1_pa").rows == first.explain("f1_pa").rows
    parts = sorted(tmp_path.rglob("*.parquet"))
    te.rankeval.run("selection", ["f1_pa", "auc_pr"], scores, criteria=["events", "points"], store=tmp_path)
    assert sorted(tmp_path.rglob("*.parquet")) == parts
    te.rankeval.run("selection", ["f1_pa", "auc_pr"], scores, criteria=["events", caught], store=tmp_path)
    assert sorted(tmp_path.rglob("*.parquet")) != parts


def test_the_same_values_from_worker_processes(scores, result):
    found = te.rankeval.run("selection", ["auc_pr", "f1_pa", "f1", "event_recall"], scores, criteria="points", n_jobs=2)
    assert repr(found.table().rows) == repr(result.table().rows)  # NaN is not equal to itself


def test_scores_of_any_scale_are_tried_between_their_lowest_and_highest(scores):
    scaled = te.Scores([(s, d, y, 50 * x - 7) for s, d, y, x in planted()])
    rows = rows_of(te.rankeval.run("selection", "auc_pr", scaled, criteria=["events", "points"]))
    assert rows[ITSELF]["pair_points"] == pytest.approx(1)


def test_too_few_series_are_refused():
    with pytest.raises(te.errors.InvalidInputError, match=r"10 series .* all has 4 of 4"):
        te.rankeval.run("selection", "auc_pr", te.Scores(list(planted(4))))
    with pytest.raises(te.errors.InvalidParameterError, match="suite 'selection' needs data"):
        te.rankeval.run("selection", "auc_pr")


def test_a_table_with_one_column_of_scores(tmp_path):
    import pandas as pd

    rows = [pd.DataFrame({"series": k, "detector": d, "label": y, "score": s}) for k, d, y, s in planted(10)]
    pd.concat(rows).to_csv(tmp_path / "long.csv", index=False)
    for by in ("series,detector", ["series", "detector"]):
        found = te.rankeval.run("selection", "auc_pr", tmp_path / "long.csv", by=by, criteria="points")
        assert "10 series of one data set, 4 detectors" in repr(found)
        assert rows_of(found)["auc_pr"]["pair"] == pytest.approx(1)
    with pytest.raises(
        te.errors.InvalidInputError, match=r"data has no series with both .*by=\['series', 'detector'\]"
    ):
        te.rankeval.run("selection", "auc_pr", tmp_path / "long.csv", criteria="points")


def test_command(tmp_path):
    import pandas as pd

    parts = {}
    for name, detector, y, s in planted(10):
        parts.setdefault(name, {"series": name, "truth": y})[detector] = s
    pd.concat(map(pd.DataFrame, parts.values())).to_csv(tmp_path / "scores.csv", index=False)
    data = "--suite", "selection", "--data", "scores.csv", "--label", "truth"
    ran = commands.run("rankeval", "run", *data, "--metrics", "f1_pa", "--criteria", "points", cwd=tmp_path)
    assert "no better than chance" in ran.stdout
    (tmp_path / "mine.py").write_text(
        "def wrong(scoring, alarms):\n    raise ValueError('not today')\n", encoding="utf-8"
    )
    own = "--metrics", "f1_pa", "--criteria", "mine:wrong", "--store", "runs/own"
    assert "mine:wrong failed on 10 series" in commands.run("rankeval", "run", *data, *own, cwd=tmp_path).stderr
    shown = commands.run("rankeval", "explain", "runs/selection", "f1_pa", cwd=tmp_path)
    assert "one in ten" in shown.stdout
    drawing = "rankeval", "explain", "runs/selection", "f1_pa", "--pairs", "2", "-o", "pictures"
    assert "add --data" in commands.run(*drawing, cwd=tmp_path).stderr
    drawn = commands.run(*drawing, "--data", "scores.csv", cwd=tmp_path)
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == ["explain-1.png", "explain-2.png"]
    assert "explain-2.png" in drawn.stderr


# `pair` and `top` on the published scores, by an earlier implementation of the same protocol.
CHECKED = {
    "ears": (0.7200, 0.8004),
    "auc_pr": (0.7301, 0.7636),
    "vus_pr": (0.7189, 0.7509),
    "cce": (0.6576, 0.7253),
    "cce(normalize='robust')": (0.7099, 0.6458),
    "f1_pa": (0.2375, -0.0364),
}
MEANS = {"events": 0.2874, "early": 0.1995, "costs": 0.2383, "points": 0.2766, "rare": 0.1275}
EARS = {"events": 0.5794, "early": 0.6751, "costs": 0.6868, "points": 0.8331, "rare": 0.8259}  # pair


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the published scores are not part of the repository")
def test_published_scores():
    with pytest.warns(te.errors.InputWarning, match=r"Dodgers has 1 of 1 .* Genesis has 6 of 6 .* MGAB has 5 of 5"):
        found = te.rankeval.run("selection", list(CHECKED), SHARED / "scores" / "Theseus", n_jobs=2)
    assert sum(len(one.series) for one in found.plan.sets) == 201
    rows = rows_of(found)
    assert {name: (round(rows[name]["pair"], 4), round(rows[name]["top"], 4)) for name in CHECKED} == CHECKED
    assert {name: round(rows["ears"][f"pair_{name}"], 4) for name in EARS} == EARS
    assert (rows["f1_pa"]["verdict"], rows["f1_pa"]["verdict_top"]) == ("worse than usable", "no better than chance")
    assert "worse than usable; of all: no better than chance" in repr(found)
    frame = found.to_frame()
    frame = frame[frame["kind"] == "criterion"].set_index(["metric", "series", "detector"])["curve"]
    means = {name: [] for name in MEANS}
    for name, one in itertools.product(MEANS, found.plan.sets):
        for detector in one.detectors:
            curves = [json.loads(frame[name, series, detector]) for series in one.series]
            halves = range(0, len(curves), 2), range(1, len(curves), 2)
            for a, b in (halves, halves[::-1]):
                means[name].append(naive.transferred(curves, a, b)[0])
    assert {name: round(np.mean(found), 4) for name, found in means.items()} == MEANS


def test_pictures(scores, result, tmp_path):
    ax = te.plot.selection(result)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names[0] == ITSELF
    assert names[-1] == RANDOM
    assert "F1-PA" in names
    row = result.explain("f1_pa").rows[0]
    ax = te.plot.misled(result, "f1_pa", scores)
    assert row["series"] in ax.get_title(loc="left")
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert shown == [
        f"{row[role]}\nF1-PA {row[f'{role}_value']:.3g}\npoints {row[f'{role}_worth']:.2f}"
        for role in ("chosen", "better")
    ]
    with pytest.raises(te.errors.InvalidInputError, match="0 wrong choices by auc_pr"):
        te.plot.misled(result, "auc_pr", scores)
    assert [path.name for path in te.plot.write_figures(result, tmp_path)] == ["selection.png"]
    found = result.explain("f1_pa", pairs=2)
    written = te.plot.write_explanation(found, tmp_path, format="svg", scores=scores)
    assert [path.name for path in written] == ["explain-1.svg", "explain-2.svg"]
    with pytest.raises(te.errors.InvalidInputError, match="add scores="):
        te.plot.write_explanation(found, tmp_path)
