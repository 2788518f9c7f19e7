"""Run of a plan: compute in chunks what a store lacks, and store rows as they come; supervised worker processes.

Here, chunks are computed in this process, or in worker processes under supervision: one that crashes, hangs or takes
too much memory costs one cell. Under a backend of joblib that is not local (`joblib.parallel_config(backend="dask")`),
joblib maps the same function over them on a cluster. Only this process writes, so workers need no shared disk.

joblib's own processes are not used for supervision, because the death of one ends all of them. Every worker leads a
process group of its own, so that it is killed with all that it has started; a janitor process kills them all where this
process dies without a chance to do so.
"""

import math
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import compress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, cast

from tsadeval._optional import require
from tsadeval.core.messages import named
from tsadeval.core.parallel import in_order, mapped, workers
from tsadeval.core.parameters import Number
from tsadeval.core.results import Row
from tsadeval.engine.cells import C, Compute, Ledger, compute_all, compute_batches, raised
from tsadeval.engine.fingerprints import UNKEYED
from tsadeval.engine.progress import Progress, progress_of
from tsadeval.engine.store import Store, repeatable
from tsadeval.engine.worker import Failed
from tsadeval.errors import InvalidParameterError, TsadevalError, warn

_START = 60.0  # seconds that a worker may take to start and to import the user's code, at least
_TICK = 0.1  # seconds between two looks at the processes
_GRACE = 0.5  # seconds in which an ended process may still be heard
_THREADS = [f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "NUMEXPR")]
_WORKER = "import sys; sys.path[:] = {path!r}; from tsadeval.engine.worker import main; main({memory!r})"
_JANITOR = """
import os, signal, sys
running = set()
for line in sys.stdin:
    (running.add if line[0] == "+" else running.discard)(int(line[1:]))
for process in running:
    try:
        getattr(os, "killpg", os.kill)(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    except OSError:
        pass
"""


@dataclass(frozen=True)
class Limits:
    """What the computation of one cell may take: seconds, and bytes of memory. None: as much as it likes."""

    seconds: float | None = None
    memory: int | None = None

    def __bool__(self) -> bool:
        return self.seconds is not None or self.memory is not None


