"""Metrics of many series: each by itself, their average (macro), and all points pooled (micro)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from tsadeval.core.checking import refuse_rounded
from tsadeval.core.cluster import elsewhere, mapped
from tsadeval.core.inputs import Prediction, Scoring, label_runs
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.observed import observe
from tsadeval.core.parameters import Span
from tsadeval.core.results import Grid, MappingResult, Row
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.core.setting import Missing, Setting
from tsadeval.core.threads import in_order
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.ordering import exactly
from tsadeval.evaluation.single import (
    OddAlarms,
    chosen_with_labels,
    counts_of,
    finite_mean,
    odd_alarms,
    row_of,
    warn_of_alarms,
    warn_of_undefined,
)
from tsadeval.evaluation.spill import Spill
from tsadeval.thresholds.rules import parse_rule
from tsadeval.thresholds.search import best

__all__ = ["SeriesEvaluation", "evaluate_many"]


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
        self.defined = {name: sum(map(math.isfinite, found)) for name, found in values.items()}
        self.macro = {name: finite_mean(found) for name, found in values.items()}
        self.micro = micro

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
        return chosen_with_labels(row["rule"] for row in self.rows)


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
    series : iterable of (name, y_true, y_score) or (name, y_true, y_score, setting)
        Any iterable, read once. Names must differ. A setting is a mapping with any of "times", "ignore", "fit" and
        "values", as `evaluate` takes them.
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
    found, odd = evaluated(series, select_metrics(metrics), parse_rule(threshold), missing, n_jobs)
    warn_of_alarms(odd)
    warn_of_undefined(found.rows)
    return found


def evaluated(
    series: Iterable[Any], chosen: tuple[Metric, ...], rule: Rule, missing: Missing, n_jobs: int | None
) -> tuple[SeriesEvaluation, dict[str, OddAlarms | None]]:
    """What `evaluate_many` gives, without its warnings, and what is odd about the alarms on each series."""
    pool = _Pool(chosen, rule)
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
        rows += [{"series": name, **row, **counts_of(scoring)} for row in found]
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
    found = [row_of(metric, metric.run(scoring, rule)) for metric in metrics]
    return entry[0], replace(scoring), found  # without what the metrics computed of it, which may have to wait


def _observed(entry: _Entry, metrics: Sequence[Metric], missing: Missing) -> Scoring:
    name, y_true, y_score, setting = entry
    try:
        scoring = observe(y_true, y_score, missing=missing, **setting)
        if any(map(_compares_series, metrics)):
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
    """Do threads pay for such series?"""
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
    if not isinstance(setting, Mapping) or any(key not in (*_SETTING, "joined") for key in setting):
        raise InvalidInputError(f"series {name!r}: a setting is a mapping with any of {', '.join(_SETTING)}")
    name = str(name)
    if name in seen:
        raise InvalidInputError(f"there are two series named {name!r}")
    seen.add(name)
    return name, y_true, y_score, dict(setting)


class _Pool:
    """The points of all series so far, kept once for all metrics that can be pooled."""

    def __init__(self, metrics: Sequence[Metric], rule: Rule) -> None:
        self._metrics = metrics
        self._rule = rule
        exchangeable = {"exchangeable"}
        self._of_order = list(filter(_compares_series, metrics))
        of_scores = [m for m in metrics if m.kind == "scores" and (m.pool or m.properties & exchangeable)]
        of_scores = [m for m in of_scores if m not in self._of_order]
        # With the rule best every metric has its own alarms, so there are none to pool.
        of_alarms = [
            m for m in metrics if m.kind == "predictions" and (m.pool or m.properties & {*exchangeable, "separable"})
        ]
        self._of_scores, self._of_alarms = of_scores, [] if isinstance(rule, best) else of_alarms
        self._labels, self._scores, self._alarms = _Block(), _Block(), _Block()
        self._settings: list[Setting] = []
        self._order = _Order()

    def add(self, scoring: Scoring) -> None:
        if self._of_order:
            self._order.add(scoring.kept)
        if self._of_scores or self._of_alarms:
            self._labels.add(scoring.truth.mask)
            shares = scoring.setting.shares if self._of_alarms else None
            self._settings.append(Setting(ignored=scoring.setting.ignored, weights=shares))  # no more than is needed
        if self._of_scores:
            self._scores.add(scoring.raw)
        if self._of_alarms:
            decision = self._of_alarms[0].decide(scoring, self._rule)
            assert decision is not None  # a metric of alarms has them
            self._alarms.add(decision.prediction.alarms.mask)

    def values(self) -> dict[str, float]:
        """The micro value of every metric, NaN where there is none."""
        found = {str(metric): math.nan for metric in self._metrics}
        labels, alarms = self._labels.parts, self._alarms.parts
        found |= {str(m): self._order.value(m) for m in self._of_order}
        if self._of_scores:
            found |= {str(m): self._of_all_scores(m) for m in self._of_scores}
        if self._of_alarms:
            keep = self._kept()
            joined = Prediction.of(self._labels.whole[keep], self._alarms.whole[keep])
            joined = replace(joined, setting=Setting(weights=self._weights()))
            apart: dict[int, Prediction] = {}  # by the number of quiet points between two series
            longest = max(map(len, labels))
            columns = [labels, alarms, *self._ignored()]
            series = _Apart(_prediction, *columns)
            for m in self._of_alarms:
                if m.pool is not None:
                    found[str(m)] = m.pool(series, **m.options)
                elif "separable" in m.properties:
                    quiet = 1 + min(_reach(m), longest)
                    if quiet not in apart:
                        apart[quiet] = _prediction(*(_separated(one, quiet) for one in columns))
                    found[str(m)] = m.value_of(apart[quiet])[0]
                else:
                    found[str(m)] = m.value_of(joined)[0]
        return found

    def _of_all_scores(self, metric: Metric) -> float:
        if metric.pool is not None:
            series = _Apart(Scoring.of, self._pieces(self._labels), self._pieces(self._scores))
            return float(metric.pool(series, **metric.options))
        keep = self._kept()
        return metric.value_of(Scoring.of(self._labels.whole[keep], self._scores.whole[keep]))[0]

    def _kept(self) -> Any:
        """The points that are judged, among those of all series: all of them, or a mask."""
        for ignored in self._ignored():
            return ~np.concatenate(ignored)
        return slice(None)

    def _ignored(self) -> list[list[Any]]:
        """Which points of each series are not judged, as one column of masks; none where all points are."""
        if all(setting.ignored is None for setting in self._settings):
            return []
        known = zip(self._settings, self._labels.lengths, strict=True)
        return [[np.zeros(n, np.bool_) if setting.ignored is None else setting.ignored for setting, n in known]]

    def _weights(self) -> Any:
        """The time that each point stands for that is judged; None unless all series have time stamps."""
        shares = [setting.shares for setting in self._settings if setting.shares is not None]
        return np.concatenate(shares)[self._kept()] if len(shares) == len(self._settings) else None

    def _pieces(self, block: _Block) -> list[Any]:
        """The stretches of points that are judged, as `Scoring.pieces` has them."""
        found = []
        for setting, part in zip(self._settings, block.parts, strict=True):
            if setting.ignored is None:
                found.append(part)
            else:
                judged = label_runs(~setting.ignored, "ignore").events
                found += [part[a:b] for a, b in zip(judged.starts.tolist(), judged.stops.tolist(), strict=True)]
        return found


def _compares_series(metric: Metric) -> bool:
    """Does its micro average compare scores of different series?"""
    return metric.stream == "order" and "exchangeable" in metric.properties


class _Order:
    """The scores of all series by class, in sorted pieces; those of more than eight million are in a temporary file."""

    def __init__(self) -> None:
        self._anomalous, self._normal = Spill(), Spill()

    def add(self, scoring: Scoring) -> None:
        mask, scores = scoring.truth.mask, scoring.scores
        self._anomalous.add(scores[mask])
        self._normal.add(scores[~mask])

    def value(self, metric: Metric) -> float:
        return exactly(metric, self._normal, self._anomalous)[0]


class _Block:
    """Arrays one after the other, in one piece of memory that grows, so that nothing is there twice."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._dtype = np.dtype(np.bool_)
        self.lengths: list[int] = []

    def add(self, part: Any) -> None:
        if not self.lengths:
            self._dtype = part.dtype
        elif part.dtype != self._dtype:
            wider = np.result_type(part.dtype, self._dtype)
            self._bytes = bytearray(self.whole.astype(wider).tobytes())
            self._dtype = wider
        self._bytes += np.ascontiguousarray(part, self._dtype).view(np.uint8).data
        self.lengths.append(len(part))

    @property
    def whole(self) -> Any:
        """All arrays as one."""
        return np.frombuffer(self._bytes, self._dtype)

    @property
    def parts(self) -> list[Any]:
        """The arrays, as views."""
        return np.split(self.whole, np.cumsum(self.lengths[:-1], dtype=np.int64)) if self.lengths else []


