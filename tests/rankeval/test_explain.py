"""Why a metric loses: wrong pairs by hand, and the explanations of all suites."""

import json
import math

import numpy as np
import pytest

import commands
import tsadeval as te
from tsadeval.rankeval.quality import order_pairs
from tsadeval.rankeval.suites.hard_controls import change_between, control_pairs

NAN = math.nan


def clipped(y_true, y_score):
    """F1 of the points above the 99 % quantile: none where many points share the largest score."""
    alarms = y_score > np.quantile(y_score, 0.99)
    return 2 * float(alarms @ y_true) / float(alarms.sum() + y_true.sum())


def blind(y_true, y_score):
    """One value for everything."""
    return 0.5


def test_pairs_by_hand():
    values = np.array([[0.1, 0.4, 0.2], [0.3, 0.3, 0.5]])
    pairs, counts = order_pairs(values)
    assert counts == {"pairs": 6, "reversed": 1, "tied": 1}
    assert [tuple(pair[:4]) for pair in pairs] == [(0, 1, 2, "reversed"), (1, 0, 1, "tied")]
    assert pairs[0].severity == pytest.approx(0.2 / 0.4 * 1)  # over the range .1 to .5, one place apart
    assert pairs[1].severity == 0
    first, last = order_pairs(np.array([[1.0, 0.5, 0.5, 0.5, 0.5, 0.0]]))[0][0][3:]
    assert (first, last) == ("reversed", 5)  # the most there is


def test_ties_come_first_where_they_are_the_usual_mistake():
    pairs, counts = order_pairs(np.array([[0.2, 0.2, 0.2, 0.1]]))
    assert counts == {"pairs": 6, "reversed": 3, "tied": 3}
    assert pairs[0].verdict == "reversed"
    pairs, counts = order_pairs(np.array([[0.0, 0.0, 0.0, 0.0], [0.2, 0.3, 0.4, 0.1]]))
    assert counts == {"pairs": 12, "reversed": 3, "tied": 6}
    assert tuple(pairs[0]) == (0, 0, 3, "tied", 0)  # the two that are farthest apart in truth


def test_values_that_are_undefined_come_last():
    pairs, counts = order_pairs(np.array([[0.1, NAN, 0.3], [NAN, NAN, 0.3]]))
    assert counts == {"pairs": 6, "reversed": 1, "tied": 1}
    assert [tuple(pair) for pair in pairs] == [(0, 0, 1, "reversed", 1)]


def test_controls_by_hand():
    names = ["reference", "x", "y", "random", "perfect"]
    pairs = control_pairs(np.array([[0.6, 0.7, 0.601, 0.1, 1.0]]), names)
    assert [(names[p.worse], names[p.better], p.verdict) for p in pairs] == [("reference", "x", "unequal")]
    assert pairs[0].severity == pytest.approx(0.1 / 0.5)
    row = np.array([0.6, 0.7, 0.601, 0.1, 1.0])
    assert change_between(row, names, 0, 1) == pytest.approx(0.1 / 0.5)
    assert change_between(row, names, 0, 2) == 0


@pytest.fixture(scope="module")
def hard():
    tasks = ["delay", "fragments", "heavy_tail", "low_fpr", "jitter", "chance"]
    return te.rankeval.run("hard", [clipped, blind, "ears", "f1"], tasks=tasks, repeats=2)


