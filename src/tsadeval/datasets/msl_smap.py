"""MSL and SMAP: telemetry of a Mars rover and of a satellite, with the anomalies that NASA's engineers reported."""

import ast
import csv
import re
from collections.abc import Mapping
from functools import partial

import numpy as np

from tsadeval.core.events import Bools
from tsadeval.datasets.dataset import CHECKSUMS, DATASETS, DatasetRecord, Download, Facts, Split, numbered, read_three
from tsadeval.datasets.readers import DataFile, Files, matrix, npy, read, read_all
from tsadeval.errors import InvalidInputError

_LISTED = ("anomaly_sequences", "chan_id", "num_values", "spacecraft")
_LIST = r"labeled_anomalies\.csv"


def _whole(files: Files, craft: str, kind: str) -> DataFile | None:
    """Return a file of the other published form: all channels in one array."""
    return files.first(rf"{craft}_{kind}\.npy")


def _channel(files: Files, kind: str, channel: str) -> DataFile | None:
    return files.first(rf"{kind}/{re.escape(channel)}\.npy")


def _label_file(files: Files, item: str, *, craft: str) -> DataFile | None:
    file = files.first(_LIST)
    if not item:
        return file or _whole(files, craft, "test_label")
    return file if file is not None and item in _channels(file, craft) else None


def _channels(file: DataFile, craft: str) -> dict[str, Bools]:
    """Return the labels of each channel of a spacecraft, in the order of their names.

    Both ends of an anomaly belong to it. SMAP's channel P-2 is listed twice: its anomalies are those of both lines.
    """
    masks: dict[str, Bools] = {}
    rows = list(csv.DictReader(read(file).decode("utf-8-sig").splitlines()))  # the arrays need no pyarrow either
    if not rows or not {*_LISTED} <= {*rows[0]}:
        found = ", ".join(map(str, rows[0] if rows else ["no rows"]))
        raise InvalidInputError(f"{file}: expected the columns {', '.join(_LISTED)}, found {found}")
    for line, row in enumerate(rows, 2):
        if row["spacecraft"] != craft:
            continue
        try:
            n, sequences = int(row["num_values"]), ast.literal_eval(row["anomaly_sequences"])
            pairs = [(int(first), int(last)) for first, last in sequences]
        except (ValueError, SyntaxError, TypeError):
            raise InvalidInputError(
                f"{file}, line {line}: expected anomalies as [[first, last], ...] and a number of values, "
                f"found {row['anomaly_sequences']!r} and {row['num_values']!r}"
            ) from None
        mask = masks.setdefault(row["chan_id"], np.zeros(n, np.bool_))
        if len(mask) != n or not all(0 <= first <= last < n for first, last in pairs):
            raise InvalidInputError(f"{file}, line {line}: anomalies {pairs} do not lie within {len(mask)} points")
        for first, last in pairs:
            mask[first : last + 1] = True
    return dict(sorted(masks.items()))


def _parts(files: Files, *, craft: str) -> dict[str, bool]:
    file = files.first(_LIST)
    if file is None:
        return {"": _whole(files, craft, "train") is not None} if _whole(files, craft, "test_label") else {}
    present = {match["channel"] for _, match in files.all(r"train/(?P<channel>[^/]+)\.npy")}
    channels = {channel: channel in present for channel in _channels(file, craft)}
    return {"": all(channels.values()) or _whole(files, craft, "train") is not None, **channels}


def _read(files: Files, file: DataFile, item: str, features: bool, *, craft: str) -> Split:
    """One channel, or all of them concatenated in the order of their names."""
    listed, whole = files.first(_LIST), _whole(files, craft, "test_label")
    one_array = features and not item and whole is not None
    if listed is None or (one_array and not any(_channel(files, "test", one) for one in _channels(listed, craft))):
        return read_three(craft, files, whole or file, features, npy, _NAMES[craft])
    masks = _channels(listed, craft)
    chosen = {item: masks[item]} if item else masks
    every = np.concatenate(list(chosen.values()))
    found = {(kind, c): _channel(files, kind, c) for kind in ("train", "test") for c in chosen} if features else {}
    if not any(found.values()):
        return Split(None, None, every, ())
    missing = [f"{kind}/{channel}.npy" for (kind, channel), one in found.items() if one is None]
    if missing:
        shown = ", ".join(missing[:5]) + (" ..." if len(missing) > 5 else "")
        raise InvalidInputError(
            f"{craft}: {len(missing)} of {len(found)} channel files are missing in {files}: {shown}"
        )
    contents = read_all(one for one in found.values() if one)
    names = _NAMES[craft]
    arrays = {key: matrix(one, npy(one, contents[one]), columns=len(names)) for key, one in found.items() if one}
    for channel, mask in chosen.items():
        if len(arrays["test", channel]) != len(mask):
            raise InvalidInputError(
                f"{found['test', channel]}: expected {len(mask)} rows, as {listed} says, "
                f"found {len(arrays['test', channel])}; the file is truncated or of another data set"
            )
    train, test = (np.concatenate([arrays[kind, c] for c in chosen]) for kind in ("train", "test"))
    return Split(train, test, every, names)


# The first column is the telemetry value, the others say which commands were sent or received.
_NAMES = {"MSL": ("telemetry", *numbered("command_", 54)), "SMAP": ("telemetry", *numbered("command_", 24))}


def _add(craft: str, title: str, summary: str, facts: Mapping[str, Facts]) -> None:
    name = craft.lower()
    DATASETS.add(
        name,
        DatasetRecord(
            name=name,
            title=title,
            summary=summary,
            source="https://github.com/khundman/telemanom",
            licence="Caltech's own, free use with its notice (github.com/khundman/telemanom)",
            folders=("SMAP_MSL", "MSL_SMAP", craft),
            layout=f"SMAP_MSL/labeled_anomalies.csv and SMAP_MSL/{{train,test}}/<channel>.npy (or an archive that "
            f"holds them), or {craft}/{craft}_{{train,test,test_label}}.npy",
            get=f"`tsadeval datasets fetch {name}` gets it.",
            by_hand="The original address no longer serves everybody: sign in at https://www.kaggle.com/datasets/"
            "patrickfleith/nasa-anomaly-detection-dataset-smap-msl, download the archive and put it as it is into the "
            "folder SMAP_MSL.",
            parts=partial(_parts, craft=craft),
            read=partial(_read, craft=craft),
            label_file=partial(_label_file, craft=craft),
            facts=facts,
            downloads=(
                Download(
                    "https://raw.githubusercontent.com/khundman/telemanom/master/labeled_anomalies.csv",
                    "labeled_anomalies.csv",
                    CHECKSUMS["msl/labeled_anomalies.csv"],
                ),
                Download("https://s3-us-west-2.amazonaws.com/telemanom/data.zip", "data.zip"),
            ),
        ),
    )


_add(
    "MSL",
    "Mars Science Laboratory",
    "27 channels of the rover Curiosity, 55 columns; most columns are constant",
    {"": Facts(58_317, 73_729, 55, 36, 7766)},
)
_add(
    "SMAP",
    "Soil Moisture Active Passive satellite",
    "54 channels of the satellite, 25 columns; most columns are constant",
    {"": Facts(138_004, 435_826, 25, 68)},
)
