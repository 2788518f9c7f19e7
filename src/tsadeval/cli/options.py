"""What commands share: options (columns, files, workers, limits) and their completion; formats, messages, progress."""

import csv
import functools
import inspect
import io
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import typer

from tsadeval.core import setting
from tsadeval.core.names import FORMULA, TEXT, split_names
from tsadeval.core.parallel import on_cluster
from tsadeval.core.results import Result, plain
from tsadeval.engine.progress import Bar
from tsadeval.scores.scores import Scores

Jobs = Annotated[
    int | None,
    typer.Option(
        help="How many at once; -1 for all cores. By default this process alone, with threads where they pay."
    ),
]


# Options that belong together: a command with a parameter of such a type has all of them.
class Work(NamedTuple):
    """Who computes."""

    jobs: Jobs = None
    dask: Annotated[str, typer.Option(help="Address of a Dask scheduler whose workers do it: tcp://host:8786.")] = ""


class CellLimits(NamedTuple):
    """How long a value may take, and how much memory."""

    cell_timeout: Annotated[
        float | None, typer.Option(help="Seconds that one value may take; beyond that it is an error.")
    ] = None
    cell_memory: Annotated[
        str | None, typer.Option(help="Memory that one value may take, such as 2GB; beyond that it is an error.")
    ] = None


DataFolder = Annotated[
    Path | None, typer.Option("--data", help="Folder of the data sets; else the environment variable TSADEVAL_DATA.")
]
MetricNames = Annotated[
    list[str] | None,
    typer.Option(
        help='Metrics and sets (recommended, the default; paper; all), "cce(tau=0.4)", "module:function". Repeatable.',
        autocompletion=lambda incomplete: complete_metrics(incomplete),
    ),
]
Threshold = Annotated[
    str, typer.Option(help="How scores become predictions: best, best(metric), budget(2/week), quantile(p), a number.")
]
Missing = Annotated[
    setting.Missing,
    typer.Option(
        help="Points without a score: skip (left out), ignore (the same, NaN of metrics that cannot leave out points), "
        "'no alarm' (below all other scores), worst (the same; a detector without scores on a series gets the worst "
        "value there), error."
    ),
]


def scores_of(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Tables of labels and scores: csv, tsv, parquet, feather, jsonl, npy, npz, also gzipped; folders of "
            "them, patterns, addresses; - is stdin."
        ),
    ],
    label: Annotated[str, typer.Option(help="Column or array of the labels (0 or 1).")] = "label",
    score: Annotated[
        list[str] | None,
        typer.Option(help='Columns of the scores, e.g. "lof,pca" or a pattern as "lof_*". Repeatable.'),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            help='Columns that tell series and detectors apart, e.g. "series,detector"; also file and folder.'
        ),
    ] = None,
    detector: Annotated[str, typer.Option(help="Which of --by names the detector, if it is not called so.")] = "",
    time: Annotated[str, typer.Option(help="Column of the time stamps.")] = "",
    tz: Annotated[
        str, typer.Option(help="Time zone of stamps without one, here, in incidents and in spans: Europe/Berlin.")
    ] = "",
    values: Annotated[
        str,
        typer.Option("--values", "--value", help="Column of the series itself, drawn above the scores in a report."),
    ] = "",
    labels: Annotated[
        Path | None,
        typer.Option(
            help="File or folder with the labels in its column --label: joined by --by or the names of files, and by "
            "--time where both have it."
        ),
    ] = None,
    incidents: Annotated[
        Path | None,
        typer.Option(
            help="File with columns start and stop (and those of --by, or one with the names of the files), or windows "
            "as json under the values of --by: the labels, instead of a column."
        ),
    ] = None,
    ignore: Annotated[
        Path | None, typer.Option(help="File as for --incidents: spans of time that are not judged.")
    ] = None,
    fit: Annotated[
        Path | None, typer.Option(help="File with scores of a training part: rules without labels are fitted on it.")
    ] = None,
    missing: Missing = "skip",
    shared: Annotated[
        bool,
        typer.Option("--shared", help="Incidents and spans hold for every series, whatever their other columns say."),
    ] = False,
    one_series: Annotated[
        bool, typer.Option("--one-series", help="All rows are one series, even if the columns suggest several.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first thing that cannot be used.")] = False,
) -> Scores:
    """Return the scores in files, by the options of `te.Scores`."""
    reading = {
        "label": label,
        "score": names_of(score) or "score",
        "by": names_of(by),
        "detector": detector,
        "time": time,
        "tz": tz,
        "values": values,
        "incidents": incidents,
        "ignore": ignore,
        "fit": fit,
        "missing": missing,
        "shared": shared,
        "one_series": one_series,
        "strict": strict,
    }
    given: dict[str, Any] = {name: value for name, value in reading.items() if value not in ("", None, [], False)}
    return Scores(files[0] if len(files) == 1 else files, labels, **given)


# What a command gets in place of the options of each type.
_MAKERS: dict[Any, Callable[..., Any]] = {Scores: scores_of, Work: Work, CellLimits: CellLimits}


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in place of a parameter of a type that stands for several options, these options."""
    hints = get_type_hints(command, include_extras=True)
    makers = {name: _MAKERS[kind] for name, kind in hints.items() if kind in _MAKERS}
    groups = {name: inspect.signature(make).parameters for name, make in makers.items()}
    for make in makers.values():
        hints |= get_type_hints(make, include_extras=True)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, make in makers.items():
            given[name] = make(**{option: given.pop(option) for option in groups[name]})
        command(**given)

    parameters = [
        option.replace(annotation=hints[option.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, own in inspect.signature(command).parameters.items()
        for option in groups.get(name, {name: own}).values()
    ]
    setattr(run, "__signature__", inspect.Signature(parameters))  # noqa: B010 - which Typer reads
    run.__annotations__ = hints
    del run.__wrapped__
    return run


def names_of(texts: Iterable[str] | None) -> list[str]:
    """Names from options that may hold several, with commas between."""
    return [name for text in texts or [] for name in split_names(text)]


def say(lines: Iterable[str]) -> None:
    """Print messages for the command line, on stderr."""
    for line in lines:
        typer.echo(f"tsadeval: {line}", err=True)


@contextmanager
def say_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Say each warning once, in a line of its own; yields the list of them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield caught
        finally:
            say(dict.fromkeys(str(warning.message) for warning in caught))


def complete_detectors(incomplete: str) -> list[str]:
    """Names of the registry of detectors."""
    from tsadeval.detectors import DETECTORS

    return _last(incomplete, DETECTORS)


def complete_metrics(incomplete: str) -> list[str]:
    """Names of metrics, and of sets of them."""
    from tsadeval.core.metric import METRICS

    sets = {name for metric in METRICS.values() for name in metric.sets}
    return _last(incomplete, [*METRICS, *sets, "all"])


def complete_datasets(incomplete: str) -> list[str]:
    """Names of data sets."""
    from tsadeval.datasets import DATASETS

    return _last(incomplete, DATASETS)


def _last(incomplete: str, names: Iterable[str]) -> list[str]:
    """Return the names that the part after the last comma begins, each with the parts before it."""
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in sorted(names) if name.startswith(begun)]


@contextmanager
def running(title: str, dask: str) -> Iterator[Bar]:
    """Show a progress bar, with the workers of a Dask cluster if one is named; an interrupt is exit code 130."""
    bar = Bar(title)
    try:
        with bar, on_cluster(dask):
            yield bar
    except KeyboardInterrupt:
        say([f"stopped; {bar.words}. The same command again computes the rest."])
        raise typer.Exit(130) from None


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
