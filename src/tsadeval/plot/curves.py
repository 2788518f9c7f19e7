"""Curves over all thresholds: ROC, precision-recall, DET, values of metrics, and the surface behind VUS."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Floats, Scoring, label_runs
from tsadeval.core.metric import METRICS, parse_metric
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.metrics.counting import merged, threshold_ranks
from tsadeval.metrics.event_sweep import at_least
from tsadeval.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICKS, NAMES = (0, 0.5, 1), ("0", "0.5", "1")
UNIT: dict[str, Any] = {
    "xlim": (-0.02, 1.02), "xticks": TICKS, "xticklabels": NAMES,
    "ylim": (-0.02, 1.02), "yticks": TICKS, "yticklabels": NAMES,
}  # fmt: skip
# Shares that are named on a normal-deviate scale.
DEVIATES = (0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95)

Draw = Callable[["Axes", style.Look, Floats, Floats], None]


def _curves(
    y_true: Any, scores: Any, ax: Axes | None, draw: Draw, title: str, xlabel: str, ylabel: str, area: str = ""
) -> Axes:
    """Draw a curve per detector of found and false alarms at all thresholds; the legend has a metric, its area."""
    found = style.read_scores(y_true, scores if isinstance(scores, Mapping) else {"": scores}, both=True)
    ax = style.new_axes(ax, 3.2, 3.0)
    for name, look in style.tints(list(found)).items():
        draw(ax, look, *_counts(found[name]))
        value = f" ({METRICS[area].value_of(found[name].kept)[0]:.3f})".replace("(0.", "(.") if area else ""
        ax.lines[-1].set_label(style.shortened(name, 18) + value if name else "")
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    style.grid(ax)
    style.legend_above(ax)
    return ax


def _counts(scoring: Scoring) -> tuple[Floats, Floats]:
    """Found and false alarms at every distinct score, from no alarm to all."""
    scoring = scoring.kept
    alarms = scoring.levels[1]
    found = np.cumsum(scoring.truth.mask[scoring.descending["position"]])[alarms - 1]
    return np.append(0.0, found), np.append(0.0, alarms - found)


@style.styled
def roc_curve(y_true: Any, scores: Any, ax: Axes | None = None) -> Axes:
    """ROC curves: recall against the false-alarm rate, a line per detector, AUC-ROC in the legend.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    scores : array-like of shape (n,), or mapping
        Scores, or detector to its scores.
    ax : Axes, optional
        Where to draw; else on new axes.

    Examples
    --------
    >>> from tsadeval import plot
    >>> ax = plot.roc_curve([0, 0, 1, 1], {"mine": [0.1, 0.4, 0.35, 0.8]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['mine (.750)']
    """

    def draw(ax: Axes, look: style.Look, hits: Floats, false: Floats) -> None:
        ax.plot(false / false[-1], hits / hits[-1], color=look.color, linestyle=look.dashes)

    ax = _curves(y_true, scores, ax, draw, "ROC", "false-alarm rate", "recall", "auc_roc")
    ax.plot([0, 1], [0, 1], color=style.GREY, lw=0.6, linestyle=(0, (4, 3)), zorder=1)
    ax.set(**UNIT)
    return ax


@style.styled
def pr_curve(y_true: Any, scores: Any, ax: Axes | None = None) -> Axes:
    """Precision against recall, a line per detector, AUC-PR (average precision) in the legend.

    The broken line is the share of anomalous points, which scores without information get. Parameters as for
    `roc_curve`.

    Examples
    --------
    >>> from tsadeval import plot
    >>> ax = plot.pr_curve([0, 0, 1, 1], {"mine": [0.1, 0.4, 0.35, 0.8]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['mine (.833)']
    """

    def draw(ax: Axes, look: style.Look, hits: Floats, false: Floats) -> None:
        recall, precision = hits[1:] / hits[-1], hits[1:] / (hits + false)[1:]
        # Steps, as the area counts them: between two thresholds the precision is that of the next one.
        x, y = np.append(0.0, recall), np.append(precision[0], precision)
        ax.step(x, y, where="pre", color=look.color, linestyle=look.dashes)

    ax = _curves(y_true, scores, ax, draw, "Precision and recall", "recall", "precision", "auc_pr")
    share = float(label_runs(y_true, "y_true").mask.mean())
    ax.axhline(share, color=style.GREY, lw=0.6, linestyle=(0, (4, 3)), zorder=1)
    ax.set(**UNIT)
    return ax


@style.styled
def det_curve(y_true: Any, scores: Any, ax: Axes | None = None) -> Axes:
    """Draw the detection error trade-off: missed points against false alarms, both on normal-deviate scales.

    What ROC curves squeeze into a corner, low false-alarm rates, has most of the room here. Parameters as for
    `roc_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from tsadeval import plot
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) % 10 == 0
    >>> ax = plot.det_curve(y, {"mine": rng.normal(size=1000) + y})
    >>> ax.get_xlabel()
    'false-alarm rate'
    """
    probit = require("scipy.special", extra="all").ndtri

    def draw(ax: Axes, look: style.Look, hits: Floats, false: Floats) -> None:
        miss, alarm = 1 - hits / hits[-1], false / false[-1]
        inside = (miss > 0) & (miss < 1) & (alarm > 0) & (alarm < 1)
        ax.plot(probit(alarm[inside]), probit(miss[inside]), color=look.color, linestyle=look.dashes)

    ax = _curves(y_true, scores, ax, draw, "Detection error trade-off", "false-alarm rate", "missed points")
    truth = label_runs(y_true, "y_true").mask
    for name, axis, count in (("xlim", ax.xaxis, np.sum(~truth)), ("ylim", ax.yaxis, np.sum(truth))):
        end = 0.5 / count  # no share but 0 is below 1 of so many points
        shown = [mark for mark in DEVIATES if mark >= min(end, 0.05)]
        axis.set_ticks(probit(shown), [f"{100 * mark:g} %" for mark in shown])
        ax.set(**{name: (probit(max(min(end, 0.02), 5e-5)), probit(0.995))})
    return ax


_SURFACE: dict[str, Check] = {
    "kind": OneOf(("pr", "roc")),
    "window": Number(1, 100_000, integer=True),
    "steps": Number(2, integer=True),
}


@style.styled
def vus_surface(
    y_true: Any,
    y_score: Any,
    ax: Axes | None = None,
    *,
    kind: Literal["pr", "roc"] = "pr",
    window: int = 100,
    steps: int = 26,
) -> Axes:
    """Draw the surface whose volume is VUS: precision (or recall) over recall (or false alarms) and buffer width.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n,)
        Labels and scores.
    ax : Axes, optional
        Where to draw; else on new axes.
    kind : {"pr", "roc"}
        Which surface: that of `vus_pr` or of `vus_roc`, in their default variant.
    window : int, default=100
        As for `vus_pr`: widths go from 0 to twice the window.
    steps : int, default=26
        How many widths are drawn.

    Examples
    --------
    >>> from tsadeval import plot
    >>> ax = plot.vus_surface([0, 0, 0, 1, 1, 0, 0, 0], [0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1], window=4)
    >>> ax.get_ylabel()
    'buffer width (points)'
    """
    check_parameters("vus_surface", _SURFACE, {"kind": kind, "window": window, "steps": steps})
    scoring = style.read_detector(y_true, y_score).kept  # without points that have no score, as in te.compare
    widths = np.unique(np.linspace(0, 2 * window, min(steps, 2 * window + 1)).astype(np.int64))
    across = np.linspace(0, 1, 201)
    surface = np.empty((len(widths), len(across)))
    for row, width in zip(surface, widths.tolist(), strict=True):
        false, recall, precision = surface_curve(scoring, width)
        if kind == "roc":
            row[:] = np.interp(across, np.append(false, 1.0), np.append(recall, 1.0))
        else:
            # The precision of the next threshold, as the steps of the area have it; nothing beyond the last recall.
            at = np.searchsorted(recall, across)
            row[:] = np.where(at < len(recall), precision[np.minimum(at, len(recall) - 1)], math.nan)
    ax = style.new_axes(ax, 3.4, 2.5)
    colors = require("matplotlib", extra="all").colormaps["cividis"].with_extremes(bad="#EEEEEE")
    image = ax.pcolormesh(across, widths, surface, cmap=colors, vmin=0, vmax=1, shading="nearest", rasterized=True)
    lines = ax.contour(across, widths, surface, levels=[0.25, 0.5, 0.75], colors="white", linewidths=0.6)
    ax.clabel(lines, fontsize=style.SMALL - 1, fmt="%g")
    style.color_bar(ax, image, "precision" if kind == "pr" else "recall")
    metric = parse_metric(f"vus_{kind}(window={window})")
    title = f"{style.looks([metric.name])[metric.name].label} {metric.value_of(scoring)[0]:.3f}"
    xlabel = "recall" if kind == "pr" else "false-alarm rate"
    ax.set(xticks=TICKS, xticklabels=NAMES, xlabel=xlabel, ylabel="buffer width (points)", title=title)
    return ax


def surface_curve(scoring: Scoring, width: int) -> tuple[Floats, Floats, Floats]:
    """False-alarm rate, recall and precision at one buffer width, as `vus_roc` and `vus_pr` define them."""
    events, n, half = scoring.events, scoring.n, width // 2
    reach = np.arange(1, half + 1)
    # Counted from the first point of a buffer that may begin before the series.
    places = half + np.concatenate([events.starts[:, None] - reach, events.stops[:, None] - 1 + reach])
    buffers = np.bincount(places.ravel(), np.tile(np.sqrt(1 - reach / width), len(places)), n + 2 * half)
    inside = scoring.truth.mask
    weights = np.where(inside, 1.0, np.minimum(buffers[half : half + n], 1.0))
    thresholds = np.unique(scoring.sorted[n - 1 - threshold_ranks(n, 250)])[::-1]
    alarms = n - np.searchsorted(scoring.sorted, thresholds)
    order = scoring.descending["position"]
    hit = np.cumsum(weights[order])[alarms - 1]
    buffer = np.cumsum(np.where(inside, 0.0, weights)[order])[alarms - 1]
    positives = events.points + buffer / 2
    # Buffered events that share a point are one (those that touch are two); it is found from its highest score on.
    runs = merged(np.maximum(events.starts - half, 0), np.minimum(events.stops + half, n) - 1, n)
    highest = [scoring.scores[a : b + 1].max() for a, b in zip(runs.starts, runs.stops, strict=True)]
    existence = at_least(np.sort(highest), thresholds) / len(highest)
    recall = np.minimum(hit / positives, 1.0) * existence
    false = (alarms - hit) / (n - positives)
    return np.append(0.0, false), np.append(0.0, recall), np.append(1.0, hit / alarms)
