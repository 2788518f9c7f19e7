"""Readers of csv, tsv and json lines: every row as long as the heading, no digits lost, text in UTF-8.

A file is read whole where its content is given, else in blocks of lines, each parsed by itself.
"""

import csv
import gzip
import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.arrays import EXACT
from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import is_exact, is_integer, numbers
from tsadeval.tables.sources import check_size, size_limit
from tsadeval.tables.table import Request, Table, from_mapping, unique_names

_HEADING = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*([^\r\n]*)(\r\n|\r|\n|)[\r\n]*")
_LINE = re.compile(rb"[^\r\n]*")
_FRACTION = re.compile(r"\s*[+-]?\d*\.\d+\s*")
_RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")  # as Arrow says it
_BLOCK = 2**24  # bytes that are parsed at once where a file is read in blocks
_SMALL = 2**20  # bytes below which threads cost more than they save
_WIDE = 500  # columns beyond which finding each column's type takes most of the time


def read_csv(file: Any, request: Request, delimiter: str = ",") -> Generator[Table, None, None]:
    """Read the columns of a csv file; those that the request names as text stay text, so that "01" and "1" differ."""
    pyarrow, where = require("pyarrow", extra="all"), request.where
    blocks = _blocks(file, request)
    content = next(blocks, b"")
    names, body = _heading(content, where, delimiter)
    if body == len(content):  # of a block, which may end with its heading
        content += next(blocks, b"")
    if body == len(content):
        yield Table(dict.fromkeys(names, np.empty(0)), where)
        return
    text = names if request.text is None else request.text
    types = dict.fromkeys(request.floats, pyarrow.float64()) | dict.fromkeys(text, pyarrow.string())
    block = _Block(content, body, tuple(names), where, delimiter, heading=body)
    guess = dict.fromkeys(block.fractions() if len(names) > _WIDE else (), pyarrow.float64())
    table, columns = block.parse(types, guess)
    wanted = list(request.names(Table(columns, where)))
    yield Table(columns, where).only(wanted)
    for content in filter(bytes.strip, blocks):  # Arrow refuses blocks of blank lines only
        # What the last block held is tried first, so that types do not change needlessly.
        guess = {name: columns[name].type for name in wanted if str(columns[name].type) != "null"}
        block = replace(block, content=content, body=0, before=block.before + table.num_rows)
        table, columns = block.parse(types, guess, wanted)
        yield Table(columns, where)


def read_jsonl(file: Any, request: Request) -> Generator[Table, None, None]:
    """Read an object a line. Python's parser: Arrow's crashes on deep nesting and rounds large integers."""
    before = 0
    for content in _blocks(file, request, quotes=False):
        lines = enumerate(content.split(b"\n"), start=before + 1)
        rows = [_object_of(line, number, request.where) for number, line in lines if line.strip()]
        if rows or not before:
            names = dict.fromkeys(name for row in rows for name in row)
            table = from_mapping({name: [row.get(name) for row in rows] for name in names}, request.where)
            yield table.only(request.names(table))
        before += content.count(b"\n")


def _object_of(line: bytes, number: int, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_object)
    except RecursionError:
        row = None
    except ValueError as error:
        raise InvalidInputError(f"{where}: line {number} is not readable json ({error})") from error
    if not isinstance(row, dict):
        raise InvalidInputError(f'{where}: line {number} is not an object, as {{"label": 0, "score": 0.5}}')
    return row


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _blocks(file: Any, request: Request, *, quotes: bool = True) -> Iterator[bytes]:
    """Yield the content where it is given, else blocks of whole lines of a file; quotes may hold line breaks.

    A packed file is limited in size, as its own size says nothing; others may be as large as the disk.
    """
    where = request.where
    if isinstance(file, bytes):
        yield _without_zeros(file, where)
        return
    with open(file, "rb") if isinstance(file, str) else file as opened:
        packed = opened.read(2) == b"\x1f\x8b"
        opened.seek(0)
        source = gzip.GzipFile(fileobj=opened) if packed else opened
        limit, size, rest = size_limit() if packed else None, 0, b""
        while part := source.read(_BLOCK):
            size += len(part)
            check_size(size, limit, where)
            content = rest + _without_zeros(part, where)
            stop = _end_of_lines(content, quotes)
            if not stop and len(content) > _BLOCK:  # a quote within a value, as of inches, is not closed either
                stop = _end_of_lines(content, quotes=False)
                if not stop:
                    raise _too_long(where, _BLOCK)
            if stop:
                yield content[:stop]
            rest = content[stop:]
        if rest:
            yield rest


def _without_zeros(content: bytes, where: str) -> bytes:
    if b"\0" in content:
        raise _not_utf8(where, "it holds zero bytes, as UTF-16 does")
    return content


def _end_of_lines(content: bytes, quotes: bool) -> int:
    """Where the last line ends; 0 where none does, unless within quotes."""
    stop = content.rfind(b"\n") + 1 or content.rfind(b"\r") + 1
    within = quotes and content.count(b'"', 0, stop) % 2
    while within:
        earlier = content.rfind(b"\n", 0, content.rfind(b'"', 0, stop)) + 1
        within ^= content.count(b'"', earlier, stop) % 2
        stop = earlier
    return stop


