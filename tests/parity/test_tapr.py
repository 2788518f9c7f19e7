"""TaPR and eTaPR against tsadmetrics, whose copies follow the authors' code."""

import numpy as np
import pytest

import tsadeval as te


def random_pair(rng):
    n = int(rng.integers(5, 150))
    pair = []
    for longest in rng.integers(1, 15, 2):
        lengths = np.where(rng.random(n) < 0.3, 1, rng.integers(1, longest + 1, n))
        pair.append(np.repeat((np.arange(n) + rng.integers(2)) % 2, lengths)[:n])
    return pair


def gaps(y):
    edges = np.diff(np.concatenate(([0], y, [0])))
    return np.flatnonzero(edges == 1)[1:] - np.flatnonzero(edges == -1)[:-1]


def test_tapr():
    package = pytest.importorskip("tsadmetrics.metrics.tem.ptdm", reason="tsadmetrics is not installed")
    rng = np.random.default_rng(0)
    compared = 0
    while compared < 300:
        y, p = random_pair(rng)
        # Zones of tsadmetrics have delta + 1 points. Those that take in the next event's first point are an error.
        delta = int(rng.integers(1, 30))
        if not y.any() or (gaps(y) == delta - 1).any():
            continue
        alpha, theta = float(rng.choice([0.0, 0.3, 0.6, 1.0])), float(rng.choice([0.13, 0.37, 0.59, 0.83]))
        theirs = package.TimeseriesAwareFScore(alpha=alpha, theta=theta, delta=delta - 1.0, beta=2.0)
        theirs.params["delta"] = delta - 1  # it asks for a float, but counts points with it
        ours = te.metrics.tapr_f1(y, p, alpha=alpha, theta=theta, delta=delta, beta=2.0)
        assert ours == pytest.approx(theirs._compute(y, p), abs=1e-11)
        compared += 1


def test_etapr():
    package = pytest.importorskip("tsadmetrics.metrics.tem.tmem", reason="tsadmetrics is not installed")
    rng = np.random.default_rng(1)
    compared = 0
    while compared < 300:
        y, p = random_pair(rng)
        if not y.any():
            continue
        theta_p, theta_r = rng.choice([0.1, 0.25, 1 / 3, 0.5, 2 / 3, 1.0], 2).tolist()
        theirs = package.EnhancedTimeseriesAwareFScore(theta_p=theta_p, theta_r=theta_r)
        ours = te.metrics.etapr_f1(y, p, theta_p=theta_p, theta_r=theta_r)
        assert ours == pytest.approx(theirs._compute(y, p), abs=1e-11)
        compared += 1
