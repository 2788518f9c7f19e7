"""Trade-offs of thresholds: what a budget of false alarms buys, and the value of a metric over all thresholds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tsadeval.core.metric import METRICS, metric_labels, parse_metric
from tsadeval.errors import InvalidInputError
from tsadeval.plot.layout import legend_above
from tsadeval.plot.style import GREY, SMALL, grid, looks, new_axes, shortened, styled, tints
from tsadeval.thresholds.choose import Choice, Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["curve", "trade_off"]


@styled
def trade_off(choice: Choice, ax: Axes | None = None) -> Axes:
    """What can be reached with so many false alarms at most, with the budget and the chosen threshold.

    Parameters
    ----------
    choice : Choice
        What `te.choose_threshold` returned.
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
    if not isinstance(choice, Choice):
        raise InvalidInputError(f"choice must be a result of te.choose_threshold, but is a {type(choice).__name__}")
    rows = [row for row in choice.rows if not math.isnan(row["value"])]
    if not rows:
        raise InvalidInputError("choice has no threshold to draw: a larger max_time_in_alarm may leave some")
    false = np.array([row["false_alarms"] for row in rows])
    values = np.array([row["value"] for row in rows])
    sign = _sign(choice.maximize)
    order = np.lexsort((-sign * values, false))
    best = sign * np.maximum.accumulate(sign * values[order])
    ax = new_axes(ax, 3.4, 2.5)
    color = looks([choice.maximize])[choice.maximize].color
    limited = math.isfinite(choice.budget)
    end = max(4 * choice.budget if limited else 4.0 * choice.false_alarms, 5.0)
    x, y = np.append(false[order], max(end, false.max())), np.append(best, best[-1])
    ax.plot(x, y, drawstyle="steps-post", color=color)
    if limited:
        name = "budget" if choice.asked.replace(".", "").isdigit() else f"budget {choice.asked}"
        ax.axvline(choice.budget, color=GREY, linestyle="--", linewidth=0.8)
        ax.annotate(name, (choice.budget, 0.02), xycoords=("data", "axes fraction"), xytext=(3, 0),
                    textcoords="offset points", color=GREY, fontsize=SMALL, ha="left", va="bottom")  # fmt: skip
    if not math.isnan(choice.threshold):
        ax.plot([choice.false_alarms], [choice.value], "o", color=color, clip_on=False)
        ax.annotate(f"threshold {choice.threshold:.4g}", (choice.false_alarms, choice.value), xytext=(5, -4),
                    textcoords="offset points", fontsize=SMALL, ha="left", va="top",
                    bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5})  # fmt: skip
    ax.set_xlim(0, end)
    if choice.maximize.partition("(")[0] in METRICS and parse_metric(choice.maximize).range == (0.0, 1.0):
        ax.set_ylim(0, 1.04)
    grid(ax, "y")
    ax.set_xlabel("false alarms")
    ax.set_ylabel(_label(choice.maximize))
    return ax


@styled
def curve(found: Curve | Mapping[str, Curve], ax: Axes | None = None) -> Axes:
    """The value of a metric over all thresholds, of one detector or of several; dots are the best values.

    Parameters
    ----------
    found : Curve, or mapping from names to these
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
    if not curves or not all(isinstance(one, Curve) for one in curves.values()):
        raise InvalidInputError("found must be a result of te.curve, or a mapping from names to such results")
    metrics = {one.metric for one in curves.values()}
    if len(metrics) > 1:
        raise InvalidInputError(f"found must be curves of one metric, but has {', '.join(sorted(metrics))}")
    several = isinstance(found, Mapping)
    (metric,) = metrics
    sign = _sign(metric)
    ax = new_axes(ax, 3.4, 2.5)
    look_of = tints(list(curves)) if several else {"": looks([metric])[metric]}
    for name, one in curves.items():
        look = look_of[name]
        rows = [row for row in one.rows if row["alarmed_points"] or not several]
        most = max(row["alarmed_points"] for row in rows)
        x = np.array([row["alarmed_points"] / most if several else row["threshold"] for row in rows])
        values = np.array([row["value"] for row in rows])
        ax.plot(x, values, color=look.color, linestyle=look.dashes, label=shortened(name, 18) or "_")
        if np.isfinite(values).any():
            best = int(np.nanargmax(sign * values))
            ax.plot([x[best]], [values[best]], "o", color=look.color, label="_best")
    grid(ax, "y")
    ax.set_xlabel("share of points alarmed" if several else "threshold")
    ax.set_ylabel(_label(metric))
    if several:
        ax.set_xscale("log")
        legend_above(ax)
    return ax


def _label(metric: str) -> str:
    return metric_labels([metric])[metric]


def _sign(metric: str) -> int:
    known = metric.partition("(")[0] in METRICS
    return -1 if known and parse_metric(metric).direction == "lower" else 1
