"""Every metric as a plain function: `tsadeval.metrics.cce(y_true, y_score)`.

Written by `make generated` from the registry: do not edit.
"""

from typing import Literal

from numpy.typing import ArrayLike

from tsadeval.core.metric import PRF
from tsadeval.metrics._channels import channel_aware as channel_aware
from tsadeval.metrics._ears import EARSBreakdown as EARSBreakdown
from tsadeval.metrics._recommended import recommend as recommend
from tsadeval.metrics.cce_formula import CCEBreakdown as CCEBreakdown

def absolute_detection_distance(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Mean distance of correct alarms from the centre of their event, as a share of the event's length.

    Lower is better: alarms in the middle of events get 0, alarms spread evenly over them about 1/4. Alarms outside
    events do not count. Equals `AbsoluteDetectionDistance` of tsadmetrics for events of odd length; for even ones that
    one rounds the centre down, so that mirrored data gets another value, and without a correct alarm it gives 0.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where no anomalous point is alarmed.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.absolute_detection_distance([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1])
    0.25
    """

def accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Point-wise accuracy; equals `accuracy_score` of scikit-learn.

    Anomalies are rare, so a detector that never raises an alarm comes close to 1.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        The value.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.accuracy([0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 0, 0])
    0.5
    """

def adtqc(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    exponent: float = 2.718281828459045,
) -> float:
    """Anomaly detection timing quality curve of ESA-ADB, averaged over the detected events.

    For a detected event of length L, x is the start of the first alarm run that touches it less the start of the
    event, in points: negative where the alarm came before the event and lasted into it. With a the smaller of L and
    the distance to the start of the event before, quality is ((x + a) / a)^e for -a < x <= 0, 1 / (1 + (x / (L -
    x))^e) for 0 < x < L, and 0 for still earlier alarms. Events that are missed do not count: look at `event_recall`
    beside it. Equals the total of ESA-ADB's ADTQC where an event's time ends with its last point's step.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    exponent : float, default=e
        The e above: the larger, the steeper.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where no event is detected.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.adtqc([0, 0, 1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 0, 0, 1])
    0.5
    """

def affiliation(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
) -> PRF:
    """Affiliation precision, recall and F of Huet et al. (2022).

    Equal to the authors' package (`pr_from_events` with `Trange=(0, n)`) and to its copies in `tsadmetrics`,
    `dtaianomaly`, TSB-AD and the CCE authors' code. Where all points are anomalous, every alarm has precision 1;
    without anomalies precision is NaN as well.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    PRF
        Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms,
        recall and F are NaN without anomalous points.

    Examples
    --------
    >>> from tsadeval.metrics import affiliation
    >>> affiliation([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0])
    PRF(precision=0.8125, recall=0.9375, f1=0.8705357142857143)
    """

def affiliation_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
) -> float:
    """F of affiliation precision and recall of Huet et al. (2022).

    Random alarms score about 2/3, since their precision is about 1/2 and their recall near 1:
    `unbiased_affiliation_f1` gives them about 0. Equal to the peers named in `affiliation`. The best threshold
    is exact.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where there is no alarm. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> from tsadeval.metrics import affiliation_f1
    >>> affiliation_f1([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0])
    1.0
    >>> round(affiliation_f1([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0]), 6)
    0.870536
    """

