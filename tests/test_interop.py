"""Models of other packages as detectors: the same scores through `wrap` as by hand."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import tsadeval as te
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.experiments.specs import DetectorSpec

RNG = np.random.default_rng(0)
TRAIN = np.sin(np.arange(300) / 4)[:, None] + 0.1 * RNG.normal(size=(300, 2))
TEST = np.sin(np.arange(200) / 4)[:, None] + 0.1 * RNG.normal(size=(200, 2))
TEST[120:125] += 4
SKLEARN = [
    IsolationForest(n_estimators=20, random_state=0),
    LocalOutlierFactor(novelty=True),
    OneClassSVM(gamma="scale"),
    make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)),
]


def rows(series, window):
    return np.stack([series[i : i + window].ravel() for i in range(len(series) - window + 1)])


@pytest.mark.parametrize("model", SKLEARN, ids=lambda m: type(m).__name__)
def test_sklearn_by_hand(model):
    wrapped = te.detectors.wrap(model)
    scores = wrapped.fit(TRAIN).score(TEST)
    assert not hasattr(model, "n_features_in_")  # a copy was fitted
    model = pickle.loads(pickle.dumps(model)).fit(TRAIN)
    np.testing.assert_array_equal(scores, -model.score_samples(TEST))
    assert 115 <= scores.argmax() < 130
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(wrapped)).score(TEST), scores)


@pytest.mark.parametrize("how", ["last", "mean", "max"])
def test_windows_by_hand(how):
    scores = te.detectors.wrap(IsolationForest(n_estimators=20, random_state=0), window=7, how=how).fit(TRAIN)
    scores = scores.score(TEST)
    given = -IsolationForest(n_estimators=20, random_state=0).fit(rows(TRAIN, 7)).score_samples(rows(TEST, 7))
    covering = [given[max(i - 6, 0) : i + 1] for i in range(200)]
    pick = {"last": lambda part, i: given[max(i - 6, 0)], "mean": lambda p, i: p.mean(), "max": lambda p, i: p.max()}
    expected = [pick[how](part, i) for i, part in enumerate(covering)]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_functions():
    def from_both(X_train, X_test):
        return np.abs(X_test - X_train.mean(axis=0)).sum(axis=1)

    expected = from_both(TRAIN, TEST)
    np.testing.assert_array_equal(te.detectors.wrap(from_both).fit(TRAIN).score(TEST), expected)
    one = te.detectors.wrap(lambda X: np.abs(X).sum(axis=1)).fit(TRAIN)
    np.testing.assert_array_equal(one.score(TEST), np.abs(TEST).sum(axis=1))
    with pytest.raises(InvalidParameterError, match="needs 3 positional"):
        te.detectors.wrap(lambda a, b, c: a).fit(TRAIN)
    with pytest.raises(InvalidInputError, match="200 scores, one for each row"):
        te.detectors.wrap(lambda X: X).fit(TRAIN).score(TEST)
    with pytest.raises(InvalidInputError, match="not finite for row 0"):
        te.detectors.wrap(lambda X: X[:, 0] * np.nan).fit(TRAIN).score(TEST)


def test_torch_reconstruction():
    class Half(torch.nn.Module):
        def forward(self, batch):
            return batch / 2

    scores = te.detectors.wrap(Half(), window=5, how="last").fit(TRAIN).score(TEST)
    expected = np.square(rows(TEST, 5) / 2).mean(axis=1)
    np.testing.assert_allclose(scores[4:], expected, rtol=1e-5)


@pytest.mark.parametrize("path", ["hbos:HBOS", "knn:KNN", "ecod:ECOD", "iforest:IForest"])
def test_pyod_by_hand(path):
    file, name = path.split(":")
    module = pytest.importorskip(f"pyod.models.{file}", reason="PyOD is not installed")
    make = getattr(module, name)
    options = {"random_state": 0} if name == "IForest" else {}
    scores = te.detectors.wrap(make(**options)).fit(TRAIN).score(TEST)
    np.testing.assert_array_equal(scores, make(**options).fit(TRAIN).decision_function(TEST))
    assert 115 <= scores.argmax() < 130
    assert DetectorSpec.of(make(**options)).make().fit(TRAIN).score(TEST).tolist() == scores.tolist()


def test_aeon_by_hand():
    module = pytest.importorskip("aeon.anomaly_detection.series.distance_based", reason="aeon is not installed")
    make = module.KMeansAD
    options = {"n_clusters": 3, "window_size": 10, "random_state": 0}
    scores = te.detectors.wrap(make(**options)).fit(TRAIN).score(TEST)
    by_hand = make(**options)
    by_hand.fit(TRAIN, axis=0)
    np.testing.assert_array_equal(scores, by_hand.predict(TEST, axis=0))
    assert 110 <= scores.argmax() < 135


def test_sktime_by_hand():
    pd = pytest.importorskip("pandas")
    module = pytest.importorskip("sktime.detection.lof", reason="sktime is not installed")
    scores = te.detectors.wrap(module.SubLOF(5, window_size=60, novelty=True)).fit(TRAIN).score(TEST)
    by_hand = module.SubLOF(5, window_size=60, novelty=True).fit(pd.DataFrame(TRAIN))
    np.testing.assert_array_equal(scores, np.asarray(by_hand.transform_scores(pd.DataFrame(TEST))).ravel())


def test_what_cannot_be_wrapped():
    for bad in (KMeans(2), 3, IsolationForest, None):
        with pytest.raises(InvalidParameterError, match="model must be an outlier detector"):
            te.detectors.wrap(bad)
    with pytest.raises(InvalidParameterError, match="novelty=True only"):
        te.detectors.wrap(LocalOutlierFactor())
    with pytest.raises(InvalidParameterError, match="window"):
        te.detectors.wrap(IsolationForest(), window=0)
    with pytest.raises(InvalidParameterError, match="how"):
        te.detectors.wrap(IsolationForest(), how="median")
    wrapped = te.detectors.wrap(IsolationForest(n_estimators=5), window=10)
    with pytest.raises(InvalidParameterError, match="call fit"):
        wrapped.score(TEST)
    with pytest.raises(InvalidInputError, match="has 9 points"):
        wrapped.fit(TRAIN[:9])
    with pytest.raises(InvalidInputError, match=r"1 columns.*fitted on 2"):
        wrapped.fit(TRAIN).score(TEST[:, :1])


def test_recognised_without_wrap():
    forest = IsolationForest(n_estimators=20, random_state=0)
    expected = -IsolationForest(n_estimators=20, random_state=0).fit(TRAIN).score_samples(TEST)
    text = "sklearn.ensemble:IsolationForest(n_estimators=20, random_state=0)"
    for given in (forest, text, te.detectors.wrap(forest)):
        np.testing.assert_array_equal(DetectorSpec.of(given).make().fit(TRAIN).score(TEST), expected)
    assert DetectorSpec.of(text).title == "IsolationForest(n_estimators=20, random_state=0)"
    assert DetectorSpec.of(forest).text == DetectorSpec.of(forest).text
    assert DetectorSpec.of(forest).text != DetectorSpec.of(IsolationForest(n_estimators=21, random_state=0)).text
    piped = make_pipeline(StandardScaler(), forest)
    np.testing.assert_allclose(DetectorSpec.of(piped).make().fit(TRAIN).score(TEST).argmax(), expected.argmax(), atol=5)


def test_a_constructor_that_raises_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "raises_here.py").write_text("class A:\n    def __init__(self):\n        raise OSError('no\\nfile')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidParameterError, match=r"cannot be made: OSError: no file$"):
        DetectorSpec.of("raises_here:A")
    with pytest.raises(InvalidParameterError, match=r"cannot be made: .*bogus"):
        DetectorSpec.of("sklearn.ensemble:IsolationForest(bogus=1)")
