"""Channel-aware precision and recall: how well a detector points at the affected channels."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsadeval.core.arrays import read_array
from tsadeval.core.events import Events
from tsadeval.core.metric import PRF, f_beta
from tsadeval.core.parameters import F_CHECKS, check_parameters
from tsadeval.errors import InvalidInputError, InvalidParameterError, warn_undefined
from tsadeval.metrics.counting import borders

__all__ = ["channel_aware"]

Matrix = NDArray[np.bool_]


def _matrix(values: Any, name: str) -> Matrix:
    """0/1 values, one column a channel."""
    array = read_array(values, name, "an array of 0 and 1 with one row a time point and one column a channel")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.size == 0:
        raise InvalidInputError(f"{name} must have one row a time point and one column a channel, not {array.shape}")
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(f"{name} must hold numbers, but has dtype {array.dtype}")
    bad = (array != 0) & (array != 1)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise InvalidInputError(
            f"{name} must be 0 (normal) or 1 everywhere, but is {array[row, column].item()!r} at row {row}, "
            f"column {column}"
        )
    return np.asarray(array != 0)


def _grouped(columns: Matrix, groups: Mapping[str, Sequence[int]] | None) -> Matrix:
    """Columns of groups of channels: 1 where any channel of the group is."""
    if groups is None:
        return columns
    known = range(columns.shape[1])
    for name, members in groups.items():
        if len(members) == 0 or any(member not in known for member in members):
            raise InvalidParameterError(
                f"subsystems: {name!r} must list columns from 0 to {columns.shape[1] - 1}, but has {list(members)}"
            )
    return np.column_stack([columns[:, list(members)].any(axis=1) for members in groups.values()])


def channel_aware(
    y_true: Any, y_pred: Any, *, beta: float = 0.5, subsystems: Mapping[str, Sequence[int]] | None = None
) -> PRF:
    """Channel-aware precision, recall and F of ESA-ADB, for labels and alarms of several channels.

    Events are maximal runs of points at which any channel is anomalous. Of each event the affected channels (those
    with an anomalous point in it) and the alarmed ones (those with an alarm in it) are compared: precision is the
    share of alarmed channels that are affected, recall the share of affected channels that are alarmed, F as usual.
    All three are averaged over events. An event without alarms has precision 0, as in ESA-ADB. Equals ESA-ADB where
    its anomalies do not overlap in time.

    Parameters
    ----------
    y_true : array-like of shape (n, channels)
        0 for normal and 1 for anomalous points of each channel.
    y_pred : array-like of shape (n, channels)
        1 where an alarm is raised for a channel.
    beta : float, default=0.5
        Recall counts beta times as much as precision.
    subsystems : mapping of str to list of int, default=None
        Groups of channels (columns). With them, groups are compared instead of channels: the subsystem-aware F.

    Returns
    -------
    PRF
        All NaN, with an `UndefinedMetricWarning`, where there is no event; all 0 where there is no alarm.

    Examples
    --------
    >>> import numpy as np
    >>> import tsadeval as te
    >>> y_true = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> y_pred = np.array([[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 0, 0]])
    >>> te.metrics.channel_aware(y_true, y_pred)
    PRF(precision=0.5, recall=0.5, f1=0.5)
    >>> te.metrics.channel_aware(y_true, y_pred, subsystems={"power": [0, 1], "radio": [2]}).recall
    1.0
    """
    check_parameters("channel_aware", F_CHECKS, {"beta": beta})
    truth, alarms = _matrix(y_true, "y_true"), _matrix(y_pred, "y_pred")
    if truth.shape != alarms.shape:
        raise InvalidInputError(f"y_true has shape {truth.shape}, but y_pred {alarms.shape}; they must correspond")
    events = Events.of(truth.any(axis=1))
    if len(events) == 0:
        warn_undefined("channel_aware", "y_true has no anomalous point (no 1)")
        return PRF(math.nan, math.nan, math.nan)
    affected, alarmed = (
        np.add.reduceat(_grouped(columns, subsystems), borders(events), axis=0, dtype=np.int64)[::2] > 0
        for columns in (truth, alarms)
    )
    right = np.count_nonzero(affected & alarmed, axis=1)
    precision = right / np.maximum(np.count_nonzero(alarmed, axis=1), 1)
    recall = right / np.maximum(np.count_nonzero(affected, axis=1), 1)  # channels of no group affect none
    f = float(np.mean([f_beta(p, r, beta) for p, r in zip(precision.tolist(), recall.tolist(), strict=True)]))
    return PRF(float(precision.mean()), float(recall.mean()), f)
