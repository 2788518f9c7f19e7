"""Adversaries: scorers that a good metric does not rate near a real detector.

- *no skill*: they look at nothing, not even at the series.
- *search*: several attempts without a look at the series, of which the best counts: random smooth scores, fixed shapes
  over time, and combs of evenly spaced alarms, as many and as long as the events, but not at their positions.
- *one-liner*: a line of code on the series itself. These have some skill; a benchmark on which they reach real
  detectors says little about detectors.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from tsadeval.core.inputs import Events, Floats
from tsadeval.core.names import Registry, import_object
from tsadeval.engine.fingerprints import fingerprint
from tsadeval.errors import InvalidParameterError
from tsadeval.scores.cache import checked_scores

Random = np.random.Generator
Kind = Literal["no skill", "search", "one-liner"]

SMOOTH = 100  # points over which random scores are averaged
WINDOW = 50  # of the moving variance


class Target(NamedTuple):
    """What an adversary may use: the series (None where the table has none) and its events."""

    values: Floats | None
    events: Events

    @property
    def n(self) -> int:
        """Number of points."""
        return self.events.n


@dataclass(frozen=True)
class Adversary:
    """A scorer to try metrics with. `scores(target, random)` returns a score for every point."""

    name: str
    kind: Kind
    summary: str
    scores: Callable[[Target, Random], Any] = field(repr=False, compare=False)
    version: str = "1"
    library: bool = True

    @classmethod
    def from_function(cls, function: Callable[[int, Random], Any], name: str = "") -> Self:
        """Make a scorer without skill of a function of the number of points and a random generator.

        >>> Adversary.from_function(lambda n, random: random.normal(size=n), "noise").kind
        'no skill'
        """
        name = name or getattr(function, "__name__", "adversary")
        summary = (getattr(function, "__doc__", None) or "An adversary of your own.").strip().partition("\n")[0]

        def scores(target: Target, random: Random) -> Any:
            return function(target.n, random)

        return cls(name, "no skill", summary, scores, fingerprint(function), library=False)

    def checked(self, target: Target, random: Random) -> Floats:
        """Its scores: one finite number for each point, or an error that names it."""
        return checked_scores(self.scores(target, random), f"adversary {self.name}", target.n)

    def __reduce__(self) -> Any:
        # One of the library is known by its name.
        if self.library:
            return _of_library, (self.name,)
        return Adversary, (self.name, self.kind, self.summary, self.scores, self.version, False)


def _of_library(name: str) -> Adversary:
    return ADVERSARIES[name]


def _moving_mean(values: Floats, window: int) -> Floats:
    """Centred mean over a window, cut at the ends of the series."""
    window = min(window, len(values))
    total = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    low, high = np.maximum(at - window // 2, 0), np.minimum(at - window // 2 + window, len(values))
    return np.asarray((total[high] - total[low]) / (high - low))


def _smooth(window: int) -> Callable[[Target, Random], Floats]:
    return lambda target, random: _moving_mean(random.random(target.n), window)


def _from_middle(target: Target, random: Random) -> Floats:
    return np.asarray(np.abs(np.arange(target.n) - (target.n - 1) / 2))


def _comb(times: int) -> Callable[[Target, Random], Floats]:
    """Evenly spaced alarms, as long as the median event, so many times as many as there are events."""

    def scores(target: Target, random: Random) -> Floats:
        count = max(times * len(target.events), 1)
        length = int(np.median(target.events.lengths)) if len(target.events) else 1
        period = max(target.n / count, 1.0)
        return np.asarray((np.arange(target.n) + 0.5) % period < length, np.float64) + 0.01 * random.random(target.n)

    return scores


def _series(target: Target) -> Floats:
    """Return the series; points without a value get the mean of the others, which is no anomaly."""
    if target.values is None:
        raise InvalidParameterError("this adversary needs the values of the series")
    known = np.isfinite(target.values)
    return np.where(known, target.values, target.values[known].mean() if known.any() else 0.0)


def _moving_variance(target: Target, random: Random) -> Floats:
    values = _series(target)
    values = values - values.mean()  # so that squares do not lose digits to a common offset
    return np.maximum(_moving_mean(values**2, WINDOW) - _moving_mean(values, WINDOW) ** 2, 0.0)


ADVERSARIES: Registry[Adversary] = Registry(
    "adversary",
    records=[
        Adversary(
            "uniform", "no skill", "Independent uniform random scores.", lambda target, random: random.random(target.n)
        ),
        Adversary("smooth", "no skill", f"Uniform random scores averaged over {SMOOTH} points.", _smooth(SMOOTH)),
        Adversary(
            "spikes",
            "no skill",
            "One point in a hundred is a spike, at random; the rest is small noise.",
            lambda target, random: 0.01 * random.random(target.n) + (random.random(target.n) < 0.01),
        ),
        Adversary("position", "no skill", "The position in time.", lambda target, random: np.arange(1.0 * target.n)),
        *(
            Adversary(f"smooth {n}", "search", f"Uniform random scores averaged over {n} points.", _smooth(n))
            for n in (10, 30, 100, 300, 1000)
        ),
        Adversary(
            "falling",
            "search",
            "The reverse of the position in time.",
            lambda target, random: -np.arange(1.0 * target.n),
        ),
        Adversary("middle", "search", "How near the middle of the series is.", lambda *given: -_from_middle(*given)),
        Adversary("ends", "search", "How far the middle of the series is.", _from_middle),
        *(
            Adversary(
                f"comb {n}",
                "search",
                f"Evenly spaced alarms, {n} for each event, as long as the median event.",
                _comb(n),
            )
            for n in (1, 2, 4)
        ),
        Adversary("moving variance", "one-liner", f"Variance of the series over {WINDOW} points.", _moving_variance),
        Adversary(
            "squared difference",
            "one-liner",
            "Square of the change from the point before.",
            lambda target, random: np.diff(_series(target), prepend=_series(target)[0]) ** 2,
        ),
    ],
)

AnyAdversary = str | Adversary | Callable[[int, Any], Any]


def choose_adversaries(own: Iterable[AnyAdversary] = ()) -> list[Adversary]:
    """Return the adversaries of the library, and a user's own."""
    found = dict(ADVERSARIES)
    for one in [own] if isinstance(own, (str, Adversary)) or callable(own) else own:
        if isinstance(one, str):
            one = Adversary.from_function(import_object(one, "adversary"), one)
        elif not isinstance(one, Adversary):
            one = Adversary.from_function(one)
        if one.name in found:
            raise InvalidParameterError(f"there is already an adversary named {one.name!r}: rename yours")
        found[one.name] = one
    return list(found.values())
