"""Baselines beside the detectors of a comparison: random and perfect scores, and one-liners on the series itself."""

import math
from collections.abc import Sequence

import numpy as np

from tsadeval.core.facts import finite_mean, grouped
from tsadeval.core.metric import Metric, Rule
from tsadeval.core.results import Row
from tsadeval.detectors import DETECTORS
from tsadeval.errors import InvalidInputError
from tsadeval.evaluation.baseline import perfect_values
from tsadeval.evaluation.single import rows_of_scoring
from tsadeval.scores.scored import Scored
from tsadeval.scores.scoring import observe

RANDOM, PERFECT = "random", "perfect"
DRAWS = 5  # shuffles of each scoring
ONE_LINERS = {"squared difference": "squared_difference", "moving variance": "moving_variance"}


def random_rows(rows: Sequence[Row]) -> list[Row]:
    """Return a row per series and metric: the mean of what the shuffled scores of its detectors get, and its error."""
    found = grouped(
        ((row["series"], row["metric"]), (row["random"], row["random_error"])) for row in rows if "random" in row
    )
    return [
        {
            "series": series,
            "detector": RANDOM,
            "metric": metric,
            "value": finite_mean(one for one, _ in drawn),
            "random_error": math.sqrt(finite_mean(error**2 for _, error in drawn) / len(drawn)),
            "status": "ok",
            "message": None,
        }
        for (series, metric), drawn in found.items()
    ]


def baseline_rows(one: Scored, metrics: Sequence[Metric], rule: Rule) -> list[Row]:
    """Return the rows of perfect scores on the series of a scoring, and of one-liners where its values are known."""
    values = zip(metrics, perfect_values(metrics, one.scoring), strict=True)
    place = {"series": one.series, "status": "ok", "message": None}
    rows: list[Row] = [{**place, "detector": PERFECT, "metric": str(m), "value": value} for m, value in values]
    given = one.given
    for name, make in ONE_LINERS.items() if given.values is not None else ():
        try:
            series = np.asarray(given.values, np.float64).reshape(len(given.values), -1)
            scores = DETECTORS[make].build().fit(series).score(series)
            scoring = observe(given.y_true, scores, times=given.times, ignore=given.ignore)
        except (ValueError, InvalidInputError):  # the series has gaps, or is shorter than a window
            continue
        rows += [{**place, "detector": name, **row} for row in rows_of_scoring(scoring, metrics, rule)]
    return rows
