"""The paper's numbers beside ours: every printed cell is there, equal or explained, and what is missing is said."""

import csv
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

import commands
import tsadeval as te
from published import SHARED
from tsadeval.reproduction import reproduce as module
from tsadeval.reproduction.printed import REASONS, judge, of_networks, place, printed

CELLS = {
    "rank": 150,
    "five": 25,
    "robustness": 20,
    "values": 8,
    "tau": 15,
    "latency": 4,
    "datasets": 148,
    "ecg": 36,
    "power": 36,
    "average": 42,
}
PAPER = SHARED.parent / "paper" / "cce-paper.tex"
ERRATA = Path(__file__).parents[2] / "docs" / "errata.md"
EXACT = ("CCE", "AUC-ROC", "F1", "eTaPR", "Aff-F1")

needs_data = pytest.mark.skipif(not (SHARED / "UCR").is_dir(), reason="needs the UCR archive in TSADEVAL_DATA")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """All results without any data."""
    before = os.environ.pop("TSADEVAL_DATA", None)
    try:
        return te.reproduce("all", store=tmp_path_factory.mktemp("bare"))
    finally:
        if before is not None:
            os.environ["TSADEVAL_DATA"] = before


def test_every_printed_cell_is_there(bare):
    assert {name: len(printed(name)) for name in module.RESULTS} == CELLS
    assert len(bare.rows) == sum(CELLS.values())
    assert {row["status"] for row in bare.rows} <= set(module.STATUS)


@pytest.mark.skipif(not (SHARED / "published").is_dir(), reason="needs the published rank table in TSADEVAL_DATA")
def test_the_rank_table_is_the_published_one_rounded():
    with (SHARED / "published" / "rank_table.csv").open() as file:
        for row in csv.DictReader(file):
            for key in list(row)[1:]:
                task, _, short = key.rpartition("_")
                paper = float(printed("rank")[f"{task} {short}", row["Metric"]])
                assert paper == pytest.approx(float(row[key]), abs=0.00051)


@pytest.mark.skipif(not PAPER.is_file(), reason="needs the source of the paper beside TSADEVAL_DATA")
def test_the_cells_of_all_tables_are_those_of_the_papers_source():
    tables = re.findall(r"begin.tabular..[^}]*.(.*?).end.tabular.*?label.(tab:\w+)", PAPER.read_text(), re.S)
    found = {label: [_cells(line) for line in body.split(r"\\") if "&" in line] for body, label in tables}
    head, *rank = found["tab:rank_comp"]
    task = {"Avg.": "average"}
    cells = {("rank", f"{task.get(t, t)} {s}", c): v for t, s, *row in rank for c, v in zip(head[2:], row, strict=True)}
    head, *five = found["tab:syn_metric"]
    cells |= {("five", name, c): v for _, name, *row in five for c, v in zip(head[2:], row, strict=True)}
    for name, *row in [*found["tab:real_metric"], *found["tab:real_world_model_comparison"]]:
        if row[0] == "CCE":
            result, columns = {"Avg.": "average"}.get(name, name.lower()), row
        else:
            cells |= {(result, name, c): v for c, v in zip(columns, row, strict=True)}
    (_, *taus), (_, *triples) = found["tab:cce_hyper"]
    for tau, text in zip(taus, triples, strict=True):
        cells |= {("tau", tau, c): v for c, v in zip(("Sp", "Kd", "MD"), text.split("/"), strict=True)}
    columns = "length", "events", "longest", "shortest"
    for name, *row in found["tab:metric_ana_config"][1:]:
        cells |= {("datasets", name.replace("SWAT", "SWaT"), c): v for c, v in zip(columns, row, strict=True)}
    names = ("rank", "five", "tau", "datasets", "ecg", "power", "average")
    assert cells == {(name, *key): value for name in names for key, value in printed(name).items()}


def _cells(line):
    return [re.sub(r"\\[a-z]+(rule|bf|line)?|[{}]", "", cell).strip() for cell in line.split("&")]


def test_reasons_name_errata_that_are_there():
    text = ERRATA.read_text()
    named = {
        n for *_, why in REASONS for part in re.findall(r"^errat(?:um|a) ([^:]*)", why) for n in part.split(" and ")
    }
    assert len(named) > 5
    assert all(re.search(rf"^{n}\. ", text, re.M) for n in named)


def test_averages_of_the_rank_table_are_those_of_its_tasks():
    cells = printed("rank")
    tasks = ("AccQ", "LowDisAccQ", "PreQ-NegP-Q", "PreQ-NegP-P")
    for (row, column), paper in cells.items():
        if row.startswith("average"):
            mean = np.mean([float(cells[f"{task} {row.split()[1]}", column]) for task in tasks])
            assert float(paper) == pytest.approx(mean, abs=0.0011)


