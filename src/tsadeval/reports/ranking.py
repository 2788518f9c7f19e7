"""What a leaderboard says: standings by metric and group of series, gameability, agreement of metrics."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tsadeval._optional import require
from tsadeval.comparison import categories, pairs, statistics
from tsadeval.comparison.categories import CATEGORIES, SeriesFacts
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.results import plain
from tsadeval.engine.files import read_sealed, write_sealed
from tsadeval.rankeval.auditing import measures
from tsadeval.reports import board
from tsadeval.reports.board import agreement_of, standings
from tsadeval.reports.html import address
from tsadeval.reports.series import Series
from tsadeval.reports.submission import BASELINES, Board
from tsadeval.reports.values import SUBMISSION, codes

__all__ = ["Ranked", "Standing", "Table", "agreement", "first_group", "metric_facts", "places", "rank_all"]

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
    def of(cls, board: Board, series: Series, found: Any) -> Table:
        """The values of a board, from the table of all of them."""
        scorers = found.group_by("detector", use_threads=False).aggregate([("kind", "first")])
        kinds = dict(zip(scorers["detector"].to_pylist(), scorers["kind_first"].to_pylist(), strict=True))
        detectors = [name for name in (*(one.name for one in board.submissions), *BASELINES) if name in kinds]
        values = np.full((len(board.metrics), len(series), len(detectors)), math.nan)
        columns = (("metric", board.metrics), ("series", list(series)), ("detector", detectors))
        values[tuple(codes(found, column, names) for column, names in columns)] = found["value"].to_numpy()
        facts = {name: one.facts for name, one in series.items()}
        return cls(dict(zip(board.metrics, values, strict=True)), list(series), detectors, kinds, facts)

    @property
    def groups(self) -> dict[str, list[int]]:
        """Series by group: all, by folder, and by what the labels say of them."""
        found: dict[str, list[int]] = {ALL: list(range(len(self.series)))}
        categories = {self.facts[name].category(kind): kind for kind in CATEGORIES for name in self.series}
        for i, name in enumerate(self.series):
            folder = name.rpartition("/")[0]
            while folder:
                # A folder may be called as a group that is there anyway.
                found.setdefault(f"{folder} (folder)" if folder in {ALL, *categories} else folder, []).append(i)
                folder = folder.rpartition("/")[0]
        for category in sorted(categories.keys() - {""}, key=lambda name: (CATEGORIES.index(categories[name]), name)):
            kind = categories[category]
            found[category] = [i for i, n in enumerate(self.series) if self.facts[n].category(kind) == category]
        whole = len(self.series)
        return {name: members for name, members in found.items() if name == ALL or len(members) < whole}


Standing = Data


class Ranked(NamedTuple):
    """What a board says by one metric.

    `groups` has the standing in each group of series, rounded as pages show it, `overall` mean ranks and means over all
    series, and `facts` what is said of the metric itself.
    """

    groups: dict[str, Standing]
    overall: Data
    facts: Data


def rank_all(table: Table, folder: Path) -> dict[str, Ranked]:
    """Standings by metric; those of which neither values nor code have changed are read from the folder."""
    groups = table.groups
    common = hashlib.sha256(_code() + json.dumps([groups, table.detectors, table.kinds]).encode()).digest()
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Ranked] = {}
    # Products of matrices are small here: threads of BLAS would mostly wait for each other.
    with require("threadpoolctl", extra="all").threadpool_limits(1):
        for text, values in table.values.items():
            key = hashlib.sha256(common + text.encode() + values.tobytes()).hexdigest()
            path = folder / address(text.replace("/", "|"))
            last = _last(path, key)
            found[text] = last or _ranked(table, groups, parse_metric(text))
            if last is None:
                write_sealed(path, json.dumps({"key": key, **found[text]._asdict()}).encode())
    return found


@cache
def _code() -> bytes:
    """A checksum of the code that ranks."""
    modules = (board, categories, measures, pairs, statistics, sys.modules[__name__])
    return hashlib.sha256(b"".join(Path(str(module.__file__)).read_bytes() for module in modules)).digest()


def _last(path: Path, key: str) -> Ranked | None:
    """What the last build found, if it is of the same values; a file that cannot be read is no loss."""
    try:
        found = json.loads(read_sealed(path) or b"")
        return Ranked(found["groups"], found["overall"], found["facts"]) if found["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _ranked(table: Table, groups: Mapping[str, Sequence[int]], metric: Metric) -> Ranked:
    values, lower = table.values[str(metric)], metric.direction == "lower"
    found = {name: _standing(values[members], lower) for name, members in groups.items()}
    overall = {key: found[ALL].get(key, []) for key in ("listed", "rank", "mean")}
    shown = {name: {key: _short(value) for key, value in one.items()} for name, one in found.items()}
    return Ranked(shown, overall, metric_facts(table, metric))


def _short(value: Any) -> Any:
    """Numbers for a page, with six digits."""
    if isinstance(value, list):
        return [_short(v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else plain(value)


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


def places(ranked: Mapping[str, Ranked], detector: int) -> dict[str, list[list[float | None]]]:
    """Where a detector stands: by group, for each metric that lists it, what the page of the detector shows."""
    found: dict[str, list[list[float | None]]] = {}
    for m, by_metric in enumerate(ranked.values()):
        for group, one in by_metric.groups.items():
            found.setdefault(group, [])
            if detector in one["listed"] and one["rank"][0] is not None:
                i = one["listed"].index(detector)
                rank = one["rank"][i]
                place = 1 + sum(other < rank for other in one["rank"])
                found[group].append([m, one["mean"][i], place, len(one["listed"]), rank, one["low"][i], one["high"][i]])
    return found


def metric_facts(table: Table, metric: Metric) -> Data:
    """What the board says of a metric itself: can scorers without skill reach the best detector?

    As `tsadeval.rankeval.auditing.measures` defines it, of all series at once.
    """
    values = table.values[str(metric)] * (-1.0 if metric.direction == "lower" else 1.0)
    values = np.where(np.isfinite(values), values, math.nan)
    kinds = np.array([table.kinds[name] for name in table.detectors])
    real, blind, lines = (values[:, kinds == kind] for kind in (SUBMISSION, "no skill", "one-liner"))
    best, other = (np.fmax.reduce(part, axis=1, initial=math.nan) for part in (real, blind))
    known = ~np.isnan(best) & ~np.isnan(other)
    above = other[known] > _medians(real[known])
    return {
        "gameability": _gameability(best, other),
        "one_liners": _gameability(best, np.fmax.reduce(lines, axis=1, initial=math.nan)) if lines.size else None,
        "beats_median": plain(float(above.mean())) if known.any() else None,
    }


def _gameability(best: Floats, other: Floats) -> float | None:
    known = ~np.isnan(best) & ~np.isnan(other)
    needed = np.where(best >= 0, measures.SHARE * best, best / measures.SHARE)
    return float((other >= needed)[known].mean()) if known.any() else None


def _medians(rows: Floats) -> Floats:
    """The median of each row, without what is missing."""
    ascending = np.sort(rows, axis=1)  # NaN comes last
    count = np.count_nonzero(~np.isnan(rows), axis=1)
    at = np.arange(len(rows))
    return np.asarray((ascending[at, (count - 1) // 2] + ascending[at, count // 2]) / 2)


def agreement(ranked: Mapping[str, Ranked], lower: Sequence[str]) -> list[list[float | None]]:
    """Spearman correlation of the metrics' mean ranks over all series, of the detectors that all metrics list."""
    boards = {metric: found.overall for metric, found in ranked.items()}
    common = set.intersection(*(set(one["listed"]) for one in boards.values())) if boards else set()
    order = sorted(common)
    parts = {}
    for metric, one in boards.items():
        places = [one["listed"].index(i) for i in order]
        parts[metric] = {key: [one[key][p] for p in places] for key in ("rank", "mean")}
    return agreement_of(parts, lower)
