"""AUC-ROC, AUC-PR, best F1 and F1-PA of batches: one sort of every row, then sums over its groups of equal scores."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tsadeval.core.parameters import AUC_PR_CHECKS, F_CHECKS, check_parameters, recall_weight
from tsadeval.torch._batch import (
    NO_ANOMALY,
    ONE_CLASS,
    Batch,
    Threshold,
    apply,
    finish,
    read,
    read_alarms,
    sort_rows,
)
from tsadeval.torch._segments import events_of, expand, group_scores, sum_by


class RankedPoints:
    """Points of every row by descending score; what follows is flat, row after row, of every group of equal scores."""

    def __init__(self, batch: Batch) -> None:
        scores, self.labels = sort_rows(batch.filled(-torch.inf), batch.labels, descending=True)
        groups = group_scores(scores)
        del scores
        self.group, self.row = groups.of_point, groups.row
        # A scan over all rows at once is much faster on a GPU than one of each row; earlier rows are taken off again.
        found = self.labels.flatten().cumsum(0)
        columns = self.labels.shape[1]
        totals = found[columns - 1 :: columns]
        self.positives = totals.diff(prepend=totals.new_zeros(1))  # (series,)
        # Points that score at least as much, the anomalous ones of them, and both for the group before it in its row.
        self.alarms, self.alarms_before = groups.up_to, groups.before
        self.found = found[groups.last] - (totals - self.positives)[self.row]
        self.found_before = torch.where(self.alarms_before > 0, self.found.roll(1), 0)

    def over_found(self, of_group: Tensor) -> Tensor:
        """Sum a value of the groups over the anomalous points of every row."""
        return torch.where(self.labels, of_group[self.group].view(self.labels.shape), 0).sum(1)

    def largest(self, of_group: Tensor) -> Tensor:
        """Find the largest value of the groups of every row."""
        return of_group[self.group].view(self.labels.shape).amax(1)


def _auc_roc(batch: Batch) -> Tensor:
    ranked = RankedPoints(batch)
    # Twice the normal points that score more than a point, ties counted by half: whole numbers, so the sum is exact.
    above = ranked.alarms - ranked.found + ranked.alarms_before - ranked.found_before
    pairs = 2 * ranked.positives * (batch.lengths - ranked.positives)
    return (pairs - ranked.over_found(above)).double() / pairs


def auc_roc(
    preds: Tensor,
    target: Tensor,
    *,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """Area under the ROC curve of every series of a batch; equals `tsadeval.metrics.auc_roc`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Finite scores, higher for more anomalous.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series.
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values
        give wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, for a series with one class only.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> scores = torch.tensor([[0.1, 0.4, 0.4, 0.9, 0.2], [0.9, 0.1, 0.3, 0.0, 0.0]])
    >>> labels = torch.tensor([[0, 0, 1, 1, 0], [1, 0, 0, 0, 0]])
    >>> tt.auc_roc(scores, labels, lengths=[5, 3])
    tensor([0.9167, 1.0000])
    """
    batch = read(preds, target, lengths, mask, validate=validate)
    return finish("auc_roc", batch, apply(batch, _auc_roc), ONE_CLASS, validate)


def _auc_pr(batch: Batch, interpolation: str) -> Tensor:
    ranked = RankedPoints(batch)
    precision = ranked.found.double() / ranked.alarms
    if interpolation == "trapezoid":
        before = torch.where(ranked.alarms_before > 0, ranked.found_before.double() / ranked.alarms_before, 1.0)
        precision = (precision + before) / 2
    return ranked.over_found(precision) / ranked.positives


def auc_pr(
    preds: Tensor,
    target: Tensor,
    *,
    interpolation: str = "step",
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """Area under the precision-recall curve of every series of a batch; equals `tsadeval.metrics.auc_pr`.

    Parameters
    ----------
    preds, target, lengths, mask, validate
        As for `auc_roc`.
    interpolation : {"step", "trapezoid"}, default="step"
        How the area between two thresholds is counted; "step" is average precision.

    Returns
    -------
    Tensor of shape () or (series,)
        NaN, with an `UndefinedMetricWarning`, for a series without an anomalous point.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> tt.auc_pr(torch.tensor([0.1, 0.4, 0.4, 0.9, 0.2]), torch.tensor([0, 0, 1, 1, 0]))
    tensor(0.8333)
    """
    check_parameters("auc_pr", AUC_PR_CHECKS, {"interpolation": interpolation})
    batch = read(preds, target, lengths, mask, validate=validate)
    return finish("auc_pr", batch, apply(batch, lambda b: _auc_pr(b, interpolation)), NO_ANOMALY, validate)


def _best_f1(batch: Batch, beta: float) -> Tensor:
    ranked = RankedPoints(batch)
    weight = recall_weight(beta)
    values = (1 + weight) * ranked.found.double() / (weight * ranked.positives[ranked.row] + ranked.alarms)
    return ranked.largest(values).masked_fill(ranked.positives == 0, torch.nan)


def best_f1(
    preds: Tensor,
    target: Tensor,
    *,
    beta: float = 1.0,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """Compute the highest point-wise F over all thresholds of every series; equals `tsadeval.metrics.best_f1`.

    Parameters
    ----------
    preds, target, lengths, mask, validate
        As for `auc_roc`.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    Tensor of shape () or (series,)
        NaN, with an `UndefinedMetricWarning`, for a series without an anomalous point.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> tt.best_f1(torch.tensor([0.1, 0.5, 0.4, 0.9, 0.2]), torch.tensor([0, 0, 1, 1, 0]))
    tensor(0.8000)
    """
    check_parameters("best_f1", F_CHECKS, {"beta": beta})
    batch = read(preds, target, lengths, mask, validate=validate)
    return finish("best_f1", batch, apply(batch, lambda b: _best_f1(b, beta)), NO_ANOMALY, validate)


def _adjusted(batch: Batch) -> Batch:
    """Every point of an event gets the event's highest score: the alarms of these scores are adjusted ones."""
    events = events_of(batch.labels)
    places, owner = expand(events.starts, events.stops)
    rows = events.rows[owner]
    highest = batch.scores.new_full((len(events),), -torch.inf)
    highest.scatter_reduce_(0, owner, batch.scores[rows, places], "amax")
    scores = batch.scores.clone()
    scores[rows, places] = highest[owner]
    return batch.with_scores(scores)


