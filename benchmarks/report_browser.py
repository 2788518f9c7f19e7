"""How large a report is, how soon it opens, and how long a step of zoom takes, in a real browser.

    TSADEVAL_BROWSER=chromium python benchmarks/report_browser.py [points] [detectors]

Needs playwright (`pip install 'tsadeval[browser]'`) and chromium; `make test-browser` sets both up.
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

import tsadeval as te

STEPS = """async () => {
  const chart = window.report.chart;
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  chart.frames.length = 0;
  const begun = performance.now();
  for (let i = 0; i < 40; i++) { chart.zoom(0.8, 0.37 * chart.n); await frame(); }
  for (let i = 0; i < 40; i++) { chart.pan(0.1); await frame(); }
  const drawn = [...chart.frames].sort((a, b) => a - b);
  return [(performance.now() - begun) / 80, drawn[drawn.length >> 1], drawn[drawn.length - 1]];
}"""


def processor_time(browser: Browser) -> float:
    """Seconds of processor time of all processes of the browser, which a busy machine does not lengthen."""
    found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    return sum(process["cpuTime"] for process in found)


def main(n: int = 1_000_000, detectors: int = 5) -> None:
    rng = np.random.default_rng(0)
    y = np.zeros(n, int)
    for start in rng.integers(0, n - 500, 60):
        y[start : start + rng.integers(5, 500)] = 1
    values = np.sin(np.arange(n) / 300) + 0.1 * rng.normal(size=n) + y
    scores = {f"detector {i}": rng.normal(size=n) + (1 + 0.4 * i) * y for i in range(detectors)}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        begun = time.perf_counter()
        page = te.report(scores, Path(folder, "page.html"), y_true=y, values=values, metrics=["cce", "auc_roc", "f1"])
        print(f"{n:,} points x {detectors} detectors: {page.stat().st_size / 1e6:.1f} MB", end=", ")
        print(f"written in {time.perf_counter() - begun:.1f} s")
        browser = driver.chromium.launch(
            executable_path=shutil.which(os.environ.get("TSADEVAL_BROWSER", "chromium")), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        before, begun = processor_time(browser), time.perf_counter()
        tab.goto(page.as_uri(), wait_until="commit")
        tab.wait_for_selector("body[data-ready]", timeout=120_000)
        print(f"opens in {time.perf_counter() - begun:.2f} s", end=", ")
        print(f"of which the browser computes {processor_time(browser) - before:.2f} s on all cores together")
        step, median, slowest = tab.evaluate(STEPS)
        print(
            f"a step of zoom or pan: {step:.1f} ms with waiting; drawing: median {median:.1f} ms, slowest {slowest:.1f}"
        )
        browser.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