def affiliation_precision(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Affiliation precision of Huet et al. (2022).

    The chance that a random time of the event's zone is no nearer to the event than an alarm is, averaged over
    the alarms of the zone, then over the zones with alarms. Equal to the peers named in `affiliation`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point, or y_pred no alarm.

    Examples
    --------
    >>> from tsadeval.metrics import affiliation_precision
    >>> affiliation_precision([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0])
    0.8125
    """

def affiliation_recall(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Affiliation recall of Huet et al. (2022).

    The chance that a random time of the event's zone is no nearer to a time of the event than the alarms of the
    zone are, averaged over the event, then over all events; an event without alarms in its zone counts as 0.
    Equal to the peers named in `affiliation`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        0 where there is no alarm. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> from tsadeval.metrics import affiliation_recall
    >>> affiliation_recall([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0])
    0.9375
    """

def alarm_episodes(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    merge_gap: int = 0,
    min_duration: int = 1,
) -> float:
    """Count the alarm episodes: what an operator has to look at, right or wrong.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    merge_gap : int or duration, default=0
        Alarm runs with at most so many quiet points (or so much time) between them are one episode. In time a gap in
        the data is quiet (see `te.times`), and parts a run that goes on over it.
    min_duration : int or duration, default=1
        Episodes that are shorter (after merging) are left out.

    Returns
    -------
    float
        0 where there is no alarm.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0] * 10, [1, 0, 1, 0, 0, 0, 1, 1, 0, 1]
    >>> te.metrics.alarm_episodes(y_true, y_pred)
    4.0
    >>> te.metrics.alarm_episodes(y_true, y_pred, merge_gap=1)
    2.0
    >>> te.metrics.alarm_episodes(y_true, y_pred, merge_gap=1, min_duration=4)
    1.0
    """

def alarming_precision(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Alarming precision of ESA-ADB: one alarm an event is right, each further one is redundant.

    With D detected events and, summed over them, R alarm runs that touch the event, the value is D / R. A run that
    touches two events counts for both. Alarms outside events do not count.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where no event is detected.

    Examples
    --------
    >>> import tsadeval as te
    >>> round(te.metrics.alarming_precision([0, 1, 1, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1, 1]), 4)
    0.6667
    """

def auc_pr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    interpolation: Literal["step", "trapezoid"] = "step",
) -> float:
    """Area under the precision-recall curve, point by point.

    Two definitions go by this name. "step" is average precision: the sum over thresholds of the recall gained
    times the precision there; equals `average_precision_score` of scikit-learn and AUC-PR of tsadmetrics and
    TSB-AD. "trapezoid" joins the points of the curve by lines, from recall 0 and precision 1 on, which is too
    optimistic where scores tie; equals `auc(recall, precision)` of scikit-learn's `precision_recall_curve`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    interpolation : {"step", "trapezoid"}, default="step"
        How the area between two thresholds is counted.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_score = [0, 0, 1, 1, 0], [0.1, 0.4, 0.4, 0.9, 0.2]
    >>> te.metrics.auc_pr(y_true, y_score)
    0.8333333333333333
    >>> te.metrics.auc_pr(y_true, y_score, interpolation="trapezoid")
    0.9166666666666666
    """

def auc_pr_pa(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    interpolation: Literal["step", "trapezoid"] = "step",
) -> float:
    """Area under the precision-recall curve after point adjustment.

    Random scores get high values, the more the longer the events: look at `auc_pr` beside it.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    interpolation : {"step", "trapezoid"}, default="step"
        How the area between two thresholds is counted, as for `auc_pr`. "trapezoid" equals `PointadjustedAucPr` of
        tsadmetrics.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_score = [0, 1, 1, 0, 1, 0], [0.1, 0.9, 0.2, 0.3, 0.3, 0.2]
    >>> te.metrics.auc_pr_pa(y_true, y_score)
    0.9166666666666666
    >>> te.metrics.auc_pr_pa(y_true, y_score, interpolation="trapezoid")
    0.9583333333333334
    """

def auc_roc(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Area under the receiver operating characteristic curve, point by point.

    The share of pairs (anomalous point, normal point) in which the anomalous one scores higher, a tie counting
    one half; so constant scores get 0.5. Equals `roc_auc_score` of scikit-learn.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two classes.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.auc_roc([0, 0, 1, 1, 0], [0.1, 0.4, 0.4, 0.9, 0.2])
    0.9166666666666666
    """

def auc_roc_pa(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Area under the ROC curve after point adjustment.

    The share of pairs (anomalous point, normal point) in which the highest score of the anomalous point's event is
    above the score of the normal point, a tie counting one half. Random scores get far more than 0.5, the more the
    longer the events: look at `auc_roc` beside it. Equals `PointadjustedAucRoc` of tsadmetrics.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two classes.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.auc_roc_pa([0, 1, 1, 0, 1, 0], [0.1, 0.9, 0.2, 0.3, 0.3, 0.2])
    0.9444444444444444
    """

def average_detection_count(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of the points of an event that are alarmed, averaged over events: point-wise recall, event by event.

    Alarms everywhere get 1, so look at precision beside it. Equals `AverageDetectionCount` of tsadmetrics.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.average_detection_count([0, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 1])
    0.75
    """

def balanced_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Point-wise balanced accuracy; equals `balanced_accuracy_score` of scikit-learn where both classes are present.

    Uninformative alarms get 0.5.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two classes.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.balanced_accuracy([0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 0, 0])
    0.5
    """

def balanced_f1_pa(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    width: int = 2,
    form: Literal["asymmetric", "symmetric", "false"] = "asymmetric",
    beta: float = 1.0,
) -> float:
    """F after balanced point adjustment: false alarms are widened as well, so that they weigh more.

    The authors publish two forms. "symmetric" widens every alarm by `width` points on both sides and adjusts nothing
    else. "asymmetric" also counts detected events as alarmed throughout, as `f1_pa` does. "false" is that of
    tsadmetrics: detected events are adjusted, and only false alarms are widened; `BalancedPointadjustedFScore` with
    its `w` equals it at `width` = w / 2, rounded up.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    width : int, default=2
        Points by which alarms are widened on each side.
    form : {"asymmetric", "symmetric", "false"}, default="asymmetric"
        What is adjusted and what is widened.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no anomalous point is reached. NaN, with an `UndefinedMetricWarning`, where y_true has no
        anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]
    >>> forms = ("asymmetric", "symmetric", "false")
    >>> [round(te.metrics.balanced_f1_pa(y_true, y_pred, width=1, form=form), 4) for form in forms]
    [0.8, 0.5, 0.8]
    """

def best_f1(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    beta: float = 1.0,
) -> float:
    """Return the best point-wise F over all thresholds: of the alarms `score >= v`, over all distinct scores v.

    Exact, where searches over a grid of thresholds (100 values in TSB-AD) come close. The threshold is chosen
    with the labels, so this is what a detector could reach, not what it does. Equals the maximum of F over
    scikit-learn's `precision_recall_curve`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.best_f1([0, 0, 1, 1, 0], [0.1, 0.5, 0.4, 0.9, 0.2])
    0.8
    """

def cce(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    tau: float = 0.5,
    constrained: bool = False,
    event_weight: float = 0.5,
    global_weight: float = 0.5,
    normalize: Literal["minmax", "robust", "rank", "quantile", "published"] | None = "minmax",
    quantiles: tuple[float, float] = (0.001, 0.999),
    uncertainty: Literal["beta", "pointwise", "scaled"] = "beta",
    gamma: float = 10.0,
) -> float:
    """Confidence-consistency evaluation of anomaly scores.

    A perfect detector gets 1, its inverse -1, and uninformative scores about 0 (for `tau=0.5`; in general
    the range is [-2 tau, 2 (1 - tau)], and [0, 2 (1 - tau)] when constrained).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    tau : float, default=0.5
        Confidence threshold: an anomaly event is rewarded for a mean score above tau, a normal one for a
        mean below 1 - tau.
    constrained : bool, default=False
        Clip negative confidences at 0, as the paper's first definition does. Its numbers are of its second, without.
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

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two classes.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 1, 0]
    >>> te.cce(y_true, y_true)
    1.0
    >>> round(te.cce(y_true, [0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.2, 0.1]), 6)
    0.490885
    """

def cce_breakdown(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    tau: float = 0.5,
    constrained: bool = False,
    event_weight: float = 0.5,
    global_weight: float = 0.5,
    normalize: Literal["minmax", "robust", "rank", "quantile", "published"] | None = "minmax",
    quantiles: tuple[float, float] = (0.001, 0.999),
    uncertainty: Literal["beta", "pointwise", "scaled"] = "beta",
    gamma: float = 10.0,
) -> CCEBreakdown:
    """CCE explained: its parts, and a table with a row per event.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    tau : float, default=0.5
        Confidence threshold: an anomaly event is rewarded for a mean score above tau, a normal one for a
        mean below 1 - tau.
    constrained : bool, default=False
        Clip negative confidences at 0, as the paper's first definition does. Its numbers are of its second, without.
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
    >>> b = te.cce_breakdown([0, 0, 0, 1, 1, 0, 0, 1, 0], [0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.2, 0.1])
    >>> round(b.score, 6)
    0.490885
    >>> worst = b.worst(1)[0]
    >>> int(worst["start"]), int(worst["stop"]), int(worst["label"]), round(float(worst["mean"]), 3)
    (7, 8, 1, 0.125)
    """

def composite(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
) -> PRF:
    """Point-wise precision, event-wise recall and their F, as defined for `composite_f1`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    PRF
        Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms,
        recall and F are NaN without anomalous points.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.composite([0, 1, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0, 0, 0])
    PRF(precision=0.5, recall=0.5, f1=0.5)
    """

def composite_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
) -> float:
    """F of the share of predicted points that are anomalous and the share of events that are detected.

    Equals `CompositeFScore` of tsadmetrics, and "Event-based-F1" of TSB-AD unless the last point of the series is
    anomalous: there the published code, and TSB-AD with it, loses that point of the last event.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no event is detected. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> round(te.metrics.composite_f1([0, 1, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 1, 0, 0]), 4)
    0.8
    """

def detection_accuracy_in_range(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    tolerance: int = 5,
    false: Literal["far", "all"] = "far",
) -> float:
    """Compute detected anomalous points as a share of these and the false alarms, with a tolerance.

    An anomalous point is detected where an alarm is at most `tolerance` points away. `DetectionAccuracyInRange` of
    tsadmetrics says that alarms within the tolerance are not false, but counts them as false: it equals `false="all"`,
    except at the start of the series (see `total_detected_in_range`).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    tolerance : int or duration, default=5
        The tolerance, in points or as a duration.
    false : {"far", "all"}, default="far"
        Which alarms are false: those more than `tolerance` points from every event, or all at normal points.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point, or y_pred no alarm.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0]
    >>> te.metrics.detection_accuracy_in_range(y_true, y_pred, tolerance=1)
    1.0
    >>> te.metrics.detection_accuracy_in_range(y_true, y_pred, tolerance=1, false="all")
    0.5
    """

def detection_delay(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    missed: Literal["skip", "length"] = "skip",
    unit: Literal["points", "s", "min", "h", "day"] = "points",
    statistic: Literal["mean", "median", "p90", "max"] = "mean",
) -> float:
    """Mean number of points from the start of an event to the first alarm inside it. Lower is better.

    Equals `MeanTimeToDetect` of tsadmetrics where every event is detected. For a missed event that one takes the
    next alarm wherever it is, or counts 0 where there is none.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    missed : {"skip", "length"}, default="skip"
        "skip": the mean is over detected events only, so look at recall beside it.
        "length": a missed event counts with its whole length.
    unit : {"points", "s", "min", "h", "day"}, default="points"
        What delays are counted in; units of time need `te.evaluate(..., times=...)`.
    statistic : {"mean", "median", "p90", "max"}, default="mean"
        What is taken of the delays; "p90" is their 90th percentile. For a table of all events see `te.events`.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no event, or no event is detected (unless missed
        events count).

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 0, 1, 1, 0]
    >>> y_pred = [0, 0, 0, 1, 0, 0, 0, 1]
    >>> te.metrics.detection_delay(y_true, y_pred)
    2.0
    >>> te.metrics.detection_delay(y_true, y_pred, missed="length")
    2.0
    """

def dqe(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    near: int | None = None,
    n_thresholds: int = 100,
) -> float:
    """Compute the detection quality of every event, averaged over events and thresholds.

    Scores are scaled to [0, 1] by their minimum and maximum; thresholds are 1/T, 2/T, ..., 1, and an alarm is a score
    of at least the threshold. Constant scores are 0 everywhere, so they raise no alarm.

    Every event is judged by itself, in the part of the series around it: the event, the near zones of `near` points
    before and after it (not beyond the neighbouring event, and not into its zone after), and the far zones, which share
    what is left between two events equally. With the alarm runs cut at all borders, the quality of an event is (capture
    + near miss) / 2 * false alarm, where capture is 1 if the event has an alarm, else 0; near miss is (1 - x / near) (1
    - d / (2 near)), with x the distance of the nearest alarm in the near zones and d the length of all alarms there (if
    there is none, 1 where the event is captured and the far zones are quiet, else 0); and false alarm is (1 - L / M) Q
    / L², with L the length of the alarms in the far zones, Q the sum of the squares of their lengths and M the length
    of the far zones (1 without alarms there).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    near : int, default=None
        Points before and after an event in which alarms are near misses; None is the mean length of the events, at
        most 1/22 of the normal points.
    n_thresholds : int, default=100
        The number of thresholds T.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    >>> te.metrics.dqe(y_true, [0, 0, 0, 0, 2, 2, 0, 0, 0, 0], near=2)
    1.0
    >>> te.metrics.dqe(y_true, [0, 0, 0, 0, 2, 2, 0, 0, 0, 1], near=2)
    0.6875
    """

def early_detection_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    share: float = 0.1,
) -> float:
    """Earliness of the first alarm in a window around the start of each event, averaged over events.

    All windows together are `share` of the series; each is centred on the start of its event. An alarm at the first
    point of the window gets 1, one at the last point 0, like no alarm at all. Alarms everywhere get 1, so look at
    false alarms beside it. Equals `EarlyDetectionScore` of tsadmetrics.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    share : float, default=0.1
        Length of all windows as a share of the series.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0] * 24 + [1] * 6 + [0] * 20
    >>> te.metrics.early_detection_score(y_true, [0] * 23 + [1] + [0] * 26)
    0.75
    """

def ears(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    tolerance: int | None = None,
    floor: float = 0.01,
    earliness: float = 0.5,
) -> float:
    """Event alarm-rarity skill: how rarely false alarms reach the level at which each event is seen.

    A point of an event earns the logarithm of how rarely normal points reach its score, on their own or by the largest
    score of the last `tolerance` points (so that a burst of alarms counts about once). Early points of an event
    count more, events count alike, and normal points near an event count less. The mean over events is measured from
    that of the normal points themselves.

    A perfect detector gets 1, constant scores 0, random scores about 0 whatever the labels. The worst possible value is
    -0.26: an inverted detector is not much worse than an uninformative one. Only the order of the scores matters.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    tolerance : int, optional
        In points: false alarms nearer than this to an event cost less, and alarms within so many points of each other
        count about as one. None is twice the median length of the events.
    floor : float, default=0.01
        The share of normal points below which rarer false alarms hardly matter.
    earliness : float, default=0.5
        The first i of the L points of an event have the weight (i / L) ** earliness; 1 turns it off.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two classes.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0]
    >>> te.ears(y_true, y_true)
    1.0
    >>> round(te.ears(y_true, [0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.8, 0.2, 0.4, 0.1, 0.2]), 6)
    0.520343
    """

def ears_breakdown(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    tolerance: int | None = None,
    floor: float = 0.01,
    earliness: float = 0.5,
) -> EARSBreakdown:
    """EARS explained: what each event adds to it, and which false alarms cost most. Options as for `ears`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0]
    >>> b = te.ears_breakdown(y_true, [0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.8, 0.2, 0.4, 0.1, 0.2])
    >>> [round(share, 6) for share in b.events["share"].tolist()]
    [0.391338, 0.129005]
    >>> round(b.score, 6)
    0.520343
    >>> b.false_alarms["position"][:2].tolist()
    [7, 8]
    """

def etapr(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    theta_p: float = 0.5,
    theta_r: float = 0.1,
    delta: float = 0,
    beta: float = 1.0,
) -> PRF:
    """Enhanced time-series aware precision (eTaP), recall (eTaR) and their F.

    An event is detected if correct runs of alarms cover at least `theta_r` of it; a run is correct if detected
    events cover at least `theta_p` of it. The two sets define each other: the largest pair that fits is taken,
    which is what remains after dropping events and runs that fall short until nothing changes. A detected event
    scores (1 + portion) / 2, where only correct runs count for its portion, and recall is the mean over events.
    Precision is the same over runs, where only detected events count, weighted by the square root of run length.

    Definition: Hwang et al. 2022. Equal to the authors' `eTaPR_pkg` and to its copies in `faster-etapr`,
    `tsadmetrics` and `cce` for delta = 0 and positive thresholds. With a threshold of 0 they take events and runs
    without any overlap for detected and correct, which is never so here; without alarms they fail or give 0.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    theta_p : float, default=0.5
        Portion of a run of alarms that detected events must cover.
    theta_r : float, default=0.1
        Portion of an event that correct runs must cover.
    delta : float, default=0
        Length of the ambiguous zone after each event as a share of the event's length L: floor(delta L) points,
        up to the next event, in which alarms are worth less and less (see `tapr`); a zone of one point is worth
        nothing. `eTaPR_pkg` takes floor(delta (L - 1)) + 1 points, and may take in the next event's first.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    PRF
        Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms,
        recall and F are NaN without anomalous points.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> te.metrics.etapr(y_true, [0, 0, 0, 1, 1, 0, 0, 0, 0])
    PRF(precision=1.0, recall=0.75, f1=0.8571428571428571)
    >>> te.metrics.etapr(y_true, [0, 0, 0, 0, 1, 1, 1, 0, 0])  # a third of the alarms is right: too little
    PRF(precision=0.0, recall=0.0, f1=0.0)
    """

def etapr_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    theta_p: float = 0.5,
    theta_r: float = 0.1,
    delta: float = 0,
    beta: float = 1.0,
) -> float:
    """F of enhanced time-series aware precision and recall (eTaPR). Definition as for `etapr`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    theta_p : float, default=0.5
        Portion of a run of alarms that detected events must cover.
    theta_r : float, default=0.1
        Portion of an event that correct runs must cover.
    delta : float, default=0
        Length of the ambiguous zone after each event as a share of the event's length L: floor(delta L) points,
        up to the next event, in which alarms are worth less and less (see `tapr`); a zone of one point is worth
        nothing. `eTaPR_pkg` takes floor(delta (L - 1)) + 1 points, and may take in the next event's first.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where nothing is found. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> round(te.metrics.etapr_f1(y_true, [0, 0, 0, 1, 1, 0, 0, 1, 0]), 6)
    0.6578
    """

def event(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    variant: Literal["segments", "runs", "discounted"] = "segments",
) -> PRF:
    """Precision, recall and F of events. Definitions as for `event_f1`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.
    variant : {"segments", "runs", "discounted"}, default="segments"
        "segments": detected events / (detected events + false alarm runs), as in Hundman et al. 2018; equals
        `SegmentwiseFScore` of tsadmetrics.
        "runs": precision is the share of alarm runs that touch an event, the mirror image of recall. An event
        found by ten short runs counts ten times in it.
        "discounted": "segments" times the share of normal points without alarm, so that predicting everything does
        not pay (Sehili and Zhang 2023); equals `EventWiseFBeta` of dtaianomaly.

    Returns
    -------
    PRF
        Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms,
        recall and F are NaN without anomalous points.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.event([0, 1, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0, 0, 0])
    PRF(precision=0.5, recall=0.5, f1=0.5)
    """

def event_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    variant: Literal["segments", "runs", "discounted"] = "segments",
) -> float:
    """F of event-wise precision and recall.

    Recall is the share of events with at least one predicted point. "Event F1" is the name of several metrics
    that differ in precision; `variant` chooses. TSB-AD's "Event-based-F1" is `composite_f1` here.

    Predicting every point is one alarm run that touches all events: "runs" and "segments" give it 1. So their
    best value over all thresholds is always 1, and the rule "best" takes them at the threshold of the best point-wise
    F1. "discounted" gives it 0, has a best threshold of its own, and "best" takes it there.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.
    variant : {"segments", "runs", "discounted"}, default="segments"
        "segments": detected events / (detected events + false alarm runs), as in Hundman et al. 2018; equals
        `SegmentwiseFScore` of tsadmetrics.
        "runs": precision is the share of alarm runs that touch an event, the mirror image of recall. An event
        found by ten short runs counts ten times in it.
        "discounted": "segments" times the share of normal points without alarm, so that predicting everything does
        not pay (Sehili and Zhang 2023); equals `EventWiseFBeta` of dtaianomaly.

    Returns
    -------
    float
        0 where no event is detected. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 0, 0, 0, 0]
    >>> y_pred = [0, 1, 0, 1, 0, 1, 0, 0]
    >>> round(te.metrics.event_f1(y_true, y_pred), 4)
    0.6667
    >>> te.metrics.event_f1(y_true, y_pred, variant="runs")
    0.8
    """

def event_precision(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    variant: Literal["segments", "runs", "discounted"] = "segments",
    early: int = 0,
) -> float:
    """Share of detections that are right, with events and alarm runs as the things that are counted.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    variant : {"segments", "runs", "discounted"}, default="segments"
        As for `event_f1`. "segments": detected events / (detected events + false alarm runs). "runs": the share of
        alarm runs that touch an event. "discounted": "segments" times the share of normal points without alarm; this
        is the event-wise precision of ESA-ADB. With `early`, the points so shortly before an event, alarmed or
        not, belong to it and are not normal.
    early : int or duration, default=0
        Alarms so shortly before an event belong to it, as for `event_recall`.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_pred has no alarm.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 1, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 1, 0, 0]
    >>> te.metrics.event_precision(y_true, y_pred)
    0.5
    >>> te.metrics.event_precision(y_true, y_pred, variant="discounted")
    0.4
    """

def event_recall(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    early: int = 0,
) -> float:
    """Share of events in which at least one point is alarmed.

    Alarms everywhere get 1, so look at `event_precision`, `false_alarms` or `time_in_alarm` beside it. Equals the
    event-wise recall of ESA-ADB and the recall of `te.metrics.event`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    early : int or duration, default=0
        Alarms so shortly before an event count as well: points, or a duration ("2h") where there are times. They may
        not lie in the event before, or directly after it: at its first point after the end, however long that lasts.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.event_recall([0, 1, 1, 0, 1, 0], [1, 0, 1, 0, 0, 0])
    0.5
    """

def expected_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    miss: float = 1.0,
    false_alarm: float = 0.1,
    delay_per_hour: float = 0.0,
) -> float:
    """Cost of the alarms: missed events, false alarm runs, and the delay of the events that are detected.

    An alarm that never ends is one run that touches all events, so it costs nothing: `te.choose_threshold` looks for
    the cheapest threshold at which no more than a given share of the normal points is alarmed.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    miss : float, default=1.0
        Cost of an event without an alarm.
    false_alarm : float, default=0.1
        Cost of an alarm run that touches no event.
    delay_per_hour : float, default=0.0
        Cost of every hour from the start of a detected event to its first alarm; needs `te.evaluate(..., times=...)`.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.expected_cost([0, 1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 0, 0, 0], miss=5, false_alarm=2)
    7.0
    """

def f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
) -> float:
    """Point-wise F; equals `fbeta_score` of scikit-learn where there are anomalous points.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no anomalous point is alarmed. NaN, with an `UndefinedMetricWarning`, where y_true has no
        anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.f1([0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 0, 0])
    0.5714285714285714
    """

def f1_pa(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
) -> float:
    """F after point adjustment: an event with an alarm in it counts as alarmed throughout.

    Equals `PointadjustedFScore` of tsadmetrics, and F1-PA of the code published with CCE except where the
    first point of the series is anomalous (that code never adjusts it).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no event is found. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.f1_pa([1, 1, 1, 0, 0, 1], [0, 1, 0, 0, 1, 0])
    0.75
    """

def f1_pa_delay(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    max_delay: int = 7,
    beta: float = 1.0,
) -> float:
    """F after delayed point adjustment, the protocol of the AIOps competition on KPIs.

    An event counts as alarmed throughout if one of its first `max_delay` + 1 points is, else as
    missed throughout, whatever alarms come later. The default is that of the competition and of Ren et al. for
    series by the minute (they take 3 by the hour). `DelayThresholdedPointadjustedFScore` of tsadmetrics
    counts points instead of delays: its k is one more than `max_delay`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    max_delay : int, default=7
        The longest delay at which an event still counts as found, in points.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no event is found in time. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous
        point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 1, 1, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1, 1, 0]
    >>> [round(te.metrics.f1_pa_delay(y_true, y_pred, max_delay=k), 4) for k in (0, 1)]
    [0.3333, 0.8889]
    """

def f1_pa_k(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    k: float = 0.2,
    strict: bool = False,
    beta: float = 1.0,
) -> float:
    """F after PA%K: an event counts as alarmed throughout only if at least a share k of its points is.

    The points of other events count as they are. Whatever k, an event without an alarm is not found; so k = 0 is
    `f1_pa` and k = 1 is `f1`. Equals `PointadjustedAtKFScore` of tsadmetrics; with `strict=True` the PA%K
    authors' `tadpak`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    k : float, default=0.2
        The share of an event that must be alarmed, as a fraction; tadpak's default.
    strict : bool, default=False
        Ask for more than the share k, not just for k.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no anomalous point is alarmed. NaN, with an `UndefinedMetricWarning`, where y_true has no
        anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 1, 0, 0]
    >>> [round(te.metrics.f1_pa_k(y_true, y_pred, k=k), 4) for k in (0, 0.5, 1)]
    [0.9231, 0.6, 0.4444]
    """

def f1_pa_kl(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    k: float = 0.5,
    reach: int = 1,
    beta: float = 1.0,
) -> float:
    """F after a point adjustment that is limited in two ways: PA%K-L.

    Only events of which at least the share k is alarmed are adjusted (as in `f1_pa_k`), and in these only the points
    within `reach` points of an alarm inside the event. Equals `PointadjustedAtKLFScore` of tsadmetrics, whose `l` is
    `reach`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    k : float, default=0.5
        The share of an event that must be alarmed.
    reach : int, default=1
        How many points before and after an alarm count as alarmed, within its event.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no anomalous point is alarmed. NaN, with an `UndefinedMetricWarning`, where y_true has no
        anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 1, 1, 1, 1, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 1, 0, 0, 0, 1]
    >>> [round(te.metrics.f1_pa_kl(y_true, y_pred, reach=reach), 4) for reach in (0, 1)]
    [0.5455, 0.7692]
    """

def false_alarms(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    per: float = 1000,
    early: int = 0,
) -> float:
    """Count the alarm runs without an anomalous point, per 1,000 points of the series. Lower is better.

    A run counts once, however long it is. With `per="day"` (or any other duration, which needs `te.evaluate(...,
    times=...)`) it is the number of false alarms per day of normal time that was observed (see `te.times`: gaps in the
    data are no quiet time). Points that are not judged do not count.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    per : float or duration, default=1000
        Number of points, or time, that the count is scaled to.
    early : int or duration, default=0
        Alarms so shortly before an event are warnings, and not false.

    Returns
    -------
    float
        0 where every alarm run touches an event, or there is none.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 1, 1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 1, 1, 0, 0]
    >>> te.metrics.false_alarms(y_true, y_pred)
    125.0
    >>> times = te.times(range(0, 80, 10), unit="min")
    >>> te.evaluate(y_true, y_pred=y_pred, metrics="false_alarms(per='h')", times=times)["false_alarms(per='h')"]
    1.0
    """

def latency_sparsity_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    batch: int = 1,
    beta: float = 1.0,
) -> float:
    """Latency- and sparsity-aware F: an event counts as found from its first alarm on, in batches of points.

    The series is cut into batches of `batch` points. A batch with an anomalous point is to be found: it is, from the
    first batch of its event that has an alarm on. A batch without one is falsely alarmed if it has any alarm. So late
    alarms cost recall, and many false alarms close together count once.

    Equals `LatencySparsityawareFScore` of tsadmetrics up to its terms of 1e-5 at `batch=1`, and where at least one
    batch without anomalous points lies between any two events. Elsewhere the published procedure passes the detection
    of an event on to the next one, and skips points after a batch that holds points of two events.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    batch : int, default=1
        Points of a batch.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no event is found. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 0, 1, 1, 1, 1, 0, 0], [0, 0, 0, 1, 0, 0, 1, 1]
    >>> te.metrics.latency_sparsity_f1(y_true, y_pred)
    0.6666666666666666
    >>> te.metrics.latency_sparsity_f1(y_true, y_pred, batch=2)
    0.8
    """

def lead_time(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    horizon: int = 100,
    unit: Literal["points", "s", "min", "h", "day"] = "points",
    statistic: Literal["mean", "median", "p90", "max"] = "mean",
) -> float:
    """Time from the first warning to the start of the event it warns of, averaged over events with a warning.

    A warning is an alarm at most `horizon` before the start of an event, but after the first point that follows the
    event before. Events without a warning do not count: `event_recall(early=...)` says how many are found in time
    or warned of.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    horizon : int or duration, default=100
        How long before an event an alarm counts as its warning: points, or a duration ("2h") where there are times.
    unit : {"points", "s", "min", "h", "day"}, default="points"
        What the lead is counted in; units of time need `te.evaluate(..., times=...)`.
    statistic : {"mean", "median", "p90", "max"}, default="mean"
        What is taken of the leads; "p90" is their 90th percentile.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where no event has an alarm shortly before it.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.lead_time([0, 0, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 0, 0], horizon=3)
    3.0
    >>> te.metrics.lead_time([0, 0, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 0, 0], horizon=2)
    1.0
    """

def mcc(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Matthews correlation coefficient, point by point: Pearson's correlation of labels and alarms.

    Equals `matthews_corrcoef` of scikit-learn where both labels and alarms vary. Where they do not, no
    correlation exists: NaN here, 0 there.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true or y_pred has one class only.

    Examples
    --------
    >>> import tsadeval as te
    >>> round(te.metrics.mcc([0, 1, 1, 1, 0, 1], [0, 1, 0, 1, 0, 0]), 6)
    0.5
    """

