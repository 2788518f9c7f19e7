"""The pages agree with the code."""

import importlib
import importlib.util
import json
import os
import re
import sys
import tomllib
import types
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import joblib
import matplotlib
import pytest
from matplotlib.figure import Figure

import commands
import page_files
import tsadeval
from tsadeval import plot
from tsadeval.core.metric import METRICS

ROOT = Path(__file__).resolve().parents[2]


def script(name, folder="docs"):
    """A script of docs/ or of a folder of it as a module."""
    home = str(ROOT / folder)
    if home not in sys.path:
        sys.path.append(home)
    return importlib.import_module(name)


def site(name):
    """A script of docs/site/ as a module."""
    return script(name, "docs/site")


# Written as files by a command, or shown on the pages of their suites (docs/hard.md, audit.md, selection.md).
ELSEWHERE = {
    *("write_figures", "write_explanation", "agreement", "disagreement", "fooled", "gameability"),
    *("hard_sensitivity", "hard_tasks", "misled", "selection", "worst_pair"),
}


@pytest.mark.slow
def test_the_gallery_writes_pictures_whose_pixels_have_changed(tmp_path):
    gallery, path = script("make_gallery"), tmp_path / "picture.png"
    figure = Figure(figsize=(1, 1))
    figure.savefig(path, metadata={"Software": "another version"})
    before = path.read_bytes()
    gallery.write(path, figure)
    assert path.read_bytes() != before  # 100 dots an inch before, 160 now
    figure.savefig(path, dpi=160, metadata={"Software": "another version"})
    before = path.read_bytes()
    gallery.write(path, figure)
    assert path.read_bytes() == before
    figure.add_subplot()
    gallery.write(path, figure, timed=True)
    assert path.read_bytes() == before  # timings differ everywhere
    gallery.write(path, figure)
    assert path.read_bytes() != before


def test_every_picture_of_the_gallery_has_a_caption():
    gallery = script("make_gallery")
    assert all(len(words.split()) >= 5 for _, words, _, _ in [*gallery.FIGURES, *gallery.OF_RUNS])


def test_the_gallery_shows_every_figure_and_its_lines_run():
    module = script("make_gallery")
    text = module.page()
    assert (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8") == text, "run: make generated"
    assert [name for name in plot.__all__ if name not in ELSEWHERE and f"te.plot.{name}(" not in text] == []
    for name in module.draw():
        assert (module.FOLDER / f"{name}.png").exists(), "run: make generated"


def test_the_reference_is_the_registry():
    page = script("make_reference").page()
    assert not re.search(r"^- \*\*\*\*", page, flags=re.MULTILINE), "a bullet without a name"
    assert (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8") == page, "run: make generated"


def test_the_generated_parts_of_contributing_are_up_to_date():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    made = script("make_contributing").page(text)
    assert "make test" in made
    assert "    core --> " in made  # there is something in the picture
    assert text == made, "run: make generated"


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CITATION.cff", "version: (.+)"),
        ("pyproject.toml", 'version = "(.+)"'),
        ("recipe/recipe.yaml", ' +version: "(.+)"'),
    ],
)
def test_the_version_is_the_same_everywhere(file, pattern):
    found = re.findall(f"^{pattern}$", (ROOT / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert found == [tsadeval.__version__]


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_files_named_in_pages_exist(page):
    text = page.read_text(encoding="utf-8")
    drawn = site("notebooks").drawn(text)  # when the site is built
    for link in re.findall(r"\]\((?!http|#)([^)#]+)", text):
        assert link in drawn or (page.parent / link).exists(), link
    for path in re.findall(r"`((?:docs|benchmarks|tests|examples|src)/[\w./-]+\.\w+)", text):
        assert (ROOT / path).exists(), path


# Their examples are those of docstrings, or run by the test of the gallery.
ELSEWHERE_RUN = {"metrics.md", "gallery.md"}
RUN = [page for page in PAGES if page.parent != ROOT and page.name not in ELSEWHERE_RUN]
SLOW = {"own-metric.md", "own-detector.md", "detectors.md"}
TORCH = {"interop.md", "torch.md"}
# What blocks of the shell need beside the command line.
NEEDED = {"interop.md": ("pyod",), "scale.md": ("distributed",)}


@cache
def code(page):
    """The blocks of a page that are run, as what they are."""
    found = site("blocks").blocks(page.read_text(encoding="utf-8"))
    return [b for b in found if b.is_prompt or (b.language == "bash" and not (b.installs or b.makes))]


def marks(page):
    slow = page.name in SLOW or any(block.language == "bash" for block in code(page))
    return [pytest.mark.slow] * slow + [pytest.mark.torch] * (page.name in TORCH)


@pytest.mark.slow
@pytest.mark.parametrize("page", [pytest.param(p, id=p.name, marks=marks(p)) for p in RUN if code(p)])
def test_the_code_of_a_page_runs_and_prints_what_is_there(page, tmp_path, monkeypatch):
    if page.name in TORCH:
        pytest.importorskip("torchmetrics", reason="torch is an extra")
    names, compared = page_files.prepare(page.name, tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))  # ~/data
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("MPLCONFIGDIR", matplotlib.get_configdir())  # not in the new home: its list of fonts takes long
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]))
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")
    for name, module in trackers().items():
        monkeypatch.setitem(sys.modules, name, module)
    shell = sys.platform != "win32" and all(map(importlib.util.find_spec, NEEDED.get(page.name, ())))
    done = site("execute").run(page, tmp_path, names, shell=shell, tsadeval=here, compared=compared)
    assert done.failed == 0
    assert done.lines == [block.line for block in code(page) if shell or block.is_prompt]
    assert done.attempted >= len(done.lines) > 0


