"""Values of a leaderboard, computed once and cached; its standings, gameability and agreement of metrics."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval._optional import require
from tsadeval.comparison import inference, paired, statistics
from tsadeval.comparison import standings as standings_module
from tsadeval.comparison.inference import CATEGORIES, SeriesFacts
from tsadeval.comparison.standings import agreement_of, beats_median, best_of, gameability, standings
from tsadeval.core.events import Events
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.names import printable
from tsadeval.core.results import Row, plain
from tsadeval.engine.cells import Chunk, Layout, Making, group_cells
from tsadeval.engine.compute import compute
from tsadeval.engine.progress import Progress, progress_of
from tsadeval.engine.run import complete
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.leaderboard.submissions import BASELINES, GAPS, Board, Series, file_digest, read_labels, read_scores
from tsadeval.rankeval.suites.adversaries import ADVERSARIES, Target
from tsadeval.rankeval.suites.audit import stream
from tsadeval.reports.html import address
from tsadeval.scores.scoring import observe
from tsadeval.tables.files import read_sealed, write_sealed
from tsadeval.thresholds.rules import parse_rule

SUBMISSION = "submission"
CELLS = 1000  # of a chunk, at least
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


LAYOUT = Layout.of(BoardCell, "tsadeval leaderboard build")


class Scorer(NamedTuple):
    """A submission or baseline: by series, the checksum of its score file, or its version."""

    name: str
    kind: str
    marks: Mapping[str, str]


def compute_values(
    board: Board,
    series: Series,
    folder: Path,
    *,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
) -> Any:
    """All values of a board as a table of Arrow, by series, scorer and metric.

    What the folder has of the same files, metrics and rule is not computed again. The table of the last build is kept
    beside the store: scorers of which nothing has changed are taken from it, without looking for each of their cells.
    """
    metrics = [parse_metric(text) for text in board.metrics]
    wanted = [(str(m), f"{m.version} {READING}", board.rule if m.kind == "predictions" else None) for m in metrics]
    scorers = _scorers(board, series)
    keys = {one.name: _key(one, series, wanted) for one in scorers}
    last = LastTable.read(folder / "last")
    fresh = [one for one in scorers if last.keys.get(one.name) != keys[one.name]]
    files = {one.name: one.scores for one in board.submissions}

    rule = parse_rule(board.rule)

    def chunks(missing: Iterable[BoardCell]) -> list[Chunk]:
        groups = group_cells(missing, lambda cell: cell.series)
        # A chunk is sent to a worker and written to the disk: not every few cells.
        parts: list[dict[str, list[BoardCell]]] = []
        for name, group in groups.items():
            if not parts or sum(map(len, parts[-1].values())) >= CELLS:
                parts.append({})
            parts[-1][name] = group
        return [
            Chunk(
                board_scorings,
                tuple(cell for group in part.values() for cell in group),
                {str(metric): metric for metric in metrics},
                {board.rule: rule},
                {name: (board.labels[name], {d: f[name] for d, f in files.items() if name in f}) for name in part},
            )
            for part in parts
        ]

    found = last.rows_of([one.name for one in scorers if one not in fresh])
    if fresh:
        cells = [
            BoardCell(one.name, one.kind, name, labels.file_sha256, one.marks[name], *metric)
            for name, labels in series.items()
            for one in fresh
            if name in one.marks
            for metric in wanted
        ]
        store: Store[BoardCell] = Store(folder, LAYOUT)
        complete(cells, chunks, compute, store, n_jobs=n_jobs, progress=progress, threads=True, known=len(found or ()))
        arrow = require("pyarrow", extra="all")
        found = arrow.concat_tables([*([found] if found is not None else []), store.table(cells)])
    else:
        with progress_of(progress, LAYOUT.command) as report:
            if report is not None:
                report(len(found), len(found), "")
    if fresh or keys != last.keys:
        found = _ordered(found, list(series), list(keys), list(board.metrics))
        failed = set(found.filter(_column_is(found, "status", "error"))["detector"].to_pylist())
        # What failed is tried again by the next build.
        LastTable({name: key for name, key in keys.items() if name not in failed}, found).write(folder / "last")
    return found


def _scorers(board: Board, series: Series) -> list[Scorer]:
    found = [
        Scorer(one.name, SUBMISSION, {name: file_digest(one.scores[name]) for name in series if name in one.scores})
        for one in board.submissions
    ]
    for name in BASELINES:
        one = ADVERSARIES[name]
        needed = [key for key, labels in series.items() if labels.valued or not one.needs_values]
        found.append(Scorer(name, one.kind, dict.fromkeys(needed, f"version {one.version}")))
    return [one for one in found if one.marks]


def _key(one: Scorer, series: Series, wanted: Sequence[tuple[str, str, str | None]]) -> str:
    """A checksum of everything that the values of a scorer follow from."""
    parts = [(name, series[name].file_sha256, mark) for name, mark in one.marks.items()]
    return hashlib.sha256(json.dumps([one.name, one.kind, parts, wanted]).encode()).hexdigest()


def _column_is(table: Any, column: str, value: str) -> Any:
    return require("pyarrow.compute", extra="all").equal(table[column], value)


def codes(table: Any, column: str, names: Sequence[str]) -> NDArray[np.int64]:
    """The values of a column as places in a list of names."""
    found = table[column].combine_chunks().dictionary_encode()
    place = {name: i for i, name in enumerate(names)}
    places = np.array([place[name] for name in found.dictionary.to_pylist()], np.int64)
    return np.asarray(places[found.indices.to_numpy()])


def _ordered(table: Any, series: Sequence[str], scorers: Sequence[str], metrics: Sequence[str]) -> Any:
    keys = codes(table, "metric", metrics), codes(table, "detector", scorers), codes(table, "series", series)
    return table.take(np.lexsort(keys))


class LastTable(NamedTuple):
    """All values of the last build, and by scorer the key of what they follow from; no table where there is none."""

    keys: dict[str, str]
    table: Any

    @classmethod
    def read(cls, path: Path) -> LastTable:
        """What is there; a file that cannot be read is no loss, since the store has all values."""
        arrow, parquet = require("pyarrow", extra="all"), require("pyarrow.parquet", extra="all")
        content = read_sealed(path)
        if content is None:
            return cls({}, None)
        try:
            table = parquet.read_table(arrow.BufferReader(content))
            keys = json.loads(table.schema.metadata[b"keys"])
            if table.column_names != list(LAYOUT.columns) or not isinstance(keys, dict):
                return cls({}, None)
        except (OSError, arrow.ArrowException, ValueError, KeyError, TypeError):
            return cls({}, None)
        return cls(keys, table.replace_schema_metadata(None))

    def rows_of(self, names: Sequence[str]) -> Any:
        """The rows of these scorers; None where there are none."""
        if not names:
            return None
        if set(names) == set(self.keys) and len(names) == len(set(self.table["detector"].unique().to_pylist())):
            return self.table
        arrow, compute = require("pyarrow", extra="all"), require("pyarrow.compute", extra="all")
        return self.table.filter(compute.is_in(self.table["detector"], arrow.array(list(names))))

    def write(self, path: Path) -> None:
        """Keep it for the next build."""
        buffer = require("pyarrow", extra="all").BufferOutputStream()
        table = self.table.replace_schema_metadata({"keys": json.dumps(self.keys)})
        require("pyarrow.parquet", extra="all").write_table(table, buffer, compression="zstd")
        write_sealed(path, buffer.getvalue().to_pybytes())


def board_scorings(chunk: Chunk) -> Iterator[Making]:
    """Give the scores of submissions and baselines; the payload has the files of labels and scores of each series."""
    for name, of_series in group_cells(chunk.cells, lambda cell: cell.series).items():
        path, files = chunk.payload[name]
        read = cache(partial(_labels, path, of_series[0].labels))
        for cells in group_cells(of_series, lambda cell: cell.detector).values():
            yield tuple(cells), partial(_scoring, cells[0], read, files)


def _labels(path: Path, digest: str) -> tuple[Any, Any, Events]:
    """Read labels, values and events of a series."""
    labels, values = read_labels(path)
    _refuse_changed(path, digest)
    return labels, values, Events.of(labels)


def _refuse_changed(path: Path, digest: str) -> None:
    """Refuse a file that is no longer what its checksum was taken of."""
    if file_digest(path) != digest:
        raise InvalidInputError(f"{printable(path)} has changed since the run began: run the command again")


def _scoring(
    cell: BoardCell, read: Callable[[], tuple[Any, Any, Events]], files: Mapping[str, Path]
) -> tuple[Scoring | None, Row]:
    """Return the scores of a submission or baseline; what is wrong with them is said in rows without a value."""
    labels, values, events = read()
    facts: Row = {"events": len(events), "anomalous": events.points}
    try:
        if cell.kind == SUBMISSION:
            scoring = _of_scores(labels, read_scores(files[cell.detector]))
        else:
            random = stream(cell.series, cell.detector, 0)
            scoring = Scoring.of(labels, ADVERSARIES[cell.detector].checked(Target(values, events), random))
    except TsadevalError as error:
        nothing = {"value": math.nan, "seconds": math.nan, "status": "missing", "message": str(error)}
        return None, {"n": events.n, **facts, **nothing}
    if cell.kind == SUBMISSION:
        _refuse_changed(files[cell.detector], cell.scores)
    return scoring, facts


def _of_scores(labels: Any, scores: Floats) -> Scoring:
    """Labels and scores, of which points without a score are left out as `compare` does."""
    if len(labels) != len(scores):
        raise InvalidInputError(f"{len(scores)} scores, but the series has {len(labels)} points")
    lost = np.isnan(scores)
    if lost.mean() > GAPS:
        raise InvalidInputError(f"{lost.mean():.1%} of the points have no score")
    return observe(labels, scores, missing="skip")


# What a leaderboard says: standings by metric and group of series, gameability, agreement of metrics.


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
    modules = (standings_module, inference, paired, statistics, sys.modules[__name__])
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
    """Compute what the board says of a metric itself: how far scorers without skill reach the best detector."""
    values = table.values[str(metric)] * (-1.0 if metric.direction == "lower" else 1.0)
    values = np.where(np.isfinite(values), values, math.nan)
    kinds = np.array([table.kinds[name] for name in table.detectors])
    real, blind, lines = (values[:, kinds == kind] for kind in (SUBMISSION, "no skill", "one-liner"))
    best, other = best_of(real), best_of(blind)
    return {
        "gameability": plain(gameability(best, other)),
        "one_liners": plain(gameability(best, best_of(lines))),
        "beats_median": plain(beats_median(real, other)),
    }


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
