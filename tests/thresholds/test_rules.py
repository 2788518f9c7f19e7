"""Threshold rules that cannot mislead: a perfect detector comes first, whatever the labels, the metric and the rule."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples, labels
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import METRICS, Metric
from tsadeval.errors import InvalidInputError, InvalidParameterError, ThresholdWarning, UndefinedMetricWarning
from tsadeval.thresholds import ThresholdRule, best, parse_rule, strict_quantile

RULES = ["best", "best(f1)", "best(affiliation_f1)", "quantile(0.95)", "quantile(0.5)", "quantile(1)", 0.5, 2.5]

# By their own definitions these do not give the labels their best value: docs/errata.md has the smallest examples.
NOT_LARGEST = {"range_auc_roc", "range_auc_pr"}
# These describe the alarms, whatever the labels: there is less of them without any alarm.
NOT_LARGEST |= {"alarm_episodes", "time_in_alarm"}
# It widens all alarms, those inside events too, which then are false beside short events.
NOT_LARGEST |= {"balanced_f1_pa"}
# A single alarm in the middle of an event has no distance from it; the labels have.
NOT_LARGEST |= {"absolute_detection_distance"}
# An alarm before the event is earlier than one at its start.
NOT_LARGEST |= {"early_detection_score", "lead_time"}


@examples(150)
@given(y=labels(min_size=2, max_size=60), seed=st.integers(0, 2**32 - 1), rule=st.sampled_from(RULES))
def test_a_perfect_detector_is_first_under_every_metric_and_rule(y, seed, rule):
    random = np.random.default_rng(seed).normal(size=len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.simplefilter("ignore", ThresholdWarning)
        table = te.compare({"perfect": y, "random": random}, y, "all", threshold=rule).table()
    for name, metric in METRICS.items():
        perfect, other = table["perfect"][name], table["random"][name]
        if name in NOT_LARGEST or math.isnan(other):
            continue
        if metric.kind == "scores" and y.min() == y.max():  # labels of one class are constant scores: they say nothing
            continue
        if math.isnan(perfect):  # nothing to find and no alarm, or nothing but anomalies: precision has no meaning
            assert y.min() == y.max(), name
            continue
        sign = 1 if metric.direction == "higher" else -1
        assert sign * perfect >= sign * other - 1e-12, name


@pytest.mark.parametrize(
    ("name", "perfect", "other"), [("range_auc_roc", 0.9963, 0.9988), ("range_auc_pr", 0.9987, 0.9994)]
)
def test_labels_are_not_the_largest_value_of_range_auc(name, perfect, other):
    """The smallest example: the buffer before the event wants scores that the labels do not give."""
    metric = getattr(te.metrics, name)
    assert metric([0, 0, 1], [0, 0, 1]) == pytest.approx(perfect, abs=1e-4)
    assert metric([0, 0, 1], [0, 1, 2]) == pytest.approx(other, abs=1e-4)
    # With short events and a wide window it is no longer a matter of digits.
    y = np.zeros(5000, int)
    y[[1250, 3750]] = 1
    assert te.metrics.range_auc_roc(y, y) < 0.6 < te.metrics.range_auc_roc(y, np.random.default_rng(0).random(5000))


def test_perfect_scores_that_are_no_labels():
    y = np.repeat([0, 1, 0, 1], 5)
    for s in (y, y * 0.3 + 0.2, -1.0 * (1 - y), y.astype(np.float32) / 3):
        for rule in ("best", "quantile(0.95)", "quantile(0.2)"):
            assert te.evaluate(y, s, "f1", threshold=rule)["f1"] == 1.0


def test_a_quantile_that_is_the_largest_score_alarms_there():
    s = np.array([0.1, 0.2, 0.3, 0.9, 0.9, 0.9, 0.9])
    y = (s > 0.5).astype(int)
    row = te.evaluate(y, s, "f1", threshold="quantile(0.95)").rows[0]
    assert (row["value"], row["alarms"], row["alarmed_points"]) == (1.0, 1, 4)
    with pytest.warns(
        ThresholdWarning, match=r"the rule strict_quantile\(0.95\) .* raises no alarm.*threshold=\"best\""
    ):
        row = te.evaluate(y, s, ["f1", "f1_pa"], threshold="strict_quantile(0.95)").rows[0]
    assert (row["value"], row["alarmed_points"]) == (0.0, 0)


def test_alarms_everywhere_are_said_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        te.evaluate([0, 1, 0, 1], [0.5, 0.6, 0.7, 0.8], ["f1", "recall", "f1_pa"], threshold=0.1)
    assert [w.category for w in caught] == [ThresholdWarning]
    assert "raises an alarm at all points" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_given_predictions_are_taken_as_they_are():
    y, s, p = [0, 1, 1, 0, 0], [0.1, 0.9, 0.8, 0.2, 0.7], [0, 1, 0, 0, 1]
    result = te.evaluate(y, s, ["f1", "auc_roc"], y_pred=p)
    assert result["f1"] == te.metrics.f1(y, p)
    assert result["auc_roc"] == te.metrics.auc_roc(y, s)
    row = result.rows[0]
    assert (row["rule"], row["threshold"], row["alarms"], row["alarmed_points"]) == ("given", None, 2, 2)
    alone = te.evaluate(y, y_pred=p, metrics=["f1", "auc_roc"])
    assert (alone["f1"], alone["auc_roc"]) == (result["f1"], te.metrics.auc_roc(y, p))
    with pytest.raises(InvalidInputError, match="y_pred must be 0"):
        te.evaluate(y, s, "f1", y_pred=s)
    with pytest.raises(InvalidInputError, match="y_pred has 2"):
        te.evaluate(y, s, "f1", y_pred=[0, 1])
    with pytest.raises(InvalidInputError, match="y_score"):
        te.evaluate(y)
    baseline = te.evaluate(y, s, "f1", y_pred=p, baseline=True).rows[0]
    assert baseline["random"] == pytest.approx(2 * (2 * 2 / 5) / 4)
    assert baseline["perfect"] == 1.0


def test_trivial_metrics_are_taken_at_the_best_f1():
    rng = np.random.default_rng(0)
    y = np.zeros(300, int)
    y[100:130] = 1
    s = rng.random(300) + 0.5 * y
    s[95] = 1.6  # a warning, so that its lead is defined
    result = te.evaluate(y, s, "all")
    at = te.best_threshold("f1", y, s).threshold
    trivial = [m.name for m in METRICS.values() if m.best_is_trivial]
    assert {"precision", "recall", "accuracy", "detection_delay", "false_alarms", "event_f1"} <= set(trivial)
    rows = {row["metric"]: row for row in result.rows}
    assert {rows[name]["threshold"] for name in trivial} == {at}
    assert rows["f1_pa"]["threshold"] != at
    assert "chosen with the labels" in repr(result)
    one = {row["threshold"] for row in te.evaluate(y, s, "all", threshold="best(f1_pa)").rows if row["rule"]}
    assert one == {te.best_threshold("f1_pa", y, s).threshold}


def test_a_best_value_that_random_scores_always_reach_is_trivial():
    rng = np.random.default_rng(0)
    y = np.zeros(600, int)
    for start in (50, 150, 333, 480):
        y[start : start + 25] = 1
    for metric in METRICS.values():
        if metric.kind == "predictions":
            perfect = te.best_threshold(metric, y, y.astype(float)).value
            others = [te.best_threshold(metric, y, rng.random(600)).value for _ in range(4)]
            assert metric.best_is_trivial or others != pytest.approx([perfect] * 4), metric.name


def test_the_discounted_event_f1_has_a_best_threshold_of_its_own():
    rng = np.random.default_rng(0)
    y = (np.arange(2000) % 500 // 40 == 5).astype(int)
    values = {}
    for skill in (0, 1, 4):
        s = rng.normal(size=2000) + skill * y
        for variant in ("segments", "discounted"):
            text = f"event_f1(variant='{variant}')"
            row = te.evaluate(y, s, text, threshold="best").rows[0]
            target = "f1" if variant == "segments" else text
            assert row["threshold"] == te.best_threshold(target, y, s).threshold
            values[variant, skill] = te.best_threshold(text, y, s).value
    assert {values["segments", skill] for skill in (0, 1, 4)} == {1.0}  # trivial: says nothing
    assert values["discounted", 0] < 0.5 < values["discounted", 1] < values["discounted", 4] == 1


def test_no_alarm_at_all_is_a_threshold_too():
    y, s = [0, 0, 1, 0], [0.9, 0.1, 0.2, 0.3]
    found = te.best_threshold("accuracy", y, s)
    assert (found.value, found.threshold, found.exact) == (0.75, 0.9, True)
    # Where an alarm does as well, it is raised.
    assert te.best_threshold("false_alarms", [0, 1, 0], [0.1, 0.9, 0.2]).threshold < 0.9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thresholds_hold_in_the_scores_own_type(dtype):
    y = np.array([0, 0, 1, 1])
    s = np.array([0.1, 0.3, 0.7, 0.9], dtype)
    for rule in ("best", "quantile(0.3)", "quantile(0.95)", 0.7):
        row = te.evaluate(y, s, "f1", threshold=rule).rows[0]
        assert te.metrics.f1(y, s > dtype(row["threshold"])) == row["value"]
        assert (s > row["threshold"]).sum() == row["alarmed_points"]
    found = te.best_threshold("f1", y, s)
    assert te.metrics.f1(y, s > dtype(found.threshold)) == found.value == 1.0


def test_a_rule_of_the_users_own():
    class above_mean(ThresholdRule):
        def threshold_of(self, data):
            return float(data.scores.mean())

        def __str__(self):
            return "above_mean"

    row = te.evaluate([0, 1, 0], [0.1, 0.9, 0.2], "f1", threshold=above_mean()).rows[0]
    assert (row["rule"], row["value"]) == ("above_mean", 1.0)


def test_users_metrics_of_predictions():
    def share(y_true, y_pred):
        return float(np.mean(y_pred))

    y, s = np.array([0, 0, 1, 1, 0]), np.array([0.1, 0.4, 0.8, 0.6, 0.3])
    assert te.evaluate(y, s, share, threshold=0.35)["share"] == 0.6
    assert Metric.from_function(share).kind == "predictions"
    assert te.best_threshold(share, y, s).value == 1.0
    # The search tries no alarm at all as well, which is the best of what should be small.
    fewest = Metric.from_function(share, direction="lower")
    assert te.best_threshold(fewest, y, s)[:2] == (0.8, 0.0)


def test_pandas_indexes_must_agree():
    y, s = pd.Series([0, 1, 0], index=[1, 2, 3]), pd.Series([0.1, 0.9, 0.2], index=[1, 2, 3])
    assert te.metrics.auc_roc(y, s) == 1.0
    with pytest.raises(InvalidInputError, match=r"y_true and y_score have different indexes.*reindex"):
        te.evaluate(y, s.sort_values(), "auc_roc")
    with pytest.raises(InvalidInputError, match="y_true and y_pred have different indexes"):
        te.metrics.f1(y, (s > 0.5).iloc[::-1])
    assert te.metrics.auc_roc(y, s.to_numpy()) == 1.0


def test_rules_are_read_from_text():
    assert str(parse_rule("best(f1_pa_k(k=0.5))")) == "best(f1_pa_k(k=0.5))"
    assert parse_rule("best(F1-PA)") == best("f1_pa")
    assert strict_quantile(0.95).literal
    assert not parse_rule("quantile(0.95)").literal
    with pytest.raises(InvalidParameterError, match="cannot read"):
        parse_rule("quantile(0.5, 0.6)")
    data = Scoring.of([0, 1], [0.2, 0.4])
    assert parse_rule("best").decide(data, METRICS["f1"]).threshold < 0.4


def test_a_metric_with_a_trivial_best_says_that_its_threshold_is_that_of_f1():
    y, s = [0, 0, 1, 1, 0, 1], [0.1, 0.7, 0.8, 0.2, 0.3, 0.6]
    found = te.evaluate(y, s, ["f1", "recall"])
    assert [row["rule"] for row in found.rows] == ["best", "best(f1)"]
    assert "threshold best: chosen with the labels for each metric, an upper bound" in repr(found)
    assert "threshold best(f1): the one that is best for that metric, chosen with the labels" in repr(found)
    assert te.evaluate(y, s, "recall", threshold="best(recall)").rows[0]["rule"] == "best(recall)"


@pytest.mark.parametrize(
    ("scores", "why"),
    [
        ([1, 1, 1, 1, 1], "all scores are equal"),
        ([5.0, 4.0, 0.0, 3.0, 2.0], "no threshold tells anomalous from normal points"),
    ],
)
def test_a_detector_that_alarms_everywhere_is_no_good_one_in_silence(scores, why):
    with pytest.warns(ThresholdWarning, match=f"alarm at all points, so metrics of predictions say little: {why}"):
        te.evaluate([0, 0, 1, 0, 0], scores, ["event_recall", "false_alarms"])


def test_first_alarms_takes_the_first_quantile_that_leaves_an_alarm():
    y, s = [0, 0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0, 4.0]  # nothing is above the larger quantile
    (row,) = te.evaluate(y, s, "f1", threshold="first_alarms(0.9, 0.5)").rows
    assert (row["rule"], row["value"]) == ("strict_quantile(0.5)", 1.0)
    for text in ("first_alarms", "first_alarms()", "first_alarms(2)", "first_alarms(0.5, 'a')"):
        with pytest.raises(InvalidParameterError, match="first_alarms: "):
            te.evaluate(y, s, "f1", threshold=text)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_best_threshold_lies_between_two_scores_with_the_fewest_digits(kind):
    scores = np.array([0.11, 0.4131, 0.8, 0.62, 0.3], kind)
    assert te.best_threshold("f1", [0, 0, 1, 1, 0], scores).threshold == 0.5
    neighbours = np.nextafter(kind(0.3), kind([0, 1]))  # nothing lies between them and 0.3
    threshold = te.best_threshold("f1", [0, 1, 1], [neighbours[0], kind(0.3), neighbours[1]]).threshold
    assert neighbours[0] <= kind(threshold) < kind(0.3)
    assert te.best_threshold("recall", [0, 1], np.array([-1, 2], kind)).threshold == 0


@pytest.mark.filterwarnings("ignore::tsadeval.errors.ThresholdWarning")
def test_a_printed_threshold_can_be_typed_in_again():
    rng = np.random.default_rng(5)
    names = ["f1", "event_f1", "f1_pa", "affiliation_f1", "false_alarms"]
    for k in range(60):
        y = np.repeat(rng.random(12) < 0.4, 3).astype(int)
        scores = rng.normal(size=36) * 10.0 ** rng.integers(-30, 30)
        scores = scores.astype(np.float32) if k % 3 == 0 else scores if k % 3 == 1 else np.round(rng.random(36), 2)
        found = te.evaluate(y, scores, names)
        head, _, *lines = repr(found).splitlines()
        for line, row in zip(lines, found.rows, strict=False):
            printed = line.split()[3 if "rule" in head else 2]
            assert float(printed) == row["threshold"]
            again = te.evaluate(y, scores, row["metric"], threshold=printed)
            np.testing.assert_equal(list(again.values()), [row["value"]])
            alarms = scores > float(printed)
            np.testing.assert_equal(METRICS[row["metric"]](y, alarms.astype(int)), row["value"])
    choice = te.choose_threshold(y, scores)
    assert f"threshold {choice.threshold!r}:" in repr(choice)
    assert all(str(row["threshold"]) in repr(te.curve("f1", y, scores)) for row in te.curve("f1", y, scores).rows[::12])
