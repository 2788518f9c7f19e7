"""The blocks of code of the site, and what runs each of them.

Every block of a page says its language, and the language says what happens to it:

- `python` is run, and what it prints is compared, by tests/docs/test_docs.py; lines of the gallery are drawn there;
- `bash` is run by the same test in the same folder, after the blocks before it. A `text` block right behind it is what it prints;
- `text` elsewhere is no code, and stands in NOT_CODE with what it is instead.

A block for which nothing of this holds is reported, and fails tests/docs/test_blocks.py.
"""

import inspect
import os
import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
PAGES = "tests/docs/test_docs.py"
DRAWN = "drawn by docs/make_gallery.py, in tests/docs/test_docs.py"
SIGNATURES = "compared with the function by tests/docs/test_blocks.py"

# Directives of Sphinx that show no code.
DIRECTIVES = ("{toctree}", "{math}", "{raw}")

# Page, and how the block begins: text that is no code.
NOT_CODE = {
    ("contributing", "flowchart TD"): "picture of the layers, written by docs/make_contributing.py",
    ("cce", "CCE = "): "formula",
    ("cce", "L² = "): "formula",
    ("detectors", "E_q ["): "formula",
    ("ears", "D     = "): "formula",
    ("leaderboard", "board/board.toml"): "folders of a board",
    ("metrics/unbiased_affiliation_f1", "U = "): "formula",
    ("rankeval", "RankEval, suite standard"): "output of a long run, written by docs/make_rankeval.py",
    ("scale", "seconds = "): "formula",
}


@dataclass(frozen=True)
class Block:
    """A block of a page: the line of its first line of code (from 0), its language, its text, and what it should print."""

    line: int
    language: str
    text: str
    output: str | None = None

    @property
    def is_prompt(self) -> bool:
        return self.language == "python" and self.text.startswith(">>> ")

    @property
    def installs(self) -> bool:
        return self.language == "bash" and all(line.startswith("pip install ") for line in self.text.splitlines())

    @property
    def makes(self) -> bool:
        return self.language == "bash" and all(line.startswith("make ") for line in self.text.splitlines())

    @property
    def commands(self) -> list[list[str]]:
        """The arguments of its commands where all are of `tsadeval` and the shell has nothing to do but to read them; else none."""
        lines = self.text.replace("\\\n", " ").splitlines()
        unquoted = re.sub(r"'[^']*'|\"[^\"]*\"|#.*", "", "\n".join(lines))
        if self.language != "bash" or re.search(r"[|&;<>$`*?(){}\[\]\\]|^(?!tsadeval )", unquoted, flags=re.MULTILINE):
            return []
        return [[os.path.expanduser(word) for word in shlex.split(line, comments=True)[1:]] for line in lines]


def blocks(text: str) -> list[Block]:
    """All blocks of a page, fenced or indented, in lists or not."""
    found: list[Block] = []
    tokens = MarkdownIt("commonmark").parse(text)
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type not in ("fence", "code_block"):
            continue
        language = token.info.partition(" ")[0]
        follows = before is not None and before.type == "fence" and bool(found) and found[-1].language == "bash"
        if language == "text" and follows:
            last = found.pop()
            found.append(Block(last.line, last.language, last.text, token.content))
        else:
            found.append(Block(token.map[0] + (token.type == "fence"), language, token.content))
    return found


def run_by(page: str, block: Block) -> str:
    """What runs or checks a block of a page of the site; nothing where nothing does."""
    if block.language.startswith(DIRECTIVES):
        return "no code"
    if block.language == "{eval-rst}":
        return "docstrings: pytest --doctest-modules src"
    if page.startswith("metrics/") and block.language == "python":
        return of_metric(page.removeprefix("metrics/"), block)
    if page.startswith("gallery/") and block.text.strip() in gallery_lines():
        return DRAWN
    if block.is_prompt:
        return "pytest README.md" if page == "README" else PAGES
    if block.language == "python" and page == "contributing":
        return "run as a script by tests/docs/test_blocks.py"
    if block.installs:
        return "by pip, which finds it installed: tests/docs/test_blocks.py"
    if block.makes:
        return "make -n: tests/docs/test_blocks.py"
    if block.language == "bash":
        return PAGES
    if page == "reference/command-line" and block.text.startswith("Usage: tsadeval"):
        return "output: printed by the command when the site is built"
    for (name, start), what in NOT_CODE.items():
        if page == name and block.language in ("text", "") and block.text.startswith(start):
            return f"no code: {what}"
    return ""


@cache
def gallery_lines() -> set[str]:
    """What docs/make_gallery.py runs."""
    import figures

    codes = [code for _, _, code, _ in [*figures.FIGURES, *figures.OF_RUNS]]
    return {text.strip() for text in [figures.DATA, figures.RANKEVAL, *codes]}


def of_metric(name: str, block: Block) -> str:
    """Blocks of a metric's page: its signature, and the examples of docstrings."""
    import tsadeval.metrics

    names = dir(tsadeval.metrics) if name == "several" else [name]
    docs = [inspect.getdoc(getattr(tsadeval.metrics, n)) or "" for n in names]
    if block.is_prompt and any(block.text.strip() in doc for doc in docs):
        return "docstrings: pytest --doctest-modules src"
    return SIGNATURES if block.text.startswith(tuple(f"te.metrics.{n}(y_true, " for n in names)) else ""


def inventory(sources: Path) -> list[tuple[str, Block, str]]:
    """Page, block and what runs it, of all pages that build.py gathered, and of the README."""
    pages = {path.relative_to(sources).with_suffix("").as_posix(): path for path in sorted(sources.rglob("*.md"))}
    pages["README"] = ROOT / "README.md"
    return [
        (page, block, run_by(page, block))
        for page, path in pages.items()
        for block in blocks(path.read_text(encoding="utf-8"))
    ]
