"""External sort: scores sorted in pieces on disk, in bounded memory; blocks, ranks and counts for metrics of order."""

import tempfile
import weakref
from collections.abc import Iterator
from typing import Any, Self, cast

import numpy as np

from tsadeval.core.facts import Fact
from tsadeval.core.inputs import Array, Events, Floats, Index, Scoring
from tsadeval.core.metric import Metric
from tsadeval.errors import InvalidInputError
from tsadeval.metrics.counting import ScoreBlock

_PIECE = 2**23  # numbers that are sorted in memory at once
_EVERY = 2**12  # of so many numbers of a piece one is a candidate for a border between blocks


class _Piece:
    """Numbers in a file or (without one) in memory."""

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
        """Read some of the numbers, by their places."""
        if self._numbers is not None:
            return self._numbers[first:stop]
        # Not a memory map: its pages would count as memory of this process.
        self._file.seek(self._start + first * self._dtype.itemsize)
        return np.fromfile(self._file, self._dtype, stop - first)

    def below(self, border: float, *, or_equal: bool) -> int:
        """How many of sorted numbers are below the border, or equal to it."""
        side: Any = "right" if or_equal else "left"
        known = _EVERY * int(np.searchsorted(self.samples, border, side=side))
        return known + int(np.searchsorted(self.read(known, min(known + _EVERY, self.n)), border, side=side))


class Spill:
    """Numbers in pieces: full ones in a file without a name, the last ones in memory; `ordered` pieces are sorted.

    Those that stay in memory (not `on_disk`), in the order in which they came, can be sent to another process.
    """

    def __init__(self, *, ordered: bool = True, on_disk: bool = True) -> None:
        self.n = 0
        self._ordered, self._on_disk = ordered, on_disk
        self._waiting: list[Array] = []
        self._waits = 0
        self._files: list[Any] = []
        weakref.finalize(self, _close, self._files)
        self._pieces: list[_Piece] = []

    def add(self, numbers: Array) -> None:
        """Take in the numbers that follow."""
        self.n += len(numbers)
        while len(numbers):
            part = numbers[: _PIECE - self._waits]
            numbers = numbers[len(part) :]
            self._waiting.append(part.copy())  # a view would keep the whole batch alive
            self._waits += len(part)
            if self._waits == _PIECE:
                self._write()

    def _write(self) -> None:
        """Make a piece of what waits."""
        if self._on_disk and not self._files:
            self._files.append(tempfile.TemporaryFile(prefix="tsadeval-"))  # noqa: SIM115 - as long as we live
        whole = np.concatenate(self._waiting)
        self._waiting, self._waits = [], 0  # at once, so that nothing is there twice
        self._pieces.append(self._piece(whole, self._files[0] if self._on_disk else None))

    def _piece(self, numbers: Array, file: Any) -> _Piece:
        if self._ordered:
            numbers.sort()  # they are ours
        return _Piece(numbers, file)

    def merge(self, other: Self) -> None:
        """Take in the numbers of another one, which follow; it must not be used any more."""
        if not self._ordered and self._waiting and other._pieces:  # what waits comes first
            self._write()
        self._pieces += other._pieces
        self._files += other._files
        other._files.clear()
        self.n += other.n - other._waits
        for part in other._waiting:
            self.add(part)

    def pieces(self) -> list[_Piece]:
        """All numbers."""
        if not self._waiting:
            return self._pieces
        if len(self._waiting) > 1:
            self._waiting = [np.concatenate(self._waiting)]
        return [*self._pieces, self._piece(self._waiting[0], None)]

    def read(self, first: int, stop: int) -> Array:
        """Read some of the numbers, by their places, which are those in which they came unless they are ordered."""
        found = [np.empty(0, np.float32)]
        for piece in self.pieces():
            if first < piece.n and stop > 0:
                found.append(piece.read(max(first, 0), min(stop, piece.n)))
            first, stop = first - piece.n, stop - piece.n
        return np.concatenate(found)

    def __getstate__(self) -> Any:
        if self._on_disk:
            raise InvalidInputError(
                'scores that are sorted on disk cannot be sent to another process: use order="bins" there'
            )
        return self.read(0, self.n)

    def __setstate__(self, numbers: Array) -> None:
        Spill.__init__(self, ordered=False, on_disk=False)
        self.add(numbers)


def _close(files: list[Any]) -> None:
    for file in files:
        file.close()


