"""Tensor metrics against the CPU kernels, on random batches with padding: 1,000 series for each metric and dtype.

With TSADEVAL_EXAMPLES=100, 1,000 batches of 10 series; see torch_batches.py.
"""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
import tsadeval.torch as tt
from strategies import examples
from torch_batches import DEVICE, assert_equal, batches, quiet
from tsadeval.core.metric import METRICS

pytestmark = pytest.mark.torch

TOLERANCES = [pytest.param(np.float32, 1e-6, id="float32"), pytest.param(np.float64, 1e-9, id="float64")]
by_dtype = pytest.mark.parametrize(("dtype", "tolerance"), TOLERANCES)

SCORE_METRICS = {
    "auc_roc": st.just({}),
    "auc_pr": st.sampled_from([{}, {"interpolation": "trapezoid"}]),
    "best_f1": st.sampled_from([{}, {"beta": 0.5}, {"beta": 3}]),
    "cce": st.fixed_dictionaries(
        {},
        optional={
            "tau": st.sampled_from([0.1, 0.7]),
            "constrained": st.booleans(),
            "event_weight": st.sampled_from([0.0, 0.3]),
            "global_weight": st.sampled_from([0.2, 1.0]),
            "normalize": st.sampled_from(["minmax", "robust", "rank", "quantile", "published"]),
            "quantiles": st.sampled_from([(0.1, 0.9), (0.0, 1.0)]),
            "uncertainty": st.sampled_from(["beta", "pointwise", "scaled"]),
            "gamma": st.sampled_from([0.5, 10.0]),
        },
    ),
    "vus_roc": st.fixed_dictionaries(
        {"window": st.sampled_from([0, 1, 2, 3, 5, 12, 60]), "n_thresholds": st.sampled_from([2, 3, 10, 250, None])},
        optional={"variant": st.sampled_from(["vus", "range_auc", "timeeval", "ff_vus"])},
    ),
    "pate": st.fixed_dictionaries(
        {"early": st.sampled_from([0, 1, 3, 7, 100]), "delay": st.sampled_from([0, 1, 3, 7, 100])},
        optional={
            "n_splits": st.sampled_from([1, 2, 3]),
            "include_zero": st.booleans(),
            "n_thresholds": st.sampled_from([2, 3, 10, 250, None]),
            "drop_intermediate": st.booleans(),
        },
    ),
}
SCORE_METRICS["vus_pr"] = SCORE_METRICS["vus_roc"]


@pytest.mark.parametrize("name", SCORE_METRICS)
@by_dtype
def test_score_metrics_equal_the_cpu_kernels(name, dtype, tolerance):
    @examples(10)
    @given(batches(dtype=dtype), SCORE_METRICS[name])
    def check(case, options):
        found = quiet(getattr(tt, name), case.preds, case.target, **case.where, **options)
        assert found.dtype == case.preds.dtype
        if name == "cce" and "mask" in case.where:  # no event runs over what a mask leaves out
            metric, rows = METRICS[name].with_options(**options), zip(case.labels, case.scores, case.keep, strict=True)
            expected = (quiet(_with_gaps, metric, *row) for row in rows)
        else:
            cpu, series = getattr(te.metrics, name), zip(case.labels, case.scores, strict=True)
            expected = (quiet(cpu, y, s, **options) for y, s in series)
        assert_equal(found, expected, tolerance)

    check()


def _with_gaps(metric, labels, scores, keep):
    y, s = np.zeros(len(keep), np.int64), np.zeros(len(keep), scores.dtype)
    y[keep], s[keep] = labels, scores
    return te.evaluate(y, s, metric, ignore=~keep).rows[0]["value"]


@pytest.mark.parametrize("name", ["f1_pa", "affiliation_f1"])
@examples(10)
@given(case=batches(), beta=st.sampled_from([0.5, 1.0, 2.0]))
def test_prediction_metrics_of_alarms_equal_the_cpu_kernels(name, case, beta):
    found = quiet(getattr(tt, name), case.predicted, case.target, **case.where, beta=beta)
    cpu = getattr(te.metrics, name)
    assert_equal(found, (quiet(cpu, y, p, beta=beta) for y, p in zip(case.labels, case.alarms, strict=True)), 1e-9)
    as_bool = quiet(getattr(tt, name), case.predicted == 1, case.target == 1, **case.where, beta=beta)
    # A GPU adds up in any order.
    torch.testing.assert_close(as_bool, found, rtol=0, atol=0 if DEVICE == "cpu" else 1e-12, equal_nan=True)


@pytest.mark.parametrize("name", ["f1_pa", "affiliation_f1"])
@by_dtype
def test_prediction_metrics_at_a_threshold_equal_the_cpu_kernels(name, dtype, tolerance):
    @examples(10)
    @given(batches(dtype=dtype), st.sampled_from([0.0, 0.25, 0.3, 1000.5]))
    def check(case, threshold):
        cpu, pairs = getattr(te.metrics, name), list(zip(case.labels, case.scores, strict=True))
        found = quiet(getattr(tt, name), case.preds, case.target, **case.where, threshold=threshold)
        assert_equal(found, (quiet(cpu, y, s.astype(float) > threshold) for y, s in pairs), tolerance)
        each = torch.tensor([float(np.median(s)) for s in case.scores], dtype=torch.float64, device=DEVICE)
        found = quiet(getattr(tt, name), case.preds, case.target, **case.where, threshold=each)
        assert_equal(
            found, (quiet(cpu, y, s > np.float64(t)) for (y, s), t in zip(pairs, each, strict=True)), tolerance
        )

    check()


@pytest.mark.parametrize("name", ["f1_pa", "affiliation_f1"])
@by_dtype
def test_prediction_metrics_at_the_best_threshold_equal_the_cpu_kernels(name, dtype, tolerance):
    @examples(10)
    @given(batches(dtype=dtype), st.sampled_from([0.5, 1.0, 2.0]))
    def check(case, beta):
        found = quiet(getattr(tt, name), case.preds, case.target, **case.where, beta=beta)
        best = [
            quiet(te.best_threshold, f"{name}(beta={beta})", y, s).value if y.any() else np.nan
            for y, s in zip(case.labels, case.scores, strict=True)
        ]
        assert_equal(found, best, tolerance)

    check()


@examples(10)
@given(case=batches())
def test_affiliation_equals_the_cpu_kernel(case):
    found = quiet(tt.affiliation, case.predicted, case.target, **case.where)
    each = [quiet(te.metrics.affiliation, y, p) for y, p in zip(case.labels, case.alarms, strict=True)]
    for values, expected in zip(found, zip(*each, strict=True), strict=True):
        assert_equal(values, expected, 1e-9)
