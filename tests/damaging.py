"""Files of every format to be damaged, and what must hold when they are read."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
from hypothesis import strategies as st

import tsadeval as te
from data_files import npy
from tsadeval.errors import InvalidInputError
from tsadeval.scores.tabular import scorings
from tsadeval.tables import read_table

FRAME = pd.DataFrame(
    {
        "series": ["a", "b", "null"] * 4,
        "time": pd.date_range("2024", periods=12, freq="h"),
        "label": [0, 1, 0] * 4,
        "score": [0.1, np.nan, 1e300] * 4,
        "big": [2**60 + 1, -2, 3] * 4,
        "flag": [True, False, None] * 4,
    }
)


def _written(method, frame=FRAME, **options):
    buffer = io.BytesIO()
    getattr(frame, method)(buffer, **options)
    return buffer.getvalue()


def _npz(save):
    buffer = io.BytesIO()
    save(buffer, label=FRAME["label"], score=FRAME["score"], rows=np.zeros((3, 2)), one=np.array(1))
    return buffer.getvalue()


def _nested():
    buffer = io.BytesIO()
    table = pa.table({"label": [0, 1], "list": [[1], [2, 3]], "struct": [{"a": 1}, {"a": None}], "text": ["x", "y"]})
    pa.parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


SEEDS = {
    "a.csv": [FRAME.to_csv(index=False).encode(), b'x,"a\n1,"b""c\r\n\r\n\xef\xbb\xbf,2\r', b"x\n1\n\n2"],
    "a.tsv": [FRAME.to_csv(index=False, sep="\t").encode()],
    "a.csv.gz": [gzip.compress(FRAME.to_csv(index=False).encode())],
    "a.jsonl": [
        b"\n".join(json.dumps(row, default=str).encode() for row in FRAME.to_dict("records")),
        b'{"a": [1, {"b": null}], "label": 12345678901234567890, "c": -Infinity}\n\n{}',
    ],
    "a.parquet": [_written("to_parquet"), _written("to_parquet", compression="gzip", row_group_size=5), _nested()],
    "a.feather": [_written("to_feather"), _written("to_feather", compression="uncompressed")],
    "a.arrow": [
        _written("write_ipc", pl.from_pandas(FRAME), compression="zstd"),
        _written("write_ipc_stream", pl.from_pandas(FRAME), compression="lz4"),
    ],
    "a.npy": [npy(np.arange(12.0).reshape(4, 3)), npy(FRAME[["label", "score"]].to_records(index=False))],
    "a.npz": [_npz(np.savez), _npz(np.savez_compressed)],
}


@st.composite
def damaged(draw, seeds):
    """A valid file after a few random changes: bytes replaced, dropped, repeated, inserted, or the end cut off."""
    content = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(len(content) - 1, 0)))
        length = draw(st.integers(0, 20))
        kind = draw(st.sampled_from(["flip", "replace", "insert", "drop", "repeat", "cut"]))
        if kind == "flip" and content:
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "replace":
            content[at : at + length] = draw(st.binary(min_size=length, max_size=length))
        elif kind == "insert":
            content[at:at] = draw(
                st.sampled_from([b"\0", b'"', b",", b"\r", b"\n", b"\xff" * 8, b"9" * 40, b"[", b"{"])
            )
        elif kind == "drop":
            del content[at : at + length]
        elif kind == "repeat":
            content[at:at] = content[at : at + length]
        elif kind == "cut" and draw(st.booleans()):
            del content[at:]
    return bytes(content)


def use(path):
    """Read a file and look at everything in it; the only error may be that of bad input, on one printable line.

    So it is with batches of text and of npy; what others take once unpacked has no limit there.
    """
    problems = []

    def attempt(action):
        try:
            return action()
        except InvalidInputError as error:
            problems.append(str(error))

    table = attempt(lambda: read_table(path, text=["series"], max_bytes=1e8))
    if table is not None:
        repr(table)
        attempt(lambda: table.n)
        for name in [*table.columns, "label"]:
            attempt(lambda name=name: table.numbers(name))
            attempt(lambda name=name: list(scorings(table, label=name, score="*", by=name)))
        attempt(lambda: list(scorings(table, time="time")))
    found = len(problems)
    if path.name.endswith((".csv", ".tsv", ".csv.gz", ".jsonl", ".npy")):
        attempt(lambda: list(te.batches(path, rows=3).read()))
        attempt(lambda: list(te.batches(path, by="series", time="time").read()))
    assert all(problem.isprintable() for problem in problems)
    return problems[:found]