def test_a_mistake_is_said_in_words_with_another_metric_beside(hard):
    found = hard.explain("f1 at best")
    row = next(row for row in found.rows if row["task"] == "fragments")
    assert (row["pairs"], row["reversed"] + row["tied"] > 0) == (30, True)
    assert row["worse_is"] != row["better_is"]
    assert row["worse_is"].startswith("finds half of each event in ")
    worse, better = found.cases(row)
    assert te.metrics.ears(worse.labels, worse.scores) == row["beside_worse"]
    assert te.metrics.ears(better.labels, better.scores) == row["beside_better"]
    assert row["beside_verdict"] == ("right" if row["beside_better"] > row["beside_worse"] else "reversed")
    assert row["meaning"] == (
        f"f1 prefers a detector that {row['worse_is']} to one that {row['better_is']}, which is better by construction."
    )
    text = repr(found)
    places = {name: row["place"] for name, row in ((row["name"], row) for row in hard.table().rows)}
    assert text.startswith(
        f"f1 at best: index {found.index:.3f}, place {places['f1 at best']} of 5 rows (4 metrics) in this run\n"
    )
    assert f"worse: {row['worse_is']}" in text
    assert "severity of a reversed pair: difference of its two values / range" in text
    assert "wrong " not in text


def test_what_the_shares_of_pairs_say():
    def turned(y_true, y_score):
        return -te.metrics.auc_roc(y_true, y_score)

    result = te.rankeval.run("hard", [turned, "auc_roc"], tasks=["lag", "delay"], repeats=6)
    assert result.explain(turned).rows[0]["pattern"] == "it rewards the opposite of what the task asks for"
    found = {row["task"]: row for row in result.explain("auc_roc", tasks=None).rows}
    assert found["delay"]["pattern"] == "nearly as by chance, so its order here says little"
    assert found["lag"]["pattern"] == ""
    assert "turned ranks models in reverse: is lower better?" in repr(result)


def test_only_the_worst_tasks_are_shown(hard):
    name = "clipped"
    quality = next(row for row in hard.table().rows if row["name"] == name)
    order = sorted(hard.plan.tasks, key=lambda task: quality[task.name])
    assert len({row["task"] for row in hard.explain("f1").rows}) == 5
    two = hard.explain(name, tasks=2, pairs=2)
    assert list(dict.fromkeys(row["task"] for row in two.rows)) == [task.name for task in order[:2]]
    assert {row["task"] for row in hard.explain(name, tasks=None).rows} <= {task.name for task in order}
    with pytest.raises(te.errors.InvalidParameterError, match="tasks must be"):
        hard.explain(name, tasks=0)


def test_ties_are_explained(hard):
    found = hard.explain(blind)
    assert {row["verdict"] for row in found.rows} == {"tied"}
    assert found.totals == {"pairs": 120, "reversed": 0, "tied": 120}
    assert "it reverses 0 (0 %) and ties 120 (100 %)" in repr(found)
    assert "blind does not tell a detector that" in repr(found)
    assert {row["pattern"] for row in found.rows} == {"it hardly puts these models in any order"}
    assert "little or no score on jitter, chance: its values there are undefined or all the same" in repr(found)


def test_controls_are_explained(hard):
    rows = {row["task"]: row for row in hard.explain("ears", tasks=None).rows}
    assert rows["jitter"]["beside"] == "vus_pr"  # beside itself EARS says nothing
    assert rows["jitter"]["better_is"].startswith("its scores, labels moved by up to ")
    assert "difference between it and random scores" in rows["jitter"]["meaning"]
    assert rows["jitter"]["beside_verdict"].endswith(" x skill")
    assert "reference: a detector of some skill" in repr(hard.explain("ears"))
    assert "Neither of the two has any skill" in hard.explain("f1", tasks=None).rows[0]["meaning"] or "chance" in rows


def test_every_case_of_every_task_has_words():
    for task in te.rankeval.HARD_TASKS.values():
        cases = task.draw(np.random.default_rng(0))
        named = [case.name for case in cases if not case.name.startswith(("random", "perfect"))]
        words = [task.describe(name) for name in named]
        assert len(set(words)) == len(named), task.name
        assert all(word != name for word, name in zip(words, named, strict=True))


def test_places_are_printed(hard):
    table = hard.table()
    assert [row["place"] for row in table.rows] == sorted(row["place"] for row in table.rows)
    own = next(row for row in table.rows if row["name"] == "clipped")
    assert f"clipped: place {own['place']} of 5 rows (4 metrics) in this run, by index" in repr(table)