def nab_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    profile: Literal["standard", "reward_low_fp", "reward_low_fn"] = "standard",
    probation: float = 0.0,
) -> float:
    """Score of the Numenta Anomaly Benchmark, with the events of y_true as its windows.

    Only the first alarm in an event counts, and the earlier the more; every predicted normal point costs, the
    further after an event the more (all of it before the first event). There is no lower bound. NAB's own windows are
    wide, about 10 % of a series in all.

    Equals NAB's own per-file score at `probation=0.15`, once that is normalised as NAB does for the whole corpus,
    and `NabScore` of tsadmetrics at the default options. The micro average of `te.evaluate_many` is NAB's score of a
    corpus, to which series without an event add the cost of their false alarms.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    profile : {"standard", "reward_low_fp", "reward_low_fn"}, default="standard"
        The weights of a detection, a false alarm and a miss: (1, 0.11, 1), (1, 0.22, 1) or (1, 0.11, 2).
    probation : float, default=0.0
        Share of the first 5,000 points (or of the series, if shorter) whose alarms are ignored, and events that
        lie within. NAB uses 0.15.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no event (after the probation, if there is one).

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 1, 1, 0, 0, 0]
    >>> te.metrics.nab_score(y_true, y_true)
    100.0
    >>> round(te.metrics.nab_score(y_true, [0, 1, 0, 0, 0, 1, 0, 0, 0, 0]), 4)
    87.4896
    """

