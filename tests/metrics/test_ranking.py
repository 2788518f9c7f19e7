"""Metrics of the order of scores against their definitions."""

import math
import tracemalloc

import numpy as np
import pytest
import tsadeval.metrics._kernels.ranking as kernel
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from naive import ranking as naive
from strategies import examples, labels, scorings
from tsadeval.core.inputs import Scoring
from tsadeval.errors import UndefinedMetricWarning
from tsadeval.metrics.counting import curve, ranks_of


def same(found, expected):
    return math.isnan(found) if expected is None else found == pytest.approx(float(expected), abs=1e-12)


@examples(1000)
@given(scorings(min_size=1, max_size=30, both=False), st.sampled_from([0.5, 1.0, 3.0]))
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_equals_the_definition(data, beta):
    assert same(te.metrics.auc_roc(*data), naive.auc_roc(*data))
    for interpolation in ("step", "trapezoid"):
        expected = naive.auc_pr(*data, interpolation)
        assert same(te.metrics.auc_pr(*data, interpolation=interpolation), expected)
    assert same(te.metrics.best_f1(*data, beta=beta), naive.best_f1(*data, beta))


@examples(1000)
@given(scorings(min_size=1, max_size=10, both=False), st.one_of(st.none(), st.integers(1, 12)))
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_precision_at_k_equals_the_mean_over_all_ways_to_break_ties(data, k):
    assert same(te.metrics.precision_at_k(*data, k=k), naive.precision_at_k(*data, k))


@examples(300)
@given(st.data())
def test_any_finite_scores_are_fine(data):
    y = data.draw(labels(both=True, max_size=12))
    finite = st.one_of(
        st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, -0.0, 5e-324, 1.7e308, -1.7e308])
    )
    s = np.array(data.draw(st.lists(finite, min_size=len(y), max_size=len(y))))
    assert same(te.metrics.auc_roc(y, s), naive.auc_roc(y, s))
    assert same(te.metrics.auc_pr(y, s), naive.auc_pr(y, s))
    assert same(te.metrics.precision_at_k(y, s), naive.precision_at_k(y, s))


@pytest.mark.parametrize("score", [-1e308, -3.0, 0.0, 7.5])
def test_constant_scores_know_nothing(score):
    y, s = [0, 1, 1, 0, 0], [score] * 5
    assert te.metrics.auc_roc(y, s) == 0.5
    assert te.metrics.auc_pr(y, s) == pytest.approx(2 / 5)
    assert te.metrics.best_f1(y, s) == pytest.approx(4 / 7)
    assert te.metrics.precision_at_k(y, s) == pytest.approx(2 / 5)


@pytest.mark.parametrize("digits", [True, False])
def test_memory_of_what_needs_the_whole_order(digits, monkeypatch):
    # One sorted copy of the scores, and what is near events; not in one piece where the scores are sorted by digits.
    monkeypatch.setattr("tsadeval.core.order.digits_pay", lambda: digits)
    n = 400_000
    y = (np.arange(n) % 2000 < 50).astype(np.int64)
    s = np.random.default_rng(0).normal(size=n) + 1.5 * y
    for metric in ("pate", "ears", "vus_pr"):
        te.evaluate(y[:5000], s[:5000], [metric])  # what is read or made once
        tracemalloc.start()
        te.evaluate(y, s, [metric])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < (1.65 if digits else 1.55) * s.nbytes, metric


def test_by_hand():
    y, s = [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]
    assert te.metrics.auc_roc(y, s) == 3 / 4
    assert te.metrics.auc_pr(y, s) == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)
    assert te.metrics.auc_pr(y, s, interpolation="trapezoid") == pytest.approx(1 / 2 + 1 / 2 * (1 / 2 + 2 / 3) / 2)
    assert te.metrics.best_f1(y, s) == pytest.approx(4 / 5)
    assert te.metrics.precision_at_k(y, s) == 1 / 2
    assert te.metrics.precision_at_k(y, s, k=1) == 1
    assert te.metrics.precision_at_k([0, 0], [1, 2], k=1) == 0


def test_precision_at_k_says_why_it_is_undefined():
    with pytest.warns(UndefinedMetricWarning, match="only 3 points"):
        assert math.isnan(te.metrics.precision_at_k([0, 1, 0], [1, 2, 3], k=4))
    with pytest.warns(UndefinedMetricWarning, match="k is 0"):
        assert math.isnan(te.metrics.precision_at_k([0, 0, 0], [1, 2, 3]))


def counts_by_definition(anomalous, normal):
    levels = np.unique(anomalous)[::-1]
    return [[int((scores >= v).sum()) for v in levels] for scores in (anomalous, normal)], [
        int((normal > v).sum()) for v in levels
    ]


