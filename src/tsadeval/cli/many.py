"""`tsadeval score` of files that are many, or too large for memory."""

from __future__ import annotations

import warnings
from pathlib import Path

import typer

from tsadeval.cli.output import Format, render, tell_failures
from tsadeval.cli.running import running
from tsadeval.cli.spans import say
from tsadeval.cli.words import spoken
from tsadeval.core.cluster import on_cluster
from tsadeval.core.metric import Metric
from tsadeval.engine.streams import evaluate_stream
from tsadeval.errors import InvalidParameterError, UndefinedMetricWarning
from tsadeval.evaluation.states import Order
from tsadeval.experiments.scored import FileScores
from tsadeval.experiments.scoring import score_files
from tsadeval.tables.folders import skipped_stores

__all__ = ["score_many", "score_stream"]


def score_many(
    files: list[str],
    metrics: tuple[Metric, ...],
    *,
    label: str,
    scores: list[str],
    by: list[str],
    time: str,
    incidents: Path | None,
    clip: bool,
    shared: bool,
    threshold: str,
    store: Path | None,
    jobs: int | None,
    dask: str,
    format: Format,
) -> None:
    """Compute what the store does not have yet, then print a table by detector and data set."""
    with running("score", dask) as bar:
        result = score_files(
            files,
            metrics,
            label=label,
            score=scores,
            by=by,
            time=time or None,
            incidents=incidents,
            clip=clip,
            shared=shared,
            threshold=threshold,
            store=store,
            n_jobs=jobs,
            progress=bar,
        )
    say(filter(None, [skipped_stores(result.skipped), *result.remarks]))
    typer.echo(_shown(result, format))
    failures = result.failures()
    tell_failures(failures)
    if store is not None:
        typer.echo(f"tsadeval: all rows are in {store}", err=True)
    if failures:  # a script must be able to tell that values are missing
        raise typer.Exit(1)


def _shown(result: FileScores, format: Format) -> str:
    if format is Format.text:
        return spoken(repr(result))
    head, *rows = result._grid() if format is Format.latex else [list(result.rows[0]), *map(dict.values, result.rows)]
    return render(format, list(head), [list(row) for row in rows])


def score_stream(
    files: list[str],
    metrics: tuple[Metric, ...],
    *,
    label: str,
    scores: list[str],
    by: list[str],
    time: str,
    threshold: str,
    order: Order,
    one_series: bool,
    jobs: int | None,
    dask: str,
    format: Format,
) -> None:
    """Evaluate one series (or one for each value of a column) that is larger than memory, batch by batch."""
    if len(scores) > 1 or len(by) > 1:
        raise InvalidParameterError("--stream takes one column of scores, and at most one column in --by")
    with on_cluster(dask), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMetricWarning)
        result = evaluate_stream(
            files,
            metrics,
            threshold=_number(threshold),
            order=order,
            label=label,
            score=scores[0],
            by=by[0] if by else None,
            time=time or None,
            one_series=one_series,
            n_jobs=jobs,
        )
    for text in dict.fromkeys(str(warning.message) for warning in caught):  # once for all series
        typer.echo(f"tsadeval: {text}", err=True)
    if format is Format.text:
        typer.echo(repr(result))
        return
    head = list(result.rows[0])
    typer.echo(render(format, head, [[row[key] for key in head] for row in result.rows]))


def _number(threshold: str) -> float | None:
    if threshold == "best":  # the default; metrics of alarms will ask for a number
        return None
    try:
        return float(threshold.removeprefix("fixed(").removesuffix(")"))
    except ValueError:
        raise InvalidParameterError(
            f"--stream needs a number as --threshold, since scores are read once, but it is {threshold!r}"
        ) from None
