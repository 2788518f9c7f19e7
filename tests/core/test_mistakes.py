"""What first users get wrong: each is refused, or told, in one line that says what to do."""

import functools
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_score
from sklearn.neighbors import LocalOutlierFactor

import tsadeval as te
from commands import run
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning

Y = (np.arange(120) // 6 % 10 == 4).astype(int)
S = np.random.default_rng(0).random(120) + Y
INDEX = pd.date_range("2026-03-28", periods=120, freq="15min", tz="Europe/Berlin")
BERLIN = r".*, as 2026-01-31 13:05\+01:00, or give tz=, the zone of those without"


def needs_k(y_true, y_score, k):
    return float(k)


def test_predictions_of_scikit_learn():
    with pytest.raises(InvalidInputError, match=r"as in scikit-learn's predict, pass \(y_pred == -1\)"):
        te.evaluate(Y, y_pred=np.where(S > 1, -1, 1), metrics="f1")
    assert te.metrics.f1(Y, np.where(S > 1, -1, 1) == -1) > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: te.evaluate(S, Y), r"if these are scores, they come second: \(y_true, y_score\)"),
        (
            lambda: te.metrics.f1(Y, S),
            r"scores need a threshold: pass y_score > threshold, or all scores to te\.evaluate",
        ),
        (lambda: te.metrics.f1(Y, S, threshold=1), r"pass y_score > threshold as y_pred, or use te\.evaluate\("),
        (lambda: te.metrics.auc_roc(Y, S, threshold=1), r"auc_roc\(\) has no option 'threshold': there are none$"),
        (lambda: te.evaluate(Y, S[5:]), r"te\.align\(scores, n, window=\.\.\.\) puts scores of windows on points"),
        (lambda: te.curve(Y, S, "f1"), r"in te\.curve and te\.best_threshold the metric comes first"),
    ],
)
def test_arguments_in_the_wrong_place(call, message):
    with pytest.raises((InvalidInputError, InvalidParameterError, TypeError), match=message):
        call()


def test_spans_of_time_without_the_zone_of_the_stamps():
    span = [("2026-03-28 02:00", "2026-03-28 03:00")]
    with pytest.raises(InvalidInputError, match=f"^incidents, start are dates, but .*{BERLIN}"):
        te.labels(span, INDEX)
    with pytest.raises(InvalidInputError, match=f"^ignore, start are dates, but .*{BERLIN}"):
        te.evaluate(Y, S, "f1", times=INDEX, ignore=span)
    localized = pd.DatetimeIndex(span[0]).tz_localize("Europe/Berlin")
    assert te.labels([tuple(localized)], INDEX).sum() == 4


def test_events_come_back_in_the_zone_of_the_stamps():
    labels = pd.Series(Y, INDEX)
    first = te.intervals(Y, INDEX)[0]
    assert str(first.start) == str(INDEX[24]) == "2026-03-28 06:00:00+01:00"
    assert "2026-03-28 06:00:00+01:00" in repr(te.events(labels, S))
    offset = INDEX.tz_convert("+02:00")
    assert str(te.intervals(Y, offset)[0].start) == "2026-03-28 07:00:00+02:00"
    fine = pd.DatetimeIndex(INDEX.as_unit("ns") + pd.Timedelta(1, "ns"))
    assert te.intervals(Y, fine)[0].start == fine[24]
    assert te.intervals(Y, fine)[0].start.tzname() == "CET"


def test_a_metric_with_an_argument_that_nobody_gives():
    with pytest.raises(InvalidParameterError, match=r"needs k as well: .* functools\.partial\(needs_k, k=\.\.\.\)"):
        te.evaluate(Y, S, [needs_k])
    assert te.evaluate(Y, S, [functools.partial(needs_k, k=3)])["needs_k"] == 3


