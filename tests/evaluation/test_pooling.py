"""Values of several series together, series and pieces apart; the period of a series."""

import gc
import json
import math
import tracemalloc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from naive import cce as naive_cce
from naive.events import runs
from published import SHARED
from strategies import examples, scorings
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import METRICS
from tsadeval.errors import InvalidInputError, UndefinedMetricWarning
from tsadeval.evaluation import external_sort as spill
from tsadeval.thresholds.rules import parse_rule

NAB = SHARED / "scores" / "NAB_results"
PROFILES = {
    "standard": "standard",
    "reward_low_FP_rate": "reward_low_fp",
    "reward_low_FN_rate": "reward_low_fn",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_all_published_scores_of_the_numenta_corpus():
    """16 detectors and three profiles, each the sum over 58 files, five of them without a window.

    `final_results.json` has 15 of the detectors. Of bayesChangePt, `thresholds.json` has the sums, from which
    the scores follow: 0 is the detector without alarms, 100 the one that finds all 116 windows at once.
    """
    if not NAB.exists():
        pytest.skip("the published scores are not here")
    frame = pytest.importorskip("pandas").read_parquet(NAB / "scores.parquet")
    published = json.loads((NAB / "final_results.json").read_text())
    thresholds = json.loads((NAB / "thresholds.json").read_text())
    files = [(name, part["label"].to_numpy(), part) for name, part in frame.groupby("series", sort=False)]
    compared = 0
    for detector, sums in thresholds.items():
        for profile, published_sum in sums.items():
            null = thresholds["null"][profile]["score"]
            value = published.get(detector, {}).get(profile, 100 * (published_sum["score"] - null) / (116 - null))
            # An alarm is a score of at least the threshold there.
            threshold = float(np.nextafter(published_sum["threshold"], -np.inf))
            series = [(name, y, part[detector].to_numpy(float)) for name, y, part in files]
            metric = f"nab_score(profile={PROFILES[profile]}, probation=0.15)"
            found = te.evaluate_many(series, metric, threshold=threshold)
            assert list(found.micro.values()) == [pytest.approx(value, abs=1e-6)], (detector, profile)
            compared += 1
    assert compared == 48


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
@pytest.mark.parametrize("name", ["event_recall(early=3)", "lead_time(horizon=5)", "alarm_episodes(merge_gap=4)"])
def test_options_do_not_reach_from_one_series_into_the_next(name):
    one = ("a", [0, 0, 1, 0, 0, 0], [0.0, 0.0, 0.2, 0.0, 0.0, 0.9])
    two = ("b", [1, 1, 0, 0, 1, 0], [0.1, 0.0, 0.0, 0.8, 0.0, 0.0])
    pooled = te.evaluate_many([one, two], name, threshold=0.5).micro
    apart = {"event_recall(early=3)": 1 / 3, "lead_time(horizon=5)": 1.0, "alarm_episodes(merge_gap=4)": 2.0}
    assert list(pooled.values()) == [apart[name]]


def naive_pooled_cce(series):
    """The paper's formula, with the events of every series apart."""
    scores = naive_cce.normalised([score for _, s in series for score in s])
    pieces, at = [], 0
    for y, s in series:
        pieces += [(label, scores[at + start : at + stop]) for start, stop, label in runs(y)]
        at += len(s)

    def score_of(values, label):
        mean = sum(values) / len(values)
        confidence = mean - 1 / 2 if label else 1 / 2 - mean
        return float(confidence) * math.exp(-float(naive_cce.uncertainty_of(values, "beta", 10)))

    total = 0.0
    for label in (0, 1):
        own = [values for of, values in pieces if of == label]
        total += 0.5 * sum(score_of(values, label) for values in own) / len(own)
        total += 0.5 * score_of([v for values in own for v in values], label)
    return total


@pytest.mark.filterwarnings("ignore::UserWarning")
@examples(100)
@given(st.lists(scorings(max_size=12), min_size=1, max_size=4))
def test_micro_cce_keeps_the_events_of_series_apart(series):
    named = [(str(i), y, s) for i, (y, s) in enumerate(series)]
    found = te.evaluate_many(named, "cce", threshold=0.5)
    assert found.micro["cce"] == pytest.approx(naive_pooled_cce(series), abs=1e-9)
    if len(series) == 1:
        assert found.micro["cce"] == pytest.approx(te.cce(*series[0]), abs=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("options", ["normalize=rank", "normalize=robust", "normalize=published", "uncertainty=scaled"])
def test_micro_cce_of_one_series_is_its_cce(options):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 0, 1, 0], [9, 4, 7, 1, 5])
    s = rng.normal(size=len(y)) + y
    name = f"cce({options})"
    found = te.evaluate_many([("a", y, s)], name, threshold=0.5)
    assert list(found.micro.values()) == pytest.approx(list(found.macro.values()), abs=1e-12)


