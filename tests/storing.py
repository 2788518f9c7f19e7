"""Cells and rows of the tests of the store, for processes that need nothing else of them."""

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
