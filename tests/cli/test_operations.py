"""`tsadeval score` as whoever runs servers uses it: a file a server, gaps, maintenance, one file of incidents."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tsadeval as te
from tsadeval.cli.app import app
from tsadeval.errors import InputWarning, InvalidInputError, UnknownNameError

MINUTES = pd.date_range("2026-01-04 23:00", periods=240, freq="min", tz="UTC")
SERVERS = ("srv-01", "srv-02", "srv-03")
# server: (first minute, one past the last, severity)
INCIDENTS = {
    "srv-01": [(30, 40, "high"), (100, 110, "low")],
    "srv-02": [(60, 70, "high")],
    "srv-03": [(200, 210, "low")],
}


def write(path, rows):
    pd.DataFrame(rows).to_csv(path, index=False)


def stamp(minute, second=0):
    return (MINUTES[0] + pd.Timedelta(minutes=minute, seconds=second)).isoformat()


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder with a file of scores for each server, and the incidents of all of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "per").mkdir()
    rows = []
    for number, server in enumerate(SERVERS):
        score = np.random.default_rng(number).random(len(MINUTES))
        for start, stop, severity in INCIDENTS[server]:
            score[start + 2 : stop] += 2 * (severity == "high")
            rows.append({"server": server, "start": stamp(start), "end": stamp(stop), "severity": severity})
        frame = pd.DataFrame({"time": [time.isoformat() for time in MINUTES], "score": score})
        frame.to_csv(tmp_path / "per" / f"{server}.csv", index=False)
    write("inc.csv", rows)
    write("anon.csv", [{k: v for k, v in row.items() if k != "server"} for row in rows])
    pd.concat(pd.read_csv(f"per/{server}.csv").assign(host=server) for server in SERVERS).to_csv("all.csv", index=False)
    return tmp_path


def score(*arguments):
    return CliRunner().invoke(app, ["score", *arguments])


FILES = [f"per/{server}.csv" for server in SERVERS]
ASKED = ["--time", "time", "--metrics", "event_recall", "--threshold", "1.5"]


def rows_of(done):
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_incidents_go_to_the_files_that_are_called_as_their_servers(shop):
    done = score(*FILES, *ASKED, "--incidents", "inc.csv", "--format", "json")
    assert [row["events"] for row in rows_of(done)] == [2, 1, 1]
    assert [row["value"] for row in rows_of(done)] == [0.5, 1, 0]
    assert done.stderr.splitlines()[0] == "tsadeval: inc.csv: column 'server' says which file an interval belongs to"
    part = score(FILES[0], *ASKED, "--incidents", "inc.csv", "--format", "json")
    assert [row["events"] for row in rows_of(part)] == [2]
    assert "intervals of srv-02, srv-03 are not used: no file is called so" in part.stderr
    (shop / "per" / "srv-04.csv").write_text((shop / "per" / "srv-01.csv").read_text())
    more = score("per", *ASKED, "--incidents", "inc.csv", "--format", "json")
    assert [row["events"] for row in rows_of(more)] == [2, 1, 1, 0]
    assert "an interval belongs to; none of srv-04" in more.stderr


def test_incidents_of_several_servers_are_not_those_of_one(shop):
    (shop / "per" / "srv-01.csv").rename(shop / "metrics.csv")
    for option in ("--incidents", "--ignore"):
        with pytest.raises(
            InvalidInputError, match=r"inc.csv: column 'server' has several values .*--by server.*--shared"
        ):
            CliRunner().invoke(app, ["score", "metrics.csv", *ASKED, option, "inc.csv"], catch_exceptions=False)
    done = score("metrics.csv", *ASKED, "--incidents", "inc.csv", "--shared", "--format", "json")
    assert [row["events"] for row in rows_of(done)] == [4]
    with pytest.raises(InvalidInputError, match=r"the columns of --by \(host\) are not in this file"):
        CliRunner().invoke(
            app, ["score", "all.csv", "--by", "host", *ASKED, "--incidents", "inc.csv"], catch_exceptions=False
        )
    frame = pd.read_csv("inc.csv").rename(columns={"server": "Anlage"})
    frame.to_csv("other.csv", index=False)
    done = score("metrics.csv", *ASKED, "--incidents", "other.csv")
    assert done.exit_code == 0
    said = "other.csv: column 'Anlage' has several values (srv-01, srv-02, srv-03); all of them hold here"
    assert said in done.stderr
    assert score("metrics.csv", *ASKED, "--incidents", "anon.csv").stderr == ""  # of severities nothing is said


def test_labels_of_one_server(shop):
    times = MINUTES
    with pytest.raises(
        InvalidInputError, match=r"column 'server' has several values \(srv-01, .*key='srv-01', or pass by=\(\)"
    ):
        te.labels("inc.csv", times)
    with pytest.raises(InvalidInputError, match="intervals of several series"):
        te.evaluate([0, 1] * 120, [0.5] * 240, "f1", times=times, ignore="inc.csv")
    found = te.labels("inc.csv", times, key="srv-01")
    assert np.flatnonzero(found).tolist() == [*range(30, 40), *range(100, 110)]
    assert te.labels(pd.read_csv("inc.csv"), times, key="srv-02", by="server").sum() == 10
    assert te.labels("inc.csv", times, by=()).sum() == 40
    with pytest.warns(InputWarning, match=r"no incidents of 'srv-1' alone, so its labels are 0.*did you mean srv-01"):
        assert te.labels("inc.csv", times, key="srv-1").sum() == 0  # a quiet server
    with pytest.raises(UnknownNameError, match=r"no column 'sever'"):
        te.labels("inc.csv", times, key="srv-1", by="sever")
    frame = pd.read_csv("inc.csv").rename(columns={"server": "Anlage"})
    with pytest.warns(InputWarning, match="column 'Anlage' has several values"):
        assert te.labels(frame, times).sum() == 40
    assert te.labels("anon.csv", times).sum() == 40
    numbers = frame.rename(columns={"Anlage": "machine"}).assign(machine=[1, 1, 2, 3])
    assert te.labels(numbers, times, key=1).sum() == 20


def test_what_does_not_fit_is_counted(shop):
    rows = [
        *({"start": stamp(a), "stop": stamp(b)} for a, b in ((30, 40), (35, 50), (230, 500))),
        {"start": stamp(100, 10), "stop": stamp(100, 45)},
        *({"start": f"2025-01-0{day}T00:00:00Z", "stop": f"2025-01-0{day}T01:00:00Z"} for day in (4, 5, 6)),
    ]
    write("odd.csv", rows)
    done = score(FILES[0], *ASKED, "--incidents", "odd.csv", "--format", "json")
    assert [row["events"] for row in rows_of(done)] == [3]
    assert done.stderr == (
        "tsadeval: odd.csv: of the intervals, 3 outside the data were dropped, 1 that reaches beyond the data was cut, "
        "1 without a time stamp was put on the next point, 1 was joined with others that they overlap or touch\n"
    )
    write("spans.csv", [rows[0], rows[-1]])
    done = score(FILES[0], *ASKED, "--incidents", "anon.csv", "--ignore", "spans.csv")
    assert "spans.csv: of the intervals, 1 outside the data was dropped" in done.stderr
    for spans, said in ([(1.5, 1.7), (50, 60)], True), ([(1.5, 1.7), (2, 3)], False):
        found = te.evaluate([0, 1, 0], [0, 1, 2], "f1", times=[0, 1, 2], ignore=spans)
        assert ("no span of ignore= has a point inside" in repr(found)) == said


def test_events_that_are_not_judged_are_counted(shop):
    write("night.csv", [{"start": stamp(25), "stop": stamp(75)}])
    given = [*ASKED, "--incidents", "inc.csv", "--ignore", "night.csv"]
    rows = rows_of(score(*FILES, *given, "--format", "json"))
    assert [(row["events"], row.get("ignored_events")) for row in rows] == [(1, 1), (0, 1), (1, None)]
    text = score(*FILES, *given).stdout
    assert "50 points are not judged, and with them 1 whole event (in 2 of 3)" in text
    assert "50 points are not judged (per/srv-03.csv, score)" in text
    rows = rows_of(score(*FILES, *given, "--events", "--format", "json"))
    assert [(row["server"], row["events"]) for row in rows] == [("srv-01", 1), ("srv-03", 1)]
    both = te.evaluate([0, 1, 1, 0, 1, 0], [0, 1, 1, 0, 1, 0], "event_recall", ignore=[0, 0, 1, 0, 1, 0])
    assert "2 points are not judged, and with them 1 whole event" in repr(both)
    assert both.points == {"points": 6, "anomalous_points": 1, "events": 1}


def test_baselines_of_several_series(shop):
    text = score(*FILES, *ASKED, "--incidents", "inc.csv", "--baseline").stdout
    assert text.splitlines()[0].split() == ["file", "score", "metric", "value", "random", "error", "perfect"]
    assert sum("event_recall" in line for line in text.splitlines()) == 3


def test_all_servers_together_and_by_severity(shop):
    text = score(*FILES, *ASKED, "--incidents", "inc.csv", "--events").stdout
    last = text.split("all 3 series\n")[1].splitlines()
    assert last[0] == "2 of 4 events detected, 2 missed; 0 of 2 alarms false"
    assert last[1].startswith("delays in min: mean 2, median 2")
    assert last[2] == "detected by severity: high 2 of 2, low 0 of 2"
    incidents = pd.read_csv("inc.csv")
    y, s = te.labels(incidents, MINUTES, key="srv-01"), pd.read_csv("per/srv-01.csv").score
    table = te.events(y, s, threshold=1.5, times=MINUTES, incidents=incidents, key="srv-01")
    assert [row["severity"] for row in table.rows] == ["high", "low"]
    assert table.detected_by("severity") == {"high": (1, 1), "low": (0, 1)}
    with pytest.raises(UnknownNameError, match="did you mean severity"):
        table.detected_by("severty")


def test_an_incident_that_begins_in_a_gap(shop):
    """Data stop at minute 60 and return 300 minutes later; the incident begins at once, the alarm 10 minutes after."""
    minutes = np.r_[0:60, 360:480]
    times = MINUTES[0] + pd.to_timedelta(minutes, unit="min")
    scores = np.where((minutes >= 370) & (minutes < 400), 3.0, 0.0) + np.linspace(0, 1, len(minutes))
    incident = {"start": [times[59] + pd.Timedelta(minutes=1)], "stop": [times[0] + pd.Timedelta(minutes=400)]}
    y = te.labels(incident, times)
    seen, known = (te.events(y, scores, threshold=2, times=times, **more) for more in ({}, {"incidents": incident}))
    assert (seen.rows[0]["delay"], known.rows[0]["delay"]) == (10, 310)
    assert known.rows[0]["start"] == incident["start"][0]
    assert known.rows[0]["duration"] == 340
    assert "1 of the events begin right after a gap in the times" in repr(seen)
    assert "1 event began in a gap of the data, up to 300 min before the first point: delays count from" in repr(known)
    note = "1 event begins right after a gap in the times: delays count from the first point after it"
    assert note in repr(te.evaluate(y, scores, "detection_delay(unit='min')", threshold=2, times=times))
    assert note not in repr(te.evaluate(y, scores, "event_recall", threshold=2, times=times))
    write("web.csv", {"time": times, "score": scores})
    write("one.csv", incident)
    given = ["--time", "time", "--incidents", "one.csv", "--threshold", "2", "--format", "json"]
    late = "one.csv: 1 incident begins in a gap of the data, up to 300 min before the next time stamp"
    for more, delay in (["--metrics", "detection_delay(unit='min')"], 10), (["--events"], 310):
        done = score("web.csv", *given, *more)
        assert rows_of(done)[0].get("delay", rows_of(done)[0].get("value")) == delay
        assert late in done.stderr


def test_an_incident_inside_a_gap_is_not_that_of_the_next_point(shop):
    minutes = np.r_[0:60, 360:480]
    times = MINUTES[0] + pd.to_timedelta(minutes, unit="min")
    inside = [{"start": stamp(100), "stop": stamp(130)}, {"start": stamp(400), "stop": stamp(410)}]
    write("two.csv", inside)
    pd.DataFrame({"time": times, "a": minutes / 7 % 3, "b": minutes / 5 % 3}).to_csv("web.csv", index=False)
    done = score("web.csv", "--score", "a,b", *ASKED, "--incidents", "two.csv", "--format", "json")
    assert [row["events"] for row in rows_of(done)] == [1, 1]
    assert "two.csv: of the intervals, 1 in a gap of the data was dropped\n" in done.stderr  # once for two columns
    both = {name: [row[name] for row in inside] for name in ("start", "stop")} | {"id": ["gap", "seen"]}
    sums = {how: te.labels(both, times, between=how).sum() for how in ("next", "near", "drop")}
    assert sums == {"next": 11, "near": 10, "drop": 10}
    for how, known in ("near", ["seen"]), ("next", ["gap", "seen"]):
        y = te.labels(both, times, between=how)
        rows = te.events(y, y_pred=y, times=times, incidents=both).rows
        assert [row["id"] for row in rows] == known


def test_points_that_are_not_judged_cut_off_no_beginning_of_an_incident():
    incidents = {"start": [2], "stop": [8], "severity": ["high"]}
    y, p = te.labels(incidents, range(10)), [0, 0, 0, 0, 0, 0, 1, 1, 0, 0]
    found = te.events(y, y_pred=p, times=range(10), ignore=[(2, 5)], incidents=incidents, unit="s")
    assert [(row["start"], row["delay"], row["severity"]) for row in found.rows] == [(5, 1, "high")]
    with pytest.raises(InvalidInputError, match="so times= is needed"):
        te.events(y, y_pred=p, incidents=incidents)


def test_messages_name_lines_of_the_file_and_options(shop):
    frame = pd.read_csv("all.csv").rename(columns={"host": "server"})
    frame.loc[300, "time"] = "soon"  # line 302
    frame.to_csv("bad.csv", index=False)
    done = score("bad.csv", "--by", "server", *ASKED, "--incidents", "inc.csv")
    assert done.exit_code == 1
    assert "tsadeval: bad.csv, srv-02, score: column 'time' of srv-02: line 302 is 'soon'; write a date such as" in (
        done.stderr
    )
    assert "numbers of seconds" in done.stderr
    assert "not used" not in done.stderr
    for incident, code, message in [
        ((230, 500), 0, "1 that reaches beyond the data was cut"),
        ((30, 30), 2, "line 6 .* is empty; give it a stop after its start"),
        ((35, 45), 0, "1 was joined with others that they overlap or touch"),
    ]:
        rows = pd.read_csv("inc.csv").to_dict("records")
        start, stop = map(stamp, incident)
        write("inc2.csv", [*rows, {"server": "srv-01", "start": start, "end": stop, "severity": "low"}])
        done = score(FILES[0], *ASKED, "--incidents", "inc2.csv")
        assert done.exit_code == code
        assert pd.Series(done.stderr).str.contains(message).all(), done.stderr
    needs = score(FILES[0], "--metrics", "false_alarms(per='day')", "--label", "score")
    assert "times=" not in needs.stderr


def test_series_that_are_named_almost_so(shop):
    frame = pd.read_csv("all.csv").rename(columns={"host": "server"})
    frame.to_csv("long.csv", index=False)
    pd.read_csv("inc.csv").replace("srv-01", "srv-1").to_csv("typo.csv", index=False)
    done = score("long.csv", "--by", "server", *ASKED, "--incidents", "typo.csv")
    assert (
        "intervals of srv-1 are not used: no series is called so in server (srv-1: did you mean srv-01" in done.stderr
    )


def test_file_and_folder_are_columns_to_group_by(shop):
    rows = rows_of(score(*FILES, "--by", "file", *ASKED, "--incidents", "inc.csv", "--format", "json"))
    assert [row["file"] for row in rows] == list(SERVERS)
    assert [row["events"] for row in rows] == [2, 1, 1]


def test_folders_are_files_and_nothing_is_an_error(shop):
    done = score("per", *ASKED, "--incidents", "inc.csv", "--format", "json")
    assert [row["file"] for row in rows_of(done)] == FILES
    (shop / "empty").mkdir()
    with pytest.raises(InvalidInputError, match="empty: this is a folder, and there are no tables in it"):
        CliRunner().invoke(app, ["score", "empty"], catch_exceptions=False)
    write("quiet.csv", {"label": [0, 0], "score": [0.1, 0.2]})
    done = score("quiet.csv", "--metrics", "auc_roc")
    assert done.exit_code == 1
    assert "no metric has a value" in done.stderr


def test_the_basic_format_of_dates():
    found = te.times(["20260104T230000Z", "20260104T2301Z", "20260105T000230.5+0100"])
    assert np.diff(found.stamps).tolist() == [60 * 10**9, 90.5 * 10**9]
    assert te.times(["20260104T230000"]).kind == "dates"
    with pytest.raises(InvalidInputError, match="row 0 is '20260104'"):
        te.times(["20260104"])


def test_metrics_that_cannot_leave_out_points_name_those_that_can(shop):
    write("night.csv", [{"start": stamp(220), "stop": stamp(230)}])
    done = score(*FILES, "--time", "time", "--incidents", "inc.csv", "--ignore", "night.csv", "--threshold", "0.99")
    (line,) = (line for line in done.stderr.splitlines() if "--ignore" in line)
    assert line.startswith(
        "tsadeval: ears, vus_pr are NaN in 3 of 3 scorings (per/srv-01.csv, score; per/srv-02.csv, score; ...): "
    )
    assert "points of --ignore, as detection_delay, event_f1, f1, false_alarms can; where" in line
    y, s = np.repeat([0, 1, 0, 1, 0], 10), np.linspace(0, 1, 50)
    away = np.arange(50) >= 45
    together = te.evaluate(y, np.where(away, np.nan, s), "vus_pr", missing="skip")
    assert dict(together) == dict(te.evaluate(y[~away], s[~away], "vus_pr"))


def test_a_column_that_is_there_is_proposed(shop):
    done = score("all.csv", *ASKED, "--incidents", "anon.csv")
    assert "time stamps repeat in column 'time', so these are several series" in done.stderr
    assert "name the columns that tell them apart, --by host, or, if they are one, pass --one-series" in done.stderr
    with pytest.raises(UnknownNameError, match="did you mean f1"):
        te.evaluate([0, 1], [0, 1], "f2")


def test_a_budget_on_the_command_line(shop):
    rate = "false_alarms(per='h')"
    given = [*FILES[:1], "--time", "time", "--incidents", "inc.csv", "--metrics", f"event_recall,{rate}"]
    done = score(*given, "--threshold", "budget(1/h)", "--format", "json")
    found = {row["metric"]: row for row in rows_of(done)}
    times, s = MINUTES, pd.read_csv(FILES[0]).score
    y = te.labels("inc.csv", times, key="srv-01")
    choice = te.choose_threshold(y, s, times=times, max_false_alarms="1/h")
    assert found["event_recall"]["threshold"] == choice.threshold
    assert found[rate]["value"] <= 1
    text = score(*given, "--threshold", "budget(1/h)").stdout
    assert "within this budget of false alarms, chosen with the labels" in text
    pd.DataFrame({"label": y, "lof": s, "pca": -s, "time": times}).to_csv("wide.csv", index=False)
    by = ["compare", "wide.csv", "--score", "lof,pca", "--metrics", "event_recall", "--threshold", "budget(1/h)"]
    done = CliRunner().invoke(app, [*by, "--time", "time", "--format", "json"])
    assert json.loads(done.stdout)[0]["value"] == choice.value
    with pytest.raises(InvalidInputError, match="is a rate"):
        CliRunner().invoke(app, by, catch_exceptions=False)
