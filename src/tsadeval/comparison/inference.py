"""Result classes of a comparison's statistics: ranks, tests of pairs, disagreement of metrics, categories."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tsadeval.comparison import paired, statistics
from tsadeval.comparison.categories import CATEGORIES, SeriesFacts
from tsadeval.comparison.statistics import Floats
from tsadeval.core.messages import named
from tsadeval.core.metric import METRICS
from tsadeval.core.names import did_you_mean
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.core.results import NONE, Grid, Result, Row
from tsadeval.core.selection import ByMetric
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError

_ALPHA: dict[str, Check] = {"alpha": Number(0, 1, open_low=True)}
DATASET, GROUP = "data set", "group"
SHOWN = 5  # series on which metrics disagree, in the notes

# Which group a series belongs to: a function of its name, or a mapping from names.
Groups = Callable[[str], str] | Mapping[str, str]


def group_of(groups: Groups, series: str) -> str:
    """The group of a series.

    >>> group_of({"a": "first"}, "a"), group_of(str.upper, "b")
    ('first', 'B')
    """
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


def _need_several(detectors: Sequence[str]) -> None:
    if len(detectors) < 2:
        raise InvalidInputError(f"statistics need at least 2 detectors, but there is only {', '.join(detectors)}")


def _several(rows: Sequence[Row]) -> bool:
    return len({row["metric"] for row in rows}) > 1


def _too_few(found: Mapping[str, statistics.Pairwise], alpha: float) -> list[str]:
    """What is to be said where there are too few series for any difference to be significant; once if of all metrics.

    Metrics may differ in this, since some are undefined on some series.
    """
    remarks = {metric: pairwise.too_few(alpha) for metric, pairwise in found.items()}
    if len(set(remarks.values())) == 1:
        return [text for text in list(remarks.values())[:1] if text]
    return [f"{metric}: {text}" for metric, text in remarks.items() if text]


def _fewer(matrices: Mapping[str, Floats]) -> list[str]:
    """On how many series ranks stand, where some detectors have no value on some; once if it is so for all metrics."""
    found: dict[str, list[str]] = {}
    for metric, better in matrices.items():
        whole, known = len(statistics.whole_rows(better)), int((~np.isnan(better)).any(axis=1).sum())
        if whole < known:
            text = f"ranks, wins and losses: on {whole} of {known} series, those on which every detector has a value"
            found.setdefault(f"{text}; tests: on the series that both have", []).append(metric)
    return [
        text if len(metrics) == len(matrices) else f"{', '.join(metrics)}: {text}" for text, metrics in found.items()
    ]


class _Remarked(Result):
    """A result with remarks under its table, which in LaTeX are comments."""

    _remarks: list[str]

    def _notes(self) -> list[str]:
        return self._remarks

    def to_latex(self, *, digits: int = 4) -> str:
        """What is printed, as a LaTeX tabular (booktabs) with the remarks as comments."""
        return "\n".join([super().to_latex(digits=digits), *(f"% {text}" for text in self._remarks)])


class Ranks(_Remarked):
    """Mean ranks by metric and detector, best first. Detectors that share a letter were not told apart."""

    @classmethod
    def of(cls, matrices: Mapping[str, Floats], detectors: Sequence[str], alpha: float, random_state: int) -> Ranks:
        """Of values (series by detectors, larger is better) by metric."""
        check_parameters("ranks", _ALPHA, {"alpha": alpha})
        _need_several(detectors)
        rows: list[Row] = []
        notes = []
        kept = {metric: statistics.with_values(better) for metric, better in matrices.items()}
        left_out = {metric: [d for j, d in enumerate(detectors) if j not in kept[metric]] for metric in matrices}
        notes += [f"{metric}: not ranked without any value: {named(some)}" for metric, some in left_out.items() if some]
        matrices = {metric: better[:, kept[metric]] for metric, better in matrices.items() if len(kept[metric]) > 1}
        tests = {metric: statistics.wilcoxon_holm(better) for metric, better in matrices.items()}
        for metric, better in matrices.items():
            found = statistics.mean_ranks(better, seed=random_state)
            names = [detectors[j] for j in kept[metric]]
            letters = [""] * len(names)
            if found.series > 1:
                groups = statistics.tie_groups(found.mean, tests[metric].same(alpha))
                for i, group in enumerate(groups):
                    for j in group:
                        letters[j] += _letter(i)
                notes += _overall(metric, better, len(names))
            counts = statistics.wins_ties_losses(statistics.whole_rows(better))  # of the series that ranks stand on
            for j in np.argsort(found.mean, kind="stable").tolist():
                rows.append(
                    {
                        "metric": metric,
                        "detector": names[j],
                        "rank": float(found.mean[j]),
                        "low": float(found.low[j]),
                        "high": float(found.high[j]),
                        "group": letters[j],
                        "wins": int(counts.wins[j].sum()),
                        "ties": int(counts.ties[j].sum()),
                        "losses": int(counts.losses[j].sum()),
                        "series": found.series,
                    }
                )
        result = cls(rows)
        remark = f"the same letter: not told apart by Wilcoxon-Holm tests at {alpha:g}"
        result._remarks = [*notes, remark, *_fewer(matrices), *_too_few(tests, alpha)]
        return result

    def _grid(self) -> Grid:
        head = ["metric"] * _several(self.rows) + ["detector", "rank", "low", "high", "group", "wins", "ties", "losses"]
        return [head, *([row[key] for key in head] for row in self.rows)]


def _letter(i: int) -> str:
    """a, b, ..., z, a1, b1, ..."""
    return chr(ord("a") + i % 26) + (str(i // 26) if i >= 26 else "")


def _overall(metric: str, better: Floats, k: int) -> list[str]:
    if k < 3:
        return []
    test = statistics.friedman(better)
    return [f"{metric}: Friedman test (Iman-Davenport) F = {test.f:.3f}, p = {test.f_p:.3g} on {test.series} series"]


class Significance(_Remarked):
    """Every two detectors by metric: p-value (or posterior), size of the difference, wins, ties and losses.

    `difference` is how much better the first is on average, with its bootstrap interval from `low` to `high`;
    `effect` is the matched-pairs rank-biserial correlation, from -1 to 1.
    """

    @classmethod
    def of(
        cls,
        matrices: Mapping[str, Floats],
        detectors: Sequence[str],
        lower: set[str],
        test: str,
        alpha: float,
        rope: float,
        random_state: int,
    ) -> Significance:
        """Of values (series by detectors, larger is better) by metric."""
        checks: dict[str, Check] = {"test": OneOf(("wilcoxon-holm", "nemenyi", "bayes")), **_ALPHA, "rope": Number(0)}
        check_parameters("significance", checks, {"test": test, "alpha": alpha, "rope": rope})
        _need_several(detectors)
        rows: list[Row] = []
        tests: dict[str, statistics.Pairwise] = {}
        for metric, better in matrices.items():
            order = np.argsort(statistics.mean_ranks(better, draws=1).mean, kind="stable").tolist()
            counts = statistics.wins_ties_losses(better)
            found = None
            if test != "bayes":
                found = (statistics.nemenyi if test == "nemenyi" else statistics.wilcoxon_holm)(better)
                tests[metric] = found
            for place, i in enumerate(order):
                for j in order[place + 1 :]:
                    x, y = better[:, i], better[:, j]
                    size = paired.paired_difference(x, y, seed=random_state)
                    row: Row = {"metric": metric, "detector": detectors[i], "rival": detectors[j]}
                    if found is None:
                        posterior = paired.bayesian_signed_rank(x, y, rope=rope, seed=random_state)
                        row |= {**posterior._asdict(), "different": max(posterior[0], posterior[2]) > 1 - alpha}
                    else:
                        p = float(found.p_values[i, j])
                        row |= {"p_value": p, "raw_p_value": float(found.raw[i, j]), "different": p < alpha}
                    row |= {"difference": size.mean, "low": size.low, "high": size.high}
                    row |= {"effect": paired.rank_biserial(x, y), "wins": int(counts.wins[i, j])}
                    row |= {"ties": int(counts.ties[i, j]), "losses": int(counts.losses[i, j]), "series": size.series}
                    rows.append(row)
        words = {
            "wilcoxon-holm": "p-values of Wilcoxon's signed-rank test with Holm's correction",
            "nemenyi": "p-values of Nemenyi's test",
            "bayes": f"posterior probabilities of the Bayesian signed-rank test, equivalent within {rope:g}",
        }
        remarks = [f"{words[test]}; different at {alpha:g}"]
        if any(metric in lower for metric in matrices):
            remarks.append("a positive difference is in favour of the first detector, also where less is better")
        result = cls(rows)
        result._remarks = [*remarks, *_too_few(tests, alpha)]
        return result

    def _grid(self) -> Grid:
        first = ["worse", "equivalent", "better"] if "better" in self.rows[0] else ["p_value"]
        head = ["metric"] * _several(self.rows) + ["detector", "rival", *first, "difference", "low", "high", "effect"]
        head += ["wins", "ties", "losses"]
        told = {True: "yes", False: "no"}
        body = [[row[key] for key in head] + [told[row["different"]] if row["series"] else NONE] for row in self.rows]
        return [[*head, "different"], *body]


class Differences(_Remarked):
    """One detector against another, series by series: a row per series, the largest difference first.

    `difference` is how much better the first is (also where less is better); NaN where either has no value.
    """

    @classmethod
    def of(
        cls,
        better: Floats,
        metric: str,
        lower: bool,
        series: Sequence[str],
        detectors: list[str],
        first: str,
        second: str,
    ) -> Differences:
        """Of values (series by detectors, larger is better)."""
        for name in (first, second):
            if name not in detectors:
                raise UnknownNameError(f"no detector {name!r} in this comparison: {did_you_mean(name, detectors)}")
        x, y = (better[:, detectors.index(name)] for name in (first, second))
        found = paired.differences(x, y)
        sign = -1.0 if lower else 1.0
        order = np.argsort(np.where(np.isnan(found), math.inf, -found), kind="stable").tolist()
        result = cls(
            [
                {"series": series[i], first: float(sign * x[i]), second: float(sign * y[i]), "metric": metric,
                 "difference": float(found[i])}
                for i in order
            ]
        )  # fmt: skip
        size = paired.paired_difference(x, y)
        word, mean, low, high = ("worse", -size.mean, -size.high, -size.low) if size.mean < 0 else ("better", *size[:3])
        said = f"{first} is {word} by {mean:.4f} [{low:.4f}, {high:.4f}] on average over {size.series} series"
        result._remarks = [f"{metric}: {said if size.series else 'no series has values of both'}"]
        return result

    def _grid(self) -> Grid:
        head = [key for key in self.rows[0] if key != "metric"]
        return [head, *([row[key] for key in head] for row in self.rows)]


class Disagreement(Result):
    """The winner of every metric on every series (rows), and where metrics name different ones.

    Attributes
    ----------
    overall : dict
        Metric to the detectors with the best mean rank over all series.
    agreement : ndarray
        Spearman correlation of the detectors' mean ranks between every two metrics.
    """

    overall: dict[str, list[str]]
    agreement: Floats
    _counts: dict[str, int]
    _split: list[tuple[str, Counter[str]]]

    @classmethod
    def of(cls, matrices: Mapping[str, Floats], series: Sequence[str], detectors: Sequence[str]) -> Disagreement:
        """Of values (series by detectors, larger is better) by metric."""
        _need_several(detectors)
        rows: list[Row] = []
        named: dict[str, Counter[str]] = {name: Counter() for name in series}
        overall, means = {}, []
        for metric, better in matrices.items():
            rank = np.full(len(detectors), math.nan)
            kept = statistics.with_values(better)
            if kept:  # a metric may be undefined for all
                rank[kept] = statistics.mean_ranks(better[:, kept], draws=1).mean
            means.append(rank)
            best = [] if np.isnan(rank).all() else np.flatnonzero(rank == np.nanmin(rank)).tolist()
            overall[metric] = [detectors[j] for j in best]
            for name, row in zip(series, better, strict=True):
                if np.isnan(row).all():
                    continue
                winners = [detectors[j] for j in np.flatnonzero(row == np.nanmax(row)).tolist()]
                for winner in winners:
                    named[name][winner] += 1
                rows.append({"series": name, "metric": metric, "winner": " = ".join(winners)})
        result = cls(rows)
        result.overall = ByMetric(overall)
        result.agreement = statistics.agreement(np.array(means)) if means else np.empty((0, 0))
        most = {name: max(found.values()) if found else 0 for name, found in named.items()}
        favourite = {name: {w for w, c in named[name].items() if c == most[name]} for name in series}
        result._counts = {
            metric: sum(
                row["metric"] == metric and not favourite[row["series"]] & set(row["winner"].split(" = "))
                for row in rows
            )
            for metric in matrices
        }
        # Where one detector wins, or shares the win, by every metric, there is no disagreement.
        counted = Counter(row["series"] for row in rows)
        split = [(name, found) for name, found in named.items() if found and max(found.values()) < counted[name]]
        result._split = sorted(split, key=lambda item: -len(item[1]))
        return result

    @property
    def series(self) -> list[str]:
        """The series on which metrics name different winners, those with the most winners first."""
        return [name for name, _ in self._split]

    def _grid(self) -> Grid:
        if len(self.overall) == 1:  # there is no other metric to agree with
            return [["metric", "winner"], *([metric, " = ".join(found)] for metric, found in self.overall.items())]
        body: Grid = []
        for i, (metric, winners) in enumerate(self.overall.items()):
            others = np.delete(self.agreement[i], i)
            mean = statistics.mean_of_known(others)
            body.append([metric, " = ".join(winners), mean, self._counts[metric]])
        return [["metric", "winner", "agreement", "alone on"], *body]

    def _notes(self) -> list[str]:
        if len(self.overall) == 1:
            return []
        part = f"; {SHOWN} of {len(self._split)}, most winners first:" if len(self._split) > SHOWN else ""
        notes = [
            "agreement: mean Spearman correlation of mean ranks with the other metrics; alone on: series on which its "
            "winner is not the one that most metrics name",
            f"metrics name different winners on {len(self._split)} series" + part,
        ]
        for name, found in self._split[:SHOWN]:
            notes.append(f"  {name or 'series'}: " + ", ".join(f"{w} ({c})" for w, c in found.most_common()))
        return notes


class Categories(Result):
    """The average of a metric by data set and by kinds of series: a row per category and detector."""

    @classmethod
    def of(
        cls,
        values: Floats,
        metric: str,
        series: Sequence[str],
        detectors: Sequence[str],
        facts: Mapping[str, SeriesFacts],
        kinds: Sequence[str] | None,
        dataset_of: Callable[[str], str],
        own: Groups | None = None,
    ) -> Categories:
        """Of values (series by detectors)."""
        known = (*[GROUP] * (own is not None), DATASET, *CATEGORIES)
        wanted = [kind for kind in known if kind not in CATEGORIES or facts] if kinds is None else list(kinds)
        for kind in wanted:
            if kind not in known:
                raise UnknownNameError(f"unknown kind of category {kind!r}: {did_you_mean(kind, list(known))}")
            if kind in CATEGORIES and not facts:
                raise InvalidInputError(f"the labels are not known here, so there is no {kind!r}")
        rows: list[Row] = []
        for kind in wanted:
            groups: dict[str, list[int]] = {}
            for i, name in enumerate(series):
                if kind == GROUP and own is not None:
                    group = group_of(own, name)
                else:
                    group = dataset_of(name) if kind == DATASET else facts[name].category(kind)
                if group:
                    groups.setdefault(group, []).append(i)
            if kind == DATASET and len(groups) == len(series) and kinds is None:
                continue  # every series is its own
            for group, members in sorted(groups.items()) if kind in CATEGORIES else groups.items():
                for j, detector in enumerate(detectors):
                    mean = statistics.mean_of_known(values[members, j])
                    rows.append(
                        {"kind": kind, "category": group, "detector": detector, "metric": metric, "value": mean,
                         "series": len(members)}
                    )  # fmt: skip
        return cls(rows)

    def _grid(self) -> Grid:
        detectors = list(dict.fromkeys(row["detector"] for row in self.rows))
        cells: dict[tuple[str, str], dict[str, float]] = {}
        counts: dict[tuple[str, str], int] = {}
        for row in self.rows:
            key = (row["kind"], row["category"])
            cells.setdefault(key, {})[row["detector"]] = row["value"]
            counts[key] = row["series"]
        body: Grid = [[key[1], counts[key], *(found[d] for d in detectors)] for key, found in cells.items()]
        return [["category", "series", *detectors], *body]

    def _notes(self) -> list[str]:
        if not self.rows:
            return []
        metric = self.rows[0]["metric"]
        record = METRICS.get(metric.partition("(")[0])
        return [f"mean of {metric}" + (", lower is better" if record and record.direction == "lower" else "")]
