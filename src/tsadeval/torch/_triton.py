"""Runs of equal labels and their sums on a GPU, reading labels once and scores once. Triton may be missing.

Blocks of points never cross rows. The first kernel counts the borders of runs in every block, so that the number of
runs is known and the GPU is not waited for after that: all later work is queued while the long pass over the scores
runs. That pass gives the sums of whole blocks. Only blocks that a border cuts are read again, for the sums up to it.
"""

# Triton has no types for the pointers and blocks that its kernels take, nor for its decorator.
# mypy: disable-error-code="untyped-decorator, no-untyped-def"

from typing import Any

import torch
from torch import Tensor

from tsadeval.torch._cce import ROUNDING

try:
    import triton
    import triton.language as tl
except ImportError:  # torch then does the same in several passes
    triton = None

SIZE = 4096  # points of a block; a power of two
SMALL = 1024  # where rows have no more than that
WARPS = 4

if triton is not None:

    @triton.jit
    def _place(columns, per_row, SIZE: tl.constexpr, SINGLE: tl.constexpr):
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

    @triton.jit
    def _borders(labels, start, first, columns, length, SIZE: tl.constexpr):
        """Which points of a block begin a run: at another label, at the beginning of a row and of its padding."""
        here = tl.arange(0, SIZE)
        column = first + here
        inside = column < columns
        label = tl.load(labels + start + here, mask=inside, other=0)
        left = tl.load(labels + start + here - 1, mask=inside & (column > 0), other=0)
        return inside & ((label != left) | (column == 0) | (column == length))

    @triton.jit
    def _count(
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

    @triton.jit
    def _scores(scores, start, first, columns, SIZE: tl.constexpr):
        here = tl.arange(0, SIZE)
        inside = first + here < columns
        # Without a mask the loads are wide whatever the length.
        if first + SIZE <= columns:
            raw = tl.load(scores + start + here)
        else:
            raw = tl.load(scores + start + here, mask=inside, other=0.0)
        return raw, inside

    @triton.jit
    def _sum(scores, sums, extremes, blocks, columns, per_row, SIZE: tl.constexpr, SINGLE: tl.constexpr):
        block, row, first, start = _place(columns, per_row, SIZE, SINGLE)
        # Sums are about the first score of the row, so that a large common offset costs no digits.
        origin = tl.load(scores + row * columns).to(tl.float64)
        raw, inside = _scores(scores, start, first, columns, SIZE)
        values = tl.where(inside, raw.to(tl.float64) - origin, 0.0)
        tl.store(sums + block, tl.sum(values))
        tl.store(sums + blocks + block, tl.sum(values * values))
        tl.store(extremes + block, tl.min(tl.where(inside, raw, float("inf"))))
        tl.store(extremes + blocks + block, tl.max(tl.where(inside, raw, float("-inf"))))

    @triton.jit
    def _cut(scores, labels, lengths, cut, stops, counts, begins, before, runs, columns, per_row, SIZE: tl.constexpr):
        """Where runs begin, and the sums of their blocks up to there."""
        block = tl.load(cut + tl.program_id(0))
        row = block // per_row
        first = (block - row * per_row) * SIZE
        start = row * columns + first
        raw, inside = _scores(scores, start, first, columns, SIZE)
        values = tl.where(inside, raw.to(tl.float64) - tl.load(scores + row * columns).to(tl.float64), 0.0)
        squares = values * values
        border = _borders(labels, start, first, columns, tl.load(lengths + row), SIZE)
        place = tl.load(stops + block) - tl.load(counts + block) + tl.cumsum(border.to(tl.int32)) - 1
        tl.store(begins + place, start + tl.arange(0, SIZE), mask=border)
        tl.store(before + place, tl.cumsum(values) - values, mask=border)
        tl.store(before + runs + place, tl.cumsum(squares) - squares, mask=border)

    @triton.jit
    def _total(at, run, there, before, sums, up_to, block, first, last, ends_row, row, per_row):
        """Add what is left of a run's first block, whole blocks, and the beginning of its last block."""
        within = first == last
        rest = tl.load(before + at + run + 1, mask=there & (ends_row == 0), other=0.0)
        head = tl.load(sums + block, mask=there & (within == 0), other=0.0) - tl.load(before + at + run, mask=there)
        # Differences of these long sums are exact to about 1e-16 times the number of points. They are only used over
        # whole blocks, so a mean loses no more than that divided by the size of a block.
        edge = up_to + row * (per_row + 1)
        high = tl.load(edge + last, mask=there & (within == 0), other=0.0)
        return head + (high - tl.load(edge + first + 1, mask=there & (within == 0), other=0.0)) + rest

    @triton.jit
    def _moments(
        scores, labels, lengths, begins, before, sums, up_to, low, high, added,
        keys, marks, means, variances, weights,
        runs, points, rows, columns, per_row, size, ROUNDING: tl.constexpr,
        SCALE: tl.constexpr, ADDED: tl.constexpr, SIZE: tl.constexpr,
    ):  # fmt: skip
        """As `tsadeval.torch._cce.run_moments` returns them; padding has 0 points."""
        run = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
        there = run < runs
        begin = tl.load(begins + run, mask=there, other=0)
        end = tl.load(begins + run + 1, mask=run + 1 < runs, other=points)
        row = begin // columns
        next_row = end // columns
        ends_row = next_row != row
        first = (begin - row * columns) // size
        last = tl.where(ends_row, per_row, (end - next_row * columns) // size)
        block = row * per_row + first
        blocks = rows * per_row
        total = _total(0, run, there, before, sums, up_to, block, first, last, ends_row, row, per_row)
        edges = up_to + rows * (per_row + 1)
        squares = _total(runs, run, there, before, sums + blocks, edges, block, first, last, ends_row, row, per_row)
        count = (end - begin).to(tl.float64)
        mean = total / count
        least = tl.load(low + row, mask=there).to(tl.float64)
        width = tl.load(high + row, mask=there).to(tl.float64) - least
        variance = squares / count - mean * mean
        variance = tl.where(variance < ROUNDING * width * width, 0.0, variance)
        origin = tl.load(scores + row * columns, mask=there).to(tl.float64)
        if SCALE:
            if ADDED:
                width += tl.load(added + row, mask=there)
            constant = width == 0.0
            width = tl.where(constant, 1.0, width)
            # The order keeps what is no number: a NaN is neither below 0 nor above 1.
            scaled = (origin - least) / width + mean / width
            scaled = tl.where(scaled < 0.0, 0.0, tl.where(scaled > 1.0, 1.0, scaled))
            mean = tl.where(constant, 0.5 + 0.0 * mean, scaled)
            variance = variance / width / width
        else:
            mean += origin
        label = tl.load(labels + begin, mask=there, other=0)
        padding = begin - row * columns >= tl.load(lengths + row, mask=there, other=0)
        count = tl.where(padding, 0.0, count)
        tl.store(keys + run, 2 * row + label, mask=there)
        tl.store(marks + run, label, mask=there)
        tl.store(means + run, mean, mask=there)
        tl.store(variances + run, variance, mask=there)
        tl.store(weights + 3 * run, tl.where(padding, 0.0, 1.0), mask=there)
        tl.store(weights + 3 * run + 1, count, mask=there)
        tl.store(weights + 3 * run + 2, count * mean, mask=there)


def available() -> bool:
    """Return True if Triton is installed."""
    return triton is not None


def run_moments(
    scores: Tensor, labels: Tensor, lengths: Tensor, scale: bool, added: Tensor | None
) -> tuple[Tensor, ...]:
    """Compute what `tsadeval.torch._cce.run_moments` returns, of a contiguous batch with its padding."""
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
    with torch.cuda.device_of(scores):  # type: ignore[no-untyped-call]  # untyped in torch
        _count[(blocks,)](flat, words, lengths, counts, columns, per_row, **how, SINGLE=single, WIDE=wide)
        # As much as can be asked for before the number of runs is known, as little as can be after.
        stops = counts.cumsum(0)
        sums = torch.empty((2, rows, per_row), dtype=torch.float64, device=device)
        extremes = torch.empty((2, rows, per_row), dtype=scores.dtype, device=device)
        up_to = sums.new_zeros((2, rows, per_row + 1))
        cut = counts.nonzero()[:, 0]
        runs = int(stops[-1])
        _sum[(blocks,)](scores, sums, extremes, blocks, columns, per_row, **how, SINGLE=single)
        begins, keys = torch.empty((2, runs), dtype=torch.int64, device=device)
        before = sums.new_empty((2, runs))
        _cut[(len(cut),)](scores, flat, lengths, cut, stops, counts, begins, before, runs, columns, per_row, **how)
        for k in range(2):
            torch.cumsum(sums[k], 1, out=up_to[k, :, 1:])
        low, high = extremes[0].amin(1), extremes[1].amax(1)
        marks = torch.empty(runs, dtype=torch.uint8, device=device)
        means, variances = sums.new_empty((2, runs))
        weights = sums.new_empty((runs, 3))
        arrays = scores, flat, lengths, begins, before, sums, up_to, low, high, low if added is None else added
        _moments[(-(-runs // 256),)](
            *arrays, keys, marks, means, variances, weights, runs, rows * columns, rows, columns, per_row, size,
            ROUNDING=ROUNDING, SCALE=scale, ADDED=added is not None, SIZE=256,
        )  # fmt: skip
    return keys, marks.view(torch.bool), means, variances, weights
