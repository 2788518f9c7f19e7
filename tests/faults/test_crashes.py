"""User code that crashes, hangs, exits or takes all memory costs its own cell, and nothing else."""

import pytest

import commands
import tsadeval as te
from crashing import ACTIONS, LAYOUT, Cell, Chunk, compute, compute_list
from detecting import Distance, write_series
from tsadeval.engine.run import Limits, complete, limits_of
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidParameterError

pytestmark = pytest.mark.slow

MESSAGES = {
    "segfault": "WorkerError: the worker process was killed by SIGSEGV",
    "kill": "WorkerError: the worker process was killed by SIGKILL",
    "os._exit(0)": "WorkerError: the worker process ended with exit code 0",
    "os._exit(3)": "WorkerError: the worker process ended with exit code 3",
    "abort": "WorkerError: the worker process was killed by SIGABRT",
    "orphan": "WorkerError: the worker process ended with exit code 4",
    "sys.exit": "SystemExit: 0",
    "raise": "Rude: no Exception",
    "interrupt": "KeyboardInterrupt: ",
    "sleep": "TimeoutError: no value after 0.8 s (cell_timeout)",
    "backtrack": "TimeoutError: no value after 0.8 s (cell_timeout)",
    "grow": "MemoryError",
}
LIMITED = {"sleep", "backtrack"}
# One of each way in which the work on a cell ends: death, an exception, a time limit, a pipe that stays open. What the
# others add is another message, which does not depend on whether the computation says what it is working on.
WAYS = {"segfault", "sys.exit", "sleep", "orphan"}


