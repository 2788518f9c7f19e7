"""The report in a real browser: its numbers are the library's, and it can be used with mouse, finger and keys."""

import warnings

import numpy as np
import pytest

import tsadeval as te
from browser.conftest import NASTY

NONE = "\N{EN DASH}"
METRICS = ["cce", "auc_roc", "vus_pr", "f1", "f1_pa", "detection_delay"]


@pytest.fixture(scope="module")
def url(runs, tmp_path_factory):
    values = {name: np.sin(np.arange(6000) / 30) for name in ("one", "two & <b>")}
    path = tmp_path_factory.mktemp("report") / "page.html"
    te.report(runs, path, values=values, metrics=METRICS, title="A & B", command="tsadeval report <file>")
    return path.as_uri()


def scoring(runs, series, detector):
    return next((y, s) for name, d, y, s in runs if (name, d) == (series, detector))


def slide(seen, level):
    script = "k => { const s = document.getElementById('slider'); s.value = k; s.dispatchEvent(new Event('input')); }"
    seen.page.evaluate(script, level)


def exact(seen):
    """The threshold with all digits, which the page has in a tooltip; it shows six."""
    threshold = float(seen.page.get_attribute("#threshold-value", "title"))
    assert float(seen.text("#threshold-value")) == pytest.approx(threshold, rel=1e-5)
    assert len(seen.text("#threshold-value").replace("-", "").replace(".", "").lstrip("0")) <= 6
    return threshold


def shown(value):
    return NONE if np.isnan(value) else f"{value:.4f}"


@pytest.mark.parametrize("detector", [NASTY, "single", "coarse"])
def test_the_slider_has_the_numbers_of_the_library(visit, url, runs, detector):
    seen = visit(url)
    seen.page.select_option("#detector", detector)
    seen.wait("d => report.chart.rows.some(r => r.focus && r.name === d)", detector)
    y, s = scoring(runs, "one", detector)
    top = int(seen.page.get_attribute("#slider", "max"))
    for level in sorted({0, 1, top // 7, top // 3, top // 2, top - 60, top - 5, top - 1, top} & set(range(top + 1))):
        slide(seen, level)
        threshold = exact(seen)
        alarms = s > (np.float32(threshold) if s.dtype == np.float32 else threshold)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = {
                "precision": shown(te.metrics.precision(y, alarms)),
                "recall": shown(te.metrics.recall(y, alarms)),
                "f1": shown(te.metrics.f1(y, alarms)),
                "f1_pa": shown(te.metrics.f1_pa(y, alarms)),
                "event_recall": shown(te.metrics.event(y, alarms).recall),
                "false_alarms": shown(te.metrics.false_alarms(y, alarms)),
                "alarms": f"{alarms.sum():,}",
            }
        assert {key: seen.text(f"#live-{key}") for key in expected} == expected


def test_the_slider_starts_at_the_best_f1_and_comes_back(visit, url, runs):
    seen = visit(url)
    y, s = scoring(runs, "one", NASTY)
    best = te.best_threshold("f1", y, s)
    assert exact(seen) == best.threshold
    assert seen.text("#live-f1") == f"{best.value:.4f}"
    assert not seen.page.is_visible("#start")
    seen.page.focus("#slider")
    seen.page.keyboard.press("ArrowRight")
    assert exact(seen) > best.threshold
    seen.page.click("#start")
    assert exact(seen) == best.threshold


def test_all_metrics_are_there_with_their_digits(visit, url, runs):
    seen = visit(url)
    y, s = scoring(runs, "one", NASTY)
    expected = te.evaluate(y, s, METRICS)
    assert seen.column("#metrics-table", 2) == [f"{expected[name]:.4f}" for name in METRICS]
    seen.page.fill("#metrics-filter", "vus")
    assert len(seen.column("#metrics-table", 1)) == 1
    assert seen.text("#metrics-count").startswith("1 metric;")


def test_names_are_text(visit, url):
    seen = visit(url)
    assert seen.page.title() == "A & B"
    assert NASTY in seen.text("#board-table")
    assert NASTY in seen.text("#metrics-table")
    assert seen.page.eval_on_selector_all("#detector option", "all => all.map(o => o.textContent)")[0] == NASTY
    assert seen.page.eval_on_selector_all("#series option", "all => all.map(o => o.textContent)") == [
        "one",
        "two & <b>",
    ]
    assert "tsadeval report <file>" in seen.text("#about")


def test_events_sort_and_jump(visit, url, runs):
    seen = visit(url)
    y, _ = scoring(runs, "one", NASTY)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], y, [0]])))
    lengths = [f"{b - a:,}" for a, b in zip(edges[::2], edges[1::2], strict=True)]
    assert seen.column("#events-table", 3) == lengths
    seen.page.click("#events-table th:nth-child(3) button")
    assert seen.page.get_attribute("#events-table th:nth-child(3)", "aria-sort") == "descending"
    assert [int(t) for t in seen.column("#events-table", 3)] == sorted(map(int, lengths), reverse=True)
    seen.page.click("#events-table th:nth-child(3) button")
    assert [int(t) for t in seen.column("#events-table", 3)] == sorted(map(int, lengths))
    start = int(seen.column("#events-table", 2)[0].replace(",", ""))
    seen.page.click("#events-table tbody tr:first-child")
    low, high = seen.page.evaluate("[report.chart.from, report.chart.to]")
    assert low <= start < high
    assert high - low < 1000
    last = int(seen.column("#events-table", 2)[-1].replace(",", ""))
    seen.page.focus("#events-table tbody tr:last-child")
    seen.page.keyboard.press("Enter")
    low, high = seen.page.evaluate("[report.chart.from, report.chart.to]")
    assert low <= last < high


