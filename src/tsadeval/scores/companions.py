"""Companions of scores: labels, scores to fit on, incidents, ignored spans; notes on those that do not fit the data.

They come from elsewhere than the scores, as do time stamps and values that are given beside scores. Each is joined with
the scorings by their names (of series, detectors and files) and by their time stamps.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Self

import numpy as np

from tsadeval.core.arrays import same_index
from tsadeval.core.facts import grouped
from tsadeval.core.messages import named
from tsadeval.core.names import did_you_mean, printable, refuse_alike
from tsadeval.core.times import Times, read_times
from tsadeval.errors import InvalidInputError, UnknownNameError, hint
from tsadeval.incidents.placement import ANYHOW, INSIDE, Labels, lay
from tsadeval.incidents.reader import (
    FOR_ALL,
    Asked,
    IncidentTable,
    doubt_owners,
    is_json,
    is_table,
    owner_columns,
    owner_text,
    read_incidents,
    read_json,
    read_windows,
)
from tsadeval.scores.options import Options
from tsadeval.scores.scored import Given, LeftOut, align, has_dates
from tsadeval.tables.columns import python_values
from tsadeval.tables.files import file_digest
from tsadeval.tables.sources import user_path

# What is said of intervals that do not fit the time stamps.
_UNFIT = {
    "away": "{} outside the data {was} dropped",
    "cut": "{} that {reach} beyond the data {was} cut",
    "moved": "{} without a time stamp {was} put on the next point",
    "dropped": "{} in a gap of the data {was} dropped",
    "joined": "{} {was} joined with others that they overlap or touch",
    "open": "{} still open {was} taken to last until the data ends",
}


class Spans:
    """Intervals of time: a file or table with columns start and stop (or start and end), pairs, or windows of NAB.

    Columns that are among `by`, which name the series, say to which of them an interval belongs. Without such, a column
    whose values are among the `files` (their names without folder and ending) does. Where there is none either, all
    series have all of the intervals; a file whose columns suggest several series is then refused, unless it is
    `shared`. The windows of a series are those under its values of `by`, joined by "/".
    """

    def __init__(
        self,
        source: Any,
        by: Sequence[str] = (),
        *,
        files: Sequence[str] = (),
        shared: bool = False,
        name: str = "incidents",
    ) -> None:
        self._path = user_path(source) if isinstance(source, (str, os.PathLike)) else None
        self._where = name if self._path is None else printable(self._path)
        self._by = by
        content = read_json(self._path) if self._path is not None and is_json(self._path) else source
        self._windows = content if isinstance(content, Mapping) and not is_table(content) else None
        self.said: list[str] = []  # lines for whoever reads the result
        self._counts = Counter[str]()
        self._late: list[int] = []
        self._laid_on: set[tuple[str, ...]] = set()
        self._asked: dict[tuple[str, ...], None] = {}
        self._columns: list[str] = []  # which say to whom an interval belongs
        self._of_files = False  # and whether their values are the names of files
        if self._windows is not None:
            return
        whole = read_incidents(self._path or source, Asked(by=(), name=name))
        if not shared:
            self._find_owners(whole, files)
        self._whole = whole
        owners = [map(owner_text, whole.others[name]) for name in self._columns]
        keys: Iterable[tuple[str, ...]] = zip(*owners, strict=True) if owners else [()] * len(whole.starts)
        self._found = grouped((key, row) for row, key in enumerate(keys))

    def _find_owners(self, whole: IncidentTable, files: Sequence[str]) -> None:
        """Find the columns that say to whom an interval belongs."""
        columns = whole.others
        self._columns = [name for name in self._by if name in columns]
        if self._columns:
            return
        values = {name: {owner_text(value) for value in found} for name, found in columns.items()}
        best = max(values, key=lambda name: len(values[name].intersection(files)), default="")
        if best and values[best].intersection(files):
            without = [printable(name) for name in files if name not in values[best]]
            none = f"; none of {', '.join(without[:5])}" if without else ""
            self.said.append(f"{self._where}: column {printable(best)!r} says which file an interval belongs to{none}")
            self._columns, self._of_files = [best], True
            return
        lost = (
            f"; the columns of {hint('by=', '--by')} ({', '.join(self._by)}) are not in this file" if self._by else ""
        )

        def way(column: str) -> str:
            return (
                f"group the scores with {hint(f'by={printable(column)!r}', f'--by {printable(column)}')}, name the "
                f"files of scores as these values, or pass {hint('shared=True', '--shared')} if all of them hold for "
                f"every series{lost}"
            )

        self.said += doubt_owners(columns, *owner_columns(columns, whole.columns), self._where, way)

    def identity(self) -> str:
        """Return a text that changes once labels may: of the file's content, and of whose intervals they are."""
        if self._path is None:
            raise InvalidInputError("incidents must be in a file where values are kept in a store")
        try:
            digest = file_digest(self._path)[:16]
        except OSError as error:
            raise InvalidInputError(f"{self._where}: cannot be read ({error.strerror})") from None
        owners = "file" if self._of_files else ", ".join(map(printable, self._columns))
        return f"{printable(self._path.name)} (sha256 {digest}{f', by {owners}' if owners else ''})"

    def __getstate__(self) -> dict[str, Any]:
        # Whoever lays intervals elsewhere has no use for what was asked here, which may be many names.
        return {**self.__dict__, "_counts": Counter(), "_late": [], "_laid_on": set(), "_asked": {}}

    def notes(self, *, whole: bool = True) -> list[str]:
        """Return how the intervals were read and what did not fit; with `whole` also those that nobody asked for."""
        lines = list(self.said)
        parts = [
            words.format(count, was="was" if count == 1 else "were", reach="reaches" if count == 1 else "reach")
            for name, words in _UNFIT.items()
            if (count := self._counts[name])
        ]
        if parts:
            series = f" (in {len(self._laid_on)} series)" if len(self._laid_on) > 1 else ""
            lines.append(f"{self._where}: of the intervals{series}, {', '.join(parts)}")
        if self._late:
            what = "1 incident begins" if len(self._late) == 1 else f"{len(self._late)} incidents begin"
            lines.append(
                f"{self._where}: {what} in a gap of the data, up to {max(self._late) / 60e9:.6g} min before the next "
                "time stamp: metrics count delays from that stamp, --events from the start"
            )
        return lines + (self._unused() if whole and self._columns else [])

    def _unused(self) -> list[str]:
        """Say which intervals are of series that nobody has asked for."""
        left = ["/".join(name) for name in self._found if FOR_ALL not in name and name not in self._asked]
        if not left:
            return []
        what = f"{self._where}: intervals of {named(list(map(printable, left)))} are not used"
        if self._of_files:
            return [f"{what}: no file is called so"]
        near = did_you_mean(left[0], ["/".join(name) for name in self._asked])
        meant = f" ({left[0]}: {near})" if near.startswith("did you") else ""
        return [f"{what}: no series is called so in {', '.join(self._columns)}{meant}"]

    def ask(self, keys: Mapping[str, str], file: str) -> tuple[str, ...]:
        """Return the name of a series among the intervals; it then counts as one that is there."""
        wanted = (file,) if self._of_files else tuple(keys[name] for name in self._columns)
        self._asked[wanted] = None
        return wanted

    def incidents(self, keys: Mapping[str, str], file: str) -> IncidentTable | None:
        """Return the intervals of a series and all that is known of them; None of windows."""
        return None if self._windows is not None else self._table_of(keys, file)

    def labels(self, keys: Mapping[str, str], file: str, times: Times, *, inside: bool = False) -> Labels:
        """0/1 labels of the points of a series; intervals that do not fit its time stamps are cut and counted.

        Or, of spans that are ignored, which points are `inside` of them.
        """
        try:
            laid = lay(self._table_of(keys, file), times, INSIDE if inside else ANYHOW)
        except UnknownNameError as error:
            raise InvalidInputError(str(error)) from None
        series = (file, *(keys[name] for name in self._by))
        if series not in self._laid_on:
            self._laid_on.add(series)
            counted = ("away", "dropped", "open") if inside else _UNFIT
            self._counts.update({name: getattr(laid, name) for name in counted})
            self._late += [] if inside else laid.late.tolist()
        return laid.labels

    def _table_of(self, keys: Mapping[str, str], file: str) -> IncidentTable:
        if self._windows is not None:
            key = "/".join(keys[name] for name in self._by) or (file if file in self._windows else None)
            return read_windows(self._windows, key, self._where)
        patterns = product(*((name, FOR_ALL) for name in self.ask(keys, file)))
        return self._whole.at_rows(sorted(row for one in dict.fromkeys(patterns) for row in self._found.get(one, ())))


