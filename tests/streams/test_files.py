"""Metrics of files that are read in batches: every format gives the value of the whole, and what is wrong is said."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import tsadeval as te
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.streams.stream import Stream


def table(n=5000, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.random(n // 20) < 0.1, 20)
    s = (rng.random(n) + 0.4 * y).astype(np.float32)
    return y, s


WANTED = ["cce", "f1", "f1_pa", "range_f1", "affiliation_f1", "auc_roc"]


def writers(folder):
    y, s = table()
    arrow = pa.table({"extra": np.arange(len(y)), "label": y, "score": s})
    pq.write_table(arrow, folder / "a.parquet", row_group_size=700)
    pyarrow.feather.write_feather(arrow, folder / "a.feather", chunksize=900)
    with pa.ipc.new_stream(folder / "b.arrow", arrow.schema) as sink:
        sink.write_table(arrow, max_chunksize=800)
    pyarrow.csv.write_csv(arrow, folder / "a.csv")
    record = np.empty(len(y), [("label", "?"), ("score", "<f4")])
    record["label"], record["score"] = y, s
    np.save(folder / "a.npy", record)
    np.save(folder / "two.npy", np.column_stack([y, s]))
    return y, s


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return folder, *writers(folder)


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "b.arrow", "a.csv", "a.npy", "two.npy"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_format(files, name, n_jobs, monkeypatch):
    monkeypatch.setattr("tsadeval.tables.binary_files._PART", 600)
    folder, y, s = files
    expected = te.evaluate(y, s, WANTED, threshold=0.8)
    source = te.batches(folder / name, rows=999)
    found = te.evaluate_stream(source, WANTED, threshold=0.8, n_jobs=n_jobs)
    # csv holds the shortest decimals of single-precision scores, which are other numbers in double precision.
    assert dict(found) == pytest.approx(dict(expected), rel=1e-6 if name == "a.csv" else 1e-12)
    if name in ("a.parquet", "a.npy", "two.npy"):
        assert len(source.parts()) > 5
    assert dict(te.evaluate_stream([folder / name] * 2, "f1", threshold=0.8)) == pytest.approx(
        dict(te.evaluate(np.tile(y, 2), np.tile(s, 2), "f1", threshold=0.8))
    )


def test_memory_maps_and_arrays(files):
    _, y, s = files
    found = te.evaluate_stream({"y": y, "s": s}, "f1", threshold=0.8, label="y", score="s")
    assert found["f1"] == te.evaluate(y, s, "f1", threshold=0.8)["f1"]


def test_labels_that_begin_within_a_byte(files):
    """Arrow keeps eight labels in a byte, and a batch may begin anywhere."""
    folder, y, _ = files
    found = np.concatenate([labels for labels, _ in te.batches(folder / "a.feather", rows=13)])
    assert (found == y).all()


def test_many_series_in_one_table(tmp_path):
    rng = np.random.default_rng(1)
    y, s = table(6000, seed=1)
    name = np.array(["b", "a", "c"])[rng.integers(0, 3, len(y))]
    pq.write_table(pa.table({"series": name, "label": y, "score": s}), tmp_path / "a.parquet", row_group_size=700)
    metrics = ["cce", "f1", "event_f1", "auc_pr"]
    parts = [(one, y[name == one], s[name == one]) for one in dict.fromkeys(name.tolist())]
    expected = te.evaluate_many(parts, metrics, threshold=0.8)
    for n_jobs in (None, 2):
        found = te.evaluate_stream(tmp_path / "a.parquet", metrics, threshold=0.8, by="series", n_jobs=n_jobs)
        wanted = {(row["series"], row["metric"]): row["value"] for row in expected.rows}
        assert {(row["series"], row["metric"]): row["value"] for row in found.rows} == pytest.approx(wanted)
        assert found.macro == pytest.approx(expected.macro)


def test_what_is_wrong_is_said(files, tmp_path):
    folder, y, s = files
    with pytest.raises(InvalidInputError, match="no column 'labels' for the labels: did you mean label"):
        te.evaluate_stream(folder / "a.parquet", label="labels")
    with pytest.raises(InvalidInputError, match="no such file"):
        te.evaluate_stream(tmp_path / "none.parquet")
    with pytest.raises(InvalidInputError, match="npz: save npy"):
        te.evaluate_stream(tmp_path / "a.npz")
    with pytest.raises(InvalidInputError, match=r"a\.xlsx: cannot be read in batches; use [^(]*$"):
        te.evaluate_stream(tmp_path / "a.xlsx")
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    with pytest.raises(InvalidInputError, match=r"bad.parquet: damaged or truncated"):
        te.evaluate_stream(tmp_path / "bad.parquet")
    with pytest.raises(InvalidInputError, match=r"begins at point 3: y_score must be finite, but is NaN at position 1"):
        te.evaluate_stream([(y[:3], s[:3]), (y[3:5], [0.5, math.nan])])
    with pytest.raises(InvalidInputError, match="empty"):
        te.evaluate_stream([])
    with pytest.raises(InvalidInputError, match=r"must be tuples \(y_true, y_score\), but one is a list of 4"):
        te.evaluate_stream([[1, 2, 3, 4]])
    with pytest.raises(InvalidParameterError, match="cannot be read apart"):
        te.evaluate_stream([(y, s)], n_jobs=2)
    with pytest.raises(InvalidInputError, match="same metrics"):
        Stream("cce").merge(Stream("f1", threshold=0.5))


def test_a_reader_that_is_left_early_ends(files):
    import threading

    before = threading.active_count()
    for _ in te.batches(files[0] / "a.npy", rows=10):
        break
    assert threading.active_count() <= before + 1
    iterator = iter(te.batches(files[0] / "a.npy", rows=10))
    next(iterator)
    iterator.close()
    assert threading.active_count() <= before + 1


def test_columns_that_are_there_twice_are_refused_in_batches(tmp_path):
    (tmp_path / "a.csv").write_text("label, score,score\n0,0.1,5\n1,0.9,4\n")
    twice = pa.table([pa.array([0, 1]), pa.array([0.1, 0.9]), pa.array([0.9, 0.1])], names=["label", "score", "score"])
    pq.write_table(twice, tmp_path / "a.parquet")
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        with pytest.raises(InvalidInputError, match="the column 'score' is there 2 times"):
            te.evaluate_stream(path, "auc_roc")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_several_series_are_not_judged_as_one(tmp_path, n_jobs):
    names = np.repeat(["a", "b"], 4)
    columns = {"series": names, "label": [0, 1] * 4, "score": np.arange(8) / 8, "model": ["m"] * 4 + ["m"] * 4}
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=4)
    with pytest.raises(InvalidInputError, match=r"column 'series' has several values, .*by="):
        te.evaluate_stream(path, "auc_roc", n_jobs=n_jobs)
    assert te.evaluate_stream(path, "auc_roc", one_series=True, n_jobs=n_jobs)["auc_roc"] == 0.625
    assert len(te.evaluate_stream(path, "auc_roc", by="series", n_jobs=n_jobs).rows) == 2
    pq.write_table(pa.table({**columns, "model": ["m"] * 6 + ["n"] * 2}), path, row_group_size=2)
    with pytest.raises(InvalidInputError, match=r"column 'model' has several values within a group"):
        te.evaluate_stream(path, "auc_roc", by="series", n_jobs=n_jobs)


def test_integers_that_a_csv_reader_would_round_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"label,score\n1,{2**60}\n0,{2**60 + 1}\n")
    with pytest.raises(InvalidInputError, match=rf"'score' holds the integer {2**60 + 1}, which a 64-bit float cannot"):
        te.evaluate_stream(path, "auc_roc")
    path.write_text(f"label,score\n1,{2**60}\n0,1e300\n0,{2**60 - 1024}\n")
    assert te.evaluate_stream(path, "auc_roc")["auc_roc"] == 0.5
