"""Runs: scorings by series and detector, read from one table or from many files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tsadeval.core.names import printable
from tsadeval.core.times import Times, read_times
from tsadeval.errors import InvalidInputError
from tsadeval.scores.tabular import ScoreColumns, TableScoring, scorings
from tsadeval.tables.columns import Array
from tsadeval.tables.files import table_files
from tsadeval.tables.one_series import DETECTORS
from tsadeval.tables.reading import read_table
from tsadeval.tables.sources import STDIN, user_path
from tsadeval.tables.table import Table, zone_of_column

# Names of the file itself, which `by` may hold beside those of columns.
_OF_FILES = ("folder", "file")


class Run(NamedTuple):
    """Labels and scores of a detector on a series; missing scores are NaN."""

    series: str
    detector: str
    y_true: Array
    y_score: Array


class TimedRun(NamedTuple):
    """A run with the time stamps of its points, and where it is from: its values in `by`, and the name of its file."""

    run: Run
    times: Times | None
    keys: dict[str, str]
    file: str


def runs(
    data: Any,
    *,
    by: str | Sequence[str] = (),
    y_true: str = "label",
    y_score: str | Sequence[str] = "score",
    detector: str | None = None,
    one_series: bool = False,
    max_bytes: float | None = None,
    on_error: Callable[[InvalidInputError], Any] | None = None,
) -> Iterator[Run]:
    """Every scoring of a long or wide table, or of many files, with the names of its series and its detector.

    Parameters
    ----------
    data : data frame, mapping of arrays, Table, path, folder or sequence of paths
        As `read_table` takes it; of a folder all tables in it and below.
    by : str or sequence of str
        The columns that tell series and detectors apart. "file" and "folder" mean the name of the file without its
        suffix and the folder that it lies in, unless there are columns of these names.
    y_true, y_score : str or sequence of str
        The columns of labels and of scores; patterns as "lof_*" mean all numeric columns that match. A file that lacks
        some of these columns counts for the others, with a warning; a name that no file has is an error.
    detector : str, optional
        Which of `by` names the detector; by default the one called "detector", "model", "algorithm", "algo" or
        "method". Without one, detectors are called as their columns of scores.
    one_series, max_bytes
        As for `scorings` and `read_table`.
    on_error : callable, optional
        Is called with the error of a file that cannot be used, and the other files go on; without it, the first
        such error is raised.

    Yields
    ------
    Run
        (series, detector, y_true, y_score). The name of a series is made of its values in `by` (but for the
        detector) with strokes between; of files without such columns, it is the file's path below the folder.
        What is missing is left to the caller: scores that are missing are NaN, combinations of series and detector
        that the table does not have are not there.

    Examples
    --------
    >>> from tsadeval.tables import runs
    >>> wide = {"series": list("aabb"), "label": [0, 1, 1, 0], "lof": [0.1, 0.9, 0.4, None], "pca": [1, 2, 3, 4]}
    >>> for run in runs(wide, by="series", y_score=["lof", "pca"]):
    ...     print(run.series, run.detector, run.y_true, run.y_score)
    a lof [0 1] [0.1 0.9]
    a pca [0 1] [1 2]
    b lof [1 0] [0.4 nan]
    b pca [1 0] [3 4]
    """
    timed = timed_runs(
        data, by=by, y_true=y_true, y_score=y_score, detector=detector, one_series=one_series, max_bytes=max_bytes,
        on_error=on_error,
    )  # fmt: skip
    for found in timed:
        yield found.run


def timed_runs(
    data: Any,
    *,
    by: str | Sequence[str] = (),
    y_true: str | None = "label",
    y_score: str | Sequence[str] = "score",
    detector: str | None = None,
    time: str | None = None,
    one_series: bool = False,
    max_bytes: float | None = None,
    on_error: Callable[[InvalidInputError], Any] | None = None,
) -> Iterator[TimedRun]:
    """As `runs`, each with the time stamps of its points, from the column `time`; without labels where y_true is None.

    `keys` has the columns of `by` that tell series apart, without the detector's.
    """
    names = [by] if isinstance(by, str) else list(by)
    if detector is None:
        detector = next((name for name in names if name.lower() in DETECTORS), None)
    elif detector not in names:
        names.append(detector)
    scores = [y_score] if isinstance(y_score, str) else list(y_score)
    wanted = ScoreColumns(scores)
    seen: dict[tuple[str, str], str] = {}
    for source, of_file in _sources(data):
        try:
            table = read_table(source, text=names, max_bytes=max_bytes)
            given = {name: value for name, value in of_file.items() if name in names and name not in table}
            columns = [name for name in names if name not in given]
            found = wanted.of(table, {*columns, *filter(None, (y_true, time))})
            parts = scorings(table, label=y_true, score=found, by=columns, time=time, one_series=one_series)
            several = len(scores) > 1 or scores[0] not in table
            for part in parts:
                keys = {**part.keys, **given}
                run = _run(part, keys, names, detector, several, of_file)
                name = run[:2]
                if name in seen:
                    raise _duplicate_error(name, seen[name], table.source)
                seen[name] = table.source
                own = {key: keys[key] for key in names if key != detector}
                yield TimedRun(run, _stamps(table, time, part, run), own, of_file.get("file", ""))
        except InvalidInputError as error:
            if on_error is None:
                raise
            on_error(error)
    wanted.check()


def _stamps(table: Table, time: str | None, part: TableScoring, run: Run) -> Times | None:
    if time is None or part.times is None:
        return None
    name = f"{table.source}: {time}" + (f" of series {printable(run.series)!r}" if part.keys else "")
    found = read_times(part.times, name=name)
    # Of a column whose type has a time zone the array is in UTC, and does not say so.
    zone = zone_of_column(table, table.name(time))
    return replace(found, kind="dates with a time zone", zone=zone) if zone else found


def _run(
    part: TableScoring,
    keys: dict[str, str],
    names: list[str],
    detector: str | None,
    several: bool,
    of_file: dict[str, str],
) -> Run:
    series = "/".join(keys[name] for name in names if name != detector)
    if not series:
        series = "/".join(of_file[name] for name in _OF_FILES if name != detector and of_file.get(name))
    who = part.score
    if detector is not None:
        who = f"{keys[detector]}/{part.score}" if several else keys[detector]
    return Run(series, who, part.labels, part.scores)


def _duplicate_error(name: tuple[str, str], first: str, second: str) -> InvalidInputError:
    where = first if first == second else f"{first} and {second}"
    what = f"series {printable(name[0])!r} and detector {printable(name[1])!r}"
    return InvalidInputError(
        f"{where}: two scorings of {what}; add to by= what tells them apart, as a column or 'file'"
    )


def _sources(data: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    """Tables or paths, each with what its path says about it."""
    if isinstance(data, (str, os.PathLike)):
        path = user_path(data)
        if path.is_dir():
            files = table_files(path)
            if not files:
                raise InvalidInputError(f"{printable(path)}: expected tables in this folder, found none")
            yield from ((file, _names(file, path)) for file in files)
        else:
            yield path, {} if str(path) == STDIN else _names(path, path.parent)
    elif isinstance(data, (list, tuple)) and data and all(isinstance(one, (str, os.PathLike)) for one in data):
        for one in data:
            yield from _sources(one)
    else:
        yield data, {}


def _names(file: Path, root: Path) -> dict[str, str]:
    folder = file.parent.relative_to(root).as_posix()
    stem = Path(file.name.removesuffix(".gz")).stem
    return {"folder": "" if folder == "." else folder, "file": stem}
