"""Table: the columns of a user's file or data frame, by name; Groups: its rows by the values of some columns."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from tsadeval._optional import require
from tsadeval.core.durations import zone_of
from tsadeval.core.names import did_you_mean, is_number, printable
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import (
    Array,
    is_arrow,
    is_numeric,
    kind_of,
    memory_of,
    numbers,
    pair_codes,
    python_values,
    text_codes,
)

# Columns of these names say when a point was measured; they are neither features nor scores.
TIMES = frozenset({"timestamp", "timestamps", "timestamp_(min)", "time", "date", "datetime"})
# Columns of these names number the rows.
POSITIONS = frozenset({"", "index", "unnamed: 0"})
SHOWN = 20


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, and where they come from.

    Attributes
    ----------
    columns : mapping from str to NumPy array, Arrow array or pandas Series
        As they were read; `numbers` gives one as a NumPy array of numbers.
    source : str
        How messages name the table: the printable path of its file.
    index : collection of str
        Columns that were the index of a pandas data frame, not data.
    aliases : mapping from str to str
        Further names of columns: those of a npy file without names have numbers, and "label" and "score" mean the
        first two.
    """

    columns: Mapping[str, Any]
    source: str = "the table"
    index: Collection[str] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def _lengths(self) -> dict[str, int]:
        # An array without dimensions is a setting that was stored in a npz file beside the data.
        return {name: len(column) for name, column in self.columns.items() if getattr(column, "ndim", 1)}

    @property
    def n(self) -> int:
        """Number of rows; an error where the arrays of a npz file differ in length."""
        lengths = self._lengths
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{printable(name)} {n}" for name, n in list(lengths.items())[:SHOWN])
            raise InvalidInputError(f"{self.source}: expected columns of one length, found {shown}")
        return next(iter(lengths.values()), 0)

    @property
    def size(self) -> int:
        """Number of rows of all columns together."""
        return sum(self._lengths.values())

    def __contains__(self, name: object) -> bool:
        return name in self.columns or name in self.aliases

    def name(self, given: str, use: str = "") -> str:
        """Find the column that a name means, or say which there are; `use` says what it is wanted for."""
        found = self.aliases.get(given, given) if given not in self.columns else given
        if found in self.columns:
            return found
        names = list(self.columns)
        if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
            raise InvalidInputError(
                f"{self.source}: expected commas between the columns, found {printable(names[0])!r} as the only one"
            )
        what = f"no column {printable(given)!r}{use and f' {use}'}"
        if not self.aliases and all(map(is_number, names)):
            what += ", and the first line seems to hold values: it must hold the names of the columns"
        raise InvalidInputError(f"{self.source}: {what}: {did_you_mean(given, [*self.aliases, *names], SHOWN)}")

    def numbers(self, name: str) -> Array:
        """Return a column as a NumPy array of numbers or bools, NaN where missing."""
        name = self.name(name)
        return numbers(self.columns[name], self.source, name)

    def only(self, names: Iterable[str]) -> Self:
        """Return the table of some of the columns."""
        return replace(self, columns={name: self.columns[name] for name in names})

    def rows(self, first: int, stop: int) -> Self:
        """Return the table of neighbouring rows."""
        by_place = {name: getattr(column, "iloc", column) for name, column in self.columns.items()}  # not pandas' index
        return replace(self, columns={name: column[first:stop] for name, column in by_place.items()})

    def __repr__(self) -> str:
        shown = ", ".join(map(printable, list(self.columns)[:SHOWN]))
        more = ", ..." if len(self.columns) > SHOWN else ""
        return f"<Table {self.source}: {len(self.columns)} columns ({shown}{more})>"


@dataclass(frozen=True)
class Request:
    """What a reader is asked for."""

    where: str  # how messages name the file
    limit: int | None = None  # bytes that all of it may take once unpacked; None: for those who read batch by batch
    text: Collection[str] | None = ()  # columns of csv that stay text, so that "01" and "1" differ; None: all
    floats: Collection[str] = ()  # columns of csv that are floats, even if a batch holds whole numbers only
    rows: int | None = None  # of a batch, where the format leaves the choice; None: whatever is fast, for joining all
    choose: Callable[[Table], Collection[str]] | None = None  # which columns are wanted, of a table that may be empty
    span: tuple[int, int] | None = None  # the part of the file that is meant, in the units of its format
    footer: Any = None  # what a parquet file says of its row groups, if it has been read already

    def names(self, table: Table) -> Collection[str]:
        """Return the columns that are wanted of a table."""
        return table.columns.keys() if self.choose is None else self.choose(table)


