"""Affiliation of batches: zones around events, alarms cut at their borders, and what each piece and gap costs.

As in the CPU kernel all is whole numbers until the last division: lengths count in halves of a point, integrals in
fixed fractions, since borders of zones are multiples of 1/2 and the places where integrands bend of 1/4.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import torch
from torch import Tensor

from tsadeval.core.parameters import F_CHECKS
from tsadeval.errors import InvalidParameterError
from tsadeval.torch._batch import NO_ANOMALY, Batch, Threshold, f_beta, tensor_metric
from tsadeval.torch._segments import NextGreater, cumulate_from, events_of, expand, is_first, is_last, sum_by

NO_ALARM = "a series has no anomalous point or no alarm"
FIXED = float(1 << 40)  # precision and recall of zones count in these parts, so that sums of their changes are exact


class Zones(NamedTuple):
    """The zone of every event, in halves of a point; `margin` is the smaller distance from event to end of zone."""

    rows: Tensor
    begin: Tensor
    start: Tensor
    stop: Tensor
    end: Tensor
    margin: Tensor

    @classmethod
    def of(cls, batch: Batch) -> Self:
        """From the labels."""
        events = events_of(batch.labels)
        begin = events.preceding(events.stops, -events.starts) + events.starts
        end = events.following(events.starts, 2 * batch.lengths[events.rows] - events.stops) + events.stops
        start, stop = 2 * events.starts, 2 * events.stops
        return cls(events.rows, begin, start, stop, end, torch.minimum(start - begin, end - stop))

    def take(self, index: Tensor) -> Self:
        """Take the zones at these places."""
        return type(self)(*(field[index] for field in self))

    def far(self, distance: Tensor) -> Tensor:
        """8 times the integral over [0, distance] of the chance that a random time is nearer, times the zone."""
        d = distance.clamp_min(0)
        nearer = torch.where(d <= self.margin, d * d, (2 * d - self.margin) * self.margin)
        return d * d + 2 * (self.stop - self.start) * d + nearer

    def piece(self, a: Tensor, b: Tensor) -> Tensor:
        """Compute what predicting [a, b) costs the zone's precision."""
        before = self.far(self.start - a) - self.far(self.start - b)
        return before + self.far(b - self.stop) - self.far(a - self.stop)

    def gap(self, left: Tensor, right: Tensor) -> Tensor:
        """Compute what a gap between alarms costs the zone's recall; an alarm outside the zone does not exist."""
        # In quarters of a point: the middle of the gap is a multiple of those.
        first, last = 2 * torch.maximum(self.start, left), 2 * torch.minimum(self.stop, right)
        middle = torch.minimum(torch.maximum(left + right, first), last)
        middle = torch.where(right >= self.end, last, middle)
        middle = torch.where(left <= self.begin, first, middle)
        whole = 2 * (self.end - left)
        cost = _away(middle - 2 * left, whole) - _away(first - 2 * left, whole)
        whole = 2 * (right - self.begin)
        cost = cost + _away(2 * right - middle, whole) - _away(2 * right - last, whole)
        return torch.where(first < last, cost, 0)

    def precision(self, length: Tensor, lost: Tensor) -> Tensor:
        """Of zones with alarms of this length; 0 where it is 0."""
        whole = 2 * (self.end - self.begin) * length
        return torch.where(length > 0, (whole - lost).double() / whole.clamp_min(1), 0)

    def recall(self, missed: Tensor) -> Tensor:
        """Of zones with alarms."""
        whole = 4 * (self.stop - self.start) * (self.end - self.begin)
        return (whole - missed).double() / whole


