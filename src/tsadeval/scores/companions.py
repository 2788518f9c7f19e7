"""Companions of scores: labels, incidents, ignored spans of time and scores to fit on that come from elsewhere."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tsadeval.core.names import did_you_mean, printable
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError, TsadevalError, hint
from tsadeval.incidents.placement import ANYHOW, Laid, lay
from tsadeval.incidents.reader import (
    Asked,
    IncidentTable,
    is_json,
    is_table,
    owner_columns,
    read_incidents,
    read_json,
    read_spans,
    read_windows,
    values_shown,
)
from tsadeval.scores.options import Options
from tsadeval.scores.scored import Given, align
from tsadeval.scores.scoring import covered
from tsadeval.tables.columns import Array, python_values
from tsadeval.tables.reading import read_table
from tsadeval.tables.sources import user_path
from tsadeval.tables.table import Groups

_Counts = dict[str, int]


@dataclass(frozen=True)
class _Named:
    """Which columns of the file say to whom an interval belongs, and whether these are the names of files."""

    columns: list[str]
    of_files: bool = False


class Spans:
    """Intervals of time: a file or table with columns start and stop (or start and end), pairs, or windows of NAB.

    Columns that are among `by` say to which series an interval belongs. Without such, a column whose values are among
    the `files` (their names without folder and ending) does. Where there is none either, all series have all of the
    intervals; a file whose columns suggest several series is then refused, unless it is `shared`.
    The windows of a series are those under its values of `by`, joined by "/".
    """

    def __init__(self, source: Any, by: Sequence[str] = (), *, files: Sequence[str] = (), shared: bool = False) -> None:
        self._path = user_path(source) if isinstance(source, (str, os.PathLike)) else None
        self._where = "incidents" if self._path is None else printable(self._path)
        content = read_json(self._path) if self._path is not None and is_json(self._path) else source
        self._windows = content if isinstance(content, Mapping) and not is_table(content) else None
        self.said: list[str] = []  # lines for whoever reads the result
        self._counts: _Counts = {}
        self._late: list[int] = []
        self._laid_on: set[tuple[str, ...]] = set()
        self._asked: dict[tuple[str, ...], None] = {}
        self._named = _Named([])
        if self._windows is not None:
            return
        given = self._path or source
        whole = read_spans(given) if content is source and _is_path(given) else read_incidents(given, Asked(by=()))
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
            grouped = f"; the columns of {hint('by=', '--by')} ({', '.join(by)}) are not in this file" if by else ""
            what = f"{self._where}: column {printable(name)!r} has several values ({values_shown(columns[name])})"
            group = hint(f"by={printable(name)!r}", f"--by {printable(name)}")
            way = (
                f"group the scores with {group}, name the files of scores as these values, or pass "
                f"{hint('shared=True', '--shared')} if all of them hold for every series{grouped}"
            )
            if name in named:
                raise InvalidInputError(f"{what}, so these are intervals of several series: {way}")
            self.said.append(f"{what}; all hold for every series here: if it tells series apart, {way}")
        return _Named([])

    def identity(self) -> str:
        """Return a text that changes once labels may: of the file's content, and of whose intervals they are."""
        if self._path is None:
            raise InvalidInputError("incidents must be in a file where values are kept in a store")
        try:
            digest = hashlib.sha256(self._path.read_bytes()).hexdigest()[:16]
        except OSError as error:
            raise InvalidInputError(f"{self._where}: cannot be read ({error.strerror})") from None
        owners = "file" if self._named.of_files else ", ".join(map(printable, self._named.columns))
        return f"{printable(self._path.name)} (sha256 {digest}{f', by {owners}' if owners else ''})"

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
        meant = f" ({left[0]}: {near})" if near.startswith("did you") else ""
        where = ", ".join(self._named.columns)
        return f"{self._where}: intervals of {shown} are not used: no series is called so in {where}{meant}"

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
        """Return the name of a series among the intervals; it then counts as one that is there."""
        if self._windows is not None:
            return tuple(keys.values())
        wanted = (file,) if self._named.of_files else tuple(keys[name] for name in self._named.columns)
        self._asked[wanted] = None
        return wanted

    def incidents(self, keys: Mapping[str, str], file: str) -> IncidentTable | None:
        """Return the intervals of a series and all that is known of them; None of windows."""
        return None if self._windows is not None else self._incidents_of(self.ask(keys, file))

    def labels(self, keys: Mapping[str, str], file: str, times: Times) -> Array:
        """0/1 labels of the points of a series; intervals that do not fit its time stamps are cut and counted."""
        laid = self._place(keys, file, times, labels=True)
        self._count(keys, file, laid, ("away", "cut", "moved", "dropped", "joined"), laid.late.tolist())
        return laid.labels

    def covered(self, keys: Mapping[str, str], file: str, times: Times) -> Array:
        """Which points of a series are inside the intervals."""
        laid = self._place(keys, file, times, labels=False)
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

    def _place(self, keys: Mapping[str, str], file: str, times: Times, *, labels: bool) -> Laid:
        """Place the incidents or spans of one series on its time stamps."""
        wanted = self.ask(keys, file)
        try:
            if self._windows is None:
                found = self._incidents_of(wanted)
                return lay(found, times, ANYHOW) if labels else covered(found, times)
            key = "/".join(wanted) or (file if file in self._windows else None)
            found = read_windows(self._windows, key, self._where)
            return lay(found, times, ANYHOW if labels else ANYHOW._replace(between="drop"))
        except InvalidInputError:
            raise
        except TsadevalError as error:
            raise InvalidInputError(str(error)) from None


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value).strip()


