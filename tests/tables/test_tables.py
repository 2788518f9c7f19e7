"""Reading users' tables: every format gives the same columns, and whatever is wrong with a file is one clear line."""

import gzip
import io
import json
import pickle
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from data_files import npy, npz, write, written
from tsadeval.errors import InvalidInputError
from tsadeval.scores.tabular import scorings
from tsadeval.tables import Table, read_table

FRAME = pd.DataFrame(
    {"name": ["a", "b", "b"], "label": [0, 1, 0], "score": [0.1, 1 / 3, 1e-300], "big": [2**60 + 1, 2, 3]}
)


def in_every_format(frame):
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, arrow.schema) as writer:
        writer.write_table(arrow, max_chunksize=2)
    text = frame.to_csv(index=False).encode()
    return {
        "a.csv": text,
        "a.CSV": text,
        "a.csv.gz": gzip.compress(text),
        "mac.csv": text.replace(b"\n", b"\r"),
        "windows.csv": b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"),
        "a.tsv": frame.to_csv(index=False, sep="\t").encode(),
        "a.tsv.gz": gzip.compress(frame.to_csv(index=False, sep="\t").encode()),
        "a.parquet": written(frame, "to_parquet", index=False),
        "groups.parquet": written(frame, "to_parquet", index=False, row_group_size=1),
        "a.feather": written(frame, "to_feather"),
        "zstd.feather": written(frame, "to_feather", compression="zstd"),
        "plain.feather": written(frame, "to_feather", compression="uncompressed"),
        "a.arrow": stream.getvalue(),
        "polars.arrow": written(pl.from_pandas(frame), "write_ipc", compression="zstd"),
        "a.jsonl": frame.to_json(orient="records", lines=True, double_precision=15).encode(),
        "a.ndjson.gz": gzip.compress(b"\n".join(json.dumps(r).encode() for r in frame.to_dict("records"))),
        "a.npy": npy(frame.drop(columns="name").to_records(index=False)),
        "a.npz": npz(**{name: frame[name].to_numpy() for name in frame if name != "name"}),
    }


FORMATS = in_every_format(FRAME)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_columns(tmp_path, name):
    table = read_table(write(tmp_path / name, FORMATS[name]))
    assert table.source == str(tmp_path / name)
    assert table.n == 3
    assert table.numbers("label").tolist() == [0, 1, 0]
    assert table.numbers("score").tolist() == pytest.approx(
        FRAME["score"].tolist(), rel=0 if name != "a.jsonl" else 1e-9
    )
    assert table.numbers("big").tolist() == FRAME["big"].tolist()
    assert table.numbers("big").dtype.kind == "i"


@pytest.mark.parametrize("name", [name for name in FORMATS if not name.startswith("mac")])
def test_standard_input_needs_no_name(tmp_path, name, monkeypatch):
    class Standard:
        buffer = io.BytesIO(FORMATS[name])

        def isatty(self):
            return False

    monkeypatch.setattr(sys, "stdin", Standard())
    assert read_table("-").numbers("label").tolist() == [0, 1, 0]


def test_standard_input_that_is_no_file(monkeypatch):
    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    with pytest.raises(InvalidInputError, match="standard input is not a file or a pipe"):
        read_table("-")


@pytest.mark.parametrize(
    "make",
    [lambda f: f, pl.from_pandas, pa.Table.from_pandas, lambda f: f.to_dict("list"), lambda f: f.convert_dtypes()],
)
def test_frames_and_dictionaries(make):
    table = read_table(make(FRAME))
    assert (table.source, table.n) == ("the table", 3)
    assert [table.numbers(name).tolist() for name in ("label", "score", "big")] == [
        FRAME[name].tolist() for name in ("label", "score", "big")
    ]
    with pytest.raises(InvalidInputError, match="the table: expected numbers in column 'name', found 'a'"):
        table.numbers("name")
    assert read_table(table) is table


@pytest.mark.parametrize("given", [3, [1, 2], np.zeros(3), None])
def test_what_is_no_table(given):
    with pytest.raises(InvalidInputError, match="expected a path, a data frame or a mapping of arrays, found"):
        read_table(given)


