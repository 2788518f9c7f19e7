"""Statistics of several detectors on several series: ranks, tests, groups without a significant difference.

A table has a row per series and a column per detector; larger is better (negate a metric of which smaller is better)
and NaN marks a missing value. Ranks and the Friedman test need whole rows, so they use the series on which every
detector has a value; tests of pairs use the series that the pair has in common.

Pairs of detectors: `tsadeval.comparison.paired`.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from tsadeval._optional import require
from tsadeval.comparison.paired import Means, bootstrap, differences, percentiles, wilcoxon
from tsadeval.core.events import Bools, Floats, Index
from tsadeval.core.facts import Flaw
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.errors import InvalidInputError

Missing = Literal["skip", "worst", "error"]

CHECKS: dict[str, Check] = {"alpha": Number(0, 1, open_low=True), "random_state": Number(0, integer=True)}
# Of more detectors than this a ranking does not test every two (which `significance` does), as pairs grow with the
# square of the detectors.
MANY = 500


def with_values(values: Any) -> list[int]:
    """Find the detectors (columns) that have a value on any series: with the others no series would be whole."""
    return np.flatnonzero((~np.isnan(values)).any(axis=0)).tolist()


def whole_rows(values: Any) -> Floats:
    """Return the series on which every detector has a value."""
    table = np.asarray(values, np.float64)
    return table[~np.isnan(table).any(axis=1)]


def fill_missing(values: Any, missing: Missing = "skip") -> Floats:
    """Apply a policy for missing values to a table.

    "skip" leaves them missing; "worst" puts them below every value, equal to each other; "error" refuses them.

    >>> fill_missing([[0.5, float("nan")]], "worst")
    array([[ 0.5, -inf]])
    """
    check_parameters("fill_missing", {"missing": OneOf(("skip", "worst", "error"))}, {"missing": missing})
    table = np.asarray(values, np.float64)
    lost = np.isnan(table)
    if missing == "error" and lost.any():
        row, column = np.argwhere(lost)[0].tolist()
        raise InvalidInputError(
            f"{int(lost.sum())} values are missing, first of detector {column} on series {row}: "
            'complete them, or choose missing="skip" or "worst"'
        )
    return np.where(lost, -math.inf, table) if missing == "worst" else table


def ranks(values: Any) -> Floats:
    """Ranks within each series: 1 is best, equal values share the average of their ranks; NaN where a row has a gap.

    >>> ranks([[0.9, 0.5, 0.5], [0.1, 0.2, 0.3]])
    array([[1. , 2.5, 2.5],
           [3. , 2. , 1. ]])
    """
    return np.asarray(require("scipy.stats", extra="all").rankdata(-np.asarray(values), axis=1))


def stretched_ranks(values: Any) -> Floats:
    """Rank within each series the detectors that have a value, as if all had one; NaN for the others.

    The last of those with a value has the rank of the last of all, so that series with fewer of them weigh the same.
    A series with one value has no ranks.

    >>> stretched_ranks([[0.9, float("nan"), 0.5], [0.1, 0.2, 0.3]])
    array([[ 1., nan,  3.],
           [ 3.,  2.,  1.]])
    """
    table = np.asarray(values)
    found = require("scipy.stats", extra="all").rankdata(-table, axis=1, nan_policy="omit")
    others = (~np.isnan(table)).sum(axis=1, keepdims=True) - 1
    with np.errstate(invalid="ignore"):
        return np.asarray(1 + (found - 1) / others * (table.shape[1] - 1))


def mean_ranks(values: Any, *, draws: int = 2000, seed: int = 0) -> Means:
    """Mean ranks over the series on which every detector has a value, with 95 % percentile bootstrap intervals."""
    return bootstrap(ranks(whole_rows(values)), 0.95, draws, seed)


class WinsTiesLosses(NamedTuple):
    """How often each detector is better than another on a series, equal to it, worse than it."""

    wins: Index
    ties: Index
    losses: Index


def total_wins(values: Any) -> WinsTiesLosses:
    """Count the wins, ties and losses of each detector against all others, in time linear in their number."""
    (series, k), rank = np.shape(values), require("scipy.stats", extra="all").rankdata
    wins = (rank(values, "min", axis=1) - 1).sum(axis=0).astype(np.int64)
    losses = (k - rank(values, "max", axis=1)).sum(axis=0).astype(np.int64)
    return WinsTiesLosses(wins, series * (k - 1) - wins - losses, losses)


class Friedman(NamedTuple):
    """Friedman's chi-square and the F of Iman and Davenport, each with its p-value."""

    chi2: float
    chi2_p: float
    f: float
    f_p: float
    series: int
    detectors: int


