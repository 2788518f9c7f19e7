"""Parts of a page: arrays, compressed and coarse but exact where numbers depend on them; and what events cost most.

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

from tsadeval.core.durations import duration_text
from tsadeval.core.inputs import Floats, Index, Scoring
from tsadeval.core.metric import METRICS, Rule
from tsadeval.core.times import Times
from tsadeval.metrics.cce_formula import CCEBreakdown, cce_breakdown, explain_gaps
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


Finding = dict[str, Any]

MOST = 8


def explain_cce(scoring: Scoring) -> CCEBreakdown | None:
    """Break CCE down, where both classes are there."""
    truth = scoring.kept.truth
    if not (truth.has(0) and truth.has(1)):
        return None
    gaps = scoring.setting.ignored is not None
    return explain_gaps(scoring) if gaps else cce_breakdown(scoring.truth.labels, scoring.scores)


def _percent(share: float) -> str:
    """Write a share as people say it.

    >>> _percent(0.0), _percent(0.00031), _percent(0.124)
    ('none', '0.031 %', '12 %')
    """
    if share <= 0:
        return "none"
    if share < 0.0001:
        return "less than 0.01 %"
    return f"{100 * share:.2g} %" if share < 0.995 else "nearly all" if share < 1 else "all"


# Where points begin and end on the axis of a series: by their numbers, or in time where stamps are known.


def _begin(times: Times | None, i: int) -> int:
    return i if times is None else int(times.stamps[i])


def _end(times: Times | None, i: int) -> int:
    """Return where a point ends: where the next one comes, but before a gap after one step."""
    if times is not None and (i + 1 == len(times) or times.after_gap[i + 1]):
        return int(times.stamps[i] + times.step)
    return _begin(times, i + 1) if times is not None else i + 1


def _span(times: Times | None, length: int) -> str:
    return duration_text(length) if times is not None else f"{length:,} point{'s' * (length != 1)}"


def worst_events(scoring: Scoring, breakdown: CCEBreakdown, threshold: float, offset: int = 0) -> list[Finding]:
    """Find the anomalies that cost most of CCE in a scoring that begins at `offset`, and what the scores did there."""
    judged, times = scoring.kept, scoring.setting.times
    normal = np.sort(judged.scores[~judged.truth.mask])
    found = []
    for event in breakdown.worst(MOST, label=1):
        start, stop = int(event["start"]), int(event["stop"])
        part = scoring.scores[start:stop]
        alarms = part > threshold
        first = int(np.argmax(alarms))
        share = f"at {_percent(float(alarms.mean()))} of its points"
        if not alarms.any():
            what = "No alarm at the threshold"
        elif first == 0:
            what = f"Alarm from its first point on, {share}"
        else:
            after = _span(times, _begin(times, start + first) - _begin(times, start))
            what = f"First alarm after {after}, {share}"
        beaten = 1 - np.searchsorted(normal, part.max()) / len(normal)
        why = (
            f"{what}. Its mean score is {event['mean']:.2f} on the scale from the lowest (0) to the highest (1) score "
            f"of the series; {_percent(float(beaten))} of the normal points score as high as its peak."
        )
        found.append({"start": start + offset, "stop": stop + offset, "cost": float(event["lost"]), "why": why})
    return found


def dearest_false_alarms(scoring: Scoring, threshold: float, offset: int = 0) -> list[Finding]:
    """Find false alarms that a higher threshold removes only together with events, dearest first.

    The cost of a run of alarms that touches no event is the number of events whose highest score it reaches.
    """
    alarms, events, times = scoring.above(threshold).predicted, scoring.events, scoring.setting.times
    inside = np.append(0, np.cumsum(scoring.truth.mask))
    false = inside[alarms.stops] == inside[alarms.starts]
    starts, stops = alarms.starts[false], alarms.stops[false]
    peaks, tops = (
        np.array([scoring.scores[a:b].max() for a, b in zip(begins.tolist(), ends.tolist(), strict=True)], np.float64)
        for begins, ends in ((starts, stops), (events.starts, events.stops))
    )
    reached = np.searchsorted(np.sort(tops), peaks, side="right")
    found = []
    for i in np.lexsort((starts, -(stops - starts), -peaks, -reached))[:MOST].tolist():
        start, stop, cost = int(starts[i]), int(stops[i]), int(reached[i])
        price = "it is below the peak of every event, so a higher threshold removes it"
        if cost:
            price = f"it reaches the peak of {cost} of {len(tops)} events, which a threshold above it would miss"
        lasting = _span(times, _end(times, stop - 1) - _begin(times, start))
        why = f"{lasting}, peak score {peaks[i]:.4g}: {price}; {_nearest(scoring, start, stop)}."
        found.append({"start": start + offset, "stop": stop + offset, "cost": cost, "why": why})
    return found


def _nearest(scoring: Scoring, start: int, stop: int) -> str:
    """Say how far a stretch is from the nearest event."""
    events, times = scoring.events, scoring.setting.times
    if not len(events):
        return "there is no event"
    after = int(np.searchsorted(events.starts, stop))
    # The last point of one and the first point of the other.
    pairs = [(stop - 1, int(begin)) for begin in events.starts[after : after + 1]]
    pairs += [(int(end) - 1, start) for end in events.stops[:after][-1:]]
    gap = min(_begin(times, second) - _end(times, first) for first, second in pairs)
    return f"{_span(times, gap)} from the nearest event" if gap else "right beside an event"


def threshold_of(scoring: Scoring, rule: Rule) -> tuple[float, bool]:
    """Return the threshold of a rule for point-wise F1, where the page starts.

    And whether its alarms are the scores above it: hysteresis, or alarms that have to last, are more than that.
    """
    try:
        decision = METRICS["f1"].decide(scoring, rule)
    except Exception:  # which the rows of the metrics tell
        return scoring.high, True
    if decision is not None and decision.threshold is not None and math.isfinite(decision.threshold):
        threshold = decision.threshold
    elif decision is not None and decision.undefined is not None:
        threshold = scoring.high  # no alarm
    else:
        # Predictions that were given, or scores of 0 and 1: between the two.
        levels = scoring.levels[0]
        threshold = scoring.just_below(float(levels[0])) if len(levels) > 1 else scoring.high
    above = scoring.above(threshold).alarms
    return threshold, decision is None or np.array_equal(decision.prediction.alarms.mask, above.mask)
