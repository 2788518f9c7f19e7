"""Cells whose computation goes wrong in all ways that user code can."""

import ctypes
import os
import re
import signal
import sys
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tsadeval.engine.cells import OUTCOME, Layout, Working


class Cell(NamedTuple):
    what: str
    number: int


LAYOUT = Layout(Cell, {"what": "string", "number": "int32", **OUTCOME}, "a test")


@dataclass(frozen=True)
class Chunk:
    cells: tuple[Cell, ...]
    marked: bool = True  # does the computation say what it is working on?


class Rude(BaseException):
    pass


def _raise():
    raise Rude("no Exception")


def _backtrack():
    """Hangs in C code that does not release the interpreter lock."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def _orphan():
    """Dies, but leaves a child that holds its pipes open."""
    if os.fork() == 0:
        time.sleep(600)
    os._exit(4)


def _grow():
    held = []
    while True:
        held.append(np.ones(1 << 20))


def _noise():
    os.write(1, b"\0" * 100)
    print("printed", flush=True)
    sys.stdin.read()


ACTIONS = {
    "fine": lambda: None,
    "segfault": lambda: ctypes.string_at(0),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "os._exit(0)": lambda: os._exit(0),
    "os._exit(3)": lambda: os._exit(3),
    "abort": os.abort,
    "orphan": _orphan,
    "sys.exit": lambda: sys.exit(0),
    "raise": _raise,
    "interrupt": lambda: signal.raise_signal(signal.SIGINT),
    "sleep": lambda: time.sleep(600),
    "backtrack": _backtrack,
    "grow": _grow,
    "chdir": lambda: os.chdir("/"),
    "noise": _noise,
}


def compute(chunk):
    for cell in chunk.cells:
        if chunk.marked:
            yield Working((cell,))
        ACTIONS[cell.what]()
        yield {**cell._asdict(), "value": float(cell.number), "status": "ok"}


def compute_list(chunk):
    """As before it could yield: all rows at the end."""
    return [row for row in compute(chunk) if not isinstance(row, Working)]
