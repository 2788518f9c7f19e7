"""`tsadeval compare` and `tsadeval report`: compare several detectors, as tables or as a page."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, Literal
from warnings import WarningMessage

import typer

from tsadeval.cli.options import (
    WHOLE,
    MetricNames,
    Shown,
    Threshold,
    Work,
    names_of,
    say,
    say_warnings,
    show,
    with_options,
)
from tsadeval.comparison.compare import compare as compare_scores
from tsadeval.core.names import is_number, split_names
from tsadeval.core.parallel import on_cluster
from tsadeval.core.results import Result
from tsadeval.core.selection import select_metrics
from tsadeval.errors import FailedMetricWarning, InvalidInputError
from tsadeval.reports.report import report as write_report
from tsadeval.scores.scores import Scores
from tsadeval.thresholds.choices import choose_threshold


@with_options
def compare(
    scores: Scores,
    *,
    metrics: MetricNames = None,
    threshold: Threshold = "best",
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Add ranks, tests of pairs and where metrics disagree.")
    ] = False,
    describe: Annotated[
        bool, typer.Option("--describe", help="Add a paragraph about the first metric, in LaTeX with citations.")
    ] = False,
    bib: Annotated[
        Path | None,
        typer.Option(help="Write the references of metrics, rules, tests and data sets to this BibTeX file."),
    ] = None,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Add rows of random and perfect scores, and of one-liners on --values.")
    ] = False,
    interval: Annotated[
        float | None, typer.Option(min=0.01, max=1, help="Add averages with intervals of this level, over series.")
    ] = None,
    rules: Annotated[
        str, typer.Option(help='Add how orders of detectors agree under these rules, as in "best,sigma(3)".')
    ] = "",
    layout: Annotated[
        Literal["tables", "metrics", "series"],
        typer.Option(help="Of LaTeX: the printed tables, detectors by metrics, or series by detectors."),
    ] = "tables",
    caption: Annotated[str, typer.Option(help="Of LaTeX: put the tabular into a table with this caption.")] = "",
    groups: Annotated[
        str | None,
        typer.Option(help='Of LaTeX: data sets in the place of series; "dataset", or the first column of --by.'),
    ] = None,
    notes: Annotated[
        bool, typer.Option("--notes", help="Of LaTeX: put the tabular into a table with a sentence about its numbers.")
    ] = False,
    by_kind: Annotated[
        str, typer.Option(help="A column of the incidents, such as kind: recall, delay and cost of events by it.")
    ] = "",
    work: Work,
    format: Shown = "text",
) -> None:
    """Compare detectors over all series in tables of scores; exit code 1 where some could not be used."""
    chosen = select_metrics(names_of(metrics) or "recommended")
    columns = scores.options.series_columns
    if groups not in (None, "dataset", *columns[:1]):
        raise InvalidInputError(f"--groups is dataset or the first column of --by that names series, not {groups!r}")
    if format in WHOLE and (interval or rules or describe):
        raise InvalidInputError(f"--interval, --rules and --describe do not go with --format {format}: take another")
    parted: Any = (lambda series: series.partition("/")[0]) if groups in columns[:1] else groups
    with on_cluster(work.dask), say_warnings() as said:
        found = compare_scores(
            scores, metrics=chosen, threshold=threshold, baseline=baseline, n_jobs=work.jobs, progress=True
        )
        say(scores.notes)
        parts: list[Result] = []
        if statistics and len(found.detectors) > 1 and format not in WHOLE:
            parts += [found.ranks()]
            parts += [found.significance()] if len(found.series) > 1 else []
            parts += [found.disagreement()] if len(found.metrics) > 1 else []
        parts += [found.average(interval=interval)] if interval else []
        parts += [found.robustness(split_names(rules), n_jobs=work.jobs)] if rules else []
        parts += [found.by_kind(by_kind)] if by_kind else []
    latex = format == "latex"
    values = (
        found.to_latex(layout=layout, groups=parted, caption=caption, notes=notes) if latex else show(found, format)
    )
    text = [found.describe(latex=latex)] if describe else []
    typer.echo("\n\n".join([values, *(show(part, format) for part in parts), *text]))
    if bib is not None:
        bib.write_text(found.cite() + "\n", encoding="utf-8")
    _exit_where_values_lack(scores, said)


@with_options
def report(
    scores: Scores,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    metrics: MetricNames = None,
    threshold: Threshold = "best",
    title: Annotated[str, typer.Option(help="Of the page.")] = "",
    budget: Annotated[
        str, typer.Option(help="False alarms that are allowed (1/week): the page begins with the best detector then.")
    ] = "",
    cooldown: Annotated[str, typer.Option(help="With --budget: alarms up to so long apart are one page.")] = "0",
    split: Annotated[str, typer.Option(help="With --budget: choose on the first part (0.5), report the rest.")] = "",
) -> None:
    """Write one self-contained HTML page about detectors: series, scores, events, metrics and their statistics."""
    if output.is_dir():
        raise InvalidInputError(f"{output}: this is a folder; name the page, -o {output / 'report.html'}")
    command = shlex.join(["tsadeval", *sys.argv[1:]])
    given: dict[str, Any] = {"metrics": names_of(metrics) or None, "threshold": threshold}
    if not budget and (split or cooldown != "0"):
        raise InvalidInputError("--cooldown and --split are for --budget: add it, or leave them out")
    with say_warnings() as said:
        if budget:
            first, test = scores, None
            if split:
                first, scores = scores.split(**({"share": float(split)} if is_number(split) else {"at": split}))
                test = scores
            given["threshold"], given["choice"] = (
                None,
                choose_threshold(
                    first,
                    max_false_alarms=float(budget) if is_number(budget) else budget,
                    per="series",
                    cooldown=int(cooldown) if cooldown.isdigit() else cooldown,
                    test=test,
                ),
            )
        page = write_report(scores, output, title=title, command=command, **given)
    say([*scores.notes, *(f"left out: {line}" for line in scores.left_out_lines())])
    typer.echo(page)
    _exit_where_values_lack(scores, said)


def _exit_where_values_lack(scores: Scores, said: list[WarningMessage]) -> None:
    """Exit with code 1 where scorings were left out or metrics failed: a script must be able to tell."""
    if scores.left_out_lines() or any(issubclass(one.category, FailedMetricWarning) for one in said):
        raise typer.Exit(1)
