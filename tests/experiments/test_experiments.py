"""Runs of detectors: resuming, failures, new metrics on old scores, tables of what was run."""

import gc
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import tsadeval as te
from detecting import Broken, Distance, trainings, write_series
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from tsadeval.experiments.detect import read
from tsadeval.experiments.specs import DetectorSpec, Source, keep_scores
from tsadeval.scores.cache import scores_path

METRICS = ["cce", "auc_roc", "f1"]
ROOT = Path(__file__).parents[2]


class Short(Distance):
    def score(self, X):
        return super().score(X)[1:]


class Endless(Distance):
    def score(self, X):
        return super().score(X) * np.inf


def parts(folder):
    return sorted((folder / "parts").glob("*.parquet"))


def test_values_are_those_of_the_scores(tmp_path, files):
    result = te.detect(files, [Distance(), "random"], METRICS, store=tmp_path / "store", threshold="quantile(0.9)")
    frame = result.to_frame()
    assert len(frame) == 2 * 2 * 3
    assert set(frame["status"]) == {"ok"}
    assert frame["device"].notna().all()
    for name in files:
        plain = te.datasets.load(name.partition("(")[0], split=0.5)
        kept = result.scores(Source.of(name).name, DetectorSpec.of(Distance()).text)
        np.testing.assert_array_equal(kept.labels, plain.test_labels)
        np.testing.assert_array_equal(kept.scores, Distance().fit(plain.train).score(plain.test))
        expected = te.evaluate(kept.labels, kept.scores, METRICS, threshold="quantile(0.9)")
        assert result.table(name)[DetectorSpec.of(Distance()).text] == dict(expected)
    assert result.average()["random"]["auc_roc"] == pytest.approx(
        np.mean([result.table(name)["random"]["auc_roc"] for name in files])
    )
    assert result.table(files[0]).best("auc_roc") == [DetectorSpec.of(Distance()).text]


def test_a_rerun_trains_nothing_and_a_new_metric_is_only_judged(tmp_path, files, log):
    store, told = tmp_path / "store", []
    first = te.detect(files, Distance(log), "cce", store=store)
    assert trainings(log) == 2
    before = parts(store)
    again = te.detect(files, Distance(log), "cce", store=store, progress=lambda *now: told.append(now))
    assert told == [(2, 2)]
    assert parts(store) == before
    assert again.table(files[0]) == first.table(files[0])
    more = te.detect(files, Distance(log), ["cce", "vus_pr", "f1"], store=store)
    assert trainings(log) == 2
    assert set(more.to_frame()["metric"]) == {"cce", "vus_pr", "f1"}
    other = te.detect(files, Distance(log), "f1", store=store, threshold="quantile(0.5)")
    assert trainings(log) == 2
    assert other.to_frame()["alarmed_points"].tolist() == [60, 60]


def test_a_store_without_the_rules_that_were_used_is_read_with_the_same_notes(tmp_path, files, log):
    """As 0.1.0 wrote it: the columns of these facts are missing, and nothing is computed again."""
    run = {"metrics": ["cce", "recall", "f1"], "store": tmp_path}
    before = te.detect(files, [Distance(), "random"], **run)
    trained = trainings(log)
    for part in parts(tmp_path):
        table = pq.read_table(part)
        part.unlink()
        lost = ["used", "uses_labels", "origin", "reason"]
        pq.write_table(table.drop_columns(lost), part.with_name(f"{part.stem[:20]}.parquet"))
    old = parts(tmp_path)
    for after in (read(tmp_path), te.detect(files, [Distance(), "random"], **run)):
        assert repr(after) == repr(before)
        columns = ("series", "metric", "rule", "uses_labels", "origin", "value")
        for one, other in zip(after.rows, before.rows, strict=True):
            assert [one[name] or None for name in columns] == [other[name] or None for name in columns]
    assert trainings(log) == trained
    assert parts(tmp_path) == old