def friedman(values: Any) -> Friedman:
    """Compute Friedman's test that all detectors are equal, and Iman and Davenport's less conservative form.

    Both are corrected for ties. They need three detectors; with two, use `wilcoxon_holm`.
    """
    found = ranks(whole_rows(values))
    n, k = found.shape
    if n < 2:
        return Friedman(math.nan, math.nan, math.nan, math.nan, n, k)
    if (found == (k + 1) / 2).all():  # every series ties everything
        return Friedman(0.0, 1.0, 0.0, 1.0, n, k)
    stats = require("scipy.stats", extra="all")
    # Ranks in place of values: SciPy's ranks of these are the same, and infinities are no trouble.
    chi2, p = map(float, stats.friedmanchisquare(*found.T))
    rest = n * (k - 1) - chi2
    f = (n - 1) * chi2 / rest if rest > 1e-9 else math.inf
    return Friedman(chi2, p, f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))), n, k)


@dataclass(frozen=True, eq=False)
class Pairwise:
    """Tests of every two detectors: p-values corrected for their number, as a symmetric matrix with ones inside.

    Of tests against one detector, the matrix has its row alone. `raw` are the p-values before the correction (the same
    where the test has it built in) and `series` says on how many series each test stands; `most` is the largest of
    these numbers. `least_p` is the smallest p-value that a number of series can give, whatever the values are.
    """

    p_values: Floats
    raw: Floats
    series: Index
    most: int
    short: str
    least_p: Callable[[int], float]

    def same(self, alpha: float = 0.05) -> Bools:
        """Which pairs cannot be told apart at this level."""
        return ~(self.p_values < alpha)  # a pair without a p-value was not told apart either

    def needed(self, alpha: float = 0.05) -> int:
        """How many series the test needs before any difference can be significant; 0 where there are enough."""
        n = self.most
        if n and self.least_p(n) < alpha:
            return 0
        return next(more for more in itertools.count(n + 1) if self.least_p(more) < alpha)

    def too_few(self, alpha: float = 0.05) -> str:
        """Return a sentence where there are too few series for any difference to be significant, else "".

        >>> print(wilcoxon_holm([[0.9, 0.5], [0.8, 0.6], [0.7, 0.3]]).too_few())
        too few series for Wilcoxon-Holm: 2 detectors cannot differ significantly at 0.05 on fewer than 6 (here 3)
        """
        needed = self.needed(alpha)
        text = (
            f"too few series for {self.short}: {self.series.shape[1]} detectors cannot differ significantly at "
            f"{alpha:g} on fewer than {needed} (here {self.most})"
        )
        return text if needed else ""


