"""Output formats of the commands, and the tables that `tsadeval score` prints."""

from __future__ import annotations

import csv
import enum
import io
import json
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import typer

import tsadeval
from tsadeval.core.facts import odd_alarms
from tsadeval.core.messages import are, by_reason, label_notes, warn_of_alarms
from tsadeval.core.metric import Metric
from tsadeval.core.names import printable
from tsadeval.core.results import Result, Row, latex_table, plain, text_table
from tsadeval.evaluation.events import EventTable, summed_up
from tsadeval.evaluation.single import Evaluation
from tsadeval.scores.scored import Scored


class Format(enum.StrEnum):
    """How to print a table."""

    text = "text"
    csv = "csv"
    json = "json"
    latex = "latex"


MANY = 20  # failures that are printed in full
# Of every command: -h is --help.
SETTINGS = {"help_option_names": ["-h", "--help"]}


def render(format: Format, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table in the wanted form; csv and json keep all digits, and leave empty what is not a number."""
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
    """Print the first failures, a line each, and how many more there are: thousands would hide the result."""
    for line in lines[:MANY]:
        typer.echo(f"tsadeval: {line}", err=True)
    if len(lines) > MANY:
        typer.echo(f"tsadeval: and {len(lines) - MANY:,} more such lines: --format csv has all messages", err=True)


# The tables that `tsadeval score` prints.


@dataclass(frozen=True)
class Place:
    """One scoring of a table, and what it is called there."""

    where: tuple[str, ...]  # file, values of --by, column of the scores
    keys: tuple[str, ...]  # the columns of --by

    @classmethod
    def of(cls, one: Scored) -> Place:
        """Return the names of a scoring."""
        given = one.given
        return cls((given.place, *map(printable, given.keys.values()), printable(given.column)), tuple(given.keys))

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return ", ".join(self.where)


Results = list[tuple[Place, Result]]


def has_values(results: Results) -> bool:
    """Return True if any metric has a value, or if the results are tables of events."""
    values = [row.get("value", 0.0) for _, found in results for row in found.rows]
    return not values or not all(math.isnan(value) for value in values)


def first_of(scorings: Sequence[str]) -> str:
    """Return the first names of scorings, which have commas inside."""
    return "; ".join([*scorings[:2], *["..."] * (len(scorings) > 2)])


def undefined(results: Results) -> list[str]:
    """Return a line for each reason why metrics have no value: which metrics, and in how many scorings."""
    lacking = [
        (row["message"], row["metric"], case.name)
        for case, found in results
        for row in found.rows
        if row.get("status") == "undefined" and row["message"]
    ]
    lines = []
    for reason, metrics, places in by_reason(lacking):
        what = are(metrics)
        if places[1:]:
            lines.append(f"{what} NaN in {len(places)} of {len(results)} scorings ({first_of(places)}): {reason}")
        else:
            lines.append(f"{places[0]}: {what} undefined, so NaN: {reason}")
    return lines


def alarm_lines(results: Results) -> list[str]:
    """Return a line for each rule that raised no alarm, or alarmed everywhere, and where."""
    odd = {case.name: odd_alarms(found.rows, found.points["points"]) for case, found in _values(results)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_alarms(odd)
    return [str(warning.message) for warning in caught]


def _values(results: Results) -> list[tuple[Place, Evaluation]]:
    return [(case, found) for case, found in results if isinstance(found, Evaluation)]


def shown(results: Results, format: Format, metrics: tuple[Metric, ...]) -> str:
    """Return the results as text, or all rows in another form."""
    keys = results[0][0].keys
    names = ["path" if "file" in keys else "file", *keys, "score"]
    if format is not Format.text:
        rows = [
            {**dict(zip(names, case.where, strict=True)), **row, **_counts(found)}
            for case, found in results
            for row in found.rows
        ]
        head = [key for key in dict.fromkeys(key for row in rows for key in row) if key != "seconds"]
        return render(format, head, [[row.get(key) for key in head] for row in rows])
    if len(results) == 1:
        return repr(results[0][1])
    tables = [found for _, found in results if isinstance(found, EventTable)]
    if tables:
        each = [f"{case.name}\n{found!r}" for case, found in results]
        return "\n\n".join([*each, "\n".join([f"all {len(tables)} series", *summed_up(tables)])])
    return _side_by_side(_values(results), names, list(map(str, metrics)))


def _counts(found: Any) -> Row:
    """Return what the numbers of a row are made of."""
    return {**found.points, "version": tsadeval.__version__}


def _side_by_side(results: Sequence[tuple[Place, Evaluation]], names: list[str], metrics: list[str]) -> str:
    """Return a table of values: scorings downwards, or metrics where there are more of those."""
    values = [[found[metric] for metric in metrics] for _, found in results]
    with_baseline = "random" in results[0][1].rows[0]
    if with_baseline:
        columns = ["metric", "value", "random", "random_error", "perfect"]
        body: list[list[Any]] = [
            [*case.where, *(row[c] for c in columns)] for case, found in results for row in found.rows
        ]
        table = render(Format.text, [*names, *(c.replace("random_error", "error") for c in columns)], body)
    elif len(metrics) > len(results):
        differing = [k for k in range(len(names) - 1) if len({case.where[k] for case, _ in results}) > 1]
        if len({case.where[:-1] for case, _ in results}) < len(results):
            differing.append(len(names) - 1)  # several columns of scores in one file
        titles = [": ".join(case.where[k] for k in differing) for case, _ in results]
        body = [[metric, *column] for metric, column in zip(metrics, zip(*values, strict=True), strict=True)]
        table = render(Format.text, ["metric", *titles], body)
    else:
        rows = [[*case.where, *row] for (case, _), row in zip(results, values, strict=True)]
        table = render(Format.text, [*names, *metrics], rows)
    notes = label_notes(row for _, found in results for row in found.rows)
    return "\n\n".join([table, "\n".join([*notes, *_about(results)])]).rstrip()


def _about(results: Sequence[tuple[Place, Evaluation]]) -> list[str]:
    """Return what the notes of the single results say, once."""
    found: dict[str, list[str]] = {}
    for case, result in results:
        for note in result.about:
            found.setdefault(note, []).append(case.name)
    several = {note: f" (in {len(cases)} of {len(results)})" for note, cases in found.items() if len(cases) > 1}
    return [note + several.get(note, f" ({cases[0]})") for note, cases in found.items()]
