"""`tsadeval score`: compute metrics of score files."""

import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import tsadeval
from tsadeval.cli.options import (
    WHOLE,
    Format,
    Given,
    MetricNames,
    Shown,
    Threshold,
    Work,
    option,
    running,
    say,
    say_warnings,
    show,
    tell_failures,
    with_options,
)
from tsadeval.core.facts import Reason, grouped, odd_alarms, points_of
from tsadeval.core.messages import are, by_reason, label_notes, named, warn_of_alarms
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.names import printable
from tsadeval.core.parallel import on_cluster
from tsadeval.core.results import Grid, Result, ResultTable, Row
from tsadeval.core.selection import select_metrics
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.evaluation.events import EventTable, summed_up
from tsadeval.evaluation.events import events as event_table
from tsadeval.evaluation.single import Evaluation, add_baselines, add_intervals, rows_of_scoring
from tsadeval.experiments.file_scores import FileScores
from tsadeval.experiments.score_files import score_files
from tsadeval.scores.scores import LeftOut, Scores, causes
from tsadeval.streams.evaluate import evaluate_stream
from tsadeval.streams.stream import Order
from tsadeval.thresholds.rules import fixed, parse_rule

MANY = 30  # scorings that are printed one by one; of more, the means
# Several scorings: what each is called, which stands in the first columns of its rows, and what was found.
Results = Sequence[tuple[Row, Evaluation | EventTable]]


# What is computed here alone: neither streams nor stores have it.
_ALONE: Given = {
    "baseline": option(bool, False, "Add what random and perfect detectors would get.", "--baseline"),
    "interval": option(float | None, None, "Add intervals of this level: a bootstrap over events.", min=0.01, max=1),
    "events": option(bool, False, "Every event by itself: detected, delay, alarms; instead of metrics.", "--events"),
}


@with_options
def score(
    scores: Scores,
    *,
    metrics: MetricNames = None,
    threshold: Threshold = "best",
    alone: Annotated[Given, _ALONE],
    store: Annotated[
        Path | None, typer.Option(help="Many files: folder of all rows; what is there is not computed again.")
    ] = None,
    work: Work,
    stream: Annotated[
        bool, typer.Option("--stream", help="Files larger than memory, one series: batch by batch, in this order.")
    ] = False,
    order: Annotated[
        Order, typer.Option(help="AUC, best F1 and VUS with --stream: sort is exact, on disk; bins gives bounds.")
    ] = "sort",
    format: Shown = "text",
) -> None:
    """Evaluate the scores in one or more files with any number of metrics."""
    names = ",".join(metrics or ["recommended"])
    chosen = select_metrics(names)
    rule = parse_rule(threshold)
    if stream and store is not None:
        raise InvalidInputError("--stream keeps nothing, so it does not go with --store: leave one of them out")
    if order != "sort" and not stream:
        raise InvalidInputError("--order is for --stream: add it, or leave --order out")
    if (stream or store is not None) and any(alone.values()):
        raise InvalidInputError(
            "--baseline, --interval and --events go neither with --stream nor with --store: leave some out"
        )
    if stream:
        score_stream(scores, names, rule, order, work, format)
        return
    with running("score", work.dask) as bar, say_warnings():
        if any(alone.values()):
            results, lost = _judge_here(scores, chosen, rule, **alone)
        else:
            found = score_files(scores, chosen, threshold=rule, store=store, n_jobs=work.jobs, progress=bar)
            if found.count > MANY:
                _print_means(found, format)
                return
            results, lost = _evaluations(found, strict=scores.options.strict)
        say([*scores.said(), *causes(lost)])
        values = [(name_of(place), found) for place, found in results if isinstance(found, Evaluation)]
        warn_of_alarms({name: odd_alarms(found.rows, found.points["points"]) for name, found in values})
    failed = without_value(results, "error")
    say([*failed, *without_value(results, "undefined")])
    if lost and results:
        say([f"{len(lost)} could not be evaluated, {len(results)} could"])
    if results:
        typer.echo(shown(results, format, chosen))
    if store is not None:
        say([f"all rows are in {store}"])
    if lost or failed:  # a script must be able to tell that values are missing
        raise typer.Exit(1 if results else 2)
    if not has_values(results):
        say(["no metric has a value: see the lines above"])
        raise typer.Exit(1)


