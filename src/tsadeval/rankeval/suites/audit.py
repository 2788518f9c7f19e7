"""The suite `audit`: real scores against adversaries, with the cells of a series as a chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics
from tsadeval.engine.cells import Chunk, Layout, Making, group_cells
from tsadeval.engine.compute import rule_key, rule_of_key
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.rankeval.suite import Suite, SuiteResult
from tsadeval.rankeval.suites.adversaries import Adversary, Target, choose_adversaries
from tsadeval.rankeval.suites.audit_series import AuditSeries, read_series
from tsadeval.rankeval.suites.audit_table import DETECTOR, AuditAnalysis
from tsadeval.thresholds.rules import parse_rule


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


LAYOUT = Layout.of(AuditCell, "tsadeval rankeval run --suite audit")


class SeriesRecord(NamedTuple):
    """What names a series in a store, and the detectors that have scores on it."""

    name: str
    mark: str
    detectors: tuple[str, ...]
    has_values: bool

    @classmethod
    def of(cls, series: AuditSeries) -> SeriesRecord:
        """The detectors that have scores for points of both classes."""
        detectors = []
        for name, scores in series.detectors.items():
            labels = series.labels[scores == scores]
            if labels.any() and not labels.all():
                detectors.append(name)
        return cls(series.name, series.mark, tuple(detectors), series.values is not None)


Scored = tuple[str, str, str]  # name, kind and version of an adversary or a detector


@dataclass(frozen=True)
class AuditSuite(Suite):
    """Real scores, and scorers without skill: how far these reach real detectors, and how metrics agree.

    `series`, `scorers` and `rule` are what a run makes of the data, the adversaries and the threshold.
    """

    layout: ClassVar[Layout[Any]] = LAYOUT
    columns: ClassVar[tuple[str, ...]] = ("y_true", "y_score", "by", "value")
    options: ClassVar[tuple[str, ...]] = ("data", *columns, "threshold", "adversaries", "seed")
    nullable: ClassVar[frozenset[str]] = frozenset({"by", "value"})

    data: Any = field(default=None, compare=False, repr=False)
    y_true: str = field(default="label", compare=False)
    y_score: Any = field(default="*", compare=False)
    by: str | None = field(default="series", compare=False)
    value: str | None = field(default="value", compare=False)
    threshold: Any = field(default="quantile(0.95)", compare=False)
    adversaries: Any = field(default=(), compare=False)
    series: tuple[SeriesRecord, ...] = ()
    scorers: tuple[Scored, ...] = ()
    rule: str = ""

    def bind(self, metrics: Metrics | None, scores: Any = None) -> Self:
        """Return the plan of a run on these scores."""
        tried = choose_adversaries(self.adversaries)
        threshold = parse_rule(self.threshold)
        data = self.data if scores is None else scores
        if data is None:
            raise InvalidParameterError("suite 'audit' needs data (--data): a table, or a folder of tables, of scores")
        usable = self._read(data)
        names = {a.name for a in tried}
        for taken in (name for s in usable for name in s.detectors if name in names):
            raise InvalidInputError(f"detector {taken!r} is called as an adversary of the audit is: rename it")
        return replace(
            super().bind(metrics),
            data=usable,
            threshold=threshold,
            adversaries=tried,
            series=tuple(SeriesRecord.of(series) for series in usable),
            scorers=tuple((a.name, a.kind, a.version) for a in tried),
            rule=rule_key(threshold),
        )

    def _read(self, data: Any) -> list[AuditSeries]:
        """Read the series that have points of both classes and a detector's scores."""
        if isinstance(data, (list, tuple)) and all(isinstance(series, AuditSeries) for series in data):
            given = list(data)
        else:
            given = list(read_series(data, **{name: getattr(self, name) for name in self.columns}))
        usable = [s for s in given if s.labels.any() and not s.labels.all() and s.detectors]
        if not usable:
            raise InvalidInputError(
                f"data has {len(given)} series, but none with both normal and anomalous points and a detector's scores"
            )
        return usable

    @property
    def detectors(self) -> list[str]:
        """All detectors, in the order in which the series bring them."""
        return list(dict.fromkeys(name for series in self.series for name in series.detectors))

    def cells(self) -> list[AuditCell]:
        """Return every value there is to compute."""
        return [
            AuditCell(s.name, s.mark, name, kind, mark, self.seed or 0, str(m), m.version, self.rule_of(m))
            for s in self.series
            for name, kind, mark in self._scorers_of(s)
            for m in self.metrics
        ]

    def _scorers_of(self, series: SeriesRecord) -> list[Scored]:
        """Return all whose scores are judged on a series."""
        tried = [one for one in self.scorers if series.has_values or one[1] != "one-liner"]
        return [*((name, DETECTOR, "") for name in series.detectors), *tried]

    def rule_of(self, metric: Metric) -> str | None:
        """The key of the rule for a metric; None for one that takes scores."""
        return self.rule if metric.kind == "predictions" else None

    def chunks(self, cells: Iterable[AuditCell]) -> list[Chunk]:
        """Return the cells, a chunk for each series; the longest first."""
        series = {s.name: s for s in self.data}
        adversaries = {a.name: a for a in self.adversaries}
        groups = group_cells(cells, lambda cell: cell.series)
        ordered = sorted(groups.items(), key=lambda item: -len(series[item[0]].labels))
        rules: dict[str, Rule] = {self.rule: self.threshold}
        return [self.chunk(scorings, group, rules, (series[name], adversaries)) for name, group in ordered]

    def without_data(self) -> Self:
        """Return the plan as a result keeps it, without the scores."""
        return replace(self, data=None)

    def analysis(self, result: SuiteResult) -> AuditAnalysis:
        """Return gameability, agreement, ranks and explanations."""
        return AuditAnalysis(self, result.to_frame())

    def recorded(self) -> dict[str, Any]:
        """Return what a store keeps of the options."""
        series, adversaries = [list(s) for s in self.series], [list(a) for a in self.scorers]
        return {"series": series, "adversaries": adversaries, "rule": self.rule, "seed": self.seed}

    def of_record(self, record: dict[str, Any]) -> Self:
        """Return the plan that was recorded."""
        series = tuple(SeriesRecord(s[0], s[1], tuple(s[2]), s[3]) for s in record["series"])
        scorers = tuple((a[0], a[1], a[2]) for a in record["adversaries"])
        kept = {"series": series, "scorers": scorers, "rule": record["rule"], "seed": record["seed"]}
        return replace(super().of_record(record), **kept, threshold=rule_of_key(record["rule"]))


