"""`tsadeval report`: write a page about the detectors in tables of scores."""

from __future__ import annotations

import shlex
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from tsadeval.cli.options import (
    By,
    Detector,
    Files,
    Label,
    MetricNames,
    Missing,
    Scores,
    Threshold,
    Time,
    checksums,
    names_of,
    one_or_many,
    usable_runs,
)
from tsadeval.cli.spans import Beside, Clip, Ignore, Incidents, Shared, say
from tsadeval.core.selection import select_metrics
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError
from tsadeval.reports.report import report as write_report
from tsadeval.scores.scores import timed_runs


def report(
    files: Files,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    by: By = None,
    label: Label = "label",
    score: Scores = None,
    detector: Detector = "",
    value: Annotated[str, typer.Option(help="Column of the series itself, drawn above the scores.")] = "",
    time: Time = "",
    incidents: Incidents = None,
    clip: Clip = False,
    shared: Shared = False,
    ignore: Ignore = None,
    metrics: MetricNames = None,
    threshold: Threshold = "best",
    missing: Missing = "skip",
    title: Annotated[str, typer.Option(help="Of the page.")] = "",
) -> None:
    """Write one self-contained HTML page about detectors: series, scores, events, metrics and their statistics."""
    if output.is_dir():
        raise InvalidInputError(f"{output}: this is a folder; name the page, -o {output / 'report.html'}")
    names = names_of(by)
    who = detector or None
    refused: list[InvalidInputError] = []
    chosen = select_metrics(names_of(metrics) or "recommended")
    beside = Beside.of(incidents, ignore, names, files, time=time, clip=clip, shared=shared)
    labels = None if incidents else label
    columns: dict[str, Any] = {"by": names, "y_true": labels, "y_score": names_of(score) or "score", "detector": who}
    times: dict[str, Times] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runs = usable_runs(files, refused.append, times=times, beside=beside, time=time or None, **columns)
        about = [*beside.said(), *beside.fitted(whole=not refused)]
        say([*about, *map(str, refused)])
        if refused and not runs:
            raise typer.Exit(2)
        page = write_report(
            runs,
            output,
            values=_values(files, names, labels, value, who, refused) if value else None,
            times=times or None,
            ignore=beside.ignored or None,
            metrics=chosen,
            threshold=threshold,
            missing=missing,
            title=title,
            command=shlex.join(["tsadeval", *sys.argv[1:]]),
            sources=_used(checksums(files), refused),
            notes=[*(f"Left out: {error}" for error in refused), *about],
        )
    say(dict.fromkeys(str(warning.message) for warning in caught))
    typer.echo(page)
    if refused:
        raise typer.Exit(1)


def _used(sources: dict[str, str], refused: list[InvalidInputError]) -> dict[str, str]:
    """The checksums of the files, with a word where a file was not used."""
    gone = [str(error) for error in refused]
    return {
        name: f"{digest}, not used" if any(text.startswith(f"{name}: ") for text in gone) else digest
        for name, digest in sources.items()
    }


def _values(
    files: list[Path],
    by: list[str],
    label: str | None,
    value: str,
    detector: str | None,
    refused: list[InvalidInputError],
) -> dict[str, Any]:
    """The series themselves by name: of a long table, as the rows of the first detector have them."""
    found: dict[str, Any] = {}
    errors: list[InvalidInputError] = []
    for run, *_ in timed_runs(
        one_or_many(files), by=by, y_true=label, y_score=value, detector=detector, on_error=errors.append
    ):
        found.setdefault(run.series, {value: run.y_score})
    said = {str(error) for error in refused}  # what is wrong with a table has been said of its scores
    new = [f"--value {value}: {error}" for error in errors if str(error) not in said]
    if new and not found:
        raise InvalidInputError(new[0])
    say(new)
    return found
