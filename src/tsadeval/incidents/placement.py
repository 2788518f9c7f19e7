"""Placement of intervals of time (incidents, alarms) on points as 0/1 labels, and back; when the events there began."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.durations import doubled, nanoseconds
from tsadeval.core.inputs import Events, Index, inside_any, label_runs
from tsadeval.core.parameters import Check, OneOf, check_parameters
from tsadeval.core.results import Row
from tsadeval.core.times import Named, Times, read_moments, read_times
from tsadeval.errors import InputWarning, InvalidInputError, hint, warn
from tsadeval.incidents.reader import Asked, IncidentTable, read_incidents
from tsadeval.tables.columns import NULLS, is_missing

Closed = Literal["left", "right", "both", "neither"]
Labels = NDArray[np.uint8]

# Which side of equal stamps `searchsorted` takes for the start and the stop of an interval.
_SIDES: dict[str, tuple[Literal["left", "right"], Literal["left", "right"]]] = {
    "left": ("left", "left"),
    "right": ("right", "right"),
    "both": ("left", "right"),
    "neither": ("right", "left"),
}
_BRACKETS = {"left": ("[", ")"), "right": ("(", "]"), "both": ("[", "]"), "neither": ("(", ")")}
CHECKS: dict[str, Check] = {
    "closed": OneOf(get_args(Closed)),
    "overlap": OneOf(("error", "merge")),
    "outside": OneOf(("error", "clip")),
    "between": OneOf(("error", "next", "near", "drop")),
}


class Fitting(NamedTuple):
    """What to do with intervals that overlap, reach beyond the stamps, or have none inside; as for `te.labels`."""

    overlap: str = "error"
    outside: str = "error"
    between: str = "error"


ANYHOW = Fitting("merge", "clip", "near")
INSIDE = Fitting("merge", "clip", "drop")  # the points inside the intervals alone


@dataclass(frozen=True)
class Laid:
    """Intervals on the points of a series.

    `rows` are those that have points, in the order of time, with their first point, one past the last, and their start
    in nanoseconds. `away` are wholly outside the stamps, `cut` reach beyond them, `moved` are without a stamp and put
    on the next point, `dropped` are without a stamp and left out (where those near the next point are put on it: in a
    gap), `joined` is the number of rows less that of events.
    """

    labels: Labels
    rows: Index
    first: Index
    stop: Index
    starts: Index
    away: int
    cut: int
    moved: int
    dropped: int
    joined: int
    open: int  # of the rows, without an end: they last until the data ends
    late: Index  # how long before their first point those begin that do so more than a step before it


def lay(
    incidents: Any, times: Any, fitting: Fitting, *, closed: Closed | None = None, asked: Asked | None = None
) -> Laid:
    """Find the points inside intervals of time, in any form that `te.labels` takes."""
    index = read_times(times)
    table = read_incidents(incidents, asked or Asked())
    if closed is None:
        closed = "both" if table.windows else "left"
    check_parameters("labels", CHECKS, {**fitting._asdict(), "closed": closed})
    names = [Named.of(f"{table.name}, {column}", table.lines) for column in table.columns]
    still = np.array([is_missing(stop) or stop in NULLS for stop in table.stops], np.bool_)
    ends = [start if lasts else stop for start, stop, lasts in zip(table.starts, table.stops, still, strict=True)]
    given = list(zip((table.starts, ends), names, strict=True))
    starts, stops = (read_moments(moments, index, name) for moments, name in given)
    intervals = _Intervals(starts, stops, still, index, closed, table)
    if index.tz is not None:
        later = [read_moments(moments, index, name, second=True) for moments, name in given]
        intervals = intervals.after_clocks_went_back(*later)
    end = int(index.edges[-1])
    return intervals._replace(stops=np.where(still, np.maximum(end, starts + 1), intervals.stops)).laid(fitting)


class _Intervals(NamedTuple):
    """Intervals in nanoseconds beside the stamps they are laid on; errors name the row."""

    starts: Index
    stops: Index
    open: NDArray[np.bool_]
    times: Times
    closed: Closed
    table: IncidentTable

    def after_clocks_went_back(self, starts: Index, stops: Index) -> Self:
        """Take other readings of times that come twice where only these are in order; refuse what stays in doubt."""
        across = (starts != self.starts) & (stops != self.stops) & (self.stops <= self.starts) & ~self.open
        pairs = ((self.starts, starts), (self.stops, stops))
        unclear = [np.not_equal(*(np.searchsorted(self.times.stamps, one) for one in pair)) for pair in pairs]
        rows = np.flatnonzero((unclear[0] | (unclear[1] & ~self.open)) & ~across)
        if len(rows):
            raise doubled(self.table.name, self.table.places(rows.tolist()), self.times.tz)
        return self._replace(stops=np.where(across, stops, self.stops))

    def text(self, row: int) -> str:
        left, right = _BRACKETS[self.closed]
        ends = f"{self.times.text(int(self.starts[row]))}, {self.times.text(int(self.stops[row]))}"
        return f"{self.table.place(row)} {left}{ends}{right}"

    def refuse(self, bad: NDArray[np.bool_], problem: str) -> None:
        rows = np.flatnonzero(bad)
        if len(rows):
            also = f" and {len(rows) - 3} more" * (len(rows) > 3)
            raise InvalidInputError(f"{self.table.name}: {', '.join(map(self.text, rows[:3]))}{also} {problem}")

    def laid(self, fitting: Fitting) -> Laid:
        """Find the points of each interval that has some, and the labels of all points."""
        stamps, index = self.times.stamps, self.times
        self.refuse(self.stops < self.starts, "stops before it starts")
        if self.closed != "both":
            how = hint("for incidents of a single moment pass closed='both'", "give it a stop after its start")
            self.refuse(self.stops == self.starts, f"is empty; {how}")
        # The last point stands for one more step: an incident may well stop there.
        beyond = (self.starts < stamps[0] - index.step) | (self.stops > stamps[-1] + index.step)
        if fitting.outside == "error":
            reach = f"{index.text(int(stamps[0]))} to {index.text(int(stamps[-1]))}"
            self.refuse(beyond, f"reaches beyond the time stamps ({reach}); pass outside='clip' to cut it")
        start_side, stop_side = _SIDES[self.closed]
        first: Index = np.searchsorted(stamps, self.starts, side=start_side).astype(np.int64)
        last: Index = np.searchsorted(stamps, self.stops, side=stop_side).astype(np.int64)
        empty = first >= last
        away = empty & ((first == len(stamps)) | (last == 0)) & (fitting.outside == "clip")
        lost = empty & ~away
        if fitting.between == "error":
            self.refuse(lost, "has no time stamp inside; pass between='next' to label the next point, or 'drop'")
        moved = np.zeros_like(lost)
        if fitting.between in ("next", "near"):
            first = np.minimum(first, len(stamps) - 1)
            near = stamps[first] - self.stops <= index.step
            moved = lost & near if fitting.between == "near" else lost
            last = np.where(moved, first + 1, last)
        rows = np.flatnonzero((first < last) & ~away).astype(np.int64)
        rows = rows[np.argsort(first[rows], kind="stable")]
        first, last = first[rows], last[rows]
        if fitting.overlap == "error":
            self._refuse_overlap(rows, first, last)
        found = inside_any(first, last, len(index)).view(np.uint8)
        waited = stamps[first] - np.maximum(self.starts[rows], stamps[0])
        events = int(np.count_nonzero(np.diff(found, prepend=0) == 1))
        return Laid(
            labels=found,
            rows=rows,
            first=first,
            stop=last,
            starts=self.starts[rows],
            away=int(away.sum()),
            cut=int((beyond & ~away).sum()),
            moved=int(moved.sum()),
            dropped=int((lost & ~moved).sum()),
            joined=len(rows) - events,
            open=int(np.count_nonzero(self.open[rows])),
            late=waited[waited > index.step],
        )

    def _refuse_overlap(self, rows: Index, first: Index, stop: Index) -> None:
        touching = first[1:] <= np.maximum.accumulate(stop)[:-1]
        if touching.any():
            at = int(np.argmax(touching))
            one, other = self.text(int(rows[at + 1])), self.text(int(rows[int(np.argmax(stop[: at + 1]))]))
            raise InvalidInputError(
                f"{self.table.name}: {one} overlaps {other} or leaves no point between them, so that 0/1 labels would "
                "show one event; pass overlap='merge' to allow that"
            )


# Columns of a row of an event, which those of its incidents may not replace.
EVENT_COLUMNS = ("start", "stop", "duration", "detected", "delay", "lead", "alarms")


class Began(NamedTuple):
    """When each event began, in nanoseconds, and what else is known of its incidents."""

    onsets: Index
    known: list[Row]


def began_of(incidents: Any, asked: Asked, events: Events, times: Times) -> Began:
    """Find the incidents that lie on the points of each event, beginning with its first point or later."""
    table = read_incidents(incidents, asked)
    onsets = times.stamps[events.starts].copy()
    owners: list[list[int]] = [[] for _ in range(len(events))]
    # Those that lie in a gap belong to no event, unless the labels say so.
    for fitting in (ANYHOW, ANYHOW._replace(between="next")):
        bare = {k for k, own in enumerate(owners) if not own}
        if bare:
            _find_owners(lay(table, times, fitting), events, int(times.stamps[0]), owners, bare, onsets)
    names = {name: f"incident_{name}" if name in EVENT_COLUMNS else name for name in table.others}
    known = [{names[n]: _joined([v[row] for row in own]) for n, v in table.others.items()} for own in owners]
    return Began(onsets, known)


def _find_owners(
    laid: Laid, events: Events, begin: int, owners: list[list[int]], wanted: set[int], onsets: Index
) -> None:
    """Add to each wanted event the rows of the incidents on its points, and move its onset to the first of them."""
    first = np.searchsorted(events.stops, laid.first, side="right").tolist()
    last = np.searchsorted(events.starts, laid.stop, side="left").tolist()
    for i, row in enumerate(laid.rows.tolist()):
        for k in wanted.intersection(range(first[i], last[i])):
            owners[k].append(row)
            # What is not judged may have cut off the beginning of an event, and the data may begin later.
            if laid.first[i] == events.starts[k]:
                onsets[k] = min(onsets[k], max(int(laid.starts[i]), begin))


def _joined(values: list[Any]) -> Any:
    """Return the value of one incident, or those of several that are one event."""
    different = list(dict.fromkeys(values))
    return different[0] if len(different) == 1 else "; ".join(map(str, different)) or None


class Interval(NamedTuple):
    """Start and stop of an incident or alarm, as time stamps of the caller's kind."""

    start: Any
    stop: Any