def holm(p_values: Any, tests: int | None = None) -> Floats:
    """Holm's step-down correction; NaN stays, and does not count as a test.

    With `tests`, the p-values are some of so many: what they are corrected to is not below what it would be among all.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, np.float64)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    found = np.full(len(p), math.nan)
    factors = (tests or len(order)) - np.arange(len(order))
    found[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return found


def _square(k: int, pairs: Floats) -> Floats:
    matrix = np.ones((k, k))
    upper = np.triu_indices(k, 1)
    matrix[upper] = pairs
    matrix.T[upper] = pairs
    return matrix


def wilcoxon_holm(values: Any, against: int | None = None) -> Pairwise:
    """Wilcoxon's signed-rank test of every two detectors, with Holm's correction.

    With `against`, of each detector against that one, corrected for all pairs nevertheless: no two are told apart that
    the tests of all pairs do not tell apart.
    """
    table = np.asarray(values, np.float64)
    k = table.shape[1]
    first, second = np.triu_indices(k, 1) if against is None else (np.full(k, against), np.arange(k))
    apart = differences(table[:, first], table[:, second])
    raw, counts = wilcoxon(apart), (~np.isnan(apart)).sum(axis=0)
    if against is None:
        tests = int((~np.isnan(raw)).sum()) or len(raw)
        p_values, raw, series = (_square(k, some) for some in (holm(raw), raw, counts))
        np.fill_diagonal(series, (~np.isnan(table)).sum(axis=0))
    else:
        tests = k * (k - 1) // 2
        p_values, raw, series = holm(raw, tests)[None], raw[None], counts[None]
        counts = np.delete(counts, against)

    def least_p(n: int) -> float:  # all differences of one pair have the same sign
        return min(1.0, tests * 2.0 ** (1 - n))

    most = int(counts.max(initial=0))
    return Pairwise(p_values, raw, series.astype(np.int64), most, "Wilcoxon-Holm", least_p)


def nemenyi(values: Any) -> Pairwise:
    """Nemenyi's test of every two mean ranks; it needs three detectors."""
    table = whole_rows(values)
    n, k = table.shape
    if k < 3:
        raise InvalidInputError(f"Nemenyi's test needs at least 3 detectors, but there are {k}")
    first, second = np.triu_indices(k, 1)
    count = np.full((k, k), n, np.int64)
    distribution = require("scipy.stats", extra="all").studentized_range

    def p_value(difference: Any, series: int) -> Any:
        return np.clip(distribution.sf(difference / math.sqrt(k * (k + 1) / (12 * series)), k, np.inf), 0.0, 1.0)

    def least_p(series: int) -> float:  # one detector is best on all series, another worst
        return float(p_value(k - 1.0, series)) if series > 1 else 1.0

    found = _square(k, np.full(len(first), math.nan))
    if n > 1:
        mean = ranks(table).mean(axis=0)
        found = _square(k, p_value(np.abs(mean[first] - mean[second]), n))
    return Pairwise(found, found, count, n, "Nemenyi", least_p)


def critical_difference(detectors: int, series: int, alpha: float = 0.05) -> float:
    """Compute the difference of mean ranks from which Nemenyi's test tells two detectors apart."""
    q = require("scipy.stats", extra="all").studentized_range.ppf(1 - alpha, detectors, np.inf)
    return float(q * math.sqrt(detectors * (detectors + 1) / (12 * series)))


def tie_groups(mean: Sequence[float] | Floats, same: Any) -> list[list[int]]:
    """Maximal runs of neighbours in the order of mean ranks of which no two were told apart, best first.

    Detectors that differ from all their neighbours are in no group. A detector may be in several: not being told apart
    is not transitive.

    >>> same = [[True, True, False], [True, True, True], [False, True, True]]
    >>> tie_groups([1.2, 2.0, 2.8], same)
    [[0, 1], [1, 2]]
    """
    order = np.argsort(np.asarray(mean), kind="stable")
    alike = np.asarray(same, bool)[np.ix_(order, order)].tolist()
    # The first place from which on all up to this one are like it: runs that begin earlier cannot reach it.
    first = [max((j + 1 for j in range(i) if not alike[j][i]), default=0) for i in range(len(order))]
    groups: list[list[int]] = []
    last = 0
    for start in range(len(order)):
        stop = next((i for i in range(start + 1, len(order)) if first[i] > start), len(order))
        if stop > max(last, start + 1):  # not inside the group before
            groups.append(order[start:stop].tolist())
            last = stop
    return groups


TESTS: dict[str, Callable[..., Pairwise]] = {"wilcoxon-holm": wilcoxon_holm, "nemenyi": nemenyi}


