"""What every data set promises, the light ones (UCR, SMD, MSL, SMAP), and archives."""

import gzip
import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

import tsadeval as te
from data_files import (
    ANOMALIES,
    UCR_NAME,
    lines,
    load,
    npy,
    ones,
    rows,
    smd,
    tarred,
    telemetry,
    telemetry_files,
    write,
    zipped,
)
from refused import refused_values
from tsadeval.datasets.dataset import DATASETS
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError


def test_the_registry_holds_the_nine():
    assert list(DATASETS) == ["asd", "creditcard", "msl", "nab", "psm", "smap", "smd", "swat", "ucr"]


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_every_record_says_what_it_is(name, tmp_path):
    record = DATASETS[name]
    assert record.name == name
    assert all([record.title, record.summary, record.source.startswith("https://"), record.licence, record.get])
    for download in record.downloads:
        assert download.url.startswith("https://")
        assert download.url.endswith(download.path.rpartition("/")[2])
        assert len(download.sha256) in (0, 64)
    for check in record.options.values():
        assert all(not check.accepts(bad) for bad in refused_values(check))
    # An empty root, and an empty folder in it, say which files were expected and how to get them.
    with pytest.raises(InvalidInputError, match=f"{name}: there is no folder {record.folders[0]}") as error:
        te.datasets.load(name, data=tmp_path)
    assert record.layout in str(error.value)
    assert record.get in str(error.value)
    (tmp_path / record.folders[0]).mkdir()
    with pytest.raises(InvalidInputError, match=f"{name}: there are no files of it in") as error:
        te.datasets.load(name, data=tmp_path)
    assert record.layout in str(error.value)
    assert te.datasets.items(name, data=tmp_path) == ()


def test_names_and_roots(tmp_path, monkeypatch):
    monkeypatch.delenv("TSADEVAL_DATA", raising=False)
    with pytest.raises(UnknownNameError, match=r"unknown data set 'ucrr/1', and there is no such file.*mean ucr\?"):
        te.datasets.load("ucrr/1", data=tmp_path)
    with pytest.raises(InvalidInputError, match=r"ucr: no data folder was given; pass data= .* or set TSADEVAL_DATA"):
        te.datasets.load("ucr/1")
    with pytest.raises(InvalidInputError, match="there is no data folder"):
        te.datasets.load("ucr/1", data=tmp_path / "nowhere")
    with pytest.raises(InvalidParameterError, match="ucr has no option 'ends': did you mean end"):
        te.datasets.load("ucr/1", data=tmp_path, ends="exclusive")
    with pytest.raises(InvalidParameterError, match="ucr: end must be one of 'inclusive', 'exclusive', but is 3"):
        te.datasets.load("ucr/1", data=tmp_path, end=3)
    with pytest.raises(InvalidParameterError, match="psm has no option 'end': there are none"):
        te.datasets.load("psm", data=tmp_path, end=3)
    write(tmp_path / "UCR" / UCR_NAME, "\n".join(map(str, range(20))))
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    monkeypatch.setenv("TSADEVAL_DATA", f"~/{tmp_path.name}")
    assert te.datasets.load("UCR/7").name == "ucr/007"
    with pytest.raises(InvalidInputError, match="ucr is a collection: load one of its 1 items, as 'ucr/007'"):
        te.datasets.load("ucr")
    with pytest.raises(UnknownNameError, match=r"there is no ucr/008 in .*did you mean 007"):
        te.datasets.load("ucr/8")


