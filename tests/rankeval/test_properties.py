"""Properties of metrics: known verdicts, smallest counterexamples, and claims of records that agree with the checks."""

import dataclasses

import pytest

import tsadeval as te
from tsadeval.core.metric import METRICS, parse_metric
from tsadeval.rankeval.properties import CHECKS, _exhaustive, _random, _Values, small, verdict

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def table():
    names = ["f1", "recall", "f1_pa", "nab_score", "ears", "false_alarms", "affiliation_f1", "cce"]
    return te.rankeval.check_properties(names, longest=5, cases=100)


@pytest.mark.parametrize(
    ("metric", "name", "status"),
    [
        ("f1", "perfect", "holds"),
        ("f1", "more events", "holds"),
        ("f1", "earlier", "fails"),
        ("f1", "any event", "fails"),
        ("f1", "mirror", "by definition"),
        ("recall", "fewer false alarms", "fails"),
        ("recall", "not everywhere", "fails"),
        ("f1_pa", "more of an event", "fails"),
        ("f1_pa", "more events", "holds"),
        ("nab_score", "earlier", "holds"),
        ("nab_score", "more of an event", "fails"),
        ("ears", "earlier", "holds"),
        ("ears", "any event", "holds"),
        ("ears", "mirror", "fails"),
        ("false_alarms", "fewer false alarms", "holds"),
        ("affiliation_f1", "fewer false alarms", "fails"),
        ("f1", "inside", "holds"),
        ("f1", "chance", "fails"),
        ("recall", "chance", "holds"),
        ("ears", "chance", "holds"),
        ("ears", "noise point", "holds"),
        ("false_alarms", "noise point", "fails"),
        ("f1", "redrawn", "holds"),
        ("cce", "increasing map", "fails"),
        ("cce", "scaled", "by definition"),
        ("ears", "increasing map", "by definition"),
        ("f1", "scaled", "undefined"),
    ],
)
def test_known_verdicts(table, metric, name, status):
    assert table.status(metric, name) == status


def test_counterexamples_are_the_smallest_and_true(table):
    found = {(row["metric"], row["property"]): row for row in table.rows}
    earlier = found["f1", "earlier"]["example"]
    assert earlier.before == ((0, 1, 1), (0, 0, 1))
    assert earlier.after == ((0, 1, 1), (0, 1, 0))
    for row in table.rows:
        assert (row["example"] is not None) == (row["status"] == "fails")
        if row["example"] is not None:
            values = _Values(parse_metric(row["options"]))
            for case, value in ((row["example"].before, row["example"].before_value), row["example"][2:]):
                assert parse_metric(row["options"]).sign * values(case) == value
    recall = found["recall", "fewer false alarms"]["example"]
    assert te.metrics.recall(*recall.before) == recall.before_value == recall.after_value


def test_claims_of_records_agree_with_the_checks():
    """Where a record claims a property, looking for a counterexample finds none."""
    cases = (*_exhaustive(4), *_random(60))
    claimed = [check for check in CHECKS.values() if check.claims]
    assert claimed
    for metric in METRICS.values():
        for check in claimed:
            if set(check.claims) & set(metric.properties) and (metric.kind == "scores" or not check.of_scores):
                looked_for = dataclasses.replace(check, claims=())
                assert verdict(small(metric), looked_for, _Values(small(metric)), cases)["status"] == "holds"


def test_labels_are_redrawn_within_the_series():
    redrawn = CHECKS["redrawn"].variants
    assert [p for _, p in redrawn((0, 1, 1, 1, 0), (0,) * 5)] == [
        (1, 1, 1, 1, 0),
        (0, 0, 1, 1, 0),
        (0, 1, 1, 0, 0),
        (0, 1, 1, 1, 1),
    ]
    assert [p for _, p in redrawn((1, 1, 1, 0, 0), (0,) * 5)] == [(0, 1, 1, 0, 0), (1, 1, 0, 0, 0), (1, 1, 1, 1, 0)]
    assert [p for _, p in redrawn((0, 1, 1, 1), (0,) * 4)] == [(0, 0, 1, 1), (0, 1, 1, 0)]  # not alarms everywhere


