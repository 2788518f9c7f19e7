"""`tsadeval compare`: compare several detectors from tables of scores."""

from __future__ import annotations

import enum
from typing import Annotated, Any

import typer

from tsadeval.cli.options import Dask, Jobs, MetricNames, Threshold, names_of, reads_scores, say, say_warnings
from tsadeval.cli.output import Format, render
from tsadeval.comparison.compare import compare as compare_scores
from tsadeval.comparison.comparison import Comparison
from tsadeval.core.parallel import on_cluster
from tsadeval.core.results import Result
from tsadeval.core.selection import select_metrics
from tsadeval.scores.scores import Scores


class ComparisonFormat(enum.StrEnum):
    """How to print a comparison."""

    text = "text"
    csv = "csv"
    json = "json"
    latex = "latex"
    html = "html"


class LatexLayout(enum.StrEnum):
    """Which tables LaTeX has."""

    tables = "tables"
    metrics = "metrics"
    series = "series"


@reads_scores
def compare(
    scores: Scores,
    metrics: MetricNames = None,
    threshold: Threshold = "best",
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Add ranks, tests of pairs and where metrics disagree.")
    ] = False,
    layout: Annotated[
        LatexLayout, typer.Option(help="Of LaTeX: the printed tables, detectors by metrics, or series by detectors.")
    ] = LatexLayout.tables,
    caption: Annotated[str, typer.Option(help="Of LaTeX: put the tabular into a table with this caption.")] = "",
    notes: Annotated[
        bool, typer.Option("--notes", help="Of LaTeX: put the tabular into a table with the notes as text under it.")
    ] = False,
    jobs: Jobs = None,
    dask: Dask = "",
    format: Annotated[ComparisonFormat, typer.Option(help="How to print the values.")] = ComparisonFormat.text,
) -> None:
    """Compare detectors over all series in tables of scores; exit code 1 where some could not be used."""
    chosen = select_metrics(names_of(metrics) or "recommended")
    with on_cluster(dask), say_warnings():
        found = compare_scores(scores, metrics=chosen, threshold=threshold, n_jobs=jobs)
        say(scores.notes)
        parts: list[Result] = [found]
        if statistics and len(found.detectors) > 1:
            parts += [found.ranks()]
            parts += [found.significance()] if len(found.series) > 1 else []
            parts += [found.disagreement()] if len(found.metrics) > 1 else []
    typer.echo(_shown(found, parts, format, {"layout": layout.value, "caption": caption, "notes": notes}))
    if scores.left_out_lines():
        raise typer.Exit(1)


def _shown(found: Comparison, parts: list[Result], form: ComparisonFormat, latex: dict[str, Any]) -> str:
    if form is ComparisonFormat.text:
        return "\n\n".join(map(repr, parts))
    if form is ComparisonFormat.html:
        return "\n".join(part._repr_html_() for part in parts)
    if form is ComparisonFormat.latex:
        first = found.to_latex(**latex)
        return "\n\n".join([first, *(part.to_latex() for part in parts[1:])])
    rows = found.rows
    head = [key for key in rows[0] if key != "seconds"]
    return render(Format(form.value), head, [[row.get(key) for key in head] for row in rows])
