"""Metrics of many series: each by itself, their average (macro), and all points pooled (micro)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, Unpack

from tsadeval.core.arrays import refuse_rounded
from tsadeval.core.facts import finite_mean, odd_alarms, row_of
from tsadeval.core.inputs import Scoring
from tsadeval.core.messages import label_notes, warn_of_alarms, warn_of_undefined
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.parallel import elsewhere, in_order, mapped
from tsadeval.core.results import Grid, MappingResult, Row
from tsadeval.core.selection import ByMetric, Metrics, select_metrics
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.micro import Pool, compares_series
from tsadeval.scores.options import Reading
from tsadeval.scores.scored import LeftOut, Scored
from tsadeval.scores.scores import Scores, as_scores
from tsadeval.thresholds.rules import parse_rule


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
        self, rows: list[Row], names: Sequence[str], micro: Callable[[], dict[str, float]], notes: Sequence[str] = ()
    ) -> None:
        super().__init__(rows)
        values: dict[str, list[float]] = {name: [] for name in names}
        for row in rows:
            values[row["metric"]].append(row["value"])
        self.defined = ByMetric({name: sum(map(math.isfinite, found)) for name, found in values.items()})
        self.macro = ByMetric({name: finite_mean(found) for name, found in values.items()})
        self._pooled = micro
        self._about = list(notes)

    @cached_property
    def micro(self) -> dict[str, float]:
        """Metric to the value of all series pooled, NaN where pooling has no meaning for it."""
        return ByMetric(self._pooled())

    def _items(self) -> dict[str, float]:
        return self.macro

    def _grid(self) -> Grid:
        """Return a row per series, a column per metric; the average last."""
        values: dict[str, dict[str, float]] = {}
        for row in self.rows:
            values.setdefault(row["series"], {})[row["metric"]] = row["value"]
        body = [[series, *(found[name] for name in self.macro)] for series, found in values.items()]
        return [["series", *self.macro], *body, ["macro", *self.macro.values()]]

    def _notes(self) -> list[str]:
        return [*label_notes(self.rows), *self._about]


class _Pooled:
    """The micro values of one detector: pooled as the series come where these are read once, else when asked for."""

    def __init__(self, scores: Scores, metrics: Sequence[Metric], rule: Rule) -> None:
        self._scores, self._metrics = scores, metrics
        self._rule = rule
        self._pool = None if scores.repeatable else Pool(metrics, rule)

    def add(self, one: Scored) -> None:
        """Take in a series that can be read once only."""
        if self._pool is not None:
            add_to_pool(self._pool, one, self._metrics)

    def values(self) -> dict[str, float]:
        """Return the micro value of every metric."""
        if self._pool is None:
            self._pool = Pool(self._metrics, self._rule)
            for one in self._scores:
                self.add(one)
        return self._pool.values()


def add_to_pool(pool: Pool, one: Scored, metrics: Sequence[Metric]) -> None:
    """Take in a scoring; its scores must be exact where those of different series are compared."""
    if any(map(compares_series, metrics)):
        refuse_rounded(one.given.y_score, "y_score")
    pool.add(one.scoring)


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
    "best", it is NaN.

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
    pool = _Pooled(scores, chosen, rule)
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
        pool.add(one)
    scores.warn()
    warn_of_alarms(odd)
    warn_of_undefined(rows)
    return SeriesEvaluation(
        rows, list(map(str, chosen)), pool.values, [f"left out: {line}" for line in scores.left_out_lines()]
    )


def rows_of(
    scores: Scores, metrics: Sequence[Metric], rule: Rule, n_jobs: int | None
) -> Iterator[tuple[Scored | LeftOut, list[Row]]]:
    """Every scoring with a row for each metric, in order: in threads, or on the workers of a cluster.

    What is left out has no rows. Nothing is kept of what metrics computed of a scoring.
    """
    read = scores.read()
    if elsewhere():
        yield from _on_workers(read, metrics, rule, n_jobs)
        return
    first = list(islice(read, 1))
    short = any(isinstance(one, Scored) and one.scoring.n < _LONG for one in first)
    if n_jobs is None and (short or not all(metric.library for metric in metrics)):
        n_jobs = 1
    items = chain(_drained(first), read)
    yield from in_order(lambda one: (_lean(one), _rows(one, metrics, rule)), items, n_jobs)


_LONG = 10_000  # points of a series, from which on threads save more than they cost


def _lean(one: Scored | LeftOut) -> Scored | LeftOut:
    """Return a scoring without what the metrics computed of it, which may have to wait."""
    return one if isinstance(one, LeftOut) else replace(one, scoring=replace(one.scoring))


def _rows(one: Scored | LeftOut, metrics: Sequence[Metric], rule: Rule) -> list[Row]:
    return [] if isinstance(one, LeftOut) else rows_of_scoring(one.scoring, metrics, rule)


def rows_of_scoring(scoring: Scoring, metrics: Sequence[Metric], rule: Rule) -> list[Row]:
    """Return a row for each metric of one scoring."""
    return [row_of(metric, metric.run(scoring, rule), scoring) for metric in metrics]


def _on_workers(
    read: Iterator[Scored | LeftOut], metrics: Sequence[Metric], rule: Rule, n_jobs: int | None
) -> Iterator[tuple[Scored | LeftOut, list[Row]]]:
    """Return the same from the workers of a cluster: labels and scores travel there, rows back."""
    waiting: deque[Scored | LeftOut] = deque()

    def sent() -> Iterator[tuple[Any, ...]]:
        for one in read:
            waiting.append(one)
            yield one, metrics, rule

    for found in mapped(_rows, sent(), n_jobs, ordered=True):
        yield waiting.popleft(), found


def _drained(items: list[Scored | LeftOut]) -> Iterator[Scored | LeftOut]:
    """Return the items, without keeping them."""
    while items:
        yield items.pop(0)