def test_every_check_has_cases_and_a_metric_that_fails_it():
    """A check that nothing can fail, or that never applies, would say nothing."""

    def nothing(y_true, y_pred):
        return 0.5

    def size(y_true, y_pred):
        return len(y_true) + float(
            sum((i + 1) * (2 * a + b) for i, (a, b) in enumerate(zip(y_true, y_pred, strict=True)))
        )

    def highest(y_true, y_score):
        return float(y_score.max())

    found = te.rankeval.check_properties([nothing, size, "precision", highest], longest=6, cases=50)
    for name, check in CHECKS.items():
        statuses = {found.status(metric, name) for metric in ("nothing", "size", "precision", "highest")}
        if check.relation == "better":
            assert found.status("nothing", name) == "fails"
        assert "fails" in statuses, name
        for metric in ["highest"] if check.of_scores else ["nothing", "highest"]:
            assert sum(r["cases"] for r in found.rows if r["property"] == name and r["metric"] == metric) > 0
        if check.of_scores:
            assert found.status("nothing", name) == "undefined"


def test_widths_fit_into_short_series():
    assert dict(small(METRICS["pate"]).bound) == {"early": 2, "delay": 2}
    assert dict(small(METRICS["f1_pa_delay"]).bound) == {"max_delay": 2}
    assert dict(small(METRICS["time_tolerant_f1"]).bound) == {"tolerance": 2}
    assert small(METRICS["f1"]).bound == ()
    assert dict(small(METRICS["vus_pr"].with_options(window=7)).bound) == {"window": 7}


def test_long_examples_are_printed_short():
    row = te.rankeval.check_properties("false_alarms", ["noise point"], longest=5, cases=0).rows[0]
    assert str(row["example"]) == (
        "labels 001010..0 (100 zeros): 000010..0 (100 zeros) gets 0, 101010..0 (100 zeros) gets 9.52"
    )


def test_prints_a_table(table):
    text = repr(table)
    assert "affiliation_f1" in text
    assert "always" in text
    assert set(table.to_frame()["status"]) <= {"by definition", "holds", "fails", "undefined"}


def picky(y_true, y_score):
    """Fails on series of two points, and where nothing scores high."""
    if len(y_true) < 3:
        raise ValueError("three points are needed")
    return float(y_true[y_score == 1].mean()) if y_score.any() else 0.0


def test_a_metric_that_raises_is_named_with_its_input_and_the_others_are_checked():
    def broken(y_true, y_pred):
        raise IndexError("no such point")

    found = te.rankeval.check_properties([broken, picky, "recall"], ["perfect", "earlier"], longest=4, cases=20)
    assert [found.status(broken, name) for name in ("perfect", "earlier")] == ["failed", "failed"]
    assert [found.status(picky, name) for name in ("perfect", "earlier")] == ["failed", "fails"]
    assert [found.status("recall", name) for name in ("perfect", "earlier")] == ["holds", "fails"]
    rows = {(row["metric"], row["property"]): row for row in found.rows}
    assert rows["broken", "perfect"]["cases"] == 0
    assert rows["picky", "perfect"]["cases"] > 100
    message = rows["picky", "perfect"]["message"]
    assert message.startswith("ValueError: three points are needed (test_properties.py, line ")
    assert message.endswith(", in picky), on labels 01 and scores 00")
    assert "IndexError: no such point" in repr(found)
    assert "on labels 01 and alarms 00" in repr(found)
    assert "picky failed: ValueError: three points are needed" in repr(found)
    assert rows["recall", "perfect"]["message"] is None
    assert len([line for line in repr(found).splitlines() if " failed: " in line]) == 2


def test_the_smallest_counterexamples_stand_under_the_table():
    table = te.rankeval.check_properties(["recall", "f1_pa"], ["earlier", "fewer false alarms"], longest=4, cases=0)
    assert repr(table).splitlines()[-3:] == [
        "recall, earlier: no, labels 011: 001 gets 0.5, 010 gets 0.5",
        "recall, fewer false alarms: no, labels 001: 101 gets 1, 001 gets 1",
        "f1_pa, earlier: no, labels 011: 001 gets 1, 010 gets 1",
    ]
    many = te.rankeval.check_properties(["recall", "f1", "f1_pa", "precision", "accuracy"], longest=4, cases=0)
    failing = sum(row["status"] == "fails" for row in many.rows)
    assert failing > 8
    assert f"{failing - 8} more counterexamples, each the smallest there is, are in `rows`" in repr(many)
