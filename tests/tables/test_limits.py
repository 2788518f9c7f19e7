"""Files that are no files, texts that are not for a terminal, and contents that are larger than they look."""

import gzip
import io
import os
import socket
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import tsadeval as te
from data_files import npz, write, written
from tsadeval.core.names import printable
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.tables import read_table
from tsadeval.tables.reading import FORMATS, Format
from tsadeval.tables.sources import unpack


def test_what_is_no_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket.csv"))
    os.symlink("/dev/zero", tmp_path / "device.csv")
    os.symlink(tmp_path / "loop.csv", tmp_path / "loop.csv")
    write(tmp_path / "secret.csv", "x\n1\n").chmod(0)
    for name, message in [
        ("pipe.csv", 'is a named pipe, expected a file; pass its content through standard input, as "-"'),
        ("folder.csv", "is a folder, expected a file"),
        ("socket.csv", "is a socket, expected a file"),
        ("device.csv", "is a device, expected a file"),
        ("loop.csv", "cannot be read .*[Ss]ymbolic links"),
        ("nope.csv", "no such file"),
        ("n\0.csv", "cannot be read .embedded null byte"),
        ("x" * 300 + ".csv", "cannot be read .File name too long"),
    ] + ([("secret.csv", "cannot be read .Permission denied")] if os.getuid() else []):
        with pytest.raises(InvalidInputError, match=message):
            read_table(tmp_path / name)
    for name in ("pipe", "folder", "socket", "device"):  # without the check, a pipe would wait for ever
        with pytest.raises(InvalidInputError, match=r"csv: is a .*, expected a file"):
            te.evaluate_stream(tmp_path / f"{name}.csv", "cce")
        with pytest.raises(InvalidInputError, match=r"csv: is a .*, expected a file"):
            te.labels(tmp_path / f"{name}.csv", np.arange(3))
    with pytest.raises(InvalidInputError, match=r"~nobody-of-this-name/a.csv: there is no such home folder"):
        read_table("~nobody-of-this-name/a.csv")


def test_a_heading_of_many_megabytes(tmp_path):
    names = [f"{i:x<131000}" for i in range(260)]  # 34 MB: a multiple of that is the size of a block
    rows = "\n".join(",".join([*names, "label"]) if i < 0 else "1," * 260 + str(i) for i in range(-1, 2))
    table = read_table(write(tmp_path / "a.csv", rows))
    assert [*table.columns] == [*names, "label"]
    assert table.numbers("label").tolist() == [0, 1]


def test_escape_codes_do_not_reach_the_terminal(tmp_path):
    path = write(tmp_path / "a\x1b[31m\n.csv", "x\x1b]0;owned\x07,label\n1\x1b[2J,0\n")
    table = read_table(path)
    assert table.source.isprintable()
    for name in ("lable", "x\x1b[1m", "x\x1b]0;owned\x07"):
        with pytest.raises(InvalidInputError) as caught:
            table.numbers(table.name(name))
        assert str(caught.value).isprintable()
        assert r"a\x1b[31m\n.csv" in str(caught.value)
    undecodable = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")
    assert r"\udcff.csv" in read_table(write(Path(undecodable), "x\n1\n")).source
    assert printable("plain text, größer") == "plain text, größer"
    assert printable("a\u2028b\u200fc\x9b") == r"a\u2028b\u200fc\x9b"


def _flat(rows, value=0.0):
    """A Parquet file of very many equal values in very few bytes."""
    one = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([value]))
    buffer = io.BytesIO()
    pa.parquet.write_table(pa.table({"x": one}), buffer, compression="zstd")
    return buffer.getvalue()


def test_sizes_are_limited(tmp_path, monkeypatch):
    zeros = np.zeros(10**6)
    frame = pd.DataFrame({"x": zeros})
    bombs = {
        "a.csv.gz": gzip.compress(b"x\n" + b"0\n" * 10**6, compresslevel=9),
        "members.csv.gz": gzip.compress(b"x\n") + gzip.compress(b"0\n" * 1000) * 1000,
        "a.npz": npz(x=zeros),
        "a.parquet": _flat(10**6),
        "text.parquet": _flat(10**6, "y" * 1000),
        "a.feather": written(frame, "to_feather", compression="zstd"),
        "stream.arrow": written(pl.from_pandas(frame), "write_ipc_stream", compression="zstd"),
        "plain.csv": b"x\n" + b"0\n" * 10**6,
    }
    for name, content in bombs.items():
        path = write(tmp_path / name, content)
        assert name == "plain.csv" or len(content) < 200_000, name
        with pytest.raises(InvalidInputError, match=r"larger than 1000000 bytes when unpacked; .*TSADEVAL_MAX_BYTES"):
            read_table(path, max_bytes=1e6)
        assert read_table(path).n == 10**6
        monkeypatch.setenv("TSADEVAL_MAX_BYTES", "1e6")
        with pytest.raises(InvalidInputError, match="larger than 1000000 bytes"):
            read_table(path)
        monkeypatch.delenv("TSADEVAL_MAX_BYTES")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz"])
