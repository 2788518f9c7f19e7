"""Plan: a suite and metrics become cells, cells become chunks that share their series, and chunks become rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tsadeval.core.events import Events
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.results import Row
from tsadeval.engine.cells import OUTCOME, Layout, Working, versions
from tsadeval.engine.metrics import metric_of_record, outcome_row, record_of_metric
from tsadeval.errors import InvalidInputError
from tsadeval.rankeval.generators import GENERATORS, Stream, draw, source
from tsadeval.rankeval.labels import CASES
from tsadeval.rankeval.suites import SUITES, Suite
from tsadeval.rankeval.tasks import Task

__all__ = ["LAYOUT", "Cell", "Chunk", "Plan", "compute"]


class Cell(NamedTuple):
    """One value of one metric on one series.

    `version` tells apart two states of a metric; `rule` is None for metrics that take scores; `seed` is None where the
    stream has seeds of its own.
    """

    case: str
    generator: str
    q: float
    p: float | None
    sigma: float
    repeat: int
    stream: Stream
    seed: int | None
    metric: str
    version: str
    rule: str | None


LAYOUT = Layout(
    Cell,
    {
        "case": "string",
        "generator": "string",
        "q": "float64",
        "p": "float64",
        "sigma": "float64",
        "repeat": "int32",
        "stream": "string",
        "seed": "int64",
        "metric": "string",
        "version": "string",
        "rule": "string",
        **OUTCOME,
    },
    "tsadeval rankeval run",
)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Cells of one case that are computed together, with all that a worker needs for them."""

    events: Events
    cells: tuple[Cell, ...]
    metrics: dict[str, Metric]


@dataclass(frozen=True)
class Plan:
    """All that decides which values a run computes."""

    suite: Suite
    metrics: tuple[Metric, ...]
    cases: tuple[str, ...]
    repeats: int
    seed: int | None
    tasks: tuple[str, ...]

    @property
    def chosen_tasks(self) -> tuple[Task, ...]:
        """The tasks of the suite that are wanted."""
        return tuple(task for task in self.suite.tasks if task.name in self.tasks)

    def cells(self) -> list[Cell]:
        """Every value there is to compute."""
        suite = self.suite
        generators = [GENERATORS[name] for name in dict.fromkeys(task.generator for task in self.chosen_tasks)]
        return [
            Cell(case, generator.name, q, p, sigma, repeat, suite.stream, self.seed, str(m), version, rule)
            for case in self.cases
            for generator in generators
            for sigma in suite.sigmas
            for m, rule in self._rules(case, generator.name, sigma)
            for version in [f"{m.version}g{generator.revision}"]
            for repeat in range(self.repeats)
            for q in generator.q
            for p in generator.p
        ]

    def _rules(self, case: str, generator: str, sigma: float) -> list[tuple[Metric, str | None]]:
        synthetic = CASES[case].synthetic
        return [
            (m, self.suite.rule_for(m.name, generator, sigma, synthetic) if m.kind == "predictions" else None)
            for m in self.metrics
        ]

    def chunks(self, cells: Iterable[Cell], data: Path | None) -> list[Chunk]:
        """The cells in groups that share labels and, as far as the streams allow, series; long series first.

        The published noise is the same in every repeat, so there the repeats belong together.
        """
        together = self.suite.stream == "published"
        groups: dict[tuple[Any, ...], list[Cell]] = {}
        for cell in cells:
            repeat = None if together and cell.sigma else cell.repeat
            groups.setdefault((cell.case, cell.generator, cell.sigma, repeat), []).append(cell)
        events = {case: CASES[case].events(data) for case in dict.fromkeys(key[0] for key in groups)}
        metrics = {str(m): m for m in self.metrics}
        ordered = sorted(groups.items(), key=lambda item: -events[item[0][0]].n)
        return [
            Chunk(events[key[0]], tuple(group), {c.metric: metrics[c.metric] for c in group}) for key, group in ordered
        ]

    def record(self) -> dict[str, Any]:
        """The plan as plain data for the store."""
        return {
            "suite": self.suite.name,
            "cases": list(self.cases),
            "repeats": self.repeats,
            "seed": self.seed,
            "tasks": list(self.tasks),
            "metrics": [record_of_metric(metric) for metric in self.metrics],
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Plan:
        """The plan that was recorded; users' metrics are there by name only."""
        try:
            return cls(
                suite=SUITES[record["suite"]],
                metrics=tuple(metric_of_record(metric) for metric in record["metrics"]),
                cases=tuple(record["cases"]),
                repeats=record["repeats"],
                seed=record["seed"],
                tasks=tuple(record["tasks"]),
            )
        except (KeyError, TypeError) as error:
            raise InvalidInputError(
                f"the store was written by another version of tsadeval (no {error}); run the suite again into it"
            ) from None


def compute(chunk: Chunk) -> Iterator[Row | Working]:
    """A row for every cell. Each series is drawn once, and a metric sees it once however many cells want that value."""
    mask = chunk.events.mask()
    facts = {
        "n": chunk.events.n,
        "events": len(chunk.events),
        "anomalous": chunk.events.points,
        "versions": versions(),
    }
    series: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in chunk.cells:
        series.setdefault((cell.generator, cell.q, cell.p, cell.sigma, cell.stream, _numbers(cell)), []).append(cell)
    for (generator, q, p, sigma, stream, numbers), cells in series.items():
        scoring = Scoring.of(mask, draw(GENERATORS[generator], mask, stream, numbers, q, p, sigma))
        outcomes: dict[tuple[str, str | None], Row] = {}
        for cell in cells:
            what = (cell.metric, cell.rule)
            if what not in outcomes:
                yield Working(tuple(c for c in cells if (c.metric, c.rule) == what))
                outcomes[what] = outcome_row(chunk.metrics[cell.metric], scoring, cell.rule)
            yield {**cell._asdict(), **facts, **outcomes[what]}


def _numbers(cell: Cell) -> tuple[int, ...]:
    name = (cell.case, cell.generator, cell.q, cell.p)
    return source(cell.stream, cell.seed or 0, cell.repeat, cell.sigma, name)
