"""What is in a file, as arrays: text, npy, npz, csv; each reader names the file and what it expected of it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.registry import did_you_mean
from tsadeval.datasets.files import File, damaged, read
from tsadeval.errors import InvalidInputError
from tsadeval.tables.readers import read_npz
from tsadeval.tables.sources import size_limit

if TYPE_CHECKING:
    import pandas as pd

    from tsadeval.core.inputs import Array, Bools, Floats


def text_matrix(file: File, content: bytes, *, columns: int | None = None) -> Floats:
    """Numbers with commas between them, one row a line."""
    try:
        matrix = np.loadtxt(io.BytesIO(content), dtype=np.float64, delimiter=",", ndmin=2)
    except ValueError as error:
        raise InvalidInputError(f"{file}: expected lines of numbers with commas between ({error})") from error
    return with_columns(file, matrix, columns)


def text_series(file: File, content: bytes) -> Floats:
    """Numbers with any white space between them: one a line, or all on one line."""
    try:
        return np.array(content.split(), dtype=np.float64)
    except ValueError as error:
        raise InvalidInputError(f"{file}: expected numbers with white space between ({error})") from error


def npy(file: File, content: bytes) -> Array:
    """The array of a npy file."""
    try:
        found = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise _unreadable(file, error) from error
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf":
        raise InvalidInputError(f"{file}: expected an array of numbers, found {getattr(found, 'dtype', type(found))}")
    return found


def npz(file: File, content: bytes) -> dict[str, Array]:
    """The arrays of a npz file."""
    try:
        return dict(read_npz(content, str(file), size_limit()).columns)
    except InvalidInputError:
        raise
    except Exception as error:  # whatever the parsers raise, the file is not what its name says
        raise damaged(file, error) from error


def _unreadable(file: File, error: Exception) -> InvalidInputError:
    """NumPy takes whatever it does not know for a pickle; only where it is sure that there are objects do we say so."""
    if "Object arrays" in str(error):
        return InvalidInputError(f"{file}: holds Python objects (a pickle), which are never opened; save plain numbers")
    return damaged(file, ValueError("it does not begin as npy and npz files do") if "pickle" in str(error) else error)


def matrix(file: File | str, values: Any, *, columns: int | None = None) -> Floats:
    """Values as (n, d) float64; a plain sequence becomes one column."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{file}: expected numbers ({error})") from error
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2 or not found.size:
        raise InvalidInputError(f"{file}: expected an array of shape (points, columns), found shape {found.shape}")
    return with_columns(file, np.ascontiguousarray(found), columns)


def with_columns(file: File | str, found: Floats, columns: int | None) -> Floats:
    """The matrix, if it has that many columns."""
    if columns is not None and found.shape[1] != columns:
        raise InvalidInputError(f"{file}: expected {columns} columns, found {found.shape[1]}")
    return found


def labels(file: File | str, values: Any, *, n: int | None = None) -> Bools:
    """Zeros and ones as bool; where `n` is given there must be that many."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{file}: expected labels of 0 and 1 ({error})") from error
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise InvalidInputError(f"{file}: expected one label a point, found shape {found.shape}")
    mask: Bools = found == 1
    strange = np.flatnonzero(~mask & (found != 0))
    if len(strange):
        raise InvalidInputError(
            f"{file}: expected labels of 0 and 1, found {found[strange[0]]:g} at position {strange[0]}"
        )
    if n is not None and len(mask) != n:
        raise InvalidInputError(f"{file}: expected {n} labels, one for each test point, found {len(mask)}")
    return mask


def frame(file: File, content: bytes | None = None, **options: Any) -> pd.DataFrame:
    """A csv file as a table; padded column names lose their spaces."""
    pandas = require("pandas", extra="all")
    content = read(file) if content is None else content
    try:
        found: pd.DataFrame = pandas.read_csv(io.BytesIO(content), **options)
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{file}: not in UTF-8 ({error.reason} {error.object[error.start]:#x}); save it so"
        ) from error
    except (ValueError, pandas.errors.ParserError, pandas.errors.EmptyDataError) as error:
        raise InvalidInputError(f"{file}: not a readable csv file ({str(error).partition(chr(10))[0]})") from error
    found.columns = [str(name).strip().strip('"') for name in found.columns]
    if not len(found):
        raise InvalidInputError(f"{file}: has a heading but no rows")
    return found


def is_number(values: pd.Series[Any]) -> bool:
    """Does a column hold numbers?"""
    return bool(require("pandas", extra="all").api.types.is_numeric_dtype(values))


def numbers(file: File, table: pd.DataFrame) -> pd.DataFrame:
    """The table, if all of its columns hold numbers."""
    for name in table.columns:
        if not is_number(table[name]):
            word = next((value for value in table[name] if isinstance(value, str)), None)
            raise InvalidInputError(f"{file}: expected numbers in column {name}, found {word!r}")
    return table


def column(file: File, table: pd.DataFrame, name: str) -> pd.Series[Any]:
    """One column of a table, or which ones there are."""
    if name not in table.columns:
        raise InvalidInputError(f"{file}: expected a column {name!r}: {did_you_mean(name, list(table.columns))}")
    return table[name]