def labels(
    incidents: Any,
    times: Any,
    *,
    closed: Closed | None = None,
    key: str | None = None,
    by: str | tuple[()] | None = None,
    columns: tuple[str, str] | None = None,
    overlap: Literal["error", "merge"] = "error",
    outside: Literal["error", "clip"] = "error",
    between: Literal["error", "next", "near", "drop"] = "error",
    tz: Any = None,
) -> Labels:
    """Make 0/1 labels of points from incidents (or alarms) that are intervals of time.

    Parameters
    ----------
    incidents : list of (start, stop), DataFrame, mapping or path
        Pairs of dates or numbers; a pandas, polars or Arrow table, or a file of any format that scores can have (csv,
        parquet; see `read_table`), with columns start and stop (or start and end); the windows of the Numenta
        benchmark, as a json file or as the mapping in it. An empty end means still open: until the data ends.
    times : array-like of shape (n,)
        Time stamps of the points, as for `te.times`.
    closed : {"left", "right", "both", "neither"}, default=None
        Which ends belong to an incident. None is "left", a point at the stop is not anomalous any more; windows of
        the Numenta benchmark are "both", as that benchmark defines them.
    key : str, default=None
        Which series of a windows file or of a table; not needed where these have one series only. A table whose columns
        show several (such as "server" with several values) is refused without it. Incidents without a series, or of
        "*", belong to all; a series without any has labels of 0, with a warning.
    by : str, default=None
        The column of a table that has the key, where it is not found by its name; () where all incidents belong to
        these time stamps, whatever other columns say.
    columns : tuple of str, default=None
        Names of the two columns of a table, where they are others.
    overlap : {"error", "merge"}, default="error"
        What to do with incidents that overlap or leave no point between them: 0/1 labels can only show them as one
        event.
    outside : {"error", "clip"}, default="error"
        What to do with incidents that reach beyond the time stamps: cut them (and drop those fully outside), or
        refuse.
    between : {"error", "next", "near", "drop"}, default="error"
        What to do with incidents without any time stamp inside: label the next point, label it if it comes within a
        median step after the incident and else drop them (they lie in a gap of the data), drop them, or refuse.
    tz : str or tzinfo, optional
        The time zone of incidents and stamps without one, as for `te.times`.

    Returns
    -------
    ndarray of uint8, shape (n,)
        1 inside the incidents.

    See Also
    --------
    intervals : The way back.

    Examples
    --------
    >>> import tsadeval as te
    >>> times = ["2026-01-01 00:00", "2026-01-01 00:10", "2026-01-01 00:20", "2026-01-01 00:30"]
    >>> te.labels([("2026-01-01 00:10", "2026-01-01 00:30")], times)
    array([0, 1, 1, 0], dtype=uint8)
    >>> te.labels([(10, 30), (90, 70)], [0, 20, 40, 60, 80, 100])
    Traceback (most recent call last):
        ...
    tsadeval.errors.InvalidInputError: incidents: row 1 [90, 70) stops before it starts
    """
    fitting, times = Fitting(overlap, outside, between), read_times(times, tz=tz)
    laid = lay(incidents, times, fitting, closed=closed, asked=Asked(key, columns, by))
    if laid.open:
        warn(f"incidents without an end are still open ({laid.open}): they last until the data ends", InputWarning)
    return laid.labels


