"""Findings of a report: the events that cost most, and the false alarms that are hardest to avoid."""

import math
from typing import Any

import numpy as np

from tsadeval.core.durations import duration_text
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import METRICS, Rule
from tsadeval.core.times import Times
from tsadeval.metrics.cce_formula import CCEBreakdown, cce_breakdown, explain_gaps

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
