"""Score generators: models of known quality, as records.

`q` is how much of the truth a model finds and `p` how many false alarms it gives. Two kinds of streams:

- *published*: one legacy `RandomState` per series, with the published seeds 2025, 2026, ...; a noisy series always
  has seed 42, whatever its repeat, so the repeats of a noisy model are one and the same series.
- *independent*: a `SeedSequence` of its own for every series, made from the seed and from all that names the series.
  So a series is the same whatever else is in the suite, whoever draws it, in whatever order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tsadeval.core.inputs import Bools, Floats
from tsadeval.core.names import Registry

Stream = Literal["published", "independent"]
Random = np.random.Generator | np.random.RandomState

QUALITIES = tuple(k / 10 for k in range(1, 11))
FALSE_ALARM_RATES = (0.01, 0.05, 0.1, 0.3)
FIRST_PUBLISHED_SEED = 2025
PUBLISHED_NOISE_SEED = 42


@dataclass(frozen=True)
class Generator:
    """A family of models: how a member's scores are drawn, which members there are, and whether noise is clipped."""

    name: str
    scores: Callable[[Bools, Random, float, float], Floats]
    summary: str
    q: tuple[float, ...] = QUALITIES
    p: tuple[float | None, ...] = (None,)
    clip: bool = True
    revision: int = 1  # raised with every change of the scores: a store does not reuse values of another revision


def _accurate(high: tuple[float, float], low: tuple[float, float]) -> Callable[[Bools, Random, float, float], Floats]:
    """Return a model that is right with probability q; `high` and `low` are (offset, width) of its scores."""

    def scores(mask: Bools, random: Random, q: float, p: float) -> Floats:
        right = random.random(len(mask)) <= q
        u = random.random(len(mask))
        return np.where(mask == right, high[0] + high[1] * u, low[0] + low[1] * u)

    return scores


def _counted(mask: Bools, random: Random, q: float, p: float) -> Floats:
    """Let a share q of the anomalous and a share p of the normal points score high; shares are exact."""
    scores = np.asarray(random.uniform(0, 0.1, len(mask)))
    for wanted, share, lowest in ((mask, q, 0.8), (~mask, p, 0.7)):
        points = np.flatnonzero(wanted)
        chosen = random.choice(points, int(share * len(points)), replace=False)
        scores[chosen] = random.uniform(lowest, 1.0, len(chosen))
    return scores


def _bernoulli(mask: Bools, random: Random, q: float, p: float) -> Floats:
    """Each anomalous point with probability q, each normal one with probability p, scores 0.1 + 0.9 U; others 0.1 U."""
    chosen = random.random(len(mask)) < np.where(mask, q, p)
    u = random.random(len(mask))
    return np.where(chosen, 0.1 + 0.9 * u, 0.1 * u)


GENERATORS: Registry[Generator] = Registry(
    "generator",
    records=[
        Generator("AccQ", _accurate((0.9, 0.1), (0.0, 0.05)), "right with probability q, scores far apart"),
        Generator("LowDisAccQ", _accurate((0.6, 0.1), (0.0, 0.4)), "right with probability q, scores close"),
        Generator("PreQ-NegP", _counted, "finds a share q, false alarms on a share p", p=FALSE_ALARM_RATES),
        # As the paper's text has them, with AccQ's normal points the right way round and noise that is not clipped.
        Generator("AccQ-text", _accurate((0.9, 0.1), (0.0, 0.05)), "AccQ, noise not clipped", clip=False),
        Generator("LowDisAccQ-text", _accurate((0.6, 0.1), (0.0, 0.4)), "LowDisAccQ, noise not clipped", clip=False),
        Generator(
            "PreQ-NegP-text",
            _bernoulli,
            "finds with probability q, false alarms with probability p, both 0.1 + 0.9 U",
            p=FALSE_ALARM_RATES,
            clip=False,
        ),
    ],
)


def numbers_of(seed: int, *name: Any) -> tuple[int, ...]:
    """Return the numbers of an independent stream, from the seed and from all that names it."""
    digest = hashlib.sha256(repr(name).encode()).digest()
    return (seed, *np.frombuffer(digest, "<u4").tolist())


def random_stream(seed: int, *name: Any) -> np.random.Generator:
    """Return the random stream of this name: the same whatever else is run."""
    return np.random.default_rng(np.random.SeedSequence(numbers_of(seed, *name)))


def source(stream: Stream, seed: int, repeat: int, sigma: float, name: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the numbers from which a series is drawn; series with equal parameters and equal numbers are equal."""
    if stream == "published":
        return (PUBLISHED_NOISE_SEED if sigma else FIRST_PUBLISHED_SEED + repeat,)
    return numbers_of(seed, *name, sigma, repeat)


def draw(
    generator: Generator, mask: Bools, stream: Stream, numbers: tuple[int, ...], q: float, p: float | None, sigma: float
) -> Floats:
    """Return the scores of one model on one label set."""
    random: Random = (
        np.random.RandomState(numbers[0])
        if stream == "published"
        else np.random.default_rng(np.random.SeedSequence(numbers))
    )
    scores = generator.scores(mask, random, q, 0.0 if p is None else p)
    if sigma:
        scores = scores + random.normal(0, sigma, len(mask))
        if generator.clip:
            scores = np.clip(scores, 0, 1)
    return scores
