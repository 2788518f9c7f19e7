"""Worker process: reads chunks from its standard input and writes results to its standard output.

It is started by `tsadeval.engine.pool` and ends with its input. What user code prints goes to standard error.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from typing import IO, Any

from tsadeval.engine.cells import Working, raised

END = "end"  # all rows of a chunk were sent
_SIZE = struct.Struct("<Q")


class Failed(str):
    """Why a chunk broke off, where the worker itself can go on."""


def send(pipe: IO[bytes], content: bytes) -> None:
    """Write one message."""
    pipe.write(_SIZE.pack(len(content)))
    pipe.write(content)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes:
    """Read one message, or raise EOFError where the other side has gone."""
    head = pipe.read(_SIZE.size)
    (size,) = _SIZE.unpack(head) if len(head) == _SIZE.size else (-1,)
    content = pipe.read(size) if size >= 0 else b""
    if len(content) != size:
        raise EOFError
    return content


def main(memory: int | None) -> None:
    """Compute chunks until the input ends."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    limited = False

    def say(what: Any) -> None:
        send(sink, pickle.dumps(what))

    while True:
        try:
            task = receive(source)
        except EOFError:
            return
        batch: list[Any] = []
        try:
            compute, chunk = pickle.loads(task)
            if memory is not None and not limited:  # only now: what is imported to read the first chunk is no cell's
                _limit(memory)
                limited = True
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