def normalized_affiliation_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
) -> float:
    """F of affiliation recall and of affiliation precision rescaled from [1/2, 1] to [0, 1] (Zhong et al.).

    As `unbiased_affiliation_f1` with the bias fixed at 1/2, which is what random alarms reach where events are
    short against their zones. Equal to `NAff_F1` of the published code.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where there is no alarm. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> from tsadeval.metrics import normalized_affiliation_f1
    >>> round(normalized_affiliation_f1([0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0]), 6)
    0.75
    """

def pa_k_auc(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    n_values: int = 100,
    integration: Literal["mean", "trapezoid"] = "mean",
    strict: bool = False,
    beta: float = 1.0,
) -> float:
    """Area under `f1_pa_k` over k = 0, ..., 1 in equal steps, at one given prediction.

    Two definitions go by this name. The mean over 100 values of k is PA%K of the code published with CCE, which
    credits events without alarm at k = 0 and rounds its values of k (one third of an event misses 33/99); else
    they are equal. The trapezoid rule over 101 values with `strict=True` is what studies that build on tadpak
    compute.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    n_values : int, default=100
        How many values of k, both ends included.
    integration : {"mean", "trapezoid"}, default="mean"
        Plain mean over the values, or the trapezoid rule.
    strict : bool, default=False
        Ask for more than the share k, not just for k.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no anomalous point is alarmed. NaN, with an `UndefinedMetricWarning`, where y_true has no
        anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [1, 1, 1, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 1, 0, 0]
    >>> round(te.metrics.pa_k_auc(y_true, y_pred), 4)
    0.603
    >>> round(te.metrics.pa_k_auc(y_true, y_pred, n_values=101, integration="trapezoid", strict=True), 4)
    0.6006
    """

