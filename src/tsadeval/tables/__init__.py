"""Tables of users: files, standard input, data frames and dictionaries; `read_table` reads any of them."""

import importlib
from typing import Any

from tsadeval.tables.files import table_files
from tsadeval.tables.reading import read_table
from tsadeval.tables.table import Table

__all__ = ["Table", "read_table", "table_files"]

# What makes scorings of tables has moved up; these names answer here for one version more.
_MOVED = {
    "Run": "tsadeval.scores.scores",
    "TableScoring": "tsadeval.scores.tabular",
    "runs": "tsadeval.scores.scores",
    "scorings": "tsadeval.scores.tabular",
}


def __getattr__(name: str) -> Any:
    if name in _MOVED:
        return getattr(importlib.import_module(_MOVED[name]), name)
    raise AttributeError(f"tsadeval.tables has no {name!r}")
