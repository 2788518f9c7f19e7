"""Keys of cells, and the index that finds their rows: 24 bytes a row, however long the texts that name a cell.

A key is 16 bytes: the digests of a cell's values, each with the place of its column, combined by exclusive or. Two
different cells have the same key with a probability of 2**-128, and values that many cells share are digested once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.events import Index as Places
from tsadeval.engine.cells import C, Layout

__all__ = ["Index", "Keys", "coded"]

_PLAIN = {"string": str, "int32": int, "int64": int, "float64": lambda value: float(value) + 0.0}  # no negative zero
_RECORD = np.dtype([("key", "S16"), ("rank", ">u8")])
_ERROR = 1 << 61  # ranks from here on are those of errors, the last one first


def coded(column: Any) -> tuple[Places, list[Any]]:
    """A column of a table as places in a list of values, the last of which is None."""
    values = column.combine_chunks()
    if not hasattr(values, "dictionary"):
        values = values.dictionary_encode()
    names = values.dictionary.to_pylist()
    codes = values.indices.fill_null(len(names)) if values.null_count else values.indices
    return codes.to_numpy().astype(np.int64), [*names, None]


class Keys:
    """Keys of cells of a layout, whether they come as tuples or as rows of a table."""

    def __init__(self, layout: Layout[Any]) -> None:
        self._kinds = [_PLAIN[layout.columns[name]] for name in layout.fields]

    def of_cells(self, cells: Sequence[C]) -> NDArray[np.bytes_]:
        """The keys of some cells."""
        keys = np.zeros((len(cells), 2), np.uint64)
        columns = zip(*cells, strict=True) if cells else ()
        for place, (kind, column) in enumerate(zip(self._kinds, columns, strict=bool(cells))):
            keys ^= _numbers(map(_Digests(place, kind).__getitem__, column))
        return keys.reshape(-1).view("S16")

    def of_table(self, table: Any) -> NDArray[np.bytes_]:
        """The keys of rows, of a table with the columns of a cell in their order."""
        keys = np.zeros((len(table), 2), np.uint64)
        for place, (kind, column) in enumerate(zip(self._kinds, table.columns, strict=True)):
            codes, values = coded(column)
            keys ^= _numbers(map(_Digests(place, kind).__getitem__, values))[codes]
        return keys.reshape(-1).view("S16")


def _numbers(digests: Iterable[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2)


class _Digests(dict[Any, bytes]):
    """Digests of the values of a column, computed when first asked for."""

    def __init__(self, place: int, kind: Any) -> None:
        super().__init__()
        self._place, self._kind = str(place).encode(), kind

    def __missing__(self, value: Any) -> bytes:
        text = repr(None if value is None else self._kind(value))
        digest = self[value] = hashlib.blake2b(text.encode(), digest_size=16, person=self._place).digest()
        return digest


class Index:
    """Which row of each cell counts: the first that has a value, else the last error.

    It is made of (keys, which are errors, places of the rows), a part of the rows at a time. Rows are sorted by key
    and, of one cell, the best first.
    """

    def __init__(self, rows: Iterable[tuple[NDArray[np.bytes_], NDArray[np.bool_], Places]]) -> None:
        content = bytearray()  # grows without being copied
        for keys, failed, places in rows:
            records = np.empty(len(keys), _RECORD)
            records["key"] = keys
            records["rank"] = np.where(failed, 2 * _ERROR - places, places)
            content += records.tobytes()
        self._records = np.frombuffer(content, _RECORD)
        self._sorted.sort()

    @property
    def _sorted(self) -> NDArray[np.bytes_]:
        return self._records.view("S24")

    def find(self, keys: NDArray[np.bytes_]) -> tuple[Places, NDArray[np.bool_]]:
        """The place of the row that counts for each key, -1 where there is none; and which of them are no values."""
        if not len(self._records) or not len(keys):
            return np.full(len(keys), -1), np.ones(len(keys), np.bool_)
        wanted = np.zeros(len(keys), _RECORD)
        wanted["key"] = keys
        order = np.argsort(keys)  # neighbours are found in the same lines of the cache
        at = np.empty(len(keys), np.int64)
        at[order] = np.searchsorted(self._sorted, wanted.view("S24")[order])
        found = self._records[np.minimum(at, len(self._records) - 1)]
        place, failed = _places(found["rank"])
        place[found["key"] != keys] = -1
        return place, failed | (place < 0)

    def best(self) -> Places:
        """The places of all rows that count."""
        keys = self._records["key"]
        first = np.ones(len(keys), np.bool_)
        first[1:] = keys[1:] != keys[:-1]
        return _places(self._records["rank"][first])[0]


def _places(ranks: NDArray[Any]) -> tuple[Places, NDArray[np.bool_]]:
    ranks = ranks.astype(np.int64)
    failed = ranks >= _ERROR
    return np.where(failed, 2 * _ERROR - ranks, ranks), failed
