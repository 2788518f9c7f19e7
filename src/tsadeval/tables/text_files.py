"""Reader of csv and tsv files: every row as long as the heading, no digits lost, text in UTF-8."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.arrays import EXACT
from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import is_exact, is_integer
from tsadeval.tables.table import Table, unique_names

_BLANK = re.compile(rb"[\r\n]*")
_LINE = re.compile(rb"[^\r\n]*")
_FRACTION = re.compile(r"\s*[+-]?\d*\.\d+\s*")
_RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")  # as Arrow says it
_SMALL = 2**20  # bytes below which threads cost more than they save
_WIDE = 500  # columns beyond which finding each column's type takes most of the time


def read_csv(content: bytes, where: str, limit: int, text: Sequence[str] | None, delimiter: str = ",") -> Table:
    """The table of a csv file; columns named in `text` (None: all) stay text, so that "01" and "1" differ."""
    pyarrow = require("pyarrow", extra="all")
    names, body = _heading(content, where, delimiter)
    if body == len(content):
        return Table(dict.fromkeys(names, np.empty(0)), where)
    file = _File(content, body, tuple(names), where, delimiter)
    types = {name: pyarrow.string() for name in names if text is None or name in text}
    guess = dict.fromkeys(file.fractions() if len(names) > _WIDE else (), pyarrow.float64())
    try:
        table = file.read(guess | types)
    except pyarrow.ArrowInvalid:
        if not guess:
            raise
        table = file.read(types)
    columns = dict(zip(names, table.columns, strict=True))
    last = columns[names[-1]][-1].as_py() if table.num_rows else None
    if isinstance(last, str) and _LINE.fullmatch(last.encode()) is None and content.count(b'"') % 2:
        raise InvalidInputError(f"{where}: a quote is not closed, so that rows up to the end of the file are one value")
    for name, column in columns.items():
        if pyarrow.types.is_binary(column.type):  # what is left of text that is not in UTF-8
            raise _not_utf8(where, f"column {printable(name)!r}")
    # Arrow calls a column of nothing but the word "null" empty, and rounds integers that do not fit into 64 bits or
    # that stand beside fractions: what such columns say is kept as text.
    doubtful = [name for name, column in columns.items() if _is_doubtful(column)]
    if doubtful:
        again = file.read(dict.fromkeys(doubtful, pyarrow.string()), doubtful)
        columns |= {name: again[name] for name in doubtful if _has_lost(columns[name], again[name])}
    return Table(columns, where)


def _heading(content: bytes, where: str, delimiter: str) -> tuple[list[str], int]:
    """The column names, and where the rows begin."""
    if b"\0" in content:
        raise _not_utf8(where, "it holds zero bytes, as UTF-16 does")
    start = _end(_BLANK, content, 3 if content[:3] == b"\xef\xbb\xbf" else 0)
    stop = _end(_LINE, content, start)
    try:
        line = content[start:stop].decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(where, f"{error.reason} {content[start + error.start]:#x}") from error
    if line.count('"') % 2:
        raise InvalidInputError(f"{where}: a column name holds a line break, or a quote is not closed")
    names = [name.strip().strip('"') for name in next(csv.reader([line], delimiter=delimiter), [])]
    if not any(names):
        raise InvalidInputError(f"{where}: expected column names on the first line, found none")
    names = unique_names([name or f"Unnamed: {i}" for i, name in enumerate(names)], where)
    body = _end(_BLANK, content, stop)
    if len(names) > 1 or body == len(content):
        return names, body
    # Of a single column, a blank line under the heading is a missing value.
    return names, stop + (2 if content[stop : stop + 2] == b"\r\n" else 1)


def _end(pattern: re.Pattern[bytes], content: bytes, start: int) -> int:
    found = pattern.match(content, start)
    return found.end() if found else start


def _not_utf8(where: str, why: str) -> InvalidInputError:
    return InvalidInputError(f"{where}: not in UTF-8 ({why}); save it so")


@dataclass(frozen=True)
class _File:
    """Arrow's csv reader, set up for one file."""

    content: bytes
    body: int
    names: tuple[str, ...]
    where: str
    delimiter: str

    def fractions(self) -> list[str]:
        """The columns whose first value is a fraction: Arrow need not try other types first, which takes longer."""
        line = self.content[self.body : _end(_LINE, self.content, self.body)].decode("utf-8", errors="replace")
        first = next(csv.reader([line], delimiter=self.delimiter), [])
        return [name for name, value in zip(self.names, first, strict=False) if _FRACTION.fullmatch(value)]

    def read(self, types: Mapping[str, Any], only: Sequence[str] | None = None, *, threads: bool | None = None) -> Any:
        """The Arrow table, of some columns only where they are named."""
        pyarrow, arrow_csv = require("pyarrow", extra="all"), require("pyarrow.csv", extra="all")
        content, wide = self.content, len(self.names) > 1
        stop = len(content) if wide else len(content.rstrip(b"\r\n"))
        threads = len(content) > _SMALL if threads is None else threads
        block = min(max(_SMALL, 64 * self.body), 2**31 - 1)
        try:
            return arrow_csv.read_csv(
                pyarrow.py_buffer(content).slice(self.body, max(stop - self.body, 0)),
                arrow_csv.ReadOptions(use_threads=threads, column_names=self.names, block_size=block),
                arrow_csv.ParseOptions(
                    delimiter=self.delimiter,
                    # A blank line is nothing, but a missing value where there is one column.
                    ignore_empty_lines=wide,
                    newlines_in_values=b'"' in content,
                ),
                arrow_csv.ConvertOptions(column_types=types, include_columns=only),
            )
        except pyarrow.ArrowInvalid as error:
            if "UTF8" in str(error):
                raise _not_utf8(self.where, "in a column of text") from error
            if "straddling" in str(error):
                raise InvalidInputError(
                    f"{self.where}: a row is longer than {block} bytes, or a quote is not closed"
                ) from error
            found = _RAGGED.search(str(error))
            if found is None:
                raise
            row, columns, fields = found.groups()
            if not wide and any(mark in self.names[0] for mark in ";\t|"):
                raise InvalidInputError(
                    f"{self.where}: expected commas between the columns and points in numbers, found "
                    f"{printable(self.names[0])!r} as the only column, and commas below it"
                ) from error
            if row is None and threads:  # only a single thread counts the rows
                return self.read(types, only, threads=False)
            raise InvalidInputError(
                f"{self.where}: row {row} has {fields} fields, but there are {columns} column names; every row needs "
                "one field for each"
            ) from error


def _is_doubtful(column: Any) -> bool:
    """Return True if parsing may have lost digits or text of the column."""
    if str(column.type) == "null":
        return True
    if str(column.type) != "double":
        return False
    values = column.to_numpy()
    return bool((values >= EXACT).any() or (values <= -EXACT).any())


def _has_lost(read: Any, text: Any) -> bool:
    if str(read.type) == "null":
        return any(word.strip() for word in text.unique().to_pylist())
    large = np.flatnonzero(np.abs(read.to_numpy()) >= EXACT)
    words = text.take(large).to_pylist()
    return any(is_integer(word) and not is_exact(word) for word in words)
