"""The gallery: a page for every figure of docs/make_gallery.py with its lines, which are there to download as well.

The pictures are those of docs/figures/gallery, which docs/make_gallery.py drew by these very lines.
"""

import sys
from pathlib import Path

import notebooks

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from make_gallery import DATA, FIGURES, OF_RUNS, RANKEVAL  # the line above makes it importable

HEAD = """# Gallery

Every figure is a function of data or of a result that draws on the axes it is given (`ax=`), or on new ones, and returns them.
`ax.figure.savefig("name.pdf")` writes it; in a notebook a cell that ends with the call shows it. All fit on axes of a column of
print (3.4 x 2.5 inches). Click on a figure for the lines that make it."""
RUNS = "## Figures of RankEval\n\nAll of a run at once: `tsadeval rankeval figures STORE`."
LINKS = '<p class="notebook"><a href="{0}.py" download>This figure as a script</a>, <a href="{0}.ipynb" download>as a notebook</a></p>'
CARD = """:::{{grid-item-card}} {title}
:link: {name}
:link-type: doc
:img-top: ../figures/gallery/{name}.png
:img-alt: {alt}
:::"""


def cards(figures: list[tuple[str, str, str, str]]) -> str:
    found = "\n".join(CARD.format(title=title, name=name, alt=f"{title}: {words}") for title, words, _, name in figures)
    return f"::::{{grid}} 2 2 3 3\n:gutter: 2\n:class-container: gallery\n\n{found}\n::::"


def page(title: str, words: str, setup: str, code: str, name: str) -> str:
    parts = [
        f"# {title}",
        LINKS.format(name),
        words,
        f"```python\n{setup}```",
        "The figure:",
        f"```python\n{code}\n```",
    ]
    return "\n\n".join(filter(None, [*parts, f"![{title}: {words}](../figures/gallery/{name}.png)"])) + "\n"


def write(folder: Path, downloads: Path) -> None:
    folder.mkdir(parents=True)
    downloads.mkdir(parents=True)
    for setup, figures in ((DATA, FIGURES), (RANKEVAL, OF_RUNS)):
        for title, words, code, name in figures:
            (folder / f"{name}.md").write_text(page(title, words, setup, code, name), encoding="utf-8")
            script = f'"""{title}."""\n\n{setup}\n{code}\n'
            (downloads / f"{name}.py").write_text(script, encoding="utf-8")
            cells = [("markdown", f"# {title}\n\n{words}".strip()), ("code", setup.rstrip()), ("code", code)]
            (downloads / f"{name}.ipynb").write_text(notebooks.notebook(cells), encoding="utf-8")
    names = "\n".join(name for *_, name in [*FIGURES, *OF_RUNS])
    parts = [HEAD, cards(FIGURES), RUNS, cards(OF_RUNS), f"```{{toctree}}\n:hidden:\n\n{names}\n```"]
    (folder / "index.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
