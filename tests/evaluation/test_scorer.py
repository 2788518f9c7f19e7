"""te.scorer: the sign is right for every kind of estimator, and what is not known is refused."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import tsadeval as te
from tsadeval.core.metric import METRICS
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2))
Y = np.zeros(400, dtype=int)
Y[[120, 121, 210, 211, 300, 301, 380, 381]] = 1
X[Y == 1] += 6
TRAIN, TEST = slice(0, 200), slice(200, 400)
SPLITS = TimeSeriesSplit(3, test_size=90)
DETECTORS = [
    IsolationForest(n_estimators=20, random_state=0),
    LocalOutlierFactor(novelty=True),
    OneClassSVM(gamma="scale"),
    make_pipeline(StandardScaler(), IsolationForest(n_estimators=20, random_state=0)),
]


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: type(d).__name__)
def test_outlier_detectors_of_sklearn_are_negated(detector):
    fitted = clone(detector).fit(X[TRAIN])
    by_hand = te.metrics.vus_pr(Y[TEST], -fitted.score_samples(X[TEST]))
    assert te.scorer("vus_pr")(fitted, X[TEST], Y[TEST]) == by_hand
    assert te.scorer("auc_roc")(fitted, X[TEST], Y[TEST]) > 0.9  # 0.1 or less the other way up


def test_decision_function_is_asked_where_there_is_no_score_samples():
    class Far(OutlierMixin, BaseEstimator):
        def fit(self, X, y=None):
            return self

        def decision_function(self, X):
            return -np.abs(X).sum(axis=1)

    assert te.scorer("auc_roc")(Far().fit(X), X, Y) == te.metrics.auc_roc(Y, np.abs(X).sum(axis=1))


def test_our_detectors_are_not_negated():
    fitted = te.detectors.make("pca").fit(X[TRAIN])
    assert te.scorer("auc_pr")(fitted, X[TEST], Y[TEST]) == te.metrics.auc_pr(Y[TEST], fitted.score(X[TEST]))
    piped = make_pipeline(StandardScaler(), te.detectors.make("lof")).fit(X[TRAIN])
    assert te.scorer("auc_roc")(piped, X[TEST], Y[TEST]) > 0.99


def test_what_follows_pyod_is_not_negated():
    class LikePyOD:
        decision_scores_ = np.zeros(3)

        def decision_function(self, X):
            return np.abs(X).sum(axis=1)

    assert te.scorer("auc_roc")(LikePyOD(), X, Y) == te.metrics.auc_roc(Y, np.abs(X).sum(axis=1))


@pytest.mark.slow
def test_pyod():
    module = pytest.importorskip("pyod.models.hbos", reason="PyOD is not installed")
    fitted = module.HBOS().fit(X[TRAIN])
    expected = te.metrics.auc_roc(Y[TEST], fitted.decision_function(X[TEST]))
    assert te.scorer("auc_roc")(fitted, X[TEST], Y[TEST]) == expected > 0.9


def test_classifiers_give_the_probability_of_class_1():
    fitted = RandomForestClassifier(10, random_state=0).fit(X[TRAIN], Y[TRAIN])
    by_hand = te.metrics.auc_roc(Y[TEST], fitted.predict_proba(X[TEST])[:, 1])
    assert te.scorer("auc_roc")(fitted, X[TEST], Y[TEST]) == by_hand > 0.9
    other = RandomForestClassifier(10, random_state=0).fit(X[TRAIN], np.arange(200) % 3)
    with pytest.raises(InvalidParameterError, match=r"two classes 0 and 1.*\[0, 1, 2\]"):
        te.scorer("auc_roc")(other, X[TEST], Y[TEST])
    one = RandomForestClassifier(10, random_state=0).fit(X[:100], Y[:100])  # labels without an anomaly
    with pytest.raises(InvalidParameterError, match="two classes"):
        te.scorer("auc_roc")(one, X[TEST], Y[TEST])


@pytest.mark.parametrize("estimator", [LinearRegression(), KMeans(2), object()])
def test_unknown_signs_are_refused(estimator):
    with pytest.raises(InvalidParameterError, match=r"cannot tell how .* scores"):
        te.scorer("auc_roc")(estimator, X, Y)


@pytest.mark.slow
def test_cross_validation_and_searches():
    forest = IsolationForest(n_estimators=20, random_state=0)
    values = cross_val_score(forest, X, Y, cv=SPLITS, scoring=te.scorer("auc_roc"))
    by_hand = []
    for train, test in SPLITS.split(X):
        fitted = clone(forest).fit(X[train])
        by_hand.append(te.metrics.auc_roc(Y[test], -fitted.score_samples(X[test])))
    np.testing.assert_array_equal(values, by_hand)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), forest),
        {"isolationforest__n_estimators": [1, 30]},
        cv=SPLITS,
        scoring={"roc": te.scorer("auc_roc"), "cce": te.scorer("cce")},
        refit="cce",
    ).fit(X, Y)
    assert search.best_params_ == {"isolationforest__n_estimators": 30}
    assert te.scorer("auc_roc")(search, X[TEST], Y[TEST]) > 0.99


def test_our_detectors_in_a_search():
    search = GridSearchCV(
        te.detectors.make("pca"), {"window": [1, 20]}, cv=SPLITS, scoring=te.scorer("auc_pr"), error_score="raise"
    ).fit(X, Y)
    assert search.best_params_ == {"window": 1}


def test_metrics_where_lower_is_better_are_negated():
    lower = [m for m in METRICS.values() if m.direction == "lower"]
    assert lower
    fitted = IsolationForest(n_estimators=20, random_state=0).fit(X[TRAIN])
    for metric in lower:
        value = te.evaluate(Y[TEST], -fitted.score_samples(X[TEST]), metric)[str(metric)]
        one = te.scorer(metric)
        assert one(fitted, X[TEST], Y[TEST]) == pytest.approx(-value, nan_ok=True)
        assert "negated" in repr(one)
    assert "negated" not in repr(te.scorer("vus_pr"))


def test_thresholds_functions_and_pickles():
    fitted = IsolationForest(n_estimators=20, random_state=0).fit(X[TRAIN])
    scores = -fitted.score_samples(X[TEST])
    expected = te.evaluate(Y[TEST], scores, "f1", threshold="quantile(0.9)")["f1"]
    assert te.scorer("f1", threshold="quantile(0.9)")(fitted, X[TEST], Y[TEST]) == expected
    assert te.scorer(lambda y_true, y_score: float(y_score[y_true == 1].min()))(
        fitted, X[TEST], Y[TEST]
    ) == pytest.approx(scores[Y[TEST] == 1].min())
    again = pickle.loads(pickle.dumps(te.scorer("cce(tau=0.4)")))
    assert again(fitted, X[TEST], Y[TEST]) == te.scorer("cce(tau=0.4)")(fitted, X[TEST], Y[TEST])


def test_bad_arguments():
    fitted = IsolationForest(n_estimators=5, random_state=0).fit(X)
    with pytest.raises(InvalidInputError, match="y is missing"):
        te.scorer("cce")(fitted, X, None)
    with pytest.raises(InvalidInputError, match="one score for each of the 3 points"):
        te.scorer("cce")(fitted, X, [0, 1, 0])
    with pytest.raises(InvalidParameterError, match="one metric"):
        te.scorer("cce,f1")
    with pytest.warns(UndefinedMetricWarning, match="no anomalous point"):
        assert np.isnan(te.scorer("vus_pr")(fitted, X[:50], Y[:50]))
