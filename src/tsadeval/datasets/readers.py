"""Files of a data set: find them, unpack archives, and read text, npy, npz and csv as arrays.

Archives are read in memory, member by member, and nothing is ever written out of them. Files come from strangers:
no pickle is loaded, and what cannot be read becomes an error that names the file.
"""

import io
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.events import Bools, Floats
from tsadeval.core.facts import grouped
from tsadeval.errors import InvalidInputError
from tsadeval.tables.binary_files import read_array
from tsadeval.tables.files import depth
from tsadeval.tables.reading import name_errors, parse, suffix_of
from tsadeval.tables.sources import check_size, read_source, size_limit, unpack, user_path
from tsadeval.tables.table import Request, Table

VARIABLE = "TSADEVAL_DATA"
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
_UNREADABLE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError, RuntimeError, NotImplementedError)


def data_folder(data: str | Path | None = None) -> Path | None:
    """Return the folder of the real data: the one given, else that of the environment, else none."""
    given = data or os.environ.get(VARIABLE)
    if not given:
        return None
    folder = user_path(given)
    if not folder.is_dir():
        raise InvalidInputError(f"there is no data folder {folder}")
    return folder


@dataclass(frozen=True)
class DataFile:
    """One file: its path inside the folder (or archive) without `.gz`, the file on disk, and the archive's member."""

    path: str
    disk: Path
    member: str = ""

    @property
    def parent(self) -> str:
        """The folder part of its path, "" at the top."""
        return self.path.rpartition("/")[0]

    def __str__(self) -> str:
        return f"{self.disk}: {self.member}" if self.member else str(self.disk)


