"""`tsadeval watch`: follow the scores of a detector in operation, run by cron: what is new, pages, incidents, drift."""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from tsadeval.cli.options import say, say_warnings, with_options
from tsadeval.core.arrays import numbers_with_gaps
from tsadeval.core.durations import rate_of, span_size
from tsadeval.core.metric import METRICS, Rule
from tsadeval.core.names import printable
from tsadeval.core.results import Row
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.scores.scored import ignored_points
from tsadeval.scores.scores import SCORE, LeftOut, Scored, Scores, causes
from tsadeval.streams.evaluator import StreamingEvaluator
from tsadeval.tables.files import write_whole
from tsadeval.thresholds.rules import parse_rule

CHANGED = 3  # exit code: the scores have drifted, or the budget is broken


@with_options
def watch(
    scores: Scores,
    *,
    state: Annotated[Path, typer.Option(help="File of what is known so far; it is made by the first run.")],
    budget: Annotated[str, typer.Option(help="False pages that a series may have: 1/week.")] = "1/week",
    threshold: Annotated[
        str,
        typer.Option(
            help="For the first run: a number, sustained(3, 5), hysteresis(3, 2), or a rule that finds a number in its "
            "scores; by default the best within the budget, which needs --incidents."
        ),
    ] = "",
    cooldown: Annotated[
        str, typer.Option(help="For the first run: alarms with no more quiet time between them are one page.")
    ] = "",
    window: Annotated[str, typer.Option(help="For the first run: the time in which pages count and drift.")] = "7 days",
    false_warnings: Annotated[
        str, typer.Option(help="For the first run: warnings of drift that scores without any may get.")
    ] = "1/year",
) -> None:
    """Follow scores in operation: say what is new; exit code 3 while they drift or break the budget."""
    rate, rule = rate_of(budget, "--budget"), parse_rule(threshold or f"budget({budget})")
    if span_size(window) is None:
        raise InvalidParameterError(f"--window must be a time such as '7 days', but is {window!r}")
    if not isinstance(scores.options.time, str):
        raise InvalidInputError("what is new is known by time stamps: name their column with --time")
    if scores.options.incidents is None:
        scores = scores.with_options(incidents=[])
    try:
        known: Row = json.loads(state.read_text()) if state.exists() else {"series": {}}
    except ValueError as error:
        raise InvalidInputError(f"{printable(state)}: is no state of `tsadeval watch` ({error})") from None
    lost, bad = [], False
    with say_warnings():
        for one in scores.read(together=False):
            if isinstance(one, LeftOut):
                lost.append(one)
                continue
            name = "/".join([one.series, *[one.detector] * (one.detector != SCORE)])
            before = known["series"].get(name)
            if before is None:
                stream = _begin(
                    one, rule, {"cooldown": cooldown or 0, "window": window, "false_warnings": false_warnings}
                )
            else:
                stream = StreamingEvaluator.from_state(before["stream"])
            _add_new(stream, one)
            if stream.times is None:
                continue
            lines, after = _compare(stream, one.given.incidents, before, rate)
            for line in lines:
                typer.echo(f"{printable(name)}: {line}")
            known["series"][name] = {**after, "stream": stream.to_state()}
            bad = bad or after["drifted"] or after["broken"]
        say([*scores.said(), *causes(lost)])
    # After the messages: who is stopped before this line says them once more, and no point counts twice.
    write_whole(state, json.dumps(known).encode())
    if bad or lost:
        raise typer.Exit(CHANGED if bad else 1)


def _begin(one: Scored, rule: Rule, options: Row) -> StreamingEvaluator:
    """Make the evaluator of a series that is seen for the first time; its scores outside of incidents are reference."""
    scoring = one.scoring.kept
    reference = scoring.scores[~scoring.truth.mask]
    try:
        return StreamingEvaluator(rule, reference=reference, **options)
    except InvalidParameterError:  # a stream cannot follow the rule: it has to find a number now
        if getattr(rule, "uses_labels", False) and not one.scoring.truth.has(1):
            raise InvalidInputError(
                f"{one.given.name}: no incident to choose a threshold by: name a file of them with --incidents, or "
                "give a number as --threshold"
            ) from None
        found = METRICS["event_recall"].decide(one.scoring, rule)
        if getattr(rule, "of_rules", 0) or found is None or found.threshold is None:
            raise
        return StreamingEvaluator(found.threshold, reference=reference, **options)


def _add_new(stream: StreamingEvaluator, one: Scored) -> None:
    """Add the points after the last one that is known, but for those without a score and those to ignore."""
    given = one.given
    scores = np.asarray(numbers_with_gaps(given.y_score, "y_score", "a sequence of numbers"), np.float64)
    new = np.isfinite(scores)
    if stream.times is not None:
        new &= given.times.stamps > stream.times.stamps[-1]
    if given.ignore is not None:
        new &= ~ignored_points(given.ignore, len(scores), given.times)[0]
    new[-1] &= not _is_unfinished(given.place)
    if new.any():
        stream.update(None, scores[new], given.times.at_points(new))


def _is_unfinished(path: str) -> bool:
    """Return True if the last line of a local file of text has no end, so that more of it may come."""
    file = Path(path)
    return file.suffix.lower() in (".csv", ".tsv", ".jsonl") and file.is_file() and file.read_bytes()[-1:] != b"\n"


def _compare(stream: StreamingEvaluator, incidents: Any, before: Row | None, rate: float) -> tuple[list[str], Row]:
    """Return what has changed, a line each, and what is known now."""
    found, table, times = stream.compute(incidents), stream.events(incidents), stream.times
    assert times is not None
    assert found.drift is not None
    pages = next(row["recent"] for row in found.rows if row["metric"] == "false_pages")
    allowed = rate * (span_size(stream.window) or 0)
    until, end = times.moment(int(times.stamps[-1])), times.moment(int(times.ends[-1]))
    closed = {f"{row['start']} {row['detected']}": row for row in table.rows if row["detected"] or row["stop"] < end}
    after = {
        "until": int(times.stamps[-1]),
        "incidents": list(closed),
        "drifted": found.drift.warning is not None,
        "broken": pages > allowed,
    }
    if before is None:
        pages, detected, events = (table.summary[name] for name in ("alarms", "detected", "events"))
        what = f"{len(times):,} points until {until}, threshold {stream.threshold}"
        return [f"{what}: {pages} pages, {detected} of {events} incidents"], after
    new = [row["start"] for row in table.false_alarms if row["start"] > times.moment(before["until"])]
    lines = [f"page at {start}, false so far" for start in new]
    for row in (row for key, row in closed.items() if key not in before["incidents"]):
        how = f"found after {row['delay']:.4g} min" if row["detected"] else "missed"
        lines.append(f"incident at {row['start']} {how}")
    if after["broken"] != before["broken"]:
        number = f"{pages:.0f} false pages in the last {stream.window}, {allowed:.4g} allowed"
        lines.append(f"the budget is {'broken' if after['broken'] else 'kept again'}: {number}")
    if after["drifted"] != before["drifted"]:
        lines.append(found.drift.warning or "the scores are near the reference again")
    return lines, after
