"""Suite: what the suites of RankEval have in common, and their results (SuiteResult, SuiteTable, Explanation)."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.parameters import Check, Number, check_parameters
from tsadeval.core.results import MappingResult, Result, ResultTable, Row
from tsadeval.core.selection import AnyMetric, Metrics, find_metric
from tsadeval.engine.cells import Chunk, Layout, Making
from tsadeval.engine.compute import choose_metrics, compute, metric_of_record, record_of_metric
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import Limits, complete
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidParameterError

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 9  # of qualities that are compared


@dataclass(frozen=True)
class Suite(ABC):
    """A whole experiment: a record whose fields are its options. Bound to metrics, it is the plan of a run.

    `metrics` are what is tried when the caller names none, and the records of those that are tried once it is bound.
    """

    layout: ClassVar[Layout[Any]]
    # What the suite makes of the values of a run: an object with `table`, `explain`, and other `views`.
    analysis: ClassVar[type[Any]]
    largest_seed: ClassVar[int] = 2**63 - 1
    timed: ClassVar[bool] = False  # whether the time of every metric is a result
    options: ClassVar[tuple[str, ...]] = ()  # the fields that a caller may fill
    nullable: ClassVar[frozenset[str]] = frozenset()  # those for which None is a value, and not the default

    name: str
    summary: str
    metrics: tuple[Any, ...] = field(default=("recommended",), kw_only=True)
    # What the word "paper" among metrics stands for, where that is not the set of this name.
    paper: tuple[str, ...] | None = field(default=None, kw_only=True)
    seed: int | None = field(default=0, kw_only=True)

    def with_options(self, **options: Any) -> Self:
        """Return the same suite with other options, once they are checked; None leaves the default."""
        given = {name: value for name, value in options.items() if value is not None or name in self.nullable}
        own = ["random_state" if option == "seed" else option for option in self.options]
        for name in given:
            if name not in (*own, *self.options):
                raise InvalidParameterError(
                    f"suite {self.name!r} has no {name}: leave {name} (--{name}) out; its options are {', '.join(own)}"
                )
        seed = Number(0, self.largest_seed, integer=True)
        checks: dict[str, Check] = {"repeats": Number(1, integer=True), "random_state": seed, "seed": seed}
        check_parameters("rankeval.run", checks, given)
        numbers = {name: int(value) if name in checks else value for name, value in given.items()}
        given = {"seed" if name == "random_state" else name: value for name, value in numbers.items()}
        return replace(self, **self._checked(given))

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the fields that options of the caller stand for."""
        return options

    def bind(self, metrics: Metrics | None, scores: Any = None) -> Self:
        """Return the plan of a run: the suite with metrics (its own by default), and with all that it needs to know."""
        if scores is not None:
            raise InvalidParameterError(f"suite {self.name!r} has models of its own: leave scores out")
        return replace(self, metrics=choose_metrics(self.metrics if metrics is None else metrics, self.paper))

    def find(self, metric: AnyMetric) -> Metric:
        """Return the metric of the plan that a caller means."""
        known: dict[str, Metric] = {str(one): one for one in self.metrics}
        return known[find_metric(metric, known)]

    def title(self, kind: str, count: int, repeats: int) -> str:
        """Return the words above a table or below a figure: how much there is of what a suite is made of."""
        counts = ", ".join(f"{n} {one}{'s' * (n != 1)}" for n, one in ((count, kind), (repeats, "repeat")))
        return f"RankEval, suite {self.name}: {counts}"

    @abstractmethod
    def cells(self) -> Iterable[Any]:
        """Return every value there is to compute."""

    @abstractmethod
    def chunks(self, cells: Iterable[Any]) -> Iterable[Chunk]:
        """Return the cells in groups that are computed together."""

    def chunk(
        self,
        scorings: Callable[[Chunk], Iterable[Making]],
        cells: Sequence[Any],
        rules: Mapping[str, Rule],
        payload: Any,
    ) -> Chunk:
        """Return cells with what a worker needs for them."""
        wanted = {cell.metric for cell in cells}
        metrics = {str(metric): metric for metric in self.metrics if str(metric) in wanted}
        return Chunk(scorings, tuple(cells), metrics, rules, payload, self.timed)

    def without_data(self) -> Self:
        """Return the plan as a result keeps it."""
        return self

    def record(self) -> dict[str, Any]:
        """Return the plan as plain data for the store."""
        return {"suite": self.name, **self.recorded(), "metrics": list(map(record_of_metric, self.metrics))}

    @abstractmethod
    def recorded(self) -> dict[str, Any]:
        """Return what a store keeps of the options."""

    def of_record(self, record: dict[str, Any]) -> Self:
        """Return the plan that was recorded; users' metrics are there by name only."""
        return replace(self, metrics=tuple(map(metric_of_record, record["metrics"])), **self._options_of(record))

    def _options_of(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return the fields that a record stands for, as `recorded` wrote them: here those that are plain data."""
        return {name: record[name] for name in ("seed", "repeats", "rule") if name in record}


class Explanation(ResultTable):
    """Why a metric does as it does: rows, the worst first, and what can be said of them."""


class SuiteTable(ResultTable, MappingResult):
    """What the values of a run say, a row per metric or finer; as a mapping, from metrics to their value."""

    def __init__(
        self,
        rows: list[Row],
        *,
        values: Mapping[str, float] | None = None,
        latex: Callable[[int], str] | None = None,
        key: str = "metric",
        **given: Any,
    ) -> None:
        super().__init__(rows, _values=values, _latex=latex, _key=key, **given)

    def _items(self) -> dict[str, float]:
        return super()._items() if self._values is None else dict(self._values)

    def to_latex(self, *, digits: int | None = None) -> str:
        """Return what is printed as a LaTeX tabular (needs the booktabs package)."""
        if self._latex is None:
            return super().to_latex(digits=4 if digits is None else digits)
        return str(self._latex(3 if digits is None else digits))


class SuiteResult(Result):
    """Values of metrics in a run of a suite: a row per value. Prints as its table.

    Beside the methods below it has those of its suite:

    - of quick, paper, paper-text and standard `robustness()`, the table at each noise; `latency(metric=None)`,
      milliseconds of each metric's public call, of one metric by generator, length and number of events;
      `sensitivity(metric, tau=[0.1, 0.9])`, the table of one metric with an option at several values, for which what
      the store does not have yet is computed;
    - of hard `sensitivity()`, how far each nuisance of the controls moves the value of every metric, in units of skill;
    - of audit `agreement(metrics=None)`, how far every two metrics agree on the order of the detectors; `ranks()`, the
      mean rank of every detector; `example(metric)`, the series on which a metric is fooled most;
      `disagreement(metric, other)`, the one on which two disagree most; `values_of(metric)`; `names(*kinds)`;
    - of selection `mistakes(metric)`, the rows of `explain(metric)`.

    Attributes
    ----------
    plan : suite
        With the metrics that were tried, and its options.
    """

    def __init__(self, plan: Suite, store: Store[Any], *, n_jobs: int | None = None) -> None:
        self.plan: Any = plan
        self.store = store
        self._n_jobs = n_jobs
        self._frame: pd.DataFrame = store.frame(plan.cells())
        self._analysis: Any = plan.analysis(plan, self)

    @classmethod
    def computed(
        cls,
        plan: Suite,
        store: Store[Any],
        *,
        n_jobs: int | None = None,
        progress: bool | Progress | None = None,
        limits: Limits | None = None,
    ) -> Self:
        """Compute what the store does not have yet of a plan, and return the result."""
        complete(plan.cells(), plan.chunks, compute, store, n_jobs=n_jobs, progress=progress, limits=limits)
        return cls(plan.without_data(), store, n_jobs=n_jobs)

    def with_metrics(self, metrics: Sequence[Any], **options: Any) -> Self:
        """Return the result of other metrics on the same series; what the store does not have yet is computed."""
        plan = replace(self.plan.with_options(**options), metrics=tuple(metrics))
        return self.computed(plan, self.store, n_jobs=self._n_jobs)

    def table(self, **options: Any) -> SuiteTable:
        """Return what the values say, as it is printed.

        Parameters
        ----------
        ties : {"average", "published"}
            Of the paper's suites: how equal values are ranked; "published" leaves them to an unstable sort, as the
            published code does.
        undefined : {"worst", "drop models", "drop rankings", "published"}
            Of the paper's suites: what becomes of models without any alarm under eTaPR and affiliation, for which the
            published code has no value: worst of their ranking (ours is 0), left out, or left out with their ranking;
            "published": as in the paper's table.
        order : {"quality", "given"}
            Of the paper's suites: the best metric by average Spearman first, or the metrics as they were given to the
            run. The tables of hard and audit are sorted always.
        """
        return cast("SuiteTable", self._analysis.table(**options))

    def explain(self, metric: AnyMetric, **options: Any) -> Explanation:
        """Return why a metric does as it does: the rankings, pairs of models, or series on which it does worst.

        Parameters
        ----------
        metric : str, function or Metric
            As it was given to the run (a function, "mine:metric"), or as it stands in the table ("f1 at best").
        rankings : int, default=5
            Of the paper's suites: how many of the worst rankings are printed; `rows` has all.
        rule : str, optional
            Of hard, and a metric of predictions; "best" by default, where each detector is judged at its own best
            threshold for this metric, found with the labels. "quantile(0.95)" is the other.
        pairs : int
            Of hard: how many pairs of each task, 1 by default. Of selection: how many wrong choices between two
            detectors are printed, 10 by default; `rows` has all.
        tasks : int, default=5
            Of hard: how many tasks, those with the lowest scores; None for all on which something is wrong.
        beside : str, function or Metric, default="ears"
            Of hard: the metric whose values stand beside ("vus_pr" beside EARS itself); None for none.
        series : int, default=5
            Of audit: how many series are printed; `rows` has all.
        """
        return cast("Explanation", self._analysis.explain(metric, **options))

    def __getattr__(self, name: str) -> Any:
        analysis = self.__dict__.get("_analysis")
        views = getattr(analysis, "views", ())  # which the analysis of a user's suite may not have
        if name in views:
            return getattr(analysis, name)
        own = "" if analysis is None else f": suite {self.plan.name} has {', '.join(views) or 'no views'}"
        raise AttributeError(f"this result has no {name!r}{own}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *getattr(self._analysis, "views", ())]

    @property
    def rows(self) -> list[Row]:
        """All values: what names each, the value, threshold, seconds, status, message and versions."""
        return [{str(name): value for name, value in row.items()} for row in self._frame.to_dict("records")]

    def to_frame(self) -> "pd.DataFrame":
        """Return the rows as a DataFrame."""
        return self._frame.copy()

    def to_latex(self, *, digits: int | None = None) -> str:
        """Return the table as a LaTeX tabular (booktabs)."""
        return self.table().to_latex(digits=digits)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def __repr__(self) -> str:
        return repr(self.table())


def places_of(values: Sequence[float], whole: Sequence[bool] | None = None) -> list[int | None]:
    """Return the place of each value, 1 for the highest; equal values share a place, NaN has none.

    Values that differ by rounding errors only are equal. Those that are not `whole` are of a metric that failed on
    something: they move nobody down, and their place is the one that they would have.

    >>> places_of([0.5, 0.9, float("nan"), 0.5])
    [2, 1, None, 2]
    >>> places_of([0.5, 0.9, 0.7], [True, False, True])
    [2, 1, 1]
    """
    ranked = [round(value, DIGITS) for value in values]  # NaN stays NaN, and is above nothing
    others = ranked if whole is None else [value for value, counts in zip(ranked, whole, strict=True) if counts]
    return [None if math.isnan(value) else 1 + sum(other > value for other in others) for value in ranked]


def place_cell(place: int | None, whole: bool) -> int | str:
    """Return a place for a table: in parentheses where a metric failed on something, "-" where it has none."""
    return "-" if place is None else place if whole else f"({place})"


def place_words(place: int | None, rows: int, metrics: int | None = None, *, whole: bool = True) -> str:
    """Say a place among so many rows, which may be fewer metrics (one has a row for each threshold rule).

    >>> place_words(8, 13, 8)
    'place 8 of 13 rows (8 metrics) in this run'
    >>> place_words(3, 4, whole=False)
    'not placed, it would be at place 3 of 4 in this run'
    """
    if place is None:
        return "no place in this run"
    of = f"{rows}" if metrics in (None, rows) else f"{rows} rows ({metrics} metrics)"
    return f"{'' if whole else 'not placed, it would be at '}place {place} of {of} in this run"


def failures(name: str, counts: Row, place: int | None) -> list[str]:
    """Say on how many series a metric failed, and with what on the first; where it has no place, also if undefined.

    >>> failures("mine", {"errors": 2, "undefined": 0, "message": "ValueError: no"}, 1)
    ['mine failed on 2 series, first with ValueError: no']
    """
    words, count = ("failed", counts["errors"]) if counts["errors"] else ("is undefined", counts["undefined"])
    shown = counts["errors"] or (count and place is None)
    return [f"{name} {words} on {count} series, first with {counts['message']}"] if shown else []


def count_values(rows: "pd.DataFrame") -> Row:
    """Count values, those that are undefined, and errors; `message` is that of the first row without a value."""
    status = rows["status"]
    said = [rows["message"][status == missing] for missing in ("error", "undefined")]
    counts = {"values": int((status == "ok").sum()), "undefined": len(said[1]), "errors": len(said[0])}
    return {**counts, "message": next((some.iloc[0] for some in said if len(some)), "")}


def pivot(frame: Any, axes: Mapping[str, Sequence[Any]], *values: Any) -> Floats:
    """Return values of rows as arrays over some columns, whose values `axes` has in order; NaN where no row is."""
    found = np.full([len(values), *map(len, axes.values())], np.nan)
    places = []
    for name, along in axes.items():
        known = {value: i for i, value in enumerate(along)}
        missing = known.get(None, -1)  # a missing name is NaN in a frame
        places.append([missing if value != value else known[value] for value in frame[name].tolist()])
    for into, given in zip(found, values, strict=True):
        into[tuple(places)] = given
    return found


def last_plan(plans: Sequence[Suite]) -> Suite:
    """Return the last plan of a store, with the metrics of all plans that differ from it in nothing else."""
    last = plans[-1]
    alike = [plan for plan in plans if replace(plan, metrics=()) == replace(last, metrics=())]
    # An edited metric has another version: the newest one is used.
    metrics = {str(metric): metric for plan in alike for metric in plan.metrics}
    return replace(last, metrics=tuple(metrics.values()))


def name_alike(means: dict[str, float], how: str) -> list[str]:
    """Say which two known metrics are most like a metric of one's own, by its correlation with each."""
    best = sorted((name for name in means if math.isfinite(means[name])), key=lambda name: -means[name])[:2]
    said = ", then ".join(f"{name} ({means[name]:.2f})" for name in best)
    return [f"of the metrics of this run its values are most like those of {said}: {how}"] * bool(best)
