"""Batches of padded series on a device, the checks of what callers pass, and the decorator that defines metrics.

A batch holds (series, points) with the points of each series at the left. Points outside a mask are removed, so that
every value equals that of the CPU metric on `target[i][mask[i]], preds[i][mask[i]]`; CCE alone keeps the stretches
between them apart, as it does with `ignore=`.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal, Self

import torch
from torch import Tensor

from tsadeval.core import docstrings
from tsadeval.core.arrays import EXACT
from tsadeval.core.parameters import Check, check_parameters, options_of, recall_weight, refuse_unknown
from tsadeval.errors import InvalidInputError, InvalidParameterError, warn_undefined

# Why values are undefined, where a metric compares the two classes and where it needs events.
NO_ANOMALY = "target has a series without an anomalous point"
ONE_CLASS = "target has a series without anomalous or without normal points"


def room(device: torch.device) -> int:
    """Rows are worked on in blocks of about so many numbers, which bounds the memory of intermediate tensors."""
    if device.type != "cuda":
        return 1 << 25
    free, _ = torch.cuda.mem_get_info(device)
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    # About forty intermediate tensors of 8 bytes a number, and half of the memory left to others.
    return min(max((free + unused) // 640, 1 << 20), 1 << 28)


# Metrics of NumPy arrays take the labels first.
SWAPPED = "; or are the two swapped? In torch's order preds come first"


@dataclass(frozen=True, eq=False)
class Batch:
    """Checked scores (or alarms) and labels of left-aligned series; scores in the padding are 0, labels False."""

    scores: Tensor  # (series, points), float32 or float64; bool where alarms were given
    labels: Tensor  # (series, points), bool
    lengths: Tensor  # (series,), int64
    padded: bool
    single: bool  # one series was given without a batch dimension
    dtype: torch.dtype  # of the values to return
    checked: bool  # the caller wants values to be checked
    parted: Tensor | None = None  # (series, points), bool: points before which others were left out by a mask

    @property
    def valid(self) -> Tensor:
        """Which entries are points, not padding."""
        return torch.arange(self.scores.shape[1], device=self.scores.device) < self.lengths[:, None]

    @property
    def gives_alarms(self) -> bool:
        """True if these are alarms, not scores."""
        return self.scores.dtype == torch.bool

    def filled(self, value: float) -> Tensor:
        """Return the scores with this value in the padding."""
        return self.scores.masked_fill(~self.valid, value) if self.padded else self.scores

    def with_scores(self, scores: Tensor) -> Self:
        """Replace the scores."""
        return replace(self, scores=scores)

    def rows(self, part: slice) -> Self:
        """Take some of the series."""
        parted = None if self.parted is None else self.parted[part]
        return replace(
            self, scores=self.scores[part], labels=self.labels[part], lengths=self.lengths[part], parted=parted
        )


def apply(batch: Batch, function: Callable[[Batch], Tensor], *, per_row: int | None = 1) -> Tensor:
    """Apply a function to blocks of series; values are float64, series last.

    A series needs as many numbers as it has points, and at least `per_row`; none besides the batch if that is None.
    """
    if not len(batch.scores):
        raise InvalidInputError("preds has no series: there is nothing to judge")
    if per_row is None:  # no need to ask how much memory is left
        return function(batch)
    rows = max(1, room(batch.scores.device) // max(batch.scores.shape[1], per_row))
    parts = [function(batch.rows(slice(at, at + rows))) for at in range(0, len(batch.scores), rows)]
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)


def is_binary(values: Tensor) -> bool:
    """Return True if all values are 0 or 1, as labels are."""
    return bool(((values == 0) | (values == 1)).all())


def read(
    preds: Tensor,
    target: Tensor,
    lengths: Tensor | Sequence[int] | None = None,
    mask: Tensor | None = None,
    *,
    validate: bool = True,
    finite: bool = True,
    alarms: bool = False,
) -> Batch:
    """Check scores and labels and align them to the left; with `alarms`, bool or integer predictions stay alarms.

    Without `finite` the caller finds out by itself where scores are not finite, and reads again to have it named.
    """
    rows, target, counts, inside = as_rows(preds, target, lengths, mask)
    single = preds.ndim == 1
    preds, target = rows.detach(), target.detach()
    scores = _scores(preds, alarms)
    dtype = torch.float32 if scores.dtype == torch.float32 else torch.float64
    if validate:
        _check_values(scores, preds, target, counts, inside, finite)
    labels, parted = target if target.dtype == torch.bool else target != 0, None
    if inside is None:
        counts = torch.full((len(preds),), preds.shape[1], device=preds.device)
    elif mask is not None or counts is None:
        scores, labels, counts, parted = _left_aligned(scores, labels, inside)
    else:  # what stands in the padding is arbitrary, so it must reach neither a sum nor a search for events
        scores, labels = scores.masked_fill(~inside, 0), labels & inside
    return Batch(scores, labels, counts, inside is not None, single, dtype, validate, parted)


def as_rows(
    preds: Tensor, target: Tensor, lengths: Tensor | Sequence[int] | None, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Check types and shapes; return scores and labels as (series, points), the lengths, and which points count."""
    for name, value in (("preds", preds), ("target", target)):
        if not isinstance(value, Tensor):
            raise InvalidInputError(f"{name} must be a torch.Tensor, but is a {type(value).__name__}")
        if value.layout != torch.strided or value.is_meta:
            what = "on the meta device" if value.is_meta else f"of layout {value.layout}"
            raise InvalidInputError(f"{name} must be a dense tensor with values, but is {what}")
    if preds.shape != target.shape:
        raise InvalidInputError(
            f"preds has shape {tuple(preds.shape)} but target {tuple(target.shape)}; both must be of the same points"
        )
    if preds.ndim not in (1, 2) or preds.shape[-1] == 0:
        raise InvalidInputError(
            f"preds must have shape (points,) or (series, points) with at least one point, but has {tuple(preds.shape)}"
        )
    if preds.device != target.device:
        raise InvalidInputError(f"preds is on {preds.device} but target on {target.device}; move one to the other")
    if preds.ndim == 1:
        preds, target = preds[None], target[None]
    counts = _check_lengths(lengths, preds)
    inside = _check_mask(mask, preds)
    if counts is not None:
        there = torch.arange(preds.shape[1], device=preds.device) < counts[:, None]
        inside = there if inside is None else inside & there
    return preds, target, counts, inside


