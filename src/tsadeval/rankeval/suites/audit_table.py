"""`te.rankeval.audit`, its results, and its measures: gameability, chance level, agreement, rank flips."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval._optional import require
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
from tsadeval.rankeval.quality import ranking_quality
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
        gamed, ratios = gameability(values, detectors, without)
        random, spread = chance(values, RANDOM)
        errors = (self._frame["metric"] == str(metric)) & (self._frame["status"] == "error")
        return {
            "metric": str(metric),
            "rule": self.plan.rule_of(metric),
            "value": gamed,
            "gameability": gamed,
            "search": gameability(values, detectors, [*without, *self.names("search")])[0],
            "one_liners": gameability(values, detectors, self.names("one-liner"))[0],
            "beats_median": beats_median(values, detectors, without),
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
            wins = winners(values, detectors)
            for name, rank in mean_ranks(values, detectors).items():
                rows.append({"metric": str(metric), "detector": name, "value": rank, "wins": wins[name]})
        return MappingResult(rows, shown=["metric", "detector", "value", "wins"])

    def agreement(self, metrics: Iterable[AnyMetric] | None = None) -> AgreementTable:
        """How far every two metrics agree on the order of the detectors."""
        names = [self._named(m) for m in (self.plan.metrics if metrics is None else metrics)]
        detectors = self.names(DETECTOR)
        ranks = {name: mean_ranks(self.values_of(name), detectors) for name in names}
        rows: list[Row] = []
        for i, one in enumerate(names):
            for other in names[i + 1 :]:
                rows.append(
                    {
                        "metric": one,
                        "other": other,
                        "spearman": agreement(ranks[one], ranks[other]),
                        "flips": rank_flips(self._values[one], self._values[other], detectors),
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
        gamed, ratios = gameability(values, self.names(DETECTOR), self.names("no skill"))
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
                    "reached": reached(values[one][best], values[one][other]),
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
        _, ratios = gameability(values, detectors, without)
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
        shares = flip_shares(one, two, detectors)
        series = max(shares, key=lambda name: shares[name], default=None)
        if series is None or not shares[series]:
            raise InvalidInputError(f"{metric} and {other} put no two detectors in opposite order")
        of_series = (one[series], two[series])

        def away(pair: tuple[str, str]) -> float:
            return min(abs(of[pair[0]] - of[pair[1]]) / _width(of, detectors) for of in of_series)

        first, second = max(flipped_pairs(one, two, detectors)[series], key=away)
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


# What an audit measures, as pure functions of values: gameability, the level of chance, agreement, rank flips.
#
# Values are those of one metric, higher is better: a mapping from series to a mapping from scorer to value; NaN
# where a metric is undefined.


Values = Mapping[str, Mapping[str, float]]
SHARE = 0.9  # of the best detector's value that counts as reaching it


def _best(values: Mapping[str, float], names: Iterable[str]) -> float:
    known = [values[name] for name in names if name in values and math.isfinite(values[name])]
    return max(known, default=math.nan)


def reached(best: float, other: float, share: float = SHARE) -> bool:
    """Return True if a value reaches a share of the best one; for negative values (costs), the inverse share."""
    return other >= (share * best if best >= 0 else best / share)


def gameability(
    values: Values, detectors: Iterable[str], adversaries: Iterable[str], share: float = SHARE
) -> tuple[float, dict[str, float]]:
    """The share of series on which the best adversary reaches a share of the best detector, and by how much on each.

    The second is the ratio of the two (their difference where the best detector has no positive value), by series.
    Series on which either is undefined are left out.
    """
    detectors, adversaries = list(detectors), list(adversaries)
    hits, ratios = [], {}
    for series, of_series in values.items():
        best, other = _best(of_series, detectors), _best(of_series, adversaries)
        if math.isnan(best) or math.isnan(other):
            continue
        hits.append(reached(best, other, share))
        ratios[series] = other / best if best > 0 else other - best
    return (float(np.mean(hits)) if hits else math.nan), ratios


def beats_median(values: Values, detectors: Iterable[str], adversaries: Iterable[str]) -> float:
    """The share of series on which the best adversary is above the median detector."""
    detectors, adversaries = list(detectors), list(adversaries)
    hits = []
    for of_series in values.values():
        known = [of_series[name] for name in detectors if math.isfinite(of_series.get(name, math.nan))]
        other = _best(of_series, adversaries)
        if known and not math.isnan(other):
            hits.append(other > np.median(known))
    return float(np.mean(hits)) if hits else math.nan


def chance(values: Values, adversary: str) -> tuple[float, float]:
    """Mean of a random scorer's value over series, and its spread: the distance from the 5 % to the 95 % quantile."""
    found = [of_series[adversary] for of_series in values.values() if adversary in of_series]
    known = np.array([value for value in found if math.isfinite(value)])
    if not known.size:
        return math.nan, math.nan
    low, high = np.quantile(known, [0.05, 0.95])
    return float(known.mean()), float(high - low)


