"""The commands of the pages, in blocks and in sentences: each exists with its options.

Blocks are run by tests/docs/test_docs.py; here those of sentences are that read tables.
"""

import re
import shlex
from pathlib import Path

import pytest

import page_files

pytest.importorskip("typer", reason="the command line is an extra")
import typer
from typer.testing import CliRunner

from tsadeval.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])


def commands(text):
    """Whole commands: lines of blocks, and what stands in backticks with at least one argument."""
    text = text.replace("\\\n", " ")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL) + re.findall(
        r"(?m)^ {4}(.+)", text
    )
    lines = re.findall(r"(?m)^((?:cat \S+ \| )?tsadeval [a-z].*)$", "\n".join(blocks))
    spans = re.findall(r"`(tsadeval [a-z][^`]*)`", text)
    for found in (*lines, *spans):
        words = shlex.split(found.partition(" | ")[2] if found.startswith("cat ") else found, comments=True)
        if not any("|" in word for word in words):  # "list|info" names several
            yield words


COMMAND = typer.main.get_command(app)
FOUND = {page: list(commands(page.read_text(encoding="utf-8"))) for page in PAGES}


@pytest.mark.parametrize("page", [p for p in PAGES if FOUND[p]], ids=lambda p: p.name)
def test_every_command_and_option_exists(page):
    for words in FOUND[page]:
        command, rest = COMMAND, words[1:]
        while rest and hasattr(command, "commands"):
            assert rest[0] in command.commands, shlex.join(words)
            command, rest = command.commands[rest[0]], rest[1:]
        known = {"--help", "-h"} | {name for parameter in command.params for name in parameter.opts}
        named = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        assert named <= known, (shlex.join(words), sorted(named - known))


def test_pages_have_commands():
    assert sum(map(len, FOUND.values())) > 40


# Page, and how the command begins: those of sentences that need nothing but a table, and take no longer than a moment.
RUN = [
    ("report.md", "report a.csv b.csv"),
    ("scale.md", "score large.parquet"),
    ("scale.md", "score runs/**/*.parquet --by site"),
    ("large.md", "compare scores/"),
]


@pytest.mark.parametrize(("page", "start"), RUN, ids=lambda text: text)
def test_commands_that_read_tables_run(page, start, tmp_path, monkeypatch):
    page_files.tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = [w[1:] for p in PAGES if p.name == page for w in FOUND[p] if " ".join(w[1:]).startswith(start)]
    alone = [words for words in found if "--dask" not in words]  # no cluster here
    assert alone
    for words in alone:
        done = CliRunner().invoke(app, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output
