"""Output formats of the commands, and the tables that `tsadeval score` prints."""

import csv
import enum
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

import tsadeval
from tsadeval.cli.options import say
from tsadeval.core.facts import grouped
from tsadeval.core.messages import are, by_reason, label_notes, named
from tsadeval.core.metric import Metric
from tsadeval.core.names import FORMULA, TEXT, printable
from tsadeval.core.results import Grid, Result, ResultTable, Row, plain
from tsadeval.evaluation.events import EventTable, summed_up
from tsadeval.evaluation.single import Evaluation


class Format(enum.StrEnum):
    """How to print a result."""

    text = "text"
    csv = "csv"
    json = "json"
    latex = "latex"
    html = "html"


Shown = Annotated[Format, typer.Option(help="How to print the values.")]
WHOLE = (Format.csv, Format.json)  # these have all rows and columns, the others what is worth reading
MANY = 20  # failures that are printed in full


def show(result: Result, format: Format, columns: Sequence[str] = ()) -> str:
    """Return a result in the wanted form; csv and json keep all digits, and leave empty what is not a number.

    By default they have all columns but the seconds, which differ from run to run.
    """
    if format is Format.text:
        return repr(result)
    if format is Format.latex:
        return result.to_latex()
    if format is Format.html:
        return result._repr_html_()
    rows = result.rows
    head = columns or [key for key in dict.fromkeys(key for row in rows for key in row) if key != "seconds"]
    table = [[plain(row.get(key)) for key in head] for row in rows]
    if format is Format.json:
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


# Tables of several scorings. What a scoring is called stands in the first columns of its rows.
Results = Sequence[tuple[Row, Evaluation | EventTable]]


def place_of(file: str, keys: Mapping[str, str], score: str) -> Row:
    """Return what a scoring is called, by column: its file, the values of --by, and its column of scores."""
    return {"path" if "file" in keys else "file": file, **keys, "score": score}


def name_of(place: Row) -> str:
    """Return what a scoring is called in messages."""
    return ", ".join(map(printable, place.values()))


def has_values(results: Results) -> bool:
    """Return True if any metric has a value, or if the results are tables of events."""
    values = [row.get("value", 0.0) for _, found in results for row in found.rows]
    return not values or not all(math.isnan(value) for value in values)


def without_value(results: Results, status: str) -> list[str]:
    """Return a line for each reason why metrics are undefined or failed: which metrics, and in how many scorings."""
    lacking = [
        (row["message"], row["metric"], name_of(place))
        for place, found in results
        for row in found.rows
        if row.get("status") == status and row["message"]
    ]
    lines = []
    for reason, metrics, places in by_reason(lacking):
        if places[1:]:
            first = "; ".join([*places[:2], *["..."] * (len(places) > 2)])  # names have commas inside
            lines.append(f"{are(metrics)} NaN in {len(places)} of {len(results)} scorings ({first}): {reason}")
        else:
            what = f"{are(metrics)} undefined" if status == "undefined" else f"{named(metrics)} failed"
            lines.append(f"{places[0]}: {what}, so NaN: {reason}")
    return lines


def shown(results: Results, format: Format, metrics: tuple[Metric, ...]) -> str:
    """Return the results in the wanted form: csv and json have the rows of all, with what these are made of."""
    if format in WHOLE:
        rows = [
            {**place, **row, **found.points, "version": tsadeval.__version__}
            for place, found in results
            for row in found.rows
        ]
        return show(Result(rows), format)
    if len(results) == 1:
        return show(results[0][1], format)
    values = [(place, found) for place, found in results if isinstance(found, Evaluation)]
    if values:
        return show(_side_by_side(values, list(map(str, metrics))), format)
    tables = [found for _, found in results if isinstance(found, EventTable)]
    each = [f"{name_of(place)}\n{show(found, format)}" for place, found in results]
    return "\n\n".join([*each, "\n".join([f"all {len(tables)} series", *summed_up(tables)])])


def _side_by_side(results: list[tuple[Row, Evaluation]], metrics: list[str]) -> Result:
    """Return a table of values: scorings downwards, or metrics where there are more of those."""
    places = [list(place.values()) for place, _ in results]
    values = [[found[metric] for metric in metrics] for _, found in results]
    names = list(results[0][0])
    if "random" in results[0][1].rows[0]:
        grid: Grid = [[*names, "metric", "value", "random", "error", "perfect"]]
        columns = ("metric", "value", "random", "random_error", "perfect")
        for place, (_, found) in zip(places, results, strict=True):
            grid += [[*place, *(row[column] for column in columns)] for row in found.rows]
    elif len(metrics) > len(results):
        differing = [k for k, column in enumerate(zip(*places, strict=True)) if len(set(column)) > 1]
        titles = [": ".join(place[k] for k in differing) for place in places]
        grid = [["metric", *titles], *map(list, zip(metrics, *values, strict=True))]
    else:
        grid = [[*names, *metrics], *([*place, *row] for place, row in zip(places, values, strict=True))]
    # What the notes of the single results say, once.
    notes = label_notes(row for _, found in results for row in found.rows)
    for note, where in grouped((note, name_of(place)) for place, found in results for note in found.about).items():
        notes.append(f"{note} ({f'in {len(where)} of {len(results)}' if where[1:] else where[0]})")
    return ResultTable([], grid=grid, notes=notes)