def here(*words):
    """A command in this process, without workers, which start slowly; but with them where it says how many."""
    with nullcontext() if "--jobs" in words else joblib.parallel_config("sequential"):
        return commands.run(*words, cwd=os.getcwd())


def trackers():
    """MLflow and Weights & Biases, as far as docs/interop.md calls them; names are refused as MLflow does."""
    mlflow, wandb, running = types.ModuleType("mlflow"), types.ModuleType("wandb"), []

    def log_metrics(metrics):
        assert metrics
        for name, value in metrics.items():
            assert re.fullmatch(r"[\w\-. :/]+", name), name
            assert isinstance(value, float)

    def log(row):
        assert running, "wandb.init() comes first"
        assert isinstance(row, dict)

    mlflow.log_metrics, wandb.log = log_metrics, log
    wandb.init = lambda project, mode: running.append(project)
    return {"mlflow": mlflow, "wandb": wandb}


def test_every_metric_has_a_page_with_formula_picture_and_verdict():
    pages = site("pages")
    groups = pages.grouped()
    assert sorted(m.name for metrics in groups.values() for m in metrics) == sorted(METRICS)
    assert "other" not in groups, "give the family of the metric a place in HOMES of docs/site/pages.py"
    for name in ("f1_pa", "vus_pr", "false_alarms"):
        text = pages.page(METRICS[name])
        for part in ("Definition", "What it rewards and punishes", "Can it be trusted?", "Properties"):
            assert f"\n## {part}\n\n" in text, (name, part)
        for part in ("Example", "Other packages", "Errata", "References"):
            assert f"\n## {part}\n\n" in text, (name, part)
        assert "```{math}" in text
        assert 'class="cases"' in text
    assert "one point each" in site("scenarios").verdict(METRICS["f1_pa"])  # point adjustment is blind to it


@pytest.mark.parametrize("name", METRICS)
def test_every_part_of_a_metrics_page_has_a_content(name):
    facts, metric = site("facts"), METRICS[name]
    if name in facts.NOT_MEASURED:
        return
    rerun = "measure it, or say in NOT_MEASURED of docs/site/facts.py why not"
    assert site("formulas").FORMULAS[name], "write its formula into docs/site/formulas.py"
    assert "✓" in facts.properties(metric), f"docs/make_properties.py: {rerun}"
    assert facts.trust(metric).count(": gameability ") == 2, f"docs/make_audit.py: {rerun}"
    assert "Hard suite" in facts.trust(metric), f"docs/make_hard.py: {rerun}"
    assert "np.sort" in facts.speed(metric), f"benchmarks/metrics.py: {rerun}"
    assert facts.peers(metric)
    assert facts.errata(metric)
    assert metric.references


def test_tables_are_those_of_the_data():
    """What docs/data keeps stands in the pages as the scripts that measured it write it."""
    audit, properties, selection = map(script, ("make_audit", "make_properties", "make_selection"))
    pages = {
        "audit.md": [audit.gameability(name, shown) for name in ("Theseus", "NAB") for shown in (None, audit.SHOWN)],
        "hard.md": [script("make_hard").index()],
        "selection.md": [*map(selection.table, ("Theseus", "NAB")), selection.each("Theseus")],
        "choosing.md": [selection.unusable()],
        "peers-tsadmetrics.md": [script("make_peers").table()],
        "benchmarks.md": [script("measured").speed(), script("measured").peers()],
    }
    for page, tables in pages.items():
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert [table for table in tables if f"\n\n{table}\n" not in text] == [], page
    assert (ROOT / "docs" / "properties.md").read_text(encoding="utf-8") == properties.page()


