"""One look for all figures: calm, safe for colour-blind readers, readable in print and in grey.

The colours are those of Okabe and Ito, with three of Tol's where eight are too few; markers tell metrics apart where
colours cannot. A metric has the same colour and marker in every figure, and its variants have other
dashes and hollow markers.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from tsadeval._optional import require
from tsadeval.core.metric import metric_labels
from tsadeval.plot.layout import SMALL, make_room

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "EVENT",
    "GREY",
    "SMALL",
    "Look",
    "grid",
    "looks",
    "new_axes",
    "new_figure",
    "options_note",
    "sequence",
    "shortened",
    "styled",
    "tints",
]

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
