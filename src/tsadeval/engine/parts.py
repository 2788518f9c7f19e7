"""Immutable Parquet parts that hold a store's rows, and the index that finds the rows of a cell by its key.

A file has its checksum in its name. It is read a group of rows at a time, with texts as codes of a dictionary.
"""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval._optional import require
from tsadeval.core.events import Index as Places
from tsadeval.core.names import printable
from tsadeval.core.results import Row
from tsadeval.engine.cells import C, Layout
from tsadeval.errors import InvalidInputError, StoreError
from tsadeval.tables.files import flush_folder, write_whole

_DIGITS = 32  # of a checksum
_GROUP = 4096  # rows that are read at once


class Moved(Exception):
    """A part is not there any more: another process merged it, and its rows are in another part."""


class Parts:
    """The parts in a folder, or in memory where none is given."""

    def __init__(self, folder: Path | None, layout: Layout[Any]) -> None:
        self.layout = layout
        self._folder = folder or Path()
        self._memory: dict[str, Any] | None = {} if folder is None else None  # tables by name
        arrow = require("pyarrow", extra="all")
        self.schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in layout.columns.items()])
        self._texts = [name for name, kind in layout.columns.items() if kind == "string"]
        # The types of a part that is read: texts are codes of a dictionary.
        codes = arrow.dictionary(arrow.int32(), arrow.string())
        self._held = arrow.schema([(one.name, codes if one.name in self._texts else one.type) for one in self.schema])

    def names(self) -> list[str]:
        """List the parts, oldest first, until two lists agree: one that is being merged could be missing in one."""
        if self._memory is not None:
            return list(self._memory)
        before: list[str] = []
        for _ in range(10):
            try:
                names = sorted(name for name in os.listdir(self._folder) if name.endswith(".parquet"))
            except FileNotFoundError:
                raise InvalidInputError(f"the store {self._folder.parent} is not there any more") from None
            if names == before:
                break
            before = names
        return before

    def groups(self, name: str, columns: Iterable[str]) -> Iterator[Any]:
        """Columns of a part, verified, as tables of some rows each.

        A column that an earlier version did not write yet is null; those that name a cell and its status must be there.
        """
        arrow = require("pyarrow", extra="all")
        wanted = list(columns)
        if self._memory is not None:
            yield self._memory[name].select(wanted)
            return
        with self._opened(name, self._texts) as part:
            found = part.schema_arrow
            if lacking := [name for name in self.layout.required if name not in found.names]:
                raise ValueError(f"it has no column {lacking[0]}")
            for column in (one for one in self.schema if one.name in found.names):
                kind = found.field(column.name).type
                if getattr(kind, "value_type", kind) != column.type:
                    raise TypeError(f"column {column.name!r} is {kind}, expected {column.type}")
            there = [column for column in wanted if column in found.names]
            for i in range(part.num_row_groups):
                # Threads of Arrow's own would each keep memory for themselves.
                table = part.read_row_group(i, columns=there, use_threads=False)
                nothing = {c: arrow.nulls(len(table), self._held.field(c).type) for c in wanted if c not in there}
                yield arrow.table({c: nothing[c] if c in nothing else table[c] for c in wanted})

    def about(self, name: str, *, verify: bool = True) -> tuple[int, list[str]]:
        """Return the number of rows of a part, and its columns. Without `verify` its end alone is read."""
        with self._opened(name, verify=verify) as part:
            return part.metadata.num_rows, part.schema_arrow.names

    def add(self, rows: list[Row]) -> str:
        """Keep some rows as a part."""
        schema = self.schema if self._memory is None else self._held
        return self.write([require("pyarrow", extra="all").Table.from_pylist(rows, schema=schema)])

    def write(self, tables: Iterable[Any]) -> str:
        """Keep the rows of these tables as one part, all of them or (if the process dies now) none."""
        arrow, parquet = require("pyarrow", extra="all"), require("pyarrow.parquet", extra="all")
        whole = arrow.concat_tables(tables)
        if self._memory is not None:
            name = f"{time.time_ns():020d}-{len(self._memory)}"
            self._memory[name] = whole.unify_dictionaries().combine_chunks()
            return name
        buffer = arrow.BufferOutputStream()
        with parquet.ParquetWriter(buffer, self.schema, compression="zstd", write_page_checksum=True) as writer:
            for start in range(0, len(whole), _GROUP):
                writer.write_table(whole.slice(start, _GROUP).cast(self.schema))
                arrow.default_memory_pool().release_unused()  # what a writer lets go is kept for a while otherwise
        content = memoryview(buffer.getvalue())
        name = f"{time.time_ns():020d}-{_checksum(content)}.parquet"
        self.keep(self._folder / name, content)
        return name

    def keep(self, path: Path, content: bytes | memoryview) -> None:
        """Write a file of the store."""
        try:
            write_whole(path, content)
        except OSError as error:
            raise StoreError(
                f"the store {path.parent.parent} cannot be written ({error.strerror or error}): all values so far are "
                "kept, and the same command again computes the rest"
            ) from error

    def remove(self, names: Iterable[str]) -> None:
        """Delete parts whose rows are in another one now."""
        if self._memory is None:
            flush_folder(self._folder)
        for name in names:
            if self._memory is None:
                (self._folder / name).unlink(missing_ok=True)
            else:
                del self._memory[name]

    @contextmanager
    def _opened(self, name: str, texts: Iterable[str] = (), *, verify: bool = True) -> Iterator[Any]:
        """Open a part, with these columns of texts as codes, as they are in the file."""
        arrow, parquet = require("pyarrow", extra="all"), require("pyarrow.parquet", extra="all")
        try:
            source = arrow.BufferReader(_verified(self._folder / name)) if verify else self._folder / name
            there = parquet.read_schema(source).names
            codes = [name for name in texts if name in there]
            with parquet.ParquetFile(source, read_dictionary=codes, page_checksum_verification=True) as part:
                yield part
        except FileNotFoundError:
            raise Moved(name) from None
        except (arrow.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
            reason = printable(str(error).partition("\n")[0])
            raise InvalidInputError(
                f"{self._folder / name} is damaged, or not a part of a store of "
                f"`{self.layout.command}` ({reason}); move it away and run the same command again, which computes what "
                "it held"
            ) from None


def _checksum(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _verified(path: Path) -> bytes:
    """Read a part, if it has the checksum in its name: those of Parquet are of its pages alone."""
    content = path.read_bytes()
    said = path.stem.rpartition("-")[2]
    if len(said) == _DIGITS and said != _checksum(content):  # parts of old had shorter names
        raise ValueError("it does not have the checksum that its name says")
    return content


_PLAIN = {"string": str, "int32": int, "int64": int, "float64": lambda value: float(value) + 0.0}  # no negative zero
_RECORD = np.dtype([("key", "S16"), ("rank", ">u8")])
_ERROR = 1 << 61  # ranks from here on are those of errors, the last one first


def coded(column: Any) -> tuple[Places, list[Any]]:
    """Return a column of a table as places in a list of values, the last of which is None."""
    values = column.combine_chunks()
    if not hasattr(values, "dictionary"):
        values = values.dictionary_encode()
    names = values.dictionary.to_pylist()
    codes = values.indices.fill_null(len(names)) if values.null_count else values.indices
    return codes.to_numpy().astype(np.int64), [*names, None]


class Keys:
    """Keys of cells of a layout, whether they come as tuples or as rows of a table.

    A key is 16 bytes: the digests of a cell's values, each with the place of its column, combined by exclusive or. Two
    cells have the same key with a probability of 2**-128, and values that many cells share are digested once.
    """

    def __init__(self, layout: Layout[Any]) -> None:
        self._kinds = [_PLAIN[layout.columns[name]] for name in layout.fields]

    def of_cells(self, cells: Sequence[C]) -> NDArray[np.bytes_]:
        """Return the keys of some cells."""
        columns = zip(*cells, strict=True) if cells else [()] * len(self._kinds)
        return self._of_columns(len(cells), ((column, slice(None)) for column in columns))

    def of_table(self, table: Any) -> NDArray[np.bytes_]:
        """Return the keys of rows, of a table with the columns of a cell in their order."""
        return self._of_columns(len(table), (coded(column)[::-1] for column in table.columns))

    def _of_columns(self, count: int, columns: Iterable[tuple[Sequence[Any], Any]]) -> NDArray[np.bytes_]:
        """Return the keys of so many cells; of each column the values, and which of them each cell has."""
        keys = np.zeros((count, 2), np.uint64)
        for place, (kind, (values, codes)) in enumerate(zip(self._kinds, columns, strict=True)):
            digests = {value: _digest(value, kind, str(place).encode()) for value in set(values)}
            keys ^= np.frombuffer(b"".join(map(digests.__getitem__, values)), np.uint64).reshape(-1, 2)[codes]
        return keys.reshape(-1).view("S16")


def _digest(value: Any, kind: Any, place: bytes) -> bytes:
    text = repr(None if value is None else kind(value))
    return hashlib.blake2b(text.encode(), digest_size=16, person=place).digest()


class Index:
    """Which row of each cell counts: the first that has a value, else the last error.

    It is made of (keys, which are errors, places of the rows), a part of the rows at a time. Rows are sorted by key
    and, of one cell, the best first.
    """

    def __init__(self, rows: Iterable[tuple[NDArray[np.bytes_], NDArray[np.bool_], Places]]) -> None:
        content = bytearray()  # grows without being copied
        for keys, failed, places in rows:
            records = np.empty(len(keys), _RECORD)
            records["key"] = keys
            records["rank"] = np.where(failed, 2 * _ERROR - places, places)
            content += records.tobytes()
        self._records = np.frombuffer(content, _RECORD)
        self._sorted.sort()

    @property
    def _sorted(self) -> NDArray[np.bytes_]:
        return self._records.view("S24")

    def find(self, keys: NDArray[np.bytes_]) -> tuple[Places, NDArray[np.bool_]]:
        """Find the place of the row that counts for each key, -1 where there is none, and which are no values."""
        if not len(self._records) or not len(keys):
            return np.full(len(keys), -1), np.ones(len(keys), np.bool_)
        wanted = np.zeros(len(keys), _RECORD)
        wanted["key"] = keys
        order = np.argsort(keys)  # neighbours are found in the same lines of the cache
        at = np.empty(len(keys), np.int64)
        at[order] = np.searchsorted(self._sorted, wanted.view("S24")[order])
        found = self._records[np.minimum(at, len(self._records) - 1)]
        place, failed = _places(found["rank"])
        place[found["key"] != keys] = -1
        return place, failed | (place < 0)

    def best(self) -> Places:
        """Return the places of all rows that count."""
        keys = self._records["key"]
        first = np.ones(len(keys), np.bool_)
        first[1:] = keys[1:] != keys[:-1]
        return _places(self._records["rank"][first])[0]


def _places(ranks: NDArray[Any]) -> tuple[Places, NDArray[np.bool_]]:
    ranks = ranks.astype(np.int64)
    failed = ranks >= _ERROR
    return np.where(failed, 2 * _ERROR - ranks, ranks), failed
