"""Figures of the suites `hard`, `audit` and `selection`: what a metric misjudges, gameability, wrong choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval.comparison.statistics import ranks
from tsadeval.core.inputs import Bools, Events, Floats
from tsadeval.core.metric import metric_labels
from tsadeval.core.results import Row
from tsadeval.core.selection import AnyMetric, find_metric
from tsadeval.errors import InvalidInputError
from tsadeval.plot import style
from tsadeval.rankeval.suite import Explanation, SuiteResult, SuiteTable
from tsadeval.rankeval.suites.audit import AnyAdversary, Target, choose_adversaries, stream
from tsadeval.rankeval.suites.hard_explanation import roles_of
from tsadeval.rankeval.suites.hard_task import Case
from tsadeval.scores.scores import SeriesScores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 8  # metrics that can be told apart in one figure
WIDTH = 1200  # points of a series that are shown
COLORS = ("#B03A00", "#0072B2")  # the worse model, the better one
BOTTOM, TOP, APART = -0.12, 2.35, 1.25  # ends of the vertical axis, and from one series to the other
LEGEND = "shaded: event; height: rank of the score, upper ranks stretched"
MARKS = (
    ("#D55E00", "o"), ("#0072B2", "D"), ("#009E73", "s"), ("#000000", "^"),
    ("#CC79A7", "v"), ("#E69F00", "P"), ("#56B4E9", "<"), ("#882255", "X"),
)  # fmt: skip


@style.styled
def hard_tasks(
    result: SuiteResult | SuiteTable, ax: Axes | None = None, *, metrics: Sequence[AnyMetric] | None = None
) -> Axes:
    """Draw the score of metrics on every task, a dot each; parts of the index stand under each other.

    Parameters
    ----------
    result : SuiteResult or its table
    ax : Axes, optional
    metrics : sequence of str or functions
        As in the table, or as given to the run; by default your own metrics and the best others, eight in all.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("hard", ["ears", "auc_roc"], tasks=["delay", "glitch"], repeats=1)
    >>> ax = te.plot.hard_tasks(result)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['delay', 'glitch']
    """
    table = result.table() if isinstance(result, SuiteResult) else result
    rows = {row["name"]: row for row in table.rows}
    values = {
        f"{name} ({rows[name]['value']:.2f})": [rows[name][task] for task in table.tasks]
        for name in _chosen(table, metrics)
    }
    ax = style.new_axes(ax, 6.0, 1.4 + 0.24 * len(table.tasks))
    style.dot_rows(ax, table.tasks, values, MARKS, apart=0.6)
    for value in (0.0, 1.0):
        ax.axvline(value, color=style.GREY, linewidth=0.5, zorder=0)
    ax.set_xlabel("score on the task (1 is perfect, 0 is no order)")
    style.legend_above(ax, title="metric (index)")
    return ax


def _chosen(table: SuiteTable, metrics: Sequence[AnyMetric] | None) -> list[str]:
    """Return the metrics that were named; else a user's own, which the figures are for, and the best others."""
    if metrics is None:
        rows = sorted(table.rows, key=lambda row: not row["own"])
        return [row["name"] for row in rows][:MOST]
    return [find_metric(metric, list(table)) for metric in metrics]


@style.styled
def hard_sensitivity(
    result: SuiteResult, ax: Axes | None = None, *, metrics: Sequence[AnyMetric] | None = None
) -> Axes:
    """How far each nuisance of the controls moves the value of metrics, a dot each; 0 is not at all.

    `result` needs at least one control; `ax` and `metrics` are as for `hard_tasks`.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("hard", ["ears", "cce"], tasks=["glitch", "gaps"], repeats=1)
    >>> ax = te.plot.hard_sensitivity(result)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['glitch: 1 wild', 'glitch: 2 wild', 'glitch: 3 wild', 'gaps: cut']
    """
    found = {(f"{row['task']}: {row['nuisance']}", row["name"]): row["value"] for row in result.sensitivity().rows}
    if not found:
        raise InvalidInputError("result has no control, so no nuisance: run the suite with tasks='control' or all")
    nuisances = list(dict.fromkeys(nuisance for nuisance, _ in found))
    values = {
        name: [min(found[nuisance, name], 1.0) for nuisance in nuisances] for name in _chosen(result.table(), metrics)
    }
    ax = style.new_axes(ax, 6.0, 1.4 + 0.24 * len(nuisances))
    style.dot_rows(ax, nuisances, values, MARKS, apart=0.6)
    ax.set(xlim=(-0.02, 1.02), xlabel="change of the value, in units of the detector's skill (1: as much or more)")
    style.legend_above(ax, title="metric")
    return ax


