"""`tsadeval score`: compute metrics of score files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tsadeval.cli.options import Dask, MetricNames, Threshold, names_of, reads_scores, running, say
from tsadeval.cli.output import Case, Format, Results, first_of, has_values, render, shown, tell_failures, undefined
from tsadeval.core.metric import Metric
from tsadeval.core.parallel import on_cluster
from tsadeval.core.results import Result
from tsadeval.core.selection import select_metrics
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning
from tsadeval.evaluation.events import events as event_table
from tsadeval.evaluation.single import evaluate
from tsadeval.experiments.file_scores import FileScores
from tsadeval.experiments.score_files import score_files
from tsadeval.scores.scored import Scored
from tsadeval.scores.scores import Scores
from tsadeval.streams.evaluate import evaluate_stream
from tsadeval.streams.stream import Order
from tsadeval.tables.files import skipped_stores
from tsadeval.thresholds.rules import parse_rule


@reads_scores
def score(
    scores: Scores,
    metrics: MetricNames = None,
    threshold: Threshold = "best",
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
    chosen = select_metrics(names_of(metrics) or ["cce" if stream else "recommended"])
    rule = parse_rule(threshold)
    if stream and store is not None:
        raise InvalidInputError("--stream keeps nothing, so it does not go with --store: leave one of them out")
    if order != "sort" and not stream:
        raise InvalidInputError("--order is for --stream: add it, or leave --order out")
    if (stream or store is not None) and (baseline or events):
        raise InvalidInputError("--baseline and --events go neither with --stream nor with --store: leave some out")
    if stream:
        score_stream(scores, chosen, threshold, order, jobs, dask, format)
        return
    if store is not None or jobs is not None or dask:
        score_many(scores, chosen, threshold, store, jobs, dask, format)
        return
    # An event is detected or not at one threshold for all of them, not at the best of each metric.
    of_events = parse_rule("best(f1)") if threshold == "best" else rule

    def judge(one: Scored) -> Result:
        given = one.given
        setting = {"times": given.times, "ignore": given.ignore, "missing": scores.missing, "fit": given.fit}
        if events:
            return event_table(given.y_true, given.y_score, threshold=of_events, incidents=given.incidents, **setting)
        return evaluate(given.y_true, given.y_score, chosen, threshold=rule, baseline=baseline, **setting)

    results, failed = _all_results(scores, judge)
    if results:
        keys = list(results[0][0].keys)
        table = shown(results, ["path" if "file" in keys else "file", *keys, "score"], format, chosen)
        typer.echo(table)
    if failed:
        raise typer.Exit(1 if results else 2)
    if not has_values(results):
        say(["no metric has a value: see the lines above"])
        raise typer.Exit(1)


def _all_results(scores: Scores, judge: Callable[[Scored], Result]) -> tuple[Results, int]:
    """What was found for every scoring, and how many failed: a line for each reason, and the rest goes on."""
    results: Results = []
    said: dict[str, list[str]] = {}  # warnings, and the scorings that they are about
    with warnings.catch_warnings(record=True) as reading:
        warnings.simplefilter("always")
        for one in scores.collect(scores.read(together=False)):
            if isinstance(one, Scored):
                case = Case.of(one)
                results.append((case, _with_warnings(case, one, judge, said)))
    failed = len(scores.left_out.rows)
    say([*scores.notes, *scores.left_out_lines(every=True)])
    say(dict.fromkeys(str(warning.message) for warning in reading))
    say(f"{_named(cases)}: {warning}" for warning, cases in said.items())
    say(undefined(results))
    if failed and results:
        say([f"{failed} could not be evaluated, {len(results)} could"])
    return results, failed


def _with_warnings(case: Case, one: Scored, judge: Callable[[Scored], Result], said: dict[str, list[str]]) -> Result:
    """Evaluate, and note for every warning which file and column it is about."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return judge(one)
    finally:
        # What is undefined is said of all scorings at once.
        for warning in (one for one in caught if not issubclass(one.category, UndefinedMetricWarning)):
            said.setdefault(str(warning.message), []).append(case.name)


def _named(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} scorings ({first_of(names)})"


# `tsadeval score` of files that are many, or too large for memory.


def score_many(
    scores: Scores,
    metrics: tuple[Metric, ...],
    threshold: str,
    store: Path | None,
    jobs: int | None,
    dask: str,
    format: Format,
) -> None:
    """Compute what the store does not have yet, then print a table by detector and data set."""
    with running("score", dask) as bar:
        result = score_files(scores, metrics, threshold=threshold, store=store, n_jobs=jobs, progress=bar)
    say(filter(None, [skipped_stores(result.skipped), *result.remarks]))
    typer.echo(_shown(result, format))
    failures = result.failures()
    tell_failures(failures)
    if store is not None:
        typer.echo(f"tsadeval: all rows are in {store}", err=True)
    if failures:  # a script must be able to tell that values are missing
        raise typer.Exit(1)


def _shown(result: FileScores, format: Format) -> str:
    if format is Format.text:
        return repr(result)
    head, *rows = result._grid() if format is Format.latex else [list(result.rows[0]), *map(dict.values, result.rows)]
    return render(format, list(head), [list(row) for row in rows])


def score_stream(
    scores: Scores,
    metrics: tuple[Metric, ...],
    threshold: str,
    order: Order,
    jobs: int | None,
    dask: str,
    format: Format,
) -> None:
    """Evaluate one series (or one for each value of a column) that is larger than memory, batch by batch."""
    options = scores.options
    if len(options.score) > 1 or len(options.by) > 1:
        raise InvalidParameterError("--stream takes one column of scores, and at most one column in --by")
    if options.incidents is not None or options.ignore is not None or options.fit is not None:
        raise InvalidInputError(
            "--stream takes labels from a column of the files, not from --incidents, and neither --ignore nor --fit "
            "(te.labels makes labels from incidents, to be written into the files once)"
        )
    with on_cluster(dask), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMetricWarning)
        result = evaluate_stream(
            scores.given,
            metrics,
            threshold=_number(threshold),
            order=order,
            label=options.label,
            score=options.score[0],
            by=options.by[0] if options.by else (),
            time=options.time,
            one_series=options.one_series,
            n_jobs=jobs,
        )
    for text in dict.fromkeys(str(warning.message) for warning in caught):  # once for all series
        typer.echo(f"tsadeval: {text}", err=True)
    if format is Format.text:
        typer.echo(repr(result))
        return
    head = list(result.rows[0])
    typer.echo(render(format, head, [[row[key] for key in head] for row in result.rows]))


def _number(threshold: str) -> float | None:
    if threshold == "best":  # the default; metrics of alarms will ask for a number
        return None
    try:
        return float(threshold.removeprefix("fixed(").removesuffix(")"))
    except ValueError:
        raise InvalidParameterError(
            f"--stream needs a number as --threshold, since scores are read once, but it is {threshold!r}"
        ) from None
