"""Onsets of events: when the incidents on each event began, and what else is known of these."""

from typing import Any, NamedTuple

import numpy as np

from tsadeval.core.events import Events, Index
from tsadeval.core.results import Row
from tsadeval.core.times import Times
from tsadeval.incidents.placement import ANYHOW, Laid, lay
from tsadeval.incidents.reader import Asked, read_incidents

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
