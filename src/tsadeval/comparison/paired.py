"""Statistics of two detectors on the same series: tests, posterior probabilities, effect sizes, differences.

Every function takes values of which larger is better (negate a metric of which smaller is better) and uses the series
on which both detectors have a value; NaN marks a missing one.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval._optional import require
from tsadeval.core.events import Floats

# Up to so many series the null distribution is counted: without ties, and with ties or zeros. As SciPy chooses.
EXACT, EXACT_TIED = 50, 13
# Draws of up to so many rows in all are kept for the next table of the same size.
_KEPT = 1_000_000


def differences(x: Any, y: Any) -> Floats:
    """Subtract y from x, series by series; equal infinities differ by 0, and what is missing on either side is NaN.

    >>> differences([1.0, float("inf"), float("nan")], [0.5, float("inf"), 1.0])
    array([0.5, 0. , nan])
    """
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, a - b)


def wilcoxon(differences: Any) -> Floats:
    """Two-sided p-values of Wilcoxon's signed-rank test, one for each column of differences.

    Zero differences are dropped. The null distribution is exact up to 50 series (up to 13 where differences tie or are
    zero), else the normal approximation with its correction for ties is used. These are the choices of
    `scipy.stats.wilcoxon(method="auto")`. Where no difference is left the p-value is 1, and NaN where there is no
    series at all.
    """
    d = np.asarray(differences, np.float64)
    ranks = _ranks_of_sizes(d)
    up = np.where(d > 0, ranks, 0.0).sum(axis=0)
    n = np.count_nonzero(ranks, axis=0).astype(np.float64)
    # Mid-ranks lower the sum of squares by what the correction for ties takes off.
    squares = (ranks**2).sum(axis=0)  # of halves: exact
    spread = np.sqrt(squares) / 2
    tied = squares < n * (n + 1) * (2 * n + 1) / 6
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.abs(up - n * (n + 1) / 4) / spread
    special = require("scipy.special", extra="all")
    p = np.where(n > 0, np.minimum(2 * special.ndtr(-z), 1.0), 1.0)
    count = (~np.isnan(d)).sum(axis=0)
    exact = count <= np.where(tied | (n < count), EXACT_TIED, EXACT)
    if exact.any():
        p[exact] = _exact(ranks[:, exact], up[exact])
    return np.where(count > 0, p, math.nan)


def _ranks_of_sizes(d: Floats) -> Floats:
    """Rank the sizes of the differences in each column from the smallest on; 0 for no difference and missing ones."""
    sizes = np.ascontiguousarray(np.where(d == 0, math.nan, np.abs(d)).T)  # faster than along columns
    return np.asarray(np.nan_to_num(require("scipy.stats", extra="all").rankdata(sizes, axis=-1, nan_policy="omit")).T)


def _exact(ranks: Floats, up: Floats) -> Floats:
    """P-values from all signs that the ranks in each column could have had; a rank of 0 is none.

    Columns with the same ranks in another order share a distribution: without ties all of one size do.
    """
    doubled = np.sort(np.rint(2 * ranks).astype(np.int64), axis=0)  # mid-ranks are halves
    doubled, column = np.unique(doubled, axis=1, return_inverse=True)
    column = column.ravel()  # NumPy 2.0 alone gives it two axes
    width = int(doubled.sum(axis=0).max(initial=0)) + 1
    ways = np.zeros((doubled.shape[1], width))
    ways[:, 0] = 1.0
    for rank in doubled:
        before = np.arange(width) - rank[:, None]
        ways += np.where((before >= 0) & (rank[:, None] > 0), np.take_along_axis(ways, np.maximum(before, 0), 1), 0.0)
    to = np.cumsum(ways, axis=1)
    at = np.rint(2 * up).astype(np.int64)
    below, total = to[column, at], to[column, -1]
    above = total - below + ways[column, at]
    return np.asarray(np.minimum(1.0, 2 * np.minimum(below, above) / total))


class Posterior(NamedTuple):
    """Probabilities that the first detector is worse, practically equivalent, or better."""

    worse: float
    equivalent: float
    better: float


def bayesian_signed_rank(
    x: Any, y: Any, *, rope: float = 0.01, prior: float = 0.5, draws: int = 20_000, seed: int = 0
) -> Posterior:
    """Run the Bayesian signed-rank test (Benavoli et al., 2014 and 2017) with a region of practical equivalence.

    The distribution of differences has a Dirichlet-process prior, one pseudo-observation at zero. Each draw of the
    posterior gives the probabilities that the mean of two differences is below, inside or above the region; the result
    is how often each of the three was the largest. Differences of at most `rope` count as none; `prior` is the weight
    of the pseudo-observation.

    >>> bayesian_signed_rank([0.9, 0.8, 0.7, 0.9, 0.6], [0.5, 0.6, 0.4, 0.5, 0.3]).better > 0.95
    True
    """
    found = differences(x, y)
    found = found[~np.isnan(found)]
    if not len(found):
        return Posterior(math.nan, math.nan, math.nan)
    z = np.append(found, 0.0)
    order = np.argsort(z, kind="stable")
    rng = np.random.default_rng(seed)
    weights = np.append(np.ones(len(found)), prior)[order]
    wins = np.zeros(3)
    chunk = max(1, 2_000_000 // len(z))  # bounds the memory
    for start in range(0, draws, chunk):
        drawn = rng.dirichlet(weights, min(chunk, draws - start))
        regions = _regions(z[order], drawn, rope)
        largest = regions >= regions.max(axis=1, keepdims=True) - 1e-12
        wins += (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)  # equal ones share a draw
    return Posterior(*(wins / draws).tolist())


def _regions(z: Floats, weights: Floats, rope: float) -> Floats:
    """For each draw of weights the probabilities below, inside and above the region; z ascends.

    A mean of two differences that lies on a border counts half on either side.
    """
    below_or_at = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(weights, axis=1)], axis=1)

    def below(limit: float) -> Floats:
        left, right = np.searchsorted(z, limit - z, "left"), np.searchsorted(z, limit - z, "right")
        share = (below_or_at[:, left] + below_or_at[:, right]) / 2
        return np.asarray((weights * share).sum(axis=1))

    worse = below(-2 * rope)
    better = 1 - below(2 * rope)
    return np.column_stack([worse, 1 - worse - better, better])


def rank_biserial(x: Any, y: Any) -> float:
    """Matched-pairs rank-biserial correlation: the share of signed ranks in favour of x, less that in favour of y.

    The effect size that belongs to Wilcoxon's signed-rank test; zero differences are dropped, as there.
    """
    d = differences(x, y)
    ranks = _ranks_of_sizes(d)
    if not ranks.any():
        return math.nan if np.isnan(d).all() else 0.0
    return float(np.where(d > 0, ranks, -ranks).sum() / ranks.sum())


class Means(NamedTuple):
    """Means with the ends of their bootstrap intervals, and the number of series that they are based on."""

    mean: Any
    low: Any
    high: Any
    series: int


def paired_difference(x: Any, y: Any, *, level: float = 0.95, draws: int = 2000, seed: int = 0) -> Means:
    """By how much x is above y on average, over the series that both have; NaN where a difference is infinite."""
    d = differences(x, y)
    d = d[~np.isnan(d)]
    if not np.isfinite(d).all():
        return Means(math.nan, math.nan, math.nan, len(d))
    found = bootstrap(d, level, draws, seed)
    return Means(float(found.mean), float(found.low), float(found.high), len(d))


def bootstrap(values: Floats, level: float, draws: int, seed: int) -> Means:
    """Compute the mean of each column with its percentile bootstrap interval; NaN where there are no rows."""
    if not len(values):
        nothing = np.full(values.shape[1:], math.nan)
        return Means(nothing, nothing, nothing, 0)
    n = len(values)
    counts = _kept_counts(n, draws, seed) if n * draws <= _KEPT else _counts(n, draws, seed)
    # Draws are of positions: sorted columns give the same means for series in another order. The draws of one column
    # lie side by side, as quantiles of them are taken fastest.
    low, high = percentiles((np.sort(values, axis=0).T @ counts.T).T / n, level)
    return Means(values.mean(axis=0), low, high, n)


def percentiles(drawn: Floats, level: float) -> Floats:
    """Compute the ends of the interval that holds this share of what was drawn, along the first axis."""
    return np.asarray(np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0))


def _counts(n: int, draws: int, seed: int) -> NDArray[np.float32]:
    """How often each of n rows was drawn, a row per draw."""
    drawn = np.random.default_rng(seed).integers(0, n, (draws, n)) + n * np.arange(draws)[:, None]
    return np.bincount(drawn.ravel(), minlength=draws * n).reshape(draws, n).astype(np.float32)


# A board ranks by hundreds of metrics and groups of series, most of the same few sizes.
_kept_counts = lru_cache(maxsize=32)(_counts)