def slices(table: Table, request: Request) -> Iterator[Table]:
    """Yield the batches of a table in memory, or mapped into it."""
    table = table.only(request.names(table))
    if request.rows is None:
        yield table
        return
    first, last = request.span or (0, table.n)
    for start in range(first, last, request.rows):
        yield table.rows(start, min(start + request.rows, last))


def join(tables: Sequence[Table]) -> Table:
    """One table of batches, of which several have Arrow's columns."""
    if len(tables) == 1:
        return tables[0]
    chunked = require("pyarrow", extra="all").chunked_array
    columns = {name: chunked([table.columns[name] for table in tables]) for name in tables[0].columns}
    return replace(tables[0], columns=columns)


def unique_names(names: Iterable[Any], source: str) -> list[str]:
    """Return the names without the white space around them, if they then differ."""
    found = [str(name).strip() for name in names]
    if len(set(found)) < len(found):
        first: dict[str, int] = {}
        twice = next(name for i, name in enumerate(found) if first.setdefault(name, i) != i)
        raise InvalidInputError(
            f"{source}: the column {printable(twice)!r} is there {found.count(twice)} times; rename or drop the others"
        )
    return found


def from_frame(frame: Any, source: str) -> Table | None:
    """Return the table of a pandas, polars or pyarrow data frame, or of one with the Arrow C interface; else None."""
    if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "iloc"):
        index = _index(frame)
        names = unique_names([*index, *frame.columns], source)
        values = [*index.values(), *(column for _, column in frame.items())]
        return Table(dict(zip(names, values, strict=True)), source, frozenset(index))
    if type(frame).__module__.partition(".")[0] == "pyarrow" or hasattr(frame, "__arrow_c_stream__"):
        return from_arrow(require("pyarrow", extra="all").table(frame), source)
    return None


def _index(frame: Any) -> dict[str, Any]:
    """Return the levels of a pandas index that say something: those with a name, and times."""
    found = {}
    for i, name in enumerate(frame.index.names):
        level = frame.index.get_level_values(i)
        if name is None and getattr(level.dtype, "kind", "") == "M":
            name = "index"
        if name is not None and name not in frame.columns:
            found[str(name)] = level.to_series()
    return found


def from_arrow(table: Any, source: str) -> Table:
    """Make a table of Arrow's; columns that pandas wrote for an index without a name are left out."""
    index: set[str] = set()
    with suppress(KeyError, TypeError, ValueError):  # not written by pandas, or not as it writes it
        index = {name for name in (table.schema.pandas_metadata or {})["index_columns"] if isinstance(name, str)}
    names = unique_names(table.schema.names, source)
    nameless = {name for name in index if name.startswith("__index_level_")}
    columns = {name: column for name, column in zip(names, table.columns, strict=True) if name not in nameless}
    return Table(columns, source, frozenset(index - nameless))


def from_mapping(arrays: Mapping[Any, Any], source: str) -> Table:
    """Return the table of a dictionary of arrays or lists."""
    names = unique_names(arrays, source)
    return Table({name: _column(values) for name, values in zip(names, arrays.values(), strict=True)}, source)


def _column(values: Any) -> Any:
    package = type(values).__module__.partition(".")[0]
    if isinstance(values, np.ndarray) or package == "pyarrow":
        return values
    if package == "pandas":
        return require("pandas", extra="all").Series(values)
    if isinstance(values, (list, tuple)):  # numpy would turn large integers into floats
        return np.fromiter(values, object, len(values))
    if hasattr(values, "__arrow_c_stream__"):
        return require("pyarrow", extra="all").chunked_array(values)
    return np.asarray(values.detach() if hasattr(values, "detach") else values)


