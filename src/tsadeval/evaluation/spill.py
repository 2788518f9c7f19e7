"""Numbers sorted in pieces on disk, and their levels from the highest down, in bounded memory."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.inputs import Floats
from tsadeval.errors import InvalidInputError

__all__ = ["Spill", "Stretch", "stretches"]

Array = NDArray[Any]

_PIECE = 2**23  # numbers that are sorted in memory at once
_EVERY = 2**12  # of so many numbers of a piece one is a candidate for a border between stretches


class _Piece:
    """Sorted numbers, in a file or (without one) in memory."""

    def __init__(self, numbers: Array, file: Any) -> None:
        self.n = len(numbers)
        self.samples = numbers[_EVERY - 1 :: _EVERY].copy()
        self._numbers = numbers if file is None else None
        self._file, self._dtype = file, numbers.dtype
        if file is not None:
            self._start = file.seek(0, 2)
            numbers.tofile(file)
            file.flush()

    def read(self, first: int, stop: int) -> Array:
        """Some of the numbers, by their places."""
        if self._numbers is not None:
            return self._numbers[first:stop]
        # Not a memory map: its pages would count as memory of this process.
        self._file.seek(self._start + first * self._dtype.itemsize)
        return np.fromfile(self._file, self._dtype, stop - first)

    def below(self, border: float, *, or_equal: bool) -> int:
        """How many numbers are below the border, or equal to it."""
        side: Any = "right" if or_equal else "left"
        known = _EVERY * int(np.searchsorted(self.samples, border, side=side))
        return known + int(np.searchsorted(self.read(known, min(known + _EVERY, self.n)), border, side=side))


class Spill:
    """Numbers in sorted pieces: the full ones in a file without a name, the last ones in memory."""

    def __init__(self) -> None:
        self.n = 0
        self._waiting: list[Array] = []
        self._waits = 0
        self._files: list[Any] = []
        weakref.finalize(self, _close, self._files)
        self._pieces: list[_Piece] = []

    def add(self, numbers: Array) -> None:
        """Take in numbers, in any order."""
        self.n += len(numbers)
        while len(numbers):
            part = numbers[: _PIECE - self._waits]
            numbers = numbers[len(part) :]
            self._waiting.append(part.copy())  # a view would keep the whole batch alive
            self._waits += len(part)
            if self._waits == _PIECE:
                self._write()

    def _write(self) -> None:
        piece = np.sort(np.concatenate(self._waiting))
        self._waiting, self._waits = [], 0
        if not self._files:
            self._files.append(tempfile.TemporaryFile(prefix="tsadeval-"))  # noqa: SIM115 - as long as we live
        self._pieces.append(_Piece(piece, self._files[0]))

    def merge(self, other: Spill) -> None:
        """Take in the numbers of another one, which must not be used any more."""
        self._pieces += other._pieces
        self._files += other._files
        other._files.clear()
        self.n += other.n - other._waits
        for part in other._waiting:
            self.add(part)

    def pieces(self) -> list[_Piece]:
        """All numbers, in sorted pieces."""
        if not self._waiting:
            return self._pieces
        return [*self._pieces, _Piece(np.sort(np.concatenate(self._waiting)), None)]

    def __getstate__(self) -> Any:
        raise InvalidInputError(
            'scores that are sorted on disk cannot be sent to another process: use order="bins" there'
        )


def _close(files: list[Any]) -> None:
    for file in files:
        file.close()


class Stretch(NamedTuple):
    """The anomalous and the normal scores between two borders, ascending, and how many of each are higher.

    Of scores that are all equal, however many, there is the number only: `tied`, first of the anomalous ones.
    """

    anomalous: Floats
    normal: Floats
    anomalous_above: int
    normal_above: int
    tied: tuple[int, int] | None = None


def stretches(anomalous: Spill, normal: Spill) -> Iterator[Stretch]:
    """All scores from the highest down, in stretches that fit into memory; equal scores are in the same stretch."""
    pieces = [anomalous.pieces(), normal.pieces()]
    borders = _borders([piece for both in pieces for piece in both])
    above = [0, 0]
    ends = [[piece.n for piece in side] for side in pieces]
    nothing = np.empty(0)
    for border in [*borders[::-1].tolist(), None]:
        found: list[Floats] = []
        higher = above[0], above[1]
        for which, side in enumerate(pieces):
            # What scores more than the border; below the last one, all that is left.
            starts = [0 if border is None else piece.below(border, or_equal=True) for piece in side]
            parts = [piece.read(a, b) for piece, a, b in zip(side, starts, ends[which], strict=True) if a < b]
            ends[which] = starts
            # The stable sort finds the parts, which are sorted already, and merges them.
            values = np.sort(np.concatenate(parts), kind="stable") if parts else nothing
            found.append(values.astype(np.float64, copy=False))
            above[which] += len(values)
        if len(found[0]) or len(found[1]):
            yield Stretch(found[0], found[1], *higher)
        if border is not None:
            starts_of = [[piece.below(border, or_equal=False) for piece in side] for side in pieces]
            tied = sum(ends[0]) - sum(starts_of[0]), sum(ends[1]) - sum(starts_of[1])
            yield Stretch(nothing, nothing, above[0], above[1], tied)
            above, ends = [above[0] + tied[0], above[1] + tied[1]], starts_of


def _borders(pieces: list[_Piece]) -> Floats:
    """Scores between which lie about as many others as a piece has."""
    samples = np.sort(np.concatenate([np.empty(0), *(piece.samples for piece in pieces)]))
    # Between two neighbours of these lie at most `_EVERY` numbers of each piece, and they themselves stand for as many.
    return np.unique(samples[:: max(_PIECE // _EVERY - len(pieces), 1)])
