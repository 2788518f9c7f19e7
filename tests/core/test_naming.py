"""Metrics are named in results by their text, their function or their record."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

import tsadeval as te
from tsadeval.core.metric import METRICS
from tsadeval.core.selection import find_metric, metric_text


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
    assert find_metric("F1 at best", names) == "f1 at best"
    rules = ["event_f1(beta=2) at best", "event_f1(beta=2) at quantile(0.9)", "event_f1(beta=3) at best"]
    assert find_metric("event_f1(beta=3.0)", rules) == "event_f1(beta=3) at best"
    assert find_metric("event_f1(beta=2.0) at best", rules) == "event_f1(beta=2) at best"
    with pytest.raises(te.errors.UnknownNameError, match=r"name one of event_f1\(beta=2\) at best, event"):
        find_metric("event_f1(beta=2)", rules)
    assert find_metric("cce(tau=0.5)", ["cce", "cce(tau=0.4)"]) == "cce"  # what it is by default


def test_membership_asks_the_same_way():
    found = te.evaluate([0, 1, 0], [0.1, 0.9, 0.2], ["AUC-ROC", "cce(tau=0.4)"])
    assert "AUC-ROC" in found
    assert "cce" in found
    assert found.get("CCE") == found["cce(tau=.4)"]
    assert "f1" not in found
    assert 3 not in found
    assert list(found) == ["auc_roc", "cce(tau=0.4)"]


def _arrays():
    rng = np.random.default_rng(0)
    label = (np.arange(400) // 20 == 9).astype(int)
    return label, rng.random(400) + label, rng.random(400)


def _compared(metrics):
    label, good, poor = _arrays()
    return te.compare({"good": good, "poor": poor}, label, metrics)


def _detected(metrics):
    label, good, _ = _arrays()
    return te.detect(pd.DataFrame({"value": good, "label": label}), "random", metrics)


def _audited(metrics):
    label, good, poor = _arrays()
    return te.rankeval.audit(te.Scores({"good": good, "poor": poor}, label, values=good), metrics)


def _hard(metrics):
    return te.rankeval.run("hard", metrics, tasks=["delay", "glitch"], repeats=1)


def _quick(metrics):
    return te.rankeval.run("quick", metrics, cases=["10k-20seg-50H"], tasks=["PreQ-NegP-P"])


def _evaluated(metrics):
    return te.evaluate(*_arrays()[:2], metrics)


def _several(metrics):
    label, good, poor = _arrays()
    return te.evaluate_many([("a", label, good), ("b", label, poor)], metrics, threshold=0.5)


def _shown(found):
    return repr(found.tolist() if hasattr(found, "tolist") else found)


FAST = [
    pytest.param(_evaluated, lambda found, name: found[name], id="Evaluation"),
    pytest.param(_several, lambda found, name: found[name], id="SeriesEvaluation"),
    pytest.param(_several, lambda found, name: found.macro[name], id="macro"),
    pytest.param(_several, lambda found, name: found.micro[name], id="micro"),
    pytest.param(_several, lambda found, name: found.defined[name], id="defined"),
    pytest.param(
        lambda m: te.evaluate_stream([_arrays()[:2]], m, threshold=0.5), lambda found, name: found[name], id="stream"
    ),
    pytest.param(_compared, lambda found, name: found.values(name), id="Comparison"),
    pytest.param(_compared, lambda found, name: found.ranks(name), id="Ranks"),
    pytest.param(_compared, lambda found, name: found.significance(name), id="Significance"),
    pytest.param(_compared, lambda found, name: found.differences("good", "poor", name), id="Differences"),
    pytest.param(_compared, lambda found, name: found.by_category(name), id="Categories"),
    pytest.param(_compared, lambda found, name: found.to_latex(layout="series", metric=name), id="LaTeX"),
    pytest.param(_compared, lambda found, name: found.disagreement().overall[name], id="Disagreement"),
    pytest.param(_compared, lambda found, name: found.table().best(name), id="DetectorTable"),
    pytest.param(_compared, lambda found, name: found.table()["good"][name], id="row of a DetectorTable"),
    pytest.param(_compared, lambda found, name: found.average("micro")["good"][name], id="micro DetectorTable"),
    pytest.param(
        lambda m: te.rankeval.check_properties(m, ["perfect"], longest=4, cases=0),
        lambda found, name: found.status(name, "perfect"),
        id="PropertyTable",
    ),
]
SLOW = [
    pytest.param(_compared, lambda found, name: te.plot.values_by_series(found, metric=name).get_title(), id="figure"),
    pytest.param(_detected, lambda found, name: found.values(name), id="Detection"),
    pytest.param(_audited, lambda found, name: found.values_of(name), id="AuditAnalysis"),
    pytest.param(_audited, lambda found, name: found.table()[name], id="AuditTable"),
    pytest.param(_audited, lambda found, name: found.agreement().between(name, "auc_roc"), id="AgreementTable"),
    pytest.param(_audited, lambda found, name: found.explain(name), id="AuditExplanation"),
    pytest.param(_hard, lambda found, name: found.table()[name], id="HardTable"),
    pytest.param(_hard, lambda found, name: found.explain(name), id="Explanation"),
    pytest.param(_quick, lambda found, name: found.table()[name], id="SuiteTable"),
    pytest.param(_quick, lambda found, name: found.table().places[name], id="places"),
    pytest.param(_quick, lambda found, name: found.table().whole[name], id="whole"),
    pytest.param(_quick, lambda found, name: found.table().counts[name]["values"], id="counts"),
    pytest.param(_quick, lambda found, name: found.latency(name), id="latency"),
    pytest.param(_quick, lambda found, name: found.latency()[name], id="latencies"),
    pytest.param(_quick, lambda found, name: found.explain(name), id="RankingExplanation"),
]


made = cache(lambda make, *metrics: make(list(metrics)))


@pytest.mark.parametrize(
    ("make", "ask"), [*FAST, *(pytest.param(*p.values, id=p.id, marks=[pytest.mark.slow]) for p in SLOW)]
)
def test_results_answer_to_the_name_they_were_asked_by(make, ask):
    """Labels, other spellings and orders of options, bare names, functions and records: one lookup for all results."""
    found = made(make, "AUC-ROC", "cce(constrained=True,  tau=.4)")
    for name in ("AUC-ROC", "auc roc", te.metrics.auc_roc, METRICS["auc_roc"]):
        assert _shown(ask(found, name)) == _shown(ask(found, "auc_roc"))
    for name in ("cce", "CCE", "cce(tau = 4e-1, constrained=True)", partial(te.metrics.cce, constrained=True, tau=0.4)):
        assert _shown(ask(found, name)) == _shown(ask(found, "cce(tau=0.4, constrained=True)"))
    several = made(make, "AUC-ROC", "cce(tau=.4)", "cce(tau=.6)")
    with pytest.raises(
        te.errors.UnknownNameError, match=r"no metric 'CCE' in .*: name one of cce\(tau=0.[46]\), cce\("
    ):
        ask(several, "CCE")
    with pytest.raises(te.errors.UnknownNameError, match=r"no metric 'auc_rock' in .*: did you mean auc_roc"):
        ask(several, "auc_rock")


def test_values_of_an_evaluator_answer_too():
    found = te.StreamingEvaluator(0.5).update([0, 1, 0], [0.1, 0.9, 0.2]).compute()
    assert found["CCE"] == found[te.metrics.cce] == found["cce"]
    assert found["F1"] == found["f1"] == 1.0
    with pytest.raises(te.errors.UnknownNameError, match="no metric 'vus_pr' in this result"):
        found["vus_pr"]


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
    scores = {"a": rng.random(400) + label, "b": rng.random(400)}
    series = te.Scores(scores, label, values=rng.random(400))
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
