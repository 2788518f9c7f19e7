"""Criteria by which detectors are chosen, against their definitions, and the ways to name one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from naive import selection as naive
from strategies import examples, scorings
from tsadeval.core.inputs import Scoring
from tsadeval.metrics import criteria
from tsadeval.metrics.criteria import CRITERIA, LEVELS, SHARES, candidates, find_criterion, outcomes
from tsadeval.scores.scored import observe


@given(scorings(), st.sampled_from([1, 3, 100]))
@examples(300)
def test_outcomes_and_criteria_equal_their_definitions(pair, width):
    y, s = pair
    data = Scoring.of(y, s)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(criteria, "WIDTH", width)
        found = outcomes(data)
        falling = naive.falling(list(s))
        assert found.load.tolist() == [naive.load(y, alarms, width) for alarms in falling]
        assert found.found.tolist() == [sum(naive.found(y, alarms)) for alarms in falling]
        np.testing.assert_allclose(found.late / found.events, [naive.delay(y, a) for a in falling], atol=1e-12)
        tried = naive.candidates(list(s), [*LEVELS, np.inf], SHARES)
        curves = {name: one.curve(data) for name, one in CRITERIA.items()}
        np.testing.assert_allclose(curves["points"], [naive.points(y, a) for a in tried])
        np.testing.assert_allclose(curves["costs"], [naive.cost(y, a, 10, width) for a in tried])
        np.testing.assert_allclose(curves["rare"], [naive.rare(y, list(s))])
        np.testing.assert_allclose(curves["events"], [naive.events(y, list(s), width=width)])
        np.testing.assert_allclose(curves["early"], [naive.early(y, list(s), width=width)], atol=1e-12)


@given(scorings(), st.data())
@examples(100)
def test_a_criterion_of_ones_own_sees_the_alarms_at_every_threshold_that_is_tried(pair, data):
    y, s = pair
    low, high = sorted((data.draw(st.floats(-1, 1)), data.draw(st.floats(-1, 1))))
    scoring = Scoring.of(y, s)
    own = find_criterion(lambda one, alarms: te.metrics.f1(one.truth.mask, alarms))
    np.testing.assert_allclose(own.curve(scoring, low, high), CRITERIA["points"].curve(scoring, low, high))


def test_a_false_alarm_that_goes_on_after_an_event_is_rounded_down():
    y = np.repeat([0, 1, 0], [300, 50, 300])
    everywhere, nothing_but_false = np.ones(650), 1.0 - y
    assert outcomes(Scoring.of(y, everywhere)).load.tolist() == [0, 6]
    assert outcomes(Scoring.of(y, nothing_but_false)).load.tolist() == [0, 6, 6]
    brief = np.where((np.arange(650) >= 290) & (np.arange(650) < 360), 1.0, 0.0)
    assert outcomes(Scoring.of(y, brief)).load[1] == 0  # ten points on either side of the event cost nothing


def test_points_that_are_not_judged_end_a_run_and_never_alarm():
    y, s = np.repeat([0, 1, 0], [20, 5, 20]), np.ones(45)
    ignore = np.arange(45) == 10
    data = observe(y, s, ignore=ignore)
    found = outcomes(data)
    assert (found.judged, found.anomalous, found.events) == (44, 5, 1)
    assert found.load.tolist() == [0, 1]  # 10 points apart from the event; 9 and 20 beside it
    assert found.alarmed.tolist() == [0, 44]
    seen = find_criterion(lambda one, alarms: float(alarms[10])).curve(data)
    assert not seen.any()


def test_thresholds_are_compared_in_the_type_of_the_scores():
    s = np.array([0.29, 0.3, 0.31], np.float32)
    data = Scoring.of([0, 1, 0], s)
    assert outcomes(data).alarmed[candidates(data, 0.0, 1.0)][[29, 30, 31, 32]].tolist() == [3, 2, 1, 0]


def test_costs_of_ones_own():
    y, s = np.repeat([0, 1, 0], [200, 5, 200]), np.concatenate([np.ones(150), np.zeros(50), np.ones(5), np.zeros(200)])
    at_one = 100  # the place of the threshold 1
    assert CRITERIA["costs"].curve(Scoring.of(y, s))[at_one] == 1 - 2 / 10
    assert find_criterion("costs(missed=50, false_alarm=5)").curve(Scoring.of(y, s))[at_one] == 1 - 10 / 50


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("cost", "did you mean costs"),
        ("points(missed=2)", "only costs"),
        ("costs(missed=0)", "missed must be"),
        ("nowhere:mine", "cannot import 'nowhere' of criterion"),
    ],
)
def test_criteria_that_are_none(given, says):
    with pytest.raises(te.errors.TsadevalError, match=says):
        find_criterion(given)
