"""The values of a leaderboard: one cell for each submission, series and metric, computed once and kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tsadeval.core.events import Events
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import Metric, Outcome, Rule, parse_metric
from tsadeval.core.results import Row
from tsadeval.engine.cells import OUTCOME, Layout, Working, versions
from tsadeval.engine.run import Progress, complete
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.rankeval.auditing.adversaries import ADVERSARIES, Target
from tsadeval.rankeval.auditing.plan import stream
from tsadeval.reports.submission import GAPS, Board, file_digest, labels_digest, read_labels, read_scores
from tsadeval.thresholds.rules import parse_rule

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BASELINES", "SUBMISSION", "BoardCell", "compute_values"]

SUBMISSION = "submission"
# Rows of their own on every board: scorers without skill, and one-liners.
BASELINES = tuple(name for name, one in ADVERSARIES.items() if one.kind in ("no skill", "one-liner"))


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


LAYOUT = Layout(
    BoardCell,
    {
        **dict.fromkeys(("detector", "kind", "series", "labels", "scores", "metric", "version", "rule"), "string"),
        **OUTCOME,
    },
    "tsadeval leaderboard build",
)


@dataclass(frozen=True)
class Chunk:
    """The cells of one series, and the files that they need."""

    cells: tuple[BoardCell, ...]
    labels: Path
    scores: Mapping[str, Path]


def compute_values(
    board: Board, folder: Path, *, n_jobs: int | None = None, progress: bool | Progress | None = None
) -> pd.DataFrame:
    """All values of a board; what the folder has of the same files, metrics and rule is not computed again."""
    metrics = [parse_metric(text) for text in board.metrics]
    for one in board.submissions:
        if one.name in BASELINES:
            raise InvalidInputError(f"submission {one.key}: {one.name!r} is the name of a baseline; choose another")
    cells = list(_cells(board, metrics))
    files = {one.name: one.scores for one in board.submissions}

    def chunks(missing: list[BoardCell]) -> list[Chunk]:
        groups: dict[str, list[BoardCell]] = {}
        for cell in missing:
            groups.setdefault(cell.series, []).append(cell)
        return [
            Chunk(tuple(group), board.labels[series], {d: f[series] for d, f in files.items() if series in f})
            for series, group in groups.items()
        ]

    store: Store[BoardCell] = Store(folder, LAYOUT)
    complete(cells, chunks, _compute, store, n_jobs=n_jobs, progress=progress, threads=True)
    return store.frame(cells)


def _cells(board: Board, metrics: Sequence[Metric]) -> Iterator[BoardCell]:
    rules = {str(m): board.rule if m.kind == "predictions" else None for m in metrics}
    for series, path in board.labels.items():
        digest = file_digest(path)
        valued = read_labels(path)[1] is not None
        scorers = [
            (one.name, SUBMISSION, file_digest(one.scores[series])) for one in board.submissions if series in one.scores
        ]
        for name in BASELINES:
            one = ADVERSARIES[name]
            if valued or not one.needs_values:
                scorers.append((name, one.kind, f"version {one.version}"))
        for name, kind, mark in scorers:
            for m in metrics:
                yield BoardCell(name, kind, series, digest, mark, str(m), m.version, rules[str(m)])


def _compute(chunk: Chunk) -> Iterator[Row | Working]:
    labels, values = read_labels(chunk.labels)
    events = Events.of(labels)
    wanted: dict[str, list[BoardCell]] = {}
    for cell in chunk.cells:
        wanted.setdefault(cell.detector, []).append(cell)
    metrics = {text: parse_metric(text) for text in {cell.metric for cell in chunk.cells}}
    rules = {text: parse_rule(text or "best") for text in {cell.rule for cell in chunk.cells}}
    for name, cells in wanted.items():
        facts: Row = {"n": events.n, "events": len(events), "anomalous": events.points, "versions": versions()}
        try:
            if cells[0].kind == SUBMISSION:
                scoring = _scoring(labels, read_scores(chunk.scores[name]))
            else:
                drawn = ADVERSARIES[name].checked(Target(values, events), stream(cells[0].series, name, 0))
                scoring = Scoring.of(labels, drawn)
        except TsadevalError as error:
            nothing = {"value": math.nan, "seconds": math.nan, "status": "missing", "message": str(error)}
            yield from ({**cell._asdict(), **facts, **nothing} for cell in cells)
            continue
        for cell in cells:
            yield Working((cell,))
            found = _outcome(metrics[cell.metric], scoring, rules[cell.rule])
            yield {**cell._asdict(), **facts, "n": scoring.n, **found}


def _scoring(labels: Any, scores: Floats) -> Scoring:
    """Labels and scores of the points that have a score."""
    if len(labels) != len(scores):
        raise InvalidInputError(f"{len(scores)} scores, but the series has {len(labels)} points")
    lost = np.isnan(scores)
    if lost.mean() > GAPS:
        raise InvalidInputError(f"{lost.mean():.1%} of the points have no score")
    return Scoring.of(labels[~lost], scores[~lost])


def _outcome(metric: Metric, scoring: Scoring, rule: Rule) -> Row:
    # Metrics of one scoring share what they compute, so `seconds` is not that of the metric alone: it is left out.
    found: Outcome = metric.run(scoring, rule)
    row = found._asdict()
    del row["rule"]
    row["seconds"] = math.nan
    return row


def digests(board: Board) -> dict[str, str]:
    """The checksum of the labels of every series."""
    return {series: labels_digest(read_labels(path)[0]) for series, path in board.labels.items()}
