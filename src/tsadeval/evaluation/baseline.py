"""Baselines of a metric: the values of an uninformative detector and of a perfect one.

The uninformative detector has the same scores in random order, so it raises as many alarms under the same threshold.
A point-adjusted F1 of 0.9 looks different beside the 0.85 that shuffled scores get.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tsadeval.core.facts import Origin
from tsadeval.core.inputs import Floats, Scoring, label_runs
from tsadeval.core.metric import Metric, Rule
from tsadeval.errors import InvalidInputError
from tsadeval.thresholds.rules import fixed


def random_values(
    metrics: Sequence[Metric], scoring: Scoring, rule: Rule, draws: int, random_state: int
) -> list[tuple[float, float]]:
    """For each metric its expected value on shuffled scores, and the standard error (0 where there is a formula)."""
    known = {i: value for i, m in enumerate(metrics) if (value := _by_formula(m, scoring, rule)) is not None}
    drawn = [i for i in range(len(metrics)) if i not in known]
    values = np.full((draws, len(drawn)), math.nan)
    rng = np.random.default_rng(random_state)
    for row in values if drawn else ():
        # One shuffle serves all metrics, so they share its sorts and sweeps.
        shuffled = _shuffled(scoring, rng)
        row[:] = [metrics[i].attempt(shuffled, rule).value for i in drawn]
    return [(known[i], 0.0) if i in known else _mean_and_error(values[:, drawn.index(i)]) for i in range(len(metrics))]


def _shuffled(scoring: Scoring, rng: np.random.Generator) -> Scoring:
    """Scores in random order, and with them the predictions where they were given."""
    order = np.arange(scoring.n)
    judged = order if scoring.setting.ignored is None else np.flatnonzero(~scoring.setting.ignored)
    order[judged] = rng.permutation(judged)  # points that are not judged stay where they are
    unknown = None if scoring.setting.unknown is None else scoring.setting.unknown[order]
    setting = replace(scoring.setting, unknown=unknown)
    shuffled = replace(Scoring.of(scoring.truth.labels, scoring.scores[order]), setting=setting)
    if scoring.given is None:
        return shuffled
    return replace(shuffled, given=label_runs(scoring.given.labels[order], "y_pred"))


def _by_formula(metric: Metric, scoring: Scoring, rule: Rule) -> float | None:
    if metric.chance is None:
        return None
    try:
        decision = metric.decide(scoring, rule)
    except InvalidInputError:  # the metric has no value on the scores as they are, either
        return math.nan
    # The formulas keep the number of alarms, which only some rules do when scores are shuffled: best thresholds become
    # others, and alarms that have to last do so no more.
    ruled = decision is not None and decision.origin not in (Origin.GIVEN, Origin.SCORES)
    if ruled and not getattr(rule, "exchangeable", False):
        return None
    data = metric.judges(scoring) if decision is None else metric.judges(decision.prediction)
    if math.isnan(metric.value_of(data)[0]):
        return math.nan  # undefined stays undefined: chance makes no number where the metric has none
    return float(metric.chance(data, **metric.options))


def _mean_and_error(values: Floats) -> tuple[float, float]:
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return math.nan, math.nan
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def perfect_values(metrics: Sequence[Metric], scoring: Scoring) -> list[float]:
    """For each metric its value when the labels themselves are the scores, and so the alarms."""
    setting = replace(scoring.setting, unknown=None)
    truth = replace(Scoring.of(scoring.truth.labels, scoring.truth.mask), setting=setting)
    return [metric.attempt(truth, fixed(0.5)).value for metric in metrics]
