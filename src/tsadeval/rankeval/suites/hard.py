"""The suite `hard`: tasks on which metrics are known to be fooled, a chunk for each repeat of a task."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple, Self

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.names import Registry, import_object
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics
from tsadeval.engine.cells import Chunk, Layout, Making, group_cells
from tsadeval.errors import InvalidParameterError
from tsadeval.rankeval.suite import Suite
from tsadeval.rankeval.suites import hard_controls, hard_orders
from tsadeval.rankeval.suites.hard_table import HardAnalysis
from tsadeval.rankeval.suites.hard_task import HardTask
from tsadeval.thresholds.rules import parse_rule

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
class HardSuite(Suite):
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