def test_the_index_of_a_frame(tmp_path):
    frame = FRAME.set_index(pd.Index([7, 9, 8], name="row"))
    for table in (read_table(frame), read_table(write(tmp_path / "a.parquet", written(frame, "to_parquet")))):
        assert table.index == {"row"}
        assert table.numbers("row").tolist() == [7, 9, 8]
    shuffled = write(tmp_path / "b.parquet", written(FRAME.iloc[::-1], "to_parquet"))
    assert set(read_table(shuffled).columns) == set(FRAME)  # "__index_level_0__" is nobody's column
    times = FRAME.set_index(pd.date_range("2024", periods=3))
    assert read_table(times).index == {"index"}


def test_a_npy_file_without_names(tmp_path):
    table = read_table(write(tmp_path / "a.npy", npy(np.array([[0, 5, 7], [1, 6, 8]]))))
    assert set(table.columns) == {"0", "1", "2"}
    assert table.numbers("label").tolist() == table.numbers("0").tolist() == [0, 1]
    assert table.numbers("score").tolist() == [5, 6]
    assert "label" in table
    assert "x" not in table


def test_missing_values_are_nan(tmp_path):
    csv = write(tmp_path / "a.csv", "a,b,c,d\n1,0.5,NaN,True\n,,null,\n3,NA,,False\n")
    jsonl = write(tmp_path / "a.jsonl", '{"a":1,"b":0.5,"c":NaN,"d":true}\n\n{"a":null}\n{"a":3,"c":null,"d":false}\n')
    masked = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    frame = {"a": masked, "b": [0.5, None, None], "c": [None] * 3, "d": pd.array([True, None, False], "boolean")}
    parquet = write(
        tmp_path / "a.parquet", written(pd.DataFrame(read_table(csv).columns["a"].to_pandas()), "to_parquet")
    )
    for source in (csv, jsonl, frame):
        table = read_table(source)
        for name, expected in {
            "a": [1, np.nan, 3],
            "b": [0.5, np.nan, np.nan],
            "c": [np.nan] * 3,
            "d": [1, np.nan, 0],
        }.items():
            np.testing.assert_array_equal(np.asarray(table.numbers(name)), expected)  # what is masked equals anything
    np.testing.assert_array_equal(read_table(parquet).numbers("a"), [1, np.nan, 3])


def test_a_blank_line_of_a_single_column_is_a_missing_value(tmp_path):
    """In a file of labels, leaving it out would move all labels below it up by one."""
    for text, expected in [("x\n1\n\n3\n", [1, np.nan, 3]), ("x\n\n1\n3\n\n\n", [np.nan, 1, 3]), ("x\r\n1\r\n", [1])]:
        np.testing.assert_array_equal(read_table(write(tmp_path / "a.csv", text)).numbers("x"), expected)
    assert read_table(write(tmp_path / "a.csv", "x,y\n1,2\n\n\n3,4\n\n")).n == 2


def test_words_that_mean_missing_stay_words_where_all_are(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "detector,x\nnull,1\nnull,2\n"))
    assert table.columns["detector"].to_pylist() == ["null", "null"]
    table = read_table(write(tmp_path / "a.csv", "detector,x\nnull,1\nlof,2\n"))
    assert table.columns["detector"].to_pylist() == ["null", "lof"]


def test_columns_that_name_series_can_stay_text(tmp_path):
    path = write(tmp_path / "a.csv", "series,label\n01,0\n1,0\n")
    assert read_table(path, text=["series"]).columns["series"].to_pylist() == ["01", "1"]


@pytest.mark.parametrize("text", ["18446744073709551617", "-9007199254740993", "9" * 400, "9" * 5000])
@pytest.mark.parametrize("other", ["0.5", "1", ""])
def test_integers_do_not_lose_digits(tmp_path, text, other):
    """Two scores that differ must not become equal."""
    csv = write(tmp_path / "a.csv", f"x,y\n{text},0\n{other},0\n{text},0\n")
    if other == "1" and text.startswith("-"):
        assert read_table(csv).numbers("x").tolist() == [int(text), 1, int(text)]
        return
    with pytest.raises(InvalidInputError, match=r"the column 'x' holds the integer -?\d+, which a 64-bit float cannot"):
        read_table(csv).numbers("x")
    if len(text) < 4000:
        jsonl = write(tmp_path / "a.jsonl", "\n".join(f'{{"x":{v or "null"}}}' for v in (text, other)))
        with pytest.raises(InvalidInputError, match=r"the column 'x' holds the integer -?\d+, which a 64-bit float"):
            read_table(jsonl).numbers("x")


