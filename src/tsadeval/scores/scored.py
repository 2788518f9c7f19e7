"""Scorings of users: built from labels, scores, times and ignored points; as given, left out, and aligned by stamps."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from tsadeval.core.arrays import checked_scores, index_of, numbers_with_gaps, same_index, same_length
from tsadeval.core.facts import grouped
from tsadeval.core.inputs import Bools, Scoring, label_runs
from tsadeval.core.names import printable
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.results import Row, plain
from tsadeval.core.setting import MISSING, Missing, Setting, is_spans
from tsadeval.core.times import Times, read_times
from tsadeval.errors import InvalidInputError, hint
from tsadeval.incidents.placement import INSIDE, lay
from tsadeval.incidents.reader import Asked, IncidentTable
from tsadeval.scores.options import SCORE


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


NO_SCORE = "no point has a score"
_SHOWN = 5  # names of detectors


class LeftOut(NamedTuple):
    """What cannot be evaluated, and why: a detector on a series, or a whole file where these have no names."""

    series: str
    detector: str
    place: str
    reason: str
    name: str = ""  # what it is called in messages; of a file, which the reason names, empty
    keys: tuple[tuple[str, str], ...] = ()  # the values of `by`, and the column of its scores: of a table
    column: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}" if self.name else self.reason


def causes(left_out: Sequence[LeftOut]) -> list[str]:
    """Return what was left out, a line for each cause: its first three places, of different series if there are.

    Reasons that differ in numbers and in the name of the series only have the same cause; the first one is told.
    """
    lines = []
    for _, alike in grouped((_cause(one), one) for one in left_out).items():
        firsts = [own[0] for own in grouped((one.series, one.name) for one in alike).values()]
        names = list(filter(None, dict.fromkeys([*firsts, *(one.name for one in alike)])))
        more = f" and {len(names) - 3} more" * (len(names) > 3)
        shown = "; ".join(names[:3]) + more
        reasons = dict.fromkeys(one.reason for one in alike)
        also = "; the others alike" * (len(reasons) > 1)
        lines.append(f"{shown}{': ' * bool(shown)}{alike[0].reason}{also}")
    return lines


def _cause(one: LeftOut) -> str:
    """Return a reason without what is its own: numbers, and names of the file, the series and the detector."""
    if not one.series:
        return one.reason.removeprefix(one.place)
    parts = sorted({one.series, *(value for _, value in one.keys), one.detector} - {""}, key=len, reverse=True)
    return re.sub("|".join(["[0-9]+", *map(re.escape, parts)]), "", one.reason)


@dataclass(frozen=True, eq=False)
class Given:
    """Labels and scores of a detector on a series as they came, and all that was given beside them."""

    series: str
    detector: str
    y_true: Any
    y_score: Any
    times: Any = None  # `Times`, once the scoring is joined with its companions
    ignore: Any = None
    fit: Any = None
    values: Any = None
    place: str = ""  # the file it came from
    file: str = ""  # the name by which incidents belong to it: of its file without folder and ending, or of the series
    keys: Mapping[str, str] = field(default_factory=dict)  # the values of `by`
    column: str = ""  # of its scores
    incidents: IncidentTable | None = None  # those that are the labels

    @property
    def name(self) -> str:
        """What it is called in messages: where it is in its file, or its series and detector."""
        if self.place:
            return ", ".join(map(printable, (self.place, *self.keys.values(), self.column)))
        named = {"series": self.series, "detector": self.detector if self.detector != SCORE else ""}
        return ", ".join(f"{what} {name!r}" for what, name in named.items() if name)

    def left_out(self, reason: str) -> LeftOut:
        """Return the entry that stands for it where it cannot be used."""
        about = self.name, tuple(self.keys.items()), self.column
        return LeftOut(self.series, self.detector, self.place, reason, *about)

    def scored(self, missing: Missing) -> "Scored | LeftOut":
        """Check it and make its scoring, or say why it is left out."""
        try:
            given = numbers_with_gaps(self.y_score, "y_score", "a one-dimensional sequence of numbers")
            lost = int(np.count_nonzero(np.isnan(given))) if given.dtype.kind == "f" else 0
            if missing != "error" and lost and lost == np.size(self.y_true):
                return self.left_out(NO_SCORE)
            setting = {"times": self.times, "ignore": self.ignore, "fit": self.fit, "values": self.values}
            return Scored(self, observe(self.y_true, self.y_score, missing=missing, **setting), lost)
        except InvalidInputError as error:
            return self.left_out(str(error))

    def at_points(self, mask: Bools) -> Self:
        """Take some of the points."""
        return replace(
            self,
            y_true=np.asarray(self.y_true)[mask],
            y_score=np.asarray(self.y_score)[mask],
            times=None if self.times is None else self.times.at_points(mask),
            ignore=self.ignore if self.ignore is None or is_spans(self.ignore) else np.asarray(self.ignore)[mask],
            values=None if self.values is None else np.asarray(self.values)[mask],
        )


@dataclass(frozen=True, eq=False)
class Scored:
    """One scoring of `te.Scores`: its checked data, and what it was made of."""

    given: Given
    scoring: Scoring
    missing: int  # points without a score

    @property
    def series(self) -> str:
        """The name of the series."""
        return self.given.series

    @property
    def detector(self) -> str:
        """The name of the detector."""
        return self.given.detector

    def __repr__(self) -> str:
        about = f"{np.size(self.given.y_true):,} points, {len(self.scoring.events)} events"
        return f"<Scored {self.given.name or 'one series'}: {about}>"


def align(given: Sequence[Given]) -> list[Given]:
    """Put all detectors of one series on the same points, by their time stamps; NaN where one has no score.

    Nothing is placed by comparing labels: without time stamps, scorings of different length are refused.
    """
    first = max(given, key=lambda one: np.size(one.y_true))
    other = next((one for one in given if not _same_points(one, first)), None)
    if other is None:
        return [replace(one, y_true=first.y_true, times=first.times) for one in given]
    if any(one.times is None for one in given):
        raise _refusal(first, other)
    clocks: list[Times] = [one.times for one in given]
    stamps, firsts = np.unique(np.concatenate([clock.stamps for clock in clocks]), return_index=True)
    places = [np.searchsorted(stamps, clock.stamps) for clock in clocks]
    shared = np.bincount(np.concatenate(places)) > 1
    for one, at in zip(given, places, strict=True):
        if not shared[at].any():  # another clock, or another time: nothing of it could be compared
            raise different(one.series, one.detector, next(rest.detector for rest in given if rest is not one))
    labels = np.full(len(stamps), -1, np.int8)
    for one, at in zip(given, places, strict=True):
        own = np.asarray(one.y_true)
        if np.any((labels[at] >= 0) & (labels[at] != own)):
            raise different(one.series, given[0].detector, one.detector)
        labels[at] = own
    whole = next((one for one in given if len(one.times) == len(stamps)), None)
    if whole is None:  # the time stamps of all, in the form in which they came
        written = np.concatenate([np.asarray(clock.given) for clock in clocks])[firsts]
        times, values = replace(clocks[0], stamps=stamps, given=written), None
    else:
        times, values = whole.times, whole.values
    return [
        replace(_placed(one, at, len(stamps)), y_true=labels, times=times, values=values)
        for one, at in zip(given, places, strict=True)
    ]


def _same_points(one: Given, other: Given) -> bool:
    if one.y_true is not other.y_true and not np.array_equal(np.asarray(one.y_true), np.asarray(other.y_true)):
        return False
    if one.times is None and other.times is None:
        own, others = index_of(one.y_score), index_of(other.y_score)
        return own is None or others is None or bool(own.equals(others))
    if one.times is None or other.times is None or one.times is other.times:
        return (one.times is None) == (other.times is None)
    return np.array_equal(one.times.stamps, other.times.stamps)


def _refusal(one: Given, other: Given) -> InvalidInputError:
    counts = [np.size(given.y_true) for given in (one, other)]
    if counts[0] == counts[1]:
        return different(one.series, one.detector, other.detector)
    on = f" on series {one.series!r}" if one.series else ""
    return InvalidInputError(
        f"detectors {one.detector!r} and {other.detector!r} have {counts[0]} and {counts[1]} points{on}: give time "
        f"stamps ({hint('time=', '--time')}), by which they are aligned, or the same rows for both, with NaN where "
        f"there is no score; te.align{hint('', ' of the Python library')} puts scores of windows on points"
    )


def different(series: str, one: str, other: str) -> InvalidInputError:
    """Build the error of two detectors that do not agree on what there is to find in a series."""
    on = f" on series {series!r}" if series else ""
    return InvalidInputError(
        f"detectors {one!r} and {other!r} have different labels{on}, or different time stamps or indexes: all scorings "
        "of a series need the same rows in the same order, with NaN where there is no score; different series need "
        "different names"
    )


def _placed(one: Given, at: Any, n: int) -> Given:
    """Put the scores on their places among n points."""
    own = numbers_with_gaps(one.y_score, "y_score", "a one-dimensional sequence of numbers")
    same_length(np.asarray(one.y_true), own, "y_score")
    scores = np.full(n, np.nan, own.dtype if own.dtype.kind == "f" else np.float64)
    scores[at] = own
    ignore = one.ignore
    if ignore is not None and not is_spans(ignore):
        ignore = np.zeros(n, np.bool_)
        ignore[at] = np.asarray(one.ignore)
    return replace(one, y_score=scores, ignore=ignore)


class Known:
    """What is known of scorings that were read."""

    def __init__(self) -> None:
        self.names: dict[str, dict[str, None]] = {"series": {}, "detector": {}}  # also of what is left out
        self.series: dict[str, Row] = {}
        self.detectors: dict[str, None] = {}
        self.left_out: list[LeftOut] = []
        self.missing = Counter[str]()  # scores, by detector
        self.count = 0

    def add(self, one: Scored | LeftOut) -> None:
        """Take in a scoring, or what is left out."""
        for what, names in self.names.items():
            names[getattr(one, what)] = None
        if isinstance(one, LeftOut):
            self.left_out.append(one)
            if one.detector and one.reason == NO_SCORE:
                self.detectors[one.detector] = None
            return
        self.count += 1
        self.detectors[one.detector] = None
        self.missing[one.detector] += one.missing
        if one.series in self.series:
            return
        given, setting = one.given, one.scoring.setting
        labels = np.asarray(given.y_true) != 0
        row: Row = {"series": one.series, "points": len(labels), "anomalous_points": int(np.count_nonzero(labels))}
        row["events"] = int(np.count_nonzero(np.diff(labels.view(np.int8), prepend=0) == 1))
        row["ignored_points"] = setting.skipped - setting.unscored
        if given.times is not None:
            times = given.times
            gaps = int(np.count_nonzero(times.after_gap))
            row |= {"start": times.at(0), "end": times.at(len(times) - 1), "step": times.step / 1e9, "gaps": gaps}
        self.series[one.series] = row

    def check(self) -> None:
        """Refuse scores of which nothing can be used."""
        if self.count:
            return
        if self.left_out and all(one.reason == NO_SCORE for one in self.left_out):
            raise InvalidInputError("no detector has a score on any series: there is nothing to judge")
        why = [one for one in self.left_out if one.reason != NO_SCORE]
        raise InvalidInputError("; ".join(causes(why)) or "scores is empty: there is no series to judge")

    def lines(self) -> list[str]:
        """Return what was understood, a line each."""
        rows = list(self.series.values())
        total = {name: sum(row[name] for row in rows) for name in ("points", "events", "ignored_points")}
        names = ", ".join(list(self.detectors)[:_SHOWN]) + (", ..." if len(self.detectors) > _SHOWN else "")
        detectors = f"{_count(len(self.detectors), 'detector')} ({names})"
        lines = [f"{len(rows)} series, {detectors}, {_count(total['points'], 'point')}{_times(rows)}"]
        quiet = sum(row["events"] == 0 for row in rows)
        on = f" on {len(rows) - quiet} of {len(rows)} series" if len(rows) > 1 else ""
        lines.append(f"labels: {_count(total['events'], 'event')}{on}")
        if total["ignored_points"]:
            lines.append(f"not judged: {_count(total['ignored_points'], 'point')}")
        missing = [f"{_count(count, 'score')} of {name}" for name, count in self.missing.items() if count]
        if missing:
            lines.append(f"missing: {', '.join(missing[:_SHOWN])}{', ...' * (len(missing) > _SHOWN)}")
        return lines + [f"left out: {line}" for line in causes(self.left_out)]


def _times(rows: Sequence[Row]) -> str:
    """When the points are, how far apart, and how many gaps there are."""
    known = [row for row in rows if "start" in row]
    if not known:
        return ""
    start, end = min(row["start"] for row in known), max(row["end"] for row in known)
    step, gaps = float(np.median([row["step"] for row in known])), sum(row["gaps"] for row in known)
    every = f"{step:g} s" if step < 120 else f"{step / 60:g} min" if step < 7200 else f"{step / 3600:g} h"
    lost = f", {_count(gaps, 'gap')}" if gaps else ""
    return f" ({plain(start)} to {plain(end)}, every {every}{lost})"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
