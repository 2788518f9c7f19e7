"""Figures of RankEval about the time that metrics take; and all figures of a run, written to files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from tsadeval._optional import require
from tsadeval.core.facts import grouped
from tsadeval.core.inputs import Floats
from tsadeval.core.names import check_known
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.selection import AnyMetric
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.plot import rankeval
from tsadeval.plot.rankeval import TAUS, WORDS, five_models
from tsadeval.plot.style import (
    GREY,
    SMALL,
    Look,
    end_labels,
    filled,
    grid,
    looks,
    new_axes,
    new_figure,
    options_note,
    sequence,
    styled,
    width_of,
)
from tsadeval.plot.suites import (
    agreement,
    gameability,
    hard_sensitivity,
    hard_tasks,
    pairs_of_task,
    selection,
    series_of,
    wrong_choice,
)
from tsadeval.rankeval.quality import Ties, Undefined
from tsadeval.rankeval.suite import Explanation, SuiteResult
from tsadeval.rankeval.suites.audit import AuditSuite
from tsadeval.rankeval.suites.hard import HardSuite
from tsadeval.rankeval.suites.paper import PaperSuite
from tsadeval.rankeval.suites.paper_rankings import AVERAGE, measured
from tsadeval.rankeval.suites.selection import SelectionSuite

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


# The metrics whose values the paper shows against the false-alarm rate.
PAPER = ("cce", "affiliation_f1", "auc_roc", "vus_roc")
STAMPS: dict[str, dict[str, None]] = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}

Tell = Callable[[str], None]


@styled
def write_figures(
    result: SuiteResult,
    folder: str | Path,
    *,
    format: str = "png",  # noqa: A002
    metrics: Sequence[AnyMetric] | None = None,
    left_out: Tell | None = None,
    ties: Ties = "average",
    undefined: Undefined = "worst",
) -> list[Path]:
    """Draw every figure that the run has the values for.

    Parameters
    ----------
    result : SuiteResult
        What `te.rankeval.run` or `te.rankeval.read` returned.
    folder : path
        Made where it is not there; files of the same names are written anew.
    format : {"png", "pdf", "svg"}
        Of the files.
    metrics : sequence of str or functions
        Whose values are drawn against the false-alarm rate; by default the paper's four as far as they are there. Of
        the suite "hard", the metrics to show; by default your own and the best others.
    left_out : function (message)
        Called with a message for each figure that cannot be drawn.
    ties, undefined : str
        Of the paper's suites: as for `SuiteResult.table`.

    Returns
    -------
    list of Path
        The files.
    """
    check_parameters("write_figures", {"format": OneOf(tuple(STAMPS))}, {"format": format})
    if isinstance(result.plan, PaperSuite):
        for name in metrics or ():
            result.plan.find(name)  # a name that is not there is said before any work begins
    if result.to_frame().empty:
        raise InvalidInputError("this run has no values yet: continue it, then draw")
    of_rankings = partial(_of_rankings, ties=ties, undefined=undefined)
    kinds = ((PaperSuite, of_rankings), (HardSuite, _of_hard), (SelectionSuite, _of_selection), (AuditSuite, _of_audit))
    drawings = next((draw for kind, draw in kinds if isinstance(result.plan, kind)), None)
    if drawings is None:
        raise InvalidInputError(f"there are no figures of suite {result.plan.name}")
    return write_drawings(drawings(result, metrics), Path(folder), format, left_out)


@styled
def write_explanation(
    explanation: Explanation,
    folder: str | Path,
    *,
    format: str = "png",  # noqa: A002
    scores: Any = None,
) -> list[Path]:
    """Write the figures of an explanation of the suite "hard" or "selection"; returns the files.

    Of hard there is one for each task, with its worst pairs. Of selection there is one for each wrong choice that is
    printed, which needs the `scores` that the suite was given.
    """
    check_parameters("write_explanation", {"format": OneOf(tuple(STAMPS))}, {"format": format})
    chosen = isinstance(getattr(explanation, "plan", None), SelectionSuite)
    if chosen and scores is None:
        raise InvalidInputError("wrong choices are drawn on the scores that the suite was given: add scores=")
    drawings = _of_mistakes(explanation, scores) if chosen else _of_explanation(explanation, "explain")
    return write_drawings(drawings, Path(folder), format)


# The name of each figure and the function that draws it.
Drawings = Iterable[tuple[str, Callable[[], "Figure | Axes"]]]


@styled
def write_drawings(drawings: Drawings, folder: Path, suffix: str, left_out: Tell | None = None) -> list[Path]:
    """Write figures; what cannot be drawn is told to `left_out`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"the folder {folder} cannot be made ({error.strerror})") from None
    written = []
    for name, draw in drawings:
        try:
            figure = draw().get_figure(root=True)
        except TsadevalError as error:
            if left_out is not None:
                left_out(f"{name} is left out: {error}")
            continue
        written.append(folder / f"{name}.{suffix}")
        cast("Figure", figure).savefig(written[-1], format=suffix, metadata=STAMPS[suffix])
    return written


