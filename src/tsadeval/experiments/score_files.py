"""`score_files`: metrics of many files of labels and scores, in parallel, with its cells and its result."""

import glob
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Unpack

from tsadeval.core.facts import Reason, counts_of, rule_facts
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Rule
from tsadeval.core.names import printable
from tsadeval.core.parallel import in_order
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics
from tsadeval.engine.cells import Chunk, Making, group_cells, versions
from tsadeval.engine.compute import choose_metrics, compute, record_of_metric, rule_key
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import complete
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError
from tsadeval.experiments.file_scores import LAYOUT, File, FileCell, FileScores, Name, Wanted
from tsadeval.scores.companions import Elsewhere
from tsadeval.scores.scores import LeftOut, Reading, Scored, Scores, as_scores
from tsadeval.scores.tabular import TableShard, is_pattern
from tsadeval.tables.files import Checksums, same_state, skipped_stores
from tsadeval.tables.sources import STDIN
from tsadeval.thresholds.rules import parse_rule

_FILES = 32  # of a chunk at most: what a crash can lose, and what is written at once
_WHOLE: Name = ("", "", "")  # in place of the name of a scoring: the whole file


def score_files(
    files: Any,
    metrics: Metrics = "recommended",
    *,
    threshold: str | float | Rule = "best",
    store: str | Path | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
    **reading: Unpack[Reading],
) -> FileScores:
    """Metrics of many files of labels and scores, each a series or a table of several.

    Parameters
    ----------
    files : Scores, str, path or several
        Patterns ("runs/**/*.parquet"), folders or files, local or at any address that fsspec opens ("s3://..."). Stores
        in these folders are left out (`skipped` of the result).
    metrics, threshold
        As for `te.evaluate`.
    store : path, optional
        A folder that keeps the rows, in parquet files, as they come. The same call again computes only what is missing
        there: new files, files that were written anew, new metrics, and what was an error; all of it after a change of
        the incidents.
    n_jobs : int, optional
        Files that are evaluated at once, -1 for all cores, which is the default: in threads of this process, or in
        worker processes where a metric or the rule is code of your own (by default one after the other). Under
        `joblib.parallel_config(backend="dask")` or "ray" by the workers of a cluster, which must be able to open the
        files.
    progress : bool or function (done, total)
        True shows a progress bar.
    reading
        The options of `te.Scores`: `label`, `score`, `by`, `time`, `incidents`, `ignore`, `fit`, `missing` and others.
        Where columns name series and detectors, files are read once more for their names.

    Returns
    -------
    FileScores
        Prints as a table of means by detector and data set; `rows`, `to_frame`, `table`, `failures`. Rows stay in the
        store until they are asked for, so memory does not grow with the number of files.

    Examples
    --------
    >>> import pathlib, tempfile, tsadeval as te
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, last in (("lof", 0.1), ("pca", 0.9)):
    ...         file = pathlib.Path(folder, name, "a.csv")
    ...         file.parent.mkdir()
    ...         _ = file.write_text(f"label,score\\n0,0.2\\n1,0.7\\n0,{last}\\n")
    ...     found = te.score_files(f"{folder}/*/*.csv", ["auc_roc", "f1"])
    >>> [(row["detector"], row["metric"], round(row["value"], 3)) for row in found.rows]
    [('lof', 'auc_roc', 1.0), ('lof', 'f1', 1.0), ('pca', 'auc_roc', 0.5), ('pca', 'f1', 0.667)]
    """
    scores = as_scores(files, **reading)
    options, chosen, rule = scores.options, choose_metrics(metrics), parse_rule(threshold)
    if not options.score:
        raise InvalidInputError("name at least one column of scores")
    checksums = Checksums(None if store is None else Path(store).absolute())
    shards: dict[str, TableShard] = {}
    found: list[File] = []
    for shard in scores.shards:
        file = shard.file if isinstance(shard, TableShard) else None
        if file is None:
            raise InvalidInputError("score_files reads files: for scores in memory take te.compare")
        if file.path == STDIN and store is not None:
            raise InvalidInputError("standard input is not there a second time, so it does not go with a store")
        if not _within(file.path, store):
            local = checksums.state(file.path) if os.path.isfile(file.path) else ""
            state = STDIN if file.path == STDIN else file.remote or local
            found.append(File(_utf8(file.path), state, sys.intern(_utf8(file.folder))))
            shards[found[-1].path] = shard
    found.sort()
    if not any(file.state for file in found):
        raise InvalidInputError("; ".join(filter(None, [_nothing(scores, found), skipped_stores(scores.stores)])))

    asked = rule_key(rule)
    values = [(str(m), m.version, asked if m.kind == "predictions" else None) for m in chosen]
    named: dict[str, dict[Name, dict[str, str]]] = {}
    if options.columns or any(map(is_pattern, options.score)):
        named = dict(zip(shards, in_order(partial(_names, checksums), shards.values(), None), strict=True))
    by = ", ".join(map(printable, options.by))
    wanted = Wanted(found, named, by, options.time or "", _label(shards[found[0].path]), options.score, values)
    kept = Store(store, LAYOUT)
    kept.add_plan({"metrics": [record_of_metric(metric) for metric in chosen], "rule": asked, "files": len(found)})
    checksums.save()
    chunk = Chunk(file_scorings, (), {str(metric): metric for metric in chosen}, {asked: rule})
    complete(
        wanted,
        lambda missing: _chunks(missing, chunk, shards),
        compute,
        kept,
        n_jobs=n_jobs,
        progress=progress,
        threads=all(metric.library for metric in chosen) and "@" not in asked,
    )
    others = sorted(one for one in scores.stores if store is None or os.path.abspath(one) != os.path.abspath(store))
    return FileScores(kept, wanted, others, _remarks(scores, shards, named), rule_facts(rule))


