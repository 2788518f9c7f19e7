"""Store: rows of any layout in Parquet parts, one part for each chunk of work, written aside and renamed into place.

A part is whole or not there, whatever happens to the writer, and is never changed. Many small parts are merged
into one; a part is deleted only once all its rows are on the disk in another part. So a run that was killed can be
continued, and several processes can share a store: where two computed a cell, either row will do.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from tsadeval._optional import require
from tsadeval.core.printable import printable
from tsadeval.core.results import Row
from tsadeval.engine.cells import C, Layout
from tsadeval.errors import InvalidInputError, StoreError

if TYPE_CHECKING:
    import pandas as pd

    from tsadeval.core.events import Index

__all__ = ["Store", "read_sealed", "write_sealed", "write_whole"]

_HOUR = 3600.0
_MANY = 128  # small parts that are merged into one
_LARGE = 500_000  # rows of a part that is not merged again
_DIGITS = 32  # of a checksum
_BATCH = 200_000  # cells of a plan that are looked up at once


class Store(Generic[C]):
    """Rows of finished cells and the plans they were computed for, in a folder, or in memory where none is given."""

    def __init__(self, folder: str | Path | None, layout: Layout[C]) -> None:
        self.layout = layout
        # Absolute, because the code of a metric or detector may change the current folder.
        self.folder = None if folder is None else Path(folder).absolute()
        self._tables: list[Any] = []
        self._recent: list[Path] = []
        self._plans: list[dict[str, Any]] = []
        if str(folder).startswith("~"):  # a shell would have put the home folder in its place
            raise InvalidInputError(f"the store {printable(str(folder))}: write the home folder out, or there is none")
        if self.folder is not None:
            try:
                for inside in ("parts", "plans"):
                    (self.folder / inside).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InvalidInputError(
                    f"the store {folder} cannot be made ({error.strerror}: {error.filename})"
                ) from None
            self._refuse_other()

    @classmethod
    def existing(cls, folder: str | Path, layout: Layout[C]) -> Store[C]:
        """A store that must be there already."""
        if not (Path(folder) / "parts").is_dir():
            raise InvalidInputError(f"{folder} holds no results: run `{layout.command} --store {folder}` first")
        return cls(folder, layout)

    def add(self, rows: list[Row]) -> None:
        """Keep these rows, all of them or (if the process dies now) none."""
        if not rows:
            return
        table = require("pyarrow", extra="all").Table.from_pylist(rows, schema=self._schema())
        self._tables.append(table)
        if self.folder is not None:
            self._recent.append(self._write(table))
        if len(self._tables) < _MANY:
            return
        whole = _joined(self._tables)
        if self.folder is None:
            self._tables = [whole]
        else:
            self._replace(self._recent, whole)
            self._tables, self._recent = [], []

    def add_plan(self, plan: dict[str, Any]) -> None:
        """Remember what is being computed, so that tables can be made without asking again."""
        if self.folder is None:
            self._plans.append(plan)
            return
        content = json.dumps(plan, indent=1).encode()
        last = max((self.folder / "plans").glob("*.json"), default=None)
        if last is not None and last.stat().st_size == len(content) and last.read_bytes() == content:
            return  # the same command again
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.json"
        self._keep(self.folder / "plans" / name, content)

    def plans(self) -> list[dict[str, Any]]:
        """All plans, oldest first."""
        if self.folder is None:
            return list(self._plans)
        found = []
        for path in sorted((self.folder / "plans").glob("*.json")):
            try:
                plan = json.loads(path.read_text())
                if not isinstance(plan, dict):
                    raise ValueError("it holds no object")
                found.append(plan)
            except (ValueError, RecursionError) as error:
                raise InvalidInputError(
                    f"{path} is not a plan of `{self.layout.command}` ({error}); move it away"
                ) from None
        return found

    def missing(self, cells: Iterable[C]) -> tuple[list[C], int]:
        """The cells that have no value yet, and how many cells there are. An error is no value: it is tried again."""
        table = self._read([*self.layout.fields, "status"])
        compute = require("pyarrow.compute", extra="all")
        table = self._narrowed(table, cells)
        known = table.filter(compute.not_equal(table["status"], "error")).select(self.layout.fields)
        left: list[C] = []
        total = 0
        for batch, groups, own in self._batches(cells, known):
            total += len(batch)
            done = np.isin(groups, own)
            left += [cell for cell, has in zip(batch, done.tolist(), strict=True) if not has]
        return left, total

    def frame(self, cells: Iterable[C]) -> pd.DataFrame:
        """The rows of these cells as far as they are there, in this order; of several rows of a cell the best."""
        return self.table(cells).to_pandas()  # type: ignore[no-any-return]

    def table(self, cells: Iterable[C]) -> Any:
        """The same as `frame`, as a table of Arrow."""
        table = self._best(self._narrowed(self._read(self.layout.columns), cells))
        wanted = []
        for _, groups, own in self._batches(cells, table.select(self.layout.fields)):
            order = np.argsort(own)
            if len(order):
                place = order[np.minimum(np.searchsorted(own[order], groups), len(order) - 1)]
                wanted.append(place[own[place] == groups])
        rows = np.concatenate(wanted) if wanted else np.empty(0, np.int64)
        return table.take(rows)

    def _narrowed(self, table: Any, cells: Iterable[C]) -> Any:
        """The rows with a first column as some of the cells have it: the others cannot be those of one.

        To compare all columns takes long where a store is large; cells that come one at a time are not looked at.
        """
        if not isinstance(cells, (list, tuple)):
            return table
        arrow, compute = require("pyarrow", extra="all"), require("pyarrow.compute", extra="all")
        first = self.layout.fields[0]
        wanted = arrow.array(list({cell[0] for cell in cells}), self._schema().field(first).type)
        return table.filter(compute.is_in(table[first], wanted))

    def compact(self) -> None:
        """Merge many small parts into one; other processes may read and write at the same time."""
        if self.folder is None or len(self._parts()) < _MANY:
            return
        parquet = require("pyarrow.parquet", extra="all")
        small: dict[Path, Any] = {}
        for path in self._parts():
            with suppress(FileNotFoundError):  # another process merged it
                about = parquet.read_metadata(path)
                # What another version wrote beside our columns would be lost.
                if about.num_rows < _LARGE and about.schema.names == list(self.layout.columns):
                    small[path] = self._table(path, list(self.layout.columns))
        if len(small) > 1:
            self._replace(list(small), self._best(_joined(list(small.values()))))
        self._tables, self._recent = [], []

    def _batches(self, cells: Iterable[C], known: Any) -> Iterable[tuple[list[C], Index, Index]]:
        """Some cells at a time, with numbers that are equal where the cells are: of these, and of the known ones."""
        arrow = require("pyarrow", extra="all")
        schema = arrow.schema([self._schema().field(name) for name in self.layout.fields])
        cells = iter(cells)
        while batch := list(islice(cells, _BATCH)):
            columns = zip(zip(*batch, strict=True), schema.types, strict=True)
            wanted = arrow.Table.from_arrays([arrow.array(*column) for column in columns], schema=schema)
            groups = _groups(arrow.concat_tables([wanted, known]))
            yield batch, groups[: len(batch)], groups[len(batch) :]

    def _best(self, table: Any) -> Any:
        """One row of each cell: the first that has a value, else the last error."""
        groups = _groups(table.select(self.layout.fields))
        failed = require("pyarrow.compute", extra="all").equal(table["status"], "error").to_numpy()
        place = np.arange(len(groups))
        order = np.lexsort([np.where(failed, -place, place), failed, groups])
        first = np.diff(groups[order], prepend=-1) > 0
        return table.take(np.sort(order[first]))

    def _write(self, table: Any) -> Path:
        assert self.folder is not None
        buffer = require("pyarrow", extra="all").BufferOutputStream()
        require("pyarrow.parquet", extra="all").write_table(table, buffer, compression="zstd", write_page_checksum=True)
        content = buffer.getvalue().to_pybytes()
        path = self.folder / "parts" / f"{time.time_ns():020d}-{_checksum(content)}.parquet"
        self._keep(path, content)
        return path

    def _keep(self, path: Path, content: bytes) -> None:
        try:
            write_whole(path, content)
        except OSError as error:
            raise StoreError(
                f"the store {self.folder} cannot be written ({error.strerror or error}): all values so far are kept, "
                "and the same command again computes the rest"
            ) from error

    def _replace(self, paths: list[Path], table: Any) -> None:
        self._write(table)
        assert self.folder is not None
        _flush_folder(self.folder / "parts")
        for path in paths:
            path.unlink(missing_ok=True)

    def _parts(self) -> list[Path]:
        """The parts. Listed until two lists agree: a part that is being merged could be missing in a single one."""
        assert self.folder is not None
        before: list[str] = []
        for _ in range(10):
            names = sorted(name for name in os.listdir(self.folder / "parts") if name.endswith(".parquet"))
            if names == before:
                break
            before = names
        return [self.folder / "parts" / name for name in before]

    def _read(self, columns: Iterable[str]) -> Any:
        arrow = require("pyarrow", extra="all")
        names = list(columns)
        if self.folder is None:
            tables = [table.select(names) for table in self._tables]
        else:
            read: dict[Path, Any] = {}
            while new := [path for path in self._parts() if path not in read]:
                with suppress(FileNotFoundError):  # merged by another process: list again
                    for path in new:
                        read[path] = self._table(path, names)
            tables = list(read.values())
        return _joined([arrow.schema([self._schema().field(name) for name in names]).empty_table(), *tables])

    def _table(self, path: Path, names: list[str]) -> Any:
        """Columns of a part, verified."""
        arrow, parquet = require("pyarrow", extra="all"), require("pyarrow.parquet", extra="all")
        schema = self._schema()
        try:
            content = arrow.BufferReader(_verified(path))
            with parquet.ParquetFile(content, page_checksum_verification=True) as part:
                found = part.schema_arrow
                for name in names:
                    kind = found.field(name).type
                    if kind != schema.field(name).type:
                        raise TypeError(f"column {name!r} is {kind}, expected {schema.field(name).type}")
                return part.read(columns=names)
        except FileNotFoundError:
            raise
        except (arrow.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
            raise self._foreign(path, error) from None

    def _foreign(self, path: Path, error: Exception) -> InvalidInputError:
        reason = printable(str(error).partition("\n")[0])
        return InvalidInputError(
            f"{path} is damaged, or not a part of a store of `{self.layout.command}` ({reason}); move it away and "
            "run the same command again, which computes what it held"
        )

    def _refuse_other(self) -> None:
        """Refuse the store of another command before we write: a plan of ours would spoil it for its owner."""
        first = next(iter(self._parts()), None) if self.folder else None
        if first is None:
            return
        parquet, arrow = require("pyarrow.parquet", extra="all"), require("pyarrow", extra="all")
        try:
            names = parquet.read_schema(arrow.BufferReader(_verified(first))).names
        except FileNotFoundError:
            return
        except (arrow.ArrowException, OSError, ValueError) as error:
            raise self._foreign(first, error) from None
        if not set(self.layout.columns) <= set(names):
            raise InvalidInputError(
                f"{self.folder} is the store of another command, or of another version of `{self.layout.command}`: "
                "choose another folder (--store)"
            )

    def _schema(self) -> Any:
        arrow = require("pyarrow", extra="all")
        return arrow.schema([(name, getattr(arrow, kind)()) for name, kind in self.layout.columns.items()])

    def sweep(self) -> None:
        """Remove what writers that were killed left aside; an hour is longer than any write takes."""
        walk = () if self.folder is None else os.walk(self.folder)
        found = (Path(where) / name for where, _, names in walk for name in names if name.endswith(".aside"))
        for path in found:
            with suppress(OSError):  # deleted by another process, or a store that can only be read
                if time.time() - path.stat().st_mtime > _HOUR:
                    path.unlink()


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _verified(path: Path) -> bytes:
    """What a part holds, if that has the checksum in its name: those of Parquet are of its pages alone."""
    content = path.read_bytes()
    said = path.stem.rpartition("-")[2]
    if len(said) == _DIGITS and said != _checksum(content):  # parts of old had shorter names
        raise ValueError("it does not have the checksum that its name says")
    return content


def _joined(tables: list[Any]) -> Any:
    return require("pyarrow", extra="all").concat_tables(tables).combine_chunks()


def _groups(table: Any) -> Index:
    """A number for each row, equal where the rows are."""
    groups = np.zeros(len(table), np.int64)
    for column in table.columns:
        codes = _codes(column.combine_chunks())
        # At most as many numbers as rows after each column, so the product of two fits.
        groups = _codes(require("pyarrow", extra="all").array(groups * (int(codes.max(initial=0)) + 1) + codes))
    return groups


def _codes(values: Any) -> Index:
    return values.dictionary_encode(null_encoding="encode").indices.to_numpy().astype(np.int64)  # type: ignore[no-any-return]


def write_whole(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file that is whole or not there, whatever happens to the writer, and, if durable, to the machine."""
    aside = path.with_name(f"{path.stem}.{uuid.uuid4().hex[:8]}.aside")  # of this writer alone
    try:
        with aside.open("wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file that is only there to save time: behind its checksum, and not durable."""
    write_whole(path, hashlib.sha256(content).digest() + content, durable=False)


def read_sealed(path: Path) -> bytes | None:
    """What `write_sealed` wrote; None where it is not there, or damaged."""
    try:
        found = path.read_bytes()
    except OSError:
        return None
    return found[32:] if hashlib.sha256(found[32:]).digest() == found[:32] else None


def _flush_folder(folder: Path) -> None:
    """Make renames in a folder durable; only POSIX systems can, and only there is it needed."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
