"""Files in a folder: the tables that are not part of a store, and atomic and sealed writes."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from tsadeval.core.names import printable
from tsadeval.tables.reading import is_table_file
from tsadeval.tables.sources import user_path

_Path = TypeVar("_Path", str, Path)


def table_files(folder: str | os.PathLike[str], stores: set[str] | None = None) -> list[Path]:
    """The tables in a folder and below it, in the order of their paths; hidden ones are left out.

    So are those in stores, the folders in which tsadeval keeps results; these are added to `stores`.
    """
    root = user_path(folder)
    found = (path for path in root.rglob("*") if is_table_file(path) and path.is_file())
    shown = (path for path in found if not any(part.startswith(".") for part in path.relative_to(root).parts))
    return sorted(outside_stores(shown, root, set() if stores is None else stores))


def outside_stores(files: Iterable[_Path], root: str | Path, stores: set[str]) -> Iterator[_Path]:
    """Files below a folder that are in no store; the stores that others are in are added to `stores`."""
    top = str(root)
    known: dict[str, str | None] = {}

    def above(folder: str) -> str | None:
        """The store that a folder is, or is in."""
        if folder not in known:
            parent = os.path.dirname(folder)
            known[folder] = folder if _is_store(folder) else None if folder in (top, parent) else above(parent)
        return known[folder]

    for file in files:
        store = above(os.path.dirname(file))
        if store is None:
            yield file
        else:
            stores.add(store)


def _is_store(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "parts")) and any(Path(folder, "plans").glob("*.json"))


def skipped_stores(stores: Iterable[str]) -> str:
    """One line that says which stores were left out; empty where there are none."""
    names = [printable(store or ".") for store in sorted(stores)]
    shown = ", ".join(names[:5]) + (f", ... ({len(names)} in all)" if len(names) > 5 else "")
    return f"left out, because tsadeval keeps results there: {shown}" if names else ""


# Files that are whole or not there, whatever happens to whoever writes them.


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
