"""PSM, SWaT, Creditcard, NAB and ASD, in each form in which they are published."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import tsadeval as te
from data_files import (
    load,
    npy,
    ones,
    rows,
    write,
    zipped,
)
from tsadeval.errors import InvalidInputError


def psm(root, folder="PSM"):
    names = [f"feature_{i}" for i in range(25)]
    train = pd.DataFrame(rows(4, 25), columns=names)
    train.iloc[0, 3] = train.iloc[2, 5] = np.nan
    test = pd.DataFrame(rows(3, 25, 1), columns=names)
    for kind, frame, times in [("train", train, [0, 1, 2, 3]), ("test", test, [4, 5, 60])]:
        frame = frame.copy()
        frame.insert(0, "timestamp_(min)", times)
        write(root / folder / f"{kind}.csv", frame.to_csv(index=False))
    write(root / folder / "test_label.csv", "timestamp_(min),label\n4.0,0\n5.0,1\n60.0,1\n")
    return train, test


def test_psm(tmp_path):
    train, test = psm(tmp_path)
    data = load("psm", tmp_path)
    assert np.array_equal(data.test, test.to_numpy())
    assert data.names[0] == "feature_0"
    assert ones(data) == [1, 2]
    # A missing value takes the one before it, at the beginning the one after it.
    assert data.train[2, 5] == train.iloc[1, 5]
    assert data.train[0, 3] == train.iloc[1, 3]
    assert te.datasets.items("psm", data=tmp_path) == ("psm",)
    psm(tmp_path / "PSM", "sample")
    assert load("psm/sample", tmp_path).train.shape == (4, 25)


PSM_EMPTY = f"timestamp_(min),{','.join(f'feature_{i}' for i in range(25))}\n" + f"1,1,{',1' * 23}\n2,1,{',1' * 23}\n"


def test_psm_labels_do_not_take_features_from_a_copy_below(tmp_path):
    psm(tmp_path / "PSM", "sample")
    write(tmp_path / "PSM" / "test_label.csv", "timestamp_(min),label\n1,0\n")
    assert load("psm", tmp_path).test is None
    assert te.datasets.items("psm", data=tmp_path) == ()


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("test.csv", None, "psm: test.csv is missing next to"),
        ("test_label.csv", "timestamp_(min),lable\n1,0\n", r"test_label.csv: no column 'label': did you mean lable"),
        (
            "test_label.csv",
            "timestamp_(min),label\n1,0\n",
            r"psm: expected one label for each of 3 test points, found 1 in .*PSM",
        ),
        ("train.csv", "timestamp_(min),feature_0\n1,0.5\n", r"test.csv: expected the columns of .*train.csv"),
        ("train.csv", "feature_0\n0.5\n", r"train.csv: no column 'timestamp_\(min\)'"),
        ("train.csv", "timestamp_(min),feature_0\n", r"train.csv: has no rows"),
        (
            "train.csv",
            "timestamp_(min),feature_0\n1,x\n",
            r"train.csv: expected numbers in column 'feature_0', found 'x'",
        ),
        (
            "test.csv",
            PSM_EMPTY,
            r"psm: expected finite numbers, found nan in test row 0, column feature_1 \(2 such values",
        ),
    ],
)
def test_psm_bad_files(tmp_path, path, content, message):
    psm(tmp_path)
    file = tmp_path / "PSM" / path
    file.unlink() if content is None else write(file, content)
    with pytest.raises(InvalidInputError, match=message):
        load("psm", tmp_path)


SWAT = {
    "commas": (
        "Timestamp,FIT101,LIT101,Normal/Attack\n22/12/2015 4:00:00 PM,0.5,124.3,Normal\nb,1,125,Normal\n",
        " Timestamp, FIT101 ,LIT101 ,Normal/Attack\n 28/12/2015, 2.5,1,Normal\n b,2,3.5,Attack\n c,2,3,A ttack\n",
    ),
    "semicolons": (
        ";P1;P1;\nTimestamp;FIT101;LIT101;Normal/Attack\na;0,5;124,3;Normal\nb;1;125;Normal\n",
        "Timestamp; FIT101;LIT101; Normal/Attack;\na;2,5;1;Normal;\nb;2;3,5;Attack;\nc;2;3;A ttack;\n;;;;\n",
    ),
    "semicolons and points": (
        "Timestamp;FIT101;LIT101;Normal/Attack\na;0.5;124.3;Normal\nb;1;125;Normal\n",
        "Timestamp;LIT101;FIT101;Normal/Attack\na;1;2.5;Normal\nb;3.5;2;Attack\nc;3;2;A ttack\n",
    ),
    "two files": (
        "FIT101,LIT101,Normal/Attack\n0.5,124.3,0\n1,125,0\n",
        "FIT101,LIT101,Normal/Attack\n2.5,1,0.0\n2,3.5,1.0\n2,3,1.0\n",
    ),
}


@pytest.mark.parametrize("form", SWAT)
def test_swat(tmp_path, form):
    names = ("swat_train2.csv", "swat2.csv")
    if form != "two files":
        names = ("SWaT_Dataset_Normal_v1.csv", "SWaT_Dataset_Attack_v0.csv")
    for name, content in zip(names, SWAT[form], strict=True):
        write(tmp_path / "SWaT" / name, content)
    data = load("swat", tmp_path)
    assert data.names == ("FIT101", "LIT101")
    assert data.train.tolist() == [[0.5, 124.3], [1, 125]]
    assert data.test.tolist() == [[2.5, 1], [2, 3.5], [2, 3]]
    assert ones(data) == [1, 2]
    assert te.datasets.items("swat", data=tmp_path) == ("swat",)
    assert ones(load("swat", tmp_path, features=False)) == [1, 2]


def test_swat_labels_only(tmp_path):
    write(tmp_path / "swat" / "swat_labels.gz", gzip.compress(b"0\n1\n1\n"))
    data = load("swat", tmp_path)
    assert data.test is None
    assert ones(data) == [1, 2]


@pytest.mark.parametrize(
    ("normal", "attack", "message"),
    [
        (None, SWAT["commas"][1], "swat: the file of normal operation is missing next to"),
        (
            SWAT["commas"][0],
            "Timestamp,FIT101,LIT101,Normal/Attack\na,1,2,Atack\n",
            "expected Normal or Attack in every row, found 'Atack'",
        ),
        (
            SWAT["commas"][0],
            "Timestamp,FIT101,LIT101\na,1,2\n",
            "expected a column Normal/Attack, found FIT101, LIT101",
        ),
        (SWAT["commas"][0], "Timestamp,FIT101,P1,Normal/Attack\na,1,2,Normal\n", "they differ in LIT101, P1"),
        ("Timestamp,FIT101,LIT101\na,1,bad\n", SWAT["commas"][1], "expected numbers in column 'LIT101', found 'bad'"),
    ],
)
def test_swat_bad_files(tmp_path, normal, attack, message):
    for name, content in (("SWaT_Dataset_Normal_v1.csv", normal), ("SWaT_Dataset_Attack_v0.csv", attack)):
        if content is not None:
            write(tmp_path / "SWaT" / name, content)
    with pytest.raises(InvalidInputError, match=message):
        load("swat", tmp_path)


def creditcard():
    table = pd.DataFrame(rows(6, 28), columns=[f"V{i}" for i in range(1, 29)])
    table.insert(0, "Time", range(6))
    return table.assign(Amount=range(6), Class=[0, 1, 0, 0, 1, 0])


def test_creditcard_csv(tmp_path):
    zipped(tmp_path / "Creditcard" / "archive.zip", {"creditcard.csv": creditcard().to_csv(index=False)})
    data = load("creditcard", tmp_path)
    assert data.names == (*(f"V{i}" for i in range(1, 29)), "Amount")
    assert ones(data) == [1, 4]
    assert np.array_equal(data.train, data.test)
    half = load("creditcard", tmp_path, split=0.5)
    assert (len(half.train), len(half.test)) == (3, 3)
    assert ones(half) == [1]
    assert ones(load("creditcard", tmp_path, features=False)) == [1, 4]
    assert te.datasets.items("creditcard", data=tmp_path) == ("creditcard",)
    with pytest.raises(InvalidInputError, match=r"split=0.01 leaves one part of 6 rows empty"):
        load("creditcard", tmp_path, split=0.01)


def test_creditcard_arrays(tmp_path):
    arrays = {"train": rows(4, 29), "test": rows(3, 29, 1), "test_label": np.array([[0], [1], [0]])}
    for kind, array in arrays.items():
        write(tmp_path / "NIPS_TS_Creditcard" / f"NIPS_TS_creditcard_{kind}.npy", npy(array))
    data = load("creditcard", tmp_path)
    assert np.array_equal(data.train, arrays["train"])
    assert ones(data) == [1]
    (tmp_path / "NIPS_TS_Creditcard" / "NIPS_TS_creditcard_test.npy").unlink()
    with pytest.raises(InvalidInputError, match=r"creditcard_test.npy is missing next to"):
        load("creditcard", tmp_path)


def test_creditcard_labels_only(tmp_path):
    folder = tmp_path / "Creditcard"
    write(folder / "creditcard_fraud_row_index.txt", "3\n284806\n")
    data = te.datasets.load("creditcard", data=tmp_path, verify=False)
    assert len(data.test_labels) == 284_807
    assert ones(data) == [3, 284_806]
    write(folder / "creditcard_fraud_row_index.txt", "3\n284807\n")
    with pytest.raises(InvalidInputError, match="expected row numbers from 0 to 284806"):
        load("creditcard", tmp_path)
    np.savez(folder / "creditcard_labels.npz", label=np.array([0, 1, 0], np.uint8))
    assert ones(load("creditcard", tmp_path)) == [1]
    with pytest.raises(InvalidInputError, match="creditcard: expected 284807 test points, found 3"):
        te.datasets.load("creditcard", data=tmp_path)
    np.savez(folder / "creditcard_labels.npz", other=np.zeros(3))
    with pytest.raises(InvalidInputError, match=r"creditcard_labels.npz: no column 'label': valid names: other"):
        load("creditcard", tmp_path)


def nab(root, windows, n=100):
    times = pd.date_range("2014-07-01", periods=n, freq="30min")
    table = pd.DataFrame({"timestamp": times.strftime("%Y-%m-%d %H:%M:%S"), "value": range(n)})
    write(root / "NAB" / "data" / "realKnownCause" / "made_up.csv", table.to_csv(index=False))
    marks = {"realKnownCause/made_up.csv": [[f"{times[a]}.000000", f"{times[b]}.000000"] for a, b in windows]}
    write(root / "NAB" / "labels" / "combined_windows.json", json.dumps(marks))


def test_nab(tmp_path):
    nab(tmp_path, [(20, 22), (50, 50)])
    write(tmp_path / "NAB" / "results" / "random" / "realKnownCause" / "random_made_up.csv", "timestamp,value\n")
    data = load("nab/realKnownCause/made_up.csv", tmp_path)
    assert data.name == "nab/realKnownCause/made_up"
    assert data.train[:, 0].tolist() == list(range(15))
    assert ones(data) == [5, 6, 7, 35]  # both ends belong to a window
    nab(tmp_path, [], n=10_000)
    long = load("nab/realKnownCause/made_up", tmp_path)
    assert len(long.train) == 750  # of a long series, 15 % of 5,000 points
    assert ones(long) == []
    assert (long.description.longest, long.description.shortest) == (0, 0)
    assert te.datasets.items("nab", data=tmp_path) == ("nab/realKnownCause/made_up",)


def test_nab_bad_files(tmp_path):
    nab(tmp_path, [(20, 22)])
    series = tmp_path / "NAB" / "data" / "realKnownCause" / "made_up.csv"
    windows = tmp_path / "NAB" / "labels" / "combined_windows.json"
    whole = series.read_text()
    for content, message in [
        ("\n".join(whole.splitlines()[:15]), "no point lies in the window from 2014-07-01T10:00"),
        ("time,value\n1,2\n", "made_up.csv: no column 'timestamp': did you mean time"),
        (whole + "soon,5", "made_up.csv: expected a time in every row"),
        (whole + "2014-07-05", "made_up.csv: row 101 has 1 fields, but there are 2 column names"),
        ("timestamp,value\n", "made_up.csv: has no rows"),
    ]:
        write(series, content)
        with pytest.raises(InvalidInputError, match=message):
            load("nab/realKnownCause/made_up", tmp_path)
    write(series, whole)
    for content, message in [
        ("{", "combined_windows.json: damaged or truncated"),
        ("{}", "expected windows of realKnownCause/made_up.csv, found none"),
    ]:
        write(windows, content)
        with pytest.raises(InvalidInputError, match=message):
            load("nab/realKnownCause/made_up", tmp_path)


def test_asd(tmp_path):
    folder = tmp_path / "ASD"
    folder.mkdir()
    train = rows(5, 19).astype(np.float32)
    np.savez(folder / "omi-10.npz", train=train, test=rows(3, 19), label=np.array([0, 1, 0], np.uint8))
    np.savez(folder / "omi-2.npz", train=train, test=rows(3, 19), label=np.array([0, 1], np.uint8))
    data = load("asd/omi-10", tmp_path)
    assert data.train.dtype == np.float64
    assert np.array_equal(data.train, train)
    assert ones(data) == [1]
    assert te.datasets.items("asd", data=tmp_path) == ("asd/omi-2", "asd/omi-10")
    with pytest.raises(
        InvalidInputError, match=r"asd/omi-2: expected one label for each of 3 test points, found 2 in .*ASD"
    ):
        load("asd/omi-2", tmp_path)
    np.savez(folder / "omi-2.npz", train=train)
    with pytest.raises(InvalidInputError, match=r"omi-2.npz: no column 'label': valid names: train"):
        load("asd/omi-2", tmp_path)
    write(folder / "omi-2.npz", (folder / "omi-10.npz").read_bytes()[:-200])
    with pytest.raises(InvalidInputError, match=r"omi-2.npz: damaged or truncated"):
        load("asd/omi-2", tmp_path)
    write(folder / "omi-2.npz", npy(train))
    with pytest.raises(InvalidInputError, match="expected a npz file with named arrays, found a single array"):
        load("asd/omi-2", tmp_path)
