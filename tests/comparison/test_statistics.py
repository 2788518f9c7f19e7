"""Statistics of comparisons, against the packages that papers use and against slow definitions."""

import gc
import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from naive import statistics as naive
from strategies import examples
from tsadeval.comparison import paired as pairs
from tsadeval.comparison import statistics
from tsadeval.errors import InvalidInputError, InvalidParameterError

posthocs = pytest.importorskip("scikit_posthocs")
multitest = pytest.importorskip("statsmodels.stats.multitest")


@pytest.fixture(autouse=True, scope="module")
def _without_collections():
    """statsmodels collects all garbage of the process at each correction, which is nearly all of the time it takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda *_: 0)
        yield


@st.composite
def tables(draw, min_detectors=2, max_series=30, gaps=False):
    """Tables that are smooth, coarse (many ties) or constant; gaps are NaN."""
    n, k = draw(st.integers(2, max_series)), draw(st.integers(min_detectors, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = draw(st.sampled_from([0, 2, 5, 20]))
    # Eighths, so that equal differences are equal numbers.
    values = rng.integers(0, levels, (n, k)) / 8 if levels else rng.normal(size=(n, k)) + np.arange(k) / 2
    if gaps:
        values[rng.random((n, k)) < 0.15] = np.nan
    return values


@given(tables())
def test_ranks(values):
    found = statistics.ranks(values)
    assert found.tolist() == [naive.ranks(row) for row in values.tolist()]
    mean = statistics.mean_ranks(values, draws=50)
    assert mean.mean == pytest.approx(found.mean(axis=0))
    assert mean.series == len(values)
    assert (mean.low <= mean.high).all()


@given(tables(gaps=True))
def test_ranks_use_whole_rows(values):
    whole = values[~np.isnan(values).any(axis=1)]
    found = statistics.mean_ranks(values, draws=20)
    assert found.series == len(whole)
    if len(whole):
        assert found.mean == pytest.approx(statistics.mean_ranks(whole, draws=20).mean)
    else:
        assert np.isnan(found.mean).all()
    assert np.isnan(statistics.ranks(values)).any(axis=1).tolist() == np.isnan(values).any(axis=1).tolist()


def test_intervals_of_mean_ranks_cover_the_true_mean():
    rng = np.random.default_rng(0)
    inside = 0
    for seed in range(200):
        # Three detectors, the first better by one standard deviation.
        values = rng.normal([1.0, 0.0, 0.0], size=(40, 3))
        found = statistics.mean_ranks(values, seed=seed)
        inside += found.low[0] <= EXPECTED <= found.high[0]
    assert 0.88 <= inside / 200 <= 0.99


# 1 + 2 P(a normal variable exceeds another that is larger by one): both rivals alike.
EXPECTED = 1 + 2 * stats.norm.sf(1 / math.sqrt(2))


@given(tables(min_detectors=3))
def test_friedman_equals_scipy_and_the_analysis_of_variance_of_ranks(values):
    found = statistics.friedman(values)
    if (values == values[:, :1]).all():
        assert found[:4] == (0.0, 1.0, 0.0, 1.0)
        return
    expected = stats.friedmanchisquare(*values.T)
    assert found.chi2 == pytest.approx(expected.statistic, abs=1e-9)
    assert found.chi2_p == pytest.approx(expected.pvalue, abs=1e-12)
    assert (found.series, found.detectors) == values.shape
    if math.isfinite(found.f):
        f = naive.anova_of_ranks(values.tolist())
        assert found.f == pytest.approx(f, rel=1e-6, abs=1e-9)
        n, k = values.shape
        assert found.f_p == pytest.approx(stats.f.sf(f, k - 1, (k - 1) * (n - 1)), abs=1e-9)
    else:
        assert found.f_p == 0


# Demsar (2006), table 6: AUC of C4.5 and three variants on 14 data sets. Two values of one row are rounded to a tie
# there, but ranked.
DEMSAR = """
.763 .768 .771 .798
.599 .591 .590 .569
.954 .971 .968 .967
.628 .661 .654 .657
.882 .888 .886 .898
.936 .931 .916 .931
.661 .668 .609 .685
.583 .583 .563 .625
.775 .838 .866 .875
1    1    1    1
.940 .962 .965 .962
.619 .666 .614 .669
.972 .981 .9751 .975
.957 .978 .946 .970
"""


def test_the_example_of_demsar():
    values = np.array(DEMSAR.split(), float).reshape(14, 4)
    assert statistics.mean_ranks(values).mean.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    # The paper has chi2 9.28 and F 3.69 without the correction for ties, which makes both larger.
    assert 9.28 < statistics.friedman(values).chi2 < 10.5
    assert statistics.critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)
    assert statistics.friedman(np.tile([4.0, 3.0, 2.0, 1.0], (10, 1)))[2:4] == (math.inf, 0.0)


@examples(100)
@given(tables(max_series=60))
def test_wilcoxon_equals_scipy(values):
    for i in range(1, values.shape[1]):
        d = values[:, 0] - values[:, i]
        (found,) = pairs.wilcoxon(d[:, None])
        if (d == 0).all():
            assert found == 1
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = stats.wilcoxon(d, method="auto").pvalue
        assert found == pytest.approx(expected, abs=1e-12)


@examples(100)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10))
def test_exact_wilcoxon_counts_all_signs(differences):
    (found,) = pairs.wilcoxon(np.array(differences, float)[:, None])
    assert found == pytest.approx(naive.wilcoxon_by_signs(differences), abs=1e-12)


@pytest.mark.slow
@examples(25)
@given(tables(min_detectors=3))
def test_wilcoxon_holm_equals_scikit_posthocs(values):
    assume(not any((values[:, i] == values[:, j]).all() for i in range(values.shape[1]) for j in range(i)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = posthocs.posthoc_wilcoxon(values.T.tolist(), p_adjust="holm").to_numpy()
    found = statistics.wilcoxon_holm(values)
    off = ~np.eye(len(expected), dtype=bool)
    assert found.p_values[off] == pytest.approx(expected[off], abs=1e-12)
    assert (found.series == len(values)).all()


@examples(60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_equals_statsmodels(p):
    assert statistics.holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1], abs=1e-12)
    assert statistics.holm([*p, math.nan])[:-1] == pytest.approx(statistics.holm(p))


@examples(15)  # the studentized range of SciPy takes a while
@given(tables(min_detectors=3))
def test_nemenyi_equals_scikit_posthocs(values):
    assume(not (values == values[:, :1]).all())
    expected = posthocs.posthoc_nemenyi_friedman(values).to_numpy()
    assert statistics.nemenyi(values).p_values == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("k", "n", "alpha"), [(3, 10, 0.05), (5, 30, 0.05), (10, 100, 0.1), (16, 58, 0.01)])
def test_critical_difference_equals_autorank(k, n, alpha):
    util = pytest.importorskip("autorank._util")
    assert statistics.critical_difference(k, n, alpha) == pytest.approx(util._critical_distance(alpha, k, n), rel=2e-3)


def test_critical_difference_and_nemenyi_agree():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(12, 5)) + np.arange(5)
    mean = statistics.mean_ranks(values).mean
    apart = np.abs(mean[:, None] - mean[None, :]) >= statistics.critical_difference(5, 12)
    assert (statistics.nemenyi(values).same() == ~apart).all()


@given(tables(min_detectors=2), st.integers(0, 2**32 - 1))
def test_tie_groups(values, seed):
    k = values.shape[1]
    rng = np.random.default_rng(seed)
    same = rng.random((k, k)) < 0.6
    same = same | same.T | np.eye(k, dtype=bool)
    mean = statistics.mean_ranks(values, draws=1).mean + 1e-6 * np.arange(k)
    found = statistics.tie_groups(mean, same)
    assert found == naive.tie_groups(mean.tolist(), same.tolist())


def test_all_alike_are_one_group_and_none_alike_no_group():
    assert statistics.tie_groups([3.0, 1.0, 2.0], np.ones((3, 3), bool)) == [[1, 2, 0]]
    assert statistics.tie_groups([3.0, 1.0, 2.0], np.eye(3, dtype=bool)) == []


@examples(50)
@given(tables(min_detectors=2, max_series=12), st.sampled_from([0.0, 0.125, 0.25]))
def test_regions_of_the_posterior(values, rope):
    x, y = values[:, 0], values[:, 1]
    z = np.sort(np.append(x - y, 0.0))
    weights = np.random.default_rng(0).dirichlet(np.ones(len(z)), 3)
    found = pairs._regions(z, weights, rope)
    for row, drawn in zip(found, weights, strict=True):
        assert row == pytest.approx(naive.regions(z.tolist(), drawn.tolist(), rope), abs=1e-12)


@pytest.mark.parametrize("rope", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_posterior_equals_baycomp(seed, rope):
    baycomp = pytest.importorskip("baycomp")
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=15) + 0.2 * seed, rng.normal(size=15)
    found = pairs.bayesian_signed_rank(x, y, rope=rope)
    # Theirs is of y against x.
    expected = baycomp.SignedRankTest.probs(y, x, rope=rope or 1e-300, nsamples=20_000, random_state=1)
    assert tuple(found) == pytest.approx(tuple(expected), abs=0.02)


def test_practical_equivalence_is_of_differences_on_series_not_of_their_mean():
    baycomp = pytest.importorskip("baycomp")
    x = np.array([-0.3, -0.28, -0.25, -0.14, 0.02, 0.04, 0.08, 0.11, 0.13, 0.16, 0.25, 0.32])
    y = np.zeros(12)
    found = pairs.bayesian_signed_rank(x, y, rope=0.05)
    assert abs(x.mean()) < 0.02
    assert found.equivalent < 0.02
    expected = baycomp.SignedRankTest.probs(y, x, rope=0.05, nsamples=20_000, random_state=1)
    assert tuple(found) == pytest.approx(tuple(expected), abs=0.02)
    assert pairs.bayesian_signed_rank(x / 10, y, rope=0.05).equivalent > 0.99


def test_one_draw_of_the_posterior_is_enough():
    found = pairs.bayesian_signed_rank([0.9, 0.8, 0.7], [0.5, 0.6, 0.8], draws=1)
    assert sorted(found) == [0, 0, 1]


def test_posterior_of_equal_detectors_takes_no_side():
    assert pairs.bayesian_signed_rank([1.0, 2.0], [1.0, 2.0], rope=0) == (0.5, 0.0, 0.5)
    assert pairs.bayesian_signed_rank([1.0, 2.0], [1.0, 2.0], rope=0.01) == (0.0, 1.0, 0.0)
    assert all(math.isnan(p) for p in pairs.bayesian_signed_rank([math.nan], [1.0]))


@given(tables())
def test_effect_size(values):
    x, y = values[:, 0], values[:, 1]
    assert pairs.rank_biserial(x, y) == pytest.approx(naive.rank_biserial(x.tolist(), y.tolist()))
    assert pairs.rank_biserial(y, x) == pytest.approx(-pairs.rank_biserial(x, y))


@given(tables(gaps=True))
def test_pairs_use_the_series_they_have_in_common(values):
    x, y = values[:, 0], values[:, 1]
    both = ~np.isnan(x) & ~np.isnan(y)
    found = statistics.wilcoxon_holm(values)
    assert found.series[0, 1] == both.sum()
    difference = pairs.paired_difference(x, y, draws=20)
    assert difference.series == both.sum()
    if both.any():
        assert found.raw[0, 1] == pytest.approx(pairs.wilcoxon((x - y)[both][:, None])[0])
        assert difference.mean == pytest.approx((x - y)[both].mean())
        assert pairs.rank_biserial(x, y) == pytest.approx(pairs.rank_biserial(x[both], y[both]))
    else:
        assert math.isnan(found.raw[0, 1])
        assert found.same()[0, 1]
        assert math.isnan(pairs.rank_biserial(x, y))


@examples(40)
@given(tables(min_detectors=3, max_series=8))
def test_agreement_equals_scipy(values):
    found = statistics.agreement(values)
    for i, row in enumerate(values):
        for j, other in enumerate(values):
            if np.ptp(row) == 0 or np.ptp(other) == 0:
                assert math.isnan(found[i, j])
            else:
                assert found[i, j] == pytest.approx(stats.spearmanr(row, other).statistic, abs=1e-12)


def test_infinite_values_are_ranked_and_compared():
    values = -np.array([[math.inf, 3.0, math.inf], [2.0, math.inf, 1.0], [1.0, 2.0, 4.0]])  # delays, negated
    assert statistics.ranks(values).tolist() == [[2.5, 1.0, 2.5], [2.0, 3.0, 1.0], [1.0, 2.0, 3.0]]
    assert (statistics.wilcoxon_holm(values).series == 3).all()
    assert math.isfinite(statistics.friedman(values).chi2)
    found = pairs.paired_difference(values[:, 0], values[:, 1])
    assert math.isnan(found.low)


@pytest.mark.parametrize(("missing", "expected"), [("skip", [0.5, math.nan]), ("worst", [0.5, -math.inf])])
def test_policies_for_missing_values(missing, expected):
    assert statistics.fill_missing([[0.5, math.nan]], missing).tolist()[0] == pytest.approx(expected, nan_ok=True)


def test_worst_puts_missing_values_last():
    values = statistics.fill_missing([[0.5, math.nan, 0.1, math.nan]], "worst")
    assert statistics.ranks(values).tolist() == [[1.0, 3.5, 2.0, 3.5]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: statistics.fill_missing([[1.0, math.nan]], "error"), "1 values are missing, first of detector 1"),
        (lambda: statistics.fill_missing([[1.0]], "drop"), "missing must be one of"),
        (lambda: statistics.nemenyi([[1.0, 2.0]]), "at least 3 detectors"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
        call()


def test_few_series_give_no_verdict():
    values = [[0.3, 0.2, 0.1]]
    assert math.isnan(statistics.friedman(values).chi2)
    assert np.isnan(statistics.nemenyi(values).p_values[0, 1])
    assert statistics.wilcoxon_holm(values).same().all()


@given(tables())
def test_totals_are_sums_over_all_pairs(values):
    whole = statistics.whole_rows(values)
    for i, counts in enumerate(zip(*statistics.total_wins(whole), strict=True)):
        mine, others = whole[:, [i]], np.delete(whole, i, axis=1)
        assert list(counts) == [(mine > others).sum(), (mine == others).sum(), (mine < others).sum()]


@pytest.mark.parametrize("seed", range(20))
def test_tests_against_one_detector_tell_nothing_apart_that_tests_of_all_pairs_do_not(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(25, 8)) + rng.exponential(2, 8)
    values[rng.random(values.shape) < 0.05] = math.nan
    best = int(rng.integers(8))
    every, some = statistics.wilcoxon_holm(values), statistics.wilcoxon_holm(values, best)
    others = np.arange(8) != best
    assert (some.raw[0] == every.raw[best])[others].all()
    assert (some.series[0] == every.series[best]).all()
    assert (some.p_values[0] >= every.p_values[best])[others].all()
    assert some.same()[0, best]
    assert some.needed() == every.needed()


@pytest.mark.parametrize("series", [3, 60])
def test_of_many_detectors_not_every_two_are_tested(series, monkeypatch):
    values = np.random.default_rng(0).random((series, 40)) + np.linspace(0, 3, 40)
    every = statistics.Ranking(values)
    assert not every.many
    apart = np.flatnonzero(~np.array(every.alike(0.05)))
    monkeypatch.setattr(statistics, "MANY", 39)
    monkeypatch.setattr(statistics, "_square", None)  # no matrix of pairs is made
    many = statistics.Ranking(values)
    assert many.many
    assert many.groups(0.05) == []
    told = np.flatnonzero(~np.array(many.alike(0.05)))
    assert set(told) <= set(apart)
    assert len(told) == (0 if series == 3 else 36)
    assert many.tests.too_few() == every.tests.too_few()
    assert bool(every.tests.too_few()) == (series == 3)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("test", [statistics.wilcoxon_holm, statistics.nemenyi])
def test_the_number_of_series_that_a_test_needs_is_the_least(k, test):
    if test is statistics.nemenyi and k == 2:
        pytest.skip("Nemenyi's test needs three detectors")
    # The clearest table there is: the same order on every series, and no two differences alike.
    clearest = np.arange(30)[:, None] * 0.01 * np.arange(k) + 10.0 * np.arange(k)
    needed = test(clearest[:1]).needed()
    for n in range(1, 20):
        found = test(clearest[:n])
        assert bool((found.p_values < 0.05).any()) == (n >= needed)
        assert found.needed() == (0 if n >= needed else needed)
        assert bool(found.too_few()) == (n < needed)
