"""Statistics of several detectors by several metrics: who can be first, winners, flips, agreement, choices, standings.

Values have a row per series and a column per detector; larger is better, except in `standings`, and NaN is missing.

For the choice of a detector by a metric on labelled series, values are arrays of metrics, series and detectors; curves
are arrays of series, detectors and the thresholds that are tried (one, where a criterion has no threshold to choose).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tsadeval.comparison import statistics
from tsadeval.core.events import Bools, Floats
from tsadeval.core.facts import Flaw, finite_mean, grouped
from tsadeval.core.messages import Odd, choice_line
from tsadeval.core.results import Grid, ResultTable, Row, plain
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.baseline import SKILL
from tsadeval.metrics.criteria import Criterion
from tsadeval.scores.scored import Scored

Data = dict[str, Any]
ALPHA = 0.05  # from which p-value on two detectors are not told apart
SHARE = 0.9  # of the best detector's value that counts as reaching it
LISTED = 0.5  # of the series on which anyone has values: where a detector has fewer, it is not listed, nor first
# Skill is significant (one-sided, at 1 %) or, on series too short for that, plain: a mean AUC-ROC from here on.
SIGNIFICANT, PLAIN = 2.326, 0.6

# Who can be first: the one place that decides it, for tables, LaTeX, reports and boards.


def at_chance(point_rank: Floats, point_skill: Floats, event_skill: Floats) -> Bools:
    """Say of detectors whether they are not above chance, by the facts of skill on all series (NaN is unknown)."""
    known = np.isfinite(point_rank).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        above = np.nansum(point_rank, axis=0) / known >= PLAIN
        for skill in (point_skill, event_skill):
            above |= np.nansum(skill, axis=0) / np.sqrt(known) > SIGNIFICANT
    return np.asarray((known > 0) & ~above)


def find_standing(
    rows: Sequence[Row], series: Sequence[str], detectors: Sequence[str], metrics: Sequence[str], odd: Odd
) -> tuple[Bools, dict[str, Floats]]:
    """Say who is not above chance, and by metric where alarms cover a series (1) or find nothing in it (-1)."""
    place = {(s, d): (i, j) for i, s in enumerate(series) for j, d in enumerate(detectors)}
    shape = len(series), len(detectors)
    skill = grouped(
        ((row["series"], row["detector"], name), row[name])
        for row in rows
        for name in SKILL
        if row.get(name) is not None
    )
    facts = {
        name: np.array([finite_mean(skill.get((*key, name), ())) for key in place], np.float64).reshape(shape)
        for name in SKILL
    }
    has_events = np.isfinite(facts["point_rank"])
    alarms = {metric: np.zeros(shape) for metric in metrics}
    for row in rows:
        one = odd.get((row["series"], row["detector"]))
        if one is not None and one.rule == row["rule"]:
            at = place[row["series"], row["detector"]]
            alarms[row["metric"]][at] = 1 if one.everywhere else -1 if has_events[at] else math.nan
    return at_chance(*facts.values()), alarms


def find_flaws(values: Floats, chance: Bools, alarms: Floats) -> list[Flaw | None]:
    """Return for each detector why it is never first by a metric, None where it can be.

    `alarms` is 1 where its alarms cover a series, -1 where there are none though there is an event, else 0; NaN where
    nothing follows from them.

    >>> find_flaws(np.array([[1.0, 0.2, 0.5]]), np.array([False, False, True]), np.array([[1.0, 0.0, 0.0]]))
    [<Flaw.EVERYWHERE: 'alarm at all points'>, None, <Flaw.CHANCE: 'not above chance'>]
    """
    known = np.isfinite(values)
    count = known.sum(axis=0)
    by_flaw = {
        Flaw.EVERYWHERE: 2 * ((alarms > 0) & known).sum(axis=0) > count,
        Flaw.NOWHERE: (alarms < 0).any(axis=0) & ~(alarms >= 0).any(axis=0),
        Flaw.CHANCE: chance,
        Flaw.FEW: (count > 0) & (count < LISTED * known.any(axis=1).sum()),
    }
    return [next((flaw for flaw, has in by_flaw.items() if has[j]), None) for j in range(values.shape[1])]


# Statistics.


def fill_worst(
    tables: Mapping[str, Floats], rows: Sequence[Row], series: Sequence[str], detectors: Sequence[str], lower: set[str]
) -> dict[str, Floats]:
    """Where a detector has no scores, take the worst value that any detector has on the series, by metric."""
    have = {(row["series"], row["detector"]) for row in rows if row["status"] != "missing"}
    lost = np.array([[(s, d) not in have for d in detectors] for s in series])

    def worst(metric: str, values: Floats) -> Floats:
        of = np.fmax if metric in lower else np.fmin
        return np.asarray(of.reduce(np.where(np.isfinite(values), values, math.nan), axis=1, keepdims=True))

    return {metric: np.where(lost, worst(metric, values), values) for metric, values in tables.items()}


def best_of(values: Floats) -> Floats:
    """Return the largest value of each series; NaN where there is none."""
    return np.asarray(np.fmax.reduce(values, axis=1, initial=math.nan))


def reaches(best: Floats, other: Floats, *, lower: bool = False) -> Floats:
    """Say with 1 or 0 where `other` reaches `SHARE` of `best`, NaN where either is missing.

    Negative values (costs) reach it within the inverse share. Where both are 0 there is nothing to reach: NaN, unless
    less is better (`lower`), where 0 is perfect.
    """
    reached = other >= np.where(best >= 0, SHARE * best, best / SHARE)
    nothing = (best == 0) & (other == 0) & (not lower)
    return np.where(np.isnan(best) | np.isnan(other) | nothing, math.nan, reached)


def gameability(best: Floats, other: Floats, *, lower: bool = False) -> float:
    """Compute the share of series on which `other` reaches `best`; NaN where that can be said of none.

    >>> gameability(np.array([1.0, 0.8, -0.1, 0.0]), np.array([0.95, 0.7, -0.2, 0.0]))
    0.3333333333333333
    """
    return finite_mean(reaches(best, other, lower=lower))


def beats_median(values: Floats, other: Floats) -> float:
    """Compute the share of series on which `other` is above the median detector; NaN where none has both."""
    known = ~np.isnan(best_of(values)) & ~np.isnan(other)
    return finite_mean(other[known] > np.nanmedian(values[known], axis=1))


def winners(values: Floats) -> Floats:
    """Share the win of each series among the detectors with the largest value; 0 for the others.

    >>> winners(np.array([[0.5, 0.9, 0.9], [math.nan, 0.2, 0.1]]))
    array([[0. , 0.5, 0.5],
           [0. , 1. , 0. ]])
    """
    best = values == best_of(values)[:, None]
    return np.asarray(best / np.maximum(best.sum(axis=1, keepdims=True), 1))


def flips(one: Floats, other: Floats) -> Floats:
    """Compute for each series the share of pairs of detectors that two metrics put in opposite order.

    NaN where no two detectors have values of both metrics.

    >>> flips(np.array([[3.0, 2.0, 1.0]]), np.array([[1.0, 2.0, 0.0]]))
    array([0.33333333])
    """
    a, b = np.triu_indices(one.shape[1], 1)
    with np.errstate(invalid="ignore"):
        d, e = one[:, a] - one[:, b], other[:, a] - other[:, b]
        known = ~np.isnan(d) & ~np.isnan(e)
        return np.asarray((d * e < 0).sum(axis=1) / known.sum(axis=1))


def standings(
    values: Floats, flaws: Sequence[Flaw | None] = (), *, lower: bool, missing: statistics.Missing = "skip"
) -> Data:
    """Compute what a board shows of one metric: means, ranks with intervals, groups that were not told apart.

    `values` has a row per series and a column per detector. Where fewer than two series have values of all detectors
    there are no ranks, and `groups` is empty. Detectors without any value are not ranked. `flaws` are there where there
    are any: who has one is never first.
    """
    found = statistics.Ranking(-values if lower else values, flaws, missing=missing)
    several = len(found.kept) > 1
    return {
        "mean": [plain(finite_mean(column)) for column in values.T.tolist()],
        "defined": np.isfinite(values).sum(axis=0).tolist(),
        "series": found.means.series,
        "rank": found.for_all(_plain(found.means.mean), None),
        "low": found.for_all(_plain(found.means.low), None),
        "high": found.for_all(_plain(found.means.high), None),
        "groups": [[found.kept[i] for i in group] for group in found.groups(ALPHA)],
        "many": found.many,
        "friedman": plain(statistics.friedman(found.values).f_p) if found.tested and len(found.kept) > 2 else None,
        "best": [i for i in np.flatnonzero(found.alike(ALPHA)).tolist() if not (flaws and flaws[i])],
        "wins": [found.for_all(some.tolist(), 0) for some in found.counts[:2]] if several else [],
        "too_few": found.tests.too_few(ALPHA) if found.tested else "",
        **({"flaws": list(flaws)} if any(flaws) else {}),
    }


def _plain(values: Floats) -> list[float | None]:
    return [plain(value) for value in values.tolist()]


def agreement_of(boards: Mapping[str, Data], lower: Sequence[str] = ()) -> list[list[float | None]]:
    """Spearman correlation between the metrics' mean ranks (or their means, where there are no ranks)."""
    rows = []
    for metric, board in boards.items():
        ranked = any(value is not None for value in board["rank"])
        sign = 1.0 if metric in lower else -1.0
        means = [math.nan if value is None else sign * value for value in board["mean"]]
        rows.append(board["rank"] if ranked else means)
    return [_plain(row) for row in statistics.agreement(np.array(rows, np.float64))]


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
        weights[:, half] = statistics.resample(weights[:, half].shape[1], draws, (seed, k))
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
