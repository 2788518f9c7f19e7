"""Readers of parquet, Feather, Arrow, npy and npz files, batch by batch and within limits of size; no pickles."""

import io
import struct
import zipfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tsadeval._optional import require
from tsadeval.errors import InvalidInputError
from tsadeval.tables.sources import check_size, size_limit
from tsadeval.tables.table import Request, Table, from_arrow, slices, unique_names

NPY = b"\x93NUMPY"
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
        if not file.startswith(NPY):
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
    if file.startswith(NPY):
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


Bytes = bytes | memoryview

ARROW = b"ARROW1"
# Bytes that one value takes once it is read; text is kept as numbers into a dictionary of the distinct ones.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
_BATCH = 2**18  # rows
_BUFFER = 2**20


def read_parquet(file: Any, request: Request) -> Generator[Table, None, None]:
    """Read the columns of a parquet file that are not nested."""
    parquet, limit, where = require("pyarrow.parquet", extra="all"), request.limit, request.where
    metadata = request.footer or parquet.read_metadata(_source(file))
    leaves = [metadata.schema.column(i) for i in range(metadata.num_columns)]
    leaves = [leaf for leaf in leaves if leaf.path == leaf.name and not leaf.max_repetition_level]
    if not leaves:
        raise InvalidInputError(f"{where}: expected plain columns, found nested ones only")
    # Repeated values take almost no bytes in a file, so that its size says nothing. What the file says about the size
    # of its parts is not asked for: pyarrow ends the process where that is damaged.
    width = sum(_WIDTHS.get(leaf.physical_type) or max(leaf.length, 1) for leaf in leaves)
    check_size(metadata.num_rows * width, limit, where)
    schema, plain = metadata.schema.to_arrow_schema(), {leaf.name for leaf in leaves}
    none = _without_rows(schema, where, [i for i, name in enumerate(schema.names) if name in plain])
    wanted = request.names(none)
    texts = [leaf.name for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    # Of texts nobody knows the size before they are read.
    rows = request.rows or (_BATCH if texts else max(metadata.num_rows, 1))
    with parquet.ParquetFile(
        _source(file),
        metadata=metadata,
        read_dictionary=texts,
        pre_buffer=False,
        # Through a buffer, so that of a row group of any size only some pages are in memory.
        buffer_size=0 if isinstance(file, bytes) else _BUFFER,
    ) as opened:
        size = 0
        for batch in opened.iter_batches(
            rows,
            row_groups=None if request.span is None else list(range(*request.span)),
            columns=[leaf.name for leaf in leaves if leaf.name.strip() in wanted],
            use_threads=request.span is None,  # parts are read beside others, each by a thread of its own
        ):
            size += batch.nbytes
            check_size(size, limit, where)  # long texts, or more rows than the file says
            batch.validate(full=True)  # numbers into a dictionary may point outside of it
            yield from_arrow(batch, where).only(wanted)  # of "a" pyarrow reads "a.b" as well
        if not size:
            yield none.only(wanted)


def parquet_units(file: Any, least: int) -> tuple[int, int, Any]:
    """Count the row groups, how many of them have `least` rows, and give what the file says of them."""
    with require("pyarrow.parquet", extra="all").ParquetFile(file) as opened:
        found = opened.metadata
    return found.num_row_groups, -(-found.num_row_groups * least // max(found.num_rows, 1)), found


def _source(file: Any) -> Any:
    return require("pyarrow", extra="all").BufferReader(file) if isinstance(file, bytes) else file


def _without_rows(schema: Any, where: str, columns: Sequence[int] | None = None) -> Table:
    """Return the table of a file as it is before its first row; Arrow's own empty tables import pandas."""
    table = require("pyarrow", extra="all").Table.from_batches([], schema)
    return from_arrow(table if columns is None else table.select(columns), where)


def read_arrow(file: Any, request: Request) -> Generator[Table, None, None]:
    """Read the columns of a Feather file (version 2), or of an Arrow file or stream."""
    pyarrow, ipc, where = require("pyarrow", extra="all"), require("pyarrow.ipc", extra="all"), request.where
    source = pyarrow.memory_map(file) if isinstance(file, str) else _source(file)
    start = source.read(len(ARROW))
    source.seek(0)
    if start[:4] == b"FEA1":
        raise InvalidInputError(f"{where}: feather of version 1 is not read; save it again, or as parquet")
    in_file = start == ARROW
    if request.limit is not None:
        size = 0
        for metadata, body in _file_messages(file) if in_file else _stream_messages(file, ipc):
            size += _unpacked_size(metadata, body)
            check_size(size, request.limit, where)
    opened = (ipc.open_file if in_file else ipc.open_stream)(source)
    none = _without_rows(opened.schema, where)
    wanted = request.names(none)
    batch = None
    for batch in map(opened.get_batch, range(opened.num_record_batches)) if in_file else opened:
        batch.validate(full=True)  # offsets that point outside their buffer would be followed otherwise
        yield from slices(from_arrow(batch, where).only(wanted), replace(request, choose=None))
    if batch is None:
        yield none.only(wanted)


# Messages are FlatBuffers, of which a table begins with a pointer to the list of its fields; pyarrow does not say where
# the buffers lie.
def _number(data: Bytes, form: str, at: int) -> int:
    return int(struct.unpack_from(f"<{form}", data, at)[0])


def _follow(data: Bytes, at: int) -> int:
    return at + _number(data, "I", at)


def _field(data: Bytes, table: int, i: int) -> int:
    """Where a field of a table lies, 0 where it is left out."""
    fields = table - _number(data, "i", table)
    given = 4 + 2 * i < _number(data, "H", fields) and _number(data, "H", fields + 4 + 2 * i)
    return given and table + given


def _structs(data: Bytes, table: int, i: int, form: str) -> list[tuple[int, ...]]:
    """List the items of a field that is a vector of structs."""
    at = _field(data, table, i)
    if not at:
        return []
    at = _follow(data, at)
    return np.frombuffer(data, form, _number(data, "I", at), at + 4).tolist()  # type: ignore[no-any-return]  # tuples


def _stream_messages(content: bytes, ipc: Any) -> Iterator[tuple[Bytes, Bytes]]:
    for message in ipc.MessageReader.open_stream(content):
        yield message.metadata.to_pybytes(), b"" if message.body is None else memoryview(message.body)


def _file_messages(content: bytes) -> Iterator[tuple[Bytes, Bytes]]:
    """Yield the messages that the end of a file lists: dictionaries (field 2) and batches of rows (field 3)."""
    size = _number(content, "i", len(content) - 10)
    footer = content[-10 - size : -10]
    view = memoryview(content)
    for i in (2, 3):
        for start, length, _, body in _structs(footer, _follow(footer, 0), i, "<i8,<i4,<i4,<i8"):
            if min(start, length, body) < 0:
                raise ValueError("a message has a negative size")
            stop = start + length
            marked = content[start : start + 4] == b"\xff\xff\xff\xff"
            yield view[start + (8 if marked else 4) : stop], view[stop : stop + body]


def _unpacked_size(metadata: Bytes, body: Bytes) -> int:
    """Bytes of a message once unpacked: a compressed buffer begins with its size."""
    message = _follow(metadata, 0)
    at = _field(metadata, message, 1)
    kind = metadata[at] if at else 0
    if kind not in (2, 3):  # neither a dictionary nor a batch of rows
        return len(body)
    batch = _follow(metadata, _field(metadata, message, 2))
    if kind == 2:
        batch = _follow(metadata, _field(metadata, batch, 1))
    if not _field(metadata, batch, 3):  # not compressed
        return len(body)
    starts = (max(start, 0) for start, length in _structs(metadata, batch, 2, "<i8,<i8") if length)
    return sum(max(int.from_bytes(body[start : start + 8], "little", signed=True), 0) for start in starts) + len(body)
