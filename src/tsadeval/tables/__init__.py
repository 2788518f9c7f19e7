"""Users' tables of labels and scores: files, standard input, data frames and dictionaries, read in one way.

`read_table` gives the columns by name; `scorings` what is to be judged in a table; `runs` the same of many tables,
with the names of series and detectors.
"""

from tsadeval.tables.folders import table_files
from tsadeval.tables.reading import read_table
from tsadeval.tables.run import Run, runs
from tsadeval.tables.scoring import TableScoring, scorings
from tsadeval.tables.table import Table

__all__ = ["Run", "Table", "TableScoring", "read_table", "runs", "scorings", "table_files"]
