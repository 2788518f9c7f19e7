"""`tsadeval rankeval`: run the benchmark of metrics, show its results; `reproduce`: the paper's tables beside ours."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tsadeval.cli.options import (
    CELL_LIMITS,
    DataFolder,
    Given,
    Shown,
    Work,
    complete_metrics,
    names_of,
    option,
    running,
    say,
    show,
    with_options,
)
from tsadeval.core.facts import grouped
from tsadeval.core.results import Result, ResultTable, Row
from tsadeval.datasets import data_folder
from tsadeval.errors import InvalidParameterError
from tsadeval.rankeval import SUITES, SuiteResult, read
from tsadeval.rankeval import run as run_suite
from tsadeval.rankeval.quality import Ties, Undefined
from tsadeval.rankeval.series import CASES
from tsadeval.rankeval.suites.hard import HardSuite
from tsadeval.rankeval.suites.paper import PaperSuite
from tsadeval.rankeval.suites.paper_explanation import hard_hint
from tsadeval.rankeval.suites.paper_rankings import Order
from tsadeval.rankeval.suites.selection import SelectionSuite
from tsadeval.reproduction.reproduce import RESULTS
from tsadeval.reproduction.reproduce import reproduce as reproduce_paper

app = typer.Typer(
    help="Judge metrics: how well do they order models whose true order is known?",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Folder = Annotated[Path, typer.Argument(help="The store of a run.")]
OneSuite = Annotated[str, typer.Option(help="Of the last run of this suite; by default of the last run.")]
Sorting = Annotated[
    Order, typer.Option(help="Metrics by average Spearman, or as they were given; hard and audit sort always.")
]
Tied = Annotated[Ties, typer.Option(help="Average ranks, or an unstable sort as published.")]
Silent = Annotated[
    Undefined,
    typer.Option(
        help="Models without alarms under eTaPR and affiliation, which have no value in the published code: worst of "
        "their ranking, left out, left out with their ranking, or as in the paper's table."
    ),
]


_OPTIONS: Given = {
    "repeats": option(int | None, None, "Draws of each model; the suite's own number by default."),
    "random_state": option(int | None, None, "Of all streams; 0 by default.", "--seed"),
    "cases": option(list[str] | None, None, "Only these label cases. Repeatable.", callback=names_of),
    "tasks": option(
        list[str] | None,
        None,
        'Only these tasks; of suite hard also "module:function". Repeatable.',
        callback=names_of,
    ),
    "adversaries": option(
        list[str] | None,
        None,
        'Of suite audit: scorers of your own beside ours, "module:function". Repeatable.',
        callback=names_of,
    ),
    "criteria": option(
        list[str] | None,
        None,
        "Of suite selection: what counts in the end, events, early, costs, points or rare (all by default), "
        '"costs(missed=50)", or your own function, "module:function". Repeatable.',
        callback=names_of,
    ),
    "threshold": option(
        str | None,
        None,
        "Of audit and selection: how scores become predictions; quantile(0.95) and best by default.",
    ),
    "data": option(
        Path | None,
        None,
        "Folder of the real data; else the environment variable TSADEVAL_DATA. Of audit and selection: the scores.",
    ),
    "label": option(str | None, None, "Of audit and selection: the column of the labels; label by default."),
    "score": option(
        list[str] | None,
        None,
        "Of audit and selection: a column of scores; repeat it. All other columns of numbers by default.",
    ),
}


@app.command("run")
@with_options
def run(
    *,
    suite: Annotated[str, typer.Option(help="quick, paper, paper-text, standard, hard, audit or selection.")] = "quick",
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            help="Sets (recommended: seven that say different things; paper: the eleven of the RankEval paper; all: "
            "all metrics of the library), names with options, or your own function in mine.py as mine:function; with "
            'commas: "recommended,cce(tau=0.4),mine:metric". Those of the suite by default. Repeatable.',
            callback=names_of,
            autocompletion=complete_metrics,
        ),
    ] = None,
    store: Annotated[Path | None, typer.Option(help="Folder of the results; runs/SUITE by default.")] = None,
    options: Annotated[Given, _OPTIONS],
    by: Annotated[
        str | None,
        typer.Option(
            help='Of audit and selection: the column that names the series; series by default, "" for none, '
            '"series,detector" for a table with one column of scores.'
        ),
    ] = None,
    work: Work,
    limits: Annotated[Given, CELL_LIMITS],
    order: Sorting = "quality",
    format: Shown = "text",
) -> None:
    """Compute what is missing in the store, then print the table. Exit code 1 where a metric failed."""
    store = store or Path("runs") / suite.partition("(")[0]
    options |= {"by": by or None} if by is not None else {}
    with running(suite, work.dask) as bar:
        result = run_suite(suite, metrics, store=store, n_jobs=work.jobs, progress=bar, **limits, **options)
    typer.echo(show(_table(result, "task", "average", "worst", order), format))
    failed = _complain(result)
    say([f"the values are in {store}", *_hints(result, store)])
    if failed:  # a script must be able to tell that values are missing
        raise typer.Exit(1)


@app.command("table")
def table(
    folder: Folder,
    suite: OneSuite = "",
    ties: Tied = "average",
    undefined: Silent = "worst",
    by: Annotated[
        Literal["task", "sigma"], typer.Option(help="A column for each task, or for each sigma of the noise.")
    ] = "task",
    order: Sorting = "quality",
    format: Shown = "text",
) -> None:
    """Print ranking quality, as far as the run got."""
    result = read(folder, suite or None)
    typer.echo(show(_table(result, by, ties, undefined, order), format))
    _complain(result)


@app.command("explain")
def explain(
    folder: Folder,
    metric: Annotated[str, typer.Argument(help="As in the table: mine:metric, cce, or 'f1 at best'.")],
    pairs: Annotated[
        int | None,
        typer.Option(
            help="Of suite hard: pairs of each task, 1 by default; of selection: wrong choices, 10 by default."
        ),
    ] = None,
    tasks: Annotated[int, typer.Option(help="Of suite hard: how many tasks, the worst first.")] = 5,
    beside: Annotated[str, typer.Option(help="Of suite hard: the metric whose values stand beside.")] = "ears",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Of suites hard and selection: folder of pictures of the pairs."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Of suite selection, with --output: the scores that it was given.")
    ] = None,
    suite: OneSuite = "",
    format: Shown = "text",
) -> None:
    """Show the pairs of models that a metric puts in the wrong order, on the tasks where it is worst."""
    result = read(folder, suite or None)
    hard, drawn = (isinstance(result.plan, kind) for kind in (HardSuite, (HardSuite, SelectionSuite)))
    options: dict[str, Any] = {"tasks": tasks, "beside": beside} if hard else {}
    found = result.explain(metric, **options, **({"pairs": pairs} if drawn and pairs else {}))
    typer.echo(show(found, format))
    if output is not None and drawn and (hard or data):
        from tsadeval.plot import write_explanation

        say(map(str, write_explanation(found, output, scores=data)))
    elif output is not None:
        asked = f"pictures are of the suites hard and selection; {hard_hint(metric)}"
        say(["pictures show the scores that were chosen by: add --data" if drawn else asked])


@app.command("latency")
def latency(
    folder: Folder,
    metric: Annotated[str, typer.Option(help="This one by generator, length and number of events.")] = "",
    suite: OneSuite = "",
    format: Shown = "text",
) -> None:
    """Print the milliseconds of each metric."""
    result = read(folder, suite or None)
    if not isinstance(result.plan, PaperSuite):
        others = [suite.name for suite in SUITES.values() if isinstance(suite, PaperSuite)]
        raise InvalidParameterError(f"{folder} is a run of another kind: latency is of the suites {', '.join(others)}")
    typer.echo(show(result.latency(metric or None), format))


@app.command("list")
def list_suites(data: DataFolder = None, format: Shown = "text") -> None:
    """List the suites."""
    folder = data_folder(data)
    rows: list[Row] = []
    for suite in SUITES.values():
        cases = [len(suite.cases), len(suite.present(folder))] if isinstance(suite, PaperSuite) else ["", ""]
        tasks = len(suite.tasks) if isinstance(suite, (PaperSuite, HardSuite)) else ""
        stream = getattr(suite, "stream", "independent" if tasks else "")
        row = {"suite": suite.name, "cases": cases[0], "present": cases[1], "tasks": tasks}
        rows.append({**row, "repeats": getattr(suite, "repeats", ""), "streams": stream, "summary": suite.summary})
    absent = [case.name for case in CASES.values() if not case.present(folder)]
    notes = [f"not present, join with --data or TSADEVAL_DATA: {', '.join(absent)}"] if absent else []
    typer.echo(show(ResultTable(rows, notes=notes), format))


@app.command("figures")
def figures(
    folder: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the figures.")] = Path("figures"),
    format: Annotated[Literal["png", "pdf", "svg"], typer.Option(help="Of the files.")] = "png",
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            help="Whose values to draw against the false-alarm rate; the paper's four by default. Repeatable.",
            callback=names_of,
        ),
    ] = None,
    ties: Tied = "average",
    undefined: Silent = "worst",
    suite: OneSuite = "",
) -> None:
    """Draw the figures of a run, as far as it got; for CCE with other tau, compute what is missing in the store."""
    from tsadeval.plot import write_figures

    result = read(folder, suite or None)
    paths = write_figures(
        result,
        output,
        format=format,
        metrics=metrics,
        left_out=lambda message: say([message]),
        ties=ties,
        undefined=undefined,
    )
    for path in paths:
        typer.echo(path)


def _table(result: SuiteResult, by: Literal["task", "sigma"], ties: Ties, undefined: Undefined, order: Order) -> Result:
    """Return the table of a run; how it is sorted and averaged is an option of the paper's suites."""
    if not isinstance(result.plan, PaperSuite):
        return result.table()
    table: Result = (result.table if by == "task" else result.robustness)(ties=ties, undefined=undefined, order=order)
    return table


