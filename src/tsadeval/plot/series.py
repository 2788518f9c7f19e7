"""Figures of one series: curves over all thresholds, the surface behind VUS, and the series with scores and events."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Bools, Events, Floats, Index, Scoring, label_runs
from tsadeval.core.metric import METRICS, Metric, Rule, metric_labels, parse_metric
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.core.selection import AnyMetric, select_metric, select_metrics
from tsadeval.errors import InvalidInputError, InvalidParameterError, warn_undefined
from tsadeval.evaluation.single import evaluate
from tsadeval.metrics.cce_formula import explain_gaps
from tsadeval.metrics.counting import merged, threshold_ranks
from tsadeval.metrics.event_sweep import at_least
from tsadeval.plot import style
from tsadeval.scores.scored import observe
from tsadeval.thresholds.rules import parse_rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tsadeval.datasets import Dataset

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


# From wrong to right, through a grey that is neither; both ends are told apart by colour-blind readers.
WRONG, NEITHER, RIGHT = "#D55E00", "#E4E4E4", "#0072B2"
DENSE = 3000  # points of which a line is as thin as it can be printed
ROW, STRIP, GAP = 1.0, 0.13, 0.3  # heights of a line's row, of the strip under it, and between rows

_Judged = tuple[Index, Index, Floats, Bools]  # runs of points: starts, stops, values by a metric, whether anomalies


@style.styled
def series_with_scores(
    dataset: Dataset | tuple[Any, Any],
    scores: Mapping[str, Any],
    ax: Axes | None = None,
    *,
    around: int | None = None,
    margin: int | None = None,
    column: int = 0,
    color: AnyMetric = "cce",
    metrics: str | Sequence[str] = ("cce",),
    threshold: str | float | Rule = "best",
    title: str = "",
) -> Axes:
    """Draw a series, its labels, and under it the scores of several detectors.

    Scores are drawn from the lowest (bottom of a row) to the highest (top) of the whole series, as CCE sees them. The
    strip under each row, and the band behind an anomaly, have the colour of the event by a metric: blue where the
    detector is right, orange where it is wrong, grey between. Events too short to be seen get a mark.

    Parameters
    ----------
    dataset : Dataset or (values, labels)
        What `te.datasets.load` returned, of which the test part is drawn, or a series and its labels. Where a value
        is not finite, the line has a gap.
    scores : mapping
        Detector to its scores, as `Detection.all_scores(series)` gives them.
    ax : Axes, optional
        Where to draw; else on new axes, as wide as one column of print (wider for long names and many metrics).
    around : int, optional
        Show this anomaly event only, counted from 0 (or -1 for the last), and `margin` points before and behind it.
        Values beside the rows are of the whole series in any case.
    margin : int, optional
        By default four times the length of the event, and at least 100.
    column : int, default=0
        Which column of a multivariate series is drawn.
    color : str, Metric or function, default="cce"
        The metric by which events are coloured. CCE has a score for each of them. By any other metric the colour is
        what its value would gain if this event, or normal stretch, were scored perfectly (all its points highest, or
        lowest) and all else stayed: the metric is computed once for each.
    metrics : str or sequence of str, default=("cce",)
        What stands beside the rows.
    threshold : str, number or rule, default="best"
        For metrics that take predictions, as for `evaluate`.
    title : str, optional
        Over the figure; the name of the data set by default.

    Examples
    --------
    >>> import numpy as np
    >>> from tsadeval import plot
    >>> labels = np.arange(500) // 20 == 20
    >>> x = np.sin(np.arange(500) / 5) + labels
    >>> ax = plot.series_with_scores((x, labels), {"size": np.abs(x), "wrong": -x}, around=0)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['series', 'size', 'wrong']
    """
    values, labels, name = _parts(dataset, column)
    scorings = style.read_scores(labels, scores)
    chosen = {str(metric): metric for metric in select_metrics(metrics)}
    heads = [look.label for look in style.looks(list(chosen)).values()]
    by = select_metric(color)
    judged = [_judge(scoring, by, parse_rule(threshold)) for scoring in scorings.values()]
    colors, ticks, words = _scale(by, judged)
    events = Events.of(labels)
    low, high = _window(events, around, margin)
    shown = slice(max(low, 0), min(high, events.n))
    rows = len(scorings) + 1
    spare = max(0, max(map(len, scorings)) - 10) * style.LETTER + _places(heads)[-1] - _places(["CCE"])[-1]
    ax = style.new_axes(ax, 3.5 + spare / 72, 0.75 + 0.42 * rows)
    bottoms = [(ROW + STRIP + GAP) * (rows - 1 - i) for i in range(rows)]
    _band(ax, events, bottoms[0], high - low)
    _line(ax, values, shown, bottoms[0])
    outcomes = []
    for scoring, (starts, stops, parts, anomaly), bottom in zip(scorings.values(), judged, bottoms[1:], strict=True):
        given, found = style.drawn_scores(scoring), colors.to_rgba(parts)
        style.bars(ax, starts, stops - starts, bottom - STRIP, STRIP, found)
        style.bars(ax, starts[anomaly], (stops - starts)[anomaly], bottom, ROW, found[anomaly], alpha=0.45)
        _line(ax, given, shown, bottom)
        outcomes.append([*evaluate(labels, given, [*chosen.values()], threshold=threshold).values()])
    style.name_rows(ax, [bottom + ROW / 2 for bottom in bottoms], ["series", *scorings])
    ax.set(xlim=(low - 0.5, high - 0.5), ylim=(-STRIP - 0.12, bottoms[0] + ROW + 0.25))
    ax.set(xlabel="time", title=title or name)
    _beside(ax, heads, outcomes, bottoms[1:])
    style.color_bar(ax, colors, f"{words} (strips and bands)", "bottom").set_ticks(list(ticks), labels=ticks.values())
    return ax


def _parts(dataset: Any, column: int) -> tuple[Floats, Any, str]:
    """Return the drawn column, the labels and the name."""
    if isinstance(dataset, (tuple, list)) and len(dataset) == 2:
        values, labels, name = np.asarray(dataset[0], np.float64), np.asarray(dataset[1]), ""
    elif not hasattr(dataset, "test_labels"):
        what = repr(dataset) if isinstance(dataset, str) else f"a {type(dataset).__name__}"
        raise InvalidInputError(f"dataset must be what te.datasets.load returns, or (values, labels), but is {what}")
    else:
        values, labels, name = dataset.test, dataset.test_labels, dataset.name
        if values is None:
            raise InvalidInputError(f"{name} has labels only, so there is no series to draw")
    values = values.reshape(len(values), -1)
    if len(values) != len(labels):
        raise InvalidInputError(f"the series has {len(values)} points, but there are {len(labels)} labels")
    last = values.shape[1] - 1
    check_parameters("series_with_scores", {"column": Number(0, last, integer=True)}, {"column": column})
    if not np.isfinite(values[:, column]).any():
        raise InvalidInputError(f"column {column} of the series has no finite value, so there is nothing to draw")
    return values[:, column], labels, name


def _window(events: Events, around: int | None, margin: int | None) -> tuple[int, int]:
    checks: dict[str, Check] = {"margin": Number(0, integer=True, none=True), "around": Number(integer=True, none=True)}
    check_parameters("series_with_scores", checks, {"margin": margin, "around": around})
    if around is None:
        return 0, events.n
    if not -len(events) <= around < len(events):
        raise InvalidParameterError(f"around must be the number of one of {len(events)} events, but is {around!r}")
    start, stop = int(events.starts[around]), int(events.stops[around])
    beside = max(4 * (stop - start), 100) if margin is None else margin
    return start - beside, stop + beside


def _line(ax: Axes, values: Floats, shown: slice, bottom: float) -> None:
    x, y = np.arange(shown.start, shown.stop), style.on_unit_range(np.where(np.isfinite(values), values, np.nan))[shown]
    ax.plot(x, bottom + y, color="black", lw=0.3 if len(x) > DENSE else 0.5, zorder=3)


def _band(ax: Axes, events: Events, bottom: float, width: int) -> None:
    """Draw the anomalies, behind the series; a mark over those that are too short for a band."""
    if len(events):
        style.bars(ax, events.starts, events.lengths, bottom, ROW)
    short = 100 * events.lengths < width
    middles = (events.starts + events.lengths / 2)[short]
    ax.plot(middles, np.full(len(middles), bottom + ROW + 0.12), "v", color=WRONG, markersize=2.5, zorder=4)


def _judge(scoring: Scoring, metric: Metric, rule: Rule) -> _Judged:
    """Return the CCE score of every event, or what events and normal runs cost by another metric."""
    if str(metric) == "cce":
        table = explain_gaps(scoring).events
        return table["start"], table["stop"], table["score"], table["label"] == 1
    whole, labels, given = metric.run(scoring, rule), scoring.truth.mask, style.drawn_scores(scoring)
    if np.isnan(whole.value):
        warn_undefined(str(metric), whole.message or "")
    runs = np.split(np.flatnonzero(np.isfinite(given)), scoring.kept.truth.starts[1:])  # of points that are judged
    points, ideal = np.arange(scoring.n), np.where(labels, scoring.high, scoring.low)
    perfect = (observe(labels, np.where(np.isin(points, run), ideal, given), missing="skip") for run in runs)
    costs = [metric.sign * (whole.value - metric.run(one, rule).value) for one in perfect]
    starts, lasts = np.array([(run[0], run[-1]) for run in runs]).T
    return starts, lasts + 1, np.array(costs), labels[starts]


def _scale(metric: Metric, judged: Sequence[_Judged]) -> tuple[Any, dict[float, str], str]:
    """Return the colours of the values, the marks of their scale, and what they are."""
    if str(metric) == "cce":
        return _colors(), {-0.5: "wrong", 0.0: "0", 0.5: "right"}, "CCE score of an event"
    most = -np.nanmin(np.concatenate([[0.0], *(values for _, _, values, _ in judged)]))
    words = f"{metric_labels([str(metric)])[str(metric)]} that an event costs"
    return _colors(-most or -1.0, 0.0), {-most: f"{most:.3g}", 0.0: "0"}, words


def _colors(low: float = -0.5, high: float = 0.5) -> Any:
    """Return values as colours, from wrong to right."""
    colors = require("matplotlib.colors", extra="all")
    ramp = colors.LinearSegmentedColormap.from_list("right and wrong", [WRONG, NEITHER, RIGHT])
    return require("matplotlib.cm", extra="all").ScalarMappable(colors.Normalize(low, high), ramp)


def _places(heads: Sequence[str]) -> list[float]:
    """Where the columns of values end, in points to the right of the axes: each has room for its head."""
    widths = [max(40 if i else 30, (style.LETTER + 1) * len(head) + 6) for i, head in enumerate(heads)]
    return list(accumulate(widths)) or [0.0]


def _beside(ax: Axes, heads: Sequence[str], rows: Sequence[Sequence[float]], bottoms: Sequence[float]) -> None:
    """Write the values of the detectors in columns to the right; offsets in points, so that the layout knows them."""
    at = ax.get_yaxis_transform()
    write = partial(ax.annotate, xycoords=at, textcoords="offset points", ha="right", annotation_clip=False)
    for i, (head, x) in enumerate(zip(heads, _places(heads), strict=True)):
        write(head, (1, bottoms[0] + ROW + GAP / 2), (x, 2), va="bottom", fontsize=style.SMALL, weight="bold")
        for row, bottom in zip(rows, bottoms, strict=True):
            write(f"{round(row[i], 3) + 0.0:.3f}", (1, bottom + ROW / 2), (x, 0), va="center")
