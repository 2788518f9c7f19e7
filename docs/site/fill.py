"""Write what the examples of a page print under them:  python docs/site/fill.py PAGE...

For authors: write the lines with >>>, run this, read what came out. Outputs that match already, with ... for parts that
vary, stay as they are.
"""

import contextlib
import doctest
import io
import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

from execute import FLAGS


def filled(text: str) -> str:
    """The page with the outputs of its examples made anew."""
    lines, names = text.split("\n"), {"__name__": "__main__"}
    out, at, checker = [], 0, doctest.OutputChecker()
    while at < len(lines):
        if not lines[at].startswith(">>> "):
            out.append(lines[at])
            at += 1
            continue
        source = [lines[at][4:]]
        out.append(lines[at])
        at += 1
        while at < len(lines) and lines[at].startswith("..."):
            source.append(lines[at][4:])
            out.append(lines[at])
            at += 1
        wanted = []
        while at < len(lines) and lines[at] and not lines[at].startswith((">>>", "```")):
            wanted.append(lines[at])
            at += 1
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                exec(compile("\n".join(source) + "\n", "<page>", "single"), names)
            except Exception as error:
                traceback.print_exc(file=sys.stderr)
                print(
                    "Traceback (most recent call last):\n    ...\n" + traceback.format_exception_only(error)[-1].strip()
                )
        got = printed.getvalue()
        want = "\n".join(wanted) + "\n" if wanted else ""
        if want and checker.check_output(want, got, FLAGS):
            out += wanted
        elif got:
            out += [line.rstrip() or "<BLANKLINE>" for line in got.rstrip("\n").split("\n")]
    return "\n".join(out)


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    for name in map(Path, sys.argv[1:]):
        path, before = name.resolve(), Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            made = filled(path.read_text(encoding="utf-8"))
            os.chdir(before)
        path.write_text(made, encoding="utf-8")
        print(f"filled {name}")
