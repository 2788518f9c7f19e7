"""A metric or rule that raises, or ends the program, costs its own values: they are NaN and named, the rest stands."""

import json
import math

import numpy as np
import pytest

import commands
import tsadeval as te
from tsadeval.errors import FailedMetricWarning, InvalidInputError, UndefinedMetricWarning

pytestmark = pytest.mark.filterwarnings("ignore::tsadeval.errors.ThresholdWarning")

METRICS = """
import sys

def leaves(y_true, y_score):
    sys.exit(0)

def raises(y_true, y_score):
    return 1 / 0
"""
LABELS = [0, 0, 1, 1, 0, 0, 0, 0] * 10
SCORES = (np.sin(np.arange(80)) + 3 * np.array(LABELS)).tolist()
EQUAL = [0.1, 0.3] * 40  # the rule pot finds no score above the start of the tail


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(METRICS)
    for name, scores in {"a": SCORES, "b": EQUAL}.items():
        table = "\n".join(f"{y},{s},{t}" for y, s, t in zip(LABELS, scores, SCORES, strict=True))
        (tmp_path / f"{name}.csv").write_text(f"label,score,other\n{table}\n")
    return tmp_path


def leaves(y_true, y_score):
    raise SystemExit(0)


def raises(y_true, y_score):
    raise ZeroDivisionError("no number")


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize(("metric", "says"), [(leaves, "called sys.exit(0)"), (raises, "ZeroDivisionError: no number")])
def test_a_metric_that_raises_is_nan_and_named_and_the_others_stand(many, metric, says):
    series = [("x", LABELS, SCORES), ("y", LABELS, SCORES[::-1])]
    given = series if many else [(name, "d", y, s) for name, y, s in series]
    with pytest.warns(FailedMetricWarning, match=metric.__name__) as caught:
        found = (te.evaluate_many if many else te.compare)(given, metrics=[metric, "f1"])
    assert says in str(caught[0].message)
    assert "on x, y" in str(caught[0].message)
    assert [row["status"] for row in found.rows] == ["error", "ok"] * 2
    assert says in repr(found)


def test_one_scoring_that_a_rule_cannot_take_leaves_the_others():
    scores = [("x", "d", LABELS, SCORES), ("y", "d", LABELS, EQUAL), ("y", "e", LABELS, SCORES)]
    with pytest.warns(FailedMetricWarning, match=r"f1 failed on y \(d\), so NaN: InvalidInputError: pot: no score is"):
        found = te.compare(scores, metrics=["f1", "auc_roc"], threshold="pot(0.001)", missing="skip")
    assert found.values("f1")[0, 0] == te.evaluate(LABELS, SCORES, "f1", threshold="pot(0.001)")["f1"]
    assert math.isnan(found.values("f1")[1, 0])
    assert np.isfinite(found.values("auc_roc")[1]).all()
    assert "f1 failed on y (d)" in repr(found)
    assert math.isnan(found.average("micro")["d"]["f1"])  # e has a value, so there is no more to say
    with pytest.warns(FailedMetricWarning, match="f1 failed on y, so NaN"):
        many = te.evaluate_many(iter([("x", LABELS, SCORES), ("y", LABELS, EQUAL)]), "f1", threshold="pot(0.001)")
    with pytest.warns(UndefinedMetricWarning, match="no micro average of f1"):
        assert math.isnan(many.micro["f1"])
    assert "f1 failed on y" in repr(many)


def test_where_nothing_has_a_value_the_error_is_raised():
    with pytest.raises(InvalidInputError, match=r"f1 failed on x, so NaN: .*no score is above"):
        te.compare([("x", "d", LABELS, EQUAL)], metrics="f1", threshold="pot(0.001)")
    with pytest.raises(InvalidInputError, match="raises failed on x, so NaN: ZeroDivisionError: no number"):
        te.evaluate_many([("x", LABELS, SCORES)], raises)


def test_one_evaluation_raises_and_a_metric_that_ends_the_program_is_named():
    with pytest.raises(ZeroDivisionError):
        te.evaluate(LABELS, SCORES, raises)
    with pytest.raises(InvalidInputError, match=r"metric leaves called sys.exit\(0\)"):
        te.evaluate(LABELS, SCORES, leaves)


@pytest.mark.parametrize("metric", ["leaves", "raises"])
@pytest.mark.parametrize(
    "command", [["score"], ["score", "--baseline"], ["compare"], ["compare", "--score", "score,other"], ["report"]]
)
def test_commands_say_what_failed_and_exit_with_1(folder, command, metric):
    done = commands.run(*command, "a.csv", "--metrics", f"mine:{metric},f1", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert f"mine:{metric}" in done.stderr
    assert {"leaves": "sys.exit(0)", "raises": "ZeroDivisionError: division by zero"}[metric] in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout
    if command == ["report"]:
        assert f"mine:{metric} failed on" in (folder / "report.html").read_text()


@pytest.mark.parametrize("command", ["score", "compare", "report"])
def test_a_command_without_any_value_exits_with_2(folder, command):
    done = commands.run(command, "a.csv", "--metrics", "mine:raises", cwd=folder)
    assert done.returncode == 2
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("options", [[], ["--baseline"], ["--events"]])
def test_score_keeps_the_scorings_beside_one_that_a_rule_cannot_take(folder, options):
    command = ["score", "a.csv", "b.csv", *options, "--threshold", "pot(0.001)", "--metrics", "f1,auc_roc"]
    done = commands.run(*command, "--format", "json", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "b.csv" in done.stderr
    assert "pot: no score is above" in done.stderr
    assert {row["file"] for row in json.loads(done.stdout)} >= {"a.csv"}


def test_a_report_of_one_bad_scoring_is_written(folder):
    done = commands.run("report", "a.csv", "b.csv", "--threshold", "pot(0.001)", "--metrics", "f1,auc_roc", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "f1 failed on b" in done.stderr
    assert "f1 failed on b" in (folder / "report.html").read_text()
