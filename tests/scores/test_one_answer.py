"""What is said of a series in one way must not be lost, or mean something else, in another."""

import json
import pickle
from datetime import date, datetime
from functools import partial

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tsadeval as te
from tsadeval.cli.app import app
from tsadeval.errors import InvalidInputError, UnknownNameError

Y = np.array([0, 0, 1, 1, 0, 0, 1, 0])
S = np.array([0.1, 0.2, 0.9, 0.8, 0.1, 0.3, 0.7, 0.2])
HOURS = pd.date_range("2026-03-29", periods=8, freq="h", tz="Europe/Berlin")  # clocks go forward at 2 o'clock


@pytest.fixture
def zoned(tmp_path):
    """Scores with stamps in a time zone, and a way to score them on the command line."""
    stamps = [stamp.isoformat() for stamp in HOURS]
    pd.DataFrame({"time": stamps, "server": "web", "score": S}).to_csv(tmp_path / "scores.csv", index=False)

    def score(incidents, *more, by=()):
        pd.DataFrame(incidents).to_csv(tmp_path / "incidents.csv", index=False)
        given = ["--time", "time", "--incidents", str(tmp_path / "incidents.csv"), *by, "--format", "json", *more]
        return CliRunner().invoke(app, ["score", str(tmp_path / "scores.csv"), *given])

    return score


def test_incidents_without_a_time_zone_are_not_taken_for_utc(zoned):
    local = [{"start": "2026-03-29 03:00:00", "stop": "2026-03-29 05:00:00"}]
    found = zoned(local)
    assert found.exit_code == 2
    assert "start are dates, but times are dates with a time zone" in found.stderr
    good = zoned([{"start": "2026-03-29T03:00:00+02:00", "stop": "2026-03-29T05:00:00+02:00"}], "--metrics", "f1")
    assert good.exit_code == 0
    assert json.loads(good.stdout)[0]["anomalous_points"] == 2


def test_events_with_time_stamps_become_json(zoned):
    found = zoned([{"start": "2026-03-29T01:00:00Z", "stop": "2026-03-29T03:00:00Z"}], "--events")
    assert json.loads(found.stdout)[0]["start"] == "2026-03-29T01:00:00+00:00"
    for times, start in (
        (HOURS, "2026-03-29T03:00:00+02:00"),
        (HOURS.tz_localize(None), "2026-03-29T03:00:00"),
        (np.arange(8), 2),
        (np.arange(8).astype("m8[s]"), "2 seconds"),
    ):
        assert json.loads(te.events(Y, S, times=times, threshold=0.5).to_json())[0]["start"] == start


def test_incidents_of_a_series_that_is_not_there_are_named(zoned):
    spans = [
        {"server": name, "start": "2026-03-29T01:00:00Z", "stop": "2026-03-29T03:00:00Z"} for name in ("web", "wbe")
    ]
    found = zoned(spans, "--metrics", "f1", by=["--by", "server"])
    assert found.exit_code == 0
    assert "intervals of wbe are not used: no series is called so in server" in found.stderr
    assert "not used" not in zoned(spans[:1], "--metrics", "f1", by=["--by", "server"]).stderr


@pytest.mark.parametrize(
    "values",
    [
        ["1500-01-01", "1600-01-01"],
        [datetime(1500, 1, 1), datetime(1600, 1, 1)],
        [date(3000, 1, 1), date(3001, 1, 1)],
        np.array([0, 10**11], "m8[s]"),
        [pd.Timestamp("3000-01-01").as_unit("s")],
        pd.DatetimeIndex(["3000-01-01"]).as_unit("s").tz_localize("Europe/Berlin"),
    ],
)
def test_times_beyond_nanoseconds_are_refused(values):
    with pytest.raises(InvalidInputError, match="not between the years 1677 and 2262"):
        te.times(values)


def test_fractions_of_seconds_in_texts_are_exact():
    found = te.times(["1960-01-01 00:00:00.000000001", "1960-01-01T00:00:00.5Z"[:-1], "2262-01-01"])
    assert np.diff(found.stamps).tolist()[0] == 499_999_999
    assert found.stamps[2] == np.datetime64("2262-01-01", "ns").astype(np.int64)


def test_offsets_of_hours_alone():
    found = te.times(["2026-01-01 00:00:00+02", "2026-01-01 00:00:00-0130", "2026-01-01 00:00:00-03:00"])
    assert np.diff(found.stamps).tolist() == [3.5 * 3600 * 10**9, 1.5 * 3600 * 10**9]