def _f1_pa(batch: Batch, beta: float) -> Tensor:
    events = events_of(batch.labels)
    places, owner = expand(events.starts, events.stops)
    hit = sum_by(owner, batch.scores[events.rows[owner], places].long(), len(events)) > 0
    found = sum_by(events.rows, torch.where(hit, events.lengths, 0), len(batch.scores))
    false = (batch.scores & ~batch.labels).sum(1)
    weight = recall_weight(beta)
    positives = batch.labels.sum(1)
    value = (1 + weight) * found.double() / (weight * positives + found + false)
    return value.masked_fill(positives == 0, torch.nan)


def f1_pa(
    preds: Tensor,
    target: Tensor,
    *,
    threshold: Threshold = "best",
    beta: float = 1.0,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """F after point adjustment of every series of a batch; equals `tsadeval.metrics.f1_pa`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Scores of a floating dtype; or alarms, 0 or 1, of an integer or bool dtype.
    threshold : float, Tensor or "best", default="best"
        Scores above it are alarms: one number, or one for each series. "best" takes the threshold of the highest
        value for each series, found exactly. Not used where `preds` are alarms.
    beta : float, default=1.0
        Recall counts beta times as much as precision.
    target, lengths, mask, validate
        As for `auc_roc`.

    Returns
    -------
    Tensor of shape () or (series,)
        NaN, with an `UndefinedMetricWarning`, for a series without an anomalous point.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([1, 1, 1, 0, 0, 1])
    >>> tt.f1_pa(torch.tensor([False, True, False, False, True, False]), labels).item()
    0.75
    >>> tt.f1_pa(torch.tensor([0.1, 0.9, 0.2, 0.0, 0.7, 0.3]), labels, threshold=0.5)
    tensor(0.7500)
    >>> tt.f1_pa(torch.tensor([0.1, 0.9, 0.2, 0.0, 0.7, 0.3]), labels)
    tensor(0.8889)
    """
    check_parameters("f1_pa", F_CHECKS, {"beta": beta})
    batch, best = read_alarms(preds, target, threshold, lengths, mask, validate)
    values = apply(batch, lambda b: _best_f1(_adjusted(b), beta) if best else _f1_pa(b, beta))
    return finish("f1_pa", batch, values, NO_ANOMALY, validate)