def test_large_numbers_that_floats_hold(tmp_path):
    table = read_table(write(tmp_path / "a.csv", f"x,y,z\n{2**60},1e300,{2**70}\n0.5,-1e20,0.5\n"))
    assert table.numbers("x").tolist() == [2.0**60, 0.5]
    assert table.numbers("y").tolist() == [1e300, -1e20]
    assert table.numbers("z").tolist() == [2.0**70, 0.5]
    assert read_table({"x": [2**64 - 1, 0]}).numbers("x").dtype == np.uint64
    wide = np.array([1, 1 + np.finfo(np.longdouble).eps])
    assert read_table({"x": wide}).numbers("x").dtype == np.longdouble
    assert read_table({"x": np.arange(3, dtype=">f8")}).numbers("x").dtype.isnative


BAD = [
    ("a.csv", "", "the file is empty"),
    ("a.csv", "\n\n", "expected column names on the first line, found none"),
    ("a.csv", "x,label", "has no rows"),
    ("a.csv", "x,label\n1,0\n2,1,5\n", "row 2 has 3 fields, but there are 2 column names; every row needs one"),
    ("a.csv", "x,label\n7,1,0\n8,2,1\n", "row 1 has 3 fields, but there are 2 column names; every row needs one"),
    ("a.csv", "x,label\n1,0\n2\n", "row 2 has 1 fields, but there are 2 column names"),
    ("a.csv", "x,label\n" + "1,0\n" * 400_000 + "2\n", "row 400001 has 1 fields"),
    ("a.csv", "x,label,x\n1,0,2\n", "the column 'x' is there 2 times; rename or drop the others"),
    ("a.csv", "score,label, score\n1,0,2\n", "the column 'score' is there 2 times"),
    ("a.csv", "x,la\xffbel\n1,0\n".encode("latin1"), r"not in UTF-8 \(invalid start byte 0xff\); save it so"),
    ("a.csv", "x,label\n\xff,0\n".encode("latin1"), r"not in UTF-8 \(column 'x'\); save it so"),
    ("a.csv", "x,label\n1,0\n".encode("utf-16"), r"not in UTF-8 \(it holds zero bytes, as UTF-16 does\)"),
    ("a.csv", '"x\ny",label\n1,0\n', "a column name holds a line break, or a quote is not closed"),
    ("a.csv", 'x,label\n"1,0\n2,0\n', "row 1 has 1 fields"),
    ("a.csv", 'x,label\n1,2\n1,"' + "0\n" * 3_000_000, "a row is longer than 1048576 bytes, or a quote is not closed"),
    (
        "a.csv",
        'x,note\n1,fine\n2,"oh\n3,well\n',
        "a quote is not closed, so that rows up to the end of the file are one",
    ),
    ("a.csv", "0.5,1\n0.7,0\n", "no column 'x', and the first line seems to hold values: it must hold the names of"),
    ("a.csv", "x;label\n1;0\n", None),
    ("a.tsv", "x,label\n1,0\n", None),
    ("a.csv.gz", "x,label\n1,0\n", r"damaged or truncated \(it does not begin as gz files do\)"),
    ("a.csv.gz", FORMATS["a.csv.gz"][:-9], r"damaged or truncated \(Compressed file ended before"),
    ("a.csv.gz", FORMATS["a.csv.gz"][:-6] + b"oh dear", r"damaged or truncated \(CRC check failed"),
    ("a.parquet", "no parquet", "damaged or truncated"),
    ("a.parquet", FORMATS["a.parquet"][:-20], "damaged or truncated"),
    ("a.parquet", FORMATS["a.csv"], "damaged or truncated"),
    ("a.feather", FORMATS["a.feather"][:300], "damaged or truncated"),
    ("a.feather", b"FEA1 of old", "feather of version 1 is not read"),
    ("a.jsonl", '{"a":1}\n{"a":1,"a":2}\n', r"line 2 is not readable json \(a name is there twice\)"),
    ("a.jsonl", '{"a":1,"a ":2}\n', "the column 'a' is there 2 times"),
    ("a.jsonl", "{[]:1}", "line 1 is not readable json"),
    ("a.jsonl", "[1, 2]", "line 1 is not an object, as"),
    ("a.jsonl", '{"a":' + "[" * 100_000, "line 1 "),
    ("a.jsonl", '{"a":' + "[" * 100_000 + "]" * 100_000 + "}", "line 1 "),
    ("a.jsonl", b'{"a":"\xff"}', "line 1 is not readable json"),
    ("a.npz", "no npz", "it does not begin as npy and npz files do"),
    ("a.npz", FORMATS["a.npz"][:-30], "damaged or truncated"),
    ("a.npz", npy(np.zeros(3)), "expected a npz file with named arrays, found a single array"),
    ("a.npz", npz(), "holds no arrays"),
    ("a.npz", npz(x=np.zeros(0)), "has no rows"),
    ("a.npz", npz(x=np.array([{}])), r"holds Python objects \(a pickle\), which are never opened"),
    ("a.npy", npy(np.array([{}])), r"holds Python objects \(a pickle\), which are never opened"),
    ("a.npy", pickle.dumps([1]), r"damaged or truncated \(it does not begin as npy files do\)"),
    ("a.npy", npy(np.zeros((3, 3)))[:-5], "damaged or truncated"),
    ("a.npy", npy(np.zeros(3)), r"expected named fields or shape \(n, columns\), but it has shape \(3,\)"),
    ("a.npy", npy(np.zeros((9, 2))).replace(b"(9, 2)", b"(9" + b"0" * 15 + b", 2)"), "damaged|fit into memory"),
    ("a.pkl", pickle.dumps([1]), "pickles are never opened, as they can run any program; use .csv"),
    ("a.txt", "1", "cannot read .txt; use .csv"),
    ("a", "1", "cannot read a file without suffix; use .csv"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=range(len(BAD)))
def test_bad_files_are_one_clear_line(tmp_path, name, content, message):
    path = write(tmp_path / name, content)
    if message is None:
        message = (
            "expected commas between the columns, found 'x.label' as the only one|no column 'x': valid names: x,label"
        )
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_table(path).name("x")
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value).splitlines()) == 1
    assert str(caught.value).isprintable()


