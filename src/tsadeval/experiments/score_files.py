"""`score_files`: metrics of many files of labels and scores, in parallel, with its cells and its result."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from tsadeval._optional import require
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Rule
from tsadeval.core.names import printable
from tsadeval.core.parallel import in_order
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics
from tsadeval.core.times import read_times, read_utc
from tsadeval.engine.cells import Chunk, Making, group_cells, versions
from tsadeval.engine.compute import choose_metrics, compute, record_of_metric, rule_key
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import complete
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.experiments.file_scores import LAYOUT, File, FileCell, FileScores, Wanted
from tsadeval.scores.companions import Spans, stem_of
from tsadeval.scores.scoring import observe
from tsadeval.scores.tabular import TableScoring, scorings
from tsadeval.tables import read_table
from tsadeval.tables.checksums import Checksums, same_state
from tsadeval.tables.files import outside_stores, skipped_stores, table_files
from tsadeval.tables.one_series import DETECTORS
from tsadeval.tables.sources import user_path
from tsadeval.tables.table import Groups, Table, is_zoned
from tsadeval.thresholds.rules import parse_rule

_FILES = 32  # of a chunk at most: what a crash can lose, and what is written at once


class Incidents(NamedTuple):
    """Intervals of time that are the labels, and whether those that do not fit the time stamps are cut."""

    spans: Spans
    clip: bool


def score_files(
    files: Any,
    metrics: Metrics = "recommended",
    *,
    label: str = "label",
    score: str | Iterable[str] = "score",
    by: str | Iterable[str] = (),
    time: str | None = None,
    incidents: str | Path | None = None,
    clip: bool = False,
    shared: bool = False,
    threshold: str | float | Rule = "best",
    store: str | Path | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
) -> FileScores:
    """Metrics of many files of labels and scores, each a series or a table of several.

    Parameters
    ----------
    files : str, path or several
        Patterns ("runs/**/*.parquet"), folders or files, local or at any address that fsspec opens ("s3://..."). Stores
        in these folders are left out (`skipped` of the result).
    metrics, threshold
        As for `te.evaluate`.
    label : str
        The column of labels.
    score : str or several
        The columns of scores.
    by : str or several
        Columns that tell the series of a file apart, in any order of rows; one called "detector", "model", "algorithm",
        "algo" or "method" names the detector. Files are read once more for their names.
    time : str, optional
        The column of time stamps, for metrics with durations and for incidents.
    incidents : path, optional
        A file with columns start and stop, and those of `by` or one with the names of the files; or windows as json
        under the values of `by`. These are the labels, instead of a column.
    clip : bool
        Cut incidents beyond the time stamps, drop those outside, put those without a time stamp on the next point, and
        join those that overlap, instead of an error.
    shared : bool
        Incidents hold for every series, whatever their other columns say.
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
    scores = [score] if isinstance(score, str) else list(score)
    keys = [by] if isinstance(by, str) else list(by)
    chosen = choose_metrics(metrics)
    asked = parse_rule(threshold)
    rule = rule_key(asked)
    checksums = Checksums(None if store is None else Path(store).absolute())
    stores: set[str] = set()
    found = [file for file in _files(files, checksums, stores) if not _within(file.path, store)]
    if not scores:
        raise InvalidInputError("name at least one column of scores")
    if not any(file.state for file in found):
        raise InvalidInputError("; ".join(filter(None, [f"no file matches {files!r}", skipped_stores(stores)])))

    values = [(str(m), m.version, rule if m.kind == "predictions" else None) for m in chosen]
    laid = _incidents(incidents, clip, shared, time, found, keys)
    groups = _groups(found, keys, checksums) if keys else {}
    named = {path: [_series(dict(zip(keys, group, strict=True))) for group in own] for path, own in groups.items()}
    remarks = [] if laid is None else _remarks(laid.spans, found, keys, groups)
    label = label if laid is None else laid.spans.identity(clip=clip)
    wanted = Wanted(found, named, ", ".join(map(printable, keys)), time or "", label, scores, values)
    kept = Store(store, LAYOUT)
    kept.add_plan({"metrics": [record_of_metric(metric) for metric in chosen], "rule": rule, "files": len(found)})
    checksums.save()
    empty = Chunk(file_scorings, (), {str(m): m for m in chosen}, {rule: asked}, (tuple(keys), laid))
    complete(
        wanted,
        lambda missing: _chunks(missing, empty, len(found)),
        compute,
        kept,
        n_jobs=n_jobs,
        progress=progress,
        threads=all(metric.library for metric in chosen),
    )
    others = sorted(one for one in stores if store is None or os.path.abspath(one) != os.path.abspath(store))
    return FileScores(kept, wanted, others, remarks)


