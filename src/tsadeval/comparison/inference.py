"""Tables of a comparison's statistics: ranks, tests of pairs, disagreement of metrics, categories of series.

Matrices have a row per series and a column per detector, and larger values are better.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from tsadeval.comparison import paired, statistics
from tsadeval.comparison.standings import winners
from tsadeval.core.facts import Flaw, finite_mean, grouped
from tsadeval.core.inputs import Floats, label_runs
from tsadeval.core.messages import named
from tsadeval.core.names import check_known, did_you_mean
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.core.results import NONE, Grid, ResultTable, Row, grid_of
from tsadeval.core.selection import ByMetric
from tsadeval.datasets import DATASETS
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError

DATASET, GROUP = "data set", "group"
SHOWN = 5  # series on which metrics disagree, in the notes

# Which group a series belongs to: a function of its name, or a mapping from names.
Groups = Callable[[str], str] | Mapping[str, str]


def group_of(groups: Groups, series: str) -> str:
    """Return the group of a series."""
    if callable(groups):
        return str(groups(series))
    if not isinstance(groups, Mapping):
        raise InvalidParameterError(
            f"groups must be a function of the name of a series or a mapping from it, not {groups!r}; "
            "average() also takes groups='dataset'"
        )
    if series not in groups:
        raise InvalidInputError(f"groups has no entry for series {series!r}: give every series a group")
    return str(groups[series])


def dataset_of(series: str) -> str:
    """Return the data set that a series belongs to: of a known one the part before the slash, else the series itself.

    >>> dataset_of("smd/2-1"), dataset_of("my/own.csv")
    ('smd', 'my/own.csv')
    """
    name = series.partition("/")[0]
    return name if name in DATASETS else series


def _need_several(detectors: Sequence[str]) -> None:
    if len(detectors) < 2:
        raise InvalidInputError(f"statistics need at least 2 detectors, but there is only {', '.join(detectors)}")


def _by_remark(remarks: Mapping[str, str]) -> list[str]:
    """Return what is to be said of each metric, a line for each remark; without names if it holds for all metrics."""
    found = grouped((text, metric) for metric, text in remarks.items() if text)
    return [text if len(some) == len(remarks) else f"{', '.join(some)}: {text}" for text, some in found.items()]


def _fewer(better: Floats) -> str:
    """Say on how many series ranks stand, where some detectors have no value on some."""
    whole, known = len(statistics.whole_rows(better)), int((~np.isnan(better)).any(axis=1).sum())
    text = f"ranks, wins and losses: on {whole} of {known} series, those on which every detector has a value"
    return f"{text}; tests: on the series that both have" if whole < known else ""


def rank_table(
    matrices: Mapping[str, Floats], detectors: Sequence[str], alpha: float, random_state: int
) -> ResultTable:
    """Make the table of mean ranks by metric, best first; detectors that share a letter were not told apart."""
    check_parameters("ranks", statistics.CHECKS, {"alpha": alpha, "random_state": random_state})
    _need_several(detectors)
    rows: list[Row] = []
    left_out, overall = [], []
    ranked: dict[str, statistics.Ranking] = {}
    for metric, better in matrices.items():
        kept = statistics.with_values(better)
        some = [name for j, name in enumerate(detectors) if j not in kept]
        left_out += [f"{metric}: not ranked without any value: {named(some)}"] if some else []
        if len(kept) < 2:
            continue
        found = ranked[metric] = statistics.Ranking(better, seed=random_state)
        groups = list(enumerate(found.groups(alpha)))
        if found.tested and len(kept) > 2:
            test = statistics.friedman(found.values)
            said = f"F = {test.f:.3f}, p = {test.f_p:.3g} on {test.series} series"
            overall.append(f"{metric}: Friedman test (Iman-Davenport) {said}")
        counts = {name: some.tolist() for name, some in found.counts._asdict().items()}
        for j in np.argsort(found.means.mean, kind="stable").tolist():
            rows.append(
                {
                    "metric": metric,
                    "detector": detectors[kept[j]],
                    "rank": float(found.means.mean[j]),
                    "low": float(found.means.low[j]),
                    "high": float(found.means.high[j]),
                    "group": "".join(_letter(i) for i, group in groups if j in group),
                    **{name: some[j] for name, some in counts.items()},
                    "series": found.means.series,
                }
            )
    same = f"the same letter: not told apart by Wilcoxon-Holm tests at {alpha:g}"
    if any(found.many for found in ranked.values()):
        same = f"no letters for more than {statistics.MANY} detectors: significance() tests every two"
    notes = [*left_out, *overall, same]
    notes += _by_remark({metric: _fewer(found.values) for metric, found in ranked.items()})
    notes += _by_remark({metric: found.tests.too_few(alpha) for metric, found in ranked.items()})
    columns = [*["metric"] * (len(ranked) > 1), "detector", "rank", "low", "high", "group", "wins", "ties", "losses"]
    return ResultTable(rows, columns=columns, notes=notes)


def _letter(i: int) -> str:
    """Return the letters a, b, ..., z, a1, b1, ... by number."""
    return chr(ord("a") + i % 26) + (str(i // 26) if i >= 26 else "")


def significance_table(
    matrices: Mapping[str, Floats],
    detectors: Sequence[str],
    lower: set[str],
    test: str,
    alpha: float,
    rope: float,
    random_state: int,
) -> ResultTable:
    """Make the table of every two detectors by metric: p-value or posterior, size of the difference, wins and losses.

    `difference` is how much better the first is on average, with its bootstrap interval from `low` to `high`;
    `effect` is the matched-pairs rank-biserial correlation, from -1 to 1.
    """
    checks: dict[str, Check] = {"test": OneOf((*statistics.TESTS, "bayes")), **statistics.CHECKS, "rope": Number(0)}
    given = {"test": test, "alpha": alpha, "random_state": random_state, "rope": rope}
    check_parameters("significance", checks, given)
    _need_several(detectors)
    rows: list[Row] = []
    tests: dict[str, statistics.Pairwise] = {}
    for metric, better in matrices.items():
        order = np.argsort(statistics.mean_ranks(better, draws=1).mean, kind="stable").tolist()
        if test != "bayes":
            tests[metric] = statistics.TESTS[test](better)
        for i, j in ((i, j) for place, i in enumerate(order) for j in order[place + 1 :]):
            x, y = better[:, i], better[:, j]
            if metric in tests:
                p = float(tests[metric].p_values[i, j])
                told = {"p_value": p, "raw_p_value": float(tests[metric].raw[i, j]), "different": p < alpha}
            else:
                posterior = paired.bayesian_signed_rank(x, y, rope=rope, seed=random_state)
                told = {**posterior._asdict(), "different": max(posterior[0], posterior[2]) > 1 - alpha}
            about = {"metric": metric, "detector": detectors[i], "rival": detectors[j], **told}
            rows.append({**about, **_sizes(x, y, random_state)})
    words = {
        "wilcoxon-holm": "p-values of Wilcoxon's signed-rank test with Holm's correction",
        "nemenyi": "p-values of Nemenyi's test",
        "bayes": f"posterior probabilities of the Bayesian signed-rank test, equivalent within {rope:g}",
    }
    notes = [f"{words[test]}; different at {alpha:g}"]
    if any(metric in lower for metric in matrices):
        notes.append("a positive difference is in favour of the first detector, also where less is better")
    first = ["worse", "equivalent", "better"] if test == "bayes" else ["p_value"]
    columns = [*["metric"] * (len(matrices) > 1), "detector", "rival", *first, "difference", "low", "high", "effect"]
    shown = [{**row, "different": ("no", "yes")[row["different"]] if row["series"] else NONE} for row in rows]
    grid = grid_of(shown, [*columns, "wins", "ties", "losses", "different"])
    notes += _by_remark({metric: found.too_few(alpha) for metric, found in tests.items()})
    return ResultTable(rows, grid=grid, notes=notes)


def _sizes(x: Floats, y: Floats, seed: int = 0) -> Row:
    """Return by how much one detector is better than another, with the interval, and on how many series."""
    size = paired.paired_difference(x, y, seed=seed)
    return {
        "difference": size.mean,
        "low": size.low,
        "high": size.high,
        "effect": paired.rank_biserial(x, y),
        "wins": int((x > y).sum()),
        "ties": int((x == y).sum()),
        "losses": int((x < y).sum()),
        "series": size.series,
    }


def random_table(matrices: Mapping[str, tuple[Floats, Floats]], detectors: Sequence[str], alpha: float) -> ResultTable:
    """Make the table of every detector against its own scores in random order: `different` where it is better."""
    check_parameters("above_random", statistics.CHECKS, {"alpha": alpha})
    rows: list[Row] = []
    for metric, (better, random) in matrices.items():
        raw = paired.wilcoxon(paired.differences(better, random))
        for j, (name, p) in enumerate(zip(detectors, statistics.holm(raw).tolist(), strict=True)):
            sizes = _sizes(better[:, j], random[:, j])
            told = {"p_value": p, "raw_p_value": float(raw[j]), "different": p < alpha and sizes["effect"] > 0}
            rows.append({"metric": metric, "detector": name, **told, **sizes})
    shown = [{**row, "above": ("no", "yes")[row["different"]] if row["series"] else NONE} for row in rows]
    columns = [*["metric"] * (len(matrices) > 1), "detector", "p_value", "difference", "low", "high", "effect", "above"]
    notes = [f"p-values of Wilcoxon's signed-rank test with Holm's correction; above: better than random at {alpha:g}"]
    return ResultTable(rows, grid=grid_of(shown, columns), notes=notes)


def robustness_table(
    found: Mapping[str, tuple[Floats, Sequence[Flaw | None]]], detectors: Sequence[str]
) -> ResultTable:
    """Make the table of the order of detectors by each metric and rule, and of how these orders agree."""
    _need_several(detectors)
    rankings = [statistics.Ranking(better, flaws, draws=1) for better, flaws in found.values()]
    means = np.array([one.for_all(one.means.mean.tolist(), math.nan) for one in rankings])
    first = np.array([one.for_all(one.first.tolist(), math.inf) for one in rankings])
    agreement = statistics.agreement(means)
    rows: list[Row] = []
    grid: Grid = [["", "metric", "rule", "winner", "agreement", *map(str, range(1, len(found) + 1))]]
    for i, name in enumerate(found):
        some = np.flatnonzero(np.isfinite(first[i]) & (first[i] == np.nanmin(first[i]))).tolist()
        ranks = {detectors[j]: float(means[i, j]) for j in np.argsort(means[i], kind="stable").tolist()}
        winner, mean = " = ".join(detectors[j] for j in some), finite_mean(np.delete(agreement[i], i))
        metric, _, rule = name.partition(" at ")
        rows.append({"metric": metric, "rule": rule, "winner": winner, "agreement": mean, "ranks": ranks})
        grid.append([i + 1, metric, rule, winner or NONE, mean, *agreement[i].tolist()])
    worst = np.where(np.isnan(agreement), math.inf, agreement)
    i, j = divmod(int(np.argmin(worst)), len(found))
    names = list(found)
    notes = ["agreement: mean Spearman correlation of mean ranks with the others; right: with each of them"]
    notes += [f"least alike: {names[i]} and {names[j]} ({worst[i, j]:.2f})"] if worst[i, j] < 1 else []
    return ResultTable(rows, grid=grid, notes=notes, agreement=agreement, orders=names)


def difference_table(
    better: Floats, metric: str, lower: bool, series: Sequence[str], detectors: list[str], first: str, second: str
) -> ResultTable:
    """Make the table of one detector against another, a row per series, the largest difference first.

    `difference` is how much better the first is (also where less is better); NaN where either has no value.
    """
    for name in (first, second):
        check_known(name, detectors, "detector", "this comparison")
    x, y = (better[:, detectors.index(name)] for name in (first, second))
    found = paired.differences(x, y)
    sign = -1.0 if lower else 1.0
    order = np.argsort(np.where(np.isnan(found), math.inf, -found), kind="stable").tolist()
    rows: list[Row] = [
        {
            "series": series[i],
            first: float(sign * x[i]),
            second: float(sign * y[i]),
            "metric": metric,
            "difference": float(found[i]),
        }
        for i in order
    ]
    size = paired.paired_difference(x, y)
    word, mean, low, high = ("worse", -size.mean, -size.high, -size.low) if size.mean < 0 else ("better", *size[:3])
    said = f"{first} is {word} by {mean:.4f} [{low:.4f}, {high:.4f}] on average over {size.series} series"
    note = f"{metric}: {said if size.series else 'no series has values of both'}"
    return ResultTable(rows, columns=["series", *dict.fromkeys((first, second)), "difference"], notes=[note])


def disagreement_table(
    matrices: Mapping[str, Floats],
    series: Sequence[str],
    detectors: Sequence[str],
    flaws: Callable[[str, Sequence[int]], Sequence[Flaw | None]],
) -> ResultTable:
    """Make the table of the winner of every metric on every series (rows), and where metrics name different ones.

    Its attribute `overall` has for each metric the detectors with the best mean rank, `agreement` the Spearman
    correlation of the detectors' mean ranks between every two metrics, and `series` the series on which metrics name
    different winners, those with the most winners first.
    """
    _need_several(detectors)
    every = range(len(series))
    rankings = [statistics.Ranking(better, flaws(metric, every), draws=1) for metric, better in matrices.items()]
    means = [np.array(one.for_all(one.means.mean.tolist(), math.nan)) for one in rankings]

    def named_in(marks: Floats) -> list[str]:
        return [detectors[j] for j in np.flatnonzero(marks).tolist()]

    firsts = [np.array(one.for_all(one.first.tolist(), math.inf)) for one in rankings]
    overall = {
        metric: named_in(np.isfinite(rank) & (rank == rank.min()))
        for metric, rank in zip(matrices, firsts, strict=True)
    }
    by_metric: dict[str, dict[str, list[str]]] = {}  # who wins on each series on which anyone does
    for metric, better in matrices.items():
        flawed = np.array([[flaw is not None for flaw in flaws(metric, [i])] for i in every])
        won = zip(series, winners(np.where(flawed, math.nan, better)), strict=True)
        by_metric[metric] = {name: named_in(shares) for name, shares in won if shares.any()}
    rows: list[Row] = [
        {"series": name, "metric": metric, "winner": " = ".join(some)}
        for metric, found in by_metric.items()
        for name, some in found.items()
    ]
    # How many metrics name whom on each series.
    votes = {name: Counter(w for found in by_metric.values() for w in found.get(name, ())) for name in series}
    favourites = {name: {w for w, c in some.items() if c == max(some.values())} for name, some in votes.items()}
    alone = {
        metric: sum(favourites[name].isdisjoint(some) for name, some in found.items())
        for metric, found in by_metric.items()
    }
    # Where one detector wins, or shares the win, by every metric, there is no disagreement.
    counted = Counter(row["series"] for row in rows)
    split = [(name, some) for name, some in votes.items() if some and max(some.values()) < counted[name]]
    split.sort(key=lambda item: -len(item[1]))
    agreement = statistics.agreement(np.array(means)) if means else np.empty((0, 0))
    shown: list[Row] = [
        {
            "metric": metric,
            "winner": " = ".join(some),
            "agreement": finite_mean(np.delete(agreement[i], i)),
            "alone on": alone[metric],
        }
        for i, (metric, some) in enumerate(overall.items())
    ]
    several = len(overall) > 1  # with one metric there is no other to agree with
    return ResultTable(
        rows,
        grid=grid_of(shown, ["metric", "winner", "agreement", "alone on"] if several else ["metric", "winner"]),
        notes=_split_notes(split) if several else (),
        overall=ByMetric(overall),
        agreement=agreement,
        series=[name for name, _ in split],
    )


def _split_notes(split: Sequence[tuple[str, Counter[str]]]) -> list[str]:
    part = f"; {SHOWN} of {len(split)}, most winners first:" if len(split) > SHOWN else ""
    notes = [
        "agreement: mean Spearman correlation of mean ranks with the other metrics; alone on: series on which its "
        "winner is not the one that most metrics name",
        f"metrics name different winners on {len(split)} series" + part,
    ]
    for name, found in split[:SHOWN]:
        notes.append(f"  {name or 'series'}: " + ", ".join(f"{w} ({c})" for w, c in found.most_common()))
    return notes


# Categories of series by their events: few or many, short or long, single points or sequences.

# With more events than FEW a series has many; with a median length beyond SHORT its events are long; with a median
# length of at most POINT they are point anomalies.
FEW, SHORT, POINT = 3, 50, 3


class SeriesFacts(NamedTuple):
    """What the labels of a series say of it."""

    n: int
    events: int
    points: int
    median_length: float
    longest: int

    @classmethod
    def of(cls, labels: Any) -> Self:
        """Find the facts of labels.

        >>> SeriesFacts.of([0, 1, 1, 0, 1])
        SeriesFacts(n=5, events=2, points=3, median_length=1.5, longest=2)
        """
        events = label_runs(labels, "y_true").events
        lengths = events.lengths
        median = float(np.median(lengths)) if len(lengths) else 0.0
        return cls(events.n, len(events), events.points, median, int(lengths.max(initial=0)))

    def category(self, kind: str) -> str:
        """Return the category of one kind; "" for series without events.

        >>> SeriesFacts.of([0, 1, 1, 0, 1]).category("number of events")
        'few events (at most 3)'
        """
        fact, most, up_to, beyond = _KINDS[kind]
        if not self.events:
            return ""
        return up_to if getattr(self, fact) <= most else beyond


# By kind: the fact that decides, its largest value for the first category, and both categories.
_KINDS = {
    "number of events": ("events", FEW, f"few events (at most {FEW})", f"many events (more than {FEW})"),
    "length of events": (
        "median_length", SHORT, f"short events (at most {SHORT} points)", f"long events (more than {SHORT} points)"
    ),
    "kind of anomaly": ("median_length", POINT, f"point anomalies (at most {POINT} points)", "sequence anomalies"),
}  # fmt: skip
CATEGORIES = tuple(_KINDS)


def category_table(
    values: Floats,
    metric: str,
    lower: bool,
    series: Sequence[str],
    detectors: Sequence[str],
    facts: Mapping[str, SeriesFacts],
    kinds: Sequence[str] | None,
    own: Groups | None,
) -> ResultTable:
    """Make the table of averages of a metric by data set and by kinds of series: a row per category and detector."""
    known = (*[GROUP] * (own is not None), DATASET, *CATEGORIES)
    wanted = [kind for kind in known if kind not in CATEGORIES or facts] if kinds is None else list(kinds)
    for kind in wanted:
        if kind not in known:
            raise UnknownNameError(f"unknown kind of category {kind!r}: {did_you_mean(kind, list(known))}")
        if kind in CATEGORIES and not facts:
            raise InvalidInputError(f"the labels are not known here, so there is no {kind!r}")

    def category(kind: str, name: str) -> str:
        if kind in CATEGORIES:
            return facts[name].category(kind)
        return group_of(own, name) if kind == GROUP and own is not None else dataset_of(name)

    rows: list[Row] = []
    grid: Grid = [["category", "series", *detectors]]
    for kind in wanted:
        groups = grouped((category(kind, name), i) for i, name in enumerate(series))
        groups.pop("", None)
        if kind == DATASET and len(groups) == len(series) and kinds is None:
            continue  # every series is its own
        for group, members in sorted(groups.items()) if kind in CATEGORIES else groups.items():
            means = [finite_mean(values[members, j]) for j in range(len(detectors))]
            grid.append([group, len(members), *means])
            for detector, mean in zip(detectors, means, strict=True):
                about = {"kind": kind, "category": group, "detector": detector, "metric": metric}
                rows.append({**about, "value": mean, "series": len(members)})
    note = f"mean of {metric}" + ", lower is better" * lower
    return ResultTable(rows, grid=grid, notes=[note] if rows else [])
