"""Label cases: the label sets on which metrics are tried, synthetic ones and those of real data sets.

The synthetic ones come from the published legacy seeds, so `RandomState` is right here. The real ones are read
where a data folder is given, by argument or by the environment variable TSADEVAL_DATA.
"""

from __future__ import annotations

import ast
import csv
import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval.core.events import Events
from tsadeval.core.inputs import Bools
from tsadeval.core.registry import Registry
from tsadeval.errors import InvalidInputError

__all__ = ["CASES", "REAL", "SYNTHETIC", "Case", "data_folder"]

VARIABLE = "TSADEVAL_DATA"


@dataclass(frozen=True)
class Case:
    """A label set: its name, where its events come from, and for real data the file that must be there."""

    name: str
    n: int
    read: Callable[[Path], Events]
    file: str = ""

    @property
    def synthetic(self) -> bool:
        """Is it drawn from a seed?"""
        return not self.file

    def present(self, data: Path | None) -> bool:
        """Can its events be had, given this data folder?"""
        return self.synthetic or (data is not None and (data / self.file).is_file())

    def events(self, data: Path | None = None) -> Events:
        """The events of its labels."""
        if not self.present(data):
            where = "no data folder was given" if data is None else f"there is no {data / self.file}"
            raise InvalidInputError(f"the labels of {self.name} are missing: {where}; pass data= or set {VARIABLE}")
        found = self.read((data or Path()) / self.file)
        if found.n != self.n:
            raise InvalidInputError(f"{self.name}: expected {self.n} labels, but {data} holds {found.n}")
        return found


def data_folder(data: str | Path | None = None) -> Path | None:
    """The folder of the real data: the one given, else that of the environment, else none."""
    given = data or os.environ.get(VARIABLE)
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        raise InvalidInputError(f"there is no data folder {folder}")
    return folder


def _synthetic(path: Path, *, n: int, segments: int, longest: int, shortest: int, seed: int) -> Events:
    random = np.random.RandomState(seed)
    mask = np.zeros(n, np.bool_)
    for _ in range(segments):
        start = random.randint(0, n - longest)
        mask[start : start + max(random.randint(1, longest + 1), shortest)] = True
    return Events.of(mask)


CASES: Registry[Case] = Registry("label case")

# Thousands of points, segments, name of their lengths, longest, shortest; the i-th has seed 42 + i.
_TABLE = [
    (100, 20, "50L", 60, 40),
    (100, 200, "50L", 60, 40),
    (100, 20, "50H", 99, 1),
    (100, 200, "50H", 99, 1),
    (100, 50, "20L", 30, 10),
    (100, 500, "20L", 30, 10),
    (100, 50, "20H", 39, 1),
    (100, 500, "20H", 39, 1),
    (100, 10, "100L", 110, 90),
    (100, 100, "100L", 110, 110),
    (100, 10, "100H", 199, 1),
    (100, 100, "100H", 199, 1),
    (100, 2, "500L", 550, 450),
    (100, 20, "500L", 550, 450),
    (100, 2, "500H", 999, 1),
    (100, 20, "500H", 999, 1),
    (10, 2, "50L", 60, 40),
    (10, 20, "50L", 60, 40),
    (10, 2, "50H", 99, 1),
    (10, 20, "50H", 99, 1),
    (10, 5, "20L", 30, 10),
    (10, 50, "20L", 30, 10),
    (10, 5, "20H", 39, 1),
    (10, 50, "20H", 39, 1),
    (10, 1, "100L", 110, 90),
    (10, 10, "100L", 110, 110),
    (10, 1, "100H", 199, 1),
    (10, 10, "100H", 199, 1),
    (10, 2, "500L", 550, 450),
    (10, 2, "500H", 999, 1),
]

for _i, (_k, _segments, _lengths, _longest, _shortest) in enumerate(_TABLE):
    _name = f"{_k}k-{_segments}seg-{_lengths}"
    _read = partial(_synthetic, n=1000 * _k, segments=_segments, longest=_longest, shortest=_shortest, seed=42 + _i)
    CASES.add(_name, Case(_name, 1000 * _k, _read))

SYNTHETIC = tuple(CASES)


def _msl(path: Path) -> Events:
    """All channels of the rover, one behind the other in the order of their names; ends are inclusive."""
    with path.open(newline="") as file:
        channels = sorted((row for row in csv.DictReader(file) if row["spacecraft"] == "MSL"), key=_channel)
    masks = []
    for row in channels:
        mask = np.zeros(int(row["num_values"]), np.bool_)
        for first, last in ast.literal_eval(row["anomaly_sequences"]):
            mask[first : last + 1] = True
        masks.append(mask)
    return Events.of(np.concatenate(masks))


def _channel(row: dict[str, str]) -> str:
    return row["chan_id"]


def _lines(path: Path) -> Events:
    """A 0 or 1 on each line."""
    content = path.read_bytes()
    return Events.of(_ones((gzip.decompress(content) if path.suffix == ".gz" else content).split()))


def _psm(path: Path) -> Events:
    with path.open(newline="") as file:
        return Events.of(_ones([row["label"] for row in csv.DictReader(file)]))


def _creditcard(path: Path) -> Events:
    with np.load(path) as arrays:
        return Events.of(arrays["label"])


def _ones(words: list[Any]) -> Bools:
    return np.array([float(word) != 0 for word in words])


for _case in [
    Case("MSL", 73_729, _msl, "SMAP_MSL/labeled_anomalies.csv"),
    Case("SMD-1-1", 28_479, _lines, "SMD/test_label/machine-1-1.txt"),
    Case("SMD-2-1", 23_694, _lines, "SMD/test_label/machine-2-1.txt"),
    Case("SMD-3-1", 28_700, _lines, "SMD/test_label/machine-3-1.txt"),
    Case("PSM", 87_841, _psm, "PSM/test_label.csv"),
    Case("SWaT", 449_919, _lines, "SWaT/swat_labels.gz"),
    Case("Creditcard", 284_807, _creditcard, "Creditcard/creditcard_labels.npz"),
]:
    CASES.add(_case.name, _case)

REAL = tuple(name for name in CASES if name not in SYNTHETIC)
