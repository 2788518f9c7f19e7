"""Rows sorted by score, with their labels. On a GPU one sort of whole numbers does all rows and carries the labels."""

from __future__ import annotations

import torch
from torch import Tensor


def sort_rows(scores: Tensor, labels: Tensor, *, descending: bool = False) -> tuple[Tensor, Tensor]:
    """The scores of every row in order, and their labels; labels of equal scores come in any order."""
    if scores.is_cuda and scores.dtype == torch.float32 and len(scores) > 1:
        return sort_by_keys(scores, labels, descending=descending)
    ordered, order = scores.sort(dim=1, descending=descending)
    return ordered, labels.gather(1, order)


def sort_by_keys(scores: Tensor, labels: Tensor, *, descending: bool = False) -> tuple[Tensor, Tensor]:
    """The same for float32: row, score and label of a point are packed into 64 bits, the row first."""
    # Bits of floats as integers in the same order: those of negative numbers run the other way. (-0.0 + 0.0 is 0.0.)
    bits = (scores + 0.0).view(torch.int32)
    keys = _flipped(bits).long()
    if descending:
        keys = -1 - keys
    rows = torch.arange(len(scores), device=scores.device)[:, None]
    keys = (((rows << 32) + (keys + (1 << 31))) << 1) + labels
    keys = keys.flatten().sort().values
    marks = (keys & 1).bool().view(labels.shape)
    keys = ((keys >> 1) & 0xFFFFFFFF) - (1 << 31)
    if descending:
        keys = -1 - keys
    return _flipped(keys.int()).view(torch.float32).view(scores.shape), marks


def _flipped(bits: Tensor) -> Tensor:
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)
