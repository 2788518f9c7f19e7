"""Thresholds under a budget, curves over thresholds, and tables of events."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import nothing_missing
from naive.event_level import detected_events, false_runs
from strategies import examples, scorings
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError

any_scoring = scorings(min_size=1, max_size=25, both=False).map(nothing_missing)


def naive_choice(y, s, budget, share=0.5):
    """(threshold v, detected, false alarms) by trying no alarm, and then every score from the top."""
    best = (math.inf, 0, 0)
    for v in sorted(set(s.tolist()), reverse=True):
        p = (s >= v).astype(int)
        found, false = len(detected_events(y, p)), len(false_runs(y, p))
        normal = p[y == 0]
        if false > budget or (len(normal) and normal.sum() > share * len(normal)):
            break
        if found > best[1] or (found == best[1] and false < best[2]):
            best = (v, found, false)
    return best


@examples(300)
@given(any_scoring, st.integers(0, 4), st.sampled_from([0.2, 0.5, 1.0]))
def test_choice_equals_trying_every_threshold(data, budget, share):
    y, s = data
    expected = naive_choice(y, s, budget, share)
    found = te.choose_threshold(y, s, max_false_alarms=budget, max_time_in_alarm=share)
    assert ("(no alarm)" in repr(found)) == (expected[0] == math.inf)
    assert (found.detected, found.false_alarms, found.exact) == (*expected[1:], True)
    p = (s > found.threshold).astype(int)
    assert (len(detected_events(y, p)), len(false_runs(y, p))) == expected[1:]
    assert found.value == pytest.approx(expected[1] / len(detected_events(y, np.ones(len(y), int))))


def naive_lowest(y, s, budget, share=0.5):
    """(detected, false alarms) at the lowest score that keeps the budget, as all higher ones do."""
    last = (0, 0)
    for v in sorted(set(s.tolist()), reverse=True):
        p = (s >= v).astype(int)
        normal = p[y == 0]
        if len(false_runs(y, p)) > budget or (len(normal) and normal.sum() > share * len(normal)):
            break
        last = len(detected_events(y, p)), len(false_runs(y, p))
    return last


@examples(150)
@given(any_scoring, st.integers(0, 4))
def test_the_lowest_threshold_spends_the_budget(data, budget):
    y, s = data
    highest = te.choose_threshold(y, s, max_false_alarms=budget)
    found = te.choose_threshold(y, s, max_false_alarms=budget, prefer="lowest")
    expected = naive_lowest(y, s, budget)
    assert (found.detected, found.false_alarms, found.exact) == (*expected, True)
    assert (found.value, found.threshold <= highest.threshold) == (highest.value, True)


@examples(100)
@given(any_scoring, st.integers(0, 4), st.sampled_from(["highest", "lowest"]))
def test_the_rule_of_a_budget_is_the_choice(data, budget, prefer):
    y, s = data
    choice = te.choose_threshold(y, s, max_false_alarms=budget, prefer=prefer)
    rule = f"budget({budget}{', lowest' * (prefer == 'lowest')})"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        row = te.evaluate(y, s, "event_recall", threshold=rule).rows[0]
    assert (row["rule"], row["threshold"], row["value"]) == (rule, choice.threshold, choice.value)


def test_no_alarm_is_a_threshold_too():
    found = te.choose_threshold([0, 1, 0, 0], [0.3, 0.26, 0.45, 0.51], max_false_alarms=2)
    assert (found.threshold, found.detected, found.false_alarms) == (0.51, 0, 0)
    assert found.rows[0] == {"threshold": 0.51, "value": 0.0, "false_alarms": 0, "detected": 0}
    assert "threshold 0.51 (no alarm): 0 of 1 events and 0 false alarms" in repr(found)
    # A metric without a value there has none at all.
    assert math.isnan(te.choose_threshold([0, 1], [0.9, 0.1], max_false_alarms=0, maximize="precision").threshold)


def test_scores_of_0_and_1_keep_a_budget():
    rng = np.random.default_rng(0)
    y, noisy, clean = np.zeros(4000, int), (rng.random(4000) < 0.05).astype(int), np.zeros(4000, int)
    for start in (500, 2500):
        y[start : start + 20] = clean[start + 5 : start + 9] = noisy[start : start + 20] = 1
    metrics = ["event_recall", "false_alarms(per='day')"]
    options = {"time": np.arange(4000).astype("datetime64[m]"), "metrics": metrics, "threshold": "budget(1/day)"}
    with pytest.warns(te.errors.ThresholdWarning, match=r"budget\(1/day\) \(threshold 1\) raises no alarm on noisy"):
        found = te.compare({"noisy": noisy, "clean": clean}, y, **options).table()
    assert [list(found[name].values()) for name in ("noisy", "clean")] == [[0, 0], [1, 0]]
    assert found.best("event_recall") == ["clean"]


def test_detectors_at_the_same_budget():
    rng = np.random.default_rng(4)
    t = np.arange(4000).astype("datetime64[m]")
    y = np.zeros(4000, int)
    for start in (300, 1200, 2500, 3700):
        y[start : start + 20] = 1
    scores = {name: rng.normal(size=4000) + lift * y for name, lift in (("good", 3), ("poor", 0.5))}
    rate = "false_alarms(per='day')"
    for text in ("budget(2/day)", "budget('2/day')", "budget(max_false_alarms='2/day')", "budget(2 per day, lowest)"):
        found = te.compare(scores, y_true=y, time=t, metrics=["event_recall", rate], threshold=text)
        values = {(row["detector"], row["metric"]): row["value"] for row in found.rows}
        assert values["good", "event_recall"] > values["poor", "event_recall"]
        assert max(values["good", rate], values["poor", rate]) <= 2
        assert "chosen with the labels" in repr(found)
    rows = te.evaluate(y, scores["good"], ["event_recall", "f1"], times=t, threshold="budget(2/day)").rows
    choice = te.choose_threshold(y, scores["good"], times=t, max_false_alarms="2/day")
    assert {row["threshold"] for row in rows} == {choice.threshold}
    with pytest.raises(InvalidInputError, match="'2/day' is a rate, so times= is needed"):
        te.evaluate(y, scores["good"], "f1", threshold="budget(2/day)")
    for bad, message in (
        ("budget(often)", "must be a rate such as '1/week'"),
        ("budget(-1)", "max_false_alarms must be"),
        ("budget()", "write budget"),
        ("budget(1, 2, 3)", "write budget"),
        ("budget(1, middle)", "prefer must be"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            te.evaluate(y, scores["good"], "f1", threshold=bad)
    with pytest.warns(te.errors.ThresholdWarning, match=r"budget\(5\) .*raises no alarm"):  # nothing to be found
        assert te.evaluate(y * 0, scores["good"], "false_alarms", threshold="budget(5)")["false_alarms"] == 0


@examples(80)
@given(st.lists(any_scoring, min_size=1, max_size=3), st.integers(0, 4))
def test_a_threshold_that_several_series_share(parts, budget):
    names = list(range(len(parts)))
    y, s = ({k: parts[k][i] for k in names} for i in (0, 1))
    best = (0, 0)
    for v in sorted({v for k in names for v in s[k].tolist()}, reverse=True):
        p = {k: (s[k] >= v).astype(int) for k in names}
        false = sum(len(false_runs(y[k], p[k])) for k in names)
        normal = np.concatenate([p[k][y[k] == 0] for k in names])
        if false > budget or (len(normal) and normal.sum() > 0.5 * len(normal)):
            break
        found = sum(len(detected_events(y[k], p[k])) for k in names)
        if found > best[0] or (found == best[0] and false < best[1]):
            best = (found, false)
    choice = te.choose_threshold(y, s, max_false_alarms=budget)
    assert (choice.detected, choice.false_alarms) == best
    times = {k: np.arange(len(y[k])) * 60 + 1000 for k in names}
    rate = te.choose_threshold(y, s, max_false_alarms="3/h", times=times)
    assert rate.budget == pytest.approx(3 * sum(int((y[k] == 0).sum()) for k in names) / 60)


def test_several_series_need_the_same_names():
    y, s = {"a": [0, 1, 0], "b": [0, 0, 1]}, {"a": [0.1, 0.9, 0.2], "b": [0.3, 0.1, 0.8]}
    choice = te.choose_threshold(y, s, max_false_alarms="0/h", times={"a": [0, 1, 2], "b": [5, 6, 7]}, ignore=[(1, 2)])
    assert (choice.detected, choice.events) == (1, 1)
    assert te.choose_threshold(y, s, max_false_alarms=0, ignore={"a": [0, 1, 0]}).events == 1
    with pytest.raises(UnknownNameError, match="y_score has no series 'b'"):
        te.choose_threshold(y, {"a": [0.1, 0.9, 0.2]}, max_false_alarms=0)
    with pytest.raises(InvalidInputError, match="y_true is a mapping from series, so scores must be one too"):
        te.choose_threshold(y, [0.1, 0.9, 0.2], max_false_alarms=0)
    with pytest.raises(InvalidInputError, match="time must be a mapping from series"):
        te.choose_threshold(y, s, max_false_alarms=0, times=[0, 1, 2])
    with pytest.raises(InvalidInputError, match=r"series 'b'.*: y_true has 3 points but y_score has 1"):
        te.choose_threshold(y, {**s, "b": [0.1]}, max_false_alarms=0)
    with pytest.raises(InvalidInputError, match="there is no series"):
        te.choose_threshold({}, {}, max_false_alarms=0)


def test_scores_of_one_detector_give_a_threshold():
    y, s = {"a": [0, 1, 0], "b": [0, 0, 1]}, {"a": [0.1, 0.9, 0.2], "b": [0.3, math.nan, 0.8]}
    scores = te.Scores(s, y)
    table = pd.DataFrame({"series": list("aaabbb"), "label": y["a"] + y["b"], "score": s["a"] + s["b"]})
    choices = [te.choose_threshold(y, s, max_false_alarms=0), te.choose_threshold(scores, max_false_alarms=0)]
    choices.append(te.choose_threshold(table, max_false_alarms=0, by="series"))
    assert {(one.threshold, one.detected, one.events) for one in choices} == {(choices[0].threshold, 2, 2)}
    assert te.best_threshold("f1", scores) == te.best_threshold("f1", y, s)
    assert te.best_threshold("f1", scores["a"]) == te.best_threshold("f1", y["a"], s["a"])
    assert te.curve("f1", scores).rows == te.curve("f1", y, s).rows
    assert te.events(scores["b"]).rows == te.events(y["b"], s["b"]).rows
    with pytest.raises(InvalidInputError, match="there are 2 series"):
        te.events(scores)
    two = te.Scores({"lof": s["a"], "pca": [1, 2, 3]}, y["a"])
    for judge in (te.events, lambda scores: te.curve("f1", scores)):
        with pytest.raises(InvalidInputError, match=r"several detectors \(lof, pca\): select one"):
            judge(two)
    assert te.choose_threshold(two.select(detectors=["lof"])).detected == 1


@pytest.mark.slow
def test_budgets_in_time():
    rng = np.random.default_rng(0)
    n = 28 * 24 * 6
    t = np.arange("2026-01-01", "2026-01-29", 10, dtype="datetime64[m]")
    y = np.zeros(n, int)
    for start in rng.choice(np.arange(100, n - 200, 30), 20, replace=False):
        y[start : start + 10] = 1
    s = np.round(rng.normal(size=n) + 2 * y, 2)
    found = te.choose_threshold(y, s, times=t, max_false_alarms="1/week")
    assert found.budget == pytest.approx((n - 200) / (7 * 24 * 6))
    assert found.false_alarms <= found.budget
    row = te.evaluate(y, s, "false_alarms(per='week')", threshold=found.threshold, times=t).rows[0]
    assert row["value"] <= 1
    assert (found.detected, found.false_alarms) == naive_choice(y, s, 3)[1:]
    assert "of all thresholds" in repr(found)
    frame = found.to_frame()
    assert (frame["threshold"].diff().dropna() < 0).all()
    assert frame["detected"].is_monotonic_increasing
    other = te.choose_threshold(y, s, times=t, max_false_alarms="1/week", maximize="f1")
    assert other.value <= te.best_threshold("f1", y, s).value
    assert other.false_alarms <= found.budget


def test_warnings_are_not_false_alarms():
    y, s = [0, 0, 0, 1, 0, 0], [0.1, 0.9, 0.2, 0.3, 0.1, 0.1]
    assert te.choose_threshold(y, s, max_false_alarms=0).detected == 0
    found = te.choose_threshold(y, s, max_false_alarms=0, early=2)
    assert (found.detected, found.false_alarms) == (1, 0)
    assert 0.3 <= found.threshold < 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_false_alarms": "1/week"}, "is a rate, so times= is needed"),
        ({"max_false_alarms": "often"}, "must be a rate such as '1/week'"),
        ({"max_false_alarms": -1}, "max_false_alarms must be"),
        ({"max_false_alarms": 1, "maximize": "auc_roc"}, "takes scores"),
        ({"max_false_alarms": 1, "early": -1}, "early must be"),
        ({"max_false_alarms": 1, "max_time_in_alarm": 2}, "max_time_in_alarm must be"),
    ],
)
def test_bad_budgets(options, message):
    with pytest.raises(InvalidInputError, match=message):
        te.choose_threshold([0, 1, 0], [0.1, 0.9, 0.2], **options)


def test_no_event_to_choose_by():
    with pytest.raises(InvalidInputError, match="y_true has no event"):
        te.choose_threshold([0, 0], [0.1, 0.2], max_false_alarms=1)


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
@examples(60)
@given(any_scoring, st.sampled_from(["f1", "event_f1(variant='discounted')", "false_alarms"]))
def test_curve_has_the_value_at_every_threshold(data, name):
    y, s = data
    found = te.curve(name, y, s)
    assert found.exact
    metric = te.core.metric.parse_metric(name)
    for row in found.rows:
        p = (s > row["threshold"]).astype(int)
        assert row["value"] == pytest.approx(metric(y, p), nan_ok=True)
        assert row["alarmed_points"] == p.sum()
    assert len(found.rows) == len(set(s.tolist())) + 1


def test_long_curves_are_thinned_but_keep_the_best():
    rng = np.random.default_rng(1)
    y = np.repeat(rng.integers(0, 2, 300), 10)
    s = rng.random(3000) + 0.3 * y
    found = te.curve("f1", y, s, points=50)
    assert not found.exact
    assert 50 <= len(found.rows) <= 53
    assert max(row["value"] for row in found.rows) == te.best_threshold("f1", y, s).value
    with pytest.raises(InvalidParameterError, match="points"):
        te.curve("f1", y, s, points=1)


def test_table_of_events():
    t = pd.date_range("2026-01-01", periods=12, freq="10min")
    y, p = [0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1], [0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
    found = te.events(y, y_pred=p, times=t, early="10min")
    assert [(r["detected"], r["delay"], r["lead"], r["alarms"]) for r in found.rows] == [
        (True, 0.0, 10.0, 2),
        (False, None, None, 0),
        (False, None, None, 0),
    ]
    assert [r["duration"] for r in found.rows] == [30, 10, 10]
    assert found.rows[0]["start"] == t[2]
    assert found.rows[2]["stop"] == np.datetime64("2026-01-01T02:00")
    assert [r["duration"] for r in found.false_alarms] == [10]
    assert found.summary["missed"] == 2
    late = te.events(y, y_pred=p, times=t)
    assert (late.rows[0]["delay"], late.summary["p90"], late.unit) == (20.0, 20.0, "min")
    assert "1 of 3 events detected, 2 missed; 2 of 3 alarms false" in repr(late)
    assert te.events(y, y_pred=[0] * 12).summary["detected"] == 0
    with pytest.raises(InvalidInputError, match="times= is needed"):
        te.events(y, y_pred=p, unit="h")


@examples(100)
@given(any_scoring, st.integers(0, 4), st.sampled_from(["f1", "expected_cost(miss=3, false_alarm=2)", "false_alarms"]))
def test_choice_by_other_metrics_equals_trying_every_threshold(data, budget, name):
    y, s = data
    metric = te.core.metric.parse_metric(name)
    best = None
    for v in [math.inf, *sorted(set(s.tolist()), reverse=True)]:
        p = (s >= v).astype(int)
        normal = p[y == 0]
        if len(false_runs(y, p)) > budget or (len(normal) and normal.sum() > 0.5 * len(normal)):
            break
        key = (metric(y, p) * (-1 if metric.direction == "higher" else 1), len(false_runs(y, p)))
        if best is None or key[0] < best[0] - 1e-12 or (abs(key[0] - best[0]) <= 1e-12 and key[1] < best[1]):
            best = key
    found = te.choose_threshold(y, s, max_false_alarms=budget, maximize=name)
    assert found.exact
    assert found.value * (-1 if metric.direction == "higher" else 1) == pytest.approx(best[0])
    assert found.false_alarms == best[1]


def test_many_thresholds_are_searched_twice_or_known():
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(100) % 2, 60)
    s = rng.normal(size=6000) + 1.5 * y
    found = te.choose_threshold(y, s, maximize="f1")
    assert (found.exact, found.value) == (True, te.best_threshold("f1", y, s).value)
    assert "any number of false alarms" in repr(found)
    tight = te.choose_threshold(y, s, maximize="f1", max_false_alarms=200)
    assert not tight.exact
    for v in np.sort(s)[::-1][:3000:30]:
        p = (s >= v).astype(int)
        if te.events(y, y_pred=p).summary["false_alarms"] <= 200:
            assert tight.value >= te.metrics.f1(y, p) - 1e-3
    cheap = te.choose_threshold(y, s, maximize="expected_cost(miss=10, false_alarm=1)")
    assert cheap.value <= te.evaluate(y, s, "expected_cost(miss=10, false_alarm=1)", threshold=3.0).rows[0]["value"]


def test_curves_and_choices_leave_out_what_is_not_judged():
    rng = np.random.default_rng(4)
    y, s = np.repeat(np.arange(40) % 2, 20), rng.random(800)
    skip = np.zeros(800, bool)
    skip[100:140] = True
    for name in ("event_f1", "expected_cost", "f1"):
        found = te.curve(name, y, s, points=100, ignore=skip)
        assert max(row["alarmed_points"] for row in found.rows) == 760
        best = te.best_threshold(name, y, s, ignore=skip)
        sign = 1 if te.core.metric.METRICS[name].direction == "higher" else -1
        assert sign * best.value >= max(sign * row["value"] for row in found.rows) - 0.05
        at = te.evaluate(y, s, name, threshold=best.threshold, ignore=skip)
        assert list(at.values()) == [best.value]
    loud = np.where(skip, 9.0, s)
    for share in (0.5, 1.0):
        one, two = (
            te.choose_threshold(y, x, max_false_alarms=30, max_time_in_alarm=share, ignore=skip) for x in (s, loud)
        )
        assert (one.threshold, one.rows) == (two.threshold, two.rows)
