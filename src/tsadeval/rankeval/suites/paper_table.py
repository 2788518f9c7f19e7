"""Results of a run of the paper's suites, as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tsadeval.comparison.statistics import Estimate, mean_of_known
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.parameters import Number, OneOf, check_parameters
from tsadeval.core.results import Grid, MappingResult, Row, latex_text
from tsadeval.core.selection import AnyMetric, ByMetric, find_metric, metric_text
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidParameterError
from tsadeval.rankeval.quality import INDICATORS, Ties
from tsadeval.rankeval.suite import DIGITS, StoredResult, failure, last_plan, place_cell, place_words, places_of
from tsadeval.rankeval.suites.paper import LAYOUT, Cell, Plan
from tsadeval.rankeval.suites.paper_explanation import RankingExplanation, explain
from tsadeval.rankeval.suites.paper_rankings import Rankings

# What a table's numbers are averages over: for each group its sigma (None for all) and the places of its sigmas.
Groups = dict[float | None, list[int]]

AVERAGE = "average"
SORTED_BY = ("spearman", "kendall")
Order = Literal["quality", "given"]
MARKS = {"best": "*", "second": "+", "": " "}


class QualityTable(MappingResult):
    """Ranking quality: a row per metric, task and indicator; as a mapping, metric to average Spearman.

    Of each row: `value` with its interval `low`, `high`; `mark` is "best" for the best metric and for all whose
    interval overlaps its, "second" likewise for the best of the rest; `rankings` is the number of rankings
    it is based on, `of` how many there should be, `ties` the share of pairs of models that got the same value. Metrics
    are sorted by average Spearman, the best first, unless the given order was asked for; `places` has their places.
    A mark says which metrics are not told apart from the best (or second best): a metric at a low place whose interval
    is wide may have one that a metric at a higher place, with a narrow interval, has not.
    """

    def __init__(
        self,
        rows: list[Row],
        counts: dict[str, dict[str, Any]],
        about: str,
        column: str = "task",
        order: Order = "quality",
    ) -> None:
        super().__init__(rows)
        self.order = order
        self.counts = ByMetric(counts)
        self.about = about
        self._column = column

    def _items(self) -> dict[str, float]:
        return {row["metric"]: float(row["value"]) for row in self.rows if _is_average(row)}

    @property
    def places(self) -> dict[str, int | None]:
        """The place of each metric by average Spearman, 1 for the best, None for NaN; equal ones share a place."""
        if self._column == "task":
            values = {row["metric"]: row["value"] for row in self.rows if _is_average(row)}
        else:  # one average at each sigma
            values = {
                name: mean_of_known([r["value"] for r in self.rows if _is_average(r) and r["metric"] == name])
                for name in self
            }
        whole = self.whole
        places = places_of(list(values.values()), [whole[name] for name in values])
        return ByMetric(zip(values, places, strict=True))

    @property
    def whole(self) -> dict[str, bool]:
        """Whether each metric has a value for every model. One that has not is judged on easier ground: it is not
        placed, its place is the one it would have, and it moves no other down."""
        found = ByMetric[bool]()
        for row in self.rows:
            found[row["metric"]] = found.get(row["metric"], True) and row["rankings"] == row["of"]
        return found

    def _columns(self) -> list[Any]:
        return list(dict.fromkeys(row[self._column] for row in self.rows))

    def _block(self, indicator: str) -> dict[str, dict[Any, Row]]:
        block: dict[str, dict[Any, Row]] = {}
        for row in self.rows:
            if row["indicator"] == indicator and (self._column == "task" or row["task"] == AVERAGE):
                block.setdefault(row["metric"], {})[row[self._column]] = row
        return block

    def _grid(self) -> Grid:
        """A row per metric; the three indicators of every task (or other column), as numbers."""
        head = ["metric", *(f"{c} {short}" for c in self._columns() for short, _ in INDICATORS.values())]
        blocks = [self._block(indicator) for indicator in INDICATORS]
        body = [[name, *(b[name][c]["value"] for c in self._columns() for b in blocks)] for name in self]
        return [head, *body]

    def to_latex(self, *, digits: int = 3) -> str:
        """The paper's layout: best in bold, second best underlined (booktabs)."""
        head = ["Task", "Score", *(latex_text(name) for name in self)]
        lines = [" & ".join(head) + r" \\", r"\midrule"]
        for column in self._columns():
            for indicator, (short, _) in INDICATORS.items():
                rows = [self._block(indicator)[name][column] for name in self]
                lines.append(" & ".join([str(column), short, *(_latex(row, digits) for row in rows)]) + r" \\")
            lines.append(r"\midrule")
        spec = "ll" + "r" * len(self)
        return "\n".join([rf"\begin{{tabular}}{{{spec}}}", r"\toprule", *lines[:-1], r"\bottomrule", r"\end{tabular}"])

    def _grids(self) -> list[tuple[str, Grid]]:
        """A table per indicator, and one of the counts that the numbers are based on."""
        found: list[tuple[str, Grid]] = []
        places, whole = self.places, self.whole
        for indicator, (_, higher) in INDICATORS.items():
            block, columns = self._block(indicator), self._columns()
            first = indicator == "spearman" and self.order == "quality"  # by which the metrics are sorted
            lines: Grid = [["metric", *(["place"] if first else []), *map(str, columns)]]
            for name in self:
                cells = [_text(block[name][column], block[name][column]["task"] == AVERAGE) for column in columns]
                place = [place_cell(places[name], whole[name])] if first else []
                lines.append([name, *place, *cells])
            words = indicator if indicator != "deviation" else "mean rank deviation"
            found.append((f"{words} ({'higher' if higher else 'lower'} is better)", lines))
        return [*found, ("", self._counts())]

    def _lead(self) -> str:
        return self.about

    def _notes(self) -> list[str]:
        places, whole = self.places, self.whole
        own = [name for name in self if self.counts[name]["own"] and len(self) > 1 and places[name] is not None]
        notes = [
            f"{name}: {place_words(places[name], len(self), whole=whole[name])}, by average Spearman" for name in own
        ]
        for name, found in self.counts.items():
            words, count = ("failed", found["errors"]) if found["errors"] else ("is undefined", found["undefined"])
            if found["errors"] or (count and places[name] is None):
                notes.append(failure(name, words, count, found["message"]))
            if not whole[name] and places[name] is not None:
                notes.append(f"{name} {self._gaps(name)}")
        words = "no alarms: series on which the threshold rule raised none"
        if any(found["empty"] is None for found in self.counts.values()):
            words += "; - for a metric of scores, whose own threshold, if it has one, is not known here"
        tied = (
            "tied pairs: models of different quality that got the same value, so it orders them by chance; "
            "mean over tasks"
        )
        return [*notes, words, tied]

    def _gaps(self, name: str) -> str:
        """What it means that some rankings of a metric do not count."""
        mine = [row for row in self.rows if row["metric"] == name]
        tasks = [row["task"] for row in mine if row["rankings"] < row["of"]]
        have, of = (sum(row[key] for row in mine if _is_average(row)) for key in ("rankings", "of"))
        names = ", ".join(task for task in dict.fromkeys(tasks) if task != AVERAGE)
        return f"is averaged over {have} of {of} rankings (values are missing on {names}), so it is not placed"

    def _counts(self) -> Grid:
        """The counts that the numbers are based on."""
        head = ["metric", "values", "planned", "undefined", "errors", "no alarms", "tied pairs"]
        block = self._block("spearman")
        lines: Grid = [head]
        for name in self:
            found = self.counts[name]
            empty = "-" if found["empty"] is None else f"{100 * found['empty']:.1f} %"
            ties = np.mean([row["ties"] for row in block[name].values()])
            numbers = [found[key] for key in ("values", "planned", "undefined", "errors")]
            lines.append([name, *numbers, empty, "-" if math.isnan(ties) else f"{100 * ties:.1f} %"])
        return lines


