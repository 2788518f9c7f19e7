"""Thresholds: how scores become binary predictions. Explicit always; no metric picks its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tsadeval.core.inputs import Bools, Scoring
from tsadeval.core.metric import parse_call
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.registry import Registry
from tsadeval.errors import InvalidParameterError

__all__ = ["Threshold", "fixed", "parse_threshold", "quantile"]


@dataclass(frozen=True)
class fixed:
    """Alarm where the score is above a given value.

    >>> str(fixed(0.5))
    'fixed(0.5)'
    """

    value: float

    def __post_init__(self) -> None:
        check_parameters("fixed", {"value": Number()}, {"value": self.value})

    def alarms(self, data: Scoring) -> Bools:
        """The predictions."""
        return np.asarray(data.scores > self.value)

    def __str__(self) -> str:
        return f"fixed({self.value!r})"


@dataclass(frozen=True)
class quantile:
    """Alarm where the score is above a quantile of all scores.

    >>> str(quantile(0.95))
    'quantile(0.95)'
    """

    p: float

    def __post_init__(self) -> None:
        check_parameters("quantile", {"p": Number(0, 1)}, {"p": self.p})

    def alarms(self, data: Scoring) -> Bools:
        """The predictions: NumPy's linear quantile, and strictly above it, as in the paper's benchmark."""
        return np.asarray(data.scores > np.quantile(data.scores, self.p))

    def __str__(self) -> str:
        return f"quantile({self.p!r})"


Threshold = fixed | quantile

_KINDS: Registry[type[fixed] | type[quantile]] = Registry("threshold")
_KINDS.add("fixed", fixed)
_KINDS.add("quantile", quantile)


def parse_threshold(text: str | Threshold) -> Threshold:
    """The threshold that a text like `quantile(0.95)` names.

    >>> parse_threshold("fixed(0.3)")
    fixed(value=0.3)
    """
    if isinstance(text, (fixed, quantile)):
        return text
    if not isinstance(text, str):
        raise InvalidParameterError(f"threshold must be a text like 'quantile(0.95)', but is {text!r}")
    name, positional, options = parse_call(text)
    kind = _KINDS[name]
    try:
        return kind(*positional, **options)
    except TypeError:
        raise InvalidParameterError(f"cannot read {text!r}: write {name}(number)") from None
