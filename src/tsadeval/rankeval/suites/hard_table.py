"""Run of the suite `hard`, and its results as tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval.comparison.statistics import Estimate
from tsadeval.core.inputs import Floats
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.results import Grid, MappingResult, Result, Row
from tsadeval.core.selection import AnyMetric, Metrics, find_metric, metric_text, select_metrics
from tsadeval.engine.compute import choose_metrics
from tsadeval.engine.pool import Limits
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import complete
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, UnknownNameError
from tsadeval.rankeval.suite import DIGITS, StoredResult, failure, last_plan, place_cell, place_words, places_of
from tsadeval.rankeval.suites.hard import LAYOUT, REPEATS, Entry, HardCell, HardPlan, choose_tasks, compute
from tsadeval.rankeval.suites.hard_explanation import AT_BEST, Explanation, Standing, explain, incomplete_words
from tsadeval.rankeval.suites.hard_index import PARTS, TaskValues, index_of

if TYPE_CHECKING:
    import pandas as pd

# A mean over the order tasks below this means that the direction of the metric is wrong, not that it is a poor one.
REVERSED = -0.3
WITHOUT_VALUE = {"error": "failed", "undefined": "is undefined"}


class HardTable(MappingResult):
    """Scores of metrics on the hard tasks: a row per metric and rule, the best first; as a mapping, name to index.

    A row has the index, its parts `order`, `preference` and `control`, each with `_low` and `_high`, and the quality on
    each task under the task's name; `place` is 1 for the highest index. A metric that has no value at all has no place,
    and NaN for all of these; it comes last. `incomplete` names the tasks on which a metric raised an error or has no
    value: a task without any value is NaN and counts 0, no order, in the index. Such a metric is not placed: `place` is
    where it would be, printed in parentheses, and it moves no other metric down. `undefined` and `errors` count values,
    `message` says why the first one is missing; `own` marks metrics that are not of the library. Names are "cce" or
    "f1 at best".
    """

    def __init__(self, rows: list[Row], tasks: list[str], about: str) -> None:
        super().__init__(rows, key="name")
        self.tasks = tasks
        self.about = about

    def _grid(self) -> Grid:
        parts = [part for part in PARTS if any(part in row for row in self.rows)]
        head = ["metric", *parts, *self.tasks]
        return [head, *([row["name"], *(row.get(c) for c in head[1:])] for row in self.rows)]

    def _grids(self) -> list[tuple[str, Grid]]:
        parts = [part for part in PARTS if any(part in row for row in self.rows)]
        counts = [name for name in ("undefined", "errors") if any(row[name] for row in self.rows)]
        means: Grid = [["metric", "place", *parts, *counts]]
        tasks: Grid = [["metric", *self.tasks]]
        for row in self.rows:
            cells = [_interval(row, part) for part in parts]
            place = place_cell(row["place"], not row["incomplete"])
            means.append([row["name"], place, *cells, *(row[name] for name in counts)])
            tasks.append([row["name"], *(_score(row, name) for name in self.tasks)])
        return [("means over tasks, with 95 % intervals over tasks and repeats", means), ("each task", tasks)]

    def _notes(self) -> list[str]:
        own = [row for row in self.rows if row["own"] and len(self.rows) > 1]
        of = len(self.rows), len({row["metric"] for row in self.rows})
        notes = [
            f"{row['name']}: {place_words(row['place'], *of, whole=not row['incomplete'])}, by index"
            for row in own
            if row["place"]
        ]
        notes += [
            f"{row['name']} ranks models in reverse: is lower better?"
            for row in self.rows
            if row["own"] and row["reversed"]
        ]
        for row in self.rows:
            words, count = ("failed", row["errors"]) if row["errors"] else ("is undefined", row["undefined"])
            if row["errors"] or row["place"] is None:
                notes.append(failure(row["name"], words, count, row["message"]))
            if row["incomplete"] and row["place"] is not None:
                notes.append(f"{row['name']} {incomplete_words(row['incomplete'], len(self.tasks))}")
        return notes + [AT_BEST for row in self.rows if row["rule"] == "best" and row["own"]][:1]

    def _lead(self) -> str:
        return self.about


class SensitivityTable(Result):
    """How far nuisances move the values of metrics: a row per metric, control (`task`) and `nuisance`."""

    def _grid(self) -> Grid:
        names = list(dict.fromkeys(row["name"] for row in self.rows))
        found = {(row["task"], row["nuisance"], row["name"]): row["value"] for row in self.rows}
        head = ["control", "nuisance", *names]
        cells = dict.fromkeys((task, nuisance) for task, nuisance, _ in found)
        return [head, *([*cell, *(found.get((*cell, name)) for name in names)] for cell in cells)]


def _interval(row: Row, part: str) -> str:
    low, high = row[f"{part}_low"], row[f"{part}_high"]
    interval = "" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    return f"{row[part]:.3f}{interval}"


def _score(row: Row, task: str) -> str:
    """A score on one task: "-" without any value, in parentheses where the metric failed on some series."""
    if math.isnan(row[task]):
        return "-"
    return f"({row[task]:.2f})" if task in row["incomplete"] else f"{row[task]:.2f}"


class HardResult(StoredResult):
    """Values of metrics on the hard tasks: a row per value. Prints as its table of scores."""

    def __init__(self, plan: HardPlan, store: Store[HardCell]) -> None:
        self.plan = plan
        self.store = store
        super().__init__(store.frame(plan.cells()))
        columns = zip(*(self._frame[c].tolist() for c in ("task", "repeat", "case", "metric", "rule")), strict=True)
        keys = [(*key[:4], key[4] if isinstance(key[4], str) else None) for key in columns]
        self._values = dict(zip(keys, self._frame["value"].tolist(), strict=True))
        status = self._frame["status"].tolist()
        self._counts = Counter((*key[3:], s) for key, s in zip(keys, status, strict=True))
        self._on_task = Counter((key[0], *key[3:], s) for key, s in zip(keys, status, strict=True))
        # Of each metric, rule and status the first task and message.
        self._first: dict[tuple[str, str | None, str], tuple[str, str]] = {}
        for key, state, message in zip(keys, status, self._frame["message"].tolist(), strict=True):
            self._first.setdefault((*key[3:], state), (key[0], message))

    def to_latex(self, *, digits: int = 3) -> str:
        """The table of scores (booktabs)."""
        return self.table().to_latex(digits=digits)

    def values_of(self, entry: Entry) -> list[TaskValues]:
        """The values of one metric at one rule, task by task; higher is better."""
        sign = 1.0 if entry.metric.direction == "higher" else -1.0
        found = []
        for task, names in zip(self.plan.tasks, self.plan.cases, strict=True):
            values: Floats = np.array(
                [
                    [self._values.get((task.name, r, c, str(entry.metric), entry.rule), math.nan) for c in names]
                    for r in range(self.plan.repeats)
                ]
            )
            found.append(TaskValues(task, names, sign * values))
        return found

    def table(self) -> HardTable:
        """The index of every metric, its parts, and its score on each task; the best first."""
        rows = self._scored
        tasks, repeats = len(self.plan.tasks), self.plan.repeats
        about = (
            f"RankEval, suite hard: {tasks} task{'s' * (tasks != 1)}, {repeats} repeat{'s' * (repeats != 1)}; "
            "1 is perfect, 0 is no order; preferences are value-laden"
        )
        return HardTable(rows, [task.name for task in self.plan.tasks], about)

    @cached_property
    def _scored(self) -> list[Row]:
        """A row for every entry, the best first."""
        rows = [self._row(entry) for entry in self.plan.entries]
        rows.sort(key=lambda row: math.inf if math.isnan(row["value"]) else -round(row["value"], DIGITS))
        places = places_of([row["value"] for row in rows], [not row["incomplete"] for row in rows])
        return [{**row, "place": place} for row, place in zip(rows, places, strict=True)]

    def _row(self, entry: Entry) -> Row:
        quality, parts = index_of(self.values_of(entry))
        who = str(entry.metric), entry.rule
        quality |= {name: math.nan for name in quality if not self._on_task[(name, *who, "ok")]}
        if not self._counts[(*who, "ok")]:  # "no order" is better than a wrong one, but it has not been tried at all
            parts = dict.fromkeys(parts, Estimate(math.nan, math.nan, math.nan))
        row: Row = {"name": str(entry), "metric": str(entry.metric), "rule": entry.rule, "value": parts["index"].value}
        for part, found in parts.items():
            row |= {part: found.value, f"{part}_low": found.low, f"{part}_high": found.high}
        row |= quality
        row["incomplete"] = tuple(
            task.name
            for task, cases in zip(self.plan.tasks, self.plan.cases, strict=True)
            # A run that was stopped has neither a value nor an error.
            if math.isnan(quality[task.name])
            or sum(self._on_task[(task.name, *who, s)] for s in ("ok", "undefined")) < self.plan.repeats * len(cases)
        )
        row["own"] = not entry.metric.library
        row |= {"undefined": self._counts[(*who, "undefined")], "errors": self._counts[(*who, "error")]}
        row["message"] = next((self._first[(*who, s)][1] for s in WITHOUT_VALUE if (*who, s) in self._first), "")
        order = [q for t in self.plan.tasks if t.kind == "order" and not math.isnan(q := quality[t.name])]
        return row | {"reversed": bool(order) and float(np.mean(order)) < REVERSED}

    def sensitivity(self) -> SensitivityTable:
        """How far each nuisance of the controls moves the value of every metric; 0 is not at all.

        In units of the skill of the reference detector, the difference between its value and that of random scores.
        Of the control `chance`: the spread of the value of scores without skill over label sets, in units of the
        difference between their mean and a perfect detector's.
        """
        rows: list[Row] = []
        for entry in self.plan.entries:
            for task, names, values in self.values_of(entry):
                if task.changes is not None:
                    who = {"name": str(entry), "metric": str(entry.metric), "rule": entry.rule, "task": task.name}
                    changes = task.changes(values, names)
                    rows += [{**who, "nuisance": case, "value": change} for case, change in changes.items()]
        return SensitivityTable(rows)

    def explain(
        self,
        metric: AnyMetric,
        *,
        rule: str | None = None,
        pairs: int = 1,
        tasks: int | None = 5,
        beside: AnyMetric | None = "ears",
    ) -> Explanation:
        """Why a metric loses: its worst tasks, on each the pairs of models that it puts in the wrong order.

        Each pair comes with what the two detectors do, which of them is better by construction, the values they got
        from the metric and from another one beside it, and what the mistake means.

        Parameters
        ----------
        metric : str, function or Metric
            As it was given to the run (a function, "mine:metric"), or as it stands in the table ("f1 at best").
        rule : str, optional
            Of a metric of predictions; "best" by default, where each detector is judged at its own best threshold for
            this metric, found with the labels. "quantile(0.95)" is the other.
        pairs : int, default=1
            How many pairs of each task.
        tasks : int, default=5
            How many tasks, those with the lowest scores; None for all on which something is wrong.
        beside : str, function or Metric, default="ears"
            The metric whose values stand beside ("vus_pr" beside EARS itself); None for none.

        Examples
        --------
        >>> import tsadeval as te
        >>> result = te.rankeval.run("hard", ["auc_roc", "ears"], tasks=["delay", "glitch"], repeats=2)
        >>> why = result.explain("auc_roc")
        >>> why.rows[0]["task"], why.rows[0]["verdict"], why.rows[0]["beside_verdict"]
        ('delay', 'reversed', 'right')
        >>> print(why.rows[0]["worse_is"])
        finds 30 % of each event, but only after 70 % of it
        """
        counts = {"pairs": Number(1, integer=True), "tasks": Number(1, integer=True, none=True)}
        check_parameters("explain", dict(counts), {"pairs": pairs, "tasks": tasks})
        entry = self._entry(metric, rule)
        row = next(row for row in self._scored if row["name"] == str(entry))
        of = len(self._scored), len(self.plan.metrics)
        standing = Standing(row["value"], row["place"], *of, row["reversed"], row["incomplete"])
        notes = self._without_value(entry)
        others = [e for e in self.plan.entries if str(e.metric) == str(entry.metric) and e != entry]
        if others and rule is None and " at " not in metric_text(metric):
            notes.append(f'this is {entry}; for the other rule, explain "{others[0]}"')
        if beside is not None and str(select_metrics(beside)[0]) == str(entry.metric):
            beside = "vus_pr" if str(entry.metric) == "ears" else None
        return explain(
            self.plan,
            entry,
            self.values_of(entry),
            {task.name: row[task.name] for task in self.plan.tasks},
            standing,
            thresholds=self._thresholds(entry),
            beside=None if beside is None else select_metrics(beside)[0],
            pairs=pairs,
            tasks=tasks,
            notes=notes,
        )

    def _of_entry(self, entry: Entry) -> pd.DataFrame:
        """The rows of one metric at one rule."""
        mine = self._frame["metric"] == str(entry.metric)
        return self._frame[mine if entry.rule is None else mine & (self._frame["rule"] == entry.rule)]

    def _thresholds(self, entry: Entry) -> dict[tuple[str, int, str], float]:
        """At which each case was judged, by task, repeat and case."""
        if entry.rule is None:
            return {}
        columns = (self._of_entry(entry)[name].tolist() for name in ("task", "repeat", "case", "threshold"))
        return {(task, repeat, case): value for task, repeat, case, value in zip(*columns, strict=True)}

    def _without_value(self, entry: Entry) -> list[str]:
        """What there is to say about values that are undefined or failed."""
        who, notes = (str(entry.metric), entry.rule), []
        for status, words in WITHOUT_VALUE.items():
            if count := self._counts[(*who, status)]:
                task, message = self._first[(*who, status)]
                notes.append(f"{entry} {words} on {count} series, first on {task}: {message}")
        return notes

    def _entry(self, metric: AnyMetric, rule: str | None) -> Entry:
        text, entries = metric_text(metric), self.plan.entries
        name = find_metric(metric, {str(e if " at " in text else e.metric): e for e in entries})
        alike = [e for e in entries if name in (str(e), str(e.metric))]
        if rule is None:
            return alike[0]
        for entry in alike:
            if entry.rule == rule:
                return entry
        raise UnknownNameError(f"{text} was not run at {rule!r}, but at {', '.join(str(e.rule) for e in alike)}")


def read_hard(folder: str | Path) -> HardResult:
    """The last run in a store, as far as it got, with all metrics that were tried on the same tasks."""
    store = Store.existing(folder, LAYOUT)
    plans = [HardPlan.of_record(record) for record in store.plans()]
    if not plans:
        raise InvalidInputError(f"{folder} has no run of the suite hard")
    return HardResult(last_plan(plans), store)


# `te.rankeval.run("hard", ...)`.


def run_hard(
    metrics: Metrics | None = None,
    *,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    repeats: int | None = None,
    random_state: int | None = None,
    tasks: Sequence[Any] | None = None,
    progress: bool | Progress | None = None,
    limits: Limits | None = None,
) -> HardResult:
    """Run metrics on the tasks of the suite `hard`; parameters as of `te.rankeval.run`."""
    repeats = REPEATS if repeats is None else repeats
    seed = 0 if random_state is None else random_state
    checks = {"repeats": Number(1, integer=True), "random_state": Number(0, 2**63 - 1, integer=True)}
    check_parameters("rankeval.run", dict(checks), {"repeats": repeats, "random_state": seed})
    plan = HardPlan.of(
        choose_metrics("recommended" if metrics is None else metrics), choose_tasks(tasks), int(repeats), int(seed)
    )
    kept = Store(store, LAYOUT)
    kept.add_plan(plan.record())
    complete(plan.cells(), plan.chunks, compute, kept, n_jobs=n_jobs, progress=progress, limits=limits)
    return HardResult(plan, kept)
