"""The one loop from a chunk of cells to rows; keys of metrics and rules in stores, and their records in plans."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Decision, Metric, Rule, parse_metric
from tsadeval.core.names import names_code
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.engine.cells import Chunk, Working, group_cells, versions
from tsadeval.engine.fingerprints import fingerprint
from tsadeval.errors import InvalidParameterError, TsadevalError, describe_error
from tsadeval.thresholds.rules import fixed, parse_rule

NO_RULE: Rule = fixed(0.0)  # of a metric of scores: it is not asked


def choose_metrics(metrics: Metrics, paper: tuple[str, ...] | None = None) -> tuple[Metric, ...]:
    """Return the metrics that a caller named, each with the version by which a store knows it.

    That is the revision of a metric of the library, and a key of the code of a user's function.
    """
    chosen = select_metrics(metrics, paper)
    return tuple(m if m.library else replace(m, version=fingerprint(m.function)) for m in chosen)


def rule_key(rule: Rule) -> str:
    """Return the text by which a store knows a rule.

    It is the rule's own text where `parse_rule` makes the same rule of the library from it, also of the rules and
    metrics inside; else a key of its code follows, so that a user's rule is not taken for another of its name.
    """
    text = str(rule)
    try:
        known = parse_rule(text)
    except TsadevalError:
        known = None
    ours = type(rule).__module__.startswith("tsadeval.") and type(known) is type(rule)
    return text if ours and vars(known) == vars(rule) else f"{text}@{fingerprint(rule)}"


def rule_of_key(key: str) -> Rule:
    """Return the rule of a key; a user's rule is known by its name only and cannot be applied, nor is it imported."""
    return RecordedRule(key.partition("@")[0]) if "@" in key or names_code(key) else parse_rule(key)


@dataclass(frozen=True)
class RecordedRule:
    """A user's rule, as a store knows it."""

    text: str
    literal: ClassVar[bool] = False

    def decide(self, data: Scoring, metric: Metric) -> Decision:
        """Refuse: there is no code."""
        raise InvalidParameterError(f"threshold rule {self.text} is known by its name only: pass it in a run again")

    def __str__(self) -> str:
        return self.text


def compute(chunk: Chunk) -> Iterator[Row | Working]:
    """Yield a row for every cell of a chunk. What goes wrong with a scoring, or in a metric, is an error of its cells.

    A metric sees a scoring once, however many cells want that value.
    """
    for cells, make in chunk.scorings(chunk):
        yield Working(cells)
        try:
            scoring, facts = make()
        except Exception as error:  # a user's detector, task or adversary may raise whatever it raises
            lost = {"value": math.nan, "seconds": math.nan, "status": "error"}
            scoring, facts = None, {**lost, "message": describe_error(error)}
        facts = {**facts, "versions": versions()}
        if scoring is None:
            yield from ({**cell._asdict(), **facts} for cell in cells)
            continue
        found = {"n": scoring.n, "events": len(scoring.events), "anomalous": scoring.events.points, **facts}
        for (metric, rule), alike in group_cells(cells, lambda cell: (cell.metric, cell.rule)).items():
            yield Working(tuple(alike))
            outcome = _outcome(chunk.metrics[metric], scoring, chunk.rules[rule] if rule else NO_RULE, chunk.timed)
            yield from ({**cell._asdict(), **found, **outcome} for cell in alike)


def _outcome(metric: Metric, scoring: Scoring, rule: Rule, timed: bool) -> Row:
    """Return the value of a metric, or the error it raised; `seconds` is its public call alone, without the rule."""
    outcome = metric.attempt(scoring, rule, fresh=timed)._asdict()
    outcome["used"] = outcome.pop("rule")  # the cell has the one that was asked for
    return outcome if timed else {**outcome, "seconds": math.nan}


def record_of_metric(metric: Metric) -> dict[str, Any]:
    """All that a later reader of the store needs to know of a metric."""
    known = {name: getattr(metric, name) for name in ("kind", "direction", "version", "library")}
    return {"name": str(metric), **known}


def metric_of_record(record: dict[str, Any]) -> Metric:
    """Return the metric that was recorded; a user's function is known by its name only and cannot be run."""
    if record["library"]:
        return replace(parse_metric(record["name"]), version=record["version"])

    def absent(y_true: Any, y_score: Any) -> float:
        raise InvalidParameterError(f"metric {record['name']} is known by its name only: name it in a run again")

    metric = Metric.from_function(absent, record["name"], record["direction"])
    return replace(metric, kind=record["kind"], version=record["version"])