def intervals(y: Any, times: Any, *, closed: Closed = "left") -> list[Interval]:
    """Return the events of 0/1 labels or predictions as intervals of time, the way back from `labels`.

    Parameters
    ----------
    y : array-like of shape (n,)
        0/1 labels or predictions.
    times : array-like of shape (n,)
        Time stamps of the points, as for `te.times`.
    closed : {"left", "right", "both", "neither"}, default="left"
        Which ends shall belong to the intervals. A closed end is a stamp of the event, an open end the stamp next to
        it; beyond the first and last stamp one median step is added.

    Returns
    -------
    list of Interval
        Pairs (start, stop) in time order; `pandas.DataFrame` makes a table of them.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.intervals([0, 1, 1, 0, 1], [0, 10, 20, 30, 40])
    [Interval(start=10, stop=30), Interval(start=40, stop=50)]
    >>> te.intervals([0, 1, 1, 0, 1], [0, 10, 20, 30, 40], closed="both")
    [Interval(start=10, stop=20), Interval(start=40, stop=40)]
    """
    check_parameters("intervals", CHECKS, {"closed": closed})
    runs = label_runs(y, "y")
    index = read_times(times, n=runs.n)
    return [
        Interval(
            _stamp_at(index, start if closed in ("left", "both") else start - 1),
            _stamp_at(index, stop - 1 if closed in ("right", "both") else stop),
        )
        for start, stop in zip(runs.events.starts.tolist(), runs.events.stops.tolist(), strict=True)
    ]