def _away(t: Tensor, h: Tensor) -> Tensor:
    """Integrate min(2 t, h) over [0, t]."""
    return torch.where(2 * t <= h, t * t, h * t - (h // 2) * (h // 2))


def _precision_recall(batch: Batch) -> Tensor:
    """(2, series): both means over zones; precision is NaN without alarms, both without events."""
    rows, columns = batch.scores.shape
    zones, runs = Zones.of(batch), events_of(batch.scores)
    known = batch.labels.any(1)[runs.rows]
    row, a, b = runs.rows[known], 2 * runs.starts[known], 2 * runs.stops[known]
    places = zones.rows * (2 * columns) + zones.begin
    first = torch.searchsorted(places, row * (2 * columns) + a, right=True) - 1
    last = torch.searchsorted(places, row * (2 * columns) + b - 1, right=True)
    # Pieces of alarms, in the order of their zones.
    index, owner = expand(first, last)
    of_piece = zones.take(index)
    a, b = torch.maximum(a[owner], of_piece.begin), torch.minimum(b[owner], of_piece.end)
    missed = of_piece.gap(torch.where(is_first(index), of_piece.begin, b.roll(1)), a)
    missed = missed + torch.where(is_last(index), of_piece.gap(b, of_piece.end), 0)
    count = len(zones.rows)
    length = sum_by(index, b - a, count)
    filled = length > 0
    precision = zones.precision(length, sum_by(index, of_piece.piece(a, b), count))
    recall = torch.where(filled, zones.recall(sum_by(index, missed, count)), 0)
    zones_filled = sum_by(zones.rows, filled.double(), rows)
    zones_all = sum_by(zones.rows, torch.ones_like(precision), rows)
    return torch.stack(
        [sum_by(zones.rows, precision, rows) / zones_filled, sum_by(zones.rows, recall, rows) / zones_all]
    )


def _best_f(batch: Batch, beta: float) -> Tensor:
    """Find the highest F over all thresholds.

    Points become alarms one by one, the highest score first. A new alarm changes the gap between its neighbours, which
    are the nearest points of the zone with higher scores.
    """
    rows, columns = batch.scores.shape
    zones = Zones.of(batch)
    if len(zones.rows) == 0:
        return torch.full((rows,), torch.nan, dtype=torch.float64, device=batch.scores.device)
    ordered, order = batch.filled(-torch.inf).sort(dim=1, descending=True, stable=True)
    rank = torch.empty_like(order).scatter_(1, order, torch.arange(columns, device=order.device).expand_as(order))
    last = is_last(ordered)
    del ordered, order
    # The points of every zone; one that a border cuts in two is in both zones.
    begins, ends = zones.begin // 2, (zones.end + 1) // 2
    x, owner = expand(begins, ends)
    base = (ends - begins).cumsum(0) - (ends - begins)
    own = zones.take(owner)
    of_point = rank[own.rows, x]
    a, b = torch.maximum(2 * x, own.begin), torch.minimum(2 * x + 2, own.end)
    search = NextGreater(-of_point.int(), int((ends - begins).max()))
    here = torch.arange(len(x), device=x.device)
    start, stop = base[owner], (base + ends - begins)[owner]
    left = search.before(start, here, -of_point.int())
    right = search.after(here + 1, stop, -of_point.int())
    first = (left == start) & (right == stop)
    shift = begins[owner] - start  # from places in this list to points
    left = torch.where(left == start, own.begin, torch.maximum(2 * (left + shift), own.begin))
    right = torch.where(right == stop, own.end, torch.minimum(2 * (right + shift), own.end))
    missed = own.gap(left, a) + own.gap(b, right) - torch.where(first, 0, own.gap(left, right))
    lost, length = own.piece(a, b), b - a
    del search, left, right, a, b, own
    # By zone and rank: precision and recall of the zone after each of its points.
    by_rank = (owner * columns + of_point).argsort()
    owner, of_point = owner[by_rank], of_point[by_rank]
    own, start = zones.take(owner), base[owner]
    length, lost, missed = (cumulate_from(values[by_rank], start) for values in (length, lost, missed))
    table = torch.zeros((3, rows * columns), dtype=torch.int64, device=x.device)
    new_zone = here == start
    for row, values in enumerate((own.precision(length, lost), own.recall(missed))):
        parts = (values * FIXED).round().long()
        change = parts - torch.where(new_zone, 0, parts.roll(1))
        table[row].index_add_(0, own.rows * columns + of_point, change)
    table[2].index_add_(0, own.rows * columns + of_point, new_zone.long())
    # All rows in one scan; earlier ones are taken off.
    table = table.cumsum(1).view(3, rows, columns)
    table = table - torch.cat([table.new_zeros((3, 1)), table[:, :-1, -1]], dim=1)[..., None]
    number = torch.bincount(zones.rows, minlength=rows)
    precision = table[0].double() / (FIXED * table[2])
    recall = table[1].double() / (FIXED * number[:, None])
    value = f_beta(precision, recall, beta)
    value = value.masked_fill(~(last & batch.valid), -torch.inf).amax(1)
    return value.masked_fill(number == 0, torch.nan)


class PrecisionRecallF(NamedTuple):
    """Precision, recall and F of every series."""

    precision: Tensor
    recall: Tensor
    f1: Tensor


@tensor_metric(NO_ALARM, F_CHECKS, returns=PrecisionRecallF)
def affiliation(batch: Batch, *, threshold: float | Tensor | None = None, beta: float = 1.0) -> Tensor:
    """Affiliation precision, recall and F of every series of a batch; equals `tsadeval.metrics.affiliation`.

    Parameters
    ----------
    threshold : float or Tensor, optional
        Scores above it are alarms: one number, or one for each series. Not used where `preds` are alarms.

    Returns
    -------
    PrecisionRecallF
        Named tuple of tensors (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without
        alarms (recall and F are 0), and all three are NaN without anomalies.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> alarms = torch.tensor([False, False, True, True, False, False, False, False])
    >>> found = tt.affiliation(alarms, torch.tensor([0, 0, 0, 1, 1, 0, 0, 0]))
    >>> found.precision.item(), found.recall.item()
    (0.8125, 0.9375)
    """
    if not batch.gives_alarms:
        raise InvalidParameterError("affiliation: threshold 'best' needs one value to be best for: use affiliation_f1")
    precision, recall = _precision_recall(batch)
    return torch.stack([precision, recall, f_beta(precision, recall, beta)])


@tensor_metric(NO_ANOMALY, F_CHECKS)
def affiliation_f1(batch: Batch, *, threshold: Threshold = "best", beta: float = 1.0) -> Tensor:
    """Affiliation F of every series of a batch, 0 without alarms; equals `tsadeval.metrics.affiliation_f1`.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 1, 1, 0, 0, 0])
    >>> tt.affiliation_f1(torch.tensor([0.1, 0.2, 0.7, 0.9, 0.3, 0.1, 0.2, 0.1]), labels, threshold=0.5)
    tensor(0.8705)
    >>> tt.affiliation_f1(torch.tensor([0.1, 0.2, 0.7, 0.9, 0.3, 0.1, 0.2, 0.1]), labels)
    tensor(0.9677)
    """
    if not batch.gives_alarms:
        return _best_f(batch, beta)
    precision, recall = _precision_recall(batch)
    return f_beta(precision, recall, beta)
