"""`tsadeval score` on the tables that people have: time stamps, incidents, many series, bad files among good ones."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tsadeval as te
from tsadeval.cli.app import app

N = 600


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two servers by the minute, their incidents, maintenance, and training scores."""
    path = tmp_path_factory.mktemp("servers")
    rng = np.random.default_rng(5)
    frames, incidents = [], []
    for name, spans in {"web": [(100, 130), (400, 420)], "db": [(250, 300)]}.items():
        stamps = pd.date_range("2026-03-01", periods=N, freq="min")
        label = np.zeros(N, np.int64)
        for start, stop in spans:
            label[start:stop] = 1
            incidents.append({"server": name, "start": stamps[start], "stop": stamps[stop]})
        score = rng.normal(size=N) + 3 * label
        frames.append(pd.DataFrame({"server": name, "stamp": stamps, "score": score, "noise": rng.random(N)}))
        frames[-1]["label"] = label
    both = pd.concat(frames, ignore_index=True)
    both.to_csv(path / "scores.csv", index=False)
    both.to_csv(path / "scores.csv.gz", index=False)
    both.to_csv(path / "scores.tsv", index=False, sep="\t")
    both.to_feather(path / "scores.feather")
    both.assign(stamp=both.stamp.astype(str)).to_json(path / "scores.jsonl", orient="records", lines=True)
    both[both.server == "web"].drop(columns="server").to_csv(path / "web.csv", index=False)
    pd.DataFrame(incidents).to_csv(path / "incidents.csv", index=False)
    stamps = both.stamp[:N]
    pd.DataFrame({"start": [stamps[0]], "stop": [stamps[60]]}).to_csv(path / "maintenance.csv", index=False)
    pd.DataFrame({"server": np.repeat(["web", "db"], 500), "score": rng.normal(size=1000)}).to_csv(
        path / "train.csv", index=False
    )
    (path / "bad.csv").write_text("label,score\n0,1\n2,3\n")
    return path


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments, stdin=None):
        return CliRunner().invoke(app, ["score", *arguments], input=stdin)

    return run


def part(folder, server):
    both = pd.read_csv(folder / "scores.csv", parse_dates=["stamp"])
    return both[both.server == server]


def rows_of(done):
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("file", ["scores.csv", "scores.csv.gz", "scores.tsv", "scores.feather", "scores.jsonl"])
def test_series_of_a_long_table(run, folder, file):
    rows = rows_of(run(file, "--by", "server", "--metrics", "cce,f1", "--format", "json"))
    assert [(row["server"], row["metric"]) for row in rows] == [(s, m) for s in ("web", "db") for m in ("cce", "f1")]
    for row in rows:
        data = part(folder, row["server"])
        assert row["value"] == pytest.approx(te.evaluate(data.label, data.score, row["metric"])[row["metric"]])
        assert (row["points"], row["events"]) == (N, {"web": 2, "db": 1}[row["server"]])
        assert row["version"] == te.__version__
        assert row["metric"] == "cce" or row["threshold"] is not None


def test_a_long_table_is_not_one_series(run):
    done = run("scores.csv")
    assert done.exit_code == 2
    assert "these are several series" in done.stderr
    assert "--by" in done.stderr
    assert run("scores.csv", "--one-series").exit_code == 0


def test_incidents_instead_of_labels(run):
    options = ("--by", "server", "--metrics", "recommended", "--format", "json")
    by_column = rows_of(run("scores.csv", *options))
    by_file = rows_of(run("scores.csv", *options, "--time", "stamp", "--incidents", "incidents.csv"))
    drop = {"seconds"}
    assert [{k: v for k, v in row.items() if k not in drop} for row in by_file] == [
        {k: v for k, v in row.items() if k not in drop} for row in by_column
    ]


def test_windows_as_json_under_the_values_of_by(run, folder):
    spans = pd.read_csv(folder / "incidents.csv")
    step = pd.Timedelta("1min")  # both ends of such windows are inclusive
    windows = {
        name: [(row.start, str(pd.Timestamp(row.stop) - step)) for row in rows.itertuples()]
        for name, rows in spans.groupby("server")
    }
    (folder / "windows.json").write_text(json.dumps(windows))
    options = ("scores.csv", "--time", "stamp", "--metrics", "f1", "--format", "json")
    by = ("--by", "server")
    by_file = rows_of(run(*options, *by, "--incidents", "windows.json"))
    assert [row["value"] for row in by_file] == [row["value"] for row in rows_of(run(*options, *by))]
    (folder / "nights.json").write_text(json.dumps({**windows, "db": [["2026-03-01 00:00", "2026-03-01 00:09"]]}))
    ignored = run(*options, *by, "--ignore", "nights.json")
    assert [row["ignored_points"] for row in rows_of(ignored) if row["server"] == "db"] == [10]
    (folder / "windows.json").write_text(json.dumps({"web": windows["web"]}))
    part = run(*options, *by, "--incidents", "windows.json")
    assert part.exit_code == 1
    assert "windows.json has no windows of 'db'" in part.stderr
    (folder / "windows.json").write_text(json.dumps(windows))
    by_name = rows_of(run("web.csv", *options[1:], "--incidents", "windows.json"))  # the file is called as the series
    assert by_name[0]["value"] == by_file[0]["value"]
    (folder / "other.csv").write_text((folder / "web.csv").read_text())
    unnamed = run("other.csv", *options[1:], "--incidents", "windows.json")
    assert unnamed.exit_code == 2
    assert "--by" in unnamed.stderr


