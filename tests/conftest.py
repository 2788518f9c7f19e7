"""Settings of the whole test run."""

import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, settings

from detecting import write_series
from strategies import FACTOR

# Wide machines differ in speed, so no deadline; derandomised, so that a failure is the same everywhere. A thorough run
# looks at other examples each time.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=max(1, round(300 * FACTOR)),
    derandomize=FACTOR < 1,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")

# The scripts that made the golden numbers need the packages those came from; a user's script runs in a test of its own.
collect_ignore_glob = ["golden/make_*.py", "typing/*.py"]


@pytest.fixture(autouse=True)
def _width(monkeypatch):
    """Tables are as wide as they are without a terminal, whatever another test or the user's shell set."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def files(tmp_path):
    """Two series of the user's own; the first half of each is to learn from."""
    return [f"{write_series(tmp_path, name, seed)}(split=0.5)" for name, seed in [("a", 0), ("b", 1)]]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log"
    path.touch()
    return path


@pytest.fixture
def cluster(tmp_path):
    """A Dask cluster on this machine: its scheduler file and the two worker processes."""
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
