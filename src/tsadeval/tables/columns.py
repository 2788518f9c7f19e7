"""Columns of a table: their types, and conversion to numbers or to names of groups.

A column is a NumPy array, an Arrow (chunked) array or a pandas Series: whatever its reader gave, unchanged until it
is asked for. Missing values become NaN. Integers never lose digits on the way: beyond 2**53 they stay integers, or
are refused where a 64-bit float could not hold them.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval._optional import require
from tsadeval.core.arrays import EXACT
from tsadeval.core.names import is_number, printable, refuse_alike
from tsadeval.errors import InvalidInputError

Array = NDArray[Any]

NULLS = frozenset({"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"}) | {
    *("N/A", "NA", "NULL", "NaN", "n/a", "nan", "null", "None", "<NA>")
}
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)
_INTEGER = re.compile(r"\s*[+-]?\d+\s*")
# Tests of Arrow's types; k: categories, d: decimals, D: dates, t: times of day, s: text.
_KINDS = {
    "b": ("is_boolean",),
    "i": ("is_signed_integer",),
    "u": ("is_unsigned_integer",),
    "f": ("is_floating",),
    "n": ("is_null",),
    "d": ("is_decimal",),
    "M": ("is_timestamp",),
    "D": ("is_date",),
    "m": ("is_duration",),
    "t": ("is_time",),
    "k": ("is_dictionary",),
    "s": ("is_string", "is_large_string", "is_string_view"),
}


def is_arrow(column: Any) -> bool:
    """Return True if the column is an Arrow array, judged by its module so that pyarrow is not imported."""
    return type(column).__module__.partition(".")[0] == "pyarrow"


class _Place(NamedTuple):
    """How messages name a column."""

    source: str
    name: str

    def unfit(self, value: Any, kind: Any = None) -> InvalidInputError:
        """Return the error of a value that is no number, or of a type."""
        found = printable(repr(value)) if value is not None else f"values of type {printable(kind)}"
        return InvalidInputError(f"{self.source}: expected numbers in column {printable(self.name)!r}, found {found}")

    def check_exact(self, integers: Iterable[int | str]) -> None:
        """Refuse integers that float64 cannot hold exactly."""
        for integer in integers:
            if not is_exact(integer):
                raise InvalidInputError(
                    f"{self.source}: the column {printable(self.name)!r} holds the integer "
                    f"{printable(str(integer)[:40].strip())}, which a 64-bit float cannot hold exactly; subtract a "
                    "common offset, or write the values as floats"
                )


def numbers(column: Any, source: str, name: str) -> Array:
    """Return the values as a NumPy array of numbers or bools, NaN where missing; the names are for the message."""
    place = _Place(source, name)
    if is_arrow(column):
        found = _arrow_numbers(column, place)
    else:
        if not isinstance(column.dtype, np.dtype):  # of pandas' own types
            column = column.to_numpy(object, na_value=None)
        found = _numpy_numbers(column if isinstance(column, np.ndarray) else np.asarray(column), place)
    return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))


def floats(column: Any, source: str, name: str) -> NDArray[np.float64]:
    """Return the values as float64, if that holds every integer among them."""
    found = numbers(column, source, name)
    if found.dtype.kind in "iu":
        _Place(source, name).check_exact(found[(found > EXACT) | (found < -EXACT)].tolist())
    return found.astype(np.float64)


def kind_of(column: Any) -> str:
    """Return NumPy's letter for the type of a column, of Arrow's types also one of `_KINDS`."""
    if not is_arrow(column):
        return getattr(column.dtype, "kind", "O")
    types = require("pyarrow.types", extra="all")
    for kind, tests in _KINDS.items():
        if any(getattr(types, test, types.is_null)(column.type) for test in tests):  # older releases lack some
            return kind
    return "O"


def is_numeric(column: Any) -> bool:
    """Return True if a column holds numbers or bools, judged by its type where that is enough."""
    kind = kind_of(column)
    if kind in "Oks" and not (is_arrow(column) and len(column) and str(column[0].as_py()) not in NULLS):
        with suppress(InvalidInputError):
            numbers(column, "", "")
            return True
    return kind in "biufdn"


def _numpy_numbers(values: Array, place: _Place) -> Array:
    if isinstance(values, np.ma.MaskedArray):
        values = np.array(values.tolist(), object) if np.ma.is_masked(values) else np.asarray(values.data)
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind == "O":
        return _object_numbers(values, place)
    raise place.unfit(next((v for v in values.flat[:1000] if str(v) not in NULLS), None), values.dtype)


def _object_numbers(values: Array, place: _Place) -> Array:
    """Python numbers as an array: integers as they are, floats and missing values as float64."""
    flat = values.ravel().tolist()
    kinds = {type(v) for v in flat}
    odd = tuple(k for k in kinds if k is np.longdouble or not (issubclass(k, _NUMBERS) or _is_missing_type(k)))
    if odd:
        raise place.unfit(next(v for v in flat if isinstance(v, odd)))
    if all(issubclass(k, (bool, np.bool_)) for k in kinds):
        return np.array(flat, np.bool_).reshape(values.shape)
    whole = [int(v) for v in flat if isinstance(v, (int, np.integer))]
    low, high = min(whole, default=0), max(whole, default=0)
    for kind in (np.int64, np.uint64):
        if len(whole) == len(flat) and low >= np.iinfo(kind).min and high <= np.iinfo(kind).max:
            return np.array(flat, kind).reshape(values.shape)
    place.check_exact(v for v in whole if abs(v) > EXACT)
    return np.array([v if isinstance(v, _NUMBERS) else np.nan for v in flat], np.float64).reshape(values.shape)


def _is_missing_type(kind: type) -> bool:
    """None, and pandas' own marks of missing values."""
    return kind.__name__ in ("NoneType", "NAType", "NaTType")


