"""Conversion between intervals of time (incidents, alarms) and 0/1 labels of points."""

from typing import Any, Literal, NamedTuple

import numpy as np

from tsadeval.core.durations import nanoseconds
from tsadeval.core.inputs import inside_any, label_runs
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.times import Times, read_moments, read_times
from tsadeval.errors import InputWarning, InvalidInputError, warn
from tsadeval.incidents.placement import CHECKS, Closed, Fitting, Labels, lay
from tsadeval.incidents.reader import Asked


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
