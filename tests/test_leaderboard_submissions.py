"""Submissions to a leaderboard: what is wrong with one is said, and the others are taken."""

import numpy as np
import pytest

import boards
from tsadeval.errors import InvalidInputError
from tsadeval.reports.leaderboard import build_site
from tsadeval.reports.submission import check_submission, labels_digest, read_board


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
    assert "there is no such file" in problem
    assert "broken" in (tmp_path / "site" / "about.html").read_text(encoding="utf-8")


def test_a_good_submission_has_nothing_to_correct(board):
    assert check_submission(board / "submissions" / "d0", board) == []


def write_about(folder, text):
    (folder / "about.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "about.toml").unlink(), "there is no such file"),
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
    boards.submission(board, "again", "uniform")
    with pytest.raises(InvalidInputError, match="'uniform' is the name of a baseline"):
        build_site(board, tmp_path / "site")