def pate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    early: int = 100,
    delay: int = 100,
    n_splits: int = 1,
    include_zero: bool = True,
    n_thresholds: int | None = 250,
    drop_intermediate: bool = True,
) -> float:
    """Proximity-aware evaluation (PATE) of anomaly scores.

    The definition is that of the authors' package `PATE` 0.1.1, whose defaults these are: `early` is its
    `e_buffer`, `delay` its `d_buffer`, `n_splits` its `num_splits_MaxBuffer`, `n_thresholds` its
    `num_desired_thresholds` (None is `Big_Data=False`); `include_zero` and `drop_intermediate` are called the
    same. A point of the curve whose recall is below that of the last point kept is left out. Without normal points
    precision would be 1 throughout, whatever the scores: the value is undefined.

    Rounding decides nothing: recalls within 1e-12 are equal, and a percentile that stands on a score is that
    score. In the package it may come to stand a little above it, so that a shift of all scores moves the value
    (with 100 thresholds in 28 of 2,789 published values, by 3e-9 to 1e-7; with ten thresholds often).

    The value depends on the number of thresholds and on the buffer sizes: state them beside it.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    early, delay : int, default=100
        Largest sizes of the zone before and of the zone after an event, in points.
    n_splits : int, default=1
        The value is the mean over all pairs of early and delay sizes at 1/n_splits, 2/n_splits, ... of the
        largest sizes, rounded down.
    include_zero : bool, default=True
        Include the size 0 as well: by default the mean is over (0, 0), (0, 100), (100, 0) and (100, 100).
        With `n_splits=1, include_zero=False` it is the one pair (early, delay).
    n_thresholds : int or None, default=250
        Number of thresholds: linear percentiles, evenly spaced from 100 to 0, of the kept distinct scores.
        None for every kept score.
    drop_intermediate : bool, default=True
        Keep only the smallest and the largest score, the scores of anomalous points and, for each of those, the
        next larger score. False keeps all distinct scores.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two classes.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    >>> te.metrics.pate(y_true, y_true, early=2, delay=2)
    1.0
    >>> round(te.metrics.pate(y_true, [0, 0, 0, 0, 0, 1, 1, 1, 0, 0], early=2, delay=2), 6)
    0.755417
    """

