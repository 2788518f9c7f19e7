"""Figures of thresholds: detection for a budget of false alarms, and the value of a metric over all thresholds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Bools, Events, Floats, Scoring, label_runs
from tsadeval.core.metric import METRICS, Rule, parse_metric
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.core.results import ResultTable, all_digits
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.errors import InvalidInputError
from tsadeval.metrics.cce_formula import explain_gaps
from tsadeval.plot import style
from tsadeval.thresholds import Choice, parse_rule
from tsadeval.thresholds.best import of_predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THRESHOLDS = 200  # that are drawn of a curve over all of them


@style.styled
def trade_off(choice: Choice, ax: Axes | None = None) -> Axes:
    """Draw what can be reached with so many false alarms at most, with the budget and the chosen threshold.

    Parameters
    ----------
    choice : Choice
        What `te.choose_threshold` returned for one detector.
    ax : Axes, optional
        Where to draw; else on new axes.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_score = [0, 0, 1, 1, 0, 0, 0, 1, 0, 0], [0.1, 0.5, 0.9, 0.7, 0.2, 0.8, 0.3, 0.4, 0.1, 0.6]
    >>> ax = te.plot.trade_off(te.choose_threshold(y_true, y_score, max_false_alarms=1))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('false alarms', 'Event recall')
    """
    if not isinstance(choice, Choice) or choice.detector:
        what = f"but is {'one of several' if isinstance(choice, Choice) else 'a ' + type(choice).__name__}"
        raise InvalidInputError(f"choice must be a result of te.choose_threshold for one detector and no per=, {what}")
    rows = [row for row in choice.rows if not math.isnan(row["value"])]
    if not rows:
        raise InvalidInputError("choice has no threshold to draw: a larger max_time_in_alarm may leave some")
    false = np.array([row["false_alarms"] for row in rows])
    values = np.array([row["value"] for row in rows])
    sign = _sign(choice.maximize)
    order = np.lexsort((-sign * values, false))
    best = sign * np.maximum.accumulate(sign * values[order])
    ax = style.new_axes(ax, 3.4, 2.5)
    look = style.looks([choice.maximize])[choice.maximize]
    limited = math.isfinite(choice.budget)
    end = max(4 * choice.budget if limited else 4.0 * choice.false_alarms, 5.0)
    x, y = np.append(false[order], max(end, false.max())), np.append(best, best[-1])
    ax.plot(x, y, drawstyle="steps-post", color=look.color)
    if limited:
        name = "budget" if choice.asked.replace(".", "").isdigit() else f"budget {choice.asked}"
        ax.axvline(choice.budget, color=style.GREY, linestyle="--", linewidth=0.8)
        ax.annotate(name, (choice.budget, 0.02), (3, 0), ("data", "axes fraction"), "offset points",
                    color=style.GREY, fontsize=style.SMALL, ha="left", va="bottom")  # fmt: skip
    if not math.isnan(choice.threshold):
        ax.plot([choice.false_alarms], [choice.value], "o", color=look.color, clip_on=False)
        ax.annotate(f"threshold {all_digits(choice.threshold)}", (choice.false_alarms, choice.value), xytext=(5, -4),
                    textcoords="offset points", fontsize=style.SMALL, ha="left", va="top",
                    bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5})  # fmt: skip
    if choice.maximize.partition("(")[0] in METRICS and parse_metric(choice.maximize).range == (0.0, 1.0):
        ax.set_ylim(0, 1.04)
    ax.set(xlim=(0, end), xlabel="false alarms", ylabel=look.label)
    style.grid(ax, "y")
    return ax


@style.styled
def curve(found: ResultTable | Mapping[str, ResultTable], ax: Axes | None = None) -> Axes:
    """Draw the value of a metric over all thresholds, of one detector or of several; dots are the best values.

    Parameters
    ----------
    found : ResultTable, or mapping from names to these
        What `te.curve` returned. Several are drawn against the share of points that are alarmed, because their
        thresholds have different scales.
    ax : Axes, optional
        Where to draw; else on new axes.

    Examples
    --------
    >>> import tsadeval as te
    >>> ax = te.plot.curve(te.curve("f1", [0, 1, 1, 0], [0.1, 0.9, 0.4, 0.6]))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('threshold', 'F1')
    """
    curves = dict(found) if isinstance(found, Mapping) else {"": found}
    if not curves or not all(
        isinstance(one, ResultTable) and {"metric", "exact"} <= {*vars(one)} for one in curves.values()
    ):
        raise InvalidInputError("found must be a result of te.curve, or a mapping from names to such results")
    metrics = {one.metric for one in curves.values()}
    if len(metrics) > 1:
        raise InvalidInputError(f"found must be curves of one metric, but has {', '.join(sorted(metrics))}")
    several = isinstance(found, Mapping)
    (metric,) = metrics
    ax = style.new_axes(ax, 3.4, 2.5)
    own = style.looks([metric])[metric]
    look_of = style.tints(list(curves)) if several else {"": own}
    for name, one in curves.items():
        rows = [row for row in one.rows if row["alarmed_points"] or not several]
        most = max(row["alarmed_points"] for row in rows)
        x = np.array([row["alarmed_points"] / most if several else row["threshold"] for row in rows])
        values = np.array([row["value"] for row in rows])
        _with_best(ax, x, values, _sign(metric), replace(look_of[name], label=style.shortened(name, 18), marker="o"))
    style.grid(ax, "y")
    ax.set(xlabel="share of points alarmed" if several else "threshold", ylabel=own.label)
    if several:
        ax.set_xscale("log")
        style.legend_above(ax)
    return ax


@style.styled
def value_by_threshold(
    y_true: Any,
    y_score: Any,
    ax: Axes | None = None,
    *,
    metrics: Metrics = ("f1", "f1_pa", "affiliation_f1", "event_f1"),
) -> Axes:
    """Metrics of predictions against the threshold, on 200 thresholds among the distinct scores; dots are the best.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n,)
        Labels and scores.
    ax : Axes, optional
        Where to draw; else on new axes.
    metrics : str or sequence of str
        Metrics that take predictions.

    Examples
    --------
    >>> from tsadeval import plot
    >>> ax = plot.value_by_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], metrics=["f1", "recall"])
    >>> [line.get_label() for line in ax.lines if not line.get_label().startswith("_")]
    ['F1', 'Recall']
    """
    scoring = style.read_detector(y_true, y_score)
    chosen = {str(metric): of_predictions(metric) for metric in select_metrics(metrics)}
    thresholds = np.array([scoring.just_below(float(level)) for level in _some(scoring.kept.levels[0])])
    predictions = [scoring.above(float(threshold)) for threshold in thresholds]
    ax = style.new_axes(ax, 3.4, 2.5)
    names, colors = style.looks(list(chosen)), style.tints(list(chosen))  # side by side, relatives too differ in colour
    for name, metric in chosen.items():
        look = replace(colors[name], label=names[name].label)
        values = np.array([metric.value_of(metric.judges(prediction))[0] for prediction in predictions])
        _with_best(ax, thresholds, values, metric.sign, look)
    ax.set(xlabel="threshold (alarm where the score is above this)", ylabel="value")
    style.grid(ax, "y")
    style.legend_above(ax)
    return ax


def _with_best(ax: Axes, x: Floats, values: Floats, sign: float, look: style.Look) -> None:
    """Draw a line of values, with a mark at the best of them, the largest times the sign."""
    ax.plot(x, values, color=look.color, linestyle=look.dashes, label=look.label or "_")
    if np.isfinite(values).any():
        best = int(np.nanargmax(sign * values))
        ax.plot([x[best]], [values[best]], look.marker, color=look.color, label="_best")


def _some(levels: Floats) -> Floats:
    """Thresholds to draw: half of them evenly spaced among the descending scores, half along their range."""
    ranks = np.linspace(0, len(levels) - 1, THRESHOLDS // 2).astype(np.int64)
    across = np.linspace(levels[-1], levels[0], THRESHOLDS // 2)
    nearest = len(levels) - 1 - np.clip(np.searchsorted(levels[::-1], across), 0, len(levels) - 1)
    return np.asarray(levels[np.union1d(ranks, nearest)])


def _sign(metric: str) -> float:
    return parse_metric(metric).sign if metric.partition("(")[0] in METRICS else 1.0


# Where alarms are right and wrong: strips of several detectors, and the events that cost one of them most.

# Found, false and missed; told apart in grey by their rows.
FOUND, FALSE, MISSED = "#0072B2", "#D55E00", "#7A0F5C"
NARROWEST = 1 / 250  # of the width: shorter runs are drawn as wide as this


@style.styled
def outcome_strips(
    y_true: Any, scores: Mapping[str, Any], ax: Axes | None = None, *, threshold: str | float | Rule = "best"
) -> Axes:
    """Draw a strip per detector: points found, false alarms and missed points.

    Found points and false alarms are drawn at full height, missed points at half.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    scores : mapping
        Detector to its scores, or to its alarms (0 and 1 only).
    ax : Axes, optional
        Where to draw; else on new axes.
    threshold : str, default="best"
        How scores become alarms, as for `evaluate`; "best" is the threshold of the best point-wise F1.

    Examples
    --------
    >>> from tsadeval import plot
    >>> ax = plot.outcome_strips([0, 1, 1, 0, 0], {"mine": [0, 1, 0, 0, 1], "other": [0.1, 0.2, 0.9, 0.3, 0.1]})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['events', 'mine', 'other']
    """
    rule = parse_rule(threshold)
    scorings = style.read_scores(y_true, scores)
    truth = label_runs(y_true, "y_true").mask
    ax = style.new_axes(ax, 3.4, 0.75 + 0.2 * (len(scorings) + 1))
    _runs(ax, truth, 0, "#333333", 0.7)
    for row, scoring in enumerate(scorings.values(), 1):
        decision = METRICS["f1"].decide(scoring, rule)
        alarm = np.zeros(len(truth), np.bool_) if decision is None else decision.prediction.alarms.mask
        judged = scoring.truth.mask  # without the points that have no score
        _runs(ax, judged & ~alarm, row, MISSED, 0.35)
        _runs(ax, judged & alarm, row, FOUND, 0.7)
        _runs(ax, ~judged & alarm, row, FALSE, 0.7)
        ax.axhline(row + 0.42, color="#DDDDDD", lw=0.5, zorder=0)
    style.name_rows(ax, range(len(scorings) + 1), ["events", *(style.shortened(name, 22) for name in scorings)])
    ax.set(ylim=(len(scorings) + 0.5, -0.5), xlim=(-0.5, len(truth) - 0.5), xlabel="time")
    patch = require("matplotlib.patches", extra="all").Patch
    to_hex = require("matplotlib.colors", extra="all").to_hex
    keys = {"found": FOUND, "false alarm": FALSE, "missed": MISSED}
    shown = {to_hex(bar.get_facecolor()[0]).upper() for bar in ax.collections}
    handles = [patch(color=color, label=word) for word, color in keys.items() if color.upper() in shown]
    if handles:
        style.legend_above(ax, handles=handles)
    return ax


def _runs(ax: Axes, mask: Bools, row: int, color: str, height: float) -> None:
    """Draw the runs of a mask as bars; very short ones are widened so that they are seen."""
    if mask.any():
        events = Events.of(mask)
        width = np.maximum(events.lengths, NARROWEST * len(mask))
        style.bars(ax, events.starts - (width - events.lengths) / 2, width, row - height / 2, height, color)


_WORST: dict[str, Check] = {
    "n": Number(1, integer=True),
    "label": OneOf((0, 1, None)),
    "margin": Number(0, integer=True, none=True),
}


@style.styled
def worst_events(
    y_true: Any,
    y_score: Any,
    ax: Axes | None = None,
    *,
    n: int = 4,
    label: int | None = 1,
    margin: int | None = None,
    values: Any = None,
) -> Axes:
    """Draw the events that cost a detector most of its CCE, worst on top: its scores there, and what each lost.

    A row goes from the lowest to the highest score of the whole series; below it are the first and the last point that
    it shows.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n,)
        Labels and scores.
    ax : Axes, optional
        Where to draw; else on new axes.
    n : int, default=4
        How many events.
    label : {0, 1, None}, default=1
        Anomalies, normal stretches, or both.
    margin : int, optional
        Points before and behind each event; by default as many as the event has, and at least 20.
    values : array-like of shape (n,), optional
        The series itself, drawn in grey behind the scores.

    Examples
    --------
    >>> from tsadeval import plot
    >>> ax = plot.worst_events([0, 0, 1, 1, 0, 0, 1, 0], [0.1, 0.2, 0.9, 0.8, 0.1, 0.1, 0.2, 0.1], n=2)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['6', '2-3']
    """
    check_parameters("worst_events", _WORST, {"n": n, "label": label, "margin": margin})
    scoring = style.read_detector(y_true, y_score)
    behind = None if values is None else np.asarray(values, np.float64)
    if behind is not None and behind.shape != (scoring.n,):
        raise InvalidInputError(f"values has shape {behind.shape}, but there are {scoring.n} points")
    events = explain_gaps(scoring).worst(n, label=label)
    ax = style.new_axes(ax, 3.4, 0.7 + 0.55 * len(events))
    step = 1.6
    bottoms = [step * (len(events) - 1 - row) for row in range(len(events))]
    for event, bottom in zip(events, bottoms, strict=True):
        _event_row(ax, scoring, behind, event, bottom, margin)
    ranges = [f"{e['start']}-{e['stop'] - 1}" if e["length"] > 1 else str(e["start"]) for e in events]
    style.name_rows(ax, [bottom + 0.5 for bottom in bottoms], ranges)
    ax.spines["bottom"].set_visible(False)
    ax.set(xticks=[], xlim=(-0.02, 1.02), ylim=(-0.5, step * len(events) - 0.3))
    line = "; grey: the series" if behind is not None else ""
    scale = f"blue: score, from {scoring.low:.3g} to {scoring.high:.3g}{line}; band: event; what each lost of CCE"
    ax.set_xlabel(scale, color=style.GREY, fontsize=style.SMALL)
    return ax


def _event_row(
    ax: Axes, scoring: Scoring, behind: Floats | None, event: Any, bottom: float, margin: int | None
) -> None:
    """Draw the scores around one event. Each row has its own stretch of time, drawn over the same width."""
    start, stop = int(event["start"]), int(event["stop"])
    beside = max(stop - start, 20) if margin is None else margin
    low, high = max(start - beside, 0), min(stop + beside, scoring.n)

    def across(t: Any) -> Any:
        return (np.asarray(t) - (start - beside)) / max(stop - start + 2 * beside - 1, 1)

    color = style.EVENT if event["label"] == 1 else "#E3EAF2"
    left, right = across(start - 0.5), across(stop - 0.5)
    ax.broken_barh([(left, right - left)], (bottom, 1.0), facecolors=color, lw=0, zorder=0)
    x = across(np.arange(low, high))
    if behind is not None:
        ax.plot(x, bottom + style.on_unit_range(behind[low:high]), color="#999999", lw=0.5, zorder=1)
    ax.plot(x, bottom + style.on_unit_range(style.drawn_scores(scoring))[low:high], color=FOUND, lw=0.9, zorder=2)
    ax.plot([0, 1], [bottom - 0.04] * 2, color=style.GREY, lw=0.4, zorder=1)
    for at, point in ((x[0], low), (x[-1], high - 1)):
        ax.text(at, bottom - 0.08, f"{point}", ha="center", va="top", color=style.GREY, fontsize=style.SMALL - 1)
    ax.annotate(
        f"lost {event['lost']:.3f}", (1, bottom + 0.5), (4, 0), xycoords=ax.get_yaxis_transform(),
        textcoords="offset points", va="center", fontsize=style.SMALL, annotation_clip=False,
    )  # fmt: skip
