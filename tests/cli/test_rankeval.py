"""`tsadeval rankeval`: tables, latencies, interrupted runs and bad input."""

import csv
import io
import json
import sys

import pytest

import commands
from interrupting import interrupt

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "tsadeval", "rankeval"]
SMALL = ["--cases", "10k-2seg-50L,10k-20seg-50H", "--tasks", "AccQ", "--jobs", "1"]


def run(*arguments, cwd=None):
    return commands.run("rankeval", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs")
    (path / "mine.py").write_text(
        '"""A metric of five lines."""\n'
        "\n"
        "def separation(y_true, y_score):\n"
        "    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()\n"
        "\n"
        "def fails(y_true, y_score):\n"
        "    raise ValueError('no')\n"
    )
    metrics = "cce,cce(tau=0.4, constrained=True),f1,mine:separation,mine:fails"
    done = run("run", "--metrics", metrics, "--store", "store", *SMALL, cwd=path)
    assert done.returncode == 1, done.stderr  # because one metric failed
    assert "mine:separation" in done.stdout
    assert "mean rank deviation (lower is better)" in done.stdout
    assert "mine:fails failed on 60 series, first with ValueError: no" in done.stderr
    assert "the values are in store" in done.stderr
    return path


def test_table(folder):
    done = run("table", "store", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "cce(tau=0.4, constrained=True)" in done.stdout
    rows = json.loads(run("table", "store", "--format", "json", cwd=folder).stdout)
    best = {row["metric"] for row in rows if row["mark"] == "best" and row["task"] == "average"}
    assert {"cce", "mine:separation"} <= best
    assert r"\textbf{1.000}" in run("table", "store", "--format", "latex", cwd=folder).stdout
    by_sigma = csv.DictReader(io.StringIO(run("table", "store", "--by", "sigma", "--format", "csv", cwd=folder).stdout))
    assert {row["sigma"] for row in by_sigma} == {"0.0", "0.05", "0.1"}
    assert "as published" in run("table", "store", "--ties", "published", cwd=folder).stdout


def test_latency(folder):
    rows = json.loads(run("latency", "store", "--format", "json", cwd=folder).stdout)
    assert "mine:separation" in {row["metric"] for row in rows}
    one = run("latency", "store", "--metric", "cce", cwd=folder)
    assert one.stdout.splitlines()[0].split()[:4] == ["metric", "generator", "n", "events"]


def test_list(monkeypatch):
    monkeypatch.delenv("TSADEVAL_DATA", raising=False)
    done = run("list")
    assert [line.split()[0] for line in done.stdout.splitlines()[2:6]] == ["quick", "paper", "paper-text", "standard"]
    assert "not present, join with --data or TSADEVAL_DATA: MSL" in done.stdout


def test_an_interrupted_run_says_how_to_go_on(folder):
    (folder / "slow.py").write_text(
        "import time\ndef slow(y_true, y_score):\n    time.sleep(0.02)\n    return y_score[y_true == 1].mean()\n"
    )
    arguments = ["run", "--metrics", "slow:slow", "--store", "slow", "--tasks", "AccQ", "--jobs", "2"]
    line = interrupt([*COMMAND, *arguments], folder, "slow", 3)
    assert line.startswith("tsadeval: stopped; ")
    assert line.endswith(" of 180 values are kept. The same command again computes the rest.")
    kept = len(list((folder / "slow").glob("parts/*.parquet")))
    again = run(*arguments, cwd=folder)
    assert again.returncode == 0, again.stderr
    assert len(list((folder / "slow").glob("parts/*.parquet"))) >= max(
        18, kept
    )  # more where a chunk takes over a second


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ties", "best"], "'best' is not one of 'average', 'published'"),
        (["--by", "case"], "'case' is not one of 'task', 'sigma'"),
    ],
)
def test_choices_are_those_of_the_option(arguments, message):
    done = run("table", "store", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{arguments[0]}'" in done.stderr
    assert message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--suite", "qick"], "unknown suite 'qick': did you mean quick?"),
        (["run", "--suite", "hrad"], "unknown suite 'hrad': did you mean hard?"),
        (["run", "--metrics", "mine:nothing"], "metric 'mine:nothing': module 'mine' has no 'nothing'"),
        (
            ["run", "--seed", "1", "--suite", "paper"],
            "suite 'paper' has the published seeds: leave random_state",
        ),
        (["table", "nowhere"], "nowhere holds no results: run `tsadeval rankeval run --store nowhere` first"),
        (["table", "store", "--suite", "paper"], "store has no run of paper"),
        (["latency", "store", "--metric", "ccee"], "no metric 'ccee' in this result: did you mean cce"),
    ],
)
def test_bad_input_is_one_clear_line(folder, arguments, message):
    done = run(*arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"tsadeval: {message}")
