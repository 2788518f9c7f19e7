"""torchmetrics classes: windows are collected as they come, series are put together and judged at the end."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from tsadeval.core import docstrings
from tsadeval.core.parameters import Check, Flag, OneOf, check_parameters
from tsadeval.errors import InvalidInputError, InvalidParameterError, warn_undefined
from tsadeval.torch import _affiliation, _cce, _pate, _ranking, _vus
from tsadeval.torch._batch import read
from tsadeval.torch._segments import expand, is_first

CHECKS: dict[str, Check] = {
    "average": OneOf(("mean", "none")),
    "overlap": OneOf(("mean", "max", "min")),
    "validate_args": Flag(),
}
Numbers = Tensor | Sequence[int] | int | None
# What is collected, and the dtype of it: processes without data must send empty tensors of the same kind.
STATES = {"scores": torch.float64, "labels": torch.uint8, "windows": torch.int64}


class SeriesMetric(Metric):
    """Collects scored windows of series; `compute` puts the series together and judges each.

    Parameters
    ----------
    average : {"mean", "none"}, default="mean"
        The mean over the series for which the metric is defined, or the value of every series, in the order of their
        numbers.
    overlap : {"mean", "max", "min"}, default="mean"
        How the scores that several windows give to one point become one.
    validate_args : bool, default=True
        Check scores and labels at every update.
    **options
        Those of the function of the metric, and those of `torchmetrics.Metric`.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound: float | None = 0.0
    plot_upper_bound: float | None = 1.0

    function: ClassVar[Callable[..., Tensor]]  # of tensors, which judges the series

    scores: list[Tensor]
    labels: list[Tensor]
    windows: list[Tensor]

    def __init_subclass__(cls, *, function: Callable[..., Tensor] | None = None, **options: Any) -> None:
        """Give a metric its function, and its docstring the parameters, which are the same for all."""
        super().__init_subclass__(**options)
        if function is None:  # a user's class, derived from a metric
            return
        cls.function = staticmethod(function)
        parameters = docstrings.entries(docstrings.sections(inspect.cleandoc(SeriesMetric.__doc__ or ""))["Parameters"])
        cls.__doc__ = docstrings.filled(inspect.cleandoc(cls.__doc__ or ""), parameters.values(), None)

    def __init__(
        self, *, average: str = "mean", overlap: str = "mean", validate_args: bool = True, **options: Any
    ) -> None:
        known = inspect.signature(type(self).function).parameters
        reserved = {"preds", "target", "lengths", "mask", "validate"}
        self_options = {k: v for k, v in options.items() if k in known and k not in reserved}
        super().__init__(**{k: v for k, v in options.items() if k not in self_options})
        checked = {"average": average, "overlap": overlap, "validate_args": validate_args}
        check_parameters(type(self).__name__, CHECKS, checked)
        self.options, self.average, self.overlap, self.validate_args = self_options, average, overlap, validate_args
        if "threshold" in self_options and isinstance(self_options["threshold"], Tensor):
            raise InvalidParameterError(f"{type(self).__name__}: threshold must be a number or 'best', not a tensor")
        # Wrong options show now, not after an epoch.
        type(self).function(torch.tensor([0.0, 1.0]), torch.tensor([0, 1]), **self_options)
        for name in STATES:
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(
        self,
        preds: Tensor,
        target: Tensor,
        series: Numbers = None,
        position: Numbers = None,
        lengths: Tensor | Sequence[int] | None = None,
    ) -> None:
        """Add the scores and labels of a batch of windows, or of a piece of one series.

        Parameters
        ----------
        preds, target : Tensor of shape (windows, points) or (points,)
            Scores, and labels 0 or 1.
        series : int or sequence of int, optional
            The number of the series that each window belongs to. Without it and without `position`, each row is a
            series of its own, and pieces of shape (points,) are one series.
        position : int or sequence of int, optional
            Where each window begins in its series. Windows may then come in any order and overlap. The same window
            twice (same series, position and length), as a distributed sampler adds to fill up batches, counts once.
            Without positions the pieces of a series follow each other in the order in which they come; across
            processes that order is the order of the processes.
            For `preds` of shape (points,), one number is where the piece begins; a sequence gives the position of
            every point.
        lengths : sequence of int, optional
            How many points of each row count, where rows are padded.
        """
        batch = read(preds, target, lengths, validate=self.validate_args)
        table = window_table(preds, series, position, lengths)
        inside = batch.valid
        self.scores.append(batch.scores.double()[inside])
        self.labels.append(batch.labels.to(torch.uint8)[inside])
        self.windows.append(table[table[:, 2] > 0].flatten())

    def sync(self, *args: Any, **kwargs: Any) -> None:
        """As in torchmetrics; a process that has seen nothing sends empty tensors of the right kind."""
        for name, dtype in STATES.items():
            if isinstance(getattr(self, name), list) and not getattr(self, name):
                setattr(self, name, [torch.empty(0, dtype=dtype, device=self.device)])
        super().sync(*args, **kwargs)

    def compute(self) -> Tensor:
        """Judge the series put together: the mean of their values, or one for each."""
        scores, labels, windows = (dim_zero_cat(getattr(self, name)) for name in STATES)
        if len(scores) == 0:
            raise InvalidInputError(f"{type(self).__name__} has no points to judge: call update first")
        scores, labels, lengths = join(windows.view(-1, 3), scores, labels, self.overlap)
        values = type(self).function(scores, labels, lengths=lengths, validate=False, **self.options)
        values = values.to(self.dtype)
        if self.average == "none":
            return values
        undefined = int(values.isnan().sum())
        if undefined:
            warn_undefined(type(self).__name__, f"{undefined} of {len(values)} series, which the mean leaves out")
        return values.nanmean()

    def plot(self, val: Tensor | Sequence[Tensor] | None = None, ax: Any = None) -> Any:
        """Draw a value, or several of them in their order, as torchmetrics does; needs matplotlib."""
        return self._plot(val, ax)


