"""Conversion of callers' values to arrays, and checks of labels and scores. Needs no compiled code."""

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.names import is_number
from tsadeval.errors import InvalidInputError, hint

EXACT = 2**53  # integers up to this have a float64 of their own


def read_array(values: Any, name: str, wanted: str) -> NDArray[Any]:
    """Return what was given as an array, without a copy where possible; `wanted` ends the message where it is none."""
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
        if array.dtype == object and hasattr(given, "to_numpy") and not words:
            large = _has_large(array)
            nullable = hasattr(given, "isna")  # pandas has marks of its own for what is missing, others None
            array = given.to_numpy(dtype=np.float64, na_value=np.nan) if nullable else array.astype(np.float64)
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
        raise rounded(name, "values beyond 2^53 that are no plain integers")
    return array


def numbers_with_gaps(values: Any, name: str, wanted: str) -> NDArray[Any]:
    """Do as `read_array`, with NaN for None where all others are numbers."""
    array = read_array(values, name, wanted)
    numeric = (one is None or isinstance(one, (int, float, np.number)) for one in array.flat)
    if array.dtype.kind != "O" or not all(numeric):
        return array
    if _has_large(array):
        raise rounded(name, "Python integers beyond 2^53")
    return array.astype(np.float64)


def _has_large(objects: NDArray[Any]) -> bool:
    return any(isinstance(one, (int, np.integer, Decimal)) and abs(int(one)) > EXACT for one in objects.flat)


def rounded(name: str, what: str) -> InvalidInputError:
    """Make the error of numbers that would be rounded on the way to 64-bit floats."""
    return InvalidInputError(
        f"{name} has {what}, which 64-bit floats would round: subtract a common offset, or pass ranks"
    )


# Kernels count levels and places in 32 bits, and square lengths in 64. CCE needs the scan only, which has no limit.
LARGEST = 2**31 - 1

# What the scan reads as it is; any other number type is converted to one of these first.
_LABEL_TYPES = {np.dtype(t) for t in (np.uint8, np.int32, np.int64, np.float64)}
_SCORE_TYPES = {np.dtype(t) for t in (np.float32, np.float64)}


def _as_array(given: Any, name: str, *, labels: bool = False) -> NDArray[Any]:
    """Return a one-dimensional, contiguous numeric array of what the caller gave, without copying where possible."""
    values = read_array(given, name, "a one-dimensional sequence of numbers in CPU memory")
    if values.ndim != 1:
        hint = ""
        if values.ndim == 0:
            hint = f" (a single {type(values.item()).__name__})"
        elif max(values.shape, default=0) == values.size:
            hint = f"; {name}.ravel() would make it one"
        raise InvalidInputError(
            f"{name} must be one-dimensional, one value per time point, but has shape {values.shape}{hint}"
        )
    if values.size == 0:
        raise InvalidInputError(f"{name} is empty: there is nothing to judge")
    if values.dtype.kind not in "biuf":
        found = next((v for v in values.tolist() if not isinstance(v, (int, float))), values[0])
        hint = f"convert it, e.g. with np.asarray({name}, dtype=float)"
        if labels and (word := anomalous_word(values.tolist())) is not None:
            column = name if hasattr(given, "dtype") else f"np.asarray({name})"
            hint = f"say which value is anomalous, e.g. ({column} == {word!r}).astype(int)"
        raise InvalidInputError(f"{name} must hold numbers, but has dtype {values.dtype} (found {found!r}); {hint}")
    return np.ascontiguousarray(values)


def anomalous_word(values: Iterable[Any]) -> str | None:
    """Of labels that are words the rarest one, which probably means anomalous; None where they are numbers as text.

    >>> anomalous_word(["n", "n", "a", "n"]), anomalous_word(["0", "1"])
    ('a', None)
    """
    counts = Counter(value for value in values if isinstance(value, str))
    return None if all(map(is_number, counts)) else min(counts, key=counts.__getitem__)


def as_labels(values: Any, name: str) -> NDArray[Any]:
    """Labels in a type that the scan reads; their values are not looked at yet."""
    array = _as_array(values, name, labels=True)
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype in _LABEL_TYPES:
        return array
    # 64 bits hold every smaller type; an unsigned value past the range of int64 turns negative, hence bad.
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


def as_scores(values: Any, name: str) -> NDArray[Any]:
    """Scores as 32 or 64-bit floats; refused where that would make different values equal."""
    array = _as_array(values, name)
    if array.dtype in _SCORE_TYPES:
        return array
    if _may_round(array):
        _refuse_ties(array, name)
    return array.astype(np.float64)


def _may_round(array: NDArray[Any]) -> bool:
    """Return True if 64-bit floats may not hold some of the values."""
    if array.dtype.kind == "f":
        return array.dtype.itemsize > 8
    large = array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size > 0
    return large and max(int(array.max()), -int(array.min())) > EXACT


def _refuse_ties(array: NDArray[Any], name: str) -> None:
    """Refuse integers beyond 2**53 and long doubles that differ but would be one 64-bit float."""
    distinct = np.unique(array)
    with np.errstate(over="ignore"):
        floats = distinct.astype(np.float64)
    tied = np.flatnonzero(floats[1:] == floats[:-1])
    if len(tied):
        one, other = distinct[tied[0] : tied[0] + 2]
        raise InvalidInputError(
            f"{name} has values that differ as {array.dtype} but not as 64-bit floats, such as {one} and {other}: "
            "subtract a common offset, or pass ranks"
        )


