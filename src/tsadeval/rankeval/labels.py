"""Label cases: the label sets on which metrics are tried, synthetic ones and those of real data sets.

The synthetic ones come from the published legacy seeds, so `RandomState` is right here. The real ones are read
where a data folder is given, by argument or by the environment variable TSADEVAL_DATA.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from tsadeval.core.events import Events
from tsadeval.core.names import Registry
from tsadeval.datasets.loading import has_labels, load
from tsadeval.datasets.readers import VARIABLE
from tsadeval.errors import InvalidInputError


@dataclass(frozen=True)
class LabelCase:
    """A label set: its name and length, the seed's draw that makes it or the data set that has it."""

    name: str
    n: int
    draw: Callable[[], Events] | None = None
    dataset: str = ""

    @property
    def synthetic(self) -> bool:
        """True if the labels are drawn from a seed."""
        return not self.dataset

    def present(self, data: Path | None) -> bool:
        """Return True if the events are available: synthetic, or in this data folder."""
        return self.synthetic or (data is not None and has_labels(self.dataset, data=data))

    def events(self, data: Path | None = None) -> Events:
        """Return the events of its labels."""
        if self.draw is not None:
            return self.draw()
        if not self.present(data):
            where = "no data folder was given" if data is None else f"there is no {self.dataset} in {data}"
            raise InvalidInputError(f"the labels of {self.name} are missing: {where}; pass data= or set {VARIABLE}")
        found = Events.of(load(self.dataset, data=data, features=False, verify=False).test_labels)
        if found.n != self.n:
            raise InvalidInputError(f"{self.name}: expected {self.n} labels, but {data} holds {found.n}")
        return found


def synthetic_events(*, n: int, segments: int, longest: int, shortest: int, seed: int) -> Events:
    """Draw events of random lengths at random places, as the published code does."""
    random = np.random.RandomState(seed)
    mask = np.zeros(n, np.bool_)
    for _ in range(segments):
        start = random.randint(0, n - longest)
        mask[start : start + max(random.randint(1, longest + 1), shortest)] = True
    return Events.of(mask)


# Thousands of points, segments, name of their lengths, longest, shortest; the i-th has seed 42 + i.
_TABLE = [
    (100, 20, "50L", 60, 40),
    (100, 200, "50L", 60, 40),
    (100, 20, "50H", 99, 1),
    (100, 200, "50H", 99, 1),
    (100, 50, "20L", 30, 10),
    (100, 500, "20L", 30, 10),
    (100, 50, "20H", 39, 1),
    (100, 500, "20H", 39, 1),
    (100, 10, "100L", 110, 90),
    (100, 100, "100L", 110, 110),
    (100, 10, "100H", 199, 1),
    (100, 100, "100H", 199, 1),
    (100, 2, "500L", 550, 450),
    (100, 20, "500L", 550, 450),
    (100, 2, "500H", 999, 1),
    (100, 20, "500H", 999, 1),
    (10, 2, "50L", 60, 40),
    (10, 20, "50L", 60, 40),
    (10, 2, "50H", 99, 1),
    (10, 20, "50H", 99, 1),
    (10, 5, "20L", 30, 10),
    (10, 50, "20L", 30, 10),
    (10, 5, "20H", 39, 1),
    (10, 50, "20H", 39, 1),
    (10, 1, "100L", 110, 90),
    (10, 10, "100L", 110, 110),
    (10, 1, "100H", 199, 1),
    (10, 10, "100H", 199, 1),
    (10, 2, "500L", 550, 450),
    (10, 2, "500H", 999, 1),
]


def _synthetic(place: int, thousands: int, segments: int, lengths: str, longest: int, shortest: int) -> LabelCase:
    """Return the case of a line of the table."""
    n, seed = 1000 * thousands, 42 + place
    draw = partial(synthetic_events, n=n, segments=segments, longest=longest, shortest=shortest, seed=seed)
    return LabelCase(f"{thousands}k-{segments}seg-{lengths}", n, draw)


_SYNTHETIC = [_synthetic(i, *line) for i, line in enumerate(_TABLE)]
_REAL = [
    LabelCase("MSL", 73_729, dataset="msl"),
    LabelCase("SMD-1-1", 28_479, dataset="smd/1-1"),
    LabelCase("SMD-2-1", 23_694, dataset="smd/2-1"),
    LabelCase("SMD-3-1", 28_700, dataset="smd/3-1"),
    LabelCase("PSM", 87_841, dataset="psm"),
    LabelCase("SWaT", 449_919, dataset="swat"),
    LabelCase("Creditcard", 284_807, dataset="creditcard"),
]
CASES: Registry[LabelCase] = Registry("label case", records=[*_SYNTHETIC, *_REAL])
SYNTHETIC, REAL = (tuple(case.name for case in cases) for cases in (_SYNTHETIC, _REAL))
