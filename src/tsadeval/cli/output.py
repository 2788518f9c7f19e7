"""Output formats of the commands."""

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from tsadeval.cli.options import say
from tsadeval.core.names import FORMULA, TEXT
from tsadeval.core.results import Result, plain

Format = Literal["text", "csv", "json", "latex", "html"]
Shown = Annotated[Format, typer.Option(help="How to print the values.")]
WHOLE = ("csv", "json")  # these have all rows and columns, the others what is worth reading
MANY = 20  # failures that are printed in full


def show(result: Result, format: Format, columns: Sequence[str] = ()) -> str:
    """Return a result in the wanted form; csv and json keep all digits, and leave empty what is not a number.

    By default they have all columns but the seconds, which differ from run to run.
    """
    if format == "text":
        return repr(result)
    if format == "latex":
        return result.to_latex()
    if format == "html":
        return result._repr_html_()
    rows = result.rows
    head = columns or [key for key in dict.fromkeys(key for row in rows for key in row) if key != "seconds"]
    table = [[plain(row.get(key)) for key in head] for row in rows]
    if format == "json":
        return json.dumps([dict(zip(head, row, strict=True)) for row in table], indent=2)
    text = io.StringIO()
    for row in (head, *table):
        cells = (re.sub(FORMULA, TEXT, cell) if isinstance(cell, str) else cell for cell in row)
        csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().rstrip("\n")


def tell_failures(lines: Sequence[str]) -> None:
    """Print the first failures, a line each, and how many more there are: thousands would hide the result."""
    say(lines[:MANY])
    if len(lines) > MANY:
        say([f"and {len(lines) - MANY:,} more such lines: --format csv has all messages"])
