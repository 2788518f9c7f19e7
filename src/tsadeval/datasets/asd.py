"""Application Server Dataset (ASD): twelve servers of an internet company, one point every five minutes."""

import re

from tsadeval.datasets.dataset import DATASETS, DatasetRecord, Facts, Split, numbered
from tsadeval.datasets.readers import DataFile, Files, labels, matrix, table

_COLUMNS = 19
_SERVERS = tuple(f"omi-{i}" for i in range(1, 13))


def _parts(files: Files) -> dict[str, bool]:
    found = {match["item"] for _, match in files.all(r"(?P<item>omi-\d+)\.npz")}
    return dict.fromkeys(sorted(found, key=lambda item: int(item[4:])), True)


def _file(files: Files, item: str) -> DataFile | None:
    return files.first(rf"{re.escape(item)}\.npz") if item else None


def _read(files: Files, file: DataFile, item: str, features: bool) -> Split:
    arrays = table(file)
    mask = labels(file, arrays.numbers("label"))
    if not features:
        return Split(None, None, mask, ())
    train, test = (matrix(file, arrays.numbers(kind)) for kind in ("train", "test"))
    return Split(train, test, mask, numbered("metric_", _COLUMNS))


DATASETS.add(
    "asd",
    DatasetRecord(
        name="asd",
        title="Application Server Dataset",
        summary="12 application servers, 19 metrics every five minutes for 45 days",
        source="https://github.com/zhhlee/InterFusion",
        licence="MIT",
        folders=("ASD",),
        layout="ASD/omi-<number>.npz with the arrays train, test and label",
        get="It is published as pickles (data/processed/omi-*.pkl), which can run any code when they are opened, so "
        "tsadeval never does. Where that is no risk, save the three arrays of a server with "
        "numpy.savez('omi-1.npz', train=..., test=..., label=...).",
        parts=_parts,
        read=_read,
        label_file=_file,
        facts={server: Facts(8_640, 4_320, _COLUMNS) for server in _SERVERS},
    ),
)
