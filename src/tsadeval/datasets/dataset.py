"""Dataset: train, test and test labels of one data set; DATASETS: a record of each that is known, one a file."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tsadeval.core.events import Bools, Floats
from tsadeval.core.names import Registry, printable
from tsadeval.core.parameters import Check
from tsadeval.datasets.readers import DataFile, Files, labels, matrix, read, read_all, train_and_test
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import floats
from tsadeval.tables.table import Table


@dataclass(frozen=True)
class Description:
    """What a data set holds: counts, the lengths of its events, a checksum, and where it comes from."""

    n_train: int
    n_test: int
    n_columns: int
    n_events: int
    longest: int
    shortest: int
    anomalous: float
    checksum: str
    title: str = ""
    source: str = ""
    licence: str = ""


@dataclass(frozen=True, eq=False)
class Dataset:
    """One series to learn from, one to be judged on, and its labels.

    Attributes
    ----------
    name : str
        As `load` takes it: "ucr/123", "msl", "msl/C-1", or the path of the user's own file.
    train, test : array of shape (n, d) and (m, d), float64, or None
        None where only the labels are there.
    test_labels : array of shape (m,), bool
        True where anomalous.
    names : tuple of str
        Of the columns.
    description : Description
        Counts, checksum, title, source and licence.
    """

    name: str
    train: Floats | None
    test: Floats | None
    test_labels: Bools
    names: tuple[str, ...]
    description: Description

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(values.nbytes for values in (self.train, self.test, self.test_labels) if values is not None)

    def __repr__(self) -> str:
        d = self.description
        shape = f"{d.n_train} + {d.n_test} points, {d.n_columns} columns" if d.n_columns else f"{d.n_test} labels only"
        return f"<Dataset {self.name}: {shape}, {d.n_events} events, {100 * d.anomalous:.4g} % anomalous>"


class Split(NamedTuple):
    """What a reader found: the part to learn from, the one to be judged on, its labels and the names of columns."""

    train: Floats | None
    test: Floats | None
    labels: Bools
    names: tuple[str, ...]


def numbered(word: str, n: int) -> tuple[str, ...]:
    """Return names of columns that have only numbers."""
    return tuple(f"{word}{i}" for i in range(1, n + 1))


def read_three(
    name: str,
    files: Files,
    file: DataFile,
    features: bool,
    parse: Callable[[DataFile, bytes], Any],
    names: Sequence[str],
    parse_labels: Callable[[DataFile], Any] | None = None,
) -> Split:
    """Read a data set in three files, whose paths differ in the words train, test and test_label only.

    A single word as `names` is put before the numbers of the columns, of which there may be any number.
    """
    mask = labels(file, parse_labels(file) if parse_labels else parse(file, read(file)))
    found = train_and_test(name, files, file) if features else []
    if not found:
        return Split(None, None, mask, ())
    contents = read_all(found)
    train, test = (matrix(one, parse(one, contents[one])) for one in found)
    return Split(train, test, mask, numbered(names, train.shape[1]) if isinstance(names, str) else tuple(names))


def feature_matrix(table: Table, advice: str = "") -> tuple[tuple[str, ...], Floats]:
    """Return the names and values of columns; one of two dimensions is several. The advice ends an error's message."""
    names: list[str] = []
    blocks = [np.empty((table.n, 0))]
    for name, column in table.columns.items():
        try:
            block = matrix(table.source, floats(column, table.source, name))
        except InvalidInputError as error:
            raise InvalidInputError(f"{error}{advice}") from None
        names += [name] if getattr(column, "ndim", 1) == 1 else numbered(f"{name}_", block.shape[1])
        blocks.append(block)
    return tuple(names), np.hstack(blocks)


def of_tables(train: Table, test: Table, mask: Bools, advice: str = "") -> Split:
    """Make arrays of the tables of train and test, whose columns may be in different orders."""
    (names, first), (others, second) = (feature_matrix(table, advice) for table in (train, test))
    differ = sorted({*names} ^ {*others})
    if differ:
        raise InvalidInputError(
            f"{test.source}: expected the columns of {train.source}, they differ in {', '.join(map(printable, differ))}"
        )
    return Split(first, second[:, [others.index(name) for name in names]], mask, names)


def split_rows(
    where: Any, values: Floats | None, mask: Bools, names: Sequence[str], split: float | None = None
) -> Split:
    """Take the first rows, so many or such a share, for learning and the others for the test; None: all for both."""
    n = 0 if split is None else int(split) if split >= 1 else round(split * len(mask))
    if split is not None and not 0 < n < len(mask):
        raise InvalidInputError(f"{where}: split={split} leaves one part of {len(mask)} rows empty")
    if values is None:
        return Split(None, None, mask[n:], ())
    return Split(values[:n] if n else values, values[n:], mask[n:], tuple(names))


@dataclass(frozen=True)
class Facts:
    """What is known of a whole data set; a loaded one that differs is refused. None: not known."""

    n_train: int | None = None
    n_test: int | None = None
    n_columns: int | None = None
    n_events: int | None = None
    n_anomalous: int | None = None


