"""Labels of many files from a file of incidents: the values of a column of labels, and anew after a change."""

import hashlib
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tsadeval as te
from tsadeval.cli.app import app
from tsadeval.errors import InvalidInputError
from tsadeval.scores.companions import Spans

N = 400
SPANS = {"web": [(100, 130), (310, 330)], "db": [(250, 300)], "mail": [(10, 20)]}
METRICS = ["cce", "f1", "event_recall"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A file for each of three servers, and one that holds all of them, by the minute."""
    rng = np.random.default_rng(5)
    stamps = pd.date_range("2026-03-01", periods=N, freq="min")
    frames = []
    (tmp_path / "each").mkdir()
    for name, spans in SPANS.items():
        label = np.zeros(N, np.int64)
        for start, stop in spans:
            label[start:stop] = 1
        frame = pd.DataFrame({"stamp": stamps, "score": rng.normal(size=N) + 2 * label, "label": label})
        frame.to_parquet(tmp_path / "each" / f"{name}.parquet")
        frames.append(frame.assign(server=name))
    pd.concat(frames).to_csv(tmp_path / "all.csv", index=False)
    write(tmp_path / "incidents.csv", SPANS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, spans):
    first = pd.Timestamp("2026-03-01")
    minute = pd.Timedelta("1min")
    rows = [
        {"server": name, "start": first + a * minute, "stop": first + b * minute}
        for name, own in spans.items()
        for a, b in own
    ]
    pd.DataFrame(rows).to_csv(path, index=False)


def values(result):
    return {(row["file"], row.get("series"), row["metric"]): row["value"] for row in result.rows}


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(("files", "by"), [("each", ()), ("all.csv", "server")])
def test_the_values_are_those_of_a_column_of_labels(folder, files, by, n_jobs):
    options = {"by": by, "time": "stamp", "threshold": 1.0}
    expected = te.score_files(files, METRICS, **options)
    found = te.score_files(files, METRICS, incidents="incidents.csv", n_jobs=n_jobs, **options)
    assert values(found) == values(expected)
    assert found.failures() == []
    assert (found.remarks == ()) == bool(by)  # it is said that a column names the files


def test_changed_incidents_are_other_cells(folder):
    calls = []
    options = {"time": "stamp", "incidents": "incidents.csv", "store": "store"}
    options["progress"] = lambda done, total: calls.append(done)
    before = te.score_files("each", "cce", **options)
    calls.clear()
    te.score_files("each", "cce", **options)
    assert calls == [3]  # all are there
    write("incidents.csv", {**SPANS, "db": [(50, 60)]})
    calls.clear()
    after = te.score_files("each", "cce", **options)
    assert calls[0] == 0
    different = {key[0] for key, value in values(after).items() if values(before)[key] != value}
    assert different == {"each/db.parquet"}
    write("incidents.csv", SPANS)
    calls.clear()
    assert values(te.score_files("each", "cce", **options)) == values(before)
    assert calls == [3]
    calls.clear()
    te.score_files("each", "cce", **options, shared=True)
    assert calls[0] == 0
    assert te.score_files("each", "cce", store="store").rows[0]["label"] == "label"
    digest = hashlib.sha256((folder / "incidents.csv").read_bytes()).hexdigest()[:16]
    assert before.rows[0]["label"] == f"incidents.csv (sha256 {digest}, by file)"


def test_who_owns_an_interval_is_part_of_the_cell(folder):
    """A column names files only where it holds their names: so the other files of a call may change the labels."""
    frame = pd.read_parquet("each/web.parquet")
    frame.to_parquet("other.parquet")
    alone = te.score_files("other.parquet", "f1", time="stamp", incidents="incidents.csv", store="s", shared=True)
    with pytest.raises(InvalidInputError, match="intervals of several series"):
        te.score_files("other.parquet", "f1", time="stamp", incidents="incidents.csv", store="s")
    beside = te.score_files(["other.parquet", "each"], "f1", time="stamp", incidents="incidents.csv", store="s")
    own = [row for row in beside.rows if row["file"].endswith("other.parquet")]
    assert own[0]["events"] == 0
    assert alone.rows[0]["events"] == 4


def test_windows_and_zones(folder):
    windows = {
        name: [[f"2026-03-01 {a // 60:02}:{a % 60:02}:00", f"2026-03-01 {(b - 1) // 60:02}:{(b - 1) % 60:02}:00"]]
        for name, ((a, b), *_) in SPANS.items()
    }
    (folder / "windows.json").write_text(json.dumps(windows))
    found = te.score_files("all.csv", "f1", by="server", time="stamp", incidents="windows.json")
    assert {row["series"]: row["anomalous"] for row in found.rows} == {"web": 30, "db": 50, "mail": 10}
    zoned = pd.read_parquet("each/web.parquet")
    zoned["stamp"] = zoned["stamp"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    zoned.to_parquet("zoned.parquet")
    (folder / "zoned.csv").write_text("start,stop\n2026-03-01T02:40+01:00,2026-03-01T03:10+01:00\n")
    found = te.score_files("zoned.parquet", "f1", time="stamp", incidents="zoned.csv")
    assert [(row["anomalous"], row["message"]) for row in found.rows] == [(30, None)]


def test_what_does_not_fit_is_cut(folder):
    write("incidents.csv", {**SPANS, "db": [(380, 500)], "ftp": [(1, 2)]})
    options = {"by": "server", "time": "stamp", "incidents": "incidents.csv"}
    found = te.score_files("all.csv", "f1", **options)
    cut, unused = found.remarks
    assert "1 that reaches beyond the data was cut" in cut
    assert "intervals of ftp are not used" in unused
    assert [row["anomalous"] for row in found.rows] == [50, 20, 10]


@pytest.mark.parametrize("most", [30, 2])  # scorings that are printed one by one
def test_what_did_not_fit_is_said_whatever_the_jobs(folder, monkeypatch, most):
    """Worker processes kept to themselves how many incidents they had cut."""
    monkeypatch.setattr("tsadeval.cli.score.MANY", most)
    write("incidents.csv", {**SPANS, "db": [(380, 500)]})
    command = ["score", "all.csv", "--by", "server", "--time", "stamp", "--incidents", "incidents.csv"]
    plain, parallel = (CliRunner().invoke(app, [*command, "--metrics", "f1", *jobs]) for jobs in ([], ["--jobs", "2"]))
    assert "1 that reaches beyond the data was cut" in plain.stderr
    assert parallel.stderr == plain.stderr
    assert parallel.stdout == plain.stdout


def test_what_is_missing_is_said(folder):
    with pytest.raises(InvalidInputError, match="need time stamps"):
        te.score_files("each", "f1", incidents="incidents.csv")
    for name in ("missing.csv", "missing.json"):
        with pytest.raises(InvalidInputError, match=name):
            te.score_files("each", "f1", time="stamp", incidents=name, store="store")
    assert not (folder / "store").exists()


def test_what_was_asked_does_not_travel(folder):
    spans = Spans(folder / "incidents.csv", files=["web"])
    plain = len(pickle.dumps(spans))
    for i in range(1000):
        spans.ask({}, f"a file of some name {i}")
    assert len(pickle.dumps(spans)) == plain


@pytest.mark.slow
def test_the_command(folder):
    def run(*arguments):
        return CliRunner().invoke(app, ["score", "each", "--time", "stamp", "--metrics", "f1", *arguments])

    done = run("--incidents", "incidents.csv", "--store", "store", "--jobs", "1", "--format", "json")
    assert done.exit_code == 0, done.output
    assert [row["events"] for row in json.loads(done.stdout)] == [1, 1, 2]
    assert "column 'server' says which file an interval belongs to" in done.stderr
    assert "not from --incidents" in str(run("--incidents", "incidents.csv", "--stream").exception)
    ignored = run("--ignore", "incidents.csv", "--store", "store", "--format", "json")
    assert [row["events"] for row in json.loads(ignored.stdout)] == [0, 0, 0]
    assert "leave some out" in str(run("--baseline", "--store", "store").exception)
