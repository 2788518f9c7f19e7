"""Explanation of CCE: its parts, and what each event adds to it and costs it, also for series with gaps."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tsadeval.metrics._kernels.cce as kernel
from tsadeval.core.define import takes_scores
from tsadeval.core.inputs import Floats, Scoring, label_runs
from tsadeval.core.moments import RunMoments
from tsadeval.core.parameters import CCEOptions
from tsadeval.core.results import Grid, Result, Row
from tsadeval.errors import InvalidParameterError, warn_undefined
from tsadeval.metrics.cce_formula import ClassParts, cce, combined, event_moments, part_of, runs_of, unit_moments

__all__ = ["CCEBreakdown"]

_NEEDS_BOTH = "CCE compares the two classes, so y_true needs both normal (0) and anomalous (1) points"

_WHOLE = ("start", "stop", "label", "length")
_REAL = ("mean", "variance", "alpha", "beta", "uncertainty", "confidence", "consistency", "score", "share", "lost")
EVENT_COLUMNS = np.dtype([(name, np.int64) for name in _WHOLE] + [(name, np.float64) for name in _REAL])


@takes_scores(like=cce)
def cce_breakdown(data: Scoring, /, **given: Any) -> "CCEBreakdown":
    """CCE explained: its parts, and a table with a row per event.

    Examples
    --------
    >>> import tsadeval as te
    >>> b = te.cce_breakdown([0, 0, 0, 1, 1, 0, 0, 1, 0], [0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.2, 0.1])
    >>> round(b.score, 6)
    0.490885
    >>> worst = b.worst(1)[0]
    >>> int(worst["start"]), int(worst["stop"]), int(worst["label"]), round(float(worst["mean"]), 3)
    (7, 8, 1, 0.125)
    """
    options = CCEOptions(**given)
    return explain(options, event_moments(options, data))


def explain(options: CCEOptions, runs: RunMoments) -> "CCEBreakdown":
    """Explain the CCE of scanned (or streamed) runs."""
    starts = np.cumsum(runs.counts) - runs.counts
    return _explain_events(options, starts, runs.labels(), runs.counts, *unit_moments(options, runs))


def explain_gaps(scoring: Scoring) -> "CCEBreakdown":
    """Explain CCE, with its default options, where points between others are not judged: no event runs over a gap.

    `score` is what `cce` gives for the same scoring.
    """
    options, ignored, pieces = CCEOptions(), scoring.setting.ignored, scoring.pieces
    judged = label_runs(np.ones(scoring.n, np.bool_) if ignored is None else ~ignored, "ignore").events
    both = zip(judged.starts.tolist(), pieces, runs_of(options, pieces), strict=True)
    parts = ((piece.truth.starts + first, *found) for first, piece, found in both)
    return _explain_events(options, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def _explain_events(
    options: CCEOptions,
    starts: NDArray[Any],
    labels: NDArray[Any],
    lengths: NDArray[Any],
    means: NDArray[Any],
    variances: NDArray[Any],
) -> "CCEBreakdown":
    """Explain events by their places, labels, lengths, and the means and variances of their scores."""
    events, parts = np.zeros(len(starts), EVENT_COLUMNS), []
    events["start"], events["stop"], events["label"], events["length"] = starts, starts + lengths, labels, lengths
    events["mean"], events["variance"] = means, variances
    for label in (0, 1):
        mine = events[events["label"] == label]
        part = part_of(options, mine["length"], mine["mean"], mine["variance"], label)
        columns = kernel.judge_events(
            np.repeat(mine["mean"], 2), np.repeat(mine["variance"], 2), label, *options.formula
        )
        for name, column in zip(("alpha", "beta", "uncertainty", "confidence", "score"), columns, strict=True):
            mine[name] = column[::2]
        mine["consistency"] = np.exp(-mine["uncertainty"])
        mine["share"], mine["lost"] = event_shares(options, part, mine, label) if len(mine) else (math.nan, math.nan)
        events[events["label"] == label] = mine
        parts.append(part)
    normal, anomaly = parts
    event, global_ = combined(options, normal, anomaly)
    if math.isnan(event + global_):
        warn_undefined("cce", _NEEDS_BOTH)
        events["share"] = events["lost"] = math.nan
    return CCEBreakdown(
        score=event + global_,
        event=event,
        global_=global_,
        anomaly_event=anomaly.event,
        normal_event=normal.event,
        anomaly_global=anomaly.global_,
        normal_global=normal.global_,
        events=events,
        options=options,
    )


def event_shares(options: CCEOptions, part: ClassParts, events: NDArray[np.void], label: int) -> tuple[Floats, Floats]:
    """Return what each event of a class adds to CCE, and what it could have added beyond that.

    At event level an event counts for its score over the number of events. The pooled event's confidence is
    the mean over points, so there each event counts for its points; the consistency is common to all.
    """
    event_weight, global_weight = options.event_weight, options.global_weight
    if label == 0:
        event_weight, global_weight = 1 - event_weight, 1 - global_weight
    of_events = event_weight / len(events)
    of_points = global_weight * events["length"] / events["length"].sum()
    confidence = events["mean"] - options.tau if label == 1 else 1 - options.tau - events["mean"]
    pooled = part.mean - options.tau if label == 1 else 1 - options.tau - part.mean
    # Clipping, where it applies, leaves nothing of the pooled event to share out.
    consistency = part.global_ / pooled if pooled != 0 else 0.0
    share = of_events * events["score"] + of_points * confidence * consistency
    return share, (of_events + of_points) * (1 - options.tau) - share


@dataclass(frozen=True, eq=False, repr=False)
class CCEBreakdown(Result):
    """CCE and where it comes from: a row per event.

    Attributes
    ----------
    score, event, global_ : float
        CCE and its two halves: `score == event + global_`.
    anomaly_event, normal_event : float
        Mean score over the anomaly events and over the normal ones.
    anomaly_global, normal_global : float
        Score of all anomalous points as one event, and of all normal points.
    events : numpy structured array
        A row per event: start, stop, label, length; mean and variance of its scaled scores; alpha and beta
        of its Beta distribution; uncertainty, confidence, consistency and score; `share`, what it adds to
        CCE (the shares add up to the score); `lost`, what it would add besides if it were perfect.
    """

    score: float
    event: float
    global_: float
    anomaly_event: float
    normal_event: float
    anomaly_global: float
    normal_global: float
    events: NDArray[np.void]
    options: CCEOptions

    def worst(self, n: int | None = None, *, label: int | None = None) -> NDArray[np.void]:
        """Return the events that cost the score most, worst first: all or n of them, of both classes or of one."""
        if label not in (None, 0, 1):
            raise InvalidParameterError(f"worst: label must be 0, 1 or None, but is {label!r}")
        events = self.events if label is None else self.events[self.events["label"] == label]
        return events[np.argsort(-events["lost"], kind="stable")][:n]

    @property
    def rows(self) -> list[Row]:
        """The events as plain dicts, in the order of time."""
        names = self.events.dtype.names or ()
        return [dict(zip(names, event, strict=True)) for event in self.events.tolist()]

    def _grids(self) -> list[tuple[str, Grid]]:
        counts = [int((self.events["label"] == label).sum()) for label in (1, 0)]
        parts: Grid = [
            ["", f"anomaly ({counts[0]})", f"normal ({counts[1]})", "weighted"],
            ["event", self.anomaly_event, self.normal_event, self.event],
            ["global", self.anomaly_global, self.normal_global, self.global_],
        ]
        columns = ["start", "stop", "label", "mean", "confidence", "consistency", "score", "share", "lost"]
        worst = self.worst(5)
        rows: Grid = [columns, *([row[c].item() for c in columns] for row in worst)]
        return [
            (f"CCE {self.score:.4f}", parts),
            (f"the {len(worst)} of {len(self.events)} events that cost most", rows),
        ]
