"""CCE against the values that the paper's authors published."""

import numpy as np
import pytest

import tsadeval as te
from published import SHARED, labels_of, published_values, scores_of
from tsadeval.core.events import Events


def as_published(y, s):
    """CCE with the published min-max, whose denominator has 1e-8 added (see docs/errata.md)."""
    return te.cce(y, s, normalize="published", uncertainty="pointwise")


@pytest.mark.parametrize(
    ("case", "events", "points", "first"),
    [
        ("100k-20seg-50L", 20, 881, 769),
        ("100k-200seg-50L", 182, 8223, 379),
        ("100k-500seg-20H", 463, 9541, 105),
        ("100k-2seg-500H", 2, 316, 25835),
        ("10k-2seg-50L", 2, 80, 3875),
        ("10k-50seg-20H", 46, 1071, 64),
        ("10k-10seg-100L", 7, 990, 545),
        ("10k-2seg-500H", 2, 1495, 5175),
    ],
)
def test_label_sets_are_the_published_ones(case, events, points, first):
    y = labels_of(case)
    assert (len(Events.of(y)), y.sum(), y.argmax()) == (events, points, first)


@pytest.mark.parametrize(
    ("model", "q", "p", "sigma", "value"),
    [
        ("AccQ", 0.1, None, 0.0, -0.7332621032246387),
        ("AccQ", 0.5, None, 0.0, 0.010451678209120309),
        ("AccQ", 1.0, None, 0.0, 0.9177358865286389),
        ("PreQ-NegP", 0.1, 0.01, 0.0, 0.0756087776299314),
        ("AccQ-R", 0.1, None, 0.05, -0.7350510308687648),
    ],
)
def test_check_values(model, q, p, sigma, value):
    y = labels_of("100k-20seg-50L")
    s = scores_of(y, model, 2025, q, p, sigma)
    assert as_published(y, s) == pytest.approx(value, abs=1e-9)
    # The exact min-max differs by the 1e-8 in the published denominator and by nothing else.
    assert te.cce(y, s, uncertainty="pointwise") == pytest.approx(value, abs=1e-8)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the published values are not part of the repository")
def test_hundreds_of_published_values():
    rows = list(published_values("CCE"))
    assert len(rows) > 500
    for case, model, seed, q, p, sigma, value in rows:
        y = labels_of(case)
        s = scores_of(y, model, seed, q, p, sigma)
        assert as_published(y, s) == pytest.approx(value, abs=1e-9)
        assert te.cce(y, s, uncertainty="pointwise") == pytest.approx(value, abs=1e-8)


def test_five_model_table_has_the_scaled_uncertainty():
    """The paper's synthetic table: labels of legacy seed 43, scores of seed 42, noise 0.1."""
    random = np.random.RandomState(43)
    y = np.zeros(500, np.int64)
    for _ in range(2):
        start = random.randint(0, 500 - 50)
        y[start : start + max(random.randint(1, 51), 30)] = 1
    models = [(1.0, 0.05), (0.9, 0.05), (0.9, 0.1), (0.9, 0.3), (0.8, 0.3)]
    scaled, text = [], []
    for q, p in models:
        s = scores_of(y, "PreQ-NegP-R", 42, q, p, 0.1)
        scaled.append(te.cce(y, s, uncertainty="scaled"))
        text.append(te.cce(y, s))
    assert scaled == pytest.approx([0.76836, 0.70718, 0.65847, 0.51023, 0.41211], abs=1e-5)
    assert text == pytest.approx([0.7527, 0.6785, 0.6273, 0.4750, 0.3732], abs=1e-4)


def test_binary_scores_are_not_perfectly_consistent():
    """The published code's 1e-8 terms give 0.2500 and 0.8000 here."""
    assert te.cce([0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1, 1, 1]) == pytest.approx(0.2073, abs=5e-5)
    y = np.repeat([0, 1], 10)
    s = np.where(np.arange(20) % 10 == 0, 1 - y, y)
    assert te.cce(y, s) == pytest.approx(0.7311, abs=5e-5)


def test_published_normalisation_is_what_it_says():
    y, s = np.array([0, 0, 1, 1, 0]), np.array([3.0, 1.0, 9.0, 8.0, 2.0])
    scaled = (s - s.min()) / (s.max() - s.min() + 1e-8)
    for uncertainty in ("beta", "pointwise", "scaled"):
        found = te.cce(y, s, normalize="published", uncertainty=uncertainty)
        assert found == pytest.approx(te.cce(y, scaled, normalize=None, uncertainty=uncertainty), abs=1e-14)


def test_scale_does_not_matter():
    """The published code gives 0.375 for the second."""
    y, s = [0, 0, 0, 0, 1, 1, 1, 1], np.array([0.1, 0.2, 0.1, 0.2, 0.9, 0.8, 0.9, 0.7])
    assert te.cce(y, 1e-8 * s, normalize="published") == pytest.approx(0.375, abs=5e-4)
    assert te.cce(y, s) == pytest.approx(0.838, abs=5e-4)
    assert te.cce(y, 1e-8 * s) == pytest.approx(te.cce(y, s), abs=1e-12)
