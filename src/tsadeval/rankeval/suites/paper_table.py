"""The table of ranking quality: text, marks, notes, and the paper's LaTeX layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from tsadeval.comparison.statistics import Estimate, mean_of_known
from tsadeval.core.results import Grid, Row, latex_text
from tsadeval.core.selection import ByMetric
from tsadeval.rankeval.quality import INDICATORS
from tsadeval.rankeval.suite import SuiteTable, failure, place_cell, place_words, places_of

AVERAGE = "average"
Order = Literal["quality", "given"]
TIED = "tied pairs: models of different quality that got the same value, so it orders them by chance; mean over tasks"
MARKS = {"best": "*", "second": "+", "": " "}


def quality_table(
    rows: list[Row], counts: dict[str, Row], about: str, column: Literal["task", "sigma"], order: Order
) -> SuiteTable:
    """Return the table of ranking quality: a row per metric, task and indicator; as a mapping, to average Spearman.

    Of each row: `value` with its interval `low`, `high`; `mark` is "best" for the best metric and for all whose
    interval overlaps its, "second" likewise for the best of the rest; `rankings` is the number of rankings
    it is based on, `of` how many there should be, `ties` the share of pairs of models that got the same value. Metrics
    are sorted by average Spearman, the best first, unless the given order was asked for; `places` has their places by
    it, None for NaN; equal ones share a place. A mark says which metrics are not told apart from the best (or second
    best): a metric at a low place whose interval is wide may have one that a metric at a higher place, with a narrow
    interval, has not. `whole` says whether a metric has a value for every model. One that has not is judged on easier
    ground: it is not placed, its place is the one it would have, and it moves no other down.
    """
    averages: dict[str, list[Row]] = {}
    whole = ByMetric[bool]()
    for row in rows:
        whole[row["metric"]] = whole.get(row["metric"], True) and row["rankings"] == row["of"]
        if row["task"] == AVERAGE and row["indicator"] == "spearman":
            averages.setdefault(row["metric"], []).append(row)
    means = [mean_of_known([row["value"] for row in some]) for some in averages.values()]
    places = ByMetric(zip(averages, places_of(means, [whole[name] for name in averages]), strict=True))
    columns = list(dict.fromkeys(row[column] for row in rows))
    shown = [row for row in rows if column == "task" or row["task"] == AVERAGE]
    blocks = {indicator: _block(shown, indicator, column) for indicator in INDICATORS}
    grids: list[tuple[str, Grid]] = []
    for indicator, (_, higher) in INDICATORS.items():
        first = indicator == "spearman" and order == "quality"  # by which the metrics are sorted
        lines: Grid = [["metric", *(["place"] if first else []), *map(str, columns)]]
        for name, block in blocks[indicator].items():
            cells = [_text(block[one], block[one]["task"] == AVERAGE) for one in columns]
            lines.append([name, *([place_cell(places[name], whole[name])] if first else []), *cells])
        words = indicator if indicator != "deviation" else "mean rank deviation"
        grids.append((f"{words} ({'higher' if higher else 'lower'} is better)", lines))
    return SuiteTable(
        rows,
        [*grids, ("", _counts(blocks["spearman"], counts))],
        values={name: float(some[-1]["value"]) for name, some in averages.items()},
        latex=partial(_tabular, blocks, columns),
        lead=about,
        notes=_notes(averages, counts, places, whole, rows),
        counts=ByMetric(counts),
        places=places,
        whole=whole,
        order=order,
    )


Block = dict[str, dict[Any, Row]]


def _block(rows: Sequence[Row], indicator: str, column: str) -> Block:
    """Return the rows of one indicator, by metric and column."""
    block: Block = {}
    for row in rows:
        if row["indicator"] == indicator:
            block.setdefault(row["metric"], {})[row[column]] = row
    return block


def _counts(block: Block, counts: dict[str, Row]) -> Grid:
    """Return the counts that the numbers are based on."""
    lines: Grid = [["metric", "values", "planned", "undefined", "errors", "no alarms", "tied pairs"]]
    for name, rows in block.items():
        found = counts[name]
        empty = "-" if found["empty"] is None else f"{100 * found['empty']:.1f} %"
        ties = np.mean([row["ties"] for row in rows.values()])
        numbers = [found[key] for key in ("values", "planned", "undefined", "errors")]
        lines.append([name, *numbers, empty, "-" if math.isnan(ties) else f"{100 * ties:.1f} %"])
    return lines


def _notes(
    averages: dict[str, list[Row]],
    counts: dict[str, Row],
    places: dict[str, int | None],
    whole: dict[str, bool],
    rows: Sequence[Row],
) -> list[str]:
    own = [name for name in averages if counts[name]["own"] and len(averages) > 1 and places[name] is not None]
    notes = [
        f"{name}: {place_words(places[name], len(averages), whole=whole[name])}, by average Spearman" for name in own
    ]
    for name, found in counts.items():
        words, count = ("failed", found["errors"]) if found["errors"] else ("is undefined", found["undefined"])
        if found["errors"] or (count and places[name] is None):
            notes.append(failure(name, words, count, found["message"]))
        if not whole[name] and places[name] is not None:
            have, of = (sum(row[key] for row in averages[name]) for key in ("rankings", "of"))
            gaps = [row["task"] for row in rows if row["metric"] == name and row["rankings"] < row["of"]]
            tasks = ", ".join(task for task in dict.fromkeys(gaps) if task != AVERAGE)
            notes.append(
                f"{name} is averaged over {have} of {of} rankings (values are missing on {tasks}), so it is not placed"
            )
    words = "no alarms: series on which the threshold rule raised none"
    if any(found["empty"] is None for found in counts.values()):
        words += "; - for a metric of scores, whose own threshold, if it has one, is not known here"
    return [*notes, words, TIED]


def _tabular(blocks: dict[str, Block], columns: Sequence[Any], digits: int) -> str:
    """Return the table in the paper's layout: best in bold, second best underlined (booktabs)."""
    names = list(blocks["spearman"])
    lines = [" & ".join(["Task", "Score", *map(latex_text, names)]) + r" \\", r"\midrule"]
    for column in columns:
        for indicator, (short, _) in INDICATORS.items():
            cells = (_latex(blocks[indicator][name][column], digits) for name in names)
            lines.append(" & ".join([str(column), short, *cells]) + r" \\")
        lines.append(r"\midrule")
    spec = "ll" + "r" * len(names)
    return "\n".join([rf"\begin{{tabular}}{{{spec}}}", r"\toprule", *lines[:-1], r"\bottomrule", r"\end{tabular}"])


def _text(row: Row, interval: bool) -> str:
    text = f"{row['value']:6.3f}{MARKS[row['mark']]}"
    return f"{text} [{row['low']:.3f}, {row['high']:.3f}]" if interval and not math.isnan(row["low"]) else text


def _latex(row: Row, digits: int) -> str:
    text = latex_text(float(row["value"]), digits)
    wrap = {"best": r"\textbf{%s}", "second": r"\underline{%s}", "": "%s"}
    return wrap[row["mark"]] % text


def mark_best(rows: Sequence[Row], higher: bool) -> None:
    """Name the best and second best; those whose intervals overlap are not called different."""
    left = [row for row in rows if not math.isnan(row["value"])]
    for mark in ("best", "second"):
        if not left:
            return
        top = max(left, key=lambda row: row["value"] if higher else -row["value"])
        reach = Estimate(top["value"], top["low"], top["high"])
        equal = [row for row in left if reach.overlaps(Estimate(row["value"], row["low"], row["high"]))]
        for row in equal:
            row["mark"] = mark
        left = [row for row in left if row["mark"] == ""]
