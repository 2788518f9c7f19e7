"""Evaluation of one scoring (`single`) and of many series (`many`); values to compare with (`baseline`)."""

from tsadeval.core.names import load_late
from tsadeval.evaluation.many import SeriesEvaluation, evaluate_many
from tsadeval.evaluation.single import Evaluation, evaluate

__all__ = ["Evaluation", "SeriesEvaluation", "evaluate", "evaluate_many"]

# It has moved up, and answers here for one version more.
__getattr__ = load_late(__name__, {"StreamingCCE": "tsadeval.streams.cce"})
