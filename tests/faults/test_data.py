"""Data and stores that change, vanish, fill the disk or cannot be written."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import commands
import tsadeval as te
from detecting import Distance, write_series
from tsadeval.errors import StoreError
from tsadeval.experiments.detect import read as read_detection
from tsadeval.rankeval import read

pytestmark = pytest.mark.slow

SMALL = {"cases": ["10k-2seg-50L", "10k-20seg-50H"], "tasks": ["AccQ", "LowDisAccQ"]}


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_a_file_that_changes_between_planning_and_computing_is_an_error(tmp_path, n_jobs):
    first, second = write_series(tmp_path, "a", 0), write_series(tmp_path, "b", 1)

    class Slow(Distance):
        """Changes the file of the second data set while it works on the first."""

        def __init__(self, path):
            super().__init__()
            self.path = str(path)

        def fit(self, X):
            write_series(Path(self.path).parent, "b", 99)
            return super().fit(X)

    planned = te.datasets.load(second)
    result = te.detect([first, second], Slow(second), "auc_roc", store=tmp_path / "store", n_jobs=n_jobs)
    if n_jobs is None:  # this process has kept what it planned with
        truth = te.metrics.auc_roc(planned.test_labels, Distance().fit(planned.train).score(planned.test))
        assert result.to_frame().set_index("series")["value"][str(second)] == truth
        return
    (line,) = result.failures()
    assert f"failed on {second}: InvalidInputError: {second} has changed since the run began" in line
    again = te.detect([first, second], Slow(second), "auc_roc", store=tmp_path / "store", n_jobs=n_jobs)
    assert not again.failures()
    data = te.datasets.load(second)
    truth = te.metrics.auc_roc(data.test_labels, Distance().fit(data.train).score(data.test))
    assert again.to_frame().set_index("series")["value"][str(second)] == truth


def test_arrays_that_were_changed_after_loading_are_other_data(tmp_path):
    data = te.datasets.load(write_series(tmp_path, "a", 0))
    store = tmp_path / "store"
    before = te.detect(data, Distance(), "auc_roc", store=store).to_frame()
    data.test[:] = -data.test
    data.test[data.test_labels] = 0
    (line,) = te.detect(data, Distance(), "auc_roc", store=store).failures()
    assert "holds scores of other data" in line
    after = te.detect(data, Distance(), "auc_roc").to_frame()
    assert after["checksum"][0] != before["checksum"][0]
    assert after["value"][0] < before["value"][0]
    flipped = te.detect(replace(data, test_labels=~data.test_labels), Distance(), "auc_roc").to_frame()
    assert flipped["checksum"][0] != after["checksum"][0]
    assert flipped["value"][0] == pytest.approx(1 - after["value"][0])


def parts(folder):
    return sorted((folder / "parts").glob("*.parquet"))


def rankeval(*arguments, cwd):
    return commands.run_here("rankeval", *arguments, cwd=cwd)


RUN = ["run", "--metrics", "cce", "--cases", "10k-20seg-50H", "--tasks", "AccQ", "--jobs", "1", "--store", "store"]
DAMAGES = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "foreign": lambda content: b"a,b\n1,2\n",
    "bit": lambda content: content.replace(b"10k-20seg", b"10k-21seg", 1),  # in the values of a column
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with a store of three parts, which worker processes computed."""
    folder = tmp_path_factory.mktemp("whole")
    assert commands.run("rankeval", *RUN, cwd=folder).returncode == 0
    return folder


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_one_line_and_nothing_is_overwritten(whole, tmp_path, damage):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    expected = rankeval("table", "store", cwd=tmp_path).stdout
    part = parts(tmp_path / "store")[1]
    part.write_bytes(DAMAGES[damage](part.read_bytes()))
    before = {path: path.read_bytes() for path in parts(tmp_path / "store")}
    for command in (RUN, ["table", "store"]):
        done = rankeval(*command, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"tsadeval: {part} is damaged, or not a part of a store of `tsadeval rankeval run` (")
        assert line.endswith("; move it away and run the same command again, which computes what it held")
    assert {path: path.read_bytes() for path in before} == before
    part.unlink()
    assert rankeval(*RUN, cwd=tmp_path).returncode == 0
    assert rankeval("table", "store", cwd=tmp_path).stdout == expected


