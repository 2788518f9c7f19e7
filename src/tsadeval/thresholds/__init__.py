"""Threshold rules, which turn scores into alarms, and the best threshold of a metric.

An alarm is a score strictly above the threshold, everywhere in tsadeval. Every threshold that is reported gives the
very same alarms when it is applied to the scores as they were given, `y_score > threshold`.
"""

from tsadeval.thresholds.best import BestThreshold, best, best_threshold
from tsadeval.thresholds.choices import choose_threshold
from tsadeval.thresholds.choose import Choice, budget, curve
from tsadeval.thresholds.fitted import SPOT, FittedRule, contamination, epsilon, iqr, mad, pot, sigma, top
from tsadeval.thresholds.rules import (
    RULES,
    ThresholdRule,
    fixed,
    hysteresis,
    parse_rule,
    quantile,
    strict_quantile,
    sustained,
)

__all__ = [
    "RULES",
    "SPOT",
    "BestThreshold",
    "Choice",
    "FittedRule",
    "ThresholdRule",
    "best",
    "best_threshold",
    "budget",
    "choose_threshold",
    "contamination",
    "curve",
    "epsilon",
    "fixed",
    "hysteresis",
    "iqr",
    "mad",
    "parse_rule",
    "pot",
    "quantile",
    "sigma",
    "strict_quantile",
    "sustained",
    "top",
]
