"""Secure Water Treatment (SWaT): a water plant for research, a week of normal operation and four days under attack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsadeval.datasets.dataset import DATASETS, DatasetRecord, Facts, Split, of_tables
from tsadeval.datasets.readers import DataFile, Files, frame, labels, numbers, read, text_series
from tsadeval.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

# Each form: the file of normal operation, the file with attacks.
_FORMS = (
    (r"(?i:SWaT_Dataset_Normal[^/]*\.csv)", r"(?i:SWaT_Dataset_Attack[^/]*\.csv)"),
    (r"(?i:swat_train2?\.csv)", r"(?i:swat2?\.csv|swat_test2?\.csv)"),
)
_LABELS_ONLY = r"(?i:swat_labels(?:\.txt)?)"
_LABEL_NAMES = ("normal/attack", "label", "attack")
_WORDS = {"normal": 0, "attack": 1}


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
    return of_tables({normal: _table(normal)[0], attack: test}, mask, attack)


def _table(file: DataFile) -> tuple[pd.DataFrame, Any]:
    """Features and labels (None where there are none) of one table."""
    content = read(file)
    lines = content[:20_000].splitlines()
    head = next((i for i, line in enumerate(lines[:3]) if b"timestamp" in line.lower()), 0)
    semicolons = lines[head].count(b";") > lines[head].count(b",")
    # With semicolons between the columns, any comma below the names is a decimal one.
    decimal = "," if semicolons and b"," in content[sum(map(len, lines[: head + 1])) :] else "."
    table = frame(
        file,
        content,
        sep=";" if semicolons else ",",
        decimal=decimal,
        skiprows=head,
        skipinitialspace=True,
        low_memory=False,
    )
    table.columns = ["".join(name.split()) for name in table.columns]
    unnamed = [name for name in table.columns if name.lower().startswith("unnamed")]
    table = table.drop(columns=[name for name in table.columns if name.lower() == "timestamp" or name in unnamed])
    table = table.dropna(how="all")
    label = next((name for name in table.columns if name.lower() in _LABEL_NAMES), None)
    mask = None if label is None else _mask(file, table.pop(label))
    return numbers(file, table), mask


def _mask(file: DataFile, values: pd.Series[Any]) -> Any:
    if values.dtype.kind in "biuf":
        return labels(file, values)
    words = values.astype(str).map(lambda word: "".join(word.split()).lower())
    numbers = words.map(_WORDS)
    if numbers.isna().any():
        strange = values[numbers.isna()].iloc[0]
        raise InvalidInputError(f"{file}: expected Normal or Attack, found {strange!r} in column {values.name}")
    return labels(file, numbers)


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
