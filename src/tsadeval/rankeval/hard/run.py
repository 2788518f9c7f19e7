"""Values of metrics on the tasks of the suite `hard`, and the index made from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import Metric
from tsadeval.rankeval.hard import HARD_TASKS
from tsadeval.rankeval.hard.task import HardTask, task_stream
from tsadeval.thresholds import parse_rule

__all__ = ["REPEATS", "RULES", "Entry", "Index", "compute", "entries_of", "index", "values"]

REPEATS = 12
RULES = ("best", "quantile(0.95)")
RESAMPLES = 2000
LEVEL = 0.95


class Entry(NamedTuple):
    """A metric and the rule that makes predictions for it; None for metrics of scores."""

    metric: Metric
    rule: str | None

    def __str__(self) -> str:
        return str(self.metric) if self.rule is None else f"{self.metric} at {self.rule}"

    def value(self, data: Scoring) -> float:
        """The value, NaN where there is none; higher is better."""
        found = self.metric.run(data, parse_rule(self.rule or "best")).value
        return found if self.metric.direction == "higher" else -found


def entries_of(metrics: Iterable[Metric], rules: Sequence[str] = RULES) -> list[Entry]:
    """Metrics of scores once, metrics of predictions at each of the rules."""
    return [Entry(m, rule) for m in metrics for rule in ((None,) if m.kind == "scores" else rules)]


def compute(task: HardTask, repeat: int, entries: Sequence[Entry], seed: int = 0) -> tuple[list[str], Floats]:
    """The names of the cases of one repeat of a task, and their values by entry and case."""
    cases = task.draw(task_stream(task.name, repeat, seed))
    found = np.full((len(entries), len(cases)), math.nan)
    for j, case in enumerate(cases):
        data = Scoring.of(case.labels, case.scores)
        for i, entry in enumerate(entries):
            found[i, j] = entry.value(data)
    return [case.name for case in cases], found


@dataclass(frozen=True, eq=False)
class Values:
    """Of one task: the names of its cases, and values of shape (entry, repeat, case)."""

    task: HardTask
    names: list[str]
    values: Floats


def values(
    entries: Sequence[Entry],
    tasks: Iterable[HardTask] | None = None,
    *,
    repeats: int = REPEATS,
    seed: int = 0,
    n_jobs: int | None = None,
) -> list[Values]:
    """Run the entries on all repeats of the tasks."""
    joblib = require("joblib", extra="all")
    chosen = list(HARD_TASKS.values() if tasks is None else tasks)
    jobs = [(task, repeat) for task in chosen for repeat in range(repeats)]
    done = joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(compute)(t, r, entries, seed) for t, r in jobs)
    of_task = {task.name: done[i * repeats : (i + 1) * repeats] for i, task in enumerate(chosen)}
    return [
        Values(task, of_task[task.name][0][0], np.stack([found for _, found in of_task[task.name]], axis=1))
        for task in chosen
    ]


PARTS: Mapping[str, tuple[str, ...]] = {
    "index": ("order", "preference", "control"),
    "order": ("order",),
    "preference": ("preference",),
    "control": ("control",),
}


class Index(NamedTuple):
    """A mean over tasks with its bootstrap interval over tasks and repeats."""

    value: float
    low: float
    high: float


def index(found: Sequence[Values], entry: int, seed: int = 0) -> dict[str, Any]:
    """The quality of one entry on each task, and the index and its parts with intervals.

    All entries are resampled alike, so differences between them can be read from the same draws.
    """
    random = np.random.default_rng(seed)
    quality = {}
    for of_task in found:
        repeats = of_task.values.shape[1]
        drawn = random.multinomial(repeats, np.full(repeats, 1 / repeats), RESAMPLES)
        weights = np.concatenate([np.ones((1, repeats)), drawn])
        quality[of_task.task] = of_task.task.quality(of_task.values[entry], of_task.names, weights)
    means = {}
    for part, kinds in PARTS.items():
        inside = np.array([q for task, q in quality.items() if task.part in kinds])
        if not len(inside):
            continue
        drawn = random.multinomial(len(inside), np.full(len(inside), 1 / len(inside)), RESAMPLES)
        resampled = (drawn.T * inside[:, 1:]).sum(axis=0) / len(inside)
        low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        means[part] = Index(float(inside[:, 0].mean()), float(low), float(high))
    return {"tasks": {task.name: float(q[0]) for task, q in quality.items()}, **means}