class Groups:
    """Groups of rows, in the order in which their first rows appear; within a group the rows keep their order.

    `by` are the columns that tell them apart (none: all rows are one group), `names` their values for each group.
    """

    def __init__(self, table: Table, by: Sequence[str]) -> None:
        self.table = table
        self.by = list(by)
        self.names: list[tuple[str, ...]] = [()]
        self._codes: Array | None = None  # the group of each row; None: one group
        for name in by:
            self._split_by(name)

    def _split_by(self, name: str) -> None:
        column = self.table.columns[name]
        if getattr(column, "ndim", 1) != 1:
            raise InvalidInputError(f"{self.table.source}: expected one name a row in column {printable(name)!r}")
        found, values = text_codes(column, f"{self.table.source}: column {printable(name)!r}")
        missing = np.flatnonzero(found < 0)
        if len(missing):
            raise InvalidInputError(
                f"{self.table.source}: expected a value in every row of column {printable(name)!r}, which groups them, "
                f"found none in row {missing[0] + 1}"
            )
        if self._codes is None:
            self._codes, self.names = found, [(value,) for value in values]
            return
        self._same_length(found, name)
        self._codes, pairs = pair_codes(self._codes, found)
        self.names = [(*self.names[i], values[j]) for i, j in pairs]

    def _same_length(self, values: Array, name: str) -> None:
        if self._codes is not None and len(values) != len(self._codes):
            raise InvalidInputError(
                f"{self.table.source}: column {printable(name)!r} has {len(values)} rows, but column "
                f"{printable(self.by[0])!r} has {len(self._codes)}"
            )

    @cached_property
    def _order(self) -> Array | None:
        """The rows group by group; None where they lie so already."""
        if self._codes is None or not np.any(self._codes[1:] < self._codes[:-1]):
            return None
        return np.argsort(self._codes, kind="stable")

    @cached_property
    def _sizes(self) -> Array:
        return np.empty(0, np.int64) if self._codes is None else np.bincount(self._codes, minlength=len(self.names))

    def arranged(self, values: Array, name: str) -> Array:
        """One value a row, group by group; the name of its column is for the message."""
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise InvalidInputError(
                f"{self.table.source}: expected one value a row in {printable(name)!r}, found shape {values.shape}"
            )
        self._same_length(values, name)
        return values if self._order is None else values[self._order]

    def split(self, values: Array, name: str) -> list[Array]:
        """Return the values of each group."""
        arranged = self.arranged(values, name)
        return [arranged] if self._codes is None else np.split(arranged, np.cumsum(self._sizes)[:-1])

    def numbers(self, n: int) -> Array:
        """Return the number of its group for each of n rows, group by group."""
        return np.zeros(n, np.int64) if self._codes is None else np.repeat(np.arange(len(self.names)), self._sizes)


def times_of(table: Table, name: str) -> Array:
    """Return a column of times as an array: of dates where it holds such, of numbers, or of text."""
    column, kind = table.columns[name], kind_of(table.columns[name])
    if not is_arrow(column):
        return np.asarray(column, "datetime64[ns]" if kind == "M" else None)
    if kind == "M" and not column.null_count:  # `np.asarray` imports pandas
        return memory_of(column.cast("int64")).view(f"datetime64[{column.type.unit}]")
    if is_numeric(column):
        return table.numbers(name)
    return np.asarray(column) if kind in "MD" else np.array(python_values(column), object)


def zone_of_column(table: Table, name: str) -> str:
    """Return the time zone of a column, as its type says it, "" for none; `times_of` gives its times in UTC."""
    column = table.columns[name]
    return zone_of(column.type if is_arrow(column) else column.dtype)


def moments_of(table: Table, name: str) -> list[Any]:
    """List the moments in a column; dates as text, with "Z" where they have a time zone, which NumPy's have not."""
    found = times_of(table, name)
    if found.dtype.kind == "M":
        text = np.char.add(found.astype("datetime64[ns]").astype(str), "Z" if zone_of_column(table, name) else "")
        found = np.where(np.isnat(found), "", text)
    return [value.strip() if isinstance(value, str) else value for value in found]


def line_of(table: Table, row: int) -> int | None:
    """Find the line of a row in a file of lines; None in others."""
    return row + 2 if table.source.lower().removesuffix(".gz").endswith((".csv", ".tsv", ".txt")) else None
