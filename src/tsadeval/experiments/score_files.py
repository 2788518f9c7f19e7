"""`score_files`: metrics of many files of labels and scores, in parallel, with its cells and its result."""

from __future__ import annotations

import glob
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
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
from tsadeval.experiments.file_scores import LAYOUT, File, FileCell, FileScores, Wanted
from tsadeval.scores.companions import Elsewhere
from tsadeval.scores.options import Reading
from tsadeval.scores.scored import LeftOut
from tsadeval.scores.scores import Scores, as_scores
from tsadeval.scores.tabular import TableShard, is_pattern
from tsadeval.tables.checksums import Checksums, same_state
from tsadeval.tables.files import skipped_stores
from tsadeval.tables.sources import STDIN
from tsadeval.thresholds.rules import parse_rule

_FILES = 32  # of a chunk at most: what a crash can lose, and what is written at once
_Name = tuple[str, str, str]  # series and detector as columns name them, and the column of scores
_Keys = list[tuple[dict[str, str], str]]  # of scorings: what the columns `by` hold, and the column of scores


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
        Worker processes, -1 for all cores; by default threads of this process. Under
        `joblib.parallel_config(backend="dask")` or "ray" the workers of a cluster, which must be able to open the
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
        if not _within(file.path, store):
            state = file.remote or (checksums.state(file.path) if os.path.isfile(file.path) else "")
            if file.path == STDIN:
                state = _stdin_state(store)
            found.append(File(file.path, state, sys.intern(file.folder)))
            shards[file.path] = shard
    found.sort()
    if not any(file.state for file in found):
        raise InvalidInputError("; ".join(filter(None, [_nothing(scores, found), skipped_stores(scores.stores)])))

    asked = rule_key(rule)
    values = [(str(m), m.version, asked if m.kind == "predictions" else None) for m in chosen]
    plain = not options.columns and not any(map(is_pattern, options.score))
    read = [] if plain else in_order(lambda shard: _keys(shard, checksums), shards.values(), None)
    keys = dict(zip(shards, read, strict=not plain))
    remarks = _remarks(shards, keys) if options.incidents is not None else []
    names = {path: [(*shards[path].names_of(own), column) for own, column in some] for path, some in keys.items()}
    by = ", ".join(map(printable, options.by))
    of_name = {(path, *shards[path].names_of(own), column): own for path, some in keys.items() for own, column in some}
    wanted = Wanted(found, names, of_name, by, options.time or "", _label(shards), options.score, values)
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
        threads=all(metric.library for metric in chosen),
    )
    others = sorted(one for one in scores.stores if store is None or os.path.abspath(one) != os.path.abspath(store))
    return FileScores(kept, wanted, others, remarks, rule_facts(rule))


def _nothing(scores: Scores, found: list[File]) -> str:
    """Return what to say where there is no file."""
    if len(found) == 1 and not glob.has_magic(found[0].path):
        return next((str(one.reason) for one in scores.shards[0].read()), "")
    return f"no file matches {scores.given!r}"


def _stdin_state(store: Any) -> str:
    if store is not None:
        raise InvalidInputError("standard input is not there a second time, so it does not go with a store")
    return STDIN


def _label(shards: Mapping[str, TableShard]) -> str:
    """Where labels come from: a column, or the file of incidents; and all options that change values."""
    shard = next(iter(shards.values()))
    options, companions = shard.options, shard.companions
    source = companions.incidents or companions.labels
    parts = [options.label or "" if source is None else source.identity()]
    if companions.ignored is not None:
        parts.append(f"ignore {companions.ignored.identity()}")
    if options.fit is not None:
        if not isinstance(companions.fit, Elsewhere):
            raise InvalidInputError("scores to fit on must be in a file where values are kept in a store")
        parts.append(f"fit {companions.fit.identity()}")
    if options.missing != "skip":
        parts.append(f"missing {options.missing}")
    return ", ".join(parts)


