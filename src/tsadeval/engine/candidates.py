"""Candidates: the metrics that are tried, from the registry or anybody's functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from tsadeval.core.metric import Metric
from tsadeval.engine.identity import fingerprint, imported, version_of
from tsadeval.errors import InvalidParameterError
from tsadeval.evaluation.single import AnyMetric, Guest, select_metrics

__all__ = ["Candidate", "choose"]


@dataclass(frozen=True)
class Candidate:
    """A metric under trial. A guest (a function of labels and scores, higher is better) carries its function."""

    name: str
    kind: Literal["scores", "predictions", "guest"]
    direction: Literal["higher", "lower"] = "higher"
    version: str = ""
    function: Guest | None = field(default=None, compare=False)

    @property
    def bare(self) -> str:
        """The name without options."""
        return self.name.partition("(")[0]


def choose(metrics: AnyMetric | Iterable[AnyMetric], paper: Iterable[AnyMetric] = ("paper",)) -> tuple[Candidate, ...]:
    """The candidates a caller named: sets, names with options, functions, "module:function".

    `paper` is what the word "paper" stands for.
    """
    if isinstance(metrics, (str, Metric)) or callable(metrics):
        metrics = [metrics]
    found: dict[str, Candidate] = {}
    for metric in metrics:
        for candidate in _candidates(metric, paper):
            if found.setdefault(candidate.name, candidate) != candidate:
                raise InvalidParameterError(f"two different metrics are named {candidate.name!r}: rename one")
    if not found:
        raise InvalidParameterError("metrics is empty: name at least one, or leave them out for the usual ones")
    return tuple(found.values())


def _candidates(metric: AnyMetric, paper: Iterable[AnyMetric]) -> list[Candidate]:
    if isinstance(metric, str) and ":" in metric:
        return [_guest(imported(metric, "metric"), metric)]
    chosen: list[Metric | Guest] = []
    for one in paper if metric == "paper" else [metric]:
        chosen += select_metrics(one)
    return [
        Candidate(str(m), m.kind, m.direction, version_of(m))
        if isinstance(m, Metric)
        else _guest(m, getattr(m, "__name__", ""))
        for m in chosen
    ]


def _guest(function: Guest, name: str) -> Candidate:
    if not name:
        raise InvalidParameterError(f"{function!r} has no __name__ to stand for it in tables: set one, or wrap it")
    return Candidate(name, "guest", version=fingerprint(function), function=function)
