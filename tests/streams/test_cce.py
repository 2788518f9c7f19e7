"""Streaming CCE: any chunking and any order of merging neighbours gives the batch value."""

import copy
import math
import pickle
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples, scorings
from tsadeval.errors import InvalidInputError, UndefinedMetricWarning


def stream_of(pieces, **options):
    stream = te.StreamingCCE(**options)
    for y, s in pieces:
        stream.update(y, s)
    return stream


@st.composite
def cut_scorings(draw):
    """A scoring and the same cut into neighbouring pieces, some of them empty."""
    y, s = draw(scorings(max_size=60))
    cuts = sorted(draw(st.lists(st.integers(0, len(y)), max_size=8)))
    return y, s, list(zip(np.split(y, cuts), np.split(s, cuts), strict=True))


def same_breakdowns(a, b):
    for field in ("score", "event", "global_", "anomaly_event", "normal_event", "anomaly_global", "normal_global"):
        assert getattr(a, field) == pytest.approx(getattr(b, field), abs=1e-9)
    assert (a.events[["start", "stop", "label", "length"]] == b.events[["start", "stop", "label", "length"]]).all()
    for column in ("mean", "variance", "uncertainty", "confidence", "score", "share", "lost"):
        assert a.events[column] == pytest.approx(b.events[column], abs=1e-9)


@examples(500)
@given(cut_scorings(), st.sampled_from([(0.0, 1.0), (1e6, 1e-3), (-1e6, 1e-3), (1e9, 1.0)]))
def test_any_chunking_gives_the_batch_value(data, place):
    y, s, pieces = data
    offset, width = place
    moved = [(yy, offset + width * ss) for yy, ss in pieces]
    stream = stream_of(moved)
    assert stream.n == len(y)
    assert stream.compute() == pytest.approx(te.cce(y, offset + width * s), abs=1e-9)
    same_breakdowns(stream.breakdown(), te.cce_breakdown(y, offset + width * s))


@examples(300)
@given(cut_scorings(), st.randoms(use_true_random=False))
def test_any_merge_order_of_neighbours_gives_the_batch_value(data, random):
    y, s, pieces = data
    streams = [stream_of([piece]) for piece in pieces]
    while len(streams) > 1:
        i = random.randrange(len(streams) - 1)
        seen = streams[i + 1].n
        streams[i].merge(streams[i + 1])
        assert streams[i + 1].n == seen, "merging must not change the later one"
        del streams[i + 1]
    assert streams[0].compute() == pytest.approx(te.cce(y, s), abs=1e-9)
    same_breakdowns(streams[0].breakdown(), te.cce_breakdown(y, s))


def test_point_by_point_over_many_points_far_from_zero():
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.05).astype(int)
    s = 1e6 + 1e-3 * rng.random(3000)
    stream = te.StreamingCCE()
    for i in range(len(y)):
        stream.update(y[i : i + 1], s[i : i + 1])
    assert stream.compute() == pytest.approx(te.cce(y, s), abs=1e-9)


@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-324, 1e200])
def test_extreme_magnitudes_in_chunks(scale):
    y = np.array([0, 0, 1, 1, 0, 1, 0, 0])
    s = np.array([0.0, 1.0, 3.0, 2.0, 0.0, 1.5, 0.0, 1.0]) * scale
    for cut in range(9):
        stream = stream_of([(y[:cut], s[:cut]), (y[cut:], s[cut:])])
        assert stream.compute() == pytest.approx(te.cce(y, s), abs=1e-9)


def test_chunks_of_very_different_magnitude():
    y = np.array([0, 0, 1, 1])
    s = np.array([0.0, 1e-200, 1e200, 1e-5])
    for cut in range(5):
        assert stream_of([(y[:cut], s[:cut]), (y[cut:], s[cut:])]).compute() == pytest.approx(te.cce(y, s), abs=1e-9)


@pytest.mark.parametrize("options", [{"tau": 0.3, "constrained": True}, {"normalize": None, "uncertainty": "scaled"}])
def test_options_are_those_of_cce(options):
    y, s = np.array([0, 1, 1, 0, 0, 1]), np.array([0.2, 0.9, 0.4, 0.1, 0.6, 0.7])
    stream = stream_of([(y[:2], s[:2]), (y[2:], s[2:])], **options)
    assert stream.compute() == pytest.approx(te.cce(y, s, **options), abs=1e-12)


def test_pickles_and_goes_on():
    y, s = np.array([0, 1, 1, 0, 0, 1]), np.array([0.2, 0.9, 0.4, 0.1, 0.6, 0.7])
    stream = pickle.loads(pickle.dumps(stream_of([(y[:2], s[:2])])))
    assert stream.update(y[2:], s[2:]).compute() == pytest.approx(te.cce(y, s), abs=1e-12)


