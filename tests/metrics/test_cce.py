"""CCE against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from naive.cce import cce as naive_cce
from strategies import examples, labels, scorings

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "tau": st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
        "constrained": st.booleans(),
        "event_weight": st.sampled_from([0.0, 0.3, 1.0]),
        "global_weight": st.sampled_from([0.0, 0.7, 1.0]),
        "normalize": st.sampled_from(["minmax", "robust", "rank", "quantile"]),
        "quantiles": st.sampled_from([(0.0, 1.0), (0.1, 0.9), (0.001, 0.999)]),
        "uncertainty": st.sampled_from(["beta", "pointwise", "scaled"]),
        "gamma": st.sampled_from([0.5, 10.0, 100.0]),
    },
)


@examples(1000)
@given(scorings(max_size=20), OPTIONS)
def test_equals_the_definition(data, options):
    y, s = data
    assert te.cce(y, s, **options) == pytest.approx(naive_cce(y, s, **options), abs=1e-12)


@examples(1000)
@given(scorings(max_size=20), st.sampled_from([-1e6, 1e6, 1.0]), st.sampled_from([1e-6, 1e-3, 1e6]))
def test_equals_the_definition_far_from_zero_and_in_narrow_ranges(data, offset, width):
    y, s = data
    s = offset + width * s
    assert te.cce(y, s) == pytest.approx(naive_cce(y, s), abs=1e-12)


@examples(1000)
@given(st.data())
def test_equals_the_definition_for_any_finite_scores(data):
    y = data.draw(labels(both=True, max_size=8))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    s = data.draw(st.lists(finite, min_size=len(y), max_size=len(y)))
    uncertainty = data.draw(st.sampled_from(["beta", "pointwise", "scaled"]))
    expected = naive_cce(y, s, uncertainty=uncertainty)
    assert te.cce(y, s, uncertainty=uncertainty) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("uncertainty", ["pointwise", "scaled"])
@pytest.mark.parametrize("gamma", [5e-324, 1e-300, 1e300, 1.7e308])
def test_any_gamma_has_its_limit(uncertainty, gamma):
    y, s = [0, 0, 1, 1, 0], [0.1, 0.4, 0.7, 1.0, 0.0]
    assert te.cce(y, s, uncertainty=uncertainty, gamma=gamma) == pytest.approx(
        te.cce(y, s, uncertainty=uncertainty, gamma=1e12 if gamma > 1 else 1e-12), abs=1e-9
    )


@given(scorings())
def test_robust_scores_depend_on_their_order_only(data):
    y, s = data
    assert te.cce(y, np.exp(3 * s), normalize="robust") == te.cce(y, s, normalize="robust")


def test_robust_keeps_what_is_right_about_minmax():
    y = np.repeat([0, 1, 0, 0, 1, 0], 50)
    assert te.cce(y, y, normalize="robust") == 1
    assert te.cce(y, 1 - y, normalize="robust") == -1
    assert te.cce(y, np.zeros(300), normalize="robust") == 0
    assert te.cce(1 - y, 1 - y, normalize="robust") == 1  # whatever the share of anomalies
    values = [te.cce(y, np.random.default_rng(seed).random(300), normalize="robust") for seed in range(200)]
    assert abs(np.mean(values)) < 0.01


def test_robust_is_not_moved_by_one_outlier():
    y = np.repeat([0, 1, 0], [500, 50, 450])
    s = np.random.default_rng(0).random(1000) + y
    outlier = s.copy()
    outlier[3] = 1e6
    assert te.cce(y, outlier) < 0.1 * te.cce(y, s)
    assert te.cce(y, outlier, normalize="robust") == pytest.approx(te.cce(y, s, normalize="robust"), abs=0.01)
