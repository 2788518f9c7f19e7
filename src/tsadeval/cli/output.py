"""Tables for people and for machines."""

from __future__ import annotations

import csv
import enum
import io
import json
from collections.abc import Sequence
from typing import Any

import typer

from tsadeval.cli.words import spoken
from tsadeval.core.results import latex_table, plain, text_table


class Format(str, enum.Enum):
    """How to print a table."""

    text = "text"
    csv = "csv"
    json = "json"
    latex = "latex"


MANY = 20  # failures that are printed in full
# Of every command: -h is --help.
SETTINGS = {"help_option_names": ["-h", "--help"]}


def render(format: Format, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in the wanted form; csv and json keep all digits, and leave empty what is not a number."""
    if format is Format.json:
        return json.dumps([{k: plain(v) for k, v in zip(head, row, strict=True)} for row in rows], indent=2)
    if format is Format.csv:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(head)
        writer.writerows([["" if plain(v) is None else plain(v) for v in row] for row in rows])
        return text.getvalue().rstrip("\n")
    return (latex_table if format is Format.latex else text_table)([list(head), *rows])


def tell_failures(lines: Sequence[str]) -> None:
    """The first failures, a line each, and how many more there are: thousands would hide the result."""
    for line in lines[:MANY]:
        typer.echo(f"tsadeval: {spoken(line)}", err=True)
    if len(lines) > MANY:
        typer.echo(f"tsadeval: and {len(lines) - MANY:,} more such lines: --format csv has all messages", err=True)
