"""`choose_threshold`: thresholds under a budget of false alarms, of one detector or several, judged on other data."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import compress
from typing import Any, Literal, Unpack

from tsadeval.core.durations import UNITS, duration_text, span_size
from tsadeval.core.facts import grouped
from tsadeval.core.messages import named
from tsadeval.core.metric import Metric
from tsadeval.core.parameters import Check, OneOf, Span, check_parameters
from tsadeval.core.results import Exact, Grid, Result, Row, all_digits
from tsadeval.core.selection import AnyMetric
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.scores.scores import Reading, Scores, as_scores
from tsadeval.thresholds.best import join, of_predictions, read_scorings
from tsadeval.thresholds.choose import CHECKS, Choice, choose
from tsadeval.thresholds.pages import (
    Judged,
    allowed_pages,
    best_of,
    budget_of,
    judged,
    observed,
    prices_of,
    steps_of,
    summary_of,
)

_CHECKS: dict[str, Check] = {**CHECKS, "per": OneOf(("series", "all", None)), "cooldown": Span(0, integer=True)}
CHOSEN, HELD_OUT = "chosen on", "held out"  # the parts of the data, in the column `part`
NOTHING = "no threshold that finds an event keeps the budget"


def choose_threshold(
    y_true: Any,
    y_score: Any = None,
    *,
    max_false_alarms: str | float | None = None,
    maximize: AnyMetric = "event_recall",
    times: Any = None,
    early: int | str = 0,
    max_time_in_alarm: float = 0.5,
    prefer: Literal["highest", "lowest"] = "highest",
    per: Literal["series", "all"] | None = None,
    cooldown: int | str = 0,
    split: Any = None,
    test: Any = None,
    cost: AnyMetric = "expected_cost",
    **reading: Unpack[Reading],
) -> Choice:
    """Find the threshold that is best for a metric among those that keep a budget of false alarms.

    Chosen with the labels, so take it on a validation part and apply it to others with `threshold=choice.threshold`.
    A false alarm is a run of alarms that touches no event. Far down, alarm runs join, and an alarm everywhere is a
    single run that is not false; so a threshold keeps the budget only where all higher ones do as well, and where no
    more than `max_time_in_alarm` of the normal points are alarmed. No alarm at all always keeps it. Of several best
    thresholds it is that of the fewest false alarms, and then the highest, so that most of the budget may be left;
    `prefer="lowest"` spends it.

    Of several detectors, or with `per`, `cooldown`, `split` or `test`, the answer is a table with a threshold
    for each detector, which all series share, and what it does; the best detector comes first.

    Parameters
    ----------
    y_true, y_score, times
        As for `evaluate`. Or mappings from the names of several series to theirs, for one threshold that all of them
        share: events and false alarms are counted over all series. Or `te.Scores`, or whatever `te.Scores` takes.
    max_false_alarms : str or float, default=None
        A rate such as "1/week" or "0.5 per day" of normal time that was observed (gaps in the times do not count, as
        for `false_alarms`), which needs `times`; or a number of false alarm runs in this series. None for any number.
    maximize : str or function, default="event_recall"
        A metric of predictions; of one that is better where it is lower, the least is looked for. Event recall is exact
        over all thresholds, and so is a metric whose best threshold of all keeps the budget. Otherwise the metric is
        computed at up to 1,000 thresholds that do, and at as many between the neighbours of the best of them. In a
        table event recall or expected cost.
    early : int or duration, default=0
        Alarms so shortly before an event are warnings: they find it and are not false.
    max_time_in_alarm : float, default=0.5
        The largest share of normal points that may be alarmed.
    prefer : {"highest", "lowest"}, default="highest"
        Of several best thresholds, that of the fewest false alarms and then the highest; or the lowest that keeps the
        budget. The lowest has more false alarms here, and finds more of later events that are weaker than these.
    per : {"series", "all"}, optional
        What the budget is for. "series", the default of tables: each series, so that a rate allows that many false
        alarms in the time of all series together. "all": all series together, in the time in which any was observed.
    cooldown : int or duration, default=0
        Alarms with at most so much time (or so many points) between them are one page; a page that holds an alarm
        inside an event is not false.
    split : float, moment or list of series, optional
        As for `te.Scores.split`: thresholds are chosen on the first part (a share of each series, what is before a
        moment, or these series) and judged on the other one as well.
    test : Scores or what it is made from, optional
        The same with other data, read with the same options.
    cost : str, default="expected_cost"
        Prices of the column of costs, such as "expected_cost(miss=500, false_alarm=40, delay_per_hour=120)"; by default
        those of `maximize` where that is such a cost. Each false page has the price of a false alarm.
    **reading
        Options of `te.Scores`: `ignore` (also one list of intervals for all series), `missing` and others.

    Returns
    -------
    Choice
        `threshold`, `value`, `false_alarms`, `detected`, and the trade-off as `rows`, `to_frame()` and
        `te.plot.trade_off`: of event recall the fewest false alarms for each number of events, of other metrics all
        thresholds that were looked at. Of several detectors a row for each, `detector` (the best),
        `thresholds`, `outcomes` (a row per event), `by_kind()` and `sentence`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 1, 1, 0, 0, 0, 1, 0, 0]
    >>> y_score = [0.1, 0.5, 0.9, 0.7, 0.2, 0.8, 0.3, 0.4, 0.1, 0.6]
    >>> choice = te.choose_threshold(y_true, y_score, max_false_alarms=1)
    >>> choice.detected, choice.false_alarms, 0.6 <= choice.threshold < 0.9
    (1, 0, True)
    >>> te.choose_threshold(y_true, y_score, max_false_alarms=3, max_time_in_alarm=0.6).detected
    2
    >>> two = te.Scores({"good": y_score, "poor": y_score[::-1]}, y_true)
    >>> te.choose_threshold(two, max_false_alarms=0, per="series")
    good at 0.85: 1 of 2 events, 0 false alarms, median delay 0 points
    <BLANKLINE>
    detector  threshold  events  false alarms  median, points     p90    cost
    --------  ---------  ------  ------------  --------------  ------  ------
    good           0.85  1 of 2             0          0.0000  0.0000  1.0000
    poor           0.85  1 of 2             0          0.0000  0.0000  1.0000
    <BLANKLINE>
    the budget 0 for each series allows 0 false alarms there
    cost: expected_cost
    """
    given: dict[str, Any] = {"early": early, "max_time_in_alarm": max_time_in_alarm, "prefer": prefer}
    check_parameters("choose_threshold", _CHECKS, {**given, "per": per, "cooldown": cooldown})
    metric = of_predictions(maximize)
    of_table = per is not None or cooldown != 0 or split is not None or test is not None
    if y_score is None:
        scores = as_scores(y_true, **({**reading, "time": times} if times is not None else reading))
        if of_table or (scores.repeatable and len(scores.detectors) > 1):
            return _choose_all(scores, metric, max_false_alarms, per or "series", cooldown, split, test, cost, given)
        y_true, times, reading = scores, None, {}
    elif of_table:
        raise InvalidInputError("per=, cooldown=, split= and test= are for te.Scores: te.Scores(y_score, y_true, ...)")
    scorings = read_scorings(y_true, y_score, times, reading)
    scoring = join(scorings)
    if not scoring.truth.has(1):
        raise InvalidInputError("y_true has no event: choose a threshold on a part that has some")
    # A number is that of all series together, a rate holds for the time of each.
    budgets = [budget_of(max_false_alarms, one) for one in scorings]
    budget = math.fsum(budgets) if isinstance(max_false_alarms, str) else budgets[0]
    return choose(scoring, metric, str(max_false_alarms), budget, **given)


def _choose_all(
    scores: Scores,
    metric: Metric,
    asked: str | float | None,
    per: str,
    cooldown: int | str,
    split: Any,
    test: Any,
    cost: AnyMetric,
    given: Mapping[str, Any],
) -> Choice:
    """Choose a threshold for each detector, and judge them on the part they were chosen on and on another one."""
    if metric.name not in ("event_recall", "expected_cost") or metric.options.get("early"):
        raise InvalidParameterError(f"of several detectors, maximize event_recall or expected_cost(...), not {metric}")
    by_cost = metric.name == "expected_cost"
    prices = metric if by_cost else prices_of(cost)
    if split is not None and test is not None:
        raise InvalidParameterError("split= and test= both say what is held out: give one of them")
    parts = {CHOSEN: scores}
    if split is not None:
        parts = dict(zip((CHOSEN, HELD_OUT), scores.split(**split_of(split)), strict=True))
    elif test is not None:
        options: Any = {name: getattr(scores.options, name) for name in Reading.__annotations__}
        same = isinstance(test, Scores) or hasattr(test, "source")
        parts[HELD_OUT] = as_scores(test, **({} if same else options))
    options = {"cooldown": cooldown, "early": given["early"]}
    steps = grouped((one.detector, steps_of(one, asked, prices=prices, **options)) for one in parts[CHOSEN])
    if not any(len(one.maxima) for own in steps.values() for one in own):
        raise InvalidInputError("there is no event: choose thresholds on a part that has some")
    budgets = {name: allowed_pages(asked, per, own) for name, own in steps.items()}
    way = {"share": given["max_time_in_alarm"], "lowest": given["prefer"] == "lowest"}
    best = {name: best_of(own, budgets[name], metric if by_cost else None, **way) for name, own in steps.items()}
    del steps
    found = {
        (name, part): own
        for part, some in parts.items()
        for name, own in grouped(
            (one.detector, judged(one, one.scoring.above(best[one.detector]), **options))
            for one in some
            if one.detector in best
        ).items()
    }
    timed = any(one.timed for own in found.values() for one in own)
    unit = _unit(asked) * timed
    rows = [_row(*key, best[key[0]], own, prices, per, span_size(unit)) for key, own in found.items()]
    for row in rows:
        row["value"] = row["cost"] if by_cost else row["recall"]
    ranked = sorted((row for row in rows if row["part"] == CHOSEN), key=partial(_rank, by_cost=by_cost))
    place = [row["detector"] for row in ranked]
    rows.sort(key=lambda row: (row["part"] == HELD_OUT, place.index(row["detector"])))
    outcomes = [{"part": part, **row} for (_, part), own in found.items() for one in own for row in one.rows]
    by, size = scores.options.series_columns, span_size(cooldown)
    series = by[0] if len(by) == 1 and by[0] not in ("file", "folder") else "series"
    apart = f"; alarms up to {duration_text(size) if size else f'{cooldown} points'} apart are one page"
    words: dict[str, Any] = {
        "events": "events" if scores.options.incidents is None else "incidents",
        "pages": "false pages" if cooldown else "false alarms",
        "per": f"a {unit}{f' and {series}' * (per == 'series')}" if unit else "",
        "each": f" for each {series}" if per == "series" else " for all series together",
        "unit": "min" if timed else "points",
        "apart": apart * bool(cooldown),
        "cost": str(prices),
        "options": options,
    }
    silent = [row["detector"] for row in ranked if row["message"]]
    most = max(budgets.values())
    allowed = "any number" if math.isinf(most) else f"{most:.6g} {words['pages']}"
    each = f"the budget {asked}{words['each']} allows" if asked is not None else "no budget:"
    about: dict[str, Any] = {name: rows[0][name] for name in ("detector", "threshold", "value", "false_alarms")}
    sentence = _sentence(rows, str(asked), words)
    return Choice(
        rows,
        lead=sentence,
        grids=_grids(rows, words),
        notes=[
            *([f"{named(silent)}: {NOTHING}, so no alarm"] if silent else []),
            f"{each} {allowed} there{words['apart']}",
            f"cost: {words['cost']}",
            *_said(parts[CHOSEN], rows),
        ],
        **about,
        detected=rows[0]["detected"],
        events=rows[0]["events"],
        asked=str(asked),
        budget=most,
        maximize=str(metric),
        exact=True,
        thresholds=best,
        sentence=sentence,
        judged=_judged(rows),
        outcomes=Result(outcomes),
        words=words,
    )


def _judged(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the part that was held out, where there is one, else all."""
    return [row for row in rows if row["part"] == HELD_OUT] or list(rows)


