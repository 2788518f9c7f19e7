"""Events, inputs, registry, parameters, thresholds, results and the package's face."""

import ast
import importlib
import json
import math
import pickle
import subprocess
import sys
import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import tsadeval as te
from naive.events import events, runs
from strategies import labels
from tsadeval._optional import require
from tsadeval.core.define import score_metric
from tsadeval.core.events import Events
from tsadeval.core.inputs import Scoring, label_runs
from tsadeval.core.metric import METRICS, f_beta, parse_metric
from tsadeval.core.names import Registry, parse_call
from tsadeval.core.parameters import Flag, Number, OneOf, Pair
from tsadeval.core.results import Result, latex_table, text_table
from tsadeval.core.selection import select_metrics
from tsadeval.errors import (
    InvalidInputError,
    InvalidParameterError,
    MissingExtraError,
    TsadevalError,
    UndefinedMetricWarning,
    UnknownNameError,
)
from tsadeval.streams.runs import BareRuns
from tsadeval.thresholds import best, fixed, parse_rule, quantile

Y = [0, 0, 1, 1, 0, 1]
S = [0.1, 0.2, 0.9, 0.7, 0.3, 0.6]


@given(labels(min_size=1))
def test_events_are_the_runs(y):
    found = Events.of(y)
    assert list(zip(found.starts, found.stops, strict=True)) == events(y)
    assert (found.n, len(found), found.points) == (len(y), len(events(y)), y.sum())
    assert (found.mask() == (y == 1)).all()
    other = found.complement()
    assert list(zip(other.starts, other.stops, strict=True)) == events(y, 0)
    assert other.complement() == found
    assert (found == other) is False
    assert found != "events"


@given(labels(min_size=1, max_size=3000))
def test_scan_agrees_with_the_slow_one_beyond_its_blocks(y):
    long = np.repeat(y, 57)
    s = np.random.default_rng(0).normal(size=len(long))
    data = Scoring.of(long, s)
    for (start, stop, _), mean, m2 in zip(runs(long), data.means, data.m2, strict=True):
        assert mean + s[0] == pytest.approx(s[start:stop].mean(), abs=1e-12)
        assert m2 == pytest.approx(((s[start:stop] - s[start:stop].mean()) ** 2).sum(), rel=1e-9, abs=1e-9)
    assert (data.low, data.high) == (s.min(), s.max())
    values, counts = data.levels
    assert list(values) == sorted(set(s), reverse=True)
    assert list(counts) == [(s >= v).sum() for v in values]
    assert (np.diff(data.descending["score"]) <= 0).all()