def is_integer(word: str) -> bool:
    """Return True if the text is an integer of any length."""
    return _INTEGER.fullmatch(word) is not None


def is_exact(integer: int | str) -> bool:
    """Return True if float64 represents the integer exactly."""
    try:
        return int(float(integer)) == int(integer)
    except (OverflowError, ValueError):  # beyond the largest float, or more digits than Python converts
        return False


def _arrow_numbers(column: Any, place: _Place) -> Array:
    if kind_of(column) == "k":
        column = column.cast(column.type.value_type)
    kind = kind_of(column)
    if kind == "f" and column.null_count:
        column = column.cast("float64").fill_null(np.nan).cast(column.type)
    if kind == "f" or (kind in "biu" and not column.null_count):
        return memory_of(column)
    if kind in "biu":
        bounds = require("pyarrow.compute", extra="all").min_max(column).as_py().values()
        if all(v is None or abs(v) <= EXACT for v in bounds):
            return _arrow_numbers(column.cast("float64"), place)
    if kind in "iud":
        return _object_numbers(np.array([_plain(v) for v in column.to_pylist()], object), place)
    if kind not in "ns":
        raise place.unfit(None, column.type)
    words = [] if kind == "n" else column.drop_null().unique().to_pylist()
    words = [text for text in words if text.strip() not in NULLS]
    if not words:
        return np.full(len(column), np.nan)
    other = next((word for word in words if not is_number(word)), None)
    place.check_exact(word for word in words if other is None and is_integer(word))
    raise place.unfit(other or words[0])


def memory_of(column: Any) -> Array:
    """Numbers of Arrow, without nulls, from memory: `to_numpy` imports pandas, which takes longer than most files."""
    if kind_of(column) == "b":
        return memory_of(column.cast("uint8")).view(np.bool_)
    parts = [np.from_dlpack(part) for part in getattr(column, "chunks", [column]) if len(part)]
    if not parts:
        return np.empty(0, column.type.to_pandas_dtype())
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _plain(value: Any) -> Any:
    """Decimals as the integer or float that they are."""
    if value is None or isinstance(value, (int, float)):
        return value
    return int(value) if value == value.to_integral_value() else float(value)


def codes(column: Any) -> tuple[Array, list[Any]]:
    """Return the number of each row's group, in order of first appearance, -1 where missing; and their values."""
    if is_arrow(column):
        return _renumber(*_arrow_codes(column))
    if isinstance(column, np.ndarray):
        return _renumber(*_numpy_codes(column))
    found, uniques = column.factorize()
    return found, list(uniques)


def text_codes(column: Any, name: str = "") -> tuple[Array, list[str]]:
    """Do as `codes` by the text of values: those of NaN are none; with a name, the number 1 beside "1" is refused."""
    found, values = codes(column)
    if name:
        refuse_alike((value for value in values if not is_missing(value)), name)
    seen: dict[str, int] = {}
    new = [-1 if is_missing(value) else seen.setdefault(str(value), len(seen)) for value in values]
    return (found if len(seen) == len(values) else np.array([*new, -1])[found]), list(seen)


def pair_codes(one: Array, other: Array) -> tuple[Array, list[tuple[int, int]]]:
    """Do as `codes` for pairs of numbers of groups."""
    width = int(other.max(initial=0)) + 1
    pairs, found = np.unique(one * width + other, return_inverse=True)
    return _renumber(found, [divmod(pair, width) for pair in pairs.tolist()])


def _arrow_codes(column: Any) -> tuple[Array, list[Any]]:
    pyarrow = require("pyarrow", extra="all")
    column = pyarrow.chunked_array(getattr(column, "chunks", [column]), column.type)
    try:
        column = column.unify_dictionaries() if kind_of(column) == "k" else column.dictionary_encode()
    except (NotImplementedError, ValueError):  # nested values, or dictionaries that hold a null
        return _object_codes(python_values(column))
    if not column.num_chunks:
        return np.empty(0, np.int64), []
    indices = pyarrow.chunked_array([chunk.indices for chunk in column.chunks])
    indices = indices.cast("int64").fill_null(-1) if indices.null_count else indices
    return memory_of(indices).astype(np.int64), python_values(column.chunk(0).dictionary)


def python_values(column: Any) -> list[Any]:
    """Return the values of a column as Python's; Arrow's dates beyond the years that Python knows as integers."""
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
    seen: dict[tuple[type, str], int] = {}
    first: list[Any] = []
    found = np.full(len(values), -1)
    for row, value in enumerate(values):
        if not is_missing(value):
            found[row] = seen.setdefault((type(value), str(value)), len(seen))
            first += [value] * (len(seen) > len(first))
    return found, first


def is_missing(value: Any) -> bool:
    """Return True if the value is None, NaN or another mark of a missing value."""
    return _is_missing_type(type(value)) or (isinstance(value, float) and value != value)


def _renumber(found: Array, names: list[Any]) -> tuple[Array, list[Any]]:
    """Return the same groups, numbered in order of first appearance and without those that do not appear."""
    first = np.full(len(names) + 1, len(found))
    first[found[::-1]] = np.arange(len(found))[::-1]  # the last one written, hence the first to appear, stays
    order = np.argsort(first[:-1], kind="stable")
    order = order[first[order] < len(found)]
    new = np.full(len(names) + 1, -1)
    new[order] = np.arange(len(order))
    return new[found], [names[i] for i in order.tolist()]
