"""Data sets of the field, read as they are published, and the user's own files.

>>> sorted(DATASETS)
['asd', 'creditcard', 'msl', 'nab', 'psm', 'smap', 'smd', 'swat', 'ucr']
"""

from tsadeval.datasets.dataset import DATASETS, Dataset, Description
from tsadeval.datasets.loading import fetch, has_labels, items, load
from tsadeval.datasets.readers import data_folder

__all__ = ["DATASETS", "Dataset", "Description", "data_folder", "fetch", "has_labels", "items", "load"]
