"""Registry of file readers by suffix, and the readers of tsv, parquet, jsonl, npy and npz files.

Nothing here trusts its input: pickles are never opened, sizes are checked before anything is unpacked, and what a
parser raises becomes one line that names the file.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tsadeval._optional import require
from tsadeval.errors import InvalidInputError
from tsadeval.tables.arrow_files import MAGIC, read_arrow
from tsadeval.tables.sources import too_large
from tsadeval.tables.table import Table, from_arrow, from_mapping, unique_names
from tsadeval.tables.text_files import read_csv

Reader = Callable[[bytes, str, int, Sequence[str] | None], Table]

# Bytes that one value takes once it is read; text is kept as numbers into a dictionary of the distinct ones.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
_BATCH = 2**16


def _read_tsv(content: bytes, where: str, limit: int, text: Sequence[str] | None) -> Table:
    return read_csv(content, where, limit, text, delimiter="\t")


def _read_parquet(content: bytes, where: str, limit: int, text: Sequence[str] | None) -> Table:
    """The columns that are not nested."""
    parquet, pyarrow = require("pyarrow.parquet", extra="all"), require("pyarrow", extra="all")
    metadata = parquet.read_metadata(pyarrow.BufferReader(content))
    leaves = [metadata.schema.column(i) for i in range(metadata.num_columns)]
    columns = [leaf for leaf in leaves if leaf.path == leaf.name and not leaf.max_repetition_level]
    if not columns:
        raise InvalidInputError(f"{where}: expected plain columns, found nested ones only")
    # Repeated values take almost no bytes in a file, so that its size says nothing. What the file says about the size
    # of its parts is not asked for: pyarrow ends the process where that is damaged.
    if metadata.num_rows * sum(_WIDTHS.get(leaf.physical_type) or max(leaf.length, 1) for leaf in columns) > limit:
        raise too_large(where, limit)
    words = [leaf.name for leaf in columns if leaf.physical_type == "BYTE_ARRAY"]
    file = parquet.ParquetFile(pyarrow.BufferReader(content), read_dictionary=words, metadata=metadata)
    batches, size = [], 0
    for batch in file.iter_batches(batch_size=_BATCH, columns=[leaf.name for leaf in columns]):
        size += batch.nbytes
        if size > limit:  # long texts, or more rows than the file says
            raise too_large(where, limit)
        batch.validate(full=True)  # numbers into a dictionary may point outside of it
        batches.append(batch)
    return from_arrow(pyarrow.Table.from_batches(batches, None if batches else file.schema_arrow), where)


def _read_jsonl(content: bytes, where: str, limit: int, text: Sequence[str] | None) -> Table:
    """An object a line. Python's parser: Arrow's crashes on deep nesting and rounds large integers."""
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            try:
                row = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_object)
            except RecursionError:
                row = None
            except ValueError as error:
                raise InvalidInputError(f"{where}: line {number} is not readable json ({error})") from error
            if not isinstance(row, dict):
                raise InvalidInputError(f'{where}: line {number} is not an object, as {{"label": 0, "score": 0.5}}')
            rows.append(row)
    names = dict.fromkeys(name for row in rows for name in row)
    return from_mapping({name: [row.get(name) for row in rows] for name in names}, where)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _read_npy(content: bytes, where: str, limit: int, text: Sequence[str] | None) -> Table:
    array = _array(content, where)
    if array.dtype.names:
        names = unique_names(array.dtype.names, where)
        return Table({name: array[field] for name, field in zip(names, array.dtype.names, strict=True)}, where)
    if array.ndim != 2 or array.shape[1] < 2:
        raise InvalidInputError(f"{where}: expected named fields or shape (n, columns), but it has shape {array.shape}")
    columns = {str(i): array[:, i] for i in range(array.shape[1])}
    return Table(columns, where, aliases={"label": "0", "score": "1"})


def _array(content: bytes, where: str) -> Any:
    if content[:6] != b"\x93NUMPY":
        raise ValueError("it does not begin as npy files do")
    try:
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except ValueError as error:
        if "Object arrays" in str(error):
            raise InvalidInputError(
                f"{where}: holds Python objects (a pickle), which are never opened; save plain numbers"
            ) from None
        raise


def read_npz(content: bytes, where: str, limit: int, text: Sequence[str] | None = ()) -> Table:
    """The arrays of a npz file, of whatever shapes."""
    if content[:6] == b"\x93NUMPY":
        raise InvalidInputError(f"{where}: expected a npz file with named arrays, found a single array")
    if content[:2] != b"PK":
        raise ValueError("it does not begin as npy and npz files do")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        if sum(info.file_size for info in members) > limit:
            raise too_large(where, limit)
        if any(info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for info in members):
            raise ValueError("it is compressed in a way that np.savez never does")
        arrays = [(info.filename.removesuffix(".npy"), _array(archive.read(info), where)) for info in members]
    names = unique_names((name for name, _ in arrays), where)
    if not names:
        raise InvalidInputError(f"{where}: holds no arrays")
    return Table(dict(zip(names, (array for _, array in arrays), strict=True)), where)


READERS: dict[str, Reader] = {
    ".csv": read_csv,
    ".tsv": _read_tsv,
    ".parquet": _read_parquet,
    ".feather": read_arrow,
    ".arrow": read_arrow,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".npy": _read_npy,
    ".npz": read_npz,
}
TEXTS = (".csv", ".tsv", ".jsonl", ".ndjson")


def sniffed(content: bytes) -> str:
    """The format of content that has no file name, as a suffix."""
    starts = {b"PAR1": ".parquet", MAGIC: ".arrow", b"\xff\xff\xff\xff": ".arrow", b"\x93NUMPY": ".npy"}
    for start, suffix in (starts | {b"PK": ".npz"}).items():
        if content.startswith(start):
            return suffix
    if content.lstrip()[:1] == b"{":
        return ".jsonl"
    heading = content.lstrip().split(b"\n", 1)[0]
    return ".tsv" if b"\t" in heading and b"," not in heading else ".csv"