def _hints(result: SuiteResult, store: Path) -> list[str]:
    """Say what to do next with a metric of one's own."""
    own = [str(metric) for metric in result.plan.metrics if not metric.library]
    if not isinstance(result.plan, HardSuite):
        return [f"why it loses: tsadeval rankeval explain {store} {name}" for name in own]
    hints = [f"why it loses, with pictures: tsadeval rankeval explain {store} {name} -o pictures" for name in own]
    if own and len(own) == len(result.plan.metrics):
        hints.append(f"beside others: the same command with --metrics recommended,{','.join(own)}")
    return hints


def _complain(result: SuiteResult) -> bool:
    """Print the first error message of each metric that raised; return True if any did."""
    values = result.to_frame().query("status == 'error'")
    values = values.drop_duplicates(["metric", "series"]) if "detector" in values else values  # one by detector
    failed = grouped(zip(values["metric"], values["message"], strict=True))
    say(f"{name} failed on {len(why)} series, first with {why[0]}" for name, why in failed.items())
    return bool(failed)


@with_options
def reproduce(
    name: Annotated[str, typer.Argument(help=f"{', '.join(RESULTS)}, or all.")] = "all",
    *,
    store: Annotated[Path, typer.Option(help="Folder of what is computed.")] = Path("runs/reproduce"),
    data: DataFolder = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the figures, in the paper's layout.")
    ] = None,
    work: Work,
    format: Shown = "text",
) -> None:
    """Compute what is missing in the store, then print the paper's numbers on CCE beside ours.

    Exit code 1 where something could not be computed for want of data.
    """
    with running("reproduce", work.dask) as bar:
        found = reproduce_paper(name, store=store, data=data, n_jobs=work.jobs, progress=bar, output=output)
    typer.echo(show(found, format))
    say([*found.missing, f"the values are in {store}"])
    if found.missing:
        raise typer.Exit(1)
