"""Metrics are named in results by their text, their function or their record."""

from functools import partial

import numpy as np
import pytest

import tsadeval as te
from tsadeval.core.metric import METRICS
from tsadeval.core.selection import find_metric, metric_text
from tsadeval.rankeval.suites.audit_series import AuditSeries


def gap(y_true, y_score):
    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()


def share(y_true, y_pred):
    return float((y_true == y_pred).mean())


def test_texts_of_metrics():
    assert metric_text(gap) == "gap"
    assert metric_text(te.metrics.f1) == metric_text(METRICS["f1"]) == metric_text("f1") == "f1"
    assert metric_text(partial(te.metrics.cce, tau=0.4)) == "cce(tau=0.4)"
    assert metric_text(METRICS["cce"].with_options(tau=0.4)) == "cce(tau=0.4)"
    with pytest.raises(te.errors.InvalidParameterError, match=r"its text, its function or its record, but not by 3"):
        metric_text(3)


def test_the_one_that_is_meant():
    names = ["mine:gap", "vus_pr", "cce(tau=0.4)", "f1 at best", "f1 at quantile(0.95)"]
    assert find_metric(gap, names) == find_metric("gap", names) == find_metric("other:gap", names) == "mine:gap"
    assert find_metric("VUS-PR", names) == find_metric(te.metrics.vus_pr, names) == "vus_pr"
    assert find_metric("cce", names) == find_metric("cce( tau = 0.4 )", names) == "cce(tau=0.4)"
    assert find_metric("f1 at best", names) == "f1 at best"
    with pytest.raises(te.errors.UnknownNameError, match=r"no metric 'f1' in this result: name one of f1 at best, f1 "):
        find_metric("f1", names)
    with pytest.raises(te.errors.UnknownNameError, match=r"no metric 'cce\(tau=0.5\)' in this audit: did you mean cce"):
        find_metric("cce(tau=0.5)", names, "this audit")


@pytest.mark.slow
def test_functions_and_records_name_metrics_everywhere():
    """Whatever was passed to the run names the metric in its results, in tables and in figures."""
    hard = te.rankeval.run("hard", [gap, share, "ears"], tasks=["delay", "glitch"], repeats=1)
    assert repr(hard.explain(gap)) == repr(hard.explain("gap"))
    assert str(hard.explain(share).entry) == "share at best"
    assert str(hard.explain(share, rule="quantile(0.95)").entry) == "share at quantile(0.95)"
    table = hard.table()
    assert table[gap] == table["gap"]
    assert table[METRICS["ears"]] == table[te.metrics.ears] == table["ears"]
    assert gap in table
    assert np.mean not in table
    with pytest.raises(te.errors.UnknownNameError, match="name one of share at"):
        table[share]
    for draw in (te.plot.hard_tasks, te.plot.hard_sensitivity):
        drawn = draw(hard, metrics=[gap, te.metrics.ears])
        assert [text.get_text().split(" (")[0] for text in drawn.get_legend().get_texts()] == ["gap", "ears"]

    some = {"cases": ["10k-20seg-50H"], "tasks": ["PreQ-NegP-P"]}
    quick = te.rankeval.run("quick", [gap, te.metrics.cce], **some)
    assert quick.table()[gap] == quick.table()["gap"]
    assert repr(quick.latency(gap)) == repr(quick.latency("gap"))
    assert list(quick.sensitivity(te.metrics.cce, tau=[0.5])) == ["cce(tau=0.5)"]
    assert te.plot.value_by_false_alarms(quick, metric=gap).get_ylabel() == "gap"
    assert te.plot.latency_by(quick, metric=gap).get_title(loc="left").startswith("gap")

    rng = np.random.default_rng(0)
    label = np.arange(400) // 20 == 9
    series = [AuditSeries("one", label, {"a": rng.random(400) + label, "b": rng.random(400)}, rng.random(400))]
    audit = te.rankeval.audit(series, [gap, "auc_roc", "accuracy"])
    assert audit.example(gap) == audit.example("gap")
    assert audit.values_of(te.metrics.auc_roc) == audit.values_of("auc_roc")
    assert audit.agreement([gap, "AUC-ROC"]).between(gap, "auc_roc") == audit.agreement().between("gap", "auc_roc")
    assert "gap" in te.plot.fooled(audit, gap, series).get_title(loc="left")

    checked = te.rankeval.check_properties([gap], ["perfect"], longest=4, cases=0)
    assert checked.status(gap, "perfect") == checked.status("gap", "perfect")
    with pytest.raises(te.errors.UnknownNameError, match="no property 'perfekt' in this table: did you mean perfect"):
        checked.status(gap, "perfekt")
    assert te.evaluate([0, 1, 0], [0.1, 0.9, 0.2], [gap])[gap] == pytest.approx(0.75)
