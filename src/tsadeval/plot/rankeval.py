"""Figures of RankEval about the quality of metrics, and of five models of known order, each on one pair of axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.names import check_known
from tsadeval.core.parameters import Check, OneOf, check_parameters
from tsadeval.core.results import Row
from tsadeval.core.selection import AnyMetric
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.plot import style
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
# How a line looks, its places on the horizontal axis, and its rows.
Line = tuple[style.Look, list[float], list[Row]]
_INDICATOR: dict[str, Check] = {"indicator": OneOf(tuple(INDICATORS))}


@style.styled
def quality_by_noise(
    result: SuiteResult | SuiteTable, ax: Axes | None = None, *, task: str = AVERAGE, indicator: Indicator = "spearman"
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
    ax = style.new_axes(ax)
    sigmas = sorted({row["sigma"] for row in rows})
    lines: list[Line] = []
    for i, (name, look) in enumerate(style.looks(list(table)).items()):
        mine = sorted((row for row in rows if row["metric"] == name), key=lambda row: row["sigma"])
        aside = 0.5 * (i / max(len(table) - 1, 1) - 0.5)
        lines.append((look, [sigmas.index(row["sigma"]) + aside for row in mine], mine))
    ax.set_xticks(range(len(sigmas)), [f"{sigma:g}" for sigma in sigmas])
    ax.set(xlim=(-0.35, len(sigmas) - 0.65), xlabel=f"standard deviation of the noise, {SIGMA}", title=task)
    _draw_quality(ax, lines, indicator)
    return ax


@style.styled
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
    found: Metric = result.plan.find(metric)
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
    ax = style.new_axes(ax, 3.4, 2.6)
    p = values.columns.to_numpy(np.float64)
    means = values.groupby("q").mean()
    ends = []
    for color, (q, line) in zip(style.sequence(len(means)), means.iterrows(), strict=True):
        ax.plot(p, line, color=color, marker="o", markersize=2.5, lw=1.0, label=f"q = {q:g}")
        ends.append((float(p[-1]), float(line.iloc[-1]), f"q = {q:g}", color))
    ax.set_xscale("log")
    ax.set_xticks(p, [f"{x:g}" for x in p])
    label = style.looks(list(map(str, result.plan.metrics)))[str(found)].label
    xlabel = "false-alarm rate p\n(grey: share of steps that do not go down)"
    ax.set(xlim=(p[0] / 1.25, p[-1] * 1.25), xlabel=xlabel, ylabel=label, title=f"{label}, {SIGMA} = {sigma:g}")
    ax.margins(y=0.14)  # room for the numbers
    _wrong_steps(ax, p, values.to_numpy(), found)
    style.grid(ax, "y")
    if name_lines:
        style.end_labels(ax, [end for end in ends if math.isfinite(end[1])])
    return ax


@style.styled
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
        table = result.sensitivity(str(result.plan.find(metric)), tasks=tasks, **{option: values})
    ax = style.new_axes(ax, 3.6, 2.6)
    at = {name: dict(parse_metric(name).bound)[option] for name in table}
    ticks = sorted(at.values())
    shown = list(dict.fromkeys(row["task"] for row in table.rows))
    shown = [task for task in shown if task != AVERAGE or len(shown) > 2]
    step = min((b - a for a, b in pairwise(ticks)), default=1.0)
    lines: list[Line] = []
    for i, (task, color) in enumerate(zip(shown, style.sequence(len(shown)), strict=True)):
        mine = sorted(_rows_of_task(table, task, indicator), key=lambda row: at[row["metric"]])
        x = [at[row["metric"]] + 0.06 * step * (i - (len(shown) - 1) / 2) for row in mine]
        lines.append((style.Look(task, color, "osD^v<>"[i % 7], "-"), x, mine))
    ax.set_xticks(ticks, [f"{value:g}" for value in ticks])
    bare = next(iter(table)).partition("(")[0]
    title = f"{style.looks([bare])[bare].label} with other {TAU if option == 'tau' else option}"
    ax.set(xlabel=f"confidence threshold {TAU}" if option == "tau" else option, title=title)
    _draw_quality(ax, lines, indicator)
    return ax


def _rows_of_task(table: SuiteTable, task: str, indicator: str) -> list[Row]:
    check_known(task, dict.fromkeys(row["task"] for row in table.rows), "task", "this result")
    rows = [row for row in table.rows if row["task"] == task and row["indicator"] == indicator]
    if not any(math.isfinite(row["value"]) for row in rows):
        raise InvalidInputError(f"this run has no whole ranking of {task} yet: continue it, then draw")
    return rows


def _draw_quality(ax: Axes, lines: Sequence[Line], indicator: Indicator) -> None:
    """Draw lines of ranking quality, named at their ends, with bars for their intervals, up to the best value."""
    ends: list[tuple[float, float, str, Any]] = []
    for i, (look, x, rows) in enumerate(lines):
        y = [row["value"] for row in rows]
        face = "white" if look.hollow else look.color
        how: dict[str, Any] = {"color": look.color, "marker": look.marker, "linestyle": look.dashes}
        ax.plot(x, y, label=look.label, clip_on=False, zorder=3 - i / 1000, markerfacecolor=face, **how)
        low, high = ([row[end] for row in rows] for end in ("low", "high"))
        if np.isfinite(low).any():
            ax.vlines(x, low, high, color=look.color, lw=0.7, alpha=0.6, clip_on=False)
        ends += [(*place, look.label, look.color) for place in zip(x, y, strict=True) if math.isfinite(place[1])][-1:]
    found = [row[key] for _, _, rows in lines for row in rows for key in ("value", "low", "high")]
    numbers = [number for number in found if math.isfinite(number)]
    higher = INDICATORS[indicator][1]
    if higher:
        least = min(*numbers, 0.9)
        ax.set_ylim(least - 0.03 * (1 - least), 1 + 0.02 * (1 - least))
    else:
        most = max(*numbers, 0.5)
        ax.set_ylim(-0.02 * most, 1.03 * most)
    style.grid(ax, "y")
    ax.set_ylabel(f"{WORDS[indicator]}\n({'higher' if higher else 'lower'} is better)")
    style.end_labels(ax, ends)


def _wrong_steps(ax: Axes, p: Floats, values: Floats, metric: Metric) -> None:
    steps = np.diff(metric.sign * values, axis=1)
    known = np.isfinite(steps)
    for i, middle in enumerate(np.sqrt(p[1:] * p[:-1])):
        if known[:, i].any():
            share = np.mean(steps[known[:, i], i] >= 0)
            text = f"{100 * share:.0f} %" if share == 0 or share >= 0.01 else "< 1 %"
            where: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "bottom"}
            ax.text(float(middle), 0.01, text, fontsize=style.SMALL, color=style.GREY, **where)


# The first figure of the paper: five models of known order, and what metrics say of them.

WRONG = "#B03A00"
HEIGHT = 1.25  # from one model to the next; scores are from 0 to 1
NARROW = 300.0  # axes of fewer points have smaller text and no names of models


@style.styled
def five_models(ax: Axes | None = None) -> Axes:
    """Scores of five models of known order on one series, and what five metrics say of them.

    The best model is on top. Bands are events, the broken lines thresholds (0.95 quantiles) and the dots alarms. A
    value that is not below the one above it, as it should be, is marked.
    """
    ax = style.new_axes(ax, 8.6, 3.6)
    narrow = style.width_of(ax) < NARROW
    models, events = _models(), example_labels()
    bottoms = [HEIGHT * (len(models) - model.rank) for model in models]
    style.bars(ax, events.starts, events.lengths, -0.1, bottoms[0] + 1.2)
    x = np.arange(events.n)
    for model, bottom in zip(models, bottoms, strict=True):
        ax.plot(x, bottom + model.scores, color="#0072B2", lw=0.6)
        ax.axhline(bottom + model.threshold, color=style.GREY, lw=0.5, dashes=(4, 3))
        ax.plot(x[model.alarms], bottom + model.scores[model.alarms], ".", color="#D55E00", markersize=2.5)
    middles = [bottom + 0.5 for bottom in bottoms]
    style.name_rows(ax, middles, [str(model.rank) if narrow else f"{model.rank}  {model.name}" for model in models])
    ax.set(xlim=(-2, events.n + 1), ylim=(-0.1, bottoms[0] + 1.1))
    order = "; model 1 is the best, 5 the worst" if narrow else ""
    ax.set_xlabel(f"time  (band: event, broken line: threshold, dot: alarm{order})", loc="left" if narrow else None)
    if not narrow:
        ax.set_title("Five models, from the best (1) to the worst (5)")
    columns = [parse_metric(text).label for text in EXAMPLE_METRICS]
    _values_beside(ax, five_models_table().rows, columns, middles, narrow)
    return ax


def _values_beside(
    ax: Axes, rows: Sequence[Row], columns: Sequence[str], places: Sequence[float], narrow: bool
) -> None:
    # Offsets are in points, so that the layout of the figure knows how much room the columns need.
    first, step, size = (15, 26, 5.5) if narrow else (28, 49, style.SMALL)
    write = partial(ax.annotate, textcoords="offset points", ha="center", annotation_clip=False)
    for i, column in enumerate(columns):
        x = first + step * i
        head = (x, 4 + 7 * (narrow and i % 2))
        write(column, (1, 1), head, xycoords="axes fraction", va="bottom", fontsize=size, weight="bold")
        values = [row[column] for row in rows]
        for value, before, place in zip(values, [math.inf, *values[:-1]], places, strict=True):
            wrong = value >= before
            text = f"{value:.3f}{'↑' if wrong else ''}"
            how: dict[str, Any] = {"color": WRONG, "weight": "bold"} if wrong else {"color": "black"}
            how["fontsize"] = size if narrow else None
            write(text, (1, place), (x, 0), xycoords=ax.get_yaxis_transform(), va="center", **how)
    middle = first + step * (len(columns) - 1) / 2
    text = "↑ not below the better model in the row above"
    write(text, (1, 0), (middle, -4), xycoords="axes fraction", va="top", fontsize=size, color=WRONG)
