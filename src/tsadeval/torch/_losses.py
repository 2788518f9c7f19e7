"""Losses to train detectors with labelled events: the shortfall of CCE, and a surrogate of AUC that counts events."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from tsadeval.core.parameters import Check, Flag, Number, OneOf, check_parameters, refuse_unknown
from tsadeval.errors import InvalidInputError
from tsadeval.torch._batch import SWAPPED, as_rows, is_binary
from tsadeval.torch._cce import event_scores
from tsadeval.torch._segments import is_first, sum_by

POOL = OneOf(("batch", "series"))
NORMALIZE = 'scale="minmax" and scale=None are what normalize="minmax" and normalize=None are in the metric'
REDUCTION = OneOf(("mean", "sum", "none"))
CCE_CHECKS: dict[str, Check] = {
    "tau": Number(0, 1),
    "constrained": Flag(),
    "event_weight": Number(0, 1),
    "global_weight": Number(0, 1),
    "scale": OneOf(("sigmoid", "minmax", None)),
    "uncertainty": OneOf(("beta", "pointwise")),
    "gamma": Number(0, open_low=True),
    "pool": POOL,
    "reduction": REDUCTION,
}
AUC_CHECKS: dict[str, Check] = {
    "margin": Number(0, open_low=True),
    "buffer": Number(0, integer=True),
    "scale": OneOf(("minmax", None)),
    "pool": POOL,
    "reduction": REDUCTION,
}


@dataclass(frozen=True, eq=False)
class Points:
    """The points of a batch that count, one after the other, each with its pool and its run of equal labels."""

    scores: Tensor
    labels: Tensor  # bool
    near: Tensor  # bool: a normal point in the buffer of an event
    pools: Tensor  # the series, or 0 where the whole batch is one
    runs: Tensor
    run_pools: Tensor  # of every run
    run_labels: Tensor
    n_pools: int


def _points(
    preds: Tensor,
    target: Tensor,
    lengths: Tensor | Sequence[int] | None,
    mask: Tensor | None,
    pool: str,
    buffer: int = 0,
) -> Points:
    if not isinstance(preds, Tensor) or not preds.is_floating_point():
        what = preds.dtype if isinstance(preds, Tensor) else type(preds).__name__
        swapped = SWAPPED if isinstance(target, Tensor) and target.is_floating_point() else ""
        raise InvalidInputError(f"preds must be a tensor of a floating dtype, but is {what}{swapped}")
    preds, target, _, inside = as_rows(preds, target, lengths, None if mask is None else mask.bool())
    inside = torch.ones_like(preds, dtype=torch.bool) if inside is None else inside
    if target.dtype != torch.bool:
        wrong = (target != 0) & (target != 1) & inside
        if bool(wrong.any()):  # the number of points, below, is asked of the device anyway
            swapped = SWAPPED if is_binary(preds.detach()) else ""
            raise InvalidInputError(
                f"target must be 0 (normal) or 1 (anomalous), but is {target[wrong][0].item()!r} at {int(wrong.sum())} "
                f"of the points: events have no soft labels; leave points out with mask={swapped}"
            )
    marked = (target > 0.5) & inside
    row, column = inside.nonzero(as_tuple=True)
    labels = marked[row, column]
    near = torch.zeros_like(labels)
    if buffer > 0:
        reach = min(buffer, preds.shape[1])
        wide = functional.max_pool1d(marked.float()[:, None], 2 * reach + 1, stride=1, padding=reach)[:, 0]
        near = (wide > 0.5)[row, column] & ~labels
    begins = is_first(labels) | is_first(row)
    runs = begins.cumsum(0) - 1
    pools = row if pool == "series" else torch.zeros_like(row)
    n_pools = len(preds) if pool == "series" else 1
    scores = preds[row, column]
    if scores.dtype in (torch.float16, torch.bfloat16):
        scores = scores.float()
    return Points(scores, labels, near, pools, runs, pools[begins], labels[begins], n_pools)


def _on_unit_range(scores: Tensor, pools: Tensor, n_pools: int) -> Tensor:
    """Scores over the range of their pool; no gradient flows through its ends, which would pull at two points alone."""
    fixed = scores.detach()
    low = fixed.new_full((n_pools,), torch.inf).scatter_reduce(0, pools, fixed, "amin")
    high = fixed.new_full((n_pools,), -torch.inf).scatter_reduce(0, pools, fixed, "amax")
    width = torch.where(high > low, high - low, 1)
    return (scores - low[pools]) / width[pools]


class EventLoss(nn.Module):
    """The options of a loss: checked, shown, and one of them applied at the end to the loss of every pool."""

    buffer = 0

    def __init__(self, checks: dict[str, Check], **options: Any) -> None:
        super().__init__()
        check_parameters(type(self).__name__, checks, options)
        self.options = options
        self.scale, self.pool, self.reduction = (options[name] for name in ("scale", "pool", "reduction"))

    def of_pools(self, points: Points) -> Tensor:
        """Return the loss of each pool."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        """Show the options that differ from their defaults."""
        defaults = inspect.signature(type(self)).parameters
        differing = {k: v for k, v in self.options.items() if v != defaults[k].default}
        return ", ".join(f"{name}={value!r}" for name, value in differing.items())

    def forward(
        self,
        preds: Tensor,
        target: Tensor,
        *,
        lengths: Tensor | Sequence[int] | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss of a batch; `lengths` and `mask` say which points count, as for the metrics."""
        points = _points(preds, target, lengths, mask, self.pool, self.buffer)
        values = self.of_pools(points).to(points.scores.dtype)
        if self.reduction == "none":
            return values
        return values.sum() if self.reduction == "sum" else values.mean()


