"""Figures. Every function draws on the axes it is given, or on new ones, and returns them.

matplotlib is loaded when the first figure is drawn. Axes that these functions make belong to a figure of their own
that pyplot does not know: `ax.figure.savefig("name.png")` writes it, and nothing stays open.

>>> import tsadeval as te
>>> from tsadeval import plot
>>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
>>> ax = plot.quality_by_noise(result, task="AccQ")
>>> [line.get_label() for line in ax.lines]
['CCE', 'AUC-ROC']
"""

from tsadeval.plot.alarms import curve, outcome_strips, trade_off, value_by_threshold, worst_events
from tsadeval.plot.comparison import critical_difference, metric_agreement, rank_distributions, values_by_series
from tsadeval.plot.figures import latency, latency_by, write_explanation, write_figures
from tsadeval.plot.rankeval import five_models, quality_by_noise, sensitivity, value_by_false_alarms
from tsadeval.plot.series import det_curve, pr_curve, roc_curve, series_with_scores, vus_surface
from tsadeval.plot.suites import (
    agreement,
    disagreement,
    fooled,
    gameability,
    hard_sensitivity,
    hard_tasks,
    misled,
    selection,
    worst_pair,
)

__all__ = [
    "agreement",
    "critical_difference",
    "curve",
    "det_curve",
    "disagreement",
    "five_models",
    "fooled",
    "gameability",
    "hard_sensitivity",
    "hard_tasks",
    "latency",
    "latency_by",
    "metric_agreement",
    "misled",
    "outcome_strips",
    "pr_curve",
    "quality_by_noise",
    "rank_distributions",
    "roc_curve",
    "selection",
    "sensitivity",
    "series_with_scores",
    "trade_off",
    "value_by_false_alarms",
    "value_by_threshold",
    "values_by_series",
    "vus_surface",
    "worst_events",
    "worst_pair",
    "write_explanation",
    "write_figures",
]
