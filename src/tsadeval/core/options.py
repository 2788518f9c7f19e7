"""Options of the metrics that have a second implementation on tensors.

They are apart from `tsadeval.metrics` because `tsadeval.torch` works without the compiled kernels, which that imports.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tsadeval.core.parameters import Check, Flag, Number, OneOf, Pair

BETA = Number(0, open_low=True)
F_CHECKS: dict[str, Check] = {"beta": BETA}


def recall_weight(beta: float) -> float:
    """The square of beta, which is the weight of recall in F. Beyond 1e100 or below 1e-100 F has its limit anyway."""
    return float(min(max(beta, 1e-100), 1e100)) ** 2


AUC_PR_CHECKS: dict[str, Check] = {"interpolation": OneOf(("step", "trapezoid"))}

CCE_CHECKS: dict[str, Check] = {
    "tau": Number(0, 1),
    "constrained": Flag(),
    "event_weight": Number(0, 1),
    "global_weight": Number(0, 1),
    "normalize": OneOf(("minmax", "robust", "rank", "quantile", "published", None)),
    "quantiles": Pair(0, 1),
    "uncertainty": OneOf(("beta", "pointwise", "scaled")),
    "gamma": Number(0, open_low=True),
}

# The power of the rank in CCE's robust normalisation: an outlier is no more than a rank, and scores below the upper
# ones hardly count. Chosen on ten tasks of the suite `hard`, before the other ten were looked at (docs/cce.md).
CCE_ROBUST_POWER = 8

PATE_BUFFER_CHECKS: dict[str, Check] = {
    "early": Number(0, integer=True),
    "delay": Number(0, integer=True),
    "n_splits": Number(1, 1000, integer=True),
    "include_zero": Flag(),
}
PATE_CHECKS: dict[str, Check] = {
    **PATE_BUFFER_CHECKS,
    "n_thresholds": Number(2, 1_000_000, integer=True, none=True),
    "drop_intermediate": Flag(),
}


@dataclass(frozen=True)
class VUSVariant:
    """What definitions of VUS and Range-AUC differ in."""

    # Weights fall as sqrt(1 - d / w); else along a straight line from 1 to sqrt(1/2) at distance h.
    root: bool
    # Where buffers of two events overlap, weights add up to at most 1; else the larger one counts.
    adding: bool
    # Buffered events count as one where they share a point (0) or at least touch (1), or never (-1).
    merging: int
    # P' has the weight of all buffers; else only of the buffer points with an alarm, so that it grows with N.
    once: bool
    # PR area by trapezoids from precision 1 at recall 0; else by steps, as average precision.
    trapezoid: bool
    # Step between the widths of the volume: with 2, every buffer length h counts once.
    step: int = 1


VUS_VARIANTS = {
    "vus": VUSVariant(root=True, adding=True, merging=0, once=False, trapezoid=False),
    "range_auc": VUSVariant(root=True, adding=True, merging=1, once=True, trapezoid=True),
    "timeeval": VUSVariant(root=False, adding=False, merging=-1, once=True, trapezoid=True),
    "ff_vus": VUSVariant(root=False, adding=False, merging=0, once=False, trapezoid=False, step=2),
}

_WINDOW = Number(0, 100_000, integer=True)  # the work grows with its square
VUS_TENSOR_CHECKS: dict[str, Check] = {
    "window": _WINDOW,
    "n_thresholds": Number(2, integer=True, none=True),
    "variant": OneOf(tuple(VUS_VARIANTS)),
}
# The period of a series is known where its values are, which tensors of scores do not bring.
VUS_CHECKS: dict[str, Check] = {**VUS_TENSOR_CHECKS, "window": replace(_WINDOW, words=("period",))}
