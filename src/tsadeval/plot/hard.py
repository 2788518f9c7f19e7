"""Figures of the suite `hard`: tasks by metrics, and the pairs of models that a metric puts in the wrong order."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval.core.events import Events
from tsadeval.core.inputs import Bools, Floats
from tsadeval.core.metric import metric_labels
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.results import Row
from tsadeval.core.selection import AnyMetric, find_metric
from tsadeval.errors import InvalidInputError
from tsadeval.plot.style import EVENT, GREY, SMALL, grid, legend_above, new_axes, new_figure, styled
from tsadeval.rankeval.suite import Explanation, SuiteResult, SuiteTable
from tsadeval.rankeval.suites.hard_explanation import roles_of
from tsadeval.rankeval.suites.hard_task import Case

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "pdf", "svg")
MOST = 8  # metrics that can be told apart in one figure
WIDTH = 1200  # points of a series that are shown
COLORS = ("#B03A00", "#0072B2")  # the worse model, the better one
BOTTOM, TOP, APART = -0.12, 2.35, 1.25  # ends of the vertical axis, and from one series to the other
LEGEND = "shaded: event; height: rank of the score, upper ranks stretched"
MARKS = tuple(
    zip(
        ("#D55E00", "#0072B2", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9", "#882255"),
        "oDs^vP<X",
        strict=True,
    )
)


@styled
def hard_tasks(
    result: SuiteResult | SuiteTable, ax: Axes | None = None, *, metrics: Sequence[AnyMetric] | None = None
) -> Axes:
    """The score of metrics on every task, a dot each; parts of the index stand under each other.

    Parameters
    ----------
    result : SuiteResult or its table
    ax : Axes, optional
    metrics : sequence of str or functions
        As in the table, or as given to the run; by default your own metrics and the best others, eight in all.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("hard", ["ears", "auc_roc"], tasks=["delay", "glitch"], repeats=1)
    >>> ax = te.plot.hard_tasks(result)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['delay', 'glitch']
    """
    table = result.table() if isinstance(result, SuiteResult) else result
    rows = {row["name"]: row for row in table.rows}
    values = {
        f"{name} ({rows[name]['value']:.2f})": [rows[name][task] for task in table.tasks]
        for name in _chosen(table, metrics)
    }
    ax = _dots(ax, table.tasks, values, "metric (index)")
    for value in (0.0, 1.0):
        ax.axvline(value, color=GREY, linewidth=0.5, zorder=0)
    ax.set_xlabel("score on the task (1 is perfect, 0 is no order)")
    return ax


def _dots(ax: Axes | None, rows: Sequence[str], values: Mapping[str, Sequence[float]], title: str) -> Axes:
    """A row per name, in each a dot per metric, one under the other."""
    ax = new_axes(ax, 6.0, 1.4 + 0.24 * len(rows))
    places = -np.arange(len(rows), dtype=np.float64)
    for i, (label, found) in enumerate(values.items()):
        color, marker = MARKS[i % len(MARKS)]
        down = 0.6 * (0.5 - (i + 0.5) / len(values))
        dots: dict[str, Any] = {"linestyle": "none", "marker": marker, "markersize": 3.5, "color": color}
        ax.plot(found, places + down, label=label, clip_on=False, **dots)
    ax.set_yticks(places, rows)
    ax.tick_params(axis="y", length=0)
    grid(ax, "y")
    legend_above(ax, title=title)
    return ax


def _chosen(table: SuiteTable, metrics: Sequence[AnyMetric] | None) -> list[str]:
    """The metrics that were named; else a user's own, which the figures are for, and the best others."""
    names = list(table)
    if metrics is None:
        own = [row["name"] for row in table.rows if row["own"]]
        return [*own, *(name for name in names if name not in own)][:MOST]
    return [find_metric(metric, names) for metric in metrics]


@styled
def hard_sensitivity(
    result: SuiteResult, ax: Axes | None = None, *, metrics: Sequence[AnyMetric] | None = None
) -> Axes:
    """How far each nuisance of the controls moves the value of metrics, a dot each; 0 is not at all.

    `result` needs at least one control; `ax` and `metrics` are as for `hard_tasks`.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("hard", ["ears", "cce"], tasks=["glitch", "gaps"], repeats=1)
    >>> ax = te.plot.hard_sensitivity(result)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['glitch: 1 wild', 'glitch: 2 wild', 'glitch: 3 wild', 'gaps: cut']
    """
    found = {(f"{row['task']}: {row['nuisance']}", row["name"]): row["value"] for row in result.sensitivity().rows}
    if not found:
        raise InvalidInputError("result has no control, so no nuisance: run the suite with tasks='control' or all")
    nuisances = list(dict.fromkeys(nuisance for nuisance, _ in found))
    values = {
        name: [min(found[nuisance, name], 1.0) for nuisance in nuisances] for name in _chosen(result.table(), metrics)
    }
    ax = _dots(ax, nuisances, values, "metric")
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("change of the value, in units of the detector's skill (1: as much or more)")
    return ax


@styled
def worst_pair(explanation: Explanation, row: Row, ax: Axes | None = None) -> Axes:
    """Two cases that a metric judged wrongly: labels (shaded where there is an event), both scores, both values.

    Beside each stands what the metric gave it and what the metric beside it (EARS by default) gave it. Of a metric of
    predictions, bars below the scores are the alarms at the rule of the run.

    Scores are drawn by rank, the upper ones spread out, so that neither scale nor outliers matter; the range of the
    scores is printed. A stretch with an event is shown, the one where the two cases differ most. Where the series
    differ in length, both are drawn over the same share of their time.
    """
    ax = _pair(explanation, row, ax)
    ax.set_xlabel(f"{ax.get_xlabel()}\n{_legend(explanation)}", loc="left")
    return ax


