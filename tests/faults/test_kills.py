"""Processes that are killed: nothing is lost but what was in flight, nothing is left running, nothing changes."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import commands
from detecting import write_series
from strategies import FACTOR
from tsadeval.experiments.detect import read as read_detection
from tsadeval.rankeval import read

psutil = pytest.importorskip("psutil")

pytestmark = pytest.mark.slow
KILLS = max(1, round(3 * FACTOR)) if FACTOR <= 1 else max(10, round(3 * FACTOR))
MODULE = """
import os, re, signal, time

def slow(y_true, y_score):
    time.sleep(0.004)
    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()

def held(y_true, y_score):
    "Says which process it is, and waits as long as a file says so."
    open(f"held-{os.getpid()}", "w").close()
    while os.path.exists("hold"):
        time.sleep(0.01)
    return y_score[y_true == 1].mean() - y_score[y_true == 0].mean()

def busy(y_true, y_score):
    open(f"at-work-{os.getpid()}", "w").close()
    return slow(y_true, y_score)

def deaf(y_true, y_score):
    open(f"at-work-{os.getpid()}", "w").close()
    re.match("(a+)+$", "a" * 60 + "b")  # holds the interpreter lock for ever

class Slow:
    def fit(self, X):
        time.sleep(0.05)
        self.middle = X.mean(axis=0)
        return self

    def score(self, X):
        return abs(X - self.middle).sum(axis=1)

class Torn(Slow):
    "The process is killed while it writes the scores, as long as a file says so."

    def score(self, X):
        if os.path.exists("armed"):
            os.unlink("armed")
            write = os.fsync
            os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
        return super().score(X)
"""
# The main process is killed in the middle of its 5th write.
TORN = """
import os, signal, sys
count = 0
write = os.fsync
def torn(descriptor):
    global count
    count += 1
    if count == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    write(descriptor)
os.fsync = torn
sys.argv = ["tsadeval", *sys.argv[1:]]
from tsadeval.cli import main
main()
"""
TSADEVAL = [sys.executable, "-m", "tsadeval"]


def prepare(folder):
    (folder / "killing.py").write_text(MODULE)
    for i in range(4):
        write_series(folder, f"s{i}", i)
    return folder


@pytest.fixture
def folder(tmp_path):
    return prepare(tmp_path)


RANKEVAL = ["rankeval", "run", "--metrics", "f1,killing:slow", "--tasks", "AccQ,LowDisAccQ"]
RANKEVAL += ["--cases", "10k-2seg-50L,10k-20seg-50H"]
DETECT = ["detect", *(f"s{i}.csv" for i in range(4)), "--metrics", "cce,f1,killing:slow"]
DETECT += ["--detectors", "random,killing:Slow"]
COMMANDS = {"rankeval": [*RANKEVAL, "--jobs", "2"], "detect": [*DETECT, "--seed", "0", "--seed", "1", "--jobs", "2"]}


def values(command, store):
    """All that a store says, but for the clock, in one order."""
    result = read(store) if command == "rankeval" else read_detection(store)
    frame = result.to_frame().drop(columns=["seconds", "fit_seconds", "score_seconds"], errors="ignore")
    return frame.sort_values(list(frame.columns[:11])).reset_index(drop=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What each command gives that nobody kills, computed in one process: neither are workers to change a value."""
    found = {}

    def of(command):
        if command not in found:
            folder = prepare(tmp_path_factory.mktemp("undisturbed"))
            done = commands.run_here(*COMMANDS[command], "--store", "store", cwd=folder)
            assert done.returncode == 0, done.stderr
            found[command] = values(command, folder / "store")
        return found[command]

    return of


