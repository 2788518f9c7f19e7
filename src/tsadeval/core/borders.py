"""Runs of labels whose points are gone: what is left of a series that was read once, in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tsadeval.core.events import Index
from tsadeval.core.inputs import Bools, LabelRuns
from tsadeval.errors import UndefinedError

__all__ = ["BareRuns", "Borders", "bare_runs"]


@dataclass(frozen=True, eq=False)
class BareRuns(LabelRuns):
    """Runs without their points: metrics that look at runs get the same value, others say that they cannot."""

    label: int = 0

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.starts[-1] + self.counts[-1])

    @property
    def first(self) -> int:
        """Label of the first run."""
        return self.label

    @property
    def mask(self) -> Bools:
        """There is none."""
        raise UndefinedError("it needs all points at once, which a stream does not keep")


def bare_runs(counts: Any, first: int) -> BareRuns:
    """Runs of so many points each, whose labels alternate; runs of no points join their neighbours.

    >>> runs = bare_runs([3, 0, 2, 1], first=0)
    >>> runs.starts, runs.counts, runs.first
    (array([0, 5]), array([5, 1]), 0)
    """
    lengths = np.asarray(counts, np.int64)
    labels = (np.arange(len(lengths)) + first) % 2
    stops = np.cumsum(lengths)
    there = lengths > 0
    labels, starts = labels[there], (stops - lengths)[there]
    change = np.append(True, labels[1:] != labels[:-1])
    return _runs(starts[change], int(stops[-1]), int(labels[0]))


def _runs(starts: Index, n: int, first: int) -> BareRuns:
    return BareRuns(np.empty(0, np.uint8), starts, np.diff(starts, append=n), first)


class Borders:
    """Where the labels of a growing series change: 8 bytes a run."""

    def __init__(self) -> None:
        self.n = 0
        self._first = self._last = -1
        self._pieces: list[Index] = []

    def add(self, runs: LabelRuns) -> None:
        """Take in the points that follow."""
        last = (runs.first + len(runs.starts) - 1) % 2
        self._extend(runs.starts, runs.n, runs.first, last)

    def merge(self, later: Borders) -> None:
        """Take in what another one has seen, which follows."""
        if later.n:
            self._extend(later._starts(), later.n, later._first, later._last)

    def _extend(self, starts: Index, n: int, first: int, last: int) -> None:
        if self.n == 0:
            self._first = first
        # A run that goes on has no border here.
        self._pieces.append(starts[1 if first == self._last else 0 :] + self.n)
        self.n += n
        self._last = last
        # A piece joins the one before it once it is half as long: so each border is copied a few times only, however
        # many batches there are.
        while len(self._pieces) > 1 and len(self._pieces[-2]) <= 2 * len(self._pieces[-1]):
            self._pieces[-2:] = [np.concatenate(self._pieces[-2:])]

    def _starts(self) -> Index:
        if len(self._pieces) > 1:
            self._pieces = [np.concatenate(self._pieces)]
        return self._pieces[0]

    def runs(self) -> BareRuns:
        """All runs so far."""
        return _runs(self._starts(), self.n, self._first)
