"""`load`, `items` and `fetch`: read a data set by its name, or a user's own, list its items, download it."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsadeval._optional import require
from tsadeval.core.events import Bools
from tsadeval.core.names import did_you_mean, parse_call, printable
from tsadeval.core.parameters import Check, Number, check_parameters, refuse_unknown
from tsadeval.datasets.dataset import (
    DATASETS,
    Dataset,
    DatasetRecord,
    Download,
    Facts,
    Split,
    assemble,
    compare,
    feature_matrix,
    of_tables,
    split_rows,
)
from tsadeval.datasets.readers import VARIABLE, Files, data_folder, labels
from tsadeval.errors import InvalidInputError, InvalidParameterError, TsadevalError, UnknownNameError, hint
from tsadeval.tables.columns import kind_of
from tsadeval.tables.reading import FORMATS, is_table_file, read_table
from tsadeval.tables.sources import LIMIT, size_limit, user_path
from tsadeval.tables.table import POSITIONS, SHOWN, TIMES, Table

OPTIONS: dict[str, Check | None] = {"columns": None, "label": None, "split": Number(0, open_low=True, none=True)}
IN_MEMORY = "the table"  # as `read_table` calls what has no file


def load(
    name: Any, *, data: str | Path | None = None, features: bool = True, verify: bool = True, **options: Any
) -> Dataset:
    """Train, test and test labels of a data set.

    Parameters
    ----------
    name : str, path or data frame
        A data set ("msl", "psm"), an item of one ("ucr/123", "smd/2-1", "msl/C-1"), or the path of a file or folder
        of your own (csv, parquet or npz with a label column). Options may stand in brackets behind it:
        "ucr/125(end=exclusive)". Or a table in memory, as a file is read: a data frame of pandas, polars or pyarrow, or
        a mapping from names to arrays.
    data : path, optional
        The folder that holds the data sets' folders; else the environment variable TSADEVAL_DATA.
    features : bool
        False reads the labels only, which is much faster.
    verify : bool
        Compare with what is known of the published data set (counts), and refuse files that differ.
    **options
        Of the data set, such as `end="exclusive"` for "ucr"; `tsadeval datasets info NAME` lists them. Of your own
        files and tables: `label`, the column of labels; `split`, how many of the first rows (or which share of them)
        are for training only; `columns`, the features.

    Returns
    -------
    Dataset
        Labels only (`train` and `test` are None) where only the labels are there.

    Examples
    --------
    >>> import numpy as np
    >>> import tsadeval as te
    >>> table = {"x": np.arange(10.0), "alarm": np.arange(10) == 8}
    >>> te.datasets.load(table, label="alarm", split=5)
    <Dataset the table: 5 + 5 points, 1 columns, 1 events, 20 % anomalous>
    """
    if not isinstance(name, (str, os.PathLike)):
        _check_options(IN_MEMORY, OPTIONS, options)
        return assemble(IN_MEMORY, read_own(name, features, **options), where="memory")
    name, bracketed = split_options(str(name))
    options = {**bracketed, **options}
    record, item = _named(name)
    _check_options(record.name if record else name, record.options if record else OPTIONS, options)
    if record is None:
        return assemble(name, read_own(user_path(name), features, **options), where=name)
    files = _files(record, data)
    file = record.label_file(files, item)
    if file is None:
        raise _missing(record, item, files)
    dataset = assemble(record.full(item), record.read(files, file, item, features, **options), record, files)
    if verify:
        compare(dataset, record.facts.get(item, Facts()), files)
    return dataset


def is_table(thing: Any) -> bool:
    """Return True if it is a table in memory: a data frame or a mapping."""
    return isinstance(thing, Mapping) or any(hasattr(thing, name) for name in ("columns", "__arrow_c_stream__"))


def items(name: str | Path, *, data: str | Path | None = None) -> tuple[str, ...]:
    """List the names that can be loaded with their features, of a data set that lies under the data folder.

    A data set that can be loaded as a whole comes first under its own name, its items follow. Of a path of your own:
    itself, or the files of a folder of series.
    """
    record, _ = _named(str(name))
    if record is None:
        return tuple(str(path) for path in series_in(user_path(name)))
    return tuple(record.full(item) for item, features in record.parts(_files(record, data)).items() if features)


def located(name: str, *, data: str | Path | None = None) -> tuple[str, list[Path]]:
    """Return the name of a data set, without options, and all files that may decide what `load` finds."""
    record, item = _named(name)
    if record is not None:
        return record.full(item), _files(record, data).on_disk
    path = user_path(name)
    return name, sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]


def has_labels(name: str, *, data: str | Path | None) -> bool:
    """Return True if the labels of this data set or item are in the data folder."""
    record, item = _named(name)
    folder = data_folder(data)
    return record is not None and folder is not None and record.label_file(record.files(folder), item) is not None


def split_options(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options in brackets behind it; a file that exists is its own name, whatever it is called.

    >>> split_options("ucr/125(end=exclusive)")
    ('ucr/125', {'end': 'exclusive'})
    """
    if not text.endswith(")") or Path(text).exists():
        return text, {}
    name, positional, options = parse_call(text)
    if positional:
        raise InvalidParameterError(f"cannot read {text!r}: options of a data set need their names, option=value")
    return name, options


