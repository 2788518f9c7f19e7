"""What is known of a series besides its labels and scores: time stamps, points that are not judged, other scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.events import Index
from tsadeval.core.period import period
from tsadeval.core.time import Times, nanoseconds
from tsadeval.errors import UndefinedError

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Missing = Literal["error", "ignore", "no alarm"]


@dataclass(frozen=True, eq=False)
class Setting:
    """All of it is optional; metrics ask for what they need."""

    times: Times | None = None
    ignored: Bools | None = None  # points that are not judged
    fit: Floats | None = None  # scores of another part, from which rules take their threshold
    values: Any = None  # the series that was scored

    @cached_property
    def period(self) -> int:
        """The period of the series that was scored."""
        if self.values is None:
            raise UndefinedError(
                "window='period' needs the series: pass values= to te.evaluate, or window=te.period(values)"
            )
        return period(self.values)

    @property
    def stamps(self) -> Index:
        """Time stamps in nanoseconds."""
        if self.times is None:
            raise UndefinedError("this option is a time, so it needs time stamps: pass times= to te.evaluate")
        return self.times.stamps

    def reach(self, span: float | str) -> tuple[int, Index | None]:
        """A distance, and the positions it is measured on: a number of points, or nanoseconds and stamps."""
        if isinstance(span, str):
            return nanoseconds(span), self.stamps
        return int(span), None

    @cached_property
    def skipped(self) -> int:
        """Number of points that are not judged."""
        return 0 if self.ignored is None else int(np.count_nonzero(self.ignored))


PLAIN = Setting()


def is_spans(ignore: Any) -> bool:
    """Are these intervals of time, and not a mask with a value for each point?"""
    if isinstance(ignore, (str, Path, Mapping)) or hasattr(ignore, "columns"):
        return True
    return isinstance(ignore, (list, tuple)) and all(isinstance(one, (list, tuple)) and len(one) == 2 for one in ignore)
