"""`fetch`: get a data set that is open to the public, and verify what came."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tsadeval._optional import require
from tsadeval.core.registry import did_you_mean
from tsadeval.datasets.dataset import DATASETS, DatasetRecord, Download
from tsadeval.datasets.files import VARIABLE, data_folder
from tsadeval.datasets.loading import items, load
from tsadeval.errors import InvalidInputError, TsadevalError, UnknownNameError
from tsadeval.tables.sources import VARIABLE as LIMIT
from tsadeval.tables.sources import size_limit, user_path

_PIECE = 1 << 16  # bytes that are asked for at a time
# Called with the file, its bytes so far, and all its bytes (0 where the server does not say).
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Fetched:
    """What came: the files verified by their sha256, those verified by what is known of the data, what loads now."""

    folder: Path
    by_checksum: tuple[str, ...]
    by_facts: tuple[str, ...]
    names: tuple[str, ...]


def fetch(
    name: str, *, data: str | Path | None = None, base: str | None = None, progress: Progress | None = None
) -> Fetched:
    """Download a data set, or one item of it, into its folder under the data folder.

    Files with a known sha256 must have it. Where none is known, the data set is loaded and compared with what is
    known of it (counts, columns). What does not hold is removed again.

    Parameters
    ----------
    name : str
        A data set with a public download ("smd", "nab"), or an item of it ("smd/2-1").
    data : path, optional
        The folder that holds the data sets' folders, made where it is missing; else that of TSADEVAL_DATA.
    base : str, optional
        Address of a folder on the web that holds the same files, to be used instead of the original one.
    progress : callable, optional
        Told (file, bytes so far, bytes in all) as they come.
    """
    head, _, item = name.partition("/")
    record = DATASETS[head.lower()]
    item = record.canonical(item) if item else ""
    wanted = _wanted(record, item)
    if data is not None:
        user_path(data).mkdir(parents=True, exist_ok=True)
    top = data_folder(data)
    if top is None:
        raise InvalidInputError(f"{name}: no data folder was given; pass data= (--data) or set {VARIABLE}")
    folder = next(iter(record.files(top).folders), top / record.folders[0])
    new = []
    for download in wanted:
        new += [folder / download.path] if not (folder / download.path).exists() else []
        _get(record, download, folder, base, progress)
    unknown = tuple(d.path for d in wanted if not d.sha256)
    names = (record.full(item),) if item else items(record.name, data=top)
    if unknown:
        try:
            if not names:
                raise InvalidInputError(f"{record.name}: expected {record.layout}, found none of it in {folder}")
            # Where the whole can be loaded, that looks at every item.
            for one in (record.name,) if record.name in names else names:
                load(one, data=top)
        except InvalidInputError as error:
            removed = [path for path in new if path.relative_to(folder).as_posix() in unknown]
            for path in removed:
                path.unlink(missing_ok=True)
            gone = ", ".join(path.name for path in removed) or "nothing, the files were there before"
            raise TsadevalError(f"what came is not {record.title}: {error} (removed: {gone})") from error
    return Fetched(folder, tuple(d.path for d in wanted if d.sha256), unknown, names)


def _wanted(record: DatasetRecord, item: str) -> list[Download]:
    if not record.downloads:
        raise InvalidInputError(
            f"{record.name} has no public download that could be fetched. {record.get} Expected under the data folder: "
            f"{record.layout}"
        )
    own = sorted({download.item for download in record.downloads if download.item})
    if item and own and item not in own:
        raise UnknownNameError(f"there is no {record.full(item)} to fetch: {did_you_mean(item, own)}")
    return [download for download in record.downloads if not item or download.item in ("", item)]


def _get(record: DatasetRecord, download: Download, folder: Path, base: str | None, progress: Progress | None) -> None:
    pooch = require("pooch", extra="all")
    requests = require("requests", extra="all")
    url = f"{base.rstrip('/')}/{download.path}" if base else download.url
    bar = _Bar(download.path, url, progress)
    try:
        with _quiet(pooch.get_logger()):
            pooch.retrieve(
                url,
                known_hash=f"sha256:{download.sha256}" if download.sha256 else None,
                fname=download.path,
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=bar, chunk_size=_PIECE),
            )
    except requests.exceptions.RequestException as error:
        answer = getattr(error, "response", None)
        reason = f"{answer.status_code} {answer.reason}" if answer is not None else type(error).__name__
        raise TsadevalError(f"{url} could not be downloaded ({reason}). {record.by_hand}".strip()) from error
    except ValueError as error:
        # pooch has deleted what came; a file that was there before stays as it was.
        raise TsadevalError(
            f"{url} does not have the expected sha256 {download.sha256}: the file has changed, or was damaged on its "
            "way; it was not kept"
        ) from error


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Without the messages that pooch prints for each file."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


class _Bar:
    """What pooch takes for a progress bar; it also stops a download that is larger than any file may be."""

    def __init__(self, path: str, url: str, tell: Progress | None) -> None:
        self._path, self._url, self._tell = path, url, tell
        self._limit = size_limit()
        self.total = 0
        self._done = 0

    def update(self, n: int) -> None:
        self._done += n
        # pooch counts a piece as whole, however short it is; a server need not say how much there is in all.
        if max(self._done - _PIECE, self.total) > self._limit:
            raise TsadevalError(
                f"{self._url} is larger than {self._limit} bytes, and was not kept; if it may be, raise the limit with "
                f"{LIMIT}"
            )
        if self._tell is None:
            return
        self._tell(self._path, min(self._done, self.total or self._done), self.total)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        """Nothing is open."""
