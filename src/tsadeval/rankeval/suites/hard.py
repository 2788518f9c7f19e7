"""Plan of the suite `hard`: cells of tasks and metrics, with cells that share their series as chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.names import import_object
from tsadeval.core.results import Row
from tsadeval.engine.cells import OUTCOME, Layout, Working, versions
from tsadeval.engine.compute import error_row, metric_of_record, outcome_row, record_of_metric
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.rankeval.suites import HARD_TASKS
from tsadeval.rankeval.suites.hard_task import Case, HardTask, task_stream

REPEATS = 12
RULES = ("best", "quantile(0.95)")


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


LAYOUT = Layout(
    HardCell,
    {
        "task": "string",
        "task_version": "string",
        "repeat": "int32",
        "seed": "int64",
        "case": "string",
        "metric": "string",
        "version": "string",
        "rule": "string",
        **OUTCOME,
    },
    "tsadeval rankeval run --suite hard",
)


class Entry(NamedTuple):
    """A metric, and the rule that makes predictions for it where it takes these."""

    metric: Metric
    rule: str | None

    def __str__(self) -> str:
        return str(self.metric) if self.rule is None else f"{self.metric} at {self.rule}"


@dataclass(frozen=True, eq=False)
class Chunk:
    """The cells of one repeat of a task, with all that a worker needs for them."""

    task: HardTask
    repeat: int
    seed: int
    cells: tuple[HardCell, ...]
    metrics: dict[str, Metric]


@dataclass(frozen=True)
class HardPlan:
    """All that decides which values a run of the suite `hard` computes.

    `cases` holds the names of the cases of each task, which are the same in every repeat.
    """

    metrics: tuple[Metric, ...]
    tasks: tuple[HardTask, ...]
    cases: tuple[tuple[str, ...], ...]
    repeats: int = REPEATS
    seed: int = 0

    @classmethod
    def of(
        cls, metrics: Iterable[Metric], tasks: Iterable[HardTask], repeats: int = REPEATS, seed: int = 0
    ) -> HardPlan:
        """A plan; every task is drawn once, so that one that cannot be drawn is known before any work begins."""
        chosen = tuple(tasks)
        cases = tuple(tuple(case.name for case in drawn(task, 0, seed)) for task in chosen)
        return cls(tuple(metrics), chosen, cases, repeats, seed)

    @property
    def entries(self) -> list[Entry]:
        """Metrics of scores once, metrics of predictions at each rule."""
        return [Entry(m, rule) for m in self.metrics for rule in ((None,) if m.kind == "scores" else RULES)]

    def cells(self) -> list[HardCell]:
        """Every value there is to compute."""
        return [
            HardCell(task.name, task.version, repeat, self.seed, case, str(m), m.version, rule)
            for task, names in zip(self.tasks, self.cases, strict=True)
            for repeat in range(self.repeats)
            for case in names
            for m, rule in self.entries
        ]

    def chunks(self, cells: Iterable[HardCell]) -> list[Chunk]:
        """The cells, a chunk for each repeat of a task."""
        groups: dict[tuple[str, int], list[HardCell]] = {}
        for cell in cells:
            groups.setdefault((cell.task, cell.repeat), []).append(cell)
        tasks, metrics = {task.name: task for task in self.tasks}, {str(m): m for m in self.metrics}
        return [
            Chunk(tasks[name], repeat, self.seed, tuple(group), {c.metric: metrics[c.metric] for c in group})
            for (name, repeat), group in groups.items()
        ]

    def record(self) -> dict[str, Any]:
        """The plan as plain data for the store."""
        tasks = [
            {"name": task.name, "version": task.version, "library": task.function is None, "cases": list(names)}
            for task, names in zip(self.tasks, self.cases, strict=True)
        ]
        metrics = [record_of_metric(metric) for metric in self.metrics]
        return {"suite": "hard", "tasks": tasks, "repeats": self.repeats, "seed": self.seed, "metrics": metrics}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> HardPlan:
        """The plan that was recorded; users' metrics are there by name only, users' tasks are imported again."""
        try:
            return cls(
                metrics=tuple(metric_of_record(metric) for metric in record["metrics"]),
                tasks=tuple(_task_of_record(task) for task in record["tasks"]),
                cases=tuple(tuple(task["cases"]) for task in record["tasks"]),
                repeats=record["repeats"],
                seed=record["seed"],
            )
        except (KeyError, TypeError) as error:
            raise InvalidInputError(
                f"the store was written by another version of tsadeval (no {error}); run the suite again into it"
            ) from None


def _task_of_record(record: dict[str, Any]) -> HardTask:
    if record["library"]:
        return HARD_TASKS[record["name"]]
    task = user_task(record["name"])
    if task.version != record["version"]:
        raise InvalidInputError(f"task {record['name']} has changed since the run: run it again into the store")
    return task


def user_task(text: str) -> HardTask:
    """The task that "module:function" names."""
    return HardTask.from_function(import_object(text, "task"), text)


def choose_tasks(tasks: Sequence[Any] | Any | None) -> tuple[HardTask, ...]:
    """The tasks that a caller named: of the suite, parts of it, functions, or "module:function". All by default."""
    if tasks is None:
        return tuple(HARD_TASKS.values())
    found: dict[str, HardTask] = {}
    for one in [tasks] if isinstance(tasks, (str, HardTask)) or callable(tasks) else tasks:
        for task in _tasks_of(one):
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
    if task == "all" or task in {t.part for t in HARD_TASKS.values()}:
        return [t for t in HARD_TASKS.values() if task in ("all", t.part)]
    return [user_task(task) if ":" in task else HARD_TASKS[task]]


def drawn(task: HardTask, repeat: int, seed: int) -> Sequence[Case]:
    """The cases of one repeat of a task."""
    return task.draw(task_stream(task.name, repeat, seed))


def compute(chunk: Chunk) -> Iterator[Row | Working]:
    """A row for every cell; each case is drawn once."""
    wanted: dict[str, list[HardCell]] = {}
    for cell in chunk.cells:
        wanted.setdefault(cell.case, []).append(cell)
    try:
        cases = {case.name: case for case in drawn(chunk.task, chunk.repeat, chunk.seed)}
    except Exception as error:  # a user's task may raise whatever it raises
        yield from ({**cell._asdict(), **error_row(error), "versions": versions()} for cell in chunk.cells)
        return
    for name, cells in wanted.items():
        scoring = Scoring.of(cases[name].labels, cases[name].scores)
        facts = {
            "n": scoring.n,
            "events": len(scoring.events),
            "anomalous": scoring.events.points,
            "versions": versions(),
        }
        for cell in cells:
            yield Working((cell,))
            yield {**cell._asdict(), **facts, **outcome_row(chunk.metrics[cell.metric], scoring, cell.rule)}