def test_events_follow_the_threshold(visit, url):
    seen = visit(url)
    slide(seen, 10**9)
    assert set(seen.column("#events-table", 7)) == {"missed"}
    slide(seen, 0)
    assert set(seen.column("#events-table", 7)) == {"0"}


def test_keys_and_wheel_move_the_chart(visit, url):
    seen = visit(url)

    def span():
        return seen.page.evaluate("[report.chart.from, report.chart.to]")

    assert span() == [0, 6000]
    seen.page.focus("#chart")
    seen.page.keyboard.press("+")
    assert span() == [1500, 4500]
    seen.page.keyboard.press("ArrowRight")
    assert span() == [2250, 5250]
    seen.page.keyboard.press("Home")
    assert span() == [0, 6000]
    seen.page.keyboard.press("n")
    assert span()[1] - span()[0] < 1000
    box = seen.page.query_selector("#chart").bounding_box()
    seen.page.keyboard.press("Home")
    seen.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 120)
    seen.page.mouse.wheel(0, -300)
    seen.wait("report.chart.to - report.chart.from < 6000")
    assert seen.text("#readout") != ""
    before = span()
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + box["width"] / 2 - 100, box["y"] + 120)
    seen.page.mouse.up()
    assert span()[0] > before[0]
    for _ in range(30):
        seen.page.keyboard.press("+")
    assert span()[1] - span()[0] == pytest.approx(8)


def test_the_chart_draws_every_line(visit, url):
    """Every row has other colours than its background, and the strip shows found points at the lowest threshold."""
    seen = visit(url)
    seen.page.wait_for_timeout(200)
    rows = seen.page.evaluate(
        """() => { const c = report.chart, g = c.context, scale = window.devicePixelRatio;
        const image = g.getImageData(0, 0, c.canvas.width, c.canvas.height).data;
        let top = 40; return c.rows.map((row) => {
          const seen = new Set(), wide = 4 * c.canvas.width;
          for (let i = wide * Math.round(top * scale); i < wide * Math.round((top + row.height) * scale); i += 4)
            seen.add((image[i] << 16) | (image[i + 1] << 8) | image[i + 2]);
          top += row.height + 8; return [row.name, seen.size]; }); }"""
    )
    assert [name for name, _ in rows] == ["series", NASTY, "single", "coarse"]
    assert all(colors > 3 for _, colors in rows)


def test_another_series_and_fewer_lines(visit, url, runs):
    seen = visit(url)
    seen.page.select_option("#series", "1")
    seen.page.wait_for_selector("body[data-ready='1']")
    y, s = scoring(runs, "two & <b>", NASTY)
    assert seen.text("#live-f1") == f"{te.best_threshold('f1', y, s).value:.4f}"
    seen.page.click("#lines-box summary")
    seen.page.click("#lines label:nth-child(3) input")
    seen.wait("report.chart.rows.length === 3")


