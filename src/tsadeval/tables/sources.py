"""Bytes of a file or of standard input, unpacked if gzipped, within a limit of size.

Files come from strangers, so a few kilobytes that unpack to terabytes must stop early, and what is no regular file
(a pipe that never ends, a device) is not opened.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from tsadeval._optional import require
from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError, InvalidParameterError, MissingExtraError

VARIABLE = "TSADEVAL_MAX_BYTES"
MAX_BYTES = 4 * 2**30
STDIN = "-"
_CHUNK = 2**20
_FIRST = 2**10  # bytes fed to a new gzip member at first, so that millions of tiny members cost little
_PADDING = re.compile(rb"\0*")
_KINDS = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a named pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


def size_limit(given: float | None = None) -> int:
    """Return the limit of unpacked bytes: the one given, else that of TSADEVAL_MAX_BYTES, else 4 GiB."""
    value: Any = given
    name = "max_bytes"
    if given is None:
        value, name = os.environ.get(VARIABLE) or MAX_BYTES, VARIABLE
    try:
        limit = int(float(value))
    except (TypeError, ValueError, OverflowError):
        limit = 0
    if limit < 1:
        raise InvalidParameterError(f"{name} must be a number of bytes of at least 1, but is {printable(repr(value))}")
    return limit


def check_size(size: int, limit: int | None, where: str) -> None:
    """Refuse content beyond the limit; None: no limit."""
    if limit is not None and size > limit:
        raise InvalidInputError(
            f"{where}: larger than {limit} bytes when unpacked; if it may be, raise the limit with max_bytes= or "
            f"{VARIABLE}"
        )


def user_path(path: str | os.PathLike[str]) -> Path:
    """Return a path with `~` replaced by the home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InvalidInputError(f"{printable(path)}: there is no such home folder") from None


def read_source(path: str | Path, limit: int) -> bytes:
    """Read a regular file, an address (a str), or standard input where the path is "-"; gzipped content is unpacked."""
    where = printable(path)
    try:
        with _open(path, where) as file:
            content = read_within(file, limit, where)
    except (InvalidInputError, MissingExtraError):
        raise
    except Exception as error:  # whatever a remote file system raises
        if isinstance(error, FileNotFoundError) and isinstance(path, Path):
            raise InvalidInputError(f"{where}: no such file") from None
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0] or type(error).__name__
        raise InvalidInputError(f"{where}: cannot be read ({printable(reason)})") from error
    content = unpack(content, limit, where)
    if not content:
        raise InvalidInputError(f"{where}: the file is empty")
    return content


def _open(path: str | Path, where: str) -> Any:
    if isinstance(path, str):
        return require("fsspec", extra="remote").open(path, "rb")
    if str(path) != STDIN:
        refuse_special(path, where)
        return open(path, "rb")
    if sys.stdin is None or sys.stdin.isatty():
        raise InvalidInputError("-: standard input is not a file or a pipe; write `... | tsadeval score -`")
    return nullcontext(sys.stdin.buffer)


def refuse_special(path: str | os.PathLike[str], where: str) -> None:
    """Refuse what is no regular file: a pipe may never end, and waits for somebody to write."""
    mode = os.stat(path).st_mode
    kind = next((name for test, name in _KINDS.items() if test(mode)), None)
    if kind is not None:
        hint = "" if kind == "a folder" else '; pass its content through standard input, as "-"'
        raise InvalidInputError(f"{where}: is {kind}, expected a file{hint}")


def read_within(file: Any, limit: int, where: str) -> bytes:
    """Read an open file up to the limit of size; of a local file that is known before."""
    size = 0
    with suppress(AttributeError, OSError):
        size = os.fstat(file.fileno()).st_size
    check_size(size, limit, where)
    parts: list[bytes] = []
    chunk, size = -1 if size else _CHUNK, 0
    while part := file.read(chunk):
        parts.append(part)
        size += len(part)
        check_size(size, limit, where)
    return b"".join(parts)


def unpack(content: bytes, limit: int, where: str) -> bytes:
    """Unpack content that is gzipped; other content is returned unchanged."""
    if content[:2] != b"\x1f\x8b":
        if where.lower().endswith(".gz") and content:
            raise InvalidInputError(f"{where}: damaged or truncated (it does not begin as gz files do)")
        return content
    parts: list[bytes] = []
    size = 0
    try:
        for part in _members(content):
            parts.append(part)
            size += len(part)
            check_size(size, limit, where)
    except (zlib.error, EOFError) as error:
        raise InvalidInputError(f"{where}: damaged or truncated ({error})") from error
    return b"".join(parts)


def _members(content: bytes) -> Iterator[bytes]:
    """Unpack all members of a gzip file, which may be padded with zeros; faster than the standard library's module."""
    at = 0
    while at < len(content):
        stream, pending, step = zlib.decompressobj(wbits=31), b"", _FIRST
        while not stream.eof:
            if not pending:
                pending = content[at : at + step]
                at += len(pending)
                step = min(2 * step, _CHUNK)
            nothing_left = not pending
            part = stream.decompress(pending, _CHUNK)
            yield part
            pending = stream.unconsumed_tail
            if nothing_left and not part and not stream.eof:
                raise EOFError("it breaks off")
        found = _PADDING.match(content, at - len(stream.unused_data))
        at = found.end() if found else at
