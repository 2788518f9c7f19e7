"""The first figure of the paper: five models of known order, and what metrics say of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval.core.metric import parse_metric
from tsadeval.core.results import Row
from tsadeval.plot.layout import width_of
from tsadeval.plot.style import EVENT, GREY, SMALL, new_axes, styled
from tsadeval.rankeval.showcase import METRICS, five_models_table, labels
from tsadeval.rankeval.showcase import five_models as _models

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["five_models"]

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
    models, events = _models(), labels()
    for start, stop in zip(events.starts.tolist(), events.stops.tolist(), strict=True):
        ax.axvspan(start - 0.5, stop - 0.5, color=EVENT, lw=0)
    bottoms = [HEIGHT * (len(models) - model.rank) for model in models]
    x = np.arange(events.n)
    for model, bottom in zip(models, bottoms, strict=True):
        ax.plot(x, bottom + model.scores, color="#0072B2", lw=0.6)
        ax.axhline(bottom + model.threshold, color=GREY, lw=0.5, dashes=(4, 3))
        ax.plot(x[model.alarms], bottom + model.scores[model.alarms], ".", color="#D55E00", markersize=2.5)
    names = [str(model.rank) if narrow else f"{model.rank}  {model.name}" for model in models]
    ax.set_yticks([bottom + 0.5 for bottom in bottoms], names)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(-2, events.n + 1)
    ax.set_ylim(-0.1, bottoms[0] + 1.1)
    order = "; model 1 is the best, 5 the worst" if narrow else ""
    ax.set_xlabel(f"time  (band: event, broken line: threshold, dot: alarm{order})", loc="left" if narrow else None)
    if not narrow:
        ax.set_title("Five models, from the best (1) to the worst (5)")
    ax.spines["left"].set_visible(False)
    columns = [parse_metric(text).label for text in METRICS]
    _values_beside(ax, five_models_table().rows, columns, [bottom + 0.5 for bottom in bottoms], narrow)
    return ax


def _values_beside(
    ax: Axes, rows: Sequence[Row], columns: Sequence[str], places: Sequence[float], narrow: bool
) -> None:
    # Offsets are in points, so that the layout of the figure knows how much room the columns need.
    first, step, size = (15, 26, 5.5) if narrow else (28, 49, SMALL)
    common: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "annotation_clip": False}
    number: dict[str, Any] = {"fontsize": size} if narrow else {}
    for i, column in enumerate(columns):
        x = first + step * i
        top: dict[str, Any] = {"xycoords": "axes fraction", "va": "bottom", "fontsize": size, "weight": "bold"}
        ax.annotate(column, (1, 1), (x, 4 + 7 * (narrow and i % 2)), **top, **common)
        before = math.inf
        for row, place in zip(rows, places, strict=True):
            wrong = row[column] >= before
            text = f"{row[column]:.3f}{'↑' if wrong else ''}"
            style: dict[str, Any] = {"color": WRONG, "weight": "bold"} if wrong else {"color": "black"}
            where: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "va": "center"}
            ax.annotate(text, (1, place), (x, 0), **where, **style, **number, **common)
            before = row[column]
    middle = first + step * (len(columns) - 1) / 2
    text = "↑ not below the better model in the row above"
    below: dict[str, Any] = {"xycoords": "axes fraction", "va": "top", "fontsize": size, "color": WRONG}
    ax.annotate(text, (1, 0), (middle, -4), **below, **common)
