"""Plan: data sets, detectors and metrics become cells, cells become chunks that share scores, chunks become rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.results import Row
from tsadeval.engine.cells import OUTCOME, Layout, Working, versions
from tsadeval.engine.metrics import error_row, metric_of_record, outcome_row, record_of_metric
from tsadeval.engine.scores import CachedScores, read_scores
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.experiments.scores import keep_scores
from tsadeval.experiments.sources import Source
from tsadeval.experiments.specs import DetectorSpec

if TYPE_CHECKING:
    from tsadeval.datasets import Dataset

__all__ = ["LAYOUT", "Cell", "Chunk", "Plan", "compute"]


class Cell(NamedTuple):
    """One value. `checksum` is of the data, so that changed files under an old name are other cells.

    `version` tells apart two states of a metric; `rule` is None for metrics that take scores; `seed` is None for
    detectors that take none.
    """

    series: str
    checksum: str
    detector: str
    seed: int | None
    metric: str
    version: str
    rule: str | None


LAYOUT = Layout(
    Cell,
    {
        "series": "string",
        "checksum": "string",
        "detector": "string",
        "seed": "int64",
        "metric": "string",
        "version": "string",
        "rule": "string",
        "fit_seconds": "float64",
        "score_seconds": "float64",
        "device": "string",
        **OUTCOME,
    },
    "tsadeval detect",
)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Cells of one detector on one data set, with all that is needed to compute them.

    `folder` is the store that keeps the scores.
    """

    source: Source
    checksum: str
    detector: DetectorSpec
    device: str
    folder: Path
    cells: tuple[Cell, ...]
    metrics: dict[str, Metric]


@dataclass(frozen=True)
class Plan:
    """All that decides which values a run computes. `datasets` maps names to the checksums of their data."""

    datasets: dict[str, str]
    detectors: tuple[DetectorSpec, ...]
    metrics: tuple[Metric, ...]
    rule: str
    sources: dict[str, Source] = field(default_factory=dict, compare=False)

    def cells(self) -> list[Cell]:
        """Every value there is to compute."""
        return [
            Cell(name, checksum, d.text, d.seed, str(m), m.version, self.rule if m.kind == "predictions" else None)
            for name, checksum in self.datasets.items()
            for d in self.detectors
            for m in self.metrics
        ]

    def chunks(self, cells: Iterable[Cell], folder: Path, device: str, hold: int = 0) -> list[Chunk]:
        """The cells in groups that share their scores, in the order of the plan.

        Data that were not read for the plan are read now, and kept up to `hold` bytes in all.
        """
        groups: dict[tuple[str, str, int | None], list[Cell]] = {}
        for cell in cells:
            groups.setdefault((cell.series, cell.detector, cell.seed), []).append(cell)
        detectors = {(d.text, d.seed): d for d in self.detectors}
        metrics = {str(m): m for m in self.metrics}
        sources = self._loaded({name for name, _, _ in groups}, hold)
        return [
            Chunk(
                source=sources[name],
                checksum=self.datasets[name],
                detector=detectors[text, seed],
                device=device,
                folder=folder,
                cells=tuple(group),
                metrics={cell.metric: metrics[cell.metric] for cell in group},
            )
            for (name, text, seed), group in groups.items()
        ]

    def _loaded(self, names: set[str], hold: int) -> dict[str, Source]:
        """These sources with their labels; whoever needs one that has changed since, or is not there, will say so."""
        found = {}
        for name in (name for name in self.sources if name in names):
            source = self.sources[name]
            if source.labels is None:
                with suppress(TsadevalError):
                    dataset = source.load()
                    if dataset.description.checksum == self.datasets[name]:
                        source = source.with_data(dataset, hold)
            hold -= source.held.nbytes if source.held is not None else 0
            found[name] = source
        return found

    def record(self) -> dict[str, Any]:
        """The plan as plain data for the store."""
        return {
            "datasets": self.datasets,
            "detectors": [{"text": d.text, "title": d.title, "seed": d.seed} for d in self.detectors],
            "metrics": [record_of_metric(metric) for metric in self.metrics],
            "rule": self.rule,
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Plan:
        """The plan that was recorded; what ran is there by name only."""
        try:
            return cls(
                datasets=dict(record["datasets"]),
                detectors=tuple(DetectorSpec(**detector) for detector in record["detectors"]),
                metrics=tuple(metric_of_record(metric) for metric in record["metrics"]),
                rule=record["rule"],
            )
        except (KeyError, TypeError) as error:
            raise InvalidInputError(
                f"the store was written by another version of tsadeval (no {error}); run the detectors again into it"
            ) from None

    def joined(self, other: Plan) -> Plan:
        """Both plans in one; where they differ (data under an old name, an edited metric) the other one counts."""
        metrics = {str(m): m for m in (*self.metrics, *other.metrics)}
        detectors = {(d.text, d.seed): d for d in (*self.detectors, *other.detectors)}
        datasets = {**self.datasets, **other.datasets}
        return Plan(datasets, tuple(detectors.values()), tuple(metrics.values()), other.rule)


def compute(chunk: Chunk) -> Iterator[Row | Working]:
    """A row for every cell. Errors of the detector or the data become rows as well."""
    yield Working(chunk.cells)
    try:
        cached = _scores(chunk)
        scoring = Scoring.of(cached.labels, cached.scores)
    except Exception as error:
        lost = {**error_row(error), "versions": versions()}
        yield from ({**cell._asdict(), **lost} for cell in chunk.cells)
        return
    facts = {
        "n": scoring.n,
        "events": len(scoring.events),
        "anomalous": scoring.events.points,
        "versions": versions(),
        **{key: cached.provenance[key] for key in ("fit_seconds", "score_seconds", "device")},
    }
    for cell in chunk.cells:
        yield Working((cell,))
        yield {**cell._asdict(), **facts, **outcome_row(chunk.metrics[cell.metric], scoring, cell.rule)}


def _scores(chunk: Chunk) -> CachedScores:
    """The cached scores, or new ones; the data are loaded only where they are needed."""
    source, detector = chunk.source, chunk.detector
    dataset = _dataset(chunk) if source.labels is None else None
    labels = source.labels if dataset is None else dataset.test_labels
    cached = read_scores(chunk.folder, source.name, chunk.checksum, detector.text, detector.seed, labels)
    if cached is not None:
        return cached
    return keep_scores(dataset or _dataset(chunk), detector, chunk.folder, name=source.name, device=chunk.device)


def _dataset(chunk: Chunk) -> Dataset:
    dataset = chunk.source.load()
    if dataset.description.checksum != chunk.checksum:
        raise InvalidInputError(
            f"{chunk.source.name} has changed since the run began, so its values were not kept: run the command again"
        )
    return dataset
