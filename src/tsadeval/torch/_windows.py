"""Scored windows in any order become whole series again: sorted by time, overlaps joined, repeated windows once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tsadeval.errors import InvalidInputError
from tsadeval.torch._segments import expand

# In place of the number of a series: each such window is one of its own. In place of a position: right after the
# windows of the series that came before.
OWN = FOLLOWS = -1

Numbers = Tensor | Sequence[int] | int | None


def window_table(preds: Tensor, series: Numbers, position: Numbers, lengths: Numbers) -> Tensor:
    """(windows, 3): series, first position and number of points of every window of an update."""
    device = preds.device
    if preds.ndim == 2:
        count, size = preds.shape
        sizes = _column(lengths, count, size, "lengths", device)
        starts = _column(position, count, FOLLOWS, "position", device)
        # Rows without a number are series by themselves, unless positions say where they belong.
        owners = _column(series, count, OWN if position is None else 0, "series", device)
    else:
        if lengths is not None:
            raise InvalidInputError("lengths is for preds of shape (windows, points): pass only the points that count")
        each = any(isinstance(x, (Tensor, Sequence)) and torch.as_tensor(x).ndim > 0 for x in (series, position))
        count, size = (len(preds), 1) if each else (1, len(preds))
        sizes = torch.full((count,), size, device=device)
        starts = _column(position, count, FOLLOWS, "position", device)
        owners = _column(series, count, 0, "series", device)
    return torch.stack([owners, starts, sizes], dim=1)


def _column(values: Numbers, count: int, default: int, name: str, device: torch.device) -> Tensor:
    if values is None:
        return torch.full((count,), default, device=device)
    column = torch.as_tensor(values, device=device)
    if column.is_floating_point() or column.is_complex() or column.dtype == torch.bool:
        raise InvalidInputError(f"{name} must hold integers, but has dtype {column.dtype}")
    if column.ndim == 0:
        column = column.expand(count)
    if column.shape != (count,):
        raise InvalidInputError(
            f"{name} must be one integer or {count}, one for each window, but has shape {tuple(column.shape)}"
        )
    if bool((column < 0).any()):
        raise InvalidInputError(f"{name} must not be negative, but is {int(column.min())}")
    return column.long()


@dataclass(frozen=True, eq=False)
class Table:
    """Whole series, padded."""

    scores: Tensor  # (series, points)
    labels: Tensor
    lengths: Tensor
    series: Tensor  # their numbers, ascending


def join(windows: Tensor, scores: Tensor, labels: Tensor, overlap: str) -> Table:
    """The series that these windows are pieces of; `overlap` says how scores of one point become one."""
    series, starts, sizes = windows.unbind(1)
    offsets = sizes.cumsum(0) - sizes
    own = series == OWN
    series = torch.where(own, series.amax() + own.cumsum(0), series)
    starts = _in_order(series, starts, sizes)
    kept = _first_of_equal(torch.stack([series, starts, sizes], dim=1))
    series, starts, sizes, offsets = (x[kept] for x in (series, starts, sizes, offsets))
    source, window = expand(offsets, offsets + sizes)
    position = starts[window] + source - offsets[window]
    owner = series[window]
    order = position.argsort(stable=True)
    order = order[owner[order].argsort(stable=True)]
    owner, position, source = owner[order], position[order], source[order]
    first = torch.ones_like(owner, dtype=torch.bool)
    first[1:] = (owner[1:] != owner[:-1]) | (position[1:] != position[:-1])
    point = first.cumsum(0) - 1
    count = int(first.sum())
    joined = torch.zeros(count, dtype=scores.dtype, device=scores.device)
    how = {"mean": "mean", "max": "amax", "min": "amin"}[overlap]
    joined.scatter_reduce_(0, point, scores[source], how, include_self=False)
    marks = torch.zeros(count, dtype=labels.dtype, device=labels.device)
    marks[point] = labels[source]
    if bool((marks[point] != labels[source]).any()):
        at = int((marks[point] != labels[source]).nonzero()[0])
        raise InvalidInputError(
            "target differs between windows that share a point: "
            f"position {int(position[at])} of series {int(owner[at])}"
        )
    numbers, row, lengths = torch.unique_consecutive(owner[first], return_inverse=True, return_counts=True)
    column = torch.arange(count, device=row.device) - (lengths.cumsum(0) - lengths)[row]
    shape = len(lengths), int(lengths.max())
    table, mask = scores.new_zeros(shape), torch.zeros(shape, dtype=torch.bool, device=row.device)
    table[row, column] = joined
    mask[row, column] = marks.bool()
    return Table(table, mask, lengths, numbers)


def _in_order(series: Tensor, starts: Tensor, sizes: Tensor) -> Tensor:
    """First positions; windows without one follow those of their series that came before."""
    follows = starts == FOLLOWS
    if not bool(follows.any()):
        return starts
    order = series.argsort(stable=True)
    _, number = torch.unique_consecutive(series[order], return_inverse=True)
    before = sizes[order].cumsum(0) - sizes[order]
    begins = before.amax().expand_as(number).scatter_reduce(0, number, before, "amin")
    implied = torch.empty_like(starts)
    implied[order] = before - begins[number]
    mixed = torch.zeros_like(number).scatter_reduce_(0, number, (~follows[order]).long(), "amax")[number].bool()
    if bool((mixed & follows[order]).any()):
        raise InvalidInputError("some windows of a series came with a position and some without: give all of them one")
    return torch.where(follows, implied, starts)


def _first_of_equal(windows: Tensor) -> Tensor:
    """The places of the windows that are not repeated; a sampler repeats some to give every process as many."""
    _, kind = torch.unique(windows, dim=0, return_inverse=True)
    place = torch.arange(len(kind), device=kind.device)
    first = torch.full_like(kind, len(kind)).scatter_reduce_(0, kind, place, "amin")
    return (first[kind] == place).nonzero()[:, 0]
