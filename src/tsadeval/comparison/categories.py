"""Categories of series by their events: few or many, short or long, single points or sequences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tsadeval.core.inputs import label_runs

# With more events than FEW a series has many; with a median length beyond SHORT its events are long; with a median
# length of at most POINT they are point anomalies.
FEW, SHORT, POINT = 3, 50, 3


class SeriesFacts(NamedTuple):
    """What the labels of a series say of it."""

    n: int
    events: int
    points: int
    median_length: float
    longest: int

    @classmethod
    def of(cls, labels: Any) -> SeriesFacts:
        """Find the facts of labels.

        >>> SeriesFacts.of([0, 1, 1, 0, 1])
        SeriesFacts(n=5, events=2, points=3, median_length=1.5, longest=2)
        """
        events = label_runs(labels, "y_true").events
        lengths = events.lengths
        median = float(np.median(lengths)) if len(lengths) else 0.0
        return cls(events.n, len(events), events.points, median, int(lengths.max(initial=0)))

    def category(self, kind: str) -> str:
        """Return the category of one kind; "" for series without events.

        >>> SeriesFacts.of([0, 1, 1, 0, 1]).category("number of events")
        'few events (at most 3)'
        """
        fact, most, up_to, beyond = _KINDS[kind]
        if not self.events:
            return ""
        return up_to if getattr(self, fact) <= most else beyond


# By kind: the fact that decides, its largest value for the first category, and both categories.
_KINDS = {
    "number of events": ("events", FEW, f"few events (at most {FEW})", f"many events (more than {FEW})"),
    "length of events": (
        "median_length", SHORT, f"short events (at most {SHORT} points)", f"long events (more than {SHORT} points)"
    ),
    "kind of anomaly": ("median_length", POINT, f"point anomalies (at most {POINT} points)", "sequence anomalies"),
}  # fmt: skip
CATEGORIES = tuple(_KINDS)