def _sentence(rows: Sequence[Row], asked: str, words: Mapping[str, Any]) -> str:
    """Return the answer in one sentence: of the part that was held out, where there is one."""
    row = next((row for row in _judged(rows) if row["detector"] == rows[0]["detector"]), rows[0])
    if row["message"]:
        return f"{NOTHING}: {asked}{words['each']}"
    rate = row["false_alarms"] if math.isnan(row["rate"]) else f"{row['rate']:.2g}"
    found = f"{row['detected']} of {row['events']} {words['events']}"
    pages = f"{rate} {words['pages']} {words['per']}".strip()
    text = f"{row['detector']} at {all_digits(row['threshold'])}: {found}, {pages}"
    if not math.isnan(row["median"]):
        timed = words["unit"] == "min"
        late = duration_text(round(row["median"] * UNITS["min"])) if timed else f"{row['median']:.4g} points"
        text += f", median delay {late}"
    if row["part"] == HELD_OUT:
        text += f", on data that it was not chosen on (chosen on: {rows[0]['detected']} of {rows[0]['events']})"
    return text


def _grids(rows: Sequence[Row], words: Mapping[str, Any]) -> list[tuple[str, Grid]]:
    """Return a table for each part of the data."""
    parts = grouped((row["part"], row) for row in rows)
    titles = {CHOSEN: "on the part that they were chosen on", HELD_OUT: "on the part that was held out"}
    head = ["detector", "threshold", words["events"], words["pages"], words["per"], f"median, {words['unit']}"]
    columns = [True] * 4 + [bool(words["per"])] + [True] * 3
    found = []
    for part, own in parts.items():
        body = [
            [
                row["detector"],
                Exact(row["threshold"]) if math.isfinite(row["threshold"]) else None,
                f"{row['detected']} of {row['events']}",
                row["false_alarms"],
                *(None if math.isnan(row[name]) else row[name] for name in ("rate", "median", "p90", "cost")),
            ]
            for row in own
        ]
        grid = [list(compress(line, columns)) for line in ([*head, "p90", "cost"], *body)]
        found.append((titles[part] * (len(parts) > 1), grid))
    return found


