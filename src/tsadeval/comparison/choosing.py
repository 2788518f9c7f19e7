"""Choice of a detector by a metric on labelled series: what it gains on other series, by what counts there.

Values are arrays of metrics, series and detectors, higher is better; curves are arrays of series, detectors and the
thresholds that are tried (one, where a criterion has no threshold to choose).
"""

from collections.abc import Iterator

import numpy as np

from tsadeval.comparison.statistics import resample
from tsadeval.core.inputs import Floats

SAME = 1e-9  # means that differ by less are equal: else rounding errors decide
HALVES = (slice(0, None, 2), slice(1, None, 2))  # of the series in the order of their names


def with_worst(values: Floats) -> Floats:
    """Return values in which the undefined ones are the worst of their series; 0 where none is defined.

    >>> with_worst(np.array([[0.5, np.nan, 0.2], [np.nan, np.nan, np.nan]])).tolist()
    [[0.5, 0.2, 0.2], [0.0, 0.0, 0.0]]
    """
    finite = np.where(np.isfinite(values), values, np.nan)
    worst = np.fmin.reduce(finite, axis=-1, keepdims=True)
    return np.asarray(np.nan_to_num(np.where(np.isnan(finite), worst, finite)))


def orders(m: Floats) -> Floats:
    """Return for every pair of detectors which is preferred: 1 the first, -1 the second, 0 neither."""
    i, j = np.triu_indices(m.shape[-1], 1)
    scale = np.abs(m).max(axis=-1, keepdims=True, initial=0.0)
    apart = m[..., i] - m[..., j]
    return np.asarray(np.where(np.abs(apart) > 1e-12 * scale, np.sign(apart), 0.0))


def gains(m: Floats, u: Floats) -> Floats:
    """Compute what is gained by m (..., metrics, detectors) where u (..., detectors) counts, and what could be.

    Four numbers for each metric: the mean over pairs of the difference in u that it gets right less what it gets wrong,
    the mean difference; u of the chosen detector above the mean (of several their mean), that of the best one.

    >>> gains(np.array([[1.0, 2.0, 3.0]]), np.array([0.0, 0.4, 0.2])).round(4).ravel().tolist()
    [0.1333, 0.2667, 0.0, 0.2]
    """
    i, j = np.triu_indices(u.shape[-1], 1)
    apart, mean = u[..., i] - u[..., j], u.mean(axis=-1)[..., None]
    best = m >= m.max(axis=-1, keepdims=True) - 1e-12 * np.abs(m).max(axis=-1, keepdims=True)
    chosen = (best * u[..., None, :]).sum(axis=-1) / best.sum(axis=-1)
    pair, most = (orders(m) * apart[..., None, :]).mean(axis=-1), np.abs(apart).mean(axis=-1)[..., None]
    return np.array(np.broadcast_arrays(pair, most, chosen - mean, u.max(axis=-1)[..., None] - mean))


def _means(weights: Floats, parts: Floats) -> Floats:
    """Average parts (series first) over series, for every row of weights."""
    found = weights @ parts.reshape(len(parts), -1) / weights.sum(axis=1, keepdims=True)
    return np.asarray(found.reshape(len(weights), *parts.shape[1:]))


def transfer(a: Floats, b: Floats, of_a: Floats, of_b: Floats) -> Floats:
    """Choose each detector's threshold on the series a, the first of the best; return its means on the series b."""
    mean = _means(of_a, a)
    best = np.argmax(mean >= mean.max(axis=-1, keepdims=True) - SAME, axis=-1)[..., None]
    if len(best) == 1:  # one choice, however often b was drawn
        return _means(of_b, np.take_along_axis(b, np.broadcast_to(best, (*b.shape[:-1], 1)), -1)[..., 0])
    return np.asarray(np.take_along_axis(_means(of_b, b), best, -1)[..., 0])


def directions(
    values: Floats, curve: Floats, weights: Floats | None = None, labelled: Floats | None = None
) -> Iterator[tuple[Floats, Floats]]:
    """Yield, for either half chosen on, what the metrics (the criterion itself last) say there, and u on the other.

    Each row of `weights` says how often every series counts. With `labelled` metrics know these series only, while
    thresholds come from all of the half.
    """
    weights = np.ones((1, len(curve))) if weights is None else weights
    for on, other in (HALVES, HALVES[::-1]):
        known = weights[:, on] if labelled is None else labelled[:, on]
        u = transfer(curve[on], curve[other], weights[:, on], weights[:, other])
        own = transfer(curve[on], curve[on], weights[:, on], known)
        said = _means(known, np.moveaxis(values[:, on], 0, 1))
        yield np.concatenate([said, own[:, None]], axis=1), np.broadcast_to(u, own.shape)


def judge(values: Floats, curve: Floats, weights: Floats | None = None, labelled: Floats | None = None) -> Floats:
    """Sum `gains` over both directions: an array of four numbers, draws and metrics, the criterion itself last."""
    return np.asarray(sum(gains(m, u) for m, u in directions(values, curve, weights, labelled)))


def drawn(series: int, n: int, draws: int, seed: int | tuple[int, ...]) -> Floats:
    """Return rows of weights in which n series of either half (or all, if there are fewer) are labelled."""
    rng, weights = np.random.default_rng(seed), np.zeros((draws, series))
    for row in weights:
        for half in HALVES:
            places = np.arange(series)[half]
            row[rng.choice(places, min(n, len(places)), replace=False)] = 1
    return weights


def resampled(series: int, draws: int, seed: int) -> Floats:
    """Return rows of weights of series, each half drawn with replacement; in the first row all count once."""
    weights = np.ones((draws + 1, series))
    for k, half in enumerate(HALVES):
        weights[:, half] = resample(weights[:, half].shape[1], draws, (seed, k))
    return weights


def ratios(totals: Floats) -> tuple[Floats, Floats]:
    """Return `pair` and `top` of summed gains; NaN where nothing could be gained."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return totals[0] / totals[1], totals[2] / totals[3]
