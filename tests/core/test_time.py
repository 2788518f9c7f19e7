"""Time stamps, durations, rates; incidents as intervals; scores of windows."""

import gzip
import json
import math
import time
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from naive.align import by_points, by_time
from strategies import examples, labels
from tsadeval.core.durations import SECOND, UNITS, duration_text, nanoseconds, rate_of
from tsadeval.core.times import read_times
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from tsadeval.scores.companions import Spans

DATES = np.array(["2026-01-01T00:00", "2026-01-01T00:10", "2026-01-01T00:25"], "datetime64[m]")
CLOSED = ["left", "right", "both", "neither"]


@st.composite
def stamps(draw, n):
    """n increasing whole numbers of milliseconds, regular or not, from any day."""
    start = draw(st.integers(-(10**12), 2 * 10**12))
    if draw(st.booleans()):
        return start + draw(st.integers(1, 10**6)) * np.arange(n)
    return start + np.cumsum(draw(st.lists(st.integers(1, 10**6), min_size=n, max_size=n)))


FORMS = {
    "datetime64": lambda ms: ms.astype("datetime64[ms]"),
    "nanoseconds": lambda ms: ms.astype("datetime64[ms]").astype("datetime64[ns]"),
    "pandas": lambda ms: pd.DatetimeIndex(ms.astype("datetime64[ms]")),
    "pandas series": lambda ms: pd.Series(ms.astype("datetime64[ms]"), index=ms[::-1]),
    "pandas zone": lambda ms: pd.DatetimeIndex(ms.astype("datetime64[ms]")).tz_localize("UTC").tz_convert("Asia/Tokyo"),
    "polars": lambda ms: pl.Series(ms.astype("datetime64[ms]")),
    "polars zone": lambda ms: pl.Series(ms.astype("datetime64[ms]")).dt.replace_time_zone("UTC"),
    "arrow": lambda ms: pa.array(ms, pa.timestamp("ms")),
    "arrow zone": lambda ms: pa.chunked_array([pa.array(ms, pa.timestamp("ms", tz="Asia/Tokyo"))]),
    "objects": lambda ms: [datetime(1970, 1, 1) + timedelta(milliseconds=int(v)) for v in ms],
    "objects with zone": lambda ms: [
        datetime(1970, 1, 1, 9, tzinfo=timezone(timedelta(hours=9))) + timedelta(milliseconds=int(v)) for v in ms
    ],
    "texts": lambda ms: [str(v) for v in ms.astype("datetime64[ms]")],
    "texts with zone": lambda ms: [f"{v}Z" for v in ms.astype("datetime64[ms]")],
    "timedelta64": lambda ms: ms.astype("timedelta64[ms]"),
    "milliseconds": lambda ms: te.times(ms, unit="ms"),
    "float milliseconds": lambda ms: te.times(ms.astype(float), unit="ms"),
    "seconds": lambda ms: ms / 1000,
}


@pytest.mark.parametrize("form", FORMS)
@examples(50)
@given(data=st.data())
def test_stamps_of_every_kind_are_the_same_nanoseconds(form, data):
    ms = data.draw(stamps(data.draw(st.integers(1, 6))))
    found = read_times(FORMS[form](ms))
    # A float of seconds since 1970 has a quarter of a microsecond.
    assert found.stamps == pytest.approx(ms * 10**6, abs=300 if form == "seconds" else 0)
    assert read_times(found) is found


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "empty"),
        (DATES[::-1], r"row 1 \(2026-01-01T00:10:00\) is before row 0 .*sort"),
        (DATES[[0, 1, 1, 2]], r"row 2 \(2026-01-01T00:10:00\) repeats row 1; drop one"),
        ([0.0, math.nan, 2.0], "missing in row 1"),
        ([0.0, 1.0, math.inf], "missing in row 2"),
        (pd.DatetimeIndex(["2026-01-01", pd.NaT]), "missing in row 1"),
        (["2026-01-01", "01/02/2026"], "row 1 is '01/02/2026'.*ISO 8601"),
        (["2026-01-01", "2026-13-01"], "row 1 is '2026-13-01'"),
        (["2026-01-01", None], "row 1 is None"),
        (["2026-01-01 00:00+99:99"], r"row 0 is '2026-01-01 00:00\+99:99'"),
        (["2026-01-01 00:00+14:75"], r"row 0 is '2026-01-01 00:00\+14:75'"),
        (pa.array([0], pa.timestamp("s", tz="+99:99")), r"no time zone '\+99:99': offsets are less than 24 hours"),
        (["2026-01-01", "2026-01-02T00:00Z"], "row 1 .* and row 0 .* same kind"),
        ([datetime(2026, 1, 1), pd.NaT], "row 1 is NaT"),
        (np.array(["0001-01-01", "2026-01-01"], "datetime64[D]"), "row 0 .*1677"),
        (np.array([1.7e12, 1.7e12 + 60]), "row 0 .*unit='ms'"),
        (DATES.reshape(1, 3), "one-dimensional"),
        ([[1, 2], [3]], "cannot be read"),
        (np.array([True, False]), "dtype bool"),
        (np.array([1j]), "dtype complex"),
    ],
)
def test_bad_stamps_name_the_row(values, message):
    with pytest.raises(InvalidInputError, match=message) as caught:
        te.times(values)
    assert "\n" not in str(caught.value)


