"""CCE of batches, from the moments of the runs of equal labels; the formulas also serve the loss."""

from typing import Any

import torch
from torch import Tensor

from tsadeval.core.parameters import CCE_CHECKS, CCE_ROBUST_POWER, CCEOptions
from tsadeval.errors import InvalidInputError
from tsadeval.torch._batch import ONE_CLASS, Batch, tensor_metric
from tsadeval.torch._segments import group_scores

# Beyond these magnitudes squares would overflow or vanish.
HUGE, TINY = 1e100, 1e-100
# In units of the squared range: a variance below this is that of constant scores. Triton's differences of
# sums are not exact, and `uncertainty="scaled"` is not continuous where a mean at the end of the range has no variance.
ROUNDING = 1e-12


# Count, mean and variance of the scores in every run of equal labels: on a GPU with Triton by `_triton`, which reads
# the scores once, elsewhere by torch's own operations.


def run_moments(batch: Batch, scale: bool, added: Tensor | None = None) -> tuple[Tensor, ...]:
    """Find the runs of equal labels of all rows of a batch, one after the other, without its padding.

    Of each run: twice the row plus the label, the label (bool), and in float64 mean and variance of the scores and
    (runs, 3) 1, points and the sum of the scores. With `scale`, scores are brought to 0 ... 1 by their row's range,
    plus what is `added` to it. Constant scores count as one half.
    """
    scores, labels = batch.scores.contiguous(), batch.labels.contiguous()
    if batch.padded:
        scores = torch.where(batch.valid, scores, scores[:, :1])  # neither a new extreme nor far from the others
    kernels = None if batch.parted is not None else kernels_for(scores)
    where = (scores, labels, batch.lengths, scale, added)
    runs = by_torch(*where, batch.parted) if kernels is None else kernels.run_moments(*where)
    if batch.padded:
        inside = runs[-1][:, 0] > 0
        runs = tuple(x[inside] for x in runs)
    return runs


def kernels_for(tensor: Tensor) -> Any:
    """Return the module of the Triton kernels where they run on the tensor's device, else None."""
    if not tensor.is_cuda:
        return None
    from tsadeval.torch import _triton

    return _triton if _triton.available() else None


def by_torch(
    scores: Tensor, labels: Tensor, lengths: Tensor, scale: bool, added: Tensor | None, parted: Tensor | None = None
) -> tuple[Tensor, ...]:
    """Compute what `run_moments` returns; a row's padding is a run whose last three numbers are 0.

    A run also begins where points before it were left out (`parted`).
    """
    rows, columns = scores.shape
    flat = labels.view(-1)
    begun = flat[1:] != flat[:-1]
    borders = (begun if parted is None else begun | parted.view(-1)[1:]).nonzero()[:, 0] + 1
    edges = torch.arange(rows, device=scores.device) * columns
    begins = torch.unique(torch.cat([borders, edges, (edges + lengths)[lengths < columns]]))
    counts = begins.diff(append=begins.new_full((1,), rows * columns))
    row = begins // columns
    # In units of the row's range, so that squares are numbers.
    low, high = (x.double() for x in torch.aminmax(scores, dim=1))
    unit = torch.where(high > low, high - low, 1)
    origins = scores[:, 0].double()

    def mean_of_runs(values: Tensor) -> Tensor:
        return torch.segment_reduce(values, "mean", lengths=counts, unsafe=True)

    values = ((scores.double() - origins[:, None]) / unit[:, None]).view(-1)
    means = mean_of_runs(values)
    variances = mean_of_runs((values - means.repeat_interleave(counts)).square_())
    variances = variances.masked_fill(variances < ROUNDING, 0)
    if scale:
        width = high - low + (0 if added is None else added)
        constant = (width == 0)[row]
        width = torch.where(width == 0, 1, width)
        factor = (unit / width)[row]
        means = torch.where(constant, 0.5, (((origins - low) / width)[row] + means * factor).clamp(0, 1))
        variances = variances * factor.square()
    else:
        means, variances = origins[row] + means * unit[row], variances * unit[row].square()
    inside = (begins - row * columns < lengths[row]).double()
    weights = torch.stack([torch.ones_like(means), counts.double(), counts * means], dim=1) * inside[:, None]
    marks = flat[begins]
    return 2 * row + marks, marks, means, variances, weights


def event_scores(
    means: Tensor, variances: Tensor, anomalous: Tensor, tau: float, constrained: bool, uncertainty: str, gamma: float
) -> Tensor:
    """Confidence times consistency of events of these moments."""
    if uncertainty == "pointwise":
        share = gamma / (gamma + 2)
        spread = means - means * means - variances
        doubt = (share * share * spread + (gamma + 1) / (gamma + 2) / (gamma + 2)) / (gamma + 3)
    elif uncertainty == "beta":
        doubt = variances
    else:
        doubt = _scaled(means, variances, gamma)
    confidence = torch.where(anomalous, means - tau, 1 - tau - means)
    if constrained:
        confidence = confidence.clamp_min(0)
    return confidence * torch.exp(-doubt)


def _scaled(means: Tensor, variances: Tensor, gamma: float) -> Tensor:
    """Compute the variance of a Beta distribution with the parameters that fit the moments, times gamma plus 1."""
    spread = (variances > 0) & (means > 0) & (means < 1)
    strength = (means * (1 - means) / torch.where(spread, variances, 1) - 1).clamp_min(0)
    alpha, beta = gamma * means * strength + 1, gamma * (1 - means) * strength + 1
    total = alpha + beta
    known = spread & total.isfinite()
    total = torch.where(known, total, 1)
    return torch.where(known, alpha / total * (beta / total) / (total + 1), 0)