def test_lost_values_come_back_from_the_scores_and_lost_scores_from_training(tmp_path, files, log):
    store = tmp_path / "store"
    first = te.detect(files, Distance(log), METRICS, store=store)
    parts(store)[0].unlink()
    again = te.detect(files, Distance(log), METRICS, store=store)
    assert trainings(log) == 2
    assert [row["value"] for row in again.rows] == [row["value"] for row in first.rows]
    scores_path(store, Source.of(files[0]).name, DetectorSpec.of(Distance(log)).text).unlink()
    te.detect(files, Distance(log), METRICS, store=store)
    assert trainings(log) == 2  # all values are there, so nobody needs the scores
    te.detect(files, Distance(log), "auc_pr", store=store)
    assert trainings(log) == 3


def test_a_detector_that_fails_is_a_row_and_is_tried_again(tmp_path, files, log):
    store = tmp_path / "store"
    result = te.detect(files, [Broken(), Short(), Endless(), Distance(log)], METRICS, store=store)
    frame = result.to_frame().set_index("detector")
    assert frame.loc[DetectorSpec.of(Broken()).text, "message"].str.startswith("RuntimeError: out of paper (").all()
    assert "expected one score for each of 120 points, but their shape is (119,)" in " ".join(frame["message"].dropna())
    assert "expected finite scores, but the one at position 0 is inf (120 such scores" in " ".join(result.failures())
    assert set(frame.loc[DetectorSpec.of(Distance(log)).text, "status"]) == {"ok"}
    assert result.failures()[0].startswith(f"Broken failed on {Source.of(files[0]).name}: RuntimeError: out of paper (")
    assert len(result.failures()) == 6
    assert "Broken failed on" in repr(result)  # with the reason, under the tables
    assert np.isnan(result.average()[DetectorSpec.of(Broken()).text]["cce"])
    with pytest.raises(InvalidInputError, match="has no scores on"):
        result.scores(Source.of(files[0]).name, DetectorSpec.of(Broken()).text)
    told = []
    te.detect(files, [Broken(), Distance(log)], METRICS, store=store, progress=lambda *now: told.append(now))
    assert told[0] == (6, 12)  # the errors are open
    assert trainings(log) == 2


def test_a_failure_is_one_line_that_says_where(files):
    class Lost(Distance):
        def score(self, X):
            raise RuntimeError("first\nsecond")

    (line,) = te.detect(files[0], Lost(), "cce").failures()
    assert "RuntimeError: first second (test_experiments.py, line " in line
    assert line.endswith("in score)")


def test_a_detector_that_changes_its_input_harms_nobody(files):
    class Rude(Distance):
        def fit(self, X):
            X[:] = 0
            return super().fit(X)

        def score(self, X):
            found = super().score(X)
            X[:] = 7
            return found

    data = te.datasets.load(files[0].partition("(")[0])  # the same rows to learn from and to be judged on
    alone = te.detect(data, Distance(), "auc_roc").table()["Distance"]
    both = te.detect(data, [Rude(), Distance()], "auc_roc").table()
    assert both["Distance"] == alone
    assert both["Rude"]["auc_roc"] > 0.9


@pytest.mark.parametrize(("what", "kind"), [(1j, "complex128"), (None, "object"), ("a", "<U1")])
def test_scores_that_are_no_numbers_are_refused(files, what, kind):
    class Odd(Distance):
        def score(self, X):
            return [what] * len(X)

    (line,) = te.detect(files[0], Odd(), "auc_roc").failures()
    assert f"expected one number for each point, but got list of {kind}" in line


def test_why_a_value_is_undefined_is_said(tmp_path):
    path = write_series(tmp_path, "calm", 0, n=60)
    path.write_text(re.sub(r",1$", ",0", path.read_text(), flags=re.MULTILINE))
    result = te.detect(path, ["random", Distance()], ["auc_roc", "cce"])
    assert result.undefined() == [f"auc_roc, cce undefined on {path}: y_true has no anomalous point (no 1)"]
    assert not result.failures()


