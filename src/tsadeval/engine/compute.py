"""Metrics in a store: their version keys, their outcomes as rows, and their records in plans."""

from __future__ import annotations

import math
import traceback
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric, Outcome, Rule, parse_metric
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.engine.fingerprints import fingerprint
from tsadeval.errors import InvalidParameterError, TsadevalError
from tsadeval.thresholds.rules import parse_rule


def choose_metrics(metrics: Metrics, paper: tuple[str, ...] | None = None) -> tuple[Metric, ...]:
    """The metrics that a caller named, each with the version by which a store knows it.

    That is the revision of a metric of the library, and a key of the code of a user's function.
    """
    chosen = select_metrics(metrics, paper)
    return tuple(m if m.library else replace(m, version=fingerprint(m.function)) for m in chosen)


@cache
def _rule(text: str | None) -> Rule:
    return parse_rule(text or "best")  # a metric of scores has no rule, and any will do


def outcome_row(metric: Metric, scoring: Scoring, rule: str | None) -> Row:
    """Value of a metric, or the error it raised. `seconds` is its public call alone, without the threshold."""
    try:
        outcome = metric.run(scoring, _rule(rule), fresh=True)
    except Exception as error:
        return error_row(error)
    return stored(outcome)


def stored(outcome: Outcome) -> Row:
    """The columns of a row in a store: its cell has the rule that was asked for, `used` is the one that was used."""
    row = outcome._asdict()
    row["used"] = row.pop("rule")
    return row


def error_row(error: Exception) -> Row:
    """The row of an exception: what it is and, unless its message was written for users, where it was raised."""
    where = ""
    if not isinstance(error, TsadevalError) and (frames := traceback.extract_tb(error.__traceback__)):
        where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}, in {frames[-1].name})"
    message = f"{type(error).__name__}: {error}{where}"
    return {"value": math.nan, "seconds": math.nan, "status": "error", "message": message}


def record_of_metric(metric: Metric) -> dict[str, Any]:
    """All that a later reader of the store needs to know of a metric."""
    return {
        "name": str(metric),
        "kind": metric.kind,
        "direction": metric.direction,
        "version": metric.version,
        "library": metric.library,
    }


def metric_of_record(record: dict[str, Any]) -> Metric:
    """The metric that was recorded; a user's function is known by its name only and cannot be run."""
    if record["library"]:
        return replace(parse_metric(record["name"]), version=record["version"])

    def absent(y_true: Any, y_score: Any) -> float:
        raise InvalidParameterError(f"metric {record['name']} is known by its name only: name it in a run again")

    metric = Metric.from_function(absent, record["name"], record["direction"])
    return replace(metric, kind=record["kind"], version=record["version"])
