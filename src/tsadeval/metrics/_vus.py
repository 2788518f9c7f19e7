"""Range-AUC and VUS: areas under ROC and PR curves whose labels have soft buffers around events.

At width w an event has a buffer of h = w // 2 points on either side, and a buffer point at distance d weighs
sqrt(1 - d / w) instead of 0. With TP the weight of the alarms, N their number and P the number of anomalous points,

    P' = P + half the weight of the buffers,    recall = min(TP / P', 1) * share of buffered events with an alarm,
    false alarm rate = (N - TP) / (n - P'),     precision = TP / N.

Range-AUC is the area under the curve of these at one width, VUS the mean of the areas over all widths from 0 to
twice the window. The paper's buffer length l is the width here. Definitions differ in the details (see `VUSVariant`).
"""

from typing import Any, Literal

import numpy as np

import tsadeval.metrics._kernels.vus as kernel
from tsadeval.core.define import score_metric, shared
from tsadeval.core.inputs import Scoring
from tsadeval.core.parameters import VUS_CHECKS
from tsadeval.metrics.counting import Widths, threshold_ranks

_COMMON: dict[str, Any] = {
    "references": (
        "Paparrizos et al., Volume Under the Surface: A New Accuracy Evaluation Measure for Time-Series Anomaly "
        "Detection, PVLDB 15(11), 2022",
    ),
    "checks": VUS_CHECKS,
    "properties": {"affine", "monotone", "mirror"},
    "needs": {"anomaly", "normal"},
    "stream": "zones",
}


Window = int | Literal["period"]


@shared
def _areas(data: Scoring, volume: bool, window: Window, n_thresholds: int | None, variant: str) -> tuple[float, float]:
    """Return the areas under the ROC and the PR curve: at one width, or the means over many."""
    widest = data.setting.period if window == "period" else window * (2 if volume else 1)
    how = Widths.of(variant, widest, volume=volume)
    zone = kernel.Zone(data.raw, data.events.starts, data.events.stops, how.reach(data.n))
    if n_thresholds is None:  # between two scores of the zone only the number of alarms changes
        thresholds = np.unique(zone.scores)[::-1]
    else:
        thresholds = np.unique(data.sorted[data.n - 1 - threshold_ranks(data.n, n_thresholds)])[::-1]
    above, alarms = (data.n - np.searchsorted(data.sorted, thresholds, side) for side in ("right", "left"))
    before = above if n_thresholds is None else np.append(0, alarms[:-1])
    return how.mean_areas(zone, thresholds, before.astype(np.float64), alarms.astype(np.float64), data.n)


@score_metric(
    label="Range-AUC-ROC",
    summary="Area under the ROC curve of labels with soft buffers of one width around events.",
    **_COMMON,
)
def range_auc_roc(
    data: Scoring, *, window: Window = 100, n_thresholds: int | None = 250, variant: str = "range_auc"
) -> float:
    """Area under the range-based ROC curve at one buffer width.

    Equals `RangeAUC(labels, score, window=window)` of PyPI vus 0.0.6 (and its `get_metrics(metric="range_auc")`).
    With `variant="vus"` it is one slice of `vus_roc`, whose definition differs from that function's.

    Parameters
    ----------
    window : int or "period", default=100
        The width: each event gets a buffer of `window // 2` points before and after it, cut at the ends of the
        series. With 0 or 1 there is no buffer, and what is left beside AUC-ROC is the share of events found.
        "period" is that of the series, `te.period(values)`, as TSB-AD chooses it; it needs `te.evaluate(...,
        values=series)`.
    n_thresholds : int or None, default=250
        Thresholds are the scores at that many evenly spaced ranks; None takes every distinct score.
    variant : {"range_auc", "vus", "timeeval", "ff_vus"}, default="range_auc"
        Which definition; see `vus_roc`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    >>> y_score = [0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2]
    >>> round(te.metrics.range_auc_roc(y_true, y_score, window=4), 6)
    0.908667
    """
    return _areas(data, False, window, n_thresholds, variant)[0]


