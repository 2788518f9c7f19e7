"""Work on many items in threads of this process: kernels release the lock of the interpreter, and nothing is copied."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from queue import Queue
from threading import Event, Thread
from typing import Any, TypeVar

from tsadeval.errors import InvalidParameterError

__all__ = ["ahead", "cores", "in_order", "workers"]

T = TypeVar("T")
R = TypeVar("R")
_AHEAD = 2  # items that are read while another is being used
_STOP = object()


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers(n_jobs: int | None) -> int:
    """Number of threads that are meant; all cores by default."""
    if isinstance(n_jobs, bool) or not (n_jobs is None or (isinstance(n_jobs, int) and n_jobs != 0)):
        raise InvalidParameterError(f"n_jobs must be an integer other than 0 (-1: all cores), but is {n_jobs!r}")
    return cores() if n_jobs is None or n_jobs < 0 else n_jobs


def in_order(
    work: Callable[[T], R], items: Iterable[T], n_jobs: int | None, left: Event | None = None
) -> Generator[R, None, None]:
    """What the work gives for each item, in the order of the items; the first error, in this order, is raised.

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


def ahead(read: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """What an iterator gives, read by a thread of its own a little ahead."""
    queue: Queue[Any] = Queue(_AHEAD)
    left = Event()

    def work() -> None:
        try:
            for item in read():
                queue.put(item)
                if left.is_set():
                    return
            queue.put(_STOP)
        except BaseException as error:
            queue.put(_Raised(error))

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while (item := queue.get()) is not _STOP:
            if isinstance(item, _Raised):
                raise item.error
            yield item
    finally:
        left.set()
        while thread.is_alive():  # it may wait for room in the queue
            while not queue.empty():
                queue.get_nowait()
            thread.join(0.01)


@dataclass(frozen=True)
class _Raised:
    error: BaseException
