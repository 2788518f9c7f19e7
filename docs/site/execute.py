"""Run the code of a page as a reader would: block by block in one folder; what the page shows is what comes out.

The tests run every page (tests/test_docs.py). The site runs those again that draw pictures, where the pictures belong.
"""

import contextlib
import doctest
import os
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from blocks import Block, blocks

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass
class Done:
    """How many examples were tried and how many failed, and the lines of the blocks that were run."""

    attempted: int = 0
    failed: int = 0
    lines: list[int] = field(default_factory=list)


class Ran(doctest.OutputChecker):
    """Takes any output: an example fails only where it raises."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return True


def run(
    page: Path,
    folder: Path,
    names: dict[str, object] | None = None,
    *,
    shell: bool = False,
    compared: int = sys.maxsize,
) -> Done:
    """Run the blocks of a page in a folder, one after the other; those of Python in one namespace.

    `names` are known before the first block. Those of the shell are run where `shell` says so. Of the first `compared` blocks what
    is printed is compared as well; the others need only run, for pages whose data are not here.
    """
    done, known = Done(), {"__name__": "__main__", **(names or {})}
    found, started = blocks(page.read_text(encoding="utf-8")), []
    before, width = Path.cwd(), os.environ.pop("COLUMNS", None)  # tables are as wide as they are without a terminal
    os.chdir(folder)
    try:
        for number, block in enumerate(found):
            if block.is_prompt:
                results = run_prompts(block, page, known, number < compared)
                done.attempted += results.attempted
                done.failed += results.failed
            elif shell and block.language == "bash" and not (block.installs or block.makes):
                done.attempted += 1
                done.failed += not run_commands(block, page, started)
            else:
                continue
            done.lines.append(block.line)
    finally:
        for group in started:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # nothing is left of it
                os.killpg(group, signal.SIGKILL)
        os.chdir(before)
        if width is not None:
            os.environ["COLUMNS"] = width
    return done


def run_prompts(block: Block, page: Path, known: dict[str, object], compared: bool) -> doctest.TestResults:
    """Run a block of examples, which sees and adds to the names that are known."""
    runner = doctest.DocTestRunner(None if compared else Ran(), optionflags=FLAGS)
    test = doctest.DocTestParser().get_doctest(block.text, {}, page.name, str(page), block.line)
    test.globs = known
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return runner.run(test, clear_globs=False)


def run_commands(block: Block, page: Path, started: list[int], limit: float = 240.0) -> bool:
    """Run a block of bash as it stands, in a group of processes of its own that `started` gets: some go on in the background."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as printed,
        tempfile.TemporaryFile("w+", encoding="utf-8") as told,
    ):
        process = subprocess.Popen(
            ["bash", "-e", "-o", "pipefail", "-c", block.text],
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=told,
            start_new_session=True,
        )
        started.append(process.pid)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = f"none after {limit:g} s"
        got, words = (file.seek(0) or file.read() for file in (printed, told))
    right = block.output is None or doctest.OutputChecker().check_output(block.output, got, FLAGS)
    if code or not right:
        wanted = "" if right else f"--- expected ---\n{block.output}"
        print(
            f"{page.name}, line {block.line + 1}: exit code {code}\n{block.text}{wanted}--- printed ---\n{got}{words}"
        )
    return code == 0 and right


def drawn(text: str) -> list[str]:
    """The pictures that a page's own code writes."""
    return re.findall(r'savefig\(\s*"([^"]+)"', text)


def pictures(folder: Path) -> None:
    """Run the pages that draw, each in its own folder of the sources."""
    import matplotlib

    matplotlib.use("Agg")
    for page in sorted([*folder.glob("*.md"), *folder.glob("tutorials/*.md"), *folder.glob("explanations/*.md")]):
        text = page.read_text(encoding="utf-8")
        if drawn(text) and ">>>" in text:
            done = run(page, page.parent)
            if done.failed:
                raise SystemExit(f"{page.name}: {done.failed} of {done.attempted} examples failed")