def test_cards_jump_to_what_they_show(visit, url):
    seen = visit(url)
    seen.page.click("#worst .card:first-child")
    assert seen.page.evaluate("report.chart.to - report.chart.from") < 1000
    seen.page.click("#false .card:first-child")
    assert seen.page.evaluate("report.chart.to - report.chart.from") < 1000


def test_the_comparison_changes_with_its_metric(visit, url):
    seen = visit(url)
    seen.page.select_option("#board-metric", "f1_pa")
    first = seen.column("#board-table", 2)
    seen.page.select_option("#board-metric", "detection_delay")
    assert seen.column("#board-table", 2) != first
    assert seen.page.query_selector("#board-diagram svg") is not None
    assert "Wilcoxon" in seen.text("#board-note")
    assert "Too few series for Wilcoxon-Holm: 3 detectors cannot differ" in seen.text("#board-note")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_wide_and_narrow_light_and_dark(visit, url, width, scheme):
    seen = visit(url, width, scheme)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    red = int(seen.page.evaluate("getComputedStyle(document.body).backgroundColor").split("(")[1].split(",")[0])
    assert red > 200 if scheme == "light" else red < 60
    # No control or text is cut off at the right edge outside of boxes that scroll.
    outside = seen.page.evaluate(
        """width => [...document.querySelectorAll('main *')].filter(e => !e.closest('.wide') && !e.closest('svg')
             && e.getBoundingClientRect().right > width + 1 && e.getBoundingClientRect().width > 0)
             .map(e => e.tagName + '#' + e.id)""",
        width,
    )
    assert outside == []


