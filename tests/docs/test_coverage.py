"""What results say of intervals is what docs/make_coverage.py measured."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tsadeval.core.metric import METRICS
from tsadeval.evaluation.baseline import CERTAIN_FROM, FEWEST

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def coverage():
    sys.path[:0] = [str(DOCS), str(DOCS / "site")]
    import facts
    import make_coverage

    make_coverage.NOT_MEASURED = facts.NOT_MEASURED
    return make_coverage


def test_every_metric_was_measured(coverage):
    rows = coverage.measured.read("coverage")
    assert {row["metric"] for row in rows} >= set(METRICS) - set(coverage.NOT_MEASURED)
    assert rows[0]["series"] >= 50


def test_notes_say_what_was_measured(coverage):
    found = {row["metric"]: coverage.certain_from(row) for row in coverage.measured.read("coverage")}
    assert {metric: least for metric, least in found.items() if least != FEWEST} == CERTAIN_FROM


def test_the_page_shows_the_numbers(coverage):
    assert coverage.PAGE.read_text(encoding="utf-8") == coverage.page()


def test_series_are_as_said(coverage):
    case = coverage.CASES["long"]
    data = coverage.series(np.random.default_rng(0), case, 50, 3.0)
    assert len(data.events) == 50
    assert 0.5 < data.events.lengths.mean() / case.length < 1.5
    noise = coverage.noise(np.random.default_rng(0), 100_000)
    assert noise.std() == pytest.approx(1.0, abs=0.05)
    assert np.corrcoef(noise[1:], noise[:-1])[0, 1] == pytest.approx(coverage.MEMORY, abs=0.02)
