"""Data of a report: its series, and all that the page shows, as plain and packed data; those of a choice too."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tsadeval.comparison.comparison import Comparison
from tsadeval.comparison.standings import Data, agreement_of, standings
from tsadeval.core.arrays import numbers_with_gaps
from tsadeval.core.durations import unit_size
from tsadeval.core.facts import OddAlarms, odd_alarms
from tsadeval.core.inputs import Bools, Floats, Index, LabelRuns, Scoring, label_runs
from tsadeval.core.metric import Metric, Rule, metric_labels
from tsadeval.core.results import Row, plain
from tsadeval.core.times import Times, longest
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.baseline import perfect_values, random_values
from tsadeval.evaluation.single import rows_of_scoring
from tsadeval.incidents.placement import EVENT_COLUMNS
from tsadeval.metrics.cce_formula import CCEBreakdown
from tsadeval.reports.payload import (
    MISSING,
    Counts,
    Payloads,
    coarse,
    count_alarms,
    dearest_false_alarms,
    explain_cce,
    score_levels,
    threshold_of,
    value_codes,
    worst_events,
)
from tsadeval.scores.scored import Scored, ignored_points
from tsadeval.scores.scores import SeriesScores
from tsadeval.thresholds.choose import Choice
from tsadeval.thresholds.pages import judged, prices_of, summary_of

# Points times lines that are drawn in full; beyond that only the extremes of every few points are kept.
DETAIL = 8_000_000
# Points times scorings times shuffles that baselines may cost, and the largest number of shuffles.
BUDGET, MOST_DRAWS = 30_000_000, 10
# Events in the table; of more the ones that cost most.
EVENTS = 2000
COLUMNS = 8  # of a series, at most
EARLIEST = 100_000_000  # seconds since 1970 (March 1973): smaller numbers are no dates


def given_scores(one: Scored) -> Floats:
    """Return the scores as they came, NaN where one is missing."""
    given = numbers_with_gaps(one.given.y_score, "y_score", "a one-dimensional sequence of numbers")
    return np.asarray(given, np.float64)


def offset_of(one: Scored) -> int:
    """Count the points before the first one of the scoring, which begins and ends with points that have a score."""
    given = given_scores(one)
    return int(np.argmin(np.isnan(given))) if one.scoring.n < len(given) else 0


@dataclass(frozen=True, eq=False)
class SeriesView:
    """One series: its labels, scorings by detector, and what else is known of it."""

    name: str
    labels: LabelRuns
    detectors: Mapping[str, Scored]
    values: Mapping[str, Floats]
    times: Times | None
    ignored: Bools | None  # points that are not judged, of all that have a label

    @classmethod
    def of(cls, series: SeriesScores, value_name: str = "") -> Self:
        """Take what is drawn of a series."""
        labels = label_runs(series.y_true, "y_true")
        ignore = next(iter(series.detectors.values())).given.ignore
        values = {value_name: series.values} if value_name and series.values is not None else series.values
        return cls(
            series.name,
            labels,
            series.detectors,
            checked_values(values, labels.n, series.name),
            series.times,
            None if ignore is None else ignored_points(ignore, labels.n, series.times)[0],
        )


def checked_values(values: Any, n: int, series: str) -> dict[str, Floats]:
    """Return the columns of a series by name, at most eight of them."""
    columns = {} if values is None else values if isinstance(values, Mapping) else {"": values}
    found: dict[str, Floats] = {}
    for name, given in columns.items():
        what = f"series {series!r}: " * bool(series) + (f"values {str(name)!r}" if name else "values")
        try:
            array = np.asarray(given, np.float64)
        except (TypeError, ValueError, RuntimeError) as error:
            reason = str(error).partition("\n")[0]
            raise InvalidInputError(f"{what} must be numbers, one column or several, to be drawn ({reason})") from None
        if array.shape[:1] != (n,) or array.ndim > (1 if name else 2):
            raise InvalidInputError(
                f"{what} must be one column or several with a number for each of {n} points, "
                f"found an array of shape {array.shape}"
            )
        several = array.reshape(n, -1).T
        names = [f"column {i}" for i in range(len(several))] if len(several) > 1 else [str(name) or "series"]
        found |= zip(names, several, strict=True)
    return dict(list(found.items())[:COLUMNS])


class Page:
    """The data of a page and its arrays; and, in `odd`, which detectors alarm everywhere or nowhere."""

    def __init__(
        self,
        series: Sequence[SeriesView],
        compared: Comparison,
        metrics: Sequence[Metric],
        rule: Rule,
        *,
        random_state: int = 0,
        cce: bool = True,
    ) -> None:
        self.payloads, self.odd = Payloads(), dict[tuple[str, str], OddAlarms | None]()
        self._metrics, self._rule, self._random_state, self._cce = list(metrics), rule, random_state, cce
        self._known = {
            (row["series"], row["detector"], row["metric"]): row
            for row in compared.rows
            if row["status"] in ("ok", "undefined", "error") and not row.get("seed")
        }
        lines = sum(one.labels.n * (len(one.detectors) + len(one.values)) for one in series)
        points = sum(one.labels.n * len(one.detectors) for one in series)
        self._step, self._draws = max(1, math.ceil(lines / DETAIL)), min(MOST_DRAWS, BUDGET // max(points, 1))
        self.data: Data = {
            "detectors": list(dict.fromkeys(name for one in series for name in one.detectors)),
            "metrics": _describe(metrics),
            "rule": str(rule),
            "missing": compared.missing,
            "step": self._step,
            "draws": self._draws if self._draws >= 2 else 0,
            "series": [self._series(one) for one in series],
            "comparison": _comparison(compared, metrics) if len(compared.detectors) > 1 else None,
        }

    def _add(self, *edges: NDArray[Any]) -> list[int]:
        """Keep positions of points."""
        return [self.payloads.add(edge.astype(np.int32)) for edge in edges]

    def _series(self, one: SeriesView) -> Data:
        starts, stops = self._add(one.labels.events.starts, one.labels.events.stops)
        stamps, clock = (None, None) if one.times is None else _clock(one.times)
        data: Data = {
            "name": one.name,
            "n": one.labels.n,
            "anomalous": one.labels.events.points,
            "starts": starts,
            "stops": stops,
            "labels_sha256": _sha256(one.labels.mask.astype(np.uint8)),
            "values": [],
            "times": None if stamps is None else self.payloads.add(stamps),
            "clock": clock,
            "ignored": None,
            "detectors": {},
        }
        if one.ignored is not None and one.ignored.any():
            skipped = label_runs(one.ignored, "ignore").events
            data["ignored"] = self._add(skipped.starts, skipped.stops)
        for name, values in one.values.items():
            codes, low, high = value_codes(values)
            data["values"].append({"name": name, "low": low, "high": high, **self._line(codes)})
        for name, scored in one.detectors.items():
            keys = [(one.name, name, str(metric)) for metric in self._metrics]
            rows = [self._known[key] for key in keys if key in self._known]
            if len(rows) < len(keys):  # scores of another seed
                rows = rows_of_scoring(scored.scoring, self._metrics, self._rule)
            data["detectors"][name] = self._detector(one, scored, rows)
            self.odd[one.name, name] = odd_alarms(rows, scored.scoring.n)
        return data

    def _line(self, codes: NDArray[np.uint16], gap: int = MISSING) -> Data:
        if self._step == 1:
            return {"codes": self.payloads.add(codes)}
        low, high = coarse(codes, self._step, gap)
        return {"codes": self.payloads.add(low), "high_codes": self.payloads.add(high)}

    def _detector(self, one: SeriesView, scored: Scored, rows: Sequence[Row]) -> Data:
        scoring, add = scored.scoring, self.payloads.add
        given, offset = given_scores(scored), offset_of(scored)
        threshold, plain_alarms = threshold_of(scoring, self._rule)
        levels = score_levels(scoring, (threshold,))
        breakdown = explain_cce(scoring) if self._cce else None
        # Of points without a score: no alarm at any level, and a gap in the line.
        codes = np.zeros(one.labels.n, np.uint16)
        codes[offset : offset + scoring.n] = levels.codes
        if one.ignored is not None and self._step == 1:
            # Points that have a score but are not judged: for the line alone, the page counts no alarms there.
            where = one.ignored & np.isfinite(given)
            found = np.searchsorted(levels.thresholds, given[where], side="left")
            codes[where] = np.clip(found, 1, len(levels.shown) - 1)
        kept = scoring.kept
        # Milliseconds of normal time that are judged, by which the library counts false alarms per week.
        shares = kept.setting.shares
        quiet = None if shares is None else float(shares[~kept.truth.mask].sum()) / 1_000_000
        data: Data = {
            "low": kept.low,
            "high": kept.high,
            "points": kept.n,
            "anomalous": scoring.events.points,
            "events_in_all": len(scoring.events),
            "missing": scored.missing,
            "quiet": quiet,
            "thresholds": add(levels.thresholds),
            "shown": add(levels.shown),
            "start": levels.at(threshold),
            "threshold": threshold,
            "plain": plain_alarms,
            "counts": dict(zip(Counts._fields, self._add(*count_alarms(scoring, levels)), strict=True)),
            "metrics": self._values(rows, scoring),
            "scores_sha256": _sha256(given),
            "worst": worst_events(scoring, breakdown, threshold, offset) if breakdown is not None else [],
            "false": dearest_false_alarms(scoring, threshold, offset),
            "cce": None,
            **self._line(codes, gap=0),
        }
        data["events"] = {key: add(column) for key, column in _events(one, scoring, offset, breakdown).items()}
        if breakdown is not None:
            parts = ("score", "event", "global_", "anomaly_event", "normal_event", "anomaly_global", "normal_global")
            data["cce"] = {part.rstrip("_"): getattr(breakdown, part) for part in parts}
        return data

    def _values(self, rows: Sequence[Row], scoring: Scoring) -> list[Data]:
        """Return the metrics of a scoring beside a random and a perfect one."""
        chance = [(math.nan, math.nan)] * len(self._metrics)
        if self._draws >= 2:
            chance = random_values(self._metrics, scoring, self._rule, self._draws, self._random_state)
        return [
            {
                "value": plain(row["value"]),
                "random": plain(random),
                "error": plain(error),
                "perfect": plain(best),
                "threshold": plain(row["threshold"]),
                "rule": row["rule"],
                "message": row["message"],
            }
            for row, (random, error), best in zip(rows, chance, perfect_values(self._metrics, scoring), strict=True)
        ]


def _describe(metrics: Sequence[Metric]) -> list[Data]:
    """Return what the page says of each metric."""
    labels = metric_labels(map(str, metrics))
    # Nothing of a table says what a delay without a unit is counted in.
    in_points = [m.name == "detection_delay" and m.options.get("unit", "points") == "points" for m in metrics]
    return [
        {
            "name": str(metric),
            "label": labels[str(metric)] + " (points)" * points,
            "summary": metric.summary,
            "kind": metric.kind,
            "lower": metric.direction == "lower",
            "range": [plain(edge) for edge in metric.range],
            "trivial": metric.kind == "predictions" and metric.best_is_trivial,
        }
        for metric, points in zip(metrics, in_points, strict=True)
    ]


def _clock(times: Times) -> tuple[Floats, Data]:
    """Return the stamps to show, and how: in the time zone or offset that they came with."""
    numbers = times.kind == "numbers" and abs(int(times.stamps[-1])) < EARLIEST * 1_000_000_000
    # Milliseconds are what browsers count in; numbers stay in the unit that they came in.
    unit = times.unit if numbers else 1_000_000
    return times.stamps / unit, {
        "kind": "numbers" if numbers else "dates",
        "zone": (times.zone.removeprefix("UTC") or "UTC") if times.kind == "dates with a time zone" else "",
        "unit": unit / 1_000_000,
        "step": times.step / unit,
        "gap": longest(times.step) / unit,
        "finest": 60_000 if not (times.stamps % unit_size("min")).any() else 1,
    }


def _events(one: SeriesView, scoring: Scoring, offset: int, breakdown: CCEBreakdown | None) -> dict[str, NDArray[Any]]:
    """Return what is known of each anomaly, in order of time; of very many those that cost most."""
    events = scoring.events
    costs = np.full(len(events), math.nan, [(name, np.float64) for name in ("mean", "score", "lost")])
    if breakdown is not None:
        costs = breakdown.events[breakdown.events["label"] == 1]
    kept = np.sort(np.argsort(-costs["lost"], kind="stable")[:EVENTS])
    starts, stops = events.starts[kept], events.stops[kept]
    peaks = [float(scoring.scores[a:b].max()) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    # A gap may part an event of the series: both parts have its number.
    number = np.searchsorted(one.labels.events.starts, starts + offset, side="right") - 1
    return {
        "number": number.astype(np.int32),
        "start": (starts + offset).astype(np.int32),
        "stop": (stops + offset).astype(np.int32),
        "peak": np.array(peaks, np.float64),
        **{name: costs[name][kept].astype(np.float32) for name in ("mean", "score", "lost")},
    }


def _comparison(compared: Comparison, metrics: Sequence[Metric]) -> Data:
    """Return the numbers of a comparison, by metric: averages and ranks, and who was told apart from whom."""
    averages, every = compared.average(), range(len(compared.series))
    boards = {}
    for metric in metrics:
        name = str(metric)
        flaws = compared.flaws(name, every)
        board = boards[name] = standings(compared.values(name), flaws, lower=metric.direction == "lower")
        board["mean"] = [plain(averages[detector][name]) for detector in compared.detectors]
        rows = (row for row in compared.rows if row["metric"] == name and math.isfinite(row["value"]))
        own = {(row["series"], row["detector"]) for row in rows}  # a value that stands for a missing one is not
        board["defined"] = [sum(d == detector for _, d in own) for detector in compared.detectors]
    return {
        "detectors": compared.names,
        "series": len(compared.series),
        "boards": boards,
        "flaws": {
            name: {series: compared.flaws(name, [i]) for i, series in enumerate(compared.series)} for name in boards
        },
        "agreement": agreement_of(boards, [str(metric) for metric in metrics if metric.direction == "lower"]),
    }


def _sha256(array: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()).hexdigest()


METRICS = ("event_recall", "event_precision", "time_in_alarm")
IN_TIME = (*METRICS, "false_alarms(per='week')", "detection_delay(unit='min', statistic='median')")


def operations(series: Sequence[SeriesView], choice: Choice) -> Data:
    """Return what the page says of a choice, with the incidents and false pages of all series."""
    words = choice.words
    names = ("detector", "threshold", "events", "detected", "false_alarms", "rate", "median", "p90", "cost", "message")
    found = [_series(one, choice) for one in series]
    first = max(
        range(len(found)),
        key=lambda i: (not all(one["found"] for one in found[i]["incidents"]), len(found[i]["incidents"]) > 0, -i),
    )
    return {
        "sentence": choice.sentence,
        "detector": choice.detector,
        "words": {name: words[name] for name in ("events", "pages", "per", "unit")},
        "about": f"The budget is {choice.asked}{words['each']}{words['apart']}.",
        "rows": [{name: plain(row[name]) for name in names} for row in choice.judged],
        "series": found,
        "first": first,
    }


def of_choice(series: Sequence[SeriesView], choice: Choice | None) -> Sequence[SeriesView]:
    """Return the series with the chosen detector alone, which is what is drawn; without a choice with all."""
    if choice is None:
        return series
    own = [(one, {name: x for name, x in one.detectors.items() if name == choice.detector}) for one in series]
    return [replace(one, detectors=detectors) for one, detectors in own]


def _series(one: SeriesView, choice: Choice) -> Data:
    """Return the places of incidents and false pages: points, and milliseconds where there are times."""
    scored, ends = one.detectors.get(choice.detector), _places(one.times, np.array([0]), np.array([one.labels.n]))[0]
    if scored is None:
        return {"ends": ends, "incidents": [], "pages": []}
    data = scored.scoring.above(choice.thresholds[choice.detector])
    offset, own = offset_of(scored), judged(scored, data, **choice.words["options"])
    events = scored.scoring.events
    prices = prices_of(choice.words["cost"])
    spans = [_places(one.times, each.starts + offset, each.stops + offset) for each in (events, own.false_pages)]
    incidents = [
        {
            "span": span,
            "found": row["detected"],
            "delay": row["delay"],
            "cost": summary_of([row], prices)["cost"],
            "about": {
                name: str(value)
                for name, value in row.items()
                if name not in EVENT_COLUMNS and name not in ("series", "detector") and value is not None
            },
        }
        for span, row in zip(spans[0], own.rows, strict=True)
    ]
    time = int((own.runs.ends - own.runs.starts).sum()) / 1_000_000
    return {"ends": ends, "incidents": incidents, "pages": spans[1], "normal": time}


def _places(times: Times | None, starts: Index, stops: Index) -> list[list[Any]]:
    """Return first point and one past the last of each span, and where these begin and end on the axis."""
    on_axis = (starts, stops) if times is None else (times.stamps[starts] / 1e6, times.ends[stops - 1] / 1e6)
    return [list(row) for row in zip(*(edge.tolist() for edge in (starts, stops, *on_axis)), strict=True)]
