"""Which tests need what: for the examples in src too, unlike tests/conftest.py."""

import importlib.util
from pathlib import Path

import pytest

import tsadeval.rankeval  # noqa: F401  (else pytest, given rankeval/run.py alone, puts that module in the place of the function)

ROOT = Path(__file__).parent
# Folders whose tests all need the same; files of tests carry the mark themselves.
MARKS = {
    "src/tsadeval/torch": "torch",
    "src/tsadeval/detectors/_torch": "torch",
    "tests/tensors": "torch",  # not tests/torch: Python would take it for torch where that is not installed
    "tests/browser": "browser",
    "tests/cluster": "cluster",
    # Other packages, damaged files, killed processes and figures: for `make test`.
    "tests/faults": "slow",
    "tests/parity": "slow",
    "tests/plot": "slow",
}
DEEP = {"deep.py", "lstm_ad.py", "reconstruction.py"}
TESTS = ("anomaly_transformer", "foundation", "timesnet", "training")

# Where torch is not installed, what imports it cannot be collected.
if importlib.util.find_spec("torch") is None:
    collect_ignore = [folder for folder, mark in MARKS.items() if mark == "torch"]
    collect_ignore += [f"tests/detectors/test_{name}.py" for name in TESTS]
    collect_ignore += [path for name in ("torch", "triton") for path in ROOT.glob(f"tests/{name}_*.py")]


def pytest_collection_modifyitems(items):
    """Mark what lies in folders."""
    for item in items:
        place = item.path.relative_to(ROOT)
        for folder, mark in MARKS.items():
            if place.is_relative_to(folder):
                item.add_marker(getattr(pytest.mark, mark))
        if place.parent.name == "detectors" and place.name in DEEP:
            item.add_marker(pytest.mark.torch)
