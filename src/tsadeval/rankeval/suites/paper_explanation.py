"""Explanation of a metric's result on the paper's tasks: where it ranks wrongly, by ties and by reversals."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval._optional import require
from tsadeval.comparison import statistics
from tsadeval.core.facts import finite_mean
from tsadeval.core.metric import Metric
from tsadeval.core.results import Grid, Row
from tsadeval.rankeval.quality import WrongPair, order_pairs
from tsadeval.rankeval.series import GENERATORS
from tsadeval.rankeval.suite import Explanation, name_alike

if TYPE_CHECKING:
    import pandas as pd

    from tsadeval.rankeval.suites.paper import Task
    from tsadeval.rankeval.suites.paper_rankings import Rankings

KEYS = ("pairs", "reversed", "tied")
# Where one cause has this share of all, it is named.
MOST = 0.5
CASES = 10  # label sets that are printed
MEANING = (
    "reversed: the worse model got the better value; tied: both got the same, so they are ordered by chance",
    "Spearman and shares: means over tasks, each the mean over its rankings, as in the table of the run",
)
KINDS = "on which kinds of mistakes it loses, with pictures"

HEAD = ("task", "case", "sigma", "fixed", "spearman", "reversed", "tied", "worse model", "better model", "they are")


def explain(rankings: Rankings, metric: Metric, value: float, where: str, counts: Row, shown: int) -> Explanation:
    """Return the rankings of a metric, the worst first: a row per task, case (label set), noise and fixed parameter.

    A row has the task, what orders its models (`by`), `case`, `sigma`, the parameter that is the `fixed` one, the
    `spearman` of the ranking, its `pairs` of models and how many of them are `reversed` or `tied`, and the worst pair:
    the models `worse` and `better` with their values and the `verdict`. Rankings with a model without a value have no
    Spearman (NaN), come last and count nowhere. `totals` has the sums. What is printed are means over tasks, each of
    which is a mean over its rankings, as in the table of the run. `where` says the place of the metric in the run.
    """
    rows = [row for task in rankings.plan.tasks for row in _rows(rankings, metric, task)]
    rows.sort(key=lambda row: (math.isnan(row["spearman"]), row["spearman"], -row["tied"], -row["reversed"]))
    known = [row for row in rows if not math.isnan(row["spearman"])]
    frame = require("pandas", extra="all").DataFrame(known)
    totals = {key: sum(row[key] for row in known) for key in KEYS}
    lead = f"{metric}, suite {rankings.plan.name}: average Spearman {value:.3f}, {where}"
    if known:
        _, turned, tied = _means(frame)
        lead += (
            f"\nof {totals['pairs']} pairs of models with a known order it reverses {totals['reversed']} "
            f"and ties {totals['tied']}; as means over tasks, {turned} and {tied}"
        )
    notes = _remarks(known, frame, metric, counts, rankings)
    return Explanation(rows, grids=_grids(known, frame, shown), lead=lead, notes=notes, totals=totals)


def _grids(rows: Sequence[Row], frame: pd.DataFrame, shown: int) -> list[tuple[str, Grid]]:
    if not rows:
        return [("", [["task"], ["no ranking of which all models have values"]])]
    cases = _by(frame, "case")
    of = f", the worst {CASES} of {len(cases) - 1}" if len(cases) - 1 > CASES else ""
    grids = [
        ("by task", _by(frame, "task")),
        ("by noise (sigma)", _by(frame, "sigma")),
        (f"by label set (case){of}", cases[: CASES + 1]),
    ]
    wrong = [row for row in rows if row["verdict"] is not None][:shown]
    body: Grid = [
        [
            *(row[key] for key in ("task", "case")),
            f"{row['sigma']:g}",
            row["fixed"],
            f"{row['spearman']:.3f}",
            f"{row['reversed']} of {row['pairs']}",
            f"{row['tied']} of {row['pairs']}",
            *(f"{row[side]}: {row[f'{side}_value']:.4g}" for side in ("worse", "better")),
            row["verdict"],
        ]
        for row in wrong
    ]
    worst = [(f"its {len(wrong)} worst rankings, each with its worst pair", [list(HEAD), *body])]
    return grids + worst if wrong else grids


def _by(rows: pd.DataFrame, column: str) -> Grid:
    """Return means over tasks, by one column: noise from none on, tasks and label sets the worst first."""
    found: list[tuple[Any, ...]] = [
        (value, len(some), *_means(some)) for value, some in rows.groupby(column, sort=False)
    ]
    found.sort(key=lambda line: line[0] if column == "sigma" else line[2])
    body = [[f"{value:g}" if column == "sigma" else value, n, f"{mean:.3f}", *rest] for value, n, mean, *rest in found]
    return [[column, "rankings", "spearman", "reversed", "tied"], *body]


def _means(rows: pd.DataFrame) -> tuple[float, str, str]:
    """Spearman and the shares of pairs that are reversed and tied, averaged as in the table of the run."""
    spearman = rows.groupby(["task", "sigma"])["spearman"].mean().groupby("task").mean().mean()
    shares = rows[["reversed", "tied"]].div(rows["pairs"].clip(lower=1), axis=0).groupby(rows["task"]).mean().mean()
    return float(spearman), f"{100 * shares['reversed']:.1f} %", f"{100 * shares['tied']:.1f} %"


def hard_hint(metric: str) -> str:
    """Return the command that shows on which kinds of mistakes a metric loses."""
    run = f"tsadeval rankeval run --suite hard --metrics {shlex.quote(f'recommended,{metric}')}"
    return f"{KINDS}: {run} && tsadeval rankeval explain runs/hard {shlex.quote(metric)} -o pictures"


def _rows(rankings: Rankings, metric: Metric, task: Task) -> list[Row]:
    values, spearman = rankings.values(metric, task), rankings.quality(metric, task, "average").spearman
    generator = GENERATORS[task.generator]
    along = generator.q if task.by == "q" else generator.p
    others = generator.p if task.by == "q" else generator.q
    steps = range(len(along)) if task.better == "higher" else range(len(along) - 1, -1, -1)
    rows: list[Row] = []
    for case, sigma, fixed in np.ndindex(*values.shape[:-1]):
        ranked = [metric.sign * values[case, sigma, fixed, i] for i in steps]
        wrong, counts = order_pairs(np.array([ranked]))
        worst = max(wrong, key=partial(_gravity, ranked), default=None)
        row: Row = {
            "task": task.name,
            "by": task.by,
            "case": rankings.plan.cases[case],
            "sigma": rankings.plan.sigmas[sigma],
            "fixed": f"{task.fixed} = {others[fixed]:g}" if task.fixed else "",
            "spearman": float(spearman[case, sigma, fixed]),
            **counts,
            "verdict": worst and worst.verdict,
        }
        for side in ("worse", "better"):
            at = steps[getattr(worst, side)] if worst is not None else None
            row[side] = f"{task.by} = {along[at]:g}" if at is not None else None
            row[f"{side}_value"] = float(values[case, sigma, fixed, at]) if at is not None else math.nan
        rows.append(row)
    return rows


def _gravity(values: Sequence[float], pair: WrongPair) -> tuple[bool, int, float]:
    """Return what makes a pair worse than another: reversed, far apart in truth, far apart in value."""
    apart = abs(values[pair.worse] - values[pair.better])
    return pair.verdict == "reversed", pair.better - pair.worse, apart if math.isfinite(apart) else 0.0


def _remarks(rows: Sequence[Row], frame: pd.DataFrame, metric: Metric, counts: Row, rankings: Rankings) -> list[str]:
    """Say what can be said about the cause, and what to do next."""
    name, tied = str(metric), sum(row["tied"] for row in rows) > 0.01 * sum(row["pairs"] for row in rows)
    ties = Counter(row["worse_value"] for row in rows if row["verdict"] == "tied")
    failed = [("failed", counts["errors"]), ("is undefined", counts["undefined"])]
    scored = not metric.library and metric.kind == "scores" and bool(rows)
    remarks = [
        *((text, rows) for text in MEANING),
        *(
            (f"in most rankings with ties, the tied models have the value {value:g}", tied)
            for value, count in ties.most_common(1)
            if count >= MOST * ties.total()
        ),
        *((text, tied) for text in _clipping(frame, rankings)),
        (f"on {100 * (counts['empty'] or 0):.1f} % of the series the threshold rule raised no alarm", counts["empty"]),
        *(
            (f"{name} {words} on {count} of {counts['planned']} series; rankings with these do not count", count)
            for words, count in failed
        ),
        (f"the first with {counts['message']}", counts["message"]),
        *((text, rows) for text in _resembling(metric, rankings)),
        (f"does it depend on the position of points with equal scores? check_properties({name}) says (mirror)", scored),
    ]
    again = f'{KINDS}: te.rankeval.run("hard", ["recommended", {name}]).explain({name})'
    return [*(text for text, holds in remarks if holds), hard_hint(name) if metric.library or ":" in name else again]


def _resembling(metric: Metric, rankings: Rankings) -> list[str]:
    """Say which metrics of the library in the run put the models in an order like that of a user's metric."""
    known = [one for one in rankings.plan.metrics if one.library]
    if metric.library or not known:
        return []
    alike = [
        statistics.agreement([one.sign * rankings.values(one, task).ravel() for one in (metric, *known)])[0, 1:]
        for task in rankings.plan.tasks
    ]
    means = {str(one): finite_mean(column) for one, column in zip(known, np.array(alike).T, strict=True)}
    return name_alike(means, "Spearman, mean over tasks")


def _clipping(rows: pd.DataFrame, rankings: Rankings) -> list[str]:
    """Noisy scores are clipped: a threshold that must be exceeded then leaves nothing."""
    if rows.empty:
        return []
    some = rows[rows["task"].isin([task.name for task in rankings.plan.tasks if GENERATORS[task.generator].clip])]
    counts = some.groupby(some["sigma"] > 0)[["tied", "pairs"]].sum().reindex([False, True], fill_value=0)
    quiet, noisy = (counts["tied"] / counts["pairs"].clip(lower=1)).tolist()
    if noisy < quiet + 0.05:
        return []
    return [
        f"with noise it ties {100 * noisy:.0f} % of the pairs, without {100 * quiet:.0f} %: noisy scores "
        "are clipped to [0, 1], many points share the score 1,",
        "and a threshold that must be exceeded (score > quantile) leaves no alarm; score >= quantile keeps them",
    ]
