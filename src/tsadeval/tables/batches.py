"""Batches of labels and scores from files that are larger than memory, in the order of their rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.arrays import EXACT
from tsadeval.core.names import printable
from tsadeval.core.parallel import ahead
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.errors import InvalidInputError, MissingExtraError
from tsadeval.tables.columns import Array, codes, is_arrow, is_exact, numbers
from tsadeval.tables.one_series import Signs, columns_to_watch
from tsadeval.tables.sources import refuse_special, user_path
from tsadeval.tables.table import Table, from_frame, from_mapping, named, times_of, unique_names

_ROWS = 2**20
_BLOCK = 2**24  # bytes of a csv file that are parsed at once
Columns = Generator[Mapping[str, Any], None, None]  # of one batch after the other


@dataclass(frozen=True, eq=False)
class Batches:
    """Pairs of labels and scores (and times), as often as one iterates; it pickles, and so do its parts.

    `span` is the part of a single file that is meant: row groups of parquet, batches of an Arrow file, rows of npy.
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
        """The next batch is read while one is being used."""
        return ahead(self.read)

    def read(self, signs: Signs | None = None) -> Iterator[tuple[Any, ...]]:
        """The same in this thread; `signs`, of which the caller then asks for the end, will know what was seen."""
        seen = self.signs() if signs is None else signs
        for source in self.sources:
            with _named_errors(source) as where:
                for columns in _columns(source, where, self):
                    seen.look(columns, where)
                    yield from self._pieces(columns, where)
        if signs is None:
            seen.finish(self.where)

    def signs(self) -> Signs:
        """Nothing seen yet of columns that show whether rows belong to one series."""
        return Signs(self.by, {self.label, self.score, self.by, self.time})

    @property
    def where(self) -> str:
        """How messages name the source."""
        return ", ".join(map(_where, self.sources[:3])) + ", ..." * (len(self.sources) > 3)

    def _pieces(self, columns: Mapping[str, Any], where: str) -> Iterator[tuple[Any, ...]]:
        labels = numbers(columns[self.label], where, self.label)
        scores = numbers(columns[self.score], where, self.score)
        found = [labels, scores]
        if self.time is not None:
            found.append(times_of(Table(dict(columns), where), self.time))
        if self.by is None:
            yield tuple(found)
            return
        group, names = named(*codes(columns[self.by]))
        if len(group) and group.min() < 0:
            raise InvalidInputError(f"{where}: expected a value in every row of column {printable(self.by)!r}")
        if len(names) == 1:
            yield names[0], *found
            return
        order = np.argsort(group, kind="stable")  # rows of a series keep their order
        borders = np.cumsum(np.bincount(group, minlength=len(names)))[:-1]
        for name, rows in zip(names, np.split(order, borders), strict=True):
            yield name, *(column[rows] for column in found)

    def watched(self, names: Iterable[str], dated: Collection[str]) -> list[str]:
        """The columns that are read only to see whether all rows belong to one series."""
        return [] if self.one_series else columns_to_watch(names, dated, {self.label, self.score, self.by, self.time})

    def parts(self, most: int = 10_000, least: int = 1) -> list[Batches]:
        """Neighbouring parts, at most so many, which can be read apart; one where the format has no such parts.

        Row groups are read together until a part has about `least` rows.
        """
        found: list[Batches] = []
        share = max(most // len(self.sources), 1)
        for source in self.sources:
            one = replace(self, sources=(source,), span=None, footer=None)
            if share == 1:  # whatever is in the file
                found.append(one)
                continue
            with _named_errors(source) as where:
                count, size, footer = _units(source, where, self.label, least)
            step = max(-(-count // share), size)
            cuts = range(0, count, step) if count > step else range(0)
            found += [replace(one, span=(a, min(a + step, count)), footer=footer) for a in cuts] or [one]
        return found

    @property
    def of_text(self) -> bool:
        """True if a source is csv, whose reader has large blocks in memory and parses them in threads of its own."""
        return any(isinstance(source, str) and _READERS[_suffix(source)] is _csv for source in self.sources)

    def versions(self) -> list[Any]:
        """What is not the same any more when one of the local files was written or replaced."""
        local = [source for source in self.sources if isinstance(source, str) and "://" not in source]
        with _named_errors(self.where):
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
        A parquet, arrow (feather), csv, tsv or npy file (of a record type, or of two columns), local or at any address
        that fsspec opens ("s3://..."). Several files are one series, in the order given. Arrays may be memory maps.
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
    return Batches(tuple(_checked(one) for one in sources), label, score, by, rows, None, time, one_series)


def _where(source: Any) -> str:
    return "the table" if isinstance(source, Mapping) else printable(source)


@contextmanager
def _named_errors(source: Any) -> Iterator[str]:
    """How messages name the source; whatever a parser raises becomes one line that does."""
    where = _where(source)
    try:
        yield where
    except (InvalidInputError, MissingExtraError, MemoryError):
        raise
    except FileNotFoundError:
        raise InvalidInputError(f"{where}: no such file") from None
    except Exception as error:  # the file is not what its name says
        reason = printable(str(error).strip().partition("\n")[0] or type(error).__name__)
        raise InvalidInputError(f"{where}: damaged or not readable ({reason})") from error


def _checked(source: Any) -> Any:
    table = from_mapping(source, "the table") if isinstance(source, Mapping) else from_frame(source, "the table")
    if table is not None:
        return dict(table.columns)
    if not isinstance(source, (str, os.PathLike)):
        raise InvalidInputError(f"expected a path or a mapping of arrays, found {type(source).__name__}")
    path = os.fspath(source)
    path = path if "://" in path else str(user_path(path))
    if _suffix(path) not in _READERS:
        known = ", ".join(_READERS)
        raise InvalidInputError(f"{printable(path)}: cannot be read in batches; use {known} (npz: save npy files)")
    return path


def _suffix(path: str) -> str:
    return os.path.splitext(path.lower().removesuffix(".gz"))[1]


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    """A local path as it is, anything else as an open file."""
    if "://" not in path:
        refuse_special(path, printable(path))
        yield path
        return
    with require("fsspec", extra="remote").open(path, "rb") as file:
        yield file


def _columns(source: Any, where: str, how: Batches) -> Iterator[Mapping[str, Any]]:
    if isinstance(source, Mapping):
        yield from _slices(source, where, how)
        return
    how = replace(how, sources=(source,))
    with _opened(source) as file, closing(_READERS[_suffix(source)](file, where, how)) as found:
        yield from found


def _wanted(names: Sequence[str], where: str, how: Batches, dated: Collection[str]) -> list[str]:
    """The columns that are read, or an error that says which there are; those `dated` hold times."""
    unique_names(names, where)
    table = Table(dict.fromkeys(names, np.empty(0)), where)
    uses = [(how.label, "for the labels"), (how.score, "for the scores")]
    uses += [(how.by, "to group by")] if how.by is not None else []
    uses += [(how.time, "for the times")] if how.time is not None else []
    return list(dict.fromkeys([*(table.name(name, use) for name, use in uses), *how.watched(names, dated)]))


def _parquet(file: Any, where: str, how: Batches) -> Columns:
    parquet = require("pyarrow.parquet", extra="all")
    # Through a buffer, so that of a row group of any size only some pages are in memory.
    with parquet.ParquetFile(file, metadata=how.footer, pre_buffer=False, buffer_size=_ROWS) as opened:
        columns = _wanted(opened.schema_arrow.names, where, how, _dated(opened.schema_arrow))
        groups = None if how.span is None else list(range(*how.span))
        # Parts are read beside others, each by a thread of its own.
        for batch in opened.iter_batches(how.rows, row_groups=groups, columns=columns, use_threads=groups is None):
            batch.validate(full=True)
            yield {name: batch.column(name) for name in columns}  # of "a" pyarrow reads "a.b" as well


def _arrow(file: Any, where: str, how: Batches) -> Columns:
    pyarrow, ipc = require("pyarrow", extra="all"), require("pyarrow.ipc", extra="all")
    source = pyarrow.memory_map(file) if isinstance(file, str) else file
    try:
        opened = ipc.open_file(source)
        stream = (opened.get_batch(i) for i in range(*(how.span or (0, opened.num_record_batches))))
    except pyarrow.ArrowInvalid:  # a stream, which has no table of contents
        source.seek(0)
        opened = stream = ipc.open_stream(source)
    columns = _wanted(opened.schema.names, where, how, _dated(opened.schema))
    for batch in stream:
        batch.validate(full=True)  # offsets that point outside their buffer would be followed otherwise
        for start in range(0, len(batch), how.rows):
            yield {name: batch.column(name).slice(start, how.rows) for name in columns}


def _csv(file: Any, where: str, how: Batches) -> Columns:
    pyarrow, csv = require("pyarrow", extra="all"), require("pyarrow.csv", extra="all")
    delimiter = "\t" if _suffix(how.sources[0]) == ".tsv" else ","
    # The type of a column is found in its first block; scores that begin with whole numbers are floats all the same.
    types = {how.score: pyarrow.float64()} | ({} if how.by is None else {how.by: pyarrow.string()})
    looked = False
    with csv.open_csv(
        file,
        csv.ReadOptions(block_size=_BLOCK),
        csv.ParseOptions(delimiter=delimiter),
        csv.ConvertOptions(column_types=types),
    ) as opened:
        columns = _wanted(opened.schema.names, where, how, _dated(opened.schema))
        for batch in opened:
            found = {name: batch.column(name) for name in columns}
            scores = found.get(how.score)
            if not looked and scores is not None and _beyond(scores):
                looked = True
                _refuse_long_integers(how.sources[0], where, how.score, delimiter)
            yield found


def _beyond(scores: Any) -> bool:
    """Return True if any number is so large that, as an integer, it may have been rounded."""
    bounds = require("pyarrow.compute", extra="all").min_max(scores).as_py().values()
    return any(bound is not None and abs(bound) >= EXACT for bound in bounds)


def _refuse_long_integers(source: Any, where: str, score: str, delimiter: str) -> None:
    """Refuse integers that were rounded as they were read, which only their texts show."""
    pyarrow, csv = require("pyarrow", extra="all"), require("pyarrow.csv", extra="all")
    compute = require("pyarrow.compute", extra="all")
    convert = csv.ConvertOptions(column_types={score: pyarrow.string()}, include_columns=[score])
    with (
        _opened(source) as file,
        csv.open_csv(file, csv.ReadOptions(block_size=_BLOCK), csv.ParseOptions(delimiter=delimiter), convert) as texts,
    ):
        for batch in texts:
            words = batch.column(0)
            words = words.filter(compute.match_substring_regex(words, r"^\s*[+-]?\d{16,}\s*$")).unique().to_pylist()
            lost = next((word for word in words if word is not None and not is_exact(word.strip())), None)
            if lost is not None:
                raise InvalidInputError(
                    f"{where}: column {printable(score)!r} has integers that 64-bit floats cannot hold, such as "
                    f"{lost}: subtract a common offset, or pass ranks"
                )


def _npy(file: Any, where: str, how: Batches) -> Columns:
    array = _mapped(file, where)
    if array.dtype.names:
        yield from _slices({name: array[name] for name in array.dtype.names}, where, how)
    elif array.ndim == 2 and array.shape[1] == 2:
        yield from _slices({how.label: array[:, 0], how.score: array[:, 1]}, where, how)
    else:
        raise InvalidInputError(f"{where}: expected two columns, labels and scores, but its shape is {array.shape}")


def _mapped(file: Any, where: str) -> Array:
    if not isinstance(file, str):
        raise InvalidInputError(f"{where}: npy files are mapped into memory, so they must be local")
    array: Array = np.load(file, mmap_mode="r", allow_pickle=False)
    return array


def _dated(schema: Any) -> list[str]:
    types = require("pyarrow.types", extra="all")
    return [field.name for field in schema if types.is_timestamp(field.type)]


def _slices(table: Mapping[str, Any], where: str, how: Batches) -> Iterator[Mapping[str, Any]]:
    dated = [name for name, column in table.items() if not is_arrow(column) and column.dtype.kind == "M"]
    columns = _wanted(list(table), where, how, dated)
    lengths = {len(table[name]) for name in columns}
    if len(lengths) > 1:
        raise InvalidInputError(f"{where}: expected columns of one length, found {sorted(lengths)}")
    first, last = how.span or (0, lengths.pop())
    by_place = {name: getattr(table[name], "iloc", table[name]) for name in columns}  # not by pandas' own index
    for start in range(first, last, how.rows):
        yield {name: column[start : min(start + how.rows, last)] for name, column in by_place.items()}


_READERS: dict[str, Callable[[Any, str, Batches], Columns]] = {
    ".parquet": _parquet,
    ".pq": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".csv": _csv,
    ".tsv": _csv,
    ".npy": _npy,
}


def _units(source: Any, where: str, label: str, least: int) -> tuple[int, int, Any]:
    """How many units a source has that can be read apart, how few of them make a part, and the footer of parquet."""
    if isinstance(source, Mapping):
        return len(source.get(label, ())), _ROWS, None
    suffix = _suffix(source)
    if suffix in (".parquet", ".pq"):
        with _opened(source) as file, require("pyarrow.parquet", extra="all").ParquetFile(file) as opened:
            found = opened.metadata
            return found.num_row_groups, -(-found.num_row_groups * least // max(found.num_rows, 1)), found
    if suffix == ".npy":
        with _opened(source) as file:
            return (_mapped(file, where).shape or (1,))[0], _ROWS, None
    return 1, 1, None
