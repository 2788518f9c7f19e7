"""Where things go in a figure: legends, colour bars, names of lines, and room for all of them on small axes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tsadeval._optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SMALL", "color_bar", "end_labels", "legend_above", "make_room", "spread", "whole_cell", "width_of"]

SMALL = 7.0


def width_of(ax: Axes) -> float:
    """The width of axes in points."""
    return float(72 * ax.bbox.width / ax.figure.dpi)


def legend_above(ax: Axes, *, title: str = "") -> None:
    """A legend over the axes, where it covers nothing, in as many columns as fit; the title of the axes goes above it.

    `title` names what the legend is of.
    """
    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        return
    room, columns = _beside(ax), min(4, len(labels))
    while True:
        legend = ax.legend(
            handles, labels, ncols=columns, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.3,
            handlelength=1.2, columnspacing=1.0, labelspacing=0.25, title=title or None, title_fontsize=SMALL,
            alignment="left", fontsize=SMALL, frameon=False,
        )  # fmt: skip
        extent = legend.get_window_extent()
        if columns == 1 or extent.width <= room:
            break
        columns -= 1
    above = ax.get_title(loc="left")
    if above:
        ax.set_title(above, pad=72 * extent.height / ax.figure.dpi + 5)


def _beside(ax: Any) -> float:
    """How much room there is in pixels from the left end of the axes to the end of their cell."""
    cell, outer, inner = _cell(ax, 2.0), ax.get_tightbbox(for_layout_only=True), ax.get_window_extent()
    if cell is None or outer is None:
        return float(inner.width)
    return float(cell[1] - max(cell[0] + inner.x0 - outer.x0, inner.x0))


def _cell(ax: Axes, margin: float) -> tuple[float, float, float, float] | None:
    """The part of the figure that axes of a grid may use: left, right, bottom and top in pixels."""
    figure, place = ax.get_figure(root=True), ax.get_subplotspec()
    if figure is None or place is None:
        return None
    rows, columns = place.get_gridspec().get_geometry()
    width, height, pad = figure.bbox.width, figure.bbox.height, margin * figure.dpi / 72
    return (
        width * place.colspan.start / columns + pad,
        width * place.colspan.stop / columns - pad,
        height * (1 - place.rowspan.stop / rows) + pad,
        height * (1 - place.rowspan.start / rows) - pad,
    )


def make_room(ax: Any, margin: float = 2.0) -> None:
    """Shrink axes until all that belongs to them (names, colour bars, values beside) fits in their cell.

    Only in figures without a layout engine, which would do the same, and only for axes of a grid: whoever gave axes an
    exact place meant it. `margin` is in points.
    """
    figure, cell = ax.get_figure(root=True), _cell(ax, margin)
    if figure is None or cell is None:
        return
    _wrap(ax.xaxis.label, 0.92 * (cell[1] - cell[0]))  # it need not be in the middle
    if figure.get_layout_engine() is not None:
        return
    left, right, bottom, top = cell
    width, height = figure.bbox.width, figure.bbox.height
    for _ in range(3):  # ticks may change with the size
        # Without the width of title and label below, which would not shrink with the axes.
        outer, inner = ax.get_tightbbox(for_layout_only=True), ax.get_window_extent()
        if outer is None:
            return
        x0, x1 = left + max(inner.x0 - outer.x0, 0), right - max(outer.x1 - inner.x1, 0)
        y0, y1 = bottom + max(inner.y0 - outer.y0, 0), top - max(outer.y1 - inner.y1, 0)
        # Never beyond what the caller's grid gives: only what does not fit moves.
        x0, x1 = max(x0, inner.x0), min(x1, inner.x1)
        y0, y1 = max(y0, inner.y0), min(y1, inner.y1)
        if x1 - x0 < 0.1 * (right - left) or y1 - y0 < 0.1 * (top - bottom):
            return  # nothing would be left to draw on
        ax.set_position((x0 / width, y0 / height, (x1 - x0) / width, (y1 - y0) / height))
    _keep_inside(ax, left, right)


def _wrap(text: Any, width: float) -> None:
    """Break lines that are longer than so many pixels."""
    longest = text.get_window_extent().width if text.get_text() else 0.0
    if longest > width:
        lines = text.get_text().split("\n")
        letters = int(max(map(len, lines)) * width / longest)
        text.set_text("\n".join(part for line in lines for part in textwrap.wrap(line, max(letters, 8))))


def _keep_inside(ax: Any, left: float, right: float) -> None:
    """Move the label below the axes sideways where it reaches beyond the cell."""
    label, axes = ax.xaxis.label, ax.get_window_extent()
    if label.get_text():
        extent = label.get_window_extent()
        aside = max(left - extent.x0, 0) - max(extent.x1 - right, 0)
        label.set_x(label.get_position()[0] + aside / axes.width)


def whole_cell(ax: Axes) -> tuple[float, float]:
    """Let axes without frame use all of their cell; returns width and height in points."""
    figure: Any = ax.get_figure(root=True)
    cell = _cell(ax, 2.0)
    if cell is None:
        return 72 * ax.bbox.width / figure.dpi, 72 * ax.bbox.height / figure.dpi
    left, right, bottom, top = cell
    if figure.get_layout_engine() is None:
        width, height = figure.bbox.width, figure.bbox.height
        ax.set_position((left / width, bottom / height, (right - left) / width, (top - bottom) / height))
    return 72 * (right - left) / figure.dpi, 72 * (top - bottom) / figure.dpi


def color_bar(ax: Axes, colors: Any, label: str, *, below: float | None = None) -> Any:
    """What the colours mean: right of the axes, or so many points below them.

    It is placed in points and belongs to the axes, so that it covers nothing and the layout knows of it.
    """
    inside = ax.inset_axes((0.0, 0.0, 1.0, 1.0))
    inside.set_axes_locator(partial(_bar_place, ax, below))
    bar = ax.figure.colorbar(colors, cax=inside, orientation="vertical" if below is None else "horizontal")
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=SMALL)
    bar.set_label(label, fontsize=SMALL)
    return bar


def _bar_place(ax: Axes, below: float | None, inset: Axes, renderer: Any) -> Any:
    figure: Any = ax.get_figure(root=True)
    point, box = figure.dpi / 72, ax.bbox
    if below is None:
        bounds = (box.x1 + 5 * point, box.y0, 5 * point, box.height)
    else:
        bounds = (box.x0, box.y0 - (below + 3) * point, box.width, 3 * point)
    place = require("matplotlib.transforms", extra="all").Bbox.from_bounds(*bounds)
    return place.transformed(figure.transSubfigure.inverted())


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Move ascending places apart until neighbours are a gap apart, each as little as possible.

    >>> spread([0.0, 1.0, 1.0], 0.5)
    [0.0, 0.75, 1.25]
    """
    # Least squares under "next minus this >= gap": pool neighbours that are too close, as in isotonic regression.
    blocks: list[list[float]] = []
    for i, place in enumerate(places):
        blocks.append([place - i * gap, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, count = blocks.pop()
            before, many = blocks[-1]
            blocks[-1] = [(before * many + mean * count) / (many + count), many + count]
    level = [mean for mean, count in blocks for _ in range(int(count))]
    return [value + i * gap for i, value in enumerate(level)]


def end_labels(ax: Axes, ends: Sequence[tuple[float, float, str, Any]], *, lines: int = 1) -> None:
    """Name lines at their right ends, given as (x, y, text, color); call it when the limits are final.

    `lines` is how many lines the texts have.
    """
    if not ends:
        return
    gap = 1.3 * SMALL * lines / (72 * ax.bbox.height / ax.figure.dpi)
    as_shares = ax.transScale + ax.transLimits
    known = [(*as_shares.transform((x, y)).tolist(), text, color) for x, y, text, color in ends]
    # From the lowest to the highest; of equals the first named is the highest.
    ordered = sorted(known, key=lambda end: end[1], reverse=True)[::-1]
    places = spread([y for _, y, _, _ in ordered], gap)
    # The column of names stays beside the axes as far as it fits.
    places = [max(place, i * gap) for i, place in enumerate(places)]
    places = [min(place, 1 - i * gap) for i, place in zip(reversed(range(len(places))), places, strict=True)]
    for (_, _, text, color), place in zip(ordered, places, strict=True):
        ax.text(1.06, place, text, transform=ax.transAxes, va="center", color=color, fontsize=SMALL)
    leaders = require("matplotlib.collections", extra="all").LineCollection(
        [[(x + 0.015, y), (1.05, place)] for (x, y, _, _), place in zip(ordered, places, strict=True)],
        colors=[color for _, _, _, color in ordered],
        linewidths=0.4,
        transform=ax.transAxes,
        clip_on=False,
    )
    ax.add_collection(leaders, autolim=False)
