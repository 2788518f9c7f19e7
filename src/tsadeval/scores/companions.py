"""Companion files of a table of scores: incidents, ignored spans of time, scores to fit rules on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval.core.names import did_you_mean, printable
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.incidents.placement import ANYHOW, Fitting, Laid, lay
from tsadeval.incidents.reader import Asked, IncidentTable, is_json, owner_columns, read_json, read_spans, values_shown
from tsadeval.scores.scoring import covered
from tsadeval.scores.tabular import scorings
from tsadeval.tables.columns import Array
from tsadeval.tables.reading import read_table

_Counts = dict[str, int]


def stem_of(file: str | Path) -> str:
    """The name of a file without folder and ending."""
    return Path(Path(file).name.removesuffix(".gz")).stem


@dataclass(frozen=True)
class _Named:
    """Which columns of the file say to whom an interval belongs, and whether these are the names of files."""

    columns: list[str]
    of_files: bool = False


class Spans:
    """Intervals of time in a file with columns start and stop (or start and end); windows of NAB as json.

    Columns that are among `by` say to which series an interval belongs. Without such, a column whose values are among
    the `files` (their names without folder and ending) does. Where there is none either, all series have all of the
    intervals; a file whose columns suggest several series is then refused, unless it is `shared`.
    The windows of a series are those under its values of `by`, joined by "/".
    """

    def __init__(self, path: Path, by: Sequence[str] = (), *, files: Sequence[str] = (), shared: bool = False) -> None:
        self._path = path
        self._where = printable(path)
        self._windows = read_json(path) if is_json(path) else None
        self.said: list[str] = []  # lines for whoever reads the result
        self._counts: _Counts = {}
        self._late: list[int] = []
        self._laid_on: set[tuple[str, ...]] = set()
        self._asked: dict[tuple[str, ...], None] = {}
        self._named = _Named([])
        if self._windows is not None:
            return
        whole = read_spans(path)
        columns = whole.others
        self._named = self._named if shared else self._owners(columns, whole.columns, by, files)
        self._found: dict[tuple[str, ...], IncidentTable] = {}
        keys = list(zip(*(map(_text, columns[name]) for name in self._named.columns), strict=True))
        keys = keys or [()] * len(whole.starts)
        for name in self._named.columns:
            missing = next((row for row, value in enumerate(columns[name]) if not _text(value)), None)
            if missing is not None:
                raise InvalidInputError(f"{self._where}: no value of {printable(name)!r} in {whole.place(missing)}")
        for key in dict.fromkeys(keys):
            self._found[key] = whole.at_rows([row for row, own in enumerate(keys) if own == key])

    def _owners(
        self, columns: Mapping[str, Sequence[Any]], ends: Sequence[str], by: Sequence[str], files: Sequence[str]
    ) -> _Named:
        known = [name for name in by if name in columns]
        if known:
            return _Named(known)
        shared = {name: len({_text(value) for value in values} & {*files}) for name, values in columns.items()}
        best = max(shared, key=lambda name: shared[name], default="")
        if best and shared[best]:
            without = [name for name in files if name not in {_text(value) for value in columns[best]}]
            none = f"; none of {', '.join(map(printable, without[:5]))}" if without else ""
            self.said.append(f"{self._where}: column {printable(best)!r} says which file an interval belongs to{none}")
            return _Named([best], of_files=True)
        named, doubtful = owner_columns(columns, ends)
        for name in [*named, *doubtful][:1]:
            grouped = f"; the columns of --by ({', '.join(by)}) are not in this file" if by else ""
            what = f"{self._where}: column {printable(name)!r} has several values ({values_shown(columns[name])})"
            way = (
                f"group the scores with --by {printable(name)}, name the files of scores as these values, or pass "
                f"--shared if all of them hold for every series{grouped}"
            )
            if name in named:
                raise InvalidInputError(f"{what}, so these are intervals of several series: {way}")
            self.said.append(f"{what}; all hold for every series here: if it tells series apart, {way}")
        return _Named([])

    def identity(self, *, clip: bool) -> str:
        """A text that is another one once labels may be: of the file's content, and of what is done with it."""
        try:
            digest = hashlib.sha256(self._path.read_bytes()).hexdigest()[:16]
        except OSError as error:
            raise InvalidInputError(f"{self._where}: cannot be read ({error.strerror})") from None
        owners = "file" if self._named.of_files else ", ".join(map(printable, self._named.columns))
        return f"{printable(self._path.name)} (sha256 {digest}{f', by {owners}' if owners else ''}{', clip' * clip})"

    def __getstate__(self) -> dict[str, Any]:
        # Whoever lays intervals elsewhere has no use for what was asked here, which may be many names.
        return {**self.__dict__, "_counts": {}, "_late": [], "_laid_on": set(), "_asked": {}}

    @property
    def unused(self) -> str | None:
        """One line about intervals of series that nobody has asked for; None where there are none."""
        if self._windows is not None or not self._named.columns:
            return None
        left = ["/".join(name) for name in self._found if name not in self._asked]
        if not left:
            return None
        shown = ", ".join(map(printable, left[:5])) + (f", ... ({len(left)} in all)" if len(left) > 5 else "")
        known = ["/".join(name) for name in self._asked]
        if self._named.of_files:
            return f"{self._where}: intervals of {shown} are not used: no file is called so"
        near = did_you_mean(left[0], known)
        hint = f" ({left[0]}: {near})" if near.startswith("did you") else ""
        where = ", ".join(self._named.columns)
        return f"{self._where}: intervals of {shown} are not used: no series is called so in {where}{hint}"

    @property
    def fitted(self) -> str | None:
        """One line about intervals that did not fit the time stamps; None where all did."""
        what = {
            "away": "{} outside the data {was} dropped",
            "cut": "{} that {reach} beyond the data {was} cut",
            "moved": "{} without a time stamp {was} put on the next point",
            "dropped": "{} in a gap of the data {was} dropped",
            "joined": "{} {was} joined with others that they overlap or touch",
        }
        parts = []
        for name, words in what.items():
            count = self._counts.get(name, 0)
            if count:
                plural = {"was": "was" if count == 1 else "were", "reach": "reaches" if count == 1 else "reach"}
                parts.append(words.format(count, **plural))
        series = f" (in {len(self._laid_on)} series)" if len(self._laid_on) > 1 else ""
        return f"{self._where}: of the intervals{series}, {', '.join(parts)}" if parts else None

    @property
    def late(self) -> str | None:
        """One line about incidents that begin where there is no data."""
        if not self._late:
            return None
        what = "1 incident begins" if len(self._late) == 1 else f"{len(self._late)} incidents begin"
        return (
            f"{self._where}: {what} in a gap of the data, up to {max(self._late) / 60e9:.6g} min before the next time "
            "stamp: metrics count delays from that stamp, --events from the start"
        )

    def ask(self, keys: Mapping[str, str], file: str) -> tuple[str, ...]:
        """The name of a series among the intervals; it then counts as one that is there."""
        if self._windows is not None:
            return tuple(keys.values())
        wanted = (file,) if self._named.of_files else tuple(keys[name] for name in self._named.columns)
        self._asked[wanted] = None
        return wanted

    def incidents(self, keys: Mapping[str, str], file: str) -> IncidentTable | None:
        """The intervals of a series and all that is known of them; None of windows."""
        return None if self._windows is not None else self._incidents_of(self.ask(keys, file))

    def labels(self, keys: Mapping[str, str], file: str, times: Times, *, clip: bool, count: bool = True) -> Array:
        """0/1 labels of the points of a series; `clip` also takes what reaches beyond the stamps or overlaps.

        Threads may ask at once where what did not fit need not be counted.
        """
        laid = self._place(keys, file, times, ANYHOW if clip else Fitting())
        if count:
            self._count(keys, file, laid, ("away", "cut", "moved", "dropped", "joined"), laid.late.tolist())
        return laid.labels

    def covered(self, keys: Mapping[str, str], file: str, times: Times) -> Array:
        """Which points of a series are inside the intervals."""
        laid = self._place(keys, file, times, None)
        self._count(keys, file, laid, ("away", "dropped"))
        return laid.labels.view(np.bool_)

    def _count(
        self, keys: Mapping[str, str], file: str, laid: Laid, names: Sequence[str], late: Sequence[int] = ()
    ) -> None:
        """Count what did not fit, once for each series, however many columns of scores it has."""
        series = (file, *keys.values())
        if series in self._laid_on:
            return
        self._laid_on.add(series)
        self._late += late
        for name in names:
            self._counts[name] = self._counts.get(name, 0) + getattr(laid, name)

    def _incidents_of(self, wanted: tuple[str, ...]) -> IncidentTable:
        return self._found.get(wanted) or IncidentTable([], [], self._where)

    def _place(self, keys: Mapping[str, str], file: str, times: Times, fitting: Fitting | None) -> Laid:
        """Place the incidents or spans of one series on its time stamps."""
        wanted = self.ask(keys, file)
        try:
            if self._windows is not None:
                asked = Asked(key="/".join(wanted) or None)
                return lay(self._windows, times, fitting or Fitting("merge", "clip", "drop"), asked=asked)
            found = self._incidents_of(wanted)
            return covered(found, times) if fitting is None else lay(found, times, fitting)
        except InvalidInputError:
            raise
        except TsadevalError as error:
            raise InvalidInputError(str(error)) from None


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value).strip()


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
