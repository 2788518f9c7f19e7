"""Random batches of padded series, and the CPU metrics on each of them.

TSADEVAL_EXAMPLES=100 makes 1,000 batches for each metric and dtype; TSADEVAL_DEVICE=cuda puts them on a GPU.
"""

import os
import warnings

import numpy as np
import torch
from hypothesis import strategies as st

from strategies import FACTOR
from tsadeval.errors import UndefinedMetricWarning

DEVICE = os.environ.get("TSADEVAL_DEVICE", "cpu")
# Series of a batch: fewer where there are many batches.
COUNT = 100 if FACTOR < 10 else 10


def _labels(rng, n):
    """Runs of labels: long events, single points, gaps of 1, events at the ends; sometimes one class only."""
    first, runs = rng.integers(2), np.where(rng.random(n) < 0.4, 1, rng.integers(1, rng.integers(2, 13), n))
    y = np.repeat((np.arange(n) + first) % 2, runs)[:n]
    if rng.random() < 0.05:
        y[:] = rng.integers(2)
    return y


def _scores(rng, n, dtype):
    """Smooth, with ties, binary, constant, or on a scale of its own."""
    kind = rng.choice(["smooth", "smooth", "ties", "ties", "binary", "constant", "scaled"])
    if kind == "ties":
        return (rng.integers(0, rng.integers(2, 7), n) / 4).astype(dtype)
    if kind in ("binary", "constant"):
        return rng.integers(0, 2 if kind == "binary" else 1, n).astype(dtype)
    scores = rng.random(n)
    if kind == "scaled":
        scores = scores * 10.0 ** rng.integers(-6, 6) + rng.choice([0, 1000])
    return scores.astype(dtype)


class Case:
    """Series of different lengths, and the same as one padded batch."""

    def __init__(self, seed, count, longest, dtype, how):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(2, longest + 1, count)
        self.labels = [_labels(rng, n) for n in sizes]
        self.scores = [_scores(rng, n, dtype) for n in sizes]
        self.alarms = [_labels(rng, n) if rng.random() < 0.8 else np.full(n, rng.integers(2)) for n in sizes]
        width = longest + rng.integers(3)
        self.keep = np.zeros((count, width), bool)
        for i, n in enumerate(sizes):
            at = np.arange(n) if how == "lengths" else np.sort(rng.choice(width, n, replace=False))
            self.keep[i, at] = True
        self.target = self._padded(self.labels, np.int64, 7)
        self.preds = self._padded(self.scores, dtype, np.nan)
        self.predicted = self._padded(self.alarms, np.int64, 5)
        if how == "lengths":
            self.where = {"lengths": torch.from_numpy(sizes).to(DEVICE)}
        else:
            self.where = {"mask": torch.from_numpy(self.keep).to(DEVICE)}

    def _padded(self, series, dtype, filling):
        table = np.full(self.keep.shape, filling, dtype)
        table[self.keep] = np.concatenate(series)
        return torch.from_numpy(table).to(DEVICE)


def batches(count=COUNT, longest=40, dtype=np.float64):
    """Hypothesis draws the seed, from which everything follows."""
    return st.builds(
        Case,
        st.integers(0, 2**32 - 1),
        st.just(count),
        st.just(longest),
        st.just(dtype),
        st.sampled_from(["lengths", "mask"]),
    )


def quiet(function, *arguments, **options):
    """Call without the warnings of undefined values, of which random labels have some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return function(*arguments, **options)


def assert_equal(found, series, tolerance):
    """Values of a batch against those of its series; NaN equals NaN."""
    expected = np.array(list(series))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.double().cpu().numpy(), expected, rtol=0, atol=tolerance)