def test_a_metric_that_fails_says_on_what(tmp_path, files):
    def fails(y_true, y_score):
        raise ValueError("no")

    result = te.detect(files[:1], Distance(), [fails, "cce"], store=tmp_path / "store")
    (line,) = result.failures()
    assert line.startswith(
        f"fails failed on Distance, {Source.of(files[0]).name}: ValueError: no (test_experiments.py, line"
    )
    assert result.to_frame()["status"].tolist() == ["error", "ok"]


def test_an_edited_detector_is_trained_anew():
    one, same, other = (DetectorSpec.of(Distance(sign=sign)) for sign in (1.0, 1.0, 2.0))
    assert one == same
    assert one.text != other.text
    assert one.title == "Distance"
    assert DetectorSpec.of(Broken()).text.rpartition("@")[2] != one.text.rpartition("@")[2]
    assert one.make() is not one.instance

    def text(body):
        """Of a class whose base, in the same module, holds the code."""
        space = {"__name__": "mine"}
        exec(f"class Base:\n fit = lambda s, X: s\n def score(s, X): return {body}\nclass Mine(Base): pass", space)
        return DetectorSpec.of(space["Mine"]()).text

    assert text("X[:, 0]") == text("X[:, 0]")
    assert text("X[:, 0]") != text("X[:, 1]")


@pytest.mark.parametrize(
    ("text", "name", "title"),
    [
        ("iforest(window=50, random_state=3)", "iforest(window=50)", "IForest(window=50)"),
        pytest.param(
            "usad(device=cpu, window=50, random_state=3)", "usad(window=50)", "USAD(window=50)", marks=pytest.mark.torch
        ),
    ],
)
def test_names_of_the_registry_leave_out_what_changes_no_score(text, name, title):
    spec = DetectorSpec.of(text, 7)
    assert (spec.text, spec.title, spec.seed) == (name, title, 3)
    made = spec.make("auto")
    assert (made.random_state, made.window) == (3, 50)
    assert getattr(made, "device", "cpu") == "cpu"
    assert DetectorSpec.of(made).text == name


def test_names_of_the_registry():
    assert DetectorSpec.of("usad(device=cpu, window=50, random_state=3)", 7).text == "usad(window=50)"
    assert DetectorSpec.of("random", 7).make().random_state == 7
    assert DetectorSpec.of("random(random_state=0)", 7).make().random_state == 0  # a seed of its own, be it the default
    with pytest.raises(UnknownNameError, match="did you mean random"):
        DetectorSpec.of("randon")
    for wrong in (Distance, 3):
        with pytest.raises(
            InvalidParameterError,
            match=r"Distance is a class: pass an object, Distance\(\.\.\.\)|int has no fit and no score",
        ):
            DetectorSpec.of(wrong)


def test_seeds_have_their_own_scores_and_tables_show_the_mean(tmp_path, files):
    store = tmp_path / "store"
    result = te.detect(files[:1], "random", "auc_roc", store=store, random_state=[0, 1, 2])
    values = result.to_frame()["value"]
    assert values.nunique() == 3
    assert result.table()["random"]["auc_roc"] == pytest.approx(values.mean())
    name = Source.of(files[0]).name
    single = [
        te.detect(files[:1], "random", "auc_roc", random_state=seed).table()["random"]["auc_roc"] for seed in range(3)
    ]
    assert single == values.tolist()
    assert not np.array_equal(result.scores(name, "random", 1).scores, result.scores(name, "random", 2).scores)
    assert scores_path(store, name, "random", 2).name == "random.seed-2.npz"
    with pytest.raises(UnknownNameError, match="no detector 'random' with seed 5"):
        result.scores(name, "random", 5)