class Ranking:
    """Mean ranks of the detectors that have values, and tests of every two of them.

    `kept` are the columns of these detectors (all where none has a value): other places are those in `kept`. `flaws`
    say why some are never first.

    >>> found = Ranking([[0.9, 0.5, math.nan], [0.8, 0.6, math.nan]])
    >>> found.kept, found.means.mean, found.groups(0.05)
    ([0, 1], array([1., 2.]), [[0, 1]])
    """

    def __init__(
        self,
        values: Any,
        flaws: Sequence[Flaw | None] = (),
        *,
        missing: Missing = "skip",
        test: str = "wilcoxon-holm",
        draws: int = 2000,
        seed: int = 0,
    ) -> None:
        table = fill_missing(values, missing)
        self.detectors = table.shape[1]
        self.kept = with_values(table) or list(range(self.detectors))
        self.values = table[:, self.kept]
        self.means = mean_ranks(self.values, draws=draws, seed=seed)
        self._test = TESTS[test]
        flawed = np.array([bool(flaws) and flaws[j] is not None for j in self.kept])
        self.first = np.where(flawed, math.inf, self.means.mean)  # by these ranks

    @cached_property
    def tests(self) -> Pairwise:
        """The tests of every two detectors, of which there must be two; of `many`, of each against the best."""
        return self._test(self.values, self._best) if self.many else self._test(self.values)

    @property
    def many(self) -> bool:
        """True if there are too many detectors to test every two of them."""
        return len(self.kept) > MANY and self._test is wilcoxon_holm

    @property
    def _best(self) -> int:
        """The first of those with the best mean rank that can be first."""
        return int(np.argmin(self.first))

    @property
    def tested(self) -> bool:
        """True if there are detectors and series to tell apart."""
        return len(self.kept) > 1 and self.means.series > 1

    def groups(self, alpha: float) -> list[list[int]]:
        """Return groups of detectors of which no two were told apart, best first; none without tests of every two."""
        return tie_groups(self.means.mean, self.tests.same(alpha)) if self.tested and not self.many else []

    def alike(self, alpha: float, of: int | None = None) -> list[bool]:
        """Say of all detectors whether they are not significantly different from one of them, itself included.

        By default from the one with the best rank that can be first.
        """
        if not self.tested or (of is None and np.isinf(self.first).all()):
            return [False] * self.detectors
        place = self._best if of is None else self.kept.index(of)
        tests = self._test(self.values, place) if self.many and place != self._best else self.tests
        return self.for_all(tests.same(alpha)[0 if self.many else place].tolist(), False)

    @cached_property
    def counts(self) -> WinsTiesLosses:
        """Wins, ties and losses of each detector on the series that ranks stand on."""
        return total_wins(whole_rows(self.values))

    def for_all(self, some: Sequence[Any], nothing: Any) -> list[Any]:
        """Return what is known of the kept detectors for all of them, and `nothing` for the others."""
        found = dict(zip(self.kept, some, strict=True))
        return [found.get(j, nothing) for j in range(self.detectors)]


def agreement(rows: Any) -> Floats:
    """Spearman correlation between every two rows (metrics) over the columns (detectors) that both have.

    Rows hold ranks or values. NaN where fewer than two columns are common or a row is constant on them.

    >>> agreement([[1, 2, 3], [2, 4, 9], [3, 2, 1]]).round(6)
    array([[ 1.,  1., -1.],
           [ 1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    table = np.asarray(rows, np.float64)
    found = np.full((len(table), len(table)), math.nan)
    known = ~np.isnan(table)
    for gaps in np.unique(known, axis=0):  # rows with the same gaps are ranked together
        for others in np.unique(known, axis=0):
            both = gaps & others
            if both.any():
                one, two = (np.flatnonzero((known == which).all(axis=1)) for which in (gaps, others))
                found[np.ix_(one, two)] = correlation(*(ranks(table[np.ix_(rows, both)]) for rows in (one, two)))
    return found


def correlation(one: Floats, other: Floats) -> Floats:
    """Compute Pearson's correlation of every row of ranks with every one of others; NaN where a row is constant."""
    a, b = (rows - (rows.shape[1] + 1) / 2 for rows in (one, other))
    size = np.sqrt(np.outer((a**2).sum(axis=1), (b**2).sum(axis=1)))
    with np.errstate(invalid="ignore"):
        return np.where(size > 0, np.clip(a @ b.T / size, -1.0, 1.0), math.nan)


@dataclass(frozen=True)
class Estimate:
    """An average and its bootstrap interval; NaN where there is nothing to resample."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, drawn: Floats) -> Self:
        """Take the first as the estimate, and the 95 % interval from the others, which are of resampled cases."""
        spread = drawn[1:][np.isfinite(drawn[1:])]
        low, high = percentiles(spread, 0.95).tolist() if spread.size else (math.nan, math.nan)
        return cls(float(drawn[0]), low, high)

    def overlaps(self, other: Self) -> bool:
        """Return True if both may be the same number; without intervals, only if they are."""
        if np.isnan([self.low, self.high, other.low, other.high]).any():
            return self.value == other.value
        return self.low <= other.high and other.low <= self.high


@lru_cache(maxsize=128)
def resample(count: int, draws: int = 2000, seed: int | tuple[int, ...] = 0) -> Floats:
    """Return weights of cases: all once in the first row, then as often as they were drawn with replacement."""
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), draws)
    return np.concatenate([np.ones((1, count)), drawn])
