"""Files and folders of the user's own."""

import numpy as np
import pandas as pd
import pytest

import tsadeval as te
from data_files import ones, rows, write
from tsadeval.errors import InvalidInputError, InvalidParameterError


@pytest.fixture
def table():
    return pd.DataFrame(
        {"timestamp": ["a", "b", "c", "d"], "x": [1.0, 2, 3, 4], "y": [5, 6, 7, 8], "label": [0, 0, 1, 0]}
    )


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "npz"])
def test_your_own_file(tmp_path, table, form):
    path = tmp_path / f"mine.{form}"
    if form == "parquet":
        table.to_parquet(path)
    elif form == "npz":
        np.savez(path, xy=table[["x", "y"]].to_numpy(), label=table["label"])
    else:
        table.to_csv(path, index=False)
    data = te.datasets.load(path)
    assert data.name == str(path)
    assert data.names == (("xy_1", "xy_2") if form == "npz" else ("x", "y"))
    assert data.test.tolist() == data.train.tolist() == [[1, 5], [2, 6], [3, 7], [4, 8]]
    assert ones(data) == [2]
    for split in (1, 0.25):
        part = te.datasets.load(str(path), split=split)
        assert (part.train.shape, part.test.shape) == ((1, 2), (3, 2))
        assert ones(part) == [1]
    assert te.datasets.load(path, features=False).test is None
    assert te.datasets.items(path) == (str(path),)


def test_your_own_columns(tmp_path, table):
    path = tmp_path / "mine.csv"
    table.rename(columns={"label": "is_anomaly"}).to_csv(path, index=False)
    data = te.datasets.load(path, label="is_anomaly", columns=["y"])
    assert data.names == ("y",)
    with pytest.raises(
        InvalidInputError,
        match=r"mine.csv: no labels 'label': valid names: timestamp, x, y, is_anomaly; name",
    ):
        te.datasets.load(path)
    with pytest.raises(InvalidInputError, match=r"no column 'yy' \(columns=\): did you mean y"):
        te.datasets.load(path, label="is_anomaly", columns=["yy"])
    with pytest.raises(InvalidInputError, match=r"columns must be several names, but is 'y': write \['y'\]"):
        te.datasets.load(path, label="is_anomaly", columns="y")
    with pytest.raises(InvalidInputError, match=r"split=9 leaves one part of 4 rows empty"):
        te.datasets.load(path, label="is_anomaly", split=9)
    with pytest.raises(InvalidParameterError, match="split must be a number > 0 or None, but is 0"):
        te.datasets.load(path, label="is_anomaly", split=0)
    with pytest.raises(InvalidParameterError, match="has no option 'labels': did you mean label"):
        te.datasets.load(path, labels="is_anomaly")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": ["1", "b", "3", "4"]}, "expected numbers in column 'x', found 'b'; choose with columns="),
        ({"x": [1, np.nan, 3, 4]}, "expected finite numbers, found nan in train row 1, column x .*; fill or drop them"),
        ({"label": [0, 1, 2, 0]}, "expected labels of 0 and 1, found 2 at position 2"),
        ({"label": ["no", "yes", "no", "no"]}, "expected numbers in column 'label', found 'no'"),
    ],
)
def test_your_own_bad_values(tmp_path, table, change, message):
    path = tmp_path / "mine.csv"
    table.assign(**change).to_csv(path, index=False)
    with pytest.raises(InvalidInputError, match=message):
        te.datasets.load(path)


