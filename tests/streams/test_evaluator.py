"""`StreamingEvaluator`: the values of the whole stream and of its window on any chunks, and drift of the scores."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from naive import timing
from naive.event_level import false_runs
from strategies import examples, scorings
from tsadeval.core.inputs import Prediction
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.streams import runs
from tsadeval.streams.drift import DriftTest

BATCH = [
    "precision",
    "recall",
    "f1",
    "f1_pa",
    "event_recall",
    "event_precision",
    "false_alarms",
    "time_in_alarm",
    "cce",
]


@pytest.mark.filterwarnings(
    "ignore::tsadeval.errors.UndefinedMetricWarning", "ignore::tsadeval.errors.ThresholdWarning"
)
@examples(60)
@given(st.data(), st.booleans())
def test_stream_equals_batch_on_any_chunking(data, timed):
    y, s = data.draw(scorings(min_size=2, both=False))
    n = len(y)
    steps = data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    t = (np.cumsum(steps) * 60).astype("datetime64[s]") if timed else None
    cuts = sorted(data.draw(st.sets(st.integers(1, n - 1))))
    parts = list(zip([0, *cuts], [*cuts, n], strict=True))
    window = data.draw(st.sampled_from([None, 5, "7min"] if timed else [None, 5]))
    stream = te.StreamingEvaluator(0.4, window=window)
    half = len(parts) // 2
    first, second = te.StreamingEvaluator(0.4, window=window), te.StreamingEvaluator(0.4, window=window)
    for k, (a, b) in enumerate(parts):
        chunk = (y[a:b], s[a:b], None if t is None else t[a:b])
        stream.update(*chunk)
        (first if k < half else second).update(*chunk)
    merged = pickle.loads(pickle.dumps(first)).merge(pickle.loads(pickle.dumps(second)))
    p = (s > 0.4).astype(int)
    for found in (stream.compute(), merged.compute()):
        batch = te.evaluate(y, s, BATCH, threshold=0.4, times=t) if window is None else None
        values = {row["metric"]: row["value"] for row in found.rows}
        if batch is not None:
            assert [values[name] for name in BATCH] == pytest.approx(list(batch.values()), nan_ok=True, abs=1e-9)
        assert (values["points"], values["true_positives"]) == (n, int((y & p).sum()))
        assert values["false_alarm_runs"] == len(false_runs(y, p))
        e = [*range(n), n] if t is None else [*t.astype(np.int64).tolist(), 0]
        late = timing.delays(y, p, e)
        expected = math.nan if not late else np.mean(late) / (60 if timed else 1)
        assert found["detection_delay"] == pytest.approx(expected, nan_ok=True)
        if window is not None:
            keep = slice(-5, None) if window == 5 else t > t[-1] - np.timedelta64(7, "m")
            last = te.evaluate(y[keep], s[keep], BATCH, threshold=0.4, times=None if t is None else t[keep])
            recent = {row["metric"]: row["recent"] for row in found.rows}
            assert [recent[name] for name in BATCH] == pytest.approx(list(last.values()), nan_ok=True, abs=1e-9)


@pytest.mark.parametrize("threshold", np.arange(1, 10) / 10)
def test_one_answer_at_the_threshold(threshold):
    """Single precision scores in tenths: alarms are compared in the scores' own type, as NumPy does it."""
    rng = np.random.default_rng(0)
    y, s = (rng.random(60) < 0.3).astype(int), (rng.integers(0, 11, 60) / 10).astype(np.float32)
    found = te.evaluate(y, s, BATCH, threshold=threshold)
    assert found["f1"] == te.metrics.f1(y, s > np.float32(threshold))
    assert dict(te.evaluate_stream([(y, s)], BATCH, threshold=threshold)) == pytest.approx(dict(found))
    stream = te.StreamingEvaluator(threshold, window=60).update(y, s).compute()
    assert {name: stream[name] for name in BATCH} == pytest.approx(dict(found))
    assert [row["recent"] for row in stream.rows] == pytest.approx([row["value"] for row in stream.rows])
    assert te.events(y, s, threshold=threshold).summary["false_alarms"] == stream["false_alarm_runs"]


