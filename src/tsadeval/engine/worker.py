"""Worker process: reads chunks from its standard input and writes results to its standard output, as pickles.

It is started by `tsadeval.engine.run` and ends with its input. What user code prints goes to standard error.
"""

import os
import pickle
import sys
from typing import Any

from tsadeval.engine.cells import Working, raised

END = "end"  # all rows of a chunk were sent


class Failed(str):
    """Why a chunk broke off, where the worker itself can go on."""


def main(memory: int | None) -> None:
    """Compute chunks until the input ends."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def say(what: Any) -> None:
        sink.write(pickle.dumps(what))
        sink.flush()

    while True:
        try:
            task = pickle.load(source)
        except (EOFError, pickle.UnpicklingError):  # the other side has gone
            return
        batch: list[Any] = []
        try:
            compute, chunk = pickle.loads(task)
            if memory is not None:  # only now: what is imported to read the first chunk is no cell's
                _limit(memory)
                memory = None
            say([])
            marked = False
            for said in compute(chunk):
                batch.append(said)
                marked = marked or isinstance(said, Working)
                if not marked or isinstance(said, Working):  # a row waits for what is begun right after it
                    say(batch)
                    batch = []
            say([*batch, END])
        except BaseException as error:  # sys.exit of a user's code is a finding about it
            say([*batch, Failed(raised(error))])
        sys.stdout.flush()


def _limit(memory: int) -> None:
    """Let the process have so many bytes more than it has now; an allocation beyond that raises MemoryError."""
    import resource

    pages = int(open("/proc/self/statm").read().split()[5])  # noqa: SIM115 - closed with the only reference
    resource.setrlimit(resource.RLIMIT_DATA, (pages * resource.getpagesize() + memory, resource.RLIM_INFINITY))
