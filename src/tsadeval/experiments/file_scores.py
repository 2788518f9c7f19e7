"""The cells of `te.score_files` and its result, which is read from the store when it is asked for."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.facts import COUNTS
from tsadeval.core.messages import label_notes
from tsadeval.core.metric import Outcome
from tsadeval.core.results import Grid, Result, Row
from tsadeval.engine.cells import Layout
from tsadeval.engine.parts import coded
from tsadeval.engine.store import Store
from tsadeval.errors import hint

if TYPE_CHECKING:
    import pandas as pd


class FileCell(NamedTuple):
    """One value. `state` is that of the file: one that was written anew is another cell.

    `by` and `time` are columns, `named` and `series` what the columns `by` hold: that of the detector, and the others.
    `label` is a column, or the file of incidents with a digest of its content.
    """

    file: str
    state: str
    by: str
    time: str
    series: str
    named: str
    label: str
    score: str
    metric: str
    version: str
    rule: str | None


LAYOUT = Layout.of(FileCell, "tsadeval score", **dict.fromkeys(COUNTS, "int64"))


class File(NamedTuple):
    """A file, and its folder below the part of the pattern without wildcards."""

    path: str
    state: str
    folder: str


@dataclass(frozen=True)
class Wanted:
    """The cells of some files, made one at a time; there are too many to keep them.

    `files` are sorted by path. `named` has what names the scorings of each: the series, the detector, and the column
    of scores; those that are not in it have no such names. `values` are the name, version and rule of each metric.
    """

    files: list[File]
    named: dict[str, list[tuple[str, str, str]]]
    keys: dict[tuple[str, str, str, str], dict[str, str]]  # of a file and these names: what the columns `by` hold
    by: str
    time: str
    label: str
    columns: Sequence[str]
    values: list[tuple[str, str, str | None]]

    def names_in(self, path: str) -> list[tuple[str, str, str]]:
        """Return what names the scorings of a file."""
        return self.named.get(path) or [("", "", column) for column in self.columns]

    def __iter__(self) -> Iterator[FileCell]:
        for file in self.files:
            for series, detector, column in self.names_in(file.path):
                own = (file.path, file.state, self.by, self.time, series, detector, self.label, column)
                for value in self.values:
                    yield FileCell(*own, *value)

    @cached_property
    def scores(self) -> set[str]:
        """All columns of scores."""
        return {column for names in self.named.values() for _, _, column in names} or set(self.columns)

    def folder(self, path: str) -> str:
        """Return the folder of a file."""
        return self.files[bisect_left(self.files, path, key=lambda file: file.path)].folder

    def names(self, folder: str, score: str, named: str) -> tuple[str, str]:
        """Return the detector and the data set of scores."""
        if named:
            return named if len(self.scores) == 1 else f"{named}/{score}", folder
        if len(self.scores) > 1:
            return score, folder
        first, _, rest = folder.partition("/")
        return first or score, rest


def _evaluated(row: Any) -> Row:
    """Return a row of the store as `te.evaluate` has it: with the rule that was used, and counts."""
    used = {**row, "rule": row["used"], "value": math.nan if row["value"] is None else row["value"]}
    used |= {name: int(row[name]) for name in ("alarms", "alarmed_points") if row[name] is not None}
    found = {"metric": row["metric"], **{name: used[name] for name in Outcome._fields}}
    return found | {name: int(row[name]) for name in COUNTS if row[name]}


@dataclass
class _Mean:
    """The mean of finite values that come a few at a time; the sum is kept to twice the precision of a number."""

    count: int = 0
    total: tuple[float, float] = (0.0, 0.0)

    def add(self, values: list[float]) -> None:
        terms = [*self.total, *values]
        whole = math.fsum(terms)
        self.total, self.count = (whole, math.fsum([*terms, -whole])), self.count + len(values)

    @property
    def value(self) -> float:
        return math.fsum(self.total) / self.count if self.count else math.nan


@dataclass
class _Summary:
    """What is printed of all rows, by detector and data set."""

    means: dict[tuple[str, str], dict[str, _Mean]] = field(default_factory=dict)
    without: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: set[tuple[str, str]] = field(default_factory=set)
    undefined: int = 0

    def add(self, table: Any, wanted: Wanted) -> None:
        """Take in some rows."""
        groups, group = self._groups(table, wanted)
        metric, metrics = coded(table["metric"])
        values = table["value"].to_numpy()  # NaN where there is none
        means = group * len(metrics) + metric
        order = np.argsort(means, kind="stable")
        first = np.flatnonzero(np.diff(means[order], prepend=-1))
        for mean, part in zip(means[order][first].tolist(), np.split(values[order], first[1:]), strict=True):
            one = self.means.setdefault(groups[mean // len(metrics)], {})
            one.setdefault(metrics[mean % len(metrics)], _Mean()).add(part[np.isfinite(part)].tolist())
        for name, count in zip(groups, np.bincount(group[np.isnan(values)], minlength=len(groups)), strict=True):
            self.without[name] += int(count)
        status, words = coded(table["status"])
        counts = dict(zip(words, np.bincount(status, minlength=len(words)).tolist(), strict=True))
        self.undefined += counts.get("undefined", 0)
        if counts.get("error"):
            failed = table.filter(status == words.index("error"))
            self.failures.update(zip(failed["file"].to_pylist(), failed["message"].to_pylist(), strict=True))

    @staticmethod
    def _groups(table: Any, wanted: Wanted) -> tuple[list[tuple[str, str]], NDArray[np.int64]]:
        """Return the detectors and data sets of some rows, and which of them is that of each row."""
        (file, files), (score, scores), (named, detectors) = (coded(table[name]) for name in ("file", "score", "named"))
        codes, rows = np.unique((file * len(scores) + score) * len(detectors) + named, return_inverse=True)
        groups: dict[tuple[str, str], int] = {}
        found = []
        for code in codes.tolist():
            of_file, of_named = divmod(code, len(detectors))
            path, column = files[of_file // len(scores)], scores[of_file % len(scores)]
            name = wanted.names(wanted.folder(path), column, detectors[of_named])
            found.append(groups.setdefault(name, len(groups)))
        return list(groups), np.array(found, np.int64)[rows]


class FileScores(Result):
    """A row for each file, series in it, column of scores and metric. Prints as means by detector and data set.

    Where files have one column of scores, the first folder below the root is the detector and those below it are the
    data set; where they have several, or a column names the detector, folders are data sets.

    Rows stay in the store, and are read when they are asked for; the means take little memory, however many files
    there are. `skipped` are other stores in the folders that were given, which are no data; `remarks` say how incidents
    were read.
    """

    def __init__(
        self,
        store: Store[FileCell],
        wanted: Wanted,
        skipped: Sequence[str] = (),
        remarks: Sequence[str] = (),
        rule: Row | None = None,
    ) -> None:
        self._store = store
        self._wanted = wanted
        self._rule = rule  # facts of the threshold rule
        self.skipped, self.remarks = tuple(skipped), tuple(remarks)
        self.metrics = [name for name, _, _ in wanted.values]

    @cached_property
    def rows(self) -> list[Row]:
        """Plain dicts, made when they are asked for."""
        found = self.to_frame()
        plain = found.astype(object).where(found.notna(), None)
        return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]

    def to_frame(self) -> pd.DataFrame:
        """All rows: file, series, score, metric, value, threshold, status, message and what the file holds."""
        frame = self._store.frame(self._wanted)
        folders = {file.path: file.folder for file in self._wanted.files}
        cells = zip(*(frame[name] for name in ("file", "score", "named")), strict=True)
        names = [self._wanted.names(folders[file], score, named) for file, score, named in cells]
        unused = [name for name in ("by", "time", "series") if not frame[name].any()]
        found = frame.drop(columns=["named", *unused])
        found.insert(0, "detector", [name[0] for name in names])
        found.insert(1, "dataset", [name[1] for name in names])
        return found

    @property
    def count(self) -> int:
        """Number of scorings."""
        return sum(len(self._wanted.names_in(file.path)) for file in self._wanted.files)

    def by_scoring(self) -> Iterator[tuple[tuple[str, ...], dict[str, str], list[Row], Row]]:
        """Return the rows of each scoring as `te.evaluate` has them, and what it is made of.

        First what it is called (its file, what the columns `by` hold, its column of scores) and the columns `by`.
        """
        frame = self._store.frame(self._wanted)
        plain = frame.astype(object).where(frame.notna(), None)
        groups: dict[tuple[str, str, str, str], list[Any]] = {}
        for row in plain.to_dict("records"):
            groups.setdefault((row["file"], row["series"], row["named"], row["score"]), []).append(row)
        for name, found in groups.items():
            keys = self._wanted.keys.get(name, {})
            first = found[0]
            points = {"points": first["n"], "anomalous_points": first["anomalous"], "events": first["events"]}
            points = {name: None if count is None else int(count) for name, count in points.items()}
            yield (name[0], *keys.values(), name[3]), keys, list(map(_evaluated, found)), points

    @cached_property
    def _summary(self) -> _Summary:
        columns = ["file", "named", "score", "metric", "value", "status", "message"]

        def into(tables: Iterator[Any]) -> _Summary:
            found = _Summary()
            for table in tables:
                found.add(table, self._wanted)
            return found

        return self._store.scan(self._wanted, columns, into)

    def table(self) -> Result:
        """Mean of each metric over the files of a detector on a data set, and how many of them have no value."""
        wanted, found = self._wanted, self._summary
        several = any(series for named in wanted.named.values() for series, _, _ in named)
        counts: Counter[tuple[str, str]] = Counter()
        for file in wanted.files:
            counts.update(wanted.names(file.folder, column, own) for _, own, column in wanted.names_in(file.path))
        rows: list[Row] = []
        for group, count in counts.items():
            row: Row = {"detector": group[0], "dataset": group[1], "series" if several else "files": count}
            row |= {name: mean.value for name in self.metrics if (mean := found.means[group].get(name))}
            row["without"] = found.without[group]
            rows.append(row)
        return Result(rows)

    def failures(self) -> list[str]:
        """One line for each file that could not be evaluated."""
        return [f"{file}: {message}" for file, message in sorted(self._summary.failures)]

    def _grid(self) -> Grid:
        return self.table()._grid()

    def _notes(self) -> list[str]:
        failed, empty = len(self.failures()), self._summary.undefined
        notes = label_notes([self._rule] if self._rule and any(rule for _, _, rule in self._wanted.values) else [])
        where = hint("failures()", "the lines of stderr")
        notes += [f"{failed} files could not be evaluated: see {where}"] * bool(failed)
        return notes + [f"{empty} values are undefined, and left out of the means"] * bool(empty)