def test_your_own_bad_files(tmp_path):
    for name, content, message in [
        ("a.csv", "", "the file is empty"),
        ("a.csv", "label\n0\n", "expected at least one column beside labels and times, found none"),
        ("a.csv", "x,label\n", "has no rows"),
        ("a.parquet", "no parquet", "a.parquet: damaged or truncated"),
        ("a.npz", "no npz", "a.npz: damaged or truncated"),
        ("a.txt", "1", r"a.txt: cannot read .txt; use .csv"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            te.datasets.load(write(tmp_path / name, content))
    np.savez(tmp_path / "a.npz", x=np.zeros(3), z=np.zeros(2), label=np.zeros(3))
    with pytest.raises(InvalidInputError, match="expected columns of one length, found x 3, z 2"):
        te.datasets.load(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", x=np.zeros(3), label=np.zeros(2))
    with pytest.raises(InvalidInputError, match=r"expected one label for each of 3 test points, found 2 in .*a.npz"):
        te.datasets.load(tmp_path / "a.npz")


@pytest.mark.parametrize("heading", ["x,label,label", "x,label, label", "x,x,label"])
def test_a_column_that_is_there_twice_is_refused(tmp_path, heading):
    """pandas calls the second one "label.1", and a detector would learn from the labels."""
    path = write(tmp_path / "a.csv", f"{heading}\n1,0,0\n2,1,1\n")
    with pytest.raises(InvalidInputError, match=r"a.csv: the column '(x|label)' is there 2 times; rename or drop"):
        te.datasets.load(path)


def test_a_file_in_another_form_says_which(tmp_path):
    with pytest.raises(InvalidInputError, match="expected commas between the columns, found 'x;label' as the only"):
        te.datasets.load(write(tmp_path / "a.csv", "x;label\n1;0\n"))
    (tmp_path / "a.csv").write_bytes("gr\xf6\xdfe,label\n1,0\n".encode("latin1"))
    with pytest.raises(InvalidInputError, match=r"a.csv: not in UTF-8 .*; save it so"):
        te.datasets.load(tmp_path / "a.csv")
    np.savez(tmp_path / "a.npz", train=np.array([{}]), test=np.zeros(2), label=np.zeros(2))
    with pytest.raises(InvalidInputError, match=r"holds Python objects .* which are never opened; save plain numbers"):
        te.datasets.load(tmp_path / "a.npz")
    with pytest.raises(InvalidInputError, match=r"b.npz: damaged or truncated .it does not begin as npy and npz files"):
        te.datasets.load(write(tmp_path / "b.npz", "no npz"))


def test_a_path_of_home(tmp_path, table, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    table.to_csv(tmp_path / "mine.csv", index=False)
    assert te.datasets.load("~/mine.csv").test.shape == (4, 2)
    assert te.datasets.items("~/mine.csv") == (str(tmp_path / "mine.csv"),)


def test_your_own_npz_with_train_and_test(tmp_path):
    np.savez(tmp_path / "a.npz", train=rows(5, 2), test=rows(3, 2), label=[0, 1, 0])
    data = te.datasets.load(tmp_path / "a.npz")
    assert (data.train.shape, data.test.shape) == ((5, 2), (3, 2))
    assert data.names == ("column_1", "column_2")


def test_your_own_folder(tmp_path, table):
    folder = tmp_path / "mine"
    folder.mkdir()
    table.to_csv(folder / "train.csv", index=False)
    with pytest.raises(InvalidInputError, match=r"mine is a folder of 1 series: load one, as '.*train.csv'"):
        te.datasets.load(folder)
    table.iloc[:3].to_parquet(folder / "test.parquet")
    data = te.datasets.load(folder)
    assert (data.train.shape, data.test.shape) == ((4, 2), (3, 2))
    assert ones(data) == [2]
    assert te.datasets.items(folder) == (str(folder),)
    write(folder / "test_label.csv", "label\n1\n0\n0\n")
    assert ones(te.datasets.load(folder)) == [0]
    table.drop(columns="x").to_csv(folder / "train.csv", index=False)
    with pytest.raises(InvalidInputError, match=r"test.parquet: expected the columns of .*train.csv, they differ in x"):
        te.datasets.load(folder)
    (folder / "train.csv").unlink()
    with pytest.raises(InvalidInputError, match=r"mine: expected a file train .* in this folder, found none"):
        te.datasets.load(folder)
    assert ones(te.datasets.load(folder, features=False)) == [0]


def test_your_own_folder_of_series(tmp_path, table):
    for name in "ba":
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    names = te.datasets.items(tmp_path)
    assert names == (str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))
    assert te.datasets.load(names[0]).test.shape == (4, 2)