def pate_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    early: int = 100,
    delay: int = 100,
    n_splits: int = 1,
    include_zero: bool = True,
    beta: float = 1.0,
) -> float:
    """PATE of binary predictions: the mean over pairs of buffer sizes of the F of its precision and recall.

    The definition is that of the authors' package `PATE` 0.1.1 with `binary_scores=True`, which has `beta=1`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    early, delay, n_splits, include_zero
        The pairs of buffer sizes, as for `pate`.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where nothing is predicted. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    >>> round(te.metrics.pate_f1(y_true, [0, 0, 0, 0, 0, 1, 1, 1, 0, 0], early=2, delay=2), 6)
    0.701754
    """

def pate_prf(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    early: int = 100,
    delay: int = 100,
    n_splits: int = 1,
    include_zero: bool = True,
    beta: float = 1.0,
) -> PRF:
    """PATE's precision, recall and F of binary predictions. Definition as for `pate_f1`.

    Each of the three is the mean over the pairs of buffer sizes, so with more than one pair the F is not that of
    the mean precision and recall. Without anomalies precision is NaN as well.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    early, delay, n_splits, include_zero
        The pairs of buffer sizes, as for `pate`.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    PRF
        Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms,
        recall and F are NaN without anomalous points.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    >>> y_pred = [0, 0, 0, 0, 0, 1, 1, 1, 0, 0]
    >>> found = te.metrics.pate_prf(y_true, y_pred, early=2, delay=2, n_splits=1, include_zero=False)
    >>> round(found.precision, 6), round(found.recall, 6), round(found.f1, 6)
    (0.777778, 0.7, 0.736842)
    """

def point(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
) -> PRF:
    """Point-wise precision, recall and F at once.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    PRF
        Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms,
        recall and F are NaN without anomalous points.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.point([0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 0, 0])
    PRF(precision=0.6666666666666666, recall=0.5, f1=0.5714285714285714)
    """

def point_adjusted(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
) -> PRF:
    """Precision, recall and F after point adjustment: one alarm finds the whole event.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    PRF
        Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms,
        recall and F are NaN without anomalous points.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.point_adjusted([1, 1, 1, 0, 0, 1], [0, 1, 0, 0, 1, 0])
    PRF(precision=0.75, recall=0.75, f1=0.75)
    """

def precision(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Point-wise precision; equals `precision_score` of scikit-learn where there are alarms.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_pred has no alarm.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.precision([0, 1, 1, 1, 0, 1], [1, 1, 0, 0, 0, 0])
    0.5
    """

def precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
) -> float:
    """Precision of the k points that score highest.

    Where points tie for the last places, the value is the expectation over random choices among them: it does
    not depend on the order of the points. Without ties at the cut it equals `PrecisionAtK` of tsadmetrics, which
    takes all tied points instead.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    k : int, optional
        How many points to take; None means as many as are anomalous.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point and k is not given, or k is
        more than the number of points.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.precision_at_k([0, 0, 1, 1, 0], [0.1, 0.5, 0.4, 0.9, 0.2])
    0.5
    >>> te.metrics.precision_at_k([0, 0, 1, 1, 0], [0.1, 0.4, 0.4, 0.9, 0.2])
    0.75
    """

def range_auc_pr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    window: int | Literal["period"] = 100,
    n_thresholds: int | None = 250,
    variant: Literal["vus", "range_auc", "timeeval", "ff_vus"] = "range_auc",
) -> float:
    """Area under the range-based precision-recall curve at one buffer width.

    Equals the second value of `RangeAUC(labels, score, window=window, plot_ROC=True)` of PyPI vus 0.0.6.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    window : int or "period", default=100
        The width: each event gets a buffer of `window // 2` points before and after it, cut at the ends of the
        series. With 0 or 1 there is no buffer, and what is left beside AUC-ROC is the share of events found.
        "period" is that of the series, `te.period(values)`, as TSB-AD chooses it; it needs `te.evaluate(...,
        values=series)`.
    n_thresholds : int or None, default=250
        Thresholds are the scores at that many evenly spaced ranks; None takes every distinct score.
    variant : {"range_auc", "vus", "timeeval", "ff_vus"}, default="range_auc"
        Which definition; see `vus_roc`.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two classes.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    >>> y_score = [0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2]
    >>> round(te.metrics.range_auc_pr(y_true, y_score, window=4), 6)
    0.84303
    """

def range_auc_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    window: int | Literal["period"] = 100,
    n_thresholds: int | None = 250,
    variant: Literal["vus", "range_auc", "timeeval", "ff_vus"] = "range_auc",
) -> float:
    """Area under the range-based ROC curve at one buffer width.

    Equals `RangeAUC(labels, score, window=window)` of PyPI vus 0.0.6 (and its `get_metrics(metric="range_auc")`).
    With `variant="vus"` it is one slice of `vus_roc`, whose definition differs from that function's.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    window : int or "period", default=100
        The width: each event gets a buffer of `window // 2` points before and after it, cut at the ends of the
        series. With 0 or 1 there is no buffer, and what is left beside AUC-ROC is the share of events found.
        "period" is that of the series, `te.period(values)`, as TSB-AD chooses it; it needs `te.evaluate(...,
        values=series)`.
    n_thresholds : int or None, default=250
        Thresholds are the scores at that many evenly spaced ranks; None takes every distinct score.
    variant : {"range_auc", "vus", "timeeval", "ff_vus"}, default="range_auc"
        Which definition; see `vus_roc`.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two classes.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    >>> y_score = [0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2]
    >>> round(te.metrics.range_auc_roc(y_true, y_score, window=4), 6)
    0.908667
    """

def range_based(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    alpha: float = 0.2,
    precision_alpha: float = 0.0,
    bias: Literal["flat", "front", "middle", "back"] = "flat",
    precision_bias: Literal["flat", "front", "middle", "back"] | None = None,
    cardinality: Literal["one", "reciprocal"] = "reciprocal",
    beta: float = 1.0,
) -> PRF:
    """Range-based precision, recall and F of Tatbul et al. (2018).

    The defaults are those of the paper's use: existence counts for recall only, no positional bias, and
    fragmented detection is punished. Equal to `prts` (`ts_precision`, `ts_recall`, `ts_fscore`) at equal
    parameters, but peers differ in their defaults: `prts` has alpha 0 and cardinality "one".

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    alpha : float, default=0.2
        Weight, in recall, of an event being found at all, against how much of it is found.
    precision_alpha : float, default=0.0
        The same in precision, where the paper advises 0.
    bias : {"flat", "front", "middle", "back"}, default="flat"
        Which points of a range count more: the first one of a range of length L weighs L with "front" and 1
        with "back", its middle one weighs most with "middle".
    precision_bias : same or None, default=None
        The bias within predicted ranges; None takes `bias`.
    cardinality : {"reciprocal", "one"}, default="reciprocal"
        Whether a range that m ranges of the other side overlap earns 1/m of its overlap, or all of it.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    PRF
        Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms,
        recall and F are NaN without anomalous points.

    Examples
    --------
    >>> from tsadeval.metrics import range_based
    >>> range_based([0, 1, 1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0, 1, 0])
    PRF(precision=0.5, recall=0.8, f1=0.6153846153846154)
    """

def range_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    alpha: float = 0.2,
    precision_alpha: float = 0.0,
    bias: Literal["flat", "front", "middle", "back"] = "flat",
    precision_bias: Literal["flat", "front", "middle", "back"] | None = None,
    cardinality: Literal["one", "reciprocal"] = "reciprocal",
    beta: float = 1.0,
) -> float:
    """F of the range-based precision and recall of Tatbul et al. (2018).

    Equal to `ts_fscore` of `prts` at equal parameters (there `r_alpha`, `p_alpha`, `r_bias`, `p_bias`). Its
    best threshold is exact for every combination of options.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    alpha : float, default=0.2
        Weight, in recall, of an event being found at all, against how much of it is found.
    precision_alpha : float, default=0.0
        The same in precision, where the paper advises 0.
    bias : {"flat", "front", "middle", "back"}, default="flat"
        Which points of a range count more: the first one of a range of length L weighs L with "front" and 1
        with "back", its middle one weighs most with "middle".
    precision_bias : same or None, default=None
        The bias within predicted ranges; None takes `bias`.
    cardinality : {"reciprocal", "one"}, default="reciprocal"
        Whether a range that m ranges of the other side overlap earns 1/m of its overlap, or all of it.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where there is no alarm. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> from tsadeval.metrics import range_f1
    >>> y_true = [0, 1, 1, 1, 1, 0, 0, 0]
    >>> range_f1(y_true, [0, 1, 1, 1, 1, 0, 0, 0])
    1.0
    >>> round(range_f1(y_true, [0, 1, 0, 1, 1, 0, 0, 0]), 6)  # the same event in two pieces
    0.666667
    """

def range_precision(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    alpha: float = 0.0,
    bias: Literal["flat", "front", "middle", "back"] = "flat",
    cardinality: Literal["one", "reciprocal"] = "reciprocal",
) -> float:
    """Range-based precision of Tatbul et al. (2018).

    Equal to `ts_precision` of `prts` at equal parameters.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    alpha : float, default=0.0
        Weight of a predicted range overlapping any event, against how much of it does. The paper advises 0.
    bias, cardinality
        As for `range_based`.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_pred has no alarm.

    Examples
    --------
    >>> from tsadeval.metrics import range_precision
    >>> range_precision([0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1])
    0.5
    """

def range_recall(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    alpha: float = 0.2,
    bias: Literal["flat", "front", "middle", "back"] = "flat",
    cardinality: Literal["one", "reciprocal"] = "reciprocal",
) -> float:
    """Range-based recall of Tatbul et al. (2018).

    Equal to `ts_recall` of `prts` at equal parameters.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    alpha : float, default=0.2
        Weight of an event being found at all, against how much of it is found.
    bias, cardinality
        As for `range_based`.

    Returns
    -------
    float
        0 where there is no alarm. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> from tsadeval.metrics import range_recall
    >>> range_recall([0, 1, 1, 1, 1, 0], [0, 0, 1, 1, 0, 0])
    0.6000000000000001
    >>> range_recall([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 0], bias="front", alpha=0.0)
    0.7
    """

def recall(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Point-wise recall; equals `recall_score` of scikit-learn where there are anomalous points.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.recall([0, 1, 1, 1, 0, 1], [1, 1, 0, 0, 0, 0])
    0.25
    """

def reduced_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
) -> float:
    """F after point adjustment, with long events reduced: one of length L counts as floor(log_3(L + 3)) points.

    The points of an event are all found (if one is alarmed) or all missed, and normal points count singly: so a
    long event cannot outweigh many false alarms as it does in `f1_pa`. Equals Reduced-F1 of the code published
    with CCE, except for the logarithm of L = 240 and the like (4 points there, 5 here) and for an event at the
    very start of the series, which that code does not adjust.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no event is found. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.reduced_f1([1, 1, 1, 1, 1, 1, 0, 0, 1], [0, 1, 0, 0, 0, 0, 0, 1, 0])
    0.6666666666666666
    """