def _of_hard(result: SuiteResult, metrics: Sequence[AnyMetric] | None) -> Drawings:
    table = result.table()
    yield "hard-tasks", lambda: hard_tasks(table, metrics=metrics)
    if any(task.changes is not None for task in result.plan.tasks):
        yield "hard-sensitivity", lambda: hard_sensitivity(result, metrics=metrics)
    for name in [row["name"] for row in table.rows if row["own"]]:
        yield from _of_explanation(result.explain(name, pairs=3), f"explain-{name.replace(':', '-').replace(' ', '-')}")


def _of_explanation(found: Explanation, name: str) -> Drawings:
    for task, rows in grouped((row["task"], row) for row in found.rows).items():
        yield f"{name}-{task.replace(':', '-')}", partial(pairs_of_task, found, rows)


def _of_mistakes(found: Explanation, scores: Any) -> Drawings:
    known = series_of(found.plan, scores)
    for place, row in enumerate(found.rows[: found.pairs], 1):
        yield f"explain-{place}", partial(wrong_choice, row, known)


def _of_audit(result: SuiteResult, metrics: Sequence[AnyMetric] | None) -> Drawings:
    yield "gameability", lambda: gameability(result)
    yield "agreement", lambda: agreement(result.agreement(metrics))


def _of_selection(result: SuiteResult, metrics: Sequence[AnyMetric] | None) -> Drawings:
    yield "selection", lambda: selection(result)


def _of_rankings(
    result: SuiteResult, metrics: Sequence[AnyMetric] | None, *, ties: Ties, undefined: Undefined
) -> Drawings:
    first = {m.name: str(m) for m in reversed(result.plan.metrics) if m.library}
    chosen = metrics or [first[bare] for bare in PAPER if bare in first] or list(map(str, result.plan.metrics))
    tasks = [task.name for task in result.plan.tasks]
    table = result.robustness(ties=ties, undefined=undefined, order="given")
    for task in [*tasks, AVERAGE] if len(tasks) > 1 else tasks:
        quality = [partial(rankeval.quality_by_noise, table, task=task, indicator=name) for name in WORDS]
        yield f"quality-{task}", partial(_row, result, 3.0, quality)
    timed = "AccQ" if "AccQ" in tasks else tasks[0]
    yield "latency", lambda: _noted(latency(result, task=timed).get_figure(root=True), result)
    if "cce" in first:
        calls = [partial(latency_by, result, by=by, metric=first["cce"]) for by in BY]
        yield "latency-cce", lambda: _row(result, 2.7, calls, 9.0, sharey=True)
    yield "false-alarms", lambda: _false_alarms(result, chosen)
    if "cce" in first:
        yield "sensitivity-tau", lambda: _sensitivity(result, first["cce"])
    yield "five-models", five_models


def _row(
    result: SuiteResult, height: float, drawings: Sequence[Callable[..., Axes]], width: float = 10.0, **sharing: Any
) -> Figure:
    """Make a figure of several drawings side by side; of axes that share y, the leftmost alone says what it is."""
    figure = new_figure(width, height)
    for ax, draw in zip(figure.subplots(1, len(drawings), **sharing), drawings, strict=True):
        draw(ax=ax)
        if sharing:
            ax.label_outer()
    return _noted(figure, result)


def _noted(figure: Any, result: SuiteResult) -> Figure:
    """Write a line under the figure: what it was made from."""
    plan = result.plan
    about = [plan.title("case", len(plan.cases), plan.repeats), options_note(list(map(str, plan.metrics)))]
    letters = int(20 * figure.get_size_inches()[0])  # that fit on a line
    text = filled(". ".join(filter(None, about)), letters)
    figure.supxlabel(text, x=0.01, ha="left", fontsize=6, color=GREY)
    return cast("Figure", figure)


def _false_alarms(result: SuiteResult, metrics: Sequence[AnyMetric]) -> Figure:
    sigmas = result.plan.sigmas
    figure = new_figure(9.0, 1.9 * len(metrics) + 0.4)
    grid = figure.subplots(len(metrics), len(sigmas), sharex=True, sharey="row", squeeze=False)
    for row, metric in zip(grid, metrics, strict=True):
        for ax, sigma in zip(row, sigmas, strict=True):
            rankeval.value_by_false_alarms(result, ax, metric=metric, sigma=sigma, name_lines=False)
            ax.label_outer()
    handles, names = grid[0][0].get_legend_handles_labels()
    figure.legend(handles[::-1], names[::-1], loc="outside right center")
    return _noted(figure, result)


def _sensitivity(result: SuiteResult, metric: str) -> Figure:
    table = result.sensitivity(metric, tau=list(TAUS))
    return _row(result, 2.7, [partial(rankeval.sensitivity, table, indicator=name) for name in WORDS])
