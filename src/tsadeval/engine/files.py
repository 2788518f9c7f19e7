"""Files that are whole or not there, whatever happens to whoever writes them."""

from __future__ import annotations

import hashlib
import os
import uuid
from contextlib import suppress
from pathlib import Path

__all__ = ["flush_folder", "read_sealed", "write_sealed", "write_whole"]


def write_whole(path: Path, content: bytes | memoryview, *, durable: bool = True) -> None:
    """Write a file that is whole or not there, whatever happens to the writer, and, if durable, to the machine."""
    aside = path.with_name(f"{path.stem}.{uuid.uuid4().hex[:8]}.aside")  # of this writer alone
    try:
        with aside.open("wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file that is only there to save time: behind its checksum, and not durable."""
    write_whole(path, hashlib.sha256(content).digest() + content, durable=False)


def read_sealed(path: Path) -> bytes | None:
    """What `write_sealed` wrote; None where it is not there, or damaged."""
    try:
        found = path.read_bytes()
    except OSError:
        return None
    return found[32:] if hashlib.sha256(found[32:]).digest() == found[:32] else None


def flush_folder(folder: Path) -> None:
    """Make renames in a folder durable; only POSIX systems can, and only there is it needed."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
