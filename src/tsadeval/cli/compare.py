"""`tsadeval compare`, `report` and `choose`: compare several detectors, as tables or as a page, and choose one."""

import inspect
import math
import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal
from warnings import WarningMessage

import typer

from tsadeval.cli.options import (
    WHOLE,
    Format,
    Given,
    MetricNames,
    Shown,
    Threshold,
    Work,
    number_of,
    option,
    say,
    say_warnings,
    show,
    span_of,
    with_options,
)
from tsadeval.comparison.compare import compare as compare_scores
from tsadeval.comparison.comparison import Comparison
from tsadeval.core.names import split_names
from tsadeval.core.parallel import on_cluster
from tsadeval.core.results import Result
from tsadeval.core.selection import select_metrics
from tsadeval.errors import FailedMetricWarning, InvalidInputError
from tsadeval.reports.report import report as write_report
from tsadeval.scores.scores import Scores
from tsadeval.thresholds.choices import choose_threshold, split_of

# Parts that are added to the values.
_MORE: Given = {
    "statistics": option(bool, False, "Add ranks, tests of pairs and where metrics disagree.", "--statistics"),
    "describe": option(bool, False, "Add a paragraph about the first metric, in LaTeX with citations.", "--describe"),
    "interval": option(float | None, None, "Add averages with intervals of this level, over series.", min=0.01, max=1),
    "rules": option(str, "", 'Add how orders of detectors agree under these rules, as in "best,sigma(3)".'),
    "by_kind": option(str, "", "A column of the incidents, such as kind: recall, delay and cost of events by it."),
}
_LATEX: Given = {
    "layout": option(
        Literal["tables", "metrics", "series"],
        "tables",
        "Of LaTeX: the printed tables, detectors by metrics, or series by detectors.",
    ),
    "caption": option(str, "", "Of LaTeX: put the tabular into a table with this caption."),
    "groups": option(
        str | None,
        None,
        'Of LaTeX: data sets in the place of series; "dataset", or the first column of --by.',
    ),
    "notes": option(
        bool,
        False,
        "Of LaTeX: put the tabular into a table with a sentence about its numbers.",
        "--notes",
    ),
}


@with_options
def compare(
    scores: Scores,
    *,
    metrics: MetricNames = None,
    threshold: Threshold = "best",
    more: Annotated[Given, _MORE],
    bib: Annotated[
        Path | None,
        typer.Option(help="Write the references of metrics, rules, tests and data sets to this BibTeX file."),
    ] = None,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Add rows of random and perfect scores, and of one-liners on --values.")
    ] = False,
    latex: Annotated[Given, _LATEX],
    work: Work,
    format: Shown = "text",
) -> None:
    """Compare detectors over all series in tables of scores; exit code 1 where some could not be used."""
    chosen, groups = select_metrics(metrics or "recommended"), latex.get("groups")
    columns = scores.options.series_columns
    if groups not in (None, "dataset", *columns[:1]):
        raise InvalidInputError(f"--groups is dataset or the first column of --by that names series, not {groups!r}")
    if format in WHOLE and any(given and name != "by_kind" for name, given in more.items()):
        raise InvalidInputError(f"--statistics, --interval, --rules and --describe do not go with --format {format}")
    if groups in columns[:1]:
        latex["groups"] = lambda series: series.partition("/")[0]
    with on_cluster(work.dask), say_warnings() as said:
        found = compare_scores(
            scores, metrics=chosen, threshold=threshold, baseline=baseline, n_jobs=work.jobs, progress=True
        )
        say(scores.notes)
        parts = _parts(found, work, format, **more)
    values = found.to_latex(**latex) if format == "latex" else show(found, format)
    typer.echo("\n\n".join([values, *parts]))
    if bib is not None:
        bib.write_text(found.cite() + "\n", encoding="utf-8")
    _exit_where_values_lack(scores, said)