def test_bad_values_are_found_wherever_they_stand():
    for n in (1, 15, 16, 17, 511, 512, 513, 2000):
        for at in {0, n // 2, n - 1}:
            y, s = np.arange(n) % 2, np.zeros(n)
            s[at] = np.inf
            with pytest.raises(InvalidInputError, match=f"infinite at position {at} "):
                Scoring.of(y, s)
            y = np.zeros(n, np.int64)
            y[at] = 7
            with pytest.raises(InvalidInputError, match=f"7 at position {at} "):
                Scoring.of(y, np.zeros(n))


@pytest.mark.parametrize("dtype", [np.uint8, np.bool_, np.int32, np.int64, np.float64, np.int8, np.float32])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_runs_of_labels_of_every_type_and_length(dtype, share):
    rng = np.random.default_rng(0)
    for n in (1, 2, 63, 64, 65, 127, 129, 257, 1000, 5000):
        y = rng.random(n) < share
        found = label_runs(y.astype(dtype), "y")
        starts = np.append(0, np.flatnonzero(y[1:] != y[:-1]) + 1)
        assert found.starts.tolist() == starts.tolist()
        assert found.counts.tolist() == np.diff(starts, append=n).tolist()
        assert found.first == int(y[0])
        for at in {0, n // 2, n - 1} if dtype is not np.bool_ else ():
            wrong = y.astype(dtype)
            wrong[at] = 2
            with pytest.raises(te.errors.InvalidInputError, match=rf"is 2(\.0)? at position {at} "):
                label_runs(wrong, "y")


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.float64])
def test_labels_are_the_same_wherever_they_lie_in_memory(dtype):
    rng, size = np.random.default_rng(0), np.dtype(dtype).itemsize
    for n in (1, 2, 63, 64, 65, 100, 1000):
        y = (rng.random(n) < 0.3).astype(dtype)
        room = np.zeros((n + 70) * size, np.uint8)
        for offset in [*range(64 // size + 1), 1 / size, 3 / size]:  # also where no label could lie by itself
            begin = round(offset * size)
            there = room[begin : begin + n * size].view(dtype)
            there[:] = y
            room[:begin], room[begin + n * size :] = 255, 255  # what lies around is not theirs
            found = label_runs(there, "y")
            assert (found.mask == y).all()
            assert found.events.points == y.sum()
            there[n // 2] = 2
            with pytest.raises(te.errors.InvalidInputError, match=rf"is 2(\.0)? at position {n // 2} "):
                label_runs(there, "y")


def test_of_floats_nothing_but_0_and_1_is_a_label():
    n = 130
    for wrong in [-1.0, 0.5, 2.0, 3.0, 1 + 2**-52, 5e-324, -5e-324, 2.0**-511, 1e308, math.nan, math.inf, -math.inf]:
        for at in (0, 64, n - 1):
            y = np.zeros(n)
            y[at] = wrong
            with pytest.raises(te.errors.InvalidInputError, match=f" at position {at}"):
                label_runs(y, "y")
    y = np.where(np.arange(n) % 3, 1.0, -0.0)
    assert (label_runs(y, "y").mask == (y == 1)).all()


@given(labels(min_size=1, max_size=300), labels(min_size=1, max_size=300))
def test_events_and_alarms_meet_by_bits_as_by_runs(y, p):
    n = min(len(y), len(p))
    truth, alarms = (label_runs(np.repeat(one[:n], 1 + n % 5), "y") for one in (y, p))
    by_runs = (BareRuns(runs.labels[:1], runs.starts, runs.counts) for runs in (truth, alarms))
    expected = next(by_runs).met_by(next(by_runs))
    for found in (truth.met_by(alarms), pickle.loads(pickle.dumps(truth)).met_by(alarms)):
        assert [part.tolist() for part in found[:2]] == [part.tolist() for part in expected[:2]]
        assert found[2:] == expected[2:]


def test_labels_and_alarms_of_different_lengths_never_meet():
    with pytest.raises(ValueError, match="different lengths"):
        label_runs([0, 1], "y").met_by(label_runs([0], "y"))


def test_many_runs_outgrow_the_first_buffers():
    y = np.arange(5000) % 2
    assert len(Events.of(y)) == 2500
    assert te.cce(y, y) == 1.0


def test_import_is_light():
    def loaded(what):
        code = f"import sys{what}; print(*{{m.partition('.')[0] for m in sys.modules}} - set(sys.stdlib_module_names))"
        done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    # Whatever an installation itself loads at start-up is not ours.
    assert loaded(", tsadeval") - loaded("") <= {"tsadeval", "numpy"}


def test_a_metric_needs_numpy_only():
    code = "import sys, tsadeval; tsadeval.cce([0, 1], [0, 1]); print('scipy' in sys.modules, 'pandas' in sys.modules)"
    out = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "False"]


def test_public_names():
    assert te.__all__ == sorted(te.__all__)
    assert set(dir(te)) == {*te.__all__, "__version__"}
    for name in te.__all__:
        assert getattr(te, name) is not None
    assert te.__version__ == importlib.metadata.version("tsadeval")
    with pytest.raises(AttributeError, match="did you mean cce"):
        te.cec  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean cce"):
        te.metrics.ccee  # noqa: B018
    assert "cce" in dir(te.metrics)


def test_every_module_has_a_docstring():
    for file in Path(te.__file__).parent.rglob("*.py"):
        if file.parent.name != "_kernels":
            assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))), file


def test_registry_helps():
    registry = Registry("thing")
    registry.add("alpha", 1)
    assert registry["alpha"] == registry.get("alpha") == 1
    assert ("alpha" in registry, "beta" in registry, registry.get("beta"), len(registry)) == (True, False, None, 1)
    assert "1 things: alpha" in repr(registry)
    with pytest.raises(UnknownNameError, match="unknown thing 'alfa': did you mean alpha"):
        registry["alfa"]
    with pytest.raises(UnknownNameError, match="valid names: alpha"):
        registry["zzz"]
    with pytest.raises(ValueError, match="already a thing named 'alpha'"):
        registry.add("alpha", 2)


def test_a_record_must_check_every_option():
    with pytest.raises(TypeError, match="options"):

        @score_metric(label="x", range=(0, 1), summary="x.", undefined="x", references=("x",))
        def unchecked(data, *, option=1):
            return 0.0


