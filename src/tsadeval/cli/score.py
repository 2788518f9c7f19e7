"""`tsadeval score`: compute metrics of score files."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from tsadeval.cli.options import By, Dask, Label, Missing, Scores, complete_metrics, names_of, running
from tsadeval.cli.output import Case, Format, Results, first_of, has_values, render, shown, tell_failures, undefined
from tsadeval.cli.spans import Beside, Clip, Ignore, Incidents, Shared, say
from tsadeval.core.metric import Metric
from tsadeval.core.names import printable, split_names
from tsadeval.core.parallel import on_cluster
from tsadeval.core.results import Result
from tsadeval.core.selection import select_metrics
from tsadeval.core.times import Named, Times, read_times, read_utc
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning
from tsadeval.evaluation.events import events as event_table
from tsadeval.evaluation.single import evaluate
from tsadeval.experiments.file_scores import FileScores
from tsadeval.experiments.score_files import score_files
from tsadeval.scores.companions import FitScores, stem_of
from tsadeval.scores.tabular import ScoreColumns, TableScoring, scorings
from tsadeval.streams.evaluate import evaluate_stream
from tsadeval.streams.states import Order
from tsadeval.tables import read_table, table_files
from tsadeval.tables.files import skipped_stores
from tsadeval.tables.table import Groups, Table, is_zoned, line_of
from tsadeval.thresholds.rules import parse_rule


def score(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Tables of labels and scores: csv, tsv, parquet, feather, jsonl, npy, npz, also gzipped; - is stdin. "
            "Also folders of them; with --store or --jobs also patterns."
        ),
    ],
    label: Label = "label",
    score: Scores = None,
    by: By = None,
    time: Annotated[str, typer.Option(help="Column of the time stamps.")] = "",
    incidents: Incidents = None,
    clip: Clip = False,
    shared: Shared = False,
    ignore: Ignore = None,
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
        str,
        typer.Option(
            help="How scores become predictions: best, best(metric), budget(2/week), quantile(p), sigma(k), a number."
        ),
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
    if stream and store is not None:
        raise InvalidInputError("--stream keeps nothing, so it does not go with --store: leave one of them out")
    if order != "sort" and not stream:
        raise InvalidInputError("--order is for --stream: add it, or leave --order out")
    if stream or store is not None or jobs is not None or dask:
        plain = not (ignore or fit or baseline or events or (one_series and not stream))
        plain = plain and missing == "error"
        if not plain:
            raise InvalidInputError(
                "--store, --jobs, --dask and --stream go with --label, --score, --by, --time, --incidents, --metrics "
                "and --threshold only: leave the other options out"
            )
        if stream and incidents:
            raise InvalidInputError(
                "--stream takes labels from a column of the files, not from --incidents (te.labels makes labels from "
                "incidents, to be written into the files once)"
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
                files, chosen, label=label, scores=columns, by=names_of(by), time=time, incidents=incidents,
                clip=clip, shared=shared, threshold=threshold, store=store, jobs=jobs, dask=dask, format=format,
            )  # fmt: skip
        return
    # An event is detected or not at one threshold for all of them, not at the best of each metric.
    of_events = parse_rule("best(f1)") if threshold == "best" else rule
    keys = [name for text in by or [] for name in split_names(text)]
    stores: set[str] = set()
    tables = [table for file in files for table in _tables(file, stores)]
    say(filter(None, [skipped_stores(stores)]))
    source = _Source(
        label=None if incidents else label,
        scores=ScoreColumns(names_of(score) or ["score"]),
        by=keys,
        time=time or None,
        one_series=one_series,
        beside=Beside.of(incidents, ignore, keys, tables, time=time, clip=clip, shared=shared),
        fit=FitScores(fit, keys) if fit else None,
    )
    say(source.beside.said())

    def judge(case: Case) -> Result:
        setting = {"times": case.times, "ignore": case.ignore, "missing": missing, "fit": case.fit}
        if events:
            return event_table(case.labels, case.scores, threshold=of_events, incidents=case.incidents, **setting)
        return evaluate(case.labels, case.scores, chosen, threshold=rule, baseline=baseline, **setting)

    results, failed, unread = _all_results(tables, source, judge)
    with warnings.catch_warnings(record=True) as lacking:
        warnings.simplefilter("always")
        source.scores.check()
    say(str(warning.message) for warning in lacking)
    say(source.beside.fitted(whole=not unread))
    if results:
        table = shown(results, ["path" if "file" in keys else "file", *keys, "score"], format, chosen)
        typer.echo(table)
    if failed:
        raise typer.Exit(1 if results else 2)
    if not has_values(results):
        say(["no metric has a value: see the lines above"])
        raise typer.Exit(1)


def _tables(file: str, stores: set[str]) -> list[str]:
    """The tables in a folder, but for those in stores, or the file itself."""
    if file == "-" or "://" in file or not Path(file).is_dir():
        return [file]
    found = [str(path) for path in table_files(file, stores)]
    if not found:
        what = f"{printable(file)}: this is a folder, and there are no tables in it"
        raise InvalidInputError("; ".join(filter(None, [what, skipped_stores(stores)])))
    return found


@dataclass(frozen=True)
class _Source:
    """What to take out of each file, and the files beside it."""

    label: str | None
    scores: ScoreColumns
    by: list[str]
    time: str | None
    one_series: bool
    beside: Beside
    fit: FitScores | None

    def cases(self, file: str, refuse: Callable[[InvalidInputError], None]) -> Iterator[Case]:
        """Every scoring in a file; a series without usable incidents or fit is refused, the others go on."""
        table = read_table(file, text=self.by)
        stem = stem_of(file)
        of_file = {"file": stem, "folder": Path(file).parent.as_posix()}
        given = {name: value for name, value in of_file.items() if name in self.by and name not in table}
        columns = [name for name in self.by if name not in given]
        wanted = self.scores.of(table, {*columns, *filter(None, (self.label, self.time))})
        parts = scorings(table, label=self.label, score=wanted, by=columns, time=self.time, one_series=self.one_series)
        for part in parts:
            keys = {name: given[name] if name in given else part.keys[name] for name in self.by}
            where = (table.source, *map(printable, keys.values()), printable(part.score))
            beside, incidents = self.beside, None
            try:
                beside.ask(keys, stem)
                stamps = self._stamps(table, part, columns)
                labels, ignore = beside.lay(keys, stem, part.labels, stamps)
                if beside.incidents is not None:
                    incidents = beside.incidents.incidents(keys, stem)
                fit = self.fit.of(keys, part.score) if self.fit else None
            except InvalidInputError as error:
                refuse(InvalidInputError(f"{', '.join(where)}: {error}"))
                continue
            yield Case(where, labels, part.scores, stamps, ignore, fit, incidents)

    def _stamps(self, table: Table, part: TableScoring, by: list[str]) -> Any:
        """The time stamps of a series, checked; None where no column has them. Messages name the lines of the file."""
        if self.time is None:
            return None
        name = table.name(self.time)

        def read(called: str) -> Times:
            assert part.times is not None  # since a column of times is named
            return read_utc(part.times, called) if is_zoned(table, name) else read_times(part.times, name=called)

        try:
            return read(name)
        except InvalidInputError:
            groups = Groups(table, by)
            rows = groups.split(np.arange(table.n), name)[groups.names.index(tuple(part.keys.values()))]
            lines = [line for row in rows.tolist() if (line := line_of(table, row)) is not None]
            read(Named.of(f"column {printable(name)!r}", lines or None))
            raise


def _all_results(files: list[str], source: _Source, judge: Callable[[Case], Result]) -> tuple[Results, int, int]:
    """What was found for every scoring, and how many scorings and files failed: one line each, and the rest goes on."""
    results: Results = []
    said: dict[str, list[str]] = {}  # warnings, and the scorings that they are about
    # Scorings that were refused for the same reason, whatever its numbers, each with its message; and files.
    refused: dict[str, list[tuple[str, str]]] = {}
    failed = unread = 0

    def refuse(error: Exception, scoring: str = "") -> None:
        nonlocal failed
        failed += 1
        alike = re.sub(r"\d[\d,.]*", "0", str(error)) if scoring else str(error)
        refused.setdefault(alike, []).append((scoring, str(error)))

    for file in files:
        try:
            for case in source.cases(file, refuse):
                try:
                    results.append((case, _with_warnings(case, judge, said)))
                except InvalidInputError as error:
                    refuse(error, case.name)
        except (InvalidInputError, OSError) as error:
            unread += 1
            refuse(error)
    for (first, reason), *others in refused.values():
        rest = f"; {len(others)} more are refused for this reason ({first_of([name for name, _ in others])})"
        say([(f"{first}: " if first else "") + reason + (rest if others else "")])
    say(f"{_named(cases)}: {warning}" for warning, cases in said.items())
    say(undefined(results))
    if failed and results:
        say([f"{failed} could not be evaluated, {len(results)} could"])
    return results, failed, unread


def _with_warnings(case: Case, judge: Callable[[Case], Result], said: dict[str, list[str]]) -> Result:
    """Evaluate, and note for every warning which file and column it is about."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return judge(case)
    finally:
        # What is undefined is said of all scorings at once.
        for warning in (one for one in caught if not issubclass(one.category, UndefinedMetricWarning)):
            said.setdefault(str(warning.message), []).append(case.name)