def test_stamps_correspond_to_points():
    with pytest.raises(InvalidInputError, match="2 points"):
        read_times(DATES, n=2)
    with pytest.raises(InvalidParameterError, match=r"unit.*'m'"):
        te.times([1, 2], unit="m")


def test_every_point_stands_for_the_time_to_the_next():
    found = read_times(DATES)
    minutes = found.durations / UNITS["min"]
    assert minutes.tolist() == [10, 15, 15]  # the last one for the median step
    assert found.total == found.durations.sum()
    assert read_times([5]).durations.tolist() == [SECOND]
    assert repr(found) == "Times(3 dates, 2026-01-01T00:00:00 to 2026-01-01T00:25:00)"
    assert repr(te.times([0, 0.5])) == "Times(2 numbers, 0.0 to 0.5)"


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        ("30min", 1800),
        ("1h 30min", 5400),
        ("1h30min", 5400),
        ("1.5 hours", 5400),
        (".5 s", 0.5),
        ("1 week 2 days", 9 * 86400),
        ("250ms", 0.25),
        (90, 90),
        (0.1, 0.1),
        (np.float32(0.5), 0.5),
        (timedelta(minutes=30), 1800),
        (np.timedelta64(3, "h"), 10800),
        (pd.Timedelta("1D"), 86400),
        (pd.Timedelta(7, "ns"), 7e-9),
        (0, 0),
    ],
)
def test_durations(duration, seconds):
    assert nanoseconds(duration) == round(seconds * SECOND)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (59.5, "59.5 s"),
        (60, "1 min"),
        (3599, "59 min 59 s"),
        (3600, "1 h"),
        (86399, "23 h 59 min"),
        (86400, "1 d"),
        (86400 + 3599, "1 d"),
        (10 * 86400 + 7200, "10 d 2 h"),
    ],
)
def test_durations_as_people_say_them(seconds, text):
    assert duration_text(round(seconds * SECOND)) == text


@pytest.mark.parametrize(
    "duration",
    [
        *[
            "",
            "30",
            "min",
            "30 parsecs",
            "1h,30min",
            "-5s",
            None,
            True,
            math.nan,
            -1,
            timedelta(-1),
            "300000 weeks",
            [1],
        ],
        *[np.timedelta64("NaT"), pd.NaT, pd.Timedelta("nat"), "1M", "3m"],
    ],
)
def test_bad_durations(duration):
    with pytest.raises(InvalidParameterError, match="tolerance must be"):
        nanoseconds(duration, "tolerance")


@pytest.mark.parametrize("form", ["{}", "{}s", "0.{}s", None])
def test_durations_of_too_many_digits_are_refused_in_a_line(form):
    """Python reads and writes no integer so long, and searching such a text for its unit took minutes."""
    begin = time.perf_counter()
    duration = 10**100_000 if form is None else form.format("1" * 100_000)
    for call in (
        lambda: nanoseconds(duration),
        lambda: te.alarms([1], [0, 1, 2], hold=duration),
        lambda: rate_of(f"1/{duration}" if isinstance(duration, str) else duration),
        lambda: te.metrics.false_alarms([0, 1], [0, 1], per=duration if isinstance(duration, str) else [duration]),
    ):
        with pytest.raises(InvalidParameterError) as caught:
            call()
        assert len(str(caught.value)) < 500
    assert time.perf_counter() - begin < 5