def test_light_loaders_need_neither_pandas_nor_the_kernels(tmp_path):
    write(tmp_path / "UCR" / UCR_NAME, "\n".join(map(str, range(20))))
    smd(tmp_path)
    telemetry(tmp_path)
    code = (
        "import sys; from tsadeval import datasets\n"
        f"for name in 'ucr/7', 'smd/2-1', 'msl', 'smap': datasets.load(name, data={str(tmp_path)!r}, verify=False)\n"
        "print([m for m in sys.modules if m in ('pandas', 'scipy', 'pyarrow', 'pooch', 'requests') or '_scan' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("form", ["one a line", "on one line", "zip"])
def test_ucr(tmp_path, form):
    values = [f" {v:.7e}" for v in range(20)]
    if form == "zip":  # as published: deep in the archive, with leftovers of the machine it was made on
        members = {f"A/B/{UCR_NAME}": "\n".join(values), f"__MACOSX/A/B/._{UCR_NAME}": b"\x00\x05"}
        zipped(tmp_path / "UCR" / "UCR_TimeSeriesAnomalyDatasets2021.zip", members)
    else:
        write(tmp_path / "ucr" / UCR_NAME, ("\n" if form == "one a line" else "  ").join(values))
    data = load("ucr/007", tmp_path)
    assert data.train[:, 0].tolist() == list(range(6))
    assert data.test[:, 0].tolist() == list(range(6, 20))
    assert data.names == ("value",)
    # Points 10 to 12 of the whole series are points 4 to 6 of the test part.
    assert ones(data) == [4, 5, 6]
    assert ones(load("ucr/007", tmp_path, end="exclusive")) == [4, 5]
    assert te.datasets.items("ucr", data=tmp_path) == ("ucr/007",)
    labels = load("ucr/007", tmp_path, features=False)
    assert labels.train is None
    assert ones(labels) == [4, 5, 6]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (UCR_NAME, "\n".join(map(str, range(11))), r"expected more than 13 points, .* found 11 points.* truncated"),
        ("007_UCR_Anomaly_x_6_3_5.txt", "1\n" * 20, r"training up to 6 and an anomaly at \[3, 6\) behind it"),
        (UCR_NAME, "1\ntwo\n3", "expected numbers with white space between .*'two'"),
        (UCR_NAME, "", "the file is empty"),
        (UCR_NAME, "nan\n" * 20, r"ucr/007: expected finite numbers, found nan in train row 0, column value \(6 such"),
    ],
)
def test_ucr_bad_files(tmp_path, name, content, message):
    write(tmp_path / "UCR" / name, content)
    with pytest.raises(InvalidInputError, match=message):
        load("ucr/007", tmp_path)


def test_known_counts_are_compared(tmp_path):
    write(tmp_path / "UCR" / "124_UCR_Anomaly_ECG4_5000_16900_17100.txt", "1\n" * 29_000)
    with pytest.raises(InvalidInputError, match=r"ucr/124: expected 25000 test points, found 24000 in .*verify=False"):
        te.datasets.load("ucr/124", data=tmp_path)
    assert len(load("ucr/124", tmp_path).test) == 24_000


def test_smd(tmp_path):
    train, test = smd(tmp_path, "ServerMachineDataset")
    data = load("smd/machine-2-1", tmp_path)
    assert data.name == "smd/2-1"
    assert np.array_equal(data.train, train)
    assert np.array_equal(data.test, test)
    assert ones(data) == [1, 2, 4]
    assert data.names[-1] == "metric_38"
    d = data.description
    assert (d.n_train, d.n_test, d.n_columns, d.n_events, d.longest, d.shortest) == (6, 5, 38, 2, 2, 1)
    assert d.anomalous == pytest.approx(0.6)
    assert d.licence == "MIT"
    only = load("smd/1-10", tmp_path)
    assert only.train is only.test is None
    assert only.names == ()
    assert te.datasets.items("smd", data=tmp_path) == ("smd/2-1",)
    assert repr(only) == "<Dataset smd/1-10: 2 labels only, 1 events, 50 % anomalous>"
    # A copy below is reached by its folder, and does not stand in for the machine above it.
    smd(tmp_path / "ServerMachineDataset", "mini")
    write(tmp_path / "ServerMachineDataset" / "mini" / "test_label" / "machine-2-1.txt", "1\n" * 5)
    assert ones(load("smd/2-1", tmp_path)) == [1, 2, 4]
    assert ones(load("smd/mini/2-1", tmp_path)) == [0, 1, 2, 3, 4]


def test_checksum_is_of_the_values(tmp_path):
    smd(tmp_path)
    one = load("smd/2-1", tmp_path).description.checksum
    assert load("smd/2-1", tmp_path).description.checksum == one
    write(tmp_path / "SMD" / "test_label" / "machine-2-1.txt", "0\n1\n1\n0\n0\n")
    assert load("smd/2-1", tmp_path).description.checksum != one