class _Worker:
    """One process, and the thread that talks to it."""

    def __init__(
        self, events: SimpleQueue[tuple["_Worker", list[Any] | None, float]], limits: Limits, workers: int
    ) -> None:
        share = str(max((os.cpu_count() or 1) // workers, 1))
        code = _WORKER.format(path=[p or os.getcwd() for p in sys.path], memory=limits.memory)
        # Private, but what multiprocessing uses: there is no public way to ask for the flags of this process.
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # private, so without a stub
        self.process = subprocess.Popen(
            [sys.executable, *flags, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**dict.fromkeys([*_THREADS, "VECLIB_MAXIMUM_THREADS"], share), **os.environ},
            start_new_session=True,
        )
        self.tasks: SimpleQueue[bytes | None] = SimpleQueue()
        self._events = events
        self._thread = Thread(target=self._exchange, daemon=True)
        self._thread.start()

    def _exchange(self) -> None:
        to, back = cast(IO[bytes], self.process.stdin), cast(IO[bytes], self.process.stdout)
        try:
            while (task := self.tasks.get()) is not None:
                pickle.dump(task, to)
                to.flush()
                said: list[Any] = []
                while not said or not isinstance(said[-1], str):  # END, or Failed
                    said = pickle.load(back)
                    self._events.put((self, said, time.monotonic()))
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            self._events.put((self, None, time.monotonic()))
        finally:
            for pipe in (to, back):
                with suppress(OSError):
                    pipe.close()

    def end(self, patience: float = 0.0) -> int:
        """Make sure that the process has ended, with all it has started, and return how."""
        self.tasks.put(None)  # the thread closes the pipe, and an idle worker ends by itself
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        ended = self.process.poll()
        with suppress(OSError):
            # The group outlives its leader as long as anything in it runs.
            os.killpg(self.process.pid, signal.SIGKILL) if hasattr(os, "killpg") else self.process.kill()
        self.process.wait()
        self._thread.join(1.0)
        return self.process.returncode if ended is None else ended


class _Janitor:
    """A process that outlives this one just long enough to kill the workers."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _JANITOR],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def note(self, sign: str, worker: _Worker) -> None:
        with suppress(OSError):  # it was killed from outside; the run continues without it
            print(f"{sign}{worker.process.pid}", file=self._process.stdin, flush=True)

    def end(self) -> None:
        self._process.communicate()  # closes its input, and waits


def supervised(chunks: Iterable[Any], compute: Compute, workers: int, limits: Limits) -> Iterator[list[Row]]:
    """Yield the rows of chunks as they are finished, in any order, whatever happens to the processes."""
    pool = _Pool(chunks, compute, workers, limits)
    try:
        yield from pool.results()
        pool.close(patience=2.0)
    finally:
        pool.close()


class _Pool:
    def __init__(self, chunks: Iterable[Any], compute: Compute, workers: int, limits: Limits) -> None:
        self._chunks, self._compute, self._workers, self._limits = iter(chunks), compute, workers, limits
        self._again: list[Any] = []
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, tuple[Ledger, float, bool]] = {}  # what it works on, since when, and had it started
        self._events: SimpleQueue[tuple[_Worker, list[Any] | None, float]] = SimpleQueue()
        self._janitor: _Janitor | None = None

    def results(self) -> Iterator[list[Row]]:
        while True:
            yield from self._assign()
            if not self._busy:
                return
            try:
                worker, said, when = self._events.get(timeout=_TICK)
            except Empty:
                yield from self._check_workers()
                continue
            if worker not in self._busy:  # killed in the meantime
                continue
            ledger, _, _ = self._busy[worker]
            if said is None:
                yield from self._break_off(worker, _ending(worker.end(patience=1.0)))
                continue
            self._busy[worker] = (ledger, when, True)
            for one in said:
                if not isinstance(one, str):
                    ledger.record(one)
                    yield from ledger.batch()
                    continue
                self._idle.append(worker)
                del self._busy[worker]
                self._again += ledger.break_off(one) if isinstance(one, Failed) else []
                yield ledger.rows

    def close(self, patience: float = 0.0) -> None:
        """End all workers; those that have nothing to do may take a moment for it."""
        until = time.monotonic() + patience
        for worker in self._idle:
            worker.tasks.put(None)
        for worker in [*self._idle, *self._busy]:
            worker.end(max(until - time.monotonic(), 0.0))
        self._idle, self._busy = [], {}
        if self._janitor is not None:
            self._janitor.end()

    def _assign(self) -> Iterator[list[Row]]:
        """Give chunks to idle workers; workers are started when there are chunks for them."""
        cloudpickle = require("cloudpickle", extra="all")  # functions of scripts and notebooks travel by value
        while len(self._busy) < self._workers:
            chunk = self._again.pop() if self._again else next(self._chunks, None)
            if chunk is None:
                return
            ledger = Ledger(chunk)
            try:
                task = cloudpickle.dumps((self._compute, chunk))
            except Exception as error:
                message = f"cannot be sent to a worker process, only run in this one (n_jobs=None): {raised(error)}"
                self._again += ledger.break_off(message)
                if ledger.rows:
                    yield ledger.rows
                continue
            if not self._idle:
                self._janitor = self._janitor or _Janitor()
                self._idle.append(_Worker(self._events, self._limits, self._workers))
                self._janitor.note("+", self._idle[-1])
            worker = self._idle.pop()
            self._busy[worker] = (ledger, time.monotonic(), False)
            worker.tasks.put(task)

    def _check_workers(self) -> Iterator[list[Row]]:
        """End workers that exceed the time limit, and find those that ended without closing their pipes."""
        now, seconds = time.monotonic(), self._limits.seconds or math.inf
        for worker, (_, since, started) in list(self._busy.items()):
            if not self._events.empty():
                return
            if now - since > (seconds if started else max(seconds, _START)):
                worker.end()
                yield from self._break_off(worker, f"TimeoutError: no value after {seconds:g} s (cell_timeout)")
            elif worker.process.poll() is not None and now - since > _GRACE:
                yield from self._break_off(worker, _ending(worker.end()))

    def _break_off(self, worker: _Worker, message: str) -> Iterator[list[Row]]:
        ledger, _, _ = self._busy.pop(worker)
        assert self._janitor is not None
        self._janitor.note("-", worker)
        self._again += ledger.break_off(message)
        if ledger.rows:
            yield ledger.rows


def _ending(code: int) -> str:
    if code >= 0:
        return f"WorkerError: the worker process ended with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"WorkerError: the worker process was killed by {name}"


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
