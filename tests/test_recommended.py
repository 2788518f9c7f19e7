"""What is recommended exists, is a small set, and does not contain what the results speak against."""

import pytest

import tsadeval as te
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
