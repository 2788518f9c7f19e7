"""Candidates: the metrics that are tried, from the registry or anybody's functions."""

from __future__ import annotations

import hashlib
import importlib
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from tsadeval.core.metric import Metric
from tsadeval.errors import InvalidParameterError
from tsadeval.evaluation import AnyMetric, Guest, select_metrics

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
        return [_guest(_imported(metric), metric)]
    chosen: list[Metric | Guest] = []
    for one in paper if metric == "paper" else [metric]:
        chosen += select_metrics(one)
    return [
        Candidate(str(m), m.kind, m.direction) if isinstance(m, Metric) else _guest(m, getattr(m, "__name__", ""))
        for m in chosen
    ]


def _imported(text: str) -> Guest:
    module, _, name = text.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise InvalidParameterError(f"cannot import {module!r} of metric {text!r}: {error}") from None
    except AttributeError:
        raise InvalidParameterError(f"metric {text!r}: module {module!r} has no {name!r}") from None
    if not callable(found):
        raise InvalidParameterError(f"metric {text!r} must be a function (y_true, y_score), but is {found!r}")
    return found  # type: ignore[no-any-return]


def _guest(function: Guest, name: str) -> Candidate:
    if not name:
        raise InvalidParameterError(f"{function!r} has no __name__ to stand for it in tables: set one, or wrap it")
    return Candidate(name, "guest", version=_fingerprint(function), function=function)


def _fingerprint(function: Callable[..., Any]) -> str:
    """A mark of a function's own code, so that a store does not mistake an edited metric for the old one.

    It does not see what the function calls; whoever edits a helper takes a new name or a new store.
    """
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    if code is None:
        return ""
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    known = [
        *(getattr(function, "__defaults__", None) or ()),
        *(getattr(function, "__kwdefaults__", None) or {}).values(),
        *cells,
    ]
    text = repr((_code(code), [_constant(value) for value in known]))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _code(code: types.CodeType) -> tuple[Any, ...]:
    return code.co_code.hex(), code.co_names, tuple(_constant(value) for value in code.co_consts)


def _constant(value: Any) -> str:
    """A text that is the same in every process, so no addresses and no order of hashes."""
    if isinstance(value, types.CodeType):
        return repr(_code(value))
    if isinstance(value, types.FunctionType):
        return repr(_code(value.__code__))
    if isinstance(value, (tuple, list)):
        return repr([_constant(v) for v in value])
    if isinstance(value, frozenset):
        return repr(sorted(_constant(v) for v in value))
    return repr(value) if isinstance(value, (int, float, complex, str, bytes, type(None))) else type(value).__name__
