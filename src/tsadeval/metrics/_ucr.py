"""The score of the UCR anomaly archive: whether the highest score is near the event."""

from __future__ import annotations

import numpy as np

from tsadeval.core.define import score_metric
from tsadeval.core.inputs import Scoring
from tsadeval.core.parameters import Number

__all__ = ["ucr_accuracy"]


@score_metric(
    label="UCR accuracy",
    range=(0.0, 1.0),
    summary="1 where the highest score is near an event, else 0; its mean over series is the accuracy of the archive.",
    undefined="y_true has no event",
    references=("Wu and Keogh, Current Time Series Anomaly Detection Benchmarks are Flawed, TKDE 2021",),
    checks={"slack": Number(0, integer=True)},
    properties={"affine", "monotone", "mirror"},
    needs={"anomaly"},
)
def ucr_accuracy(data: Scoring, *, slack: int = 100) -> float:
    """Whether the point with the highest score is near an event: the score of the UCR anomaly archive.

    A point is near an event of length L that it is less than max(`slack`, L) points away from. The archive has one
    event a series; with several, near any of them counts. Of several points with the highest score each is as good a
    choice as the others: the value is the share of them that are near. The mean over series (`te.evaluate_many`) is
    the accuracy that papers report.

    Parameters
    ----------
    slack : int, default=100
        The least distance, in points, that is too far.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0] * 200 + [1] * 5 + [0] * 200
    >>> te.metrics.ucr_accuracy(y_true, [0] * 120 + [1] + [0] * 284)
    1.0
    >>> te.metrics.ucr_accuracy(y_true, [0] * 100 + [1] + [0] * 304)
    0.0
    """
    events = data.events
    highest = np.flatnonzero(data.scores == data.high)
    reach = np.maximum(events.lengths, min(slack, data.n)) - 1
    # Zones of different width may overlap in any order, so each point is looked up in the union of them.
    edges = np.zeros(data.n + 1, np.int64)
    np.add.at(edges, np.maximum(events.starts - reach, 0), 1)
    np.add.at(edges, np.minimum(events.stops + reach, data.n), -1)
    return float(np.mean(np.cumsum(edges[:-1])[highest] > 0))
