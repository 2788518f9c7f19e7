"""The commands of the pages: each exists with its options, and those that read tables run on such tables."""

import gzip
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line is an extra")
import pandas as pd
import typer
from typer.testing import CliRunner

from tsadeval.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
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


FOUND = {page: list(commands(page.read_text(encoding="utf-8"))) for page in PAGES}


@pytest.mark.parametrize("page", [p for p in PAGES if FOUND[p]], ids=lambda p: p.name)
def test_every_command_and_option_exists(page):
    for words in FOUND[page]:
        command, rest = typer.main.get_command(app), words[1:]
        while rest and hasattr(command, "commands"):
            assert rest[0] in command.commands, shlex.join(words)
            command, rest = command.commands[rest[0]], rest[1:]
        known = {"--help", "-h"} | {name for parameter in command.params for name in parameter.opts}
        named = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        assert named <= known, (shlex.join(words), sorted(named - known))


def test_pages_have_commands():
    assert sum(map(len, FOUND.values())) > 40


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """The files that the pages name."""
    rng = np.random.default_rng(0)
    stamps = pd.date_range("2026-01-01", periods=500, freq="min")
    label = np.zeros(500, int)
    label[200:230] = label[400:410] = 1
    parts = []
    for name in ("a", "b"):
        scores = {
            detector: rng.random(500) + gain * label for detector, gain in (("lof", 1), ("knn", 0.5), ("mine", 0.2))
        }
        parts.append(pd.DataFrame({"series": name, "server": name, "stamp": stamps, "label": label, **scores}))
    wide = pd.concat(parts).assign(pca=lambda t: t.knn)
    monkeypatch.chdir(tmp_path)
    one = parts[0].rename(columns={"lof": "score"})[["stamp", "label", "score"]]
    long = wide.melt(["series", "label"], ["lof", "knn"], "detector", "score")
    wide.rename(columns={"lof": "score"})[["server", "stamp", "score"]].to_csv("scores.csv", index=False)
    pd.DataFrame({"start": stamps[[200, 400]], "stop": stamps[[230, 410]]}).to_csv("incidents.csv", index=False)
    parts[0].assign(pca=parts[0].knn)[["label", "lof", "pca"]].to_parquet("run1.parquet")
    with gzip.open("run2.csv.gz", "wt") as file:
        parts[1].assign(pca=parts[1].knn)[["label", "lof", "pca"]].to_csv(file, index=False)
    one[one.label == 0][["score"]].to_csv("train.csv", index=False)
    one[["label", "score"]].to_parquet("large.parquet")
    Path("runs").mkdir()
    one.rename(columns={"stamp": "at"}).assign(site="north").to_parquet("runs/a.parquet")
    for part in parts:
        part.drop(columns=["server", "stamp"]).to_csv(f"{part.series[0]}.csv", index=False)
    Path("scores").mkdir()
    long.to_csv("scores/long.csv", index=False)
    return {"scores.jsonl": "\n".join(json.dumps(row) for row in one[["label", "score"]].to_dict("records"))}


# Page, and how the command begins: those that need nothing but a table, and take no longer than a moment.
RUN = [
    ("tables.md", "score scores.csv"),
    ("tables.md", "score run1.parquet"),
    ("tables.md", "score -"),
    ("report.md", "report a.csv b.csv"),
    ("scale.md", "score large.parquet"),
    ("scale.md", "score runs/**/*.parquet"),
    ("large.md", "compare scores/"),
]


@pytest.mark.parametrize(("page", "start"), RUN, ids=lambda text: text)
def test_commands_that_read_tables_run(page, start, tables):
    found = [w[1:] for p in PAGES if p.name == page for w in FOUND[p] if " ".join(w[1:]).startswith(start)]
    alone = [words for words in found if "--dask" not in words]  # no cluster here
    assert alone
    for words in alone:
        done = CliRunner().invoke(app, words, input=tables["scores.jsonl"], catch_exceptions=False)
        assert done.exit_code == 0, done.output
