"""Count, mean and variance of the scores in every run of equal labels of a batch, reading the scores once.

On a GPU with Triton that is `_triton`; here is the same in torch's own operations. The batch is one flat array, cut
into blocks of equal size. A run is a head and a tail inside of blocks, and whole blocks between them: those need
nothing but their sums. Sums inside of a block are only needed where a run begins or ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from tsadeval.torch._batch import Batch

SIZE = 1024  # points of a block
PIECE = 1 << 24  # without Triton, so many points at a time are copied as float64


@dataclass(frozen=True, eq=False)
class RunList:
    """Runs of equal labels of all rows, one after the other.

    Means are measured from the row's first score, and all in units of the row's range: so nothing is lost to a large
    offset, nor to a neighbouring row of another scale.
    """

    rows: Tensor
    labels: Tensor  # bool
    counts: Tensor  # float64, as all that follows
    means: Tensor
    variances: Tensor
    # Of every row: its first, lowest and highest score.
    origins: Tensor
    low: Tensor
    high: Tensor
    unit: Tensor  # the range, 1 where it is 0


def run_moments(batch: Batch) -> RunList:
    """The runs of a batch, without its padding."""
    rows, columns = batch.scores.shape
    scores, labels = batch.scores.contiguous(), batch.labels.contiguous()
    if batch.padded:
        scores = torch.where(batch.valid, scores, scores[:, :1])  # neither a new extreme nor far from the others
    begins, sums, low, high = _finder(scores)(scores, labels, batch.lengths)
    row = begins // columns
    counts = torch.empty_like(begins)
    torch.sub(begins[1:], begins[:-1], out=counts[:-1])
    counts[-1:] = rows * columns - begins[-1:]
    if batch.padded:
        inside = begins - row * columns < batch.lengths[row]
        begins, counts, row, sums = begins[inside], counts[inside], row[inside], sums[:, inside]
    points = counts.double()
    means = sums[0] / points
    variances = (sums[1] / points - means * means).clamp_min(0)
    # A run of one point is constant, which the difference of two squares need not give exactly.
    variances = variances.masked_fill(counts == 1, 0)
    unit = torch.where(high > low, high - low, 1)
    return RunList(row, labels.view(-1)[begins], points, means, variances, scores[:, 0].double(), low, high, unit)


Finder = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor, Tensor]]


def _finder(scores: Tensor) -> Finder:
    if has_kernels(scores):
        from tsadeval.torch import _triton

        return _triton.run_sums
    return run_sums


def has_kernels(tensor: Tensor) -> bool:
    """Do Triton kernels run where the tensor is?"""
    if not tensor.is_cuda:
        return False
    from tsadeval.torch import _triton

    return _triton.available()


def run_sums(scores: Tensor, labels: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of a contiguous batch: where runs begin, their sums and sums of squares (2, runs), and the rows' extremes.

    A row's padding counts as a run of its own. Sums are about the row's first score and in units of its range.
    """
    rows, columns = scores.shape
    flat = labels.view(-1)
    borders = (flat[1:] != flat[:-1]).nonzero()[:, 0] + 1
    edges = torch.arange(rows, device=scores.device) * columns
    begins = torch.unique(torch.cat([borders, edges, (edges + lengths)[lengths < columns]]))
    ends = torch.cat([begins[1:], begins.new_full((1,), rows * columns)])
    low, high = (x.double() for x in torch.aminmax(scores, dim=1))
    unit = torch.where(high > low, high - low, 1)
    origins = scores[:, 0].double()
    blocks = _block_sums(scores, origins)
    return begins, _sums_of_runs(scores.view(-1), origins, unit, columns, blocks, begins, ends).T, low, high


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


class Pieces:
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
    pieces = Pieces(begins, ends, SIZE)
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
    pieces = Pieces(begins, ends, size)
    total = values.new_zeros((len(begins), 2))
    if count > 1:
        total += _sums_of_ranges(before[:, -1], pieces.first, pieces.last)
    for block, start, stop in (pieces.head, pieces.tail):
        total += before[block, stop] - before[block, start]
    return total
