"""Runs of equal labels and their sums on a GPU, reading labels once and scores once. Triton may be missing.

Blocks of points never cross rows. The first kernel counts the borders of runs in every block; so the number of runs is
known, and all later work is queued, before the long pass over the scores begins. That pass gives the sums of whole
blocks. Only blocks that a border cuts are read again, for the sums up to their borders.
"""

from typing import Any

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # torch then does the same in several passes
    triton = None

SIZE = 4096  # points of a block; a power of two
SMALL = 1024  # where rows have no more than that
WARPS = 8

if triton is not None:

    @triton.jit  # type: ignore[untyped-decorator]
    def _place(columns, per_row, SIZE: tl.constexpr, SINGLE: tl.constexpr):  # type: ignore[no-untyped-def]
        """Block, row, column and flat position at which the program's block begins."""
        block = tl.program_id(0).to(tl.int64)
        if SINGLE:  # written so that the compiler sees aligned positions whatever the length
            row = block * 0
            first = block * SIZE
            start = first
        else:
            row = block // per_row
            first = (block - row * per_row) * SIZE
            start = row * columns + first
        return block, row, first, start

    @triton.jit  # type: ignore[untyped-decorator]
    def _borders(labels, start, first, columns, length, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
        """Which points of a block begin a run: at another label, at the beginning of a row and of its padding."""
        here = tl.arange(0, SIZE)
        column = first + here
        inside = column < columns
        label = tl.load(labels + start + here, mask=inside, other=0)
        left = tl.load(labels + start + here - 1, mask=inside & (column > 0), other=0)
        return inside & ((label != left) | (column == 0) | (column == length))

    @triton.jit  # type: ignore[untyped-decorator]
    def _count(  # type: ignore[no-untyped-def]
        labels, words, lengths, counts, columns, per_row, SIZE: tl.constexpr, SINGLE: tl.constexpr, WIDE: tl.constexpr
    ):
        block, row, first, start = _place(columns, per_row, SIZE, SINGLE)
        length = tl.load(lengths + row)
        label = tl.load(labels + start).to(tl.int32)
        left = tl.load(labels + start - 1, mask=first > 0, other=2).to(tl.int32)
        count = ((label != left) | (first == length)).to(tl.int32)
        look = tl.full([], 1, tl.int32)
        if WIDE:  # four labels at a time are all that a block without a border needs
            whole = (first + SIZE <= columns) & ((length <= first) | (length >= first + SIZE))
            if whole:
                word = tl.load(words + start // 4 + tl.arange(0, SIZE // 4))
                same = label * 0x01010101
                look = ((tl.min(word) != same) | (tl.max(word) != same)).to(tl.int32)
        if look != 0:
            count = tl.sum(_borders(labels, start, first, columns, length, SIZE).to(tl.int32))
        tl.store(counts + block, count)

    @triton.jit  # type: ignore[untyped-decorator]
    def _scores(scores, start, first, columns, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
        here = tl.arange(0, SIZE)
        inside = first + here < columns
        # Without a mask the loads are wide whatever the length.
        if first + SIZE <= columns:
            raw = tl.load(scores + start + here)
        else:
            raw = tl.load(scores + start + here, mask=inside, other=0.0)
        return raw, inside

    @triton.jit  # type: ignore[untyped-decorator]
    def _sum(  # type: ignore[no-untyped-def]
        scores, sums, extremes, blocks, columns, per_row, SIZE: tl.constexpr, SINGLE: tl.constexpr
    ):
        block, row, first, start = _place(columns, per_row, SIZE, SINGLE)
        # Sums are about the first score of the row, so that a large common offset costs no digits.
        origin = tl.load(scores + row * columns).to(tl.float64)
        raw, inside = _scores(scores, start, first, columns, SIZE)
        values = tl.where(inside, raw.to(tl.float64) - origin, 0.0)
        tl.store(sums + block, tl.sum(values))
        tl.store(sums + blocks + block, tl.sum(values * values))
        tl.store(extremes + block, tl.min(tl.where(inside, raw, float("inf"))))
        tl.store(extremes + blocks + block, tl.max(tl.where(inside, raw, float("-inf"))))

    @triton.jit  # type: ignore[untyped-decorator]
    def _cut(  # type: ignore[no-untyped-def]
        scores, labels, lengths, unit, cut, stops, counts, sums, begins, before, blocks, runs, columns, per_row,
        SIZE: tl.constexpr,
    ):  # fmt: skip
        number = tl.program_id(0)
        block = tl.load(cut + number)
        row = block // per_row
        first = (block - row * per_row) * SIZE
        start = row * columns + first
        raw, inside = _scores(scores, start, first, columns, SIZE)
        origin = tl.load(scores + row * columns).to(tl.float64)
        values = tl.where(inside, (raw.to(tl.float64) - origin) / tl.load(unit + row), 0.0)
        squares = values * values
        tl.store(sums + block, tl.sum(values))
        tl.store(sums + blocks + block, tl.sum(squares))
        border = _borders(labels, start, first, columns, tl.load(lengths + row), SIZE)
        place = tl.load(stops + number) - tl.load(counts + block) + tl.cumsum(border.to(tl.int32)) - 1
        tl.store(begins + place, start + tl.arange(0, SIZE), mask=border)
        tl.store(before + place, tl.cumsum(values) - values, mask=border)
        tl.store(before + runs + place, tl.cumsum(squares) - squares, mask=border)


def available() -> bool:
    """Is there a Triton?"""
    return triton is not None


def run_sums(scores: Tensor, labels: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of a contiguous batch: where runs begin, their sums and sums of squares (2, runs), and the rows' extremes.

    A row's padding counts as a run of its own. Sums are about the row's first score and in units of its range.
    """
    rows, columns = scores.shape
    size = SMALL if columns <= SMALL else SIZE
    per_row = -(-columns // size)
    blocks = rows * per_row
    device, flat = scores.device, labels.view(torch.uint8).view(-1)
    how: Any = {"SIZE": size, "num_warps": WARPS}
    single = rows == 1
    wide = (single or columns % 4 == 0) and flat.storage_offset() % 4 == 0 and flat.data_ptr() % 4 == 0
    words = flat[: len(flat) // 4 * 4].view(torch.int32) if wide else flat
    counts = torch.empty(blocks, dtype=torch.int32, device=device)
    with torch.cuda.device_of(scores):  # type: ignore[no-untyped-call]
        _count[(blocks,)](flat, words, lengths, counts, columns, per_row, **how, SINGLE=single, WIDE=wide)
        cut = counts.nonzero()[:, 0]
        stops = counts[cut].cumsum(0)
        runs = int(stops[-1])
        sums = torch.empty((2, rows, per_row), dtype=torch.float64, device=device)
        extremes = torch.empty((2, rows, per_row), dtype=scores.dtype, device=device)
        _sum[(blocks,)](scores, sums, extremes, blocks, columns, per_row, **how, SINGLE=single)
        low, high = extremes[0].amin(1).double(), extremes[1].amax(1).double()
        unit = torch.where(high > low, high - low, 1)
        sums /= torch.stack([unit, unit * unit])[:, :, None]
        begins = torch.empty(runs, dtype=torch.int64, device=device)
        before = torch.empty((2, runs), dtype=torch.float64, device=device)
        arrays = scores, flat, lengths, unit, cut, stops, counts, sums, begins, before
        _cut[(len(cut),)](*arrays, blocks, runs, columns, per_row, **how)
    return begins, _of_runs(begins, before, sums, columns, size), low, high


def _of_runs(begins: Tensor, before: Tensor, sums: Tensor, columns: int, size: int) -> Tensor:
    """The sums of runs: of what is left of the first block, of whole blocks, and of the beginning of the last."""
    _, rows, per_row = sums.shape
    row = begins // columns
    first = (begins - row * columns) // size
    ends_row = torch.ones_like(row, dtype=torch.bool)
    ends_row[:-1] = row[1:] != row[:-1]
    last = torch.where(ends_row, per_row, first.roll(-1))
    rest = torch.where(ends_row, 0, before.roll(-1, 1))
    at = row * (per_row + 1) + first
    through = at - first + last
    within = at == through
    found = []
    for k in range(2):
        # Differences of this long sum are exact to about 1e-16 times the number of points; they are only used over
        # whole blocks, so a mean loses no more than that divided by the size of a block.
        up_to = sums.new_zeros((rows, per_row + 1))
        torch.cumsum(sums[k], 1, out=up_to[:, 1:])
        whole = up_to.view(-1)[through] - up_to.view(-1)[torch.where(within, at, at + 1)]
        head = torch.where(within, 0, sums[k].view(-1)[row * per_row + first])
        found.append(head - before[k] + whole + rest[k])
    return torch.stack(found)
