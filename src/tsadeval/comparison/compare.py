"""`te.compare`: evaluate several detectors with several metrics, on one series or on many."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval.comparison.categories import SeriesFacts
from tsadeval.comparison.comparison import Comparison, Made
from tsadeval.comparison.detector_table import Values
from tsadeval.core.arrays import numbers_with_gaps
from tsadeval.core.facts import OddAlarms, missing_row
from tsadeval.core.messages import warn_of_alarms, warn_of_undefined
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.names import did_you_mean
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.core.setting import MISSING, Missing
from tsadeval.detectors.estimators import family_of, fitted_scores
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.many import evaluated
from tsadeval.incidents.reader import is_table
from tsadeval.scores.cache import all_scores
from tsadeval.scores.scores import runs as table_runs
from tsadeval.scores.scores import timed_runs
from tsadeval.scores.scoring import has_dates
from tsadeval.thresholds.rules import parse_rule

Run = tuple[str, str, Any, Any]


def compare(
    scores: Any,
    y_true: Any = None,
    metrics: Metrics = "recommended",
    *,
    by: str | Sequence[str] = (),
    y_score: str | Sequence[str] = "score",
    detector: str | None = None,
    threshold: str | float | Rule = "best",
    missing: Missing = "skip",
    times: Any = None,
    ignore: Any = None,
    fit: Mapping[Any, Any] | None = None,
    X: Any = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Evaluate several detectors with several metrics.

    Parameters
    ----------
    scores : mapping, iterable, table or path
        Detector to scores of one series (a mapping, or a data frame beside `y_true`), or to a fitted estimator that
        gives them for `X`; any iterable of
        `(series, detector, y_true, y_score)`, for many series; a table (pandas, polars, a mapping of columns, a file,
        several files or a folder of files: csv, Parquet, npz and others), long or with a column of scores for each
        detector; or the store of `te.detect`, whose cached scores are evaluated again.
    y_true : array-like of shape (n,), or str
        The labels, where `scores` is a mapping from detectors; the column of the labels ("label" by default), where
        it is a table.
    metrics, threshold
        As for `evaluate`: by default the set "recommended", other sets are "paper" and "all". The threshold is found
        for each scoring by itself.
    by : str or sequence of str
        Of a table: the columns that tell series and detectors apart, such as `["series", "detector"]`; "file" and
        "folder" are those of the files.
    y_score : str or sequence of str, default="score"
        Of a table: the columns of scores; several, or a pattern as "lof_*", for a table with a column per detector.
    detector : str, optional
        Of a table: which of `by` names the detector; by default one that is called so ("detector", "model", ...).
    missing : {"skip", "ignore", "no alarm", "worst", "error"}, default="skip"
        What to do about missing scores (NaN), by the same words as for `evaluate`, and about detectors without scores
        on a series. "skip" leaves out the points without a score, between others as `ignore` does it, so that no gap
        makes one event of two; metrics of scores that cannot leave out points see the others put together. With
        "ignore" these metrics are NaN. "no alarm" takes missing scores as lower than all others. With all three, a
        detector is averaged over the series that it has. "worst" is "no alarm", and where a detector has no scores on a
        series it gets the worst value of all detectors. "error" refuses both.
    times, ignore : optional
        As for `evaluate` where there is one series; for many a mapping from series to these. Of a table, `times` may be
        the name of the column of time stamps; by default the index of a frame of one series, where it has dates.
    fit : mapping, optional
        Detector to scores of a training or validation part, from which rules without labels take their threshold; for
        many series, (series, detector) to these.
    X : array-like of shape (n, columns), optional
        The series that fitted estimators are asked for scores of: those of scikit-learn, PyOD, aeon, sktime and
        tsadeval, each in its own way, so that higher is more anomalous.
    n_jobs : int, optional
        Series that are evaluated at once, as for `evaluate_many`: by default as many as there are cores. Under
        `joblib.parallel_config(backend="dask")` or "ray" the workers of a cluster evaluate them.

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
    poor      0.0475   0.5000
    <BLANKLINE>
    * first in its column

    A table with a row per point, here with a column of scores for each detector:

    >>> table = {"day": ["mo"] * 3 + ["tu"] * 5, "label": y_true, "good": good, "poor": poor}
    >>> te.compare(table, "label", "auc_roc", by="day", y_score=["good", "poor"]).series
    ['mo', 'tu']
    """
    check_parameters("compare", {"missing": OneOf(MISSING)}, {"missing": missing})
    rule = parse_rule(threshold)
    chosen = select_metrics(metrics)
    scores = scores_of_models(scores, X)
    if times is None:
        times = _index_of_times(scores, y_true, by)
    columns: dict[str, Any] = {"by": by, "y_score": y_score, "detector": detector}
    stamps: Mapping[tuple[str, str], Mapping[str, Any]] = {}
    if isinstance(times, str):
        given, stamps = timed_table(scores, y_true, times, **columns)
        times = None
    else:
        given = list(runs_of(scores, y_true, **columns))
    if not given:
        raise InvalidInputError("scores is empty: there is nothing to compare")
    runs: dict[str, list[tuple[str, Any, Any, dict[str, Any]]]] = {}
    gone: dict[str, list[str]] = {}
    dropped: dict[tuple[str, str], int] = {}
    facts: dict[str, SeriesFacts] = {}
    settings: dict[tuple[str, str], dict[str, Any]] = {}
    all_series, detectors = ({run[k] for run in given} for k in (0, 1))
    times, ignore = by_series("times", times, all_series), by_series("ignore", ignore, all_series)
    _check_fit(fit, all_series, detectors)
    lengths = _check_pairs(given)
    for series, name, labels, values in given:
        facts.setdefault(series, SeriesFacts.of(labels))
        setting = {
            "times": times(series),
            **stamps.get((series, name), {}),
            "ignore": ignore(series),
            "fit": None if fit is None else fit.get((series, name), fit.get(name)),
        }
        settings[series, name] = {key: value for key, value in setting.items() if value is not None}
        lost = 0 if missing == "error" else unscored(values)
        runs.setdefault(name, [])
        if lost and lost == np.size(labels):
            gone.setdefault(name, []).append(series)
        else:
            dropped[series, name] = lost + lengths[series] - np.size(labels)
            runs[name].append((series, labels, values, setting))
    if not any(runs.values()):
        raise InvalidInputError("no detector has a score on any series: there is nothing to compare")
    if missing == "error":
        _refuse_gaps(runs, list(facts))
    rows: list[Row] = []
    micro: Values = {}
    odd: dict[tuple[str, str], OddAlarms | None] = {}
    for name, entries in runs.items():
        if entries:
            try:
                found, alarms = evaluated(entries, chosen, rule, missing, n_jobs)
            except InvalidInputError as error:
                raise InvalidInputError(f"detector {name!r}: {error}") from None
            micro[name] = found.micro
            odd |= {(series, name): what for series, what in alarms.items()}
            told = {entry[0] for entry in entries if entry[3].get("ignore") is not None}
            for row in found.rows:
                if row["series"] not in told:
                    row.pop("ignored_points", None)  # those without a score, which `dropped` counts
                place = {"series": row["series"], "detector": name}
                rows.append({**place, **row, "dropped": dropped[row["series"], name]})
        rows += [_gap(series, name, metric) for series in gone.get(name, []) for metric in chosen]
    warn_of_alarms({f"{series} ({name})" if series else name: what for (series, name), what in odd.items()})
    warn_of_undefined(rows)
    return Comparison(
        rows,
        pooled=micro.copy,  # unlike a function of our own it pickles
        lower={str(m) for m in chosen if m.direction == "lower"},
        missing=missing,
        facts=facts,
        runs=given,
        made=Made(tuple(chosen), rule, settings),
        odd=odd,
    )


