"""Evaluation of one scoring (`single`) and of many series (`many`); values to compare with (`baseline`)."""

from tsadeval.evaluation.many import SeriesEvaluation, evaluate_many
from tsadeval.evaluation.single import Evaluation, evaluate

__all__ = ["Evaluation", "SeriesEvaluation", "evaluate", "evaluate_many"]
