"""Figures of an audit: gameability, agreement, and the series on which a metric is fooled most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import metric_labels
from tsadeval.core.selection import AnyMetric
from tsadeval.errors import InvalidInputError
from tsadeval.plot.style import EVENT, GREY, SMALL, grid, legend_above, new_axes, styled, width_of
from tsadeval.rankeval.suite import SuiteResult, SuiteTable
from tsadeval.rankeval.suites.adversaries import AnyAdversary, Target, choose_adversaries
from tsadeval.rankeval.suites.audit import stream
from tsadeval.rankeval.suites.audit_series import AuditSeries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = {"gameability": "without skill", "search": "best of many attempts", "one_liners": "one line of code"}
COLORS = ("#B03A00", "#E69F00", "#56B4E9")


@styled
def gameability(result: SuiteResult | SuiteTable, ax: Axes | None = None) -> Axes:
    """The share of series on which adversaries reach 90 % of the best detector, metric by metric."""
    table = result.table() if isinstance(result, SuiteResult) else result
    labels = metric_labels(list(table))
    ax = new_axes(ax, 4.6, 0.9 + 0.2 * len(table))
    places = -np.arange(len(table), dtype=np.float64)
    for (column, words), color, marker in zip(COLUMNS.items(), COLORS, "osD", strict=True):
        values = [row[column] for row in table.rows]
        ax.plot(values, places, linestyle="none", marker=marker, color=color, label=words)
    ax.set_yticks(places, [labels[name] for name in table])
    ax.tick_params(axis="y", length=0)
    grid(ax, "y")
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("share of series on which it reaches 90 % of the best detector")
    legend_above(ax)
    return ax


@styled
def agreement(table: SuiteTable, ax: Axes | None = None) -> Axes:
    """Spearman's correlation of the detectors' mean ranks between metrics, as a picture of the matrix."""
    names, n = table.metrics, len(table.metrics)
    labels = metric_labels(names)
    matrix = np.array([[table.between(one, other) for other in names] for one in names])
    ax = new_axes(ax, 1.8 + 0.28 * n, 1.4 + 0.26 * n)
    ax.imshow(matrix, cmap=require("matplotlib", extra="all").colormaps["RdBu"], vmin=-1, vmax=1, aspect="auto")
    for i in range(n if width_of(ax) / n >= 14 else 0):  # in smaller cells numbers would overlap
        for j in range(n):
            color = "white" if abs(matrix[i, j]) > 0.6 else "black"
            ax.text(j, i, f"{matrix[i, j]:.2f}", ha="center", va="center", fontsize=5.5, color=color)
    ax.set_xticks(range(n), [labels[name] for name in names], rotation=60, ha="right")
    ax.set_yticks(range(n), [labels[name] for name in names])
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


@styled
def fooled(
    result: SuiteResult,
    metric: AnyMetric,
    series: Sequence[AuditSeries],
    ax: Axes | None = None,
    *,
    adversaries: Iterable[AnyAdversary] = (),
) -> Axes:
    """The series on which scorers without skill come closest to the best detector: values, both scores, both values.

    `series` are those of the audit, as `read_series` of `tsadeval.rankeval.suites.audit_series` gives them;
    `adversaries` are your own, as they were given to the audit.
    """
    example = result.example(metric)
    chosen = _named(series, example["series"])
    tried = {one.name: one for one in choose_adversaries(adversaries)}
    name = example["adversary"]
    if name not in tried:
        raise InvalidInputError(f"adversaries must have {name!r}, which comes closest on {chosen.name}")
    random = stream(chosen.name, name, result.plan.seed)
    scores = tried[name].checked(Target(chosen.values, chosen.events), random)
    label = metric_labels([example["metric"]])[example["metric"]]
    lines = [
        (f"{example['detector']}\n{label} {example['detector_value']:.3g}", chosen.detectors[example["detector"]]),
        (f"{name}\n{label} {example['adversary_value']:.3g}", scores),
    ]
    return _strips(chosen, lines, f"{label}: {chosen.name}", ax)


@styled
def disagreement(
    result: SuiteResult, metric: AnyMetric, other: AnyMetric, series: Sequence[AuditSeries], ax: Axes | None = None
) -> Axes:
    """The series on which two metrics disagree most: values, and the two detectors of which each prefers another.

    `series` are those of the audit, as `tsadeval.rankeval.suites.audit_series.read_series` gives them.
    """
    found = result.disagreement(metric, other)
    chosen = _named(series, found["series"])
    names = (found["metric"], found["other"])
    labels = metric_labels(names)
    lines = []
    for role in ("first", "second"):
        values = zip(names, found[f"{role}_values"], strict=True)
        texts = [f"{labels[name]} {value:.3g}" for name, value in values]
        lines.append(("\n".join([found[role], *texts]), chosen.detectors[found[role]]))
    about = f"{' against '.join(labels.values())}: {chosen.name}, {100 * found['flips']:.0f} % of pairs opposite"
    return _strips(chosen, lines, about, ax)


def _named(series: Sequence[AuditSeries], name: str) -> AuditSeries:
    for one in series:
        if one.name == name:
            return one
    raise InvalidInputError(f"series must be those of the audit, but {name!r} is not among them")


def _strips(chosen: AuditSeries, scores: Sequence[tuple[str, Floats]], title: str, ax: Axes | None) -> Axes:
    """The series and two scores under each other, with the events."""
    lines: list[tuple[str, Floats, str]] = [
        (name, values, color) for (name, values), color in zip(scores, ("#0072B2", "#B03A00"), strict=True)
    ]
    if chosen.values is not None:
        lines.insert(0, ("series", chosen.values, "black"))
    ax = new_axes(ax, 6.0, 0.7 + 0.5 * len(lines))
    events = chosen.events
    bottoms = [1.2 * (len(lines) - 1 - i) for i in range(len(lines))]
    for a, b in zip(events.starts.tolist(), events.stops.tolist(), strict=True):
        ax.axvspan(a - 0.5, b - 0.5, color=EVENT, linewidth=0)
    for (_, values, color), bottom in zip(lines, bottoms, strict=True):
        ax.plot(bottom + _scaled(np.nan_to_num(values)), color=color, linewidth=0.5)
    ax.set_yticks([bottom + 0.5 for bottom in bottoms], [name for name, _, _ in lines], fontsize=SMALL)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlim(-0.5, events.n - 0.5)
    ax.set_title(title, color=GREY)
    return ax


def _scaled(values: Floats) -> Floats:
    low, high = float(values.min()), float(values.max())
    return np.asarray((values - low) / ((high - low) or 1.0))
