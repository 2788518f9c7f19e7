"""Data of a report: everything that the page shows, as plain values and packed arrays."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.comparison.comparison import Comparison
from tsadeval.comparison.standings import agreement_of, standings
from tsadeval.core.durations import unit_size
from tsadeval.core.facts import OddAlarms, odd_alarms
from tsadeval.core.inputs import Scoring, label_runs
from tsadeval.core.messages import Odd
from tsadeval.core.metric import Metric, Rule, metric_labels
from tsadeval.core.results import Row, plain
from tsadeval.core.times import longest
from tsadeval.evaluation.baseline import perfect_values, random_values
from tsadeval.evaluation.many import rows_of_scoring
from tsadeval.reports.findings import dearest_false_alarms, explain_cce, threshold_of, worst_events
from tsadeval.reports.payload import MISSING, Levels, Payloads, coarse, count_alarms, score_levels, value_codes
from tsadeval.reports.series_view import ScoringView, SeriesView

Data = dict[str, Any]

# Points times lines that are drawn in full; beyond that only the extremes of every few points are kept.
DETAIL = 8_000_000
# Points times scorings times shuffles that baselines may cost, and the largest number of shuffles.
BUDGET, MOST_DRAWS = 30_000_000, 10
# Events in the table; of more the ones that cost most.
EVENTS = 2000


@dataclass
class Page:
    """The data of a page and its arrays."""

    data: Data
    payloads: Payloads
    odd: Odd
    compared: Comparison


@dataclass(frozen=True)
class _Plan:
    """What is computed of every scoring, and how much of it is kept."""

    metrics: tuple[Metric, ...]
    rule: Rule
    step: int
    draws: int
    random_state: int
    known: Mapping[tuple[str, str], Mapping[str, Row]]  # rows by scoring, then by metric


def build_page(
    series: Sequence[SeriesView], compared: Comparison, metrics: Sequence[Metric], rule: Rule, *, random_state: int = 0
) -> Page:
    """Put everything together: the values of the comparison, and what only a page has."""
    payloads = Payloads()
    lines = sum(one.n * (len(one.detectors) + len(one.values)) for one in series)
    points = sum(one.n * len(one.detectors) for one in series)
    draws = min(MOST_DRAWS, BUDGET // max(points, 1))
    plan = _Plan(tuple(metrics), rule, max(1, math.ceil(lines / DETAIL)), draws, random_state, _by_scoring(compared))
    odd: dict[tuple[str, str], OddAlarms | None] = {}
    data: Data = {
        "detectors": list(dict.fromkeys(name for one in series for name in one.detectors)),
        "metrics": _metrics(metrics),
        "rule": str(rule),
        "missing": compared.missing,
        "step": plan.step,
        "draws": draws if draws >= 2 else 0,
        "series": [_series(one, plan, payloads, odd) for one in series],
    }
    data["comparison"] = _comparison(compared, metrics) if len(compared.detectors) > 1 else None
    return Page(data, payloads, odd, compared)


def _by_scoring(compared: Comparison) -> dict[tuple[str, str], dict[str, Row]]:
    """The rows of a comparison by series and detector, then by metric."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in compared.rows:
        if row["status"] in ("ok", "undefined") and not row.get("seed"):
            found.setdefault((row["series"], row["detector"]), {})[row["metric"]] = row
    return found


def _metrics(metrics: Sequence[Metric]) -> list[Data]:
    labels = metric_labels(str(metric) for metric in metrics)
    return [_metric(metric, labels[str(metric)]) for metric in metrics]


def _metric(metric: Metric, label: str) -> Data:
    low, high = metric.range
    # Nothing of a table says what a delay without a unit is counted in.
    in_points = metric.name == "detection_delay" and metric.options.get("unit", "points") == "points"
    return {
        "name": str(metric),
        "label": f"{label} (points)" if in_points else label,
        "summary": metric.summary,
        "kind": metric.kind,
        "lower": metric.direction == "lower",
        "range": [plain(low), plain(high)],
        "trivial": metric.kind == "predictions" and metric.best_is_trivial,
    }


