"""Intervals of metrics: events with their surroundings, drawn with replacement."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tsadeval as te
from commands import run
from tsadeval.core.metric import METRICS
from tsadeval.errors import InvalidParameterError, UndefinedMetricWarning
from tsadeval.evaluation.baseline import CERTAIN_FROM

N, STARTS = 400, (20, 75, 150, 200, 290, 360)


@pytest.fixture(scope="module")
def series():
    rng = np.random.default_rng(1)
    y = np.zeros(N, int)
    for k, start in enumerate(STARTS):
        y[start : start + 5 + 2 * k] = 1
    return y, rng.normal(size=N) + 1.5 * y * rng.random(N)


def pieces(y):
    """Cut by hand: in the middle between the end of an event and the start of the next one."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], y, [0]])))
    middles = [(a + b) // 2 for a, b in zip(edges[1:-1:2], edges[2::2], strict=True)]
    return [np.arange(a, b) for a, b in zip([0, *middles], [*middles, len(y)], strict=True)]


def by_hand(metric, y, s, draws, seed=0, **columns):
    """Compute the metric on each resample through the public function."""
    parts, rng, found = pieces(y), np.random.default_rng(seed), []
    for _ in range(draws):
        at = np.concatenate([parts[k] for k in rng.integers(0, len(parts), len(parts))])
        own = {name: values[at] for name, values in columns.items()}
        found.append(te.evaluate(y[at], s[at], metric, **own)[metric])
    return np.array(found)


@pytest.mark.parametrize("metric", ["cce", "f1", "vus_pr", "event_f1", "ears", "false_alarms"])
def test_intervals_are_those_by_hand(series, metric):
    y, s = series
    row = te.evaluate(y, s, metric, interval=0.9, resamples=40).rows[0]
    drawn = by_hand(metric, y, s, 40)
    half = stats.t.ppf(0.95, len(STARTS) - 1) * drawn.std(ddof=1) * math.sqrt(len(STARTS) / (len(STARTS) - 1))
    low, high = METRICS[metric].range
    assert row["low"] == pytest.approx(max(row["value"] - half, low))
    assert row["high"] == pytest.approx(min(row["value"] + half, high))
    assert row["low"] < row["value"] < row["high"]
    assert (row["interval"], row["no_interval"]) == (0.9, None)


def test_every_metric_has_an_interval(series):
    y, s = series
    own = [*METRICS, lambda y_true, y_score: float(np.mean(y_score[y_true == 1]))]
    found = te.evaluate(y, s, own, interval=0.95, resamples=10)
    assert len(found.rows) == len(METRICS) + 1
    lacking = {row["metric"]: row["no_interval"] for row in found.rows if row["low"] is None}
    assert set(lacking.values()) <= {"all resamples have the same value", "undefined on many resamples"}
    assert len(lacking) < 10
    for row in found.rows:
        if row["low"] is not None:
            assert row["low"] <= row["value"] <= row["high"], row["metric"]


def test_all_that_belongs_to_points_is_drawn_with_them(series):
    y, s = series
    ignore = np.zeros(N, int)
    ignore[100:140] = ignore[365:370] = 1
    gaps = np.where(np.arange(N) % 17 == 3, np.nan, s)
    for scores, own in ((s, {"ignore": ignore}), (gaps, {})):
        row = te.evaluate(y, scores, "f1", interval=0.9, resamples=20, **own).rows[0]
        truth = y * (1 - own.get("ignore", 0 * y)) * ~np.isnan(scores)
        n = len(pieces(truth))
        half = by_hand("f1", truth, scores, 20, **own).std(ddof=1) * math.sqrt(n / (n - 1)) * stats.t.ppf(0.95, n - 1)
        assert row["high"] - row["value"] == pytest.approx(half)
    alarms = (s > 1).astype(int)
    row = te.evaluate(y, y_pred=alarms, metrics="precision", interval=0.9, resamples=20).rows[0]
    parts, rng = pieces(y), np.random.default_rng(0)
    picks = [np.concatenate([parts[k] for k in rng.integers(0, 6, 6)]) for _ in range(20)]
    drawn = np.array([te.metrics.precision(y[at], alarms[at]) for at in picks])
    assert row["value"] - row["low"] == pytest.approx(drawn.std(ddof=1) * math.sqrt(6 / 5) * stats.t.ppf(0.95, 5))


def test_blocks_follow_each_other_in_time(series):
    """By the hour and by points is the same where there is a point each hour."""
    y, s = series
    times = pd.date_range("2026-01-01", periods=N, freq="h")
    asked = {"interval": 0.9, "threshold": 1.5}
    found = te.evaluate(y, s, ["alarm_episodes(merge_gap='3h')", "detection_delay(unit='h')"], times=times, **asked)
    plain = te.evaluate(y, s, ["alarm_episodes(merge_gap=3)", "detection_delay"], **asked)
    ends = [[[row[k] for k in ("value", "low", "high")] for row in one.rows] for one in (found, plain)]
    assert ends[0] == [pytest.approx(some) for some in ends[1]]
    assert None not in ends[0][0]


def test_the_seed_decides(series):
    def ends(**options):
        return [te.evaluate(*series, "f1", interval=0.95, **options).rows[0][k] for k in ("low", "high")]

    assert ends() == ends(random_state=0)
    assert ends() != ends(random_state=1)


@pytest.mark.filterwarnings("ignore::tsadeval.errors.ThresholdWarning")
def test_where_there_is_no_interval_the_reason_is_said(series):
    y, s = series
    few = te.evaluate(y[:250], s[:250], ["f1", "cce"], interval=0.95)
    assert {row["no_interval"] for row in few.rows} == {"fewer than 5 events"}
    assert "no interval: fewer than 5 events" in repr(few)
    assert "low" not in repr(few)
    same = te.evaluate(y, 2.0 * y + 1, ["cce", "auc_roc"], interval=0.95, resamples=10)
    assert {row["no_interval"] for row in same.rows} == {"all resamples have the same value"}
    with pytest.warns(UndefinedMetricWarning):
        found = te.evaluate(y, s, ["f1", "precision"], threshold=5.0, interval=0.95, resamples=10)
    assert [row["no_interval"] for row in found.rows] == [
        "all resamples have the same value",
        "undefined on many resamples",
    ]
    assert "no interval: undefined on many resamples (precision)" in repr(found)


def test_intervals_that_are_too_short_are_named(series):
    text = repr(te.evaluate(*series, ["cce", "ears", "f1"], interval=0.95))
    note = "too short an interval in more than 10 % of simulated series with as many events (docs/coverage.md): cce, f1"
    assert note in text
    assert {"cce": None, "f1": 50}.items() <= CERTAIN_FROM.items()
    many = te.evaluate(*(np.tile(one, 10) for one in series), ["cce", "ears", "f1"], interval=0.95)
    assert [row["uncertain"] for row in many.rows] == [True, False, False]


def test_a_higher_level_is_wider(series):
    low, high = (te.evaluate(*series, "cce", interval=level).rows[0] for level in (0.5, 0.99))
    assert high["low"] < low["low"] < low["high"] < high["high"]
    with pytest.raises(InvalidParameterError, match="interval"):
        te.evaluate(*series, "cce", interval=95)


def test_intervals_of_averages_are_over_series():
    rng = np.random.default_rng(3)
    y = (np.arange(100) % 20 > 16).astype(int)
    entries = [(f"s{k}", d, y, rng.random(100) + gain * y) for k in range(9) for d, gain in (("a", 0.5), ("b", 0.2))]
    found = te.compare(entries, metrics=["auc_roc", "detection_delay"])
    average = found.average(interval=0.9)
    values = found.values("auc_roc")[:, 0]
    draws = np.random.default_rng(0).integers(0, 9, (2000, 9))
    means = np.sort(values)[draws].mean(axis=1)
    row = average.rows[0]
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(means, [0.05, 0.95]), abs=1e-6)
    assert f"{row['value']:.4f} [{row['low']:.4f}, {row['high']:.4f}]*" in repr(average)
    assert rf"\scriptsize [{row['low']:.3f}, {row['high']:.3f}]" in average.to_latex()
    lower = next(r for r in average.rows if r["metric"] == "detection_delay")
    assert 0 <= lower["low"] <= lower["value"] <= lower["high"]
    few = te.compare(entries[:8], metrics="auc_roc").average(interval=0.9)
    assert "no interval: fewer than 5 series" in repr(few)
    with pytest.raises(InvalidParameterError, match="leave out groups="):
        found.average(groups=lambda s: "all", interval=0.9)


def test_on_the_command_line(tmp_path, series):
    y, s = series
    pd.DataFrame({"label": y, "score": s}).to_csv(tmp_path / "one.csv", index=False)
    done = run("score", tmp_path / "one.csv", "--metrics", "cce,f1", "--interval", "0.95")
    found = te.evaluate(y, s, ["cce", "f1"], interval=0.95)
    for row in found.rows:
        assert f"{row['value']:.4f}  {row['low']:.4f}  {row['high']:.4f}" in done.stdout
