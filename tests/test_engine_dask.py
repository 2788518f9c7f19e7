"""The same call on a Dask cluster: a scheduler and two worker processes over TCP, one of them killed in the middle."""

import os
import signal
import subprocess
import sys
import time

import pytest

import tsadeval as te
from tsadeval.rankeval import read
from tsadeval.rankeval.plan import Cell

pytest.importorskip("distributed", reason="Dask is an extra of its own")

pytestmark = pytest.mark.slow

SCRIPT = """
import sys, time
import joblib
import tsadeval as te
from distributed import Client

def slow(y_true, y_score):
    time.sleep(0.01)
    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()

if __name__ == "__main__":
    with Client(scheduler_file=sys.argv[1]) as client:
        client.wait_for_workers(2)
        with joblib.parallel_config(backend="dask"):
            te.rankeval.run("quick", ["f1", slow], store=sys.argv[2], tasks=["AccQ", "LowDisAccQ"])
"""
ALL = 2 * 6 * 2 * 3 * 10


@pytest.fixture
def cluster(tmp_path):
    """A scheduler file and the two worker processes."""
    at = tmp_path / "scheduler.json"
    options = ["--no-dashboard", "--scheduler-file", str(at)]
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1", *options]
    running = [subprocess.Popen(command, stderr=subprocess.DEVNULL)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", *options]
    limit = time.monotonic() + 60
    while not at.exists():
        assert time.monotonic() < limit
        time.sleep(0.05)
    running += [
        subprocess.Popen([*worker, "--local-directory", str(tmp_path)], stderr=subprocess.DEVNULL) for _ in range(2)
    ]
    yield at, running[1:]
    for process in running:
        process.kill()
        process.wait()


def test_a_killed_worker_loses_nothing(tmp_path, cluster):
    at, workers = cluster
    store, script = tmp_path / "store", tmp_path / "script.py"
    script.write_text(SCRIPT)
    driver = subprocess.Popen([sys.executable, script, at, store], stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while len(list(store.glob("parts/*.parquet"))) < 4:
        assert driver.poll() is None, driver.stderr.read()
        assert time.monotonic() < limit
        time.sleep(0.01)
    os.kill(workers[0].pid, signal.SIGKILL)
    _, errors = driver.communicate(timeout=120)
    assert driver.returncode == 0, errors
    assert workers[1].poll() is None
    values = read(store).to_frame()
    assert len(values) == ALL
    assert set(values["status"]) == {"ok"}
    assert not values.duplicated(list(Cell._fields)).any()
    here = te.rankeval.run("quick", "f1", tasks=["AccQ", "LowDisAccQ"]).to_frame()
    assert values[values["metric"] == "f1"]["value"].tolist() == here["value"].tolist()
