"""The NAB score against its definition and against published scores."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from definitions import swept
from naive.best import best as naive_best
from naive.nab import nab_score as naive_nab_score
from strategies import examples, predictions, scorings

# What NAB published for its own detectors; see golden/make_nab.py.
PUBLISHED = json.loads((Path(__file__).parents[1] / "golden" / "nab.json").read_text())
PROFILES = ["standard", "reward_low_fp", "reward_low_fn"]


@examples(1000)
@given(
    predictions(min_size=1, both=False),
    st.sampled_from(PROFILES),
    st.sampled_from([0.0, 0.15, 0.5, 0.999, 1.0]),
)
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_equals_the_definition(data, profile, probation):
    found = te.metrics.nab_score(*data, profile=profile, probation=probation)
    expected = naive_nab_score(*data, profile=profile, probation=probation)
    assert math.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-10)


@examples(1000)
@given(scorings(), st.sampled_from(PROFILES), st.sampled_from([0.0, 0.0, 0.15, 0.5, 0.999]))
def test_best_threshold_equals_the_definition(data, profile, probation):
    y, s = data
    expected = naive_best(naive_nab_score, y, s, profile=profile, probation=probation)
    v, value = swept("nab_score", y, s, profile=profile, probation=probation)
    if expected is None:  # every window lies in the probation
        assert math.isnan(v)
        assert math.isnan(value)
        return
    assert v == expected[0]
    assert value == pytest.approx(expected[1], abs=1e-10)


def test_best_threshold_by_hand():
    # One window [4, 8). At 7 it is found at its last point, at 5 at its first one, but behind a false alarm at 6.
    y, s = np.zeros(12, int), np.zeros(12)
    y[4:8] = 1
    s[[7, 0, 4]] = 7, 6, 5
    late, early = (50 * (math.tanh(2.5 * d) / math.tanh(2.5) + 1) for d in (1 / 4, 1))
    assert swept("nab_score", y, s) == (5, pytest.approx(early - 50 * 0.11))
    s[1:4] = 6
    s[8:] = 6  # and now behind eight of them
    v, value = swept("nab_score", y, s)
    assert (v, value) == (7, pytest.approx(late))


def test_best_threshold_of_a_long_series():
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(60) % 2, rng.integers(5, 80, 60))
    s = rng.random(len(y)) + 0.3 * y
    levels = np.unique(s)[::-1]
    values = np.array([te.metrics.nab_score(y, s >= v, probation=0.1) for v in levels])
    assert swept("nab_score", y, s, probation=0.1) == (levels[np.argmax(values)], values.max())


@pytest.mark.parametrize("profile", PROFILES)
def test_perfect_is_100_and_no_alarm_is_0(profile):
    y = np.repeat([0, 1, 0, 1, 0], [5, 4, 7, 1, 3])
    first_points = np.diff(y, prepend=0) == 1
    assert te.metrics.nab_score(y, first_points, profile=profile) == pytest.approx(100, abs=1e-12)
    assert te.metrics.nab_score(y, y, profile=profile) == pytest.approx(100, abs=1e-12)
    assert te.metrics.nab_score(y, np.zeros_like(y), profile=profile) == 0


def test_worked_example():
    # One window [4, 8). First alarm at 6, two points before its stop; false alarms before the window (in full)
    # and at 8 and 17, one and ten points after its last point 7, in widths of 3: 1/3, and past three widths.
    y = np.zeros(20, int)
    y[4:8] = 1
    p = np.zeros(20, int)
    p[[0, 6, 7, 8, 17]] = 1

    def sigmoid(x):
        return 1 / (1 + math.exp(-x))

    raw = (2 * sigmoid(2.5) - 1) / (2 * sigmoid(5) - 1) - 0.11 * (1 + (1 - 2 * sigmoid(-5 / 3)) + 1)
    assert te.metrics.nab_score(y, p) == pytest.approx(100 * (raw + 1) / 2, abs=1e-12)


def test_probation_is_a_share_of_at_most_5000_points():
    y = np.zeros(20_000, int)
    y[10_000:10_100] = 1
    p = np.zeros_like(y)
    p[[749, 10_000]] = 1
    assert te.metrics.nab_score(y, p, probation=0.15) == 100
    p[750] = 1
    assert te.metrics.nab_score(y, p, probation=0.15) == pytest.approx(100 - 5.5)


@examples(10)
@given(st.integers(0, 999))
def test_blocks_of_a_long_series_add_up(seed):
    rng = np.random.default_rng(seed)
    y = np.zeros(150_000, int)
    for start in rng.integers(0, 149_000, 5):
        y[start : start + 30_000] = 1
    y[:10] = 0
    p = rng.random(150_000) < 0.001
    events = te.core.events.Events.of(y)
    total = 0.0
    for i in np.flatnonzero(p & (y == 0)):
        before = np.flatnonzero(events.stops <= i)
        position = math.inf
        if len(before):
            position = (i - events.stops[before[-1]] + 1) / (events.lengths[before[-1]] - 1)
        total += 1 if position > 3 else math.tanh(2.5 * position)
    only_found = te.metrics.nab_score(y, p & (y == 1))
    expected = only_found - 100 * 0.11 * total / (2 * len(events))
    assert te.metrics.nab_score(y, p) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: case["name"])
def test_equals_the_published_score(case):
    y, p = np.zeros(case["n"], int), np.zeros(case["n"], int)
    for start, stop in case["windows"]:
        y[start:stop] = 1
    p[case["alarms"]] = 1
    found = te.metrics.nab_score(y, p, profile=case["profile"], probation=0.15)
    # Published per file are sums; NAB scales the sum over its whole corpus, by the same rule.
    miss = {"standard": 1, "reward_low_fp": 1, "reward_low_fn": 2}[case["profile"]]
    windows = len(case["windows"])
    assert found == pytest.approx(100 * (case["score"] + miss * windows) / ((1 + miss) * windows), abs=1e-9)
