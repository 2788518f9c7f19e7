"""Alarms of a batch: predictions as they come, or scores above a threshold; and F of precision and recall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from tsadeval.core.options import recall_weight
from tsadeval.errors import InvalidParameterError
from tsadeval.torch._batch import Batch, read

Threshold = float | Tensor | Literal["best"]


def f_beta(precision: Tensor, recall: Tensor, beta: float) -> Tensor:
    """The F of precision and recall: 0 where nothing is found, also where precision is then undefined."""
    weight = recall_weight(beta)
    value = (1 + weight) * precision * recall / (weight * precision + recall)
    return torch.where((recall == 0) | (precision == 0), recall.new_zeros(()), value)


def read_alarms(
    preds: Tensor,
    target: Tensor,
    threshold: Threshold | None,
    lengths: Tensor | Sequence[int] | None,
    mask: Tensor | None,
    validate: bool,
) -> tuple[Batch, bool]:
    """A batch of alarms, and False; or a batch of scores, and True where the best threshold is to be found."""
    batch = read(preds, target, lengths, mask, validate=validate, alarms=True)
    if batch.scores.dtype == torch.bool:
        return batch, False
    if isinstance(threshold, str) and threshold == "best":
        return batch, True
    if isinstance(threshold, Tensor) and threshold.shape in ((), (len(batch.scores),)):
        limits = threshold.to(batch.scores.device).double().reshape(-1, 1)
    elif isinstance(threshold, (int, float)) and not isinstance(threshold, bool) and not math.isnan(threshold):
        limits = torch.full((1, 1), float(threshold), dtype=torch.float64, device=batch.scores.device)
    else:
        found = f"a tensor of shape {tuple(threshold.shape)}" if isinstance(threshold, Tensor) else repr(threshold)
        raise InvalidParameterError(
            f"threshold must be a number, a tensor with one number for each series or (for an F) 'best', but is {found}"
        )
    # In float64, as everywhere in tsadeval: a float32 score just above a limit would equal the rounded limit.
    alarms = batch.scores.double() > limits
    return batch.with_scores(alarms & batch.valid if batch.padded else alarms), False
