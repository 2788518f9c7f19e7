"""Finding and reading the files of a data set: plain, gzipped, or inside an archive that lies in its folder.

Archives are read in memory, member by member, and nothing is ever written out of them. Files come from strangers:
no pickle is loaded, and what cannot be read becomes an error that names the file.
"""

from __future__ import annotations

import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tsadeval.errors import InvalidInputError
from tsadeval.tables.sources import gunzip, size_limit, too_large, user_path

VARIABLE = "TSADEVAL_DATA"
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
_UNREADABLE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError, RuntimeError, NotImplementedError)


def data_folder(data: str | Path | None = None) -> Path | None:
    """The folder of the real data: the one given, else that of the environment, else none."""
    given = data or os.environ.get(VARIABLE)
    if not given:
        return None
    folder = user_path(given)
    if not folder.is_dir():
        raise InvalidInputError(f"there is no data folder {folder}")
    return folder


@dataclass(frozen=True)
class File:
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
    """All files of a data set, in one or several folders.

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
        return sorted(found, key=_depth)

    @cached_property
    def _plain(self) -> dict[str, File]:
        found: dict[str, File] = {}
        for disk in self.on_disk:
            folder = next(f for f in self.folders if f in disk.parents)
            path = disk.relative_to(folder).as_posix()
            if not _hidden(path) and not path.endswith(ARCHIVES):
                path = path.removesuffix(".gz")
                found.setdefault(path, File(path, disk))
        return found

    @cached_property
    def _everything(self) -> dict[str, File]:
        found = dict(self._plain)
        for disk in self.on_disk:
            if disk.name.endswith(ARCHIVES):
                for member in sorted(_members(disk), key=lambda name: (name.count("/"), name)):
                    path = member.removesuffix(".gz")
                    if not _hidden(path):
                        found.setdefault(path, File(path, disk, member))
        return found

    def all(self, pattern: str) -> list[tuple[File, re.Match[str]]]:
        """Every file whose path ends in a match of the pattern, the shallowest first."""
        found = [(file, match) for file in self._everything.values() if (match := _match(pattern, file.path))]
        return sorted(found, key=lambda pair: (pair[0].path.count("/"), pair[0].path))

    def first(self, pattern: str) -> File | None:
        """The shallowest file whose path ends in a match; archives are opened only where no plain file matches."""
        found = [file for file in self._plain.values() if _match(pattern, file.path)]
        found = found or [file for file, _ in self.all(pattern)]
        return min(found, key=lambda file: (file.path.count("/"), file.path), default=None)

    def at(self, path: str) -> File | None:
        """The file at exactly this path."""
        return self._plain.get(path) or self._everything.get(path)


def read(file: File) -> bytes:
    """What the file holds."""
    return read_all([file])[file]


def read_all(files: Iterable[File]) -> dict[File, bytes]:
    """What the files hold; an archive is read from front to back once, however many of its members are wanted."""
    contents: dict[File, bytes] = {}
    in_archives: dict[Path, dict[str, File]] = {}
    for file in files:
        if file.member:
            in_archives.setdefault(file.disk, {})[file.member] = file
        else:
            try:
                contents[file] = file.disk.read_bytes()
            except OSError as error:
                raise InvalidInputError(f"{file}: cannot be read ({error})") from error
    for disk, wanted in in_archives.items():
        contents.update((wanted[name], content) for name, content in _contents(disk, wanted))
    return {file: _unpacked(file, content) for file, content in contents.items()}


def _unpacked(file: File, content: bytes) -> bytes:
    if (file.member or file.disk.name).endswith(".gz"):
        content = gunzip(content, str(file), size_limit())
    if not content:
        raise InvalidInputError(f"{file}: the file is empty; get it again")
    return content


def damaged(file: File | Path, error: BaseException) -> InvalidInputError:
    """The error of a file that breaks off or is not what its name says."""
    reason = str(error).partition("\n")[0] or type(error).__name__
    return InvalidInputError(f"{file}: damaged or truncated ({reason}); get it again")


def _members(disk: Path) -> list[str]:
    """The names of the regular files in an archive."""
    try:
        if disk.suffix == ".zip":
            with zipfile.ZipFile(disk) as archive:
                return [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        with tarfile.open(disk) as archive:
            return [member.name.removeprefix("./") for member in archive if member.isfile()]
    except _UNREADABLE as error:
        raise damaged(disk, error) from error


def _contents(disk: Path, wanted: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    names = set(wanted)
    try:
        if disk.suffix == ".zip":
            with zipfile.ZipFile(disk) as archive:
                for name in names:
                    _check_size(disk, archive.getinfo(name).file_size)
                    yield name, archive.read(name)
            return
        with tarfile.open(disk) as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                if name in names and (opened := archive.extractfile(member)) is not None:
                    _check_size(disk, member.size)
                    yield name, opened.read()
    except _UNREADABLE as error:
        raise damaged(disk, error) from error


def _check_size(disk: Path, size: int) -> None:
    limit = size_limit()
    if size > limit:
        raise too_large(str(disk), limit)


def _match(pattern: str, path: str) -> re.Match[str] | None:
    return re.search(rf"(?:^|/){pattern}$", path)


def _depth(path: Path) -> tuple[int, str]:
    return len(path.parts), path.as_posix()


def _hidden(path: str) -> bool:
    """Finder leftovers and other dot files, which repeat the names of real ones."""
    return any(part.startswith(".") or part == "__MACOSX" for part in path.split("/"))
