"""Results of comparing detectors: values by series, detector and metric."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tsadeval.comparison import description, inference
from tsadeval.comparison.detector_table import (
    PRINTED,
    DetectorTable,
    Style,
    Values,
    random_errors,
    series_tabular,
    stacked,
    wrapped,
)
from tsadeval.comparison.inference import Groups, SeriesFacts, dataset_of, group_of
from tsadeval.comparison.standings import choice_table, fill_worst, find_flaws, find_standing
from tsadeval.comparison.statistics import CHECKS
from tsadeval.core.events import Bools, Floats
from tsadeval.core.facts import Flaw, finite_mean, grouped
from tsadeval.core.messages import (
    BASELINES,
    Odd,
    below_random,
    comparison_remarks,
    failed_lines,
    flaw_remarks,
    print_note,
)
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.names import check_known
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.core.results import Grid, Result, ResultTable, Row, lines_of
from tsadeval.core.selection import AnyMetric, find_metric
from tsadeval.core.setting import Missing
from tsadeval.datasets import DATASETS
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.evaluation.many import Pool, Rules, warn_unpooled
from tsadeval.metrics.criteria import AnyCriterion, find_criterion
from tsadeval.scores.scores import Scores
from tsadeval.thresholds.pages import alarms_of, by_kind, judged, prices_of

Run = tuple[str, str, Any, Any]


class Made(NamedTuple):
    """By which metrics and which rule a comparison was made."""

    metrics: tuple[Metric, ...]
    rule: Rule
    rules: Rules | None = None  # by detector where each has its own

    def rule_of(self, detector: str) -> Rule:
        """Return the rule of a detector."""
        return self.rules[detector] if isinstance(self.rules, Mapping) else self.rule


# Rules whose orders `robustness` looks at by default.
RULES = ("best", "best(f1)", "quantile(0.95)", "quantile(0.99)", "sigma(3)")
# With more series than this, a comparison prints averages instead of every series.
MANY = 12


class Comparison(Result):
    """Values of detectors on series: a row per series, detector and metric (and seed, where there are several).

    Attributes
    ----------
    series, detectors, metrics : list of str
        In the order of their first row.
    source : Scores or None
        What was compared.
    baseline : Comparison or None
        The values of random and perfect scores and of one-liners, with `te.compare(..., baseline=True)`.
    """

    def __init__(
        self,
        rows: list[Row],
        *,
        source: Scores | None = None,
        made: Made,
        titles: Mapping[str, str] | None = None,
        facts: Mapping[str, SeriesFacts] | None = None,
        odd: Odd | None = None,
        baseline: "Comparison | None" = None,
    ) -> None:
        super().__init__(rows)
        self.baseline = baseline
        self.source = source
        self.made = made
        self._odd = dict(odd or {})
        self.missing: Missing = "skip" if source is None else source.missing
        self.series = list(dict.fromkeys(row["series"] for row in rows))
        self.detectors = list(dict.fromkeys(row["detector"] for row in rows))
        self.metrics = list(dict.fromkeys(row["metric"] for row in rows))
        self.titles = titles or {name: name for name in self.detectors}  # as tables show them
        self._lower = {str(metric) for metric in made.metrics if metric.direction == "lower"}
        self._facts = dict(facts or {})

    def __getstate__(self) -> dict[str, Any]:
        # A user's function need not pickle; without it a page is made with metrics that are named anew.
        own = tuple(metric for metric in self.made.metrics if metric.library)
        return {**self.__dict__, "made": self.made._replace(metrics=own)}

    def scorings(self) -> Iterator[Run]:
        """(series, detector, y_true, y_score) of everything that was compared."""
        for one in self.source or ():
            yield one.series, one.detector, one.given.y_true, one.given.y_score

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write a page about what was compared: `te.report` of it, with the same numbers. Options as there."""
        import tsadeval

        return tsadeval.report(self, path, **options)

    @cached_property
    def _values(self) -> dict[str, Floats]:
        """The values of each metric, series by detectors; of several seeds the mean, NaN where there is none."""
        found = grouped(((row["series"], row["detector"], row["metric"]), row["value"]) for row in self.rows)
        tables = {
            m: np.array([[finite_mean(found.get((s, d, m), ())) for d in self.detectors] for s in self.series])
            for m in self.metrics
        }
        return (
            fill_worst(tables, self.rows, self.series, self.detectors, self._lower)
            if self.missing == "worst"
            else tables
        )

    @cached_property
    def _standing(self) -> tuple[Bools, dict[str, Floats]]:
        return find_standing(self.rows, self.series, self.detectors, self.metrics, self._odd)

    def flaws(self, metric: str, series: Sequence[int]) -> list[Flaw | None]:
        """Return why detectors are never first by a metric in a table of some series; None where they can be."""
        chance, alarms = self._standing
        return find_flaws(self._values[metric][series], chance, alarms[metric][series])

    def _named(self, metric: AnyMetric | None) -> list[str]:
        """Find the metrics that are meant: one, or all, of which the first is the one by default."""
        return self.metrics if metric is None else [find_metric(metric, self.metrics, "this comparison")]

    def _better(self, metric: AnyMetric | None = None) -> dict[str, Floats]:
        """Return the values of one metric or of all, series by detectors, the larger the better."""
        return {m: -self._values[m] if m in self._lower else self._values[m] for m in self._named(metric)}

    def values(self, metric: AnyMetric) -> Floats:
        """Return the values of a metric: a row per series, a column per detector, NaN where there is none."""
        return self._values[self._named(metric)[0]].copy()

    def ranks(self, metric: AnyMetric | None = None, *, alpha: float = 0.05, random_state: int = 0) -> ResultTable:
        """Mean ranks with 95 % bootstrap intervals over series, and groups that were not told apart (Wilcoxon-Holm).

        Of one metric or of all. Ranks stand on the series on which every detector has a value.
        """
        return inference.rank_table(self._better(metric), self.names, alpha, random_state)

    def significance(
        self,
        metric: AnyMetric | None = None,
        *,
        test: Literal["wilcoxon-holm", "nemenyi", "bayes"] = "wilcoxon-holm",
        alpha: float = 0.05,
        rope: float = 0.01,
        random_state: int = 0,
    ) -> ResultTable:
        """Test the difference of every two detectors: its significance, its size and the number of series.

        `test` is Wilcoxon's signed-rank test with Holm's correction, Nemenyi's test, or the Bayesian signed-rank test
        with differences on series (not their mean) of at most `rope` as practically equivalent.
        """
        better = self._better(metric)
        return inference.significance_table(better, self.names, self._lower, test, alpha, rope, random_state)

    def above_random(self, metric: AnyMetric | None = None, *, alpha: float = 0.05) -> ResultTable:
        """Test each detector against the same scores in random order, by one metric or by all.

        Wilcoxon's signed-rank test over series, with Holm's correction for the number of detectors. Needs
        `te.compare(..., baseline=True)`.
        """
        if self.baseline is None:
            raise InvalidInputError("there is no baseline: take te.compare(..., baseline=True)")
        drawn = grouped(((row["series"], row["detector"], row["metric"]), row.get("random")) for row in self.rows)
        found = {}
        for name, better in self._better(metric).items():
            random = [[drawn.get((s, d, name), [None])[0] for d in self.detectors] for s in self.series]
            found[name] = better, np.array(random, np.float64) * (-1 if name in self._lower else 1)
        return inference.random_table(found, self.names, alpha)

    def robustness(self, thresholds: Sequence[str | float | Rule] = RULES, *, n_jobs: int | None = None) -> ResultTable:
        """Order the detectors by every metric under several threshold rules: who is first, and how orders agree.

        A row per metric and rule (metrics of scores have one); `agreement` is the Spearman correlation of the mean
        ranks between every two of them, in the order of `orders`. What was compared is evaluated once for each rule.
        """
        from tsadeval.comparison.compare import orders_under

        if self.source is None:
            raise InvalidInputError("there are no scores here to judge again: take robustness() of te.compare of them")
        return inference.robustness_table(orders_under(self, thresholds, n_jobs), self.names)

    def disagreement(self) -> ResultTable:
        """Where metrics name different winners: which, and on which series."""
        return inference.disagreement_table(self._better(), self.series, self.names, self.flaws)

    def choice(self, criterion: AnyCriterion = "events") -> ResultTable:
        """Return the detector that each metric chooses, what it is worth by a criterion, and whether metrics matter.

        The criterion is one of the suite "selection" (see `te.rankeval.run`): "events" (found at one look per 10,000
        points), "early", "costs", "points" or "rare", your costs ("costs(missed=50)"), or a function (scoring, alarms).
        `worth` is the mean over the series, at each detector's best threshold, `lost` what the best detector is worth
        more; `stake` is the spread of `worth`, and `labels` what choosing by the criterion itself on half of the series
        loses on the other.

        >>> import numpy as np
        >>> import tsadeval as te
        >>> rng, y = np.random.default_rng(0), np.arange(300) // 10 % 10 == 4
        >>> runs = [(f"s{i}", d, y, rng.random(300) + up * y) for i in range(8) for d, up in (("a", 0.5), ("b", 0.9))]
        >>> te.compare(runs, metrics=["auc_pr", "f1_pa"]).choice("points").detector
        'b'
        """
        better = self._better()
        return choice_table(better, self.series, self.detectors, self.source or (), find_criterion(criterion))

    def differences(self, detector: str, rival: str, metric: AnyMetric | None = None) -> ResultTable:
        """One detector against another by one metric (the first by default), series by series."""
        name, better = next(iter(self._better(metric).items()))
        lower = name in self._lower
        return inference.difference_table(better, name, lower, self.series, self.names, detector, rival)

    def by_category(
        self, metric: AnyMetric | None = None, *, kinds: Sequence[str] | None = None, groups: Groups | None = None
    ) -> ResultTable:
        """Average one metric (the first by default) by data set and by what the labels say of the series.

        `groups` (a mapping from series, or a function of their names) adds groups of your own; `kinds` are some of
        "group", "data set", "number of events", "length of events" and "kind of anomaly".
        """
        name = self._named(metric)[0]
        lower, facts = name in self._lower, self._facts
        return inference.category_table(self._values[name], name, lower, self.series, self.names, facts, kinds, groups)

    def describe(
        self, metric: AnyMetric | None = None, *, alpha: float = 0.05, latex: bool = False, random_state: int = 0
    ) -> str:
        """Say in a paragraph what one metric (the first by default) shows, with tests, sizes, and what does not follow.

        Marks such as [holm1979simple] name the entries of `cite()`; with `latex` they are \\cite commands.
        """
        text = description.describe(self, metric, alpha, random_state)
        return description.as_latex(text) if latex else text

    def cite(self) -> str:
        """Return the references of all metrics, threshold rules, tests and data sets that were used, as BibTeX.

        Entries have what the records of the library say, and nothing else; those of data sets need the package url.
        """
        return description.bibtex(self)

    @property
    def datasets(self) -> list[str]:
        """The data sets of this package to which series belong."""
        return [name for name in dict.fromkeys(map(dataset_of, self.series)) if name in DATASETS]

    def by_kind(self, column: str = "kind", *, cost: AnyMetric = "expected_cost") -> Result:
        """Recall, delay (in minutes, or points) and cost of the events by a column of their incidents, by detector.

        At the thresholds of event recall; `cost` has the prices, of which false alarms, which have no kind, are no
        part.
        """
        made = ((one, alarms_of(one.scoring, self.made.rule_of(one.detector))) for one in self.source or ())
        rows = [row for one, alarms in made for row in judged(one, alarms).rows]
        return by_kind(rows, column, prices_of(cost), ("detector",))

    @property
    def names(self) -> list[str]:
        """The detectors as tables call them."""
        return [self.titles[d] for d in self.detectors]

    @cached_property
    def _micro(self) -> Values:
        """All points of all series pooled, by detector."""
        pools: dict[str, Pool] = {}
        for one in self.source or ():
            pool = pools.setdefault(one.detector, Pool(self.made.metrics, self.made.rule_of(one.detector)))
            pool.add(one.scoring, one.given.y_score)
        return {detector: pool.values() for detector, pool in pools.items()}

    def table(self, series: str | None = None, *, percent: bool = False) -> DetectorTable:
        """Detectors by metrics on one series; with one series only, it need not be named."""
        if series is None and len(self.series) > 1:
            raise InvalidParameterError(
                f"there are {len(self.series)} series: name one, such as {self.series[0]!r}, or take average()"
            )
        name = self.series[0] if series is None else series
        check_known(name, self.series, "series", "this comparison")
        return self._table(name, {name: [name]}, percent)

    def average(
        self,
        how: Literal["macro", "micro"] = "macro",
        *,
        groups: Groups | Literal["dataset"] | None = None,
        percent: bool = False,
        interval: float | None = None,
    ) -> DetectorTable:
        """Return detectors by metrics over all series.

        *Macro* is the mean over series, as far as values are defined. With `groups` (a function of the names of
        series, or a mapping from them) it is the mean over groups of the mean over their series; "dataset" takes the
        data sets of this package as groups ("smd/2-1" belongs to "smd"). *Micro* pools all points of all series, where
        that has a meaning for the metric (see `evaluate_many`).

        `interval`, such as 0.95, adds bootstrap intervals over series to macro averages without groups, as columns
        `low` and `high` of the rows and in the table; over fewer than 5 series there are none.
        """
        checks: dict[str, Check] = {
            "how": OneOf(("macro", "micro")),
            "interval": Number(0, 1, open_low=True, none=True),
        }
        check_parameters("average", checks, {"how": how, "interval": interval})
        if interval is not None and (how == "micro" or groups is not None):
            raise InvalidParameterError(
                "intervals are of macro averages over series: leave out groups= and how='micro'"
            )
        if how == "micro":
            nothing = dict.fromkeys(self.metrics, math.nan)
            values = {d: {**nothing, **self._micro.get(d, {})} for d in self.detectors}
            warn_unpooled(values.values())
            flaws = partial(self.flaws, series=range(len(self.series)))
            about: dict[str, Any] = {"titles": self.titles, "percent": percent, "lower": self._lower, "flaws": flaws}
            return DetectorTable(values, title="micro average", **about)
        judged = {row["series"] for row in self.rows if row["status"] != "missing"}
        count = f"{len(judged)}{f' of {len(self.series)}' * (len(judged) < len(self.series))} series"
        if groups is None:
            return self._table(f"average over {count}", {"": self.series}, percent, interval)
        parts = self._parts(groups)
        known = sum(not judged.isdisjoint(part) for part in parts.values())
        return self._table(f"average over {known} groups of {count}", parts, percent)

    def _parts(self, groups: Groups | Literal["dataset"] | None) -> dict[str, list[str]]:
        """Return the series of each group; without groups every series by itself."""
        by = str if groups is None else dataset_of if groups == "dataset" else groups
        return grouped((group_of(by, series), series) for series in self.series)

    def group(self, name: str, *, percent: bool = False) -> DetectorTable:
        """Detectors by metrics over the series of one data set."""
        return self._table(name, {name: [series for series in self.series if dataset_of(series) == name]}, percent)

    def _table(
        self, title: str, groups: Mapping[str, Sequence[str]], percent: bool, interval: float | None = None
    ) -> DetectorTable:
        """Make the table of the mean over groups of the mean over their series."""
        place = {series: i for i, series in enumerate(self.series)}
        rows = [[place[series] for series in group] for group in groups.values()]

        def mean(detector: int, metric: str) -> float:
            return finite_mean([finite_mean(self._values[metric][some, detector].tolist()) for some in rows])

        beside: Values = {}
        if self.baseline is not None:
            known = {g: [s for s in some if s in self.baseline.series] for g, some in groups.items()}
            beside = {
                "random": {},
                "random ±": random_errors(self.baseline.rows, known.values(), self.metrics),
                **self.baseline._table(title, known, percent),
            }

        return DetectorTable(
            {d: {m: mean(j, m) for m in self.metrics} for j, d in enumerate(self.detectors)},
            title=title,
            titles=self.titles,
            percent=percent,
            lower=self._lower,
            by_series=lambda metric: self._better(metric)[metric][list(chain(*rows))],
            flaws=partial(self.flaws, series=list(chain(*rows))),
            remarks=lambda: self.remarks({series for group in groups.values() for series in group}, labels=True),
            beside=beside,
            interval=interval,
        )

    def tables(self, *, percent: bool = False) -> list[DetectorTable]:
        """Return the tables that are printed: every series, and the average where there are several.

        Of many series, every data set instead; where each series is a data set of its own, the average alone.
        """
        parts = {name: [name] for name in self.series}
        if len(self.series) > MANY:
            parts = grouped((dataset_of(name), name) for name in self.series)
            parts = parts if len(parts) < len(self.series) else {}
        shown = [self._table(name, {name: some}, percent) for name, some in parts.items()]
        return shown if len(shown) == 1 else [*shown, self.average(percent=percent)]

    def to_latex(
        self,
        *,
        layout: Literal["tables", "metrics", "series"] = "tables",
        metric: AnyMetric | None = None,
        groups: Groups | Literal["dataset"] | None = None,
        spread: bool | float = False,
        percent: bool = False,
        digits: int | None = None,
        alpha: float = 0.05,
        caption: str = "",
        label: str = "",
        notes: bool = False,
    ) -> str:
        """Write a tabular (booktabs) with the best values in bold and the second best underlined.

        "tables" has the tables that are printed under each other. "metrics" has a row per detector and a column per
        metric, averaged over series, and "series" a row per series and a column per detector, of one metric. With
        `groups`, as for `average`, groups take the place of series in all of them. In averages over several series a
        dagger marks all detectors that are not significantly different from the one in bold, itself included, by
        Wilcoxon-Holm tests over these series at level `alpha`. `spread` adds the standard deviation over series
        ("metrics", "series"), or, where it is a level such as 0.95, bootstrap intervals below the values ("metrics",
        without `groups`). Comments under the tabular say what the marks mean, whether there are too few series for any
        difference to be significant, how thresholds were chosen and what is missing. `caption` and `label` (LaTeX, as
        they are) put the tabular into a `table` float (`table*` where it is wide), whose caption ends with a sentence
        about the marks; `notes` does so too, with a sentence about the numbers under the tabular.
        """
        checks: dict[str, Check] = {**CHECKS, "layout": OneOf(("tables", "metrics", "series"))}
        check_parameters("to_latex", checks, {"layout": layout, "alpha": alpha})
        if not isinstance(spread, bool) and layout != "metrics":
            raise InvalidParameterError("intervals are of averages: with a level as spread=, take layout='metrics'")
        style, names, among = Style(percent, digits, spread is True, alpha), self.metrics, "column"
        average = self.average(groups=groups, percent=percent, interval=None if isinstance(spread, bool) else spread)
        parts = [self._table(name, {name: some}, percent) for name, some in self._parts(groups).items()]
        if layout == "series":
            names, among, average.title = self._named(metric)[:1], "row", "average"
            found = series_tabular(names[0], [*parts, average], style)
        elif layout == "metrics":
            average.title = ""
            found = stacked([average], style)
        elif groups is not None:
            found = stacked([*parts, average], style._replace(spread=False))
        else:
            found = stacked(self.tables(percent=percent), style._replace(spread=False, places=PRINTED))
        remarks = [*average._notes(), *self.remarks(metrics=names, labels=True)]
        said = [
            print_note(*description.about(self, None, names, labels=True), self.titles, self.missing),
            *[BASELINES] * (self.baseline is not None and layout != "series"),
            *average._notes(),
        ]
        note = "; ".join(filter(None, said)) if notes else None
        return wrapped(*found, alpha, remarks, caption=caption, label=label, note=note, among=among)

    def to_text(self, *, percent: bool = False) -> str:
        """Return the tables as text, as they are printed."""
        texts = [repr(table) for table in self.tables(percent=percent)]
        return "\n\n".join(filter(None, [*texts, lines_of(Comparison._notes(self))]))

    def _grids(self) -> list[tuple[str, Grid]]:
        return [("", table._grid()) for table in self.tables()]

    def _notes(self) -> list[str]:
        """Say what the marks in the tables mean, how thresholds were chosen, and what is missing."""
        several = len(self.detectors) > 1
        never = any(any(self.flaws(metric, [i])) for metric in self.metrics for i in range(len(self.series)))
        notes = ["* first in its column" + "; ! never first" * never] * several + self.remarks()
        if self.baseline is not None:
            notes += [BASELINES, *(below_random(self.above_random().rows) if len(self.series) > 1 else ())]
        if len(self.series) > MANY:
            notes.append(
                f"{len(self.series)} series: table(name) has one of them, to_frame() and --format csv have all values"
            )
        return notes

    def remarks(
        self, series: Collection[str] | None = None, metrics: Sequence[str] | None = None, *, labels: bool = False
    ) -> list[str]:
        """How thresholds were chosen, what is missing, and which averages stand on fewer series than the others.

        Of all series and metrics, or of some; with `labels`, metrics are called as LaTeX calls them.
        """
        rows, called, lower, flaws = description.about(self, series, metrics, labels)
        notes = [f"lower is better: {', '.join(lower)}"] if lower else []
        notes += flaw_remarks(flaws, self.names)
        notes += comparison_remarks(rows, list(called.values()), self.titles, self.missing, self._odd)
        return notes + self._failed(rows)

    def _failed(self, rows: list[Row]) -> list[str]:
        """Say which metrics raised; a subclass may say it elsewhere."""
        return failed_lines(rows)
