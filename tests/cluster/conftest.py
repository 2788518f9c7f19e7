"""Clusters and object stores that are slow to start and large to install: `make test-cluster` sets them up."""

import os

import pytest


def pytest_collection_modifyitems(items):
    if os.environ.get("TSADEVAL_CLUSTER"):
        return
    for item in items:
        if "cluster" in item.path.parts[-2]:
            item.add_marker(pytest.mark.skip(reason="needs Ray and an object store: make test-cluster"))
