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
from sklearn.utils.estimator_checks import check_estimator

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


# Checks of scikit-learn that our detectors do not pass, and why.
MESSAGES = "raises as asked, in the words of our own message"
SERIES = "a one-dimensional X is a series of one column, not a mistake"
EXCEPTIONS = {
    "check_n_features_in_after_fitting": MESSAGES,
    "check_complex_data": MESSAGES,
    "check_estimators_empty_data_messages": MESSAGES,
    "check_estimator_sparse_tag": MESSAGES,
    "check_estimator_sparse_array": MESSAGES,
    "check_estimator_sparse_matrix": MESSAGES,
    "check_fit2d_predict1d": SERIES,
    "check_fit1d": SERIES,
    "check_dtype_object": "columns of objects are refused: numbers must come as numbers",
}
# Random scores belong to positions, whatever the points are.
POSITIONS = dict.fromkeys(
    ("check_methods_sample_order_invariance", "check_methods_subset_invariance"), "scores belong to positions"
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of scikit-learn's checks and of degenerate inputs that they make
@pytest.mark.parametrize(
    ("name", "exceptions"), [("random", EXCEPTIONS | POSITIONS), ("pca(window=1)", EXCEPTIONS)], ids=["random", "pca"]
)
def test_check_estimator(name, exceptions):
    """With windows of one point; longer ones depend on the order of the points, which the checks shuffle."""
    outcomes = check_estimator(te.detectors.make(name), on_fail=None, on_skip=None)
    failed = {one["check_name"] for one in outcomes if one["status"] == "failed"}
    assert failed == set(exceptions)
    assert sum(one["status"] == "passed" for one in outcomes) > 30


@pytest.mark.parametrize("name", ["pca(window=10)", "lof(window=1)", "iforest(trees=10)", "random"])
def test_our_detectors_follow_the_convention_of_sklearn(name):
    detector = te.detectors.make(name).fit(TRAIN)
    scores = detector.score(TEST)
    np.testing.assert_array_equal(detector.score_samples(TEST), -scores)
    np.testing.assert_array_equal(detector.decision_function(TEST), -scores - detector.offset_)
    np.testing.assert_array_equal(detector.predict(TEST), np.where(scores > -detector.offset_, -1, 1))
    assert (detector.predict(TRAIN) == -1).mean() == pytest.approx(0.01, abs=0.005)
    np.testing.assert_array_equal(te.detectors.make(name).fit_predict(TRAIN), detector.predict(TRAIN))
    piped = make_pipeline(StandardScaler(), te.detectors.make(name)).fit(TRAIN)
    assert piped.predict(TEST).shape == piped.score(TEST).shape == (200,)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(detector)).predict(TEST), detector.predict(TEST))
