"""What the tasks of the suite `hard` are made of: label sets, background noise, alarms and increasing maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval._optional import require
from tsadeval.core.events import Events, Index
from tsadeval.core.inputs import Bools, Floats

__all__ = [
    "ALARM",
    "MAPS",
    "MODELS",
    "PHIS",
    "Models",
    "Random",
    "ar_noise",
    "log_uniform",
    "many_events",
    "place",
    "rounded",
    "some_normal",
    "spans",
]

POINTS = 10_000
MODELS = 6
ALARM = 4.0  # what an alarm adds to the score of a point, in standard deviations of the noise
FALSE_ALARMS = 45
PHIS = (0.0, 0.5, 0.9)

Random = np.random.Generator


def log_uniform(random: Random, low: float, high: float, size: int) -> Index:
    """Integers from low to high whose logarithms are uniform."""
    return np.rint(np.exp(random.uniform(np.log(low), np.log(high), size))).astype(np.int64)


def many_events(random: Random) -> Index:
    """The lengths of the events where a task does not need others: 40 of 10 to 60 points, a tenth of the series."""
    return log_uniform(random, 10, 60, 40)


def place(random: Random, lengths: Sequence[int] | Index, gap: int = 50, n: int = POINTS) -> Events:
    """Events of these lengths, in random order and at random places, at least `gap` normal points around each."""
    shuffled = random.permutation(np.asarray(lengths, np.int64))
    slack = n - int(shuffled.sum()) - gap * (len(shuffled) + 1)
    if slack < 0:
        raise ValueError(f"{len(shuffled)} events of {shuffled.sum()} points do not fit into {n} with gaps of {gap}")
    before = np.sort(random.integers(0, slack + 1, len(shuffled)))
    starts = before + gap * np.arange(1, len(shuffled) + 1) + np.cumsum(shuffled) - shuffled
    return Events(starts, starts + shuffled, n)


def ar_noise(random: Random, n: int, phi: float) -> Floats:
    """AR(1) noise of unit variance."""
    signal = require("scipy.signal", extra="all")
    shocks = random.normal(size=n)
    shocks[1:] *= np.sqrt(1 - phi * phi)
    return np.asarray(signal.lfilter([1.0], [1.0, -phi], shocks))


def spans(n: int, starts: Any, stops: Any) -> Bools:
    """True inside the half-open spans, which may overlap and are cut at the ends of the series."""
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


def _ranks(scores: Floats) -> Floats:
    return np.asarray(np.argsort(np.argsort(scores)) / len(scores))


# Strictly increasing, so that none changes which of two points scores higher.
MAPS: dict[str, Callable[[Floats], Floats]] = {
    "identity": lambda s: s,
    "exp(s)": np.exp,
    "sigmoid(2 s)": lambda s: 1 / (1 + np.exp(-2 * s)),
    "rank": _ranks,
    "s^3": lambda s: s**3,
    "exp(2 s)": lambda s: np.exp(2 * s),
    "softplus(s - 3)": lambda s: np.logaddexp(0, s - 3),
    "-1 / (s - min + 0.5)": lambda s: -1 / (s - s.min() + 0.5),
}


class Models:
    """Six models on one label set: each has a random stream of its own, all have background noise of one kind."""

    def __init__(self, random: Random, events: Events) -> None:
        self.events = events
        self.n = events.n
        self.mask = events.mask()
        self.phi = float(random.choice(PHIS))
        self.streams = random.spawn(MODELS)

    def noise(self, model: int) -> Floats:
        """The background of a model."""
        return ar_noise(self.streams[model], self.n, self.phi)

    def false_alarms(self, model: int, count: int = FALSE_ALARMS) -> Bools:
        """Single normal points at random places."""
        alarms = np.zeros(self.n, np.bool_)
        alarms[some_normal(self.streams[model], self.mask, count)] = True
        return alarms

    def alarmed(self, model: int, alarms: NDArray[Any]) -> Floats:
        """Scores of a model that raises these alarms."""
        return self.noise(model) + ALARM * alarms

    def shifted(self, model: int, level: float) -> Floats:
        """Scores of a model whose anomalous points are higher by `level`, with the usual false alarms."""
        return self.alarmed(model, self.false_alarms(model)) + level * self.mask

    def first_part(self, share: float, which: Any = slice(None)) -> Bools:
        """The first part of (some) events, of this share of their length."""
        starts, lengths = self.events.starts[which], self.events.lengths[which]
        return spans(self.n, starts, starts + np.maximum(rounded(share * lengths), 1))

    def some(self, model: int, count: int) -> Index:
        """Some events, chosen anew for each model."""
        return np.sort(self.streams[model].choice(len(self.events), count, replace=False))
