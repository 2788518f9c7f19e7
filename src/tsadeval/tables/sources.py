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
from pathlib import Path
from typing import Any

from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError, InvalidParameterError

VARIABLE = "TSADEVAL_MAX_BYTES"
MAX_BYTES = 4 * 2**30
STDIN = "-"
_CHUNK = 2**20
_FIRST = 2**10  # bytes fed to a new gzip member at first, so that millions of tiny members cost little
_PADDING = re.compile(rb"\0*")  # writers may pad a member with zeros
_KINDS = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a named pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


def size_limit(given: float | None = None) -> int:
    """The limit of unpacked bytes: the one given, else that of TSADEVAL_MAX_BYTES, else 4 GiB."""
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


def too_large(where: str, limit: int) -> InvalidInputError:
    """The error of content beyond the limit."""
    return InvalidInputError(
        f"{where}: larger than {limit} bytes when unpacked; if it may be, raise the limit with max_bytes= or {VARIABLE}"
    )


def user_path(path: str | os.PathLike[str]) -> Path:
    """A path with `~` replaced by the home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InvalidInputError(f"{printable(path)}: there is no such home folder") from None


def read_source(path: Path, limit: int) -> bytes:
    """What a regular file holds, or standard input where the path is "-"; gzipped content is unpacked."""
    where = printable(path)
    content = _stdin(limit) if str(path) == STDIN else _file(path, where, limit)
    if content[:2] == b"\x1f\x8b":
        content = gunzip(content, where, limit)
    elif path.name.lower().endswith(".gz") and content:
        raise InvalidInputError(f"{where}: damaged or truncated (it does not begin as gz files do)")
    if not content:
        raise InvalidInputError(f"{where}: the file is empty")
    return content


def refuse_special(path: str | os.PathLike[str], where: str) -> os.stat_result:
    """Refuse what is no regular file: a pipe may never end, and waits for somebody to write."""
    found = os.stat(path)
    kind = next((name for test, name in _KINDS.items() if test(found.st_mode)), None)
    if kind is not None:
        hint = "" if kind == "a folder" else '; pass its content through standard input, as "-"'
        raise InvalidInputError(f"{where}: is {kind}, expected a file{hint}")
    return found


def _file(path: Path, where: str, limit: int) -> bytes:
    try:
        found = refuse_special(path, where)
        if found.st_size > limit:
            raise too_large(where, limit)
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise InvalidInputError(f"{where}: no such file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInputError(f"{where}: cannot be read ({printable(reason)})") from error


def _stdin(limit: int) -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise InvalidInputError("-: standard input is not a file or a pipe; write `... | tsadeval score -`")
    parts: list[bytes] = []
    size = 0
    while part := sys.stdin.buffer.read(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise too_large("-", limit)
    return b"".join(parts)


def gunzip(content: bytes, where: str, limit: int) -> bytes:
    """The content of all members of a gzip file."""
    parts: list[bytes] = []
    size = at = 0
    stream, pending, step = zlib.decompressobj(wbits=31), b"", _FIRST
    try:
        while True:
            if not pending:
                pending = content[at : at + step]
                at += len(pending)
                step = min(2 * step, _CHUNK)
            nothing_left = not pending
            part = stream.decompress(pending, _CHUNK)
            parts.append(part)
            size += len(part)
            if size > limit:
                raise too_large(where, limit)
            pending = stream.unconsumed_tail
            if stream.eof:
                found = _PADDING.match(content, at - len(stream.unused_data))
                at = found.end() if found else at
                if at == len(content):
                    return b"".join(parts)
                stream, pending, step = zlib.decompressobj(wbits=31), b"", _FIRST
            elif nothing_left and not part:
                raise EOFError("it breaks off")
    except (zlib.error, EOFError) as error:
        raise InvalidInputError(f"{where}: damaged or truncated ({error})") from error
