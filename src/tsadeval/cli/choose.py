"""`tsadeval choose`: the best detector, and its threshold, under a budget of false alarms."""

import inspect
import math
from typing import Annotated, Literal

import typer

from tsadeval.cli.options import Given, Shown, number_of, option, say, say_warnings, show, span_of, with_options
from tsadeval.scores.scores import Scores
from tsadeval.thresholds.choices import choose_threshold

_CHOICE: Given = {
    "max_false_alarms": option(
        str,
        inspect.Parameter.empty,
        "False alarms that are allowed: a rate such as 1/week, or a number.",
        "--budget",
        callback=number_of,
    ),
    "per": option(Literal["series", "all"], "series", "The budget is for each series, or for all of them together."),
    "cooldown": option(str, "0", "Alarms up to so long apart (30min; or points) are one page.", callback=span_of),
    "split": option(
        str,
        "",
        "Choose on the first part of each series (0.5) or before a moment; judge on the rest.",
        callback=number_of,
    ),
    "test": option(str, "", "Other scores to judge them on: a file or folder, read with the same options."),
    "maximize": option(
        str,
        "event_recall",
        'event_recall, or prices: "expected_cost(miss=500, false_alarm=40, delay_per_hour=9)".',
    ),
    "prefer": option(
        Literal["highest", "lowest"],
        "highest",
        "Of equally good thresholds that of the fewest false alarms, or the lowest.",
    ),
    "cost": option(str, "expected_cost", "The prices of the column of costs, in the same form."),
}


@with_options
def choose(
    scores: Scores,
    *,
    choice: Annotated[Given, _CHOICE],
    by_kind: Annotated[
        str, typer.Option(help="A column of the incidents, such as kind: recall, delay and cost by it.")
    ] = "",
    format: Shown = "text",
) -> None:
    """Choose the best detector and its threshold; exit code 1 where none keeps the budget, or scores are left out."""
    with say_warnings():
        found = choose_threshold(scores, **choice)
        say(scores.notes)
    shown = [show(found, format), *([show(found.by_kind(by_kind), format)] if by_kind else [])]
    typer.echo("\n\n".join(shown))
    if math.isinf(found.threshold) or scores.left_out_lines():
        raise typer.Exit(1)