def test_the_page_of_a_detection_has_its_means_over_seeds(tmp_path, files):
    result = te.detect(files[:2], ["random", "moving_variance"], "auc_roc", random_state=[0, 1])
    page = result.report(tmp_path / "page.html").read_text(encoding="utf-8")
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert data["comparison"]["detectors"] == result.names
    expected = [result.average()[detector]["auc_roc"] for detector in result.detectors]
    assert data["comparison"]["boards"]["auc_roc"]["mean"] == expected
    assert len(data["detectors"]) == 3  # the scores of each seed by themselves


@pytest.mark.slow
def test_loaded_data_and_memory_only(files):
    path, _, _ = files[0].partition("(")
    data = te.datasets.load(path, split=0.5)
    result = te.detect(data, ["random"], "auc_roc")
    folder = result.folder
    assert (folder / "scores").is_dir()
    assert list(result.plan.datasets) == [data.name]
    del result
    gc.collect()
    assert not folder.exists()


def test_a_store_puts_all_its_runs_together(tmp_path, files):
    store = tmp_path / "store"
    te.detect(files[0], "random", "cce", store=store)
    te.detect(files, Distance(), ["auc_roc", "cce"], store=store)
    whole = read(store)
    assert list(whole.titles) == ["random", DetectorSpec.of(Distance()).text]
    table = whole.table(Source.of(files[0]).name)
    assert np.isfinite(table["random"]["cce"])
    assert np.isnan(table["random"]["auc_roc"])
    assert set(whole.average("micro")) == set(whole.titles)
    assert "Random: averages over 1 of 2 series" in repr(whole)
    with pytest.raises(UnknownNameError, match="no data set 'c' in this result"):
        whole.scores("c", "random")
    with pytest.raises(InvalidInputError, match="holds no results: run `tsadeval detect --store"):
        read(tmp_path / "nowhere")
    (plan, *_) = (store / "plans").iterdir()
    plan.write_text("{}")
    with pytest.raises(InvalidInputError, match="another version of tsadeval"):
        read(store)


def test_changed_data_under_an_old_name_are_other_data(tmp_path, files):
    store = tmp_path / "store"
    te.detect(files[0], "random", "cce", store=store)
    write_series(tmp_path, "a", seed=5)
    (line,) = te.detect(files[0], "random", "cce", store=store).failures()
    assert "holds scores of other data" in line


def test_micro_average_pools_the_points(tmp_path, files):
    rule = "quantile(0.95)"
    result = te.detect(
        files, ["random", Distance()], ["auc_roc", "f1", "cce"], store=tmp_path / "store", threshold=rule
    )
    names = list(result.plan.datasets)
    entries = [(name, *(lambda k: (k.labels, k.scores))(result.scores(name, "random"))) for name in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = te.evaluate_many(entries, ["auc_roc", "f1"], threshold=rule).micro
    micro = result.average("micro")["random"]
    assert micro["auc_roc"] == expected["auc_roc"]
    assert micro["f1"] == expected["f1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"datasets": []}, "datasets is empty"),
        ({"datasets": [3]}, "a data frame or a loaded data set (te.datasets.load), but one is of type int"),
        ({"datasets": "a.csv(0.5)"}, "options of a data set need their names"),
        ({"datasets": "a.csv(split=1+x)"}, "cannot read 'a.csv(split=1+x)'"),
        ({"detectors": []}, "detectors is empty"),
        ({"detectors": "no_such_module:Thing"}, "cannot import 'no_such_module' of detector"),
        ({"detectors": "sklearn.svm:OneClassSVM(size=3)"}, "cannot be made"),
        ({"detectors": "tsadeval.errors:TsadevalError(size=3)"}, "must be a class with a method fit or"),
        ({"metrics": []}, "metrics is empty"),
        ({"random_state": -1}, "random_state must be an integer in [0, 4294967295]"),
        ({"random_state": 1.5}, "random_state must be an integer in"),
        ({"random_state": None}, "random_state must be an integer in"),
        ({"random_state": []}, "random_state is empty"),
        ({"detectors": {"a": "lof", "b": "lof"}}, "'a' and 'b' are the same detector: lof"),
        ({"device": "tpu"}, "device must be one of 'auto', 'cpu', 'cuda'"),
        ({"threshold": "high"}, "unknown threshold rule 'high'"),
    ],
)
def test_bad_arguments_are_said_before_any_work(files, arguments, message):
    with pytest.raises((InvalidInputError, UnknownNameError), match=re.escape(message)):
        te.detect(**{"datasets": files, "detectors": "random", **arguments})