def _judge_here(
    scores: Scores, metrics: tuple[Metric, ...], rule: Rule, *, events: bool, baseline: bool, interval: float = 0
) -> tuple[Results, list[LeftOut]]:
    """Every event by itself, or values with intervals or beside random and perfect detectors: what no store keeps."""
    results: list[Any] = []
    lost: list[LeftOut] = []
    # An event is detected or not at one threshold for all of them, not at the best of each metric.
    of_events = parse_rule("best(f1)") if str(rule) == "best" else rule
    for one in scores.read(together=False):
        if isinstance(one, LeftOut):
            lost.append(one)
            continue
        given = one.given
        beside = {name: getattr(given, name) for name in ("times", "ignore", "fit", "incidents")}
        with warnings.catch_warnings(action="ignore"):  # they are made of the rows of all scorings at once
            if events:
                try:
                    found: Any = event_table(
                        given.y_true, given.y_score, threshold=of_events, missing=scores.missing, **beside
                    )
                except InvalidInputError as error:  # the rule cannot take these scores
                    lost.append(given.left_out(str(error)))
                    continue
            else:
                rows = rows_of_scoring(one.scoring, metrics, rule)
                if baseline:
                    add_baselines(rows, one.scoring, metrics, rule)
                if interval:
                    add_intervals(rows, one.scoring, metrics, rule, interval)
                found = Evaluation(rows, points=points_of(one.scoring))
                if all(row["status"] == "error" for row in rows):
                    lost.append(given.left_out(rows[0]["message"]))
                    continue
        results.append((place_of(given.place, given.keys, given.column), found))
    return results, lost


def _evaluations(found: FileScores, *, strict: bool) -> tuple[Results, list[LeftOut]]:
    """Return the values of each scoring as `te.evaluate` gives them, and what could not be evaluated."""
    results = []
    lost: dict[LeftOut, None] = {}  # each once, however many columns of a file there are
    absent = []  # columns that files lack, though they have others
    have = set()
    for (file, *_, column), keys, rows, points in found.by_scoring():
        place = place_of(file, keys, column)
        first = rows[0]
        if first["status"] == "missing":
            absent.append(((column, first["message"]), file))
            continue
        have.add(column)
        if all(row["status"] == "error" for row in rows):
            of_file = first["reason"] == Reason.UNREADABLE
            lost[LeftOut("", "", file, first["message"], "" if of_file else name_of(place))] = None
        else:
            results.append((place, Evaluation(rows, points=points)))
    if lost and strict:
        raise InvalidInputError(causes(list(lost)[:1])[0])
    for (column, message), files in grouped(absent).items():
        if column not in have:
            raise InvalidInputError(f"{named(files)}: {message}")
        what = f"no column {printable(column)!r} for the scores, so no value of {printable(column)} there"
        say([f"{named(files)}: {what}"])
    return results, list(lost)


def _print_means(found: FileScores, format: Format) -> None:
    """Print the means by detector and data set, or all rows in another form."""
    say(found.remarks)
    typer.echo(show(found, format))
    tell_failures(causes(found.lost))
    if found.lost:
        raise typer.Exit(1)


def score_stream(scores: Scores, metrics: str, rule: Rule, order: Order, work: Work, format: Format) -> None:
    """Evaluate one series (or one for each value of a column) that is larger than memory, batch by batch."""
    # With "best", the default, metrics of alarms will ask for a number.
    if str(rule) != "best" and not isinstance(rule, fixed):
        raise InvalidParameterError(
            f"--stream needs a number as --threshold, since scores are read once, but it is {str(rule)!r}"
        )
    options = scores.options
    if len(options.score) > 1 or len(options.by) > 1:
        raise InvalidParameterError("--stream takes one column of scores, and at most one column in --by")
    beside = (options.ignore, options.fit, options.tz)
    if scores.shards[0].companions.bring_labels or any(one is not None for one in beside):
        raise InvalidInputError(
            "--stream takes labels from a column of the files, not from --incidents or --labels, and neither --ignore "
            "nor --fit nor --tz (te.labels makes labels from incidents, to be written into the files once)"
        )
    with on_cluster(work.dask), say_warnings():  # each once for all series
        result = evaluate_stream(
            scores.given,
            metrics,
            threshold=rule.value if isinstance(rule, fixed) else None,
            order=order,
            label=options.label or "label",
            score=options.score[0],
            by=options.by[0] if options.by else (),
            time=options.time,
            one_series=options.one_series,
            n_jobs=work.jobs,
        )
    typer.echo(show(result, format, list(result.rows[0])))


