"""Why a metric loses: the pairs of models it puts in the wrong order, and the cases it should have judged equal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tsadeval.core.inputs import Bools, Floats, Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.results import WIDTH, Grid, Result, Row
from tsadeval.rankeval.hard.index import TaskValues
from tsadeval.rankeval.hard.pairs import Pair, control_pairs, order_pairs, verdict_of
from tsadeval.rankeval.hard.plan import Entry, HardPlan, drawn
from tsadeval.rankeval.hard.task import Case, HardTask
from tsadeval.rankeval.stored import place_words
from tsadeval.thresholds.rules import parse_rule

__all__ = ["AT_BEST", "Explanation", "Standing", "explain", "incomplete_words", "roles_of"]

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


class Standing(NamedTuple):
    """Where a metric stands in a run: its index, its place among so many rows, whether it ranks in reverse, and the
    tasks on which it failed or has no value."""

    value: float
    place: int | None
    rows: int
    metrics: int
    in_reverse: bool
    incomplete: tuple[str, ...] = ()


class Explanation(Result):
    """The worst pairs of a metric: a row per pair, the tasks on which it does worst first.

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
    """

    def __init__(
        self, rows: list[Row], plan: HardPlan, entry: Entry, standing: Standing, totals: Row, notes: Sequence[str]
    ) -> None:
        super().__init__(rows)
        self.plan = plan
        self.entry = entry
        self.index = standing.value
        self.standing = standing
        self.reversed = standing.in_reverse
        self.totals = totals
        self._own_notes = list(notes)

    def cases(self, row: Row) -> tuple[Case, Case]:
        """Labels and scores of the two cases of a row, drawn again."""
        task = next(task for task in self.plan.tasks if task.name == row["task"])
        found = {case.name: case for case in drawn(task, row["repeat"], self.plan.seed)}
        return found[row["worse"]], found[row["better"]]

    def alarms(self, row: Row) -> tuple[Bools, Bools] | None:
        """The alarms on which the metric judged the two cases of a row; None for a metric of scores."""
        if self.entry.rule is None:
            return None
        first, second = (
            # Scores of 0 and 1 are alarms already, and have no threshold.
            case.scores >= (row[f"{side}_threshold"] if math.isfinite(row[f"{side}_threshold"]) else 1.0)
            for side, case in zip(("worse", "better"), self.cases(row), strict=True)
        )
        return first, second

    def _grids(self) -> list[tuple[str, Grid]]:
        grids = []
        for number, name in enumerate(dict.fromkeys(row["task"] for row in self.rows), 1):
            rows = [row for row in self.rows if row["task"] == name]
            first = rows[0]
            lines = [f"{number}. {name} ({first['part']}), score {first['quality']:.2f}: {first['summary']}"]
            counts = ""
            if first["kind"] == "order":
                counts = f"Of {first['pairs']} pairs {first['reversed']} are reversed and {first['tied']} tied"
                counts += f": {first['pattern']}. " if first["pattern"] else ". "
            lines += textwrap.wrap(counts + first["meaning"], WIDTH)
            beside = [first["beside"]] if first["beside"] else []
            grid: Grid = [["detector", str(self.entry.metric), *beside]]
            for row in rows:
                grid += _pair_rows(row)
            grids.append(("\n".join(lines), grid))
        nothing = "no values" if self.standing.place is None else "nothing was put in the wrong order"
        return grids or [("", [["task"], [nothing]])]

    def _notes(self) -> list[str]:
        kinds = {row["kind"] for row in self.rows}
        notes = [line for kind, lines in (("order", SEVERITY), ("control", SKILL)) if kind in kinds for line in lines]
        notes += self._own_notes
        if self.reversed:
            notes.append(f"{self.entry} ranks models in reverse on most tasks: is lower better? Return its negative.")
        return notes

    def _lead(self) -> str:
        standing = self.standing
        where = place_words(standing.place, standing.rows, standing.metrics, whole=not standing.incomplete)
        lines = [f"{self.entry}: index {self.index:.3f}, {where}"]
        if self.totals["pairs"] and self.standing.place is not None:
            shares = {key: 100 * self.totals[key] / self.totals["pairs"] for key in ("reversed", "tied")}
            lines.append(
                f"of {self.totals['pairs']} pairs of models with a known order it reverses {self.totals['reversed']} "
                f"({shares['reversed']:.0f} %) and ties {self.totals['tied']} ({shares['tied']:.0f} %)"
            )
        shown, tasks = len({row["task"] for row in self.rows}), len(self.plan.tasks)
        if shown:
            lines.append(f"its {shown} worst of {tasks} tasks, each with its worst pairs:")
        return "\n".join(lines)


def incomplete_words(names: Sequence[str], of: int) -> str:
    """What it means that a metric failed or has no value on some tasks.

    >>> print(incomplete_words(["rare"], 20))
    failed or has no value on 1 of 20 tasks (rare): not placed; tasks without values count 0, failed series rank last
    """
    return (
        f"failed or has no value on {len(names)} of {of} tasks ({', '.join(names)}): not placed; "
        "tasks without values count 0, failed series rank last"
    )


def roles_of(row: Row) -> tuple[str, str]:
    """What the two cases of a row are."""
    if row["kind"] == "order":
        return "worse", "better"
    return ("reference", "changed") if row["worse"] == "reference" else ("without skill", "without skill")


def _pair_rows(row: Row) -> Grid:
    """The two cases of a row with their values, and what came of it."""
    if row["kind"] == "order":
        end = [f"order (repeat {row['repeat']}, severity {row['severity']:.2f})", row["verdict"]]
    else:
        end = [f"difference (repeat {row['repeat']})", f"{row['severity']:.2f} x skill"]
    grid: Grid = []
    for side, role in zip(("worse", "better"), roles_of(row), strict=True):
        beside = [f"{row[f'beside_{side}']:.4f}"] if row["beside"] else []
        grid.append([f"{role}: {row[f'{side}_is']}", f"{row[f'{side}_value']:.4f}", *beside])
    return [*grid, [*end, *([row["beside_verdict"]] if row["beside"] else [])]]


def explain(
    plan: HardPlan,
    entry: Entry,
    found: Sequence[TaskValues],
    quality: Mapping[str, float],
    standing: Standing,
    *,
    thresholds: Mapping[tuple[str, int, str], float],
    beside: Metric | None,
    pairs: int,
    tasks: int | None,
    notes: Sequence[str],
) -> Explanation:
    """The worst pairs of a metric on its worst tasks."""
    sign = 1.0 if entry.metric.direction == "higher" else -1.0
    rows: list[Row] = []
    totals = {"pairs": 0, "reversed": 0, "tied": 0}
    shown = 0
    silent: list[str] = []
    known = [of_task for of_task in found if not math.isnan(quality[of_task.task.name])]
    for of_task in sorted(known, key=lambda t: quality[t.task.name]):
        task = of_task.task
        counts: Row = {}
        if task.kind == "order":
            wrong, found_pairs = order_pairs(of_task.values)
            counts |= found_pairs
            totals = {key: totals[key] + counts[key] for key in totals}
            counts["pattern"] = _pattern(counts)
        else:
            wrong = control_pairs(of_task.values, of_task.names)
        if not wrong and quality[task.name] < LITTLE:
            silent.append(task.name)
        if not wrong or (tasks is not None and shown >= tasks):
            continue
        shown += 1
        for pair in wrong[:pairs]:
            names = of_task.names[pair.worse], of_task.names[pair.better]
            values = sign * of_task.values[pair.repeat, [pair.worse, pair.better]]
            row: Row = {
                "task": task.name,
                "part": task.part,
                "kind": task.kind,
                "summary": task.summary,
                "quality": quality[task.name],
                **counts,
                "repeat": pair.repeat,
                "verdict": pair.verdict,
                "severity": pair.severity,
            }
            for side, name, value in zip(("worse", "better"), names, values.tolist(), strict=True):
                row |= {side: name, f"{side}_is": task.describe(name), f"{side}_value": value}
                row[f"{side}_threshold"] = thresholds.get((task.name, pair.repeat, name), math.nan)
            row["meaning"] = _meaning(entry, task, row)
            rows.append(row | _beside(beside, task, pair, plan.seed))
    if standing.incomplete and standing.place is not None:
        notes = [*notes, f"{entry} {incomplete_words(standing.incomplete, len(plan.tasks))}"]
    if silent:
        notes = [*notes, f"little or no score on {', '.join(silent)}: its values there are undefined or all the same"]
    if entry.rule == "best":
        notes = [*notes, AT_BEST, *_trivial(entry, found)]
    return Explanation(rows, plan, entry, standing, totals, notes)


def _trivial(entry: Entry, found: Sequence[TaskValues]) -> list[str]:
    """Where some threshold gives every detector the same value, the best threshold tells nothing."""
    values = np.unique(np.concatenate([of_task.values[np.isfinite(of_task.values)] for of_task in found]))
    if len(values) != 1:
        return []
    value = values[0] if entry.metric.direction == "higher" else -values[0]
    return [f"some threshold gives every detector here the value {value:g}: judge {entry.metric} at another rule"]


def _beside(metric: Metric | None, task: HardTask, pair: Pair, seed: int) -> Row:
    """What another metric makes of the same pair."""
    if metric is None:
        return {"beside": None}
    cases = list(drawn(task, pair.repeat, seed))
    if task.kind == "order":
        cases = [cases[pair.worse], cases[pair.better]]
    raw = [metric.run(Scoring.of(case.labels, case.scores), parse_rule("best")).value for case in cases]
    values: Floats = np.array(raw) * (1.0 if metric.direction == "higher" else -1.0)
    worse, better = (0, 1) if task.kind == "order" else (pair.worse, pair.better)
    if task.kind == "order":
        verdict: str = verdict_of(values[0], values[1])
    else:
        found = control_pairs(values[None], [case.name for case in cases], (worse, better))
        verdict = f"{found[0].severity if found else 0.0:.2f} x skill"
    return {
        "beside": str(metric),
        "beside_worse": raw[worse],
        "beside_better": raw[better],
        "beside_verdict": verdict,
    }


def _pattern(counts: Row) -> str:
    """What the shares of reversed and tied pairs say, where they say something."""
    tied, turned = (counts[key] / max(counts["pairs"], 1) for key in ("tied", "reversed"))
    if tied >= MOST:
        return "it hardly puts these models in any order"
    if turned >= OPPOSITE:
        return "it rewards the opposite of what the task asks for"
    return "nearly as by chance, so its order here says little" if turned + tied / 2 >= CHANCE else ""


def _meaning(entry: Entry, task: HardTask, row: Row) -> str:
    """What a wrong pair means, in one sentence."""
    metric = str(entry.metric)
    worse, better = row["worse_is"], row["better_is"]
    if task.kind == "order":
        if row["verdict"] == "tied":
            same = "both get the same value"
            if entry.rule == "best":
                same += ", each at its own threshold, the one that is best for this metric"
            return f"{metric} does not tell a detector that {worse} from one that {better}: {same}."
        if not math.isfinite(row["better_value"]):
            return f"{metric} has no value for a detector that {better}, so it comes last, after one that {worse}."
        return f"{metric} prefers a detector that {worse} to one that {better}, which is better by construction."
    by = f"by {100 * row['severity']:.0f} % of the difference between"
    if row["worse"] == "reference":
        return f"The detector is as good as before, but {metric} changes {by} it and random scores."
    return f"Neither of the two has any skill, but their values of {metric} differ {by} that and perfect scores."
