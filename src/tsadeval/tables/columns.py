"""Columns of a table: their types, and conversion to numbers or to names of groups.

A column is a NumPy array, an Arrow (chunked) array or a pandas Series: whatever its reader gave, unchanged until it
is asked for. Missing values become NaN. Integers never lose digits on the way: beyond 2**53 they stay integers, or
are refused where a 64-bit float could not hold them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval._optional import require
from tsadeval.core.arrays import EXACT
from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError

Array = NDArray[Any]

NULLS = frozenset({"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"}) | {
    *("N/A", "NA", "NULL", "NaN", "n/a", "nan", "null", "None", "<NA>")
}
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_INTEGER = re.compile(r"\s*[+-]?\d+\s*")


class _NotNumbersError(Exception):
    """A column holds something else; the arguments are what stands before and after its name in the message."""


def is_arrow(column: Any) -> bool:
    """Return True if the column is an Arrow array, judged by its module so that pyarrow is not imported."""
    return type(column).__module__.partition(".")[0] == "pyarrow"


def numbers(column: Any, source: str, name: str) -> Array:
    """The values as a NumPy array of numbers or bools, NaN where missing; source and name are for the message."""
    try:
        if is_arrow(column):
            found = _arrow_numbers(column)
        elif isinstance(column, np.ndarray):
            found = _numpy_numbers(column)
        else:
            found = _numpy_numbers(_pandas_values(column))
    except _NotNumbersError as error:
        raise _error(source, name, error) from None
    return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))


def floats(column: Any, source: str, name: str) -> NDArray[np.float64]:
    """The values as float64, if that holds every integer among them."""
    found = numbers(column, source, name)
    try:
        if found.dtype.kind in "iu" and found.size and (found.max() > EXACT or found.min() < -EXACT):
            _check_exact(found.ravel().tolist())
    except _NotNumbersError as error:
        raise _error(source, name, error) from None
    return found.astype(np.float64)


def _error(source: str, name: str, error: _NotNumbersError) -> InvalidInputError:
    before, after = error.args
    return InvalidInputError(f"{source}: {before} column {printable(name)!r}{after}")


def is_numeric(column: Any) -> bool:
    """Return True if a column holds numbers or bools, judged by its type where that is enough."""
    if is_arrow(column):
        types = require("pyarrow.types", extra="all")
        tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
        if any(test(column.type) for test in tests):
            return True
        if len(column) and str(column[0].as_py()) not in NULLS:
            return False
    else:
        kind = getattr(column.dtype, "kind", "O")
        if kind != "O":
            return kind in "biuf"
    try:
        numbers(column, "", "")
    except InvalidInputError:
        return False
    return True


def is_temporal(column: Any) -> bool:
    """Return True if a column holds dates, times or durations."""
    if is_arrow(column):
        return bool(require("pyarrow.types", extra="all").is_temporal(column.type))
    return getattr(column.dtype, "kind", "") in ("m", "M")


def is_fraction(column: Any) -> bool:
    """Return True if a column holds floats."""
    if is_arrow(column):
        return bool(require("pyarrow.types", extra="all").is_floating(column.type))
    return getattr(column.dtype, "kind", "") == "f"


def _numpy_numbers(values: Array) -> Array:
    if isinstance(values, np.ma.MaskedArray):
        mask, values = np.ma.getmaskarray(values), np.asarray(values.data)
        values = np.where(mask, np.array(None), values) if mask.any() else values
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind == "O":
        return _object_numbers(values)
    raise _unfit(next((v for v in values.flat[:1000] if str(v) not in NULLS), None), values.dtype)


def _pandas_values(series: Any) -> Array:
    """The values of a pandas Series; those of pandas' own types as objects, with None where missing."""
    values: Array
    if isinstance(series.dtype, np.dtype):
        values = series.to_numpy()
    else:
        values = series.astype(object).to_numpy()
        values = np.where(series.isna().to_numpy(), np.array(None), values)
    return values


