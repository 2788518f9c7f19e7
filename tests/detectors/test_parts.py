"""What detectors are made of: the door, scaling, windows and the way back from them."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tsadeval.detectors.base import Detector
from tsadeval.detectors.series import Scaler, as_series, batch_size, sample, score_points, windows
from tsadeval.errors import InvalidInputError


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\)"),
        (3.0, r"shape \(\)"),
        (np.zeros((5, 0)), "empty"),
        (["a", "b"], "must hold numbers.*encode"),
        ([1 + 2j], "must hold numbers.*Complex data not supported"),
        (np.zeros((0, 2)), "empty: it has no points"),
        (csr_array([[1.0], [2.0]]), r"sparse.*pass X.toarray\(\)"),
        ([[1.0], [1.0, 2.0]], "cannot be read as an array"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), "masked"),
        (pd.Series([1, None], dtype="Int64"), "NaN at point 1"),
        ([1.0, np.inf], "infinite at point 1, column 0"),
        (pd.DataFrame({"value": [1.0], "time": ["noon"]}), "cannot be read.*noon"),
    ],
)
def test_series_that_cannot_be_looked_at(X, message):
    with pytest.raises(InvalidInputError, match=message):
        as_series(X)


@pytest.mark.parametrize("X", [[True, False], np.arange(3, dtype=np.uint8), pd.Series([1, 2], dtype="Int64")])
def test_numbers_of_any_type_are_fine(X):
    series = as_series(X)
    assert series.dtype == np.float64
    assert series.shape == (len(X), 1)


def test_a_detector_learns_the_scale_by_default_and_has_no_score():
    class Still(Detector):
        def _score(self, series):
            return np.zeros(len(series))

    detector = Still()
    detector._fit(np.array([[1.0], [3.0]]))
    assert detector.scaler_(np.array([[3.0]])).tolist() == [[1.0]]
    with pytest.raises(TypeError, match=r"abstract method '?_score"):
        Detector()


def test_standard_scaling():
    rng = np.random.default_rng(0)
    train = rng.normal(5, 3, size=(500, 2))
    scaled = Scaler.standard(train)(train)
    np.testing.assert_allclose(scaled, (train - train.mean(axis=0)) / train.std(axis=0))
    assert Scaler.standard(train)(np.array([[1e12, -1e12]])).tolist() == [[10.0, -10.0]]


def test_minmax_scaling():
    train = np.array([[1.0, -4.0], [3.0, 0.0], [2.0, -1.0]])
    np.testing.assert_allclose(Scaler.minmax(train)(train), [[0, 0], [1, 1], [0.5, 0.75]])
    assert Scaler.minmax(train)(np.array([[1e12, -1e12]])).tolist() == [[11.0, -10.0]]


@pytest.mark.parametrize("make", [Scaler.standard, Scaler.minmax])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e-7, 3e15, 1e300])
def test_constant_columns_are_zero(make, value):
    """Even where the mean of equal values is not exactly that value."""
    train = np.full((1001, 1), value)
    assert not make(train)(train).any()


@pytest.mark.parametrize("make", [Scaler.standard, Scaler.minmax])
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 5e307])
def test_scaling_does_not_overflow(make, size):
    train = size * np.array([[-1.0], [1.0], [0.5]])
    scaled = make(train)(train)
    assert np.isfinite(scaled).all()
    np.testing.assert_allclose(np.ptp(scaled), np.ptp(make(train / size)(train / size)), rtol=1e-6)


def test_windows_are_views():
    series = np.arange(20.0).reshape(10, 2)
    found = windows(series, 4)
    assert found.shape == (7, 4, 2)
    assert np.shares_memory(found, series)
    for start in range(7):
        np.testing.assert_array_equal(found[start], series[start : start + 4])


def test_samples_are_sorted_distinct_and_seeded():
    assert sample(5, None, 0).tolist() == sample(5, 5, 0).tolist() == [0, 1, 2, 3, 4]
    few = sample(1000, 50, 3)
    assert len(set(few.tolist())) == 50
    assert (np.diff(few) > 0).all()
    np.testing.assert_array_equal(few, sample(1000, 50, 3))
    assert not np.array_equal(few, sample(1000, 50, 4))


def test_batches_are_bounded():
    assert batch_size(100, 1) == 4096
    assert batch_size(100, 55) * 100 * 55 <= 2**22
    assert batch_size(10**6, 10) == 1


def naive_points(n, window, stride, scores_of):
    """Point by point, the mean of what it has been given; the head copies the first."""
    given = [[] for _ in range(n)]
    for start in sorted({*range(0, n - window + 1, stride), n - window}):
        scores = np.atleast_1d(scores_of(start))
        for back, score in enumerate(scores[::-1] if np.ndim(scores_of(start)) else np.repeat(scores, window)):
            given[start + window - 1 - back].append(score)
    first = next(i for i in range(n) if given[i])
    return [np.mean(given[max(i, first)]) for i in range(n)]


@given(data=st.data())
def test_points_from_windows(data):
    window = data.draw(st.integers(1, 8))
    n = data.draw(st.integers(window, 40))
    reach = data.draw(st.one_of(st.none(), st.integers(1, window)))
    stride = data.draw(st.integers(1, window if reach is None else reach))
    batch = data.draw(st.integers(1, 50))
    values = np.random.default_rng(n).normal(size=(n, reach or 1))
    table = values if reach is not None else values[:, 0]
    found = score_points(n, window, lambda starts: table[starts], batch=batch, stride=stride)
    np.testing.assert_allclose(found, naive_points(n, window, stride, lambda start: table[start]), atol=1e-12)


def test_memory_does_not_grow_with_the_window():
    """450,000 points by windows of 100 would be 360 MB as float64."""
    n, window = 450_000, 100
    series = np.zeros((n, 1))
    all_windows = windows(series, window)
    tracemalloc.start()
    try:
        score_points(n, window, lambda starts: all_windows[starts][:, -1, 0], batch=4096)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40e6
