"""Results of the suite `selection`: what choosing by each metric gains, with intervals, and the pairs it got wrong."""

import json
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from tsadeval.comparison.choosing import HALVES, directions, drawn, judge, orders, ratios, resampled, with_worst
from tsadeval.comparison.statistics import Estimate, resample
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.results import NONE, Grid, Row
from tsadeval.core.selection import AnyMetric
from tsadeval.metrics.criteria import CRITERIA
from tsadeval.rankeval.suite import Explanation, SuiteResult, SuiteTable, count_values, failures, pivot
from tsadeval.rankeval.suites.audit_table import DETECTOR

if TYPE_CHECKING:
    from tsadeval.rankeval.suites.selection import DataSet, SelectionSuite

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
            values = pivot(some, {"metric": list(map(str, metrics)), **axes}, some["value"])
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
