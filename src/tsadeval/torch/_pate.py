"""PATE of batches: weights of hits around events and of misses in them at every threshold, and the curve's area.

Level j is the j-th highest threshold. The bin of a point is the number of thresholds above its score, so the point is
predicted at level j exactly when its bin is at most j.
"""

import torch
from torch import Tensor

from tsadeval.core.parameters import PATE_CHECKS, pate_buffers
from tsadeval.torch._batch import ONE_CLASS, Batch, sort_rows, tensor_metric
from tsadeval.torch._segments import EventList, NextGreater, add_at, cumulate_from, events_of, expand, is_first, is_last

SAME = 1e-12  # recalls this near are equal: what separates them is rounding, and a recall that falls back drops a point


def _kept(ascending: Tensor, labels: Tensor, lengths: Tensor, drop: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Flat list of the places where kept distinct scores first stand in their row; of every row its number and base."""
    rows, columns = ascending.shape
    first = is_first(ascending) & (torch.arange(columns, device=labels.device) < lengths[:, None])
    row, start = first.nonzero(as_tuple=True)
    new_row = is_first(row)
    if drop:
        last_of_row = new_row.roll(-1)
        stop = torch.where(last_of_row, lengths[row], start.roll(-1))
        found = torch.cat([torch.zeros(1, dtype=torch.int64, device=row.device), labels.flatten().cumsum(0)])
        anomalous = found[row * columns + stop] > found[row * columns + start]
        # Elsewhere, the number of anomalous points at or above a threshold does not change.
        kept = new_row | last_of_row | anomalous | (anomalous.roll(1) & ~new_row)
        row, start = row[kept], start[kept]
    number = torch.bincount(row, minlength=rows)
    return start, number, number.cumsum(0) - number


def _first_alarms(ascending: Tensor, labels: Tensor, lengths: Tensor, n_thresholds: int | None, drop: bool) -> Tensor:
    """(series, levels): where the first score that reaches each descending threshold stands in the sorted scores."""
    kept, number, base = _kept(ascending, labels, lengths, drop)
    number, base = number[:, None], base[:, None]
    if n_thresholds is None:
        at = torch.arange(int(number.max()), device=kept.device)
        return kept[base + (number - 1 - at).clamp_min(0)]
    # Percentiles, position by position in whole numbers, so that one that falls on a kept score is that score.
    place = (number - 1) * torch.arange(n_thresholds, device=kept.device)
    below, part = place // (n_thresholds - 1), place % (n_thresholds - 1)
    positions = kept[base + below]
    ascending = ascending.double()
    extreme = torch.maximum(-ascending[:, :1], ascending.gather(1, (lengths[:, None] - 1).clamp_min(0)))
    # So near to the smallest number, sums and products are not exact enough.
    ascending = torch.where(extreme < 1e-200, ascending * 2.0**600, ascending)
    low = ascending.gather(1, positions)
    high = ascending.gather(1, kept[base + torch.minimum(below + 1, number - 1)])
    share = part.double() / (n_thresholds - 1)
    thresholds = low * (1 - share) + high * share
    # A score that lies below a threshold by no more than rounding reaches it; the kept score below never does.
    rounding = 1e-15 * torch.maximum(low.abs(), high.abs())
    reached = torch.searchsorted(ascending, thresholds - rounding)
    beyond = torch.searchsorted(ascending, low, right=True)
    positions = torch.where(part > 0, torch.maximum(reached, beyond), positions)
    return positions.cummax(1).values.flip(1)


def _misses(bins: Tensor, events: EventList, rows: int, levels: int) -> tuple[Tensor, Tensor, Tensor]:
    """(series, levels): predicted event points and weight of the missed ones; and the first level of every event."""
    places, owner = expand(events.starts, events.stops)
    size = levels + 1
    of_point = bins[events.rows[owner], places]
    first_level = torch.full_like(events.rows, levels).scatter_reduce_(0, owner, of_point, "amin")
    keys, order = (owner * size + of_point).sort(stable=True)
    owner = owner[order]
    level = keys - owner * size
    base = events.lengths.cumsum(0) - events.lengths  # of the points of each event in the list
    number = torch.arange(len(keys), device=keys.device)
    offset = order - base[owner]
    # Cumulated within each event: what the events before have is taken off.
    hits = number - base[owner] + 1
    sums = cumulate_from(offset, base[owner])
    ends = is_last(keys)
    owner, level, hits, sums = (x[ends] for x in (owner, level, hits, sums))
    length, base = events.lengths[owner], base[owner]
    # The first predicted point, and the first after it that is not.
    longest = int(events.lengths.max())
    begin = NextGreater(-of_point.int(), longest).after(base, base + length, -1 - level.int())
    run = NextGreater(of_point.int(), longest).after(begin, base + length, level.int()) - begin
    first = begin - base
    lacking = _forgiven(length, first, run, length - hits, length * (length - 1) // 2 - sums)
    new_event = is_first(owner)
    change = lacking - torch.where(new_event, 0, lacking.roll(1))
    row = events.rows[owner]
    forgiven = torch.zeros(rows, levels, dtype=torch.float64, device=keys.device)
    add_at(forgiven, row, level, change)
    found = torch.zeros(rows, levels, dtype=torch.int64, device=keys.device)
    gained = hits - torch.where(new_event, 0, hits.roll(1))
    add_at(found, row, level, gained)
    found = found.cumsum(1)
    missing = found[:, -1:] - found
    # Exactly 0 where nothing is missed: recall is then exactly 1.
    return found, torch.where(missing > 0, missing - forgiven.cumsum(1), 0), first_level


def _forgiven(length: Tensor, first: Tensor, run: Tensor, missed: Tensor, offsets: Tensor) -> Tensor:
    """Compute what the weights of an event's missed points lack to 1 each; see the kernel of the same name."""
    start = first == 0
    short = ~start & (run < first - 1)
    before = first * (first - 1) // 2
    count = torch.where(start, missed - 1, missed - first) + torch.where(short, first - 1 - run, 0)
    total = torch.where(start, offsets - run, offsets - before)
    total = total + torch.where(short, before - run * (run + 1) // 2, 0)
    value = (run + 1).double() * (total - run * count.double() / 2) / (length * (length - 1)).clamp_min(1) * 2
    return torch.where(missed == 0, 0, value)


def _hits(
    bins: Tensor, lengths: Tensor, events: EventList, first_level: Tensor, found: Tensor, early: int, delay: int
) -> Tensor:
    """(series, levels): the weight of the predicted points: event points, and those in the zones of these sizes."""
    end = torch.minimum(events.stops + delay, events.following(events.starts, lengths[events.rows]))
    begin = torch.maximum(events.starts - early, events.preceding(end, torch.zeros_like(end)))
    middle = events.starts + events.stops - 1  # twice
    weights = torch.zeros(found.shape, dtype=torch.float64, device=found.device)
    # Before the event; it counts from the level that detects the event.
    at, owner = expand(begin + 1, events.starts)
    rate = 2.0 / (middle - 2 * begin)[owner].double()
    level = torch.maximum(bins[events.rows[owner], at], first_level[owner])
    add_at(weights, events.rows[owner], level, (at - begin[owner]) * rate)
    # After it; whether or not the event is detected.
    at, owner = expand(events.stops, end - 1)
    rate = 2.0 / (2 * (end - 1) - middle)[owner].double()
    add_at(weights, events.rows[owner], bins[events.rows[owner], at], (end[owner] - 1 - at) * rate)
    return found + weights.cumsum(1)


def _area(hit: Tensor, missed: Tensor, alarms: Tensor) -> Tensor:
    """Under precision against recall from (0, 1), without the points at which recall falls back."""
    recall, precision = hit / (hit + missed), hit / alarms
    highest = torch.cat([torch.zeros_like(recall[:, :1]), recall], dim=1).cummax(1).values
    kept = recall >= highest[:, :-1] - SAME
    last = torch.where(kept, torch.arange(1, recall.shape[1] + 1, device=hit.device), 0).cummax(1).values
    precision = torch.cat([torch.ones_like(precision[:, :1]), precision], dim=1)
    before = torch.cat([torch.zeros_like(last[:, :1]), last[:, :-1]], dim=1)
    steps = highest.diff(dim=1) * (precision[:, 1:] + precision.gather(1, before)) / 2
    return torch.where(kept, steps, 0).sum(1)


@tensor_metric(ONE_CLASS, PATE_CHECKS, per_row=lambda batch, *, n_thresholds, **_: n_thresholds or 1)
def pate(
    batch: Batch,
    *,
    early: int = 100,
    delay: int = 100,
    n_splits: int = 1,
    include_zero: bool = True,
    n_thresholds: int | None = 250,
    drop_intermediate: bool = True,
) -> Tensor:
    """PATE of every series of a batch; equals `tsadeval.metrics.pate`.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 0, 1, 1, 1, 0, 0, 0])
    >>> tt.pate(torch.tensor([0, 0, 0, 0, 0, 1.0, 1, 1, 0, 0]), labels, early=2, delay=2)
    tensor(0.7554)
    """
    rows = len(batch.scores)
    positives = batch.labels.sum(1)
    undefined = (positives == 0) | (positives == batch.lengths)
    events = events_of(batch.labels)
    total = torch.zeros(rows, dtype=torch.float64, device=batch.scores.device)
    if len(events) == 0:
        return total.fill_(torch.nan)
    ascending, labels = sort_rows(batch.filled(torch.inf), batch.labels)
    lengths = batch.lengths.clamp_min(1)  # a series without points is undefined anyway
    first = _first_alarms(ascending, labels, lengths, n_thresholds, drop_intermediate)
    alarms = lengths[:, None] - first
    rising = ascending.gather(1, first).flip(1).contiguous()
    reached = torch.searchsorted(rising, batch.scores, right=True)
    levels = first.shape[1]
    bins = (levels - reached).clamp_max(levels - 1)
    del ascending, labels, reached
    found, missed, first_level = _misses(bins, events, rows, levels)
    for *sizes, weight in pate_buffers(batch.scores.shape[1], early, delay, n_splits, include_zero):
        hit = _hits(bins, batch.lengths, events, first_level, found, *sizes)
        total += weight * _area(hit, missed, alarms)
    return total.masked_fill(undefined, torch.nan)
