"""Style and layout of all figures: colours, markers, legends, colour bars, labels and margins.

The colours are those of Okabe and Ito, with three of Tol's where eight are too few; markers tell metrics apart where
colours cannot. A metric has the same colour and marker in every figure, and its variants have other
dashes and hollow markers.
"""

from __future__ import annotations

import io
import itertools
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import numpy as np

from tsadeval._optional import require
from tsadeval.core.facts import grouped
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import metric_labels
from tsadeval.errors import InvalidInputError
from tsadeval.scores.scored import observe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Where things go in a figure: legends, colour bars, names of lines, and room for all of them on small axes.

SMALL = 7.0
LETTER = 4.3  # about the width of a letter of the small font, in points
GREY = "#666666"
EVENT = "#F3D9C6"  # behind points that are labelled anomalous


def width_of(ax: Axes) -> float:
    """Return the width of axes in points."""
    return float(72 * ax.bbox.width / ax.figure.dpi)


def legend_above(ax: Axes, *, title: str = "", handles: Sequence[Any] = ()) -> None:
    """Put a legend over the axes, where it covers nothing, in as many columns as fit; their title goes above it.

    `title` names what the legend is of; `handles` are used instead of what the axes have.
    """
    handles = list(handles or ax.get_legend_handles_labels()[0])
    if not handles:
        return
    room, _ = lay_out(ax)
    for columns in range(min(4, len(handles)), 0, -1):
        legend = ax.legend(
            handles=handles, ncols=columns, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.3,
            handlelength=1.2, columnspacing=1.0, labelspacing=0.25, title=title or None, title_fontsize=SMALL,
            alignment="left", fontsize=SMALL, frameon=False,
        )  # fmt: skip
        extent = legend.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        if 72 * extent.width <= 0.95 * room:  # letters are wider at some resolutions
            break
    above = ax.get_title(loc="left")
    if above:
        ax.set_title(above, pad=72 * extent.height + 5)


def make_room(ax: Axes) -> None:
    """Let all that belongs to axes (names, colour bars, values beside) fit in their cell of the figure's grid.

    A figure without a layout engine is laid out once, as the constrained layout does it. Axes without a grid stay as
    they are: whoever gave them an exact place meant it.
    """
    figure, place = ax.get_figure(root=True), ax.get_subplotspec()
    if figure is None or place is None:
        return
    column = figure.bbox.width / place.get_gridspec().ncols
    letters = int(72 * column * len(place.colspan) / figure.dpi / (1.1 * LETTER))
    label = ax.xaxis.label
    label.set_text("\n".join(filled(line, max(letters, 8)) for line in label.get_text().splitlines()))
    if figure.get_layout_engine() is None:
        lay_out(ax)
        if label.get_window_extent().width > ax.bbox.width:  # it fits into the cell, if not below the axes
            middle = column * (place.colspan.start + place.colspan.stop) / 2
            label.set(x=ax.transAxes.inverted().transform((middle, 0))[0], horizontalalignment="center")


def filled(text: str, letters: int) -> str:
    """Break a text into lines of so many letters, but no name at its hyphen.

    >>> filled("Spearman of VUS-ROC", 17)
    'Spearman of\\nVUS-ROC'
    """
    return textwrap.fill(text, letters, break_on_hyphens=False)


def lay_out(ax: Axes) -> tuple[float, float]:
    """Lay out the figure, by its own engine or the constrained one; return width and height of the axes in points."""
    figure: Any = ax.get_figure(root=True)
    engine = figure.get_layout_engine() or require("matplotlib.layout_engine", extra="all").ConstrainedLayoutEngine()
    engine.execute(figure)
    return width_of(ax), 72 * ax.bbox.height / ax.figure.dpi


