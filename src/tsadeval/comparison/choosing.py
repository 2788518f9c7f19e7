"""Choice of a detector by a metric on labelled series: what it gains on other series, by what counts there.

Values are arrays of metrics, series and detectors, higher is better; curves are arrays of series, detectors and the
thresholds that are tried (one, where a criterion has no threshold to choose).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from tsadeval.comparison.statistics import resample
from tsadeval.core.facts import finite_mean
from tsadeval.core.inputs import Floats
from tsadeval.core.messages import choice_line
from tsadeval.core.results import Grid, ResultTable, Row
from tsadeval.errors import InvalidInputError
from tsadeval.metrics.criteria import Criterion
from tsadeval.scores.scored import Scored

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

    >>> gains(np.array([[1.0, 2.0, 3.0]]), np.array([0.0, 0.5, 0.4])).round(4).ravel().tolist()
    [0.2667, 0.3333, 0.1, 0.2]
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


def has_both(one: Scored) -> bool:
    """Return True if a detector has scores for normal and for anomalous points of a series."""
    return 0 < one.scoring.events.points < np.size(one.given.y_true) - one.missing


def choice_table(
    better: Mapping[str, Floats],
    series: Sequence[str],
    detectors: Sequence[str],
    scorings: Iterable[Scored],
    criterion: Criterion,
    splits: int = 20,
) -> ResultTable:
    """Return the detector that each metric chooses on labelled series, and what it is worth there by a criterion."""
    have = {(one.series, one.detector): one.scoring for one in scorings if has_both(one)}
    whole = [i for i, name in enumerate(series) if all((name, detector) in have for detector in detectors)]
    if not whole or len(detectors) < 2:
        raise InvalidInputError("choice needs two detectors or more, and a labelled series on which all have scores")
    some = [[have[series[i], detector] for detector in detectors] for i in whole]
    ends = [(min(0.0, *(s.low for s in of)), max(1.0, *(s.high for s in of))) for of in zip(*some, strict=True)]
    curve = np.array([[criterion.curve(s, *end) for s, end in zip(row, ends, strict=True)] for row in some])
    worth = transfer(curve, curve, *np.ones((2, 1, len(curve))))[0]
    rows: list[Row] = []
    for metric, values in better.items():
        said = with_worst(values[whole]).mean(axis=0)
        first = np.flatnonzero(said >= said.max() - 1e-12 * np.abs(said).max())  # several where it sees no difference
        names = ", ".join(detectors[i] for i in first.tolist())
        value = float(worth[first].mean())
        rows.append({"metric": metric, "detector": names, "worth": value, "lost": float(worth.max() - value)})
    stake = max(row["worth"] for row in rows) - min(row["worth"] for row in rows)
    rng, left = np.random.default_rng(0), []  # what is lost on other series even if the criterion itself chooses
    for _ in range(splits if len(whole) >= 4 else 0):
        for own, u in directions(np.zeros((0, *curve.shape[:2])), rng.permutation(curve)):
            left.append(float(u[0].max() - u[0, np.argmax(own[0, -1])]))
    labels = finite_mean(left) if left else math.nan
    grid: Grid = [["metric", "chooses", "worth", "lost"], *([*row.values()] for row in rows)]
    best = detectors[int(np.argmax(worth))]
    about = f"worth: {criterion.name} ({criterion.summary}), mean over {len(whole)} series"
    lead = f"{about}; most: {best}, {worth.max():.2f}"
    note = choice_line(stake, labels, len(whole), dict.fromkeys(row["detector"] for row in rows))
    return ResultTable(
        rows, grid=grid, lead=lead, notes=[note], stake=stake, labels=labels, detector=best, sentence=note
    )
