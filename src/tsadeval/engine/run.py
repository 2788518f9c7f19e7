"""The parallel run: joblib maps a pure function over chunks, and rows are stored as they come.

joblib is the one door: threads or processes here, and under `joblib.parallel_config(backend="dask")` the same call
runs on a cluster. Only this process writes, so workers need no shared disk.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TypeVar

from tsadeval._optional import require
from tsadeval.core.parameters import Number
from tsadeval.core.results import Row
from tsadeval.engine.cells import C
from tsadeval.engine.progress import Progress, progress_of
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidParameterError

__all__ = ["Progress", "complete", "run"]

Chunk = TypeVar("Chunk")
_WORKERS = Number(integer=True, none=True)


def complete(
    cells: list[C],
    chunks: Callable[[list[C]], Iterable[Chunk]],
    compute: Callable[[Chunk], list[Row]],
    store: Store[C],
    *,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
) -> None:
    """Compute what the store does not have yet of these cells; `progress(done, total)` is called after each chunk."""
    done = store.done()
    missing = [cell for cell in cells if cell not in done]
    finished = len(cells) - len(missing)

    with progress_of(progress, store.layout.command) as report:

        def tell(new: int) -> None:
            nonlocal finished
            finished += new
            if report is not None:
                report(finished, len(cells))

        tell(0)
        run(chunks(missing), compute, store, n_jobs=n_jobs, progress=tell)


def run(
    chunks: Iterable[Chunk],
    compute: Callable[[Chunk], list[Row]],
    store: Store[C],
    *,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Compute all chunks, in any order; `progress(new)` is called with the number of new rows once they are stored."""
    joblib = require("joblib", extra="all")
    if n_jobs == 0 or not _WORKERS.accepts(n_jobs):
        raise InvalidParameterError(
            f"n_jobs (--jobs) must be an integer other than 0 (-1: all cores), but is {n_jobs!r}"
        )
    # One chunk at a time to each worker: what is in flight is what a crash can lose.
    parallel = joblib.Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
    finished = parallel(joblib.delayed(compute)(chunk) for chunk in chunks)
    try:
        for rows in finished:
            store.add(rows)
            if progress is not None:
                progress(len(rows))
    finally:
        with warnings.catch_warnings():
            # After an interrupt joblib warns of the chunks in flight; they are simply missing in the store.
            warnings.simplefilter("ignore", UserWarning)
            finished.close()