@dataclass(frozen=True)
class Download:
    """A public file: where it is, where it goes below the data set's folder, its sha256, and the item it belongs to.

    The sha256 is "" where it is not known, the item "" where all items need the file.
    """

    url: str
    path: str
    sha256: str = ""
    item: str = ""


@dataclass(frozen=True, kw_only=True)
class DatasetRecord:
    """A data set that is known by name.

    `parts` gives the items that lie in a folder and whether their features are there ("" stands for the data set as
    a whole); `read` loads one; `label_file` finds the file that holds its labels, without opening more than it must.
    `get` says how to come by the files, `by_hand` what to do where a download fails.
    """

    name: str
    title: str
    summary: str
    source: str
    licence: str
    folders: tuple[str, ...]
    layout: str
    get: str
    parts: Callable[[Files], Mapping[str, bool]]
    read: Callable[..., Split]
    label_file: Callable[[Files, str], DataFile | None]
    canonical: Callable[[str], str] = str
    facts: Mapping[str, Facts] = field(default_factory=dict)
    options: Mapping[str, Check] = field(default_factory=dict)
    downloads: tuple[Download, ...] = ()
    by_hand: str = ""

    def full(self, item: str) -> str:
        """Return the name that `load` takes."""
        return f"{self.name}/{item}" if item else self.name

    def files(self, root: Path) -> Files:
        """Return the files of this data set under the root; upper and lower case of the folder's name do not matter."""
        wanted = {name.lower() for name in self.folders}
        return Files(sorted(path for path in root.iterdir() if path.name.lower() in wanted and path.is_dir()))


# The sha256 of published files, where an original was available, by the data set's name and the path in its folder.
_FOLDERS = json.loads(Path(__file__).with_name("checksums.json").read_text())
CHECKSUMS = {f"{folder}/{name}": digest for folder, files in _FOLDERS.items() for name, digest in files.items()}

DATASETS: Registry[DatasetRecord] = Registry("data set", "tsadeval.datasets")


def assemble(name: str, parts: Split, record: DatasetRecord | None = None, where: Any = "") -> Dataset:
    """Return a Dataset of what a reader found, once it is sure to be whole and sound."""
    train, test, mask, columns = parts
    if not len(mask):
        raise InvalidInputError(f"{name}: expected at least one test point, found none in {where}")
    for kind, values in ((kind, v) for kind, v in (("train", train), ("test", test)) if v is not None):
        if values.ndim != 2 or values.shape[1] != len(columns):
            raise InvalidInputError(f"{name}: expected {kind} of {len(columns)} columns, found shape {values.shape}")
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            row, column = bad[0]
            raise InvalidInputError(
                f"{name}: expected finite numbers, found {values[row, column]} in {kind} row {row}, "
                f"column {columns[column]} ({len(bad)} such values in all); fill or drop them first"
            )
    if test is not None and len(test) != len(mask):
        raise InvalidInputError(
            f"{name}: expected one label for each of {len(test)} test points, found {len(mask)} in {where}"
        )
    train, test = (None if values is None else np.ascontiguousarray(values) for values in (train, test))
    title, source, licence = (record.title, record.source, record.licence) if record else ("", str(where), "")
    # Plain numpy rather than `Events`, so that data can be loaded where the compiled kernels are not.
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0))
    lengths = edges[1::2] - edges[::2]
    description = Description(
        n_train=0 if train is None else len(train),
        n_test=len(mask),
        n_columns=len(columns),
        n_events=len(lengths),
        longest=int(lengths.max(initial=0)),
        shortest=int(lengths.min()) if len(lengths) else 0,
        anomalous=float(mask.mean()),
        checksum=checksum_of(train, test, mask),
        title=title,
        source=source,
        licence=licence,
    )
    return Dataset(name, train, test, mask, columns, description)


def compare(dataset: Dataset, facts: Facts, where: Any) -> None:
    """Compare a data set with what is known of it."""
    d, n_anomalous = dataset.description, int(np.count_nonzero(dataset.test_labels))
    known = [
        ("test points", facts.n_test, d.n_test),
        ("events", facts.n_events, d.n_events),
        ("anomalous points", facts.n_anomalous, n_anomalous),
    ]
    if dataset.train is not None:
        known += [("training points", facts.n_train, d.n_train), ("columns", facts.n_columns, d.n_columns)]
    for what, expected, found in known:
        if expected not in (None, found):
            raise InvalidInputError(
                f"{dataset.name}: expected {expected} {what}, found {found} in {where}: files are truncated or "
                "changed; get them again, or pass verify=False to take them as they are"
            )


def checksum_of(train: Floats | None, test: Floats | None, mask: Bools) -> str:
    """Return the sha256 of the data, by which stores know them."""
    digest = hashlib.sha256()
    for values in (train, test, mask):
        if values is not None:
            digest.update(str(values.shape).encode())
            digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()