def naive_period(x):
    """Autocorrelation lag by lag."""
    x = np.asarray(x, float)[:20_000]
    x = x - x.mean()
    if not x.any():
        return 125
    lags = range(min(400, len(x) - 1) + 1)
    r = [float(np.dot(x[: len(x) - lag], x[lag:])) for lag in lags]
    r = [value / r[0] for value in r][3:]
    peaks = [i for i in range(1, len(r) - 1) if r[i] > r[i - 1] and r[i] > r[i + 1]]
    if not peaks:
        return 125
    best = max(peaks, key=lambda i: r[i])
    return best + 3 if 3 <= best <= 300 else 125


@pytest.mark.parametrize("seed", range(12))
def test_period_equals_the_definition(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(50, 3000)), float(rng.uniform(3, 400))
    x = np.sin(2 * np.pi * np.arange(n) / p) + rng.normal(size=n) * rng.choice([0.01, 0.3, 2.0])
    assert te.period(x) == naive_period(x)


def test_period_of_series_without_one():
    assert te.period(np.ones(100)) == 125
    assert te.period([1.0, 2.0]) == 125
    assert te.period(np.arange(1000.0)) == 125
    two = np.column_stack([np.sin(np.arange(900) / 5), np.zeros(900)])
    assert te.period(two) == te.period(two[:, 0]) == 31
    with pytest.raises(InvalidInputError, match="row 1 is not"):
        te.period([1.0, math.nan])
    with pytest.raises(InvalidInputError, match="series of numbers"):
        te.period(["a"])


def test_window_of_the_period():
    rng = np.random.default_rng(1)
    values = np.sin(2 * np.pi * np.arange(400) / 25)
    y = np.zeros(400, int)
    y[100:130] = 1
    s = rng.random(400) + y
    assert te.period(values) == 25
    found = te.evaluate(y, s, ["vus_pr(window=period)", "range_auc_roc(window=period)"], values=values)
    # TSB-AD takes the widths 0 .. 25, which is no even number of points.
    widths = [te.metrics.range_auc_pr(y, s, window=w, variant="vus") for w in range(26)]
    assert found["vus_pr(window='period')"] == pytest.approx(np.mean(widths), abs=1e-9)
    assert found["range_auc_roc(window='period')"] == te.metrics.range_auc_roc(y, s, window=25)
    for variant in ("timeeval", "ff_vus"):
        name = f"vus_roc(window='period', variant='{variant}')"
        step = 2 if variant == "ff_vus" else 1
        widths = [te.metrics.range_auc_roc(y, s, window=w, variant=variant) for w in range(0, 26, step)]
        assert te.evaluate(y, s, name, values=values)[name] == pytest.approx(np.mean(widths), abs=1e-9)
    with pytest.warns(UndefinedMetricWarning, match="needs the series: pass values="):
        assert math.isnan(te.metrics.vus_pr(y, s, window="period"))