class Elsewhere:
    """Labels, or scores to fit rules on, that are in files or tables of their own.

    They belong to the scorings that have the same values in the columns `by`. Without such columns they belong to those
    of the same path, or, if they are `shared`, to all. Scores (`of_scores`) belong to a detector and a column as well.
    """

    def __init__(self, shards: Sequence[Any], by: Sequence[str], *, shared: bool, of_scores: bool) -> None:
        self._shards, self._by, self._shared, self._of_scores = shards, by, shared, of_scores
        self._found: dict[tuple[str, ...], Given] = {}
        for shard in shards:
            for part in shard.parts():
                if isinstance(part, LeftOut):
                    raise InvalidInputError(str(part))
                self._found[self._key(part)] = part

    def _key(self, one: Given) -> tuple[str, ...]:
        path = () if self._shared else (one.series, one.detector) if self._of_scores else (one.series,)
        names = tuple(one.keys[name] for name in self._by) or path
        return (*names, one.column) if self._of_scores else names

    def given(self, one: Given) -> Given:
        """Return what belongs to a scoring."""
        key = self._key(one)
        if key not in self._found:
            near = did_you_mean("/".join(key), ["/".join(known) for known in self._found])
            what = "scores to fit on" if self._of_scores else "labels"
            raise InvalidInputError(f"there are no {what} of {printable('/'.join(key))!r}: {near}")
        return self._found[key]

    def of(self, one: Given) -> Any:
        """Return the numbers that belong to a scoring."""
        return self.given(one).y_score

    def identity(self) -> str:
        """Return a text that changes with any number: the name of the first file, and a digest of all."""
        digest = hashlib.sha256()
        tables = [shard.table() for shard in self._shards]
        for table in tables:
            for name, column in table.columns.items():
                digest.update(f"{name}{python_values(column)}".encode())
        more = f" and {len(tables) - 1} more" if len(tables) > 1 else ""
        return f"{tables[0].source}{more} ({digest.hexdigest()[:16]})"


