"""Suites: label cases, tasks, noise, streams and thresholds, put together under a name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tsadeval.core.registry import Registry
from tsadeval.rankeval.generators import Stream
from tsadeval.rankeval.labels import CASES, REAL, SYNTHETIC, Case
from tsadeval.rankeval.tasks import TASKS, TEXT_TASKS, Task

__all__ = ["SUITES", "Exemption", "Suite"]


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
