"""Who takes part in a run: what detectors and data sets are called, and what tells them apart."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

import tsadeval as te
from detecting import Distance, write_series
from tsadeval.errors import InvalidInputError, UnknownNameError
from tsadeval.experiments.specs import DetectorSpec


@pytest.fixture
def series(tmp_path):
    return str(write_series(tmp_path, "a", 0))


def test_seeds_of_numpy_are_seeds(series):
    result = te.detect(series, "random", "cce", random_state=np.arange(2))
    assert result.to_frame()["seed"].tolist() == [0, 1]
    assert not result.failures()
    assert te.detect(series, "random", "cce", random_state=np.int64(1)).plan.detectors[0].seed == 1


def test_two_data_sets_of_one_name_are_not_mixed_up(series):
    one, other = te.datasets.load(series), te.datasets.load(series, split=0.5)
    with pytest.raises(InvalidInputError, match=r"two different data sets are named .* rename one"):
        te.detect([one, other], "random", "cce")
    with pytest.raises(InvalidInputError, match="two different data sets are named"):
        te.detect([other, series], "random", "cce")
    assert len(te.detect([one, series, one], "random", "cce").to_frame()) == 1
    assert len(te.detect([one, replace(other, name="half")], "random", "cce").to_frame()) == 2


def test_a_mapping_names_the_detectors(series):
    result = te.detect(series, {"near": Distance(), "far": Distance(sign=-1.0), "noise": "random"}, "auc_roc")
    assert list(result.all_scores(series)) == ["near", "far", "noise"]
    assert repr(result).splitlines()[2].split()[0] == "near"
    table = result.table()
    assert table["near"]["auc_roc"] == pytest.approx(1 - table["far"]["auc_roc"])
    assert "near" in table
    assert "nowhere" not in table
    assert table.get("nowhere") is None
    assert result.scores(series, "noise").provenance["detector"] == "random"


def test_detectors_that_would_share_a_title_are_told_apart(series):
    result = te.detect(series, [Distance(), Distance(sign=-1.0)], "auc_roc")
    assert [np.sign(scores[0]) for scores in result.all_scores(series).values()] == [1, -1]
    with pytest.raises(UnknownNameError, match=r"no data set 'c.csv' in this result"):
        result.all_scores("c.csv")


@pytest.mark.slow
def test_an_iterable_estimator_is_one_detector(series):
    result = te.detect(series, IsolationForest(n_estimators=5, random_state=0), "cce")
    assert list(result.titles.values()) == ["IsolationForest(n_estimators=5, random_state=0)"]


def test_what_an_object_was_made_with_tells_it_apart():
    class Weighted(Distance):
        def __init__(self, weights):
            super().__init__()
            self.weights = weights

    made = [np.ones(2), np.zeros(2), {"a": 1}, {"a": 2}, {1, 2}, {1, 3}, IsolationForest(max_features=0.5), int, str]
    texts = [DetectorSpec.of(Weighted(weights)).text for weights in made]
    assert len(set(texts)) == len(made)
    assert texts[:6] == [DetectorSpec.of(Weighted(copy.deepcopy(weights))).text for weights in made[:6]]


def test_a_star_stands_for_all_items(tmp_path):
    for item in ("001", "002", "013"):
        path = tmp_path / "UCR" / f"{item}_UCR_Anomaly_x_4_6_7.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(map(str, range(10))))
    result = te.detect(["UCR/00*(end=exclusive)", "ucr/013"], "random", "cce", data=tmp_path)
    assert list(result.plan.datasets) == ["ucr/001(end='exclusive')", "ucr/002(end='exclusive')", "ucr/013"]
    assert len(te.detect("ucr/*", "random", "cce", data=tmp_path).plan.datasets) == 3
    with pytest.raises(
        InvalidInputError, match=r"no item of ucr with features is called '2\*': `tsadeval datasets info"
    ):
        te.detect("ucr/2*", "random", "cce", data=tmp_path)
