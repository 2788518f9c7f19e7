"""Users' own data: a table with labels, a folder with a train and a test table, a folder of series."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval import errors
from tsadeval.core.names import printable
from tsadeval.core.parameters import Check, Number
from tsadeval.datasets.dataset import Split, split_rows
from tsadeval.datasets.readers import labels, matrix
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import floats, kind_of
from tsadeval.tables.reading import FORMATS, is_table_file, read_table
from tsadeval.tables.table import POSITIONS, TIMES, Table, nearest

if TYPE_CHECKING:
    from tsadeval.core.inputs import Array, Bools

OPTIONS: dict[str, Check | None] = {"columns": None, "label": None, "split": Number(0, open_low=True, none=True)}
IN_MEMORY = "the table"  # as `read_table` calls what has no file


def series_in(path: Path) -> list[Path]:
    """List the series that a path holds: itself, or the files of a folder that is not one data set in several files."""
    if not path.is_dir() or _kind(path, "test"):
        return [path]
    return sorted(file for file in path.iterdir() if is_table_file(file))


def read_own(
    source: Any,
    features: bool,
    *,
    label: str = "label",
    split: float | None = None,
    columns: Sequence[str] | None = None,
) -> Split:
    """Read train, test and labels of a file, a folder or a table in memory.

    A folder holds a table `test` with a column of labels, or with a table `test_label` beside it, and a table
    `train`. A single npz file holds the arrays `train` and `test` and the labels. Any other file is one table: all of
    its rows are both what a detector learns from and what it is judged on, unless `split` says how many of the first
    rows (a whole number), or which share of them (below 1), are for learning only.
    """
    if isinstance(source, Path) and source.is_dir():
        return _folder(source, features, label, columns)
    table = read_table(source)
    if {"train", "test"} <= set(table.columns):
        mask = _labels(table, label, n=len(table.columns["test"]))
        return _split([(table, {"column": table.columns[kind]}) for kind in ("train", "test")], None, mask, features)
    mask = _labels(table, label)
    names, values = _features(table, _without(table, label), columns) if features else ((), None)
    if values is not None and len(values) != len(mask):
        raise InvalidInputError(f"{table.source}: expected one label for each of {len(values)} rows, found {len(mask)}")
    return split_rows(table.source, values, mask, names, split)


def _folder(path: Path, features: bool, label: str, columns: Sequence[str] | None) -> Split:
    train, test, extra = (_kind(path, kind) for kind in ("train", "test", "test_label"))
    if test is None or (train is None and features):
        found = series_in(path)
        if found and test is None:
            raise InvalidInputError(
                f"{printable(path)} is a folder of {len(found)} series: load one, as {str(found[0])!r}"
            )
        what = "train" if test else "test"
        kinds = ", ".join(FORMATS)
        raise InvalidInputError(f"{printable(path)}: expected a file {what} ({kinds}) in this folder, found none")
    table = read_table(test)
    mask = _labels(read_table(extra) if extra else table, label)
    tables = [read_table(train), table] if train else []
    return _split([(one, _without(one, label)) for one in tables], columns, mask, features)


def _split(
    parts: list[tuple[Table, dict[str, Any]]], chosen: Sequence[str] | None, mask: Bools, features: bool
) -> Split:
    """Return the features of train and test, if they are wanted, and the labels."""
    if not features:
        return Split(None, None, mask, ())
    (names, train), (others, test) = (_features(*part, chosen) for part in parts)
    if names != others:
        raise InvalidInputError(f"train and test differ: {', '.join(names)} against {', '.join(others)}")
    return Split(train, test, mask, names)


def _kind(path: Path, kind: str) -> Path | None:
    found = (path / f"{kind}{suffix}{packed}" for suffix in FORMATS for packed in ("", ".gz"))
    return next((one for one in found if one.is_file()), None)


def _labels(table: Table, name: str, *, n: int | None = None) -> Bools:
    if name not in table and len(table.columns) > 1:
        hint = f"name them with label=, on the command line as '{Path(table.source).name}(label=...)'"
        if table.source == IN_MEMORY:
            hint = 'name them: te.datasets.load(table, label="...")'
        raise InvalidInputError(
            f"{table.source}: no labels {printable(name)!r}: {nearest(name, list(table.columns))}; {hint}"
        )
    return labels(table.source, table.numbers(name), n=n)


def _without(table: Table, label: str) -> dict[str, Any]:
    """Return the columns but that of labels; a folder's train table may have none."""
    left_out = table.name(label) if label in table else None
    return {name: values for name, values in table.columns.items() if name != left_out}


def _features(table: Table, columns: dict[str, Any], chosen: Sequence[str] | None) -> tuple[tuple[str, ...], Array]:
    """Names and values of the chosen columns; by default all but those of time."""
    if isinstance(chosen, str):
        raise InvalidInputError(f"columns must be several names, but is {chosen!r}: write [{chosen!r}]")
    for name in chosen or ():
        if name not in columns:
            hint = nearest(name, list(columns))
            raise InvalidInputError(f"{table.source}: no column {printable(name)!r} (columns=): {hint}")
    if chosen is None:
        other = TIMES | POSITIONS | {name.lower() for name in table.index}
        columns = {k: v for k, v in columns.items() if k.lower() not in other and kind_of(v) not in "mMDt"}
    else:
        columns = {name: columns[name] for name in chosen}
    if not columns:
        raise InvalidInputError(f"{table.source}: expected at least one column beside labels and times, found none")
    names: list[str] = []
    blocks = []
    for name, values in columns.items():
        try:
            numbers = floats(values, table.source, name)
        except InvalidInputError as error:
            how = errors.hint("choose with columns=[...]", "take it out of the table")
            raise InvalidInputError(f"{error}; {how}") from None
        block = matrix(table.source, numbers)
        names += [name] if numbers.ndim == 1 else [f"{name}_{i}" for i in range(1, block.shape[1] + 1)]
        blocks.append(block)
    if len({len(block) for block in blocks}) > 1:
        lengths = ", ".join(f"{printable(name)} {len(block)}" for name, block in zip(columns, blocks, strict=True))
        raise InvalidInputError(f"{table.source}: expected columns of one length, found {lengths}")
    return tuple(names), np.ascontiguousarray(np.hstack(blocks))