def _named(name: str) -> tuple[DatasetRecord | None, str]:
    """Return the record and the item that a name means; no record for a path of the user's own."""
    head, _, item = name.partition("/")
    if head.lower() in DATASETS:
        record = DATASETS[head.lower()]
        return record, record.canonical(item) if item else ""
    if user_path(name).exists():
        return None, ""
    near = did_you_mean(head.lower(), list(DATASETS))
    raise UnknownNameError(f"unknown data set {name!r}, and there is no such file or folder: {near}")


def _files(record: DatasetRecord, data: str | Path | None) -> Files:
    folder = data_folder(data)
    if folder is None:
        raise InvalidInputError(f"{record.name}: no data folder was given; pass data= (--data) or set {VARIABLE}")
    files = record.files(folder)
    if not files.folders:
        raise InvalidInputError(
            f"{record.name}: there is no folder {' or '.join(record.folders)} in {folder}; "
            f"expected {record.layout}. {record.get}"
        )
    return files


def _missing(record: DatasetRecord, item: str, files: Files) -> Exception:
    """Why a name cannot be loaded: nothing is there, one must choose, or that item is not there."""
    found = [part for part in record.parts(files) if part]
    if not found:
        what = f"there are no files of it in {files}; expected {record.layout}"
        return InvalidInputError(f"{record.full(item)}: {what}. {record.get}")
    if not item:
        example = record.full(found[0])
        return InvalidInputError(f"{record.name} is a collection: load one of its {len(found)} items, as {example!r}")
    return UnknownNameError(f"there is no {record.full(item)} in {files}: {did_you_mean(item, found)}")


def _check_options(owner: str, known: Mapping[str, Check | None], given: dict[str, Any]) -> None:
    refuse_unknown(owner, known, given)
    check_parameters(printable(owner), {option: check for option, check in known.items() if check}, given)


# Users' own data: a table with labels, a folder with a train and a test table, a folder of series.


def series_in(path: Path) -> list[Path]:
    """List the series that a path holds: itself, or the files of a folder that is not one data set in several files."""
    if not path.is_dir() or _kind(path, "test"):
        return [path]
    return sorted(file for file in path.iterdir() if is_table_file(file))


def read_own(
    source: Any,
    features: bool,
    *,
    label: str = "label",
    split: float | None = None,
    columns: Sequence[str] | None = None,
) -> Split:
    """Read train, test and labels of a file, a folder or a table in memory.

    A folder holds a table `test` with a column of labels, or with a table `test_label` beside it, and a table
    `train`. A single npz file holds the arrays `train` and `test` and the labels. Any other file is one table: all of
    its rows are both what a detector learns from and what it is judged on, unless `split` says how many of the first
    rows (a whole number), or which share of them (below 1), are for learning only.
    """
    if isinstance(source, Path) and source.is_dir():
        return _folder(source, features, label, columns)
    table = read_table(source)
    mask = _labels(table, label)
    if {"train", "test"} <= set(table.columns):
        first, second = (Table({"column": table.columns[kind]}, table.source) for kind in ("train", "test"))
        return of_tables(first, second, mask, _advice()) if features else Split(None, None, mask, ())
    names, values = feature_matrix(_features(table, label, columns), _advice()) if features else ((), None)
    return split_rows(table.source, values, mask, names, split)


