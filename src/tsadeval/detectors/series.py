"""Input of every detector: a float64 array of points by columns, or a clear error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.arrays import read_array
from tsadeval.errors import InvalidInputError

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


def as_series(X: Any, least: int = 1) -> Floats:
    """Check a series of at least `least` points, (n,) or (n, columns), and give it as a contiguous (n, columns).

    >>> as_series([1, 2, 4]).shape
    (3, 1)
    """
    array = _as_numbers(X)
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


def _as_numbers(X: Any) -> NDArray[Any]:
    if hasattr(X, "toarray"):
        raise InvalidInputError("X is sparse, which no detector takes: pass X.toarray()")
    array = read_array(X, "X", "numbers in CPU memory, (points,) or (points, columns)")
    if array.dtype.kind not in "biuf":
        advice = "Complex data not supported" if array.dtype.kind == "c" else "drop or encode other columns"
        raise InvalidInputError(f"X must hold numbers, but has dtype {array.dtype}; {advice}")
    return array
