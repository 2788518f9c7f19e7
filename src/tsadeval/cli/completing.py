"""Names that the shell completes: of detectors, metrics and data sets, the last one of a list with commas."""

from __future__ import annotations

from collections.abc import Iterable


def complete_detectors(incomplete: str) -> list[str]:
    """Names of the registry of detectors."""
    from tsadeval.detectors import DETECTORS

    return _last(incomplete, DETECTORS)


def complete_metrics(incomplete: str) -> list[str]:
    """Names of metrics, and of sets of them."""
    from tsadeval.core.metric import METRICS

    sets = {name for metric in METRICS.values() for name in metric.sets}
    return _last(incomplete, [*METRICS, *sets, "all"])


def complete_datasets(incomplete: str) -> list[str]:
    """Names of data sets."""
    from tsadeval.datasets import DATASETS

    return _last(incomplete, DATASETS)


def _last(incomplete: str, names: Iterable[str]) -> list[str]:
    """The names that the part after the last comma begins, each with the parts before it."""
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in sorted(names) if name.startswith(begun)]