def _keys(shard: TableShard, checksums: Checksums) -> _Keys:
    """Return what the columns `by` hold for every scoring of a file, and its column of scores.

    It is remembered for as long as a file stays as it is. Of a file that cannot be read, which is found out later, all
    is empty.
    """
    columns = shard.options.columns
    try:
        path = "" if shard.file is None else shard.file.path
        if "://" in path or path == STDIN:
            known = shard.names()
        else:
            key = json.dumps(["names", path, columns, shard.options.score, versions()])
            known = json.loads(checksums.of(key, [path], lambda: json.dumps(shard.names())))
    except (InvalidInputError, OSError):
        known = [([""] * len(columns), column) for column in shard.options.score]
    return [(dict(zip(columns, values, strict=True)), column) for values, column in known]


def _remarks(shards: Mapping[str, TableShard], keys: Mapping[str, _Keys]) -> list[str]:
    """How the file of incidents was read, and what in it belongs to no series."""
    spans = next(iter(shards.values())).companions.incidents
    assert spans is not None  # the caller has looked
    for path, shard in shards.items():
        for own, _ in keys.get(path, [({}, "")]):
            spans.ask(own, shard.of_file.get("file", ""))
    unreadable = any(own and not any(own.values()) for some in keys.values() for own, _ in some)
    return spans.notes(whole=not unreadable)


def _chunks(cells: Iterable[FileCell], empty: Chunk, shards: Mapping[str, TableShard]) -> Iterator[Chunk]:
    """Return the cells of some neighbouring files together."""
    most = max(min(len(shards) // 64, _FILES), 1)
    part: list[FileCell] = []
    inside: dict[str, TableShard] = {}
    for cell in cells:
        if cell.file not in inside and len(inside) == most:
            yield replace(empty, cells=tuple(part), payload=inside)
            part, inside = [], {}
        part.append(cell)
        inside[cell.file] = shards[cell.file]
    if part:
        yield replace(empty, cells=tuple(part), payload=inside)


def file_scorings(chunk: Chunk) -> Iterator[Making]:
    """Give the scorings of the files of a chunk, each of which is read once; its payload are the shards by file."""
    for file, cells in group_cells(chunk.cells, lambda cell: cell.file).items():
        read = cache(partial(_read, chunk.payload[file], file, cells[0].state))
        for name, some in group_cells(cells, lambda cell: (cell.series, cell.named, cell.score)).items():
            yield tuple(some), partial(_scoring, read, name, chunk.payload[file].columns.absent)


def _read(shard: TableShard, file: str, state: str) -> tuple[dict[_Name, Scoring | str], str]:
    """Every scoring of a file by its name, or why it cannot be used; and what is wrong with the whole file."""
    found: dict[_Name, Scoring | str] = {}
    problem = ""
    for one in shard.read():
        if isinstance(one, LeftOut):
            if one.column:
                found[*shard.names_of(dict(one.keys)), one.column] = one.reason
            else:
                problem = one.reason
            continue
        scored = one.scored(shard.options.missing)
        found[*shard.names_of(one.keys), one.column] = scored.reason if isinstance(scored, LeftOut) else scored.scoring
    if "://" not in file and os.path.exists(file) and not same_state(file, state):
        return {}, "it has changed since the run began, so its values were not kept: run the command again"
    return found, problem


def _scoring(
    read: Callable[[], tuple[dict[_Name, Scoring | str], str]], name: _Name, absent: Callable[[str], str]
) -> tuple[Scoring | None, Row]:
    found, problem = read()
    scoring = found.get(name)
    if isinstance(scoring, Scoring):
        return scoring, counts_of(scoring)
    lost = {"value": math.nan, "seconds": math.nan}
    columns = {column for _, _, column in found}
    if scoring is None and not problem and columns and name[2] not in columns:  # others of this file are there
        return None, {**lost, "status": "missing", "message": absent(name[2])}
    of_file = {"reason": Reason.UNREADABLE.value} if scoring is None and problem else {}
    message = scoring or problem or f"there is no series {name[0]!r}"
    return None, {**lost, **of_file, "status": "error", "message": message}


def _within(path: str, store: str | Path | None) -> bool:
    """Return True if the file belongs to the store, which may lie in the folder that is evaluated."""
    return store is not None and os.path.abspath(path).startswith(os.path.join(os.path.abspath(store), ""))
