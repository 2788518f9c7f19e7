"""Batches of files: the same reader as for whole files, block by block."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import tsadeval as te
from data_files import write
from tsadeval.errors import InvalidInputError
from tsadeval.tables import read_table, text_files


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(text_files, "_BLOCK", 64)


def read(path, **options):
    found = list(te.batches(path, **options))
    assert len(found) > 1
    return [np.concatenate(column).tolist() for column in zip(*found, strict=True)]


def lines(rows, heading="label,score"):
    return "\n".join([heading, *rows]) + "\n"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blocks_of_csv_give_the_rows_of_the_whole(tmp_path, end, packed):
    content = lines(f"{i % 2},{i / 4}" for i in range(100)).replace("\n", end).encode()
    path = write(tmp_path / ("a.csv.gz" if packed else "a.csv"), gzip.compress(content) if packed else content)
    table = read_table(path)
    assert read(path) == [table.numbers("label").tolist(), table.numbers("score").tolist()]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_blank_lines_are_nothing(tmp_path, suffix):
    rows = [f"{i % 2},{i}" for i in range(50)]
    if suffix == "jsonl":
        rows = [json.dumps({"label": i % 2, "score": i}) for i in range(50)]
    blank = "\n" * 200
    content = blank.join(lines(rows[i : i + 10], "label,score" if i == 0 else "").lstrip() for i in range(0, 50, 10))
    content = content.removeprefix("label,score\n") if suffix == "jsonl" else content
    path = write(tmp_path / f"a.{suffix}", content + blank + " ")
    assert read(path) == [[i % 2 for i in range(50)], list(range(50))]


def test_a_block_that_ends_with_the_heading(tmp_path):
    rows = [f"{i % 2},{i},{'x' * 40}" for i in range(9)]
    path = write(tmp_path / "a.csv", lines(rows, "label,score,a_name_of_some_length"))
    assert read(path) == [[i % 2 for i in range(9)], list(range(9))]
    heading = write(tmp_path / "b.csv", "label,score\n")
    assert list(te.batches(heading)) == []


def test_line_breaks_and_quotes_within_values(tmp_path):
    notes = ['"a\nb"', '"he said ""no"",\n\n"', '""', "plain", '"\n"']
    path = write(tmp_path / "a.csv", lines((f"{i % 2},{notes[i % 5]},{i}" for i in range(60)), "label,note,score"))
    assert read(path) == [[i % 2 for i in range(60)], list(range(60))]


def test_a_quote_within_a_value_is_no_row_without_end(tmp_path):
    rows = [f"{i % 2},{i},{'5 pipe' if i == 3 else 'x'}" for i in range(60)]
    rows[3] = '1,3,5" pipe'
    path = write(tmp_path / "a.csv", lines(rows, "label,score,note"))
    assert read(path)[1] == list(range(60))


def test_types_may_change_from_block_to_block(tmp_path):
    """Of labels and times, whole numbers may be followed by fractions, missing values by others."""
    rows = [f"{i % 2},{i},{'' if i < 20 else i}" for i in range(40)] + [
        f"{i % 2}.0,{i}.5,{i}.25" for i in range(40, 80)
    ]
    path = write(tmp_path / "a.csv", lines(rows, "label,score,time"))
    label, score = read(path)
    assert label == [i % 2 for i in range(80)]
    assert score == [i + 0.5 * (i >= 40) for i in range(80)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1", "row 51 has 1 fields, but there are 2 column names; every row needs one"),
        ("1,0.5,3", "row 51 has 3 fields"),
        ("1,oh", "expected numbers in column 'score', found 'oh'|not a readable csv file"),
        (f"1,{2**60 + 1}", f"the column 'score' holds the integer {2**60 + 1}, which a 64-bit float cannot hold"),
        ("1,\0", r"not in UTF-8 \(it holds zero bytes, as UTF-16 does\)"),
        ("1," + "0" * 300, "a row is longer than 64 bytes, or a quote is not closed"),
    ],
)
def test_what_is_wrong_far_behind_the_heading(tmp_path, row, message):
    rows = [*(f"{i % 2},{i}" for i in range(50)), row, *(f"{i % 2},{i}" for i in range(50))]
    with pytest.raises(InvalidInputError, match=message) as caught:
        list(te.batches(write(tmp_path / "a.csv", lines(rows))))
    assert str(caught.value).startswith(str(tmp_path))
    assert len(str(caught.value).splitlines()) == 1


def test_names_of_series_stay_text(tmp_path):
    path = write(tmp_path / "a.csv", lines((f"{i % 2},{i},0{1 + i // 50}" for i in range(100)), "label,score,id"))
    found = list(te.batches(path, by="id"))
    assert {name for name, *_ in found} == {"01", "02"}
    assert sum(len(labels) for _, labels, _ in found) == 100


def test_json_lines(tmp_path):
    rows = [{"label": i % 2, "score": i / 4, "note": 'a "quote' if i == 7 else None} for i in range(50)]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    assert read(path) == [[i % 2 for i in range(50)], [i / 4 for i in range(50)]]
    write(path, path.read_text().replace('{"label": 0, "score": 10.0', '["label": 0, "score": 10.0'))
    with pytest.raises(InvalidInputError, match="line 41 is not readable json"):
        list(te.batches(path))


def test_columns_without_a_name_are_those_of_whole_files(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(12.0).reshape(4, 3) % 2)
    ((label, score),) = te.batches(tmp_path / "a.npy")
    table = read_table(tmp_path / "a.npy")
    assert (label == table.numbers("label")).all()
    assert (score == table.numbers("score")).all()


@pytest.mark.parametrize("suffix", ["parquet", "pq", "feather"])
def test_files_without_rows(tmp_path, suffix):
    table = pa.table({"label": pa.array([], "int8"), "score": pa.array([], "float32"), "text": pa.array([], "string")})
    path = tmp_path / f"a.{suffix}"
    (pa.feather.write_feather if suffix == "feather" else pa.parquet.write_table)(table, path)
    assert list(te.batches(path)) == []
    with pytest.raises(InvalidInputError, match="has no rows"):
        read_table(path)
    assert list(read_table(path, empty=True).columns) == ["label", "score", "text"]
