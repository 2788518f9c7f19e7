"""Pooled Server Metrics (PSM): application servers of eBay, one point a minute."""

import re

from tsadeval._optional import require
from tsadeval.datasets.dataset import CHECKSUMS, DATASETS, DatasetRecord, Download, Facts, Split, of_tables
from tsadeval.datasets.readers import DataFile, Files, beside, labels, table, train_and_test
from tsadeval.tables.table import Table

_TIME = "timestamp_(min)"
_COLUMNS = 25


def _parts(files: Files) -> dict[str, bool]:
    """Find the whole; a copy in a folder below is not listed, but `psm/<folder>` loads it."""
    file = _label_file(files, "")
    return {} if file is None else {"": files.at(beside(file, "train")) is not None}


def _label_file(files: Files, item: str) -> DataFile | None:
    return files.first(rf"{re.escape(item)}/test_label\.csv" if item else r"test_label\.csv")


def _read(files: Files, file: DataFile, item: str, features: bool) -> Split:
    """Features without their time stamps.

    Training rows have missing values: a missing one takes the last one before it, and where there is none, the first
    one after it. Time stamps may jump; rows are taken in the order of the file.
    """
    mask = labels(file, table(file).numbers("label"))
    found = train_and_test("psm", files, file) if features else []
    if not found:
        return Split(None, None, mask, ())
    train, test = map(_features, found)
    return of_tables(train, test, mask)


def _features(file: DataFile) -> Table:
    compute, found = require("pyarrow.compute", extra="all"), table(file)
    names = [name for name in found.columns if name != found.name(_TIME)]
    filled = (compute.fill_null_backward(compute.fill_null_forward(found.columns[name])) for name in names)
    return Table(dict(zip(names, filled, strict=True)), found.source)


_URL = "https://raw.githubusercontent.com/eBay/RANSynCoders/main/data/"

DATASETS.add(
    "psm",
    DatasetRecord(
        name="psm",
        title="Pooled Server Metrics",
        summary="application servers of eBay, 25 metrics a minute for 21 weeks",
        source="https://github.com/eBay/RANSynCoders",
        licence="CC BY 4.0",
        folders=("PSM",),
        layout="PSM/train.csv, PSM/test.csv and PSM/test_label.csv",
        get="`tsadeval datasets fetch psm` gets it.",
        parts=_parts,
        read=_read,
        label_file=_label_file,
        facts={"": Facts(132_481, 87_841, _COLUMNS, 72, 24_381)},
        downloads=tuple(
            Download(_URL + path, path, CHECKSUMS.get(f"psm/{path}", ""))
            for path in ("test_label.csv", "train.csv", "test.csv")
        ),
    ),
)