def _folder(path: Path, features: bool, label: str, columns: Sequence[str] | None) -> Split:
    train, test, extra = (_kind(path, kind) for kind in ("train", "test", "test_label"))
    if test is None or (train is None and features):
        found = series_in(path)
        if found and test is None:
            raise InvalidInputError(
                f"{printable(path)} is a folder of {len(found)} series: load one, as {str(found[0])!r}"
            )
        what = "train" if test else "test"
        kinds = ", ".join(FORMATS)
        raise InvalidInputError(f"{printable(path)}: expected a file {what} ({kinds}) in this folder, found none")
    table = read_table(test)
    mask = _labels(read_table(extra) if extra else table, label)
    if not features:
        return Split(None, None, mask, ())
    first, second = (_features(one, label, columns) for one in (read_table(train), table))
    return of_tables(first, second, mask, _advice())


def _kind(path: Path, kind: str) -> Path | None:
    found = (path / f"{kind}{suffix}{packed}" for suffix in FORMATS for packed in ("", ".gz"))
    return next((one for one in found if one.is_file()), None)


def _labels(table: Table, name: str) -> Bools:
    if name not in table and len(table.columns) > 1:
        how = f"name them with label=, on the command line as '{Path(table.source).name}(label=...)'"
        if table.source == IN_MEMORY:
            how = 'name them: te.datasets.load(table, label="...")'
        raise InvalidInputError(
            f"{table.source}: no labels {printable(name)!r}: {did_you_mean(name, list(table.columns), SHOWN)}; {how}"
        )
    return labels(table.source, table.numbers(name))


def _features(table: Table, label: str, chosen: Sequence[str] | None) -> Table:
    """Return the chosen columns; by default all but the labels, which a folder's train table may lack, and times."""
    if isinstance(chosen, str):
        raise InvalidInputError(f"columns must be several names, but is {chosen!r}: write [{chosen!r}]")
    left_out = table.name(label) if label in table else None
    names = [name for name in table.columns if name != left_out]
    for name in chosen or ():
        if name not in names:
            near = did_you_mean(name, names, SHOWN)
            raise InvalidInputError(f"{table.source}: no column {printable(name)!r} (columns=): {near}")
    if chosen is None:
        other = TIMES | POSITIONS | {name.lower() for name in table.index}
        chosen = [name for name in names if name.lower() not in other and kind_of(table.columns[name]) not in "mMDt"]
    if not chosen:
        raise InvalidInputError(f"{table.source}: expected at least one column beside labels and times, found none")
    return table.only(chosen)


def _advice() -> str:
    return "; " + hint("choose with columns=[...]", "take it out of the table")


# `fetch`: get a data set that is open to the public, and verify what came.


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
    new = [folder / download.path for download in wanted if not (folder / download.path).exists()]
    for download in wanted:
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
    bar = _Meter(download.path, url, progress)
    logger = pooch.get_logger()
    level = logger.level
    try:
        logger.setLevel(logging.WARNING)  # without the messages for each file
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
    finally:
        logger.setLevel(level)


@dataclass
class _Meter:
    """What pooch takes for a progress bar; it also stops a download that is larger than any file may be."""

    path: str
    url: str
    tell: Progress | None
    total: int = 0
    done: int = 0

    def update(self, n: int) -> None:
        self.done += n
        # pooch counts a piece as whole, however short it is; a server need not say how much there is in all.
        if max(self.done - _PIECE, self.total) > size_limit():
            raise TsadevalError(
                f"{self.url} is larger than {size_limit()} bytes, and was not kept; if it may be, raise the limit with "
                f"{LIMIT}"
            )
        if self.tell is not None:
            self.tell(self.path, min(self.done, self.total or self.done), self.total)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        """Nothing is open."""
