"""The period of a series, as TSB-AD estimates it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tsadeval.core.arrays import read_array
from tsadeval.errors import InvalidInputError

__all__ = ["period"]

_POINTS, _LAGS, _FIRST, _LAST, _DEFAULT = 20_000, 400, 3, 300, 125


def period(values: Any) -> int:
    """The period of a series in points, by its autocorrelation: the rule by which TSB-AD chooses windows.

    Of the lags from 3 to 400 in the first 20,000 points, those with a larger autocorrelation than both neighbours are
    looked at, and the one with the largest is the period, if it lies between 6 and 303; else, and where there is none,
    the answer is 125. Equals `find_length_rank(data, rank=1)` of TSB-AD.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, channels)
        The series itself, not its scores; of several channels the first counts.

    Returns
    -------
    int
        The period.

    Examples
    --------
    >>> import numpy as np
    >>> import tsadeval as te
    >>> te.period(np.sin(2 * np.pi * np.arange(1000) / 50))
    50
    """
    array = read_array(values, "values", "the numbers of a series")
    if array.ndim == 2 and array.shape[1] > 0:
        array = array[:, 0]
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "biuf":
        raise InvalidInputError(f"values must be a series of numbers, but has shape {array.shape}, dtype {array.dtype}")
    series = array[:_POINTS].astype(np.float64)
    if not np.isfinite(series).all():
        raise InvalidInputError(f"values must be finite, but row {int(np.argmin(np.isfinite(series)))} is not")
    centered = series - series.mean()
    # Products of all pairs of points, by way of a Fourier transform that is long enough to hold them apart.
    size = 1 << (2 * len(centered)).bit_length()
    spectrum = np.fft.rfft(centered, size)
    correlation = np.fft.irfft(spectrum * spectrum.conj(), size)[: min(_LAGS, len(centered) - 1) + 1]
    if correlation[0] <= 0:
        return _DEFAULT
    later = (correlation / correlation[0])[_FIRST:]
    peaks = np.flatnonzero((later[1:-1] > later[:-2]) & (later[1:-1] > later[2:])) + 1
    if len(peaks) == 0:
        return _DEFAULT
    found = int(peaks[np.argmax(later[peaks])])
    return found + _FIRST if _FIRST <= found <= _LAST else _DEFAULT
