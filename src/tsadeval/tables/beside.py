"""Files that belong to a table of scores: incidents, spans of time that are not judged, scores to fit rules on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval.core.incidents import END_COLUMNS
from tsadeval.core.intervals import covered, labels
from tsadeval.core.printable import printable
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.tables.columns import Array
from tsadeval.tables.groups import Groups
from tsadeval.tables.reading import read_table
from tsadeval.tables.scoring import is_zoned, scorings, times_of
from tsadeval.tables.table import Table

__all__ = ["FitScores", "Spans"]


class Spans:
    """Intervals of time in a file with columns start and stop (or start and end); windows of NAB as json.

    Columns that are among `by` say to which series an interval belongs; without such, all series have all of them.
    The windows of a series are those under its values of `by`, joined by "/".
    """

    def __init__(self, path: Path, by: Sequence[str] = ()) -> None:
        self._where = printable(path)
        self._windows = path if path.suffix == ".json" else None
        if self._windows is not None:
            return
        table = read_table(path, text=by)
        ends = next((pair for pair in END_COLUMNS if all(name in table for name in pair)), None)
        if ends is None:
            found = ", ".join(map(printable, table.columns))
            raise InvalidInputError(f"{self._where}: expected columns start and stop, found {found}")
        self._by = [name for name in by if name in table]
        groups = Groups(table, self._by)
        starts, stops = (groups.split(_moments(table, name), name) for name in ends)
        self._found = dict(zip(groups.names, zip(starts, stops, strict=True), strict=True))
        self._asked: set[tuple[str, ...]] = set()

    @property
    def unused(self) -> str | None:
        """One line about intervals of series that nobody has asked for; None where there are none."""
        if self._windows is not None or not self._by:
            return None
        left = ["/".join(name) for name in self._found if name not in self._asked]
        if not left:
            return None
        shown = ", ".join(map(printable, left[:5])) + (f", ... ({len(left)} in all)" if len(left) > 5 else "")
        return f"{self._where}: intervals of {shown} are not used: no series is called so in {', '.join(self._by)}"

    def labels(self, keys: Mapping[str, str], times: Any, *, clip: bool) -> Array:
        """0/1 labels of the points of a series; `clip` also takes what reaches beyond the stamps or overlaps."""
        lenient: Any = {"outside": "clip", "overlap": "merge", "between": "next"} if clip else {}
        return self._laid(keys, times, partial(labels, **lenient))

    def covered(self, keys: Mapping[str, str], times: Any) -> Array:
        """Which points of a series are inside the intervals."""
        return self._laid(keys, times, covered)

    def _laid(self, keys: Mapping[str, str], times: Any, lay: Callable[..., Array]) -> Array:
        try:
            if self._windows is not None:
                return lay(self._windows, times, key="/".join(keys.values()) or None)
            wanted = tuple(keys[name] for name in self._by)
            self._asked.add(wanted)
            starts, stops = self._found.get(wanted, ((), ()))
            spans = list(zip(starts, stops, strict=True))
            return lay(spans, times) if spans else np.zeros(len(times), np.uint8)
        except TsadevalError as error:
            raise InvalidInputError(f"{self._where}: {error}") from None


def _moments(table: Table, name: str) -> Array:
    """The moments in a column; those with a time zone as text, since NumPy's dates have none."""
    found = times_of(table, name)
    if not is_zoned(table, name):
        return found
    text = np.char.add(found.astype("datetime64[ns]").astype(str), "Z")
    return np.where(np.isnat(found), "", text)


class FitScores:
    """Scores of a training or validation part, by series where the file has the columns `by`, in the same columns."""

    def __init__(self, path: Path, by: Sequence[str] = ()) -> None:
        self._table = read_table(path, text=by)
        self._by = [name for name in by if name in self._table]
        self._known: dict[str, dict[tuple[str, ...], Array]] = {}

    def of(self, keys: Mapping[str, str], score: str) -> Array:
        """The scores of a series in a column."""
        if score not in self._known:
            parts = scorings(self._table, label=None, score=score, by=self._by, one_series=True)
            self._known[score] = {tuple(part.keys.values()): part.scores for part in parts}
        wanted = tuple(keys[name] for name in self._by)
        if wanted not in self._known[score]:
            raise InvalidInputError(f"{self._table.source}: no scores of {printable('/'.join(wanted))!r} to fit on")
        return self._known[score][wanted]
