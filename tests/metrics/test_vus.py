"""Range-AUC and VUS against their definitions."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tsadeval.core.binning import levels_of

import tsadeval as te
from naive.vus import range_auc as naive_range_auc
from naive.vus import vus as naive_vus
from strategies import examples, labels, scorings
from tsadeval.core.inputs import Scoring
from tsadeval.core.parameters import VUS_VARIANTS
from tsadeval.metrics import _vus, counting

M = te.metrics
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "vus.json").read_text())
THRESHOLDS = st.sampled_from([2, 3, 5, 250, None])
every_variant = pytest.mark.parametrize("variant", list(VUS_VARIANTS))


@pytest.fixture(params=[1 << 16, 0], ids=["counts", "points"])
def way(request, monkeypatch):
    """Buffer weights come from a table of counts, or (in long series with many thresholds) from single points."""
    monkeypatch.setattr(counting, "table_pays", lambda size, points: request.param > 0)


def volumes(y, s, **options):
    return M.vus_roc(y, s, **options), M.vus_pr(y, s, **options)


def areas(y, s, **options):
    return M.range_auc_roc(y, s, **options), M.range_auc_pr(y, s, **options)


@every_variant
@pytest.mark.usefixtures("way")
@examples(300)
@given(data=scorings(), window=st.integers(0, 12), n_thresholds=THRESHOLDS)
def test_range_auc_equals_the_definition(variant, data, window, n_thresholds):
    options = {"window": window, "n_thresholds": n_thresholds, "variant": variant}
    assert areas(*data, **options) == pytest.approx(naive_range_auc(*data, **options), abs=1e-10)


@every_variant
@pytest.mark.usefixtures("way")
@examples(60)
@given(data=scorings(max_size=25), window=st.integers(0, 12), n_thresholds=THRESHOLDS)
def test_vus_equals_the_definition(variant, data, window, n_thresholds):
    options = {"window": window, "n_thresholds": n_thresholds, "variant": variant}
    assert volumes(*data, **options) == pytest.approx(naive_vus(*data, **options), abs=1e-10)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("case", GOLDEN, ids=range(len(GOLDEN)))
def test_equals_the_authors_package(case):
    y, s = [int(c) for c in case["labels"]], np.array(case["eighths"]) / 8
    window = case["window"]
    assert volumes(y, s, window=window, n_thresholds=case["n_thresholds"]) == pytest.approx(case["vus"], abs=1e-12)
    assert areas(y, s, window=window) == pytest.approx(case["range_auc"], abs=1e-12)


@every_variant
def test_volume_is_the_mean_of_its_slices(variant):
    rng = np.random.default_rng(5)
    y, s = np.repeat([0, 1, 0, 1, 0, 1, 0], [40, 5, 12, 1, 3, 30, 20]), rng.random(111)
    step = VUS_VARIANTS[variant].step
    slices = [areas(y, s, window=w, variant=variant) for w in range(0, 21, step)]
    assert volumes(y, s, window=10, variant=variant) == pytest.approx(np.mean(slices, axis=0), abs=1e-12)


def test_a_perfect_detector_without_buffers():
    y = np.repeat([0, 1, 0], [30, 3, 27])
    assert volumes(y, y, window=0) == pytest.approx((1, 1), abs=1e-15)


def test_by_hand():
    # Width 2: one buffer point on either side weighs sqrt(1/2). At the one threshold above the rest, the left one
    # has the alarm: TP = r, N = 1, P' = 1 + r / 2; at the other, TP = 1 + 2 r, N = 5, P' = 1 + r and recall is 1.
    r = np.sqrt(0.5)
    y, s = [0, 0, 1, 0, 0], [0, 1, 0, 0, 0]
    recall, fall = r / (1 + r / 2), (1 - r) / (4 - r / 2)
    roc, pr = areas(y, s, window=2, n_thresholds=None, variant="vus")
    end = (4 - 2 * r) / (4 - r)
    assert roc == pytest.approx(fall * recall / 2 + (end - fall) * (1 + recall) / 2 + 1 - end, abs=1e-12)
    assert pr == pytest.approx(recall * r + (1 - recall) * (1 + 2 * r) / 5, abs=1e-12)


def test_constant_scores():
    y = [0, 0, 1, 1, 0, 0, 0, 0]
    assert volumes(y, np.full(8, 3.0), window=0) == pytest.approx((0.5, 0.25), abs=1e-12)


def test_a_window_longer_than_the_series_only_flattens_the_slopes():
    y, s = [0, 0, 1, 0, 0, 0], [0.1, 0.3, 0.5, 0.4, 0.6, 0.0]
    for variant in VUS_VARIANTS:
        options = {"window": 40, "n_thresholds": None, "variant": variant}
        assert volumes(y, s, **options) == pytest.approx(naive_vus(y, s, **options), abs=1e-10)


@examples(200)
@given(st.data())
def test_any_finite_scores(data):
    y = data.draw(labels(both=True, max_size=12))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    s = data.draw(st.lists(finite, min_size=len(y), max_size=len(y)))
    options = {"window": 4, "n_thresholds": data.draw(THRESHOLDS)}
    assert areas(y, s, **options) == pytest.approx(naive_range_auc(y, s, **options), abs=1e-10)


def test_roc_and_pr_share_their_work(monkeypatch):
    calls = []
    volume = _vus.kernel.volume
    monkeypatch.setattr(_vus.kernel, "volume", lambda *args: calls.append(1) or volume(*args))
    data = Scoring.of([0, 1, 0, 0], [0.1, 0.9, 0.3, 0.2])
    assert M.vus_roc.__wrapped__(data) > 0
    assert M.vus_pr.__wrapped__(data) > 0
    assert len(calls) == 1


@examples(500)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30),
)
def test_levels_count_the_thresholds_above(thresholds, others):
    thresholds = np.sort(thresholds)[::-1].copy()
    scores = np.concatenate([thresholds, others])
    assert levels_of(scores, thresholds).tolist() == [int((thresholds > v).sum()) for v in scores]


def test_levels_of_many_close_thresholds():
    rng = np.random.default_rng(3)
    thresholds = np.sort(np.concatenate([rng.random(5000), 0.5 + 1e-12 * rng.random(5000), [-1e9]]))[::-1].copy()
    scores = rng.permutation(np.concatenate([thresholds, rng.random(5000)]))
    expected = np.searchsorted(-thresholds, -scores, "left")
    assert (levels_of(scores, thresholds) == expected).all()