def _named(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} scorings ({first_of(names)})"


# `tsadeval score` of files that are many, or too large for memory.


def score_many(
    files: list[str],
    metrics: tuple[Metric, ...],
    *,
    label: str,
    scores: list[str],
    by: list[str],
    time: str,
    incidents: Path | None,
    clip: bool,
    shared: bool,
    threshold: str,
    store: Path | None,
    jobs: int | None,
    dask: str,
    format: Format,
) -> None:
    """Compute what the store does not have yet, then print a table by detector and data set."""
    with running("score", dask) as bar:
        result = score_files(
            files,
            metrics,
            label=label,
            score=scores,
            by=by,
            time=time or None,
            incidents=incidents,
            clip=clip,
            shared=shared,
            threshold=threshold,
            store=store,
            n_jobs=jobs,
            progress=bar,
        )
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
    files: list[str],
    metrics: tuple[Metric, ...],
    *,
    label: str,
    scores: list[str],
    by: list[str],
    time: str,
    threshold: str,
    order: Order,
    one_series: bool,
    jobs: int | None,
    dask: str,
    format: Format,
) -> None:
    """Evaluate one series (or one for each value of a column) that is larger than memory, batch by batch."""
    if len(scores) > 1 or len(by) > 1:
        raise InvalidParameterError("--stream takes one column of scores, and at most one column in --by")
    with on_cluster(dask), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMetricWarning)
        result = evaluate_stream(
            files,
            metrics,
            threshold=_number(threshold),
            order=order,
            label=label,
            score=scores[0],
            by=by[0] if by else None,
            time=time or None,
            one_series=one_series,
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
