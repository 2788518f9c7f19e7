"""Figures of a series: its values, the scores of detectors, and events coloured by their part of a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.events import Bools, Events, Floats, Index
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric, Rule, metric_labels
from tsadeval.core.parameters import Check, Number, check_parameters
from tsadeval.core.selection import AnyMetric, select_metric, select_metrics
from tsadeval.errors import InvalidInputError, InvalidParameterError, warn_undefined
from tsadeval.evaluation.single import evaluate
from tsadeval.metrics.cce_explanation import explain_gaps
from tsadeval.plot import style
from tsadeval.scores.scored import observe
from tsadeval.thresholds.rules import parse_rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tsadeval.datasets import Dataset

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
