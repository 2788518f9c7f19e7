"""Files and one large series on a local Ray cluster, through its joblib backend: equal rows."""

import os
import pickle
import subprocess
import sys

import pytest

from clusters import values, write_files

SCRIPT = """
import pickle, sys
import joblib, ray
from ray.util.joblib import register_ray
sys.path.insert(0, sys.argv[1])
from clusters import values

if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 * 2**20)
    register_ray()
    with joblib.parallel_config(backend="ray", n_jobs=2):
        found = values(sys.argv[2] + "/*/*.parquet", sys.argv[2] + "/large.parquet", sys.argv[3])
    ray.shutdown()
    with open(sys.argv[4], "wb") as file:
        pickle.dump(found, file)
"""


def test_ray_gives_the_same_rows(tmp_path, request):
    pytest.importorskip("ray")
    folder, store, out, script = (tmp_path / name for name in ("data", "store", "out", "script.py"))
    write_files(folder)
    script.write_text(SCRIPT)
    tests = request.path.parent.parent
    # Ray's workers are otherwise so nice that on a busy machine they do not get anywhere.
    environment = {**os.environ, "RAY_worker_niceness": "0"}
    subprocess.run([sys.executable, script, tests, folder, store, out], check=True, timeout=600, env=environment)
    with out.open("rb") as file:
        rows, stream, compared = pickle.load(file)
    here_rows, here, here_compared = values(f"{folder}/*/*.parquet", folder / "large.parquet")
    assert rows.equals(here_rows)
    assert stream == pytest.approx(here, rel=1e-12)
    assert all(a.equals(b) for a, b in zip(compared, here_compared, strict=True))
    assert list(store.glob("parts/*.parquet"))
