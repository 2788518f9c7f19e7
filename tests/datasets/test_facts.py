"""The facts of the published data sets; skipped where they do not lie beside the repository."""

import hashlib

import numpy as np
import pytest

import published
import tsadeval as te
from tsadeval.datasets.dataset import CHECKSUMS, DATASETS
from tsadeval.datasets.readers import read_all

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (published.SHARED / "SMAP_MSL").is_dir(),
        reason=f"the published data is not part of the repository: there is none in {published.SHARED}",
    ),
]


def load(name, **options):
    return te.datasets.load(name, data=published.SHARED, **options)


def test_msl():
    data = load("msl")
    d = data.description
    assert (d.n_train, d.n_test, d.n_columns) == (58_317, 73_729, 55)
    assert (d.n_events, d.longest, d.shortest) == (36, 1141, 11)
    assert round(100 * d.anomalous, 4) == 10.5332
    channels = [name for name in te.datasets.items("msl", data=published.SHARED) if name != "msl"]
    assert len(channels) == 27
    assert channels == sorted(channels)
    # The first channel by name is the first part of the whole.
    first = load("msl/C-1")
    assert np.array_equal(data.test[: len(first.test)], first.test)
    assert np.array_equal(data.test_labels[: len(first.test)], first.test_labels)
    assert (np.ptp(data.train, axis=0) == 0).sum() > 10  # many columns are constant
    assert data.train.flags.c_contiguous
    assert data.train.dtype == np.float64


def test_smap():
    d = load("smap").description
    assert (d.n_train, d.n_test, d.n_columns, d.n_events) == (138_004, 435_826, 25, 68)
    assert len(te.datasets.items("smap", data=published.SHARED)) == 1 + 54
    # P-2 is listed twice, with anomalies that overlap.
    p2 = load("smap/P-2")
    assert np.flatnonzero(p2.test_labels)[[0, -1]].tolist() == [5300, 6575]
    assert p2.description.n_events == 1


@pytest.mark.parametrize(
    ("machine", "n_train", "n_test", "n_columns", "events", "longest", "shortest"),
    [
        ("2-1", 23_693, 23_694, 38, 13, 452, 8),
        ("3-7", 28_705, 28_705, 38, 5, None, None),
        ("1-1", 0, 28_479, 0, 8, 721, 2),
        ("3-1", 0, 28_700, 0, 4, 131, 21),
    ],
)
def test_smd(machine, n_train, n_test, n_columns, events, longest, shortest):
    d = load(f"smd/{machine}").description
    assert (d.n_train, d.n_test, d.n_columns, d.n_events) == (n_train, n_test, n_columns, events)
    if longest:
        assert (d.longest, d.shortest) == (longest, shortest)


def test_all_labels_of_smd():
    record = DATASETS["smd"]
    found = record.parts(record.files(published.SHARED))
    assert list(found) == list(record.facts)
    assert len(found) == 28
    for machine in found:
        load(f"smd/{machine}", features=False)  # compares with what is known
    assert te.datasets.items("smd", data=published.SHARED) == ("smd/2-1", "smd/3-7")
    assert load("smd/mini_smd/1-7").train.shape == (1000, 38)


def test_psm():
    data = load("psm")
    d = data.description
    assert data.test is None
    assert (d.n_test, d.n_events, d.longest, d.shortest) == (87_841, 72, 8861, 1)
    assert round(100 * d.anomalous, 4) == 27.7558
    sample = load("psm/sample")
    assert (sample.train.shape, sample.test.shape) == ((399, 25), (300, 25))


def test_swat():
    d = load("swat").description
    assert (d.n_columns, d.n_test, d.n_events, d.longest, d.shortest) == (0, 449_919, 35, 35_900, 101)
    assert round(100 * d.anomalous, 4) == 12.1402


def test_creditcard(tmp_path):
    data = load("creditcard")
    d = data.description
    assert (d.n_test, d.n_events, int(data.test_labels.sum())) == (284_807, 463, 492)
    # The row numbers say the same as the array.
    folder = tmp_path / "Creditcard"
    folder.mkdir()
    rows = published.SHARED / "Creditcard" / "creditcard_fraud_row_index.txt"
    (folder / rows.name).write_bytes(rows.read_bytes())
    assert np.array_equal(te.datasets.load("creditcard", data=tmp_path).test_labels, data.test_labels)


def test_ucr():
    names = te.datasets.items("ucr", data=published.SHARED)
    assert names == tuple(f"ucr/{i}" for i in (*range(123, 127), *range(135, 139), *range(152, 156)))
    for name in names:
        data = load(name)
        number = int(name[4:])
        length = len(data.train) + len(data.test)
        assert data.description.n_events == 1
        if number == 123:
            assert length == 200_000
        if 124 <= number <= 126:
            assert length == 30_000
        if number >= 152:
            assert length == 29_931
    data = load("ucr/125")  # 125_UCR_Anomaly_ECG4_5000_17000_17100
    assert np.flatnonzero(data.test_labels)[[0, -1]].tolist() == [12_000, 12_100]
    assert np.flatnonzero(load("ucr/125", end="exclusive").test_labels)[[0, -1]].tolist() == [12_000, 12_099]


def test_asd():
    names = te.datasets.items("asd", data=published.SHARED)
    assert names == ("asd/omi-1", "asd/omi-6", "asd/omi-10")
    for name in names:
        d = load(name).description
        assert (d.n_columns, d.n_train, d.n_test) == (19, 8640, 4320)
        assert 3 <= d.n_events <= 10


def test_nab():
    names = te.datasets.items("nab", data=published.SHARED)
    assert len(names) == 58
    # None of the windows lies in the part that is for learning.
    assert sum(load(name).description.n_events for name in names) == 116


def test_the_known_checksums_are_those_of_the_files():
    assert {path.partition("/")[0] for path in CHECKSUMS} == {"msl", "nab", "psm", "smd"}
    for name in ("msl", "nab", "psm", "smd"):
        files = DATASETS[name].files(published.SHARED)
        known = {path: value for path, value in CHECKSUMS.items() if path.startswith(f"{name}/")}
        contents = read_all(files.at(path.removeprefix(f"{name}/")) for path in known)
        found = {f"{name}/{file.path}": hashlib.sha256(content).hexdigest() for file, content in contents.items()}
        assert found == known
