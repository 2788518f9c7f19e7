"""The work itself: a chunk goes in, rows come out. Pure, so that any worker anywhere gives the same rows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from tsadeval.benchmark.generators import GENERATORS, draw, source
from tsadeval.core.inputs import Bools, Floats, Prediction, Scoring
from tsadeval.core.metric import Metric, parse_call, parse_metric
from tsadeval.core.results import Row
from tsadeval.engine.cell import Cell, Chunk, versions
from tsadeval.thresholds import Threshold, parse_threshold, quantile

__all__ = ["compute", "first_alarms"]


@dataclass(frozen=True)
class first_alarms:
    """Alarm above the first of several quantiles that leaves any alarm: some published metrics got this ladder."""

    quantiles: tuple[float, ...]

    def predict(self, data: Scoring, metric: Metric) -> tuple[Prediction, str]:
        """The same alarms for every metric."""
        for p in self.quantiles:
            prediction, how = quantile(p).predict(data, metric)
            if prediction.alarms.has(1):
                break
        return prediction, how


@cache
def _rule(text: str) -> Threshold:
    name, positional, _ = parse_call(text)
    return first_alarms(tuple(positional)) if name == "first_alarms" else parse_threshold(text)


@cache
def _metric(text: str) -> Metric:
    return parse_metric(text)


def compute(chunk: Chunk) -> list[Row]:
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
    rows: list[Row] = []
    for (generator, q, p, sigma, stream, numbers), cells in series.items():
        judge = _Judge(mask, draw(GENERATORS[generator], mask, stream, numbers, q, p, sigma))
        outcomes: dict[tuple[str, str | None], Row] = {}
        for cell in cells:
            what = (cell.metric, cell.threshold)
            if what not in outcomes:
                outcomes[what] = judge.outcome(cell.metric, cell.threshold, chunk.metrics[cell.metric])
            rows.append({**cell._asdict(), **facts, **outcomes[what]})
    return rows


def _numbers(cell: Cell) -> tuple[int, ...]:
    name = (cell.case, cell.generator, cell.q, cell.p)
    return source(cell.stream, cell.seed or 0, cell.repeat, cell.sigma, name)  # type: ignore[arg-type]


class _Judge:
    """One series, before the metrics."""

    def __init__(self, mask: Bools, scores: Floats) -> None:
        self.mask = mask
        self.scores = scores
        self.scoring = Scoring.of(mask, scores)

    def outcome(self, name: str, threshold: str | None, function: Callable[..., float] | None) -> Row:
        """What a metric says, or what it stumbled over. `seconds` is its public call alone, without the threshold."""
        found: Row = {"value": math.nan, "seconds": math.nan, "alarms": None, "message": None}
        try:
            if function is not None:
                # A guest may change what it gets.
                found |= _timed(
                    lambda y, s: (float(function(y, s)), None), self.mask.astype("int64"), self.scores.copy()
                )
            elif threshold is None:
                metric = _metric(name)
                found |= _timed(lambda y, s: metric.outcome(Scoring.of(y, s)), self.mask, self.scores)
            else:
                metric = _metric(name)
                prediction, _ = _rule(threshold).predict(self.scoring, metric)
                found["alarms"] = prediction.predicted.points
                found |= _timed(lambda y, a: metric.outcome(Prediction.of(y, a)), self.mask, prediction.alarms.labels)
        except Exception as error:  # whatever a metric raises is a finding about it, not the end of the run
            return {**found, "status": "error", "message": f"{type(error).__name__}: {error}"}
        return {**found, "status": "ok" if math.isfinite(found["value"]) else "undefined"}


def _timed(call: Callable[[Any, Any], tuple[float, str | None]], y: Any, other: Any) -> Row:
    start = time.perf_counter()
    value, message = call(y, other)
    return {"value": value, "seconds": time.perf_counter() - start, "message": message}
