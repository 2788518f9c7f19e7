"""Credit card transactions of two days, 492 frauds among 284,807."""

import numpy as np

from tsadeval.core.parameters import Number
from tsadeval.datasets.dataset import DATASETS, DatasetRecord, Facts, Split, feature_matrix, read_three, split_rows
from tsadeval.datasets.readers import DataFile, Files, labels, npy, table, text_series
from tsadeval.errors import InvalidInputError

_ROWS = 284_807
_CSV = r"(?i:creditcard\.csv)"
_NPZ = r"(?i:creditcard_labels\.npz)"
_FRAUDS = r"(?i:creditcard_fraud_row_index\.txt)"


def _array(files: Files, kind: str) -> DataFile | None:
    return files.first(rf"(?i:(?:NIPS_TS_)?creditcard_{kind}\.npy)")


def _parts(files: Files) -> dict[str, bool]:
    if files.first(_CSV) or (_array(files, "test_label") and _array(files, "train")):
        return {"": True}
    return {"": False} if _label_file(files, "") else {}


def _label_file(files: Files, item: str) -> DataFile | None:
    if item:
        return None
    return files.first(_NPZ) or files.first(_FRAUDS) or _array(files, "test_label") or files.first(_CSV)


def _read(files: Files, file: DataFile, item: str, features: bool, *, split: float | None = None) -> Split:
    """Transactions in the order of time.

    The table has no training part, and the paper's label set is all of it, so by default all rows are both what a
    detector learns from (without labels) and what it is judged on. `split=0.5` learns from the first half and judges
    on the second instead. The time of a transaction is no feature.
    """
    if features and (csv := files.first(_CSV)):
        return _read_csv(csv, split)
    if features and (arrays := _array(files, "test_label")) and _array(files, "train"):
        return read_three("creditcard", files, arrays, features, npy, "V")
    return Split(None, None, _labels(file), ())


def _read_csv(file: DataFile, split: float | None) -> Split:
    found = table(file)
    mask = labels(file, found.numbers("Class"))
    names, values = feature_matrix(found.only(name for name in found.columns if name not in ("Time", "Class")))
    return split_rows(file, values, mask, names, len(mask) if split == 1 else split)


def _labels(file: DataFile) -> np.typing.NDArray[np.bool_]:
    if file.path.endswith(".npy"):
        return labels(file, npy(file))
    if file.path.endswith((".npz", ".csv")):
        return labels(file, table(file).numbers("label" if file.path.endswith(".npz") else "Class"))
    rows = text_series(file)
    if not np.all((rows == np.floor(rows)) & (rows >= 0) & (rows < _ROWS)):
        raise InvalidInputError(f"{file}: expected row numbers from 0 to {_ROWS - 1}, one a line")
    mask = np.zeros(_ROWS, np.bool_)
    mask[rows.astype(np.int64)] = True
    return mask


DATASETS.add(
    "creditcard",
    DatasetRecord(
        name="creditcard",
        title="Credit card fraud",
        summary="transactions of two days, 28 principal components and the amount; 492 frauds",
        source="https://www.kaggle.com/datasets/mlg-ulb/creditcardfraud",
        licence="Database Contents License 1.0",
        folders=("Creditcard", "NIPS_TS_Creditcard"),
        layout="Creditcard/creditcard.csv (or the zip that holds it), or "
        "Creditcard/NIPS_TS_creditcard_{train,test,test_label}.npy, or the labels alone as "
        "Creditcard/creditcard_labels.npz or Creditcard/creditcard_fraud_row_index.txt",
        get="Sign in at https://www.kaggle.com/datasets/mlg-ulb/creditcardfraud, download it and put it there.",
        parts=_parts,
        read=_read,
        label_file=_label_file,
        facts={"": Facts(None, _ROWS, 29, 463, 492)},
        options={"split": Number(0, 1, open_low=True, none=True)},
    ),
)
