"""The numbers inside a report: levels, counts at all thresholds, findings."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples, scorings
from tsadeval.core.inputs import Scoring
from tsadeval.reports import payload
from tsadeval.reports.payload import Payloads, coarse, count_alarms, score_levels, value_codes


@examples(300)
@given(scorings(both=False))
def test_counts_at_all_levels_are_those_of_the_metrics(data):
    y, s = data
    scoring = Scoring.of(y, s)
    levels = score_levels(scoring)
    counts = count_alarms(scoring, levels)
    points, events, n = int(y.sum()), len(scoring.events), len(y)
    for k, threshold in enumerate(levels.thresholds):
        alarms = s > threshold
        assert (levels.codes > k).tolist() == alarms.tolist()
        found, false, adjusted, seen, runs = (int(column[k]) for column in counts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert 1000 * (runs / n) == te.metrics.false_alarms(y, alarms)
            if points:
                assert 2 * found / (points + found + false) == te.metrics.f1(y, alarms)
                assert 2 * adjusted / (points + adjusted + false) == te.metrics.f1_pa(y, alarms)
                assert found / points == te.metrics.recall(y, alarms)
                assert seen / events == te.metrics.event(y, alarms).recall
            if alarms.any():
                assert found / (found + false) == te.metrics.precision(y, alarms)


def test_the_last_level_has_no_alarm_and_the_first_has_all():
    scoring = Scoring.of([0, 1, 0], [0.1, 0.5, 0.1])
    levels = score_levels(scoring)
    assert levels.codes.min() == 1
    assert (levels.codes > len(levels.thresholds) - 1).sum() == 0
    assert levels.shown[levels.codes].tolist() == [0.1, 0.5, 0.1]


@pytest.mark.parametrize("heavy", [False, True])
def test_many_scores_share_levels_but_wanted_thresholds_are_exact(heavy):
    rng = np.random.default_rng(0)
    s = rng.standard_t(1.2, 50_000) if heavy else rng.random(50_000)
    y = np.arange(50_000) // 100 % 50 == 0
    best = te.best_threshold("f1", y, s).threshold
    scoring = Scoring.of(y, s)
    levels = score_levels(scoring, (best,))
    assert len(levels.thresholds) <= payload.LEVELS + 2
    k = levels.at(best)
    assert ((s > best) == (levels.codes > k)).all()
    # What is drawn is within a pixel of a large screen.
    error = np.abs(levels.shown[levels.codes] - s)
    assert error.max() <= (s.max() - s.min()) / 2000
    counts = count_alarms(scoring, levels)
    assert 2 * counts.found[k] / (y.sum() + counts.found[k] + counts.false[k]) == te.metrics.f1(y, s > best)


def test_extreme_scores_have_levels():
    scores = np.linspace(-8e307, 8e307, 10_000)
    levels = score_levels(Scoring.of(np.arange(10_000) % 2, scores))
    assert np.isfinite(levels.thresholds[1:]).all()
    assert (np.diff(levels.codes.astype(int)) >= 0).all()


def unpacked(page, number):
    import base64
    import gzip

    entry = page.texts[number]
    dtype = np.dtype("<" + entry["kind"])
    planes = np.frombuffer(gzip.decompress(base64.b64decode(entry["text"])), np.uint8)
    return planes.reshape(dtype.itemsize, entry["length"]).T.copy().view(dtype).ravel()


@pytest.mark.parametrize("dtype", ["uint16", "int32", "float32", "float64"])
def test_payloads_come_back_and_equal_ones_are_kept_once(dtype):
    page = Payloads()
    array = np.arange(1000).astype(dtype)
    number = page.add(array)
    assert unpacked(page, number).tolist() == array.tolist()
    assert page.add(array.copy()) == number
    assert page.add(array[1:]) != number
    assert len(unpacked(page, page.add(array[:0]))) == 0


@given(st.lists(st.floats(-1e300, 1e300) | st.just(float("nan")) | st.just(float("inf")), min_size=1, max_size=50))
def test_values_in_steps(values):
    values = np.array(values)
    codes, low, high = value_codes(values)
    finite = np.isfinite(values)
    assert (codes == payload.MISSING).tolist() == (~finite).tolist()
    if finite.any():
        back = low + (codes[finite] / 65534) * (high - low)
        assert np.abs(back - values[finite]).max() <= (high - low) / 65534 * 0.51 + 1e-300


def test_coarse_keeps_extremes_and_gaps():
    codes = np.array([5, 1, payload.MISSING, 9, payload.MISSING, payload.MISSING, 3], np.uint16)
    low, high = coarse(codes, 2)
    assert low.tolist() == [1, 9, payload.MISSING, 3]
    assert high.tolist() == [5, 9, payload.MISSING, 3]
    low, high = coarse(np.array([5, 1, 0, 9, 0, 0, 3], np.uint16), 2, gap=0)
    assert low.tolist() == [1, 9, 0, 3]
    assert high.tolist() == [5, 9, 0, 3]
