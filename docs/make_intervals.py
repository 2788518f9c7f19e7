"""Measure how often intervals of metrics hold the true value, on series whose true value is known.

python docs/make_intervals.py [SERIES]

The true value is that of one very long series of the same model. About fifteen minutes on one core for 100 series;
writes docs/data/intervals.json, from which docs/intervals.md is rendered.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import Metric
from tsadeval.core.selection import select_metrics

LEVEL, DRAWS = 0.95, 200
EVENTS = (5, 10, 20, 50)
QUALITIES = (1.5, 3.0)  # mean height of events in standard deviations of the noise; of each event by one more
MEMORY = 0.9  # correlation of the noise from point to point
SOME = "recommended,auc_roc,auc_pr,vus_roc,best_f1,affiliation_f1,f1_pa,cce,pate"


class Case(NamedTuple):
    """Series of one kind: the mean length of normal stretches and of events, and the metrics that are looked at."""

    gap: int
    length: int
    metrics: tuple[Metric, ...]


CASES = {
    "short": Case(100, 10, select_metrics("all,cce(normalize='robust')")),
    "long": Case(500, 40, select_metrics(SOME)),
}


def series(random: np.random.Generator, case: Case, events: int, quality: float) -> Scoring:
    """Draw labels and scores: correlated noise, with events of different length and height."""
    gaps = (case.gap * (0.25 + 1.5 * random.random(events + 1))).astype(int)
    lengths = np.maximum(1, case.length * (0.25 + 1.5 * random.random(events))).astype(int)
    counts = np.append(np.column_stack([gaps[:-1], lengths]).ravel(), gaps[-1])
    labels = np.repeat(np.arange(len(counts)) % 2, counts)
    heights = np.zeros(len(counts))
    heights[1::2] = np.maximum(random.normal(quality, 1.0, events), 0.0)
    return Scoring.of(labels, noise(random, len(labels)) + np.repeat(heights, counts))


def noise(random: np.random.Generator, n: int) -> np.ndarray:
    """Draw noise of variance 1 in which neighbours are correlated."""
    from scipy.signal import lfilter

    start = 200
    drawn = lfilter([math.sqrt(1 - MEMORY**2)], [1, -MEMORY], random.normal(size=n + start))
    return np.asarray(drawn[start:])


def streams(repeats: int) -> Iterator[tuple[str, int, int, np.random.Generator]]:
    """Every case, number of events and repeat, with random numbers of its own."""
    for repeat in range(repeats):
        for which, name in enumerate(CASES):
            for events in EVENTS:
                yield name, events, repeat, np.random.default_rng((which, events, repeat))
