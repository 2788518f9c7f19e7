"""`tsadeval metrics`, `detectors` and `datasets`: list what there is, or describe one; and fetch data sets."""

import inspect
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tsadeval.cli.options import DataFolder, Shown, complete_datasets, complete_detectors, complete_metrics, show
from tsadeval.core.metric import METRICS, PROPERTIES, parse_metric
from tsadeval.core.results import Result, ResultTable
from tsadeval.datasets import DATASETS, data_folder, fetch, load
from tsadeval.datasets.dataset import DatasetRecord
from tsadeval.detectors.records import DETECTORS, parse_detector


def metrics(
    name: Annotated[
        str, typer.Argument(help="Show all there is to know about this one.", autocompletion=complete_metrics)
    ] = "",
    format: Shown = "text",
) -> None:
    """List all metrics, or describe one."""
    if name:
        metric = parse_metric(name)
        facts = [
            ("takes", metric.kind),
            ("range", f"[{metric.range[0]:g}, {metric.range[1]:g}], {metric.direction} is better"),
            ("undefined", metric.undefined),
            ("sets", ", ".join(sorted(metric.sets)) or "-"),
            *(("holds", PROPERTIES[one]) for one in sorted(metric.properties)),
            *(("option", f"{key}={value!r}: {metric.checks[key]}") for key, value in metric.parameters.items()),
            *(("reference", reference) for reference in metric.references),
        ]
        _describe(f"{metric.name} ({metric.label}): {metric.summary}", facts, metric.function)
        return
    rows = [
        {
            "metric": metric.name,
            "label": metric.label,
            "takes": metric.kind,
            "range": f"[{metric.range[0]:g}, {metric.range[1]:g}]",
            "better": metric.direction,
            "summary": metric.summary,
        }
        for metric in METRICS.values()
    ]
    typer.echo(show(Result(rows), format))


def detectors(
    name: Annotated[
        str, typer.Argument(help="Show all there is to know about this one.", autocompletion=complete_detectors)
    ] = "",
    format: Shown = "text",
) -> None:
    """List all detectors, or describe one. None is trained, and torch is not needed."""
    if name:
        record = parse_detector(name)
        options = {**record.parameters, **dict(record.bound)}
        facts = [
            ("in tables", record.title),
            ("needs", f"pip install 'tsadeval[{record.extra}]'"),
            ("score", record.scoring),
            *(("option", f"{key}={value!r}: {record.about[key]}") for key, value in options.items()),
            ("reference", record.reference),
        ]
        _describe(f"{record}: {record.summary}", facts, record.make)
        return
    rows = [
        {"detector": one.name, "in tables": one.title, "needs": one.extra, "summary": one.summary}
        for one in DETECTORS.values()
    ]
    typer.echo(show(Result(rows), format))


def _describe(head: str, facts: Iterable[tuple[str, str]], documented: object) -> None:
    """Print what is known of a record, and the documentation of what it is a record of."""
    lines = [f"  {key:<10} {value}" for key, value in facts]
    typer.echo("\n".join([head, "", *lines, "", inspect.getdoc(documented) or ""]))


app = typer.Typer(
    help="Data sets: what is known, what is present, and how to get the rest.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_datasets(data: DataFolder = None, format: Shown = "text") -> None:
    """List the data sets, and what of them is present."""
    folder = data_folder(data)
    rows = [
        {
            "data set": record.name,
            "title": record.title,
            "present": _present(_parts(record, folder)),
            "licence": record.licence,
            "summary": record.summary,
        }
        for record in DATASETS.values()
    ]
    notes = ["no data folder was given: pass --data or set TSADEVAL_DATA"] * (folder is None)
    typer.echo(show(ResultTable(rows, notes=notes), format))


@app.command("info")
def info(
    name: Annotated[
        str,
        typer.Argument(help='A data set ("ucr"), an item ("ucr/123"), or a path of your own ("mine.csv(label=bad)").'),
    ],
    data: DataFolder = None,
    format: Shown = "text",
) -> None:
    """Say all there is to know about a data set, or load one and describe it."""
    record = DATASETS.get(name.lower())
    facts = _facts_of_record(record, data_folder(data)) if record else {}
    if record is None or "" in _parts(record, data_folder(data)):
        facts |= _facts_of_data(name, data)
    typer.echo(show(Result([{"what": key, "value": value} for key, value in facts.items()]), format))


@app.command("fetch")
def fetch_dataset(
    name: Annotated[
        str, typer.Argument(help='A data set ("smd") or one item of it ("smd/2-1").', autocompletion=complete_datasets)
    ],
    data: DataFolder = None,
    base: Annotated[str, typer.Option(help="Address of a mirror that holds the same files.")] = "",
) -> None:
    """Download a data set that is open to the public, and verify it; else say where to ask for it."""
    from rich.console import Console  # the other commands start sooner without it
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    # A bar of bytes, on a terminal only.
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None)

        def show_progress(path: str, done: int, total: int) -> None:
            bar.update(task, description=path, completed=done, total=total or None)

        came = fetch(name, data=data, base=base or None, progress=show_progress)
    known, unknown = len(came.by_checksum), len(came.by_facts)
    typer.echo(f"{known + unknown} files are in {came.folder}: {known} verified by their sha256", nl=not unknown)
    if unknown:
        typer.echo(f", {unknown} by the counts that are known of the data, because no sha256 of them is known")
    typer.echo(f"load them as {', '.join(came.names[:3])}{' ...' if len(came.names) > 3 else ''}")


def _parts(record: DatasetRecord, folder: Path | None) -> Mapping[str, bool]:
    return record.parts(record.files(folder)) if folder else {}


def _present(parts: Mapping[str, bool]) -> str:
    """How many items there are with features, and how many without."""
    if set(parts) == {""}:
        return "features" if parts[""] else "labels only"
    items = [features for item, features in parts.items() if item]
    whole, bare = sum(items), len(items) - sum(items)
    words = [f"{whole} with features"] * (whole > 0) + [f"{bare} labels only"] * (bare > 0)
    return ", ".join(words) or "-"


def _facts_of_record(record: DatasetRecord, folder: Path | None) -> dict[str, Any]:
    parts = _parts(record, folder)
    names = [record.full(item) + ("" if features else " (labels only)") for item, features in parts.items()]
    return {
        "title": record.title,
        "summary": record.summary,
        "source": record.source,
        "licence": record.licence,
        "files": record.layout,
        "how to get it": record.get,
        **{f"option {option}": str(check) for option, check in record.options.items()},
        "present": ", ".join(names) or "-",
    }


def _facts_of_data(name: str, data: Path | None) -> dict[str, Any]:
    found = load(name, data=data)
    d, names = found.description, found.names
    return {
        "training points": d.n_train,
        "test points": d.n_test,
        "columns": d.n_columns,
        "their names": ", ".join(names[:8]) + (", ..." if len(names) > 8 else ""),
        "events": d.n_events,
        "longest event": d.longest,
        "shortest event": d.shortest,
        "anomalous": d.anomalous,
        "checksum": d.checksum,
    } | ({"title": d.title} if d.title else {})
