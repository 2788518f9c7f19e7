"""HardTask: the record of a task of the suite `hard`, its quality, and label sets, noise and alarms to build it.

A task draws cases, each a name, labels and scores. In an *order* task the cases are models, worst first, and a metric
is scored by the order in which it puts them. In a *control* all cases but some for comparison should be judged equal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Bools, Events, Floats, Index, Scoring
from tsadeval.engine.fingerprints import fingerprint
from tsadeval.errors import InvalidInputError
from tsadeval.rankeval.quality import ranking_quality
from tsadeval.rankeval.series import random_stream

# What the tasks of the suite `hard` are made of: label sets, background noise, alarms and increasing maps.

POINTS = 10_000
MODELS = 6  # of a task of the library
ALARM = 4.0  # what an alarm adds to the score of a point, in standard deviations of the noise
FALSE_ALARMS = 45
PHIS = (0.0, 0.5, 0.9)

Random = np.random.Generator


def log_uniform(random: Random, low: float, high: float, size: int) -> Index:
    """Integers from low to high whose logarithms are uniform."""
    return np.rint(np.exp(random.uniform(np.log(low), np.log(high), size))).astype(np.int64)


def place(random: Random, lengths: Sequence[int] | Index, gap: int = 50, n: int = POINTS) -> Events:
    """Events of these lengths, in random order and at random places, at least `gap` normal points around each."""
    shuffled = random.permutation(np.asarray(lengths, np.int64))
    slack = n - int(shuffled.sum()) - gap * (len(shuffled) + 1)
    if slack < 0:
        raise ValueError(f"{len(shuffled)} events of {shuffled.sum()} points do not fit into {n} with gaps of {gap}")
    before = np.sort(random.integers(0, slack + 1, len(shuffled)))
    starts = before + gap * np.arange(1, len(shuffled) + 1) + np.cumsum(shuffled) - shuffled
    return Events(starts, starts + shuffled, n)


def usual_events(random: Random) -> Events:
    """Draw 40 events of 10 to 60 points, a tenth of the series."""
    return place(random, log_uniform(random, 10, 60, 40))


def ar_noise(random: Random, n: int, phi: float) -> Floats:
    """AR(1) noise of unit variance."""
    signal = require("scipy.signal", extra="all")
    shocks = random.normal(size=n)
    shocks[1:] *= np.sqrt(1 - phi * phi)
    return np.asarray(signal.lfilter([1.0], [1.0, -phi], shocks))


def spans(n: int, starts: Any, stops: Any) -> Bools:
    """Return True inside the half-open spans, which may overlap and are cut at the ends of the series."""
    edges = np.zeros(n + 1, np.int64)
    np.add.at(edges, np.clip(starts, 0, n), 1)
    np.add.at(edges, np.clip(stops, 0, n), -1)
    return np.asarray(np.cumsum(edges[:-1]) > 0)


def some_normal(random: Random, mask: Bools, count: int) -> Index:
    """Random normal points, all different."""
    return random.choice(np.flatnonzero(~mask), count, replace=False)


def rounded(values: Any) -> Index:
    """To the nearest integers."""
    return np.asarray(np.rint(values), np.int64)


# Strictly increasing, so that none changes which of two points scores higher.
MAPS: dict[str, Callable[[Floats], Floats]] = {
    "identity": lambda s: s,
    "exp(s)": np.exp,
    "sigmoid(2 s)": lambda s: 1 / (1 + np.exp(-2 * s)),
    "rank": lambda s: np.argsort(np.argsort(s)) / len(s),
    "s^3": lambda s: s**3,
    "exp(2 s)": lambda s: np.exp(2 * s),
    "softplus(s - 3)": lambda s: np.logaddexp(0, s - 3),
    "-1 / (s - min + 0.5)": lambda s: -1 / (s - s.min() + 0.5),
}


@dataclass(frozen=True, eq=False)
class Model:
    """One of the models on a label set, with a random stream of its own; all have background noise of one kind."""

    events: Events
    mask: Bools
    phi: float
    random: Random

    def noise(self) -> Floats:
        """Return the background."""
        return ar_noise(self.random, len(self.mask), self.phi)

    def scattered(self, inside: Bools, count: int) -> Bools:
        """Raise alarms at so many single points, at random places inside a mask."""
        alarms = np.zeros(len(inside), np.bool_)
        alarms[self.random.choice(np.flatnonzero(inside), count, replace=False)] = True
        return alarms

    def false_alarms(self, count: int = FALSE_ALARMS) -> Bools:
        """Raise alarms at single normal points at random places."""
        return self.scattered(~self.mask, count)

    def alarmed(self, alarms: Bools) -> Floats:
        """Return scores that raise these alarms."""
        return self.noise() + ALARM * alarms

    def shifted(self, level: float) -> Floats:
        """Return scores that are higher by `level` at anomalous points, with the usual false alarms."""
        return self.alarmed(self.false_alarms()) + level * self.mask

    def spans(self, starts: Any, stops: Any) -> Bools:
        """Return True inside half-open spans of the series."""
        return spans(len(self.mask), starts, stops)

    def first_part(self, share: float, which: Any = slice(None)) -> Bools:
        """Return the first part of (some) events, of this share of their length."""
        starts, lengths = self.events.starts[which], self.events.lengths[which]
        return self.spans(starts, starts + np.maximum(rounded(share * lengths), 1))

    def some(self, count: int) -> Index:
        """Choose some events."""
        return np.sort(self.random.choice(len(self.events), count, replace=False))


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

    def cases(self, repeat: int, seed: int) -> Sequence[Case]:
        """Draw the cases of one repeat, from a stream of its own."""
        return self.draw(random_stream(seed, "hard", self.name, repeat))

    @classmethod
    def from_function(cls, function: Callable[[Random], Any], name: str = "") -> Self:
        """Make an order task of a user's function, which returns labels and the scores of the models, worst first.

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
        draw, version = _models(function, name), fingerprint(function)
        return cls(name, summary, "order", draw, order_quality, version=version, function=function)

    def __reduce__(self) -> Any:
        # A task of the library is known by its name; what it is made of need not travel to other processes.
        if self.function is None:
            return _library_task, (self.name,)
        return HardTask.from_function, (self.function, self.name)


