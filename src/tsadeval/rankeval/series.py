"""Series of the paper's suites: label cases, and generators of scores of models of known quality.

The synthetic labels come from the published legacy seeds, so `RandomState` is right there. The real ones are read where
a data folder is given, by argument or by the environment variable TSADEVAL_DATA.

Of a generator `q` is how much of the truth a model finds and `p` how many false alarms it gives. Two kinds of streams:

- *published*: one legacy `RandomState` per series, with the published seeds 2025, 2026, ...; a noisy series always
  has seed 42, whatever its repeat, so the repeats of a noisy model are one and the same series.
- *independent*: a `SeedSequence` of its own for every series, made from the seed and from all that names the series.
  So a series is the same whatever else is in the suite, whoever draws it, in whatever order.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tsadeval.core.inputs import Bools, Events, Floats
from tsadeval.core.names import Registry
from tsadeval.datasets.loading import has_labels, load
from tsadeval.datasets.readers import VARIABLE
from tsadeval.errors import InvalidInputError

Stream = Literal["published", "independent"]
Random = np.random.Generator | np.random.RandomState

QUALITIES = tuple(k / 10 for k in range(1, 11))
FALSE_ALARM_RATES = (0.01, 0.05, 0.1, 0.3)
FIRST_PUBLISHED_SEED = 2025
PUBLISHED_NOISE_SEED = 42


@dataclass(frozen=True)
class LabelCase:
    """A label set: its name and length, the seed's draw that makes it or the data set that has it."""

    name: str
    n: int
    draw: Callable[[], Events] | None = None
    dataset: str = ""

    @property
    def synthetic(self) -> bool:
        """True if the labels are drawn from a seed."""
        return not self.dataset

    def present(self, data: Path | None) -> bool:
        """Return True if the events are available: synthetic, or in this data folder."""
        return self.synthetic or (data is not None and has_labels(self.dataset, data=data))

    def events(self, data: Path | None = None) -> Events:
        """Return the events of its labels."""
        if self.draw is not None:
            return self.draw()
        if not self.present(data):
            where = "no data folder was given" if data is None else f"there is no {self.dataset} in {data}"
            raise InvalidInputError(f"the labels of {self.name} are missing: {where}; pass data= or set {VARIABLE}")
        found = Events.of(load(self.dataset, data=data, features=False, verify=False).test_labels)
        if found.n != self.n:
            raise InvalidInputError(f"{self.name}: expected {self.n} labels, but {data} holds {found.n}")
        return found


def synthetic_events(*, n: int, segments: int, longest: int, shortest: int, seed: int) -> Events:
    """Draw events of random lengths at random places, as the published code does."""
    random = np.random.RandomState(seed)
    mask = np.zeros(n, np.bool_)
    for _ in range(segments):
        start = random.randint(0, n - longest)
        mask[start : start + max(random.randint(1, longest + 1), shortest)] = True
    return Events.of(mask)


# Segments of the cases of 100,000 points, name of their lengths, longest, shortest. Cases of 10,000 points have a tenth
# of the segments, as far as one is left. The i-th of all has seed 42 + i.
_LONG = [
    (20, "50L", 60, 40),
    (200, "50L", 60, 40),
    (20, "50H", 99, 1),
    (200, "50H", 99, 1),
    (50, "20L", 30, 10),
    (500, "20L", 30, 10),
    (50, "20H", 39, 1),
    (500, "20H", 39, 1),
    (10, "100L", 110, 90),
    (100, "100L", 110, 110),
    (10, "100H", 199, 1),
    (100, "100H", 199, 1),
    (2, "500L", 550, 450),
    (20, "500L", 550, 450),
    (2, "500H", 999, 1),
    (20, "500H", 999, 1),
]
_TABLE = [(100, *line) for line in _LONG] + [(10, line[0] // 10, *line[1:]) for line in _LONG if line[0] >= 10]
_SYNTHETIC = [
    LabelCase(
        f"{thousands}k-{segments}seg-{lengths}",
        1000 * thousands,
        partial(synthetic_events, n=1000 * thousands, segments=segments, longest=longest, shortest=shortest, seed=seed),
    )
    for seed, (thousands, segments, lengths, longest, shortest) in enumerate(_TABLE, 42)
]
_REAL = [
    LabelCase("MSL", 73_729, dataset="msl"),
    LabelCase("SMD-1-1", 28_479, dataset="smd/1-1"),
    LabelCase("SMD-2-1", 23_694, dataset="smd/2-1"),
    LabelCase("SMD-3-1", 28_700, dataset="smd/3-1"),
    LabelCase("PSM", 87_841, dataset="psm"),
    LabelCase("SWaT", 449_919, dataset="swat"),
    LabelCase("Creditcard", 284_807, dataset="creditcard"),
]
CASES: Registry[LabelCase] = Registry("label case", records=[*_SYNTHETIC, *_REAL])
SYNTHETIC, REAL = (tuple(case.name for case in cases) for cases in (_SYNTHETIC, _REAL))

# Scores of models.


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
    published = (PUBLISHED_NOISE_SEED if sigma else FIRST_PUBLISHED_SEED + repeat,)
    return published if stream == "published" else numbers_of(seed, *name, sigma, repeat)


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
