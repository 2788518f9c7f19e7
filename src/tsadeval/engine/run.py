"""Run of a plan: compute in chunks what a store lacks, and store rows as they come.

Here, chunks are computed in this process, or in worker processes under supervision (`pool`). Under a backend of joblib
that is not local, as `joblib.parallel_config(backend="dask")`, joblib maps the same function over them on a cluster.
Only this process writes, so workers need no shared disk.
"""

import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import compress
from typing import Any

from tsadeval._optional import require
from tsadeval.core.messages import named
from tsadeval.core.parallel import in_order, mapped, workers
from tsadeval.core.parameters import Number
from tsadeval.core.results import Row
from tsadeval.engine.cells import C, Compute, compute_all, compute_batches
from tsadeval.engine.fingerprints import UNKEYED
from tsadeval.engine.pool import Limits, supervised
from tsadeval.engine.progress import Progress, progress_of
from tsadeval.engine.store import Store, repeatable
from tsadeval.errors import InvalidParameterError, TsadevalError, warn

_SECONDS = Number(0, open_low=True, none=True)
# The columns that say what a value is of.
_NAMES = ("task", "case", "series", "detector", "generator", "metric")
# What has a key of its code, and the column that holds the key.
_KEYS = {"metric": "version", "rule": "rule", "detector": "detector"}
_BYTES = re.compile(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([kmgt]?)(?:i?b)?\s*", re.IGNORECASE)
# joblib's backends that run on this machine in processes of its own, which `pool` replaces, or in the caller's.
_LOCAL = {"LokyBackend", "MultiprocessingBackend", "SequentialBackend"}


def limits_of(cell_timeout: float | None = None, cell_memory: int | str | None = None) -> Limits:
    """Check limits: seconds, and bytes as a number or as text with a unit ("2 GB")."""
    if not _SECONDS.accepts(cell_timeout):
        raise InvalidParameterError(
            f"cell_timeout (--cell-timeout) must be a number of seconds above 0, but is {cell_timeout!r}"
        )
    found = None if cell_memory is None else _BYTES.fullmatch(str(cell_memory))
    memory = None if found is None else int(float(found[1]) * 1024 ** " kmgt".index(found[2].lower() or " "))
    if memory == 0 or (found is None and cell_memory is not None):
        raise InvalidParameterError(
            f"cell_memory (--cell-memory) must be a number of bytes or a text such as '2GB', but is {cell_memory!r}"
        )
    if memory is not None and not sys.platform.startswith("linux"):
        raise InvalidParameterError("cell_memory (--cell-memory) needs Linux: leave it out here")
    return Limits(None if cell_timeout is None else float(cell_timeout), memory)


def complete(
    cells: Iterable[C],
    chunks: Callable[[Iterable[C]], Iterable[Any]],
    compute: Compute,
    store: Store[C],
    *,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
    limits: Limits | None = None,
    threads: bool = False,
    known: int = 0,
) -> None:
    """Compute what the store does not have yet of these cells; progress is told as rows come (`progress_of`).

    Cells are gone through twice and never kept, and chunks of them are made as they are needed, where `chunks` does so.
    In this process they are computed without `n_jobs`, one by one, or where their code allows it in `threads`, by
    default as many as there are cores.
    Progress counts `known` cells besides, which the caller has already. SIGTERM stops a run as Ctrl-C does, with
    KeyboardInterrupt.
    """
    workers(n_jobs)  # refuses what is no number of workers, before anything is written
    store.compact()  # what a run that was killed left
    cells = repeatable(cells)
    missing = store.missing(cells)
    total = known + len(missing)
    done = total - missing.count(1)
    if done < total:  # to look through all folders of a store takes longer than to see that nothing is missing
        store.sweep()
    todo = compress(cells, missing) if done < total else ()
    with (
        progress_of(progress, store.layout.command) as tell,
        _terminable(),
        closing(_finished(chunks(todo), compute, n_jobs, limits or Limits(), threads)) as finished,
    ):
        tell(done, total, "")
        unkeyed: set[str] = set()
        for rows in finished:
            store.add(rows)
            done += len(rows)
            tell(done, total, _name(rows))
            unkeyed.update(str(row[of]) for row in rows for of, key in _KEYS.items() if UNKEYED in (row.get(key) or ""))
    store.compact()
    if unkeyed and store.folder is not None:
        names = named(sorted({name.partition("@")[0] for name in unkeyed}))
        warn(f"{names}: holds what cannot be described for certain, so its values are computed in each run anew")


def _name(rows: list[Row]) -> str:
    """Return what the last of some rows is of, without the key of a user's code."""
    return ", ".join(str(rows[-1][key]).partition("@")[0] for key in _NAMES if rows and rows[-1].get(key))


def _finished(chunks: Iterable[Any], compute: Compute, n_jobs: int | None, limits: Limits, threads: bool) -> Any:
    joblib = require("joblib", extra="all")
    backend, configured = require("joblib.parallel", extra="all").get_active_backend()
    name = type(backend).__name__
    if name not in _LOCAL:
        if limits:
            raise InvalidParameterError(
                f"cell_timeout and cell_memory need local worker processes: leave them out with joblib's {name}"
            )
        return _distributed(chunks, compute, n_jobs)
    asked = configured if n_jobs is None else n_jobs
    threads = threads and name != "SequentialBackend"
    if name == "SequentialBackend" or ((asked is None or threads) and not limits):
        return (
            in_order(lambda chunk: compute_all(compute, chunk), chunks, asked)
            if threads
            else (rows for chunk in chunks for rows in compute_batches(compute, chunk))
        )
    return supervised(chunks, compute, joblib.effective_n_jobs(1 if asked is None else asked), limits)


def _distributed(chunks: Iterable[Any], compute: Compute, n_jobs: int | None) -> Iterator[list[Row]]:
    with closing(mapped(compute_all, ((compute, chunk) for chunk in chunks), n_jobs, ordered=False)) as finished:
        try:
            yield from finished
        except (TsadevalError, MemoryError):
            raise
        except Exception as error:
            raise TsadevalError(
                f"the parallel backend failed ({type(error).__name__}: {str(error).partition(chr(10))[0]}): all values "
                "so far are kept, and the same command again computes the rest"
            ) from error


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt, unless the caller has a handler of their own."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