def _library_task(name: str) -> HardTask:
    from tsadeval.rankeval.suites.hard import HARD_TASKS

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
    summary: str,
    models: Mapping[Any, str],
    draw_events: Callable[[Random], Events] = usual_events,
    *,
    common: Callable[[Random], Sequence[Any]] | None = None,
    value_laden: bool = False,
) -> Callable[[Callable[..., Floats]], HardTask]:
    """Make a task of a function that returns the scores of one model.

    `models` has a step for each model, worst first, and says what it does: "a detector that ...". The function is
    called with the model and its step. `common` draws something else for each model, from the stream that they share.
    """
    words = {f"model {i}": text for i, text in enumerate(models.values(), 1)}

    def decorate(scores: Callable[..., Floats]) -> HardTask:
        def draw(random: Random) -> tuple[Bools, list[Floats]]:
            events = draw_events(random)
            mask, phi = events.mask(), float(random.choice(PHIS))
            drawn = [Model(events, mask, phi, stream) for stream in random.spawn(len(models))]
            steps = [models] if common is None else [models, common(random)]
            return mask, [scores(*given) for given in zip(drawn, *steps, strict=True)]

        name = scores.__name__
        cases = _models(draw, name)
        return HardTask(name, summary, "order", cases, order_quality, value_laden, describe=words.__getitem__)

    return decorate


def order_quality(values: Floats, names: Sequence[str], weights: Floats) -> Floats:
    """Mean over repeats of the mean of Spearman and Kendall; equal values share ranks, undefined ones rank last."""
    known = np.isfinite(values)
    lowest = np.min(np.where(known, values, np.inf), axis=1, keepdims=True)
    lowest = np.where(np.isfinite(lowest), lowest, 0.0)
    filled = np.where(known, values, lowest - np.maximum(np.abs(lowest), 1.0))
    found = ranking_quality(filled, np.arange(values.shape[1], dtype=np.float64))
    return np.asarray(weights @ ((found.spearman + found.kendall) / 2) / weights.sum(axis=1))