def _object_numbers(values: Array) -> Array:
    """Python numbers as an array: integers as they are, floats and missing values as float64."""
    flat = values.ravel().tolist()
    kinds = {type(v) for v in flat}
    odd = tuple(k for k in kinds if k is np.longdouble or not (issubclass(k, _NUMBERS) or _is_missing_type(k)))
    if odd:
        raise _unfit(next(v for v in flat if isinstance(v, odd)))
    if all(issubclass(k, (bool, np.bool_)) for k in kinds):
        return np.array(flat, np.bool_).reshape(values.shape)
    whole = [int(v) for v in flat if isinstance(v, (int, np.integer))]
    low, high = min(whole, default=0), max(whole, default=0)
    for kind in (np.int64, np.uint64):
        if len(whole) == len(flat) and low >= np.iinfo(kind).min and high <= np.iinfo(kind).max:
            return np.array(flat, kind).reshape(values.shape)
    if max(-low, high) > EXACT:
        _check_exact(whole)
    return np.array([v if isinstance(v, _NUMBERS) else np.nan for v in flat], np.float64).reshape(values.shape)


def _is_missing_type(kind: type) -> bool:
    """None, and pandas' own marks of missing values."""
    return kind.__name__ in ("NoneType", "NAType", "NaTType")


def _check_exact(integers: Iterable[int]) -> None:
    lost = next((v for v in integers if abs(v) > EXACT and not is_exact(v)), None)
    if lost is not None:
        raise _inexact(lost)


def is_integer(word: str) -> bool:
    """Return True if the text is an integer of any length."""
    return _INTEGER.fullmatch(word) is not None


def is_exact(integer: int | str) -> bool:
    """Return True if float64 represents the integer exactly."""
    try:
        return int(float(integer)) == int(integer)
    except (OverflowError, ValueError):  # beyond the largest float, or more digits than Python converts
        return False


def _arrow_numbers(column: Any) -> Array:
    types = require("pyarrow.types", extra="all")
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if types.is_floating(kind) and column.null_count:
        column = column.cast("float64").fill_null(np.nan).cast(kind)
    if types.is_floating(kind) or ((types.is_integer(kind) or types.is_boolean(kind)) and not column.null_count):
        return memory_of(column)
    if types.is_integer(kind) or types.is_boolean(kind):
        bounds = require("pyarrow.compute", extra="all").min_max(column).as_py().values()
        if all(v is None or abs(v) <= EXACT for v in bounds):
            return _arrow_numbers(column.cast("float64"))
    if types.is_integer(kind) or types.is_decimal(kind):
        return _object_numbers(np.array([_plain(v) for v in column.to_pylist()], object))
    if types.is_string(kind) or types.is_large_string(kind) or getattr(types, "is_string_view", types.is_null)(kind):
        words = [text for text in column.drop_null().unique().to_pylist() if text.strip() not in NULLS]
        if not words:
            return np.full(len(column), np.nan)
        raise _not_numbers(words)
    raise _unfit(None, kind)


