"""Secure Water Treatment (SWaT): a water plant for research, a week of normal operation and four days under attack."""

import re
from typing import Any

import numpy as np

from tsadeval.core.events import Bools
from tsadeval.datasets.dataset import DATASETS, DatasetRecord, Facts, Split, of_tables
from tsadeval.datasets.readers import DataFile, Files, labels, read, table, text_series
from tsadeval.errors import InvalidInputError
from tsadeval.tables.columns import text_codes
from tsadeval.tables.table import Table

# Each form: the file of normal operation, the file with attacks.
_FORMS = (
    (r"(?i:SWaT_Dataset_Normal[^/]*\.csv)", r"(?i:SWaT_Dataset_Attack[^/]*\.csv)"),
    (r"(?i:swat_train2?\.csv)", r"(?i:swat2?\.csv|swat_test2?\.csv)"),
)
_LABELS_ONLY = r"(?i:swat_labels(?:\.txt)?)"
_LABEL_NAMES = ("normal/attack", "label", "attack")
_NO_VALUES = re.compile(rb"\n[, \t\r]+$", re.MULTILINE)
_WORDS = dict.fromkeys(["normal", "0", "0.0", "false"], False) | dict.fromkeys(["attack", "1", "1.0", "true"], True)


def _find(files: Files) -> tuple[DataFile | None, DataFile | None, DataFile | None]:
    """Find the files of normal operation and with attacks, of a form that has both if there is one, and of labels."""
    forms = [(files.first(normal), files.first(attack)) for normal, attack in _FORMS]
    attack = next((attack for _, attack in forms if attack), None)
    return *next((form for form in forms if all(form)), (None, attack)), files.first(_LABELS_ONLY)


def _parts(files: Files) -> dict[str, bool]:
    normal, attack, only = _find(files)
    return {"": normal is not None} if attack or only else {}


def _label_file(files: Files, item: str) -> DataFile | None:
    _, attack, only = _find(files)
    return None if item else only or attack


def _read(files: Files, file: DataFile, item: str, features: bool) -> Split:
    """Sensors and actuators without their time stamps.

    The iTrust tables were exported in many ways: commas or semicolons between the columns, decimal commas, spaces
    around column names and inside "A ttack", a line of plant stages above the names. All of them read the same.
    """
    normal, attack, only = _find(files)
    if only is not None and not (features and normal):
        return Split(None, None, labels(only, text_series(only)), ())
    attack = attack or file
    if features and normal is None:
        raise InvalidInputError(f"swat: the file of normal operation is missing next to {attack}")
    test, mask = _table(attack)
    if mask is None:
        raise InvalidInputError(f"{attack}: expected a column Normal/Attack, found {', '.join(test.columns)}")
    if not features or normal is None:
        return Split(None, None, mask, ())
    return of_tables(_table(normal)[0], test, mask)


def _table(file: DataFile) -> tuple[Table, Bools | None]:
    """Features and labels (None where there are none) of one table."""
    content = read(file)
    lines = content[:20_000].splitlines(keepends=True)
    head = next((i for i, line in enumerate(lines[:3]) if b"timestamp" in line.lower()), 0)
    content = content[sum(map(len, lines[:head])) :]
    if lines[head].count(b";") > lines[head].count(b","):  # then any comma is a decimal one
        content = content.translate(bytes.maketrans(b";,", b",."))
    found = table(file, _NO_VALUES.sub(b"", content))
    columns = {"".join(name.split()): column for name, column in found.columns.items()}
    label = next((name for name in columns if name.lower() in _LABEL_NAMES), None)
    mask = None if label is None else _mask(file, columns.pop(label))
    names = [name for name in columns if not re.fullmatch(r"timestamp|unnamed.*", name.lower())]
    return Table(columns, found.source).only(names), mask


def _mask(file: DataFile, column: Any) -> Bools:
    found, texts = text_codes(column)
    words = ["".join(text.split()).lower() for text in texts]
    strange = [text for text, word in zip(texts, words, strict=True) if word not in _WORDS]
    if strange or np.any(found < 0):
        raise InvalidInputError(f"{file}: expected Normal or Attack in every row, found {(strange or [''])[0]!r}")
    mask: Bools = np.array([_WORDS[word] for word in words])[found]
    return mask


DATASETS.add(
    "swat",
    DatasetRecord(
        name="swat",
        title="Secure Water Treatment",
        summary="a water plant for research, 51 sensors and actuators a second, 36 attacks",
        source="https://itrust.sutd.edu.sg/itrust-labs_datasets/",
        licence="on request from iTrust, not to be passed on",
        folders=("SWaT",),
        layout="SWaT/SWaT_Dataset_Normal_v1.csv and SWaT/SWaT_Dataset_Attack_v0.csv, or SWaT/swat_train2.csv and "
        "SWaT/swat2.csv, or the labels alone as SWaT/swat_labels.txt",
        get="Ask iTrust with the form at https://itrust.sutd.edu.sg/itrust-labs_datasets/ for SWaT.A1 & A2 (Dec 2015), "
        "and save its two tables (Normal_v1, Attack_v0) as csv files.",
        parts=_parts,
        read=_read,
        label_file=_label_file,
        facts={"": Facts(None, 449_919, 51, 35, 54_621)},
    ),
)