def _groups(files: list[File], by: list[str], checksums: Checksums) -> dict[str, list[tuple[str, ...]]]:
    """What the columns `by` hold for each series of a file; of one that cannot be read, which is found out later, "".

    It is remembered as checksums are, for as long as a file stays as it is.
    """

    def names(file: File) -> list[tuple[str, ...]]:
        def take() -> str:
            table = read_table(file.path, text=by)
            return json.dumps(Groups(table, [table.name(name, "to group by") for name in by]).names)

        try:
            if "://" in file.path:
                found = take()
            else:
                found = checksums.of(json.dumps(["groups", file.path, by, versions()]), [file.path], take)
        except (InvalidInputError, OSError):
            return [("",) * len(by)]
        return [tuple(group) for group in json.loads(found)]

    return {file.path: found for file, found in zip(files, in_order(names, files, None), strict=True)}


def _incidents(
    path: str | Path | None, clip: bool, shared: bool, time: str | None, files: list[File], by: list[str]
) -> Incidents | None:
    if path is None:
        if clip or shared:
            raise InvalidParameterError("clip and shared (--clip, --shared) are for incidents (--incidents): pass them")
        return None
    if not time:
        raise InvalidInputError("intervals of time need time stamps: name their column with time= (--time)")
    stems = [stem_of(file.path) for file in files]
    return Incidents(Spans(user_path(path), by, files=stems, shared=shared), clip)


def _remarks(spans: Spans, files: list[File], by: list[str], groups: dict[str, list[tuple[str, ...]]]) -> list[str]:
    """How the file of incidents was read, and what in it belongs to no series."""
    for file in files:
        for group in groups.get(file.path, [()]):
            spans.ask(dict(zip(by, group, strict=True)), stem_of(file.path))
    unreadable = any(not any(group) for own in groups.values() for group in own)
    return [*spans.said, *filter(None, [None if unreadable else spans.unused])]


def _series(keys: dict[str, str]) -> tuple[str, str]:
    """The name of a series and of its detector, from what the columns that tell them apart hold."""
    detector = next((name for name in keys if name.lower() in DETECTORS), None)
    series = "/".join(value for name, value in keys.items() if name != detector)
    return series, keys[detector] if detector else ""


