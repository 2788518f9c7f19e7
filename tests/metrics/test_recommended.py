"""What is recommended exists, is a small set, and does not contain what the results speak against."""

import inspect

import pytest

import tsadeval as te
from commands import run
from tsadeval.core.metric import METRICS
from tsadeval.core.selection import metric_sets, select_metrics
from tsadeval.metrics._recommended import PURPOSES


@pytest.mark.parametrize("purpose", PURPOSES)
def test_every_purpose_names_metrics_that_run(purpose):
    found = te.metrics.recommend(purpose)
    values = te.evaluate([0, 0, 1, 1, 0, 0, 0, 1, 0], [1, 2, 9, 7, 3, 0, 1, 6, 2], found.metrics)
    assert list(values) == found.metrics
    assert all(row["why"] for row in found.rows)
    assert found.metrics[0] in repr(found)


def test_unknown_purpose():
    with pytest.raises(te.errors.InvalidParameterError, match="'ranking', 'threshold', 'alarms', 'paper'"):
        te.metrics.recommend("fun")


def test_the_set_is_small_and_part_of_all():
    names = [metric.name for metric in select_metrics("recommended")]
    assert 5 <= len(names) <= 7
    assert {"ears", "vus_pr", "f1"} <= set(names)
    assert not {"f1_pa", "affiliation_f1", "accuracy"} & set(names)
    assert len(metric_sets()["all"]) == len(METRICS)


def test_the_set_is_the_default_everywhere():
    y_true, y_score = [0, 0, 1, 1, 0, 0], [0.1, 0.3, 0.9, 0.8, 0.2, 0.1]
    seven = list(te.evaluate(y_true, y_score))
    robust = "cce(normalize='robust')"
    assert seven == ["ears", "vus_pr", robust, "event_f1", "f1", "detection_delay", "false_alarms"]
    assert te.compare({"one": y_score}, y_true).metrics == seven
    assert list(te.evaluate_many([("a", y_true, y_score)])) == seven
    for function in (te.evaluate, te.evaluate_many, te.compare, te.detect):
        assert inspect.signature(function).parameters["metrics"].default == "recommended"


@pytest.mark.parametrize("command", [["score"], ["compare"], ["detect"], ["report"], ["rankeval", "run"]])
def test_help_names_the_sets(command):
    text = " ".join(run(*command, "--help").stdout.replace("│", " ").split())
    assert all(name in text for name in ("recommended", "paper", "all"))
