"""`tsadeval compare` and `tsadeval report`."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

import tsadeval as te
from commands import run
from tsadeval.core.selection import select_metrics


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    parts = []
    for i in range(4):
        y = np.zeros(200, int)
        y[40:60] = 1
        for name, skill in (("good", 2.0), ("poor", 0.2)):
            parts.append(
                pd.DataFrame(
                    {
                        "series": f"s{i}",
                        "detector": name,
                        "label": y,
                        "value": y + 0.5,
                        "score": rng.normal(size=200) + skill * y,
                    }
                )
            )
    path = tmp_path_factory.mktemp("table") / "long.csv"
    pd.concat(parts).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def wide(table):
    path = table.with_name("wide.csv")
    columns = {"series": ["a"] * 4, "time": range(4), "value": [1.0, 2.0, 3.0, 4.0], "label": [0, 1, 0, 0]}
    pd.DataFrame({**columns, "lof": [0.1, 0.9, 0.3, 0.2], "pca": [1, 2, 3, 4]}).to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_compare_prints_what_python_gives(table):
    expected = te.compare(table, metrics=["auc_roc", "f1"], by=["series", "detector"])
    done = run("compare", table, "--by", "series,detector", "--metrics", "auc_roc,f1", "--statistics")
    assert done.returncode == 0, done.stderr
    assert repr(expected) in done.stdout
    assert repr(expected.ranks()) in done.stdout
    done = run("compare", table, "--by", "series,detector", "--metrics", "auc_roc,f1", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in expected.rows]
    done = run("compare", table, "--by", "series,detector", "--metrics", "auc_roc", "--format", "json")
    assert len(json.loads(done.stdout)) == 8
    done = run(
        "compare", table, "--by", "series,detector", "--format", "latex", "--layout", "metrics", "--metrics", "f1"
    )
    assert done.stdout.startswith(r"\begin{tabular}")
    assert "% too few series for Wilcoxon-Holm: 2 detectors" in done.stdout
    done = run("compare", table, "--by", "series,detector", "--format", "html", "--metrics", "f1")
    assert done.stdout.startswith("<table>")


def test_report_writes_a_page(table, tmp_path):
    page = tmp_path / "page.html"
    done = run(
        "report",
        table,
        "-o",
        page,
        "--by",
        "series,detector",
        "--metrics",
        "f1,cce",
        "--value",
        "value",
        "--title",
        "Mine",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(page)
    text = page.read_text(encoding="utf-8")
    assert "<title>Mine</title>" in text
    assert "tsadeval report" in text
    assert "SHA-256" in text
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert [one["name"] for one in data["series"]] == ["s0", "s1", "s2", "s3"]
    assert data["series"][0]["values"][0]["name"] == "value"


def test_report_names_what_is_missing_at_the_top(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(4):
        label = (np.arange(200) % 100 > 90) * int(i != 2)
        stamps = pd.date_range("2026-03-28", periods=200, freq="h", tz="Europe/Berlin")
        table = pd.DataFrame({"at": stamps, "label": label, "lof": rng.random(200) + label, "pca": rng.random(200)})
        table.loc[:2, "lof"] = np.nan if i == 1 else 0.0
        table.drop(columns=["pca"] if i == 3 else []).to_csv(tmp_path / f"s{i}.csv", index=False)
    (tmp_path / "s4.csv").write_text("at,label,lof,pca\n2026-03-28,yes,0.1,0.2\n")
    options = ["report", tmp_path, "--score", "lof,pca", "--time", "at", "-o", tmp_path / "page.html"]
    done = run(*options)
    assert done.returncode == 1
    assert "s4.csv: " in done.stderr
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    notes = re.findall("<li>(.*?)</li>", text.partition("<aside")[2].partition("</aside>")[0])
    assert len(notes) == 4
    assert notes[0].startswith("Left out: ")
    assert "s4.csv: " in notes[0]
    assert re.search(r"s4\.csv</dt><dd>SHA-256 \w{64}, not used<", text)
    assert re.search(r"s3\.csv</dt><dd>SHA-256 \w{64}<", text)
    assert set(notes[1:]) == {
        "lof: 3 points without a score were left out (s1: 3).",
        "pca has no scores on 1 of 4 series (s3): its mean is over the others.",
        "s2 has no anomalous point: most metrics have no value there.",
    }
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert [metric["name"] for metric in data["metrics"]] == list(map(str, select_metrics("recommended")))
    assert [(one["clock"]["kind"], one["clock"]["zone"]) for one in data["series"]] == [("dates", "UTC")] * 4
    done = run(*options, "--missing", "worst", "--metrics", "f1,vus_pr")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "lof: 3 points without a score count as lower than all others" in text
    files = [tmp_path / f"s{i}.csv" for i in range(3)]
    done = run("report", *files, "--score", "lof,pca", "--missing", "error", "-o", tmp_path / "page.html")
    assert done.returncode == 2
    assert "s1.csv, lof: y_score must be finite" in done.stderr


@pytest.mark.parametrize("command", ["compare", "report"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "nowhere.csv"),
        (["TABLE", "--by", "seris"], "no column 'seris'"),
        (["TABLE", "--by", "series,detector", "--metrics", "f7"], "unknown metric or set 'f7'"),
        (
            ["WIDE", "--by", "series"],
            "no column 'score' for the scores; name those that hold scores, here --score lof,pca",
        ),
    ],
)
def test_bad_input_is_one_line(table, wide, tmp_path, command, arguments, message):
    given = [{"TABLE": table, "WIDE": wide}.get(a, a) for a in arguments]
    done = run(command, *given, *(["-o", tmp_path / "page.html"] if command == "report" else []))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert message in line


def test_a_page_needs_a_column_and_a_name_that_exist(table, tmp_path):
    given = ("report", table, "--by", "series,detector", "--metrics", "f1")
    done = run(*given, "--value", "vlue", "-o", tmp_path / "page.html")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "long.csv: no column 'vlue' for the values: did you mean value?" in done.stderr
    done = run(*given, "-o", tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "this is a folder; name the page, -o" in done.stderr