def start(arguments, folder, store, *, head=TSADEVAL):
    return subprocess.Popen(
        [*head, *arguments, "--store", str(store)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process, code=0):
    _, errors = process.communicate(timeout=240)
    assert process.returncode == code, errors
    return errors


def wait_for(condition, process, seconds=60):
    limit = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < limit
        time.sleep(0.01)


def parts(store):
    return sorted(store.glob("parts/*.parquet"))


def gone(processes, seconds=10):
    """Have all these processes ended?"""
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return not [p for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("command", ["rankeval", pytest.param("detect", marks=pytest.mark.long)])
def test_kills_at_random_moments_change_no_value(folder, command, undisturbed):
    rng = random.Random(command)
    store = folder / "killed"
    kept = []
    for number in range(KILLS):
        before = len(parts(store))
        process = start(COMMANDS[command], folder, store)
        if number % 2 == 0:  # soon after a value was stored: how long the imports take depends on the machine
            limit = time.monotonic() + 60
            while process.poll() is None and len(parts(store)) == before:
                assert time.monotonic() < limit
                time.sleep(0.01)
        moment = rng.uniform(0.0, 0.3) if number % 2 == 0 else rng.uniform(0.5, 4.0)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        process.kill()
        process.communicate()
        assert gone(family)
        kept.append(len(values(command, store)) if parts(store) else 0)
    finish(start(COMMANDS[command], folder, store))
    expected, found = undisturbed(command), values(command, store)
    assert len(expected)
    assert set(expected["status"]) == {"ok"}
    assert found.equals(expected)  # to the last bit
    assert 0 < kept[0] < len(expected)  # the first kill met it at work


@pytest.mark.parametrize("metric", [pytest.param("busy", marks=pytest.mark.long), "deaf"])
def test_kill_9_of_the_main_process_leaves_no_worker(folder, metric):
    arguments = ["rankeval", "run", "--metrics", f"killing:{metric}", "--tasks", "AccQ", "--jobs", "2"]
    process = start(arguments, folder, folder / "store")
    me = psutil.Process(process.pid)
    wait_for(lambda: len(list(folder.glob("at-work-*"))) == 2, process)
    family = me.children(recursive=True)
    assert len(family) >= 3  # two workers and who looks after them
    process.kill()
    process.communicate()
    assert gone(family)


@pytest.mark.parametrize("command", ["rankeval", pytest.param("detect", marks=pytest.mark.long)])
def test_sigterm_stops_as_ctrl_c_does(folder, command):
    store = folder / "store"
    process = start(COMMANDS[command], folder, store)
    wait_for(lambda: len(parts(store)) >= 2, process)
    family = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    errors = finish(process, 130)
    assert errors.startswith("tsadeval: stopped; ")
    assert errors.endswith("values are kept. The same command again computes the rest.\n")
    assert len(errors.splitlines()) == 1
    assert gone(family)
    # A worker that was ended in mid-write may leave its file aside, which nobody reads; the main process leaves none.
    assert not list((store / "parts").glob("*.aside"))


def test_a_main_process_that_is_killed_in_the_middle_of_a_write(folder):
    store = folder / "store"
    process = start(COMMANDS["rankeval"], folder, store, head=[sys.executable, "-c", TORN])
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    (torn,) = store.rglob("*.aside")
    kept = len(read(store).to_frame())
    assert kept > 0
    assert commands.run_here(*COMMANDS["rankeval"], "--store", store, cwd=folder).returncode == 0
    assert len(read(store).to_frame()) == 2 * 2 * 2 * 3 * 10
    assert torn.exists()  # it is swept once it is an hour old
    os.utime(torn, (1, 1))
    read(store)
    assert not torn.exists()


def test_a_worker_that_is_killed_in_the_middle_of_writing_scores(folder):
    (folder / "armed").touch()
    store = folder / "store"
    arguments = ["detect", "s0.csv", "s1.csv", "--metrics", "cce", "--detectors", "killing:Torn", "--store", store]
    code, _, errors = commands.run(*arguments, "--jobs", "1", cwd=folder)  # this process is not the one that is killed
    assert code == 1
    assert "Torn failed on s0.csv: WorkerError: the worker process was killed by SIGKILL" in errors
    assert len(list(store.rglob("*.npz"))) == 1
    assert commands.run_here(*arguments, cwd=folder).returncode == 0
    assert len(list(store.rglob("*.npz"))) == 2
    frame = read_detection(store).to_frame()
    assert set(frame["status"]) == {"ok"}
    assert len(frame) == 2


def test_a_worker_that_somebody_kills_costs_one_value(folder):
    store, hold = folder / "store", folder / "hold"
    hold.touch()
    command = [argument.replace("slow", "held") for argument in COMMANDS["rankeval"]]
    process = start(command, folder, store)
    wait_for(lambda: list(folder.glob("held-*")), process)
    os.kill(int(next(folder.glob("held-*")).name.partition("-")[2]), signal.SIGKILL)
    hold.unlink()
    errors = finish(process, 1)
    assert "failed on 1 series, first with WorkerError: the worker process was killed by SIGKILL" in errors
    assert commands.run_here(*command, "--store", store, cwd=folder).returncode == 0
    assert set(read(store).to_frame()["status"]) == {"ok"}


def test_two_processes_of_which_one_is_killed_share_a_store(folder, undisturbed):
    store = folder / "store"
    other = start([*COMMANDS["detect"][:-1], "1"], folder, store)

    def kill():
        wait_for(lambda: len(parts(store)) >= 5, other)
        other.kill()

    wait_for(lambda: parts(store), other)
    killer = threading.Thread(target=kill)
    killer.start()  # while this process, which goes on, is at work too
    done = commands.run_here(*COMMANDS["detect"], "--store", store, cwd=folder)
    killer.join()
    other.communicate()
    assert other.returncode == -signal.SIGKILL
    assert done.returncode == 0, done.stderr
    assert values("detect", store).equals(undisturbed("detect"))


CLUSTER = """
import sys
import joblib
import tsadeval as te
from distributed import Client
from killing import slow

if __name__ == "__main__":
    with Client(scheduler_file="scheduler.json", timeout=5) as client:
        client.wait_for_workers(2)
        with joblib.parallel_config(backend="dask"):
            te.rankeval.run("quick", ["f1", slow], store=sys.argv[2], tasks=["AccQ", "LowDisAccQ"])
"""


@pytest.mark.cluster
def test_a_scheduler_that_dies_ends_the_run_with_one_clear_error(folder):
    pytest.importorskip("distributed")
    (folder / "cluster.py").write_text(CLUSTER)
    options = ["--no-dashboard", "--scheduler-file", "scheduler.json"]
    quiet = {"cwd": folder, "stderr": subprocess.DEVNULL, "env": {**os.environ, "PYTHONPATH": _path(folder)}}
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny"]
    running = [subprocess.Popen([*scheduler, *options], **quiet)]
    try:
        wait_for((folder / "scheduler.json").exists, running[0])
        running += [subprocess.Popen([*worker, *options], **quiet) for _ in range(2)]
        driver = start([], folder, folder / "store", head=[sys.executable, "cluster.py"])
        wait_for(lambda: len(parts(folder / "store")) >= 3, driver)
        running[0].kill()
        _, errors = driver.communicate(timeout=120)
    finally:
        for process in running:
            process.kill()
            process.wait()
    assert driver.returncode != 0
    assert "TsadevalError: the parallel backend failed (" in errors
    assert "all values so far are kept, and the same command again computes the rest" in errors
    assert len(read(folder / "store").to_frame()) >= 3


def _path(folder):
    return os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])


@pytest.mark.parametrize("options", [[], ["--store", "store"]])
def test_sigterm_before_the_work_begins_has_the_same_exit_code(folder, options):
    early = "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\ndef metric(y, s):\n    return 1.0\n"
    (folder / "early.py").write_text(early)
    command = [sys.executable, "-m", "tsadeval", "score", "s0.csv", "--metrics", "early:metric", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert len(done.stderr.split()) < 30
    assert "Traceback" not in done.stderr
