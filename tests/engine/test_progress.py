"""Progress of long runs: lines off a terminal, bars of tqdm, functions; and what notebooks and shells show."""

import functools
import sys

import numpy as np
import pytest

import commands
import tsadeval as te
from detecting import Distance
from tsadeval.core.metric import METRICS
from tsadeval.engine.progress import Bar
from tsadeval.errors import InvalidParameterError

MADE = []


class Told:
    """What tqdm has and is used of it."""

    def __init__(self, desc=None, ncols=None):
        self.desc, self.ncols, self.total, self.n, self.names, self.closed = desc, ncols, None, 0, [], False
        MADE.append(self)

    def update(self, n):
        self.n += n

    def set_postfix_str(self, text, refresh=True):
        self.names.append(text)

    def close(self):
        self.closed = True


def test_lines_off_a_terminal(capsys, monkeypatch):
    with Bar("detect") as bar:
        bar(0, 4)
        bar(1, 4, "a.csv, lof")
    assert capsys.readouterr().err == ""  # a short run prints nothing
    for name in ("FIRST_SECONDS", "LINE_SECONDS"):
        monkeypatch.setattr(f"tsadeval.engine.progress.{name}", 0)
    with Bar("detect") as bar:
        bar(0, 4)
        bar(2, 4, "a.csv, lof")
    assert capsys.readouterr().err.splitlines()[-1] == "detect: 2 of 4 values; a.csv, lof"
    assert bar.words == "2 of 4 values are kept"


def test_time_left(capsys, monkeypatch):
    clock = iter([0.0, 20.0])
    monkeypatch.setattr("tsadeval.engine.progress.time.monotonic", lambda: next(clock))
    with Bar("run") as bar:
        bar(10, 100)
        bar(20, 100)
    assert capsys.readouterr().err == "run: 20 of 100 values, about 160 s left\n"


def test_the_first_line_comes_after_two_seconds(capsys, monkeypatch):
    clock = iter([0.0, 1.5, 2.0, 6.5, 7.0])
    monkeypatch.setattr("tsadeval.engine.progress.time.monotonic", lambda: next(clock))
    with Bar("run") as bar:
        for done in range(5):
            bar(done, 1000)
    assert capsys.readouterr().err == "run: 2 of 1000 values\nrun: 4 of 1000 values\n"


def test_the_first_tenth_says_nothing_of_the_time_left(capsys, monkeypatch):
    clock = iter([0.0, 50.0, 70.0])
    monkeypatch.setattr("tsadeval.engine.progress.time.monotonic", lambda: next(clock))
    with Bar("run") as bar:
        bar(0, 1000)
        bar(99, 1000)  # the slow ones first, perhaps
        bar(700, 1000)
    assert capsys.readouterr().err == "run: 99 of 1000 values\nrun: 700 of 1000 values, about 30 s left\n"


@pytest.mark.parametrize("make", [Told, functools.partial(Told, ncols=50)], ids=["class", "partial"])
def test_bars_of_tqdm(files, tmp_path, make):
    MADE.clear()
    te.detect(files, [Distance(), "lof(window=5)"], ["cce", "auc_roc"], store=tmp_path / "store", progress=make)
    (bar,) = MADE
    assert (bar.n, bar.total, bar.closed) == (8, 8, True)
    assert bar.ncols == getattr(make, "keywords", {}).get("ncols")
    assert any("a.csv" in name and "lof(window=5)" in name for name in bar.names)
    assert any("Distance" in name and "@" not in name for name in bar.names)


def test_tqdm_itself(files, tmp_path, capsys):
    tqdm = pytest.importorskip("tqdm", reason="tqdm is not installed")
    te.detect(files[:1], "lof(window=5)", "cce", store=tmp_path / "store", progress=tqdm.tqdm)
    shown = capsys.readouterr().err
    assert "1/1" in shown
    assert "lof(window=5)" in shown


def test_functions_and_what_is_refused(files):
    told = []
    te.detect(files[:1], "lof(window=5)", "cce", progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 1), (1, 1)]
    with pytest.raises(InvalidParameterError, match="progress must be True"):
        te.detect(files[:1], "lof(window=5)", "cce", progress="bar")


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_a_long_chunk_is_seen_to_move_and_what_it_has_is_kept(tmp_path, monkeypatch, n_jobs):
    monkeypatch.setattr("tsadeval.engine.cells.BATCH_SECONDS", 0.0)  # as if each value took long
    one_chunk = {"cases": ["10k-20seg-50H"], "tasks": ["AccQ"], "store": tmp_path / "store", "n_jobs": n_jobs}
    told = []

    def interrupt(done, total):
        told.append(done)
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        te.rankeval.run("quick", "cce", progress=interrupt, **one_chunk)
    assert told[0] == 0
    assert 3 <= told[-1] < 30
    told.clear()
    result = te.rankeval.run("quick", "cce", progress=lambda done, total: told.append((done, total)), **one_chunk)
    assert told[0][0] >= 3  # not computed again
    assert told[-1][0] == told[-1][1] == len(result.to_frame())
    assert len(set(told)) > 5


def test_notebooks_show_tables():
    labels, scores = np.array([0, 0, 1, 0, 0, 1, 1, 0]), np.array([0.1, 0.2, 0.9, 0.3, 0.1, 0.8, 0.4, 0.2])
    shown = [
        te.evaluate(labels, scores),
        te.compare({"a": scores, "b": scores**2}, labels),
        te.cce_breakdown(labels, scores),
        te.ears_breakdown(labels, scores),
        te.detectors.DETECTORS,
        METRICS,
    ]
    for one in shown:
        assert "<table>" in one._repr_html_()
    assert "Histograms" in te.detectors.DETECTORS._repr_html_()


def test_short_help_and_completion(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)  # which names the command after `python -m`

    def run(*words, **variables):
        return commands.run(*words, **variables).stdout

    assert "detect" in run("-h")
    assert "--detectors" in run("detect", "-h")
    assert "tsadeval_completion" in run(_TSADEVAL_COMPLETE="source_bash")
    asked = {
        "_TSADEVAL_COMPLETE": "complete_bash",
        "COMP_WORDS": "tsadeval detect x --detectors lof,k",
        "COMP_CWORD": "4",
    }
    assert run(**asked).split() == ["lof,kmeans_ad", "lof,knn"]
    asked |= {"COMP_WORDS": "tsadeval metrics vus_", "COMP_CWORD": "2"}
    assert {"vus_pr", "vus_roc"} <= set(run(**asked).split())
