"""The gallery as scripts that sphinx-gallery runs: one for every figure of docs/make_gallery.py."""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(DOCS))
import make_gallery  # noqa: E402 (the line above makes it importable)

HEADER = """Gallery
=======

Every figure is a function of data or of a result that draws on the axes it is given (``ax=``), or on new ones, and returns
them. ``ax.figure.savefig("name.pdf")`` writes it; in a notebook a cell that ends with the call shows it. All fit on axes of a
column of print (3.4 x 2.5 inches). Click on a figure for the lines that make it.
"""
OF_RUNS = """Figures of RankEval
-------------------

All of a run at once: ``tsadeval rankeval figures STORE``.
"""
NEEDED = {"data": make_gallery.DATA, "run": "import tsadeval as te\n\n" + make_gallery.RANKEVAL}


def script(title: str, words: str, setup: str, code: str) -> str:
    """One example: the picture first, then what it was drawn from."""
    line = "=" * len(title)
    about = words or "One line draws it, from the data or the result that the lines before it make."
    return f'"""\n{title}\n{line}\n\n{about}\n"""\n\n{setup}\n# %%\n# The figure:\n{code}\n'


def write(folder: Path) -> None:
    for name, head, setup, figures in (
        (".", HEADER, NEEDED["data"], make_gallery.FIGURES),
        ("rankeval", OF_RUNS, NEEDED["run"], make_gallery.OF_RUNS),
    ):
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "GALLERY_HEADER.rst").write_text(head, encoding="utf-8")
        for number, (title, words, code, stem) in enumerate(figures):
            text = script(title, words, setup, code)
            (place / f"plot_{number:02}_{stem.replace('-', '_')}.py").write_text(text, encoding="utf-8")


def scraper(block, block_vars, gallery_conf) -> str:
    """Save the axes `ax` of a script: pyplot, where sphinx-gallery looks for figures, does not know ours."""
    from sphinx_gallery.scrapers import figure_rst

    ax = block_vars["example_globals"].get("ax")
    if ax is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    figure = ax.figure
    figure.savefig(path, dpi=min(160, 900 / figure.get_size_inches()[0]))
    title = re.sub(r"plot_\d+_|\.py$", "", Path(block_vars["src_file"]).name).replace("_", " ")
    return figure_rst([path], gallery_conf["src_dir"], title)
