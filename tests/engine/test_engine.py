"""The engine: durable rows, resuming, killing, sharing a store, and equal rows from any number of workers."""

import json
import os
import runpy
import signal
import subprocess
import sys
import time

import joblib
import pandas as pd
import pyarrow.parquet as pq
import pytest

import tsadeval as te
from tsadeval.engine import run as run_module
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, InvalidParameterError, TsadevalError
from tsadeval.rankeval import read
from tsadeval.rankeval.run import choose_suite
from tsadeval.rankeval.suites.paper import LAYOUT, RankingCell

SMALL = {"cases": ["10k-2seg-50L", "10k-20seg-50H"], "tasks": ["AccQ", "LowDisAccQ"]}
VALUES = 2 * 2 * 3 * 10  # cases, generators, sigmas, models: for each metric


def facts(result):
    """The rows without what the clock says, in one order."""
    frame = result.to_frame().drop(columns="seconds")
    return frame.sort_values(list(RankingCell._fields)).reset_index(drop=True)


def parts(folder):
    return sorted((folder / "parts").glob("*.parquet"))


@pytest.mark.slow
def test_rows_do_not_depend_on_workers_or_on_the_order_of_work(tmp_path):
    one = te.rankeval.run("quick", ["f1", "cce"], n_jobs=1, **SMALL)
    two = te.rankeval.run("quick", ["cce", "f1"], n_jobs=2, store=tmp_path / "two", **SMALL)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        threads = te.rankeval.run("quick", ["f1", "cce"], **SMALL)
    assert len(facts(one)) == 2 * VALUES
    pd.testing.assert_frame_equal(facts(one), facts(two))
    pd.testing.assert_frame_equal(facts(one), facts(threads))
    alone = te.rankeval.run("quick", "f1", cases=["10k-20seg-50H"], tasks=["AccQ"]).to_frame()
    whole = one.to_frame()
    same = whole[(whole["metric"] == "f1") & (whole["case"] == "10k-20seg-50H") & (whole["generator"] == "AccQ")]
    assert alone["value"].tolist() == same["value"].tolist()


def test_the_store_of_another_command_is_refused_and_left_alone(tmp_path):
    te.rankeval.run("quick", "cce", store=tmp_path / "store", cases=["10k-20seg-50H"], tasks=["AccQ"])
    before = sorted((tmp_path / "store").rglob("*"))
    (tmp_path / "a.csv").write_text("x,label\n1,0\n2,1\n")
    with pytest.raises(InvalidInputError, match=r"store is the store of another command.*choose another") as said:
        te.detect(tmp_path / "a.csv", "random", "cce", store=tmp_path / "store")
    assert "\n" not in str(said.value)
    assert sorted((tmp_path / "store").rglob("*")) == before
    assert len(read(tmp_path / "store").to_frame())


def test_a_store_that_cannot_be_made_or_read_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInputError, match=r"the store .*file cannot be made \(Not a directory"):
        Store(tmp_path / "file", LAYOUT)
    store = Store(tmp_path / "store", LAYOUT)
    (tmp_path / "store" / "plans" / "1.json").write_text("{")
    with pytest.raises(InvalidInputError, match=r"1.json is not a plan of `tsadeval rankeval run` .*; move it away"):
        store.plans()


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two", True])
def test_a_number_of_workers_that_makes_no_sense_is_refused(n_jobs):
    with pytest.raises(InvalidParameterError, match=r"n_jobs must be an integer other than 0"):
        te.rankeval.run("quick", "cce", n_jobs=n_jobs, cases=["10k-20seg-50H"], tasks=["AccQ"])


@pytest.mark.slow
def test_a_rerun_computes_only_what_is_missing(tmp_path):
    first = te.rankeval.run("quick", "f1", store=tmp_path, **SMALL)
    before = parts(tmp_path)
    told = []
    again = te.rankeval.run("quick", "f1", store=tmp_path, progress=lambda *now: told.append(now), **SMALL)
    assert parts(tmp_path) == before
    assert told == [(VALUES, VALUES)]
    pd.testing.assert_frame_equal(first.to_frame(), again.to_frame())
    before[0].unlink()
    before[3].unlink()
    te.rankeval.run("quick", ["f1", "cce"], store=tmp_path, progress=lambda *now: told.append(now), **SMALL)
    assert told[1] == (VALUES - 20, 2 * VALUES)
    assert told[-1] == (2 * VALUES, 2 * VALUES)
    last = read(tmp_path)
    assert len(last.to_frame()) == 2 * VALUES
    assert list(map(str, last.plan.metrics)) == ["f1", "cce"]