def _scores(preds: Tensor, alarms: bool) -> Tensor:
    if preds.is_complex():
        raise InvalidInputError(f"preds must hold real numbers, but has dtype {preds.dtype}")
    if preds.is_floating_point():
        return preds if preds.dtype in (torch.float32, torch.float64) else preds.float()
    return preds != 0 if alarms else preds.double()


def _check_lengths(lengths: Tensor | Sequence[int] | None, preds: Tensor) -> Tensor | None:
    """Return the lengths of the rows of `preds` as int64."""
    if lengths is None:
        return None
    counts = torch.as_tensor(lengths, device=preds.device)
    if counts.ndim == 0 and len(preds) == 1:
        counts = counts[None]
    if counts.shape != (len(preds),) or counts.is_floating_point() or counts.dtype == torch.bool:
        raise InvalidInputError(
            f"lengths must be {len(preds)} integers, one for each series, but has shape {tuple(counts.shape)} and "
            f"dtype {counts.dtype}"
        )
    return counts.long()


def _check_mask(mask: Tensor | None, preds: Tensor) -> Tensor | None:
    """Return the mask in the shape of `preds`, (series, points)."""
    if mask is None:
        return None
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        found = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise InvalidInputError(f"mask must be a bool tensor, True for points that count, but is {found}")
    if mask.ndim == 1 and len(preds) == 1:
        mask = mask[None]
    if mask.shape != preds.shape:
        raise InvalidInputError(f"mask has shape {tuple(mask.shape)}, but preds {tuple(preds.shape)}")
    return mask.to(preds.device)


def _check_values(
    scores: Tensor, preds: Tensor, target: Tensor, counts: Tensor | None, inside: Tensor | None, finite: bool
) -> None:
    """One question to the device while all is well; which value is wrong is only looked up where one is."""
    wrong = {}
    if target.dtype != torch.bool:
        wrong["target"] = (target != 0) & (target != 1)
    if scores.is_floating_point() and finite:
        wrong["preds"] = ~scores.isfinite()
    elif scores.dtype == torch.bool and preds.dtype != torch.bool:
        wrong["preds"] = (preds != 0) & (preds != 1)
    if scores.dtype == torch.float64 and preds.dtype in (torch.int64, torch.uint64):
        wrong["rounded"] = scores.abs() >= EXACT  # different scores would tie
    if inside is not None:
        wrong = {name: found & inside for name, found in wrong.items()}
    if counts is not None:
        wrong["lengths"] = (counts < 0) | (counts > preds.shape[1])
    if not wrong or not bool(torch.stack([found.any() for found in wrong.values()]).any()):
        return
    if counts is not None and bool(wrong["lengths"].any()):
        raise InvalidInputError(
            f"lengths must lie between 0 and the {preds.shape[1]} points of preds, but reach from {int(counts.min())} "
            f"to {int(counts.max())}"
        )
    of_scores = "finite" if scores.is_floating_point() else "0 or 1 where it is of an integer dtype"
    for name, values, wanted in (("target", target, "0 (normal) or 1 (anomalous)"), ("preds", preds, of_scores)):
        if name in wrong and bool(wrong[name].any()):
            row, at = (int(i) for i in wrong[name].nonzero()[0])
            raise InvalidInputError(
                f"{name} must be {wanted}, but is {values[row, at].item()!r} at point {at} of series {row} "
                f"({int(wrong[name].sum())} such values in all); leave points out with mask="
                f"{SWAPPED * (name == 'target' and is_binary(preds))}"
            )
    raise InvalidInputError(
        f"preds has {preds.dtype} values beyond 2^53, which 64-bit floats would round: subtract a common offset"
    )


