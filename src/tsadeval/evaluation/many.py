"""Metrics of many series: each by itself, their average (macro), and all points pooled (micro)."""

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain, islice
from typing import Any, Unpack

import numpy as np

from tsadeval.core.arrays import refuse_rounded
from tsadeval.core.facts import finite_mean, grouped, odd_alarms
from tsadeval.core.inputs import Prediction, Scoring
from tsadeval.core.messages import failed_lines, label_notes, warn_of_alarms, warn_of_undefined
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.parallel import elsewhere, in_order, mapped
from tsadeval.core.parameters import Span
from tsadeval.core.results import Grid, MappingResult, Row
from tsadeval.core.selection import ByMetric, Metrics, select_metrics
from tsadeval.core.setting import Setting
from tsadeval.errors import InvalidInputError, UndefinedMetricWarning, warn
from tsadeval.evaluation.baseline import random_values, skill_of
from tsadeval.evaluation.external_sort import SortedScores
from tsadeval.evaluation.single import rows_of_scoring
from tsadeval.scores.scores import LeftOut, Reading, Scored, Scores, as_scores
from tsadeval.thresholds import best, parse_rule
from tsadeval.thresholds.pages import alarms_of


class SeriesEvaluation(MappingResult):
    """Values of metrics on many series: a row per series and metric; as a mapping, metric to macro average.

    Attributes
    ----------
    macro, micro : dict
        Metric to average over the series on which it is defined, and to the value of all series pooled (NaN
        where pooling has no meaning for the metric), which is computed when it is asked for.
    defined : dict
        Metric to the number of series on which it is defined.
    """

    def __init__(
        self, rows: list[Row], micro: Callable[[], dict[str, float]] | None = None, notes: Sequence[str] = ()
    ) -> None:
        super().__init__(rows)
        values = grouped((row["metric"], row["value"]) for row in rows)
        self.defined = ByMetric({name: sum(map(math.isfinite, found)) for name, found in values.items()})
        self.macro = ByMetric({name: finite_mean(found) for name, found in values.items()})
        self._pooled = micro
        self._about = list(notes)

    @cached_property
    def micro(self) -> dict[str, float]:
        """Metric to the value of all series pooled, NaN with a warning where pooling has no meaning for it."""
        found = self._pooled() if self._pooled is not None else dict.fromkeys(self.macro, math.nan)
        warn_unpooled([found])
        return ByMetric(found)

    def _items(self) -> dict[str, float]:
        return self.macro

    def _grid(self) -> Grid:
        """Return a row per series, a column per metric; the average last."""
        values = grouped((row["series"], (row["metric"], row["value"])) for row in self.rows)
        body = [[series, *map(dict(found).get, self.macro)] for series, found in values.items()]
        return [["series", *self.macro], *body, ["macro", *self.macro.values()]]

    def _notes(self) -> list[str]:
        return [*label_notes(self.rows), *failed_lines(self.rows), *self._about]


# The properties of metrics whose value on the points of all series together has a meaning: see `evaluate_many`.
_PUT_TOGETHER = {"scores": {"exchangeable"}, "predictions": {"exchangeable", "separable"}}


