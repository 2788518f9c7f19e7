"""Every block of code of the site is run or checked by something, and what docs/site/blocks.py says of that is so."""

import doctest
import importlib
import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tsadeval
from tsadeval.core.metric import METRICS

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import blocks
import build
import reference


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The pages of the site as Sphinx gets them, the generated ones too."""
    folder = tmp_path_factory.mktemp("site") / "site-src"
    build.gather(folder)
    return folder


@pytest.fixture(scope="module")
def rows(sources):
    return blocks.inventory(sources)


@pytest.mark.slow
def test_every_block_is_run_or_is_no_code(rows):
    left = [f"{page}:{block.line}: {block.language or 'no language'}" for page, block, runner in rows if not runner]
    assert left == [], "write it as python with >>>, as bash, or as text that NOT_CODE of docs/site/blocks.py explains"
    assert len(rows) > 400


@pytest.mark.slow
def test_every_text_that_is_explained_is_there(rows):
    runners = [runner for _, _, runner in rows]
    for what in blocks.NOT_CODE.values():
        assert f"no code: {what}" in runners, what
    said = {
        (page, start)
        for (page, start) in blocks.NOT_CODE
        if any(name == page and block.text.startswith(start) for name, block, _ in rows)
    }
    assert said == set(blocks.NOT_CODE)


@pytest.mark.slow
def test_the_pages_of_the_site_are_those_that_are_run(rows, sources):
    """A page whose blocks tests/test_docs.py should run is one that it does run."""
    import test_docs

    run = {page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in test_docs.RUN}
    assert {page for page, _, runner in rows if runner.endswith(blocks.PAGES)} <= run
    scripts = {path.name for path in sources.glob("_examples/**/*.py")}
    gallery = test_docs.script("make_gallery")
    assert len(scripts) == len(gallery.FIGURES) + len(gallery.OF_RUNS)


def test_a_block_that_nothing_runs_is_found():
    text = "Words.\n\n    tsadeval score a.csv\n\n- item\n\n  ```yaml\n  a: 1\n  ```\n\n"
    text += "```python\nx = 1\n```\n\n```text\nmy code\n```\n"
    found = blocks.blocks(text)
    assert [(b.line, b.language) for b in found] == [(2, ""), (7, "yaml"), (11, "python"), (15, "text")]
    assert [blocks.run_by("scale", block) for block in found] == [""] * 4
    (command,) = blocks.blocks("```bash\necho a\n```\n\n```text\na\n```\n")
    assert (command.text, command.output) == ("echo a\n", "a\n")
    assert blocks.run_by("scale", command) == blocks.PAGES


@pytest.mark.skipif(sys.platform == "win32", reason="needs bash")
def test_commands_that_fail_or_print_something_else_are_found(tmp_path, capsys, monkeypatch):
    import execute

    monkeypatch.chdir(tmp_path)
    page, tmp_path = Path("page.md"), Path("folder")  # as make docs does, relative to where it was started
    tmp_path.mkdir()
    for code, output, failed in (
        ("echo a", "a", 0),
        ("echo a", "b", 1),
        ("false; echo a", "a", 1),
        ("false | cat", "", 1),
    ):
        page.write_text(f"```bash\n{code}\n```\n\n```text\n{output}\n```\n")
        assert execute.run(page, tmp_path, shell=True).failed == failed, (code, output)
    capsys.readouterr()
    page.write_text("```python\n>>> x = 1\n>>> x\n2\n```\n\nWords.\n\n```python\n>>> x + 1\n2\n>>> y\n```\n")
    assert execute.run(page, tmp_path).failed == 2
    assert execute.run(page, tmp_path, compared=0).failed == 1  # y is not known


def names_of_reference():
    found = [
        name
        for _, _, parts in reference.PAGES.values()
        for names in parts.values()
        for name in (reference.names_of(names) if isinstance(names, str) else names)
    ]
    return sorted({*found, *reference.missing()})


def collected(module):
    """The names of a module whose examples `pytest --doctest-modules` runs, those of its classes too."""
    return {test.name for test in doctest.DocTestFinder(recurse=True).find(module) if test.examples}


@pytest.mark.parametrize("kind", ["metrics", "reference"])
def test_the_examples_of_docstrings_are_collected(kind):
    if kind == "metrics":
        things = {f"tsadeval.metrics.{n}": getattr(tsadeval.metrics, n) for n in dir(tsadeval.metrics)}
        things = {
            name: thing
            for name, thing in things.items()
            if inspect.isfunction(thing) or name.rpartition(".")[2] in METRICS
        }
    else:
        things = {
            name: getattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
            for name in names_of_reference()
        }
    with_examples = {name: thing for name, thing in things.items() if ">>>" in (inspect.getdoc(thing) or "")}
    assert len(with_examples) > 30
    homes = {thing.__module__ for thing in with_examples.values()}
    ran = set().union(*(collected(importlib.import_module(home)) for home in homes))
    for name, thing in with_examples.items():
        assert importlib.import_module(thing.__module__).__file__.endswith(".py"), name
        assert f"{thing.__module__}.{thing.__qualname__}" in ran, name


@pytest.mark.slow
def test_signatures_of_metrics_are_those_of_their_functions(rows):
    found = [(page, block.text) for page, block, runner in rows if runner == blocks.SIGNATURES]
    assert len(found) >= len(METRICS)
    for page, text in found:
        name = re.match(r"te\.metrics\.(\w+)\(", text)[1]
        shown = {}
        exec(f"def f({text.strip().partition('(')[2][:-1]}): pass", shown)
        real = inspect.signature(getattr(tsadeval.metrics, name))
        assert [(p.name, p.kind, p.default) for p in inspect.signature(shown["f"]).parameters.values()] == [
            (p.name, p.kind, p.default) for p in real.parameters.values()
        ], page


def commands(kind):
    return [
        line
        for _, text in PAGES
        for block in blocks.blocks(text)
        if getattr(block, kind)
        for line in block.text.splitlines()
    ]


PAGES = [(path.name, path.read_text(encoding="utf-8")) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]]


def test_what_is_installed_is_this_package_with_extras_that_it_has():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.11 or later")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(settings)["project"]
    lines = commands("installs")
    assert len(lines) >= 3
    assert all(re.match(rf"pip install '?{project['name']}[\['\s]", line) for line in lines)
    texts = [*lines, settings, (ROOT / "Makefile").read_text(encoding="utf-8"), *(text for _, text in PAGES)]
    found = {
        extra
        for text in texts
        for part in re.findall(r"(?:tsadeval|'\.)\[([\w,]+)\]", text)
        for extra in part.split(",")
    }
    for path in ROOT.glob("src/**/*.py"):
        found |= set(re.findall(r'extra="(\w+)"', path.read_text(encoding="utf-8")))
    assert {"all", "torch", "remote"} <= found
    assert found - set(project["optional-dependencies"]) == set()


@pytest.mark.skipif(sys.platform == "win32" or not shutil.which("make"), reason="needs make and its tools")
def test_what_make_is_asked_for_are_targets():
    found = commands("makes")
    assert len(found) >= 4
    for line in found:
        words = line.partition("#")[0].split()
        done = subprocess.run([*words, "--dry-run"], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_the_metric_of_contributing_can_be_defined_and_computed():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = [block for block in blocks.blocks(text) if block.language == "python"]
    use = "import tsadeval as te\nprint(te.evaluate([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.5], 'precision_at(top=2)'))\n"
    done = subprocess.run([sys.executable, "-W", "error", "-c", f"{block.text}\n{use}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "precision_at(top=2)  0.5000" in done.stdout
