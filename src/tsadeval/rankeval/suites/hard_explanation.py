"""Explanation of a metric's result on the suite `hard`: pairs in the wrong order, and unequal control cases."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tsadeval.core.facts import grouped
from tsadeval.core.inputs import Bools, Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.results import WIDTH, Grid, Row
from tsadeval.rankeval.quality import WrongPair, order_pairs, verdict_of
from tsadeval.rankeval.suite import Explanation, place_words
from tsadeval.rankeval.suites.hard_controls import change_between, control_pairs
from tsadeval.rankeval.suites.hard_task import Case, HardTask
from tsadeval.thresholds.rules import parse_rule

if TYPE_CHECKING:
    from tsadeval.rankeval.suites.hard import Entry, HardAnalysis, HardSuite, TaskValues

SEVERITY = (
    "severity of a reversed pair: difference of its two values / range of the metric's values on the task",
    "x places between the two models in the true order: 0 for a tie, at most 5 (the first and the last of six)",
)
# A score below this that no pair explains needs a word.
LITTLE = 0.5
# Shares of pairs: most are tied; reversed more often than by chance; reversed about as often as by chance.
MOST, OPPOSITE, CHANCE = 0.5, 0.65, 0.35
SKILL = (
    "skill: difference between the values of the reference detector and of random scores; of chance: between",
    "perfect scores and the mean of scores without skill. The two values of a control should be 0 x skill apart",
)

AT_BEST = '"at best": each detector at its own best threshold for the metric, found with the labels'


def incomplete_words(names: Sequence[str], of: int) -> str:
    """Say what it means that a metric failed or has no value on some tasks."""
    return (
        f"failed or has no value on {len(names)} of {of} tasks ({', '.join(names)}): not placed; "
        "tasks without values count 0, failed series rank last"
    )


def roles_of(row: Row) -> tuple[str, str]:
    """Name the two cases of a row."""
    if row["kind"] == "order":
        return "worse", "better"
    return ("reference", "changed") if row["worse"] == "reference" else ("without skill", "without skill")


def _pair_rows(row: Row) -> Grid:
    """Return the two cases of a row with their values, and what came of it."""
    if row["kind"] == "order":
        end = [f"order (repeat {row['repeat']}, severity {row['severity']:.2f})", row["verdict"]]
    else:
        end = [f"difference (repeat {row['repeat']})", f"{row['severity']:.2f} x skill"]
    columns = ("{}_value", "beside_{}") if row["beside"] else ("{}_value",)
    grid: Grid = [
        [f"{role}: {row[f'{side}_is']}", *(f"{row[column.format(side)]:.4f}" for column in columns)]
        for side, role in zip(("worse", "better"), roles_of(row), strict=True)
    ]
    return [*grid, [*end, *([row["beside_verdict"]] if row["beside"] else [])]]


def explain(
    analysis: HardAnalysis, entry: Entry, *, beside: Metric | None, pairs: int, tasks: int | None, notes: Sequence[str]
) -> Explanation:
    """Return the worst pairs of a metric: a row per pair, the tasks on which it does worst first.

    A row has the task, its `part` of the index, its `summary` and the metric's score (`quality`) on it; of its `pairs`
    of models how many are `reversed` and how many `tied`, and what that says (`pattern`); then one of the worst of
    them: its `repeat`, the two cases `worse` and `better`, what they do (`worse_is`, `better_is`), their values, what
    the metric made of them (`verdict`), what that means in a sentence (`meaning`), and the same of another metric
    (`beside`, EARS by default: `beside_worse`, `beside_better`, `beside_verdict`). In a control `worse` is the
    reference, and both should have got the same value.

    `severity` says how wrong a pair is, and is what pairs are sorted by. Reversed: (value of the worse model - value of
    the better one) / range of the metric's values on the task x number of places between the two in the true order, so
    5 is the most; tied: 0. Of a control: difference of the two values / skill of the reference (its value - that of
    random scores), as in the score of the control.

    `index` is that of the metric, `totals` counts its pairs, `reversed` says whether it ranks in reverse; `cases(row)`
    draws the two cases of a row again, and `alarms(row)` has the alarms on which it judged them (None for scores).
    """
    plan = analysis.plan
    standing = next(row for row in analysis.scored if row["name"] == str(entry))
    found = analysis.values_of(entry)
    known = [of_task for of_task in found if not math.isnan(standing[of_task.task.name])]
    known.sort(key=lambda of_task: float(standing[of_task.task.name]))
    judged = [(of_task, *_judge(of_task)) for of_task in known]
    totals = {key: sum(counts.get(key, 0) for *_, counts in judged) for key in ("pairs", "reversed", "tied")}
    worst = [(of_task, wrong[:pairs], counts) for of_task, wrong, counts in judged if wrong][:tasks]
    rows = [
        {**_row(entry, of_task, pair, {"quality": standing[of_task.task.name], **counts})}
        | _beside(beside, of_task.task, pair, plan.seed or 0)
        for of_task, wrong, counts in worst
        for pair in wrong
    ]
    kinds = {row["kind"] for row in rows}
    said = [line for kind, lines in (("order", SEVERITY), ("control", SKILL)) if kind in kinds for line in lines]
    without = [of_task.task.name for of_task, wrong, _ in judged if not wrong]
    silent = [name for name in without if standing[name] < LITTLE]
    placed = standing["place"] is not None
    remarks = [
        (f"{entry} {incomplete_words(standing['incomplete'], len(plan.tasks))}", standing["incomplete"] and placed),
        (f"little or no score on {', '.join(silent)}: its values there are undefined or all the same", silent),
        *((text, entry.rule == "best") for text in (AT_BEST, *_trivial(entry, found))),
        (f"{entry} ranks models in reverse on most tasks: is lower better? Return its negative.", standing["reversed"]),
    ]
    return Explanation(
        rows,
        grids=_grids(rows, entry, "nothing was put in the wrong order" if placed else "no values"),
        lead=_lead(rows, entry, standing, totals, plan),
        notes=[*said, *notes, *(text for text, holds in remarks if holds)],
        plan=plan,
        entry=entry,
        index=standing["value"],
        reversed=standing["reversed"],
        totals=totals,
        cases=partial(_cases, plan),
        alarms=partial(_alarms, plan, entry),
    )


def _judge(of_task: TaskValues) -> tuple[list[WrongPair], Row]:
    """Return the pairs of a task that are judged wrongly, the worst first, and what the counts of all pairs say."""
    if of_task.task.kind == "control":
        return control_pairs(of_task.values, of_task.names), {}
    wrong, counts = order_pairs(of_task.values)
    return wrong, {**counts, "pattern": _pattern(counts)}


def _row(entry: Entry, of_task: TaskValues, pair: WrongPair, facts: Row) -> Row:
    """Return the row of a pair, with what is known of its task."""
    task = of_task.task
    about = {"task": task.name, "part": task.part, "kind": task.kind, "summary": task.summary}
    row: Row = {**about, **facts, "repeat": pair.repeat, "verdict": pair.verdict, "severity": pair.severity}
    for side, at in (("worse", pair.worse), ("better", pair.better)):
        name, value = of_task.names[at], entry.metric.sign * float(of_task.values[pair.repeat, at])
        threshold = math.nan if entry.rule is None else float(of_task.thresholds[pair.repeat, at])
        row |= {side: name, f"{side}_is": task.describe(name), f"{side}_value": value, f"{side}_threshold": threshold}
    return {**row, "meaning": _meaning(entry, task, row)}


def _cases(plan: HardSuite, row: Row) -> tuple[Case, Case]:
    """Draw labels and scores of the two cases of a row again."""
    task = next(task for task in plan.tasks if task.name == row["task"])
    found = {case.name: case for case in task.cases(row["repeat"], plan.seed or 0)}
    return found[row["worse"]], found[row["better"]]


def _alarms(plan: HardSuite, entry: Entry, row: Row) -> tuple[Bools, Bools] | None:
    """Return the alarms on which the metric judged the two cases of a row; None for a metric of scores."""
    if entry.rule is None:
        return None
    first, second = (
        # Scores of 0 and 1 are alarms already, and have no threshold.
        case.scores >= (row[f"{side}_threshold"] if math.isfinite(row[f"{side}_threshold"]) else 1.0)
        for side, case in zip(("worse", "better"), _cases(plan, row), strict=True)
    )
    return first, second


def _lead(rows: Sequence[Row], entry: Entry, standing: Row, totals: Row, plan: HardSuite) -> str:
    of = len(plan.entries), len(plan.metrics)
    where = place_words(standing["place"], *of, whole=not standing["incomplete"])
    lines = [f"{entry}: index {standing['value']:.3f}, {where}"]
    if totals["pairs"] and standing["place"] is not None:
        turned, tied = totals["reversed"], totals["tied"]
        lines.append(
            f"of {totals['pairs']} pairs of models with a known order it reverses {turned} "
            f"({100 * turned / totals['pairs']:.0f} %) and ties {tied} ({100 * tied / totals['pairs']:.0f} %)"
        )
    if shown := len({row["task"] for row in rows}):
        lines.append(f"its {shown} worst of {len(plan.tasks)} tasks, each with its worst pairs:")
    return "\n".join(lines)


def _grids(rows: Sequence[Row], entry: Entry, nothing: str) -> list[tuple[str, Grid]]:
    grids: list[tuple[str, Grid]] = []
    for number, some in enumerate(grouped((row["task"], row) for row in rows).values(), 1):
        first = some[0]
        counts = ""
        if first["kind"] == "order":
            pattern = f": {first['pattern']}" if first["pattern"] else ""
            counts = f"Of {first['pairs']} pairs {first['reversed']} are reversed and {first['tied']} tied{pattern}. "
        title = f"{number}. {first['task']} ({first['part']}), score {first['quality']:.2f}: {first['summary']}"
        lines = [title, *textwrap.wrap(counts + first["meaning"], WIDTH)]
        head = ["detector", str(entry.metric), *([first["beside"]] if first["beside"] else [])]
        grids.append(("\n".join(lines), [head, *(line for row in some for line in _pair_rows(row))]))
    return grids or [("", [["task"], [nothing]])]


def _trivial(entry: Entry, found: Sequence[TaskValues]) -> list[str]:
    """Where some threshold gives every detector the same value, the best threshold tells nothing."""
    values = np.unique(np.concatenate([of_task.values[np.isfinite(of_task.values)] for of_task in found]))
    if len(values) != 1:
        return []
    same = f"some threshold gives every detector here the value {entry.metric.sign * values[0]:g}"
    return [f"{same}: judge {entry.metric} at another rule"]


def _beside(metric: Metric | None, task: HardTask, pair: WrongPair, seed: int) -> Row:
    """Judge the same pair by another metric."""
    if metric is None:
        return {"beside": None}
    cases = list(task.cases(pair.repeat, seed))
    places = (pair.worse, pair.better)
    # What the values of a control mean is said by those of the other cases.
    judged = places if task.kind == "order" else range(len(cases))
    raw = np.full(len(cases), math.nan)
    for i in judged:
        raw[i] = metric.run(Scoring.of(cases[i].labels, cases[i].scores), parse_rule("best")).value
    values = metric.sign * raw
    worse, better = raw[list(places)].tolist()
    if task.kind == "order":
        verdict: str = verdict_of(*values[list(places)])
    else:
        verdict = f"{change_between(values, [case.name for case in cases], *places):.2f} x skill"
    return {"beside": str(metric), "beside_worse": worse, "beside_better": better, "beside_verdict": verdict}


def _pattern(counts: Row) -> str:
    """Say what the shares of reversed and tied pairs say, where they say something."""
    tied, turned = (counts[key] / max(counts["pairs"], 1) for key in ("tied", "reversed"))
    if tied >= MOST:
        return "it hardly puts these models in any order"
    if turned >= OPPOSITE:
        return "it rewards the opposite of what the task asks for"
    return "nearly as by chance, so its order here says little" if turned + tied / 2 >= CHANCE else ""


def _meaning(entry: Entry, task: HardTask, row: Row) -> str:
    """Say what a wrong pair means, in one sentence."""
    metric, worse, better = str(entry.metric), row["worse_is"], row["better_is"]
    if task.kind == "order":
        if row["verdict"] == "tied":
            how = ", each at its own threshold, the one that is best for this metric" if entry.rule == "best" else ""
            same = f"both get the same value{how}"
            return f"{metric} does not tell a detector that {worse} from one that {better}: {same}."
        if not math.isfinite(row["better_value"]):
            return f"{metric} has no value for a detector that {better}, so it comes last, after one that {worse}."
        return f"{metric} prefers a detector that {worse} to one that {better}, which is better by construction."
    by = f"by {100 * row['severity']:.0f} % of the difference between"
    if row["worse"] == "reference":
        return f"The detector is as good as before, but {metric} changes {by} it and random scores."
    return f"Neither of the two has any skill, but their values of {metric} differ {by} that and perfect scores."
