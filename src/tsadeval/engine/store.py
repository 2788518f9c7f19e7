"""Store: rows of any layout in Parquet parts, one part for each chunk of work, written aside and renamed into place.

A part is whole or not there, whatever happens to the writer, and nobody ever changes or deletes one. So a run that
was killed can be continued, and two runs can share a store: where both computed a cell, either row will do.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from tsadeval._optional import require
from tsadeval.core.results import Row
from tsadeval.engine.cells import C, Layout
from tsadeval.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Store"]

_HOUR = 3600.0


class Store(Generic[C]):
    """Rows of finished cells and the plans they were computed for, in a folder, or in memory where none is given."""

    def __init__(self, folder: str | Path | None, layout: Layout[C]) -> None:
        self.layout = layout
        self.folder = None if folder is None else Path(folder)
        self._tables: list[Any] = []
        self._plans: list[dict[str, Any]] = []
        if self.folder is not None:
            try:
                for inside in ("parts", "plans"):
                    (self.folder / inside).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InvalidInputError(
                    f"the store {folder} cannot be made ({error.strerror}: {error.filename})"
                ) from None
            self._refuse_other()
            self._sweep(self.folder)

    @classmethod
    def existing(cls, folder: str | Path, layout: Layout[C]) -> Store[C]:
        """A store that must be there already."""
        if not (Path(folder) / "parts").is_dir():
            raise InvalidInputError(f"{folder} holds no results: run `{layout.command} --store {folder}` first")
        return cls(folder, layout)

    def add(self, rows: list[Row]) -> None:
        """Keep these rows, all of them or (if the process dies now) none."""
        arrow = require("pyarrow", extra="all")
        table = arrow.Table.from_pylist(rows, schema=self._schema())
        if self.folder is None:
            self._tables.append(table)
            return
        buffer = arrow.BufferOutputStream()
        require("pyarrow.parquet", extra="all").write_table(table, buffer, compression="zstd")
        write_whole(self.folder / "parts" / f"{uuid.uuid4().hex}.parquet", buffer.getvalue().to_pybytes())

    def add_plan(self, plan: dict[str, Any]) -> None:
        """Remember what is being computed, so that tables can be made without asking again."""
        if self.folder is None:
            self._plans.append(plan)
            return
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.json"
        write_whole(self.folder / "plans" / name, json.dumps(plan, indent=1).encode())

    def plans(self) -> list[dict[str, Any]]:
        """All plans, oldest first."""
        if self.folder is None:
            return list(self._plans)
        found = []
        for path in sorted((self.folder / "plans").glob("*.json")):
            try:
                found.append(json.loads(path.read_text()))
            except ValueError as error:
                raise InvalidInputError(
                    f"{path} is not a plan of `{self.layout.command}` ({error}); move it away"
                ) from None
        return found

    def _read(self, columns: Iterable[str]) -> Any:
        arrow = require("pyarrow", extra="all")
        parquet = require("pyarrow.parquet", extra="all")
        names = list(columns)
        if self.folder is None:
            tables = [table.select(names) for table in self._tables]
        else:
            tables = []
            for path in sorted((self.folder / "parts").glob("*.parquet")):
                try:
                    tables.append(parquet.read_table(path, columns=names, partitioning=None))
                except (arrow.ArrowException, OSError) as error:
                    raise self._foreign(path, error) from None
        empty = arrow.schema([self._schema().field(name) for name in names]).empty_table()
        return arrow.concat_tables([empty, *tables])

    def _foreign(self, path: Path, error: Exception) -> InvalidInputError:
        reason = str(error).partition("\n")[0]
        return InvalidInputError(f"{path} is not a part of a store of `{self.layout.command}` ({reason}); move it away")

    def _refuse_other(self) -> None:
        """Refuse the store of another command before we write: a plan of ours would spoil it for its owner."""
        first = next((self.folder / "parts").glob("*.parquet"), None) if self.folder else None
        if first is None:
            return
        parquet, arrow = require("pyarrow.parquet", extra="all"), require("pyarrow", extra="all")
        try:
            names = parquet.read_schema(first).names
        except (arrow.ArrowException, OSError) as error:
            raise self._foreign(first, error) from None
        if not set(self.layout.columns) <= set(names):
            raise InvalidInputError(
                f"{self.folder} is the store of another command, or of another version of `{self.layout.command}`: "
                "choose another folder (--store)"
            )

    def done(self) -> set[C]:
        """The cells that need not be computed again. One whose metric raised may be tried anew."""
        table = self._read([*self.layout.fields, "status"])
        columns = [table[name].to_pylist() for name in self.layout.fields]
        status = table["status"].to_pylist()
        return {
            self.layout.cell(*key) for key, s in zip(zip(*columns, strict=True), status, strict=True) if s != "error"
        }

    def frame(self, cells: Iterable[C]) -> pd.DataFrame:
        """The rows of these cells as far as they are there, in this order; of several rows of a cell the best."""
        table = self._read(self.layout.columns)
        columns = [table[name].to_pylist() for name in self.layout.fields]
        failed = [status == "error" for status in table["status"].to_pylist()]
        found: dict[C, int] = {}
        for i, key in enumerate(zip(*columns, strict=True)):
            cell = self.layout.cell(*key)
            if cell not in found or failed[found[cell]]:
                found[cell] = i
        wanted = [found[cell] for cell in cells if cell in found]
        return table.take(require("pyarrow", extra="all").array(wanted, "int64")).to_pandas()  # type: ignore[no-any-return]

    def _schema(self) -> Any:
        arrow = require("pyarrow", extra="all")
        return arrow.schema([(name, getattr(arrow, kind)()) for name, kind in self.layout.columns.items()])

    @staticmethod
    def _sweep(folder: Path) -> None:
        """Remove what writers that were killed left aside; an hour is longer than any write takes."""
        for path in folder.rglob("*.aside"):
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _HOUR:
                    path.unlink()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is whole or not there, whatever happens to the writer."""
    aside = path.with_name(f"{path.stem}.{uuid.uuid4().hex[:8]}.aside")  # of this writer alone
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