def _nothing(scores: Scores, found: list[File]) -> str:
    """Return what to say where there is no file."""
    if len(found) == 1 and not glob.has_magic(found[0].path):
        return next((str(one.reason) for one in scores.shards[0].read()), "")
    return f"no file matches {scores.given!r}"


def _label(shard: TableShard) -> str:
    """Where labels come from: a column, or the file of incidents; and all options that change values."""
    options, companions = shard.options, shard.companions
    source = companions.incidents or companions.labels
    labels = options.label or "" if source is None else source.identity()
    ignore = "" if companions.ignored is None else f"ignore {companions.ignored.identity()}"
    fit = ""
    if options.fit is not None:
        if not isinstance(companions.fit, Elsewhere):
            raise InvalidInputError("scores to fit on must be in a file where values are kept in a store")
        fit = f"fit {companions.fit.identity()}"
    missing = f"missing {options.missing}" if options.missing != "skip" else ""
    zone = "" if options.tz is None else f"times in {options.tz}"
    return ", ".join(filter(None, [labels, ignore, fit, missing, zone]))


def _names(checksums: Checksums, shard: TableShard) -> dict[Name, dict[str, str]]:
    """Return what names the scorings of a file, and what the columns `by` hold of each.

    It is remembered for as long as a file stays as it is. Of a file that cannot be read, which is found out later, all
    is empty.
    """
    columns, path = shard.options.columns, str(shard.source)
    try:
        if os.path.isfile(path):
            key = json.dumps(["names", path, columns, shard.options.score, versions()])
            known = json.loads(checksums.of(key, [path], lambda: json.dumps(shard.names())))
        else:
            known = shard.names()
    except (InvalidInputError, OSError):
        known = [([""] * len(columns), column) for column in shard.options.score]
    keys = [(dict(zip(columns, values, strict=True)), column) for values, column in known]
    return {_name_in(shard, own, column): own for own, column in keys}


def _name_in(shard: TableShard, own: dict[str, str], column: str) -> Name:
    """Return what names a scoring of a file, as the store has it."""
    series, detector = shard.names_of(own)
    return _utf8(series), _utf8(detector), column


def _utf8(name: str) -> str:
    """Return the name of a file as a text that can be stored: other bytes than those of UTF-8 are escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def _remarks(
    scores: Scores, shards: Mapping[str, TableShard], named: Mapping[str, dict[Name, dict[str, str]]]
) -> list[str]:
    """How incidents and spans were read, and what of them belongs to no series."""
    unreadable = False
    for path, shard in shards.items():
        for own in named.get(path, {("", "", ""): {}}).values():
            for spans in shard.companions.spans:
                spans.ask(own, shard.of_file.get("file", ""))
            unreadable |= bool(own) and not any(own.values())
    return scores.said(whole=not unreadable)


def _chunks(cells: Iterable[FileCell], empty: Chunk, shards: Mapping[str, TableShard]) -> Iterator[Chunk]:
    """Return the cells of some neighbouring files together."""
    by_file = ((file, tuple(own)) for file, own in groupby(cells, lambda cell: cell.file))
    while some := list(islice(by_file, max(min(len(shards) // 64, _FILES), 1))):
        own = tuple(chain.from_iterable(cells for _, cells in some))
        yield replace(empty, cells=own, payload={file: shards[file] for file, _ in some})


def file_scorings(chunk: Chunk) -> Iterator[Making]:
    """Give the scorings of the files of a chunk, each of which is read once; its payload are the shards by file."""
    for file, cells in group_cells(chunk.cells, lambda cell: cell.file).items():
        read = cache(partial(_read, chunk.payload[file], file, cells[0].state))
        for name, some in group_cells(cells, lambda cell: (cell.series, cell.named, cell.score)).items():
            yield tuple(some), partial(_scoring, read, name, chunk.payload[file].columns.absent)


def _read(shard: TableShard, file: str, state: str) -> dict[Name, Scored | LeftOut]:
    """Every scoring of a file by its name, or why it cannot be used; without a name what is wrong with the file."""
    found: dict[Name, Scored | LeftOut] = {}
    for one in shard.read():
        scored = one if isinstance(one, LeftOut) else one.scored(shard.options.missing)
        of = scored.given if isinstance(scored, Scored) else scored
        found[_name_in(shard, dict(of.keys), of.column)] = scored
    path = str(shard.source)
    if "://" not in path and os.path.exists(path) and not same_state(path, state):
        changed = "it has changed since the run began, so its values were not kept: run the command again"
        return {_WHOLE: LeftOut("", "", file, changed)}
    return found


def _scoring(
    read: Callable[[], Mapping[Name, Scored | LeftOut]], name: Name, absent: Callable[[str], str]
) -> tuple[Scoring | None, Row]:
    found = read()
    one, whole = found.get(name), found.get(_WHOLE)
    if isinstance(one, Scored):
        return one.scoring, counts_of(one.scoring)
    lost: Row = {"value": math.nan, "seconds": math.nan, "status": "error"}
    if one is not None:
        return None, {**lost, "message": one.reason}
    if isinstance(whole, LeftOut):
        return None, {**lost, "message": whole.reason, "reason": Reason.UNREADABLE.value}
    if found and name[2] not in {column for _, _, column in found}:  # others of this file are there
        return None, {**lost, "status": "missing", "message": absent(name[2])}
    return None, {**lost, "message": f"there is no series {name[0]!r}"}


def _within(path: str, store: str | Path | None) -> bool:
    """Return True if the file belongs to the store, which may lie in the folder that is evaluated."""
    return store is not None and os.path.abspath(path).startswith(os.path.join(os.path.abspath(store), ""))