def _chunks(cells: Iterable[FileCell], empty: Chunk, files: int) -> Iterator[Chunk]:
    """The cells of some neighbouring files together."""
    most = max(min(files // 64, _FILES), 1)
    part: list[FileCell] = []
    inside: set[str] = set()
    for cell in cells:
        if cell.file not in inside and len(inside) == most:
            yield replace(empty, cells=tuple(part))
            part, inside = [], set()
        part.append(cell)
        inside.add(cell.file)
    if part:
        yield replace(empty, cells=tuple(part))


def file_scorings(chunk: Chunk) -> Iterator[Making]:
    """Give the series of the files of a chunk, each of which is read once; its payload are `by` and the incidents."""
    by, incidents = chunk.payload
    for file, cells in group_cells(chunk.cells, lambda cell: cell.file).items():
        parts = group_cells(cells, lambda cell: (cell.series, cell.named, cell.score))
        read = cache(partial(_parts, file, by, incidents, cells[0], {score for _, _, score in parts}))
        for key, some in parts.items():
            yield tuple(some), partial(_scoring, read, key)


def _parts(
    file: str, by: tuple[str, ...], incidents: Incidents | None, cell: FileCell, scores: Iterable[str]
) -> dict[Any, Any] | Exception:
    """Labels, scores and times of each series and column of scores; what is wrong with a column is kept for it."""
    found: dict[Any, Any] = {}
    try:
        table = read_table(file, text=by)
        if "://" not in file and not same_state(file, cell.state):
            raise InvalidInputError(
                "it has changed since the run began, so its values were not kept: run the command again"
            )
    except Exception as error:  # of all series of the file
        return error
    label = None if incidents else cell.label
    for score in scores:
        try:
            for part in scorings(table, label=label, score=score, by=by, time=cell.time or None):
                key = (*_series(part.keys), score)
                if key in found:
                    raise InvalidInputError(f"two series are named {key[0]!r}: add to --by what tells them apart")
                found[key] = _given(part, incidents, table, cell.time)
        except InvalidInputError as error:
            found[score] = error
    return found


def _given(
    part: TableScoring, incidents: Incidents | None, table: Table, time: str
) -> tuple[Any, Any, Any] | InvalidInputError:
    """Labels, scores and times of a series; where labels come from incidents that do not fit, what is wrong."""
    if incidents is None or part.times is None:
        return part.labels, part.scores, part.times
    name = table.name(time)
    read = read_utc if is_zoned(table, name) else read_times
    spans, clip = incidents
    try:
        stamps = read(part.times, name=f"column {printable(name)!r}")
        return spans.labels(part.keys, stem_of(table.source), stamps, clip=clip, count=False), part.scores, stamps
    except InvalidInputError as error:
        return error


def _scoring(read: Callable[[], dict[Any, Any] | Exception], key: tuple[str, str, str]) -> tuple[Scoring, Row]:
    found = read()
    if isinstance(found, Exception):
        raise found
    if key[2] in found:
        raise found[key[2]]
    if key not in found:
        raise InvalidInputError(f"there is no series {key[0]!r}")
    given = found.pop(key)
    if isinstance(given, InvalidInputError):
        raise given
    labels, scores, times = given
    return observe(labels, scores, times=times), {}


def _files(given: Any, checksums: Checksums, stores: set[str]) -> list[File]:
    """All files that patterns, folders and paths mean, each once, by name; not those in stores, which are noted.

    What means no file is one without a state: its cells will say that it is not there, and the others go on.
    """
    several = [given] if isinstance(given, (str, os.PathLike)) else list(given)
    found: dict[tuple[str, str], File] = {}
    real = cache(os.path.realpath)
    for pattern in several:
        one = str(os.fspath(pattern))
        root, paths = _remote(one) if "://" in one else _local(one, checksums, stores)
        here: dict[tuple[str, str], File] = {}
        for path, state in paths:
            folder, _, name = path.rpartition("/")
            below = folder[len(root) :].strip("/") if folder.startswith(root) else ""
            # Links to folders lead to a file in several ways, or in circles: the shortest counts.
            key = (folder if "://" in path else real(folder or ("/" if path.startswith("/") else ".")), name)
            if key not in here or _length(path) < _length(here[key].path):
                here[key] = File(path, state, sys.intern(below))  # one text for all files of a folder
        for key, file in (here or {(one, ""): File(one, "", "")}).items():
            found.setdefault(key, file)
    return sorted(found.values())


def _length(path: str) -> tuple[int, str]:
    return path.count("/"), path


def _within(path: str, store: str | Path | None) -> bool:
    """Return True if the file belongs to the store, which may lie in the folder that is evaluated."""
    return store is not None and os.path.abspath(path).startswith(os.path.join(os.path.abspath(store), ""))


def _root(pattern: str) -> str:
    """The folder in front of the first wildcard; that of a file itself."""
    parts = pattern.split("/")
    wild = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts) - 1)
    return "/".join(parts[:wild])


def _local(one: str, checksums: Checksums, stores: set[str]) -> tuple[str, Iterator[tuple[str, str]]]:
    path = str(user_path(one))
    paths: Iterable[Any]
    if os.path.isdir(path):
        root, paths = path, table_files(Path(path), stores)
    elif os.path.isfile(path):  # also where its name looks like a pattern
        root, paths = Path(path).parent.as_posix(), [path]
    else:
        root = _root(Path(path).as_posix())
        paths = outside_stores(glob.iglob(path, recursive=True), root, stores)
    return Path(root).as_posix(), ((Path(p).as_posix(), checksums.state(p)) for p in paths if os.path.isfile(p))


def _remote(one: str) -> tuple[str, Iterator[tuple[str, str]]]:
    fsspec = require("fsspec", extra="remote")
    system, path = fsspec.core.url_to_fs(one)
    paths = system.glob(path) if glob.has_magic(path) else system.find(path)
    found = []
    for name in paths:
        info = system.info(name)
        if info["type"] == "file":
            about = str(
                sorted((k, str(v)) for k, v in info.items() if k in ("ETag", "mtime", "created", "LastModified"))
            )
            digest = hashlib.sha256(about.encode()).hexdigest()[:16]
            found.append((system.unstrip_protocol(name), f"{info['size']} {digest}"))
    return system.unstrip_protocol(_root(path) if glob.has_magic(path) else path), iter(found)
