"""Metrics in time: tolerances, delays, leads, rates and costs; points that are not judged; missing scores."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import nothing_missing
from naive import timing
from naive.best import best
from strategies import examples, predictions, scorings
from tsadeval.core.metric import METRICS, parse_metric
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning
from tsadeval.scores.scored import observe

pytestmark = pytest.mark.filterwarnings(
    "ignore::tsadeval.errors.UndefinedMetricWarning", "ignore::tsadeval.errors.ThresholdWarning"
)


@st.composite
def timed(draw, data=predictions(min_size=1, both=False)):  # noqa: B008
    """Labels, predictions or scores, and whole seconds for stamps, regular or not."""
    y, other = draw(data.map(nothing_missing))
    steps = draw(st.lists(st.integers(1, 9), min_size=len(y), max_size=len(y)))
    if draw(st.booleans()):
        steps = [steps[0]] * len(y)
    for place in draw(st.lists(st.integers(0, len(y) - 1), max_size=2)):  # gaps in the data
        steps[place] = draw(st.integers(10, 1000))
    return y, other, np.cumsum([0, *steps[:-1]]) + 100


def edges(t):
    """The stamps, and the end of the last point, as long as the median one."""
    steps = sorted(np.diff(t)) or [1]
    return [*t.tolist(), int(t[-1]) + int(steps[len(steps) // 2])]


def value(metric, y, p, t, **setting):
    return te.evaluate(y, y_pred=p, metrics=metric, times=t, **setting).rows[0]["value"]


def same(found, expected):
    assert math.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-9)


@examples(60)
@given(timed(), st.integers(1, 30), st.sampled_from(["mean", "median", "p90", "max"]))
def test_delays_and_leads_equal_the_definition(data, horizon, statistic):
    y, p, t = data
    take = {"mean": np.mean, "median": np.median, "p90": lambda v: np.quantile(v, 0.9), "max": np.max}[statistic]
    e = edges(t)
    for name, found in (
        (f"detection_delay(unit='s', statistic='{statistic}')", timing.delays(y, p, e)),
        (f"lead_time(horizon='{horizon}s', unit='s', statistic='{statistic}')", timing.leads(y, p, e, horizon)),
    ):
        same(value(name, y, p, t), float(take(found)) if found else None)
    same(value("time_to_recover(unit='s')", y, p, t), timing.time_to_recover(y, p, e))
    same(value("time_in_alarm", y, p, t), timing.time_in_alarm(p, e))
    cost = timing.expected_cost(y, p, e, 3, 2, 5 / 3600)
    same(value("expected_cost(miss=3, false_alarm=2, delay_per_hour=5)", y, p, t), cost)


@examples(60)
@given(timed(), st.integers(1, 30), st.integers(1, 30))
def test_tolerances_and_rates_equal_the_definition(data, k, early):
    y, p, t = data
    e = edges(t)
    precision, recall = timing.tolerant(y, p, e, k)
    same(value(f"total_detected_in_range(tolerance='{k}s')", y, p, t), recall)
    f = 2 * precision * recall / (precision + recall) if precision and recall else 0.0
    same(value(f"time_tolerant_f1(tolerance='{k}s')", y, p, t), f)
    same(value(f"event_recall(early='{early}s')", y, p, t), timing.event_recall(y, p, e, early))
    same(value(f"false_alarms(per='min', early='{early}s')", y, p, t), timing.false_alarms(y, p, e, 60, early))
    same(value(f"alarm_episodes(merge_gap='{k}s')", y, p, t), timing.alarm_episodes(p, e, k, 0))
    name = f"alarm_episodes(merge_gap='{k}s', min_duration='{early}s')"
    same(value(name, y, p, t), timing.alarm_episodes(p, e, k, early))


SWEPT = {
    "time_tolerant_f1(tolerance='7s')": lambda y, p, e: _f(*timing.tolerant(y, p, e, 7)),
    "total_detected_in_range(tolerance='7s')": lambda y, p, e: timing.tolerant(y, p, e, 7)[1],
    "event_recall(early='7s')": lambda y, p, e: timing.event_recall(y, p, e, 7),
    "false_alarms(per='h', early='7s')": lambda y, p, e: timing.false_alarms(y, p, e, 3600, 7),
    "alarm_episodes(merge_gap='7s', min_duration='9s')": lambda y, p, e: timing.alarm_episodes(p, e, 7, 9),
    "time_to_recover(unit='s')": lambda y, p, e: timing.time_to_recover(y, p, e),
    "lead_time(horizon='20s', unit='s')": lambda y, p, e: _mean(timing.leads(y, p, e, 20)),
    "expected_cost(miss=3, false_alarm=2, delay_per_hour=900)": lambda y, p, e: timing.expected_cost(
        y, p, e, 3, 2, 0.25
    ),
    "expected_cost": lambda y, p, e: timing.expected_cost(y, p, e, 1, 0.1, 0),
}


def _f(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


def _mean(values):
    return sum(values) / len(values) if values else None


@pytest.mark.parametrize("name", SWEPT)
@examples(30)
@given(data=timed(scorings(min_size=1, max_size=18, both=False)))
def test_best_thresholds_in_time_are_exact(name, data):
    y, s, t = data
    metric, scoring = parse_metric(name), observe(y, s, times=t)
    expected = best(lambda y, p: SWEPT[name](y, p, edges(t)), y, s, lower=metric.direction == "lower")
    if expected is None:
        return
    v = metric.best(scoring, **metric.options)
    assert (v, metric.value_of(scoring.at_least(v))[0]) == (expected[0], pytest.approx(expected[1], abs=1e-9))


def test_gaps_are_no_quiet_time():
    """One false alarm in three days: the same rate whether or not there was no data for 27 days in between."""
    t = np.arange(3 * 1440).astype("datetime64[m]")
    y, p = np.zeros(len(t), int), np.zeros(len(t), int)
    y[100:110] = p[105:110] = p[2000] = 1
    away = t + np.where(np.arange(len(t)) >= 3000, np.timedelta64(27, "D"), np.timedelta64(0, "m"))
    metrics = ["false_alarms(per='day')", "time_in_alarm"]
    whole, gap = (dict(te.evaluate(y, y_pred=p, metrics=metrics, times=times)) for times in (t, away))
    assert whole["false_alarms(per='day')"] == pytest.approx(1440 / 4310)
    assert gap == pytest.approx({metrics[0]: 1440 / 4329, metrics[1]: 6 / 4339})  # the point before it: 20 minutes
    budgets = [te.choose_threshold(y, p + 0.0, times=times, max_false_alarms="2/day").budget for times in (t, away)]
    assert budgets == pytest.approx([2 * 4310 / 1440, 2 * 4329 / 1440])
    stream = te.StreamingEvaluator(0.5)
    for part in np.array_split(np.arange(len(t)), 5):
        stream.update(y[part], p[part], away[part])
    found = stream.compute()
    assert found["false_alarms(per='day')"] == pytest.approx(1440 / 4329)
    assert (found["normal_time"], found["time_in_alarm"]) == (4329, pytest.approx(6 / 4339))


def test_time_that_was_not_observed_ends_an_alarm():
    """The alarms are 999 minutes apart: two episodes, of which the first is known to have lasted 20 minutes."""
    t = te.times([0, 1, 2, 1001, 1002, 1003, 1004], unit="min")
    y, p = [0, 1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 0, 0, 0]
    for name, expected in [
        ("alarm_episodes(merge_gap='5min')", 2),
        ("alarm_episodes(merge_gap='978min')", 2),
        ("alarm_episodes(merge_gap='979min')", 1),
        ("alarm_episodes(min_duration='21min')", 1),  # from 1 to 22
        ("alarm_episodes(min_duration='22min')", 0),
        ("alarm_episodes(merge_gap=1)", 1),  # in points
        ("time_to_recover(unit='min')", 21),
        ("time_in_alarm", 22 / 26),
    ]:
        assert value(name, y, p, t) == expected, name
    assert value("alarm_episodes(merge_gap='5min')", y, [0, 1, 1, 0, 1, 0, 0], t) == 2  # quiet points do not join them
    table = te.events([0, 1, 1, 1, 0, 0, 0], y_pred=[1, 0, 0, 0, 0, 1, 0], times=t)
    assert (table.rows[0]["duration"], table.rows[0]["stop"]) == (22, 1002)
    before = te.events([0, 0, 0, 0, 0, 1, 0], y_pred=[0, 1, 1, 0, 0, 0, 0], times=t).false_alarms[0]
    assert (before["duration"], before["stop"]) == (21, 22)
    stream = te.evaluate_stream(
        [(y, p, t.stamps / 6e10)], ["alarm_episodes(merge_gap='5min')"], threshold=0.5, time="time"
    )
    assert math.isnan(stream["alarm_episodes(merge_gap='5min')"])


IN_TIME = [
    "time_tolerant_f1(tolerance='{}')",
    "event_recall(early='{}')",
    "false_alarms(per='week', early='{}')",
    "alarm_episodes(merge_gap='{}')",
    "lead_time(horizon='{}', unit='h')",
    "detection_delay(unit='h')",
    "expected_cost(delay_per_hour=3)",
]


@examples(15)
@given(timed(), st.integers(1, 30))
def test_units_change_nothing(data, k):
    """Stamps and durations in seconds, milliseconds or as dates are the same."""
    y, p, t = data
    expected = [value(name.format(f"{k}s"), y, p, t) for name in IN_TIME]
    for stamps in (te.times(t * 1000, unit="ms"), t.astype("datetime64[s]"), pd.to_datetime(t, unit="s", utc=True)):
        for text in (f"{k}s", f"{k * 1000}ms", f"{k * 10**9} ns"):
            found = [value(name.format(text), y, p, stamps) for name in IN_TIME]
            assert found == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_points_and_time_agree_on_regular_stamps():
    rng = np.random.default_rng(0)
    y, p = np.repeat(rng.integers(0, 2, 60), 5), (rng.random(300) < 0.2).astype(int)
    t = te.times(np.arange(300) * 10, unit="min")
    for points, time in (
        ("time_tolerant_f1(tolerance=3)", "time_tolerant_f1(tolerance='30min')"),
        ("event_recall(early=4)", "event_recall(early='40min')"),
        ("alarm_episodes(merge_gap=2, min_duration=3)", "alarm_episodes(merge_gap='20min', min_duration='30min')"),
        ("lead_time(horizon=3)", "lead_time(horizon='30min', unit='points')"),
    ):
        assert value(time, y, p, t) == value(points, y, p, None)
    assert value("detection_delay(unit='min')", y, p, t) == 10 * value("detection_delay", y, p, None)
    assert value("time_to_recover(unit='h')", y, p, t) == pytest.approx(value("time_to_recover", y, p, None) / 6)


HOUR = 3600


@examples(40)
@given(st.integers(0, 2**32 - 1), st.integers(3, 25), st.integers(30, 600))
def test_other_stamps_of_the_same_history(seed, number, step):
    """Incidents and alarms at the same times, sampled evenly and at random: no further apart than the sampling."""
    rng = np.random.default_rng(seed)
    length = 20 * 24 * HOUR
    even = np.arange(0, length, step)
    uneven = np.unique(rng.integers(0, length, 2 * len(even)))
    starts = np.sort(rng.choice(np.arange(24 * HOUR, length - 24 * HOUR, 6 * HOUR), number, replace=False))
    incidents = [(int(a), int(a + d)) for a, d in zip(starts, rng.integers(6000, 9000, number), strict=True)]
    delays, overruns = rng.integers(0, 1800, number), rng.integers(2400, 3600, number)
    alarms = [(a + int(d), b + int(r)) for (a, b), d, r in zip(incidents, delays, overruns, strict=True)]
    quiet = starts[: number // 2] + 4 * HOUR
    false = [(int(a), int(a) + 5400) for a in quiet]
    names = [
        "detection_delay(unit='s')",
        "time_to_recover(unit='s')",
        "time_in_alarm",
        "false_alarms(per='day')",
        "event_recall",
        "expected_cost(miss=1, false_alarm=1, delay_per_hour=1)",
    ]
    found, largest = {}, {}
    for kind, times in (("even", even), ("uneven", uneven)):
        spans = {"overlap": "merge", "between": "drop", "outside": "clip"}
        y, p = te.labels(incidents, times, **spans), te.labels(alarms + false, times, **spans)
        found[kind] = dict(te.evaluate(y, y_pred=p, metrics=names, times=times))
        largest[kind] = float(np.diff(times).max())  # an onset or end is seen so late at most
    error = sum(largest.values())
    if max(largest.values()) > 2400:
        return  # an alarm may lie between two stamps
    even_, uneven_ = (list(found[kind].values()) for kind in ("even", "uneven"))
    normal = (length - 9000 * number) / (24 * HOUR)
    allowed = [
        error,
        error,
        error * (number + len(false)) * 2 / length,
        len(false) * error * number / (24 * HOUR) / normal**2 + 1e-9,
        0.0,
        number * error / HOUR,
    ]
    for name, one, other, limit in zip(names, even_, uneven_, allowed, strict=True):
        assert abs(one - other) <= limit, name
    # The true values are as near.
    assert abs(found["uneven"]["detection_delay(unit='s')"] - delays.mean()) <= largest["uneven"]


def test_durations_need_time_stamps():
    y, p = [0, 1, 1, 0], [0, 0, 1, 1]
    for name in ("time_tolerant_f1(tolerance='5s')", "false_alarms(per='day')", "detection_delay(unit='min')"):
        with pytest.warns(UndefinedMetricWarning, match="needs time stamps: pass times="):
            assert math.isnan(te.evaluate(y, y_pred=p, metrics=name)[name])
    with pytest.warns(UndefinedMetricWarning, match="both be points, or both durations"):
        te.evaluate(y, y_pred=p, metrics="alarm_episodes(merge_gap='5s', min_duration=3)", times=[0, 1, 2, 3])
    for bad in ("time_tolerant_f1(tolerance='5 parsecs')", "false_alarms(per='0s')", "lead_time(horizon=0)"):
        with pytest.raises(InvalidParameterError, match="or a duration such as '30min'"):
            te.evaluate(y, y_pred=p, metrics=bad)


def test_the_default_of_one_span_goes_with_a_duration_of_the_other():
    # Alarms at 0-9 s, 20-29 s and 60-89 s.
    y, p, times = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0, 1, 1, 1, 0], np.arange(10) * 10
    for name, expected in [
        ("alarm_episodes", 3),
        ("alarm_episodes(merge_gap='10s')", 2),
        ("alarm_episodes(min_duration='10s')", 3),
        ("alarm_episodes(min_duration='30s')", 1),
        ("alarm_episodes(min_duration='31s')", 0),
    ]:
        assert te.evaluate(y, y_pred=p, metrics=name, times=times)[name] == expected


def test_dates_of_a_pandas_series_are_its_times():
    index = pd.date_range("2026-01-01", periods=4, freq="10min")
    y = pd.Series([0, 1, 1, 0], index=index)
    found = te.evaluate(y, y_pred=pd.Series([0, 0, 1, 1], index=index), metrics="detection_delay(unit='min')")
    assert list(found.values()) == [10.0]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"times": [0, 1]}, "times has 2 time stamps, but there are 4 points"),
        ({"times": [3, 2, 1, 0]}, "times must increase"),
        ({"ignore": [0, 1]}, "ignore has 2 points, but there are 4"),
        ({"ignore": [1, 1, 1, 1]}, "leaves no point to judge"),
        ({"ignore": [(0, 2)]}, "ignore holds intervals of time, so times= is needed"),
        ({"ignore": [0, 1, 2, 0]}, "ignore must be 0"),
        ({"missing": "drop"}, "missing must be one of"),
        ({"fit": [1.0, math.nan]}, "fit must be finite"),
    ],
)
def test_bad_settings(setting, message):
    with pytest.raises(InvalidInputError, match=message):
        te.evaluate([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.2], "f1", **setting)


IGNORABLE = ["f1", "accuracy", "mcc", "auc_roc", "auc_pr", "best_f1", "precision_at_k", "time_in_alarm"]


@examples(40)
@given(scorings(min_size=4), st.data())
def test_points_that_are_not_judged_are_as_if_they_were_not_there(data, draw):
    """For metrics that look at single points."""
    y, s = data
    skip = np.array(draw.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y))))
    if skip.all():
        return
    found = te.evaluate(y, s, IGNORABLE, threshold=0.4, ignore=skip)
    kept = te.evaluate(y[~skip], s[~skip], IGNORABLE, threshold=0.4)
    assert list(found.values()) == pytest.approx(list(kept.values()), nan_ok=True, abs=1e-12)


EVENTS = [m.name for m in METRICS.values() if m.kind == "predictions" and "exchangeable" not in m.properties]


@pytest.mark.parametrize("name", EVENTS)
def test_what_happens_where_nothing_is_judged_changes_nothing(name):
    """Alarms, labels and scores there; metrics of predictions keep the time that passes."""
    rng = np.random.default_rng(3)
    y, s = np.repeat(rng.integers(0, 2, 30), 6), np.round(rng.random(180), 2)
    skip = np.zeros(180, bool)
    skip[[*range(20, 35), *range(90, 97), 179]] = True
    expected = te.evaluate(y, s, name, threshold=0.6, ignore=skip).rows[0]["value"]
    for seed in range(5):
        other = np.random.default_rng(seed)
        z, u = np.where(skip, other.integers(0, 2, 180), y), np.where(skip, other.random(180) * 3, s)
        assert te.evaluate(z, u, name, threshold=0.6, ignore=skip).rows[0]["value"] == pytest.approx(
            expected, nan_ok=True
        )
    assert not math.isnan(expected)


def test_ignored_spans_part_events_and_hide_alarms():
    t = np.arange(10)
    y, p = [0, 1, 1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 0, 1, 0, 1]
    setting = {"times": t, "ignore": [(3, 4), (7, 8)]}
    found = te.evaluate(
        y, y_pred=p, metrics=["event_recall", "false_alarms(per='1s')", "false_alarms(per=1)"], **setting
    )
    assert found["event_recall"] == 1 / 2  # [1, 3) is missed, [4, 6) is found
    assert found["false_alarms(per='1s')"] == 1 / 4  # one at 9, in the normal seconds 0, 6, 8 and 9
    assert found["false_alarms(per=1)"] == 1 / 8


def test_cce_takes_the_stretches_apart():
    rng = np.random.default_rng(4)
    y, s = np.repeat([0, 1, 0, 1, 0], [10, 8, 9, 5, 8]), rng.random(40)
    skip = np.zeros(40, bool)
    skip[12:15] = True
    found = te.evaluate(y, s, "cce", ignore=skip)["cce"]
    pieces = [("a", y[:12], s[:12]), ("b", y[15:], s[15:])]
    assert found == pytest.approx(te.evaluate_many(pieces, "cce").micro["cce"])
    with pytest.warns(
        UndefinedMetricWarning, match="vus_pr is undefined, so NaN: it cannot leave out the points of ignore="
    ):
        assert math.isnan(te.evaluate(y, s, "vus_pr", ignore=skip)["vus_pr"])


@pytest.mark.parametrize(
    "rule", ["best", "quantile(0.8)", "sigma(1.0)", "top(5)", "hysteresis(0.8, 0.5)", "fixed(-1.0)"]
)
def test_rules_do_not_look_at_what_is_not_judged(rule):
    rng = np.random.default_rng(5)
    y, s = np.repeat([0, 1, 0, 1, 0], [20, 8, 19, 5, 8]), np.round(rng.random(60), 3)
    skip = np.zeros(60, bool)
    skip[40:47] = True
    loud = np.where(skip, 50.0, s)
    for metric in ("f1", "event_f1", "false_alarms"):
        quiet, other = (te.evaluate(y, scores, metric, threshold=rule, ignore=skip).rows[0] for scores in (s, loud))
        assert {k: v for k, v in quiet.items() if k != "seconds"} == {k: v for k, v in other.items() if k != "seconds"}


def test_missing_scores():
    y, s = [0, 1, 1, 0, 0, 0], [0.1, math.nan, 0.8, 0.2, math.nan, 0.3]
    with pytest.raises(InvalidInputError, match="NaN at position 1"):
        te.evaluate(y, s, "f1", threshold=0.5, missing="error")
    ignored = te.evaluate(y, s, ["f1", "recall", "event_f1"], threshold=0.5, missing="ignore")
    assert dict(ignored) == {"f1": 1, "recall": 1, "event_f1": 1}
    assert "2 points are not judged" in repr(ignored)
    quiet = te.evaluate(y, s, ["f1", "recall", "auc_roc"], threshold=0.5, missing="no alarm")
    assert (quiet["recall"], quiet["auc_roc"]) == (1 / 2, (0.5 + 4) / 8)
    assert "2 scores are missing" in repr(quiet)
    both = te.evaluate(y, s, "recall", threshold=0.5, missing="ignore", ignore=[0, 0, 1, 0, 0, 0])
    assert math.isnan(both["recall"])
    with pytest.raises(InvalidInputError, match="NaN everywhere"):
        te.evaluate([0, 1], [math.nan, math.nan], "f1", missing="ignore")
    assert te.evaluate([0, 1], [1, 2], "auc_roc", missing="ignore")["auc_roc"] == 1


def test_rules_take_their_threshold_from_other_scores():
    train, y, s = np.array([0.0, 0.0, 2.0, 2.0]), [0, 1, 1, 0], [1.0, 9.0, 5.0, 3.9]
    for rule, threshold in (("sigma(3)", 4.0), ("quantile(1.0)", 2.0), ("contamination(0.5)", 1.0)):
        row = te.evaluate(y, s, "f1", threshold=rule, fit=train).rows[0]
        assert row["threshold"] == threshold
    assert "fitted on 4 other scores" in repr(te.evaluate(y, s, "f1", threshold="sigma(3)", fit=train))
