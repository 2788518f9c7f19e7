"""EARS against its definition, by hand, and what is claimed of it."""

import json
import math

import numpy as np
import pytest
import tsadeval.metrics._kernels.ears as kernel
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter

import tsadeval as te
from naive.ears import ears as naive_ears
from naive.ears import parts as naive_parts
from strategies import examples, labels, scorings
from tsadeval.core.inputs import Scoring
from tsadeval.errors import UndefinedMetricWarning

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "tolerance": st.integers(0, 12),
        "floor": st.sampled_from([1e-9, 1e-4, 0.3, 1.0]),
        "earliness": st.sampled_from([0.1, 0.9, 1.0]),
    },
)

# The check values of the definition.
Y = np.array([0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0])
S = np.array([0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.8, 0.2, 0.4, 0.1, 0.2])


def ten_events():
    y = np.zeros(10_000, int)
    for start in range(300, 10_000, 1000):
        y[start : start + 50] = 1
    return y


def test_check_values():
    b = te.ears_breakdown(Y, S)
    assert te.ears(Y, S) == pytest.approx(0.520342526681889, abs=1e-14)
    assert b.tolerance == 3
    assert b.base == pytest.approx(0.16669369487614769, abs=1e-14)
    assert b.events["rarity"] == pytest.approx([0.81890247, 0.38169434], abs=1e-8)
    assert te.ears(Y, S, earliness=1) == pytest.approx(0.4435068577144583, abs=1e-14)
    data = Scoring.of(Y, S)
    changes = kernel.changes(data.scores, data.truth.starts, data.truth.counts, data.truth.first, 3, 0, 0.5)
    changes = changes[np.argsort(-S[changes["position"]], kind="stable")]
    nothing = np.empty(0, kernel.LEVEL)
    seen, base = kernel.totals(
        data.sorted, S[changes["position"]], changes, 3, 0.01, nothing
    )  # points on their own only
    assert (seen / 2 - base) / (1 - base) == pytest.approx(0.5352766274105705, abs=1e-14)


def test_check_values_on_a_longer_series():
    rng, y = np.random.default_rng(0), ten_events()
    s = rng.random(10_000) + y
    assert te.ears(y, s) == pytest.approx(1, abs=1e-11)
    assert te.ears(y, -s) == pytest.approx(-0.11750041254575548, abs=1e-11)
    assert te.ears(y, np.full(10_000, 7.0)) == pytest.approx(0, abs=1e-15)
    s = rng.normal(size=10_000) + 1.5 * y
    assert te.ears(y, s) == pytest.approx(0.2665955631213197, abs=1e-11)
    assert te.ears(y, np.exp(s)) == te.ears(y, s)


def rarity(*shares, floor=0.01):
    """The mean over windows of the rarity of a share."""
    return np.mean([math.log((1 + floor) / (f + floor)) for f in shares]) / math.log((1 + floor) / floor)


def test_by_hand_one_event_of_one_point():
    # D = 2. The four normal points weigh 1, 1/2, 1/2, 1 of 3; one of them, of weight 1/2, scores more than the event.
    y, s = [0, 0, 1, 0, 0], [0, 1, 2, 3, 0]
    # Largest score of the last three points of the run: 0 1 | 3 3.
    seen = rarity(1 / 6, 1 / 2)
    low = rarity((1 / 3 + 1 / 3) / 2 + 1 / 6 + 1 / 6, 1 / 2 + 1 / 6 + 1 / 6)  # score 0: two tie; trailing, one ties
    middle = rarity(1 / 6 + 1 / 12, 1 / 2 + 1 / 12)  # score 1
    high = rarity(1 / 12, 1 / 4)  # score 3
    base = 2 / 3 * low + middle / 6 + high / 6
    assert te.ears(y, s) == pytest.approx((seen - base) / (1 - base), abs=1e-14)


