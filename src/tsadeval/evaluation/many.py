"""Metrics of many series: each by itself, their average (macro), and all points pooled (micro)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from tsadeval.core.arrays import refuse_rounded
from tsadeval.core.facts import OddAlarms, finite_mean, odd_alarms, row_of
from tsadeval.core.inputs import Scoring
from tsadeval.core.messages import label_notes, warn_of_alarms, warn_of_undefined
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.parallel import elsewhere, in_order, mapped
from tsadeval.core.results import Grid, MappingResult, Row
from tsadeval.core.selection import ByMetric, Metrics, select_metrics
from tsadeval.core.setting import Missing
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.micro import Pool, compares_series
from tsadeval.scores.scoring import observe
from tsadeval.thresholds.rules import parse_rule


class SeriesEvaluation(MappingResult):
    """Values of metrics on many series: a row per series and metric; as a mapping, metric to macro average.

    Attributes
    ----------
    macro, micro : dict
        Metric to average over the series on which it is defined, and to the value of all series pooled (NaN
        where pooling has no meaning for the metric).
    defined : dict
        Metric to the number of series on which it is defined.
    """

    def __init__(self, rows: list[Row], names: Sequence[str], micro: dict[str, float]) -> None:
        super().__init__(rows)
        values: dict[str, list[float]] = {name: [] for name in names}
        for row in rows:
            values[row["metric"]].append(row["value"])
        self.defined = ByMetric({name: sum(map(math.isfinite, found)) for name, found in values.items()})
        self.macro = ByMetric({name: finite_mean(found) for name, found in values.items()})
        self.micro = ByMetric(micro)

    def _items(self) -> dict[str, float]:
        return self.macro

    def _grid(self) -> Grid:
        """A row per series, a column per metric; the aggregates last."""
        values: dict[str, dict[str, float]] = {}
        for row in self.rows:
            values.setdefault(row["series"], {})[row["metric"]] = row["value"]
        body = [[series, *(found[name] for name in self.macro)] for series, found in values.items()]
        return [["series", *self.macro], *body, ["macro", *self.macro.values()], ["micro", *self.micro.values()]]

    def _notes(self) -> list[str]:
        own = {row["metric"] for row in self.rows if row["uses_labels"]}
        apart = [name for name, value in self.micro.items() if name in own and math.isnan(value)]
        note = f"micro nan: with thresholds of their own, the series are not pooled ({', '.join(apart)})"
        return [*label_notes(self.rows), *([note] if apart else [])]


def evaluate_many(
    series: Iterable[tuple[str, Any, Any] | tuple[str, Any, Any, Mapping[str, Any]]],
    metrics: Metrics = "recommended",
    *,
    threshold: str | float | Rule = "best",
    missing: Missing = "error",
    n_jobs: int | None = None,
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
    series : iterable of (name, y_true, y_score) or (name, y_true, y_score, setting), or mapping
        Any iterable, read once. Names must differ. A setting is a mapping with any of "times", "ignore", "fit" and
        "values", as `evaluate` takes them. A mapping has (y_true, y_score) or (y_true, y_score, setting)
        for each name.
    metrics, threshold, missing
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
    micro    0.4226  0.6667
    """
    if isinstance(series, Mapping):
        series = [(name, *_of_mapping(name, values)) for name, values in series.items()]
    found, odd = evaluated(series, select_metrics(metrics), parse_rule(threshold), missing, n_jobs)
    warn_of_alarms(odd)
    warn_of_undefined(found.rows)
    return found


def _of_mapping(name: Any, values: Any) -> tuple[Any, ...]:
    if not isinstance(values, (tuple, list)) or len(values) not in (2, 3):
        raise InvalidInputError(f"series {str(name)!r}: a mapping must have (y_true, y_score) for each name")
    return tuple(values)