class ByName:
    """An option that is the same for all series, or a mapping from their names; `one` value fits one series only.

    With `detectors` the names are those of detectors, or pairs (series, detector).
    """

    def __init__(
        self,
        name: str,
        given: Any,
        series: Sequence[str] = (),
        detectors: Sequence[str] | None = None,
        *,
        one: bool = False,
    ) -> None:
        mapping = isinstance(given, Mapping) and not is_table(given)
        if one and given is not None and not mapping and len(series) > 1:
            raise InvalidInputError(
                f"{name} must be a mapping from series, such as {{'a': [...]}}, where there are several"
            )
        known: list[Any] = list(series) if detectors is None else [*detectors, *product(series, detectors)]
        self._by_detector = detectors is not None
        if mapping:
            refuse_alike(given, name)
        texts = {key if isinstance(key, tuple) else str(key): value for key, value in given.items()} if mapping else {}
        # Of a single series a mapping may be its value, such as the columns of the series itself.
        self._mapping = mapping and not (len(known) == 1 and known[0] not in texts)
        self._given = texts if self._mapping else given
        for key in texts if self._mapping and known else ():
            if key not in known:
                what, names = ("series", series) if detectors is None else ("detector or (series, detector)", detectors)
                near = did_you_mean(str(key), sorted(names))
                raise InvalidInputError(f"{name} has an entry for {key!r}, which is no {what}: {near}")

    def of(self, one: Given) -> Any:
        """Return what was given for a scoring; None for nothing."""
        if not self._mapping:
            return self._given
        keys = ((one.series, one.detector), one.detector) if self._by_detector else (one.series,)
        return next((self._given[key] for key in keys if key in self._given), None)


