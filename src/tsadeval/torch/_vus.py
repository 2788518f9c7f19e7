"""Range-AUC at many buffer widths: VUS-ROC and VUS-PR of batches.

Buffer points are counted by distance and threshold, so that the weight of the alarms at all widths is one small matrix
product; what grows with the buffers (events that merge, points that two buffers cover) is followed from one buffer
length to the next for all series at once.
"""

from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from tsadeval.core.parameters import VUS_TENSOR_CHECKS, VUS_VARIANTS, VUSVariant
from tsadeval.torch._batch import ONE_CLASS, Batch, room, tensor_metric
from tsadeval.torch._segments import AlarmLevels, EventList, Zone, add_at, events_of, every_score, expand, sampled


class WideningEvents:
    """Events with their buffers, which widen: the first level that reaches each, for all series at once."""

    def __init__(self, batch: Batch, events: EventList, levels: AlarmLevels, merging: int) -> None:
        self.events, self.levels, self.merging, self.half = events, levels, merging, 0
        self.last = batch.lengths[events.rows] - 1
        self.rows = len(batch.scores)
        # No other event before: a gap that no buffer fills.
        none = torch.full_like(events.starts, 1 << 40)
        self.gap = events.starts - events.preceding(events.stops, -none) + 1
        self.best = torch.full((len(events),), levels.count, device=events.rows.device)
        places, owner = expand(events.starts, events.stops)
        self.best.scatter_reduce_(0, owner, levels.of_point[events.rows[owner], places], "amin")

    def widen(self) -> None:
        """One more point on both sides of every event."""
        self.half += 1
        events, of_point = self.events, self.levels.of_point
        left = of_point[events.rows, (events.starts - self.half).clamp_min(0)]
        right = of_point[events.rows, torch.minimum(events.stops - 1 + self.half, self.last)]
        self.best = torch.minimum(self.best, torch.minimum(left, right))

    def found(self) -> Tensor:
        """(series, levels): the share of groups of merged events with a predicted point."""
        count = self.levels.count
        table = torch.zeros(self.rows, count + 1, dtype=torch.float64, device=self.best.device)
        apart = self.gap > (2 * self.half + self.merging if self.merging >= 0 else -1)
        group = apart.cumsum(0) - 1
        # Places of groups that do not exist go to a level beyond the last.
        best = torch.full_like(self.best, count).scatter_reduce_(0, group, self.best, "amin")
        row = torch.zeros_like(group).scatter_(0, group, self.events.rows)
        add_at(table, row, best, torch.ones_like(best, dtype=torch.float64))
        reached = table[:, :count].cumsum(1)
        return reached / reached[:, -1:]


