"""`te.rankeval.audit`, its results, and its measures: gameability, chance level, agreement, rank flips."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval.comparison import statistics
from tsadeval.comparison.standings import beats_median, best_of, flips, gameability, reaches, winners
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.names import import_object
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.results import NONE, Grid, MappingResult, Result, Row
from tsadeval.core.selection import AnyMetric, Metrics, find_metric
from tsadeval.engine.compute import choose_metrics
from tsadeval.engine.pool import Limits
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import complete
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.rankeval.suite import StoredResult, last_plan, places_of
from tsadeval.rankeval.suites.adversaries import ADVERSARIES, Adversary
from tsadeval.rankeval.suites.audit import DETECTOR, LAYOUT, AuditCell, AuditPlan, SeriesRecord, compute
from tsadeval.rankeval.suites.audit_series import AuditSeries, read_series
from tsadeval.thresholds import parse_rule

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
        self._metrics = {str(m): m for m in plan.metrics}
        self._series = [series.name for series in plan.series]
        self._scorers = [*plan.detectors, *(name for name, *_ in plan.adversaries)]
        axes = {"metric": list(self._metrics), "series": self._series, "detector": self._scorers}
        places = tuple(
            self._frame[column].map({name: i for i, name in enumerate(along)}).to_numpy(np.int64)
            for column, along in axes.items()
        )
        values = np.full([len(along) for along in axes.values()], math.nan)
        values[places] = self._frame["value"]
        there = np.zeros(values.shape, bool)
        there[places] = True
        signs = [1.0 if m.direction == "higher" else -1.0 for m in plan.metrics]
        # Of each metric series by scorers, higher is better; and whether there is a value, if only an undefined one.
        self._values = {name: sign * part for name, sign, part in zip(self._metrics, signs, values, strict=True)}
        self._there = dict(zip(self._metrics, there, strict=True))

    def _named(self, metric: AnyMetric) -> str:
        return find_metric(metric, list(self._metrics), "this audit")

    def values_of(self, metric: AnyMetric) -> dict[str, dict[str, float]]:
        """Values of a metric by series and scorer; higher is better."""
        name = self._named(metric)
        found: dict[str, dict[str, float]] = {}
        for i, j in np.argwhere(self._there[name]).tolist():
            found.setdefault(self._series[i], {})[self._scorers[j]] = float(self._values[name][i, j])
        return found

    def _of(self, metric: str, *kinds: str) -> Floats:
        """Return the finite values of scorers of some kinds, series by scorers; NaN elsewhere."""
        values = self._values[metric][:, [self._scorers.index(name) for name in self.names(*kinds)]]
        return np.where(np.isfinite(values), values, math.nan)

    def _ratios(self, metric: str) -> Floats:
        """Compute the ratio of the best scorer without skill to the best detector on each series.

        It is their difference where the best detector has no positive value, NaN where either is undefined.
        """
        best, other = (best_of(self._of(metric, kind)) for kind in (DETECTOR, "no skill"))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(best > 0, other / best, other - best)

    def _mean_ranks(self, metric: str) -> Floats:
        """Compute the mean rank of each detector over series, 1 for the best; undefined values are last."""
        values = self._of(metric, DETECTOR)
        undefined = self._there[metric][:, : values.shape[1]] & np.isnan(values)
        ordered = np.where(undefined & ~np.isnan(values).all(axis=1, keepdims=True), -math.inf, values)
        return np.array([statistics.mean_of_known(column) for column in statistics.stretched_ranks(ordered).T])

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
        name, ratios = str(metric), self._ratios(str(metric))
        detectors, without = self._of(name, DETECTOR), best_of(self._of(name, "no skill"))
        best, known = best_of(detectors), ~np.isnan(ratios)
        gamed = gameability(best, without)
        random, spread = chance(self._values[name][:, [scorer == RANDOM for scorer in self._scorers]])
        errors = (self._frame["metric"] == str(metric)) & (self._frame["status"] == "error")
        return {
            "metric": str(metric),
            "rule": self.plan.rule_of(metric),
            "value": gamed,
            "gameability": gamed,
            "search": gameability(best, best_of(self._of(name, "no skill", "search"))),
            "one_liners": gameability(best, best_of(self._of(name, "one-liner"))),
            "beats_median": beats_median(detectors, without),
            "random": random if metric.direction == "higher" else -random,
            "random_spread": spread,
            "series": int(known.sum()),
            "worst": self._series[np.nanargmax(ratios)] if known.any() else None,
            "errors": int(errors.sum()),
        }

    def ranks(self) -> MappingResult:
        """Mean rank of every detector under every metric (1 is best), and the share of series on which it wins."""
        rows: list[Row] = []
        for metric in self.plan.metrics:
            wins = winners(self._of(str(metric), DETECTOR))
            shares = [statistics.mean_of_known(column) for column in wins[wins.any(axis=1)].T]
            for name, rank, won in zip(self.names(DETECTOR), self._mean_ranks(str(metric)), shares, strict=True):
                rows.append({"metric": str(metric), "detector": name, "value": float(rank), "wins": won})
        return MappingResult(rows, shown=["metric", "detector", "value", "wins"])

    def agreement(self, metrics: Iterable[AnyMetric] | None = None) -> AgreementTable:
        """How far every two metrics agree on the order of the detectors."""
        names = [self._named(m) for m in (self.plan.metrics if metrics is None else metrics)]
        ranks = {name: self._mean_ranks(name) for name in names}
        values = {name: self._detectors(name) for name in names}
        rows: list[Row] = [
            {
                "metric": one,
                "other": other,
                "spearman": spearman(ranks[one], ranks[other]),
                "flips": statistics.mean_of_known(flips(values[one], values[other])),
            }
            for one, other in combinations(names, 2)
        ]
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
        table, ratios = self.table(), self._ratios(name)
        order = np.argsort(-ratios, kind="stable")[: np.count_nonzero(~np.isnan(ratios))]
        rows = [self._duel(name, i) for i in order.tolist()]
        place = places_of([-row["value"] for row in table.rows])[list(table).index(name)]
        where = f"{len(rows)} series, place {place or '-'} of {len(table)} in this audit"
        lead = f"{name}: gameability {table[name]:.3f} on {where}"
        return AuditExplanation(rows, lead, series)

    def example(self, metric: AnyMetric) -> dict[str, Any]:
        """The series that shows the gameability of a metric most: the best detector there and the best adversary."""
        rows = self.explain(metric).rows
        if not rows:
            raise InvalidInputError(f"{self._named(metric)} is undefined on all series")
        return {name: value for name, value in rows[0].items() if name != "reached"}

    def _duel(self, metric: str, series: int) -> Row:
        """Return the best detector on a series and the best scorer without skill, with their values."""
        row: Row = {"metric": metric, "series": self._series[series]}
        found = []
        for role, kind in (("detector", DETECTOR), ("adversary", "no skill")):
            values = {name: self._values[metric][series, self._scorers.index(name)] for name in self.names(kind)}
            name = max(values, key=lambda one: -math.inf if math.isnan(values[one]) else values[one])
            row |= {role: name, f"{role}_value": self._shown(metric, values[name])}
            found.append(values[name])
        return {**row, "reached": bool(reaches(*found))}

    def disagreement(self, metric: AnyMetric, other: AnyMetric) -> dict[str, Any]:
        """The series on which two metrics disagree most, and the two detectors that show it most.

        It is the series with the largest share of pairs of detectors in opposite order (`flips`). `first` is the
        detector that `metric` prefers, `second` the one that `other` prefers; each has its two values.
        """
        metric, other = self._named(metric), self._named(other)
        one, two = self._detectors(metric), self._detectors(other)
        shares = flips(one, two)
        if not np.nan_to_num(shares).any():
            raise InvalidInputError(f"{metric} and {other} put no two detectors in opposite order")
        place = int(np.nanargmax(shares))
        widths = [float(np.ptp(values[np.isfinite(values)])) or 1.0 for values in (one[place], two[place])]
        x, y = one[place].tolist(), two[place].tolist()

        def away(pair: tuple[int, int]) -> float:
            a, b = pair
            return float(min(abs(x[a] - x[b]) / widths[0], abs(y[a] - y[b]) / widths[1]))

        flipped = [(a, b) for a, b in combinations(range(len(x)), 2) if (x[a] - x[b]) * (y[a] - y[b]) < 0]
        farthest = max(flipped, key=away)
        first, second = sorted(farthest, key=lambda at: -x[at])
        shown = {
            f"{role}_values": (self._shown(metric, x[at]), self._shown(other, y[at]))
            for role, at in (("first", first), ("second", second))
        }
        found = {"metric": metric, "other": other, "series": self._series[place], "flips": float(shares[place])}
        return {**found, "first": self._scorers[first], "second": self._scorers[second], **shown}

    def _detectors(self, metric: str) -> Floats:
        """Return the values of the detectors as they are, series by detectors."""
        return np.asarray(self._values[metric][:, : len(self.plan.detectors)])

    def _shown(self, metric: str, value: float) -> float:
        """Return a value as the metric gives it."""
        return float(-value if self._metrics[metric].direction == "lower" else value)


def read_audit(folder: str | Path) -> AuditResult:
    """The last audit in a store, as far as it got, with all metrics that were tried on the same series."""
    store = Store.existing(folder, LAYOUT)
    plans = [AuditPlan.of_record(record) for record in store.plans()]
    if not plans:
        raise InvalidInputError(f"{folder} has no audit")
    return AuditResult(last_plan(plans), store)


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


# `te.rankeval.audit`: the public function of the audit.


AnyAdversary = str | Adversary | Callable[[int, Any], Any]


def audit(
    data: Any,
    metrics: Metrics = "recommended",
    *,
    y_true: str = "label",
    y_score: str | Sequence[str] = "*",
    by: str | None = "series",
    value: str | None = "value",
    threshold: str | float | Rule = "quantile(0.95)",
    adversaries: Iterable[AnyAdversary] = (),
    store: str | Path | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: bool | Progress | None = None,
    limits: Limits | None = None,
) -> AuditResult:
    """Audit metrics on real scores: how far scorers without skill reach real detectors, and how metrics agree.

    Parameters
    ----------
    data : path, data frame, mapping, or sequence of AuditSeries
        A table of real scores: a row per point, with a column of labels, one that names the series, and a column per
        detector. Of a folder, all tables in it that have labels.
    metrics : str, function, or several of these
        As for `te.rankeval.run`.
    y_true, by, value : str
        The columns of labels, of the names of series (None: one series), and of the series itself, which the one-liners
        need. Missing scores are left out, detector by detector.
    y_score : str or sequence of str, default="*"
        The columns of the detectors; all other columns of numbers by default.
    threshold : str, number or rule, default="quantile(0.95)"
        For metrics that take predictions, as for `te.evaluate`.
    adversaries : sequence of functions, "module:function" or Adversary
        Scorers without skill of your own, beside those of the library: functions (number of points, random generator)
        that return scores.
    store, n_jobs, random_state, progress
        As for `te.rankeval.run`.
    limits : Limits, optional
        Of seconds and memory, as `tsadeval.engine.run.limits_of` makes them.

    Returns
    -------
    AuditResult
        With `table()`, `agreement()`, `ranks()`, `example(metric)`, `rows` and `to_frame()`. Series without an anomaly,
        or without a normal point, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> import tsadeval as te
    >>> label = np.arange(1000) // 100 == 4
    >>> noise = np.random.default_rng(0).normal(size=(2, 1000))
    >>> table = {"label": label.astype(int), "good": noise[0] + 3 * label, "poor": noise[1] + label}
    >>> result = te.rankeval.audit(table, ["auc_pr", "f1_pa"], by=None)
    >>> result.table()["auc_pr"], result.table()["f1_pa"]
    (0.0, 0.0)
    >>> [round(row["random"], 2) for row in result.table().rows]  # what uniformly random scores get
    [0.11, 0.82]
    """
    check_parameters("audit", {"random_state": Number(0, 2**63 - 1, integer=True)}, {"random_state": random_state})
    tried = choose_adversaries(adversaries)
    rule = str(parse_rule(threshold))
    parse_rule(rule)  # a rule travels as text; one without a text is refused here
    if isinstance(data, (list, tuple)) and all(isinstance(series, AuditSeries) for series in data):
        given = list(data)
    else:
        given = list(read_series(data, y_true=y_true, y_score=y_score, by=by, value=value))
    usable = [s for s in given if s.labels.any() and not s.labels.all() and s.detectors]
    if not usable:
        raise InvalidInputError(
            f"data has {len(given)} series, but none with both normal and anomalous points and a detector's scores"
        )
    names = {a.name for a in tried}
    for taken in (name for s in usable for name in s.detectors if name in names):
        raise InvalidInputError(f"detector {taken!r} is called as an adversary of the audit is: rename it")
    plan = AuditPlan(
        choose_metrics(metrics),
        tuple(_record(series) for series in usable),
        tuple((a.name, a.kind, a.version) for a in tried),
        rule,
        random_state,
    )
    kept = Store(store, LAYOUT)
    kept.add_plan(plan.record())
    series, scorers = {s.name: s for s in usable}, {a.name: a for a in tried}
    complete(
        plan.cells(),
        lambda missing: plan.chunks(missing, series, scorers),
        compute,
        kept,
        n_jobs=n_jobs,
        progress=progress,
        limits=limits,
    )
    return AuditResult(plan, kept)


def _record(series: AuditSeries) -> SeriesRecord:
    """The detectors that have scores for points of both classes."""
    detectors = []
    for name, scores in series.detectors.items():
        labels = series.labels[scores == scores]
        if labels.any() and not labels.all():
            detectors.append(name)
    return SeriesRecord(series.name, series.mark, tuple(detectors), series.values is not None)


def choose_adversaries(own: Iterable[AnyAdversary] = ()) -> list[Adversary]:
    """The adversaries of the library, and a user's own."""
    found = dict(ADVERSARIES)
    for one in [own] if isinstance(own, (str, Adversary)) or callable(own) else own:
        if isinstance(one, str):
            one = Adversary.from_function(import_object(one, "adversary"), one)
        elif not isinstance(one, Adversary):
            one = Adversary.from_function(one)
        if one.name in found:
            raise InvalidParameterError(f"there is already an adversary named {one.name!r}: rename yours")
        found[one.name] = one
    return list(found.values())
