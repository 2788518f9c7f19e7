"""The suite `selection`: does a metric pick the right detector, on real scores of labelled series."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from tsadeval.comparison.inference import group_of
from tsadeval.core.facts import grouped
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics
from tsadeval.engine.cells import Chunk, Layout, Making, group_cells
from tsadeval.engine.compute import choose_metrics, rule_key
from tsadeval.engine.fingerprints import fingerprint
from tsadeval.errors import InputWarning, InvalidInputError, warn
from tsadeval.metrics.criteria import Criterion, find_criteria
from tsadeval.rankeval.suites.audit import AuditCell, AuditSuite, SeriesRecord, scoring_of
from tsadeval.rankeval.suites.audit_table import DETECTOR
from tsadeval.rankeval.suites.selection_table import CRITERION, SelectionAnalysis
from tsadeval.scores.scores import SeriesScores
from tsadeval.thresholds.rules import parse_rule

COLUMNS = ("y_true", "by", "value")  # of tables of scores, so that they can be read again
FEWEST = 10  # series of a data set: five to choose on, and five to judge by


class DataSet(NamedTuple):
    """A data set: its series, in the order of their names, and the detectors, all of which have scores on them."""

    name: str
    series: tuple[str, ...]
    detectors: tuple[str, ...]


@dataclass(frozen=True)
class SelectionSuite(AuditSuite):
    """Real scores of labelled series: how good is a detector that a metric chose on others, by what counts in the end.

    `groups` says to which data set a series belongs: a function of its name or a mapping; by default its file, where
    there are several. `sets`, `ranges` and `known` are what a run makes of the data.
    """

    layout: ClassVar[Layout[Any]] = Layout.of(AuditCell, "tsadeval rankeval run --suite selection", curve="string")
    analysis = SelectionAnalysis
    options = ("data", "y_true", "y_score", "by", "value", "threshold", "criteria", "groups", "seed")

    threshold: Any = field(default="best", compare=False)
    criteria: Any = field(default=None, compare=False)
    groups: Any = field(default=None, compare=False)
    sets: tuple[DataSet, ...] = ()
    ranges: tuple[tuple[str, str], ...] = ()
    known: tuple[tuple[str, str], ...] = ()  # the criteria, with their versions

    def bind(self, metrics: Metrics | None, scores: Any = None) -> Self:
        """Return the plan of a run on these scores."""
        criteria, threshold = find_criteria(self.criteria), parse_rule(self.threshold)
        parts = self.read(self.data if scores is None else scores)
        usable = self.usable(parts)
        files = [Path(getattr(part.given, "source", "all")).stem for part in parts] if len(parts) > 1 else ["all"]
        owner = {series: name for part, name in zip(parts, files, strict=True) for series in part.series}
        sets = self._sets([record for _, record in usable], owner)
        chosen = {name for one in sets for name in one.series}
        limits: dict[str, tuple[float, float]] = {}
        for series in (series for series, _ in usable if series.name in chosen):
            for name, one in series.detectors.items():
                low, high = limits.get(name, (0.0, 1.0))
                limits[name] = min(low, float(one.scoring.low)), max(high, float(one.scoring.high))
        return replace(
            self,
            metrics=choose_metrics(self.metrics if metrics is None else metrics, self.paper),
            data={series.name: series for series, _ in usable if series.name in chosen},
            threshold=threshold,
            criteria={c.name: c for c in criteria},
            series=tuple(record for _, record in usable if record.name in chosen),
            rule=rule_key(threshold),
            sets=sets,
            ranges=tuple(sorted((name, f"{low!r} {high!r}") for name, (low, high) in limits.items())),
            known=tuple(
                (c.name, c.version if c.own is None else f"{c.version} {fingerprint(c.own)}") for c in criteria
            ),
        )

    def _sets(self, records: Sequence[SeriesRecord], owner: dict[str, str]) -> tuple[DataSet, ...]:
        """Return the data sets that have enough series on which all of their detectors have scores."""
        by = owner if self.groups is None else self.groups
        sets, small = [], []
        for name, some in grouped((group_of(by, record.name), record) for record in records).items():
            detectors = tuple(dict.fromkeys(detector for record in some for detector in record.detectors))
            whole = sorted(record.name for record in some if set(record.detectors) == set(detectors))
            if len(whole) >= FEWEST and len(detectors) > 1:
                sets.append(DataSet(name, tuple(whole), detectors))
            else:
                small.append(f"{name} has {len(whole)} of {len(some)} series with scores of all {len(detectors)}")
        if not sets:
            raise InvalidInputError(
                f"selection needs a data set of {FEWEST} series on which two or more detectors all have scores: "
                f"{'; '.join(small)} detectors; leave out (y_score=) detectors that lack series, or label more series"
            )
        if small:
            warn(f"left out, fewer than {FEWEST} series: {'; '.join(small)} detectors", InputWarning)
        return tuple(sets)

    def cells(self) -> list[AuditCell]:
        """Return every value there is to compute: of metrics, and of criteria."""
        ranges, found = dict(self.ranges), super().cells()
        of_criteria = [
            AuditCell(s.name, s.mark, name, CRITERION, scored, 0, criterion, version, ranges[name])
            for s in self.series
            for name, _, scored in self._scorers_of(s)
            for criterion, version in self.known
        ]
        return found + of_criteria

    def chunks(self, cells: Iterable[AuditCell]) -> list[Chunk]:
        """Return the cells, a chunk for each series."""
        groups, rules = group_cells(cells, lambda cell: cell.series), {self.rule: self.threshold}
        return [self.chunk(scorings, some, rules, (self.data[name], self.criteria)) for name, some in groups.items()]

    def recorded(self) -> dict[str, Any]:
        """Return what a store keeps of the options."""
        lists = {name: json.loads(json.dumps(getattr(self, name))) for name in ("sets", "ranges", "known", *COLUMNS)}
        return {**super().recorded(), **lists}

    def _options_of(self, record: dict[str, Any]) -> dict[str, Any]:
        sets = tuple(DataSet(name, tuple(series), tuple(detectors)) for name, series, detectors in record["sets"])
        pairs = {name: tuple((one, other) for one, other in record[name]) for name in ("ranges", "known")}
        columns = {name: record[name] for name in COLUMNS if name in record}
        return super()._options_of(record) | {"sets": sets, **pairs, **columns}


def scorings(chunk: Chunk) -> Iterator[Making]:
    """Give the scores of the detectors on a series for metrics, and what criteria make of them."""
    series, criteria = chunk.payload
    for (_, kind), cells in group_cells(chunk.cells, lambda cell: (cell.detector, cell.kind)).items():
        if kind == DETECTOR:
            yield tuple(cells), partial(scoring_of, cells[0], series, {})
        else:
            yield from (((cell,), partial(_worth, cell, series, criteria[cell.metric])) for cell in cells)


def _worth(cell: AuditCell, series: SeriesScores, criterion: Criterion) -> tuple[None, Row]:
    """Return what a criterion makes of the scores of a detector."""
    low, high = map(float, str(cell.rule).split())
    curve = criterion.curve(series.detectors[cell.detector].scoring, low, high)
    return None, {"value": float(curve.max()), "status": "ok", "curve": json.dumps(curve.tolist())}


SELECTION = SelectionSuite("selection", "real scores (--data): does a metric pick the detector that is right elsewhere")
