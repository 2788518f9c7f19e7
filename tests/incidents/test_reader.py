"""Incidents of many series in one file."""

import json

import pytest

from tsadeval.errors import UnknownNameError
from tsadeval.incidents.reader import Asked, read_incidents, read_json
from tsadeval.scores.companions import Spans


def test_a_file_of_windows_is_read_once_for_all_series(tmp_path):
    path = tmp_path / "windows.json"
    windows = {f"s{i}": [[f"2026-01-0{i} 00:00", f"2026-01-0{i} 01:00"]] for i in range(1, 4)}
    path.write_text(json.dumps(windows))
    found, spans = read_json(path), Spans(path, ["series"])
    path.unlink()
    for series, ((start, stop),) in windows.items():
        table = read_incidents(found, Asked(key=series))
        assert (table.starts, table.stops, table.windows) == ([start], [stop], True)
        assert table.name == f"incidents of {series}"
        labels = spans.labels({"series": series}, "", [start, stop, "2026-02-01"])
        assert labels.tolist() == [1, 1, 0]
    with pytest.raises(UnknownNameError, match=r"incidents has no windows of 's9': did you mean"):
        read_incidents(found, Asked(key="s9"))
