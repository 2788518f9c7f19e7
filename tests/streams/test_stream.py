"""Metrics of streams: any cut into batches, and any order of merging neighbours, gives the value of the whole."""

import functools
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples, scorings
from tsadeval.core.metric import METRICS, parse_metric
from tsadeval.core.parameters import Flag, Number, OneOf
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning
from tsadeval.evaluation import external_sort as spill
from tsadeval.streams import order
from tsadeval.streams.stream import Stream, streamable

OFFERED = [m for m in METRICS.values() if m.stream is not None]
OTHERS = [m for m in METRICS.values() if m.stream is None]
OF_ORDER = ["auc_roc", "auc_pr", "auc_pr(interpolation='trapezoid')", "best_f1", "best_f1(beta=2)", "precision_at_k"]
OF_ORDER += ["precision_at_k(k=3)"]
AREAS = ["vus_roc", "vus_pr", "range_auc_roc", "range_auc_pr"]


def quietly(call, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return call(*args, **kwargs)


@st.composite
def cut(draw, max_size=60):
    y, s = draw(scorings(max_size=max_size, both=False))
    s = s / 2  # within [0, 1], as CCE without normalisation asks
    if draw(st.booleans()):
        s = s.astype(np.float32)
    cuts = sorted(draw(st.lists(st.integers(0, len(y)), max_size=6)))
    return y, s, list(zip(np.split(y, cuts), np.split(s, cuts), strict=True))


def variants(metric):
    """The metric as it is, and with another value of each option that a check names."""
    yield metric
    for name, check in metric.checks.items():
        values = []
        if isinstance(check, Flag):
            values = [not metric.parameters[name]]
        elif isinstance(check, OneOf):
            values = [v for v in check.choices if v != metric.parameters[name]]
        elif isinstance(check, Number) and isinstance(metric.parameters[name], (int, float)):
            values = [v for v in (metric.parameters[name] + 1, 0.5) if check.accepts(v)]
        yield from (metric.with_options(**{name: value}) for value in values)


@functools.cache  # every example asks for them
def offered(name):
    """All variants of a metric that a stream takes."""
    found, metric = [], METRICS[name]
    for one in variants(metric):
        try:
            Stream(one, threshold=0.4)
        except InvalidParameterError as error:
            # Only ways to normalise need all scores at once; options that are times have tests of their own.
            if metric.stream != "moments" and "needs time stamps" not in str(error):
                raise
        else:
            found.append(one)
    return found


def batch_value(metric, y, s, threshold):
    if metric.kind == "scores":
        return metric.value_of(te.core.inputs.Scoring.of(y, s))
    return metric.value_of(te.core.inputs.Prediction.of(y, s > np.float64(threshold)))


@pytest.mark.slow
@pytest.mark.parametrize("metric", [pytest.param(m, id=m.name) for m in OFFERED])
@examples(40)
@given(cut(), st.sampled_from([0.4, 0.5, 0.1, 2.0, -1.0]), st.randoms(use_true_random=False))
def test_any_cut_gives_the_value_of_the_whole(metric, data, threshold, random):
    y, s, pieces = data
    metrics = offered(metric.name)
    streams = [Stream(metrics, threshold=threshold).update(*piece) for piece in pieces]
    while len(streams) > 1:
        i = random.randrange(len(streams) - 1)
        streams[i].merge(streams.pop(i + 1))
    found = quietly(streams[0].result)
    at_once = quietly(Stream(metrics, threshold=threshold).update(y, s).result)
    for one in metrics:
        value, reason = batch_value(one, y, s, threshold)
        assert found[str(one)] == pytest.approx(value, abs=1e-9, rel=1e-12, nan_ok=True)
        assert at_once[str(one)] == pytest.approx(value, abs=1e-9, rel=1e-12, nan_ok=True)
        row = next(row for row in found.rows if row["metric"] == str(one))
        assert (row["status"] == "ok") == (reason is None)
        if one.kind == "predictions":
            assert row["alarmed_points"] == np.count_nonzero(s > np.float64(threshold))


def test_what_needs_all_points_says_so():
    assert {m.name for m in OTHERS} >= {"pate", "nab_score"}
    assert {m.name for m in streamable()} == {m.name for m in OFFERED}
    for metric in OTHERS:
        with pytest.raises(InvalidParameterError, match=f"{metric.name}: it needs all points at once"):
            Stream(metric, threshold=0.5)
        if metric.kind == "predictions":  # and it does: its code asks for points
            stream = Stream("event_f1", threshold=0.5).update([0, 1, 1, 0, 0, 1], [0.1, 0.9, 0.8, 0.7, 0.1, 0.2])
            assert "all points" in metric.value_of(stream._states["runs"].prediction)[1].text
    with pytest.raises(InvalidParameterError, match="pass threshold="):
        Stream("f1")
    with pytest.raises(InvalidParameterError, match="rank"):
        Stream("cce(normalize='rank')")
    for name in ("auc_roc", "vus_pr"):
        with pytest.raises(InvalidParameterError, match="order must be"):
            Stream(name, order="guess")
    with pytest.raises(InvalidParameterError, match=r"window='period'\): the period is that of the values"):
        Stream("vus_pr(window='period')")
    with pytest.raises(InvalidParameterError, match="100,001 widths at 250 thresholds are too many"):
        Stream("vus_pr(window=50000)")
    with pytest.raises(InvalidParameterError, match="fewer thresholds, or use order='sort'"):
        Stream("vus_pr(window=3000)", order="bins")


@examples(100)
@given(cut(max_size=120))
def test_sorting_on_disk_is_exact(data):
    y, s, pieces = data
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "_PIECE", 8)
        patch.setattr(spill, "_EVERY", 2)
        stream = Stream(OF_ORDER)
        other = Stream(OF_ORDER)
        half = len(pieces) // 2
        for piece in pieces[:half]:
            stream.update(*piece)
        for piece in pieces[half:]:
            other.update(*piece)
        found = quietly(stream.merge(other).result)
        for text in OF_ORDER:
            value, _ = batch_value(parse_metric(text), y, s, None)
            assert found[text] == pytest.approx(value, rel=1e-13, nan_ok=True), text


