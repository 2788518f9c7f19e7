"""What may go wrong where parts of files are read at once: files that change, errors, odd sources, warnings."""

import os
import pickle
import threading
import traceback
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tsadeval as te
from tsadeval.errors import InvalidInputError
from tsadeval.streams import evaluate as streams
from tsadeval.tables.batches import Batches
from tsadeval.tables.columns import numbers


@pytest.fixture(autouse=True)
def four_cores_and_parts_of_any_size(monkeypatch):
    monkeypatch.setattr("tsadeval.core.parallel.cores", lambda: 4)
    monkeypatch.setattr(streams, "_LEAST", 1)


def write(path, seed=0, rows=1000, row_group_size=100, **columns):
    rng = np.random.default_rng(seed)
    label = rng.random(rows) < 0.3
    table = pa.table({"label": label, "score": rng.random(rows) + 0.3 * label, **columns})
    pq.write_table(table, path, row_group_size=row_group_size)
    return str(path)


def refusal(source):
    with pytest.raises(InvalidInputError) as caught:
        te.evaluate_stream(source, "cce")
    return caught.value


@pytest.fixture
def bad(tmp_path):
    label = np.zeros(100, int)
    label[70] = 2
    pq.write_table(pa.table({"label": label, "score": np.arange(100.0)}), tmp_path / "bad.parquet", row_group_size=10)
    return tmp_path / "bad.parquet"


def test_the_error_is_the_one_of_the_first_file_that_has_one(tmp_path, bad):
    damaged = tmp_path / "b.parquet"
    damaged.write_bytes(b"none")
    for second in (tmp_path / "missing.parquet", tmp_path / "missing.npy", damaged):
        assert "y_true must be 0 (normal) or 1" in str(refusal([bad, second]))


def test_what_is_no_series_is_named_as_without_threads(tmp_path):
    np.save(tmp_path / "number.npy", np.float64(3))
    (tmp_path / "folder.npy").mkdir()
    os.mkfifo(tmp_path / "pipe.npy")
    assert "it has shape ()" in str(refusal(tmp_path / "number.npy"))
    assert "is a folder, expected a file" in str(refusal(tmp_path / "folder.npy"))
    assert "is a named pipe, expected a file" in str(refusal(tmp_path / "pipe.npy"))  # to open it would wait for ever
    assert len(te.batches(tmp_path / "number.npy").parts()) == 1


def test_an_error_has_one_traceback(tmp_path):
    error = refusal(write(tmp_path / "a.parquet", series=["a"] * 640 + ["b"] * 360))
    assert "column 'series' has several values" in str(error)
    assert "".join(traceback.format_exception(error)).count("Traceback") == 1


def test_no_thread_is_left_once_an_error_is_known(tmp_path, monkeypatch):
    alive = []

    def iterate(batches, plain=Batches.__iter__):
        alive.extend(thread.name for thread in threading.enumerate() if thread.name.startswith("tsadeval"))
        return plain(batches)

    monkeypatch.setattr(Batches, "__iter__", iterate)
    refusal(write(tmp_path / "a.parquet", series=["a"] * 600 + ["b"] * 400))  # seen as two parts are joined
    assert alive == []


def during(monkeypatch, change):
    """Let something happen once, before the sixth part is read."""
    once = iter([change])

    def read(part, signs=None, plain=Batches.read):
        if part.span is not None and part.span[0] >= 5:
            next(once, int)()
        return plain(part, signs)

    monkeypatch.setattr(Batches, "read", read)


def test_points_are_of_one_version_of_a_file(tmp_path, monkeypatch):
    path, later = write(tmp_path / "a.parquet"), write(tmp_path / "b.parquet", seed=1)
    expected = te.evaluate_stream(later, "cce")["cce"]
    during(monkeypatch, lambda: os.replace(later, path))
    assert te.evaluate_stream(path, "cce")["cce"] == pytest.approx(expected, rel=1e-12)


def test_a_file_that_is_removed(tmp_path, monkeypatch):
    path = write(tmp_path / "a.parquet")
    during(monkeypatch, lambda: os.remove(path))
    assert str(refusal(path)) == f"{path}: no such file"


