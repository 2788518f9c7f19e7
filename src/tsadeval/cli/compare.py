"""`tsadeval compare`: compare several detectors from tables of scores."""

from __future__ import annotations

import enum
import warnings
from typing import Annotated, Any

import typer

from tsadeval.cli.options import (
    By,
    Dask,
    Detector,
    Files,
    Label,
    MetricNames,
    Missing,
    Scores,
    Threshold,
    Time,
    names_of,
    usable_runs,
)
from tsadeval.cli.output import Format, render
from tsadeval.cli.spans import Beside, Clip, Ignore, Incidents, Shared, say
from tsadeval.comparison.compare import compare as compare_scores
from tsadeval.comparison.comparison import Comparison
from tsadeval.core.parallel import on_cluster
from tsadeval.core.results import Result
from tsadeval.core.selection import select_metrics
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError


class Form(enum.StrEnum):
    """How to print a comparison."""

    text = "text"
    csv = "csv"
    json = "json"
    latex = "latex"
    html = "html"


class Layout(enum.StrEnum):
    """Which tables LaTeX has."""

    tables = "tables"
    metrics = "metrics"
    series = "series"


def compare(
    files: Files,
    by: By = None,
    label: Label = "label",
    score: Scores = None,
    detector: Detector = "",
    time: Time = "",
    incidents: Incidents = None,
    clip: Clip = False,
    shared: Shared = False,
    ignore: Ignore = None,
    metrics: MetricNames = None,
    threshold: Threshold = "best",
    missing: Missing = "skip",
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Add ranks, tests of pairs and where metrics disagree.")
    ] = False,
    layout: Annotated[
        Layout, typer.Option(help="Of LaTeX: the printed tables, detectors by metrics, or series by detectors.")
    ] = Layout.tables,
    caption: Annotated[str, typer.Option(help="Of LaTeX: put the tabular into a table with this caption.")] = "",
    notes: Annotated[
        bool, typer.Option("--notes", help="Of LaTeX: put the tabular into a table with the notes as text under it.")
    ] = False,
    dask: Dask = "",
    format: Annotated[Form, typer.Option(help="How to print the values.")] = Form.text,
) -> None:
    """Compare detectors over all series in tables of scores; exit code 1 where some could not be used."""
    refused: list[InvalidInputError] = []
    times: dict[str, Times] = {}
    chosen = select_metrics(names_of(metrics) or "recommended")
    columns: dict[str, Any] = {
        "by": names_of(by),
        "y_true": None if incidents else label,
        "y_score": names_of(score) or "score",
        "detector": detector or None,
    }
    beside = Beside.of(incidents, ignore, columns["by"], files, time=time, clip=clip, shared=shared)
    with on_cluster(dask), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runs = usable_runs(files, refused.append, times=times, beside=beside, time=time or None, **columns)
        say([*beside.said(), *beside.fitted(whole=not refused), *map(str, refused)])
        if refused and not runs:
            raise typer.Exit(2)
        found = compare_scores(
            runs,
            metrics=chosen,
            threshold=threshold,
            missing=missing,
            times=times or None,
            ignore=beside.ignored or None,
        )
        parts: list[Result] = [found]
        if statistics and len(found.detectors) > 1:
            parts += [found.ranks()]
            parts += [found.significance()] if len(found.series) > 1 else []
            parts += [found.disagreement()] if len(found.metrics) > 1 else []
    say(dict.fromkeys(str(warning.message) for warning in caught))
    typer.echo(_shown(found, parts, format, {"layout": layout.value, "caption": caption, "notes": notes}))
    if refused:
        raise typer.Exit(1)


def _shown(found: Comparison, parts: list[Result], form: Form, latex: dict[str, Any]) -> str:
    if form is Form.text:
        return "\n\n".join(map(repr, parts))
    if form is Form.html:
        return "\n".join(part._repr_html_() for part in parts)
    if form is Form.latex:
        first = found.to_latex(**latex)
        return "\n\n".join([first, *(part.to_latex() for part in parts[1:])])
    rows = found.rows
    head = [key for key in rows[0] if key != "seconds"]
    return render(Format(form.value), head, [[row.get(key) for key in head] for row in rows])
