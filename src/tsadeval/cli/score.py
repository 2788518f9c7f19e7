"""`tsadeval score`: metrics of score files."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from tsadeval.cli.output import Format, render
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.printable import printable
from tsadeval.core.selection import select_metrics
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.single import Evaluation, chosen_with_labels, evaluate
from tsadeval.tables import read_table, scorings
from tsadeval.thresholds.rules import parse_rule


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
        list[str] | None,
        typer.Option(help='Metrics and sets (recommended, paper, all): "cce,cce(tau=0.4),mine:function". Repeatable.'),
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="How scores become predictions: best, best(metric), quantile(p), or a number.")
    ] = "best",
    format: Annotated[Format, typer.Option(help="How to print the table.")] = Format.text,
) -> None:
    """Evaluate the scores in one or more files with any number of metrics."""
    chosen = select_metrics(metrics or ["recommended"])
    rule = parse_rule(threshold)
    results: dict[tuple[str, str], Evaluation] = {}
    failed = False
    for file in files:
        try:
            table = read_table(file)
            for _, column, y_true, y_score, _ in scorings(table, label=label, score=score or ["score"]):
                where = table.source, printable(column)
                results[where] = _evaluated(", ".join(where), y_true, y_score, chosen, rule)
        except InvalidInputError as error:  # it costs this file only
            failed = True
            typer.echo(f"tsadeval: {error}", err=True)
    if results:
        typer.echo(_shown(results, format, len(score or []) > 1))
    if failed:  # a script must be able to tell that values are missing
        raise typer.Exit(1 if results else 2)


def _shown(results: dict[tuple[str, str], Evaluation], format: Format, columns: bool) -> str:
    if format is not Format.text:
        head = ["file", "score", *(key for key in next(iter(results.values())).rows[0] if key != "seconds")]
        rows = [[*where, *(row[key] for key in head[2:])] for where, found in results.items() for row in found.rows]
        return render(format, head, rows)
    return repr(next(iter(results.values()))) if len(results) == 1 else _side_by_side(results, columns)


def _side_by_side(results: dict[tuple[str, str], Evaluation], columns: bool) -> str:
    """A table of values: scorings downwards, or metrics where there are more of those."""
    names = list(next(iter(results.values())))
    if len(names) > len(results):
        titles = [f"{file}: {column}" if columns else file for file, column in results]
        table = render(
            Format.text, ["metric", *titles], [[name, *(found[name] for found in results.values())] for name in names]
        )
    else:
        table = render(
            Format.text, ["file", "score", *names], [[*where, *found.values()] for where, found in results.items()]
        )
    notes = chosen_with_labels(row["rule"] for found in results.values() for row in found.rows)
    return "\n\n".join([table, *notes])


def _evaluated(where: str, y_true: Any, y_score: Any, metrics: tuple[Metric, ...], rule: Rule) -> Evaluation:
    """Evaluate, and say in every error and warning which file and column it is about."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return evaluate(y_true, y_score, metrics, threshold=rule)
    except InvalidInputError as error:
        raise InvalidInputError(f"{where}: {error}") from None
    finally:
        for warning in caught:
            typer.echo(f"tsadeval: {where}: {warning.message}", err=True)
