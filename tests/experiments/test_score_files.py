"""Many files of labels and scores: the same rows whoever computes them, and nothing twice."""

import os
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import commands
import tsadeval as te
from tsadeval.engine import parts as parts_module
from tsadeval.engine import store as store_module
from tsadeval.engine.cells import Chunk
from tsadeval.engine.run import complete
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError
from tsadeval.experiments.file_scores import LAYOUT, File, FileScores, Wanted
from tsadeval.experiments.score_files import _chunks

METRICS = ["cce", "f1", "auc_roc", "event_recall"]


def write(path, seed, n=300):
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.random(n // 10) < 0.15, 10)
    y[:2] = False, True
    table = pa.table({"label": y.astype(int), "score": rng.random(n) + 0.5 * y, "other": rng.random(n)})
    path.parent.mkdir(parents=True, exist_ok=True)
    (pq.write_table if path.suffix == ".parquet" else pyarrow.csv.write_csv)(table, path)


@pytest.fixture
def runs(tmp_path):
    for d, detector in enumerate(("lof", "pca")):
        for s in range(3):
            suffix = "parquet" if s else "csv"
            write(tmp_path / "runs" / detector / "power" / f"{s}.{suffix}", 10 * d + s)
    return tmp_path / "runs"


def expected(path, score="score"):
    table = te.tables.read_table(path)
    return dict(te.evaluate(table.numbers("label"), table.numbers(score), METRICS))


def values(result):
    frame = result.to_frame()
    return {key: dict(zip(part["metric"], part["value"], strict=True)) for key, part in frame.groupby("file")}


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_file_has_the_values_of_evaluate(runs, n_jobs):
    found = te.score_files(f"{runs}/**/*.*", METRICS, n_jobs=n_jobs)
    assert len(found.rows) == 6 * len(METRICS)
    for file, of_file in values(found).items():
        assert of_file == pytest.approx(expected(file), rel=1e-12)
    by_name = {(row["detector"], row["dataset"]): row for row in found.table().rows}
    assert list(by_name) == [("lof", "power"), ("pca", "power")]
    mean = np.mean([expected(runs / "pca" / "power" / name)["f1"] for name in ("0.csv", "1.parquet", "2.parquet")])
    assert by_name["pca", "power"]["f1"] == pytest.approx(mean)
    assert by_name["pca", "power"]["files"] == 3
    assert "threshold best: chosen with the labels" in repr(found)


def test_a_folder_is_all_its_files_and_columns_are_detectors(runs):
    found = te.score_files(runs, METRICS, score=["score", "other"])
    assert {(row["detector"], row["dataset"]) for row in found.table().rows} == {
        (column, f"{detector}/power") for column in ("score", "other") for detector in ("lof", "pca")
    }


def write_several(path, seed):
    """Three series of two detectors in one table, their rows mixed, with a time stamp an hour."""
    rng = np.random.default_rng(seed)
    lengths = np.tile(rng.integers(250, 350, 3), 2)  # of the series, the same for both detectors
    n = int(lengths.sum())
    y = np.tile(np.repeat(rng.random(lengths[:3].sum() // 5 + 1) < 0.15, 5)[: n // 2], 2)
    part = np.repeat(np.arange(6), lengths)
    hours = np.concatenate([np.arange(count) for count in lengths])
    columns = {
        "site": np.array(["north", "south", "west"])[part % 3],
        "detector": np.array(["lof", "pca"])[part // 3],
        "at": np.datetime64("2026-01-01", "s") + hours.astype("m8[h]"),
        "label": y.astype(int),
        "score": rng.random(n) + 0.5 * y,
    }
    order = np.argsort(hours, kind="stable")  # all series at once, hour by hour
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({name: column[order] for name, column in columns.items()}), path)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_many_series_in_each_file_with_times(tmp_path, n_jobs):
    for i in range(3):
        write_several(tmp_path / "runs" / "power" / f"{i}.parquet", i)
    metrics = ["cce", "f1", "false_alarms(per='week')", "time_to_recover(unit='h')"]
    calls = []
    options = {"by": ["site", "detector"], "time": "at", "threshold": 0.9, "store": tmp_path / "store"}
    options |= {"n_jobs": n_jobs, "progress": lambda *done: calls.append(done)}
    found = te.score_files(tmp_path / "runs", metrics, **options)
    frame = found.to_frame()
    assert len(frame) == 3 * 6 * len(metrics)
    for path, rows in frame.groupby("file"):
        for part in te.tables.scorings(te.tables.read_table(path), by=["site", "detector"], time="at"):
            own = rows[(rows["series"] == part.keys["site"]) & (rows["detector"] == part.keys["detector"])]
            expected = te.evaluate(part.labels, part.scores, metrics, threshold=0.9, times=part.times)
            assert dict(zip(own["metric"], own["value"], strict=True)) == pytest.approx(dict(expected), nan_ok=True)
    assert [(row["detector"], row["dataset"], row["series"]) for row in found.table().rows] == [
        ("lof", "power", 9),
        ("pca", "power", 9),
    ]
    calls.clear()
    assert te.score_files(tmp_path / "runs", metrics, **options).to_frame().equals(frame)
    assert calls == [(72, 72)]
    other = te.score_files(tmp_path / "runs", "cce", by="nowhere")
    assert all("no column 'nowhere' to group by" in line for line in other.failures())
    assert len(other.failures()) == 3


def test_only_what_is_missing_is_computed(runs, tmp_path):
    calls = []

    def tell(done, total):
        calls.append((done, total))

    store = tmp_path / "store"
    first = te.score_files(runs, METRICS, store=store, progress=tell)
    assert calls[0] == (0, 24)
    assert calls[-1] == (24, 24)
    calls.clear()
    again = te.score_files(runs, METRICS, store=store, progress=tell)
    assert calls == [(24, 24)]
    assert again.to_frame().equals(first.to_frame())
    write(runs / "lof" / "power" / "1.parquet", 99)
    write(runs / "lof" / "power" / "new.csv", 98)
    calls.clear()
    changed = te.score_files(runs, [*METRICS, "mcc"], store=store, progress=tell)
    assert calls[0] == (20, 35)
    assert values(changed)[str(runs / "lof" / "power" / "1.parquet")]["cce"] == pytest.approx(
        expected(runs / "lof" / "power" / "1.parquet")["cce"]
    )
    assert list(store.glob("parts/*.parquet"))


def test_files_that_cannot_be_used_do_not_stop_the_others(runs, tmp_path):
    (runs / "lof" / "power" / "bad.parquet").write_bytes(b"nothing")
    pyarrow.csv.write_csv(pa.table({"label": [0, 1], "value": [0.1, 0.2]}), runs / "lof" / "power" / "other.csv")
    found = te.score_files(runs, METRICS, store=tmp_path / "store")
    assert len(found.failures()) == 2
    assert any("bad.parquet" in line and "damaged" in line for line in found.failures())
    assert any("no column 'score'" in line for line in found.failures())
    assert "2 files could not be evaluated" in repr(found)
    os.remove(runs / "lof" / "power" / "bad.parquet")
    write(runs / "lof" / "power" / "bad.parquet", 7)
    assert len(te.score_files(runs, METRICS, store=tmp_path / "store").failures()) == 1


def fake_rows(chunk):
    for cell in chunk.cells:
        yield {**cell._asdict(), "value": 0.5, "status": "ok", "versions": "a version"}


POOLS = []  # Arrow's threads may give memory back to a pool after a test is over, so pools stay


def peak_bytes(folder, count):
    """The most that Python, NumPy and Arrow hold at a time while so many files are planned, computed and summed up."""
    before, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    POOLS.append(pool)
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        files = [File(f"some/folder/of/files/{i:06d}.parquet", f"{i:06d} {i:019d}", "lof/power") for i in range(count)]
        values = [(f"metric{i}", "1", "best" if i % 2 else None) for i in range(11)]
        wanted = Wanted(files, {}, "", "", "label", ["score"], values)
        for _ in range(2):  # from nothing, and again with nothing to do
            store = Store(folder, LAYOUT)
            complete(
                wanted,
                lambda missing: _chunks(missing, Chunk((), {}, None, {}), {file.path: None for file in files}),
                fake_rows,
                store,
            )
            found = FileScores(store, wanted)
            assert f"lof       power    {count:5d}   0.5000" in repr(found)
            assert found.failures() == []
        return tracemalloc.get_traced_memory()[1] + pool.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


@pytest.mark.slow
def test_a_file_more_takes_less_than_a_kilobyte(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "_BATCH", 500)  # so that few files fill what is held at a time
    monkeypatch.setattr(parts_module, "_GROUP", 500)
    monkeypatch.setattr(store_module, "_MANY", 12)
    monkeypatch.setattr(store_module, "_LARGE", 2000)
    # The first time counts what is imported. Below 1,000 files the store's parts still grow.
    _, few, many = (peak_bytes(tmp_path / str(count), count) for count in (20, 1000, 2000))
    assert (many - few) / 1000 < 1000


def test_nothing_to_do_is_said(tmp_path):
    with pytest.raises(InvalidInputError, match="no file matches"):
        te.score_files(f"{tmp_path}/*.parquet")


def test_files_at_other_addresses(runs):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is an extra")
    memory = fsspec.filesystem("memory")
    for file in sorted(runs.rglob("*.*")):
        memory.pipe(f"/bucket/{file.relative_to(runs).as_posix()}", file.read_bytes())
    found = te.score_files("memory://bucket/**/*.*", METRICS)
    here = te.score_files(runs, METRICS)
    assert [row["value"] for row in found.rows] == [row["value"] for row in here.rows]
    assert [(row["detector"], row["dataset"]) for row in found.rows] == [
        (row["detector"], row["dataset"]) for row in here.rows
    ]
    one = "memory://bucket/lof/power/1.parquet"
    assert te.evaluate_stream(one, "f1", threshold=0.7)["f1"] == pytest.approx(
        te.evaluate_stream(runs / "lof/power/1.parquet", "f1", threshold=0.7)["f1"]
    )
    with pytest.raises(InvalidInputError, match="cannot be read"):
        te.tables.read_table("memory://bucket/none.csv")


# What web servers, Azure, GCS and S3 say of a file that was edited without a change of its size; none: says nothing.
@pytest.mark.parametrize("field", ["Last-Modified", "last_modified", "updated", "LastModified", "etag", None])
def test_an_edited_file_elsewhere_is_judged_again(field, tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is an extra")
    memory = fsspec.filesystem("memory")
    plain, state = type(memory).info, "monday"

    def info(self, path, **options):
        found = {k: v for k, v in plain(self, path, **options).items() if k != "created"}
        return {**found, field: state} if field and found["type"] == "file" else found

    monkeypatch.setattr(type(memory), "info", info)
    memory.pipe("/edited/a.csv", b"label,score\n0,1\n0,2\n1,3\n")
    before = te.score_files("memory://edited/*.csv", "auc_roc", store=tmp_path / "store")
    memory.pipe("/edited/a.csv", b"label,score\n0,3\n0,2\n1,1\n")
    state = "tuesday"
    after = te.score_files("memory://edited/*.csv", "auc_roc", store=tmp_path / "store")
    assert [row["value"] for row in (*before.rows, *after.rows)] == [1.0, 0.0]


def run(*arguments):
    from typer.testing import CliRunner

    from tsadeval.cli.app import app

    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.slow
def test_the_command_resumes_and_prints_a_table(runs, tmp_path):
    command = ["score", f"{runs}/**/*.*", "--metrics", "cce,f1", "--store", tmp_path / "store", "--jobs", "2"]
    found = run(*command)
    assert found.exit_code == 0, found.output
    assert "pca/power/0.csv" in found.output
    plain = run(*command[:4])  # without a store, and without workers
    assert plain.stdout == found.stdout
    assert "all rows are in" in found.output
    parts = sorted((tmp_path / "store" / "parts").iterdir())
    again = run(*command, "--format", "csv")
    assert again.output.startswith("file,score,metric,value,status,")
    assert again.stdout == run(*command[:4], "--format", "csv").stdout
    assert sorted((tmp_path / "store" / "parts").iterdir()) == parts
    (runs / "bad.csv").write_text("label\n")
    failing = run(*command)
    assert failing.exit_code == 1
    assert "bad.csv" in failing.output
    refused = run(*command, "--baseline")
    assert refused.exit_code != 0
    write_several(tmp_path / "long" / "a.parquet", 0)
    of_time = ("--by", "site,detector", "--time", "at", "--threshold", "0.9", "--metrics", "false_alarms(per='week')")
    several = run("score", tmp_path / "long", "--store", tmp_path / "other", *of_time)
    assert several.exit_code == 0, several.output
    assert "pca" in several.output


def test_the_command_reads_streams(runs):
    file = runs / "lof" / "power" / "1.parquet"
    found = run("score", file, "--stream", "--metrics", "f1,auc_roc", "--threshold", "0.7", "--format", "csv")
    assert found.exit_code == 0, found.output
    expected = te.evaluate_stream(file, ["f1", "auc_roc"], threshold=0.7)
    assert f"f1,{expected['f1']!r}" in found.output
    bounds = run("score", file, file, "--stream", "--metrics", "auc_roc", "--order", "bins", "--jobs", "2")
    assert "low" in bounds.output
    assert "600 points in a stream" in bounds.output
    assert "number as --threshold" in str(run("score", file, "--stream", "--threshold", "sigma(3)").exception)


@pytest.mark.parametrize("by", [(), "series"])
def test_a_file_that_is_not_there_is_named_and_the_others_go_on(runs, tmp_path, by):
    missing = [tmp_path / "none.csv", str(tmp_path / "none" / "*.csv")]
    found = te.score_files([runs / "lof" / "power" / "0.csv", *missing], "auc_roc", by=by)
    assert [line.partition(": ")[0] for line in found.failures() if "none" in line] == sorted(map(str, missing))
    assert all("no such file" in line for line in found.failures() if "none" in line)
    with pytest.raises(InvalidInputError, match="no file matches"):
        te.score_files(missing, "auc_roc")


def test_a_file_counts_once_however_it_is_named(runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (runs / "again").symlink_to(runs / "lof", target_is_directory=True)
    (runs / "circle").symlink_to(runs, target_is_directory=True)
    names = ["runs/lof/power/0.csv", "./runs/lof/power/0.csv", str(runs / "lof/power/0.csv"), "runs/again/power/0.csv"]
    found = te.score_files(names, "auc_roc").rows
    assert [row["file"] for row in found] == ["runs/lof/power/0.csv"]
    files = sorted({row["file"] for row in te.score_files("runs/**/*.csv", "auc_roc").rows})
    assert len(files) == 2
    assert not any("circle" in file for file in files)


def test_a_name_that_looks_like_a_pattern_is_a_name(tmp_path):
    write(tmp_path / "a[1].csv", 0)
    write(tmp_path / "a1.csv", 1)
    (row,) = te.score_files(tmp_path / "a[1].csv", "auc_roc").rows
    assert row["file"].endswith("a[1].csv")


@pytest.mark.slow
def test_results_in_the_folder_are_no_data(runs, tmp_path):
    """Stores of earlier commands may lie anywhere below the folder that is evaluated, and are named."""
    old, other = runs / "old", runs / "lof" / "results"
    for store in (old, other):
        te.score_files(f"{runs}/*/power/*", "f1", store=store)
    write(runs / "parts" / "0.csv", 5)  # folders of such names are no store
    (runs / "plans").mkdir()
    for pattern in (runs, f"{runs}/**/*.*"):
        found = te.score_files(pattern, "f1", store=runs / "new")
        assert len(found.rows) == 7
        assert found.skipped == (str(other), str(old))
        assert te.score_files(pattern, "f1", store=old).skipped == (str(other), str(runs / "new"))
    assert te.score_files(next((old / "parts").iterdir()), "f1").failures()  # a file that is named is read
    line = f"tsadeval: left out, because tsadeval keeps results there: {other}, {runs / 'new'}, {old}\n"
    for more in ((), ("--store", tmp_path / "s")):
        done = run("score", runs, "--metrics", "f1", "--format", "csv", *more)
        assert done.exit_code == 0, done.output
        assert done.stderr.count(line) == 1
        assert len(done.stdout.splitlines()) == 8
    for more in ((), ("--store", tmp_path / "s")):
        message = str(run("score", old, "--metrics", "f1", *more).exception)
        assert message.endswith(f"; left out, because tsadeval keeps results there: {old}")
    assert len(te.tables.table_files(runs)) == 7


def test_every_bad_series_of_a_file_has_its_own_reason(tmp_path):
    """What is wrong with the times of one series was said of all others that could not be used."""
    stamps = {"a": ["2026-01-01", "2026-01-02"], "b": ["2026-01-01", "soon"], "c": ["never", "2026-01-02"]}
    rows = [f"{name},{when},{k},{k}\n" for name, both in stamps.items() for k, when in enumerate(both)]
    (tmp_path / "long.csv").write_text("server,time,label,score\n" + "".join(rows))
    result = te.score_files(tmp_path / "long.csv", "auc_roc", by="server", time="time")
    found = {row["series"]: row for row in result.rows}
    assert found["a"]["status"] == "ok"
    assert "'soon'" in found["b"]["message"]
    assert "'never'" in found["c"]["message"]


@pytest.mark.parametrize("by", [None, "file", ["folder", "file"]])
def test_names_that_are_not_utf8_are_escaped(tmp_path, by):
    folder = os.fsencode(tmp_path) + b"/data/\xfe"
    os.makedirs(folder)
    for name in (b"a\xff.csv", b"b.csv"):
        with open(folder + b"/" + name, "w") as file:
            file.write("label,score\n0,0.1\n1,0.9\n0,0.3\n")
    told = []
    for _ in range(2):
        told.clear()
        options = {"store": tmp_path / "store", "progress": lambda *now: told.append(now)}
        found = te.score_files(tmp_path / "data", "f1", **options, **({"by": by} if by else {}))
    assert told[0] == (2, 2)
    assert [row["value"] for row in found.rows] == [1.0, 1.0]
    assert any(row["file"].endswith("\\udcfe/a\\udcff.csv") for row in found.rows)
    done = commands.run("score", tmp_path / "data", "--metrics", "f1")
    assert done.returncode == 0, done.stderr
