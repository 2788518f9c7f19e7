"""Whatever a caller gives, as an array. No compiled code, so that data can be read where the kernels are not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.errors import InvalidInputError

EXACT = 2**53  # integers up to this have a float64 of their own


def read_array(values: Any, name: str, wanted: str) -> NDArray[Any]:
    """An array of what was given, without copying where possible; `wanted` ends the message where there is none."""
    if type(values) is np.ndarray:
        return values
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidInputError(
            f"{name} has {int(np.ma.getmaskarray(values).sum())} masked values: drop or fill those points first"
        )
    large = False
    given = values.detach() if hasattr(values, "detach") else values  # a torch tensor, maybe still attached to a graph
    try:
        array = np.asarray(given)
        words = array.dtype == object and array.ndim == 1 and any(isinstance(one, str) for one in array.flat)
        if array.dtype == object and hasattr(given, "to_numpy") and not words:  # pandas' nullable types
            large = _has_large(array)
            array = given.to_numpy(dtype=np.float64, na_value=np.nan)
    except Exception as error:
        first_line = str(error).partition("\n")[0]
        raise InvalidInputError(
            f"{name} cannot be read as an array ({type(given).__name__}: {first_line}); pass {wanted}"
        ) from error
    array = np.asarray(array)
    kind = str(getattr(given, "dtype", getattr(given, "type", ""))).lower()
    if array.dtype.kind == "f" and "int" in kind:  # of Arrow and polars, where values are missing
        large = bool((np.abs(array) >= EXACT).any())
    if large:
        raise rounded(name, "integers beyond 2^53 beside missing values")
    return array


def numbers_with_gaps(values: Any, name: str, wanted: str) -> NDArray[Any]:
    """The same, with NaN for None where all others are numbers."""
    array = read_array(values, name, wanted)
    numeric = (one is None or isinstance(one, (int, float, np.number)) for one in array.flat)
    if array.dtype.kind != "O" or not all(numeric):
        return array
    if _has_large(array):
        raise rounded(name, "Python integers beyond 2^53")
    return array.astype(np.float64)


def _has_large(objects: NDArray[Any]) -> bool:
    return any(isinstance(one, (int, np.integer)) and abs(int(one)) > EXACT for one in objects.flat)


def rounded(name: str, what: str) -> InvalidInputError:
    """What to say of numbers that would be rounded on the way to 64-bit floats."""
    return InvalidInputError(
        f"{name} has {what}, which 64-bit floats would round: subtract a common offset, or pass ranks"
    )
