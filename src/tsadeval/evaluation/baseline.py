"""Baselines, intervals and skill: what random and perfect scores get, how certain a value is, how far above chance.

The uninformative detector has the same scores in random order, so it raises as many alarms under the same threshold.
A point-adjusted F1 of 0.9 looks different beside the 0.85 that shuffled scores get.

Intervals are by bootstrap: the events of a series, each with its surroundings, are drawn with replacement.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.facts import NoInterval, Origin
from tsadeval.core.inputs import Floats, Index, Scoring, label_runs
from tsadeval.core.metric import METRICS, Metric, Rule
from tsadeval.core.results import Row
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError
from tsadeval.metrics.counting import event_maxima
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


FEWEST = 5  # events from which on there are intervals
MOST, SAME = 0.9, 1e-12  # share of resamples on which a metric must be defined, and half width that is none
# From how many events on the intervals of a metric held the true value of simulated series in 90 % of cases, where that
# is more than the fewest; None: with no number that was tried. docs/coverage.md has all numbers.
CERTAIN_FROM: dict[str, int | None] = {
    "accuracy": 50,
    "adtqc": 50,
    "affiliation_f1": None,
    "affiliation_recall": 20,
    "auc_pr": 20,
    "auc_pr_pa": 20,
    "auc_roc": 50,
    "auc_roc_pa": None,
    "balanced_accuracy": 50,
    "balanced_f1_pa": 50,
    "best_f1": 50,
    "cce": None,
    "composite_f1": 50,
    "detection_accuracy_in_range": 20,
    "detection_delay": 50,
    "dqe": None,
    "etapr_f1": 10,
    "event_recall": 20,
    "expected_cost": 20,
    "f1": 50,
    "f1_pa": None,
    "f1_pa_delay": 50,
    "f1_pa_k": None,
    "f1_pa_kl": 50,
    "latency_sparsity_f1": 50,
    "mcc": 50,
    "nab_score": 50,
    "normalized_affiliation_f1": 50,
    "pa_k_auc": 20,
    "pate": 20,
    "pate_f1": 50,
    "precision": 10,
    "range_auc_pr": 50,
    "reduced_f1": 50,
    "sdqe": 50,
    "tapr_f1": None,
    "temporal_distance": None,
    "time_to_recover": None,
    "time_tolerant_f1": 50,
    "total_detected_in_range": 50,
    "unbiased_affiliation_f1": 50,
    "vus_pr": 20,
    "vus_roc": 20,
}


def block_borders(scoring: Scoring) -> Index:
    """Return where the blocks of events begin, and the end: they part in the middle between two events.

    >>> block_borders(Scoring.of([0, 1, 0, 0, 0, 1, 0], [0.0] * 7))
    array([0, 3, 7])
    """
    events = scoring.events
    return np.concatenate([[0], (events.stops[:-1] + events.starts[1:]) // 2, [scoring.n]])


def resampled(scoring: Scoring, blocks: Sequence[slice]) -> Scoring:
    """Put blocks of a scoring one after the other, as a series of its own."""

    def put(values: Any) -> Any:
        return None if values is None else np.concatenate([values[block] for block in blocks])

    setting = scoring.setting
    times = setting.times
    if times is not None:  # each block begins where the time of the one before ends
        stamps = np.cumsum(np.append(0, put(np.append(np.diff(times.stamps), times.step))))[:-1]
        times = Times(stamps, times.kind, stamps, times.unit)
    found = Scoring.of(put(scoring.truth.mask), put(scoring.raw))
    given = None if scoring.given is None else label_runs(put(scoring.given.mask), "y_pred")
    setting = replace(setting, times=times, ignored=put(setting.ignored), unknown=put(setting.unknown))
    return replace(found, given=given, setting=setting)


def interval_rows(
    values: Sequence[float],
    metrics: Sequence[Metric],
    scoring: Scoring,
    rule: Rule,
    level: float,
    draws: int,
    random_state: int,
) -> list[Row]:
    """Return for each value the ends of its interval, or why there is none."""
    events = len(scoring.events)
    needed = [CERTAIN_FROM.get(str(m), CERTAIN_FROM.get(m.name, FEWEST)) for m in metrics]
    about = [{"interval": level, "uncertain": least is None or events < least} for least in needed]
    if events < FEWEST:
        return [{**one, "low": None, "high": None, "no_interval": NoInterval.FEW} for one in about]
    drawn = drawn_values(metrics, scoring, rule, draws, random_state).T
    found = (interval_of(v, some, events, level, m.range) for v, some, m in zip(values, drawn, metrics, strict=True))
    return [{**one, **interval} for one, interval in zip(about, found, strict=True)]


def interval_of(value: float, drawn: Floats, events: int, level: float, limits: tuple[float, float]) -> Row:
    """Compute the interval of a value by Student's t from the spread of what was drawn, within the metric's range.

    >>> round(interval_of(0.5, np.array([0.4, 0.5, 0.6]), 10, 0.95, (0.0, 1.0))["low"], 4)
    0.2615
    """
    known = drawn[np.isfinite(drawn)]
    reason, low, high = NoInterval.UNDEFINED, None, None
    if len(known) >= MOST * len(drawn) and math.isfinite(value):
        half = float(known.std(ddof=1)) * math.sqrt(events / (events - 1))
        half *= float(require("scipy.stats", extra="all").t.ppf((1 + level) / 2, events - 1))
        ends = np.clip([value - half, value + half], *limits).tolist()
        reason, low, high = (NoInterval.SAME, None, None) if half <= SAME else (None, *ends)
    return {"low": low, "high": high, "no_interval": reason}


def drawn_values(metrics: Sequence[Metric], scoring: Scoring, rule: Rule, draws: int, random_state: int) -> Floats:
    """Compute the metrics of as many resamples: a row for each, a column for each metric."""
    borders = block_borders(scoring).tolist()
    blocks = [slice(a, b) for a, b in pairwise(borders)]
    rng = np.random.default_rng(random_state)
    values = np.empty((draws, len(metrics)))
    for row in values:
        one = resampled(scoring, [blocks[k] for k in rng.integers(0, len(blocks), len(blocks))])
        row[:] = [metric.attempt(one, rule).value for metric in metrics]
    return values


# Columns of rows: the AUC-ROC, and by how many standard errors points and events are above scores in random order.
SKILL = {"point_rank": "float64", "point_skill": "float64", "event_skill": "float64"}


def skill_of(scoring: Scoring) -> Row:
    """Compute the facts of skill; none without anomalies or without normal points."""
    data = scoring.kept
    if not (data.truth.has(0) and data.truth.has(1)):
        return {}
    n, anomalous = data.n, data.events.points
    rank = METRICS["auc_roc"].value_of(data)[0]
    ties = np.diff(data.levels[1], prepend=0).astype(np.float64)
    tied = float((ties**3 - ties).sum()) / (n * (n - 1))
    error = math.sqrt(max(n + 1 - tied, 0) / (12 * anomalous * (n - anomalous)))
    return {
        "point_rank": rank,
        "point_skill": (rank - 0.5) / error if error else 0.0,
        "event_skill": _event_skill(data),
    }


def _event_skill(data: Scoring) -> float:
    """Compute by how much the largest scores of events are above those of as many points drawn at random."""
    maxima, n = event_maxima(data), data.n
    # How many scores are above each, and at least as high: half of the ties count.
    above, reaching = (n - np.searchsorted(data.sorted, maxima, side) for side in ("right", "left"))
    found = []
    for more, least, length in zip(above.tolist(), reaching.tolist(), data.events.lengths.tolist(), strict=True):
        share = (_all_miss(n, more, length) + _all_miss(n, least, length)) / 2
        found.append(NormalDist().inv_cdf(min(max(share, 1e-12), 1 - 1e-12)))
    return math.fsum(found) / math.sqrt(len(found))


def _all_miss(n: int, higher: int, length: int) -> float:
    """Compute the probability that none of `length` of n points is one of the `higher` ones."""
    if higher + length > n:
        return 0.0
    ways = math.lgamma(n - higher + 1) - math.lgamma(n - higher - length + 1)
    return math.exp(ways - math.lgamma(n + 1) + math.lgamma(n - length + 1))