def spreads(n, rng):
    """Scores that lie as unevenly as can be: a table of equal cells leaves most of them to one."""
    noise = rng.normal(size=n)
    return {
        "noise": noise,
        "tenths": noise.round(1),
        "two values": (noise > 1).astype(float),
        "all equal": np.zeros(n),
        "zeros of both signs": np.where(noise > 0, 0.0, -0.0),
        "outlier": np.where(np.arange(n) == n // 2, 1e300, noise),
        "two outliers": np.where(np.arange(n) == 1, -1.7e308, np.where(np.arange(n) == n // 2, 1.7e308, noise)),
        "heavy tails": np.exp(8 * noise),
        "all magnitudes": np.sign(noise) * 2.0 ** np.clip(300 * noise, -1000, 1000),
        "towards one": 1 + 2.0 ** -rng.integers(1, 53, n),
        "neighbours": 1 + rng.integers(0, 9, n) * 2.0**-52,
        "smallest": rng.integers(-9, 9, n) * 5e-324,
        "far off": 1e15 + noise,
    }


SPREADS = list(spreads(1, np.random.default_rng(0)))


@pytest.mark.parametrize("kind", SPREADS)
@pytest.mark.parametrize("anomalous", [0.02, 0.5, 0.98])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_counts_between_levels_are_those_of_the_definition(kind, anomalous, dtype):
    rng = np.random.default_rng(0)
    for n in (1, 2, 40, 300, 4000):
        with np.errstate(over="ignore"):
            scores = np.clip(spreads(n, rng)[kind], -3e38, 3e38) if dtype is np.float32 else spreads(n, rng)[kind]
        scores, labels = scores.astype(dtype), rng.random(n) < anomalous
        scoring = Scoring.of(labels, scores)
        runs, levels = scoring.truth, np.sort(scores[labels].astype(float))
        (found, false), above = counts_by_definition(scores[labels], scores[~labels])
        for easy in (False, True):
            counts = kernel.placed(levels, scores, runs.starts, runs.counts, runs.first, easy)
            assert easy or counts is not None
            if counts is not None:
                assert [c.tolist() for c in counts] == [found, above, false]
        sweep = curve(scoring)
        assert [sweep.found.tolist(), sweep.above.tolist(), sweep.false.tolist()] == [found, above, false]


@pytest.mark.parametrize("pays", [True, False])
@pytest.mark.parametrize("kind", SPREADS)
def test_values_do_not_depend_on_the_sort(kind, pays, monkeypatch):
    rng = np.random.default_rng(1)
    y, s = rng.random(9000) < 0.6, spreads(9000, rng)[kind]
    names = ["auc_roc", "auc_pr", "best_f1", "auc_roc_pa", "auc_pr_pa", "precision_at_k", "vus_pr", "pate"]
    expected = [te.evaluate(y, s, [name])[name] for name in names]
    monkeypatch.setattr("tsadeval.core.order.digits_pay", lambda: pays)
    monkeypatch.setattr("tsadeval.metrics.counting.digits_pay", lambda: pays)
    for order in (names, names[::-1]):
        found = te.evaluate(y, s, order)
        assert [found[name] for name in names] == expected


def test_one_sweep_for_all_metrics_of_one_call_whichever_comes_first(monkeypatch):
    placed, calls = kernel.placed, []
    monkeypatch.setattr(kernel, "placed", lambda *given: calls.append(1) or placed(*given))
    y, s = np.arange(1000) % 9 == 0, np.random.default_rng(0).normal(size=1000)
    names = ["auc_pr_pa", "best_f1", "auc_roc", "auc_pr", "auc_roc_pa"]
    for order in (names, names[::-1]):
        calls.clear()
        te.evaluate(y, s, order)
        assert len(calls) == 1


@examples(300)
@given(scorings(min_size=1, max_size=40, both=False), st.integers(1, 40))
def test_the_points_around_a_rank(data, rank):
    y, s = (np.asarray(values) for values in data)
    rank = min(rank, len(s))
    cut = np.sort(s)[::-1][rank - 1]
    above, tied = ranks_of(Scoring.of(y, s), rank)
    assert above == (((s > cut) & (y == 1)).sum(), ((s > cut) & (y == 0)).sum())
    assert tied == (((s == cut) & (y == 1)).sum(), ((s == cut) & (y == 0)).sum())


@pytest.mark.parametrize("kind", SPREADS)
def test_the_points_around_a_rank_of_long_series(kind):
    rng = np.random.default_rng(2)
    s, y = spreads(5000, rng)[kind], rng.random(5000) < 0.1
    # A sample of every fifth point misleads about these.
    s[::5] = np.where(rng.random() < 0.5, s.max(), s.min())
    for rank in (1, 2, 500, 2500, 4999, 5000):
        cut = np.sort(s)[::-1][rank - 1]
        above, tied = ranks_of(Scoring.of(y, s), rank)
        assert [above[0], sum(above)] == [(s > cut)[y].sum(), (s > cut).sum()]
        assert [tied[0], sum(tied)] == [(s == cut)[y].sum(), (s == cut).sum()]
