"""`tsadeval leaderboard import`: a board from a long table has the values of the table."""

import numpy as np
import pandas as pd
import pytest

import commands
import tsadeval as te
from tsadeval.errors import InvalidInputError
from tsadeval.leaderboard.submissions import import_scores, read_board, read_labels, read_scores


@pytest.fixture
def table(tmp_path):
    rng, rows = np.random.default_rng(0), []
    for series in ("a/0", "a/1", "b/0"):
        y = (np.arange(300) // 10 == 5).astype(int)
        for detector, skill in (("LOF (k=3)", 2), ("PCA", 0)):
            if (series, detector) != ("b/0", "PCA"):
                s = rng.normal(size=300) + skill * y
                s[3] = np.nan
                values = np.sin(np.arange(300) / 9)
                rows.append(pd.DataFrame({"s": series, "d": detector, "label": y, "score": s, "value": values}))
    path = tmp_path / "table.parquet"
    pd.concat(rows).to_parquet(path)
    return path


def test_a_board_from_a_long_table_has_its_values(table, tmp_path):
    found = te.Scores(table, by=["s", "d"], detector="d", values="value")
    lines = import_scores(found, tmp_path / "board", author="me", training='none, "really"')
    assert lines == ["submissions/LOF_k_3: 3 of 3 series", "submissions/PCA: 2 of 3 series"]
    board = read_board(tmp_path / "board")
    assert board.problems == ()
    assert [(one.name, one.about["author"], one.about["training"]) for one in board.submissions] == [
        ("LOF (k=3)", "me", 'none, "really"'),
        ("PCA", "me", 'none, "really"'),
    ]
    assert list(board.series) == ["a/0", "a/1", "b/0"]
    for one in found:
        submission = next(each for each in board.submissions if each.name == one.detector)
        assert np.array_equal(read_scores(submission.scores[one.series]), one.given.y_score, equal_nan=True)
        labels, values = read_labels(board.series[one.series].path)
        assert np.array_equal(labels, one.given.y_true)
        assert np.array_equal(values, np.sin(np.arange(300) / 9))


def test_what_the_board_has_stays(table, tmp_path):
    found = te.Scores(table, by=["s", "d"], detector="d")
    import_scores(found.select(detectors=["PCA"]), tmp_path, author="me", training="none")
    with pytest.raises(InvalidInputError, match=r"submissions/PCA: is there already \(detector 'PCA'\)"):
        import_scores(found, tmp_path, author="me", training="none")
    other = te.Scores([("a/0", "new", np.arange(300) > 290, np.arange(300.0))])
    with pytest.raises(InvalidInputError, match="the board has other labels of this series"):
        import_scores(other, tmp_path, author="me", training="none")
    assert not (tmp_path / "submissions" / "new").exists()
    outside = te.Scores([("../a", "new", np.arange(300) > 290, np.arange(300.0))])
    with pytest.raises(InvalidInputError, match="is no path below the board"):
        import_scores(outside, tmp_path, author="me", training="none")
    alike = te.Scores([("x", name, np.arange(300) > 290, np.arange(300.0)) for name in ("d 1", "d+1")])
    with pytest.raises(InvalidInputError, match="is there already"):
        import_scores(alike, tmp_path, author="me", training="none")


def test_the_command_imports_what_it_can_read(table, tmp_path):
    board = tmp_path / "board"
    done = commands.run("leaderboard", "import", table, "--by", "s,d", "--detector", "d", "--board", board)
    assert (done.returncode, done.stdout) == (0, "submissions/LOF_k_3: 3 of 3 series\nsubmissions/PCA: 2 of 3 series\n")
    assert commands.run("leaderboard", "check", board / "submissions" / "PCA", "--board", board).returncode == 0
