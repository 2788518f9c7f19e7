"""Server Machine Dataset (SMD): 28 machines of an internet company, five weeks of minutes each."""

import re

from tsadeval.datasets.dataset import CHECKSUMS, DATASETS, DatasetRecord, Download, Facts, Split, numbered, read_three
from tsadeval.datasets.readers import DataFile, Files, beside, text_matrix, text_series

_COLUMNS = 38
_LABELS = r"test_label/machine-(?P<machine>\d+-\d+)\.txt"


def _parts(files: Files) -> dict[str, bool]:
    """Machines beside the first label file; a copy in a folder below is not listed, but `smd/<folder>/1-1` loads it."""
    found = files.all(_LABELS)
    here = [(file, match) for file, match in found if file.parent == found[0][0].parent]
    machines = {match["machine"]: files.at(beside(file, "train")) is not None for file, match in here}
    return {machine: machines[machine] for machine in sorted(machines, key=_numbers)}


def _numbers(machine: str) -> list[int]:
    return [int(number) for number in machine.split("-")]


def _label_file(files: Files, item: str) -> DataFile | None:
    folder, _, machine = item.rpartition("/")
    pattern = rf"test_label/machine-{re.escape(machine)}\.txt"
    return files.first(f"{re.escape(folder)}/{pattern}" if folder else pattern)


def _read(files: Files, file: DataFile, item: str, features: bool) -> Split:
    return read_three(f"smd/{item}", files, file, features, text_matrix, numbered("metric_", _COLUMNS), text_series)


# Of each machine: test points, events, anomalous points.
_MACHINES = {
    "1-1": (28_479, 8, 2_694),
    "1-2": (23_694, 10, 542),
    "1-3": (23_703, 12, 817),
    "1-4": (23_707, 12, 720),
    "1-5": (23_706, 7, 100),
    "1-6": (23_689, 30, 3_708),
    "1-7": (23_697, 13, 2_398),
    "1-8": (23_699, 20, 763),
    "2-1": (23_694, 13, 1_170),
    "2-2": (23_700, 11, 2_833),
    "2-3": (23_689, 10, 269),
    "2-4": (23_689, 20, 1_694),
    "2-5": (23_689, 21, 980),
    "2-6": (28_743, 8, 424),
    "2-7": (23_696, 20, 417),
    "2-8": (23_703, 1, 161),
    "2-9": (28_722, 10, 1_755),
    "3-1": (28_700, 4, 308),
    "3-2": (23_703, 10, 1_109),
    "3-3": (23_703, 26, 632),
    "3-4": (23_687, 8, 977),
    "3-5": (23_691, 11, 426),
    "3-6": (28_726, 11, 1_194),
    "3-7": (28_705, 5, 434),
    "3-8": (28_704, 6, 1_371),
    "3-9": (28_713, 4, 303),
    "3-10": (23_693, 13, 1_047),
    "3-11": (28_696, 3, 198),
}
_TRAIN = {"2-1": 23_693, "3-7": 28_705}

_URL = "https://raw.githubusercontent.com/NetManAIOps/OmniAnomaly/master/ServerMachineDataset/"

DATASETS.add(
    "smd",
    DatasetRecord(
        name="smd",
        title="Server Machine Dataset",
        summary="28 servers of an internet company, 38 metrics a minute for five weeks",
        source="https://github.com/NetManAIOps/OmniAnomaly",
        licence="MIT",
        folders=("SMD", "ServerMachineDataset"),
        layout="SMD/{train,test,test_label}/machine-<group>-<number>.txt (plain or .gz)",
        get="`tsadeval datasets fetch smd` gets it.",
        parts=_parts,
        read=_read,
        label_file=_label_file,
        canonical=lambda item: item.replace("machine-", ""),
        facts={
            machine: Facts(_TRAIN.get(machine), n, _COLUMNS, events, anomalous)
            for machine, (n, events, anomalous) in _MACHINES.items()
        },
        downloads=tuple(
            Download(_URL + path, path, CHECKSUMS.get(f"smd/{path}", ""), machine)
            for machine in _MACHINES
            for path in (f"{kind}/machine-{machine}.txt" for kind in ("test_label", "train", "test"))
        ),
    ),
)
