"""RankEval's label cases, generators, suites and plan."""

import numpy as np
import pytest

import published
import tsadeval as te
from tsadeval.datasets import data_folder
from tsadeval.engine.cells import compute_all
from tsadeval.engine.compute import choose_metrics as choose
from tsadeval.engine.compute import compute
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from tsadeval.rankeval.run import choose_suite
from tsadeval.rankeval.series import CASES, GENERATORS, REAL, SYNTHETIC, draw, source
from tsadeval.rankeval.suites.paper import TASKS

needs_data = pytest.mark.skipif(not published.SHARED.is_dir(), reason="the real data is not part of the repository")
SUITES = te.rankeval.SUITES
QUICK = SUITES["quick"]


def make_plan(suite, metrics, **options):
    return choose_suite(suite, **options).bind(metrics)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_synthetic_labels_are_the_published_ones(name):
    case = CASES[name]
    assert case.synthetic
    assert np.array_equal(case.events().mask(), published.labels_of(name) == 1)


@needs_data
@pytest.mark.parametrize(
    ("name", "n", "segments", "longest", "shortest"),
    [
        ("MSL", 73_729, 36, 1141, 11),
        ("SMD-1-1", 28_479, 8, 721, 2),
        ("SMD-2-1", 23_694, 13, 452, 8),
        ("SMD-3-1", 28_700, 4, 131, 21),
        ("PSM", 87_841, 72, 8861, 1),
        ("SWaT", 449_919, 35, 35_900, 101),
        ("Creditcard", 284_807, 463, 6, 1),
    ],
)
def test_real_labels(name, n, segments, longest, shortest):
    events = CASES[name].events(published.SHARED)
    assert (events.n, len(events), events.lengths.max(), events.lengths.min()) == (n, segments, longest, shortest)


@needs_data
def test_real_cases_join_where_their_data_is(monkeypatch):
    monkeypatch.delenv("TSADEVAL_DATA", raising=False)
    assert make_plan("paper", "f1").cases == SYNTHETIC
    assert make_plan("paper", "f1", data=published.SHARED).cases == (*SYNTHETIC, *REAL)
    monkeypatch.setenv("TSADEVAL_DATA", str(published.SHARED))
    assert make_plan("paper", "f1").cases == (*SYNTHETIC, *REAL)
    assert make_plan("quick", "f1").cases == QUICK.cases


def test_missing_data_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("TSADEVAL_DATA", raising=False)
    with pytest.raises(InvalidInputError, match="the labels of MSL are missing: no data folder was given; pass data="):
        te.rankeval.run("paper", "f1", cases=["MSL"])
    with pytest.raises(InvalidInputError, match="the labels of PSM are missing: there is no "):
        te.rankeval.run("paper", "f1", cases=["PSM"], data=tmp_path)
    with pytest.raises(InvalidInputError, match="there is no data folder"):
        data_folder(tmp_path / "nowhere")
    (tmp_path / "SMD" / "test_label").mkdir(parents=True)
    (tmp_path / "SMD" / "test_label" / "machine-1-1.txt").write_text("0\n1\n0\n")
    with pytest.raises(InvalidInputError, match=r"SMD-1-1: expected 28479 labels, but .* holds 3"):
        te.rankeval.run("paper", "f1", cases=["SMD-1-1"], data=tmp_path)


@pytest.mark.parametrize("name", ["AccQ", "LowDisAccQ", "PreQ-NegP"])
@pytest.mark.parametrize("sigma", [0.0, 0.05])
@pytest.mark.parametrize("repeat", [0, 2])
def test_published_streams(name, sigma, repeat):
    mask = CASES["10k-20seg-50H"].events().mask()
    p = 0.05 if name == "PreQ-NegP" else None
    ours = draw(GENERATORS[name], mask, "published", source("published", 0, repeat, sigma, ()), 0.3, p, sigma)
    model = f"{name}-R" if sigma else name
    theirs = published.scores_of(mask.astype(np.int64), model, 2025 + repeat, 0.3, p, sigma)
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=list(GENERATORS))
def test_generators_mean_what_they_say(generator):
    mask = np.arange(200_000) % 10 == 0
    p = 0.1 if generator.p != (None,) else None
    random = source("independent", 3, 0, 0.0, (generator.name,))
    s = draw(generator, mask, "independent", random, 0.7, p, 0.0)
    limit = 0.5 if generator.p == (None,) else 0.1
    assert np.mean(s[mask] > limit) == pytest.approx(0.7, abs=0.02)
    assert np.mean(s[~mask] > limit) == pytest.approx(0.3 if p is None else p, abs=0.02)
    assert s.min() >= 0
    assert s.max() <= 1
    noisy = draw(generator, mask, "independent", random, 0.7, p, 0.1)
    assert np.std(noisy - s) == pytest.approx(0.1, rel=0.5)
    assert (noisy.max() <= 1) == generator.clip


def test_streams_are_independent_and_named_by_what_they_draw():
    cells = make_plan("quick", "cce", repeats=2).cells()
    names = {source("independent", 0, c.repeat, c.sigma, (c.case, c.generator, c.q, c.p)) for c in cells}
    assert len(names) == len(cells)
    mask = CASES["10k-2seg-50L"].events().mask()
    a, b = (draw(GENERATORS["AccQ"], mask, "independent", (seed, 1, 2), 0.5, None, 0.0) for seed in (0, 1))
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.05


