"""TaPR and eTaPR against numbers from the authors' package and faster-etapr (see golden/make_tapr.py)."""

import json
from pathlib import Path

import pytest

import tsadeval as te

CASES = json.loads((Path(__file__).parents[1] / "golden" / "tapr.json").read_text())


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{c['package']}-{i}") for i, c in enumerate(CASES)])
def test_equals_the_package(case):
    y, p = ([int(c) for c in case[key]] for key in "yp")
    found = getattr(te.metrics, case["function"])(y, p, **case["options"])
    assert found.precision == pytest.approx(case["precision"], abs=1e-12)
    assert found.recall == pytest.approx(case["recall"], abs=1e-12)


def test_the_example_of_the_authors_readme():
    y, first, second = ([0] * 97 for _ in range(3))
    for a, b in [(1, 4), (59, 60), (62, 64), (67, 96)]:
        y[a : b + 1] = [1] * (b + 1 - a)
    for labels, end in ((first, 57), (second, 17)):
        for a, b in [(2, end), (59, 60), (62, 64), (66, 69)]:
            labels[a : b + 1] = [1] * (b + 1 - a)
    options = {"theta_p": 0.5, "theta_r": 0.01}
    assert te.metrics.etapr(y, first, **options)[:2] == pytest.approx((0.3876823062996395, 0.6375), abs=1e-12)
    assert te.metrics.etapr(y, second, **options)[:2] == pytest.approx((0.535329416677799, 0.6375), abs=1e-12)
