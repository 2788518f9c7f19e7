"""Whatever a caller gives, as an array. No compiled code, so that data can be read where the kernels are not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.errors import InvalidInputError


def read_array(values: Any, name: str, wanted: str) -> NDArray[Any]:
    """An array of what was given, without copying where possible; `wanted` ends the message where there is none."""
    if type(values) is np.ndarray:
        return values
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidInputError(
            f"{name} has {int(np.ma.getmaskarray(values).sum())} masked values: drop or fill those points first"
        )
    given = values.detach() if hasattr(values, "detach") else values  # a torch tensor, maybe still attached to a graph
    try:
        array = np.asarray(given)
        words = array.dtype == object and array.ndim == 1 and any(isinstance(one, str) for one in array.flat)
        if array.dtype == object and hasattr(given, "to_numpy") and not words:  # pandas' nullable types
            array = given.to_numpy(dtype=np.float64, na_value=np.nan)
    except Exception as error:
        first_line = str(error).partition("\n")[0]
        raise InvalidInputError(
            f"{name} cannot be read as an array ({type(given).__name__}: {first_line}); pass {wanted}"
        ) from error
    return np.asarray(array)
