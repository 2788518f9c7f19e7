"""Facts in rows: no code looks into the text of a rule, whatever a user calls it."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import tsadeval as te
from tsadeval.core.facts import Origin, Reason
from tsadeval.core.messages import label_notes
from tsadeval.core.metric import METRICS, row_of
from tsadeval.scores.scored import observe
from tsadeval.thresholds.rules import ThresholdRule, fixed, parse_rule

Y = np.array([0, 0, 1, 1, 0, 0, 0, 1, 0, 0])
S = np.array([0.1, 0.2, 0.9, 0.8, 0.1, 0.3, 0.2, 0.6, 0.4, 0.5])


@dataclass(frozen=True)
class bestiary(ThresholdRule):
    """A user's rule with a name that begins as those of rules that look at the labels do."""

    value: float

    def threshold_of(self, data):
        return self.value


@dataclass(frozen=True)
class budgeted(bestiary):
    def __str__(self):
        return f"budget({self.value})"


@dataclass(frozen=True)
class best(bestiary):
    def __str__(self):
        return "best"


@dataclass(frozen=True)
class peeking(bestiary):
    """A user's rule that looks at the labels, and says so."""

    uses_labels: ClassVar[bool] = True


@pytest.mark.parametrize("rule", [bestiary(0.55), budgeted(0.55), best(0.55)])
def test_a_users_rule_is_never_taken_for_one_that_looks_at_the_labels(rule, tmp_path):
    ours = te.evaluate(Y, S, ["f1", "recall"], threshold=fixed(0.55))
    found = te.evaluate(Y, S, ["f1", "recall"], threshold=rule)
    assert dict(found) == dict(ours)
    assert {(row["uses_labels"], row["origin"], row["rule"]) for row in found.rows} == {(False, "rule", str(rule))}
    assert "labels" not in repr(found)
    assert f"alarms: {rule}" in repr(found)
    many = te.evaluate_many([("a", Y, S)], ["f1"], threshold=rule)
    assert many.micro["f1"] == many.macro["f1"]
    assert "labels" not in repr(many)
    compared = te.compare({"x": S, "y": S[::-1]}, Y, ["f1", "auc_roc"], threshold=rule)
    assert not any("labels" in line for line in compared.remarks())
    assert f"alarms: {rule}" in compared.remarks()
    page = compared.report(tmp_path / "page.html").read_text()
    assert f"Thresholds: by the rule {rule}." in page
    assert f"It starts at the threshold of {rule}." in page


@pytest.mark.parametrize("rule", [bestiary(0.95), budgeted(0.95), best(0.95)])
def test_a_users_rule_without_alarm_is_warned_of(rule):
    with pytest.warns(te.errors.ThresholdWarning, match="raises no alarm, .*choose another threshold, or threshold="):
        te.evaluate(Y, S, "recall", threshold=rule)


RULES = {
    "best": (True, Origin.BEST),
    "best(f1)": (True, Origin.BEST_OF_ONE),
    "budget(1)": (True, Origin.BUDGET),
    "sustained(best, 2)": (True, Origin.RULE),
    "hysteresis(best(f1), 0)": (True, Origin.RULE),
    "hysteresis(sigma(1), 0)": (False, Origin.RULE),
    "quantile(0.9)": (False, Origin.RULE),
    "0.5": (False, Origin.RULE),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules_say_whether_they_look_at_the_labels(rule):
    found = te.evaluate(Y, S, "f1", threshold=rule)
    (row,) = found.rows
    assert (row["uses_labels"], row["origin"]) == RULES[rule]
    assert ("chosen with the labels" in repr(found)) == RULES[rule][0]
    assert getattr(parse_rule(rule), "uses_labels", False) == RULES[rule][0]


def test_a_users_rule_may_say_that_it_looks_at_the_labels():
    found = te.evaluate(Y, S, "f1", threshold=peeking(0.55))
    assert "threshold peeking(0.55): chosen with the labels" in repr(found)


def test_metrics_of_scores_given_predictions_and_scores_of_0_and_1_have_no_rule_that_looks_at_the_labels():
    assert te.evaluate(Y, S, "auc_roc").rows[0]["origin"] is None
    assert te.evaluate(Y, y_pred=S > 0.5, metrics="f1").rows[0]["origin"] == Origin.GIVEN
    assert te.evaluate(Y, (S > 0.5).astype(float), "f1").rows[0]["origin"] == Origin.SCORES
    assert not any(te.evaluate(Y, (S > 0.5).astype(float), "f1,auc_roc").to_frame()["uses_labels"])


@pytest.mark.parametrize(
    ("metric", "labels", "reason"),
    [
        ("f1", 0 * Y, Reason.NO_ANOMALY),
        ("precision_at_k", 0 * Y, Reason.NO_ANOMALY),
        ("recall", 0 * Y, Reason.NO_ANOMALY),
        ("auc_roc", 0 * Y + 1, Reason.NO_NORMAL),
        ("time_tolerant_f1(tolerance='5min')", Y, Reason.NEEDS_TIMES),
    ],
)
def test_a_row_says_why_there_is_no_value(metric, labels, reason):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (row,) = te.evaluate(labels, S, metric, threshold="best").rows
    assert (row["status"], row["reason"]) == ("undefined", reason)


def test_a_row_has_counts_only_of_what_was_left_out():
    rule, metric = parse_rule(0.5), METRICS["f1"]
    plain, other = observe(Y, S), observe(Y, S, ignore=Y == 1)
    row = row_of(metric, metric.run(plain, rule), plain)
    assert set(row_of(metric, metric.run(other, rule), other)) - set(row) == {"ignored_points", "ignored_events"}


def test_notes_are_one_line_for_each_rule():
    rows = [{"rule": "b", "uses_labels": True, "origin": "rule"}] * 2 + [{"rule": None, "uses_labels": False}]
    assert label_notes(rows) == ["threshold b: chosen with the labels"]
