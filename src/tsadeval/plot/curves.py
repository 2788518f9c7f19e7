"""Curves over all thresholds: ROC, precision-recall, DET, values of metrics, and the surface behind VUS."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.plot.style import GREY, SMALL, color_bar, grid, legend_above, looks, new_axes, shortened, styled, tints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A curve with more corners than print can show is drawn at so many of them.
CORNERS = 2000
THRESHOLDS = 200


def _scorings(y_true: Any, scores: Any) -> dict[str, Scoring]:
    """Checked scores by detector; a single array has no name."""
    given = scores if isinstance(scores, Mapping) else {"": scores}
    if not given:
        raise InvalidInputError("scores is empty: give the scores of at least one detector")
    found = {}
    for name, values in given.items():
        try:
            scoring = Scoring.of(y_true, values)
        except InvalidInputError as error:
            raise InvalidInputError(f"detector {name!r}: {error}" if name else str(error)) from None
        if not (scoring.truth.has(0) and scoring.truth.has(1)):
            raise InvalidInputError("y_true needs both normal (0) and anomalous (1) points to draw a curve")
        found[str(name)] = scoring
    return found


def _only(scorings: dict[str, Scoring]) -> Scoring:
    """The scores of the only detector."""
    if len(scorings) > 1:
        raise InvalidInputError(f"this figure is of one detector, but there are {len(scorings)}: draw one for each")
    return next(iter(scorings.values()))


def _counts(scoring: Scoring) -> tuple[Floats, Floats]:
    """Found and false alarms at every distinct score, from no alarm to all."""
    points = scoring.descending
    anomalous = scoring.truth.mask[points["position"]]
    last = np.append(np.flatnonzero(np.diff(points["score"])), len(points) - 1)
    found = np.cumsum(anomalous)[last]
    return np.append(0, found).astype(np.float64), np.append(0, last + 1 - found).astype(np.float64)


def _thinned(*columns: Floats) -> list[Floats]:
    """At most so many corners of a curve, spread evenly along its length; the ends stay."""
    if len(columns[0]) <= CORNERS:
        return list(columns)
    length = np.cumsum(np.append(0.0, sum(np.abs(np.diff(c)) / max(np.ptp(c), 1e-300) for c in columns)))
    at = np.unique(np.searchsorted(length, np.linspace(0, length[-1], CORNERS)))
    return [c[np.union1d(at, [0, len(c) - 1])] for c in columns]


def _named(name: str, value: float) -> str:
    text = f"{value:.3f}".replace("0.", ".", 1) if value < 1 else f"{value:.2f}"
    return f"{shortened(name, 18)} ({text})" if name else ""


@styled
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
    found = _scorings(y_true, scores)
    ax = new_axes(ax, 3.2, 3.0)
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.6, linestyle=(0, (4, 3)))
    for name, look in tints(list(found)).items():
        hits, false = _counts(found[name])
        x, y = false / false[-1], hits / hits[-1]
        area = float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)
        ax.plot(*_thinned(x, y), color=look.color, linestyle=look.dashes, label=_named(name, area))
    _unit(ax)
    ax.set_xlabel("false-alarm rate")
    ax.set_ylabel("recall")
    ax.set_title("ROC")
    legend_above(ax)
    return ax


@styled
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
    found = _scorings(y_true, scores)
    ax = new_axes(ax, 3.2, 3.0)
    for name, look in tints(list(found)).items():
        hits, false = (counts[1:] for counts in _counts(found[name]))
        recall, precision = hits / hits[-1], hits / (hits + false)
        area = float(np.sum(np.diff(recall, prepend=0.0) * precision))
        # Steps, as the area counts them: between two thresholds the precision is that of the next one.
        x, y = _thinned(np.append(0.0, recall), np.append(precision[0], precision))
        ax.step(x, y, where="pre", color=look.color, linestyle=look.dashes, label=_named(name, area))
        share = hits[-1] / (hits[-1] + false[-1])
    ax.axhline(share, color=GREY, lw=0.6, linestyle=(0, (4, 3)))
    _unit(ax)
    ax.set_xlabel("recall")
    ax.set_ylabel("precision")
    ax.set_title("Precision and recall")
    legend_above(ax)
    return ax


def _unit(ax: Axes) -> None:
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    ax.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    grid(ax)


@styled
def det_curve(y_true: Any, scores: Any, ax: Axes | None = None) -> Axes:
    """Detection error trade-off: missed points against false alarms, both on normal-deviate scales.

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
    found = _scorings(y_true, scores)
    ax = new_axes(ax, 3.2, 3.0)
    probit = require("scipy.special", extra="all").ndtri
    ends = [1.0, 1.0]
    for name, look in tints(list(found)).items():
        hits, false = _counts(found[name])
        miss, alarm = 1 - hits / hits[-1], false / false[-1]
        ends = [min(ends[0], 0.5 / false[-1]), min(ends[1], 0.5 / hits[-1])]
        inside = (miss > 0) & (miss < 1) & (alarm > 0) & (alarm < 1)
        x, y = _thinned(probit(alarm[inside]), probit(miss[inside])) if inside.any() else (np.empty(0),) * 2
        ax.plot(x, y, color=look.color, linestyle=look.dashes, label=shortened(name, 18))
    marks = [0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95]
    for axis, end in zip((ax.xaxis, ax.yaxis), ends, strict=True):
        shown = [m for m in marks if m >= min(end, 0.05)]
        axis.set_ticks(probit(shown), [f"{100 * m:g} %" for m in shown])
    ax.set_xlim(probit(max(min(ends[0], 0.02), 5e-5)), probit(0.995))
    ax.set_ylim(probit(max(min(ends[1], 0.02), 5e-5)), probit(0.995))
    grid(ax)
    ax.set_xlabel("false-alarm rate")
    ax.set_ylabel("missed points")
    ax.set_title("Detection error trade-off")
    legend_above(ax)
    return ax