def test_labels_only_are_refused_at_once(files):
    data = te.datasets.load(files[0].partition("(")[0], features=False)
    with pytest.raises(InvalidInputError, match="has labels only here"):
        te.detect(data, "random")
    with pytest.raises(InvalidInputError, match="has labels only here"):
        keep_scores(data, "random", "nowhere")


SCRIPT = """
import sys, time
import tsadeval as te

class Slow:
    def __init__(self, level, log):
        self.level, self.log = level, log
    def fit(self, X):
        with open(self.log, "a") as file:
            file.write(f"{self.level}\\n")
        time.sleep(0.1)
        return self
    def score(self, X):
        return X.sum(axis=1) - self.level

if __name__ == "__main__":
    store, log, *files = sys.argv[1:]
    te.detect(files, [Slow(k, log) for k in range(8)], ["cce", "auc_roc"], store=store)
"""


@pytest.mark.slow
def test_kill_9_loses_only_what_was_in_flight(tmp_path, files, log, monkeypatch):
    script, store = tmp_path / "script.py", tmp_path / "store"
    script.write_text(SCRIPT)
    command = [script, store, log, *files]
    process = subprocess.Popen([sys.executable, *command], start_new_session=True, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while len(list(store.glob("parts/*.parquet"))) < 4:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < limit
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    rows = len(read(store).to_frame())
    assert 8 <= rows < 32
    kept = {path: path.read_bytes() for path in store.rglob("*.npz")}
    assert rows // 2 <= len(kept) < 16
    before = trainings(log)
    monkeypatch.setattr(sys, "argv", list(map(str, command)))
    runpy.run_path(str(script), run_name="__main__")
    assert trainings(log) == before + 16 - len(kept)
    assert {path: path.read_bytes() for path in kept} == kept
    done = read(store).to_frame()
    assert len(done) == 32
    assert set(done["status"]) == {"ok"}


def test_every_data_set_is_read_once(files, monkeypatch):
    import tsadeval.datasets.loading as loading

    read = []
    original = loading.assemble

    def counted(name, *arguments, **options):
        read.append(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(loading, "assemble", counted)
    te.detect(files, ["random", Distance()], ["cce", "f1"])
    assert len(read) == len(files)


def test_detectors_can_be_fitted_on_what_they_score(tmp_path, files):
    """As benchmarks run unsupervised detectors: other scores, kept beside those of the usual way, and said."""
    options = {"store": tmp_path / "store", "threshold": "quantile(0.9)"}
    usual = te.detect(files, [Distance()], ["auc_roc"], **options)
    own = te.detect(files, [Distance()], ["auc_roc"], fit="test", **options)
    plain = te.datasets.load(files[0].partition("(")[0], split=0.5)
    name = own.series[0]
    np.testing.assert_array_equal(
        own.scores(name, own.detectors[0]).scores, Distance().fit(plain.test).score(plain.test)
    )
    np.testing.assert_array_equal(
        usual.scores(name, usual.detectors[0]).scores, Distance().fit(plain.train).score(plain.test)
    )
    assert own.detectors == [f"{usual.detectors[0]}@test"]
    assert all(title.endswith(", fitted on the test part") for title in own.titles.values())
    assert "fitted on the test part" in repr(own)
    assert len(read(tmp_path / "store").detectors) == 2
    of_registry = te.detect(files[:1], "lof(window=3)", ["auc_roc"], fit="test", **options)
    assert list(of_registry.titles) == ["lof(window=3)@test"]
    with pytest.raises(InvalidParameterError, match="fit"):
        te.detect(files, "random", fit="all")
