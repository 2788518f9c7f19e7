"""Check the links of the built site: every page, file and anchor that a page names is there."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote


class Page(HTMLParser):
    """Links and anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" and value:
                self.anchors.add(value)
            if key in ("href", "src") and value:
                self.links.append(value)


def check(site: Path) -> None:
    found = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    wrong = []
    for path, page in found.items():
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / unquote(name.partition("?")[0])).resolve() if name else path
            target = target / "index.html" if target.is_dir() else target
            lost = not target.exists() or (anchor and target in found and unquote(anchor) not in found[target].anchors)
            if lost:
                wrong.append(f"{path.relative_to(site.resolve())}: {link}")
    if wrong:
        raise SystemExit("links that lead nowhere:\n" + "\n".join(wrong))
    print(f"{sum(len(page.links) for page in found.values()):,} links of {len(found)} pages lead somewhere")


if __name__ == "__main__":
    check(Path(sys.argv[1]))
