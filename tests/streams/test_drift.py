"""Drift of scores: the distance, how many points are independent, and warnings as seldom as is stated."""

import math

import numpy as np
import pytest

import tsadeval as te
from tsadeval.streams.drift import DriftTest


def autoregressive(rng, rho, n):
    noise = rng.normal(size=n) * math.sqrt(1 - rho * rho)
    scores = np.empty(n)
    last = rng.normal()
    for i, step in enumerate(noise.tolist()):
        last = scores[i] = rho * last + step
    return scores


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_the_distance_is_that_of_kolmogorov_and_smirnov(decimals):
    stats = pytest.importorskip("scipy.stats", reason="scipy is an extra")
    rng = np.random.default_rng(2)
    for shift in (-1, 0, 0.3):
        reference, scores = rng.normal(size=3000).round(decimals), (rng.normal(size=700) + shift).round(decimals)
        found = DriftTest(reference).measure(scores, 0.01)
        assert found["ks"] == pytest.approx(stats.ks_2samp(reference, scores).statistic)


@pytest.mark.parametrize("rho", [0.0, 0.9, 0.98])
def test_the_number_of_independent_points(rho):
    """Of an AR(1) process those above the median have an autocorrelation of 2 asin(rho^k) / pi."""
    rng = np.random.default_rng(3)
    lags = np.arange(1, 2000)
    expected = 1 + 2 * np.sum(2 / math.pi * np.arcsin(rho**lags))
    reference, scores = autoregressive(rng, rho, 40_000), autoregressive(rng, rho, 40_000)
    found = DriftTest(reference).measure(scores, 0.01)
    assert 40_000 / found["independent"] == pytest.approx(expected, rel=0.25)


def test_stationary_scores_do_not_warn_and_shifted_ones_do():
    """The table of all rates is made by benchmarks/drift.py; before, 51 of 60 such series warned."""
    rng = np.random.default_rng(4)
    warned = {0.0: 0, 0.5: 0, 1.0: 0}
    for _ in range(20):
        scores = autoregressive(rng, 0.98, 20_160)
        stream = te.StreamingEvaluator(9, window="7 days", reference=scores[:10_080])
        for shift in warned:
            stream = te.StreamingEvaluator(9, window="7 days", reference=scores[:10_080])
            stream.update(None, scores[10_080:] + shift, times=60 * np.arange(10_080))
            warned[shift] += stream.drift().warning is not None
    assert warned[0.0] == 0
    assert warned[1.0] >= 19


def test_the_rate_of_false_warnings_can_be_set():
    rng = np.random.default_rng(5)
    reference, scores = rng.normal(size=4000), rng.normal(size=2000) + 0.12
    levels = {}
    for rate in ("1/year", "12/year", "0.01/year"):
        stream = te.StreamingEvaluator(9, window="1 day", reference=reference, false_warnings=rate)
        drift = stream.update(None, scores, times=43.2 * np.arange(2000)).drift()
        levels[rate] = drift["level"]
    assert levels["12/year"] == pytest.approx(12 * levels["1/year"])
    assert levels["1/year"] == pytest.approx(1 / 365, rel=0.01)
    far = te.StreamingEvaluator(9, reference=reference, false_warnings="1/day").update([0] * 2000, scores).drift()
    assert far["level"] == 0.05  # never more in one window
    assert te.StreamingEvaluator(9, reference=reference).update([0] * 9, scores[:9]).drift()["level"] == 7 / 365


def test_few_or_equal_scores_give_no_warning():
    rng = np.random.default_rng(6)
    reference = rng.normal(size=1000)
    few = te.StreamingEvaluator(9, reference=reference).update([0] * 9, np.full(9, 8.0)).drift()
    assert math.isnan(few["p"])
    assert few.warning is None
    same = te.StreamingEvaluator(9, reference=np.zeros(50)).update([0] * 50, np.zeros(50)).drift()
    assert (same["ks"], same["p"], same.warning) == (0, 1, None)
