"""Findings of a report: the events that cost most, and the false alarms that are hardest to avoid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tsadeval.core.durations import duration_text
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import METRICS, Rule
from tsadeval.core.times import Times
from tsadeval.metrics.cce_explanation import CCEBreakdown, cce_breakdown, explain_gaps

Finding = dict[str, Any]

MOST = 8


def explain_cce(scoring: Scoring) -> CCEBreakdown | None:
    """The breakdown of CCE, where both classes are there."""
    truth = scoring.kept.truth
    if not (truth.has(0) and truth.has(1)):
        return None
    if scoring.setting.ignored is not None:
        return explain_gaps(scoring)
    return cce_breakdown(scoring.truth.labels, scoring.scores)


def _percent(share: float) -> str:
    """A share as people say it.

    >>> _percent(0.0), _percent(0.00031), _percent(0.124)
    ('none', '0.031 %', '12 %')
    """
    if share <= 0:
        return "none"
    if share < 0.0001:
        return "less than 0.01 %"
    return f"{100 * share:.2g} %" if share < 0.995 else "nearly all" if share < 1 else "all"


def _points(count: int) -> str:
    return f"{count:,} point{'s' * (count != 1)}"


def _lasting(scoring: Scoring, start: int, stop: int) -> str:
    """How long a stretch of points lasts: in time where stamps are known, else in points."""
    times = scoring.setting.times
    return _points(stop - start) if times is None else duration_text(_end(times, stop - 1) - int(times.stamps[start]))


def _end(times: Times, i: int) -> int:
    """When a point ends: when the next one comes, but before a gap after one step."""
    last = i + 1 == len(times) or times.after_gap[i + 1]
    return int(times.stamps[i] + times.step if last else times.stamps[i + 1])


def _apart(scoring: Scoring, first: int, second: int) -> str:
    """How far a point is from a later one."""
    times = scoring.setting.times
    if times is None:
        return _points(second - first)
    return duration_text(int(times.stamps[second] - times.stamps[first]))


def worst_events(scoring: Scoring, breakdown: CCEBreakdown, threshold: float, offset: int = 0) -> list[Finding]:
    """The anomalies that cost most of CCE, each with what the scores did there.

    `offset` is where the scoring begins in its series.
    """
    scores, judged = scoring.scores, scoring.kept
    normal = np.sort(judged.scores[~judged.truth.mask])
    found = []
    for event in breakdown.worst(MOST, label=1):
        start, stop = int(event["start"]), int(event["stop"])
        part = scores[start:stop]
        peak = float(part.max())
        above = float(np.count_nonzero(part > threshold)) / len(part)
        first = int(np.argmax(part > threshold)) if above else -1
        beaten = 1 - np.searchsorted(normal, peak) / len(normal)
        if not above:
            what = "No alarm at the threshold"
        elif first == 0:
            what = f"Alarm from its first point on, at {_percent(above)} of its points"
        else:
            after = _apart(scoring, start, start + first)
            what = f"First alarm after {after}, at {_percent(above)} of its points"
        why = (
            f"{what}. Its mean score is {event['mean']:.2f} on the scale from the lowest (0) to the highest (1) score "
            f"of the series; {_percent(float(beaten))} of the normal points score as high as its peak."
        )
        found.append({"start": start + offset, "stop": stop + offset, "cost": float(event["lost"]), "why": why})
    return found


def dearest_false_alarms(scoring: Scoring, threshold: float, offset: int = 0) -> list[Finding]:
    """False alarms that a higher threshold removes only together with events, dearest first.

    The cost of a run of alarms that touches no event is the number of events whose highest score it reaches.
    """
    alarms = scoring.above(threshold).predicted
    if not len(alarms):
        return []
    events, scores = scoring.events, scoring.scores
    inside = np.append(0, np.cumsum(scoring.truth.mask))
    false = inside[alarms.stops] == inside[alarms.starts]
    starts, stops = alarms.starts[false], alarms.stops[false]
    if not len(starts):
        return []
    peaks = np.array([scores[a:b].max() for a, b in zip(starts.tolist(), stops.tolist(), strict=True)])
    tops = np.sort([scores[a:b].max() for a, b in zip(events.starts.tolist(), events.stops.tolist(), strict=True)])
    reached = np.searchsorted(tops, peaks, side="right")
    order = np.lexsort((starts, -(stops - starts), -peaks, -reached))[:MOST]
    found = []
    for i in order.tolist():
        start, stop, cost = int(starts[i]), int(stops[i]), int(reached[i])
        gap = _gap(scoring, start, stop)
        if cost:
            price = f"it reaches the peak of {cost} of {len(tops)} events, which a threshold above it would miss"
        else:
            price = "it is below the peak of every event, so a higher threshold removes it"
        where = (
            "there is no event" if gap is None else f"{gap} from the nearest event" if gap else "right beside an event"
        )
        why = f"{_lasting(scoring, start, stop)}, peak score {peaks[i]:.4g}: {price}; {where}."
        found.append({"start": start + offset, "stop": stop + offset, "cost": cost, "why": why})
    return found


def _gap(scoring: Scoring, start: int, stop: int) -> str | None:
    """How far a stretch is from the nearest event: "" where it touches one, None where there is none."""
    events = scoring.events
    if not len(events):
        return None
    after = int(np.searchsorted(events.starts, stop))
    # The last point of one and the first point of the other.
    pairs = [(stop - 1, int(events.starts[after]))] if after < len(events) else []
    pairs += [(int(events.stops[after - 1]) - 1, start)] if after else []
    times = scoring.setting.times
    if times is None:
        apart = min(b - a - 1 for a, b in pairs)
        return _points(apart) if apart else ""
    lasting = min(int(times.stamps[b]) - _end(times, a) for a, b in pairs)
    return duration_text(lasting) if lasting else ""


def threshold_of(scoring: Scoring, rule: Rule) -> tuple[float, bool]:
    """The threshold of a rule for point-wise F1, where the page starts, and whether its alarms are the scores above it.

    They are not where a rule does more than that: hysteresis, or alarms that have to last.
    """
    decision = METRICS["f1"].decide(scoring, rule)
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