@pytest.mark.parametrize(
    "text",
    [
        "cce(",
        "cce(1)",
        "cce(tau=a.b)",
        "cce(**x)",
        "",
        "(1)",
        "cce(tau=f(1))",
        "cce(tau=0.4, tau=0.9)",
        "cce(tau={[]: 1})",
    ],
)
def test_texts_that_are_no_metric(text):
    with pytest.raises(InvalidParameterError, match="cannot read"):
        parse_metric(text)


def test_metrics_are_found_by_label_and_in_one_text():
    assert [str(m) for m in select_metrics("cce,VUS-PR(window=3), f1-pa%k")] == ["cce", "vus_pr(window=3)", "f1_pa_k"]
    texts = "cce(normalize=quantile, quantiles=(0.01, 0.99)),f1"
    assert list(map(str, select_metrics(texts))) == ["cce(normalize='quantile', quantiles=(0.01, 0.99))", "f1"]


def test_metric_texts():
    assert str(parse_metric("cce(gamma=5, tau=0.4)")) == "cce(tau=0.4, gamma=5)"
    assert parse_metric("cce(uncertainty=pointwise)") == parse_metric("cce(uncertainty='pointwise')")
    assert parse_metric("cce(normalize=None)").bound == (("normalize", None),)
    assert parse_call("f(a, 1, b=[1, 2])") == ("f", ["a", 1], {"b": [1, 2]})
    with pytest.raises(InvalidParameterError, match="no option 'tua': did you mean tau"):
        parse_metric("cce(tua=1)")
    with pytest.raises(UnknownNameError, match="did you mean"):
        parse_metric("ccee(tau=1)")


def test_parameter_records_describe_themselves():
    assert str(Number(0, 1)) == "a number in [0, 1]"
    assert str(Number(0, open_low=True)) == "a number > 0"
    assert str(Number(high=3, integer=True, none=True)) == "an integer <= 3 or None"
    assert str(OneOf(("a", None))) == "one of 'a', None"
    assert str(Pair(0, 1)) == "two increasing numbers between 0 and 1"
    assert str(Flag()) == "True or False"
    assert Number(none=True).accepts(None)
    assert Number(0, 1).accepts(np.float32(0.5))
    assert Number(integer=True).accepts(np.int8(3))
    with pytest.raises(InvalidParameterError, match=r"cce: tau must be a number in \[0, 1\], but is 2"):
        te.cce(Y, S, tau=2)


def test_f_of_nothing_found_is_zero():
    assert f_beta(math.nan, 0.0) == 0.0
    assert f_beta(0.5, 0.5, 2.0) == 0.5


def test_missing_extra_says_what_to_install():
    with pytest.raises(MissingExtraError, match=r"no_such_module.*pip install 'tsadeval\[all\]'") as caught:
        require("no_such_module", extra="all")
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, TsadevalError)


def test_thresholds_print_and_parse():
    for rule in (fixed(0.3), quantile(0.95), best()):
        assert parse_rule(str(rule)) == rule
        assert parse_rule(rule) is rule
    data = Scoring.of(Y, S)
    for rule, level in ((fixed(0.3), 0.3), (quantile(0.5), np.quantile(S, 0.5))):
        decision = rule.decide(data, METRICS["f1"])
        assert list(decision.prediction.alarms.mask) == [s > level for s in S]
        assert (decision.rule, decision.threshold) == (str(rule), level)
    assert parse_rule(2.5) == parse_rule("2.5") == fixed(2.5)
    for bad in (
        "quantile(2)",
        "quantile",
        "fixed(a)",
        "fixed(1, 2)",
        "best(auc_roc)",
        True,
        None,
        "fixed('nan')",
    ):
        with pytest.raises(InvalidInputError):
            parse_rule(bad)
    with pytest.raises(UnknownNameError, match="did you mean quantile"):
        parse_rule("quantil(0.5)")