def peak_memory(count, metrics, n=20_000):
    """The most bytes that were held at once, while that many series came from a generator."""

    def series():
        rng = np.random.default_rng(0)
        for i in range(count):
            y = (np.arange(n) // 100) % 20 == 7
            yield f"s{i}", y, rng.random(n) + y

    tracemalloc.start()
    try:
        te.evaluate_many(series(), metrics, n_jobs=2)  # a thread more is a series more
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_nothing_is_kept_of_series_but_what_the_micro_average_needs():
    peak_memory(1, ["f1", "vus_pr"])  # imports
    # Two series may or may not be at work at the same time.
    assert peak_memory(40, ["f1", "vus_pr"]) < 4 * peak_memory(2, ["f1", "vus_pr"])
    # Scores and labels of all series take 9 bytes a point.
    kept = 40 * 20_000 * 9
    assert peak_memory(40, "cce") < 1.5 * kept
    assert peak_memory(40, "auc_roc") < 5 * kept  # which sorts them


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("rule", ["best", "quantile(0.9)"])
def test_what_was_computed_of_a_series_goes_with_it(rule):
    """Without waiting for the garbage collector, to which a few large arrays are a few small objects."""
    y = (np.arange(300) // 20) % 5 == 2
    left = []
    gc.disable()
    try:
        for metric in METRICS.values():
            scoring = Scoring.of(y, np.sin(np.arange(300)) + y)
            metric.run(scoring, parse_rule(rule))
            seen = weakref.ref(scoring)
            del scoring
            if seen() is not None:
                left.append(metric.name)
    finally:
        gc.enable()
    assert left == []


def test_series_of_different_types_are_pooled_as_the_wider_one():
    y, s = np.arange(40) % 3 == 0, np.random.default_rng(0).random(40)
    for first, second in ((np.float32, np.float64), (np.float64, np.float32)):
        found = te.evaluate_many([("a", y, s.astype(first)), ("b", y, s.astype(second))], ["auc_roc", "cce"])
        both = np.concatenate([s.astype(first).astype(float), s.astype(second).astype(float)])
        assert found.micro["auc_roc"] == te.metrics.auc_roc(np.tile(y, 2), both)


ORDER = ["auc_roc", "auc_pr", "auc_pr(interpolation='trapezoid')", "best_f1", "precision_at_k"]


def some_series(number, n, levels):
    for i in range(number):
        rng = np.random.default_rng(i)
        y = rng.random(n) < 0.1
        yield f"s{i}", y, rng.integers(0, levels, n) / 4 + y


@pytest.mark.parametrize("levels", [8, 10**9])
def test_scores_are_pooled_in_pieces(monkeypatch, levels):
    """Whatever the pieces, the values are those of all points in one array."""
    monkeypatch.setattr(spill, "_PIECE", 1 << 10)
    monkeypatch.setattr(spill, "_EVERY", 1 << 4)
    found = te.evaluate_many(some_series(20, 500, levels), ORDER)
    _, y, s = map(np.concatenate, zip(*(([], y, s) for _, y, s in some_series(20, 500, levels)), strict=True))
    assert found.micro == pytest.approx(dict(te.evaluate(y, s, ORDER)), rel=1e-12)


@pytest.mark.slow
def test_pooling_keeps_no_scores_in_memory(monkeypatch):
    monkeypatch.setattr(spill, "_PIECE", 1 << 17)
    te.evaluate_many(some_series(2, 1000, 99), ["auc_roc", "f1"])
    tracemalloc.start()
    te.evaluate_many(some_series(100, 20_000, 10**9), ["auc_roc", "f1"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000_000  # the scores alone are 16,000,000 bytes


@pytest.mark.parametrize("odd", [2**53 + 1, 2**63 - 1, -(2**62) - 1, np.uint64(2**64 - 1), np.longdouble(1) / 3])
def test_scores_that_could_tie_with_those_of_another_series_are_refused(odd):
    """Each series alone keeps its order as floats; pooled, or in batches, nobody would see the tie."""
    if np.asarray(odd).dtype.kind == "f" and np.asarray(odd).itemsize == 8:
        pytest.skip("long doubles are doubles here")
    scores = np.array([odd, 3], np.asarray(odd).dtype)
    series = [("a", [0, 1], [2**53, 5]), ("b", [1, 0], scores)]
    assert te.evaluate([1, 0], scores, "auc_roc")["auc_roc"] in (0, 1)
    with pytest.raises(InvalidInputError, match=r"y_score has \w+ values that 64-bit floats cannot hold"):
        te.evaluate_many(series, "auc_roc").micro["auc_roc"]
    with pytest.raises(InvalidInputError, match=r"begins at point 2: y_score has \w+ values that 64-bit floats cannot"):
        te.evaluate_stream([(y, s) for _, y, s in series], "auc_roc")
    assert te.evaluate_many([("a", [0, 1], [2**53, 2**60])], "auc_roc").micro["auc_roc"] == 1
