"""Evaluation of one scoring (`single`), of many series (`many`); what a value is worth (`baseline`)."""

from tsadeval.evaluation.many import SeriesEvaluation, evaluate_many
from tsadeval.evaluation.single import Evaluation, evaluate

__all__ = ["Evaluation", "SeriesEvaluation", "evaluate", "evaluate_many"]
