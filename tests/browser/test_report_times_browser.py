"""The report in a real browser, with time stamps: gaps, times that are not judged, durations, and the axis."""

from itertools import pairwise

import numpy as np
import pytest

import tsadeval as te


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Minutes of a server in Berlin: two gaps, a day of maintenance with many alarms, four events."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    times = pd.date_range("2026-03-28 12:00", periods=9000, freq="min", tz="Europe/Berlin")
    times = times.delete([*range(2000, 3500), *range(5000, 5100)])
    y = np.zeros(len(times), int)
    for start in (700, 3000, 4500, 7000):
        y[start : start + 30] = 1
    s = rng.random(len(times)) + y
    s[700:714] = 0.1
    maintenance = np.arange(len(times))[2500:3940]
    s[maintenance] += 5 * (rng.random(1440) < 0.05)
    page = te.report(
        {"d": s}, tmp_path_factory.mktemp("server") / "page.html", y_true=y, time=times, values=10 * s,
        ignore=[(times[2500], times[3940])], threshold=1.1, metrics=["f1", "false_alarms(per='week')"],
    )  # fmt: skip
    return page.as_uri(), times, y, s


def test_points_are_where_their_time_is_and_gaps_are_marked(visit, server):
    url, times, _, _ = server
    seen = visit(url)
    place = "i => { const c = report.chart; return (c.axis.at(i) - c.from) / (c.to - c.from); }"
    whole = (times[-1] - times[0]).value + 60e9
    for i in (0, 1999, 2000, 7399):
        assert seen.page.evaluate(place, i) == pytest.approx((times[i] - times[0]).value / whole)
    assert seen.page.evaluate("report.chart.axis.gaps") == [2000, 3500]
    assert "2\ngaps without data" in seen.text("#tiles")
    assert seen.page.is_visible("#key-gap")
    width = seen.page.query_selector("#chart").bounding_box()["width"]
    middle = ((times[1999] + (times[2000] - times[1999]) / 2) - times[0]).value / whole
    seen.page.hover("#chart", position={"x": width * middle, "y": 100})
    expected = "No data for 1 d 1 h: between 2026-03-29 22:19 and 2026-03-30 23:20"
    seen.wait("text => document.getElementById('readout').textContent === text", expected)
    assert expected.endswith(str(times[2000])[:16])
    # The line stops at the gap.
    empty = seen.page.evaluate(
        """() => { const c = report.chart, columns = c.axis.columns(c.from, c.to, 1000);
        const level = c.level(c.rows[0], columns.per), under = (x) => level.entries(columns, x);
        return [...Array(1000).keys()].filter((x) => { const [a, b] = under(x); return a >= b; }); }"""
    )
    assert 1000 * (1500 / 9000) - 3 < len([x for x in empty if x < 500]) < 1000 * (1500 / 9000) + 3


@pytest.mark.parametrize("width", [1280, 390])
def test_marks_of_the_axis_do_not_overlap_and_are_evenly_spaced(visit, server, width):
    seen = visit(server[0], width)
    for factor in (1, 0.3, 0.1, 0.02, 0.001):
        seen.page.evaluate("f => { report.chart.whole(); report.chart.zoom(f); }", factor)
        places = seen.page.evaluate(
            """() => { const c = report.chart, g = c.context, width = c.width(), drawn = [], fill = g.fillText;
            g.fillText = (text, x, y) => drawn.push([text, x, x + g.measureText(text).width]);
            c.marks(g, 0, width, { soft: 'red', line: 'red' }); g.fillText = fill; return drawn; }"""
        )
        assert len(places) >= 2
        for (_, _, right), (_, left, _) in pairwise(places):
            assert left >= right
        assert places[-1][2] <= seen.page.evaluate("report.chart.width()") + 1
        ticks = [t for t, _ in seen.page.evaluate("report.chart.ticks(report.chart.width())")]
        assert np.ptp(np.diff(ticks)) <= 3.6e6  # evenly on the clock, where summer time comes in


def test_the_next_event_is_the_first_one_then_the_second(visit, server):
    seen = visit(server[0])
    for number in (1, 2, 3, 4, 4):
        seen.page.click("#go-next")
        assert seen.text("#range").startswith(f"Event {number} of 4: 2026-0")
    assert "(Europe/Berlin)" in seen.text("#range")
    seen.page.click("#go-previous")
    assert seen.text("#range").startswith("Event 3 of 4: ")
    seen.page.click("#go-whole")
    seen.page.click("#go-previous")
    assert seen.text("#range").startswith("Event 4 of 4: ")
    seen.page.evaluate("report.chart.jump(2600, 2610)")  # after the first event, before the second
    assert not seen.text("#range").startswith("Event")
    seen.page.click("#go-next")
    assert seen.text("#range").startswith("Event 2 of 4: ")
    seen.page.evaluate("report.chart.jump(2600, 2610)")
    seen.page.click("#go-previous")
    assert seen.text("#range").startswith("Event 1 of 4: ")


def test_times_durations_and_scales(visit, server):
    url, times, y, s = server
    seen = visit(url)
    assert seen.text("#threshold-value") == "1.1"
    assert not seen.page.is_visible("#series-box")  # there is one series
    ignore = [(times[2500], times[3940])]
    metrics = ["f1", "false_alarms(per='week')"]
    found = te.evaluate(y, s, metrics, times=times, threshold=1.1, ignore=ignore)
    assert seen.text("#live-f1") == f"{found['f1']:.4f}" == seen.column("#metrics-table", 2)[0]
    assert seen.text("#live-per_week") == f"{found[metrics[1]]:.4f}" == seen.column("#metrics-table", 2)[1]
    assert seen.column("#metrics-table", 1)[1].startswith("False alarms per week")
    assert seen.column("#events-table", 3) == ["30 min"] * 3
    assert seen.column("#events-table", 7)[0] == "14 min"
    assert "1 event in times that are not judged is left out." in seen.text("#events")
    assert "First alarm after 14 min" in seen.text("#worst")
    assert f"{str(times[700])[:16]}\N{EN DASH}{str(times[729])[:16]}" in seen.text("#worst")
    ends = seen.page.evaluate("report.chart.rows.map(r => r.ends)")
    assert [float(text) for text in ends[0]] == pytest.approx([10 * s.min(), 10 * s.max()], abs=0.06)
    judged = np.delete(s, np.arange(2500, 3940))
    assert [float(text) for text in ends[1]] == pytest.approx([judged.min(), judged.max()], abs=0.006)


def test_what_is_not_judged_is_shaded_and_has_no_alarms(visit, server):
    url, _, _, s = server
    seen = visit(url)
    assert seen.page.is_visible("#key-skipped")
    assert "1,440\npoints not judged" in seen.text("#tiles")
    rows = seen.page.evaluate("report.chart.rows[1].levels[0]")
    low, normal, event = (np.array(rows[key]) for key in ("low", "normal", "anomalous"))
    assert (low[2500:3940] > 0).all()  # the line is drawn
    assert not normal[2500:3940].any()
    assert not event[2500:3940].any()
    assert s[2500:3940].max() > 5
    box = seen.page.query_selector("#chart").bounding_box()
    x = seen.page.evaluate("(report.chart.axis.at(3200) - report.chart.from) / (report.chart.to - report.chart.from)")
    seen.page.hover("#chart", position={"x": x * box["width"], "y": 100})
    seen.wait("document.getElementById('readout').textContent.endsWith('not judged')")
