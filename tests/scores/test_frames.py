"""Data frames as users have them: an index of times with a zone, columns with names, labels in one of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tsadeval as te
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    index = pd.date_range("2026-03-28", periods=300, freq="h", tz="Europe/Berlin", name="time")  # clocks change in it
    anomaly = (np.arange(300) // 5 == 40).astype(int)
    values = rng.normal(size=(300, 2)) + 5 * anomaly[:, None]
    return pd.DataFrame(values, index, ["temp", "load"]).assign(anomaly=anomaly)


@pytest.fixture(scope="module")
def parts(frame):
    X, y = frame[["temp", "load"]], frame["anomaly"]
    return X[:150], X[150:], y[150:]


def by_name():
    """A pipeline that knows columns by their names, so that an array is refused."""
    columns = make_column_transformer((StandardScaler(), ["temp"]), remainder="passthrough")
    return make_pipeline(columns, IsolationForest(n_estimators=20, random_state=0))


def test_models_that_were_fitted_on_a_frame_are_asked_with_one(parts):
    train, X, y = parts
    models = {"columns": by_name().fit(train), "forest": IsolationForest(random_state=0).fit(train)}
    array = IsolationForest(random_state=0).fit(train.to_numpy())  # scikit-learn warns of names it was not fitted with
    found = te.compare({**models, "array": array}, y, "auc_roc", X=X)
    values = {row["detector"]: row["value"] for row in found.rows}
    expected = {name: te.metrics.auc_roc(y, -model.score_samples(X)) for name, model in models.items()}
    assert values == {**expected, "array": expected["forest"]}


def test_a_wrapped_pipeline_gets_the_frame(parts):
    train, X, _ = parts
    model = by_name()
    detector = te.detectors.wrap(model).fit(train)
    np.testing.assert_array_equal(detector.score(X), -model.fit(train).score_samples(X))
    assert set(detector.predict(X)) <= {-1, 1}


def test_a_model_that_is_not_fitted_is_named(parts):
    with pytest.raises(InvalidInputError, match="'mine' is not fitted: fit it on a training part first"):
        te.compare({"mine": IsolationForest()}, parts[2], "auc_roc", X=parts[1])


def scored(parts):
    train, X, y = parts
    forest = IsolationForest(random_state=0).fit(train)
    return pd.DataFrame({"forest": -forest.score_samples(X), "load": X["load"]}, X.index), y, forest


def test_a_frame_of_scores_beside_labels(parts):
    scores, y, _ = scored(parts)
    found = te.compare(scores, y, ["auc_roc", "f1"])
    assert found.rows[0]["value"] == te.metrics.auc_roc(y, scores["forest"])
    assert [row["value"] for row in found.rows] == [
        row["value"] for row in te.compare({name: scores[name] for name in scores}, y, ["auc_roc", "f1"]).rows
    ]


def test_the_index_of_a_table_says_the_times(parts):
    scores, y, _ = scored(parts)
    table = scores.assign(anomaly=y)
    delay = ["detection_delay(unit='min')", "false_alarms(per='day')"]
    wanted = {"y_true": "anomaly", "score": ["forest", "load"], "metrics": delay, "threshold": "quantile(0.9)"}
    named = te.compare(table, time="time", **wanted)
    assert [row["value"] for row in te.compare(table, **wanted).rows] == [row["value"] for row in named.rows]
    assert np.isfinite([row["value"] for row in named.rows]).all()
    with pytest.warns(te.errors.UndefinedMetricWarning):  # rows that are not in the order of time have no times
        te.compare(table.reset_index(drop=True), **wanted)


def test_a_report_asks_models(parts, tmp_path):
    scores, y, forest = scored(parts)
    page = te.report({"forest": forest, "load": scores["load"]}, tmp_path / "a.html", y_true=y, X=parts[1])
    assert "forest" in page.read_text(encoding="utf-8")
    with pytest.raises(InvalidInputError, match="'forest' is an estimator, not scores: pass X"):
        te.report({"forest": forest}, tmp_path / "b.html", y_true=y)
    te.report(scores, tmp_path / "c.html", y_true=y)


def test_many_series_as_a_mapping(parts):
    scores, y, _ = scored(parts)
    given = {name: (y, scores[name]) for name in scores}
    found = te.evaluate_many(given, ["f1", "auc_roc"])
    assert found.macro == te.evaluate_many([(k, *v) for k, v in given.items()], ["f1", "auc_roc"]).macro
    with pytest.warns(UndefinedMetricWarning, match="no micro average of f1"):
        assert np.isnan(found.micro["f1"])  # with thresholds of their own, the series are not pooled
    assert np.isfinite(te.evaluate_many(given, ["f1", "auc_roc"], threshold=0.5).micro["f1"])
    with pytest.raises(InvalidInputError, match=r"y_true is missing: .* or \(y_true, y_score\) for each"):
        te.evaluate_many({"a": y})


def test_a_frame_is_a_data_set(frame, tmp_path):
    options = {"label": "anomaly", "split": 150}
    data = te.datasets.load(frame, **options)
    frame.to_csv(tmp_path / "a.csv")
    same = te.datasets.load(tmp_path / "a.csv", **options)
    assert data.names == same.names == ("temp", "load")  # not the times
    np.testing.assert_allclose(data.test, same.test)
    np.testing.assert_array_equal(data.test_labels, same.test_labels)
    labelled = frame.rename(columns={"anomaly": "label"})
    found = te.detect({"pump": data, "whole": labelled}, "pca", "auc_roc")
    assert found.series == ["pump", "whole"]
    assert te.detect(labelled, "pca", "auc_roc").rows[0]["value"] == found.rows[1]["value"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: te.detect(f, "pca"), r'no labels \'label\': .*anomaly; name them: te.datasets.load\(table, label="'),
        (lambda f: te.detect([f.to_numpy()], "pca"), "a data frame or a loaded data set .* but one is of type ndarray"),
        (lambda f: te.detect({"a": "b.csv"}, "pca"), "'a' is 'b.csv': load it with te.datasets.load first"),
        (lambda f: te.datasets.load(f, labl="anomaly"), "no option 'labl': did you mean label"),
        (lambda f: te.datasets.load(3), "a data frame or a mapping of arrays, found builtins.int"),
    ],
)
def test_what_is_no_data_set_is_said_in_a_line(frame, call, message):
    with pytest.raises((InvalidInputError, InvalidParameterError), match=message) as raised:
        call(frame)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("model", [IsolationForest(n_estimators=5), "sklearn.ensemble:IsolationForest(n_estimators=5)"])
def test_models_without_a_seed_get_that_of_the_run(frame, model):
    data = te.datasets.load(frame.assign(temp=frame["temp"] - 4 * frame["anomaly"]), label="anomaly", split=150)
    first, again = (te.detect(data, {"f": model}, "ears", random_state=[0, 1]).rows for _ in range(2))
    assert [row["seed"] for row in first] == [0, 1]
    assert first[0]["value"] != first[1]["value"]
    assert [row["value"] for row in first] == [row["value"] for row in again]
    own = IsolationForest(n_estimators=5, random_state=1)
    (row,) = te.detect(data, {"f": own}, "ears", random_state=[0, 1]).rows
    assert (row["seed"], row["value"]) == (None, first[1]["value"])  # its own seed holds


class Windows:
    def fit(self, X):
        return self

    def score(self, X):
        return X[3:, 0]


def test_the_printed_tables_say_why_a_detector_has_no_value(frame):
    data = te.datasets.load(frame, label="anomaly", split=150)
    found = te.detect(data, {"mine": Windows(), "pca": "pca"}, "auc_roc")
    why = "mine failed on the table: InvalidInputError: mine: expected one score for each of 150 points"
    assert why in repr(found)
    assert why in found._repr_html_()
    assert "te.align(scores, n, window=w, how='mean')" in repr(found)
    assert "failed" not in found.to_text()  # as the command line prints it, with the failures apart