@style.styled
def worst_pair(explanation: Explanation, row: Row, ax: Axes | None = None) -> Axes:
    """Two cases that a metric judged wrongly: labels (shaded where there is an event), both scores, both values.

    Beside each stands what the metric gave it and what the metric beside it (EARS by default) gave it. Of a metric of
    predictions, bars below the scores are the alarms at the rule of the run.

    Scores are drawn by rank, the upper ones spread out, so that neither scale nor outliers matter; the range of the
    scores is printed. A stretch with an event of both is shown, the one where the two cases differ most, or all where
    there is none. Where the series differ in length, both are drawn over the same share of their time.
    """
    ax = _pair(explanation, row, ax)
    ax.set_xlabel(f"{ax.get_xlabel()}\n{_legend(explanation)}", loc="left")
    return ax


def _legend(explanation: Explanation) -> str:
    rule = explanation.entry.rule
    alarms = f"; bars below: alarms at {'the best threshold' if rule == 'best' else rule}"
    return LEGEND if rule is None else f"{LEGEND}{alarms}"


def _pair(explanation: Explanation, row: Row, ax: Axes | None) -> Axes:
    cases, alarms = explanation.cases(row), explanation.alarms(row)
    beside = [_about(explanation, row, i, case) for i, case in enumerate(cases)]
    ax = style.new_axes(ax, 6.0, _height(beside))
    n, (start, stop) = len(cases[0].scores), _stretch(*cases)
    for i, case in enumerate(cases):
        bottom = APART * (1 - i)
        scale = n / len(case.scores)
        shown = slice(int(start / scale), int(np.ceil(stop / scale)))
        seen = {"edgecolor": style.EVENT, "lw": 0.6}  # with an edge, so that one point is seen
        _runs(ax, case.labels[shown], shown.start, scale, bottom, 1.0, color=style.EVENT, **seen)
        heights = bottom + _unit(case.scores)[shown]
        ax.plot(scale * np.arange(shown.start, shown.start + len(heights)), heights, color=COLORS[i], linewidth=0.7)
        if alarms is not None:
            edge = {"edgecolor": COLORS[i], "lw": 0.4, "label": "alarms", "gid": "alarms"}
            _runs(ax, alarms[i][shown], shown.start, scale, bottom - 0.09, 0.06, color=COLORS[i], **edge)
        place = (bottom + 0.5 - BOTTOM) / (TOP - BOTTOM)
        ax.text(1.01, place, beside[i], transform=ax.transAxes, va="center", fontsize=style.SMALL, color=COLORS[i])
    style.name_rows(ax, [], [])
    scaled = ", scaled to the length of the first series" if len(cases[1].scores) != n else ""
    ax.set(xlim=(start - 0.5, stop - 0.5), ylim=(BOTTOM, TOP), xlabel=f"time{scaled} (repeat {row['repeat']})")
    return ax


def _runs(
    ax: Axes, mask: Bools, first: int, scale: float, bottom: float, height: float, *, color: str, **how: Any
) -> None:
    """Draw runs of a stretch that begins at the point `first`, in units of `scale` points."""
    events = Events.of(mask)
    starts = scale * (first + events.starts - 0.5) + 0.5
    style.bars(ax, starts, scale * events.lengths, bottom, height, color, **how)


def _height(texts: Sequence[str]) -> float:
    """Inches of a figure in which the texts beside the two series do not touch."""
    lines = max(text.count("\n") + 1 for text in texts)
    apart = (lines + 0.7) * 1.25 * style.SMALL / 72  # from the middle of one text to that of the other
    return max(1.8, 0.75 + apart * (TOP - BOTTOM) / APART)


def _about(explanation: Explanation, row: Row, place: int, case: Case) -> str:
    """Write what stands beside a series: its role, the value of the metric, the range of the scores."""
    side = ("worse", "better")[place]
    words = f"{roles_of(row)[place]}: {row[f'{side}_is']}"
    values = [f"{explanation.entry.metric.label} {row[f'{side}_value']:.4g}"]
    if row["beside"]:
        values.append(f"{metric_labels([row['beside']])[row['beside']]} {row[f'beside_{side}']:.4g}")
    ends = f"scores {case.scores.min():.3g} to {case.scores.max():.3g}"
    return "\n".join([*style.filled(words, 34).splitlines(), ", ".join(values), ends])


def _unit(scores: Floats) -> Floats:
    """Ranks from 0 to 1: what is drawn does not depend on the scale of the scores, nor on one wild value."""
    below = ranks(-scores[None])[0] - 1  # equal scores share their mean rank
    return np.asarray((below / max(len(scores) - 1, 1)) ** 4)  # upper scores are what alarms are made of