def _heading(content: bytes, where: str, delimiter: str) -> tuple[list[str], int]:
    """Return the column names, and where the rows begin."""
    found = next(_HEADING.finditer(content))
    try:
        line = found[1].decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(where, f"{error.reason} {error.object[error.start]:#x}") from error
    if line.count('"') % 2:
        raise InvalidInputError(f"{where}: a column name holds a line break, or a quote is not closed")
    names = [name.strip().strip('"') for name in next(csv.reader([line], delimiter=delimiter), [])]
    if not any(names):
        raise InvalidInputError(f"{where}: expected column names on the first line, found none")
    names = unique_names([name or f"Unnamed: {i}" for i, name in enumerate(names)], where)
    # Of a single column, a blank line under the heading is a missing value.
    return names, found.end() if len(names) > 1 or found.end() == len(content) else found.end(2)


def _not_utf8(where: str, why: str) -> InvalidInputError:
    return InvalidInputError(f"{where}: not in UTF-8 ({why}); save it so")


def _too_long(where: str, size: int) -> InvalidInputError:
    return InvalidInputError(f"{where}: a row is longer than {size} bytes, or a quote is not closed")


@dataclass(frozen=True)
class _Block:
    """Arrow's csv reader, set up for a block of lines."""

    content: bytes
    body: int  # where its rows begin
    names: tuple[str, ...]
    where: str
    delimiter: str
    heading: int  # bytes before the first row of the file
    before: int = 0  # rows in earlier blocks

    def fractions(self) -> list[str]:
        """List the columns whose first value is a fraction, so that Arrow need not try other types first."""
        line = next(_LINE.finditer(self.content, self.body))[0].decode("utf-8", errors="replace")
        first = next(csv.reader([line], delimiter=self.delimiter), [])
        return [name for name, value in zip(self.names, first, strict=False) if _FRACTION.fullmatch(value)]

    def parse(
        self, types: Mapping[str, Any], guess: Mapping[str, Any], only: Sequence[str] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Return the Arrow table, and its columns by name, without loss; types that are guessed need not fit."""
        try:
            table = self.read({**guess, **types}, only)
        except require("pyarrow", extra="all").ArrowInvalid:
            if not guess:
                raise
            table = self.read(types, only)
        return table, self.exact(dict(zip(only or self.names, table.columns, strict=True)))

    def read(self, types: Mapping[str, Any], only: Sequence[str] | None = None, *, threads: bool | None = None) -> Any:
        """Return the Arrow table, of some columns only where they are named."""
        pyarrow, arrow_csv = require("pyarrow", extra="all"), require("pyarrow.csv", extra="all")
        content, wide = self.content, len(self.names) > 1
        stop = len(content) if wide else len(content.rstrip(b"\r\n"))
        threads = len(content) > _SMALL if threads is None else threads
        block = min(max(_SMALL, 64 * self.heading), 2**31 - 1)
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
                raise _too_long(self.where, block) from error
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
            row = "a row" if row is None else f"row {int(row) + self.before}"
            raise InvalidInputError(
                f"{self.where}: {row} has {fields} fields, but there are {columns} column names; every row needs "
                "one field for each"
            ) from error

    def exact(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Return the columns, those as text of which reading has lost something; text that is no text is refused.

        Arrow calls a column of nothing but the word "null" empty, and rounds integers that do not fit into 64 bits or
        that stand beside fractions.
        """
        pyarrow = require("pyarrow", extra="all")
        last = columns.get(self.names[-1])
        word = last[-1].as_py() if last is not None and len(last) else None
        if isinstance(word, str) and _LINE.fullmatch(word.encode()) is None and self.content.count(b'"') % 2:
            raise InvalidInputError(
                f"{self.where}: a quote is not closed, so that rows up to the end of the file are one value"
            )
        for name, column in columns.items():
            if pyarrow.types.is_binary(column.type):  # what is left of text that is not in UTF-8
                raise _not_utf8(self.where, f"column {printable(name)!r}")
        doubtful = [name for name, column in columns.items() if _is_doubtful(column)]
        if not doubtful:
            return columns
        again = self.read(dict.fromkeys(doubtful, pyarrow.string()), doubtful)
        return columns | {name: again[name] for name in doubtful if _has_lost(columns[name], again[name])}


def _is_doubtful(column: Any) -> bool:
    """Return True if parsing may have lost digits or text of the column."""
    if str(column.type) == "null":
        return True
    if str(column.type) != "double":
        return False
    bounds = require("pyarrow.compute", extra="all").min_max(column).as_py().values()
    return any(bound is not None and abs(bound) >= EXACT for bound in bounds)


def _has_lost(read: Any, text: Any) -> bool:
    if str(read.type) == "null":
        return any(word.strip() for word in text.unique().to_pylist())
    large = np.flatnonzero(np.abs(numbers(read, "", "")) >= EXACT)
    return any(is_integer(word) and not is_exact(word) for word in text.take(large).to_pylist())
