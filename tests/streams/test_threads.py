"""Parts of a file that threads read at once: the same digits, the same words, and an end as soon as nobody waits."""

import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tsadeval as te
from tsadeval.core.parallel import in_order
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.streams import evaluate as streams
from tsadeval.streams.stream import Stream
from tsadeval.tables.batches import Batches
from tsadeval.tables.columns import numbers

METRICS = ["cce", "f1", "event_f1", "affiliation_f1"]


@pytest.fixture(autouse=True)
def parts_of_any_size(monkeypatch):
    monkeypatch.setattr(streams, "_LEAST", 1)


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(3)
    label = np.repeat(rng.random(400) < 0.1, 50)
    columns = {"label": label, "score": (rng.random(20_000) + 0.3 * label).astype(np.float32)}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=300)
    return tmp_path / "a.parquet"


@pytest.mark.slow
def test_digits_do_not_depend_on_the_number_of_threads(path, monkeypatch):
    expected = te.evaluate_stream(path, METRICS, threshold=0.9).rows
    for cores in (1, 3, 16):
        monkeypatch.setattr("tsadeval.core.parallel.cores", lambda cores=cores: cores)
        for n_jobs in (None, -1, 1, 2, 5):
            assert te.evaluate_stream(path, METRICS, threshold=0.9, n_jobs=n_jobs).rows == expected


def used(path, monkeypatch, *arguments, **options):
    """The names of the threads that read parts."""
    seen = set()

    def read(part, signs=None, plain=Batches.read):
        seen.add(threading.current_thread().name.rpartition("_")[0])
        return plain(part, signs)

    monkeypatch.setattr(Batches, "read", read)
    monkeypatch.setattr("tsadeval.core.parallel.cores", lambda: 4)
    te.evaluate_stream(path, *arguments, **options)
    return seen


@pytest.mark.parametrize(
    ("metrics", "options", "threads"),
    [
        ("cce", {}, True),
        (METRICS, {"threshold": 0.9}, True),
        ("auc_roc", {}, False),  # each part would sort scores on disk, or have 64 MB of bins
        (["cce", "vus_pr"], {"order": "bins"}, False),
        ("auc_roc", {"n_jobs": 2}, True),
    ],
)
def test_threads_are_used_where_states_are_small(path, monkeypatch, metrics, options, threads):
    assert ("tsadeval" in used(path, monkeypatch, metrics, **options)) == threads


def test_a_series_for_each_name_is_one_pass(tmp_path, monkeypatch):
    columns = {"label": [0, 0, 1, 1] * 2, "score": np.arange(8) / 8, "series": ["a", "b"] * 4}
    pq.write_table(pa.table(columns), tmp_path / "b.parquet", row_group_size=2)
    assert "tsadeval" not in used(tmp_path / "b.parquet", monkeypatch, "cce", by="series")


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_what_is_wrong_is_counted_from_the_first_point(tmp_path, n_jobs):
    score = np.arange(1000) / 1000
    score[777] = np.nan
    pq.write_table(pa.table({"label": np.arange(1000) % 2, "score": score}), tmp_path / "c.parquet", row_group_size=10)
    source = te.batches(tmp_path / "c.parquet", rows=10)
    with pytest.raises(InvalidInputError, match=r"the batch that begins at point 770: .* NaN at position 7"):
        te.evaluate_stream(source, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [0, True, 2.0, "2"])
def test_a_number_of_threads_that_is_none(path, n_jobs):
    with pytest.raises(InvalidParameterError, match="n_jobs must be an integer other than 0"):
        te.evaluate_stream(path, n_jobs=n_jobs)


def test_parts_are_left_once_nobody_waits_for_them():
    left, ended = threading.Event(), []

    def work(item):
        if item == 0:
            raise InvalidInputError("the first one")
        ended.append(left.wait(60))

    with pytest.raises(InvalidInputError, match="the first one"):
        list(in_order(work, range(3), 2, left))
    assert ended
    assert all(ended)


def test_a_part_ends_at_the_next_batch(path):
    left = threading.Event()
    left.set()
    found, _ = streams._read_part(partial(Stream, "cce"), te.batches(path), left)
    assert found == {}


@pytest.mark.slow
def test_reading_numbers_imports_no_pandas(path):
    """It takes longer to import than most files take to judge."""
    code = f"import sys, tsadeval as te; te.evaluate_stream({str(path)!r}); print('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize("kind", ["bool", "int8", "uint64", "float16", "float32", "float64"])
def test_arrow_numbers_are_read_where_they_lie(kind):
    values = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1], np.float64).astype(kind)
    for first in range(len(values)):
        for n in (0, 1, 7, 8, 9, 19):
            part = pa.array(values).slice(first, n)
            for column in (part, pa.chunked_array([part]), pa.chunked_array([part, part])):
                found = numbers(column, "", "")
                expected = np.tile(values[first : first + n], getattr(column, "num_chunks", 1))
                assert found.dtype == values.dtype
                assert found.tolist() == expected.tolist()
