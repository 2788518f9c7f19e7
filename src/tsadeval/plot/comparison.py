"""Figures of comparisons: several detectors on several series.

All take what `te.compare` returned, or the values themselves: a pandas DataFrame with a row per series and a column per
detector, or a mapping from detector to its values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from tsadeval._optional import require
from tsadeval.comparison import Comparison, statistics
from tsadeval.core.facts import finite_mean
from tsadeval.core.inputs import Floats
from tsadeval.core.messages import named
from tsadeval.core.metric import Metric, parse_metric
from tsadeval.core.parameters import Check, OneOf, check_parameters
from tsadeval.core.results import Result
from tsadeval.core.selection import AnyMetric, find_metric, metric_text
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPTIONS: dict[str, Check] = {"test": OneOf(tuple(statistics.TESTS)), **statistics.CHECKS}


class Values(NamedTuple):
    """A metric's values, as they are; `better` has them the other way round where smaller is better."""

    values: Floats
    series: list[str]
    detectors: list[str]
    metric: str
    record: Metric | None

    @property
    def sign(self) -> float:
        """-1 if smaller values are better, else 1."""
        return 1.0 if self.record is None else self.record.sign

    @property
    def better(self) -> Floats:
        """Values of which larger is better."""
        return self.sign * self.values

    def ranked(self, **options: Any) -> tuple[statistics.Ranking, list[str], list[str]]:
        """Rank the detectors that have values: the ranking, their names, and what is to be said of the others."""
        if not statistics.with_values(self.values):
            raise InvalidInputError(
                f"no detector has a value of {self.metric or 'the metric'}: there is nothing to rank"
            )
        found = statistics.Ranking(self.better, **options)
        if not found.means.series:
            raise InvalidInputError('no series has values of all detectors: use missing="worst"')
        left = [style.shortened(name, 22) for j, name in enumerate(self.detectors) if j not in found.kept]
        return found, [self.detectors[j] for j in found.kept], [f"without any value: {named(left, 3)}"] * bool(left)

    @property
    def label(self) -> str:
        """The metric as figures name it."""
        return next(iter(style.looks([self.metric]).values())).label if self.metric else "value"


def _values(result: Any, metric: AnyMetric | None) -> Values:
    """Series by detectors, of whatever was given."""
    if isinstance(result, Comparison):
        name = result.metrics[0] if metric is None else find_metric(metric, result.metrics, "this comparison")
        record = next((one for one in result.made.metrics if str(one) == name), None)
        return Values(result.values(name), result.series, result.detectors, name, record)
    if isinstance(result, Result):
        raise InvalidInputError("this result has no values of several detectors: give what te.compare returned")
    record = None if metric is None else parse_metric(metric_text(metric))
    frame = hasattr(result, "columns") and hasattr(result, "index")
    if not frame and not (isinstance(result, Mapping) and result):
        what = type(result).__name__
        raise InvalidInputError(f"give what te.compare returned, a DataFrame or a mapping of values, not a {what}")
    try:
        found = require("pandas", extra="all").DataFrame(result)
        table = found.to_numpy(np.float64)
    except ValueError:
        raise InvalidInputError("every detector must have one value for each of the same series") from None
    return Values(table, [*map(str, found.index)], [*map(str, found.columns)], str(record or ""), record)