def place_of(file: str, keys: Mapping[str, str], score: str) -> Row:
    """Return what a scoring is called, by column: its file, the values of --by, and its column of scores."""
    return {"path" if "file" in keys else "file": file, **keys, "score": score}


def name_of(place: Row) -> str:
    """Return what a scoring is called in messages."""
    return ", ".join(map(printable, place.values()))


def has_values(results: Results) -> bool:
    """Return True if any metric has a value, or if the results are tables of events."""
    values = [row.get("value", 0.0) for _, found in results for row in found.rows]
    return not values or not all(math.isnan(value) for value in values)


def without_value(results: Results, status: str) -> list[str]:
    """Return a line for each reason why metrics are undefined or failed: which metrics, and in how many scorings."""
    lacking = [
        (row["message"], row["metric"], name_of(place))
        for place, found in results
        for row in found.rows
        if row.get("status") == status and row["message"]
    ]
    lines = []
    for reason, metrics, places in by_reason(lacking):
        if places[1:]:
            first = "; ".join([*places[:2], *["..."] * (len(places) > 2)])  # names have commas inside
            lines.append(f"{are(metrics)} NaN in {len(places)} of {len(results)} scorings ({first}): {reason}")
        else:
            what = f"{are(metrics)} undefined" if status == "undefined" else f"{named(metrics)} failed"
            lines.append(f"{places[0]}: {what}, so NaN: {reason}")
    return lines


def shown(results: Results, format: Format, metrics: tuple[Metric, ...]) -> str:
    """Return the results in the wanted form: csv and json have the rows of all, with what these are made of."""
    if format in WHOLE:
        rows = [
            {**place, **row, **found.points, "version": tsadeval.__version__}
            for place, found in results
            for row in found.rows
        ]
        return show(Result(rows), format)
    if len(results) == 1:
        return show(results[0][1], format)
    values = [(place, found) for place, found in results if isinstance(found, Evaluation)]
    if values:
        return show(_side_by_side(values, list(map(str, metrics))), format)
    tables = [found for _, found in results if isinstance(found, EventTable)]
    each = [f"{name_of(place)}\n{show(found, format)}" for place, found in results]
    return "\n\n".join([*each, "\n".join([f"all {len(tables)} series", *summed_up(tables)])])


def _side_by_side(results: list[tuple[Row, Evaluation]], metrics: list[str]) -> Result:
    """Return a table of values: scorings downwards, or metrics where there are more of those."""
    places = [list(place.values()) for place, _ in results]
    values = [[found[metric] for metric in metrics] for _, found in results]
    names = list(results[0][0])
    if "random" in results[0][1].rows[0]:
        grid: Grid = [[*names, "metric", "value", "random", "error", "perfect"]]
        columns = ("metric", "value", "random", "random_error", "perfect")
        for place, (_, found) in zip(places, results, strict=True):
            grid += [[*place, *(row[column] for column in columns)] for row in found.rows]
    elif len(metrics) > len(results):
        differing = [k for k, column in enumerate(zip(*places, strict=True)) if len(set(column)) > 1]
        titles = [": ".join(place[k] for k in differing) for place in places]
        grid = [["metric", *titles], *map(list, zip(metrics, *values, strict=True))]
    else:
        grid = [[*names, *metrics], *([*place, *row] for place, row in zip(places, values, strict=True))]
    # What the notes of the single results say, once.
    notes = label_notes(row for _, found in results for row in found.rows)
    for note, where in grouped((note, name_of(place)) for place, found in results for note in found.about).items():
        notes.append(f"{note} ({f'in {len(where)} of {len(results)}' if where[1:] else where[0]})")
    return ResultTable([], grid=grid, notes=notes)
