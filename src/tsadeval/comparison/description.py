"""Describe a comparison in a paragraph, as papers do: tests, numbers, sizes, what was left out, what does not follow."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import tsadeval
from tsadeval.comparison import statistics
from tsadeval.comparison.paired import paired_difference, rank_biserial
from tsadeval.comparison.statistics import Ranking
from tsadeval.core.messages import named
from tsadeval.core.metric import METRICS, metric_labels
from tsadeval.core.references import Reference
from tsadeval.core.results import latex_text
from tsadeval.datasets import DATASETS

# The methods behind the numbers of a paragraph.
METHODS = {
    name: Reference.of(text)
    for name, text in {
        "Friedman": "Friedman, The use of ranks to avoid the assumption of normality implicit in the analysis of "
        "variance, Journal of the American Statistical Association 1937",
        "Iman-Davenport": "Iman and Davenport, Approximations of the critical region of the Friedman statistic, "
        "Communications in Statistics 1980",
        "Wilcoxon": "Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1945",
        "Holm": "Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 1979",
        "rank-biserial": "Kerby, The simple difference formula: an approach to teaching nonparametric correlation, "
        "Comprehensive Psychology 2014",
        "bootstrap": "Efron, Bootstrap methods: another look at the jackknife, The Annals of Statistics 1979",
    }.items()
}


class Facts(NamedTuple):
    """What a paragraph is made of: the values (larger is better) of one metric, and what else is known of them."""

    metric: str
    lower: bool
    better: Any
    detectors: Sequence[str]
    datasets: Sequence[str]
    remarks: Sequence[str]
    others: Mapping[str, Sequence[str]]  # by other metrics who is first
    uses_labels: bool


def cited(names: Iterable[str]) -> str:
    """Return marks for the references of some methods and metrics."""
    return "".join(f" [{one.key}]" for name in names for one in (METHODS.get(name), *of_metric(name)) if one)


def of_metric(name: str) -> list[Reference]:
    """Return the references of a metric of the library; none of another."""
    record = METRICS.get(name.partition("(")[0])
    return [Reference.of(text) for text in record.references] if record is not None else []


def references(metrics: Sequence[str], datasets: Sequence[str], *, tests: bool) -> list[Reference]:
    """Collect what is behind the numbers: this package, metrics, tests and the data sets that it knows."""
    title = "tsadeval: evaluation of time-series anomaly detectors and of the metrics that judge them"
    version = f"version {tsadeval.__version__}"
    own = Reference("The tsadeval developers", title, version, url="https://github.com/tsadeval/tsadeval")
    of_metrics = [one for name in metrics for one in of_metric(name)]
    return [own, *of_metrics, *(METHODS.values() if tests else ()), *map(of_dataset, datasets)]


def of_dataset(name: str) -> Reference:
    """Return where a known data set comes from."""
    return Reference("", DATASETS[name].title, url=DATASETS[name].source)


def describe(facts: Facts, found: Ranking, alpha: float, seed: int) -> str:
    """Write the paragraph; marks such as [wilcoxon1945individual] name the references."""
    label, known = metric_labels([facts.metric])[facts.metric], int((~np.isnan(facts.better)).any(axis=1).sum())
    n = f"{known} of {len(facts.better)} series (the others have no value)"
    n = f"{known} series" if known == len(facts.better) else n
    names = [facts.detectors[j] for j in found.kept]
    titles = [f"{one.title} [{one.key}]" for one in map(of_dataset, facts.datasets)]
    of_data = f" of {named(titles, 20)}" if titles else ""
    lower = ", of which lower is better" * facts.lower
    text = [
        f"We compare {len(facts.detectors)} detectors ({named(facts.detectors, 30)}) on {n}{of_data} by "
        f"{label}{cited([facts.metric])}{lower}."
    ]
    if facts.uses_labels:
        text.append("Its thresholds are chosen with the labels, so its values are upper bounds.")
    if found.tested and len(names) > 2:
        test = statistics.friedman(found.values)
        k, rejects = test.detectors - 1, "rejects" if test.f_p < alpha else "does not reject"
        text.append(
            f"Friedman's test{cited(['Friedman'])} with the F of Iman and Davenport{cited(['Iman-Davenport'])} {rejects} "
            f"that all are equal (F({k}, {k * (test.series - 1)}) = {test.f:.2f}, {_p(test.f_p)}, n = {test.series})."
        )
    if found.tested and np.isfinite(found.first).any():
        text += _of_pairs(facts, found, names, alpha, seed)
    text += [f"To note: {'; '.join(facts.remarks)}."] if facts.remarks else []
    return " ".join([*text, *_limits(facts, found, alpha)])


def _of_pairs(facts: Facts, found: Ranking, names: Sequence[str], alpha: float, seed: int) -> list[str]:
    """Say who is first, and how the others differ from it."""
    best, order = int(np.argmin(found.first)), np.argsort(found.means.mean, kind="stable").tolist()
    column, mean, low, high = found.values[:, best], *(float(one[best]) for one in found.means[:3])
    value = np.nanmean(column) * (-1 if facts.lower else 1)
    tests = found.tests
    row = 0 if found.many else best
    groups: dict[str, list[str]] = {}
    for j in order:
        if j == best:
            continue
        size = paired_difference(column, found.values[:, j], seed=seed)
        p = float(tests.p_values[row, j])
        which = "undecided" if not p < alpha else "worse" if rank_biserial(column, found.values[:, j]) > 0 else "better"
        groups.setdefault(which, []).append(
            f"{names[j]} (mean difference {size.mean:.3f} [{size.low:.3f}, {size.high:.3f}], effect "
            f"{rank_biserial(column, found.values[:, j]):.2f}, {_p(p)}, n = {size.series})"
        )
    words = {
        "worse": f"{names[best]} is significantly better than",
        "better": f"{names[best]} is, though first by rank, significantly worse than",
        "undecided": "no significant difference is found between it and",
    }
    said = "; ".join(f"{words[which]} {named(groups[which], 30)}" for which in words if which in groups)
    return [
        f"{names[best]} has the best mean rank, {mean:.2f} (95 % interval [{low:.2f}, {high:.2f}]), and a mean of "
        f"{value:.3f}.",
        f"By Wilcoxon's signed-rank tests{cited(['Wilcoxon'])} of every two with Holm's correction{cited(['Holm'])} at "
        f"{alpha:g}, {said}.",
        "Mean differences are in favour of the first where positive, with 95 % bootstrap intervals over series"
        f"{cited(['bootstrap'])}; effects are matched-pairs rank-biserial correlations{cited(['rank-biserial'])}.",
    ]


def _limits(facts: Facts, found: Ranking, alpha: float) -> list[str]:
    """Say what cannot be concluded."""
    text = [] if found.tested else ["No test is possible: fewer than two series have values of several detectors."]
    if found.tested:
        few = found.tests.too_few(alpha)
        text += [f"{few[0].upper()}{few[1:]}."] if few else []
        text += [
            "That no significant difference is found does not say that two detectors are equal, and tests take the "
            "series as independent, which several of one source may not be."
        ]
    if facts.others:
        first = [f"{', '.join(names)} by {label}" for label, names in facts.others.items()]
        text.append(f"The order depends on the metric: first is {'; '.join(first)}.")
    return text


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def as_latex(text: str) -> str:
    r"""Escape a paragraph for LaTeX, with its marks as \cite."""
    parts = re.split(r"((?: \[[a-z0-9]+\])+)", text)
    marks = (rf"~\cite{{{part[2:-1].replace('] [', ',')}}}" for part in parts[1::2])
    texts = (re.sub(r"(?<=[ \[])-(?=\d)", "$-$", latex_text(part)) for part in parts[::2])
    return "".join(part + next(marks, "") for part in texts)
