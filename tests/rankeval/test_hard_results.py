"""Results of the suite `hard`: explanations, metrics that fail, and stores."""

import math
import re

import numpy as np
import pytest

import tsadeval as te


def reverse(y_true, y_score):
    return y_score[y_true == 0].mean() - y_score[y_true == 1].mean()


def test_explanations_name_the_worst_pairs():
    result = te.rankeval.run("hard", ["auc_roc", reverse], tasks=["delay", "lag", "rare", "glitch"], repeats=2)
    found = result.explain("reverse", pairs=2, beside=None)
    assert found.reversed
    assert "is lower better?" in repr(found)
    assert "is lower better?" in repr(result)
    quality = [row["quality"] for row in found.rows]
    assert quality == sorted(quality)
    first = found.rows[0]
    assert (first["worse"], first["better"]) == ("model 1", "model 6")
    assert first["worse_value"] > first["better_value"]
    worse, better = found.cases(first)
    assert reverse(worse.labels, worse.scores) == pytest.approx(first["worse_value"])
    assert reverse(better.labels, better.scores) == pytest.approx(first["better_value"])
    assert not result.explain("auc_roc").reversed
    with pytest.raises(te.errors.UnknownNameError, match="auc_roc"):
        result.explain("auc_rok")
    with pytest.raises(te.errors.UnknownNameError, match="was not run at"):
        result.explain("auc_roc", rule="best")


def test_a_control_is_explained_by_what_should_be_equal():
    result = te.rankeval.run("hard", "cce", tasks=["glitch", "chance"], repeats=2)
    rows = result.explain("cce").rows
    assert {row["worse"] for row in rows if row["task"] == "glitch"} == {"reference"}
    assert max(row["severity"] for row in rows) > 0.5
    assert "x skill" in repr(result.explain("cce"))


def fails(y_true, y_score):
    raise ValueError("no")


def never(y_true, y_score):
    return float("nan")


def test_a_metric_without_any_value_has_no_place():
    result = te.rankeval.run("hard", [fails, "f1", never], tasks=["delay", "glitch"], repeats=1)
    *known, row, undefined = result.table().rows
    assert [one["place"] for one in known] == [1, 2]
    assert (row["name"], row["errors"], row["place"]) == ("fails", 6 + 6, None)
    assert (undefined["name"], undefined["undefined"], undefined["place"]) == ("never", 6 + 6, None)
    for one in (row, undefined):
        assert all(
            math.isnan(one[key]) for key in ("value", "index", "index_low", "order", "control", "delay", "glitch")
        )
    text = repr(result)
    assert "fails failed on 12 series, first with ValueError: no (" in text
    assert "never is undefined on 12 series, first with " in text
    assert "fails: place" not in text
    found = result.explain("fails")
    assert found.rows == []
    assert repr(found).startswith("fails: index nan, no place in this run\n\n")
    assert "ties" not in repr(found)
    assert "ValueError: no" in repr(found)
    line = next(line for line in te.plot.hard_tasks(result).lines if line.get_label().startswith("fails"))
    assert np.isnan(line.get_xdata()).all()


def test_a_metric_that_fails_on_one_task_is_not_placed():
    def half(y_true, y_score):
        if y_true.mean() < 0.01:
            raise ValueError("rare")
        return te.metrics.auc_roc(y_true, y_score) + 1

    result = te.rankeval.run("hard", [half, "auc_roc"], tasks=["rare", "delay"], repeats=2)
    rows = {row["name"]: row for row in result.table().rows}
    row = rows["half"]
    assert (row["errors"], row["incomplete"], rows["auc_roc"]["incomplete"]) == (12, ("rare",), ())
    assert math.isnan(row["rare"])
    assert row["index"] == pytest.approx(row["delay"] / 2)  # no order on the task that failed
    assert rows["auc_roc"]["place"] == 1
    text = repr(result)
    assert "half: not placed, it would be at place 2 of 2 in this run, by index" in text
    assert "half failed on 12 series, first with ValueError: rare" in text
    assert "half failed or has no value on 1 of 2 tasks (rare): not placed" in text
    assert re.search(r"^half +\(2\) ", text, re.M)
    assert re.search(r"^half +- +-?0\.\d\d", text, re.M)
    why = result.explain(half)
    assert repr(why).startswith(f"half: index {row['index']:.3f}, not placed, it would be at place 2 of 2 in this run")
    assert why.totals["pairs"] == 30  # those of delay: nothing was compared on the other task
    assert "half failed or has no value on 1 of 2 tasks (rare)" in repr(why)
    assert "half failed on 12 series, first on rare: ValueError: rare" in repr(why)


def test_nothing_is_gained_by_failing():
    # AUC-ROC turned round is worse than no order: an error in its place would lift it.

    def turned(y_true, y_score):
        if len(y_true) == 20_000:
            raise ValueError("long")
        return -te.metrics.auc_roc(y_true, y_score)

    def flat(y_true, y_score):
        return float(len(y_true))

    def sometimes(y_true, y_score):
        if y_score.max() > 12:
            return math.nan if y_score.max() > 1000 else [][0]
        return te.metrics.auc_roc(y_true, y_score)

    result = te.rankeval.run("hard", [turned, flat, sometimes], tasks=["rare", "heavy_tail", "dominance"], repeats=1)
    rows = {row["name"]: row for row in result.table().rows}
    assert rows["flat"]["place"] == 1
    assert rows["turned"]["incomplete"] == ("rare",)
    assert rows["sometimes"]["incomplete"]
    assert rows["sometimes"]["place"] == 1  # where it would be; it does not move the constant
    assert re.search(r"^sometimes .*\(-?\d\.\d\d\)", repr(result), re.M)  # a task on which some series failed


def test_a_run_goes_on_where_it_stopped(tmp_path):
    first = te.rankeval.run("hard", ["auc_roc"], tasks=["rare"], repeats=2, store=tmp_path / "s")
    told = []
    both = te.rankeval.run(
        "hard",
        ["auc_roc", "f1"],
        tasks=["rare"],
        repeats=2,
        store=tmp_path / "s",
        progress=lambda done, total: told.append((done, total)),
    )
    assert told[0] == (12, 36)
    assert both.table()["auc_roc"] == first.table()["auc_roc"]
    again = te.rankeval.read(tmp_path / "s")
    assert repr(again) == repr(both)
    with pytest.raises(te.errors.InvalidInputError, match="another command"):
        te.rankeval.run("quick", ["auc_roc"], store=tmp_path / "s")
