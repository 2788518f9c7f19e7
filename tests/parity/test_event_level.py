"""Event-level metrics against the packages that have them."""

import numpy as np
import pytest

import tsadeval as te


def cases(number=400):
    rng = np.random.default_rng(7)
    for _ in range(number):
        n = int(rng.integers(2, 60))
        y, p = ((np.cumsum(rng.random(n + 1) < rng.uniform(0.05, 0.7)) % 2)[1:].astype(int) for _ in range(2))
        if y.any():
            yield y, p


@pytest.fixture(scope="module")
def tsadmetrics():
    return pytest.importorskip("tsadmetrics", reason="tsadmetrics is in the extra [parity]")


def test_segments_equal_tsadmetrics(tsadmetrics):
    from tsadmetrics.metrics.tem.tpdm import SegmentwiseFScore

    for y, p in cases():
        for beta in (1.0, 2.0):
            expected = SegmentwiseFScore(beta=beta).compute(y, p)
            assert te.metrics.event_f1(y, p, variant="segments", beta=beta) == pytest.approx(expected, abs=1e-12)


def test_composite_equals_tsadmetrics(tsadmetrics):
    from tsadmetrics.metrics.tem.tpdm import CompositeFScore

    for y, p in cases():
        for beta in (1.0, 2.0):
            expected = CompositeFScore(beta=beta).compute(y, p)
            assert te.metrics.composite_f1(y, p, beta=beta) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_delay_equals_tsadmetrics_where_all_is_detected(tsadmetrics):
    from tsadmetrics.metrics.tem.dpm import MeanTimeToDetect

    compared = 0
    for y, p in cases(1000):
        if te.metrics.event(y, p).recall == 1:
            compared += 1
            assert te.metrics.detection_delay(y, p) == pytest.approx(MeanTimeToDetect().compute(y, p), abs=1e-12)
    assert compared > 100


def test_nab_equals_tsadmetrics(tsadmetrics):
    from tsadmetrics.metrics.tem.dpm import NabScore

    for y, p in cases():
        assert te.metrics.nab_score(y, p) == pytest.approx(NabScore().compute(y, p), abs=1e-10)
