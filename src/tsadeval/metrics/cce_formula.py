"""The explanation of CCE where points between others are not judged: no event runs over such a gap."""

from __future__ import annotations

import numpy as np

import tsadeval.metrics._kernels.cce as kernel
from tsadeval.core.inputs import Scoring, label_runs
from tsadeval.metrics._cce import CCEOptions, Parts, combined, unit_scores
from tsadeval.metrics._cce_breakdown import EVENT_COLUMNS, CCEBreakdown, breakdown_of, event_shares


def explain_gaps(scoring: Scoring) -> CCEBreakdown:
    """As `cce_breakdown` with its default options; `score` is what `cce` gives for the same scoring."""
    options = CCEOptions()
    ignored = scoring.setting.ignored
    judged = label_runs(np.ones(scoring.n, np.bool_) if ignored is None else ~ignored, "ignore").events
    pieces = scoring.pieces
    found = []
    for first, piece, scores in zip(judged.starts.tolist(), pieces, unit_scores(options, pieces), strict=True):
        starts, counts = piece.truth.starts, piece.truth.counts
        table = np.zeros(len(starts), EVENT_COLUMNS)
        table["start"], table["stop"], table["length"] = starts + first, starts + counts + first, counts
        table["label"] = piece.truth.mask[starts]
        table["mean"] = np.add.reduceat(scores, starts) / counts
        table["variance"] = np.add.reduceat((scores - np.repeat(table["mean"], counts)) ** 2, starts) / counts
        found.append(table)
    events = np.concatenate(found)
    parts = []
    for label in (0, 1):
        # The kernel takes runs whose labels alternate: each of one class gets a run of the other beside it.
        of_class = events["label"] == label
        mine = events[of_class]
        counts, means, variances = (np.repeat(mine[name], 2) for name in ("length", "mean", "variance"))
        part = Parts(*kernel.parts(counts, means, variances, label, *options.formula)[label])
        columns = kernel.judge_events(means, variances, label, *options.formula)
        for name, column in zip(("alpha", "beta", "uncertainty", "confidence", "score"), columns, strict=True):
            mine[name] = column[::2]
        mine["consistency"] = np.exp(-mine["uncertainty"])
        mine["share"], mine["lost"] = event_shares(options, part, mine, label)
        events[of_class] = mine
        parts.append(part)
    event, global_ = combined(options, *parts)
    return breakdown_of(options, event + global_, (event, global_), (parts[0], parts[1]), events)
