"""Messages name options on the command line, also those of worker processes, and arguments in Python."""

import warnings

import pytest
from typer.testing import CliRunner

import tsadeval as te
from tsadeval.cli.app import app
from tsadeval.errors import for_command_line, hint


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        rows = "".join(f"2026-01-01 00:{k:02},{k % 7}\n" for k in range(30))
        (tmp_path / f"{name}.csv").write_text("time,score\n" + rows)
    (tmp_path / "incidents.csv").write_text("start,stop\n2026-01-01 00:05,2026-01-01 00:05\n")


@pytest.mark.parametrize("jobs", [[], ["--jobs", "1"], ["--jobs", "2"]])
def test_the_command_line_names_its_options(files, jobs):
    done = CliRunner().invoke(app, ["score", "a.csv", "b.csv", "--time", "time", "--incidents", "incidents.csv", *jobs])
    assert done.exit_code in (1, 2)
    assert "give it a stop after its start" in done.stderr
    assert "closed=" not in done.stderr


@pytest.mark.parametrize(
    ("ask", "python", "command"),
    [
        (lambda: te.evaluate([0, float("nan"), 1], [1, 2, 3], "f1"), "ignore= of te.evaluate", "--ignore"),
        (lambda: te.evaluate([0, 1], [1, float("nan")], missing="error"), 'missing="skip"', "--missing skip"),
        (lambda: te.evaluate([0, 1, 0], [1, 2, 1], "vus_pr(window=period)"), "pass values=", "--values"),
        (lambda: te.evaluate([0, 1, 0], [1, 2], "f1"), "te.align(scores", "te.align of the Python library"),
        (lambda: te.compare([("s", "a", [0, 1], [1, 2]), ("s", "b", [0], [1])]), "(time=)", "(--time)"),
    ],
)
def test_each_door_is_told_its_own_words(ask, python, command):
    def said():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                ask()
            except te.errors.InvalidInputError as error:
                return str(error)
        return "".join(str(one.message) for one in caught)

    assert python in said()
    assert command not in said()
    with for_command_line():
        assert command in said()
        assert python not in said()


def test_python_names_its_arguments_before_and_after(files):
    CliRunner().invoke(app, ["score", "a.csv", "--time", "time", "--incidents", "incidents.csv"])
    assert hint("times=", "--time") == "times="
    with pytest.raises(te.errors.InvalidInputError, match="pass closed='both'"):
        te.labels("incidents.csv", te.times([f"2026-01-01 00:{k:02}" for k in range(9)]))
