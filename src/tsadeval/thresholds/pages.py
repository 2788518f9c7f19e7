"""Pages of an operator at every threshold: alarms with a cool-down, whether they are false, the events they find."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

import tsadeval.metrics._kernels.neighbours as kernel
from tsadeval.core.durations import UNITS, rate_of, span_size
from tsadeval.core.facts import grouped
from tsadeval.core.inputs import Bools, Events, Floats, Index, Prediction, Scoring
from tsadeval.core.metric import METRICS, Metric, Rule
from tsadeval.core.names import check_known
from tsadeval.core.parameters import Number
from tsadeval.core.results import Result, Row
from tsadeval.core.selection import AnyMetric, select_metrics
from tsadeval.errors import InvalidInputError, InvalidParameterError, hint
from tsadeval.incidents.placement import EVENT_COLUMNS, Began, began_of
from tsadeval.incidents.reader import Asked
from tsadeval.metrics.counting import SAME, STATISTICS, event_maxima, first_inside, level_ends, overlaps, records
from tsadeval.metrics.event_sweep import at_least, episodes, with_early
from tsadeval.scores.scored import Scored


def normal_points(scoring: Scoring | Prediction) -> Bools:
    """Return the normal points that are judged."""
    ignored = scoring.setting.ignored
    return ~scoring.truth.mask if ignored is None else ~(scoring.truth.mask | ignored)


def budget_of(given: str | float | None, scoring: Scoring) -> float:
    """Compute how many false alarms are allowed in this series."""
    if given is None:
        return math.inf
    if isinstance(given, str):
        rate = rate_of(given, "max_false_alarms")
        if scoring.setting.times is None:
            how = hint("so times= is needed", "so name the column of times with --time")
            raise InvalidInputError(f"max_false_alarms={given!r} is a rate, {how}")
        return float(scoring.setting.times.durations[normal_points(scoring)].sum()) * rate
    if not Number(0).accepts(given):
        raise InvalidParameterError(
            f"max_false_alarms must be a rate such as '1/week' or a number >= 0, but is {given!r}"
        )
    return float(given)


class Runs(NamedTuple):
    """Runs of time, in nanoseconds, in which a series was observed and normal."""

    starts: Index
    ends: Index

    @classmethod
    def of(cls, scoring: Scoring | Prediction) -> Self:
        """Find them; there are none without time stamps."""
        times = scoring.setting.times
        if times is None:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        normal = normal_points(scoring)
        starts, ends = times.stamps[normal], times.ends[normal]
        apart = np.flatnonzero(starts[1:] > ends[:-1])
        return cls(np.append(starts[:1], starts[apart + 1]), np.append(ends[apart], ends[-1:]))


def observed(runs: Sequence[Runs], per: str) -> int:
    """Return the time of all series one after the other, or per="all" that in which any of them was observed."""
    starts, ends = (np.concatenate(both) for both in zip(*runs, strict=True))
    if per == "all":
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], np.maximum.accumulate(ends[order])
        starts[1:] = np.maximum(starts[1:], ends[:-1])
    return int(np.maximum(ends - starts, 0).sum())


class Steps(NamedTuple):
    """What thresholds of a scoring can do: scores at which something happens, and its normal points."""

    changes: Floats  # the number of false pages changes here,
    by: Index  # by so many
    maxima: Floats  # an event is found
    earlier: Floats  # hours of delay change here,
    hours: Floats  # by so many
    normal: Any  # scores, in their own type
    inside: Any  # and those in events
    runs: Runs
    budget: float  # of the series alone


def steps_of(one: Scored, asked: str | float | None, cooldown: int | str, early: int | str, prices: Metric) -> Steps:
    """Find all that a threshold of a scoring can do, exact over all of its scores."""
    scoring = one.scoring
    priced = prices.options["delay_per_hour"] > 0
    if scoring.setting.times is None and (priced or not {span_size(cooldown), span_size(early)} <= {None}):
        how = hint("give them with time=", "name their column with --time")
        raise InvalidInputError(f"a cool-down, early alarms and hours of delay need time stamps: {how}")
    data, quiet = with_early(scoring, early), scoring.setting.quiet
    position, score = np.ascontiguousarray(data.descending["position"]), data.descending["score"]
    if quiet is not None:
        alarming = ~quiet[position]
        position, score = position[alarming], score[alarming]
    _, begins, ends = data.setting.stretches(cooldown, data.n)
    gap = data.setting.positions(cooldown, data.n)[0]
    counts = kernel.false_episodes(position, data.truth.mask.view(np.uint8), begins, ends, gap)
    last = level_ends(score)
    by = np.diff(counts[last], prepend=0)
    used = np.flatnonzero(by)
    own = scoring.raw.dtype
    raw = scoring.raw if quiet is None else np.where(quiet, -np.inf, scoring.raw).astype(own)
    earlier, hours = np.zeros(0), np.zeros(0)
    if priced and len(data.events):
        found = records(scoring.scores, scoring.events.starts, scoring.events.lengths)
        stamps = scoring.setting.clock.stamps
        late = (stamps[found.points] - stamps[scoring.events.starts[found.owner]]) / UNITS["h"]
        earlier, hours = scoring.scores[found.points], found.gained(late)
    return Steps(
        score[last[used]].astype(own),
        by[used].astype(np.int32),
        event_maxima(data) if len(data.events) else np.zeros(0),
        earlier,
        hours,
        raw[normal_points(scoring)],
        raw[scoring.truth.mask],
        Runs.of(scoring),
        budget_of(asked, scoring),
    )


def allowed_pages(asked: str | float | None, per: str, own: Sequence[Steps]) -> float:
    """Compute how many false pages a detector may have on all its series."""
    if per == "series" or asked is None:
        return math.fsum(one.budget for one in own)
    return rate_of(asked) * observed([one.runs for one in own], per) if isinstance(asked, str) else float(asked)


def best_of(own: Sequence[Steps], budget: float, target: Metric | None, *, share: float, lowest: bool) -> float:
    """Find the threshold of most events, or of the lowest cost, that keeps the budget; infinite for no alarm."""
    changes, by, maxima, earlier, hours = (np.concatenate([one[i] for one in own]) for i in range(5))
    levels = np.unique(np.concatenate([changes, maxima, earlier]).astype(np.float64))
    normal = np.concatenate([one.normal for one in own])
    kept = math.floor(share * len(normal))
    if kept < len(normal):
        normal.partition(len(normal) - 1 - kept)
        levels = levels[levels > normal[len(normal) - 1 - kept]]
    levels = np.append(levels, np.inf)[::-1]  # first no alarm at all
    false, detected = _sums(changes, by, levels), at_least(np.sort(maxima), levels)
    at = np.flatnonzero(np.maximum.accumulate(false) <= budget)
    worth = detected.astype(np.float64)
    if target is not None:
        worth = -price(target, len(maxima) - detected, false, _sums(earlier, hours, levels))
    chosen = best_at(worth, false, at, lowest=lowest)
    return _just_below(float(levels[chosen]), own) if detected[chosen] else math.inf


def best_at(worth: Floats, false: Any, at: Any, *, lowest: bool) -> int:
    """Find the best of some places of thresholds; of equal ones that of the fewest false alarms, or the last."""
    at = at[worth[at] >= worth[at].max() - SAME]
    return int(at[-1] if lowest else at[np.argmin(false[at])])


def _sums(scores: Floats, by: Any, levels: Floats) -> Any:
    """Sum up what has changed from the highest score down to each level."""
    order = np.argsort(scores)
    return np.append(0, np.cumsum(by[order][::-1]))[at_least(scores[order], levels)]


def price(prices: Metric, missed: Any, false: Any, hours: Any) -> Any:
    """Return the cost of missed events, false pages and hours of delay, as `expected_cost` has it."""
    miss, false_alarm, delay = (prices.options[name] for name in ("miss", "false_alarm", "delay_per_hour"))
    return miss * missed + false_alarm * false + delay * hours


def _just_below(v: float, own: Sequence[Steps]) -> float:
    """Return a threshold of few digits between a score and the next lower one of any series."""
    lower = max(values[values < v].max(initial=-np.inf) for one in own for values in (one.normal, one.inside))
    scores = np.array([lower, v] if lower > -np.inf else [v], np.result_type(*(one.normal for one in own)))
    return Scoring.of(np.zeros(len(scores), np.uint8), scores).just_below(v)


def pages_of(data: Prediction, events: Events, cooldown: int | str) -> tuple[Events, Index]:
    """Return the pages of alarms, and which of them hold an alarm inside an event."""
    pages = episodes(data, cooldown, 1)
    inside = np.append(0, np.cumsum(events.mask() & data.alarms.mask))  # runs that go on over a gap are two pages
    return pages, np.flatnonzero(inside[pages.stops] > inside[pages.starts])


def alarms_of(scoring: Scoring, rule: Rule) -> Prediction:
    """Return the alarms of a rule, which metrics of alarms have; those of event recall, where they differ by metric."""
    decision = METRICS["event_recall"].decide(scoring, rule)
    assert decision is not None  # a metric of alarms has them
    return decision.prediction


class Judged(NamedTuple):
    """What alarms do on one scoring: a row per event, and the pages that are false."""

    detector: str
    rows: list[Row]
    false_pages: Events
    runs: Runs
    timed: bool

    @property
    def false(self) -> int:
        """Number of false pages."""
        return len(self.false_pages)


def judged(one: Scored, data: Prediction, cooldown: int | str = 0, early: int | str = 0) -> Judged:
    """Judge the alarms of a scoring: each event, and the pages that hold no alarm inside one."""
    times, incidents = data.setting.times, one.given.incidents
    pages, right = pages_of(data, with_early(data, early).events, cooldown)
    false = Events(np.delete(pages.starts, right), np.delete(pages.stops, right), data.n)
    began = None if times is None or incidents is None else began_of(incidents, Asked(), data.events, times)
    found = event_rows(data, early, "points" if times is None else "min", began)
    rows = [{"series": one.series, "detector": one.detector, **row} for row in found]
    return Judged(one.detector, rows, false, Runs.of(data), times is not None)


def event_rows(data: Prediction, early: int | str, unit: str, began: Began | None) -> list[Row]:
    """Return a row per event: where it is, whether and how late it is detected, and what is known of its incidents."""
    found, runs = data.events, data.predicted
    warned = with_early(data, early).events
    size, edges = data.setting.positions(unit, data.n)
    first = first_inside(runs, warned.starts, warned.stops)
    detected = first < warned.stops
    lasting = edges if unit == "points" else data.setting.clock.observed
    starts = began.onsets if began is not None and unit != "points" else edges[found.starts]
    delay = (edges[np.minimum(first, data.n)] - starts) / size
    counts = np.bincount(overlaps(warned, runs).first, minlength=len(found))
    return [
        {
            "start": place_of(data, start, None if began is None else int(began.onsets[k])),
            "stop": end_of(data, stop),
            "duration": float(lasting[stop] - lasting[start] + edges[start] - starts[k]) / size,
            "detected": bool(detected[k]),
            "delay": max(float(delay[k]), 0.0) if detected[k] else None,
            "lead": max(-float(delay[k]), 0.0) if detected[k] and delay[k] < 0 else None,
            "alarms": int(counts[k]),
            **({} if began is None else began.known[k]),
        }
        for k, (start, stop) in enumerate(zip(found.starts.tolist(), found.stops.tolist(), strict=True))
    ]


def end_of(data: Prediction, position: int) -> Any:
    """Where what lasts up to a point ends: there, or before it where a gap in the times comes before that point."""
    times = data.setting.times
    if times is None or (position < len(times) and not times.after_gap[position]):
        return place_of(data, position)
    return times.moment(int(times.ends[position - 1]))


def place_of(data: Prediction, position: int, onset: int | None = None) -> Any:
    """Where a point is: its stamp, as it was given, or its number."""
    times = data.setting.times
    if times is None:
        return position
    if onset is not None and onset != times.edges[position]:
        return times.moment(onset)
    return times.at(position)


def summary_of(rows: Sequence[Row], prices: Metric, false: int = 0) -> Row:
    """Sum up events: how many were found, how late (in minutes, or points), and what that costs."""
    late = [row["delay"] for row in rows if row["delay"] is not None]
    detected = sum(row["detected"] for row in rows)
    return {
        "events": len(rows),
        "detected": detected,
        "recall": detected / len(rows) if rows else math.nan,
        **{which: float(STATISTICS[which](late)) if late else math.nan for which in ("median", "p90")},
        "cost": float(price(prices, len(rows) - detected, false, math.fsum(late) / 60)),
    }


def prices_of(cost: AnyMetric) -> Metric:
    """Return expected cost with its prices."""
    found = select_metrics(cost)[0]
    if found.name != "expected_cost":
        raise InvalidParameterError(f"cost must be expected_cost with its prices, but is {found}")
    return found


def by_kind(rows: Iterable[Row], column: str, prices: Metric, by: Sequence[str] = ()) -> Result:
    """Sum up events by the values of a column of their incidents, for each of some other columns."""
    rows = list(rows)
    known = dict.fromkeys(name for row in rows for name in row if name not in {*EVENT_COLUMNS, *by})
    check_known(column, list(known), "column", "the incidents")
    groups = grouped(((*(row[name] for name in by), str(row.get(column))), row) for row in rows)
    return Result(
        [{**dict(zip((*by, column), key, strict=True)), **summary_of(some, prices)} for key, some in groups.items()]
    )