def by_series(name: str, given: Any, series: Collection[str]) -> Callable[[str], Any]:
    """What is given for a series: the same for all of them, or the value of a mapping from series."""
    of_one = len(series) == 1 and not any(one in given for one in series) if isinstance(given, Mapping) else True
    if of_one or is_table(given):
        return lambda one: given
    entries: Mapping[str, Any] = given
    for key in entries:
        if key not in series:
            near = did_you_mean(str(key), sorted(series))
            raise InvalidInputError(f"{name} has an entry for {key!r}, which is no series: {near}")
    return entries.get


def _check_pairs(runs: Sequence[Run]) -> dict[str, int]:
    """Refuse two scorings of a detector on a series, and labels of a series that differ between detectors.

    Returns the number of points of each series.
    """
    seen: set[tuple[str, str]] = set()
    first: dict[str, tuple[str, Any]] = {}
    lengths: dict[str, int] = {}
    for series, detector, labels, _ in runs:
        on = f" on series {series!r}" if series else ""
        if (series, detector) in seen:
            raise InvalidInputError(f"there are two scorings of detector {detector!r}{on}: rename one")
        seen.add((series, detector))
        other, known = first.setdefault(series, (detector, labels))
        if labels is not known and not _same_labels(labels, known):
            raise InvalidInputError(
                f"detectors {other!r} and {detector!r} have different labels{on}: all scorings of a series need the "
                "same rows in the same order, with NaN where there is no score; different series need different names"
            )
        lengths[series] = max(lengths.get(series, 0), np.size(labels))
    return lengths