def _in_range(batch: Batch) -> tuple[Batch, Tensor | None]:
    """Scores in units of a power of two where their squares would not be numbers, and its exponents."""
    if batch.scores.dtype != torch.float64:
        return batch, None  # sums are in float64, which holds the square of every float32
    largest = batch.scores.abs().amax(1)
    outside = ((largest > HUGE) | ((largest < TINY) & (largest > 0))) & largest.isfinite()
    if not bool(outside.any()):
        return batch, None
    exponent = torch.where(outside, torch.frexp(largest).exponent, 0)
    half = exponent // 2  # a factor of 2^1073 is no number
    scores = torch.ldexp(torch.ldexp(batch.scores, -half[:, None]), (half - exponent)[:, None])
    return batch.with_scores(scores), exponent


def _ranks(batch: Batch, power: float) -> Batch:
    """Average ranks from 0 to 1, to a power."""
    scores, order = batch.filled(torch.inf).sort(dim=1)
    groups = group_scores(scores)
    middle = (groups.before + groups.up_to - 1).double() / 2
    ranks = middle[groups.of_point].view(scores.shape) / (batch.lengths[:, None] - 1).clamp_min(1)
    result = torch.zeros_like(ranks).scatter_(1, order, ranks)
    return batch.with_scores(result.masked_fill(~batch.valid, 0) ** power)


def _clipped(batch: Batch, quantiles: tuple[float, float]) -> Batch:
    """Scores between two quantiles, scaled to [0, 1]; one half where the quantiles are equal."""
    # Halves cannot overflow when the extremes of the range of floats are subtracted.
    halves = batch.scores.double() / 2
    ordered = halves.masked_fill(~batch.valid, torch.inf).sort(dim=1).values
    limits = []
    for q in quantiles:
        place = q * (batch.lengths - 1).clamp_min(0).double()
        below = place.floor().long()
        above = torch.minimum(below + 1, (batch.lengths - 1).clamp_min(0))
        a, b = (ordered.gather(1, i[:, None]) for i in (below, above))
        part = (place - below)[:, None]
        # As NumPy does it, so that equal quantiles come out equal.
        limits.append(torch.where(part >= 0.5, b - (b - a) * (1 - part), a + (b - a) * part))
    low, high = limits
    constant = low == high
    scaled = (torch.clamp(halves, low, high) - low) / torch.where(constant, 1, high - low)
    return batch.with_scores(torch.where(constant, 0.5, scaled).masked_fill(~batch.valid, 0))


def _by_range(*, normalize: str | None, **_: Any) -> bool:
    """Return True if scores are scaled by their range: one that is not finite makes the value NaN."""
    return normalize in ("minmax", "published")


def _per_row(batch: Batch, *, normalize: str | None, **options: Any) -> int | None:
    """Return None where Triton kernels do it, which need next to no memory beside the batch."""
    kernels = _by_range(normalize=normalize) or normalize is None
    return None if kernels and batch.parted is None and kernels_for(batch.scores) is not None else 1


@tensor_metric(
    ONE_CLASS, CCE_CHECKS, like=CCEOptions, finite=lambda **options: not _by_range(**options), per_row=_per_row
)
def cce(batch: Batch, **given: Any) -> Tensor:
    """CCE of every series of a batch; equals `tsadeval.cce`.

    Scores are read once: by a Triton kernel on a GPU that has one, by torch elsewhere. To train with, there is
    `CCELoss`. No event runs over points that a mask leaves out, as with `ignore=` of `tsadeval.evaluate`.

    Examples
    --------
    >>> import torch, tsadeval.torch as tt
    >>> labels = torch.tensor([0, 0, 0, 1, 1, 0, 0, 1, 0])
    >>> tt.cce(torch.tensor([0.1, 0.2, 0.1, 0.9, 0.7, 0.3, 0.1, 0.2, 0.1]), labels)
    tensor(0.4909)
    """
    options = CCEOptions(**given)
    exponent, normalize, formula = None, options.normalize, options.formula
    if normalize in ("minmax", "published"):
        batch, exponent = _in_range(batch)
    elif normalize == "quantile":
        batch = _clipped(batch, options.quantiles)
    elif normalize is not None:
        batch = _ranks(batch, CCE_ROBUST_POWER if normalize == "robust" else 1)
    elif batch.checked:
        low, high = float(batch.scores.min()), float(batch.scores.max())
        if low < 0 or high > 1:
            raise InvalidInputError(
                f"preds must lie in [0, 1] when normalize=None, but range from {low:g} to {high:g}; "
                'pass probabilities, or use normalize="minmax"'
            )
    added = None
    if normalize == "published":
        added = torch.full((len(batch.scores),), 1e-8, dtype=torch.float64, device=batch.scores.device)
        added = added if exponent is None else torch.ldexp(added, -exponent)
    keys, labels, means, variances, sizes = run_moments(batch, normalize in ("minmax", "published", "robust"), added)
    judged = event_scores(means, variances, labels, *formula)
    rows = len(batch.scores)

    def of_classes(values: Tensor) -> Tensor:  # of every row: of its normal and of its anomalous runs
        return values.new_zeros((2 * rows, *values.shape[1:])).index_add_(0, keys, values).view(rows, 2, -1)

    total = of_classes(judged)[..., 0]
    events, points, sums = of_classes(sizes).unbind(2)
    mean = sums / points
    variance = of_classes(sizes[:, 1] * (variances + (means - mean.view(-1)[keys]).square()))[..., 0] / points
    anomalous = torch.arange(2, device=mean.device).bool()
    weights = options.event_weight, options.global_weight
    both = total / events, event_scores(mean, variance, anomalous, *formula)
    of_runs, of_points = (values[:, 0].lerp(values[:, 1], weight) for values, weight in zip(both, weights, strict=True))
    return of_runs + of_points