def test_evaluate_takes_names_records_functions_and_sets():
    def mean_gap(y_true, y_score):
        y_score[:] -= 0.0  # a guest may write to its arrays
        return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()

    result = te.evaluate(Y, S, ["cce", "cce(tau=0.4)", METRICS["cce"], te.cce, mean_gap])
    assert list(result) == ["cce", "cce(tau=0.4)", "mean_gap"]
    assert result["cce"] == te.cce(Y, S)
    assert result["mean_gap"] == pytest.approx(0.5333333)
    assert te.evaluate(Y, S, mean_gap)["mean_gap"] == result["mean_gap"]
    assert "cce" in te.evaluate(Y, S, "paper")
    with pytest.warns(UndefinedMetricWarning, match="lead_time"):  # no alarm before an event
        assert set(te.evaluate(Y, S, "all")) == set(METRICS)
    assert {"ears", "f1", "vus_pr"} <= set(te.evaluate(Y, S)) < {*METRICS, "cce(normalize='robust')"}


def test_evaluate_refuses_what_it_cannot_use():
    with pytest.raises(UnknownNameError, match="unknown metric or set 'papers': did you mean paper"):
        te.evaluate(Y, S, "papers")
    with pytest.raises(InvalidInputError, match="one is 3"):
        te.evaluate(Y, S, [3])
    with pytest.raises(InvalidInputError, match="empty"):
        te.evaluate(Y, S, [])
    with pytest.raises(InvalidInputError, match="must return one number, but returned 'high'"):
        te.evaluate(Y, S, lambda y, s: "high")
    with pytest.raises(InvalidInputError, match="y_score is NaN everywhere"):
        te.evaluate(Y, [math.nan] * 6)
    with pytest.raises(InvalidInputError, match="y_score must be finite"):
        te.evaluate(Y, [math.nan, *S[1:]], missing="error")


def test_evaluate_says_once_why_a_value_is_nan():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = te.evaluate([0] * 6, S, ["cce"])
    assert [w.category for w in caught] == [UndefinedMetricWarning]
    assert caught[0].filename == __file__
    assert math.isnan(result["cce"])
    assert result.rows[0]["status"] == "undefined"
    assert "no anomalous point" in result.rows[0]["message"]
    assert json.loads(result.to_json())[0]["value"] is None


def test_result_views():
    result = te.evaluate(Y, S, ["cce", "cce(tau=0.4)"])
    assert isinstance(result, Result)
    assert dict(result) == {name: result[name] for name in result}
    assert (len(result), "cce" in result, "auc" in result, result.get("auc")) == (2, True, False, None)
    with pytest.raises(UnknownNameError, match="no metric 'ccc' in this result: did you mean"):
        result["ccc"]
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["metric"]) == list(result)
    assert list(frame["value"]) == list(result.values())
    assert [row["value"] for row in json.loads(result.to_json())] == list(result.values())
    assert repr(result).splitlines()[0].split() == ["metric", "value"]
    assert f"{result['cce']:.4f}" in repr(result)
    assert r"\toprule" in result.to_latex()
    assert f"{result['cce']:.2f} " in result.to_latex(digits=2)


def test_bounds_of_whole_numbers_are_in_full():
    seed = Number(0, 2**32 - 1, integer=True)
    assert str(seed) == "an integer in [0, 4294967295]"
    assert not seed.accepts(10**400)
    assert str(Number(0, 0.99)) == "a number in [0, 0.99]"


def test_tables_align_and_escape():
    rows = [["name", "n"], ["a_b & c", 1.0], ["x", math.nan]]
    assert text_table(rows).splitlines() == ["name          n", "-------  ------", "a_b & c  1.0000", "x           nan"]
    assert r"a\_b \& c & 1.0000 \\" in latex_table(rows)
    assert text_table([["only head"]]).splitlines() == ["only head", "---------"]


@given(labels(), labels())
def test_shared_points(one, other):
    n = min(len(one), len(other))
    one, other = one[:n], other[:n]
    expected = int(np.count_nonzero((one == 1) & (other == 1)))
    assert Events.of(one).shared_points(Events.of(other)) == expected


def test_latex_keeps_every_character():
    from tsadeval.core.results import latex_text

    assert latex_text("a^b~c_d") == r"a\textasciicircum{}b\textasciitilde{}c\_d"