def _series(one: SeriesView, plan: _Plan, payloads: Payloads, odd: dict[tuple[str, str], OddAlarms | None]) -> Data:
    events = one.labels.events
    data: Data = {
        "name": one.name,
        "n": one.n,
        "anomalous": events.points,
        "starts": payloads.add(events.starts.astype(np.int32)),
        "stops": payloads.add(events.stops.astype(np.int32)),
        "labels_sha256": _sha256(one.labels.mask.astype(np.uint8)),
        "values": [],
        "times": None,
        "clock": None,
        "ignored": None,
        "detectors": {},
    }
    if one.clock is not None:
        clock = one.clock
        # Milliseconds are what browsers count in; numbers stay in the unit that they came in.
        unit = clock.unit if clock.kind == "numbers" else 1_000_000
        data["times"] = payloads.add(clock.stamps / unit)
        data["clock"] = {
            "kind": clock.kind,
            "zone": clock.zone,
            "unit": unit / 1_000_000,
            "step": clock.step / unit,
            "gap": longest(clock.step) / unit,
            "finest": 60_000 if not (clock.stamps % unit_size("min")).any() else 1,
        }
    if one.ignored is not None and one.ignored.any():
        skipped = label_runs(one.ignored, "ignore").events
        data["ignored"] = [payloads.add(edge.astype(np.int32)) for edge in (skipped.starts, skipped.stops)]
    for name, values in one.values.items():
        codes, low, high = value_codes(values)
        data["values"].append({"name": name, "low": low, "high": high, **_line(codes, plan.step, payloads)})
    for name, judged in one.detectors.items():
        rows = _rows(one.name, name, judged.scoring, plan)
        data["detectors"][name] = _detector(one, judged, rows, plan, payloads)
        odd[one.name, name] = odd_alarms(rows, judged.scoring.n)
    return data


def _line(codes: NDArray[np.uint16], step: int, payloads: Payloads, gap: int = MISSING) -> Data:
    if step == 1:
        return {"codes": payloads.add(codes)}
    low, high = coarse(codes, step, gap)
    return {"codes": payloads.add(low), "high_codes": payloads.add(high)}


def _rows(series: str, detector: str, scoring: Scoring, plan: _Plan) -> list[Row]:
    """The rows of a scoring: those of the comparison, and new ones where it lacks some."""
    known = plan.known.get((series, detector), {})
    if all(str(metric) in known for metric in plan.metrics):
        return [known[str(metric)] for metric in plan.metrics]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is undefined is said in the table
        return rows_of_scoring(scoring, plan.metrics, plan.rule)


def _detector(one: SeriesView, judged: ScoringView, rows: Sequence[Row], plan: _Plan, payloads: Payloads) -> Data:
    scoring = judged.scoring
    threshold, plain_alarms = threshold_of(scoring, plan.rule)
    levels = score_levels(scoring, (threshold,))
    counts = count_alarms(scoring, levels)
    breakdown = explain_cce(scoring)
    # Of points without a score: no alarm at any level, and a gap in the line.
    codes = np.zeros(one.n, np.uint16)
    codes[judged.offset : judged.offset + scoring.n] = levels.codes
    if one.ignored is not None and plan.step == 1:
        _draw_ignored(codes, one.ignored, judged, levels)
    kept = scoring.kept
    data: Data = {
        "low": kept.low,
        "high": kept.high,
        "points": kept.n,
        "anomalous": scoring.events.points,
        "events_in_all": len(scoring.events),
        "missing": judged.missing,
        "quiet": _quiet_time(scoring),
        "thresholds": payloads.add(levels.thresholds),
        "shown": payloads.add(levels.shown),
        "start": levels.at(threshold),
        "threshold": threshold,
        "plain": plain_alarms,
        "counts": {name: payloads.add(column.astype(np.int32)) for name, column in counts._asdict().items()},
        "metrics": _values(rows, scoring, plan),
        "scores_sha256": _sha256(judged.given),
        "worst": worst_events(scoring, breakdown, threshold, judged.offset) if breakdown is not None else [],
        "false": dearest_false_alarms(scoring, threshold, judged.offset),
        "cce": None,
        **_line(codes, plan.step, payloads, gap=0),
    }
    table = _events(one, judged, breakdown)
    data["events"] = {key: payloads.add(column) for key, column in table.items()}
    if breakdown is not None:
        parts = ("score", "event", "global_", "anomaly_event", "normal_event", "anomaly_global", "normal_global")
        data["cce"] = {part.rstrip("_"): getattr(breakdown, part) for part in parts}
    return data