def test_time_stamps_may_all_be_different_steps_apart(monkeypatch):
    """A series of any length may have as many different steps: here there is no bound as for files."""
    monkeypatch.setattr(runs, "_MOST_STEPS", 2)
    y, s, t = [0, 0, 1, 1, 0, 0], [0.9, 0.1, 0.2, 0.8, 0.1, 0.1], np.array([0, 1, 3, 7, 15, 31])
    metrics = ["time_in_alarm", "false_alarms(per='day')", "detection_delay(unit='min')"]
    expected = te.evaluate(y, s, metrics, threshold=0.5, times=t)
    stream = te.StreamingEvaluator(0.5)
    for part in (slice(0, 4), slice(4, 6)):
        stream.update(y[part], s[part], t[part])
    found = stream.compute()
    assert [found[name] for name in metrics] == pytest.approx([expected[name] for name in metrics])


def test_a_stream_may_be_longer_than_a_series_in_memory(monkeypatch):
    monkeypatch.setattr(runs, "LARGEST", 5)
    y, s = [0, 0, 1, 1, 0, 0], [0.9, 0.1, 0.2, 0.8, 0.1, 0.1]
    found = te.StreamingEvaluator(0.5).update(y, s).update(y, s).compute()
    assert (found["points"], found["events"], found["false_alarm_runs"]) == (12, 2, 2)
    # Its metrics have no position for every point, and count in 64 bits.
    few, many = (
        Prediction(*(runs.BareRuns.of_counts(np.array(counts) * size, 0) for counts in ([5, 3, 9, 4], [2, 1, 3, 9, 6])))
        for size in (1, 10**10)
    )
    for name in [*BATCH[:-1], "detection_delay"]:
        value, scale = te.core.metric.METRICS[name].value_of(few)[0], {"false_alarms": 1e-10, "detection_delay": 1e10}
        assert te.core.metric.METRICS[name].value_of(many)[0] == pytest.approx(value * scale.get(name, 1)), name


def test_drift_of_the_scores():
    rng = np.random.default_rng(2)
    reference = rng.normal(size=3000)
    for shift, drifted in ((0.0, False), (0.8, True)):
        stream = te.StreamingEvaluator(3.0, window=1000, reference=reference)
        scores = [rng.normal(size=400) + shift for _ in range(5)]
        for part in scores:
            stream.update(np.zeros(400, int), part)
        drift = stream.drift()
        assert drift == DriftTest(reference).measure(np.concatenate(scores)[-1000:], 7 / 365)
        assert (drift.warning is not None) == drifted
        assert ("drifted from the reference" in repr(stream.compute())) == drifted
        assert (drift["stability"] > 0.2) == drifted


def test_streams_refuse_what_does_not_fit():
    stream = te.StreamingEvaluator(0.5)
    with pytest.raises(InvalidInputError, match="nothing to evaluate yet"):
        stream.compute()
    stream.update([0, 1], [0.1, 0.9], times=[0, 10])
    with pytest.raises(InvalidInputError, match="for all chunks, or for none"):
        stream.update([0, 1], [0.1, 0.9])
    with pytest.raises(InvalidInputError, match="begins before the end"):
        stream.update([0, 1], [0.1, 0.9], times=[10, 20])
    with pytest.raises(InvalidInputError, match="same threshold"):
        stream.merge(te.StreamingEvaluator(0.6))
    with pytest.raises(InvalidInputError, match="is a duration, so times are needed"):
        te.StreamingEvaluator(0.5, window="1h").update([0, 1], [0.1, 0.9])
    with pytest.raises(InvalidParameterError, match="threshold"):
        te.StreamingEvaluator("best")
    assert stream.merge(te.StreamingEvaluator(0.5)) is stream
    assert repr(stream) == "StreamingEvaluator(threshold=0.5, points=2)"
