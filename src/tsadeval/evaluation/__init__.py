"""Evaluation of one scoring (`single`) and of many series (`many`); values to compare with (`baseline`)."""

from __future__ import annotations

import importlib
from typing import Any

from tsadeval.evaluation.many import SeriesEvaluation, evaluate_many
from tsadeval.evaluation.single import Evaluation, evaluate

__all__ = ["Evaluation", "SeriesEvaluation", "evaluate", "evaluate_many"]


def __getattr__(name: str) -> Any:
    if name == "StreamingCCE":  # has moved up; it answers here for one version more
        return importlib.import_module("tsadeval.streams.cce").StreamingCCE
    raise AttributeError(f"tsadeval.evaluation has no {name!r}")
