"""Plan: a suite and candidates become cells, and cells become chunks that share their series."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsadeval.engine.candidates import Candidate
from tsadeval.errors import InvalidInputError
from tsadeval.rankeval.cell import Cell, Chunk
from tsadeval.rankeval.generators import GENERATORS
from tsadeval.rankeval.labels import CASES
from tsadeval.rankeval.suites import SUITES, Suite
from tsadeval.rankeval.tasks import Task

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """All that decides which values a run computes."""

    suite: Suite
    candidates: tuple[Candidate, ...]
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
            Cell(case, generator.name, q, p, sigma, repeat, suite.stream, self.seed, c.name, version, threshold)
            for case in self.cases
            for generator in generators
            for sigma in suite.sigmas
            for c, threshold in self._thresholds(case, generator.name, sigma)
            for version in [f"{c.version}g{generator.revision}"]
            for repeat in range(self.repeats)
            for q in generator.q
            for p in generator.p
        ]

    def _thresholds(self, case: str, generator: str, sigma: float) -> list[tuple[Candidate, str | None]]:
        synthetic = CASES[case].synthetic
        return [
            (c, self.suite.threshold_for(c.bare, generator, sigma, synthetic) if c.kind == "predictions" else None)
            for c in self.candidates
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
        functions = {c.name: c.function for c in self.candidates}
        ordered = sorted(groups.items(), key=lambda item: -events[item[0][0]].n)
        return [
            Chunk(events[key[0]], tuple(group), {c.metric: functions[c.metric] for c in group})
            for key, group in ordered
        ]

    def record(self) -> dict[str, Any]:
        """The plan as plain data for the store."""
        return {
            "suite": self.suite.name,
            "cases": list(self.cases),
            "repeats": self.repeats,
            "seed": self.seed,
            "tasks": list(self.tasks),
            "metrics": [
                {"name": c.name, "kind": c.kind, "direction": c.direction, "version": c.version}
                for c in self.candidates
            ],
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Plan:
        """The plan that was recorded; its guests are there by name only."""
        try:
            return cls(
                suite=SUITES[record["suite"]],
                candidates=tuple(Candidate(**metric) for metric in record["metrics"]),
                cases=tuple(record["cases"]),
                repeats=record["repeats"],
                seed=record["seed"],
                tasks=tuple(record["tasks"]),
            )
        except (KeyError, TypeError) as error:
            raise InvalidInputError(
                f"the store was written by another version of tsadeval (no {error}); run the suite again into it"
            ) from None
