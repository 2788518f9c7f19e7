"""Rules of users in stored work: they are applied as they are, whatever they are called, and have keys of their own."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import tsadeval as te
from tsadeval.engine.compute import rule_key, rule_of_key
from tsadeval.experiments.detect import read as read_detection
from tsadeval.thresholds import RULES, ThresholdRule, parse_rule

N = 400
LABEL = np.arange(N) // 20 % 10 == 7


@dataclass(frozen=True)
class sigma(ThresholdRule):
    """Has the name of one of ours, but is not that one: a share of the largest score."""

    k: float

    def threshold_of(self, data):
        return self.k * data.high


@dataclass(frozen=True)
class bestiary(ThresholdRule):
    """Its name begins as that of the rule best does."""

    k: float

    def threshold_of(self, data):
        return self.k * data.high


rules = pytest.mark.parametrize("rule", [sigma(0.5), bestiary(0.5)], ids=str)


def expected(y, s, rule):
    """F1 at the threshold of the rule, by hand."""
    alarms = s > rule.k * s.max()
    return 2 * np.sum(alarms & y) / (alarms.sum() + y.sum())


def scores(seed=0):
    return np.abs(np.random.default_rng(seed).normal(size=N)) + 2 * LABEL


@pytest.mark.parametrize(
    "text", ["best", "best(f1_pa)", "quantile(0.95)", "fixed(0.5)", "hysteresis(sigma(4), sigma(2))"]
)
def test_a_rule_of_the_library_is_known_by_its_text(text):
    assert rule_key(parse_rule(text)) == str(parse_rule(text)) == text
    assert rule_of_key(text) == parse_rule(text)


def test_every_rule_of_the_registry_keeps_the_key_that_stores_have():
    made = [
        parse_rule(name)
        for name in RULES
        if name not in ("fixed", "quantile", "strict_quantile", "first_alarms")
        and name not in ("hysteresis", "sustained", "budget", "top", "contamination")
    ]
    made += map(parse_rule, ("first_alarms(0.75, 0.65)", "strict_quantile(0.9)", "top(5)", "contamination(0.1)"))
    assert [rule_key(rule) for rule in made] == list(map(str, made))


def test_a_rule_of_a_user_has_a_key_of_its_code():
    key = rule_key(sigma(0.5))
    assert key.startswith("sigma(0.5)@")
    assert key == rule_key(sigma(0.5)) != rule_key(sigma(0.6))
    assert rule_key(bestiary(0.5)).startswith("bestiary(0.5)@")
    inside = te.thresholds.sustained(sigma(0.5), 2)  # ours on top of a user's
    assert rule_key(inside).startswith(f"{inside}@")
    recorded = rule_of_key(key)
    assert str(recorded) == "sigma(0.5)"
    with pytest.raises(te.errors.InvalidParameterError, match=r"sigma\(0.5\) is known by its name only"):
        te.evaluate(LABEL, scores(), "f1", threshold=recorded)


@rules
@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_detect_applies_the_rule_it_was_given(rule, n_jobs, tmp_path):
    class Given:
        def fit(self, X):
            return self

        def score(self, X):
            return np.abs(X[:, 0])

    if n_jobs is not None:  # workers cannot import this file, but get the code of what is defined here

        @dataclass(frozen=True)
        class local(ThresholdRule):
            k: float

            def threshold_of(self, data):
                return self.k * data.high

        local.__name__ = type(rule).__name__
        rule = local(rule.k)
    train, test = scores(1), scores(2)
    data = te.datasets.load({"value": np.r_[train, test], "label": np.r_[0 * LABEL, LABEL].astype(int)}, split=N)
    some = {"store": tmp_path, "threshold": rule, "n_jobs": n_jobs}
    found = te.detect({"pump": data}, {"given": Given()}, ["f1", "auc_roc"], **some)
    by_metric = {row["metric"]: row for row in found.rows}
    assert by_metric["f1"]["value"] == pytest.approx(expected(LABEL, test, rule))
    assert by_metric["f1"]["rule"] == str(rule)
    told = []
    again = te.detect({"pump": data}, {"given": Given()}, ["f1", "auc_roc"], progress=lambda *n: told.append(n), **some)
    assert told == [(2, 2)]
    assert repr(again) == repr(found)
    stored = read_detection(tmp_path)
    assert [row["value"] for row in stored.rows] == [row["value"] for row in found.rows]
    assert str(rule) in str(stored.plan.threshold)
    ours = te.detect({"pump": data}, {"given": Given()}, "f1", store=tmp_path, threshold="sigma(0.5)")
    assert ours.rows[0]["value"] != by_metric["f1"]["value"]


@rules
def test_an_audit_applies_the_rule_it_was_given(rule, tmp_path):
    table = {"label": LABEL.astype(int), "a": scores(1), "b": scores(2)}
    for run in (te.rankeval.audit, lambda data, *rest, **options: te.rankeval.run("audit", *rest, data, **options)):
        result = run(table, "f1", by=None, threshold=rule, store=tmp_path)
        (values,) = result.values_of("f1").values()
        assert values["a"] == pytest.approx(expected(LABEL, table["a"], rule))
        assert f"predictions at {rule}\n" in repr(result)
        assert result.table().rows[0]["rule"] == str(rule)
    assert repr(te.rankeval.read(tmp_path)) == repr(result)
    ours = te.rankeval.audit(table, "f1", by=None, threshold="sigma(0.5)", store=tmp_path)
    assert next(iter(ours.values_of("f1").values()))["a"] != values["a"]


@rules
def test_score_files_applies_the_rule_it_was_given(rule, tmp_path):
    np.savez(tmp_path / "a.npz", label=LABEL.astype(int), score=scores(1))
    some = {"store": tmp_path / "store", "threshold": rule}
    (row,) = te.score_files(tmp_path / "a.npz", "f1", **some).rows
    assert row["value"] == pytest.approx(expected(LABEL, scores(1), rule))
    assert row["rule"] == rule_key(rule)
    told = []
    te.score_files(tmp_path / "a.npz", "f1", progress=lambda *n: told.append(n), **some)
    assert told == [(1, 1)]


@rules
def test_a_suite_applies_the_rule_it_was_given(rule):
    some = {"cases": ["10k-20seg-50H"], "tasks": ["AccQ"]}
    suite = replace(te.rankeval.SUITES["quick"], name="mine", rule=rule)
    mine = te.rankeval.run(suite, "f1", **some).to_frame()
    same = te.rankeval.run(replace(suite, rule="fixed(0.5)"), "f1", **some).to_frame()
    assert set(mine["rule"]) == {rule_key(rule)}
    high = mine["threshold"] / 0.5
    assert high.between(0.9, 1.6).all()
    assert np.corrcoef(mine["value"], same["value"])[0, 1] > 0.9  # the largest score is about 1