class CCELoss(EventLoss):
    """The distance of CCE from its best value: 0 for a perfect detector.

    CCE is a smooth function of scores on a fixed scale, so the loss is that function itself and no surrogate: of every
    event the mean (confidence) and the variance (consistency). What is missing in a pool (a batch or a window of normal
    points only, say) is left out, which is what makes it usable on windows.

    Parameters
    ----------
    scale : {"sigmoid", "minmax", None}, default="sigmoid"
        How `preds` become numbers in [0, 1]. "sigmoid": they are logits. None: they are probabilities already.
        "minmax": they are divided by the range of their pool, as the metric does; the ends of the range count as
        constants (no gradient flows through them).
    pool : {"batch", "series"}, default="batch"
        "batch" takes the windows of a batch as pieces of one series (events end at the end of a window); "series"
        works out the loss of each row by itself.
    reduction : {"mean", "sum", "none"}, default="mean"
        Over the pools.
    tau, constrained, event_weight, global_weight, uncertainty, gamma
        As for `tsadeval.cce`. Where `constrained`, events of the wrong side have no gradient: leave it off to train.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([[0, 0, 1, 1, 0]])
    >>> logits = torch.tensor([[-1.0, 0.0, 2.0, 1.0, -2.0]], requires_grad=True)
    >>> loss = tt.CCELoss()(logits, labels)
    >>> round(loss.item(), 4)
    0.4726
    >>> loss.backward()
    >>> logits.grad.sign()
    tensor([[ 1.,  1., -1., -1.,  1.]])
    """

    def __init__(
        self,
        *,
        scale: str | None = "sigmoid",
        pool: str = "batch",
        reduction: str = "mean",
        tau: float = 0.5,
        constrained: bool = False,
        event_weight: float = 0.5,
        global_weight: float = 0.5,
        uncertainty: str = "beta",
        gamma: float = 10.0,
        **unknown: Any,
    ) -> None:
        refuse_unknown("CCELoss()", CCE_CHECKS, unknown, {"normalize": NORMALIZE}, TypeError)
        super().__init__(
            CCE_CHECKS,
            scale=scale,
            pool=pool,
            reduction=reduction,
            tau=tau,
            constrained=constrained,
            event_weight=event_weight,
            global_weight=global_weight,
            uncertainty=uncertainty,
            gamma=gamma,
        )
        self.formula = tau, constrained, uncertainty, gamma
        self.weights = ((1 - event_weight, event_weight), (1 - global_weight, global_weight))

    def of_pools(self, points: Points) -> Tensor:
        """Sum what the classes and their events lack."""
        scores = points.scores
        if self.scale == "sigmoid":
            scores = scores.sigmoid()
        elif self.scale == "minmax":
            scores = _on_unit_range(scores, points.pools, points.n_pools)
        elif bool(((scores < 0) | (scores > 1)).any()):
            raise InvalidInputError(
                f"preds must be probabilities where scale=None, but reach from {float(scores.detach().min()):.4g} to "
                f'{float(scores.detach().max()):.4g}; of logits use scale="sigmoid"'
            )
        events = self._shortfall(scores, points.runs, points.run_labels)
        of_class = 2 * points.run_pools + points.run_labels
        size = 2 * points.n_pools
        number = sum_by(of_class, torch.ones_like(events), size)
        of_events = sum_by(of_class, events, size) / number.clamp_min(1)
        anomalous = torch.arange(size, device=scores.device) % 2 == 1
        pooled = self._shortfall(scores, 2 * points.pools + points.labels, anomalous)
        weights = scores.new_tensor(self.weights)
        lost = weights[0] * of_events.view(-1, 2) + weights[1] * pooled.view(-1, 2)
        lost = torch.where(number.view(-1, 2) > 0, lost, 0)
        return lost.sum(1)

    def _shortfall(self, scores: Tensor, groups: Tensor, anomalous: Tensor) -> Tensor:
        """Compute what the score of each group of points lacks to 1 - tau."""
        size = len(anomalous)
        count = sum_by(groups, torch.ones_like(scores), size).clamp_min(1)
        means = sum_by(groups, scores, size) / count
        away = scores - means[groups]
        variances = sum_by(groups, away * away, size) / count
        return 1 - self.formula[0] - event_scores(means, variances, anomalous, *self.formula)


