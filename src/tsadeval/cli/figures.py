"""`tsadeval rankeval figures`: every figure of a run, as files."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from tsadeval.core.text import split_names
from tsadeval.rankeval.api import read


class Picture(str, enum.Enum):
    """How to write a figure."""

    png = "png"
    pdf = "pdf"
    svg = "svg"


def figures(
    folder: Annotated[Path, typer.Argument(help="The store of a run.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the figures.")] = Path("figures"),
    format: Annotated[Picture, typer.Option(help="Of the files.")] = Picture.png,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            help="Whose values to draw against the false-alarm rate; the paper's four by default. Repeatable."
        ),
    ] = None,
    suite: Annotated[str, typer.Option(help="Of the last run of this suite; by default of the last run.")] = "",
) -> None:
    """Draw the figures of a run, as far as it got; for CCE with other tau, compute what is missing in the store."""
    from tsadeval.plot import write_figures

    result = read(folder, suite or None)
    chosen = split_names(metrics) if metrics else None

    def complain(message: str) -> None:
        typer.echo(f"tsadeval: {message}", err=True)

    for path in write_figures(result, output, format=format.value, metrics=chosen, left_out=complain):
        typer.echo(path)