def hit(y_true, y_pred):
    """Is any event found? Some threshold says so for every detector."""
    return float(y_pred[y_true == 1].any())


def test_the_best_threshold_is_that_of_the_metric():
    result = te.rankeval.run("hard", [hit, "f1"], tasks=["delay", "glitch"], repeats=1)
    found = result.explain(hit)
    assert "both get the same value, each at its own threshold, the one that is best" in found.rows[0]["meaning"]
    text = repr(found)
    assert 'this is hit at best; for the other rule, explain "hit at quantile(0.95)"' in text
    assert "some threshold gives every detector here the value 1: judge hit at another rule" in text
    assert '"at best": each detector at its own best threshold' in text
    assert '"at best": each detector at its own best threshold' in repr(result)
    for other in (result.explain("hit at quantile(0.95)"), result.explain(hit, rule="quantile(0.95)")):
        assert repr(other).startswith("hit at quantile(0.95): index")
        assert "this is hit" not in repr(other)
        assert '"at best"' not in repr(other)
    assert "some threshold" not in repr(result.explain("f1"))
    assert '"at best"' not in repr(te.rankeval.run("hard", "auc_roc", tasks=["delay"], repeats=1))


@pytest.fixture(scope="module")
def quick():
    cases = ["10k-20seg-50H", "10k-5seg-20H"]
    return te.rankeval.run("quick", [clipped, "f1", "auc_roc"], cases=cases, tasks=["AccQ", "PreQ-NegP-P"])


@pytest.mark.slow
def test_ties_are_the_cause_in_the_quick_suite(quick):
    found = quick.explain(clipped)
    # By hand: all pairs of all rankings, from the values themselves.
    frame = quick.to_frame()
    frame = frame[frame["metric"] == "clipped"]
    tied = reversed_ = pairs = 0
    for (generator, _, _), some in frame.groupby(["generator", "case", "sigma"]):
        for _, ranking in some.groupby("q") if generator == "PreQ-NegP" else [(None, some)]:
            by = -ranking["p"] if generator == "PreQ-NegP" else ranking["q"]
            values = ranking["value"].to_numpy()[np.argsort(by.to_numpy())]
            for i in range(len(values)):
                pairs += len(values) - i - 1
                tied += int((values[i + 1 :] == values[i]).sum())
                reversed_ += int((values[i + 1 :] < values[i]).sum())
    assert found.totals == {"pairs": pairs, "reversed": reversed_, "tied": tied}
    assert tied > 3 * reversed_ > 0
    spearman = [row["spearman"] for row in found.rows]
    assert spearman == sorted(spearman)
    text = repr(found)
    assert "clipped, suite quick: average Spearman" in text
    assert "place 3 of 3 in this run" in text
    assert "score >= quantile" in text
    assert "the tied models have the value 0" in text
    assert 'te.rankeval.run("hard", ["recommended", clipped]).explain(clipped)' in text
    assert "tsadeval rankeval run --suite hard --metrics recommended,auc_roc" in repr(quick.explain("AUC-ROC"))
    assert "score >= quantile" not in repr(quick.explain("f1"))


def test_worst_pairs_are_those_of_the_values(quick):
    frame = quick.to_frame().set_index(["metric", "case", "generator", "sigma", "q", "p"])["value"].sort_index()
    for row in quick.explain(clipped).rows:
        if row["verdict"] is None:
            assert row["reversed"] == row["tied"] == 0
            continue
        for side in ("worse", "better"):
            named = dict(part.split(" = ") for part in (row[side], row["fixed"]) if part)
            generator = "AccQ" if row["task"] == "AccQ" else "PreQ-NegP"
            some = frame["clipped", row["case"], generator, row["sigma"], float(named["q"])]
            value = some.iloc[0] if generator == "AccQ" else some[float(named["p"])]
            assert row[f"{side}_value"] == value
        assert (row["verdict"] == "tied") == (row["worse_value"] == row["better_value"])


