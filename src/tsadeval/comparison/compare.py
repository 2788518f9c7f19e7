"""`te.compare`: evaluate several detectors with several metrics, on one series or on many."""

import math
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeVar, Unpack

import numpy as np

from tsadeval.comparison.comparison import Comparison, Made
from tsadeval.comparison.inference import SeriesFacts
from tsadeval.core.events import Floats
from tsadeval.core.facts import Flaw, OddAlarms, finite_mean, grouped, odd_alarms
from tsadeval.core.messages import named, warn_of_alarms, warn_of_undefined
from tsadeval.core.metric import Metric, Rule, missing_row
from tsadeval.core.names import check_known
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.detectors import DETECTORS
from tsadeval.engine.progress import Progress, progress_of
from tsadeval.errors import InvalidInputError, hint, warn
from tsadeval.evaluation.baseline import perfect_values
from tsadeval.evaluation.many import Rules, rows_of
from tsadeval.evaluation.single import rows_of_scoring
from tsadeval.scores.scored import observe
from tsadeval.scores.scores import NO_SCORE, LeftOut, Reading, Scored, Scores, as_scores
from tsadeval.thresholds.rules import parse_rule

# Baselines: shuffles of each scoring, and detectors of a line of code.
T = TypeVar("T")
QUICK = 2.0  # seconds without a word
DRAWS, ONE_LINERS = 5, ("squared_difference", "moving_variance")


def compare(
    scores: Any,
    y_true: Any = None,
    metrics: Metrics = "recommended",
    *,
    threshold: str | float | Rule = "best",
    thresholds: Mapping[str, str | float | Rule] | None = None,
    baseline: bool = False,
    X: Any = None,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
    **reading: Unpack[Reading],
) -> Comparison:
    """Evaluate several detectors with several metrics.

    Parameters
    ----------
    scores, y_true, X
        As for `te.Scores`: a `Scores`, or what it is made from. Detector to scores of one series beside its labels
        `y_true`; any iterable of `(series, detector, y_true, y_score)`; a table, file or folder; the store of
        `te.detect`; fitted models with `X`.
    metrics, threshold
        As for `evaluate`: by default the set "recommended", other sets are "paper" and "all". The threshold is found
        for each scoring by itself.
    thresholds : mapping, optional
        Detector to its threshold or rule, such as `te.choose_threshold(...).thresholds`, in place of `threshold`; every
        detector needs one.
    baseline : bool, default=False
        Add what needs no detector, below the tables and outside of ranks and tests: "random", the scores of the
        detectors in random order (mean of 5 shuffles each, by a formula where there is one), "perfect", the labels as
        scores, and, where `values` are there, two one-liners on the series itself. The result then has `baseline` and
        `above_random()`.
    reading
        The options of `te.Scores`: `label`, `score`, `by`, `detector`, `time`, `incidents`, `ignore`, `fit`, `missing`
        and others. With `missing="worst"` a detector without scores on a series gets the worst value that any has
        there; "error" refuses such detectors; with all others a detector is averaged over the series that it has.
    n_jobs : int, optional
        Series that are evaluated at once, as for `evaluate_many`: by default as many as there are cores. Under
        `joblib.parallel_config(backend="dask")` or "ray" the workers of a cluster evaluate them.
    progress : bool, function (done, total) or class
        As for `te.rankeval.run`, of scorings, where it takes more than two seconds.

    Returns
    -------
    Comparison
        Prints as tables; `rows`, `table(series)`, `average()`, `ranks()`, `significance()`, `disagreement()`,
        `report(path)`, `to_frame`, `to_latex`, `to_json`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 1, 1, 0, 0, 0, 0]
    >>> good, poor = [0.1, 0.2, 0.9, 0.8, 0.1, 0.3, 0.2, 0.1], [0.5, 0.6, 0.4, 0.7, 0.5, 0.5, 0.6, 0.5]
    >>> te.compare({"good": good, "poor": poor}, y_true, ["cce", "auc_roc"])
    detector      cce  auc_roc
    --------  -------  -------
    good      0.8518*  1.0000*
    poor      0.0475!  0.5000!
    <BLANKLINE>
    * first in its column; ! never first
    never first: poor (not above chance)

    A table with a row per point, here with a column of scores for each detector:

    >>> table = {"day": ["mo"] * 3 + ["tu"] * 5, "label": y_true, "good": good, "poor": poor}
    >>> te.compare(table, metrics="auc_roc", by="day", score=["good", "poor"]).series
    ['mo', 'tu']
    """
    rule, chosen = parse_rule(threshold), select_metrics(metrics)
    found = as_scores(scores, y_true, X=X, **reading)
    rules: Rules = rule if thresholds is None else _rules(thresholds, found)
    rows: list[Row] = []
    facts: dict[str, SeriesFacts] = {}
    odd: dict[tuple[str, str], OddAlarms | None] = {}
    fixed: list[Row] = []
    judged = rows_of(found, chosen, rules, n_jobs, skill=True, draws=DRAWS * baseline)
    for one, own in _told(judged, found, progress) if progress else judged:
        place = {"series": one.series, "detector": one.detector}
        if isinstance(one, LeftOut):
            said = {} if one.reason == NO_SCORE else {"message": one.reason}
            rows += [{**place, **missing_row(m), **said, "dropped": None} for m in chosen if one.detector]
            continue
        if one.series not in facts:
            facts[one.series] = SeriesFacts.of(one.given.y_true)
            fixed += baseline_rows(one, chosen, rule) if baseline else []
        odd[one.series, one.detector] = odd_alarms(own, one.scoring.n)
        rows += [{**place, **row, "dropped": one.missing} for row in own]
    _check_complete(found, rows)
    options = found.options
    if {"file", "folder"} <= {*options.by} and options.named_by is None and len({row["detector"] for row in rows}) == 1:
        how = hint("detector='folder' (or 'file')", "--detector folder (or file)")
        warn(f"files and folders name series, so this is one detector; where one of the two is the detector, say {how}")
    found.warn()
    warn_of_alarms({f"{series} ({name})" if series else name: what for (series, name), what in odd.items()})
    warn_of_undefined(rows)
    # The rows of each detector together, in the order of their first ones.
    rows = [row for own in grouped((row["detector"], row) for row in rows).values() for row in own]
    made = Made(tuple(chosen), rule, rules)
    beside = Comparison([*random_rows(rows), *fixed], made=made) if baseline else None
    return Comparison(rows, source=found, made=made, facts=facts, odd=odd, baseline=beside)


