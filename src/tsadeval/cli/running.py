"""What the commands share that compute many values: limits of each, and progress that an interrupt ends cleanly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from tsadeval.core.cluster import on_cluster
from tsadeval.engine.progress import Bar

__all__ = ["CellMemory", "CellTimeout", "running"]

CellTimeout = Annotated[float | None, typer.Option(help="Seconds that one value may take; beyond that it is an error.")]
CellMemory = Annotated[
    str | None, typer.Option(help="Memory that one value may take, such as 2GB; beyond that it is an error.")
]


@contextmanager
def running(title: str, dask: str) -> Iterator[Bar]:
    """A progress bar, with the workers of a Dask cluster if one is named; an interrupt is one line, exit code 130."""
    bar = Bar(title)
    try:
        with bar, on_cluster(dask):
            yield bar
    except KeyboardInterrupt:
        typer.echo(f"tsadeval: stopped; {bar.words}. The same command again computes the rest.", err=True)
        raise typer.Exit(130) from None