class FitScores:
    """Scores of a training or validation part, by series where the file has the columns `by`, in the same columns."""

    def __init__(self, source: Any, by: Sequence[str] = ()) -> None:
        self._table = read_table(source, text=by)
        self._by = [name for name in by if name in self._table]
        self._groups = Groups(self._table, self._by)
        self._known: dict[str, dict[tuple[str, ...], Array]] = {}

    def identity(self) -> str:
        """Return the name of the file, and a digest of the numbers in it."""
        digest = hashlib.sha256()
        for name in self._table.columns:
            digest.update(f"{name}{python_values(self._table.columns[name])}".encode())
        return f"{self._table.source} ({digest.hexdigest()[:16]})"

    def of(self, keys: Mapping[str, str], score: str) -> Array:
        """Return the scores of a series in a column."""
        if score not in self._known:
            name = self._table.name(score, "for the scores to fit on")
            parts = self._groups.split(self._table.numbers(name), name)
            self._known[score] = dict(zip(self._groups.names, parts, strict=True))
        wanted = tuple(keys[name] for name in self._by)
        if wanted not in self._known[score]:
            raise InvalidInputError(f"{self._table.source}: no scores of {printable('/'.join(wanted))!r} to fit on")
        return self._known[score][wanted]


class PerSeries:
    """An option that is the same for all series, or a mapping from their names; `one` value fits one series only."""

    def __init__(self, name: str, given: Any, series: Sequence[str], *, one: bool = False) -> None:
        self._given = given
        if one and given is not None and not isinstance(given, Mapping) and len(series) > 1:
            raise InvalidInputError(
                f"{name} must be a mapping from series, such as {{'a': [...]}}, where there are several"
            )
        mapping = isinstance(given, Mapping) and not is_table(given)
        alone = len(series) == 1 and mapping and not any(one in given for one in series)
        self._mapping = mapping and not alone
        for key in given if self._mapping and series else ():
            if key not in series:
                near = did_you_mean(str(key), sorted(series))
                raise InvalidInputError(f"{name} has an entry for {key!r}, which is no series: {near}")

    def of(self, series: str) -> Any:
        """Return what was given for a series; None for nothing."""
        return self._given.get(series) if self._mapping else self._given


