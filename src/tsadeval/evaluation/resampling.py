"""Intervals of metrics by bootstrap: the events of a series, each with its surroundings, drawn with replacement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tsadeval.core.inputs import Floats, Index, Scoring, label_runs
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.times import Times


def block_borders(scoring: Scoring) -> Index:
    """Return where the blocks of events begin, and the end: they part in the middle between two events.

    >>> block_borders(Scoring.of([0, 1, 0, 0, 0, 1, 0], [0.0] * 7))
    array([0, 3, 7])
    """
    events = scoring.events
    return np.concatenate([[0], (events.stops[:-1] + events.starts[1:]) // 2, [scoring.n]])


def resampled(scoring: Scoring, blocks: Sequence[slice]) -> Scoring:
    """Put blocks of a scoring one after the other, as a series of its own."""

    def put(values: Any) -> Any:
        return None if values is None else np.concatenate([values[block] for block in blocks])

    setting = scoring.setting
    times = setting.times
    if times is not None:  # each block begins where the time of the one before ends
        stamps = np.cumsum(np.append(0, put(np.append(np.diff(times.stamps), times.step))))[:-1]
        times = Times(stamps, times.kind, stamps, times.unit)
    found = Scoring.of(put(scoring.truth.mask), put(scoring.raw))
    given = None if scoring.given is None else label_runs(put(scoring.given.mask), "y_pred")
    setting = replace(setting, times=times, ignored=put(setting.ignored), unknown=put(setting.unknown))
    return replace(found, given=given, setting=setting)


def drawn_values(metrics: Sequence[Metric], scoring: Scoring, rule: Rule, draws: int, random_state: int) -> Floats:
    """Compute the metrics of as many resamples: a row for each, a column for each metric."""
    borders = block_borders(scoring).tolist()
    blocks = [slice(a, b) for a, b in zip(borders, borders[1:], strict=False)]
    rng = np.random.default_rng(random_state)
    values = np.empty((draws, len(metrics)))
    for row in values:
        one = resampled(scoring, [blocks[k] for k in rng.integers(0, len(blocks), len(blocks))])
        row[:] = [metric.attempt(one, rule).value for metric in metrics]
    return values
