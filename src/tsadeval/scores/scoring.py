"""Build a Scoring from labels, scores, times and ignored points."""

from dataclasses import replace
from typing import Any

import numpy as np

from tsadeval.core.arrays import checked_scores, numbers_with_gaps, same_index
from tsadeval.core.inputs import Bools, Scoring, label_runs
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.setting import MISSING, Missing, Setting, is_spans
from tsadeval.core.times import Times, read_times
from tsadeval.errors import InvalidInputError
from tsadeval.incidents.placement import INSIDE, lay
from tsadeval.incidents.reader import Asked


def observe(
    y_true: Any,
    y_score: Any,
    y_pred: Any = None,
    *,
    times: Any = None,
    ignore: Any = None,
    missing: Missing = "error",
    fit: Any = None,
    values: Any = None,
    in_place: bool = False,
) -> Scoring:
    """Build a checked scoring with its setting; see `te.evaluate` for the arguments.

    `in_place` keeps points without a score at the beginning and the end, so that positions are those of the arrays.
    """
    check_parameters("evaluate", {"missing": OneOf(MISSING)}, {"missing": missing})
    mask = None if is_spans(ignore) else ignore
    same_index(y_true=y_true, y_score=y_score, y_pred=y_pred, times=times, ignore=mask, values=values)
    if times is None and has_dates(y_true):
        times = y_true.index
    gaps = None
    if missing != "error" and y_score is not None:
        y_score, gaps = below_all(y_score)
    count = 0 if gaps is None else int(np.count_nonzero(gaps))
    scoring = Scoring.of(y_true, y_score, y_pred)
    stamps = None if times is None else read_times(times, n=scoring.n)
    skipped, idle = (None, 0) if ignore is None else ignored_points(ignore, scoring.n, stamps)
    if stamps is None and skipped is None and fit is None and values is None and not count:
        return scoring
    setting = Setting(stamps, skipped, None if fit is None else checked_scores(fit, "fit"), values, idle_spans=idle)
    if gaps is None or not count:
        return _mask_ignored(scoring, setting)
    if missing not in ("skip", "ignore"):
        return _mask_ignored(scoring, replace(setting, unknown=gaps))
    alone = gaps if skipped is None else gaps & ~skipped
    setting = replace(setting, ignored=gaps if skipped is None else gaps | skipped)
    if missing == "skip":
        # Before the first score and after the last one there is nothing to keep apart.
        inside = slice(0, None) if in_place else slice(int(np.argmin(gaps)), len(gaps) - int(np.argmin(gaps[::-1])))
        unscored = int(np.count_nonzero(alone[inside]))
        masked = skipped is not None and bool(skipped.any())  # points that are to be ignored are never put together
        unseen = _count_unseen(scoring, scoring.truth.mask & ~gaps)
        setting = replace(setting, dropped=count, unscored=unscored, joined=not masked, unseen_events=unseen)
        scoring, setting = _cut(scoring, setting, inside)
    return _mask_ignored(scoring, setting)


def has_dates(y_true: Any) -> bool:
    """Return True if labels come with the dates of their points, as the index of a pandas Series."""
    index = getattr(y_true, "index", None)
    return not callable(index) and getattr(getattr(index, "dtype", None), "kind", "") == "M"


def below_all(y_score: Any) -> tuple[Any, Bools]:
    """Scores with those that are missing below all others (0 where these are predictions), and where they are."""
    scores = numbers_with_gaps(y_score, "y_score", "a one-dimensional sequence of numbers")
    if scores.dtype.kind != "f" or scores.ndim != 1:
        return y_score, np.zeros(scores.size, np.bool_)
    gaps = np.isnan(scores)
    if not gaps.any():
        return y_score, gaps
    if gaps.all():
        raise InvalidInputError("y_score is NaN everywhere: there is nothing to judge")
    filled = scores.copy()
    known = scores[~gaps]
    filled[gaps] = 0 if ((known == 0) | (known == 1)).all() else _next_below(known)
    return filled, gaps


def _next_below(scores: Any) -> Any:
    """Return the largest number of the scores' own type that is below all of them."""
    lowest = scores.min()
    if lowest == np.finfo(scores.dtype).min:
        raise InvalidInputError(
            f"y_score goes down to {lowest}, the lowest of all {scores.dtype} numbers, so that none is left below it "
            "for points without a score: scale the scores"
        )
    return np.nextafter(lowest, scores.dtype.type(-np.inf))


def _cut(scoring: Scoring, setting: Setting, inside: slice) -> tuple[Scoring, Setting]:
    """Return the points of a slice alone."""
    if len(range(*inside.indices(scoring.n))) == scoring.n:
        return scoring, setting
    given = None if scoring.given is None else scoring.given.mask[inside]
    times = None if setting.times is None else setting.times.at_points(inside)
    ignored = None if setting.ignored is None else setting.ignored[inside]
    found = Scoring.of(scoring.truth.mask[inside], scoring.raw[inside], given)
    return found, replace(setting, times=times, ignored=ignored)


def ignored_points(ignore: Any, n: int, times: Times | None) -> tuple[Bools, int]:
    """Return the points that are not judged, and the number of intervals where all of them lie elsewhere."""
    if not is_spans(ignore):
        found = label_runs(ignore, "ignore")
        if found.n != n:
            raise InvalidInputError(f"ignore has {found.n} points, but there are {n}; they must correspond")
        return found.mask, 0
    if times is None and isinstance(ignore, (list, tuple)) and not ignore:
        return np.zeros(n, np.bool_), 0
    if times is None:
        raise InvalidInputError(
            "ignore holds intervals of time, so times= is needed (or pass a mask, one value a point)"
        )
    laid = lay(ignore, times, INSIDE, asked=Asked(name="ignore"))
    # Of a list for all parts of a series some will lie elsewhere; if all do, the list is that of another time.
    return laid.labels.view(np.bool_), 0 if len(laid.rows) else laid.away + laid.dropped


def _mask_ignored(scoring: Scoring, setting: Setting) -> Scoring:
    """Return the scoring in its setting: points that are not judged are normal and have no alarm."""
    skipped = setting.ignored
    if skipped is None or not skipped.any():
        return replace(scoring, setting=replace(setting, ignored=None))
    if skipped.all():
        raise InvalidInputError("ignore leaves no point to judge")
    truth = scoring.truth.mask & ~skipped
    scores = scoring.raw.copy()
    scores[skipped] = _next_below(scores[~skipped])  # so that no threshold among the others reaches it
    found = Scoring.of(truth, scores)
    given = None if scoring.given is None else label_runs(scoring.given.mask & ~skipped, "y_pred")
    unseen = max(setting.unseen_events, _count_unseen(scoring, truth))
    return replace(found, given=given, setting=replace(setting, unseen_events=unseen))


def _count_unseen(scoring: Scoring, judged: Bools) -> int:
    """Return the number of events of which no point is among the anomalous points that are judged."""
    starts = label_runs(judged, "y_true").events.starts
    return len(scoring.events) - len(np.unique(np.searchsorted(scoring.events.starts, starts, side="right")))
