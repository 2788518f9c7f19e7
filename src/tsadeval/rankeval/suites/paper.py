"""The paper's suites and tasks (label cases, noise, streams, thresholds), and the plan of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tsadeval.core.events import Events
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.names import Registry
from tsadeval.core.results import Row
from tsadeval.engine.cells import OUTCOME, Layout, Working, versions
from tsadeval.engine.compute import metric_of_record, outcome_row, record_of_metric
from tsadeval.errors import InvalidInputError
from tsadeval.rankeval.generators import GENERATORS, Stream, draw, source
from tsadeval.rankeval.labels import CASES, REAL, SYNTHETIC, Case

# Tasks: which models are ranked against each other, and in which order they belong.


@dataclass(frozen=True)
class Task:
    """Models of one generator, ranked by one of its parameters.

    Attributes
    ----------
    by : "q" or "p"
        The parameter that orders the models.
    better : "higher" or "lower"
        Which end of it is the better model.
    fixed : "q", "p" or ""
        The parameter that is the same for all models of a ranking: one ranking for each of its values.
    """

    name: str
    generator: str
    by: Literal["q", "p"]
    better: Literal["higher", "lower"] = "higher"
    fixed: Literal["q", "p", ""] = ""


TASKS = (
    Task("AccQ", "AccQ", by="q"),
    Task("LowDisAccQ", "LowDisAccQ", by="q"),
    Task("PreQ-NegP-Q", "PreQ-NegP", by="q", fixed="p"),
    Task("PreQ-NegP-P", "PreQ-NegP", by="p", better="lower", fixed="q"),
)

TEXT_TASKS = tuple(replace(task, generator=f"{task.generator}-text") for task in TASKS)


@dataclass(frozen=True)
class Exemption:
    """Metrics that get another rule than the rest, on the noisy models of one generator on synthetic cases."""

    metrics: frozenset[str]
    generator: str
    rule: str


@dataclass(frozen=True)
class Suite:
    """A whole experiment, but for the metrics that are tried in it.

    `metrics` is what is tried when the caller names none; the word "paper" among the caller's metrics stands for
    `paper`, the eleven of the paper with the options that this suite gives them.
    """

    name: str
    summary: str
    cases: tuple[str, ...]
    tasks: tuple[Task, ...] = TASKS
    sigmas: tuple[float, ...] = (0.0, 0.05, 0.1)
    repeats: int = 3
    stream: Stream = "independent"
    rule: str = "quantile(0.95)"
    exemptions: tuple[Exemption, ...] = ()
    metrics: tuple[str, ...] = ("paper",)
    paper: tuple[str, ...] = ()

    def present(self, data: Path | None) -> list[Case]:
        """The cases whose labels can be had."""
        return [CASES[name] for name in self.cases if CASES[name].present(data)]

    def rule_for(self, metric: str, generator: str, sigma: float, synthetic: bool) -> str:
        """How scores become predictions for a metric (its bare name) on these models."""
        if sigma and synthetic:
            for other in self.exemptions:
                if metric in other.metrics and generator == other.generator:
                    return other.rule
        return self.rule


SUITES: Registry[Suite] = Registry("suite")

PUBLISHED_RULE = "strict_quantile(0.95)"

# The published experiment: CCE has the uncertainty of single points and 1e-8 added to the range of scores, the two
# slow metrics have a hundred thresholds.
PUBLISHED = (
    "cce(normalize='published', uncertainty='pointwise')",
    "auc_roc",
    "f1",
    "f1_pa",
    "reduced_f1",
    "range_f1",
    "etapr_f1",
    "affiliation_f1",
    "unbiased_affiliation_f1",
    "vus_roc(n_thresholds=100)",
    "pate(n_thresholds=100)",
)
ELEVEN = tuple(text.partition("(")[0] for text in PUBLISHED)
VARIANTS = ("cce(constrained=True)", "cce(uncertainty='pointwise')")

SUITES.add(
    "quick",
    Suite(
        name="quick",
        summary="six cases of 10,000 points and one repeat: seconds on a laptop",
        cases=(
            "10k-2seg-50L",
            "10k-20seg-50H",
            "10k-50seg-20L",
            "10k-5seg-20H",
            "10k-10seg-100H",
            "10k-2seg-500L",
        ),
        repeats=1,
        paper=ELEVEN,
    ),
)
SUITES.add(
    "paper",
    Suite(
        name="paper",
        summary="the published protocol, value by value: published streams, thresholds and options",
        cases=(*SYNTHETIC, *REAL),
        stream="published",
        rule=PUBLISHED_RULE,
        exemptions=(
            Exemption(
                frozenset({"affiliation_f1", "unbiased_affiliation_f1", "etapr_f1"}),
                generator="AccQ",
                rule="first_alarms(0.75, 0.65, 0.55)",
            ),
        ),
        paper=PUBLISHED,
    ),
)
SUITES.add(
    "paper-text",
    Suite(
        name="paper-text",
        summary="the protocol with the generators of the paper's text, mended, and independent streams",
        cases=(*SYNTHETIC, *REAL),
        tasks=TEXT_TASKS,
        rule=PUBLISHED_RULE,
        paper=PUBLISHED,
    ),
)
SUITES.add(
    "standard",
    Suite(
        name="standard",
        summary="ours: the generators of the published code, independent streams, one threshold for all",
        cases=(*SYNTHETIC, *REAL),
        metrics=("paper", *VARIANTS),
        paper=ELEVEN,
    ),
)


# Plan: a suite and metrics become cells, cells become chunks that share their series, and chunks become rows.


class Cell(NamedTuple):
    """One value of one metric on one series.

    `version` tells apart two states of a metric; `rule` is None for metrics that take scores; `seed` is None where the
    stream has seeds of its own.
    """

    case: str
    generator: str
    q: float
    p: float | None
    sigma: float
    repeat: int
    stream: Stream
    seed: int | None
    metric: str
    version: str
    rule: str | None


LAYOUT = Layout(
    Cell,
    {
        "case": "string",
        "generator": "string",
        "q": "float64",
        "p": "float64",
        "sigma": "float64",
        "repeat": "int32",
        "stream": "string",
        "seed": "int64",
        "metric": "string",
        "version": "string",
        "rule": "string",
        **OUTCOME,
    },
    "tsadeval rankeval run",
)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Cells of one case that are computed together, with all that a worker needs for them."""

    events: Events
    cells: tuple[Cell, ...]
    metrics: dict[str, Metric]


