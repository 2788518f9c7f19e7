"""The figures of RankEval, each on one pair of axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.parameters import Check, OneOf, check_parameters
from tsadeval.core.registry import did_you_mean
from tsadeval.core.results import Row
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from tsadeval.plot.layout import end_labels, width_of
from tsadeval.plot.style import GREY, SMALL, Look, grid, looks, new_axes, sequence, styled
from tsadeval.rankeval.quality import INDICATORS
from tsadeval.rankeval.result import AVERAGE, QualityTable, RankEvalResult

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["latency", "latency_by", "quality_by_noise", "sensitivity", "value_by_false_alarms"]

Indicator = Literal["spearman", "kendall", "deviation"]
WORDS: dict[Indicator, str] = {"spearman": "Spearman", "kendall": "Kendall", "deviation": "mean rank deviation"}
SIGMA, TAU = "\N{GREEK SMALL LETTER SIGMA}", "\N{GREEK SMALL LETTER TAU}"
TAUS = (0.1, 0.3, 0.5, 0.7, 0.9)
_INDICATOR: dict[str, Check] = {"indicator": OneOf(tuple(INDICATORS))}


@styled
def quality_by_noise(
    result: RankEvalResult | QualityTable,
    ax: Axes | None = None,
    *,
    task: str = AVERAGE,
    indicator: Indicator = "spearman",
) -> Axes:
    """Ranking quality against the noise sigma, a line for each metric, bars for the intervals over cases.

    Instead of a result its `robustness()` may be given, which spares the work of making it again. Metrics stand side
    by side at each sigma, so that equal ones can be told apart.
    """
    check_parameters("quality_by_noise", _INDICATOR, {"indicator": indicator})
    table = result if isinstance(result, QualityTable) else result.robustness()
    rows = _rows_of_task(table, task, indicator)
    ax = new_axes(ax)
    sigmas = sorted({row["sigma"] for row in rows})
    look = looks(list(table))
    ends = []
    for i, name in enumerate(table):
        mine = sorted((row for row in rows if row["metric"] == name), key=lambda row: row["sigma"])
        aside = 0.5 * (i / max(len(table) - 1, 1) - 0.5)
        x = [sigmas.index(row["sigma"]) + aside for row in mine]
        _line(ax, x, mine, look[name], zorder=3 - i / 1000)
        ends += _end(x, mine, look[name].label, look[name].color)
    ax.set_xticks(range(len(sigmas)), [f"{sigma:g}" for sigma in sigmas])
    ax.set_xlim(-0.35, len(sigmas) - 0.65)
    ax.set_xlabel(f"standard deviation of the noise, {SIGMA}")
    ax.set_title(task)
    _quality_axis(ax, rows, indicator)
    end_labels(ax, ends)
    return ax


@styled
def latency(result: RankEvalResult, ax: Axes | None = None, *, task: str = "AccQ") -> Axes:
    """Milliseconds of each metric's call on the models of one task, quickest first, on a logarithmic axis."""
    frame = _measured(result, task)
    look = looks(list(map(str, result.plan.metrics)))
    groups = {str(name): 1000 * part["seconds"].to_numpy() for name, part in frame.groupby("metric", sort=False)}
    ordered = sorted(groups, key=lambda name: -float(np.median(groups[name])))
    ax = new_axes(ax, 5.2, 0.9 + 0.27 * len(ordered))
    for place, name in enumerate(ordered):
        _violin(ax, place, groups[name], look[name].color, upright=False)
        text = f"{groups[name].mean():.3g} ms"
        ax.text(1.01, place, text, transform=ax.get_yaxis_transform(), va="center", fontsize=SMALL)
    ax.set_xscale("log")
    grid(ax, "x")
    ax.set_yticks(range(len(ordered)), [look[name].label for name in ordered])
    ax.set_ylim(-0.6, len(ordered) - 0.4)
    ax.text(1.01, len(ordered) - 0.35, "mean", transform=ax.get_yaxis_transform(), fontsize=SMALL, color=GREY)
    ax.set_xlabel("milliseconds a call (dot: median, bar: middle half, diamond: mean)")
    ax.set_title(f"Latency on {task}")
    _plain_log(ax, "x")
    return ax