def test_without_data_the_rest_goes_on(bare):
    counts = {row["result"]: row for row in bare.counts().rows}
    assert counts["five"] == {"result": "five", "equal": 20, "explained": 5, "different": 0, "not reproducible": 0}
    assert counts["datasets"]["not reproducible"] == 4 * 7
    of = {(row["row"], row["column"]): row["reason"] for row in bare.rows if row["result"] == "datasets"}
    assert "the number expected" in of["100k-200seg-50L", "events"]
    assert "limits of the draw" in of["100k-200seg-50L", "longest"]
    assert counts["rank"]["not reproducible"] == 150
    said = "\n".join(bare.missing)
    for words in ("rank: ", "TSADEVAL_DATA", "tsadeval datasets info smd/1-1", "ecg: ", "average: ", "SWaT"):
        assert words in said
    assert all(f"not reproducible: {line}" in repr(bare) for line in bare.missing)


def test_values_of_several_seeds_say_where_the_printed_one_lies(bare):
    cells = {(row["result"], row["row"], row["column"]): row for row in bare.rows}
    seeds = of_networks("ecg")["LSTMAD", "CCE"]
    assert len(seeds) == 10
    row = cells["ecg", "LSTMAD", "CCE"]
    assert row["ours"] == np.median(seeds)
    assert (row["status"], row["reason"]) == place(4.66, seeds)
    assert place(3.0, [1.0, 2.0])[0] == "different"
    assert len(of_networks("power")["A.T.", "CCE"]) == 4


def test_a_cell_is_equal_up_to_its_last_digit():
    assert judge("ecg", "LOF", "AUC-ROC", "53.72", 53.7249)[0] == "equal"
    assert judge("ecg", "LOF", "AUC-ROC", "53.72", 53.7251)[0] == "different"
    assert judge("ecg", "IForest", "CCE", "22.3", 22.34)[0] == "different"  # zeros at the end are not printed
    assert judge("rank", "AccQ Sp", "CCE", "1.000", 0.9986)[0] == "equal"
    assert judge("rank", "AccQ Sp", "CCE", "1.000", 0.9984)[0] == "different"
    assert judge("robustness", "AccQ", "CCE", "unaffected", "worse")[0] == "different"


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["ecg", "power"])
def test_detectors_as_the_authors_ran_them_meet_the_print(name, tmp_path):
    pytest.importorskip("sklearn")
    found = te.reproduce(name, data=SHARED, store=tmp_path / "store", output=tmp_path / "figures")
    assert (tmp_path / "figures" / f"{name}.png").stat().st_size > 10_000
    cells = {(row["row"], row["column"]): row for row in found.rows}
    exact = ("LOF", "IForest", "Random") if name == "ecg" else ("IForest",)
    for detector in exact:
        wrong = [cells[detector, column] for column in EXACT if cells[detector, column]["status"] != "equal"]
        assert not wrong
        assert abs(cells[detector, "VUS-ROC"]["difference"]) < 0.11  # erratum 13
    if name == "power":
        assert cells["LOF", "CCE"]["ours"] == pytest.approx(2.63, abs=0.2)
        assert cells["LOF", "CCE"]["reason"].startswith("erratum 45")
    files = sorted(path for path in (tmp_path / "store").rglob("*") if path.is_file() and "plans" not in path.parts)
    times = [path.stat().st_mtime_ns for path in files]
    assert te.reproduce(name, data=SHARED, store=tmp_path / "store").rows == found.rows
    assert [path.stat().st_mtime_ns for path in files] == times  # nothing was computed again


@pytest.mark.slow
def test_results_of_a_run(tmp_path):
    """All that is made of the run of the suite, on two label sets."""
    work = module._Work(tmp_path, None, None, None)
    cases = ["10k-20seg-50H", "10k-50seg-20L"]
    vars(work)["rankings"] = te.rankeval.run("paper", module.RANKED, cases=cases, store=tmp_path / "rankeval")
    for name in ("rank", "robustness", "values"):
        found = work.cells(name)
        assert set(printed(name)) <= set(found), name
    assert work.rank()["AccQ Sp", "CCE"] == 1
    assert work.robustness()["AccQ", "F1"] == "worse"
    assert work.robustness()["AccQ", "CCE"] == "unaffected"
    assert work.values()["with noise", "CCE"] == "none"
    work.draw({"rank"}, tmp_path / "figures")
    assert (tmp_path / "figures" / "quality-AccQ.png").is_file()


def test_forms(bare):
    latex = bare.to_latex()
    assert latex.count(r"\begin{tabular}") == len(CELLS)
    assert r"0.984 (0.983)" in latex
    assert "(12691.87)" in latex
    assert len(json.loads(bare.to_json())) == sum(CELLS.values())
    assert list(bare.to_frame().columns[:4]) == ["result", "row", "column", "paper"]


@pytest.mark.slow
def test_the_command(tmp_path, monkeypatch):
    monkeypatch.delenv("TSADEVAL_DATA", raising=False)
    done = commands.run_here("reproduce", "five", "--format", "csv", "-o", "figures", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "result,row,column,paper,ours,difference,status,reason"
    assert len(done.stdout.splitlines()) == 26
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["five-models.png"]
    done = commands.run_here("reproduce", "average", cwd=tmp_path)
    assert done.returncode == 1
    assert "average: needs the features of SWaT and PSM" in done.stderr
    done = commands.run_here("reproduce", "nothing", cwd=tmp_path)
    assert done.returncode == 2
    assert "rank" in done.stderr


def test_the_numbers_are_part_of_the_package():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '"reproduction/*.csv"' in text