def _stretch(one: Case, other: Case) -> tuple[int, int]:
    """Where to begin and end: a stretch in which an event of both begins or ends, and where they differ most.

    Where their events are too far from each other, the whole series.
    """
    n, alike = len(one.scores), len(one.scores) == len(other.scores)
    if n <= WIDTH:
        return 0, n
    away = np.abs(_unit(one.scores) - _unit(other.scores)) + (one.labels != other.labels) if alike else np.zeros(n)
    borders = [np.diff(case.labels, append=case.labels[-1]) != 0 for case in (one, other)[: 1 + alike]]
    differ = _within(away, 0, WIDTH)
    for edge in (WIDTH // 10, 0):  # well inside, where there is one
        seen = np.all([_within(known, edge, WIDTH - edge) > 0 for known in borders], axis=0)
        if seen.any():
            start = int(np.argmax(np.where(seen, differ, -1.0)))
            return start, start + WIDTH
    return 0, n


def _within(values: Floats | Bools, low: int, high: int) -> Floats:
    """Sum from `low` to `high` of every stretch of WIDTH points."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    starts = np.arange(len(values) - WIDTH + 1)
    return np.asarray(sums[starts + high] - sums[starts + low])


def pairs_of_task(explanation: Explanation, rows: Sequence[Row]) -> Figure:
    """Draw the pairs of one task under each other."""
    figure = style.new_figure(7.6, 0.85 + 1.7 * len(rows))
    for ax, row in zip(figure.subplots(len(rows), 1, squeeze=False)[:, 0], rows, strict=True):
        _pair(explanation, row, ax)
    figure.supxlabel(_legend(explanation), x=0.01, ha="left", fontsize=style.SMALL, color=style.GREY)
    first = rows[0]
    about = [
        f"{first['task']}, score {first['quality']:.2f}: {first['summary']}",
        *style.filled(first["meaning"], 130).splitlines(),
    ]
    figure.suptitle("\n".join(about), x=0.01, ha="left", fontsize=8)
    return figure


# Gameability, agreement, and the series on which a metric is fooled most.

# Of each column the words, and how its dots look.
ADVERSARIES = {
    "gameability": ("without skill", ("#B03A00", "o")),
    "search": ("best of many attempts", ("#E69F00", "s")),
    "one_liners": ("one line of code", ("#56B4E9", "D")),
}


@style.styled
def gameability(result: SuiteResult | SuiteTable, ax: Axes | None = None) -> Axes:
    """Draw the share of series on which adversaries reach 90 % of the best detector, metric by metric."""
    table = result.table() if isinstance(result, SuiteResult) else result
    labels = metric_labels(list(table))
    ax = style.new_axes(ax, 4.6, 0.9 + 0.2 * len(table))
    values = {words: [row[column] for row in table.rows] for column, (words, _) in ADVERSARIES.items()}
    style.dot_rows(ax, [labels[name] for name in table], values, [mark for _, mark in ADVERSARIES.values()], apart=0.45)
    ax.set(xlim=(-0.02, 1.02), xlabel="share of series on which it reaches 90 % of the best detector")
    style.legend_above(ax)
    return ax


@style.styled
def agreement(table: SuiteTable, ax: Axes | None = None) -> Axes:
    """Spearman's correlation of the detectors' mean ranks between metrics, as a picture of the matrix."""
    names = table.metrics
    return style.correlation_map(ax, np.array([[table.between(one, other) for other in names] for one in names]), names)


@style.styled
def fooled(
    result: SuiteResult,
    metric: AnyMetric,
    series: Any,
    ax: Axes | None = None,
    *,
    adversaries: Iterable[AnyAdversary] = (),
) -> Axes:
    """Draw the series on which scorers without skill come closest to the best detector: values and both scores.

    `adversaries` are your own, as they were given to the audit.
    """
    example = result.example(metric)
    chosen, name = _named(series_of(result.plan, series), example["series"]), example["adversary"]
    tried = {one.name: one for one in choose_adversaries(adversaries)}
    if name not in tried:
        raise InvalidInputError(f"adversaries must have {name!r}, which comes closest on {chosen.name}")
    random = stream(chosen.name, name, result.plan.seed)
    scores = tried[name].checked(Target(chosen.values, Events.of(chosen.y_true)), random)
    label = metric_labels([example["metric"]])[example["metric"]]
    both = (("detector", chosen.detectors[example["detector"]].given.y_score), ("adversary", scores))
    lines = [(f"{example[role]}\n{label} {example[f'{role}_value']:.3g}", drawn) for role, drawn in both]
    return _strips(chosen, lines, f"{label}: {chosen.name}", ax)


@style.styled
def disagreement(result: SuiteResult, metric: AnyMetric, other: AnyMetric, series: Any, ax: Axes | None = None) -> Axes:
    """Draw the series on which two metrics disagree most: values, and the detectors that each prefers."""
    found = result.disagreement(metric, other)
    chosen = _named(series_of(result.plan, series), found["series"])
    labels = metric_labels((found["metric"], found["other"]))
    lines = []
    for role in ("first", "second"):
        values = zip(labels.values(), found[f"{role}_values"], strict=True)
        texts = [f"{label} {value:.3g}" for label, value in values]
        lines.append(("\n".join([found[role], *texts]), chosen.detectors[found[role]].given.y_score))
    about = f"{' against '.join(labels.values())}: {chosen.name}, {100 * found['flips']:.0f} % of pairs opposite"
    return _strips(chosen, lines, about, ax)


@style.styled
def selection(result: SuiteResult | SuiteTable, ax: Axes | None = None) -> Axes:
    """Draw what choosing by each metric gains between two detectors, with its 95 % interval."""
    rows = (result.table() if isinstance(result, SuiteResult) else result).rows
    ax = style.new_axes(ax, 4.6, 0.9 + 0.2 * len(rows))
    labels = metric_labels([row["metric"] for row in rows if row["verdict"]])
    for place, row in enumerate(rows):
        color = {"usable": "#0072B2", "": style.GREY}.get(row["verdict"], "#B03A00")
        ax.plot([row["pair_low"], row["pair_high"]], [-place, -place], color=color, linewidth=1.2)
        ax.plot(row["pair"], -place, "o", color=color, markersize=3.5)
    style.name_rows(ax, -np.arange(len(rows)), [str(labels.get(row["metric"], row["metric"])) for row in rows])
    ax.axvline(0, color=style.GREY, linewidth=0.5, zorder=0)
    ax.set(xlabel="share of what choosing between two detectors can gain")
    return ax


@style.styled
def misled(result: SuiteResult, metric: AnyMetric, series: Any, ax: Axes | None = None, *, mistake: int = 0) -> Axes:
    """Draw the series that misled a metric most in choosing a detector: the one it chose, and the better one.

    `series` are the scores that the suite `selection` was given; `mistake` is the place of the row of
    `explain(metric)`, the most costly first. Each detector stands with the mean value that the metric gave it, and with
    what it is worth on the other series, by the criterion.
    """
    rows = result.mistakes(metric)
    if mistake >= len(rows):
        raise InvalidInputError(f"there are {len(rows)} wrong choices by {metric}, so none at place {mistake}")
    return wrong_choice(rows[mistake], series_of(result.plan, series), ax)


def wrong_choice(row: Row, known: Mapping[str, SeriesScores], ax: Axes | None = None) -> Axes:
    """Draw a row of `explain(metric)` of the suite `selection`, as `misled` has it."""
    chosen = _named(known, row["series"])
    label = metric_labels([row["metric"]])[row["metric"]]
    lines = [
        (
            f"{row[role]}\n{label} {row[f'{role}_value']:.3g}\n{row['criterion']} {row[f'{role}_worth']:.2f}",
            chosen.detectors[row[role]].given.y_score,
        )
        for role in ("chosen", "better")
    ]
    return _strips(chosen, lines, f"{label} chose {row['chosen']}: {row['data_set']}, {chosen.name}", ax)


def series_of(plan: Any, scores: Any) -> dict[str, SeriesScores]:
    """Return the series of what a run was given, by name."""
    return {one.name: one for part in plan.read(scores) for one in part.by_series()}


def _named(known: Mapping[str, SeriesScores], name: str) -> SeriesScores:
    """Find a series of a run in what the run was given."""
    if name in known:
        return known[name]
    raise InvalidInputError(f"series must be those of the run, but {name!r} is not among them")


def _strips(chosen: SeriesScores, scores: Sequence[tuple[str, Floats]], title: str, ax: Axes | None) -> Axes:
    """Draw the series and two scores under each other, with the events."""
    lines = [("series", chosen.values)] if chosen.values is not None else []
    lines += scores
    ax = style.new_axes(ax, 6.0, 0.7 + 0.5 * len(lines))
    bottoms = [1.2 * (len(lines) - 1 - i) for i in range(len(lines))]
    events = Events.of(chosen.y_true)
    style.bars(ax, events.starts, events.lengths, -0.1, bottoms[0] + 1.2)
    for (_, values), bottom, color in zip(lines, bottoms, ("black", "#0072B2", "#B03A00")[-len(lines) :], strict=True):
        ax.plot(bottom + style.on_unit_range(values), color=color, linewidth=0.5)
    style.name_rows(ax, [bottom + 0.5 for bottom in bottoms], [name for name, _ in lines])
    ax.set(xlim=(-0.5, events.n - 0.5), ylim=(-0.1, bottoms[0] + 1.1))
    ax.set_title(title, color=style.GREY)
    return ax
