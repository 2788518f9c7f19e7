"""Placement of intervals on the time stamps of points, those that do not fit, and when the events there began."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.durations import doubled
from tsadeval.core.events import Events, Index, inside_any
from tsadeval.core.parameters import Check, OneOf, check_parameters
from tsadeval.core.results import Row
from tsadeval.core.times import Named, Times, read_moments, read_times
from tsadeval.errors import InvalidInputError, hint
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