def test_what_unpacks_batch_by_batch_is_limited(tmp_path, monkeypatch, name):
    rows = b"label,score\n" + b"0,1\n1,2\n" * 10**4 if "csv" in name else b'{"label": 0, "score": 1}\n' * 10**4
    path = write(tmp_path / name, gzip.compress(rows))
    monkeypatch.setenv("TSADEVAL_MAX_BYTES", "10000")
    with pytest.raises(InvalidInputError, match=r"larger than 10000 bytes when unpacked; .*TSADEVAL_MAX_BYTES"):
        list(te.batches(path))
    monkeypatch.setenv("TSADEVAL_MAX_BYTES", str(len(rows)))
    assert sum(len(labels) for labels, _ in te.batches(path)) in (10**4, 2 * 10**4)


def test_incidents_that_unpack_to_more_than_the_limit(tmp_path, monkeypatch):
    path = write(tmp_path / "a.csv.gz", gzip.compress(b"start,stop\n" + b"1,2\n" * 10**4))
    monkeypatch.setenv("TSADEVAL_MAX_BYTES", "10000")
    with pytest.raises(InvalidInputError, match=r"larger than 10000 bytes when unpacked; .*TSADEVAL_MAX_BYTES"):
        te.labels(path, np.arange(3))


def test_a_text_that_repeats_takes_little_memory(tmp_path):
    """A million rows of a text of a thousand letters are a gigabyte, unless it is kept once."""
    path = write(tmp_path / "a.parquet", _flat(10**6, "y" * 1000))
    assert read_table(path).columns["x"].nbytes < 10**7


def test_texts_count_with_their_length(tmp_path):
    """Rows say nothing about the size of texts."""
    words = pa.table({"x": [f"{i:09d}" * 100 for i in range(10_000)]})
    pa.parquet.write_table(words, tmp_path / "a.parquet", compression="zstd", use_dictionary=False)
    assert (tmp_path / "a.parquet").stat().st_size < 200_000
    with pytest.raises(InvalidInputError, match="larger than 1000000 bytes"):
        read_table(tmp_path / "a.parquet", max_bytes=1e6)
    assert read_table(tmp_path / "a.parquet").n == 10_000


@pytest.mark.parametrize("value", ["many", "0", "-1", "nan", "inf"])
def test_a_limit_that_is_none(tmp_path, monkeypatch, value):
    path = write(tmp_path / "a.csv", "x\n1\n")
    monkeypatch.setenv("TSADEVAL_MAX_BYTES", value)
    with pytest.raises(InvalidParameterError, match="TSADEVAL_MAX_BYTES must be a number of bytes of at least 1, but"):
        read_table(path)
    with pytest.raises(InvalidParameterError, match="max_bytes must be a number of bytes of at least 1, but is 0"):
        read_table(path, max_bytes=0)


def test_no_memory_is_one_line(tmp_path, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setitem(FORMATS, ".csv", Format(fail))
    with pytest.raises(InvalidInputError, match=r"a.csv: does not fit into memory"):
        read_table(write(tmp_path / "a.csv", "x\n1\n"))


@pytest.mark.parametrize("cut", [1, 1000, 10**6 - 1, 10**6])
def test_gzip_of_every_size_and_number_of_members(cut):
    content = np.random.default_rng(0).integers(0, 4, 3 * 10**6, np.uint8).tobytes()
    packed = b"".join(gzip.compress(part, 1) for part in (content[:cut], content[cut:], b"")) + b"\0" * 512
    assert unpack(packed, 10**8, "a") == content
    with pytest.raises(InvalidInputError, match="a: damaged or truncated"):
        unpack(packed + b"more", 10**8, "a")
    with pytest.raises(InvalidInputError, match="a: larger than"):
        unpack(packed, len(content) - 1, "a")


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("ms", "UTC"), pa.date64(), pa.duration("s")])
def test_labels_that_are_dates_beyond_the_years_that_python_knows(tmp_path, kind):
    dates = pa.array([2**62, 5, None]).view(kind)
    pa.parquet.write_table(pa.table({"label": dates, "score": [0.1, 0.2, 0.3]}), tmp_path / "a.parquet")
    with pytest.raises(InvalidInputError, match="expected numbers in column 'label'"):
        te.compare(tmp_path / "a.parquet", metrics="auc_roc")
