"""Events: runs of one label, half-open, sorted and disjoint (runs of both: core/inputs; of a stream: streams)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Events:
    """Half-open, sorted, disjoint runs `[starts[k], stops[k])` in a series of n points.

    >>> Events.of([0, 1, 1, 0, 1])
    Events(starts=array([1, 4]), stops=array([3, 5]), n=5)
    """

    starts: Index
    stops: Index
    n: int

    @classmethod
    def of(cls, labels: Any) -> "Events":
        """Return the runs of ones in a sequence of labels."""
        from tsadeval.core.inputs import label_runs

        return label_runs(labels, "labels").events

    @cached_property
    def lengths(self) -> Index:
        """Number of points of each event."""
        return self.stops - self.starts

    @cached_property
    def points(self) -> int:
        """Number of points in all events."""
        return int(self.lengths.sum())

    def shared_points(self, other: Self) -> int:
        """Return number of points that are in events of both."""
        from tsadeval.core._scan import shared_points

        return int(shared_points(self.starts, self.stops, other.starts, other.stops))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def _borders(self) -> Index:
        """Where events and what is between them begin and end, from 0 to n."""
        return np.concatenate(([0], np.column_stack([self.starts, self.stops]).ravel(), [self.n]))

    def mask(self) -> Bools:
        """Return True inside the events."""
        lengths = np.diff(self._borders)
        return np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)

    def complement(self) -> "Events":
        """Return the runs between, before and after the events."""
        starts, stops = self._borders.reshape(-1, 2).T
        real = starts < stops
        return Events(starts[real], stops[real], self.n)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Events):
            return NotImplemented
        return (
            self.n == other.n and np.array_equal(self.starts, other.starts) and np.array_equal(self.stops, other.stops)
        )


def inside_any(starts: Index, stops: Index, n: int) -> Bools:
    """Return which of n points are inside any of some ranges, which may overlap and come in any order."""
    edges = np.zeros(n + 1, np.int64)
    np.add.at(edges, starts, 1)
    np.add.at(edges, stops, -1)
    return np.asarray(np.cumsum(edges[:-1]) > 0)
