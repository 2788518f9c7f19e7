"""All figures of a run of RankEval, written to files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tsadeval.core.facts import grouped
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.selection import AnyMetric
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.plot import rankeval
from tsadeval.plot.latency import BY, latency, latency_by
from tsadeval.plot.rankeval import TAUS, WORDS, five_models
from tsadeval.plot.style import GREY, filled, new_figure, options_note, styled
from tsadeval.plot.suites import (
    agreement,
    gameability,
    hard_sensitivity,
    hard_tasks,
    pairs_of_task,
    selection,
    series_of,
    wrong_choice,
)
from tsadeval.rankeval.quality import Ties, Undefined
from tsadeval.rankeval.suite import Explanation, SuiteResult
from tsadeval.rankeval.suites.audit import AuditSuite
from tsadeval.rankeval.suites.hard import HardSuite
from tsadeval.rankeval.suites.paper import PaperSuite
from tsadeval.rankeval.suites.paper_rankings import AVERAGE
from tsadeval.rankeval.suites.selection import SelectionSuite

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The metrics whose values the paper shows against the false-alarm rate.
PAPER = ("cce", "affiliation_f1", "auc_roc", "vus_roc")
STAMPS: dict[str, dict[str, None]] = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}

Tell = Callable[[str], None]


@styled
def write_figures(
    result: SuiteResult,
    folder: str | Path,
    *,
    format: str = "png",  # noqa: A002
    metrics: Sequence[AnyMetric] | None = None,
    left_out: Tell | None = None,
    ties: Ties = "average",
    undefined: Undefined = "worst",
) -> list[Path]:
    """Draw every figure that the run has the values for.

    Parameters
    ----------
    result : SuiteResult
        What `te.rankeval.run` or `te.rankeval.read` returned.
    folder : path
        Made where it is not there; files of the same names are written anew.
    format : {"png", "pdf", "svg"}
        Of the files.
    metrics : sequence of str or functions
        Whose values are drawn against the false-alarm rate; by default the paper's four as far as they are there. Of
        the suite "hard", the metrics to show; by default your own and the best others.
    left_out : function (message)
        Called with a message for each figure that cannot be drawn.
    ties, undefined : str
        Of the paper's suites: as for `SuiteResult.table`.

    Returns
    -------
    list of Path
        The files.
    """
    check_parameters("write_figures", {"format": OneOf(tuple(STAMPS))}, {"format": format})
    if isinstance(result.plan, PaperSuite):
        for name in metrics or ():
            result.plan.find(name)  # a name that is not there is said before any work begins
    if result.to_frame().empty:
        raise InvalidInputError("this run has no values yet: continue it, then draw")
    of_rankings = partial(_of_rankings, ties=ties, undefined=undefined)
    kinds = ((PaperSuite, of_rankings), (HardSuite, _of_hard), (SelectionSuite, _of_selection), (AuditSuite, _of_audit))
    drawings = next((draw for kind, draw in kinds if isinstance(result.plan, kind)), None)
    if drawings is None:
        raise InvalidInputError(f"there are no figures of suite {result.plan.name}")
    return write_drawings(drawings(result, metrics), Path(folder), format, left_out)


@styled
def write_explanation(
    explanation: Explanation,
    folder: str | Path,
    *,
    format: str = "png",  # noqa: A002
    scores: Any = None,
) -> list[Path]:
    """Write the figures of an explanation of the suite "hard" or "selection"; returns the files.

    Of hard there is one for each task, with its worst pairs. Of selection there is one for each wrong choice that is
    printed, which needs the `scores` that the suite was given.
    """
    check_parameters("write_explanation", {"format": OneOf(tuple(STAMPS))}, {"format": format})
    chosen = isinstance(getattr(explanation, "plan", None), SelectionSuite)
    if chosen and scores is None:
        raise InvalidInputError("wrong choices are drawn on the scores that the suite was given: add scores=")
    drawings = _of_mistakes(explanation, scores) if chosen else _of_explanation(explanation, "explain")
    return write_drawings(drawings, Path(folder), format)


# The name of each figure and the function that draws it.
Drawings = Iterable[tuple[str, Callable[[], "Figure | Axes"]]]


@styled
def write_drawings(drawings: Drawings, folder: Path, suffix: str, left_out: Tell | None = None) -> list[Path]:
    """Write figures; what cannot be drawn is told to `left_out`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"the folder {folder} cannot be made ({error.strerror})") from None
    written = []
    for name, draw in drawings:
        try:
            figure = draw().get_figure(root=True)
        except TsadevalError as error:
            if left_out is not None:
                left_out(f"{name} is left out: {error}")
            continue
        written.append(folder / f"{name}.{suffix}")
        cast("Figure", figure).savefig(written[-1], format=suffix, metadata=STAMPS[suffix])
    return written