def _left_aligned(scores: Tensor, labels: Tensor, kept: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    places = kept.cumsum(1) - 1
    rows, columns = kept.nonzero(as_tuple=True)
    moved = rows, places[rows, columns]
    aligned, marks, parted = torch.zeros_like(scores), torch.zeros_like(labels), torch.zeros_like(kept)
    aligned[moved] = scores[rows, columns]
    marks[moved] = labels[rows, columns]
    parted[moved] = ~kept.roll(1, 1)[rows, columns]  # of a first point it says nothing, which begins a run anyway
    return aligned, marks, kept.sum(1), parted


# Alarms of a batch: predictions as they come, or scores above a threshold; and F of precision and recall.


Threshold = float | Tensor | Literal["best"]


def f_beta(precision: Tensor, recall: Tensor, beta: float) -> Tensor:
    """Compute F of precision and recall: 0 where nothing is found, also where precision is then undefined."""
    weight = recall_weight(beta)
    value = (1 + weight) * precision * recall / (weight * precision + recall)
    return torch.where((recall == 0) | (precision == 0), recall.new_zeros(()), value)


def read_alarms(
    preds: Tensor,
    target: Tensor,
    lengths: Tensor | Sequence[int] | None,
    mask: Tensor | None,
    *,
    threshold: Threshold | None,
    validate: bool,
) -> Batch:
    """Read a batch of alarms; or of scores, where the best threshold is to be found."""
    batch = read(preds, target, lengths, mask, validate=validate, alarms=True)
    if batch.gives_alarms or (isinstance(threshold, str) and threshold == "best"):
        return batch
    if isinstance(threshold, Tensor) and threshold.shape in ((), (len(batch.scores),)):
        limits = threshold.to(batch.scores.device).double().reshape(-1, 1)
    elif isinstance(threshold, (int, float)) and not isinstance(threshold, bool) and not math.isnan(threshold):
        limits = torch.full((1, 1), float(threshold), dtype=torch.float64, device=batch.scores.device)
    else:
        found = f"a tensor of shape {tuple(threshold.shape)}" if isinstance(threshold, Tensor) else repr(threshold)
        raise InvalidParameterError(
            f"threshold must be a number, a tensor with one number for each series or (for an F) 'best', but is {found}"
        )
    # In the scores' own type, as everywhere in tsadeval, which knows float32 and float64.
    alarms = batch.scores.double() > (limits.float() if preds.dtype == torch.float32 else limits)
    return batch.with_scores(alarms & batch.valid if batch.padded else alarms)


# Rows sorted by score, with their labels. On a GPU one sort of whole numbers does all rows and carries the
# labels.


def sort_rows(scores: Tensor, labels: Tensor, *, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Sort the scores of every row, with their labels; labels of equal scores come in any order."""
    if scores.is_cuda and scores.dtype == torch.float32 and len(scores) > 1:
        return sort_by_keys(scores, labels, descending=descending)
    ordered, order = scores.sort(dim=1, descending=descending)
    return ordered, labels.gather(1, order)


def sort_by_keys(scores: Tensor, labels: Tensor, *, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Sort float32 scores: row, score and label of a point are packed into 64 bits, the row first."""
    # Bits of floats as integers in the same order: those of negative numbers run the other way. (-0.0 + 0.0 is 0.0.)
    bits = (scores + 0.0).view(torch.int32)
    keys = _flipped(bits).long()
    if descending:
        keys = -1 - keys
    rows = torch.arange(len(scores), device=scores.device)[:, None]
    keys = (((rows << 32) + (keys + (1 << 31))) << 1) + labels
    keys = keys.flatten().sort().values
    marks = (keys & 1).bool().view(labels.shape)
    keys = ((keys >> 1) & 0xFFFFFFFF) - (1 << 31)
    if descending:
        keys = -1 - keys
    return _flipped(keys.int()).view(torch.float32).view(scores.shape), marks


def _flipped(bits: Tensor) -> Tensor:
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


# A metric of tensors is a function of a checked batch, `f(batch, *, options) -> Tensor`. The decorator gives it the
# public signature `f(preds, target, *, options, lengths, mask, validate)` and its docstring: options and inputs are
# checked, series are judged in blocks that fit into memory, and undefined values warned of.


_SERIES = {
    "lengths": ("Tensor | Sequence[int] | None", None),
    "mask": ("Tensor | None", None),
    "validate": ("bool", True),
}
# What is the same for every metric stands here, not in each docstring.
_ENTRIES = docstrings.entries("""\
preds : Tensor of shape (points,) or (series, points)
    Finite scores, higher for more anomalous.
target : Tensor of the same shape
    0 (False) for normal and 1 (True) for anomalous points.
threshold : float, Tensor or "best", default="best"
    Scores above it are alarms: one number, or one for each series. "best" takes the threshold of the highest value
    for each series, found exactly. Not used where `preds` are alarms.
lengths : Tensor or sequence of int of shape (series,), optional
    How many points of each row count; the others are padding, whatever they hold.
mask : bool Tensor of the same shape as `preds`, optional
    True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
validate : bool, default=True
    Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
    wrong results.""")
_OR_ALARMS = """\
preds : Tensor of shape (points,) or (series, points)
    Scores of a floating dtype; or alarms, 0 or 1, of an integer or bool dtype."""


def tensor_metric(
    undefined: str,
    checks: dict[str, Check] | None = None,
    *,
    like: Callable[..., Any] | None = None,
    equals: str = "",
    finite: Callable[..., bool] | None = None,
    per_row: Callable[..., int | None] | None = None,
    returns: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Tensor]], Any]:
    """Give a function of a batch its public face; the function itself is its `judge`, and returns float64, series last.

    - `undefined`: where values are NaN; `returns`: what makes the result of several rows of values.
    - `checks`: of the options. With one named `threshold` the batch holds alarms, or scores for the best threshold.
    - `like`: a function, or a dataclass of options, whose options it takes as `**options`; `equals`: the metric of
      arrays whose options these are, by default that of the same name.
    - `finite`, of the options: False where a score that is not finite is known by its value, which is then NaN.
    - `per_row`, of the batch and the options: how many numbers a series needs, if more than points; None: no more.
    """

    def decorate(judge: Callable[..., Tensor]) -> Any:
        name, known = judge.__name__, options_of(like or judge)

        @wraps(judge)
        def metric(
            preds: Tensor,
            target: Tensor,
            *,
            lengths: Tensor | Sequence[int] | None = None,
            mask: Tensor | None = None,
            validate: bool = True,
            **options: Any,
        ) -> Any:
            refuse_unknown(f"{name}()", [*known, *_SERIES], options, error=TypeError)
            check_parameters(name, checks or {}, options)
            given = {option: parameter.default for option, parameter in known.items()} | options
            series = preds, target, lengths, mask
            if "threshold" in given:
                batch = read_alarms(*series, threshold=given["threshold"], validate=validate)
            else:
                batch = read(*series, validate=validate, finite=finite is None or finite(**given))
            need = per_row(batch, **given) if per_row else 1
            values = apply(batch, lambda block: judge(block, **given), per_row=need)
            if validate and bool(values.isnan().any()):
                read(*series)  # names a score that is not finite
                warn_undefined(name, undefined)
            values = values.to(batch.dtype)
            values = values[..., 0] if batch.single else values
            return returns(*values) if returns else values

        face: Any = metric
        kind = inspect.Parameter
        tensors = [kind(tensor, kind.POSITIONAL_OR_KEYWORD, annotation="Tensor") for tensor in ("preds", "target")]
        series = [kind(n, kind.KEYWORD_ONLY, default=d, annotation=a) for n, (a, d) in _SERIES.items()]
        result = getattr(returns, "__name__", "Tensor")
        face.__signature__ = inspect.Signature([*tensors, *known.values(), *series], return_annotation=result)
        face.__doc__ = _documented(inspect.cleandoc(judge.__doc__ or ""), list(known), equals or name, undefined)
        face.judge, face.checks = judge, checks or {}
        return face

    return decorate


def _documented(doc: str, options: list[str], equals: str, undefined: str) -> str:
    own = docstrings.entries(docstrings.sections(doc).get("Parameters", ""))
    found = {**_ENTRIES, "beta": docstrings.BETA, **own}
    others = ", ".join(option for option in options if option not in found)
    parts = [
        _OR_ALARMS if "threshold" in options else found["preds"],
        found["target"],
        *(found[option] for option in options if option in found),
        *([f"{others}\n    As for `tsadeval.metrics.{equals}`."] if others else []),
        *(found[name] for name in _SERIES),
    ]
    returns = docstrings.described(
        "Tensor of shape () or (series,)",
        "On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an "
        f"`UndefinedMetricWarning`, where {undefined}.",
    )
    return docstrings.filled(doc, parts, returns)