def split_of(split: Any) -> dict[str, Any]:
    """Return the argument of `te.Scores.split` that a share, a moment or a list of series is."""
    return {"share" if isinstance(split, float) else "series" if isinstance(split, (list, tuple)) else "at": split}


def _row(
    name: str, part: str, threshold: float, own: Sequence[Judged], prices: Metric, per: str, unit: int | None
) -> Row:
    """Sum up what a detector does on a part of the data."""
    false = sum(one.false for one in own)
    time = observed([one.runs for one in own], per)
    silent = math.isinf(threshold)
    return {
        "detector": name,
        "part": part,
        "threshold": threshold,
        "series": len(own),
        "false_alarms": false,
        "rate": false * unit / time if unit and time else math.nan,
        **summary_of([row for one in own for row in one.rows], prices, false),
        "status": "undefined" if silent else "ok",
        "message": NOTHING if silent else None,
    }


def _said(scores: Scores, rows: Sequence[Row]) -> list[str]:
    """Say what was left out, and which detectors were judged on fewer series than others."""
    most = {row["part"]: max(one["series"] for one in rows if one["part"] == row["part"]) for row in rows}
    lacking = [row for row in rows if row["series"] < most[row["part"]]]
    fewer = dict.fromkeys(f"{row['detector']} ({row['series']} of {most[row['part']]})" for row in lacking)
    lines = [f"left out: {line}" for line in scores.left_out_lines()]
    return lines + [f"on fewer series than the others: {named(list(fewer))}"] * bool(fewer)


def _rank(row: Row, *, by_cost: bool) -> tuple[float, ...]:
    """Sort the best first."""
    first = (row["cost"], -row["detected"]) if by_cost else (-row["detected"],)
    return (*first, row["false_alarms"], math.inf if math.isnan(row["median"]) else row["median"])


def _unit(asked: str | float | None) -> str:
    """Return the unit of time in which false alarms are counted: that of the budget, or a week."""
    return asked.replace(" per ", "/").partition("/")[2].strip() if isinstance(asked, str) else "week"
