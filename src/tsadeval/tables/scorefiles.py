"""Files that hold labels and scores: csv, parquet, npy and npz."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.registry import did_you_mean
from tsadeval.errors import InvalidInputError

Columns = Mapping[str, Any]


def _read_csv(path: Path) -> Columns:
    pandas = require("pandas", extra="all")
    frame = pandas.read_csv(path)
    return {str(name).strip(): frame[name] for name in frame.columns}


def _read_parquet(path: Path) -> Columns:
    table = require("pyarrow.parquet", extra="all").read_table(path)
    return {name: table[name].to_pandas() for name in table.column_names}


def _read_npz(path: Path) -> Columns:
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def _read_npy(path: Path) -> Columns:
    array = np.load(path, allow_pickle=False)
    if array.dtype.names:
        return {name: array[name] for name in array.dtype.names}
    if array.ndim != 2 or array.shape[1] < 2:
        raise InvalidInputError(f"{path}: expected named fields or shape (n, columns), but it has shape {array.shape}")
    # No names in the file: the first column is the label, the second the score, any further ones by number.
    named = {str(i): array[:, i] for i in range(array.shape[1])}
    return {"label": named["0"], "score": named["1"], **named}


READERS: dict[str, Callable[[Path], Columns]] = {
    ".csv": _read_csv,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
}


def read_scores(path: Path, label: str, scores: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Yield (score column, labels, scores) of a file, or say clearly what is wrong with it."""
    path = Path(path)
    if path.suffix not in READERS:
        kind = path.suffix or "a file without suffix"
        raise InvalidInputError(f"{path}: cannot read {kind}; use {', '.join(READERS)}")
    if not path.is_file():
        raise InvalidInputError(f"{path}: no such file")
    try:
        columns = READERS[path.suffix](path)
    except (InvalidInputError, ImportError):
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InvalidInputError(f"{path}: not a readable {path.suffix[1:]} file ({reason})") from error
    for name, option in [(label, "--label"), *((s, "--score") for s in scores)]:
        if name not in columns:
            raise InvalidInputError(
                f"{path}: no column {name!r} ({option}): {did_you_mean(name, [str(c) for c in columns])}"
            )
    for name in scores:
        yield name, columns[label], columns[name]