@given(st.integers(0, 10**6), st.sampled_from(sorted(UNITS)))
def test_durations_do_not_depend_on_the_unit(number, unit):
    expected = number * UNITS[unit]
    if expected < 2**63:
        assert nanoseconds(f"{number}{unit}") == nanoseconds(f"{expected}ns") == expected
        assert nanoseconds(pd.Timedelta(expected, "ns")) == expected


def test_rates():
    assert rate_of("1/week") == 1 / UNITS["week"]
    assert rate_of(" 0.5 per hour ") == 0.5 / UNITS["h"]
    assert rate_of("3/30min") == 3 / nanoseconds("30min")
    for bad in ("1", "one/week", "1/", "1/fortnight", 3, None, "1/0s"):
        with pytest.raises(InvalidParameterError, match="max_false_alarms must be a rate"):
            rate_of(bad, "max_false_alarms")


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("form", FORMS)
@examples(12)
@given(data=st.data())
def test_labels_and_intervals_are_inverse(form, closed, data):
    y = data.draw(labels(min_size=1, max_size=12))
    times = FORMS[form](data.draw(stamps(len(y))))
    found = te.intervals(y, times, closed=closed)
    assert te.labels(found, times, closed=closed).tolist() == y.tolist()
    if found:
        frame = pd.DataFrame(found)
        assert te.labels(frame, times, closed=closed).tolist() == y.tolist()


@examples(300)
@given(data=st.data(), closed=st.sampled_from(CLOSED))
def test_labels_equal_the_definition(data, closed):
    times = data.draw(stamps(data.draw(st.integers(1, 15))))
    low, high = int(times[0]) - 5, int(times[-1]) + 5
    moment = st.one_of(st.sampled_from(times.tolist()), st.integers(low, high))
    pairs = [sorted(data.draw(st.tuples(moment, moment))) for _ in range(data.draw(st.integers(0, 5)))]
    pairs = [pair for pair in pairs if pair[0] < pair[1]]
    inside = {
        "left": lambda t, a, b: a <= t < b,
        "right": lambda t, a, b: a < t <= b,
        "both": lambda t, a, b: a <= t <= b,
        "neither": lambda t, a, b: a < t < b,
    }[closed]
    expected = [int(any(inside(t, a, b) for a, b in pairs)) for t in times.tolist()]
    found = te.labels(pairs, te.times(times, unit="ms"), closed=closed, overlap="merge", outside="clip", between="drop")
    assert found.tolist() == expected


MINUTES = np.arange("2026-01-01T00:00", "2026-01-01T01:00", 10, "datetime64[m]")  # 0, 10, ..., 50


@pytest.mark.parametrize(
    ("incidents", "message"),
    [
        (
            [("2026-01-01 00:20", "2026-01-01 00:30"), ("2026-01-01 00:20", "2026-01-01 00:10")],
            r"row 1 .* stops before it",
        ),
        ([("2026-01-01 00:20", "2026-01-01 00:20")], "row 0 .* is empty; .*closed='both'"),
        ([("2026-01-01 00:21", "2026-01-01 00:22")], r"row 0 \[2026-01-01T00:21:00, .*no time stamp inside"),
        ([("2025-12-31 00:00", "2026-01-01 00:22")], "row 0 .* reaches beyond .*outside='clip'"),
        ([("2026-01-01 00:20", "2026-02-01 00:22")], "row 0 .* reaches beyond"),
        ([("2025-12-31", "2026-01-01 00:22"), ("2025-12-31", "2026-01-01 00:22")], r"row 0 .*, row 1 .* beyond"),
        (
            [("2026-01-01 00:30", "2026-01-01 00:50"), ("2026-01-01 00:10", "2026-01-01 00:31")],
            "row 0 .* overlaps row 1 .*merge",
        ),
        ([("2026-01-01 00:10", "2026-01-01 00:20"), ("2026-01-01 00:20", "2026-01-01 00:30")], "row 1 .* row 0"),
        ([("2026-01-01 00:10",)], "row 0 must be a pair"),
        (["2026-01-01"], "row 0 must be a pair"),
        ([(0, 10)], "numbers, but times are dates"),
        ([("2026-01-01 00:10Z", "2026-01-01 00:20Z")], "time zone, but times are dates.*tz="),
        ([("2026-01-01 00:10", "tomorrow")], "incidents, stop: row 0 is 'tomorrow'"),
        ([(pd.NaT, "2026-01-01")], "incidents, start: row 0 is NaT"),
        (5, "must be pairs"),
        (pd.DataFrame({"from": ["2026-01-01"], "to": ["2026-01-02"]}), "columns start and stop, found from, to"),
        ({"a": [], "b": []}, "windows of 2 series: say which with key="),
    ],
)
def test_bad_incidents_name_the_row(incidents, message):
    with pytest.raises(InvalidInputError, match=message) as caught:
        te.labels(incidents, MINUTES)
    assert "\n" not in str(caught.value)


