"""What an audit found, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tsadeval.core.metric import Metric
from tsadeval.core.naming import find_metric
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.results import NONE, Grid, MappingResult, Result, Row
from tsadeval.core.selection import AnyMetric
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError
from tsadeval.rankeval.auditing import measures
from tsadeval.rankeval.auditing.plan import DETECTOR, LAYOUT, AuditCell, AuditPlan
from tsadeval.rankeval.stored import StoredResult, last_plan, places_of

__all__ = ["AgreementTable", "AuditExplanation", "AuditResult", "AuditTable", "read_audit"]

RANDOM = "uniform"


class AuditTable(MappingResult):
    """Metrics against adversaries: a row per metric, the least gameable first; as a mapping, to gameability.

    Columns: `gameability`, the share of series on which the best scorer without skill reaches 90 % of the best
    detector; `search`, the same with attempts of which the best counts; `one_liners`, the same for lines of code on the
    series; `beats_median`, the share of series on which the best scorer without skill is above the median detector;
    `random`, the mean value of uniform random scores, and `random_spread`, the distance from the 5 % to the 95 %
    quantile of it over series; `worst`, the series on which scorers without skill come closest.
    """

    def __init__(self, rows: list[Row], about: str) -> None:
        shown = ["metric", "gameability", "search", "one_liners", "beats_median", "random", "random_spread", "errors"]
        super().__init__(rows, shown=shown)
        self.about = about

    def _lead(self) -> str:
        return self.about

    def _grid(self) -> Grid:
        head, *rows = super()._grid()
        return [head, *([NONE if value != value else value for value in row] for row in rows)]

    def _notes(self) -> list[str]:
        """Why a column has no values."""
        without = [name for name in self._shown[1:] if self.rows and all(row[name] != row[name] for row in self.rows)]
        notes = []
        if "one_liners" in without:
            notes.append(f"one_liners {NONE}: lines of code need the series itself, which no table has (value=)")
        rest = [name for name in without if name != "one_liners"]
        return notes + [f"{', '.join(rest)} {NONE}: undefined on all series"] * bool(rest)


class AgreementTable(Result):
    """Spearman's correlation of the detectors' mean ranks between every two metrics: a row per pair.

    `flips` is the mean share of pairs of detectors that the two metrics put in opposite order on a series. Prints as a
    matrix of correlations.
    """

    def __init__(self, rows: list[Row], metrics: list[str]) -> None:
        super().__init__(rows)
        self.metrics = metrics

    def between(self, one: AnyMetric, other: AnyMetric) -> float:
        """The correlation of two metrics."""
        one, other = (find_metric(metric, self.metrics, "this audit") for metric in (one, other))
        for row in self.rows:
            if {row["metric"], row["other"]} == {one, other}:
                return float(row["spearman"])
        return 1.0

    def _grid(self) -> Grid:
        known = {frozenset((row["metric"], row["other"])): row["spearman"] for row in self.rows}
        body = []
        for one in self.metrics:
            cells = [1.0 if one == other else known.get(frozenset((one, other)), math.nan) for other in self.metrics]
            body.append([one, *(f"{value:.2f}" for value in cells)])
        return [["metric", *self.metrics], *body]


class AuditExplanation(Result):
    """Where a metric is fooled: a row per series, those first on which scorers without skill come closest.

    Each has the best `detector` and the best scorer without skill (`adversary`) with their values, and whether the
    second reaches 90 % of the first (`reached`).
    """

    def __init__(self, rows: list[Row], lead: str, shown: int) -> None:
        super().__init__(rows)
        self._first = lead
        self._most = shown

    def _lead(self) -> str:
        return self._first

    def _grid(self) -> Grid:
        columns = ("series", "detector", "detector_value", "adversary", "adversary_value", "reached")
        head = ["series", "best detector", "its value", "best without skill", "its value", "reached"]
        body = [[row[name] for name in columns] for row in self.rows[: self._most]]
        return [head, *([*cells[:-1], "yes" if cells[-1] else "no"] for cells in body)]

    def _notes(self) -> list[str]:
        return ["reached: scores that do not use the series get 90 % of the value of the best detector or more"]


class AuditResult(StoredResult):
    """Values of metrics on real scores and on those of adversaries: a row per value. Prints as its table."""

    def __init__(self, plan: AuditPlan, store: Store[AuditCell]) -> None:
        self.plan = plan
        self.store = store
        super().__init__(store.frame(plan.cells()))
        self._values: dict[str, dict[str, dict[str, float]]] = {str(m): {} for m in plan.metrics}
        directions = {str(m): 1.0 if m.direction == "higher" else -1.0 for m in plan.metrics}
        columns = ("metric", "series", "detector", "value")
        for metric, series, detector, value in zip(*(self._frame[c].tolist() for c in columns), strict=True):
            self._values[metric].setdefault(series, {})[detector] = directions[metric] * value

    def _named(self, metric: AnyMetric) -> str:
        return find_metric(metric, list(self._values), "this audit")

    def values_of(self, metric: AnyMetric) -> dict[str, dict[str, float]]:
        """Values of a metric by series and scorer; higher is better."""
        return self._values[self._named(metric)]

    def names(self, *kinds: str) -> list[str]:
        """The scorers of some kinds: "detector", "no skill", "search", "one-liner"."""
        found = self.plan.detectors if DETECTOR in kinds else []
        return [*found, *(name for name, kind, _ in self.plan.adversaries if kind in kinds)]

    def table(self) -> AuditTable:
        """Gameability and the level of chance of every metric; the least gameable first."""
        rows = [self._row(metric) for metric in self.plan.metrics]
        rows.sort(key=lambda row: (math.isnan(row["value"]), row["value"]))
        scorings = sum(len(series.detectors) for series in self.plan.series)
        about = (
            f"Audit on {len(self.plan.series)} series: {scorings} scorings of {len(self.plan.detectors)} detectors, "
            f"{len(self.plan.adversaries)} adversaries; predictions at {self.plan.rule}"
        )
        return AuditTable(rows, about)

    def _row(self, metric: Metric) -> Row:
        values, detectors = self._values[str(metric)], self.names(DETECTOR)
        without = self.names("no skill")
        gamed, ratios = measures.gameability(values, detectors, without)
        random, spread = measures.chance(values, RANDOM)
        errors = (self._frame["metric"] == str(metric)) & (self._frame["status"] == "error")
        return {
            "metric": str(metric),
            "rule": self.plan.rule_of(metric),
            "value": gamed,
            "gameability": gamed,
            "search": measures.gameability(values, detectors, [*without, *self.names("search")])[0],
            "one_liners": measures.gameability(values, detectors, self.names("one-liner"))[0],
            "beats_median": measures.beats_median(values, detectors, without),
            "random": random if metric.direction == "higher" else -random,
            "random_spread": spread,
            "series": len(ratios),
            "worst": max(ratios, key=lambda name: ratios[name], default=None),
            "errors": int(errors.sum()),
        }

    def ranks(self) -> MappingResult:
        """Mean rank of every detector under every metric (1 is best), and the share of series on which it wins."""
        rows: list[Row] = []
        for metric in self.plan.metrics:
            values, detectors = self._values[str(metric)], self.names(DETECTOR)
            wins = measures.winners(values, detectors)
            for name, rank in measures.mean_ranks(values, detectors).items():
                rows.append({"metric": str(metric), "detector": name, "value": rank, "wins": wins[name]})
        return MappingResult(rows, shown=["metric", "detector", "value", "wins"])

    def agreement(self, metrics: Iterable[AnyMetric] | None = None) -> AgreementTable:
        """How far every two metrics agree on the order of the detectors."""
        names = [self._named(m) for m in (self.plan.metrics if metrics is None else metrics)]
        detectors = self.names(DETECTOR)
        ranks = {name: measures.mean_ranks(self.values_of(name), detectors) for name in names}
        rows: list[Row] = []
        for i, one in enumerate(names):
            for other in names[i + 1 :]:
                rows.append(
                    {
                        "metric": one,
                        "other": other,
                        "spearman": measures.agreement(ranks[one], ranks[other]),
                        "flips": measures.rank_flips(self._values[one], self._values[other], detectors),
                    }
                )
        return AgreementTable(rows, names)

    def explain(self, metric: AnyMetric, *, series: int = 5) -> AuditExplanation:
        """Why a metric is gameable: the series on which scorers without skill come closest to the best detector.

        Parameters
        ----------
        metric : str, function or Metric
            As it was given to the audit.
        series : int, default=5
            How many are printed; `rows` has all.
        """
        check_parameters("explain", {"series": Number(1, integer=True)}, {"series": series})
        name = self._named(metric)
        values, table = self._values[name], self.table()
        gamed, ratios = measures.gameability(values, self.names(DETECTOR), self.names("no skill"))
        rows: list[Row] = []
        for one in sorted(ratios, key=lambda key: -ratios[key]):
            best, other = (
                max(self.names(kind), key=lambda d: _number(values[one].get(d))) for kind in (DETECTOR, "no skill")
            )
            rows.append(
                {
                    "metric": name,
                    "series": one,
                    "detector": best,
                    "detector_value": self._shown(name, one, best),
                    "adversary": other,
                    "adversary_value": self._shown(name, one, other),
                    "reached": measures.reached(values[one][best], values[one][other]),
                }
            )
        place = places_of([-row["value"] for row in table.rows])[list(table).index(name)]
        lead = (
            f"{name}: gameability {gamed:.3f} on {len(rows)} series, place {place or '-'} of {len(table)} in this audit"
        )
        return AuditExplanation(rows, lead, series)

    def example(self, metric: AnyMetric) -> dict[str, Any]:
        """The series that shows the gameability of a metric most: the best detector there and the best adversary."""
        metric = self._named(metric)
        values = self._values[metric]
        detectors, without = self.names(DETECTOR), self.names("no skill")
        _, ratios = measures.gameability(values, detectors, without)
        if not ratios:
            raise InvalidInputError(f"{metric} is undefined on all series")
        series = max(ratios, key=lambda name: ratios[name])
        best = max(detectors, key=lambda d: _number(values[series].get(d)))
        other = max(without, key=lambda d: _number(values[series].get(d)))
        return {
            "metric": metric,
            "series": series,
            "detector": best,
            "detector_value": self._shown(metric, series, best),
            "adversary": other,
            "adversary_value": self._shown(metric, series, other),
        }

    def disagreement(self, metric: AnyMetric, other: AnyMetric) -> dict[str, Any]:
        """The series on which two metrics disagree most, and the two detectors that show it most.

        It is the series with the largest share of pairs of detectors in opposite order (`flips`). `first` is the
        detector that `metric` prefers, `second` the one that `other` prefers; each has its two values.
        """
        metric, other = self._named(metric), self._named(other)
        one, two, detectors = self._values[metric], self._values[other], self.names(DETECTOR)
        shares = measures.flip_shares(one, two, detectors)
        series = max(shares, key=lambda name: shares[name], default=None)
        if series is None or not shares[series]:
            raise InvalidInputError(f"{metric} and {other} put no two detectors in opposite order")
        of_series = (one[series], two[series])

        def away(pair: tuple[str, str]) -> float:
            return min(abs(of[pair[0]] - of[pair[1]]) / _width(of, detectors) for of in of_series)

        first, second = max(measures.flipped_pairs(one, two, detectors)[series], key=away)
        shown = {
            f"{role}_values": (self._shown(metric, series, name), self._shown(other, series, name))
            for role, name in (("first", first), ("second", second))
        }
        found = {"metric": metric, "other": other, "series": series, "flips": shares[series]}
        return {**found, "first": first, "second": second, **shown}

    def _shown(self, metric: str, series: str, scorer: str) -> float:
        """A value as the metric gives it."""
        lower = next(m for m in self.plan.metrics if str(m) == metric).direction == "lower"
        value = self._values[metric][series][scorer]
        return -value if lower else value


def _number(value: float | None) -> float:
    return -math.inf if value is None or math.isnan(value) else value


def _width(values: dict[str, float], names: Iterable[str]) -> float:
    """The range of some values; 1 where all are equal."""
    known = [values[name] for name in names if math.isfinite(values.get(name, math.nan))]
    return max(known) - min(known) or 1.0


def read_audit(folder: str | Path) -> AuditResult:
    """The last audit in a store, as far as it got, with all metrics that were tried on the same series."""
    store = Store.existing(folder, LAYOUT)
    plans = [AuditPlan.of_record(record) for record in store.plans()]
    if not plans:
        raise InvalidInputError(f"{folder} has no audit")
    return AuditResult(last_plan(plans), store)
