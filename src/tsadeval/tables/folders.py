"""The tables in a folder, without those in which tsadeval itself keeps results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from tsadeval.core.printable import printable
from tsadeval.tables.reading import is_table_file
from tsadeval.tables.sources import user_path

__all__ = ["outside_stores", "skipped_stores", "table_files"]

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
