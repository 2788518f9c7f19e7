"""`tsadeval score`: metrics of score files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import tsadeval
from tsadeval.cli.completing import complete_metrics
from tsadeval.cli.many import score_many, score_stream
from tsadeval.cli.output import Format, render
from tsadeval.cli.tables import By, Dask, Label, Missing, Scores, names_of
from tsadeval.core.inputs import label_runs
from tsadeval.core.metric import Metric
from tsadeval.core.printable import printable
from tsadeval.core.results import Result, Row
from tsadeval.core.selection import select_metrics
from tsadeval.core.text import split_names
from tsadeval.core.time import read_utc
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.events import events as event_table
from tsadeval.evaluation.single import Evaluation, chosen_with_labels, evaluate
from tsadeval.evaluation.states import Order
from tsadeval.tables import read_table, scorings
from tsadeval.tables.beside import FitScores, Spans
from tsadeval.tables.scoring import ScoreColumns, is_zoned
from tsadeval.thresholds.rules import parse_rule


def score(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Tables of labels and scores: csv, tsv, parquet, feather, jsonl, npy, npz, also gzipped; - is stdin. "
            "With --store or --jobs also folders and patterns."
        ),
    ],
    label: Label = "label",
    score: Scores = None,
    by: By = None,
    time: Annotated[str, typer.Option(help="Column of the time stamps.")] = "",
    incidents: Annotated[
        Path | None,
        typer.Option(
            help="File with columns start and stop (and those of --by), or windows as json under the values of --by: "
            "the labels, instead of a column."
        ),
    ] = None,
    clip: Annotated[
        bool, typer.Option("--clip", help="Cut incidents beyond the time stamps, and join those that overlap.")
    ] = False,
    ignore: Annotated[
        Path | None, typer.Option(help="File as for --incidents: spans of time that are not judged.")
    ] = None,
    fit: Annotated[
        Path | None, typer.Option(help="File with scores of a training part: rules without labels are fitted on it.")
    ] = None,
    missing: Missing = "error",
    one_series: Annotated[
        bool, typer.Option("--one-series", help="All rows are one series, even if the columns suggest several.")
    ] = False,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            help='Metrics and sets (recommended, paper, all): "cce,cce(tau=0.4),mine:function". Repeatable.',
            autocompletion=complete_metrics,
        ),
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="How scores become predictions: best, best(metric), quantile(p), sigma(k), or a number.")
    ] = "best",
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Add what random and perfect detectors would get.")
    ] = False,
    events: Annotated[
        bool, typer.Option("--events", help="Every event by itself: detected, delay, alarms; instead of metrics.")
    ] = False,
    store: Annotated[
        Path | None, typer.Option(help="Many files: folder of all rows; what is there is not computed again.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Many files: parallel workers; -1 for all cores.")] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Files larger than memory, one series: batch by batch, in this order.")
    ] = False,
    order: Annotated[
        Order, typer.Option(help="AUC, best F1 and VUS with --stream: sort is exact, on disk; bins gives bounds.")
    ] = "sort",
    dask: Dask = "",
    format: Annotated[Format, typer.Option(help="How to print the table.")] = Format.text,
) -> None:
    """Evaluate the scores in one or more files with any number of metrics."""
    chosen = select_metrics(metrics or ["cce" if stream else "recommended"])
    rule = parse_rule(threshold)
    if stream or store is not None or jobs is not None or dask:
        plain = not (incidents or ignore or fit or baseline or events or (one_series and not stream))
        plain = plain and missing == "error"
        if not plain:
            raise InvalidInputError(
                "--store, --jobs, --dask and --stream go with --label, --score, --by, --time, --metrics and "
                "--threshold only: leave the other options out"
            )
        columns = names_of(score) or ["score"]
        if stream:
            series = names_of(by)
            score_stream(
                files, chosen, label=label, scores=columns, by=series, time=time, threshold=threshold, order=order,
                one_series=one_series, jobs=jobs, dask=dask, format=format,
            )  # fmt: skip
        else:
            score_many(
                files, chosen, label=label, scores=columns, by=names_of(by), time=time, threshold=threshold,
                store=store, jobs=jobs, dask=dask, format=format,
            )  # fmt: skip
        return
    # An event is detected or not at one threshold for all of them, not at the best of each metric.
    of_events = parse_rule("best(f1)") if threshold == "best" else rule
    if (incidents or ignore) and not time:
        raise InvalidInputError("intervals of time need time stamps: name their column with --time")
    keys = [name for text in by or [] for name in split_names(text)]
    source = _Source(
        label=None if incidents else label,
        scores=ScoreColumns(names_of(score) or ["score"]),
        by=keys,
        time=time or None,
        one_series=one_series,
        incidents=Spans(incidents, keys) if incidents else None,
        clip=clip,
        ignore=Spans(ignore, keys) if ignore else None,
        fit=FitScores(fit, keys) if fit else None,
    )

    def judge(case: _Case) -> Result:
        setting = {"times": case.times, "ignore": case.ignore, "missing": missing, "fit": case.fit}
        if events:
            return event_table(case.labels, case.scores, threshold=of_events, **setting)
        return evaluate(case.labels, case.scores, chosen, threshold=rule, baseline=baseline, **setting)

    results, failed = _all_results(files, source, judge)
    with warnings.catch_warnings(record=True) as lacking:
        warnings.simplefilter("always")
        source.scores.check()
    for warning in lacking:
        typer.echo(f"tsadeval: {warning.message}", err=True)
    for spans in filter(None, (source.incidents, source.ignore)):
        if spans.unused is not None:
            typer.echo(f"tsadeval: {spans.unused}", err=True)
    if results:
        typer.echo(_shown(results, ["file", *keys, "score"], format, chosen))
    if failed:
        raise typer.Exit(1 if results else 2)


@dataclass(frozen=True)
class _Case:
    """One scoring, what it is called, and all that is known of it."""

    where: tuple[str, ...]  # file, values of --by, column of the scores
    labels: Any
    scores: Any
    times: Any
    ignore: Any
    fit: Any

    @property
    def name(self) -> str:
        return ", ".join(self.where)


@dataclass(frozen=True)
class _Source:
    """What to take out of each file, and the files beside it."""

    label: str | None
    scores: ScoreColumns
    by: list[str]
    time: str | None
    one_series: bool
    incidents: Spans | None
    clip: bool
    ignore: Spans | None
    fit: FitScores | None

    def cases(self, file: str, refuse: Callable[[InvalidInputError], None]) -> Iterator[_Case]:
        """Every scoring in a file; a series without usable incidents or fit is refused, the others go on."""
        table = read_table(file, text=self.by)
        columns = self.scores.of(table, {*self.by, *filter(None, (self.label, self.time))})
        parts = scorings(table, label=self.label, score=columns, by=self.by, time=self.time, one_series=self.one_series)
        for keys, column, labels, scores, times in parts:
            where = (table.source, *map(printable, keys.values()), printable(column))
            stamps: Any = times
            try:
                if self.time is not None and is_zoned(table, table.name(self.time)):
                    stamps = read_utc(stamps)
                if self.incidents is not None:
                    labels = self.incidents.labels(keys, stamps, clip=self.clip)
                ignore = self.ignore.covered(keys, stamps) if self.ignore else None
                fit = self.fit.of(keys, column) if self.fit else None
            except InvalidInputError as error:
                refuse(InvalidInputError(f"{', '.join(where)}: {error}"))
                continue
            yield _Case(where, labels, scores, stamps, ignore, fit)


_Results = list[tuple[_Case, Result]]


def _all_results(files: list[str], source: _Source, judge: Callable[[_Case], Result]) -> tuple[_Results, int]:
    """What was found for every scoring; what cannot be evaluated is one line each, and the rest goes on."""
    results: _Results = []
    failed = 0

    def refuse(error: Exception) -> None:
        nonlocal failed
        failed += 1
        typer.echo(f"tsadeval: {error}", err=True)

    for file in files:
        try:
            for case in source.cases(file, refuse):
                try:
                    results.append((case, _with_warnings(case, judge)))
                except InvalidInputError as error:
                    refuse(InvalidInputError(f"{case.name}: {error}"))
        except (InvalidInputError, OSError) as error:
            refuse(error)
    if failed and results:
        typer.echo(f"tsadeval: {failed} could not be evaluated, {len(results)} could", err=True)
    return results, failed


def _with_warnings(case: _Case, judge: Callable[[_Case], Result]) -> Result:
    """Evaluate, and say in every warning which file and column it is about."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return judge(case)
    finally:
        for warning in caught:
            typer.echo(f"tsadeval: {case.name}: {warning.message}", err=True)