def sdqe(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    near: int | None = None,
) -> float:
    """Compute the detection quality at one threshold: `dqe` of given alarms.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    near : int, default=None
        Points before and after an event in which alarms are near misses; None is the mean length of the events, at
        most 1/22 of the normal points.

    Returns
    -------
    float
        0 where there is no alarm. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.sdqe([0, 0, 0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 0, 0, 0, 0], near=2)
    1.0
    >>> te.metrics.sdqe([0, 0, 0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0], near=2)
    0.375
    """

def tapr(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    alpha: float = 0.6,
    theta: float = 0.8,
    delta: int = 600,
    beta: float = 1.0,
) -> PRF:
    """Time-series aware precision (TaP), recall (TaR) and their F.

    Recall is the mean over events of alpha [portion >= theta] + (1 - alpha) portion; precision is the same over
    runs of alarms. The portion of an event is what alarms in it (1 each) and in the `delta` points after it (less
    and less, by a logistic from 0.9975 to 0.0025) are worth over its length, at most 1; that of a run is what its
    points are worth over its length.

    Definition: Hwang et al. 2019. Equal to `eTaPR_pkg.tapr` (and to its copies in `tsadmetrics` and `cce`) with
    their delta smaller by 1, since their zones have delta + 1 points, and where no zone of theirs takes in the
    first point of the next event, which then counts twice (TaP can exceed 1). The authors' first program asks
    for a portion above theta instead of at least theta. Here a portion of 0 never counts as detected; with
    theta = 0 it does there.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    alpha : float, default=0.6
        Weight of detection against portion.
    theta : float, default=0.8
        Portion from which an event counts as detected and a run of alarms as correct.
    delta : int, default=600
        Number of points in the ambiguous zone after each event, which stops before the next event. The decay
        spans the zone, so a zone of a single point has none and is worth nothing: 1 is the same as 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    PRF
        Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms,
        recall and F are NaN without anomalous points.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> te.metrics.tapr(y_true, [0, 0, 0, 1, 1, 0, 0, 0, 0], theta=0.5, delta=0)
    PRF(precision=1.0, recall=0.8, f1=0.888888888888889)
    >>> round(te.metrics.tapr(y_true, [0, 0, 0, 1, 1, 1, 1, 0, 0], theta=0.5, delta=2).recall, 4)
    0.9
    """

def tapr_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    alpha: float = 0.6,
    theta: float = 0.8,
    delta: int = 600,
    beta: float = 1.0,
) -> float:
    """F of time-series aware precision and recall (TaPR). Definition as for `tapr`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    alpha : float, default=0.6
        Weight of detection against portion.
    theta : float, default=0.8
        Portion from which an event counts as detected and a run of alarms as correct.
    delta : int, default=600
        Number of points in the ambiguous zone after each event, which stops before the next event. The decay
        spans the zone, so a zone of a single point has none and is worth nothing: 1 is the same as 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where nothing is found. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 1, 1, 1, 1, 0, 0, 0, 0]
    >>> round(te.metrics.tapr_f1(y_true, [0, 0, 0, 1, 1, 0, 0, 1, 0], theta=0.5, delta=2), 6)
    0.615385
    """

def temporal_distance(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    squared: bool = False,
) -> float:
    """Sum of distances, in points, from labels to alarms and from alarms to labels. Lower is better.

    Every anomalous point adds its distance to the nearest alarm, and every alarm its distance to the nearest anomalous
    point; without alarms every anomalous point counts the length of the series. Equals `TemporalDistance` of
    tsadmetrics at `distance=0`; at `distance=1` that one squares the two sums instead of the distances.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    squared : bool, default=False
        Square every distance.

    Returns
    -------
    float
        0 where labels and alarms agree. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous
        point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.temporal_distance([0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 0, 0])
    3.0
    """

