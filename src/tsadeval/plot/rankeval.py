"""Figures of RankEval about the quality of metrics, each on one pair of axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.names import did_you_mean
from tsadeval.core.parameters import Check, OneOf, check_parameters
from tsadeval.core.results import Row
from tsadeval.core.selection import AnyMetric
from tsadeval.core.selection import find_metric as find_name
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from tsadeval.plot.style import (
    GREY,
    SMALL,
    Look,
    bars,
    end_labels,
    grid,
    looks,
    name_rows,
    new_axes,
    sequence,
    styled,
    width_of,
)
from tsadeval.rankeval.quality import INDICATORS
from tsadeval.rankeval.suite import SuiteResult, SuiteTable
from tsadeval.rankeval.suites.paper import EXAMPLE_METRICS, example_labels, five_models_table
from tsadeval.rankeval.suites.paper import five_models as _models
from tsadeval.rankeval.suites.paper_rankings import AVERAGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Indicator = Literal["spearman", "kendall", "deviation"]
WORDS: dict[Indicator, str] = {"spearman": "Spearman", "kendall": "Kendall", "deviation": "mean rank deviation"}
SIGMA, TAU = "\N{GREEK SMALL LETTER SIGMA}", "\N{GREEK SMALL LETTER TAU}"
TAUS = (0.1, 0.3, 0.5, 0.7, 0.9)
_INDICATOR: dict[str, Check] = {"indicator": OneOf(tuple(INDICATORS))}


@styled
def quality_by_noise(
    result: SuiteResult | SuiteTable,
    ax: Axes | None = None,
    *,
    task: str = AVERAGE,
    indicator: Indicator = "spearman",
) -> Axes:
    """Ranking quality against the noise sigma, a line for each metric, bars for the intervals over cases.

    Instead of a result its `robustness()` may be given, which spares the work of making it again. Metrics stand side
    by side at each sigma, so that equal ones can be told apart.

    Parameters
    ----------
    result : SuiteResult or SuiteTable
        What `te.rankeval.run` returned, or its `robustness()`.
    ax : Axes, optional
        Where to draw; else on new axes.
    task : str, default="average"
        The task whose models are ranked, or the average over tasks.
    indicator : {"spearman", "kendall", "deviation"}, default="spearman"
        How rankings are compared with the truth.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
    >>> ax = te.plot.quality_by_noise(result, task="AccQ", indicator="kendall")
    >>> ax.get_title(loc="left")
    'AccQ'
    """
    check_parameters("quality_by_noise", _INDICATOR, {"indicator": indicator})
    table = result if isinstance(result, SuiteTable) else result.robustness(order="given")
    rows = _rows_of_task(table, task, indicator)
    ax = new_axes(ax)
    sigmas = sorted({row["sigma"] for row in rows})
    look = looks(list(table))
    ends = []
    for i, name in enumerate(table):
        mine = sorted((row for row in rows if row["metric"] == name), key=lambda row: row["sigma"])
        aside = 0.5 * (i / max(len(table) - 1, 1) - 0.5)
        x = [sigmas.index(row["sigma"]) + aside for row in mine]
        ends += _line(ax, x, mine, look[name], zorder=3 - i / 1000)
    ax.set_xticks(range(len(sigmas)), [f"{sigma:g}" for sigma in sigmas])
    ax.set(xlim=(-0.35, len(sigmas) - 0.65), xlabel=f"standard deviation of the noise, {SIGMA}", title=task)
    _quality_axis(ax, rows, indicator)
    end_labels(ax, ends)
    return ax


@styled
def value_by_false_alarms(
    result: SuiteResult,
    ax: Axes | None = None,
    *,
    metric: AnyMetric = "cce",
    sigma: float = 0.0,
    name_lines: bool = True,
) -> Axes:
    """Draw a metric's mean over cases against the false-alarm rate p, a line for each share q that is found.

    More false alarms are worse, so every line should fall. The grey numbers say how often it does not: the share of
    cases and q in which the model with the next larger p does not get a worse value. `name_lines=False` leaves the
    names of the lines to a legend.

    Parameters
    ----------
    result : SuiteResult
        A run with a task whose models differ in their false alarms (PreQ-NegP-P).
    ax : Axes, optional
        Where to draw; else on new axes.
    metric : str or function, default="cce"
        The metric whose values are drawn.
    sigma : float, default=0.0
        The noise, one of those of the suite.
    name_lines : bool, default=True
        Write the name of each line at its end.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["PreQ-NegP-P"])
    >>> ax = te.plot.value_by_false_alarms(result, metric="auc_roc")
    >>> ax.get_ylabel()
    'AUC-ROC'
    """
    found = find_metric(result, metric)
    task = next((task for task in result.plan.tasks if task.by == "p"), None)
    if task is None:
        raise InvalidInputError("this run has no task whose models differ in their false alarms (PreQ-NegP-P)")
    sigmas = result.plan.sigmas
    if sigma not in sigmas:
        raise InvalidParameterError(f"sigma must be one of {', '.join(map(str, sigmas))}, but is {sigma!r}")
    frame = result.to_frame()
    where = (frame["metric"] == str(found)) & (frame["generator"] == task.generator) & (frame["sigma"] == sigma)
    frame = frame[where & frame["value"].notna()]
    if frame.empty:
        raise InvalidInputError(f"{found!s} has no values on {task.name} at sigma {sigma} in this run")
    # Rows are rankings (case, q), columns are p.
    values = frame.groupby(["case", "q", "p"])["value"].mean().unstack("p")
    ax = new_axes(ax, 3.4, 2.6)
    p = values.columns.to_numpy(np.float64)
    means = values.groupby("q").mean()
    ends = []
    for color, (q, line) in zip(sequence(len(means)), means.iterrows(), strict=True):
        ax.plot(p, line, color=color, marker="o", markersize=2.5, lw=1.0, label=f"q = {q:g}")
        ends.append((float(p[-1]), float(line.iloc[-1]), f"q = {q:g}", color))
    ax.set_xscale("log")
    ax.set_xticks(p, [f"{x:g}" for x in p])
    label = looks(list(map(str, result.plan.metrics)))[str(found)].label
    xlabel = "false-alarm rate p\n(grey: share of steps that do not go down)"
    ax.set(xlim=(p[0] / 1.25, p[-1] * 1.25), xlabel=xlabel, ylabel=label, title=f"{label}, {SIGMA} = {sigma:g}")
    ax.margins(y=0.14)  # room for the numbers
    _wrong_steps(ax, p, values.to_numpy(), found)
    grid(ax, "y")
    if name_lines:
        end_labels(ax, [end for end in ends if math.isfinite(end[1])])
    return ax


@styled
def sensitivity(
    result: SuiteResult | SuiteTable,
    ax: Axes | None = None,
    *,
    metric: AnyMetric = "cce",
    indicator: Indicator = "spearman",
    option: str = "tau",
    values: Sequence[float] = TAUS,
    tasks: Sequence[str] | None = None,
) -> Axes:
    """Ranking quality against a numeric option of a metric, a line for each task (all of the run by default).

    What the store does not have yet is computed. Instead of a result its `sensitivity(...)` may be given.

    Parameters
    ----------
    result : SuiteResult or SuiteTable
        What `te.rankeval.run` returned, or its `sensitivity(...)`.
    ax : Axes, optional
        Where to draw; else on new axes.
    metric : str or function, default="cce"
        The metric.
    indicator : {"spearman", "kendall", "deviation"}, default="spearman"
        How rankings are compared with the truth.
    option : str, default="tau"
        An option of the metric that is a number.
    values : sequence of float
        The values of the option.
    tasks : sequence of str, optional
        Tasks of the run; all by default.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
    >>> ax = te.plot.sensitivity(result, values=[0.3, 0.5])
    >>> ax.get_title(loc="left")
    'CCE with other τ'
    """
    check_parameters("sensitivity", _INDICATOR, {"indicator": indicator})
    if isinstance(result, SuiteTable):
        table = result
    else:
        table = result.sensitivity(str(find_metric(result, metric)), tasks=tasks, **{option: values})
    ax = new_axes(ax, 3.6, 2.6)
    at = {name: dict(parse_metric(name).bound)[option] for name in table}
    shown = list(dict.fromkeys(row["task"] for row in table.rows))
    shown = [task for task in shown if task != AVERAGE or len(shown) > 2]
    step = min((b - a for a, b in zip(sorted(at.values()), sorted(at.values())[1:], strict=False)), default=1.0)
    rows, ends = [], []
    for i, (task, color) in enumerate(zip(shown, sequence(len(shown)), strict=True)):
        mine = sorted(_rows_of_task(table, task, indicator), key=lambda row: at[row["metric"]])
        x = [at[row["metric"]] + 0.06 * step * (i - (len(shown) - 1) / 2) for row in mine]
        ends += _line(ax, x, mine, Look(task, color, "osD^v<>"[i % 7], "-"), zorder=3 - i / 1000)
        rows += mine
    ax.set_xticks(sorted(at.values()), [f"{value:g}" for value in sorted(at.values())])
    bare = next(iter(table)).partition("(")[0]
    title = f"{looks([bare])[bare].label} with other {TAU if option == 'tau' else option}"
    ax.set(xlabel=f"confidence threshold {TAU}" if option == "tau" else option, title=title)
    _quality_axis(ax, rows, indicator)
    end_labels(ax, ends)
    return ax


def find_metric(result: SuiteResult, metric: AnyMetric) -> Metric:
    """Find the metric of a result that is meant."""
    known: dict[str, Metric] = {str(m): m for m in result.plan.metrics}
    return known[find_name(metric, list(known))]


def _rows_of_task(table: SuiteTable, task: str, indicator: str) -> list[Row]:
    tasks = list(dict.fromkeys(row["task"] for row in table.rows))
    if task not in tasks:
        raise UnknownNameError(f"no task {task!r} in this result: {did_you_mean(task, tasks)}")
    rows = [row for row in table.rows if row["task"] == task and row["indicator"] == indicator]
    if not any(math.isfinite(row["value"]) for row in rows):
        raise InvalidInputError(f"this run has no whole ranking of {task} yet: continue it, then draw")
    return rows


def _line(
    ax: Axes, x: Sequence[float], rows: Sequence[Row], look: Look, zorder: float
) -> list[tuple[float, float, str, Any]]:
    """Draw a line with bars for its intervals; returns its end, where there is one, as `end_labels` takes it."""
    y = [row["value"] for row in rows]
    how: dict[str, Any] = {"color": look.color, "marker": look.marker, "linestyle": look.dashes, "label": look.label}
    ax.plot(x, y, clip_on=False, zorder=zorder, markerfacecolor="white" if look.hollow else look.color, **how)
    known = [(place, row["low"], row["high"]) for place, row in zip(x, rows, strict=True) if math.isfinite(row["low"])]
    if known:
        ax.vlines(*zip(*known, strict=True), color=look.color, lw=0.7, alpha=0.6, clip_on=False)
    ends = [(place, value, look.label, look.color) for place, value in zip(x, y, strict=True) if math.isfinite(value)]
    return ends[-1:]


def _quality_axis(ax: Axes, rows: Sequence[Row], indicator: Indicator) -> None:
    """Limits that end at the best possible value, and do not blow up differences that do not matter."""
    numbers = [row[key] for row in rows for key in ("value", "low", "high") if math.isfinite(row[key])]
    if INDICATORS[indicator][1]:
        low = min(*numbers, 0.9)
        ax.set_ylim(low - 0.03 * (1 - low), 1 + 0.02 * (1 - low))
    else:
        high = max(*numbers, 0.5)
        ax.set_ylim(-0.02 * high, 1.03 * high)
    grid(ax, "y")
    ax.set_ylabel(f"{WORDS[indicator]}\n({'higher' if INDICATORS[indicator][1] else 'lower'} is better)")


def _wrong_steps(ax: Axes, p: Floats, values: Floats, metric: Metric) -> None:
    steps = np.diff(values if metric.direction == "higher" else -values, axis=1)
    known = np.isfinite(steps)
    for i, middle in enumerate(np.sqrt(p[1:] * p[:-1])):
        if known[:, i].any():
            share = np.mean(steps[known[:, i], i] >= 0)
            text = f"{100 * share:.0f} %" if share == 0 or share >= 0.01 else "< 1 %"
            where: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "bottom"}
            ax.text(float(middle), 0.01, text, fontsize=SMALL, color=GREY, **where)


# The first figure of the paper: five models of known order, and what metrics say of them.


WRONG = "#B03A00"
HEIGHT = 1.25  # from one model to the next; scores are from 0 to 1
NARROW = 300.0  # axes of fewer points have smaller text and no names of models


@styled
def five_models(ax: Axes | None = None) -> Axes:
    """Scores of five models of known order on one series, and what five metrics say of them.

    The best model is on top. Bands are events, the broken lines thresholds (0.95 quantiles) and the dots alarms. A
    value that is not below the one above it, as it should be, is marked.
    """
    ax = new_axes(ax, 8.6, 3.6)
    narrow = width_of(ax) < NARROW
    models, events = _models(), example_labels()
    bottoms = [HEIGHT * (len(models) - model.rank) for model in models]
    bars(ax, events.starts, events.lengths, -0.1, bottoms[0] + 1.2)
    x = np.arange(events.n)
    for model, bottom in zip(models, bottoms, strict=True):
        ax.plot(x, bottom + model.scores, color="#0072B2", lw=0.6)
        ax.axhline(bottom + model.threshold, color=GREY, lw=0.5, dashes=(4, 3))
        ax.plot(x[model.alarms], bottom + model.scores[model.alarms], ".", color="#D55E00", markersize=2.5)
    names = [str(model.rank) if narrow else f"{model.rank}  {model.name}" for model in models]
    name_rows(ax, [bottom + 0.5 for bottom in bottoms], names)
    ax.set(xlim=(-2, events.n + 1), ylim=(-0.1, bottoms[0] + 1.1))
    order = "; model 1 is the best, 5 the worst" if narrow else ""
    ax.set_xlabel(f"time  (band: event, broken line: threshold, dot: alarm{order})", loc="left" if narrow else None)
    if not narrow:
        ax.set_title("Five models, from the best (1) to the worst (5)")
    columns = [parse_metric(text).label for text in EXAMPLE_METRICS]
    _values_beside(ax, five_models_table().rows, columns, [bottom + 0.5 for bottom in bottoms], narrow)
    return ax


def _values_beside(
    ax: Axes, rows: Sequence[Row], columns: Sequence[str], places: Sequence[float], narrow: bool
) -> None:
    # Offsets are in points, so that the layout of the figure knows how much room the columns need.
    first, step, size = (15, 26, 5.5) if narrow else (28, 49, SMALL)
    write = partial(ax.annotate, textcoords="offset points", ha="center", annotation_clip=False)
    for i, column in enumerate(columns):
        x = first + step * i
        head = (x, 4 + 7 * (narrow and i % 2))
        write(column, (1, 1), head, xycoords="axes fraction", va="bottom", fontsize=size, weight="bold")
        before = math.inf
        for row, place in zip(rows, places, strict=True):
            wrong = row[column] >= before
            text = f"{row[column]:.3f}{'↑' if wrong else ''}"
            how: dict[str, Any] = {"color": WRONG, "weight": "bold"} if wrong else {"color": "black"}
            at = ax.get_yaxis_transform()
            write(text, (1, place), (x, 0), xycoords=at, va="center", fontsize=size if narrow else None, **how)
            before = row[column]
    middle = first + step * (len(columns) - 1) / 2
    text = "↑ not below the better model in the row above"
    write(text, (1, 0), (middle, -4), xycoords="axes fraction", va="top", fontsize=size, color=WRONG)
