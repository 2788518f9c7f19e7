"""The index of the suite `hard`: the quality of a metric on each task, and means over tasks with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tsadeval.comparison.statistics import Estimate, resample
from tsadeval.core.inputs import Floats
from tsadeval.rankeval.suites.hard_task import HardTask

RESAMPLES = 1000

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


def index_of(found: Sequence[TaskValues], seed: int = 0) -> tuple[dict[str, float], dict[str, Estimate]]:
    """The quality on each task, and the index and its parts.

    The same draws are used for every metric, so that their intervals can be compared.
    """
    quality: list[tuple[HardTask, Floats]] = []
    for i, (task, names, values) in enumerate(found):
        weights = resample(len(values), RESAMPLES, (seed, i + 1))
        quality.append((task, task.quality(values, names, weights)))
    means: dict[str, Estimate] = {}
    for part, kinds in PARTS.items():
        inside = np.array([q for task, q in quality if task.part in kinds])
        if not len(inside):
            continue
        drawn = (resample(len(inside), RESAMPLES, (seed, 0)).T * inside).sum(axis=0) / len(inside)
        drawn[0] = inside[:, 0].mean()
        means[part] = Estimate.of(drawn if len(inside) > 1 else drawn[:1])  # one task has no interval
    return {task.name: float(q[0]) for task, q in quality}, means
