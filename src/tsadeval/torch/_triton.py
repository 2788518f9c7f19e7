"""One pass over the scores and labels of a batch on an NVIDIA or AMD GPU; without Triton, torch does it in several."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

WARPS = 4


@lru_cache(maxsize=1)
def _kernel() -> Any:
    """The compiled kernel; None where Triton is missing."""
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    def block_sums(scores, labels, sums, extremes, changed, n, columns, SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
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
        tl.store(changed + block, tl.max(differs.to(tl.int8)))

    # Triton reads the names in the annotations and the body from the globals of the function.
    block_sums.__globals__.update(tl=tl)
    return triton.jit(block_sums)


def usable(scores: Tensor) -> bool:
    """Is there a GPU and a Triton for it?"""
    return scores.is_cuda and _kernel() is not None


def block_sums(scores: Tensor, labels: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Of every block of the flat batch: (sum, sum of squares), (lowest, highest), and does a label change in it?"""
    n = scores.numel()
    count = -(-n // size)
    sums = torch.empty((count, 2), dtype=torch.float64, device=scores.device)
    extremes = torch.empty((count, 2), dtype=scores.dtype, device=scores.device)
    changed = torch.empty(count, dtype=torch.int8, device=scores.device)
    with torch.cuda.device(scores.device):
        _kernel()[(count,)](
            scores, labels.view(torch.uint8), sums, extremes, changed, n, scores.shape[1], SIZE=size, num_warps=WARPS
        )
    return sums, extremes, changed
