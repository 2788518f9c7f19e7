"""CCE, the confidence-consistency evaluation. `cce_formula` defines it, `cce_explanation` explains a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tsadeval.metrics._kernels.cce as kernel
from tsadeval.core.define import score_metric
from tsadeval.core.inputs import Scoring
from tsadeval.core.parameters import CCE_CHECKS
from tsadeval.metrics.cce_formula import CCEOptions, Parts, combined, event_moments, score_of, unit_scores

__all__ = ["cce"]


def _pooled(series: Sequence[Scoring], **given: Any) -> float:
    """CCE of several series: scores are normalised together, and no event runs from one series into the next."""
    options = CCEOptions(**given)
    found = []
    for data, scores in zip(series, unit_scores(options, series), strict=True):
        starts, counts = data.truth.starts, data.truth.counts
        means = np.add.reduceat(scores, starts) / counts
        variances = np.add.reduceat((scores - np.repeat(means, counts)) ** 2, starts) / counts
        found.append((data.truth.mask[starts], counts, means, variances))
    anomalous, counts, means, variances = (np.concatenate(columns) for columns in zip(*found, strict=True))
    parts = []
    for label in (False, True):
        # The kernel takes runs whose labels alternate: each of one class gets a run of the other beside it.
        of_class = anomalous == label
        columns = (np.repeat(column[of_class], 2) for column in (counts, means, variances))
        parts.append(Parts(*kernel.parts(*columns, int(label), *options.formula)[int(label)]))
    return sum(combined(options, *parts))


@score_metric(
    label="CCE",
    range=(-1.0, 1.0),
    summary="Confidence times consistency of the scores in every event, at event level and globally.",
    undefined="y_true lacks one of the two classes",
    references=("Zhong et al., CCE: Confidence-Consistency Evaluation for Time Series Anomaly Detection",),
    checks=CCE_CHECKS,
    properties={"affine", "mirror", "symmetric"},
    needs={"anomaly", "normal"},
    sets={"paper"},
    pool=_pooled,
    stream="moments",
)
def cce(
    data: Scoring,
    *,
    tau: float = 0.5,
    constrained: bool = False,
    event_weight: float = 0.5,
    global_weight: float = 0.5,
    normalize: str | None = "minmax",
    quantiles: tuple[float, float] = (0.001, 0.999),
    uncertainty: str = "beta",
    gamma: float = 10.0,
) -> float:
    """Confidence-consistency evaluation of anomaly scores.

    A perfect detector gets 1, its inverse -1, and uninformative scores about 0 (for `tau=0.5`; in general
    the range is [-2 tau, 2 (1 - tau)], and [0, 2 (1 - tau)] when constrained).

    Parameters
    ----------
    tau : float, default=0.5
        Confidence threshold: an anomaly event is rewarded for a mean score above tau, a normal one for a
        mean below 1 - tau.
    constrained : bool, default=False
        Clip negative confidences at 0, as the paper's definition does. All published numbers are without.
    event_weight, global_weight : float, default=0.5
        Weight of anomaly against normal events, at event level and globally.
    normalize : {"minmax", "robust", "rank", "quantile", "published", None}, default="minmax"
        How scores become numbers in [0, 1]. "minmax" is the paper's, and one outlier squashes all other
        scores; "quantile" clips at two quantiles first; "rank" uses average ranks, so that only the order
        of scores matters; "robust" uses the eighth power of the rank (the chance to score higher than eight points
        taken at random), scaled to [0, 1]: like "rank", but upper scores matter most and binary scores that are
        perfect get 1. Use it where scores have outliers or detectors differ in scale. None takes scores that are
        probabilities already. "published" adds 1e-8 to the range, as the published code does: only to compare with its
        numbers, since it makes the scale of scores matter.
    quantiles : pair of float, default=(0.001, 0.999)
        Where to clip with `normalize="quantile"`. Keep the upper one above 1 minus the share of anomalies.
    uncertainty : {"beta", "pointwise", "scaled"}, default="beta"
        "beta" is the paper's text (the variance of the event's scores); "pointwise" is what its tables were
        made with; "scaled" is what its five-model table was made with. See the errata page.
    gamma : float, default=10.0
        The scale of "pointwise" and "scaled".

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 1, 0]
    >>> te.cce(y_true, y_true)
    1.0
    >>> round(te.cce(y_true, [0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.2, 0.1]), 6)
    0.490885
    """
    # fmt: off
    options = CCEOptions(tau, constrained, event_weight, global_weight, normalize, quantiles, uncertainty, gamma)
    # fmt: on
    return score_of(options, event_moments(options, data))
