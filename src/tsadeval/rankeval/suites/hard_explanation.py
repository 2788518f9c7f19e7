"""Explanation of a metric's result on the suite `hard`: pairs in the wrong order, and unequal control cases."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from tsadeval.core.inputs import Bools, Floats, Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.results import WIDTH, Grid, Result, Row
from tsadeval.rankeval.quality import SAME
from tsadeval.rankeval.suite import place_words
from tsadeval.rankeval.suites.hard import Entry, HardPlan, drawn
from tsadeval.rankeval.suites.hard_index import TaskValues
from tsadeval.rankeval.suites.hard_task import Case, HardTask
from tsadeval.thresholds.rules import parse_rule

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


# Pairs of cases that a metric judged wrongly: models in the wrong order, and cases that should be equal.


Verdict = Literal["right", "reversed", "tied", "unequal"]

# A difference of two values that should be equal, in units of the skill, that is worth showing.
LEAST = 0.01


class Pair(NamedTuple):
    """Two cases of one repeat, by their places, what the metric made of them, and how wrong that is."""

    repeat: int
    worse: int
    better: int
    verdict: Verdict
    severity: float


def verdict_of(worse: float, better: float) -> Verdict:
    """Whether two values, higher for better, are in the order of the models; undefined ones rank last.

    >>> verdict_of(0.2, 0.3), verdict_of(0.3, 0.2), verdict_of(0.3, 0.3), verdict_of(0.3, float("nan"))
    ('right', 'reversed', 'tied', 'reversed')
    """
    known = np.isfinite(worse), np.isfinite(better)
    if known != (True, True):
        return "tied" if known[0] == known[1] else "right" if known[1] else "reversed"
    if abs(worse - better) <= SAME * max(abs(worse), abs(better)):
        return "tied"
    return "right" if worse < better else "reversed"


def order_pairs(values: Floats) -> tuple[list[Pair], dict[str, int]]:
    """All pairs of models (columns, worst first) that are reversed or tied, the worst first, and the counts of all.

    Where most mistakes are ties, ties come first. Pairs without any value are counted as tied but not listed: there is
    nothing to show.
    """
    known = values[np.isfinite(values)]
    scale = float(np.ptp(known)) or 1.0 if known.size else 1.0
    wrong: list[Pair] = []
    counts = {"pairs": 0, "reversed": 0, "tied": 0}
    for repeat, row in enumerate(values.tolist()):
        for worse in range(len(row)):
            for better in range(worse + 1, len(row)):
                verdict = verdict_of(row[worse], row[better])
                counts["pairs"] += 1
                if verdict in counts:
                    counts[verdict] += 1
                if verdict == "right" or not np.isfinite(row[worse]):
                    continue
                # A value that is undefined counts as one at the other end of the range.
                apart = (row[worse] - row[better]) / scale if np.isfinite(row[better]) else 1.0
                severity = 0.0 if verdict == "tied" else apart * (better - worse)
                wrong.append(Pair(repeat, worse, better, verdict, severity))
    usual = "tied" if counts["tied"] > counts["reversed"] else "reversed"
    # Of ties those are worst that are farthest apart in truth.
    return sorted(wrong, key=lambda p: (p.verdict != usual, -p.severity, p.worse - p.better)), counts


def control_pairs(values: Floats, names: Sequence[str], only: tuple[int, int] | None = None) -> list[Pair]:
    """Pairs of cases of a control that got different values, the worst first; `only` of these two cases."""
    found: list[Pair] = []
    for repeat, row in enumerate(values):
        for one, other, skill in _comparisons(names, row, only):
            severity = abs(row[one] - row[other]) / skill if skill > 0 else np.nan
            if np.isfinite(severity) and severity > LEAST:
                found.append(Pair(repeat, one, other, "unequal", float(severity)))
    return sorted(found, key=lambda pair: -pair.severity)


def _comparisons(names: Sequence[str], row: Floats, only: tuple[int, int] | None) -> list[tuple[int, int, float]]:
    if "reference" in names:
        reference, random, perfect = (names.index(n) for n in ("reference", "random", "perfect"))
        skill = max(abs(row[reference] - row[random]), 0.05 * abs(row[perfect] - row[random]))
        others = [i for i in range(len(names)) if i not in (reference, random, perfect)]
        return [(reference, i, skill) for i in others if only is None or i == only[1]]
    # Scores without skill: the lowest and the highest of the repeat.
    without = [i for i, name in enumerate(names) if not name.startswith("perfect") and np.isfinite(row[i])]
    if len(without) < 2:
        return []
    best = [row[i] for i, name in enumerate(names) if name.startswith("perfect")]
    skill = abs(float(np.nanmean(best) - np.mean([row[i] for i in without])))
    low, high = only or (min(without, key=lambda i: row[i]), max(without, key=lambda i: row[i]))
    return [(low, high, skill)]
