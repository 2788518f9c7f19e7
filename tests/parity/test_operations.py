"""Tolerance, distance, latency, adjustment and timing metrics against the packages that have them."""

import numpy as np
import pytest

import tsadeval as te
from strategies import FACTOR

pytestmark = pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning", "ignore::RuntimeWarning")


def cases(number=400, longest=60):
    rng = np.random.default_rng(11)
    number = max(10, round(FACTOR * number))
    while number:
        n = int(rng.integers(2, longest))
        y, p = ((np.cumsum(rng.random(n + 1) < rng.uniform(0.05, 0.7)) % 2)[1:].astype(int) for _ in range(2))
        if y.any() and p.any():
            number -= 1
            yield y, p


@pytest.fixture(scope="module")
def peer():
    pytest.importorskip("tsadmetrics", reason="tsadmetrics is in the extra [parity]")
    from tsadmetrics.metrics.Registry import Registry, auto_register

    if not Registry.available_metrics():
        auto_register()
    return Registry.get_metric


EQUAL = [
    ("ttf", {"t": 3, "beta": 2.0}, "time_tolerant_f1", {"tolerance": 3, "beta": 2.0}),
    ("td", {}, "temporal_distance", {}),
    ("eds", {}, "early_detection_score", {}),
    ("wdd", {"k": 4}, "weighted_detection_difference", {"tolerance": 4}),
    ("adc", {}, "average_detection_count", {}),
    ("paklf", {"k": 0.4, "l": 2, "beta": 0.5}, "f1_pa_kl", {"k": 0.4, "reach": 2, "beta": 0.5}),
    ("bpaf", {"w": 3}, "balanced_f1_pa", {"width": 2, "form": "false"}),
    ("bpaf", {"w": 4, "beta": 2.0}, "balanced_f1_pa", {"width": 2, "form": "false", "beta": 2.0}),
    ("dicec", {}, "f1", {}),
]


@pytest.mark.parametrize(("theirs", "their_options", "ours", "our_options"), EQUAL)
def test_equals_tsadmetrics(peer, theirs, their_options, ours, our_options):
    metric = peer(theirs, **their_options)
    for y, p in cases():
        found = getattr(te.metrics, ours)(y, p, **our_options)
        assert found == pytest.approx(float(metric.compute(y, p)), abs=1e-12)


def test_ranges_equal_tsadmetrics_away_from_the_start(peer):
    """Its windows that would begin before the series begin at its end instead."""
    from tsadmetrics.metrics.tem.ptdm import DetectionAccuracyInRange, TotalDetectedInRange

    for y, p in cases():
        y = np.concatenate([np.zeros(5, int), y])
        p = np.concatenate([np.zeros(5, int), p])
        assert te.metrics.total_detected_in_range(y, p) == pytest.approx(TotalDetectedInRange(k=5).compute(y, p))
        expected = DetectionAccuracyInRange(k=5).compute(y, p)
        assert te.metrics.detection_accuracy_in_range(y, p, false="all") == pytest.approx(expected)
    assert TotalDetectedInRange(k=2).compute([0, 1], [1, 0]) == 0
    assert te.metrics.total_detected_in_range([0, 1], [1, 0], tolerance=2) == 1
    assert DetectionAccuracyInRange(k=1).compute([0, 0, 1], [0, 1, 0]) == 0.5
    assert te.metrics.detection_accuracy_in_range([0, 0, 1], [0, 1, 0], tolerance=1) == 1


def test_detection_distance_equals_tsadmetrics_for_odd_events(peer):
    from tsadmetrics.metrics.tem.tmem import AbsoluteDetectionDistance

    rng = np.random.default_rng(2)
    for _ in range(200):
        lengths = np.column_stack([rng.integers(1, 6, 4), 2 * rng.integers(0, 5, 4) + 1]).ravel()
        y = np.repeat(np.tile([0, 1], 4), lengths)
        p = (rng.random(len(y)) < 0.4).astype(int)
        if (y & p).any():
            expected = AbsoluteDetectionDistance().compute(y, p)
            assert te.metrics.absolute_detection_distance(y, p) == pytest.approx(expected, abs=1e-12)
    assert [AbsoluteDetectionDistance().compute([1, 1], p) for p in ([1, 0], [0, 1])] == [0, 0.5]
    assert [te.metrics.absolute_detection_distance([1, 1], p) for p in ([1, 0], [0, 1])] == [0.25, 0.25]


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_latency_sparsity_equals_tsadmetrics_where_events_are_apart(peer, batch):
    from tsadmetrics.metrics.tem.dpm import LatencySparsityawareFScore

    rng = np.random.default_rng(3)
    for _ in range(200):
        gaps, lengths = rng.integers(2 * batch, 6 * batch, 4), rng.integers(1, 12, 4)
        y = np.repeat(np.tile([0, 1], 4), np.column_stack([gaps, lengths]).ravel())
        p = (rng.random(len(y)) < rng.uniform(0.02, 0.3)).astype(int)
        expected = float(LatencySparsityawareFScore(ni=batch).compute(y, p))
        assert te.metrics.latency_sparsity_f1(y, p, batch=batch) == pytest.approx(expected, abs=2e-5)
    wrong = {2: ([1, 0, 1, 0, 1], [1, 0, 0, 0, 0], 1, 0.5), 5: ([1, 0, 0, 0, 1], [0, 0, 0, 1, 0], 0, 1)}
    if batch in wrong:
        y, p, theirs, right = wrong[batch]
        found = LatencySparsityawareFScore(ni=batch).compute(np.array(y), np.array(p))
        assert float(found) == pytest.approx(theirs, abs=1e-5)
        assert te.metrics.latency_sparsity_f1(y, p, batch=batch) == right