def evaluated(
    series: Iterable[Any], chosen: tuple[Metric, ...], rule: Rule, missing: Missing, n_jobs: int | None
) -> tuple[SeriesEvaluation, dict[str, OddAlarms | None]]:
    """What `evaluate_many` gives, without its warnings, and what is odd about the alarms on each series."""
    pool = Pool(chosen, rule)
    rows: list[Row] = []
    seen: set[str] = set()

    entries = (_checked_entry(entry, seen) for entry in series)
    if elsewhere():
        each = _on_workers(entries, chosen, rule, missing, n_jobs)
    else:
        first = list(islice(entries, 1))
        if n_jobs is None and not (all(metric.library for metric in chosen) and all(map(_is_long, first))):
            n_jobs = 1
        each = in_order(lambda entry: _work(entry, chosen, rule, missing), chain(_drained(first), entries), n_jobs)
    odd = {}
    for name, scoring, found in each:
        odd[name] = odd_alarms(found, scoring.n)
        rows += [{"series": name, **row} for row in found]
        pool.add(scoring)
    if not rows:
        raise InvalidInputError("series is empty: there is nothing to evaluate")
    return SeriesEvaluation(rows, list(map(str, chosen)), pool.values()), odd


_Entry = tuple[str, Any, Any, dict[str, Any]]
_Evaluated = tuple[str, Scoring, list[Row]]
_LONG = 10_000
_SETTING = ("times", "ignore", "fit", "values")


def _work(entry: _Entry, metrics: Sequence[Metric], rule: Rule, missing: Missing) -> _Evaluated:
    scoring = _observed(entry, metrics, missing)
    found = [row_of(metric, metric.run(scoring, rule), scoring) for metric in metrics]
    return entry[0], replace(scoring), found  # without what the metrics computed of it, which may have to wait


def _observed(entry: _Entry, metrics: Sequence[Metric], missing: Missing) -> Scoring:
    name, y_true, y_score, setting = entry
    try:
        scoring = observe(y_true, y_score, missing=missing, **setting)
        if any(map(compares_series, metrics)):
            refuse_rounded(y_score, "y_score")
        return scoring
    except InvalidInputError as error:
        raise InvalidInputError(f"series {name!r}: {error}" if name else str(error)) from None


def _rows(entry: _Entry, metrics: Sequence[Metric], rule: Rule, missing: Missing) -> list[Row]:
    return _work(entry, metrics, rule, missing)[2]


def _on_workers(
    entries: Iterator[_Entry], metrics: Sequence[Metric], rule: Rule, missing: Missing, n_jobs: int | None
) -> Iterator[_Evaluated]:
    """The same from the workers of a cluster: labels and scores travel there, rows back."""
    waiting: deque[tuple[str, Scoring]] = deque()

    def sent() -> Iterator[tuple[Any, ...]]:
        for entry in entries:
            waiting.append((entry[0], _observed(entry, metrics, missing)))  # what is wrong with it is said here
            yield entry, metrics, rule, missing

    for found in mapped(_rows, sent(), n_jobs, ordered=True):
        yield *waiting.popleft(), found


def _drained(entries: list[_Entry]) -> Iterator[_Entry]:
    """The entries, without keeping them."""
    while entries:
        yield entries.pop(0)


def _is_long(entry: _Entry) -> bool:
    """Return True if the series is long enough that threads pay off."""
    try:
        return len(entry[1]) >= _LONG
    except TypeError:
        return False


def _checked_entry(entry: Any, seen: set[str]) -> _Entry:
    try:
        name, y_true, y_score, *rest = entry
        (setting,) = rest or ({},)
    except (TypeError, ValueError):
        raise InvalidInputError("series must give (name, y_true, y_score) or (..., setting) each time") from None
    if not isinstance(setting, Mapping) or any(key not in _SETTING for key in setting):
        raise InvalidInputError(f"series {name!r}: a setting is a mapping with any of {', '.join(_SETTING)}")
    name = str(name)
    if name in seen:
        raise InvalidInputError(f"there are two series named {name!r}")
    seen.add(name)
    return name, y_true, y_score, dict(setting)