def test_what_to_do_with_incidents_that_do_not_fit():
    early, late = ("2025-12-31 00:00", "2026-01-01 00:15"), ("2026-01-02 00:00", "2026-01-03 00:00")
    assert te.labels([early, late], MINUTES, outside="clip").tolist() == [1, 1, 0, 0, 0, 0]
    short = ("2026-01-01 00:21", "2026-01-01 00:22")
    assert te.labels([short], MINUTES, between="next").tolist() == [0, 0, 0, 1, 0, 0]
    assert te.labels([short], MINUTES, between="drop").sum() == 0
    after_the_last = ("2026-01-01 00:51", "2026-01-01 00:52")
    assert te.labels([after_the_last], MINUTES, between="next").tolist() == [0, 0, 0, 0, 0, 1]
    touching = [("2026-01-01 00:10", "2026-01-01 00:20"), ("2026-01-01 00:20", "2026-01-01 00:30")]
    assert te.labels(touching, MINUTES, overlap="merge").tolist() == [0, 1, 1, 0, 0, 0]
    assert te.labels([], MINUTES).tolist() == [0] * 6
    assert te.labels([(date(2026, 1, 1), "2026-01-01 00:20")], MINUTES).tolist() == [1, 1, 0, 0, 0, 0]
    for option in ("closed", "overlap", "outside", "between"):
        with pytest.raises(InvalidParameterError, match=f"{option} must be one of"):
            te.labels([], MINUTES, **{option: "maybe"})
    with pytest.raises(InvalidParameterError, match="closed must be one of"):
        te.intervals([0, 1], [0, 1], closed="open")


def test_stamps_of_arrow_keep_their_zone():
    """As those of pandas and polars do: spans without a zone are refused beside them, others are laid on them."""
    aware = pa.array(DATES.astype("datetime64[us]"), pa.timestamp("us", tz="Europe/Berlin"))
    naive = [(DATES[1], DATES[2])]
    for form in (aware, pl.from_arrow(aware), aware.to_pandas()):
        assert te.times(form).zone == "Europe/Berlin"
        with pytest.raises(InvalidInputError, match="start are dates, but times are dates with a time zone"):
            te.labels(naive, form)
        with pytest.raises(InvalidInputError, match="ignore, start are dates, but times are dates with a time zone"):
            te.evaluate([0, 1, 0], [0.1, 0.9, 0.2], "f1", times=form, ignore=naive)
        ends = {"start": aware[1:2], "stop": aware[2:3]}
        for incidents in (ends, pa.table(ends), pl.from_arrow(pa.table(ends))):
            assert te.labels(incidents, form).tolist() == [0, 1, 0]
            with pytest.raises(InvalidInputError, match="dates with a time zone, but times are dates"):
                te.labels(incidents, DATES)


START, STOP = "2026-01-01 00:10:00", "2026-01-01 00:30:00"
TABLE = [0, 1, 1, 0, 0, 0]


def test_tables_and_files(tmp_path):
    text = f"ticket,start,stop\n7,{START},{STOP}\n\n"
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "a.tsv").write_text(text.replace(",", "\t"))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "pairs.json").write_text(json.dumps([[START, STOP]]))
    (tmp_path / "columns.json").write_text(json.dumps({"start": [START], "end": [STOP]}))
    pd.DataFrame({"ticket": [7], "start": [START], "stop": [STOP]}).to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.tsv", "a.csv.gz", "a.parquet", "pairs.json", "columns.json"):
        assert te.labels(tmp_path / name, MINUTES).tolist() == TABLE
        assert te.labels(str(tmp_path / name), MINUTES).tolist() == TABLE
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        assert te.labels(frame({"start": [START], "end": [STOP]}), MINUTES).tolist() == TABLE
        assert te.labels(frame({"von": [START], "bis": [STOP]}), MINUTES, columns=("von", "bis")).tolist() == TABLE
    assert te.labels({"start": [START], "stop": [STOP]}, MINUTES).tolist() == TABLE
    (tmp_path / "numbers.csv").write_text("begin,end\n10,30\n")
    assert te.labels(tmp_path / "numbers.csv", [0, 10, 20, 30]).tolist() == [0, 1, 1, 0]