@style.styled
def critical_difference(
    result: Any,
    ax: Axes | None = None,
    *,
    metric: AnyMetric | None = None,
    test: Literal["wilcoxon-holm", "nemenyi"] = "wilcoxon-holm",
    alpha: float = 0.05,
    missing: statistics.Missing = "skip",
) -> Axes:
    """Mean ranks on a line, with bars over detectors that are not significantly different (Demsar's diagram).

    Parameters
    ----------
    result : Comparison, DataFrame or mapping
        What `te.compare` returned, or values by series and detector.
    ax : Axes, optional
        Where to draw; else on new axes.
    metric : str, optional
        Which of the comparison; the first by default. Of plain values, whose direction to assume (higher is better).
    test : {"wilcoxon-holm", "nemenyi"}
        The test of two detectors.
    alpha : float, default=0.05
        Level of the test.
    missing : {"skip", "worst", "error"}
        Leave out series on which a detector has no value, rank it last there, or refuse.

    Examples
    --------
    >>> import numpy as np
    >>> from tsadeval import plot
    >>> values = np.random.default_rng(0).random((20, 4)) + [0.0, 0.1, 0.4, 0.8]
    >>> ax = plot.critical_difference(dict(zip(["a", "b", "c", "d"], values.T)))
    >>> [text.get_text() for text in ax.texts if text.get_text().startswith("d ")]
    ['d  1.35']
    """
    check_parameters("critical_difference", _OPTIONS, {"test": test, "alpha": alpha})
    given = _values(result, metric)
    ranking, names, left_out = given.ranked(missing=missing, test=test, draws=1)
    k = len(names)
    if k < (3 if test == "nemenyi" else 2):
        raise InvalidInputError(f"a diagram needs several detectors, but there is only {k}")
    found, groups = ranking.means, ranking.groups(alpha)
    if found.series < 2:
        raise InvalidInputError("all detectors have values on one series only: there is nothing to test")
    none = "too many detectors to test every two" if ranking.many else "all neighbours differ"
    bars = "bars: not significantly different" if groups else none
    notes = [f"{given.label} on {_of_all(ranking)}", f"{bars} ({ranking.tests.short}, {alpha:g})", *left_out]
    if test == "nemenyi":
        notes.append(f"critical difference {statistics.critical_difference(k, found.series, alpha):.2f}")
    if needed := ranking.tests.needed(alpha):
        notes.append(f"too few series: none differ significantly on fewer than {needed}")
    ax = style.new_axes(ax, 3.4, (48 + 11 * ((k + 1) // 2) + 5 * len(groups) + 9 * len(notes)) / 72)
    _diagram(ax, names, found.mean, groups, notes)
    return ax


def _diagram(
    ax: Axes, names: Sequence[str], mean: Floats, groups: Sequence[Sequence[int]], notes: Sequence[str]
) -> None:
    """All of it inside the axes, in points from the top, so that text fits whatever their size."""
    k = len(names)
    ax.axis("off")
    width, height = style.lay_out(ax)
    order = np.argsort(mean, kind="stable")
    left, right = order[: (k + 1) // 2], order[(k + 1) // 2 :][::-1]
    letters = max(6, int(0.38 * width / style.LETTER) - 5)
    texts = [f"{style.shortened(names[i], letters)}  {mean[i]:.2f}" for i in range(k)]
    rooms = [style.LETTER * max((len(texts[i]) for i in side), default=0) + 4 for side in (left, right)]
    low, high = rooms[0], max(width - rooms[1], rooms[0] + 0.2 * width)

    def x(rank: float) -> float:
        return float(low + (high - low) * (rank - 1) / (k - 1))

    scale = 16.0
    first = scale + 6 + 5 * len(groups)
    step = max(6.0, min(11.0, (height - first - 6 - 9 * len(notes)) / len(left)))
    ax.set(xlim=(0, width), ylim=(max(height, first + step * len(left) + 9 * len(notes)), 0))
    ax.plot([low, high], [scale, scale], color="black", lw=0.8, clip_on=False)
    for rank in _ticks(k, int((high - low) / 12)):
        ax.plot([x(rank)] * 2, [scale - 3, scale], color="black", lw=0.8, clip_on=False)
        ax.text(x(rank), scale - 4, f"{rank:g}", ha="center", va="bottom", fontsize=style.SMALL)
    for i, group in enumerate(groups):
        y = scale + 6 + 5 * i
        ends = [x(mean[j]) for j in group]
        ax.plot([min(ends) - 2, max(ends) + 2], [y, y], color="black", lw=2.2, solid_capstyle="butt", clip_on=False)
    for side, edge, away, align in ((left, low, -1, "right"), (right, high, 1, "left")):
        for i, j in enumerate(side.tolist()):
            y = first + step * (i + 0.5)
            at = x(mean[j])
            ax.plot([at, at, edge + away], [scale, y, y], color=style.GREY, lw=0.6, clip_on=False)
            ax.text(edge + 3 * away, y, texts[j], ha=align, va="center", fontsize=style.SMALL)
    for i, note in enumerate(notes):
        ax.text(0, first + step * len(left) + 6 + 9 * i, note, va="top", fontsize=style.SMALL, color=style.GREY)


def _ticks(k: int, most: int = 9) -> list[float]:
    """Ranks to name: the first, the last, and some between at equal steps."""
    step = max(1, math.ceil((k - 1) / max(most - 1, 1)))
    between = [rank for rank in range(1, k, step) if k - rank >= step]
    return [float(rank) for rank in [*between, k]]


@style.styled
def rank_distributions(
    result: Any, ax: Axes | None = None, *, metric: AnyMetric | None = None, missing: statistics.Missing = "skip"
) -> Axes:
    """How often each detector has each rank, and its mean rank with a 95 % bootstrap interval over series.

    The area of a square is the share of series; the best mean rank is on top.

    Examples
    --------
    >>> from tsadeval import plot
    >>> ax = plot.rank_distributions({"good": [0.9, 0.8, 0.7], "poor": [0.1, 0.2, 0.9]}, metric="auc_roc")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['good', 'poor']
    """
    given = _values(result, metric)
    ranking, names, left_out = given.ranked(missing=missing)
    found = ranking.means
    each = statistics.ranks(statistics.whole_rows(ranking.values))
    k = len(names)
    ax = style.new_axes(ax, 3.4, 0.8 + 0.17 * k)
    order = np.argsort(found.mean, kind="stable")
    cell = 72 / ax.figure.dpi * min(ax.bbox.height / (k + 0.4), ax.bbox.width / (k + 0.4))
    color = next(iter(style.tints(["detector"]).values())).color
    for place, j in enumerate(order):
        at, counts = np.unique(each[:, j], return_counts=True)
        sizes = (0.92 * cell) ** 2 * counts / found.series
        ax.scatter(at, np.full(len(at), place), s=sizes, marker="s", color=color, alpha=0.35, lw=0)
        ax.plot([found.low[j], found.high[j]], [place, place], color="black", lw=1.4, solid_capstyle="butt")
        ax.plot([found.mean[j]], [place], "D", color="black", markersize=3)
    style.name_rows(ax, range(k), [style.shortened(names[j], 22) for j in order])
    xlabel = "\n".join([f"rank by {given.label} on {_of_all(ranking)}", *left_out])
    ax.set(ylim=(k - 0.4, -0.6), xlim=(0.4, k + 0.6), xticks=_ticks(k), xlabel=xlabel)
    return ax


def _of_all(ranking: statistics.Ranking) -> str:
    """So many series, and of how many where others were left out since a detector has no value there."""
    count, known = ranking.means.series, int((~np.isnan(ranking.values)).any(axis=1).sum())
    return f"{count} series" if count == known else f"{count} of {known} series"


@style.styled
def metric_agreement(
    result: Any, ax: Axes | None = None, *, metrics: Sequence[str] | None = None, missing: statistics.Missing = "skip"
) -> Axes:
    """Plot how alike metrics order the detectors: Spearman correlation of the mean ranks by every two metrics.

    Examples
    --------
    >>> import tsadeval as te
    >>> y = [0, 0, 1, 1, 0, 0, 0, 0]
    >>> scores = {"a": [1, 2, 9, 8, 1, 3, 2, 1], "b": [5, 6, 4, 7, 5, 5, 6, 5], "c": [1, 2, 3, 4, 5, 6, 7, 8]}
    >>> ax = te.plot.metric_agreement(te.compare(scores, y, ["cce", "auc_roc", "auc_pr"]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['CCE', 'AUC-ROC', 'AUC-PR']
    """
    if not isinstance(result, Comparison):
        raise InvalidInputError("give what te.compare returned: agreement needs values of several metrics")
    names = result.metrics
    if metrics is not None:
        names = [find_metric(metric, names, "this comparison") for metric in metrics]
    if len(names) < 2:
        raise InvalidParameterError(f"agreement needs at least 2 metrics, but there are {len(names)}")
    tables = (statistics.fill_missing(_values(result, name).better, missing) for name in names)
    means = [statistics.mean_ranks(table, draws=1).mean for table in tables]
    ax = style.correlation_map(ax, statistics.agreement(np.array(means)), names)
    ax.set_title("Spearman of mean ranks")
    return ax


NAMED_SERIES = 16  # that have their names below; of more, data sets have


def _order_of_series(given: Values, sort: bool) -> tuple[dict[str, int], list[int]]:
    """Return how many series each data set has, and the series by data set, in these by their means where asked for."""
    sets = [name.rpartition("/")[0] for name in given.series]
    counts = Counter(sets)
    means = [finite_mean(row) for row in given.better]
    place = {name: i for i, name in enumerate(counts)}
    order = range(len(sets))
    return counts, sorted(order, key=lambda i: (place[sets[i]], -np.nan_to_num(means[i], nan=-np.inf) if sort else 0))


def _borders(ax: Axes, sets: Mapping[str, int], named: bool) -> None:
    """Draw lines between data sets, with their names below where the series have none."""
    ends = np.cumsum(list(sets.values())) - 0.5
    for end in ends[:-1]:
        ax.axvline(end, color="white", lw=1.2)
    if named and len(sets) > 1:
        room = style.width_of(ax) / (ends[-1] + 0.5)
        names = [style.shortened(name or "others", 14) for name in sets]
        upright = any(style.LETTER * len(name) > room * size for name, size in zip(names, sets.values(), strict=True))
        ax.set_xticks(ends - np.array(list(sets.values())) / 2, names, rotation=90 if upright else 0)


@style.styled
def values_by_series(result: Any, ax: Axes | None = None, *, metric: AnyMetric | None = None) -> Axes:
    """Every value of a metric: detectors from the best mean downwards, series from left to right.

    The best value of each series has a dot; a missing value is crossed out. Series whose names have a folder
    ("smd/2-1") stand together, with lines between the folders; of more than 16, the ones with the best mean come first.

    Examples
    --------
    >>> from tsadeval import plot
    >>> ax = plot.values_by_series({"good": [0.9, 0.8], "poor": [0.1, float("nan")]}, metric="f1")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['good', 'poor']
    """
    given = _values(result, metric)
    values, better = given.values, given.better
    known = np.isfinite(values)
    if not known.any():
        raise InvalidInputError("there is no finite value to draw")
    means = [finite_mean(column) for column in better.T]
    order = np.argsort(-np.array(means), kind="stable")  # a detector without any value is last
    sets, across = _order_of_series(given, len(values) > NAMED_SERIES)
    values, better, known = values[across][:, order].T, better[across][:, order].T, known[across][:, order].T
    k, n = values.shape
    ax = style.new_axes(ax, 3.6, 0.8 + 0.17 * k)
    detectors = [style.shortened(given.detectors[j], 22) for j in order]
    series = [style.shortened(given.series[i], 14) for i in across]
    shown, colors = np.where(known, values, math.nan), "cividis_r" if given.sign < 0 else "cividis"
    limits = (math.nan, math.nan) if given.record is None else given.record.range
    if not np.isfinite(limits).all():
        limits = float(values[known].min()), float(values[known].max())
    image = style.heat_map(ax, shown, detectors, series if n <= NAMED_SERIES else [], limits=limits, colors=colors)
    top = np.where(known, better, -math.inf)
    rows, columns = np.nonzero((top == top.max(axis=0)) & known)
    cell = 72 / ax.figure.dpi * min(ax.bbox.width / n, ax.bbox.height / k)
    dots = bool(0.6 * cell >= 0.8)  # smaller ones are not seen
    if dots:
        ax.plot(columns, rows, "o", color="#D55E00", markersize=min(3.0, 0.6 * cell), markeredgewidth=0)
    _borders(ax, sets, n > NAMED_SERIES)
    rows, columns = np.nonzero(~known)
    ax.plot(columns, rows, "x", color=style.GREY, markersize=min(3.0, 0.6 * cell), markeredgewidth=0.5)
    marks = ["dot: first"] * (k > 1 and dots) + ["cross: no value"] * bool(len(rows))
    ax.set_xlabel("; ".join([f"{n} series" if n > 1 else "series", *marks]))
    style.color_bar(ax, image, given.label)
    return ax
