"""Values and standings of a leaderboard, from its store and the last build; gameability and agreement of metrics."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self

import numpy as np

import tsadeval
from tsadeval._optional import require
from tsadeval.comparison.inference import CATEGORIES
from tsadeval.comparison.standings import (
    LISTED,
    Data,
    agreement_of,
    at_chance,
    beats_median,
    best_of,
    find_flaws,
    gameability,
    standings,
)
from tsadeval.core.facts import Flaw, Origin, grouped
from tsadeval.core.inputs import Bools, Events, Floats, Scoring
from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.names import printable
from tsadeval.core.results import Row, plain
from tsadeval.engine.cells import Chunk, Layout, Making, group_cells
from tsadeval.engine.compute import compute
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import complete
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.evaluation.baseline import SKILL, skill_of
from tsadeval.leaderboard.submissions import BASELINES, Board, Series, read_labels, read_scores
from tsadeval.rankeval.suite import pivot
from tsadeval.rankeval.suites.audit import ADVERSARIES, Target, stream
from tsadeval.scores.scored import observe
from tsadeval.tables.files import file_digest, read_sealed, write_sealed
from tsadeval.thresholds.rules import parse_rule

SUBMISSION = "submission"
CELLS = 1000  # of a chunk, about
READING = "exact"  # of score files: another name makes all kept values outdated


class BoardCell(NamedTuple):
    """One value: a metric of the scores of a submission (or baseline) on a series, by the checksums of their files."""

    detector: str
    kind: str
    series: str
    labels: str
    scores: str
    metric: str
    version: str
    rule: str | None


LAYOUT = Layout.of(BoardCell, "tsadeval leaderboard build", **SKILL)


def compute_values(
    board: Board, folder: Path, *, n_jobs: int | None = None, progress: bool | Progress | None = None
) -> Any:
    """Return all values of a board as a table of Arrow, by series, scorer and metric; computed is what is new."""
    metrics = [
        (text, f"{metric.version} {READING}", board.rule if metric.kind == "predictions" else None)
        for text, metric in board.metrics.items()
    ]
    cells = [
        BoardCell(name, kind, series, labels.file_sha256, mark, *metric)
        for series, labels in board.series.items()
        for name, kind, mark in _scorers(board, series, labels.valued)
        for metric in metrics
    ]
    store: Store[BoardCell] = Store(folder, LAYOUT)
    complete(cells, partial(_chunks, board), compute, store, n_jobs=n_jobs, progress=progress, threads=True)
    return store.table(cells)


def _scorers(board: Board, series: str, valued: bool) -> Iterator[tuple[str, str, str]]:
    """Yield name and kind of every submission and baseline of a series, and the checksum or version of its scores."""
    for one in board.submissions:
        if series in one.scores:
            yield one.name, SUBMISSION, file_digest(one.scores[series])
    for name in BASELINES:
        baseline = ADVERSARIES[name]
        if valued or baseline.kind != "one-liner":
            yield name, baseline.kind, f"version {baseline.version}"


def _chunks(board: Board, missing: Iterable[BoardCell]) -> Iterator[Chunk]:
    """Yield chunks of whole series; each is sent to a worker and written to the disk, so none has but a few cells."""
    groups = list(group_cells(missing, lambda cell: cell.series).items())
    rules = {board.rule: parse_rule(board.rule)}
    several = 1 + CELLS * len(groups) // max(1, sum(len(cells) for _, cells in groups))
    for i in range(0, len(groups), several):
        part = dict(groups[i : i + several])
        files = {
            name: (board.series[name].path, {d.name: d.scores[name] for d in board.submissions if name in d.scores})
            for name in part
        }
        yield Chunk(board_scorings, tuple(chain(*part.values())), board.metrics, rules, files)


def board_scorings(chunk: Chunk) -> Iterator[Making]:
    """Give the scores of submissions and baselines; the payload has the files of labels and scores of each series."""
    for name, of_series in group_cells(chunk.cells, lambda cell: cell.series).items():
        path, files = chunk.payload[name]
        read = cache(partial(_read_target, path, of_series[0].labels))
        for cells in group_cells(of_series, lambda cell: cell.detector).values():
            yield tuple(cells), partial(_scoring, cells[0], read, files)


def _read_target(path: Path, digest: str) -> tuple[Any, Target]:
    """Read the labels of a series, and what baselines may look at."""
    labels, values = read_labels(path)
    _refuse_changed(path, digest)
    return labels, Target(values, Events.of(labels))


def _refuse_changed(path: Path, digest: str) -> None:
    """Refuse a file that is no longer what its checksum was taken of."""
    if file_digest(path) != digest:
        raise InvalidInputError(f"{printable(path)} has changed since the run began: run the command again")


def _scoring(
    cell: BoardCell, read: Callable[[], tuple[Any, Target]], files: Mapping[str, Path]
) -> tuple[Scoring | None, Row]:
    """Return the scores of a submission or baseline; what is wrong with them is said in rows without a value."""
    labels, target = read()
    facts: Row = {"events": len(target.events), "anomalous": target.events.points}
    try:
        if cell.kind == SUBMISSION:
            scores = read_scores(files[cell.detector], target.n)
        else:
            scores = ADVERSARIES[cell.detector].checked(target, stream(cell.series, cell.detector, 0))
        scoring = observe(labels, scores, missing="skip")
    except TsadevalError as error:
        nothing = {"value": math.nan, "seconds": math.nan, "status": "missing", "message": str(error)}
        return None, {"n": target.n, **facts, **nothing}
    if cell.kind == SUBMISSION:
        _refuse_changed(files[cell.detector], cell.scores)
    return scoring, {**facts, **skill_of(scoring)}


def unusable(found: Any) -> list[str]:
    """Say which score files of submissions cannot be used, or made a metric fail, a line for each reason."""
    compute = require("pyarrow.compute", extra="all")
    failed = compute.is_in(found["status"], require("pyarrow", extra="all").array(["missing", "error"]))
    rows = found.filter(compute.and_(failed, compute.equal(found["kind"], SUBMISSION))).to_pylist()
    lines = (f"{row['detector']}, series {printable(row['series'])}: {row['message']}" for row in rows)
    return list(dict.fromkeys(lines))  # one for all metrics


# What a leaderboard says: standings by metric and group of series, gameability, agreement of metrics.

Standings = Mapping[str, Data]  # by group of series
ALL = "all series"
# A board opens with a group of series of which everyone listed has so large a share.
COMPLETE = 0.95


@dataclass(frozen=True, eq=False)
class Table:
    """Values by metric: series by detectors, NaN where there is none; `kinds` has the detectors in this order.

    `scorings` has a row for each scoring, that of the first metric. `chance` says which detectors are not above chance,
    and `alarms` by metric where these cover a series or find nothing (see `find_flaws`).
    """

    values: Mapping[str, Floats]
    series: Series
    kinds: Mapping[str, str]
    scorings: Sequence[Row]
    chance: Bools
    alarms: Mapping[str, Floats]

    @classmethod
    def of(cls, board: Board, found: Any) -> Self:
        """Arrange the values of a board."""
        first = require("pyarrow.compute", extra="all").equal(found["metric"], next(iter(board.metrics)))
        rows = found.select(["series", "detector", "kind", "scores", "status", "message"]).filter(first).to_pylist()
        known = {row["detector"]: row["kind"] for row in rows}
        kinds = {name: known[name] for name in (*(one.name for one in board.submissions), *BASELINES) if name in known}
        axes = {"metric": list(board.metrics), "series": list(board.series), "detector": list(kinds)}
        columns = {axis: np.array(found[axis].to_pylist(), object) for axis in axes}
        numbers = (found[name].to_numpy() for name in ("value", "alarmed_points", "n", *SKILL))
        best = np.isin(found["origin"].to_pylist(), (Origin.BEST, Origin.GIVEN))
        values, points, n, *own, best = pivot(columns, axes, *numbers, best)
        points[best == 1] = math.nan
        skill = dict(zip(SKILL, map(np.fmax.reduce, own), strict=True))  # equal for all metrics
        silent = np.where(np.isfinite(skill["point_rank"]), -1.0, math.nan)
        alarms = np.where(points == n, 1.0, np.where(points == 0, silent, 0.0))
        chance = at_chance(**skill) | np.isin(list(kinds.values()), "no skill")
        by_metric = (dict(zip(board.metrics, some, strict=True)) for some in (values, alarms))
        return cls(next(by_metric), board.series, kinds, rows, chance, next(by_metric))

    def flaws(self, metric: str, series: Sequence[int]) -> list[Flaw | None]:
        """Return why detectors are never first by a metric on some series."""
        return find_flaws(self.values[metric][series], self.chance, self.alarms[metric][series])

    @property
    def groups(self) -> dict[str, list[int]]:
        """Series by group: all, by folder, and by what the labels say of them."""
        categories: dict[str, list[int]] = {}
        for kind in CATEGORIES:
            found = grouped((one.facts.category(kind), i) for i, one in enumerate(self.series.values()))
            categories |= {name: found[name] for name in sorted(found) if name}
        above = ((str(folder), i) for i, name in enumerate(self.series) for folder in PurePosixPath(name).parents[:-1])
        # A folder may be called as a group that is there anyway.
        taken = {ALL, *categories}
        folders = {f"{name} (folder)" if name in taken else name: members for name, members in grouped(above).items()}
        parts = {name: members for name, members in (folders | categories).items() if len(members) < len(self.series)}
        return {ALL: list(range(len(self.series))), **parts}


def rank_all(table: Table, path: Path) -> dict[str, Standings]:
    """Compute the standings by metric and group of series; those of values that the last build had are kept in a file.

    That file holds nothing that does not follow from the values: it may be deleted at any time.
    """
    groups, last = table.groups, json.loads(read_sealed(path) or b"{}")
    kept, found = {}, {}
    # Products of matrices are small here: threads of BLAS would mostly wait for each other.
    with require("threadpoolctl", extra="all").threadpool_limits(1):
        for text, values in table.values.items():
            lower = parse_metric(text).direction == "lower"
            flaws = {name: table.flaws(text, members) for name, members in groups.items()}
            follows = json.dumps([tsadeval.__version__, lower, values.shape, groups, flaws]).encode() + values.tobytes()
            key = hashlib.sha256(follows).hexdigest()
            if key not in last:
                last[key] = _short(
                    {name: _standing(values[members], lower, flaws[name]) for name, members in groups.items()}
                )
            kept[key] = found[text] = last[key]
    write_sealed(path, json.dumps(kept).encode())
    return found


def _short(data: Any) -> Any:
    """Round numbers to six digits, as pages have them, but not before the point; what is not finite is None.

    >>> _short({"a": [0.123456789, -1234567.8, float("nan")]})
    {'a': [0.123457, -1234568.0, None]}
    """
    return json.loads(json.dumps(data), parse_float=_six_digits, parse_constant=lambda _: None)


def _six_digits(text: str) -> float:
    number = float(text)
    return float(f"{number:.6g}") if abs(number) < 1e6 else float(round(number))


def _standing(part: Floats, lower: bool, flaws: Sequence[Flaw | None]) -> Data:
    """Compute the standing in one group: of detectors with values on half of its series, missing ones are worst."""
    part = part[np.isfinite(part).any(axis=1)]  # elsewhere the metric is undefined
    known = np.isfinite(part).sum(axis=0)
    listed = np.flatnonzero(known >= max(1, LISTED * len(part)))
    if not listed.size:
        return {"listed": [], "n": len(part), "rank": [], "mean": []}
    found = standings(part[:, listed], [flaws[j] for j in listed.tolist()], lower=lower, missing="worst")
    return {"listed": listed.tolist(), "n": len(part), **found}


def first_group(table: Table, standings: Standings) -> str:
    """Return the group with which a board opens: the one with the most values, of those that nearly lack none.

    Where data sets have detectors of their own, all series together would rank by what is missing.
    """
    kinds = list(table.kinds.values())
    found, most = ALL, 0
    for name, one in standings.items():
        counts = [one["defined"][i] for i, d in enumerate(one["listed"]) if kinds[d] == SUBMISSION]
        if sum(counts) > most and min(counts) >= COMPLETE * one["n"]:
            found, most = name, sum(counts)
    return found


def stands(one: Data) -> list[tuple[float, bool]]:
    """Return what the detectors of a standing are ordered by: mean ranks, none that is never first before the first.

    >>> stands({"rank": [1.0, 2.0, 3.0], "flaws": ["no alarm", None, None]})
    [(2.0, True), (2.0, False), (3.0, False)]
    """
    flaws = one.get("flaws") or [None] * len(one["rank"])
    first = min((rank for rank, flaw in zip(one["rank"], flaws, strict=True) if flaw is None), default=-math.inf)
    return [
        (rank if flaw is None else max(rank, first), flaw is not None)
        for rank, flaw in zip(one["rank"], flaws, strict=True)
    ]


def places(ranked: Mapping[str, Standings], detector: int) -> dict[str, list[list[float | None]]]:
    """Return where a detector stands: by group, for each metric that lists it, what the page of the detector shows."""
    found: dict[str, list[list[float | None]]] = {}
    for m, by_group in enumerate(ranked.values()):
        for group, one in by_group.items():
            rows = found.setdefault(group, [])
            if detector in one["listed"] and one["rank"][0] is not None:
                i = one["listed"].index(detector)
                order = stands(one)
                place = 1 + sum(other < order[i] for other in order)
                shown = [one[key][i] for key in ("rank", "low", "high")]
                rows.append([m, one["mean"][i], place, len(one["listed"]), *shown])
    return found


def metric_facts(table: Table, metric: Metric) -> Data:
    """Compute what the board says of a metric itself: how far scorers without skill reach the best detector."""
    lower = metric.direction == "lower"
    values = table.values[str(metric)] * (-1.0 if lower else 1.0)
    values = np.where(np.isfinite(values), values, math.nan)
    kinds = np.array(list(table.kinds.values()))
    real, blind, lines = (values[:, kinds == kind] for kind in (SUBMISSION, "no skill", "one-liner"))
    best, other = best_of(real), best_of(blind)
    return {
        "gameability": plain(gameability(best, other, lower=lower)),
        "one_liners": plain(gameability(best, best_of(lines), lower=lower)),
        "beats_median": plain(beats_median(real, other)),
    }


def agreement(ranked: Mapping[str, Standings], lower: Sequence[str]) -> list[list[float | None]]:
    """Compute the Spearman correlation of the metrics' mean ranks over all series, of detectors that all list."""
    boards = {metric: found[ALL] for metric, found in ranked.items()}
    order = sorted(set.intersection(*(set(one["listed"]) for one in boards.values())))
    at = {metric: [one["listed"].index(i) for i in order] for metric, one in boards.items()}
    means = {
        metric: {"rank": [one["rank"][i] for i in at[metric]], "mean": [one["mean"][i] for i in at[metric]]}
        for metric, one in boards.items()
    }
    return agreement_of(means, lower)
