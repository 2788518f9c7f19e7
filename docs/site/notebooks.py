"""Tutorials and explanations with the results of their code, and as notebooks to download.

The pages in the repository have prompts and outputs, so that the tests can compare what is printed (tests/docs/test_docs.py) and
that they can be read there. On the site their blocks are cells, with what came out of them when it was built: results are tables.
"""

import doctest
import json
import re
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import execute

FOLDERS = ("tutorials", "explanations")
BLOCK = re.compile(r"^```python\n(>>> .*?)^```\n", flags=re.MULTILINE | re.DOTALL)
LINK = '\n<p class="notebook"><a href="{name}.ipynb" download>This page as a notebook</a></p>\n'


def cut(examples: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Sources of examples and what they print as cells, cut behind every one that prints: a notebook shows the last result of a cell."""
    found, lines = [], []
    for source, shown in examples:
        lines.append(source.rstrip("\n"))
        if shown:
            found.append(("\n".join(lines), shown))
            lines = []
    return [*found, ("\n".join(lines), "")] if lines else found


def cells(block: str) -> list[str]:
    """The code of a block with prompts, as cells."""
    examples = doctest.DocTestParser().get_examples(block)
    return [code for code, _ in cut((example.source, example.want) for example in examples)]


def output(result: execute.Result) -> str:
    """What is shown under a cell: a table where the value has one, else what was printed."""
    if not result.printed:
        return ""
    shown = f"```{{raw}} html\n{result.html}\n```" if result.html else f"```text\n{result.printed.rstrip()}\n```"
    return f":::{{div}} cell-output\n{shown}\n:::\n"


def with_results(text: str, blocks: list[list[execute.Result]]) -> str:
    """A page whose blocks are cells with their results."""
    found = iter(blocks)

    def code(match: re.Match[str]) -> str:
        parts = cut((result.example.source, output(result)) for result in next(found))
        return "\n".join(f"```python\n{source}\n```\n\n{shown}" for source, shown in parts)

    assert len(BLOCK.findall(text)) == len(blocks), "a block that is not at the margin"
    return BLOCK.sub(code, text)


def notebook(parts: list[tuple[str, str]]) -> str:
    """A file for Jupyter, without outputs, from kinds of cells ("markdown" or "code") and their texts."""
    found: list[dict[str, object]] = []
    for number, (kind, text) in enumerate(parts):
        empty = {"execution_count": None, "outputs": []} if kind == "code" else {}
        found.append({"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text, **empty})
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": found, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def of_page(text: str) -> str:
    """A page as a notebook, without links, which lead to pages of the site."""
    parts: list[tuple[str, str]] = []
    for place, part in enumerate(BLOCK.split(text)):  # words, block, words, block, ..., words
        if place % 2:
            parts += [("code", cell) for cell in cells(part)]
        elif part.strip():
            parts.append(("markdown", re.sub(r"(?<!!)\[([^]]+)\]\([^)]+\)", r"\1", part.strip())))
    return notebook(parts)


def write(sources: Path, downloads: Path) -> None:
    """Put the files for Jupyter into a folder of their own, and links to them under the titles of the pages."""
    for folder in FOLDERS:
        (downloads / folder).mkdir(parents=True, exist_ok=True)
        for path in sorted((sources / folder).glob("*.md")):
            text = path.read_text(encoding="utf-8")
            if BLOCK.search(text):
                (downloads / folder / f"{path.stem}.ipynb").write_text(of_page(text), encoding="utf-8")
                title, _, rest = text.partition("\n")
                path.write_text(f"{title}\n{LINK.format(name=path.stem)}{rest}", encoding="utf-8")


def drawn(text: str) -> list[str]:
    """The pictures that a page's own code writes."""
    return re.findall(r'savefig\(\s*"([^"]+)"', text)


def show(page: Path) -> str:
    """Run a page where it stands, where its pictures belong, and write its results into it; returns what went wrong."""
    import matplotlib

    matplotlib.use("Agg")
    done = execute.run(page, page.parent, html=True)
    if page.parent.name in FOLDERS:
        page.write_text(with_results(page.read_text(encoding="utf-8"), done.results), encoding="utf-8")
    return f"{page.name}: {done.failed} of {done.attempted} examples failed\n" if done.failed else ""


def show_all(sources: Path) -> None:
    """Run the tutorials, the explanations and all other pages that draw, on all cores."""
    pages = [
        page.resolve() for page in [*sources.glob("*.md"), *(p for f in FOLDERS for p in (sources / f).glob("*.md"))]
    ]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    wanted = [p for p, text in texts.items() if ">>>" in text and (p.parent.name in FOLDERS or drawn(text))]
    with ProcessPoolExecutor() as pool:
        if failed := "".join(pool.map(show, wanted)):
            raise SystemExit(failed)