def _text(row: Row, interval: bool) -> str:
    text = f"{row['value']:6.3f}{MARKS[row['mark']]}"
    return f"{text} [{row['low']:.3f}, {row['high']:.3f}]" if interval and not math.isnan(row["low"]) else text


def _latex(row: Row, digits: int) -> str:
    text = latex_text(float(row["value"]), digits)
    wrap = {"best": r"\textbf{%s}", "second": r"\underline{%s}", "": "%s"}
    return wrap[row["mark"]] % text


def _mark(rows: Sequence[Row], higher: bool) -> None:
    """Name the best and second best; those whose intervals overlap are not called different."""
    left = [row for row in rows if not math.isnan(row["value"])]
    for mark in ("best", "second"):
        if not left:
            return
        top = max(left, key=lambda row: row["value"] if higher else -row["value"])
        reach = Estimate(top["value"], top["low"], top["high"])
        equal = [row for row in left if reach.overlaps(Estimate(row["value"], row["low"], row["high"]))]
        for row in equal:
            row["mark"] = mark
        left = [row for row in left if row["mark"] == ""]


def _is_average(row: Row) -> bool:
    return bool(row["task"] == AVERAGE and row["indicator"] == "spearman")


class RankEvalResult(StoredResult):
    """Values of metrics on models of known order: a row per value. Prints as its table of ranking quality."""

    def __init__(
        self, plan: Plan, store: Store[Cell], *, n_jobs: int | None = None, data: str | Path | None = None
    ) -> None:
        self.plan = plan
        self.store = store
        self._n_jobs = n_jobs
        self._data = data
        super().__init__(store.frame(plan.cells()))
        self._rankings = Rankings(plan, self._frame)

    def to_latex(self, *, digits: int = 3) -> str:
        """The table of ranking quality in the paper's layout (booktabs)."""
        return self.table().to_latex(digits=digits)

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
            f"RankEval, suite {self.plan.suite.name}: {cases} case{'s' * (cases != 1)}, "
            f"{repeats} repeat{'s' * (repeats != 1)}{how}\n"
            f"{marks}"
        )

    def table(self, *, ties: Ties = "average", order: Order = "quality") -> QualityTable:
        """Spearman, Kendall and mean rank deviation per task and on average, over all sigmas.

        Parameters
        ----------
        ties : {"average", "published"}
            How equal values are ranked.
        order : {"quality", "given"}
            The best metric by average Spearman first, or the metrics as they were given to the run.
        """
        return self._quality(ties, order, {None: list(range(len(self.plan.suite.sigmas)))})

    def robustness(self, *, ties: Ties = "average", order: Order = "quality") -> QualityTable:
        """The same at each sigma."""
        groups: Groups = {sigma: [i] for i, sigma in enumerate(self.plan.suite.sigmas)}
        return self._quality(ties, order, groups, column="sigma")

    def _quality(self, ties: Ties, order: Order, groups: Groups, column: str = "task") -> QualityTable:
        check_parameters("table", {"order": OneOf(("quality", "given"))}, {"order": order})
        of_metrics = [self._rows_of(metric, ties, groups) for metric in self.plan.metrics]
        if order == "quality":
            of_metrics.sort(key=_average, reverse=True)
        rows = [row for some in of_metrics for row in some]
        for row in rows:
            row["mark"] = ""
        for key in dict.fromkeys((row["task"], row["sigma"], row["indicator"]) for row in rows):
            alike = [row for row in rows if (row["task"], row["sigma"], row["indicator"]) == key]
            _mark(alike, INDICATORS[key[2]][1])
        counts = {str(m): self._rankings.counts(m) for m in self.plan.metrics}
        return QualityTable(rows, counts, self._about(ties), column, order)

    def _rows_of(self, metric: Metric, ties: Ties, groups: Groups) -> list[Row]:
        rows: list[Row] = []
        averages: dict[tuple[str, float | None], list[tuple[Floats, Row]]] = {}
        for task in self.plan.chosen_tasks:
            quality = self._rankings.quality(metric, task, ties)
            for indicator in INDICATORS:
                drawn = self._rankings.by_sigma(getattr(quality, indicator))
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
    ) -> QualityTable:
        """The table of one metric with an option at several values: `sensitivity("cce", tau=[0.1, 0.9])`.

        What the store does not have yet is computed, on the same series.
        """
        from tsadeval.rankeval.run import compute_plan, narrowed

        if len(grid) != 1:
            raise InvalidParameterError("sensitivity needs one option with a list of values, e.g. tau=[0.1, 0.5, 0.9]")
        ((option, values),) = grid.items()
        chosen = [parse_metric(metric_text(metric)).with_options(**{option: value}) for value in values]
        plan = narrowed(replace(self.plan, metrics=tuple(chosen)), tasks)
        compute_plan(plan, self.store, n_jobs=self._n_jobs, data=self._data)
        return RankEvalResult(plan, self.store).table(order="given")

    def explain(self, metric: AnyMetric, *, rankings: int = 5) -> RankingExplanation:
        """Why a metric ranks models wrongly: on which tasks and noise, and how many pairs it ties or reverses.

        Parameters
        ----------
        metric : str, function or Metric
            As it was given to the run, or as it stands in the table.
        rankings : int, default=5
            How many of the worst rankings are printed; `rows` has all.

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
        return explain(self._rankings, chosen, table[chosen], where, table.counts[str(chosen)], rankings)


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


def read_rankings(folder: str | Path, suite: str | None = None) -> RankEvalResult:
    """The last run (of a suite) in a store, as far as it got, with all metrics tried on the same series."""
    store = Store.existing(folder, LAYOUT)
    plans = [Plan.of_record(p) for p in store.plans() if suite is None or p["suite"] == suite]
    if not plans:
        raise InvalidParameterError(f"{folder} has no run of {suite or 'any suite'}")
    return RankEvalResult(last_plan(plans), store)
