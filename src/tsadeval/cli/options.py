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
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

import typer

from tsadeval.core import setting
from tsadeval.core.names import FORMULA, TEXT, is_number, split_names
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


class Work(NamedTuple):
    """Who computes."""

    jobs: Jobs = None
    dask: Annotated[str, typer.Option(help="Address of a Dask scheduler whose workers do it: tcp://host:8786.")] = ""


def names_of(texts: Iterable[str] | None) -> list[str]:
    """Names from options that may hold several, with commas between."""
    return [name for text in texts or [] for name in split_names(text)]


def number_of(text: str) -> str | float:
    """Return a number where a text is one, else the text."""
    return float(text) if is_number(text) else text


def span_of(text: str) -> str | int:
    """Return a number of points where a text is one, else the text, a duration."""
    return int(text) if text.isdigit() else text


DataFolder = Annotated[
    Path | None, typer.Option("--data", help="Folder of the data sets; else the environment variable TSADEVAL_DATA.")
]
MetricNames = Annotated[
    list[str] | None,
    typer.Option(
        help='Metrics and sets (recommended, the default; paper; all), "cce(tau=0.4)", "module:function". Repeatable.',
        callback=names_of,
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


def option(kind: Any, default: Any, help: str, *flags: str, **more: Any) -> Any:
    """Declare an option of a group: its type, its default and what it is."""
    return Annotated[kind, typer.Option(*flags, help=help, **more)], default


# A command with a parameter `Annotated[Given, options]` has these options: types and defaults by name. It gets the
# values by name, without those that are None or "".
Given = dict[str, Any]
CELL_LIMITS: Given = {
    "cell_timeout": option(float | None, None, "Seconds that one value may take; beyond that it is an error."),
    "cell_memory": option(str | None, None, "Memory that one value may take, such as 2GB; beyond that it is an error."),
}
_SCORES: Given = {
    "files": (
        Annotated[
            list[str],
            typer.Argument(
                help="Tables of labels and scores: csv, tsv, parquet, feather, jsonl, npy, npz, also gzipped; folders "
                "of them, patterns, addresses; - is stdin."
            ),
        ],
        inspect.Parameter.empty,
    ),
    "label": option(str, "label", "Column or array of the labels (0 or 1)."),
    "score": option(
        list[str] | None,
        None,
        'Columns of the scores, e.g. "lof,pca" or a pattern as "lof_*". Repeatable.',
        callback=names_of,
    ),
    "by": option(
        list[str] | None,
        None,
        'Columns that tell series and detectors apart, e.g. "series,detector"; also file and folder.',
        callback=names_of,
    ),
    "detector": option(str, "", "Which of --by names the detector, if it is not called so."),
    "time": option(str, "", "Column of the time stamps."),
    "tz": option(str, "", "Time zone of stamps without one, here, in incidents and in spans: Europe/Berlin."),
    "values": option(
        str,
        "",
        "Column of the series itself, drawn above the scores in a report.",
        "--values",
        "--value",
    ),
    "labels": option(
        Path | None,
        None,
        "File or folder with the labels in its column --label: joined by --by or the names of files, and by "
        "--time where both have it.",
    ),
    "incidents": option(
        Path | None,
        None,
        "File with columns start and stop (and those of --by, or one with the names of the files), or windows as "
        "json under the values of --by: the labels, instead of a column.",
    ),
    "ignore": option(Path | None, None, "File as for --incidents: spans of time that are not judged."),
    "fit": option(Path | None, None, "File with scores of a training part: rules without labels are fitted on it."),
    "missing": (Missing, "skip"),
    "shared": option(
        bool,
        False,
        "Incidents and spans hold for every series, whatever their other columns say.",
        "--shared",
    ),
    "one_series": option(bool, False, "All rows are one series, even if the columns suggest several.", "--one-series"),
    "strict": option(bool, False, "Stop at the first thing that cannot be used.", "--strict"),
}


def _given(**options: Any) -> Given:
    return {name: value for name, value in options.items() if value not in (None, "")}


def _read(files: list[str], labels: Path | None, **options: Any) -> Scores:
    return Scores(files[0] if len(files) == 1 else files, labels, **_given(**options))


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in place of each parameter that stands for several options, these options.

    Such parameters have the types `Scores` and `Work`, or are `Annotated[Given, options]`.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, tuple[Given, Callable[..., Any]]] = {}
    for name, kind in hints.items():
        if kind is Scores:
            groups[name] = _SCORES, _read
        elif kind is Work:
            groups[name] = {o.name: (o.annotation, o.default) for o in signature(Work).parameters.values()}, Work
        elif get_args(kind)[:1] == (Given,):
            groups[name] = get_args(kind)[1], _given

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, (options, make) in groups.items():
            given[name] = make(**{option: given.pop(option) for option in options})
        command(**given)

    parameters = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, own in signature(command).parameters.items()
        for option, (kind, default) in groups.get(name, ({name: (hints[name], own.default)}, None))[0].items()
    ]
    setattr(run, "__signature__", inspect.Signature(parameters))  # noqa: B010 - which Typer reads
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    del run.__wrapped__
    return run


def say(lines: Iterable[str]) -> None:
    """Print messages for the command line, on stderr."""
    for line in lines:
        typer.echo(f"tsadeval: {line}", err=True)


@contextmanager
def say_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Say each warning once, in a line of its own; yields the list of them."""
    with warnings.catch_warnings(record=True, action="always") as caught:
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
