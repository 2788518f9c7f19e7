"""Tables of users: files, standard input, data frames and dictionaries; `read_table` reads any of them."""

from tsadeval.core.names import load_late
from tsadeval.tables.files import table_files
from tsadeval.tables.reading import read_table
from tsadeval.tables.table import Table

__all__ = ["Table", "read_table", "table_files"]

# What makes scorings of tables has moved up; these names answer here for one version more.
_MOVED = {"scores": ("Run", "runs"), "tabular": ("TableScoring", "scorings")}
__getattr__ = load_late(__name__, {name: f"tsadeval.scores.{home}" for home, names in _MOVED.items() for name in names})