@dataclass(frozen=True)
class Plan:
    """All that decides which values a run computes."""

    suite: Suite
    metrics: tuple[Metric, ...]
    cases: tuple[str, ...]
    repeats: int
    seed: int | None
    tasks: tuple[str, ...]

    @property
    def chosen_tasks(self) -> tuple[Task, ...]:
        """The tasks of the suite that are wanted."""
        return tuple(task for task in self.suite.tasks if task.name in self.tasks)

    def cells(self) -> list[Cell]:
        """Every value there is to compute."""
        suite = self.suite
        generators = [GENERATORS[name] for name in dict.fromkeys(task.generator for task in self.chosen_tasks)]
        return [
            Cell(case, generator.name, q, p, sigma, repeat, suite.stream, self.seed, str(m), version, rule)
            for case in self.cases
            for generator in generators
            for sigma in suite.sigmas
            for m, rule in self._rules(case, generator.name, sigma)
            for version in [f"{m.version}g{generator.revision}"]
            for repeat in range(self.repeats)
            for q in generator.q
            for p in generator.p
        ]

    def _rules(self, case: str, generator: str, sigma: float) -> list[tuple[Metric, str | None]]:
        synthetic = CASES[case].synthetic
        return [
            (m, self.suite.rule_for(m.name, generator, sigma, synthetic) if m.kind == "predictions" else None)
            for m in self.metrics
        ]

    def chunks(self, cells: Iterable[Cell], data: Path | None) -> list[Chunk]:
        """The cells in groups that share labels and, as far as the streams allow, series; long series first.

        The published noise is the same in every repeat, so there the repeats belong together.
        """
        together = self.suite.stream == "published"
        groups: dict[tuple[Any, ...], list[Cell]] = {}
        for cell in cells:
            repeat = None if together and cell.sigma else cell.repeat
            groups.setdefault((cell.case, cell.generator, cell.sigma, repeat), []).append(cell)
        events = {case: CASES[case].events(data) for case in dict.fromkeys(key[0] for key in groups)}
        metrics = {str(m): m for m in self.metrics}
        ordered = sorted(groups.items(), key=lambda item: -events[item[0][0]].n)
        return [
            Chunk(events[key[0]], tuple(group), {c.metric: metrics[c.metric] for c in group}) for key, group in ordered
        ]

    def record(self) -> dict[str, Any]:
        """The plan as plain data for the store."""
        return {
            "suite": self.suite.name,
            "cases": list(self.cases),
            "repeats": self.repeats,
            "seed": self.seed,
            "tasks": list(self.tasks),
            "metrics": [record_of_metric(metric) for metric in self.metrics],
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Plan:
        """The plan that was recorded; users' metrics are there by name only."""
        try:
            return cls(
                suite=SUITES[record["suite"]],
                metrics=tuple(metric_of_record(metric) for metric in record["metrics"]),
                cases=tuple(record["cases"]),
                repeats=record["repeats"],
                seed=record["seed"],
                tasks=tuple(record["tasks"]),
            )
        except (KeyError, TypeError) as error:
            raise InvalidInputError(
                f"the store was written by another version of tsadeval (no {error}); run the suite again into it"
            ) from None


def compute(chunk: Chunk) -> Iterator[Row | Working]:
    """A row for every cell. Each series is drawn once, and a metric sees it once however many cells want that value."""
    mask = chunk.events.mask()
    facts = {
        "n": chunk.events.n,
        "events": len(chunk.events),
        "anomalous": chunk.events.points,
        "versions": versions(),
    }
    series: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in chunk.cells:
        series.setdefault((cell.generator, cell.q, cell.p, cell.sigma, cell.stream, _numbers(cell)), []).append(cell)
    for (generator, q, p, sigma, stream, numbers), cells in series.items():
        scoring = Scoring.of(mask, draw(GENERATORS[generator], mask, stream, numbers, q, p, sigma))
        outcomes: dict[tuple[str, str | None], Row] = {}
        for cell in cells:
            what = (cell.metric, cell.rule)
            if what not in outcomes:
                yield Working(tuple(c for c in cells if (c.metric, c.rule) == what))
                outcomes[what] = outcome_row(chunk.metrics[cell.metric], scoring, cell.rule)
            yield {**cell._asdict(), **facts, **outcomes[what]}


def _numbers(cell: Cell) -> tuple[int, ...]:
    name = (cell.case, cell.generator, cell.q, cell.p)
    return source(cell.stream, cell.seed or 0, cell.repeat, cell.sigma, name)
