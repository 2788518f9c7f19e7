"""Tutorials and explanations as notebooks: run when the site is built, shown with what came out, there to download.

The pages in the repository have prompts and outputs, so that the tests can compare what is printed (tests/test_docs.py) and
that they can be read there. On the site their blocks are cells, which myst-nb runs, and results are tables.
"""

import doctest
import json
import re
from pathlib import Path

FOLDERS = ("tutorials", "explanations")
HEAD = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"
BLOCK = re.compile(r"^```python\n(>>> .*?)^```\n", flags=re.MULTILINE | re.DOTALL)
LINK = '\n<p class="notebook"><a href="{name}.ipynb" download>This page as a notebook</a></p>\n'


def cells(block: str) -> list[str]:
    """The code of a block with prompts, cut behind every line that prints: a notebook shows the last result of a cell."""
    found, lines = [], []
    for example in doctest.DocTestParser().get_examples(block):
        lines.append(example.source.rstrip("\n"))
        if example.want:
            found.append("\n".join(lines))
            lines = []
    return [*found, "\n".join(lines)] if lines else found


def page(text: str, name: str) -> str:
    """A page whose blocks are cells, with a link to the file for Jupyter under its title."""

    def code(match: re.Match[str]) -> str:
        return "\n".join(f"```{{code-cell}} ipython3\n{cell}\n```\n" for cell in cells(match[1]))

    title, _, rest = BLOCK.sub(code, text).partition("\n")
    return f"{HEAD}{title}\n{LINK.format(name=name)}{rest}"


def notebook(text: str) -> str:
    """The page as a file for Jupyter, without outputs, and without links, which lead to pages of the site."""
    found: list[dict[str, object]] = []
    for place, part in enumerate(BLOCK.split(text)):  # words, block, words, block, ..., words
        if place % 2:
            for cell in cells(part):
                found.append(
                    {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": cell}
                )
        elif part.strip():
            words = re.sub(r"(?<!!)\[([^]]+)\]\([^)]+\)", r"\1", part.strip())
            found.append({"cell_type": "markdown", "metadata": {}, "source": words})
    for number, cell in enumerate(found):
        cell["id"] = f"cell-{number}"
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": found, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def write(sources: Path, downloads: Path) -> None:
    """Put cells into the pages of the sources, and the files for Jupyter into a folder of their own."""
    for folder in FOLDERS:
        (downloads / folder).mkdir(parents=True, exist_ok=True)
        for path in sorted((sources / folder).glob("*.md")):
            text = path.read_text(encoding="utf-8")
            if BLOCK.search(text):
                (downloads / folder / f"{path.stem}.ipynb").write_text(notebook(text), encoding="utf-8")
                path.write_text(page(text, path.stem), encoding="utf-8")