def _of_hard(result: SuiteResult, metrics: Sequence[AnyMetric] | None) -> Drawings:
    table = result.table()
    yield "hard-tasks", lambda: hard_tasks(table, metrics=metrics)
    if any(task.changes is not None for task in result.plan.tasks):
        yield "hard-sensitivity", lambda: hard_sensitivity(result, metrics=metrics)
    for name in [row["name"] for row in table.rows if row["own"]]:
        yield from _of_explanation(result.explain(name, pairs=3), f"explain-{name.replace(':', '-').replace(' ', '-')}")


def _of_explanation(found: Explanation, name: str) -> Drawings:
    for task, rows in grouped((row["task"], row) for row in found.rows).items():
        yield f"{name}-{task.replace(':', '-')}", partial(pairs_of_task, found, rows)


def _of_mistakes(found: Explanation, scores: Any) -> Drawings:
    known = series_of(found.plan, scores)
    for place, row in enumerate(found.rows[: found.pairs], 1):
        yield f"explain-{place}", partial(wrong_choice, row, known)


def _of_audit(result: SuiteResult, metrics: Sequence[AnyMetric] | None) -> Drawings:
    yield "gameability", lambda: gameability(result)
    yield "agreement", lambda: agreement(result.agreement(metrics))


def _of_selection(result: SuiteResult, metrics: Sequence[AnyMetric] | None) -> Drawings:
    yield "selection", lambda: selection(result)


def _of_rankings(
    result: SuiteResult, metrics: Sequence[AnyMetric] | None, *, ties: Ties, undefined: Undefined
) -> Drawings:
    first = {m.name: str(m) for m in reversed(result.plan.metrics) if m.library}
    chosen = metrics or [first[bare] for bare in PAPER if bare in first] or list(map(str, result.plan.metrics))
    tasks = [task.name for task in result.plan.tasks]
    table = result.robustness(ties=ties, undefined=undefined, order="given")
    for task in [*tasks, AVERAGE] if len(tasks) > 1 else tasks:
        quality = [partial(rankeval.quality_by_noise, table, task=task, indicator=name) for name in WORDS]
        yield f"quality-{task}", partial(_row, result, 3.0, quality)
    timed = "AccQ" if "AccQ" in tasks else tasks[0]
    yield "latency", lambda: _noted(latency(result, task=timed).get_figure(root=True), result)
    if "cce" in first:
        calls = [partial(latency_by, result, by=by, metric=first["cce"]) for by in BY]
        yield "latency-cce", lambda: _row(result, 2.7, calls, 9.0, sharey=True)
    yield "false-alarms", lambda: _false_alarms(result, chosen)
    if "cce" in first:
        yield "sensitivity-tau", lambda: _sensitivity(result, first["cce"])
    yield "five-models", five_models


def _row(
    result: SuiteResult, height: float, drawings: Sequence[Callable[..., Axes]], width: float = 10.0, **sharing: Any
) -> Figure:
    """Make a figure of several drawings side by side; of axes that share y, the leftmost alone says what it is."""
    figure = new_figure(width, height)
    for ax, draw in zip(figure.subplots(1, len(drawings), **sharing), drawings, strict=True):
        draw(ax=ax)
        if sharing:
            ax.label_outer()
    return _noted(figure, result)


def _noted(figure: Any, result: SuiteResult) -> Figure:
    """Write a line under the figure: what it was made from."""
    plan = result.plan
    about = [plan.title("case", len(plan.cases), plan.repeats), options_note(list(map(str, plan.metrics)))]
    letters = int(20 * figure.get_size_inches()[0])  # that fit on a line
    text = filled(". ".join(filter(None, about)), letters)
    figure.supxlabel(text, x=0.01, ha="left", fontsize=6, color=GREY)
    return cast("Figure", figure)


def _false_alarms(result: SuiteResult, metrics: Sequence[AnyMetric]) -> Figure:
    sigmas = result.plan.sigmas
    figure = new_figure(9.0, 1.9 * len(metrics) + 0.4)
    grid = figure.subplots(len(metrics), len(sigmas), sharex=True, sharey="row", squeeze=False)
    for row, metric in zip(grid, metrics, strict=True):
        for ax, sigma in zip(row, sigmas, strict=True):
            rankeval.value_by_false_alarms(result, ax, metric=metric, sigma=sigma, name_lines=False)
            ax.label_outer()
    handles, names = grid[0][0].get_legend_handles_labels()
    figure.legend(handles[::-1], names[::-1], loc="outside right center")
    return _noted(figure, result)


def _sensitivity(result: SuiteResult, metric: str) -> Figure:
    table = result.sensitivity(metric, tau=list(TAUS))
    return _row(result, 2.7, [partial(rankeval.sensitivity, table, indicator=name) for name in WORDS])
