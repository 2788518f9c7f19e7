"""Cells and rows of the tests of the store, for processes that need nothing else of them."""

import random
from typing import NamedTuple

from tsadeval.engine.cells import OUTCOME, Layout


class Cell(NamedTuple):
    name: str
    p: float | None
    repeat: int
    seed: int | None


LAYOUT = Layout(Cell, {"name": "string", "p": "float64", "repeat": "int32", "seed": "int64", **OUTCOME}, "a test")


def row(cell, value, status="ok", message=None):
    return {**cell._asdict(), "value": value, "status": status, "message": message, "versions": "1"}


def draws(seed, count=300):
    """Rows with many cells that come more than once, and the cells of a plan, of which some have no row."""
    rng = random.Random(seed)
    cells = [
        Cell(name, p, repeat, s)
        for name in ("a", "b", "a\0b", "")
        for p in (None, 0.1, 0.3)
        for repeat in range(4)
        for s in (None, 0, 7)
    ]
    rows = []
    for i in range(count):
        status = rng.choice(["ok", "error", "undefined"])
        rows.append(row(rng.choice(cells), float(i), status, f"number {i}"))
    plan = rng.sample(cells, len(cells) * 2 // 3)
    return rows, plan