def test_points_that_are_not_judged_however_they_are_given():
    spans, times = [(1, 3)], np.arange(8)
    expected = te.evaluate(Y, S, "f1", times=times, ignore=spans, threshold=0.5).rows[0]
    for ignore in (np.array(spans), pd.DataFrame(spans, columns=["start", "stop"]), np.isin(times, [1, 2])):
        found = te.evaluate(Y, S, "f1", times=times, ignore=ignore, threshold=0.5).rows[0]
        assert {**found, "seconds": 0} == {**expected, "seconds": 0}
    assert te.labels(iter(spans), times).tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
    assert "ignored_points" not in te.evaluate(Y, S, "f1", ignore=[]).rows[0]
    with pytest.raises(InvalidInputError, match="y_true and ignore have different indexes"):
        te.evaluate(pd.Series(Y, HOURS), pd.Series(S, HOURS), "f1", ignore=pd.Series(Y, HOURS.shift(1)))


def test_incidents_in_nanoseconds_keep_all_digits(tmp_path):
    stamps = 1_700_000_000_000_000_000 + np.arange(6)
    (tmp_path / "incidents.csv").write_text(f"start,stop\n{stamps[2]},{stamps[4]}\n")
    assert te.labels(tmp_path / "incidents.csv", te.times(stamps, unit="ns")).tolist() == [0, 0, 1, 1, 0, 0]


def test_what_belongs_to_one_series_is_not_taken_for_another():
    runs = [("a", "d", Y, S), ("b", "d", Y, S)]
    times = dict.fromkeys("ab", np.arange(8))
    found = te.compare(runs, metrics="f1", time=times, ignore={"a": [(0, 3)]}, threshold=0.5)
    assert [row.get("ignored_points") for row in found.rows] == [3, None]
    with pytest.raises(InvalidInputError, match="ignore has an entry for 'A', which is no series"):
        te.compare(runs, metrics="f1", time=times, ignore={"A": [(0, 3)]}, threshold=0.5)
    table = {"start": [0], "stop": [3]}
    found = te.compare(runs, metrics="f1", time=times, ignore=table, threshold=0.5)
    assert [row["ignored_points"] for row in found.rows] == [3, 3]


def test_scores_to_fit_on_that_belong_to_no_detector_are_refused():
    with pytest.raises(
        InvalidInputError, match=r"fit has an entry for 'LOF', which is no detector or .*valid names: knn, lof"
    ):
        te.compare({"lof": S, "knn": S}, Y, "f1", threshold="sigma(1)", fit={"LOF": S})
    found = te.compare({"lof": S, "knn": S}, Y, "f1", threshold="sigma(1)", fit={("", "lof"): S / 2, "knn": S / 2})
    alone = te.evaluate(Y, S, "f1", threshold="sigma(1)", fit=S / 2)
    assert {row["threshold"] for row in found.rows} == {alone.rows[0]["threshold"]}


def test_missing_scores_keep_the_times_of_the_others():
    labels, scores = pd.Series(np.where(np.arange(8) < 5, Y, 0), HOURS), pd.Series(S, HOURS)
    scores.iloc[0] = np.nan
    rate = "false_alarms(per='day')"
    expected = te.evaluate(labels[1:], scores[1:], rate, threshold=0.25)[rate]
    for given in (None, HOURS, te.times(HOURS)):
        found = te.compare({"d": scores}, labels, rate, threshold=0.25, time=given)
        assert found.rows[0]["value"] == expected > 0
    with pytest.raises(InvalidInputError, match="different indexes"):
        te.compare({"d": scores.shift(freq="D")}, labels, "f1")


def test_scorings_that_cannot_be_compared_are_refused():
    with pytest.raises(InvalidInputError, match="'d' and 'e' have different labels on series 'a'"):
        te.compare([("a", "d", Y, S), ("a", "e", 1 - Y, S)], metrics="f1")
    with pytest.raises(InvalidInputError, match="two scorings of detector '1': rename one"):
        te.compare({1: S, "1": -S}, Y, "f1")
    found = te.compare([("a", "d", Y, S), ("a", "e", list(Y), S), ("a", "f", Y, [np.nan, *S[1:]])], metrics="f1")
    assert found.detectors == ["d", "e", "f"]


