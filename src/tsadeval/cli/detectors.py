"""`tsadeval detectors`: list the detectors."""

from __future__ import annotations

import importlib
from typing import Annotated, Any

import typer

from tsadeval.cli.options import complete_detectors
from tsadeval.cli.output import Format, render
from tsadeval.detectors.records import DETECTORS, DetectorRecord, parse_detector


def detectors(
    name: Annotated[
        str, typer.Argument(help="Show all there is to know about this one.", autocompletion=complete_detectors)
    ] = "",
    format: Annotated[Format, typer.Option(help="How to print the list.")] = Format.text,
) -> None:
    """List all detectors, or describe one. None is trained, and torch is not needed."""
    if name:
        typer.echo(_description(parse_detector(name)))
        return
    head = ["detector", "in tables", "needs", "summary"]
    rows: list[list[Any]] = [[d.name, d.title, d.extra, d.summary] for d in DETECTORS.values()]
    typer.echo(render(format, head, rows))


def _description(record: DetectorRecord) -> str:
    facts = {"in tables": record.title, "needs": f"pip install 'tsadeval[{record.extra}]'", "score": record.scoring}
    given = {**record.parameters, **dict(record.bound)}
    lines = [f"{record}: {record.summary}", ""]
    lines += [f"  {key:<10} {value}" for key, value in facts.items()]
    lines += [f"  {'option':<10} {key}={value!r}: {record.about[key]}" for key, value in given.items()]
    lines += [f"  {'reference':<10} {record.reference}"]
    # The equations, and where we deviate from the paper, stand at the top of a detector's file.
    top = importlib.import_module(record.make.__module__).__doc__ or ""
    return "\n".join([*lines, "", top.strip()])
