"""The suite `hard`: tasks on which metrics are known to be fooled, with the index, its parts and its nuisances."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tsadeval.comparison.statistics import Estimate, resample
from tsadeval.core.facts import finite_mean
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.names import Registry, import_object
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.results import Grid, Row
from tsadeval.core.selection import AnyMetric, Metrics, find_metric, metric_text, select_metrics
from tsadeval.engine.cells import Chunk, Layout, Making, group_cells
from tsadeval.errors import InvalidParameterError, UnknownNameError
from tsadeval.rankeval import suite
from tsadeval.rankeval.suites import hard_controls, hard_orders
from tsadeval.rankeval.suites.hard_explanation import AT_BEST, explain, incomplete_words
from tsadeval.rankeval.suites.hard_task import HardTask
from tsadeval.thresholds.rules import parse_rule

# A mean over the order tasks below this means that the direction of the metric is wrong, not that it is a poor one.
REVERSED = -0.3
RESAMPLES = 1000

# The parts of the index, and the tasks that belong to each.
PARTS: Mapping[str, tuple[str, ...]] = {
    "index": ("order", "preference", "control"),
    "order": ("order",),
    "preference": ("preference",),
    "control": ("control",),
}


class TaskValues(NamedTuple):
    """Values of one metric on one task, by repeat and case; higher is better, NaN where there is none.

    `thresholds` are those at which cases were judged; `known` says whether there is any value, and `whole` whether
    every case was judged, if only with an undefined value.
    """

    task: HardTask
    names: Sequence[str]
    values: Floats
    thresholds: Floats
    known: bool
    whole: bool


def index_of(found: Sequence[TaskValues]) -> tuple[dict[str, float], dict[str, Estimate]]:
    """Return the quality on each task, and the index and its parts, by the same draws for every metric."""
    drawn = {
        task: task.quality(values, names, resample(len(values), RESAMPLES, (0, i)))
        for i, (task, names, values, *_) in enumerate(found, 1)
    }
    means: dict[str, Estimate] = {}
    for part, kinds in PARTS.items():
        inside = np.array([quality for task, quality in drawn.items() if task.part in kinds])
        if len(inside):
            mean = (resample(len(inside), RESAMPLES, (0, 0)).T * inside).sum(axis=0) / len(inside)
            mean[0] = inside[:, 0].mean()
            means[part] = Estimate.of(mean if len(inside) > 1 else mean[:1])  # one task has no interval
    return {task.name: float(quality[0]) for task, quality in drawn.items()}, means


def _notes(rows: Sequence[Row], tasks: Sequence[str]) -> list[str]:
    of, own = (len(rows), len({row["metric"] for row in rows})), [row for row in rows if row["own"]]
    notes = [
        f"{row['name']}: {suite.place_words(row['place'], *of, whole=not row['incomplete'])}, by index"
        for row in own
        if row["place"] and len(rows) > 1
    ]
    notes += [f"{row['name']} ranks models in reverse: is lower better?" for row in own if row["reversed"]]
    for row in rows:
        notes += suite.failures(row["name"], row, row["place"])
        if row["incomplete"] and row["place"] is not None:
            notes.append(f"{row['name']} {incomplete_words(row['incomplete'], len(tasks))}")
    return notes + [AT_BEST for row in own if row["rule"] == "best"][:1]


def _interval(row: Row, part: str) -> str:
    low, high = row[f"{part}_low"], row[f"{part}_high"]
    interval = "" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    return f"{row[part]:.3f}{interval}"


def _score(row: Row, task: str) -> str:
    """Return a score on one task: "-" without any value, in parentheses where the metric failed on some series."""
    if math.isnan(row[task]):
        return "-"
    return f"({row[task]:.2f})" if task in row["incomplete"] else f"{row[task]:.2f}"


class HardAnalysis:
    """Values of metrics on the hard tasks: the index, what moves it, and explanations."""

    views: ClassVar[tuple[str, ...]] = ("sensitivity", "values_of")

    def __init__(self, plan: "HardSuite", result: suite.SuiteResult) -> None:
        self.plan = plan
        frame = result.to_frame()
        of_metrics = dict(list(frame.groupby(["metric", frame["rule"].fillna("")], sort=False)))
        self._rows = {e: of_metrics.get((str(e.metric), e.rule or ""), frame[:0]) for e in plan.entries}

    def values_of(self, entry: "Entry") -> list[TaskValues]:
        """Return the values of one metric at one rule, task by task; higher is better."""
        of_tasks = dict(list(self._rows[entry].groupby("task", sort=False)))
        found = []
        for task, names in zip(self.plan.tasks, self.plan.cases, strict=True):
            rows = of_tasks.get(task.name, self._rows[entry][:0])
            axes = {"repeat": range(self.plan.repeats), "case": names}
            values, thresholds = suite.pivot(rows, axes, rows["value"], rows["threshold"])
            judged = int(rows["status"].isin(["ok", "undefined"]).sum())  # a run that was stopped has neither
            known = bool((rows["status"] == "ok").any())
            found.append(TaskValues(task, names, entry.metric.sign * values, thresholds, known, judged == values.size))
        return found

    def table(self) -> suite.SuiteTable:
        """Return the index of every metric: a row per metric and rule, the best first; as a mapping, to the index.

        A row has the index, its parts `order`, `preference` and `control`, each with `_low` and `_high`, and the
        quality on each task under the task's name; `place` is 1 for the highest index. A metric that has no value at
        all has no place, and NaN for all of these; it comes last. `incomplete` names the tasks on which a metric raised
        an error or has no value: a task without any value is NaN and counts 0, no order, in the index. Such a metric is
        not placed: `place` is where it would be, printed in parentheses, and it moves no other metric down. `undefined`
        and `errors` count values, `message` says why the first one is missing; `own` marks metrics that are not of the
        library. Names are "cce" or "f1 at best".
        """
        rows, tasks = self.scored, [task.name for task in self.plan.tasks]
        title = self.plan.title("task", len(tasks), self.plan.repeats)
        about = f"{title}; 1 is perfect, 0 is no order; preferences are value-laden"
        parts = [part for part in PARTS if part in rows[0]]
        counts = [name for name in ("undefined", "errors") if any(row[name] for row in rows)]
        means: Grid = [["metric", "place", *parts, *counts]]
        for row in rows:
            place, numbers = suite.place_cell(row["place"], not row["incomplete"]), [row[name] for name in counts]
            means.append([row["name"], place, *(_interval(row, part) for part in parts), *numbers])
        each: Grid = [["metric", *tasks], *([row["name"], *(_score(row, task) for task in tasks)] for row in rows)]
        grids = [("means over tasks, with 95 % intervals over tasks and repeats", means), ("each task", each)]
        return suite.SuiteTable(rows, grids=grids, key="name", lead=about, notes=_notes(rows, tasks), tasks=tasks)

    @cached_property
    def scored(self) -> list[Row]:
        """A row for every entry, the best first."""
        rows = [self._row(entry) for entry in self.plan.entries]
        rows.sort(key=lambda row: math.inf if math.isnan(row["value"]) else -round(row["value"], suite.DIGITS))
        places = suite.places_of([row["value"] for row in rows], [not row["incomplete"] for row in rows])
        return [{**row, "place": place} for row, place in zip(rows, places, strict=True)]

    def _row(self, entry: "Entry") -> Row:
        values = self.values_of(entry)
        quality, parts = index_of(values)
        quality |= {of_task.task.name: math.nan for of_task in values if not of_task.known}
        counts = suite.count_values(self._rows[entry])
        if not counts.pop("values"):  # "no order" is better than a wrong one, but it has not been tried at all
            parts = dict.fromkeys(parts, Estimate(math.nan, math.nan, math.nan))
        row: Row = {"name": str(entry), "metric": str(entry.metric), "rule": entry.rule, "value": parts["index"].value}
        for part, found in parts.items():
            row |= {part: found.value, f"{part}_low": found.low, f"{part}_high": found.high}
        incomplete = tuple(one.task.name for one in values if not (one.known and one.whole))
        turned = finite_mean([quality[task.name] for task in self.plan.tasks if task.kind == "order"]) < REVERSED
        return {
            **row,
            **quality,
            "incomplete": incomplete,
            "own": not entry.metric.library,
            **counts,
            "reversed": turned,
        }

    def sensitivity(self) -> suite.SuiteTable:
        """How far each nuisance of the controls moves the value of every metric; 0 is not at all.

        In units of the skill of the reference detector, the difference between its value and that of random scores.
        Of the control `chance`: the spread of the value of scores without skill over label sets, in units of the
        difference between their mean and a perfect detector's.
        """
        rows: list[Row] = [
            {"name": str(entry), "metric": str(entry.metric), "rule": entry.rule, "task": task.name}
            | {"nuisance": nuisance, "value": change}
            for entry in self.plan.entries
            for task, names, values, *_ in self.values_of(entry)
            if task.changes is not None
            for nuisance, change in task.changes(values, names).items()
        ]
        found = {(row["task"], row["nuisance"], row["name"]): row["value"] for row in rows}
        names = list(dict.fromkeys(row["name"] for row in rows))
        cells = dict.fromkeys((task, nuisance) for task, nuisance, _ in found)
        body = [[*cell, *(found.get((*cell, name)) for name in names)] for cell in cells]
        largest = {name: max(row["value"] for row in rows if row["name"] == name) for name in names}
        return suite.SuiteTable(rows, grid=[["control", "nuisance", *names], *body], values=largest, key="name")

    def explain(
        self,
        metric: AnyMetric,
        *,
        rule: str | None = None,
        pairs: int = 1,
        tasks: int | None = 5,
        beside: AnyMetric | None = "ears",
    ) -> suite.Explanation:
        """Why a metric loses: its worst tasks, on each the pairs of models that it puts in the wrong order.

        Each pair comes with what the two detectors do, which of them is better by construction, the values they got
        from the metric and from another one beside it, and what the mistake means.
        """
        counts = {"pairs": Number(1, integer=True), "tasks": Number(1, integer=True, none=True)}
        check_parameters("explain", dict(counts), {"pairs": pairs, "tasks": tasks})
        entry = self._entry(metric, rule)
        rows = self._rows[entry]
        notes = [
            f"{entry} {words} on {len(some)} series, first on {some['task'].iloc[0]}: {some['message'].iloc[0]}"
            for status, words in (("error", "failed"), ("undefined", "is undefined"))
            if len(some := rows[rows["status"] == status])
        ]
        others = [e for e in self.plan.entries if str(e.metric) == str(entry.metric) and e != entry]
        if others and rule is None and " at " not in metric_text(metric):
            notes.append(f'this is {entry}; for the other rule, explain "{others[0]}"')
        if beside is not None and str(select_metrics(beside)[0]) == str(entry.metric):
            beside = "vus_pr" if str(entry.metric) == "ears" else None
        chosen = None if beside is None else select_metrics(beside)[0]
        return explain(self, entry, beside=chosen, pairs=pairs, tasks=tasks, notes=notes)

    def _entry(self, metric: AnyMetric, rule: str | None) -> "Entry":
        text, entries = metric_text(metric), self.plan.entries
        name = find_metric(metric, {str(e if " at " in text else e.metric): e for e in entries})
        alike = [e for e in entries if name in (str(e), str(e.metric))]
        chosen = [e for e in alike if rule in (None, e.rule)]
        if not chosen:
            raise UnknownNameError(f"{text} was not run at {rule!r}, but at {', '.join(str(e.rule) for e in alike)}")
        return chosen[0]


RULES = ("best", "quantile(0.95)")

HARD_TASKS: Registry[HardTask] = Registry("task", records=(*hard_orders.TASKS, *hard_controls.TASKS))


class HardCell(NamedTuple):
    """One value of one metric on one case of a task; `rule` is None for metrics that take scores."""

    task: str
    task_version: str
    repeat: int
    seed: int
    case: str
    metric: str
    version: str
    rule: str | None


class Entry(NamedTuple):
    """A metric, and the rule that makes predictions for it where it takes these."""

    metric: Metric
    rule: str | None

    def __str__(self) -> str:
        return str(self.metric) if self.rule is None else f"{self.metric} at {self.rule}"


@dataclass(frozen=True)
class HardSuite(suite.Suite):
    """Tasks on which metrics are known to be fooled.

    `cases` holds the names of the cases of each task, which are the same in every repeat, once the suite is bound.
    """

    layout: ClassVar[Layout[Any]] = Layout.of(HardCell, "tsadeval rankeval run --suite hard", repeat="int32")
    analysis = HardAnalysis
    options: ClassVar[tuple[str, ...]] = ("tasks", "repeats", "seed")

    tasks: tuple[HardTask, ...]
    cases: tuple[tuple[str, ...], ...] = ()
    repeats: int = 12

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        return {**options, "tasks": choose_tasks(options["tasks"])} if "tasks" in options else options

    def bind(self, metrics: Metrics | None, scores: Any = None) -> Self:
        """Return the plan; every task is drawn once, so that one that cannot be drawn is known before any work."""
        cases = tuple(tuple(case.name for case in task.cases(0, self.seed or 0)) for task in self.tasks)
        return replace(super().bind(metrics, scores), cases=cases)

    @property
    def entries(self) -> list[Entry]:
        """Metrics of scores once, metrics of predictions at each rule."""
        return [Entry(m, rule) for m in self.metrics for rule in ((None,) if m.kind == "scores" else RULES)]

    def cells(self) -> list[HardCell]:
        """Return every value there is to compute."""
        return [
            HardCell(task.name, task.version, repeat, self.seed or 0, case, str(m), m.version, rule)
            for task, names in zip(self.tasks, self.cases, strict=True)
            for repeat in range(self.repeats)
            for case in names
            for m, rule in self.entries
        ]

    def chunks(self, cells: Iterable[HardCell]) -> list[Chunk]:
        """Return the cells, a chunk for each repeat of a task."""
        tasks, rules = {task.name: task for task in self.tasks}, {rule: parse_rule(rule) for rule in RULES}
        groups = group_cells(cells, lambda cell: (cell.task, cell.repeat))
        return [self.chunk(scorings, group, rules, tasks[name]) for (name, _), group in groups.items()]

    def recorded(self) -> dict[str, Any]:
        """Return what a store keeps of the options."""
        tasks = [
            {"name": task.name, "version": task.version, "library": task.function is None, "cases": list(names)}
            for task, names in zip(self.tasks, self.cases, strict=True)
        ]
        return {"tasks": tasks, "repeats": self.repeats, "seed": self.seed}

    def _options_of(self, record: dict[str, Any]) -> dict[str, Any]:
        tasks = tuple(_task_of_record(task) for task in record["tasks"])
        cases = tuple(tuple(task["cases"]) for task in record["tasks"])
        return super()._options_of(record) | {"tasks": tasks, "cases": cases}


def scorings(chunk: Chunk) -> Iterator[Making]:
    """Draw the cases of one repeat of a task, which is the payload of the chunk."""
    first = chunk.cells[0]
    drawn = cache(lambda: {case.name: case for case in chunk.payload.cases(first.repeat, first.seed)})

    def make(name: str) -> tuple[Scoring, Row]:
        return Scoring.of(drawn()[name].labels, drawn()[name].scores), {}

    for name, cells in group_cells(chunk.cells, lambda cell: cell.case).items():
        yield tuple(cells), partial(make, name)


def _task_of_record(record: dict[str, Any]) -> HardTask:
    if record["library"]:
        return HARD_TASKS[record["name"]]

    def absent(random: Any) -> Any:
        raise InvalidParameterError(f"task {record['name']} is known by its name only: name it in a run again")

    return replace(HardTask.from_function(absent, record["name"]), version=record["version"])


def choose_tasks(tasks: Sequence[Any] | Any) -> tuple[HardTask, ...]:
    """Return the tasks that a caller named: of the suite, parts of it, functions, or "module:function"."""
    found: dict[str, HardTask] = {}
    named = [tasks] if isinstance(tasks, (str, HardTask)) or callable(tasks) else tasks
    for task in (task for one in named for task in _tasks_of(one)):
        if found.setdefault(task.name, task) is not task:
            raise InvalidParameterError(f"two different tasks are named {task.name!r}: rename one")
    if not found:
        raise InvalidParameterError("tasks is empty: name at least one, or leave it out for all")
    return tuple(found.values())


def _tasks_of(task: Any) -> list[HardTask]:
    if isinstance(task, HardTask):
        return [task]
    if callable(task):
        return [HardTask.from_function(task)]
    if not isinstance(task, str):
        raise InvalidParameterError(f"tasks must be names or functions, but one is {task!r}")
    if ":" in task:
        return [HardTask.from_function(import_object(task, "task"), task)]
    return [one for one in HARD_TASKS.values() if task in ("all", one.part)] or [HARD_TASKS[task]]


HARD = HardSuite("hard", "tasks on which metrics are known to be fooled", tuple(HARD_TASKS.values()))