def _legend(explanation: Explanation) -> str:
    rule = explanation.entry.rule
    if rule is None:
        return LEGEND
    return f"{LEGEND}; bars below: alarms at {'the best threshold' if rule == 'best' else rule}"


def _pair(explanation: Explanation, row: Row, ax: Axes | None) -> Axes:
    worse, better = explanation.cases(row)
    alarms = explanation.alarms(row)
    beside = [_about(explanation, row, i, case) for i, case in enumerate((worse, better))]
    ax = new_axes(ax, 6.0, _height(beside))
    n = len(worse.scores)
    start = _stretch(worse, better)
    stop = min(start + WIDTH, n)
    for i, case in enumerate((worse, better)):
        bottom = APART * (1 - i)
        scale = n / len(case.scores)
        shown = slice(int(start / scale), int(np.ceil(stop / scale)))
        events = Events.of(case.labels[shown])
        for a, b in zip(*_edges(events), strict=True):
            span = [scale * (shown.start + edge - 0.5) for edge in (a, b)]
            ax.fill_between(span, bottom, bottom + 1, color=EVENT, linewidth=0)
        heights = bottom + _unit(case.scores)[shown]
        ax.plot(scale * np.arange(shown.start, shown.start + len(heights)), heights, color=COLORS[i], linewidth=0.7)
        if alarms is not None:
            runs = Events.of(alarms[i][shown])
            spans = [(scale * (shown.start + a - 0.5), scale * (b - a)) for a, b in zip(*_edges(runs), strict=True)]
            bars = ax.broken_barh(spans, (bottom - 0.09, 0.06), facecolor=COLORS[i], edgecolor=COLORS[i])
            bars.set(linewidth=0.4, label="alarms", gid="alarms")  # an edge, so that one point is seen
        ax.text(
            1.01,
            (bottom + 0.5 - BOTTOM) / (TOP - BOTTOM),
            beside[i],
            transform=ax.transAxes,
            va="center",
            fontsize=SMALL,
            color=COLORS[i],
        )
    ax.set_xlim(start - 0.5, stop - 0.5)
    ax.set_ylim(BOTTOM, TOP)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    scaled = ", scaled to the length of the first series" if len(better.scores) != n else ""
    ax.set_xlabel(f"time{scaled} (repeat {row['repeat']})")
    return ax


def _height(texts: Sequence[str]) -> float:
    """Inches of a figure in which the texts beside the two series do not touch."""
    lines = max(text.count("\n") + 1 for text in texts)
    apart = (lines + 0.7) * 1.25 * SMALL / 72  # from the middle of one text to that of the other
    return max(1.8, 0.75 + apart * (TOP - BOTTOM) / APART)


def _about(explanation: Explanation, row: Row, place: int, case: Case) -> str:
    """What stands beside a series: its role, the value of the metric, the range of the scores."""
    role = roles_of(row)[place]
    side = ("worse", "better")[place]
    words = f"{role}: {row[f'{side}_is']}"
    values = [f"{explanation.entry.metric.label} {row[f'{side}_value']:.4g}"]
    if row["beside"]:
        values.append(f"{metric_labels([row['beside']])[row['beside']]} {row[f'beside_{side}']:.4g}")
    ends = f"scores {case.scores.min():.3g} to {case.scores.max():.3g}"
    return "\n".join([*textwrap.wrap(words, 34), ", ".join(values), ends])


def _edges(events: Events) -> tuple[list[int], list[int]]:
    return events.starts.tolist(), events.stops.tolist()


def _unit(scores: Floats) -> Floats:
    """Ranks from 0 to 1: what is drawn does not depend on the scale of the scores, nor on one wild value."""
    _, which, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[which]  # equal scores share their mean rank
    return np.asarray((ranks / max(len(scores) - 1, 1)) ** 4)  # upper scores are what alarms are made of


def _stretch(one: Case, other: Case) -> int:
    """Where to begin: the two cases differ most there, among the stretches with an event well inside."""
    n = len(one.scores)
    if n <= WIDTH:
        return 0
    away, events = np.zeros(n), one.labels
    if len(other.scores) == n:
        away = np.abs(_unit(one.scores) - _unit(other.scores)) + (one.labels != other.labels)
        events = events | other.labels
    differ = _within(away, 0, WIDTH)
    return int(np.argmax(np.where(_within(events, WIDTH // 10, WIDTH - WIDTH // 10) > 0, differ, -1.0)))


def _within(values: Floats | Bools, low: int, high: int) -> Floats:
    """The sum from `low` to `high` of every stretch of WIDTH points."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    starts = np.arange(len(values) - WIDTH + 1)
    return np.asarray(sums[starts + high] - sums[starts + low])


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
    figure = new_figure(7.6, 0.85 + 1.7 * len(rows))
    for ax, row in zip(figure.subplots(len(rows), 1, squeeze=False)[:, 0], rows, strict=True):
        _pair(explanation, row, ax)
    figure.supxlabel(_legend(explanation), x=0.01, ha="left", fontsize=SMALL, color=GREY)
    first = rows[0]
    about = [
        f"{first['task']}, score {first['quality']:.2f}: {first['summary']}",
        *textwrap.wrap(first["meaning"], 130),
    ]
    figure.suptitle("\n".join(about), x=0.01, ha="left", fontsize=8)
    return figure