def test_metrics_are_sorted_by_quality_unless_asked_otherwise(quick):
    table = quick.table()
    assert list(table) == sorted(table, key=lambda name: -table[name])
    assert list(quick.table(order="given")) == ["clipped", "f1", "auc_roc"]
    assert list(quick.robustness(order="given")) == ["clipped", "f1", "auc_roc"]
    assert table.places["clipped"] == quick.table(order="given").places["clipped"] == 3
    assert quick.robustness().places["clipped"] == 3
    text = repr(table)
    assert "clipped: place 3 of 3 in this run, by average Spearman" in text
    assert "no alarms: series on which the threshold rule raised none; - for a metric of scores" in text
    with pytest.raises(te.errors.InvalidParameterError, match="order must be"):
        quick.table(order="name")


def test_a_metric_without_values_is_explained():
    def fails(y_true, y_score):
        raise ValueError("no")

    result = te.rankeval.run("quick", [fails, "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
    assert list(result.table()) == ["auc_roc", "fails"]
    assert result.table().places == {"auc_roc": 1, "fails": None}
    assert "fails failed on 30 series, first with ValueError: no (" in repr(result)
    assert "fails: place" not in repr(result)
    found = result.explain(fails)
    assert found.totals == {"pairs": 0, "reversed": 0, "tied": 0}
    text = repr(found)
    assert text.startswith("fails, suite quick: average Spearman nan, no place in this run\n")
    assert "fails failed on 30 of 30 series" in text
    assert "the first with ValueError: no (" in text
    assert " % " not in text


@pytest.mark.slow
def test_averages_are_those_of_the_table():
    def some(y_true, y_score):
        if y_true.sum() < 200 and y_score.mean() > 0.05:
            raise ValueError("too loud for labels as few as these")
        return clipped(y_true, y_score)

    result = te.rankeval.run("quick", [clipped, some])
    table = result.table()
    for name in (clipped, some):
        found = result.explain(name)
        known = [row for row in found.rows if not math.isnan(row["spearman"])]
        tasks = {
            row["task"]: row for row in table.rows if row["metric"] == name.__name__ and row["indicator"] == "spearman"
        }
        grids = dict(found._grids())
        assert {task: float(value) for task, _, value, *_ in grids["by task"][1:]} == pytest.approx(
            {task: row["value"] for task, row in tasks.items() if task != "average"}, abs=6e-4
        )
        assert sum(count for _, count, *_ in grids["by label set (case)"][1:]) == len(known)
        of_noise = [float(row[2]) for row in grids["by noise (sigma)"][1:]]
        assert np.mean(of_noise) == pytest.approx(table[name.__name__], abs=1e-3)
        assert f" and {100 * tasks['average']['ties']:.1f} %\n" in repr(found)
    by_case = [float(row[2]) for row in grids["by label set (case)"][1:]]
    assert by_case == sorted(by_case)
    assert len(known) < len(found.rows)
    assert "check_properties(some) says (mirror)" in repr(found)
    assert "some failed on" in repr(result)


def test_an_own_metric_is_told_which_known_one_it_is_like():
    def half(y_true, y_score):
        return 0.5 * te.metrics.auc_roc(y_true, y_score)

    cases = ["10k-2seg-50L", "10k-5seg-20H"]
    result = te.rankeval.run("quick", ["f1", "auc_roc", "auc_pr", half], cases=cases)
    words = " ".join(repr(result.explain(half)).split())
    assert "its values are most like those of auc_roc (1.00), then " in words
    assert "most like those of" not in repr(result.explain("f1"))
    alone = te.rankeval.run("quick", half, cases=cases[:1])
    assert "most like those of" not in repr(alone.explain(half))


def test_properties_show_that_equal_scores_are_ordered_by_position():
    def first(y_true, y_score):
        return float(y_true[np.argsort(-y_score, kind="stable")[: y_true.sum()]].mean())

    found = te.rankeval.check_properties([first, "auc_roc"], ["mirror"], longest=4)
    assert found.status("first", "mirror") == "fails"
    assert found.status("auc_roc", "mirror") == "by definition"


def test_an_audit_is_explained():
    rng = np.random.default_rng(0)
    label = np.arange(400) // 20 == 9
    scores = [
        (name, detector, label, rng.random(400) + up * label)
        for name, detector, up in (("one", "a", 1), ("one", "b", 0), ("two", "a", 0), ("two", "b", 0))
    ]
    series = te.Scores(scores, values={name: rng.random(400) for name in ("one", "two")})
    audit = te.rankeval.audit(series, ["f1_pa", clipped])
    found = audit.explain("f1_pa")
    example = audit.example("f1_pa")
    first = found.rows[0]
    assert {key: first[key] for key in example} == example
    assert [row["series"] for row in found.rows] == ["two", "one"] or first["series"] == example["series"]
    assert np.mean([row["reached"] for row in found.rows]) == audit.table()["f1_pa"]
    assert "f1_pa: gameability" in repr(found)
    assert len(audit.explain(clipped, series=1)._grids()[0][1]) == 2


def test_an_audit_names_the_metrics_that_order_real_detectors_alike():
    rng = np.random.default_rng(0)
    label = np.arange(400) // 20 == 9
    scores = [
        (name, detector, label, rng.random(400) + up * label)
        for name in ("one", "two", "three")
        for detector, up in (("a", 1), ("b", 0.3), ("c", 0))
    ]
    audit = te.rankeval.audit(te.Scores(scores), ["auc_roc", clipped])
    said = f"its values are most like those of auc_roc ({audit.agreement().between(clipped, 'auc_roc'):.2f}): Spearman"
    assert "nan" not in said
    assert said in repr(audit.explain(clipped))
    assert "most like those of" not in repr(audit.explain("auc_roc"))


@pytest.mark.slow
def test_the_command_explains_every_suite(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def gap(y_true, y_score):\n    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()\n"
    )
    small = ["--cases", "10k-20seg-50H", "--tasks", "AccQ", "--jobs", "1"]
    done = commands.run("rankeval", "run", "--metrics", "auc_pr,mine:gap", *small, "--order", "given", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tsadeval: why it loses: tsadeval rankeval explain runs/quick mine:gap" in done.stderr
    names = [line.split()[0] for line in done.stdout.splitlines() if line.startswith(("auc_pr ", "mine:gap "))]
    assert names[:2] == ["auc_pr", "mine:gap"]
    done = commands.run("rankeval", "explain", "runs/quick", "gap", "-o", "pictures", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    hard = "tsadeval rankeval run --suite hard --metrics recommended,mine:gap"
    assert hard in done.stdout
    assert "pictures are of the suites hard and selection" in done.stderr
    small = ["--suite", "hard", "--tasks", "transform,glitch", "--repeats", "2", "--jobs", "1"]
    assert commands.run("rankeval", "run", "--metrics", "mine:gap,ears", *small, cwd=tmp_path).returncode == 0
    done = commands.run("rankeval", "explain", "runs/hard", "gap", "--tasks", "1", "-o", "pictures", cwd=tmp_path)
    assert done.stdout.startswith("mine:gap: index ")
    assert "2. " not in done.stdout
    assert len(list((tmp_path / "pictures").iterdir())) == 1
    rows = json.loads(commands.run("rankeval", "explain", "runs/hard", "gap", "--format", "json", cwd=tmp_path).stdout)
    assert {row["beside"] for row in rows} == {"ears"}


def test_the_help_names_the_sets():
    text = " ".join(commands.run("rankeval", "run", "--help").stdout.replace("│", " ").split())
    for name in ("recommended:", "paper:", "all:", "mine:function"):
        assert name in text
