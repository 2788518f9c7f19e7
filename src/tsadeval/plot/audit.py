"""Figures of an audit: gameability, agreement, and the series on which a metric is fooled most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tsadeval.core.inputs import Floats
from tsadeval.core.metric import metric_labels
from tsadeval.core.selection import AnyMetric
from tsadeval.errors import InvalidInputError
from tsadeval.plot.style import (
    GREY,
    bars,
    correlation_map,
    dot_rows,
    legend_above,
    name_rows,
    new_axes,
    on_unit_range,
    styled,
)
from tsadeval.rankeval.suites.adversaries import Target
from tsadeval.rankeval.suites.audit import stream
from tsadeval.rankeval.suites.audit_series import AuditSeries
from tsadeval.rankeval.suites.audit_table import (
    AgreementTable,
    AnyAdversary,
    AuditResult,
    AuditTable,
    choose_adversaries,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = {"gameability": "without skill", "search": "best of many attempts", "one_liners": "one line of code"}
MARKS = (("#B03A00", "o"), ("#E69F00", "s"), ("#56B4E9", "D"))


@styled
def gameability(result: AuditResult | AuditTable, ax: Axes | None = None) -> Axes:
    """The share of series on which adversaries reach 90 % of the best detector, metric by metric."""
    table = result.table() if isinstance(result, AuditResult) else result
    labels = metric_labels(list(table))
    ax = new_axes(ax, 4.6, 0.9 + 0.2 * len(table))
    values = {words: [row[column] for row in table.rows] for column, words in COLUMNS.items()}
    dot_rows(ax, [labels[name] for name in table], values, MARKS, apart=0.45)
    ax.set(xlim=(-0.02, 1.02), xlabel="share of series on which it reaches 90 % of the best detector")
    legend_above(ax)
    return ax


@styled
def agreement(table: AgreementTable, ax: Axes | None = None) -> Axes:
    """Spearman's correlation of the detectors' mean ranks between metrics, as a picture of the matrix."""
    names = table.metrics
    return correlation_map(ax, np.array([[table.between(one, other) for other in names] for one in names]), names)


@styled
def fooled(
    result: AuditResult,
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
    result: AuditResult, metric: AnyMetric, other: AnyMetric, series: Sequence[AuditSeries], ax: Axes | None = None
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
    found = {one.name: one for one in series}
    if name not in found:
        raise InvalidInputError(f"series must be those of the audit, but {name!r} is not among them")
    return found[name]


def _strips(chosen: AuditSeries, scores: Sequence[tuple[str, Floats]], title: str, ax: Axes | None) -> Axes:
    """The series and two scores under each other, with the events."""
    lines = [("series", chosen.values)] if chosen.values is not None else []
    lines += scores
    ax = new_axes(ax, 6.0, 0.7 + 0.5 * len(lines))
    bottoms = [1.2 * (len(lines) - 1 - i) for i in range(len(lines))]
    events = chosen.events
    bars(ax, events.starts, events.lengths, -0.1, bottoms[0] + 1.2)
    for (_, values), bottom, color in zip(lines, bottoms, ("black", "#0072B2", "#B03A00")[-len(lines) :], strict=True):
        ax.plot(bottom + on_unit_range(values), color=color, linewidth=0.5)
    name_rows(ax, [bottom + 0.5 for bottom in bottoms], [name for name, _ in lines])
    ax.set(xlim=(-0.5, events.n - 0.5), ylim=(-0.1, bottoms[0] + 1.1))
    ax.set_title(title, color=GREY)
    return ax
