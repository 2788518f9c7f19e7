"""Submissions to a leaderboard: what is wrong with one is said, and the others are taken."""

import json
import os

import numpy as np
import pyarrow.parquet as pq
import pytest

import boards
import commands
from tsadeval.errors import InvalidInputError
from tsadeval.leaderboard.site import build_site
from tsadeval.leaderboard.submissions import check_submission, labels_digest, read_board


@pytest.fixture
def board(tmp_path):
    return boards.make(tmp_path / "board")


def test_a_submission_that_cannot_be_read_is_left_out(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    (board / "submissions" / "broken").mkdir()
    found = build_site(board, tmp_path / "site")
    assert len(found.submissions) == 3
    (problem,) = found.problems
    assert problem.startswith("broken: ")
    assert "about.toml: no such file" in problem
    assert "broken" in (tmp_path / "site" / "about.html").read_text(encoding="utf-8")


def test_score_files_that_cannot_be_used_are_named_by_every_build(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc", "f1"])
    (board / "submissions/d0/scores/a/0.npz").write_bytes(b"no zip")
    boards.write(board / "submissions/d2/scores/a/1.npz", score=np.zeros(3))
    for _ in range(2):  # the second finds it in the store
        done = commands.run("leaderboard", "build", board, "-o", tmp_path / "site")
        assert done.returncode == 1
        first, second = [line for line in done.stderr.splitlines() if "left out" in line]
        assert "left out: good, series a/0: " in first
        assert "left out: poor, series a/1: " in second
        assert "3 scores, but the series has 400 points" in second
    assert "3 scores, but the series" in (tmp_path / "site" / "about.html").read_text(encoding="utf-8")


def test_a_good_submission_has_nothing_to_correct(board):
    assert check_submission(board / "submissions" / "d0", board) == []


def write_about(folder, text):
    (folder / "about.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "about.toml").unlink(), "about.toml: no such file"),
        (lambda f: write_about(f, 'name = "x"'), "author is missing; needed are name, author, training"),
        (lambda f: write_about(f, 'name = "x"\nauthor = "y"\ntraining = 3'), "training must be a text"),
        (lambda f: write_about(f, 'name = "x"\nauthor = "y"\ntraining = "z"\nurl = "u"'), "unknown key"),
        (lambda f: write_about(f, "name = "), "not a TOML file"),
        (lambda f: boards.write(f / "scores/a/0.npz", score=np.zeros(3)), "3 scores, but the series has 400 points"),
        (lambda f: boards.write(f / "scores/a/0.npz", scores=np.zeros(400)), "no column 'score'"),
        (lambda f: boards.write(f / "scores/a/0.npz", score=np.full(400, np.inf)), "some are infinite"),
        (lambda f: boards.write(f / "scores/a/0.npz", score=np.full(400, np.nan)), "no point has a score"),
        (lambda f: boards.write(f / "scores/c.npz", score=np.zeros(4)), "the board has no series 'c'"),
        (lambda f: (f / "labels.sha256").write_text("what"), 'line 1: expected "checksum  series"'),
        (lambda f: (f / "labels.sha256").write_text("0" * 64 + "  a/0\n"), "the scores belong to other labels"),
        (lambda f: (f / "scores/a/0.npz").write_bytes(b"no zip"), "0.npz"),
        (lambda f: (f / "scores/a/0.npz").unlink(), "note: no scores for 1 of 4 series"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, spoil, message):
    board = boards.make(tmp_path / "board")
    folder = board / "submissions" / "d0"
    spoil(folder)
    lines = check_submission(folder, board)
    assert any(message in line for line in lines), lines


@pytest.mark.parametrize(
    "part", ["about.toml", "labels.sha256", "scores/a/0.npz", "scores/a", "scores", "more/of/mine.txt", "../d0"]
)
def test_links_are_not_followed(tmp_path, part):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    folder = board / "submissions" / "d0"
    lost, secret = (folder / part).resolve(), tmp_path / "secret"
    lost.parent.mkdir(parents=True, exist_ok=True)
    if lost.exists():
        lost.rename(secret)
    else:
        secret.write_text("a secret of the keeper\n")
    lost.symlink_to(secret)
    (line,) = check_submission(folder, board)
    assert line.endswith(f"{lost.relative_to(board)}: is a link; a submission must hold the file or folder itself")
    found = build_site(board, tmp_path / "site")
    assert found.problems == (f"d0: {line}",)
    assert len(found.submissions) == 2
    assert not any(b"of the keeper" in path.read_bytes() for path in (tmp_path / "site").rglob("*.*"))


@pytest.mark.parametrize("part", ["about.toml", "labels.sha256", "scores/a/0.npz"])
def test_pipes_are_not_opened(tmp_path, part):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    path = board / "submissions" / "d0" / part
    path.unlink(missing_ok=True)
    os.mkfifo(path)  # to open it would wait for ever
    (line,) = check_submission(board / "submissions" / "d0", board)
    assert "is a named pipe, expected a file" in line
    assert read_board(board).problems == (f"d0: {line}",)
    (board / "board.toml").unlink()
    os.mkfifo(board / "board.toml")
    with pytest.raises(InvalidInputError, match=r"board\.toml: is a named pipe, expected a file"):
        read_board(board)


def test_descriptions_are_limited_in_size(board, monkeypatch):
    monkeypatch.setenv("TSADEVAL_MAX_BYTES", "50")
    (line,) = check_submission(board / "submissions" / "d0")
    assert "about.toml: larger than 50 bytes" in line


def test_a_right_checksum_of_labels_is_accepted(board):
    digest = labels_digest(boards.labels(0))
    (board / "submissions" / "d0" / "labels.sha256").write_text(f"{digest}  a/0\n")
    assert check_submission(board / "submissions" / "d0", board) == []
    (board / "submissions" / "d0" / "labels.sha256").unlink()


def test_boards_that_cannot_be_read(tmp_path):
    with pytest.raises(InvalidInputError, match="expected label files in this folder, found none"):
        read_board(tmp_path)
    board = boards.make(tmp_path / "board")
    (board / "board.toml").write_text('titel = "x"')
    with pytest.raises(InvalidInputError, match="unknown key: did you mean title"):
        read_board(board)
    (board / "board.toml").unlink()
    boards.submission(board, "again", "good")
    with pytest.raises(InvalidInputError, match="have the same name 'good'"):
        read_board(board)


def values_of(site, detector, metric="auc_roc"):
    rows = pq.read_table(site / "data" / "values.parquet").to_pylist()
    return {row["series"]: row for row in rows if row["detector"] == detector and row["metric"] == metric}


def test_scores_of_other_labels_are_not_judged_by_a_build(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    (board / "submissions" / "d0" / "labels.sha256").write_text("0" * 64 + "  a/0\n")
    found = build_site(board, tmp_path / "site")
    (problem,) = found.problems
    assert problem.startswith("d0: labels.sha256 has another checksum")
    assert sorted(values_of(tmp_path / "site", "good")) == ["a/1", "b & <i>", "b/0"]
    about = (tmp_path / "site" / "about.html").read_text(encoding="utf-8")
    assert "the scores belong to other labels" in about


def test_score_files_of_no_series_are_named_by_a_build(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    boards.write(board / "submissions" / "d0" / "scores" / "c.npz", score=np.zeros(4))
    found = build_site(board, tmp_path / "site")
    assert found.problems == ("d0: the board has no series of 1 of its score files (c)",)
    assert len(values_of(tmp_path / "site", "good")) == 4


@pytest.mark.parametrize("scores", [2**60 + boards.labels(0).astype(np.int64), np.ones((400, 2))])
def test_scores_that_cannot_be_judged_are_named_by_check_and_build(tmp_path, scores):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    folder = board / "submissions" / "d0"
    boards.write(folder / "scores" / "a" / "0.npz", score=scores)
    (line,) = check_submission(folder, board)
    assert "64-bit floats" in line or "one-dimensional" in line
    build_site(board, tmp_path / "site")
    row = values_of(tmp_path / "site", "good")["a/0"]
    assert row["status"] == "missing"
    assert np.isnan(row["value"])
    assert "0.npz: score " in row["message"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("uniform", "is the name of a baseline"),
        (" good", "name must be one line of printable characters"),
        ("go\\nod", "name must be one line of printable characters"),
        ("go\u202eod", "name must be one line of printable characters"),
    ],
)
def test_names_that_could_be_taken_for_others_leave_a_submission_out(tmp_path, name, message):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    write_about(board / "submissions" / "d2", f'name = "{name}"\nauthor = "y"\ntraining = "z"')
    (line,) = check_submission(board / "submissions" / "d2", board)
    assert message in line
    found = build_site(board, tmp_path / "site")
    assert len(found.submissions) == 2
    assert message in found.problems[0]


def test_a_folder_may_be_called_as_a_group_that_is_there_anyway(tmp_path):
    board = boards.make(tmp_path / "board", ["auc_roc"])
    boards.write(board / "labels" / "all series" / "x.npz", label=boards.labels(1))
    build_site(board, tmp_path / "site")
    text = (tmp_path / "site" / "data" / "board.js").read_text(encoding="utf-8")
    groups = json.loads(text.removeprefix("window.BOARD = ").removesuffix(";\n"))["groups"]
    assert (groups["all series"], groups["all series (folder)"]) == (5, 1)


def test_labels_that_are_wrong_are_named_by_their_file(board):
    boards.write(board / "labels" / "a" / "0.npz", label=np.full(400, np.nan))
    with pytest.raises(InvalidInputError, match=r"0\.npz: label is NaN at position 0"):
        build_site(board, board / "site")


def test_metrics_of_a_board_that_are_no_names(board):
    (board / "board.toml").write_text("metrics = 3")
    with pytest.raises(InvalidInputError, match="metrics must be names or functions"):
        read_board(board)