def _parts(
    found: Comparison,
    work: Work,
    format: Format,
    *,
    statistics: bool,
    describe: bool,
    interval: float | None = None,
    rules: str = "",
    by_kind: str = "",
) -> list[str]:
    """Return what is added to the values; to csv and json, which have whole rows, only rows of other columns."""
    kinds = [found.by_kind(by_kind)] if by_kind else []
    if format in WHOLE:
        return [show(part, format) for part in kinds]
    parts: list[Result] = []
    if statistics and len(found.detectors) > 1:
        parts += [found.ranks()]
        parts += [found.significance()] if len(found.series) > 1 else []
        parts += [found.disagreement()] if len(found.metrics) > 1 else []
    parts += [found.average(interval=interval)] if interval else []
    parts += [found.robustness(split_names(rules), n_jobs=work.jobs)] if rules else []
    text = [found.describe(latex=format == "latex")] if describe else []
    return [*(show(part, format) for part in [*parts, *kinds]), *text]


_BUDGET: Given = {
    "max_false_alarms": option(
        str,
        "",
        "False alarms that are allowed (1/week): the page begins with the best detector then.",
        "--budget",
        callback=number_of,
    ),
    "cooldown": option(str, "0", "With --budget: alarms up to so long apart are one page.", callback=span_of),
    "split": option(str, "", "With --budget: choose on the first part (0.5), report the rest.", callback=number_of),
}


@with_options
def report(
    scores: Scores,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("report.html"),
    metrics: MetricNames = None,
    threshold: Threshold = "best",
    title: Annotated[str, typer.Option(help="Of the page.")] = "",
    choice: Annotated[Given, _BUDGET],
) -> None:
    """Write one self-contained HTML page about detectors: series, scores, events, metrics and their statistics."""
    if output.is_dir():
        raise InvalidInputError(f"{output}: this is a folder; name the page, -o {output / 'report.html'}")
    command = shlex.join(["tsadeval", *sys.argv[1:]])
    given: Given = {"metrics": metrics, "threshold": threshold}
    if "max_false_alarms" not in choice and ("split" in choice or choice.get("cooldown")):
        raise InvalidInputError("--cooldown and --split are for --budget: add it, or leave them out")
    with say_warnings() as said:
        if "max_false_alarms" in choice:
            given |= {"threshold": None, "choice": choose_threshold(scores, per="series", **choice)}
        if "split" in choice:
            scores = scores.split(**split_of(choice["split"]))[1]
        page = write_report(scores, output, title=title, command=command, **given)
    say([*scores.notes, *(f"left out: {line}" for line in scores.left_out_lines())])
    typer.echo(page)
    _exit_where_values_lack(scores, said)


def _exit_where_values_lack(scores: Scores, said: list[WarningMessage]) -> None:
    """Exit with code 1 where scorings were left out or metrics failed: a script must be able to tell."""
    if scores.left_out_lines() or any(issubclass(one.category, FailedMetricWarning) for one in said):
        raise typer.Exit(1)


_CHOICE: Given = {
    "max_false_alarms": option(
        str,
        inspect.Parameter.empty,
        "False alarms that are allowed: a rate such as 1/week, or a number.",
        "--budget",
        callback=number_of,
    ),
    "per": option(Literal["series", "all"], "series", "The budget is for each series, or for all of them together."),
    "cooldown": option(str, "0", "Alarms up to so long apart (30min; or points) are one page.", callback=span_of),
    "split": option(
        str,
        "",
        "Choose on the first part of each series (0.5) or before a moment; judge on the rest.",
        callback=number_of,
    ),
    "test": option(str, "", "Other scores to judge them on: a file or folder, read with the same options."),
    "maximize": option(
        str,
        "event_recall",
        'event_recall, or prices: "expected_cost(miss=500, false_alarm=40, delay_per_hour=9)".',
    ),
    "prefer": option(
        Literal["highest", "lowest"],
        "highest",
        "Of equally good thresholds that of the fewest false alarms, or the lowest.",
    ),
    "cost": option(str, "expected_cost", "The prices of the column of costs, in the same form."),
}


@with_options
def choose(
    scores: Scores,
    *,
    choice: Annotated[Given, _CHOICE],
    by_kind: Annotated[
        str, typer.Option(help="A column of the incidents, such as kind: recall, delay and cost by it.")
    ] = "",
    format: Shown = "text",
) -> None:
    """Choose the best detector and its threshold; exit code 1 where none keeps the budget, or scores are left out."""
    with say_warnings():
        found = choose_threshold(scores, **choice)
        say(scores.notes)
    shown = [show(found, format), *([show(found.by_kind(by_kind), format)] if by_kind else [])]
    typer.echo("\n\n".join(shown))
    if math.isinf(found.threshold) or scores.left_out_lines():
        raise typer.Exit(1)
