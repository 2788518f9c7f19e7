"""The index of the suite `hard`: the quality of a metric on each task, and means over tasks with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tsadeval.core.inputs import Floats
from tsadeval.rankeval.suites.hard_task import HardTask

RESAMPLES = 1000
LEVEL = 0.95

# The parts of the index, and the tasks that belong to each.
PARTS: Mapping[str, tuple[str, ...]] = {
    "index": ("order", "preference", "control"),
    "order": ("order",),
    "preference": ("preference",),
    "control": ("control",),
}


class TaskValues(NamedTuple):
    """Values of one metric on one task, by repeat and case; higher is better, NaN where there is none."""

    task: HardTask
    names: Sequence[str]
    values: Floats


class Index(NamedTuple):
    """A mean over tasks and its bootstrap interval over tasks and repeats; NaN where there is one task only."""

    value: float
    low: float
    high: float


@lru_cache(maxsize=128)
def _resampled(count: int, seed: int, which: int) -> Floats:
    """How often each of so many is drawn with replacement, one resample a row."""
    random = np.random.default_rng((seed, which + 1))
    return np.asarray(random.multinomial(count, np.full(count, 1 / count), RESAMPLES), np.float64)


def index_of(found: Sequence[TaskValues], seed: int = 0) -> tuple[dict[str, float], dict[str, Index]]:
    """The quality on each task, and the index and its parts.

    The same draws are used for every metric, so that their intervals can be compared.
    """
    quality: list[tuple[HardTask, Floats]] = []
    for i, (task, names, values) in enumerate(found):
        weights = np.concatenate([np.ones((1, len(values))), _resampled(len(values), seed, i)])
        quality.append((task, task.quality(values, names, weights)))
    means: dict[str, Index] = {}
    for part, kinds in PARTS.items():
        inside = np.array([q for task, q in quality if task.part in kinds])
        if not len(inside):
            continue
        low = high = float("nan")
        if len(inside) > 1:
            drawn = _resampled(len(inside), seed, -1)
            resampled = (drawn.T * inside[:, 1:]).sum(axis=0) / len(inside)
            low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
        means[part] = Index(float(inside[:, 0].mean()), low, high)
    return {task.name: float(q[0]) for task, q in quality}, means
