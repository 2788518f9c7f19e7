"""Figures of the suite `hard`: tasks by metrics, and the pairs of models that a metric puts in the wrong order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tsadeval.core.events import Events
from tsadeval.core.inputs import Floats
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.registry import did_you_mean
from tsadeval.core.results import Row
from tsadeval.errors import InvalidInputError, UnknownNameError
from tsadeval.plot.style import GREY, SMALL, new_axes, new_figure, styled
from tsadeval.rankeval.hard.explain import Explanation
from tsadeval.rankeval.hard.result import HardResult, HardTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["hard_tasks", "worst_pair", "write_explanation"]

FORMATS = ("png", "pdf", "svg")
MOST = 8  # metrics that can be told apart in one figure
WIDTH = 1200  # points of a series that are shown
EVENT = "#F3D9C6"
COLORS = ("#B03A00", "#0072B2")  # the worse model, the better one
MARKS = tuple(
    zip(
        ("#D55E00", "#0072B2", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9", "#882255"),
        "oDs^vP<X",
        strict=True,
    )
)


@styled
def hard_tasks(result: HardResult | HardTable, ax: Axes | None = None, *, metrics: Sequence[str] | None = None) -> Axes:
    """The score of metrics on every task, a dot each; parts of the index stand under each other.

    Parameters
    ----------
    result : HardResult or its table
    ax : Axes, optional
    metrics : sequence of str
        As in the table; by default your own metrics and the best others, eight in all.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("hard", ["ears", "auc_roc"], tasks=["delay", "glitch"], repeats=1)
    >>> ax = te.plot.hard_tasks(result)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['delay', 'glitch']
    """
    table = result.table() if isinstance(result, HardResult) else result
    names = list(table)
    if metrics is None:
        # A user's own metric is what the figure is for, wherever it stands.
        chosen = sorted(names, key=lambda name: (":" not in name, names.index(name)))[:MOST]
    else:
        for name in metrics:
            if name not in names:
                raise UnknownNameError(f"no metric {name!r} in this result: {did_you_mean(name, names)}")
        chosen = list(metrics)
    rows = {row["name"]: row for row in table.rows}
    ax = new_axes(ax, 6.0, 0.9 + 0.24 * len(table.tasks))
    places = -np.arange(len(table.tasks), dtype=np.float64)
    for i, name in enumerate(chosen):
        aside = 0.6 * (0.5 - (i + 0.5) / len(chosen))
        color, marker = MARKS[i % len(MARKS)]
        ax.plot(
            [rows[name][task] for task in table.tasks],
            places + aside,
            linestyle="none",
            marker=marker,
            markersize=3.5,
            color=color,
            label=f"{name} ({rows[name]['value']:.2f})",
        )
    for value in (0.0, 1.0):
        ax.axvline(value, color=GREY, linewidth=0.5, zorder=0)
    ax.set_yticks(places, table.tasks)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y")
    ax.set_xlabel("score on the task (1 is perfect, 0 is no order)")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), title="metric (index)", title_fontsize=SMALL)
    return ax


@styled
def worst_pair(explanation: Explanation, row: Row, ax: Axes | None = None) -> Axes:
    """Two cases that a metric judged wrongly: labels, both scores, both values.

    The stretch of the series is shown where the ranks of the two scores differ most.
    """
    worse, better = explanation.cases(row)
    ax = new_axes(ax, 6.0, 1.6)
    names = ("worse", "better") if row["kind"] == "order" else ("reference", "should be equal")
    start = _stretch(worse.scores, better.scores)
    for i, (case, name) in enumerate(zip((worse, better), names, strict=True)):
        stop = min(start + WIDTH, len(case.scores))
        bottom = 1.25 * (1 - i)
        events = Events.of(case.labels)
        for a, b in zip(events.starts.tolist(), events.stops.tolist(), strict=True):
            if b > start and a < stop:
                ax.fill_between([a - 0.5, b - 0.5], bottom, bottom + 1, color=EVENT, linewidth=0)
        ax.plot(np.arange(start, stop), bottom + _unit(case.scores)[start:stop], color=COLORS[i], linewidth=0.7)
        value = row["worse_value"] if i == 0 else row["better_value"]
        ax.text(
            1.01,
            (bottom + 0.5 + 0.1) / 2.45,
            f"{name}: {case.name}\n{explanation.entry.metric.label} {value:.4g}",
            transform=ax.transAxes,
            va="center",
            fontsize=SMALL,
            color=COLORS[i],
        )
    ax.set_xlim(start - 0.5, start + min(WIDTH, len(worse.scores)) - 0.5)
    ax.set_ylim(-0.1, 2.35)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(f"time (repeat {row['repeat']})")
    return ax


def _unit(scores: Floats) -> Floats:
    """Ranks from 0 to 1: what is drawn does not depend on the scale of the scores, nor on one wild value."""
    order = np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    return np.asarray((order / max(len(scores) - 1, 1)) ** 4)  # upper scores are what alarms are made of


def _stretch(one: Floats, other: Floats) -> int:
    """Where to begin."""
    if len(one) != len(other) or len(one) <= WIDTH:
        return 0
    away = np.concatenate([[0.0], np.cumsum(np.abs(_unit(one) - _unit(other)))])
    return int(np.argmax(away[WIDTH:] - away[:-WIDTH]))


@styled
def write_explanation(explanation: Explanation, folder: str | Path, *, format: str = "png") -> list[Path]:  # noqa: A002
    """A figure for each task of an explanation, with its worst pairs; returns the files."""
    check_parameters("write_explanation", {"format": OneOf(FORMATS)}, {"format": format})
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"the folder {folder} cannot be made ({error.strerror})") from None
    written = []
    for task in dict.fromkeys(row["task"] for row in explanation.rows):
        rows = [row for row in explanation.rows if row["task"] == task]
        path = folder / f"explain-{task.replace(':', '-')}.{format}"
        pairs_of_task(explanation, rows).savefig(path, format=format)
        written.append(path)
    return written


def pairs_of_task(explanation: Explanation, rows: Sequence[Row]) -> Figure:
    """The pairs of one task under each other."""
    figure = new_figure(7.0, 0.5 + 1.5 * len(rows))
    for ax, row in zip(figure.subplots(len(rows), 1, squeeze=False)[:, 0], rows, strict=True):
        worst_pair(explanation, row, ax)
    first = rows[0]
    figure.suptitle(f"{first['task']}, score {first['quality']:.2f}: {first['summary']}", x=0.01, ha="left", fontsize=8)
    return figure
