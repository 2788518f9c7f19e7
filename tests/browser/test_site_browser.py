"""The leaderboard in a real browser: from a file and from a sub-folder of a server."""

import functools
import http.server
import shutil
import threading

import pytest

import boards
import tsadeval as te
from tsadeval.leaderboard.site import build_site

METRICS = ["auc_roc", "f1", "vus_pr", "detection_delay"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder, store = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("store")
    te.rankeval.run("quick", ["f1", "auc_roc", "cce"], cases=["10k-2seg-50L"], tasks=["AccQ"], store=store)
    build_site(boards.make(tmp_path_factory.mktemp("board"), METRICS), folder, rankeval=[store])
    return folder


@pytest.fixture(scope="module")
def served(site, tmp_path_factory):
    """The site in a sub-folder of a server."""
    root = tmp_path_factory.mktemp("server")
    shutil.copytree(site, root / "some" / "where")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/some/where"
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["file", "server"])
def root(request, site, served):
    return site.as_uri() if request.param == "file" else served


def names(seen):
    return [text.split("\n")[0] for text in seen.column("#table", 2)]


def test_the_board_sorts_filters_and_changes(visit, root):
    seen = visit(f"{root}/index.html")
    assert seen.page.input_value("#metric") == "vus_pr"
    assert names(seen)[0].startswith(("good", "moving variance"))
    assert boards.NASTY in " ".join(names(seen))
    ranks = [float(t) for t in seen.column("#table", 4)]
    assert ranks == sorted(ranks)
    seen.page.click("#table th:nth-child(3) button")
    means = [float(t) for t in seen.column("#table", 3)]
    assert means == sorted(means, reverse=True)
    seen.page.fill("#filter", "goo")
    assert len(names(seen)) == 1
    assert "moving variance (one-liner)" in seen.text("#diagram")
    assert seen.text("#diagram-note").startswith("Mean ranks. Bars join detectors")
    seen.page.fill("#filter", "")
    seen.page.uncheck("#baselines")
    assert len(names(seen)) == 3
    seen.page.select_option("#metric", "detection_delay")
    seen.page.wait_for_selector("body[data-ready='detection_delay all series']")
    assert "Lower is better" in seen.text("#note")
    seen.page.select_option("#group", "a")
    seen.page.wait_for_selector("body[data-ready='detection_delay a']")
    assert "2 series" in seen.text("#note")
    assert seen.page.url.endswith("#metric=detection_delay&group=a")
    assert seen.page.query_selector("#diagram svg") is not None


def test_addresses_are_stable(visit, root):
    seen = visit(f"{root}/index.html#metric=auc_roc&group=a", ready="body[data-ready='auc_roc a']")
    assert seen.page.input_value("#metric") == "auc_roc"


def test_pages_of_detectors_series_and_metrics(visit, root):
    seen = visit(f"{root}/index.html")
    seen.page.click("#table a:has-text('good')")
    seen.page.wait_for_selector("body[data-ready='values']")
    assert seen.text("h1") == "good"
    assert len(seen.column("#table", 1)) == 4
    assert all(len(text) == 64 for text in seen.column("#files", 2))
    seen.page.click("#table a:has-text('b & <i>')")
    seen.page.wait_for_selector("h1:has-text('b & <i>')")
    seen.page.wait_for_selector("body[data-ready='values']")
    assert boards.NASTY in seen.text("#table")
    seen.page.click("#table th:nth-child(2) button")
    values = [float(t) for t in seen.column("#table", 2)]
    assert values == sorted(values, reverse=True)
    seen.page.click("nav a:has-text('Board')")
    seen.page.wait_for_selector("#metrics-table a")
    seen.page.click("#metrics-table a:has-text('VUS-PR')")
    seen.page.wait_for_selector("body[data-ready='all series']")
    assert "Volume under the precision-recall surface" in seen.text("pre")
    assert seen.column("#table", 1)[0] == "1"
    seen.page.click("nav a:has-text('How it is made')")
    seen.page.wait_for_selector("h1:has-text('How this board is made')")


def test_the_board_of_metrics_sorts(visit, root):
    seen = visit(f"{root}/index.html")
    seen.page.click("nav a:has-text('Board of metrics')")
    seen.page.wait_for_selector("body[data-ready='plain']")
    first = "section .sortable:first-of-type"
    before = seen.column(first, 1)
    seen.page.click(f"{first} th:nth-child(1) button")
    assert seen.column(first, 1) == sorted(before)
    seen.page.click(f"{first} th:nth-child(2) button")
    values = [float(text.rstrip("*+")) for text in seen.column(first, 2)]
    assert values == sorted(values, reverse=True)
    assert len(values) == 3
    seen.page.click(f"{first} a:has-text('auc_roc')")
    seen.page.wait_for_selector("h1:has-text('AUC-ROC')")


@pytest.mark.parametrize(
    "page", ["index.html", "detectors/d0.html", "series/a/0.html", "metrics/f1.html", "about.html", "rankeval.html"]
)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_wide_and_narrow_light_and_dark(visit, site, page, width, scheme):
    seen = visit(f"{site.as_uri()}/{page}", width, scheme)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    red = int(seen.page.evaluate("getComputedStyle(document.body).backgroundColor").split("(")[1].split(",")[0])
    assert red > 200 if scheme == "light" else red < 60
