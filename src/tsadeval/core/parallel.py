"""Parallel work: threads of this process, reading ahead in a background thread, and joblib's cluster backends."""

import os
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from itertools import islice
from numbers import Integral
from threading import Event
from typing import Any, TypeVar, cast

from tsadeval._optional import require
from tsadeval.errors import InvalidParameterError, hint

T = TypeVar("T")
R = TypeVar("R")
_AHEAD = 2  # items that are read while another is being used
_STOP: Any = object()


def cores() -> int:
    """Return number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers(n_jobs: Any) -> int:
    """Return number of threads that are meant; all cores by default."""
    if isinstance(n_jobs, bool) or not (n_jobs is None or (isinstance(n_jobs, Integral) and n_jobs != 0)):
        name = hint("n_jobs", "--jobs")
        raise InvalidParameterError(f"{name} must be an integer other than 0 (-1: all cores), but is {n_jobs!r}")
    return cores() if n_jobs is None or n_jobs < 0 else int(n_jobs)


def in_order(
    work: Callable[[T], R], items: Iterable[T], n_jobs: int | None, left: Event | None = None
) -> Generator[R, None, None]:
    """Yield what the work gives for each item, in the order of the items; raise the first error in this order.

    Items are read a little ahead. With one worker there is no thread but the caller's. `left` is set where nobody waits
    for the results any more: long work should look at it now and then, and end.
    """
    count = workers(n_jobs)
    if count == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(count, thread_name_prefix="tsadeval") as pool:
        waiting: deque[Future[Any]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(copy_context().run, work, item))
                del item  # so that nothing is kept of what was worked on
                if len(waiting) > count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            if left is not None:
                left.set()
            for one in waiting:
                one.cancel()


def ahead(read: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Read ahead from an iterator in a background thread."""
    items = read()
    with ThreadPoolExecutor(1, thread_name_prefix="tsadeval") as pool:
        waiting = deque(pool.submit(next, items, _STOP) for _ in range(_AHEAD))
        try:
            while (item := waiting.popleft().result()) is not _STOP:
                waiting.append(pool.submit(next, items, _STOP))
                yield cast(T, item)
        finally:
            for one in waiting:
                one.cancel()


_ROUND = 8  # items of a round for each worker, where a backend only returns when all are done


def elsewhere() -> bool:
    """Return True if joblib is set up to run on a cluster."""
    parallel = sys.modules.get("joblib.parallel")
    if parallel is None:
        return False
    name = type(parallel.get_active_backend()[0]).__name__
    return name not in ("LokyBackend", "MultiprocessingBackend", "SequentialBackend", "ThreadingBackend")


def mapped(
    work: Callable[..., Any], items: Iterable[tuple[Any, ...]], n_jobs: int | None, *, ordered: bool, **options: Any
) -> Generator[Any, None, None]:
    """Yield what the work gives for each tuple of arguments, as it comes or in their order.

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
            # After an interrupt joblib warns of the tasks in flight; what they had computed is simply missing.
            with warnings.catch_warnings(action="ignore", category=UserWarning):
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
