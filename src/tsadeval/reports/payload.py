"""Arrays inside a page: compressed, as text, coarse to be small but exact where numbers depend on them.

A page draws scores and counts alarms. Both need only the place of each score among some levels: a score is stored as
the number of levels below it, two bytes a point. Alarms at a level are exact, because levels are thresholds of the
library (alarm where the score is above), and a line of print cannot show more levels than there are.
"""

import base64
import gzip
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.inputs import Floats, Index, Scoring
from tsadeval.metrics.counting import curve, event_maxima, false_from, threshold_ranks
from tsadeval.metrics.event_sweep import at_least, event_steps
from tsadeval.thresholds.best import judged_levels

Codes = NDArray[np.uint16]

# Half of the levels are spread over the range of the scores (for the eye), half over their ranks (for thresholds).
LEVELS = 4096
MISSING = 65535


@dataclass
class Payloads:
    """The arrays of a page by number; equal ones are kept once."""

    texts: list[dict[str, Any]] = field(default_factory=list)
    _known: dict[tuple[str, bytes], int] = field(default_factory=dict)

    def add(self, array: NDArray[Any]) -> int:
        """Keep an array of uint16, int32, float32 or float64; returns its number in the page."""
        kind = {"u2": "u2", "i4": "i4", "f4": "f4", "f8": "f8"}[array.dtype.str[1:]]
        raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        # Bytes of equal weight beside each other compress better than whole numbers do.
        planes = raw.view(np.uint8).reshape(len(raw), raw.itemsize).T.tobytes() if len(raw) else b""
        key = (kind, planes)
        if key not in self._known:
            packed = gzip.compress(planes, 6, mtime=0)
            self._known[key] = len(self.texts)
            self.texts.append({"kind": kind, "length": len(raw), "text": base64.b64encode(packed).decode()})
        return self._known[key]


@dataclass(frozen=True, eq=False)
class Levels:
    """Ascending thresholds; `codes[i]` is the number of thresholds below score i, so alarms at k are `codes > k`.

    `shown[c]` is the score that stands for code c in a picture.
    """

    thresholds: Floats
    shown: Floats
    codes: Codes

    def at(self, threshold: float) -> int:
        """Return the number of the highest level that is at most a threshold (the level itself where it is one)."""
        return max(int(np.searchsorted(self.thresholds, threshold, side="right")) - 1, 0)


def score_levels(scoring: Scoring, wanted: tuple[float, ...] = ()) -> Levels:
    """Levels of a scoring: all distinct scores if there are few; `wanted` thresholds are among them, exactly."""
    judged = scoring.kept
    distinct = judged_levels(scoring)[::-1]
    if len(distinct) > LEVELS:
        half = LEVELS // 2
        # Halves cannot overflow when the extremes of the range of floats are subtracted.
        grid = 2 * (distinct[0] / 2 + np.linspace(0, 1, half) * (distinct[-1] / 2 - distinct[0] / 2))
        by_rank = judged.sorted[threshold_ranks(judged.n, half)]
        first_above = np.searchsorted(distinct, np.array(wanted), side="right")
        places = np.unique(np.concatenate([np.searchsorted(distinct, np.append(grid, by_rank)), first_above]))
        distinct = distinct[places[places < len(distinct)]]
    # Just below each, in the scores' own precision: the same alarms come out of `scores > threshold` there.
    own = scoring.raw.dtype.type
    below = np.nextafter(distinct.astype(scoring.raw.dtype), own(-math.inf)).astype(np.float64)
    thresholds = np.append(below, judged.high)
    for t in filter(math.isfinite, wanted):
        # No score lies between the level below the first score above t and t itself, so the alarms are the same.
        thresholds[int(np.searchsorted(distinct, t, side="right"))] = t
    codes = np.searchsorted(thresholds, scoring.scores, side="left").astype(np.uint16)
    if scoring.setting.quiet is not None:
        codes[scoring.setting.quiet] = 0  # points that never alarm are above no level
    return Levels(thresholds, np.append(distinct[0] if len(distinct) else judged.high, distinct), codes)


def value_codes(values: Floats) -> tuple[Codes, float, float]:
    """Code a series in 65,535 steps from its lowest to its highest finite value; NaN and infinities are gaps."""
    finite = np.isfinite(values)
    if not finite.any():
        return np.full(len(values), MISSING, np.uint16), 0.0, 1.0
    low, high = float(values[finite].min()), float(values[finite].max())
    span = (high / 2 - low / 2) or 1.0
    steps = np.round((np.where(finite, values, low) / 2 - low / 2) / span * (MISSING - 1))
    return np.where(finite, steps, MISSING).astype(np.uint16), low, high


def coarse(codes: Codes, step: int, gap: int = MISSING) -> tuple[Codes, Codes]:
    """Return the lowest and highest code of each `step` points; gaps count only where there is nothing else."""
    starts = np.arange(0, len(codes), step)
    low = np.minimum.reduceat(np.where(codes == gap, MISSING, codes), starts)
    high = np.maximum.reduceat(np.where(codes == gap, 0, codes), starts)
    empty = low == MISSING
    return np.where(empty, gap, low).astype(np.uint16), np.where(empty, gap, high).astype(np.uint16)


# Counts at every level of a scoring: what the threshold slider of a page shows, without another look at the data.


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
    """Count at all levels, by the sweeps over thresholds that the metrics have."""
    v = np.append(levels.shown[1:], math.inf)  # alarms at a level are the scores from here on
    maxima, sweep = event_maxima(scoring), event_steps(scoring).at(v)
    order = np.argsort(maxima)
    # Points of the events that are not reached, from the event with the lowest maximum on.
    silent = np.append(0, np.cumsum(scoring.events.lengths[order]))[np.searchsorted(maxima[order], v)]
    return Counts(
        found=at_least(curve(scoring).anomalous, v),
        false=np.append(false_from(scoring, v[:-1]), 0),
        adjusted=scoring.events.points - silent,
        events=sweep.detected,
        runs=sweep.false,
    )
