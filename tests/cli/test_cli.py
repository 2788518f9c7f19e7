"""The command line: files of scores, and what is listed."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import tsadeval as te
from commands import run
from tsadeval.cli.options import show
from tsadeval.core.metric import METRICS
from tsadeval.core.results import Result
from tsadeval.detectors import DETECTORS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores")
    rng = np.random.default_rng(0)
    y = np.zeros(300, np.int64)
    y[100:130] = y[200:205] = 1
    s, noise = 0.8 * y + 0.2 * rng.random(300), rng.random(300)
    frame = pd.DataFrame({"label": y, "score": s, "noise": noise})
    frame.to_csv(path / "a.csv", index=False)
    frame.to_parquet(path / "a.parquet")
    np.savez(path / "a.npz", **{name: frame[name].to_numpy() for name in frame})
    np.save(path / "a.npy", frame.to_numpy())
    np.save(path / "named.npy", frame.to_records(index=False))
    pd.DataFrame({"label": 0 * y, "score": s}).to_csv(path / "normal.csv", index=False)
    np.save(path / "flat.npy", s)
    np.save(path / "pickled.npy", np.array([{}]), allow_pickle=True)
    (path / "broken.parquet").write_text("no parquet")
    (path / "empty.csv").write_text("")
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npz", "a.npy", "named.npy"])
def test_scores_every_kind_of_file(folder, name):
    done = run("score", folder / name, "--metrics", "cce", "--format", "json")
    frame = pd.read_csv(folder / "a.csv")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)
    assert row["value"] == pytest.approx(te.cce(frame["label"], frame["score"]), abs=1e-12)


def test_several_files_columns_and_metrics(folder):
    done = run(
        *("score", "a.csv", "a.npz", "--score", "score", "--score", "noise"),
        *("--metrics", "cce,cce(tau=0.4, constrained=True)", "--metrics", "cce(gamma=5)", "--format", "csv"),
        cwd=folder,
    )
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(r["file"], r["score"], r["metric"]) for r in rows] == [
        (file, column, metric)
        for file in ("a.csv", "a.npz")
        for column in ("score", "noise")
        for metric in ("cce", "cce(tau=0.4, constrained=True)", "cce(gamma=5)")
    ]
    assert list(rows[0])[:4] == ["file", "score", "metric", "value"]


@pytest.mark.slow
def test_table_and_latex(folder):
    one = run("score", "a.csv", cwd=folder).stdout
    assert "ears" in one
    assert "chosen with the labels" in one
    assert "quantile(0.95)" in run("score", "a.csv", "--threshold", "quantile(0.95)", cwd=folder).stdout
    many = run("score", "a.csv", "a.npy", "--metrics", "cce", cwd=folder).stdout
    assert len(many.splitlines()) == 4
    assert many.splitlines()[0].split() == ["file", "score", "cce"]
    wide = run("score", "a.csv", "a.npy", "--metrics", "cce,f1,auc_roc", cwd=folder).stdout
    assert wide.splitlines()[0].split() == ["metric", "a.csv", "a.npy"]
    assert r"\begin{tabular}" in run("score", "a.csv", "--format", "latex", cwd=folder).stdout


@pytest.mark.parametrize("command", [["score", "a.csv"], ["metrics"], ["datasets", "list"], ["rankeval", "list"]])
def test_every_table_is_printed_as_html_too(folder, command):
    assert "<table><thead>" in run(*command, "--format", "html", cwd=folder).stdout


def test_a_detector_is_described_by_its_own_text(folder):
    for name, text in ("usad", "A1 and A2 the two autoencoders"), ("lof", "in sparser surroundings"):
        assert text in run("detectors", name, cwd=folder).stdout


def test_no_text_in_csv_is_a_formula_and_numbers_stay():
    names = ["=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\tx", "a=b"]
    result = Result([{"=series": name, "value": -0.5, "n": -3} for name in names])
    head, *rows = csv.reader(io.StringIO(show(result, "csv")))
    assert head == ["'=series", "value", "n"]
    assert rows == [[f"'{name}" if name != "a=b" else name, "-0.5", "-3"] for name in names]
    assert json.loads(show(result, "json"))[0]["=series"] == names[0]


def test_undefined_is_said_and_left_empty(folder):
    done = run("score", "normal.csv", "--metrics", "cce", "--format", "csv", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.splitlines()[1].startswith("normal.csv,score,cce,,undefined,")
    assert done.stderr.splitlines() == [
        "tsadeval: normal.csv, score: cce is undefined, so NaN: y_true has no anomalous point (no 1)",
        "tsadeval: no metric has a value: see the lines above",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.csv", "--label", "lable"], "a.csv: no column 'lable' for the labels: did you mean label?"),
        (["a.csv", "--score", "nois"], "a.csv: no column 'nois' for the scores: did you mean noise?"),
        (["nope.csv"], "nope.csv: no such file"),
        (["a.txt"], "a.txt: cannot read .txt"),
        (["flat.npy"], "flat.npy: expected named fields or shape (n, columns), but it has shape (300,)"),
        (["pickled.npy"], "pickled.npy: holds Python objects (a pickle), which are never opened"),
        (["broken.parquet"], "broken.parquet: damaged or truncated"),
        (["empty.csv"], "empty.csv: the file is empty"),
        (["a.csv", "--metrics", "cec"], "unknown metric or set 'cec': did you mean mcc or cce?"),
        (["a.csv", "--metrics", "cce(tau=3)"], "cce: tau must be a number in [0, 1], but is 3"),
        (["a.csv", "--threshold", "quantil(0.9)"], "unknown threshold rule 'quantil': did you mean quantile"),
        (["a.csv", "--label", "noise"], "a.csv, score: y_true must be 0 (normal) or 1"),
    ],
)
def test_bad_input_is_one_clear_line(folder, arguments, message):
    done = run("score", *arguments, cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"tsadeval: {message}")


@pytest.mark.slow
def test_metrics_lists_the_registry():
    done = run("metrics", "--format", "json")
    assert [row["metric"] for row in json.loads(done.stdout)] == list(METRICS)
    assert "cce" in run("metrics").stdout
    one = run("metrics", "cce").stdout
    assert "tau=0.5: a number in [0, 1]" in one
    assert run("metrics", "cec").returncode == 2


@pytest.mark.slow
def test_detectors_lists_the_registry():
    done = run("detectors", "--format", "json")
    assert [row["detector"] for row in json.loads(done.stdout)] == list(DETECTORS)
    one = run("detectors", "usad(window=50)").stdout
    assert one.startswith("usad(window=50): Two autoencoders")
    assert "window=50: points that the network sees at once" in one
    assert "KDD 2020" in one
    assert run("detectors", "usda").returncode == 2


@pytest.mark.slow
def test_python_runs_the_package():
    command = [sys.executable, "-m", "tsadeval"]
    done = subprocess.run([*command, "score", "nope.csv"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "tsadeval: nope.csv: no such file\n")


def test_version_and_help():
    assert run("--version").stdout == f"tsadeval {te.__version__}\n"
    assert "score" in run("--help").stdout


def test_without_the_extra_one_line_says_what_to_install(tmp_path):
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError(\"No module named 'typer'\", name='typer')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from tsadeval.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "metrics"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "tsadeval: this needs typer, which is not installed: pip install 'tsadeval[all]'\n"
