"""What all pages keep: no serious finding of axe-core, print that is light and whole, links that lead somewhere."""

from pathlib import Path

import numpy as np
import pytest

import boards
import tsadeval as te
from tsadeval.leaderboard.site import build_site

SITE = Path(__file__).resolve().parents[2] / "build" / "site-docs"
LONG = "/data/benchmarks/" + "a-folder-without-a-space" * 4 + "/machine-1.csv"


@pytest.fixture(scope="module")
def pages(runs, tmp_path_factory):
    """A report of several detectors, one of one detector, and a board."""
    folder, store = tmp_path_factory.mktemp("pages"), tmp_path_factory.mktemp("store")
    several = [(LONG if name == "one" else name, *rest) for name, *rest in runs]
    metrics = ["cce", "vus_pr", "f1"]
    te.report(several, folder / "report.html", metrics=metrics)
    te.report([run for run in runs if run[1] == "single"], folder / "one.html", metrics=metrics)
    te.report(
        {"a": np.arange(400.0), "b": np.arange(400.0)[::-1]}, folder / "quiet.html", np.zeros(400), "false_alarms"
    )
    te.rankeval.run("quick", ["f1", "auc_roc"], cases=["10k-2seg-50L"], tasks=["AccQ"], store=store)
    build_site(boards.make(tmp_path_factory.mktemp("board"), ["auc_roc", "vus_pr"]), folder / "board", rankeval=[store])
    return folder


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize(
    "page",
    [
        "report",
        "one",
        "board/index",
        "board/about",
        "board/rankeval",
        "board/metrics/vus_pr",
        "board/detectors/d0",
        "board/series/a/0",
    ],
)
def test_axe_has_no_serious_finding(visit, pages, page, width, scheme):
    serious(visit((pages / f"{page}.html").as_uri(), width, scheme))


@pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built: make docs")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["index", "choosing", "metrics/affiliation_f1", "gallery/index", "reference/evaluate"])
def test_axe_has_no_serious_finding_on_the_site(visit, page, scheme):
    serious(visit((SITE / f"{page}.html").as_uri(), 1280, scheme, ready="article h1"))


def serious(seen):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe
    found = axe().run(seen.page, options={"preload": False}).response["violations"]
    assert [
        (one["id"], [node["html"][:120] for node in one["nodes"]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ] == []


@pytest.mark.parametrize("page", ["report", "board/index"])
def test_print_is_light_and_keeps_the_heads_and_the_chosen_metric(visit, pages, page):
    seen = visit((pages / f"{page}.html").as_uri(), 1280, "dark")
    seen.page.emulate_media(media="print", color_scheme="dark")
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert seen.page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    heads = seen.page.locator("th button")
    assert heads.count() > 5
    assert all(one.is_visible() for one in heads.all() if one.inner_text())
    assert seen.page.locator("#board-metric, #metric").first.is_visible()
    assert not seen.page.locator("nav").first.is_visible()
    # A head is drawn again on later pages only if it is not to be parted, and no box in it is a button's own.
    style = "[...new Set([...document.querySelectorAll('%s')].map((one) => getComputedStyle(one).%s))]"
    assert seen.page.evaluate(style % ("thead", "breakInside")) == ["avoid"]
    assert seen.page.evaluate(style % ("th button", "display")) == ["contents"]


def test_a_report_of_many_detectors_fits_on_paper(visit, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(2000) // 50 % 10 == 4
    scores = {f"detector {name}": rng.normal(size=2000) + y for name in "abcdef"}
    te.report(scores, tmp_path / "page.html", y_true=y, metrics=["cce", "vus_pr", "f1", "false_alarms"])
    seen = visit((tmp_path / "page.html").as_uri(), 680)  # the width of A4 without its margins
    seen.page.emulate_media(media="print")
    wide = "[...document.querySelectorAll('table')].filter((one) => one.offsetWidth > 650).map((one) => one.innerText)"
    assert seen.page.evaluate(wide) == []
    assert " ± 0." in seen.text("#metrics-table")


def test_figures_are_light_in_print(visit, pages):
    seen = visit((pages / "report.html").as_uri(), 1280, "dark")
    corner = """(() => {
        const g = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        g.drawImage(document.getElementById("%s"), 2, 60, 1, 1, 0, 0, 1, 1);
        return [...g.getImageData(0, 0, 1, 1).data].slice(0, 3);
    })()"""
    dark = {name: seen.page.evaluate(corner % name) for name in ("chart", "sweep", "breakdown")}
    assert max(dark["chart"]) < 100
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert min(seen.page.evaluate(corner % "chart")) > 200
    assert seen.page.evaluate("document.documentElement.dataset.theme") == "light"
    seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
    seen.page.wait_for_timeout(200)
    assert {name: seen.page.evaluate(corner % name) for name in dark} == dark


@pytest.mark.parametrize("page", ["report", "one", "quiet"])
def test_no_link_leads_to_a_section_that_is_not_shown(visit, pages, page):
    seen = visit((pages / f"{page}.html").as_uri())
    shown = [one for one in seen.page.locator("nav a").all() if one.is_visible()]
    assert len(shown) >= 4
    for link in shown:
        assert seen.page.locator(link.get_attribute("href")).is_visible(), link.inner_text()
    assert (page == "quiet") == (not seen.page.locator("nav a[href='#events']").is_visible())


def test_the_report_opens_with_an_answer_a_chart_and_then_statistics(visit, pages, runs):
    seen = visit((pages / "report.html").as_uri())
    places = [seen.page.locator(name).bounding_box()["y"] for name in ("#answer", "#spread svg", "#board-table")]
    assert places == sorted(places)
    assert places[0] < 300
    best = max(seen.page.evaluate("page.comparison.boards.vus_pr.mean"))
    assert f"by VUS-PR (mean {best:.4f} on 2 series)" in seen.text("#answer")
    assert "too few series" in seen.text("#answer")
    seen.page.select_option("#board-metric", "f1")
    assert "by F1 (mean" in seen.text("#answer")
    assert seen.page.locator("#spread circle").count() == 6
    assert seen.page.get_attribute("#spread svg", "aria-label").startswith("F1 by detector: ")
    alone = visit((pages / "one.html").as_uri()).text("#answer")
    assert alone.startswith("single has a VUS-PR of 0.")
    assert "in random order" in alone


def test_nothing_is_tested_on_one_series_and_no_diagram_drawn(visit, runs, tmp_path):
    te.report(runs[:3], tmp_path / "page.html", metrics=["cce", "vus_pr"])
    seen = visit((tmp_path / "page.html").as_uri())
    assert seen.page.locator("#board-diagram svg").count() == 0
    assert seen.page.locator("#spread svg").count() == 1


@pytest.mark.parametrize("page", ["report", "board/index"])
def test_long_paths_break_on_a_phone(visit, pages, page):
    seen = visit((pages / f"{page}.html").as_uri(), 390)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_letters_of_ties_are_explained_under_the_table(visit, pages):
    seen = visit((pages / "board" / "index.html").as_uri())
    assert set(seen.column("#table", 7)) == {"a"}
    assert "share a letter are not significantly different" in seen.text("#letters-note")
