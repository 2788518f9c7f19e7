"""Events of a batch, and searches and sums over ranges of points: all without a loop over points or series."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


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