class Pool:
    """The points of all series so far, kept once for all metrics that can be pooled."""

    def __init__(self, metrics: Sequence[Metric], rule: Rule) -> None:
        self._metrics = metrics
        self._rule = rule
        pooled = [m for m in metrics if m.pool or m.properties & _PUT_TOGETHER[m.kind]]
        # Scores of different series are compared.
        self._of_order = [m for m in metrics if m.stream == "order" and "exchangeable" in m.properties]
        self._of_scores = [m for m in pooled if m.kind == "scores" and m not in self._of_order]
        # With the rule best every metric has its own alarms, so there are none to pool.
        self._of_alarms = [m for m in pooled if m.kind == "predictions" and not isinstance(rule, best)]
        # By series, in memory of our own.
        self._scorings: list[Scoring] = []
        self._predictions: list[Prediction] = []
        self._order = SortedScores()

    def add(self, scoring: Scoring, given: Any = None) -> None:
        """Take in a series; of scores that were `given` in another form no digit may have been lost."""
        if self._of_order:
            refuse_rounded(scoring.raw if given is None else given, "y_score")
            self._order.update(scoring.kept)
        truth = replace(scoring.truth, labels=scoring.truth.mask.view(np.uint8))
        ignored = scoring.setting.ignored
        if self._of_scores:
            own = replace(scoring, truth=truth, raw=scoring.raw.copy(), given=None, setting=Setting(ignored=ignored))
            self._scorings.append(own)
        if self._of_alarms:
            try:
                alarms = alarms_of(scoring, self._rule).alarms
            except Exception:  # which the rows of the series tell; of the other series alone it would be another value
                self._of_alarms = []
                return
            setting = Setting(ignored=ignored, weights=scoring.setting.shares)  # no more than is needed
            self._predictions.append(Prediction(truth, alarms, setting))

    def values(self) -> dict[str, float]:
        """Return the micro value of every metric, NaN where there is none."""
        found = {str(metric): math.nan for metric in self._metrics}
        found |= {str(m): self._order.value(m)[0] for m in self._of_order}
        found |= {str(m): self._of_all_scores(m) for m in self._of_scores}
        joined, apart = cache(self._joined), cache(self._apart)
        longest = max((one.n for one in self._predictions), default=0)
        for m in self._of_alarms:
            if m.pool is not None:
                found[str(m)] = m.pool(_Fresh(self._predictions), **m.options)
            else:
                one = apart(1 + min(_reach(m), longest)) if "separable" in m.properties else joined()
                found[str(m)] = m.value_of(one)[0]
        return found

    def _of_all_scores(self, metric: Metric) -> float:
        if metric.pool is not None:
            pieces = [piece for one in self._scorings for piece in one.pieces]
            return float(metric.pool(_Fresh(pieces), **metric.options))
        kept = [replace(one).kept for one in self._scorings]
        labels, scores = (np.concatenate(column) for column in zip(*((k.truth.mask, k.raw) for k in kept), strict=True))
        return metric.value_of(Scoring.of(labels, scores))[0]

    def _joined(self) -> Prediction:
        """Put the points that are judged together; they weigh what they last where all series have time stamps."""
        kept = [replace(one).kept for one in self._predictions]
        shares = [one.setting.shares for one in kept if one.setting.shares is not None]
        weights = np.concatenate(shares) if len(shares) == len(kept) else None
        truth, alarms = (np.concatenate([getattr(one, name).mask for one in kept]) for name in ("truth", "alarms"))
        return replace(Prediction.of(truth, alarms), setting=Setting(weights=weights))

    def _apart(self, quiet: int) -> Prediction:
        """Put so many quiet normal points in front of each series, so that nothing reaches from one into the next."""
        series = self._predictions
        masks = [np.zeros(one.n, np.bool_) if one.setting.ignored is None else one.setting.ignored for one in series]
        columns = [[one.truth.mask for one in series], [one.alarms.mask for one in series], masks]
        gap = np.zeros(quiet, np.bool_)
        truth, alarms, ignored = (np.concatenate([x for part in parts for x in (gap, part)]) for parts in columns)
        return replace(Prediction.of(truth, alarms), setting=Setting(ignored=ignored if ignored.any() else None))


class _Fresh(Sequence[Any]):
    """The series one by one, without what was computed of them, so that nothing of a series is kept."""

    def __init__(self, series: list[Any]) -> None:
        self._series = series

    def __len__(self) -> int:
        return len(self._series)

    def __getitem__(self, at: Any) -> Any:
        return _Fresh(self._series[at]) if isinstance(at, slice) else replace(self._series[at])


def _reach(metric: Metric) -> int:
    """Over how many points an option of the metric reaches, such as `early=5`."""
    spans = [metric.options[name] for name, check in metric.checks.items() if isinstance(check, Span)]
    return max((int(span) for span in spans if isinstance(span, (int, float))), default=0)


def warn_unpooled(found: Collection[Mapping[str, float]]) -> None:
    """Warn of the metrics that have no micro average, for one detector or for all of several."""
    names = [name for name in next(iter(found), ()) if all(math.isnan(values[name]) for values in found)]
    if names:
        why = "they have none of all points, or none at thresholds that differ (rule best), see te.evaluate_many"
        warn(f"no micro average of {', '.join(names)}, so NaN: {why}", UndefinedMetricWarning)


def pooled(pool: Pool, series: Iterable[Scored]) -> dict[str, float]:
    """Return the micro value of every metric, with these series besides those that are in the pool already."""
    for one in series:
        pool.add(one.scoring, one.given.y_score)
    return pool.values()