def test_a_bad_chunk_adds_nothing():
    stream = stream_of([([0, 1], [0.1, 0.9])])
    before = stream.compute()
    with pytest.raises(InvalidInputError, match="NaN at position 1"):
        stream.update([0, 1], [0.5, math.nan])
    with pytest.raises(InvalidInputError, match=r"empty|points"):
        stream.update([], [0.5])
    assert (stream.n, stream.compute()) == (2, before)


def test_undefined_until_both_classes_have_come():
    stream = te.StreamingCCE()
    for _ in range(2):
        with pytest.warns(UndefinedMetricWarning, match="not yet seen both"):
            assert math.isnan(stream.compute())
        stream.update([0, 0], [0.1, 0.2])
    stream.update([1], [0.9])
    assert stream.compute() == te.cce([0, 0, 1], [0.1, 0.2, 0.9])
    assert stream.reset().n == 0
    with pytest.raises(InvalidInputError, match="no points"):
        stream.breakdown()


@pytest.mark.parametrize("normalize", ["robust", "rank", "quantile"])
def test_normalisations_that_need_all_scores_are_refused(normalize):
    with pytest.raises(InvalidInputError, match="all scores at once"):
        te.StreamingCCE(normalize=normalize)


def test_merging_what_does_not_belong_together_is_refused():
    with pytest.raises(InvalidInputError, match="different options"):
        te.StreamingCCE().merge(te.StreamingCCE(tau=0.4))
    with pytest.raises(InvalidInputError, match="StreamingCCE, not list"):
        te.StreamingCCE().merge([1])
    with pytest.raises(InvalidInputError, match="tau must be"):
        te.StreamingCCE(tau=2)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda stream: pickle.loads(pickle.dumps(stream))])
def test_a_copy_goes_its_own_way(duplicate):
    stream = te.StreamingCCE().update([0, 1, 1], [0.1, 0.9, 0.8])
    before = stream.compute()
    other = duplicate(stream)
    other.update([0, 0, 1], [0.5, 0.6, 0.2])
    assert stream.compute() == before
    stream.update([1, 0], [0.3, 0.9])
    assert (stream.n, other.n) == (5, 6)
    assert other.compute() != stream.compute()
    stream.reset()
    assert other.n == 6


@pytest.mark.slow
def test_threads_that_read_lose_no_point_of_one_that_writes():
    rng = np.random.default_rng(0)
    y, s = (rng.random(6000) < 0.3).astype(int), rng.random(6000)
    stream, stop, errors = te.StreamingCCE(), threading.Event(), []
    stream.update(y[:3], s[:3])

    def look():
        try:
            while not stop.is_set():
                stream.compute()
                copy.copy(stream)
                repr(stream)
        except Exception as error:
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    readers = [threading.Thread(target=look) for _ in range(3)]
    try:
        for reader in readers:
            reader.start()
        for i in range(3, 6000, 3):
            stream.update(y[i : i + 3], s[i : i + 3])
    finally:
        stop.set()
        for reader in readers:
            reader.join()
        sys.setswitchinterval(before)
    assert not errors
    assert stream.n == 6000
    assert stream.compute() == pytest.approx(te.cce(y, s), abs=1e-12)


def test_two_streams_that_merge_each_other_do_not_wait_for_ever():
    streams = [te.StreamingCCE().update([0, 1], [0.1, 0.9]) for _ in range(2)]
    threads = [
        threading.Thread(
            target=lambda a, b: [a.merge(b) for _ in range(8)], args=(streams[i], streams[1 - i]), daemon=True
        )
        for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda stream: pickle.loads(pickle.dumps(stream))])
def test_a_copy_of_an_evaluator_goes_its_own_way(duplicate):
    stream = te.StreamingEvaluator(0.5, window=4).update([0, 1, 1], [0.1, 0.9, 0.8])
    before = repr(stream.compute())
    other = duplicate(stream)
    other.update([0, 0, 1], [0.5, 0.6, 0.2])
    assert repr(stream.compute()) == before
    assert other.compute().rows != stream.compute().rows
    assert repr(stream.merge(stream)) == "StreamingEvaluator(threshold=0.5, points=6)"


def test_threads_lose_no_point_of_an_evaluator():
    stream, errors = te.StreamingEvaluator(0.5, window=6).update([0, 1], [0.1, 0.9]), []

    def write():
        for _ in range(100):
            stream.update([0, 1], [0.1, 0.9])

    def look():
        try:
            for _ in range(30):
                stream.compute()
                copy.copy(stream)
        except Exception as error:
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=do) for do in (write, write, look, look)]
    try:
        for thread in threads:
            thread.start()
    finally:
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)
    assert errors == []
    assert repr(stream) == "StreamingEvaluator(threshold=0.5, points=402)"
    assert stream.compute()["event_recall"] == 1