@styled
def latency_by(
    result: RankEvalResult,
    ax: Axes | None = None,
    *,
    by: Literal["task", "length", "events"] = "task",
    metric: str = "cce",
) -> Axes:
    """Milliseconds of one metric's call by task, by length of the series, or by number of events.

    By length, dots are medians, bars reach from 5 % to 95 %, and the broken line is proportional to the length. By
    number of events there is a line for each length that has several.
    """
    check_parameters("latency_by", {"by": OneOf(("task", "length", "events"))}, {"by": by})
    found = find_metric(result, metric)
    frame = _measured(result)
    frame = frame[frame["metric"] == str(found)]
    if frame.empty:
        raise InvalidInputError(f"{found!s} has no measured values in this run")
    look = looks(list(map(str, result.plan.metrics)))[str(found)]
    ax = new_axes(ax, 3.2, 2.6)
    {"task": _latency_by_task, "length": _latency_by_length, "events": _latency_by_events}[by](ax, frame, look)
    ax.set_yscale("log")
    ax.set_ylabel("milliseconds a call")
    grid(ax, "y")
    ax.set_title(f"{look.label} by {by if by != 'events' else 'number of events'}")
    _plain_log(ax, "y")
    return ax


@styled
def value_by_false_alarms(
    result: RankEvalResult,
    ax: Axes | None = None,
    *,
    metric: str = "cce",
    sigma: float = 0.0,
    name_lines: bool = True,
) -> Axes:
    """A metric's value, averaged over cases, against the false-alarm rate p, a line for each share q that is found.

    More false alarms are worse, so every line should fall. The grey numbers say how often it does not: the share of
    cases and q in which the model with the next larger p does not get a worse value. `name_lines=False` leaves the
    names of the lines to a legend.
    """
    found = find_metric(result, metric)
    task = next((task for task in result.plan.chosen_tasks if task.by == "p"), None)
    if task is None:
        raise InvalidInputError("this run has no task whose models differ in their false alarms (PreQ-NegP-P)")
    sigmas = result.plan.suite.sigmas
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
    ax.set_xlim(p[0] / 1.25, p[-1] * 1.25)
    ax.margins(y=0.14)  # room for the numbers
    _wrong_steps(ax, p, values.to_numpy(), found)
    grid(ax, "y")
    ax.set_xlabel("false-alarm rate p\n(grey: share of steps that do not go down)")
    label = looks(list(map(str, result.plan.metrics)))[str(found)].label
    ax.set_ylabel(label)
    ax.set_title(f"{label}, {SIGMA} = {sigma:g}")
    if name_lines:
        end_labels(ax, [end for end in ends if math.isfinite(end[1])])
    return ax


@styled
def sensitivity(
    result: RankEvalResult | QualityTable,
    ax: Axes | None = None,
    *,
    metric: str = "cce",
    indicator: Indicator = "spearman",
    option: str = "tau",
    values: Sequence[float] = TAUS,
    tasks: Sequence[str] | None = None,
) -> Axes:
    """Ranking quality against a numeric option of a metric, a line for each task (all of the run by default).

    What the store does not have yet is computed. Instead of a result its `sensitivity(...)` may be given.
    """
    check_parameters("sensitivity", _INDICATOR, {"indicator": indicator})
    if isinstance(result, QualityTable):
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
        _line(ax, x, mine, Look(task, color, "osD^v<>"[i % 7], "-"), zorder=3 - i / 1000)
        ends += _end(x, mine, task, color)
        rows += mine
    ax.set_xticks(sorted(at.values()), [f"{value:g}" for value in sorted(at.values())])
    ax.set_xlabel({"tau": f"confidence threshold {TAU}"}.get(option, option))
    title = looks([next(iter(table)).partition("(")[0]])
    ax.set_title(f"{next(iter(title.values())).label} with other {TAU if option == 'tau' else option}")
    _quality_axis(ax, rows, indicator)
    end_labels(ax, ends)
    return ax


def find_metric(result: RankEvalResult, name: str) -> Metric:
    """The metric of that name, or the only one of that bare name."""
    known = {str(m): m for m in result.plan.metrics}
    alike = [c for c in known.values() if c.name == name]
    if name in known:
        return known[name]
    if len(alike) == 1:
        return alike[0]
    hint = did_you_mean(name, list(known)) if not alike else "name one of " + ", ".join(map(str, alike))
    raise UnknownNameError(f"no metric {name!r} in this result: {hint}")


