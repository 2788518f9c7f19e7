"""Files and one large series on a Dask cluster of two worker processes: equal rows, in the same order."""

import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from clusters import values, write_files
from tsadeval.cli.app import app

pytest.importorskip("distributed", reason="Dask is an extra of its own")

pytestmark = pytest.mark.slow

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


def test_dask_gives_the_same_rows(tmp_path, cluster, request):
    import pickle

    at, _ = cluster
    folder = tmp_path / "data"
    write_files(folder)
    script, store, out = tmp_path / "script.py", tmp_path / "store", tmp_path / "out"
    script.write_text(SCRIPT)
    subprocess.run([sys.executable, script, request.path.parent, at, folder, store, out], check=True, timeout=240)
    with out.open("rb") as file:
        rows, stream, compared = pickle.load(file)
    here_rows, here, here_compared = values(f"{folder}/*/*.parquet", folder / "large.parquet")
    assert rows.equals(here_rows)
    assert stream == pytest.approx(here, rel=1e-12)
    assert all(a.equals(b) for a, b in zip(compared, here_compared, strict=True))
    assert list(store.glob("parts/*.parquet"))


def write_series(path, n=400):
    rng = np.random.default_rng(0)
    y = np.repeat(rng.random(n // 10) < 0.1, 10)
    y[:200] = False
    lines = [f"{value},{label}" for value, label in zip(rng.normal(size=n) + 3 * y, y.astype(int), strict=True)]
    path.write_text("\n".join(["value,label", *lines]))


def test_the_commands_take_the_address_of_a_scheduler(tmp_path, cluster, monkeypatch):
    import json

    address = json.loads(cluster[0].read_text())["address"]
    folder = tmp_path / "data"
    write_files(folder, count=3)

    monkeypatch.chdir(tmp_path)
    files = ("score", f"{folder}/*/*.parquet", "--metrics", "cce,f1")
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
        remote = [sys.executable, "-m", "tsadeval", *command, *on_cluster, "--dask", address]
        found = subprocess.run([*map(str, remote)], check=True, timeout=300, capture_output=True, text=True).stdout
        done = CliRunner().invoke(app, [*map(str, (*command, *others))])
        assert done.exit_code == 0, done.output
        assert found == done.stdout
