"""Count, mean and spread of the scores of every run of equal labels, in a form that can be merged.

This is all that CCE needs of a series, so it is also the state of its streaming form: two neighbouring pieces
join into what one pass over both would have given.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tsadeval.core.inputs import Floats, Index, Scoring

# Beyond these magnitudes squares would overflow or vanish; such scores are scaled by a power of two first.
_HUGE, _TINY = 1e100, 1e-100


@dataclass(frozen=True, eq=False)
class RunMoments:
    """Moments of runs whose labels alternate, starting with `first_label`.

    `means` are measured from `origin` (the first score of all), because storing raw means would lose digits
    where scores have a large common offset. Everything is in units of 2**exponent.
    """

    first_label: int
    counts: Index
    means: Floats
    m2: Floats
    origin: float
    low: float
    high: float
    exponent: int = 0

    @classmethod
    def of(cls, data: Scoring) -> Self:
        """From checked and scanned scores: O(runs), but for scores of extreme magnitude."""
        largest = max(abs(data.low), abs(data.high))
        exponent = 0
        if largest > _HUGE or 0 < largest < _TINY:
            exponent = math.frexp(largest)[1]
            data = Scoring.of(data.truth.labels, np.ldexp(data.scores, -exponent))
        return cls(
            data.truth.first, data.truth.counts, data.means, data.m2, float(data.raw[0]), data.low, data.high, exponent
        )

    @classmethod
    def join(cls, pieces: Sequence[Self]) -> Self:
        """Return the moments of neighbouring pieces, in their order in time, as if scanned as one series."""
        if len(pieces) == 1:
            return pieces[0]
        # Pieces of nothing but zeros have no magnitude, so they must not decide the common unit.
        exponents = [p.exponent for p in pieces if p.low != 0 or p.high != 0]
        exponent = max(exponents, default=0)
        pieces = [p.in_units_of(exponent) for p in pieces]
        origin = pieces[0].origin
        counts = np.concatenate([p.counts for p in pieces])
        means = np.concatenate([p.means + (p.origin - origin) for p in pieces])
        m2 = np.concatenate([p.m2 for p in pieces])
        labels = np.concatenate([p.labels() for p in pieces])
        # Runs cut by a border between pieces become one again (Chan's formula, for any number of parts).
        starts = np.flatnonzero(np.diff(labels, prepend=-1))
        joined = np.add.reduceat(counts, starts)
        joined_means = np.add.reduceat(counts * means, starts) / joined
        parts = np.diff(starts, append=len(labels))
        whole = parts == 1
        joined_means[whole] = means[starts[whole]]  # exact where nothing is joined
        away = means - np.repeat(joined_means, parts)
        return cls(
            first_label=pieces[0].first_label,
            counts=joined,
            means=joined_means,
            m2=np.add.reduceat(m2 + counts * away * away, starts),
            origin=origin,
            low=min(p.low for p in pieces),
            high=max(p.high for p in pieces),
            exponent=exponent,
        )

    def __len__(self) -> int:
        return len(self.counts)

    def labels(self) -> Index:
        """Return the label of every run."""
        return (np.arange(len(self.counts)) + self.first_label) % 2

    def in_units_of(self, exponent: int) -> Self:
        """Return the same moments in other units."""
        by = self.exponent - exponent
        if by == 0:
            return self
        return replace(
            self,
            means=np.ldexp(self.means, by),
            m2=np.ldexp(self.m2, 2 * by),
            origin=math.ldexp(self.origin, by),
            low=math.ldexp(self.low, by),
            high=math.ldexp(self.high, by),
            exponent=exponent,
        )

    def rescaled(self, added: float = 0.0) -> tuple[Floats, Floats]:
        """Means and population variances of the runs once scores are scaled to [0, 1] by their extremes.

        `added` makes the range larger. Min-max scaling is affine, so the moments of the raw scores suffice. Scores that
        are all equal carry no information; they count as 0.5, which favours neither class.
        """
        width = self.high - self.low + math.ldexp(added, -self.exponent)
        if width == 0:
            return np.full(len(self.counts), 0.5), np.zeros(len(self.counts))
        means = ((self.origin - self.low) + self.means) / width
        return np.clip(means, 0.0, 1.0), self.m2 / self.counts / (width * width)

    def unscaled(self) -> tuple[Floats, Floats]:
        """Means and population variances of the runs in the scores' own units."""
        plain = self.in_units_of(0)
        return plain.origin + plain.means, plain.m2 / plain.counts