class AUCROC(SeriesMetric, function=_ranking.auc_roc):
    """`tsadeval.torch.auc_roc` over an epoch."""


class AUCPR(SeriesMetric, function=_ranking.auc_pr):
    """`tsadeval.torch.auc_pr` over an epoch."""


class AffiliationF1(SeriesMetric, function=_affiliation.affiliation_f1):
    """`tsadeval.torch.affiliation_f1` over an epoch, by default at the best threshold."""


class BestF1(SeriesMetric, function=_ranking.best_f1):
    """`tsadeval.torch.best_f1` over an epoch."""


class CCE(SeriesMetric, function=_cce.cce):
    """`tsadeval.torch.cce` over an epoch, from windows in any order.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> metric = tt.CCE()
    >>> metric.update(torch.tensor([[0.7, 0.3, 0.1]]), torch.tensor([[1, 0, 0]]), series=0, position=[4])
    >>> metric.update(torch.tensor([[0.1, 0.2, 0.1, 0.9]]), torch.tensor([[0, 0, 0, 1]]), series=0, position=[0])
    >>> metric.compute()
    tensor(0.7861)
    >>> tt.cce(torch.tensor([0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1]), torch.tensor([0, 0, 0, 1, 1, 0, 0]))
    tensor(0.7861)
    """

    plot_lower_bound = -1.0


class F1PA(SeriesMetric, function=_ranking.f1_pa):
    """`tsadeval.torch.f1_pa` over an epoch, by default at the best threshold."""


class PATE(SeriesMetric, function=_pate.pate):
    """`tsadeval.torch.pate` over an epoch."""


class VUSPR(SeriesMetric, function=_vus.vus_pr):
    """`tsadeval.torch.vus_pr` over an epoch."""


class VUSROC(SeriesMetric, function=_vus.vus_roc):
    """`tsadeval.torch.vus_roc` over an epoch."""


# Scored windows in any order become whole series again: sorted by time, overlaps joined, repeated windows once.


# In place of the number of a series: each such window is one of its own. In place of a position: right after the
# windows of the series that came before.
OWN = FOLLOWS = -1


def window_table(preds: Tensor, series: Numbers, position: Numbers, lengths: Numbers) -> Tensor:
    """(windows, 3): series, first position and number of points of every window of an update."""
    if preds.ndim == 2:
        count, size = preds.shape
    elif lengths is not None:
        raise InvalidInputError("lengths is for preds of shape (windows, points): pass only the points that count")
    else:
        each = any(isinstance(x, (Tensor, Sequence)) and torch.as_tensor(x).ndim > 0 for x in (series, position))
        count, size = (len(preds), 1) if each else (1, len(preds))
    # Rows without a number are series by themselves, unless positions say where they belong.
    alone = OWN if preds.ndim == 2 and position is None else 0
    columns = ("series", series, alone), ("position", position, FOLLOWS), ("lengths", lengths, size)
    return torch.stack([_column(name, values, default, count, preds.device) for name, values, default in columns], 1)