def test_a_series_that_is_too_long_for_32_bits_is_refused(monkeypatch):
    monkeypatch.setattr("tsadeval.core.arrays.LARGEST", 5)
    y, s = [0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    words = r"the series has 6 points, but this metric takes at most 5: split it \(cce has no such limit\)"
    for name in ("auc_roc", "pate", "vus_pr"):
        with pytest.raises(InvalidInputError, match=words):
            getattr(te.metrics, name)(y, s)
    for name in ("f1", "affiliation_f1", "etapr_f1"):
        with pytest.raises(InvalidInputError, match=words):
            getattr(te.metrics, name)(y, y)
    assert te.cce(y, s) > 0


WIDE = np.longdouble(1) + np.arange(4) * np.finfo(np.longdouble).eps


@pytest.mark.parametrize(
    "scores",
    [
        np.arange(4) + 2**60,
        np.arange(4) - 2**62,
        np.arange(4).astype(np.uint64) + np.uint64(2**63),
        [2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3],
        pytest.param(WIDE, marks=pytest.mark.skipif(WIDE.itemsize == 8, reason="long doubles are doubles here")),
    ],
    ids=["int64", "negative", "uint64", "list", "long double"],
)
def test_scores_that_would_tie_as_floats_are_refused(scores):
    """They tied in silence: an inverted ranking had AUC 1/2 instead of 0."""
    with pytest.raises(InvalidInputError, match=r"y_score has values that differ as .* but not as 64-bit floats"):
        te.metrics.auc_roc([1, 1, 0, 0], scores)
    with pytest.raises(InvalidInputError, match="subtract a common offset"):
        te.evaluate([1, 1, 0, 0], scores)
    assert te.metrics.auc_roc([1, 1, 0, 0], np.asarray(scores) - np.asarray(scores)[0]) == 0


def test_decimals_of_arrow_and_polars_are_numbers():
    words, labels = ["0.1", "0.9", "0.8", "0.2"], [0, 1, 1, 0]
    exact = [Decimal(word) for word in words]
    missing = [None, *exact[1:]]
    expected = te.metrics.auc_roc(labels, [0.1, 0.9, 0.8, 0.2])
    for column in (pa.array, pl.Series, lambda values: pa.chunked_array([values])):
        assert te.metrics.auc_roc(labels, column(exact)) == expected
        assert te.metrics.auc_roc(column([Decimal(label) for label in labels]), column(exact)) == expected
        assert te.evaluate(labels, column(missing), "auc_roc", missing="skip")["auc_roc"] == expected
        with pytest.raises(InvalidInputError, match="y_score has values beyond 2"):
            te.metrics.auc_roc(labels, column([Decimal(2**53 + 1), *exact[1:]]))


def test_large_scores_that_stay_apart_are_taken():
    assert te.metrics.auc_roc([0, 0, 1, 1], np.arange(4) * 1024 + 2**60) == 1
    assert te.metrics.auc_roc([0, 0, 1, 1], np.array([-(2**63), 0, 1, 2**63 - 1])) == 1
    assert te.metrics.auc_roc([0, 0, 1, 1], np.array([0.1, 0.2, 0.3, 0.4], np.longdouble)) == 1


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["n", "n", "a"], r"\(np.asarray\(y_true\) == 'a'\).astype\(int\)"),
        (np.array(["n", "n", "a"]), r"\(y_true == 'a'\).astype\(int\)"),
        (np.array(["n", "n", "a"], object), r"found 'n'\); say which value is anomalous, e.g. \(y_true == 'a'\)"),
        (["0", "0", "1"], r"np.asarray\(y_true, dtype=float\)"),
    ],
)
def test_labels_that_are_words_are_refused_with_what_to_write(labels, message):
    with pytest.raises(InvalidInputError, match=message):
        te.evaluate(labels, [0.1, 0.2, 0.3], "f1")


def test_words_of_a_pandas_series_are_named():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InvalidInputError, match=r"\(y_true == 'anomaly'\).astype\(int\)"):
        te.evaluate(pd.Series(["normal", "anomaly", "normal"]), [0.1, 0.2, 0.3], "f1")


def test_a_function_of_ones_own_is_written_with_a_colon(tmp_path, monkeypatch):
    (tmp_path / "mine_of_test.py").write_text("def tolf1(y_true, y_score):\n    return 0.5\n")
    monkeypatch.chdir(tmp_path)
    for text, hint in (
        ("mine_of_test.tolf1", "'mine_of_test.tolf1': write mine_of_test:tolf1 for a function of your own$"),
        ("a.b.c(d=1)", r"write a.b:c\(d=1\) for a function of your own$"),
        ("mine_of_test", "write mine_of_test:function for a function of your own in the module mine_of_test$"),
        ("zzzzzzzz", "valid names: "),
        ("vus_prx", "did you mean vus_pr"),
    ):
        with pytest.raises(UnknownNameError, match=hint):
            te.evaluate([0, 1], [0.1, 0.2], text)
