"""Large series and many files: time, memory and error, as ratios within one run where machines are shared.

    python benchmarks/scale.py make /tmp/large.parquet 1e9     a series, bool and float32, row groups of 2**20 rows
    python benchmarks/scale.py stream /tmp/large.parquet       decoding alone against metrics of the stream
    python benchmarks/scale.py order /tmp/large.parquet        AUC-ROC: sorted on disk, in bins, and by other packages
    python benchmarks/scale.py vus /tmp/large.parquet          VUS-PR and VUS-ROC: sorted on disk and in bins
    python benchmarks/scale.py files /tmp/many 10000           files a second with 1 and 2 workers, Dask and Ray
    python benchmarks/scale.py kept 1000 10000 100000          the same without the files: memory of the main process
    python benchmarks/scale.py csv /tmp/csvs 5000              csv files, in threads and in processes
    python benchmarks/scale.py threads                         many series in one process: 1 and 2 threads in turn
    python benchmarks/scale.py merge 1e6                       states of so many parts, in a row and as a tree

Every measurement is a process of its own, so that its peak of memory is its own. CPU time counts all threads and child
processes that have ended.
"""

import json
import os
import pickle
import resource
import subprocess
import sys
import time

import numpy as np

PAPER = "paper"
THRESHOLD = 0.89