def test_errata_of_metrics_are_on_the_page():
    text, facts = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8"), site("facts")
    parts = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL))
    for row in facts.read("errata"):
        assert set(row["metrics"]) <= set(METRICS)
        part = parts[row["part"]]
        if row["number"]:
            item = re.search(rf"^{row['number']}\. (.*?)(?=^\d+\. |\Z)", part, flags=re.MULTILINE | re.DOTALL)[1]
            titles = tuple(title.rstrip(".") for title in re.findall(r"\*\*(.+?)\*\*", item))
            assert row["words"].endswith(titles), row
        else:
            assert [name for name in METRICS if f"`{name}`" in part] == row["metrics"]
    assert set(facts.NOT_MEASURED) <= set(METRICS)


def test_the_front_page_leads_to_the_choice_of_a_metric_first():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^:link: (\S+)$", text, flags=re.MULTILINE)[0] == "choosing"
    assert re.search(r"\{toctree\}\n(?::.*\n)+\n(\S+)", text)[1] == "choosing"


def test_a_page_becomes_a_notebook_with_the_same_code():
    notebooks, text = site("notebooks"), (ROOT / "docs" / "tutorials" / "ten-minutes.md").read_text(encoding="utf-8")
    made = json.loads(notebooks.of_page(text))
    code = "\n".join(cell["source"] for cell in made["cells"] if cell["cell_type"] == "code")
    lines = [line[4:] for line in text.split("\n") if line.startswith((">>> ", "... "))]
    assert code.split("\n") == lines
    assert not re.search(r"\]\([^)]+\.md\)", json.dumps(made))
    # Whatever prints ends a cell.
    assert notebooks.cells(">>> a = 1\n>>> a\n1\n>>> b = 2\n") == ["a = 1\na", "b = 2"]


def test_a_page_of_the_site_shows_what_its_code_gave(tmp_path):
    page = tmp_path / "tutorials" / "a.md"
    page.parent.mkdir()
    page.write_text(
        "# A\n\n```python\n>>> import tsadeval as te\n>>> 2 * 3\n6\n>>> te.evaluate([0, 1], [0.1, 0.9], 'f1')\n"
        'metric  value...\n\n```\n\nWords.\n\n```python\n>>> print("x")\nx\n>>> y = 1\n```\n'
    )
    assert site("notebooks").show(page) == ""
    shown = [(b.language, b.text) for b in site("blocks").blocks(page.read_text())]
    assert shown[0] == ("python", "import tsadeval as te\n2 * 3\n")
    assert shown[1] == ("text", "6\n")
    assert shown[3][0] == "{raw}"
    assert shown[3][1].count("<table") == 1
    assert shown[4:] == [("python", 'print("x")\n'), ("text", "x\n"), ("python", "y = 1\n")]
    page.write_text("```python\n>>> 1\n2\n```\n")
    assert site("notebooks").show(page) == "a.md: 1 of 1 examples failed\n"


def test_the_recipe_asks_for_what_the_package_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")

    def wanted(part):
        block = re.search(rf"^  {part}:\n((?:    .*\n)+)", recipe, flags=re.MULTILINE)[1]
        return {line.replace(" ", "").lower() for line in re.findall(r"^    - (?!if)(.+)$", block, flags=re.MULTILINE)}

    assert wanted("run") == {*project["project"]["dependencies"], "python"}
    assert wanted("host") == {text.lower() for text in project["build-system"]["requires"]} | {"pip", "python"}


def test_wheels_are_built_for_every_python_that_is_promised():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["project"]["classifiers"]))
    built = re.findall(r"cp3(\d+)-", project["tool"]["cibuildwheel"]["build"])
    assert promised == [f"3.{minor}" for minor in built]
    assert {"3.11", "3.12", "3.13"} <= set(promised)


def test_formulas_are_of_metrics():
    assert set(site("formulas").FORMULAS) <= set(METRICS)


def test_lost_links_of_a_built_site_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="x"><a href="b.html#y">b</a><a href="#x">here</a><a href="http://z">out</a>'
    )
    (tmp_path / "b.html").write_text('<p id="y"><img src="figure.png">')
    with pytest.raises(SystemExit, match=r"b\.html: figure\.png"):
        site("links").check(tmp_path)
    (tmp_path / "figure.png").write_text("")
    site("links").check(tmp_path)
    (tmp_path / "b.html").write_text("")
    with pytest.raises(SystemExit, match=r"a\.html: b\.html#y"):
        site("links").check(tmp_path)


@pytest.mark.parametrize("page", ["reliability.md"])
def test_tests_that_a_page_names_are_there(page):
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", (ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert len(named) > 20
    for path, test in named:
        assert test in (ROOT / "tests" / path).read_text(encoding="utf-8"), path