# With a time in it the test would have another name in every worker, and the workers would not agree on the tests.
CUT_OFF = gzip.compress(b"1,2\n" * 99, mtime=0)[:-9]


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        (
            "test/machine-2-1.txt",
            lines(rows(4, 38)),
            r"smd/2-1: expected one label for each of 4 test points, found 5 in .*SMD",
        ),
        ("test/machine-2-1.txt", lines(rows(5, 37)), r"smd/2-1: expected test of 38 columns, found shape \(5, 37\)"),
        ("test/machine-2-1.txt", lines(rows(5, 38))[:-30], "expected lines of numbers with commas between"),
        ("test/machine-2-1.txt", "", "test.machine-2-1.txt: the file is empty"),
        ("train/machine-2-1.txt.gz", CUT_OFF, "machine-2-1.txt.gz: damaged or truncated"),
        ("train/machine-2-1.txt.gz", b"not gzip", "machine-2-1.txt.gz: damaged or truncated"),
        ("test_label/machine-2-1.txt", "0\n2\n", "expected labels of 0 and 1, found 2 at position 1"),
        ("train/machine-2-1.txt.gz", None, "train/machine-2-1.txt is missing next to"),
    ],
)
def test_smd_bad_files(tmp_path, path, content, message):
    smd(tmp_path)
    file = tmp_path / "SMD" / path
    file.unlink() if content is None else write(file, content)
    with pytest.raises(InvalidInputError, match=message):
        load("smd/2-1", tmp_path)


@pytest.mark.parametrize("form", ["plain", "tar", "zip"])
def test_msl_and_smap(tmp_path, form):
    if form == "plain":
        telemetry(tmp_path)
    else:
        members = {f"data/data/{name}": content for name, content in telemetry_files().items()}
        where = tmp_path / "SMAP_MSL" / ("data.zip" if form == "zip" else "data.tar.gz")
        (zipped if form == "zip" else tarred)(where, members)
    msl = load("msl", tmp_path)
    # Channels in the order of their names as text: C-1, D-10, T-9; the ends belong to the anomalies.
    assert ones(msl) == [3, 4, 5 + 1, 9 + 0, 9 + 1, 9 + 4]
    assert np.array_equal(msl.test, np.vstack([rows(5, 55, 102), rows(4, 55, 103), rows(6, 55, 101)]))
    assert np.array_equal(msl.train, np.vstack([rows(3, 55, 2), rows(3, 55, 3), rows(3, 55, 1)]))
    assert msl.names[:2] == ("telemetry", "command_1")
    assert ones(load("msl/T-9", tmp_path)) == [0, 1, 4]
    assert ones(load("smap", tmp_path)) == [1, 2, 3]  # P-2 is listed twice
    assert te.datasets.items("msl", data=tmp_path) == ("msl", "msl/C-1", "msl/D-10", "msl/T-9")
    with pytest.raises(UnknownNameError, match="there is no msl/P-2 in"):
        load("msl/P-2", tmp_path)
    labels = load("msl", tmp_path, features=False)
    assert labels.test is None
    assert ones(labels) == ones(msl)


def test_msl_labels_only(tmp_path):
    write(tmp_path / "SMAP_MSL" / "labeled_anomalies.csv", ANOMALIES)
    assert ones(load("msl", tmp_path)) == [3, 4, 6, 9, 10, 13]
    assert load("msl", tmp_path).train is None
    assert te.datasets.items("msl", data=tmp_path) == ()