def test_by_hand_earliness():
    # No false alarm: all normal points tie at a share of 1/2, and each point of the event is above or with them.
    y = [0, 0, 1, 1, 0, 0, 0, 0]
    tied, base = rarity(0.5, 0.5), rarity(0.5, 0.5)
    for s, first, second in (([1, 0], 1, tied), ([0, 1], tied, 1), ([1, 1], 1, 1)):
        scores = np.zeros(8)
        scores[2:4] = s
        for exponent in (0.5, 1.0):
            seen = 0.5**exponent * first + (1 - 0.5**exponent) * second
            assert te.ears(y, scores, earliness=exponent) == pytest.approx((seen - base) / (1 - base), abs=1e-14)


def test_by_hand_a_burst_counts_about_once():
    # Tolerance 2, so normal points weigh 1/2, 1, 1, 1, 1, 1 of 5.5 from the event on.
    y = [1, 0, 0, 0, 0, 0, 0]
    apart, burst = [2, 0, 0, 3, 0, 0, 3], [2, 0, 0, 3, 3, 0, 0]
    # On their own two points are above the event; trailing, four are, whether the alarms stand together or apart.
    seen = rarity(2 / 5.5, 4 / 5.5)
    assert te.ears_breakdown(y, apart, tolerance=2).events["rarity"][0] == pytest.approx(seen, abs=1e-14)
    assert te.ears_breakdown(y, burst, tolerance=2).events["rarity"][0] == pytest.approx(seen, abs=1e-14)
    late = [2, 0, 0, 0, 0, 3, 3]
    seen = rarity(2 / 5.5, 2 / 5.5)
    assert te.ears_breakdown(y, late, tolerance=2).events["rarity"][0] == pytest.approx(seen, abs=1e-14)


@examples(1000)
@given(scorings(), OPTIONS)
def test_equals_the_definition(data, options):
    assert te.ears(*data, **options) == pytest.approx(naive_ears(*data, **options), abs=1e-12)


@examples(300)
@given(st.data())
def test_equals_the_definition_for_any_finite_scores(data):
    y = data.draw(labels(both=True, max_size=15))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    s = data.draw(st.lists(finite, min_size=len(y), max_size=len(y)))
    assert te.ears(y, s) == pytest.approx(naive_ears(y, s), abs=1e-12)


@examples(300)
@given(scorings(), OPTIONS)
def test_shares_sum_to_the_score(data, options):
    b = te.ears_breakdown(*data, **options)
    base, seen = naive_parts(*data, **options)
    assert b.score == te.ears(*data, **options)
    assert b.base == pytest.approx(base, abs=1e-12)
    assert b.events["rarity"] == pytest.approx(seen, abs=1e-12)
    assert b.events["share"].sum() == pytest.approx(b.score, abs=1e-12)
    assert b.events["share"].sum() + b.events["lost"].sum() == pytest.approx(1, abs=1e-12)
    assert sorted(b.false_alarms["position"]) == np.flatnonzero(data[0] == 0).tolist()
    assert (np.diff(b.false_alarms["charge"]) <= 0).all()


@examples(300)
@given(scorings(max_size=60))
def test_bounds(data):
    # Rarity is convex in the share, so ties only lower the mean of the normal points.
    highest = 1 / math.log(1.01 / 0.01) - 0.01
    b = te.ears_breakdown(*data)
    assert 0 <= b.base <= highest
    assert -highest / (1 - highest) - 1e-12 <= b.score <= 1


def test_a_perfect_detector_gets_1_its_inverse_not_minus_1():
    y = ten_events()
    assert te.ears(y, y) == 1
    assert te.ears(y, y + np.linspace(0, 0.9, len(y))) == pytest.approx(1, abs=1e-12)
    assert -0.26 < te.ears(y, -y) < -0.05


