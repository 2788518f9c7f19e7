"""Write what the examples of a page print under them:  python docs/site/fill.py PAGE...

For authors: write the lines with >>>, run this, read what came out. Outputs that match already, with ... for parts that
vary, stay as they are. Files that a page names come from tests/page_files.py, as in the tests.
"""

import doctest
import re
import sys
import tempfile
from pathlib import Path

import execute
from blocks import blocks

TRACEBACK = re.compile(r"(Traceback \(most recent call last\):\n).*\n(?=\S)", flags=re.DOTALL)


def filled(text: str, results: list[list[execute.Result]]) -> str:
    """The page with the outputs of its examples made anew, from the last to the first, so that lines keep their numbers."""
    lines, found = text.split("\n"), [block for block in blocks(text) if block.is_prompt]
    for block, of_block in reversed(list(zip(found, results, strict=True))):
        for result in reversed(of_block):
            example, got = result.example, TRACEBACK.sub(r"\1    ...\n", result.printed)
            if not doctest.OutputChecker().check_output(example.want, got, execute.FLAGS):
                at = block.line + example.lineno + example.source.count("\n")
                shown = [line.rstrip() or "<BLANKLINE>" for line in got.splitlines()]
                lines[at : at + example.want.count("\n")] = shown
    return "\n".join(lines)


if __name__ == "__main__":
    import matplotlib

    sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
    import page_files

    matplotlib.use("Agg")
    for page in (Path(name).resolve() for name in sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            names, compared = page_files.prepare(page.name, Path(folder))
            if compared < sys.maxsize:
                sys.exit(f"{page.name} shows the output of real data, which are not here: see tests/page_files.py")
            done = execute.run(page, Path(folder), names)
        page.write_text(filled(page.read_text(encoding="utf-8"), done.results), encoding="utf-8")
        print(f"filled {page}")
