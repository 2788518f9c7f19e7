"""A Dask cluster for the time of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tsadeval._optional import require
from tsadeval.errors import InvalidParameterError

__all__ = ["on_cluster"]


@contextmanager
def on_cluster(address: str) -> Iterator[None]:
    """Let the engine run on the cluster whose scheduler is at this address ("tcp://host:8786"); "" for here."""
    if not address:
        yield
        return
    distributed, joblib = require("distributed", extra="dask"), require("joblib", extra="all")
    try:
        client = distributed.Client(address)
    except (OSError, ValueError) as error:
        raise InvalidParameterError(f"--dask: there is no scheduler at {address} ({error})") from None
    with client, joblib.parallel_config(backend="dask"):
        yield
