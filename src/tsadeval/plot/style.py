"""Style and layout of all figures: colours, markers, legends, colour bars, labels and margins.

The colours are those of Okabe and Ito, with three of Tol's where eight are too few; markers tell metrics apart where
colours cannot. A metric has the same colour and marker in every figure, and its variants have other
dashes and hollow markers.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from tsadeval._optional import require
from tsadeval.core.metric import metric_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Where things go in a figure: legends, colour bars, names of lines, and room for all of them on small axes.


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


P = ParamSpec("P")
R = TypeVar("R")

GREY = "#666666"
EVENT = "#F3D9C6"  # behind points that are labelled anomalous
SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 0.0,
    "ytick.minor.size": 0.0,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.0,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "none",
    "svg.hashsalt": "tsadeval",  # the same figure is the same file
}

# Colour and marker of the metrics of the paper; relatives have related colours.
KNOWN = {
    "cce": ("#D55E00", "o"),
    "auc_roc": ("#0072B2", "s"),
    "vus_roc": ("#56B4E9", "D"),
    "pate": ("#009E73", "^"),
    "f1": ("#000000", "v"),
    "f1_pa": ("#5A5A5A", "<"),
    "reduced_f1": ("#9A9A9A", ">"),
    "range_f1": ("#CC79A7", "P"),
    "etapr_f1": ("#882255", "X"),
    "affiliation_f1": ("#E69F00", "d"),
    "unbiased_affiliation_f1": ("#8C6D00", "h"),
}
# For all others, in the order in which they come.
SPARE = (("#332288", "p"), ("#117733", "*"), ("#AA4499", "8"), ("#44AA99", "H"), ("#999933", "s"), ("#CC6677", "o"))
# For detectors, in the order in which they come.
DETECTORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#666666")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (2, 1)), (0, (7, 2)))


@dataclass(frozen=True)
class Look:
    """How a metric appears."""

    label: str
    color: str
    marker: str
    dashes: Any
    hollow: bool = False


def looks(names: Sequence[str]) -> dict[str, Look]:
    """The look of each metric; its options are part of the label only where the same metric is there twice.

    >>> [look.label for look in looks(["cce", "cce(tau=0.4, constrained=True)", "vus_roc(n_thresholds=100)"]).values()]
    ['CCE', 'CCE(tau=0.4, constrained)', 'VUS-ROC']
    """
    variants: dict[str, list[str]] = {}
    for name in names:
        variants.setdefault(name.partition("(")[0], []).append(name)
    labels = metric_labels(names)
    strangers = [bare for bare in variants if bare not in KNOWN]
    found = {}
    for bare, several in variants.items():
        color, marker = KNOWN.get(bare) or SPARE[strangers.index(bare) % len(SPARE)]
        for i, name in enumerate(several):
            found[name] = Look(labels[name], color, marker, DASHES[i % len(DASHES)], hollow=i > 0)
    return {name: found[name] for name in names}


def options_note(names: Sequence[str]) -> str:
    """The options that the labels leave out.

    >>> options_note(["f1", "vus_roc(n_thresholds=100)", "pate(n_thresholds=100)"])
    'VUS-ROC, PATE: n_thresholds=100'
    """
    found: dict[str, list[str]] = {}
    for name, look in looks(names).items():
        if "(" in name and "(" not in look.label:
            found.setdefault(name.partition("(")[2][:-1], []).append(look.label)
    return "; ".join(f"{', '.join(labels)}: {options}" for options, labels in found.items())


def tints(names: Sequence[str]) -> dict[str, Look]:
    """The look of detectors, in the order in which they come: colours first, then dashes.

    >>> [look.color for look in tints(["LOF", "PCA"]).values()]
    ['#0072B2', '#D55E00']
    """
    found = {}
    for i, name in enumerate(names):
        again = i // len(DETECTORS)
        found[name] = Look(name, DETECTORS[i % len(DETECTORS)], "osD^v<>PXdh"[i % 11], DASHES[again % len(DASHES)])
    return found


def shortened(text: str, letters: int) -> str:
    """A name of at most so many letters; what is left out is its middle. Dollars in it begin no formula.

    >>> shortened("isolation_forest(n=100)", 12)
    'isolat…=100)'
    """
    if len(text) > letters:
        tail = max((letters - 1) // 2, 0)
        text = text[: letters - 1 - tail] + "…" + text[len(text) - tail :]
    return text.replace("$", r"\$")


def sequence(count: int) -> list[Any]:
    """Colours from dark to light for ordered things (cividis, whose lightest end is too pale for lines)."""
    colors = require("matplotlib", extra="all").colormaps["cividis"]
    return [colors(0.78 * i / max(count - 1, 1)) for i in range(count)]


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw with our settings, and leave those of the caller as they were."""

    @wraps(draw)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with require("matplotlib", extra="all").rc_context(SETTINGS):
            found = draw(*args, **kwargs)
            if isinstance(found, require("matplotlib.axes", extra="all").Axes):
                make_room(found)
            return found

    return inside


def new_figure(width: float, height: float) -> Figure:
    """A figure (sizes in inches) that pyplot does not know of, so that nobody has to close it."""
    figure: Figure = require("matplotlib.figure", extra="all").Figure(figsize=(width, height), layout="constrained")
    require("matplotlib.backends.backend_agg", extra="all").FigureCanvasAgg(figure)
    return figure


def new_axes(ax: Axes | None, width: float = 4.2, height: float = 2.8) -> Axes:
    """The axes given, or new ones, which notebooks show by themselves."""
    if ax is not None:
        return _dressed(ax)
    ax = new_figure(width, height).add_subplot()
    # Notebooks ask the object that a cell ends with for this method; a figure that pyplot does not know has no other.
    setattr(ax, "_repr_png_", partial(_png, ax.figure))  # noqa: B010 - Axes has no such attribute to type
    return ax


def _dressed(ax: Axes) -> Axes:
    """Axes that were made under other settings, in the sizes of ours: those are read when axes are made."""
    ax.tick_params(labelsize=SMALL, width=SETTINGS["axes.linewidth"], color=GREY, labelcolor="black")
    ax.tick_params(which="minor", length=0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(SETTINGS["axes.labelsize"])
    for side, spine in ax.spines.items():
        spine.set_linewidth(SETTINGS["axes.linewidth"])
        spine.set_edgecolor(GREY)
        if side in ("top", "right"):
            spine.set_visible(False)
    return ax


def grid(ax: Axes, axis: Literal["both", "x", "y"] = "both") -> None:
    """Lines at the ticks, in our colour also on axes that were made under other settings."""
    ax.set_axisbelow(True)
    ax.grid(axis=axis, color=SETTINGS["grid.color"], linewidth=SETTINGS["grid.linewidth"], linestyle="-")


def _png(figure: Any) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=144)
    return target.getvalue()