def color_bar(ax: Axes, colors: Any, label: str, location: Literal["right", "bottom"] = "right") -> Any:
    """Say what the colours mean, beside the axes or below them; the layout gives the bar its place."""
    bar = ax.figure.colorbar(
        colors, ax=ax, location=location, use_gridspec=False, fraction=0.1, pad=0.02, aspect=40, label=label
    )
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=SMALL)
    (bar.ax.yaxis if location == "right" else bar.ax.xaxis).label.set_fontsize(SMALL)
    return bar


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Move ascending places apart until neighbours are a gap apart, each as little as possible.

    >>> spread([0.0, 1.0, 1.0], 0.5)
    [0.0, 0.75, 1.25]
    """
    # Least squares under "next minus this >= gap": isotonic regression of what is left beyond the gaps, by its
    # max-min formula.
    n, beyond = len(places), np.asarray(places) - gap * np.arange(len(places))

    def level(i: int) -> float:
        return float(max(min(beyond[a:b].mean() for b in range(i + 1, n + 1)) for a in range(i + 1)))

    return [level(i) + i * gap for i in range(n)]


def end_labels(ax: Axes, ends: Sequence[tuple[float, float, str, Any]], *, lines: int = 1) -> None:
    """Name lines at their right ends: (x, y, text of so many lines, color); call it when the limits are final."""
    gap = 1.3 * SMALL * lines / (72 * ax.bbox.height / ax.figure.dpi)
    as_shares = ax.transScale + ax.transLimits
    known = [(*as_shares.transform((x, y)).tolist(), text, color) for x, y, text, color in ends]
    # From the lowest to the highest; of equals the first named is the highest.
    ordered = sorted(known, key=lambda end: end[1], reverse=True)[::-1]
    places = spread([y for _, y, _, _ in ordered], gap)
    # The column of names stays beside the axes as far as it fits.
    places = [max(place, i * gap) for i, place in enumerate(places)]
    places = [min(place, 1 - i * gap) for i, place in zip(reversed(range(len(places))), places, strict=True)]
    for (x, y, text, color), place in zip(ordered, places, strict=True):
        leader = {"arrowstyle": "-", "color": color, "linewidth": 0.4, "relpos": (0, 0.5), "shrinkA": 0, "shrinkB": 0}
        ax.annotate(
            text, (x + 0.015, y), (1.06, place), "axes fraction", arrowprops=leader, annotation_clip=False,
            va="center", color=color, fontsize=SMALL,
        )  # fmt: skip


# What several figures draw: heat maps, rows of dots, bars in a row.


def heat_map(
    ax: Axes, values: Floats, rows: Sequence[str], columns: Sequence[str], *, limits: tuple[float, float], colors: str
) -> Any:
    """Draw a table as colours, with the names of its rows and columns; what is not finite is light grey."""
    palette = require("matplotlib", extra="all").colormaps[colors].with_extremes(bad="#EEEEEE")
    image = ax.imshow(values, cmap=palette, clim=limits, aspect="auto", interpolation="nearest")
    ax.spines[:].set_visible(False)
    upright = LETTER * max(map(len, columns), default=0) > width_of(ax) / max(len(columns), 1) - 2
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(range(len(columns)), columns, rotation=90 if upright else 0)
    ax.tick_params(length=0)
    return image


def correlation_map(ax: Axes | None, found: Floats, names: Sequence[str]) -> Axes:
    """Draw correlations of metrics as a heat map, with their values where there is room for them."""
    side = 1.0 + max(1.6, 0.24 * len(names))
    ax = new_axes(ax, side + 0.3, side)
    labels = list(metric_labels(names).values())
    heat_map(ax, found, labels, labels, limits=(-1.0, 1.0), colors="RdBu")
    room = width_of(ax) / len(names)
    for (i, j), value in np.ndenumerate(found):
        if np.isfinite(value) and room >= 12:
            text, ink = f"{value:.2f}".replace("0.", "."), "white" if abs(value) > 0.6 else "black"
            ax.text(j, i, text, ha="center", va="center", fontsize=min(SMALL, room / 2.6), color=ink)
    return ax


def dot_rows(
    ax: Axes, rows: Sequence[str], values: Mapping[str, Any], marks: Iterable[tuple[str, str]], *, apart: float = 0.0
) -> None:
    """Draw a row per name and in each a dot per label; dots of a row are as far apart as `apart`, of 1."""
    places = -np.arange(len(rows), dtype=np.float64)
    for i, ((label, found), (color, marker)) in enumerate(zip(values.items(), itertools.cycle(marks), strict=False)):
        down = apart * (0.5 - (i + 0.5) / len(values))
        ax.plot(found, places + down, marker, markersize=3.5, color=color, label=label, clip_on=False)
    name_rows(ax, places, rows)
    grid(ax, "y")


def name_rows(ax: Axes, places: Iterable[float], names: Iterable[str]) -> None:
    """Name rows at the left of the axes, which need no line and no ticks there."""
    ax.set_yticks(list(places), list(names))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def bars(ax: Axes, starts: Any, lengths: Any, bottom: float, height: float, colors: Any = EVENT, **how: Any) -> Any:
    """Draw runs of points as bars from `bottom` on; points are in the middle of their places."""
    spans = np.column_stack([starts - 0.5, lengths]).tolist()
    return ax.broken_barh(spans, (bottom, height), facecolors=colors, **{"lw": 0, "zorder": 1, **how})


def on_unit_range(values: Floats) -> Floats:
    """Values over the range of the finite ones, from 0 to 1; one half where all are equal."""
    values = np.asarray(values, np.float64)  # of alarms as truth values there is no difference
    finite = values[np.isfinite(values)]
    if not len(finite) or finite.min() == finite.max():
        return np.full(len(values), 0.5)
    return np.asarray((values - finite.min()) / float(finite.max() - finite.min()))


def read_scores(y_true: Any, scores: Any, *, both: bool = False) -> dict[str, Scoring]:
    """Check the scores of every detector; an error says whose they are. With `both`, y_true needs both classes.

    Points without a score (NaN) are not judged, as in `te.compare`, and keep their places.
    """
    if not isinstance(scores, Mapping):
        raise InvalidInputError(f"scores must be a mapping from detector to scores, but is a {type(scores).__name__}")
    if not scores:
        raise InvalidInputError("scores is empty: give the scores of at least one detector")
    found = {}
    for name, given in scores.items():
        try:
            scoring = found[str(name)] = observe(y_true, given, missing="skip", in_place=True)
        except InvalidInputError as error:
            raise InvalidInputError(f"detector {name!r}: {error}" if name else str(error)) from None
        if both and not (scoring.kept.truth.has(0) and scoring.kept.truth.has(1)):
            raise InvalidInputError("y_true needs both normal (0) and anomalous (1) points for this figure")
    return found


def drawn_scores(scoring: Scoring) -> Floats:
    """Return the scores with gaps where points have none."""
    gaps = scoring.setting.ignored
    return scoring.scores if gaps is None else np.where(gaps, np.nan, scoring.scores)


def read_detector(y_true: Any, y_score: Any) -> Scoring:
    """Check the scores of one detector, for a figure that needs both classes."""
    found = read_scores(y_true, y_score if isinstance(y_score, Mapping) else {"": y_score}, both=True)
    if len(found) > 1:
        raise InvalidInputError(f"this figure is of one detector, but there are {len(found)}: draw one for each")
    return next(iter(found.values()))


P = ParamSpec("P")
R = TypeVar("R")

TICKS = {"labelsize": SMALL, "color": GREY, "labelcolor": "black", "major.width": 0.6, "minor.size": 0.0}
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
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in TICKS.items()},
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
    """Choose the look of metrics; options are part of the label only where the same metric is there twice.

    >>> [look.label for look in looks(["cce", "cce(tau=0.4, constrained=True)", "vus_roc(n_thresholds=100)"]).values()]
    ['CCE', 'CCE(tau=0.4, constrained)', 'VUS-ROC']
    """
    variants = grouped((name.partition("(")[0], name) for name in names)
    labels = metric_labels(names)
    strangers = [bare for bare in variants if bare not in KNOWN]
    found = {}
    for bare, several in variants.items():
        color, marker = KNOWN.get(bare) or SPARE[strangers.index(bare) % len(SPARE)]
        for i, name in enumerate(several):
            found[name] = Look(labels[name], color, marker, DASHES[i % len(DASHES)], hollow=i > 0)
    return {name: found[name] for name in names}


def options_note(names: Sequence[str]) -> str:
    """Return the options that the labels leave out.

    >>> options_note(["f1", "vus_roc(n_thresholds=100)", "pate(n_thresholds=100)"])
    'VUS-ROC, PATE: n_thresholds=100'
    """
    left_out = {name: look for name, look in looks(names).items() if "(" in name and "(" not in look.label}
    found = grouped((name.partition("(")[2][:-1], look.label) for name, look in left_out.items())
    return "; ".join(f"{', '.join(labels)}: {options}" for options, labels in found.items())


def tints(names: Sequence[str]) -> dict[str, Look]:
    """Choose the look of detectors, in the order in which they come: colours and, for print in grey, dashes."""
    shown = zip(names, itertools.cycle(DETECTORS), itertools.cycle("osD^v<>PXdh"), strict=False)
    return {
        name: Look(name, color, marker, DASHES[(i + i // len(DETECTORS)) % len(DASHES)])
        for i, (name, color, marker) in enumerate(shown)
    }


def shortened(text: str, letters: int) -> str:
    """Shorten a name to so many letters by leaving out its middle, and escape dollar signs, which begin formulas.

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
    """Make a figure (sizes in inches) that pyplot does not know of, so that nobody has to close it."""
    figure: Figure = require("matplotlib.figure", extra="all").Figure(figsize=(width, height), layout="constrained")
    require("matplotlib.backends.backend_agg", extra="all").FigureCanvasAgg(figure)
    return figure


def new_axes(ax: Axes | None, width: float = 4.2, height: float = 2.8) -> Axes:
    """Return new axes, which notebooks show by themselves, or those given, in our sizes."""
    if ax is None:
        ax = new_figure(width, height).add_subplot()
        # Notebooks ask the object that a cell ends with for this; a figure that pyplot does not know has no other.
        setattr(ax, "_repr_png_", partial(_png, ax.figure))  # noqa: B010 - Axes has no such attribute to type
        return ax
    ax.tick_params(labelsize=SMALL, width=SETTINGS["axes.linewidth"], color=GREY, labelcolor="black")
    ax.tick_params(which="minor", length=0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(SETTINGS["axes.labelsize"])
    ax.spines[:].set(linewidth=SETTINGS["axes.linewidth"], edgecolor=GREY)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def grid(ax: Axes, axis: Literal["both", "x", "y"] = "both") -> None:
    """Lines at the ticks, in our colour also on axes that were made under other settings."""
    ax.set_axisbelow(True)
    ax.grid(axis=axis, color=SETTINGS["grid.color"], linewidth=SETTINGS["grid.linewidth"], linestyle="-")


def _png(figure: Any) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=144)
    return target.getvalue()
