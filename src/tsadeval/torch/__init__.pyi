"""Metrics of batches of series on a GPU or CPU, losses to train with, and torchmetrics classes.

Written by `make generated` from the functions: do not edit.
"""

from collections.abc import Sequence
from typing import Literal

from torch import Tensor

from tsadeval.torch._affiliation import PrecisionRecallF
from tsadeval.torch._batch import Threshold
from tsadeval.torch._losses import CCELoss as CCELoss
from tsadeval.torch._losses import EventAUCLoss as EventAUCLoss
from tsadeval.torch._torchmetrics import AUCPR as AUCPR
from tsadeval.torch._torchmetrics import AUCROC as AUCROC
from tsadeval.torch._torchmetrics import CCE as CCE
from tsadeval.torch._torchmetrics import F1PA as F1PA
from tsadeval.torch._torchmetrics import PATE as PATE
from tsadeval.torch._torchmetrics import VUSPR as VUSPR
from tsadeval.torch._torchmetrics import VUSROC as VUSROC
from tsadeval.torch._torchmetrics import AffiliationF1 as AffiliationF1
from tsadeval.torch._torchmetrics import BestF1 as BestF1

def affiliation(
    preds: Tensor,
    target: Tensor,
    *,
    threshold: float | Tensor | None = None,
    beta: float = 1.0,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> PrecisionRecallF:
    """Affiliation precision, recall and F of every series of a batch; equals `tsadeval.metrics.affiliation`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Scores of a floating dtype; or alarms, 0 or 1, of an integer or bool dtype.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    threshold : float or Tensor, optional
        Scores above it are alarms: one number, or one for each series. Not used where `preds` are alarms.
    beta : float, default=1.0
        Recall counts beta times as much as precision.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    PrecisionRecallF
        Named tuple of tensors (precision, recall, f1). With an `UndefinedMetricWarning`, precision is NaN without
        alarms (recall and F are 0), and all three are NaN without anomalies.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> alarms = torch.tensor([False, False, True, True, False, False, False, False])
    >>> found = tt.affiliation(alarms, torch.tensor([0, 0, 0, 1, 1, 0, 0, 0]))
    >>> found.precision.item(), found.recall.item()
    (0.8125, 0.9375)
    """

def affiliation_f1(
    preds: Tensor,
    target: Tensor,
    *,
    threshold: Threshold = "best",
    beta: float = 1.0,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """Affiliation F of every series of a batch, 0 without alarms; equals `tsadeval.metrics.affiliation_f1`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Scores of a floating dtype; or alarms, 0 or 1, of an integer or bool dtype.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    threshold : float, Tensor or "best", default="best"
        Scores above it are alarms: one number, or one for each series. "best" takes the threshold of the highest value
        for each series, found exactly. Not used where `preds` are alarms.
    beta : float, default=1.0
        Recall counts beta times as much as precision.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, where target has a series without an anomalous point.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 1, 1, 0, 0, 0])
    >>> tt.affiliation_f1(torch.tensor([0.1, 0.2, 0.7, 0.9, 0.3, 0.1, 0.2, 0.1]), labels, threshold=0.5)
    tensor(0.8705)
    >>> tt.affiliation_f1(torch.tensor([0.1, 0.2, 0.7, 0.9, 0.3, 0.1, 0.2, 0.1]), labels)
    tensor(0.9677)
    """

def auc_pr(
    preds: Tensor,
    target: Tensor,
    *,
    interpolation: Literal["step", "trapezoid"] = "step",
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """Area under the precision-recall curve of every series of a batch; equals `tsadeval.metrics.auc_pr`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Finite scores, higher for more anomalous.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    interpolation : {"step", "trapezoid"}, default="step"
        How the area between two thresholds is counted; "step" is average precision.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, where target has a series without an anomalous point.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> tt.auc_pr(torch.tensor([0.1, 0.4, 0.4, 0.9, 0.2]), torch.tensor([0, 0, 1, 1, 0]))
    tensor(0.8333)
    """

def auc_roc(
    preds: Tensor,
    target: Tensor,
    *,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """Area under the ROC curve of every series of a batch; equals `tsadeval.metrics.auc_roc`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Finite scores, higher for more anomalous.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, where target has a series without anomalous or without normal points.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> scores = torch.tensor([[0.1, 0.4, 0.4, 0.9, 0.2], [0.9, 0.1, 0.3, 0.0, 0.0]])
    >>> labels = torch.tensor([[0, 0, 1, 1, 0], [1, 0, 0, 0, 0]])
    >>> tt.auc_roc(scores, labels, lengths=[5, 3])
    tensor([0.9167, 1.0000])
    """

def best_f1(
    preds: Tensor,
    target: Tensor,
    *,
    beta: float = 1.0,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """Compute the highest point-wise F over all thresholds of every series; equals `tsadeval.metrics.best_f1`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Finite scores, higher for more anomalous.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    beta : float, default=1.0
        Recall counts beta times as much as precision.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, where target has a series without an anomalous point.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> tt.best_f1(torch.tensor([0.1, 0.5, 0.4, 0.9, 0.2]), torch.tensor([0, 0, 1, 1, 0]))
    tensor(0.8000)
    """

def cce(
    preds: Tensor,
    target: Tensor,
    *,
    tau: float = 0.5,
    constrained: bool = False,
    event_weight: float = 0.5,
    global_weight: float = 0.5,
    normalize: Literal["minmax", "robust", "rank", "quantile", "published"] | None = "minmax",
    quantiles: tuple[float, float] = (0.001, 0.999),
    uncertainty: Literal["beta", "pointwise", "scaled"] = "beta",
    gamma: float = 10.0,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """CCE of every series of a batch; equals `tsadeval.cce`.

    Scores are read once: by a Triton kernel on a GPU that has one, by torch elsewhere. To train with, there is
    `CCELoss`. No event runs over points that a mask leaves out, as with `ignore=` of `tsadeval.evaluate`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Finite scores, higher for more anomalous.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    tau, constrained, event_weight, global_weight, normalize, quantiles, uncertainty, gamma
        As for `tsadeval.metrics.cce`.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, where target has a series without anomalous or without normal points.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 1, 1, 0, 0, 1, 0])
    >>> tt.cce(torch.tensor([0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.2, 0.1]), labels)
    tensor(0.4909)
    """

def f1_pa(
    preds: Tensor,
    target: Tensor,
    *,
    threshold: Threshold = "best",
    beta: float = 1.0,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """F after point adjustment of every series of a batch; equals `tsadeval.metrics.f1_pa`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Scores of a floating dtype; or alarms, 0 or 1, of an integer or bool dtype.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    threshold : float, Tensor or "best", default="best"
        Scores above it are alarms: one number, or one for each series. "best" takes the threshold of the highest value
        for each series, found exactly. Not used where `preds` are alarms.
    beta : float, default=1.0
        Recall counts beta times as much as precision.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, where target has a series without an anomalous point.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([1, 1, 1, 0, 0, 1])
    >>> tt.f1_pa(torch.tensor([False, True, False, False, True, False]), labels).item()
    0.75
    >>> tt.f1_pa(torch.tensor([0.1, 0.9, 0.2, 0.0, 0.7, 0.3]), labels, threshold=0.5)
    tensor(0.7500)
    >>> tt.f1_pa(torch.tensor([0.1, 0.9, 0.2, 0.0, 0.7, 0.3]), labels)
    tensor(0.8889)
    """

def pate(
    preds: Tensor,
    target: Tensor,
    *,
    early: int = 100,
    delay: int = 100,
    n_splits: int = 1,
    include_zero: bool = True,
    n_thresholds: int | None = 250,
    drop_intermediate: bool = True,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """PATE of every series of a batch; equals `tsadeval.metrics.pate`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Finite scores, higher for more anomalous.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    early, delay, n_splits, include_zero, n_thresholds, drop_intermediate
        As for `tsadeval.metrics.pate`.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, where target has a series without anomalous or without normal points.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 0, 1, 1, 1, 0, 0, 0])
    >>> tt.pate(torch.tensor([0, 0, 0, 0, 0, 1.0, 1, 1, 0, 0]), labels, early=2, delay=2)
    tensor(0.7554)
    """

def vus(
    preds: Tensor,
    target: Tensor,
    *,
    window: int = 100,
    n_thresholds: int | None = 250,
    variant: Literal["vus", "range_auc", "timeeval", "ff_vus"] = "vus",
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """VUS-ROC and VUS-PR together, in the time of one of them: a tensor of shape (2,) or (2, series).

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Finite scores, higher for more anomalous.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    window, n_thresholds, variant
        As for `tsadeval.metrics.vus_roc`.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, where target has a series without anomalous or without normal points.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 1, 1, 0, 0, 0, 0, 0])
    >>> scores = torch.tensor([0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2])
    >>> tt.vus(scores, labels, window=2)
    tensor([0.9241, 0.8396])
    """

def vus_pr(
    preds: Tensor,
    target: Tensor,
    *,
    window: int = 100,
    n_thresholds: int | None = 250,
    variant: Literal["vus", "range_auc", "timeeval", "ff_vus"] = "vus",
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """Volume under the precision-recall surface of every series of a batch; equals `tsadeval.metrics.vus_pr`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Finite scores, higher for more anomalous.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    window, n_thresholds, variant
        As for `tsadeval.metrics.vus_pr`.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, where target has a series without anomalous or without normal points.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 1, 1, 0, 0, 0, 0, 0])
    >>> scores = torch.tensor([0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2])
    >>> tt.vus_pr(scores, labels, window=2)
    tensor(0.8396)
    """

def vus_roc(
    preds: Tensor,
    target: Tensor,
    *,
    window: int = 100,
    n_thresholds: int | None = 250,
    variant: Literal["vus", "range_auc", "timeeval", "ff_vus"] = "vus",
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    validate: bool = True,
) -> Tensor:
    """Volume under the ROC surface of every series of a batch; equals `tsadeval.metrics.vus_roc`.

    Parameters
    ----------
    preds : Tensor of shape (points,) or (series, points)
        Finite scores, higher for more anomalous.
    target : Tensor of the same shape
        0 (False) for normal and 1 (True) for anomalous points.
    window, n_thresholds, variant
        As for `tsadeval.metrics.vus_roc`.
    lengths : Tensor or sequence of int of shape (series,), optional
        How many points of each row count; the others are padding, whatever they hold.
    mask : bool Tensor of the same shape as `preds`, optional
        True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
    validate : bool, default=True
        Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
        wrong results.

    Returns
    -------
    Tensor of shape () or (series,)
        On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an
        `UndefinedMetricWarning`, where target has a series without anomalous or without normal points.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 1, 1, 0, 0, 0, 0, 0])
    >>> scores = torch.tensor([0.1, 0.2, 0.1, 0.4, 0.9, 0.8, 0.3, 0.1, 0.5, 0.2])
    >>> tt.vus_roc(scores, labels, window=2)
    tensor(0.9241)
    """
