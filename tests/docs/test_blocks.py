"""Every block of code of the site is run or checked by something, and what docs/site/blocks.py says of that is so."""

import doctest
import importlib
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tsadeval
from tsadeval.core.metric import METRICS

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs" / "site"), str(Path(__file__).parent)]

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
def test_the_pages_of_the_site_are_those_that_are_run(rows):
    """A page whose blocks tests/docs/test_docs.py should run is one that it does run."""
    import test_docs

    run = {page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in test_docs.RUN}
    assert {page for page, _, runner in rows if runner == blocks.PAGES} <= run
    gallery = test_docs.script("make_gallery")
    drawn = [page for page, _, runner in rows if runner == blocks.DRAWN]
    assert len(drawn) == 2 * (len(gallery.FIGURES) + len(gallery.OF_RUNS))  # the data and the figure


def test_a_block_that_nothing_runs_is_found():
    text = "Words.\n\n    tsadeval score a.csv\n\n- item\n\n  ```yaml\n  a: 1\n  ```\n\n"
    text += "```python\nx = 1\n```\n\n```text\nmy code\n```\n"
    found = blocks.blocks(text)
    assert [(b.line, b.language) for b in found] == [(2, ""), (7, "yaml"), (11, "python"), (15, "text")]
    assert [blocks.run_by("scale", block) for block in found] == [""] * 4
    (command,) = blocks.blocks("```bash\necho a\n```\n\n```text\na\n```\n")
    assert (command.text, command.output) == ("echo a\n", "a\n")
    assert blocks.run_by("scale", command) == blocks.PAGES


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "tsadeval score 'a b.csv' --score \"x,y*\" \\\n  --events  # all\n",
            [["score", "a b.csv", "--score", "x,y*", "--events"]],
        ),
        ("tsadeval a\ntsadeval b\n", [["a"], ["b"]]),
        ("tsadeval a > b\n", []),
        ("tsadeval a && tsadeval b\n", []),
        ("tsadeval a *.csv\n", []),
        ("tsadeval $a\n", []),
        ("cd a\ntsadeval b\n", []),
        ("for a in b; do\n  tsadeval a\ndone\n", []),
    ],
)
def test_what_needs_a_shell_goes_to_one(text, words):
    assert blocks.Block(0, "bash", text).commands == words


def test_a_command_in_this_process_is_compared_as_well(tmp_path):
    import execute
    import test_docs

    page = tmp_path / "page.md"
    for code, output, failed in (
        ("tsadeval metrics f1", "f1...", 0),
        ("tsadeval metrics f1", "f2...", 1),
        ("tsadeval metrics no_such_metric", "", 1),
    ):
        page.write_text(f"```bash\n{code}\n```\n\n```text\n{output}\n```\n")
        assert execute.run(page, tmp_path, shell=True, tsadeval=test_docs.here).failed == failed, (code, output)


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


def documented():
    """What has a docstring on the site: the metrics, the names of the reference, the methods of its classes."""
    names = [f"tsadeval.metrics.{name}" for name in dir(tsadeval.metrics)]
    for _, _, parts in reference.PAGES.values():
        for part in parts.values():
            names += reference.names_of(part) if isinstance(part, str) else part
    for name in {*names, *reference.missing()}:
        module, _, last = name.rpartition(".")
        thing = getattr(importlib.import_module(module), last)
        if inspect.isclass(thing):
            members = [getattr(member, "fget", getattr(member, "__func__", member)) for member in vars(thing).values()]
            yield from filter(inspect.isfunction, members)
        if callable(thing) and hasattr(thing, "__qualname__"):
            yield thing


def test_the_examples_of_docstrings_are_collected():
    """`pytest --doctest-modules` looks into Python modules; a docstring elsewhere, or one it skips, is not run."""
    wanted = [thing for thing in documented() if ">>>" in (inspect.getdoc(thing) or "")]
    assert len(wanted) > 100
    run = set()
    for home in {thing.__module__ for thing in wanted}:
        module = importlib.import_module(home)
        assert Path(module.__file__).suffix == ".py", home
        for test in doctest.DocTestFinder().find(module):
            if not any(example.options.get(doctest.SKIP) for example in test.examples):
                run.add(test.name)
    assert [thing for thing in wanted if f"{thing.__module__}.{thing.__qualname__}" not in run] == []


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


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.skipif(sys.platform == "win32", reason="needs bash")
def test_pip_finds_what_is_installed_to_be_what_the_pages_install():
    """The lines run as they stand, but without an index and dry: what is installed here must do."""
    pytest.importorskip("torchmetrics", reason="torch is an extra")
    pytest.importorskip("pip", reason="needs pip")
    found = [block for _, text in PAGES for block in blocks.blocks(text) if block.installs]
    dry = {"PIP_NO_INDEX": "1", "PIP_DRY_RUN": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in found:
        command = ["bash", "-e", "-c", block.text]
        done = subprocess.run(command, env={**os.environ, "PATH": path, **dry}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "does not provide the extra" not in done.stderr
        assert done.stdout.count("Requirement already satisfied: tsadeval") == len(block.text.splitlines())
        assert "Would install" not in done.stdout


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
