"""Run the code of a page as a reader would: block by block in one folder; what the page shows is what comes out.

The tests run every page (tests/docs/test_docs.py), and the site those that show results and pictures (docs/site/notebooks.py).
"""

import builtins
import contextlib
import doctest
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blocks import Block, blocks

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass
class Done:
    """How many examples were tried and how many failed, the lines of the blocks that were run, and what those of Python gave."""

    attempted: int = 0
    failed: int = 0
    lines: list[int] = field(default_factory=list)
    results: list[list["Result"]] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    """What came out of an example: what it printed, and the value as HTML where it has such a form."""

    example: doctest.Example
    printed: str
    html: str | None = None


class Ran(doctest.OutputChecker):
    """Takes any output: an example fails only where it raises."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return True


class Runner(doctest.DocTestRunner):
    """Keeps what comes out of every example."""

    def __init__(self, checker: doctest.OutputChecker | None, html: bool) -> None:
        super().__init__(checker, optionflags=FLAGS)
        self.html = html
        self.results: list[Result] = []

    def report_start(self, out, test, example) -> None:
        builtins._ = None  # the value of an example, if it has one, is there afterwards

    def report_success(self, out, test, example, got: str) -> None:
        html = getattr(builtins._, "_repr_html_", None) if self.html else None
        self.results.append(Result(example, got, html() if html else None))

    def report_failure(self, out, test, example, got: str) -> None:
        self.results.append(Result(example, got))
        super().report_failure(out, test, example, got)

    def report_unexpected_exception(self, out, test, example, exc_info) -> None:
        self.results.append(Result(example, "".join(traceback.format_exception(*exc_info))))
        super().report_unexpected_exception(out, test, example, exc_info)


def run(
    page: Path,
    folder: Path,
    names: dict[str, object] | None = None,
    *,
    shell: bool = False,
    tsadeval: Callable[..., Any] | None = None,
    compared: int = sys.maxsize,
    html: bool = False,
) -> Done:
    """Run the blocks of a page in a folder, one after the other; those of Python in one namespace.

    `names` are known before the first block. Those of the shell are run where `shell` says so; commands of tsadeval alone by
    `tsadeval`, if that is given: it takes their arguments, and returns what `subprocess.run` would. Of the first `compared` blocks what
    is printed is compared as well; the others need only run, for pages whose data are not here. `html` asks for values as HTML.
    """
    done, known = Done(), {"__name__": "__main__", **(names or {})}
    found, started = blocks(page.read_text(encoding="utf-8")), []
    before, width = Path.cwd(), os.environ.pop("COLUMNS", None)  # tables are as wide as they are without a terminal
    os.chdir(folder)
    try:
        for number, block in enumerate(found):
            if block.is_prompt:
                runner = run_prompts(block, page, known, Runner(None if number < compared else Ran(), html))
                done.attempted += runner.tries
                done.failed += runner.failures
                done.results.append(runner.results)
            elif shell and block.language == "bash" and not (block.installs or block.makes):
                done.attempted += 1
                if tsadeval and block.commands:
                    ran = [tsadeval(*words) for words in block.commands]
                    code, got = max(one.returncode for one in ran), "".join(one.stdout for one in ran)
                    done.failed += not as_shown(block, page, code, got, "".join(one.stderr for one in ran))
                else:
                    done.failed += not as_shown(block, page, *run_commands(block, started))
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


def run_prompts(block: Block, page: Path, known: dict[str, object], runner: Runner) -> Runner:
    """Run a block of examples, which sees and adds to the names that are known."""
    test = doctest.DocTestParser().get_doctest(block.text, {}, page.name, str(page), block.line)
    test.globs = known
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runner.run(test, clear_globs=False)
    return runner


def run_commands(block: Block, started: list[int], limit: float = 240.0) -> tuple[int | str, str, str]:
    """Run a block of bash as it stands, in a group of processes of its own that `started` gets: some go on in the background.

    Returns its exit code, what it printed, and what it said on standard error.
    """
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
    return code, got, words


def as_shown(block: Block, page: Path, code: int | str, got: str, words: str) -> bool:
    """Whether commands went well and printed what stands below them; if not, says so."""
    right = block.output is None or doctest.OutputChecker().check_output(block.output, got, FLAGS)
    if code or not right:
        wanted = "" if right else f"--- expected ---\n{block.output}"
        print(
            f"{page.name}, line {block.line + 1}: exit code {code}\n{block.text}{wanted}--- printed ---\n{got}{words}"
        )
    return code == 0 and right