def mean_ranks(values: Values, detectors: Iterable[str]) -> dict[str, float]:
    """The mean rank of each detector over series, 1 for the best; equal values share ranks, undefined ones are last.

    Ranks are counted from 0 to 1 where a series has fewer detectors, and scaled back.
    """
    rankdata = require("scipy.stats", extra="all").rankdata

    names = list(detectors)
    ranks: dict[str, list[float]] = {name: [] for name in names}
    for of_series in values.values():
        present = [name for name in names if name in of_series]
        row = np.array([of_series[name] for name in present])
        if len(present) < 2 or not np.isfinite(row).any():
            continue
        places = rankdata(np.where(np.isfinite(row), -row, np.inf))
        for name, place in zip(present, places, strict=True):
            ranks[name].append(1 + (place - 1) / (len(present) - 1) * (len(names) - 1))
    return {name: float(np.mean(found)) if found else math.nan for name, found in ranks.items()}


def agreement(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Spearman's correlation of the mean ranks of the detectors under two metrics."""
    names = [name for name in one if math.isfinite(one[name]) and math.isfinite(other.get(name, math.nan))]
    if len(names) < 2:
        return math.nan
    truth = np.array([other[name] for name in names])
    if np.ptp(truth) == 0:
        return math.nan
    return float(_spearman(np.array([one[name] for name in names]), truth))


def _spearman(one: Floats, other: Floats) -> float:
    rankdata = require("scipy.stats", extra="all").rankdata

    # `ranking_quality` wants distinct numbers as the truth, which average ranks need not be.
    ranks = rankdata(one), rankdata(other)
    if len(set(ranks[1])) == len(ranks[1]):
        return float(ranking_quality(one, other).spearman[0])
    return float(np.corrcoef(*ranks)[0, 1]) if np.ptp(ranks[0]) else 0.0


def winners(values: Values, detectors: Iterable[str]) -> dict[str, float]:
    """Of each detector the share of series on which it is best; equals share the win."""
    names = list(detectors)
    wins = dict.fromkeys(names, 0.0)
    series = 0
    for of_series in values.values():
        best = _best(of_series, names)
        if math.isnan(best):
            continue
        alike = [name for name in names if of_series.get(name, math.nan) == best]
        series += 1
        for name in alike:
            wins[name] += 1 / len(alike)
    return {name: count / series if series else math.nan for name, count in wins.items()}


def flipped_pairs(one: Values, other: Values, detectors: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """By series, the pairs of detectors of which one metric prefers the first and the other metric the second."""
    return {series: [(a, b) for a, b, flipped in pairs if flipped] for series, pairs in _pairs(one, other, detectors)}


def flip_shares(one: Values, other: Values, detectors: Iterable[str]) -> dict[str, float]:
    """By series, the share of pairs of detectors that two metrics put in opposite order."""
    found = _pairs(one, other, detectors)
    return {series: sum(flipped for *_, flipped in pairs) / len(pairs) for series, pairs in found if pairs}


def rank_flips(one: Values, other: Values, detectors: Iterable[str]) -> float:
    """Over series, the mean share of pairs of detectors that two metrics put in opposite order."""
    shares = list(flip_shares(one, other, detectors).values())
    return float(np.mean(shares)) if shares else math.nan


def _pairs(one: Values, other: Values, detectors: Iterable[str]) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """By series, all pairs of detectors that both metrics rate, with the one first that the first metric prefers."""
    names = list(detectors)
    found = []
    for series, first in one.items():
        second = other.get(series, {})
        pairs = []
        for a, b in combinations(names, 2):
            d = first.get(a, math.nan) - first.get(b, math.nan)
            e = second.get(a, math.nan) - second.get(b, math.nan)
            if not (math.isnan(d) or math.isnan(e)):
                pairs.append((a, b, d * e < 0) if d > 0 else (b, a, d * e < 0))
        found.append((series, pairs))
    return found


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