def test_parts_that_are_deleted_while_a_run_is_at_work_are_only_missing(tmp_path):
    def delete(done, total):
        for path in parts(tmp_path)[:1]:
            path.unlink()

    te.rankeval.run("quick", "cce", store=tmp_path, progress=delete, **SMALL)
    assert 0 <= len(read(tmp_path).to_frame()) < 120
    assert len(te.rankeval.run("quick", "cce", store=tmp_path, **SMALL).to_frame()) == 120


@pytest.fixture
def mount(tmp_path):
    """Mount something on a folder for the time of a test; only a privileged user can."""
    where = tmp_path / "mounted"
    where.mkdir()
    mounted = []

    def do(*options):
        done = subprocess.run(["mount", *options, str(where)], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"this user may not mount a file system: {done.stderr.strip()}")
        mounted.append(where)
        return where

    if not sys.platform.startswith("linux"):
        pytest.skip("needs mount of Linux")
    yield do
    for path in reversed(mounted):
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def test_a_full_disk_ends_the_run_with_what_it_has_and_loses_nothing(tmp_path, mount):
    disk = mount("-t", "tmpfs", "-o", "size=80k", "tmpfs")
    store = disk / "store"
    with pytest.raises(StoreError, match=r"cannot be written \(No space left on device\): all values so far are kept"):
        te.rankeval.run("quick", "cce", store=store, **SMALL)
    kept = len(read(store).to_frame())
    assert 0 < kept < 120
    assert not list(store.rglob("*.aside"))
    done = rankeval("run", "--metrics", "f1", "--jobs", "1", "--store", str(store), cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "No space left on device" in line
    subprocess.run(["mount", "-o", "remount,size=10m", str(disk)], check=True)
    again = te.rankeval.run("quick", "cce", store=store, **SMALL).to_frame()
    assert len(again) == 120
    plain = te.rankeval.run("quick", "cce", **SMALL).to_frame()
    assert again["value"].tolist() == plain["value"].tolist()


def test_a_store_that_cannot_be_written_can_be_read(tmp_path, mount):
    source = tmp_path / "source"
    te.rankeval.run("quick", "cce", store=source, **SMALL)
    folder = mount("--bind", str(source))
    subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
    assert len(read(folder).to_frame()) == 120
    with pytest.raises(StoreError, match=r"cannot be written \(Read-only file system\)"):
        te.rankeval.run("quick", "f1", store=folder, **SMALL)


def test_a_disk_that_fills_up_with_scores_leaves_nothing_half_written(tmp_path, mount):
    disk = mount("-t", "tmpfs", "-o", "size=100k", "tmpfs")
    paths = [write_series(tmp_path, f"s{i}", i, n=12_000) for i in range(3)]
    with pytest.raises(StoreError, match="No space left on device"):
        te.detect(paths, Distance(), "cce", store=disk / "store")
    assert not list(disk.rglob("*.aside"))
    subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
    assert not te.detect(paths, Distance(), "cce", store=disk / "store").failures()
    assert len(read_detection(disk / "store").to_frame()) == 3


@pytest.mark.skipif(os.name == "nt", reason="needs os.chdir of user code in this process")
def test_a_detector_that_changes_the_current_folder(tmp_path, monkeypatch):
    class Moves(Distance):
        def score(self, X):
            os.chdir("/")
            return super().score(X)

    monkeypatch.chdir(tmp_path)
    for i in range(2):
        write_series(tmp_path, f"s{i}", i)
    paths = [tmp_path / "s0.csv", tmp_path / "s1.csv"]
    assert not te.detect(paths, Moves(), "cce", store="store").failures()
    assert len(list((tmp_path / "store").rglob("*.npz"))) == 2
    assert list((tmp_path / "store" / "parts").iterdir())