FORMATS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "feather": lambda frame, path: frame.to_feather(path),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True, date_format="iso"),
    "npz": lambda frame, path: np.savez(path, **{name: frame[name].to_numpy().astype("U") for name in frame}),
}


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("kind", ["dates", "zoned", "text", "numbers", "nanoseconds"])
def test_incidents_by_any_format_that_scores_can_have(tmp_path, ending, kind):
    """One reader for Python and the command line: names as "01" stay text, nanoseconds keep their digits."""
    first = 1_700_000_000_000_000_001
    given = {
        "dates": pd.to_datetime([START, STOP]),
        "zoned": pd.to_datetime([START, STOP]).tz_localize("UTC"),
        "text": [START, STOP],
        "numbers": [10, 30],
        "nanoseconds": [first, first + 2],
    }[kind]
    if ending == "jsonl" and kind in ("dates", "zoned"):
        given = [stamp.isoformat() for stamp in given]
    stamps = {"numbers": te.times(np.arange(0, 60, 10)), "nanoseconds": te.times(first - 1 + np.arange(6), unit="ns")}
    times = stamps.get(kind, te.times(pd.DatetimeIndex(MINUTES).tz_localize("UTC") if kind == "zoned" else MINUTES))
    frame = pd.DataFrame({"server": ["01", "1"], "start": [given[0]] * 2, "stop": [given[1]] * 2})
    path = tmp_path / f"incidents.{ending}"
    if ending == "npz" and kind in ("zoned", "numbers", "nanoseconds"):
        np.savez(path, server=["01", "1"], **{name: frame[name].to_numpy() for name in ("start", "stop")})
        if kind == "zoned":
            pytest.skip("NumPy's dates have no time zone")
    else:
        FORMATS[ending](frame, path)
    expected = [0, 1, 1, 0, 0, 0]
    assert te.labels(path, times, key="01").tolist() == expected
    assert te.labels(str(path), times, key="1", by="server").tolist() == expected
    with pytest.raises(InvalidInputError, match="so these are intervals of several series"):
        te.labels(path, times)
    spans = Spans(path, ["server"])
    assert spans.labels({"server": "01"}, "", times).tolist() == expected
    assert spans.labels({"server": "001"}, "", times).sum() == 0
    assert spans.labels({"server": "1"}, "", times, inside=True).tolist() == expected


def test_a_file_without_incidents_has_none(tmp_path):
    (tmp_path / "a.csv").write_text("start,stop\n")
    pd.DataFrame({"start": [], "stop": []}).to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        assert te.labels(tmp_path / name, MINUTES).sum() == 0
        assert Spans(tmp_path / name).labels({}, "", te.times(MINUTES)).sum() == 0


