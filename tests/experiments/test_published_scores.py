"""Published scores give their published values."""

import json

import numpy as np
import pytest

import published
import tsadeval as te

SCORES = published.SHARED / "scores"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not SCORES.is_dir(), reason=f"the published scores are not part of the repository: there are none in {SCORES}"
    ),
]


@pytest.fixture(scope="module")
def msl():
    """Labels, arrays and summary of MTAD-GAT; its first score belongs to point 100 of the test part."""
    folder = SCORES / "MTAD_GAT_MSL"
    with np.load(folder / "test_output.npz") as arrays:
        found = dict(arrays)
    labels = te.datasets.load("msl", data=published.SHARED, features=False).test_labels[100:]
    return labels, found, json.loads((folder / "summary.txt").read_text())


def test_scores_begin_at_label_100(msl):
    labels, found, _ = msl
    assert len(found["A_Score_Global"]) == 73_629
    assert np.array_equal(labels, found["A_True_Global"])


@pytest.mark.parametrize("method", ["epsilon_result", "pot_result", "bf_result"])
def test_mtad_gat_on_msl(msl, method):
    labels, found, summary = msl
    wanted = summary[method]
    scores = found["A_Score_Global"]
    assert not (scores == wanted["threshold"]).any()  # so "above" and "at least" are the same here
    alarms = scores > wanted["threshold"]
    precision, recall, f1 = te.metrics.point_adjusted(labels, alarms)
    # The counts behind the published values, exactly.
    hits, points = wanted["TP"], labels.sum()
    assert recall * points == pytest.approx(hits, abs=1e-6)
    assert hits / precision - hits == pytest.approx(wanted["FP"], abs=1e-6)
    assert points - hits == wanted["FN"]
    assert len(labels) - points - wanted["FP"] == wanted["TN"]
    # Their code adds 1e-5 to each denominator: nothing in precision and recall, 5e-6 in F1.
    assert precision == pytest.approx(wanted["precision"], abs=5e-9)
    assert recall == pytest.approx(wanted["recall"], abs=5e-9)
    p, r = wanted["precision"], wanted["recall"]
    assert wanted["f1"] == pytest.approx(2 * p * r / (p + r + 1e-5), abs=1e-12)
    assert f1 == pytest.approx(wanted["f1"], abs=1e-5)
    assert f1 == pytest.approx(2 * p * r / (p + r), abs=5e-9)
    assert te.metrics.f1_pa(labels, alarms) == f1


def test_mtad_gat_adjusted_alarms(msl):
    """Their adjusted alarms, judged as they are, have the same counts as ours after adjustment."""
    labels, found, summary = msl
    alarms = found["A_Score_Global"] > summary["epsilon_result"]["threshold"]
    prf = te.metrics.point_adjusted(labels, alarms)
    assert te.metrics.f1(labels, found["A_Pred_Global"]) == pytest.approx(prf.f1, abs=1e-12)


def test_nab_detectors():
    """Six detectors on seven series: their labels are ours, and the random one is at chance."""
    series = {name.rpartition("/")[2]: name for name in te.datasets.items("nab", data=published.SHARED)}
    truth, found, differ = {}, {}, []
    for file in sorted((SCORES / "NAB").glob("*.csv.gz")):
        detector, _, title = file.name.removesuffix(".csv.gz").partition("_")
        scores = te.datasets.load(file, columns=["anomaly_score"])
        if title not in truth:
            truth[title] = te.datasets.load(series[title], data=published.SHARED)
        ours = truth[title]
        n_train = len(ours.train)
        assert len(scores.test_labels) == n_train + len(ours.test)
        if not np.array_equal(scores.test_labels[n_train:], ours.test_labels):
            differ.append(file.name)
        found.setdefault(detector, []).append(te.metrics.auc_roc(ours.test_labels, scores.test[n_train:, 0]))
    # This one was published with windows of an older version.
    assert differ == ["random_machine_temperature_system_failure.csv.gz"]
    assert {detector: len(values) for detector, values in found.items()} == dict.fromkeys(
        ["bayesChangePt", "expose", "knncad", "numentaTM", "random", "windowedGaussian"], 7
    )
    assert np.mean(found["random"]) == pytest.approx(0.5, abs=0.02)
