"""The page of a choice in a real browser: strips, the list of missed incidents, its links, on a phone and in print."""

import numpy as np
import pandas as pd
import pytest

import tsadeval as te

N = 365 * 24
TIMES = np.datetime64("2025-01-01T00", "m") + 60 * np.arange(N)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Three servers, hours of a year, two detectors, incidents with a kind; every disk incident is missed."""
    rng = np.random.default_rng(2)
    incidents, frames = [], []
    for server in ("web & <b>", "db", "quiet"):
        own = rng.normal(size=N)
        for k, start in enumerate(
            [] if server == "quiet" else rng.choice(np.arange(50, N - 50, 60), 20, replace=False)
        ):
            kind = "disk" if k % 4 == 0 else "network"
            incidents.append((server, TIMES[start], TIMES[start + 6], kind))
            own[start + 2 : start + 6] += 9 * (kind == "network")
        frames.append(pd.DataFrame({"server": server, "time": TIMES, "first": own, "second": rng.normal(size=N)}))
    table = pd.DataFrame(incidents, columns=["server", "start", "stop", "kind"])
    reading = {"by": "server", "time": "time", "incidents": table}
    given = te.Scores(pd.concat(frames), score=["first", "second"], **reading)
    choice = te.choose_threshold(given, max_false_alarms="1/week", cooldown="3h")
    return te.report(given, tmp_path_factory.mktemp("page") / "page.html", choice=choice)


def test_the_page_begins_with_the_answer_and_the_missed_incidents(visit, path):
    seen = visit(path.as_uri())
    page = seen.page
    assert page.inner_text("#decision").startswith("first at ")
    order = page.eval_on_selector_all("#decision, h2", "all => all.map((one) => one.id)")
    assert order[0] == "decision"
    found, missed = (page.locator(f"#strips .{kind}").count() for kind in ("found", "missed"))
    assert (found + missed, page.locator("#strips svg").count()) == (40, 4)
    assert page.inner_text("#answer-tiles .tile:first-child b") == f"{found} of 40"
    assert page.locator("#missed-table tbody tr").count() == missed
    assert "point" not in page.inner_text("#answer-tiles") + page.inner_text("#tiles")
    assert page.eval_on_selector("#detector", "x => x.value") == "first"
    assert page.eval_on_selector("#series", "x => x.selectedOptions[0].text") in ("web & <b>", "db")
    # By kind: missed, found, median delay and cost, of which each missed one is 1.
    kinds = page.locator("#by-boxes .wide").last.locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[:3] for row in kinds] == [["disk", "10", "0 of 10"], ["network", "0", "30 of 30"]]
    assert kinds[0].split("\t")[-1].strip() == "10"
    # All of one server, and back.
    page.uncheck("#missed-only")
    assert page.locator("#missed-table tbody tr").count() == 40
    page.select_option("#missed-series", label="db")
    assert page.locator("#missed-table tbody tr").count() == 20
    assert set(seen.column("#missed-table", 2)) == {"db"}
    # A link leads to another series, where the event is in the middle of the chart.
    start = seen.column("#missed-table", 1)[3]
    page.click("#missed-table tbody tr:nth-child(4)")
    page.wait_for_selector("body[data-ready='1']")
    seen.wait("report.chart.to - report.chart.from < 100 * 864e5")
    assert page.eval_on_selector("#series", "x => x.value") == "1"
    middle = page.evaluate("(report.chart.from + report.chart.to) / 2")
    assert abs(middle - np.datetime64(start.replace(" ", "T"), "ms").astype(float)) < 12 * 36e5


@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_wider_than_the_screen_and_print_has_the_strips(visit, path, width):
    page = visit(path.as_uri(), width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.emulate_media(media="print")
    assert page.locator("#strips .missed").first.is_visible()
    assert page.locator("#choice-table th button").first.is_visible()
    assert not page.locator("#missed-bar").is_visible()
