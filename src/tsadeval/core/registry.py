"""Registry: a read-only mapping of names to records that helps when a name is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from threading import RLock
from typing import Generic, TypeVar

from tsadeval.errors import UnknownNameError

T = TypeVar("T")


def did_you_mean(name: str, known: list[str]) -> str:
    """The end of an error message: the nearest known names, or all of them where none is near."""
    near = get_close_matches(name, known, n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known are: {', '.join(known)}"


class Registry(Mapping[str, T], Generic[T]):
    """Records by name, filled by `add`, loaded when first looked at.

    >>> numbers = Registry("number")
    >>> _ = numbers.add("three", 3)
    >>> numbers["three"]
    3
    >>> numbers["thre"]
    Traceback (most recent call last):
        ...
    tsadeval.errors.UnknownNameError: unknown number 'thre': did you mean three?
    """

    def __init__(self, kind: str, load: Callable[[], None] | None = None) -> None:
        self.kind = kind
        self._records: dict[str, T] = {}
        self._load = load
        self._lock = RLock()

    def add(self, name: str, record: T) -> T:
        """Register a record under a name that nobody has yet."""
        if name in self._records:
            raise ValueError(f"there is already a {self.kind} named {name!r}")
        self._records[name] = record
        return record

    def _all(self) -> dict[str, T]:
        if self._load is not None:
            with self._lock:  # a second thread waits for a whole registry instead of seeing half of it
                if self._load is not None:
                    self._load()
                    # Whatever was imported first: the order is the same in every process.
                    self._records = dict(sorted(self._records.items()))
                    self._load = None
        return self._records

    def __getitem__(self, name: str) -> T:
        records = self._all()
        if name not in records:
            raise UnknownNameError(f"unknown {self.kind} {name!r}: {did_you_mean(name, list(records))}")
        return records[name]

    def __contains__(self, name: object) -> bool:
        # Mapping's own version expects KeyError, which UnknownNameError is not (its message would be quoted).
        return name in self._all()

    def get(self, name: str, default: T | None = None) -> T | None:  # type: ignore[override]
        """The record, or the default where the name is not known."""
        return self._all().get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"<{len(self)} {self.kind}s: {', '.join(self)}>"
