"""`tsadeval watch`, day after day: what it says, exit codes beside a plain computation, and its state when killed."""

import gzip
import json
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import tsadeval as te
from commands import run
from tsadeval.errors import InvalidInputError, InvalidParameterError

DAY = 288  # points every five minutes
INDEX = pd.date_range("2026-03-20", periods=40 * DAY, freq="5min", tz="Europe/Berlin")  # the clock changes in it
STARTS = np.arange(1, 40, 3) * DAY + 120
LABELS = np.isin(np.arange(len(INDEX)), STARTS[:, None] + np.arange(8))
WATCH = ["watch", "scores.csv", "--state", "state.json", "--time", "time"]


@pytest.fixture(scope="module")
def scores():
    """Noise, incidents of 40 minutes that show after 5, five false alarms on day 20, and a drift from day 28 on."""
    scores = np.random.default_rng(0).normal(size=len(INDEX))
    for start in STARTS:
        scores[start + 1 : start + 8] = 12 + np.arange(7) / 10
    scores[STARTS[7] : STARTS[7] + 8] = 0  # the one of day 22 is missed
    scores[20 * DAY + 20 * np.arange(5)] = 20
    scores[28 * DAY :] += 0.6
    return scores


def write(folder, stop, scores):
    """Write the scores up to a point, and the incidents that are over by then."""
    pd.DataFrame({"time": INDEX[:stop], "score": scores[:stop]}).to_csv(folder / "scores.csv", index=False)
    done = STARTS[stop > STARTS + 8]
    pd.DataFrame({"start": INDEX[done], "stop": INDEX[done + 8]}).to_csv(folder / "incidents.csv", index=False)


def watch(folder, *more):
    return run(*WATCH, "--incidents", "incidents.csv", "--cooldown", "30min", *more, cwd=folder)


def state_of(folder):
    return json.loads((folder / "state.json").read_text())["series"]["scores"]


def test_the_story_of_a_month(tmp_path, scores):
    codes, said = {}, {}
    for days in (14, 15, 20, 21, 22, 23, 28, 29, 35, 40):
        write(tmp_path, days * DAY, scores)
        done = watch(tmp_path)
        codes[days], said[days] = done.returncode, done.stdout
        assert done.stderr == ""
    # The threshold of the first two weeks: above all normal scores, and below the peaks of the incidents.
    threshold, first = state_of(tmp_path)["stream"]["threshold"], slice(0, 14 * DAY)
    assert scores[first][~LABELS[first]].max() < threshold < 12.6
    false = np.flatnonzero((scores > threshold) & ~LABELS)  # none of which is near another
    for days, code in codes.items():
        broken = np.sum((false < days * DAY) & (false >= (days - 7) * DAY)) > 1
        assert code == (3 if broken or days >= 35 else 0), days
    assert said[14].startswith("scores: 4,032 points until 2026-04-02 22:55:00+00:00, threshold ")
    assert said[14].endswith(": 5 pages, 5 of 5 incidents\n")
    assert (said[15], said[22]) == ("", "")
    assert said[21].count("false so far\n") == 5
    assert said[21].endswith("scores: the budget is broken: 5 false pages in the last 7 days, 1 allowed\n")
    assert said[23].endswith("scores: incident at 2026-04-11 09:00:00+00:00 missed\n")
    assert "scores: the budget is kept again: 0 false pages in the last 7 days, 1 allowed\n" in said[28]
    assert "incident at 2026-04-14 09:00:00+00:00 found after 35" in said[28]
    assert "scores: the scores have drifted from the reference: Kolmogorov-Smirnov distance 0.2" in said[35]
    assert "drifted" not in said[40]  # which was said already, and the exit code still says
    # All in one go is the same as day by day.
    whole = te.StreamingEvaluator(threshold, cooldown="30min", window="7 days").update(None, scores, INDEX)
    incidents = pd.read_csv(tmp_path / "incidents.csv")
    assert te.StreamingEvaluator.from_state(state_of(tmp_path)["stream"]).compute(incidents).rows == (
        whole.compute(incidents).rows
    )


KILLED = """
import os, pathlib, signal, sys
from tsadeval.cli import main

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[1] == "before":      # half of the new state is on disk, under another name
    os.fsync = die
elif sys.argv[1] == "rename":    # all of it is
    pathlib.Path.replace = die
else:                            # the new state is in place, and the process ends before it has said so
    replace = pathlib.Path.replace
    pathlib.Path.replace = lambda self, to: (replace(self, to), die())
sys.argv[1:] = sys.argv[2:]
main()
"""


