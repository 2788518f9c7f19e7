"""The page of the detectors agrees with the registry, and its example runs."""

import doctest
import importlib.util
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_page_is_the_registry():
    spec = importlib.util.spec_from_file_location("make_detectors", DOCS / "make_detectors.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "detectors.md").read_text(encoding="utf-8") == module.page(), "run: make generated"


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where they write
    done = doctest.testfile(str(DOCS / "detectors.md"), module_relative=False, encoding="utf-8")
    assert done.attempted > 5
    assert done.failed == 0
