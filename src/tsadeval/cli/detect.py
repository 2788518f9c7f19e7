"""`tsadeval detect`: train detectors on data sets, cache their scores, evaluate them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tsadeval.cli.options import (
    CellMemory,
    CellTimeout,
    Dask,
    Jobs,
    complete_datasets,
    complete_detectors,
    complete_metrics,
    running,
)
from tsadeval.cli.output import Format, render, tell_failures
from tsadeval.core.names import split_names
from tsadeval.experiments import detect as api
from tsadeval.experiments.detection import Detection


def detect(
    datasets: Annotated[
        list[str],
        typer.Argument(
            help='Data sets ("msl", "ucr/125", "ucr/125(end=exclusive)", "ucr/*") or files of your own '
            '("a.csv(label=bad)").',
            autocompletion=complete_datasets,
        ),
    ],
    detectors: Annotated[
        list[str],
        typer.Option(
            help='Names with options, or "module:Class": "lof,usad(window=50),pyod.models.hbos:HBOS(n_bins=20)". '
            "Repeatable.",
            autocompletion=complete_detectors,
        ),
    ],
    store: Annotated[Path, typer.Option(help="Folder of scores and values.")] = Path("runs/detect"),
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            help='Metrics and sets (recommended, the default; paper; all), or "module:function". Repeatable.',
            autocompletion=complete_metrics,
        ),
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="How scores become predictions: best, best(metric), quantile(p), or a number.")
    ] = "best",
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data sets; else the environment variable TSADEVAL_DATA.")
    ] = None,
    seed: Annotated[list[int] | None, typer.Option(help="Of the detectors; 0 by default. Repeatable.")] = None,
    jobs: Jobs = None,
    device: Annotated[str, typer.Option(help="Where deep detectors run: auto, cpu or cuda.")] = "auto",
    percent: Annotated[
        bool, typer.Option("--percent", help="Values times 100, as papers print them; not in csv and json.")
    ] = False,
    dask: Dask = "",
    cell_timeout: CellTimeout = None,
    cell_memory: CellMemory = None,
    format: Annotated[Format, typer.Option(help="How to print the tables.")] = Format.text,
) -> None:
    """Train and evaluate what is not in the store yet, then print a table of each data set."""
    with running("detect", dask) as bar:
        result = api.detect(
            datasets,
            split_names(detectors),
            split_names(metrics or ["recommended"]),
            store=store,
            threshold=threshold,
            random_state=seed or 0,
            data=data,
            device=device,
            n_jobs=jobs,
            progress=bar,
            cell_timeout=cell_timeout,
            cell_memory=cell_memory,
        )
    typer.echo(_shown(result, format, percent))
    failures = result.failures()
    tell_failures([*failures, *result.undefined()])
    typer.echo(f"tsadeval: scores and values are in {store}", err=True)
    if failures:  # a script must be able to tell that values are missing
        raise typer.Exit(1)


def _shown(result: Detection, format: Format, percent: bool) -> str:
    if format is Format.latex:
        return result.to_latex(percent=percent)
    if format is Format.text:
        return f"alarms by the rule {result.plan.threshold}\n\n{result.to_text(percent=percent)}"
    head = [
        *("series", "detector", "seed", "metric", "value", "rule", "threshold", "alarms", "alarmed_points"),
        *("status", "message"),
    ]
    return render(format, head, [[row[key] for key in head] for row in result.rows])
