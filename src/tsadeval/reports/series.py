"""The series of a board: what their label files say, each read once for a build."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tsadeval.comparison.categories import SeriesFacts
from tsadeval.core.events import Events
from tsadeval.reports.submission import Board, file_digest, labels_digest, read_labels

__all__ = ["Series", "SeriesLabels", "read_series"]

# Events of a series that its picture shows, and the least width of one, as a share of the series.
SHOWN, THIN = 400, 0.0015


class SeriesLabels(NamedTuple):
    """What is known of a series: checksums of its file and of its labels, facts, and where its events are.

    `strip` has the events as shares of the length: start and width. `valued` says whether the file has the series
    itself beside the labels.
    """

    file_sha256: str
    labels_sha256: str
    facts: SeriesFacts
    strip: list[tuple[float, float]]
    valued: bool


Series = Mapping[str, SeriesLabels]


def read_series(board: Board) -> dict[str, SeriesLabels]:
    """All series of a board by name."""
    found = {}
    for name, path in board.labels.items():
        labels, values = read_labels(path)
        found[name] = SeriesLabels(
            file_digest(path),
            labels_digest(labels),
            SeriesFacts.of(labels),
            _strip(Events.of(labels)),
            values is not None,
        )
    return found


def _strip(events: Events) -> list[tuple[float, float]]:
    starts, widths = events.starts / events.n, np.maximum(events.lengths / events.n, THIN)
    step = max(1, len(events) // SHOWN)
    return [(round(float(a), 5), round(float(w), 5)) for a, w in zip(starts[::step], widths[::step], strict=True)]
