"""Checksums that a store remembers: no edit of a file is missed, and files at rest are not read again."""

import os
import time

import numpy as np
import pytest

import tsadeval as te
from detecting import Distance, write_series
from tsadeval.experiments import specs
from tsadeval.scores import tabular
from tsadeval.tables import files
from tsadeval.tables.files import Checksums, same_state

AGO = 10**11  # nanoseconds


@pytest.fixture
def clock(monkeypatch):
    """The clock that decides whether a file is at rest, far ahead of that of the file system."""
    now = [time.time_ns() + AGO]
    monkeypatch.setattr(files.time, "time_ns", lambda: now[0])
    return now


@pytest.fixture
def reads(monkeypatch):
    """Every data set that is loaded."""
    found = []
    load = te.datasets.load
    monkeypatch.setattr(specs, "load", lambda path, **options: found.append(path) or load(path, **options))
    return found


def times(path, mtime):
    """Set the time of modification; the system sets the other one."""
    os.utime(path, ns=(mtime, mtime))


def taken(path, folder, content):
    """Has the checksum to be taken again?"""
    calls = []
    known = Checksums(folder)
    known.of("key", [path], lambda: calls.append(1) or content)
    known.save()
    return bool(calls)


def test_a_file_at_rest_is_read_once_and_every_edit_is_seen(tmp_path, clock):
    file = tmp_path / "a.csv"
    file.write_text("1234")
    assert [taken(file, tmp_path, "a") for _ in range(3)] == [True, False, False]
    before = file.stat()
    file.write_text("4321")
    assert taken(file, tmp_path, "b")
    assert not taken(file, tmp_path, "b")
    times(file, before.st_mtime_ns - 7)  # same size, a time of modification that is older
    assert taken(file, tmp_path, "c")
    times(file, before.st_mtime_ns)
    assert not (taken(file, tmp_path, "d") and taken(file, tmp_path, "d"))
    file.write_text("5678")
    times(file, before.st_mtime_ns)  # as `cp --preserve` leaves it: only the time of change tells
    assert taken(file, tmp_path, "e")
    other = tmp_path / "b.csv"
    other.write_text("5678")
    os.replace(other, file)
    times(file, before.st_mtime_ns)
    assert taken(file, tmp_path, "f")


def test_an_edit_within_one_step_of_the_clock_is_seen(tmp_path, monkeypatch):
    """The stamp stays as it is to the last digit: such a file is read until it has been at rest for a while."""
    file = tmp_path / "a.csv"
    file.write_text("1234")
    stamp = files._stamp(file)
    monkeypatch.setattr(files, "_stamp", lambda path: stamp)
    now = [stamp.changed + 1]
    monkeypatch.setattr(files.time, "time_ns", lambda: now[0])

    def read():
        known = Checksums(tmp_path)
        found = known.of("key", [file], file.read_text), known.state(file)
        known.save()
        return found

    first = read()
    assert first[0] == "1234"
    file.write_text("4321")
    second = read()
    assert second[0] == "4321"
    assert second[1] != first[1]
    assert not same_state(file, first[1])
    now[0] = stamp.changed + files._STEP
    assert read() == second  # read once more, at rest
    file.write_text("9999")  # by now the file system would show another time
    assert read() == second
    assert Checksums(None).state(file) == stamp.state
    now[0] = stamp.changed - 10**9  # a clock behind that of the file system: nothing is sure
    monkeypatch.setattr(files, "_stamp", lambda path: stamp._replace(inode=1))
    assert read()[0] == "9999"
    file.write_text("8888")
    assert read()[0] == "8888"


def test_a_damaged_record_is_no_record(tmp_path, clock):
    file = tmp_path / "a.csv"
    file.write_text("1234")
    assert taken(file, tmp_path, "a" * 64)
    record = tmp_path / "checksums"
    content, whole = record.read_bytes(), Checksums(tmp_path)._known
    lost = 0
    for place in range(0, len(content), 5):
        record.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        found = Checksums(tmp_path)._known
        lost += found == {}
        assert found in ({}, whole), place
    assert lost > 20
    for damaged in (b"", b"PAR1", content[:-9]):
        record.write_bytes(damaged)
        assert taken(file, tmp_path, "a" * 64)
        assert not taken(file, tmp_path, "a" * 64)


