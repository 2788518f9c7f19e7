"""AUC-ROC, AUC-PR, best F1 and F1-PA of batches: one sort of every row, then sums over its groups of equal scores."""

from __future__ import annotations

import torch
from torch import Tensor

from tsadeval.core.parameters import AUC_PR_CHECKS, F_CHECKS, recall_weight
from tsadeval.torch._batch import NO_ANOMALY, ONE_CLASS, Batch, Threshold, sort_rows, tensor_metric
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


@tensor_metric(ONE_CLASS)
def auc_roc(batch: Batch) -> Tensor:
    """Area under the ROC curve of every series of a batch; equals `tsadeval.metrics.auc_roc`.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> scores = torch.tensor([[0.1, 0.4, 0.4, 0.9, 0.2], [0.9, 0.1, 0.3, 0.0, 0.0]])
    >>> labels = torch.tensor([[0, 0, 1, 1, 0], [1, 0, 0, 0, 0]])
    >>> tt.auc_roc(scores, labels, lengths=[5, 3])
    tensor([0.9167, 1.0000])
    """
    ranked = RankedPoints(batch)
    # Twice the normal points that score more than a point, ties counted by half: whole numbers, so the sum is exact.
    above = ranked.alarms - ranked.found + ranked.alarms_before - ranked.found_before
    pairs = 2 * ranked.positives * (batch.lengths - ranked.positives)
    return (pairs - ranked.over_found(above)).double() / pairs


@tensor_metric(NO_ANOMALY, AUC_PR_CHECKS)
def auc_pr(batch: Batch, *, interpolation: str = "step") -> Tensor:
    """Area under the precision-recall curve of every series of a batch; equals `tsadeval.metrics.auc_pr`.

    Parameters
    ----------
    interpolation : {"step", "trapezoid"}, default="step"
        How the area between two thresholds is counted; "step" is average precision.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> tt.auc_pr(torch.tensor([0.1, 0.4, 0.4, 0.9, 0.2]), torch.tensor([0, 0, 1, 1, 0]))
    tensor(0.8333)
    """
    ranked = RankedPoints(batch)
    precision = ranked.found.double() / ranked.alarms
    if interpolation == "trapezoid":
        before = torch.where(ranked.alarms_before > 0, ranked.found_before.double() / ranked.alarms_before, 1.0)
        precision = (precision + before) / 2
    return ranked.over_found(precision) / ranked.positives


@tensor_metric(NO_ANOMALY, F_CHECKS)
def best_f1(batch: Batch, *, beta: float = 1.0) -> Tensor:
    """Compute the highest point-wise F over all thresholds of every series; equals `tsadeval.metrics.best_f1`.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> tt.best_f1(torch.tensor([0.1, 0.5, 0.4, 0.9, 0.2]), torch.tensor([0, 0, 1, 1, 0]))
    tensor(0.8000)
    """
    ranked = RankedPoints(batch)
    weight = recall_weight(beta)
    values = (1 + weight) * ranked.found.double() / (weight * ranked.positives[ranked.row] + ranked.alarms)
    return ranked.largest(values).masked_fill(ranked.positives == 0, torch.nan)


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


@tensor_metric(NO_ANOMALY, F_CHECKS)
def f1_pa(batch: Batch, *, threshold: Threshold = "best", beta: float = 1.0) -> Tensor:
    """F after point adjustment of every series of a batch; equals `tsadeval.metrics.f1_pa`.

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
    if not batch.gives_alarms:
        best: Tensor = best_f1.judge(_adjusted(batch), beta=beta)
        return best
    events = events_of(batch.labels)
    places, owner = expand(events.starts, events.stops)
    hit = sum_by(owner, batch.scores[events.rows[owner], places].long(), len(events)) > 0
    found = sum_by(events.rows, torch.where(hit, events.lengths, 0), len(batch.scores))
    false = (batch.scores & ~batch.labels).sum(1)
    weight = recall_weight(beta)
    positives = batch.labels.sum(1)
    value = (1 + weight) * found.double() / (weight * positives + found + false)
    return value.masked_fill(positives == 0, torch.nan)
