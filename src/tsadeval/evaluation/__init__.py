"""Evaluation of one scoring (`single`), of many series (`many`) and of streams; what a value is worth (`baseline`)."""

from tsadeval.evaluation.many import SeriesEvaluation, evaluate_many
from tsadeval.evaluation.single import Evaluation, evaluate
from tsadeval.evaluation.streaming import StreamingCCE

__all__ = ["Evaluation", "SeriesEvaluation", "StreamingCCE", "evaluate", "evaluate_many"]
