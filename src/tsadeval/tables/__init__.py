"""Tables of users: files, standard input, data frames and dictionaries; `read_table` reads any of them."""

from tsadeval.core.names import load_late
from tsadeval.tables.files import table_files
from tsadeval.tables.reading import read_table
from tsadeval.tables.table import Table

__all__ = ["Table", "read_table", "table_files"]

# What makes scorings of a table lies higher up, and is found here.
__getattr__ = load_late(__name__, dict.fromkeys(("TableScoring", "scorings"), "tsadeval.scores.tabular"))
