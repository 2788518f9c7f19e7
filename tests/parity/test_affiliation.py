"""Affiliation against `tsadmetrics`, whose engine is a copy of the authors' package (not on PyPI itself)."""

import warnings

import numpy as np
import pytest

from tsadeval.metrics import affiliation, affiliation_f1, normalized_affiliation_f1


def cases(count):
    """Labels and predictions with events at the ends, gaps of 1, single points, dense and sparse alarms."""
    rng = np.random.default_rng(3)
    for _ in range(count):
        n = int(rng.integers(3, 120))
        y = np.repeat(rng.integers(0, 2, n), rng.integers(1, 6, n))[:n]
        p = np.repeat(rng.integers(0, 2, n), rng.integers(1, 6, n))[:n]
        if rng.random() < 0.3:
            p = (rng.random(n) < 0.1).astype(int)
        if y.any() and p.any():
            yield y, p


def test_equals_the_authors_engine():
    engine = pytest.importorskip("tsadmetrics.utils.functions_affiliation", reason="tsadmetrics is not installed")
    differences = []
    for y, p in cases(500):
        events = [engine.convert_vector_to_events(v) for v in (p, y)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = engine.pr_from_events(*events, (0, len(y)))
        found = affiliation(y, p)
        differences += [abs(found.precision - expected["precision"]), abs(found.recall - expected["recall"])]
    assert len(differences) > 900
    assert max(differences) < 1e-13


def test_equals_its_f_scores():
    package = pytest.importorskip("tsadmetrics.metrics.tem.tstm", reason="tsadmetrics is not installed")
    for y, p in cases(300):
        for beta in (0.5, 1.0, 2.0):
            peer = package.AffiliationbasedFScore(beta=beta)
            assert affiliation_f1(y, p, beta=beta) == pytest.approx(peer.compute(y, p), abs=1e-13)
            if affiliation(y, p).precision > 0.5:  # below, the peer's denominator has another sign
                peer = package.NormalizedAffiliationbasedFScore(beta=beta, alpha=0.5)
                assert normalized_affiliation_f1(y, p, beta=beta) == pytest.approx(peer.compute(y, p), abs=1e-12)
