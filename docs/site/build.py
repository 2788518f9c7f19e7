"""Build the site:  python docs/site/build.py SOURCES SITE      (or: make docs)

Gathers the pages of docs/ in SOURCES, writes those that are generated (metrics, reference, gallery), runs the tutorials, the
explanations and what else draws, calls Sphinx, with warnings as errors, and checks the links of what was built. `--fast` does not
run code, so pictures are missing and results are those of the repository; neither they nor links are checked.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import failures
import figures
import links
import notebooks
import pages
import reference

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent
ROOT = DOCS.parent
# All metrics, or figures, on one page are for readers of the repository: here each has its own.
LEFT_OUT = {"metrics.md", "gallery.md"}


def adapted(text: str) -> str:
    """A page as Sphinx wants it: links to what is elsewhere on the site."""
    text = text.replace("](docs/", "](")
    # A link that says the name of a file says the title of the page.
    text = re.sub(r"\[(?:docs/)?([\w-]+)\.md\]\(((?:\.\./)*)\1\.md(#[\w-]+)?\)", r"[](\2\1.md\3)", text)
    text = re.sub(r"\]\(((?:\.\./)*)metrics\.md(?:#(\w+))?\)", lambda m: f"]({m[1]}metrics/{m[2] or 'index'}.md)", text)
    text = re.sub(r"\]\(((?:\.\./)*)gallery\.md\)", r"](\1gallery/index.md)", text)
    # One folder up in the repository, beside the other pages on the site.
    text = re.sub(
        r"\]\((?:\.\./)?((?:\.\./)*)(CHANGELOG|CONTRIBUTING)\.md\)", lambda m: f"]({m[1]}{m[2].lower()}.md)", text
    )
    return text.replace("```mermaid", "```text")


def with_all_pages(index: str, target: Path) -> str:
    """The front page; a page that it does not list yet is a guide."""
    listed = set(re.findall(r"^([\w/-]+)$", index, flags=re.MULTILINE))
    found = [page.relative_to(target).with_suffix("").as_posix() for page in sorted(target.rglob("*.md"))]
    new = [name for name in found if name not in listed and name != "index"]
    return index.replace("\ncompare\n", "\n" + "\n".join(["compare", *new]) + "\n", 1)


def gather(target: Path) -> None:
    """All pages in one folder, as they are linked."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    shutil.copytree(DOCS / "figures", target / "figures")
    for page in sorted([*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"), *DOCS.glob("explanations/*.md")]):
        if page.name in LEFT_OUT and page.parent == DOCS:
            continue
        place = target / page.relative_to(DOCS)
        place.parent.mkdir(exist_ok=True)
        place.write_text(adapted(page.read_text(encoding="utf-8")), encoding="utf-8")
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        (target / name.lower()).write_text(adapted((ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")
    index = target / "index.md"
    index.write_text(with_all_pages(index.read_text(encoding="utf-8"), target), encoding="utf-8")
    choosing = target / "choosing.md"
    choosing.write_text(
        choosing.read_text(encoding="utf-8").replace(failures.PLACE, failures.section()), encoding="utf-8"
    )
    pages.write(target / "metrics")
    reference.write(target / "reference")
    shutil.rmtree(downloads(target), ignore_errors=True)
    figures.write(target / "gallery", downloads(target) / "gallery")
    notebooks.write(target, downloads(target))


def downloads(target: Path) -> Path:
    """Where files lie that go to the site as they are."""
    return target.with_name("site-downloads")


def polish(target: Path) -> None:
    """What doctest needs and readers do not: marks of blank lines, and a blank line before the end of a block."""
    for page in target.rglob("*.md"):
        text = page.read_text(encoding="utf-8").replace("<BLANKLINE>", "")
        text = re.sub(r"^(```python\n(?:(?!```).*\n)*?)\n+```$", r"\1```", text, flags=re.MULTILINE)
        page.write_text(text, encoding="utf-8")


def timed(what: str, function, *args) -> None:
    start = time.perf_counter()
    function(*args)
    print(f"{what}: {time.perf_counter() - start:.0f} s", flush=True)


def sphinx(source: Path, target: Path, strict: bool) -> None:
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-c", str(HERE), "--keep-going", "-q", "-j", "auto"]
    # The picture of a page that was not run is not there.
    command += ["-W"] if strict else ["-D", "suppress_warnings=myst.header,image.not_readable"]
    command += ["-d", str(source.parent / "site-doctrees"), str(source), str(target)]
    # Its own doctrees are always made anew: pages are generated, so time stamps say nothing.
    shutil.rmtree(source.parent / "site-doctrees", ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    if subprocess.run(command).returncode:
        raise SystemExit("the site was not built: mend the warnings above")
    shutil.copytree(downloads(source), target, dirs_exist_ok=True)


def accessible(site: Path) -> None:
    """Mend what the theme lacks: levels of the captions in the sidebar, blocks of code that keys can scroll."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text = text.replace('class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"')
        page.write_text(text.replace("<pre>", '<pre tabindex="0">'), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("site", type=Path)
    parser.add_argument("--fast", action="store_true", help="do not run the code of the pages, and check nothing")
    given = parser.parse_args()
    timed("pages", gather, given.sources)
    if not given.fast:
        timed("code of pages", notebooks.show_all, given.sources)
    polish(given.sources)
    timed("Sphinx", sphinx, given.sources, given.site, not given.fast)
    accessible(given.site)
    if not given.fast:
        timed("links", links.check, given.site)
    print(f"open {given.site}/index.html")


if __name__ == "__main__":
    main()
