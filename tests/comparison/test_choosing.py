"""What choosing a detector by a metric gains on other series, against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from naive import selection as naive
from strategies import examples
from tsadeval.comparison.standings import drawn, judge, ratios, resampled


@st.composite
def sets(draw):
    """Values (series, detectors) and curves (series, detectors, thresholds) of a set, with ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    series, detectors, thresholds = (draw(st.integers(low, 6)) for low in (4, 2, 1))
    levels = draw(st.sampled_from([2, 5, 1000]))
    shape = series, detectors
    return rng.integers(0, levels, shape) / 8, rng.integers(0, levels, (*shape, thresholds)) / 8


@given(st.lists(sets(), min_size=1, max_size=3))
@examples(200)
def test_pair_and_top_equal_their_definition(given_sets):
    totals = sum(judge(values[None], curves) for values, curves in given_sets)
    pair, top = (found[0, 0] for found in ratios(totals))
    if totals[1, 0, 0] == 0 or totals[3, 0, 0] == 0:
        return  # all detectors are worth the same
    np.testing.assert_allclose((pair, top), naive.judged(given_sets), atol=1e-9)


def test_the_criterion_itself_is_last_and_chooses_best_where_halves_agree():
    rng = np.random.default_rng(0)
    worth = np.tile(rng.random((1, 5, 1)), (10, 1, 1))
    against = -worth[..., 0]
    pair, top = ratios(judge(against[None], worth))
    assert pair[0] == pytest.approx([-1, 1])
    assert top[0, 1] == pytest.approx(1)


def test_weights_are_series_that_count_more_than_once():
    rng = np.random.default_rng(1)
    values, curves = rng.random((2, 8, 4)), rng.random((8, 4, 3))
    # Series 0 twice and 2 not at all, among the even ones; 1 twice and 5 not at all among the odd ones.
    weights, again = np.array([[2.0, 2, 0, 1, 1, 0, 1, 1]]), [0, 1, 0, 1, 4, 3, 6, 7]
    np.testing.assert_allclose(judge(values, curves, weights), judge(values[:, again], curves[again]))


def test_labelled_series_are_drawn_from_both_halves():
    weights = drawn(11, 3, 50, 0)
    assert (weights[:, ::2].sum(axis=1) == 3).all()
    assert (weights[:, 1::2].sum(axis=1) == 3).all()
    assert (drawn(11, 10, 5, 0) == 1).all()  # fewer than ten in either half
    assert (drawn(11, 3, 50, 0) == weights).all()
    assert not (drawn(11, 3, 50, 1) == weights).all()


def test_more_labels_choose_better():
    rng = np.random.default_rng(2)
    worth = np.clip(np.linspace(0.3, 0.7, 5)[None, :, None] + 0.3 * rng.normal(size=(200, 5, 1)), 0, 1)
    values = worth[None, ..., 0] + 0.3 * rng.normal(size=(1, 200, 5))
    found = [ratios(judge(values, worth, labelled=drawn(200, n, 200, 0)).sum(axis=1))[1][0] for n in (1, 5, 50)]
    assert found == sorted(found)
    assert found[0] < 0.7 < found[-1]


def test_resampling_keeps_the_size_of_both_halves():
    weights = resampled(9, 100, 0)
    assert weights.shape == (101, 9)
    assert (weights[0] == 1).all()
    assert (weights[:, ::2].sum(axis=1) == 5).all()
    assert (weights[:, 1::2].sum(axis=1) == 4).all()


def test_no_difference_in_worth_is_undefined():
    pair, top = ratios(judge(np.ones((1, 4, 3)), np.ones((4, 3, 1))))
    assert np.isnan([pair, top]).all()
    assert pair.shape == (1, 2)


@pytest.mark.parametrize("values", [np.zeros((1, 4, 3)), np.full((1, 4, 3), 0.1)])
def test_a_metric_that_says_nothing_gains_nothing(values):
    rng = np.random.default_rng(0)
    pair, top = ratios(judge(values, rng.random((4, 3, 1))))
    assert pair[0, 0] == 0
    assert top[0, 0] == pytest.approx(0, abs=1e-12)


def fleet(series, seed=0):
    """Detectors that find more and more; `jumpy` has high scores at one point of each event and nowhere else."""
    rng, y = np.random.default_rng(seed), np.arange(600) // 30 % 10 == 4
    for k in range(series):
        for name, up in (("poor", 0.05), ("fair", 0.6), ("good", 0.95)):
            yield f"s{k}", name, y, rng.random(600) + up * y
        yield f"s{k}", "jumpy", y, rng.random(600) + 2.0 * (y & (np.arange(600) % 30 == 5))


def test_choice_says_what_each_metric_chooses_and_what_that_is_worth():
    found = te.compare(list(fleet(10)), metrics=["auc_pr", "f1_pa"]).choice("points")
    chosen = {row["metric"]: row for row in found.rows}
    assert chosen["auc_pr"]["detector"] == found.detector == "good"
    assert chosen["f1_pa"]["detector"] == "fair, good, jumpy"  # which all are perfect after point adjustment
    assert chosen["auc_pr"]["lost"] == 0
    assert chosen["f1_pa"]["lost"] == pytest.approx(found.stake)
    assert found.labels < found.stake
    assert "the metric matters here" in found.sentence
    assert found.sentence in repr(found)


def test_choice_says_when_metrics_do_not_matter_and_when_labels_are_too_few():
    few = te.compare(list(fleet(2)), metrics=["auc_pr", "f1_pa"]).choice("points")
    assert "2 labelled series are too few" in few.sentence
    same = te.compare(list(fleet(6)), metrics=["auc_pr", "auc_roc"]).choice()
    assert same.sentence.startswith("all metrics choose good")


def test_choice_does_not_ask_for_labels_where_nothing_is_at_stake():
    found = te.compare(list(fleet(10)), metrics=["auc_pr", "f1_pa"]).choice(lambda scoring, alarms: 0.5)
    assert found.stake == found.labels == 0
    assert found.sentence == "all choices are worth the same by this criterion: by it the metric does not matter here"


def test_choice_needs_labels_and_two_detectors():
    one = [row for row in fleet(4) if row[1] == "good"]
    with pytest.raises(te.errors.InvalidInputError, match="two detectors or more"):
        te.compare(one, metrics="auc_pr").choice()
    with pytest.raises(te.errors.UnknownNameError, match="unknown criterion"):
        te.compare(list(fleet(4)), metrics="auc_pr").choice("money")