@pytest.mark.slow
def test_an_edited_guest_is_computed_anew_and_an_error_is_tried_again(tmp_path):
    mended = tmp_path / "mended"

    def mine(y_true, y_score, broken=str(mended)):
        if not os.path.exists(broken):
            raise RuntimeError("not yet")
        return y_score[y_true == 1].mean()

    store = tmp_path / "store"
    failed = te.rankeval.run("quick", mine, store=store, n_jobs=2, **SMALL).to_frame()
    assert set(failed["status"]) == {"error"}
    assert failed["message"].str.startswith("RuntimeError: not yet (test_engine.py, line ").all()
    mended.touch()
    assert set(te.rankeval.run("quick", mine, store=store, **SMALL).to_frame()["status"]) == {"ok"}
    first = mine

    def mine(y_true, y_score):
        return -1.0

    edited = te.rankeval.run("quick", mine, store=store, **SMALL).to_frame()
    assert set(edited["value"]) == {-1.0}
    assert set(read(store).to_frame()["value"]) == {-1.0}
    assert te.rankeval.run("quick", first, store=store, **SMALL).to_frame()["value"].min() >= 0


def test_odd_guests(tmp_path):
    def nothing(y_true, y_score):
        return float("nan")

    def word(y_true, y_score):
        return "high"

    def vandal(y_true, y_score):
        y_score[:] = 0
        y_true[:] = 1
        return 1.0

    values = te.rankeval.run("quick", [vandal, nothing, word, "auc_roc"], **SMALL).to_frame()
    status = values.groupby("metric")["status"].unique().to_dict()
    assert {name: list(found) for name, found in status.items()} == {
        "vandal": ["ok"],
        "nothing": ["undefined"],
        "word": ["error"],
        "auc_roc": ["ok"],
    }
    clean = te.rankeval.run("quick", "auc_roc", **SMALL).to_frame()
    assert values[values["metric"] == "auc_roc"]["value"].tolist() == clean["value"].tolist()


@pytest.mark.slow
def test_suites_share_a_store_without_mixing(tmp_path):
    quick = te.rankeval.run("quick", "f1", store=tmp_path, **SMALL)
    te.rankeval.run("standard", "cce", store=tmp_path, repeats=1, **SMALL)
    assert set(read(tmp_path).to_frame()["metric"]) == {"cce"}
    pd.testing.assert_frame_equal(read(tmp_path, "quick").to_frame(), quick.to_frame())
    with pytest.raises(InvalidParameterError, match="has no run of paper"):
        read(tmp_path, "paper")


def test_a_store_of_another_version_says_so(tmp_path):
    te.rankeval.run("quick", ["cce"], store=tmp_path, cases=["10k-2seg-50L"], tasks=["AccQ"])
    (plan,) = (tmp_path / "plans").iterdir()
    record = json.loads(plan.read_text())
    del record["tasks"]
    plan.write_text(json.dumps(record))
    with pytest.raises(InvalidInputError, match="another version of tsadeval"):
        read(tmp_path)


