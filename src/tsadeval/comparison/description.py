"""Describe a comparison in a paragraph, as papers do: tests, numbers, sizes, what is missing, what does not follow."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

import tsadeval
from tsadeval.comparison import statistics
from tsadeval.comparison.paired import paired_difference, rank_biserial
from tsadeval.core.facts import Flaw, Origin, grouped
from tsadeval.core.messages import below_random, failed_lines, fewer_series, flaw_remarks, named, undefined_everywhere
from tsadeval.core.metric import METRICS, metric_labels
from tsadeval.core.results import Row, latex_text
from tsadeval.core.selection import AnyMetric
from tsadeval.datasets import DATASETS
from tsadeval.thresholds.rules import RULES

if TYPE_CHECKING:
    from tsadeval.comparison.comparison import Comparison

# The methods behind the numbers of a paragraph.
METHODS = {
    "Friedman": "Friedman, The use of ranks to avoid the assumption of normality implicit in the analysis of variance, "
    "Journal of the American Statistical Association 1937",
    "Iman-Davenport": "Iman and Davenport, Approximations of the critical region of the Friedman statistic, "
    "Communications in Statistics 1980",
    "Wilcoxon": "Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1945",
    "Holm": "Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 1979",
    "rank-biserial": "Kerby, The simple difference formula: an approach to teaching nonparametric correlation, "
    "Comprehensive Psychology 2014",
    "bootstrap": "Efron, Bootstrap methods: another look at the jackknife, The Annals of Statistics 1979",
}
# What publishers say of publications beyond the references of records, by the keys of their entries.
FIELDS = {
    "friedman1937ranks": {
        "author": "Friedman, Milton",
        "journal": "Journal of the American Statistical Association",
        "volume": "32",
        "number": "200",
        "pages": "675--701",
        "doi": "10.1080/01621459.1937.10503522",
    },
    "iman1980approximations": {
        "author": "Iman, Ronald L. and Davenport, James M.",
        "journal": "Communications in Statistics -- Theory and Methods",
        "volume": "9",
        "number": "6",
        "pages": "571--595",
        "doi": "10.1080/03610928008827904",
    },
    "wilcoxon1945individual": {
        "author": "Wilcoxon, Frank",
        "journal": "Biometrics Bulletin",
        "volume": "1",
        "number": "6",
        "pages": "80--83",
        "doi": "10.2307/3001968",
    },
    "holm1979simple": {
        "author": "Holm, Sture",
        "journal": "Scandinavian Journal of Statistics",
        "volume": "6",
        "number": "2",
        "pages": "65--70",
        "url": "https://www.jstor.org/stable/4615733",
    },
    "kerby2014simple": {
        "author": "Kerby, Dave S.",
        "journal": "Comprehensive Psychology",
        "volume": "3",
        "pages": "11.IT.3.1",
        "doi": "10.2466/11.IT.3.1",
    },
    "efron1979bootstrap": {
        "author": "Efron, Bradley",
        "journal": "The Annals of Statistics",
        "volume": "7",
        "number": "1",
        "pages": "1--26",
        "doi": "10.1214/aos/1176344552",
    },
    "siffer2017anomaly": {
        "author": r"Siffer, Alban and Fouque, Pierre-Alain and Termier, Alexandre and Largou{\"e}t, Christine",
        "booktitle": "Proceedings of the 23rd ACM SIGKDD International Conference on Knowledge Discovery and Data "
        "Mining",
        "pages": "1067--1075",
        "doi": "10.1145/3097983.3098144",
    },
    "hundman2018detecting": {
        "author": "Hundman, Kyle and Constantinou, Valentino and Laporte, Christopher and Colwell, Ian and "
        "Soderstrom, Tom",
        "booktitle": "Proceedings of the 24th ACM SIGKDD International Conference on Knowledge Discovery and Data "
        "Mining",
        "pages": "387--395",
        "doi": "10.1145/3219819.3219845",
    },
}
PACKAGE = (
    "The tsadeval developers, tsadeval: evaluation of time-series anomaly detectors and of the metrics that judge them"
)
HOME = "https://github.com/tsadeval/tsadeval"
# A reference of a record: "Authors, Title, Venue Year (note)", of which all but the title may be missing.
_TEXT = re.compile(
    r"(?:(?P<authors>The [^,]+|[\w ]+ et al\.|(?:van )?\w+(?:, \w+)*(?: and \w+)?)"
    r"(?: \((?P<early>\d{4})\))?, (?!\d+\b))?(?P<title>.*?)"
    r"(?:, (?P<venue>[^,]+?))??(?:,? (?P<year>\d{4}))?(?: \([^()]*\))?",
    re.DOTALL,
)


def parse_reference(text: str) -> dict[str, str]:
    """Read who, what, where and when, "" for what the text does not say, and make the key of its entry.

    >>> list(parse_reference("Wu and Keogh, Benchmarks are Flawed, TKDE 2021 (a note)").values())
    ['Wu and Keogh', 'Benchmarks are Flawed', 'TKDE', '2021', 'wu2021benchmarks']
    """
    found = _TEXT.fullmatch(text)
    assert found is not None  # any text is a title
    parts = {name: part or "" for name, part in found.groupdict().items()}
    parts |= {"year": parts["year"] or early} if (early := parts.pop("early")) else {}
    first = re.sub(r"^(The|van) | et al\.$", "", parts["authors"]).partition(",")[0].partition(" ")[0]
    words = [word for word in re.split(r"\W+", f"{parts['title']} {parts['venue']}") if len(word) > 3 and word != first]
    plain = unicodedata.normalize("NFKD", f"{first}{parts['year']}{''.join(words[:1])}".lower().replace("ø", "o"))
    return {**parts, "key": re.sub("[^a-z0-9]", "", plain)}


def entry_of(text: str, url: str = "") -> str:
    """Return the entry of BibTeX: everything that the text and `FIELDS` say, and nothing else."""
    parts = parse_reference(text)
    names = parts["authors"].replace(" et al.", " and others").replace(", ", " and ")
    fields = {
        "author": f"{{{names}}}" if names.startswith("The ") else names,
        "title": f"{{{latex_text(parts['title'])}}}",
        "howpublished": ", ".join(filter(None, [latex_text(parts["venue"]), rf"\url{{{url}}}" * bool(url)])),
        "year": parts["year"],
        **({"howpublished": "", **FIELDS[parts["key"]]} if parts["key"] in FIELDS else {}),
    }
    kind = "article" if "journal" in fields else "inproceedings" if "booktitle" in fields else "misc"
    lines = [f"  {name} = {{{part}}}," for name, part in fields.items() if part]
    return "\n".join([f"@{kind}{{{parts['key']},", *lines, "}"])


def _texts(names: Iterable[str]) -> dict[str, str]:
    """Return the references of methods, metrics of the library, rules and known data sets, with their addresses."""
    found: dict[str, str] = {}
    for name in names:
        record = METRICS.get(name.partition("(")[0]) or RULES.get(name)
        found |= dict.fromkeys([METHODS[name]] if name in METHODS else getattr(record, "references", []), "")
        found |= {DATASETS[name].title: DATASETS[name].source} if name in DATASETS else {}
    return found


def _marks(*names: str) -> str:
    """Return the marks of some references: the keys of their entries."""
    return "".join(f" [{parse_reference(text)['key']}]" for text in _texts(names))


def _rules(rows: Sequence[Row]) -> list[str]:
    """Return the names of the rules by which thresholds were found."""
    texts = (row["rule"] for row in rows if row.get("origin") == Origin.RULE)
    return [name for name in re.findall(r"\w+", " ".join(dict.fromkeys(texts))) if name in RULES]


def bibtex(found: "Comparison") -> str:
    """Write the entries of what is behind the numbers: this package, metrics, threshold rules, tests and data sets."""
    tests = METHODS if len(found.series) > 1 and len(found.detectors) > 1 else ()
    texts = {
        f"{PACKAGE}, version {tsadeval.__version__}": HOME,
        **_texts([*found.metrics, *_rules(found.rows), *tests, *found.datasets]),
    }
    return "\n\n".join({parse_reference(text)["key"]: entry_of(text, url) for text, url in texts.items()}.values())


def about(
    found: "Comparison", series: Collection[str] | None, metrics: Sequence[str] | None, labels: bool
) -> tuple[list[Row], dict[str, str], list[str], dict[str, list[Flaw | None]]]:
    """Return what remarks are made of: rows, what metrics are called, which are better lower, and flaws."""
    names = found.metrics if metrics is None else metrics
    called = metric_labels(names) if labels else {name: name for name in names}
    rows = [
        {**row, "metric": called[row["metric"]]}
        for row in found.rows
        if row["metric"] in called and (series is None or row["series"] in series)
    ]
    some = [i for i, name in enumerate(found.series) if series is None or name in series]
    flaws = {called[name]: found.flaws(name, some) for name in names if len(found.detectors) > 1}
    return rows, called, [called[name] for name in names if name in found._lower], flaws


def describe(found: "Comparison", metric: AnyMetric | None, alpha: float, seed: int) -> str:
    """Write the paragraph about one metric; marks such as [holm1979simple] name the references."""
    name, better = next(iter(found._better(metric).items()))
    every, label = range(len(found.series)), metric_labels([name])[name]
    ranking = statistics.Ranking(better, found.flaws(name, every), seed=seed)
    rows, called, lower, flaws = about(found, None, [name], True)
    known = int((~np.isnan(better)).any(axis=1).sum())
    lost = f" of {len(better)} series (the others have no value)" if known < len(better) else " series"
    titles = [f"{DATASETS[one].title}{_marks(one)}" for one in found.datasets]
    some = f"{len(found.names)} detector{'s' * (len(found.names) > 1)} ({named(found.names, 30)})"
    text = [
        f"We compare {some} on {known}{lost}"
        f"{f' of {named(titles, 20)}' if titles else ''} by {label}{_marks(name)}"
        f"{', of which lower is better' * bool(lower)}."
    ]
    if any(row.get("uses_labels") for row in rows):
        text.append("Its thresholds are chosen with the labels, so its values are upper bounds.")
    if by_rule := list(dict.fromkeys(row["rule"] for row in rows if row.get("origin") == Origin.RULE)):
        text.append(f"Its thresholds are those of {named(by_rule)}{_marks(*_rules(rows))}.")
    if ranking.tested and np.isfinite(ranking.first).any():
        text += _of_tests(ranking, [found.names[j] for j in ranking.kept], bool(lower), alpha, seed)
    remarks = [*flaw_remarks(flaws, found.names), *undefined_everywhere(rows, list(called.values()))]
    shown = dict(zip(found.detectors, found.names, strict=True))
    remarks += [*fewer_series(rows, list(called.values()), shown, found.missing), *failed_lines(rows)]
    remarks += below_random(found.above_random(name).rows) if found.baseline is not None else []
    remarks += [f"left out: {line}" for line in (found.source.left_out_lines() if found.source else ())]
    text += [f"To note: {'; '.join(remarks)}."] if remarks else []
    if ranking.tested:
        few = ranking.tests.too_few(alpha)
        text += [
            f"{few[:1].upper()}{few[1:]}." * bool(few),
            "That no significant difference is found does not say that two detectors are equal, and tests take the "
            "series as independent, which several of one source may not be.",
        ]
    else:
        text.append("No test is possible: fewer than two series have values of several detectors.")
    first = found.disagreement().overall if len(found.detectors) > 1 else {}
    others = [f"{', '.join(who)} by {metric_labels([m])[m]}" for m, who in first.items() if who and who != first[name]]
    text += [f"The order depends on the metric: first is {'; '.join(others)}."] if others else []
    return " ".join(filter(None, text))


def _of_tests(ranking: statistics.Ranking, names: Sequence[str], lower: bool, alpha: float, seed: int) -> list[str]:
    """Say whether there is a difference, who is first, and how the others differ from it."""
    best, text = int(np.argmin(ranking.first)), []
    if len(names) > 2:
        test = statistics.friedman(ranking.values)
        k, rejects = test.detectors - 1, "rejects" if test.f_p < alpha else "does not reject"
        text.append(
            f"Friedman's test{_marks('Friedman')} with the F of Iman and Davenport{_marks('Iman-Davenport')} {rejects} "
            f"that all are equal (F({k}, {k * (test.series - 1)}) = {test.f:.2f}, {_p(test.f_p)}, n = {test.series})."
        )
    column, (mean, low, high) = ranking.values[:, best], (float(one[best]) for one in ranking.means[:3])
    sign = -1 if lower else 1
    pairs = []
    for j in np.argsort(ranking.means.mean, kind="stable").tolist():
        other = ranking.values[:, j]
        size, effect = paired_difference(column, other, seed=seed), rank_biserial(column, other)
        p = float(ranking.tests.p_values[0 if ranking.many else best, j])
        shown = f"{size.mean:.3f} [{size.low:.3f}, {size.high:.3f}], effect {effect:.2f}, {_p(p)}, n = {size.series}"
        pairs += [((p < alpha) * int(np.sign(effect)), f"{names[j]} (mean difference {shown})")] if j != best else []
    words = {
        1: f"{names[best]} is significantly better than",
        -1: f"{names[best]} is, though first by rank, significantly worse than",
        0: "no significant difference is found between it and",
    }
    by_sign = grouped(pairs)
    said = "; ".join(f"{words[one]} {named(by_sign[one], 30)}" for one in words if one in by_sign)
    means = [float(np.nanmean(one)) for one in ranking.values.T]
    top = int(np.argmax(np.where(np.isfinite(ranking.first), means, -np.inf)))
    highest = f"; the best mean has {names[top]}, {sign * means[top]:.3f}" if means[top] > means[best] else ""
    return [
        *text,
        f"{names[best]} has the best mean rank, {mean:.2f} (95 % interval [{low:.2f}, {high:.2f}]), and a mean of "
        f"{sign * means[best]:.3f}{highest}.",
        f"By Wilcoxon's signed-rank tests{_marks('Wilcoxon')} of every two with Holm's correction{_marks('Holm')} at "
        f"{alpha:g}, {said}.",
        "Mean differences are in favour of the first where positive, with 95 % bootstrap intervals over series"
        f"{_marks('bootstrap')}; effects are matched-pairs rank-biserial correlations{_marks('rank-biserial')}.",
    ]


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def as_latex(text: str) -> str:
    r"""Escape a paragraph for LaTeX, with its marks as \cite."""
    cited = re.sub(r"(?: \[[a-z0-9]+\])+", lambda m: rf"~\cite{{{m[0][2:-1].replace('] [', ',')}}}", latex_text(text))
    return re.sub(r"(?<=[ \[])-(?=\d)", "$-$", cited)
