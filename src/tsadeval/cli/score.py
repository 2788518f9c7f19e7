"""`tsadeval score`: metrics of score files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from tsadeval.cli.output import Format, render, split_names
from tsadeval.core.printable import printable
from tsadeval.core.results import Result
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.single import evaluate, select_metrics
from tsadeval.tables import read_table, scorings
from tsadeval.thresholds.rules import Threshold, parse_threshold


def score(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Tables of labels and scores: csv, tsv, parquet, feather, jsonl, npy, npz, also gzipped; - is stdin."
        ),
    ],
    label: Annotated[str, typer.Option(help="Column or array of the labels (0 or 1).")] = "label",
    score: Annotated[
        list[str] | None, typer.Option(help="Column or array of the scores; repeat it for several detectors.")
    ] = None,
    metrics: Annotated[
        list[str] | None, typer.Option(help='Metrics and sets (paper, all), e.g. "cce,cce(tau=0.4)". Repeatable.')
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="How scores become predictions: quantile(p) or fixed(value).")
    ] = "quantile(0.95)",
    format: Annotated[Format, typer.Option(help="How to print the table.")] = Format.table,
) -> None:
    """Judge the scores in one or more files with any number of metrics."""
    chosen = select_metrics(split_names(metrics or ["all"]))
    rule = parse_threshold(threshold)
    names = [str(m) for m in chosen]
    rows: list[list[Any]] = []
    for file in files:
        table = read_table(file)
        for _, column, y_true, y_score, _ in scorings(table, label=label, score=score or ["score"]):
            result = _judge(f"{table.source}, {printable(column)}", y_true, y_score, chosen, rule)
            rows.append([table.source, printable(column), *(result[name] for name in names)])
    if format is Format.table:
        typer.echo(f"alarms where the score is above {rule}\n")
    if format is Format.table and len(names) > len(rows):
        # More metrics than scorings read better downwards.
        titles = [row[0] if len(score or []) < 2 else f"{row[0]}: {row[1]}" for row in rows]
        typer.echo(
            render(format, ["metric", *titles], [[n, *(row[2 + i] for row in rows)] for i, n in enumerate(names)])
        )
    else:
        typer.echo(render(format, ["file", "score", *names], rows))


def _judge(where: str, y_true: Any, y_score: Any, metrics: Any, rule: Threshold) -> Result:
    """Evaluate, and say in every complaint which file and column it is about."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return evaluate(y_true, y_score, metrics, threshold=rule)
    except InvalidInputError as error:
        raise InvalidInputError(f"{where}: {error}") from None
    finally:
        for warning in caught:
            typer.echo(f"tsadeval: {where}: {warning.message}", err=True)