@pytest.mark.parametrize("with_list", [False, True])
def test_msl_as_three_arrays(tmp_path, with_list):
    for kind, array in {"train": rows(4, 55), "test": rows(3, 55, 1), "test_label": np.array([0, 1, 0])}.items():
        write(tmp_path / "MSL" / f"MSL_{kind}.npy", npy(array))
    if with_list:
        write(tmp_path / "MSL" / "labeled_anomalies.csv", ANOMALIES)
    data = load("msl", tmp_path)
    assert data.train.shape == (4, 55)
    assert ones(data) == [1]
    assert "msl" in te.datasets.items("msl", data=tmp_path)
    (tmp_path / "MSL" / "MSL_test.npy").unlink()
    with pytest.raises(InvalidInputError, match=r"MSL_test.npy is missing next to"):
        load("msl", tmp_path)


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("test/T-9.npy", npy(rows(5, 55)), r"T-9.npy: expected 6 rows, as .*csv says, found 5"),
        ("test/T-9.npy", npy(rows(6, 25)), r"T-9.npy: expected 55 columns, found 25"),
        ("test/T-9.npy", npy(rows(6, 55))[:-50], r"T-9.npy: damaged or truncated"),
        ("test/T-9.npy", None, r"MSL: 1 of 6 channel files are missing in .*: test/T-9.npy"),
        ("train/T-9.npy", npy(np.array(["a"])), "expected an array of numbers, found <U1"),
        ("labeled_anomalies.csv", "a,b\n1,2\n", r"labeled_anomalies.csv: expected the columns .*, found a, b"),
        ("labeled_anomalies.csv", ANOMALIES.replace("[[3, 4]]", "[[3, 9]]"), r"line 5: anomalies \[\(3, 9\)\] do not"),
        ("labeled_anomalies.csv", ANOMALIES.replace("[[3, 4]]", "[[3, 4"), "line 5: expected anomalies as"),
    ],
)
def test_msl_bad_files(tmp_path, path, content, message):
    telemetry(tmp_path)
    file = tmp_path / "SMAP_MSL" / path
    file.unlink() if content is None else write(file, content)
    with pytest.raises(InvalidInputError, match=message):
        load("msl", tmp_path)


def test_pickles_are_refused(tmp_path):
    telemetry(tmp_path)
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}]), allow_pickle=True)
    write(tmp_path / "SMAP_MSL" / "test" / "T-9.npy", buffer.getvalue())
    with pytest.raises(InvalidInputError, match=r"T-9.npy: holds Python objects \(a pickle\), which are never opened"):
        load("msl", tmp_path)


def test_a_plain_file_comes_before_one_in_an_archive(tmp_path):
    zipped(tmp_path / "UCR" / "a.zip", {UCR_NAME: "1\n" * 20})
    write(tmp_path / "UCR" / UCR_NAME, "2\n" * 20)
    assert load("ucr/7", tmp_path).test[0, 0] == 2


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_a_broken_archive_is_named(tmp_path, name):
    write(tmp_path / "UCR" / name, b"this is no archive")
    with pytest.raises(InvalidInputError, match=rf"UCR.{name}: damaged or truncated"):
        load("ucr/7", tmp_path)


def test_a_truncated_archive_is_named(tmp_path):
    path = tarred(tmp_path / "UCR" / "a.tar.gz", {UCR_NAME: "\n".join(map(str, np.random.default_rng(0).random(900)))})
    write(path, path.read_bytes()[:-2000])
    with pytest.raises(InvalidInputError, match=r"UCR.a.tar.gz: damaged or truncated"):
        load("ucr/7", tmp_path)


def test_archives_cannot_reach_out_of_themselves(tmp_path):
    """A link in an archive is no file, and a member named like a path elsewhere is never written there."""
    secret = write(tmp_path / "secret.txt", "1\n" * 20)
    path = tmp_path / "UCR" / "a.tar.gz"
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo(UCR_NAME)
        link.type, link.linkname = tarfile.SYMTYPE, str(secret)
        archive.addfile(link)
    with pytest.raises(InvalidInputError, match="there are no files of it"):
        load("ucr/7", tmp_path)
    zipped(tmp_path / "UCR" / "b.zip", {f"../../{UCR_NAME}": "1\n" * 20})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInputError, match="there are no files of it"):
        load("ucr/7", tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_page_names_every_data_set_and_its_files():
    page = (Path(__file__).resolve().parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    for record in DATASETS.values():
        assert f"`{record.name}`" in page
        assert f"`{record.folders[0]}/" in page
        assert set(record.options) <= set(re.findall(r"(\w+)=", page))
