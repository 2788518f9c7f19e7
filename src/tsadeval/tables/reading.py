"""`read_table`: read users' tables from files, frames or dictionaries; `FORMATS`: the formats of files by suffix."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tsadeval._optional import require
from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError, MissingExtraError
from tsadeval.tables.binary_files import ARROW, npy_units, parquet_units, read_arrow, read_npy, read_npz, read_parquet
from tsadeval.tables.sources import STDIN, check_size, read_source, refuse_special, size_limit, user_path
from tsadeval.tables.table import Request, Table, from_frame, from_mapping, join
from tsadeval.tables.text_files import read_csv, read_jsonl

_PICKLES = (".pkl", ".pickle", ".joblib", ".p", ".pt", ".pth")


class Format(NamedTuple):
    """A format of files.

    `read` gives the batches of the content (bytes), or of a file that is too large for that: a local path or, if it
    lies elsewhere, an open file. `units` counts the units of a file that can be read apart, as `Request.span` counts
    them; it gives also how many of them make a part, and what a reader may need of them.
    """

    read: Callable[[Any, Request], Generator[Table, None, None]]
    starts: tuple[bytes, ...] = ()  # how its files begin, by which content without a name is known
    text: bool = False  # its reader has large blocks of text in memory and parses them in threads of its own
    units: Callable[[Any, int], tuple[int, int, Any]] | None = None
    whole: bool = False  # it can only be read as a whole


_PARQUET = Format(read_parquet, (b"PAR1",), units=parquet_units)
_ARROW = Format(read_arrow, (ARROW, b"\xff\xff\xff\xff"))
_JSONL = Format(read_jsonl, (b"{",), text=True)
FORMATS: dict[str, Format] = {
    ".csv": Format(read_csv, text=True),
    ".tsv": Format(partial(read_csv, delimiter="\t"), text=True),
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".feather": _ARROW,
    ".arrow": _ARROW,
    ".jsonl": _JSONL,
    ".ndjson": _JSONL,
    ".npy": Format(read_npy, (b"\x93NUMPY",), units=npy_units),
    ".npz": Format(read_npz, (b"PK",), whole=True),
}


def read_table(
    source: Any,
    *,
    kind: str | None = None,
    text: Iterable[str] | None = (),
    max_bytes: float | None = None,
    empty: bool = False,
) -> Table:
    """Read the columns of a file, of standard input, of a data frame or of a dictionary of arrays.

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
        path = source if isinstance(source, str) and "://" in source else user_path(source)
        return _read_file(path, kind, None if text is None else tuple(text), size_limit(max_bytes), empty)
    table = from_mapping(source, "the table") if isinstance(source, Mapping) else from_frame(source, "the table")
    if table is None:
        what = f"{type(source).__module__}.{type(source).__name__}"
        raise InvalidInputError(f"expected a path, a data frame or a mapping of arrays, found {printable(what)}")
    return table


def is_table_file(path: Path) -> bool:
    """Return True if a file of this name can be read as a table."""
    return suffix_of(path) in FORMATS


def suffix_of(path: str | Path) -> str:
    """Return the end of a file's name that says its format, in lower case."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def open_file(path: str) -> AbstractContextManager[Any]:
    """Open a local path as it is, anything else as a file that fsspec opens, so the caller has named where to go."""
    if "://" in path:
        return require("fsspec", extra="remote").open(path, "rb")  # type: ignore[no-any-return]  # it has no types
    refuse_special(path, printable(path))
    return nullcontext(path)


@contextmanager
def name_errors(where: str, suffix: str) -> Iterator[None]:
    """Turn whatever a parser raises into one line that names the file: it is not what its name says."""
    try:
        yield
    except (InvalidInputError, MissingExtraError, MemoryError):
        raise
    except FileNotFoundError:
        raise InvalidInputError(f"{where}: no such file") from None
    except Exception as error:
        reason = printable(str(error).strip().partition("\n")[0] or type(error).__name__)
        is_text = suffix in FORMATS and FORMATS[suffix].text
        what = f"not a readable {suffix[1:]} file" if is_text else "damaged or truncated"
        raise InvalidInputError(f"{where}: {what} ({reason})") from error


def read_batches(path: str, request: Request) -> Iterator[Table]:
    """Read the batches of a file of any size; errors of its parser are those of the caller."""
    with open_file(path) as file, closing(FORMATS[suffix_of(path)].read(file, request)) as found:
        yield from found


def _read_file(path: str | Path, kind: str | None, text: tuple[str, ...] | None, limit: int, empty: bool) -> Table:
    where, remote = printable(path), isinstance(path, str)
    # A name without a suffix is rather that of a folder, or of a store, which is not there.
    if not remote and str(path) != STDIN and kind is None and not suffix_of(path) and not os.path.lexists(path):
        raise InvalidInputError(f"{where}: no such file or folder")
    suffix = _known_suffix(path, where, kind)
    content = read_source(path, limit)
    return parse(content, suffix if suffix in FORMATS else _sniff(content), Request(where, limit, text), empty=empty)


def parse(content: bytes, suffix: str, request: Request, *, empty: bool = False) -> Table:
    """Return the table that the content of a file is, in the format of a suffix; any error names the file."""
    where = request.where
    try:
        with name_errors(where, suffix):
            table = join(list(FORMATS[suffix].read(content, request)))
            check_size(table.size, request.limit, where)  # columns without values take no space
    except MemoryError:
        raise InvalidInputError(f"{where}: does not fit into memory") from None
    if not (table.size or empty):
        raise InvalidInputError(f"{where}: has no rows")
    return table


def _known_suffix(path: str | Path, where: str, kind: str | None) -> str:
    suffix = suffix_of(path) if kind is None else f".{kind}"
    if suffix not in FORMATS and (kind is not None or str(path) != STDIN):
        known = ", ".join(FORMATS)
        if suffix in _PICKLES:
            raise InvalidInputError(f"{where}: pickles are never opened, as they can run any program; use {known}")
        raise InvalidInputError(f"{where}: cannot read {printable(suffix) or 'a file without suffix'}; use {known}")
    return suffix


def _sniff(content: bytes) -> str:
    """Return the format of content that has no file name, as a suffix."""
    start = content[:100].lstrip()
    for suffix, form in FORMATS.items():
        if (start if form.text else content).startswith(form.starts):
            return suffix
    heading = content.lstrip().split(b"\n", 1)[0]
    return ".tsv" if b"\t" in heading and b"," not in heading else ".csv"