@dataclass(frozen=True, eq=False)
class Companions:
    """All that belongs to scores but does not come with them."""

    incidents: Spans | None = None
    ignore: Spans | PerSeries | None = None
    fit: FitScores | Mapping[Any, Any] | None = None
    labels: Mapping[str, Given] | None = None  # by series

    @classmethod
    def of(cls, options: Options, names: Sequence[str], labels: Mapping[str, Given] | None = None) -> Companions:
        """Read them; `names` are those of the files, or of the series where there are no files."""
        keys: dict[str, Any] = {"by": options.by, "files": names, "shared": options.shared}
        ignore: Spans | PerSeries | None = None
        if options.ignore is not None:
            spans = is_spans_source(options.ignore)
            ignore = Spans(options.ignore, **keys) if spans else PerSeries("ignore", options.ignore, ())
        return cls(
            None if options.incidents is None else Spans(options.incidents, **keys),
            ignore,
            FitScores(options.fit, options.by) if _is_path(options.fit) else options.fit,
            labels,
        )

    def fit_of(self, keys: Mapping[str, str], series: str, detector: str, score: str) -> Any:
        """Return the scores from which rules without labels take their threshold."""
        if isinstance(self.fit, FitScores):
            return self.fit.of(keys, score)
        if isinstance(self.fit, Mapping):
            return self.fit.get((series, detector), self.fit.get(detector))
        return self.fit

    def ask(self, keys: Mapping[str, str], file: str) -> None:
        """Note that a series is there, whether or not it can be used."""
        for one in (self.incidents, self.ignore):
            if isinstance(one, Spans):
                one.ask(keys, file)

    def identity_of_fit(self) -> str:
        """Return a text that changes once the scores to fit on may."""
        if not isinstance(self.fit, FitScores):
            raise InvalidInputError("scores to fit on must be in a file where values are kept in a store")
        return self.fit.identity()

    def complete(self, given: Sequence[Given], file: str, keys: Mapping[str, str]) -> list[Given]:
        """Add the labels and the ignored points of a series to its scorings, which are on the same points.

        `keys` are the values that tell the series from others.
        """
        series = given[0].series
        if self.labels is not None:
            given = self._labelled(given, series)
        first = given[0]
        times = first.times
        labels, incidents, ignore = first.y_true, first.incidents, first.ignore
        if times is None and (self.incidents is not None or isinstance(self.ignore, Spans)):
            raise needs_times()
        if self.incidents is not None and times is not None:
            labels = self.incidents.labels(keys, file, times)
            incidents = self.incidents.incidents(keys, file)
        if isinstance(self.ignore, Spans) and times is not None:
            ignore = self.ignore.covered(keys, file, times)
        elif isinstance(self.ignore, PerSeries):
            ignore = self.ignore.of(series)
        return [replace(one, y_true=labels, incidents=incidents, ignore=ignore) for one in given]

    def _labelled(self, given: Sequence[Given], series: str) -> list[Given]:
        """Join scores with labels from another file: by their time stamps where both have some."""
        assert self.labels is not None  # the caller has looked
        if series not in self.labels:
            raise InvalidInputError(f"no labels of series {series!r}: {did_you_mean(series, sorted(self.labels))}")
        known = self.labels[series]
        truth, joined = np.asarray(known.y_score), []
        for one in given:
            blank = replace(one, y_true=np.zeros(np.size(one.y_score), np.int8))
            points = replace(known, series=series, detector="the labels", y_true=np.zeros(len(truth), np.int8))
            if one.times is None or known.times is None:
                points, blank = replace(points, times=None), replace(blank, times=None)
            on_grid = align([points, blank])
            if np.size(on_grid[1].y_score) != len(truth):
                raise InvalidInputError(f"series {series!r} has scores at time stamps at which there is no label")
            joined.append(replace(on_grid[1], y_true=truth, times=known.times or one.times, values=known.values))
        return joined

    def notes(self, *, whole: bool = True) -> list[str]:
        """Return what did not fit, and how files were read; only where all tables could be read what was not used."""
        found = [one for one in (self.incidents, self.ignore) if isinstance(one, Spans)]
        said = [line for one in found for line in one.said]
        lines = [line for one in found for line in (one.fitted, one.late, one.unused if whole else None)]
        return [*said, *filter(None, lines)]


def _is_path(given: Any) -> bool:
    return isinstance(given, (str, os.PathLike)) or hasattr(given, "columns")


def needs_times() -> InvalidInputError:
    """Build the error of intervals of time without time stamps."""
    how = hint("give them with time=", "name their column with --time")
    return InvalidInputError(f"intervals of time need time stamps: {how}")


def is_spans_source(ignore: Any) -> bool:
    """Return True if `ignore` is a file or table of intervals, of which columns may say whose they are."""
    return _is_path(ignore) or (isinstance(ignore, Mapping) and is_table(ignore))
