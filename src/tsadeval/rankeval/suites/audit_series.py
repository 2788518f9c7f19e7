"""Series of an audit: labels, values and the scores of every detector, read from a table."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval.core.events import Events
from tsadeval.core.inputs import Bools, Floats
from tsadeval.errors import InvalidInputError
from tsadeval.scores.tabular import scorings
from tsadeval.tables import read_table, table_files
from tsadeval.tables.columns import is_numeric


@dataclass(frozen=True, eq=False)
class AuditSeries:
    """A series with labels and the scores of several detectors; missing scores are NaN."""

    name: str
    labels: Bools
    detectors: Mapping[str, Floats]
    values: Floats | None = None

    @property
    def events(self) -> Events:
        """The events of its labels."""
        return Events.of(self.labels)

    @property
    def mark(self) -> str:
        """A key of all its numbers, so that a store does not mistake it for another series of the same name."""
        digest = hashlib.sha256(np.packbits(self.labels).tobytes())
        for name, scores in [*self.detectors.items(), ("", self.values)]:
            digest.update(name.encode() + (b"" if scores is None else np.ascontiguousarray(scores).tobytes()))
        return digest.hexdigest()[:12]


def read_series(
    data: Any,
    *,
    y_true: str = "label",
    y_score: str | Sequence[str] = "*",
    by: str | None = "series",
    value: str | None = "value",
) -> Iterator[AuditSeries]:
    """The series of a table, of a file, or of all tables in a folder.

    `y_score` names the columns of detectors; by default all columns of numbers but labels, values and times. `value` is
    the column of the series itself, if there is one.
    """
    seen: set[str] = set()
    folder = isinstance(data, (str, os.PathLike)) and Path(data).is_dir()
    sources: list[Any] = list(table_files(data)) if folder else [data]
    for source in sources:
        table = read_table(source, text=[by] if by else [])
        if y_true not in table:
            if folder:
                continue  # a folder of scores may hold other tables too
            raise InvalidInputError(f"{table.source}: there is no column {y_true!r} of labels")
        columns = [y_score] if isinstance(y_score, str) else list(y_score)
        if value is not None and value in table and is_numeric(table.columns[value]):
            columns.append(value)
        found: dict[str, AuditSeries] = {}
        for part in scorings(table, label=y_true, score=columns, by=[by] if by and by in table else []):
            name = part.keys.get(by or "", "") or table.source
            series = found.setdefault(name, AuditSeries(name, np.asarray(part.labels) == 1, {}, None))
            scores = np.asarray(part.scores, np.float64)
            if part.score == value:
                found[name] = AuditSeries(name, series.labels, series.detectors, scores)
            else:
                detectors = {**series.detectors, str(part.score): scores}
                found[name] = AuditSeries(name, series.labels, detectors, series.values)
        for name, series in found.items():
            if name in seen:
                raise InvalidInputError(f"two tables have a series {name!r}: rename one")
            seen.add(name)
            yield series
