"""`tsadeval report`: write a page about the detectors in tables of scores."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from tsadeval.cli.options import MetricNames, Threshold, names_of, say, say_warnings, with_options
from tsadeval.core.selection import select_metrics
from tsadeval.errors import InvalidInputError
from tsadeval.reports.report import report as write_report
from tsadeval.scores.scores import Scores


@with_options
def report(
    scores: Scores,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    metrics: MetricNames = None,
    threshold: Threshold = "best",
    title: Annotated[str, typer.Option(help="Of the page.")] = "",
) -> None:
    """Write one self-contained HTML page about detectors: series, scores, events, metrics and their statistics."""
    if output.is_dir():
        raise InvalidInputError(f"{output}: this is a folder; name the page, -o {output / 'report.html'}")
    chosen = select_metrics(names_of(metrics) or "recommended")
    with say_warnings():
        page = write_report(
            scores,
            output,
            metrics=chosen,
            threshold=threshold,
            title=title,
            command=shlex.join(["tsadeval", *sys.argv[1:]]),
        )
    say([*scores.notes, *(f"left out: {line}" for line in scores.left_out_lines())])
    typer.echo(page)
    if scores.left_out_lines():
        raise typer.Exit(1)
