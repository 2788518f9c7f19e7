"""Plan of an audit: cells of series, scorers and metrics, with the cells of a series as a chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.results import Row
from tsadeval.engine.cells import OUTCOME, Layout, Working, versions
from tsadeval.engine.compute import error_row, metric_of_record, outcome_row, record_of_metric
from tsadeval.errors import InvalidInputError
from tsadeval.rankeval.suites.adversaries import Adversary, Target
from tsadeval.rankeval.suites.audit_series import AuditSeries


class AuditCell(NamedTuple):
    """One value of one metric on the scores of one detector or adversary on one series."""

    series: str
    mark: str
    detector: str
    kind: str
    scorer_version: str
    seed: int
    metric: str
    version: str
    rule: str | None


LAYOUT = Layout(
    AuditCell,
    {
        "series": "string",
        "mark": "string",
        "detector": "string",
        "kind": "string",
        "scorer_version": "string",
        "seed": "int64",
        "metric": "string",
        "version": "string",
        "rule": "string",
        **OUTCOME,
    },
    "tsadeval rankeval run --suite audit",
)

DETECTOR = "detector"


class SeriesRecord(NamedTuple):
    """What names a series in a store, and the detectors that have scores on it."""

    name: str
    mark: str
    detectors: tuple[str, ...]
    has_values: bool


@dataclass(frozen=True, eq=False)
class Chunk:
    """The cells of one series, with all that a worker needs for them."""

    series: AuditSeries
    cells: tuple[AuditCell, ...]
    metrics: dict[str, Metric]
    adversaries: dict[str, Adversary]


@dataclass(frozen=True)
class AuditPlan:
    """All that decides which values an audit computes; `adversaries` are (name, kind, version)."""

    metrics: tuple[Metric, ...]
    series: tuple[SeriesRecord, ...]
    adversaries: tuple[tuple[str, str, str], ...]
    rule: str
    seed: int = 0

    @property
    def detectors(self) -> list[str]:
        """All detectors, in the order in which the series bring them."""
        return list(dict.fromkeys(name for series in self.series for name in series.detectors))

    def scorers(self, series: SeriesRecord) -> list[tuple[str, str, str]]:
        """(name, kind, version) of all whose scores are judged on a series."""
        tried = [a for a in self.adversaries if series.has_values or a[1] != "one-liner"]
        return [*((name, DETECTOR, "") for name in series.detectors), *tried]

    def cells(self) -> list[AuditCell]:
        """Every value there is to compute."""
        return [
            AuditCell(s.name, s.mark, name, kind, mark, self.seed, str(m), m.version, self.rule_of(m))
            for s in self.series
            for name, kind, mark in self.scorers(s)
            for m in self.metrics
        ]

    def rule_of(self, metric: Metric) -> str | None:
        """The rule for a metric; None for one that takes scores."""
        return self.rule if metric.kind == "predictions" else None

    def chunks(
        self, cells: Iterable[AuditCell], series: dict[str, AuditSeries], adversaries: dict[str, Adversary]
    ) -> list[Chunk]:
        """The cells, a chunk for each series; the longest first."""
        groups: dict[str, list[AuditCell]] = {}
        for cell in cells:
            groups.setdefault(cell.series, []).append(cell)
        metrics = {str(m): m for m in self.metrics}
        ordered = sorted(groups.items(), key=lambda item: -len(series[item[0]].labels))
        return [Chunk(series[name], tuple(group), metrics, adversaries) for name, group in ordered]

    def record(self) -> dict[str, Any]:
        """The plan as plain data for the store."""
        return {
            "suite": "audit",
            "series": [list(s) for s in self.series],
            "adversaries": [list(a) for a in self.adversaries],
            "rule": self.rule,
            "seed": self.seed,
            "metrics": [record_of_metric(metric) for metric in self.metrics],
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> AuditPlan:
        """The plan that was recorded; users' metrics are there by name only."""
        try:
            return cls(
                metrics=tuple(metric_of_record(metric) for metric in record["metrics"]),
                series=tuple(SeriesRecord(s[0], s[1], tuple(s[2]), s[3]) for s in record["series"]),
                adversaries=tuple((a[0], a[1], a[2]) for a in record["adversaries"]),
                rule=record["rule"],
                seed=record["seed"],
            )
        except (KeyError, TypeError, IndexError) as error:
            raise InvalidInputError(
                f"the store was written by another version of tsadeval ({error}); run the audit again into it"
            ) from None


def stream(series: str, adversary: str, seed: int) -> np.random.Generator:
    """The random stream of an adversary on a series: the same whatever else is run."""
    digest = hashlib.sha256(repr(("audit", series, adversary)).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence((seed, *np.frombuffer(digest, "<u4").tolist())))


def compute(chunk: Chunk) -> Iterator[Row | Working]:
    """A row for every cell. Points without a score of a detector are left out for that detector."""
    series = chunk.series
    events = series.events
    target = Target(series.values, events)
    wanted: dict[str, list[AuditCell]] = {}
    for cell in chunk.cells:
        wanted.setdefault(cell.detector, []).append(cell)
    for name, cells in wanted.items():
        facts: Row = {"n": events.n, "events": len(events), "anomalous": events.points, "versions": versions()}
        try:
            if cells[0].kind == DETECTOR:
                known = np.isfinite(series.detectors[name])
                scoring = Scoring.of(series.labels[known], series.detectors[name][known])
            else:
                random = stream(series.name, name, cells[0].seed)
                scoring = Scoring.of(series.labels, chunk.adversaries[name].checked(target, random))
        except Exception as error:  # a user's adversary may raise whatever it raises
            yield from ({**cell._asdict(), **facts, **error_row(error)} for cell in cells)
            continue
        for cell in cells:
            yield Working((cell,))
            outcome = outcome_row(chunk.metrics[cell.metric], scoring, cell.rule)
            yield {**cell._asdict(), **facts, "n": scoring.n, **outcome}
