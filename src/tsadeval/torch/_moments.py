"""Count, mean and variance of the scores in every run of equal labels of a batch, reading the scores once.

On a GPU with Triton that is `_triton`; here is the same in torch's own operations. The batch is one flat array, cut
into blocks of equal size. A run is a head and a tail inside of blocks, and whole blocks between them: those need
nothing but their sums. Sums inside of a block are only needed where a run begins or ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from tsadeval.torch._batch import Batch

SIZE = 1024  # points of a block
# In units of the squared range: a variance below this is that of constant scores. The difference of two sums of a block
# is not exact, and `uncertainty="scaled"` is not continuous where a mean at the end of the range has no variance.
ROUNDING = 1e-12
PIECE = 1 << 24  # without Triton, so many points at a time are copied as float64


class RunSums(NamedTuple):
    """Runs of equal labels of all rows, one after the other."""

    keys: Tensor  # twice the row, plus the label
    labels: Tensor  # bool
    means: Tensor  # float64, as all that follows
    variances: Tensor
    weights: Tensor  # (runs, 3): 1, points, sums of scores


def run_moments(batch: Batch, scale: bool, added: Tensor | None = None) -> RunSums:
    """The runs of a batch, without its padding.

    With `scale`, scores are brought to 0 ... 1 by their row's range, plus what is `added` to it. Constant scores count
    as one half.
    """
    scores, labels = batch.scores.contiguous(), batch.labels.contiguous()
    if batch.padded:
        scores = torch.where(batch.valid, scores, scores[:, :1])  # neither a new extreme nor far from the others
    runs = RunSums(*_finder(scores)(scores, labels, batch.lengths, scale, added))
    if batch.padded:
        inside = runs.weights[:, 0] > 0
        runs = RunSums(*(x[inside] for x in runs))
    return runs


Finder = Callable[[Tensor, Tensor, Tensor, bool, Tensor | None], tuple[Tensor, ...]]


def _finder(scores: Tensor) -> Finder:
    if has_kernels(scores):
        from tsadeval.torch import _triton

        return _triton.run_moments
    return by_torch


def has_kernels(tensor: Tensor) -> bool:
    """Return True if Triton kernels run on the tensor's device."""
    if not tensor.is_cuda:
        return False
    from tsadeval.torch import _triton

    return _triton.available()


def by_torch(scores: Tensor, labels: Tensor, lengths: Tensor, scale: bool, added: Tensor | None) -> tuple[Tensor, ...]:
    """The fields of `RunSums`; a row's padding is a run with weights of 0."""
    rows, columns = scores.shape
    flat = labels.view(-1)
    borders = (flat[1:] != flat[:-1]).nonzero()[:, 0] + 1
    edges = torch.arange(rows, device=scores.device) * columns
    begins = torch.unique(torch.cat([borders, edges, (edges + lengths)[lengths < columns]]))
    ends = torch.cat([begins[1:], begins.new_full((1,), rows * columns)])
    row = begins // columns
    # In units of the row's range, so that nothing is lost to a neighbouring row of another scale.
    low, high = (x.double() for x in torch.aminmax(scores, dim=1))
    unit = torch.where(high > low, high - low, 1)
    origins = scores[:, 0].double()
    sums = _sums_of_runs(scores.view(-1), origins, unit, columns, _block_sums(scores, origins), begins, ends)
    counts = (ends - begins).double()
    means, squares = (sums / counts[:, None]).T
    variances = squares - means * means
    variances = variances.masked_fill(variances < ROUNDING, 0)
    if scale:
        width = high - low + (0 if added is None else added)
        constant = (width == 0)[row]
        width = torch.where(width == 0, 1, width)
        factor = (unit / width)[row]
        means = torch.where(constant, 0.5, (((origins - low) / width)[row] + means * factor).clamp(0, 1))
        variances = variances * factor.square()
    else:
        means, variances = origins[row] + means * unit[row], variances * unit[row].square()
    inside = (begins - row * columns < lengths[row]).double()
    weights = torch.stack([torch.ones_like(counts), counts, counts * means], dim=1) * inside[:, None]
    marks = flat[begins]
    return 2 * row + marks, marks, means, variances, weights