@dataclass(frozen=True, eq=False)
class Companions:
    """All that belongs to scores but does not come with them."""

    incidents: Spans | None  # intervals of time that are the labels
    ignored: Spans | None  # and those that are not judged
    ignore: ByName  # masks of points, where it is no table of intervals
    time: ByName
    values: ByName
    fit: Elsewhere | ByName
    labels: Elsewhere | None
    tz: Any  # of stamps without one

    @classmethod
    def of(
        cls,
        options: Options,
        files: Sequence[str] = (),
        *,
        series: Sequence[str] = (),
        detectors: Sequence[str] = (),
        fit: Elsewhere | None = None,
        labels: Elsewhere | None = None,
    ) -> Self:
        """Read them; `files` are names to which incidents may belong, `series` and `detectors` all that there are."""
        spans = partial(Spans, by=options.series_columns, files=files or series, shared=options.shared)
        ignore = options.ignore
        of_spans = is_path(ignore) or (isinstance(ignore, Mapping) and is_table(ignore))
        return cls(
            None if options.incidents is None else spans(options.incidents),
            spans(ignore, name="ignore") if of_spans else None,
            ByName("ignore", None if of_spans else ignore, series),
            ByName("time", None if isinstance(options.time, str) else options.time, series, one=True),
            ByName("values", None if isinstance(options.values, str) else options.values, series, one=True),
            fit or ByName("fit", options.fit, series, detectors),
            labels,
            options.tz,
        )

    @property
    def bring_labels(self) -> bool:
        """True if labels are in no column of the scores."""
        return self.incidents is not None or self.labels is not None

    @property
    def spans(self) -> list[Spans]:
        """All intervals of time."""
        return [one for one in (self.incidents, self.ignored) if one is not None]

    def ask(self, one: Given) -> None:
        """Note that a series is there, whether or not it can be used."""
        for spans in self.spans:
            spans.ask(one.keys, one.file)

    def join(self, parts: Iterable[Given | LeftOut]) -> Iterator[Given | LeftOut]:
        """Put the detectors of each series on the same points, and add what belongs to them."""
        groups: dict[str, list[Given]] = {}
        for part in parts:
            one = part if isinstance(part, LeftOut) else self._with_times(part)
            if isinstance(one, LeftOut):
                yield one
            else:
                groups.setdefault(one.series, []).append(one)
        for given in groups.values():
            try:
                yield from self._complete(align(given))
            except InvalidInputError as error:
                yield from (one.left_out(str(error)) for one in given)

    def _with_times(self, one: Given) -> Given | LeftOut:
        """Add the time stamps of a scoring and the scores to fit rules on."""
        try:
            times = _own(one.times, self.time, one)
            same_index(y_true=one.y_true, y_score=one.y_score, times=times)
            if times is None:
                times = next((values.index for values in (one.y_true, one.y_score) if has_dates(values)), None)
            times = None if times is None else read_times(times, n=np.size(one.y_true), tz=self.tz)
            return replace(one, times=times, fit=_own(one.fit, self.fit, one))
        except InvalidInputError as error:
            return one.left_out(str(error))

    def _complete(self, given: Sequence[Given]) -> list[Given]:
        """Add labels, ignored points and values to the scorings of a series, which are on the same points."""
        if self.labels is not None:
            given = _labelled(given, self.labels.given(given[0]))
        first = given[0]
        if self.spans and first.times is None:
            raise needs_times()
        found: dict[str, Any] = {}
        if self.incidents is not None:
            found["y_true"] = self.incidents.labels(first.keys, first.file, first.times)
            found["incidents"] = self.incidents.incidents(first.keys, first.file)
        if self.ignored is not None:
            found["ignore"] = self.ignored.labels(first.keys, first.file, first.times, inside=True).view(np.bool_)
        own = [
            {"ignore": _own(one.ignore, self.ignore, one), "values": _own(one.values, self.values, one)}
            for one in given
        ]
        return [replace(one, **{**added, **found}) for one, added in zip(given, own, strict=True)]

    def notes(self, *, whole: bool = True) -> list[str]:
        """Return what did not fit, and how files were read; only where all tables could be read what was not used."""
        return [line for spans in self.spans for line in spans.notes(whole=whole)]


def _own(value: Any, option: Elsewhere | ByName, one: Given) -> Any:
    """Return what a scoring has itself, or what an option says of it."""
    return option.of(one) if value is None else value


def _labelled(given: Sequence[Given], known: Given) -> list[Given]:
    """Join the scores of a series with labels from elsewhere: by their time stamps where both have some."""
    truth, times = np.asarray(known.y_score), known.times or given[0].times
    points = replace(known, detector="the labels", series=given[0].series)
    if known.times is None or given[0].times is None:
        points, given = replace(points, times=None), [replace(one, times=None) for one in given]
    placed = align([points, *given])[1:]
    if np.size(placed[0].y_score) != len(truth):
        raise InvalidInputError("there are scores at time stamps at which there is no label")
    found = {"y_true": truth, "times": times} | ({} if known.values is None else {"values": known.values})
    return [replace(one, **found) for one in placed]


def is_path(given: Any) -> bool:
    """Return True if something is the name of a file, or a table in memory."""
    return isinstance(given, (str, os.PathLike)) or hasattr(given, "columns")


def needs_times() -> InvalidInputError:
    """Build the error of intervals of time without time stamps."""
    how = hint("give them with time=", "name their column with --time")
    return InvalidInputError(f"intervals of time need time stamps: {how}")
