"""Series as detectors take them: checked, scaled, cut into windows, whose scores become one for each point."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from tsadeval.core.arrays import read_array
from tsadeval.core.events import Floats as Floats
from tsadeval.core.events import Index as Index
from tsadeval.errors import InvalidInputError


def as_series(X: Any, least: int = 1) -> Floats:
    """Check a series of at least `least` points, (n,) or (n, columns), and give it as a contiguous (n, columns)."""
    if hasattr(X, "toarray"):
        raise InvalidInputError("X is sparse, which no detector takes: pass X.toarray()")
    array = read_array(X, "X", "numbers in CPU memory, (points,) or (points, columns)")
    if array.dtype.kind not in "biuf":
        advice = "Complex data not supported" if array.dtype.kind == "c" else "drop or encode other columns"
        raise InvalidInputError(f"X must hold numbers, but has dtype {array.dtype}; {advice}")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InvalidInputError(f"X must be (points,) or (points, columns), but has shape {array.shape}")
    if len(array) == 0:
        raise InvalidInputError("X is empty: it has no points")
    if array.size == 0:  # in the words that scikit-learn's checks ask for
        raise InvalidInputError(f"X is empty: 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    series = np.ascontiguousarray(array, dtype=np.float64)
    finite = np.isfinite(series)
    if not finite.all():
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        what = "NaN" if np.isnan(series[row, column]) else "infinite"
        raise InvalidInputError(
            f"X must be finite, but is {what} at point {row}, column {column} ({int((~finite).sum())} such values "
            "in all); fill or drop them first"
        )
    if len(series) < least:
        raise InvalidInputError(
            f"X has {len(series)} points (n_samples={len(series)}), but the detector looks at {least} at once; "
            "give more points, or the detector a smaller window"
        )
    return series


# Scaling: columns brought to one scale by what the training part showed.


# A sensor that was almost still in training and then jumps is far off, but no farther than this many spreads: one
# dead column must not outweigh all others, nor overflow float32.
LIMIT = 10.0
# Below this share of its largest value, the spread of a column is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Scaler:
    """`(x - centre) / spread` of every column, clipped to a range.

    A column that is constant in training is 0 there, and its spread is taken as 1.
    """

    centre: Floats
    spread: Floats
    low: float
    high: float

    @classmethod
    def standard(cls, series: Floats) -> Self:
        """To mean 0 and standard deviation 1, within -10 and 10.

        >>> import numpy as np
        >>> scaler = Scaler.standard(np.array([[1.0, 7.0], [3.0, 7.0]]))
        >>> scaler(np.array([[1.0, 7.0], [4.0, 7.5], [99.0, 7.0]]))
        array([[-1. ,  0. ],
               [ 2. ,  0.5],
               [10. ,  0. ]])
        """
        size = _size(series)
        shares = series / size  # at most 1, so that squares of huge values do not overflow
        centre, spread = shares.mean(axis=0) * size, shares.std(axis=0)
        constant = spread <= _ROUNDING
        # The mean of equal values may be off by rounding; the value itself is not.
        return cls(np.where(constant, series[0], centre), np.where(constant, 1.0, spread * size), -LIMIT, LIMIT)

    @classmethod
    def minmax(cls, series: Floats) -> Self:
        """Scale the training part to 0 ... 1, everything within -10 and 11."""
        low, high = series.min(axis=0), series.max(axis=0)
        with np.errstate(over="ignore"):
            spread = np.minimum(high - low, np.finfo(np.float64).max)
        return cls(low, np.where(spread <= _ROUNDING * _size(series), 1.0, spread), -LIMIT, 1 + LIMIT)

    def __call__(self, series: Floats) -> Floats:
        """Bring a series to the scale of the training part."""
        with np.errstate(over="ignore"):  # what overflows is clipped
            scaled: Floats = (series - self.centre) / self.spread
        return np.clip(scaled, self.low, self.high, out=scaled)


def _size(series: Floats) -> Floats:
    largest = np.maximum(series.max(axis=0), -series.min(axis=0))
    return np.where(largest > 0, largest, 1.0)


# Windows as views, and the conversion of scores of windows to one score per point.


# Values that a batch of windows may hold once copied: 32 MB as float64.
BATCH_VALUES = 2**22


def windows(series: Floats, window: int) -> Floats:
    """All windows of a series (n, columns): a view of shape (n - window + 1, window, columns)."""
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
    starts = np.append(np.arange(0, n - window, stride), n - window)
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
