"""The paper's suites (quick, paper, paper-text, standard): tasks, label cases, noise, streams and thresholds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np

from tsadeval.core.inputs import Bools, Events, Floats, Scoring
from tsadeval.core.metric import Rule, parse_metric
from tsadeval.core.names import Registry
from tsadeval.core.results import MappingResult, Row
from tsadeval.core.selection import Metrics
from tsadeval.datasets import data_folder
from tsadeval.engine.cells import Chunk, Layout, Making, group_cells
from tsadeval.engine.compute import rule_key
from tsadeval.errors import InvalidParameterError
from tsadeval.rankeval.series import (
    CASES,
    GENERATORS,
    PUBLISHED_NOISE_SEED,
    REAL,
    SYNTHETIC,
    LabelCase,
    Stream,
    draw,
    source,
    synthetic_events,
)
from tsadeval.rankeval.suite import Suite
from tsadeval.rankeval.suites.paper_rankings import Rankings
from tsadeval.thresholds.rules import fixed, parse_rule

R = TypeVar("R")

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


class RankingCell(NamedTuple):
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


LAYOUT = Layout.of(RankingCell, "tsadeval rankeval run", repeat="int32", stream="string")


@dataclass(frozen=True)
class PaperSuite(Suite):
    """Models of known order on label cases; `te.rankeval.Suite`.

    `metrics` is what is tried when the caller names none; the word "paper" among the caller's metrics stands for
    `paper`, the eleven of the paper with the options that this suite gives them. `data` is the folder of the real data.
    """

    layout: ClassVar[Layout[Any]] = LAYOUT
    analysis = Rankings
    largest_seed: ClassVar[int] = 2**64 - 1
    timed: ClassVar[bool] = True
    options: ClassVar[tuple[str, ...]] = ("cases", "tasks", "repeats", "seed", "data")

    cases: tuple[str, ...]
    tasks: tuple[Task, ...] = TASKS
    sigmas: tuple[float, ...] = (0.0, 0.05, 0.1)
    repeats: int = 3
    stream: Stream = "independent"
    rule: str = "quantile(0.95)"
    # On the noisy models of these generators, on synthetic cases, these metrics get another rule than the rest.
    exempt: frozenset[tuple[str, str]] = frozenset()
    exempt_rule: str = ""
    metrics: tuple[Any, ...] = field(default=("paper",), kw_only=True)
    data: Path | None = field(default=None, compare=False, kw_only=True)

    @cached_property
    def _rules(self) -> list[tuple[str, Rule]]:
        """The keys and rules: the one of all, and that of the exempt."""
        return [(rule_key(rule), rule) for rule in map(parse_rule, (self.rule, self.exempt_rule or self.rule))]

    def present(self, data: Path | None) -> list[LabelCase]:
        """Return the cases whose labels can be had."""
        return [CASES[name] for name in self.cases if CASES[name].present(data)]

    def rule_for(self, metric: str, generator: str, sigma: float, synthetic: bool) -> str:
        """Return the key of the rule for a metric (its bare name) on these models."""
        return self._rules[bool(sigma) and synthetic and (metric, generator) in self.exempt][0]

    def _checked(self, options: dict[str, Any]) -> dict[str, Any]:
        if "seed" in options and self.stream == "published":
            raise InvalidParameterError(f"suite {self.name!r} has the published seeds: leave random_state (--seed) out")
        found = {**options, "data": data_folder(options.get("data", self.data))}
        if "cases" in options:
            kind = f"case of suite {self.name!r}"
            known: Registry[LabelCase] = Registry(kind, records=[CASES[name] for name in self.cases])
            cases = _some(options["cases"], known)
            found["cases"] = tuple(case.name for case in cases)
            for case in cases:
                case.events(found["data"])  # says what is missing before any work begins
        if "tasks" in options:
            found["tasks"] = _some(options["tasks"], Registry("task of this plan", records=self.tasks))
        return found

    def bind(self, metrics: Metrics | None, scores: Any = None) -> Self:
        """Return the plan of a run, on the cases whose labels can be had."""
        data = data_folder(self.data)
        names = tuple(case.name for case in self.present(data))
        seed = None if self.stream == "published" else self.seed
        return replace(super().bind(metrics, scores), cases=names, data=data, seed=seed)

    def cells(self) -> list[RankingCell]:
        """Return every value there is to compute."""
        generators = [GENERATORS[name] for name in dict.fromkeys(task.generator for task in self.tasks)]
        return [
            RankingCell(case, generator.name, q, p, sigma, repeat, self.stream, self.seed, str(m), version, rule)
            for case in self.cases
            for generator in generators
            for sigma in self.sigmas
            for m in self.metrics
            for key in [self.rule_for(m.name, generator.name, sigma, CASES[case].synthetic)]
            for rule in [key if m.kind == "predictions" else None]
            for version in [f"{m.version}g{generator.revision}"]
            for repeat in range(self.repeats)
            for q in generator.q
            for p in generator.p
        ]

    def chunks(self, cells: Iterable[RankingCell]) -> list[Chunk]:
        """Return the cells in groups that share labels and, as far as the streams allow, series; long series first.

        The published noise is the same in every repeat, so there the repeats belong together.
        """
        groups = group_cells(
            cells, lambda c: (c.case, c.generator, c.sigma, None if c.stream == "published" and c.sigma else c.repeat)
        )
        events = {case: CASES[case].events(self.data) for case in dict.fromkeys(key[0] for key in groups)}
        ordered = sorted(groups.items(), key=lambda item: -events[item[0][0]].n)
        return [self.chunk(scorings, group, dict(self._rules), events[key[0]]) for key, group in ordered]

    def recorded(self) -> dict[str, Any]:
        """Return what a store keeps of the options."""
        tasks = [task.name for task in self.tasks]
        return {"cases": list(self.cases), "repeats": self.repeats, "seed": self.seed, "tasks": tasks}

    def _options_of(self, record: dict[str, Any]) -> dict[str, Any]:
        tasks = tuple(task for task in self.tasks if task.name in record["tasks"])
        return super()._options_of(record) | {"cases": tuple(record["cases"]), "tasks": tasks}


def _some(wanted: Sequence[str], known: Registry[R]) -> tuple[R, ...]:
    """Return those of some records that a caller named."""
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    if not names:
        raise InvalidParameterError(f"no {known.kind} is named: name at least one, or leave it out for all")
    chosen = {name: known[name] for name in names}
    return tuple(record for name, record in known.items() if name in chosen)


def scorings(chunk: Chunk) -> Iterator[Making]:
    """Draw the series of a chunk, each once, whose payload is its events."""
    mask = chunk.payload.mask()
    series = group_cells(chunk.cells, lambda c: (c.generator, c.q, c.p, c.sigma, c.stream, _numbers(c)))
    for model, cells in series.items():
        yield tuple(cells), partial(_scoring, mask, *model)


def _scoring(
    mask: Bools, generator: str, q: float, p: float | None, sigma: float, stream: Stream, numbers: tuple[int, ...]
) -> tuple[Scoring, Row]:
    return Scoring.of(mask, draw(GENERATORS[generator], mask, stream, numbers, q, p, sigma)), {}


def _numbers(cell: RankingCell) -> tuple[int, ...]:
    return source(cell.stream, cell.seed or 0, cell.repeat, cell.sigma, (cell.case, cell.generator, cell.q, cell.p))


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

PAPER_SUITES = (
    PaperSuite(
        name="quick",
        summary="six cases of 10,000 points and one repeat: seconds on a laptop",
        cases=("10k-2seg-50L", "10k-20seg-50H", "10k-50seg-20L", "10k-5seg-20H", "10k-10seg-100H", "10k-2seg-500L"),
        repeats=1,
        paper=ELEVEN,
    ),
    PaperSuite(
        name="paper",
        summary="the published protocol: published label sets, streams, thresholds and options",
        cases=(*SYNTHETIC, *REAL),
        stream="published",
        rule=PUBLISHED_RULE,
        exempt=frozenset((name, "AccQ") for name in ("affiliation_f1", "unbiased_affiliation_f1", "etapr_f1")),
        exempt_rule="first_alarms(0.75, 0.65, 0.55)",
        paper=PUBLISHED,
    ),
    PaperSuite(
        name="paper-text",
        summary="the protocol with the generators of the paper's text, mended, and independent streams",
        cases=(*SYNTHETIC, *REAL),
        tasks=tuple(replace(task, generator=f"{task.generator}-text") for task in TASKS),
        rule=PUBLISHED_RULE,
        metrics=("cce", "paper"),  # the text's own CCE beside that of the published code
        paper=PUBLISHED,
    ),
    PaperSuite(
        name="standard",
        summary="ours: the generators of the published code, independent streams, one threshold for all",
        cases=(*SYNTHETIC, *REAL),
        metrics=("paper", "cce(constrained=True)", "cce(uncertainty='pointwise')"),
        paper=ELEVEN,
    ),
)

# The paper's example: five models of known order on one short series, (q, p) from the best model to the worst.
MEMBERS = ((1.0, 0.05), (0.9, 0.05), (0.9, 0.1), (0.9, 0.3), (0.8, 0.3))
# The paper's columns, CCE with the uncertainty that its example has.
EXAMPLE_METRICS = ("cce(uncertainty='scaled')", "reduced_f1", "etapr_f1", "affiliation_f1", "vus_roc(n_thresholds=100)")


@dataclass(frozen=True, eq=False)
class Model:
    """One model: its place in the true order, its name, its scores and the threshold of its alarms."""

    rank: int
    name: str
    scores: Floats
    threshold: float

    @property
    def alarms(self) -> Bools:
        """Scores at the threshold are alarms here, as in the published example and nowhere else."""
        return np.asarray(self.scores >= self.threshold)


def example_labels() -> Events:
    """Return the two events, from their published seed."""
    return synthetic_events(n=500, segments=2, longest=50, shortest=30, seed=43)


def five_models() -> list[Model]:
    """Return the models, from the best to the worst."""
    mask, numbers = example_labels().mask(), (PUBLISHED_NOISE_SEED,)
    drawn = [
        (f"PreQ{q}-NegP{p}-R", draw(GENERATORS["PreQ-NegP"], mask, "published", numbers, q, p, 0.1)) for q, p in MEMBERS
    ]
    return [Model(i, name, scores, float(np.quantile(scores, 0.95))) for i, (name, scores) in enumerate(drawn, 1)]


def five_models_table() -> MappingResult:
    """Evaluate them with five metrics; a row per model, `value` is CCE.

    >>> round(five_models_table()["PreQ1.0-NegP0.05-R"], 3)
    0.768
    """
    mask = example_labels().mask()
    metrics = [parse_metric(text) for text in EXAMPLE_METRICS]
    rows = []
    for model in five_models():
        scoring = Scoring.of(mask, model.scores, model.alarms)
        found = {m.label: m.run(scoring, fixed(model.threshold)).value for m in metrics}
        rows.append({"rank": model.rank, "model": model.name, **found, "value": found[metrics[0].label]})
    return MappingResult(rows, key="model", shown=["rank", "model", *(m.label for m in metrics)])