def evaluate_many(
    series: Any,
    metrics: Metrics = "recommended",
    *,
    threshold: str | float | Rule = "best",
    n_jobs: int | None = None,
    **reading: Unpack[Reading],
) -> SeriesEvaluation:
    """Metrics of many series, one by one, averaged and pooled.

    *Macro* is the mean over the series on which a metric is defined; `defined` says how many those are. *Micro*
    pools all points of all series. It exists for metrics that do not look at the order of points (their record says
    "exchangeable"), for those of predictions in which a quiet normal point between two series changes nothing
    ("separable"), so that no event runs from one series into the next, and for those that say how series are put
    together (CCE, and NAB as the benchmark does it); for all others, and for metrics of predictions with the rule
    "best", it is NaN, with a warning that names them.

    Parameters
    ----------
    series : iterable of (name, y_true, y_score) or (name, y_true, y_score, setting), mapping, or anything else
        Any iterable, read once. Names must differ. A setting is a mapping with any of "times", "ignore", "fit" and
        "values", as `evaluate` takes them. A mapping has (y_true, y_score) or (y_true, y_score, setting)
        for each name. Or whatever `te.Scores` takes with its options `reading`, with one detector.
    metrics, threshold
        As for `evaluate`; the threshold is found for each series by itself.
    n_jobs : int, optional
        Series that are evaluated at once, in threads of this process. By default as many as there are cores, but one
        where the first series is so short that threads cost more than they save, and where a metric is a function of
        your own, which may not be safe in threads. Under `joblib.parallel_config(backend="dask")` or "ray" the workers
        of a cluster evaluate them, to which labels and scores are sent.

    Returns
    -------
    SeriesEvaluation
        A mapping from metric to macro average that prints as a table; `rows`, `macro`, `micro` and `defined`.

    Examples
    --------
    >>> import tsadeval as te
    >>> a = ("a", [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.9, 0.8, 0.1, 0.3])
    >>> b = ("b", [0, 1, 0, 0, 0, 0], [0.3, 0.2, 0.1, 0.6, 0.1, 0.2])
    >>> te.evaluate_many([a, b], ["cce", "f1"], threshold=0.5)
    series      cce      f1
    ------  -------  ------
    a        0.8380  1.0000
    b       -0.1544  0.0000
    macro    0.3418  0.5000
    >>> te.evaluate_many([a, b], ["cce", "f1"], threshold=0.5).micro["f1"]
    0.6666666666666666
    """
    scores = as_scores(series, **reading)
    chosen, rule = select_metrics(metrics), parse_rule(threshold)
    pool = Pool(chosen, rule)
    rows: list[Row] = []
    odd, detectors = {}, set()
    for one, found in rows_of(scores, chosen, rule, n_jobs):
        if isinstance(one, LeftOut):
            continue
        detectors.add(one.detector)
        if len(detectors) > 1:
            raise InvalidInputError(f"there are several detectors ({', '.join(sorted(detectors))}): take te.compare")
        odd[one.series] = odd_alarms(found, one.scoring.n)
        rows += [{"series": one.series, **row} for row in found]
        if not scores.repeatable:  # else pooled once somebody asks
            pool.add(one.scoring, one.given.y_score)
    scores.warn()
    warn_of_alarms(odd)
    warn_of_undefined(rows)
    micro = partial(pooled, pool, scores if scores.repeatable else ())
    notes = [f"left out: {line}" for line in scores.left_out_lines()]
    return SeriesEvaluation(rows, micro, notes)


Rules = Rule | Mapping[str, Rule]  # one for all detectors, or one for each


def rows_of(
    scores: Scores, metrics: Sequence[Metric], rule: Rules, n_jobs: int | None, *, skill: bool = False, draws: int = 0
) -> Iterator[tuple[Scored | LeftOut, list[Row]]]:
    """Every scoring with a row for each metric, in order: in threads, or on the workers of a cluster.

    What is left out has no rows. Nothing is kept of what metrics computed of a scoring. With `skill`, rows say how far
    the scores are above chance; with `draws`, what as many shuffles of the scores get on average.
    """
    read = scores.read()
    if elsewhere():
        yield from _on_workers(read, metrics, rule, n_jobs, skill, draws)
        return
    first = list(islice(read, 1))
    short = any(isinstance(one, Scored) and one.scoring.n < _LONG for one in first)
    if n_jobs is None and (short or not all(metric.library for metric in metrics)):
        n_jobs = 1
    items = chain(iter(first), read)
    del first  # an iterator that has ended lets its list go, so nothing keeps what was read
    yield from in_order(lambda one: (_lean(one), _rows(one, metrics, rule, skill, draws)), items, n_jobs)


_LONG = 10_000  # points of a series, from which on threads save more than they cost


def _lean(one: Scored | LeftOut) -> Scored | LeftOut:
    """Return a scoring without what the metrics computed of it, which may have to wait."""
    return one if isinstance(one, LeftOut) else replace(one, scoring=replace(one.scoring))


def _rows(one: Scored | LeftOut, metrics: Sequence[Metric], rule: Rules, skill: bool, draws: int) -> list[Row]:
    if isinstance(one, LeftOut):
        return []
    facts = skill_of(one.scoring) if skill else {}
    own = rule[one.detector] if isinstance(rule, Mapping) else rule
    rows = [{**row, **facts} for row in rows_of_scoring(one.scoring, metrics, own)]
    for row, chance in zip(rows, random_values(metrics, one.scoring, own, draws, 0) if draws else (), strict=False):
        row["random"], row["random_error"] = chance
    return rows


def _on_workers(
    read: Iterator[Scored | LeftOut],
    metrics: Sequence[Metric],
    rule: Rules,
    n_jobs: int | None,
    skill: bool,
    draws: int,
) -> Iterator[tuple[Scored | LeftOut, list[Row]]]:
    """Return the same from the workers of a cluster: labels and scores travel there, rows back."""
    waiting: deque[Scored | LeftOut] = deque()

    def sent() -> Iterator[tuple[Any, ...]]:
        for one in read:
            waiting.append(one)
            yield one, metrics, rule, skill, draws

    for found in mapped(_rows, sent(), n_jobs, ordered=True):
        yield waiting.popleft(), found