def test_a_typo_behind_the_colon(tmp_path, monkeypatch):
    (tmp_path / "mistaken.py").write_text("def late(y_true, y_score):\n    return 0.5\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with pytest.raises(InvalidParameterError, match="module 'mistaken' has no 'lat': did you mean late"):
        te.evaluate(Y, S, "mistaken:lat")


def test_a_table_whose_labels_have_another_name(tmp_path):
    pd.DataFrame({"time": INDEX, "is_anomaly": Y, "mine": S}).to_csv(tmp_path / "a.csv", index=False)
    done = run("score", "a.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "no column 'label' for the labels; name the one that holds them" in done.stderr
    assert "--label (0 and 1 are in is_anomaly)" in done.stderr


def test_a_factor_that_scores_no_new_points_and_a_class():
    X = S[:, None]
    with pytest.raises(InvalidParameterError, match="scores new points with novelty=True only"):
        te.scorer("auc_roc")(LocalOutlierFactor().fit(X), X, Y)
    with pytest.raises(InvalidParameterError, match=r"IsolationForest is a class: pass an object, IsolationForest\("):
        te.scorer("auc_roc")(IsolationForest, X, Y)
    with pytest.raises(InvalidParameterError, match=r"IsolationForest is a class: pass an object, IsolationForest\("):
        te.detectors.wrap(IsolationForest)
    with pytest.raises(InvalidParameterError, match="scores new points with novelty=True only"):
        te.detect(pd.DataFrame({"label": Y, "x": S}), "sklearn.neighbors:LocalOutlierFactor")
    with pytest.raises(InvalidInputError, match="y is missing: the scorer needs labels"):
        te.scorer("auc_roc")(IsolationForest().fit(X), X)


@pytest.mark.slow
def test_the_support_vectors_of_aeon_are_upside_down():
    module = pytest.importorskip("aeon.anomaly_detection.series.outlier_detection", reason="aeon is not installed")
    model = module.OneClassSVM(window_size=5)
    with pytest.raises(InvalidParameterError, match="gives low scores to anomalies"):
        te.detectors.wrap(model)
    values = np.random.default_rng(0).normal(size=200) + 8 * (np.arange(200) // 10 == 15)
    labels = (np.arange(200) // 10 == 15).astype(int)
    assert te.metrics.auc_roc(labels, model.fit_predict(values)) < 0.1  # once this is mended there, take it


def test_scores_that_are_low_for_anomalies_are_noted():
    note = "far worse than random scores; if the scores are low for anomalies, pass their negatives"
    assert f"auc_roc: {note}" in repr(te.evaluate(Y, -S, ["auc_roc", "vus_pr"]))
    assert f"ears: {note}" in repr(te.evaluate(Y, -S, "ears"))
    both = te.compare({"turned": -S, "right": S}, Y, ["ears", "auc_roc"])
    assert f"turned, ears, auc_roc: {note}" in repr(both)
    assert f"right, ears, auc_roc: {note}" not in repr(both)
    assert note not in repr(te.evaluate(Y, np.random.default_rng(1).random(120), ["ears", "auc_roc"]))
    assert note not in repr(te.evaluate(Y, S))


def test_a_metric_that_is_undefined_for_all_detectors():
    skipped = (np.arange(120) // 10 == 3).astype(int)
    with pytest.warns(UndefinedMetricWarning, match="vus_pr is undefined"):
        found = te.compare({"a": S, "b": -S}, Y, ["vus_pr", "auc_roc"], ignore=skipped)
    assert found.disagreement().overall == {"vus_pr": [], "auc_roc": ["a"]}
    for draw in (te.plot.critical_difference, te.plot.rank_distributions):
        with pytest.raises(InvalidInputError, match="no detector has a value of vus_pr: there is nothing to rank"):
            draw(found, metric="vus_pr")


@pytest.mark.parametrize("name", ["nothing", "nothing.csv"])
def test_a_file_that_is_not_there(name, tmp_path):
    with pytest.raises(InvalidInputError, match="no such file"):
        te.compare(tmp_path / name)


@pytest.mark.slow
def test_names_in_a_result_are_those_of_the_tables():
    found = te.detect(pd.DataFrame({"label": Y, "x": S}), {"mine": lambda X: X[:, 0]}, "auc_roc")
    with pytest.raises(te.errors.UnknownNameError, match=r"no detector 'min' with seed 0 .*: did you mean mine"):
        found.scores("the table", "min")


class TestScorer:
    X = pd.DataFrame({"x": S}, INDEX)
    y = pd.Series(Y, INDEX)
    forest = IsolationForest(n_estimators=10, random_state=0)

    def test_options_of_the_metric(self):
        assert repr(te.scorer("vus_pr", window=5)) == repr(te.scorer("vus_pr(window=5)"))
        with pytest.raises(InvalidParameterError, match="vus_pr has no option 'windw': did you mean window"):
            te.scorer("vus_pr", windw=5)

    def test_an_index_of_times_is_used(self):
        fitted = self.forest.fit(self.X)
        points, minutes = (
            te.scorer("detection_delay", unit=unit)(fitted, self.X, self.y) for unit in ("points", "min")
        )
        assert minutes == 15 * points
        with pytest.warns(UndefinedMetricWarning, match="give X or y an index of times"):
            te.scorer("detection_delay", unit="min")(self.forest.fit(S[:, None]), S[:, None], Y)

    def test_shuffled_folds_have_no_order_of_time(self):
        found = cross_val_score(self.forest, self.X, self.y, cv=KFold(2, shuffle=True), scoring=te.scorer("auc_roc"))
        assert np.isfinite(found).all()

    def test_a_fold_without_anomalies_says_what_to_do(self):
        with pytest.warns(UndefinedMetricWarning, match=r"choose folds that all have some, e\.g\. TimeSeriesSplit"):
            cross_val_score(self.forest, self.X, self.y, cv=TimeSeriesSplit(12), scoring=te.scorer("auc_pr"))