def test_an_error_of_memory_is_passed_on(tmp_path, monkeypatch):
    def change():
        raise MemoryError("no room")

    during(monkeypatch, change)
    with pytest.raises(MemoryError, match="no room"):
        te.evaluate_stream(write(tmp_path / "a.parquet"), "cce")


def test_the_footer_is_read_once_for_all_parts(tmp_path, monkeypatch):
    """It may be larger than a part: of a file of many columns and row groups."""
    given = []

    class Counted(pq.ParquetFile):
        def __init__(self, *arguments, metadata=None, **options):
            given.append(metadata is not None)
            super().__init__(*arguments, metadata=metadata, **options)

    monkeypatch.setattr(pq, "ParquetFile", Counted)
    te.evaluate_stream(write(tmp_path / "a.parquet"), "cce")
    assert given == [False] + [True] * 10


def test_parts_travel_without_the_footer(tmp_path):
    part = te.batches(write(tmp_path / "a.parquet", rows=5000, row_group_size=1)).parts()[3]
    assert part.footer.num_row_groups == 5000
    travelled = pickle.dumps(part)
    assert len(travelled) < 2000
    assert [len(labels) for labels, _ in pickle.loads(travelled)] == [1]


def test_small_files_are_one_part(tmp_path):
    source = te.batches(write(tmp_path / "a.parquet"))
    assert [len(source.parts(least=least)) for least in (1, 100, 101, 250, 999, 1000, 10**6)] == [10, 10, 5, 4, 1, 1, 1]


def test_many_files_are_not_opened_to_be_counted(tmp_path):
    source = te.batches([tmp_path / f"{i}.parquet" for i in range(20)])  # there are none
    assert len(source.parts(most=30)) == 20


def test_bytes_behind_the_values_of_an_arrow_array():
    values = np.arange(10.0)
    memory = pa.py_buffer(values.tobytes() + b"odd")
    for kind in ("<f8", "<f4", "<i2", "<u1"):
        n = len(values.tobytes()) // np.dtype(kind).itemsize
        column = pa.Array.from_buffers(pa.from_numpy_dtype(kind), n, [None, memory])
        for part in (column, column.slice(3, 5)):
            assert numbers(part, "", "").tolist() == part.to_pylist()


def test_texts_of_times_leave_the_filters_of_warnings_alone(monkeypatch):
    """These are of the whole process: threads that change them at once would leave an "error" behind."""
    changes = []

    class Noted(warnings.catch_warnings):
        def __enter__(self):
            changes.append(self)
            return super().__enter__()

    with monkeypatch.context() as patched:
        patched.setattr(warnings, "catch_warnings", Noted)
        found = te.times(["2026-01-31 13:05:00", "2026-01-31T13:06:00.5", "2026-02-01"])
    assert np.diff(found.stamps).tolist() == [60_500_000_000, 39_239_500_000_000]
    assert changes == []


@pytest.mark.parametrize("text", ["2026-02-31 00:00:00", "2026-01-01 25:00", "2026-01-01 00:60", "२०२६-01-01"])
def test_texts_that_are_no_times(text):
    with pytest.raises(InvalidInputError, match="row 0"):
        te.times([text])


@pytest.mark.parametrize("n_jobs", [None, 1, 3])
@pytest.mark.parametrize("rows", [2, 3, 100])
def test_times_that_repeat_at_the_border_of_batches_and_parts(tmp_path, n_jobs, rows):
    path = write(tmp_path / "a.parquet", rows=300, row_group_size=2, time=(np.arange(300) + 1) // 2)
    with pytest.raises(InvalidInputError, match="time stamps in column 'time' repeat or go back"):
        te.evaluate_stream(te.batches(path, rows=rows), "cce", n_jobs=n_jobs)


def test_csv_files_are_read_one_after_the_other(tmp_path, monkeypatch):
    """Eight readers of them have a gigabyte of blocks in memory, and each parses in threads of its own."""
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text("label,score\n0,0.1\n1,0.9\n")
    files = [tmp_path / f"{name}.csv" for name in "abc"]
    parts = []

    def apart(batches, most, least, plain=Batches.parts):
        parts.extend(plain(batches, most, least))
        return parts

    monkeypatch.setattr(Batches, "parts", apart)
    found = te.evaluate_stream(files, "cce")
    assert parts == []
    assert te.evaluate_stream(files, "cce", n_jobs=2).rows == found.rows
    assert len(parts) == 3