def test_windows_of_the_numenta_benchmark_include_both_ends(tmp_path):
    windows = {"a/x.csv": [[START, STOP]], "a/y.csv": []}
    (tmp_path / "windows.json").write_text(json.dumps(windows))
    for given_windows in (windows, tmp_path / "windows.json"):
        assert te.labels(given_windows, MINUTES, key="a/x.csv").tolist() == [0, 1, 1, 1, 0, 0]
        assert te.labels(given_windows, MINUTES, key="a/y.csv").sum() == 0
        assert te.labels(given_windows, MINUTES, key="a/x.csv", closed="left").tolist() == TABLE
        with pytest.raises(UnknownNameError, match=r"did you mean a/x\.csv"):
            te.labels(given_windows, MINUTES, key="a/xx.csv")
    assert te.labels({"x.csv": [[START, STOP]]}, MINUTES).sum() == 3


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("short.csv", "start,stop\n2026-01-01 00:10\n", "row 1 has 1 fields, but there are 2 column names"),
        ("empty.csv", "", "the file is empty"),
        ("bad.csv", "start,stop\n2026-01-01 00:10,soon\n", r"bad.csv, stop: line 2 is 'soon'"),
    ],
)
def test_bad_files(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        te.labels(tmp_path / name, MINUTES)
    with pytest.raises(InvalidInputError, match="no such file"):
        te.labels(tmp_path / "missing.csv", MINUTES)


def test_alarm_instants():
    times = [0, 10, 20, 30]
    assert te.alarms([0, 10.5, 11, 30], times).tolist() == [1, 0, 1, 1]
    assert te.alarms([], times).tolist() == [0, 0, 0, 0]
    assert te.alarms([5], times, hold="15s").tolist() == [0, 1, 0, 0]
    assert te.alarms([5], times, hold=15.5).tolist() == [0, 1, 1, 0]
    assert te.alarms(["2026-01-01 00:11"], MINUTES, hold="1h").tolist() == [0, 0, 1, 1, 1, 1]
    assert te.alarms([-1, 31, 3], times, outside="drop").tolist() == [0, 1, 0, 0]
    with pytest.raises(InvalidInputError, match=r"instants: row 1 \(31.*outside='drop'"):
        te.alarms([3, 31], times)
    with pytest.raises(InvalidInputError, match="instants are numbers, but times are dates"):
        te.alarms([3], MINUTES)
    with pytest.raises(InvalidParameterError, match="outside must be one of"):
        te.alarms([3], times, outside="clip")


@given(st.integers(1, 8), st.integers(1, 4), st.integers(0, 20), st.sampled_from(["last", "mean", "max"]), st.data())
def test_align_equals_the_definition(window, stride, extra, how, data):
    n = window + extra
    windows = extra // stride + 1
    scores = data.draw(st.lists(st.integers(-5, 5).map(float), min_size=windows, max_size=windows))
    found = te.align(scores, n, window=window, stride=stride, how=how)
    assert found == pytest.approx(by_points(scores, n, window, stride, how), abs=1e-12, nan_ok=True)


@given(st.data(), st.sampled_from(["last", "mean", "max"]), st.integers(0, 3 * 10**6))
def test_align_in_time_equals_the_definition(data, how, window):
    times, ends = (data.draw(stamps(data.draw(st.integers(1, 12)))) for _ in range(2))
    if data.draw(st.booleans()):
        ends = ends - ends[0] + times[0]
    scores = data.draw(st.lists(st.integers(-5, 5).map(float), min_size=len(ends), max_size=len(ends)))
    found = te.align(scores, te.times(times, unit="ms"), window=f"{window}ms", at=te.times(ends, unit="ms"), how=how)
    expected = by_time(scores, times.tolist(), ends.tolist(), window, how)
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_align_centers_as_tsb_uad_does():
    for window in (1, 2, 3, 10):
        scores = np.arange(25 - window + 1.0)
        before, after = math.ceil((window - 1) / 2), (window - 1) // 2
        expected = [scores[0]] * before + scores.tolist() + [scores[-1]] * after
        assert te.align(scores, 25, window=window, how="center").tolist() == expected


def test_align_one_window_per_point_and_fill():
    assert te.align([1, 2, 3], [0, 60, 180], window="2min", how="max").tolist() == [2, 2, 3]
    assert te.align([1, 2], [0, 60, 180], window="1min", at=[60, 180], fill=0).tolist() == [0, 1, 2]
    assert te.align([3], DATES, window=3, fill=-1).tolist() == [-1, -1, 3]


@pytest.mark.parametrize(
    ("scores", "index", "options", "message"),
    [
        ([1, 2], 5, {"window": 3}, "5 points have 3 windows of 3 points at stride 1, but there are 2 scores"),
        ([1], 2, {"window": 3}, "have 0 windows"),
        ([1, 2, math.nan], 5, {"window": 3}, "row 2"),
        ([[1, 2]], 5, {"window": 3}, "shape"),
        ([], 5, {"window": 3}, "scores is empty"),
        (["a"], 1, {"window": 1}, "numbers"),
        ([1], 1, {"window": 1, "how": "median"}, "how must be one of"),
        ([1], 1, {"window": 0}, "window must be an integer >= 1"),
        ([1], 1, {"window": 1, "stride": 0}, "stride must be an integer >= 1"),
        ([1], 1, {"window": True}, "window must be an integer >= 1"),
        ([1], 3, {"window": 3, "how": "center", "stride": 2}, "stride 1"),
        ([1, 2], DATES, {"window": "1h"}, "index has 3 time stamps"),
        ([1, 2], DATES, {"window": "1h", "at": DATES}, "at has 3 time stamps"),
        ([1, 2, 3], DATES, {"window": "1h", "how": "center"}, "counted in points"),
        ([1, 2, 3], DATES, {"window": "soon"}, "window must be a duration"),
        ([1, 2, 3], DATES[::-1], {"window": "1h"}, "index must increase"),
    ],
)
def test_bad_alignments(scores, index, options, message):
    with pytest.raises(InvalidInputError, match=message):
        te.align(scores, index, **options)
