"""Sorts: of values, by whatever is quicker on this machine, and of the points by score, at about the same cost."""

import math
import time
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core._order import POINT, deal, keys_of, put_in_order, sort_by_digits
from tsadeval.core.binning import levels_of
from tsadeval.core.events import Floats, Index

Points = NDArray[np.void]

# Points of a band: they are sorted in the second-level cache.
BAND = 1 << 15
# From how many bands on it pays to deal the points out first.
FEWEST = 4
# Scores looked at for each band: the more, the more equal the bands.
SAMPLE = 32


# From how many values on digits can pay: their counts have to be cleared and added up however few there are.
MANY = 4096


@cache
def digits_pay() -> bool:
    """Measure once, in a millisecond, whether a sort by digits is quicker here than `np.sort`.

    It is not where NumPy has vector instructions to sort with. Sorted values are the same either way.
    """
    # Noise enough that no branch is foreseen, and the same each time.
    noise = np.sin(np.arange(2 * MANY) ** 2.0)

    def seconds(by_digits: bool) -> float:
        values = noise.copy()
        start = time.perf_counter()
        if by_digits:
            sort_by_digits(values.view(np.uint64), True)
        else:
            values.sort()
        return time.perf_counter() - start

    return min(seconds(True) for _ in range(3)) < min(seconds(False) for _ in range(3))


def sort(values: Any) -> Any:
    """Sort scores, or whole numbers without a sign, in place, and return them; all in memory of our own."""
    if len(values) >= MANY and digits_pay():
        sort_by_digits(values.view(np.uint64), values.dtype == np.float64)
    else:
        values.sort()
    return values


def descending(scores: Floats, band: int = BAND) -> Points:
    """Sort the points by descending score, as records of `score` and `position`; equal scores in any order."""
    lowest, highest = float(scores.min()), float(scores.max())
    bands = len(scores) // band
    if bands < FEWEST:
        return _sorted(scores, None, lowest, highest)
    splitters = _splitters(scores, bands, highest)
    points: Points
    points, begins = deal(scores, levels_of(scores, splitters), len(splitters) + 1)
    # A band has the scores from its lower border up to below the next one.
    borders = [math.nextafter(highest, math.inf), *splitters.tolist(), lowest]
    for i, j, high, low in zip(begins[:-1].tolist(), begins[1:].tolist(), borders[:-1], borders[1:], strict=True):
        of_band = points[i:j]
        if i < j and math.nextafter(low, math.inf) < high:  # else all of its scores are equal
            # As whole numbers: records are copied one by one.
            of_band.view(np.int64)[:] = _sorted(of_band["score"], of_band["position"], low, high).view(np.int64)
    return points


def _splitters(scores: Floats, bands: int, highest: float) -> Floats:
    """Descending scores that part all of them into about equal bands; a very frequent score has a band of its own."""
    # Multiples of the golden ratio: as even as a grid, but no rhythm of the series can be in step with them.
    places = (np.arange(SAMPLE * bands) * 0.6180339887498949 % 1 * len(scores)).astype(np.int64)
    chosen = np.sort(scores[places])[SAMPLE // 2 :: SAMPLE]
    frequent = chosen[1:][(chosen[1:] == chosen[:-1]) & (chosen[1:] < highest)]
    return np.unique(np.concatenate([chosen, np.nextafter(frequent, np.inf)]))[::-1].copy()


def _sorted(scores: Floats, positions: Index | None, lowest: float, highest: float) -> Points:
    """Sort a band, or the whole series (positions None), highest score first; no score is beyond the borders."""
    points = np.empty(len(scores), POINT)
    keys = keys_of(scores, lowest, highest)
    sort(keys)
    if not put_in_order(keys, scores, positions, points):
        order = np.argsort(scores)[::-1]
        points["score"] = scores[order]
        points["position"] = order if positions is None else positions[order]
    return points
