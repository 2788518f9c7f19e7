"""Files and one large series on a Dask cluster of two worker processes: equal rows, in the same order."""

import subprocess
import sys

import pytest

from clusters import values, write_files
from test_engine_dask import cluster  # noqa: F401 - a fixture

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


def test_dask_gives_the_same_rows(tmp_path, cluster, request):  # noqa: F811
    import pickle

    at, _ = cluster
    folder = tmp_path / "data"
    write_files(folder)
    script, store, out = tmp_path / "script.py", tmp_path / "store", tmp_path / "out"
    script.write_text(SCRIPT)
    subprocess.run([sys.executable, script, request.path.parent, at, folder, store, out], check=True, timeout=240)
    with out.open("rb") as file:
        rows, stream, _ = pickle.load(file)
    here_rows, here, _ = values(f"{folder}/*/*.parquet", folder / "large.parquet")
    assert rows.equals(here_rows)
    assert stream == pytest.approx(here, rel=1e-12)
    assert list(store.glob("parts/*.parquet"))


def test_the_commands_take_the_address_of_a_scheduler(tmp_path, cluster):  # noqa: F811
    import json

    address = json.loads(cluster[0].read_text())["address"]
    folder = tmp_path / "data"
    write_files(folder, count=3)

    def output(*arguments):
        command = [sys.executable, "-m", "tsadeval", *map(str, arguments)]
        return subprocess.run(command, check=True, timeout=120, capture_output=True, text=True, cwd=tmp_path).stdout

    files = ("score", f"{folder}/*/*.parquet", "--metrics", "cce,f1")
    assert output(*files, "--dask", address) == output(*files, "--jobs", "2")
    stream = ("score", folder / "large.parquet", "--stream", "--metrics", "cce", "--format", "csv")
    assert output(*stream, "--dask", address).split(",")[:11] == output(*stream).split(",")[:11]
    ranked = ("rankeval", "run", "--suite", "quick", "--metrics", "f1", "--tasks", "AccQ")
    assert output(*ranked, "--store", "there", "--dask", address) == output(*ranked, "--store", "here")
