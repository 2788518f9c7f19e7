"""Point-wise, ranking and point-adjusted metrics against the packages that people use for them."""

import numpy as np
import pytest
from sklearn import metrics as sklearn

import tsadeval as te
from strategies import FACTOR


def cases(number, seed):
    """Random labels (events, single points, both ends), scores (smooth, tied, binary) and predictions."""
    rng = np.random.default_rng(seed)
    for _ in range(max(10, round(FACTOR * number))):
        n = int(rng.integers(5, 120))
        y = np.repeat(rng.integers(0, 2, n), rng.integers(1, 9, n))[:n]
        y[rng.integers(n)], s = 1, rng.random(n)
        y[rng.integers(n)] = 0
        if y.max() == 0:
            continue
        s = [s, np.round(s * 5), np.round(s)][rng.integers(3)]
        yield y, s, (s > np.quantile(s, rng.choice([0.2, 0.5, 0.9, 0.95]))).astype(int)


def test_scikit_learn():
    for y, s, p in cases(100, seed=1):
        precision, recall, _ = sklearn.precision_recall_curve(y, s)
        expected = {
            "auc_roc": sklearn.roc_auc_score(y, s),
            "auc_pr": sklearn.average_precision_score(y, s),
            "best_f1": max(2 * a * b / (a + b) if a + b else 0 for a, b in zip(precision, recall, strict=True)),
        }
        for name, value in expected.items():
            assert getattr(te.metrics, name)(y, s) == pytest.approx(value, abs=1e-12), name
        trapezoid = te.metrics.auc_pr(y, s, interpolation="trapezoid")
        assert trapezoid == pytest.approx(sklearn.auc(recall, precision), abs=1e-12)
        expected = {
            "recall": sklearn.recall_score(y, p),
            "f1": sklearn.f1_score(y, p),
            "accuracy": sklearn.accuracy_score(y, p),
            "balanced_accuracy": sklearn.balanced_accuracy_score(y, p),
        }
        if p.any():
            expected["precision"] = sklearn.precision_score(y, p)
            if not p.all():
                expected["mcc"] = sklearn.matthews_corrcoef(y, p)
        for name, value in expected.items():
            assert getattr(te.metrics, name)(y, p) == pytest.approx(value, abs=1e-12), name
        assert te.metrics.f1(y, p, beta=2) == pytest.approx(sklearn.fbeta_score(y, p, beta=2), abs=1e-12)


def test_tsadmetrics():
    pytest.importorskip("tsadmetrics", reason="tsadmetrics is in the parity extra")
    from tsadmetrics.metrics.spm import PointwiseAucPr, PointwiseAucRoc, PointwiseFScore, PrecisionAtK
    from tsadmetrics.metrics.tem.dpm import DelayThresholdedPointadjustedFScore
    from tsadmetrics.metrics.tem.ptdm import PointadjustedAtKFScore
    from tsadmetrics.metrics.tem.tpdm import PointadjustedFScore

    rng = np.random.default_rng(0)
    for y, s, p in cases(300, seed=2):
        k, delay = float(rng.choice([0.0, 0.1, 0.25, 0.5, 1.0])), int(rng.integers(0, 9))
        pairs = {
            "auc_roc": (te.metrics.auc_roc(y, s), PointwiseAucRoc().compute(y, s)),
            "auc_pr": (te.metrics.auc_pr(y, s), PointwiseAucPr().compute(y, s)),
            "f1": (te.metrics.f1(y, p), PointwiseFScore().compute(y, p)),
            "f1_pa": (te.metrics.f1_pa(y, p), PointadjustedFScore().compute(y, p)),
            "f1_pa_k": (te.metrics.f1_pa_k(y, p, k=k), PointadjustedAtKFScore(k=k).compute(y, p)),
            "f1_pa_delay": (
                te.metrics.f1_pa_delay(y, p, max_delay=delay),
                DelayThresholdedPointadjustedFScore(k=delay + 1).compute(y, p),
            ),
        }
        if len(np.unique(s)) == len(s):  # where scores tie at the cut, it takes more than k points
            pairs["precision_at_k"] = (te.metrics.precision_at_k(y, s), PrecisionAtK().compute(y, s))
        for name, (ours, theirs) in pairs.items():
            assert ours == pytest.approx(theirs, abs=1e-12), name


@pytest.mark.slow
def test_tadpak_is_the_strict_variant():
    pak = pytest.importorskip("tadpak.pak", reason="tadpak is in the parity extra")
    # Quarters, whose products with a length are exact: tadpak compares products of floats, and 29 of 100 hits
    # are more than 29 % there.
    for y, s, _ in cases(300, seed=3):
        for percent in (0, 25, 50, 75, 100):
            v = np.median(s)
            alarms = pak.pak(s, y, v, k=percent) > 0
            theirs = 2 * (alarms & (y == 1)).sum() / (alarms.sum() + y.sum())  # scikit-learn's f1 takes 6 ms a call
            ours = te.metrics.f1_pa_k(y, s > v, k=percent / 100, strict=True)
            assert ours == pytest.approx(theirs, abs=1e-12)
