"""The theory of the CCE paper: what holds, and counterexamples to what does not (docs/errata.md, docs/cce.md)."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from naive.events import runs
from strategies import examples, labels, scorings

TAUS = st.floats(0, 1)
ESTIMATORS = st.sampled_from(["beta", "pointwise", "scaled"])


@given(scorings(), TAUS, ESTIMATORS, st.booleans())
def test_bounded(data, tau, uncertainty, constrained):
    value = te.cce(*data, tau=tau, uncertainty=uncertainty, constrained=constrained)
    assert (0 if constrained else -2 * tau) - 1e-12 <= value <= 2 * (1 - tau) + 1e-12


@given(labels(both=True), TAUS)
def test_bounds_are_reached(y, tau):
    assert te.cce(y, y, tau=tau) == pytest.approx(2 * (1 - tau), abs=1e-12)
    assert te.cce(y, 1 - y, tau=tau) == pytest.approx(-2 * tau, abs=1e-12)


@given(scorings(), TAUS, ESTIMATORS)
def test_variance_is_at_most_a_quarter(data, tau, uncertainty):
    """The first theorem of the paper, and its corollary: uncertainty in [0, 1/4], consistency in [e^-1/4, 1]."""
    events = te.cce_breakdown(*data, tau=tau, uncertainty=uncertainty).events
    assert ((events["uncertainty"] >= 0) & (events["uncertainty"] <= 0.25 + 1e-12)).all()
    assert ((events["consistency"] >= math.exp(-0.25) - 1e-12) & (events["consistency"] <= 1)).all()
    np.testing.assert_allclose(events["consistency"], np.exp(-events["uncertainty"]), atol=1e-12)


def test_variance_of_a_quarter_is_reached():
    """By scores of 0 and 1, half of each: the limit of a Beta distribution whose parameters go to 0."""
    events = te.cce_breakdown([0, 0, 1, 1], [0, 1, 0, 1]).events
    assert events["uncertainty"].tolist() == [0.25, 0.25]
    assert events["consistency"].tolist() == pytest.approx([math.exp(-0.25)] * 2, abs=1e-15)


@given(scorings(), st.floats(0.5, 1), ESTIMATORS)
def test_range_of_the_paper(data, tau, uncertainty):
    """Under the assumption of its proof, tau in [.5, 1], [0, 1] holds clipped; unclipped [-1, 1] needs tau = .5."""
    y, s = data
    assert -1e-12 <= te.cce(y, s, tau=tau, uncertainty=uncertainty, constrained=True) <= 1 + 1e-12
    assert abs(te.cce(y, s, tau=0.5, uncertainty=uncertainty)) <= 1 + 1e-12


def test_range_of_the_paper_away_from_its_assumption():
    y = [0, 0, 1, 1, 0]
    assert te.cce(y, [1, 1, 0, 0, 1], tau=0.9) == pytest.approx(-1.8)
    assert te.cce(y, y, tau=0.1) == pytest.approx(1.8)
    assert te.cce(y, y, tau=0.1, constrained=True) == pytest.approx(1.8)


@given(scorings(), TAUS, ESTIMATORS, st.floats(0, 1), st.floats(0, 1))
def test_symmetric_in_the_classes(data, tau, uncertainty, event_weight, global_weight):
    y, s = data
    options = {"tau": tau, "uncertainty": uncertainty}
    value = te.cce(y, s, event_weight=event_weight, global_weight=global_weight, **options)
    mirrored = te.cce(1 - y, 1 - s, event_weight=1 - event_weight, global_weight=1 - global_weight, **options)
    assert mirrored == pytest.approx(value, abs=1e-9)


@given(scorings(), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), ESTIMATORS)
def test_shift_and_positive_scale_do_not_matter(data, shift, scale, uncertainty):
    y, s = data
    expected = te.cce(y, s, uncertainty=uncertainty)
    # Adding the shift rounds the scores themselves: by up to 1e-13 of a range that may be 1e-3.
    assert te.cce(y, shift + scale * s, uncertainty=uncertainty) == pytest.approx(expected, abs=1e-8)


def lipschitz_bound(y):
    """Of CCE on a fixed scale at tau = 1/2 (docs/cce.md): from the lengths of the events alone."""
    square = 0.0
    for label in (0, 1):
        lengths = np.array([stop - start for start, stop, found in runs(y) if found == label])
        square += (0.5 / len(lengths) * math.sqrt((1 / lengths).sum()) + 0.5 / math.sqrt(lengths.sum())) ** 2
    return math.sqrt(square)


@examples(1000)
@given(scorings(), st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1e-3, 0.1, 1.0]), st.booleans())
def test_lipschitz_on_a_fixed_scale(data, seed, size, constrained):
    y, s = data
    s = np.clip(s, 0, 1)
    moved = np.clip(s + size * np.random.default_rng(seed).normal(size=len(s)), 0, 1)
    options = {"normalize": None, "constrained": constrained}
    change = abs(te.cce(y, moved, **options) - te.cce(y, s, **options))
    assert change <= lipschitz_bound(y) * np.linalg.norm(moved - s) + 1e-12


def ratio(y, s, moved, **options):
    return abs(te.cce(y, moved, **options) - te.cce(y, s, **options)) / np.linalg.norm(np.subtract(moved, s))


@examples(1000)
@given(labels(both=True))
def test_the_constant_of_the_paper_is_above_that_of_the_lengths(y):
    shortest = min(stop - start for start, stop, _ in runs(y))
    assert lipschitz_bound(y) <= math.sqrt(2 / shortest) + 1e-12
    assert math.sqrt(2 / shortest) <= 0.81 * (1 + 0.75 / shortest)


def test_the_constant_of_the_lengths_is_reached():
    assert ratio([1, 0], [0.5, 0.5], [0.6, 0.4], normalize=None) == pytest.approx(math.sqrt(2))
    y = np.repeat([1, 0], [1, 10])
    step = np.where(y == 1, 1, -0.1) * 0.01
    assert lipschitz_bound(y) == pytest.approx(1.0488, abs=1e-4)
    assert ratio(y, np.full(11, 0.5), 0.5 + step, normalize=None) == pytest.approx(1.0488, abs=1e-3)


def test_lipschitz_constant_once_min_max_is_applied_to_the_perturbed_scores():
    """Events of 100 points: 0.14 on a fixed scale, 1.0075 by the paper; the two extreme scores move inwards."""
    y = np.repeat([0, 1], 100)
    s = np.clip(y, 1e-5, 1 - 1e-5)
    moved = s.copy()
    s[0], s[-1] = 0, 1
    assert lipschitz_bound(y) == pytest.approx(0.1414, abs=1e-4)
    assert ratio(y, s, moved) == pytest.approx(1.400, abs=1e-3)
    # On raw scores there is no constant at all: the same picture, a thousand times smaller.
    assert ratio(y, s / 1000, moved / 1000) == pytest.approx(1400, abs=1)


def test_one_outlier_squashes_everything():
    rng = np.random.default_rng(0)
    y = np.zeros(1000, int)
    y[300:350] = y[700:720] = 1
    s = np.where(y == 1, 0.9, 0.0) + np.where(y == 1, 0.1, 0.05) * rng.random(1000)
    outlier = s.copy()
    outlier[310] = 100.0  # inside an anomaly: no metric of ranks can be lower for it
    assert te.cce(y, s) == pytest.approx(0.928, abs=1e-3)
    assert te.cce(y, outlier) == pytest.approx(0.027, abs=1e-3)
    assert te.cce(y, outlier, normalize="quantile") == pytest.approx(0.847, abs=1e-3)
    assert te.cce(y, outlier, normalize="rank") == pytest.approx(te.cce(y, s, normalize="rank"), abs=0.01)


def test_monotone_transforms_change_it():
    y, s = np.array([0, 0, 0, 1, 1]), np.array([0.0, 0.3, 0.4, 0.6, 1.0])
    assert te.cce(y, s) == pytest.approx(0.5473, abs=1e-4)
    assert te.cce(y, s**4) == pytest.approx(0.5423, abs=1e-4)
    assert te.cce(y, s**0.1) == pytest.approx(0.3915, abs=1e-4)
    assert te.cce(y, s, normalize="rank") == te.cce(y, s**4, normalize="rank")


@given(scorings())
def test_constant_scores_are_uninformative(data):
    y, _ = data
    assert te.cce(y, np.full(len(y), 7.0)) == 0.0
    assert te.cce(y, np.full(len(y), 7.0), constrained=True) == 0.0


def test_extra_memory_grows_with_events_not_points():
    def peak(n):
        y = np.zeros(n, np.int64)
        y[n // 2 : n // 2 + 100] = 1
        s = np.linspace(0, 1, n)
        te.cce(y, s)  # imports and caches first
        tracemalloc.start()
        te.cce(y, s)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(1_000_000) < 64_000, "a copy of one byte a point would be 1,000,000"
    assert abs(peak(1_000_000) - peak(10_000)) < 4_000
