"""Results of an audit: gameability, values by chance and their spread, agreement of metrics, rank flips."""

import math
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tsadeval.comparison import statistics
from tsadeval.comparison.standings import beats_median, best_of, flips, reaches, winners
from tsadeval.core.facts import finite_mean
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.results import NONE, Grid, MappingResult, Row
from tsadeval.core.selection import AnyMetric, find_metric
from tsadeval.errors import InvalidInputError
from tsadeval.rankeval.suite import Explanation, SuiteResult, SuiteTable, name_alike, pivot, places_of

if TYPE_CHECKING:
    from tsadeval.rankeval.suites.audit import AuditSuite

DETECTOR = "detector"
RANDOM = "uniform"
COLUMNS = ("gameability", "search", "one_liners", "beats_median", "random", "random_spread", "errors")


class AuditAnalysis:
    """Values of metrics on real scores and on those of adversaries: gameability, agreement, ranks, explanations."""

    views: ClassVar[tuple[str, ...]] = ("agreement", "disagreement", "example", "names", "ranks", "values_of")

    def __init__(self, plan: "AuditSuite", result: SuiteResult) -> None:
        self.plan = plan
        frame = result.to_frame()
        self._errors = Counter(frame["metric"][frame["status"] == "error"])
        self._series = [series.name for series in plan.series]
        self._scorers = [*plan.detectors, *(name for name, *_ in plan.scorers)]
        names = [str(m) for m in plan.metrics]
        axes = {"metric": names, "series": self._series, "detector": self._scorers}
        values, there = pivot(frame, axes, frame["value"], 1.0)
        # Of each metric series by scorers, higher is better; and whether there is a value, if only an undefined one.
        self._values = {str(m): m.sign * part for m, part in zip(plan.metrics, values, strict=True)}
        self._there = dict(zip(names, there == 1, strict=True))

    def values_of(self, metric: AnyMetric) -> dict[str, dict[str, float]]:
        """Values of a metric by series and scorer; higher is better."""
        name = str(self.plan.find(metric))
        rows = zip(self._series, self._values[name].tolist(), self._there[name].tolist(), strict=True)
        return {
            series: {name: value for name, value, known in zip(self._scorers, values, there, strict=True) if known}
            for series, values, there in rows
        }

    def _of(self, metric: str, *kinds: str) -> Floats:
        """Return the finite values of scorers of some kinds, series by scorers; NaN elsewhere."""
        values = self._values[metric][:, [self._scorers.index(name) for name in self.names(*kinds)]]
        return np.where(np.isfinite(values), values, math.nan)

    def _ratios(self, metric: str) -> Floats:
        """Compute the ratio of the best scorer without skill to the best detector on each series.

        It is their difference where the best detector has no positive value, NaN where nothing can be reached.
        """
        best, other = (best_of(self._of(metric, kind)) for kind in (DETECTOR, "no skill"))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(best > 0, other / best, other - best)
        return np.where(np.isnan(self._reached(metric, best, other)), math.nan, ratios)

    def _reached(self, metric: str, best: Floats, other: Floats) -> Floats:
        """Say with 1 or 0 on which series scores with these values of a metric reach the best detector, else NaN."""
        return reaches(best, other, lower=self.plan.find(metric).direction == "lower")

    def _mean_ranks(self, metric: str) -> Floats:
        """Compute the mean rank of each detector over series, 1 for the best; undefined values are last."""
        values = self._of(metric, DETECTOR)
        undefined = self._there[metric][:, : values.shape[1]] & np.isnan(values)
        ordered = np.where(undefined & ~np.isnan(values).all(axis=1, keepdims=True), -math.inf, values)
        return np.array([finite_mean(column) for column in statistics.stretched_ranks(ordered).T])

    def names(self, *kinds: str) -> list[str]:
        """Return the scorers of some kinds: "detector", "no skill", "search", "one-liner"."""
        found = self.plan.detectors if DETECTOR in kinds else []
        return [*found, *(name for name, kind, _ in self.plan.scorers if kind in kinds)]

    def table(self) -> SuiteTable:
        """Gameability and the level of chance of every metric: a row each, the least gameable first.

        Columns: `gameability`, the share of series on which the best scorer without skill reaches 90 % of the best
        detector; `search`, the same with attempts of which the best counts; `one_liners`, the same for lines of code on
        the series; `beats_median`, the share of series on which the best scorer without skill is above the median
        detector; `random`, the mean value of uniform random scores, and `random_spread`, the distance from the 5 % to
        the 95 % quantile of it over series; `worst`, the series on which scorers without skill come closest; `series`,
        the number of series that `gameability` is over: those on which the best detector and the best scorer without
        skill do not both get 0, unless less is better. As a mapping, to gameability.
        """
        rows = [self._row(metric) for metric in self.plan.metrics]
        rows.sort(key=lambda row: (math.isnan(row["value"]), row["value"]))
        scorings = sum(len(series.detectors) for series in self.plan.series)
        about = (
            f"Audit on {len(self.plan.series)} series: {scorings} scorings of {len(self.plan.detectors)} detectors, "
            f"{len(self.plan.scorers)} adversaries; predictions at {self.plan.threshold}"
        )
        body = [[row["metric"], *(NONE if row[name] != row[name] else row[name] for name in COLUMNS)] for row in rows]
        without = [name for name in COLUMNS if all(row[name] != row[name] for row in rows)]
        others = ", ".join(name for name in without if name != "one_liners")
        series = f"one_liners {NONE}: lines of code need the series itself, which no table has (values=)"
        notes = [series] * ("one_liners" in without) + [f"{others} {NONE}: undefined on all series"] * bool(others)
        return SuiteTable(rows, grid=[["metric", *COLUMNS], *body], lead=about, notes=notes)

    def _row(self, metric: Metric) -> Row:
        name, ratios = str(metric), self._ratios(str(metric))
        detectors, without = self._of(name, DETECTOR), best_of(self._of(name, "no skill"))
        best, known = best_of(detectors), ~np.isnan(ratios)

        def share(*kinds: str) -> float:
            return finite_mean(self._reached(name, best, best_of(self._of(name, *kinds))))

        gamed = share("no skill")
        random, spread = chance(self._values[name][:, [scorer == RANDOM for scorer in self._scorers]])
        return {
            "metric": str(metric),
            "rule": str(self.plan.threshold) if metric.kind == "predictions" else None,
            "value": gamed,
            "gameability": gamed,
            "search": share("no skill", "search"),
            "one_liners": share("one-liner"),
            "beats_median": beats_median(detectors, without),
            "random": metric.sign * random,
            "random_spread": spread,
            "series": int(known.sum()),
            "worst": self._series[np.nanargmax(ratios)] if known.any() else None,
            "errors": self._errors[name],
        }

    def ranks(self) -> MappingResult:
        """Mean rank of every detector under every metric (1 is best), and the share of series on which it wins."""
        rows: list[Row] = []
        for name in map(str, self.plan.metrics):
            wins = winners(self._of(name, DETECTOR))
            shares = [finite_mean(column) for column in wins[wins.any(axis=1)].T]
            of_detectors = zip(self.names(DETECTOR), self._mean_ranks(name).tolist(), shares, strict=True)
            rows += [{"metric": name, "detector": one, "value": rank, "wins": won} for one, rank, won in of_detectors]
        return MappingResult(rows, shown=["metric", "detector", "value", "wins"])

    def agreement(self, metrics: Iterable[AnyMetric] | None = None) -> SuiteTable:
        """How far every two metrics agree on the order of the detectors: a row per pair.

        `spearman` is the correlation of the detectors' mean ranks, `flips` the mean share of pairs of detectors that
        the two metrics put in opposite order on a series. Prints as a matrix of correlations; `between(one, other)`
        gives that of two metrics. As a mapping, to the mean over the others.
        """
        names = [str(self.plan.find(m)) for m in (self.plan.metrics if metrics is None else metrics)]
        ranks = {name: self._mean_ranks(name) for name in names}
        values = {name: self._detectors(name) for name in names}
        rows: list[Row] = [
            {
                "metric": one,
                "other": other,
                "spearman": spearman(ranks[one], ranks[other]),
                "flips": finite_mean(flips(values[one], values[other])),
            }
            for one, other in combinations(names, 2)
        ]
        known = {frozenset((row["metric"], row["other"])): float(row["spearman"]) for row in rows}

        def between(one: AnyMetric, other: AnyMetric) -> float:
            return known.get(frozenset(find_metric(metric, names, "this audit") for metric in (one, other)), 1.0)

        grid: Grid = [["metric", *names], *([one, *(f"{between(one, other):.2f}" for other in names)] for one in names)]
        means = {one: finite_mean([known[pair] for pair in known if one in pair]) for one in names}
        return SuiteTable(rows, grid=grid, values=means, metrics=names, between=between)

    def explain(self, metric: AnyMetric, *, series: int = 5) -> Explanation:
        """Why a metric is gameable: the series on which scorers without skill come closest to the best detector.

        Rows have the best `detector` and the best scorer without skill (`adversary`) with their values, and whether the
        second reaches 90 % of the first (`reached`). A note names the known metrics that order the detectors most like
        a metric of one's own.
        """
        check_parameters("explain", {"series": Number(1, integer=True)}, {"series": series})
        name = str(self.plan.find(metric))
        table, ratios = self.table(), self._ratios(name)
        order = np.argsort(-ratios, kind="stable")[: np.count_nonzero(~np.isnan(ratios))]
        rows = [self._duel(name, i) for i in order.tolist()]
        place = places_of([-row["value"] for row in table.rows])[list(table).index(name)] or "-"
        where = f"{len(rows)} series, place {place} of {len(table)} in this audit"
        columns = ("series", "detector", "detector_value", "adversary", "adversary_value")
        grid: Grid = [
            ["series", "best detector", "its value", "best without skill", "its value", "reached"],
            *([*(row[column] for column in columns), "yes" if row["reached"] else "no"] for row in rows[:series]),
        ]
        reached = "reached: scores that do not use the series get 90 % of the value of the best detector or more"
        known = [str(m) for m in self.plan.metrics if m.library and not self.plan.find(metric).library]
        between = self.agreement([name, *known]).between
        alike = name_alike({one: between(name, one) for one in known}, "Spearman of the detectors' mean ranks")
        lead = f"{name}: gameability {table[name]:.3f} on {where}"
        return Explanation(rows, grid=grid, lead=lead, notes=[reached, *alike])

    def example(self, metric: AnyMetric) -> dict[str, Any]:
        """Return the series that shows the gameability of a metric most, its best detector and its best adversary."""
        rows = self.explain(metric).rows
        if not rows:
            raise InvalidInputError(f"{self.plan.find(metric)} is undefined on all series")
        return {name: value for name, value in rows[0].items() if name != "reached"}

    def _duel(self, metric: str, series: int) -> Row:
        """Return the best detector on a series and the best scorer without skill, with their values."""
        row: Row = {"metric": metric, "series": self._series[series]}
        found = []
        for role, kind in (("detector", DETECTOR), ("adversary", "no skill")):
            values = self._of(metric, kind)[series]
            found.append(np.nanmax(values))
            row |= {role: self.names(kind)[np.nanargmax(values)], f"{role}_value": self._shown(metric, found[-1])}
        return {**row, "reached": bool(self._reached(metric, *found))}

    def disagreement(self, metric: AnyMetric, other: AnyMetric) -> dict[str, Any]:
        """Return the series on which two metrics disagree most, and the two detectors that show it most.

        It is the series with the largest share of pairs of detectors in opposite order (`flips`). `first` is the
        detector that `metric` prefers, `second` the one that `other` prefers; each has its two values.
        """
        metric, other = str(self.plan.find(metric)), str(self.plan.find(other))
        one, two = self._detectors(metric), self._detectors(other)
        shares = flips(one, two)
        if not np.nan_to_num(shares).any():
            raise InvalidInputError(f"{metric} and {other} put no two detectors in opposite order")
        place = int(np.nanargmax(shares))
        x, y = one[place], two[place]
        # How far apart each metric puts every two detectors, as a share of the range of its values.
        first, second = (
            np.subtract.outer(values, values) / (np.ptp(values[np.isfinite(values)]) or 1.0) for values in (x, y)
        )
        apart = np.where(first * second < 0, np.minimum(np.abs(first), np.abs(second)), -1.0)
        farthest = np.unravel_index(int(np.argmax(apart)), apart.shape)
        found: Row = {"metric": metric, "other": other, "series": self._series[place], "flips": float(shares[place])}
        for role, at in zip(("first", "second"), sorted(farthest, key=lambda at: -x[at]), strict=True):
            found |= {
                role: self._scorers[at],
                f"{role}_values": (self._shown(metric, x[at]), self._shown(other, y[at])),
            }
        return found

    def _detectors(self, metric: str) -> Floats:
        """Return the values of the detectors as they are, series by detectors."""
        return np.asarray(self._values[metric][:, : len(self.plan.detectors)])

    def _shown(self, metric: str, value: float) -> float:
        """Return a value as the metric gives it."""
        return float(self.plan.find(metric).sign * value)


def chance(values: Floats) -> tuple[float, float]:
    """Compute the mean of values over series, and their spread: the distance from the 5 % to the 95 % quantile."""
    known = values[np.isfinite(values)]
    if not known.size:
        return math.nan, math.nan
    low, high = np.quantile(known, [0.05, 0.95])
    return float(known.mean()), float(high - low)


def spearman(one: Floats, other: Floats) -> float:
    """Compute the correlation of the detectors' mean ranks under two metrics; 0 where the first orders nothing."""
    rows = np.where(np.isnan(one) | np.isnan(other), math.nan, np.array([one, other]))
    known = rows[1][~np.isnan(rows[1])]
    if len(np.unique(known)) == len(known):  # as published: rounding errors make no order, unless the second has ties
        rows[0] = np.round(rows[0], 9)
    found = statistics.agreement(rows)
    return float(found[0, 1]) if math.isnan(found[1, 1]) else float(np.nan_to_num(found[0, 1]))