def _same_labels(labels: Any, known: Any) -> bool:
    """Return True if the labels are equal, up to points that one of them lacks at the start or the end."""
    short, long = sorted((np.asarray(labels), np.asarray(known)), key=np.size)
    if short.ndim != 1 or long.ndim != 1:
        return True  # the check of the labels refuses it
    return any(np.array_equal(short, part) for part in (long[len(long) - len(short) :], long[: len(short)]))


def _check_fit(fit: Any, series: Collection[str], detectors: Collection[str]) -> None:
    """Refuse scores to fit on that belong to no detector: a rule would silently do without them."""
    for key in fit or ():
        known = key in detectors or (isinstance(key, tuple) and key[0] in series and key[1] in detectors)
        if not known:
            raise InvalidInputError(
                f"fit has scores of {key!r}, which is neither a detector nor a pair (series, detector): "
                f"{did_you_mean(str(key), sorted(detectors))}"
            )


def unscored(scores: Any) -> int:
    """How many scores are missing; what are no scores is refused elsewhere."""
    array = numbers_with_gaps(scores, "y_score", "a one-dimensional sequence of numbers")
    return int(np.count_nonzero(np.isnan(array))) if array.dtype.kind == "f" else 0


def scores_of_models(scores: Any, X: Any) -> Any:
    """A mapping from detectors to scores, where fitted estimators were asked for those of X; anything else as it is."""
    if isinstance(scores, Mapping) and any(family_of(one) is not None for one in scores.values()):
        return {name: _asked(name, one, X) for name, one in scores.items()}
    return scores


def _index_of_times(scores: Any, y_true: Any, by: str | Sequence[str]) -> str | None:
    """The name of the index of a table, where it says the times of one series."""
    if by or _has_labels(y_true) or not has_dates(scores) or not hasattr(scores, "columns"):
        return None
    index = scores.index
    usable = index.nlevels == 1 and index.is_unique and index.is_monotonic_increasing and not index.hasnans
    return str(index.name or "index") if usable and (index.name or "index") not in scores.columns else None


def _has_labels(y_true: Any) -> bool:
    """Return True if `y_true` holds labels and is not the name of their column."""
    return not isinstance(y_true, (str, type(None)))


def _asked(name: Any, given: Any, X: Any) -> Any:
    """The scores of a fitted estimator for X; anything else is what it is."""
    if family_of(given) is None:
        return given
    if X is None:
        raise InvalidInputError(f"{name!r} is an estimator, not scores: pass X, the series that it is to score")
    try:
        return fitted_scores(given, X)
    except Exception as error:
        if type(error).__name__ != "NotFittedError":  # each package has its own class of this name
            raise
        raise InvalidInputError(
            f"{name!r} is not fitted: fit it on a training part first, or let te.detect train it"
        ) from None


