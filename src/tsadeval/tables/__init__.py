"""Tables of users: files, standard input, data frames and dictionaries; `read_table` reads any of them."""

from tsadeval.tables.files import table_files
from tsadeval.tables.reading import read_table
from tsadeval.tables.table import Table

__all__ = ["Table", "read_table", "table_files"]
