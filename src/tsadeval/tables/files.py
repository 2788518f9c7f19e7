"""Files: those that patterns, folders and addresses mean, without stores; atomic and sealed writes; checksums.

Checksums are remembered in a store while the files do not change, so that each is read once. As in git's index, a file
is taken to be unchanged if its size, times and inode are. That holds only if it had been at rest for a while when its
checksum was taken: file systems note times in steps of up to two seconds, and a file that is written before and after
its checksum was taken, both within a step, looks the same. Such a file is read again.
"""

import glob
import hashlib
import json
import os
import re
import secrets
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from tsadeval._optional import require
from tsadeval.core.messages import named
from tsadeval.core.names import printable
from tsadeval.tables.reading import is_table_file
from tsadeval.tables.sources import STDIN, user_path

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


_Path = TypeVar("_Path", str, Path)
# What remote systems say that changes with the content, each in its own spelling: Last-Modified, last_modified, ...
_VALIDATORS = {"etag", "lastmodified", "mtime", "created", "updated", "generation", "contentmd5", "md5hash", "digest"}


class FoundFile(NamedTuple):
    """A file, its folder below the part of the pattern without wildcards, and what a remote system says of its state.

    Of what means no file the path is the pattern, and reading it says that it is not there.
    """

    path: str
    folder: str
    remote: str = ""
    alike: bool = False  # another file there differs in the ending only

    @property
    def stem(self) -> str:
        """The name without folder and ending, which it keeps where it tells the file from another."""
        name = self.path.rpartition("/")[2]
        return name if self.alike else os.path.splitext(name.removesuffix(".gz"))[0]

    @property
    def below(self) -> str:
        """The name below the first folder."""
        return "/".join(filter(None, [self.folder.partition("/")[2], self.stem]))


def find_files(given: Any, stores: set[str]) -> list[FoundFile]:
    """All files that patterns, folders, paths and addresses mean, each once; those in stores are noted, not taken."""
    several = [given] if isinstance(given, (str, os.PathLike)) else list(given)
    local = [os.path.abspath(user_path(one)) for one in several if "://" not in str(one)]
    plain = [os.path.dirname(one) for one in local if os.path.isfile(one) or (os.path.isdir(one) and several[1:])]
    common = os.path.commonpath(plain) if plain else ""  # below which folders tell files apart
    found: dict[tuple[str, str], FoundFile] = {}
    real = cache(os.path.realpath)
    for pattern in several:
        one = str(os.fspath(pattern))
        root, files = _remote(one) if "://" in one else _local(one, common, stores)
        here: dict[tuple[str, str], FoundFile] = {}
        for path, state in files:
            folder, _, name = path.rpartition("/")
            place = folder if "://" in path else os.path.abspath(folder or ("/" if path.startswith("/") else "."))
            below = place[len(root) :].strip("/") if place.startswith(root) else ""
            # Links to folders lead to a file in several ways, or in circles: the shortest counts.
            key = (folder if "://" in path else real(place), name)
            if key not in here or depth(path) < depth(here[key].path):
                here[key] = FoundFile(path, below, state)
        for key, file in (here or {(one, ""): FoundFile(one, "")}).items():
            found.setdefault(key, file)
    alike = Counter((file.folder, file.stem) for file in found.values())
    return [file._replace(alike=alike[file.folder, file.stem] > 1) for file in found.values()]


def depth(path: str) -> tuple[int, str]:
    """Return a key that sorts paths: those at the top first."""
    return path.count("/"), path


def _root(pattern: str) -> str:
    """Return the folder in front of the first wildcard; that of a file itself."""
    parts = pattern.split("/")
    wild = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts) - 1)
    return "/".join(parts[:wild])


def _local(one: str, common: str, stores: set[str]) -> tuple[str, Iterator[tuple[str, str]]]:
    path = str(user_path(one))
    paths: Iterable[Any]
    if one == STDIN:
        return "", iter([(one, "")])
    if os.path.isdir(path):
        root, paths = common or path, table_files(path, stores)
    elif os.path.isfile(path):  # also where its name looks like a pattern
        root, paths = common, [path]
    else:
        root = _root(Path(path).as_posix())
        paths = sorted(outside_stores(glob.iglob(path, recursive=True), root, stores))
    files = (str(found).replace(os.sep, "/") for found in paths)
    return Path(os.path.abspath(root)).as_posix(), ((file, "") for file in files if os.path.isfile(file))


def _remote(one: str) -> tuple[str, Iterator[tuple[str, str]]]:
    fsspec = require("fsspec", extra="remote")
    system, path = fsspec.core.url_to_fs(one)
    paths = system.glob(path) if glob.has_magic(path) else system.find(path)
    found = []
    for name in paths:
        info = system.info(name)
        if info["type"] == "file":
            about = sorted((k, str(v)) for k, v in info.items() if re.sub("[-_]", "", k.lower()) in _VALIDATORS and v)
            # Without a validator nobody knows whether the content is still the same: such a file is read again.
            mark = str(about) if about else secrets.token_hex(8)
            digest = hashlib.sha256(mark.encode()).hexdigest()[:16]
            found.append((system.unstrip_protocol(name), f"{info['size']} {digest}"))
    return system.unstrip_protocol(_root(path) if glob.has_magic(path) else path), iter(found)


def table_files(folder: str | os.PathLike[str], stores: set[str] | None = None) -> list[Path]:
    """List the tables in a folder and below it, in the order of their paths; hidden ones are left out.

    So are those in stores, the folders in which tsadeval keeps results; these are added to `stores`.
    """
    root = user_path(folder)
    found = (path for path in root.rglob("*") if is_table_file(path) and path.is_file())
    shown = (path for path in found if not any(part.startswith(".") for part in path.relative_to(root).parts))
    return sorted(outside_stores(shown, root, set() if stores is None else stores))


def outside_stores(files: Iterable[_Path], root: str | Path, stores: set[str]) -> Iterator[_Path]:
    """Files below a folder that are in no store; the stores that others are in are added to `stores`."""
    top = str(root)
    known: dict[str, str | None] = {}

    def above(folder: str) -> str | None:
        """Return the store that a folder is, or is in."""
        if folder not in known:
            parent = os.path.dirname(folder)
            known[folder] = folder if _is_store(folder) else None if folder in (top, parent) else above(parent)
        return known[folder]

    for file in files:
        store = above(os.path.dirname(file))
        if store is None:
            yield file
        else:
            stores.add(store)


def _is_store(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "parts")) and any(Path(folder, "plans").glob("*.json"))


def skipped_stores(stores: Iterable[str]) -> str:
    """One line that says which stores were left out; empty where there are none."""
    names = [printable(store or ".") for store in sorted(stores)]
    return f"left out, because tsadeval keeps results there: {named(names)}" if names else ""


def write_whole(path: Path, content: bytes | memoryview, *, durable: bool = True) -> None:
    """Write a file that is whole or not there, whatever happens to the writer, and, if durable, to the machine."""
    aside = path.with_name(f"{path.stem}.{uuid.uuid4().hex[:8]}.aside")  # of this writer alone
    try:
        with aside.open("wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file that is only there to save time: behind its checksum, and not durable."""
    write_whole(path, hashlib.sha256(content).digest() + content, durable=False)


def read_sealed(path: Path) -> bytes | None:
    """Return what `write_sealed` wrote; None where it is not there, or damaged."""
    try:
        found = path.read_bytes()
    except OSError:
        return None
    return found[32:] if hashlib.sha256(found[32:]).digest() == found[:32] else None


def flush_folder(folder: Path) -> None:
    """Make renames in a folder durable; only POSIX systems can, and only there is it needed."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
