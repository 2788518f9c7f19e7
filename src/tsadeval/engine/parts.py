"""Parts: rows of a layout in Parquet files that are never changed, each whole or not there, in a folder or in memory.

A file has its checksum in its name. It is read a group of rows at a time, with texts as codes of a dictionary.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tsadeval._optional import require
from tsadeval.core.printable import printable
from tsadeval.core.results import Row
from tsadeval.engine.cells import Layout
from tsadeval.engine.files import flush_folder, write_whole
from tsadeval.errors import InvalidInputError, StoreError

__all__ = ["Moved", "Parts"]

_DIGITS = 32  # of a checksum
_GROUP = 4096  # rows that are read at once


class Moved(Exception):
    """A part is not there any more: another process merged it, and its rows are in another part."""


class Parts:
    """The parts in a folder, or in memory where none is given."""

    def __init__(self, folder: Path | None, layout: Layout[Any]) -> None:
        self.layout = layout
        self._folder = folder
        self._memory: dict[str, Any] = {}  # a table, or the content of a file
        arrow = require("pyarrow", extra="all")
        self.schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in layout.columns.items()])
        self._texts = [name for name, kind in layout.columns.items() if kind == "string"]

    def names(self) -> list[str]:
        """The parts, oldest first. Listed until two lists agree: one that is being merged could be missing in one."""
        if self._folder is None:
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
        """Columns of a part, verified, as tables of some rows each."""
        arrow = require("pyarrow", extra="all")
        wanted = list(columns)
        held = self._memory.get(name)
        if isinstance(held, arrow.Table):
            yield held.select(wanted)
            return
        try:
            with self._opened(name) as part:
                found = part.schema_arrow
                for column in self.schema:
                    kind = found.field(column.name).type
                    if getattr(kind, "value_type", kind) != column.type:
                        raise TypeError(f"column {column.name!r} is {kind}, expected {column.type}")
                for i in range(part.num_row_groups):
                    # Threads of Arrow's own would each keep memory for themselves.
                    yield part.read_row_group(i, columns=wanted, use_threads=False)
        except (arrow.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
            raise self._foreign(name, error) from None

    def about(self, name: str, *, verify: bool = True) -> tuple[int, list[str]]:
        """The number of rows of a part, and its columns. Without `verify` its end alone is read."""
        arrow = require("pyarrow", extra="all")
        try:
            with self._opened(name, verify=verify, texts=()) as part:
                return part.metadata.num_rows, part.schema_arrow.names
        except (arrow.ArrowException, OSError, ValueError, KeyError) as error:
            raise self._foreign(name, error) from None

    def add(self, rows: list[Row]) -> str:
        """Keep some rows as a part."""
        arrow = require("pyarrow", extra="all")
        if self._folder is not None:
            return self.write([arrow.Table.from_pylist(rows, schema=self.schema)])
        # Not worth the time that Parquet takes, until parts are merged; the types are those of a part that is read.
        codes = arrow.dictionary(arrow.int32(), arrow.string())
        schema = arrow.schema([(one.name, codes if one.name in self._texts else one.type) for one in self.schema])
        name = f"{time.time_ns():020d}-{len(self._memory)}"
        self._memory[name] = arrow.Table.from_pylist(rows, schema=schema)
        return name

    def write(self, tables: Iterable[Any]) -> str:
        """Keep the rows of these tables as one part, all of them or (if the process dies now) none."""
        arrow, parquet = require("pyarrow", extra="all"), require("pyarrow.parquet", extra="all")
        buffer = arrow.BufferOutputStream()
        with parquet.ParquetWriter(buffer, self.schema, compression="zstd", write_page_checksum=True) as writer:
            for table in _of_size(tables, _GROUP):
                writer.write_table(table.cast(self.schema), row_group_size=_GROUP)
                arrow.default_memory_pool().release_unused()  # what a writer lets go is kept for a while otherwise
        content = memoryview(buffer.getvalue())
        name = f"{time.time_ns():020d}-{_checksum(content)}.parquet"
        if self._folder is None:
            self._memory[name] = content
        else:
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
        if self._folder is not None:
            flush_folder(self._folder)
        for name in names:
            if self._folder is None:
                del self._memory[name]
            else:
                (self._folder / name).unlink(missing_ok=True)

    def _opened(self, name: str, *, verify: bool = True, texts: Iterable[str] | None = None) -> Any:
        arrow, parquet = require("pyarrow", extra="all"), require("pyarrow.parquet", extra="all")
        try:
            if self._folder is None:
                source = arrow.BufferReader(self._memory[name])
            else:
                source = arrow.BufferReader(_verified(self._folder / name)) if verify else self._folder / name
            # Texts are codes in the file, and stay so.
            codes = list(self._texts if texts is None else texts)
            return parquet.ParquetFile(source, read_dictionary=codes, page_checksum_verification=True)
        except FileNotFoundError:
            raise Moved(name) from None
        except KeyError as error:
            raise ValueError(f"it has no column {error.args[0].decode()}") from None

    def _foreign(self, name: str, error: Exception) -> InvalidInputError:
        reason = printable(str(error).partition("\n")[0])
        return InvalidInputError(
            f"{self._folder and self._folder / name} is damaged, or not a part of a store of `{self.layout.command}` "
            f"({reason}); move it away and run the same command again, which computes what it held"
        )


def _of_size(tables: Iterable[Any], rows: int) -> Iterator[Any]:
    """The same rows in tables of at least so many rows, but for the last one."""
    concat = require("pyarrow", extra="all").concat_tables
    some: list[Any] = []
    for table in tables:
        some.append(table)
        if sum(map(len, some)) >= rows:
            yield concat(some)
            some = []
    if some:
        yield concat(some)


def _checksum(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _verified(path: Path) -> bytes:
    """What a part holds, if that has the checksum in its name: those of Parquet are of its pages alone."""
    content = path.read_bytes()
    said = path.stem.rpartition("-")[2]
    if len(said) == _DIGITS and said != _checksum(content):  # parts of old had shorter names
        raise ValueError("it does not have the checksum that its name says")
    return content