def test_points_without_a_score_do_not_join_events(tmp_path):
    labels, scores = np.array([0, 0, 1, 0, 1, 0]), np.array([np.nan, 0.1, 0.9, np.nan, 0.1, 0.2])
    metrics = ["event_recall", "f1", "vus_pr", "cce"]
    found = {row["metric"]: row for row in te.compare({"d": scores}, labels, metrics, threshold=0.5).rows}
    alone = te.evaluate(labels[1:], scores[1:], ["event_recall", "f1", "cce"], threshold=0.5, missing="ignore")
    assert {name: found[name]["value"] for name in alone} == dict(alone)
    assert found["event_recall"]["value"] == 0.5
    known = ~np.isnan(scores)
    assert found["vus_pr"]["value"] == te.metrics.vus_pr(labels[known], scores[known])
    assert {row["dropped"] for row in found.values()} == {2}
    pd.DataFrame({"label": labels, "d": scores}).to_csv(tmp_path / "a.csv", index=False)
    given = ["--score", "d", "--metrics", "event_recall", "--threshold", "0.5", "--format", "json"]
    (row,) = json.loads(CliRunner().invoke(app, ["compare", str(tmp_path / "a.csv"), *given]).stdout)
    assert (row["value"], row["dropped"]) == (0.5, 2)
    assert "ignored_points" not in row
    index = pd.RangeIndex(6)
    with pytest.raises(InvalidInputError, match="different indexes"):
        te.evaluate(pd.Series(labels, index), pd.Series(scores, index + 1), "f1", missing="ignore")


def test_a_comparison_pickles():
    found = te.compare([(s, d, Y, S) for s in "ab" for d in "xy"], metrics=["f1", "cce"], threshold=0.5)
    again = pickle.loads(pickle.dumps(found))
    assert repr(again) == repr(found)
    assert repr(again.average("micro")) == repr(found.average("micro"))


def test_chunks_may_come_in_the_same_arrays():
    labels, scores = np.zeros(4, np.int64), np.zeros(4)
    stream = te.StreamingEvaluator(0.5, window=8, reference=S)
    for k in (0, 4):
        labels[:], scores[:] = Y[k : k + 4], S[k : k + 4]
        stream.update(labels, scores)
    found = stream.compute()
    assert [row["recent"] for row in found.rows] == pytest.approx([row["value"] for row in found.rows], nan_ok=True)
    assert found.drift["ks"] == 0
    with pytest.raises(UnknownNameError, match="did you mean f1"):
        found["f11"]


def test_names_at_the_begin_of_a_row_of_latex_are_not_taken_for_its_options():
    text = te.compare({"[a]": S, "*b": S}, Y, "cce").to_latex()
    assert "\n{}[a] &" in text
    assert "\n{}*b &" in text


def test_numbers_are_seconds_in_reports_too(tmp_path):
    seconds = 1_700_000_000 + np.arange(8)
    dates = pd.to_datetime(seconds, unit="s")
    pages = []
    for times in (seconds, dates, dates.tz_localize("UTC").tz_convert("Europe/Berlin")):
        page = te.report({"d": S}, tmp_path / "page.html", y_true=Y, metrics="f1", time=times)
        pages.append(page.read_text().partition("<script")[2])
    assert pages[0] == pages[1]
    # The zone is how the page writes the same moments.
    assert pages[1] == pages[2].replace('"zone":"Europe/Berlin"', '"zone":""')


def test_metrics_of_a_report_know_the_times(tmp_path):
    times = pd.to_datetime("2026-01-01") + pd.to_timedelta([0, 1, 2, 3, 4, 50, 51, 52], unit="min")
    metrics = ["time_in_alarm", "false_alarms(per='day')"]
    expected = te.evaluate(Y, S, metrics, threshold=0.25, times=times)
    for labels, given in ((Y, times), (pd.Series(Y, times), None)):
        scores = {"d": pd.Series(S, times)}
        page = te.report(scores, tmp_path / "page.html", y_true=labels, metrics=metrics, threshold=0.25, time=given)
        data = json.loads(
            page.read_text().partition('type="application/json"')[2].partition(">")[2].partition("</script")[0]
        )
        found = data["series"][0]
        assert [one["value"] for one in found["detectors"]["d"]["metrics"]] == list(expected.values())
        assert found["times"] is not None


def test_a_file_with_semicolons_and_decimal_commas_is_told_apart(tmp_path):
    (tmp_path / "a.csv").write_text("label;score\n0;0,5\n1;0,7\n")
    found = CliRunner().invoke(app, ["score", str(tmp_path / "a.csv")])
    assert "expected commas between the columns and points in numbers, found 'label;score'" in found.stderr