def test_names_of_columns(tmp_path):
    path = write(tmp_path / "a.csv", ' x , "label",,"a,b",\n1,0,5,6,7\n')
    assert set(read_table(path).columns) == {"x", "label", "Unnamed: 2", "a,b", "Unnamed: 4"}
    for names in (["x", "x"], ["x", " x"], [1, "1"]):
        with pytest.raises(InvalidInputError, match=r"the table: the column '(x|1)' is there 2 times"):
            read_table(pd.DataFrame([[1, 2]], columns=names))
    with pytest.raises(InvalidInputError, match="the column 'x' is there 2 times"):
        read_table(pa.table([pa.array([1]), pa.array([2])], names=["x", "x"]))
    with pytest.raises(InvalidInputError, match="the column 'x' is there 2 times"):
        read_table({"x": [1], "x ": [2]})
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zipfile, about the name that is there twice
        for _ in range(2):
            members.writestr("x.npy", npy(np.zeros(3)))
    with pytest.raises(InvalidInputError, match="the column 'x' is there 2 times"):
        read_table(write(tmp_path / "a.npz", archive.getvalue()))


def test_what_a_column_holds():
    bad = {
        "text": (np.array(["nan", "b"]), "found 'b'|found np.str_"),
        "digits": (["1", "2"], "found '1'"),
        "lists": ([[1], [2]], r"found \[1\]"),
        "dates": (np.array(["2024-01-01"], "M8[D]"), "found values of type datetime64|found np.datetime64"),
        "complex": (np.array([1j]), "found (np.complex128.)?1j"),
        "tz": (pd.date_range("2024", periods=2, tz="UTC").to_series(), "found Timestamp"),
        "category": (pd.Series(["a", "b"], dtype="category"), "found 'a'"),
        "nested": (pa.array([[1], [2]]), "found values of type list<item: int64>"),
        "numbers as text": (pa.array(["1", "2"]), "found '1'"),
        "bytes": (pa.array([b"1"]), "found values of type binary"),
    }
    for name, (values, message) in bad.items():
        with pytest.raises(InvalidInputError, match=f"expected numbers in column '{name}', {message}"):
            read_table({name: values}).numbers(name)
    good = {
        "category": (pd.Series([1, 2, 1], dtype="category"), [1, 2, 1]),
        "dictionary": (pa.array([0.5, 0.25, 0.5]).dictionary_encode(), [0.5, 0.25, 0.5]),
        "decimal": (pa.array([1, 2, None], pa.decimal128(5, 2)), [1, 2, np.nan]),
        "polars": (pl.Series([1, None, 3]), [1, np.nan, 3]),
        "tuple": ((True, False), [True, False]),
        "range": (range(3), [0, 1, 2]),
        "none": (pd.Series([None, None], dtype=object), [np.nan, np.nan]),
        "mixed": ([1, 2.5, np.float32(3), np.bool_(True)], [1, 2.5, 3, 1]),
    }
    for name, (values, expected) in good.items():
        np.testing.assert_array_equal(read_table({name: values}).numbers(name), expected)


