"""What a leaderboard says: standings by metric and group of series, gameability, agreement of metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval.comparison.categories import CATEGORIES, SeriesFacts
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.results import plain
from tsadeval.core.threads import in_order
from tsadeval.rankeval.auditing.measures import beats_median, gameability
from tsadeval.reports.board import agreement_of, standings
from tsadeval.reports.submission import Board, read_labels
from tsadeval.reports.values import BASELINES, SUBMISSION

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Standing", "Table", "first_group", "metric_facts", "places", "rank_all"]

Data = dict[str, Any]
ALL = "all series"
# A detector is listed in a group of series where it has values on so large a share of them.
LISTED = 0.5
# A board opens with a group of series of which everyone listed has so large a share.
COMPLETE = 0.95


@dataclass(frozen=True, eq=False)
class Table:
    """Values of one metric: series by detectors, NaN where there is none."""

    values: Mapping[str, Floats]
    series: list[str]
    detectors: list[str]
    kinds: dict[str, str]
    facts: dict[str, SeriesFacts]

    @classmethod
    def of(cls, board: Board, frame: pd.DataFrame) -> Table:
        """The values of a board."""
        detectors = [one.name for one in board.submissions] + list(BASELINES)
        present = set(frame["detector"])
        detectors = [name for name in detectors if name in present]
        series = list(board.labels)
        rows, columns = ({name: i for i, name in enumerate(names)} for names in (series, detectors))
        values: dict[str, Floats] = {}
        for metric, part in frame.groupby("metric", sort=False):
            table = np.full((len(series), len(detectors)), math.nan)
            table[part["series"].map(rows), part["detector"].map(columns)] = part["value"]
            values[str(metric)] = table
        kinds = dict(zip(frame["detector"], frame["kind"], strict=True))
        facts = {name: SeriesFacts.of(read_labels(path)[0]) for name, path in board.labels.items()}
        return cls({m: values[m] for m in board.metrics}, series, detectors, kinds, facts)

    @property
    def groups(self) -> dict[str, list[int]]:
        """Series by group: all, by folder, and by what the labels say of them."""
        found: dict[str, list[int]] = {ALL: list(range(len(self.series)))}
        for i, name in enumerate(self.series):
            folder = name.rpartition("/")[0]
            while folder:
                found.setdefault(folder, []).append(i)
                folder = folder.rpartition("/")[0]
        for kind in CATEGORIES:
            for category in sorted({self.facts[name].category(kind) for name in self.series} - {""}):
                found[category] = [i for i, n in enumerate(self.series) if self.facts[n].category(kind) == category]
        whole = len(self.series)
        return {name: members for name, members in found.items() if name == ALL or len(members) < whole}


Standing = Data


def rank_all(table: Table, n_jobs: int | None = None) -> dict[str, dict[str, Standing]]:
    """Standings by metric and group."""
    metrics = [parse_metric(text) for text in table.values]
    groups = table.groups
    # Threads: the work is NumPy's, and processes of joblib would outlive this one where it is killed.
    found = in_order(lambda m: _standings(table.values[str(m)], groups, m.direction == "lower"), metrics, n_jobs)
    return {str(metric): one for metric, one in zip(metrics, found, strict=True)}


def _standings(values: Floats, groups: Mapping[str, Sequence[int]], lower: bool) -> dict[str, Standing]:
    return {name: _standing(values[members], lower) for name, members in groups.items()}


def _standing(part: Floats, lower: bool) -> Standing:
    """The standing in one group: of the detectors with values on half of its series, missing ones count as worst."""
    part = part[np.isfinite(part).any(axis=1)]  # elsewhere the metric is undefined
    if not len(part):
        return {"listed": [], "n": 0}
    share = np.isfinite(part).mean(axis=0)
    listed = np.flatnonzero(share >= LISTED)
    if not len(listed):
        return {"listed": [], "n": len(part)}
    found = standings(part[:, listed], lower=lower, missing="worst")
    return {"listed": listed.tolist(), "n": len(part), **found}


def first_group(table: Table, standings: Mapping[str, Standing]) -> str:
    """The group with which a board opens: the one with the most values, of those that nearly lack none.

    Where data sets have detectors of their own, all series together would rank by what is missing.
    """
    found, most = ALL, 0
    for name, one in standings.items():
        real = [i for i, d in enumerate(one["listed"]) if table.kinds[table.detectors[d]] == SUBMISSION]
        counts = [one["defined"][i] for i in real]
        if sum(counts) > most and min(counts) >= COMPLETE * one["n"]:
            found, most = name, sum(counts)
    return found


def places(ranked: Mapping[str, Mapping[str, Standing]], detector: int) -> dict[str, list[list[float | None]]]:
    """Where a detector stands: by group, for each metric that lists it, what the page of the detector shows."""
    groups = next(iter(ranked.values()), {})
    found: dict[str, list[list[float | None]]] = {group: [] for group in groups}
    for m, by_group in enumerate(ranked.values()):
        for group, one in by_group.items():
            if detector in one["listed"] and one["rank"][0] is not None:
                i = one["listed"].index(detector)
                rank = one["rank"][i]
                place = 1 + sum(other < rank for other in one["rank"])
                found[group].append([m, one["mean"][i], place, len(one["listed"]), rank, one["low"][i], one["high"][i]])
    return found


def metric_facts(table: Table, metric: Metric) -> Data:
    """What the board says of a metric itself: can scorers without skill reach the best detector?"""
    sign = -1.0 if metric.direction == "lower" else 1.0
    values = sign * table.values[str(metric)]
    by_series = {
        name: {d: float(v) for d, v in zip(table.detectors, row.tolist(), strict=True) if math.isfinite(v)}
        for name, row in zip(table.series, values, strict=True)
    }
    real = [d for d in table.detectors if table.kinds[d] == SUBMISSION]
    blind = [d for d in table.detectors if table.kinds[d] == "no skill"]
    lines = [d for d in table.detectors if table.kinds[d] == "one-liner"]
    return {
        "gameability": plain(gameability(by_series, real, blind)[0]),
        "one_liners": plain(gameability(by_series, real, lines)[0]) if lines else None,
        "beats_median": plain(beats_median(by_series, real, blind)),
    }


def agreement(ranked: Mapping[str, Mapping[str, Standing]], lower: Sequence[str]) -> list[list[float | None]]:
    """Spearman correlation of the metrics' mean ranks over all series, of the detectors that all metrics list."""
    boards = {metric: found[ALL] for metric, found in ranked.items()}
    common = set.intersection(*(set(board["listed"]) for board in boards.values())) if boards else set()
    order = sorted(common)
    parts = {}
    for metric, board in boards.items():
        places = [board["listed"].index(i) for i in order]
        parts[metric] = {key: [board[key][p] for p in places] if key in board else [] for key in ("rank", "mean")}
    return agreement_of(parts, lower)
