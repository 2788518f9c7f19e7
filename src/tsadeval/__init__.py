"""Evaluation of time-series anomaly detectors, and of the metrics that evaluate them."""

from typing import TYPE_CHECKING

from tsadeval.core.names import load_late

if TYPE_CHECKING:
    from tsadeval import datasets, detectors, errors, metrics, plot, rankeval
    from tsadeval.comparison.compare import compare
    from tsadeval.core.setting import period
    from tsadeval.core.times import times
    from tsadeval.evaluation import evaluate, evaluate_many
    from tsadeval.evaluation.events import events
    from tsadeval.evaluation.single import scorer
    from tsadeval.experiments.detect import detect
    from tsadeval.experiments.score_files import score_files
    from tsadeval.incidents.align import align
    from tsadeval.incidents.placement import alarms, intervals, labels
    from tsadeval.metrics import CCEBreakdown, cce, cce_breakdown, ears, ears_breakdown
    from tsadeval.reports.report import report
    from tsadeval.reproduction.reproduce import reproduce
    from tsadeval.scores.scores import Scores
    from tsadeval.streams.evaluate import evaluate_stream
    from tsadeval.streams.evaluator import StreamingEvaluator
    from tsadeval.streams.stream import StreamingCCE
    from tsadeval.tables.batches import batches
    from tsadeval.thresholds import best_threshold, choose_threshold, curve

__version__ = "0.1.0"

# Where each public name lives. None is imported before it is used, so `import tsadeval` stays light.
_HOMES = {
    **dict.fromkeys(("datasets", "detectors", "errors", "metrics", "plot", "rankeval"), ""),
    "CCEBreakdown": "tsadeval.metrics.cce_formula",
    "Scores": "tsadeval.scores.scores",
    "StreamingCCE": "tsadeval.streams.stream",
    "StreamingEvaluator": "tsadeval.streams.evaluator",
    "alarms": "tsadeval.incidents.placement",
    "align": "tsadeval.incidents.align",
    "batches": "tsadeval.tables.batches",
    "best_threshold": "tsadeval.thresholds",
    "cce": "tsadeval.metrics.cce_formula",
    "cce_breakdown": "tsadeval.metrics.cce_formula",
    "choose_threshold": "tsadeval.thresholds",
    "compare": "tsadeval.comparison",
    "curve": "tsadeval.thresholds",
    "detect": "tsadeval.experiments.detect",
    "ears": "tsadeval.metrics._ears",
    "ears_breakdown": "tsadeval.metrics._ears",
    "evaluate": "tsadeval.evaluation",
    "evaluate_many": "tsadeval.evaluation",
    "evaluate_stream": "tsadeval.streams.evaluate",
    "events": "tsadeval.evaluation.events",
    "intervals": "tsadeval.incidents.placement",
    "labels": "tsadeval.incidents.placement",
    "period": "tsadeval.core.setting",
    "report": "tsadeval.reports.report",
    "reproduce": "tsadeval.reproduction.reproduce",
    "times": "tsadeval.core.times",
    "score_files": "tsadeval.experiments.score_files",
    "scorer": "tsadeval.evaluation.single",
}

__all__ = [
    "CCEBreakdown",
    "Scores",
    "StreamingCCE",
    "StreamingEvaluator",
    "alarms",
    "align",
    "batches",
    "best_threshold",
    "cce",
    "cce_breakdown",
    "choose_threshold",
    "compare",
    "curve",
    "datasets",
    "detect",
    "detectors",
    "ears",
    "ears_breakdown",
    "errors",
    "evaluate",
    "evaluate_many",
    "evaluate_stream",
    "events",
    "intervals",
    "labels",
    "metrics",
    "period",
    "plot",
    "rankeval",
    "report",
    "reproduce",
    "score_files",
    "scorer",
    "times",
]


if not TYPE_CHECKING:  # a checker that saw it would take every name for one of ours
    __getattr__ = load_late(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
