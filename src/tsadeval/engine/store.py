"""Store: rows of any layout in Parquet parts, one part per chunk, written aside and renamed into place.

A part is whole or not there, whatever happens to the writer, and is never changed. Many small parts are merged
into one; a part is deleted only once all its rows are on the disk in another part. So a run that was killed can be
continued, and several processes can share a store: where two computed a cell, either row will do.

Rows are read a part at a time. What is kept of all of them is an index of 24 bytes a row, while it is needed.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tsadeval._optional import require
from tsadeval.core.events import Index as Places
from tsadeval.core.names import printable
from tsadeval.core.results import Row
from tsadeval.engine.cells import C, Layout
from tsadeval.engine.parts import Index, Keys, Moved, Parts, coded
from tsadeval.errors import InvalidInputError

T = TypeVar("T")

_HOUR = 3600.0
_MANY = 64  # small parts that are merged into one
_LARGE = 100_000  # rows of a part that is not merged again
_BATCH = 8192  # cells of a plan that are looked up at once


class Store(Generic[C]):
    """Rows of finished cells and the plans they were computed for, in a folder, or in memory where none is given."""

    def __init__(self, folder: str | Path | None, layout: Layout[C]) -> None:
        self.layout = layout
        # Absolute, because the code of a metric or detector may change the current folder.
        self.folder = None if folder is None else Path(folder).absolute()
        self._recent: list[str] = []
        if str(folder).startswith("~"):  # a shell would have put the home folder in its place
            raise InvalidInputError(f"the store {printable(str(folder))}: write the home folder out, or there is none")
        self._keys = Keys(layout)
        self._parts = Parts(self.folder and self.folder / "parts", layout)
        if self.folder is None:
            return
        try:
            for inside in ("parts", "plans"):
                (self.folder / inside).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInputError(f"the store {folder} cannot be made ({error.strerror}: {error.filename})") from None
        self._refuse_other()
        self.sweep("parts", "plans")

    @classmethod
    def existing(cls, folder: str | Path, layout: Layout[C]) -> Self:
        """Return a store that must be there already."""
        if not (Path(folder) / "parts").is_dir():
            raise InvalidInputError(f"{folder} holds no results: run `{layout.command} --store {folder}` first")
        return cls(folder, layout)

    def add(self, rows: list[Row]) -> None:
        """Keep these rows, all of them or (if the process dies now) none."""
        if not rows:
            return
        self._recent.append(self._parts.add(rows))
        if len(self._recent) >= _MANY:
            self._merge(self._recent)
            self._recent = []

    def add_plan(self, plan: dict[str, Any]) -> None:
        """Remember what is being computed, so that tables can be made without asking again."""
        if self.folder is None:  # nobody else reads it
            return
        content = json.dumps(plan, indent=1).encode()
        last = max((self.folder / "plans").glob("*.json"), default=None)
        if last is not None and last.stat().st_size == len(content) and last.read_bytes() == content:
            return  # the same command again
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.json"
        self._parts.keep(self.folder / "plans" / name, content)

    def plans(self) -> list[dict[str, Any]]:
        """All plans in the folder, oldest first."""
        found = []
        for path in sorted(self.folder.glob("plans/*.json") if self.folder else ()):
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

    def missing(self, cells: Iterable[C]) -> bytes:
        """Return a byte for each cell: 1 where it has no value yet, else 0. An error is tried again."""
        return self._find(cells)[1].tobytes()

    def frame(self, cells: Iterable[C]) -> Any:
        """Return the rows of these cells, as far as they are there, in this order; the best of several of a cell."""
        return self.table(cells).to_pandas()

    def table(self, cells: Iterable[C]) -> Any:
        """Return the same as `frame`, as a table of Arrow."""

        def in_order(tables: Iterator[Any], places: Places) -> Any:
            found = list(tables)
            if not found:
                return self._parts.schema.empty_table()
            whole = require("pyarrow", extra="all").concat_tables(found).unify_dictionaries()
            return whole.take(np.unique(places, return_inverse=True)[1]).cast(self._parts.schema)

        return self._read(cells, list(self.layout.columns), in_order)

    def scan(self, cells: Iterable[C], columns: Sequence[str], into: Callable[[Iterator[Any]], T]) -> T:
        """Return what `into` makes of these rows, which it is given in tables of some rows each, in any order.

        It is called anew if another process merges parts while they are read.
        """
        return self._read(cells, columns, lambda tables, _: into(tables))

    def _read(self, cells: Iterable[C], columns: Sequence[str], into: Callable[[Iterator[Any], Places], T]) -> T:
        """Return what `into` makes of the rows of these cells, as they were written, and of their places."""
        wanted = repeatable(cells)

        def attempt() -> T:
            places, _, sizes = self._find(wanted)
            there = places[places >= 0]
            return into(self._chosen(sizes, there, columns), there)

        return _again(attempt)

    def compact(self) -> None:
        """Merge many small parts, up to a size; other processes may read and write at the same time."""
        names = [] if self.folder is None else self._parts.names()
        if len(names) < _MANY:
            return
        small: list[str] = []
        rows = 0
        for name in names:
            with suppress(Moved):
                size, columns = self._parts.about(name, verify=False)
                # What another version wrote beside our columns would be lost.
                if size < _LARGE and set(columns) <= set(self.layout.columns):
                    small.append(name)
                    rows += size
            if rows >= _LARGE:
                self._merge(small)
                small, rows = [], 0
        self._merge(small)
        self._recent = []

    def _merge(self, names: list[str]) -> None:
        """Replace these parts by one that has the rows of them that count."""

        def merged() -> list[str]:
            there = set(self._parts.names())
            left = [name for name in names if name in there]  # the others were merged by another process
            if len(left) > 1:
                sizes: dict[str, int] = {}
                best = Index(self._entries(left, sizes)).best()
                self._parts.write(self._chosen(sizes, best, list(self.layout.columns)))
            return left

        if len(parts := _again(merged)) > 1:
            self._parts.remove(parts)

    def _find(self, cells: Iterable[C]) -> tuple[Places, NDArray[np.bool_], dict[str, int]]:
        """Find the row of each cell that counts: its place, -1 where there is none, and which cells have no value.

        Places are those in all parts together, which come with their numbers of rows in the order of reading.
        """
        sizes: dict[str, int] = {}
        # Rows that differ from all cells in their first value cannot be theirs.
        first = {cell[0] for cell in cells} if isinstance(cells, (list, tuple)) else None

        def entries() -> Iterator[Any]:
            while new := [name for name in self._parts.names() if name not in sizes]:
                with suppress(Moved):  # list again
                    yield from self._entries(new, sizes, first)

        index = Index(entries())
        some = iter(cells)
        found = [index.find(self._keys.of_cells([]))]
        while batch := list(islice(some, _BATCH)):
            found.append(index.find(self._keys.of_cells(batch)))
        places, failed = zip(*found, strict=True)
        return np.concatenate(places), np.concatenate(failed), sizes

    def _entries(self, names: list[str], sizes: dict[str, int], first: set[Any] | None = None) -> Iterator[Any]:
        """Yield what the index needs to know of the rows of these parts, whose numbers are noted."""
        start = sum(sizes.values())
        for name in names:
            begin = start
            for table in self._parts.groups(name, [*self.layout.fields, "status"]):
                places = np.arange(start, start + len(table))
                start += len(table)
                if first is not None:
                    codes, values = coded(table.column(0))
                    mine = np.array([value in first for value in values])[codes]
                    if not mine.any():
                        continue
                    table, places = table.filter(mine), places[mine]
                codes, values = coded(table["status"])
                failed = np.array([value == "error" for value in values])[codes]
                yield self._keys.of_table(table.select(self.layout.fields)), failed, places
            sizes[name] = start - begin

    def _chosen(self, sizes: dict[str, int], places: Places, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows at these places of all rows, in the order of reading."""
        mask = np.zeros(sum(sizes.values()), np.bool_)
        mask[places] = True
        start = 0
        for name, size in sizes.items():
            if mask[start : start + size].any():
                at = start
                for table in self._parts.groups(name, columns):
                    kept = mask[at : at + len(table)]
                    at += len(table)
                    yield table if kept.all() else table.filter(kept)
            start += size

    def _refuse_other(self) -> None:
        """Refuse the store of another command before we write: a plan of ours would spoil it for its owner."""
        with suppress(Moved):
            for name in self._parts.names()[:1]:
                if not set(self.layout.required) <= set(self._parts.about(name)[1]):
                    raise InvalidInputError(
                        f"{self.folder} is the store of another command, or of another version of "
                        f"`{self.layout.command}`: choose another folder (--store)"
                    )

    def sweep(self, *inside: str) -> None:
        """Remove what writers that were killed left aside; an hour is longer than any write takes.

        In all folders of the store, which takes a while where it holds scores, or in those that are named.
        """
        if self.folder is None:
            return
        found = (path for name in inside or ("",) for path in (self.folder / name).rglob("*.aside"))
        for path in found:
            with suppress(OSError):  # deleted by another process, or a store that can only be read
                if time.time() - path.stat().st_mtime > _HOUR:
                    path.unlink()


def _again(work: Callable[[], T]) -> T:
    """Do it, from the beginning where a part was moved meanwhile."""
    while True:
        with suppress(Moved):
            return work()


def repeatable(cells: Iterable[C]) -> Iterable[C]:
    """Return the same cells, which can be gone through more than once."""
    return list(cells) if iter(cells) is cells else cells