def stream(series: str, adversary: str, seed: int) -> np.random.Generator:
    """The random stream of an adversary on a series: the same whatever else is run."""
    digest = hashlib.sha256(repr(("audit", series, adversary)).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence((seed, *np.frombuffer(digest, "<u4").tolist())))


def scorings(chunk: Chunk) -> Iterator[Making]:
    """Give the scores of detectors and adversaries on a series, which are the payload of the chunk."""
    for cells in group_cells(chunk.cells, lambda cell: cell.detector).values():
        yield tuple(cells), partial(_scoring, cells[0], *chunk.payload)


def _scoring(cell: AuditCell, series: AuditSeries, adversaries: dict[str, Adversary]) -> tuple[Scoring, Row]:
    """Points without a score of a detector are left out for that detector."""
    events, name = series.events, cell.detector
    if cell.kind == DETECTOR:
        known = np.isfinite(series.detectors[name])
        scoring = Scoring.of(series.labels[known], series.detectors[name][known])
    else:
        scores = adversaries[name].checked(Target(series.values, events), stream(series.name, name, cell.seed))
        scoring = Scoring.of(series.labels, scores)
    return scoring, {"events": len(events), "anomalous": events.points}


AUDIT = AuditSuite("audit", "real scores (--data) against adversaries: gameability and agreement")