def time_in_alarm(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of the series that is alarmed, right or wrong.

    Where time stamps are given, a point weighs the time that was observed at it (see `te.times`); else all points weigh
    the same.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.

    Returns
    -------
    float
        0 where there is no alarm.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.time_in_alarm([0, 0, 1, 1], [0, 1, 0, 0])
    0.25
    """

def time_to_recover(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    unit: Literal["points", "s", "min", "h", "day"] = "points",
) -> float:
    """Mean number of points that the alarm goes on after a detected event has ended. Lower is better.

    Only an alarm that is on at the last point of the event goes on. It counts from the point after the event to the
    first one without alarm, or to the next event or the end of the series, where these come first. 0 where the alarm
    was off at the last point, or is at the next. Events that are missed do not count: look at `event_recall` beside it.
    In time, gaps in the data do not count (see `te.times`).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    unit : {"points", "s", "min", "h", "day"}, default="points"
        What the time is counted in; units of time need `te.evaluate(..., times=...)`.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where no event is detected.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.time_to_recover([0, 1, 1, 0, 0, 0, 1, 0], [0, 0, 1, 1, 1, 0, 1, 0])
    1.0
    """

def time_tolerant(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    tolerance: int = 5,
    beta: float = 1.0,
) -> PRF:
    """Precision, recall and F that forgive shifts of up to `tolerance` points. Definitions as for `time_tolerant_f1`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    tolerance : int or duration, default=5
        The largest distance at which a label and an alarm agree: points, or a duration ("30min") where there are times.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    PRF
        Named tuple (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without alarms,
        recall and F are NaN without anomalous points.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.time_tolerant([0, 0, 1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1], tolerance=1)
    PRF(precision=0.5, recall=0.5, f1=0.5)
    """

def time_tolerant_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    tolerance: int = 5,
    beta: float = 1.0,
) -> float:
    """Point-wise F that forgives shifts of up to `tolerance` points.

    Recall is the share of anomalous points with an alarm at most `tolerance` points away, precision the
    share of alarms with an anomalous point at most so far away; 0 is point-wise F. Equals `TimeTolerantFScore`
    of tsadmetrics.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    tolerance : int or duration, default=5
        The largest distance at which a label and an alarm agree: points, or a duration ("30min") where there are times.
    beta : float, default=1.0
        Recall counts beta times as much as precision.

    Returns
    -------
    float
        0 where no anomalous point is near an alarm. NaN, with an `UndefinedMetricWarning`, where y_true has no
        anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true, y_pred = [0, 0, 1, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1]
    >>> [te.metrics.time_tolerant_f1(y_true, y_pred, tolerance=t) for t in (0, 1)]
    [0.0, 0.5]
    """

def total_detected_in_range(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    tolerance: int = 5,
) -> float:
    """Share of anomalous points with an alarm at most `tolerance` points away: the recall of `time_tolerant`.

    Alarms everywhere get 1, so look at false alarms or `detection_accuracy_in_range` beside it. Equals
    `TotalDetectedInRange` of tsadmetrics, except near the start of the series, where the window of that one begins
    at the end of the series.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    tolerance : int or duration, default=5
        The largest distance at which an anomalous point counts as detected, in points or as a duration.

    Returns
    -------
    float
        0 where there is no alarm. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.total_detected_in_range([0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0], tolerance=1)
    0.5
    """

def ucr_accuracy(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    slack: int = 100,
) -> float:
    """Whether the point with the highest score is near an event: the score of the UCR anomaly archive.

    A point is near an event of length L that it is less than max(`slack`, L) points away from. The archive has one
    event a series; with several, near any of them counts. Of several points with the highest score each is as good a
    choice as the others: the value is the share of them that are near. The mean over series (`te.evaluate_many`) is
    the accuracy that papers report.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
    slack : int, default=100
        The least distance, in points, that is too far.

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0] * 200 + [1] * 5 + [0] * 200
    >>> te.metrics.ucr_accuracy(y_true, [0] * 120 + [1] + [0] * 284)
    1.0
    >>> te.metrics.ucr_accuracy(y_true, [0] * 100 + [1] + [0] * 304)
    0.0
    """

def unbiased_affiliation_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    alarm_rate: float | None = None,
) -> float:
    """F of affiliation recall and of affiliation precision above that of random alarms (Zhong et al., SimAD).

    With the bias b, the expected precision of random alarms, and recall R,

        U = (precision - b) / (1 - b),    F = sign(U) * (1 + beta^2) |U| R / (beta^2 |U| + R),

    and F = 0 where U = 0 or nothing is predicted. So 1 is perfect, 0 is as precise as random, and below 0 is less
    precise than random; there U is not bounded when events fill most of their zones, but F stays above
    -(1 + 1 / beta^2), that is -2.

    The published code estimates b from three unseeded random predictions with 2 % alarms, kept for each array of
    labels, so that its values differ from run to run; here b is the exact expectation. With that same b the values
    are equal. `tsadmetrics` has this as `naff_f` with `alpha` for b, but with U instead of |U| in the denominator:
    equal where U >= 0.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    beta : float, default=1.0
        Recall counts beta times as much as precision.
    alarm_rate : float in (0, 1] or None, default=None
        None takes alarms in every zone, as of a long prediction: b is the mean over zones of 1/2 + (J/E)^2 / 2,
        with J the length of the event and E that of its zone. A number takes each point as an alarm with that
        chance: zones that are likely to stay empty count less. (Zones are taken as independent, and a point that
        two of them share as a whole point of each.) 0.02 comes nearest to the published code.

    Returns
    -------
    float
        0 where there is no alarm. NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two
        classes.

    Examples
    --------
    >>> from tsadeval.metrics import unbiased_affiliation_f1
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0]
    >>> unbiased_affiliation_f1(y_true, y_true)
    1.0
    >>> round(unbiased_affiliation_f1(y_true, [1, 1, 0, 0, 0, 0, 0, 0]), 6)
    -0.545455
    >>> unbiased_affiliation_f1(y_true, [1, 1, 1, 1, 1, 1, 1, 1])
    0.0
    """

def vus_pr(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    window: int | Literal["period"] = 100,
    n_thresholds: int | None = 250,
    variant: Literal["vus", "range_auc", "timeeval", "ff_vus"] = "vus",
) -> float:
    """Volume under the precision-recall surface: the mean area over the widths 0, 1, ..., 2 * window.

    Equals the last value of `RangeAUC_volume_opt(labels, score, 2 * window)` of PyPI vus 0.0.6 and TSB-AD 1.5.
    It shares its work with `vus_roc` in one `evaluate` call.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
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

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two classes.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    >>> y_score = [0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2]
    >>> round(te.metrics.vus_pr(y_true, y_score, window=2), 6)
    0.839648
    """

def vus_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    window: int | Literal["period"] = 100,
    n_thresholds: int | None = 250,
    variant: Literal["vus", "range_auc", "timeeval", "ff_vus"] = "vus",
) -> float:
    """Volume under the ROC surface: the mean range-based area over the widths 0, 1, ..., 2 * window.

    The default equals `RangeAUC_volume_opt(labels, score, 2 * window)` of PyPI vus 0.0.6 and TSB-AD 1.5. Mind the
    factor: their `get_metrics(..., slidingWindow=w)` takes the widths 0 .. w, which for even w is `window=w // 2`
    here (an odd w has no equal), while the authors' experiments and the CCE paper take 0 .. 2 * w for a window of w
    points, which is `window=w`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_score : array-like of shape (n,)
        Finite scores, higher for more anomalous.
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

    Returns
    -------
    float
        NaN, with an `UndefinedMetricWarning`, where y_true lacks one of the two classes.

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

def weighted_detection_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    tolerance: int = 5,
) -> float:
    """Rewards of alarms inside events less penalties of alarms outside.

    An alarm at distance x from the centre of its event of length L earns exp(-x² / (2 w²)) with w = max(L / 2, 1); one
    at distance d from the nearest event costs min(d / tolerance, 1). Equals `WeightedDetectionDifference` of
    tsadmetrics. Values of series of different length cannot be compared.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        0 for normal and 1 for anomalous points.
    y_pred : array-like of shape (n,)
        1 where an alarm is raised, else 0.
    tolerance : int, default=5
        Distance in points from which on a false alarm costs 1; 0 is the same as 1.

    Returns
    -------
    float
        0 where there is no alarm. NaN, with an `UndefinedMetricWarning`, where y_true has no anomalous point.

    Examples
    --------
    >>> import tsadeval as te
    >>> round(te.metrics.weighted_detection_difference([0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0]), 4)
    1.6007
    """
