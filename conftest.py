"""Where torch is not installed, what needs it is not collected: `make test` does without, `make test-torch` has it."""

import importlib.util
from pathlib import Path

import pytest

# Examples in the docstrings of modules that import torch. Files of tests carry the mark themselves.
DOCUMENTED = ("src/tsadeval/torch", "src/tsadeval/detectors/_torch")
TESTS = ("torch_*", "test_torch_*", "test_timesnet", "test_anomaly_transformer", "test_foundation")
TESTS += ("test_detectors_training", "test_detectors_folding")

if importlib.util.find_spec("torch") is None:
    collect_ignore = [*DOCUMENTED, *(path for name in TESTS for path in Path(__file__).parent.glob(f"tests/{name}.py"))]


def pytest_collection_modifyitems(config, items):
    """Mark the examples that need torch."""
    folders = [config.rootpath / folder for folder in DOCUMENTED]
    for item in items:
        if any(item.path.is_relative_to(folder) for folder in folders):
            item.add_marker(pytest.mark.torch)
