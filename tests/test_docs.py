"""The pages agree with the code."""

import importlib.util
import re
from pathlib import Path

import pytest

import tsadeval
from tsadeval import plot

ROOT = Path(__file__).resolve().parents[1]


def script(name):
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Written as files by a command, or shown on the pages of their suites, docs/hard.md and docs/audit.md.
ELSEWHERE = {
    *("write_figures", "write_explanation", "agreement", "disagreement", "fooled", "gameability"),
    *("hard_sensitivity", "hard_tasks", "worst_pair"),
}


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


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]), ids=lambda p: p.name)
def test_links_and_files_named_in_pages_exist(page):
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!http|#)([^)#]+)", text):
        assert (page.parent / link).exists(), link
    for path in re.findall(r"`((?:docs|benchmarks|tests|examples|src)/[\w./-]+\.\w+)", text):
        assert (ROOT / path).exists(), path
