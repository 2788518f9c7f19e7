"""Tensor metrics against the CPU kernels, on random batches with padding: 1,000 series for each metric and dtype."""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
import tsadeval.torch as tt
from strategies import examples
from torch_batches import assert_equal, batches, quiet

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
            "normalize": st.sampled_from(["minmax", "rank", "quantile", "published"]),
            "quantiles": st.sampled_from([(0.1, 0.9), (0.0, 1.0)]),
            "uncertainty": st.sampled_from(["beta", "pointwise", "scaled"]),
            "gamma": st.sampled_from([0.5, 10.0]),
        },
    ),
    "vus_roc": st.fixed_dictionaries(
        {"window": st.sampled_from([0, 1, 2, 3, 5, 12, 60]), "n_thresholds": st.sampled_from([2, 3, 10, 250, None])},
        optional={"variant": st.sampled_from(["vus", "range_auc", "timeeval", "ff_vus"])},
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
        cpu = getattr(te.metrics, name)
        assert_equal(
            found, (quiet(cpu, y, s, **options) for y, s in zip(case.labels, case.scores, strict=True)), tolerance
        )

    check()
