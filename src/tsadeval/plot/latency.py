"""Figures of RankEval about the time that metrics take, each on one pair of axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Floats
from tsadeval.core.names import check_known
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.selection import AnyMetric
from tsadeval.errors import InvalidInputError
from tsadeval.plot.style import GREY, SMALL, Look, end_labels, grid, looks, new_axes, sequence, styled, width_of
from tsadeval.rankeval.suite import SuiteResult
from tsadeval.rankeval.suites.paper_rankings import measured

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

By = Literal["task", "length", "events"]


@styled
def latency(result: SuiteResult, ax: Axes | None = None, *, task: str = "AccQ") -> Axes:
    """Milliseconds of each metric's call on the models of one task, quickest first, on a logarithmic axis.

    Parameters
    ----------
    result : SuiteResult
        What `te.rankeval.run` returned.
    ax : Axes, optional
        Where to draw; else on new axes.
    task : str, default="AccQ"
        The task whose models were scored.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
    >>> ax = te.plot.latency(result)
    >>> ax.get_title(loc="left")
    'Latency on AccQ'
    """
    frame = _measured(result, task)
    look = looks(list(map(str, result.plan.metrics)))
    groups = {str(name): 1000 * part["seconds"].to_numpy() for name, part in frame.groupby("metric", sort=False)}
    ordered = sorted(groups, key=lambda name: -float(np.median(groups[name])))
    ax = new_axes(ax, 5.2, 0.9 + 0.27 * len(ordered))
    at: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "fontsize": SMALL}
    for place, name in enumerate(ordered):
        _violin(ax, place, groups[name], look[name].color, upright=False)
        ax.text(1.01, place, f"{groups[name].mean():.3g} ms", va="center", **at)
    ax.set_yticks(range(len(ordered)), [look[name].label for name in ordered])
    ax.text(1.01, len(ordered) - 0.35, "mean", color=GREY, **at)
    xlabel = "milliseconds a call (dot: median, bar: middle half, diamond: mean)"
    ax.set(xscale="log", ylim=(-0.6, len(ordered) - 0.4), xlabel=xlabel, title=f"Latency on {task}")
    grid(ax, "x")
    _plain_log(ax, "x")
    return ax


@styled
def latency_by(result: SuiteResult, ax: Axes | None = None, *, by: By = "task", metric: AnyMetric = "cce") -> Axes:
    """Milliseconds of one metric's call by task, by length of the series, or by number of events.

    By length, dots are medians, bars reach from 5 % to 95 %, and the broken line is proportional to the length. By
    number of events there is a line for each length that has several.

    Parameters
    ----------
    result : SuiteResult
        What `te.rankeval.run` returned.
    ax : Axes, optional
        Where to draw; else on new axes.
    by : {"task", "length", "events"}, default="task"
        What calls are grouped by.
    metric : str or function, default="cce"
        The metric.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
    >>> ax = te.plot.latency_by(result, by="length", metric="auc_roc")
    >>> ax.get_title(loc="left")
    'AUC-ROC by length'
    """
    check_parameters("latency_by", {"by": OneOf(tuple(BY))}, {"by": by})
    found = result.plan.find(metric)
    frame = _measured(result)
    frame = frame[frame["metric"] == str(found)]
    if frame.empty:
        raise InvalidInputError(f"{found!s} has no measured values in this run")
    look = looks(list(map(str, result.plan.metrics)))[str(found)]
    ax = new_axes(ax, 3.2, 2.6)
    BY[by](ax, frame, look)
    what = "number of events" if by == "events" else by
    ax.set(yscale="log", ylabel="milliseconds a call", title=f"{look.label} by {what}")
    grid(ax, "y")
    _plain_log(ax, "y")
    return ax


def _measured(result: SuiteResult, task: str | None = None) -> pd.DataFrame:
    """Rows with a time, on the models of one task or of all."""
    frame = measured(result.to_frame())
    if task is not None:
        generators = {t.name: t.generator for t in result.plan.tasks}
        check_known(task, generators, "task", "this result")
        frame = frame[frame["generator"] == generators[task]]
    if frame.empty:
        raise InvalidInputError("this run has no measured values yet: continue it, then draw")
    return frame


def _violin(ax: Axes, place: float, values: Floats, color: Any, *, upright: bool) -> None:
    """Draw the density of the logarithms, with median, middle half and mean; half its width is 0.4 at its widest."""
    logs = np.log(values)
    if len(logs) > 1 and np.ptp(logs) > 0:
        grid = np.linspace(logs.min(), logs.max(), 200)
        density = require("scipy.stats", extra="all").gaussian_kde(logs)(grid)
        density *= 0.4 / density.max()
        fill = ax.fill_betweenx if upright else ax.fill_between
        fill(np.exp(grid), place - density, place + density, color=color, alpha=0.35, lw=0)
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    (ax.vlines if upright else ax.hlines)(place, low, high, color=color, lw=2.5)
    for value, marker, face in ((middle, "o", "white"), (float(values.mean()), "D", color)):
        x, y = (place, value) if upright else (value, place)
        ax.plot([x], [y], marker, markersize=3.2, markerfacecolor=face, markeredgecolor=color, markeredgewidth=0.8)


def _latency_by_task(ax: Axes, frame: pd.DataFrame, look: Look) -> None:
    groups = {str(name): part for name, part in frame.groupby("generator", sort=False)}
    for place, part in enumerate(groups.values()):
        _violin(ax, place, 1000 * part["seconds"].to_numpy(), look.color, upright=True)
    ax.set_xticks(range(len(groups)), list(groups))
    ax.set(xlim=(-0.6, len(groups) - 0.4), xlabel="models of")


def _quantiles(frame: pd.DataFrame, key: str) -> tuple[Floats, Floats]:
    """Return the values of a column, ascending, and for each the 5 %, 50 % and 95 % quantiles of milliseconds."""
    found = 1000 * frame.groupby(key)["seconds"].quantile(np.array([0.05, 0.5, 0.95])).unstack()
    return found.index.to_numpy(np.float64), found.to_numpy().T


def _bars(ax: Axes, x: Floats, quantiles: Floats, color: Any, line: str) -> None:
    low, middle, high = quantiles
    ax.vlines(x, low, high, color=color, lw=0.8, alpha=0.6)
    ax.plot(x, middle, marker="o", markersize=3.2, linestyle=line, color=color)


def _latency_by_length(ax: Axes, frame: pd.DataFrame, look: Look) -> None:
    n, quantiles = _quantiles(frame, "n")
    ax.set_xlim(n[0] / 1.5, n[-1] * 1.5)
    _bars(ax, n, quantiles, look.color, "-")
    if len(n) > 1:
        x = np.array([n[0], math.sqrt(n[0] * n[-1]), n[-1]])
        y = quantiles[1][-1] * x / x[-1]
        ax.plot(x, y, color=GREY, lw=0.8, linestyle=(0, (4, 3)))
        middle = (float(x[1]), float(y[1]))
        ax.annotate("proportional", middle, (5, -5), textcoords="offset points", va="top", fontsize=SMALL, color=GREY)
    ax.set(xscale="log", xlabel="length of the series")
    _plain_log(ax, "x")


def _latency_by_events(ax: Axes, frame: pd.DataFrame, look: Look) -> None:
    several = frame.groupby("n")["events"].nunique() > 1
    lengths = {n: frame[frame["n"] == n] for n in several[several].index.tolist()}
    single = frame[~frame["n"].isin(list(lengths))]
    if not single.empty:
        _bars(ax, *_quantiles(single, "events"), GREY, "")
    ends = []
    for color, (n, part) in zip(sequence(len(lengths)), lengths.items(), strict=True):
        x, quantiles = _quantiles(part, "events")
        _bars(ax, x, quantiles, color, "-")
        ends.append((float(x[-1]), float(quantiles[1][-1]), f"{n:,}\npoints", color))
    ax.set(xscale="log", yscale="log", xlabel="number of events")
    _plain_log(ax, "x")
    end_labels(ax, ends, lines=2)


BY: dict[By, Callable[[Axes, pd.DataFrame, Look], None]] = {
    "task": _latency_by_task,
    "length": _latency_by_length,
    "events": _latency_by_events,
}


def _plain_log(ax: Axes, which: Literal["x", "y"]) -> None:
    """Numbers as people write them on a logarithmic axis, also where it spans less than a power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = ax.xaxis if which == "x" else ax.yaxis
    low, high = ax.get_xlim() if which == "x" else ax.get_ylim()
    room, each = (0.6 * width_of(ax), 18) if which == "x" else (72 * ax.bbox.height / ax.figure.dpi, 12)
    crowded = 3 * each * math.log10(high / low) > room
    axis.set_major_locator(LogLocator(subs=(1.0,) if crowded else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.10g}" if value < 10_000 else f"{value / 1000:,g}k")
    )
    axis.set_minor_formatter(NullFormatter())