def test_adjusted_areas_equal_tsadmetrics(peer):
    from tsadmetrics.metrics.tem.tpdm import PointadjustedAucPr, PointadjustedAucRoc

    rng = np.random.default_rng(4)
    for y, _ in cases(200, 300):
        if y.all():
            continue
        s = rng.random(len(y)) if rng.random() < 0.5 else rng.integers(0, 9, len(y)) / 4
        assert te.metrics.auc_roc_pa(y, s) == pytest.approx(PointadjustedAucRoc().compute(y, s), abs=1e-12)
        expected = PointadjustedAucPr().compute(y, s)
        assert te.metrics.auc_pr_pa(y, s, interpolation="trapezoid") == pytest.approx(expected, abs=1e-12)


def stamps(points):
    import pandas as pd

    return pd.Timestamp("2026-01-01") + pd.to_timedelta(np.asarray(points), unit="s")


def spans(y, **columns):
    """Events as labels that end just before the next point."""
    import pandas as pd

    found = [tuple(pair) for pair in te.intervals(y, np.arange(len(y)))]
    return [
        {
            "ID": f"{start}",
            "StartTime": stamps([start])[0],
            "EndTime": stamps([stop])[0] - pd.Timedelta(1, "ns"),
            **columns,
        }
        for start, stop in found
    ]


def test_timing_quality_equals_telemeval():
    pd = pytest.importorskip("pandas")
    adtqc = pytest.importorskip("telemeval.metrics.adtqc", reason="telemeval is in the extra [parity]")
    for y, p in cases(80):
        inputs = {
            "global_labels": pd.DataFrame(spans(y)),
            "global_predictions": pd.DataFrame({"Timestamp": stamps(np.arange(len(y))), "Score": p}),
        }
        for exponent in (np.e, 1.5):
            expected = adtqc.score_adtqc(inputs, exponent=exponent)["adtqc_total"]
            found = te.metrics.adtqc(y, p, exponent=exponent)
            assert np.isnan(found) if expected is None else found == pytest.approx(expected, abs=1e-7)


def test_channels_equal_telemeval():
    pd = pytest.importorskip("pandas")
    channels = pytest.importorskip("telemeval.metrics.channel_aware", reason="telemeval is in the extra [parity]")
    rng = np.random.default_rng(5)
    for _ in range(30):
        n = int(rng.integers(5, 30))
        y, p = (rng.random((n, 3)) < rng.uniform(0.05, 0.4) for _ in range(2))
        if not y.any() or not p.any():
            continue
        rows = []
        for start, stop in (tuple(pair) for pair in te.intervals(y.any(axis=1), np.arange(n))):
            for c in range(3):
                part = np.zeros(n, int)
                part[start:stop] = y[start:stop, c]
                rows += [{**span, "ID": f"{start}"} for span in spans(part, Channel=f"c{c}")]
        inputs = {
            "channel_labels": pd.DataFrame(rows),
            "channel_predictions": {
                f"c{c}": pd.DataFrame({"Timestamp": stamps(np.arange(n)), "Score": p[:, c].astype(int)})
                for c in range(3)
            },
            "target_channels": ["c0", "c1", "c2"],
        }
        groups = {"a": [0, 1], "b": [2]}
        mapping = {name: [f"c{c}" for c in members] for name, members in groups.items()}
        found = channels.score_channel_aware(inputs, subsystems_mapping=mapping)
        for kind, options in (("channel", {}), ("subsystem", {"subsystems": groups})):
            expected = [found[f"{kind}_{part}"] for part in ("precision", "recall", "fbeta")]
            assert te.metrics.channel_aware(y, p, **options) == pytest.approx(expected, abs=1e-12)