def _stamp_at(index: Times, position: int) -> Any:
    """Return the stamp of a point, or of the imagined one just before the first or after the last."""
    if 0 <= position < len(index):
        found = index.at(position)
        return found.item() if index.kind == "numbers" and found.dtype.kind != "m" else found
    return index.moment(int(index.stamps[0]) - index.step if position < 0 else int(index.stamps[-1]) + index.step)


def alarms(instants: Any, times: Any, *, hold: Any = None, outside: Literal["error", "drop"] = "error") -> Labels:
    """0/1 predictions from the moments at which alarms were raised.

    An alarm counts at the first time stamp that is not before it, so that no delay is understated; with `hold` also
    at every stamp less than that long after it.

    Parameters
    ----------
    instants : array-like
        Moments of the alarms, in any order.
    times : array-like of shape (n,)
        Time stamps of the points, as for `te.times`.
    hold : duration, default=None
        How long an alarm lasts: "10min", a timedelta or a number of seconds.
    outside : {"error", "drop"}, default="error"
        What to do with alarms before the first or after the last time stamp.

    Returns
    -------
    ndarray of uint8, shape (n,)
        1 where there is an alarm.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.alarms([12, 31], [0, 10, 20, 30, 40])
    array([0, 0, 1, 0, 1], dtype=uint8)
    >>> te.alarms([12], [0, 10, 20, 30, 40], hold="15s")
    array([0, 0, 1, 0, 0], dtype=uint8)
    """
    check_parameters("alarms", {"outside": OneOf(("error", "drop"))}, {"outside": outside})
    index = read_times(times)
    stamps = index.stamps
    moments = read_moments(instants, index, "instants")
    lasting = 0 if hold is None else nanoseconds(hold, "hold")
    beyond = (moments < stamps[0]) | (moments > stamps[-1])
    if outside == "error" and beyond.any():
        row = int(np.argmax(beyond))
        raise InvalidInputError(
            f"instants: row {row} ({index.text(int(moments[row]))}) is outside the time stamps "
            f"({index.text(int(stamps[0]))} to {index.text(int(stamps[-1]))}); pass outside='drop' to leave it out"
        )
    moments = moments[~beyond]
    first = np.searchsorted(stamps, moments)
    stop = np.maximum(np.searchsorted(stamps, moments + lasting), first + 1)
    return inside_any(first, stop, len(index)).view(np.uint8)
