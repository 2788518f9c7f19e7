"""Rankings of a run of the paper's suites: quality with intervals, robustness, latency, sensitivity; their table."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from tsadeval.comparison.detector_table import tabular
from tsadeval.comparison.statistics import Estimate, resample
from tsadeval.core.facts import finite_mean, grouped
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric, metric_labels, parse_metric
from tsadeval.core.parameters import Number, OneOf, check_parameters
from tsadeval.core.results import Grid, MappingResult, Row, latex_text
from tsadeval.core.selection import AnyMetric, ByMetric, metric_text
from tsadeval.errors import InvalidParameterError, hint
from tsadeval.rankeval import suite
from tsadeval.rankeval.quality import CHECKS, INDICATORS, Quality, Ties, Undefined, ranking_quality
from tsadeval.rankeval.series import GENERATORS
from tsadeval.rankeval.suites.paper_explanation import explain

if TYPE_CHECKING:
    import pandas as pd

    from tsadeval.rankeval.suites.paper import PaperSuite, Task

AVERAGE = "average"
Order = Literal["quality", "given"]
TIED = "tied pairs: models of different quality that got the same value, so it orders them by chance; mean over tasks"
MARKS = {"best": "*", "second": "+", "": " "}

# Metrics whose published code has no value for a series without alarms, where ours is 0, and what becomes of such
# models in the published table: eTaPR fails, so that the log lacks the ranking; an affiliation is NaN, sorted last.
SILENT: dict[str, Undefined] = {
    "etapr_f1": "drop rankings",
    "affiliation_f1": "worst",
    "unbiased_affiliation_f1": "worst",
}

# What a table's numbers are averages over: for each group its sigma (None for all) and the places of its sigmas.
Groups = dict[float | None, list[int]]


class Rankings:
    """All values of one plan: ranking quality, robustness, latency, sensitivity, explanations."""

    views: ClassVar[tuple[str, ...]] = ("robustness", "latency", "sensitivity")

    def __init__(self, plan: "PaperSuite", result: suite.SuiteResult) -> None:
        self.plan = plan
        self._frame = result.to_frame()
        self._with_metrics = result.with_metrics
        self._by = dict(list(self._frame.groupby(["metric", "generator"], sort=False)))
        self._weights = resample(len(plan.cases), 2000 if len(plan.cases) > 1 else 0)

    def values(self, metric: Metric, task: "Task", silent: float | None = None) -> Floats:
        """Return means over repeats, of shape (case, sigma, fixed, by); NaN where a repeat is missing or undefined.

        `silent` is what stands for the value of a model without alarms where the published code has none.
        """
        generator = GENERATORS[task.generator]
        axes: dict[str, tuple[Any, ...]] = {
            "case": self.plan.cases,
            "sigma": self.plan.sigmas,
            "q": generator.q,
            "p": generator.p,
            "repeat": tuple(range(self.plan.repeats)),
        }
        rows = self._by.get((str(metric), task.generator), self._frame[:0])
        values = rows["value"]
        if silent is not None and metric.name in SILENT:
            values = values.mask(rows["alarmed_points"] == 0, silent)
        mean = suite.pivot(rows, axes, values)[0].mean(axis=-1)
        return mean if task.by == "p" else np.swapaxes(mean, 2, 3)

    def quality(self, metric: Metric, task: "Task", ties: Ties, undefined: Undefined = "worst") -> Quality:
        """Compute the quality of every ranking, of shape (case, sigma, fixed)."""
        if undefined == "published":
            undefined = SILENT.get(metric.name, "worst")
        worst = -math.inf if ties == "published" else None
        values = self.values(metric, task, worst if undefined == "worst" else math.nan)
        worth = np.array(getattr(GENERATORS[task.generator], task.by), np.float64)
        flat = ranking_quality(
            metric.sign * values.reshape(-1, len(worth)),
            worth if task.better == "higher" else -worth,
            ties=ties,
            drop_models=undefined == "drop models",
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
        about = {"own": not metric.library, "empty": silent if metric.kind == "predictions" else None}
        return {"planned": planned, **suite.count_values(rows), **about}

    def _about(self, ties: Ties, undefined: Undefined) -> str:
        cases = len(self.plan.cases)
        how = ", ties broken as published" * (ties == "published")
        how += f", models without alarms under eTaPR and affiliation: {undefined}" * (undefined != "worst")
        # A mark says what cannot be told apart, so it need not follow the order.
        marks = "each with all whose 95 % intervals over cases overlap its, as a wide one may at a low place"
        return (
            f"{self.plan.title('case', cases, self.plan.repeats)}{how}\n"
            f"* best, + second best, {marks if cases > 1 else 'without intervals, which need two cases'}"
        )

    def table(
        self, *, ties: Ties = "average", undefined: Undefined = "worst", order: Order = "quality"
    ) -> suite.SuiteTable:
        """Return Spearman, Kendall and mean rank deviation per task and on average, over all sigmas."""
        return self._quality(ties, undefined, order, {None: list(range(len(self.plan.sigmas)))}, "task")

    def robustness(
        self, *, ties: Ties = "average", undefined: Undefined = "worst", order: Order = "quality"
    ) -> suite.SuiteTable:
        """Return the same at each sigma."""
        groups: Groups = {sigma: [i] for i, sigma in enumerate(self.plan.sigmas)}
        return self._quality(ties, undefined, order, groups, "sigma")

    def _quality(
        self, ties: Ties, undefined: Undefined, order: Order, groups: Groups, column: Literal["task", "sigma"]
    ) -> suite.SuiteTable:
        check_parameters(
            "table",
            {**CHECKS, "order": OneOf(("quality", "given"))},
            {"ties": ties, "undefined": undefined, "order": order},
        )
        of_metrics = [self._rows_of(metric, ties, undefined, groups) for metric in self.plan.metrics]
        if order == "quality":
            of_metrics.sort(key=_average, reverse=True)
        rows = [row for some in of_metrics for row in some]
        for alike in grouped(((row["task"], row["sigma"], row["indicator"]), row) for row in rows).values():
            mark_best(alike, INDICATORS[alike[0]["indicator"]][1])
        counts = {str(m): self.counts(m) for m in self.plan.metrics}
        notes = [_unlike_the_paper()] * (self.plan.stream == "published" and ties == "average")
        return quality_table(rows, counts, self._about(ties, undefined), column, order, notes)

    def _rows_of(self, metric: Metric, ties: Ties, undefined: Undefined, groups: Groups) -> list[Row]:
        quality = {task: self.quality(metric, task, ties, undefined) for task in self.plan.tasks}
        drawn = {(task, name): self.by_sigma(getattr(quality[task], name)) for task in quality for name in INDICATORS}
        shown = {**{task.name: [task] for task in quality}, AVERAGE: list(quality)}
        rows: list[Row] = []
        for (name, tasks), indicator, (sigma, places) in product(shown.items(), INDICATORS, groups.items()):
            parts = [drawn[task, indicator][:, places].mean(axis=1) for task in tasks]
            tied = [quality[task].ties[:, places] for task in tasks]
            row: Row = {"metric": str(metric), "task": name, "sigma": sigma, "indicator": indicator}
            row |= vars(Estimate.of(np.mean(parts, axis=0)))
            row |= {
                "rankings": sum(int(np.isfinite(part).sum()) for part in tied),
                "of": sum(part.size for part in tied),
            }
            rows.append({**row, "ties": float(np.mean([finite_mean(part.flat) for part in tied])), "mark": ""})
        return rows

    def latency(self, metric: AnyMetric | None = None) -> MappingResult:
        """Milliseconds of each metric's public call; of one metric by generator, length and number of events."""
        frame, keys = measured(self._frame), ["metric"]
        if metric is not None:
            frame = frame[frame["metric"] == str(self.plan.find(metric))]
            keys = ["metric", "generator", "n", "events"]
        groups = (1000 * frame["seconds"]).groupby([frame[key] for key in keys], sort=len(keys) > 1)
        found = groups.agg(["size", "mean"]).join(groups.quantile(np.array([0.05, 0.5, 0.95])).unstack())
        found.columns = ["values", "mean", "5 %", "median", "95 %"]
        found["value"] = found["median"]
        if metric is None:
            found = found.sort_values("value", kind="stable")
        rows: list[Any] = found.reset_index().to_dict("records")
        return MappingResult(rows, shown=[*keys, *found.columns[:-1]])

    def sensitivity(
        self, metric: AnyMetric, *, tasks: Sequence[str] | None = None, **grid: Sequence[Any]
    ) -> suite.SuiteTable:
        """Return the table of one metric with an option at several values: `sensitivity("cce", tau=[0.1, 0.9])`.

        What the store does not have yet is computed, on the same series.
        """
        if len(grid) != 1:
            raise InvalidParameterError("sensitivity needs one option with a list of values, e.g. tau=[0.1, 0.5, 0.9]")
        ((option, values),) = grid.items()
        chosen = [parse_metric(metric_text(metric)).with_options(**{option: value}) for value in values]
        return self._with_metrics(chosen, tasks=tasks).table(order="given")

    def explain(self, metric: AnyMetric, *, rankings: int = 5) -> suite.Explanation:
        """Why a metric ranks models wrongly: on which tasks and noise, and how many pairs it ties or reverses."""
        check_parameters("explain", {"rankings": Number(1, integer=True)}, {"rankings": rankings})
        chosen = self.plan.find(metric)
        table = self.table()
        where = suite.place_words(table.places[str(chosen)], len(table), whole=table.whole[str(chosen)])
        return explain(self, chosen, table[chosen], where, table.counts[str(chosen)], rankings)