@pytest.mark.filterwarnings("ignore::tsadeval.errors.ThresholdWarning")
def test_a_threshold_that_is_given_holds_for_counts_of_0_and_1():
    counts, train = np.array([0, 0, 1, 0, 0, 1, 0, 0]), np.array([0, 5, 2, 4, 7, 3, 6, 1])
    for threshold in (-1.0, 0.0, 0.5, 1.0, 3.0):
        found = te.evaluate(Y, counts, ["recall", "event_recall", "time_in_alarm"], threshold=threshold)
        assert found["time_in_alarm"] == np.mean(counts > threshold)
        stream = te.evaluate_stream([(Y, counts)], list(found), threshold=threshold)
        assert dict(stream) == dict(found)
        assert te.StreamingEvaluator(threshold).update(Y, counts).compute()["recall"] == found["recall"]
    for rule in ("quantile(0.9)", "sigma(2)", "contamination(0.1)", "sustained(quantile(0.9), 1)"):
        fitted = te.evaluate(Y, counts, "time_in_alarm", threshold=rule, fit=train)
        assert fitted["time_in_alarm"] == 0
        alone = te.evaluate(Y, counts, "time_in_alarm", threshold=rule)
        assert alone["time_in_alarm"] == 0.25
    assert te.evaluate(Y, counts, "time_in_alarm", threshold="sustained(0.5, 2)")["time_in_alarm"] == 0
    found = te.best_threshold("event_f1", Y, counts)
    assert te.evaluate(Y, counts, "event_f1", threshold=found.threshold)["event_f1"] == found.value


def test_options_of_a_partial_are_those_of_the_metric():
    given = [partial(te.metrics.detection_delay, unit="points"), partial(te.metrics.cce, tau=np.float64(0.4))]
    found = te.evaluate(Y, S, given)
    assert dict(found) == dict(te.evaluate(Y, S, ["detection_delay(unit='points')", "cce(tau=0.4)"]))

    def own(y_true, y_score, k):
        return k

    assert list(te.evaluate(Y, S, partial(own, k=2)).items()) == [("own", 2.0)]


BACK = pd.RangeIndex(7, -1, -1)
BESIDE = {
    "ignore": pd.Series([1, 0, 0, 0, 0, 0, 0, 0], BACK),
    "times": pd.Series(HOURS, BACK),
    "values": pd.Series(range(8), BACK),
    "y_pred": pd.Series(Y, BACK),
}


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize(("y", "s"), [(pd.Series(Y), S), (Y, pd.Series(S)), (pd.Series(Y), pd.Series(S))])
def test_what_has_another_index_is_not_paired_by_position(name, y, s):
    message = f"(y_true|y_score) and {name} have different indexes"
    with pytest.raises(InvalidInputError, match=message):
        te.evaluate(y, s, "f1", **{name: BESIDE[name]})
    te.evaluate(y, s, "f1", **{name: BESIDE[name].to_numpy()})
    if name != "y_pred":
        option = {"time" if name == "times" else name: BESIDE[name]}
        for call in (
            lambda: te.compare({"a": s}, y, "f1", **option),
            lambda: te.choose_threshold(y, s, **option),
            lambda: te.evaluate_many([("s", y, s, {name: BESIDE[name]})], "f1"),
        ):
            with pytest.raises(InvalidInputError, match=message):
                call()


def test_an_index_of_each_other_is_compared_where_labels_have_none():
    with pytest.raises(InvalidInputError, match="times and ignore have different indexes"):
        te.evaluate(Y, S, "f1", times=pd.Series(HOURS), ignore=BESIDE["ignore"])
    with pytest.raises(InvalidInputError, match=r"'a' and 'b' have different labels, or .* indexes"):
        te.compare({"a": pd.Series(S), "b": pd.Series(S, BACK)}, Y, "f1")


def test_detectors_whose_clocks_share_no_stamp_are_refused():
    runs = [("s", name, pd.Series(Y, HOURS + pd.Timedelta(shift)), S) for name, shift in (("a", 0), ("b", "30min"))]
    with pytest.raises(InvalidInputError, match="'a' and 'b' have different labels on series 's', or different time"):
        te.compare(runs, metrics="f1")
    bridge = pd.date_range(HOURS[0], periods=16, freq="30min")  # has the stamps of both
    found = te.compare([*runs, ("s", "c", pd.Series(np.repeat(Y, 2), bridge), np.repeat(S, 2))], metrics="f1")
    assert {row["status"] for row in found.rows} == {"ok"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: te.Scores([(1, "a", Y, S), ("1", "b", Y, S)]),
        lambda: te.Scores({"a": {1: S, "1": S}}, {1: Y, "2": Y}),
        lambda: te.Scores([("1", "a", Y, S), ("2", "a", Y, S)], time={1: HOURS, "1": HOURS}),
        lambda: te.Scores(pd.DataFrame({"s": [1] * 4 + ["1"] * 4, "label": Y, "score": S}), by="s", strict=True).series,
    ],
)
def test_names_that_print_alike_are_refused(make):
    with pytest.raises(InvalidInputError, match="1 and '1' are the same as text"):
        make()