def _refuse_gaps(runs: Mapping[str, list[tuple[Any, ...]]], series: list[str]) -> None:
    for name, entries in runs.items():
        have = {entry[0] for entry in entries}
        for one in series:
            if one not in have:
                raise InvalidInputError(
                    f'detector {name!r} has no scores on series {one!r}: complete them, or choose missing="skip"'
                )


def _gap(series: str, detector: str, metric: Metric) -> Row:
    return {"series": series, "detector": detector, **missing_row(metric), "dropped": None}


def runs_of(
    scores: Any,
    y_true: Any = None,
    *,
    by: str | Sequence[str] = (),
    y_score: str | Sequence[str] = "score",
    detector: str | None = None,
) -> Iterator[Run]:
    """Every scoring, whatever form it came in."""
    if hasattr(scores, "scorings"):  # a result that keeps what it was made from
        yield from scores.scorings()
    elif is_store(scores):
        yield from _cached(scores)
    elif _has_labels(y_true) and not by and hasattr(scores, "columns") and hasattr(scores, "__getitem__"):
        for name in scores.columns:  # a frame of scores, with a column for each detector
            yield "", str(name), y_true, scores[name]
    elif _is_table(scores, y_true, by):
        yield from table_runs(scores, by=by, y_true=_label(y_true), y_score=y_score, detector=detector)
    elif isinstance(scores, Mapping):
        if y_true is None:
            raise InvalidInputError("y_true is missing: a mapping of scores needs the labels of the series")
        for name, values in scores.items():
            yield "", str(name), y_true, values
    elif y_true is not None:
        raise InvalidInputError("scores must be a mapping from detector to scores where y_true is given")
    else:
        yield from _tuples(scores)


def timed_table(
    scores: Any, y_true: Any, time: str, *, by: str | Sequence[str], y_score: str | Sequence[str], detector: str | None
) -> tuple[list[Run], dict[tuple[str, str], dict[str, Any]]]:
    """Every scoring of a table, and by series and detector a setting with the time stamps in a column of it."""
    if not _is_table(scores, y_true, by) or is_store(scores) or hasattr(scores, "scorings"):
        raise InvalidInputError(f"times={time!r} names a column, but scores is no table: pass the time stamps")
    found = list(timed_runs(scores, by=by, y_true=_label(y_true), y_score=y_score, detector=detector, time=time))
    return [(*one.run,) for one in found], {one.run[:2]: {"times": one.times} for one in found}


def _label(y_true: Any) -> str:
    """The column of the labels of a table."""
    if not isinstance(y_true, (str, type(None))):
        raise InvalidInputError("y_true must be the name of a column where scores is a table")
    return y_true or "label"


def _tuples(scores: Iterable[Any]) -> Iterator[Run]:
    for entry in scores:
        try:
            series, detector, labels, values = entry
        except (TypeError, ValueError):
            raise InvalidInputError("scores must give (series, detector, y_true, y_score) each time") from None
        yield str(series), str(detector), labels, values


def is_store(scores: Any) -> bool:
    """Return True if `scores` is the folder of a store with scores of detectors."""
    return isinstance(scores, (str, os.PathLike)) and Path(scores, "scores").is_dir()


def _is_table(scores: Any, y_true: Any, by: str | Sequence[str]) -> bool:
    """Return True if `scores` is a table, or if the other arguments name its columns."""
    if isinstance(y_true, str) or by or isinstance(scores, (str, os.PathLike)):
        return True
    if isinstance(scores, (list, tuple)) and scores and all(isinstance(one, (str, os.PathLike)) for one in scores):
        return True
    return not isinstance(scores, Mapping) and (hasattr(scores, "columns") or hasattr(scores, "column_names"))


def _cached(folder: str | Path) -> Iterator[Run]:
    for cached in all_scores(folder):
        seed = cached.provenance["seed"]
        detector = cached.provenance["detector"] + (f", seed {seed}" if seed else "")
        yield cached.provenance["dataset"], detector, cached.labels, cached.scores
