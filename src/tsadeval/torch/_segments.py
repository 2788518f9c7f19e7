"""Events of a batch, and searches and sums over ranges of points: all without a loop over points or series."""

from dataclasses import dataclass
from typing import NamedTuple, Self

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
        """Return the value of the next event of the same row; `last` (events,) where there is none."""
        return torch.where(is_last(self.rows), last, values.roll(-1))

    def preceding(self, values: Tensor, first: Tensor) -> Tensor:
        """Return the value of the event before in the same row; `first` (events,) where there is none."""
        return torch.where(is_first(self.rows), first, values.roll(1))


def events_of(mask: Tensor) -> EventList:
    """Find the maximal runs of True in every row."""
    rows, starts = (mask & is_first(mask)).nonzero(as_tuple=True)
    _, last = (mask & is_last(mask)).nonzero(as_tuple=True)
    return EventList(rows, starts, last + 1)


def is_first(values: Tensor) -> Tensor:
    """Return where entries differ from the one before them in their row; a row's first entry always does."""
    first = torch.ones_like(values, dtype=torch.bool)
    first[..., 1:] = values[..., 1:] != values[..., :-1]
    return first


def is_last(values: Tensor) -> Tensor:
    """Return where entries differ from the one after them in their row; a row's last entry always does."""
    return is_first(values).roll(-1, -1)


def cumulate_from(values: Tensor, start: Tensor) -> Tensor:
    """Cumulative sums, of which what stands before each entry's `start` is taken off."""
    total = values.cumsum(0)
    return total - torch.cat([total.new_zeros(1), total])[start]


def expand(begins: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
    """All positions of the ranges [begin, end), and the range each belongs to; empty where end <= begin."""
    counts = (ends - begins).clamp_min(0)
    owner = torch.repeat_interleave(counts)
    first = counts.cumsum(0) - counts
    return begins[owner] + torch.arange(len(owner), device=owner.device) - first[owner], owner


def sum_by(keys: Tensor, values: Tensor, size: int) -> Tensor:
    """Sum the values of each key."""
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
        """Find the first position in [begin, end) with a value above the bound; the end where there is none."""
        return self._skip(begins, ends, bounds, 1)

    def before(self, begins: Tensor, ends: Tensor, bounds: Tensor) -> Tensor:
        """One past the last position in [begin, end) with a value above the bound; begin where there is none."""
        return self._skip(ends, begins, bounds, -1)

    def _skip(self, at: Tensor, limits: Tensor, bounds: Tensor, way: int) -> Tensor:
        """Go on, or back where `way` is -1, over entries that are not above the bound, at most up to the limit."""
        for k in reversed(range(len(self.maxima))):
            step = way << k
            inside = way * (limits - at) >= 1 << k
            low = self.maxima[k][torch.where(inside, at + min(step, 0), 0)] <= bounds
            at = torch.where(inside & low, at + step, at)
        return at


class ScoreGroups(NamedTuple):
    """Groups of equal scores of sorted rows, all flat, row after row."""

    of_point: Tensor  # the number of the group of every point
    row: Tensor  # of every group: its row,
    last: Tensor  # the place of its last point,
    up_to: Tensor  # the points of its row up to that one,
    before: Tensor  # and those before the group


def group_scores(ordered: Tensor) -> ScoreGroups:
    """Find the groups of equal scores in rows that are sorted."""
    columns = ordered.shape[1]
    first = is_first(ordered).flatten()
    last = first.roll(-1).nonzero()[:, 0]
    row, up_to = last // columns, last % columns + 1
    before = torch.where(is_first(row), 0, up_to.roll(1))
    return ScoreGroups(first.cumsum(0) - 1, row, last, up_to, before)


# What VUS needs of a batch: thresholds and the level that each point reaches, and its distances to events.


@dataclass(frozen=True, eq=False)
class AlarmLevels:
    """Descending thresholds of every series, and the first of them that each point reaches."""

    of_point: Tensor  # (series, points), int64
    before: Tensor  # (series, levels), float64: alarms just before a level (between levels only others are added),
    alarms: Tensor  # and at it

    @property
    def count(self) -> int:
        """Number of levels."""
        return self.alarms.shape[1]


def sampled(batch: Batch, n_thresholds: int) -> AlarmLevels:
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
    return AlarmLevels(of_point, before, alarms)


def every_score(batch: Batch, zone: Tensor) -> AlarmLevels:
    """Make a level for every distinct score of the zone."""
    scores, order = batch.filled(-torch.inf).sort(dim=1, descending=True)
    groups = group_scores(scores)
    counted = zone.gather(1, order).flatten().cumsum(0)[groups.last]
    used = counted.diff(prepend=counted.new_zeros(1)) > 0  # groups with a point of the zone
    row = groups.row[used]
    base = torch.searchsorted(row, torch.arange(len(scores), device=row.device))
    level = torch.where(used, used.cumsum(0) - 1 - base[groups.row], 0)
    of_point = torch.zeros_like(order).scatter_(1, order, level[groups.of_point].view(order.shape))
    alarms = torch.zeros((len(scores), int(level.max()) + 1), dtype=torch.float64, device=row.device)
    before = alarms.clone()
    alarms[row, level[used]] = groups.up_to[used].double()
    before[row, level[used]] = groups.before[used].double()
    # Levels that a series lacks repeat its last one.
    last = alarms.amax(1, keepdim=True)
    missing = alarms == 0
    return AlarmLevels(of_point, torch.where(missing, last, before), torch.where(missing, last, alarms))


@dataclass(frozen=True, eq=False)
class Zone:
    """Distances of all points to the nearest and second nearest event; 0 inside events, `far` where farther."""

    nearest: Tensor  # (series, points), int64
    second: Tensor
    far: int

    @classmethod
    def of(cls, batch: Batch, events: EventList, reach: int) -> Self:
        """From the two events before and the two after each point."""
        labels = batch.labels
        far = reach + 1
        rows, columns = labels.shape
        passed = (labels & is_first(labels)).flatten().cumsum(0).view(rows, columns)  # events begun, of all rows
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
