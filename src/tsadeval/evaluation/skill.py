"""How far scores are above chance: above the same scores in random order, by points and by events."""

import math
from statistics import NormalDist

import numpy as np

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import METRICS
from tsadeval.core.results import Row
from tsadeval.metrics.counting import event_maxima

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
