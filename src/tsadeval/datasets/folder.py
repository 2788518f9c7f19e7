"""Your own data: a csv, parquet or npz file with labels, a folder with a train and a test file, a folder of series."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.registry import did_you_mean
from tsadeval.datasets.dataset import Parts
from tsadeval.datasets.files import File, damaged, read
from tsadeval.datasets.formats import csv_names, frame, labels, matrix, npz
from tsadeval.errors import InvalidInputError

if TYPE_CHECKING:
    from tsadeval.core.inputs import Array

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".npz")
OPTIONS = ("columns", "label", "split")
# Columns of these names say when a point was measured; they are no features.
_TIMES = {"timestamp", "timestamp_(min)", "time", "date", "datetime", "index", "unnamed: 0"}

# A table by column: its labels and features are arrays of one length; names of features end in their number.
Columns = dict[str, Any]


def series_in(path: Path) -> list[Path]:
    """The series that a path holds: itself, or the files of a folder that is not one data set in several files."""
    if path.is_file() or _kind(path, "test"):
        return [path]
    return sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))


def read_own(
    path: Path,
    features: bool,
    *,
    label: str = "label",
    split: float | None = None,
    columns: Sequence[str] | None = None,
) -> Parts:
    """Train, test and labels of a file or folder.

    A folder holds `test` (csv, parquet or npz) with a column of labels or with a `test_label` file beside it, and
    `train`. A single npz file holds the arrays `train` and `test` and the labels. Any other file is one table: all of
    its rows are both what a detector learns from and what it is judged on, unless `split` says how many of the first
    rows (a whole number), or which share of them (below 1), are for learning only.
    """
    check_parameters(str(path), {"split": Number(0, open_low=True, none=True)}, {"split": split})
    if path.is_dir():
        return _folder(path, features, label, columns)
    file = File(path.name, path)
    table = _table(file)
    if {"train", "test"} <= set(table):
        mask = labels(file, _pick(file, table, label), n=len(table["test"]))
        test = _features(file, {"column": table["test"]}, None)
        return _parts(_features(file, {"column": table["train"]}, None), test, mask, features)
    mask = labels(file, _pick(file, table, label))
    table = {name: values for name, values in table.items() if name != label}
    names, values = _features(file, table, columns) if features else ((), None)
    if values is not None and len(values) != len(mask):
        raise InvalidInputError(f"{file}: expected one label for each of {len(values)} rows, found {len(mask)}")
    n = 0 if split is None else int(split) if split >= 1 else round(split * len(mask))
    if split is not None and not 0 < n < len(mask):
        raise InvalidInputError(f"{file}: split={split} leaves one part of {len(mask)} rows empty")
    if values is None:
        return Parts(None, None, mask[n:], ())
    return Parts(values[:n] if n else values, values[n:], mask[n:], names)


def _folder(path: Path, features: bool, label: str, columns: Sequence[str] | None) -> Parts:
    train, test, extra = (_kind(path, kind) for kind in ("train", "test", "test_label"))
    if test is None or (train is None and features):
        found = series_in(path)
        if found and test is None:
            raise InvalidInputError(f"{path} is a folder of {len(found)} series: load one, as {str(found[0])!r}")
        what = "train" if test else "test"
        raise InvalidInputError(f"{path}: expected a file {what} ({', '.join(SUFFIXES)}) in this folder, found none")
    table = _table(test)
    mask = labels(extra, _pick(extra, _table(extra), label)) if extra else labels(test, _pick(test, table, label))
    if train is None:
        return Parts(None, None, mask, ())
    tables = [{k: v for k, v in one.items() if k != label} for one in (_table(train), table)]
    return _parts(_features(train, tables[0], columns), _features(test, tables[1], columns), mask, features)


def _parts(train: tuple[Any, Any], test: tuple[Any, Any], mask: Any, features: bool) -> Parts:
    if not features:
        return Parts(None, None, mask, ())
    if train[0] != test[0]:
        raise InvalidInputError(f"train and test differ: {', '.join(train[0])} against {', '.join(test[0])}")
    return Parts(train[1], test[1], mask, train[0])


def _kind(path: Path, kind: str) -> File | None:
    found = (path / f"{kind}{suffix}" for suffix in SUFFIXES)
    return next((File(one.name, one) for one in found if one.is_file()), None)


def _table(file: File) -> Columns:
    if not file.path.endswith(SUFFIXES):
        raise InvalidInputError(f"{file}: cannot read this kind of file; use {', '.join(SUFFIXES)}")
    if file.path.endswith(".npz"):
        return dict(npz(file, read(file)))
    if file.path.endswith(".parquet"):
        parquet = require("pyarrow.parquet", extra="all")
        content = read(file)
        try:
            table = parquet.read_table(io.BytesIO(content)).to_pandas()
        except (OSError, ValueError) as error:
            raise damaged(file, error) from error
        names = [str(name).strip() for name in table.columns]
    else:
        content = read(file)
        table, names = frame(file, content), csv_names(content)
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:  # a second column of labels would be a feature that tells all
        raise InvalidInputError(
            f"{file}: the column {twice!r} is there {names.count(twice)} times; rename or drop the others"
        )
    return {str(name).strip(): table[name].to_numpy() for name in table.columns}


def _pick(file: File, table: Columns, name: str) -> Any:
    if name not in table:
        others = list(table)
        if len(others) == 1 and any(mark in others[0] for mark in ";\t|"):
            raise InvalidInputError(f"{file}: expected commas between the columns, found {others[0]!r} as the only one")
        raise InvalidInputError(
            f"{file}: no labels {name!r}: {did_you_mean(name, others)}; name them with label=, on the command line as "
            f"'{file.disk.name}(label=...)'"
        )
    return table[name]


def _features(file: File, table: Columns, chosen: Sequence[str] | None) -> tuple[tuple[str, ...], Array]:
    """Names and values of the chosen columns; by default all but those of time."""
    if isinstance(chosen, str):
        raise InvalidInputError(f"columns must be several names, but is {chosen!r}: write [{chosen!r}]")
    for name in chosen or ():
        if name not in table:
            raise InvalidInputError(f"{file}: no column {name!r} (columns=): {did_you_mean(name, list(table))}")
    wanted = {name: np.asarray(table[name]) for name in chosen or table}
    if chosen is None:
        wanted = {k: v for k, v in wanted.items() if k.lower() not in _TIMES and v.dtype.kind not in "mM"}
    if not wanted:
        raise InvalidInputError(f"{file}: expected at least one column beside labels and times, found none")
    names: list[str] = []
    blocks = []
    for name, values in wanted.items():
        if values.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"{file}: expected numbers in column {name!r}, found {values.flat[0]!r}; choose with columns=[...]"
            )
        block = matrix(file, values)
        names += [name] if values.ndim == 1 else [f"{name}_{i}" for i in range(1, block.shape[1] + 1)]
        blocks.append(block)
    if len({len(block) for block in blocks}) > 1:
        lengths = ", ".join(f"{name} {len(block)}" for name, block in zip(wanted, blocks, strict=True))
        raise InvalidInputError(f"{file}: expected columns of one length, found {lengths}")
    return tuple(names), np.ascontiguousarray(np.hstack(blocks))
