"""Events of a batch, and searches and sums over ranges of points: all without a loop over points or series."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tsadeval.torch._batch import Batch, sort_rows


@dataclass(frozen=True, eq=False)
class EventList:
    """The runs of True of all rows, one after the other: (events,) tensors of int64."""

    rows: Tensor
    starts: Tensor
    stops: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lengths(self) -> Tensor:
        """Number of points of each event."""
        return self.stops - self.starts

    def following(self, values: Tensor, last: Tensor) -> Tensor:
        """The value of the next event of the same row; `last` (events,) where there is none."""
        if len(self) == 0:
            return last
        same = torch.zeros_like(self.rows, dtype=torch.bool)
        same[:-1] = self.rows[1:] == self.rows[:-1]
        return torch.where(same, values.roll(-1), last)

    def preceding(self, values: Tensor, first: Tensor) -> Tensor:
        """The value of the event before in the same row; `first` (events,) where there is none."""
        if len(self) == 0:
            return first
        same = torch.zeros_like(self.rows, dtype=torch.bool)
        same[1:] = self.rows[1:] == self.rows[:-1]
        return torch.where(same, values.roll(1), first)


def events_of(mask: Tensor) -> EventList:
    """The maximal runs of True in every row."""
    before = torch.zeros_like(mask)
    before[:, 1:] = mask[:, :-1]
    after = torch.zeros_like(mask)
    after[:, :-1] = mask[:, 1:]
    rows, starts = (mask & ~before).nonzero(as_tuple=True)
    _, last = (mask & ~after).nonzero(as_tuple=True)
    return EventList(rows, starts, last + 1)


def expand(begins: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
    """All positions of the ranges [begin, end), and the range each belongs to; empty where end <= begin."""
    counts = (ends - begins).clamp_min(0)
    owner = torch.repeat_interleave(counts)
    first = counts.cumsum(0) - counts
    return begins[owner] + torch.arange(len(owner), device=owner.device) - first[owner], owner


def sum_by(keys: Tensor, values: Tensor, size: int) -> Tensor:
    """The sum of the values of each key."""
    return torch.zeros(size, dtype=values.dtype, device=values.device).index_add_(0, keys, values)


def add_at(table: Tensor, rows: Tensor, columns: Tensor, values: Tensor) -> None:
    """Add values to entries of a table (rows, columns), several to one entry where they meet."""
    table.view(-1).index_add_(0, rows * table.shape[1] + columns, values)


class NextGreater:
    """Finds the next (or previous) entry that exceeds a bound, for many queries at once.

    `maxima[k][i]` is the largest of the 2^k entries from i on; a query skips such stretches, the longest first.
    """

    def __init__(self, values: Tensor, longest: int) -> None:
        self.maxima = [values]
        width = 1
        while 2 * width <= longest:
            last = self.maxima[-1]
            wider = last.clone()
            wider[:-width] = torch.maximum(last[:-width], last[width:])
            self.maxima.append(wider)
            width *= 2

    def after(self, begins: Tensor, ends: Tensor, bounds: Tensor) -> Tensor:
        """The first position in [begin, end) with a value above the bound; the end where there is none."""
        at = begins
        for k in reversed(range(len(self.maxima))):
            inside = at + (1 << k) <= ends
            low = self.maxima[k][torch.where(inside, at, 0)] <= bounds
            at = torch.where(inside & low, at + (1 << k), at)
        return at

    def before(self, begins: Tensor, ends: Tensor, bounds: Tensor) -> Tensor:
        """One past the last position in [begin, end) with a value above the bound; begin where there is none."""
        at = ends
        for k in reversed(range(len(self.maxima))):
            inside = at - (1 << k) >= begins
            low = self.maxima[k][torch.where(inside, at - (1 << k), 0)] <= bounds
            at = torch.where(inside & low, at - (1 << k), at)
        return at


# What VUS needs of a batch: thresholds and the level that each point reaches, and its distances to events.


@dataclass(frozen=True, eq=False)
class Levels:
    """Descending thresholds of every series, and the first of them that each point reaches."""

    of_point: Tensor  # (series, points), int64
    before: Tensor  # (series, levels), float64: alarms just before a level (between levels only others are added),
    alarms: Tensor  # and at it

    @property
    def count(self) -> int:
        """Number of levels."""
        return self.alarms.shape[1]


def sampled(batch: Batch, n_thresholds: int) -> Levels:
    """Thresholds at evenly spaced ranks; where scores tie, the same one several times, which adds no area."""
    ascending, _ = sort_rows(batch.filled(torch.inf), batch.labels)
    n = batch.lengths[:, None]
    number = n.clamp(2, n_thresholds)
    ranks = torch.arange(min(n_thresholds, max(2, ascending.shape[1])), device=n.device)
    step = (n - 1).double() / (number - 1)
    at = torch.where(ranks < number - 1, (ranks * step).long(), n - 1)
    thresholds = ascending.gather(1, (n - 1 - at).clamp_min(0))
    alarms = (n - torch.searchsorted(ascending, thresholds)).double()
    before = torch.cat([torch.zeros_like(alarms[:, :1]), alarms[:, :-1]], dim=1)
    del ascending
    rising = thresholds.flip(1).contiguous()
    reached = torch.searchsorted(rising, batch.scores, right=True, out_int32=True)
    of_point = (rising.shape[1] - reached.long()).clamp_max(rising.shape[1] - 1)
    return Levels(of_point, before, alarms)


def every_score(batch: Batch, zone: Tensor) -> Levels:
    """A level for every distinct score of the zone."""
    scores, order = batch.filled(-torch.inf).sort(dim=1, descending=True)
    zone = zone.gather(1, order)
    ends = torch.ones_like(zone)
    ends[:, :-1] = scores[:, 1:] != scores[:, :-1]
    columns = scores.shape[1]
    flat = ends.flatten().nonzero()[:, 0]
    row = flat // columns
    first = torch.ones_like(flat, dtype=torch.bool)
    first[1:] = row[1:] != row[:-1]
    counted = zone.flatten().cumsum(0)[flat]
    used = counted > torch.cat([counted.new_zeros(1), counted[:-1]])  # groups of equal scores with a point of the zone
    alarms = flat % columns + 1
    before = torch.where(first, 0, alarms.roll(1))
    kept, kept_row = used.cumsum(0) - 1, row[used]
    base = torch.searchsorted(kept_row, torch.arange(len(scores), device=row.device))
    level = torch.where(used, kept - base[row], 0)
    group = torch.cat([ends.flatten().new_zeros(1), ends.flatten()[:-1]]).cumsum(0)
    of_point = torch.zeros_like(order).scatter_(1, order, level[group].view(order.shape))
    count = int((level + 1).max())
    at = row[used], level[used]
    # Levels that a series lacks repeat its last one.
    alarm_table = torch.zeros((len(scores), count), dtype=torch.float64, device=row.device)
    before_table = alarm_table.clone()
    alarm_table[at] = alarms[used].double()
    before_table[at] = before[used].double()
    last = alarm_table.amax(1, keepdim=True)
    missing = alarm_table == 0
    return Levels(of_point, torch.where(missing, last, before_table), torch.where(missing, last, alarm_table))


@dataclass(frozen=True, eq=False)
class Zone:
    """Distances of all points to the nearest and second nearest event; 0 inside events, `far` where farther."""

    nearest: Tensor  # (series, points), int64
    second: Tensor
    far: int

    @classmethod
    def of(cls, batch: Batch, events: EventList, reach: int) -> Zone:
        """From the two events before and the two after each point."""
        labels = batch.labels
        far = reach + 1
        rows, columns = labels.shape
        begins = torch.zeros_like(labels)
        begins[events.rows, events.starts] = True
        # Events of all rows with two that are far away on either side of each row.
        passed = begins.flatten().cumsum(0).view(rows, columns)
        count = len(events)
        own = torch.arange(rows, device=labels.device)[:, None]
        position = torch.arange(columns, device=labels.device)
        distances = []
        for shift in (0, 1):
            earlier = passed - 1 - shift  # the event that began last, the one before it
            later = passed + shift
            for index, edges, back in ((earlier, events.stops - 1, True), (later, events.starts, False)):
                known = (index >= 0) & (index < count)
                index = index.clamp(0, max(count - 1, 0))
                known &= events.rows[index] == own
                away = position - edges[index] if back else edges[index] - position
                distances.append(torch.where(known, away, far).clamp_max(far))
        left, right, left2, right2 = distances
        nearest = torch.where(labels, 0, torch.minimum(left, right))
        second = torch.minimum(torch.maximum(left, right), torch.minimum(left2, right2))
        outside = ~batch.valid
        return cls(nearest.masked_fill(outside, far), torch.where(labels, far, second).masked_fill(outside, far), far)
