"""The data of a report: everything that the page shows, as plain values and packed arrays."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.results import plain
from tsadeval.evaluation.baseline import perfect_values, random_values
from tsadeval.reports.board import agreement_of, standings
from tsadeval.reports.findings import dearest_false_alarms, explain_cce, threshold_of, worst_events
from tsadeval.reports.payload import Payloads, coarse, score_levels, value_codes
from tsadeval.reports.sweep import count_alarms

__all__ = ["Page", "SeriesInput", "build_page"]

Data = dict[str, Any]

# Points times lines that are drawn in full; beyond that only the extremes of every few points are kept.
DETAIL = 8_000_000
# Points times scorings times shuffles that baselines may cost, and the largest number of shuffles.
BUDGET, MOST_DRAWS = 30_000_000, 10
# Events in the table; of more the ones that cost most.
EVENTS = 2000


@dataclass
class SeriesInput:
    """One series: checked scores by detector, and what else is known of it."""

    name: str
    scorings: dict[str, Scoring]
    values: dict[str, Floats] = field(default_factory=dict)
    times: NDArray[Any] | None = None

    @property
    def n(self) -> int:
        """Number of points."""
        return next(iter(self.scorings.values())).n


@dataclass
class Page:
    """The data of a page and its arrays."""

    data: Data
    payloads: Payloads


def build_page(series: Sequence[SeriesInput], metrics: Sequence[Metric], rule: Rule, *, random_state: int = 0) -> Page:
    """Evaluate everything and put it together."""
    payloads = Payloads()
    detectors = list(dict.fromkeys(d for one in series for d in one.scorings))
    lines = sum(one.n * (len(one.scorings) + len(one.values)) for one in series)
    step = max(1, math.ceil(lines / DETAIL))
    points = sum(one.n * len(one.scorings) for one in series)
    draws = min(MOST_DRAWS, BUDGET // max(points, 1))
    data: Data = {
        "detectors": detectors,
        "metrics": [_metric(metric) for metric in metrics],
        "rule": str(rule),
        "step": step,
        "draws": draws if draws >= 2 else 0,
        "series": [_series(one, metrics, rule, payloads, step, draws, random_state) for one in series],
    }
    data["comparison"] = _comparison(data, metrics) if len(detectors) > 1 else None
    return Page(data, payloads)


def _metric(metric: Metric) -> Data:
    low, high = metric.range
    return {
        "name": str(metric),
        "label": metric.label,
        "summary": metric.summary,
        "kind": metric.kind,
        "lower": metric.direction == "lower",
        "range": [plain(low), plain(high)],
    }


def _series(
    one: SeriesInput,
    metrics: Sequence[Metric],
    rule: Rule,
    payloads: Payloads,
    step: int,
    draws: int,
    random_state: int,
) -> Data:
    truth = next(iter(one.scorings.values())).truth
    events = truth.events
    data: Data = {
        "name": one.name,
        "n": one.n,
        "anomalous": events.points,
        "starts": payloads.add(events.starts.astype(np.int32)),
        "stops": payloads.add(events.stops.astype(np.int32)),
        "labels_sha256": _sha256(truth.mask.astype(np.uint8)),
        "values": [],
        "times": None,
        "detectors": {},
    }
    if one.times is not None:
        milliseconds = one.times.astype("datetime64[ms]").astype(np.int64).astype(np.float64)
        data["times"] = payloads.add(milliseconds)
    for name, values in one.values.items():
        codes, low, high = value_codes(values)
        data["values"].append({"name": name, "low": low, "high": high, **_line(codes, step, payloads)})
    for name, scoring in one.scorings.items():
        data["detectors"][name] = _detector(scoring, metrics, rule, payloads, step, draws, random_state)
    return data


def _line(codes: NDArray[np.uint16], step: int, payloads: Payloads) -> Data:
    if step == 1:
        return {"codes": payloads.add(codes)}
    low, high = coarse(codes, step)
    return {"codes": payloads.add(low), "high_codes": payloads.add(high)}


def _detector(
    scoring: Scoring,
    metrics: Sequence[Metric],
    rule: Rule,
    payloads: Payloads,
    step: int,
    draws: int,
    random_state: int,
) -> Data:
    threshold = threshold_of(scoring, rule)
    levels = score_levels(scoring, (threshold,))
    counts = count_alarms(scoring, levels)
    breakdown = explain_cce(scoring)
    data: Data = {
        "low": scoring.low,
        "high": scoring.high,
        "thresholds": payloads.add(levels.thresholds),
        "shown": payloads.add(levels.shown),
        "start": levels.at(threshold),
        "threshold": threshold,
        "counts": {name: payloads.add(column.astype(np.int32)) for name, column in counts._asdict().items()},
        "metrics": _values(scoring, metrics, rule, draws, random_state),
        "scores_sha256": _sha256(scoring.scores),
        "worst": worst_events(scoring, breakdown, threshold) if breakdown is not None else [],
        "false": dearest_false_alarms(scoring, threshold),
        "cce": None,
        **_line(levels.codes, step, payloads),
    }
    table = _events(scoring, breakdown)
    data["events"] = {key: payloads.add(column) for key, column in table.items()}
    if breakdown is not None:
        parts = ("score", "event", "global_", "anomaly_event", "normal_event", "anomaly_global", "normal_global")
        data["cce"] = {part.rstrip("_"): getattr(breakdown, part) for part in parts}
    return data


def _events(scoring: Scoring, breakdown: Any) -> dict[str, NDArray[Any]]:
    """What is known of each anomaly, in order of time; of very many those that cost most."""
    events = scoring.events
    lost = np.zeros(len(events)) if breakdown is None else breakdown.events["lost"][breakdown.events["label"] == 1]
    kept = np.sort(np.argsort(-lost, kind="stable")[:EVENTS])
    mine = None if breakdown is None else breakdown.events[breakdown.events["label"] == 1][kept]
    peaks = [
        float(scoring.scores[a:b].max())
        for a, b in zip(events.starts[kept].tolist(), events.stops[kept].tolist(), strict=True)
    ]
    found: dict[str, NDArray[Any]] = {"number": kept.astype(np.int32), "peak": np.array(peaks, np.float64)}
    for column in ("mean", "score", "lost"):
        found[column] = (np.full(len(kept), math.nan) if mine is None else mine[column]).astype(np.float32)
    return found


def _values(scoring: Scoring, metrics: Sequence[Metric], rule: Rule, draws: int, random_state: int) -> list[Data]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is undefined is said in the table
        outcomes = [metric.run(scoring, rule) for metric in metrics]
        chance: list[tuple[float, float]] = [(math.nan, math.nan)] * len(metrics)
        if draws >= 2:
            chance = random_values(list(metrics), scoring, rule, draws, random_state)
        perfect = perfect_values(list(metrics), scoring)
    rows = []
    for outcome, (random, error), best in zip(outcomes, chance, perfect, strict=True):
        numbers = {"value": outcome.value, "random": random, "error": error, "perfect": best}
        row: Data = {key: plain(value) for key, value in numbers.items()}
        row |= {"threshold": plain(outcome.threshold), "rule": outcome.rule, "message": outcome.message}
        rows.append(row)
    return rows


def _comparison(data: Data, metrics: Sequence[Metric]) -> Data:
    """Statistics over the series, by metric; a detector without scores on a series has a gap there."""
    detectors: list[str] = data["detectors"]
    boards = {}
    for m, metric in enumerate(metrics):
        table = np.full((len(data["series"]), len(detectors)), math.nan)
        for row, one in zip(table, data["series"], strict=True):
            for name, found in one["detectors"].items():
                value = found["metrics"][m]["value"]
                row[detectors.index(name)] = math.nan if value is None else value
        boards[str(metric)] = standings(table, lower=metric.direction == "lower")
    lower = [str(metric) for metric in metrics if metric.direction == "lower"]
    return {"boards": boards, "agreement": agreement_of(boards, lower)}


def _sha256(array: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()).hexdigest()


def checked_values(values: Any, n: int, series: str) -> dict[str, Floats]:
    """The columns of a series by name, at most eight of them."""
    from tsadeval.errors import InvalidInputError

    if values is None:
        return {}
    if isinstance(values, Mapping):
        columns = {str(name): np.asarray(column, np.float64) for name, column in values.items()}
    else:
        array = np.asarray(values, np.float64)
        array = array[:, None] if array.ndim == 1 else array
        names = ["series"] if array.shape[1] == 1 else [f"column {i}" for i in range(array.shape[1])]
        columns = dict(zip(names, array.T, strict=True))
    for name, column in columns.items():
        if column.shape != (n,):
            where = f"series {series!r}: " if series else ""
            raise InvalidInputError(f"{where}values {name!r} has shape {column.shape}, but there are {n} points")
    return dict(list(columns.items())[:8])