def _block_sums(scores: Tensor, origins: Tensor) -> Tensor:
    """Of every whole block: sums of its scores (from the origin of its first row) and of their squares."""
    columns = scores.shape[1]
    whole = scores.numel() // SIZE * SIZE
    parts = []
    for begin in range(0, whole, PIECE):
        piece = scores.view(-1)[begin : min(begin + PIECE, whole)].double().view(-1, SIZE)
        first = (begin + torch.arange(len(piece), device=piece.device) * SIZE) // columns
        piece = piece - origins[first, None]
        parts.append(torch.stack([piece.sum(1), piece.square_().sum(1)], dim=1))
    return torch.cat(parts) if parts else torch.zeros((0, 2), dtype=torch.float64, device=scores.device)


class BlockRanges:
    """Ranges cut at the borders of blocks: a head, whole blocks [first, last) and a tail; short ones are a head."""

    def __init__(self, begins: Tensor, ends: Tensor, size: int) -> None:
        first, last = (begins + size - 1) // size, ends // size
        short = first > last  # begins and ends inside of one block
        self.first, self.last = (torch.where(short, 0, x) for x in (first, last))
        head, tail = begins // size, ends // size
        self.head = head, begins - head * size, torch.where(short, ends, first * size) - head * size
        self.tail = tail, torch.where(short, ends, last * size) - tail * size, ends - tail * size


def _sums_of_runs(
    scores: Tensor, origins: Tensor, unit: Tensor, columns: int, blocks: Tensor, begins: Tensor, ends: Tensor
) -> Tensor:
    """Sums of scores and of their squares over ranges of the flat scores that do not cross a row."""
    edges = torch.cat([begins, ends])
    cut = torch.unique(edges[edges % SIZE != 0] // SIZE)  # the blocks in which a run begins or ends
    places = cut[:, None] * SIZE + torch.arange(SIZE, device=cut.device)
    places = places.clamp_max(len(scores) - 1)
    row = places // columns
    values = (scores[places].double() - origins[row]) / unit[row]
    # What comes before each point of a cut block. Block 0 of these is for all others, where pieces are empty.
    before = torch.zeros((len(cut) + 1, SIZE + 1, 2), dtype=torch.float64, device=cut.device)
    torch.cumsum(values, 1, out=before[1:, 1:, 0])
    torch.cumsum(values.square_(), 1, out=before[1:, 1:, 1])
    number = torch.zeros(len(scores) // SIZE + 1, dtype=torch.int64, device=cut.device)
    number[cut] = torch.arange(1, len(cut) + 1, device=cut.device)
    pieces = BlockRanges(begins, ends, SIZE)
    per_unit = 1 / unit[torch.arange(len(blocks), device=cut.device) * SIZE // columns, None]
    blocks = blocks * torch.cat([per_unit, per_unit.square()], dim=1)
    total = _sums_of_ranges(blocks, pieces.first, pieces.last)
    for block, start, stop in (pieces.head, pieces.tail):
        total += before[number[block], stop] - before[number[block], start]
    return total


def _sums_of_ranges(values: Tensor, begins: Tensor, ends: Tensor) -> Tensor:
    """Sums of rows of `values` (n, 2) over disjoint ranges, block by block.

    Differences of one long cumulative sum would lose the digits of short ranges to what came before them.
    """
    size = 64
    count = len(values) // size + 1
    padded = values.new_zeros((count * size, 2))
    padded[: len(values)] = values
    before = values.new_zeros((count, size + 1, 2))
    torch.cumsum(padded.view(count, size, 2), 1, out=before[:, 1:])
    pieces = BlockRanges(begins, ends, size)
    total = values.new_zeros((len(begins), 2))
    if count > 1:
        total += _sums_of_ranges(before[:, -1], pieces.first, pieces.last)
    for block, start, stop in (pieces.head, pieces.tail):
        total += before[block, stop] - before[block, start]
    return total
