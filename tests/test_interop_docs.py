"""The examples of docs/interop.md run."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "interop.md"


@pytest.mark.slow
def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where they write
    done = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert done.attempted > 20
    assert done.failed == 0
