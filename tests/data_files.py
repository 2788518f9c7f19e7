"""Small data sets in the forms in which they are published, for the tests to write and load."""

import gzip
import io
import tarfile
import zipfile

import numpy as np

import tsadeval as te

UCR_NAME = "007_UCR_Anomaly_made_up_6_10_12.txt"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def zipped(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def tarred(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            data = content if isinstance(content, bytes) else content.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def load(name, root, **options):
    """Small copies differ from the known counts, so these are not compared."""
    return te.datasets.load(name, data=root, verify=False, **options)


def ones(dataset):
    return np.flatnonzero(dataset.test_labels).tolist()


def rows(n, columns, seed=0):
    return np.round(np.random.default_rng(seed).random((n, columns)), 6)


def lines(values):
    return "\n".join(",".join(f"{v:.6f}" for v in row) for row in values) + "\n"


def smd(root, folder="SMD"):
    train, test = rows(6, 38), rows(5, 38, 1)
    write(root / folder / "train" / "machine-2-1.txt.gz", gzip.compress(lines(train).encode()))
    write(root / folder / "test" / "machine-2-1.txt", lines(test))
    write(root / folder / "test_label" / "machine-2-1.txt", "0\n1\n1\n0\n1\n")
    write(root / folder / "test_label" / "machine-1-10.txt", "0\n1\n")
    return train, test


ANOMALIES = """chan_id,spacecraft,anomaly_sequences,class,num_values
P-2,SMAP,"[[2, 3]]",[point],8
T-9,MSL,"[[0, 1], [4, 4]]","[point, point]",6
P-2,SMAP,"[[1, 2]]",[point],8
C-1,MSL,"[[3, 4]]",[contextual],5
D-10,MSL,"[[1, 1]]",[point],4
"""
CHANNELS = {"P-2": (25, 8), "T-9": (55, 6), "C-1": (55, 5), "D-10": (55, 4)}


def telemetry_files():
    files = {"labeled_anomalies.csv": ANOMALIES.encode()}
    for seed, (channel, (columns, n)) in enumerate(CHANNELS.items()):
        files[f"train/{channel}.npy"] = npy(rows(3, columns, seed))
        files[f"test/{channel}.npy"] = npy(rows(n, columns, seed + 100))
    return files


def telemetry(root):
    for name, content in telemetry_files().items():
        write(root / "SMAP_MSL" / name, content)


def npz(**arrays):
    """The bytes of a compressed npz file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def written(frame, method, **options):
    """The bytes that a method of a frame writes."""
    buffer = io.BytesIO()
    getattr(frame, method)(buffer, **options)
    return buffer.getvalue()