@pytest.mark.parametrize("option", ["--incidents", "--ignore"])
@pytest.mark.parametrize(
    "content", [b"{", b"\xff\xfe[", b"[" * 100_000, b"3", b'{"web": 3}', b'{"start": 1, "stop": 2}']
)
def test_damaged_windows_are_one_line(run, folder, option, content):
    (folder / "damaged.json").write_bytes(content)
    done = run("web.csv", "--time", "stamp", option, "damaged.json", "--metrics", "f1")
    assert done.exit_code
    assert isinstance(done.exception, (SystemExit, te.errors.InvalidInputError))
    assert "damaged.json" in f"{done.stderr}{done.exception}"


def test_times_ignored_spans_and_fitted_rules(run, folder):
    done = run(
        *("scores.csv", "--by", "server", "--time", "stamp", "--ignore", "maintenance.csv", "--fit", "train.csv"),
        *("--threshold", "sigma(3)", "--metrics", "false_alarms(per='hour'),f1", "--format", "json"),
    )
    train = pd.read_csv(folder / "train.csv")
    for row in rows_of(done):
        data = part(folder, row["server"])
        expected = te.evaluate(
            *(data.label, data.score, row["metric"]),
            times=data.stamp,
            ignore=[(data.stamp.iloc[0], data.stamp.iloc[60])],
            threshold="sigma(3)",
            fit=train.score[train.server == row["server"]],
        )
        assert row["value"] == pytest.approx(expected[row["metric"]])
        assert row["ignored_points"] == 60


def test_events_and_baseline(run):
    table = run("web.csv", "--time", "stamp", "--events").stdout
    assert "2026-03-01T01:40" in table
    assert "of 2 events detected" in table
    rows = rows_of(run("web.csv", "--events", "--format", "json"))
    assert [(row["start"], row["stop"]) for row in rows] == [(100, 130), (400, 420)]
    (row,) = rows_of(run("web.csv", "--metrics", "auc_roc", "--baseline", "--format", "json"))
    assert (row["random"], row["perfect"]) == (0.5, 1.0)


def test_standard_input(run, folder):
    (row,) = rows_of(run("-", "--metrics", "auc_roc", "--format", "json", stdin=(folder / "web.csv").read_text()))
    data = part(folder, "web")
    assert row["value"] == pytest.approx(te.metrics.auc_roc(data.label, data.score))


def test_one_bad_file_does_not_stop_the_others(run):
    done = run("web.csv", "bad.csv", "none.csv", "--metrics", "cce", "--format", "json")
    assert done.exit_code == 1
    assert [row["file"] for row in json.loads(done.stdout)] == ["web.csv"]
    first, second, last = done.stderr.splitlines()
    assert first.startswith("tsadeval: bad.csv, score: y_true must be 0")
    assert second.startswith("tsadeval: none.csv: no such file")
    assert last == "tsadeval: 2 could not be evaluated, 1 could"


def test_what_is_missing_is_said(run):
    need = run("web.csv", "--incidents", "incidents.csv")
    assert "--time" in str(need.exception)
    assert "expected columns start and stop" in str(
        run("web.csv", "--time", "stamp", "--incidents", "train.csv").exception
    )


def test_incidents_beyond_the_stamps(run, folder):
    late = pd.DataFrame({"start": ["2026-03-01 09:50"], "stop": ["2026-03-01 12:00"]})
    late.to_csv(folder / "late.csv", index=False)
    arguments = ("web.csv", "--time", "stamp", "--incidents", "late.csv", "--metrics", "cce", "--format", "json")
    done = run(*arguments)
    assert "of the intervals, 1 that reaches beyond the data was cut" in done.stderr
    (row,) = rows_of(done)
    assert row["anomalous_points"] == 10


def test_a_stream_says_what_is_undefined_once_and_in_one_line(run, folder):
    text = "server,label,score\n" + "".join(f"{name},0,{k}\n" for name in "ab\x1b" for k in range(5))
    (folder / "normal.csv").write_text(text)
    done = run("normal.csv", "--stream", "--metrics", "auc_roc", "--by", "server")
    assert done.exit_code == 0
    assert done.stderr == "tsadeval: auc_roc is undefined, so NaN: y_true has no anomalous point (no 1)\n"
    assert "\\x1b" in done.stdout
    assert "\x1b" not in done.stdout


def test_options_that_would_be_ignored_are_refused(run):
    assert "does not go with --store" in str(run("web.csv", "--stream", "--store", "x").exception)
    assert "--order is for --stream" in str(run("web.csv", "--order", "bins").exception)


def test_a_stream_with_gaps_is_not_sent_to_an_option_that_it_refuses(run, folder):
    (folder / "gaps.csv").write_text("label,score\n0,0.1\n1,\n0,0.2\n")
    assert "--missing skip, not with --stream" in str(run("gaps.csv", "--stream", "--metrics", "auc_roc").exception)
    assert "nor --tz" in str(run("gaps.csv", "--stream", "--tz", "UTC").exception)
    assert "neither --ignore nor --fit" in str(run("gaps.csv", "--stream", "--fit", "train.csv").exception)


@pytest.mark.slow
def test_a_wrong_number_of_jobs_is_told_by_the_name_of_the_option(folder):
    done = subprocess.run(
        [sys.executable, "-m", "tsadeval", "score", folder / "web.csv", "--stream", "--jobs", "0"],
        capture_output=True,
        text=True,
    )
    assert done.stderr == "tsadeval: --jobs must be an integer other than 0 (-1: all cores), but is 0\n"