def _weights(widths: Tensor, largest: int, root: bool) -> Tensor:
    """(widths, distances up to `largest`): the weights of buffer points; events are no buffer."""
    distance = torch.arange(largest + 1, dtype=torch.float64, device=widths.device)
    width, half = widths[:, None].double(), (widths // 2)[:, None]
    if root:
        weight = (1 - distance / width.clamp_min(1)).clamp_min(0).sqrt()
    else:
        weight = 1 - (1 - 0.5**0.5) * distance / half.clamp_min(1)
    return weight.masked_fill((distance > half) | (distance == 0), 0)


def _areas(
    inside: Tensor, buffered: Tensor, share: Tensor, levels: AlarmLevels, n: Tensor, variant: VUSVariant
) -> tuple[Tensor, Tensor]:
    """Areas under the ROC and PR curves: (series, widths) from (series, widths, levels).

    Between two levels recall is constant while alarms outside the zone are added: a rectangle, then a trapezoid.
    """
    before, alarms = levels.before[:, None], levels.alarms[:, None]
    n = n.double()[:, None, None]
    inside = inside[:, None]
    if variant.once:
        fixed = inside[..., -1:] + buffered[..., -1:] / 2
        positives = fixed.expand_as(buffered)
    else:
        fixed = inside[..., -1:]
        positives = fixed + buffered / 2
    per_normal = 1 / (n - positives)
    hit = buffered + inside
    recall = (hit / positives).clamp_max(1) * share
    ends = (alarms - hit) * per_normal
    roc = (ends[..., 0] - before[..., 0] / (n - fixed)[..., 0]) * recall[..., 0] / 2
    flat = (before[..., 1:] - alarms[..., :-1]) * per_normal[..., :-1] * recall[..., :-1]
    width = ends[..., 1:] - (before[..., 1:] - hit[..., :-1]) * per_normal[..., :-1]
    roc = roc + (flat + width * (recall[..., 1:] + recall[..., :-1]) / 2).sum(-1)
    last = per_normal[..., -1], recall[..., -1]
    roc = roc + (n[..., 0] - alarms[..., -1]) * last[0] * last[1]
    roc = roc + (1 - (n[..., 0] - hit[..., -1]) * last[0]) * (last[1] + 1) / 2
    precision = hit / alarms
    gained = recall[..., 1:] - recall[..., :-1]
    if variant.trapezoid:
        start = (before[..., 0] == 0).double()
        earlier = torch.where(before[..., 1:] > 0, hit[..., :-1] / before[..., 1:], 0)
        pr = recall[..., 0] * (precision[..., 0] + start) / 2 + (gained * (precision[..., 1:] + earlier)).sum(-1) / 2
    else:
        pr = recall[..., 0] * precision[..., 0] + (gained * precision[..., 1:]).sum(-1)
    return roc, pr


class Counted:
    """Buffer weight of the alarms at every level, from counts by distance and level."""

    def __init__(self, levels: AlarmLevels, zone: Zone, variant: VUSVariant) -> None:
        rows, count = levels.alarms.shape
        self.row, column = ((zone.nearest > 0) & (zone.nearest < zone.far)).nonzero(as_tuple=True)
        self.near, self.level = zone.nearest[self.row, column], levels.of_point[self.row, column]
        shape = rows, zone.far, count
        keys = (self.row * zone.far + self.near) * count + self.level
        self.table = torch.bincount(keys, minlength=rows * zone.far * count).double().view(shape)
        self.full = torch.zeros(rows, count, dtype=torch.float64, device=keys.device)
        self.borders = [0] * (zone.far + 1)
        if variant.adding:
            # Points in the order in which a second event covers them: two buffers always add up to 1.
            second, order = zone.second[self.row, column].sort()
            self.row, self.near, self.level = self.row[order], self.near[order], self.level[order]
            limits = torch.arange(1, zone.far + 1, device=keys.device)
            self.borders = [0, *torch.searchsorted(second, limits).tolist()]

    def at(self, half: int, slopes: Tensor) -> Tensor:
        """(series, widths, levels) for the weights by distance of the widths of this half; halves must ascend."""
        half = min(half, self.table.shape[1] - 1)
        begin, end = self.borders[half], self.borders[half + 1]
        if begin < end:
            row, near, level = (x[begin:end] for x in (self.row, self.near, self.level))
            one = torch.ones_like(row, dtype=torch.float64)
            add_at(self.table.view(-1, self.full.shape[1]), row * self.table.shape[1] + near, level, -one)
            add_at(self.full, row, level, one)
            self.borders[half] = end
        weight = slopes[:, 1 : half + 1] @ self.table[:, 1 : half + 1] + self.full[:, None]
        return weight.cumsum(2)


class Single:
    """The same from single points, for many levels."""

    def __init__(self, levels: AlarmLevels, zone: Zone, variant: VUSVariant) -> None:
        self.levels, self.zone = levels, zone
        self.second = zone.second if variant.adding else torch.full_like(zone.second, zone.far)
        self.buffer = zone.nearest > 0

    def at(self, half: int, slopes: Tensor) -> Tensor:
        """As `Counted.at`."""
        found = []
        for slope in slopes:
            weight = torch.cat([slope, slope.new_zeros(1)])[self.zone.nearest]
            weight = torch.where((self.second <= half) & self.buffer & (self.second < self.zone.far), 1.0, weight)
            table = torch.zeros_like(self.levels.alarms).scatter_add_(1, self.levels.of_point, weight)
            found.append(table.cumsum(1))
        return torch.stack(found, dim=1)


def _per_row(batch: Batch, *, window: int, n_thresholds: int | None, variant: str) -> int:
    columns = batch.scores.shape[1]
    return 1 if n_thresholds is None else min(n_thresholds, columns) * (min(window, columns) + 1)


@tensor_metric(ONE_CLASS, VUS_TENSOR_CHECKS, equals="vus_roc", per_row=_per_row)
def vus(batch: Batch, *, window: int = 100, n_thresholds: int | None = 250, variant: str = "vus") -> Tensor:
    """VUS-ROC and VUS-PR together, in the time of one of them: a tensor of shape (2,) or (2, series).

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 1, 1, 0, 0, 0, 0, 0])
    >>> scores = torch.tensor([0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2])
    >>> tt.vus(scores, labels, window=2)
    tensor([0.9241, 0.8396])
    """
    how = VUS_VARIANTS[variant]
    rows, columns = batch.scores.shape
    device = batch.scores.device
    events = events_of(batch.labels)
    if len(events) == 0:
        return torch.full((2, rows), torch.nan, dtype=torch.float64, device=device)
    widths, repeats = how.widths(2 * window, volume=True)
    zone = Zone.of(batch, events, min(window, columns - 1))
    levels = every_score(batch, zone.nearest < zone.far) if n_thresholds is None else sampled(batch, n_thresholds)
    slopes = _weights(torch.from_numpy(widths).to(device), zone.far - 1, how.root)
    times = torch.from_numpy(repeats).double().to(device)
    inside = torch.zeros_like(levels.alarms)
    row, column = batch.labels.nonzero(as_tuple=True)
    add_at(inside, row, levels.of_point[row, column], torch.ones_like(row, dtype=torch.float64))
    inside = inside.cumsum(1)
    groups = WideningEvents(batch, events, levels, how.merging)
    buffers = (Single if n_thresholds is None else Counted)(levels, zone, how)
    total = torch.zeros((2, rows), dtype=torch.float64, device=device)
    most = max(1, room(device) // (rows * levels.count))  # widths whose curves are worked out together
    weights: list[Tensor] = []
    shares: list[Tensor] = []
    done = at = 0
    for half, alike in groupby((widths // 2).tolist()):
        count = len(list(alike))
        if half > 0:
            groups.widen()
        weights.append(buffers.at(half, slopes[at : at + count]))
        shares += [groups.found()[:, None]] * count
        at += count
        if at - done >= most or at == len(widths):
            areas = _areas(inside, torch.cat(weights, 1), torch.cat(shares, 1), levels, batch.lengths, how)
            total += torch.stack([area @ times[done:at] for area in areas])
            weights, shares, done = [], [], at
    positives = batch.labels.sum(1)
    undefined = (positives == 0) | (positives == batch.lengths)
    return (total / times.sum()).masked_fill(undefined, torch.nan)


@tensor_metric(ONE_CLASS, VUS_TENSOR_CHECKS, like=vus.judge, per_row=_per_row)
def vus_roc(batch: Batch, **options: Any) -> Tensor:
    """Volume under the ROC surface of every series of a batch; equals `tsadeval.metrics.vus_roc`.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 1, 1, 0, 0, 0, 0, 0])
    >>> scores = torch.tensor([0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2])
    >>> tt.vus_roc(scores, labels, window=2)
    tensor(0.9241)
    """
    both: Tensor = vus.judge(batch, **options)
    return both[0]


@tensor_metric(ONE_CLASS, VUS_TENSOR_CHECKS, like=vus.judge, per_row=_per_row)
def vus_pr(batch: Batch, **options: Any) -> Tensor:
    """Volume under the precision-recall surface of every series of a batch; equals `tsadeval.metrics.vus_pr`.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 1, 1, 0, 0, 0, 0, 0])
    >>> scores = torch.tensor([0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2])
    >>> tt.vus_pr(scores, labels, window=2)
    tensor(0.8396)
    """
    both: Tensor = vus.judge(batch, **options)
    return both[1]
