"""HardTask: a task of the suite `hard` as a record, and how its values become one number.

A task draws cases, each a name, labels and scores. In an *order* task the cases are models, worst first, and a metric
is scored by the order in which it puts them. In a *control* all cases but some for comparison should be judged equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from tsadeval.core.inputs import Bools, Floats, Scoring
from tsadeval.engine.identity import fingerprint
from tsadeval.errors import InvalidInputError
from tsadeval.rankeval.hard.parts import Random
from tsadeval.rankeval.quality import ranking_quality

__all__ = ["Case", "HardTask", "control", "order_task", "task_stream"]


class Case(NamedTuple):
    """Labels and scores that a metric judges."""

    name: str
    labels: Bools
    scores: Floats


Drawing = Callable[[Random], Sequence[Case]]
# (values by repeat and case, names of the cases, weights by resample and repeat) -> a number per resample.
Quality = Callable[[Floats, Sequence[str], Floats], Floats]
# (values by repeat and case, names of the cases) -> how far each nuisance of a control moves the value.
Changes = Callable[[Floats, Sequence[str]], dict[str, float]]


class ControlQuality(Protocol):
    """How equal the cases of a control are judged, and how far each nuisance moves the value."""

    def __call__(self, values: Floats, names: Sequence[str], weights: Floats) -> Floats: ...

    def changes(self, values: Floats, names: Sequence[str]) -> dict[str, float]: ...


@dataclass(frozen=True)
class HardTask:
    """A task of the suite `hard`.

    Attributes
    ----------
    name, summary : str
        The summary says in one sentence what the task models.
    kind : "order" or "control"
    value_laden : bool
        The order is a preference that not everybody shares; reported apart.
    draw : function (numpy Generator) -> cases
    quality : function
        What the values of a metric on these cases are worth: 1 is perfect.
    changes : function, optional
        Of a control: how far each of its nuisances moves the value of a metric.
    version : str
    """

    name: str
    summary: str
    kind: Literal["order", "control"]
    draw: Drawing = field(repr=False, compare=False)
    quality: Quality = field(repr=False, compare=False)
    value_laden: bool = False
    changes: Changes | None = field(default=None, repr=False, compare=False)
    # Raised when what it draws changes, so that stores do not reuse old values; of a user's task a key of its code.
    version: str = "1"
    # Of a case, by its name: what the detector does (of an order task) or what was changed (of a control), in words.
    describe: Callable[[str], str] = field(default=str, repr=False, compare=False)
    function: Callable[[Random], Any] | None = field(default=None, repr=False, compare=False)  # a user's own

    @property
    def part(self) -> str:
        """The part of the index to which it belongs."""
        return "preference" if self.value_laden else self.kind

    @classmethod
    def from_function(cls, function: Callable[[Random], Any], name: str = "") -> HardTask:
        """The order task that a user's function is: it returns labels and the scores of the models, worst first.

        >>> import numpy as np
        >>> def louder(random):
        ...     '''A signal that grows.'''
        ...     labels = np.arange(200) // 20 % 5 == 2
        ...     return labels, [level * labels + random.normal(size=200) for level in (1, 2, 3)]
        >>> task = HardTask.from_function(louder)
        >>> task.name, task.summary, [case.name for case in task.draw(np.random.default_rng(0))]
        ('louder', 'A signal that grows.', ['model 1', 'model 2', 'model 3'])
        """
        name = name or getattr(function, "__name__", "task")
        summary = (getattr(function, "__doc__", None) or "A task of your own.").strip().partition("\n")[0]
        return cls(
            name,
            summary,
            "order",
            _models(function, name),
            order_quality,
            version=fingerprint(function),
            function=function,
        )

    def __reduce__(self) -> Any:
        # A task of the library is known by its name; what it is made of need not travel to other processes.
        if self.function is None:
            return _library_task, (self.name,)
        return HardTask.from_function, (self.function, self.name)


def _library_task(name: str) -> HardTask:
    from tsadeval.rankeval.hard import HARD_TASKS

    return HARD_TASKS[name]


def _models(function: Callable[[Random], Any], name: str) -> Drawing:
    """Cases from a function that returns labels and scores, worst first."""

    def draw(random: Random) -> list[Case]:
        drawn = function(random)
        if not isinstance(drawn, tuple) or len(drawn) != 2 or len(drawn[1]) < 2:
            raise InvalidInputError(
                f"task {name} must return a pair: the labels and a list of the scores of at least two models, worst "
                f"first; it returned {type(drawn).__name__}"
            )
        checked = [Scoring.of(drawn[0], scores) for scores in drawn[1]]
        return [Case(f"model {i}", data.truth.mask, data.scores) for i, data in enumerate(checked, 1)]

    return draw


def order_task(
    summary: str, does: Sequence[str], *, value_laden: bool = False
) -> Callable[[Callable[[Random], Any]], HardTask]:
    """Make a task of a function that draws labels and the scores of the models, worst first.

    `does` says what each of them does: "a detector that ...".
    """
    words = {f"model {i}": text for i, text in enumerate(does, 1)}

    def decorate(function: Callable[[Random], Any]) -> HardTask:
        name = function.__name__
        draw = _models(function, name)
        return HardTask(name, summary, "order", draw, order_quality, value_laden, describe=words.__getitem__)

    return decorate


def control(summary: str, quality: ControlQuality, describe: Callable[[str], str]) -> Callable[[Drawing], HardTask]:
    """Make a task of a function that draws the cases of a control; `describe` says what was changed in a case."""

    def decorate(function: Drawing) -> HardTask:
        name, changes = function.__name__, quality.changes
        return HardTask(name, summary, "control", function, quality, changes=changes, describe=describe)

    return decorate


def task_stream(task: str, repeat: int, seed: int = 0) -> Random:
    """The random stream of one repeat of a task: the same whatever else is run; its models have children of it."""
    digest = hashlib.sha256(repr(("hard", task, repeat)).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence((seed, *np.frombuffer(digest, "<u4").tolist())))


def order_quality(values: Floats, names: Sequence[str], weights: Floats) -> Floats:
    """Mean over repeats of the mean of Spearman and Kendall; equal values share ranks, undefined ones rank last."""
    known = np.isfinite(values)
    lowest = np.min(np.where(known, values, np.inf), axis=1, keepdims=True)
    lowest = np.where(np.isfinite(lowest), lowest, 0.0)
    filled = np.where(known, values, lowest - np.maximum(np.abs(lowest), 1.0))
    found = ranking_quality(filled, np.arange(values.shape[1], dtype=np.float64))
    return np.asarray(weights @ ((found.spearman + found.kendall) / 2) / weights.sum(axis=1))