def memory_of(column: Any) -> Array:
    """Numbers of Arrow, without nulls, from memory: `to_numpy` imports pandas, which takes longer than most files."""
    parts = [_memory_of_array(part) for part in getattr(column, "chunks", [column]) if len(part)]
    if not parts:
        return np.empty(0, column.type.to_pandas_dtype())
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _memory_of_array(column: Any) -> Array:
    memory, first, stop = column.buffers()[1], column.offset, column.offset + len(column)
    if str(column.type) != "bool":
        kind = np.dtype(column.type.to_pandas_dtype())
        return np.frombuffer(memory, kind, len(column), first * kind.itemsize)  # there may be more bytes behind it
    bits = np.frombuffer(memory, np.uint8)[first // 8 : (stop + 7) // 8]
    return np.unpackbits(bits, bitorder="little")[first % 8 :][: len(column)].view(np.bool_)


def _not_numbers(words: list[str]) -> _NotNumbersError:
    """What is wrong with a column of text: a word in it, an integer too large for a float, or only its type."""
    for word in words:
        try:
            float(word)
        except ValueError:
            return _unfit(word)
    large = next((word for word in words if is_integer(word) and not is_exact(word)), None)
    return _unfit(words[0]) if large is None else _inexact(large)


def _plain(value: Any) -> Any:
    """Decimals as the integer or float that they are."""
    if value is None or isinstance(value, (int, float)):
        return value
    return int(value) if value == value.to_integral_value() else float(value)


def _inexact(integer: int | str) -> _NotNumbersError:
    return _NotNumbersError(
        "the",
        f" holds the integer {printable(str(integer)[:40].strip())}, which a 64-bit float cannot hold exactly; "
        "subtract a common offset, or write the values as floats",
    )


def _unfit(value: Any, kind: Any = None) -> _NotNumbersError:
    found = printable(repr(value)) if value is not None else f"values of type {printable(kind)}"
    return _NotNumbersError("expected numbers in", f", found {found}")


def codes(column: Any) -> tuple[Array, list[Any]]:
    """The number of each row's group, from 0 in order of first appearance and -1 where missing; and their values."""
    if is_arrow(column):
        found, names = _arrow_codes(column)
    elif isinstance(column, np.ndarray):
        found, names = _numpy_codes(column)
    else:
        found, uniques = column.factorize()
        return found, list(uniques)
    return renumbered(found, names)


def _arrow_codes(column: Any) -> tuple[Array, list[Any]]:
    pyarrow = require("pyarrow", extra="all")
    if not pyarrow.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except (NotImplementedError, ValueError):  # nested
            return _object_codes(python_values(column))
    if hasattr(column, "chunks"):
        try:
            column = column.unify_dictionaries()
        except pyarrow.ArrowInvalid:  # a dictionary may hold a null, which Arrow does not join with others
            column = column.cast(column.type.value_type).dictionary_encode()
        column = column.combine_chunks()
        if hasattr(column, "chunks"):  # older releases keep one chunk
            column = column.chunk(0) if column.num_chunks else pyarrow.array([], column.type)
    indices = column.indices.fill_null(-1) if column.indices.null_count else column.indices
    return memory_of(indices).astype(np.int64), python_values(column.dictionary)


def python_values(column: Any) -> list[Any]:
    """The values of a column as Python's; Arrow's dates beyond the years that Python knows as integers."""
    if not is_arrow(column):
        return np.asarray(column, object).tolist()  # type: ignore[no-any-return]  # of any type
    try:
        return column.to_pylist()  # type: ignore[no-any-return]  # pyarrow has no types
    except (OverflowError, ValueError):
        arrays = getattr(column, "chunks", [column])
        return [value for array in arrays for value in array.view(f"int{column.type.bit_width}").to_pylist()]


def _numpy_codes(values: Array) -> tuple[Array, list[Any]]:
    if values.dtype.kind in "biufSUmM":
        names, found = np.unique(values, return_inverse=True, equal_nan=True)
        missing = names != names  # NaN and NaT are not equal to themselves
        found = np.where(missing[found], -1, found).astype(np.int64)
        return found, (names.astype(str) if names.dtype.kind in "mM" else names).tolist()
    return _object_codes(values.tolist())


def _object_codes(values: list[Any]) -> tuple[Array, list[Any]]:
    seen: dict[str, int] = {}
    texts = [None if is_missing(v) else str(v) for v in values]
    found = np.array([-1 if text is None else seen.setdefault(text, len(seen)) for text in texts], np.int64)
    return found, list(seen)


def is_missing(value: Any) -> bool:
    """Return True if the value is None, NaN or another mark of a missing value."""
    return _is_missing_type(type(value)) or (isinstance(value, float) and value != value)


def renumbered(found: Array, names: list[Any]) -> tuple[Array, list[Any]]:
    """The same groups, numbered in order of first appearance and without those that do not appear."""
    first = np.full(len(names) + 1, len(found))
    first[found[::-1]] = np.arange(len(found))[::-1]  # the last one written, hence the first to appear, stays
    order = np.argsort(first[:-1], kind="stable")
    order = order[first[order] < len(found)]
    new = np.full(len(names) + 1, -1)
    new[order] = np.arange(len(order))
    return new[found], [names[i] for i in order.tolist()]