def _column(name: str, values: Numbers, default: int, count: int, device: torch.device) -> Tensor:
    if values is None:
        return torch.full((count,), default, device=device)
    column = torch.as_tensor(values, device=device)
    if column.is_floating_point() or column.is_complex() or column.dtype == torch.bool:
        raise InvalidInputError(f"{name} must hold integers, but has dtype {column.dtype}")
    if column.ndim == 0:
        column = column.expand(count)
    if column.shape != (count,):
        raise InvalidInputError(
            f"{name} must be one integer or {count}, one for each window, but has shape {tuple(column.shape)}"
        )
    if bool((column < 0).any()):
        raise InvalidInputError(f"{name} must not be negative, but is {int(column.min())}")
    return column.long()


def join(windows: Tensor, scores: Tensor, labels: Tensor, overlap: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return padded scores, labels and lengths of the series that these windows are pieces of, by their numbers.

    `overlap` says how scores of one point become one.
    """
    series, starts, sizes = windows.unbind(1)
    offsets = sizes.cumsum(0) - sizes
    own = series == OWN
    series = torch.where(own, series.amax() + own.cumsum(0), series)
    starts = _in_order(series, starts, sizes)
    kept = _first_of_equal(torch.stack([series, starts, sizes], dim=1))
    series, starts, sizes, offsets = (x[kept] for x in (series, starts, sizes, offsets))
    source, window = expand(offsets, offsets + sizes)
    position = starts[window] + source - offsets[window]
    owner = series[window]
    order = position.argsort(stable=True)
    order = order[owner[order].argsort(stable=True)]
    owner, position, source = owner[order], position[order], source[order]
    first = is_first(owner) | is_first(position)
    point = first.cumsum(0) - 1
    count = int(first.sum())
    joined = torch.zeros(count, dtype=scores.dtype, device=scores.device)
    how = {"mean": "mean", "max": "amax", "min": "amin"}[overlap]
    joined.scatter_reduce_(0, point, scores[source], how, include_self=False)
    marks = torch.zeros(count, dtype=labels.dtype, device=labels.device)
    marks[point] = labels[source]
    if bool((marks[point] != labels[source]).any()):
        at = int((marks[point] != labels[source]).nonzero()[0])
        raise InvalidInputError(
            "target differs between windows that share a point: "
            f"position {int(position[at])} of series {int(owner[at])}"
        )
    _, row, lengths = torch.unique_consecutive(owner[first], return_inverse=True, return_counts=True)
    column = torch.arange(count, device=row.device) - (lengths.cumsum(0) - lengths)[row]
    shape = len(lengths), int(lengths.max())
    table, mask = scores.new_zeros(shape), torch.zeros(shape, dtype=torch.bool, device=row.device)
    table[row, column] = joined
    mask[row, column] = marks.bool()
    return table, mask, lengths


def _in_order(series: Tensor, starts: Tensor, sizes: Tensor) -> Tensor:
    """First positions; windows without one follow those of their series that came before."""
    follows = starts == FOLLOWS
    if not bool(follows.any()):
        return starts
    order = series.argsort(stable=True)
    _, number = torch.unique_consecutive(series[order], return_inverse=True)
    before = sizes[order].cumsum(0) - sizes[order]
    begins = before.amax().expand_as(number).scatter_reduce(0, number, before, "amin")
    implied = torch.empty_like(starts)
    implied[order] = before - begins[number]
    mixed = torch.zeros_like(number).scatter_reduce_(0, number, (~follows[order]).long(), "amax")[number].bool()
    if bool((mixed & follows[order]).any()):
        raise InvalidInputError("some windows of a series came with a position and some without: give all of them one")
    return torch.where(follows, implied, starts)


def _first_of_equal(windows: Tensor) -> Tensor:
    """Find the windows that are not repeated; a sampler repeats some to give every process as many."""
    _, kind = torch.unique(windows, dim=0, return_inverse=True)
    place = torch.arange(len(kind), device=kind.device)
    first = torch.full_like(kind, len(kind)).scatter_reduce_(0, kind, place, "amin")
    return (first[kind] == place).nonzero()[:, 0]
