"""The work itself: train and score (or read what is kept), then judge. A chunk goes in, rows come out."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tsadeval.core.events import Events
from tsadeval.core.results import Row
from tsadeval.engine.cells import Working, versions
from tsadeval.engine.judge import Judge, failure
from tsadeval.errors import InvalidInputError
from tsadeval.experiments.cell import Chunk
from tsadeval.experiments.scores import Kept, keep_scores, read_scores

__all__ = ["compute"]


def compute(chunk: Chunk) -> Iterator[Row | Working]:
    """A row for every cell. What the detector or the data stumble over is a finding, not the end of the run."""
    yield Working(chunk.cells)
    try:
        kept = _kept(chunk)
    except Exception as error:
        lost = {**failure(error), "seconds": math.nan, "versions": versions()}
        yield from ({**cell._asdict(), **lost} for cell in chunk.cells)
        return
    judge = Judge(kept.labels, kept.scores)
    events = Events.of(kept.labels)
    facts = {
        "n": events.n,
        "events": len(events),
        "anomalous": events.points,
        "versions": versions(),
        **{key: kept.provenance[key] for key in ("fit_seconds", "score_seconds", "device")},
    }
    for cell in chunk.cells:
        yield Working((cell,))
        yield {**cell._asdict(), **facts, **judge.outcome(cell.metric, cell.threshold, chunk.metrics[cell.metric])}


def _kept(chunk: Chunk) -> Kept:
    """The scores; the data are loaded only where they are needed."""
    kept = read_scores(chunk.folder, chunk.source.name, chunk.checksum, chunk.entrant, chunk.source.labels)
    if kept is not None:
        return kept
    dataset = chunk.source.load()
    if dataset.description.checksum != chunk.checksum:
        raise InvalidInputError(
            f"{chunk.source.name} has changed since the run began, so its values were not kept: run the command again"
        )
    return keep_scores(dataset, chunk.entrant, chunk.folder, name=chunk.source.name, device=chunk.device)
