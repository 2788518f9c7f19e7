"""The cells of `te.score_files` and its result, which is read from the store when it is asked for."""

import math
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tsadeval._optional import require
from tsadeval.core.facts import COUNTS, finite_mean, grouped
from tsadeval.core.messages import label_notes
from tsadeval.core.metric import Outcome
from tsadeval.core.results import Grid, Result, Row
from tsadeval.engine.cells import Layout
from tsadeval.engine.parts import coded
from tsadeval.engine.store import Store
from tsadeval.errors import hint
from tsadeval.scores.scored import LeftOut

if TYPE_CHECKING:
    import pandas as pd

Name = tuple[str, str, str]  # of a scoring in a file: the series, the detector, and the column of its scores
# The columns of the points of a scoring, by what results call them.
_POINTS = {"points": "n", "anomalous_points": "anomalous", "events": "events"}


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

    `files` are sorted by path. `named` has the scorings of each, with what the columns `by` hold; files that are not in
    it have one for each of the `columns` of scores. `values` are the name, version and rule of each metric.
    """

    files: list[File]
    named: dict[str, dict[Name, dict[str, str]]]
    by: str
    time: str
    label: str
    columns: Sequence[str]
    values: list[tuple[str, str, str | None]]

    def names_in(self, path: str) -> Collection[Name]:
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

    def names(self, path: str, score: str, named: str) -> tuple[str, str]:
        """Return the detector and the data set of scores in a file; `named` is the detector by a column."""
        folder = self.files[bisect_left(self.files, path, key=lambda file: file.path)].folder
        if named:
            return named if len(self.scores) == 1 else f"{named}/{score}", folder
        if len(self.scores) > 1:
            return score, folder
        first, _, rest = folder.partition("/")
        return first or score, rest


def _evaluated(row: Row) -> Row:
    """Return a row of the store as `te.evaluate` has it: with the rule that was used, and counts."""
    found = {"metric": row["metric"], **{name: row[name] for name in Outcome._fields}, "rule": row["used"]}
    return found | {name: row[name] for name in COUNTS if row[name]}


class _Summary:
    """What is printed of all rows: values by detector and data set, and what has none."""

    def __init__(self, tables: Iterable[Any]) -> None:
        """Sum up rows, which come a few at a time, with the names of their detectors and data sets."""
        self.values: defaultdict[tuple[str, str], defaultdict[str, array[float]]]
        self.values = defaultdict(lambda: defaultdict(lambda: array("d")))
        self.failures: set[tuple[str, str]] = set()
        self.undefined = 0
        for table in tables:
            groups = table.group_by(["detector", "dataset", "metric"]).aggregate([("value", "list")])
            for group in groups.to_pylist():
                self.values[group["detector"], group["dataset"]][group["metric"]].extend(group["value_list"])
            codes, words = coded(table["status"])
            status = np.array(words)[codes]
            self.undefined += int(np.count_nonzero(status == "undefined"))
            failed = table.filter(status == "error")
            self.failures.update(zip(failed["file"].to_pylist(), failed["message"].to_pylist(), strict=True))


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

    def _with_names(self, table: Any) -> Any:
        """Put the detector and the data set of each row in front."""
        arrow, compute = require("pyarrow", extra="all"), require("pyarrow.compute", extra="all")
        parts = (table[name].cast("string") for name in ("file", "score", "named"))
        codes, places = coded(compute.binary_join_element_wise(*parts, "\0"))
        names = [self._wanted.names(*place.split("\0", 2)) for place in places[:-1]]
        for at, title in enumerate(("detector", "dataset")):
            table = table.add_column(at, title, arrow.array([name[at] for name in names], "string").take(codes))
        return table

    def _all(self) -> Any:
        """All rows as a table of Arrow, without columns that say nothing here."""
        table = self._with_names(self._store.table(self._wanted))
        unused = [name for name in ("by", "time", "series") if not any(table[name].unique().to_pylist())]
        return table.drop_columns(["named", *unused])

    @cached_property
    def rows(self) -> list[Row]:
        """Plain dicts, made when they are asked for."""
        return list(self._all().to_pylist())

    def to_frame(self) -> "pd.DataFrame":
        """All rows: file, series, score, metric, value, threshold, status, message and what the file holds."""
        frame: pd.DataFrame = self._all().to_pandas()
        return frame

    @property
    def count(self) -> int:
        """Number of scorings."""
        return sum(len(self._wanted.names_in(file.path)) for file in self._wanted.files)

    def by_scoring(self) -> Iterator[tuple[tuple[str, ...], dict[str, str], list[Row], Row]]:
        """Return the rows of each scoring as `te.evaluate` has them, and what it is made of.

        First what it is called (its file, what the columns `by` hold, its column of scores) and the columns `by`.
        """
        rows = self._store.table(self._wanted).to_pylist()
        scorings = grouped(((row["file"], (row["series"], row["named"], row["score"])), row) for row in rows)
        for (file, name), found in scorings.items():
            keys = self._wanted.named.get(file, {}).get(name, {})
            points = {title: found[0][column] for title, column in _POINTS.items()}
            yield (file, *keys.values(), name[2]), keys, list(map(_evaluated, found)), points

    @cached_property
    def _summary(self) -> _Summary:
        columns = ["file", "named", "score", "metric", "value", "status", "message"]
        return self._store.scan(self._wanted, columns, lambda tables: _Summary(map(self._with_names, tables)))

    def table(self) -> Result:
        """Mean of each metric over the files of a detector on a data set, and how many of them have no value."""
        wanted = self._wanted
        scorings = [(file.path, *name) for file in wanted.files for name in wanted.names_in(file.path)]
        size = "series" if any(series for _, series, _, _ in scorings) else "files"
        counts = Counter(wanted.names(path, column, named) for path, _, named, column in scorings)
        rows: list[Row] = []
        for (detector, dataset), count in counts.items():
            values = self._summary.values[detector, dataset]
            means = {name: finite_mean(values[name]) for name in self.metrics if name in values}
            without = sum(map(math.isnan, chain(*values.values())))
            rows.append({"detector": detector, "dataset": dataset, size: count, **means, "without": without})
        return Result(rows)

    @property
    def lost(self) -> list[LeftOut]:
        """What could not be evaluated, by file and reason."""
        return [LeftOut(file, "", file, message, file) for file, message in sorted(self._summary.failures)]

    def failures(self) -> list[str]:
        """One line for each file that could not be evaluated, and reason."""
        return list(map(str, self.lost))

    def _grid(self) -> Grid:
        return self.table()._grid()

    def _notes(self) -> list[str]:
        failed, empty = len(self.failures()), self._summary.undefined
        notes = label_notes([self._rule] if self._rule and any(rule for _, _, rule in self._wanted.values) else [])
        where = hint("failures()", "the lines of stderr")
        notes += [f"{failed} files could not be evaluated: see {where}"] * bool(failed)
        return notes + [f"{empty} values are undefined, and left out of the means"] * bool(empty)