def _measured(result: RankEvalResult, task: str | None = None) -> pd.DataFrame:
    """Rows with a time, on the models of one task or of all."""
    frame = result.to_frame()
    if task is not None:
        generators = {t.name: t.generator for t in result.plan.chosen_tasks}
        if task not in generators:
            raise UnknownNameError(f"no task {task!r} in this result: {did_you_mean(task, list(generators))}")
        frame = frame[frame["generator"] == generators[task]]
    frame = frame[frame["seconds"].notna() & (frame["seconds"] > 0)]
    if frame.empty:
        raise InvalidInputError("this run has no measured values yet: continue it, then draw")
    # Where several repeats are one series, it was measured once.
    return frame.drop_duplicates(["metric", "case", "generator", "q", "p", "sigma", "seconds"])


def _rows_of_task(table: QualityTable, task: str, indicator: str) -> list[Row]:
    tasks = list(dict.fromkeys(row["task"] for row in table.rows))
    if task not in tasks:
        raise UnknownNameError(f"no task {task!r} in this result: {did_you_mean(task, tasks)}")
    rows = [row for row in table.rows if row["task"] == task and row["indicator"] == indicator]
    if not any(math.isfinite(row["value"]) for row in rows):
        raise InvalidInputError(f"this run has no whole ranking of {task} yet: continue it, then draw")
    return rows


def _line(ax: Axes, x: Sequence[float], rows: Sequence[Row], look: Look, zorder: float) -> None:
    y = [row["value"] for row in rows]
    how: dict[str, Any] = {"color": look.color, "marker": look.marker, "linestyle": look.dashes, "label": look.label}
    ax.plot(x, y, clip_on=False, zorder=zorder, markerfacecolor="white" if look.hollow else look.color, **how)
    known = [(place, row["low"], row["high"]) for place, row in zip(x, rows, strict=True) if math.isfinite(row["low"])]
    if known:
        ax.vlines(*zip(*known, strict=True), color=look.color, lw=0.7, alpha=0.6, clip_on=False)


def _end(x: Sequence[float], rows: Sequence[Row], text: str, color: Any) -> list[tuple[float, float, str, Any]]:
    known = [(place, row["value"]) for place, row in zip(x, rows, strict=True) if math.isfinite(row["value"])]
    return [(*known[-1], text, color)] if known else []


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


def _violin(ax: Axes, place: float, values: Floats, color: Any, *, upright: bool) -> None:
    """The density of the logarithms, with median, middle half and mean; half its width is 0.4 at its widest."""
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
    generators = list(dict.fromkeys(frame["generator"]))
    for place, generator in enumerate(generators):
        _violin(
            ax, place, 1000 * frame["seconds"][frame["generator"] == generator].to_numpy(), look.color, upright=True
        )
    ax.set_xticks(range(len(generators)), generators)
    ax.set_xlim(-0.6, len(generators) - 0.4)
    ax.set_xlabel("models of")


def _quantiles(frame: pd.DataFrame, key: str) -> tuple[Floats, Floats]:
    """The values of a column, ascending, and for each the 5 %, 50 % and 95 % quantiles of milliseconds."""
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
    ax.set_xscale("log")
    _plain_log(ax, "x")
    ax.set_xlabel("length of the series")


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
    ax.set_xscale("log")
    ax.set_yscale("log")
    _plain_log(ax, "x")
    end_labels(ax, ends, lines=2)
    ax.set_xlabel("number of events")


def _wrong_steps(ax: Axes, p: Floats, values: Floats, metric: Metric) -> None:
    steps = np.diff(values if metric.direction == "higher" else -values, axis=1)
    known = np.isfinite(steps)
    for i, middle in enumerate(np.sqrt(p[1:] * p[:-1])):
        if known[:, i].any():
            share = np.mean(steps[known[:, i], i] >= 0)
            text = f"{100 * share:.0f} %" if share == 0 or share >= 0.01 else "< 1 %"
            where = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "bottom"}
            ax.text(float(middle), 0.01, text, fontsize=SMALL, color=GREY, **where)  # type: ignore[arg-type]


def _plain_log(ax: Axes, which: Literal["x", "y"]) -> None:
    """Numbers as people write them on a logarithmic axis, also where it spans less than a power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = ax.xaxis if which == "x" else ax.yaxis
    low, high = ax.get_xlim() if which == "x" else ax.get_ylim()
    room, each = (0.6 * width_of(ax), 24) if which == "x" else (72 * ax.bbox.height / ax.figure.dpi, 12)
    crowded = 3 * each * math.log10(high / low) > room
    axis.set_major_locator(LogLocator(subs=(1.0,) if crowded else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.10g}" if value < 10_000 else f"{value / 1000:,g}k")
    )
    axis.set_minor_formatter(NullFormatter())
