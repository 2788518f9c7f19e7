"""Registry: a read-only mapping of names to records that helps when a name is not known."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from threading import RLock
from types import ModuleType
from typing import Generic, TypeVar

from tsadeval.errors import UnknownNameError

T = TypeVar("T")


def did_you_mean(name: str, known: list[str]) -> str:
    """The end of an error message: the nearest known names, or all of them where none is near."""
    near = get_close_matches(name, known, n=3, cutoff=0.6 if len(name) > 2 else 0.5)  # one letter of two
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"valid names: {', '.join(known)}"


class Registry(Mapping[str, T], Generic[T]):
    """Records by name, filled by `add`. The modules of `package` register theirs when the registry is first read.

    >>> numbers = Registry("number")
    >>> _ = numbers.add("three", 3)
    >>> numbers["three"]
    3
    >>> numbers["thre"]
    Traceback (most recent call last):
        ...
    tsadeval.errors.UnknownNameError: unknown number 'thre': did you mean three?
    """

    def __init__(self, kind: str, package: str = "") -> None:
        self.kind = kind
        self._records: dict[str, T] = {}
        self._package = package
        self._lock = RLock()

    def add(self, name: str, record: T) -> T:
        """Register a record under a name that is not taken yet."""
        if name in self._records:
            raise ValueError(f"there is already a {self.kind} named {name!r}")
        self._records[name] = record
        return record

    def _all(self) -> dict[str, T]:
        if self._package:
            with self._lock:  # a second thread waits for a whole registry instead of seeing half of it
                if self._package:
                    import_modules(self._package)
                    # Whatever was imported first: the order is the same in every process.
                    self._records = dict(sorted(self._records.items()))
                    self._package = ""
        return self._records

    def __getitem__(self, name: str) -> T:
        records = self._all()
        if name not in records:
            raise UnknownNameError(f"unknown {self.kind} {name!r}: {did_you_mean(str(name), list(records))}")
        return records[name]

    def __contains__(self, name: object) -> bool:
        return name in self._all()  # the default asks `__getitem__`, whose error looks for similar names

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _repr_html_(self) -> str:
        """Names and summaries, for notebooks."""
        from tsadeval.core.results import html_table

        return html_table(
            [[self.kind, "summary"], *([name, getattr(one, "summary", "")] for name, one in self.items())]
        )

    def __repr__(self) -> str:
        return f"<{len(self)} {self.kind}s: {', '.join(self)}>"


def import_modules(package: str) -> list[ModuleType]:
    """Import all modules (not sub-packages) of a package, in the order of their names."""
    path = importlib.import_module(package).__path__
    return [importlib.import_module(f"{package}.{m.name}") for m in pkgutil.iter_modules(path) if not m.ispkg]