def test_a_store_that_is_not_there_and_a_part_that_is_not_one(tmp_path):
    with pytest.raises(InvalidInputError, match="holds no results"):
        read(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    store = Store(tmp_path, LAYOUT)
    (tmp_path / "parts" / "x.parquet").write_text("no parquet")
    with pytest.raises(InvalidInputError, match=r"x.parquet is damaged, or not a part of a store"):
        store.missing([])


@pytest.mark.slow
def test_what_a_killed_writer_left_aside_does_not_hurt(tmp_path):
    te.rankeval.run("quick", "f1", store=tmp_path, **SMALL)
    fresh, old = tmp_path / "parts" / "fresh.aside", tmp_path / "parts" / "old.aside"
    for path in (fresh, old):
        path.write_bytes(b"PAR1 half a file")
    os.utime(old, (1, 1))
    assert len(te.rankeval.run("quick", ["f1", "recall"], store=tmp_path, **SMALL).to_frame()) == 2 * VALUES
    assert fresh.exists()  # somebody may be writing it now
    assert not old.exists()


SCRIPT = """
import os, sys, time
import tsadeval as te

def slow(y_true, y_score):
    time.sleep(float(os.environ.get("PAUSE", "0")))
    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()

if __name__ == "__main__":
    te.rankeval.run("quick", [slow, "f1"], store=sys.argv[1], n_jobs=2, tasks=["AccQ", "LowDisAccQ"])
"""
ALL = 2 * 6 * 2 * 3 * 10


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def rerun(script, store):
    """The script once more, in this process."""
    with pytest.MonkeyPatch.context() as patch, joblib.parallel_config(backend="sequential"):
        patch.setattr(sys, "argv", [str(script), str(store)])
        runpy.run_path(str(script), run_name="__main__")


def start(script, store):
    """The script in a process of its own, slow enough to be met at work."""
    options = {"start_new_session": True, "env": {**os.environ, "PAUSE": "0.005"}}
    return subprocess.Popen([sys.executable, script, store], stderr=subprocess.PIPE, text=True, **options)


def wait_for_parts(store, process, count):
    limit = time.monotonic() + 60
    while len(list(store.glob("parts/*.parquet"))) < count:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.slow
def test_kill_9_loses_only_what_was_in_flight(tmp_path, script):
    store = tmp_path / "store"
    process = start(script, store)
    wait_for_parts(store, process, 5)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    kept = {path: path.read_bytes() for path in parts(store)}
    torn = set(store.glob("*/*.aside"))  # a write may have been in flight; what it left is swept after an hour
    rows = len(read(store).to_frame())
    assert rows == sum(pq.read_metadata(path).num_rows for path in kept)
    assert 0 < rows < ALL
    rerun(script, store)
    assert {path: path.read_bytes() for path in kept} == kept
    assert sum(pq.read_metadata(path).num_rows for path in parts(store)) == ALL
    done = read(store).to_frame()
    assert len(done) == ALL
    assert set(done["status"]) == {"ok"}
    assert set(store.glob("*/*.aside")) <= torn


@pytest.mark.slow
def test_two_runs_into_one_store(tmp_path, script):
    store = tmp_path / "store"
    other = start(script, store)
    wait_for_parts(store, other, 1)
    rerun(script, store)
    _, errors = other.communicate(timeout=180)
    assert other.returncode == 0, errors
    values = read(store).to_frame()
    assert len(values) == ALL
    assert not values.duplicated(list(RankingCell._fields)).any()
    f1 = te.rankeval.run("quick", "f1", tasks=["AccQ", "LowDisAccQ"]).to_frame()
    assert values[values["metric"] == "f1"]["value"].tolist() == f1["value"].tolist()


@pytest.mark.slow
def test_a_parallel_backend_that_fails_ends_the_run_with_one_clear_error(tmp_path, monkeypatch):
    """As the scheduler of a cluster that dies; `faults/test_kills.py` kills a real one."""
    whole = run_module.mapped

    def dying(*arguments, **options):
        yield from list(whole(*arguments, **options))[:3]
        raise ConnectionError("no scheduler any more\nand a second line")

    monkeypatch.setattr(run_module, "mapped", dying)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        with pytest.raises(TsadevalError) as said:
            te.rankeval.run("quick", ["f1"], store=tmp_path, **SMALL)
        assert str(said.value) == (
            "the parallel backend failed (ConnectionError: no scheduler any more): all values so far are kept, and the "
            "same command again computes the rest"
        )
        assert len(read(tmp_path).to_frame()) == 30
        monkeypatch.undo()
        assert len(te.rankeval.run("quick", ["f1"], store=tmp_path, **SMALL).to_frame()) == VALUES


def test_cells_are_small_plain_data():
    cells = choose_suite("quick").bind(["f1", "cce"]).cells()
    assert len(set(cells)) == len(cells)
    assert all(isinstance(value, (str, int, float, type(None))) for cell in cells[:50] for value in cell)
