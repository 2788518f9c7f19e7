"""UCR anomaly archive: 250 series, each with one anomaly whose place is in the name of its file."""

import re

import numpy as np

from tsadeval.core.parameters import OneOf
from tsadeval.datasets.dataset import DATASETS, DatasetRecord, Download, Facts, Split, split_rows
from tsadeval.datasets.readers import DataFile, Files, text_series
from tsadeval.errors import InvalidInputError

_NAME = r"{item}_UCR_Anomaly_(?P<title>[^/]+)_(?P<train>\d+)_(?P<begin>\d+)_(?P<end>\d+)\.txt"
_ANY = _NAME.format(item=r"(?P<item>\d+)")


def _parts(files: Files) -> dict[str, bool]:
    return dict.fromkeys(sorted(match["item"] for _, match in files.all(_ANY)), True)


def _file(files: Files, item: str) -> DataFile | None:
    return files.first(_NAME.format(item=item)) if item.isdigit() else None


def _read(files: Files, file: DataFile, item: str, features: bool, *, end: str = "inclusive") -> Split:
    """Cut a series at the end of its training part.

    The archive's own text leaves open whether the last one belongs to the anomaly; here it does, unless
    `end="exclusive"`.
    """
    ((n_train, begin, last),) = [map(int, found) for found in re.findall(r"_(\d+)_(\d+)_(\d+)\.txt$", file.path)]
    stop = last + (end == "inclusive")
    series = text_series(file)
    if not 0 < n_train <= begin < stop <= len(series):
        raise InvalidInputError(
            f"{file}: expected more than {stop} points, with training up to {n_train} and an anomaly at "
            f"[{begin}, {stop}) behind it, found {len(series)} points; the file is truncated or its name wrong"
        )
    labels = np.zeros(len(series), np.bool_)
    labels[begin:stop] = True
    return split_rows(file, series[:, None] if features else None, labels, ("value",), n_train)


# Lengths of the series that were at hand; the others are checked by the numbers in their names.
_LENGTHS = {
    "123": (5000, 200_000),
    "124": (5000, 30_000),
    "125": (5000, 30_000),
    "126": (8000, 30_000),
    "135": (1200, 7501),
    "136": (1600, 7500),
    "137": (2300, 7500),
    "138": (3000, 7500),
    "152": (9000, 29_931),
    "153": (14_000, 29_931),
    "154": (16_000, 29_931),
    "155": (18_000, 29_931),
}

DATASETS.add(
    "ucr",
    DatasetRecord(
        name="ucr",
        title="UCR anomaly archive",
        summary="250 univariate series of many domains, one anomaly each",
        source="https://www.cs.ucr.edu/~eamonn/time_series_data_2018/",
        licence="none stated; cite Wu and Keogh, TKDE 2021",
        folders=("UCR", "UCR_Anomaly_FullData", "UCR_Anomaly"),
        layout="UCR/<id>_UCR_Anomaly_<name>_<trainEnd>_<begin>_<end>.txt, or the zip that holds them",
        get="`tsadeval datasets fetch ucr` gets it.",
        by_hand="Get UCR_TimeSeriesAnomalyDatasets2021.zip with a browser and put it as it is into the folder UCR.",
        parts=_parts,
        read=_read,
        label_file=_file,
        canonical=lambda item: item.zfill(3),
        facts={item: Facts(n, total - n, 1, 1) for item, (n, total) in _LENGTHS.items()},
        options={"end": OneOf(("inclusive", "exclusive"))},
        downloads=(
            Download(
                "https://www.cs.ucr.edu/~eamonn/time_series_data_2018/UCR_TimeSeriesAnomalyDatasets2021.zip",
                "UCR_TimeSeriesAnomalyDatasets2021.zip",
            ),
        ),
    ),
)
