"""Batches of labels and scores from files that are larger than memory, in the order of their rows."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tsadeval.core.names import printable
from tsadeval.core.parallel import ahead
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.errors import InvalidInputError
from tsadeval.tables.one_series import Signs, columns_to_watch
from tsadeval.tables.reading import FORMATS, name_errors, open_file, read_batches, read_table, suffix_of
from tsadeval.tables.sources import user_path
from tsadeval.tables.table import Groups, Request, Table, slices, times_of

_ROWS = 2**20


@dataclass(frozen=True, eq=False)
class Batches:
    """Pairs of labels and scores (and times), as often as one iterates; it pickles, and so do its parts.

    `span` is the part of a single file that is meant: row groups of parquet, rows of npy.
    """

    sources: tuple[Any, ...]
    label: str = "label"
    score: str = "score"
    by: str | None = None
    rows: int = _ROWS
    span: tuple[int, int] | None = None
    time: str | None = None
    one_series: bool = False
    # What a parquet file says of its row groups: parts need not read it again, which may take longer than the part.
    footer: Any = field(default=None, repr=False)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the batches; the next one is read while one is being used."""
        return ahead(self.read)

    def read(self, signs: Signs | None = None) -> Iterator[tuple[Any, ...]]:
        """Read them in this thread; `signs`, which the caller then finishes, will know what was seen."""
        seen = self.signs() if signs is None else signs
        text = () if self.by is None else (self.by,)
        for source in self.sources:
            request = Request(
                _where(source), None, text, (self.score,), self.rows, self._choose, self.span, self.footer
            )
            in_memory = isinstance(source, Table)
            with name_errors(request.where, "" if in_memory else suffix_of(source)):
                for table in slices(source, request) if in_memory else read_batches(source, request):
                    groups = Groups(table, text)
                    seen.look(groups)
                    yield from self._pieces(groups)
        if signs is None:
            seen.finish(self.where)

    def signs(self) -> Signs:
        """Nothing seen yet of columns that show whether rows belong to one series."""
        return Signs([] if self.by is None else [self.by], self._uses)

    @property
    def where(self) -> str:
        """How messages name the source."""
        return ", ".join(map(_where, self.sources[:3])) + ", ..." * (len(self.sources) > 3)

    @property
    def _uses(self) -> dict[str, str]:
        """The columns that are used, and what for."""
        uses = {"label": "for the labels", "score": "for the scores", "by": "to group by", "time": "for the times"}
        return {name: use for kind, use in uses.items() if (name := getattr(self, kind)) is not None}

    def _choose(self, table: Table) -> list[str]:
        """Choose the columns that are read, or say which there are."""
        used = [table.name(name, use) for name, use in self._uses.items()]
        return list(dict.fromkeys([*used, *([] if self.one_series else columns_to_watch(table, used))]))

    def _pieces(self, groups: Groups) -> Iterator[tuple[Any, ...]]:
        """Yield the arrays of each series in a batch."""
        table = groups.table
        found = {name: table.numbers(name) for name in (self.label, self.score)}
        if self.time is not None:
            found[self.time] = times_of(table, self.time)
        parts = (groups.split(values, name) for name, values in found.items())
        for name, *values in zip(groups.names, *parts, strict=True):
            if len(values[0]):
                yield *name, *values

    def parts(self, most: int = 10_000, least: int = 1) -> "list[Batches]":
        """Neighbouring parts, at most so many, which can be read apart; one where the format has no such parts.

        Row groups are read together until a part has about `least` rows.
        """
        found: list[Batches] = []
        share = max(most // len(self.sources), 1)
        for source in self.sources:
            one = replace(self, sources=(source,), span=None, footer=None)
            count, size, footer = self._units(source, least) if share > 1 else (1, 1, None)
            step = max(-(-count // share), size)
            cuts = range(0, count, step) if count > step else range(0)
            found += [replace(one, span=(a, min(a + step, count)), footer=footer) for a in cuts] or [one]
        return found

    def _units(self, source: Any, least: int) -> tuple[int, int, Any]:
        """How many units a source has that can be read apart, how few of them make a part, and a footer."""
        if isinstance(source, Table):
            return len(source.columns.get(self.label, ())), _ROWS, None
        units = FORMATS[suffix_of(source)].units
        if units is None:
            return 1, 1, None
        with name_errors(_where(source), suffix_of(source)), open_file(source) as file:
            return units(file, least)

    @property
    def of_text(self) -> bool:
        """True if a source is text, whose reader has large blocks in memory and parses them in threads of its own."""
        return any(isinstance(source, str) and FORMATS[suffix_of(source)].text for source in self.sources)

    def versions(self) -> list[Any]:
        """Return what is not the same any more when one of the local files was written or replaced."""
        local = [source for source in self.sources if isinstance(source, str) and "://" not in source]
        with name_errors(self.where, ""):
            return [(found.st_ino, found.st_size, found.st_mtime_ns) for found in map(os.stat, local)]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "footer": None}  # it may be larger than the part


def batches(
    source: Any,
    *,
    label: str = "label",
    score: str = "score",
    by: str | None = None,
    time: str | None = None,
    rows: int = _ROWS,
    one_series: bool = False,
) -> Batches:
    """Labels and scores of a file of any size, batch by batch.

    Parameters
    ----------
    source : path, several paths, data frame, or mapping from names to arrays
        A parquet, arrow (feather), csv, tsv, jsonl or npy file (of a record type, or of labels and scores in its first
        two columns; local), text also gzipped, local or at any address that fsspec opens ("s3://..."). Several files
        are one series, in the order given. Arrays may be memory maps.
    label, score : str
        The columns of labels and scores.
    by : str, optional
        A column of names of series. Batches are then (name, labels, scores), with the rows of a series in their order.
    time : str, optional
        A column of time stamps, which are then the last of each batch.
    rows : int
        Rows of a batch, where the format leaves the choice.
    one_series : bool
        All rows (of a group) are one series, even if a column called "series", "detector" or the like has several
        values.

    Returns
    -------
    Batches
        Iterate over it, as often as you like; `parts()` gives parts of the file that can be read apart.

    Examples
    --------
    >>> import numpy as np
    >>> import tsadeval as te
    >>> table = {"label": np.array([0, 1, 1, 0]), "score": np.array([0.1, 0.9, 0.8, 0.3])}
    >>> [len(labels) for labels, scores in te.batches(table, rows=3)]
    [3, 1]
    """
    check_parameters("batches", {"rows": Number(low=1, integer=True)}, {"rows": rows})
    several = isinstance(source, Iterable) and not isinstance(source, (str, os.PathLike, Mapping))
    several = several and not (hasattr(source, "columns") or hasattr(source, "column_names"))  # data frames
    sources = tuple(source) if several else (source,)
    if not sources:
        raise InvalidInputError("there is no file to read")
    return Batches(tuple(_check_source(one) for one in sources), label, score, by, rows, None, time, one_series)


def _where(source: Any) -> str:
    return source.source if isinstance(source, Table) else printable(source)


def _check_source(source: Any) -> Any:
    """Return the table of what is in memory, the path of a file."""
    if not isinstance(source, (str, os.PathLike)):
        return read_table(source)
    path = os.fspath(source)
    path = path if "://" in path else str(user_path(path))
    known = [suffix for suffix, form in FORMATS.items() if not form.whole]
    if suffix_of(path) not in known:
        instead = " (npz: save npy files)" * (suffix_of(path) == ".npz")
        raise InvalidInputError(f"{printable(path)}: cannot be read in batches; use {', '.join(known)}{instead}")
    return path
