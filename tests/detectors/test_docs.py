"""The page of the detectors agrees with the registry; its examples run in test_docs.py."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_the_registry():
    spec = importlib.util.spec_from_file_location("make_detectors", DOCS / "make_detectors.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "detectors.md").read_text(encoding="utf-8") == module.page(), "run: make generated"