def cells(what, count=5):
    """Healthy cells with a bad one in their middle."""
    return [Cell(what if i == count // 2 else "fine", i) for i in range(count)]


def run(store, plan, work=compute, marked=True, size=5, **options):
    def chunks(missing):
        left = tuple(missing)
        return [Chunk(left[i : i + size], marked) for i in range(0, len(left), size)]

    complete(plan, chunks, work, store, **options)
    return store.frame(plan)


@pytest.mark.parametrize(
    ("what", "marked"),
    [
        *((what, True) for what in MESSAGES),
        *(pytest.param(what, False, marks=[] if what in WAYS else [pytest.mark.long]) for what in MESSAGES),
    ],
)
def test_a_crash_is_an_error_of_its_cell_and_the_run_goes_on(tmp_path, what, marked):
    store = Store(tmp_path, LAYOUT)
    told = []
    limits = Limits(0.8 if what in LIMITED else None, 200 << 20 if what == "grow" else None)
    plan = cells(what)
    frame = run(store, plan, marked=marked, n_jobs=1, limits=limits, progress=lambda *now: told.append(now))
    assert frame["status"].tolist() == ["ok", "ok", "error", "ok", "ok"]
    assert frame["value"].tolist()[3:] == [3.0, 4.0]
    assert frame["message"][2].startswith(MESSAGES[what])
    assert told[-1] == (5, 5)
    assert list(store.missing(plan)) == [0, 0, 1, 0, 0]  # and it is tried again


@pytest.mark.parametrize("what", ["segfault", "sys.exit"])
def test_a_computation_that_returns_all_rows_at_the_end_loses_one_too(tmp_path, what):
    frame = run(Store(tmp_path, LAYOUT), cells(what), compute_list, n_jobs=2)
    assert frame["status"].tolist() == ["ok", "ok", "error", "ok", "ok"]


def test_many_crashes_in_many_chunks(tmp_path):
    plan = [Cell("segfault" if i % 10 == 3 else "fine", i) for i in range(40)]
    frame = run(Store(tmp_path, LAYOUT), plan, n_jobs=2, size=4)
    assert (frame["status"] == "error").tolist() == [i % 10 == 3 for i in range(40)]


@pytest.mark.parametrize("what", ["sys.exit", "raise"])
@pytest.mark.parametrize("marked", [True, False])
def test_what_code_raises_in_this_process_is_an_error_too(what, marked):
    frame = run(Store(None, LAYOUT), cells(what), marked=marked)
    assert frame["status"].tolist() == ["ok", "ok", "error", "ok", "ok"]
    assert frame["message"][2] == MESSAGES[what]


def test_what_code_prints_or_changes_does_not_disturb_the_run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for n_jobs in (1, None):
        store = Store(f"store-{n_jobs}", LAYOUT)
        plan = [*cells("chdir"), *([Cell("noise", 9)] if n_jobs else [])]
        assert set(run(store, plan, n_jobs=n_jobs)["status"]) == {"ok"}
        monkeypatch.chdir(tmp_path)
        assert list((tmp_path / f"store-{n_jobs}" / "parts").iterdir())
    said = capfd.readouterr()
    assert said.out == ""
    assert "printed" in said.err


def test_a_hanging_cell_does_not_hold_up_other_workers(tmp_path):
    plan = [Cell("sleep", 0), *(Cell("fine", i) for i in range(1, 30))]
    frame = run(Store(tmp_path, LAYOUT), plan, size=1, n_jobs=2, limits=Limits(1.0))
    assert (frame["status"] == "error").tolist() == [True] + [False] * 29


def test_what_cannot_travel_to_a_worker_is_an_error_that_says_so(tmp_path):
    held = (i for i in range(3))

    def stuck(chunk, held=held):
        yield from compute(chunk)

    frame = run(Store(tmp_path, LAYOUT), cells("fine"), stuck, n_jobs=1)
    assert frame["message"].str.startswith("cannot be sent to a worker process, only run in this one").all()
    assert set(run(Store(tmp_path, LAYOUT), cells("fine"), stuck)["status"]) == {"ok"}


def test_no_process_is_left_behind(tmp_path):
    psutil = pytest.importorskip("psutil")
    before = set(psutil.Process().children(recursive=True))
    run(Store(tmp_path, LAYOUT), [*cells("segfault"), Cell("orphan", 7)], n_jobs=2)
    assert set(psutil.Process().children(recursive=True)) <= before


def test_limits_that_make_no_sense_are_refused():
    assert limits_of(1, "1.5k") == Limits(1.0, 1536)
    assert limits_of(None, 10) == Limits(None, 10)
    for seconds in (0, -1, "1", float("nan"), True):
        with pytest.raises(InvalidParameterError, match=r"cell_timeout \(--cell-timeout\) must be a number of seconds"):
            limits_of(seconds)
    for memory in (0, -5, "much", "2 XB", "", "9" * 400):
        with pytest.raises(InvalidParameterError, match=r"cell_memory \(--cell-memory\) must be a number of bytes"):
            limits_of(None, memory)


def test_limits_need_processes_of_this_machine():
    import joblib

    with (
        joblib.parallel_config(backend="threading", n_jobs=2),
        pytest.raises(InvalidParameterError, match="need local worker processes"),
    ):
        run(Store(None, LAYOUT), cells("fine"), limits=Limits(1.0))


@pytest.mark.parametrize("what", ["segfault", "sys.exit", "sleep", pytest.param("os._exit(3)", marks=pytest.mark.long)])
def test_metrics_beside_a_bad_one_keep_their_values(tmp_path, what):
    """Once as a metric of `detect`, once as a detector."""

    def bad(y_true, y_score):
        ACTIONS[what]()
        return 1.0

    class Bad:
        def fit(self, X):
            ACTIONS[what]()
            return self

        def score(self, X):
            return X[:, 0]

    path = write_series(tmp_path, "a", 0)
    limit = {"cell_timeout": 4.0} if what == "sleep" else {}  # within it a worker loads the data and what reads them
    jobs = 2 if what == "sleep" else 1  # both wait at once
    result = te.detect(path, {"good": Distance(), "bad": Bad()}, ["cce", bad, "auc_roc"], n_jobs=jobs, **limit)
    values = result.to_frame()
    healthy = values[values["detector"].str.startswith("Distance") & (values["metric"] != "bad")]
    assert healthy["status"].tolist() == ["ok", "ok"]
    assert set(values.drop(healthy.index)["status"]) == {"error"}
    failed = values.drop(healthy.index)
    assert failed["message"][failed["metric"] != "bad"].str.startswith(MESSAGES[what].replace("0.8 s", "4 s")).all()
    of_metric = "InvalidParameterError: metric bad called sys.exit(0)" if what == "sys.exit" else MESSAGES[what]
    of_good = failed["metric"].eq("bad") & failed["detector"].str.startswith("Distance")
    assert failed["message"][of_good].str.startswith(of_metric.replace("0.8 s", "4 s")).all()


def test_sys_exit_in_a_metric_is_an_error_of_the_command(tmp_path):
    (tmp_path / "leaving.py").write_text("import sys\ndef metric(y_true, y_score):\n    sys.exit(0)\n")
    command = ["rankeval", "run", "--metrics", "cce,leaving:metric", "--tasks", "AccQ", "--cases", "10k-20seg-50H"]
    done = commands.run(*command, "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 1
    assert "cce" in done.stdout
    assert (
        "leaving:metric failed on 30 series, first with InvalidParameterError: metric leaving:metric called sys.exit(0)"
        in done.stderr
    )