def test_detect_reads_only_what_changed(tmp_path, clock, reads):
    files = [write_series(tmp_path, f"s{i}", i) for i in range(3)]
    options = {"metrics": "auc_roc", "store": tmp_path / "store"}
    first = te.detect(files, Distance(), **options).to_frame()
    assert reads == list(map(str, files))
    reads.clear()
    again = te.detect(files, Distance(), **options)
    assert reads == []
    assert again.to_frame().equals(first)
    more = te.detect(files, Distance(), metrics=["auc_roc", "cce"], store=tmp_path / "store").to_frame()
    assert reads == list(map(str, files))  # for the labels, which cached scores must have
    assert more[more["metric"] == "auc_roc"]["value"].tolist() == first["value"].tolist()
    reads.clear()
    head, _, rows = files[1].read_text().partition("\n")
    size = files[1].stat().st_size
    files[1].write_text(f"{head}\n{rows.translate(str.maketrans('34', '43'))}")
    assert files[1].stat().st_size == size
    changed = te.detect(files, Distance(), **options)
    assert set(reads) == {str(files[1])}
    assert changed.failures()  # the scores in the store are of other data
    assert len(list((tmp_path / "store" / "plans").iterdir())) == 3  # the second call was the first one again


def test_one_data_set_that_cannot_be_read_does_not_stop_the_others(tmp_path):
    files = [write_series(tmp_path, f"s{i}", i) for i in range(3)]
    good = te.detect(files, Distance(), "auc_roc").to_frame()["value"].tolist()
    content = files[1].read_text()
    files[1].write_text("label,value\n0,x\n")
    found = te.detect(files, Distance(), "auc_roc", store=tmp_path / "store")
    (line,) = found.failures()
    assert line.startswith(f"Distance failed on {files[1]}: InvalidInputError: {files[1]}: ")
    assert found.to_frame()["value"].tolist()[::2] == good[::2]
    files[1].write_text(content)
    again = te.detect(files, Distance(), "auc_roc", store=tmp_path / "store")
    assert not again.failures()
    assert again.to_frame()["value"].tolist() == good
    files[1].write_text("label,value\n0,x\n")
    with pytest.raises(te.errors.InvalidInputError, match=r"s1\.csv: "):
        te.detect(files[1], Distance(), "auc_roc")


def scored(path, seed):
    rng = np.random.default_rng(seed)
    rows = zip(rng.random(40) < 0.3, rng.random(40), strict=True)
    path.write_text("label,score\n" + "".join(f"{int(y)},{s:.4f}\n" for y, s in rows))


def test_score_sees_edits_that_keep_size_and_time(tmp_path, monkeypatch):
    file = tmp_path / "a.csv"
    scored(file, 0)
    before = file.stat()
    value = [te.score_files(file, "auc_roc", store=tmp_path / "store").rows[0]["value"]]
    scored(file, 1)
    times(file, before.st_mtime_ns)
    assert file.stat().st_size == before.st_size
    value.append(te.score_files(file, "auc_roc", store=tmp_path / "store").rows[0]["value"])
    assert value == [te.score_files(file, "auc_roc").rows[0]["value"] if i else value[0] for i in range(2)]
    assert value[0] != value[1]


@pytest.mark.parametrize("rest", [0, AGO])
def test_score_keeps_no_value_of_a_file_that_changed_while_it_was_on(tmp_path, clock, rest):
    clock[0] += rest - AGO
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for seed, file in enumerate(files):
        scored(file, seed)

    def change(done, total):
        if done == 0:
            scored(files[1], 99)

    found = te.score_files(tmp_path, "auc_roc", store=tmp_path / "store", progress=change)
    (line,) = found.failures()
    assert line.startswith(f"{files[1]}: it has changed since the run began")
    again = te.score_files(tmp_path, "auc_roc", store=tmp_path / "store")
    assert not again.failures()
    assert [row["value"] for row in again.rows] == [row["value"] for row in te.score_files(files, "auc_roc").rows]


def test_names_of_series_are_read_once(tmp_path, clock, monkeypatch):
    file = tmp_path / "long.csv"
    rows = "".join(f"{name},{i % 3 == 0:d},{i / 7:.3f}\n" for name in "ab" for i in range(9))
    file.write_text(f"series,label,score\n{rows}")
    read, calls = tabular.read_table, []
    monkeypatch.setattr(tabular, "read_table", lambda *a, **k: calls.append(a) or read(*a, **k))
    options = {"by": "series", "store": tmp_path / "store"}
    first = te.score_files(file, "auc_roc", **options)
    assert len(calls) == 2  # the names, then the values
    calls.clear()
    assert te.score_files(file, "auc_roc", **options).to_frame().equals(first.to_frame())
    assert calls == []
    file.write_text(f"series,label,score\n{rows}c,0,1\nc,1,2\n")
    assert len(te.score_files(file, "auc_roc", **options).rows) == 3