def _shown(results: _Results, names: list[str], format: Format, metrics: tuple[Metric, ...]) -> str:
    if format is not Format.text:
        rows = [
            {**dict(zip(names, case.where, strict=True)), **row, **_counts(case)}
            for case, found in results
            for row in found.rows
        ]
        head = [key for key in dict.fromkeys(key for row in rows for key in row) if key != "seconds"]
        return render(format, head, [[row.get(key) for key in head] for row in rows])
    if len(results) == 1:
        return repr(results[0][1])
    if not isinstance(results[0][1], Evaluation):
        return "\n\n".join(f"{case.name}\n{found!r}" for case, found in results)
    return _side_by_side(results, names, list(map(str, metrics)))


def _counts(case: _Case) -> Row:
    """What the numbers of a row are made of."""
    truth = label_runs(case.labels, "y_true")
    return {
        "points": truth.n,
        "anomalous_points": truth.events.points,
        "events": len(truth.events),
        "version": tsadeval.__version__,
    }


def _side_by_side(results: _Results, names: list[str], metrics: list[str]) -> str:
    """A table of values: scorings downwards, or metrics where there are more of those."""
    values = [[found[metric] for metric in metrics] for _, found in results]  # type: ignore[index]  # evaluations
    if len(metrics) > len(results):
        differing = [k for k in range(len(names) - 1) if len({case.where[k] for case, _ in results}) > 1]
        if len({case.where[:-1] for case, _ in results}) < len(results):
            differing.append(len(names) - 1)  # several columns of scores in one file
        titles = [": ".join(case.where[k] for k in differing) for case, _ in results]
        body = [[metric, *column] for metric, column in zip(metrics, zip(*values, strict=True), strict=True)]
        table = render(Format.text, ["metric", *titles], body)
    else:
        rows = [[*case.where, *row] for (case, _), row in zip(results, values, strict=True)]
        table = render(Format.text, [*names, *metrics], rows)
    notes = chosen_with_labels(row["rule"] for _, found in results for row in found.rows)
    return "\n\n".join([table, *notes])
