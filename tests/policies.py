"""The content security policy of a page, and whether its scripts and styles keep it."""

import base64
import hashlib
from html.parser import HTMLParser


class Policy(HTMLParser):
    """The directives of a page, and its inline scripts and styles, attributes included."""

    def __init__(self, path):
        super().__init__()
        self.directives, self.inline, self.sources, self.open = {}, [], [], None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if found.get("http-equiv") == "Content-Security-Policy":
            assert self.inline + self.sources == [], "the policy must come before what it is for"
            words = [part.split() for part in found["content"].split(";")]
            self.directives = {name: sources for name, *sources in words}
        assert not [name for name in found if name == "style" or name.startswith("on")], (tag, found)
        self.sources += [found[name] for name in ("src", "href") if tag in ("script", "link") and name in found]
        self.open = tag if tag == "style" or (tag == "script" and not {"src", "type"} & set(found)) else None

    def handle_data(self, data):
        if self.open:
            self.inline.append((self.open, data))

    def handle_endtag(self, tag):
        self.open = None


def check_policy(path):
    """Check that a page allows its own scripts and styles, and nothing else."""
    page = Policy(path)
    assert page.directives["default-src"] == page.directives["base-uri"] == ["'none'"], path
    assert page.directives["form-action"] == ["'none'"]
    assert not any(
        "unsafe" in word or "*" in word or "http" in word for some in page.directives.values() for word in some
    )
    hashes = {
        f"{tag}-src": [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"]
        for tag, text in page.inline
    }
    local = ["'self'", "file:"]  # of a file, "self" is nothing in some browsers
    expected = {"script-src": local, "style-src": local} if not page.inline else hashes
    assert {name: page.directives[name] for name in ("script-src", "style-src")} == expected
    assert all("://" not in source for source in page.sources)
    return page
