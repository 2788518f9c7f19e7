"""tsadeval judges time-series anomaly detectors, and judges the metrics that judge them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tsadeval import datasets, detectors, errors, metrics, plot, rankeval
    from tsadeval.comparison import compare
    from tsadeval.core.align import align
    from tsadeval.core.intervals import alarms, intervals, labels
    from tsadeval.core.period import period
    from tsadeval.core.time import times
    from tsadeval.engine.streams import evaluate_stream
    from tsadeval.evaluation import StreamingCCE, evaluate, evaluate_many
    from tsadeval.evaluation.events import events
    from tsadeval.evaluation.scorer import scorer
    from tsadeval.evaluation.stream import StreamingEvaluator
    from tsadeval.experiments.api import detect
    from tsadeval.experiments.scoring import score_files
    from tsadeval.metrics import CCEBreakdown, cce, cce_breakdown, ears, ears_breakdown
    from tsadeval.reports.api import report
    from tsadeval.tables.batches import batches
    from tsadeval.thresholds import best_threshold, choose_threshold, curve

__version__ = "0.1.0"

# Where each public name lives. Nothing is imported before it is used, so `import tsadeval` stays light.
_HOMES = {
    "CCEBreakdown": "tsadeval.metrics._cce_breakdown",
    "StreamingCCE": "tsadeval.evaluation",
    "StreamingEvaluator": "tsadeval.evaluation.stream",
    "alarms": "tsadeval.core.intervals",
    "align": "tsadeval.core.align",
    "batches": "tsadeval.tables.batches",
    "best_threshold": "tsadeval.thresholds",
    "cce": "tsadeval.metrics._cce",
    "cce_breakdown": "tsadeval.metrics._cce_breakdown",
    "choose_threshold": "tsadeval.thresholds",
    "compare": "tsadeval.comparison",
    "curve": "tsadeval.thresholds",
    "datasets": "",
    "detect": "tsadeval.experiments.api",
    "detectors": "",
    "ears": "tsadeval.metrics._ears",
    "ears_breakdown": "tsadeval.metrics._ears",
    "errors": "",
    "evaluate": "tsadeval.evaluation",
    "evaluate_many": "tsadeval.evaluation",
    "evaluate_stream": "tsadeval.engine.streams",
    "events": "tsadeval.evaluation.events",
    "intervals": "tsadeval.core.intervals",
    "labels": "tsadeval.core.intervals",
    "metrics": "",
    "period": "tsadeval.core.period",
    "plot": "",
    "rankeval": "",
    "report": "tsadeval.reports.api",
    "times": "tsadeval.core.time",
    "score_files": "tsadeval.experiments.scoring",
    "scorer": "tsadeval.evaluation.scorer",
}

__all__ = [
    "CCEBreakdown",
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
    "score_files",
    "scorer",
    "times",
]


if not TYPE_CHECKING:  # a checker that saw it would take every name for one of ours

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            from tsadeval.core.registry import did_you_mean

            hint = "" if name.startswith("__") else f": {did_you_mean(name, __all__)}"
            raise AttributeError(f"tsadeval has no {name!r}{hint}")
        home = _HOMES[name]
        value = getattr(importlib.import_module(home), name) if home else importlib.import_module(f"tsadeval.{name}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
