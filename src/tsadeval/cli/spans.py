"""Options for incidents and ignored spans: read their files for all commands that score tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError
from tsadeval.scores.companions import Spans, stem_of
from tsadeval.tables import table_files

Incidents = Annotated[
    Path | None,
    typer.Option(
        help="File with columns start and stop (and those of --by, or one with the names of the files), or windows "
        "as json under the values of --by: the labels, instead of a column."
    ),
]
Clip = Annotated[
    bool,
    typer.Option(
        "--clip",
        help="Cut incidents beyond the time stamps, drop those wholly outside, put those without a time stamp on "
        "the next point, and join those that overlap; says how many.",
    ),
]
Shared = Annotated[
    bool,
    typer.Option("--shared", help="Incidents and spans hold for every series, whatever their other columns say."),
]
Ignore = Annotated[Path | None, typer.Option(help="File as for --incidents: spans of time that are not judged.")]


@dataclass(frozen=True)
class Beside:
    """The files beside the tables; either may be missing."""

    incidents: Spans | None = None
    ignore: Spans | None = None
    clip: bool = False
    ignored: dict[str, Any] = field(default_factory=dict)  # points that are not judged, by series

    @classmethod
    def of(
        cls,
        incidents: Path | None,
        ignore: Path | None,
        by: Sequence[str],
        files: Iterable[str | Path],
        *,
        time: str,
        clip: bool,
        shared: bool,
    ) -> Beside:
        """Read the files; `files` are the tables of scores, whose names may say to whom an interval belongs."""
        if (incidents or ignore) and not time:
            raise InvalidInputError("intervals of time need time stamps: name their column with --time")
        stems = [stem_of(table) for file in files for table in _tables(file)] if incidents or ignore else []

        def read(path: Path | None) -> Spans | None:
            return Spans(path, by, files=stems, shared=shared) if path else None

        return cls(read(incidents), read(ignore), clip)

    @property
    def _both(self) -> list[Spans]:
        return [one for one in (self.incidents, self.ignore) if one is not None]

    def ask(self, keys: Mapping[str, str], file: str) -> None:
        """A series is there, whether or not it can be read."""
        for spans in self._both:
            spans.ask(keys, file)

    def lay(self, keys: Mapping[str, str], file: str, labels: Any, times: Times | None) -> tuple[Any, Any]:
        """The labels of a series, and which of its points are not judged."""
        self.ask(keys, file)
        if times is None:
            return labels, None
        if self.incidents is not None:
            labels = self.incidents.labels(keys, file, times, clip=self.clip)
        return labels, None if self.ignore is None else self.ignore.covered(keys, file, times)

    def said(self) -> list[str]:
        """What a reader has to know before anything is read."""
        return [line for one in self._both for line in one.said]

    def fitted(self, *, whole: bool = True) -> list[str]:
        """What did not fit; only where all tables could be read (`whole`) what was not asked for."""
        lines = [line for one in self._both for line in (one.fitted, one.late, one.unused if whole else None)]
        return [line for line in lines if line]


def _tables(file: str | Path) -> list[str | Path]:
    return [*table_files(file)] if "://" not in str(file) and Path(file).is_dir() else [file]


def say(lines: Iterable[str]) -> None:
    """Print messages for the command line."""
    for line in lines:
        typer.echo(f"tsadeval: {line}", err=True)
