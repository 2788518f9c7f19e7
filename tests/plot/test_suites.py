"""Figures of the suite `hard` and of audits, and the commands that write them."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import commands
import tsadeval as te
from tsadeval.plot.suites import _stretch

pytestmark = pytest.mark.slow


def poor(y_true, y_score):
    """Mean score of the anomalous points over the largest score."""
    return float(y_score[y_true == 1].mean() / np.abs(y_score).max())


@pytest.fixture(scope="module")
def result():
    return te.rankeval.run("hard", ["ears", "auc_roc", poor], tasks=["transform", "delay", "glitch"], repeats=2)


@pytest.fixture(scope="module")
def series():
    rng = np.random.default_rng(0)
    label = np.arange(400) // 20 == 9
    names = ("one", "two")
    scores = [
        (name, detector, label, rng.random(400) + up * label) for name in names for detector, up in (("a", 1), ("b", 0))
    ]
    return te.Scores(scores, values={name: rng.random(400) for name in names})


def test_tasks_by_metrics(result):
    ax = te.plot.hard_tasks(result)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["transform", "delay", "glitch"]
    assert len(ax.get_legend().get_texts()) == 3
    drawn = {line.get_label().split(" (")[0]: line.get_xdata() for line in ax.lines if " (" in line.get_label()}
    rows = {row["name"]: row for row in result.table().rows}
    assert list(drawn["ears"]) == [rows["ears"][task] for task in ("transform", "delay", "glitch")]
    one = te.plot.hard_tasks(result.table(), metrics=["ears"])
    assert len(one.get_legend().get_texts()) == 1
    with pytest.raises(te.errors.UnknownNameError, match="did you mean ears"):
        te.plot.hard_tasks(result, metrics=["eras"])


def test_a_worst_pair_shows_both_models(result):
    found = result.explain("poor", pairs=1)
    for row in found.rows:
        ax = te.plot.worst_pair(found, row)
        text = " ".join(t.get_text() for t in ax.texts).replace("\n", " ")
        assert row["worse_is"] in text
        assert row["better_is"] in text
        assert f"poor {row['worse_value']:.4g}, EARS {row['beside_worse']:.4g}" in text
        assert not [c for c in ax.collections if c.get_gid() == "alarms"]  # a metric of scores has none
        low, high = ax.get_xlim()
        assert high - low <= 1200
        bottom, top = ax.get_ylim()
        assert bottom < 0 < top  # higher scores are drawn higher
        ax.figure.draw_without_rendering()
        above, below = (text.get_window_extent() for text in ax.texts)
        assert above.y0 > below.y1  # the texts do not touch


def test_alarms_are_marked_at_the_rule_of_the_run():
    result = te.rankeval.run("hard", ["f1"], tasks=["fragments"], repeats=1)
    for rule, words in (("best", "the best threshold"), ("quantile(0.95)", "quantile(0.95)")):
        found = result.explain("f1", rule=rule)
        row = found.rows[0]
        ax = te.plot.worst_pair(found, row)
        assert ax.get_xlabel().replace("\n", " ").endswith(f"bars below: alarms at {words}")
        low, high = (round(edge + 0.5) for edge in ax.get_xlim())
        upper, lower = [c for c in ax.collections if c.get_gid() == "alarms"]
        for bars, alarms, case in zip((upper, lower), found.alarms(row), found.cases(row), strict=True):
            spans = [path.get_extents() for path in bars.get_paths()]
            assert sum(span.width for span in spans) == pytest.approx(alarms[low:high].sum())
            assert te.metrics.f1(case.labels, alarms) in (
                pytest.approx(row[v]) for v in ("worse_value", "better_value")
            )


def test_nuisances_by_metrics(result):
    ax = te.plot.hard_sensitivity(result)
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"glitch: {i} wild" for i in (1, 2, 3)]
    drawn = {line.get_label(): line.get_xdata() for line in ax.lines}
    assert list(drawn) == ["poor", "ears", "auc_roc"]  # a user's own metric comes first, whatever its index
    rows = result.sensitivity().rows
    assert list(drawn["ears"]) == [row["value"] for row in rows if row["name"] == "ears"]
    assert list(drawn["poor"]) == [1, 1, 1]  # one wild score takes all of its skill
    quality = {row["name"]: row["glitch"] for row in result.table().rows}
    assert quality["ears"] == pytest.approx(1 - np.mean(drawn["ears"]))
    assert "3 wild" in repr(result.sensitivity())
    orders = te.rankeval.run("hard", "auc_roc", tasks=["rare"], repeats=1)
    with pytest.raises(te.errors.InvalidInputError, match="no control"):
        te.plot.hard_sensitivity(orders)


def test_a_rare_event_is_in_the_picture():
    found = te.rankeval.run("hard", [poor, "cce"], tasks=["rare", "resolution"], repeats=6).explain("poor", pairs=9)
    assert {row["task"] for row in found.rows} == {"rare", "resolution"}
    for row in found.rows:
        ax = te.plot.worst_pair(found, row)
        low, high = ax.get_xlim()
        spans = [patch.get_paths()[0].get_extents() for patch in ax.collections]
        assert any(low < span.x0 and span.x1 < high for span in spans)
        if row["task"] == "resolution":
            assert "scaled to the length" in ax.get_xlabel()
            one, other = (sorted(s.x0 for s in spans if (s.y0 > 1) == upper) for upper in (True, False))
            assert one == pytest.approx(other, abs=4)  # the same events at the same places


def test_an_event_of_both_series_is_in_the_picture_where_their_labels_differ():
    found = te.rankeval.run("hard", [poor, "f1_pa"], tasks="chance", repeats=3).explain("poor", pairs=20)
    for row in found.rows:
        ax = te.plot.worst_pair(found, row)
        ends = ax.get_xlim()
        for case, upper in zip(found.cases(row), (True, False), strict=True):
            spans = [path.get_extents() for drawn in ax.collections for path in drawn.get_paths()]
            spans = [span for span in spans if (span.y0 > 1) == upper]
            borders = [edge for span in spans for edge in (span.x0, span.x1) if ends[0] < edge < ends[1]]
            assert borders, f"{row['worse']}, {row['better']}: no event begins or ends"
            assert all(case.labels[int(np.ceil(edge - 1))] != case.labels[int(np.ceil(edge))] for edge in borders)


def test_events_too_far_from_each_other_are_drawn_on_the_whole_series():
    early, late = (np.arange(9000) // 10 == place for place in (10, 890))
    one, other = (SimpleNamespace(scores=np.zeros(9000), labels=labels) for labels in (early, late))
    assert _stretch(one, other) == (0, 9000)
    start, stop = _stretch(one, one)
    assert (start < 100, stop > 110, stop - start) == (True, True, 1200)


def test_equal_scores_are_drawn_as_a_level_line():
    found = te.rankeval.run("hard", poor, tasks="chance", repeats=1).explain("poor", pairs=1)
    lines = [line.get_ydata() for line in te.plot.worst_pair(found, found.rows[0]).lines]
    assert [np.ptp(line) > 0 for line in lines] == [
        not name.startswith("constant") for name in (found.rows[0]["worse"], found.rows[0]["better"])
    ]
    assert not all(np.ptp(line) > 0 for line in lines)


def test_pictures_of_an_explanation(result, tmp_path):
    found = result.explain("poor")
    paths = te.plot.write_explanation(found, tmp_path / "pictures", format="svg")
    assert {path.stem for path in paths} == {f"explain-{row['task']}" for row in found.rows}
    assert all(path.stat().st_size > 1000 for path in paths)
    with pytest.raises(te.errors.InvalidParameterError, match="format"):
        te.plot.write_explanation(found, tmp_path, format="bmp")
    (tmp_path / "file").touch()
    with pytest.raises(te.errors.InvalidInputError, match="cannot be made"):
        te.plot.write_explanation(found, tmp_path / "file")


def test_all_figures_of_a_run(result, series, tmp_path):
    names = [p.name for p in te.plot.write_figures(result, tmp_path)]
    assert names[:2] == ["hard-tasks.png", "hard-sensitivity.png"]
    assert {name.partition("-poor-")[0] for name in names[2:]} == {"explain"}
    audit = te.rankeval.audit(series, ["auc_pr", "f1_pa", "ears"])
    names = [p.name for p in te.plot.write_figures(audit, tmp_path)]
    assert names == ["gameability.png", "agreement.png"]
    ax = te.plot.agreement(audit.agreement(["auc_pr", "ears"]))
    assert [t.get_text() for t in ax.get_xticklabels()] == ["AUC-PR", "EARS"]
    ax = te.plot.gameability(audit)
    assert len(ax.get_legend().get_texts()) == 3
    ax = te.plot.fooled(audit, "f1_pa", series)
    example = audit.example("f1_pa")
    assert example["series"] in ax.get_title(loc="left")
    assert [t.get_text().split("\n")[0] for t in ax.get_yticklabels()] == [
        "series",
        example["detector"],
        example["adversary"],
    ]


@pytest.mark.parametrize("of", [dict, pd.DataFrame])
def test_series_of_an_audit_as_a_table_with_alarms_as_truth_values(of):
    label = np.arange(400) // 20 == 9
    table = of({"series": ["one"] * 400, "label": label, "good": label, "poor": np.arange(400) % 7})
    audit = te.rankeval.audit(table, ["f1"])
    assert te.plot.fooled(audit, "f1", table).get_title(loc="left") == "F1: one"


def test_series_of_an_audit(series):
    def mine(n, random):
        return np.full(n, 0.5)

    audit = te.rankeval.audit(series, ["accuracy", "auc_roc"], adversaries=[mine])
    assert audit.example("accuracy")["adversary"] in audit.names("no skill")
    ax = te.plot.fooled(audit, "accuracy", series, adversaries=[mine])
    assert len(ax.get_yticks()) == 3
    only = te.rankeval.audit(series, [poor], adversaries=[mine])  # a level line is as high as the largest score
    assert only.example("poor")["adversary"] == "mine"
    with pytest.raises(te.errors.InvalidInputError, match="adversaries must have 'mine'"):
        te.plot.fooled(only, "poor", series)
    with pytest.raises(te.errors.InvalidInputError, match="series must be those of the run"):
        te.plot.fooled(audit, "auc_roc", [("another", "a", np.arange(400) // 20 == 9, np.arange(400.0))])
    with pytest.raises(te.errors.InvalidInputError, match="there is no series to judge"):
        te.plot.fooled(audit, "auc_roc", [])
    label = np.arange(400) // 20 == 9
    alarms = {"a": np.arange(400) == 185, "b": np.arange(400) // 60 == 3}
    flat = [("one", name, label, 1.0 * points) for name, points in alarms.items()]
    apart = te.rankeval.audit(flat, ["precision", "recall"], threshold=0.9)
    ax = te.plot.disagreement(apart, "precision", "recall", flat)
    assert [t.get_text().split("\n") for t in ax.get_yticklabels()] == [
        ["a", "Precision 1", "Recall 0.05"],
        ["b", "Precision 0.333", "Recall 1"],
    ]
    assert "100 % of pairs opposite" in ax.get_title(loc="left")


def run(*arguments, cwd):
    return commands.run("rankeval", *arguments, cwd=cwd)


@pytest.mark.slow
def test_a_new_users_metric_is_ranked_and_explained_with_pictures(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "def metric(y_true, y_score):\n"
        "    return y_score[y_true == 1].mean() / np.abs(y_score).max()\n"
        "def task(random):\n"
        "    labels = np.arange(400) // 20 % 5 == 2\n"
        "    return labels, [level * labels + random.normal(size=400) for level in (0, 3, 9)]\n"
        "def fails(y_true, y_score):\n"
        "    raise ValueError('no')\n"
    )
    some = ["--suite", "hard", "--repeats", "2", "--store", "store"]
    done = run("run", "--metrics", "ears,mine:metric", "--tasks", "transform,glitch,mine:task", *some, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tsadeval rankeval explain store mine:metric -o pictures" in done.stderr
    assert "mine:metric" in done.stdout
    assert "mine:task" in done.stdout
    rows = json.loads(run("table", "store", "--format", "json", cwd=tmp_path).stdout)
    assert [row["metric"] for row in rows] == ["ears", "mine:metric"]
    explained = run("explain", "store", "mine:metric", "-o", "pictures", cwd=tmp_path)
    assert explained.returncode == 0, explained.stderr
    assert "better: scores events" in explained.stdout
    assert (tmp_path / "pictures" / "explain-transform.png").stat().st_size > 1000
    figures = run("figures", "store", "-o", "figures", cwd=tmp_path)
    assert "figures/hard-tasks.png" in figures.stdout
    assert "figures/hard-sensitivity.png" in figures.stdout
    assert "figures/explain-mine-metric-transform.png" in figures.stdout
    failed = run("run", "--metrics", "mine:fails", "--tasks", "rare", *some, cwd=tmp_path)
    assert failed.returncode == 1
    assert "--metrics recommended,mine:fails" in failed.stderr
    assert "mine:fails failed on 12 series, first with ValueError: no" in failed.stderr
    wrong = run("latency", "store", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "latency is of the suites" in wrong.stderr


@pytest.mark.slow
def test_audit_from_the_command_line(tmp_path, series):
    pd = pytest.importorskip("pandas")
    frames = [
        pd.DataFrame({"series": s.name, "value": s.values, "label": s.y_true.astype(int)}).assign(
            **{name: one.given.y_score for name, one in s.detectors.items()}
        )
        for s in series.by_series()
    ]
    pd.concat(frames).to_csv(tmp_path / "scores.csv", index=False)
    done = run("run", "--suite", "audit", "--data", "scores.csv", "--metrics", "auc_pr,f1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Audit on 2 series: 4 scorings of 2 detectors" in done.stdout
    assert "Audit on 2 series" in run("table", "runs/audit", cwd=tmp_path).stdout
    explained = run("explain", "runs/audit", "f1", cwd=tmp_path)
    assert explained.returncode == 0, explained.stderr
    assert explained.stdout.startswith("f1: gameability ")
    renamed = pd.concat(frames).rename(columns={"label": "gt", "series": "unit"})
    renamed.to_csv(tmp_path / "renamed.csv", index=False)
    (tmp_path / "mine.py").write_text("def scorer(n, random):\n    return random.normal(size=n)\n")
    columns = ["--label", "gt", "--by", "unit", "--score", "a", "--adversaries", "mine:scorer", "--metrics", "auc_pr"]
    done = run("run", "--suite", "audit", "--data", "renamed.csv", *columns, "--store", "other", cwd=tmp_path)
    assert "Audit on 2 series: 2 scorings of 1 detectors, 18 adversaries" in done.stdout, done.stderr
    wrong = run("run", "--suite", "hard", "--label", "gt", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "suite 'hard' has no label: leave label (--label) out; its options are tasks, repeats" in wrong.stderr
    missing = run("run", "--suite", "audit", cwd=tmp_path)
    assert missing.returncode == 2
    assert "needs data" in missing.stderr