@pytest.mark.parametrize("moment", ["before", "rename", "after"])
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_watch_loses_nothing_and_counts_no_point_twice(tmp_path, scores, moment):
    write(tmp_path, 14 * DAY, scores)
    assert watch(tmp_path).returncode == 0
    before = (tmp_path / "state.json").read_bytes()
    write(tmp_path, 21 * DAY, scores)
    line = [sys.executable, "-c", KILLED, moment, *WATCH, "--incidents", "incidents.csv", "--cooldown", "30min"]
    killed = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert ((tmp_path / "state.json").read_bytes() == before) == (moment != "after")
    assert killed.stdout.count("false so far\n") == 5  # what is new was said before the state was written
    again = watch(tmp_path)
    assert (again.returncode, again.stdout) == (3, "" if moment == "after" else killed.stdout)
    killed_state = state_of(tmp_path)
    (tmp_path / "state.json").write_bytes(before)
    watch(tmp_path)
    assert killed_state == state_of(tmp_path)
    assert te.StreamingEvaluator.from_state(killed_state["stream"]).compute()["points"] == 21 * DAY


def test_rows_that_are_not_whole_wait(tmp_path, scores):
    write(tmp_path, 14 * DAY, scores)
    text = (tmp_path / "scores.csv").read_text()
    row = f"{INDEX[14 * DAY]},3.14159\n"
    (tmp_path / "scores.csv").write_text(text + row[:-4])  # 3.14 would be a number as well
    watch(tmp_path)
    first = te.StreamingEvaluator.from_state(state_of(tmp_path)["stream"])
    (tmp_path / "scores.csv").write_text(text + row)
    watch(tmp_path)
    second = te.StreamingEvaluator.from_state(state_of(tmp_path)["stream"])
    assert (first.compute()["points"], second.compute()["points"]) == (14 * DAY, 14 * DAY + 1)
    assert state_of(tmp_path)["stream"]["recent"][-1] == 3.14159
    # What is compressed was written at once, and ends otherwise.
    (tmp_path / "scores.csv").unlink()
    (tmp_path / "state.json").unlink()
    (tmp_path / "scores.csv.gz").write_bytes(gzip.compress((text + row).encode()))
    packed = [name.replace("scores.csv", "scores.csv.gz") for name in WATCH]
    assert run(*packed, "--incidents", "incidents.csv", cwd=tmp_path).returncode == 0
    state = json.loads((tmp_path / "state.json").read_text())
    (stream,) = (one["stream"] for one in state["series"].values())
    assert stream["recent"][-1] == 3.14159


def test_several_servers_maintenance_and_missing_scores(tmp_path, scores):
    frames = []
    for server, shift in (("web-1", 0), ("web-2", 100)):
        frame = pd.DataFrame({"host": server, "time": INDEX[: 7 * DAY], "score": scores[: 7 * DAY] + shift})
        frame.loc[5:8, "score"] = np.nan
        frames.append(frame)
    pd.concat(frames).to_csv(tmp_path / "scores.csv", index=False)
    pd.DataFrame({"start": [INDEX[20]], "stop": [INDEX[30]]}).to_csv(tmp_path / "nights.csv", index=False)
    done = run(*WATCH, "--by", "host", "--threshold", "sustained(10, 2)", "--ignore", "nights.csv", cwd=tmp_path)
    assert done.returncode == 3  # every page is false as long as no incident is known, and web-2 is always alarmed
    series = json.loads((tmp_path / "state.json").read_text())["series"]
    pages = {name: te.StreamingEvaluator.from_state(one["stream"]).compute() for name, one in series.items()}
    assert {name: found["points"] for name, found in pages.items()} == dict.fromkeys(series, 7 * DAY - 14)
    assert {name: found["pages"] for name, found in pages.items()} == {"web-1": 2, "web-2": 1}
    # The first point of an alarm is none where two in a row are asked for.
    assert pages["web-1"]["false_positives"] == 2 * 6


def test_what_cannot_be_watched_is_refused(tmp_path, scores):
    write(tmp_path, 2 * DAY, scores)

    def refused(error, match, *options):
        with pytest.raises(error, match=match):
            runner(tmp_path, *options)

    refused(InvalidInputError, "no incident to choose a threshold by: name a file", "--time", "time")
    refused(InvalidInputError, "name their column with --time", "--threshold", "3")
    refused(InvalidParameterError, "--window must be a time", "--time", "time", "--window", "300")
    refused(InvalidParameterError, "--budget must be a rate", "--time", "time", "--budget", "often")
    refused(
        InvalidParameterError,
        "threshold must be a number in a stream",
        "--time",
        "time",
        "--threshold",
        "sustained(quantile(0.9), 2)",
    )
    (tmp_path / "state.json").write_text('{"series"')
    refused(InvalidInputError, "is no state of `tsadeval watch`", "--time", "time", "--threshold", "3")


def runner(folder, *options):
    from typer.testing import CliRunner

    from tsadeval.cli.app import app

    files = [str(folder / "scores.csv"), "--state", str(folder / "state.json")]
    return CliRunner().invoke(app, ["watch", *files, *options], catch_exceptions=False)
