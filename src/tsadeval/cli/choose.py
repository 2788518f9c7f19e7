"""`tsadeval choose`: the best detector, and its threshold, under a budget of false alarms."""

import math
from typing import Annotated, Literal

import typer

from tsadeval.cli.options import Shown, say, say_warnings, show, with_options
from tsadeval.core.names import is_number
from tsadeval.scores.scores import Scores
from tsadeval.thresholds.choices import Choices, choose_threshold

_Test = Annotated[
    str, typer.Option(help="Other scores to judge them on: a file or folder, read with the same options.")
]


@with_options
def choose(
    scores: Scores,
    *,
    budget: Annotated[str, typer.Option(help="False alarms that are allowed: a rate such as 1/week, or a number.")],
    per: Annotated[
        Literal["series", "all"], typer.Option(help="The budget is for each series, or for all of them together.")
    ] = "series",
    cooldown: Annotated[str, typer.Option(help="Alarms up to so long apart (30min; or points) are one page.")] = "0",
    split: Annotated[
        str, typer.Option(help="Choose on the first part of each series (0.5) or before a moment; judge on the rest.")
    ] = "",
    test: _Test = "",
    maximize: Annotated[
        str, typer.Option(help='event_recall, or prices: "expected_cost(miss=500, false_alarm=40, delay_per_hour=9)".')
    ] = "event_recall",
    prefer: Annotated[
        Literal["highest", "lowest"],
        typer.Option(help="Of equally good thresholds that of the fewest false alarms, or the lowest."),
    ] = "highest",
    cost: Annotated[str, typer.Option(help="The prices of the column of costs, in the same form.")] = "expected_cost",
    by_kind: Annotated[
        str, typer.Option(help="A column of the incidents, such as kind: recall, delay and cost by it.")
    ] = "",
    format: Shown = "text",
) -> None:
    """Choose the best detector and its threshold; exit code 1 where none keeps the budget, or scores are left out."""
    with say_warnings():
        found = choose_threshold(
            scores,
            max_false_alarms=float(budget) if is_number(budget) else budget,
            per=per,
            cooldown=int(cooldown) if cooldown.isdigit() else cooldown,
            split=(float(split) if is_number(split) else split) or None,
            test=test or None,
            maximize=maximize,
            prefer=prefer,
            cost=cost,
        )
        assert isinstance(found, Choices)  # which it is with per=
        say(scores.notes)
    shown = [show(found, format), *([show(found.by_kind(by_kind), format)] if by_kind else [])]
    typer.echo("\n\n".join(shown))
    if math.isinf(found.threshold) or scores.left_out_lines():
        raise typer.Exit(1)
