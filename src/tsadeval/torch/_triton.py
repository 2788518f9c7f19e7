"""One pass over the scores and labels of a batch on a GPU. Imported only for tensors on one; Triton may be missing."""

from typing import Any

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # torch then does the same in several passes
    triton = None

WARPS = 4

if triton is not None:

    @triton.jit  # type: ignore[untyped-decorator]
    def _block_sums(scores, labels, sums, extremes, changed, n, columns, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
        block = tl.program_id(0).to(tl.int64)
        at = block * SIZE + tl.arange(0, SIZE)
        inside = at < n
        # Sums are about the first score of the row, so that a large common offset costs no digits.
        origin = tl.load(scores + block * SIZE // columns * columns).to(tl.float64)
        raw = tl.load(scores + at, mask=inside, other=0.0)
        values = tl.where(inside, raw.to(tl.float64) - origin, 0.0)
        tl.store(sums + 2 * block, tl.sum(values))
        tl.store(sums + 2 * block + 1, tl.sum(values * values))
        tl.store(extremes + 2 * block, tl.min(tl.where(inside, raw, float("inf"))))
        tl.store(extremes + 2 * block + 1, tl.max(tl.where(inside, raw, float("-inf"))))
        label = tl.load(labels + at, mask=inside, other=0)
        before = tl.load(labels + at - 1, mask=inside & (at > 0), other=0)
        differs = (label != before) & inside & (at > 0)
        tl.store(changed + block, tl.max(differs.to(tl.int32)).to(tl.int8))


def available() -> bool:
    """Is there a Triton?"""
    return triton is not None


def block_sums(scores: Tensor, labels: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Of every block of the flat batch: (sum, sum of squares), (lowest, highest), and does a label change in it?"""
    n = scores.numel()
    count = -(-n // size)
    sums = torch.empty((count, 2), dtype=torch.float64, device=scores.device)
    extremes = torch.empty((count, 2), dtype=scores.dtype, device=scores.device)
    changed = torch.empty(count, dtype=torch.int8, device=scores.device)
    outputs: Any = sums, extremes, changed
    with torch.cuda.device_of(scores):  # type: ignore[no-untyped-call]
        _block_sums[(count,)](
            scores, labels.view(torch.uint8), *outputs, n, scores.shape[1], SIZE=size, num_warps=WARPS
        )
    return sums, extremes, changed
