"""`tsadeval detect`: tables, formats, interrupted runs and bad input."""

import csv
import io
import json
import sys

import numpy as np
import pytest

import commands
from interrupting import interrupt

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "tsadeval", "detect"]
MINE = """
import time
import numpy as np

class Distance:
    def __init__(self, power=1, pause=0.0):
        self.power, self.pause = power, pause
    def fit(self, X):
        time.sleep(self.pause)
        self.middle = X.mean(axis=0)
        return self
    def score(self, X):
        return np.abs(X - self.middle).sum(axis=1) ** self.power

class Broken(Distance):
    def fit(self, X):
        raise ValueError("no way")
"""


def run(*arguments, cwd):
    return commands.run_here("detect", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs")
    (path / "mine.py").write_text(MINE)
    for name, seed in (("a", 0), ("b", 1)):
        values = np.random.default_rng(seed).normal(size=200)
        label = (np.arange(200) // 10 == 15).astype(int)
        table = np.column_stack([values + 4 * label, label])
        np.savetxt(path / f"{name}.csv", table, delimiter=",", header="x,label", comments="", fmt="%.5f")
    return path


ALL = ["a.csv(split=100)", "b.csv", "--store", "store", "--detectors", "random,mine:Distance,mine:Broken"]


def test_tables(folder):
    done = run(*ALL, "--metrics", "cce,auc_roc", cwd=folder)
    assert done.returncode == 1, done.stderr  # one of them failed
    assert "alarms by the rule best" in done.stdout
    heads = [line.split("  ")[0] for line in done.stdout.splitlines() if line.endswith("auc_roc")]
    assert heads == ["a.csv(split=100)", "b.csv", "average over 2 series"]
    assert "Distance" in done.stdout
    assert "tsadeval: Broken failed on a.csv(split=100): ValueError: no way" in done.stderr
    assert "tsadeval: scores and values are in store" in done.stderr
    assert sorted(path.name for path in (folder / "store/scores/b.csv").iterdir())[1] == "random.npz"


def test_fitted_on_the_test_part(folder):
    arguments = ["a.csv(split=0.5)", "--detectors", "moving_variance", "--metrics", "auc_roc", "--store", "own"]
    done = run(*arguments, "--fit", "test", cwd=folder)
    assert done.returncode == 0
    assert "fitted on the test part" in done.stdout
    assert run(*arguments, "--fit", "both", cwd=folder).returncode == 2


def test_formats(folder):
    _, text, errors = run(*ALL, "--metrics", "cce,f1,mine:Distance", "--format", "json", cwd=folder)
    assert "mine:Distance failed on Random" in errors
    assert {row["metric"] for row in json.loads(text)} == {"cce", "f1", "mine:Distance"}
    code, text, _ = run(*ALL[:-1], "random", "--metrics", "f1", "--format", "csv", cwd=folder)
    assert code == 0
    assert [row["detector"] for row in csv.DictReader(io.StringIO(text))] == ["random", "random"]
    _, text, _ = run(*ALL, "--metrics", "cce,f1", "--format", "latex", "--percent", cwd=folder)
    assert r"\emph{a.csv(split=100)}} \\" in text
    assert r"Distance & \textbf{" in text
    assert r"Broken & -- & -- \\" in text


def test_many_failures_do_not_hide_the_result(folder):
    broken = [f"mine:Broken(power={k})" for k in range(1, 31)]
    arguments = ["a.csv", "--store", "broken", "--metrics", "cce", "--detectors", ",".join(broken)]
    errors = run(*arguments, cwd=folder).stderr.splitlines()
    assert sum("failed on" in line for line in errors) == 20
    assert "tsadeval: and 10 more such lines: --format csv has all messages" in errors
    rows = csv.DictReader(io.StringIO(run(*arguments, "--format", "csv", cwd=folder).stdout))
    assert [row["message"] for row in rows] == ["ValueError: no way (mine.py, line 17, in fit)"] * 30


def test_an_interrupted_run_says_how_to_go_on(folder):
    arguments = ["a.csv", "b.csv", "--store", "slow", "--metrics", "cce", "--detectors"]
    arguments += [",".join(f"mine:Distance(power={k}, pause=0.1)" for k in (1, 2, 3, 4))]
    line = interrupt([*COMMAND, *arguments], folder, "slow", 2)
    assert line.startswith("tsadeval: stopped; ")
    assert line.endswith(" of 8 values are kept. The same command again computes the rest.")
    again = run(*arguments, cwd=folder)
    assert again.returncode == 0, again.stderr
    assert len(list((folder / "slow").glob("parts/*.parquet"))) == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.csv", "--detectors", "randon"], "unknown detector 'randon': did you mean random?"),
        (["a.csv", "--detectors", "mine:Nothing"], "detector 'mine:Nothing': module 'mine' has no 'Nothing'"),
        (["a.csv", "--detectors", "random", "--metrics", "ccee"], "unknown metric or set 'ccee': did you mean"),
        (["a.csv", "--detectors", "random", "--threshold", "high"], "unknown threshold rule 'high'"),
        (["a.csv(splat=3)", "--detectors", "random"], "splat"),
        (["c.csv", "--detectors", "random"], "c.csv"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(folder, arguments, message):
    code, _, errors = run(*arguments, "--store", "other", cwd=folder)
    assert code == 2
    (line,) = errors.splitlines()
    assert line.startswith("tsadeval: ")
    assert message in line