@score_metric(
    label="Range-AUC-PR",
    summary="Area under the precision-recall curve of labels with soft buffers of one width around events.",
    like=range_auc_roc,
    **_COMMON,
)
def range_auc_pr(
    data: Scoring, *, window: Window = 100, n_thresholds: int | None = 250, variant: str = "range_auc"
) -> float:
    """Area under the range-based precision-recall curve at one buffer width.

    Equals the second value of `RangeAUC(labels, score, window=window, plot_ROC=True)` of PyPI vus 0.0.6.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    >>> y_score = [0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2]
    >>> round(te.metrics.range_auc_pr(y_true, y_score, window=4), 6)
    0.84303
    """
    return _areas(data, False, window, n_thresholds, variant)[1]


@score_metric(
    label="VUS-ROC",
    summary="Mean area under the ROC curve over all widths of soft buffers around events.",
    **_COMMON,
    sets={"paper"},
)
def vus_roc(data: Scoring, *, window: Window = 100, n_thresholds: int | None = 250, variant: str = "vus") -> float:
    """Volume under the ROC surface: the mean range-based area over the widths 0, 1, ..., 2 * window.

    The default equals `RangeAUC_volume_opt(labels, score, 2 * window)` of PyPI vus 0.0.6 and TSB-AD 1.5. Mind the
    factor: their `get_metrics(..., slidingWindow=w)` takes the widths 0 .. w, which for even w is `window=w // 2`
    here (an odd w has no equal), while the authors' experiments and the CCE paper take 0 .. 2 * w for a window of w
    points, which is `window=w`.

    Parameters
    ----------
    window : int or "period", default=100
        The longest buffer, in points before and after each event. Buffers are cut at the ends of the series, so a
        window longer than the series is fine; time and memory grow with it all the same. With 0 there is no
        buffer, and what is left beside AUC-ROC is the share of events found. "period" takes the widths 0 .. p, with p
        the period of the series (`te.period(values)`), as TSB-AD does; it needs `te.evaluate(..., values=series)`.
    n_thresholds : int or None, default=250
        Thresholds are the scores at that many evenly spaced ranks; None takes every distinct score. The paper's
        benchmark uses 100.
    variant : {"vus", "range_auc", "timeeval", "ff_vus"}, default="vus"
        The definition. "vus": positives grow with the buffer points that have an alarm, PR by steps. "range_auc":
        all buffer points count as positives whatever has an alarm, PR by trapezoids, and buffered events merge
        when they touch. "timeeval": as TimeEval 1.5 and dtaianomaly 0.5 with `max_buffer_size=2 * window`:
        straight slopes, events never merge, the larger of two overlapping weights counts, positives and PR as
        for "range_auc". "ff_vus": as FF-VUS with `slope_size=window`: straight slopes, every buffer length
        0 .. window once, the larger weight counts, positives and PR as for "vus"; it uses every threshold
        (`n_thresholds=None`).

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    >>> y_score = [0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2]
    >>> round(te.metrics.vus_roc(y_true, y_score, window=2), 6)
    0.924115
    >>> round(te.metrics.vus_roc(y_true, y_true, window=0), 6)
    1.0
    """
    return _areas(data, True, window, n_thresholds, variant)[0]


@score_metric(
    label="VUS-PR",
    summary="Mean area under the precision-recall curve over all widths of soft buffers around events.",
    like=vus_roc,
    **_COMMON,
    sets={"recommended"},
)
def vus_pr(data: Scoring, *, window: Window = 100, n_thresholds: int | None = 250, variant: str = "vus") -> float:
    """Volume under the precision-recall surface: the mean area over the widths 0, 1, ..., 2 * window.

    Equals the last value of `RangeAUC_volume_opt(labels, score, 2 * window)` of PyPI vus 0.0.6 and TSB-AD 1.5.
    It shares its work with `vus_roc` in one `evaluate` call.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    >>> y_score = [0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2]
    >>> round(te.metrics.vus_pr(y_true, y_score, window=2), 6)
    0.839648
    """
    return _areas(data, True, window, n_thresholds, variant)[1]