class _Apart(Sequence[Any]):
    """The series one by one, each checked when it is asked for, so that only one of them is there at a time."""

    def __init__(self, make: Callable[..., Any], *parts: list[Any]) -> None:
        self._make, self._parts = make, parts

    def __len__(self) -> int:
        return len(self._parts[0])

    def __getitem__(self, at: Any) -> Any:
        found = [part[at] for part in self._parts]
        return _Apart(self._make, *found) if isinstance(at, slice) else self._make(*found)


def _prediction(labels: Any, alarms: Any, ignored: Any = None) -> Prediction:
    """Labels and alarms of a series, and which of its points are not judged: normal ones without alarm."""
    return replace(Prediction.of(labels, alarms), setting=Setting(ignored=ignored))


def _reach(metric: Metric) -> int:
    """Over how many points an option of the metric reaches, such as `early=5`."""
    spans = [metric.options[name] for name, check in metric.checks.items() if isinstance(check, Span)]
    return max((int(span) for span in spans if isinstance(span, (int, float))), default=0)


def _separated(parts: Sequence[Any], points: int) -> Any:
    """The parts with quiet normal points in front of each, so that nothing reaches from one into the next."""
    quiet = np.zeros(points, np.bool_)
    return np.concatenate([piece for part in parts for piece in (quiet, part)])