@examples(100)
@given(
    cut(max_size=120),
    st.sampled_from([1.0, 1e-6, 1e-9, 1e30]),
    st.sampled_from([0.0, 1.0, -5.0]),
    st.randoms(use_true_random=False),
)
def test_the_interval_of_bins_holds_the_value(data, width, offset, random):
    y, s, pieces = data
    s = offset + width * s.astype(np.float64)
    cuts = np.cumsum([len(piece[0]) for piece in pieces])[:-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "_BINS", 2 ** random.choice([4, 9, 14]))
        found = streamed(OF_ORDER, y, s, cuts, random, order="bins")
    for row in found.rows:
        value, reason = batch_value(parse_metric(row["metric"]), y, s, None)
        if reason is not None:
            assert row["message"] == (reason and reason.text)
            continue
        assert row["low"] - 1e-12 <= value <= row["high"] + 1e-12, row
        assert row["value"] == pytest.approx((row["low"] + row["high"]) / 2)


@st.composite
def areas(draw):
    """Areas with soft buffers, in all variants, with few and many thresholds and windows of any length."""
    window, number = draw(st.integers(0, 12)), draw(st.sampled_from([2, 3, 7, 250, None]))
    variant = draw(st.sampled_from(["vus", "range_auc", "timeeval", "ff_vus"]))
    return [f"{name}(window={window}, n_thresholds={number}, variant={variant!r})" for name in AREAS]


def streamed(metrics, y, s, cuts, random, **options):
    """What comes of pieces that are merged in any order, those before the last one after a journey."""
    streams = [
        Stream(metrics, **options).update(a, b) for a, b in zip(np.split(y, cuts), np.split(s, cuts), strict=True)
    ]
    while len(streams) > 1:
        i = random.randrange(len(streams) - 1)
        later = streams.pop(i + 1)
        streams[i].merge(pickle.loads(pickle.dumps(later)) if options.get("order") == "bins" else later)
    return quietly(streams[0].result)


@examples(150)
@given(cut(max_size=120), areas(), st.randoms(use_true_random=False))
def test_areas_with_buffers_are_exact(data, metrics, random):
    y, s, pieces = data
    cuts = np.cumsum([len(piece[0]) for piece in pieces])[:-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "_PIECE", 8)
        patch.setattr(spill, "_EVERY", 2)
        patch.setattr(order, "_CHUNK", random.choice([1, 10, 100]))
        found = streamed(metrics, y, s, cuts, random)
    for text in metrics:
        value, reason = batch_value(parse_metric(text), y, s, None)
        assert found[text] == pytest.approx(value, abs=1e-12, nan_ok=True), text
        assert next(row["message"] for row in found.rows if row["metric"] == text) == (reason and reason.text)


@examples(150)
@given(
    cut(max_size=120),
    areas(),
    st.sampled_from([1.0, 1e-6, 1e-9, 1e30]),
    st.sampled_from([0.0, 1.0, -5.0]),
    st.randoms(use_true_random=False),
)
def test_the_interval_of_areas_holds_the_value(data, metrics, width, offset, random):
    y, s, pieces = data
    s = offset + width * s.astype(np.float64)
    cuts = np.cumsum([len(piece[0]) for piece in pieces])[:-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "_BINS", 2 ** random.choice([4, 9, 14]))
        patch.setattr(order, "_CUTS", random.choice([2, 5, 1000]))
        patch.setattr(order, "_CHUNK", random.choice([1, 10, 100]))
        found = streamed(metrics, y, s, cuts, random, order="bins")
    for row in found.rows:
        value, reason = batch_value(parse_metric(row["metric"]), y, s, None)
        assert row["message"] == (reason and reason.text)
        if reason is None:
            assert row["low"] - 1e-12 <= value <= row["high"] + 1e-12, row


