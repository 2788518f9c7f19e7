"""Windows of a series as views, and the conversion of scores of windows to one score per point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from tsadeval.detectors.series import Floats, Index

# Values that a batch of windows may hold once copied: 32 MB as float64.
BATCH_VALUES = 2**22


def windows(series: Floats, window: int) -> Floats:
    """All windows of a series (n, columns): a view of shape (n - window + 1, window, columns).

    >>> windows(np.arange(4.0)[:, None], 2)[..., 0]
    array([[0., 1.],
           [1., 2.],
           [2., 3.]])
    """
    return sliding_window_view(series, window, axis=0).transpose(0, 2, 1)


def batch_size(window: int, columns: int) -> int:
    """How many windows may be copied at once."""
    return max(1, min(4096, BATCH_VALUES // (window * columns)))


def sample(n: int, most: int | None, seed: int) -> Index:
    """Positions of at most `most` of n windows, in order, drawn with a seed."""
    if most is None or n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def score_points(n: int, window: int, score: Callable[[Index], NDArray[Any]], *, batch: int, stride: int = 1) -> Floats:
    """One score for each of n points, from the scores of windows; memory does not grow with n times window.

    `score` gets the starts of a batch of windows. What it gives is either (batch,), one score that holds for all
    points of its window, or (batch, k), scores of the last k points of each window. A point gets the mean of all
    scores that it has been given; points before the first such one (the head of the first window) get its score.

    Windows start at every `stride`-th point; a last one ends with the series.

    >>> score_points(4, 2, lambda starts: starts + 1.0, batch=2)
    array([1. , 1.5, 2.5, 3. ])
    >>> score_points(4, 3, lambda starts: starts[:, None] + 1.0, batch=2)
    array([1., 1., 1., 2.])
    """
    starts = np.arange(0, n - window + 1, stride)
    if starts[-1] != n - window:
        starts = np.append(starts, n - window)
    sums, counts = np.zeros(n), np.zeros(n)
    for at in range(0, len(starts), batch):
        part = starts[at : at + batch]
        given = np.asarray(score(part), dtype=np.float64)
        if given.ndim == 1:
            given = np.broadcast_to(given[:, None], (len(part), window))
        reach = given.shape[1]
        first = part[0] + window - reach
        positions = ((part - part[0])[:, None] + np.arange(reach)).ravel()
        total = np.bincount(positions, weights=given.ravel())
        sums[first : first + len(total)] += total
        counts[first : first + len(total)] += np.bincount(positions)
    head = int(np.argmax(counts > 0))
    sums[head:] /= counts[head:]
    sums[:head] = sums[head]
    return sums
