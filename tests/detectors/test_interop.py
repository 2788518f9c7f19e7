"""Models of other packages as detectors: the same scores through `wrap` as by hand."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

import tsadeval as te
from tsadeval.detectors import DETECTORS
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


@pytest.mark.torch
def test_torch_reconstruction():
    import torch

    class Half(torch.nn.Module):
        def forward(self, batch):
            return batch / 2

    scores = te.detectors.wrap(Half(), window=5, how="last").fit(TRAIN).score(TEST)
    expected = np.square(rows(TEST, 5) / 2).mean(axis=1)
    np.testing.assert_allclose(scores[4:], expected, rtol=1e-5)


@pytest.mark.torch
def test_torch_output_of_the_wrong_form():
    import torch

    class Two(torch.nn.Module):
        def forward(self, batch):
            return (batch, batch)

    class Next(torch.nn.Module):
        def forward(self, batch):
            return batch[:, -1]

    with pytest.raises(InvalidInputError, match="Two must give a tensor, but gave tuple"):
        te.detectors.wrap(Two(), window=5).fit(TRAIN).score(TEST)
    with pytest.raises(InvalidInputError, match='output="forecast"'):
        te.detectors.wrap(Next(), window=5).fit(TRAIN).score(TEST)
    with pytest.raises(InvalidInputError, match=r"next points of \d+ windows.*with 2 columns"):
        te.detectors.wrap(torch.nn.Flatten(), window=5, output="forecast").fit(TRAIN).score(TEST)
    with pytest.raises(InvalidParameterError, match="needs a window"):
        te.detectors.wrap(Next(), output="forecast")
    with pytest.raises(InvalidParameterError, match="for torch modules"):
        te.detectors.wrap(IsolationForest(), window=5, output="forecast")


@pytest.mark.torch
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_torch_forecast(steps):
    import torch

    class Same(torch.nn.Module):
        """The last point again, for so many steps (0: without an axis of steps)."""

        def forward(self, batch):
            return batch[:, -1] if steps == 0 else batch[:, -1:].expand(-1, steps, -1)

    scores = te.detectors.wrap(Same(), window=5, output="forecast").fit(TRAIN).score(TEST)
    errors = {i: [] for i in range(5, 200)}
    for start in range(195):
        for i in range(start + 5, min(start + 5 + max(steps, 1), 200)):
            errors[i].append(np.mean((TEST[start + 4] - TEST[i]) ** 2))
    expected = [np.mean(errors[max(i, 5)]) for i in range(200)]
    np.testing.assert_allclose(scores, expected, rtol=1e-5)
    with pytest.raises(InvalidInputError, match="has 5 points"):
        te.detectors.wrap(Same(), window=5, output="forecast").fit(TRAIN[:5])


# numba compiles HBOS for seconds; the others are PyOD's too.
PYOD = [pytest.param("hbos:HBOS", marks=pytest.mark.long), "knn:KNN", "ecod:ECOD", "iforest:IForest"]


@pytest.mark.slow
@pytest.mark.parametrize("path", PYOD)
def test_pyod_by_hand(path):
    file, name = path.split(":")
    make = getattr(pytest.importorskip(f"pyod.models.{file}", reason="PyOD is not installed"), name)
    options = {"random_state": 0} if name == "IForest" else {}
    scores = te.detectors.wrap(make(**options)).fit(TRAIN).score(TEST)
    np.testing.assert_array_equal(scores, make(**options).fit(TRAIN).decision_function(TEST))
    assert 115 <= scores.argmax() < 130
    assert DetectorSpec.of(make(**options)).make().fit(TRAIN).score(TEST).tolist() == scores.tolist()
    text = f"pyod.models.{path}(random_state=0)" if options else f"pyod.models.{path}"
    assert DetectorSpec.of(text).make().fit(TRAIN).score(TEST).tolist() == scores.tolist()
    windowed = te.detectors.wrap(make(**options), window=5).fit(TRAIN).score(TEST)
    by_hand = make(**options).fit(rows(TRAIN, 5)).decision_function(rows(TEST, 5))
    np.testing.assert_array_equal(windowed[4:], by_hand)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("KMeansAD", {"n_clusters": 3, "window_size": 10, "random_state": 0}),
        ("LOF", {"n_neighbors": 5, "window_size": 10}),
        ("DWT_MLEAD", {"start_level": 2}),
    ],
    ids=["KMeansAD", "LOF", "DWT_MLEAD"],
)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of numba about itself, while it compiles
def test_aeon_by_hand(name, options):
    home = "distribution_based" if name == "DWT_MLEAD" else "distance_based"
    module = pytest.importorskip(f"aeon.anomaly_detection.series.{home}", reason="aeon is not installed")
    make = getattr(module, name)
    one_column = name == "DWT_MLEAD"  # of one column only, and not fitted
    train, test = (TRAIN[:, 0], TEST[:, 0]) if one_column else (TRAIN, TEST)
    scores = te.detectors.wrap(make(**options)).fit(train).score(test)
    by_hand = make(**options)
    by_hand.fit(train, axis=0)
    np.testing.assert_array_equal(scores, by_hand.predict(test, axis=0))
    assert 105 <= scores.argmax() < 135
    assert DetectorSpec.of(make(**options)).make().fit(train).score(test).tolist() == scores.tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_sktime_by_hand():
    """One detector that has scores, and one that has labels alone."""
    hampel = pytest.importorskip("sktime.detection.hampel", reason="sktime is not installed").HampelDetector
    column = pd.DataFrame(TEST[:, :1])
    scores = te.detectors.wrap(hampel(window_length=15)).fit(TRAIN[:, :1]).score(TEST[:, :1])
    by_hand = hampel(window_length=15).fit(pd.DataFrame(TRAIN[:, :1])).transform_scores(column)
    np.testing.assert_array_equal(scores, np.asarray(by_hand, dtype=float).ravel())
    lof = pytest.importorskip("sktime.detection.lof").SubLOF
    scores = te.detectors.wrap(lof(5, window_size=60, novelty=True)).fit(TRAIN[:, :1]).score(TEST[:, :1])
    by_hand = lof(5, window_size=60, novelty=True).fit(pd.DataFrame(TRAIN[:, :1])).transform(column)
    np.testing.assert_array_equal(scores, np.asarray(by_hand).ravel() != 0)
    assert 0 < scores.mean() < 0.5
    segments = pytest.importorskip("sktime.detection.dummy").ZeroSegments()
    with pytest.raises(InvalidParameterError, match="ZeroSegments of sktime is for segmentation"):
        te.detectors.wrap(segments).fit(TRAIN)


def test_estimators_of_sklearn_in_all_respects():
    wrapped = te.detectors.wrap(IsolationForest(n_estimators=7, random_state=0), window=5)
    copy = clone(wrapped).set_params(model__n_estimators=9, how="max")
    assert (wrapped.model.n_estimators, copy.model.n_estimators, copy.how) == (7, 9, "max")
    assert wrapped.get_params()["model__n_estimators"] == 7
    assert repr(copy) == "wrap(IsolationForest(n_estimators=9, random_state=0), window=5, how='max')"
    assert "IsolationForest" in wrapped._repr_html_()
    with pytest.raises(NotFittedError, match="call fit"):
        copy.predict(TEST)
    with pytest.raises(InvalidParameterError, match="window"):
        clone(wrapped).set_params(window=0).fit(TRAIN)
    scores = wrapped.fit(TRAIN).score(TEST)
    for changed in (copy, te.detectors.make("pca", window=5)):
        changed.fit(TRAIN).set_params(window=8)
        assert "window" in changed._repr_html_()
        with pytest.raises(NotFittedError, match="looks at another number of points since its fit: call fit"):
            changed.score(TEST)
        assert len(changed.fit(TRAIN).score(TEST)) == len(TEST)
    np.testing.assert_array_equal(wrapped.score_samples(TEST), -scores)
    np.testing.assert_array_equal(wrapped.predict(TEST) == -1, scores > -wrapped.offset_)
    assert clone(te.detectors.wrap(np.ravel)).model is np.ravel  # functions
    labels = np.zeros(500, int)
    labels[[120, 250, 320, 400, 470]] = 1
    series = RNG.normal(size=(500, 1)) + 8 * labels[:, None]
    search = GridSearchCV(
        te.detectors.wrap(make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True))),
        {"model__localoutlierfactor__n_neighbors": [2, 20], "window": [None, 30]},
        cv=TimeSeriesSplit(3, test_size=120),
        scoring=te.scorer("auc_pr"),
        error_score="raise",
    ).fit(series, labels)
    assert search.best_params_["window"] is None
    assert te.scorer("auc_roc")(search, series, labels) > 0.99


def test_what_cannot_be_wrapped():
    for bad in (KMeans(2), 3, None):
        with pytest.raises(InvalidParameterError, match="model must be an outlier detector"):
            te.detectors.wrap(bad)
    with pytest.raises(InvalidParameterError, match="novelty=True only"):
        te.detectors.wrap(LocalOutlierFactor())
    with pytest.raises(InvalidParameterError, match="window"):
        te.detectors.wrap(IsolationForest(), window=0)
    with pytest.raises(InvalidParameterError, match="how"):
        te.detectors.wrap(IsolationForest(), how="median")
    wrapped = te.detectors.wrap(IsolationForest(n_estimators=5), window=10)
    with pytest.raises(NotFittedError, match="call fit"):
        wrapped.score(TEST)
    with pytest.raises(InvalidInputError, match="has 9 points"):
        wrapped.fit(TRAIN[:9])
    with pytest.raises(InvalidInputError, match=r"1 features.*fitted on 2 columns.*Reshape"):
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


def test_fitted_estimators_in_compare():
    labels = np.zeros(200, int)
    labels[120:125] = 1
    forest = IsolationForest(n_estimators=20, random_state=0).fit(TRAIN)
    ours, wrapped = te.detectors.make("knn").fit(TRAIN), te.detectors.wrap(LocalOutlierFactor(novelty=True)).fit(TRAIN)
    models = {"IF": forest, "KNN": ours, "LOF": wrapped, "own": np.abs(TEST).sum(axis=1)}
    by_hand = {"IF": -forest.score_samples(TEST), "KNN": ours.score(TEST), "LOF": wrapped.score(TEST)}
    expected = te.compare({**by_hand, "own": models["own"]}, labels, ["auc_roc", "cce"])
    found = te.compare(models, labels, ["auc_roc", "cce"], X=TEST)
    assert [row["value"] for row in found.rows] == [row["value"] for row in expected.rows]
    with pytest.raises(InvalidInputError, match="'IF' is an estimator, not scores: pass X"):
        te.compare(models, labels)


def test_a_constructor_that_raises_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "raises_here.py").write_text("class A:\n    def __init__(self):\n        raise OSError('no\\nfile')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidParameterError, match=r"cannot be made: OSError: no file$"):
        DetectorSpec.of("raises_here:A")
    with pytest.raises(InvalidParameterError, match=r"cannot be made: .*bogus"):
        DetectorSpec.of("sklearn.ensemble:IsolationForest(bogus=1)")


# Checks of scikit-learn that our detectors do not pass, and why.
EXCEPTIONS = {
    "check_fit1d": "a one-dimensional X is a series of one column, not a mistake",
    "check_dtype_object": "columns of objects are refused: numbers must come as numbers",
}
# Of those that look at more than a point at once, and of random scores, which belong to positions.
ORDER = {
    "check_methods_sample_order_invariance": "the order of points is what these detectors look at",
    "check_methods_subset_invariance": "a subset of the points of a series is another series",
}
# The smallest that each takes: the least window, and of networks an epoch of a few units.
TINY = {"epochs": 1, "batch_size": 64, "device": "cpu", "d_model": 4, "d_ff": 4, "n_layers": 1, "n_heads": 1}
TINY |= {"hidden": 4, "latent": 2, "layers": 1, "top_k": 1, "num_kernels": 1, "trees": 5, "clusters": 3}
# With all directions what is left of a point is rounding, which depends on the processor and on how many are judged.
TINY |= {"variance": 0.5}
NAMES = [
    pytest.param(name, marks=[pytest.mark.torch] if record.extra == "torch" else [])
    for name, record in DETECTORS.items()
]


def tiny(name):
    record = DETECTORS[name]
    options = {option: value for option, value in TINY.items() if option in record.parameters}
    if "window" in record.parameters:
        options["window"] = next(n for n in range(1, 9) if record.checks["window"].accepts(n))
    return record.with_options(**options).build()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of scikit-learn's checks and of degenerate inputs that they make
@pytest.mark.parametrize("name", NAMES)
def test_check_estimator(name):
    detector = tiny(name)
    exceptions = EXCEPTIONS | (ORDER if name == "random" or detector.span(2) > 1 else {})
    outcomes = check_estimator(detector, expected_failed_checks=exceptions, on_fail=None, on_skip=None)
    by_status = {}
    for one in outcomes:
        by_status.setdefault(one["status"], set()).add(one["check_name"])
    assert by_status.get("failed", set()) == set()
    assert by_status["xfail"] == set(exceptions)  # no exception that is not needed
    assert by_status.get("skipped", set()) <= {"check_array_api_input"}
    assert len(by_status["passed"]) >= 35


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_check_estimator_of_wrap():
    wrapped = te.detectors.wrap(IsolationForest(n_estimators=5, random_state=0))
    outcomes = check_estimator(wrapped, expected_failed_checks=EXCEPTIONS, on_fail=None, on_skip=None)
    assert [one["check_name"] for one in outcomes if one["status"] == "failed"] == []


@pytest.mark.parametrize("name", NAMES)
def test_pipelines_searches_copies_and_pickles(name):
    """What check_estimator does not look at: a search over time-series splits with `te.scorer`."""
    labels = np.zeros(160, int)
    labels[[50, 90, 130]] = 1
    series = np.sin(np.arange(160) / 3)[:, None] + RNG.normal(size=(160, 1)) / 10 + 5 * labels[:, None]
    piped = make_pipeline(StandardScaler(), tiny(name))
    step = type(tiny(name)).__name__.lower()
    option = next((o for o in ("random_state", "window", "join") if o in tiny(name).get_params()), None)
    values = {"random_state": [1, 2], "window": [3, 4], "join": ["train", "self"]}
    search = GridSearchCV(
        piped,
        {f"{step}__{option}": values[option]} if option else {},
        cv=TimeSeriesSplit(2, test_size=50),
        scoring=te.scorer("auc_roc"),
        error_score="raise",
    ).fit(series, labels)
    by_hand = []
    for train, test in TimeSeriesSplit(2, test_size=50).split(series):
        fitted = clone(search.best_estimator_).fit(series[train])
        scaled = fitted[0].transform(series[test])
        by_hand.append(te.metrics.auc_roc(labels[test], fitted[-1].score(scaled)))
    assert search.best_score_ == pytest.approx(np.mean(by_hand))
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(series), search.predict(series))
    assert set(search.predict(series)) <= {-1, 1}


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: 2**60 + (s > 1).astype(np.int64), "differ as int64 but not as 64-bit floats"),
        (lambda s: [2**60 + int(v > 1) for v in s] + [None], "Python integers beyond 2"),
        (lambda s: s.astype(complex), "must hold numbers, but has dtype complex128"),
        (lambda s: np.ma.masked_array(s, mask=s > 1), "masked values"),
        (lambda s: ["x"] * len(s), "must hold numbers"),
    ],
)
def test_scores_of_a_function_are_not_changed_on_the_way(change, message):
    X = np.random.default_rng(0).normal(size=(50, 1))

    def scores(rows):
        return change(rows[:, 0])

    with pytest.raises(InvalidInputError, match=message):
        te.detectors.wrap(scores).fit(X).score(X)
