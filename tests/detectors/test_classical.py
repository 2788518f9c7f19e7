"""The classical detectors against their definitions, written as loops."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.svm import OneClassSVM

import tsadeval as te
from tsadeval.detectors.series import Scaler
from tsadeval.detectors.windowed import profile
from tsadeval.errors import InvalidInputError, InvalidParameterError

RNG = np.random.default_rng(0)
TRAIN = np.sin(np.arange(90)[:, None] / [3, 5]) + 0.1 * RNG.normal(size=(90, 2))
TEST = np.sin(np.arange(60)[:, None] / [3, 5]) + 0.1 * RNG.normal(size=(60, 2))
TEST[30:33] += 3
WINDOW = 6
SCALER = Scaler.standard(TRAIN)


def rows(series):
    scaled = SCALER(series)
    return np.array([scaled[i : i + WINDOW].ravel() for i in range(len(series) - WINDOW + 1)])


def covering_means(of_windows):
    """The mean over the windows that cover each point."""
    n = len(of_windows) + WINDOW - 1
    return [np.mean([of_windows[s] for s in range(len(of_windows)) if s <= i < s + WINDOW]) for i in range(n)]


def scores(text, train=TRAIN, test=TEST):
    return te.detectors.make(text).fit(train).score(test)


def test_knn():
    known = rows(TRAIN)
    expected = [sorted(np.linalg.norm(known - row, axis=1))[2] for row in rows(TEST)]
    np.testing.assert_allclose(scores(f"knn(window={WINDOW}, neighbors=3)"), covering_means(expected), rtol=1e-9)
    assert np.isfinite(scores("knn(neighbors=200)")).all()  # more than there are


def test_hbos():
    known, bins, alpha = rows(TRAIN), 5, 0.2
    of_windows = []
    for row in rows(TEST):
        total = 0.0
        for column, value in zip(known.T, row, strict=True):
            counts, edges = np.histogram(column, bins)
            inside = edges[0] <= value <= edges[-1]
            height = counts[min(np.searchsorted(edges, value, "right") - 1, bins - 1)] / counts.max() if inside else 0.0
            total += np.log2(1 / (height + alpha))
        of_windows.append(total)
    found = scores(f"hbos(window={WINDOW}, bins={bins}, alpha={alpha})")
    np.testing.assert_allclose(found, covering_means(of_windows), rtol=1e-9)


def test_hbos_at_the_ends_of_the_training_values():
    # Bins from 0 to 1 with 4 values and from 1 to 2 with 1: heights 1 and 1/4.
    known, shown = [[0.0], [0.0], [0.0], [0.5], [2.0]], [[0.0], [2.0], [-0.1], [2.1]]
    found = scores("hbos(window=1, bins=2, alpha=0.25)", known, shown)
    np.testing.assert_allclose(found, -np.log2([1.25, 0.5, 0.25, 0.25]), rtol=1e-12)


def test_ocsvm():
    model = OneClassSVM(nu=0.1, gamma="scale").fit(rows(TRAIN))
    expected = covering_means(-model.score_samples(rows(TEST)))
    np.testing.assert_allclose(scores(f"ocsvm(window={WINDOW}, nu=0.1)"), expected, rtol=1e-9)
    with pytest.raises(InvalidParameterError, match="gamma"):
        te.detectors.make("ocsvm(gamma=auto)")


def test_kmeans_ad():
    centres = KMeans(4, n_init=3, random_state=0).fit(rows(TRAIN)).cluster_centers_
    expected = [min(np.linalg.norm(centres - row, axis=1)) for row in rows(TEST)]
    np.testing.assert_allclose(scores(f"kmeans_ad(window={WINDOW}, clusters=4)"), covering_means(expected), rtol=1e-9)


def test_ar():
    known, asked = (SCALER(part) for part in (TRAIN, TEST))
    past = [[*known[i - WINDOW + 1 : i].ravel(), 1] for i in range(WINDOW - 1, len(known))]
    weights = np.linalg.lstsq(np.array(past), known[WINDOW - 1 :], rcond=None)[0]
    errors = [
        np.mean(([*asked[i - WINDOW + 1 : i].ravel(), 1] @ weights - asked[i]) ** 2) for i in range(WINDOW - 1, 60)
    ]
    np.testing.assert_allclose(scores(f"ar(window={WINDOW})"), [errors[0]] * (WINDOW - 1) + errors, rtol=1e-6)
    wave = np.sin(np.arange(300) / 7)  # a sine is a linear function of its last two points
    assert scores("ar(window=3)", wave, wave).max() < 1e-20
    assert te.detectors.make("ar").span(1) == 100
    assert te.detectors.make("ar").span(4) == 10


@pytest.mark.parametrize(("window", "degree"), [(6, 2), (6, 3), (3, 5), (2, 0)])
def test_poly(window, degree):
    asked, past = SCALER(TEST), window - 1
    errors = []
    for i in range(past, 60):
        fits = [np.polyfit(np.arange(past), column, min(degree, past - 1)) for column in asked[i - past : i].T]
        forecast = [np.polyval(fit, past) for fit in fits]
        errors.append(np.mean((np.array(forecast) - asked[i]) ** 2))
    expected = [errors[0]] * past + errors
    np.testing.assert_allclose(scores(f"poly(window={window}, degree={degree})"), expected, rtol=1e-6, atol=1e-12)


def test_one_liners():
    asked = SCALER(TEST)
    around = [np.mean(np.var(asked[i - 3 : i + 3], axis=0)) for i in range(3, 58)]
    expected = [around[0]] * 3 + around + [around[-1]] * 2
    np.testing.assert_allclose(scores("moving_variance(window=6)"), expected, rtol=1e-9)
    steps = [np.mean((asked[i] - asked[i - 1]) ** 2) for i in range(1, 60)]
    np.testing.assert_allclose(scores("squared_difference"), [steps[0], *steps], rtol=1e-9)


def shape(window):
    away = window - window.mean()
    return away / away.std() if away.std() > 1e-10 else away * 0


def naive_profile(values, m, train=None):
    cut = [shape(values[i : i + m]) for i in range(len(values) - m + 1)]
    other = cut if train is None else [shape(train[i : i + m]) for i in range(len(train) - m + 1)]
    apart = -1 if train is not None else int(np.ceil(m / 4))
    distances = [[np.linalg.norm(a - b) for j, b in enumerate(other) if abs(i - j) > apart] for i, a in enumerate(cut)]
    return [min(of_one) if of_one else 0.0 for of_one in distances]


def test_matrix_profile(monkeypatch):
    values, train = TEST[:, 0].copy(), TRAIN[:, 0].copy()
    values[10:25] = 0.3  # constant windows
    train[40:50] = 0.7
    for block in (2048, 7):  # blocks do not matter
        monkeypatch.setattr("tsadeval.detectors.windowed._BLOCK", block)
        for m in (3, 9, 60):
            np.testing.assert_allclose(profile(values, m, train), naive_profile(values, m, train), atol=1e-6)
            np.testing.assert_allclose(profile(values, m), naive_profile(values, m), atol=1e-6)
    of_columns = [naive_profile(TEST[:, c], WINDOW, TRAIN[:, c]) for c in range(2)]
    expected = covering_means(np.mean(of_columns, axis=0))
    np.testing.assert_allclose(scores(f"matrix_profile(window={WINDOW})"), expected, atol=1e-6)
    alone = np.mean([naive_profile(TEST[:, c], WINDOW) for c in range(2)], axis=0)
    found = scores(f"matrix_profile(window={WINDOW}, join=self)")
    np.testing.assert_allclose(found, covering_means(alone), atol=1e-6)


def test_matrix_profile_equals_stumpy():
    golden = json.loads((Path(__file__).parents[1] / "golden" / "matrix_profile.json").read_text())
    values, train = np.array(golden["values"]), np.array(golden["train"])
    for case in golden["profiles"]:
        np.testing.assert_allclose(profile(values, case["window"], train), case["train"], atol=1e-6)
        np.testing.assert_allclose(profile(values, case["window"]), case["self"], atol=1e-6)


def golden_series():
    golden = json.loads((Path(__file__).parents[1] / "golden" / "tsb_ad.json").read_text())
    return np.array(golden["values"]), {key: np.array(found) for key, found in golden["scores"].items()}


def test_as_tsb_ad_runs_them():
    """Fitted on the series that they score; its IForest is sklearn's up to the offset, which orders nothing."""
    values, expected = golden_series()
    lof = te.detectors.make("lof(window=1, neighbors=30, novelty=False, max_windows=None)").fit(values)
    np.testing.assert_allclose(lof.score(values), expected["lof"], atol=1e-9)
    options = "window=25, max_windows=None, max_features=1, centre=True"
    iforest = te.detectors.make(f"iforest({options})").fit(values).score(values)
    np.testing.assert_allclose(iforest - iforest.mean(), expected["iforest"] - expected["iforest"].mean(), atol=1e-9)
    assert (iforest[:12] == iforest[12]).all()
    assert (iforest[-12:] == iforest[-13]).all()
    assert (
        np.abs(te.detectors.make(f"iforest({options.replace('True', 'False')})").fit(values).score(values) - iforest)
        > 1e-9
    ).any()


def test_outliers_of_a_series_are_known_of_it_alone():
    values, _ = golden_series()
    lof = te.detectors.make("lof(window=2, novelty=False)").fit(values)
    assert len(lof.score(values)) == len(values)
    with pytest.raises(InvalidInputError, match="fit='test'"):
        lof.score(values[1:])
    with pytest.raises(InvalidInputError, match="max_windows=None"):
        te.detectors.make("lof(novelty=False, max_windows=50)").fit(values).score(values)
