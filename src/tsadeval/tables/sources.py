"""Bytes of a file or of standard input, unpacked if gzipped, within a limit of size.

Files come from strangers, so a few kilobytes that unpack to terabytes must stop early, and what is no regular file
(a pipe that never ends, a device) is not opened.
"""

import gzip
import io
import os
import stat
import sys
import zlib
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from tsadeval._optional import require
from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError, InvalidParameterError, MissingExtraError

LIMIT = "TSADEVAL_MAX_BYTES"
MAX_BYTES = 4 * 2**30
STDIN = "-"
_CHUNK = 2**20
_KINDS = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a named pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


def size_limit(given: float | None = None) -> int:
    """Return the limit of unpacked bytes: the one given, else that of TSADEVAL_MAX_BYTES, else 4 GiB."""
    name, value = ("max_bytes", given) if given is not None else (LIMIT, os.environ.get(LIMIT) or MAX_BYTES)
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
            f"{where}: larger than {limit} bytes when unpacked; if it may be, raise the limit with {LIMIT} "
            "(or max_bytes= of read_table)"
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
    return unpack(content, limit, where)


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
    """Unpack content that is gzipped; other content is returned unchanged. Nothing at all is an error."""
    packed = content[:2] == b"\x1f\x8b"
    if content and not packed and where.lower().endswith(".gz"):
        raise InvalidInputError(f"{where}: damaged or truncated (it does not begin as gz files do)")
    try:
        if packed:
            content = read_within(gzip.GzipFile(fileobj=io.BytesIO(content)), limit, where)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInputError(f"{where}: damaged or truncated ({error})") from error
    if not content:
        raise InvalidInputError(f"{where}: the file is empty")
    return content