def _quiet_time(scoring: Scoring) -> float | None:
    """Milliseconds of normal time that are judged, by which the library counts false alarms per week."""
    judged = scoring.kept
    shares = judged.setting.shares
    return None if shares is None else float(shares[~judged.truth.mask].sum()) / 1_000_000


def _draw_ignored(codes: NDArray[np.uint16], ignored: NDArray[np.bool_], judged: ScoringView, levels: Levels) -> None:
    """Codes of points that have a score but are not judged: for the line alone, the page counts no alarms there."""
    where = ignored & np.isfinite(judged.given)
    found = np.searchsorted(levels.thresholds, judged.given[where], side="left")
    codes[where] = np.clip(found, 1, len(levels.shown) - 1)


def _events(one: SeriesView, judged: ScoringView, breakdown: Any) -> dict[str, NDArray[Any]]:
    """What is known of each anomaly, in order of time; of very many those that cost most."""
    scoring = judged.scoring
    events = scoring.events
    lost = np.zeros(len(events)) if breakdown is None else breakdown.events["lost"][breakdown.events["label"] == 1]
    kept = np.sort(np.argsort(-lost, kind="stable")[:EVENTS])
    mine = None if breakdown is None else breakdown.events[breakdown.events["label"] == 1][kept]
    starts, stops = events.starts[kept], events.stops[kept]
    peaks = [float(scoring.scores[a:b].max()) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    found: dict[str, NDArray[Any]] = {
        # A gap may part an event of the series: both parts have its number.
        "number": (np.searchsorted(one.labels.events.starts, starts + judged.offset, side="right") - 1).astype(
            np.int32
        ),
        "start": (starts + judged.offset).astype(np.int32),
        "stop": (stops + judged.offset).astype(np.int32),
        "peak": np.array(peaks, np.float64),
    }
    for column in ("mean", "score", "lost"):
        found[column] = (np.full(len(kept), math.nan) if mine is None else mine[column]).astype(np.float32)
    return found


def _values(rows: Sequence[Row], scoring: Scoring, plan: _Plan) -> list[Data]:
    """The metrics of a scoring beside a random and a perfect one."""
    metrics = plan.metrics
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is undefined is said in the table
        chance: list[tuple[float, float]] = [(math.nan, math.nan)] * len(metrics)
        if plan.draws >= 2:
            chance = random_values(list(metrics), scoring, plan.rule, plan.draws, plan.random_state)
        perfect = perfect_values(list(metrics), scoring)
    shown = []
    for row, (random, error), best in zip(rows, chance, perfect, strict=True):
        numbers = {"value": row["value"], "random": random, "error": error, "perfect": best}
        values: Data = {key: plain(value) for key, value in numbers.items()}
        shown.append(values | {"threshold": plain(row["threshold"]), "rule": row["rule"], "message": row["message"]})
    return shown


def _comparison(compared: Comparison, metrics: Sequence[Metric]) -> Data:
    """The numbers of a comparison, by metric: its averages and ranks, and who was told apart from whom."""
    averages = compared.average()
    boards = {}
    for metric in metrics:
        name = str(metric)
        board = boards[name] = standings(compared.values(name), lower=metric.direction == "lower")
        board["mean"] = [plain(averages[detector][name]) for detector in compared.detectors]
        rows = [row for row in compared.rows if row["metric"] == name and math.isfinite(row["value"])]
        own = {(row["series"], row["detector"]) for row in rows}  # a value that stands for a missing one is not
        board["defined"] = [sum(d == detector for _, d in own) for detector in compared.detectors]
    return {
        "detectors": compared.names,
        "series": len(compared.series),
        "boards": boards,
        "agreement": agreement_of(boards, [str(metric) for metric in metrics if metric.direction == "lower"]),
    }


def _sha256(array: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()).hexdigest()
