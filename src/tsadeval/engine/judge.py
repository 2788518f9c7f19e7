"""Judge: one scoring before the metrics, whose outcomes become rows."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tsadeval.core.inputs import Bools, Floats, Prediction, Scoring
from tsadeval.core.metric import Metric, parse_call, parse_metric
from tsadeval.core.results import Row
from tsadeval.errors import TsadevalError
from tsadeval.thresholds.rules import Threshold, parse_threshold, quantile

__all__ = ["Judge", "first_alarms"]


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


class Judge:
    """One scoring, before the metrics."""

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
            return {**found, **failure(error)}
        return {**found, "status": "ok" if math.isfinite(found["value"]) else "undefined"}


def failure(error: Exception) -> Row:
    """What a row says of an exception: what it is and, unless its own words were chosen for a reader, where it was."""
    where = ""
    if not isinstance(error, TsadevalError) and (frames := traceback.extract_tb(error.__traceback__)):
        where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}, in {frames[-1].name})"
    return {"value": math.nan, "status": "error", "message": f"{type(error).__name__}: {error}{where}"}


def _timed(call: Callable[[Any, Any], tuple[float, str | None]], y: Any, other: Any) -> Row:
    start = time.perf_counter()
    value, message = call(y, other)
    return {"value": value, "seconds": time.perf_counter() - start, "message": message}