class EventAUCLoss(EventLoss):
    """A surrogate of 1 - AUC-ROC in which every event counts the same, however long it is.

    The mean over pairs of an anomalous point i and a normal point j of max(0, margin - (s_i - s_j))^2 / margin^2, where
    the pairs of one event have the weight of the pairs of any other. This squared hinge is consistent with AUC (its
    minimum has the highest AUC), which the hinge is not. All pairs count, at the price of a sort: for every
    anomalous point the normal ones above s_i - margin are a range of the sorted scores, whose number, sum and sum of
    squares give the sum over the pairs.

    Parameters
    ----------
    margin : float, default=1.0
        Pairs whose scores are at least so far apart cost nothing. In units of `preds`, or of their range with
        `scale="minmax"`.
    buffer : int, default=0
        So many normal points before and after each event take no part: there VUS, PATE and affiliation credit alarms.
    scale : {"minmax", None}, default=None
        None takes `preds` as they are, logits say. "minmax" divides by the range of the pool, whose ends count as
        constants: scores cannot be pushed apart by making all of them larger.
    pool : {"batch", "series"}, default="batch"
        Whether pairs are formed in the whole batch or in each row.
    reduction : {"mean", "sum", "none"}, default="mean"
        Over the pools. A pool with one class only has no pairs and costs 0.

    References
    ----------
    Gao and Zhou, On the consistency of AUC pairwise optimization, IJCAI 2015. Rust and Hocking, A log-linear gradient
    descent algorithm for unbalanced binary classification using the all pairs squared hinge loss, 2023.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([[0, 0, 1, 1, 0]])
    >>> logits = torch.tensor([[-1.0, 0.5, 2.0, 1.0, -2.0]], requires_grad=True)
    >>> loss = tt.EventAUCLoss()(logits, labels)
    >>> round(loss.item(), 4)  # of the six pairs one is closer than 1, by 0.5
    0.0417
    >>> loss.backward()
    >>> logits.grad.sign()
    tensor([[ 0.,  1.,  0., -1.,  0.]])
    """

    def __init__(
        self,
        *,
        margin: float = 1.0,
        buffer: int = 0,
        scale: str | None = None,
        pool: str = "batch",
        reduction: str = "mean",
    ) -> None:
        super().__init__(AUC_CHECKS, margin=margin, buffer=buffer, scale=scale, pool=pool, reduction=reduction)
        self.margin, self.buffer = margin, buffer

    def of_pools(self, points: Points) -> Tensor:
        """Compute the mean of the pairs of every pool, by ranges of the sorted scores."""
        scores = points.scores.double()  # differences of cumulative sums would lose digits in float32
        if self.scale == "minmax":
            scores = _on_unit_range(scores, points.pools, points.n_pools)
        normal = ~points.labels & ~points.near
        anomalous, others = scores[points.labels], scores[normal]
        pool, other_pool = points.pools[points.labels], points.pools[normal]
        order, begin = _ranges(others.detach(), other_pool, anomalous.detach() - self.margin, pool)
        others, other_pool = others[order], other_pool[order]
        number = sum_by(other_pool, torch.ones_like(others), points.n_pools)
        end = number.long().cumsum(0)[pool]
        # About the mean of the pool's normal scores, so that squares stay small.
        center = sum_by(other_pool, others.detach(), points.n_pools) / number.clamp_min(1)
        limit = anomalous - self.margin - center[pool]
        others = others - center[other_pool]
        sums, squares = (torch.cat([x.new_zeros(1), x.cumsum(0)]) for x in (others, others.square()))
        count = (end - begin).double()
        lost = count * limit.square() - 2 * limit * (sums[end] - sums[begin]) + squares[end] - squares[begin]
        per_pool = sum_by(pool, self._weights(points) * lost, points.n_pools)
        return per_pool / number.clamp_min(1) / self.margin**2

    def _weights(self, points: Points) -> Tensor:
        """Of every anomalous point: 1 over the number of events of its pool and of points of its event."""
        ones = torch.ones_like(points.run_pools, dtype=torch.float64)
        events = sum_by(points.run_pools, ones * points.run_labels, points.n_pools)
        length = sum_by(points.runs, torch.ones_like(points.runs, dtype=torch.float64), len(ones))
        return 1 / (events[points.pools] * length[points.runs])[points.labels]


def _ranges(others: Tensor, other_pool: Tensor, limits: Tensor, pool: Tensor) -> tuple[Tensor, Tensor]:
    """Order the others by pool and score; find for every limit the first place there that is above it."""
    values, pools = torch.cat([others, limits]), torch.cat([other_pool, pool])
    order = values.argsort()
    order = order[pools[order].argsort(stable=True)]
    is_other = order < len(others)
    passed = is_other.cumsum(0)
    begin = torch.empty_like(pool)
    begin[order[~is_other] - len(others)] = passed[~is_other]
    return order[is_other], begin
