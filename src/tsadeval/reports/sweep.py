"""Counts at every level of a scoring: what the threshold slider of a page shows, without another look at the data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.inputs import Scoring
from tsadeval.reports.payload import Levels

__all__ = ["Counts", "count_alarms"]

Index = NDArray[np.int64]


class Counts(NamedTuple):
    """At each level: anomalous and normal points with an alarm, points of events that have one, such events, and
    runs of alarms that touch no event.

    With P anomalous points, E events and n points the library's metrics are

        precision  found / (found + false)          recall        found / P
        f1         2 found / (P + found + false)    f1_pa         2 adjusted / (P + adjusted + false)
        event recall  events / E                    false_alarms  1000 runs / n
    """

    found: Index
    false: Index
    adjusted: Index
    events: Index
    runs: Index


def count_alarms(scoring: Scoring, levels: Levels) -> Counts:
    """The counts at all levels, from one pass over the codes."""
    size = len(levels.thresholds)
    codes = levels.codes.astype(np.int64)
    inside = scoring.truth.mask
    events = scoring.events
    peaks = _peaks(codes, events.starts, events.stops)
    return Counts(
        found=_above(codes[inside], size),
        false=_above(codes[~inside], size),
        adjusted=_above(peaks, size, events.lengths),
        events=_above(peaks, size),
        runs=_false_runs(scoring, codes, size),
    )


def _peaks(codes: Index, starts: Index, stops: Index) -> Index:
    """The highest code of each stretch; stretches do not overlap."""
    if not len(starts):
        return np.empty(0, np.int64)
    borders = np.column_stack([starts, stops]).ravel()
    if borders[-1] == len(codes):
        borders = borders[:-1]
    return np.asarray(np.maximum.reduceat(codes, borders)[::2])


def _above(codes: Index, size: int, weights: Index | None = None) -> Index:
    """For each level k the number (or weight) of codes above k."""
    counts = np.bincount(codes, weights, minlength=size + 1)
    return np.asarray(np.rint(counts.sum() - np.cumsum(counts)[:size]), np.int64)


def _false_runs(scoring: Scoring, codes: Index, size: int) -> Index:
    """Runs of alarms in normal stretches, less those that go on into an event at either end."""
    quiet = scoring.truth.of(0)
    if not len(quiet):
        return np.zeros(size, np.int64)
    before = np.append(0, codes[:-1])
    before[quiet.starts] = 0
    normal = ~scoring.truth.mask
    # At level k a run starts at a point with a code above k whose neighbour before it has none above k.
    starting = normal & (codes > before)
    change = np.bincount(before[starting], minlength=size + 1) - np.bincount(codes[starting], minlength=size + 1)
    runs = np.cumsum(change)[:size]
    left, right = quiet.starts > 0, quiet.stops < scoring.n
    at_left = np.minimum(codes[quiet.starts[left]], codes[quiet.starts[left] - 1])
    at_right = np.minimum(codes[quiet.stops[right] - 1], codes[quiet.stops[right]])
    # A run from one event through the whole stretch to the next was taken off twice.
    lowest = -_peaks(-codes, quiet.starts, quiet.stops)
    both = left & right
    through = np.minimum(
        lowest, np.minimum(codes[np.maximum(quiet.starts - 1, 0)], codes[np.minimum(quiet.stops, scoring.n - 1)])
    )
    return np.asarray(runs - _above(at_left, size) - _above(at_right, size) + _above(through[both], size))
