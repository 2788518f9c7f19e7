"""Data of a report that answers a question of operations: the chosen detector, its incidents and false pages."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tsadeval.comparison.standings import Data
from tsadeval.core.events import Index
from tsadeval.core.results import plain
from tsadeval.core.times import Times
from tsadeval.incidents.placement import EVENT_COLUMNS
from tsadeval.reports.page import SeriesView, offset_of
from tsadeval.thresholds.choose import Choice
from tsadeval.thresholds.pages import judged, prices_of, summary_of

METRICS = ("event_recall", "event_precision", "time_in_alarm")
IN_TIME = (*METRICS, "false_alarms(per='week')", "detection_delay(unit='min', statistic='median')")


def operations(series: Sequence[SeriesView], choice: Choice) -> Data:
    """Return what the page says of a choice, with the incidents and false pages of all series."""
    words = choice.words
    names = ("detector", "threshold", "events", "detected", "false_alarms", "rate", "median", "p90", "cost", "message")
    found = [_series(one, choice) for one in series]
    first = max(range(len(found)), key=lambda i: (_missed(found[i]) > 0, len(found[i]["incidents"]) > 0, -i))
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


def _missed(found: Data) -> int:
    return sum(not one["found"] for one in found["incidents"])


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