@pytest.mark.slow
def test_areas_keep_what_is_near_events():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.random(2000) < 0.01, 50)
    s = rng.random(len(y)) + 0.3 * y
    metrics = ["vus_pr", "vus_roc", "vus_pr(n_thresholds=None)", "range_auc_pr", "auc_roc"]
    stream = Stream(metrics, order="bins")
    for part in range(0, len(y), 5000):
        stream.update(y[part : part + 5000], s[part : part + 5000])
    kept = stream._states["zones 100"]._scores.n
    assert y.sum() < kept < y.sum() + 201 * len(te.core.events.Events.of(y))
    for row in stream.result().rows:
        value = batch_value(parse_metric(row["metric"]), y, s, None)[0]
        assert row["low"] <= value <= row["high"]
        # Trapezoids begin at precision 1, and the first threshold is somewhere among the highest scores.
        assert row["high"] - row["low"] < (1e-2 if row["metric"] == "range_auc_pr" else 1e-3), row


@pytest.mark.slow
def test_a_score_of_nearly_all_points_takes_no_memory(monkeypatch):
    monkeypatch.setattr(spill, "_PIECE", 64)
    monkeypatch.setattr(spill, "_EVERY", 4)
    rng = np.random.default_rng(0)
    y = (rng.random(2500) < 0.05).astype(int)
    s = np.where(rng.random(2500) < 0.9, 0.0, rng.random(2500) + y)
    stream = Stream(OF_ORDER).update(y, s)
    sizes = [len(p.anomalous) + len(p.normal) for p in stream._states["order"].blocks()]
    assert max(sizes) < 500
    found = stream.result()
    for text in OF_ORDER:
        assert found[text] == pytest.approx(batch_value(parse_metric(text), y, s, None)[0], rel=1e-12)


def test_bins_tell_scores_apart_that_are_apart():
    rng = np.random.default_rng(0)
    y = (rng.random(200_000) < 0.05).astype(int)
    s = rng.random(len(y)) + 0.3 * y
    rows = {row["metric"]: row for row in Stream(OF_ORDER, order="bins").update(y, s).result().rows}
    assert rows["auc_roc"]["high"] - rows["auc_roc"]["low"] < 2e-4
    assert rows["auc_pr"]["high"] - rows["auc_pr"]["low"] < 2e-3
    assert rows["best_f1"]["high"] - rows["best_f1"]["low"] < 2e-3
    assert abs(rows["auc_roc"]["value"] - te.metrics.auc_roc(y, s)) < 1e-6


def test_states_do_not_grow_with_points():
    stream = Stream(["cce", "f1", "event_f1", "affiliation_f1", "auc_roc"], threshold=0.5, order="bins")
    y, s = np.zeros(10_000, np.int8), np.full(10_000, 0.25, np.float32)
    y[5000:5010], s[5003:5020] = 1, 0.75
    stream.update(y, s)
    before = len(pickle.dumps(stream))
    for _ in range(20):
        stream.update(y, s)
    assert len(pickle.dumps(stream)) < before + 20 * 2 * 2 * 8 * 8


def test_sorted_scores_do_not_travel():
    with pytest.raises(InvalidInputError, match='order="bins"'):
        pickle.dumps(Stream("auc_roc").update([0, 1], [0.1, 0.2]))


@pytest.mark.parametrize("order", ["sort", "bins"])
def test_states_from_other_processes_may_be_read_only(order):
    """Ray hands arrays of other processes on without a copy, which must not be written to."""
    from tsadeval.core.selection import select_metrics
    from tsadeval.streams.stream import Stream

    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 60), rng.random(60)
    metrics = select_metrics(["f1", "event_recall", "cce", "auc_roc"])
    parts = []
    for part in (slice(0, 20), slice(20, 45), slice(45, 60)):
        stream = Stream(metrics, threshold=0.5, order=order).update(y[part], s[part])
        for state in stream._states.values():
            for value in vars(state).values():
                if isinstance(value, np.ndarray):
                    value.setflags(write=False)
        parts.append(stream)
    first, *others = parts
    for other in others:
        first.merge(other)
    whole = te.evaluate_stream([(y, s)], metrics, threshold=0.5, order=order)
    assert dict(first.result()) == pytest.approx(dict(whole))
