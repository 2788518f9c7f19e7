"""Rankings of a run of the paper's suites: their quality with intervals, robustness, latency and sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from tsadeval.comparison.statistics import Estimate, mean_of_known, resample
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.parameters import Number, OneOf, check_parameters
from tsadeval.core.results import MappingResult, Row
from tsadeval.core.selection import AnyMetric, find_metric, metric_text
from tsadeval.errors import InvalidParameterError
from tsadeval.rankeval.generators import GENERATORS
from tsadeval.rankeval.quality import INDICATORS, Quality, Ties, ranking_quality
from tsadeval.rankeval.suite import DIGITS, Explanation, SuiteResult, SuiteTable, count_values, pivot, place_words
from tsadeval.rankeval.suites.paper_explanation import explain
from tsadeval.rankeval.suites.paper_table import AVERAGE, Order, mark_best, quality_table

if TYPE_CHECKING:
    import pandas as pd

    from tsadeval.rankeval.suites.paper import PaperSuite, Task

# What a table's numbers are averages over: for each group its sigma (None for all) and the places of its sigmas.
Groups = dict[float | None, list[int]]

SORTED_BY = ("spearman", "kendall")


class Rankings:
    """All values of one plan: ranking quality, robustness, latency, sensitivity, explanations."""

    views: ClassVar[tuple[str, ...]] = ("robustness", "latency", "sensitivity")

    def __init__(self, plan: PaperSuite, frame: pd.DataFrame, with_metrics: Callable[..., SuiteResult]) -> None:
        self.plan = plan
        self._frame = frame
        self._with_metrics = with_metrics
        self._by = dict(list(frame.groupby(["metric", "generator"], sort=False)))
        self._weights = resample(len(plan.cases), 2000 if len(plan.cases) > 1 else 0)

    def values(self, metric: Metric, task: Task) -> Floats:
        """The mean over repeats, of shape (case, sigma, fixed, by); NaN where any repeat is missing or undefined."""
        generator = GENERATORS[task.generator]
        axes: dict[str, tuple[Any, ...]] = {
            "case": self.plan.cases,
            "sigma": self.plan.sigmas,
            "q": generator.q,
            "p": generator.p,
            "repeat": tuple(range(self.plan.repeats)),
        }
        rows = self._by.get((str(metric), task.generator), self._frame[:0])
        mean = pivot(rows, axes, rows["value"]).mean(axis=-1)
        return mean if task.by == "p" else np.swapaxes(mean, 2, 3)

    def quality(self, metric: Metric, task: Task, ties: Ties) -> Quality:
        """The quality of every ranking, of shape (case, sigma, fixed)."""
        values = self.values(metric, task)
        generator = GENERATORS[task.generator]
        worth = np.array(generator.q if task.by == "q" else generator.p, np.float64)
        sign = 1.0 if metric.direction == "higher" else -1.0
        flat = ranking_quality(
            sign * values.reshape(-1, len(worth)), worth if task.better == "higher" else -worth, ties=ties
        )
        return Quality(*(found.reshape(values.shape[:-1]) for found in flat))

    def by_sigma(self, quality: Floats) -> Floats:
        """Estimates of shape (1 + resamples, sigma): means over cases and fixed values, at each sigma."""
        known = np.isfinite(quality)
        sums, counts = np.where(known, quality, 0.0).sum(axis=2), known.sum(axis=2)
        with np.errstate(invalid="ignore"):
            return np.asarray((self._weights @ sums) / (self._weights @ counts))

    def counts(self, metric: Metric) -> dict[str, Any]:
        """Values there are and should be, those undefined, errors and the first message; series without any alarm."""
        generators = dict.fromkeys(task.generator for task in self.plan.tasks)
        models = sum(len(GENERATORS[g].q) * len(GENERATORS[g].p) for g in generators)
        planned = len(self.plan.cases) * len(self.plan.sigmas) * self.plan.repeats * models
        known = (self._frame["metric"] == str(metric)) & self._frame["generator"].isin(list(generators))
        rows = self._frame[known]
        silent = float((rows["alarmed_points"] == 0).sum() / max(len(rows), 1))
        own = {"own": not metric.library, "empty": silent if metric.kind == "predictions" else None}
        return {"planned": planned, **count_values(rows), **own}

    def _about(self, ties: Ties) -> str:
        cases, repeats = len(self.plan.cases), self.plan.repeats
        how = "" if ties == "average" else ", ties broken as published"
        marks = "* best, + second best, without intervals, which need two cases"
        if cases > 1:  # a mark says what cannot be told apart, so it need not follow the order
            marks = (
                "* best, + second best, each with all whose 95 % intervals over cases overlap its, "
                "as a wide one may at a low place"
            )
        return (
            f"RankEval, suite {self.plan.name}: {cases} case{'s' * (cases != 1)}, "
            f"{repeats} repeat{'s' * (repeats != 1)}{how}\n"
            f"{marks}"
        )

    def table(self, *, ties: Ties = "average", order: Order = "quality") -> SuiteTable:
        """Return Spearman, Kendall and mean rank deviation per task and on average, over all sigmas."""
        return self._quality(ties, order, {None: list(range(len(self.plan.sigmas)))}, "task")

    def robustness(self, *, ties: Ties = "average", order: Order = "quality") -> SuiteTable:
        """The same at each sigma."""
        groups: Groups = {sigma: [i] for i, sigma in enumerate(self.plan.sigmas)}
        return self._quality(ties, order, groups, "sigma")

    def _quality(self, ties: Ties, order: Order, groups: Groups, column: Literal["task", "sigma"]) -> SuiteTable:
        check_parameters("table", {"order": OneOf(("quality", "given"))}, {"order": order})
        of_metrics = [self._rows_of(metric, ties, groups) for metric in self.plan.metrics]
        if order == "quality":
            of_metrics.sort(key=_average, reverse=True)
        rows = [row for some in of_metrics for row in some]
        for row in rows:
            row["mark"] = ""
        for key in dict.fromkeys((row["task"], row["sigma"], row["indicator"]) for row in rows):
            alike = [row for row in rows if (row["task"], row["sigma"], row["indicator"]) == key]
            mark_best(alike, INDICATORS[key[2]][1])
        counts = {str(m): self.counts(m) for m in self.plan.metrics}
        return quality_table(rows, counts, self._about(ties), column, order)

    def _rows_of(self, metric: Metric, ties: Ties, groups: Groups) -> list[Row]:
        rows: list[Row] = []
        averages: dict[tuple[str, float | None], list[tuple[Floats, Row]]] = {}
        for task in self.plan.tasks:
            quality = self.quality(metric, task, ties)
            for indicator in INDICATORS:
                drawn = self.by_sigma(getattr(quality, indicator))
                for sigma, places in groups.items():
                    known = quality.ties[:, places]
                    facts = {"rankings": int(np.isfinite(known).sum()), "of": known.size, "ties": mean_of_known(known)}
                    part = drawn[:, places].mean(axis=1)
                    averages.setdefault((indicator, sigma), []).append((part, facts))
                    rows.append(_row(str(metric), task.name, sigma, indicator, part, facts))
        for (indicator, sigma), parts in averages.items():
            facts = {key: sum(f[key] for _, f in parts) for key in ("rankings", "of")}
            facts["ties"] = float(np.mean([f["ties"] for _, f in parts]))
            part = np.mean([part for part, _ in parts], axis=0)
            rows.append(_row(str(metric), AVERAGE, sigma, indicator, part, facts))
        return rows

    def latency(self, metric: AnyMetric | None = None) -> MappingResult:
        """Milliseconds of each metric's public call; of one metric by generator, length and number of events."""
        frame = self._frame[self._frame["seconds"].notna()]
        # Where several repeats are one series, it was measured once.
        frame = frame.drop_duplicates(["metric", "case", "generator", "q", "p", "sigma", "seconds"])
        keys = ["metric"]
        if metric is not None:
            frame = frame[frame["metric"] == find_metric(metric, list(map(str, self.plan.metrics)))]
            keys = ["metric", "generator", "n", "events"]
        rows = []
        for key, part in frame.groupby(keys, sort=len(keys) > 1):
            milliseconds = 1000 * part["seconds"].to_numpy()
            low, middle, high = np.quantile(milliseconds, [0.05, 0.5, 0.95]).tolist()
            named = dict(zip(keys, key if isinstance(key, tuple) else (key,), strict=True))
            found = {"mean": float(milliseconds.mean()), "5 %": low, "median": middle, "95 %": high}
            rows.append({**named, "values": len(part), **found, "value": middle})
        if metric is None:
            rows.sort(key=lambda row: row["value"])
        return MappingResult(rows, shown=[*keys, "values", "mean", "5 %", "median", "95 %"])

    def sensitivity(
        self, metric: AnyMetric, *, tasks: Sequence[str] | None = None, **grid: Sequence[Any]
    ) -> SuiteTable:
        """The table of one metric with an option at several values: `sensitivity("cce", tau=[0.1, 0.9])`.

        What the store does not have yet is computed, on the same series.
        """
        if len(grid) != 1:
            raise InvalidParameterError("sensitivity needs one option with a list of values, e.g. tau=[0.1, 0.5, 0.9]")
        ((option, values),) = grid.items()
        chosen = [parse_metric(metric_text(metric)).with_options(**{option: value}) for value in values]
        return self._with_metrics(chosen, tasks=tasks).table(order="given")

    def explain(self, metric: AnyMetric, *, rankings: int = 5) -> Explanation:
        """Why a metric ranks models wrongly: on which tasks and noise, and how many pairs it ties or reverses.

        Examples
        --------
        >>> import numpy as np
        >>> import tsadeval as te
        >>> def alarms(y_true, y_score):
        ...     "Precision of the points above the 99 % quantile."
        ...     above = y_score > np.quantile(y_score, 0.99)
        ...     return y_true[above].mean() if above.any() else 0.0
        >>> result = te.rankeval.run("quick", [alarms, "auc_roc"], tasks=["AccQ"])
        >>> why = result.explain(alarms)
        >>> why.totals["reversed"] < why.totals["tied"]
        True
        """
        check_parameters("explain", {"rankings": Number(1, integer=True)}, {"rankings": rankings})
        known = {str(m): m for m in self.plan.metrics}
        chosen = known[find_metric(metric, list(known))]
        table = self.table()
        where = place_words(table.places[str(chosen)], len(table), whole=table.whole[str(chosen)])
        return explain(self, chosen, table[chosen], where, table.counts[str(chosen)], rankings)


def _average(rows: Sequence[Row]) -> tuple[float, float]:
    """What the rows of one metric are sorted by: average Spearman, then Kendall, over all sigmas."""
    found = [
        mean_of_known([r["value"] for r in rows if r["task"] == AVERAGE and r["indicator"] == i]) for i in SORTED_BY
    ]
    first, second = (-math.inf if math.isnan(value) else round(value, DIGITS) for value in found)
    return first, second


def _row(metric: str, task: str, sigma: float | None, indicator: str, drawn: Floats, facts: Row) -> Row:
    found = Estimate.of(drawn)
    named = {"metric": metric, "task": task, "sigma": sigma, "indicator": indicator}
    return {**named, "value": found.value, "low": found.low, "high": found.high, **facts}
