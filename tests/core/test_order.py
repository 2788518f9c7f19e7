"""The order of the points against a plain sort, with bands so small that short series have many; sorts by digits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tsadeval.core._order import sort_by_digits

from tsadeval.core.order import BAND, FEWEST, MANY, descending, digits_pay, sort

# Any finite scores; few values, so that they tie; and clusters whose members differ in their last bits only, which a
# key loses where others are far away.
SCORES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324]),
    st.builds(
        lambda at, step: at + step * np.spacing(at), st.sampled_from([1e-300, 1.0, 1e6, -1e300]), st.integers(0, 40)
    ),
)


def check(scores, points):
    assert (points["score"] == np.sort(scores)[::-1]).all()
    assert (scores[points["position"]] == points["score"]).all()
    assert (np.sort(points["position"]) == np.arange(len(scores))).all()


@given(scores=arrays(np.float64, st.integers(1, 200), elements=SCORES), band=st.sampled_from([1, 2, 3, 7, 20, BAND]))
def test_scores_descend_and_every_point_is_there_once(scores, band):
    check(scores, descending(scores, band))


@given(values=st.lists(st.integers(0, 3), min_size=1, max_size=300), band=st.sampled_from([1, 5, 30]))
def test_scores_of_few_values(values, band):
    scores = np.array(values, np.float64)
    check(scores, descending(scores, band))


@pytest.mark.parametrize("kind", ["noise", "rising", "falling", "rounded", "binary", "constant", "heavy", "far apart"])
def test_long_series_with_many_bands(kind):
    n = FEWEST * BAND + 12_345
    noise = np.random.default_rng(0).normal(size=n)
    scores = {
        "noise": noise,
        "rising": np.arange(n, dtype=np.float64),
        "falling": -np.arange(n, dtype=np.float64),
        "rounded": np.round(noise, 1),
        "binary": (noise > 1).astype(np.float64),
        "constant": np.zeros(n),
        "heavy": np.maximum(noise, 0.0),  # half of the scores are one value
        "far apart": np.where(np.arange(n) % 1000 == 5, 1e300, 1e6 + 1e-4 * noise),
    }[kind]
    check(scores, descending(scores))


@pytest.mark.parametrize("band", [4, BAND])
def test_scores_that_keys_cannot_tell_apart(band):
    # With 1e300 and -1e300 in one band, places of 1,000 points leave 54 bits for distances of nearly 64.
    scores = np.concatenate([[1e300, -1e300], 1.0 + np.random.default_rng(0).permutation(998) * 2.0**-52])
    check(scores, descending(scores, band))


@pytest.mark.parametrize("low", [0.0, 1.0, -1.0, np.nextafter(np.finfo(float).max, 0), -np.finfo(float).max])
def test_two_scores_with_nothing_between(low):
    scores = np.where(np.random.default_rng(0).random(400) < 0.1, np.nextafter(low, np.inf), low)
    check(scores, descending(scores, 20))


@given(scores=arrays(np.float64, st.integers(0, 300), elements=SCORES | st.sampled_from([np.inf, -np.inf])))
def test_a_sort_by_digits_is_a_sort(scores):
    ascending = scores.copy()
    sort_by_digits(ascending.view(np.uint64), True)
    assert (ascending == np.sort(scores)).all()
    assert sorted(ascending.view(np.uint64)) == sorted(scores.view(np.uint64))  # the same bits, each as often


@given(keys=arrays(np.uint64, st.integers(0, 300), elements=st.integers(0, 2**64 - 1) | st.integers(0, 3)))
def test_a_sort_by_digits_of_whole_numbers(keys):
    ascending = keys.copy()
    sort_by_digits(ascending, False)
    assert (ascending == np.sort(keys)).all()


@pytest.mark.parametrize("kind", ["noise", "rounded", "binary", "constant", "rising", "pipe", "wild", "largest"])
def test_a_sort_by_digits_of_many_values_part_by_part(kind):
    n = 150_000
    rng = np.random.default_rng(0)
    keys = {
        "noise": rng.integers(0, 2**64 - 1, n, np.uint64, endpoint=True),
        "rounded": rng.integers(0, 20, n, np.uint64),
        "binary": (rng.random(n) < 0.5).astype(np.uint64) * np.uint64(2**64 - 1),
        "constant": np.full(n, 7, np.uint64),
        "rising": np.arange(n, dtype=np.uint64),
        "pipe": np.minimum(np.arange(n), n - np.arange(n)).astype(np.uint64),
        # Where the middle one of some is looked for, there are the lowest.
        "wild": np.where(np.arange(n) % (n // 31) == 0, 0, rng.integers(1, 2**64 - 1, n, np.uint64)).astype(np.uint64),
        "largest": np.full(n, 2**64 - 1, np.uint64),
    }[kind]
    ascending = keys.copy()
    sort_by_digits(ascending, False)
    assert (ascending == np.sort(keys)).all()


@pytest.mark.parametrize("pays", [True, False])
def test_both_sorts_give_the_same(pays, monkeypatch):
    monkeypatch.setattr("tsadeval.core.order.digits_pay", lambda: pays)
    noise = np.random.default_rng(0).normal(size=2 * MANY)
    for scores in (noise, noise.astype(np.float32).astype(float), noise.round(1), np.zeros(MANY), -np.sort(noise)):
        assert (sort(scores.copy()) == np.sort(scores)).all()
        check(scores, descending(scores))


def test_it_is_measured_once_which_sort_is_quicker():
    assert digits_pay() in (True, False)
    assert digits_pay.cache_info().misses <= 1
