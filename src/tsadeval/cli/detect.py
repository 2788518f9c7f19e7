"""`tsadeval detect`: train detectors on data sets, cache their scores, evaluate them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from tsadeval.cli.options import (
    CELL_LIMITS,
    DataFolder,
    Format,
    Given,
    MetricNames,
    Shown,
    Threshold,
    Work,
    complete_datasets,
    complete_detectors,
    names_of,
    option,
    running,
    say,
    show,
    tell_failures,
    with_options,
)
from tsadeval.experiments import detect as api
from tsadeval.experiments.detect import Detection

_TRAINING: Given = {
    "threshold": (Threshold, "best"),
    "data": (DataFolder, None),
    "random_state": option(list[int] | None, None, "Of the detectors; 0 by default. Repeatable.", "--seed"),
    "fit": option(
        Literal["train", "test"],
        "train",
        "Part that detectors are fitted on; test, the one they score, is for unsupervised ones.",
    ),
    "device": option(str, "auto", "Where deep detectors run: auto, cpu or cuda."),
}


@with_options
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
            callback=names_of,
            autocompletion=complete_detectors,
        ),
    ],
    *,
    store: Annotated[Path, typer.Option(help="Folder of scores and values.")] = Path("runs/detect"),
    metrics: MetricNames = None,
    training: Annotated[Given, _TRAINING],
    work: Work,
    percent: Annotated[
        bool, typer.Option("--percent", help="Values times 100, as papers print them; not in csv and json.")
    ] = False,
    limits: Annotated[Given, CELL_LIMITS],
    format: Shown = "text",
) -> None:
    """Train and evaluate what is not in the store yet, then print a table of each data set."""
    with running("detect", work.dask) as bar:
        result = api.detect(
            datasets,
            detectors,
            metrics or "recommended",
            store=store,
            n_jobs=work.jobs,
            progress=bar,
            **training,
            **limits,
        )
    typer.echo(_shown(result, format, percent))
    failures = result.failures()
    tell_failures([*failures, *result.undefined()])
    say([f"scores and values are in {store}"])
    if failures:  # a script must be able to tell that values are missing
        raise typer.Exit(1)


def _shown(result: Detection, format: Format, percent: bool) -> str:
    if format == "latex":
        return result.to_latex(percent=percent)
    if format == "text":
        return f"alarms by the rule {result.plan.threshold}\n\n{result.to_text(percent=percent)}"
    columns = ["series", "detector", "seed", "metric", "value", "rule", "threshold", "alarms", "alarmed_points"]
    return show(result, format, [*columns, "status", "message"])
