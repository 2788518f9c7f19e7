"""The lines of docs/scale.md run, in the order of the page."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"


@pytest.mark.slow
def test_the_lines_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 4
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    shown = capsys.readouterr().out
    assert "100,000 points in a stream" in shown
    assert "low" in shown
    assert "pca       power" in shown