class SortedScores:
    """The scores of both classes, sorted in pieces on disk: what metrics of their order are computed from, exactly.

    Metrics of the order ask a scoring for its classes, their sizes and blocks: it answers as one.
    """

    exact = True
    highest = np.inf

    def __init__(self) -> None:
        self._classes = Spill(), Spill()

    def update(self, data: Scoring) -> None:
        """Take in the points that follow."""
        anomalous = data.truth.mask
        for spill, mask in zip(self._classes, (~anomalous, anomalous), strict=True):
            spill.add(data.raw[mask])

    def merge(self, later: Self) -> None:
        """Take in other points; `later` must not be used any more."""
        for own, other in zip(self._classes, later._classes, strict=True):
            own.merge(other)

    def value(self, metric: Metric) -> tuple[float, Fact | None]:
        """Return the value of a metric on all points so far, and why it is NaN where it is undefined."""
        return metric.value_of(cast(Any, self))

    @property
    def n(self) -> int:
        """Number of points."""
        return sum(spill.n for spill in self._classes)

    @property
    def truth(self) -> Self:
        """The labels, of which only the number of each is known."""
        return self

    def has(self, label: int) -> bool:
        """Return True if any point has this label."""
        return self._classes[label].n > 0

    @property
    def events(self) -> Events:
        """The anomalous points, as if they were one event."""
        return Events(np.array([0]), np.array([self._classes[1].n]), self.n)

    def blocks(self) -> Iterator[ScoreBlock]:
        """All scores from the highest down, in blocks that fit into memory; equal scores are in the same block."""
        sides = [self._classes[1].pieces(), self._classes[0].pieces()]
        borders = _borders([piece for side in sides for piece in side])
        left = [[piece.n for piece in side] for side in sides]  # so many numbers of each piece are still to come
        all_of = [spill.n for spill in self._classes[::-1]]
        for border in [*borders[::-1].tolist(), None]:
            anomalous, normal = (n - sum(numbers) for n, numbers in zip(all_of, left, strict=True))
            # What scores more than the border; below the last one, all that is left.
            begin = [[0 if border is None else piece.below(border, or_equal=True) for piece in side] for side in sides]
            found = [_read_sorted(*of_side) for of_side in zip(sides, begin, left, strict=True)]
            if len(found[0]) or len(found[1]):
                yield ScoreBlock(found[0], found[1], anomalous, normal)
            if border is not None:
                left = [[piece.below(border, or_equal=False) for piece in side] for side in sides]
                tied = sum(begin[0]) - sum(left[0]), sum(begin[1]) - sum(left[1])
                above = anomalous + len(found[0]), normal + len(found[1])
                yield ScoreBlock(np.empty(0), np.empty(0), *above, tied, border)

    def _levels(self) -> Iterator[tuple[int, Floats, int]]:
        """How many points are above each block, its scores, ascending, and how many points each of them stands for."""
        for block in self.blocks():
            above = block.anomalous_above + block.normal_above
            if block.tied is None:
                yield above, np.sort(np.concatenate([block.anomalous, block.normal])), 1
            else:
                yield above, np.array([block.score]), sum(block.tied)

    def at_ranks(self, ranks: Index) -> tuple[Floats, Floats]:
        """Return the scores at ascending ranks, 0 that of the highest, each once; and how many are at least as high."""
        found: list[float] = []
        counts: list[float] = []
        for above, both, weight in self._levels():
            size = weight * len(both)
            here = ranks[np.searchsorted(ranks, above) : np.searchsorted(ranks, above + size)] - above
            scores = np.unique(both[len(both) - 1 - here // weight])[::-1]
            found += scores.tolist()
            counts += (above + weight * (len(both) - np.searchsorted(both, scores))).tolist()
        return np.array(found), np.array(counts, np.float64)

    def counts_above(self, scores: Floats) -> tuple[Floats, Floats]:
        """How many are higher than each of some descending scores, and how many at least as high."""
        higher, not_lower = np.empty((2, len(scores)))
        done = 0
        for above, both, weight in self._levels():
            stop = int(np.searchsorted(-scores, -both[0], "right"))
            here = scores[done:stop]
            higher[done:stop] = above + weight * (len(both) - np.searchsorted(both, here, "right"))
            not_lower[done:stop] = above + weight * (len(both) - np.searchsorted(both, here))
            done = stop
        return higher, not_lower

    def places(self, scores: Array) -> Floats:
        """Return the scores themselves."""
        return np.asarray(scores, np.float64)


def _read_sorted(pieces: list[_Piece], starts: list[int], stops: list[int]) -> Floats:
    """Read the numbers of sorted pieces between two places each, as one sorted array."""
    parts = (piece.read(a, b) for piece, a, b in zip(pieces, starts, stops, strict=True) if a < b)
    values = np.concatenate([np.empty(0, np.float32), *parts])
    # The stable sort finds the parts, which are sorted already, and merges them.
    values.sort(kind="stable")
    return values.astype(np.float64, copy=False)


def _borders(pieces: list[_Piece]) -> Floats:
    """Scores between which lie about as many others as a piece has."""
    samples = np.sort(np.concatenate([np.empty(0), *(piece.samples for piece in pieces)]))
    # Between two neighbours of these lie at most `_EVERY` numbers of each piece, and they themselves stand for as many.
    return np.unique(samples[:: max(_PIECE // _EVERY - len(pieces), 1)])
