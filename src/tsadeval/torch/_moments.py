"""Count, mean and variance of the scores in every run of equal labels of a batch.

On a GPU with Triton that is `_triton`, which reads the scores once; here is the same in torch's own operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from tsadeval.torch._batch import Batch

# In units of the squared range: a variance below this is that of constant scores. Triton's differences of
# sums are not exact, and `uncertainty="scaled"` is not continuous where a mean at the end of the range has no variance.
ROUNDING = 1e-12


class RunSums(NamedTuple):
    """Runs of equal labels of all rows, one after the other."""

    keys: Tensor  # twice the row, plus the label
    labels: Tensor  # bool
    means: Tensor  # float64, as all that follows
    variances: Tensor
    weights: Tensor  # (runs, 3): 1, points, sums of scores


def run_moments(batch: Batch, scale: bool, added: Tensor | None = None) -> RunSums:
    """Find the runs of a batch, without its padding.

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
    """Compute the fields of `RunSums`; a row's padding is a run with weights of 0."""
    rows, columns = scores.shape
    flat = labels.view(-1)
    borders = (flat[1:] != flat[:-1]).nonzero()[:, 0] + 1
    edges = torch.arange(rows, device=scores.device) * columns
    begins = torch.unique(torch.cat([borders, edges, (edges + lengths)[lengths < columns]]))
    counts = begins.diff(append=begins.new_full((1,), rows * columns))
    row = begins // columns
    # In units of the row's range, so that squares are numbers.
    low, high = (x.double() for x in torch.aminmax(scores, dim=1))
    unit = torch.where(high > low, high - low, 1)
    origins = scores[:, 0].double()

    def mean_of_runs(values: Tensor) -> Tensor:
        return torch.segment_reduce(values, "mean", lengths=counts, unsafe=True)

    values = ((scores.double() - origins[:, None]) / unit[:, None]).view(-1)
    means = mean_of_runs(values)
    variances = mean_of_runs((values - means.repeat_interleave(counts)).square_())
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
    weights = torch.stack([torch.ones_like(means), counts.double(), counts * means], dim=1) * inside[:, None]
    marks = flat[begins]
    return 2 * row + marks, marks, means, variances, weights
