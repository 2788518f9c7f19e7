"""Work that joblib's backend of the moment does: threads here, or the workers of a Dask or Ray cluster."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from tsadeval._optional import require
from tsadeval.errors import InvalidParameterError

__all__ = ["elsewhere", "mapped", "on_cluster"]

_ROUND = 8  # items of a round for each worker, where a backend only returns when all are done


def elsewhere() -> bool:
    """Is joblib set up to run on a cluster?"""
    parallel = sys.modules.get("joblib.parallel")
    if parallel is None:
        return False
    name = type(parallel.get_active_backend()[0]).__name__
    return name not in ("LokyBackend", "MultiprocessingBackend", "SequentialBackend", "ThreadingBackend")


def mapped(
    work: Callable[..., Any], items: Iterable[tuple[Any, ...]], n_jobs: int | None, *, ordered: bool, **options: Any
) -> Generator[Any, None, None]:
    """What the work gives for each tuple of arguments, as it comes or in their order.

    One item at a time goes to each worker: what is in flight is what a crash can lose. Ray's backend returns a list,
    so there items go in rounds.
    """
    joblib = require("joblib", extra="all")
    tasks = (joblib.delayed(work)(*item) for item in items)
    # Asked with the preference of the call: without a backend of the user's choice it decides which one it is.
    backend = joblib.Parallel(n_jobs=n_jobs, **options)._backend
    if getattr(backend, "supports_return_generator", False):
        how = "generator" if ordered else "generator_unordered"
        finished = joblib.Parallel(n_jobs=n_jobs, batch_size=1, return_as=how, **options)(tasks)
        try:
            yield from finished
        finally:
            with warnings.catch_warnings():
                # After an interrupt joblib warns of the tasks in flight; what they had computed is simply missing.
                warnings.simplefilter("ignore", UserWarning)
                finished.close()
        return
    with joblib.Parallel(n_jobs=-1 if n_jobs is None else n_jobs, batch_size=1, **options) as parallel:
        size = _ROUND * max(int(parallel._effective_n_jobs()), 1)
        while some := list(islice(tasks, size)):
            yield from parallel(some)


@contextmanager
def on_cluster(address: str) -> Iterator[None]:
    """Let what runs through joblib run on the cluster whose scheduler is at this address ("tcp://host:8786").

    An empty address is this machine.
    """
    if not address:
        yield
        return
    distributed, joblib = require("distributed", extra="dask"), require("joblib", extra="all")
    try:
        client = distributed.Client(address)
    except (OSError, ValueError) as error:
        raise InvalidParameterError(f"--dask: there is no scheduler at {address} ({error})") from None
    with client, joblib.parallel_config(backend="dask"):
        yield
