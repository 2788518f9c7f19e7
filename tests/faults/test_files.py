"""One bad file among many is named; the others go on, and the exit code says that something is missing."""

import csv
import io

import numpy as np
import pytest

from commands import run

BAD = {
    "damaged.parquet": (b"PAR1 and nothing else", "damaged or truncated"),
    "empty.csv": (b"", "the file is empty"),
    "ragged.csv": (b"label,score\n0,1,2\n", "row 1 has 3 fields"),
    "labels.csv": (b"label,score\n0,1\n7,2\n", "y_true must be 0 (normal) or 1"),
    "infinite.csv": (b"label,score\n0,1\n1,inf\n", "y_score"),
}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(6):
        y = np.arange(40) // 10 == 2
        lines = [f"{int(label)},{label + rng.random()}" for label in y]
        (tmp_path / f"good{i}.csv").write_text("\n".join(["label,score", *lines]))
    for name, (content, _) in BAD.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def check_errors(done):
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    for name, (_, message) in BAD.items():
        assert [line for line in lines if name.partition(".")[0] in line and message in line], (name, lines)
    assert not any("good" in line or "Traceback" in line for line in lines)


def test_score_goes_on_after_a_bad_file(folder):
    names = sorted(path.name for path in folder.iterdir())
    done = run("score", *names, "--metrics", "cce", "--format", "csv", cwd=folder)
    check_errors(done)
    assert [row["file"] for row in rows(done.stdout)] == [f"good{i}.csv" for i in range(6)]
    alone = run("score", *(f"good{i}.csv" for i in range(6)), "--metrics", "cce", "--format", "csv", cwd=folder)
    assert (alone.returncode, alone.stdout) == (0, done.stdout)


def test_compare_goes_on_after_a_bad_file(folder):
    done = run("compare", ".", "--by", "file", "--metrics", "cce", "--format", "csv", cwd=folder)
    check_errors(done)
    found = rows(done.stdout)
    assert [row["series"] for row in found if row["status"] == "ok"] == [f"good{i}" for i in range(6)]
    assert all(row["message"] for row in found if row["status"] == "missing")  # what has a name, with the reason


@pytest.mark.slow
def test_report_goes_on_after_a_bad_file(folder):
    done = run("report", ".", "--by", "file", "--metrics", "cce", "-o", "page.html", cwd=folder)
    check_errors(done)
    page = (folder / "page.html").read_text()
    assert all(f'"good{i}"' in page for i in range(6))


@pytest.mark.parametrize("command", ["score", "compare", "report"])
def test_nothing_but_bad_files_is_exit_code_2_and_no_table(folder, command):
    done = run(command, *BAD, "--metrics", "cce", cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert all(name in done.stderr for name in BAD)
