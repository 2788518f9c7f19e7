"""The same call on a Dask cluster: a scheduler and two worker processes over TCP, one of them killed in the middle."""

import os
import signal
import subprocess
import sys
import time

import pytest

import tsadeval as te
from tsadeval.rankeval import read
from tsadeval.rankeval.suites.paper import RankingCell

pytest.importorskip("distributed", reason="Dask is an extra of its own")

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

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
    assert not values.duplicated(list(RankingCell._fields)).any()
    here = te.rankeval.run("quick", "f1", tasks=["AccQ", "LowDisAccQ"]).to_frame()
    assert values[values["metric"] == "f1"]["value"].tolist() == here["value"].tolist()
