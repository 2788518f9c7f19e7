"""Naive times in a time zone: the hour that comes twice, the one that is skipped, offsets beside naive times."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples
from tsadeval.core.times import read_times
from tsadeval.errors import InvalidInputError, InvalidParameterError

ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata", "UTC"]


@examples(60)
@given(st.sampled_from(ZONES), st.integers(2010, 2035), st.sampled_from([5, 10, 15, 30]), st.integers(0, 59))
def test_a_year_of_naive_times_is_what_it_was(zone, year, step, shift):
    stamps = pd.date_range(f"{year}-01-01", f"{year + 1}-01-01", freq=f"{step}min", tz="UTC") + pd.Timedelta(
        minutes=shift
    )
    there = stamps.tz_convert(zone)
    found = read_times(there.tz_localize(None), tz=zone)
    assert (found.stamps == stamps.as_unit("ns").asi8).all()
    assert found.at(0) == there[0]
    assert str(found.at(0)) == str(there[0])  # shown in the zone of the input


def doubled(*clock):
    return [f"2026-10-25 {one}" for one in clock]


@pytest.mark.parametrize(
    ("clock", "hours"),
    [
        (["01:45", "02:00", "02:30", "02:00", "02:30", "03:00"], [23.75, 24, 24.5, 25, 25.5, 26]),
        (["01:30", "02:00", "02:30"], [23.5, 24, 24.5]),  # the data end in the first of the two
        (["02:00", "02:30", "03:00"], [25, 25.5, 26]),  # they begin in the second one
        (["01:30", "02:00", "02:30", "09:00", "09:30"], [23.5, 24, 24.5, 32, 32.5]),  # before a gap
        (["02:30", "02:15", "02:45"], [24.5, 25.25, 25.75]),
        (["00:00", "02:00", "02:00", "03:00"], [22, 24, 25, 26]),  # every hour
    ],
)
def test_the_order_says_which_of_two_hours_it_is(clock, hours):
    found = te.times(doubled(*clock), tz="Europe/Berlin")
    assert ((found.stamps - pd.Timestamp("2026-10-24", tz="UTC").value) / 3.6e12).tolist() == hours


@pytest.mark.parametrize("clock", [["01:30", "02:00", "02:30", "03:00"], ["00:30", "02:30", "04:30"]])
def test_an_hour_that_is_there_once_is_refused_with_its_place(clock):
    with pytest.raises(InvalidInputError, match=r"row 1 comes twice in Europe/Berlin, .* give offsets") as caught:
        te.times(doubled(*clock), tz="Europe/Berlin")
    assert "sort" not in str(caught.value)


def test_an_hour_that_is_skipped_is_refused():
    with pytest.raises(InvalidInputError, match="row 1, row 2 is an hour that Europe/Berlin skips"):
        te.times(["2026-03-29 01:30", "2026-03-29 02:00", "2026-03-29 02:30"], tz="Europe/Berlin")


def test_without_a_zone_the_clocks_are_named():
    stamps = pd.date_range("2026-10-24 12:00", periods=200, freq="10min", tz="Europe/Berlin").tz_localize(None)
    for given_as in (stamps, [str(stamp) for stamp in stamps]):
        with pytest.raises(InvalidInputError, match=r"clocks went back at row 90 .*02:00:00.*give tz=") as caught:
            te.times(given_as)
        assert "sort" not in str(caught.value)
    with pytest.raises(InvalidInputError, match="sort"):
        te.times(["2026-10-25 12:00", "2026-10-25 11:00", "2026-10-25 13:00"])


@pytest.mark.parametrize(
    ("zone", "day", "row"),
    [
        ("Africa/Cairo", "2025-10-29", 192),  # in the night to a Friday
        ("America/Nuuk", "2025-10-24", 192),  # to 23:00 of a Saturday
        ("Australia/Lord_Howe", "2026-04-04", 104),  # by half an hour
    ],
)
def test_clocks_that_go_back_otherwise(zone, day, row):
    stamps = pd.date_range(day, periods=400, freq="15min", tz=zone).tz_localize(None)
    with pytest.raises(InvalidInputError, match=f"clocks went back at row {row} .*give tz="):
        te.times(stamps)
    with pytest.raises(InvalidInputError, match="sort"):  # no clock is set back at noon
        te.times(stamps + pd.Timedelta("12h"))
    with pytest.raises(InvalidInputError, match="sort"):  # nor in January, but copies of an hour are there
        te.times(stamps + (pd.Timestamp("2014-01-07") - pd.Timestamp(day)))
    hours = pd.date_range(day, periods=400, freq="h")
    with pytest.raises(InvalidInputError, match="repeats row 22; drop one"):
        te.times(hours[[*range(23), *range(22, 400)]])


def test_offsets_hold_beside_naive_times():
    mixed = ["2026-06-01 12:00", "2026-06-01 11:00Z", "2026-06-01 14:00+02:00", "2026-06-01 15:00"]
    found = te.times([*mixed[:2], "2026-06-01 13:30+02:00", *mixed[3:]], tz="Europe/Berlin")
    assert np.diff(found.stamps).tolist() == [3600 * 10**9, 1800 * 10**9, 5400 * 10**9]
    with pytest.raises(InvalidInputError, match=r"row 1 .* not of the same kind: give tz="):
        te.times(mixed)
    assert str(te.times(["2026-06-01 12:00+02:00", "2026-06-01 13:00+02:00"]).at(0)) == "2026-06-01 12:00:00+02:00"
    assert (
        str(te.times(["2026-06-01 12:00Z", "2026-06-01 13:00Z"], tz="Europe/Berlin").at(0))
        == "2026-06-01 12:00:00+00:00"
    )


def test_no_such_zone():
    for zone in ("Europe/Berln", "", "/etc", "+99:00"):
        with pytest.raises(InvalidParameterError, match="tz must be a time zone such as Europe/Berlin"):
            te.times(["2026-01-01"], tz=zone)
    with pytest.raises(InvalidParameterError, match="tz must be a time zone"):
        te.Scores({"a": [1, 2]}, [0, 1], tz="Berlin")


def test_incidents_in_the_hour_that_comes_twice():
    times = te.times(pd.date_range("2026-10-25", periods=36, freq="15min", tz="Europe/Berlin"), tz="Europe/Berlin")
    assert np.flatnonzero(te.labels(doubled_pairs("02:30", "02:10"), times)).tolist() == [10, 11, 12]
    with pytest.raises(InvalidInputError, match=r"row 0 comes twice in Europe/Berlin, .* give offsets"):
        te.labels(doubled_pairs("02:10", "02:40"), times)
    fitting = {"outside": "clip"}
    late = te.times(pd.date_range("2026-10-25 06:00", periods=4, freq="h", tz="Europe/Berlin"), tz="Europe/Berlin")
    assert te.labels(doubled_pairs("02:10", "07:00"), late, **fitting).tolist() == [
        1,
        0,
        0,
        0,
    ]  # before the data anyway
    whole = te.labels([("2026-10-25 02:10+02:00", "2026-10-25 03:00")], times)
    assert np.flatnonzero(whole).tolist() == [*range(9, 16)]


def doubled_pairs(start, end):
    return [tuple(doubled(start, end))]


def test_evaluate_lays_spans_in_the_zone_of_the_times():
    stamps = pd.date_range("2026-06-01", periods=6, freq="h", tz="Europe/Berlin")
    times = te.times(stamps.tz_localize(None), tz="Europe/Berlin")
    found = te.evaluate(
        [0, 1, 0, 0, 1, 0],
        [0, 1, 0, 0, 0, 0.5],
        "recall",
        threshold=0.7,
        times=times,
        ignore=[("2026-06-01 04:00", "2026-06-01 05:00")],
    )
    assert found["recall"] == 1
    assert found.rows[0]["ignored_points"] == 1


def test_a_short_table_over_the_change_of_clocks_is_one_series(tmp_path):
    times = pd.date_range("2026-10-24 20:00", periods=40, freq="15min", tz="Europe/Berlin")
    frame = pd.DataFrame(
        {"time": times.strftime("%Y-%m-%d %H:%M"), "label": np.arange(40) // 20, "score": np.arange(40)}
    )
    frame.to_csv(tmp_path / "day.csv", index=False)
    for given_as in (tmp_path / "day.csv", frame):  # the texts of a frame are texts
        (one,) = te.Scores(given_as, time="time", tz="Europe/Berlin")
        assert (one.given.times.stamps == times.as_unit("ns").asi8).all()
    with pytest.raises(InvalidInputError, match=r"clocks went back at line 30 .*give tz="):
        repr(te.Scores(tmp_path / "day.csv", time="time"))
    twice = pd.concat([frame, frame]).sort_values("time", kind="stable")
    for again in (twice, twice.assign(time="2026-02-30 12:00"), twice.assign(time=twice["time"] + "Z")):
        with pytest.raises(InvalidInputError, match="several series"):
            repr(te.Scores(again, time="time", tz="Europe/Berlin"))


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_incidents_and_ignored_spans_hold_in_a_zone_of_their_own(tmp_path, zone):
    times = pd.date_range("2026-10-24 20:00", periods=60, freq="15min", tz="Europe/Berlin")
    frame = pd.DataFrame({"host": "a", "time": times.tz_localize(None), "score": np.arange(60.0)})
    there = times[[29, 40]].tz_convert(zone)  # the first one is in the second one of the two hours
    column = pd.DataFrame({"host": ["a"], "start": there[:1], "end": there[1:]})
    texts = column.assign(start=there[0].isoformat(), end=there[1].isoformat())
    column.to_parquet(tmp_path / "spans.parquet")
    texts.to_csv(tmp_path / "spans.csv", index=False)
    for spans in (column, texts, tmp_path / "spans.parquet", tmp_path / "spans.csv"):
        for name in ("incidents", "ignore"):
            given_as = {"incidents": texts, name: spans}
            (one,) = te.Scores(frame, by="host", time="time", score="score", tz="Europe/Berlin", **given_as)
            found = one.given.y_true if name == "incidents" else one.given.ignore
            assert np.flatnonzero(found).tolist() == [*range(29, 40)]
    still_open = column.assign(end=pd.DatetimeIndex([None]).tz_localize(zone))
    (one,) = te.Scores(frame, by="host", time="time", score="score", tz="Europe/Berlin", incidents=still_open)
    assert np.flatnonzero(one.given.y_true).tolist() == [*range(29, 60)]
