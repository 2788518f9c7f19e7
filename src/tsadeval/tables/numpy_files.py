"""Readers of npy and npz files; pickles are never opened, and sizes are checked before anything is unpacked."""

import io
import zipfile
from collections.abc import Generator
from typing import Any

import numpy as np

from tsadeval.errors import InvalidInputError
from tsadeval.tables.sources import check_size, size_limit
from tsadeval.tables.table import Request, Table, slices, unique_names

MAGIC = b"\x93NUMPY"
_PART = 2**20  # rows


def read_npy(file: Any, request: Request) -> Generator[Table, None, None]:
    """Read the fields of an array of records, or the columns of one with two dimensions; a local file is mapped."""
    array, where = read_array(file, request.where), request.where
    if array.dtype.names:
        names = unique_names(array.dtype.names, where)
        table = Table({name: array[field] for name, field in zip(names, array.dtype.names, strict=True)}, where)
    elif array.ndim != 2 or array.shape[1] < 2:
        raise InvalidInputError(f"{where}: expected named fields or shape (n, columns), but it has shape {array.shape}")
    else:
        columns = {str(i): array[:, i] for i in range(array.shape[1])}
        table = Table(columns, where, aliases={"label": "0", "score": "1"})
    yield from slices(table, request)


def npy_units(file: Any, least: int) -> tuple[int, int, Any]:
    """Count the rows, and say how many of them make a part."""
    return (read_array(file, str(file)).shape or (1,))[0], _PART, None


def read_array(file: Any, where: str) -> Any:
    """Read the array of a npy file, given as its content or as a local path."""
    if not isinstance(file, (bytes, str)):
        raise InvalidInputError(f"{where}: npy files are mapped into memory, so they must be local")
    try:
        if isinstance(file, str):
            return np.load(file, mmap_mode="r", allow_pickle=False)
        if not file.startswith(MAGIC):
            raise ValueError("it does not begin as npy files do")
        return np.lib.format.read_array(io.BytesIO(file), allow_pickle=False)
    except ValueError as error:
        if "objects in dtype" in str(error) or "Object arrays" in str(error):
            raise InvalidInputError(
                f"{where}: holds Python objects (a pickle), which are never opened; save plain numbers"
            ) from None
        raise


def read_npz(file: bytes, request: Request) -> Generator[Table, None, None]:
    """Read the arrays of a npz file, of whatever shapes."""
    where, limit = request.where, size_limit() if request.limit is None else request.limit
    if file.startswith(MAGIC):
        raise InvalidInputError(f"{where}: expected a npz file with named arrays, found a single array")
    if file[:2] != b"PK":
        raise ValueError("it does not begin as npy and npz files do")
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        check_size(sum(info.file_size for info in members), limit, where)
        if any(info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for info in members):
            raise ValueError("it is compressed in a way that np.savez never does")
        arrays = [(info.filename.removesuffix(".npy"), read_array(archive.read(info), where)) for info in members]
    names = unique_names((name for name, _ in arrays), where)
    if not names:
        raise InvalidInputError(f"{where}: holds no arrays")
    yield Table(dict(zip(names, (array for _, array in arrays), strict=True)), where)
