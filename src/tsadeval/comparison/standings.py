"""Statistics of several detectors by several metrics: gameability, winners, flips, agreement, standings for pages.

Values have a row per series and a column per detector; larger is better, except in `standings`, and NaN is missing.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tsadeval.comparison import statistics
from tsadeval.core.events import Bools, Floats
from tsadeval.core.facts import Flaw, finite_mean, grouped
from tsadeval.core.messages import Odd
from tsadeval.core.results import Row, plain
from tsadeval.evaluation.baseline import SKILL

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