class Files:
    """All files of a data set, in one or several folders, the shallowest first.

    A plain or gzipped file comes before one of the same path in an archive, so that a user can put one right.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = tuple(folders)

    def __str__(self) -> str:
        return ", ".join(map(str, self.folders))

    @cached_property
    def on_disk(self) -> list[Path]:
        """The plain files and the archives, those at the top first."""
        found = (path for folder in self.folders for path in folder.rglob("*") if path.is_file())
        return sorted(found, key=lambda path: depth(path.as_posix()))

    @cached_property
    def _plain(self) -> dict[str, DataFile]:
        plain = (disk for disk in self.on_disk if not disk.name.endswith(ARCHIVES))
        return _by_path(
            (disk.relative_to(folder).as_posix(), disk, "")
            for disk in plain
            for folder in self.folders
            if folder in disk.parents
        )

    @cached_property
    def _everything(self) -> dict[str, DataFile]:
        archives = (disk for disk in self.on_disk if disk.name.endswith(ARCHIVES))
        found = _by_path((name, disk, name) for disk in archives for name in sorted(n for n, _ in _entries(disk)))
        return dict(sorted({**found, **self._plain}.items(), key=lambda pair: depth(pair[0])))

    def all(self, pattern: str) -> list[tuple[DataFile, re.Match[str]]]:
        """Find every file whose path ends in a match of the pattern."""
        return [(file, match) for path, file in self._everything.items() if (match := _match(pattern, path))]

    def first(self, pattern: str) -> DataFile | None:
        """Find the first file whose path ends in a match; archives are opened only where no plain file matches."""
        plain = next((file for path, file in self._plain.items() if _match(pattern, path)), None)
        return plain or next((file for file, _ in self.all(pattern)), None)

    def at(self, path: str) -> DataFile | None:
        """Find the file at exactly this path."""
        return self._plain.get(path) or self._everything.get(path)


def _by_path(found: Iterable[tuple[str, Path, str]]) -> dict[str, DataFile]:
    """Return files by their paths without `.gz`; hidden ones, which repeat the names of real ones, are left out."""
    files: dict[str, DataFile] = {}
    for name, disk, member in found:
        path = name.removesuffix(".gz")
        if not any(part.startswith(".") or part == "__MACOSX" for part in path.split("/")):
            files.setdefault(path, DataFile(path, disk, member))
    return dict(sorted(files.items(), key=lambda pair: depth(pair[0])))


def beside(file: DataFile, kind: str) -> str:
    """Return the path of the train or test part that belongs to a file of labels."""
    return kind.join(file.path.rsplit("test_label", 1))


def train_and_test(name: str, files: Files, file: DataFile) -> list[DataFile]:
    """Find both parts that belong to a file of labels; none where neither is there, an error where one is missing."""
    found = {path: files.at(path) for path in (beside(file, "train"), beside(file, "test"))}
    there = [one for one in found.values() if one is not None]
    if len(there) == 1:
        missing = next(path for path, one in found.items() if one is None)
        raise InvalidInputError(f"{name}: {missing} is missing next to {file}")
    return there


def read(file: DataFile) -> bytes:
    """Read a file."""
    return read_all([file])[file]


def read_all(files: Iterable[DataFile]) -> dict[DataFile, bytes]:
    """Read several files; an archive is read from front to back once, however many of its members are wanted."""
    files = list(files)
    contents = {file: read_source(file.disk, size_limit()) for file in files if not file.member}
    for disk, some in grouped((file.disk, file) for file in files if file.member).items():
        wanted = {file.member: file for file in some}
        found = ((wanted.get(name), content) for name, content in _entries(disk, wanted))
        contents |= {file: unpack(content, size_limit(), str(file)) for file, content in found if file}
    return contents


def damaged(file: DataFile | Path, error: BaseException) -> InvalidInputError:
    """Make the error of a file that breaks off or is not what its name says."""
    reason = str(error).partition("\n")[0] or type(error).__name__
    return InvalidInputError(f"{file}: damaged or truncated ({reason}); get it again")


def _entries(disk: Path, wanted: Collection[str] = ()) -> Iterator[tuple[str, bytes]]:
    """List the regular files of an archive, with the content of those that are wanted."""
    zipped = disk.suffix == ".zip"
    archive: Any  # the two modules have the same ideas under other names
    try:
        with zipfile.ZipFile(disk) if zipped else tarfile.open(disk) as archive:
            for entry in archive.infolist() if zipped else archive:
                name = entry.filename if zipped else entry.name.removeprefix("./")
                if name in wanted:
                    check_size(entry.file_size if zipped else entry.size, size_limit(), str(disk))
                    yield name, (archive.open(entry) if zipped else archive.extractfile(entry)).read()
                elif not entry.is_dir() if zipped else entry.isfile():
                    yield name, b""
    except _UNREADABLE as error:
        raise damaged(disk, error) from error


def _match(pattern: str, path: str) -> re.Match[str] | None:
    return re.search(rf"(?:^|/){pattern}$", path)


# What is in a file, as arrays: text, npy, npz, csv; each reader names the file and what it expected of it.


def text_matrix(file: DataFile, content: bytes) -> NDArray[Any]:
    """Read numbers with commas between them, one row a line."""
    try:
        return np.loadtxt(io.BytesIO(content), dtype=np.float64, delimiter=",", ndmin=2)
    except ValueError as error:
        raise InvalidInputError(f"{file}: expected lines of numbers with commas between ({error})") from error


def text_series(file: DataFile) -> Floats:
    """Read numbers with any white space between them: one a line, or all on one line."""
    return _as_floats(file, read(file).split(), "numbers with white space between")


def _as_floats(file: DataFile | str, values: Any, expected: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{file}: expected {expected} ({error})") from error


def npy(file: DataFile, content: bytes | None = None) -> NDArray[Any]:
    """Read the array of a npy file."""
    with name_errors(str(file), ".npy"):
        found: NDArray[Any] = read_array(read(file) if content is None else content, str(file))
    if found.dtype.kind not in "biuf":
        raise InvalidInputError(f"{file}: expected an array of numbers, found {found.dtype}")
    return found


def table(file: DataFile, content: bytes | None = None) -> Table:
    """Read a csv or npz file, which must have rows."""
    content = read(file) if content is None else content
    return parse(content, suffix_of(file.path), Request(str(file), size_limit()))


def matrix(file: DataFile | str, values: Any, *, columns: int | None = None) -> Floats:
    """Return values as (n, d) float64; a plain sequence becomes one column."""
    found = _as_floats(file, values, "numbers")
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2 or not found.size:
        raise InvalidInputError(f"{file}: expected an array of shape (points, columns), found shape {found.shape}")
    if columns is not None and found.shape[1] != columns:
        raise InvalidInputError(f"{file}: expected {columns} columns, found {found.shape[1]}")
    return np.ascontiguousarray(found)


def labels(file: DataFile | str, values: Any) -> Bools:
    """Return zeros and ones as bool."""
    found = _as_floats(file, values, "labels of 0 and 1")
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise InvalidInputError(f"{file}: expected one label a point, found shape {found.shape}")
    mask: Bools = found == 1
    strange = np.flatnonzero(~mask & (found != 0))
    if len(strange):
        raise InvalidInputError(
            f"{file}: expected labels of 0 and 1, found {found[strange[0]]:g} at position {strange[0]}"
        )
    return mask
