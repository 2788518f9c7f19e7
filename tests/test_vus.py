"""Range-AUC and VUS against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tsadeval as te
from naive.vus import range_auc as naive_range_auc
from naive.vus import vus as naive_vus
from strategies import labels, scorings
from tsadeval.metrics import _vus
from tsadeval.metrics._kernels.binning import levels_of

M = te.metrics
VARIANTS = list(_vus.VARIANTS)
THRESHOLDS = st.sampled_from([2, 3, 5, 250, None])


@pytest.fixture(params=[1 << 16, 0], ids=["counts", "points"], autouse=True)
def way(request, monkeypatch):
    """Buffer weights come from a table of counts or from single points; every test goes both ways."""
    monkeypatch.setattr(_vus, "_SMALL_TABLE", request.param)


def volumes(y, s, **options):
    return M.vus_roc(y, s, **options), M.vus_pr(y, s, **options)


def areas(y, s, **options):
    return M.range_auc_roc(y, s, **options), M.range_auc_pr(y, s, **options)


@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=60)
@given(data=scorings(), window=st.integers(0, 12), n_thresholds=THRESHOLDS)
def test_range_auc_equals_the_definition(variant, data, window, n_thresholds):
    options = {"window": window, "n_thresholds": n_thresholds, "variant": variant}
    assert areas(*data, **options) == pytest.approx(naive_range_auc(*data, **options), abs=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=30)
@given(data=scorings(), window=st.integers(0, 12), n_thresholds=THRESHOLDS)
def test_vus_equals_the_definition(variant, data, window, n_thresholds):
    options = {"window": window, "n_thresholds": n_thresholds, "variant": variant}
    assert volumes(*data, **options) == pytest.approx(naive_vus(*data, **options), abs=1e-10)