def test_columns_of_different_lengths(tmp_path):
    table = read_table(write(tmp_path / "a.npz", npz(x=np.zeros(3), y=np.zeros((2, 2)), window=np.array(100))))
    with pytest.raises(InvalidInputError, match=r"a.npz: expected columns of one length, found x 3, y 2"):
        assert table.n
    assert table.numbers("y").shape == (2, 2)


def test_an_unknown_column_among_very_many(tmp_path):
    table = Table({f"d{i}": np.zeros(1) for i in range(40_000)})
    with pytest.raises(InvalidInputError, match=r"no column 'label': valid names: d0, .*, d19, ... \(40000 in all\)"):
        table.name("label")
    assert len(repr(table)) < 300


def test_nested_columns_of_parquet_are_left_out(tmp_path):
    table = pa.table({"label": [0, 1], "a": [[1], [2]], "b": [{"label": 1}, {"label": 2}], "c.d": [1, 2]})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    assert set(read_table(tmp_path / "a.parquet").columns) == {"label", "c.d"}
    pa.parquet.write_table(table.select(["a", "b"]), tmp_path / "a.parquet")
    with pytest.raises(InvalidInputError, match="expected plain columns, found nested ones only"):
        read_table(tmp_path / "a.parquet")


def test_a_wide_table_guesses_types_and_takes_it_back(tmp_path):
    names = [f"d{i}" for i in range(600)]
    rows = [["0.5"] * 600, ["1"] * 599 + ["oh"], ["0.25"] * 600]
    table = read_table(write(tmp_path / "a.csv", "\n".join(",".join(row) for row in [names, *rows])))
    assert table.numbers("d0").tolist() == [0.5, 1, 0.25]
    with pytest.raises(InvalidInputError, match="expected numbers in column 'd599', found 'oh'"):
        table.numbers("d599")


def test_reading_is_not_imported_before_it_is_needed():
    code = "import sys, tsadeval, tsadeval.tables; print(sorted({'pandas', 'pyarrow', 'polars'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("rows", [2, 40_000])  # in one chunk of Arrow's, and in several
@pytest.mark.parametrize("read", ["read_table({path!r}).numbers('score')", "[*te.batches({path!r})]"])
def test_fractions_of_csv_import_no_pandas(tmp_path, rows, read):
    """It takes longer to import than most files take to read."""
    path = write(tmp_path / "a.csv", "label,score,time\n" + "".join(f"{i % 2},{i / 7},{i}\n" for i in range(rows)))
    code = "import sys, tsadeval as te; from tsadeval.tables import read_table; "
    code += read.format(path=str(path)) + "; print('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize("numbers", [np.arange(50)[::-1], np.arange(50)[::-1] / 4])
def test_numbers_of_time_that_go_back_are_refused_in_files_as_in_frames(tmp_path, numbers):
    frame = pd.DataFrame({"time": numbers, "label": [0, 1] * 25, "score": np.arange(50.0)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for source in (frame, tmp_path / "a.csv", tmp_path / "a.parquet"):
        with pytest.raises(InvalidInputError, match=r"not in the order of time: column 'time' goes back 49 times"):
            list(scorings(read_table(source)))
