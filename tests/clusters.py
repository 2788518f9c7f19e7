"""What is computed on several kinds of clusters, to be compared with what is computed here."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tsadeval as te
from tsadeval.errors import UndefinedMetricWarning

FILE_METRICS = ["cce", "f1", "vus_pr", "affiliation_f1"]
STREAM_METRICS = ["cce", "f1", "f1_pa", "range_f1", "affiliation_f1", "event_f1", "auc_roc", "vus_pr"]


def write_files(folder, count=9, n=400):
    rng = np.random.default_rng(0)
    for i in range(count):
        y = np.repeat(rng.random(n // 10) < 0.15, 10)
        y[:2] = False, True
        path = folder / ("lof" if i % 2 else "pca") / f"{i}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"label": y, "score": (rng.random(n) + 0.5 * y).astype("f4")}), path)
    n *= 50
    y = np.repeat(rng.random(n // 40) < 0.05, 40)
    large = pa.table({"label": y, "score": (rng.random(n) + 0.5 * y).astype("f4")})
    pq.write_table(large, folder / "large.parquet", row_group_size=999)


def values(files, large, store=None, **options):
    """The rows of all files, the values of the one that is read in parts, and a comparison of its parts."""
    rows = te.score_files(files, FILE_METRICS, store=store, **options).to_frame()
    rows = rows[["detector", "score", "metric", "value", "threshold", "alarms", "status"]]
    stream = te.evaluate_stream(large, STREAM_METRICS, threshold=0.8, order="bins", **options)
    return rows, dict(stream), compared(large, **options)


def compared(large, **options):
    """Rows of a comparison of two detectors on three parts of the series, and its pooled values."""
    table = te.tables.read_table(large)
    y, s = table.numbers("label"), table.numbers("score")
    parts = [(f"part {i}", y[i::3], s[i::3]) for i in range(3)]
    scores = [(name, detector, a, b + k * a) for name, a, b in parts for k, detector in enumerate(("poor", "good"))]
    found = te.compare(scores, metrics=FILE_METRICS, threshold=0.8, **options)
    with pytest.warns(UndefinedMetricWarning, match="no micro average of vus_pr, affiliation_f1"):
        micro = found.average("micro").to_frame()
    return found.to_frame().drop(columns="seconds"), micro