@styled
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
    scoring = _only(_scorings(y_true, y_score))
    chosen: dict[str, Metric] = {}
    for metric in select_metrics(metrics):
        if metric.kind != "predictions":
            raise InvalidParameterError(f"metrics must take predictions, so that a threshold matters: not {metric}")
        chosen[str(metric)] = metric
    levels = _some(scoring.levels[0])
    predictions = [scoring.at_least(float(level)) for level in levels]
    ax = new_axes(ax, 3.4, 2.5)
    for name, look in looks(list(chosen)).items():
        values = np.array([chosen[name].value_of(prediction)[0] for prediction in predictions])
        ax.plot(levels, values, color=look.color, linestyle=look.dashes, label=look.label)
        if np.isfinite(values).any():
            sign = 1 if chosen[name].direction == "higher" else -1
            best = int(np.nanargmax(sign * values))
            ax.plot([levels[best]], [values[best]], look.marker, color=look.color, label=f"_{name} best")
    ax.set_xlabel("threshold (alarm where the score is at least this)")
    ax.set_ylabel("value")
    grid(ax, "y")
    legend_above(ax)
    return ax


def _some(levels: Floats) -> Floats:
    """Thresholds to draw: half of them evenly spaced among the descending scores, half along their range."""
    ranks = np.linspace(0, len(levels) - 1, THRESHOLDS // 2).astype(np.int64)
    across = np.linspace(levels[-1], levels[0], THRESHOLDS // 2)
    nearest = len(levels) - 1 - np.clip(np.searchsorted(levels[::-1], across), 0, len(levels) - 1)
    return np.asarray(levels[np.union1d(ranks, nearest)])


_SURFACE: dict[str, Check] = {
    "kind": OneOf(("pr", "roc")),
    "window": Number(1, 100_000, integer=True),
    "steps": Number(2, integer=True),
}


@styled
def vus_surface(
    y_true: Any,
    y_score: Any,
    ax: Axes | None = None,
    *,
    kind: Literal["pr", "roc"] = "pr",
    window: int = 100,
    steps: int = 26,
) -> Axes:
    """The surface whose volume is VUS: precision (or recall) over recall (or false alarms) and buffer width.

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
    scoring = _only(_scorings(y_true, y_score))
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
    ax = new_axes(ax, 3.4, 2.5)
    colors = require("matplotlib", extra="all").colormaps["cividis"].with_extremes(bad="#EEEEEE")
    image = ax.pcolormesh(across, widths, surface, cmap=colors, vmin=0, vmax=1, shading="nearest", rasterized=True)
    lines = ax.contour(across, widths, surface, levels=[0.25, 0.5, 0.75], colors="white", linewidths=0.6)
    ax.clabel(lines, fontsize=SMALL - 1, fmt="%g")
    ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    ax.set_xlabel("recall" if kind == "pr" else "false-alarm rate")
    ax.set_ylabel("buffer width (points)")
    color_bar(ax, image, "precision" if kind == "pr" else "recall")
    metric = "vus_pr" if kind == "pr" else "vus_roc"
    value = select_metrics(f"{metric}(window={window})")[0].value_of(scoring)[0]
    ax.set_title(f"{looks([metric])[metric].label} {value:.3f}")
    return ax


def surface_curve(scoring: Scoring, width: int, n_thresholds: int = 250) -> tuple[Floats, Floats, Floats]:
    """False-alarm rate, recall and precision at one buffer width, as `vus_roc` and `vus_pr` define them.

    The first point is (0, 0, 1).
    """
    events, n, half = scoring.events, scoring.n, width // 2
    weights = np.zeros(n)
    for start, stop in zip(events.starts.tolist(), events.stops.tolist(), strict=True):
        reach = np.arange(1, half + 1)
        fall = np.sqrt(1 - reach / width) if half else np.empty(0)
        before, after = min(half, start), min(half, n - stop)
        weights[start - before : start] += fall[:before][::-1]
        weights[stop : stop + after] += fall[:after]
    inside = scoring.truth.mask
    weights = np.where(inside, 1.0, np.minimum(weights, 1.0))
    places = np.linspace(0, n - 1, min(n_thresholds, n)).astype(np.int64)
    thresholds = np.unique(scoring.sorted[n - 1 - places])[::-1]
    alarms = n - np.searchsorted(scoring.sorted, thresholds)
    order = scoring.descending["position"]
    hit = np.cumsum(weights[order])[alarms - 1]
    buffer = np.cumsum(np.where(inside, 0.0, weights)[order])[alarms - 1]
    positives = events.points + buffer / 2
    # Buffered events that share a point are one; it is found from the highest score in it on.
    starts, stops = np.maximum(events.starts - half, 0), np.minimum(events.stops + half, n)
    first = np.flatnonzero(np.append(True, starts[1:] >= np.maximum.accumulate(stops)[:-1]))
    last = np.append(first[1:] - 1, len(starts) - 1)
    highest = np.sort([scoring.scores[starts[a] : stops[b]].max() for a, b in zip(first, last, strict=True)])
    existence = (len(highest) - np.searchsorted(highest, thresholds)) / len(highest)
    recall = np.minimum(hit / positives, 1.0) * existence
    false = (alarms - hit) / (n - positives)
    return np.append(0.0, false), np.append(0.0, recall), np.append(1.0, hit / alarms)
