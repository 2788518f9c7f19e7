"""Users' own data: a table with labels, a folder with a train and a test table, a folder of series."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tsadeval import errors
from tsadeval.core.events import Bools
from tsadeval.core.names import did_you_mean, printable
from tsadeval.core.parameters import Check, Number
from tsadeval.datasets.dataset import Split, feature_matrix, of_tables, split_rows
from tsadeval.datasets.readers import labels
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import kind_of
from tsadeval.tables.reading import FORMATS, is_table_file, read_table
from tsadeval.tables.table import POSITIONS, SHOWN, TIMES, Table

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
    mask = _labels(table, label)
    if {"train", "test"} <= set(table.columns):
        first, second = (Table({"column": table.columns[kind]}, table.source) for kind in ("train", "test"))
        return of_tables(first, second, mask, _advice()) if features else Split(None, None, mask, ())
    names, values = feature_matrix(_features(table, label, columns), _advice()) if features else ((), None)
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
    if not features:
        return Split(None, None, mask, ())
    first, second = (_features(one, label, columns) for one in (read_table(train), table))
    return of_tables(first, second, mask, _advice())


def _kind(path: Path, kind: str) -> Path | None:
    found = (path / f"{kind}{suffix}{packed}" for suffix in FORMATS for packed in ("", ".gz"))
    return next((one for one in found if one.is_file()), None)


def _labels(table: Table, name: str) -> Bools:
    if name not in table and len(table.columns) > 1:
        hint = f"name them with label=, on the command line as '{Path(table.source).name}(label=...)'"
        if table.source == IN_MEMORY:
            hint = 'name them: te.datasets.load(table, label="...")'
        raise InvalidInputError(
            f"{table.source}: no labels {printable(name)!r}: {did_you_mean(name, list(table.columns), SHOWN)}; {hint}"
        )
    return labels(table.source, table.numbers(name))


def _features(table: Table, label: str, chosen: Sequence[str] | None) -> Table:
    """Return the chosen columns; by default all but the labels, which a folder's train table may lack, and times."""
    if isinstance(chosen, str):
        raise InvalidInputError(f"columns must be several names, but is {chosen!r}: write [{chosen!r}]")
    left_out = table.name(label) if label in table else None
    names = [name for name in table.columns if name != left_out]
    for name in chosen or ():
        if name not in names:
            near = did_you_mean(name, names, SHOWN)
            raise InvalidInputError(f"{table.source}: no column {printable(name)!r} (columns=): {near}")
    if chosen is None:
        other = TIMES | POSITIONS | {name.lower() for name in table.index}
        chosen = [name for name in names if name.lower() not in other and kind_of(table.columns[name]) not in "mMDt"]
    if not chosen:
        raise InvalidInputError(f"{table.source}: expected at least one column beside labels and times, found none")
    return table.only(chosen)


def _advice() -> str:
    return "; " + errors.hint("choose with columns=[...]", "take it out of the table")
