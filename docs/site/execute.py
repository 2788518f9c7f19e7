"""Run the code of a page, as doctest does: what the page shows is what comes out.

The tests run every page (tests/test_docs.py). The site runs those again that draw pictures, where the pictures belong.
"""

import doctest
import os
import re
import warnings
from pathlib import Path

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run(page: Path, folder: Path) -> doctest.TestResults:
    """Run the blocks of a page in a folder, one after the other in one namespace."""
    text = page.read_text(encoding="utf-8")
    # A fence after an example would be taken for its output.
    text = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)
    before, width = Path.cwd(), os.environ.pop("COLUMNS", None)  # tables are as wide as they are without a terminal
    os.chdir(folder)
    try:
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        test = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page.name, str(page), 0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return runner.run(test)
    finally:
        os.chdir(before)
        if width is not None:
            os.environ["COLUMNS"] = width


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
