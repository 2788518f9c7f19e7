"""The audit on real scores: adversaries, what is measured, and the whole of it on small tables."""

import hashlib
import math

import numpy as np
import pytest

import tsadeval as te
from tsadeval.comparison import standings, statistics
from tsadeval.core.events import Events
from tsadeval.core.facts import finite_mean
from tsadeval.rankeval.suites import audit_table
from tsadeval.rankeval.suites.audit import ADVERSARIES, Adversary, Target


def table(seed=0, n=600):
    """Two series; `good` finds everything, `poor` little, and half of the scores of `holes` are missing."""
    rng = np.random.default_rng(seed)
    label = np.tile(np.arange(n) // 60 == 5, 2)
    return {
        "series": np.repeat(["a", "b"], n),
        "timestamp": np.arange(2 * n),
        "value": rng.normal(size=2 * n) * (1 + 3 * label),
        "label": label.astype(int),
        "good": rng.normal(size=2 * n) + 6 * label,
        "poor": rng.normal(size=2 * n) + label,
        "holes": np.where(np.arange(2 * n) % 2 == 0, rng.normal(size=2 * n) + 2 * label, np.nan),
    }


@pytest.mark.parametrize("adversary", ADVERSARIES.values(), ids=lambda a: a.name)
def test_adversaries_score_every_point_the_same_way_each_time(adversary):
    y = np.arange(500) // 25 % 6 == 2
    target = Target(np.random.default_rng(0).normal(size=500) * (1 + 5 * y), Events.of(y))
    one, same = (adversary.checked(target, np.random.default_rng(3)) for _ in range(2))
    assert one.shape == (500,)
    assert np.isfinite(one).all()
    assert (one == same).all()
    if adversary.kind == "one-liner":
        assert te.metrics.auc_roc(y, one) > 0.6
    else:
        other = Target(None, Events.of(np.roll(y, 50)))
        assert (adversary.checked(other, np.random.default_rng(3)) == one).all()  # where events are makes no difference
    assert adversary.summary.endswith(".")


def test_a_comb_has_as_many_alarms_as_events_and_as_long_ones():
    y = np.zeros(1000, int)
    for start in (100, 130, 700):
        y[start : start + 10] = 1
    comb = ADVERSARIES["comb 2"].checked(Target(None, Events.of(y)), np.random.default_rng(0)) > 0.5
    alarms = Events.of(comb)
    assert len(alarms) == 6
    assert set(alarms.lengths) == {10}


def test_missing_values_are_no_anomalies():
    values = np.sin(np.arange(300) / 5)
    values[100] = np.nan
    scores = ADVERSARIES["squared difference"].checked(Target(values, Events.of(np.zeros(300, int))), None)
    assert np.isfinite(scores).all()


def test_gameability_by_hand():
    nan = math.nan
    detectors = np.array([[0.5, 1.0], [0.8, 0.6], [nan, nan], [-0.1, nan]])
    # Reached: 0.95 of 1; not: 0.7 < 0.72; no detector has a value; a cost: within 1 / 0.9 of it.
    other = standings.best_of(np.array([[0.95, 0.1], [0.7, nan], [1.0, nan], [-0.11, nan]]))
    assert standings.gameability(standings.best_of(detectors), other) == pytest.approx(2 / 3)
    assert standings.reaches(standings.best_of(detectors), other) == pytest.approx([1, 0, nan, 1], nan_ok=True)
    assert standings.beats_median(detectors, other) == pytest.approx(1 / 3)
    assert math.isnan(standings.gameability(np.empty(0), np.empty(0)))
    assert math.isnan(standings.beats_median(np.empty((3, 0)), np.ones(3)))


def test_nothing_is_reached_where_nobody_gets_more_than_0():
    best, other = np.array([0.0, 0.0, 1.0, 0.0]), np.array([0.0, 0.2, 0.5, -0.1])
    # Both get 0: there is nothing to reach; more than a detector's 0 is reached; half of 1 and less than 0 are not.
    assert standings.reaches(best, other) == pytest.approx([math.nan, 1, 0, 0], nan_ok=True)
    assert standings.gameability(best, other) == pytest.approx(1 / 3)
    # Where less is better 0 is perfect: another 0 reaches it.
    assert standings.gameability(-best[:2], -other[:2], lower=True) == pytest.approx(1 / 2)


def test_an_audit_leaves_out_series_on_which_all_get_0():
    label = np.arange(400) // 20 == 9
    scores = [("missed", "a", label, 1e3 * (np.arange(400) == 5)), ("found", "a", label, 1e3 * label)]
    found = te.rankeval.audit(scores, ["event_f1"], threshold=500.0)  # above all scores of adversaries
    (row,) = found.table().rows
    assert (row["gameability"], row["search"], row["series"], row["worst"]) == (0, 0, 1, "found")
    assert [one["series"] for one in found.explain("event_f1").rows] == ["found"]


def test_chance_by_hand():
    assert audit_table.chance(np.arange(101) / 100) == pytest.approx((0.5, 0.9))
    assert math.isnan(audit_table.chance(np.array([math.nan]))[0])


def test_ranks_winners_and_flips_by_hand():
    nan = math.nan
    one = np.array([[3, 2, 1], [1, 2, nan], [5, 5, nan]])
    ordered = np.where(np.arange(9).reshape(3, 3) == 5, -math.inf, one)  # undefined there, and absent below it
    ranks = statistics.stretched_ranks(ordered)
    assert [finite_mean(column) for column in ranks.T] == pytest.approx([5 / 3, 5 / 3, 3])
    assert standings.winners(one).mean(axis=0) == pytest.approx([1.5 / 3, 1.5 / 3, 0])
    other = np.array([[1, 2, 3], [1, 2, 0], [5, 6, nan]])
    assert standings.flips(one, other).tolist() == [1, 0, 0]
    assert standings.flips(np.array([[1.0, nan]]), np.ones((1, 2))) == pytest.approx([nan], nan_ok=True)
    up, down = np.array([1.0, 2, 3]), np.array([3.0, 2, 1])
    assert audit_table.spearman(up, down) == -1
    assert audit_table.spearman(up, np.array([1.0, 2, 2])) == pytest.approx(np.sqrt(3) / 2)
    assert audit_table.spearman(np.ones(3), up) == 0
    assert math.isnan(audit_table.spearman(up, np.ones(3)))
    assert math.isnan(audit_table.spearman(np.ones(1), np.ones(1)))
    assert math.isnan(audit_table.spearman(np.full(1, nan), np.ones(1)))


def test_an_audit_of_a_table():
    result = te.rankeval.audit(table(), ["auc_pr", "f1_pa", "detection_delay"])
    assert result.plan.detectors == ["good", "poor", "holes"]
    rows = result.table().rows
    assert {row["metric"]: row["series"] for row in rows}["auc_pr"] == 2
    assert result.table()["auc_pr"] == 0
    frame = result.to_frame()
    assert set(frame["kind"]) == {"detector", "no skill", "search", "one-liner"}
    data = table()
    seen = data["series"] == "a"
    compared = te.compare({"holes": data["holes"][seen]}, data["label"][seen], "detection_delay")
    # Points without a score are not judged, and keep their place in time.
    assert -result.values_of("detection_delay")["a"]["holes"] == compared.table()["holes"]["detection_delay"]
    ranks = {(row["metric"], row["detector"]): row["value"] for row in result.ranks().rows}
    assert ranks["auc_pr", "good"] == 1
    assert ranks["auc_pr", "poor"] == 3
    assert result.agreement().between("auc_pr", "f1_pa") >= -1
    assert result.agreement().between("auc_pr", "auc_pr") == 1
    example = result.example("f1_pa")
    assert example["detector"] == "good"
    assert example["adversary"] in result.names("no skill")
    assert "Audit on 2 series: 6 scorings of 3 detectors" in repr(result)
    with pytest.raises(te.errors.UnknownNameError, match="auc_pr"):
        result.example("auc_rp")


def test_the_series_on_which_two_metrics_disagree_most():
    label = np.arange(300) // 20 == 4
    late, broad = np.zeros((2, 300))
    late[85] = 1  # one point of the event
    broad[80:100] = broad[20:40] = 1  # the whole event and a false alarm
    data = {"label": label.astype(int), "late": late, "broad": broad, "none": np.arange(300) % 7 / 7.0}
    result = te.rankeval.audit(data, ["precision", "recall", "false_alarms"], by=None, threshold=0.9)
    found = result.disagreement("precision", "recall")
    assert (found["first"], found["second"]) == ("late", "broad")
    assert found["first_values"] == (1.0, 0.05)
    assert found["second_values"] == (0.5, 1.0)
    assert found["flips"] == 1  # without alarms there is no precision, so there is one pair only
    # Values are shown as the metric gives them, also where lower is better.
    assert result.example("false_alarms")["detector_value"] >= 0
    assert result.disagreement("false_alarms", "recall")["first_values"][0] == 0
    with pytest.raises(te.errors.InvalidInputError, match="no two detectors"):
        result.disagreement("recall", "recall")


def test_values_equal_those_of_the_metric():
    result = te.rankeval.audit(table(), ["auc_pr", "f1"])
    data = table()
    a = data["series"] == "a"
    values = result.values_of("auc_pr")["a"]
    assert values["good"] == te.metrics.auc_pr(data["label"][a], data["good"][a])
    known = a & np.isfinite(data["holes"])
    assert values["holes"] == te.metrics.auc_pr(data["label"][known], data["holes"][known])
    expected = te.evaluate(data["label"][a], data["poor"][a], "f1", threshold="quantile(0.95)")["f1"]
    assert result.values_of("f1")["a"]["poor"] == expected


@pytest.mark.slow
def test_an_adversary_of_your_own_joins():
    def constant(n, random):
        """Always the same."""
        return np.full(n, 0.3)

    result = te.rankeval.audit(table(), ["accuracy"], adversaries=[constant], n_jobs=2)
    assert "constant" in result.names("no skill")
    assert set(result.to_frame().query("detector == 'constant'")["status"]) == {"ok"}
    with pytest.raises(te.errors.InvalidParameterError, match="already an adversary"):
        te.rankeval.audit(table(), ["accuracy"], adversaries=[Adversary.from_function(constant, "uniform")])
    broken = te.rankeval.audit(table(), ["auc_pr"], adversaries=[lambda n, random: [1.0]])
    assert broken.table().rows[0]["errors"] == 2


def test_folders_names_and_what_cannot_be_audited(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table())
    frame[frame["series"] == "a"].to_csv(tmp_path / "a.csv", index=False)
    frame[frame["series"] == "b"].to_parquet(tmp_path / "b.parquet")
    (tmp_path / "notes.csv").write_text("x,y\n1,2\n")
    whole = te.rankeval.run("audit", "auc_pr", data=tmp_path, store=tmp_path / "store")
    assert [series.name for series in whole.plan.series] == ["a", "b"]
    assert whole.plan.series[0].detectors == ("good", "poor", "holes")
    assert whole.plan.series[0].has_values
    assert repr(te.rankeval.read(tmp_path / "store")) == repr(whole)
    some = te.rankeval.audit(frame, "auc_pr", score=["good", "poor"], values=None)
    assert some.plan.detectors == ["good", "poor"]
    assert math.isnan(some.table().rows[0]["one_liners"])  # they need the series
    assert "nan" not in repr(some.table())
    assert "one_liners -: lines of code need the series itself, which no table has (values=)" in repr(some.table())
    assert "one_liners -" not in repr(whole.table())
    frame.to_csv(tmp_path / "twice.csv", index=False)
    with pytest.raises(te.errors.InvalidInputError, match="two tables have a series"):
        te.rankeval.audit(tmp_path, "auc_pr")
    with pytest.raises(te.errors.InvalidInputError, match="no column 'label'"):
        te.rankeval.audit(frame.drop(columns="label"), "auc_pr")
    with pytest.raises(te.errors.InvalidInputError, match="none with both"):
        te.rankeval.audit(frame.assign(label=0), "auc_pr")
    with pytest.raises(te.errors.InvalidParameterError, match="needs data"):
        te.rankeval.run("audit", "auc_pr")
    with pytest.raises(te.errors.InvalidParameterError, match="has no repeats"):
        te.rankeval.run("audit", "auc_pr", data=tmp_path, repeats=2)


def test_a_series_that_changed_is_computed_again(tmp_path):
    first = te.rankeval.audit(table(0), "auc_pr", store=tmp_path)
    second = te.rankeval.audit(table(1), "auc_pr", store=tmp_path)
    assert first.values_of("auc_pr") != second.values_of("auc_pr")
    again = te.rankeval.audit(table(0), "auc_pr", store=tmp_path)
    assert again.values_of("auc_pr") == first.values_of("auc_pr")


def test_stores_know_a_series_by_its_numbers_as_in_earlier_versions():
    data = table()
    data["empty"] = np.where(data["series"] == "a", np.nan, data["poor"])  # no score at all on the first series
    result = te.rankeval.audit(data, "auc_pr")
    for series in result.plan.series:
        here = data["series"] == series.name
        digest = hashlib.sha256(np.packbits(data["label"][here] == 1).tobytes())
        for name in ("good", "poor", "holes", "empty", "value"):
            digest.update(("" if name == "value" else name).encode() + data[name][here].tobytes())
        assert series.mark == digest.hexdigest()[:12]
    assert result.plan.series[0].detectors == ("good", "poor", "holes")
    assert result.plan.series[0].incomplete == ("holes",)
    versions = result.to_frame().query("kind == 'detector'").groupby("detector")["scorer_version"].unique()
    assert {name: "/".join(some) for name, some in versions.items()} == {
        **dict.fromkeys(("good", "poor", "empty"), ""),
        "holes": "masked",
    }


def test_a_detector_is_not_taken_for_an_adversary():
    data = table()
    data["uniform"] = data.pop("good")  # it would be what random scores get
    with pytest.raises(te.errors.InvalidInputError, match="detector 'uniform' is called as an adversary"):
        te.rankeval.audit(data, "auc_roc", by="series", score=["uniform", "poor"])
