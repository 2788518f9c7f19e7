"""Numenta Anomaly Benchmark (NAB): 58 series, most of them from servers, with windows around their anomalies."""

import json
import math
from typing import Any

import numpy as np

from tsadeval.datasets.dataset import CHECKSUMS, DATASETS, DatasetRecord, Download, Split, split_rows
from tsadeval.datasets.readers import DataFile, Files, damaged, matrix, read, table
from tsadeval.errors import InvalidInputError
from tsadeval.tables.table import times_of

_WINDOWS = r"combined_windows\.json"
# In a copy of the whole repository, the results of detectors lie in folders of the same names, but not below data/.
_SERIES = r"data/(?P<item>(?:real|artificial)\w+/[^/]+)\.csv"
_SHARE, _LONGEST = 0.15, 5000


def _series(files: Files) -> dict[str, DataFile]:
    return dict(sorted({match["item"]: file for file, match in reversed(files.all(_SERIES))}.items()))


def _parts(files: Files) -> dict[str, bool]:
    return dict.fromkeys(_series(files), True) if files.first(_WINDOWS) else {}


def _label_file(files: Files, item: str) -> DataFile | None:
    return files.first(_WINDOWS) if item in _series(files) else None


def _read(files: Files, file: DataFile, item: str, features: bool) -> Split:
    """Learn from the part that NAB does not judge, and test on the rest.

    That part is NAB's probation: the first 15 % of a series, and of a long one no more than 15 % of 5,000 points. No
    window begins in it. Both ends of a window belong to it.
    """
    windows, file = file, _series(files)[item]
    times, values = _columns(file)
    mask = np.zeros(len(times), np.bool_)
    for first, last in _of(windows, f"{item}.csv"):
        inside = (times >= first) & (times <= last)
        if not inside.any():
            raise InvalidInputError(f"{file}: no point lies in the window from {first} to {last}; it is truncated")
        mask |= inside
    n_train = math.floor(_SHARE * min(len(times), _LONGEST))
    if n_train == 0:
        raise InvalidInputError(f"{file}: expected at least 7 points, found {len(times)}")
    return split_rows(file, values if features else None, mask, ("value",), n_train)


def _columns(file: DataFile) -> tuple[Any, Any]:
    found = table(file)
    time, values = found.name("timestamp"), matrix(file, found.numbers("value"))
    try:
        return times_of(found, time).astype("datetime64[us]"), values
    except ValueError as error:
        raise InvalidInputError(f"{file}: expected a time in every row ({error})") from error


def _of(file: DataFile, series: str) -> list[tuple[np.datetime64, np.datetime64]]:
    try:
        windows = json.loads(read(file))
        return [(np.datetime64(first, "us"), np.datetime64(last, "us")) for first, last in windows[series]]
    except KeyError:
        raise InvalidInputError(f"{file}: expected windows of {series}, found none") from None
    except (ValueError, TypeError) as error:
        raise damaged(file, error) from error


_URL = "https://raw.githubusercontent.com/numenta/NAB/master/"

DATASETS.add(
    "nab",
    DatasetRecord(
        name="nab",
        title="Numenta Anomaly Benchmark",
        summary="58 univariate series, most of them from servers; 116 labelled windows",
        source="https://github.com/numenta/NAB",
        licence="MIT",
        folders=("NAB",),
        layout="NAB/data/<group>/<series>.csv and NAB/labels/combined_windows.json, or a zip that holds them",
        get="`tsadeval datasets fetch nab` gets it.",
        parts=_parts,
        read=_read,
        label_file=_label_file,
        canonical=lambda item: item.removesuffix(".csv"),
        downloads=tuple(
            # The windows are of no item: all need them.
            Download(_URL + path, path, checksum, path[5:].removesuffix(".csv") if path.startswith("data/") else "")
            for path, checksum in ((path.removeprefix("nab/"), CHECKSUMS[path]) for path in CHECKSUMS if "nab/" in path)
        ),
    ),
)
