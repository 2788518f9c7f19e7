"""`read_table`: read users' tables from files, data frames or dictionaries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tsadeval._optional import require
from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError, MissingExtraError
from tsadeval.tables.numpy_files import READERS, TEXTS, sniffed
from tsadeval.tables.sources import STDIN, gunzip, read_source, size_limit, too_large, user_path
from tsadeval.tables.table import Table, from_frame, from_mapping

_PICKLES = (".pkl", ".pickle", ".joblib", ".p", ".pt", ".pth")


def read_table(
    source: Any,
    *,
    kind: str | None = None,
    text: Iterable[str] | None = (),
    max_bytes: float | None = None,
    empty: bool = False,
) -> Table:
    """The columns of a file, of standard input, of a data frame or of a dictionary of arrays.

    Parameters
    ----------
    source : path, "-", data frame, mapping or Table
        A csv, tsv, parquet, feather, arrow, jsonl, npy or npz file, any of them gzipped (csv.gz), local or at an
        address that fsspec opens ("s3://bucket/a.csv"); "-" for standard input; a pandas, polars or pyarrow data
        frame; a mapping from names to arrays.
    kind : str, optional
        The format ("csv"), where the file's name does not say it; of standard input it is otherwise found out.
    text : iterable of str, or None
        Columns of a csv file to keep as text: those that name series, where "01" and "1" are two. None for all.
    max_bytes : number, optional
        Bytes that the file may take once unpacked; by default that of the environment variable TSADEVAL_MAX_BYTES,
        else 4 GiB.
    empty : bool, default=False
        Take files without rows as well.

    Raises
    ------
    InvalidInputError
        One line that names the file, whatever is wrong with it. Other files are not affected: catch it to go on.

    Examples
    --------
    >>> from tsadeval.tables import read_table
    >>> table = read_table({"label": [0, 1, 0], "score": [0.1, 0.9, None]})
    >>> table.n, table.numbers("score").tolist()
    (3, [0.1, 0.9, nan])
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, (str, os.PathLike)):
        given = (kind, None if text is None else tuple(text), size_limit(max_bytes))
        remote = isinstance(source, str) and "://" in source
        found = _read_remote(str(source), *given) if remote else _read_file(user_path(source), *given)
        if not (found.size or empty):
            raise InvalidInputError(f"{found.source}: has no rows")
        return found
    table = from_frame(source, "the table")
    if table is None and isinstance(source, Mapping):
        table = from_mapping(source, "the table")
    if table is None:
        what = f"{type(source).__module__}.{type(source).__name__}"
        raise InvalidInputError(f"expected a path, a data frame or a mapping of arrays, found {printable(what)}")
    return table


def is_table_file(path: Path) -> bool:
    """Return True if a file of this name can be read as a table."""
    return _suffix(path) in READERS


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _read_remote(address: str, kind: str | None, text: tuple[str, ...] | None, limit: int) -> Table:
    """A file at an address that fsspec opens; so the caller has named where to go, and with which right."""
    where = printable(address)
    suffix = _known_suffix(Path(address), where, kind)
    try:
        with require("fsspec", extra="remote").open(address, "rb") as file:
            content = file.read(limit + 1)
    except MissingExtraError:
        raise
    except Exception as error:
        reason = printable(str(error).partition("\n")[0] or type(error).__name__)
        raise InvalidInputError(f"{where}: cannot be read ({reason})") from error
    if len(content) > limit:
        raise too_large(where, limit)
    if content[:2] == b"\x1f\x8b":
        content = gunzip(content, where, limit)
    return _parsed(content, suffix, where, limit, text)


def _read_file(path: Path, kind: str | None, text: tuple[str, ...] | None, limit: int) -> Table:
    where = printable(path)
    # A name without a suffix is rather that of a folder, or of a store, which is not there.
    if str(path) != STDIN and kind is None and not _suffix(path) and not os.path.lexists(path):
        raise InvalidInputError(f"{where}: no such file or folder")
    suffix = _known_suffix(path, where, kind)
    content = read_source(path, limit)
    return _parsed(content, suffix if suffix in READERS else sniffed(content), where, limit, text)


def _known_suffix(path: Path, where: str, kind: str | None) -> str:
    suffix = _suffix(path) if kind is None else f".{kind}"
    if suffix not in READERS and (kind is not None or str(path) != STDIN):
        known = ", ".join(READERS)
        if suffix in _PICKLES:
            raise InvalidInputError(f"{where}: pickles are never opened, as they can run any program; use {known}")
        raise InvalidInputError(f"{where}: cannot read {printable(suffix) or 'a file without suffix'}; use {known}")
    return suffix


def _parsed(content: bytes, suffix: str, where: str, limit: int, text: tuple[str, ...] | None) -> Table:
    try:
        table = READERS[suffix](content, where, limit, text)
        if table.size > limit:  # columns without values take no space in a file, however long
            raise too_large(where, limit)
    except (InvalidInputError, MissingExtraError):
        raise
    except MemoryError:
        raise InvalidInputError(f"{where}: does not fit into memory") from None
    except Exception as error:
        # Whatever a parser raises, the file is not what its name says.
        reason = printable(str(error).strip().partition("\n")[0] or type(error).__name__)
        what = f"not a readable {suffix[1:]} file" if suffix in TEXTS else "damaged or truncated"
        raise InvalidInputError(f"{where}: {what} ({reason})") from error
    return table
