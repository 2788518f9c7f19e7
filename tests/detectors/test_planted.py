"""Each detector finds planted anomalies of the kind it is made for, and Random does not."""

from pathlib import Path

import numpy as np
import pytest

import tsadeval as te
from tsadeval.detectors import DETECTORS, make

pytestmark = pytest.mark.slow

STARTS = (200, 500, 800)


def wave(n, seed, columns=1):
    rng = np.random.default_rng(seed)
    phases = np.arange(columns) * np.pi / 3
    return np.sin(np.arange(n)[:, None] * 2 * np.pi / 25 + phases) + 0.1 * rng.normal(size=(n, columns))


def other_rhythm():
    """The same values in another order in time: every point is normal, the windows are not."""
    train, test, labels = wave(1000, 0), wave(1000, 1), np.zeros(1000, dtype=bool)
    for start in STARTS:
        test[start : start + 40] = np.sin(np.arange(40)[:, None] * 2 * np.pi / 12)
        labels[start : start + 40] = True
    return train, test, labels


def surprises():
    """Single points that are not what the ones before announce."""
    train, test, labels = wave(1000, 0), wave(1000, 1), np.zeros(1000, dtype=bool)
    at = np.arange(60, 1000, 50)
    test[at] += np.where(np.arange(len(at)) % 2, 1.0, -1.0)[:, None]
    labels[at] = True
    return train, test, labels


def broken_relation():
    """Several columns move together; in the anomalies one of them goes its own way, within its usual values."""
    train, test, labels = wave(1000, 0, 4), wave(1000, 1, 4), np.zeros(1000, dtype=bool)
    for start in STARTS:
        test[start : start + 40, 2] = test[start + 12 : start + 52, 2]
        labels[start : start + 40] = True
    return train, test, labels


def other_level():
    """Several columns leave the range of the training part."""
    train, test, labels = wave(1000, 0, 4), wave(1000, 1, 4), np.zeros(1000, dtype=bool)
    for start in STARTS:
        test[start : start + 40, 1:] += 2.0
        labels[start : start + 40] = True
    return train, test, labels


def bursts():
    """Noise on top of the wave."""
    train, test, labels = wave(1000, 0), wave(1000, 1), np.zeros(1000, dtype=bool)
    rng = np.random.default_rng(2)
    for start in STARTS:
        test[start : start + 40] += rng.normal(size=(40, 1))
        labels[start : start + 40] = True
    return train, test, labels


# What is planted for whom, and options that make seconds of it. Detectors with a test file of their own: see there.
PLANTED = [
    (other_rhythm, "lof(window=25)"),
    (broken_relation, "lof"),
    (other_rhythm, "iforest(window=25)"),
    (other_level, "iforest"),
    (other_rhythm, "pca(window=25)"),
    (broken_relation, "pca"),
    (other_rhythm, "knn(window=25)"),
    (broken_relation, "knn"),
    (other_level, "hbos"),
    (other_rhythm, "ocsvm(window=25)"),
    (broken_relation, "ocsvm"),
    (other_rhythm, "kmeans_ad(window=25)"),
    (broken_relation, "kmeans_ad"),
    (surprises, "ar"),
    (broken_relation, "ar"),
    (surprises, "poly(window=12)"),
    (bursts, "poly(window=12)"),
    (bursts, "moving_variance(window=10)"),
    (bursts, "squared_difference"),
    (other_rhythm, "matrix_profile(window=25)"),
    (surprises, "lstm_ad(window=50, hidden=16, layers=1, epochs=15, learning_rate=0.01)"),
    (other_level, "usad(window=20, epochs=20)"),
    (other_rhythm, "donut(window=25, epochs=30)"),
]


def test_no_detector_is_forgotten():
    tested = {text.partition("(")[0] for _, text in PLANTED}
    elsewhere = {name for name in DETECTORS if (Path(__file__).parent / f"test_{name}.py").exists()}
    assert tested | elsewhere | {"random"} == set(DETECTORS)


def marked(plant, text):
    deep = DETECTORS[text.partition("(")[0]].extra == "torch"
    return pytest.param(plant, text, marks=[pytest.mark.torch] if deep else [])


@pytest.mark.parametrize(
    ("plant", "text"), [marked(*one) for one in PLANTED], ids=lambda value: getattr(value, "__name__", value)
)
def test_planted_anomalies_are_found(plant, text):
    train, test, labels = plant()
    found = te.metrics.auc_roc(labels, make(text).fit(train).score(test))
    assert found > 0.85
    assert 0.35 < te.metrics.auc_roc(labels, make("random").fit(train).score(test)) < 0.65
