"""Drift of scores: how far those of a window are from a reference, tested with as many points as are independent."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tsadeval.core.inputs import Floats

_BINS, _FAR = 10, 0.05  # tenths of the reference; distances below this do not matter
_MOST = 0.05  # the largest chance of a false warning in a window, however many a year are allowed
_FEWEST = 10  # independent points in a window, below which their number cannot be estimated


class Drift(dict[str, float]):
    """How far the last scores are from the reference.

    `ks` is the Kolmogorov-Smirnov distance. `p` is the chance that stationary scores get as far at any moment while a
    window passes, `level` what it must be below, and `independent` how many points of the window are. `stability` is
    the population stability index over tenths of the reference, which decides nothing.
    """

    @property
    def warning(self) -> str | None:
        """One line where the scores have drifted, else None."""
        if not (self["ks"] > _FAR and self["p"] < self["level"]):
            return None
        return (
            f"the scores have drifted from the reference: Kolmogorov-Smirnov distance {self['ks']:.3f} (far above "
            f"{_FAR}), p = {self['p']:.2g} with {self['independent']:.0f} independent points (warned below "
            f"{self['level']:.2g}); check the threshold"
        )


@dataclass(frozen=True, eq=False)
class DriftTest:
    """Compares scores with those of a reference, which are in the order of time."""

    reference: Floats

    @cached_property
    def ordered(self) -> Floats:
        """The scores of the reference, sorted."""
        return np.sort(self.reference)

    @cached_property
    def _memory(self) -> float:
        return _memory_of(self._ranks(self.reference))

    def _ranks(self, scores: Floats) -> Floats:
        """Return the shares of the reference that are not above each score."""
        return np.searchsorted(self.ordered, scores, side="right") / len(self.ordered)

    def measure(self, scores: Floats, level: float) -> Drift:
        """Measure how far scores are from the reference.

        The distance of neighbouring scores is that of fewer independent ones. And a window that moves is looked at
        again and again: of a distance d of so many points that x = d sqrt(points), the chance of 2 exp(-2 x^2) that one
        look has grows by 4 x^2 where any moment counts until the window has moved by its length (Pickands' constant of
        a process that is locally a random walk, which that of a moving sum is).
        """
        ranks = self._ranks(scores)
        memory = max(self._memory, _memory_of(ranks))
        first, second = len(self.reference) / memory, len(scores) / memory
        size = math.sqrt(first * second / (first + second))
        shares = np.arange(len(scores) + 1) / len(scores)
        before = np.searchsorted(self.ordered, np.sort(scores)) / len(self.ordered)
        ks = float(max((shares[1:] - np.sort(ranks)).max(), (before - shares[:-1]).max()))
        x = (size + 0.12 + 0.11 / size) * ks  # Stephens' correction of the limiting distribution
        p = min(8 * x * x * math.exp(-2 * x * x), 1.0) if x > math.sqrt(0.5) else 1.0
        p = p if second >= _FEWEST else math.nan
        # The stability index, over tenths of the reference.
        borders = np.quantile(self.ordered, np.linspace(0, 1, _BINS + 1)[1:-1])
        expected, found = (
            np.bincount(np.searchsorted(borders, values, side="right"), minlength=_BINS) / len(values)
            for values in (self.reference, scores)
        )
        low = 0.5 / max(len(self.reference), len(scores))  # so that an empty tenth has a logarithm
        expected, found = np.maximum(expected, low), np.maximum(found, low)
        stability = float(np.sum((found - expected) * np.log(found / expected)))
        return Drift(stability=stability, ks=ks, p=p, level=min(level, _MOST), independent=second)


def _memory_of(ranks: Floats) -> float:
    """Estimate how many points are worth one independent one, by which of them are above the middle.

    That is the sum of all autocorrelations, of which those from the first pair on whose sum is not positive are noise
    (Geyer's initial monotone sequence).
    """
    above = (ranks > ranks.mean()).astype(np.float64)
    above -= above.mean()
    spectrum = np.fft.rfft(above, 1 << (2 * len(above)).bit_length())
    shares = np.fft.irfft(spectrum.real**2 + spectrum.imag**2)[: len(above)]
    if shares[0] <= 0:
        return 1.0
    pairs = (shares[: len(above) // 2 * 2] / shares[0]).reshape(-1, 2).sum(axis=1)
    noise = np.flatnonzero(pairs <= 0)
    kept = np.minimum.accumulate(pairs[: noise[0] if len(noise) else None])
    return max(2 * float(kept.sum()) - 1, 1.0)
