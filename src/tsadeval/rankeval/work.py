"""The work itself: a chunk goes in, rows come out. Pure, so that any worker anywhere gives the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tsadeval.core.results import Row
from tsadeval.engine.cells import Working, versions
from tsadeval.engine.judge import Judge
from tsadeval.rankeval.cell import Cell, Chunk
from tsadeval.rankeval.generators import GENERATORS, draw, source

__all__ = ["compute"]


def compute(chunk: Chunk) -> Iterator[Row | Working]:
    """A row for every cell. Each series is drawn once, and a metric sees it once however many cells want that value."""
    mask = chunk.events.mask()
    facts = {
        "n": chunk.events.n,
        "events": len(chunk.events),
        "anomalous": chunk.events.points,
        "versions": versions(),
    }
    series: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in chunk.cells:
        series.setdefault((cell.generator, cell.q, cell.p, cell.sigma, cell.stream, _numbers(cell)), []).append(cell)
    for (generator, q, p, sigma, stream, numbers), cells in series.items():
        judge = Judge(mask, draw(GENERATORS[generator], mask, stream, numbers, q, p, sigma))
        outcomes: dict[tuple[str, str | None], Row] = {}
        for cell in cells:
            what = (cell.metric, cell.threshold)
            if what not in outcomes:
                yield Working(tuple(c for c in cells if (c.metric, c.threshold) == what))
                outcomes[what] = judge.outcome(cell.metric, cell.threshold, chunk.metrics[cell.metric])
            yield {**cell._asdict(), **facts, **outcomes[what]}


def _numbers(cell: Cell) -> tuple[int, ...]:
    name = (cell.case, cell.generator, cell.q, cell.p)
    return source(cell.stream, cell.seed or 0, cell.repeat, cell.sigma, name)