def test_the_theme_can_be_chosen(visit, url):
    seen = visit(url)
    colors = []
    for _ in range(3):
        seen.page.click("#theme")
        colors.append(seen.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colors[0] != colors[1]
    assert seen.text("#theme") == "Theme: auto"


def test_many_points_are_drawn_from_their_extremes(visit, tmp_path, monkeypatch):
    from tsadeval.reports import page

    monkeypatch.setattr(page, "DETAIL", 30_000)
    y = np.zeros(50_000, int)
    y[100:103] = y[30_000:30_400] = 1
    s = np.random.default_rng(0).normal(size=50_000) + 3 * y
    seen = visit(te.report({"a": s}, tmp_path / "page.html", y_true=y, values=s, metrics=["f1", "cce"]).as_uri())
    assert "extremes of every 4 points" in seen.text(".notes")
    assert seen.text("#live-f1") == f"{te.best_threshold('f1', y, s).value:.4f}"
    seen.page.click("#events-table tbody tr:first-child")
    seen.page.wait_for_timeout(100)


def test_times_and_labels_of_one_class(visit, tmp_path):
    times = np.datetime64("2024-01-01") + np.arange(400) * np.timedelta64(1, "h")
    y = np.zeros(400, int)
    page = te.report(
        {"a": np.arange(400.0)}, tmp_path / "page.html", y_true=y, time=times, metrics=["f1", "false_alarms"]
    )
    seen = visit(page.as_uri())
    assert not seen.page.is_visible("#cce")
    assert seen.page.query_selector("#live-recall") is None
    assert not seen.page.is_visible("#events")
    assert seen.text("#live-per_week") == "0.0000"
    assert "NaN" not in seen.text("main")
    seen.page.hover("#chart", position={"x": 100, "y": 100})
    seen.wait("document.getElementById('readout').textContent.includes('2024-01-')")


def test_gaps_words_and_footnotes(visit, tmp_path):
    """A study as people have it: missing scores, a series without anomalies, a metric that labels do not win."""
    rng = np.random.default_rng(0)
    runs = []
    for i in range(8):
        y = np.zeros(600, int)
        y[[100, 300, 301]] = int(i != 1)
        for name, skill in (("good", 3), ("fair", 1), ("poor", 0)):
            s = rng.normal(size=600) + skill * np.convolve(y, np.ones(15), "same")
            s[:20] = s[302:310] = np.nan if name == "fair" else 0
            if (name, i) != ("poor", 2):
                runs.append((f"s{i}", name, y, s))
    metrics = ["vus_pr", "range_auc_roc", "f1", "recall", "false_alarms"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = te.compare(runs, metrics=metrics)
    seen = visit(found.report(tmp_path / "page.html").as_uri())
    average = found.average()
    names = seen.column("#board-table", 1)
    assert names == ["good", "fair", "poor (not above chance)"]
    assert seen.column("#board-table", 2) == [f"{average[name]['vus_pr']:.4f}" for name in ("good", "fair", "poor")]
    told = seen.page.evaluate("[...document.querySelectorAll('#board-table tbody tr')].map(r => r.cells[5].innerText)")
    assert told[0] == "best"
    assert told[1] in ("yes", "no")
    assert told[2] == "\N{EN DASH}"  # what is not above chance is not compared with the best
    assert "fair: 224 points" not in seen.text(".notes")  # of three remarks on, they are folded
    seen.page.click(".notes summary")
    assert "fair: 224 points without a score were left out" in seen.text(".notes")
    assert "poor has no scores on 1 of 8 series (s2)" in seen.text(".notes")
    # Perfect labels do not get the largest value of range-AUC.
    rows = dict(zip(seen.column("#metrics-table", 1), seen.column("#metrics-table", 7), strict=True))
    assert [name for name in rows if "†" in name] == ["Range-AUC-ROC †"]
    assert "By its definition this metric does not give the labels" in seen.text("#metrics-footnotes")
    rules = seen.page.evaluate(
        "[...document.querySelectorAll('#metrics-table tbody tr')].map(r => r.cells[r.cells.length - 1].innerText)"
    )
    assert rules == [row["rule"] or "" for row in found.rows[:5]]
    # A gap is no line and no alarm, at any threshold.
    seen.page.select_option("#detector", "fair")
    seen.wait("report.chart.rows.some(r => r.focus && r.name === 'fair')")
    slide(seen, 0)
    assert seen.text("#live-alarms") == "572"
    codes = seen.page.evaluate("[...report.chart.rows[1].levels[0].low]")
    assert [i for i, code in enumerate(codes) if code == 0] == [*range(20), *range(302, 310)]
    # A series without anomalies: one line instead of dashes.
    seen.page.select_option("#series", "1")
    seen.page.wait_for_selector("body[data-ready='1']")
    assert "This series has no anomalous point" in seen.text("#series-note")
    assert seen.column("#metrics-table", 1) == []
    assert "5 of 5 metrics have no value on this series" in seen.text("#metrics-footnotes")
    seen.page.select_option("#series", "2")
    seen.page.wait_for_selector("body[data-ready='2']")
    assert seen.text("#series-note") == "No scores here: poor."


def test_times_are_those_of_their_zone(visit, tmp_path):
    pd = pytest.importorskip("pandas")
    times = pd.date_range("2024-03-30 12:00", periods=400, freq="10min", tz="Europe/Berlin")  # summer time comes in
    y = np.zeros(400, int)
    y[200:204] = 1
    page = te.report({"a": np.arange(400.0)}, tmp_path / "page.html", y_true=y, time=times, metrics=["f1"])
    seen = visit(page.as_uri())
    assert seen.column("#events-table", 2) == [str(times[200])[:16]]  # no seconds: all stamps are whole minutes
    assert "Europe/Berlin" in seen.text("#range")
    ticks = seen.page.evaluate("report.chart.ticks(1000)")
    expected = ["03-30 12:00", "03-31 00:00", "03-31 12:00", "04-01 00:00", "04-01 12:00", "04-02 00:00"]
    assert [text[5:] for _, text in ticks] == expected
    numbers = te.report({"a": np.arange(400.0)}, tmp_path / "n.html", y_true=y, time=0.5 * np.arange(400), metrics="f1")
    seen = visit(numbers.as_uri())
    assert seen.column("#events-table", 2) == ["100"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_found_false_and_missed_differ_by_colour_and_shape(visit, url, scheme):
    seen = visit(url, scheme=scheme)
    style = "getComputedStyle(document.querySelector('.key i.KIND'))"
    marks = [seen.page.evaluate(f"{style}.background".replace("KIND", kind)) for kind in ("found", "false", "missed")]
    assert len(set(marks)) == 3
    assert "repeating-linear-gradient" in marks[2]
