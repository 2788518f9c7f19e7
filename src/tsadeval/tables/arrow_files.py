"""Reader of Feather and Arrow files and streams, within a limit of unpacked size."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tsadeval._optional import require
from tsadeval.errors import InvalidInputError
from tsadeval.tables.sources import too_large
from tsadeval.tables.table import Table, from_arrow

Bytes = bytes | memoryview

MAGIC = b"ARROW1"


def read_arrow(content: bytes, where: str, limit: int, text: Sequence[str] | None) -> Table:
    """The table of a Feather file (version 2), or of an Arrow file or stream."""
    ipc = require("pyarrow.ipc", extra="all")
    if content[:4] == b"FEA1":
        raise InvalidInputError(f"{where}: feather of version 1 is not read; save it again, or as parquet")
    in_file = content.startswith(MAGIC)
    size = 0
    for metadata, body in _file_messages(content) if in_file else _stream_messages(content, ipc):
        size += _unpacked_size(metadata, body)
        if size > limit:
            raise too_large(where, limit)
    table = (ipc.open_file if in_file else ipc.open_stream)(content).read_all()
    table.validate(full=True)  # offsets that point outside their buffer would be followed otherwise
    return from_arrow(table, where)


class _Record(NamedTuple):
    """A table inside a FlatBuffer, the format of Arrow's messages; pyarrow does not say where the buffers lie."""

    data: Bytes
    at: int

    @classmethod
    def root(cls, data: Bytes) -> _Record:
        return cls(data, _number(data, "I", 0))

    def field(self, i: int) -> int:
        """Where a field lies, 0 where it is left out."""
        fields = self.at - _number(self.data, "i", self.at)
        if 4 + 2 * i >= _number(self.data, "H", fields):
            return 0
        offset = _number(self.data, "H", fields + 4 + 2 * i)
        return self.at + offset if offset else 0

    def record(self, i: int) -> _Record:
        at = self.field(i)
        return _Record(self.data, at + _number(self.data, "I", at))

    def structs(self, i: int, form: str) -> Iterator[tuple[int, ...]]:
        """The items of a field that is a vector of structs."""
        at = self.field(i)
        if at:
            at += _number(self.data, "I", at)
            width = struct.calcsize(f"<{form}")
            for j in range(_number(self.data, "I", at)):
                yield struct.unpack_from(f"<{form}", self.data, at + 4 + width * j)


def _number(data: Bytes, form: str, at: int) -> int:
    return int(struct.unpack_from(f"<{form}", data, at)[0])


def _stream_messages(content: bytes, ipc: Any) -> Iterator[tuple[Bytes, Bytes]]:
    for message in ipc.MessageReader.open_stream(content):
        yield message.metadata.to_pybytes(), b"" if message.body is None else memoryview(message.body)


def _file_messages(content: bytes) -> Iterator[tuple[Bytes, Bytes]]:
    """The messages that the end of a file lists: dictionaries (field 2) and batches of rows (field 3)."""
    size = _number(content, "i", len(content) - 10)
    footer = _Record.root(content[-10 - size : -10])
    view = memoryview(content)
    for i in (2, 3):
        for start, length, _, body in footer.structs(i, "qiiq"):
            if min(start, length, body) < 0:
                raise ValueError("a message has a negative size")
            stop = start + length
            marked = content[start : start + 4] == b"\xff\xff\xff\xff"
            yield view[start + (8 if marked else 4) : stop], view[stop : stop + body]


def _unpacked_size(metadata: Bytes, body: Bytes) -> int:
    """Bytes of a message once unpacked: a compressed buffer begins with its size."""
    message = _Record.root(metadata)
    kind = _number(metadata, "B", message.field(1)) if message.field(1) else 0
    if kind not in (2, 3):  # neither a dictionary nor a batch of rows
        return len(body)
    batch = message.record(2)
    if kind == 2:
        batch = batch.record(1)
    if not batch.field(3):  # not compressed
        return len(body)
    starts = (max(start, 0) for start, length in batch.structs(2, "qq") if length)
    return sum(max(int.from_bytes(body[start : start + 8], "little", signed=True), 0) for start in starts) + len(body)