def test_the_published_repeats_of_a_noisy_model_are_one_series():
    plan = make_plan("paper", "auc_roc", cases=["10k-2seg-50L"], tasks=["AccQ"])
    values = {}
    for chunk in plan.chunks(plan.cells()):
        for row in compute_all(compute, chunk):
            values.setdefault((row["q"], row["sigma"]), set()).add(row["value"])
    assert {len(found) for (_, sigma), found in values.items() if sigma} == {1}
    assert {len(found) for (q, sigma), found in values.items() if q < 1 and not sigma} == {3}


def test_suites_have_the_published_size():
    assert len(make_plan("paper", "paper", cases=SYNTHETIC).cells()) == 178_200
    assert len(SUITES["paper"].cases) == 37
    for suite in (SUITES[name] for name in ("quick", "paper", "paper-text", "standard")):
        assert suite.summary
        assert [task.name for task in suite.tasks] == [task.name for task in TASKS]
        assert len(choose(suite.metrics, suite.paper)) >= 11
        assert [c.name for c in choose("paper", suite.paper)] == [c.name for c in choose("paper", QUICK.paper)]
        for name in suite.cases:
            assert name in CASES
    both = ["cce", "cce(normalize='published', uncertainty='pointwise')"]  # of the text, and of its code
    assert [str(m) for m in SUITES["paper-text"].bind(None).metrics if m.name == "cce"] == both


def test_the_ladder_is_only_where_it_was_published():
    cells = make_plan("paper", ["affiliation_f1", "f1", "cce"], cases=["10k-2seg-50L"]).cells()
    odd = {c for c in cells if c.rule not in (None, "strict_quantile(0.95)")}
    assert {(c.metric, c.generator, c.sigma > 0) for c in odd} == {("affiliation_f1", "AccQ", True)}
    assert {c.rule for c in cells if c.metric == "cce"} == {None}
    assert SUITES["paper"].rule_for("affiliation_f1", "AccQ", 0.1, synthetic=False) == "strict_quantile(0.95)"
    others = make_plan("standard", ["affiliation_f1"], cases=["10k-2seg-50L"]).cells()
    assert {c.rule for c in others} == {"quantile(0.95)"}


def test_a_plan_survives_its_record():
    plan = make_plan("standard", ["f1", lambda_named()], repeats=2, random_state=5, tasks=["AccQ"])
    again = SUITES["standard"].of_record(plan.record())
    assert again == plan
    assert again.cells() == plan.cells()


def lambda_named():
    def mine(y_true, y_score):
        return float(y_score[y_true == 1].mean())

    return mine


def test_chunks_hold_every_cell_once_and_long_series_come_first():
    plan = make_plan("paper", ["f1", "cce"], cases=["10k-2seg-50L", "100k-2seg-500L"], tasks=["AccQ"])
    chunks = plan.chunks(plan.cells())
    cells = [cell for chunk in chunks for cell in chunk.cells]
    assert sorted(map(repr, cells)) == sorted(map(repr, plan.cells()))
    assert [chunk.payload.n for chunk in chunks] == [100_000] * 5 + [10_000] * 5


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"suite": "qick"}, UnknownNameError, "unknown suite 'qick': did you mean quick"),
        ({"suite": "paper", "random_state": 3}, InvalidParameterError, "has the published seeds: leave random_state"),
        ({"repeats": 0}, InvalidParameterError, "repeats must be an integer >= 1"),
        ({"random_state": -1}, InvalidParameterError, "random_state must be an integer in"),
        ({"cases": ["10k"]}, UnknownNameError, "unknown case of suite 'quick' '10k'"),
        ({"cases": []}, InvalidParameterError, "no case of suite 'quick' is named"),
        ({"tasks": ["AcQ"]}, UnknownNameError, "unknown task of this plan 'AcQ': did you mean AccQ"),
        ({"metrics": []}, InvalidParameterError, "metrics is empty"),
        ({"metrics": "cec"}, UnknownNameError, "unknown metric or set 'cec': did you mean .*cce"),
        ({"metrics": "nowhere:f"}, InvalidParameterError, "cannot import 'nowhere' of metric 'nowhere:f'"),
        ({"metrics": "math:nothing"}, InvalidParameterError, "module 'math' has no 'nothing'"),
        ({"metrics": "math:pi"}, InvalidParameterError, "must be a function"),
        ({"metrics": [lambda y, s: 1.0, lambda y, s: 2.0]}, InvalidParameterError, "two different metrics are named"),
    ],
)
def test_bad_calls_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        te.rankeval.run(**{"suite": "quick", **options})


def test_the_version_of_a_users_metric_is_its_code():
    def make(factor):
        def mine(y_true, y_score, shift=0.0):
            return factor * float(np.mean(y_score)) + shift

        return mine

    (one,), (same,), (other,) = (choose(make(factor)) for factor in (1.0, 1.0, 2.0))
    assert one == same
    assert one.version != other.version

    class Metric:
        __name__ = "callable_object"

        def __call__(self, y_true, y_score):
            return 1.0

    assert choose(Metric())[0].version
    assert choose(te.metrics.f1)[0].name == "f1"
    assert choose(["f1", "f1"]) == choose("f1")