def _unlike_the_paper() -> str:
    """Say where a table as the paper's is, because F1 on AccQ is .787 with average ranks and .340 there."""
    how = hint(
        "table(ties='published', undefined='published')", "rankeval table STORE --ties published --undefined published"
    )
    beside = hint("te.reproduce('rank')", "tsadeval reproduce rank")
    return f"equal values have equal ranks here, not so in the paper: {how} is as published, {beside} has both tables"


def measured(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows with a time; where several repeats are one series, it was measured once."""
    series = ["metric", "case", "generator", "q", "p", "sigma", "seconds"]
    return frame[frame["seconds"] > 0].drop_duplicates(series)


def _average(rows: Sequence[Row]) -> tuple[float, float]:
    """Return what the rows of one metric are sorted by: average Spearman, then Kendall, over all sigmas."""
    found = [
        finite_mean([row["value"] for row in rows if row["task"] == AVERAGE and row["indicator"] == indicator])
        for indicator in ("spearman", "kendall")
    ]
    first, second = (-math.inf if math.isnan(value) else round(value, suite.DIGITS) for value in found)
    return first, second


def quality_table(
    rows: list[Row],
    counts: dict[str, Row],
    about: str,
    column: Literal["task", "sigma"],
    order: Order,
    notes: Sequence[str] = (),
) -> suite.SuiteTable:
    """Return the table of ranking quality: a row per metric, task and indicator; as a mapping, to average Spearman.

    Of each row: `value` with its interval `low`, `high`; `mark` is "best" for the best metric and for all whose
    interval overlaps its, "second" likewise for the best of the rest; `rankings` is the number of rankings
    it is based on, `of` how many there should be, `ties` the share of pairs of models that got the same value. Metrics
    are sorted by average Spearman, the best first, unless the given order was asked for; `places` has their places by
    it, None for NaN; equal ones share a place. A mark says which metrics are not told apart from the best (or second
    best): a metric at a low place whose interval is wide may have one that a metric at a higher place, with a narrow
    interval, has not. `whole` says whether a metric has a value for every model. One that has not is judged on easier
    ground: it is not placed, its place is the one it would have, and it moves no other down.
    """
    names = list(dict.fromkeys(row["metric"] for row in rows))
    whole = ByMetric({name: all(r["rankings"] == r["of"] for r in rows if r["metric"] == name) for name in names})
    of_all = (row for row in rows if row["task"] == AVERAGE and row["indicator"] == "spearman")
    averages = grouped((row["metric"], row) for row in of_all)
    means = [finite_mean([row["value"] for row in some]) for some in averages.values()]
    places = ByMetric(zip(names, suite.places_of(means, list(whole.values())), strict=True))
    columns = list(dict.fromkeys(row[column] for row in rows))
    cells = {
        (row["indicator"], row["metric"], row[column]): row
        for row in rows
        if column == "task" or row["task"] == AVERAGE
    }
    grids: list[tuple[str, Grid]] = []
    for indicator, (_, higher) in INDICATORS.items():
        first = indicator == "spearman" and order == "quality"  # by which the metrics are sorted
        heads = {name: [name, *[suite.place_cell(places[name], whole[name])] * first] for name in names}
        body = [[*heads[name], *(_text(cells[indicator, name, one]) for one in columns)] for name in names]
        words = indicator if indicator != "deviation" else "mean rank deviation"
        title = f"{words} ({'higher' if higher else 'lower'} is better)"
        grids.append((title, [["metric", *["place"] * first, *map(str, columns)], *body]))
    ties = {name: float(np.mean([cells["spearman", name, one]["ties"] for one in columns])) for name in names}
    return suite.SuiteTable(
        rows,
        grids=[*grids, ("", _counts(ties, counts))],
        values={name: float(some[-1]["value"]) for name, some in averages.items()},
        latex=partial(_tabular, cells, names, columns),
        lead=about,
        notes=[*_notes(averages, counts, places, whole, rows), *notes],
        counts=ByMetric(counts),
        places=places,
        whole=whole,
        order=order,
    )


def _counts(ties: dict[str, float], counts: dict[str, Row]) -> Grid:
    """Return the counts that the numbers are based on."""
    keys = ("values", "planned", "undefined", "errors")
    lines: Grid = [["metric", *keys, "no alarms", "tied pairs"]]
    for name, share in ties.items():
        found = counts[name]
        empty = "-" if found["empty"] is None else f"{100 * found['empty']:.1f} %"
        lines.append([name, *(found[key] for key in keys), empty, "-" if share != share else f"{100 * share:.1f} %"])
    return lines


def _notes(
    averages: dict[str, list[Row]],
    counts: dict[str, Row],
    places: dict[str, int | None],
    whole: dict[str, bool],
    rows: Sequence[Row],
) -> list[str]:
    notes = [
        f"{name}: {suite.place_words(places[name], len(averages), whole=whole[name])}, by average Spearman"
        for name in averages
        if counts[name]["own"] and len(averages) > 1 and places[name] is not None
    ]
    for name, found in counts.items():
        notes += suite.failures(name, found, places[name])
        if not whole[name] and places[name] is not None:
            have, of = (sum(row[key] for row in averages[name]) for key in ("rankings", "of"))
            gaps = (row["task"] for row in rows if row["metric"] == name and row["rankings"] < row["of"])
            tasks = ", ".join(task for task in dict.fromkeys(gaps) if task != AVERAGE)
            notes.append(
                f"{name} is averaged over {have} of {of} rankings (values are missing on {tasks}), so it is not placed"
            )
    words = "no alarms: series on which the threshold rule raised none"
    if any(found["empty"] is None for found in counts.values()):
        words += "; - for a metric of scores, whose own threshold, if it has one, is not known here"
    return [*notes, words, TIED]


def _tabular(rows: dict[tuple[str, str, Any], Row], names: Sequence[str], columns: Sequence[Any], digits: int) -> str:
    """Return the table in the paper's layout: best in bold, second best underlined (booktabs)."""
    short = {indicator: text for indicator, (text, _) in INDICATORS.items()}
    blocks = [
        [[str(column), short[one], *(_latex(rows[one, name, column], digits) for name in names)] for one in short]
        for column in columns
    ]
    return tabular([[["Task", "Score", *map(latex_text, metric_labels(names).values())]], *blocks], words=2)


def _text(row: Row) -> str:
    """Return a value with its mark, and on average with its interval."""
    text = f"{row['value']:6.3f}{MARKS[row['mark']]}"
    interval = row["task"] == AVERAGE and not math.isnan(row["low"])
    return f"{text} [{row['low']:.3f}, {row['high']:.3f}]" if interval else text


def _latex(row: Row, digits: int) -> str:
    wrap = {"best": r"\textbf{%s}", "second": r"\underline{%s}", "": "%s"}
    return wrap[row["mark"]] % latex_text(float(row["value"]), digits)


def mark_best(rows: Sequence[Row], higher: bool) -> None:
    """Name the best and second best; those whose intervals overlap are not called different."""
    left = [(Estimate(row["value"], row["low"], row["high"]), row) for row in rows if not math.isnan(row["value"])]
    for mark in ("best", "second"):
        top = max((found for found, _ in left), key=lambda found: found.value if higher else -found.value, default=None)
        equal = [row for found, row in left if top is not None and top.overlaps(found)]
        for row in equal:
            row["mark"] = mark
        left = [(found, row) for found, row in left if not row["mark"]]
