"""Files and one large series on a Dask cluster of two worker processes: equal rows, in the same order."""

import json
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest

import commands
from clusters import values, write_files

distributed = pytest.importorskip("distributed", reason="Dask is an extra of its own")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def threads():
    """The address of a cluster whose scheduler and two workers are threads of this process, over TCP all the same."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "protocol": "tcp"}
    with distributed.LocalCluster(**options, dashboard_address=None) as running:
        yield running.scheduler_address


SCRIPT = """
import pickle, sys
import joblib
from distributed import Client
sys.path.insert(0, sys.argv[1])
from clusters import values

if __name__ == "__main__":
    with Client(scheduler_file=sys.argv[2]) as client:
        client.wait_for_workers(2)
        client.run(sys.path.insert, 0, sys.argv[1])
        with joblib.parallel_config(backend="dask"):
            found = values(sys.argv[3] + "/*/*.parquet", sys.argv[3] + "/large.parquet", sys.argv[4])
    with open(sys.argv[5], "wb") as file:
        pickle.dump(found, file)
"""


def same(found, folder):
    rows, stream, compared = found
    here_rows, here, here_compared = values(f"{folder}/*/*.parquet", folder / "large.parquet")
    assert rows.equals(here_rows)
    assert stream == pytest.approx(here, rel=1e-12)
    assert all(a.equals(b) for a, b in zip(compared, here_compared, strict=True))


def test_dask_gives_the_same_rows_in_threads(tmp_path, threads):
    folder, store = tmp_path / "data", tmp_path / "store"
    write_files(folder, count=4)
    with distributed.Client(threads), joblib.parallel_config(backend="dask"):
        found = values(f"{folder}/*/*.parquet", folder / "large.parquet", store)
    same(found, folder)
    assert list(store.glob("parts/*.parquet"))


@pytest.mark.cluster
def test_dask_gives_the_same_rows(tmp_path, cluster, request):
    at, _ = cluster
    folder = tmp_path / "data"
    write_files(folder)
    script, store, out = tmp_path / "script.py", tmp_path / "store", tmp_path / "out"
    script.write_text(SCRIPT)
    subprocess.run([sys.executable, script, request.path.parents[1], at, folder, store, out], check=True, timeout=240)
    with out.open("rb") as file:
        same(pickle.load(file), folder)
    assert list(store.glob("parts/*.parquet"))


def write_series(path, n=400):
    rng = np.random.default_rng(0)
    y = np.repeat(rng.random(n // 10) < 0.1, 10)
    y[:200] = False
    lines = [f"{value},{label}" for value, label in zip(rng.normal(size=n) + 3 * y, y.astype(int), strict=True)]
    path.write_text("\n".join(["value,label", *lines]))


def in_a_process(*command):
    done = subprocess.run(
        [sys.executable, "-m", "tsadeval", *map(str, command)], capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_the_commands_take_the_address_of_a_scheduler_in_threads(tmp_path, threads, monkeypatch):
    compare_commands(commands.run, threads, tmp_path, monkeypatch)


@pytest.mark.cluster
def test_the_commands_take_the_address_of_a_scheduler(tmp_path, cluster, monkeypatch):
    compare_commands(in_a_process, json.loads(cluster[0].read_text())["address"], tmp_path, monkeypatch)


def compare_commands(run, address, tmp_path, monkeypatch):
    """What the commands print that let a cluster work is what they print without one."""
    folder = tmp_path / "data"
    write_files(folder, count=3)

    monkeypatch.chdir(tmp_path)
    files = ("score", f"{folder}/*/*.parquet", "--metrics", "cce,f1", "--format", "csv")
    stream = ("score", folder / "large.parquet", "--stream", "--metrics", "cce", "--format", "csv")
    columns = ("--by", "file,folder", "--detector", "folder", "--metrics", "cce,f1")
    table = ("compare", folder / "pca", folder / "lof", *columns, "--format", "csv")
    ranked = ("rankeval", "run", "--suite", "quick", "--metrics", "f1", "--tasks", "AccQ")
    write_series(tmp_path / "mine.csv")
    trained = (
        "detect",
        tmp_path / "mine.csv",
        "--detectors",
        "moving_variance,pca",
        "--metrics",
        "cce",
        "--format",
        "csv",
    )
    for command, on_cluster, others in (
        (files, (), ("--jobs", 1)),
        (stream, (), ()),
        (table, (), ()),
        (ranked, ("--store", "a"), ("--store", "b")),
        (trained, ("--store", "c"), ("--store", "d")),
    ):
        code, found, errors = run(*command, *on_cluster, "--dask", address)
        assert code == 0, errors
        here = commands.run_here(*command, *others)
        assert here.returncode == 0, here.stderr
        assert found == here.stdout