def refuse_rounded(values: Any, name: str) -> None:
    """Refuse integers and long doubles that have no 64-bit float, where scores meet those of other arrays.

    Within one array `as_scores` sees whether two become equal; of batches and pools nobody sees all values.
    """
    array = np.asarray(values)
    if not _may_round(array):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        floats = array.astype(np.float64)
        rounded = floats.astype(array.dtype) != array
        if array.dtype.kind in "iu":  # what was rounded beyond the type has nothing to come back to
            rounded |= floats >= 2.0 ** (63 if array.dtype.kind == "i" else 64)
    if rounded.any():
        raise InvalidInputError(
            f"{name} has {array.dtype} values that 64-bit floats cannot hold, such as {array[np.argmax(rounded)]}, and "
            "is compared with other scores: subtract a common offset, or pass ranks"
        )


# What to do where these are numbers with a fraction.
_NO_LABELS = {
    "y_true": "if these are scores, they come second: (y_true, y_score)",
    "y_pred": "scores need a threshold: pass y_score > threshold, or all scores to te.evaluate(y_true, y_score)",
}


def bad_label(array: NDArray[Any], at: int, name: str) -> InvalidInputError:
    """Make the error of a label at a position that is neither 0 nor 1."""
    wrong = np.unique(array[(array != 0) & (array != 1)])
    shown = ", ".join(f"{v:.6g}" for v in wrong[:4].tolist()) + (", ..." if len(wrong) > 4 else "")
    if np.isnan(wrong).all():
        return InvalidInputError(
            f"{name} is NaN at position {at} ({int(np.isnan(array).sum())} such values in all): drop these points from "
            f"both arrays, or label them 0 and leave them out with {hint('ignore= of te.evaluate', '--ignore')}"
        )
    if wrong.tolist() == [-1]:
        return InvalidInputError(
            f"{name} must be 0 (normal) or 1 (anomalous) everywhere, but is -1 at position {at}; where -1 marks "
            f"anomalies, as in scikit-learn's predict, pass ({name} == -1); where it marks normal points, ({name} == 1)"
        )
    if name in _NO_LABELS and (wrong != np.round(wrong)).any():
        return InvalidInputError(
            f"{name} must be 0 (normal) or 1 (anomalous) everywhere, but is {array[at].item()!r} at position {at}; "
            f"{_NO_LABELS[name]}"
        )
    what = "scores or labels of several classes" if len(wrong) > 1 else f"{shown} for one class"
    return InvalidInputError(
        f"{name} must be 0 (normal) or 1 (anomalous) everywhere, but is {array[at].item()!r} at position {at} "
        f"(values other than 0 and 1: {shown}); if these are {what}, turn them into 0/1 first"
    )


def refuse_not_finite(array: NDArray[Any], name: str) -> None:
    """Refuse scores that are NaN or infinite."""
    finite = np.isfinite(array)
    if finite.all():
        return
    at = int(np.argmin(finite))
    what = "NaN" if np.isnan(array[at]) else "infinite"
    skip = hint('missing="skip" of te.evaluate', "--missing skip, not with --stream,")
    also = f"; {skip} leaves them out" * (what == "NaN")
    raise InvalidInputError(
        f"{name} must be finite, but is {what} at position {at} ({int((~finite).sum())} such values in all); drop "
        f"those points from both arrays or give them a number on purpose{also}"
    )


def checked_scores(values: Any, name: str) -> NDArray[np.float64]:
    """Finite scores that belong to no labels, as float64."""
    scores = as_scores(values, name)
    refuse_not_finite(scores, name)
    return np.asarray(scores, np.float64)


def same_length(y: NDArray[Any], other: NDArray[Any], name: str) -> None:
    """Refuse arrays of different lengths."""
    if len(y) != len(other):
        raise InvalidInputError(
            f"y_true has {len(y)} points but {name} has {len(other)}; they must belong to the same time points"
            + f"; te.align{hint('(scores, n, window=...)', ' of the Python library')} puts scores of windows on points"
            * (name == "y_score" and 0 < len(other) < len(y))
        )


def refuse_longer(n: int) -> None:
    """Refuse series that are too long for the kernels."""
    if n > LARGEST:
        raise InvalidInputError(
            f"the series has {n:,} points, but this metric takes at most {LARGEST:,}: split it (cce has no such limit)"
        )


def index_of(values: Any) -> Any:
    """Return the pandas index that values have; None where they have none."""
    index = None if type(values) is np.ndarray else getattr(values, "index", None)
    return index if hasattr(index, "equals") else None


def same_index(**given: Any) -> None:
    """Refuse a pandas index that differs: the points would be paired by position, whatever their labels say."""
    indexes = {name: index for name, values in given.items() if (index := index_of(values)) is not None}
    first = next(iter(indexes), "")
    for name, index in indexes.items():
        if len(index) == len(indexes[first]) and not index.equals(indexes[first]):
            raise InvalidInputError(
                f"{first} and {name} have different indexes, so their points do not belong together: align them first "
                f"({name} = {name}.reindex({first}.index)), or pass .to_numpy() of both to pair them by position"
            )
