"""Checksums of files, remembered in a store while the files do not change, so that each is read once.

As in git's index, a file is taken to be unchanged if its size, times and inode are. That holds only if it had been at
rest for a while when its checksum was taken: file systems note times in steps of up to two seconds, and a file that
is written before and after its checksum was taken, both within a step, looks the same. Such a file is read again.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tsadeval.tables.files import read_sealed, write_sealed

_STEP = 2_000_000_000  # nanoseconds: the coarsest clock of a file system in use (FAT)
_RECENT = "?"  # before the stamp of a file that was not at rest
AnyPath: TypeAlias = str | os.PathLike[str]


class Stamp(NamedTuple):
    """What tells two states of a file apart. `changed` is set by the system alone, `modified` by anybody."""

    path: str
    size: int
    modified: int
    changed: int
    inode: int

    @property
    def state(self) -> str:
        """Without the inode, which some file systems number anew."""
        return f"{self.size} {self.modified} {self.changed}"


def same_state(file: AnyPath, state: str) -> bool:
    """Return True if the file is still in the state that `Checksums.state` gave."""
    return state == (_stamp(file).state if " " in state else file_digest(file))


class Checksums:
    """Checksums by key, each with the stamps of the files that it was taken of; a damaged record counts as none."""

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / "checksums"
        self._known = self._read()
        self._new = False

    def of(self, key: str, files: Iterable[AnyPath], take: Callable[[], str]) -> str:
        """Return the checksum under this key: as it is known, if the files are as they were, else `take()`."""
        files, now, known = list(files), time.time_ns(), self._known.get(key)
        before = _stamps(files)
        if before is None:  # a file is missing: reading it raises the error
            return take()
        digest = _digest(before)
        if known is not None and known[0] == digest:
            return known[1]
        checksum = take()
        if _stamps(files) == before:
            self._known[key] = digest if _at_rest(before, now) else f"{_RECENT}{digest}", checksum
            self._new = True
        return checksum

    def state(self, file: AnyPath) -> str:
        """Return a text that differs once the file has changed; a file is read for it only if it was not at rest."""
        stamp, now = _stamp(file), time.time_ns()
        known = self._known.get(stamp.path)
        if _at_rest([stamp], now) and (known is None or known[0].removeprefix(_RECENT) != _digest([stamp])):
            return stamp.state
        return self.of(stamp.path, [file], lambda: file_digest(file))

    def save(self) -> None:
        """Keep them. Without them files are only read again, so a store that cannot be written is no error here."""
        if self._path is None or not self._new:
            return
        with suppress(OSError):
            write_sealed(self._path, json.dumps(self._known).encode())
        self._new = False

    def _read(self) -> dict[str, tuple[str, str]]:
        content = None if self._path is None else read_sealed(self._path)
        try:
            return {key: (stamp, checksum) for key, (stamp, checksum) in json.loads(content or b"{}").items()}
        except ValueError:  # in another format, of another version
            return {}


def _stamp(path: AnyPath) -> Stamp:
    found = os.stat(path)
    return Stamp(os.path.abspath(path), found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _stamps(files: Iterable[AnyPath]) -> list[Stamp] | None:
    try:
        return [_stamp(file) for file in files]
    except OSError:
        return None


def _at_rest(stamps: Iterable[Stamp], now: int) -> bool:
    """Return True if any change after `now` (nanoseconds) must change the stamps."""
    return all(max(stamp.modified, stamp.changed) + _STEP <= now for stamp in stamps)


def file_digest(path: AnyPath) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(stamps: list[Stamp]) -> str:
    return hashlib.sha256(repr([tuple(stamp) for stamp in stamps]).encode()).hexdigest()
