"""A real browser: Debian's chromium, driven by playwright. `make test-browser` sets both up."""

import os
import shutil
import sys

import numpy as np
import pytest

BROWSER = os.environ.get("TSADEVAL_BROWSER", "")
NASTY = "<script>alert(1)</script>"


def pytest_collection_modifyitems(items):
    if BROWSER and shutil.which(BROWSER):
        return
    for item in items:
        if "browser" in str(item.path):
            item.add_marker(pytest.mark.skip(reason="needs a browser: make test-browser"))


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        sandbox = [] if hasattr(os, "getuid") and os.getuid() else ["--no-sandbox"]
        one = driver.chromium.launch(executable_path=shutil.which(BROWSER), args=sandbox)
        yield one
        one.close()


class Visit:
    """A page in the browser, and everything it complained about or asked the network for."""

    def __init__(self, context):
        self.page = context.new_page()
        self.complaints = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("dialog", lambda d: (self.complaints.append(f"dialog: {d.message}"), d.dismiss()))
        self.page.on("requestfailed", lambda r: self.complaints.append(f"failed: {r.url}"))
        self.requests = []
        self.page.on("request", lambda r: self.requests.append(r.url))

    def text(self, selector):
        return self.page.inner_text(selector)

    def column(self, table, number):
        cells = self.page.query_selector_all(f"{table} tbody tr td:nth-child({number})")
        return [cell.inner_text() for cell in cells]

    def wait(self, expression, arg=None):
        """Wait until an expression is true; the policy of a page does not let `wait_for_function` ask a second time."""
        for _ in range(200):
            if self.page.evaluate(expression, arg):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"after 10 s still not true: {expression}")


@pytest.fixture
def visit(browser):
    """visit(url, width, scheme) opens a page; at the end nothing may have gone wrong in it."""
    opened = []

    def go(url, width=1280, scheme="light", ready="body[data-ready]"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        seen = Visit(context)
        opened.append((context, seen))
        seen.page.goto(url)
        if ready:
            seen.page.wait_for_selector(ready, timeout=60_000)
        return seen

    yield go
    for context, seen in opened:
        strangers = [
            url for url in seen.requests if not url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:"))
        ]
        context.close()
        if sys.exc_info()[0] is None:
            assert seen.complaints == []
            assert strangers == []


def labels(n, seed):
    rng = np.random.default_rng(seed)
    y = np.zeros(n, int)
    for start in rng.choice(n // 200, 6, replace=False) * 200 + 50:
        y[start : start + rng.integers(1, 80)] = 1
    return y


@pytest.fixture(scope="session")
def runs():
    """Two series, three detectors: a name that must be text, single precision, and scores with few values."""
    rng = np.random.default_rng(0)
    found = []
    for name, seed in (("one", 1), ("two & <b>", 2)):
        y = labels(6000, seed)
        found.append((name, NASTY, y, rng.normal(size=6000) + 2 * y))
        found.append((name, "single", y, (rng.normal(size=6000) + y).astype(np.float32)))
        found.append((name, "coarse", y, rng.integers(0, 5, 6000) + 2.0 * y))
    return found