def _told(judged: Iterable[T], scores: Scores, progress: bool | Progress) -> Iterator[T]:
    """Tell the progress from two seconds on; how many scorings there are is counted only then."""
    begun, total = time.monotonic(), 0
    with progress_of(progress, "tsadeval compare") as tell:
        for done, one in enumerate(judged, 1):
            yield one
            if not total and scores.repeatable and time.monotonic() - begun > QUICK:
                total = len(scores) + len(scores.lost)
            if total:
                tell(min(done, total), total, "")


def _rules(thresholds: Mapping[str, Any], scores: Scores) -> dict[str, Rule]:
    """Return the rule of each detector; where no threshold was found there is no alarm."""
    for name in thresholds:
        check_known(name, scores.detectors, "detector", "these scores")
    lacking = [name for name in scores.detectors if name not in thresholds]
    if lacking:
        raise InvalidInputError(f"thresholds has none of {named(lacking)}: give one, or select the others first")
    given = {name: sys.float_info.max if value == math.inf else value for name, value in thresholds.items()}
    return {name: parse_rule(value) for name, value in given.items()}


def _check_complete(scores: Scores, rows: Sequence[Row]) -> None:
    """Refuse detectors that lack a series with missing="error"."""
    have = {(row["series"], row["detector"]) for row in rows}
    names, places = (dict.fromkeys(row[key] for row in rows) for key in ("detector", "series"))
    absent = [pair for pair in product(names, places) if pair[::-1] not in have] if scores.missing == "error" else []
    if absent:
        name, series = absent[0]
        raise InvalidInputError(
            f'detector {name!r} has no scores on series {series!r}: complete them, or choose missing="skip"'
        )


def random_rows(rows: Sequence[Row]) -> list[Row]:
    """Return a row per series and metric: the mean of what the shuffled scores of its detectors get, and its error."""
    drawn = grouped(((row["series"], row["metric"]), row) for row in rows if "random" in row)
    return [
        {
            **_row(series, "random", metric, finite_mean(row["random"] for row in some)),
            "random_error": math.sqrt(finite_mean(row["random_error"] ** 2 for row in some) / len(some)),
        }
        for (series, metric), some in drawn.items()
    ]


def _row(series: str, detector: str, metric: str, value: float) -> Row:
    return {"series": series, "detector": detector, "metric": metric, "value": value, "status": "ok", "message": None}


def baseline_rows(one: Scored, metrics: Sequence[Metric], rule: Rule) -> list[Row]:
    """Return the rows of perfect scores on the series of a scoring, and of one-liners where its values are known."""
    perfect = zip(metrics, perfect_values(metrics, one.scoring), strict=True)
    rows = [_row(one.series, "perfect", str(metric), value) for metric, value in perfect]
    given = one.given
    for name in ONE_LINERS if given.values is not None else ():
        try:
            series = np.asarray(given.values, np.float64).reshape(len(given.values), -1)
            scores = DETECTORS[name].build().fit(series).score(series)
            scoring = observe(given.y_true, scores, times=given.times, ignore=given.ignore)
        except ValueError:  # the series has gaps, or is shorter than a window
            continue
        place = {"series": one.series, "detector": name.replace("_", " ")}
        rows += [{**place, **row} for row in rows_of_scoring(scoring, metrics, rule)]
    return rows


def orders_under(
    found: Comparison, thresholds: Sequence[str | float | Rule], n_jobs: int | None
) -> dict[str, tuple[Floats, Sequence[Flaw | None]]]:
    """Return values (larger is better) and flaws by each metric, of metrics of alarms under each rule."""
    of_alarms = [metric for metric in found.made.metrics if metric.kind == "predictions"]
    every, values = range(len(found.series)), found._better()
    names = [str(metric) for metric in found.made.metrics if metric not in of_alarms]
    orders: dict[str, tuple[Floats, Sequence[Flaw | None]]] = {n: (values[n], found.flaws(n, every)) for n in names}
    for rule in thresholds if of_alarms else ():
        with warnings.catch_warnings(action="ignore"):  # they were given when it was compared
            one = compare(found.source, metrics=of_alarms, threshold=rule, n_jobs=n_jobs)
        orders |= {f"{name} at {one.made.rule}": (v, one.flaws(name, every)) for name, v in one._better().items()}
    return orders
