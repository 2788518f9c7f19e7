"""The suite `selection`: does a metric pick the right detector, on real scores of labelled series; and its results."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tsadeval.comparison.choosing import HALVES, directions, drawn, judge, orders, ratios, resampled, with_worst
from tsadeval.comparison.inference import group_of
from tsadeval.comparison.statistics import Estimate, resample
from tsadeval.core.facts import grouped
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.results import NONE, Grid, Row
from tsadeval.core.selection import AnyMetric, Metrics
from tsadeval.engine.cells import Chunk, Layout, Making, group_cells
from tsadeval.engine.compute import choose_metrics, rule_key
from tsadeval.engine.fingerprints import fingerprint
from tsadeval.errors import InputWarning, InvalidInputError, warn
from tsadeval.metrics.criteria import CRITERIA, Criterion, find_criteria
from tsadeval.rankeval.suite import Explanation, SuiteResult, SuiteTable, count_values, failures, pivot
from tsadeval.rankeval.suites.audit import AuditCell, AuditSuite, SeriesRecord, scoring_of
from tsadeval.rankeval.suites.audit_table import DETECTOR
from tsadeval.scores.scores import SeriesScores
from tsadeval.thresholds.rules import parse_rule

CRITERION = "criterion"
USABLE = 2 / 3  # of what choosing by the criterion itself gains
ITSELF, RANDOM = "the criterion itself", "a random number"
LABELLED = (1, 2, 5, 10)  # series
DRAWS, SHUFFLES = 50, 20  # of labelled series, and of random numbers
RESAMPLES = {False: 2000, True: 300}  # of data sets, and of series where there is one set
VERDICTS = ("", "usable", "worse than usable", "no better than chance", "undefined")


class Part(NamedTuple):
    """What is known of a data set: values (metrics, series, detectors), random ones last, and a curve by criterion."""

    known: "DataSet"
    values: Floats
    curves: dict[str, Floats]


class SelectionAnalysis:
    """What choosing a detector by metrics gains on other series."""

    views: ClassVar[tuple[str, ...]] = ("mistakes",)

    def __init__(self, plan: "SelectionSuite", result: SuiteResult) -> None:
        self.plan = plan
        self._frame = result.to_frame()
        self._criteria = [name for name, _ in plan.known]
        self._names = [*map(str, plan.metrics), RANDOM, ITSELF]

    @cached_property
    def _parts(self) -> list[Part]:
        frame, metrics = self._frame, self.plan.metrics
        of_metrics = frame[frame["kind"] == DETECTOR]
        found = []
        for k, one in enumerate(self.plan.sets):
            axes = {"series": list(one.series), "detector": list(one.detectors)}
            some = of_metrics[of_metrics["series"].isin(one.series)]
            (values,) = pivot(some, {"metric": list(map(str, metrics)), **axes}, some["value"])
            signs = np.array([metric.sign for metric in metrics], np.float64)[:, None, None]
            chance = np.random.default_rng((self.plan.seed or 0, k)).random((SHUFFLES, *values.shape[1:]))
            curves = {name: self._curve(name, one) for name in self._criteria}
            found.append(Part(one, np.concatenate([with_worst(signs * values), chance]), curves))
        return found

    def _curve(self, criterion: str, one: "DataSet") -> Floats:
        """Return the curves of a criterion: series, detectors, thresholds."""
        frame = self._frame
        rows = frame[(frame["kind"] == CRITERION) & (frame["metric"] == criterion) & (frame["status"] == "ok")]
        texts = {(s, d): text for s, d, text in zip(rows["series"], rows["detector"], rows["curve"], strict=True)}
        length = len(json.loads(next(iter(texts.values()), "[0]")))
        nothing = json.dumps([math.nan] * length)
        return np.array([[json.loads(texts.get((s, d), nothing)) for d in one.detectors] for s in one.series])

    def _totals(self, part: Part, criterion: str, **weights: Any) -> Floats:
        """Sum gains of a data set: four numbers by draws and metrics; those of random numbers are averaged."""
        found = judge(part.values, part.curves[criterion], **weights)
        n = len(self.plan.metrics)
        return np.concatenate([found[..., :n], found[..., n:-1].mean(axis=-1, keepdims=True), found[..., -1:]], axis=-1)

    @cached_property
    def _drawn(self) -> Floats:
        """`pair` and `top`, by criterion, draws (the first has all) and metrics."""
        found = []
        for criterion in self._criteria:
            if len(self._parts) == 1:  # over its series
                part = self._parts[0]
                weights = resampled(len(part.known.series), RESAMPLES[True], self.plan.seed or 0)
                totals = self._totals(part, criterion, weights=weights)
            else:
                each = np.array([self._totals(part, criterion)[:, 0] for part in self._parts])
                totals = np.einsum("rs,sfm->frm", resample(len(each), RESAMPLES[False], self.plan.seed or 0), each)
            found.append(ratios(totals))
        return np.moveaxis(np.array(found), 1, 0)

    @cached_property
    def _by_labels(self) -> Floats:
        """`top` by the number of labelled series and metrics, the mean over criteria."""

        def top(criterion: str, n: int) -> Floats:
            each = [
                self._totals(p, criterion, labelled=drawn(len(p.known.series), n, DRAWS, (self.plan.seed or 0, k, n)))
                for k, p in enumerate(self._parts)
            ]
            return ratios(np.sum([totals.sum(axis=1) for totals in each], axis=0))[1]

        return np.array([_mean(np.array([top(criterion, n) for criterion in self._criteria])) for n in LABELLED])

    @cached_property
    def _rows(self) -> list[Row]:
        pair, top = self._drawn
        rows = []
        for k, name in enumerate(self._names):
            metric = None if k >= len(self.plan.metrics) else self.plan.metrics[k]
            rule = None if metric is None or metric.kind == "scores" else self.plan.rule
            kin = [] if metric is None else [name for name in self._criteria if _related(name, metric, rule)]
            others = [i for i, criterion in enumerate(self._criteria) if criterion not in kin]
            judged = others or list(range(len(self._criteria)))
            row: Row = {"metric": name, "rule": rule}
            for column, values in (("pair", pair), ("top", top)):
                found = Estimate.of(_mean(values[:, :, k]))
                row |= {column: found.value, f"{column}_low": found.low, f"{column}_high": found.high}
            row |= {"value": row["pair"], "kin": ", ".join(kin), "without_kin": float(_mean(pair[others, 0, k]))}
            row |= {f"n{n}": float(found) for n, found in zip(LABELLED, self._by_labels[:, k], strict=True)}
            for column, values in (("pair", pair), ("top", top)):
                row |= {f"{column}_{c}": float(values[i, 0, k]) for i, c in enumerate(self._criteria)}
            words = [VERDICTS[0]] * 2
            if metric is not None:
                both = [[Estimate.of(_mean(v[judged][:, :, i])) for i in (k, -1)] for v in (pair, top)]
                words = [VERDICTS[3 if m.low <= 0 else 2 if m.value < USABLE * best.value else 1] for m, best in both]
                some = self._frame[(self._frame["metric"] == name) & (self._frame["kind"] == DETECTOR)]
                row |= count_values(some)
                if not row["values"] or math.isnan(both[0][1].value):  # it has not been tried, or by no criterion
                    row |= {key: math.nan for key, value in row.items() if isinstance(value, float)}
                    words = [VERDICTS[4]] * 2
            rows.append({**row, "verdict": words[0], "verdict_top": words[1]})
        return sorted(rows, key=lambda row: (row["metric"] == RANDOM, VERDICTS.index(row["verdict"])))

    def table(self) -> SuiteTable:
        """Return what choosing by each metric gains, as a share of what could be: a row each, without places.

        Columns: `pair`, over pairs of detectors, and `top`, choosing one of all, the mean over criteria with 95 %
        intervals; `without_kin`, `pair` without the criteria that ask nearly the same as the metric (`kin`); `n1` and
        so on, `top` where so many series are labelled; `pair_events` and so on, each criterion; in words `verdict`, by
        `pair`, and `verdict_top`, for who takes one detector of all (in print "of all:", where it is another). As a
        mapping, to `pair`.
        """
        columns = ["pair", "top", "without_kin", *(f"n{n}" for n in LABELLED)]
        body = [
            [
                row["metric"],
                *(f"{_two(row[c])} [{_two(row[f'{c}_low'])} {_two(row[f'{c}_high'])}]" for c in ("pair", "top")),
                *(_two(row[c]) for c in columns[2:]),
                row["kin"] or NONE,
                row["verdict"] + f"; of all: {row['verdict_top']}" * (row["verdict_top"] != row["verdict"]),
            ]
            for row in self._rows
        ]
        sets = self.plan.sets
        series, detectors = sum(len(one.series) for one in sets), {name for one in sets for name in one.detectors}
        unit = f"{len(sets)} data sets" if len(sets) > 1 else "one data set"
        over = "data sets (few: somewhat narrow)" if len(sets) > 1 else "series, since there is one data set"
        lead = f"Choosing a detector on half of the series, judged on the other: {series} series of {unit}, "
        notes = [
            "pair, top: share of what could be gained, between two detectors and of all; 95 % intervals over " + over,
            f"n: top with so many labelled series of a data set; criteria: {', '.join(self._criteria)}",
            "usable: two thirds or more of what the criterion itself gains; chance: the interval reaches 0",
            "verdict: for choosing between two (pair); of all: for taking one of all (top), where that is another",
            "the order of usable metrics repeats only in part on other data",
        ]
        rows = self._frame[self._frame["kind"] == CRITERION].sort_values("status", kind="stable")  # errors first
        notes += [
            line
            for name, some in rows.drop_duplicates(["metric", "series"]).groupby("metric", sort=False)
            for line in failures(str(name), count_values(some), 1)
        ]
        grid: Grid = [["metric", *columns, "kin", "verdict"], *body]
        return SuiteTable(self._rows, grid=grid, lead=f"{lead}{len(detectors)} detectors", notes=notes)

    def mistakes(self, metric: AnyMetric) -> list[Row]:
        """Return every pair of detectors of which a metric preferred the wrong one, the most costly first.

        `series` is the one, of those chosen on, that misled it most.
        """
        k = list(self.plan.metrics).index(self.plan.find(metric))
        rows: list[Row] = []
        for part in self._parts:
            names = part.known.detectors
            pairs = np.array(np.triu_indices(len(names), 1))
            for criterion, curve in part.curves.items():
                for half, (m, u) in zip(HALVES, directions(part.values[k : k + 1], curve), strict=True):
                    said, worth = m[0, 0], u[0]
                    order = orders(said)
                    lost = -order * (worth[pairs[0]] - worth[pairs[1]])
                    for p in np.flatnonzero(lost > 0).tolist():
                        chosen, better = pairs[:, p] if order[p] > 0 else pairs[::-1, p]
                        apart = part.values[k, half, chosen] - part.values[k, half, better]
                        sign = self.plan.metrics[k].sign
                        rows.append(
                            {"metric": str(metric), "data_set": part.known.name, "criterion": criterion}
                            | {"chosen": names[chosen], "better": names[better]}
                            | {"chosen_value": sign * float(said[chosen]), "better_value": sign * float(said[better])}
                            | {"chosen_worth": float(worth[chosen]), "better_worth": float(worth[better])}
                            | {"lost": float(lost[p]), "series": part.known.series[half][int(np.argmax(apart))]}
                        )
        return sorted(rows, key=lambda row: -row["lost"])

    def explain(self, metric: AnyMetric, *, pairs: int = 10) -> Explanation:
        """Why a metric loses: the pairs of detectors of which it chose the wrong one, and the series that misled it.

        `chosen` is the detector it preferred on half of the series, `better` the one that is worth more on the others
        by the criterion.
        """
        check_parameters("explain", {"pairs": Number(1, integer=True)}, {"pairs": pairs})
        rows = self.mistakes(metric)
        columns = ["data_set", "criterion", "chosen", "chosen_worth", "better", "better_worth", "lost", "series"]
        body = [[f"{row[c]:.2f}" if isinstance(row[c], float) else row[c] for c in columns] for row in rows[:pairs]]
        note = f"{len(rows)} wrong choices of two; worth: by the criterion, on the other half of the series"
        name = str(self.plan.find(metric))
        lead = f"{name}: {_two(self.table()[name])} of what choosing between two detectors could gain"
        return Explanation(rows, grid=[columns, *body], lead=lead, notes=[note], plan=self.plan, pairs=pairs)


def _mean(values: Floats) -> Floats:
    """Average over criteria, without those by which no detector differs."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0))


def _two(value: float) -> str:
    return NONE if math.isnan(value) else f"{value:.2f}"


def _related(criterion: str, metric: Metric, rule: str | None) -> bool:
    """Return True if a criterion of the library, with whatever costs, asks nearly the same as a metric at a rule."""
    name = criterion.partition("(")[0]
    at_budget = criterion == "events" and rule is not None and rule.startswith("budget(")
    return name in CRITERIA and (at_budget or metric.name in CRITERIA[name].kin)


COLUMNS = ("label", "by", "values")  # of tables of scores, so that they can be read again
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
    options = ("data", "label", "score", "by", "values", "threshold", "criteria", "groups", "seed")

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
        data = {series.name: series for series, _ in usable if series.name in chosen}
        judged = grouped((name, one.scoring) for series in data.values() for name, one in series.detectors.items())
        limits = {
            name: (min(0.0, *(float(one.low) for one in some)), max(1.0, *(float(one.high) for one in some)))
            for name, some in judged.items()
        }
        return replace(
            self,
            metrics=choose_metrics(self.metrics if metrics is None else metrics, self.paper),
            data=data,
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
                f"{'; '.join(small)} detectors; leave out (score=) detectors that lack series, or label more series"
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