def make(path, n):
    """Scores that are mostly low, as those of detectors are; 0.14 % of the normal points are above the threshold."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, size = np.random.default_rng(0), 1 << 20
    with pq.ParquetWriter(
        path, pa.schema([("label", pa.bool_()), ("score", pa.float32())]), use_dictionary=False
    ) as to:
        for start in range(0, n, size):
            m = min(size, n - start)
            y, s = np.zeros(m, np.bool_), rng.random(m, dtype=np.float32)
            anomalous = [
                (a, a + length) for a, length in zip(rng.integers(0, m, 52), rng.integers(5, 400, 52), strict=True)
            ]
            kept = [s[a:b].copy() for a, b in anomalous]
            for _ in range(3):
                np.multiply(s, s, out=s)
            s *= np.float32(0.9)
            for (a, b), scores in zip(anomalous, kept, strict=True):
                y[a:b], s[a:b] = True, scores
            to.write_table(pa.table({"label": y, "score": s}), row_group_size=size)


def decode(path, **options):
    import pyarrow.parquet as pq

    return sum(len(batch) for batch in pq.ParquetFile(path, **options).iter_batches(1 << 20))


def stream(path, *metrics, **options):
    import tsadeval as te

    threshold = THRESHOLD if "f1" in metrics else None
    found = te.evaluate_stream(path, list(metrics), threshold=threshold, **options)
    return {row["metric"]: [row["value"], row["low"], row["high"], row["alarms"]] for row in found.rows}


def duckdb(path):
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET memory_limit='1GB'; SET threads=2; SET temp_directory='/tmp/tsadeval-duckdb'")
    return connection.execute(
        f"""WITH levels AS (
              SELECT score, sum(label::INT)::HUGEINT a, count(*) - sum(label::INT)::HUGEINT n
              FROM '{path}' GROUP BY score),
            ordered AS (SELECT a, n, sum(n) OVER (ORDER BY score ROWS UNBOUNDED PRECEDING) - n AS below FROM levels)
            SELECT sum(a * (2 * below + n))::DOUBLE / (2.0 * sum(a)::DOUBLE * sum(n)::DOUBLE) FROM ordered"""
    ).fetchone()[0]


def polars(path):
    import polars as pl

    levels = (
        pl.scan_parquet(path)
        .group_by("score")
        .agg(pl.col("label").sum().cast(pl.Int64).alias("a"), pl.len().cast(pl.Int64).alias("all"))
    )
    levels = levels.sort("score").collect(engine="streaming")
    a = levels["a"].to_numpy()
    n = levels["all"].to_numpy() - a
    return float((a * (2 * (n.cumsum() - n) + n)).sum() / (2.0 * a.sum() * n.sum()))


def pyarrow(path):
    import pyarrow.acero as acero
    import pyarrow.dataset as dataset

    steps = [
        acero.Declaration("scan", acero.ScanNodeOptions(dataset.dataset(path))),
        acero.Declaration(
            "aggregate",
            acero.AggregateNodeOptions(
                [("label", "hash_sum", None, "a"), ("label", "hash_count", None, "all")], keys=["score"]
            ),
        ),
        acero.Declaration("order_by", acero.OrderByNodeOptions([("score", "ascending")])),
    ]
    levels = acero.Declaration.from_sequence(steps).to_table()
    a = levels["a"].to_numpy().astype(np.int64)
    n = levels["all"].to_numpy() - a
    return float((a * (2 * (n.cumsum() - n) + n)).sum() / (2.0 * a.sum() * n.sum()))


def kll(path, k=2000):
    """A quantile sketch of each class; its bound holds with a probability of 99 %."""
    import datasketches
    import pyarrow.parquet as pq

    sketches = [datasketches.kll_floats_sketch(k) for _ in range(2)]
    for batch in pq.ParquetFile(path).iter_batches(1 << 20):
        y, s = batch.column(0).to_numpy(zero_copy_only=False), batch.column(1).to_numpy()
        for label in (0, 1):
            sketches[label].update(s[y == label])
    grid = np.unique([v for sketch in sketches for v, _ in sketch]).astype(np.float32)
    normal, anomalous = (np.array(sketch.get_cdf(grid.tolist(), True)) for sketch in sketches)
    below = np.concatenate([[0], normal[:-1]])
    value = float((np.diff(anomalous, prepend=0) * (below + normal) / 2).sum())
    return value, sum(sketch.normalized_rank_error(True) for sketch in sketches)


def files(folder, backend, workers):
    """All files below a folder, with a new store, as the command does it: up to the table that is printed.

    Returns a digest of the rows as well, so that runs can be compared: of all of them, so it comes after the peak.
    """
    import hashlib
    import tempfile

    with tempfile.TemporaryDirectory() as store:
        found = scored(folder, store, backend, workers)
        took = spent()
        rows = found.to_frame()[["file", "metric", "value", "threshold", "alarms", "status"]]
    digest = hashlib.sha256(rows.to_csv(index=False).encode()).hexdigest()[:12]
    return {"spent": took, "rows": len(rows), "digest": digest}


def scored(folder, store, backend, workers):
    import joblib

    import tsadeval as te

    def run(**options):
        found = te.score_files(f"{folder}/**/*.*", PAPER, store=store, **options)
        repr(found)
        return found

    if backend == "threads":
        os.sched_setaffinity(0, list(os.sched_getaffinity(0))[: int(workers)])
        return run()
    if backend == "processes":
        return run(n_jobs=int(workers))
    if backend == "dask":
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=int(workers), threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster), joblib.parallel_config(backend="dask"):
            return run()
    import ray
    from ray.util.joblib import register_ray

    ray.init(num_cpus=int(workers), include_dashboard=False, log_to_driver=False)
    register_ray()
    with joblib.parallel_config(backend="ray", n_jobs=int(workers)):
        return run()


def kept(count):
    """What the main process does for so many files, with invented values: plan, keep rows, merge parts, take means.

    Twice: with an empty store, and again with nothing to do.
    """
    import tempfile

    from tsadeval.engine.cells import Chunk
    from tsadeval.engine.run import complete
    from tsadeval.engine.store import Store
    from tsadeval.experiments.file_scores import LAYOUT, File, FileScores, Wanted
    from tsadeval.experiments.score_files import _chunks, file_scorings

    def invented(chunk):
        for cell in chunk.cells:
            h = hash(cell)
            numbers = {"n": 10_000, "events": 5, "anomalous": 500, "alarms": h % 1000, "alarmed_points": h % 1009}
            floats = {"value": h % 1000003 / 1e6, "threshold": h % 999983 / 1e6, "seconds": h % 10007 / 1e6}
            yield {**cell._asdict(), **numbers, **floats, "status": "ok", "versions": "tsadeval, numpy, python"}

    paths = ((f"/data/runs/detector{i % 4}/{i:06d}.parquet", i) for i in range(count))
    files = sorted(
        File(path, f"79890 17948{i:014d} 17948{i:014d}", sys.intern(f"detector{i % 4}")) for path, i in paths
    )
    metrics = [(f"metric{i}", "1", "best" if i % 2 else None) for i in range(11)]
    wanted = Wanted(files, {}, "", "", "label", ["score"], metrics)
    took = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            store = Store(folder, LAYOUT)
            complete(wanted, lambda missing: _chunks(missing, Chunk(file_scorings, (), {}, {}), count), invented, store)
            repr(FileScores(store, wanted))
            took.append(round(spent()["cpu"], 1))
        parts = os.listdir(os.path.join(folder, "parts"))
    return {"CPU after both": took, "parts": len(parts)}


def write_files(folder, count, suffix, n=10_000):
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    for i in range(count):
        y = np.repeat(rng.random(n // 100) < 0.05, 100)
        y[:50] = True
        table = pa.table({"label": y.astype(np.int8), "score": rng.random(n) ** 4 + 0.3 * y})
        path = os.path.join(folder, f"detector{i % 4}", f"{i:05d}.{suffix}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pq.write_table(table, path) if suffix == "parquet" else pyarrow.csv.write_csv(table, path)


def threads(count=24, n=100_000, rounds=5):
    """Wall time of one and of two threads, in turn; the best round of each counts."""
    import tsadeval as te

    rng = np.random.default_rng(0)
    series = []
    for i in range(count):
        y = np.repeat(rng.random(n // 100) < 0.02, 100)
        y[:50] = True
        series.append((f"s{i}", y, rng.random(n) ** 4 + 0.3 * y))
    scores = [(name, detector, y, s) for name, y, s in series[: count // 2] for detector in ("a", "b")]
    calls = {
        "evaluate_many": lambda jobs: te.evaluate_many(series, PAPER, n_jobs=jobs),
        "compare": lambda jobs: te.compare(scores, metrics=PAPER, n_jobs=jobs),
    }
    for name, call in calls.items():
        best = {}
        for _ in range(rounds):
            for jobs in (1, 2):
                start, before = time.perf_counter(), time.process_time()
                call(jobs)
                took = time.perf_counter() - start, time.process_time() - before
                best[jobs] = min(best.get(jobs, took), took)
        ratio = best[1][0] / best[2][0]
        print(f"{name}: {best[1][0]:.2f} s ({best[1][1]:.2f} s CPU) with 1 thread, {best[2][0]:.2f} s "
              f"({best[2][1]:.2f} s CPU) with 2: x{ratio:.2f}", flush=True)  # fmt: skip


def state(metrics, n, events, alarms):
    """The pickled state of a part of n points, with so many events and runs of alarms."""
    from tsadeval.streams.stream import Stream

    rng = np.random.default_rng(0)
    y, s = np.zeros(n, np.bool_), rng.random(n, dtype=np.float32) * np.float32(0.5)
    for a in rng.integers(0, n - 50, events):
        y[a : a + 50] = True
    s[rng.integers(0, n, alarms)] = 0.9
    return pickle.dumps(Stream(metrics, threshold=0.8).update(y, s))


def merge(parts, metrics, n, events, alarms, how):
    """The states of so many parts, received and merged: one after the other, or as a tree that is as deep as it must.

    As a tree, pairs are merged as soon as there are two of the same size, so that few states are there at a time.
    """
    content = state(metrics, n, events, alarms)
    start = time.process_time()
    if how == "row":
        whole = pickle.loads(content)
        for _ in range(parts - 1):
            whole.merge(pickle.loads(content))
    else:
        waiting = []
        for i in range(parts):
            waiting.append(pickle.loads(content))
            for _ in range((i + 1 & -(i + 1)).bit_length() - 1):
                waiting[-2].merge(waiting.pop())
        while len(waiting) > 1:
            waiting[-2].merge(waiting.pop())
        (whole,) = waiting
    merged = time.process_time() - start
    size = len(pickle.dumps(whole))
    start = time.process_time()
    values = dict(whole.result())
    took = time.process_time() - start
    return {"bytes": len(content), "whole": size, "merging": merged, "values": took, "n": whole.n, "result": values}


KINDS = {
    "decode": decode,
    "stream": stream,
    "duckdb": duckdb,
    "polars": polars,
    "pyarrow": pyarrow,
    "kll": kll,
    "files": files,
    "kept": kept,
    "merge": merge,
}


def measured(kind, *arguments, **options):
    """One measurement in a process of its own: result, wall and CPU seconds, peak of memory in MB."""
    command = [sys.executable, __file__, "one", kind, json.dumps([arguments, options])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}
    return json.loads(done.stdout.splitlines()[-1])


START = {}


def spent():
    """Seconds since the measurement began, and peaks of memory in MB."""
    peaks = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    wall, cpu = time.perf_counter() - START["wall"], sum(os.times()[:4]) - START["cpu"]
    return {"wall": wall, "cpu": cpu, "peak": peaks[0], "child": peaks[1]}


def one(kind, given):
    import pyarrow.parquet  # noqa: F401 - so that imports are not measured

    import tsadeval as te

    te.evaluate_stream([([0, 1], [0.1, 0.2])], "cce")
    arguments, options = json.loads(given)
    START.update(wall=time.perf_counter(), cpu=sum(os.times()[:4]))
    result = KINDS[kind](*arguments, **options)
    took = result.pop("spent") if isinstance(result, dict) and "spent" in result else spent()
    print(json.dumps({**took, "result": result}))


def show(name, found, base=None):
    if "error" in found:
        print(f"{name:34s} {found['error']}", flush=True)
        return
    ratio = (
        ""
        if base is None
        else f"  {base['wall'] / found['wall']:6.1%} of the speed, CPU x{found['cpu'] / base['cpu']:.2f}"
    )
    child = f" (a child {found['child']:,.0f})" if found["child"] > 1 else ""
    print(
        f"{name:34s} {found['wall']:8.2f} s  {found['cpu']:8.2f} s CPU  {found['peak']:6,.0f} MB{child}{ratio}", end=""
    )
    print(f"  {found['result']}", flush=True)


def in_turn(path, pairs=9):
    """Decoding and CCE in turn, since machines are noisy; returns the decoding of median time."""
    decoded, judged = [], []
    for _ in range(pairs):
        decoded.append(measured("decode", path, pre_buffer=False))
        show("decoding with pyarrow", decoded[-1])
        judged.append(measured("stream", path, "cce"))
        show("cce", judged[-1], decoded[-1])
    ratios = sorted(a["wall"] / b["wall"] for a, b in zip(decoded, judged, strict=True))
    print(f"cce at {ratios[pairs // 2]:.0%} of the speed of decoding ({ratios[0]:.0%} to {ratios[-1]:.0%})", flush=True)
    return sorted(decoded, key=lambda found: found["wall"])[pairs // 2]


def main(what, *arguments):
    if what == "make":
        make(arguments[0], int(float(arguments[1])))
    elif what == "one":
        one(*arguments)
    elif what == "stream":
        base = in_turn(arguments[0])
        show("decoding, pyarrow's defaults", measured("decode", arguments[0]), base)
        show("cce, 1 thread", measured("stream", arguments[0], "cce", n_jobs=1), base)
        show(
            "cce, f1, range_f1, affiliation_f1",
            measured("stream", arguments[0], "cce", "f1", "range_f1", "affiliation_f1"),
            base,
        )
    elif what == "order":
        show("bins", measured("stream", arguments[0], "auc_roc", order="bins"))
        show("sort", measured("stream", arguments[0], "auc_roc", order="sort"))
        for other in arguments[1:]:
            show(other, measured(other, arguments[0]))
    elif what == "vus":
        for order in ("bins", "sort"):
            show(order, measured("stream", arguments[0], "vus_pr", "vus_roc", order=order))
    elif what in ("files", "csv"):
        if not os.path.isdir(arguments[0]):
            write_files(arguments[0], int(arguments[1]), "parquet" if what == "files" else "csv")
        kinds = arguments[2:] or ("processes 1", "processes 2", "threads 2", "dask 2", "ray 2")
        for kind in kinds:
            found = measured("files", arguments[0], *kind.split())
            show(kind, found)
            count = int(arguments[1])
            if "wall" in found:
                rate, cost = count / found["wall"], 1000 * found["cpu"] / count
                print(f"{'':34s} {rate:.0f} files a second, {cost:.1f} ms CPU a file")
    elif what == "kept":
        for count in arguments:
            show(f"{int(count):,} files", measured("kept", int(count)))
    elif what == "threads":
        threads()
    elif what == "merge":
        parts = int(float(arguments[0]))
        runs = ["f1", "event_f1", "range_f1", "affiliation_f1"]
        # Metrics of runs take 2**31 points at most, so many parts have to be short.
        for metrics, n, events, alarms, most in (
            (["f1"], 10**6, 100, 1000, parts),
            (["cce"], 10**6, 1, 0, parts),
            (runs, 2_000, 1, 10, parts),
            (runs, 10**6, 100, 1000, 2_000),
        ):
            few = min(parts, most)
            for how in ("row", "tree"):
                show(f"{metrics[-1]}, {few:,} parts, {how}", measured("merge", few, metrics, n, events, alarms, how))


if __name__ == "__main__":
    main(*sys.argv[1:])
