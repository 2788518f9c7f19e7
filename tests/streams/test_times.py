"""Metrics of streams whose options are times: the value of the whole series, whatever the cut and the stamps."""

import pickle
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples, scorings
from tsadeval.core.facts import Reason
from tsadeval.core.metric import METRICS, parse_metric
from tsadeval.core.parameters import Span
from tsadeval.errors import InvalidInputError, InvalidParameterError, UndefinedMetricWarning
from tsadeval.streams import runs as timed
from tsadeval.streams.stream import Stream

IN_TIME = [
    "alarm_episodes(merge_gap='3s')",
    "alarm_episodes(merge_gap='1s', min_duration='4s')",
    "detection_delay(unit='s')",
    "detection_delay(missed='length', unit='min', statistic='p90')",
    "event_precision(early='4s')",
    "event_recall(early='4s')",
    "event_recall(early='1min')",
    "expected_cost(delay_per_hour=3600)",
    "false_alarms(per='min')",
    "false_alarms(per='h', early='3s')",
    "time_in_alarm",
    "time_to_recover(unit='s')",
]
OTHERS = ["f1", "event_f1", "cce", "false_alarms"]


def values_of(metrics, y, s, times, threshold):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_alarms = te.evaluate(y, y_pred=s > threshold, metrics=[m for m in metrics if m != "cce"], times=times)
        return {**of_alarms, **te.evaluate(y, s, "cce")}


@examples(80)
@given(st.data(), scorings(max_size=60, both=False), st.randoms(use_true_random=False))
def test_any_cut_gives_the_value_of_the_whole(data, series, random):
    y, s = series
    s = s / 2
    steps = st.integers(1, 5) if data.draw(st.booleans()) else st.just(2)
    steps = data.draw(st.lists(steps, min_size=len(y), max_size=len(y)))
    for place in data.draw(st.lists(st.integers(0, len(y) - 1), max_size=2)):  # gaps in the data
        steps[place] = data.draw(st.integers(10, 500))
    times = np.cumsum(steps) - 7
    threshold = data.draw(st.sampled_from([0.4, 0.1, 2.0, -1.0]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(y)), max_size=6)))
    pieces = zip(*(np.split(column, cuts) for column in (y, s, times)), strict=True)
    metrics = [*IN_TIME, *OTHERS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timed, "_PENDING", random.choice([1, 2, 256]))  # pieces are joined early or late
        streams = [Stream(metrics, threshold=threshold, timed=True).update(*piece) for piece in pieces]
        while len(streams) > 1:
            i = random.randrange(len(streams) - 1)
            streams[i].merge(pickle.loads(pickle.dumps(streams.pop(i + 1))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = streams[0].result()
    expected = values_of(metrics, y, s, times, threshold)
    gaps, alarmed = te.times(times).after_gap, np.append(False, s[:-1] > threshold)  # before a point
    for row in found.rows:
        if row["reason"] == Reason.NOT_STREAMED:
            assert np.any(gaps & alarmed)
            assert "goes on over a gap in the times" in row["message"]
            del expected[row["metric"]]
    kept = {name: value for name, value in found.items() if name in expected}
    assert kept == pytest.approx(expected, rel=1e-12, nan_ok=True)
    for row in found.rows:
        if row["alarmed_points"] is not None:
            assert row["alarmed_points"] == np.count_nonzero(s > threshold)


def test_every_metric_with_times_is_offered_or_refused():
    with_times = [
        m for m in METRICS.values() if "unit" in m.checks or any(isinstance(check, Span) for check in m.checks.values())
    ]
    offered = {parse_metric(text).name for text in IN_TIME}
    assert offered == set(timed._OFFERED)
    for metric in with_times:
        if metric.name in offered:
            continue
        name = next(name for name, check in metric.checks.items() if isinstance(check, Span))
        with pytest.raises(InvalidParameterError, match="time stamps of all points at once"):
            Stream(metric.with_options(**{name: "3s"}), threshold=0.5, timed=True)


def test_what_is_wrong_is_said(monkeypatch):
    with pytest.raises(InvalidParameterError, match="pass time="):
        Stream("false_alarms(per='week')", threshold=0.5)
    with pytest.raises(InvalidParameterError, match="per must be a duration as well"):
        Stream("false_alarms(early='3s')", threshold=0.5, timed=True)
    stream = Stream(["false_alarms(per='week')", "f1"], threshold=0.5, timed=True)
    stream.update([0, 1, 0], [0.1, 0.9, 0.8], [0, 1, 2])
    with pytest.raises(InvalidInputError, match=r"begins at point 3: times must increase: .* sort the rows by time"):
        stream.update([0, 1], [0.1, 0.9], [2, 3])
    with pytest.raises(InvalidInputError, match=r"begins at point 3: times are dates, but those .* are numbers"):
        stream.update([0], [0.1], ["2026-01-01"])
    with pytest.raises(InvalidInputError, match="begins at point 3: times must be given with every batch"):
        stream.update([0], [0.1])
    assert stream.n == 3
    assert stream.result()["f1"] == pytest.approx(2 / 3)
    with pytest.raises(InvalidInputError, match=r"must be tuples \(y_true, y_score, times\)"):
        te.evaluate_stream([([0, 1], [0.1, 0.9])], "f1", threshold=0.5, time="time")
    monkeypatch.setattr(timed, "_MOST_STEPS", 2)
    stream.update([0] * 3, [0.1] * 3, [3, 5, 8]).update([0], [0.1], [12])
    with pytest.raises(InvalidInputError, match="more than 2 different steps"):
        stream.result()


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_files_with_time_stamps(tmp_path, suffix):
    rng = np.random.default_rng(0)
    n = 3000
    y = np.repeat(rng.random(n // 20) < 0.1, 20)
    s = rng.random(n) + 0.4 * y
    times = np.datetime64("2026-01-01", "s") + np.cumsum(rng.integers(1, 90, n)).astype("m8[s]")
    name = np.array(["a", "b"])[rng.integers(0, 2, n)]
    table = pa.table({"half": name, "at": times, "label": y.astype(int), "score": s})
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pq.write_table(table, path, row_group_size=400)
    metrics = ["false_alarms(per='h')", "detection_delay(unit='min')", "event_recall(early='30min')", "f1"]
    for n_jobs in (None, 2):
        found = te.evaluate_stream(path, metrics, threshold=0.9, time="at", n_jobs=n_jobs)
        assert dict(found) == pytest.approx(dict(te.evaluate(y, s, metrics, threshold=0.9, times=times)))
        each = te.evaluate_stream(path, metrics, threshold=0.9, time="at", by="half", n_jobs=n_jobs)
        for row in each.rows:
            own = name == row["series"]
            expected = te.evaluate(y[own], s[own], row["metric"], threshold=0.9, times=times[own])
            assert row["value"] == pytest.approx(expected[row["metric"]]), row

    from typer.testing import CliRunner

    from tsadeval.cli.app import app

    options = ["--stream", "--time", "at", "--metrics", metrics[0], "--threshold", "0.9", "--format", "csv"]
    shown = CliRunner().invoke(app, ["score", str(path), *options])
    assert shown.exit_code == 0, shown.output
    assert repr(float(te.evaluate_stream(path, metrics[0], threshold=0.9, time="at")[metrics[0]])) in shown.output
