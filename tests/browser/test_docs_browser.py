"""The site of the documentation in a real browser, where `make docs` has built it."""

from pathlib import Path

import pytest

SITE = Path(__file__).resolve().parents[2] / "build" / "site-docs"
PAGES = [
    "index",
    "choosing",
    "metrics/index",
    "metrics/affiliation_f1",
    "tutorials/paper",
    "gallery/index",
    "reference/evaluate",
    "reference/results",
]

pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built: make docs")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off_and_nothing_is_asked_of_the_network(visit, page, width, scheme):
    seen = visit((SITE / f"{page}.html").as_uri(), width, scheme, ready="article h1")
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.page.evaluate("[...document.images].filter(i => i.offsetWidth && !i.naturalWidth).length") == 0


def test_formulas_and_pictures_of_a_metric_are_drawn(visit):
    seen = visit((SITE / "metrics" / "affiliation_f1.html").as_uri(), ready="article h1")
    assert seen.page.locator(".math math").count() == 3
    assert seen.page.locator(".math math").first.bounding_box()["height"] > 15
    assert seen.page.locator(".case").count() == 10
    assert "2/3" in seen.text("article")


def test_the_first_card_of_the_front_page_is_which_metric(visit):
    seen = visit((SITE / "index.html").as_uri(), ready="article h1")
    first = seen.page.locator("article .sd-card a[href]").first
    assert first.get_attribute("href") == "choosing.html"


def test_a_tutorial_shows_what_its_cells_gave_and_leads_to_its_notebook(visit):
    seen = visit((SITE / "tutorials" / "paper.html").as_uri(), ready="article h1")
    assert seen.page.locator(".cell-output table").count() >= 5
    assert (SITE / "tutorials" / seen.page.locator("a[download]").first.get_attribute("href")).exists()


def test_methods_of_results_are_in_the_reference(visit):
    seen = visit((SITE / "reference" / "results.html").as_uri(), ready="article h1")
    names = {one.get_attribute("id") for one in seen.page.locator("dt[id]").all()}
    wanted = ["ranks", "significance", "average", "to_latex", "disagreement"]
    assert {f"tsadeval.comparison.Comparison.{name}" for name in wanted} <= names
    assert "tsadeval.core.results.Result.to_frame" in names


@pytest.mark.parametrize("page", ["metrics/affiliation_f1", "metrics/cce"])
def test_no_formula_is_clipped_on_a_phone(visit, page):
    seen = visit((SITE / f"{page}.html").as_uri(), 390, ready="article h1")
    clipped = """[...document.querySelectorAll("article math")].filter((one) => {
        let within = one.getBoundingClientRect().right <= 390;
        for (let e = one; e && !within; e = e.parentElement)
            within = ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
        return !within;
    }).length"""
    assert seen.page.locator("article math").count() > 0
    assert seen.page.evaluate(clipped) == 0


@pytest.mark.parametrize("page", ["index", "compare", "properties", "metrics/vus_pr"])
def test_print_is_light_without_navigation_and_nothing_is_cut_off(visit, page):
    seen = visit((SITE / f"{page}.html").as_uri(), 794, "dark", ready="article h1")  # A4
    seen.page.emulate_media(media="print", color_scheme="dark")
    assert seen.page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert not seen.page.locator(".skip-to-content").is_visible()
    assert not seen.page.locator(".sidebar-drawer").is_visible()
    parts = "[...document.querySelectorAll('article pre, article table')]"
    wide = f"{parts}.filter((i) => i.scrollWidth > i.clientWidth + 1).map((i) => i.innerText.slice(0, 80))"
    assert seen.page.evaluate(wide) == []
    assert seen.page.evaluate("[...document.images].filter((i) => getComputedStyle(i).filter !== 'none').length") == 0
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 794
