"""Why a metric loses: the pairs of models it puts in the wrong order, and the cases it should have judged equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tsadeval.core.inputs import Floats
from tsadeval.core.results import Grid, Result, Row
from tsadeval.rankeval.hard.index import TaskValues, index_of
from tsadeval.rankeval.hard.plan import Entry, HardPlan, drawn
from tsadeval.rankeval.hard.task import Case

__all__ = ["Explanation", "explain"]


class HasValues(Protocol):
    """Source of the values of a metric."""

    def values_of(self, entry: Entry) -> list[TaskValues]:
        """The values of one metric, task by task; higher is better."""
        ...


class Explanation(Result):
    """The worst pairs of a metric: a row per pair, the tasks on which it does worst first.

    A row has the task, its part of the index, its summary and the metric's `quality` on it; `repeat`; the two cases,
    `worse` and `better`, with their values. In an order task `worse` is the model that is worse in truth but got the
    higher value; in a control `worse` is the reference, and both should have got the same value. `wrong` says how
    wrong: the difference of the values over the range of the metric on the task, times the number of steps between
    the models; of a control, the difference over the skill of the reference, as in its score.
    """

    def __init__(self, rows: list[Row], plan: HardPlan, entry: Entry, index: float, in_reverse: bool) -> None:
        super().__init__(rows)
        self.plan = plan
        self.entry = entry
        self.index = index
        self.reversed = in_reverse

    def cases(self, row: Row) -> tuple[Case, Case]:
        """Labels and scores of the two cases of a row, drawn again."""
        task = next(task for task in self.plan.tasks if task.name == row["task"])
        found = {case.name: case for case in drawn(task, row["repeat"], self.plan.seed)}
        return found[row["worse"]], found[row["better"]]

    def _grids(self) -> list[tuple[str, Grid]]:
        grids = []
        for name in dict.fromkeys(row["task"] for row in self.rows):
            rows = [row for row in self.rows if row["task"] == name]
            first = rows[0]
            head = (
                ["repeat", "worse in truth", "its value", "better in truth", "its value", "wrong"]
                if first["kind"] == "order"
                else ["repeat", "reference", "its value", "should be equal", "its value", "wrong"]
            )
            body = [
                [r["repeat"], r["worse"], r["worse_value"], r["better"], r["better_value"], r["wrong"]] for r in rows
            ]
            grids.append((f"{name} ({first['part']}), score {first['quality']:.2f}: {first['summary']}", [head, *body]))
        return grids or [("", [["task"], ["nothing was put in the wrong order"]])]

    def _notes(self) -> list[str]:
        if self.reversed:
            return [f"{self.entry} ranks models in reverse on most tasks: is lower better? Then return its negative."]
        return []

    def _lead(self) -> str:
        return f"{self.entry}: index {self.index:.3f}; its worst pairs, on its worst tasks first"


def explain(plan: HardPlan, entry: Entry, result: HasValues, pairs: int) -> Explanation:
    """The worst pairs of a metric."""
    found = result.values_of(entry)
    quality, parts = index_of(found)
    sign = 1.0 if entry.metric.direction == "higher" else -1.0
    rows: list[Row] = []
    for of_task in sorted(found, key=lambda t: quality[t.task.name]):
        task = of_task.task
        worst = _wrong_pairs(of_task) if task.kind == "order" else _unequal(of_task)
        for repeat, worse, better, wrong in worst[:pairs]:
            values = sign * of_task.values[repeat, [worse, better]]
            rows.append(
                {
                    "task": task.name,
                    "part": task.part,
                    "kind": task.kind,
                    "summary": task.summary,
                    "quality": quality[task.name],
                    "repeat": repeat,
                    "worse": of_task.names[worse],
                    "worse_value": float(values[0]),
                    "better": of_task.names[better],
                    "better_value": float(values[1]),
                    "wrong": wrong,
                }
            )
    order = [quality[t.task.name] for t in found if t.task.kind == "order"]
    in_reverse = bool(order) and float(np.mean(order)) < -0.3
    return Explanation(rows, plan, entry, parts["index"].value, in_reverse)


Pairs = list[tuple[int, int, int, float]]


def _range(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(np.ptp(known)) or 1.0 if known.size else 1.0


def _wrong_pairs(found: TaskValues) -> Pairs:
    """(repeat, worse, better, wrong) of all pairs in the wrong order, the worst first."""
    values = found.values
    scale = _range(values)
    pairs: Pairs = []
    for repeat, row in enumerate(values):
        for worse in range(len(row)):
            for better in range(worse + 1, len(row)):
                wrong = (row[worse] - row[better]) / scale * (better - worse)
                if wrong > 0:
                    pairs.append((repeat, worse, better, float(wrong)))
    return sorted(pairs, key=lambda pair: -pair[3])


def _unequal(found: TaskValues) -> Pairs:
    """The same of a control: pairs that should have got the same value."""
    names, values = list(found.names), found.values
    pairs: Pairs = []
    for repeat, row in enumerate(values):
        for one, other, skill in _comparisons(names, row):
            wrong = abs(row[one] - row[other]) / skill if skill > 0 else np.nan
            if np.isfinite(wrong) and wrong > 0.01:  # a difference that counts
                pairs.append((repeat, one, other, float(wrong)))
    return sorted(pairs, key=lambda pair: -pair[3])


def _comparisons(names: Sequence[str], row: Floats) -> list[tuple[int, int, float]]:
    if "reference" in names:
        reference, random, perfect = (names.index(n) for n in ("reference", "random", "perfect"))
        skill = max(abs(row[reference] - row[random]), 0.05 * abs(row[perfect] - row[random]))
        others = [i for i in range(len(names)) if i not in (reference, random, perfect)]
        return [(reference, i, skill) for i in others]
    # Scores without skill: the lowest and the highest of the repeat.
    without = [i for i, name in enumerate(names) if not name.startswith("perfect") and np.isfinite(row[i])]
    if len(without) < 2:
        return []
    best = [row[i] for i, name in enumerate(names) if name.startswith("perfect")]
    low, high = min(without, key=lambda i: row[i]), max(without, key=lambda i: row[i])
    return [(low, high, abs(float(np.nanmean(best) - np.mean([row[i] for i in without]))))]
