"""Plan: data sets, detectors and metrics become cells, and cells become chunks that share their scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tsadeval.engine.candidates import Candidate
from tsadeval.errors import InvalidInputError
from tsadeval.experiments.cell import Cell, Chunk
from tsadeval.experiments.sources import Source
from tsadeval.experiments.specs import Entrant

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """All that decides which values a run computes. `datasets` maps names to the checksums of their data."""

    datasets: dict[str, str]
    entrants: tuple[Entrant, ...]
    candidates: tuple[Candidate, ...]
    threshold: str
    sources: dict[str, Source] = field(default_factory=dict, compare=False)

    def cells(self) -> list[Cell]:
        """Every value there is to compute."""
        return [
            Cell(name, checksum, e.text, e.seed, c.name, c.version, self.threshold if c.kind == "predictions" else None)
            for name, checksum in self.datasets.items()
            for e in self.entrants
            for c in self.candidates
        ]

    def chunks(self, cells: Iterable[Cell], folder: Path, device: str) -> list[Chunk]:
        """The cells in groups that share their scores, in the order of the plan."""
        groups: dict[tuple[str, str, int | None], list[Cell]] = {}
        for cell in cells:
            groups.setdefault((cell.dataset, cell.detector, cell.seed), []).append(cell)
        entrants = {(e.text, e.seed): e for e in self.entrants}
        functions = {c.name: c.function for c in self.candidates}
        return [
            Chunk(
                source=self.sources[name],
                checksum=self.datasets[name],
                entrant=entrants[text, seed],
                device=device,
                folder=folder,
                cells=tuple(group),
                metrics={cell.metric: functions[cell.metric] for cell in group},
            )
            for (name, text, seed), group in groups.items()
        ]

    def record(self) -> dict[str, Any]:
        """The plan as plain data for the store."""
        return {
            "datasets": self.datasets,
            "detectors": [{"text": e.text, "title": e.title, "seed": e.seed} for e in self.entrants],
            "metrics": [
                {"name": c.name, "kind": c.kind, "direction": c.direction, "version": c.version}
                for c in self.candidates
            ],
            "threshold": self.threshold,
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Plan:
        """The plan that was recorded; what ran is there by name only."""
        try:
            return cls(
                datasets=dict(record["datasets"]),
                entrants=tuple(Entrant(**entrant) for entrant in record["detectors"]),
                candidates=tuple(Candidate(**metric) for metric in record["metrics"]),
                threshold=record["threshold"],
            )
        except (KeyError, TypeError) as error:
            raise InvalidInputError(
                f"the store was written by another version of tsadeval (no {error}); run the detectors again into it"
            ) from None

    def joined(self, other: Plan) -> Plan:
        """Both plans in one; where they differ (data under an old name, an edited metric) the other one counts."""
        metrics = {c.name: c for c in (*self.candidates, *other.candidates)}
        entrants = {(e.text, e.seed): e for e in (*self.entrants, *other.entrants)}
        datasets = {**self.datasets, **other.datasets}
        return Plan(datasets, tuple(entrants.values()), tuple(metrics.values()), other.threshold)
