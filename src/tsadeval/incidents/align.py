"""`align`: convert scores of windows to scores of points."""

import math
from typing import Any, Literal, get_args

import numpy as np

from tsadeval.core.arrays import as_scores
from tsadeval.core.durations import nanoseconds
from tsadeval.core.events import Floats, Index
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.core.times import Times, read_times
from tsadeval.errors import InvalidInputError, InvalidParameterError

How = Literal["last", "mean", "max", "center"]
_WHOLE = Number(1, integer=True)
_CHECKS: dict[str, Check] = {"how": OneOf(get_args(How)), "index": _WHOLE, "window": _WHOLE, "stride": _WHOLE}


def align(
    scores: Any, index: Any, *, window: Any, how: How = "last", stride: int = 1, at: Any = None, fill: float = math.nan
) -> Floats:
    """Scores of points from scores of windows.

    Parameters
    ----------
    scores : array-like of shape (m,)
        Finite scores, one for each window, in time order.
    index : int or array-like of shape (n,)
        The number of points, or their time stamps (as for `te.times`).
    window : int or duration
        Length of a window: a number of points, or a duration such as "10min" (then `index` has the stamps).
    how : {"last", "mean", "max", "center"}, default="last"
        "last": a point gets the score of the latest window that ends at or before it, as a detector in operation
        would give it. "mean" and "max": of all windows that contain the point. "center": a window's score goes to
        its middle point, and the scores at both ends are repeated, as in TSB-UAD and TSB-AD (windows counted in
        points, stride 1).
    stride : int, default=1
        Points from one window's start to the next.
    at : array-like of shape (m,), default=None
        For windows with a duration: the stamps at which the windows end. None means one window for each point,
        ending there. A window covers the time after `at` - `window`, up to and including `at`.
    fill : float, default=nan
        Score of points that no window reaches, such as the first ones with "last".

    Returns
    -------
    ndarray of float64, shape (n,)
        One score for each point; see the option `missing` of `te.evaluate` for what becomes of NaN.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.align([1, 5, 2], 5, window=3)
    array([nan, nan,  1.,  5.,  2.])
    >>> te.align([1, 5, 2], 5, window=3, how="max")
    array([1., 5., 5., 5., 2.])
    >>> te.align([1, 5, 2], 5, window=3, how="center")
    array([1., 1., 5., 2., 2.])
    >>> te.align([4.0, 6.0], [0, 60, 120, 180], window="2min", at=[60, 180], how="mean")
    array([4., 4., 6., 6.])
    """
    check_parameters("align", _CHECKS, {"how": how, "stride": stride})
    values = np.asarray(as_scores(scores, "scores"), np.float64)
    if not np.isfinite(values).all():
        raise InvalidInputError(f"scores must be finite, but row {int(np.argmin(np.isfinite(values)))} is not")
    counted = isinstance(index, (int, np.integer))
    if isinstance(window, (int, np.integer)):
        n = index if counted else len(index)
        check_parameters("align", _CHECKS, {"index": n, "window": window})
        return _by_points(values, int(n), int(window), int(stride), how, float(fill))
    if counted:
        raise InvalidParameterError(
            f"window must be a whole number of points where index is the number of points, but is {window!r}"
        )
    stamps = read_times(index, name="index")
    ends = stamps if at is None else read_times(at, name="at")
    if len(ends) != len(values):
        given = "index" if at is None else "at"
        raise InvalidInputError(
            f"there are {len(values)} scores of windows, but {given} has {len(ends)} time stamps; pass at= with the "
            "time at which each window ends"
        )
    if how == "center":
        raise InvalidParameterError("how='center' needs windows counted in points, e.g. window=100")
    return _by_time(values, stamps, ends, nanoseconds(window, "window"), how, float(fill))


def _by_points(values: Floats, n: int, window: int, stride: int, how: How, fill: float) -> Floats:
    windows = (n - window) // stride + 1 if n >= window else 0
    if windows != len(values):
        raise InvalidInputError(
            f"{n} points have {max(windows, 0)} windows of {window} points at stride {stride}, but there are "
            f"{len(values)} scores"
        )
    point = np.arange(n)
    if how == "center":
        if stride != 1:
            raise InvalidParameterError(f"how='center' needs stride 1, but it is {stride}")
        return values[np.clip(point - math.ceil((window - 1) / 2), 0, windows - 1)]
    if how == "last":
        latest = (point - (window - 1)) // stride
        return np.where(latest >= 0, values[np.clip(latest, 0, windows - 1)], fill)
    return _reduce(values, point, np.arange(windows) * stride + window - 1, window, how, fill)


def _by_time(values: Floats, stamps: Times, ends: Times, window: int, how: How, fill: float) -> Floats:
    point = stamps.stamps
    if how == "last":
        latest = np.searchsorted(ends.stamps, point, side="right") - 1
        known = (latest >= 0) & (point - ends.stamps[np.maximum(latest, 0)] < window)
        return np.where(known, values[np.maximum(latest, 0)], fill)
    return _reduce(values, point, ends.stamps, window, how, fill)


def _reduce(values: Floats, point: Index, ends: Index, window: int, how: How, fill: float) -> Floats:
    """Compute the mean or maximum of the values of all windows that cover each point, `fill` where there is none."""
    # A window covers the point where end - window < point <= end.
    first, stop = np.searchsorted(ends, point), np.searchsorted(ends, point + window)
    some = first < stop
    first, stop = first[some], stop[some]
    found = np.full(len(some), fill)
    if how == "mean":
        shift = values.mean()  # sums of differences lose no digits to a large common offset
        sums = np.concatenate([[0.0], np.cumsum(values - shift)])
        found[some] = shift + (sums[stop] - sums[first]) / (stop - first)
    elif len(first):
        found[some] = _maxima(values, first, stop)
    return found


def _maxima(values: Floats, first: Index, stop: Index) -> Floats:
    """Maxima of slices, each of two overlapping ones whose length is a power of two."""
    found = np.empty(len(first))
    power = np.frexp((stop - first).astype(np.float64))[1] - 1  # floor of the binary logarithm
    level, size = values, 1
    for k in range(int(power.max()) + 1):
        of_this = power == k
        found[of_this] = np.maximum(level[first[of_this]], level[stop[of_this] - size])
        level = np.maximum(level[:-size], level[size:]) if len(level) > size else level
        size *= 2
    return found