@pytest.mark.parametrize(
    ("events", "length"), [(1, 10), (1, 400), (10, 1), (10, 40), (40, 10), (1, 2000), (10, 200), (200, 10)]
)
@pytest.mark.parametrize("phi", [0.0, 0.9])
def test_random_scores_get_about_0_whatever_the_labels(events, length, phi):
    n, values = 4000, []
    y = np.zeros(n, int)
    for start in np.linspace(100, n - length - 100, events).astype(int):
        y[start : start + length] = 1
    for seed in range(40):
        noise = np.random.default_rng(seed).normal(size=n)
        values.append(te.ears(y, lfilter([1.0], [1.0, -phi], noise)))
    assert abs(np.mean(values)) < max(0.012, 3.5 * np.std(values) / math.sqrt(len(values)))


@given(scorings())
def test_a_window_beyond_the_series_is_the_whole_run(data):
    assert te.ears(*data, tolerance=len(data[0])) == te.ears(*data, tolerance=10**30)


@examples(30)
@given(st.data())
def test_long_runs_have_many_blocks(data):
    n, window = 300, data.draw(st.integers(0, 40))
    s = np.random.default_rng(data.draw(st.integers(0, 999))).integers(0, data.draw(st.integers(2, 500)), n)
    y = np.zeros(n, int)
    y[data.draw(st.integers(0, 140)) : 150] = 1
    assert te.ears(y, s, tolerance=window) == pytest.approx(naive_ears(y, s, tolerance=window), abs=1e-12)


def test_the_charge_is_what_one_of_many_points_costs():
    y = ten_events()
    s = np.random.default_rng(3).normal(size=10_000) + 2 * y
    b = te.ears_breakdown(y, s)
    for row in (*b.false_alarms[:1], *b.false_alarms[30:1000:120]):
        without = s.copy()
        without[row["position"]] = s.min() - 1
        assert te.ears(y, without) - b.score == pytest.approx(row["charge"], rel=0.5)


def test_a_planted_false_alarm_is_found():
    y = ten_events()
    s = np.random.default_rng(4).random(10_000) + y
    s[[2000, 5000]] = 3
    assert set(te.ears_breakdown(y, s).false_alarms["position"][:2]) == {2000, 5000}
    assert "2000" in repr(te.ears_breakdown(y, s))


def test_standard_error_is_that_of_a_mean_over_events():
    y, s = ten_events(), np.random.default_rng(5).normal(size=10_000) + ten_events()
    b = te.ears_breakdown(y, s)
    seen = b.events["rarity"]
    assert b.standard_error == pytest.approx(seen.std(ddof=1) / math.sqrt(10) / (1 - b.base))
    assert math.isnan(te.ears_breakdown([0, 1, 0], [0, 1, 0]).standard_error)


def test_worst_and_frame():
    y, s = ten_events(), np.random.default_rng(6).normal(size=10_000) + ten_events()
    b = te.ears_breakdown(y, s)
    assert b.worst(1)[0]["rarity"] == b.events["rarity"].min()
    assert (np.diff(b.worst()["lost"]) <= 0).all()
    assert b.rows[0]["start"] == 300
    assert sum(row["share"] for row in b.rows) == pytest.approx(b.score)
    assert "standard error" in b._repr_html_()
    assert "rarity" in b.to_latex()
    assert len(json.loads(b.to_json())) == 10
    assert list(b.to_frame()["start"]) == list(range(300, 10_000, 1000))


@pytest.mark.parametrize("y", [[0, 0], [1, 1]])
def test_one_class_has_no_score(y):
    with pytest.warns(UndefinedMetricWarning, match=r"ears.*point \(no") as caught:
        b = te.ears_breakdown(y, [0.0, 1.0])
    assert caught[0].filename == __file__
    assert math.isnan(b.score)
    assert len(b.events) == y[0]
    assert "nan" in repr(b)


@pytest.mark.parametrize("tolerance", [-1, 1.5, "wide"])
def test_bad_tolerance(tolerance):
    with pytest.raises(te.errors.InvalidParameterError, match="tolerance"):
        te.ears_breakdown(Y, S, tolerance=tolerance)
