"""How often each step between two time stamps occurs in a stream, by what is known of the point before it."""

from __future__ import annotations

from collections import Counter
from copy import copy
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.durations import SECOND
from tsadeval.core.events import Index
from tsadeval.core.time import longest

__all__ = ["ALARM", "LABEL", "StepCounts", "codes_of"]

LABEL, ALARM = 1, 2  # a code is their sum: is a point anomalous, and is it alarmed?


def codes_of(labels: Any, alarms: Any) -> NDArray[np.uint8]:
    """The code of every point."""
    return np.asarray(labels, np.uint8) + np.uint8(ALARM) * np.asarray(alarms, np.uint8)


class StepCounts:
    """Which time is observed is known at the end only, once the median step is: until then all steps are counted."""

    def __init__(self) -> None:
        self._counts: dict[int, Counter[int]] = {}
        self._first: int | None = None
        self._last = (0, 0)  # the last stamp, and its code

    def __len__(self) -> int:
        """The largest number of different steps of a code."""
        return max(map(len, self._counts.values()), default=0)

    def __copy__(self) -> StepCounts:
        found = StepCounts()
        found._counts = {code: copy(counts) for code, counts in self._counts.items()}
        found._first, found._last = self._first, self._last
        return found

    def add(self, stamps: Index, codes: NDArray[np.uint8]) -> None:
        """Take in the points that follow."""
        self._join(int(stamps[0]))
        steps, before = np.diff(stamps), codes[:-1]
        if len(steps) and (steps == steps[0]).all():
            for code, count in enumerate(np.bincount(before).tolist()):
                self._add(code, {int(steps[0]): count} if count else {})
        else:
            for code in np.unique(before).tolist():
                sizes, counts = np.unique(steps[before == code], return_counts=True)
                self._add(code, dict(zip(sizes.tolist(), counts.tolist(), strict=True)))
        self._last = int(stamps[-1]), int(codes[-1])

    def merge(self, later: StepCounts) -> None:
        """Take in the stretch that follows."""
        if later._first is None:
            return
        self._join(later._first)
        for code, counts in later._counts.items():
            self._add(code, counts)
        self._last = later._last

    def _join(self, stamp: int) -> None:
        """Count the step from the last stamp to the next one."""
        if self._first is None:
            self._first = stamp
        else:
            self._add(self._last[1], {stamp - self._last[0]: 1})

    def _add(self, code: int, counts: dict[int, int]) -> None:
        if counts:
            self._counts.setdefault(code, Counter()).update(counts)

    @property
    def median(self) -> int:
        """The median step, as `Times.step` has it."""
        everything: Counter[int] = Counter()
        for counts in self._counts.values():
            everything.update(counts)
        if not everything:
            return SECOND
        sizes = sorted(everything)
        counted = list(accumulate(everything[size] for size in sizes))
        return sizes[int(np.searchsorted(counted, counted[-1] // 2, "right"))]

    def times(self) -> dict[int, int]:
        """The time that was observed at the points of each code, as `Times.durations` has it."""
        step = self.median
        most = longest(step)
        found = {code: sum(min(size, most) * n for size, n in counts.items()) for code, counts in self._counts.items()}
        if self._first is not None:
            found[self._last[1]] = found.get(self._last[1], 0) + step
        return found
