"""Statistics of several detectors by several metrics, as plain data that pages show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.comparison import statistics
from tsadeval.core.results import plain

__all__ = ["agreement_of", "standings"]

Floats = NDArray[np.float64]
Data = dict[str, Any]


def standings(values: Floats, *, lower: bool, missing: statistics.Missing = "skip", alpha: float = 0.05) -> Data:
    """What a board says of one metric: means, ranks with intervals, groups that were not told apart.

    `values` has a row per series and a column per detector. Where fewer than two series have values of all detectors
    there are no ranks, and `groups` is empty.
    """
    better = statistics.fill_missing(-values if lower else values, missing)
    places = statistics.ranks(statistics.whole_rows(better))
    ranks = statistics.mean_of_ranks(places)
    k = values.shape[1]
    known = np.isfinite(values)
    counts = known.sum(axis=0)
    means = np.where(counts > 0, np.where(known, values, 0.0).sum(axis=0) / np.maximum(counts, 1), math.nan)
    found: Data = {
        "mean": _plain(means),
        "defined": counts.tolist(),
        "series": ranks.series,
        "rank": _plain(ranks.mean),
        "low": _plain(ranks.low),
        "high": _plain(ranks.high),
        "groups": [],
        "friedman": None,
        "best": [],
        "wins": [],
        "too_few": "",
    }
    if k > 1:
        counts_of = statistics.wins_ties_losses(statistics.whole_rows(better))  # of the series that ranks stand on
        found["wins"] = [counts_of.wins.sum(axis=1).tolist(), counts_of.ties.sum(axis=1).tolist()]
    if k > 1 and ranks.series > 1:
        pairs = statistics.wilcoxon_holm(better)
        same = pairs.same(alpha)
        found["too_few"] = pairs.too_few(alpha)
        found["groups"] = statistics.tie_groups(ranks.mean, same)
        best = int(np.argmin(ranks.mean))
        found["best"] = [i for i in range(k) if same[best, i]]
        if k > 2:
            found["friedman"] = plain(statistics.friedman_of_ranks(places).f_p)
    return found


def _plain(values: Floats) -> list[float | None]:
    return [plain(value) for value in values.tolist()]


def agreement_of(boards: Mapping[str, Data], lower: Sequence[str] = ()) -> list[list[float | None]]:
    """Spearman correlation between the metrics' mean ranks (or their means, where there are no ranks)."""
    rows = []
    for metric, board in boards.items():
        ranked = all(value is not None for value in board["rank"])
        sign = 1.0 if metric in lower else -1.0
        means = [math.nan if value is None else sign * value for value in board["mean"]]
        rows.append(board["rank"] if ranked else means)
    return [_plain(row) for row in statistics.agreement(np.array(rows, np.float64))]
